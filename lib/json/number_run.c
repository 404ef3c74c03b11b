/*
 * number_run.c - runs of numbers in arrays, the bulk of a columnar JSON file, without tokenizing
 *
 * Only common spellings are parsed: integers, decimals of up to 19 digits, null. SWAR (SIMD within
 * a register) classifies and converts eight digits at a time, a few dozen instructions per number.
 * The run ends at anything else and in the last bytes of the window; the tokenizer continues there,
 * so that errors and unusual numbers are handled in one place. Tests: tests/unit/test_json.c.
 */
#include "format/load.h"
#include "json/json.h"
#include "json/number.h"

#include <string.h>

#define ONES UINT64_C(0x0101010101010101)
#define MAX_DIGITS 19
#define MAX_EXACT (UINT64_C(1) << 53)
/* Bytes that a number may take, with comma, blank and the words loaded after it. */
#define LOOKAHEAD 64

static const double powers[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/* *digits: eight bytes minus '0' each. Returns the high bits of the bytes that are not digits. A
 * carry out of such a byte affects only bytes after it. */
static inline uint64_t find_non_digits(const uint8_t *p, uint64_t *digits)
{
    uint64_t x = *digits = pcf_load64(p) ^ ONES * '0';
    return ((x + ONES * 0x76) | x) & ONES * 0x80;
}

/* Value of the first `bits` / 8 digits of eight; bits is at least 8. */
static inline uint64_t convert_digits(uint64_t digits, unsigned bits)
{
    uint64_t x = digits << (64 - bits); /* leading zeros */
    x = (x * (1 + (10 << 8)) >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x * (1 + (100 << 16)) >> 16) & UINT64_C(0x0000ffff0000ffff);
    return x * (1 + (UINT64_C(10000) << 32)) >> 32;
}

/* Parse up to 8 leading digits; returns their number. */
static inline unsigned parse_8_digits(const uint8_t *p, uint64_t *value)
{
    uint64_t x, other = find_non_digits(p, &x);
    unsigned bits = other ? (unsigned)__builtin_ctzll(other) & 0x78 : 64;
    *value = bits ? convert_digits(x, bits) : 0;
    return bits / 8;
}

/* Parse up to 16 leading digits; returns their number. */
static inline unsigned parse_16_digits(const uint8_t *p, uint64_t *value)
{
    uint64_t more;
    unsigned count = parse_8_digits(p, value);
    if (count < 8)
        return count;
    unsigned further = parse_8_digits(p + 8, &more);
    *value = *value * pci_powers_of_ten[further] + more;
    return count + further;
}

static double scale_digits(uint64_t digits, unsigned places)
{
    if (digits <= MAX_EXACT)
        return (double)digits / powers[places]; /* both are exact: rounded once */
    return pci_number_scale(digits, -(int)places);
}

/* Parse the number at p; returns its length, or 0 if it is not a common one. */
static inline size_t parse_number(const uint8_t *p, int64_t *value, uint8_t *type)
{
    size_t negative = *p == '-';
    const uint8_t *end = p + negative;
    uint64_t digits, part;
    unsigned count = parse_16_digits(end, &digits);
    if (!count || (count > 1 && *end == '0'))
        return 0;
    end += count;
    if (*end != '.') {
        *value = negative ? -(int64_t)digits : (int64_t)digits;
        *type = PCI_JSON_INT;
        return negative && !digits ? 0 : (size_t)(end - p); /* -0 may have to be a double */
    }
    unsigned places = parse_16_digits(++end, &part);
    if (!places || count + places > MAX_DIGITS)
        return 0;
    double number = scale_digits(digits * pci_powers_of_ten[places] + part, places);
    number = negative ? -number : number;
    memcpy(value, &number, sizeof number);
    *type = PCI_JSON_DOUBLE;
    return (size_t)(end - p) + places;
}

static inline size_t parse_null(const uint8_t *p, int64_t *value, uint8_t *type)
{
    *value = 0;
    *type = PCI_JSON_NULL;
    return memcmp(p, "null", 4) ? 0 : 4;
}

/* Line feeds among the blanks before a number; counted once the number is accepted. */
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

/* State of a run. */
struct run {
    const uint8_t *data;
    size_t at, end; /* of the window, but for the lookahead */
    int64_t *values;
    uint8_t *types;
    size_t count, n;
    unsigned type_set;
};

/* Accept integers up to p, `n` numbers in total. */
static void accept(struct run *r, const uint8_t *p, size_t n)
{
    if (n == r->n)
        return;
    memset(r->types + r->n, PCI_JSON_INT, n - r->n);
    r->type_set |= 1u << PCI_JSON_INT;
    r->n = n;
    r->at = (size_t)(p - r->data);
}

/* Whether eight bytes are four integers of one digit, each followed by a comma. */
static inline int is_four_digits(uint64_t x, uint64_t other)
{
    const uint64_t commas = UINT64_C(0x0100010001000100) * (',' ^ '0');
    return (x & UINT64_C(0xff00ff00ff00ff00)) == commas && other == UINT64_C(0x8000800080008000);
}

/* Parse integers of less than eight digits, the most frequent ones. `skip`: 1 for a comma before
 * each, 2 for a comma and a blank. */
static inline __attribute__((always_inline)) void parse_integers(struct run *r, size_t skip)
{
    const uint8_t *p = r->data + r->at, *end = r->data + r->end;
    size_t n = r->n;
    while (n < r->count && p < end && *p == ',' && (skip == 1 || p[1] == ' ')) {
        const uint8_t *begin = p + skip;
        uint64_t x, other = find_non_digits(begin, &x);
        uint64_t negative = (x & 0xff) == ('-' ^ '0');
        if (negative)
            other = find_non_digits(++begin, &x);
        unsigned bits = (unsigned)__builtin_ctzll(other | UINT64_C(1) << 63) & 0x78;
        if (!other || !bits)
            break;
        if (skip == 1 && !negative && bits == 8 && r->count - n >= 4 && is_four_digits(x, other)) {
            for (unsigned k = 0; k < 4; k++)
                r->values[n + k] = (int64_t)(x >> 16 * k & 15);
            n += 4;
            p += 8;
            continue;
        }
        uint8_t next = begin[bits / 8];
        if ((next != ',' && next != ']') || (*begin == '0' && (negative || bits > 8)))
            break; /* -0 may have to be a double */
        r->values[n++] = (int64_t)((convert_digits(x, bits) ^ (0 - negative)) + negative);
        p = begin + bits / 8;
    }
    accept(r, p, n);
}

static void parse_short_integers(struct run *r)
{
    if (r->data[r->at + 1] == ' ')
        parse_integers(r, 2);
    else
        parse_integers(r, 1);
}

/* Parse decimals with up to seven digits before and eight after the point, and integers among them.
 * Both operands are exact doubles, so that the quotient is rounded once. */
static void parse_short_numbers(struct run *r)
{
    const uint8_t *p = r->data + r->at, *end = r->data + r->end;
    size_t n = r->n, skip = 1 + (p[1] == ' ');
    while (n < r->count && p < end && *p == ',' && (skip == 1 || p[1] == ' ')) {
        const uint8_t *begin = p + skip;
        uint64_t x, part, other = find_non_digits(begin, &x);
        uint64_t negative = (x & 0xff) == ('-' ^ '0');
        if (negative)
            other = find_non_digits(++begin, &x);
        unsigned places, bits = (unsigned)__builtin_ctzll(other | UINT64_C(1) << 63) & 0x78;
        if (!other || !bits || (*begin == '0' && bits > 8))
            break;
        uint64_t digits = convert_digits(x, bits);
        const uint8_t *after = begin + bits / 8;
        int64_t value = (int64_t)((digits ^ (0 - negative)) + negative);
        int is_decimal = *after == '.';
        if (is_decimal) {
            places = parse_8_digits(++after, &part);
            double number = (double)(digits * pci_powers_of_ten[places] + part) / powers[places];
            number = negative ? -number : number;
            memcpy(&value, &number, sizeof value);
            after += places;
            if (!places)
                break;
        }
        if ((*after != ',' && *after != ']') || (negative && !value))
            break; /* -0 may have to be a double */
        r->types[n] = is_decimal ? PCI_JSON_DOUBLE : PCI_JSON_INT;
        r->type_set |= 1u << r->types[n];
        r->values[n++] = value;
        p = after;
    }
    r->n = n;
    r->at = (size_t)(p - r->data);
}

/* Parse any common number, or null, after a comma if `comma` is set. Returns whether there was
 * one. */
static int parse_element(struct pci_json *json, struct run *r, int comma)
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
    size_t size = data[begin] == 'n' ? parse_null(data + begin, value, type)
                                     : parse_number(data + begin, value, type);
    size_t after = begin + size;
    if (!size || (data[after] != ',' && data[after] != ']'))
        return 0;
    if (blanks.lines) {
        json->line += blanks.lines;
        json->line_start = json->input->offset + blanks.line_start;
    }
    r->at = after;
    r->type_set |= 1u << *type;
    r->n++;
    return 1;
}

