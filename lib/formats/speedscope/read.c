/*
 * read.c - import of speedscope's JSON, sampled and evented profiles
 *
 * Members come in any order, and `shared` often follows `profiles`: stacks are kept as a call tree
 * of frame numbers, samples as numbers in spill buffers, until the document ends. Each profile
 * becomes a thread. A sampled profile yields a row for each sample, an evented one a row for each
 * interval with open frames. The document is stored with them (formats/document.h), with a compact
 * form of events; stacks and weights follow from the rows.
 *
 * Like speedscope's own importer this rejects events that go back in time, that close another frame
 * than the innermost, and frames that stay open. Tests:
 * tests/roundtrip/json_formats.
 */
#include "formats/speedscope/speedscope.h"

#include "builder/builder.h"
#include "formats/speedscope/units.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>

#define BATCH 256u
#define EXACT INT64_C(9007199254740992) /* 2^53: integers up to it are exact as doubles */

enum { TYPE_UNKNOWN, TYPE_SAMPLED, TYPE_EVENTED };

struct profile {
    uint64_t first, count; /* of the reader's samples */
    uint32_t name;         /* string or PCOL_NONE */
    int unit;              /* index of pci_speedscope_units */
    int evented;
    int64_t start;
    int start_is_double;
    uint64_t line, column; /* of its first token */
};

/* An open frame of an evented profile. */
struct open_frame {
    uint32_t frame, node;
};

struct reader {
    struct pci_import *import;
    pcol_builder *builder;
    struct pci_json json;
    struct pci_document document;
    struct pci_call_tree tree; /* groups are numbers of frames */
    struct pci_spill stacks;   /* by sample: node of the tree, u32 */
    struct pci_spill_view stack_view;
    struct pci_number_array values; /* by sample */
    struct pci_number_array starts; /* by sample of an evented profile */
    struct profile *profiles;
    size_t profile_count, profile_capacity;
    uint32_t *groups; /* by frame */
    size_t frame_count, group_capacity;
    int has_frames;
    uint32_t last_frame; /* the greatest that a stack names, and its place */
    int has_last;
    uint64_t last_line, last_column;
    struct open_frame *path; /* of the previous sample, or open frames */
    size_t depth, path_capacity;
    uint32_t *list; /* frames of the sample */
    size_t list_capacity;
    uint32_t column; /* functions.column */
};

/* The profile that is being read. */
struct current {
    struct profile profile;
    uint64_t node; /* of the document */
    unsigned seen; /* bits of enum member */
    int type;
    struct pci_number_array weights; /* sampled */
    struct pci_number_array at;      /* evented */
    struct pci_number_array frames;  /* evented: 2 * frame + (1 if closed) */
    uint64_t others;                 /* node of other members of events, or PCI_NO_NODE */
    uint64_t events;                 /* node of the compact form of events */
    int64_t earliest, latest;        /* `at` of the first and the last event */
    int earliest_is_double, latest_is_double;
};

enum member { M_TYPE, M_NAME, M_UNIT, M_START, M_SAMPLES, M_WEIGHTS, M_EVENTS, M_OTHER };

static const char *const members[] = {"type",    "name",    "unit",  "startValue",
                                      "samples", "weights", "events"};

/* ---- stacks ---- */

static pcol_status check_frame(struct reader *r, int64_t frame, pcol_error *err)
{
    if (frame < 0 || frame >= (int64_t)PCOL_NONE)
        return pci_json_fail(&r->json, err, "there is no frame %" PRId64, frame);
    if (!r->has_last || frame > r->last_frame) {
        r->has_last = 1;
        r->last_frame = (uint32_t)frame;
        r->last_line = r->json.line;
        r->last_column = r->json.column;
    }
    return PCOL_OK;
}

static pcol_status add_frame(struct reader *r, size_t *count, int64_t frame, pcol_error *err)
{
    PCI_TRY(check_frame(r, frame, err));
    PCI_TRY(PCI_GROW(r->list, r->list_capacity, *count + 1, err));
    r->list[(*count)++] = (uint32_t)frame;
    return PCOL_OK;
}

