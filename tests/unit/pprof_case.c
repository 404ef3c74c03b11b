/*
 * pprof_case.c - random profiles as messages of protobuf-c, serialized in any order of fields and
 * compared field by field
 */
#include "pprof_case.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

void bytes_add(struct bytes *b, const void *data, size_t size)
{
    if (b->size + size + 1 > b->capacity) {
        b->capacity = 2 * (b->size + size + 1);
        b->data = realloc(b->data, b->capacity);
        cr_assert_not_null(b->data);
    }
    if (size)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

pcol_status bytes_gather(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)err;
    bytes_add(context, data, size);
    return PCOL_OK;
}

void bytes_varint(struct bytes *b, uint64_t value)
{
    uint8_t byte;
    for (; value > 127; value >>= 7) {
        byte = (uint8_t)(value | 128);
        bytes_add(b, &byte, 1);
    }
    byte = (uint8_t)value;
    bytes_add(b, &byte, 1);
}

void bytes_field(struct bytes *b, unsigned number, const struct bytes *message)
{
    bytes_varint(b, number << 3 | 2);
    bytes_varint(b, message->size);
    bytes_add(b, message->data, message->size);
}

void bytes_number(struct bytes *b, unsigned number, uint64_t value)
{
    bytes_varint(b, number << 3);
    bytes_varint(b, value);
}

/* ---- random profiles ---- */

uint64_t pprof_random;

static uint64_t next_random(void)
{
    pprof_random ^= pprof_random << 13;
    pprof_random ^= pprof_random >> 7;
    pprof_random ^= pprof_random << 17;
    return pprof_random * UINT64_C(0x2545f4914f6cdd1d) >> 11;
}

static uint64_t below(uint64_t n)
{
    return n ? next_random() % n : 0;
}

static int chance(unsigned percent)
{
    return below(100) < percent;
}

/* Numbers of all sizes, often the extremes. */
static int64_t any_number(void)
{
    static const int64_t extremes[] = {0, 1, -1, INT64_MIN, INT64_MAX, 127, 128, 1 << 20};
    if (chance(30))
        return extremes[below(8)];
    return (int64_t)(next_random() << below(11)) >> below(60);
}

/* Everything that a test makes is freed at its end. */
static void **made;
static size_t made_count, made_capacity;

void *pprof_make(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    cr_assert_not_null(memory);
    if (made_count == made_capacity) {
        made_capacity = 2 * made_capacity + 64;
        made = realloc(made, made_capacity * sizeof *made);
        cr_assert_not_null(made);
    }
    made[made_count++] = memory;
    return memory;
}

void pprof_free_all(void)
{
    while (made_count)
        free(made[--made_count]);
    free(made);
    made = NULL;
    made_capacity = 0;
}

/* Fields that no version knows, of every wire type. */
static void add_unknown(ProtobufCMessage *m, unsigned percent)
{
    static const uint8_t varint[] = {0xff, 0x01}, eight[8] = {1, 2, 3, 4, 5, 6, 7, 8},
                         four[4] = {9, 8, 7, 6}, counted[] = {3, 'x', 0, 0xff};
    static const struct {
        ProtobufCWireType type;
        const uint8_t *data;
        size_t size;
    } kinds[] = {{PROTOBUF_C_WIRE_TYPE_VARINT, varint, 2},
                 {PROTOBUF_C_WIRE_TYPE_64BIT, eight, 8},
                 {PROTOBUF_C_WIRE_TYPE_32BIT, four, 4},
                 {PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, counted, 4}};
    if (!chance(percent))
        return;
    m->n_unknown_fields = 1 + (unsigned)below(3);
    m->unknown_fields = pprof_make(m->n_unknown_fields, sizeof *m->unknown_fields);
    for (unsigned i = 0; i < m->n_unknown_fields; i++) {
        size_t k = below(4);
        ProtobufCMessageUnknownField *f = &m->unknown_fields[i];
        f->tag = (uint32_t)(16 + below(3) * 1000000);
        f->wire_type = kinds[k].type;
        f->len = kinds[k].size;
        f->data = pprof_make(kinds[k].size, 1);
        memcpy(f->data, kinds[k].data, kinds[k].size);
    }
}

