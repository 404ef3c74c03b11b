/*
 * samples.c - samples of a pcol file
 *
 * Samples are copied in batches (sample_batches.c) if all are copied as they are, otherwise row by
 * row. A selection may cut them to a range of time, collapse or expand idle samples:
 *     collapse  a sample without CPU time, with the thread, stack and sample types of the previous
 *               row and no other cells, is merged into it: values are summed, and the duration
 *               extends to it
 *     expand    a sample with a duration and a count of n, of a source whose samples were joined,
 *               becomes n samples of count 1 at equal intervals from its begin to its end; other
 *               values are divided so that they add up
 * Tests: tests/cli/filter.test, suite answers.
 */
#include "merge/added_frames.h"
#include "merge/memory_growth.h"
#include "merge/sample_batches.h"

#include "builder/idle_samples.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A sample that later samples may be collapsed into. */
struct pending_sample {
    int is_pending;
    uint64_t row;
    pcol_sample sample;
    pcol_value *values;
    struct pci_idle_run run;
};

struct sample_walk {
    struct pci_merge *merge;
    const struct pci_table *table;
    struct pci_cells *cells; /* the known columns, value.K by type, then the other ones */
    pcol_value *values, *parts;
    uint32_t *is_gauge;    /* by sample type: 1 = gauge */
    uint64_t *value_types; /* by value of the current sample: its row of sample_types */
    uint64_t count_type;   /* row of sample_types of samples/count */
    const struct pci_column *collapsed; /* of sources; NULL: no samples were joined */
    int is_collapsed;                   /* the source of the current sample has joined ones */
    const struct pci_table *threads;
    struct pci_merge_label_rows *labels; /* NULL: label columns are among the other columns */
    struct pci_frame_adder *adder;       /* NULL: no frames are added */
    struct pci_memory_growth *growth;    /* NULL: samples do not lose the previous one's memory */
    struct pending_sample pending_sample;
    uint64_t expanded_count; /* samples created by expansion */
};

const struct pci_column *pci_merge_values(const struct pci_merge *m, uint64_t type)
{
    const struct pci_table *samples = pci_table_find(m->file, "samples");
    char name[32];
    snprintf(name, sizeof name, "value.%" PRIu64, type);
    return samples ? pci_column_find(samples, name) : NULL;
}

pcol_status pci_merge_number(const pcol_file *file, const char *table, const char *column,
                             uint64_t row, uint32_t *number, pcol_error *err)
{
    const struct pci_table *t = pci_table_find(file, table);
    const struct pci_column *c = t ? pci_column_find(t, column) : NULL;
    int64_t value = 0;
    int valid;
    PCI_TRY(pci_get(file, c, row, &value, &valid, err));
    *number = (uint32_t)value;
    return PCOL_OK;
}

/* ---- reading */

static pcol_status read_thread(struct sample_walk *w, uint64_t row, uint32_t *thread,
                               pcol_error *err)
{
    struct pci_cells *c = &w->cells[C_THREAD];
    uint64_t to;
    int omitted;
    PCI_TRY(pci_cells_row(c, row, w->threads ? w->threads->rows : 0, thread, err));
    if (*thread == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pci_merge_row(w->merge, w->threads, c->column, row, *thread, &to, &omitted, err));
    *thread = omitted ? PCOL_NONE : (uint32_t)to;
    return PCOL_OK;
}

static int is_double(const struct sample_walk *w, uint64_t type)
{
    return w->cells[C_KNOWN + type].column->desc->type == PCF_F64;
}

/* 1 if the sample is to be cut to a range of time. */
static int is_cut(const struct pci_merge *m, const pcol_sample *sample)
{
    return m->selection && m->selection->has_range && (sample->flags & PCOL_SAMPLE_HAS_TIME) &&
           (sample->flags & PCOL_SAMPLE_HAS_DURATION) && sample->duration_ns > 0;
}

/* Reduces a value to its part in the range; gauges are unchanged. */
static void cut_value(const struct sample_walk *w, uint64_t type, const pcol_sample *sample,
                      pcol_value *value)
{
    pcol_amount amount = {.i64 = value->as.i64}; /* or the bits of a double */
    if (w->is_gauge[type])
        return;
    pci_time_overlap(&w->merge->selection->range, is_double(w, type), sample->time_ns,
                     sample->duration_ns, &amount);
    value->as.i64 = amount.i64;
}

