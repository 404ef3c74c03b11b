/*
 * time_overlap.c - share of a sample in a range of time
 *
 * Times are integers of nanoseconds, so integer values are divided exactly: products of two 64-bit
 * numbers fit into 128 bits. Tests: suite answers.
 */
#include "model/time_overlap.h"

#include "model/column_range.h"

__extension__ typedef __int128 wide;

static wide clamp(wide x, wide low, wide high)
{
    return x < low ? low : x > high ? high : x;
}

/* floor(amount * part / whole + 0.5) for 0 <= part <= whole, whole > 0. */
static int64_t divide_rounded(int64_t amount, wide part, wide whole)
{
    wide product = (wide)amount * part;
    wide floor = product / whole;
    wide remainder = product % whole;
    if (remainder < 0) {
        remainder += whole;
        floor--;
    }
    return (int64_t)(floor + (remainder >= whole - remainder));
}

int pci_time_overlap(const struct pci_range *range, int is_double, int64_t time, int64_t duration,
                     pcol_amount *amount)
{
    wide from = range->from, to = range->to, start = time, whole = duration;
    if (duration <= 0)
        return time >= range->from && time < range->to;
    wide before = clamp(from - start, 0, whole), until = clamp(to - start, 0, whole);
    if (until <= before)
        return 0;
    if (is_double)
        amount->f64 = before == 0 && until == whole
                          ? amount->f64
                          : amount->f64 * (double)(until - before) / (double)whole;
    else if (range->share == PCOL_SHARE_ADDITIVE)
        amount->i64 =
            divide_rounded(amount->i64, until, whole) - divide_rounded(amount->i64, before, whole);
    else
        amount->i64 = divide_rounded(amount->i64, until - before, whole);
    return 1;
}

int pci_block_meets(const struct pcf_data *column, uint64_t block, int64_t from, int64_t to)
{
    struct pci_column_range bounds;
    return column->type != PCF_I64 || !pci_block_bounds(column, block, &bounds) ||
           (bounds.min < to && bounds.max >= from);
}