/* Read the stack whose first token is current into `list`. */
static pcol_status read_stack(struct reader *r, size_t *count, pcol_error *err)
{
    int64_t values[BATCH];
    uint8_t types[BATCH];
    size_t got;
    int more;
    *count = 0;
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, "a sample", err));
    for (;;) {
        unsigned seen = pci_json_read_numbers(&r->json, values, types, BATCH, &got);
        if (got && seen != 1u << PCI_JSON_INT)
            return pci_json_fail(&r->json, err, "a frame of a sample must be an integer");
        for (size_t i = 0; i < got; i++)
            PCI_TRY(add_frame(r, count, values[i], err));
        if (got == BATCH)
            continue;
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_json_expect(&r->json, PCI_JSON_INT, "a frame of a sample", err));
        PCI_TRY(add_frame(r, count, r->json.integer, err));
    }
}

static pcol_status push(struct reader *r, uint32_t frame, pcol_error *err)
{
    uint32_t parent = r->depth ? r->path[r->depth - 1].node : 0, node;
    PCI_TRY(pci_call_tree_child(&r->tree, parent, frame, &node, err));
    PCI_TRY(PCI_GROW(r->path, r->path_capacity, r->depth + 1, err));
    r->path[r->depth++] = (struct open_frame){frame, node};
    return PCOL_OK;
}

/* Append the stack `list`; frames that it shares with the previous one keep their nodes. */
static pcol_status add_stack(struct reader *r, size_t count, pcol_error *err)
{
    size_t shared = 0;
    while (shared < count && shared < r->depth && r->path[shared].frame == r->list[shared])
        shared++;
    r->depth = shared;
    for (size_t i = shared; i < count; i++)
        PCI_TRY(push(r, r->list[i], err));
    uint32_t node = r->depth ? r->path[r->depth - 1].node : 0;
    return pci_spill_append(&r->stacks, &node, sizeof node, err);
}

static uint64_t sample_count(const struct reader *r)
{
    return pci_spill_size(&r->stacks) / sizeof(uint32_t);
}

static pcol_status read_samples(struct reader *r, struct current *c, pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, "samples", err));
    PCI_TRY(pci_document_place(&r->document, c->node, "samples", err));
    PCI_TRY(pci_document_text(&r->document, r->document.arrays, NULL, "stacks", err));
    r->depth = 0;
    for (;;) {
        size_t count;
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_stack(r, &count, err));
        PCI_TRY(add_stack(r, count, err));
    }
    r->depth = 0;
    return PCOL_OK;
}

/* ---- weights ---- */

static int is_negative(int64_t bits, int is_double)
{
    return !(pci_number_value(bits, is_double) >= 0);
}

/* The column of values reproduces weights of one kind. */
static pcol_status read_weights(struct reader *r, struct current *c, pcol_error *err)
{
    uint64_t line = r->json.line, column = r->json.column, doubles;
    int exact = 1;
    PCI_TRY(pci_number_array_read(&c->weights, &r->json, "weights", err));
    for (uint64_t i = 0; i < c->weights.count; i++) {
        int64_t bits;
        int is_double;
        PCI_TRY(pci_number_array_get(&c->weights, i, &bits, &is_double, err));
        if (is_negative(bits, is_double))
            return pci_fail_text(err, PCOL_E_SYNTAX, line, column,
                                 "weight %" PRIu64 " of the profile is negative", i + 1);
        exact &= is_double || bits <= EXACT;
    }
    PCI_TRY(pci_number_array_doubles(&c->weights, 0, c->weights.count, &doubles, err));
    if (!exact || (doubles && doubles < c->weights.count))
        return pci_document_number_member(&r->document, c->node, "weights", &c->weights, 0,
                                          c->weights.count, err);
    PCI_TRY(pci_document_place(&r->document, c->node, "weights", err));
    return pci_document_text(&r->document, r->document.arrays, NULL,
                             doubles ? "doubles" : "integers", err);
}

