/*
 * write_samples.c - samples, read in batches and written one by one or summed
 */
#include "formats/pprof/write.h"

#include "util/alloc.h"

#include <string.h>

enum { F_SAMPLE = 2 };

static pcol_status read_cells(const struct pci_pprof_export *e, const struct pci_column *column,
                              uint64_t row, size_t n, struct pci_pprof_cells *cells, int64_t absent,
                              uint8_t valid, pcol_error *err)
{
    if (column)
        return pci_read(e->file, column, row, n, cells->values, cells->valid, err);
    for (size_t i = 0; i < n; i++)
        cells->values[i] = absent;
    memset(cells->valid, valid, n);
    return PCOL_OK;
}

static pcol_status verify_column(struct pci_pprof_export *e, const struct pci_column *column,
                                 pcol_error *err)
{
    return column ? pci_verify(e->file, column, err) : PCOL_OK;
}

static pcol_status batches_open(struct pci_pprof_export *e, struct pci_pprof_batches *b,
                                pcol_error *err)
{
    *b = (struct pci_pprof_batches){.e = e, .rows = pci_rows(e->file, "samples")};
    PCI_TRY(pci_find_column(e->file, "samples", "stack", PCI_TYPES_ROW, &b->stack, err));
    PCI_TRY(PCI_MALLOC(b->values, (size_t)e->part_count + 1, err));
    PCI_TRY(PCI_MALLOC(b->sample, (size_t)e->type_count, err));
    PCI_TRY(PCI_MALLOC(b->is_set, (size_t)e->type_count, err));
    PCI_TRY(verify_column(e, e->types.source, err));
    PCI_TRY(verify_column(e, b->stack, err));
    for (uint32_t p = 0; p < e->part_count; p++)
        PCI_TRY(verify_column(e, e->types.columns[e->parts[p].row], err));
    if (e->memory_type != PCOL_NONE)
        return pci_memory_open(e->file, &e->types, e->memory_levels, e->source_count, &b->memory,
                               err);
    return PCOL_OK;
}

static void batches_close(struct pci_pprof_batches *b)
{
    pci_memory_close(b->memory);
    pci_free(b->values);
    pci_free(b->sample);
    pci_free(b->is_set);
}

static pcol_status load_batch(struct pci_pprof_batches *b, pcol_error *err)
{
    struct pci_pprof_export *e = b->e;
    uint64_t left = b->rows - b->next;
    b->first = b->next;
    b->count = left < PCI_BATCH ? (size_t)left : PCI_BATCH;
    b->at = 0;
    PCI_TRY(read_cells(e, e->types.source, b->first, b->count, &b->sources, 0, 1, err));
    PCI_TRY(read_cells(e, b->stack, b->first, b->count, &b->stacks, 0, 0, err));
    for (uint32_t p = 0; p < e->part_count; p++)
        PCI_TRY(read_cells(e, e->types.columns[e->parts[p].row], b->first, b->count, &b->values[p],
                           0, 0, err));
    if (b->memory) {
        struct pci_pprof_cells *cells = &b->values[e->part_count];
        PCI_TRY(pci_memory_read(b->memory, b->first, b->count, cells->values, cells->valid, err));
    }
    b->next += b->count;
    return PCOL_OK;
}

static pcol_status add_value(struct pci_pprof_batches *b, uint32_t type, int64_t value,
                             pcol_error *err)
{
    if (__builtin_add_overflow(b->sample[type], value, &b->sample[type]))
        return pci_fail_cell(err, PCOL_E_LOSS, "samples", NULL, b->first + b->at,
                             "the sum of the values of a type exceeds 64 bits");
    return PCOL_OK;
}

