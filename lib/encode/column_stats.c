/*
 * column_stats.c - one-pass statistics of a column (column_stats.h)
 *
 * Range, scale (gcd), runs, histograms of differences, and Boyer-Moore majority votes on the values
 * and on value - row. Blocks without nulls are processed by the SIMD kernels.
 */
#include "encode/column_stats.h"

#include "format/layout.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/integer.h"
#include "util/simd_kernels.h"

#include <string.h>

void pci_block_reader_init(struct pci_block_reader *reader, const struct pci_value_source *source)
{
    reader->source = source;
    reader->row = 0;
    reader->n = 0;
}

pcol_status pci_block_reader_next(struct pci_block_reader *reader, pcol_error *err)
{
    const struct pci_value_source *s = reader->source;
    reader->row += reader->n;
    reader->n = 0;
    if (reader->row >= s->rows)
        return PCOL_OK;
    reader->n =
        s->rows - reader->row < PCF_BLOCK_ROWS ? (size_t)(s->rows - reader->row) : PCF_BLOCK_ROWS;
    PCI_TRY(pci_work(reader->n * sizeof *reader->values, err));
    return s->read(s->context, reader->row, reader->n, reader->values, reader->valid, err);
}

unsigned pci_packed_width(uint64_t range)
{
    unsigned width = range ? 64u - (unsigned)__builtin_clzll(range) : 0;
    return width > PCF_MAX_PACKED_WIDTH ? 64 : width;
}

/* Number of significant bits of a number below 2^63. */
static unsigned significant_bits(uint64_t x)
{
    return 63u - (unsigned)__builtin_clzll(2 * x + 1);
}

/* Order-preserving map of values to unsigned keys; value_of() is its inverse. */
static uint64_t key_of(int64_t value, uint8_t type)
{
    return (uint64_t)value ^ (type == PCF_U64 ? 0 : UINT64_C(1) << 63);
}

static int64_t value_of(uint64_t key, uint8_t type)
{
    return (int64_t)(key ^ (type == PCF_U64 ? 0 : UINT64_C(1) << 63));
}

/* XOR mask that maps values to signed numbers in the type's order. */
static int64_t flip_of(uint8_t type)
{
    return type == PCF_U64 ? INT64_MIN : 0;
}

/* Boyer-Moore majority vote. */
struct vote {
    int64_t value;
    uint64_t weight;
};

static void vote_add(struct vote *vote, int64_t value)
{
    if (vote->weight == 0) {
        vote->value = value;
        vote->weight = 1;
    } else if (vote->value == value) {
        vote->weight++;
    } else {
        vote->weight--;
    }
}

struct pass {
    struct pci_column_stats *stats;
    uint8_t type;
    int leaf;
    struct vote common, start;
    uint64_t common_slack, start_slack; /* maximum lead of candidates in skipped blocks */
    int64_t last;
    uint64_t present; /* non-null values so far */
};

static void add_value(struct pass *pass, uint64_t row, int64_t value)
{
    struct pci_column_stats *s = pass->stats;
    if (!pass->present++) {
        s->first = value;
        s->runs = 1;
    } else {
        uint64_t k = key_of(value, pass->type), l = key_of(pass->last, pass->type);
        /* Distances of keys are those of the values, up to 2^64 - 1. */
        uint64_t f = key_of(s->first, pass->type), distance = k > f ? k - f : f - k;
        s->runs += value != pass->last;
        s->constant &= value == s->first;
        s->ascending &= k >= l;
        if (pass->present == 2)
            s->step = (int64_t)((uint64_t)value - (uint64_t)pass->last);
        s->linear &= (uint64_t)value - (uint64_t)pass->last == (uint64_t)s->step;
        if (s->scale != 1 && (s->scale == 0 || distance % s->scale))
            s->scale = pci_gcd(distance, s->scale);
    }
    if (!pass->leaf) {
        vote_add(&pass->common, value);
        vote_add(&pass->start, (int64_t)((uint64_t)value - row));
    }
    pass->last = value;
}