static pcol_status end_sampled(struct reader *r, struct current *c, pcol_error *err)
{
    uint64_t count = sample_count(r) - c->profile.first;
    if (!(c->seen & 1u << M_SAMPLES) || !(c->seen & 1u << M_WEIGHTS))
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "a sampled profile needs samples and weights");
    if (count != c->weights.count)
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "the profile has %" PRIu64 " samples, but %" PRIu64 " weights", count,
                             c->weights.count);
    for (uint64_t i = 0; i < count; i++) {
        int64_t bits;
        int is_double;
        PCI_TRY(pci_number_array_get(&c->weights, i, &bits, &is_double, err));
        PCI_TRY(pci_number_array_add(&r->values, bits, is_double, err));
        PCI_TRY(pci_number_array_add(&r->starts, 0, 0, err));
    }
    return PCOL_OK;
}

/* ---- events ---- */

struct event {
    int is_open;
    int64_t frame, at;
    int at_is_double;
};

enum { E_TYPE = 1, E_FRAME = 2, E_AT = 4 };

static pcol_status read_other_member(struct reader *r, struct current *c, uint64_t *other,
                                     pcol_error *err)
{
    if (c->others == PCI_NO_NODE)
        PCI_TRY(
            pci_document_node(&r->document, c->events, "others", PCI_NODE_ARRAY, &c->others, err));
    if (*other == PCI_NO_NODE) {
        struct pci_new_node number = {.tag = PCI_NODE_INTEGER, .text = PCOL_NONE};
        uint64_t node;
        PCI_TRY(pci_document_node(&r->document, c->others, NULL, PCI_NODE_OBJECT, other, err));
        PCI_TRY(pcol_builder_string(r->builder, "event", 5, &number.key, err));
        number.parent = *other;
        number.as.i64 = (int64_t)c->at.count;
        PCI_TRY(pci_builder_node(r->builder, &number, &node, err));
    }
    return pci_document_member(&r->document, &r->json, *other, err);
}

static pcol_status read_event_member(struct reader *r, struct current *c, struct event *event,
                                     unsigned *seen, uint64_t *other, pcol_error *err)
{
    struct pci_json *json = &r->json;
    unsigned bit = pci_json_is(json, "type")    ? E_TYPE
                   : pci_json_is(json, "frame") ? E_FRAME
                   : pci_json_is(json, "at")    ? E_AT
                                                : 0;
    if (!bit)
        return read_other_member(r, c, other, err);
    if (*seen & bit)
        return pci_json_fail(json, err, "the event has this member twice");
    *seen |= bit;
    PCI_TRY(pci_json_next(json, err));
    if (bit == E_AT)
        return pci_number_of_token(json, "at", &event->at, &event->at_is_double, err);
    if (bit == E_FRAME) {
        PCI_TRY(pci_json_expect(json, PCI_JSON_INT, "frame", err));
        event->frame = json->integer;
        return check_frame(r, event->frame, err);
    }
    PCI_TRY(pci_json_expect(json, PCI_JSON_STRING, "type", err));
    event->is_open = pci_json_is(json, "O");
    if (!event->is_open && !pci_json_is(json, "C"))
        return pci_json_fail(json, err, "the type of an event must be \"O\" or \"C\"");
    return PCOL_OK;
}

/* The value from `from` to `to`; negative if it goes back. */
static pcol_status subtract(struct reader *r, int64_t to, int to_is_double, int64_t from,
                            int from_is_double, int64_t *bits, int *is_double, pcol_error *err)
{
    *is_double = to_is_double || from_is_double;
    if (*is_double) {
        double value = pci_number_value(to, to_is_double) - pci_number_value(from, from_is_double);
        memcpy(bits, &value, sizeof value);
        return PCOL_OK;
    }
    return __builtin_sub_overflow(to, from, bits)
               ? pci_json_fail(&r->json, err, "at is beyond 64 bits from the event before")
               : PCOL_OK;
}

/* The interval that the event ends. */
static pcol_status end_interval(struct reader *r, struct current *c, const struct event *event,
                                pcol_error *err)
{
    int64_t before = c->latest, bits;
    int before_is_double = c->latest_is_double, is_double;
    c->latest = event->at;
    c->latest_is_double = event->at_is_double;
    if (!c->at.count) {
        c->earliest = event->at;
        c->earliest_is_double = event->at_is_double;
        return PCOL_OK;
    }
    PCI_TRY(subtract(r, event->at, event->at_is_double, before, before_is_double, &bits, &is_double,
                     err));
    if (is_negative(bits, is_double))
        return pci_json_fail(&r->json, err, "the event is before the previous one");
    if (!r->depth || !(pci_number_value(bits, is_double) > 0))
        return PCOL_OK;
    PCI_TRY(pci_spill_append(&r->stacks, &r->path[r->depth - 1].node, sizeof(uint32_t), err));
    PCI_TRY(pci_number_array_add(&r->values, bits, is_double, err));
    return pci_number_array_add(&r->starts, before, before_is_double, err);
}

