/*
 * records_write.c - JSON values of repeated shape as a state machine with columns: export
 *
 * The columns are read in the order in which they were written. Columns of one value have no
 * length, so that the number of steps between two stored numbers is limited: otherwise a file could
 * make the machine run forever. Nothing recurses.
 */
#include "formats/records.h"

#include "model/json_tree.h"
#include "util/alloc.h"
#include "util/control.h"

#include <string.h>

enum { STATE_LIMIT = 65536, STEPS_OF_WORK = 4096 };
/* Limit of all steps: there may be millions of stored numbers in a few bytes. */
#define FREE_STEPS (UINT64_C(1) << 28)
#define STEPS_PER_BYTE 64u

struct column {
    uint8_t tag; /* NULL: no numbers; INTEGER or DOUBLE: all numbers are `value` */
    int64_t value;
    struct pci_number_reader *reader; /* of others */
};

struct state {
    uint64_t start, child;
    uint8_t tag, container, has_key;
    char *key;
    size_t key_size;
    struct column next, values, elements;
};

struct writer {
    const struct pci_node_reader *nodes;
    struct pci_json_writer *json;
    uint64_t element, strings, string_count, other; /* nodes; other: the next one */
    uint64_t others;
    struct state *states;
    size_t state_count;
    uint64_t *levels; /* states of the open containers */
    size_t depth, level_capacity;
    uint64_t idle; /* steps since a stored number was read */
    uint64_t *steps;
};

static pcol_status corrupt(uint64_t node, const char *problem, pcol_error *err)
{
    return pci_corrupt(err, "nodes", NULL, node, "%s", problem);
}

/* ---- loading */

static pcol_status load_column(const struct writer *w, const struct pci_node_value *node,
                               struct column *column, pcol_error *err)
{
    int is_numbers;
    column->tag = node->tag;
    column->value = node->integer;
    if (node->tag == PCI_NODE_DOUBLE)
        memcpy(&column->value, &node->number, sizeof column->value);
    if (node->tag == PCI_NODE_INTEGER || node->tag == PCI_NODE_DOUBLE)
        return PCOL_OK;
    if (column->reader || (node->tag != PCI_NODE_INTEGERS && node->tag != PCI_NODE_DOUBLES))
        return corrupt(node->row, "a column of a state must be numbers, once", err);
    PCI_TRY(PCI_MALLOC(column->reader, 1, err));
    return pci_number_reader_open(column->reader, w->nodes, node->row, &is_numbers, err);
}

static pcol_status load_key(struct state *state, const struct pci_node_value *node, pcol_error *err)
{
    if (node->tag != PCI_NODE_STRING || state->has_key)
        return corrupt(node->row, "the key of a state must be a string, once", err);
    PCI_TRY(PCI_MALLOC(state->key, node->text.size + 1, err));
    if (node->text.size)
        memcpy(state->key, node->text.data, node->text.size);
    state->key_size = node->text.size;
    state->has_key = 1;
    return PCOL_OK;
}

static pcol_status load_member(const struct writer *w, struct state *state,
                               const struct pci_node_value *node, pcol_error *err)
{
    int is_integer = node->tag == PCI_NODE_INTEGER && node->integer >= 0;
    if (!node->has_key)
        return corrupt(node->row, "a state must be an object", err);
    if (pci_str_is(node->key, "key"))
        return load_key(state, node, err);
    if (pci_str_is(node->key, "next"))
        return load_column(w, node, &state->next, err);
    if (pci_str_is(node->key, "values"))
        return load_column(w, node, &state->values, err);
    if (pci_str_is(node->key, "elements"))
        return load_column(w, node, &state->elements, err);
    if (pci_str_is(node->key, "start") && is_integer)
        state->start = (uint64_t)node->integer;
    else if (pci_str_is(node->key, "child") && is_integer)
        state->child = (uint64_t)node->integer;
    else if (pci_str_is(node->key, "tag") && is_integer && node->integer <= PCI_NODE_ROW)
        state->tag = (uint8_t)node->integer;
    else if (pci_str_is(node->key, "container") && is_integer && node->integer <= PCI_NODE_ROW)
        state->container = (uint8_t)node->integer;
    else
        return corrupt(node->row, "unknown member of a state", err);
    return PCOL_OK;
}

