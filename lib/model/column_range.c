/*
 * column_range.c - smallest and largest value of a column
 *
 * Branch and bound: the parameters of an encoding bound the values of each block, the blocks with
 * the lowest and the highest bound are read first, then only those whose bounds exceed the range
 * found so far. Sorted columns need two blocks, constants and runs none. Bounds of blocks are
 * unknown while the sections of an archive are compressed. Tests: tests/unit/test_statistics.c,
 * tests/hostile/bounds.
 */
#include "model/column_range.h"

#include "format/decode_masked.h"
#include "format/range.h"
#include "model/table.h"
#include "util/arg_check.h"

__extension__ typedef __int128 wide;

static const struct pci_column_range no_values = {INT64_MAX, INT64_MIN};
static const struct pci_column_range all_values = {INT64_MIN, INT64_MAX};

static void widen(struct pci_column_range *range, const struct pci_column_range *by)
{
    range->min = by->min < range->min ? by->min : range->min;
    range->max = by->max > range->max ? by->max : range->max;
}

static int exceeds(const struct pci_column_range *bounds, const struct pci_column_range *range)
{
    return bounds->min < range->min || bounds->max > range->max;
}

/* ---- bounds by parameters */

/* A line from `at_start` to `at_end`, plus `scale` times a number of `width` bits. Sums are taken
 * modulo 2^64: 0 if they may wrap. */
static int line_bounds(wide at_start, wide at_end, uint64_t scale, unsigned width,
                       struct pci_column_range *range)
{
    if (width && (width > 57 || scale >> 62))
        return 0;
    wide low = at_start < at_end ? at_start : at_end;
    wide high = at_start < at_end ? at_end : at_start;
    high += (wide)(((uint64_t)1 << width) - 1) * scale;
    range->min = (int64_t)low;
    range->max = (int64_t)high;
    return low >= INT64_MIN && high <= INT64_MAX;
}

/* LINEAR and PACKED. */
static int row_bounds(const struct pcf_data *d, uint64_t first, uint64_t last,
                      struct pci_column_range *range)
{
    int packed = d->encoding == PCF_PACKED;
    return line_bounds(d->base + (wide)d->step * (wide)first, d->base + (wide)d->step * (wide)last,
                       packed ? d->scale : 0, packed ? d->width : 0, range);
}

/* Rows `first` to `last` of a LINEAR or PACKED column. */
static int leaf_bounds(const struct pcf_data *d, uint64_t first, uint64_t last,
                       struct pci_column_range *range)
{
    if (d->encoding == PCF_LINEAR && d->flags & PCF_COLUMN_DEFAULT_NULL)
        return 0;
    return (d->encoding == PCF_LINEAR || d->encoding == PCF_PACKED) &&
           row_bounds(d, first, last, range);
}

/* Of at most 1024 rows without nulls, by reading them. */
static int cell_bounds(const struct pcf_data *d, uint64_t first, uint64_t count,
                       struct pci_column_range *range)
{
    int64_t cells[PCF_BLOCK_ROWS];
    *range = no_values;
    if (count > PCF_BLOCK_ROWS || pcf_read(d, first, count, cells, NULL) != PCF_OK)
        return 0;
    for (uint64_t i = 0; i < count; i++)
        widen(range, &(struct pci_column_range){cells[i], cells[i]});
    return 1;
}

/* DELTAS: values of marked rows, one in 64 at least and most often one in 64, plus 63 differences
 * at most. */
static int deltas_bounds(const struct pcf_data *d, uint64_t first, uint64_t last,
                         struct pci_column_range *range)
{
    uint64_t block = first / PCF_RANK_ROWS, from = pcf_marks_before(d, block);
    uint64_t to = last + 1 < d->rows ? pcf_marks_before(d, block + 1) : d->child[0]->rows;
    struct pci_column_range marked, step = no_values;
    if (from >= to || to > d->child[0]->rows || to > last + 1 || from > first ||
        last + 1 - to > d->child[1]->rows || !cell_bounds(d->child[0], from, to - from, &marked) ||
        (first - from < last + 1 - to && !leaf_bounds(d->child[1], first - from, last - to, &step)))
        return 0;
    wide low = marked.min + (step.min < 0 ? (wide)step.min * 63 : 0);
    wide high = marked.max + (step.max > 0 ? (wide)step.max * 63 : 0);
    return line_bounds(low, high, 0, 0, range);
}

