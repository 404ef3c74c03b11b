/*
 * decode.c - decoders for cells and ranges of rows; plain, frame-of-reference and run-length
 * encodings (the others: decode_masked.c, decode_tree.c, dictionary.c)
 *
 * A cell takes a few loads; ranges are decoded in blocks of 1024 rows. Section sizes were validated
 * at open (index.c); block directories, ranks, run ends and offsets are validated here at each use.
 * Tests: tests/unit/test_decode.c, tests/format/columns.
 */
#include "format/decode.h"

#include "format/decode_masked.h"
#include "format/load.h"
#include "format/range.h"

#include <string.h>

#define RUN_CHUNK 128u
const char *pcf_result_text(enum pcf_result result)
{
    switch (result) {
    case PCF_OK:
        return "no error";
    case PCF_BAD_ROW:
        return "row is beyond the end of the column";
    case PCF_BAD_RANK:
        return "cumulative counts of marks contradict the marks or the number of values";
    case PCF_BAD_RUN:
        return "run ends do not ascend to the number of rows";
    case PCF_BAD_OFFSET:
        return "byte offsets descend or exceed the data";
    case PCF_BAD_CHAIN:
        return "value has no successor, or a row that is a multiple of 64 is not marked";
    case PCF_BAD_SHARED:
        return "string shares more bytes than the previous one has";
    case PCF_BAD_ORDER:
        return "string is not greater than the previous one";
    case PCF_BAD_CODE:
        return "code is beyond the dictionary";
    case PCF_BAD_TREE:
        return "steps up the tree leave the block or pass the root";
    case PCF_BAD_VALUE:
        return "value is out of the range of its type";
    }
    return "unknown error";
}

/* ---- plain */

static inline int64_t get_plain(const struct pcf_data *d, uint64_t row)
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

/* ---- packed: frame of reference with bit-packed residuals */

#define READ_BYTEWISE(type, load)                                                          \
    do {                                                                                   \
        const uint8_t *from = bits + (bit >> 3);                                           \
        for (uint64_t i = 0; i < count; i++)                                               \
            values[i] = (int64_t)(base + scale * (uint64_t)load(from + i * sizeof(type))); \
    } while (0)
#define LOAD8(from) (*(from))

/* values[i] = base + scale*u[row + i]. */
static void read_packed(const struct pcf_data *d, uint64_t row, uint64_t count,
                        int64_t *restrict values)
{
    const uint8_t *bits = d->values;
    uint64_t base = (uint64_t)d->base, scale = d->scale, bit = row * d->width;
    unsigned width = d->width;
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
    /* One load covers four values of at most 14 bits: 7 + 4 * 14 <= 64. */
    for (; width <= 14 && i + 4 <= count; i += 4, bit += 4 * width) {
        uint64_t word = pcf_load64(bits + (bit >> 3)) >> (bit & 7);
        for (unsigned k = 0; k < 4; k++, word >>= width)
            values[i + k] = (int64_t)(base + scale * (word & mask));
    }
    for (; i < count; i++, bit += width)
        values[i] = (int64_t)(base + scale * pcf_bits_at(bits, bit, width));
}

/* ---- runs */

/* The run that contains a row, by binary search. The search has compared the ends on both sides of
 * the result, so ends out of order yield an error or a run that contains the row by these two. */
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
        n = n < count ? n : count; /* every run has at least one row */
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

/* Eight bits to eight bytes 0 or 1, least significant bit first. */
static inline uint64_t expand_bits(uint8_t bits)
{
    uint64_t x = (bits * UINT64_C(0x0101010101010101)) & UINT64_C(0x8040201008040201);
    return (x + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101);
}