static pcol_status load_state(const struct writer *w, uint64_t row, struct state *state,
                              pcol_error *err)
{
    struct pci_node_value node;
    uint64_t member;
    state->start = state->child = UINT64_MAX;
    PCI_TRY(pci_nodes_first(w->nodes, row, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(w->nodes, member, &node, err));
        PCI_TRY(load_member(w, state, &node, err));
        PCI_TRY(pci_nodes_next(w->nodes, row, &member, err));
    }
    return PCOL_OK;
}

static int is_start(const struct writer *w, uint64_t state)
{
    return state < w->state_count && w->states[state].tag == PCI_RECORD_START;
}

/* Whether a state of this tag is possible in its container. */
static int is_valid(const struct writer *w, const struct state *s)
{
    if (!is_start(w, s->start))
        return 0;
    int in_object = w->states[s->start].container == PCI_NODE_OBJECT;
    switch (s->tag) {
    case PCI_RECORD_START:
        return s == &w->states[s->start] && (in_object || s->container == PCI_NODE_ARRAY);
    case PCI_NODE_OBJECT:
    case PCI_NODE_ARRAY:
        return s->has_key == in_object && is_start(w, s->child) &&
               w->states[s->child].container == s->tag;
    case PCI_RECORD_RUN:
        return !in_object && !s->has_key;
    case PCI_RECORD_OTHER:
        return in_object || !s->has_key;
    default:
        return s->tag <= PCI_NODE_STRING && s->has_key == in_object;
    }
}

static pcol_status load_states(struct writer *w, uint64_t states, pcol_error *err)
{
    size_t capacity = 0;
    uint64_t row;
    PCI_TRY(pci_nodes_first(w->nodes, states, &row, err));
    while (row != PCI_NO_NODE) {
        if (w->state_count >= STATE_LIMIT)
            return corrupt(row, "too many states", err);
        PCI_TRY(PCI_GROW(w->states, capacity, w->state_count + 1, err));
        memset(&w->states[w->state_count], 0, sizeof *w->states);
        PCI_TRY(load_state(w, row, &w->states[w->state_count++], err));
        PCI_TRY(pci_nodes_next(w->nodes, states, &row, err));
    }
    for (size_t i = 0; i < w->state_count; i++)
        if (!is_valid(w, &w->states[i]))
            return corrupt(states, "a state does not fit its container", err);
    return w->state_count ? PCOL_OK : corrupt(states, "there is no state", err);
}

/* The strings are leaves, so that they are consecutive rows. */
static pcol_status load_element(struct writer *w, pcol_error *err)
{
    struct pci_node_value node;
    uint64_t states = PCI_NO_NODE, row;
    w->others = w->other = w->strings = PCI_NO_NODE;
    PCI_TRY(pci_nodes_first(w->nodes, w->element, &row, err));
    while (row != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(w->nodes, row, &node, err));
        uint64_t *to = pci_str_is(node.key, "strings")  ? &w->strings
                       : pci_str_is(node.key, "others") ? &w->others
                       : pci_str_is(node.key, "states") ? &states
                                                        : NULL;
        if (!node.has_key || node.tag != PCI_NODE_ARRAY || !to || *to != PCI_NO_NODE)
            return corrupt(row, "not a member of a value in columns", err);
        *to = row;
        PCI_TRY(pci_nodes_next(w->nodes, w->element, &row, err));
    }
    if (states == PCI_NO_NODE || w->strings == PCI_NO_NODE)
        return corrupt(w->element, "a value in columns needs strings and states", err);
    if (w->others != PCI_NO_NODE)
        PCI_TRY(pci_nodes_first(w->nodes, w->others, &w->other, err));
    return load_states(w, states, err);
}

