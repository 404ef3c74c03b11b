/*
 * source_meta.c - copies the metadata of sources, each key once
 *
 * A key that the options give (--meta, the tolerance of collapsed samples) replaces that of the
 * file. A duplicate key in a damaged file is rejected. So every (source, key) of the output is
 * unique.
 */
#include "merge/merge.h"

#include "builder/idle_samples.h"
#include "util/alloc.h"
#include "util/strbuf.h"

struct meta_copy {
    struct pci_merge *m;
    const struct pci_table *table;
    const struct pci_column *key;
    struct pci_cells *source;
    struct pci_text_memo long_keys;
    uint64_t rows;
};

/* 1 if the options give this key to every copied source. */
static int is_replaced(const struct pci_merge *m, pcol_str key)
{
    const pcol_import_options *options = m->options;
    for (size_t i = 0; options && i < options->meta_count; i++)
        if (pci_str_is(key, options->meta[2 * i]))
            return 1;
    return pci_merge_idle_tolerance(m) && pci_str_is(key, PCI_IDLE_KEY);
}

static pcol_status is_copied(struct meta_copy *t, uint64_t row, int *copied, pcol_error *err)
{
    pcol_builder *builder = t->m->builder;
    uint32_t source, code;
    pcol_str key;
    int valid, is_duplicate;
    *copied = 1;
    PCI_TRY(pci_cells_row(t->source, row, t->m->source_count, &source, err));
    PCI_TRY(pci_get_str(t->m->file, t->key, row, &key, &valid, err));
    *copied = source != PCOL_NONE && valid && !is_replaced(t->m, key);
    if (!*copied)
        return PCOL_OK;
    PCI_TRY(pci_string_pool_intern_stored(&builder->meta_keys, &t->long_keys, key, &code, err));
    PCI_TRY(pci_source_meta_record(builder, t->m->sources[source], code, &is_duplicate, err));
    return is_duplicate ? pci_corrupt(err, "source_meta", "key", row, "duplicate key of the source")
                        : PCOL_OK;
}

static pcol_status map_rows(struct meta_copy *t, pcol_error *err)
{
    struct pci_merge *m = t->m;
    uint32_t **map = &m->row_maps[t->table->number];
    uint32_t to = (uint32_t)m->base[t->table->number];
    int all = !*map; /* otherwise the map already selects the used rows */
    if (all)
        PCI_TRY(pci_merge_map(map, t->rows, err));
    for (uint64_t row = 0; row < t->rows; row++) {
        int copied = 0;
        if (all || (*map)[row] != PCOL_NONE)
            PCI_TRY(is_copied(t, row, &copied, err));
        (*map)[row] = copied ? to++ : PCOL_NONE;
    }
    return PCOL_OK;
}

pcol_status pci_merge_source_meta(struct pci_merge *merge, pcol_error *err)
{
    struct meta_copy t = {.m = merge, .table = pci_table_find(merge->file, "source_meta")};
    if (!t.table || merge->actions[t.table->number] != PCI_MERGE_APPEND ||
        (merge->partial && !merge->row_maps[t.table->number]))
        return PCOL_OK;
    PCI_TRY(pci_merge_rows(merge->file, "source_meta", &t.rows, err));
    PCI_TRY(
        pci_find_verified_column(merge->file, "source_meta", "key", PCI_TYPES_TEXT, &t.key, err));
    if (!t.key)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(t.source, 1, err));
    pcol_status status =
        pci_cells_open(t.source, merge->file, "source_meta", "source", PCI_IS_INT, err);
    PCI_THEN(status, map_rows(&t, err));
    pci_free(t.source);
    pci_text_memo_clear(&t.long_keys);
    return status;
}
