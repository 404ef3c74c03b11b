/*
 * decode.c - one cell and many cells out of a column's sections
 *
 * A single cell is a few loads. A run of cells is decoded by blocks of 1024 rows, one tight loop for
 * each shape of bits. The sizes of sections were checked at open (index.c); what stands inside them
 * - block directories, ranks, run ends, offsets - is checked here at each use, on the loaded value.
 * PACKED and BLOCKED values are followed by 8 bytes, so a 64-bit load may start at any of their bits.
 */
#include "decode.h"

#include "load.h"
#include "range.h"

#include <string.h>

#define RUN_CHUNK 128u
#define WORDS (PCF_RANK_ROWS / 64)
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
        return "rank directory disagrees with the bitmap or the number of values";
    case PCF_BAD_RUN:
        return "run ends do not rise to the number of rows";
    case PCF_BAD_OFFSET:
        return "byte offsets fall or leave the data";
    case PCF_BAD_VALUE:
        return "value is out of the range of its type";
    }
    return "unknown fault";
}

static inline int bit_at(const uint8_t *bits, uint64_t i)
{
    return bits[i >> 3] >> (i & 7) & 1;
}

/* Bits of a PACKED or BLOCKED value; width 1 to 57, or 64, where every value starts at a byte. */
static inline uint64_t bits_at(const uint8_t *values, uint64_t bit, unsigned width)
{
    return pcf_load64(values + (bit >> 3)) >> (bit & 7) & UINT64_MAX >> (64 - width);
}

static inline uint64_t linear_at(const struct pcf_data *d, uint64_t row)
{
    return (uint64_t)d->base + (uint64_t)d->step * row;
}

/* Product modulo 2^64, shifted arithmetically. */
static inline uint64_t slope_at(int64_t slope, uint64_t j)
{
    return (uint64_t)((int64_t)((uint64_t)slope * j) >> PCF_SLOPE_SHIFT);
}

