/*
 * weights.c - a weight for each row of `stacks`
 *
 * A question about all samples is answered by the sums that the file carries (stack_sums); any other
 * by adding up the samples that are selected.
 */
#include "query/query.h"

#include "core/alloc.h"

#include <stdio.h>
#include <string.h>

static pcol_status add(pcol_query *query, uint32_t stack, pcol_amount amount, pcol_error *err)
{
    if (pci_amount_add(query->measure.is_double, &query->weight[stack], amount))
        return pci_amount_overflow(query->measure.type, err);
    return PCOL_OK;
}

/* ---- from the file's sums */

/* The columns of sums for all that the sample type is made of; *found 0: there are not all. */
static pcol_status find_sums(const pcol_query *query, const struct pci_column **columns, int *found,
                             pcol_error *err)
{
    const struct pci_measure *measure = &query->measure;
    *found = !measure->is_memory && pci_rows(query->file, "stack_sums") > 0;
    for (uint32_t i = 0; *found && i < measure->column_count; i++) {
        uint32_t k = measure->columns[i];
        char name[24];
        snprintf(name, sizeof name, "sum.%lu", (unsigned long)k);
        PCI_TRY(pci_want(query->file, "stack_sums", name, PCI_TYPE(PCF_I64) | PCI_TYPE(PCF_F64),
                         &columns[i], err));
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
            if ((uint64_t)stacks[i] >= query->calls.count)
                return pci_fail_cell(err, PCOL_E_CORRUPT, "stack_sums", "stack", row + i,
                                     "%llu is beyond the %lu rows of stacks",
                                     (unsigned long long)stacks[i],
                                     (unsigned long)query->calls.count);
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
    PCI_TRY(pci_need(query->file, "stack_sums", "stack", PCI_TYPES_ROW, &stack, err));
    if (stack->desc->rows > query->calls.count)
        return pci_fail_cell(err, PCOL_E_CORRUPT, "stack_sums", "stack", PCOL_NOWHERE,
                             "more sums than stacks");
    PCI_TRY(pci_verify(query->file, stack, err));
    for (uint32_t i = 0; i < query->measure.column_count; i++)
        PCI_TRY(add_sums(query, stack, columns[i], err));
    query->from_sums = 1;
    return PCOL_OK;
}

/* ---- from samples */

static pcol_status weigh_samples(pcol_query *query, pcol_error *err)
{
    struct pci_samples *samples;
    struct pci_sample_batch *batch = pci_malloc(1, sizeof *batch);
    pcol_status status;
    if (!batch)
        return pci_fail_memory(err);
    status = pci_query_samples(query, &samples, err);
    while (status == PCOL_OK) {
        status = pci_samples_next(samples, batch, err);
        if (status != PCOL_OK || batch->count == 0)
            break;
        /* Stacks follow in no order: each would be waited for. */
        for (size_t i = 0; i < batch->count; i++)
            __builtin_prefetch(&query->weight[batch->stack[i]], 1);
        for (size_t i = 0; i < batch->count && status == PCOL_OK; i++)
            status = add(query, batch->stack[i], batch->amount[i], err);
    }
    pci_samples_close(samples);
    pci_free(batch);
    return status;
}

/* ---- all */

/* The sum of all weights if none is negative, in one pass that the compiler can do several at a time:
 * halves of 32 bits do not overflow within 2^32 rows. */
static int add_positive(const pcol_query *query, int64_t *sum)
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

/* What percentages are of: the magnitudes of all weights; and their plain sum. */
static pcol_status add_totals(pcol_query *query, pcol_error *err)
{
    const pcol_amount *weight = query->weight;
    uint32_t count = query->calls.count;
    __extension__ unsigned __int128 total = 0;
    if (query->measure.is_double) {
        for (uint32_t row = 0; row < count; row++)
            query->total.f64 += fabs(weight[row].f64);
        return pci_add_selected(query, err);
    }
    if (add_positive(query, &query->total.i64)) {
        query->selected = query->total;
        return PCOL_OK;
    }
    for (uint32_t row = 0; row < count; row++)
        total += pci_amount_magnitude(weight[row]);
    if (total > INT64_MAX)
        return pci_amount_overflow(query->measure.type, err);
    query->total.i64 = (int64_t)total;
    return pci_add_selected(query, err);
}

pcol_status pci_add_selected(pcol_query *query, pcol_error *err)
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

pcol_status pci_weigh(pcol_query *query, pcol_error *err)
{
    const struct pci_column **columns;
    pcol_status status = PCOL_OK;
    int found = 0;
    /* Pages that are written first fault once; those that += reads first would do so twice. */
    query->weight = pci_malloc((size_t)query->calls.count + 1, sizeof *query->weight);
    if (query->weight)
        memset(query->weight, 0, ((size_t)query->calls.count + 1) * sizeof *query->weight);
    if (query->unweighed)
        return query->weight ? PCOL_OK : pci_fail_memory(err);
    columns = pci_calloc((size_t)query->measure.column_count + 1, sizeof(struct pci_column *));
    if (!query->weight || !columns)
        status = pci_fail_memory(err);
    if (status == PCOL_OK && !pci_picks_any(&query->picks))
        status = find_sums(query, columns, &found, err);
    if (status == PCOL_OK)
        status = found ? weigh_sums(query, columns, err) : weigh_samples(query, err);
    pci_free(columns);
    return status == PCOL_OK ? add_totals(query, err) : status;
}
