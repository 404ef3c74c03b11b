/*
 * time_overlap.c - samples cut by a range of time
 *
 * Times are integers of nanoseconds, so the rules for integers are computed exactly: products of
 * two of them fit into 128 bits.
 */
#include "model/time_overlap.h"

#include "format/decode.h"
#include "format/load.h"

__extension__ typedef __int128 wide;

static wide clamp(wide x, wide low, wide high)
{
    return x < low ? low : x > high ? high : x;
}

/* floor(amount * part / whole + 0.5) for 0 <= part <= whole, whole > 0. */
static int64_t rounded(int64_t amount, wide part, wide whole)
{
    wide product = (wide)amount * part;
    wide floor = product / whole;
    wide rest = product % whole;
    if (rest < 0) {
        rest += whole;
        floor--;
    }
    return (int64_t)(floor + (rest >= whole - rest));
}

int pci_time_overlap(const struct pci_range *range, int is_double, int64_t time, int64_t duration,
                     pcol_amount *amount)
{
    wide from = range->from, to = range->to, start = time, whole = duration;
    if (duration <= 0)
        return time >= range->from && time < range->to;
    wide before = clamp(from - start, 0, whole), upto = clamp(to - start, 0, whole);
    if (upto <= before)
        return 0;
    if (is_double)
        amount->f64 = before == 0 && upto == whole
                          ? amount->f64
                          : amount->f64 * (double)(upto - before) / (double)whole;
    else if (range->share == PCOL_SHARE_ADDITIVE)
        amount->i64 = rounded(amount->i64, upto, whole) - rounded(amount->i64, before, whole);
    else
        amount->i64 = rounded(amount->i64, upto - before, whole);
    return 1;
}

/* The values that base + slope * j / 65536 + scale * u can have. */
static int meets(wide low, wide high, int64_t from, int64_t to)
{
    /* Sums are taken modulo 2^64: where they may wrap, nothing is known. */
    if (low < INT64_MIN || high > INT64_MAX)
        return 1;
    return low < to && high >= from;
}

static void widen(wide *low, wide *high, wide at_start, wide at_end, uint64_t scale, unsigned width)
{
    /* Beyond 2^63 the sum wraps, however much beyond. */
    wide span = width > 57 || scale >> 62 ? (wide)INT64_MAX * 4 : (((wide)1 << width) - 1) * scale;
    *low = at_start < at_end ? at_start : at_end;
    *high = (at_start < at_end ? at_end : at_start) + span;
}

int pci_block_meets(const struct pcf_data *column, uint64_t block, int64_t from, int64_t to)
{
    uint64_t first = block * 1024u;
    uint64_t last = column->rows - first > 1024 ? first + 1023 : column->rows - 1;
    wide low, high;
    if (column->type != PCF_I64)
        return 1;
    if (column->encoding == PCF_LINEAR && !(column->flags & PCF_COLUMN_DEFAULT_NULL))
        widen(&low, &high, column->base + (wide)column->step * (wide)first,
              column->base + (wide)column->step * (wide)last, 1, 0);
    else if (column->encoding == PCF_PACKED)
        widen(&low, &high, column->base + (wide)column->step * (wide)first,
              column->base + (wide)column->step * (wide)last, column->scale, column->width);
    else if (column->encoding == PCF_BLOCKED && column->blocks) {
        const uint8_t *entry = column->blocks + block * sizeof(struct pcf_block);
        int64_t base = (int64_t)pcf_load64(entry), slope = (int64_t)pcf_load64(entry + 8);
        wide rise = (wide)slope * (wide)(last - first);
        /* The product is cut to 64 bits before it is shifted. */
        if (rise < INT64_MIN || rise > INT64_MAX)
            return 1;
        rise = rise >= 0 ? rise / 65536 : -((-rise + 65535) / 65536);
        widen(&low, &high, base, base + rise, column->scale,
              (unsigned)(pcf_load64(entry + 16) >> 56));
    } else {
        return 1;
    }
    return meets(low, high, from, to);
}
