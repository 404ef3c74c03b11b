/*
 * simd_kernels.c - loops that become vector code
 *
 * Each stands here once, as an inline function, and is compiled twice: for every processor, and for
 * those with AVX2, which handle four values at a time and compare numbers of 64 bits. Which one
 * runs decides nothing but the time. This file is compiled with -O3 (lib/rules.mk).
 */
#include "util/simd_kernels.h"

#include <string.h>

#define SLOPE_SHIFT 16

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <stdatomic.h>

/* What __builtin_cpu_supports("avx2") says, asked when somebody wants to know: the compiler's own
 * asks at every start of a program, which in a virtual machine takes as long as reading a small
 * file. */
static int has_avx2(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return (low & 6) == 6 /* the system keeps these registers */
           && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}

enum { NOT_ASKED, IS_NARROW, IS_WIDE };

static int has_wide(void)
{
    static _Atomic int known;
    int state = atomic_load_explicit(&known, memory_order_relaxed);
    if (state == NOT_ASKED) { /* two threads may both ask: the same answer */
        state = has_avx2() ? IS_WIDE : IS_NARROW;
        atomic_store_explicit(&known, state, memory_order_relaxed);
    }
    return state == IS_WIDE;
}

#define HAS_WIDE has_wide()
#define WIDE __attribute__((target("avx2")))
#else
#define HAS_WIDE 0
#define WIDE
#endif
int pci_simd_plain;

#define INLINE static inline __attribute__((always_inline))

/* A function that is body_NAME for the processor at hand. */
#define AS(head, name, parameters, arguments) \
    WIDE static void wide_##name parameters   \
    {                                         \
        body_##name arguments;                \
    }                                         \
    static void any_##name parameters         \
    {                                         \
        body_##name arguments;                \
    }                                         \
    head parameters                           \
    {                                         \
        if (HAS_WIDE && !pci_simd_plain)      \
            wide_##name arguments;            \
        else                                  \
            any_##name arguments;             \
    }
#define TWICE(name, parameters, arguments) AS(void pci_simd_##name, name, parameters, arguments)
/* For this file alone. */
#define TWICE_HERE(name, parameters, arguments) AS(static void name, name, parameters, arguments)

INLINE void body_sweep(const int64_t *values, size_t n, int64_t flip, struct pci_range_stats *sweep)
{
    int64_t least = values[0] ^ flip, greatest = least, low = INT64_MAX, high = INT64_MIN;
    uint64_t changes = 0, steps = 0;
    for (size_t k = 1; k < n; k++) {
        int64_t value = values[k] ^ flip;
        int64_t rise = (int64_t)((uint64_t)values[k] - (uint64_t)values[k - 1]);
        changes += rise != 0;
        steps += rise == 1;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
        low = rise < low ? rise : low;
        high = rise > high ? rise : high;
    }
    *sweep = (struct pci_range_stats){changes, steps, least, greatest, low, high};
}
TWICE(sweep, (const int64_t *values, size_t n, int64_t flip, struct pci_range_stats *sweep),
      (values, n, flip, sweep))

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
TWICE(range, (const int64_t *values, size_t n, int64_t flip, int64_t *least, int64_t *greatest),
      (values, n, flip, least, greatest))

INLINE void body_unlike(const int64_t *values, size_t n, int64_t value, int64_t *unlike)
{
    int64_t other = 0;
    for (size_t k = 0; k < n; k++)
        other |= values[k] ^ value;
    *unlike = other;
}
TWICE_HERE(unlike, (const int64_t *values, size_t n, int64_t value, int64_t *unlike),
           (values, n, value, unlike))

int pci_simd_same(const int64_t *values, size_t n, int64_t value)
{
    int64_t other;
    unlike(values, n, value, &other);
    return !other;
}

/* Four voters at once, without branches: which of two values one meets cannot be foreseen. What
 * compares equal is -1. */
#define HALF (PCI_VOTERS / 2)
typedef uint64_t voters __attribute__((vector_size(HALF * sizeof(uint64_t))));

INLINE void body_ask(voters *of, voters *lead, const int64_t *values, voters *line, uint64_t rise)
{
    voters value;
    memcpy(&value, values, sizeof value);
    value -= *line;
    *line += rise;
    voters none = (voters)(*lead == 0);
    *of = (value & none) | (*of & ~none);
    *lead -= ((voters)(*of == value) << 1) + 1;
}

