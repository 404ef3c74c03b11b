/*
 * sample_batches.c - copying of all samples of a file, in batches
 *
 * If all samples are copied as they are, the cells of a batch of rows are translated and appended
 * column by column; samples.c copies any other selection row by row. Tests: suite merge.
 */
#include "merge/sample_batches.h"

#include "builder/idle_samples.h"

#include <inttypes.h>

struct sample_batch {
    struct pci_merge *m;
    const struct pci_table *samples;
    struct pci_cells *cells;
    uint64_t row; /* of the file; that of the builder is its number of samples */
    size_t count;
    int64_t bits[PCI_MERGE_BATCH]; /* translated cells */
    uint8_t valid[PCI_MERGE_BATCH];
    int64_t sources[PCI_MERGE_BATCH]; /* rows of the builder */
};

int pci_merge_has_batches(const struct pci_merge *merge, const struct pci_table *samples)
{
    const struct pci_merge *m = merge;
    if (m->partial || m->sample_positions || m->copied_samples || pci_merge_collapses_idle(m) ||
        m->labels[samples->number] == PCI_LABELS_ROWS)
        return 0;
    for (uint64_t k = 1; k < m->type_count; k++) /* two types of the file may be one */
        if (m->types[k] <= m->types[k - 1])
            return 0;
    return 1;
}

static pcol_status append(struct sample_batch *s, uint32_t column, size_t count, pcol_error *err)
{
    return pci_column_buffer_set_cells(s->m->builder->columns[column], s->m->builder->sample_count,
                                       s->bits, s->valid, count, err);
}

static pcol_status copy_sources(struct sample_batch *s, pcol_error *err)
{
    const struct pci_merge *m = s->m;
    struct pci_cells *c = &s->cells[C_SOURCE];
    size_t present;
    PCI_TRY(pci_cells_batch(c, s->row, s->count, &present, err));
    for (size_t i = 0; i < s->count; i++) {
        uint64_t source = i < present && c->valid[i] ? (uint64_t)c->value[i] : 0;
        if (source >= m->source_count)
            return pci_corrupt(err, "samples", "source", s->row + i, "%" PRIu64 " names no source",
                               source);
        s->sources[i] = m->sources[source];
    }
    return pci_column_buffer_set_many(m->builder->columns[PCI_C_SAMPLE_SOURCE],
                                      m->builder->sample_count, s->sources, s->count, err);
}

static pcol_status copy_stacks(struct sample_batch *s, pcol_error *err)
{
    struct pci_merge *m = s->m;
    struct pci_cells *c = &s->cells[C_STACK];
    uint32_t stack;
    size_t count;
    PCI_TRY(pci_cells_batch(c, s->row, s->count, &count, err));
    for (size_t i = 0; i < count; i++) {
        s->valid[i] = c->valid[i] != 0;
        if (!s->valid[i])
            continue;
        if ((uint64_t)c->value[i] >= m->stack_count)
            return pci_cells_row(c, s->row + i, m->stack_count, &stack, err);
        s->bits[i] = m->stacks[c->value[i]];
    }
    return append(s, PCI_C_SAMPLE_STACK, count, err);
}

static pcol_status copy_threads(struct sample_batch *s, pcol_error *err)
{
    struct pci_merge *m = s->m;
    struct pci_cells *c = &s->cells[C_THREAD];
    const struct pci_table *threads = pci_table_find(m->file, "threads");
    struct pci_column_buffer *to = m->builder->columns[PCI_C_SAMPLE_THREAD];
    uint32_t thread, last = PCOL_NONE;
    uint64_t last_to = 0;
    int omitted = 0;
    size_t count;
    PCI_TRY(pci_cells_batch(c, s->row, s->count, &count, err));
    for (size_t i = 0; i < count; i++) {
        PCI_TRY(pci_cells_row(c, s->row + i, threads ? threads->rows : 0, &thread, err));
        if (thread != PCOL_NONE && thread != last)
            PCI_TRY(
                pci_merge_row(m, threads, c->column, s->row + i, thread, &last_to, &omitted, err));
        s->valid[i] = thread != PCOL_NONE && !omitted;
        s->bits[i] = (int64_t)last_to;
        if (thread != PCOL_NONE)
            last = thread;
        if (s->valid[i] && last_to >= to->named)
            to->named = last_to + 1;
    }
    return append(s, PCI_C_SAMPLE_THREAD, count, err);
}

