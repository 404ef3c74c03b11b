/*
 * arrow_case.c - validator of Arrow C streams (arrow_case.h)
 */
#include "arrow_case.h"

#include <string.h>

/* Bits of a value; 0: variable-size text; -1: other layouts. */
static int width_of(const char *format)
{
    static const struct {
        char format;
        int bits;
    } widths[] = {{'b', 1},  {'c', 8},  {'C', 8},  {'s', 16}, {'S', 16},
                  {'i', 32}, {'I', 32}, {'l', 64}, {'L', 64}, {'f', 32},
                  {'g', 64}, {'u', 0},  {'U', 0},  {'z', 0},  {'Z', 0}};
    for (size_t i = 0; format[0] && !format[1] && i < sizeof widths / sizeof *widths; i++)
        if (widths[i].format == *format)
            return widths[i].bits;
    return -1;
}

/* Text of one value, from the tables of RFC 3629. */
static int is_utf8(const unsigned char *p, int64_t size)
{
    for (int64_t i = 0; i < size;) {
        unsigned c = p[i];
        int more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : -1;
        unsigned long point = more == 0 ? c : c & (0x3fu >> more);
        if (more < 0 || i + more >= size)
            return 0;
        for (int k = 1; k <= more; k++) {
            if ((p[i + k] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | (p[i + k] & 0x3fu);
        }
        static const unsigned long least[] = {0, 0x80, 0x800, 0x10000};
        if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
            return 0;
        i += more + 1;
    }
    return 1;
}

static const char *check_metadata(const char *metadata)
{
    int32_t count, size;
    if (!metadata)
        return NULL;
    memcpy(&count, metadata, sizeof count);
    if (count < 0)
        return "the number of metadata pairs is below 0";
    metadata += sizeof count;
    for (int32_t i = 0; i < 2 * count; i++) {
        memcpy(&size, metadata, sizeof size);
        metadata += sizeof size;
        if (size < 0 || !is_utf8((const unsigned char *)metadata, size))
            return "a metadata text is not UTF-8";
        metadata += size;
    }
    return NULL;
}

const char *arrow_metadata(const struct ArrowSchema *schema, const char *key, int32_t *size)
{
    const char *at = schema->metadata;
    int32_t count, length;
    if (!at)
        return NULL;
    memcpy(&count, at, sizeof count);
    at += sizeof count;
    for (int32_t i = 0; i < count; i++) {
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        int same = (size_t)length == strlen(key) && memcmp(at, key, strlen(key)) == 0;
        at += length;
        memcpy(size, at, sizeof *size);
        at += sizeof *size;
        if (same)
            return at;
        at += *size;
    }
    return NULL;
}

const char *arrow_check_schema(const struct ArrowSchema *schema)
{
    const char *wrong;
    if (!schema->release)
        return "a schema is released";
    if (!schema->format)
        return "a schema has no format";
    if (schema->name &&
        !is_utf8((const unsigned char *)schema->name, (int64_t)strlen(schema->name)))
        return "a name is not UTF-8";
    if (schema->flags & ~INT64_C(7))
        return "unknown flags";
    if ((wrong = check_metadata(schema->metadata)))
        return wrong;
    if (strcmp(schema->format, "+s") != 0 && strcmp(schema->format, "+L") != 0 &&
        strcmp(schema->format, "+l") != 0 && width_of(schema->format) < 0)
        return "an unknown format";
    if (schema->n_children < 0 || (schema->n_children && !schema->children) ||
        (schema->format[0] != '+' && schema->n_children) ||
        (schema->format[0] == '+' && schema->format[1] != 's' && schema->n_children != 1))
        return "a wrong number of children";
    for (int64_t i = 0; i < schema->n_children; i++)
        if ((wrong = arrow_check_schema(schema->children[i])))
            return wrong;
    if (schema->dictionary && !strchr("cCsSiIlL", schema->format[0]))
        return "the indexes of a dictionary are no integers";
    return schema->dictionary ? arrow_check_schema(schema->dictionary) : NULL;
}

static int bit(const void *bits, int64_t at)
{
    return ((const unsigned char *)bits)[at / 8] >> at % 8 & 1;
}

static int64_t int_at(const char *format, const void *values, int64_t at)
{
    switch (*format) {
    case 'b':
        return bit(values, at);
    case 'i':
        return ((const int32_t *)values)[at];
    case 'I':
        return ((const uint32_t *)values)[at];
    default:
        return ((const int64_t *)values)[at];
    }
}

static int64_t offset_at(const char *format, const void *offsets, int64_t at)
{
    return *format == 'u' || *format == 'z' || format[1] == 'l' ? ((const int32_t *)offsets)[at]
                                                                : ((const int64_t *)offsets)[at];
}

static const char *check_offsets(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                 int64_t end, int64_t most)
{
    const char *format = schema->format;
    const void *offsets = array->buffers[1];
    const unsigned char *data = array->n_buffers == 3 ? array->buffers[2] : NULL;
    if (!offsets)
        return end ? "no offsets" : NULL;
    for (int64_t i = array->offset; i < end; i++) {
        int64_t first = offset_at(format, offsets, i), last = offset_at(format, offsets, i + 1);
        int valid = !array->buffers[0] || bit(array->buffers[0], i);
        if (first < 0 || last < first || (most >= 0 && last > most))
            return "offsets fall or are out of range";
        if (last > first && array->n_buffers == 3 && !data)
            return "no data";
        if (valid && (*format == 'u' || *format == 'U') && !is_utf8(data + first, last - first))
            return "a text is not UTF-8";
        for (int64_t k = first; data && k < last; k++) { /* readable */
            volatile unsigned char byte = data[k];
            (void)byte;
        }
    }
    return NULL;
}

static const char *check_values(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                int64_t end)
{
    if (!array->buffers[1])
        return end ? "no values" : NULL;
    if ((uintptr_t)array->buffers[1] % (schema->format[0] == 'b' ? 1 : 4))
        return "values are not aligned";
    for (int64_t i = array->offset; i < end; i++) {
        int64_t value = int_at(schema->format, array->buffers[1], i);
        int valid = !array->buffers[0] || bit(array->buffers[0], i);
        if (valid && schema->dictionary && (value < 0 || value >= array->dictionary->length))
            return "an index is beyond the dictionary";
    }
    return NULL;
}

static const char *check_nulls(const struct ArrowSchema *schema, const struct ArrowArray *array,
                               int64_t end)
{
    int64_t nulls = 0;
    if (array->null_count < -1 || array->null_count > array->length)
        return "null_count is out of range";
    for (int64_t i = array->offset; array->n_buffers && array->buffers[0] && i < end; i++)
        nulls += !bit(array->buffers[0], i);
    if (array->null_count >= 0 && array->null_count != nulls)
        return "null_count is wrong";
    return nulls && !(schema->flags & ARROW_FLAG_NULLABLE) ? "nulls that the schema excludes"
                                                           : NULL;
}

static const char *check_children(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  int64_t end)
{
    const char *wrong;
    for (int64_t i = 0; i < array->n_children; i++) {
        const struct ArrowArray *child = array->children[i];
        if (!child || !child->release)
            return "a child is missing";
        if (schema->format[1] == 's' && child->length < end)
            return "a child is shorter than its parent";
        if ((wrong = arrow_check_array(schema->children[i], child)))
            return wrong;
    }
    return NULL;
}

const char *arrow_check_array(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    const char *wrong, *format = schema->format;
    int width = width_of(format);
    int64_t end, buffers = format[0] == '+' ? (format[1] == 's' ? 1 : 2) : width ? 2 : 3;
    if (!array->release)
        return "an array is released";
    if (array->length < 0 || array->offset < 0 ||
        __builtin_add_overflow(array->length, array->offset, &end))
        return "length or offset is out of range";
    if (array->n_buffers != buffers || !array->buffers)
        return "a wrong number of buffers";
    if (array->n_children != schema->n_children || (array->n_children && !array->children))
        return "children do not fit the schema";
    if (!array->dictionary != !schema->dictionary)
        return "the dictionary does not fit the schema";
    if ((wrong = check_nulls(schema, array, end)))
        return wrong;
    if (array->dictionary && (wrong = arrow_check_array(schema->dictionary, array->dictionary)))
        return wrong;
    if ((wrong = check_children(schema, array, end)))
        return wrong;
    if (format[0] == '+')
        return format[1] == 's' ? NULL
                                : check_offsets(schema, array, end, array->children[0]->length);
    return width ? check_values(schema, array, end) : check_offsets(schema, array, end, -1);
}

struct arrow_value arrow_value_at(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  int64_t index)
{
    struct arrow_value value = {0};
    const char *format = schema->format;
    int64_t at = array->offset + index;
    if (array->buffers[0] && !bit(array->buffers[0], at))
        return value;
    if (schema->dictionary)
        return arrow_value_at(schema->dictionary, array->dictionary,
                              int_at(format, array->buffers[1], at));
    value.valid = 1;
    if (width_of(format) == 0) {
        int64_t first = offset_at(format, array->buffers[1], at);
        value.kind = 't';
        value.size = (size_t)(offset_at(format, array->buffers[1], at + 1) - first);
        value.text = value.size ? (const char *)array->buffers[2] + first : "";
        return value;
    }
    value.kind = *format == 'g' ? 'd' : *format == 'L' ? 'u' : 'i';
    if (*format == 'g')
        value.f64 = ((const double *)array->buffers[1])[at];
    else
        value.i64 = int_at(format, array->buffers[1], at);
    return value;
}
