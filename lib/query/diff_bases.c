/*
 * diff_bases.c - several bases of a comparison, and the limits that a change fails
 *
 * The bases are summarized by median, extremes and median absolute deviation (MAD), which one base
 * with unusual values does not move. With one base these are its value, its value and 0, so a limit
 * means the same for any number of bases. Tests: suite gate (brute force in Python, rates of false
 * alarms and of regressions that are found).
 */
#include "query/diff.h"

#include "util/alloc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEVIATIONS 3               /* MADs above the median that a rise has to exceed */
#define DEVIATION_BASES 3          /* fewest bases with a MAD that estimates noise */
#define ROUNDING (8 * DBL_EPSILON) /* relative error of scaled values and of sums of doubles */

/* ---- bases */

pcol_status pci_diff_bases_open(struct pci_diff *d, const struct pci_diff_queries *queries,
                                pcol_error *err)
{
    size_t n = queries->base_count;
    PCI_TRY(PCI_CALLOC(d->bases, n, err));
    d->info.base_count = n;
    for (size_t i = 0; i < n; i++)
        d->bases[i].file = pcol_file_retain(queries->bases[i]->file);
    PCI_TRY(PCI_CALLOC(d->values, n, err));
    return PCI_CALLOC(d->tops, n + 1, err);
}

void pci_diff_bases_close(struct pci_diff *d)
{
    for (size_t i = 0; d->bases && i < d->info.base_count; i++)
        pcol_file_close(d->bases[i].file);
    pci_free(d->entries);
    pci_free(d->ranges);
    pci_free(d->bases);
    pci_free(d->values);
}

pcol_status pci_diff_base_take(struct pci_diff *d, size_t base, size_t row, struct pci_sides *sides,
                               pcol_error *err)
{
    if (!sides->in[0])
        return PCOL_OK;
    PCI_TRY(PCI_GROW(d->entries, d->entry_capacity, d->entry_count + 1, err));
    d->entries[d->entry_count++] =
        (struct pci_diff_entry){(uint32_t)row, (uint32_t)base, sides->self[0], sides->total[0]};
    memset(&sides->self[0], 0, sizeof sides->self[0]);
    memset(&sides->total[0], 0, sizeof sides->total[0]);
    sides->in[0] = 0;
    return PCOL_OK;
}

pcol_status pci_diff_bases_sort(struct pci_diff *d, size_t count, pcol_error *err)
{
    struct pci_diff_entry *sorted;
    if (d->info.base_count < 2)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(d->ranges, count + 1, err));
    PCI_TRY(PCI_MALLOC(sorted, d->entry_count + 1, err));
    for (size_t i = 0; i < d->entry_count; i++)
        d->ranges[d->entries[i].row].end++;
    for (size_t row = 0, at = 0; row < count; row++) {
        size_t entries = d->ranges[row].end;
        d->ranges[row] = (struct pci_diff_range){at, at};
        at += entries;
    }
    for (size_t i = 0; i < d->entry_count; i++)
        sorted[d->ranges[d->entries[i].row].end++] = d->entries[i];
    pci_free(d->entries);
    d->entries = sorted;
    return PCOL_OK;
}

int pci_diff_bases_have_self(const struct pci_diff *d, size_t at)
{
    if (!d->ranges)
        return 0;
    for (size_t i = d->ranges[at].first; i < d->ranges[at].end; i++)
        if (!pci_amount_is_zero(d->bases[d->entries[i].base].is_double, d->entries[i].self))
            return 1;
    return 0;
}

void pci_diff_bases_move(struct pci_diff *d, size_t to, size_t from)
{
    if (d->ranges)
        d->ranges[to] = d->ranges[from];
}

void pci_diff_bases_join(struct pci_diff *d, size_t at)
{
    struct pci_diff_row *row = &d->rows[at];
    const struct pci_diff_entry *entries = d->entries + d->ranges[at].first;
    size_t count = d->ranges[at].end - d->ranges[at].first, zeros = d->info.base_count - count;
    for (size_t i = 0; i < count; i++) {
        const struct pci_diff_base *base = &d->bases[entries[i].base];
        d->values[i] = pci_amount_to_double(entries[i].self, base->is_double) * base->scale;
    }
    pci_diff_spread(d->values, count, zeros, &row->self_bases);
    for (size_t i = 0; i < count; i++) {
        const struct pci_diff_base *base = &d->bases[entries[i].base];
        double total = pci_amount_to_double(entries[i].total, base->is_double);
        row->samples = fmax(row->samples, fabs(total));
        d->values[i] = total * base->scale;
    }
    pci_diff_spread(d->values, count, zeros, &row->total_bases);
    row->sides.in[0] |= count > 0;
    row->sides.self[0].f64 = row->self_bases.median;
    row->sides.total[0].f64 = row->total_bases.median;
}

/* ---- statistics */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y) + (isnan(x) != 0) - (isnan(y) != 0);
}

/* Values in order, and `count` equal ones that are not listed. */
struct ordered {
    const double *values;
    size_t before; /* values before the equal ones */
    size_t count;
    double equal;
};

static struct ordered sort_numbers(double *values, size_t size, size_t count, double equal)
{
    struct ordered o = {values, 0, count, equal};
    qsort(values, size, sizeof *values, compare_numbers);
    while (o.before < size && values[o.before] < equal)
        o.before++;
    return o;
}

