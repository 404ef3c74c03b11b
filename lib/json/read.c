/*
 * read.c - JSON reader: pull tokenizer (finite state machine) over the window of an input
 *
 * A token is always completely within the window, which is refilled from the token's first byte on.
 * Strings without escapes are returned in place, others are decoded into a scratch buffer. `state`
 * is the set of tokens that may come next; open containers are a bit stack, so that nothing
 * recurses. Tests: tests/unit/test_json.c.
 */
#include "json/json.h"

#include "format/load.h"
#include "stream/input_open.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/integer.h"
#include "util/strbuf.h"
#include "json/number.h"
#include "json/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_DEPTH 1024u

/* Work is reported so often, as if each token took so many bytes. */
enum { TOKENS_OF_WORK = 512, TOKEN_BYTES = 32 };

pcol_status pci_json_open(struct pci_json *json, struct pci_input *input,
                          const struct pci_json_options *options, pcol_error *err)
{
    memset(json, 0, sizeof *json);
    json->input = input;
    if (options)
        json->options = *options;
    if (!json->options.max_depth)
        json->options.max_depth = DEFAULT_DEPTH;
    json->line = 1;
    json->line_start = input->offset;
    return PCI_CALLOC(json->nesting, (size_t)json->options.max_depth / 8 + 1, err);
}

void pci_json_close(struct pci_json *json)
{
    pci_free(json->nesting);
    pci_free(json->scratch);
    memset(json, 0, sizeof *json);
}

pcol_status pci_json_fail(const struct pci_json *json, pcol_error *err, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pci_fail_text(err, PCOL_E_SYNTAX, json->line, json->column, "%s", text);
}

/* E_SYNTAX at the next byte. */
static pcol_status fail_here(struct pci_json *json, pcol_error *err, const char *what)
{
    uint64_t column = json->input->offset + json->at - json->line_start + 1;
    return pci_fail_text(err, PCOL_E_SYNTAX, json->line, column, "%s", what);
}

/* Read more bytes, keeping the token. *more is 0 at the end of the input. */
static pcol_status refill(struct pci_json *json, int *more, pcol_error *err)
{
    struct pci_input *input = json->input;
    *more = 0;
    if (input->end)
        return PCOL_OK;
    size_t consumed = json->start;
    json->start = 0;
    json->at -= consumed;
    PCI_TRY(pci_input_more(input, consumed, err));
    *more = json->at < input->size;
    return PCOL_OK;
}

static void start_token(struct pci_json *json)
{
    json->start = json->at;
    json->offset = json->input->offset + json->at;
    json->column = json->offset - json->line_start + 1;
}

static pcol_status skip_many_blanks(struct pci_json *json, int *c, pcol_error *err)
{
    struct pci_input *input = json->input;
    for (;;) {
        for (; json->at < input->size; json->at++) {
            uint8_t byte = input->data[json->at];
            if (byte == '\n') {
                json->line++;
                json->line_start = input->offset + json->at + 1;
            } else if (byte != ' ' && byte != '\t' && byte != '\r') {
                *c = byte;
                goto found;
            }
        }
        json->start = json->at;
        int more;
        PCI_TRY(refill(json, &more, err));
        if (!more) {
            *c = -1;
            goto found;
        }
    }
found:
    start_token(json);
    return PCOL_OK;
}

/* *c: the next byte that is not a blank, or -1 at the end; the token starts there. */
static inline pcol_status skip_blanks(struct pci_json *json, int *c, pcol_error *err)
{
    const struct pci_input *input = json->input;
    if (json->at >= input->size || input->data[json->at] <= ' ')
        return skip_many_blanks(json, c, err);
    *c = input->data[json->at];
    start_token(json);
    return PCOL_OK;
}

/* ---- strings */

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* The lowest bit that is set is in the first of eight bytes that is special: a quote, a backslash
 * or a control character (SWAR); 0: none is. A borrow affects only bytes after it. */
static uint64_t find_special(uint64_t word)
{
    uint64_t quote = word ^ ONES * '"', backslash = word ^ ONES * '\\';
    uint64_t hit = ((word - ONES * 0x20) & ~word) | ((quote - ONES) & ~quote) |
                   ((backslash - ONES) & ~backslash);
    return hit & HIGHS;
}

