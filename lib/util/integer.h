/*
 * integer.h - integers: decimal numbers of texts, the greatest common divisor
 *
 * Tests: tests/unit/test_util.c.
 */
#ifndef PCI_UTIL_INTEGER_H
#define PCI_UTIL_INTEGER_H

#include <stddef.h>
#include <stdint.h>

/* The greatest common divisor; that of a number and 0 is the number. */
static inline uint64_t pci_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* 1 if a text is an integer in JSON, of any size. */
static inline int pci_is_integer(const char *text, size_t size)
{
    size_t begin = size && *text == '-', at = begin;
    while (at < size && text[at] >= '0' && text[at] <= '9')
        at++;
    return at == size && at > begin && (text[begin] != '0' || size == begin + 1);
}

/* Parses [-] digits; 0 if the text is anything else, or its number does not fit. */
static inline int pci_parse_i64(const void *text, size_t size, int64_t *value)
{
    const unsigned char *at = text, *end = at + size;
    int negative = size > 1 && *at == '-';
    uint64_t sum = 0, limit = (uint64_t)INT64_MAX + (unsigned)negative;
    for (at += negative; at < end; at++) {
        unsigned digit = *at - (unsigned)'0';
        if (digit > 9 || sum > (limit - digit) / 10)
            return 0;
        sum = sum * 10 + digit;
    }
    *value = (int64_t)(negative ? 0 - sum : sum);
    return size > 0;
}

/* Parses [-] digits [. digits], times ten to the power of `decimals`, further digits rounded; 0 if
 * the text is anything else, or the product does not fit. */
static inline int pci_parse_decimal(const char *text, size_t size, unsigned decimals,
                                    int64_t *value)
{
    char digits[40];
    size_t at = 0, count = 0;
    int round_up = 0;
    for (; at < size && text[at] != '.' && count + decimals < sizeof digits; at++)
        digits[count++] = text[at];
    if (count == (size > 0 && *text == '-') || (at < size && text[at++] != '.'))
        return 0;
    for (unsigned i = 0; i < decimals; i++)
        digits[count++] = at < size ? text[at++] : '0';
    for (size_t i = at; i < size; i++)
        if (text[i] < '0' || text[i] > '9')
            return 0;
    if (at < size)
        round_up = text[at] >= '5';
    if (!pci_parse_i64(digits, count, value))
        return 0;
    return !__builtin_add_overflow(*value, *digits == '-' ? -round_up : round_up, value);
}

#endif
