/*
 * sample.c - converts a resource to a sample: value, stack and time
 *
 * The value is the amount. Amounts of one type are additive, with exceptions that get a sample type
 * of their own, `type(subtype)`: freed memory is not part of allocated memory, and the real time of
 * a process includes its user and system time. If any amount of a profile is a double, all values
 * are; an integer amount is then stored as a label as well, so that it is restored as an integer.
 */
#include "formats/perun/build.h"

#include "util/alloc.h"
#include "util/strbuf.h"
#include "json/number.h"

#include <math.h>
#include <stdlib.h>

/* ---- tables */

static pcol_status add_column(struct pci_perun *p, uint32_t table, const char *name, pcol_type type,
                              uint32_t references, uint32_t *column, pcol_error *err)
{
    return pci_builder_column(p->builder, table, name, type, references, column, err);
}

static pcol_status open_types(struct pci_perun *p, struct pci_perun_out *o, pcol_error *err)
{
    uint32_t nodes;
    PCI_TRY(pcol_builder_table(p->builder, "resource_types", &o->types, err));
    PCI_TRY(add_column(p, o->types, "source", PCOL_U32, PCI_T_SOURCES + 1, &o->type_source, err));
    PCI_TRY(add_column(p, o->types, "name", PCOL_STRING, 0, &o->type_name, err));
    PCI_TRY(add_column(p, o->types, "number", PCOL_U32, 0, &o->type_number, err));
    PCI_TRY(add_column(p, o->types, "map_ordinal", PCOL_U32, 0, &o->type_map, err));
    PCI_TRY(add_column(p, o->types, "resources_ordinal", PCOL_U32, 0, &o->type_resources, err));
    PCI_TRY(pcol_builder_table(p->builder, "nodes", &nodes, err));
    PCI_TRY(pcol_builder_table(p->builder, "resource_arrays", &o->arrays, err));
    PCI_TRY(add_column(p, o->arrays, "resource_type", PCOL_U32, o->types + 1, &o->array_type, err));
    PCI_TRY(add_column(p, o->arrays, "key", PCOL_STRING, 0, &o->array_key, err));
    PCI_TRY(add_column(p, o->arrays, "length", PCOL_U64, 0, &o->array_length, err));
    PCI_TRY(add_column(p, o->arrays, "rest", PCOL_U64, nodes + 1, &o->array_rest, err));
    return add_column(p, PCI_T_SAMPLES, "resource_type", PCOL_U32, o->types + 1, &o->sample_type,
                      err);
}

