/*
 * spans.c - blocks of 1024 values as lines that bend every 16 rows, and residuals
 */
#include "core/emit.h"

#include "core/alloc.h"

/* A block's values in units of scale above its least one. */
static void units_of(const int64_t *values, size_t n, uint64_t base, uint64_t scale, int64_t *units)
{
    if (scale == 1) {
        for (size_t i = 0; i < n; i++)
            units[i] = (int64_t)((uint64_t)values[i] - base);
        return;
    }
    for (size_t i = 0; i < n; i++)
        units[i] = (int64_t)(((uint64_t)values[i] - base) / scale);
}

/* Knots are the first values of the spans, and the last value of the block. */
static int64_t knot(const int64_t *units, size_t n, size_t row)
{
    return units[row < n ? row : n - 1];
}

/* Bits for residuals from low to high with a sign. */
static unsigned signed_width(int64_t low, int64_t high)
{
    uint64_t most = (uint64_t)(high > ~low ? high : ~low);
    if (low == 0 && high == 0)
        return 0;
    return most ? 65u - (unsigned)__builtin_clzll(most) : 1;
}

/* Residuals of the span that begins at a row of a block; the number of bits that they need. */
static unsigned fit_span(const int64_t *units, size_t n, size_t row, int64_t *residuals)
{
    size_t left = n - row, rows = left < PCF_SPAN_ROWS ? left : PCF_SPAN_ROWS;
    int64_t start = units[row], rise = knot(units, n, row + PCF_SPAN_ROWS) - start;
    int64_t low = 0, high = 0;
    for (size_t j = 0; j < rows; j++) {
        int64_t rest = units[row + j] - start - ((rise * (int64_t)j) >> PCF_SPAN_SHIFT);
        residuals[j] = rest;
        low = rest < low ? rest : low;
        high = rest > high ? rest : high;
    }
    return signed_width(low, high);
}

void pci_count_spans(struct pci_shape *shape, const int64_t *values, size_t n,
                     const struct pci_fit *flat)
{
    int64_t units[PCF_BLOCK_ROWS], residuals[PCF_SPAN_ROWS];
    if (flat->range >> PCF_MAX_KNOT_WIDTH) {
        shape->spans_fail = 1;
        return;
    }
    if (!flat->range) { /* nothing but knots */
        shape->spans[0] += (n + PCF_SPAN_ROWS - 1) / PCF_SPAN_ROWS;
        return;
    }
    units_of(values, n, (uint64_t)flat->base, 1, units);
    for (size_t row = 0; row < n; row += PCF_SPAN_ROWS)
        shape->spans[fit_span(units, n, row, residuals)]++;
}

uint64_t pci_cost_spans(const struct pci_shape *shape)
{
    uint64_t bits = 64 + 2 * PCI_SECTION_BITS;
    unsigned less = 63u - (unsigned)__builtin_clzll(shape->scale); /* bits that the scale saves */
    if (shape->spans_fail || shape->nulls)
        return UINT64_MAX;
    for (size_t i = 0; i < shape->block_count; i++) {
        uint64_t left = shape->rows - (uint64_t)i * PCF_BLOCK_ROWS;
        uint64_t n = left < PCF_BLOCK_ROWS ? left : PCF_BLOCK_ROWS;
        unsigned width = pci_width_of(shape->ranges[i] / shape->scale) + PCF_SPAN_SUM_BITS;
        bits += sizeof(struct pcf_span_block) * 8 + (n / PCF_SPAN_ROWS + 2) * width;
    }
    for (unsigned width = less + 1; width < 65; width++)
        bits += shape->spans[width] * PCF_SPAN_ROWS * (width - less);
    return bits;
}

struct spans {
    struct pcf_span_block *all;
    size_t count;
    uint64_t offset; /* of the next block's directory */
    uint64_t scale;
    uint8_t type;
    int64_t units[PCF_BLOCK_ROWS], residuals[PCF_BLOCK_ROWS];
    unsigned widths[PCF_BLOCK_ROWS / PCF_SPAN_ROWS];
};

static pcol_status put_directory(struct pci_bits *bits, const struct pci_reader *block,
                                 const struct spans *s, unsigned knot_width, uint64_t *size,
                                 pcol_error *err)
{
    uint64_t sum = 0;
    size_t count = (block->n + PCF_SPAN_ROWS - 1) / PCF_SPAN_ROWS;
    for (size_t i = 0; i <= count; i++) {
        int64_t start = knot(s->units, block->n, i * PCF_SPAN_ROWS);
        PCI_TRY(pci_bits_put(bits, (uint64_t)start | sum << knot_width,
                             knot_width + PCF_SPAN_SUM_BITS, err));
        if (i < count)
            sum += s->widths[i];
    }
    *size = ((count + 1) * (knot_width + PCF_SPAN_SUM_BITS) + 7) / 8 + sum * (PCF_SPAN_ROWS / 8);
    return pci_bits_align(bits, err);
}

static pcol_status put_spans(struct pci_bits *bits, const struct pci_reader *block, void *context,
                             pcol_error *err)
{
    struct spans *s = context;
    struct pci_fit flat = pci_fit_block(block->values, block->n, s->type, 0);
    unsigned knot_width = pci_width_of(flat.range / s->scale);
    uint64_t size;
    units_of(block->values, block->n, (uint64_t)flat.base, s->scale, s->units);
    for (size_t row = 0; row < block->n; row += PCF_SPAN_ROWS)
        s->widths[row / PCF_SPAN_ROWS] = fit_span(s->units, block->n, row, s->residuals + row);
    s->all[s->count++] = (struct pcf_span_block){flat.base, (uint64_t)knot_width << 56 | s->offset};
    PCI_TRY(put_directory(bits, block, s, knot_width, &size, err));
    s->offset += size;
    for (size_t row = 0; row < block->n; row += PCF_SPAN_ROWS) {
        unsigned width = s->widths[row / PCF_SPAN_ROWS];
        for (size_t j = 0; j < PCF_SPAN_ROWS && width; j++) {
            uint64_t half = UINT64_C(1) << (width - 1);
            uint64_t u = row + j < block->n ? (uint64_t)s->residuals[row + j] + half : 0;
            PCI_TRY(pci_bits_put(bits, u, width, err));
        }
    }
    return pci_bits_align(bits, err);
}

pcol_status pci_emit_spans(struct pci_writer *writer, uint32_t column,
                           const struct pci_source *source, const struct pci_shape *shape,
                           pcol_error *err)
{
    struct pcf_column *c = &writer->columns[column];
    struct spans *s = pci_calloc(1, sizeof *s);
    pcol_status status;
    if (!s)
        return pci_fail_memory(err);
    c->encoding = PCF_SPANS;
    c->scale = s->scale = shape->scale;
    s->type = source->type;
    s->all = pci_malloc(shape->block_count + 1, sizeof *s->all);
    status =
        s->all ? pci_emit_blocks(writer, column, source, put_spans, s, err) : pci_fail_memory(err);
    if (status == PCOL_OK)
        status =
            pci_emit_array(writer, column, PCF_ROLE_BLOCKS, s->all, s->count * sizeof *s->all, err);
    pci_free(s->all);
    pci_free(s);
    return status;
}
