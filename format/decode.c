/*
 * decode.c - one cell and many cells out of a column's sections
 *
 * A single cell is a few loads. A run of cells is decoded by blocks of 1024 rows, one tight loop
 * for each shape of bits. The sizes of sections were checked at open (index.c); what stands inside
 * them (block directories, ranks, run ends, offsets) is checked here at each use, on the loaded
 * value.
 * PACKED and BLOCKED values are followed by 8 bytes, so a 64-bit load may start at any of their
 * bits.
 */
#include "format/decode.h"

#include "format/decode_masked.h"
#include "format/load.h"
#include "format/range.h"

#include <string.h>

#define RUN_CHUNK 128u
#define OFFSET_MASK ((UINT64_C(1) << 56) - 1)

const char *pcf_result_text(enum pcf_result result)
{
    switch (result) {
    case PCF_OK:
        return "no fault";
    case PCF_BAD_ROW:
        return "row lies beyond the end of the column";
    case PCF_BAD_BLOCK:
        return "block leaves the column's values";
    case PCF_BAD_RANK:
        return "counts of marks disagree with the marks or the number of values";
    case PCF_BAD_RUN:
        return "run ends do not rise to the number of rows";
    case PCF_BAD_OFFSET:
        return "byte offsets fall or leave the data";
    case PCF_BAD_CHAIN:
        return "value has no successor, or the first of 64 rows no value of its own";
    case PCF_BAD_SHARED:
        return "string shares more bytes than the one before has";
    case PCF_BAD_ORDER:
        return "the string does not come after the one before";
    case PCF_BAD_CODE:
        return "code lies beyond the dictionary";
    case PCF_BAD_TREE:
        return "steps up the tree leave the block or its root";
    case PCF_BAD_VALUE:
        return "value is out of the range of its type";
    }
    return "unknown fault";
}

/* Product modulo 2^64, shifted arithmetically. */
static inline uint64_t slope_at(int64_t slope, uint64_t j)
{
    return (uint64_t)((int64_t)((uint64_t)slope * j) >> PCF_SLOPE_SHIFT);
}

/* ---- plain */

static inline int64_t plain_at(const struct pcf_data *d, uint64_t row)
{
    switch (d->type) {
    case PCF_BOOL:
        return pcf_bit_at(d->values, row);
    case PCF_U32:
    case PCF_STRING:
        return (int64_t)pcf_load32(d->values + 4 * row);
    default:
        return (int64_t)pcf_load64(d->values + 8 * row);
    }
}

static void read_plain(const struct pcf_data *d, uint64_t row, uint64_t count,
                       int64_t *restrict values)
{
    switch (d->type) {
    case PCF_BOOL:
        for (uint64_t i = 0; i < count; i++)
            values[i] = pcf_bit_at(d->values, row + i);
        return;
    case PCF_U32:
    case PCF_STRING:
        for (uint64_t i = 0; i < count; i++)
            values[i] = (int64_t)pcf_load32(d->values + 4 * (row + i));
        return;
    default:
        memcpy(values, d->values + 8 * row, 8 * (size_t)count);
    }
}

/* ---- packed, blocked */

/* values[i] = start + step*i + scale*u[i], the u starting at a bit of `bits`. */
struct packed {
    const uint8_t *bits;
    uint64_t bit, start, step, scale;
    unsigned width;
};

#define READ_BYTEWISE(type, load)                                                         \
    do {                                                                                  \
        const uint8_t *at = p->bits + (p->bit >> 3);                                      \
        for (uint64_t i = 0; i < count; i++, start += step)                               \
            values[i] = (int64_t)(start + scale * (uint64_t)load(at + i * sizeof(type))); \
    } while (0)
#define LOAD8(at) (*(at))

static void read_packed(const struct packed *p, uint64_t count, int64_t *restrict values)
{
    const uint8_t *bits = p->bits;
    uint64_t bit = p->bit, start = p->start, step = p->step, scale = p->scale;
    unsigned width = p->width;
    switch (width) {
    case 8:
        READ_BYTEWISE(uint8_t, LOAD8);
        return;
    case 16:
        READ_BYTEWISE(uint16_t, pcf_load16);
        return;
    case 32:
        READ_BYTEWISE(uint32_t, pcf_load32);
        return;
    case 64:
        READ_BYTEWISE(uint64_t, pcf_load64);
        return;
    default:
        break;
    }
    uint64_t i = 0, mask = UINT64_MAX >> (64 - width);
    /* Four narrow values lie in one load, whatever bit of a byte the first one begins at. */
    for (; width <= 14 && i + 4 <= count; i += 4, bit += 4 * width) {
        uint64_t word = pcf_load64(bits + (bit >> 3)) >> (bit & 7);
        for (unsigned k = 0; k < 4; k++, word >>= width, start += step)
            values[i + k] = (int64_t)(start + scale * (word & mask));
    }
    for (; i < count; i++, bit += width, start += step)
        values[i] = (int64_t)(start + scale * pcf_bits_at(bits, bit, width));
}