static pcol_status read_event(struct reader *r, struct current *c, pcol_error *err)
{
    struct event event = {0};
    unsigned seen = 0;
    uint64_t other = PCI_NO_NODE;
    int more;
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "an event", err));
    for (;;) {
        PCI_TRY(pci_json_member(&r->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_event_member(r, c, &event, &seen, &other, err));
    }
    if (seen != (E_TYPE | E_FRAME | E_AT))
        return pci_json_fail(&r->json, err, "an event needs type, frame and at");
    PCI_TRY(end_interval(r, c, &event, err));
    if (event.is_open)
        PCI_TRY(push(r, (uint32_t)event.frame, err));
    else if (!r->depth || r->path[r->depth - 1].frame != event.frame)
        return pci_json_fail(&r->json, err, "frame %" PRId64 " closes, but %s", event.frame,
                             r->depth ? "another one is innermost" : "no frame is open");
    else
        r->depth--;
    PCI_TRY(pci_number_array_add(&c->at, event.at, event.at_is_double, err));
    return pci_number_array_add(&c->frames, 2 * event.frame + !event.is_open, 0, err);
}

static pcol_status read_events(struct reader *r, struct current *c, pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, "events", err));
    PCI_TRY(pci_document_place(&r->document, c->node, "events", err));
    PCI_TRY(pci_document_node(&r->document, r->document.arrays, NULL, PCI_NODE_OBJECT, &c->events,
                              err));
    r->depth = 0;
    for (;;) {
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_event(r, c, err));
    }
    if (r->depth)
        return pci_json_fail(&r->json, err, "%zu frames are still open after the last event",
                             r->depth);
    PCI_TRY(pci_document_numbers(&r->document, c->events, "frames", &c->frames, 0, c->frames.count,
                                 err));
    return pci_document_numbers(&r->document, c->events, "at", &c->at, 0, c->at.count, err);
}

static pcol_status end_evented(struct current *c, pcol_error *err)
{
    const struct profile *p = &c->profile;
    if (!(c->seen & 1u << M_EVENTS))
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "an evented profile needs events");
    if (c->at.count && c->seen & 1u << M_START &&
        pci_number_value(c->earliest, c->earliest_is_double) <
            pci_number_value(p->start, p->start_is_double))
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "the first event of the profile is before startValue");
    return PCOL_OK;
}

/* ---- profiles ---- */

static pcol_status read_type(struct reader *r, struct current *c, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_STRING, "type", err));
    c->type = pci_json_is(&r->json, "sampled")   ? TYPE_SAMPLED
              : pci_json_is(&r->json, "evented") ? TYPE_EVENTED
                                                 : TYPE_UNKNOWN;
    return c->type ? PCOL_OK
                   : pci_json_fail(&r->json, err,
                                   "the type of a profile must be \"sampled\" or \"evented\"");
}

static pcol_status read_unit(struct reader *r, struct current *c, pcol_error *err)
{
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_STRING, "unit", err));
    for (c->profile.unit = 0; c->profile.unit < PCI_SPEEDSCOPE_UNITS; c->profile.unit++)
        if (pci_json_is(&r->json, pci_speedscope_units[c->profile.unit].name))
            return PCOL_OK;
    return pci_json_fail(&r->json, err,
                         "the unit of a profile must be none, bytes, nanoseconds, microseconds, "
                         "milliseconds or seconds");
}

