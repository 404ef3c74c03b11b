/*
 * source_meta.c - what is known of the sources of a pcol file, each key once
 *
 * A source keeps its keys when it is copied. A key that it is given anew (--meta, the tolerance of
 * joined samples) takes the place of the one that it had. A key that a damaged file has twice is
 * refused. So no row of what is written is like another, whatever was read.
 */
#include "merge/merge.h"

#include "builder/idle_samples.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

struct metas {
    struct pci_merge *m;
    const struct pci_table *table;
    const struct pci_column *key;
    struct pci_cells *source;
    uint64_t rows;
};

/* Does every source that is copied get this key from who copies it? */
static int is_given(const struct pci_merge *m, pcol_str key)
{
    const pcol_import_options *options = m->options;
    for (size_t i = 0; options && i < options->meta_count; i++)
        if (pci_str_is(key, options->meta[2 * i]))
            return 1;
    return pci_merge_tolerance(m) && pci_str_is(key, PCI_IDLE_KEY);
}

static pcol_status is_taken(struct metas *t, uint64_t row, int *taken, pcol_error *err)
{
    uint32_t source;
    pcol_str key;
    int valid, again;
    *taken = 1;
    PCI_TRY(pci_cells_row(t->source, row, t->m->source_count, &source, err));
    PCI_TRY(pci_get_str(t->m->file, t->key, row, &key, &valid, err));
    *taken = source != PCOL_NONE && valid && !is_given(t->m, key);
    if (!*taken)
        return PCOL_OK;
    PCI_TRY(pci_source_meta_note(t->m->builder, t->m->sources[source], key, &again, err));
    return again ? pci_fail_cell(err, PCOL_E_CORRUPT, "source_meta", "key", row,
                                 "the source has this key before")
                 : PCOL_OK;
}

static pcol_status place(struct metas *t, pcol_error *err)
{
    struct pci_merge *m = t->m;
    uint32_t **map = &m->maps[t->table->number];
    uint32_t to = (uint32_t)m->base[t->table->number];
    int all = !*map; /* else a part, of which the rows that stay have a place */
    if (all)
        PCI_TRY(pci_merge_map(map, t->rows, err));
    for (uint64_t row = 0; row < t->rows; row++) {
        int taken = 0;
        if (all || (*map)[row] != PCOL_NONE)
            PCI_TRY(is_taken(t, row, &taken, err));
        (*map)[row] = taken ? to++ : PCOL_NONE;
    }
    return PCOL_OK;
}

pcol_status pci_merge_meta(struct pci_merge *merge, pcol_error *err)
{
    struct metas t = {.m = merge, .table = pci_table_find(merge->file, "source_meta")};
    if (!t.table || merge->how[t.table->number] != PCI_MERGE_APPEND ||
        (merge->partial && !merge->maps[t.table->number]))
        return PCOL_OK;
    PCI_TRY(pci_merge_rows(merge->file, "source_meta", &t.rows, err));
    PCI_TRY(pci_want_whole(merge->file, "source_meta", "key", PCI_TYPES_TEXT, &t.key, err));
    if (!t.key)
        return PCOL_OK;
    t.source = pci_malloc(1, sizeof *t.source);
    if (!t.source)
        return pci_fail_memory(err);
    pcol_status status =
        pci_cells_open(t.source, merge->file, "source_meta", "source", PCI_IS_INT, err);
    if (status == PCOL_OK)
        status = place(&t, err);
    pci_free(t.source);
    return status;
}