struct block {
    const uint8_t *bits;
    uint64_t base;
    int64_t slope;
    unsigned width;
};

/* Load block number k < ceil(rows / 1024); 0 if its bits are not all in the section. */
static inline int block_load(const struct pcf_data *d, uint64_t k, struct block *b)
{
    const uint8_t *at = d->blocks + k * sizeof(struct pcf_block);
    uint64_t left = d->rows - (k << PCF_BLOCK_SHIFT);
    uint64_t rows = left < PCF_BLOCK_ROWS ? left : PCF_BLOCK_ROWS;
    uint64_t where = pcf_load64(at + offsetof(struct pcf_block, bits));
    uint64_t offset = where & OFFSET_MASK;
    b->base = pcf_load64(at + offsetof(struct pcf_block, base));
    b->slope = (int64_t)pcf_load64(at + offsetof(struct pcf_block, slope));
    b->width = (unsigned)(where >> 56);
    if (b->width > PCF_MAX_PACKED_WIDTH && b->width != 64)
        return 0;
    if (!pcf_range(offset, pcf_bytes_of_bits(rows * b->width) + PCF_PACK_PADDING, 1,
                   d->values_size))
        return 0;
    b->bits = d->values + offset;
    return 1;
}

static enum pcf_result blocked_at(const struct pcf_data *d, uint64_t row, int64_t *value)
{
    struct block b;
    uint64_t j = row & (PCF_BLOCK_ROWS - 1);
    if (!block_load(d, row >> PCF_BLOCK_SHIFT, &b))
        return PCF_BAD_BLOCK;
    uint64_t v = b.base + slope_at(b.slope, j);
    if (b.width)
        v += d->scale * pcf_bits_at(b.bits, j * b.width, b.width);
    *value = (int64_t)v;
    return PCF_OK;
}

static enum pcf_result read_blocked(const struct pcf_data *d, uint64_t row, uint64_t count,
                                    int64_t *values)
{
    while (count) {
        struct block b;
        uint64_t j = row & (PCF_BLOCK_ROWS - 1);
        uint64_t n = PCF_BLOCK_ROWS - j < count ? PCF_BLOCK_ROWS - j : count;
        if (!block_load(d, row >> PCF_BLOCK_SHIFT, &b))
            return PCF_BAD_BLOCK;
        if (b.width) {
            struct packed p = {b.bits, j * b.width, b.base, 0, d->scale, b.width};
            read_packed(&p, n, values);
        } else {
            for (uint64_t i = 0; i < n; i++)
                values[i] = (int64_t)b.base;
        }
        if (b.slope) {
            for (uint64_t i = 0; i < n; i++)
                values[i] = (int64_t)((uint64_t)values[i] + slope_at(b.slope, j + i));
        }
        row += n;
        count -= n;
        values += n;
    }
    return PCF_OK;
}

/* ---- runs */

/* The run that holds a row. Both neighbours of the place found have been looked at, so ends out of
 * order give an error or a run that does hold the row by its own end and the one before. */
static enum pcf_result find_run(const struct pcf_data *d, uint64_t row, uint64_t *run)
{
    const struct pcf_data *ends = d->child[0];
    uint64_t low = 0, high = ends->rows;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int64_t end;
        int valid;
        enum pcf_result result = pcf_get(ends, middle, &end, &valid);
        if (result != PCF_OK)
            return result;
        if ((uint64_t)end > d->rows)
            return PCF_BAD_RUN;
        if ((uint64_t)end > row)
            high = middle;
        else
            low = middle + 1;
    }
    *run = low;
    return low < ends->rows ? PCF_OK : PCF_BAD_RUN;
}

