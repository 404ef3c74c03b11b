/*
 * structure.c - consistency of a column's directories (spec.md, "A reader MUST check")
 *
 * A row of an encoded column is found through a directory: cumulative counts of marked rows, block
 * offsets, run ends, byte offsets. Decoding checks that the row found exists; here the directory is
 * held against all that it indexes, so that no changed bit of it leads to another row's value.
 */
#include "format/structure.h"

#include "format/decode_masked.h"
#include "format/load.h"
#include "format/range.h"

#define BLOCK_OFFSET ((UINT64_C(1) << 56) - 1)
#define RUN_CHUNK 512u
#define MOST_NESTED_ENDS (UINT64_C(1) << 30)

/* Bits past the first `bits` of a bitmap, in its last byte. */
static int tail_is_zero(const uint8_t *bitmap, uint64_t bits)
{
    return bits % 8 == 0 || bitmap[bits / 8] >> (bits % 8) == 0;
}

static int all_zero(const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (bytes[i])
            return 0;
    }
    return 1;
}

/* Eight bytes of a bitmap of `bytes` bytes, or as many as there are. */
static uint64_t word_at(const uint8_t *bitmap, uint64_t at, uint64_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, bitmap + at, bytes - at < 8 ? (size_t)(bytes - at) : 8);
    return word;
}

/* Rank directory: each count is the number of bits set before it, the last one leads to as many as
 * the child has rows. */
static const char *marks_fault(const struct pcf_data *d, uint64_t *row)
{
    uint64_t set = 0;
    for (uint64_t first = 0; first < d->rows; first += PCF_RANK_ROWS) {
        uint64_t left = d->rows - first, n = left < PCF_RANK_ROWS ? left : PCF_RANK_ROWS;
        uint64_t bytes = pcf_bytes_of_bits(n);
        const uint8_t *marks = pcf_marks_of(d, first / PCF_RANK_ROWS);
        if (pcf_marks_before(d, first / PCF_RANK_ROWS) != set) {
            *row = first;
            return "the count of marks before the row is wrong";
        }
        for (uint64_t at = 0; at < bytes; at += 8)
            set += (uint64_t)pcf_popcount(word_at(marks, at, bytes));
        if (!tail_is_zero(marks, n))
            return "bits behind the last row's mark are not zero";
    }
    return set == d->child[0]->rows ? NULL : "the marked rows are not as many as their values";
}

static uint64_t block_bits(const struct pcf_data *d, uint64_t block, uint64_t *used)
{
    const uint8_t *at = d->blocks + block * sizeof(struct pcf_block);
    uint64_t bits = pcf_load64(at + offsetof(struct pcf_block, bits));
    uint64_t left = d->rows - block * PCF_BLOCK_ROWS;
    *used = (left < PCF_BLOCK_ROWS ? left : PCF_BLOCK_ROWS) * (bits >> 56);
    return bits & BLOCK_OFFSET;
}

int pcf_block_tail_is_zero(const struct pcf_data *d, uint64_t block)
{
    uint64_t used, offset = block_bits(d, block, &used);
    return !pcf_range(offset, pcf_bytes_of_bits(used), 1, d->values_size) ||
           tail_is_zero(d->values + offset, used);
}

/* Block directory: blocks follow each other without gaps and fill the values. */
static const char *blocks_fault(const struct pcf_data *d, uint64_t *row)
{
    uint64_t expected = 0, used;
    for (uint64_t block = 0; block < pcf_ceil_div(d->rows, PCF_BLOCK_ROWS); block++) {
        uint64_t offset = block_bits(d, block, &used);
        if (offset != expected ||
            !pcf_range(expected, pcf_bytes_of_bits(used) + PCF_PACK_PADDING, 1, d->values_size)) {
            *row = block * PCF_BLOCK_ROWS;
            return "the block does not begin where the one before ends";
        }
        expected += pcf_bytes_of_bits(used);
    }
    return expected + PCF_PACK_PADDING == d->values_size &&
                   all_zero(d->values + expected, PCF_PACK_PADDING)
               ? NULL
               : "the values do not end in 8 zero bytes";
}

static const char *packed_fault(const struct pcf_data *d)
{
    uint64_t bits = d->rows * d->width, bytes = pcf_bytes_of_bits(bits);
    return tail_is_zero(d->values, bits) && all_zero(d->values + bytes, d->values_size - bytes)
               ? NULL
               : "bits behind the last value are not zero";
}

