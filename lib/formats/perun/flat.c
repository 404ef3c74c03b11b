/*
 * flat.c - flat form of structured values: texts of numbers, and the order of keys
 */
#include "formats/perun/flat.h"

#include "json/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

size_t pci_flat_integer(int64_t value, char text[PCI_FLAT_NUMBER])
{
    char digits[20];
    size_t at = sizeof digits, sign = value < 0;
    uint64_t left = sign ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    *text = '-';
    memcpy(text + sign, digits + at, sizeof digits - at);
    return sign + sizeof digits - at;
}

/* Split a number's text d.ddde+xx into digits and exponent. */
static size_t split_number(const char *text, size_t size, char *digits, int *exponent)
{
    size_t count = 0, i = 0;
    int point = 0, seen = 0, shift = 0, e = 0, sign = 1;
    for (; i < size && text[i] != 'e'; i++) {
        if (text[i] == '.') {
            point = 1;
            continue;
        }
        if (!seen && text[i] == '0') { /* zeros before the first digit only shift the point */
            shift -= point;
            continue;
        }
        seen = 1;
        digits[count++] = text[i];
        shift += !point;
    }
    if (i < size) {
        sign = text[i + 1] == '-' ? -1 : 1; /* the sign is always present */
        for (i += 2; i < size; i++)
            e = e * 10 + (text[i] - '0');
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    *exponent = shift + sign * e - 1; /* of the first digit */
    return count;
}

size_t pci_flat_double(double value, char text[PCI_FLAT_NUMBER])
{
    char shortest[PCI_NUMBER_SIZE], digits[PCI_NUMBER_SIZE] = "0";
    char *to = text;
    int exponent = 0;
    if (isnan(value))
        return (size_t)snprintf(text, PCI_FLAT_NUMBER, "nan");
    if (isinf(value))
        return (size_t)snprintf(text, PCI_FLAT_NUMBER, value < 0 ? "-inf" : "inf");
    if (signbit(value))
        *to++ = '-';
    if (value == 0)
        return (size_t)(to - text) + (size_t)snprintf(to, 4, "0.0");
    size_t size = pci_number_format(fabs(value), shortest);
    size_t count = split_number(shortest, size, digits, &exponent);
    if (exponent < -4 || exponent >= 16) {
        *to++ = digits[0];
        if (count > 1) {
            *to++ = '.';
            memcpy(to, digits + 1, count - 1);
            to += count - 1;
        }
        to += snprintf(to, 8, "e%c%02d", exponent < 0 ? '-' : '+',
                       exponent < 0 ? -exponent : exponent);
        return (size_t)(to - text);
    }
    if (exponent < 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = -1; i > exponent; i--)
            *to++ = '0';
    }
    for (size_t i = 0; i < count || (int)i <= exponent; i++) {
        if (exponent >= 0 && (int)i == exponent + 1)
            *to++ = '.';
        *to++ = i < count ? digits[i] : '0';
    }
    if (exponent >= 0 && (int)count <= exponent + 1) {
        *to++ = '.';
        *to++ = '0';
    }
    return (size_t)(to - text);
}

/* ---- order of keys */

/* Rank of a key: 0 to 6 for keys with a known meaning, 7 for others. */
static int get_rank(pcol_str key)
{
    static const struct {
        const char *key;
        int rank;
    } ranks[] = {
        {"bin", 0},    {"file", 1},      {"source", 1},    {"package", 1},     {"module", 2},
        {"class", 3},  {"struct", 3},    {"structure", 3}, {"function", 4},    {"func", 4},
        {"method", 4}, {"procedure", 4}, {"line", 5},      {"instruction", 6},
    };
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (strlen(ranks[i].key) == key.size && !memcmp(ranks[i].key, key.data, key.size))
            return ranks[i].rank;
    return 7;
}

/* Decode the next character of UTF-8, including surrogates of three bytes. An invalid byte becomes
 * the surrogate that Python maps it to. */
static uint32_t next_code(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *p = *at;
    unsigned c = p[0], need = c < 0x80 ? 0 : c < 0xc2 ? 4 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    uint32_t code = need == 0 ? c : need == 1 ? c & 0x1f : need == 2 ? c & 0x0f : c & 0x07;
    *at = p + 1;
    if (need > 3 || c > 0xf4)
        return 0xdc00 + c;
    if ((size_t)(end - p) <= need)
        return need ? 0xdc00 + c : c;
    for (unsigned i = 1; i <= need; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0xdc00 + c;
        code = code << 6 | (p[i] & 0x3fu);
    }
    *at = p + 1 + need;
    return code;
}

struct digits {
    const unsigned char *at, *end;
    char buffer[12];
    size_t used, size;
};

/* The next decimal digit of a key's number, or -1. */
static int next_digit(struct digits *d)
{
    if (d->used == d->size) {
        if (d->at == d->end)
            return -1;
        d->size = (size_t)snprintf(d->buffer, sizeof d->buffer, "%" PRIu32,
                                   next_code(&d->at, d->end) + 6);
        d->used = 0;
    }
    return d->buffer[d->used++];
}

static size_t count_digits(pcol_str key)
{
    struct digits d = {(const unsigned char *)key.data, (const unsigned char *)key.data + key.size,
                       "", 0, 0};
    size_t count = 0;
    while (next_digit(&d) >= 0)
        count++;
    return count;
}

/* Compare a number below ten with the number of a key. */
static int compare_rank(int rank, pcol_str key)
{
    struct digits d = {(const unsigned char *)key.data, (const unsigned char *)key.data + key.size,
                       "", 0, 0};
    size_t count = count_digits(key);
    if (count != 1)
        return count ? -1 : 1;
    return rank - (next_digit(&d) - '0');
}

int pci_flat_compare(pcol_str a, pcol_str b)
{
    int rank_a = get_rank(a), rank_b = get_rank(b);
    if (rank_a < 7 && rank_b < 7)
        return rank_a - rank_b;
    if (rank_a < 7)
        return compare_rank(rank_a, b);
    if (rank_b < 7)
        return -compare_rank(rank_b, a);
    size_t count_a = count_digits(a), count_b = count_digits(b);
    if (count_a != count_b)
        return count_a < count_b ? -1 : 1;
    struct digits x = {(const unsigned char *)a.data, (const unsigned char *)a.data + a.size, "", 0,
                       0};
    struct digits y = {(const unsigned char *)b.data, (const unsigned char *)b.data + b.size, "", 0,
                       0};
    for (size_t i = 0; i < count_a; i++) {
        int difference = next_digit(&x) - next_digit(&y);
        if (difference)
            return difference;
    }
    return 0;
}
