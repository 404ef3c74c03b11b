/*
 * json.c - OpenTelemetry profiles as JSON: conversion to protobuf messages of the layout 1.10
 *
 * Names and values of fields are those of the JSON mapping of protobuf, and the earlier names
 * `sample` and `line`. Numbers may be strings, and integers may have a point and an exponent. Only
 * fields that become columns are converted. A message that contains others starts with a size of
 * five bytes, which is set when it is complete. The tables of fields do not refer back, so that a
 * text cannot nest deeper than they do.
 */
#include "formats/otlp/otlp.h"

#include "stream/input_open.h"
#include "util/alloc.h"
#include "json/number.h"

#include <math.h>
#include <string.h>

#define PADDED_BYTES 5u
#define DEPTH 16

/* INDEX: int32, SIGNED: int64, UNSIGNED: uint64, FIXED: fixed64. */
enum kind { INDEX, SIGNED, UNSIGNED, FIXED, BOOLEAN, DOUBLE, TEXT, MESSAGE };
enum {
    DATA = 1,
    RESOURCE_PROFILES,
    RESOURCE,
    SCOPE_PROFILES,
    PROFILE,
    VALUE_TYPE,
    SAMPLE,
    DICTIONARY,
    MAPPING,
    LOCATION,
    LINE,
    FUNCTION,
    LINK,
    ENTRY,
    KEY_VALUE,
    ANY_VALUE,
    STACK
};

