/*
 * top_by_label.c - sums by the value of a label
 *
 * The sums are those of the pairs (sample, value) of label_pairs.c. Tests: suite answers.
 */
#include "query/label_pairs.h"
#include "query/top.h"

#include "util/alloc.h"

#include <string.h>

struct label_sums {
    pcol_query *query;
    struct pci_label_pairs pairs;
    pcol_amount *sums; /* by name; unused capacity is zeroed */
    size_t capacity;
    pcol_amount unlabelled; /* sum of the samples without the label */
};

static pcol_status add_batch(struct label_sums *g, const struct pci_sample_batch *batch,
                             pcol_error *err)
{
    const uint8_t *passes = g->query->passes;
    size_t capacity = g->capacity;
    PCI_TRY(pci_label_pairs_read(&g->pairs, batch, err));
    PCI_TRY(PCI_GROW(g->sums, g->capacity, (size_t)g->pairs.names->count + 1, err));
    memset(g->sums + capacity, 0, (g->capacity - capacity) * sizeof *g->sums);
    for (size_t i = 0; i < g->pairs.count; i++)
        PCI_TRY(pci_query_add(g->query, &g->sums[g->pairs.pairs[i].name],
                              batch->amount[g->pairs.pairs[i].at], err));
    for (size_t i = 0; i < batch->count; i++) {
        if (!g->pairs.labelled[i] && !(passes && !passes[batch->stack[i]]))
            PCI_TRY(pci_query_add(g->query, &g->unlabelled, batch->amount[i], err));
    }
    return PCOL_OK;
}

static pcol_status add_samples(struct label_sums *g, pcol_error *err)
{
    struct pci_samples *samples = NULL;
    struct pci_sample_batch *batch = pci_malloc(1, sizeof *batch);
    pcol_status status = batch ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_query_samples(g->query, &samples, err));
    while (status == PCOL_OK) {
        status = pci_samples_next(samples, batch, err);
        if (status != PCOL_OK || batch->count == 0)
            break;
        status = add_batch(g, batch, err);
    }
    pci_samples_close(samples);
    pci_free(batch);
    return status;
}

static pcol_status build_rows(const struct label_sums *g, struct pci_top *top, pcol_error *err)
{
    int is_double = g->query->measure.is_double;
    uint32_t count = (uint32_t)top->names.count;
    top->is_double = is_double;
    PCI_TRY(PCI_MALLOC(top->items, (size_t)count + 1, err));
    PCI_TRY(PCI_CALLOC(top->frames.frames, (size_t)count + 1, err));
    for (uint32_t i = 0; i <= count; i++) {
        struct pci_frame *frame = &top->frames.frames[i];
        pcol_amount sum = i < count ? g->sums[i] : g->unlabelled;
        if (pci_amount_is_zero(is_double, sum))
            continue;
        if (i < count)
            *frame = (struct pci_frame){.name = pci_string_pool_get(&top->names, i),
                                        .flags = PCI_FRAME_HAS_NAME};
        top->items[top->count++] =
            (struct pci_top_item){.self = sum, .total = sum, .by.frame = frame};
    }
    return PCOL_OK;
}

pcol_status pci_top_of_label(pcol_query *query, const char *label, struct pci_top *top,
                             pcol_error *err)
{
    struct label_sums g = {.query = query};
    pcol_status status;
    status = pci_label_pairs_open(&g.pairs, query, label, &top->names, err);
    PCI_THEN(status, add_samples(&g, err));
    PCI_THEN(status, build_rows(&g, top, err));
    pci_label_pairs_close(&g.pairs);
    pci_free(g.sums);
    return status;
}