/* Cells that are copied unchanged. */
static pcol_status copy_cells(struct sample_batch *s, struct pci_cells *cells, uint32_t column,
                              pcol_error *err)
{
    size_t count;
    PCI_TRY(pci_cells_batch(cells, s->row, s->count, &count, err));
    return pci_column_buffer_set_cells(s->m->builder->columns[column], s->m->builder->sample_count,
                                       cells->value, cells->valid, count, err);
}

static pcol_status copy_times(struct sample_batch *s, pcol_error *err)
{
    struct pci_cells *time = &s->cells[C_TIME], *duration = &s->cells[C_DURATION];
    size_t timed, count;
    PCI_TRY(pci_cells_batch(time, s->row, s->count, &timed, err));
    PCI_TRY(pci_cells_batch(duration, s->row, s->count, &count, err));
    for (size_t i = 0; i < count; i++)
        if (duration->valid[i])
            PCI_TRY(pci_sample_check_end(s->row + i,
                                         i < timed && time->valid[i] ? time->value[i] : 0,
                                         duration->value[i], err));
    PCI_TRY(copy_cells(s, time, PCI_C_SAMPLE_TIME, err));
    PCI_TRY(copy_cells(s, duration, PCI_C_SAMPLE_DURATION, err));
    return copy_cells(s, &s->cells[C_CPU], PCI_C_SAMPLE_CPU, err);
}

/* Records the types of each source in the order of the samples, which is the order of
 * source_types. */
static pcol_status record_types(struct sample_batch *s, pcol_error *err)
{
    const struct pci_merge *m = s->m;
    for (size_t i = 0; i < s->count; i++)
        for (uint64_t k = 0; k < m->type_count; k++) {
            const struct pci_cells *c = &s->cells[C_KNOWN + k];
            uint32_t source = (uint32_t)s->sources[i], type = m->types[k];
            if (c->column && i < c->count && c->first == s->row && c->valid[i] &&
                m->builder->types[type].recorded != source + 1)
                PCI_TRY(pci_source_type_record(m->builder, source, type, err));
        }
    return PCOL_OK;
}

static pcol_status copy_values(struct sample_batch *s, pcol_error *err)
{
    const struct pci_merge *m = s->m;
    for (uint64_t k = 0; k < m->type_count; k++)
        PCI_TRY(copy_cells(s, &s->cells[C_KNOWN + k], m->builder->types[m->types[k]].column, err));
    return record_types(s, err);
}

static pcol_status copy_batch(struct sample_batch *s, pcol_error *err)
{
    struct pci_merge *m = s->m;
    struct pci_cells *extra = s->cells + C_KNOWN + m->type_count;
    if (s->count > PCF_MAX_ROWS - m->builder->sample_count)
        return pci_fail(err, PCOL_E_LIMIT, "more than 2^48 samples");
    PCI_TRY(copy_sources(s, err));
    PCI_TRY(copy_stacks(s, err));
    PCI_TRY(copy_threads(s, err));
    PCI_TRY(copy_times(s, err));
    PCI_TRY(copy_values(s, err));
    for (uint32_t i = 0; i < s->samples->column_count; i++)
        if (m->sample_columns[i] != PCOL_NONE)
            PCI_TRY(pci_merge_cells(m, extra++, m->sample_columns[i], s->row,
                                    m->builder->sample_count, s->count, err));
    m->builder->sample_count += s->count;
    return PCOL_OK;
}

pcol_status pci_merge_sample_batches(struct pci_merge *merge, const struct pci_table *samples,
                                     struct pci_cells *cells, pcol_error *err)
{
    struct sample_batch s = {.m = merge, .samples = samples, .cells = cells};
    for (; s.row < samples->rows; s.row += s.count) {
        uint64_t left = samples->rows - s.row;
        s.count = left < PCI_MERGE_BATCH ? (size_t)left : PCI_MERGE_BATCH;
        PCI_TRY(copy_batch(&s, err));
    }
    return PCOL_OK;
}