INLINE void body_vote(const int64_t *values, size_t n, uint64_t base, uint64_t step,
                      int64_t *restrict candidates, int64_t *restrict leads)
{
    voters of[2] = {{0}}, lead[2] = {{0}}, line[2];
    for (size_t j = 0; j < PCI_VOTERS; j++)
        line[j / HALF][j % HALF] = base + step * j;
    for (; n >= PCI_VOTERS; n -= PCI_VOTERS, values += PCI_VOTERS) {
        body_ask(&of[0], &lead[0], values, &line[0], step * PCI_VOTERS);
        body_ask(&of[1], &lead[1], values + HALF, &line[1], step * PCI_VOTERS);
    }
    memcpy(candidates, of, sizeof of);
    memcpy(leads, lead, sizeof lead);
    for (size_t j = 0; j < n; j++) {
        int64_t value = (int64_t)((uint64_t)values[j] - line[j / HALF][j % HALF]);
        candidates[j] = leads[j] ? candidates[j] : value;
        leads[j] += candidates[j] == value ? 1 : -1;
    }
}
TWICE(vote,
      (const int64_t *values, size_t n, uint64_t base, uint64_t step, int64_t *restrict candidates,
       int64_t *restrict leads),
      (values, n, base, step, candidates, leads))

/* Newton: each step doubles the bits of an odd number's inverse that are right, of which 3d ^ 2 has
 * 5. */
struct pci_divisor pci_divisor_of(uint64_t number)
{
    unsigned shift = (unsigned)__builtin_ctzll(number);
    uint64_t odd = number >> shift, inverse = 3 * odd ^ 2;
    for (int bits = 5; bits < 64; bits *= 2)
        inverse *= 2 - odd * inverse;
    return (struct pci_divisor){inverse, UINT64_MAX / number, shift};
}

INLINE void body_beyond(const int64_t *values, size_t n, uint64_t base, uint64_t inverse,
                        uint64_t most, unsigned shift, int *any)
{
    uint64_t beyond = 0;
    unsigned back = (64 - shift) & 63;
    for (size_t k = 0; k < n; k++) {
        uint64_t product = ((uint64_t)values[k] - base) * inverse;
        beyond |= (product >> shift | product << back) > most;
    }
    *any = beyond != 0;
}
TWICE_HERE(beyond,
           (const int64_t *values, size_t n, uint64_t base, uint64_t inverse, uint64_t most,
            unsigned shift, int *any),
           (values, n, base, inverse, most, shift, any))

int pci_simd_multiples(const int64_t *values, size_t n, uint64_t base,
                       const struct pci_divisor *divisor)
{
    int any;
    beyond(values, n, base, divisor->inverse, divisor->most, divisor->shift, &any);
    return !any;
}

INLINE void body_quotients(uint64_t *numbers, size_t n, uint64_t inverse, unsigned shift)
{
    for (size_t k = 0; k < n; k++)
        numbers[k] = (numbers[k] >> shift) * inverse;
}
TWICE_HERE(quotients, (uint64_t * numbers, size_t n, uint64_t inverse, unsigned shift),
           (numbers, n, inverse, shift))

void pci_simd_divide(uint64_t *numbers, size_t n, const struct pci_divisor *divisor)
{
    quotients(numbers, n, divisor->inverse, divisor->shift);
}

INLINE void body_rests(const int64_t *values, size_t n, int64_t slope, int64_t *least,
                       int64_t *greatest)
{
    int64_t min = 0, max = 0, line = 0;
    for (size_t k = 0; k < n; k++) {
        uint64_t above = (uint64_t)values[k] - (uint64_t)values[0];
        int64_t rest = (int64_t)(above - (uint64_t)(line >> SLOPE_SHIFT));
        min = rest < min ? rest : min;
        max = rest > max ? rest : max;
        line += slope;
    }
    *least = min;
    *greatest = max;
}
TWICE(rests, (const int64_t *values, size_t n, int64_t slope, int64_t *least, int64_t *greatest),
      (values, n, slope, least, greatest))

/* A number below 2^51 laid into a double's fraction, less what the exponent adds, is that number;
 * with one half more, so that 0 has an exponent too, its exponent tells the bits. */