/* Parse the list of integers below 10^7 whose '[' is at p, at most `capacity` elements; returns the
 * byte after its ']', or NULL. */
static const uint8_t *parse_list(const uint8_t *p, const uint8_t *end, int64_t *values,
                                 size_t capacity, size_t *count)
{
    size_t n = 0;
    if (*p++ != '[')
        return NULL;
    *count = 0;
    if (*p == ']')
        return p + 1;
    while (n < capacity && p < end) {
        uint64_t x, other = find_non_digits(p, &x);
        unsigned bits = (unsigned)__builtin_ctzll(other | UINT64_C(1) << 63) & 0x78;
        if (!other || !bits || (*p == '0' && bits > 8))
            return NULL;
        values[n++] = (int64_t)convert_digits(x, bits);
        p += bits / 8;
        if (*p == ']') {
            *count = n;
            return p + 1;
        }
        if (*p++ != ',')
            return NULL;
        p += *p == ' ';
    }
    return NULL;
}

size_t pci_json_read_lists(struct pci_json *json, int64_t *values, size_t capacity,
                           struct pci_json_list *lists, size_t list_capacity)
{
    const uint8_t *data = json->input->data, *p = data + json->at;
    size_t size = json->input->size, n = 0, used = 0, count;
    const uint8_t *end = data + (size < LOOKAHEAD ? 0 : size - LOOKAHEAD);
    int comma = json->state == PCI_JSON_AT_AFTER;
    if (!comma && json->state != PCI_JSON_AT_FIRST_VALUE)
        return 0;
    while (n < list_capacity && p < end && (!comma || *p == ',')) {
        const uint8_t *begin = p + comma;
        begin += *begin == ' ';
        const uint8_t *after = parse_list(begin, end, values + used, capacity - used, &count);
        if (!after)
            break;
        used += count;
        lists[n++] = (struct pci_json_list){used, json->input->offset + (size_t)(begin - data) -
                                                      json->line_start + 1};
        p = after;
        comma = 1;
    }
    if (n) {
        json->at = json->start = (size_t)(p - data);
        json->state = PCI_JSON_AT_AFTER;
    }
    return n;
}