static void add_integer_stats(struct pci_column_stats *s, uint8_t type, int64_t min, int64_t max)
{
    if (!s->has_stats || key_of(min, type) < key_of(s->min, type))
        s->min = min;
    if (!s->has_stats || key_of(max, type) > key_of(s->max, type))
        s->max = max;
    s->has_stats = 1;
}

static void add_double_stats(struct pci_column_stats *s, int64_t bits)
{
    double value, min, max;
    memcpy(&value, &bits, sizeof value);
    memcpy(&min, &s->min, sizeof min);
    memcpy(&max, &s->max, sizeof max);
    if (value != value) /* NaN is unordered */
        return;
    if (!s->has_stats || value < min)
        s->min = bits;
    if (!s->has_stats || value > max)
        s->max = bits;
    s->has_stats = 1;
}

static int is_ascending(const struct pass *pass, const int64_t *values, size_t n)
{
    for (size_t k = 1; k < n; k++)
        if (key_of(values[k], pass->type) < key_of(values[k - 1], pass->type))
            return 0;
    return 1;
}

/* Adds the range statistics of a block. */
static void add_range_stats(const struct pass *pass, const struct pci_range_stats *w,
                            const int64_t *values, size_t n)
{
    struct pci_column_stats *s = pass->stats;
    int64_t first = s->first ^ flip_of(pass->type);
    s->runs += w->changes;
    s->constant &= w->least == first && w->greatest == first;
    s->linear &= w->low == s->step && w->high == s->step;
    if ((uint64_t)w->greatest - (uint64_t)w->least <= INT64_MAX) /* differences do not wrap */
        s->ascending &= w->low >= 0;
    else
        s->ascending &= is_ascending(pass, values, n);
}

/* Updates the gcd of the distances. least: the minimum in the type's order, so that distances to it
 * do not wrap. */
static void update_scale(const struct pass *pass, const int64_t *values, size_t n, int64_t least)
{
    struct pci_column_stats *s = pass->stats;
    uint64_t flip = key_of(0, pass->type), first = (uint64_t)s->first ^ flip;
    if (s->scale > 1) { /* common case: the scale does not change */
        uint64_t key = (uint64_t)least ^ flip;
        uint64_t distance = key > first ? key - first : first - key;
        struct pci_divisor divisor = pci_divisor_init(s->scale);
        if (distance % s->scale == 0 &&
            pci_simd_all_multiples(values, n, (uint64_t)least, &divisor))
            return;
    }
    for (size_t k = 0; k < n && s->scale != 1; k++) {
        uint64_t key = (uint64_t)values[k] ^ flip;
        uint64_t distance = key > first ? key - first : first - key;
        if (s->scale == 0 || distance % s->scale)
            s->scale = pci_gcd(distance, s->scale);
    }
}

/* Whether a majority vote over n values is worth it. A value takes part in at most two changes per
 * occurrence, so it occurs at most n - changes / 2 times (one change may be that to the first
 * value). If nearly all values differ from the previous one, the vote is skipped and the maximum
 * lead added to *slack, which keeps the upper bound valid; a majority of all rows is then also one
 * of the remaining rows. */
static int may_lead(size_t n, uint64_t changes, uint64_t *slack)
{
    if (changes + n / 32 < n)
        return 1;
    *slack += n + 1 - changes;
    return 0;
}

/* Merges two votes over disjoint rows: equal candidates add their weights, others cancel out. */
static void vote_join(struct vote *vote, int64_t value, uint64_t weight)
{
    if (vote->value == value) {
        vote->weight += weight;
    } else if (vote->weight >= weight) {
        vote->weight -= weight;
    } else {
        vote->value = value;
        vote->weight = weight - vote->weight;
    }
}

