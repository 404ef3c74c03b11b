/*
 * samples.c - appending many samples at once, column by column
 *
 * pci_builder_samples(): for columnar sources whose rows have the same columns present.
 * pcol_builder_samples(): for programs; cells may be null, and everything is checked before
 * anything is appended. Runs of cells with values are appended at once. Tests:
 * tests/unit/test_bulk_samples.c.
 */
#include "builder/builder.h"

#include "builder/idle_samples.h"
#include "util/simd_kernels.h"
#include "util/sized_struct.h"

static pcol_status check_samples(const pcol_builder *b, const struct pci_sample_rows *s,
                                 pcol_error *err)
{
    int64_t least = 0, highest = 0;
    if (s->source >= b->source_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "sample refers to source %u, which does not exist",
                        s->source);
    if (s->stacks && s->count)
        pci_simd_range(s->stacks, s->count, 0, &least, &highest);
    if (least < 0 || (uint64_t)highest >= b->tree.count)
        return pci_fail(err, PCOL_E_ARGUMENT, "sample refers to a stack that does not exist");
    if ((s->values || s->has_value) && s->sample_type >= b->type_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "sample type %u does not exist", s->sample_type);
    if (s->count > PCF_MAX_ROWS - b->sample_count)
        return pci_fail(err, PCOL_E_LIMIT, "more than 2^48 samples");
    return PCOL_OK;
}

static pcol_status append_values(pcol_builder *b, const struct pci_sample_rows *s, pcol_error *err)
{
    const struct pci_sample_type_record *type = &b->types[s->sample_type];
    struct pci_column_buffer *column = b->columns[type->column];
    if (type->recorded != s->source + 1)
        PCI_TRY(pci_source_type_record(b, s->source, s->sample_type, err));
    return s->values ? pci_column_buffer_set_many(column, b->sample_count, s->values, s->count, err)
                     : pci_column_buffer_repeat(column, b->sample_count, s->value, s->count, err);
}

pcol_status pci_builder_samples(pcol_builder *builder, const struct pci_sample_rows *samples,
                                uint64_t *row, pcol_error *err)
{
    pcol_builder *b = builder;
    const struct pci_sample_rows *s = samples;
    uint64_t r = b->sample_count;
    *row = r;
    PCI_TRY(check_samples(b, s, err));
    if (!s->count)
        return PCOL_OK;
    PCI_TRY(pci_column_buffer_repeat(b->columns[PCI_C_SAMPLE_SOURCE], r, s->source, s->count, err));
    if (s->thread != PCOL_NONE)
        PCI_TRY(
            pci_column_buffer_repeat(b->columns[PCI_C_SAMPLE_THREAD], r, s->thread, s->count, err));
    if (s->stacks)
        PCI_TRY(pci_column_buffer_set_many(b->columns[PCI_C_SAMPLE_STACK], r, s->stacks, s->count,
                                           err));
    if (s->times_ns)
        PCI_TRY(pci_column_buffer_set_many(b->columns[PCI_C_SAMPLE_TIME], r, s->times_ns, s->count,
                                           err));
    if (s->cpu_deltas_ns)
        PCI_TRY(pci_column_buffer_set_many(b->columns[PCI_C_SAMPLE_CPU], r, s->cpu_deltas_ns,
                                           s->count, err));
    if (s->values || s->has_value)
        PCI_TRY(append_values(b, s, err));
    b->sample_count += s->count;
    return PCOL_OK;
}

/* ---- public call */

#define CHUNK 1024u /* cells converted at once */

static pcol_status fail_sample(pcol_error *err, uint64_t i, const char *fault)
{
    return pci_fail(err, PCOL_E_ARGUMENT, "sample %llu of the columns %s", (unsigned long long)i,
                    fault);
}

static pcol_status check_rows(const pcol_builder *b, const pcol_sample_columns *s, pcol_error *err)
{
    for (uint64_t i = 0; s->stacks && i < s->count; i++)
        if (s->stacks[i] != PCOL_NONE && s->stacks[i] >= b->tree.count)
            return fail_sample(err, i, "refers to a stack that does not exist");
    for (uint64_t i = 0; s->durations_ns && i < s->count; i++) {
        if (s->durations_ns[i] < 0)
            return fail_sample(err, i, "has a negative duration");
        if (s->times_ns && !pci_sample_ends(s->times_ns[i], s->durations_ns[i]))
            return fail_sample(err, i, "ends beyond 64 bits of nanoseconds");
    }
    return PCOL_OK;
}

static pcol_status check_value_columns(pcol_builder *b, const pcol_sample_columns *s,
                                       pcol_error *err)
{
    uint64_t turn = ++b->sample_serial;
    PCI_REQUIRE_MANY(s->values, s->value_count, err);
    for (size_t i = 0; i < s->value_count; i++) {
        uint32_t type = s->values[i].sample_type;
        if (type >= b->type_count)
            return pci_fail(err, PCOL_E_ARGUMENT, "sample type %u does not exist", type);
        if (b->types[type].last_sample == turn)
            return pci_fail(err, PCOL_E_ARGUMENT, "two columns have values of sample type %u",
                            type);
        if (s->values[i].reserved)
            return pci_fail(err, PCOL_E_ARGUMENT, "reserved member of a pcol_value_column is set");
        if (s->count && !s->values[i].as.i64)
            return pci_fail(err, PCOL_E_ARGUMENT, "no values of sample type %u given", type);
        b->types[type].last_sample = turn;
    }
    return PCOL_OK;
}

