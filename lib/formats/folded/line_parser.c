/*
 * line_parser.c - parsing of one line of folded stacks, and printing of its count
 */
#include "formats/folded/line_parser.h"

#include "stream/out_buffer.h"
#include "util/integer.h"

#include <math.h>
#include <string.h>

#define LONGEST_COUNT 64u
#define EXACT_LIMIT 9007199254740992.0 /* 2^53: every integer up to it is a double */

static int is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

static int is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t skip_digits(const uint8_t *text, size_t at, size_t size)
{
    while (at < size && is_digit(text[at]))
        at++;
    return at;
}

/* Parse `[+-] digits [. digits] [e [+-] digits]`; one side of the point may be empty. */
static int parse_count(const uint8_t *text, size_t size, struct pci_folded_count *count)
{
    char normalized[LONGEST_COUNT + 4], scratch[LONGEST_COUNT + 4];
    size_t used = 0, at = 0;
    int negative = size && text[0] == '-';
    at += size && (text[0] == '-' || text[0] == '+');
    size_t integer_start = at, integer_end = skip_digits(text, at, size);
    size_t fraction_start =
        integer_end < size && text[integer_end] == '.' ? integer_end + 1 : integer_end;
    size_t fraction_end = skip_digits(text, fraction_start, size);
    if (integer_end == integer_start && fraction_end == fraction_start)
        return 0;
    size_t end = fraction_end;
    if (fraction_end < size && (text[fraction_end] == 'e' || text[fraction_end] == 'E')) {
        size_t exponent_start = fraction_end + 1;
        exponent_start +=
            exponent_start < size && (text[exponent_start] == '-' || text[exponent_start] == '+');
        end = skip_digits(text, exponent_start, size);
        if (end == exponent_start)
            return 0;
    }
    if (end != size)
        return 0;
    count->is_double = 0;
    size_t sign = (size_t)negative; /* digits, after '-' but not after '+' */
    if (integer_end == size &&
        pci_parse_i64(text + integer_start - sign, size - integer_start + sign, &count->as.i64))
        return 1;
    if (negative)
        normalized[used++] = '-';
    if (integer_end == integer_start)
        normalized[used++] = '0';
    memcpy(normalized + used, text + integer_start, integer_end - integer_start);
    used += integer_end - integer_start;
    if (fraction_end > fraction_start) {
        normalized[used++] = '.';
        memcpy(normalized + used, text + fraction_start, fraction_end - fraction_start);
        used += fraction_end - fraction_start;
    }
    memcpy(normalized + used, text + fraction_end, end - fraction_end);
    used += end - fraction_end;
    count->is_double = 1;
    count->as.f64 = pci_number_parse(normalized, used, scratch);
    return isfinite(count->as.f64) != 0;
}

int pci_folded_split(const uint8_t *text, size_t size, struct pci_folded_parts *parts)
{
    size_t end = size;
    while (end && is_blank(text[end - 1]))
        end--;
    size_t start = end;
    while (start && !is_blank(text[start - 1]) && end - start <= LONGEST_COUNT)
        start--;
    parts->fault = start;
    parts->message = "no count at the end of the line";
    if (!start || !is_blank(text[start - 1])) {
        parts->fault = end;
        return 0;
    }
    if (!parse_count(text + start, end - start, &parts->value)) {
        if (end > start && is_digit(text[start]))
            parts->message = "count is not a number within range";
        return 0;
    }
    parts->count = start;
    parts->stack = start - 1;
    parts->plain = text[start - 1] == ' ' && end == size;
    return 1;
}

size_t pci_folded_print(const struct pci_folded_count *count, char text[PCI_FOLDED_COUNT_SIZE])
{
    double value = count->as.f64;
    int64_t number = count->as.i64;
    if (count->is_double) {
        if (!isfinite(value))
            return 0;
        if (fabs(value) > EXACT_LIMIT || value != floor(value) || (value == 0 && signbit(value)))
            return pci_number_format(value, text);
        number = (int64_t)value;
    }
    return (size_t)(pci_out_digits((uint8_t *)text, number) - (uint8_t *)text);
}