/* Votes on values[k] - (base + step * k). */
static void vote_add_many(struct vote *vote, const int64_t *values, size_t n, uint64_t base,
                          uint64_t step)
{
    int64_t candidates[PCI_VOTERS], leads[PCI_VOTERS];
    pci_simd_vote(values, n, base, step, candidates, leads);
    for (size_t j = 0; j < PCI_VOTERS; j++)
        vote_join(vote, candidates[j], (uint64_t)leads[j]);
}

static void add_votes(struct pass *pass, uint64_t row, const int64_t *values, size_t n,
                      const struct pci_range_stats *sweep)
{
    if (may_lead(n, sweep->changes, &pass->common_slack))
        vote_add_many(&pass->common, values, n, 0, 0);
    if (may_lead(n, n - sweep->steps, &pass->start_slack))
        vote_add_many(&pass->start, values, n, row, 1);
}

#define MAX_SIMD_RISE (INT64_C(1) << 51) /* limit of pci_simd_delta_bits() */

/* Histogram of the differences of a block without nulls. Two interleaved histograms avoid
 * store-to-load dependencies between consecutive increments. */
static void count_rises(struct pci_column_stats *s, const int64_t *values, size_t n,
                        const struct pci_range_stats *sweep)
{
    uint32_t even[128] = {0}, odd[128] = {0}; /* rises, then falls */
    uint64_t codes[PCF_BLOCK_ROWS + 1];
    if (sweep && sweep->low > -MAX_SIMD_RISE && sweep->high < MAX_SIMD_RISE) {
        pci_simd_delta_bits(values, n, codes);
    } else {
        for (size_t k = 1; k < n; k++) {
            uint64_t rise = (uint64_t)values[k] - (uint64_t)values[k - 1], falls = rise >> 63;
            codes[k] = significant_bits(rise ^ (0 - falls)) | falls << 6;
        }
    }
    for (size_t row = 0; row < n; row += 64) {
        size_t end = n - row < 64 ? n : row + 64, k = row + 1;
        for (; k + 1 < end; k += 2) {
            even[codes[k]]++;
            odd[codes[k + 1]]++;
        }
        if (k < end)
            even[codes[k]]++;
    }
    for (size_t i = 0; i < 64; i++) {
        s->rises[i] += even[i] + odd[i];
        s->falls[i] += even[64 + i] + odd[64 + i];
    }
}

/* Adds a block of integers. rises: range of the differences, or NULL. */
static void add_integers(struct pass *pass, const int64_t *values, size_t n, int64_t min,
                         int64_t max, const struct pci_range_stats *rises)
{
    struct pci_column_stats *s = pass->stats;
    add_integer_stats(s, pass->type, min, max);
    if (min == max)
        s->rises[0] += n - (n + 63) / 64;
    else if (!s->nulls && !pass->leaf)
        count_rises(s, values, n, rises);
}

/* Whether all values equal the last value of the previous block. */
static int is_flat(const struct pass *pass, const int64_t *values, size_t n)
{
    return pass->present >= 2 && values[0] == pass->last && values[n - 1] == pass->last &&
           pci_simd_all_equal(values, n, pass->last);
}

static void add_flat(struct pass *pass, size_t n)
{
    struct pci_column_stats *s = pass->stats;
    s->constant &= pass->last == s->first;
    s->linear &= s->step == 0;
    vote_join(&pass->common, pass->last, n);
    pass->start_slack++; /* value - row differs in each row */
    pass->present += n;
    if (pass->type != PCF_F64)
        add_integers(pass, NULL, n, pass->last, pass->last, NULL);
}