#define OPTIONAL(message, field, value, percent) \
    do {                                         \
        if (chance(percent)) {                   \
            (message)->has_##field = 1;          \
            (message)->field = (value);          \
        }                                        \
    } while (0)

size_t pprof_string_count;

static int64_t any_string(void)
{
    return (int64_t)below(pprof_string_count);
}

PciPprof__ValueType *pprof_any_type(void)
{
    PciPprof__ValueType *t = pprof_make(1, sizeof *t);
    pci_pprof__value_type__init(t);
    OPTIONAL(t, type, any_string(), 90);
    OPTIONAL(t, unit, any_string(), 90);
    add_unknown(&t->base, 5);
    return t;
}

uint64_t *pprof_ids[3];
size_t pprof_id_count[3];

/* Ids in order, shuffled, sparse, or as large as can be. */
static void make_ids(int which, size_t count)
{
    unsigned kind = (unsigned)below(4);
    pprof_ids[which] = pprof_make(count, sizeof **pprof_ids);
    pprof_id_count[which] = count;
    for (size_t i = 0; i < count; i++)
        pprof_ids[which][i] = kind == 0   ? i + 1
                              : kind == 1 ? count - i
                              : kind == 2 ? i * 1000003 + 7
                                          : UINT64_MAX - i;
}

static uint64_t any_id(int which)
{
    return pprof_ids[which][below(pprof_id_count[which])];
}

static PciPprof__Mapping *any_mapping(uint64_t id, int plain)
{
    PciPprof__Mapping *m = pprof_make(1, sizeof *m);
    pci_pprof__mapping__init(m);
    m->has_id = 1;
    m->id = id;
    if (plain)
        return m;
    OPTIONAL(m, memory_start, (uint64_t)any_number(), 80);
    OPTIONAL(m, memory_limit, (uint64_t)any_number(), 80);
    OPTIONAL(m, file_offset, (uint64_t)any_number(), 50);
    OPTIONAL(m, filename, any_string(), 80);
    OPTIONAL(m, build_id, any_string(), 50);
    OPTIONAL(m, has_functions, 1, 50);
    OPTIONAL(m, has_filenames, 1, 50);
    OPTIONAL(m, has_line_numbers, 1, 50);
    OPTIONAL(m, has_inline_frames, (protobuf_c_boolean)below(2), 50);
    add_unknown(&m->base, 5);
    return m;
}

static PciPprof__Function *any_function(uint64_t id, int plain)
{
    PciPprof__Function *f = pprof_make(1, sizeof *f);
    pci_pprof__function__init(f);
    f->has_id = 1;
    f->id = id;
    if (plain)
        return f;
    OPTIONAL(f, name, any_string(), 90);
    OPTIONAL(f, system_name, any_string(), 70);
    OPTIONAL(f, filename, any_string(), 70);
    OPTIONAL(f, start_line, any_number(), 50);
    add_unknown(&f->base, 5);
    return f;
}

static PciPprof__Location *any_location(uint64_t id, int plain)
{
    PciPprof__Location *l = pprof_make(1, sizeof *l);
    pci_pprof__location__init(l);
    l->has_id = 1;
    l->id = id;
    if (plain)
        return l;
    OPTIONAL(l, mapping_id, pprof_id_count[0] && chance(90) ? any_id(0) : 424242, 80);
    OPTIONAL(l, address, (uint64_t)any_number(), 80);
    OPTIONAL(l, is_folded, 1, 20);
    add_unknown(&l->base, 5);
    l->n_line = pprof_id_count[1] ? below(4) : 0;
    l->line = pprof_make(l->n_line, sizeof *l->line);
    for (size_t i = 0; i < l->n_line; i++) {
        l->line[i] = pprof_make(1, sizeof **l->line);
        pci_pprof__line__init(l->line[i]);
        l->line[i]->has_function_id = 1;
        l->line[i]->function_id = any_id(1);
        OPTIONAL(l->line[i], line, any_number(), 80);
        OPTIONAL(l->line[i], column, any_number(), 30);
        add_unknown(&l->line[i]->base, 5);
    }
    return l;
}

