/*
 * rebase.c - mappings moved to their offsets in the file (PCOL_IMPORT_REBASE)
 *
 * A mapping [start, limit) becomes [file_offset, file_offset + limit - start), and the addresses of
 * its code follow. So processes that loaded a binary at different addresses have equal mappings and
 * locations. Tests: suite sums.
 */
#include "merge/merge.h"

#include "util/alloc.h"

#include <string.h>

pcol_status pci_merge_open_bias(struct pci_merge *merge, pcol_error *err)
{
    const struct pci_column *start, *offset;
    uint64_t rows;
    if (!merge->options || !(merge->options->flags & PCOL_IMPORT_REBASE))
        return PCOL_OK;
    PCI_TRY(pci_merge_rows(merge->file, "mappings", &rows, err));
    PCI_TRY(pci_find_verified_column(merge->file, "mappings", "start", PCI_TYPES_INT, &start, err));
    PCI_TRY(pci_find_verified_column(merge->file, "mappings", "file_offset", PCI_TYPES_INT, &offset,
                                     err));
    PCI_TRY(PCI_CALLOC(merge->mapping_bias, (size_t)rows + 1, err));
    for (uint64_t row = 0; start && row < rows; row++) {
        int64_t first, in_file = 0;
        int valid;
        PCI_TRY(pci_get(merge->file, start, row, &first, &valid, err));
        if (!valid || !first) /* of unknown range */
            continue;
        PCI_TRY(pci_get(merge->file, offset, row, &in_file, &valid, err));
        merge->mapping_bias[row] = (uint64_t)first - (uint64_t)in_file;
    }
    return PCOL_OK;
}

int pci_merge_is_moved(const struct pci_merge *merge, const struct pci_column *column)
{
    return merge->mapping_bias && !strcmp(column->table->name, "mappings") &&
           (!strcmp(column->name, "start") || !strcmp(column->name, "limit"));
}

int64_t pci_merge_move(const struct pci_merge *merge, uint64_t row, int64_t address)
{
    return address ? (int64_t)((uint64_t)address - merge->mapping_bias[row]) : 0;
}
