/*
 * top_by_label.c - sums by the value of a label
 *
 * Values with the same text and unit are one row, whatever their kind. A sample with several values
 * of the key, in several columns or in `extra`, counts once per distinct value: the pairs (sample,
 * value) of a batch are sorted and deduplicated. Tests: suite answers.
 */
#include "query/labels.h"
#include "query/top.h"

#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

/* A value of the sample at index `at` of the batch. */
struct pair {
    uint32_t at, name;
};

struct label_sums {
    pcol_query *query;
    struct pci_string_pool *names;
    pcol_amount *sums; /* by name; unused capacity is zeroed */
    size_t capacity;
    struct pair *pairs;
    size_t pair_count, pair_capacity;
    pcol_amount unlabelled; /* sum of the samples without the label */
    struct pci_label_columns columns;
    struct pci_strbuf with_unit;
};

/* Cells of one column for a batch of samples. */
struct label_batch {
    struct pci_sample_batch batch;
    int64_t cells[PCI_BATCH];
    uint8_t valid[PCI_BATCH], labelled[PCI_BATCH];
};

static pcol_status add_pair(struct label_sums *g, size_t at, pcol_str name, pcol_error *err)
{
    uint32_t id;
    PCI_TRY(pci_string_pool_intern(g->names, name.data, name.size, &id, err));
    PCI_TRY(PCI_GROW(g->pairs, g->pair_capacity, g->pair_count + 1, err));
    g->pairs[g->pair_count++] = (struct pair){(uint32_t)at, id};
    return PCOL_OK;
}

static int compare_pairs(const void *pa, const void *pb)
{
    const struct pair *a = pa, *b = pb;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static pcol_status add_pairs(struct label_sums *g, const struct pci_sample_batch *batch,
                             pcol_error *err)
{
    size_t capacity = g->capacity;
    PCI_TRY(PCI_GROW(g->sums, g->capacity, (size_t)g->names->count + 1, err));
    memset(g->sums + capacity, 0, (g->capacity - capacity) * sizeof *g->sums);
    if ((g->columns.count > 1 || g->columns.members.roots) && g->pair_count)
        qsort(g->pairs, g->pair_count, sizeof *g->pairs, compare_pairs);
    for (size_t i = 0; i < g->pair_count; i++)
        if (!i || compare_pairs(&g->pairs[i - 1], &g->pairs[i]))
            PCI_TRY(pci_query_add(g->query, &g->sums[g->pairs[i].name],
                                  batch->amount[g->pairs[i].at], err));
    g->pair_count = 0;
    return PCOL_OK;
}

static pcol_status add_column(struct label_sums *g, struct label_batch *b,
                              const struct pci_label_column *column, pcol_error *err)
{
    const pcol_file *file = g->query->file;
    const uint8_t *passes = g->query->passes;
    uint64_t first = b->batch.row[0] / PCI_BATCH * PCI_BATCH;
    size_t n = (size_t)(b->batch.row[b->batch.count - 1] - first) + 1;
    int is_bytes = column->column->desc->type == PCF_BYTES;
    if (!is_bytes)
        PCI_TRY(pci_label_read(&g->columns, column, first, n, b->cells, b->valid, err));
    for (size_t i = 0; i < b->batch.count; i++) {
        uint64_t row = b->batch.row[i];
        size_t cell = (size_t)(row - first);
        char room[PCI_LABEL_TEXT];
        pcol_str text;
        int valid = is_bytes || b->valid[cell];
        if (!valid || (passes && !passes[b->batch.stack[i]]))
            continue;
        if (is_bytes)
            PCI_TRY(pci_get_str(file, column->column, row, &text, &valid, err));
        else
            PCI_TRY(pci_label_text(&g->columns, column, row, b->cells[cell], room, &text, err));
        if (!valid)
            continue;
        if (column->unit.size)
            PCI_TRY(pci_label_with_unit(column, &g->with_unit, &text, err));
        b->labelled[i] = 1;
        PCI_TRY(add_pair(g, i, text, err));
    }
    return PCOL_OK;
}

/* Adds the values of a batch that have no column. */
static pcol_status add_members(struct label_sums *g, struct label_batch *b, pcol_error *err)
{
    const struct pci_column *roots = g->columns.members.roots;
    const uint8_t *passes = g->query->passes;
    uint64_t first = b->batch.row[0] / PCI_BATCH * PCI_BATCH;
    size_t n = (size_t)(b->batch.row[b->batch.count - 1] - first) + 1;
    if (!roots)
        return PCOL_OK;
    PCI_TRY(pci_read(g->query->file, roots, first, n, b->cells, b->valid, err));
    for (size_t i = 0; i < b->batch.count; i++) {
        size_t cell = (size_t)(b->batch.row[i] - first);
        struct pci_label_value value = {.member = PCI_NO_NODE};
        if (!b->valid[cell] || (passes && !passes[b->batch.stack[i]]))
            continue;
        for (;;) {
            PCI_TRY(pci_label_members_next(&g->columns, (uint64_t)b->cells[cell], &value, err));
            if (value.member == PCI_NO_NODE)
                break;
            b->labelled[i] = 1;
            PCI_TRY(add_pair(g, i, value.text, err));
        }
    }
    return PCOL_OK;
}

static pcol_status add_batch(struct label_sums *g, struct label_batch *b, pcol_error *err)
{
    const uint8_t *passes = g->query->passes;
    memset(b->labelled, 0, sizeof b->labelled);
    for (size_t c = 0; c < g->columns.count; c++)
        PCI_TRY(add_column(g, b, &g->columns.columns[c], err));
    PCI_TRY(add_members(g, b, err));
    PCI_TRY(add_pairs(g, &b->batch, err));
    for (size_t i = 0; i < b->batch.count; i++) {
        if (!b->labelled[i] && !(passes && !passes[b->batch.stack[i]]))
            PCI_TRY(pci_query_add(g->query, &g->unlabelled, b->batch.amount[i], err));
    }
    return PCOL_OK;
}

static pcol_status add_samples(struct label_sums *g, pcol_error *err)
{
    struct pci_samples *samples = NULL;
    struct label_batch *b = pci_malloc(1, sizeof *b);
    pcol_status status = b ? PCOL_OK : pci_fail_memory(err);
    for (size_t c = 0; status == PCOL_OK && c < g->columns.count; c++)
        status = pci_verify(g->query->file, g->columns.columns[c].column, err);
    PCI_THEN(status, pci_query_samples(g->query, &samples, err));
    while (status == PCOL_OK) {
        status = pci_samples_next(samples, &b->batch, err);
        if (status != PCOL_OK || b->batch.count == 0)
            break;
        status = add_batch(g, b, err);
    }
    pci_samples_close(samples);
    pci_free(b);
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
        top->items[top->count++] = (struct pci_top_item){sum, sum, {frame}};
    }
    return PCOL_OK;
}

pcol_status pci_top_of_label(pcol_query *query, const char *label, struct pci_top *top,
                             pcol_error *err)
{
    struct label_sums g = {.query = query, .names = &top->names};
    pcol_status status;
    status = pci_label_columns_open(&g.columns, query->file, label, strlen(label), err);
    PCI_THEN(status, add_samples(&g, err));
    PCI_THEN(status, build_rows(&g, top, err));
    pci_label_columns_close(&g.columns);
    pci_strbuf_clear(&g.with_unit);
    pci_free(g.sums);
    pci_free(g.pairs);
    return status;
}
