/*
 * simd_kernels.h - loops over many values at once, the same for each of them
 *
 * What the encoder asks of every value of every column, kept apart as plain loops without branches,
 * so that the compiler makes vector code of them.
 */
#ifndef PCI_UTIL_SIMD_KERNELS_H
#define PCI_UTIL_SIMD_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Tests: not 0: as on a processor that has nothing beyond what all have. */
extern int pci_simd_plain;

/* What one pass over values finds. Values are compared as signed numbers once `flip` was applied to
 * them by exclusive or; rises are differences to the value before, modulo 2^64. */
struct pci_range_stats {
    uint64_t changes, steps; /* values that differ from the one before; by exactly 1 */
    int64_t least, greatest;
    int64_t low, high; /* least and greatest rise */
};

/* Values [1, n) against those before them; n is at least 2. */
void pci_simd_sweep(const int64_t *values, size_t n, int64_t flip, struct pci_range_stats *sweep);
/* Least and greatest value; n is at least 1. */
void pci_simd_range(const int64_t *values, size_t n, int64_t flip, int64_t *least,
                    int64_t *greatest);
/* Whether all are this one. */
int pci_simd_same(const int64_t *values, size_t n, int64_t value);
/* Votes (Boyer and Moore) of values less base + step * k, those of every eighth value apart: a
 * candidate of each, and by how much it leads at most: PCI_VOTERS of them. */
#define PCI_VOTERS 8
void pci_simd_vote(const int64_t *values, size_t n, uint64_t base, uint64_t step,
                   int64_t *restrict candidates, int64_t *restrict leads);
/* A divisor, at least 1, as what to multiply by: a multiple of it, shifted right and multiplied
 * modulo 2^64, is the quotient, and nothing but multiples becomes `most` or less (rotated
 * instead). */
struct pci_divisor {
    uint64_t inverse, most;
    unsigned shift;
};
struct pci_divisor pci_divisor_of(uint64_t number);
/* Whether all values are multiples of the divisor above `base`. */
int pci_simd_multiples(const int64_t *values, size_t n, uint64_t base,
                       const struct pci_divisor *divisor);
/* Multiples of the divisor become quotients. */
void pci_simd_divide(uint64_t *numbers, size_t n, const struct pci_divisor *divisor);
/* Least and greatest distance from the line of `slope` / 2^16 through the first value; 0 is among
 * them. */
void pci_simd_rests(const int64_t *values, size_t n, int64_t slope, int64_t *least,
                    int64_t *greatest);
/* By k, n at most 1024: the bits that rise k (from value k - 1 to k) takes, and 64 if it falls.
 * Exact for rises within +-2^51. code[0] stays. */
void pci_simd_rise_bits(const int64_t *values, size_t n, uint64_t *restrict codes);
/* By k from 1 on: 1 if rise k, less `low`, is more than `most` as an unsigned number. */
void pci_simd_far(const int64_t *values, size_t n, uint64_t low, uint64_t most,
                  uint8_t *restrict marks);
/* By k: 1 if the value is not base + step * k. */
void pci_simd_other(const int64_t *values, size_t n, uint64_t base, uint64_t step,
                    uint8_t *restrict marks);
/* The value that stands at numbers[k] of a table; each number is below the table's size. Values may
 * take the place of the numbers. */
void pci_simd_look(const uint32_t *table, const int64_t *numbers, size_t n, int64_t *values);
/* Milliseconds as doubles (their bits), within +-2e9, to nanoseconds, rounded to the nearest,
 * halves away from 0, and how many doubles each lies above ns / 1e6. */
void pci_simd_small_ms(const int64_t *bits, size_t n, int64_t *restrict ns, int64_t *restrict ulps);
/* Whether all doubles are within +-most. */
int pci_simd_within(const int64_t *bits, size_t n, double most);
/* All bits that any of them has. */
int64_t pci_simd_or(const int64_t *values, size_t n);
/* products[k] = values[k] * factor. */
void pci_simd_times(const int64_t *values, size_t n, int64_t factor, int64_t *restrict products);
/* Values of four bytes each, from wherever they lie. */
void pci_simd_widen(const uint8_t *from, size_t n, int64_t *restrict values);
void pci_simd_widen_u32(const uint32_t *from, size_t n, int64_t *restrict values);
/* Whether all fit an int32; then they are in `narrow`. */
int pci_simd_narrow(const int64_t *values, size_t n, int32_t *restrict narrow);
/* Values less a base, in four bytes, and back. */
void pci_simd_lower(const int64_t *values, size_t n, uint64_t base, uint32_t *restrict numbers);
void pci_simd_raise(const uint32_t *numbers, size_t n, uint64_t base, int64_t *restrict values);
/* numbers[k] = values[k] - base. */
void pci_simd_less(const int64_t *values, size_t n, uint64_t base, uint64_t *restrict numbers);
/* numbers[k] = values[k] - base - (slope * k >> 16). */
void pci_simd_less_line(const int64_t *values, size_t n, uint64_t base, int64_t slope,
                        uint64_t *restrict numbers);
/* Two numbers of `width` bits, at most 32, become one of twice as many, the first below; n is
 * even. */
void pci_simd_pair(const uint64_t *numbers, size_t n, unsigned width, uint64_t *restrict pairs);

#endif
