/*
 * simd_kernels.h - data-parallel loops over arrays, compiled for AVX2 and for the baseline
 *
 * Loops without branches that the encoder runs over every value of every column. Results do not
 * depend on the processor. Arithmetic is modulo 2^64. Thread-safe. Tests:
 * tests/unit/test_simd_kernels.c.
 */
#ifndef PCI_UTIL_SIMD_KERNELS_H
#define PCI_UTIL_SIMD_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Tests: not 0 forces the baseline code. */
extern int pci_simd_force_baseline;

/* Statistics of a range of values in one pass. Values are compared as signed numbers after XOR with
 * `flip`; a delta is the difference to the previous value. */
struct pci_range_stats {
    uint64_t changes, steps; /* deltas other than 0; deltas of 1 */
    int64_t least, greatest;
    int64_t low, high; /* least and greatest delta */
};

/* Statistics of values [0, n) and of their n - 1 deltas; n is at least 2. */
void pci_simd_range_stats(const int64_t *values, size_t n, int64_t flip,
                          struct pci_range_stats *stats);
/* Least and greatest value; n is at least 1. */
void pci_simd_range(const int64_t *values, size_t n, int64_t flip, int64_t *least,
                    int64_t *greatest);
/* Whether all values equal `value`. */
int pci_simd_all_equal(const int64_t *values, size_t n, int64_t value);
/* Boyer-Moore majority vote over values[k] - base - step * k, in PCI_VOTERS independent lanes (k
 * modulo PCI_VOTERS). Of each lane: its candidate and the candidate's lead, an upper bound of its
 * surplus. */
#define PCI_VOTERS 8
void pci_simd_vote(const int64_t *values, size_t n, uint64_t base, uint64_t step,
                   int64_t *restrict candidates, int64_t *restrict leads);
/* Exact division by a constant of at least 1, by multiplication: a multiple shifted right by
 * `shift` and multiplied by `inverse` (modulo 2^64) is the quotient. With a rotation instead of the
 * shift, the product is at most `most` exactly for multiples. */
struct pci_divisor {
    uint64_t inverse, most;
    unsigned shift;
};
struct pci_divisor pci_divisor_init(uint64_t number);
/* Whether all values[k] - base are multiples of the divisor. */
int pci_simd_all_multiples(const int64_t *values, size_t n, uint64_t base,
                           const struct pci_divisor *divisor);
/* Replace multiples of the divisor by their quotients. */
void pci_simd_divide_exact(uint64_t *numbers, size_t n, const struct pci_divisor *divisor);
/* codes[k] for k from 1, n at most 1024: bit length of delta k (zigzag without its sign bit), plus
 * 64 if it is negative. Exact for deltas within +-2^51. */
void pci_simd_delta_bits(const int64_t *values, size_t n, uint64_t *restrict codes);
/* marks[k] for k from 1: 1 if delta k - low exceeds `most` as an unsigned number, else 0. */
void pci_simd_mark_deltas(const int64_t *values, size_t n, uint64_t low, uint64_t most,
                          uint8_t *restrict marks);
/* marks[k]: 1 if values[k] != base + step * k, else 0. */
void pci_simd_mark_off_line(const int64_t *values, size_t n, uint64_t base, uint64_t step,
                            uint8_t *restrict marks);
/* values[k] = table[numbers[k]]; numbers are below the table's size. `values` may be `numbers`. */
void pci_simd_gather(const uint32_t *table, const int64_t *numbers, size_t n, int64_t *values);
/* Milliseconds as doubles (their bits), within +-2e9: converted to nanoseconds, rounded half away
 * from 0, and the distance of each double from ns / 1e6 in units in the last place. */
void pci_simd_ms_to_ns(const int64_t *bits, size_t n, int64_t *restrict ns, int64_t *restrict ulps);
/* Whether all doubles are within +-most; false for NaN. */
int pci_simd_all_within(const int64_t *bits, size_t n, double most);
/* Whether a value exceeds `most`, below 2^63, as unsigned numbers. */
int pci_simd_any_above(const int64_t *values, size_t n, uint64_t most);
/* Bitwise or of all values. */
int64_t pci_simd_or(const int64_t *values, size_t n);
/* products[k] = values[k] * factor. */
void pci_simd_multiply(const int64_t *values, size_t n, int64_t factor, int64_t *restrict products);
/* Sign-extend values of four bytes at any alignment. */
void pci_simd_widen(const uint8_t *from, size_t n, int64_t *restrict values);
void pci_simd_widen_u32(const uint32_t *from, size_t n, int64_t *restrict values);
/* Convert to int32 in `narrow`; false if any value does not fit. */
int pci_simd_narrow(const int64_t *values, size_t n, int32_t *restrict narrow);
/* numbers[k] = values[k] - base in 32 bits; values[k] = base + numbers[k]. */
void pci_simd_subtract_u32(const int64_t *values, size_t n, uint64_t base,
                           uint32_t *restrict numbers);
void pci_simd_add_u32(const uint32_t *numbers, size_t n, uint64_t base, int64_t *restrict values);
/* numbers[k] = values[k] - base. */
void pci_simd_subtract(const int64_t *values, size_t n, uint64_t base, uint64_t *restrict numbers);
/* Pack pairs of numbers of `width` bits, at most 32, into one of twice the width, the first in the
 * low bits; n is even. */
void pci_simd_pack_pairs(const uint64_t *numbers, size_t n, unsigned width,
                         uint64_t *restrict pairs);

#endif
