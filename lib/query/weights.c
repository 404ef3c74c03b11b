/*
 * weights.c - weight of each row of `stacks`
 *
 * A query without a filter reads the file's sums per stack (stack_sums); any other sums the
 * selected samples.
 *
 * The denominator of percentages is that of pprof: the magnitudes of all selected samples, or, if
 * pprof marked samples of a subtracted base, of these alone. Sums hide cancelled negative values,
 * so the samples are read if some value is negative. Tests: suite answers.
 */
#include "query/query.h"

#include "model/column_range.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

/* Sum of the magnitudes of samples. */
struct whole {
    int negative; /* some value is negative */
    int overflow; /* of f64 */
    __extension__ unsigned __int128 i64;
    double f64;
};

static pcol_status add(pcol_query *query, uint32_t stack, pcol_amount amount, pcol_error *err)
{
    if (pci_amount_add(query->measure.is_double, &query->weight[stack], amount))
        return pci_amount_overflow(query->measure.type, err);
    return PCOL_OK;
}

/* ---- from the file's sums */

/* Finds the columns of sums of all rows of the sample type; *found: 0 if one is missing. */
static pcol_status find_sums(pcol_query *query, const struct pci_column **columns, int *found,
                             pcol_error *err)
{
    const struct pci_query_type *measure = &query->measure;
    *found = !measure->is_memory && pci_rows(query->file, "stack_sums") > 0;
    for (uint32_t i = 0; *found && i < measure->column_count; i++) {
        uint32_t k = measure->columns[i];
        char name[24];
        snprintf(name, sizeof name, "sum.%lu", (unsigned long)k);
        PCI_TRY(pci_find_column(query->file, "stack_sums", name,
                                PCI_TYPE(PCF_I64) | PCI_TYPE(PCF_F64), &columns[i], err));
        *found = columns[i] && columns[i]->desc->type == query->types.columns[k]->desc->type;
    }
    return PCOL_OK;
}