static int64_t get_end(const pcol_sample *sample)
{
    return sample->time_ns + ((sample->flags & PCOL_SAMPLE_HAS_DURATION)
                                  ? sample->duration_ns
                                  : 0); /* checked on reading */
}

static void cut_time(const struct pci_range *range, pcol_sample *sample)
{
    int64_t end = get_end(sample);
    if (sample->time_ns < range->from)
        sample->time_ns = range->from;
    if (end > range->to)
        end = range->to;
    sample->duration_ns = end - sample->time_ns;
}

static pcol_status read_values(struct sample_walk *w, uint64_t row, pcol_sample *sample,
                               pcol_error *err)
{
    const struct pci_merge *m = w->merge;
    int valid;
    for (uint64_t k = 0; k < m->type_count; k++) {
        pcol_value *value = &w->values[sample->value_count];
        PCI_TRY(pci_cells_get(&w->cells[C_KNOWN + k], row, &value->as.i64, &valid, err));
        if (!valid || m->types[k] == PCOL_NONE)
            continue;
        if (is_cut(m, sample))
            cut_value(w, k, sample, value);
        value->sample_type = m->types[k];
        w->value_types[sample->value_count++] = k;
    }
    return PCOL_OK;
}

static pcol_status read_sample(struct sample_walk *w, uint64_t row, pcol_sample *sample,
                               pcol_error *err)
{
    struct pci_merge *m = w->merge;
    struct pci_cells *c = w->cells;
    int64_t number;
    int valid;
    PCI_TRY(pci_cells_get(&c[C_SOURCE], row, &number, &valid, err));
    if ((uint64_t)number >= m->source_count)
        return pci_corrupt(err, "samples", "source", row, "%" PRIu64 " names no source",
                           (uint64_t)number);
    sample->source = m->sources[number];
    if (sample->source == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pci_get(m->file, w->collapsed, (uint64_t)number, &number, &valid, err));
    w->is_collapsed = number != 0;
    PCI_TRY(pci_cells_row(&c[C_STACK], row, m->stack_count, &sample->stack, err));
    if (sample->stack != PCOL_NONE && w->adder)
        PCI_TRY(pci_frame_adder_stack(w->adder, row, sample->stack, &sample->stack, err));
    else if (sample->stack != PCOL_NONE)
        sample->stack = m->stacks[sample->stack];
    PCI_TRY(read_thread(w, row, &sample->thread, err));
    PCI_TRY(pci_cells_get(&c[C_TIME], row, &sample->time_ns, &valid, err));
    pci_set_flag(&sample->flags, PCOL_SAMPLE_HAS_TIME, valid);
    PCI_TRY(pci_cells_get(&c[C_DURATION], row, &sample->duration_ns, &valid, err));
    pci_set_flag(&sample->flags, PCOL_SAMPLE_HAS_DURATION, valid);
    if (sample->flags & PCOL_SAMPLE_HAS_DURATION)
        PCI_TRY(pci_sample_check_end(row,
                                     (sample->flags & PCOL_SAMPLE_HAS_TIME) ? sample->time_ns : 0,
                                     sample->duration_ns, err));
    PCI_TRY(pci_cells_get(&c[C_CPU], row, &sample->cpu_delta_ns, &valid, err));
    pci_set_flag(&sample->flags, PCOL_SAMPLE_HAS_CPU_DELTA, valid);
    PCI_TRY(read_values(w, row, sample, err));
    if (is_cut(m, sample))
        cut_time(&m->selection->range, sample);
    return PCOL_OK;
}

/* ---- writing */

static pcol_status write_sample(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                                pcol_error *err)
{
    struct pci_merge *m = w->merge;
    uint64_t to;
    PCI_TRY(pcol_builder_sample(m->builder, sample, &to, err));
    struct pci_cells *extra = w->cells + C_KNOWN + m->type_count;
    for (uint32_t i = 0; i < w->table->column_count; i++)
        if (m->sample_columns[i] != PCOL_NONE)
            PCI_TRY(pci_merge_cell(m, extra++, m->sample_columns[i], row, to, err));
    if (w->growth)
        PCI_TRY(pci_memory_growth_copy(w->growth, row, to, err));
    return w->labels ? pci_label_rows_put(w->labels, row, to, err) : PCOL_OK;
}

