/*
 * read_values.c - stacks, weights and events of a profile of speedscope
 *
 * Stacks become nodes of a call tree of frame numbers, values numbers in spill buffers. Events that
 * go back in time, that close another frame than the innermost, and frames that stay open are
 * rejected, as by speedscope's own importer. Tests: tests/roundtrip/json_formats.
 */
#include "formats/speedscope/read.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>

#define BATCH 256u
#define EXACT INT64_C(9007199254740992) /* 2^53: integers up to it are exact as doubles */

/* ---- stacks ---- */

static pcol_status check_frame(struct pci_ss_reader *r, int64_t frame, uint64_t column,
                               pcol_error *err)
{
    if (frame < 0 || frame >= (int64_t)PCOL_NONE)
        return pci_json_fail(&r->json, err, "there is no frame %" PRId64, frame);
    if (!r->has_last || frame > r->last_frame) {
        r->has_last = 1;
        r->last_frame = (uint32_t)frame;
        r->last_line = r->json.line;
        r->last_column = column;
    }
    return PCOL_OK;
}

static pcol_status add_frame(struct pci_ss_reader *r, size_t *count, int64_t frame, pcol_error *err)
{
    PCI_TRY(check_frame(r, frame, r->json.column, err));
    PCI_TRY(PCI_GROW(r->list, r->list_capacity, *count + 1, err));
    r->list[(*count)++] = (uint32_t)frame;
    return PCOL_OK;
}

/* Read the stack whose first token is current into `list`. */
static pcol_status read_stack(struct pci_ss_reader *r, size_t *count, pcol_error *err)
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

static pcol_status push(struct pci_ss_reader *r, uint32_t frame, pcol_error *err)
{
    uint32_t parent = r->depth ? r->path[r->depth - 1].node : 0, node;
    PCI_TRY(pci_call_tree_child(&r->tree, parent, frame, &node, err));
    PCI_TRY(PCI_GROW(r->path, r->path_capacity, r->depth + 1, err));
    r->path[r->depth++] = (struct pci_ss_open_frame){frame, node};
    return PCOL_OK;
}

/* Go to a stack; frames that it shares with the previous one keep their nodes. */
static pcol_status enter_stack(struct pci_ss_reader *r, const uint32_t *frames, size_t count,
                               uint32_t *node, pcol_error *err)
{
    size_t shared = 0;
    while (shared < count && shared < r->depth && r->path[shared].frame == frames[shared])
        shared++;
    r->depth = shared;
    for (size_t i = shared; i < count; i++)
        PCI_TRY(push(r, frames[i], err));
    *node = r->depth ? r->path[r->depth - 1].node : 0;
    return PCOL_OK;
}

static pcol_status add_stack(struct pci_ss_reader *r, size_t count, pcol_error *err)
{
    uint32_t node;
    PCI_TRY(enter_stack(r, r->list, count, &node, err));
    return pci_spill_append(&r->stacks, &node, sizeof node, err);
}

/* Read and append stacks of small frame numbers, as many as there are in a row and fit. */
static pcol_status add_short_stacks(struct pci_ss_reader *r, pcol_error *err)
{
    int64_t values[4 * BATCH];
    struct pci_json_list lists[BATCH];
    uint32_t frames[4 * BATCH], nodes[BATCH];
    for (;;) {
        size_t from = 0;
        size_t n = pci_json_read_lists(&r->json, values, 4 * BATCH, lists, BATCH);
        if (!n)
            return PCOL_OK;
        for (size_t i = 0; i < n; from = lists[i++].end) {
            for (size_t k = from; k < lists[i].end; k++) {
                PCI_TRY(check_frame(r, values[k], lists[i].column, err));
                frames[k] = (uint32_t)values[k];
            }
            PCI_TRY(enter_stack(r, frames + from, lists[i].end - from, &nodes[i], err));
        }
        PCI_TRY(pci_spill_append(&r->stacks, nodes, n * sizeof *nodes, err));
    }
}

uint64_t pci_ss_sample_count(const struct pci_ss_reader *r)
{
    return pci_spill_size(&r->stacks) / sizeof(uint32_t);
}