static const struct schema {
    uint8_t message; /* that has the field */
    uint8_t number, kind, is_repeated;
    uint8_t inner; /* of kind MESSAGE */
    const char *name;
} schemas[] = {
    {DATA, 1, MESSAGE, 1, RESOURCE_PROFILES, "resourceProfiles"},
    {DATA, 2, MESSAGE, 0, DICTIONARY, "dictionary"},
    {RESOURCE_PROFILES, 1, MESSAGE, 0, RESOURCE, "resource"},
    {RESOURCE_PROFILES, 2, MESSAGE, 1, SCOPE_PROFILES, "scopeProfiles"},
    {RESOURCE, 1, MESSAGE, 1, KEY_VALUE, "attributes"},
    {SCOPE_PROFILES, 2, MESSAGE, 1, PROFILE, "profiles"},
    {PROFILE, 1, MESSAGE, 0, VALUE_TYPE, "sampleType"},
    {PROFILE, 2, MESSAGE, 1, SAMPLE, "samples"},
    {PROFILE, 2, MESSAGE, 1, SAMPLE, "sample"},
    {PROFILE, 3, FIXED, 0, 0, "timeUnixNano"},
    {PROFILE, 4, UNSIGNED, 0, 0, "durationNano"},
    {PROFILE, 5, MESSAGE, 0, VALUE_TYPE, "periodType"},
    {PROFILE, 6, SIGNED, 0, 0, "period"},
    {VALUE_TYPE, 1, INDEX, 0, 0, "typeStrindex"},
    {VALUE_TYPE, 2, INDEX, 0, 0, "unitStrindex"},
    {SAMPLE, 1, INDEX, 0, 0, "stackIndex"},
    {SAMPLE, 2, INDEX, 1, 0, "attributeIndices"},
    {SAMPLE, 3, INDEX, 0, 0, "linkIndex"},
    {SAMPLE, 4, SIGNED, 1, 0, "values"},
    {SAMPLE, 5, FIXED, 1, 0, "timestampsUnixNano"},
    {DICTIONARY, PCI_OTLP_MAPPINGS, MESSAGE, 1, MAPPING, "mappingTable"},
    {DICTIONARY, PCI_OTLP_LOCATIONS, MESSAGE, 1, LOCATION, "locationTable"},
    {DICTIONARY, PCI_OTLP_FUNCTIONS, MESSAGE, 1, FUNCTION, "functionTable"},
    {DICTIONARY, PCI_OTLP_LINKS, MESSAGE, 1, LINK, "linkTable"},
    {DICTIONARY, PCI_OTLP_STRINGS, TEXT, 1, 0, "stringTable"},
    {DICTIONARY, PCI_OTLP_ATTRIBUTES, MESSAGE, 1, ENTRY, "attributeTable"},
    {DICTIONARY, PCI_OTLP_STACKS, MESSAGE, 1, STACK, "stackTable"},
    {MAPPING, 1, UNSIGNED, 0, 0, "memoryStart"},
    {MAPPING, 2, UNSIGNED, 0, 0, "memoryLimit"},
    {MAPPING, 3, UNSIGNED, 0, 0, "fileOffset"},
    {MAPPING, 4, INDEX, 0, 0, "filenameStrindex"},
    {MAPPING, 5, INDEX, 1, 0, "attributeIndices"},
    {LOCATION, 1, INDEX, 0, 0, "mappingIndex"},
    {LOCATION, 2, UNSIGNED, 0, 0, "address"},
    {LOCATION, 3, MESSAGE, 1, LINE, "lines"},
    {LOCATION, 3, MESSAGE, 1, LINE, "line"},
    {LINE, 1, INDEX, 0, 0, "functionIndex"},
    {LINE, 2, SIGNED, 0, 0, "line"},
    {LINE, 3, SIGNED, 0, 0, "column"},
    {FUNCTION, 1, INDEX, 0, 0, "nameStrindex"},
    {FUNCTION, 2, INDEX, 0, 0, "systemNameStrindex"},
    {FUNCTION, 3, INDEX, 0, 0, "filenameStrindex"},
    {FUNCTION, 4, SIGNED, 0, 0, "startLine"},
    {LINK, 1, TEXT, 0, 0, "traceId"},
    {LINK, 2, TEXT, 0, 0, "spanId"},
    {ENTRY, 1, INDEX, 0, 0, "keyStrindex"},
    {ENTRY, 2, MESSAGE, 0, ANY_VALUE, "value"},
    {ENTRY, 3, INDEX, 0, 0, "unitStrindex"},
    {KEY_VALUE, 1, TEXT, 0, 0, "key"},
    {KEY_VALUE, 2, MESSAGE, 0, ANY_VALUE, "value"},
    {KEY_VALUE, 3, INDEX, 0, 0, "keyStrindex"},
    {ANY_VALUE, 1, TEXT, 0, 0, "stringValue"},
    {ANY_VALUE, 2, BOOLEAN, 0, 0, "boolValue"},
    {ANY_VALUE, 3, SIGNED, 0, 0, "intValue"},
    {ANY_VALUE, 4, DOUBLE, 0, 0, "doubleValue"},
    {ANY_VALUE, 8, INDEX, 0, 0, "stringValueStrindex"},
    {STACK, 1, INDEX, 1, 0, "locationIndices"},
};

/* An object whose members are being read. */
struct level {
    int message;
    size_t start;               /* offset of its content; its size precedes it */
    const struct schema *array; /* the member whose elements are being read */
};

struct converter {
    struct pci_otlp *r;
    struct pci_json json;
    struct level levels[DEPTH];
    int depth; /* of the current level */
};

static const struct schema *find_field(const struct converter *c)
{
    int message = c->levels[c->depth].message;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        if (schemas[i].message == message && pci_json_is(&c->json, schemas[i].name))
            return &schemas[i];
    return NULL;
}

/* ---- output */

static pcol_status put_varint(struct pci_otlp *r, uint64_t value, pcol_error *err)
{
    uint8_t bytes[10];
    size_t size = 0;
    for (; value > 127; value >>= 7)
        bytes[size++] = (uint8_t)(value | 128);
    bytes[size++] = (uint8_t)value;
    return pci_strbuf_append(&r->bytes, bytes, size, err);
}

static pcol_status put_key(struct pci_otlp *r, const struct schema *field, unsigned type,
                           pcol_error *err)
{
    return put_varint(r, (uint64_t)field->number << 3 | type, err);
}

