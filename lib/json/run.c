/*
 * run.c - runs of numbers in an array, the bulk of a columnar JSON file, without a token for each
 *
 * Only plain spelling is read here: integers, decimals of up to 19 digits, null. The digits of eight
 * bytes are counted and become a number at once, so a number costs a few dozen instructions whatever
 * its length. At anything else, and in the last bytes of the window, the run ends and the tokenizer
 * goes on, so that there is one place for errors and for unusual numbers.
 */
#include "load.h"
#include "json/json.h"
#include "json/number.h"

#include <string.h>

#define ONES UINT64_C(0x0101010101010101)
#define MAX_DIGITS 19
#define MAX_EXACT (UINT64_C(1) << 53)
/* What a number may take, with the comma, a blank and what is loaded behind it. */
#define LOOKAHEAD 64

static const double powers[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/* The digits that eight bytes begin with: their number, and in *value what they say. */
static inline unsigned some_digits(const uint8_t *p, uint64_t *value)
{
    uint64_t x = pcf_load64(p) ^ ONES * '0';
    /* Bytes beyond 9 get their high bit; a carry out of one reaches only bytes behind it. */
    uint64_t other = ((x + ONES * 0x76) | x) & ONES * 0x80;
    unsigned count = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    *value = 0;
    if (!count)
        return 0;
    x <<= 64 - 8 * count; /* zeros in front */
    x = (x * 10 + (x >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x * 100 + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
    *value = (x * 10000 + (x >> 32)) & UINT64_C(0xffffffff);
    return count;
}

/* The same for up to 16 digits. */
static inline unsigned many_digits(const uint8_t *p, uint64_t *value)
{
    uint64_t more;
    unsigned count = some_digits(p, value);
    if (count < 8)
        return count;
    unsigned further = some_digits(p + 8, &more);
    *value = *value * pci_powers_of_ten[further] + more;
    return count + further;
}

static double scaled(uint64_t digits, unsigned places)
{
    if (digits <= MAX_EXACT)
        return (double)digits / powers[places]; /* both exact, so rounded once */
    return pci_number_scale(digits, -(int)places);
}

/* The length of the number at p, or 0 if it is not a plain one. */
static inline size_t plain_number(const uint8_t *p, int64_t *value, uint8_t *type)
{
    size_t negative = *p == '-';
    const uint8_t *at = p + negative;
    uint64_t digits, part;
    unsigned count = many_digits(at, &digits);
    if (!count || (count > 1 && *at == '0'))
        return 0;
    at += count;
    if (*at != '.') {
        *value = negative ? -(int64_t)digits : (int64_t)digits;
        *type = PCI_JSON_INT;
        return negative && !digits ? 0 : (size_t)(at - p); /* -0 may be more than an integer */
    }
    unsigned places = many_digits(++at, &part);
    if (!places || count + places > MAX_DIGITS)
        return 0;
    double number = scaled(digits * pci_powers_of_ten[places] + part, places);
    number = negative ? -number : number;
    memcpy(value, &number, sizeof number);
    *type = PCI_JSON_DOUBLE;
    return (size_t)(at - p) + places;
}

static inline size_t null_word(const uint8_t *p, int64_t *value, uint8_t *type)
{
    *value = 0;
    *type = PCI_JSON_NULL;
    return memcmp(p, "null", 4) ? 0 : 4;
}

/* Blanks in front of a number; a line that begins among them is counted once the number is taken. */
struct blanks {
    uint64_t lines;
    size_t line_start;
};

static size_t skip_blanks(const uint8_t *data, size_t at, size_t end, struct blanks *blanks)
{
    for (; at < end; at++) {
        if (data[at] == '\n') {
            blanks->lines++;
            blanks->line_start = at + 1;
        } else if (data[at] != ' ' && data[at] != '\t' && data[at] != '\r') {
            break;
        }
    }
    return at;
}

/* Where the run stands. */
struct run {
    const uint8_t *data;
    size_t at, end; /* of the window, but for the lookahead */
    int64_t *values;
    uint8_t *types;
    size_t count, n;
    unsigned seen;
};

/* Integers of less than eight digits behind a comma and at most one blank, which is most of all. */
static void short_integers(struct run *r)
{
    const uint8_t *p = r->data + r->at, *end = r->data + r->end;
    size_t n = r->n;
    for (; n < r->count && p < end; n++) {
        const uint8_t *begin = p + 1 + (p[1] == ' ');
        uint64_t value;
        unsigned count = some_digits(begin, &value);
        uint8_t behind = begin[count];
        if (*p != ',' || count - 1 >= 7 || (behind != ',' && behind != ']') ||
            (*begin == '0' && count > 1))
            break;
        r->values[n] = (int64_t)value;
        r->types[n] = PCI_JSON_INT;
        p = begin + count;
    }
    if (n > r->n)
        r->seen |= 1u << PCI_JSON_INT;
    r->n = n;
    r->at = (size_t)(p - r->data);
}

/* Any number, or null. Whether there was one. */
static int one_number(struct pci_json *json, struct run *r, int comma)
{
    const uint8_t *data = r->data;
    struct blanks blanks = {0};
    size_t begin = r->at;
    if (comma && data[begin++] != ',')
        return 0;
    if (data[begin] <= ' ')
        begin = skip_blanks(data, begin, r->end, &blanks);
    int64_t *value = &r->values[r->n];
    uint8_t *type = &r->types[r->n];
    size_t size = data[begin] == 'n' ? null_word(data + begin, value, type)
                                     : plain_number(data + begin, value, type);
    size_t behind = begin + size;
    if (!size || (data[behind] != ',' && data[behind] != ']'))
        return 0;
    if (blanks.lines) {
        json->line += blanks.lines;
        json->line_start = json->input->offset + blanks.line_start;
    }
    r->at = behind;
    r->seen |= 1u << *type;
    r->n++;
    return 1;
}

unsigned pci_json_run(struct pci_json *json, int64_t *values, uint8_t *types, size_t count,
                      size_t *got)
{
    size_t size = json->input->size;
    struct run r = {.data = json->input->data,
                    .at = json->at,
                    .end = size < LOOKAHEAD ? 0 : size - LOOKAHEAD,
                    .values = values,
                    .types = types,
                    .count = count};
    int comma = json->state == PCI_JSON_AT_AFTER;
    *got = 0;
    if (!comma && json->state != PCI_JSON_AT_FIRST_VALUE)
        return 0;
    while (r.n < count && r.at < r.end && one_number(json, &r, comma)) {
        comma = 1;
        if (types[r.n - 1] == PCI_JSON_INT)
            short_integers(&r);
    }
    if (r.n) {
        json->at = json->start = r.at;
        json->state = PCI_JSON_AT_AFTER;
    }
    *got = r.n;
    return r.seen;
}
