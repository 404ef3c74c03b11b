/*
 * test_pprof.c - pprof profiles: what comes back equals what went in, with protobuf-c as the other
 * reader and writer; what is refused, and where
 *
 * Random profiles are made as messages of protobuf-c and packed by it, in any order of fields. They
 * are imported, exported, unpacked by it again and compared field by field with the first ones.
 */
#include <criterion/criterion.h>

#include "core/alloc.h"
#include "io/open.h"
#include "pcol.h"
#include "pprof/profile.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef PciPprof__Profile Profile;

/* ---- bytes ---- */

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

static void add(struct bytes *b, const void *data, size_t size)
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

static pcol_status gather(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)err;
    add(context, data, size);
    return PCOL_OK;
}

static void add_varint(struct bytes *b, uint64_t value)
{
    uint8_t byte;
    for (; value > 127; value >>= 7) {
        byte = (uint8_t)(value | 128);
        add(b, &byte, 1);
    }
    byte = (uint8_t)value;
    add(b, &byte, 1);
}

static void add_field(struct bytes *b, unsigned number, const struct bytes *message)
{
    add_varint(b, number << 3 | 2);
    add_varint(b, message->size);
    add(b, message->data, message->size);
}

static void add_number(struct bytes *b, unsigned number, uint64_t value)
{
    add_varint(b, number << 3);
    add_varint(b, value);
}

/* ---- random profiles ---- */

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d) >> 11;
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

static void *make(size_t count, size_t size)
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