static PciPprof__Label *any_label(size_t keys)
{
    PciPprof__Label *l = pprof_make(1, sizeof *l);
    pci_pprof__label__init(l);
    OPTIONAL(l, key, (int64_t)below(keys), 95);
    OPTIONAL(l, str, any_string(), 50);
    OPTIONAL(l, num, any_number(), 50);
    OPTIONAL(l, num_unit, (int64_t)below(pprof_string_count < 4 ? pprof_string_count : 4), 30);
    add_unknown(&l->base, 3);
    return l;
}

PciPprof__Sample *pprof_any_sample(size_t types, size_t keys)
{
    PciPprof__Sample *s = pprof_make(1, sizeof *s);
    pci_pprof__sample__init(s);
    s->n_location_id = pprof_id_count[2] ? below(9) : 0;
    s->location_id = pprof_make(s->n_location_id, sizeof *s->location_id);
    for (size_t i = 0; i < s->n_location_id; i++)
        s->location_id[i] = any_id(2);
    s->n_value = types;
    s->value = pprof_make(types, sizeof *s->value);
    for (size_t i = 0; i < types; i++)
        s->value[i] = chance(50) ? 1 : any_number();
    s->n_label = chance(60) ? below(6) : 0;
    s->label = pprof_make(s->n_label, sizeof *s->label);
    for (size_t i = 0; i < s->n_label; i++)
        s->label[i] = any_label(keys);
    add_unknown(&s->base, 3);
    return s;
}

static void any_strings(Profile *p)
{
    p->n_string_table = pprof_string_count = 1 + below(40);
    p->string_table = pprof_make(pprof_string_count, sizeof *p->string_table);
    for (size_t i = 1; i < pprof_string_count; i++) {
        size_t size = below(6); /* short, so that some repeat, "" too; any byte */
        p->string_table[i].len = size;
        p->string_table[i].data = pprof_make(size, 1);
        for (size_t k = 0; k < size; k++)
            p->string_table[i].data[k] = (uint8_t) "ab\0\xff\n\""[below(6)];
    }
}

static void any_header(Profile *p)
{
    OPTIONAL(p, drop_frames, any_string(), 30);
    OPTIONAL(p, keep_frames, any_string(), 30);
    OPTIONAL(p, time_nanos, any_number(), 50);
    OPTIONAL(p, duration_nanos, any_number(), 50);
    OPTIONAL(p, period, any_number(), 50);
    OPTIONAL(p, default_sample_type, any_string(), 50);
    OPTIONAL(p, doc_url, any_string(), 30);
    if (chance(50))
        p->period_type = pprof_any_type();
    p->n_comment = below(4);
    p->comment = pprof_make(p->n_comment, sizeof *p->comment);
    for (size_t i = 0; i < p->n_comment; i++)
        p->comment[i] = any_string();
    add_unknown(&p->base, 20);
}

Profile *pprof_any_profile(uint64_t seed)
{
    Profile *p = pprof_make(1, sizeof *p);
    pprof_random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    pci_pprof__profile__init(p);
    any_strings(p);
    any_header(p);
    for (int i = 0; i < 3; i++)
        make_ids(i, below(12));
    MANY(sample_type, below(4), pprof_any_type());
    MANY(mapping, pprof_id_count[0], any_mapping(pprof_ids[0][index], chance(20)));
    MANY(function, pprof_id_count[1], any_function(pprof_ids[1][index], chance(20)));
    MANY(location, pprof_id_count[2], any_location(pprof_ids[2][index], chance(20)));
    size_t keys = pprof_string_count < 5 ? pprof_string_count : 5;
    MANY(sample, p->n_sample_type ? below(40) : 0, pprof_any_sample(p->n_sample_type, keys));
    return p;
}