static size_t skip_plain_bytes(const uint8_t *data, size_t at, size_t size)
{
    for (; size - at >= 8; at += 8) {
        uint64_t special = find_special(pcf_load64(data + at));
        if (special)
            return at + (size_t)__builtin_ctzll(special) / 8;
    }
    while (at < size && data[at] >= 0x20 && data[at] != '"' && data[at] != '\\')
        at++;
    return at;
}

static pcol_status reserve_scratch(struct pci_json *json, size_t size, pcol_error *err)
{
    PCI_TRY(PCI_GROW(json->scratch, json->scratch_capacity, size, err));
    return PCOL_OK;
}

static int parse_hex4(const uint8_t *p, const uint8_t *end, unsigned *value)
{
    if (end - p < 4)
        return -1;
    *value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = p[i], lower = c | 0x20u, digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if (lower >= 'a' && lower <= 'f')
            digit = lower - 'a' + 10;
        else
            return -1;
        *value = *value << 4 | digit;
    }
    return 0;
}

static char *append_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        if (c < 0x10000) {
            *out++ = (char)(0xe0 | c >> 12);
        } else {
            *out++ = (char)(0xf0 | c >> 18);
            *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

/* Decode \uXXXX at its first X, or a surrogate pair of two escapes; advances *at. 0, or -1:
 * malformed. */
static int decode_unicode(struct pci_json *json, const uint8_t **at, const uint8_t *end, char **out)
{
    unsigned c, low;
    if (parse_hex4(*at, end, &c))
        return -1;
    *at += 4;
    if (c >= 0xd800 && c < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' &&
        !parse_hex4(*at + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        *at += 6;
    } else if (c >= 0xdc80 && c <= 0xdcff && json->options.flags & PCI_JSON_SURROGATE_BYTES) {
        *(*out)++ = (char)(c - 0xdc00);
        return 0;
    } else if (c >= 0xd800 && c < 0xe000) {
        json->lone_surrogate = 1;
    }
    *out = append_utf8(*out, c);
    return 0;
}

/* Decode a string with escapes into the scratch buffer; the result is never longer. */
static pcol_status decode_string(struct pci_json *json, const uint8_t *p, size_t size,
                                 pcol_error *err)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    PCI_TRY(reserve_scratch(json, size, err));
    const uint8_t *begin = p, *end = p + size;
    char *out = json->scratch;
    while (p < end) {
        const uint8_t *stop = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((stop ? stop : end) - p);
        memcpy(out, p, plain);
        out += plain;
        if (!stop)
            break;
        p = stop + 2; /* a backslash is never the last byte, as the scan skips two bytes */
        const char *simple = memchr(from, stop[1], sizeof from - 1);
        if (simple) {
            *out++ = to[simple - from];
        } else if (stop[1] != 'u' || decode_unicode(json, &p, end, &out)) {
            json->at = json->start + 1 + (size_t)(stop - begin);
            return fail_here(json, err, "unknown escape in a string");
        }
    }
    json->text.data = json->scratch;
    json->text.size = (size_t)(out - json->scratch);
    return PCOL_OK;
}

static int is_utf8(pcol_str text)
{
    const uint8_t *p = (const uint8_t *)text.data, *end = p + text.size;
    while (p < end) {
        uint64_t word;
        size_t step;
        if (end - p >= 8 && (memcpy(&word, p, 8), !(word & HIGHS)))
            step = 8;
        else
            step = pci_utf8_size(p, (size_t)(end - p), 0);
        if (!step)
            return 0;
        p += step;
    }
    return 1;
}

/* Read the string whose opening quote is the next byte. */
static pcol_status read_string(struct pci_json *json, pcol_error *err)
{
    struct pci_input *input = json->input;
    int escapes = 0;
    json->at = json->start + 1;
    for (;;) {
        json->at = skip_plain_bytes(input->data, json->at, input->size);
        if (json->at < input->size && input->data[json->at] == '"')
            break;
        if (json->at < input->size && input->data[json->at] < 0x20)
            return fail_here(json, err, "control character in a string");
        if (json->at + 1 < input->size) { /* a backslash and the byte after it */
            escapes = 1;
            json->at += 2;
            continue;
        }
        int more;
        size_t rest = input->size - json->at;
        PCI_TRY(refill(json, &more, err));
        if (!more || input->size - json->at == rest)
            return pci_json_fail(json, err, "string is not terminated");
    }
    size_t begin = json->start + 1, size = json->at - begin;
    json->lone_surrogate = 0;
    if (escapes) {
        PCI_TRY(decode_string(json, input->data + begin, size, err));
        json->at = begin + size;
        if (json->lone_surrogate && json->options.flags & PCI_JSON_SOUND)
            return pci_json_fail(json, err, "lone surrogate in a string");
    } else {
        json->text.data = (const char *)input->data + begin;
        json->text.size = size;
    }
    json->at++;
    if (json->options.flags & PCI_JSON_SOUND && !is_utf8(json->text))
        return pci_json_fail(json, err, "string is not UTF-8");
    return PCOL_OK;
}

/* ---- numbers and words */

static size_t skip_digits(const char *text, size_t at, size_t size)
{
    while (at < size && text[at] >= '0' && text[at] <= '9')
        at++;
    return at;
}

/* Whether a text is a JSON number; *integer: without point and exponent. */
static int is_number(const char *text, size_t size, int *integer)
{
    size_t at = size && text[0] == '-', begin = at;
    at = skip_digits(text, at, size);
    if (at == begin || (at > begin + 1 && text[begin] == '0'))
        return 0;
    *integer = at == size;
    if (at < size && text[at] == '.') {
        begin = ++at;
        at = skip_digits(text, at, size);
        if (at == begin)
            return 0;
    }
    if (at < size && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < size && (text[at] == '+' || text[at] == '-'))
            at++;
        begin = at;
        at = skip_digits(text, at, size);
        if (at == begin)
            return 0;
    }
    return at == size;
}