pcol_status pci_records_find(const struct pci_node_reader *nodes,
                             const struct pci_node_value *element, int *found, pcol_error *err)
{
    struct pci_node_value first;
    uint64_t member;
    *found = 0;
    if (element->tag != PCI_NODE_OBJECT)
        return PCOL_OK;
    PCI_TRY(pci_nodes_first(nodes, element->row, &member, err));
    if (member == PCI_NO_NODE)
        return PCOL_OK;
    PCI_TRY(pci_nodes_get(nodes, member, &first, err));
    *found = first.has_key && pci_str_is(first.key, "strings");
    return PCOL_OK;
}

/* ---- writing */

static pcol_status next_number(struct writer *w, struct column *column, int64_t *bits,
                               pcol_error *err)
{
    int is_double;
    *bits = column->value;
    if (column->tag == PCI_NODE_NULL)
        return corrupt(w->element, "a state has no number that it needs", err);
    if (!column->reader)
        return PCOL_OK;
    w->idle = 0;
    return pci_number_reader_next(column->reader, bits, &is_double, err);
}

static pcol_status put_string(struct writer *w, int64_t code, pcol_error *err)
{
    struct pci_node_value node;
    uint64_t row = w->strings + 1 + (uint64_t)code;
    if (code < 0 || (uint64_t)code >= w->nodes->rows)
        return corrupt(w->strings, "there are fewer strings", err);
    PCI_TRY(pci_nodes_get(w->nodes, row, &node, err));
    if (node.parent != w->strings || node.tag != PCI_NODE_STRING)
        return corrupt(w->strings, "there are fewer strings", err);
    pci_json_put_string(w->json, node.text, err);
    return w->json->status;
}

static pcol_status count_step(struct writer *w, pcol_error *err)
{
    if (++*w->steps % STEPS_OF_WORK != 0)
        return PCOL_OK;
    if (*w->steps > FREE_STEPS && *w->steps / STEPS_PER_BYTE > w->nodes->file->size)
        return pci_fail_cell(err, PCOL_E_LIMIT, "nodes", NULL, w->element,
                             "implausibly many steps of a value in columns");
    return pci_work(STEPS_OF_WORK, err);
}

static pcol_status put_run(struct writer *w, struct state *s, pcol_error *err)
{
    int64_t length, value;
    PCI_TRY(next_number(w, &s->values, &length, err));
    if (!s->elements.reader)
        return corrupt(w->element, "a run has no elements", err);
    for (int64_t i = 0; i < length; i++) {
        PCI_TRY(next_number(w, &s->elements, &value, err));
        PCI_TRY(count_step(w, err));
        pci_json_put_int(w->json, value, err);
        if (w->json->status != PCOL_OK)
            return w->json->status;
    }
    return PCOL_OK;
}

static pcol_status put_tree(struct writer *w, uint64_t row, pcol_error *err)
{
    return pci_json_from_nodes(w->nodes->file, row, w->json, NULL, NULL, err);
}

/* The next element of `others`: a value, or an object whose members are members here. */
static pcol_status put_other(struct writer *w, const struct state *s, pcol_error *err)
{
    struct pci_node_value node;
    uint64_t row = w->other, member;
    if (row == PCI_NO_NODE)
        return corrupt(w->element, "there are fewer other values", err);
    w->idle = 0;
    PCI_TRY(pci_nodes_next(w->nodes, w->others, &w->other, err));
    if (s->has_key || w->states[s->start].container == PCI_NODE_ARRAY)
        return put_tree(w, row, err);
    PCI_TRY(pci_nodes_get(w->nodes, row, &node, err));
    if (node.tag != PCI_NODE_OBJECT)
        return corrupt(row, "other members must be an object", err);
    PCI_TRY(pci_nodes_first(w->nodes, row, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(w->nodes, member, &node, err));
        pci_json_put_key_bytes(w->json, node.key, err);
        PCI_TRY(put_tree(w, member, err));
        PCI_TRY(pci_nodes_next(w->nodes, row, &member, err));
    }
    return w->json->status;
}