int pci_json_read_plain(struct pci_json *json)
{
    struct pci_input *input = json->input;
    uint8_t type;
    if (input->size < LOOKAHEAD || json->at >= input->size - LOOKAHEAD)
        return 0;
    const uint8_t *p = input->data + json->at;
    size_t size = parse_number(p, &json->integer, &type);
    if (!size || (p[size] != ',' && p[size] != '}' && p[size] != ']' && p[size] > ' '))
        return 0;
    json->text = (pcol_str){(const char *)p, size};
    json->type = type;
    if (type == PCI_JSON_INT)
        json->number = (double)json->integer;
    else
        memcpy(&json->number, &json->integer, sizeof json->number);
    json->at += size;
    return 1;
}

unsigned pci_json_read_numbers(struct pci_json *json, int64_t *values, uint8_t *types, size_t count,
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
    while (r.n < count && r.at < r.end && parse_element(json, &r, comma)) {
        comma = 1;
        if (types[r.n - 1] == PCI_JSON_INT)
            parse_short_integers(&r);
        else if (types[r.n - 1] == PCI_JSON_DOUBLE)
            parse_short_numbers(&r);
    }
    if (r.n) {
        json->at = json->start = r.at;
        json->state = PCI_JSON_AT_AFTER;
    }
    *got = r.n;
    return r.type_set;
}

pcol_status pci_json_continue_at(struct pci_json *json, uint64_t offset, uint64_t lines,
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