static pcol_status put_fixed(struct pci_otlp *r, uint64_t value, pcol_error *err)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    return pci_strbuf_append(&r->bytes, bytes, sizeof bytes, err);
}

static pcol_status begin_object(struct converter *c, int message, pcol_error *err)
{
    struct pci_otlp *r = c->r;
    PCI_TRY(PCI_GROW(r->places, r->place_capacity, r->place_count + 1, err));
    r->places[r->place_count++] =
        (struct pci_otlp_place){r->bytes.size, c->json.line, c->json.column};
    PCI_TRY(pci_strbuf_append(&r->bytes, "\0\0\0\0\0", PADDED_BYTES, err));
    c->levels[++c->depth] = (struct level){message, r->bytes.size, NULL};
    return PCOL_OK;
}

static pcol_status end_object(struct converter *c, pcol_error *err)
{
    struct pci_otlp *r = c->r;
    const struct level *level = &c->levels[c->depth--];
    uint64_t size = r->bytes.size - level->start;
    if (size >> 7 * PADDED_BYTES)
        return pci_json_fail(&c->json, err, "a message of more than 32 GiB");
    for (unsigned i = 0; i < PADDED_BYTES; i++)
        r->bytes.data[level->start - PADDED_BYTES + i] =
            (char)((size >> 7 * i & 127) | (i + 1 < PADDED_BYTES ? 128 : 0));
    return PCOL_OK;
}

/* ---- values */

/* A decimal number: value * 10^scale; the value does not end in 0. */
struct decimal {
    int is_negative, is_long; /* is_long: the value has more than 64 bits */
    uint64_t value;
    int64_t scale;
};

static int is_digit(pcol_str text, size_t at)
{
    return at < text.size && text.data[at] >= '0' && text.data[at] <= '9';
}

/* Append a digit to the value; zeros are counted until another digit follows. */
static void add_digit(struct decimal *d, unsigned digit, uint64_t *zeros)
{
    if (!digit) {
        *zeros += 1;
        return;
    }
    for (*zeros += 1; *zeros && d->value && !d->is_long; *zeros -= 1)
        d->is_long = __builtin_mul_overflow(d->value, UINT64_C(10), &d->value);
    d->is_long |= __builtin_add_overflow(d->value, digit, &d->value);
    *zeros = 0;
}

/* 1 if the text is a number of JSON. */
static int scan_decimal(pcol_str text, struct decimal *d)
{
    uint64_t zeros = 0;
    size_t at = 0, first;
    *d = (struct decimal){.is_negative = text.size && text.data[0] == '-'};
    first = at = (size_t)d->is_negative;
    for (; is_digit(text, at); at++)
        add_digit(d, (unsigned)(text.data[at] - '0'), &zeros);
    if (at == first || (at > first + 1 && text.data[first] == '0'))
        return 0;
    if (at < text.size && text.data[at] == '.') {
        for (first = ++at; is_digit(text, at); at++)
            add_digit(d, (unsigned)(text.data[at] - '0'), &zeros);
        if (at == first)
            return 0;
        d->scale -= (int64_t)(at - first);
    }
    d->scale += (int64_t)zeros;
    if (at < text.size && (text.data[at] | 32) == 'e') {
        int64_t exponent = 0;
        int negative = ++at < text.size && text.data[at] == '-';
        at += negative || (at < text.size && text.data[at] == '+');
        for (first = at; is_digit(text, at); at++)
            if (exponent < INT64_C(1) << 48) /* more than a text has digits */
                exponent = exponent * 10 + (text.data[at] - '0');
        if (at == first)
            return 0;
        d->scale += negative ? -exponent : exponent;
    }
    return at == text.size;
}