static void free_all(void)
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
    m->unknown_fields = make(m->n_unknown_fields, sizeof *m->unknown_fields);
    for (unsigned i = 0; i < m->n_unknown_fields; i++) {
        size_t k = below(4);
        ProtobufCMessageUnknownField *f = &m->unknown_fields[i];
        f->tag = (uint32_t)(16 + below(3) * 1000000);
        f->wire_type = kinds[k].type;
        f->len = kinds[k].size;
        f->data = make(kinds[k].size, 1);
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

static size_t string_count;

static int64_t any_string(void)
{
    return (int64_t)below(string_count);
}

static PciPprof__ValueType *any_type(void)
{
    PciPprof__ValueType *t = make(1, sizeof *t);
    pci_pprof__value_type__init(t);
    OPTIONAL(t, type, any_string(), 90);
    OPTIONAL(t, unit, any_string(), 90);
    add_unknown(&t->base, 5);
    return t;
}

static uint64_t *ids[3];
static size_t id_count[3];

/* Ids in order, shuffled, sparse, or as large as can be. */
static void make_ids(int which, size_t count)
{
    unsigned kind = (unsigned)below(4);
    ids[which] = make(count, sizeof **ids);
    id_count[which] = count;
    for (size_t i = 0; i < count; i++)
        ids[which][i] = kind == 0   ? i + 1
                        : kind == 1 ? count - i
                        : kind == 2 ? i * 1000003 + 7
                                    : UINT64_MAX - i;
}

static uint64_t any_id(int which)
{
    return ids[which][below(id_count[which])];
}

static PciPprof__Mapping *any_mapping(uint64_t id, int plain)
{
    PciPprof__Mapping *m = make(1, sizeof *m);
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
    PciPprof__Function *f = make(1, sizeof *f);
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
    PciPprof__Location *l = make(1, sizeof *l);
    pci_pprof__location__init(l);
    l->has_id = 1;
    l->id = id;
    if (plain)
        return l;
    OPTIONAL(l, mapping_id, id_count[0] && chance(90) ? any_id(0) : 424242, 80);
    OPTIONAL(l, address, (uint64_t)any_number(), 80);
    OPTIONAL(l, is_folded, 1, 20);
    add_unknown(&l->base, 5);
    l->n_line = id_count[1] ? below(4) : 0;
    l->line = make(l->n_line, sizeof *l->line);
    for (size_t i = 0; i < l->n_line; i++) {
        l->line[i] = make(1, sizeof **l->line);
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
    PciPprof__Label *l = make(1, sizeof *l);
    pci_pprof__label__init(l);
    OPTIONAL(l, key, (int64_t)below(keys), 95);
    OPTIONAL(l, str, any_string(), 50);
    OPTIONAL(l, num, any_number(), 50);
    OPTIONAL(l, num_unit, (int64_t)below(string_count < 4 ? string_count : 4), 30);
    add_unknown(&l->base, 3);
    return l;
}

static PciPprof__Sample *any_sample(size_t types, size_t keys)
{
    PciPprof__Sample *s = make(1, sizeof *s);
    pci_pprof__sample__init(s);
    s->n_location_id = id_count[2] ? below(9) : 0;
    s->location_id = make(s->n_location_id, sizeof *s->location_id);
    for (size_t i = 0; i < s->n_location_id; i++)
        s->location_id[i] = any_id(2);
    s->n_value = types;
    s->value = make(types, sizeof *s->value);
    for (size_t i = 0; i < types; i++)
        s->value[i] = chance(50) ? 1 : any_number();
    s->n_label = chance(60) ? below(6) : 0;
    s->label = make(s->n_label, sizeof *s->label);
    for (size_t i = 0; i < s->n_label; i++)
        s->label[i] = any_label(keys);
    add_unknown(&s->base, 3);
    return s;
}

static void any_strings(Profile *p)
{
    p->n_string_table = string_count = 1 + below(40);
    p->string_table = make(string_count, sizeof *p->string_table);
    for (size_t i = 1; i < string_count; i++) {
        size_t size = below(6); /* short, so that some repeat, "" too; any byte */
        p->string_table[i].len = size;
        p->string_table[i].data = make(size, 1);
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
        p->period_type = any_type();
    p->n_comment = below(4);
    p->comment = make(p->n_comment, sizeof *p->comment);
    for (size_t i = 0; i < p->n_comment; i++)
        p->comment[i] = any_string();
    add_unknown(&p->base, 20);
}

#define MANY(field, count, call)                              \
    do {                                                      \
        p->n_##field = (count);                               \
        p->field = make(p->n_##field, sizeof *p->field);      \
        for (size_t index = 0; index < p->n_##field; index++) \
            p->field[index] = (call);                         \
    } while (0)

static Profile *any_profile(uint64_t seed)
{
    Profile *p = make(1, sizeof *p);
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    pci_pprof__profile__init(p);
    any_strings(p);
    any_header(p);
    for (int i = 0; i < 3; i++)
        make_ids(i, below(12));
    MANY(sample_type, below(4), any_type());
    MANY(mapping, id_count[0], any_mapping(ids[0][index], chance(20)));
    MANY(function, id_count[1], any_function(ids[1][index], chance(20)));
    MANY(location, id_count[2], any_location(ids[2][index], chance(20)));
    size_t keys = string_count < 5 ? string_count : 5;
    MANY(sample, p->n_sample_type ? below(40) : 0, any_sample(p->n_sample_type, keys));
    return p;
}

/* The packed profile with its top-level fields in another order, those of one number, and those that
 * are not known, as they were:
 * tables may come before or after their use. */
static void reorder(struct bytes *b)
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
                add(&out, b->data + starts[i], starts[i + 1] - starts[i]);
                numbers[i] = UINT32_MAX;
                left--;
                break;
            }
        cr_assert_lt(done++, 10000000);
    }
    free(b->data);
    *b = out;
}

static struct bytes pack_message(const Profile *p)
{
    struct bytes b = {0};
    size_t size = pci_pprof__profile__get_packed_size(p);
    uint8_t *data = make(size, 1);
    pci_pprof__profile__pack(p, data);
    add(&b, data, size);
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

static void same_profile(const Profile *a, const Profile *b, unsigned seed)
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

/* ---- there and back ---- */

static pcol_status import_all(const struct bytes *inputs, size_t count, pcol_builder **builder,
                              pcol_error *err)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = "pprof";
    pcol_status status = pcol_builder_new(NULL, builder, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++)
        status = pcol_import_memory(*builder, inputs[i].data, inputs[i].size, "in", &options, err);
    return status;
}

static pcol_status export_one(const void *data, size_t size, uint64_t source, struct bytes *out,
                              pcol_error *err)
{
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    pcol_file *file;
    options.source_id = source;
    options.compress = PCOL_COMPRESS_NONE;
    pcol_status status = pcol_file_open_memory(data, size, NULL, &file, err);
    if (status == PCOL_OK)
        status = pcol_export(file, "pprof", &options, (pcol_sink){gather, out}, err);
    pcol_file_close(file);
    return status;
}

static void check_sound(const void *data, size_t size, unsigned seed)
{
    pcol_file *file;
    uint64_t faults;
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, &faults, NULL), PCOL_OK);
    cr_assert_eq(faults, 0, "seed %u: %d faults", seed, (int)faults);
    pcol_file_close(file);
}

