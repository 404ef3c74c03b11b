/*
 * top_by_sample.c - sums by what a sample carries: its thread or its source
 *
 * These are not in the call tree, so the samples are read; those whose stack the filters took away
 * do not count. Self and total are the same here: a sample has one thread.
 */
#include "query/top.h"

#include "util/alloc.h"

#include <string.h>

struct grouping {
    const pcol_query *query;
    const struct pci_column *cells; /* rows of the table that names the groups */
    uint64_t groups;                /* its rows; one more group is for samples without */
    pcol_amount *sums;
    int missing_is_first; /* a column that is absent means row 0 */
};

static pcol_status add(struct grouping *g, uint64_t group, pcol_amount amount, pcol_error *err)
{
    if (pci_amount_add(g->query->measure.is_double, &g->sums[group], amount))
        return pci_amount_overflow(g->query->measure.type, err);
    return PCOL_OK;
}

/* The samples of a batch lie in one block of PCI_BATCH rows. */
static pcol_status add_batch(struct grouping *g, const struct pci_sample_batch *batch,
                             int64_t *cells, uint8_t *valid, pcol_error *err)
{
    const uint8_t *passes = g->query->passes;
    uint64_t block = batch->row[0] / PCI_BATCH * PCI_BATCH;
    size_t n = (size_t)(batch->row[batch->count - 1] - block) + 1;
    if (g->cells)
        PCI_TRY(pci_read(g->query->file, g->cells, block, n, cells, valid, err));
    for (size_t i = 0; i < batch->count; i++) {
        size_t at = (size_t)(batch->row[i] - block);
        uint64_t group = g->missing_is_first && g->groups ? 0 : g->groups;
        if (passes && !passes[batch->stack[i]])
            continue;
        if (g->cells && valid[at])
            group = (uint64_t)cells[at];
        PCI_TRY(add(g, group, batch->amount[i], err));
    }
    return PCOL_OK;
}

struct buffers {
    struct pci_sample_batch batch;
    int64_t cells[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
};

static pcol_status add_samples(struct grouping *g, pcol_error *err)
{
    const pcol_query *query = g->query;
    struct pci_samples *samples = NULL;
    struct buffers *b = pci_malloc(1, sizeof *b);
    pcol_status status = b ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = pci_query_samples(query, &samples, err);
    while (status == PCOL_OK) {
        status = pci_samples_next(samples, &b->batch, err);
        if (status != PCOL_OK || b->batch.count == 0)
            break;
        status = add_batch(g, &b->batch, b->cells, b->valid, err);
    }
    pci_samples_close(samples);
    pci_free(b);
    return status;
}

static pcol_status take_rows(struct grouping *g, const struct pci_column *names, pcol_top *top,
                             pcol_error *err)
{
    int is_double = g->query->measure.is_double;
    top->is_double = is_double;
    top->items = pci_malloc((size_t)g->groups + 1, sizeof *top->items);
    top->frames.frames = pci_calloc((size_t)g->groups + 1, sizeof *top->frames.frames);
    if (!top->items || !top->frames.frames)
        return pci_fail_memory(err);
    for (uint64_t group = 0; group <= g->groups; group++) {
        pcol_frame *frame = &top->frames.frames[group];
        int valid = 0;
        if (pci_amount_is_zero(is_double, g->sums[group]))
            continue;
        if (names && group < g->groups)
            PCI_TRY(pci_get_str(g->query->file, names, group, &frame->name, &valid, err));
        frame->has_name = valid != 0;
        frame->has_id = group < g->groups;
        frame->id = g->missing_is_first ? group + 1 : group;
        top->items[top->count++] = (struct pci_top_item){g->sums[group], g->sums[group], {frame}};
    }
    return PCOL_OK;
}

pcol_status pci_top_of_samples(const pcol_query *query, pcol_by by, pcol_top *top, pcol_error *err)
{
    struct grouping g = {.query = query, .missing_is_first = by == PCOL_BY_SOURCE};
    const char *table = by == PCOL_BY_THREAD ? "threads" : "sources";
    const struct pci_column *names;
    pcol_status status;
    PCI_TRY(pci_plausible(query->file, table, err));
    g.groups = pci_rows(query->file, table);
    PCI_TRY(pci_want(query->file, "samples", by == PCOL_BY_THREAD ? "thread" : "source",
                     PCI_TYPES_ROW, &g.cells, err));
    PCI_TRY(pci_want(query->file, table, by == PCOL_BY_THREAD ? "name" : "uri", PCI_TYPES_TEXT,
                     &names, err));
    g.sums = pci_calloc((size_t)g.groups + 1, sizeof *g.sums);
    if (!g.sums)
        return pci_fail_memory(err);
    status = add_samples(&g, err);
    if (status == PCOL_OK)
        status = take_rows(&g, names, top, err);
    pci_free(g.sums);
    return status;
}