static pcol_status put_value(struct writer *w, struct state *s, pcol_error *err)
{
    static const char *const words[] = {"null", "false", "true"};
    int64_t bits;
    if (s->tag == PCI_RECORD_RUN)
        return put_run(w, s, err);
    if (s->tag == PCI_RECORD_OTHER)
        return put_other(w, s, err);
    if (s->tag <= PCI_NODE_TRUE) {
        pci_json_put_raw(w->json, words[s->tag], strlen(words[s->tag]), err);
        return w->json->status;
    }
    if (s->tag == PCI_NODE_OBJECT || s->tag == PCI_NODE_ARRAY) {
        PCI_TRY(PCI_GROW(w->levels, w->level_capacity, w->depth + 1, err));
        w->levels[w->depth++] = s->child;
        pci_json_put_begin(w->json, s->tag == PCI_NODE_OBJECT ? '{' : '[', err);
        return w->json->status;
    }
    PCI_TRY(next_number(w, &s->values, &bits, err));
    if (s->tag == PCI_NODE_STRING)
        return put_string(w, bits, err);
    if (s->tag == PCI_NODE_INTEGER)
        pci_json_put_int(w->json, bits, err);
    else
        pci_json_put_double(w->json, pci_number_value(bits, 1), err);
    return w->json->status;
}

/* Go to the next state of the innermost container, or end it. */
static pcol_status step(struct writer *w, pcol_error *err)
{
    struct state *from = &w->states[w->levels[w->depth - 1]], *to;
    int64_t next;
    PCI_TRY(count_step(w, err));
    if (++w->idle > STATE_LIMIT)
        return corrupt(w->element, "the states do not end", err);
    PCI_TRY(next_number(w, &from->next, &next, err));
    if (next < 0 || (uint64_t)next > w->state_count || (!next && w->depth == 1))
        return corrupt(w->element, "there is no such state", err);
    if (!next) {
        pci_json_put_end(w->json, w->states[from->start].container == PCI_NODE_OBJECT ? '}' : ']',
                         err);
        w->depth--;
        return w->json->status;
    }
    to = &w->states[next - 1];
    if (to->start != from->start || to->tag == PCI_RECORD_START)
        return corrupt(w->element, "a state is followed by one of another container", err);
    w->levels[w->depth - 1] = (uint64_t)next - 1;
    if (to->has_key)
        pci_json_put_key_bytes(w->json, (pcol_str){to->key, to->key_size}, err);
    return put_value(w, to, err);
}

static pcol_status write_element(struct writer *w, pcol_error *err)
{
    PCI_TRY(load_element(w, err));
    if (w->states[0].tag != PCI_RECORD_START || w->states[0].container != PCI_NODE_ARRAY)
        return corrupt(w->element, "the first state must be the start of an array", err);
    PCI_TRY(PCI_GROW(w->levels, w->level_capacity, 1, err));
    w->levels[w->depth++] = 0;
    do
        PCI_TRY(step(w, err));
    while (w->depth > 1);
    return PCOL_OK;
}

pcol_status pci_records_write(const struct pci_node_reader *nodes, uint64_t element,
                              struct pci_json_writer *json, uint64_t *steps, pcol_error *err)
{
    struct writer w = {.nodes = nodes, .element = element, .json = json, .steps = steps};
    pcol_status status = write_element(&w, err);
    for (size_t i = 0; i < w.state_count; i++) {
        pci_free(w.states[i].key);
        pci_free(w.states[i].next.reader);
        pci_free(w.states[i].values.reader);
        pci_free(w.states[i].elements.reader);
    }
    pci_free(w.states);
    pci_free(w.levels);
    return status;
}
