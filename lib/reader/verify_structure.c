/*
 * verify_structure.c - validation of a column's directories, once per open file
 *
 * Applies format/structure.h to a column, its children and shared codes; in an archive the
 * directories are decompressed. Threads may validate a column concurrently with the same result.
 * Tests: tests/unit/test_verify.c.
 */
#include "reader/archive_read.h"

#include "format/structure.h"

#include <string.h>

static pcol_status fail_structure(const pcol_file *file, const struct pci_column *named,
                                  uint64_t row, const char *fault, pcol_error *err)
{
    PCI_TRY(pci_check_unchanged(file, err));
    return pci_corrupt(err, named->table ? named->table->name : "", named->name, row, "%s", fault);
}

/* Strict ascending order of the string pool (spec.md, 5.2), whose offsets are valid: a wrong offset
 * that moves bytes between neighbours almost always breaks it. pcf_front_fill() checks FRONT. */
static const char *find_pool_fault(const struct pcf_data *d, uint64_t *row)
{
    pcol_str previous = {"", 0};
    for (uint64_t i = 0; d->encoding == PCF_PLAIN && i < d->rows; i++) {
        const uint8_t *text;
        uint64_t size;
        int valid;
        *row = i;
        if (pcf_get_bytes(d, i, &text, &size, &valid) != PCF_OK)
            return "string cannot be read";
        size_t shared = previous.size < size ? previous.size : (size_t)size;
        int order = shared ? memcmp(previous.data, text, shared) : 0;
        if (i && (order > 0 || (order == 0 && previous.size >= size)))
            return "string is not greater than the previous one";
        previous = (pcol_str){(const char *)text, (size_t)size};
    }
    return NULL;
}

/* A column; its children have been verified. */
static pcol_status verify_one(const pcol_file *file, const struct pci_column *column,
                              const struct pci_column *named, pcol_error *err)
{
    struct pci_pin pin;
    uint64_t row;
    pcol_status status = pci_pin_structure(&pin, file, column, err);
    if (status == PCOL_OK) {
        const char *fault = pcf_structure_fault(column->data, &row);
        if (!fault && column == file->strings)
            fault = find_pool_fault(column->data, &row);
        status =
            fault ? fail_structure(file, named, row, fault, err) : pci_check_unchanged(file, err);
    }
    pci_unpin(&pin);
    return status;
}

/* At most PCF_MAX_CHILD_DEPTH + 2 calls deep: shared codes have children, too. */
static pcol_status verify(const pcol_file *file, const struct pci_column *column,
                          const struct pci_column *named, pcol_error *err)
{
    const struct pci_column *child;
    if (pci_structure_known(column) || !column->supported)
        return PCOL_OK;
    for (unsigned i = 0; (child = pci_column_child(file, column, i)); i++)
        PCI_TRY(verify(file, child, named, err));
    PCI_TRY(verify_one(file, column, named, err));
    atomic_store_explicit(&file->columns[column->number].structure_known, 1, memory_order_release);
    return PCOL_OK;
}

pcol_status pci_verify_structure_now(const pcol_file *file, const struct pci_column *column,
                                     pcol_error *err)
{
    return verify(file, column, column, err);
}
