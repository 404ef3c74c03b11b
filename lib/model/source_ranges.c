/*
 * source_ranges.c - which rows of a table belong to which source
 *
 * An index by table, made when a table is first asked for, in one pass over its column `source` and
 * kept with the file. A missing column or cell means the first source. Rows of a source are
 * contiguous in files that pcol writes; where they are not, the range is marked as scattered, so
 * that nobody has to search a table once for each source. Tests: tests/scaling ("firefox:
 * sources"), tests/firefox.
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

static pcol_status fill(const pcol_file *file, const struct pci_table *table,
                        struct pci_source_range *ranges, uint64_t sources, pcol_error *err)
{
    const struct pci_column *column;
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    PCI_TRY(pci_want(file, table->name, "source", PCI_TYPES_ROW, &column, err));
    if (!column && sources) /* left out where every row is of the first source */
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

static pcol_status make(const pcol_file *file, const struct pci_table *table,
                        struct pci_source_index **out, pcol_error *err)
{
    uint64_t sources = pci_rows(file, "sources");
    PCI_TRY(pci_plausible(file, "sources", err));
    PCI_TRY(strcmp(table->name, "samples") ? pci_plausible(file, table->name, err)
                                           : pci_plausible_samples(file, err));
    struct pci_source_index *index =
        pci_calloc(1, sizeof *index + ((size_t)sources + 1) * sizeof *index->ranges);
    if (!index)
        return pci_fail_memory(err);
    index->table = table;
    pcol_status status = fill(file, table, index->ranges, sources, err);
    if (status == PCOL_OK)
        *out = index;
    else
        pci_free(index);
    return status;
}

pcol_status pci_source_rows(const pcol_file *file, const char *table, uint64_t source,
                            struct pci_source_range *range, pcol_error *err)
{
    /* A cache within a file that does not change for the caller. */
    pcol_file *f = (pcol_file *)(uintptr_t)file;
    const struct pci_table *of = pci_table_find(file, table);
    struct pci_source_index *made = NULL, *at = NULL;
    struct pci_models *models = NULL;
    *range = (struct pci_source_range){0};
    if (!of || source >= pci_rows(file, "sources"))
        return PCOL_OK;
    pthread_mutex_lock(&f->lock);
    pcol_status status = pci_models_of(f, &models, err);
    for (at = status == PCOL_OK ? models->sources : NULL; at && at->table != of;)
        at = at->next;
    if (status == PCOL_OK && !at) {
        status = make(file, of, &made, err);
        if (status == PCOL_OK) {
            made->next = models->sources;
            models->sources = at = made;
        }
    }
    pthread_mutex_unlock(&f->lock);
    if (at)
        *range = at->ranges[source];
    return status;
}