int pci_block_bounds(const struct pcf_data *column, uint64_t block, struct pci_column_range *range)
{
    uint64_t first = block * PCF_BLOCK_ROWS;
    uint64_t last =
        column->rows - first > PCF_BLOCK_ROWS ? first + PCF_BLOCK_ROWS - 1 : column->rows - 1;
    return column->encoding == PCF_DELTAS
               ? column->marks && deltas_bounds(column, first, last, range)
               : leaf_bounds(column, first, last, range);
}

pcol_status pci_column_bounds(const pcol_file *file, const struct pci_column *column,
                              struct pci_column_range *bounds, pcol_error *err)
{
    const struct pcf_data *d = column->data;
    const struct pci_column *child = &file->columns[column->desc->first_child];
    struct pci_column_range second;
    switch (d->encoding) {
    case PCF_DICTIONARY:
        return pci_column_bounds(file, child, bounds, err);
    case PCF_RUNS:
        return pci_column_bounds(file, child + 1, bounds, err);
    case PCF_SPLIT:
        PCI_TRY(pci_column_bounds(file, child, bounds, err));
        PCI_TRY(pci_column_bounds(file, child + 1, &second, err));
        widen(bounds, &second);
        return PCOL_OK;
    case PCF_LINEAR:
    case PCF_PACKED:
        if (d->rows && row_bounds(d, 0, d->rows - 1, bounds))
            return PCOL_OK;
        break;
    default:
        break;
    }
    return pci_column_range(file, column, NULL, 0, bounds, err);
}

/* ---- reading */

struct search {
    const pcol_file *file;
    const struct pci_column *column, *source; /* source: NULL: all rows */
    uint64_t id;
    struct pci_column_range *range;
    int64_t cells[PCI_BATCH], sources[PCI_BATCH];
    uint8_t valid[PCI_BATCH], has_source[PCI_BATCH];
};

static pcol_status read_block(struct search *s, uint64_t block, pcol_error *err)
{
    uint64_t row = block * PCF_BLOCK_ROWS, rows = s->column->desc->rows;
    size_t n = rows - row < PCF_BLOCK_ROWS ? (size_t)(rows - row) : PCF_BLOCK_ROWS;
    struct pci_column_range found = no_values;
    PCI_TRY(pci_read(s->file, s->column, row, n, s->cells, s->valid, err));
    if (s->source)
        PCI_TRY(pci_read(s->file, s->source, row, n, s->sources, s->has_source, err));
    for (size_t i = 0; s->source && i < n; i++)
        s->valid[i] &= (uint8_t)((s->has_source[i] ? (uint64_t)s->sources[i] : 0) == s->id);
    for (size_t i = 0; i < n; i++) {
        found.min = s->valid[i] && s->cells[i] < found.min ? s->cells[i] : found.min;
        found.max = s->valid[i] && s->cells[i] > found.max ? s->cells[i] : found.max;
    }
    widen(s->range, &found);
    return PCOL_OK;
}

/* The sections of an archive are there only while they are pinned. */
static int bounds_of_block(const struct search *s, uint64_t block, struct pci_column_range *bounds)
{
    return !atomic_load_explicit(&s->column->compression_state, memory_order_acquire) &&
           pci_block_bounds(s->column->data, block, bounds);
}

/* The blocks with the lowest and the highest bound. Equal ones: the first. */
static void find_extremes(const struct search *s, uint64_t blocks, uint64_t extremes[2])
{
    struct pci_column_range all = no_values, bounds;
    extremes[0] = extremes[1] = 0;
    for (uint64_t block = 0; block < blocks; block++) {
        if (!bounds_of_block(s, block, &bounds))
            continue;
        extremes[0] = bounds.min < all.min ? block : extremes[0];
        extremes[1] = bounds.max > all.max ? block : extremes[1];
        widen(&all, &bounds);
    }
}