/* The integer of a token, perhaps a string; negative ones as two's complement. */
static pcol_status get_integer(const struct converter *c, const struct schema *field,
                               uint64_t *value, pcol_error *err)
{
    static const struct {
        uint64_t most, least; /* least: of the absolute values of negative ones */
        const char *type;
    } ranges[] = {[INDEX] = {INT32_MAX, UINT64_C(1) << 31, "an integer of 32 bits"},
                  [SIGNED] = {INT64_MAX, UINT64_C(1) << 63, "an integer of 64 bits"},
                  [UNSIGNED] = {UINT64_MAX, 0, "an integer of 64 bits without a sign"},
                  [FIXED] = {UINT64_MAX, 0, "an integer of 64 bits without a sign"}};
    enum pci_json_type type = c->json.type;
    struct decimal d = {0};
    int is_number = 1;
    if (type == PCI_JSON_INT) {
        d.is_negative = c->json.integer < 0;
        d.value = d.is_negative ? 0 - (uint64_t)c->json.integer : (uint64_t)c->json.integer;
    } else {
        is_number = (type == PCI_JSON_STRING || type == PCI_JSON_BIG || type == PCI_JSON_DOUBLE) &&
                    scan_decimal(c->json.text, &d);
    }
    if (!d.value)
        d.scale = 0;
    for (; d.scale > 0 && !d.is_long; d.scale--)
        d.is_long = __builtin_mul_overflow(d.value, UINT64_C(10), &d.value);
    if (!is_number || d.is_long || d.scale < 0 ||
        d.value > (d.is_negative ? ranges[field->kind].least : ranges[field->kind].most))
        return pci_json_fail(&c->json, err, "%s must be %s", field->name, ranges[field->kind].type);
    *value = d.is_negative ? 0 - d.value : d.value;
    return PCOL_OK;
}

/* The double of a string: a number of JSON, "NaN", "Infinity" or "-Infinity". *known: 0 for
 * another. */
static pcol_status parse_double(pcol_str text, double *number, int *known, pcol_error *err)
{
    struct decimal d;
    char *scratch;
    *known = 1;
    if (pci_str_is(text, "NaN"))
        *number = (double)NAN;
    else if (pci_str_is(text, "Infinity") || pci_str_is(text, "-Infinity"))
        *number = *text.data == '-' ? -HUGE_VAL : HUGE_VAL;
    else if ((*known = scan_decimal(text, &d))) {
        PCI_TRY(PCI_MALLOC(scratch, text.size + 1, err));
        *number = pci_number_parse(text.data, text.size, scratch);
        *known = isfinite(*number);
        pci_free(scratch);
    }
    return PCOL_OK;
}

static pcol_status put_double(struct converter *c, const struct schema *field, pcol_error *err)
{
    double number = c->json.number;
    uint64_t bits;
    int known = (c->json.type == PCI_JSON_INT || c->json.type == PCI_JSON_DOUBLE ||
                 c->json.type == PCI_JSON_BIG) &&
                isfinite(number);
    if (c->json.type == PCI_JSON_STRING)
        PCI_TRY(parse_double(c->json.text, &number, &known, err));
    if (!known)
        return pci_json_fail(&c->json, err, "%s must be a number", field->name);
    memcpy(&bits, &number, sizeof bits);
    PCI_TRY(put_key(c->r, field, PCI_OTLP_FIXED64, err));
    return put_fixed(c->r, bits, err);
}

static pcol_status put_boolean(struct converter *c, const struct schema *field, pcol_error *err)
{
    if (c->json.type != PCI_JSON_TRUE && c->json.type != PCI_JSON_FALSE)
        return pci_json_fail(&c->json, err, "%s must be true or false", field->name);
    PCI_TRY(put_key(c->r, field, PCI_OTLP_VARINT, err));
    return put_varint(c->r, c->json.type == PCI_JSON_TRUE, err);
}

