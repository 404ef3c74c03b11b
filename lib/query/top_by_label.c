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
    struct pci_top *top; /* items by name; unused capacity is zeroed */
    size_t capacity;
    struct pci_top_item unlabelled; /* the samples without the label */
};

/* Zeroed items for all names and one more. */
static pcol_status grow_items(struct label_sums *g, pcol_error *err)
{
    size_t capacity = g->capacity;
    PCI_TRY(PCI_GROW(g->top->items, g->capacity, (size_t)g->pairs.names->count + 1, err));
    memset(g->top->items + capacity, 0, (g->capacity - capacity) * sizeof *g->top->items);
    return PCOL_OK;
}

static pcol_status add_batch(void *context, const struct pci_sample_batch *batch, pcol_error *err)
{
    struct label_sums *g = context;
    const uint8_t *passes = g->query->passes;
    PCI_TRY(pci_label_pairs_read(&g->pairs, batch, err));
    PCI_TRY(grow_items(g, err));
    for (size_t i = 0; i < g->pairs.count; i++)
        PCI_TRY(pci_top_add(g->query, &g->top->items[g->pairs.pairs[i].name],
                            batch->amount[g->pairs.pairs[i].at], err));
    for (size_t i = 0; i < batch->count; i++) {
        if (!g->pairs.labelled[i] && !(passes && !passes[batch->stack[i]]))
            PCI_TRY(pci_top_add(g->query, &g->unlabelled, batch->amount[i], err));
    }
    return PCOL_OK;
}

static pcol_status build_rows(struct label_sums *g, pcol_error *err)
{
    struct pci_top *top = g->top;
    uint32_t count = (uint32_t)top->names.count;
    PCI_TRY(grow_items(g, err));
    PCI_TRY(PCI_CALLOC(top->frames.frames, (size_t)count + 1, err));
    top->items[count] = g->unlabelled;
    for (uint32_t i = 0; i <= count; i++) {
        struct pci_frame *frame = pci_top_append(top, i);
        if (frame && i < count)
            *frame = (struct pci_frame){.name = pci_string_pool_get(&top->names, i),
                                        .flags = PCI_FRAME_HAS_NAME};
    }
    return PCOL_OK;
}

pcol_status pci_top_of_label(pcol_query *query, const char *label, struct pci_top *top,
                             pcol_error *err)
{
    struct label_sums g = {.query = query, .top = top};
    pcol_status status = pci_label_pairs_open(&g.pairs, query, label, &top->names, err);
    PCI_THEN(status, pci_query_load(query, err));
    PCI_THEN(status, pci_samples_each(query, &query->sample_filter, add_batch, &g, err));
    PCI_THEN(status, build_rows(&g, err));
    pci_label_pairs_close(&g.pairs);
    return status;
}