int pci_merge_collapses_idle(const struct pci_merge *merge)
{
    return merge->selection ? merge->selection->idle == PCOL_IDLE_COLLAPSE
                            : merge->options && merge->options->collapse_idle;
}

uint64_t pci_merge_idle_tolerance(const struct pci_merge *merge)
{
    if (!pci_merge_collapses_idle(merge))
        return 0;
    return merge->selection ? merge->selection->idle_tolerance_ns
                            : merge->options->idle_tolerance_ns;
}

int pci_merge_expands_idle(const struct pci_merge *merge)
{
    return merge->selection && merge->selection->idle == PCOL_IDLE_EXPAND;
}

int pci_merge_moves_samples(const struct pci_merge *merge)
{
    return merge->selection || pci_merge_collapses_idle(merge);
}

/* ---- expansion */

/* The number of samples that a sample represents: its count, or its only value. */
static int find_weight(const struct sample_walk *w, const pcol_sample *sample, double *weight)
{
    for (size_t i = 0; i < sample->value_count; i++)
        if (w->value_types[i] == w->count_type || sample->value_count == 1) {
            *weight =
                is_double(w, w->value_types[i]) ? w->values[i].as.f64 : (double)w->values[i].as.i64;
            return !w->is_gauge[w->value_types[i]];
        }
    return 0;
}

/* The number of samples to expand to; 1: unchanged. */
static uint64_t count_parts(const struct sample_walk *w, const pcol_sample *sample)
{
    double weight;
    if (!w->is_collapsed || !(sample->flags & PCOL_SAMPLE_HAS_TIME) ||
        !(sample->flags & PCOL_SAMPLE_HAS_DURATION) || !find_weight(w, sample, &weight) ||
        weight != floor(weight))
        return 1;
    return pci_idle_part_count(sample->duration_ns, weight, 1);
}

static pcol_status write_parts(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                               uint64_t count, pcol_error *err)
{
    PCI_TRY(pci_idle_add_parts(&w->expanded_count, count, row, w->table->rows, err));
    for (uint64_t part = 0; part < count; part++) {
        struct pci_range share = {(int64_t)part, (int64_t)part + 1, PCOL_SHARE_ADDITIVE};
        pcol_sample part_sample = *sample;
        part_sample.values = w->parts;
        part_sample.flags &= ~PCOL_SAMPLE_HAS_DURATION;
        part_sample.time_ns +=
            pci_idle_part(sample->duration_ns, (double)count, count, part, 1).after_ns;
        if (part) { /* the CPU was idle after the first one */
            part_sample.flags |= PCOL_SAMPLE_HAS_CPU_DELTA;
            part_sample.cpu_delta_ns = 0;
        }
        for (size_t i = 0; i < sample->value_count; i++) {
            pcol_amount amount = {.i64 = w->values[i].as.i64};
            if (!w->is_gauge[w->value_types[i]])
                pci_time_overlap(&share, is_double(w, w->value_types[i]), 0, (int64_t)count,
                                 &amount);
            w->parts[i] =
                (pcol_value){.sample_type = w->values[i].sample_type, .as.i64 = amount.i64};
        }
        PCI_TRY(write_sample(w, row, &part_sample, err));
    }
    return PCOL_OK;
}

/* ---- collapsing */

static pcol_status write_pending(struct sample_walk *w, pcol_error *err)
{
    struct pending_sample *pending = &w->pending_sample;
    if (!pending->is_pending)
        return PCOL_OK;
    pending->is_pending = 0;
    pending->sample.values = pending->values;
    return write_sample(w, pending->row, &pending->sample, err);
}

/* *more: 1 if a sample has other cells than its times. */
static pcol_status has_other_cells(struct sample_walk *w, uint64_t row, int *more, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    struct pci_cells *extra = w->cells + C_KNOWN + m->type_count;
    *more = 0;
    for (uint32_t i = 0; i < w->table->column_count && !*more; i++) {
        int64_t bits;
        pcol_str text;
        if (m->sample_columns[i] == PCOL_NONE)
            continue;
        const struct pci_column *column = &w->table->columns[i];
        if (pci_is_remainder(column->name))
            *more = 0;
        else if (column->desc->type == PCF_BYTES)
            PCI_TRY(pci_get_str(m->file, column, row, &text, more, err));
        else
            PCI_TRY(pci_cells_get(extra, row, &bits, more, err));
        extra++;
    }
    if (*more || !w->labels)
        return PCOL_OK;
    PCI_TRY(pci_label_rows_get(w->labels, row, err));
    *more = w->labels->count > 0;
    return PCOL_OK;
}