/* The packed profile with its top-level fields in another order, those of one number, and those
 * that are not known, as they were:
 * tables may come before or after their use. */
void pprof_reorder(struct bytes *b)
{
    size_t starts[4096], count = 0, at = 0;
    unsigned numbers[4096];
    struct bytes out = {0};
    while (at < b->size) {
        uint64_t value = 0, size = 0;
        unsigned shift = 0;
        cr_assert_lt(count, 4095);
        starts[count] = at;
        do
            value |= (uint64_t)(b->data[at] & 127) << shift, shift += 7;
        while (b->data[at++] & 128);
        numbers[count++] = value >> 3 < 16 ? (unsigned)(value >> 3) : 16;
        unsigned type = value & 7;
        shift = 0;
        if (type == 0 || type == 2)
            do
                size |= (uint64_t)(b->data[at] & 127) << shift, shift += 7;
            while (b->data[at++] & 128);
        at += type == 0 ? 0 : type == 1 ? 8 : type == 5 ? 4 : size;
    }
    starts[count] = b->size;
    for (uint64_t done = 0, left = count; left;) {
        size_t pick = below(count);
        unsigned number = numbers[pick];
        for (size_t i = 0; i < count; i++) /* the first of its number that is left */
            if (numbers[i] == number && number != UINT32_MAX) {
                bytes_add(&out, b->data + starts[i], starts[i + 1] - starts[i]);
                numbers[i] = UINT32_MAX;
                left--;
                break;
            }
        cr_assert_lt(done++, 10000000);
    }
    free(b->data);
    *b = out;
}

struct bytes pprof_pack(const Profile *p)
{
    struct bytes b = {0};
    size_t size = pci_pprof__profile__get_packed_size(p);
    uint8_t *data = pprof_make(size, 1);
    pci_pprof__profile__pack(p, data);
    bytes_add(&b, data, size);
    return b;
}

/* ---- comparing ---- */

static int same_string(const Profile *a, int has_a, int64_t i, const Profile *b, int has_b,
                       int64_t k)
{
    const ProtobufCBinaryData *s = &a->string_table[has_a ? i : 0];
    const ProtobufCBinaryData *t = &b->string_table[has_b ? k : 0];
    return s->len == t->len && (!s->len || !memcmp(s->data, t->data, s->len));
}

