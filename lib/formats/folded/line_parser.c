/*
 * line_parser.c - a folded line in two parts (line_parser.h)
 */
#include "formats/folded/line_parser.h"

#include "stream/out_buffer.h"

#include <math.h>
#include <string.h>

#define LONGEST_COUNT 64u
#define EXACT 9007199254740992.0 /* 2^53: every integer up to it is a double */

static int is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

static int is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t digits(const uint8_t *text, size_t at, size_t size)
{
    while (at < size && is_digit(text[at]))
        at++;
    return at;
}

/* An integer of int64's range; 0 if it is larger. */
static int integer(const uint8_t *text, size_t size, int negative, int64_t *value)
{
    uint64_t sum = 0, most = (uint64_t)INT64_MAX + (unsigned)negative;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (sum > (most - digit) / 10)
            return 0;
        sum = sum * 10 + digit;
    }
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return 1;
}

/* `[+-] digits [. digits] [e [+-] digits]`; digits may lack before or behind the point. */
static int parse(const uint8_t *text, size_t size, struct pci_folded_count *count)
{
    char proper[LONGEST_COUNT + 4], scratch[LONGEST_COUNT + 4];
    size_t used = 0, at = 0;
    int negative = size && text[0] == '-';
    at += size && (text[0] == '-' || text[0] == '+');
    size_t whole = at, point = digits(text, at, size);
    size_t fraction = point < size && text[point] == '.' ? point + 1 : point;
    size_t tail = digits(text, fraction, size);
    if (point == whole && tail == fraction)
        return 0;
    size_t end = tail;
    if (tail < size && (text[tail] == 'e' || text[tail] == 'E')) {
        size_t power = tail + 1;
        power += power < size && (text[power] == '-' || text[power] == '+');
        end = digits(text, power, size);
        if (end == power)
            return 0;
    }
    if (end != size)
        return 0;
    count->is_double = 0;
    if (point == size && integer(text + whole, size - whole, negative, &count->as.i64))
        return 1;
    if (negative)
        proper[used++] = '-';
    if (point == whole)
        proper[used++] = '0';
    memcpy(proper + used, text + whole, point - whole);
    used += point - whole;
    if (tail > fraction) {
        proper[used++] = '.';
        memcpy(proper + used, text + fraction, tail - fraction);
        used += tail - fraction;
    }
    memcpy(proper + used, text + tail, end - tail);
    used += end - tail;
    count->is_double = 1;
    count->as.f64 = pci_number_parse(proper, used, scratch);
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
    parts->what = "no count at the end of the line";
    if (!start || !is_blank(text[start - 1])) {
        parts->fault = end;
        return 0;
    }
    if (!parse(text + start, end - start, &parts->value)) {
        if (end > start && is_digit(text[start]))
            parts->what = "count is not a number within range";
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
        if (fabs(value) > EXACT || value != floor(value) || (value == 0 && signbit(value)))
            return pci_number_format(value, text);
        number = (int64_t)value;
    }
    return (size_t)(pci_out_digits((uint8_t *)text, number) - (uint8_t *)text);
}