/* Sets `valid` from the validity bitmap and the values of null rows to 0. */
static void read_validity(const uint8_t *bits, uint64_t row, uint64_t count, int64_t *values,
                          uint8_t *valid)
{
    uint64_t i = 0;
    while (i < count) {
        uint64_t r = row + i;
        if (r % 8 == 0 && count - i >= 8) {
            uint8_t byte = bits[r / 8];
            if (valid) {
                uint64_t bytes = expand_bits(byte);
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

/* Whether the column has neither values nor a validity bitmap: every row is null. */
static inline int is_all_null(const struct pcf_data *d)
{
    return d->encoding == PCF_LINEAR && (d->flags & PCF_COLUMN_DEFAULT_NULL);
}

/* Bits that must be 0 in values of the column's type. */
static inline uint64_t invalid_bits(const struct pcf_data *d)
{
    if (d->type == PCF_U32 || d->type == PCF_STRING)
        return ~(uint64_t)UINT32_MAX;
    return d->type == PCF_BOOL ? ~UINT64_C(1) : 0;
}

/* Whether the parameters of PACKED allow only values of at most `most`. */
static int is_packed_below(const struct pcf_data *d, uint64_t most)
{
    uint64_t highest, mask = d->width ? UINT64_MAX >> (64 - d->width) : 0;
    return d->encoding == PCF_PACKED && (uint64_t)d->base <= most &&
           pcf_multiply(mask, d->scale, &highest) && highest <= most - (uint64_t)d->base;
}

static int are_in_range(const struct pcf_data *d, uint64_t count, const int64_t *values)
{
    uint64_t invalid = invalid_bits(d), seen = 0;
    if (invalid == 0 || d->encoding == PCF_PLAIN || is_packed_below(d, ~invalid))
        return 1; /* PLAIN has no spare bits */
    for (uint64_t i = 0; i < count; i++)
        seen |= (uint64_t)values[i];
    return !(seen & invalid);
}

/* ---- public */

enum pcf_result pcf_get(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid)
{
    *value = 0;
    *valid = 0;
    if (row >= d->rows || d->type == PCF_BYTES)
        return PCF_BAD_ROW;
    if ((d->validity && !pcf_bit_at(d->validity, row)) || is_all_null(d))
        return PCF_OK;
    enum pcf_result result;
    uint64_t child_row = 0;
    switch ((enum pcf_encoding)d->encoding) {
    case PCF_PLAIN:
        *value = get_plain(d, row);
        break;
    case PCF_LINEAR:
        *value = (int64_t)pcf_linear_at(d, row);
        break;
    case PCF_PACKED:
        *value = (int64_t)((uint64_t)d->base +
                           d->scale * pcf_bits_at(d->values, row * d->width, d->width));
        break;
    case PCF_SPARSE:
        if (pcf_is_marked(d, row))
            return pcf_marked_rank(d, row, &child_row)
                       ? pcf_get(d->child[0], child_row, value, valid)
                       : PCF_BAD_RANK;
        if (d->flags & PCF_COLUMN_DEFAULT_NULL)
            return PCF_OK;
        *value = (int64_t)pcf_linear_at(d, row);
        break;
    case PCF_RUNS:
        if ((result = find_run(d, row, &child_row)) != PCF_OK)
            return result;
        return pcf_get(d->child[1], child_row, value, valid);
    case PCF_CHAIN:
    case PCF_DELTAS:
        if ((result = pcf_get_sequential(d, row, value)) != PCF_OK)
            return result;
        break;
    case PCF_TREE:
        if ((result = pcf_get_tree(d, row, value)) != PCF_OK)
            return result;
        break;
    case PCF_SPLIT:
        if ((result = pcf_get_split(d, row, value)) != PCF_OK)
            return result;
        break;
    case PCF_DICTIONARY:
        return pcf_get_dictionary(d, row, value, valid);
    case PCF_FRONT: /* bytes */
    default:
        return PCF_BAD_ROW;
    }
    if ((uint64_t)*value & invalid_bits(d)) {
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
    if (is_all_null(d)) {
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
    case PCF_PACKED:
        read_packed(d, row, count, values);
        break;
    case PCF_SPARSE:
        result = pcf_read_sparse(d, row, count, values, valid);
        break;
    case PCF_RUNS:
        result = read_runs(d, row, count, values);
        break;
    case PCF_CHAIN:
    case PCF_DELTAS:
        result = pcf_read_sequential(d, row, count, values);
        break;
    case PCF_TREE:
        result = pcf_read_tree(d, row, count, values);
        break;
    case PCF_SPLIT:
        result = pcf_read_split(d, row, count, values);
        break;
    case PCF_DICTIONARY:
        result = pcf_read_dictionary(d, row, count, values, valid);
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
    return are_in_range(d, count, values) ? PCF_OK : PCF_BAD_VALUE;
}

enum pcf_result pcf_get_bytes(const struct pcf_data *d, uint64_t row, const uint8_t **bytes,
                              uint64_t *size, int *valid)
{
    static const uint8_t empty[1] = {0};
    int64_t begin, end;
    int is_valid;
    enum pcf_result result;
    *bytes = empty;
    *size = 0;
    *valid = 0;
    if (row >= d->rows || d->type != PCF_BYTES)
        return PCF_BAD_ROW;
    if ((d->validity && !pcf_bit_at(d->validity, row)) || is_all_null(d))
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