static pcol_status read_profile_member(struct reader *r, struct current *c, pcol_error *err)
{
    struct pci_json *json = &r->json;
    unsigned member = 0;
    while (member < M_OTHER && !pci_json_is(json, members[member]))
        member++;
    if (member < M_OTHER && c->seen & 1u << member)
        return pci_json_fail(json, err, "the profile has this member twice");
    c->seen |= 1u << member;
    if (member < M_SAMPLES || member == M_OTHER) {
        PCI_TRY(pci_document_member(&r->document, json, c->node, err));
        if (member == M_TYPE)
            return read_type(r, c, err);
        if (member == M_UNIT)
            return read_unit(r, c, err);
        if (member == M_NAME && json->type == PCI_JSON_STRING)
            return pcol_builder_string(r->builder, json->text.data, json->text.size,
                                       &c->profile.name, err);
        if (member == M_START)
            return pci_number_of_token(json, "startValue", &c->profile.start,
                                       &c->profile.start_is_double, err);
        return PCOL_OK;
    }
    if (c->seen & 1u << M_EVENTS && c->seen & (1u << M_SAMPLES | 1u << M_WEIGHTS))
        return pci_json_fail(json, err, "a profile has either events, or samples and weights");
    PCI_TRY(pci_json_next(json, err));
    return member == M_SAMPLES   ? read_samples(r, c, err)
           : member == M_WEIGHTS ? read_weights(r, c, err)
                                 : read_events(r, c, err);
}

static pcol_status read_members(struct reader *r, struct current *c, pcol_error *err)
{
    int more;
    for (;;) {
        PCI_TRY(pci_json_member(&r->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_profile_member(r, c, err));
    }
    if (!c->type || !(c->seen & 1u << M_UNIT))
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "a profile needs a type and a unit");
    c->profile.evented = c->type == TYPE_EVENTED;
    PCI_TRY(c->profile.evented ? end_evented(c, err) : end_sampled(r, c, err));
    c->profile.count = sample_count(r) - c->profile.first;
    PCI_TRY(PCI_GROW(r->profiles, r->profile_capacity, r->profile_count + 1, err));
    r->profiles[r->profile_count++] = c->profile;
    return PCOL_OK;
}

static pcol_status read_profile(struct reader *r, uint64_t parent, pcol_error *err)
{
    struct current c = {.others = PCI_NO_NODE,
                        .profile = {.first = sample_count(r),
                                    .name = PCOL_NONE,
                                    .line = r->json.line,
                                    .column = r->json.column}};
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "a profile", err));
    PCI_TRY(pci_document_node(&r->document, parent, NULL, PCI_NODE_OBJECT, &c.node, err));
    pci_number_array_init(&c.weights, &r->builder->store);
    pci_number_array_init(&c.at, &r->builder->store);
    pci_number_array_init(&c.frames, &r->builder->store);
    pcol_status status = read_members(r, &c, err);
    pci_number_array_clear(&c.weights);
    pci_number_array_clear(&c.at);
    pci_number_array_clear(&c.frames);
    return status;
}

/* ---- frames ---- */

/* The members of a frame that tables have. */
struct frame {
    uint32_t name, file;
    int64_t line, column;
    unsigned has_line : 1, has_column : 1;
};

static pcol_status read_frame_member(struct reader *r, struct frame *f, uint64_t node,
                                     pcol_error *err)
{
    struct pci_json *json = &r->json;
    uint32_t *text = pci_json_is(json, "name")   ? &f->name
                     : pci_json_is(json, "file") ? &f->file
                                                 : NULL;
    int is_line = pci_json_is(json, "line"), is_column = pci_json_is(json, "col");
    PCI_TRY(pci_document_member(&r->document, json, node, err));
    if (text && json->type == PCI_JSON_STRING)
        return pcol_builder_string(r->builder, json->text.data, json->text.size, text, err);
    if (text == &f->name)
        return pci_json_expect(json, PCI_JSON_STRING, "the name of a frame", err);
    if (is_line && json->type == PCI_JSON_INT)
        f->has_line = 1, f->line = json->integer;
    if (is_column && json->type == PCI_JSON_INT)
        f->has_column = 1, f->column = json->integer;
    return PCOL_OK;
}

