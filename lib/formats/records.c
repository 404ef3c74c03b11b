/*
 * records.c - JSON values of repeated shape as a state machine with columns: import
 *
 * The state that followed last predicts the next one, so that a member of a repeated object takes
 * one comparison of its key.
 */
#include "formats/records.h"

#include "builder/builder.h"
#include "model/json_tree.h"
#include "util/alloc.h"

#include <string.h>

enum { MAX_STATES = 256, MAX_MEMBERS = 64 }; /* of all containers, of one */

/* ---- columns */

static pcol_status make_buffer(struct pci_records *r, struct pci_record_column *c, pcol_error *err)
{
    c->buffer = pci_column_buffer_make(r->document->builder, 0, "", PCF_I64, 0, PCI_DROP_NEVER);
    if (!c->buffer)
        return pci_fail_memory(err);
    return pci_column_buffer_repeat(c->buffer, 0, c->value, c->count, err);
}

static pcol_status put(struct pci_records *r, struct pci_record_column *c, int64_t value,
                       pcol_error *err)
{
    if (!c->buffer) {
        if (!c->count)
            c->value = value;
        if (value == c->value) {
            c->count++;
            return PCOL_OK;
        }
        PCI_TRY(make_buffer(r, c, err));
    }
    return pci_column_buffer_set(c->buffer, c->count++, value, err);
}

/* ---- states */

static struct pci_record_level *top(struct pci_records *r)
{
    return &r->levels[r->depth - 1];
}

static struct pci_record_state *current(struct pci_records *r)
{
    return &r->states[top(r)->state];
}

static pcol_status add_state(struct pci_records *r, const struct pci_record_state *state,
                             uint32_t *number, pcol_error *err)
{
    PCI_TRY(PCI_GROW(r->states, r->state_capacity, r->state_count + 1, err));
    *number = (uint32_t)r->state_count;
    r->states[r->state_count++] = *state;
    return PCOL_OK;
}

static pcol_status add_start(struct pci_records *r, uint8_t container, uint32_t key,
                             uint32_t *start, pcol_error *err)
{
    const struct pci_record_state state = {.start = (uint32_t)r->state_count,
                                           .key = key,
                                           .sibling = PCOL_NONE,
                                           .follower = PCOL_NONE,
                                           .tag = PCI_RECORD_START,
                                           .container = container};
    return add_state(r, &state, start, err);
}

/* The kind of a new container: that of an enclosing one with the same key, so that recursive data
 * has few kinds, else a new kind. Objects in arrays have no key to compare. */
static pcol_status choose_child(struct pci_records *r, uint8_t tag, uint32_t key, uint32_t *child,
                                pcol_error *err)
{
    for (size_t i = r->depth; i-- > 1 && (tag == PCI_NODE_ARRAY || key != PCOL_NONE);) {
        const struct pci_record_state *start = &r->states[r->states[r->levels[i].state].start];
        if (start->container == tag && start->key == key) {
            *child = r->states[r->levels[i].state].start;
            return PCOL_OK;
        }
    }
    return add_start(r, tag, key, child, err);
}

static pcol_status add_member(struct pci_records *r, uint32_t key, uint8_t tag, uint32_t *number,
                              pcol_error *err)
{
    uint32_t start = current(r)->start;
    struct pci_record_state state = {.start = start,
                                     .key = key,
                                     .follower = PCOL_NONE,
                                     .string = PCOL_NONE,
                                     .tag = tag,
                                     .sibling = r->states[start].sibling};
    if (tag == PCI_NODE_OBJECT || tag == PCI_NODE_ARRAY)
        PCI_TRY(choose_child(r, tag, key, &state.child, err));
    PCI_TRY(add_state(r, &state, number, err));
    r->states[start].sibling = *number;
    return PCOL_OK;
}

/* The state of a member in the open container, or PCOL_NONE; *count: of the container's states. */
static uint32_t find_member(struct pci_records *r, uint32_t key, uint8_t tag, uint32_t *count)
{
    uint32_t number = current(r)->follower;
    *count = 0;
    if (number != PCOL_NONE && r->states[number].key == key && r->states[number].tag == tag)
        return number;
    number = r->states[current(r)->start].sibling;
    while (number != PCOL_NONE && (r->states[number].key != key || r->states[number].tag != tag)) {
        number = r->states[number].sibling;
        ++*count;
    }
    return number;
}

