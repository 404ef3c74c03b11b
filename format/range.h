/*
 * range.h - the one place where offsets and counts are added and multiplied
 */
#ifndef PCF_RANGE_H
#define PCF_RANGE_H

#include <stdint.h>

/* 1 if `count` elements of `size` bytes at `offset` lie within `limit` bytes. Cannot overflow. */
static inline int pcf_range(uint64_t offset, uint64_t count, uint64_t size, uint64_t limit)
{
    return offset <= limit && (size == 0 || count <= (limit - offset) / size);
}

/* *product = a * b; 0 if it does not fit. */
static inline int pcf_multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* *sum = a + b; 0 if it does not fit. */
static inline int pcf_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/* Bytes that hold `bits` bits; bits <= 2^63. */
static inline uint64_t pcf_bytes_of_bits(uint64_t bits)
{
    return bits / 8 + (bits % 8 != 0);
}

/* Plausible row counts. Equal rows need hardly any bytes, so a hostile file of a few KB can claim
 * 2^48 of them. Writers stay within these limits, and readers that walk all rows check them first.
 * Samples of a program that waits are equal by the million, rows of other tables are not. */
#define PCF_FREE_ROWS (UINT64_C(1) << 24)
#define PCF_ROWS_PER_BYTE 8u
#define PCF_FREE_SAMPLES (UINT64_C(1) << 26)
#define PCF_SAMPLES_PER_BYTE (UINT64_C(1) << 14)
static inline int pcf_rows_plausible(uint64_t rows, uint64_t file_size)
{
    return rows <= PCF_FREE_ROWS || rows / PCF_ROWS_PER_BYTE <= file_size;
}
static inline int pcf_samples_plausible(uint64_t rows, uint64_t file_size)
{
    return rows <= PCF_FREE_SAMPLES || rows / PCF_SAMPLES_PER_BYTE <= file_size;
}

/* How many groups of `size` cover `count`; size > 0. */
static inline uint64_t pcf_ceil_div(uint64_t count, uint64_t size)
{
    return count / size + (count % size != 0);
}

#endif