static double get_number(const struct ordered *o, size_t at)
{
    if (at < o->before)
        return o->values[at];
    return at < o->before + o->count ? o->equal : o->values[at - o->count];
}

static double get_median(const struct ordered *o, size_t size)
{
    double low = get_number(o, (size - 1) / 2), high = get_number(o, size / 2);
    return low == high ? low : low / 2 + high / 2;
}

void pci_diff_spread(double *values, size_t count, size_t zeros, pcol_spread *spread)
{
    size_t size = count + zeros;
    struct ordered o = sort_numbers(values, count, zeros, 0);
    spread->median = get_median(&o, size);
    spread->min = get_number(&o, 0);
    spread->max = get_number(&o, size - 1);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - spread->median);
    o = sort_numbers(values, count, zeros, fabs(spread->median));
    spread->mad = get_median(&o, size);
}

static int has_finite_totals(const struct pci_diff *d)
{
    int finite = isfinite(d->info.other_total) != 0;
    for (size_t i = 0; i < d->info.base_count; i++)
        finite &= isfinite(d->bases[i].whole) != 0;
    return finite;
}

pcol_status pci_diff_scale(struct pci_diff *d, pcol_error *err)
{
    double whole = d->info.base_totals.median;
    int positive = whole > 0 && d->info.other_total > 0;
    for (size_t i = 0; i < d->info.base_count; i++)
        positive &= d->bases[i].whole > 0;
    if (!has_finite_totals(d))
        return pci_fail(err, PCOL_E_LIMIT, "a profile whose total is not finite cannot be scaled");
    if (!positive)
        return pci_fail(err, PCOL_E_ARGUMENT, "a profile whose total is 0 cannot be scaled");
    d->info.scale = whole / d->info.other_total;
    for (size_t i = 0; i < d->info.base_count; i++)
        d->bases[i].scale = whole / d->bases[i].whole;
    return PCOL_OK;
}

/* ---- limits */

pcol_status pci_diff_count(struct pci_diff *d, const struct pci_diff_queries *queries,
                           const pcol_diff_options *options, pcol_error *err)
{
    const struct pci_diff_queries of_samples = {queries->counts, queries->base_count,
                                                queries->counts[queries->base_count], NULL};
    pcol_diff_options rows = PCOL_INIT(pcol_diff_options);
    struct pci_diff *counted;
    rows.by = options->by;
    rows.label = options->label;
    rows.order = PCOL_ORDER_NAME;
    PCI_TRY(pci_query_diff(&of_samples, &rows, &counted, err));
    for (size_t i = 0, at = 0; i < d->count; i++) {
        while (at < counted->count &&
               pci_frame_compare(&counted->rows[at].frame, &d->rows[i].frame) < 0)
            at++;
        d->rows[i].samples =
            at < counted->count && !pci_frame_compare(&counted->rows[at].frame, &d->rows[i].frame)
                ? counted->rows[at].samples
                : 0;
    }
    pci_diff_free(counted);
    return PCOL_OK;
}

/* 1 if a value exceeds the bases by more than the limit, in percent of @whole. rise: above the
 * highest base. One rounding of the percentage: a value equal to the limit in decimal digits is
 * equal to it here. error: of rounding, in the rise. */
static int exceeds(double value, double rise, double error, const pcol_spread *bases,
                   size_t base_count, double whole, double percent)
{
    double part = 100 * rise / fabs(whole);
    double doubt = whole != 0 ? 100 * (error / fabs(whole)) : 0;
    if (!isfinite(part) && whole != 0)
        part = 100 * (rise / fabs(whole));
    return rise > error && part > percent + doubt &&
           (base_count < DEVIATION_BASES || value > bases->median + DEVIATIONS * bases->mad);
}

/* Of a sum; integers are exact. */
static double error_of(const struct pci_diff_info *info, double value)
{
    return info->is_double ? ROUNDING * fabs(value) : 0;
}

pcol_status pci_diff_judge(struct pci_diff *d, const pcol_diff_options *options, pcol_error *err)
{
    struct pci_diff_info *info = &d->info;
    size_t n = info->base_count;
    double whole = pci_amount_to_double(info->total[0], info->is_double);
    double total = info->other_total;
    if (options->flags & (PCOL_DIFF_FAIL_TOTAL | PCOL_DIFF_FAIL_ABOVE) && !has_finite_totals(d))
        return pci_fail(err, PCOL_E_LIMIT,
                        "a total that is not finite cannot be compared with a limit");
    if (options->flags & PCOL_DIFF_FAIL_TOTAL)
        info->total_above =
            exceeds(total, total - info->base_totals.max, error_of(info, total), &info->base_totals,
                    n, info->base_totals.median, options->fail_total);
    for (size_t i = 0; options->flags & PCOL_DIFF_FAIL_ABOVE && i < d->count; i++) {
        struct pci_diff_row *row = &d->rows[i];
        double value = pci_amount_to_double(row->sides.total[1], info->is_double);
        double rise = n > 1 ? value - row->total_bases.max
                            : pci_amount_to_double(row->total_delta, info->is_double);
        row->above = row->samples >= (double)options->min_samples &&
                     exceeds(value, rise, error_of(info, value), &row->total_bases, n, whole,
                             options->fail_above);
    }
    return PCOL_OK;
}