/* Go to the state of a member; *number is PCOL_NONE at the limit. `forced`: beyond it too. */
static pcol_status advance(struct pci_records *r, uint32_t key, uint8_t tag, int forced,
                           uint32_t *number, pcol_error *err)
{
    uint32_t count;
    *number = find_member(r, key, tag, &count);
    if (*number == PCOL_NONE) {
        if (!forced && (count >= MAX_MEMBERS || r->state_count >= MAX_STATES))
            return PCOL_OK;
        PCI_TRY(add_member(r, key, tag, number, err));
    }
    PCI_TRY(put(r, &current(r)->next, (int64_t)*number + 1, err));
    current(r)->follower = *number;
    top(r)->state = *number;
    return PCOL_OK;
}

static pcol_status open_level(struct pci_records *r, uint32_t start, pcol_error *err)
{
    PCI_TRY(PCI_GROW(r->levels, r->level_capacity, r->depth + 1, err));
    r->levels[r->depth++] = (struct pci_record_level){.state = start};
    return PCOL_OK;
}

pcol_status pci_records_begin(struct pci_records *records, struct pci_document *document,
                              uint64_t parent, const char *key, pcol_error *err)
{
    uint32_t start;
    *records = (struct pci_records){
        .document = document, .others = PCI_NO_NODE, .key = PCOL_NONE, .string = PCOL_NONE};
    PCI_TRY(pci_document_place(document, parent, key, err));
    PCI_TRY(pci_document_node(document, document->arrays, NULL, PCI_NODE_OBJECT, &records->element,
                              err));
    PCI_TRY(pci_document_node(document, records->element, "strings", PCI_NODE_ARRAY,
                              &records->strings_node, err));
    PCI_TRY(add_start(records, PCI_NODE_ARRAY, PCOL_NONE, &start, err));
    return open_level(records, start, err);
}

void pci_records_clear(struct pci_records *records)
{
    for (size_t i = 0; i < records->state_count; i++) {
        pci_column_buffer_free(records->states[i].next.buffer);
        pci_column_buffer_free(records->states[i].values.buffer);
        pci_column_buffer_free(records->states[i].elements.buffer);
    }
    pci_free(records->states);
    pci_free(records->levels);
    pci_free(records->codes);
    pci_free(records->strings);
    *records = (struct pci_records){.document = NULL};
}

/* ---- keys and values */

static int is_string(const struct pci_records *r, uint32_t string, pcol_str text)
{
    pcol_str known;
    if (string == PCOL_NONE)
        return 0;
    known = pci_string_pool_get(&r->document->builder->strings, string);
    return known.size == text.size && !memcmp(known.data, text.data, text.size);
}

pcol_status pci_records_key(struct pci_records *records, const struct pci_json *json,
                            pcol_error *err)
{
    struct pci_records *r = records;
    uint32_t number = current(r)->follower;
    if (number != PCOL_NONE && is_string(r, r->states[number].key, json->text)) {
        r->key = r->states[number].key;
        return PCOL_OK;
    }
    return pcol_builder_string(r->document->builder, json->text.data, json->text.size, &r->key,
                               err);
}

/* The number in `strings` of the current string, which is r->string. */
static pcol_status find_code(struct pci_records *r, uint32_t *code, pcol_error *err)
{
    if (r->string >= r->code_count) {
        PCI_TRY(PCI_GROW(r->codes, r->code_capacity, (size_t)r->string + 1, err));
        memset(r->codes + r->code_count, 0, (r->code_capacity - r->code_count) * sizeof *r->codes);
        r->code_count = r->code_capacity;
    }
    if (!r->codes[r->string]) {
        PCI_TRY(PCI_GROW(r->strings, r->string_capacity, r->string_count + 1, err));
        r->strings[r->string_count++] = r->string;
        r->codes[r->string] = (uint32_t)r->string_count;
    }
    *code = r->codes[r->string] - 1;
    return PCOL_OK;
}

static pcol_status put_string(struct pci_records *r, const struct pci_json *json, uint32_t number,
                              pcol_error *err)
{
    uint32_t code;
    r->string = r->states[number].string;
    if (!is_string(r, r->string, json->text))
        PCI_TRY(pcol_builder_string(r->document->builder, json->text.data, json->text.size,
                                    &r->string, err));
    r->states[number].string = r->string;
    PCI_TRY(find_code(r, &code, err));
    return put(r, &r->states[number].values, code, err);
}