static pcol_status add_group(struct reader *r, const struct frame *f, struct pci_row_uses *uses,
                             pcol_error *err)
{
    struct pci_cell_value column = {f->column, (uint8_t)f->has_column};
    pcol_line line = {.filename = PCOL_NONE};
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    function.name = f->name;
    function.system_name = PCOL_NONE;
    function.filename = f->file;
    function.flags = f->has_line ? PCOL_FUNCTION_HAS_START_LINE : 0;
    function.start_line = f->line;
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    if (f->has_column && r->column == PCOL_NONE)
        PCI_TRY(pcol_builder_column(r->builder, PCI_T_FUNCTIONS, "column", PCOL_I64, 0, &r->column,
                                    err));
    PCI_TRY(pci_builder_function(r->builder, NULL, &function, &r->column, &column,
                                 f->has_column ? 1 : 0, &line.function, NULL, err));
    PCI_TRY(PCI_GROW(r->groups, r->group_capacity, r->frame_count + 1, err));
    return pci_builder_group(r->builder, uses, &group, NULL, NULL, 0, &r->groups[r->frame_count++],
                             NULL, err);
}

static pcol_status read_frames(struct reader *r, uint64_t parent, struct pci_row_uses *uses,
                               pcol_error *err)
{
    uint64_t array, node;
    int more;
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, "frames", err));
    PCI_TRY(pci_document_node(&r->document, parent, "frames", PCI_NODE_ARRAY, &array, err));
    for (;;) {
        struct frame frame = {.name = PCOL_NONE, .file = PCOL_NONE};
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "a frame", err));
        PCI_TRY(pci_document_node(&r->document, array, NULL, PCI_NODE_OBJECT, &node, err));
        for (;;) {
            PCI_TRY(pci_json_member(&r->json, &more, err));
            if (!more)
                break;
            PCI_TRY(read_frame_member(r, &frame, node, err));
        }
        if (frame.name == PCOL_NONE)
            return pci_json_fail(&r->json, err, "a frame needs a name");
        PCI_TRY(add_group(r, &frame, uses, err));
    }
}

/* From the key `shared`. */
static pcol_status read_shared(struct reader *r, pcol_error *err)
{
    struct pci_row_uses uses = {0};
    uint64_t node;
    int more;
    pcol_status status = PCOL_OK;
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "shared", err));
    PCI_TRY(
        pci_document_node(&r->document, r->document.root, "shared", PCI_NODE_OBJECT, &node, err));
    while (status == PCOL_OK) {
        status = pci_json_member(&r->json, &more, err);
        if (status != PCOL_OK || !more)
            break;
        if (!pci_json_is(&r->json, "frames"))
            status = pci_document_member(&r->document, &r->json, node, err);
        else if (r->has_frames)
            status = pci_json_fail(&r->json, err, "frames are there twice");
        else
            r->has_frames = 1, status = read_frames(r, node, &uses, err);
    }
    pci_row_uses_clear(&uses);
    return status;
}

/* ---- rows ---- */

/* Nodes of the builder's call tree by node of the reader's. */
static pcol_status build_stacks(struct reader *r, uint32_t *nodes, pcol_error *err)
{
    if (r->has_last && r->last_frame >= r->frame_count)
        return pci_fail_text(err, PCOL_E_SYNTAX, r->last_line, r->last_column,
                             "frame %" PRIu32 " does not exist: shared.frames has %zu",
                             r->last_frame, r->frame_count);
    nodes[0] = 0;
    for (size_t i = 1; i < r->tree.count; i++) {
        const struct pci_node *node = &r->tree.nodes[i];
        PCI_TRY(pcol_builder_stack(r->builder, nodes[node->parent], r->groups[node->group],
                                   &nodes[i], err));
    }
    return PCOL_OK;
}

/* Order of the source's frames, for the way back. */
static pcol_status put_frame_order(struct reader *r, pcol_error *err)
{
    struct pci_source_row row = {
        .source = r->import->source, .thread = PCOL_NONE, .target = PCI_T_GROUPS + 1};
    PCI_TRY(pcol_builder_string(r->builder, "frames", 6, &row.table, err));
    return r->frame_count
               ? pci_builder_source_rows(r->builder, &row, r->groups, r->frame_count, err)
               : PCOL_OK;
}