static pcol_status read_number(struct pci_json *json, pcol_error *err)
{
    int integer;
    if (!is_number(json->text.data, json->text.size, &integer))
        return pci_json_fail(json, err, "malformed number");
    if (integer && pci_parse_i64(json->text.data, json->text.size, &json->integer)) {
        json->type = PCI_JSON_INT;
        json->number = (double)json->integer;
        return PCOL_OK;
    }
    json->type = integer ? PCI_JSON_BIG : PCI_JSON_DOUBLE;
    PCI_TRY(reserve_scratch(json, json->text.size + 1, err));
    json->number = pci_number_parse(json->text.data, json->text.size, json->scratch);
    unsigned finite = PCI_JSON_SOUND | (integer ? 0u : PCI_JSON_FINITE);
    if (json->options.flags & finite && !isfinite(json->number))
        return pci_json_fail(json, err, "number out of range");
    return PCOL_OK;
}

pcol_status pci_json_unquote_number(struct pci_json *json, pcol_error *err)
{
    int integer;
    if (json->type != PCI_JSON_STRING || json->text.data == json->scratch ||
        !is_number(json->text.data, json->text.size, &integer))
        return PCOL_OK;
    return read_number(json, err);
}

static int is_word_byte(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
           c == '+' || c == '.';
}

/* Read a number or a bare word. */
static pcol_status read_word(struct pci_json *json, pcol_error *err)
{
    static const struct {
        const char *text;
        enum pci_json_type type;
    } words[] = {{"true", PCI_JSON_TRUE}, {"false", PCI_JSON_FALSE}, {"null", PCI_JSON_NULL}};
    struct pci_input *input = json->input;
    for (int more = 1; more;) {
        while (json->at < input->size && is_word_byte(input->data[json->at]))
            json->at++;
        if (json->at < input->size)
            break;
        PCI_TRY(refill(json, &more, err));
    }
    json->text.data = (const char *)input->data + json->start;
    json->text.size = json->at - json->start;
    if (!json->text.size)
        return pci_json_fail(json, err, "unexpected character");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (pci_str_is(json->text, words[i].text)) {
            json->type = words[i].type;
            return PCOL_OK;
        }
    }
    if (json->options.flags & PCI_JSON_NONFINITE) {
        json->type = PCI_JSON_DOUBLE;
        json->number = pci_str_is(json->text, "NaN")         ? (double)NAN
                       : pci_str_is(json->text, "Infinity")  ? (double)INFINITY
                       : pci_str_is(json->text, "-Infinity") ? -(double)INFINITY
                                                             : 0;
        if (!isfinite(json->number))
            return PCOL_OK;
    }
    char first = json->text.data[0];
    if (first == '-' || first == '+' || first == '.' || (first >= '0' && first <= '9'))
        return read_number(json, err);
    return pci_json_fail(json, err, "unknown word '%.*s'",
                         (int)(json->text.size < 40 ? json->text.size : 40), json->text.data);
}

