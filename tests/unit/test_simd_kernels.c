/*
 * test_simd_kernels.c - vectorized kernels equal scalar loops, on any processor
 */
#include <criterion/criterion.h>

#include "util/simd_kernels.h"

#include <string.h>

enum { MOST = 1024 };

static int64_t values[MOST];
static uint64_t state;

static uint64_t next_random(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state ^ state >> 29;
}

/* Values of up to `bits` bits; 64 bits include the extremes. */
static void make_values(size_t n, unsigned bits)
{
    for (size_t i = 0; i < n; i++) {
        values[i] = (int64_t)(bits == 64 ? next_random() : next_random() >> (64 - bits));
        if (bits < 64 && next_random() % 2)
            values[i] = -values[i];
        if (bits == 64 && next_random() % 8 == 0)
            values[i] = next_random() % 2 ? INT64_MIN : INT64_MAX;
    }
}

static void check_sweep(size_t n, int64_t flip)
{
    struct pci_range_stats s,
        want = {0, 0, values[0] ^ flip, values[0] ^ flip, INT64_MAX, INT64_MIN};
    for (size_t k = 1; k < n; k++) {
        int64_t rise = (int64_t)((uint64_t)values[k] - (uint64_t)values[k - 1]);
        int64_t value = values[k] ^ flip;
        want.changes += rise != 0;
        want.steps += rise == 1;
        want.least = value < want.least ? value : want.least;
        want.greatest = value > want.greatest ? value : want.greatest;
        want.low = rise < want.low ? rise : want.low;
        want.high = rise > want.high ? rise : want.high;
    }
    pci_simd_range_stats(values, n, flip, &s);
    cr_assert(s.changes == want.changes && s.steps == want.steps);
    cr_assert(s.least == want.least && s.greatest == want.greatest);
    cr_assert(s.low == want.low && s.high == want.high);
    int64_t least, greatest;
    pci_simd_range(values, n, flip, &least, &greatest);
    cr_assert(least == want.least && greatest == want.greatest);
}

static void check_marks(size_t n, uint64_t low, uint64_t most)
{
    uint8_t marks[MOST];
    pci_simd_mark_deltas(values, n, low, most, marks);
    for (size_t k = 1; k < n; k++)
        cr_assert(marks[k] == ((uint64_t)values[k] - (uint64_t)values[k - 1] - low > most));
    pci_simd_mark_off_line(values, n, (uint64_t)values[0] - 3, 3, marks);
    for (size_t k = 0; k < n; k++)
        cr_assert(marks[k] == ((uint64_t)values[k] != (uint64_t)values[0] - 3 + 3 * k));
}

static unsigned bits_of(uint64_t number)
{
    unsigned bits = 0;
    for (; number; number >>= 1)
        bits++;
    return bits;
}

static void check_rise_bits(size_t n)
{
    uint64_t codes[MOST];
    pci_simd_delta_bits(values, n, codes);
    for (size_t k = 1; k < n; k++) {
        int64_t rise = values[k] - values[k - 1];
        uint64_t far = (uint64_t)(rise < 0 ? -(rise + 1) : rise);
        cr_assert(codes[k] == (bits_of(far) | (rise < 0 ? 64u : 0u)));
    }
}

static void check_narrow(size_t n)
{
    int32_t narrow[MOST];
    uint32_t numbers[MOST];
    int64_t back[MOST];
    int fits = 1;
    for (size_t k = 0; k < n; k++)
        fits &= values[k] >= INT32_MIN && values[k] <= INT32_MAX;
    cr_assert(pci_simd_narrow(values, n, narrow) == fits);
    pci_simd_widen((const uint8_t *)narrow, n, back);
    for (size_t k = 0; k < n; k++)
        cr_assert(back[k] == (int32_t)values[k]);
    pci_simd_subtract_u32(values, n, (uint64_t)values[0], numbers);
    pci_simd_add_u32(numbers, n, (uint64_t)values[0], back);
    for (size_t k = 0; k < n; k++)
        cr_assert(back[k] == (int64_t)((uint64_t)values[0] +
                                       (uint32_t)((uint64_t)values[k] - (uint64_t)values[0])));
    pci_simd_widen_u32(numbers, n, back);
    for (size_t k = 0; k < n; k++)
        cr_assert(back[k] == (int64_t)numbers[k]);
    cr_assert(pci_simd_all_equal(values, 1, values[0]));
    cr_assert(n < 2 || pci_simd_all_equal(values, n, values[0]) ==
                           !memcmp(values, values + 1, (n - 1) * sizeof *values));
}

