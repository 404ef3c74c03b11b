/*
 * integer.h - decimal integers of texts
 *
 * Tests: tests/unit/test_util.c.
 */
#ifndef PCI_UTIL_INTEGER_H
#define PCI_UTIL_INTEGER_H

#include <stddef.h>
#include <stdint.h>

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

#endif