static void come_back(Profile *const *profiles, size_t count, unsigned seed)
{
    struct bytes inputs[3];
    pcol_builder *builder;
    pcol_error err = {0};
    void *data;
    size_t size;
    for (size_t i = 0; i < count; i++) {
        inputs[i] = pack_message(profiles[i]);
        reorder(&inputs[i]);
    }
    cr_assert_eq(import_all(inputs, count, &builder, &err), PCOL_OK, "seed %u: %s", seed,
                 err.message);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, &data, &size, &err), PCOL_OK, "seed %u: %s",
                 seed, err.message);
    pcol_builder_free(builder);
    check_sound(data, size, seed);
    for (size_t i = 0; i < count; i++) {
        struct bytes out = {0};
        cr_assert_eq(export_one(data, size, count > 1 ? i + 1 : 0, &out, &err), PCOL_OK,
                     "seed %u: %s", seed, err.message);
        Profile *back = pci_pprof__profile__unpack(NULL, out.size, out.data);
        cr_assert_not_null(back, "seed %u: protobuf-c cannot read what we wrote", seed);
        same_profile(profiles[i], back, seed);
        pci_pprof__profile__free_unpacked(back, NULL);
        free(out.data);
        free(inputs[i].data);
    }
    pcol_free(data);
}

Test(pprof, random_profiles_come_back)
{
    for (unsigned seed = 1; seed <= 300; seed++) {
        Profile *p = any_profile(seed);
        come_back(&p, 1, seed);
        free_all();
    }
}

Test(pprof, each_of_several_sources_comes_back)
{
    for (unsigned seed = 1; seed <= 60; seed++) {
        Profile *p[3];
        for (unsigned i = 0; i < 3; i++)
            p[i] = any_profile(seed % 4 ? seed * 1000 + i : seed); /* at times three equal ones */
        come_back(p, 3, seed);
        free_all();
    }
}

/* More label keys than there are columns; the rest is kept in the tree beside. */
Test(pprof, a_thousand_label_keys)
{
    Profile *p = make(1, sizeof *p);
    char text[16];
    pci_pprof__profile__init(p);
    random_state = 99;
    p->n_string_table = string_count = 1001;
    p->string_table = make(string_count, sizeof *p->string_table);
    for (size_t i = 1; i < string_count; i++) {
        p->string_table[i].len = (size_t)snprintf(text, sizeof text, "k%zu", i);
        p->string_table[i].data = make(16, 1);
        memcpy(p->string_table[i].data, text, 16);
    }
    for (int i = 0; i < 3; i++)
        id_count[i] = 0;
    MANY(sample_type, 1, any_type());
    MANY(sample, 600, any_sample(1, 1001));
    come_back(&p, 1, 0);
    free_all();
}

