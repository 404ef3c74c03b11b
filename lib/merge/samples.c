/*
 * samples.c - samples of a pcol file, into a builder
 *
 * One row after the other, with all that it carries. Of a part, samples may be cut to a range of
 * time; and samples that were idle can be joined, or taken apart again:
 *
 *     joined        a sample that used no CPU time, with the thread, stack and kinds of values of
 *                   the row before it and nothing else to say, becomes part of that: values are
 *                   added up, and the duration lasts to it
 *     taken apart   a sample with a duration and a count of n becomes n samples of count 1 at even
 *                   distances from its begin to its end; what else it is worth is shared so that
 *                   the parts add up
 */
#include "merge/merge.h"

#include "builder/idle_samples.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PARTS_MOST (UINT64_C(1) << 20)  /* of one sample; one that is more stays whole */
#define PARTS_FLOOR (UINT64_C(1) << 24) /* of all, and more only beside as many samples */

enum { C_SOURCE, C_STACK, C_THREAD, C_TIME, C_DURATION, C_CPU, C_KNOWN };

/* A sample that waits for others to join it. */
struct waiting {
    int waits;
    uint64_t row;
    pcol_sample sample;
    pcol_value *values;
    struct pci_idle_run run;
};

struct sample_walk {
    struct pci_merge *merge;
    const struct pci_table *table;
    struct pci_cells *cells; /* the known columns, value.K by type, then the extra ones */
    pcol_value *values, *parts;
    uint32_t *levels;    /* by sample type: is it one? */
    uint64_t *type_of;   /* by value of the sample at hand: its row of sample_types */
    uint64_t count_type; /* row of sample_types of samples/count */
    const struct pci_table *threads;
    struct pci_merge_label_rows *labels; /* NULL: label columns are among the extra ones */
    struct waiting waiting;
    uint64_t apart; /* samples made by taking others apart */
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
    if (c)
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
    int left;
    PCI_TRY(pci_cells_row(c, row, w->threads ? w->threads->rows : 0, thread, err));
    if (*thread == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pci_merge_row(w->merge, w->threads, c->column, row, *thread, &to, &left, err));
    *thread = left ? PCOL_NONE : (uint32_t)to;
    return PCOL_OK;
}

static int is_double(const struct sample_walk *w, uint64_t type)
{
    return w->cells[C_KNOWN + type].column->desc->type == PCF_F64;
}

/* Is the sample to be cut to a range of time? */
static int is_cut(const struct pci_merge *m, const pcol_sample *sample)
{
    return m->keep && m->keep->has_range && sample->has_time && sample->has_duration &&
           sample->duration_ns > 0;
}

/* The part of a value that lies in the range; levels are what they are. */
static void cut_value(const struct sample_walk *w, uint64_t type, const pcol_sample *sample,
                      pcol_value *value)
{
    pcol_amount amount = {.i64 = value->as.i64}; /* or the bits of a double */
    if (w->levels[type])
        return;
    pci_time_overlap(&w->merge->keep->range, is_double(w, type), sample->time_ns,
                     sample->duration_ns, &amount);
    value->as.i64 = amount.i64;
}

static int64_t end_of(const pcol_sample *sample)
{
    return sample->time_ns + (sample->has_duration ? sample->duration_ns : 0); /* checked */
}

