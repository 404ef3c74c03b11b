/*
 * decode_masked.h - internal interface of the decoders: bit access, rank directory of marks, and
 * one pair of get and read functions per encoding
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
    /* SWAR popcount: without the instruction the builtin is a function call and half as fast. */
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

/* Bits of a PACKED value; width 1 to 57, or 64 with `bit` a multiple of 8. */
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
 * Marks: a bit vector with an interleaved rank directory. After every 1024 rows except the last
 * block, a u64 with the number of marks so far; a lookup touches adjacent cache lines only.
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

/* *rank = number of marks before a marked row, which is its row in child 0. Returns 0 if the rank
 * directory is wrong. */
int pcf_marked_rank(const struct pcf_data *d, uint64_t row, uint64_t *rank);

/* pcf_get() and pcf_read() of one encoding; the column has it and the rows exist. SPARSE: */
enum pcf_result pcf_read_sparse(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values, uint8_t *valid);
/* CHAIN and DELTAS: an unmarked row is computed from the previous row. */
enum pcf_result pcf_get_sequential(const struct pcf_data *d, uint64_t row, int64_t *value);
enum pcf_result pcf_read_sequential(const struct pcf_data *d, uint64_t row, uint64_t count,
                                    int64_t *values);
/* SPLIT. */
enum pcf_result pcf_get_split(const struct pcf_data *d, uint64_t row, int64_t *value);
enum pcf_result pcf_read_split(const struct pcf_data *d, uint64_t row, uint64_t count,
                               int64_t *values);
/* DICTIONARY (dictionary.c). */
enum pcf_result pcf_get_dictionary(const struct pcf_data *d, uint64_t row, int64_t *value,
                                   int *valid);
enum pcf_result pcf_read_dictionary(const struct pcf_data *d, uint64_t row, uint64_t count,
                                    int64_t *values, uint8_t *valid);
/* TREE (decode_tree.c). */
enum pcf_result pcf_get_tree(const struct pcf_data *d, uint64_t row, int64_t *value);
enum pcf_result pcf_read_tree(const struct pcf_data *d, uint64_t row, uint64_t count,
                              int64_t *values);

#endif