INLINE void body_rise_bits(const int64_t *values, size_t n, uint64_t *restrict codes)
{
    const uint64_t two52 = UINT64_C(0x4330000000000000);
    for (size_t k = 1; k < n; k++) {
        int64_t rise = (int64_t)((uint64_t)values[k] - (uint64_t)values[k - 1]);
        int64_t falls = rise < 0 ? -1 : 0;
        uint64_t bits = (uint64_t)(rise ^ falls) | two52;
        double number;
        memcpy(&number, &bits, sizeof number);
        number = (number - 0x1p52) + 0.5;
        memcpy(&bits, &number, sizeof bits);
        codes[k] = ((bits >> 52) - 1022) | ((uint64_t)falls & 64);
    }
}
TWICE(rise_bits, (const int64_t *values, size_t n, uint64_t *restrict codes), (values, n, codes))

INLINE void body_far(const int64_t *values, size_t n, uint64_t low, uint64_t most,
                     uint8_t *restrict marks)
{
    for (size_t k = 1; k < n; k++) {
        uint64_t rise = (uint64_t)values[k] - (uint64_t)values[k - 1];
        marks[k] = rise - low > most;
    }
}
TWICE(far, (const int64_t *values, size_t n, uint64_t low, uint64_t most, uint8_t *restrict marks),
      (values, n, low, most, marks))

INLINE void body_other(const int64_t *values, size_t n, uint64_t base, uint64_t step,
                       uint8_t *restrict marks)
{
    for (size_t k = 0; k < n; k++)
        marks[k] = (uint64_t)values[k] != base + step * k;
}
TWICE(other,
      (const int64_t *values, size_t n, uint64_t base, uint64_t step, uint8_t *restrict marks),
      (values, n, base, step, marks))

INLINE void body_look(const uint32_t *table, const int64_t *numbers, size_t n,
                      int64_t *restrict values)
{
    for (size_t k = 0; k < n; k++)
        values[k] = table[numbers[k]];
}
TWICE(look, (const uint32_t *table, const int64_t *numbers, size_t n, int64_t *restrict values),
      (table, numbers, n, values))

INLINE void body_widen(const uint8_t *from, size_t n, int64_t *restrict values)
{
    for (size_t k = 0; k < n; k++) {
        int32_t value;
        memcpy(&value, from + k * sizeof value, sizeof value);
        values[k] = value;
    }
}
TWICE(widen, (const uint8_t *from, size_t n, int64_t *restrict values), (from, n, values))

INLINE void body_widen_u32(const uint32_t *from, size_t n, int64_t *restrict values)
{
    for (size_t k = 0; k < n; k++)
        values[k] = from[k];
}
TWICE(widen_u32, (const uint32_t *from, size_t n, int64_t *restrict values), (from, n, values))

INLINE void body_narrowed(const int64_t *values, size_t n, int32_t *restrict narrow, int64_t *lost)
{
    int64_t other = 0;
    for (size_t k = 0; k < n; k++) {
        narrow[k] = (int32_t)values[k];
        other |= (int64_t)narrow[k] ^ values[k];
    }
    *lost = other;
}
TWICE_HERE(narrowed, (const int64_t *values, size_t n, int32_t *restrict narrow, int64_t *lost),
           (values, n, narrow, lost))

int pci_simd_narrow(const int64_t *values, size_t n, int32_t *restrict narrow)
{
    int64_t lost;
    narrowed(values, n, narrow, &lost);
    return !lost;
}

INLINE void body_lower(const int64_t *values, size_t n, uint64_t base, uint32_t *restrict numbers)
{
    for (size_t k = 0; k < n; k++)
        numbers[k] = (uint32_t)((uint64_t)values[k] - base);
}
TWICE(lower, (const int64_t *values, size_t n, uint64_t base, uint32_t *restrict numbers),
      (values, n, base, numbers))

INLINE void body_raise(const uint32_t *numbers, size_t n, uint64_t base, int64_t *restrict values)
{
    for (size_t k = 0; k < n; k++)
        values[k] = (int64_t)(base + numbers[k]);
}
TWICE(raise, (const uint32_t *numbers, size_t n, uint64_t base, int64_t *restrict values),
      (numbers, n, base, values))