static void check_pairs(size_t n, unsigned width)
{
    uint64_t numbers[MOST], pairs[MOST / 2];
    pci_simd_subtract(values, n, 5, numbers);
    for (size_t k = 0; k < n; k++) {
        cr_assert(numbers[k] == (uint64_t)values[k] - 5);
        numbers[k] &= (UINT64_C(1) << width) - 1;
    }
    pci_simd_pack_pairs(numbers, n - n % 2, width, pairs);
    for (size_t k = 0; k < n / 2; k++)
        cr_assert(pairs[k] == (numbers[2 * k] | numbers[2 * k + 1] << width));
}

static int64_t bits_of_double(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Times in ms as importers turn them to ns, one by one. */
static void check_times(size_t n)
{
    int64_t bits[MOST] = {0}, ns[MOST], ulps[MOST];
    static const double odd[] = {0.0,    -0.0,    1e-7, -1e-7, 4.999999e-7, 5e-7,    -5e-7,
                                 1.5e-6, -1.5e-6, 2e9,  -2e9,  0.1,         1e9 / 3, -2e9 / 3};
    for (size_t k = 0; k < n; k++) {
        double ms = (double)(int64_t)(next_random() >> 20) / 1e6 - 8e6;
        if (k % 5 == 0)
            ms = odd[next_random() % (sizeof odd / sizeof *odd)];
        bits[k] = bits_of_double(ms);
    }
    cr_assert(pci_simd_all_within(bits, n, 2e9));
    pci_simd_ms_to_ns(bits, n, ns, ulps);
    for (size_t k = 0; k < n; k++) {
        double ms, number;
        memcpy(&ms, &bits[k], sizeof ms);
        number = ms * 1e6;
        int64_t want = (int64_t)(number < 0 ? number - 0.5 : number + 0.5);
        int64_t near = bits_of_double((double)want / 1e6);
        cr_assert(ns[k] == want);
        cr_assert(ulps[k] == (int64_t)((uint64_t)bits[k] - (uint64_t)near));
    }
    bits[n / 2] = bits_of_double(2.1e9);
    cr_assert_not(pci_simd_all_within(bits, n, 2e9));
    bits[n / 2] = INT64_C(0x7ff8000000000000); /* no number */
    cr_assert_not(pci_simd_all_within(bits, n, 2e9));
}

static void check_columns(size_t n)
{
    static const uint32_t table[8] = {7, 0, UINT32_MAX, 5, 1u << 31, 3, 2, 9};
    int64_t numbers[MOST] = {0}, looked[MOST], products[MOST], all = 0;
    for (size_t k = 0; k < n; k++) {
        numbers[k] = (int64_t)(next_random() % 8);
        all |= values[k];
    }
    pci_simd_gather(table, numbers, n, looked);
    pci_simd_multiply(values, n, 1000, products);
    for (size_t k = 0; k < n; k++) {
        cr_assert(looked[k] == (int64_t)table[numbers[k]]);
        cr_assert(products[k] == (int64_t)((uint64_t)values[k] * 1000));
    }
    cr_assert(pci_simd_or(values, n) == all);
    cr_assert_not(pci_simd_any_above(numbers, n, 7));
    numbers[n / 3] = 8;
    cr_assert(pci_simd_any_above(numbers, n, 7));
    cr_assert_not(pci_simd_any_above(numbers, n, 8));
    numbers[n / 3] = INT64_MIN; /* 2^63 */
    cr_assert(pci_simd_any_above(numbers, n, INT64_MAX));
    numbers[n / 3] = -1;
    cr_assert(pci_simd_any_above(numbers, n, INT64_MAX));
}

/* A value that more than half of a voter's values are is its candidate, and leads by as many at
 * most. */
static void check_votes(size_t n, uint64_t base, uint64_t step)
{
    int64_t candidates[PCI_VOTERS], leads[PCI_VOTERS];
    for (size_t i = 0; i < n; i++) /* some voters agree mostly, others hardly ever */
        if (next_random() % 16 < i % PCI_VOTERS * 2)
            values[i] = (int64_t)(base + step * i + 77);
    pci_simd_vote(values, n, base, step, candidates, leads);
    for (size_t j = 0; j < PCI_VOTERS; j++) {
        for (size_t i = j; i < n; i += PCI_VOTERS) {
            int64_t value = (int64_t)((uint64_t)values[i] - base - step * i), count = 0, all = 0;
            for (size_t k = j; k < n; k += PCI_VOTERS, all++)
                count += (int64_t)((uint64_t)values[k] - base - step * k) == value;
            cr_assert(2 * count - all <= (value == candidates[j] ? leads[j] : -leads[j]));
        }
        cr_assert(leads[j] >= 0);
    }
}

static void check_division(size_t n)
{
    static const uint64_t divisors[] = {
        1, 2, 3, 10, 48, 1000, 1000000, UINT64_C(1) << 40, UINT64_MAX, UINT64_C(1) << 63};
    uint64_t numbers[MOST], wanted[MOST];
    for (size_t d = 0; d < sizeof divisors / sizeof *divisors; d++) {
        struct pci_divisor by = pci_divisor_init(divisors[d]);
        uint64_t base = next_random(), most = UINT64_MAX / divisors[d];
        for (size_t i = 0; i < n; i++) {
            wanted[i] = most == UINT64_MAX ? next_random() : next_random() % (most + 1);
            numbers[i] = wanted[i] * divisors[d];
            values[i] = (int64_t)(base + numbers[i]);
        }
        cr_assert(pci_simd_all_multiples(values, n, base, &by));
        pci_simd_divide_exact(numbers, n, &by);
        cr_assert(!memcmp(numbers, wanted, n * sizeof *wanted));
        if (divisors[d] == 1)
            continue;
        size_t odd = next_random() % n;
        uint64_t distance = (uint64_t)values[odd] - base;
        values[odd] += distance == UINT64_MAX ? -1 : 1;
        cr_assert(!pci_simd_all_multiples(values, n, base, &by));
    }
}

static void check_all(void)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1023, 1024};
    static const unsigned widths[] = {1, 3, 8, 20, 31, 33, 45, 64};
    state = 1;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            make_values(sizes[s], widths[w]);
            check_sweep(sizes[s], 0);
            check_sweep(sizes[s], INT64_MIN);
            check_marks(sizes[s], 0, 255);
            check_marks(sizes[s], ~UINT64_C(0) << 10, 2047);
            check_narrow(sizes[s]);
            check_columns(sizes[s]);
            check_times(sizes[s]);
            check_pairs(sizes[s], 1 + widths[w] % 32);
            if (widths[w] <= 3 || sizes[s] < 100) {
                check_votes(sizes[s], 0, 0);
                check_votes(sizes[s], 12345, 1);
                check_division(sizes[s]);
                make_values(sizes[s], widths[w]);
            }
            if (widths[w] > 45)
                continue;
            check_rise_bits(sizes[s]);
        }
}

Test(lanes, say_what_simple_loops_say)
{
    check_all();
    pci_simd_force_baseline = 1;
    check_all();
    pci_simd_force_baseline = 0;
}