static void cut_time(const struct pci_range *range, pcol_sample *sample)
{
    int64_t end = end_of(sample);
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
        w->type_of[sample->value_count++] = k;
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
        return pci_fail_cell(err, PCOL_E_CORRUPT, "samples", "source", row,
                             "%" PRIu64 " names no source", (uint64_t)number);
    sample->source = m->sources[number];
    if (sample->source == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(pci_cells_row(&c[C_STACK], row, m->stack_count, &sample->stack, err));
    if (sample->stack != PCOL_NONE)
        sample->stack = m->stacks[sample->stack];
    PCI_TRY(read_thread(w, row, &sample->thread, err));
    PCI_TRY(pci_cells_get(&c[C_TIME], row, &sample->time_ns, &valid, err));
    sample->has_time = valid != 0;
    PCI_TRY(pci_cells_get(&c[C_DURATION], row, &sample->duration_ns, &valid, err));
    sample->has_duration = valid != 0;
    if (sample->has_duration)
        PCI_TRY(pci_sample_check_end(row, sample->has_time ? sample->time_ns : 0,
                                     sample->duration_ns, err));
    PCI_TRY(pci_cells_get(&c[C_CPU], row, &sample->cpu_delta_ns, &valid, err));
    sample->has_cpu_delta = valid != 0;
    PCI_TRY(read_values(w, row, sample, err));
    if (is_cut(m, sample))
        cut_time(&m->keep->range, sample);
    return PCOL_OK;
}

/* ---- writing */

static pcol_status put_sample(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                              pcol_error *err)
{
    struct pci_merge *m = w->merge;
    uint64_t to;
    PCI_TRY(pcol_builder_sample(m->builder, sample, &to, err));
    struct pci_cells *extra = w->cells + C_KNOWN + m->type_count;
    for (uint32_t i = 0; i < w->table->column_count; i++)
        if (m->extra[i] != PCOL_NONE)
            PCI_TRY(pci_merge_cell(m, extra++, m->extra[i], row, to, err));
    return w->labels ? pci_label_rows_put(w->labels, row, to, err) : PCOL_OK;
}

int pci_merge_joins(const struct pci_merge *merge)
{
    return merge->keep ? merge->keep->idle == PCOL_IDLE_COLLAPSE
                       : merge->options && merge->options->collapse_idle;
}

uint64_t pci_merge_tolerance(const struct pci_merge *merge)
{
    if (!pci_merge_joins(merge))
        return 0;
    return merge->keep ? merge->keep->idle_tolerance_ns : merge->options->idle_tolerance_ns;
}

int pci_merge_takes_apart(const struct pci_merge *merge)
{
    return merge->keep && merge->keep->idle == PCOL_IDLE_EXPAND;
}

/* ---- taking apart */

/* What says how many a sample stands for: its count, or the only value that it has. */
static int find_weight(const struct sample_walk *w, const pcol_sample *sample, double *weight)
{
    for (size_t i = 0; i < sample->value_count; i++)
        if (w->type_of[i] == w->count_type || sample->value_count == 1) {
            *weight =
                is_double(w, w->type_of[i]) ? w->values[i].as.f64 : (double)w->values[i].as.i64;
            return !w->levels[w->type_of[i]];
        }
    return 0;
}

/* How many samples one is; 1: it stays whole. */
static uint64_t parts_of(const struct sample_walk *w, const pcol_sample *sample)
{
    double weight;
    uint64_t parts;
    if (!sample->has_time || !sample->has_duration || !find_weight(w, sample, &weight))
        return 1;
    parts = pci_idle_parts(sample->duration_ns, weight, 1);
    return parts <= PARTS_MOST && weight == (double)parts ? parts : 1;
}

static pcol_status put_parts(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                             uint64_t count, pcol_error *err)
{
    w->apart += count;
    if (w->apart > PARTS_FLOOR && w->apart / 64 > w->table->rows)
        return pci_fail_cell(err, PCOL_E_LIMIT, "samples", "duration", row,
                             "samples stand for too many to be taken apart");
    for (uint64_t part = 0; part < count; part++) {
        struct pci_range share = {(int64_t)part, (int64_t)part + 1, PCOL_SHARE_ADDITIVE};
        pcol_sample one = *sample;
        one.values = w->parts;
        one.has_duration = 0;
        one.time_ns += pci_idle_part(sample->duration_ns, (double)count, count, part, 1).after_ns;
        if (part) { /* the CPU was idle from the first one on */
            one.has_cpu_delta = 1;
            one.cpu_delta_ns = 0;
        }
        for (size_t i = 0; i < sample->value_count; i++) {
            pcol_amount amount = {.i64 = w->values[i].as.i64};
            if (!w->levels[w->type_of[i]])
                pci_time_overlap(&share, is_double(w, w->type_of[i]), 0, (int64_t)count, &amount);
            w->parts[i] =
                (pcol_value){.sample_type = w->values[i].sample_type, .as.i64 = amount.i64};
        }
        PCI_TRY(put_sample(w, row, &one, err));
    }
    return PCOL_OK;
}

/* ---- joining */

static pcol_status put_waiting(struct sample_walk *w, pcol_error *err)
{
    struct waiting *before = &w->waiting;
    if (!before->waits)
        return PCOL_OK;
    before->waits = 0;
    before->sample.values = before->values;
    return put_sample(w, before->row, &before->sample, err);
}

/* Whether a sample has cells of its own but for its times. */
static pcol_status says_more(struct sample_walk *w, uint64_t row, int *more, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    struct pci_cells *extra = w->cells + C_KNOWN + m->type_count;
    *more = 0;
    for (uint32_t i = 0; i < w->table->column_count && !*more; i++) {
        int64_t bits;
        pcol_str text;
        if (m->extra[i] == PCOL_NONE)
            continue;
        const struct pci_column *column = &w->table->columns[i];
        if (!strcmp(column->name, "time_ulp"))
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

/* *joins: the sample is part of the one that waits. */
static pcol_status join(struct sample_walk *w, uint64_t row, const pcol_sample *sample, int *joins,
                        pcol_error *err)
{
    struct waiting *before = &w->waiting;
    int more;
    *joins = 0;
    if (!before->waits || sample->stack != before->sample.stack || sample->cpu_delta_ns)
        return PCOL_OK;
    PCI_TRY(says_more(w, row, &more, err));
    *joins = !more && pci_idle_join(w->merge->builder, &before->sample, before->values,
                                    &before->run, sample);
    return PCOL_OK;
}

static pcol_status put_later(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                             pcol_error *err)
{
    int joins;
    PCI_TRY(join(w, row, sample, &joins, err));
    if (joins)
        return PCOL_OK;
    PCI_TRY(put_waiting(w, err));
    w->waiting.waits = 1;
    w->waiting.row = row;
    w->waiting.sample = *sample;
    pci_idle_begin(&w->waiting.run, sample, pci_merge_tolerance(w->merge));
    memcpy(w->waiting.values, w->values, sample->value_count * sizeof *w->values);
    return PCOL_OK;
}

/* ---- all */

static pcol_status add_sample(struct sample_walk *w, uint64_t row, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    pcol_sample sample = {.size = sizeof sample, .values = w->values};
    uint64_t count = 1;
    if (m->positions)
        m->positions[row] = m->builder->sample_count + (uint64_t)w->waiting.waits;
    if (m->alive && !m->alive[row])
        return PCOL_OK;
    PCI_TRY(read_sample(w, row, &sample, err));
    if (sample.source == PCOL_NONE)
        return PCOL_OK;
    if (pci_merge_joins(m))
        return put_later(w, row, &sample, err);
    if (pci_merge_takes_apart(m))
        count = parts_of(w, &sample);
    return count > 1 ? put_parts(w, row, &sample, count, err) : put_sample(w, row, &sample, err);
}

static pcol_status make_room(struct sample_walk *w, pcol_error *err)
{
    const struct pci_merge *m = w->merge;
    size_t extra = 0, types = (size_t)m->type_count + 1;
    for (uint32_t i = 0; i < w->table->column_count; i++)
        extra += m->extra[i] != PCOL_NONE;
    w->cells = pci_malloc(C_KNOWN + (size_t)m->type_count + extra, sizeof *w->cells);
    w->values = pci_malloc(types, sizeof *w->values);
    w->parts = pci_malloc(types, sizeof *w->parts);
    w->waiting.values = pci_malloc(types, sizeof *w->waiting.values);
    w->levels = pci_calloc(types, sizeof *w->levels);
    w->type_of = pci_calloc(types, sizeof *w->type_of);
    return w->cells && w->values && w->parts && w->waiting.values && w->levels && w->type_of
               ? PCOL_OK
               : pci_fail_memory(err);
}

static pcol_status is_count(const struct pci_merge *m, uint64_t type, int *is, pcol_error *err)
{
    static const char *const names[][2] = {{"type", "samples"}, {"unit", "count"}};
    const struct pci_table *types = pci_table_find(m->file, "sample_types");
    *is = types != NULL;
    for (size_t i = 0; i < 2 && *is; i++) {
        const struct pci_column *column = pci_column_find(types, names[i][0]);
        pcol_str text = {"", 0};
        int valid;
        if (column)
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
            return pci_fail_cell(err, PCOL_E_CORRUPT, "samples", values->name, PCOL_NOWHERE,
                                 "column is of another type than it must be");
        PCI_TRY(pci_cells_use(cells++, m->file, values, err));
        PCI_TRY(pci_merge_number(m->file, "sample_types", "level", k, &w->levels[k], err));
        PCI_TRY(is_count(m, k, &counts, err));
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
    PCI_TRY(make_room(w, err));
    struct pci_cells *cells = w->cells;
    for (size_t i = 0; i < C_KNOWN; i++)
        PCI_TRY(pci_cells_open(cells++, m->file, "samples", names[i], PCI_IS_INT, err));
    PCI_TRY(open_values(w, cells, err));
    cells += m->type_count;
    for (uint32_t i = 0; i < w->table->column_count; i++)
        if (m->extra[i] != PCOL_NONE)
            PCI_TRY(pci_cells_use(cells++, m->file, &w->table->columns[i], err));
    return PCOL_OK;
}

/* What a part needs beside. */
static pcol_status open_part(struct sample_walk *w, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    if (!m->keep)
        return PCOL_OK;
    if (pci_table_find(m->file, "rprof_segments")) {
        m->positions = pci_malloc((size_t)w->table->rows + 1, sizeof *m->positions);
        if (!m->positions)
            return pci_fail_memory(err);
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
    if (!w.table->supported)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, "samples", NULL, PCOL_NOWHERE,
                             "table needs a newer reader");
    PCI_TRY(pci_plausible_samples(m->file, err));
    pcol_status status = open_cells(&w, err);
    if (status == PCOL_OK)
        status = open_part(&w, err);
    if (m->labels[w.table->number] == PCI_LABELS_ROWS) {
        w.labels = &labels;
        labels = (struct pci_merge_label_rows){0};
        if (status == PCOL_OK)
            status = pci_label_rows_open(&labels, m, w.table, PCI_T_SAMPLES, err);
    }
    for (uint64_t row = 0; status == PCOL_OK && row < w.table->rows; row++)
        status = add_sample(&w, row, err);
    if (status == PCOL_OK)
        status = put_waiting(&w, err);
    if (m->positions)
        m->positions[w.table->rows] = m->builder->sample_count;
    if (w.labels)
        pci_label_rows_close(&labels);
    pci_free(w.cells);
    pci_free(w.values);
    pci_free(w.parts);
    pci_free(w.waiting.values);
    pci_free(w.levels);
    pci_free(w.type_of);
    return status;
}
