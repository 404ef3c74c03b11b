/*
 * type_name_elision.c - omits names of types that follow from their uids
 *
 * Perun names a type "main#0": its uid, and the number of earlier types with that uid. Such names
 * would dominate a profile's strings; of them, only the number is stored.
 */
#include "formats/perun/build.h"

#include "formats/perun/flat.h"
#include "util/integer.h"

pcol_status pci_perun_flat_scalar(const struct pci_perun *p, const struct pci_perun_cell *cell,
                                  struct pci_strbuf *to, pcol_error *err)
{
    char text[PCI_FLAT_NUMBER];
    double number;
    size_t size = 0;
    switch ((enum pci_perun_kind)cell->kind) {
    case PCI_PERUN_STRING:
    case PCI_PERUN_BIG: {
        pcol_str s = pci_string_pool_get(&p->builder->strings, (uint32_t)cell->value);
        return pci_strbuf_append(to, s.data, s.size, err);
    }
    case PCI_PERUN_INTEGER:
        size = pci_flat_integer(cell->value, text);
        break;
    case PCI_PERUN_DOUBLE:
        memcpy(&number, &cell->value, sizeof number);
        size = pci_flat_double(number, text);
        break;
    case PCI_PERUN_BOOL:
        return pci_strbuf_append(to, cell->value ? "True" : "False", cell->value ? 4 : 5, err);
    case PCI_PERUN_NULL:
    case PCI_PERUN_VALUE:
    case PCI_PERUN_SAMPLE_STACK:
    case PCI_PERUN_SAMPLE_FRAME:
    case PCI_PERUN_SAMPLE_NAME:
    case PCI_PERUN_FRAME:
    case PCI_PERUN_TRACE:
    case PCI_PERUN_TEXT:
    case PCI_PERUN_TABLE:
        return pci_strbuf_append(to, "None", 4, err);
    }
    return pci_strbuf_append(to, text, size, err);
}

/* Append the values of a frame, sorted by key (insertion sort) and joined by colons. */
static pcol_status flat_frame(const struct pci_perun *p, const struct pci_perun_frame *frame,
                              struct pci_strbuf *to, pcol_error *err)
{
    uint32_t order[PCI_FLAT_KEYS];
    const struct pci_perun_cell *cells = p->frames.cells + frame->first;
    const struct pci_string_pool *strings = &p->builder->strings;
    uint32_t count = frame->count < PCI_FLAT_KEYS ? frame->count : PCI_FLAT_KEYS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t position = i;
        while (position > 0 &&
               pci_flat_compare(pci_string_pool_get(strings, cells[order[position - 1]].key),
                                pci_string_pool_get(strings, cells[i].key)) > 0) {
            order[position] = order[position - 1];
            position--;
        }
        order[position] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            PCI_TRY(pci_strbuf_append(to, ":", 1, err));
        PCI_TRY(pci_perun_flat_scalar(p, &cells[order[i]], to, err));
    }
    return PCOL_OK;
}

/* The number of a name "UID#NUMBER"; PCOL_NONE: another name. */
static uint32_t parse_number(pcol_str name, const struct pci_strbuf *uid)
{
    char text[PCI_FLAT_NUMBER];
    int64_t number;
    if (name.size < uid->size + 2 || name.data[uid->size] != '#' ||
        (uid->size && memcmp(name.data, uid->data, uid->size) != 0))
        return PCOL_NONE;
    pcol_str digits = {name.data + uid->size + 1, name.size - uid->size - 1};
    if (!pci_parse_i64(digits.data, digits.size, &number) || number < 0 || number >= PCOL_NONE ||
        pci_flat_integer(number, text) != digits.size) /* leading zeros */
        return PCOL_NONE;
    return (uint32_t)number;
}

pcol_status pci_perun_name_number(const struct pci_perun *p, const struct pci_perun_record *record,
                                  pcol_str name, uint32_t *number, pcol_error *err)
{
    struct pci_perun_cell uid;
    struct pci_strbuf text = {0};
    pcol_status status;
    *number = PCOL_NONE;
    if (!pci_perun_get_role(record, PCI_PERUN_UID, &uid))
        return PCOL_OK;
    if (uid.kind == PCI_PERUN_STRING)
        status = pci_perun_flat_scalar(p, &uid, &text, err);
    else if (uid.kind == PCI_PERUN_FRAME)
        status = flat_frame(p, &p->frames.frames[uid.value], &text, err);
    else
        return PCOL_OK;
    if (status == PCOL_OK)
        *number = parse_number(name, &text);
    pci_strbuf_clear(&text);
    return status;
}