INLINE void body_less(const int64_t *values, size_t n, uint64_t base, uint64_t *restrict numbers)
{
    for (size_t k = 0; k < n; k++)
        numbers[k] = (uint64_t)values[k] - base;
}
TWICE(less, (const int64_t *values, size_t n, uint64_t base, uint64_t *restrict numbers),
      (values, n, base, numbers))

INLINE void body_less_line(const int64_t *values, size_t n, uint64_t base, int64_t slope,
                           uint64_t *restrict numbers)
{
    int64_t line = 0;
    for (size_t k = 0; k < n; k++) {
        numbers[k] = (uint64_t)values[k] - base - (uint64_t)(line >> SLOPE_SHIFT);
        line += slope;
    }
}
TWICE(less_line,
      (const int64_t *values, size_t n, uint64_t base, int64_t slope, uint64_t *restrict numbers),
      (values, n, base, slope, numbers))

INLINE void body_pair(const uint64_t *numbers, size_t n, unsigned width, uint64_t *restrict pairs)
{
    for (size_t k = 0; k < n / 2; k++)
        pairs[k] = numbers[2 * k] | numbers[2 * k + 1] << width;
}
TWICE(pair, (const uint64_t *numbers, size_t n, unsigned width, uint64_t *restrict pairs),
      (numbers, n, width, pairs))

/* To a number below 2^51, 2^52 is added: its fraction is then the nearest whole number. */
INLINE void body_small_ms(const int64_t *bits, size_t n, int64_t *restrict ns,
                          int64_t *restrict ulps)
{
    for (size_t k = 0; k < n; k++) {
        double ms, whole;
        int64_t code, sign, back;
        memcpy(&ms, &bits[k], sizeof ms);
        double number = ms * 1e6;
        memcpy(&code, &number, sizeof code);
        sign = code < 0 ? -1 : 0;
        code &= INT64_MAX;
        memcpy(&number, &code, sizeof number);
        number += 0.5;
        double near = number + 0x1p52;
        whole = near - 0x1p52;
        near -= whole > number ? 1.0 : 0.0; /* what is above goes to 0 */
        whole = near - 0x1p52;
        memcpy(&code, &near, sizeof code);
        code -= INT64_C(0x4330000000000000);
        ns[k] = (code ^ sign) - sign;
        memcpy(&code, &whole, sizeof code);
        code |= sign & INT64_MIN;
        memcpy(&whole, &code, sizeof whole);
        whole = (whole + 0.0) / 1e6; /* 0 has no sign */
        memcpy(&back, &whole, sizeof back);
        ulps[k] = (int64_t)((uint64_t)bits[k] - (uint64_t)back);
    }
}
TWICE(small_ms, (const int64_t *bits, size_t n, int64_t *restrict ns, int64_t *restrict ulps),
      (bits, n, ns, ulps))

INLINE void body_outside(const int64_t *bits, size_t n, double most, int *any)
{
    int64_t outside = 0;
    for (size_t k = 0; k < n; k++) {
        double number;
        memcpy(&number, &bits[k], sizeof number);
        outside |= !(number >= -most && number <= most);
    }
    *any = outside != 0;
}
TWICE_HERE(outside, (const int64_t *bits, size_t n, double most, int *any), (bits, n, most, any))

int pci_simd_within(const int64_t *bits, size_t n, double most)
{
    int any;
    outside(bits, n, most, &any);
    return !any;
}

INLINE void body_united(const int64_t *values, size_t n, int64_t *all)
{
    int64_t bits = 0;
    for (size_t k = 0; k < n; k++)
        bits |= values[k];
    *all = bits;
}
TWICE_HERE(united, (const int64_t *values, size_t n, int64_t *all), (values, n, all))

int64_t pci_simd_or(const int64_t *values, size_t n)
{
    int64_t all;
    united(values, n, &all);
    return all;
}

INLINE void body_times(const int64_t *values, size_t n, int64_t factor, int64_t *restrict products)
{
    for (size_t k = 0; k < n; k++)
        products[k] = (int64_t)((uint64_t)values[k] * (uint64_t)factor);
}
TWICE(times, (const int64_t *values, size_t n, int64_t factor, int64_t *restrict products),
      (values, n, factor, products))
