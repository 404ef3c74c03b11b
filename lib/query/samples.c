/*
 * samples.c - iterator over the selected samples with their amounts
 *
 * Columns are read in batches of 1024 rows, and only those that the selection and the sample type
 * require. With a range of time, a batch is skipped if the encoding of its times proves that none
 * is in the range: blocks of sorted times have their bounds in the 24 bytes of their directory
 * entry, so a range costs what it selects. Tests: suite answers.
 */
#include "query/query.h"

#include "model/time_overlap.h"
#include "util/alloc.h"

#include <string.h>

struct pci_samples {
    const pcol_file *file;
    const struct pci_types *types;
    const struct pci_query_type *measure;
    const struct pci_sample_filter *sample_filter;
    struct pci_range range;
    uint32_t stack_count;
    const struct pci_column *stack, *source, *thread, *time, *duration;
    struct pci_memory *memory; /* of the derived type `memory`, else NULL */
    uint64_t rows, next;
    /* The current batch. */
    int64_t cells[PCI_BATCH], times[PCI_BATCH], durations[PCI_BATCH]; /* set with a range of time */
    uint8_t valid[PCI_BATCH], alive[PCI_BATCH];
    pcol_amount amounts[PCI_BATCH];
};

/* ---- open */

static pcol_status verify_column(struct pci_samples *s, const struct pci_column *column,
                                 pcol_error *err)
{
    return column && !s->sample_filter->has_time ? pci_verify(s->file, column, err) : PCOL_OK;
}

static pcol_status find_column(struct pci_samples *s, const char *name, unsigned types,
                               const struct pci_column **column, pcol_error *err)
{
    PCI_TRY(pci_find_column(s->file, "samples", name, types, column, err));
    return verify_column(s, *column, err);
}

static pcol_status open_columns(struct pci_samples *s, pcol_error *err)
{
    const struct pci_sample_filter *sample_filter = s->sample_filter;
    const struct pci_query_type *measure = s->measure;
    PCI_TRY(find_column(s, "stack", PCI_TYPES_ROW, &s->stack, err));
    if (sample_filter->sources || sample_filter->counted || measure->is_memory)
        PCI_TRY(find_column(s, "source", PCI_TYPES_ROW, &s->source, err));
    if (sample_filter->threads)
        PCI_TRY(find_column(s, "thread", PCI_TYPES_ROW, &s->thread, err));
    if (sample_filter->has_time) {
        PCI_TRY(find_column(s, "time", PCI_TYPE(PCF_I64), &s->time, err));
        PCI_TRY(find_column(s, "duration", PCI_TYPE(PCF_I64), &s->duration, err));
    }
    for (uint32_t i = 0; i < measure->column_count; i++)
        PCI_TRY(verify_column(s, s->types->columns[measure->columns[i]], err));
    PCI_TRY(pci_sample_filter_verify(sample_filter, s->file, err));
    if (measure->is_memory)
        PCI_TRY(pci_memory_open(s->file, s->types, measure->gauges, sample_filter->source_count,
                                &s->memory, err));
    /* No sample can pass. */
    if (!s->stack || (sample_filter->has_time && !s->time) ||
        (sample_filter->threads && !s->thread))
        s->next = s->rows;
    if (sample_filter->has_order && sample_filter->end_row < s->rows)
        s->rows = sample_filter->end_row;
    return PCOL_OK;
}

pcol_status pci_samples_open(const pcol_file *file, const struct pci_types *types,
                             const struct pci_query_type *measure,
                             const struct pci_sample_filter *sample_filter, uint32_t stack_count,
                             struct pci_samples **samples, pcol_error *err)
{
    struct pci_samples *s;
    pcol_status status;
    *samples = NULL;
    PCI_TRY(PCI_CALLOC(s, 1, err));
    s->file = file;
    s->types = types;
    s->measure = measure;
    s->sample_filter = sample_filter;
    s->range = (struct pci_range){sample_filter->from, sample_filter->to, sample_filter->share};
    s->stack_count = stack_count;
    s->rows = pci_rows(file, "samples");
    status = pci_check_row_count(file, "samples", err);
    PCI_THEN(status, open_columns(s, err));
    if (status == PCOL_OK)
        *samples = s;
    else
        pci_samples_close(s);
    return status;
}

