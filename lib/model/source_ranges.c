/*
 * source_ranges.c - index of the rows of a table by source
 *
 * Built per table on first use, in one pass over its column `source`, and cached in the file under
 * its lock. A missing column or cell means the first source. Rows of a source are contiguous in
 * files that pcol writes; otherwise the range is marked as scattered, so that no reader searches a
 * table once per source. Tests: suite scaling ("firefox: sources"), suite firefox.
 */
#include "model/row_details.h"

#include "util/alloc.h"

#include <string.h>

struct pci_source_index {
    struct pci_source_index *next;
    const struct pci_table *table;
    struct pci_source_range ranges[];
};

void pci_source_index_free(struct pci_source_index *index)
{
    while (index) {
        struct pci_source_index *next = index->next;
        pci_free(index);
        index = next;
    }
}

static pcol_status fill_ranges(const pcol_file *file, const struct pci_table *table,
                               struct pci_source_range *ranges, uint64_t sources, pcol_error *err)
{
    const struct pci_column *column;
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    PCI_TRY(pci_find_column(file, table->name, "source", PCI_TYPES_ROW, &column, err));
    if (!column && sources) /* an omitted column: every row belongs to the first source */
        ranges[0].count = table->rows;
    for (uint64_t row = 0; column && row < table->rows; row += PCI_BATCH) {
        size_t n = table->rows - row < PCI_BATCH ? (size_t)(table->rows - row) : PCI_BATCH;
        PCI_TRY(pci_read(file, column, row, n, values, valid, err));
        for (size_t i = 0; i < n; i++) {
            uint64_t source = valid[i] ? (uint64_t)values[i] : 0;
            if (source >= sources)
                continue;
            struct pci_source_range *r = &ranges[source];
            if (!r->count)
                r->first = row + i;
            r->scattered |= row + i != r->first + r->count;
            r->count++;
        }
    }
    return PCOL_OK;
}

static pcol_status build_index(const pcol_file *file, const struct pci_table *table,
                               struct pci_source_index **out, pcol_error *err)
{
    uint64_t sources = pci_rows(file, "sources");
    PCI_TRY(pci_check_row_count(file, "sources", err));
    PCI_TRY(pci_check_row_count(file, table->name, err));
    struct pci_source_index *index =
        pci_calloc(1, sizeof *index + ((size_t)sources + 1) * sizeof *index->ranges);
    if (!index)
        return pci_fail_memory(err);
    index->table = table;
    pcol_status status = fill_ranges(file, table, index->ranges, sources, err);
    if (status == PCOL_OK)
        *out = index;
    else
        pci_free(index);
    return status;
}

pcol_status pci_source_rows(const pcol_file *file, const char *table, uint64_t source,
                            struct pci_source_range *range, pcol_error *err)
{
    /* The cache does not change the file as the caller sees it. */
    pcol_file *writable_file = (pcol_file *)(uintptr_t)file;
    const struct pci_table *indexed_table = pci_table_find(file, table);
    struct pci_source_index *new_index = NULL, *index = NULL;
    struct pci_models *models = NULL;
    *range = (struct pci_source_range){0};
    if (!indexed_table || source >= pci_rows(file, "sources"))
        return PCOL_OK;
    pci_mutex_lock(&writable_file->lock);
    pcol_status status = pci_models_open(writable_file, &models, err);
    for (index = status == PCOL_OK ? models->sources : NULL;
         index && index->table != indexed_table;)
        index = index->next;
    if (status == PCOL_OK && !index) {
        status = build_index(file, indexed_table, &new_index, err);
        if (status == PCOL_OK) {
            new_index->next = models->sources;
            models->sources = index = new_index;
        }
    }
    pci_mutex_unlock(&writable_file->lock);
    if (index)
        *range = index->ranges[source];
    return status;
}
