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

/* How many groups of `size` cover `count`; size > 0. */
static inline uint64_t pcf_ceil_div(uint64_t count, uint64_t size)
{
    return count / size + (count % size != 0);
}

#endif