/* ---- structure */

static int is_in_object(const struct pci_json *json)
{
    uint32_t level = json->depth - 1;
    return json->nesting[level / 8] >> (level % 8) & 1;
}

static void finish_value(struct pci_json *json)
{
    json->state = json->depth ? PCI_JSON_AT_AFTER : PCI_JSON_AT_DONE;
}

static pcol_status open_container(struct pci_json *json, int object, pcol_error *err)
{
    if (json->depth >= json->options.max_depth)
        return pci_fail_text(err, PCOL_E_LIMIT, json->line, json->column,
                             "nested deeper than %u levels", (unsigned)json->options.max_depth);
    uint32_t level = json->depth++;
    uint8_t bit = (uint8_t)(1u << (level % 8));
    if (object)
        json->nesting[level / 8] |= bit;
    else
        json->nesting[level / 8] &= (uint8_t)~bit;
    json->type = object ? PCI_JSON_OBJECT : PCI_JSON_ARRAY;
    json->state = object ? PCI_JSON_AT_FIRST_KEY : PCI_JSON_AT_FIRST_VALUE;
    json->at++;
    return PCOL_OK;
}

static pcol_status close_container(struct pci_json *json)
{
    json->type = is_in_object(json) ? PCI_JSON_OBJECT_END : PCI_JSON_ARRAY_END;
    json->depth--;
    json->at++;
    finish_value(json);
    return PCOL_OK;
}

/* At the end of the input inside a container. */
static pcol_status end_input(struct pci_json *json, pcol_error *err)
{
    if (json->depth != 1 || is_in_object(json) || !(json->options.flags & PCI_JSON_OPEN_ARRAY))
        return pci_json_fail(json, err, "input ends inside %s",
                             is_in_object(json) ? "an object" : "an array");
    json->is_unclosed = 1;
    json->type = PCI_JSON_ARRAY_END;
    json->depth = 0;
    finish_value(json);
    return PCOL_OK;
}

static pcol_status read_value(struct pci_json *json, int c, pcol_error *err)
{
    if (c == '{' || c == '[')
        return open_container(json, c == '{', err);
    if (c == '"') {
        json->type = PCI_JSON_STRING;
        PCI_TRY(read_string(json, err));
    } else if (!pci_json_read_plain(json)) {
        PCI_TRY(read_word(json, err));
    }
    finish_value(json);
    return PCOL_OK;
}

static pcol_status read_key(struct pci_json *json, int c, pcol_error *err)
{
    if (c != '"')
        return pci_json_fail(json, err, "expected a key in quotes");
    json->type = PCI_JSON_KEY;
    json->state = PCI_JSON_AT_COLON;
    return read_string(json, err);
}

/* At the first byte of the input: skip a byte order mark. */
static pcol_status skip_mark(struct pci_json *json, pcol_error *err)
{
    int more = 1;
    while (more && json->input->size < 3)
        PCI_TRY(refill(json, &more, err));
    if (json->input->size >= 3 && !memcmp(json->input->data, "\xef\xbb\xbf", 3)) {
        json->at = 3;
        json->line_start += 3;
    }
    return PCOL_OK;
}

pcol_status pci_json_next(struct pci_json *json, pcol_error *err)
{
    int c;
    if (++json->tokens % TOKENS_OF_WORK == 0) /* all bytes of memory are in the window */
        PCI_TRY(pci_work(TOKENS_OF_WORK * TOKEN_BYTES, err));
    if (!json->input->offset && !json->at && !json->depth && json->state == PCI_JSON_AT_VALUE)
        PCI_TRY(skip_mark(json, err));
    PCI_TRY(skip_blanks(json, &c, err));
    if (json->state == PCI_JSON_AT_DONE) {
        if (c >= 0)
            return pci_json_fail(json, err, "text after the end of the value");
        json->type = PCI_JSON_END;
        return PCOL_OK;
    }
    if (c < 0)
        return json->depth ? end_input(json, err) : pci_json_fail(json, err, "no value");
    if (json->state == PCI_JSON_AT_COLON) {
        if (c != ':')
            return pci_json_fail(json, err, "expected ':' after the key");
        json->at++;
        json->state = PCI_JSON_AT_VALUE;
        PCI_TRY(skip_blanks(json, &c, err));
    } else if (json->state == PCI_JSON_AT_AFTER) {
        if (c == (is_in_object(json) ? '}' : ']'))
            return close_container(json);
        if (c != ',')
            return pci_json_fail(json, err, "expected ',' or '%c'", is_in_object(json) ? '}' : ']');
        json->at++;
        json->state = is_in_object(json) ? PCI_JSON_AT_KEY : PCI_JSON_AT_VALUE;
        PCI_TRY(skip_blanks(json, &c, err));
    } else if ((json->state == PCI_JSON_AT_FIRST_KEY && c == '}') ||
               (json->state == PCI_JSON_AT_FIRST_VALUE && c == ']')) {
        return close_container(json);
    }
    if (c < 0)
        return end_input(json, err);
    if (json->state == PCI_JSON_AT_KEY || json->state == PCI_JSON_AT_FIRST_KEY)
        return read_key(json, c, err);
    return read_value(json, c, err);
}