/* Strictly ascending values of a LINEAR column, by its two ends. */
static int linear_rises(const struct pcf_data *ends, uint64_t last)
{
    uint64_t rise;
    return ends->rows == 1 ||
           (ends->step > 0 && pcf_multiply((uint64_t)ends->step, ends->rows - 1, &rise) &&
            last > rise && last - rise == (uint64_t)ends->base);
}

/* Run ends: strictly ascending from more than 0 to the number of rows. Those that take no bytes are
 * bounded, so that the pass is. */
static const char *ends_fault(const struct pcf_data *d, uint64_t *row)
{
    const struct pcf_data *ends = d->child[0];
    uint64_t before = 0, n;
    if (ends->encoding == PCF_LINEAR)
        return pcf_linear_at(ends, ends->rows - 1) == d->rows && linear_rises(ends, d->rows)
                   ? NULL
                   : "the run ends do not rise to the number of rows";
    if (ends->encoding > PCF_BLOCKED && ends->rows > MOST_NESTED_ENDS)
        return "the run ends are more than can be checked";
    for (uint64_t run = 0; run < ends->rows; run += n) {
        int64_t values[RUN_CHUNK];
        n = ends->rows - run < RUN_CHUNK ? ends->rows - run : RUN_CHUNK;
        *row = before;
        if (pcf_read(ends, run, n, values, NULL) != PCF_OK)
            return "the run ends cannot be read";
        for (uint64_t i = 0; i < n; before = (uint64_t)values[i++]) {
            *row = before;
            if ((uint64_t)values[i] <= before)
                return "the end of the run does not rise";
        }
    }
    *row = UINT64_MAX;
    return before == d->rows ? NULL : "the last run does not end at the last row";
}

/* Byte offsets: from 0 to the size of the data, none less than the one before. Those that take no
 * bytes are bounded, so that the pass is. */
static const char *offsets_fault(const struct pcf_data *d, uint64_t *row)
{
    const struct pcf_data *offsets = d->child[0];
    static const char ends[] = "the offsets do not go from 0 to the size of the data";
    uint64_t before = 0, n, rise;
    if (offsets->encoding == PCF_LINEAR)
        return offsets->base == 0 && offsets->step >= 0 &&
                       pcf_multiply((uint64_t)offsets->step, d->rows, &rise) &&
                       rise == d->bytes_size
                   ? NULL
                   : ends;
    if (offsets->encoding > PCF_BLOCKED && offsets->rows > MOST_NESTED_ENDS)
        return "the offsets are more than can be checked";
    for (uint64_t at = 0; at < offsets->rows; at += n) {
        int64_t values[RUN_CHUNK];
        n = offsets->rows - at < RUN_CHUNK ? offsets->rows - at : RUN_CHUNK;
        if (pcf_read(offsets, at, n, values, NULL) != PCF_OK)
            return "the offsets cannot be read";
        if (at == 0 && values[0])
            return ends;
        for (uint64_t i = 0; i < n; before = (uint64_t)values[i++]) {
            if ((uint64_t)values[i] >= before && (uint64_t)values[i] <= d->bytes_size)
                continue;
            *row = at + i - 1;
            return "byte offsets fall or leave the data";
        }
    }
    return before == d->bytes_size ? NULL : ends;
}

const char *pcf_structure_fault(const struct pcf_data *d, uint64_t *row)
{
    *row = UINT64_MAX;
    if (d->rows == 0)
        return NULL;
    if (d->validity && !tail_is_zero(d->validity, d->rows))
        return "bits behind the last row's validity are not zero";
    switch ((enum pcf_encoding)d->encoding) {
    case PCF_SPARSE:
    case PCF_CHAIN:
    case PCF_DELTAS:
    case PCF_SPLIT:
    case PCF_TREE:
        return marks_fault(d, row);
    case PCF_BLOCKED:
        return blocks_fault(d, row);
    case PCF_PACKED:
        return packed_fault(d);
    case PCF_RUNS:
        return ends_fault(d, row);
    case PCF_FRONT:
        return offsets_fault(d, row);
    case PCF_PLAIN:
        if (d->type == PCF_BYTES)
            return offsets_fault(d, row);
        return d->type != PCF_BOOL || tail_is_zero(d->values, d->rows)
                   ? NULL
                   : "bits behind the last value are not zero";
    case PCF_LINEAR:
    case PCF_DICTIONARY:
        return NULL;
    }
    return NULL;
}