/* Append the value as a node, as itself or as the member of an object. */
static pcol_status put_other(struct pci_records *r, struct pci_json *json, int as_member,
                             pcol_error *err)
{
    uint64_t parent, node;
    if (r->others == PCI_NO_NODE)
        PCI_TRY(
            pci_document_node(r->document, r->element, "others", PCI_NODE_ARRAY, &r->others, err));
    parent = r->others;
    if (as_member)
        PCI_TRY(pci_document_node(r->document, parent, NULL, PCI_NODE_OBJECT, &parent, err));
    return pci_json_to_nodes(json, r->document->builder, parent, as_member ? r->key : PCOL_NONE,
                             &node, err);
}

/* A value that has no state of its own. */
static pcol_status append_other(struct pci_records *r, struct pci_json *json, pcol_error *err)
{
    uint32_t number;
    PCI_TRY(advance(r, r->key, PCI_RECORD_OTHER, r->key == PCOL_NONE, &number, err));
    if (number != PCOL_NONE)
        return put_other(r, json, 0, err);
    PCI_TRY(advance(r, PCOL_NONE, PCI_RECORD_OTHER, 1, &number, err));
    return put_other(r, json, 1, err);
}

static pcol_status end_run(struct pci_records *r, pcol_error *err)
{
    struct pci_record_level *level = top(r);
    int64_t length = (int64_t)level->run;
    if (!length)
        return PCOL_OK;
    level->run = 0;
    return put(r, &r->states[level->state].values, length, err);
}

/* Append an element to the run of integers of an array. */
static pcol_status append_integer(struct pci_records *r, int64_t value, pcol_error *err)
{
    uint32_t number = top(r)->state;
    if (!top(r)->run)
        PCI_TRY(advance(r, PCOL_NONE, PCI_RECORD_RUN, 1, &number, err));
    top(r)->run++;
    struct pci_record_column *elements = &r->states[number].elements;
    if (!elements->buffer)
        PCI_TRY(make_buffer(r, elements, err));
    return put(r, elements, value, err);
}

/* Append a scalar, or enter a container; other values are appended as a whole. */
static pcol_status append(struct pci_records *r, struct pci_json *json, pcol_error *err)
{
    uint8_t tag = pci_json_node_tag(json), container = r->states[current(r)->start].container;
    uint32_t number;
    int64_t bits;
    r->string = PCOL_NONE;
    if (tag == PCI_NODE_INTEGER && container == PCI_NODE_ARRAY)
        return append_integer(r, json->integer, err);
    PCI_TRY(end_run(r, err));
    if (tag == PCI_NODE_BIG)
        return append_other(r, json, err);
    PCI_TRY(advance(r, r->key, tag, 0, &number, err));
    if (number == PCOL_NONE && tag == PCI_NODE_STRING)
        PCI_TRY(pcol_builder_string(r->document->builder, json->text.data, json->text.size,
                                    &r->string, err));
    if (number == PCOL_NONE)
        return append_other(r, json, err);
    switch (tag) {
    case PCI_NODE_INTEGER:
        return put(r, &r->states[number].values, json->integer, err);
    case PCI_NODE_DOUBLE:
        memcpy(&bits, &json->number, sizeof bits);
        return put(r, &r->states[number].values, bits, err);
    case PCI_NODE_STRING:
        return put_string(r, json, number, err);
    case PCI_NODE_OBJECT:
    case PCI_NODE_ARRAY:
        r->key = PCOL_NONE;
        return open_level(r, r->states[number].child, err);
    default:
        return PCOL_OK;
    }
}

pcol_status pci_records_enter(struct pci_records *records, const struct pci_json *json,
                              pcol_error *err)
{
    struct pci_records *r = records;
    uint32_t number;
    PCI_TRY(end_run(r, err));
    PCI_TRY(advance(r, r->key, pci_json_node_tag(json), 1, &number, err));
    r->key = PCOL_NONE;
    return open_level(r, r->states[number].child, err);
}

