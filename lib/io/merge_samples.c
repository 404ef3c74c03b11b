/*
 * merge_samples.c - the samples of a pcol file into a builder: as they are, cut to a range, or with
 * those of a waiting thread joined or taken apart
 */
#include "core/alloc.h"
#include "core/idle.h"
#include "io/merge.h"

#include <inttypes.h>
#include <string.h>

#define SAMPLES_FLOOR (UINT64_C(1) << 24)
#define SAMPLES_PER_BYTE 4096u

enum { C_SOURCE, C_STACK, C_THREAD, C_TIME, C_DURATION, C_CPU, C_KNOWN };

struct sample_walk {
    struct pci_merge *merge;
    const struct pci_table *table;
    struct pci_cells *cells; /* the known columns, value.K by type, then the extra ones */
    pcol_value *values;
    uint32_t *levels; /* by sample type: is it one? */
    const struct pci_table *threads;
    struct pci_merge_label_rows *labels; /* NULL: label columns are among the extra ones */
    /* the sample that waits for others to join it */
    int waits;
    uint64_t waiting_row;
    pcol_sample waiting;
    pcol_value *waiting_values;
    int64_t last; /* ns, of those that joined */
};

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

/* Is the sample to be cut to a range of time? */
static int is_cut(const struct pci_merge *m, const pcol_sample *sample)
{
    return m->keep && m->keep->has_range && sample->has_duration && sample->duration_ns > 0;
}

/* The part of a value that lies in the range; levels are what they are. */
static void cut_value(const struct sample_walk *w, uint64_t type, const pcol_sample *sample,
                      pcol_value *value)
{
    const struct pci_column *column = w->cells[C_KNOWN + type].column;
    pcol_amount amount = {.i64 = value->as.i64}; /* or the bits of a double */
    if (w->levels[type])
        return;
    pci_share(&w->merge->keep->range, column->desc->type == PCF_F64, sample->time_ns,
              sample->duration_ns, &amount);
    value->as.i64 = amount.i64;
}

static void cut_time(const struct pci_range *range, pcol_sample *sample)
{
    int64_t end;
    if (__builtin_add_overflow(sample->time_ns, sample->duration_ns, &end))
        end = INT64_MAX;
    if (sample->time_ns < range->from)
        sample->time_ns = range->from;
    if (end > range->to)
        end = range->to;
    sample->duration_ns = end - sample->time_ns;
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
    PCI_TRY(pci_cells_get(&c[C_CPU], row, &sample->cpu_delta_ns, &valid, err));
    sample->has_cpu_delta = valid != 0;
    for (uint64_t k = 0; k < m->type_count; k++) {
        pcol_value *value = &w->values[sample->value_count];
        PCI_TRY(pci_cells_get(&c[C_KNOWN + k], row, &value->as.i64, &valid, err));
        if (valid && is_cut(m, sample))
            cut_value(w, k, sample, value);
        value->sample_type = m->types[k];
        sample->value_count += valid && m->types[k] != PCOL_NONE;
    }
    if (is_cut(m, sample))
        cut_time(&m->keep->range, sample);
    return PCOL_OK;
}

/* Row `row` with all that it carries; `sample` may last longer than the row said. */
static pcol_status put_one(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                           pcol_error *err)
{
    struct pci_merge *m = w->merge;
    struct pci_cells *extra = w->cells + C_KNOWN + m->type_count;
    uint64_t to;
    PCI_TRY(pcol_builder_sample(m->builder, sample, &to, err));
    for (uint32_t i = 0; i < w->table->column_count; i++)
        if (m->extra[i] != PCOL_NONE)
            PCI_TRY(pci_merge_cell(m, extra++, m->extra[i], row, to, err));
    return w->labels ? pci_label_rows_put(w->labels, row, to, err) : PCOL_OK;
}

/* ---- idle samples */

int pci_merge_joins(const struct pci_merge *merge)
{
    return merge->keep ? merge->keep->idle == PCOL_IDLE_COLLAPSE
                       : merge->import && merge->import->options->collapse_idle;
}

int pci_merge_takes_apart(const struct pci_merge *merge)
{
    return merge->keep && merge->keep->idle == PCOL_IDLE_EXPAND;
}

/* A sample as all that it stands for; what else it carries stays with the first. */
static pcol_status take_apart(struct sample_walk *w, uint64_t row, pcol_sample *sample,
                              pcol_error *err)
{
    const struct pci_btype *types = w->merge->builder->types;
    pcol_value value = sample->value_count ? sample->values[0] : (pcol_value){0};
    int is_double = sample->value_count && types[value.sample_type].flags & PCOL_SAMPLE_TYPE_DOUBLE;
    double whole = is_double ? value.as.f64 : (double)value.as.i64;
    uint64_t parts = 1;
    if (sample->value_count == 1 && sample->has_time && sample->has_duration)
        parts = pci_idle_parts(sample->duration_ns, whole, 1);
    if (parts == 1 || whole != (double)parts)
        return put_one(w, row, sample, err);
    int64_t time = sample->time_ns;
    if (is_double)
        value.as.f64 = 1;
    else
        value.as.i64 = 1;
    sample->values = &value;
    sample->has_duration = 0;
    for (uint64_t i = 0; i < parts; i++) {
        sample->time_ns = time + pci_idle_part(sample->duration_ns, whole, parts, i, 1).after_ns;
        if (i) {
            sample->cpu_delta_ns = 0;
            PCI_TRY(pcol_builder_sample(w->merge->builder, sample, NULL, err));
        } else {
            PCI_TRY(put_one(w, row, sample, err));
        }
    }
    return PCOL_OK;
}