pcol_status pci_ss_read_samples(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_expect(&r->json, PCI_JSON_ARRAY, "samples", err));
    PCI_TRY(pci_document_place(&r->document, c->node, "samples", err));
    PCI_TRY(pci_document_text(&r->document, r->document.arrays, NULL, "stacks", err));
    r->depth = 0;
    for (;;) {
        size_t count;
        PCI_TRY(add_short_stacks(r, err));
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

/* The column of values reproduces weights of one kind; of both, with the kind of each. */
pcol_status pci_ss_read_weights(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err)
{
    struct pci_number_array *values = &r->values;
    uint64_t line = r->json.line, column = r->json.column, first = c->profile.first;
    uint64_t doubles, node;
    int exact = 1;
    PCI_TRY(pci_number_array_read(values, &r->json, "weights", err));
    uint64_t count = values->count - first;
    for (uint64_t i = 0; i < count; i++) {
        int64_t bits;
        int is_double;
        PCI_TRY(pci_number_array_get(values, first + i, &bits, &is_double, err));
        if (is_negative(bits, is_double))
            return pci_fail_text(err, PCOL_E_SYNTAX, line, column,
                                 "weight %" PRIu64 " of the profile is negative", i + 1);
        exact &= is_double || bits <= EXACT;
    }
    PCI_TRY(pci_number_array_doubles(values, first, count, &doubles, err));
    if (!exact)
        return pci_document_number_member(&r->document, c->node, "weights", values, first, count,
                                          err);
    PCI_TRY(pci_document_place(&r->document, c->node, "weights", err));
    if (doubles && doubles < count) {
        PCI_TRY(
            pci_document_node(&r->document, r->document.arrays, NULL, PCI_NODE_OBJECT, &node, err));
        return pci_document_column(&r->document, node, "kinds", PCI_NODE_INTEGERS, values->kinds,
                                   first, count, err);
    }
    return pci_document_text(&r->document, r->document.arrays, NULL,
                             doubles ? "doubles" : "integers", err);
}

pcol_status pci_ss_end_sampled(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err)
{
    uint64_t count = pci_ss_sample_count(r) - c->profile.first;
    uint64_t weights = r->values.count - c->profile.first;
    if (!(c->seen & 1u << PCI_SS_SAMPLES) || !(c->seen & 1u << PCI_SS_WEIGHTS))
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "a sampled profile needs samples and weights");
    return count == weights
               ? PCOL_OK
               : pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                               "the profile has %" PRIu64 " samples, but %" PRIu64 " weights",
                               count, weights);
}

/* ---- events ---- */

struct event {
    int is_open;
    int64_t frame, at;
    int at_is_double;
};

enum { E_TYPE = 1, E_FRAME = 2, E_AT = 4 };

static pcol_status read_other_member(struct pci_ss_reader *r, struct pci_ss_current *c,
                                     uint64_t *other, pcol_error *err)
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

static pcol_status read_event_member(struct pci_ss_reader *r, struct pci_ss_current *c,
                                     struct event *event, unsigned *seen, uint64_t *other,
                                     pcol_error *err)
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
        return check_frame(r, event->frame, json->column, err);
    }
    PCI_TRY(pci_json_expect(json, PCI_JSON_STRING, "type", err));
    event->is_open = pci_json_is(json, "O");
    if (!event->is_open && !pci_json_is(json, "C"))
        return pci_json_fail(json, err, "the type of an event must be \"O\" or \"C\"");
    return PCOL_OK;
}

/* The value from `from` to `to`; negative if it goes back. */
static pcol_status subtract(struct pci_ss_reader *r, int64_t to, int to_is_double, int64_t from,
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
static pcol_status end_interval(struct pci_ss_reader *r, struct pci_ss_current *c,
                                const struct event *event, pcol_error *err)
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

static pcol_status read_event(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err)
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

pcol_status pci_ss_read_events(struct pci_ss_reader *r, struct pci_ss_current *c, pcol_error *err)
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

pcol_status pci_ss_end_evented(struct pci_ss_current *c, pcol_error *err)
{
    const struct pci_ss_profile *p = &c->profile;
    if (!(c->seen & 1u << PCI_SS_EVENTS))
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "an evented profile needs events");
    if (c->at.count && c->seen & 1u << PCI_SS_START &&
        pci_number_value(c->earliest, c->earliest_is_double) <
            pci_number_value(p->start, p->start_is_double))
        return pci_fail_text(err, PCOL_E_SYNTAX, c->profile.line, c->profile.column,
                             "the first event of the profile is before startValue");
    return PCOL_OK;
}
