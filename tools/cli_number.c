/*
 * cli_number.c - numbers to text and back, independent of any locale
 *
 * Integers are written two digits at a time: `cat` spends most of its time here. Doubles get the
 * shortest decimal that restores the same double, laid out as Python's repr (0.1, 20.0, 1e-05,
 * 1e+16), so that the text alone shows that it is a double.
 */
#include "cli.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                     "25262728293031323334353637383940414243444546474849"
                                     "50515253545556575859606162636465666768697071727374"
                                     "75767778798081828384858687888990919293949596979899";

static size_t count_digits(uint64_t value)
{
    size_t count = 1;

    while (value >= 10000) {
        value /= 10000;
        count += 4;
    }
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

size_t cli_format_u64(char *text, uint64_t value)
{
    if (value < 10) {
        *text = (char)('0' + value);
        return 1;
    }
    size_t count = count_digits(value), at = count;

    while (value >= 100) {
        at -= 2;
        memcpy(text + at, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(text, digit_pairs + 2 * value, 2);
    else
        *text = (char)('0' + value);
    return count;
}

size_t cli_format_i64(char *text, int64_t value)
{
    if (value >= 0)
        return cli_format_u64(text, (uint64_t)value);
    *text = '-';
    return 1 + cli_format_u64(text + 1, 0 - (uint64_t)value);
}

size_t cli_format_quick(char *text, int64_t value)
{
    char digits[16] = {0}; /* copies beyond the digits are harmless */

    if ((uint64_t)value >= 100000000)
        return cli_format_i64(text, value);
    const uint32_t number = (uint32_t)value, high = number / 10000, low = number % 10000;
    if (high == 0) {
        memcpy(digits, digit_pairs + 2 * (size_t)(low / 100), 2);
        memcpy(digits + 2, digit_pairs + 2 * (size_t)(low % 100), 2);
        size_t count = 1 + (size_t)(low >= 10) + (low >= 100) + (low >= 1000);
        memcpy(text, digits + 4 - count, 4);
        return count;
    }
    memcpy(digits, digit_pairs + 2 * (size_t)(high / 100), 2);
    memcpy(digits + 2, digit_pairs + 2 * (size_t)(high % 100), 2);
    memcpy(digits + 4, digit_pairs + 2 * (size_t)(low / 100), 2);
    memcpy(digits + 6, digit_pairs + 2 * (size_t)(low % 100), 2);
    size_t zeros = 7 - (size_t)(number >= 10) - (number >= 100) - (number >= 1000) -
                   (number >= 10000) - (number >= 100000) - (number >= 1000000) -
                   (number >= 10000000);
    memcpy(text, digits + zeros, 8);
    return 8 - zeros;
}

const char *cli_format_grouped(char *text, uint64_t value)
{
    char digits[CLI_NUMBER_SIZE];
    size_t size = cli_format_u64(digits, value);
    size_t used = 0;

    for (size_t i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

/* Read digits and exponent of "d.ddde+XX". */
struct decimal {
    char digits[20]; /* at least one */
    int count;
    int exponent;
};

static void parse_scientific(const char *text, struct decimal *decimal)
{
    memset(decimal, 0, sizeof *decimal);
    for (; *text != 'e' && *text != '\0'; text++)
        if (*text >= '0' && *text <= '9' && decimal->count < 18)
            decimal->digits[decimal->count++] = *text;
    decimal->exponent = *text == 'e' ? (int)strtol(text + 1, NULL, 10) : 0;
}

/* Whether this decimal restores the value. */
static int gives_back(const struct decimal *decimal, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%c.%.*se%d", decimal->digits[0], decimal->count - 1,
             decimal->digits + 1, decimal->exponent);
    return strtod(text, NULL) == value;
}

/* The next larger decimal with the same number of digits. */
static void step_up(struct decimal *decimal)
{
    int i = decimal->count - 1;

    while (i >= 0 && decimal->digits[i] == '9')
        decimal->digits[i--] = '0';
    if (i >= 0) {
        decimal->digits[i]++;
    } else {
        decimal->digits[0] = '1';
        decimal->exponent++;
    }
}

/* 15 digits suffice whenever a decimal of at most 15 digits exists, except for subnormals. Just
 * above a power of two the nearest decimal of 16 digits may miss the value while its neighbour
 * hits it. */
static void shortest(double value, struct decimal *decimal)
{
    char text[40];
    int precision = value < DBL_MIN ? 1 : 15;

    for (;; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        parse_scientific(text, decimal);
        if (precision >= 17 || gives_back(decimal, value))
            break;
        if (precision < 16)
            continue;
        step_up(decimal);
        if (gives_back(decimal, value))
            break;
    }
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

static size_t lay_out(char *text, const struct decimal *decimal)
{
    size_t used = 0;
    int point = decimal->exponent + 1; /* digits before the point */
    int count = decimal->count;

    if (point > 16 || point < -3) {
        text[used++] = decimal->digits[0];
        if (count > 1) {
            text[used++] = '.';
            memcpy(text + used, decimal->digits + 1, (size_t)count - 1);
            used += (size_t)count - 1;
        }
        return used +
               (size_t)snprintf(text + used, CLI_NUMBER_SIZE - used, "e%+03d", decimal->exponent);
    }
    if (point <= 0) {
        text[used++] = '0';
        text[used++] = '.';
        for (int i = point; i < 0; i++)
            text[used++] = '0';
        memcpy(text + used, decimal->digits, (size_t)count);
        return used + (size_t)count;
    }
    for (int i = 0; i < point || i < count; i++) {
        if (i == point)
            text[used++] = '.';
        text[used++] = i < count ? decimal->digits[i] : '0';
    }
    if (count <= point) {
        text[used++] = '.';
        text[used++] = '0';
    }
    return used;
}

/* Fast path: nearly all doubles of a result are decimals of at most nine places, mostly times in
 * seconds. A decimal of at most 15 digits that restores the value is the shortest one: no other
 * decimal with so few digits does, and division by a power of ten that is a double is rounded
 * correctly. */
static size_t format_short(char *text, double value)
{
    const uint64_t scale = 1000000000;
    char places[9];
    size_t used, count = sizeof places;

    if (!(value >= 0.001 && value < 1e6))
        return 0;
    uint64_t scaled = (uint64_t)(value * (double)scale + 0.5);
    if ((double)scaled / (double)scale != value)
        return 0;
    uint64_t rest = scaled % scale;
    for (size_t i = sizeof places; i-- > 0; rest /= 10)
        places[i] = (char)('0' + rest % 10);
    while (count > 1 && places[count - 1] == '0')
        count--;
    used = cli_format_u64(text, scaled / scale);
    text[used++] = '.';
    memcpy(text + used, places, count);
    return used + count;
}

size_t cli_format_percent(char *text, double value)
{
    double scaled = fabs(value) * 100;
    size_t used = 0;

    /* Values near the middle between two texts take exact arithmetic. */
    if (!(scaled < 1e8) || fabs(scaled - (double)(uint64_t)scaled - 0.5) < 1e-6)
        return (size_t)snprintf(text, CLI_NUMBER_SIZE, scaled < 1e30 ? "%.2f" : "%g", value);
    if (signbit(value))
        text[used++] = '-';
    uint64_t rounded = (uint64_t)(scaled + 0.5);
    used += cli_format_u64(text + used, rounded / 100);
    text[used++] = '.';
    memcpy(text + used, digit_pairs + 2 * (rounded % 100), 2);
    return used + 2;
}

static size_t copy(char *text, const char *word)
{
    size_t size = 0;

    for (; word[size] != '\0'; size++)
        text[size] = word[size];
    return size;
}

size_t cli_format_f64(char *text, double value)
{
    struct decimal decimal;
    size_t used = 0;

    if (isnan(value))
        return copy(text, "NaN");
    if (isinf(value))
        return copy(text, value < 0 ? "-Infinity" : "Infinity");
    if (signbit(value)) {
        text[used++] = '-';
        value = -value;
    }
    if (value < 9007199254740992.0 && value == (double)(uint64_t)value) { /* 2^53 */
        used += cli_format_u64(text + used, (uint64_t)value);
        return used + copy(text + used, ".0");
    }
    size_t size = format_short(text + used, value);
    if (size > 0)
        return used + size;
    shortest(value, &decimal);
    return used + lay_out(text + used, &decimal);
}

int cli_parse_digits(const char **text, uint64_t *value)
{
    const char *at = *text;
    uint64_t sum = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return -1;
        sum = 10 * sum + digit;
    }
    if (at == *text)
        return -1;
    *text = at;
    *value = sum;
    return 0;
}

int cli_parse_u64(const char *text, uint64_t *value)
{
    uint64_t number;

    if (cli_parse_digits(&text, &number) != 0 || *text != '\0')
        return -1;
    *value = number;
    return 0;
}