static enum pcf_result read_runs(const struct pcf_data *d, uint64_t row, uint64_t count,
                                 int64_t *values)
{
    int64_t ends[RUN_CHUNK], chunk[RUN_CHUNK];
    uint64_t run = 0;
    enum pcf_result result = find_run(d, row, &run);
    while (result == PCF_OK && count) {
        uint64_t n = d->child[0]->rows - run;
        n = n < RUN_CHUNK ? n : RUN_CHUNK;
        n = n < count ? n : count; /* every run has a row */
        if (n == 0)
            return PCF_BAD_RUN;
        if ((result = pcf_read(d->child[0], run, n, ends, NULL)) != PCF_OK ||
            (result = pcf_read(d->child[1], run, n, chunk, NULL)) != PCF_OK)
            return result;
        for (uint64_t i = 0; i < n && count; i++) {
            uint64_t end = (uint64_t)ends[i];
            if (end <= row || end > d->rows)
                return PCF_BAD_RUN;
            uint64_t rows = end - row < count ? end - row : count;
            for (uint64_t k = 0; k < rows; k++)
                values[k] = chunk[i];
            values += rows;
            row += rows;
            count -= rows;
        }
        run += n;
    }
    return result;
}

/* ---- nulls */

/* Eight bits to eight bytes 0 or 1, first bit first. */
static inline uint64_t spread(uint8_t bits)
{
    uint64_t x = (bits * UINT64_C(0x0101010101010101)) & UINT64_C(0x8040201008040201);
    return (x + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101);
}

/* Nulls out of the validity bitmap: a value that is null is 0. */
static void read_validity(const uint8_t *bits, uint64_t row, uint64_t count, int64_t *values,
                          uint8_t *valid)
{
    uint64_t i = 0;
    while (i < count) {
        uint64_t r = row + i;
        if (r % 8 == 0 && count - i >= 8) {
            uint8_t byte = bits[r / 8];
            if (valid) {
                uint64_t bytes = spread(byte);
                memcpy(valid + i, &bytes, 8);
            }
            if (byte != 0xff) {
                for (unsigned k = 0; k < 8; k++) {
                    if (!(byte >> k & 1))
                        values[i + k] = 0;
                }
            }
            i += 8;
        } else {
            int bit = pcf_bit_at(bits, r);
            if (valid)
                valid[i] = (uint8_t)bit;
            if (!bit)
                values[i] = 0;
            i++;
        }
    }
}

/* Whether every row is null because the column says nothing at all. */
static inline int all_null(const struct pcf_data *d)
{
    return d->encoding == PCF_LINEAR && (d->flags & PCF_COLUMN_DEFAULT_NULL);
}

/* Bits that no value of the column's type has. PLAIN cannot have them. */
static inline uint64_t foreign_bits(const struct pcf_data *d)
{
    if (d->type == PCF_U32 || d->type == PCF_STRING)
        return ~(uint64_t)UINT32_MAX;
    return d->type == PCF_BOOL ? ~UINT64_C(1) : 0;
}

static int all_fit(const struct pcf_data *d, uint64_t count, const int64_t *values)
{
    uint64_t foreign = foreign_bits(d), seen = 0;
    if (foreign == 0 || d->encoding == PCF_PLAIN)
        return 1;
    for (uint64_t i = 0; i < count; i++)
        seen |= (uint64_t)values[i];
    return !(seen & foreign);
}

/* ---- public */

enum pcf_result pcf_get(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid)
{
    *value = 0;
    *valid = 0;
    if (row >= d->rows || d->type == PCF_BYTES)
        return PCF_BAD_ROW;
    if ((d->validity && !pcf_bit_at(d->validity, row)) || all_null(d))
        return PCF_OK;
    enum pcf_result result;
    uint64_t at = 0;
    switch ((enum pcf_encoding)d->encoding) {
    case PCF_PLAIN:
        *value = plain_at(d, row);
        break;
    case PCF_LINEAR:
        *value = (int64_t)pcf_linear_at(d, row);
        break;
    case PCF_PACKED:
        *value = (int64_t)(pcf_linear_at(d, row) +
                           d->scale * pcf_bits_at(d->values, row * d->width, d->width));
        break;
    case PCF_BLOCKED:
        if ((result = blocked_at(d, row, value)) != PCF_OK)
            return result;
        break;
    case PCF_SPARSE:
        if (pcf_is_marked(d, row))
            return pcf_marked_rank(d, row, &at) ? pcf_get(d->child[0], at, value, valid)
                                                : PCF_BAD_RANK;
        if (d->flags & PCF_COLUMN_DEFAULT_NULL)
            return PCF_OK;
        *value = (int64_t)pcf_linear_at(d, row);
        break;
    case PCF_RUNS:
        if ((result = find_run(d, row, &at)) != PCF_OK)
            return result;
        return pcf_get(d->child[1], at, value, valid);
    case PCF_CHAIN:
    case PCF_DELTAS:
        if ((result = pcf_follow_at(d, row, value)) != PCF_OK)
            return result;
        break;
    case PCF_TREE:
        if ((result = pcf_tree_at(d, row, value)) != PCF_OK)
            return result;
        break;
    case PCF_SPLIT:
        if ((result = pcf_split_at(d, row, value)) != PCF_OK)
            return result;
        break;
    case PCF_DICTIONARY:
        return pcf_entry_at(d, row, value, valid);
    case PCF_FRONT: /* bytes */
    default:
        return PCF_BAD_ROW;
    }
    if ((uint64_t)*value & foreign_bits(d)) {
        *value = 0;
        return PCF_BAD_VALUE;
    }
    *valid = 1;
    return PCF_OK;
}