/* Convert a value; of an object, its beginning. */
static pcol_status put_value(struct converter *c, const struct schema *field, pcol_error *err)
{
    struct pci_otlp *r = c->r;
    uint64_t value = 0;
    if (field->kind == DOUBLE)
        return put_double(c, field, err);
    if (field->kind == BOOLEAN)
        return put_boolean(c, field, err);
    if (field->kind == MESSAGE) {
        PCI_TRY(pci_json_expect(&c->json, PCI_JSON_OBJECT, field->name, err));
        PCI_TRY(put_key(r, field, PCI_OTLP_BYTES, err));
        return begin_object(c, field->inner, err);
    }
    if (field->kind == TEXT) {
        PCI_TRY(pci_json_expect(&c->json, PCI_JSON_STRING, field->name, err));
        PCI_TRY(put_key(r, field, PCI_OTLP_BYTES, err));
        PCI_TRY(put_varint(r, c->json.text.size, err));
        return pci_strbuf_append(&r->bytes, c->json.text.data, c->json.text.size, err);
    }
    PCI_TRY(get_integer(c, field, &value, err));
    PCI_TRY(put_key(r, field, field->kind == FIXED ? PCI_OTLP_FIXED64 : PCI_OTLP_VARINT, err));
    return field->kind == FIXED ? put_fixed(r, value, err) : put_varint(r, value, err);
}

/* Convert the next member or element of the current level, or end it. */
static pcol_status convert_next(struct converter *c, pcol_error *err)
{
    struct level *level = &c->levels[c->depth];
    int more;
    if (level->array) {
        PCI_TRY(pci_json_element(&c->json, &more, err));
        if (more)
            return put_value(c, level->array, err);
        level->array = NULL;
        return PCOL_OK;
    }
    PCI_TRY(pci_json_member(&c->json, &more, err));
    if (!more)
        return end_object(c, err);
    const struct schema *field = find_field(c);
    if (!field)
        return pci_json_skip_member(&c->json, err);
    PCI_TRY(pci_json_next(&c->json, err));
    if (c->json.type == PCI_JSON_NULL) /* the default */
        return PCOL_OK;
    if (!field->is_repeated)
        return put_value(c, field, err);
    level->array = field;
    return pci_json_expect(&c->json, PCI_JSON_ARRAY, field->name, err);
}

static pcol_status convert(struct converter *c, struct pci_otlp_list *ends, pcol_error *err)
{
    for (int more = 1; more;) {
        c->depth = -1;
        PCI_TRY(pci_json_next(&c->json, err));
        PCI_TRY(pci_json_expect(&c->json, PCI_JSON_OBJECT, "an OpenTelemetry profile", err));
        PCI_TRY(begin_object(c, DATA, err));
        while (c->depth >= 0)
            PCI_TRY(convert_next(c, err));
        PCI_TRY(PCI_GROW(ends->values, ends->capacity, ends->count + 1, err));
        ends->values[ends->count++] = c->r->bytes.size;
        PCI_TRY(pci_json_another(&c->json, &more, err));
    }
    return PCOL_OK;
}

pcol_status pci_otlp_read_json(struct pci_otlp *r, pcol_error *err)
{
    struct pci_json_options options = {0};
    struct pci_input input;
    struct converter c = {.r = r};
    size_t start = PADDED_BYTES;
    r->indices.count = 0;
    PCI_TRY(pci_input_open_memory(&input, r->input.data, r->input.size, "", NULL, err));
    pcol_status status = pci_json_open(&c.json, &input, &options, err);
    if (status == PCOL_OK) {
        status = convert(&c, &r->indices, err);
        pci_json_close(&c.json);
    }
    pci_input_close(&input);
    PCI_TRY(status);
    PCI_TRY(PCI_GROW(r->messages, r->message_capacity, r->indices.count, err));
    for (size_t i = 0; i < r->indices.count; i++) {
        size_t end = (size_t)r->indices.values[i];
        r->messages[r->message_count++] =
            (struct pci_otlp_span){(uint8_t *)r->bytes.data + start, end - start};
        start = end + PADDED_BYTES;
    }
    return PCOL_OK;
}