pcol_status pci_perun_out_open(struct pci_perun *p, struct pci_perun_out *o, pcol_error *err)
{
    o->default_type = o->uid = o->last_type = PCOL_NONE;
    PCI_TRY(pcol_builder_table(p->builder, "snapshots", &o->snapshots, err));
    PCI_TRY(add_column(p, o->snapshots, "source", PCOL_U32, PCI_T_SOURCES + 1, &o->snapshot_source,
                       err));
    PCI_TRY(add_column(p, o->snapshots, "region", PCOL_STRING, 0, &o->snapshot_region, err));
    PCI_TRY(pcol_builder_table(p->builder, "models", &o->models, err));
    PCI_TRY(add_column(p, o->models, "source", PCOL_U32, PCI_T_SOURCES + 1, &o->model_source, err));
    PCI_TRY(
        add_column(p, o->models, "snapshot", PCOL_U32, o->snapshots + 1, &o->model_snapshot, err));
    PCI_TRY(add_column(p, PCI_T_SAMPLES, "snapshot", PCOL_U32, o->snapshots + 1,
                       &o->sample_snapshot, err));
    PCI_TRY(open_types(p, o, err));
    struct pci_column_buffer **columns = p->builder->columns;
    o->first_type = columns[o->type_source]->rows;
    o->first_snapshot = columns[o->snapshot_source]->rows;
    o->first_model = columns[o->model_source]->rows;
    o->array_row = columns[o->array_type]->rows;
    if (o->first_snapshot + p->snapshots.count >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 snapshots");
    return PCOL_OK;
}

pcol_status pci_perun_out_finish(struct pci_perun *p, struct pci_perun_out *o, pcol_error *err)
{
    if (o->default_type == PCOL_NONE)
        return PCOL_OK;
    return pci_column_buffer_set(p->builder->columns[PCI_C_SOURCE_DEFAULT_TYPE], p->import->source,
                                 o->default_type, err);
}

void pci_perun_out_close(struct pci_perun_out *o)
{
    pci_free(o->times);
    pci_pair_set_clear(&o->classes);
    pci_free(o->class_types);
}

/* ---- sample types */

static int is_text(const struct pci_perun *p, uint32_t string, const char *text)
{
    if (string == PCOL_NONE)
        return 0;
    pcol_str s = pci_string_pool_get(&p->builder->strings, string);
    return pci_str_is(s, text);
}

/* A string of header.units; PCOL_NONE: it has no such key. */
static uint32_t find_unit(const struct pci_perun *p, pcol_str key)
{
    uint32_t code = pci_string_pool_find(&p->builder->strings, key);
    uint32_t index = code == PCOL_NONE ? PCI_HASH_NONE : pci_pair_set_find(&p->unit_keys, code, 0);
    return index == PCI_HASH_NONE ? PCOL_NONE : p->units[index];
}

/* Append a name; sample types end at the first zero byte. */
static pcol_status put_name(const struct pci_perun *p, struct pci_strbuf *to, uint32_t string,
                            pcol_error *err)
{
    pcol_str s = pci_string_pool_get(&p->builder->strings, string);
    return pci_strbuf_append(to, s.data, strnlen(s.data, s.size), err);
}

/* "TYPE(SUBTYPE)", with `between` as the opening parenthesis. */
static pcol_status put_both_names(const struct pci_perun *p, const struct pci_perun_class *c,
                                  const char *between, struct pci_strbuf *to, pcol_error *err)
{
    to->size = 0;
    PCI_TRY(put_name(p, to, c->type, err));
    PCI_TRY(pci_strbuf_append(to, between, strlen(between), err));
    PCI_TRY(put_name(p, to, c->subtype, err));
    return pci_strbuf_append(to, ")", 1, err);
}

static pcol_status find_unit_of_class(const struct pci_perun *p, const struct pci_perun_class *c,
                                      struct pci_strbuf *text, uint32_t *unit, pcol_error *err)
{
    const struct pci_string_pool *strings = &p->builder->strings;
    *unit = PCOL_NONE;
    if (c->subtype != PCOL_NONE)
        *unit = find_unit(p, pci_string_pool_get(strings, c->subtype));
    if (*unit == PCOL_NONE && c->type != PCOL_NONE)
        *unit = find_unit(p, pci_string_pool_get(strings, c->type));
    for (int blank = 0;
         blank < 2 && *unit == PCOL_NONE && c->type != PCOL_NONE && c->subtype != PCOL_NONE;
         blank++) {
        PCI_TRY(put_both_names(p, c, blank ? " (" : "(", text, err));
        *unit = find_unit(p, (pcol_str){text->data, text->size});
    }
    if (*unit == PCOL_NONE && c->type == PCOL_NONE && p->facts[PCI_PERUN_HEADER_TYPE] != PCOL_NONE)
        *unit = find_unit(p, pci_string_pool_get(strings, p->facts[PCI_PERUN_HEADER_TYPE]));
    return PCOL_OK;
}

static pcol_status name_class(struct pci_perun *p, const struct pci_perun_class *c,
                              struct pci_strbuf *name, struct pci_strbuf *unit, pcol_error *err)
{
    uint32_t found;
    int is_separate = is_text(p, c->subtype, "free") || is_text(p, c->subtype, "real") ||
                      is_text(p, c->subtype, "user") || is_text(p, c->subtype, "sys");
    uint32_t type = c->type != PCOL_NONE ? c->type : p->facts[PCI_PERUN_HEADER_TYPE];
    PCI_TRY(find_unit_of_class(p, c, name, &found, err));
    if (found != PCOL_NONE)
        PCI_TRY(put_name(p, unit, found, err));
    name->size = 0;
    if (type != PCOL_NONE)
        PCI_TRY(put_name(p, name, type, err));
    if (!name->size)
        PCI_TRY(pci_strbuf_append(name, "amount", 6, err));
    if (is_separate) {
        PCI_TRY(pci_strbuf_append(name, "(", 1, err));
        PCI_TRY(put_name(p, name, c->subtype, err));
        PCI_TRY(pci_strbuf_append(name, ")", 1, err));
    }
    PCI_TRY(pci_strbuf_append(name, "", 1, err));
    return pci_strbuf_append(unit, "", 1, err);
}

static int is_string(const struct pci_perun *p, uint32_t string, const struct pci_strbuf *text)
{
    pcol_str s = pci_string_pool_get(&p->builder->strings, string);
    return pci_str_is(s, text->data);
}

/* Find or add the sample type of this name and unit, which become those of the common one if there
 * are too many. */
static pcol_status find_type(struct pci_perun *p, struct pci_perun_out *o, struct pci_strbuf *name,
                             struct pci_strbuf *unit, uint32_t *type, pcol_error *err)
{
    unsigned flags = p->doubles ? PCOL_SAMPLE_TYPE_DOUBLE : 0;
    size_t i = 0;
    while (i < o->sample_type_count && !(is_string(p, o->sample_types[i].name, name) &&
                                         is_string(p, o->sample_types[i].unit, unit)))
        i++;
    if (i < o->sample_type_count) {
        *type = o->sample_types[i].type;
        return PCOL_OK;
    }
    if (i == PCI_PERUN_SAMPLE_TYPES) {
        name->size = unit->size = 0;
        PCI_TRY(pci_strbuf_append(name, "amount", sizeof "amount", err));
        PCI_TRY(pci_strbuf_append(unit, "", 1, err));
    }
    PCI_TRY(pcol_builder_sample_type(p->builder, name->data, unit->data, flags, 0, type, err));
    if (i == PCI_PERUN_SAMPLE_TYPES)
        return PCOL_OK;
    o->sample_types[i].type = *type;
    o->sample_type_count++;
    PCI_TRY(
        pcol_builder_string(p->builder, name->data, name->size - 1, &o->sample_types[i].name, err));
    return pcol_builder_string(p->builder, unit->data, unit->size - 1, &o->sample_types[i].unit,
                               err);
}

static pcol_status type_of_class(struct pci_perun *p, struct pci_perun_out *o,
                                 const struct pci_perun_class *c, uint32_t *type, pcol_error *err)
{
    struct pci_strbuf name = {0}, unit = {0};
    pcol_status status = name_class(p, c, &name, &unit, err);
    PCI_THEN(status, find_type(p, o, &name, &unit, type, err));
    if (status == PCOL_OK && o->default_type == PCOL_NONE && !is_text(p, c->subtype, "free"))
        status = pcol_builder_string(p->builder, name.data, name.size - 1, &o->default_type, err);
    pci_strbuf_clear(&name);
    pci_strbuf_clear(&unit);
    return status;
}

static pcol_status find_class(struct pci_perun *p, struct pci_perun_out *o,
                              const struct pci_perun_sample *s, uint32_t *sample_type,
                              pcol_error *err)
{
    struct pci_perun_class c = {PCOL_NONE, PCOL_NONE};
    uint32_t index;
    int known;
    if (s->has[PCI_PERUN_TYPE] && s->roles[PCI_PERUN_TYPE].kind == PCI_PERUN_STRING)
        c.type = (uint32_t)s->roles[PCI_PERUN_TYPE].value;
    if (s->has[PCI_PERUN_SUBTYPE] && s->roles[PCI_PERUN_SUBTYPE].kind == PCI_PERUN_STRING)
        c.subtype = (uint32_t)s->roles[PCI_PERUN_SUBTYPE].value;
    if (o->last_type == PCOL_NONE || c.type != o->last_class.type ||
        c.subtype != o->last_class.subtype) {
        PCI_TRY(pci_pair_set_index(&o->classes, c.type, c.subtype, &index, &known, err));
        PCI_TRY(PCI_GROW(o->class_types, o->class_capacity, o->classes.count, err));
        if (!known)
            PCI_TRY(type_of_class(p, o, &c, &o->class_types[index], err));
        o->last_class = c;
        o->last_type = o->class_types[index];
    }
    *sample_type = o->last_type;
    return PCOL_OK;
}

/* ---- stack, time, value */

struct pci_perun_ns pci_perun_parse_time(struct pci_perun *p, const struct pci_perun_cell *cell)
{
    char buffer[64], scratch[64];
    struct pci_perun_ns none = {0, 0};
    double seconds;
    if (cell->kind == PCI_PERUN_DOUBLE) {
        memcpy(&seconds, &cell->value, sizeof seconds);
    } else if (cell->kind == PCI_PERUN_INTEGER) {
        seconds = (double)cell->value;
    } else if (cell->kind == PCI_PERUN_STRING) {
        pcol_str text = pci_string_pool_get(&p->builder->strings, (uint32_t)cell->value);
        size_t digits = 0, points = 0;
        if (!text.size || text.size >= sizeof buffer)
            return none;
        for (size_t i = 0; i < text.size; i++) {
            digits += text.data[i] >= '0' && text.data[i] <= '9';
            points += text.data[i] == '.';
        }
        size_t sign = text.data[0] == '-';
        if (!digits || points > 1 || digits + points + sign != text.size)
            return none;
        memcpy(buffer, text.data, text.size);
        seconds = pci_number_parse(buffer, text.size, scratch);
    } else {
        return none;
    }
    if (!(fabs(seconds) < 4e9)) /* as ns it must fit 64 bits */
        return none;
    return (struct pci_perun_ns){(int64_t)llround(seconds * 1e9), 1};
}

/* Find the frame that is named by a number. */
static pcol_status find_number_group(struct pci_perun *p, const struct pci_perun_cell *uid,
                                     uint32_t *group, pcol_error *err)
{
    struct pci_strbuf text = {0};
    uint32_t name;
    pcol_status status = pci_perun_flat_scalar(p, uid, &text, err);
    PCI_THEN(status, pcol_builder_string(p->builder, text.data, text.size, &name, err));
    pci_strbuf_clear(&text);
    return status == PCOL_OK ? pci_perun_find_name_group(p, name, group, err) : status;
}

static pcol_status find_uid_group(struct pci_perun *p, struct pci_perun_out *o,
                                  const struct pci_perun_sample *s, uint32_t *group,
                                  pcol_error *err)
{
    const struct pci_perun_cell *uid = &s->roles[PCI_PERUN_UID];
    *group = PCOL_NONE;
    if (!s->has[PCI_PERUN_UID])
        return PCOL_OK;
    switch ((enum pci_perun_kind)uid->kind) {
    case PCI_PERUN_FRAME:
        *group = p->frames.frames[uid->value].group;
        return PCOL_OK;
    case PCI_PERUN_TEXT:
        return pci_perun_find_uid_group(p, uid->value, group, err);
    case PCI_PERUN_INTEGER:
    case PCI_PERUN_DOUBLE:
    case PCI_PERUN_BIG:
    case PCI_PERUN_BOOL:
        return find_number_group(p, uid, group, err);
    case PCI_PERUN_STRING:
        break;
    case PCI_PERUN_NULL:
    case PCI_PERUN_VALUE:
    case PCI_PERUN_SAMPLE_STACK:
    case PCI_PERUN_SAMPLE_FRAME:
    case PCI_PERUN_SAMPLE_NAME:
    case PCI_PERUN_TRACE:
    case PCI_PERUN_TABLE:
        return PCOL_OK;
    }
    if (!pci_string_pool_get(&p->builder->strings, (uint32_t)uid->value).size)
        return PCOL_OK;
    if (o->uid != (uint32_t)uid->value) {
        PCI_TRY(pci_perun_find_name_group(p, (uint32_t)uid->value, &o->uid_group, err));
        o->uid = (uint32_t)uid->value;
    }
    *group = o->uid_group;
    return PCOL_OK;
}

/* Depth of a frame in a trace, counted from the innermost. */
static uint32_t find_depth(const struct pci_perun *p, const struct pci_perun_frame *trace,
                           int64_t frame)
{
    const uint32_t *members = p->frames.members + trace->first;
    for (uint32_t i = 0; i < trace->count && i < 64; i++)
        if (members[i] == frame)
            return i;
    return PCOL_NONE;
}

static pcol_status find_stack(struct pci_perun *p, struct pci_perun_out *o,
                              struct pci_perun_sample *s, uint32_t *stack, pcol_error *err)
{
    const struct pci_perun_cell *trace = &s->roles[PCI_PERUN_TRACE_ROLE];
    const struct pci_perun_cell *uid = &s->roles[PCI_PERUN_UID];
    int is_frame = s->has[PCI_PERUN_UID] && uid->kind == PCI_PERUN_FRAME;
    uint32_t group = PCOL_NONE, node = 0;
    s->stack_is_trace = s->has[PCI_PERUN_TRACE_ROLE] && trace->kind == PCI_PERUN_TRACE;
    if (s->stack_is_trace)
        PCI_TRY(pci_perun_find_stack(p, (uint32_t)trace->value, p->outer_first, &node, err));
    s->uid_depth = PCOL_NONE;
    if (is_frame && node && !p->outer_first)
        s->uid_depth = find_depth(p, &p->frames.traces[trace->value], uid->value);
    *stack = node || s->stack_is_trace ? node : PCOL_NONE;
    if (node && !p->outer_first) {
        const struct pci_perun_cell *subtype = &s->roles[PCI_PERUN_SUBTYPE];
        const struct pci_perun_frame *t = &p->frames.traces[trace->value];
        s->name_is_subtype = s->has[PCI_PERUN_SUBTYPE] && subtype->kind == PCI_PERUN_STRING &&
                             p->frames.frames[p->frames.members[t->first]].name == subtype->value;
        return PCOL_OK;
    }
    PCI_TRY(find_uid_group(p, o, s, &group, err));
    if (group == PCOL_NONE)
        return PCOL_OK;
    s->stack_is_trace = 0;
    s->uid_depth = is_frame ? 0 : PCOL_NONE;
    return pcol_builder_stack(p->builder, node, group, stack, err);
}

/* Find stack, time and sample type, which rows of a type can share. */
static pcol_status find_common(struct pci_perun *p, struct pci_perun_out *o,
                               struct pci_perun_sample *s, pcol_error *err)
{
    PCI_TRY(find_stack(p, o, s, &s->stack, err));
    if (s->has[PCI_PERUN_TIME])
        s->time = pci_perun_parse_time(p, &s->roles[PCI_PERUN_TIME]);
    s->sample_type = PCOL_NONE;
    s->common_known = 1;
    return PCOL_OK;
}

/* Whether its double has the value of an integer. */
static int is_exact(int64_t integer)
{
    return integer >= -(INT64_C(1) << 53) && integer <= INT64_C(1) << 53;
}

pcol_status pci_perun_add_sample(struct pci_perun *p, struct pci_perun_out *o,
                                 struct pci_perun_sample *s, uint64_t *row, pcol_error *err)
{
    const struct pci_perun_cell *amount = &s->roles[PCI_PERUN_AMOUNT];
    pcol_value value;
    pcol_sample sample = {
        .size = sizeof sample, .source = p->import->source, .values = &value, .thread = PCOL_NONE};
    if (!s->common_known)
        PCI_TRY(find_common(p, o, s, err));
    sample.stack = s->stack;
    pci_set_flag(&sample.flags, PCOL_SAMPLE_HAS_TIME, s->time.known);
    sample.time_ns = s->time.ns;
    s->value_is_amount = PCI_PERUN_IS_NOT;
    p->big_amounts += s->has[PCI_PERUN_AMOUNT] && amount->kind == PCI_PERUN_BIG;
    if (s->has[PCI_PERUN_AMOUNT] &&
        (amount->kind == PCI_PERUN_INTEGER || amount->kind == PCI_PERUN_DOUBLE)) {
        /* only if there is an amount: a type without amounts gets no sample type */
        if (s->sample_type == PCOL_NONE)
            PCI_TRY(find_class(p, o, s, &s->sample_type, err));
        value.sample_type = s->sample_type;
        if (amount->kind == PCI_PERUN_INTEGER && p->doubles)
            value.as.f64 = (double)amount->value;
        else
            memcpy(&value.as.i64, &amount->value, sizeof value.as.i64);
        s->value_is_amount = amount->kind == PCI_PERUN_DOUBLE || !p->doubles ? PCI_PERUN_AS_IT_IS
                             : is_exact(amount->value)                       ? PCI_PERUN_AS_INTEGER
                                                                             : PCI_PERUN_IS_NOT;
        sample.value_count = 1;
    }
    return pcol_builder_sample(p->builder, &sample, row, err);
}
