/*
 * simd_kernels.c - data-parallel loops, vectorized by the compiler (-O3, lib/rules.mk)
 *
 * Each loop is an inline function, compiled twice: for the baseline processor and for AVX2, which
 * handles four 64-bit values at a time. The choice is made at run time and affects nothing but
 * speed.
 */
#include "util/simd_kernels.h"

#include <string.h>

int pci_simd_force_baseline;

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <stdatomic.h>

/* __builtin_cpu_supports("avx2") on first use. The compiler's own detection runs at every start of
 * a program, which in a virtual machine takes as long as reading a small file. */
static int has_avx2(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return (low & 6) == 6 /* the system saves the XMM and YMM registers */
           && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}

enum { UNKNOWN, BASELINE, AVX2 };

static int use_avx2(void)
{
    static _Atomic int detected;
    int state = atomic_load_explicit(&detected, memory_order_relaxed);
    if (state == UNKNOWN) { /* two threads may both detect: the same result */
        state = has_avx2() ? AVX2 : BASELINE;
        atomic_store_explicit(&detected, state, memory_order_relaxed);
    }
    return state == AVX2 && !pci_simd_force_baseline;
}

#define USE_AVX2 use_avx2()
#define TARGET_AVX2 __attribute__((target("avx2")))
#else
#define USE_AVX2 0
#define TARGET_AVX2
#endif

#define INLINE static inline __attribute__((always_inline))

/* Define the function `head`, which calls body_NAME, compiled for the running processor. */
#define KERNEL(head, name, parameters, arguments)  \
    TARGET_AVX2 static void avx2_##name parameters \
    {                                              \
        body_##name arguments;                     \
    }                                              \
    static void baseline_##name parameters         \
    {                                              \
        body_##name arguments;                     \
    }                                              \
    head parameters                                \
    {                                              \
        if (USE_AVX2)                              \
            avx2_##name arguments;                 \
        else                                       \
            baseline_##name arguments;             \
    }

INLINE void body_range_stats(const int64_t *values, size_t n, int64_t flip,
                             struct pci_range_stats *stats)
{
    int64_t least = values[0] ^ flip, greatest = least, low = INT64_MAX, high = INT64_MIN;
    uint64_t changes = 0, steps = 0;
    for (size_t k = 1; k < n; k++) {
        int64_t value = values[k] ^ flip;
        int64_t delta = (int64_t)((uint64_t)values[k] - (uint64_t)values[k - 1]);
        changes += delta != 0;
        steps += delta == 1;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
        low = delta < low ? delta : low;
        high = delta > high ? delta : high;
    }
    *stats = (struct pci_range_stats){changes, steps, least, greatest, low, high};
}
KERNEL(void pci_simd_range_stats, range_stats,
       (const int64_t *values, size_t n, int64_t flip, struct pci_range_stats *stats),
       (values, n, flip, stats))

