/*
 * query_equal.c - canonical text of a value: equal texts if and only if Python finds values equal
 *
 * Numbers are equal by value, whatever their type: 1, 1.0 and true. Objects are equal if they have
 * the same keys with equal values, in any order. So integral numbers are decimal integers, and keys
 * are sorted. Containers are processed with an explicit stack.
 */
#include "formats/perun/query_answers.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int pci_value_number(const struct pci_value *value, double *number)
{
    switch (value->kind) {
    case PCI_VALUE_BOOL:
    case PCI_VALUE_INTEGER:
        *number = (double)value->as.i64;
        return 1;
    case PCI_VALUE_DOUBLE:
        *number = value->as.f64;
        return 1;
    case PCI_VALUE_BIG:
        *number = value->as.text.data[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        for (int sign = value->as.text.data[0] == '-'; sign >= 0; sign = -1) {
            double sum = 0;
            for (size_t i = (size_t)sign; i < value->as.text.size; i++)
                sum = sum * 10 + (value->as.text.data[i] - '0');
            *number = sign ? -sum : sum;
        }
        return 1;
    default:
        return 0;
    }
}

static pcol_status put_number(const struct pci_value *value, struct pci_strbuf *to, pcol_error *err)
{
    char text[400];
    double number = value->as.f64;
    int size;
    if (value->kind == PCI_VALUE_BIG)
        return pci_strbuf_append(to, value->as.text.data, value->as.text.size, err);
    if (value->kind != PCI_VALUE_DOUBLE)
        size = snprintf(text, sizeof text, "%lld", (long long)value->as.i64);
    else if (number == 0)
        size = snprintf(text, sizeof text, "0");
    else if (isfinite(number) && floor(number) == number)
        size = snprintf(text, sizeof text, "%.0f", number); /* all its digits */
    else
        size = snprintf(text, sizeof text, "%a", number);
    return pci_strbuf_append(to, text, (size_t)size, err);
}

/* With a size prefix, so that no text is a prefix of another. */
static pcol_status put_string(char mark, pcol_str s, struct pci_strbuf *to, pcol_error *err)
{
    char text[32];
    int size = snprintf(text, sizeof text, "%c%zu:", mark, s.size);
    PCI_TRY(pci_strbuf_append(to, text, (size_t)size, err));
    return pci_strbuf_append(to, s.data, s.size, err);
}

/* ---- containers */

struct member_text {
    pcol_str key;
    size_t begin, size; /* of its text in the level's `text` */
};

struct level {
    struct pci_member_iterator each;
    int object;
    pcol_str key; /* of the current member */
    struct member_text *parts;
    size_t count, capacity;
    struct pci_strbuf text; /* of the members, concatenated */
};

struct levels {
    struct level *levels;
    size_t count, capacity;
};

static pcol_status open_level(struct levels *l, struct pci_values *values,
                              const struct pci_value *value, int object, pcol_error *err)
{
    PCI_TRY(PCI_GROW(l->levels, l->capacity, l->count + 1, err));
    struct level *level = &l->levels[l->count++];
    memset(level, 0, sizeof *level);
    level->object = object;
    return pci_member_iterator_open(&level->each, values, value, err);
}

static void close_level(struct levels *l)
{
    struct level *level = &l->levels[--l->count];
    pci_member_iterator_close(&level->each);
    pci_free(level->parts);
    pci_strbuf_clear(&level->text);
}

static int compare_parts(const void *a, const void *b, const void *context)
{
    const struct member_text *x = a, *y = b;
    (void)context;
    return pci_str_compare(x->key, y->key);
}

/* Append the text of a container whose members are complete. */
static pcol_status end_level(struct level *level, struct pci_strbuf *to, pcol_error *err)
{
    PCI_TRY(pci_strbuf_append(to, level->object ? "{" : "[", 1, err));
    if (!level->object) {
        PCI_TRY(pci_strbuf_append(to, level->text.data, level->text.size, err));
        return pci_strbuf_append(to, "]", 1, err);
    }
    /* Stable: the last of equal keys stays last. */
    PCI_TRY(pci_sort(level->parts, level->count, sizeof *level->parts, compare_parts, NULL, err));
    for (size_t i = 0; i < level->count; i++) {
        const struct member_text *p = &level->parts[i];
        if (i + 1 < level->count && !pci_str_compare(p->key, p[1].key))
            continue; /* of equal keys the last one counts */
        PCI_TRY(put_string('k', p->key, to, err));
        PCI_TRY(pci_strbuf_append(to, level->text.data + p->begin, p->size, err));
    }
    return pci_strbuf_append(to, "}", 1, err);
}

static pcol_status put_scalar(const struct pci_value *value, struct pci_strbuf *to, pcol_error *err)
{
    if (value->kind == PCI_VALUE_NULL)
        return pci_strbuf_append(to, "n", 1, err);
    if (value->kind == PCI_VALUE_STRING || value->kind == PCI_VALUE_TEXT)
        return put_string('s', value->as.text, to, err);
    PCI_TRY(put_number(value, to, err));
    return pci_strbuf_append(to, ";", 1, err);
}

static pcol_status add_part(struct level *level, size_t begin, pcol_error *err)
{
    if (!level->object)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(level->parts, level->capacity, level->count + 1, err));
    level->parts[level->count++] =
        (struct member_text){level->key, begin, level->text.size - begin};
    return PCOL_OK;
}

static pcol_status write_levels(struct levels *l, struct pci_values *values, struct pci_strbuf *to,
                                pcol_error *err)
{
    while (l->count) {
        struct level *level = &l->levels[l->count - 1];
        struct pci_member member;
        int more, object, array;
        PCI_TRY(pci_member_iterator_next(&level->each, &member, &more, err));
        if (!more) {
            struct level *outer = l->count > 1 ? level - 1 : NULL;
            struct pci_strbuf *text = outer ? &outer->text : to;
            size_t begin = text->size;
            PCI_TRY(end_level(level, text, err));
            close_level(l);
            if (outer)
                PCI_TRY(add_part(outer, begin, err));
            continue;
        }
        level->key = member.key;
        PCI_TRY(pci_value_classify(values, &member.value, &object, &array, err));
        if (object || array) {
            PCI_TRY(open_level(l, values, &member.value, object, err));
            continue;
        }
        size_t begin = level->text.size;
        PCI_TRY(put_scalar(&member.value, &level->text, err));
        PCI_TRY(add_part(level, begin, err));
    }
    return PCOL_OK;
}

pcol_status pci_equal_text(struct pci_values *values, const struct pci_value *value,
                           struct pci_strbuf *to, pcol_error *err)
{
    struct levels l = {0};
    int object, array;
    PCI_TRY(pci_value_classify(values, value, &object, &array, err));
    if (!object && !array)
        return put_scalar(value, to, err);
    pcol_status status = open_level(&l, values, value, object, err);
    PCI_THEN(status, write_levels(&l, values, to, err));
    while (l.count)
        close_level(&l);
    pci_free(l.levels);
    return status;
}