/* Whether a row says anything that would be lost if it were joined to another. */
static pcol_status has_own(struct sample_walk *w, uint64_t row, int *own, pcol_error *err)
{
    static const char *const known[] = {"source",   "stack",     "thread",   "time",
                                        "duration", "cpu_delta", "time_ulp", NULL};
    *own = 0;
    for (uint32_t i = 0; i < w->table->column_count && !*own; i++) {
        const struct pci_column *c = &w->table->columns[i];
        const char *const *name = known;
        int64_t value;
        while (*name && strcmp(*name, c->name) != 0)
            name++;
        if (!*name && strncmp(c->name, "value.", 6) != 0)
            PCI_TRY(pci_get(w->merge->file, c, row, &value, own, err));
    }
    return PCOL_OK;
}

static pcol_status put_waiting(struct sample_walk *w, pcol_error *err)
{
    if (!w->waits)
        return PCOL_OK;
    w->waits = 0;
    return put_one(w, w->waiting_row, &w->waiting, err);
}

static pcol_status put_or_join(struct sample_walk *w, uint64_t row, const pcol_sample *sample,
                               pcol_error *err)
{
    int own;
    PCI_TRY(has_own(w, row, &own, err));
    if (w->waits && !own &&
        pci_idle_join(w->merge->builder, &w->waiting, w->waiting_values, &w->last, sample))
        return PCOL_OK;
    PCI_TRY(put_waiting(w, err));
    w->waits = 1;
    w->waiting_row = row;
    w->waiting = *sample;
    w->last = sample->time_ns;
    if (sample->has_duration && sample->duration_ns > 0 &&
        __builtin_add_overflow(sample->time_ns, sample->duration_ns, &w->last))
        w->last = INT64_MAX;
    memcpy(w->waiting_values, sample->values, sample->value_count * sizeof *sample->values);
    w->waiting.values = w->waiting_values;
    return PCOL_OK;
}

static pcol_status add_sample(struct sample_walk *w, uint64_t row, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    pcol_sample sample = {.size = sizeof sample, .values = w->values};
    if (m->keep && !m->keep->samples[row])
        return PCOL_OK;
    PCI_TRY(read_sample(w, row, &sample, err));
    if (sample.source == PCOL_NONE)
        return PCOL_OK;
    if (pci_merge_joins(m))
        return put_or_join(w, row, &sample, err);
    return pci_merge_takes_apart(m) ? take_apart(w, row, &sample, err)
                                    : put_one(w, row, &sample, err);
}

static pcol_status open_cells(struct sample_walk *w, pcol_error *err)
{
    static const char *const names[C_KNOWN] = {"source", "stack",    "thread",
                                               "time",   "duration", "cpu_delta"};
    const struct pci_merge *m = w->merge;
    size_t extra = 0;
    for (uint32_t i = 0; i < w->table->column_count; i++)
        extra += m->extra[i] != PCOL_NONE;
    w->cells = pci_malloc(C_KNOWN + (size_t)m->type_count + extra, sizeof *w->cells);
    w->values = pci_malloc((size_t)m->type_count + 1, sizeof *w->values);
    w->waiting_values = pci_malloc((size_t)m->type_count + 1, sizeof *w->values);
    w->levels = pci_calloc((size_t)m->type_count + 1, sizeof *w->levels);
    if (!w->cells || !w->values || !w->waiting_values || !w->levels)
        return pci_fail_memory(err);
    struct pci_cells *cells = w->cells;
    for (size_t i = 0; i < C_KNOWN; i++)
        PCI_TRY(pci_cells_open(cells++, m->file, "samples", names[i], PCI_IS_INT, err));
    for (uint64_t k = 0; k < m->type_count; k++) {
        const struct pci_column *values = pci_merge_value_column(m, k);
        if (values && !(PCI_IS(values->desc->type) & (PCI_IS(PCF_I64) | PCI_IS(PCF_F64))))
            return pci_fail_cell(err, PCOL_E_CORRUPT, "samples", values->name, PCOL_NOWHERE,
                                 "column is of another type than it must be");
        PCI_TRY(pci_cells_use(cells++, m->file, values, err));
        PCI_TRY(pci_merge_cell_number(m->file, "sample_types", "level", k, &w->levels[k], err));
    }
    for (uint32_t i = 0; i < w->table->column_count; i++)
        if (m->extra[i] != PCOL_NONE)
            PCI_TRY(pci_cells_use(cells++, m->file, &w->table->columns[i], err));
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
    if (w.table->rows > SAMPLES_FLOOR + SAMPLES_PER_BYTE * m->file->size)
        return pci_fail_cell(err, PCOL_E_LIMIT, "samples", NULL, PCOL_NOWHERE,
                             "%" PRIu64 " rows are too many for a file of this size",
                             w.table->rows);
    pcol_status status = open_cells(&w, err);
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
    if (w.labels)
        pci_label_rows_close(&labels);
    pci_free(w.cells);
    pci_free(w.values);
    pci_free(w.waiting_values);
    pci_free(w.levels);
    return status;
}
