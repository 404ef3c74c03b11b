/*
 * number.c - decimal text to double and back
 *
 * Common numbers (at most 19 digits, powers of ten within +-19) are converted exactly in 128-bit
 * integers: digits * 10^n or digits / 10^n to 64 bits and a sticky bit, rounded once. All others,
 * and formatting, use the C library with the C locale, set for the calling thread only, as the
 * program may use another one. Thread-safe. Tests: tests/unit/test_json.c.
 */
#include "json/number.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

const uint64_t pci_powers_of_ten[PCI_MAX_POWER + 1] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

static int leading_zeros(u128 value)
{
    uint64_t high = (uint64_t)(value >> 64);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)value);
}

/* value * 2^exponent, slightly more if sticky; value is not 0, and the result is a normal
 * double. */
static double round_binary(u128 value, int exponent, int sticky)
{
    int zeros = leading_zeros(value);
    value <<= zeros;
    exponent -= zeros;
    uint64_t mantissa = (uint64_t)(value >> 75); /* the upper 53 bits */
    u128 rest = value << 53;
    u128 half = (u128)1 << 127;
    if (rest > half || (rest == half && (sticky || (mantissa & 1))))
        mantissa++;
    exponent += 75;
    /* A carry to 2^53 increments the exponent, as the implicit bit is added and not set. */
    uint64_t bits = ((uint64_t)(exponent + 1075 - 1) << 52) + mantissa;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

double pci_number_scale(uint64_t digits, int power)
{
    if (!digits)
        return 0;
    if (power >= 0)
        return round_binary((u128)digits * pci_powers_of_ten[power], 0, 0);
    u128 numerator = (u128)digits;
    int shift = leading_zeros(numerator);
    numerator <<= shift;
    uint64_t divisor = pci_powers_of_ten[-power];
    return round_binary(numerator / divisor, -shift, numerator % divisor != 0);
}

double pci_number_strtod(const char *text, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = c ? uselocale(c) : (locale_t)0;
    double value = strtod(text, end);
    if (c) {
        uselocale(old);
        freelocale(c);
    }
    return value;
}

static double parse_with_strtod(const char *text, size_t size, char *scratch)
{
    memcpy(scratch, text, size);
    scratch[size] = 0;
    return pci_number_strtod(scratch, NULL);
}

double pci_number_parse(const char *text, size_t size, char *scratch)
{
    size_t i = 0;
    int negative = size && text[0] == '-';
    i += (size_t)negative;
    uint64_t digits = 0;
    int significant = 0, power = 0, point = 0;
    for (; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '.') {
            point = 1;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        if ((significant += significant > 0 || c != '0') > 19)
            return parse_with_strtod(text, size, scratch);
        digits = digits * 10 + (unsigned)(c - '0');
        if ((power -= point) < -400)
            return parse_with_strtod(text, size, scratch);
    }
    if (i < size) {
        int sign = 1, exponent = 0;
        i++; /* e */
        if (i < size && (text[i] == '+' || text[i] == '-'))
            sign = text[i++] == '-' ? -1 : 1;
        for (; i < size && exponent < 10000; i++)
            exponent = exponent * 10 + (text[i] - '0');
        power += sign * exponent;
    }
    if (digits && (power < -PCI_MAX_POWER || power > PCI_MAX_POWER))
        return parse_with_strtod(text, size, scratch);
    double value = digits ? pci_number_scale(digits, power) : 0;
    return negative ? -value : value;
}

size_t pci_number_format(double value, char text[PCI_NUMBER_SIZE])
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = c ? uselocale(c) : (locale_t)0;
    int size = 0;
    /* Subnormal numbers may have fewer than 15 significant digits. */
    int least = value > -2.3e-308 && value < 2.3e-308 ? 1 : 15;
    for (int precision = least; precision <= 17; precision++) {
        size = snprintf(text, PCI_NUMBER_SIZE, "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (c) {
        uselocale(old);
        freelocale(c);
    }
    return size > 0 ? (size_t)size : 0;
}