void pci_samples_close(struct pci_samples *samples)
{
    if (samples)
        pci_memory_close(samples->memory);
    pci_free(samples);
}

/* ---- one batch */

/* Clears rows whose cell is not in the set. missing: rows without a cell belong to row 0. */
static pcol_status apply_set(struct pci_samples *s, const struct pci_column *column,
                             const uint8_t *set, uint64_t count, size_t n, int missing,
                             pcol_error *err)
{
    if (!set)
        return PCOL_OK;
    if (!column) {
        if (!missing || !count || !set[0])
            memset(s->alive, 0, n);
        return PCOL_OK;
    }
    PCI_TRY(pci_read(s->file, column, s->next, n, s->cells, s->valid, err));
    for (size_t i = 0; i < n; i++) {
        if (!s->valid[i]) {
            s->alive[i] &= (uint8_t)(missing && count && set[0]);
            continue;
        }
        s->alive[i] &= set[s->cells[i]];
    }
    return PCOL_OK;
}

/* Reads times and durations of a batch; clears rows outside of the range. */
static pcol_status apply_time(struct pci_samples *s, size_t n, pcol_error *err)
{
    uint8_t timed[PCI_BATCH];
    if (!s->time) {
        memset(s->alive, 0, n);
        return PCOL_OK;
    }
    PCI_TRY(pci_read(s->file, s->time, s->next, n, s->times, timed, err));
    if (s->duration)
        PCI_TRY(pci_read(s->file, s->duration, s->next, n, s->durations, s->valid, err));
    for (size_t i = 0; i < n; i++) {
        pcol_amount none = {.i64 = 0};
        if (!s->duration || !s->valid[i])
            s->durations[i] = 0;
        s->alive[i] &= (uint8_t)(timed[i] && pci_time_overlap(&s->range, 0, s->times[i],
                                                              s->durations[i], &none));
    }
    return PCOL_OK;
}

/* Reduces a value of row `i` of the batch to its share in the range of time. */
static void share_value(const struct pci_samples *s, size_t i, int is_double, pcol_amount *value)
{
    if (s->sample_filter->has_time)
        pci_time_overlap(&s->range, is_double, s->times[i], s->durations[i], value);
}

/* Converts a cell to an amount. An integer is shared, and so rounded, as an integer, also if other
 * columns make the sample type one of doubles: a filtered file yields the same values. */
static pcol_amount to_amount(const struct pci_samples *s, size_t i, int is_double, int64_t cell)
{
    pcol_amount value = {.i64 = cell};
    int as_double = is_double || (s->measure->is_double && s->range.share == PCOL_SHARE_EXACT);
    if (is_double)
        memcpy(&value.f64, &cell, sizeof value.f64);
    else if (as_double)
        value.f64 = (double)cell;
    share_value(s, i, as_double, &value);
    if (s->measure->is_double && !as_double)
        value.f64 = (double)value.i64;
    return value;
}

/* Converts the integer cells of a batch to amounts. */
static void convert_integers(struct pci_samples *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->amounts[i].i64 = s->cells[i];
    for (size_t i = 0; s->sample_filter->has_time && i < n; i++)
        if (s->alive[i])
            share_value(s, i, 0, &s->amounts[i]);
}

/* Reads the amounts of a single integer column without nulls. */
static pcol_status read_integers(struct pci_samples *s, const struct pci_column *column, size_t n,
                                 pcol_error *err)
{
    PCI_TRY(pci_read(s->file, column, s->next, n, s->cells, NULL, err));
    convert_integers(s, n);
    return PCOL_OK;
}

static int is_nullable(const struct pci_column *column)
{
    return (column->desc->flags & PCF_COLUMN_NULLABLE) != 0;
}

/* Adds what memory grew by to the amounts of samples with gauges. */
static pcol_status add_memory(struct pci_samples *s, size_t n, uint8_t *has_value, pcol_error *err)
{
    memset(s->valid, 1, n);
    PCI_TRY(pci_memory_read(s->memory, s->next, n, s->cells, s->valid, err));
    for (size_t i = 0; i < n; i++) {
        if (!s->valid[i] || !s->alive[i])
            continue;
        has_value[i] = 1;
        if (pci_amount_add(s->measure->is_double, &s->amounts[i], to_amount(s, i, 0, s->cells[i])))
            return pci_amount_overflow(s->measure->type, err);
    }
    return PCOL_OK;
}