pcol_status pci_json_skip(struct pci_json *json, pcol_error *err)
{
    if (json->type != PCI_JSON_OBJECT && json->type != PCI_JSON_ARRAY)
        return PCOL_OK;
    uint32_t outer = json->depth - 1;
    do
        PCI_TRY(pci_json_next(json, err));
    while (json->depth > outer);
    return PCOL_OK;
}

pcol_status pci_json_member(struct pci_json *json, int *more, pcol_error *err)
{
    *more = 0;
    PCI_TRY(pci_json_next(json, err));
    *more = json->type == PCI_JSON_KEY;
    return PCOL_OK;
}

pcol_status pci_json_element(struct pci_json *json, int *more, pcol_error *err)
{
    *more = 0;
    PCI_TRY(pci_json_next(json, err));
    *more = json->type != PCI_JSON_ARRAY_END;
    return PCOL_OK;
}

pcol_status pci_json_skip_member(struct pci_json *json, pcol_error *err)
{
    PCI_TRY(pci_json_next(json, err));
    return pci_json_skip(json, err);
}

pcol_status pci_json_finish(struct pci_json *json, pcol_error *err)
{
    return pci_json_next(json, err);
}

pcol_status pci_json_another(struct pci_json *json, int *more, pcol_error *err)
{
    int c;
    PCI_TRY(skip_blanks(json, &c, err));
    *more = c >= 0;
    json->state = PCI_JSON_AT_VALUE;
    return PCOL_OK;
}

static const char *type_name(enum pci_json_type type)
{
    static const char *const names[] = {"nothing",
                                        "an object",
                                        "the end of an object",
                                        "an array",
                                        "the end of an array",
                                        "a key",
                                        "a string",
                                        "an integer",
                                        "an integer beyond 64 bits",
                                        "a number",
                                        "true",
                                        "false",
                                        "null"};
    return names[type];
}

pcol_status pci_json_expect(const struct pci_json *json, enum pci_json_type type, const char *what,
                            pcol_error *err)
{
    if (json->type == type)
        return PCOL_OK;
    return pci_json_fail(json, err, "%s must be %s, not %s", what, type_name(type),
                         type_name(json->type));
}

static pcol_status skip_text(struct pci_json *json, pcol_error *err)
{
    PCI_TRY(pci_json_skip_member(json, err));
    return pci_json_finish(json, err);
}

pcol_status pci_json_is_value(pcol_str text, int *is_value, pcol_error *err)
{
    static const struct pci_json_options options = {PCI_JSON_SOUND, 0};
    struct pci_input input;
    struct pci_json json;
    *is_value = 0;
    if (text.size && (uint8_t)*text.data == 0xef) /* a byte order mark, which a file may have */
        return PCOL_OK;
    PCI_TRY(pci_input_open_memory(&input, text.data, text.size, "", NULL, err));
    pcol_status status = pci_json_open(&json, &input, &options, err);
    PCI_THEN(status, skip_text(&json, err));
    pci_json_close(&json);
    pci_input_close(&input);
    *is_value = status == PCOL_OK;
    return status == PCOL_E_NO_MEMORY || status == PCOL_E_CANCELLED ? status : PCOL_OK;
}

int pci_json_whole(const struct pci_json *json, int64_t *number)
{
    *number = json->integer;
    if (json->type != PCI_JSON_DOUBLE)
        return json->type == PCI_JSON_INT;
    *number = fabs(json->number) < 0x1p53 ? (int64_t)json->number : 0;
    return (double)*number == json->number;
}
