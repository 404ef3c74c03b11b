/*
 * label_range.c - closed ranges of numbers in tests of labels, "1kb:64kb", "64kb:", ":64kb"; units
 * as text
 *
 * Units and their sizes are those of Go's pprof: a kB is 1024 bytes. A bound is a double in the
 * base unit of its dimension, bytes or nanoseconds, or an exact integer in its own unit; an unknown
 * unit is a dimension of its own. Sizes are integers, so integers are compared exactly.
 * Text that is no range is left to the test of equality: "16:9" may be a string.
 */
#include "query/labels.h"

#include "json/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_UNIT = 16 };

__extension__ typedef __int128 wide;

static const struct {
    const char *name; /* lower case, without a plural s if longer than 2 characters */
    char dimension;
    double size;
} units[] = {
    {"b", 'b', 1},
    {"byte", 'b', 1},
    {"kb", 'b', 0x1p10},
    {"kbyte", 'b', 0x1p10},
    {"kilobyte", 'b', 0x1p10},
    {"mb", 'b', 0x1p20},
    {"mbyte", 'b', 0x1p20},
    {"megabyte", 'b', 0x1p20},
    {"gb", 'b', 0x1p30},
    {"gbyte", 'b', 0x1p30},
    {"gigabyte", 'b', 0x1p30},
    {"tb", 'b', 0x1p40},
    {"tbyte", 'b', 0x1p40},
    {"terabyte", 'b', 0x1p40},
    {"pb", 'b', 0x1p50},
    {"pbyte", 'b', 0x1p50},
    {"petabyte", 'b', 0x1p50},
    {"ns", 't', 1},
    {"nanosecond", 't', 1},
    {"us", 't', 1e3},
    {"\xc2\xb5s", 't', 1e3},
    {"microsecond", 't', 1e3},
    {"ms", 't', 1e6},
    {"millisecond", 't', 1e6},
    {"s", 't', 1e9},
    {"sec", 't', 1e9},
    {"second", 't', 1e9},
    {"hr", 't', 3600e9},
    {"hour", 't', 3600e9},
};

/* The dimension and size of a unit; 0 and 1 of an unknown one. */
static char find_unit(pcol_str unit, double *size)
{
    char name[MAX_UNIT];
    size_t used =
        unit.size > 2 && (unit.data[unit.size - 1] | 0x20) == 's' ? unit.size - 1 : unit.size;
    *size = 1;
    if (!used || used >= sizeof name)
        return 0;
    for (size_t i = 0; i < used; i++)
        name[i] =
            unit.data[i] >= 'A' && unit.data[i] <= 'Z' ? (char)(unit.data[i] | 0x20) : unit.data[i];
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].name);
        if ((length == used || length == unit.size) &&
            !memcmp(units[i].name, length == used ? name : unit.data, length)) {
            *size = units[i].size;
            return units[i].dimension;
        }
    }
    return 0;
}

char pci_label_unit_size(pcol_str unit, double *size)
{
    return find_unit(unit, size);
}

double pci_label_integer_scale(int is_double, pcol_str *unit)
{
    double size;
    if (!is_double || find_unit(*unit, &size) != 't')
        return 1;
    *unit = (pcol_str){"nanoseconds", 11};
    return size;
}

size_t pci_label_scale(int64_t value, pcol_str unit, char *buffer)
{
    static const struct {
        char dimension;
        const char *name;
        double size;
    } shown[] = {{'b', "B", 1},       {'b', "kB", 0x1p10}, {'b', "MB", 0x1p20}, {'b', "GB", 0x1p30},
                 {'b', "TB", 0x1p40}, {'b', "PB", 0x1p50}, {'t', "ns", 1},      {'t', "us", 1e3},
                 {'t', "ms", 1e6},    {'t', "s", 1e9},     {'t', "hrs", 3600e9}};
    double size, number;
    char dimension = find_unit(unit, &size), digits[PCI_LABEL_TEXT];
    size_t chosen = sizeof shown / sizeof *shown;
    number = fabs((double)value) * size;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (shown[i].dimension == dimension && number / shown[i].size >= 1)
            chosen = i;
    if (!dimension || chosen == sizeof shown / sizeof *shown)
        return (size_t)snprintf(buffer, PCI_LABEL_TEXT, "%lld", (long long)value);
    /* The separator of the locale is between the digits. */
    size_t used = (size_t)snprintf(digits, sizeof digits, "%.2f", number / shown[chosen].size);
    const char *cents = digits + used - 2;
    return (size_t)snprintf(buffer, PCI_LABEL_TEXT, "%s%.*s%s%s%s", value < 0 ? "-" : "",
                            (int)strspn(digits, "0123456789"), digits,
                            strcmp(cents, "00") != 0 ? "." : "",
                            strcmp(cents, "00") != 0 ? cents : "", shown[chosen].name);
}