/* Sample types by unit; PCOL_NONE for a unit that no profile has. */
static pcol_status add_types(struct reader *r, uint32_t *types, uint8_t *is_double, pcol_error *err)
{
    uint64_t doubles;
    memset(is_double, 0, PCI_SPEEDSCOPE_UNITS);
    for (size_t i = 0; i < r->profile_count; i++) {
        const struct profile *p = &r->profiles[i];
        PCI_TRY(pci_number_array_doubles(&r->values, p->first, p->count, &doubles, err));
        is_double[p->unit] |= doubles > 0;
    }
    for (size_t i = 0; i < PCI_SPEEDSCOPE_UNITS; i++)
        types[i] = PCOL_NONE;
    for (size_t i = 0; i < r->profile_count; i++) {
        int unit = r->profiles[i].unit;
        const struct pci_speedscope_unit *u = &pci_speedscope_units[unit];
        if (types[unit] == PCOL_NONE)
            PCI_TRY(pcol_builder_sample_type(r->builder, u->type, u->unit,
                                             is_double[unit] ? PCOL_SAMPLE_TYPE_DOUBLE : 0, 0,
                                             &types[unit], err));
    }
    return PCOL_OK;
}

/* Position of a profile on its time line: the sum of all weights so far. */
struct clock {
    int64_t integer;
    double number;
    int is_double;
    const struct pci_speedscope_unit *unit;
};

static int to_ns(int64_t bits, int is_double, int64_t scale, int64_t *ns)
{
    if (!is_double)
        return !__builtin_mul_overflow(bits, scale, ns);
    double value = pci_number_value(bits, 1) * (double)scale;
    if (!(value > -9.2e18 && value < 9.2e18))
        return 0;
    *ns = (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
    return 1;
}

static int advance(struct clock *clock, int64_t bits, int is_double)
{
    clock->number += pci_number_value(bits, is_double);
    clock->is_double |= is_double;
    return clock->is_double || !__builtin_add_overflow(clock->integer, bits, &clock->integer);
}

static int clock_ns(const struct clock *clock, int64_t *ns)
{
    int64_t bits = clock->integer;
    if (clock->is_double)
        memcpy(&bits, &clock->number, sizeof bits);
    return to_ns(bits, clock->is_double, clock->unit->ns, ns);
}

static pcol_status set_times(struct reader *r, const struct profile *p, uint64_t at,
                             struct clock *clock, int64_t bits, int is_double, pcol_sample *sample,
                             pcol_error *err)
{
    int64_t start = 0;
    int start_is_double = 0, ok;
    if (p->evented) {
        PCI_TRY(pci_number_array_get(&r->starts, at, &start, &start_is_double, err));
        ok = to_ns(start, start_is_double, clock->unit->ns, &sample->time_ns);
    } else {
        ok = clock_ns(clock, &sample->time_ns) && advance(clock, bits, is_double);
    }
    if (!ok)
        return pci_fail_text(err, PCOL_E_SYNTAX, p->line, p->column,
                             "a time of the profile is beyond 64 bits of nanoseconds");
    sample->flags |= PCOL_SAMPLE_HAS_TIME;
    return PCOL_OK;
}

static pcol_status put_sample(struct reader *r, const struct profile *p, uint64_t at,
                              const uint32_t *nodes, struct clock *clock, uint32_t type,
                              int as_double, uint32_t thread, pcol_error *err)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value = {.sample_type = type};
    int64_t bits;
    const uint8_t *data;
    uint32_t node;
    int is_double;
    PCI_TRY(pci_spill_view_range(&r->stacks, &r->stack_view, at * sizeof node, sizeof node, &data,
                                 err));
    memcpy(&node, data, sizeof node);
    PCI_TRY(pci_number_array_get(&r->values, at, &bits, &is_double, err));
    if (as_double)
        value.as.f64 = pci_number_value(bits, is_double);
    else
        value.as.i64 = bits;
    if (clock->unit->ns)
        PCI_TRY(set_times(r, p, at, clock, bits, is_double, &sample, err));
    sample.source = r->import->source;
    sample.stack = nodes[node];
    sample.thread = thread;
    sample.values = &value;
    sample.value_count = 1;
    return pcol_builder_sample(r->builder, &sample, NULL, err);
}

