/*
 * number_run.c - runs of numbers in an array, the bulk of a columnar JSON file, without a token
 * for each
 *
 * Only plain spelling is read here: integers, decimals of up to 19 digits, null. The digits of
 * eight bytes are counted and become a number at once, so a number costs a few dozen instructions
 * whatever its length. At anything else, and in the last bytes of the window, the run ends and the
 * tokenizer goes on, so that there is one place for errors and for unusual numbers.
 */
#include "format/load.h"
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

/* Eight bytes as the digits that they may be, and the bytes beyond 9 among them: their high bits. A
 * carry out of one of those reaches only bytes behind it. */
static inline uint64_t other_bytes(const uint8_t *p, uint64_t *digits)
{
    uint64_t x = *digits = pcf_load64(p) ^ ONES * '0';
    return ((x + ONES * 0x76) | x) & ONES * 0x80;
}

/* What the first `bits` / 8 of eight digits say; bits is 8 at least. */
static inline uint64_t value_of(uint64_t digits, unsigned bits)
{
    uint64_t x = digits << (64 - bits); /* zeros in front */
    x = (x * (1 + (10 << 8)) >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x * (1 + (100 << 16)) >> 16) & UINT64_C(0x0000ffff0000ffff);
    return x * (1 + (UINT64_C(10000) << 32)) >> 32;
}

/* The digits that eight bytes begin with: their number, and in *value what they say. */
static inline unsigned some_digits(const uint8_t *p, uint64_t *value)
{
    uint64_t x, other = other_bytes(p, &x);
    unsigned bits = other ? (unsigned)__builtin_ctzll(other) & 0x78 : 64;
    *value = bits ? value_of(x, bits) : 0;
    return bits / 8;
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

/* Blanks in front of a number; a line that begins among them is counted once the number is
 * taken. */
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

/* Where short numbers were read to. */
static void take(struct run *r, const uint8_t *p, size_t n, enum pci_json_type type)
{
    if (n == r->n)
        return;
    memset(r->types + r->n, (int)type, n - r->n);
    r->seen |= 1u << type;
    r->n = n;
    r->at = (size_t)(p - r->data);
}

/* Four integers of one digit each, with commas behind. */
static inline int four_digits(uint64_t x, uint64_t other)
{
    const uint64_t commas = UINT64_C(0x0100010001000100) * (',' ^ '0');
    return (x & UINT64_C(0xff00ff00ff00ff00)) == commas && other == UINT64_C(0x8000800080008000);
}

/* Integers of less than eight digits behind a comma, `skip` bytes with a blank, which is most of
 * all. */
static inline __attribute__((always_inline)) void some_integers(struct run *r, size_t skip)
{
    const uint8_t *p = r->data + r->at, *end = r->data + r->end;
    size_t n = r->n;
    while (n < r->count && p < end && *p == ',' && (skip == 1 || p[1] == ' ')) {
        const uint8_t *begin = p + skip;
        uint64_t x, other = other_bytes(begin, &x);
        unsigned bits = (unsigned)__builtin_ctzll(other | UINT64_C(1) << 63) & 0x78;
        if (!other || !bits)
            break;
        if (skip == 1 && bits == 8 && r->count - n >= 4 && four_digits(x, other)) {
            for (unsigned k = 0; k < 4; k++)
                r->values[n + k] = (int64_t)(x >> 16 * k & 15);
            n += 4;
            p += 8;
            continue;
        }
        uint8_t behind = begin[bits / 8];
        if ((behind != ',' && behind != ']') || (*begin == '0' && bits > 8))
            break;
        r->values[n++] = (int64_t)value_of(x, bits);
        p = begin + bits / 8;
    }
    take(r, p, n, PCI_JSON_INT);
}

static void short_integers(struct run *r)
{
    if (r->data[r->at + 1] == ' ')
        some_integers(r, 2);
    else
        some_integers(r, 1);
}

/* Numbers with a point and up to seven digits before it, eight behind: no more than a double holds,
 * so the quotient is rounded once. */
static void short_decimals(struct run *r)
{
    const uint8_t *p = r->data + r->at, *end = r->data + r->end;
    size_t n = r->n, skip = 1 + (p[1] == ' ');
    while (n < r->count && p < end && *p == ',') {
        const uint8_t *begin = p + skip;
        uint64_t x, other = other_bytes(begin, &x);
        unsigned bits = (unsigned)__builtin_ctzll(other | UINT64_C(1) << 63) & 0x78;
        if (!other || !bits || begin[bits / 8] != '.' || (*begin == '0' && bits > 8) ||
            (skip == 2 && p[1] != ' '))
            break;
        uint64_t part, digits = value_of(x, bits);
        const uint8_t *behind = begin + bits / 8 + 1;
        unsigned places = some_digits(behind, &part);
        behind += places;
        if (!places || (*behind != ',' && *behind != ']'))
            break;
        double number = (double)(digits * pci_powers_of_ten[places] + part) / powers[places];
        memcpy(&r->values[n++], &number, sizeof number);
        p = behind;
    }
    take(r, p, n, PCI_JSON_DOUBLE);
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
        else if (types[r.n - 1] == PCI_JSON_DOUBLE)
            short_decimals(&r);
    }
    if (r.n) {
        json->at = json->start = r.at;
        json->state = PCI_JSON_AT_AFTER;
    }
    *got = r.n;
    return r.seen;
}

pcol_status pci_json_jump(struct pci_json *json, uint64_t offset, uint64_t lines,
                          uint64_t line_start, pcol_error *err)
{
    struct pci_input *input = json->input;
    if (offset - input->offset > input->size)
        PCI_TRY(pci_input_skip(input, offset, err));
    json->at = json->start = (size_t)(offset - input->offset);
    json->state = PCI_JSON_AT_AFTER;
    json->line += lines;
    if (lines)
        json->line_start = line_start;
    return PCOL_OK;
}