INLINE void body_range(const int64_t *values, size_t n, int64_t flip, int64_t *least,
                       int64_t *greatest)
{
    int64_t min = values[0] ^ flip, max = min;
    for (size_t k = 1; k < n; k++) {
        int64_t value = values[k] ^ flip;
        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    *least = min;
    *greatest = max;
}
KERNEL(void pci_simd_range, range,
       (const int64_t *values, size_t n, int64_t flip, int64_t *least, int64_t *greatest),
       (values, n, flip, least, greatest))

INLINE void body_differing_bits(const int64_t *values, size_t n, int64_t value, int64_t *bits)
{
    int64_t differing = 0;
    for (size_t k = 0; k < n; k++)
        differing |= values[k] ^ value;
    *bits = differing;
}
KERNEL(static void differing_bits, differing_bits,
       (const int64_t *values, size_t n, int64_t value, int64_t *bits), (values, n, value, bits))

int pci_simd_all_equal(const int64_t *values, size_t n, int64_t value)
{
    int64_t bits;
    differing_bits(values, n, value, &bits);
    return !bits;
}

/* Two vectors of four lanes, without branches, as the outcome of a vote is unpredictable. Vector
 * comparisons yield -1 for true. */
#define HALF (PCI_VOTERS / 2)
typedef uint64_t lanes __attribute__((vector_size(HALF * sizeof(uint64_t))));

INLINE void body_vote_step(lanes *candidate, lanes *lead, const int64_t *values, lanes *line,
                           uint64_t rise)
{
    lanes value;
    memcpy(&value, values, sizeof value);
    value -= *line;
    *line += rise;
    lanes none = (lanes)(*lead == 0);
    *candidate = (value & none) | (*candidate & ~none);
    *lead -= ((lanes)(*candidate == value) << 1) + 1;
}

INLINE void body_vote(const int64_t *values, size_t n, uint64_t base, uint64_t step,
                      int64_t *restrict candidates, int64_t *restrict leads)
{
    lanes candidate[2] = {{0}}, lead[2] = {{0}}, line[2];
    for (size_t j = 0; j < PCI_VOTERS; j++)
        line[j / HALF][j % HALF] = base + step * j;
    for (; n >= PCI_VOTERS; n -= PCI_VOTERS, values += PCI_VOTERS) {
        body_vote_step(&candidate[0], &lead[0], values, &line[0], step * PCI_VOTERS);
        body_vote_step(&candidate[1], &lead[1], values + HALF, &line[1], step * PCI_VOTERS);
    }
    memcpy(candidates, candidate, sizeof candidate);
    memcpy(leads, lead, sizeof lead);
    for (size_t j = 0; j < n; j++) {
        int64_t value = (int64_t)((uint64_t)values[j] - line[j / HALF][j % HALF]);
        candidates[j] = leads[j] ? candidates[j] : value;
        leads[j] += candidates[j] == value ? 1 : -1;
    }
}
KERNEL(void pci_simd_vote, vote,
       (const int64_t *values, size_t n, uint64_t base, uint64_t step, int64_t *restrict candidates,
        int64_t *restrict leads),
       (values, n, base, step, candidates, leads))

/* Inverse modulo 2^64 by Newton's iteration: each step doubles the number of correct low bits, of
 * which 3d ^ 2 has 5. */
struct pci_divisor pci_divisor_init(uint64_t number)
{
    unsigned shift = (unsigned)__builtin_ctzll(number);
    uint64_t odd = number >> shift, inverse = 3 * odd ^ 2;
    for (int bits = 5; bits < 64; bits *= 2)
        inverse *= 2 - odd * inverse;
    return (struct pci_divisor){inverse, UINT64_MAX / number, shift};
}

INLINE void body_any_remainder(const int64_t *values, size_t n, uint64_t base, uint64_t inverse,
                               uint64_t most, unsigned shift, int *any)
{
    uint64_t found = 0;
    unsigned left_shift = (64 - shift) & 63;
    for (size_t k = 0; k < n; k++) {
        uint64_t product = ((uint64_t)values[k] - base) * inverse;
        found |= (product >> shift | product << left_shift) > most;
    }
    *any = found != 0;
}
KERNEL(static void any_remainder, any_remainder,
       (const int64_t *values, size_t n, uint64_t base, uint64_t inverse, uint64_t most,
        unsigned shift, int *any),
       (values, n, base, inverse, most, shift, any))

int pci_simd_all_multiples(const int64_t *values, size_t n, uint64_t base,
                           const struct pci_divisor *divisor)
{
    int any;
    any_remainder(values, n, base, divisor->inverse, divisor->most, divisor->shift, &any);
    return !any;
}

INLINE void body_quotients(uint64_t *numbers, size_t n, uint64_t inverse, unsigned shift)
{
    for (size_t k = 0; k < n; k++)
        numbers[k] = (numbers[k] >> shift) * inverse;
}
KERNEL(static void quotients, quotients,
       (uint64_t * numbers, size_t n, uint64_t inverse, unsigned shift),
       (numbers, n, inverse, shift))

void pci_simd_divide_exact(uint64_t *numbers, size_t n, const struct pci_divisor *divisor)
{
    quotients(numbers, n, divisor->inverse, divisor->shift);
}

/* Bit length by the exponent of a double: a number below 2^51 in the fraction of 2^52, minus 2^52,
 * is that number. One half is added, so that 0 has an exponent, too. */
INLINE void body_delta_bits(const int64_t *values, size_t n, uint64_t *restrict codes)
{
    const uint64_t two52 = UINT64_C(0x4330000000000000);
    for (size_t k = 1; k < n; k++) {
        int64_t delta = (int64_t)((uint64_t)values[k] - (uint64_t)values[k - 1]);
        int64_t sign = delta < 0 ? -1 : 0;
        uint64_t bits = (uint64_t)(delta ^ sign) | two52;
        double number;
        memcpy(&number, &bits, sizeof number);
        number = (number - 0x1p52) + 0.5;
        memcpy(&bits, &number, sizeof bits);
        codes[k] = ((bits >> 52) - 1022) | ((uint64_t)sign & 64);
    }
}
KERNEL(void pci_simd_delta_bits, delta_bits,
       (const int64_t *values, size_t n, uint64_t *restrict codes), (values, n, codes))

INLINE void body_mark_deltas(const int64_t *values, size_t n, uint64_t low, uint64_t most,
                             uint8_t *restrict marks)
{
    for (size_t k = 1; k < n; k++) {
        uint64_t delta = (uint64_t)values[k] - (uint64_t)values[k - 1];
        marks[k] = delta - low > most;
    }
}
KERNEL(void pci_simd_mark_deltas, mark_deltas,
       (const int64_t *values, size_t n, uint64_t low, uint64_t most, uint8_t *restrict marks),
       (values, n, low, most, marks))

INLINE void body_mark_exceptions(const int64_t *values, size_t n, uint64_t base, uint64_t step,
                                 uint8_t *restrict marks)
{
    for (size_t k = 0; k < n; k++)
        marks[k] = (uint64_t)values[k] != base + step * k;
}
KERNEL(void pci_simd_mark_off_line, mark_exceptions,
       (const int64_t *values, size_t n, uint64_t base, uint64_t step, uint8_t *restrict marks),
       (values, n, base, step, marks))

INLINE void body_gather(const uint32_t *table, const int64_t *numbers, size_t n,
                        int64_t *restrict values)
{
    for (size_t k = 0; k < n; k++)
        values[k] = table[numbers[k]];
}
KERNEL(void pci_simd_gather, gather,
       (const uint32_t *table, const int64_t *numbers, size_t n, int64_t *restrict values),
       (table, numbers, n, values))

INLINE void body_widen(const uint8_t *from, size_t n, int64_t *restrict values)
{
    for (size_t k = 0; k < n; k++) {
        int32_t value;
        memcpy(&value, from + k * sizeof value, sizeof value);
        values[k] = value;
    }
}
KERNEL(void pci_simd_widen, widen, (const uint8_t *from, size_t n, int64_t *restrict values),
       (from, n, values))

INLINE void body_widen_u32(const uint32_t *from, size_t n, int64_t *restrict values)
{
    for (size_t k = 0; k < n; k++)
        values[k] = from[k];
}
KERNEL(void pci_simd_widen_u32, widen_u32,
       (const uint32_t *from, size_t n, int64_t *restrict values), (from, n, values))

INLINE void body_narrow(const int64_t *values, size_t n, int32_t *restrict narrowed, int64_t *lost)
{
    int64_t differing = 0;
    for (size_t k = 0; k < n; k++) {
        narrowed[k] = (int32_t)values[k];
        differing |= (int64_t)narrowed[k] ^ values[k];
    }
    *lost = differing;
}
KERNEL(static void narrow, narrow,
       (const int64_t *values, size_t n, int32_t *restrict narrowed, int64_t *lost),
       (values, n, narrowed, lost))

int pci_simd_narrow(const int64_t *values, size_t n, int32_t *restrict narrowed)
{
    int64_t lost;
    narrow(values, n, narrowed, &lost);
    return !lost;
}

INLINE void body_subtract_u32(const int64_t *values, size_t n, uint64_t base,
                              uint32_t *restrict numbers)
{
    for (size_t k = 0; k < n; k++)
        numbers[k] = (uint32_t)((uint64_t)values[k] - base);
}
KERNEL(void pci_simd_subtract_u32, subtract_u32,
       (const int64_t *values, size_t n, uint64_t base, uint32_t *restrict numbers),
       (values, n, base, numbers))

INLINE void body_add_u32(const uint32_t *numbers, size_t n, uint64_t base, int64_t *restrict values)
{
    for (size_t k = 0; k < n; k++)
        values[k] = (int64_t)(base + numbers[k]);
}
KERNEL(void pci_simd_add_u32, add_u32,
       (const uint32_t *numbers, size_t n, uint64_t base, int64_t *restrict values),
       (numbers, n, base, values))

INLINE void body_subtract(const int64_t *values, size_t n, uint64_t base,
                          uint64_t *restrict numbers)
{
    for (size_t k = 0; k < n; k++)
        numbers[k] = (uint64_t)values[k] - base;
}
KERNEL(void pci_simd_subtract, subtract,
       (const int64_t *values, size_t n, uint64_t base, uint64_t *restrict numbers),
       (values, n, base, numbers))

INLINE void body_pair(const uint64_t *numbers, size_t n, unsigned width, uint64_t *restrict pairs)
{
    for (size_t k = 0; k < n / 2; k++)
        pairs[k] = numbers[2 * k] | numbers[2 * k + 1] << width;
}
KERNEL(void pci_simd_pack_pairs, pair,
       (const uint64_t *numbers, size_t n, unsigned width, uint64_t *restrict pairs),
       (numbers, n, width, pairs))

/* Rounding by addition of 2^52 to a number below 2^51: the fraction is then the nearest integer. */
INLINE void body_ms_to_ns(const int64_t *bits, size_t n, int64_t *restrict ns,
                          int64_t *restrict ulps)
{
    for (size_t k = 0; k < n; k++) {
        double ms, whole;
        int64_t code, sign, rounded_bits;
        memcpy(&ms, &bits[k], sizeof ms);
        double number = ms * 1e6;
        memcpy(&code, &number, sizeof code);
        sign = code < 0 ? -1 : 0;
        code &= INT64_MAX;
        memcpy(&number, &code, sizeof number);
        number += 0.5;
        double near = number + 0x1p52;
        whole = near - 0x1p52;
        near -= whole > number ? 1.0 : 0.0; /* floor(): `number` has one half added */
        whole = near - 0x1p52;
        memcpy(&code, &near, sizeof code);
        code -= INT64_C(0x4330000000000000);
        ns[k] = (code ^ sign) - sign;
        memcpy(&code, &whole, sizeof code);
        code |= sign & INT64_MIN;
        memcpy(&whole, &code, sizeof whole);
        whole = (whole + 0.0) / 1e6; /* -0 becomes 0 */
        memcpy(&rounded_bits, &whole, sizeof rounded_bits);
        ulps[k] = (int64_t)((uint64_t)bits[k] - (uint64_t)rounded_bits);
    }
}
KERNEL(void pci_simd_ms_to_ns, ms_to_ns,
       (const int64_t *bits, size_t n, int64_t *restrict ns, int64_t *restrict ulps),
       (bits, n, ns, ulps))

INLINE void body_any_outside(const int64_t *bits, size_t n, double most, int *any)
{
    int64_t outside = 0;
    for (size_t k = 0; k < n; k++) {
        double number;
        memcpy(&number, &bits[k], sizeof number);
        outside |= !(number >= -most && number <= most);
    }
    *any = outside != 0;
}
KERNEL(static void any_outside, any_outside, (const int64_t *bits, size_t n, double most, int *any),
       (bits, n, most, any))

int pci_simd_all_within(const int64_t *bits, size_t n, double most)
{
    int any;
    any_outside(bits, n, most, &any);
    return !any;
}

/* Sets bit 63 for values beyond `most`. */
INLINE void body_beyond(const int64_t *values, size_t n, uint64_t most, uint64_t *beyond)
{
    uint64_t bits = 0;
    for (size_t k = 0; k < n; k++)
        bits |= (most - (uint64_t)values[k]) | (uint64_t)values[k];
    *beyond = bits;
}
KERNEL(static void beyond, beyond,
       (const int64_t *values, size_t n, uint64_t most, uint64_t *beyond),
       (values, n, most, beyond))

int pci_simd_any_above(const int64_t *values, size_t n, uint64_t most)
{
    uint64_t bits;
    beyond(values, n, most, &bits);
    return (int)(bits >> 63);
}

INLINE void body_or_all(const int64_t *values, size_t n, int64_t *all)
{
    int64_t bits = 0;
    for (size_t k = 0; k < n; k++)
        bits |= values[k];
    *all = bits;
}
KERNEL(static void or_all, or_all, (const int64_t *values, size_t n, int64_t *all),
       (values, n, all))

int64_t pci_simd_or(const int64_t *values, size_t n)
{
    int64_t all;
    or_all(values, n, &all);
    return all;
}

INLINE void body_times(const int64_t *values, size_t n, int64_t factor, int64_t *restrict products)
{
    for (size_t k = 0; k < n; k++)
        products[k] = (int64_t)((uint64_t)values[k] * (uint64_t)factor);
}
KERNEL(void pci_simd_multiply, times,
       (const int64_t *values, size_t n, int64_t factor, int64_t *restrict products),
       (values, n, factor, products))
