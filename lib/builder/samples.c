/*
 * samples.c - appending many samples at once, column by column
 *
 * For columnar sources whose rows have the same columns present: no call per cell.
 */
#include "builder/builder.h"

#include "util/simd_kernels.h"

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