/* *joins: 1 if the sample was merged into the pending one. */
static pcol_status try_collapse(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                                int *joins, pcol_error *err)
{
    struct pending_sample *pending = &w->pending_sample;
    int more;
    *joins = 0;
    if (!pending->is_pending || sample->stack != pending->sample.stack || sample->cpu_delta_ns)
        return PCOL_OK;
    PCI_TRY(has_other_cells(w, row, &more, err));
    *joins = !more && pci_idle_join(w->merge->builder, &pending->sample, pending->values,
                                    &pending->run, sample);
    return PCOL_OK;
}

static pcol_status write_deferred(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                                  pcol_error *err)
{
    int joins;
    PCI_TRY(try_collapse(w, row, sample, &joins, err));
    if (joins)
        return PCOL_OK;
    PCI_TRY(write_pending(w, err));
    w->pending_sample.is_pending = 1;
    w->pending_sample.row = row;
    w->pending_sample.sample = *sample;
    pci_idle_begin(&w->pending_sample.run, sample, pci_merge_idle_tolerance(w->merge));
    memcpy(w->pending_sample.values, w->values, sample->value_count * sizeof *w->values);
    return PCOL_OK;
}

/* ---- all samples */

static pcol_status add_sample(struct sample_walk *w, uint64_t row, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    pcol_sample sample = {.size = sizeof sample, .values = w->values};
    uint64_t count = 1;
    if (m->sample_positions)
        m->sample_positions[row] =
            m->builder->sample_count + (uint64_t)w->pending_sample.is_pending;
    if (m->copied_samples && !m->copied_samples[row])
        return PCOL_OK;
    PCI_TRY(read_sample(w, row, &sample, err));
    if (sample.source == PCOL_NONE)
        return PCOL_OK;
    if (pci_merge_collapses_idle(m))
        return write_deferred(w, row, &sample, err);
    if (pci_merge_expands_idle(m))
        count = count_parts(w, &sample);
    return count > 1 ? write_parts(w, row, &sample, count, err)
                     : write_sample(w, row, &sample, err);
}

static pcol_status allocate_buffers(struct sample_walk *w, pcol_error *err)
{
    const struct pci_merge *m = w->merge;
    size_t extra = 0, types = (size_t)m->type_count + 1;
    for (uint32_t i = 0; i < w->table->column_count; i++)
        extra += m->sample_columns[i] != PCOL_NONE;
    w->cells = pci_malloc(C_KNOWN + (size_t)m->type_count + extra, sizeof *w->cells);
    w->values = pci_malloc(types, sizeof *w->values);
    w->parts = pci_malloc(types, sizeof *w->parts);
    w->pending_sample.values = pci_malloc(types, sizeof *w->pending_sample.values);
    w->is_gauge = pci_calloc(types, sizeof *w->is_gauge);
    w->value_types = pci_calloc(types, sizeof *w->value_types);
    return w->cells && w->values && w->parts && w->pending_sample.values && w->is_gauge &&
                   w->value_types
               ? PCOL_OK
               : pci_fail_memory(err);
}

static pcol_status is_sample_count(const struct pci_merge *m, uint64_t type, int *is,
                                   pcol_error *err)
{
    static const char *const names[][2] = {{"type", "samples"}, {"unit", "count"}};
    const struct pci_table *types = pci_table_find(m->file, "sample_types");
    *is = types != NULL;
    for (size_t i = 0; i < 2 && *is; i++) {
        const struct pci_column *column = pci_column_find(types, names[i][0]);
        pcol_str text = {"", 0};
        int valid;
        PCI_TRY(pci_get_str(m->file, column, type, &text, &valid, err));
        *is = pci_str_is(text, names[i][1]);
    }
    return PCOL_OK;
}