static pcol_status gather_values(struct pci_pprof_batches *b, pcol_error *err)
{
    struct pci_pprof_export *e = b->e;
    int fraction = 0;
    memset(b->sample, 0, e->type_count * sizeof *b->sample);
    memset(b->is_set, 0, e->type_count);
    for (uint32_t p = 0; p < e->part_count; p++) {
        const struct pci_pprof_part *part = &e->parts[p];
        const struct pci_pprof_cells *cells = &b->values[p];
        int64_t value;
        if (!cells->valid[b->at])
            continue;
        PCI_TRY(pci_types_to_integer(cells->values[b->at], part->is_double, &part->form,
                                     b->first + b->at, &value, &fraction, err));
        PCI_TRY(add_value(b, part->type, value, err));
        e->lost |= b->is_set[part->type] ? PCI_PPROF_LOSS_UNITS : 0u;
        b->is_set[part->type] = 1;
    }
    if (b->memory) /* 0 without gauges */
        PCI_TRY(add_value(b, e->memory_type, b->values[e->part_count].values[b->at], err));
    e->lost |= fraction ? PCI_PPROF_LOSS_FRACTIONS : 0u;
    return PCOL_OK;
}

pcol_status pci_pprof_batches_next(struct pci_pprof_batches *b, int *end, pcol_error *err)
{
    struct pci_pprof_export *e = b->e;
    *end = 0;
    for (b->at++;; b->at++) {
        if (b->at >= b->count || !b->count) {
            *end = b->next == b->rows;
            if (*end)
                return PCOL_OK;
            PCI_TRY(load_batch(b, err));
        }
        uint64_t source = (uint64_t)b->sources.values[b->at];
        if (source >= e->source_count)
            return pci_corrupt(err, "samples", "source", b->first + b->at,
                               "refers to a source that does not exist");
        if (e->is_exported[source])
            break;
    }
    b->row = b->first + b->at;
    b->stack_row = b->stacks.valid[b->at] ? (uint64_t)b->stacks.values[b->at] : 0;
    if (!b->stacks.valid[b->at])
        e->lost |= PCI_PPROF_LOSS_NO_STACK;
    PCI_TRY(gather_values(b, err));
    return PCOL_OK;
}

pcol_status pci_pprof_put_sample(struct pci_pprof_export *e, uint64_t stack, const int64_t *values,
                                 const void *labels, size_t size, pcol_error *err)
{
    PciPprof__Sample s = PCI_PPROF__SAMPLE__INIT;
    int64_t *mutable_values;
    PCI_TRY(pci_pprof_stack(e, stack, err));
    PCI_TRY(pci_written_stacks_add(&e->written, e->depth, err));
    /* Drops const: protobuf-c does not modify the values. */
    memcpy(&mutable_values, &values, sizeof mutable_values);
    s.location_id = e->stack_ids;
    s.n_location_id = e->depth;
    s.value = mutable_values;
    s.n_value = e->type_count;
    return pci_pprof_put(&e->w, F_SAMPLE, &s.base, labels, size, err);
}

static pcol_status put_all(struct pci_pprof_export *e, struct pci_pprof_batches *b,
                           struct pci_pprof_labels *labels, pcol_error *err)
{
    for (int end;;) {
        PCI_TRY(pci_pprof_batches_next(b, &end, err));
        if (end)
            return PCOL_OK;
        e->labels.size = 0;
        PCI_TRY(pci_pprof_labels_put(labels, b->row, err));
        PCI_TRY(
            pci_pprof_put_sample(e, b->stack_row, b->sample, e->labels.data, e->labels.size, err));
    }
}

pcol_status pci_pprof_put_samples(struct pci_pprof_export *e, pcol_error *err)
{
    struct pci_pprof_batches b = {0};
    struct pci_pprof_labels *labels = NULL;
    pcol_status status = batches_open(e, &b, err);
    PCI_THEN(status, pci_pprof_labels_new(e, &labels, err));
    PCI_THEN(status, e->is_native ? put_all(e, &b, labels, err)
                                  : pci_pprof_put_aggregated(e, &b, labels, err));
    pci_pprof_labels_free(labels);
    batches_close(&b);
    return status;
}
