/*
 * decode_masked.h - inside of decode.c, split off for its size: columns of which marked rows have
 * values
 * of their own (SPARSE, CHAIN, DELTAS, SPLIT), and the few loads that all decoders share
 */
#ifndef PCF_DECODE_MASKED_H
#define PCF_DECODE_MASKED_H

#include "format/decode.h"
#include "format/load.h"

static inline int pcf_popcount(uint64_t x)
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

static inline int pcf_bit_at(const uint8_t *bits, uint64_t i)
{
    return bits[i >> 3] >> (i & 7) & 1;
}

/* Bits of a PACKED or BLOCKED value; width 1 to 57, or 64, where every value starts at a byte. */
static inline uint64_t pcf_bits_at(const uint8_t *values, uint64_t bit, unsigned width)
{
    return pcf_load64(values + (bit >> 3)) >> (bit & 7) & UINT64_MAX >> (64 - width);
}

static inline uint64_t pcf_linear_at(const struct pcf_data *d, uint64_t row)
{
    return (uint64_t)d->base + (uint64_t)d->step * row;
}

static inline void pcf_read_linear(const struct pcf_data *d, uint64_t row, uint64_t count,
                                   int64_t *values)
{
    uint64_t next = pcf_linear_at(d, row);
    for (uint64_t i = 0; i < count; i++, next += (uint64_t)d->step)
        values[i] = (int64_t)next;
}

/*
 * Marks: a bit for each row, and after every 1024 rows but the last ones a count of the marks so
 * far, so that what a row needs lies together.
 *
 *     128 bytes, rows 0 to 1023 | u64 | 128 bytes, rows 1024 to 2047 | u64 | ...
 */
#define PCF_MARKS_STRIDE (PCF_RANK_ROWS / 8 + 8)

static inline const uint8_t *pcf_marks_of(const struct pcf_data *d, uint64_t block)
{
    return d->marks + block * PCF_MARKS_STRIDE;
}

static inline uint64_t pcf_marks_before(const struct pcf_data *d, uint64_t block)
{
    return block ? pcf_load64(pcf_marks_of(d, block) - 8) : 0;
}

static inline int pcf_is_marked(const struct pcf_data *d, uint64_t row)
{
    return pcf_bit_at(pcf_marks_of(d, row / PCF_RANK_ROWS), row % PCF_RANK_ROWS);
}

/* Row of the child that holds a marked row's value; 0 if the directory is wrong. */
int pcf_marked_rank(const struct pcf_data *d, uint64_t row, uint64_t *rank);

/* As pcf_get() and pcf_read() of columns that are known to be SPARSE; the row is in range. */
enum pcf_result pcf_read_sparse(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values, uint8_t *valid);
/* The same of CHAIN and DELTAS, whose rows follow from the row before. */
enum pcf_result pcf_follow_at(const struct pcf_data *d, uint64_t row, int64_t *value);
enum pcf_result pcf_read_follow(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values);
/* The same of SPLIT. */
enum pcf_result pcf_split_at(const struct pcf_data *d, uint64_t row, int64_t *value);
enum pcf_result pcf_read_split(const struct pcf_data *d, uint64_t row, uint64_t count,
                               int64_t *values);

/* The same of DICTIONARY (dictionary.c). */
enum pcf_result pcf_entry_at(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid);
enum pcf_result pcf_read_entries(const struct pcf_data *d, uint64_t row, uint64_t count,
                                 int64_t *values, uint8_t *valid);
/* The same of TREE (decode_tree.c). */
enum pcf_result pcf_tree_at(const struct pcf_data *d, uint64_t row, int64_t *value);
enum pcf_result pcf_read_tree(const struct pcf_data *d, uint64_t row, uint64_t count,
                              int64_t *values);

#endif