/* Reads the amounts of a batch; clears rows without a value. */
static pcol_status read_amounts(struct pci_samples *s, size_t n, pcol_error *err)
{
    const struct pci_query_type *measure = s->measure;
    uint8_t has_value[PCI_BATCH] = {0};
    if (measure->column_count == 1 && !measure->is_double && !s->memory &&
        !is_nullable(s->types->columns[measure->columns[0]]))
        return read_integers(s, s->types->columns[measure->columns[0]], n, err);
    memset(s->amounts, 0, n * sizeof *s->amounts);
    for (uint32_t c = 0; c < measure->column_count; c++) {
        const struct pci_column *column = s->types->columns[measure->columns[c]];
        int is_double = column->desc->type == PCF_F64;
        PCI_TRY(pci_read(s->file, column, s->next, n, s->cells, s->valid, err));
        for (size_t i = 0; i < n; i++) {
            if (!s->valid[i] || !s->alive[i])
                continue;
            has_value[i] = 1;
            if (pci_amount_add(measure->is_double, &s->amounts[i],
                               to_amount(s, i, is_double, s->cells[i])))
                return pci_amount_overflow(measure->type, err);
        }
    }
    if (s->memory)
        PCI_TRY(add_memory(s, n, has_value, err));
    for (size_t i = 0; i < n; i++)
        s->alive[i] &= has_value[i];
    return PCOL_OK;
}

/* Replaces the amounts of sources whose rows are single samples by 1. */
static pcol_status count_rows(struct pci_samples *s, size_t n, pcol_error *err)
{
    const uint8_t *counted = s->sample_filter->counted;
    memset(s->valid, 0, n);
    if (s->source)
        PCI_TRY(pci_read(s->file, s->source, s->next, n, s->cells, s->valid, err));
    for (size_t i = 0; i < n; i++) {
        pcol_amount *amount = &s->amounts[i];
        int is_double = s->measure->is_double;
        if (!counted[s->valid[i] ? s->cells[i] : 0] || pci_amount_is_zero(is_double, *amount))
            continue;
        *amount = is_double ? (pcol_amount){.f64 = 1} : (pcol_amount){.i64 = 1};
    }
    return PCOL_OK;
}

/* 1 if a sample of the batch at `next` may be in the ranges. A sample with a duration may start
 * before that of time. Memory is the difference to the sample before. */
static int may_match(const struct pci_samples *s)
{
    if (s->sample_filter->has_order && !s->memory &&
        s->next / PCI_BATCH < s->sample_filter->first_row / PCI_BATCH)
        return 0;
    if (!s->sample_filter->has_time || s->memory ||
        atomic_load_explicit(&s->time->compression_state, memory_order_acquire))
        return 1;
    return pci_block_meets(s->time->data, s->next / PCI_BATCH,
                           s->duration ? INT64_MIN : s->range.from, s->range.to);
}

/* Verifies the stack of row `i` of the batch, in `cells`. */
static pcol_status check_stack(const struct pci_samples *s, size_t i, pcol_error *err)
{
    if ((uint64_t)s->cells[i] < s->stack_count)
        return PCOL_OK;
    return pci_corrupt(err, "samples", "stack", s->next + i,
                       "%llu is beyond the %lu rows of stacks", (unsigned long long)s->cells[i],
                       (unsigned long)s->stack_count);
}

/* Clears rows that the filters of order, sources, threads and labels reject. */
static pcol_status apply_filters(struct pci_samples *s, size_t n, pcol_error *err)
{
    const struct pci_sample_filter *filter = s->sample_filter;
    for (size_t i = 0; filter->has_order && i < n; i++)
        s->alive[i] &= s->next + i >= filter->first_row && s->next + i < filter->end_row;
    PCI_TRY(apply_set(s, s->source, s->sample_filter->sources, s->sample_filter->source_count, n, 1,
                      err));
    PCI_TRY(apply_set(s, s->thread, s->sample_filter->threads, s->sample_filter->thread_count, n, 0,
                      err));
    return pci_sample_filter_labels(s->sample_filter, s->file, s->next, n, s->alive, err);
}