static pcol_status check_columns(pcol_builder *b, const pcol_sample_columns *s, pcol_error *err)
{
    if (s->flags || s->reserved)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of the pcol_sample_columns: 0x%x",
                        (unsigned)(s->flags | s->reserved));
    if (s->source >= b->source_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "samples refer to source %u, which does not exist",
                        s->source);
    if (s->count > PCF_MAX_ROWS - b->sample_count)
        return pci_fail(err, PCOL_E_LIMIT, "more than 2^48 samples");
    PCI_TRY(check_value_columns(b, s, err));
    return check_rows(b, s, err);
}

/* Cells of row numbers, PCOL_NONE for null. */
static pcol_status append_numbers(struct pci_column_buffer *column, uint64_t row,
                                  const uint32_t *numbers, uint64_t count, pcol_error *err)
{
    int64_t wide[CHUNK];
    for (uint64_t i = 0; i < count;) {
        size_t n = 0;
        for (; n < CHUNK && i + n < count && numbers[i + n] != PCOL_NONE; n++)
            wide[n] = numbers[i + n];
        if (n)
            PCI_TRY(pci_column_buffer_set_many(column, row + i, wide, n, err));
        i += n ? n : 1;
    }
    return PCOL_OK;
}

/* Cells of 8 bytes, integers or doubles; valid NULL: none is null. */
static pcol_status append_cells(struct pci_column_buffer *column, uint64_t row, const void *cells,
                                const uint8_t *valid, uint64_t count, pcol_error *err)
{
    int64_t chunk[CHUNK];
    for (uint64_t i = 0; cells && i < count;) {
        size_t n = 0;
        while (n < CHUNK && i + n < count && (!valid || valid[i + n]))
            n++;
        memcpy(chunk, (const uint8_t *)cells + i * sizeof *chunk, n * sizeof *chunk);
        if (n)
            PCI_TRY(pci_column_buffer_set_many(column, row + i, chunk, n, err));
        i += n ? n : 1;
    }
    return PCOL_OK;
}

static pcol_status append_threads(pcol_builder *b, const pcol_sample_columns *s, pcol_error *err)
{
    struct pci_column_buffer *column = b->columns[PCI_C_SAMPLE_THREAD];
    uint64_t named = column->named;
    if (!s->threads && s->thread == PCOL_NONE)
        return PCOL_OK;
    for (uint64_t i = 0; i < (s->threads ? s->count : 1); i++) {
        uint32_t thread = s->threads ? s->threads[i] : s->thread;
        if (thread != PCOL_NONE && thread >= named)
            named = (uint64_t)thread + 1;
    }
    column->named = named;
    return s->threads ? append_numbers(column, b->sample_count, s->threads, s->count, err)
                      : pci_column_buffer_repeat(column, b->sample_count, s->thread, s->count, err);
}

/* Whether a sample has a value; valid: not 0, as append_cells() reads it; NULL: all have one. */
static int has_value(const uint8_t *valid, uint64_t count)
{
    uint64_t i = 0;
    while (valid && i < count && !valid[i])
        i++;
    return !valid || i < count;
}

static pcol_status append_value_column(pcol_builder *b, const pcol_sample_columns *s,
                                       const pcol_value_column *v, pcol_error *err)
{
    const struct pci_sample_type_record *type = &b->types[v->sample_type];
    if (type->recorded != s->source + 1 && has_value(v->valid, s->count))
        PCI_TRY(pci_source_type_record(b, s->source, v->sample_type, err));
    return append_cells(b->columns[type->column], b->sample_count, v->as.i64, v->valid, s->count,
                        err);
}

pcol_status pcol_builder_samples(pcol_builder *builder, const pcol_sample_columns *samples,
                                 uint64_t *first_row, pcol_error *err)
{
    if (first_row)
        *first_row = 0;
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(samples, err);
    PCI_STRUCT_VIEW(pcol_sample_columns, samples, err);
    pcol_builder *b = builder;
    const pcol_sample_columns *s = samples;
    uint64_t r = b->sample_count;
    PCI_TRY(check_columns(b, s, err));
    if (first_row)
        *first_row = r;
    if (!s->count)
        return PCOL_OK;
    PCI_TRY(pci_column_buffer_repeat(b->columns[PCI_C_SAMPLE_SOURCE], r, s->source, s->count, err));
    if (s->stacks)
        PCI_TRY(append_numbers(b->columns[PCI_C_SAMPLE_STACK], r, s->stacks, s->count, err));
    PCI_TRY(append_threads(b, s, err));
    PCI_TRY(append_cells(b->columns[PCI_C_SAMPLE_TIME], r, s->times_ns, NULL, s->count, err));
    PCI_TRY(
        append_cells(b->columns[PCI_C_SAMPLE_DURATION], r, s->durations_ns, NULL, s->count, err));
    PCI_TRY(append_cells(b->columns[PCI_C_SAMPLE_CPU], r, s->cpu_deltas_ns, NULL, s->count, err));
    for (size_t i = 0; i < s->value_count; i++)
        PCI_TRY(append_value_column(b, s, &s->values[i], err));
    b->sample_count += s->count;
    return PCOL_OK;
}