/* The window may end anywhere. */
Test(pprof, fields_over_the_end_of_the_window)
{
    Profile *p = any_profile(7);
    struct bytes packed = pack_message(p);
    void *whole;
    size_t whole_size;
    pcol_builder *builder;
    cr_assert_eq(import_all(&packed, 1, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, &whole, &whole_size, NULL), PCOL_OK);
    pcol_builder_free(builder);
    for (size_t piece = 1; piece < 40; piece += 3) {
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        struct pci_input_options how = {.piece = piece};
        struct pci_input input;
        void *data;
        size_t size;
        int ends[2];
        cr_assert_eq(pipe(ends), 0);
        cr_assert_eq(write(ends[1], packed.data, packed.size), (ssize_t)packed.size);
        close(ends[1]);
        cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
        cr_assert_eq(pci_input_open_fd(&input, ends[0], "in", &how, NULL), PCOL_OK);
        struct pci_import import = {builder, &input, &options, "pprof", PCOL_NONE};
        cr_assert_eq(pci_pprof_read(&import, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_write_memory(builder, 0, &data, &size, NULL), PCOL_OK);
        cr_assert(size == whole_size && !memcmp(data, whole, size), "piece %zu", piece);
        pci_input_close(&input);
        close(ends[0]);
        pcol_builder_free(builder);
        pcol_free(data);
    }
    pcol_free(whole);
    free(packed.data);
    free_all();
}

/* ---- what is refused ---- */

/* A sound profile in parts, so that a test can put something between them: sample type, sample with
 * location 1, location 1 with function 1, function 1, strings "" and "x". */
enum { P_TYPE, P_SAMPLE, P_MAPPING, P_LOCATION, P_FUNCTION, P_STRINGS, P_COUNT };
static const char *const parts[P_COUNT] = {
    "\x0a\x02\x08\x01",         "\x12\x06\x0a\x01\x01\x12\x01\x05",
    "\x1a\x02\x08\x01",         "\x22\x06\x08\x01\x22\x02\x08\x01",
    "\x2a\x04\x08\x01\x10\x01", "\x32\0\x32\x01x"};
static const size_t part_sizes[P_COUNT] = {4, 8, 4, 8, 6, 5};

struct fault {
    int part; /* replaced; P_COUNT: put behind */
    const char *bytes;
    size_t size;
    uint64_t at;
    const char *message;
};

#define BYTES(text) text, sizeof text - 1

static const struct fault faults[] = {
    {P_TYPE, BYTES(""), 2, "Sample without sample types"},
    {P_TYPE, BYTES("\x0a\x02\x08\x01\x0a\x02\x08\x01"), 10, "Sample has 1 values where"},
    {P_TYPE, BYTES("\x0a\x02\x08\x02"), 2, "ValueType.type: there is no string 2, the table has 2"},
    {P_TYPE, BYTES("\x0a\x02\x10\x7f"), 2, "ValueType.unit: there is no string 127"},
    {P_TYPE, BYTES("\x0a\x03\x0a\x01\x01"), 2, "ValueType.type has wire type 2"},
    {P_TYPE, BYTES("\x08\x01"), 0, "Profile.sample_type has wire type 0"},
    {P_SAMPLE, BYTES("\x12\x06\x0a\x01\x02\x12\x01\x05"), 8, "Sample.location_id 2 names no"},
    {P_SAMPLE, BYTES("\x12\x07\x0a\x02\x01\x00\x12\x01\x05"), 9, "Sample.location_id 0 names no"},
    {P_SAMPLE, BYTES("\x12\x06\x08\x01\x08\x63\x10\x05"), 8, "Sample.location_id 99 names no"},
    {P_SAMPLE, BYTES("\x12\x03\x0a\x01\x01"), 6, "Sample has 0 values where"},
    {P_SAMPLE, BYTES("\x12\x07\x0a\x01\x01\x12\x02\x05\x05"), 6, "Sample has 2 values where"},
    {P_SAMPLE, BYTES("\x12\x06\x0a\x01\x81\x12\x01\x05"), 8, "Sample.location_id: bad varint"},
    {P_SAMPLE, BYTES("\x12\x06\x0a\x01\x01\x12\x01\x85"), 11, "Sample.value: bad varint"},
    {P_SAMPLE, BYTES("\x12\x06\x0a\x01\x01\x12\x09\x05"), 9, "Sample.value claims 9 bytes where 1"},
    {P_SAMPLE, BYTES("\x12\x05\x0d\x01\x01\x01\x01"), 6, "Sample.location_id has wire type 5"},
    {P_SAMPLE, BYTES("\x12\x08\x0a\x01\x01\x12\x01\x05\x18\x01"), 12,
     "Sample.label has wire type 0"},
    {P_SAMPLE, BYTES("\x12\x0a\x0a\x01\x01\x12\x01\x05\x1a\x02\x08\x02"), 14,
     "Label.key: there is no string 2"},
    {P_SAMPLE, BYTES("\x12\x0a\x0a\x01\x01\x12\x01\x05\x1a\x02\x10\x02"), 14,
     "Label.str: there is no string 2"},
    {P_SAMPLE, BYTES("\x12\x0a\x0a\x01\x01\x12\x01\x05\x1a\x02\x20\x02"), 14,
     "Label.num_unit: there is no string 2"},
    {P_SAMPLE, BYTES("\x12\x0a\x0a\x01\x01\x12\x01\x05\x1a\x02\x18\x82"), 14, "Label: bad varint"},
    {P_MAPPING, BYTES("\x1a\x02\x10\x01"), 14, "Mapping.id is 0"},
    {P_MAPPING, BYTES("\x1a\x02\x08\x01\x1a\x02\x08\x01"), 18, "Mapping.id 1 is there twice"},
    {P_MAPPING, BYTES("\x1a\x04\x08\x01\x28\x07"), 16, "Mapping.filename: there is no string 7"},
    {P_MAPPING, BYTES("\x1a\x04\x08\x01\x30\x07"), 16, "Mapping.build_id: there is no string 7"},
    {P_LOCATION, BYTES("\x22\x06\x08\x01\x22\x02\x08\x02"), 22,
     "Line.function_id 2 of location 1 names no function"},
    {P_LOCATION, BYTES("\x22\x06\x08\x01\x22\x02\x10\x02"), 22,
     "Line.function_id 0 of location 1 names no function"},
    {P_LOCATION, BYTES("\x22\x02\x18\x01"), 18, "Location.id is 0"},
    {P_LOCATION, BYTES("\x22\x02\x08\x01\x22\x02\x08\x01"), 22, "Location.id 1 is there twice"},
    {P_LOCATION, BYTES("\x22\x04\x08\x01\x20\x01"), 20, "Location.line has wire type 0"},
    {P_FUNCTION, BYTES("\x2a\x02\x10\x01"), 26, "Function.id is 0"},
    {P_FUNCTION, BYTES("\x2a\x02\x08\x01\x2a\x02\x08\x01"), 30, "Function.id 1 is there twice"},
    {P_FUNCTION, BYTES("\x2a\x04\x08\x01\x10\x02"), 28, "Function.name: there is no string 2"},
    {P_FUNCTION, BYTES("\x2a\x04\x08\x01\x18\x02"), 28, "Function.system_name: there is no"},
    {P_FUNCTION, BYTES("\x2a\x04\x08\x01\x20\x02"), 28, "Function.filename: there is no string 2"},
    {P_STRINGS, BYTES(""), 30, "Profile.string_table is missing"},
    {P_STRINGS, BYTES("\x32\x01x\x32\x01x"), 30, "Profile.string_table: the first string is not"},
    {P_STRINGS, BYTES("\x32\0\x32\x02x"), 32, "Profile.string_table claims 2 bytes where 1 are"},
    {P_COUNT, BYTES("\x38\x02"), 35, "Profile.drop_frames: there is no string 2"},
    {P_COUNT, BYTES("\x40\x02"), 35, "Profile.keep_frames: there is no string 2"},
    {P_COUNT, BYTES("\x70\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 35,
     "Profile.default_sample_type: there is no string -1"},
    {P_COUNT, BYTES("\x78\x02"), 35, "Profile.doc_url: there is no string 2"},
    {P_COUNT, BYTES("\x68\x02"), 35, "Profile.comment: there is no string 2"},
    {P_COUNT, BYTES("\x6a\x01\x02"), 35, "Profile.comment: there is no string 2"},
    {P_COUNT, BYTES("\x6a\x01\x82"), 37, "Profile.comment: bad varint"},
    {P_COUNT, BYTES("\x5a\x02\x08\x02"), 37, "ValueType.type: there is no string 2"},
    {P_COUNT, BYTES("\x48\x01\x48\x00"), 37, "Profile.time_nanos is there twice"},
    {P_COUNT, BYTES("\x4a\x01\x01"), 35, "Profile.time_nanos has wire type 2"},
    {P_COUNT, BYTES("\xa3\x06"), 35, "Profile: field 100 has wire type 3, which does not exist"},
    {P_COUNT, BYTES("\xa1\x06\x01"), 35, "Profile: field is cut"},
    {P_COUNT, BYTES("\xa5\x06\x01\x01\x01"), 35, "Profile: field is cut"},
    {P_COUNT, BYTES("\xa2"), 35, "Profile: bad varint"},
    {P_COUNT, BYTES("\x50\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), 35, "Profile: bad varint"},
};

static struct bytes with_fault(const struct fault *f)
{
    struct bytes b = {0};
    for (int i = 0; i < P_COUNT; i++)
        add(&b, f && f->part == i ? f->bytes : parts[i],
            f && f->part == i ? f->size : part_sizes[i]);
    if (f && f->part == P_COUNT)
        add(&b, f->bytes, f->size);
    return b;
}

Test(pprof, refusals_name_message_field_and_byte)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct bytes b = with_fault(&faults[i]);
        pcol_builder *builder;
        pcol_error err = {0};
        cr_assert_eq(import_all(&b, 1, &builder, &err), PCOL_E_SYNTAX, "%zu: %s", i,
                     faults[i].message);
        cr_assert_not_null(strstr(err.message, faults[i].message), "%zu: %s, not %s", i,
                           err.message, faults[i].message);
        cr_assert_eq(err.offset, faults[i].at, "%zu: %s at %d, not %d", i, err.message,
                     (int)err.offset, (int)faults[i].at);
        pcol_builder_free(builder);
        free(b.data);
    }
}

/* A list longer than any profile has is refused, unless the caller has set a limit and so knows. */
Test(pprof, lists_that_exhaust_memory)
{
    static const struct {
        unsigned field;
        const char *entry, *message;
    } lists[] = {{1, "\x01", "more than 1048576 frames"}, {3, "", "more than 1048576 of them"}};
    for (size_t i = 0; i < 2; i++) {
        struct bytes b = with_fault(NULL), sample = {0}, list = {0}, none = {0};
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        for (int n = 0; n < 1100000; n++)
            if (lists[i].field == 1)
                add(&list, lists[i].entry, 1);
            else
                add_field(&sample, lists[i].field, &none);
        if (list.size)
            add_field(&sample, lists[i].field, &list);
        add_number(&sample, 2, 5);
        add_field(&b, 2, &sample);
        for (int limited = 1; limited >= 0; limited--) {
            pcol_builder *builder;
            pcol_error err = {0};
            options.max_input_bytes = limited ? 0 : UINT64_C(1) << 30;
            cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
            pcol_status status =
                pcol_import_memory(builder, b.data, b.size, "x.pb", &options, &err);
            cr_assert_eq(status, limited ? PCOL_E_LIMIT : PCOL_OK, "%s", err.message);
            if (limited)
                cr_assert_not_null(strstr(err.message, lists[i].message), "%s", err.message);
            pcol_builder_free(builder);
        }
        free(b.data);
        free(sample.data);
        free(list.data);
    }
}

/* Every front part of a sound profile is refused or is a profile; nothing is read beyond it. */
Test(pprof, cut_anywhere)
{
    struct bytes b = with_fault(NULL);
    for (size_t size = 0; size <= b.size; size++) {
        struct bytes part = {0};
        pcol_builder *builder;
        part.data = malloc(size ? size : 1);
        memcpy(part.data, b.data, size);
        part.size = size;
        pcol_status status = import_all(&part, 1, &builder, NULL);
        cr_assert(status == PCOL_OK ? size >= 32 : status == PCOL_E_SYNTAX, "%zu bytes", size);
        pcol_builder_free(builder);
        free(part.data);
    }
    free(b.data);
}

/* Any byte changed: no crash, and no error but a fault of the input. */
Test(pprof, any_byte_changed)
{
    Profile *p = any_profile(11);
    struct bytes b = pack_message(p);
    for (size_t i = 0; i < b.size; i++)
        for (unsigned bit = 0; bit < 8; bit += 1 + (unsigned)(i & 3)) {
            pcol_builder *builder;
            b.data[i] ^= (uint8_t)(1u << bit);
            pcol_status status = import_all(&b, 1, &builder, NULL);
            cr_assert(status == PCOL_OK || status == PCOL_E_SYNTAX || status == PCOL_E_LIMIT,
                      "byte %zu bit %u", i, bit);
            pcol_builder_free(builder);
            b.data[i] ^= (uint8_t)(1u << bit);
        }
    free(b.data);
    free_all();
}

/* ---- memory that is out ---- */

static long allocations_left;

static int out_of_memory(void)
{
    return allocations_left-- <= 0;
}

Test(pprof, out_of_memory_anywhere)
{
    Profile *p = any_profile(5);
    struct bytes b = pack_message(p), out = {0};
    void *data;
    size_t size;
    pcol_builder *builder;
    pcol_status status = PCOL_E_NO_MEMORY;
    cr_assert_eq(import_all(&b, 1, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, &data, &size, NULL), PCOL_OK);
    pcol_builder_free(builder);
    for (long n = 0; status == PCOL_E_NO_MEMORY; n++) {
        builder = NULL;
        allocations_left = n;
        pci_alloc_hook = out_of_memory;
        status = import_all(&b, 1, &builder, NULL);
        pci_alloc_hook = NULL;
        pcol_builder_free(builder);
    }
    cr_assert_eq(status, PCOL_OK);
    status = PCOL_E_NO_MEMORY;
    for (long n = 0; status == PCOL_E_NO_MEMORY; n++) {
        out.size = 0;
        allocations_left = n;
        pci_alloc_hook = out_of_memory;
        status = export_one(data, size, 0, &out, NULL);
        pci_alloc_hook = NULL;
    }
    cr_assert_eq(status, PCOL_OK);
    pcol_free(data);
    free(out.data);
    free(b.data);
    free_all();
}

/* ---- samples added up ---- */

/* Two sources that share code: what is equal in all but ids is one, and samples add up. */
Test(pprof, several_sources_become_one_profile)
{
    struct bytes b[2] = {with_fault(NULL), with_fault(NULL)}, out = {0};
    pcol_builder *builder;
    void *data;
    size_t size;
    cr_assert_eq(import_all(b, 2, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, &data, &size, NULL), PCOL_OK);
    pcol_builder_free(builder);
    cr_assert_eq(export_one(data, size, 0, &out, NULL), PCOL_OK);
    Profile *p = pci_pprof__profile__unpack(NULL, out.size, out.data);
    cr_assert_not_null(p);
    cr_assert_eq(p->n_sample, 1);
    cr_assert_eq(p->sample[0]->value[0], 10);
    cr_assert_eq(p->n_location, 1);
    cr_assert_eq(p->n_function, 1);
    cr_assert_eq(p->n_mapping, 0); /* nothing refers to it */
    cr_assert_eq(p->n_comment, 2);
    pci_pprof__profile__free_unpacked(p, NULL);
    pcol_free(data);
    free(out.data);
    free(b[0].data);
    free(b[1].data);
}

/* Recognised by content where the name says nothing. */
Test(pprof, recognised)
{
    struct bytes b = with_fault(NULL), unknown = {0}, inner = {0};
    cr_assert_eq(pci_pprof_sniff(b.data, b.size, 1), 2);
    cr_assert_eq(pci_pprof_sniff(b.data, b.size - 7, 0), 2);
    add_number(&inner, 1, 1);
    add_number(&inner, 77, 5);
    add_field(&unknown, 1, &inner);
    add_field(&unknown, 88, &inner);
    add(&unknown, b.data, b.size);
    cr_assert_eq(pci_pprof_sniff(unknown.data, unknown.size, 1), 2);
    static const char *const texts[] = {"{\"meta\": {}}",           "main;f 12\n",
                                        "heap profile: 1: 2",       "sample.interval=20000\n",
                                        "\n\n\n\n\n\n\n\n\n\n\n\n", "--- threads"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert_eq(pci_pprof_sniff((const uint8_t *)texts[i], strlen(texts[i]), 1), 0, "%s",
                     texts[i]);
    free(b.data);
    free(unknown.data);
    free(inner.data);
}