/* Appends all rows of a batch; each has a stack. */
static pcol_status append_all(struct pci_samples *s, size_t n, struct pci_sample_batch *batch,
                              pcol_error *err)
{
    uint64_t largest = 0;
    PCI_TRY(pci_read(s->file, s->stack, s->next, n, s->cells, NULL, err));
    for (size_t i = 0; i < n; i++) {
        uint64_t stack = (uint64_t)s->cells[i];
        largest = stack > largest ? stack : largest;
        batch->stack[i] = (uint32_t)stack;
        batch->row[i] = s->next + i;
    }
    for (size_t i = 0; largest >= s->stack_count && i < n; i++)
        PCI_TRY(check_stack(s, i, err));
    memcpy(batch->amount, s->amounts, n * sizeof *s->amounts);
    batch->count = n;
    return PCOL_OK;
}

static pcol_status read_batch(struct pci_samples *s, size_t n, struct pci_sample_batch *batch,
                              pcol_error *err)
{
    memset(s->alive, 1, n);
    if (s->sample_filter->has_time)
        PCI_TRY(apply_time(s, n, err));
    PCI_TRY(read_amounts(s, n, err));
    if (s->sample_filter->counted)
        PCI_TRY(count_rows(s, n, err));
    PCI_TRY(apply_filters(s, n, err));
    if (!is_nullable(s->stack) && !memchr(s->alive, 0, n))
        return append_all(s, n, batch, err);
    PCI_TRY(pci_read(s->file, s->stack, s->next, n, s->cells, s->valid, err));
    for (size_t i = 0; i < n; i++) {
        if (!s->alive[i] || !s->valid[i])
            continue;
        PCI_TRY(check_stack(s, i, err));
        batch->row[batch->count] = s->next + i;
        batch->stack[batch->count] = (uint32_t)s->cells[i];
        batch->amount[batch->count++] = s->amounts[i];
    }
    return PCOL_OK;
}

pcol_status pci_samples_pick(struct pci_samples *samples, uint64_t row, size_t n, int with_time,
                             uint8_t *alive, pcol_error *err)
{
    struct pci_samples *s = samples;
    s->next = row;
    memset(s->alive, 1, n);
    PCI_TRY(apply_filters(s, n, err));
    if (with_time && s->sample_filter->has_time)
        PCI_TRY(apply_time(s, n, err));
    memcpy(alive, s->alive, n);
    return PCOL_OK;
}

pcol_status pci_samples_pass(struct pci_samples *samples, uint64_t row, size_t n,
                             const uint8_t *passes, uint8_t *alive, pcol_error *err)
{
    struct pci_samples *s = samples;
    if (!passes)
        return PCOL_OK;
    if (!s->stack) {
        memset(alive, 0, n);
        return PCOL_OK;
    }
    s->next = row;
    PCI_TRY(pci_read(s->file, s->stack, row, n, s->cells, s->valid, err));
    for (size_t i = 0; i < n; i++) {
        if (s->valid[i])
            PCI_TRY(check_stack(s, i, err));
        alive[i] &= (uint8_t)(s->valid[i] && passes[s->cells[i]]);
    }
    return PCOL_OK;
}

static pcol_status next_batch(struct pci_samples *samples, struct pci_sample_batch *batch,
                              pcol_error *err)
{
    batch->count = 0;
    while (!batch->count && samples->next < samples->rows) {
        uint64_t left = samples->rows - samples->next;
        size_t n = left < PCI_BATCH ? (size_t)left : PCI_BATCH;
        if (may_match(samples))
            PCI_TRY(read_batch(samples, n, batch, err));
        samples->next += n;
    }
    return PCOL_OK;
}

pcol_status pci_samples_each(const pcol_query *query, const struct pci_sample_filter *sample_filter,
                             pci_batch_function *function, void *context, pcol_error *err)
{
    struct pci_samples *samples;
    struct pci_sample_batch *batch;
    PCI_TRY(PCI_MALLOC(batch, 1, err));
    pcol_status status = pci_samples_open(query->file, &query->types, &query->measure,
                                          sample_filter, query->calls.count, &samples, err);
    while (status == PCOL_OK) {
        status = next_batch(samples, batch, err);
        if (status != PCOL_OK || !batch->count)
            break;
        status = function(context, batch, err);
    }
    pci_samples_close(samples);
    pci_free(batch);
    return status;
}
