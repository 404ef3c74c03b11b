/*
 * range.h - overflow-safe arithmetic on offsets and counts of a file, and plausible row counts
 */
#ifndef PCF_RANGE_H
#define PCF_RANGE_H

#include <stdint.h>
#include <string.h>

/* 1 if `count` elements of `size` bytes at `offset` end within `limit` bytes. Cannot overflow. */
static inline int pcf_range(uint64_t offset, uint64_t count, uint64_t size, uint64_t limit)
{
    return offset <= limit && (size == 0 || count <= (limit - offset) / size);
}

/* *product = a * b; 0 on overflow. */
static inline int pcf_multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* *sum = a + b; 0 on overflow. */
static inline int pcf_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/* Bytes needed for `bits` bits. */
static inline uint64_t pcf_bits_to_bytes(uint64_t bits)
{
    return bits / 8 + (bits % 8 != 0);
}

/* Plausible row counts. Equal rows take almost no bytes, so a hostile file of a few KB can declare
 * 2^48 rows. Writers stay within these limits; readers check them before a scan over all rows. The
 * limit for samples is higher: an idle program yields millions of equal samples. That for the
 * tables of call stacks is lower, as queries take 100 bytes of memory for a row; files of real
 * profiles have less than one of these rows for each byte. The values of all tables, rows times
 * columns, are limited together. */
#define PCF_FREE_ROWS (UINT64_C(1) << 22)
#define PCF_ROWS_PER_BYTE 8u
#define PCF_STACKS_PER_BYTE 2u
#define PCF_FREE_SAMPLES (UINT64_C(1) << 24)
#define PCF_SAMPLES_PER_BYTE (UINT64_C(1) << 8)
#define PCF_FREE_VALUES (UINT64_C(1) << 29)
#define PCF_VALUES_PER_BYTE (UINT64_C(1) << 10)
static inline int pcf_rows_plausible(uint64_t rows, uint64_t file_size)
{
    return rows <= PCF_FREE_ROWS || rows / PCF_ROWS_PER_BYTE <= file_size;
}
static inline int pcf_samples_plausible(uint64_t rows, uint64_t file_size)
{
    return rows <= PCF_FREE_SAMPLES || rows / PCF_SAMPLES_PER_BYTE <= file_size;
}
static inline int pcf_stacks_plausible(uint64_t rows, uint64_t file_size)
{
    return rows <= PCF_FREE_ROWS || rows / PCF_STACKS_PER_BYTE <= file_size;
}
/* The check for a table of that name. */
static inline int pcf_table_plausible(const char *name, size_t size, uint64_t rows,
                                      uint64_t file_size)
{
    static const struct {
        const char *name;
        int (*is_plausible)(uint64_t rows, uint64_t file_size);
    } tables[] = {{"samples", pcf_samples_plausible},
                  {"stacks", pcf_stacks_plausible},
                  {"location_groups", pcf_stacks_plausible},
                  {"locations", pcf_stacks_plausible},
                  {"functions", pcf_stacks_plausible}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strlen(tables[i].name) == size && !memcmp(tables[i].name, name, size))
            return tables[i].is_plausible(rows, file_size);
    return pcf_rows_plausible(rows, file_size);
}
static inline int pcf_values_plausible(uint64_t values, uint64_t file_size)
{
    return values <= PCF_FREE_VALUES || values / PCF_VALUES_PER_BYTE <= file_size;
}
/* *values += rows * columns, or the largest number. */
static inline void pcf_add_values(uint64_t *values, uint64_t rows, uint64_t columns)
{
    uint64_t product;
    if (__builtin_mul_overflow(rows, columns, &product) ||
        __builtin_add_overflow(*values, product, values))
        *values = UINT64_MAX;
}

/* count / size, rounded up; size > 0. */
static inline uint64_t pcf_ceil_div(uint64_t count, uint64_t size)
{
    return count / size + (count % size != 0);
}

#endif
