/*
 * top_by_sample.c - sums by thread, process, source or metadata of the source of the samples
 *
 * Threads and sources are not in the call tree, so the samples are read; those whose stack the
 * filter of frames excluded do not count. Self and total are equal. Tests: suite answers,
 * tests/cli/source_meta.test.
 */
#include "query/row_names.h"
#include "query/top.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/strbuf.h"

struct group_sums {
    pcol_query *query;
    const struct pci_column *cells; /* rows of the table of groups */
    uint64_t groups;                /* rows of that table; one more group for samples without one */
    struct pci_top_item *items;
    int missing_is_first;       /* an absent column means row 0 */
    struct pci_row_names names; /* of the table of groups */
    pcol_str *metas;            /* by source, instead of names; NULL: none */
};

/* The samples of a batch are in one aligned range of PCI_BATCH rows. */
static pcol_status add_batch(void *context, const struct pci_sample_batch *batch, pcol_error *err)
{
    struct group_sums *g = context;
    const uint8_t *passes = g->query->passes;
    int64_t cells[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    uint64_t first = batch->row[0] / PCI_BATCH * PCI_BATCH;
    size_t n = (size_t)(batch->row[batch->count - 1] - first) + 1;
    if (g->cells)
        PCI_TRY(pci_read(g->query->file, g->cells, first, n, cells, valid, err));
    for (size_t i = 0; i < batch->count; i++) {
        size_t cell = (size_t)(batch->row[i] - first);
        uint64_t group = g->missing_is_first && g->groups ? 0 : g->groups;
        if (passes && !passes[batch->stack[i]])
            continue;
        if (g->cells && valid[cell])
            group = (uint64_t)cells[cell];
        PCI_TRY(pci_top_add(g->query, &g->items[group], batch->amount[i], err));
    }
    return PCOL_OK;
}

static pcol_status get_name(const struct group_sums *g, uint64_t group, pcol_str *name, int *valid,
                            pcol_error *err)
{
    *name = (pcol_str){"", 0};
    *valid = 0;
    if (g->metas) {
        *name = g->metas[group];
        *valid = name->data != NULL;
        return PCOL_OK;
    }
    return pci_row_name(&g->names, group, name, valid, err);
}

/* Adds the sums of groups to that of the first group of the same name, and those without a name to
 * that of the samples without a group. */
static pcol_status join_names(struct group_sums *g, struct pci_string_pool *names, pcol_error *err)
{
    struct pci_text_memo long_names = {0};
    uint32_t *first = pci_malloc((size_t)g->groups + 1, sizeof *first); /* by name */
    pcol_status status = first ? PCOL_OK : pci_fail_memory(err);
    for (uint64_t group = 0; status == PCOL_OK && group < g->groups; group++) {
        size_t before = names->count;
        uint32_t code;
        pcol_str name;
        int valid;
        status = get_name(g, group, &name, &valid, err);
        uint64_t to = g->groups;
        if (status == PCOL_OK && valid) {
            status = pci_string_pool_intern_stored(names, &long_names, name, &code, err);
            if (status == PCOL_OK && names->count > before)
                first[code] = (uint32_t)group;
            to = status == PCOL_OK ? first[code] : 0;
        }
        if (status != PCOL_OK || to == group)
            continue;
        status = pci_top_add(g->query, &g->items[to], g->items[group].self, err);
        g->items[group] = (struct pci_top_item){0};
    }
    pci_free(first);
    pci_text_memo_clear(&long_names);
    return status;
}

/* Reads the values of a key. */
static pcol_status read_metas(struct group_sums *g, const char *key, pcol_error *err)
{
    int exists;
    PCI_TRY(PCI_CALLOC(g->metas, (size_t)g->groups + 1, err));
    PCI_TRY(pci_source_meta_values(g->query->file, (pcol_str){key, strlen(key)}, g->groups,
                                   g->metas, &exists, err));
    return exists ? PCOL_OK
                  : pci_fail(err, PCOL_E_ARGUMENT, "no source has metadata with the key '%.100s'",
                             key);
}

static pcol_status build_rows(const struct group_sums *g, struct pci_top *top, pcol_error *err)
{
    PCI_TRY(PCI_CALLOC(top->frames.frames, (size_t)g->groups + 1, err));
    for (uint64_t group = 0; group <= g->groups; group++) {
        struct pci_frame *frame = pci_top_append(top, (size_t)group);
        int valid = 0;
        if (!frame)
            continue;
        if (group < g->groups)
            PCI_TRY(get_name(g, group, &frame->name, &valid, err));
        pci_set_flag(&frame->flags, PCI_FRAME_HAS_NAME, valid);
        pci_set_flag(&frame->flags, PCI_FRAME_HAS_ROW, group < g->groups);
        frame->row = (uint32_t)group;
    }
    return PCOL_OK;
}

pcol_status pci_top_of_samples(pcol_query *query, pcol_by by, const char *key, struct pci_top *top,
                               pcol_error *err)
{
    int of_sources = by == PCOL_BY_SOURCE || by == PCOL_BY_META;
    struct group_sums g = {.query = query, .missing_is_first = of_sources};
    const char *table = of_sources ? "sources" : "threads";
    pcol_status status;
    PCI_TRY(pci_check_row_count(query->file, table, err));
    g.groups = pci_rows(query->file, table);
    PCI_TRY(pci_find_column(query->file, "samples", of_sources ? "source" : "thread", PCI_TYPES_ROW,
                            &g.cells, err));
    PCI_TRY(pci_row_names_open(&g.names, query->file, of_sources ? PCOL_BY_SOURCE : by, err));
    status = by == PCOL_BY_META ? read_metas(&g, key, err) : PCOL_OK;
    PCI_THEN(status, PCI_CALLOC(top->items, (size_t)g.groups + 1, err));
    g.items = top->items;
    PCI_THEN(status, pci_query_load(query, err));
    PCI_THEN(status, pci_samples_each(query, &query->sample_filter, add_batch, &g, err));
    if (by == PCOL_BY_PROCESS || by == PCOL_BY_META)
        PCI_THEN(status, join_names(&g, &top->names, err));
    PCI_THEN(status, build_rows(&g, top, err));
    pci_free(g.metas);
    return status;
}