static inline int popcount(uint64_t x)
{
#if defined(__POPCNT__)
    return __builtin_popcountll(x);
#else
    /* Without the instruction the builtin calls a function; this is twice as fast. */
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)(x * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* ---- plain */

static inline int64_t plain_at(const struct pcf_data *d, uint64_t row)
{
    switch (d->type) {
    case PCF_BOOL:
        return bit_at(d->values, row);
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
            values[i] = bit_at(d->values, row + i);
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

/* ---- linear, packed, blocked */

static void read_linear(const struct pcf_data *d, uint64_t row, uint64_t count, int64_t *values)
{
    uint64_t next = linear_at(d, row);
    for (uint64_t i = 0; i < count; i++, next += (uint64_t)d->step)
        values[i] = (int64_t)next;
}

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
        for (uint64_t i = 0; i < count; i++, bit += width, start += step)
            values[i] = (int64_t)(start + scale * bits_at(bits, bit, width));
    }
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
        v += d->scale * bits_at(b.bits, j * b.width, b.width);
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

/* ---- sparse */

/* Word w of the bitmap; the last one may be shorter than 8 bytes, and its spare bits do not count. */
static inline uint64_t bitmap_word(const struct pcf_data *d, uint64_t w)
{
    uint64_t left = d->rows - w * 64;
    if (left >= 64)
        return pcf_load64(d->bitmap + 8 * w);
    uint64_t word = 0;
    memcpy(&word, d->bitmap + 8 * w, (size_t)pcf_bytes_of_bits(left));
    return word & (UINT64_MAX >> (64 - left));
}

/* Row of the child that holds a marked row's value; 0 if the directory is wrong. */
static inline int sparse_rank(const struct pcf_data *d, uint64_t row, uint64_t *rank)
{
    uint64_t end = row / 64, limit = d->child[0]->rows;
    uint64_t r = pcf_load64(d->rank + row / PCF_RANK_ROWS * 8);
    if (r > limit)
        return 0;
    for (uint64_t w = row / PCF_RANK_ROWS * WORDS; w < end; w++)
        r += (uint64_t)popcount(pcf_load64(d->bitmap + 8 * w));
    r += (uint64_t)popcount(bitmap_word(d, end) & ((UINT64_C(1) << row % 64) - 1));
    *rank = r;
    return r < limit;
}

/* Bits of rows first..end of a rank block in words, and how many there are before and within. */
static void sparse_words(const struct pcf_data *d, uint64_t block, uint64_t first, uint64_t end,
                         uint64_t *words, uint64_t *before, uint64_t *within)
{
    for (uint64_t w = 0; w < WORDS; w++) {
        uint64_t lo = w * 64;
        words[w] = 0;
        if (lo >= end)
            continue;
        uint64_t word = bitmap_word(d, block * WORDS + w);
        uint64_t low = first <= lo        ? 0
                       : first - lo >= 64 ? UINT64_MAX
                                          : (UINT64_C(1) << (first - lo)) - 1;
        *before += (uint64_t)popcount(word & low);
        words[w] = word & ~low;
        if (end - lo < 64)
            words[w] &= (UINT64_C(1) << (end - lo)) - 1;
        *within += (uint64_t)popcount(words[w]);
    }
}

/* Put the values of a rank block's marked rows, which are as many as bits are set, in their places;
 * row `first` of the block goes to values[0]. */
static void sparse_scatter(const uint64_t *words, uint64_t first, const int64_t *marked,
                           uint64_t count, int64_t *values, uint8_t *valid)
{
    uint64_t word = words[0];
    for (uint64_t k = 0, w = 0; k < count; k++, word &= word - 1) {
        while (!word)
            word = words[++w];
        uint64_t i = w * 64 + (uint64_t)__builtin_ctzll(word) - first;
        values[i] = marked[k];
        if (valid)
            valid[i] = 1;
    }
}

static enum pcf_result read_sparse(const struct pcf_data *d, uint64_t row, uint64_t count,
                                   int64_t *values, uint8_t *valid)
{
    int null = (d->flags & PCF_COLUMN_DEFAULT_NULL) != 0;
    int64_t marked[PCF_RANK_ROWS];
    uint64_t words[WORDS], expected = 0;
    for (int later = 0; count; later = 1) {
        uint64_t block = row / PCF_RANK_ROWS, first = row % PCF_RANK_ROWS;
        uint64_t n = PCF_RANK_ROWS - first < count ? PCF_RANK_ROWS - first : count;
        uint64_t rank = pcf_load64(d->rank + 8 * block), within = 0;
        if (rank > d->child[0]->rows || (later && rank != expected))
            return PCF_BAD_RANK;
        sparse_words(d, block, first, first + n, words, &rank, &within);
        if (!pcf_range(rank, within, 1, d->child[0]->rows))
            return PCF_BAD_RANK;
        enum pcf_result result = pcf_read(d->child[0], rank, within, marked, NULL);
        if (result != PCF_OK)
            return result;
        expected = rank + within;
        if (null)
            memset(values, 0, (size_t)n * sizeof *values);
        else
            read_linear(d, row, n, values);
        if (valid)
            memset(valid, !null, (size_t)n);
        sparse_scatter(words, first, marked, within, values, valid);
        row += n;
        count -= n;
        values += n;
        if (valid)
            valid += n;
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
            int bit = bit_at(bits, r);
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
    if ((d->validity && !bit_at(d->validity, row)) || all_null(d))
        return PCF_OK;
    enum pcf_result result;
    uint64_t at = 0;
    switch ((enum pcf_encoding)d->encoding) {
    case PCF_PLAIN:
        *value = plain_at(d, row);
        break;
    case PCF_LINEAR:
        *value = (int64_t)linear_at(d, row);
        break;
    case PCF_PACKED:
        *value =
            (int64_t)(linear_at(d, row) + d->scale * bits_at(d->values, row * d->width, d->width));
        break;
    case PCF_BLOCKED:
        if ((result = blocked_at(d, row, value)) != PCF_OK)
            return result;
        break;
    case PCF_SPARSE:
        if (bit_at(d->bitmap, row))
            return sparse_rank(d, row, &at) ? pcf_get(d->child[0], at, value, valid) : PCF_BAD_RANK;
        if (d->flags & PCF_COLUMN_DEFAULT_NULL)
            return PCF_OK;
        *value = (int64_t)linear_at(d, row);
        break;
    case PCF_RUNS:
        if ((result = find_run(d, row, &at)) != PCF_OK)
            return result;
        return pcf_get(d->child[1], at, value, valid);
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
        read_linear(d, row, count, values);
        break;
    case PCF_PACKED: {
        struct packed p = {d->values,         row * d->width, linear_at(d, row),
                           (uint64_t)d->step, d->scale,       d->width};
        read_packed(&p, count, values);
        break;
    }
    case PCF_BLOCKED:
        result = read_blocked(d, row, count, values);
        break;
    case PCF_SPARSE:
        result = read_sparse(d, row, count, values, valid);
        break;
    case PCF_RUNS:
        result = read_runs(d, row, count, values);
        break;
    default:
        return PCF_BAD_ROW;
    }
    if (result != PCF_OK)
        return result;
    if (d->validity)
        read_validity(d->validity, row, count, values, valid);
    else if (valid && d->encoding != PCF_SPARSE)
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
    if ((d->validity && !bit_at(d->validity, row)) || all_null(d))
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