static pcol_status put_samples(struct reader *r, const uint32_t *nodes, pcol_error *err)
{
    uint32_t types[PCI_SPEEDSCOPE_UNITS];
    uint8_t is_double[PCI_SPEEDSCOPE_UNITS];
    PCI_TRY(add_types(r, types, is_double, err));
    for (size_t i = 0; i < r->profile_count; i++) {
        const struct profile *p = &r->profiles[i];
        struct pci_import_thread thread = {p->name, PCOL_NONE, PCOL_NONE, PCOL_NONE, (uint32_t)i};
        struct clock clock = {p->start_is_double ? 0 : p->start,
                              pci_number_value(p->start, p->start_is_double), p->start_is_double,
                              &pci_speedscope_units[p->unit]};
        uint32_t row;
        PCI_TRY(pci_import_thread(r->import, &thread, &row, err));
        for (uint64_t at = 0; at < p->count; at++)
            PCI_TRY(put_sample(r, p, p->first + at, nodes, &clock, types[p->unit],
                               is_double[p->unit], row, err));
    }
    return PCOL_OK;
}

static pcol_status build(struct reader *r, pcol_error *err)
{
    uint32_t *nodes;
    PCI_TRY(PCI_MALLOC(nodes, r->tree.count, err));
    pcol_status status = build_stacks(r, nodes, err);
    PCI_THEN(status, put_samples(r, nodes, err));
    pci_free(nodes);
    PCI_TRY(status);
    PCI_TRY(put_frame_order(r, err));
    return pci_document_end(&r->document, r->import->source, err);
}

/* ---- document ---- */

/* From the key `profiles`. */
static pcol_status read_profiles(struct reader *r, pcol_error *err)
{
    uint64_t array;
    int more;
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, "profiles", err));
    PCI_TRY(
        pci_document_node(&r->document, r->document.root, "profiles", PCI_NODE_ARRAY, &array, err));
    for (;;) {
        PCI_TRY(pci_json_element(&r->json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(read_profile(r, array, err));
    }
}

static pcol_status read_document(struct reader *r, pcol_error *err)
{
    static const struct pci_json_options options = {0, 0};
    pcol_source source = PCOL_INIT(pcol_source);
    int more, profiles = 0, shared = 0;
    PCI_TRY(pci_call_tree_init(&r->tree, err));
    PCI_TRY(pci_json_open(&r->json, r->import->input, &options, err));
    PCI_TRY(pci_import_source(r->import, &source, err));
    PCI_TRY(pci_document_begin(&r->document, r->builder, err));
    PCI_TRY(pci_json_next(&r->json, err));
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_OBJECT, "a speedscope file", err));
    for (;;) {
        PCI_TRY(pci_json_member(&r->json, &more, err));
        if (!more)
            break;
        int *part = pci_json_is(&r->json, "profiles") ? &profiles
                    : pci_json_is(&r->json, "shared") ? &shared
                                                      : NULL;
        if (part && (*part)++)
            return pci_json_fail(&r->json, err, "the file has this member twice");
        PCI_TRY(part == &profiles ? read_profiles(r, err)
                : part == &shared
                    ? read_shared(r, err)
                    : pci_document_member(&r->document, &r->json, r->document.root, err));
    }
    if (!profiles || !shared)
        return pci_json_fail(&r->json, err,
                             "a speedscope file needs the members profiles and shared");
    PCI_TRY(pci_json_finish(&r->json, err));
    return build(r, err);
}

pcol_status pci_speedscope_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {.import = import, .builder = import->builder, .column = PCOL_NONE};
    pci_spill_init(&r.stacks, &import->builder->store);
    pci_number_array_init(&r.values, &import->builder->store);
    pci_number_array_init(&r.starts, &import->builder->store);
    pcol_status status = read_document(&r, err);
    pci_json_close(&r.json);
    pci_call_tree_clear(&r.tree);
    pci_spill_clear(&r.stacks);
    pci_spill_view_clear(&r.stack_view);
    pci_number_array_clear(&r.values);
    pci_number_array_clear(&r.starts);
    pci_free(r.profiles);
    pci_free(r.groups);
    pci_free(r.path);
    pci_free(r.list);
    return status;
}

int pci_speedscope_sniff(const uint8_t *data, size_t size, int all)
{
    static const char *const texts[] = {"\"$schema\"", "www.speedscope.app/file-format-schema.json",
                                        NULL};
    (void)all;
    return pci_document_begins(data, size, 0, texts) ? 2 : 0;
}