/* A block without nulls. */
static void add_values(struct pass *pass, uint64_t row, const int64_t *values, size_t n)
{
    size_t i = 0;
    if (is_flat(pass, values, n)) {
        add_flat(pass, n);
        return;
    }
    do
        add_value(pass, row + i, values[i]);
    while (++i < n && pass->present < 2);
    int64_t flip = flip_of(pass->type);
    struct pci_range_stats sweep;
    pci_simd_range_stats(values, n, flip, &sweep);
    if (i == 2) { /* add_value() has counted the first difference */
        sweep.changes -= values[1] != values[0];
        sweep.steps -= (uint64_t)values[1] - (uint64_t)values[0] == 1;
    }
    if (i < n)
        add_range_stats(pass, &sweep, values, n);
    if (i < n)
        update_scale(pass, values + i, n - i, sweep.least ^ flip);
    if (!pass->leaf && i < n)
        add_votes(pass, row + i, values + i, n - i, &sweep);
    pass->present += n - i;
    pass->last = values[n - 1];
    if (pass->type != PCF_F64)
        add_integers(pass, values, n, sweep.least ^ flip, sweep.greatest ^ flip, &sweep);
}

void pci_column_stats_add_range(struct pci_column_stats *stats, uint8_t type, const int64_t *values,
                                const uint8_t *valid, size_t n)
{
    uint64_t least = UINT64_MAX, greatest = 0;
    size_t present = 0;
    for (size_t i = 0; i < n; i++) {
        if (!valid[i])
            continue;
        uint64_t k = key_of(values[i], type);
        least = k < least ? k : least;
        greatest = k > greatest ? k : greatest;
        present++;
        if (type == PCF_F64)
            add_double_stats(stats, values[i]);
    }
    if (present && type != PCF_F64)
        add_integer_stats(stats, type, value_of(least, type), value_of(greatest, type));
}

/* A block with nulls: compacts the non-null values. */
static void add_nullable(struct pass *pass, struct pci_block_reader *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (!r->valid[i]) {
            pass->stats->nulls++;
            continue;
        }
        add_value(pass, r->row + i, r->values[i]);
        r->values[n++] = r->values[i];
    }
    r->n = n;
    if (!n || pass->type == PCF_F64)
        return;
    int64_t flip = flip_of(pass->type), least, greatest;
    pci_simd_range(r->values, n, flip, &least, &greatest);
    add_integers(pass, r->values, n, least ^ flip, greatest ^ flip, NULL);
}

static void add_block(struct pass *pass, struct pci_block_reader *r)
{
    struct pci_column_stats *s = pass->stats;
    size_t n = r->n;
    if (!memchr(r->valid, 0, n))
        add_values(pass, r->row, r->values, n);
    else
        add_nullable(pass, r);
    for (size_t i = 0; i < r->n && pass->type == PCF_F64; i++)
        add_double_stats(s, r->values[i]);
    r->n = n;
}

pcol_status pci_column_stats_compute(const struct pci_value_source *source, int leaf,
                                     struct pci_column_stats *stats, pcol_error *err)
{
    struct pass pass = {.stats = stats, .type = source->type, .leaf = leaf};
    struct pci_block_reader *reader = pci_malloc(1, sizeof *reader);
    pcol_status status;
    *stats =
        (struct pci_column_stats){.rows = source->rows, .constant = 1, .linear = 1, .ascending = 1};
    if (!reader)
        return pci_fail_memory(err);
    pci_block_reader_init(reader, source);
    while ((status = pci_block_reader_next(reader, err)) == PCOL_OK && reader->n)
        add_block(&pass, reader);
    pci_free(reader);
    if (status != PCOL_OK)
        return status;
    stats->common = pass.common.value;
    stats->common_start = pass.start.value;
    stats->common_majority_bound = pass.common.weight + pass.common_slack;
    stats->start_majority_bound = pass.start.weight + pass.start_slack;
    if (stats->nulls)
        stats->linear = stats->ascending = 0;
    if (!stats->scale)
        stats->scale = 1;
    return PCOL_OK;
}

uint64_t pci_cost_packed(const struct pci_column_stats *stats)
{
    uint64_t range = (uint64_t)stats->max - (uint64_t)stats->min;
    return stats->rows * pci_packed_width(range / stats->scale) + 64 + PCI_SECTION_BITS;
}
