/*
 * verify_structure.c - the directories of a column, checked once per open file (format/structure.h)
 *
 * A column is followed to its children and to codes that it shares. In an archive the directories
 * are decompressed for it; what is marked by bits stays so in any case (archive_read.h). Two
 * threads may
 * both check a column: the outcome is the same.
 */
#include "reader/archive_read.h"

#include "format/structure.h"

#include <string.h>

static pcol_status fail_structure(const pcol_file *file, const struct pci_column *named,
                                  uint64_t row, const char *fault, pcol_error *err)
{
    PCI_TRY(pci_kept(file, err));
    return pci_fail_cell(err, PCOL_E_CORRUPT, named->table ? named->table->name : "", named->name,
                         row, "%s", fault);
}

/* The pool of strings, whose offsets are sound, is in strictly ascending order (spec.md 5.2): an
 * offset that moves bytes from a string to its neighbour mostly breaks it. Strings of FRONT are
 * compared when they are put together. */
static const char *pool_fault(const struct pcf_data *d, uint64_t *row)
{
    pcol_str before = {"", 0};
    for (uint64_t i = 0; d->encoding == PCF_PLAIN && i < d->rows; i++) {
        const uint8_t *text;
        uint64_t size;
        int valid;
        *row = i;
        if (pcf_get_bytes(d, i, &text, &size, &valid) != PCF_OK)
            return "the string cannot be read";
        size_t shared = before.size < size ? before.size : (size_t)size;
        int order = shared ? memcmp(before.data, text, shared) : 0;
        if (i && (order > 0 || (order == 0 && before.size >= size)))
            return "the string does not come after the one before";
        before = (pcol_str){(const char *)text, (size_t)size};
    }
    return NULL;
}

/* A column without its children, which are sound. */
static pcol_status verify_one(const pcol_file *file, const struct pci_column *column,
                              const struct pci_column *named, pcol_error *err)
{
    struct pci_pin hold;
    uint64_t row;
    pcol_status status = pci_pin_structure(&hold, file, column, err);
    if (status == PCOL_OK) {
        const char *fault = pcf_structure_fault(column->data, &row);
        if (!fault && column == file->strings)
            fault = pool_fault(column->data, &row);
        status = fault ? fail_structure(file, named, row, fault, err) : pci_kept(file, err);
    }
    pci_unpin(&hold);
    return status;
}

/* At most PCF_MAX_CHILD_DEPTH + 2 calls deep: codes of another column have children, too. */
static pcol_status verify(const pcol_file *file, const struct pci_column *column,
                          const struct pci_column *named, pcol_error *err)
{
    const struct pci_column *part;
    if (pci_structure_known(column) || !column->supported)
        return PCOL_OK;
    for (unsigned i = 0; (part = pci_row_part_of(file, column, i)); i++)
        PCI_TRY(verify(file, part, named, err));
    PCI_TRY(verify_one(file, column, named, err));
    atomic_store_explicit(&file->columns[column->number].structure_known, 1, memory_order_release);
    return PCOL_OK;
}

pcol_status pci_verify_structure_now(const pcol_file *file, const struct pci_column *column,
                                     pcol_error *err)
{
    return verify(file, column, column, err);
}
