/*
 * top_by_sample.c - sums by thread or source of the samples
 *
 * Threads and sources are not in the call tree, so the samples are read; those whose stack the
 * filter of frames excluded do not count. Self and total are equal.
 */
#include "query/top.h"

#include "util/alloc.h"
#include "util/arg_check.h"

struct group_sums {
    pcol_query *query;
    const struct pci_column *cells; /* rows of the table of groups */
    uint64_t groups;                /* rows of that table; one more group for samples without one */
    pcol_amount *sums;
    int missing_is_first; /* an absent column means row 0 */
};

/* The samples of a batch are in one aligned range of PCI_BATCH rows. */
static pcol_status add_batch(struct group_sums *g, const struct pci_sample_batch *batch,
                             int64_t *cells, uint8_t *valid, pcol_error *err)
{
    const uint8_t *passes = g->query->passes;
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
        PCI_TRY(pci_query_add(g->query, &g->sums[group], batch->amount[i], err));
    }
    return PCOL_OK;
}

struct sample_buffers {
    struct pci_sample_batch batch;
    int64_t cells[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
};

static pcol_status add_samples(struct group_sums *g, pcol_error *err)
{
    pcol_query *query = g->query;
    struct pci_samples *samples = NULL;
    struct sample_buffers *b = pci_malloc(1, sizeof *b);
    pcol_status status = b ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_query_samples(query, &samples, err));
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

/* Adds the sums of threads to that of the first thread of the same process. */
static pcol_status join_processes(struct group_sums *g, const struct pci_column *pids,
                                  struct pci_string_pool *names, pcol_error *err)
{
    uint32_t *first = pci_malloc((size_t)g->groups + 1, sizeof *first); /* by pid */
    pcol_status status = first ? PCOL_OK : pci_fail_memory(err);
    for (uint64_t thread = 0; status == PCOL_OK && thread < g->groups; thread++) {
        size_t before = names->count;
        uint32_t name;
        pcol_str pid = {"", 0};
        int valid = 0;
        if (pids)
            status = pci_get_str(g->query->file, pids, thread, &pid, &valid, err);
        uint64_t to = g->groups;
        if (status == PCOL_OK && valid) {
            status = pci_string_pool_intern(names, pid.data, pid.size, &name, err);
            if (status == PCOL_OK && names->count > before)
                first[name] = (uint32_t)thread;
            to = status == PCOL_OK ? first[name] : 0;
        }
        if (status != PCOL_OK || to == thread)
            continue;
        status = pci_query_add(g->query, &g->sums[to], g->sums[thread], err);
        g->sums[thread] = (pcol_amount){0};
    }
    pci_free(first);
    return status;
}

static pcol_status build_rows(struct group_sums *g, const struct pci_column *names,
                              struct pci_top *top, pcol_error *err)
{
    int is_double = g->query->measure.is_double;
    top->is_double = is_double;
    PCI_TRY(PCI_MALLOC(top->items, (size_t)g->groups + 1, err));
    PCI_TRY(PCI_CALLOC(top->frames.frames, (size_t)g->groups + 1, err));
    for (uint64_t group = 0; group <= g->groups; group++) {
        struct pci_frame *frame = &top->frames.frames[group];
        int valid = 0;
        if (pci_amount_is_zero(is_double, g->sums[group]))
            continue;
        if (names && group < g->groups)
            PCI_TRY(pci_get_str(g->query->file, names, group, &frame->name, &valid, err));
        pci_set_flag(&frame->flags, PCI_FRAME_HAS_NAME, valid);
        pci_set_flag(&frame->flags, PCI_FRAME_HAS_ROW, group < g->groups);
        frame->row = (uint32_t)group;
        top->items[top->count++] = (struct pci_top_item){g->sums[group], g->sums[group], {frame}};
    }
    return PCOL_OK;
}

pcol_status pci_top_of_samples(pcol_query *query, pcol_by by, struct pci_top *top, pcol_error *err)
{
    struct group_sums g = {.query = query, .missing_is_first = by == PCOL_BY_SOURCE};
    const char *table = by == PCOL_BY_SOURCE ? "sources" : "threads";
    const struct pci_column *names;
    pcol_status status;
    PCI_TRY(pci_check_row_count(query->file, table, err));
    g.groups = pci_rows(query->file, table);
    PCI_TRY(pci_find_column(query->file, "samples", by == PCOL_BY_SOURCE ? "source" : "thread",
                            PCI_TYPES_ROW, &g.cells, err));
    PCI_TRY(pci_find_column(query->file, table,
                            by == PCOL_BY_THREAD    ? "name"
                            : by == PCOL_BY_PROCESS ? "pid"
                                                    : "uri",
                            PCI_TYPES_TEXT, &names, err));
    PCI_TRY(PCI_CALLOC(g.sums, (size_t)g.groups + 1, err));
    status = add_samples(&g, err);
    if (by == PCOL_BY_PROCESS)
        PCI_THEN(status, join_processes(&g, names, &top->names, err));
    PCI_THEN(status, build_rows(&g, names, top, err));
    pci_free(g.sums);
    return status;
}