/* Bounds of all values where the encoding has none by block. Its other children are small. */
static pcol_status find_bounds(const struct search *s, struct pci_column_range *bounds,
                               pcol_error *err)
{
    uint8_t encoding = s->column->desc->encoding;
    *bounds = all_values;
    return encoding == PCF_DICTIONARY || encoding == PCF_RUNS
               ? pci_column_bounds(s->file, s->column, bounds, err)
               : PCOL_OK;
}

static pcol_status search(struct search *s, pcol_error *err)
{
    uint64_t blocks = pcf_ceil_div(s->column->desc->rows, PCF_BLOCK_ROWS), extremes[2];
    struct pci_column_range all, bounds;
    PCI_TRY(find_bounds(s, &all, err));
    find_extremes(s, blocks, extremes);
    for (size_t i = 0; i < 2 && blocks; i++)
        PCI_TRY(read_block(s, extremes[i], err));
    for (uint64_t block = 0; block < blocks && exceeds(&all, s->range); block++)
        if (!bounds_of_block(s, block, &bounds) || exceeds(&bounds, s->range))
            PCI_TRY(read_block(s, block, err));
    return PCOL_OK;
}

/* All rows are of source `id`, by the parameters of the column. */
static int is_constant(const struct pci_column *source, uint64_t id)
{
    const struct pcf_data *d = source->data;
    return d->encoding == PCF_LINEAR && !(d->flags & PCF_COLUMN_NULLABLE) && !d->step &&
           (uint64_t)d->base == id;
}

pcol_status pci_column_range(const pcol_file *file, const struct pci_column *column,
                             const struct pci_column *source, uint64_t id,
                             struct pci_column_range *range, pcol_error *err)
{
    const struct pcf_data *d = column->data;
    struct search s = {.file = file, .column = column, .source = source, .id = id, .range = range};
    *range = no_values;
    if (!column->desc->rows || (d->encoding == PCF_LINEAR && d->flags & PCF_COLUMN_DEFAULT_NULL))
        return PCOL_OK;
    PCI_TRY(pci_verify(file, column, err));
    if (source && is_constant(source, id))
        s.source = NULL;
    int whole = !s.source && !(d->flags & PCF_COLUMN_NULLABLE);
    if (whole && d->encoding == PCF_LINEAR && row_bounds(d, 0, d->rows - 1, range))
        return PCOL_OK;
    if (whole && d->encoding == PCF_RUNS) /* no run is empty */
        return pci_column_range(file, &file->columns[column->desc->first_child + 1], NULL, 0, range,
                                err);
    *range = no_values;
    if (!pcf_samples_plausible(column->desc->rows, file->size))
        return pci_fail_cell(
            err, PCOL_E_LIMIT, column->table ? column->table->name : NULL, column->name,
            PCOL_POSITION_UNKNOWN, "implausible number of rows, %llu in a file of %llu bytes",
            (unsigned long long)column->desc->rows, (unsigned long long)file->size);
    return search(&s, err);
}

pcol_status pcol_file_times(const pcol_file *file, uint64_t source, int64_t *first, int64_t *last,
                            pcol_error *err)
{
    const struct pci_column *time, *of;
    struct pci_column_range range = no_values;
    PCI_REQUIRE(file, err);
    PCI_REQUIRE(first, err);
    PCI_REQUIRE(last, err);
    if (source && source >= pci_rows(file, "sources"))
        return pci_fail(err, PCOL_E_ARGUMENT, "the file has %llu sources",
                        (unsigned long long)pci_rows(file, "sources"));
    PCI_TRY(pci_find_column(file, "samples", "time", PCI_TYPE(PCF_I64), &time, err));
    PCI_TRY(pci_find_column(file, "samples", "source", PCI_TYPES_ROW, &of, err));
    if (time && (of || !source)) /* without the column all samples are of the first source */
        PCI_TRY(pci_column_range(file, time, of, source, &range, err));
    *first = range.min;
    *last = range.max;
    return PCOL_OK;
}
