/*
 * label_range.c - closed ranges of numbers in tests of labels, "1kb:64kb", "64kb:", ":64kb"; units
 * as text
 *
 * Units and their sizes are those of Go's pprof: a kB is 1024 bytes. Bounds are in the base unit of
 * their dimension, bytes or nanoseconds; an unknown unit is a dimension of its own. Sizes are
 * integers, so integers are compared exactly, also with bounds such as 1.5 and 1e16.
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

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses e[+-]digits up to the end, as at most a million. */
static int parse_exponent(const char *text, const char *end, int64_t *exponent)
{
    int is_negative = text < end && *text == '-';
    text += is_negative || (text < end && *text == '+');
    const char *start = text;
    for (*exponent = 0; text < end && is_digit(*text); text++)
        *exponent = *exponent < 100000 ? *exponent * 10 + (*text - '0') : 1000000;
    if (is_negative)
        *exponent = -*exponent;
    return text == end && text > start;
}

int pci_label_decimal(const char *text, const char *end, int64_t size,
                      struct pci_label_decimal *value)
{
    const pci_wide most = (pci_wide)INT64_C(1000000000000000000) * 1000; /* of 22 digits */
    int is_negative = text < end && *text == '-', has_point = 0, digits = 0, rest = 0;
    pci_wide number = 0;
    int64_t power = 0, exponent = 0;
    for (text += is_negative; text < end && (is_digit(*text) || (*text == '.' && !has_point));
         text++) {
        if (*text == '.') {
            has_point = 1;
            continue;
        }
        digits = 1;
        if (number >= most) {
            rest |= *text != '0';
            power += !has_point;
        } else {
            number = number * 10 + (*text - '0');
            power -= has_point;
        }
    }
    if (!digits ||
        (text < end && ((*text | 0x20) != 'e' || !parse_exponent(text + 1, end, &exponent))))
        return 0;
    number *= size;
    for (power += exponent; number && power > 0; power--)
        if (__builtin_mul_overflow(number, 10, &number) || number >> 120)
            return 0;
    for (; number && power < 0; power++) {
        rest |= number % 10 != 0;
        number /= 10;
    }
    *value = (struct pci_label_decimal){is_negative ? -number - rest : number, rest};
    return 1;
}

/* Parses a number and the unit after it, up to `end`; 0: not a number. */
static int parse_bound(const char *text, const char *end, struct pci_label_bound *bound,
                       const char **after, pcol_str *unit)
{
    char *number_end;
    const char *digits = text + (text < end && (*text == '-' || *text == '+'));
    if (digits == end || !(is_digit(*digits) || *digits == '.'))
        return 0;
    bound->number = pci_number_strtod(text, &number_end);
    *after = number_end;
    if (*after == text || *after > end)
        return 0;
    *unit = (pcol_str){*after, (size_t)(end - *after)};
    for (size_t i = 0; i < unit->size; i++)
        if (strchr(" \t.+-0123456789:", unit->data[i]))
            return 0;
    return 1;
}

/* As pci_label_decimal(), of hexadecimal digits. */
static int parse_hexadecimal(const char *text, const char *end, int64_t size,
                             struct pci_label_decimal *value)
{
    char *after;
    const char *digits = text + (*text == '-' || *text == '+');
    if (digits[0] != '0' || (digits[1] | 0x20) != 'x')
        return 0;
    errno = 0;
    *value = (struct pci_label_decimal){(pci_wide)strtoll(text, &after, 16) * size, 0};
    return after == end && !errno;
}

static void scale(const char *text, const char *after, double size, struct pci_label_bound *bound)
{
    bound->number *= size;
    bound->is_exact =
        pci_label_decimal(text + (*text == '+'), after, (int64_t)size, &bound->exact) ||
        parse_hexadecimal(text, after, (int64_t)size, &bound->exact);
}

void pci_label_range_parse(const char *text, struct pci_label_range *range)
{
    const char *colon = strchr(text, ':'), *end = text + strlen(text), *low_end, *high_end;
    pcol_str low_unit;
    double low_size, high_size;
    *range = (struct pci_label_range){.low.number = -HUGE_VAL, .high.number = HUGE_VAL};
    if (!colon || end == text + 1)
        return;
    int has_low = colon != text, has_high = colon + 1 != end;
    if (has_low && !parse_bound(text, colon, &range->low, &low_end, &low_unit))
        return;
    if (has_high && !parse_bound(colon + 1, end, &range->high, &high_end, &range->unit))
        return;
    if (!has_high)
        range->unit = low_unit;
    else if (!has_low)
        low_unit = range->unit;
    char low_dimension = find_unit(low_unit, &low_size);
    char high_dimension = find_unit(range->unit, &high_size);
    if (low_dimension != high_dimension || (!high_dimension && !are_same(low_unit, range->unit)))
        return;
    if (has_low)
        scale(text, low_end, low_size, &range->low);
    if (has_high)
        scale(colon + 1, high_end, high_size, &range->high);
    range->is_set = 1;
}

/* Compares an integer in a unit of this size with a bound: below 2^63 times at most 2^50. */
static int compare(int64_t integer, double size, const struct pci_label_bound *bound)
{
    pci_wide a = (pci_wide)integer * (int64_t)size;
    if (!bound->is_exact) /* beyond all products */
        return ((double)a > bound->number) - ((double)a < bound->number);
    return a == bound->exact.floor ? -bound->exact.has_rest
                                   : (a > bound->exact.floor) - (a < bound->exact.floor);
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