enum pcf_result pcf_read(const struct pcf_data *d, uint64_t row, uint64_t count, int64_t *values,
                         uint8_t *valid)
{
    enum pcf_result result = PCF_OK;
    if (!pcf_range(row, count, 1, d->rows) || (d->type == PCF_BYTES && count))
        return PCF_BAD_ROW;
    if (count == 0)
        return PCF_OK;
    if (all_null(d)) {
        memset(values, 0, (size_t)count * sizeof *values);
        if (valid)
            memset(valid, 0, (size_t)count);
        return PCF_OK;
    }
    switch ((enum pcf_encoding)d->encoding) {
    case PCF_PLAIN:
        read_plain(d, row, count, values);
        break;
    case PCF_LINEAR:
        pcf_read_linear(d, row, count, values);
        break;
    case PCF_PACKED: {
        struct packed p = {d->values,         row * d->width, pcf_linear_at(d, row),
                           (uint64_t)d->step, d->scale,       d->width};
        read_packed(&p, count, values);
        break;
    }
    case PCF_BLOCKED:
        result = read_blocked(d, row, count, values);
        break;
    case PCF_SPARSE:
        result = pcf_read_sparse(d, row, count, values, valid);
        break;
    case PCF_RUNS:
        result = read_runs(d, row, count, values);
        break;
    case PCF_CHAIN:
    case PCF_DELTAS:
        result = pcf_read_follow(d, row, count, values);
        break;
    case PCF_TREE:
        result = pcf_read_tree(d, row, count, values);
        break;
    case PCF_SPLIT:
        result = pcf_read_split(d, row, count, values);
        break;
    case PCF_DICTIONARY:
        result = pcf_read_entries(d, row, count, values, valid);
        break;
    case PCF_FRONT: /* bytes */
    default:
        return PCF_BAD_ROW;
    }
    if (result != PCF_OK)
        return result;
    if (d->validity)
        read_validity(d->validity, row, count, values, valid);
    else if (valid && d->encoding != PCF_SPARSE && d->encoding != PCF_DICTIONARY)
        memset(valid, 1, (size_t)count);
    return all_fit(d, count, values) ? PCF_OK : PCF_BAD_VALUE;
}

enum pcf_result pcf_get_bytes(const struct pcf_data *d, uint64_t row, const uint8_t **bytes,
                              uint64_t *size, int *valid)
{
    static const uint8_t nothing[1] = {0};
    int64_t begin, end;
    int is_valid;
    enum pcf_result result;
    *bytes = nothing;
    *size = 0;
    *valid = 0;
    if (row >= d->rows || d->type != PCF_BYTES)
        return PCF_BAD_ROW;
    if ((d->validity && !pcf_bit_at(d->validity, row)) || all_null(d))
        return PCF_OK;
    if (d->encoding != PCF_PLAIN)
        return PCF_BAD_ROW;
    if ((result = pcf_get(d->child[0], row, &begin, &is_valid)) != PCF_OK ||
        (result = pcf_get(d->child[0], row + 1, &end, &is_valid)) != PCF_OK)
        return result;
    if ((uint64_t)begin > (uint64_t)end || (uint64_t)end > d->bytes_size)
        return PCF_BAD_OFFSET;
    if (begin != end) {
        *bytes = d->bytes + begin;
        *size = (uint64_t)end - (uint64_t)begin;
    }
    *valid = 1;
    return PCF_OK;
}