static int are_same(pcol_str a, pcol_str b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

static int is_hexadecimal(const char *text)
{
    text += *text == '-' || *text == '+';
    return text[0] == '0' && (text[1] | 0x20) == 'x';
}

/* Parses a number and the unit after it, up to `end`; 0: not a number. */
static int parse_bound(const char *text, const char *end, struct pci_label_bound *bound,
                       pcol_str *unit)
{
    char *after, *digits_end;
    if (text == end || !strchr("-+.0123456789", *text))
        return 0;
    bound->number = pci_number_strtod(text, &after);
    if (after == text || after > end || !isfinite(bound->number))
        return 0;
    errno = 0;
    bound->integer = strtoll(text, &digits_end, is_hexadecimal(text) ? 16 : 10);
    bound->is_integer = digits_end == after && !errno;
    *unit = (pcol_str){after, (size_t)(end - after)};
    for (size_t i = 0; i < unit->size; i++)
        if (strchr(" \t.+-0123456789:", unit->data[i]))
            return 0;
    return 1;
}

static void scale(struct pci_label_bound *bound, double size)
{
    bound->number *= size;
    bound->size = size;
}

void pci_label_range_parse(const char *text, struct pci_label_range *range)
{
    const char *colon = strchr(text, ':'), *end = text + strlen(text);
    pcol_str low_unit;
    double low_size, high_size;
    *range = (struct pci_label_range){.low.number = -HUGE_VAL, .high.number = HUGE_VAL};
    if (!colon || end == text + 1)
        return;
    int has_low = colon != text, has_high = colon + 1 != end;
    if (has_low && !parse_bound(text, colon, &range->low, &low_unit))
        return;
    if (has_high && !parse_bound(colon + 1, end, &range->high, &range->unit))
        return;
    if (!has_high)
        range->unit = low_unit;
    else if (!has_low)
        low_unit = range->unit;
    char low_dimension = find_unit(low_unit, &low_size);
    char high_dimension = find_unit(range->unit, &high_size);
    if (low_dimension != high_dimension || (!high_dimension && !are_same(low_unit, range->unit)))
        return;
    scale(&range->low, low_size);
    scale(&range->high, high_size);
    range->is_set = 1;
}

/* Compares an integer in a unit of this size with a bound, without rounding the integer: both are
 * below 2^63, and sizes at most 2^50. */
static int compare(int64_t integer, double size, const struct pci_label_bound *bound)
{
    wide a = (wide)integer * (int64_t)size;
    double b = bound->number;
    if (bound->is_integer) {
        wide exact = (wide)bound->integer * (int64_t)bound->size;
        return (a > exact) - (a < exact);
    }
    if (b >= 0x1p120)
        return -1;
    if (b < -0x1p120)
        return 1;
    wide whole = (wide)b;
    if (a != whole)
        return a < whole ? -1 : 1;
    return (b < (double)whole) - (b > (double)whole);
}

static pcol_str unit_of_key(pcol_str key)
{
    const pcol_str bytes = {"bytes", 5};
    if (are_same(key, (pcol_str){"alignment", 9}) || are_same(key, (pcol_str){"request", 7}))
        return bytes;
    return key;
}

int pci_label_range_test(const struct pci_label_range *range, int kind, pcol_str unit, pcol_str key,
                         int64_t bits)
{
    double size = 1, number;
    if (range->unit.size) {
        pcol_str own = unit.size ? unit : unit_of_key(key);
        double wanted;
        char dimension = find_unit(own, &size);
        if (dimension != find_unit(range->unit, &wanted) ||
            (!dimension && !are_same(own, range->unit)))
            return 0;
    }
    if (kind == PCI_LABEL_INTEGER)
        return compare(bits, size, &range->low) >= 0 && compare(bits, size, &range->high) <= 0;
    memcpy(&number, &bits, sizeof number);
    return number * size >= range->low.number && number * size <= range->high.number;
}