#define STRING(x, y, field)                                                                  \
    cr_assert(same_string(a, (x)->has_##field, (x)->field, b, (y)->has_##field, (y)->field), \
              "seed %u: " #field, seed)
#define NUMBER(x, y, field)                                                            \
    cr_assert_eq((x)->has_##field ? (x)->field : 0, (y)->has_##field ? (y)->field : 0, \
                 "seed %u: " #field, seed)
#define COUNT(x, y, field) cr_assert_eq((x)->field, (y)->field, "seed %u: " #field, seed)

static void same_unknown(const ProtobufCMessage *x, const ProtobufCMessage *y, unsigned seed)
{
    COUNT(x, y, n_unknown_fields);
    for (unsigned i = 0; i < x->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *f = &x->unknown_fields[i], *g = &y->unknown_fields[i];
        cr_assert(f->tag == g->tag && f->wire_type == g->wire_type && f->len == g->len &&
                      !memcmp(f->data, g->data, f->len),
                  "seed %u: unknown field", seed);
    }
}

static void same_type(const Profile *a, const PciPprof__ValueType *x, const Profile *b,
                      const PciPprof__ValueType *y, unsigned seed)
{
    PciPprof__ValueType none = PCI_PPROF__VALUE_TYPE__INIT;
    x = x ? x : &none;
    y = y ? y : &none;
    STRING(x, y, type);
    STRING(x, y, unit);
    same_unknown(&x->base, &y->base, seed);
}

static void same_sample(const Profile *a, const PciPprof__Sample *x, const Profile *b,
                        const PciPprof__Sample *y, unsigned seed)
{
    COUNT(x, y, n_location_id);
    COUNT(x, y, n_value);
    COUNT(x, y, n_label);
    for (size_t i = 0; i < x->n_location_id; i++)
        COUNT(x, y, location_id[i]);
    for (size_t i = 0; i < x->n_value; i++)
        COUNT(x, y, value[i]);
    for (size_t i = 0; i < x->n_label; i++) {
        const PciPprof__Label *l = x->label[i], *m = y->label[i];
        STRING(l, m, key);
        STRING(l, m, str);
        STRING(l, m, num_unit);
        NUMBER(l, m, num);
        cr_assert_eq(l->has_str && l->str, m->has_str && m->str, "seed %u: a string is set", seed);
        same_unknown(&l->base, &m->base, seed);
    }
    same_unknown(&x->base, &y->base, seed);
}

static void same_code(const Profile *a, const Profile *b, unsigned seed)
{
    for (size_t i = 0; i < a->n_mapping; i++) {
        const PciPprof__Mapping *x = a->mapping[i], *y = b->mapping[i];
        NUMBER(x, y, id);
        NUMBER(x, y, memory_start);
        NUMBER(x, y, memory_limit);
        NUMBER(x, y, file_offset);
        STRING(x, y, filename);
        STRING(x, y, build_id);
        NUMBER(x, y, has_functions);
        NUMBER(x, y, has_filenames);
        NUMBER(x, y, has_line_numbers);
        NUMBER(x, y, has_inline_frames);
        same_unknown(&x->base, &y->base, seed);
    }
    for (size_t i = 0; i < a->n_function; i++) {
        const PciPprof__Function *x = a->function[i], *y = b->function[i];
        NUMBER(x, y, id);
        STRING(x, y, name);
        STRING(x, y, system_name);
        STRING(x, y, filename);
        NUMBER(x, y, start_line);
        same_unknown(&x->base, &y->base, seed);
    }
    for (size_t i = 0; i < a->n_location; i++) {
        const PciPprof__Location *x = a->location[i], *y = b->location[i];
        NUMBER(x, y, id);
        NUMBER(x, y, mapping_id);
        NUMBER(x, y, address);
        NUMBER(x, y, is_folded);
        COUNT(x, y, n_line);
        same_unknown(&x->base, &y->base, seed);
        for (size_t k = 0; k < x->n_line; k++) {
            NUMBER(x->line[k], y->line[k], function_id);
            NUMBER(x->line[k], y->line[k], line);
            NUMBER(x->line[k], y->line[k], column);
            same_unknown(&x->line[k]->base, &y->line[k]->base, seed);
        }
    }
}

void pprof_same(const Profile *a, const Profile *b, unsigned seed)
{
    COUNT(a, b, n_sample_type);
    COUNT(a, b, n_sample);
    COUNT(a, b, n_mapping);
    COUNT(a, b, n_location);
    COUNT(a, b, n_function);
    COUNT(a, b, n_comment);
    for (size_t i = 0; i < a->n_sample_type; i++)
        same_type(a, a->sample_type[i], b, b->sample_type[i], seed);
    for (size_t i = 0; i < a->n_sample; i++)
        same_sample(a, a->sample[i], b, b->sample[i], seed);
    same_code(a, b, seed);
    for (size_t i = 0; i < a->n_comment; i++)
        cr_assert(same_string(a, 1, a->comment[i], b, 1, b->comment[i]), "seed %u: comment", seed);
    STRING(a, b, drop_frames);
    STRING(a, b, keep_frames);
    STRING(a, b, default_sample_type);
    STRING(a, b, doc_url);
    NUMBER(a, b, time_nanos);
    NUMBER(a, b, duration_nanos);
    NUMBER(a, b, period);
    same_type(a, a->period_type, b, b->period_type, seed);
    same_unknown(&a->base, &b->base, seed);
}