static pcol_status open_values(struct sample_walk *w, struct pci_cells *cells, pcol_error *err)
{
    const struct pci_merge *m = w->merge;
    w->count_type = m->type_count;
    for (uint64_t k = 0; k < m->type_count; k++) {
        const struct pci_column *values = pci_merge_values(m, k);
        int counts;
        if (values && !(PCI_IS(values->desc->type) & (PCI_IS(PCF_I64) | PCI_IS(PCF_F64))))
            return pci_corrupt(err, "samples", values->name, PCOL_POSITION_UNKNOWN,
                               "the column has the wrong type");
        PCI_TRY(pci_cells_use(cells++, m->file, values, err));
        PCI_TRY(pci_merge_number(m->file, "sample_types", "level", k, &w->is_gauge[k], err));
        PCI_TRY(is_sample_count(m, k, &counts, err));
        if (counts && values && w->count_type == m->type_count)
            w->count_type = k;
    }
    return PCOL_OK;
}

static pcol_status open_cells(struct sample_walk *w, pcol_error *err)
{
    static const char *const names[C_KNOWN] = {"source", "stack",    "thread",
                                               "time",   "duration", "cpu_delta"};
    const struct pci_merge *m = w->merge;
    PCI_TRY(allocate_buffers(w, err));
    struct pci_cells *cells = w->cells;
    for (size_t i = 0; i < C_KNOWN; i++)
        PCI_TRY(pci_cells_open(cells++, m->file, "samples", names[i], PCI_IS_INT, err));
    PCI_TRY(open_values(w, cells, err));
    if (pci_merge_expands_idle(m))
        PCI_TRY(pci_find_column(m->file, "sources", "collapsed", PCI_TYPE(PCF_BOOL), &w->collapsed,
                                err));
    cells += m->type_count;
    for (uint32_t i = 0; i < w->table->column_count; i++)
        if (m->sample_columns[i] != PCOL_NONE)
            PCI_TRY(pci_cells_use(cells++, m->file, &w->table->columns[i], err));
    return PCOL_OK;
}

/* Positions of samples, for Rprof segments: a selection leaves out samples, and idle ones before
 * them may be joined or expanded. */
static pcol_status open_positions(struct sample_walk *w, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    if (!pci_merge_moves_samples(m))
        return PCOL_OK;
    if (pci_table_flagged(m->file, PCI_TABLE_SEGMENTS)) {
        PCI_TRY(PCI_MALLOC(m->sample_positions, (size_t)w->table->rows + 1, err));
    }
    return PCOL_OK;
}

pcol_status pci_merge_samples(struct pci_merge *merge, pcol_error *err)
{
    struct pci_merge *m = merge;
    struct sample_walk w = {.merge = m,
                            .table = pci_table_find(m->file, "samples"),
                            .threads = pci_table_find(m->file, "threads")};
    struct pci_merge_label_rows labels;
    if (!w.table)
        return PCOL_OK;
    PCI_TRY(pci_check_table_supported(w.table, err));
    PCI_TRY(pci_check_row_count(m->file, "samples", err));
    pcol_status status = open_cells(&w, err);
    PCI_THEN(status, open_positions(&w, err));
    if (m->copied_samples)
        PCI_THEN(status, pci_memory_growth_open(m, &w.growth, err));
    if (m->selection && m->selection->added)
        PCI_THEN(status, pci_frame_adder_open(m, &w.adder, err));
    if (m->labels[w.table->number] == PCI_LABELS_ROWS) {
        w.labels = &labels;
        labels = (struct pci_merge_label_rows){0};
        PCI_THEN(status, pci_label_rows_open(&labels, m, w.table, PCI_T_SAMPLES, err));
    }
    int has_batches = pci_merge_has_batches(m, w.table);
    if (has_batches)
        PCI_THEN(status, pci_merge_sample_batches(m, w.table, w.cells, err));
    for (uint64_t row = 0; !has_batches && status == PCOL_OK && row < w.table->rows; row++)
        status = add_sample(&w, row, err);
    PCI_THEN(status, write_pending(&w, err));
    if (m->sample_positions)
        m->sample_positions[w.table->rows] = m->builder->sample_count;
    if (status == PCOL_OK && w.labels && labels.omits_frames)
        pci_notice(PCOL_NOTICE_LOSS, "labels that are hidden frames", "",
                   "labels that are hidden frames are left out");
    if (w.labels)
        pci_label_rows_close(&labels);
    pci_frame_adder_close(w.adder);
    pci_memory_growth_close(w.growth);
    pci_free(w.cells);
    pci_free(w.values);
    pci_free(w.parts);
    pci_free(w.pending_sample.values);
    pci_free(w.is_gauge);
    pci_free(w.value_types);
    return status;
}