static pcol_status add_sums(pcol_query *query, const struct pci_column *stack,
                            const struct pci_column *sum, pcol_error *err)
{
    int64_t stacks[PCI_BATCH], sums[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    uint64_t rows = stack->desc->rows;
    int is_double = sum->desc->type == PCF_F64;
    PCI_TRY(pci_verify(query->file, sum, err));
    for (uint64_t row = 0; row < rows; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        PCI_TRY(pci_read(query->file, stack, row, n, stacks, NULL, err));
        PCI_TRY(pci_read(query->file, sum, row, n, sums, valid, err));
        for (size_t i = 0; i < n; i++) {
            pcol_amount amount = {.i64 = sums[i]};
            if (!valid[i])
                continue;
            if (is_double)
                memcpy(&amount.f64, &sums[i], sizeof amount.f64);
            else if (query->measure.is_double)
                amount.f64 = (double)sums[i];
            PCI_TRY(add(query, (uint32_t)stacks[i], amount, err));
        }
    }
    return PCOL_OK;
}

static pcol_status weigh_sums(pcol_query *query, const struct pci_column **columns, pcol_error *err)
{
    const struct pci_column *stack;
    PCI_TRY(pci_require_column(query->file, "stack_sums", "stack", PCI_TYPES_ROW, &stack, err));
    if (stack->desc->rows > query->calls.count)
        return pci_corrupt(err, "stack_sums", "stack", PCOL_POSITION_UNKNOWN,
                           "more sums than stacks");
    PCI_TRY(pci_verify(query->file, stack, err));
    for (uint32_t i = 0; i < query->measure.column_count; i++)
        PCI_TRY(add_sums(query, stack, columns[i], err));
    query->from_sums = 1;
    return PCOL_OK;
}

/* ---- from samples */

/* 128 bits suffice for the sum of any number of rows. */
static void add_magnitude(struct whole *whole, int is_double, pcol_amount amount)
{
    whole->negative |= amount.i64 < 0; /* also of doubles: their sign bit is that of the integer */
    if (is_double)
        whole->overflow |= pci_add_doubles(&whole->f64, fabs(amount.f64));
    else
        whole->i64 += pci_amount_magnitude(amount);
}

/* Weights that exceed the nearest caches of a processor. */
#define NEAR_WEIGHTS 65536u

static pcol_status add_batch(pcol_query *query, const struct pci_sample_batch *batch,
                             pcol_error *err)
{
    pcol_amount *weight = query->weight;
    int overflow = 0;
    /* Stacks are in random order: each access would be a cache miss. */
    for (size_t i = 0; query->calls.count > NEAR_WEIGHTS && i < batch->count; i++)
        __builtin_prefetch(&weight[batch->stack[i]], 1);
    if (query->measure.is_double) {
        for (size_t i = 0; i < batch->count; i++)
            overflow |= pci_add_doubles(&weight[batch->stack[i]].f64, batch->amount[i].f64);
    }
    for (size_t i = 0; !query->measure.is_double && i < batch->count; i++) {
        int64_t *sum = &weight[batch->stack[i]].i64;
        overflow |= __builtin_add_overflow(*sum, batch->amount[i].i64, sum);
    }
    return overflow ? pci_amount_overflow(query->measure.type, err) : PCOL_OK;
}

struct weighing {
    pcol_query *query;
    int weigh;           /* add the amounts to the weights of the stacks */
    struct whole *whole; /* gets the magnitudes of samples whose stack passes the filter of frames
                            (all pass before pci_frame_filter()); NULL: not needed */
};

static pcol_status walk_batch(void *context, const struct pci_sample_batch *batch, pcol_error *err)
{
    const struct weighing *w = context;
    const uint8_t *passes = w->query->passes;
    for (size_t i = 0; w->whole && i < batch->count; i++)
        if (!passes || passes[batch->stack[i]])
            add_magnitude(w->whole, w->query->measure.is_double, batch->amount[i]);
    return w->weigh ? add_batch(w->query, batch, err) : PCOL_OK;
}

static pcol_status walk_samples(pcol_query *query, const struct pci_sample_filter *sample_filter,
                                int weigh, struct whole *whole, pcol_error *err)
{
    struct weighing w = {query, weigh, whole};
    return pci_samples_each(query, sample_filter, walk_batch, &w, err);
}

/* ---- totals */

/* Sums all weights unless one is negative, in a loop that the compiler vectorizes: halves of 32
 * bits do not overflow within 2^32 rows. */
static int add_positive(pcol_query *query, int64_t *sum)
{
    uint64_t low = 0, high = 0, any = 0;
    for (uint32_t row = 0; row < query->calls.count; row++) {
        uint64_t weight = (uint64_t)query->weight[row].i64;
        any |= weight;
        low += weight & UINT32_MAX;
        high += weight >> 32;
    }
    *sum = (int64_t)((high << 32) + low);
    return !(any >> 63) && high + (low >> 32) <= INT32_MAX;
}

/* *negative: 1 if a cell is negative; also of doubles: their sign bit is that of the integer. */
static pcol_status find_negative(const pcol_file *file, const struct pci_column *column,
                                 int *negative, pcol_error *err)
{
    struct pci_column_range range;
    PCI_TRY(pci_column_bounds(file, column, &range, err));
    if (range.min < 0)
        PCI_TRY(pci_column_range(file, column, NULL, 0, &range, err));
    *negative = range.min < 0;
    return PCOL_OK;
}

static pcol_status find_negatives(pcol_query *query, int *negative, pcol_error *err)
{
    *negative = 0;
    for (uint32_t i = 0; i < query->measure.column_count && !*negative; i++)
        PCI_TRY(find_negative(query->file, query->types.columns[query->measure.columns[i]],
                              negative, err));
    return PCOL_OK;
}

/* Sums the samples that pprof marked as those of a base; *found: 0 if there are none. */
static pcol_status add_base(pcol_query *query, const pcol_selection *selection, struct whole *whole,
                            int *found, pcol_error *err)
{
    pcol_selection of_base = PCOL_INIT(pcol_selection);
    struct pci_sample_filter sample_filter = {0};
    size_t given = selection ? selection->label_count : 0;
    *found = 0;
    PCI_TRY(pci_label_exists(query->file, "pprof::base", found, err));
    if (!*found)
        return PCOL_OK;
    const char **labels;
    PCI_TRY(PCI_MALLOC(labels, given + 1, err));
    if (selection)
        memcpy(&of_base, selection, sizeof of_base);
    if (given)
        memcpy(labels, selection->labels, given * sizeof *labels);
    labels[given] = "pprof::base=true";
    of_base.labels = labels;
    of_base.label_count = given + 1;
    pcol_status status = pci_sample_filter_open(query->file, &of_base, &sample_filter, err);
    PCI_THEN(status, walk_samples(query, &sample_filter, 0, whole, err));
    pci_sample_filter_close(&sample_filter);
    pci_free((void *)labels);
    *found = whole->i64 > 0 || whole->f64 > 0;
    return status;
}

static pcol_status check_magnitudes(pcol_query *query, pcol_error *err)
{
    struct whole sum = {0};
    for (uint32_t row = 0; row < query->calls.count; row++)
        add_magnitude(&sum, query->measure.is_double, query->weight[row]);
    return sum.overflow || sum.i64 > INT64_MAX ? pci_amount_overflow(query->measure.type, err)
                                               : PCOL_OK;
}

static pcol_status add_selected(pcol_query *query, pcol_error *err)
{
    pcol_amount sum = {.i64 = 0};
    if (query->measure.is_double)
        sum.f64 = 0;
    for (uint32_t row = 0; row < query->calls.count; row++) {
        if (pci_amount_add(query->measure.is_double, &sum, query->weight[row]))
            return pci_amount_overflow(query->measure.type, err);
    }
    query->selected = sum;
    return PCOL_OK;
}

/* Sets the denominator of percentages and the plain sum. */
static pcol_status add_totals(pcol_query *query, const pcol_selection *selection,
                              struct whole *whole, pcol_error *err)
{
    struct whole base = {0};
    int found, negative = whole->negative, is_double = query->measure.is_double;
    PCI_TRY(add_base(query, selection, &base, &found, err));
    if (!found && query->from_sums)
        PCI_TRY(find_negatives(query, &negative, err));
    if (!found && !negative && !is_double && add_positive(query, &query->total.i64)) {
        query->selected = query->total;
        return PCOL_OK;
    }
    /* The walk over all stacks does not check for overflow: the sum of the magnitudes of all
     * weights must fit, whatever the denominator is; stored sums may contradict the samples. */
    if (found || (query->from_sums && negative))
        PCI_TRY(check_magnitudes(query, err));
    if (found)
        *whole = base;
    else if (query->from_sums && negative)
        PCI_TRY(walk_samples(query, &query->sample_filter, 0, whole, err));
    else if (!negative)
        *whole = (struct whole){0};
    for (uint32_t row = 0; !found && !negative && row < query->calls.count; row++)
        add_magnitude(whole, is_double, query->weight[row]);
    if (whole->overflow || whole->i64 > INT64_MAX)
        return pci_amount_overflow(query->measure.type, err);
    if (is_double)
        query->total.f64 = whole->f64;
    else
        query->total.i64 = (int64_t)whole->i64;
    return add_selected(query, err);
}

pcol_status pci_add_filtered(pcol_query *query, pcol_error *err)
{
    struct whole whole = {0};
    int negative;
    PCI_TRY(add_selected(query, err));
    for (uint32_t row = 0; row < query->calls.count; row++)
        if (!pci_amount_is_zero(query->measure.is_double, query->weight[row]))
            return PCOL_OK;
    /* Samples of one stack may cancel each other. */
    PCI_TRY(find_negatives(query, &negative, err));
    if (negative)
        PCI_TRY(walk_samples(query, &query->sample_filter, 0, &whole, err));
    query->nothing_in_focus = whole.i64 == 0 && whole.f64 == 0;
    return PCOL_OK;
}

pcol_status pci_stack_weights(pcol_query *query, const pcol_selection *selection, pcol_error *err)
{
    const struct pci_column **columns;
    struct whole whole = {0};
    pcol_status status = PCOL_OK;
    int found = 0;
    /* memset() faults each page once; += on fresh pages would fault on reading, too. */
    query->weight = pci_malloc((size_t)query->calls.count + 1, sizeof *query->weight);
    if (query->weight)
        memset(query->weight, 0, ((size_t)query->calls.count + 1) * sizeof *query->weight);
    if (query->without_weights)
        return query->weight ? PCOL_OK : pci_fail_memory(err);
    columns = pci_calloc((size_t)query->measure.column_count + 1, sizeof(struct pci_column *));
    if (!query->weight || !columns)
        status = pci_fail_memory(err);
    if (status == PCOL_OK && !pci_sample_filter_any(&query->sample_filter))
        status = find_sums(query, columns, &found, err);
    PCI_THEN(status, found ? weigh_sums(query, columns, err)
                           : walk_samples(query, &query->sample_filter, 1, &whole, err));
    pci_free(columns);
    return status == PCOL_OK ? add_totals(query, selection, &whole, err) : status;
}
