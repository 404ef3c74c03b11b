/*
 * spans.c - SPANS: values near a line that bends every 16 rows
 *
 * A block of 1024 rows has up to 64 spans. In front of the block's residuals stands a directory, an
 * entry for each span and one behind the last: the knot that the span's line starts from, and the
 * widths of the spans before it added up, which say where its residuals begin and how wide they are:
 *
 *     base | knot 0, 0 | knot 1, w0 | knot 2, w0 + w1 | ... || 16 residuals of w0 bits | 16 of w1 ...
 *
 * Heap sizes and clocks move by steps of a size that changes slowly: a step takes fewer bits than a
 * value, and any row is still three loads away.
 */
#include "spans.h"

#include "marked.h"
#include "range.h"

#define OFFSET_MASK ((UINT64_C(1) << 56) - 1)

struct block {
    const uint8_t *bits;      /* directory */
    const uint8_t *residuals; /* behind it */
    uint64_t base, size;      /* bytes of directory and residuals that are in the section */
    unsigned knot_width, entry_width;
};

/* Load block number k < ceil(rows / 1024); 0 if its directory is not in the section. */
static inline int load_block(const struct pcf_data *d, uint64_t k, struct block *b)
{
    const uint8_t *at = d->blocks + k * sizeof(struct pcf_span_block);
    uint64_t left = d->rows - (k << PCF_BLOCK_SHIFT);
    uint64_t rows = left < PCF_BLOCK_ROWS ? left : PCF_BLOCK_ROWS;
    uint64_t where = pcf_load64(at + offsetof(struct pcf_span_block, bits));
    uint64_t offset = where & OFFSET_MASK, directory;
    b->base = pcf_load64(at + offsetof(struct pcf_span_block, base));
    b->knot_width = (unsigned)(where >> 56);
    if (b->knot_width > PCF_MAX_KNOT_WIDTH)
        return 0;
    b->entry_width = b->knot_width + PCF_SPAN_SUM_BITS;
    directory = pcf_bytes_of_bits((pcf_ceil_div(rows, PCF_SPAN_ROWS) + 1) * b->entry_width);
    if (!pcf_range(offset, directory + PCF_PACK_PADDING, 1, d->values_size))
        return 0;
    b->bits = d->values + offset;
    b->residuals = b->bits + directory;
    b->size = d->values_size - PCF_PACK_PADDING - offset - directory;
    return 1;
}

struct span {
    const uint8_t *bits;
    int64_t start, rise; /* the line, in units of scale; rise is over 16 rows */
    unsigned width;
};

/* Load a span of a block; 0 if its width or place is wrong. */
static inline int load_span(const struct block *b, uint64_t number, struct span *s)
{
    uint64_t mask = (UINT64_C(1) << b->knot_width) - 1;
    uint64_t bit = number * b->entry_width;
    uint64_t entry = pcf_bits_at(b->bits, bit, b->entry_width);
    uint64_t next = pcf_bits_at(b->bits, bit + b->entry_width, b->entry_width);
    uint64_t sum = entry >> b->knot_width, end = next >> b->knot_width;
    if (end < sum || end - sum > PCF_MAX_PACKED_WIDTH || end * (PCF_SPAN_ROWS / 8) > b->size)
        return 0;
    s->width = (unsigned)(end - sum);
    s->bits = b->residuals + sum * (PCF_SPAN_ROWS / 8);
    s->start = (int64_t)(entry & mask);
    s->rise = (int64_t)(next & mask) - s->start;
    if (s->width)
        s->start -= INT64_C(1) << (s->width - 1);
    return 1;
}

static inline uint64_t line_at(const struct span *s, uint64_t j)
{
    return (uint64_t)(s->start + ((s->rise * (int64_t)j) >> PCF_SPAN_SHIFT));
}

enum pcf_result pcf_spans_at(const struct pcf_data *d, uint64_t row, int64_t *value)
{
    struct block b;
    struct span s;
    uint64_t j = row % PCF_SPAN_ROWS, x;
    if (!load_block(d, row >> PCF_BLOCK_SHIFT, &b) ||
        !load_span(&b, row % PCF_BLOCK_ROWS / PCF_SPAN_ROWS, &s))
        return PCF_BAD_BLOCK;
    x = line_at(&s, j);
    if (s.width)
        x += pcf_bits_at(s.bits, j * s.width, s.width);
    *value = (int64_t)(b.base + d->scale * x);
    return PCF_OK;
}

enum pcf_result pcf_read_spans(const struct pcf_data *d, uint64_t row, uint64_t count,
                               int64_t *values)
{
    uint64_t end = row + count, first = 1;
    struct block b;
    while (row < end) {
        struct span s;
        uint64_t j = row % PCF_SPAN_ROWS, left = end - row;
        uint64_t stop = PCF_SPAN_ROWS - j < left ? PCF_SPAN_ROWS : j + left;
        if ((first || row % PCF_BLOCK_ROWS == 0) && !load_block(d, row >> PCF_BLOCK_SHIFT, &b))
            return PCF_BAD_BLOCK;
        first = 0;
        if (!load_span(&b, row % PCF_BLOCK_ROWS / PCF_SPAN_ROWS, &s))
            return PCF_BAD_BLOCK;
        row += stop - j;
        if (s.width) {
            for (; j < stop; j++)
                *values++ =
                    (int64_t)(b.base + d->scale * (line_at(&s, j) +
                                                   pcf_bits_at(s.bits, j * s.width, s.width)));
        } else {
            for (; j < stop; j++)
                *values++ = (int64_t)(b.base + d->scale * line_at(&s, j));
        }
    }
    return PCF_OK;
}

int pcf_span_block(const struct pcf_data *d, uint64_t k, struct pcf_span_use *use)
{
    uint64_t left = d->rows - (k << PCF_BLOCK_SHIFT);
    uint64_t rows = left < PCF_BLOCK_ROWS ? left : PCF_BLOCK_ROWS;
    uint64_t spans = pcf_ceil_div(rows, PCF_SPAN_ROWS);
    struct block b;
    struct span s = {0};
    if (!load_block(d, k, &b))
        return 0;
    if (pcf_bits_at(b.bits, b.knot_width, PCF_SPAN_SUM_BITS) != 0)
        return 0;
    for (uint64_t i = 0; i < spans; i++) {
        if (!load_span(&b, i, &s))
            return 0;
    }
    use->offset = (uint64_t)(b.bits - d->values);
    use->directory_bits = (spans + 1) * b.entry_width;
    use->residuals = (uint64_t)(b.residuals - d->values);
    use->end = (uint64_t)(s.bits - d->values) + s.width * (PCF_SPAN_ROWS / 8);
    /* The last span may have fewer than 16 rows. */
    use->used_bits =
        (uint64_t)(s.bits - b.residuals) * 8 + (rows - (spans - 1) * PCF_SPAN_ROWS) * s.width;
    return 1;
}
