/*
 * structure.c - validation of a column's directories (spec.md, "A reader MUST check")
 *
 * Directories map a row to its data: cumulative counts of marks, run ends, byte offsets. Decoders
 * check that the result exists. This scan compares a directory with everything that it indexes, so
 * a flipped bit in it cannot yield the value of another row.
 * Tests: tests/unit/test_verify.c, tests/format/checksums.
 */
#include "format/structure.h"

#include "format/decode_masked.h"
#include "format/load.h"
#include "format/range.h"

#define CHUNK 512u
#define MAX_COMPRESSED_ENDS (UINT64_C(1) << 30) /* ends or offsets that may take no bytes */

/* Whether the unused bits of the last byte of a bitmap of `bits` bits are 0. */
static int is_tail_zero(const uint8_t *bitmap, uint64_t bits)
{
    return bits % 8 == 0 || bitmap[bits / 8] >> (bits % 8) == 0;
}

/* Rank directory: each count is the number of marks before it; their total is the child's rows. */
static const char *find_marks_fault(const struct pcf_data *d, uint64_t *row)
{
    uint64_t set = 0;
    for (uint64_t first = 0; first < d->rows; first += PCF_RANK_ROWS) {
        uint64_t left = d->rows - first, n = left < PCF_RANK_ROWS ? left : PCF_RANK_ROWS;
        const uint8_t *marks = pcf_marks_of(d, first / PCF_RANK_ROWS);
        if (pcf_marks_before(d, first / PCF_RANK_ROWS) != set) {
            *row = first;
            return "the count of marks before the row is wrong";
        }
        for (uint64_t i = 0; i < n; i += 64)
            set += (uint64_t)pcf_popcount(pcf_load_bits(marks + i / 8, n - i));
        if (!is_tail_zero(marks, n))
            return "bits after the last row's mark are not zero";
    }
    return set == d->child[0]->rows ? NULL : "number of marked rows differs from their values";
}

static const char *find_packed_fault(const struct pcf_data *d)
{
    uint64_t bits = d->rows * d->width, bytes = pcf_bits_to_bytes(bits);
    return is_tail_zero(d->values, bits) && pcf_is_zero(d->values + bytes, d->values_size - bytes)
               ? NULL
               : "bits after the last value are not zero";
}

/* Whether a LINEAR column ascends strictly, without overflow, to `last`. */
static int is_linear_ascending(const struct pcf_data *ends, uint64_t last)
{
    uint64_t rise;
    return ends->rows == 1 ||
           (ends->step > 0 && pcf_multiply((uint64_t)ends->step, ends->rows - 1, &rise) &&
            last > rise && last - rise == (uint64_t)ends->base);
}

/* Run ends: strictly ascending, the first above 0, the last equal to the rows. The number of run
 * ends that need no bytes is limited, to bound the time of the scan. */
static const char *find_ends_fault(const struct pcf_data *d, uint64_t *row)
{
    const struct pcf_data *ends = d->child[0];
    uint64_t previous = 0, n;
    if (ends->encoding == PCF_LINEAR)
        return pcf_linear_at(ends, ends->rows - 1) == d->rows && is_linear_ascending(ends, d->rows)
                   ? NULL
                   : "run ends do not ascend to the number of rows";
    if (ends->encoding > PCF_PACKED && ends->rows > MAX_COMPRESSED_ENDS)
        return "too many run ends to check";
    for (uint64_t run = 0; run < ends->rows; run += n) {
        int64_t values[CHUNK];
        n = ends->rows - run < CHUNK ? ends->rows - run : CHUNK;
        *row = previous;
        if (pcf_read(ends, run, n, values, NULL) != PCF_OK)
            return "run ends cannot be read";
        for (uint64_t i = 0; i < n; previous = (uint64_t)values[i++]) {
            *row = previous;
            if ((uint64_t)values[i] <= previous)
                return "end of the run does not ascend";
        }
    }
    *row = UINT64_MAX;
    return previous == d->rows ? NULL : "last run does not end at the last row";
}

/* Byte offsets: non-decreasing from 0 to the size of the data. The number of offsets that need no
 * bytes is limited, to bound the time of the scan. */
static const char *find_offsets_fault(const struct pcf_data *d, uint64_t *row)
{
    const struct pcf_data *offsets = d->child[0];
    static const char ends[] = "offsets do not go from 0 to the size of the data";
    uint64_t previous = 0, n, rise;
    if (offsets->encoding == PCF_LINEAR)
        return offsets->base == 0 && offsets->step >= 0 &&
                       pcf_multiply((uint64_t)offsets->step, d->rows, &rise) &&
                       rise == d->bytes_size
                   ? NULL
                   : ends;
    if (offsets->encoding > PCF_PACKED && offsets->rows > MAX_COMPRESSED_ENDS)
        return "too many offsets to check";
    for (uint64_t first = 0; first < offsets->rows; first += n) {
        int64_t values[CHUNK];
        n = offsets->rows - first < CHUNK ? offsets->rows - first : CHUNK;
        if (pcf_read(offsets, first, n, values, NULL) != PCF_OK)
            return "offsets cannot be read";
        if (first == 0 && values[0])
            return ends;
        for (uint64_t i = 0; i < n; previous = (uint64_t)values[i++]) {
            if ((uint64_t)values[i] >= previous && (uint64_t)values[i] <= d->bytes_size)
                continue;
            *row = first + i - 1;
            return "byte offsets descend or exceed the data";
        }
    }
    return previous == d->bytes_size ? NULL : ends;
}

const char *pcf_structure_fault(const struct pcf_data *d, uint64_t *row)
{
    *row = UINT64_MAX;
    if (d->rows == 0)
        return NULL;
    if (d->validity && !is_tail_zero(d->validity, d->rows))
        return "bits after the last row's validity are not zero";
    switch ((enum pcf_encoding)d->encoding) {
    case PCF_SPARSE:
    case PCF_CHAIN:
    case PCF_DELTAS:
    case PCF_SPLIT:
    case PCF_TREE:
        return find_marks_fault(d, row);
    case PCF_PACKED:
        return find_packed_fault(d);
    case PCF_RUNS:
        return find_ends_fault(d, row);
    case PCF_FRONT:
        return find_offsets_fault(d, row);
    case PCF_PLAIN:
        if (d->type == PCF_BYTES)
            return find_offsets_fault(d, row);
        return d->type != PCF_BOOL || is_tail_zero(d->values, d->rows)
                   ? NULL
                   : "bits after the last value are not zero";
    case PCF_LINEAR:
    case PCF_DICTIONARY:
        return NULL;
    }
    return NULL;
}
