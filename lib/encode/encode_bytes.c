/*
 * encode_bytes.c - encoder of columns of type bytes: whole (PLAIN) or front-coded (FRONT)
 *
 * The source decides which; offsets and shared prefix lengths are integer columns, encoded like any
 * other. Tests: tests/unit/test_front_coding.c.
 */
#include "encode/encode_leaf.h"

#include "util/alloc.h"
#include "util/control.h"

static pcol_status put_data(struct pci_container *writer, uint32_t column,
                            const struct pci_bytes_source *source, pcol_error *err)
{
    struct pci_section section;
    uint8_t *buffer = pci_malloc(PCI_PAGE_BYTES, 1);
    pcol_status status = buffer ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_section_begin(&section, writer, column, PCF_ROLE_DATA, err));
    if (status != PCOL_OK) {
        pci_free(buffer);
        return status;
    }
    for (uint64_t offset = 0; offset < source->data_size && status == PCOL_OK;) {
        uint64_t left = source->data_size - offset;
        size_t n = left < PCI_PAGE_BYTES ? (size_t)left : PCI_PAGE_BYTES;
        status = pci_work(n, err);
        PCI_THEN(status, source->read(source->context, offset, buffer, n, err));
        PCI_THEN(status, pci_section_append(&section, buffer, n, err));
        offset += n;
    }
    if (status == PCOL_OK)
        status = pci_section_end(&section, err);
    else
        pci_section_abort(&section);
    pci_free(buffer);
    return status;
}

static pcol_status put_child(struct pci_container *writer, uint32_t child,
                             const struct pci_value_source *source, pcol_error *err)
{
    writer->columns[child].type = source->type;
    writer->columns[child].rows = source->rows;
    return pci_encode(writer, child, source, err);
}

pcol_status pci_encode_bytes(struct pci_container *writer, uint32_t column,
                             const struct pci_bytes_source *source, pcol_error *err)
{
    struct pcf_column *c = &writer->columns[column];
    uint32_t child;
    if (!source->rows) {
        c->encoding = PCF_LINEAR;
        return PCOL_OK;
    }
    c->encoding = source->shared ? PCF_FRONT : PCF_PLAIN;
    c->null_count = source->null_count;
    if (source->null_count) {
        c->flags |= PCF_COLUMN_NULLABLE;
        PCI_TRY(pci_emit_validity(writer, column, source->validity, err));
    }
    PCI_TRY(put_data(writer, column, source, err));
    PCI_TRY(pci_container_children(writer, column, source->shared ? 2 : 1, &child, err));
    PCI_TRY(put_child(writer, child, source->offsets, err));
    return source->shared ? put_child(writer, child + 1, source->shared, err) : PCOL_OK;
}