pcol_status pci_records_leave(struct pci_records *records, pcol_error *err)
{
    struct pci_records *r = records;
    PCI_TRY(end_run(r, err));
    PCI_TRY(put(r, &current(r)->next, 0, err));
    r->key = PCOL_NONE;
    r->depth--;
    return PCOL_OK;
}

pcol_status pci_records_value(struct pci_records *records, struct pci_json *json, pcol_error *err)
{
    struct pci_records *r = records;
    size_t outer = r->depth;
    PCI_TRY(append(r, json, err));
    while (r->depth > outer) {
        PCI_TRY(pci_json_next(json, err));
        if (json->type == PCI_JSON_OBJECT_END || json->type == PCI_JSON_ARRAY_END) {
            PCI_TRY(pci_records_leave(r, err));
            continue;
        }
        if (json->type == PCI_JSON_KEY) {
            PCI_TRY(pci_records_key(r, json, err));
            PCI_TRY(pci_json_next(json, err));
        }
        PCI_TRY(append(r, json, err));
    }
    r->key = PCOL_NONE;
    return PCOL_OK;
}

/* ---- the stored form */

static pcol_status store_number(struct pci_records *r, uint64_t state, const char *name,
                                uint8_t tag, int64_t bits, pcol_error *err)
{
    struct pci_new_node node = {.parent = state, .tag = tag, .text = PCOL_NONE, .as.i64 = bits};
    uint64_t row;
    PCI_TRY(pci_document_key(r->document, name, &node.key, err));
    return pci_builder_node(r->document->builder, &node, &row, err);
}

static pcol_status store_column(struct pci_records *r, uint64_t state, const char *name,
                                int doubles, const struct pci_record_column *c, pcol_error *err)
{
    if (!c->count)
        return PCOL_OK;
    if (!c->buffer)
        return store_number(r, state, name, doubles ? PCI_NODE_DOUBLE : PCI_NODE_INTEGER, c->value,
                            err);
    return pci_document_column(r->document, state, name,
                               doubles ? PCI_NODE_DOUBLES : PCI_NODE_INTEGERS, c->buffer, 0,
                               c->count, err);
}

static pcol_status store_state(struct pci_records *r, const struct pci_record_state *s,
                               uint64_t parent, pcol_error *err)
{
    struct pci_new_node key = {.tag = PCI_NODE_STRING, .text = s->key};
    uint64_t node, row;
    PCI_TRY(pci_document_node(r->document, parent, NULL, PCI_NODE_OBJECT, &node, err));
    PCI_TRY(store_number(r, node, "start", PCI_NODE_INTEGER, s->start, err));
    PCI_TRY(store_number(r, node, "tag", PCI_NODE_INTEGER, s->tag, err));
    if (s->tag == PCI_RECORD_START)
        PCI_TRY(store_number(r, node, "container", PCI_NODE_INTEGER, s->container, err));
    if (s->tag == PCI_NODE_OBJECT || s->tag == PCI_NODE_ARRAY)
        PCI_TRY(store_number(r, node, "child", PCI_NODE_INTEGER, s->child, err));
    if (s->tag != PCI_RECORD_START && s->key != PCOL_NONE) {
        key.parent = node;
        PCI_TRY(pci_document_key(r->document, "key", &key.key, err));
        PCI_TRY(pci_builder_node(r->document->builder, &key, &row, err));
    }
    PCI_TRY(store_column(r, node, "next", 0, &s->next, err));
    PCI_TRY(store_column(r, node, "values", s->tag == PCI_NODE_DOUBLE, &s->values, err));
    return store_column(r, node, "elements", 0, &s->elements, err);
}

pcol_status pci_records_end(struct pci_records *records, pcol_error *err)
{
    struct pci_records *r = records;
    uint64_t states, node;
    PCI_TRY(end_run(r, err));
    for (size_t i = 0; i < r->string_count; i++) {
        const struct pci_new_node string = {.parent = r->strings_node,
                                            .key = PCOL_NONE,
                                            .tag = PCI_NODE_STRING,
                                            .text = r->strings[i]};
        PCI_TRY(pci_builder_node(r->document->builder, &string, &node, err));
    }
    PCI_TRY(pci_document_node(r->document, r->element, "states", PCI_NODE_ARRAY, &states, err));
    for (size_t i = 0; i < r->state_count; i++)
        PCI_TRY(store_state(r, &r->states[i], states, err));
    return PCOL_OK;
}
