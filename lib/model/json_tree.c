/*
 * json_tree.c - conversion between JSON values and nodes of a pcol file
 *
 * Reading keeps a stack of open containers and adds one node per value. Numbers of an array are
 * buffered in a spill, which counts towards the builder's memory limit, until the array proves to
 * have one kind of number or not. Writing walks the rows, which are in pre-order, with a stack of
 * open containers. Nothing recurses. Tests: suite nested, tests/unit/test_value_trees.c.
 */
#include "model/json_tree.h"

#include "builder/builder.h"
#include "util/alloc.h"

#include <string.h>

/* ---- from JSON */

struct tree_reader {
    struct pci_json *json;
    pcol_builder *builder;
    uint64_t *open; /* nodes of the open containers */
    size_t depth, capacity;
    uint32_t key; /* of the next value */
    struct pci_spill numbers;
};

static int is_minus_zero(const struct pci_json *json)
{
    return json->type == PCI_JSON_INT && !json->integer && json->text.size &&
           json->text.data[0] == '-';
}

/* The tag of a typed array that the current token fits; PCI_NODE_NULL: none. */
static uint8_t get_number_tag(const struct pci_json *json)
{
    if (json->type == PCI_JSON_DOUBLE)
        return PCI_NODE_DOUBLES;
    return json->type == PCI_JSON_INT && !is_minus_zero(json) ? PCI_NODE_INTEGERS : PCI_NODE_NULL;
}

uint8_t pci_json_node_tag(const struct pci_json *json)
{
    switch ((int)json->type) {
    case PCI_JSON_OBJECT:
        return PCI_NODE_OBJECT;
    case PCI_JSON_ARRAY:
        return PCI_NODE_ARRAY;
    case PCI_JSON_STRING:
        return PCI_NODE_STRING;
    case PCI_JSON_INT:
        return is_minus_zero(json) ? PCI_NODE_BIG : PCI_NODE_INTEGER;
    case PCI_JSON_BIG:
        return PCI_NODE_BIG;
    case PCI_JSON_DOUBLE:
        return PCI_NODE_DOUBLE;
    case PCI_JSON_TRUE:
        return PCI_NODE_TRUE;
    case PCI_JSON_FALSE:
        return PCI_NODE_FALSE;
    default:
        return PCI_NODE_NULL;
    }
}

static uint64_t get_parent(const struct tree_reader *r)
{
    return r->depth ? r->open[r->depth - 1] : PCI_NO_NODE;
}

static pcol_status add_node(struct tree_reader *r, uint8_t tag, uint64_t parent, uint64_t *row,
                            pcol_error *err)
{
    struct pci_new_node node = {.parent = parent, .key = r->key, .tag = tag, .text = PCOL_NONE};
    const struct pci_json *json = r->json;
    if (tag == PCI_NODE_STRING || tag == PCI_NODE_BIG)
        PCI_TRY(pcol_builder_string(r->builder, json->text.data, json->text.size, &node.text, err));
    else if (tag == PCI_NODE_DOUBLE)
        node.as.f64 = json->number;
    else if (tag == PCI_NODE_INTEGER)
        node.as.i64 = json->integer;
    return pci_builder_node(r->builder, &node, row, err);
}

static pcol_status open_container(struct tree_reader *r, uint64_t node, pcol_error *err)
{
    PCI_TRY(PCI_GROW(r->open, r->capacity, r->depth + 1, err));
    r->open[r->depth++] = node;
    return PCOL_OK;
}

/* Writes the buffered numbers: as elements of the typed array `node`, or else as nodes. */
static pcol_status write_numbers(struct tree_reader *r, uint8_t tag, uint64_t node, int typed,
                                 pcol_error *err)
{
    uint64_t size = pci_spill_size(&r->numbers), row;
    struct pci_new_node element = {.parent = node, .key = PCOL_NONE, .text = PCOL_NONE};
    element.tag = tag == PCI_NODE_DOUBLES ? PCI_NODE_DOUBLE : PCI_NODE_INTEGER;
    for (uint64_t at = 0; at < size; at += 8) {
        int64_t bits;
        double number;
        PCI_TRY(pci_spill_read(&r->numbers, at, &bits, sizeof bits, err));
        memcpy(&number, &bits, sizeof number);
        element.as.i64 = bits;
        if (!typed)
            PCI_TRY(pci_builder_node(r->builder, &element, &row, err));
        else if (tag == PCI_NODE_DOUBLES)
            PCI_TRY(pci_builder_node_double(r->builder, node, number, err));
        else
            PCI_TRY(pci_builder_node_integer(r->builder, node, bits, err));
    }
    pci_spill_clear(&r->numbers);
    return PCOL_OK;
}

/* Reads an array whose current first element is a number, while elements are of its kind. *more is
 * 0 if the array ended; otherwise the array is open and its next element is current. */
static pcol_status read_numbers(struct tree_reader *r, uint64_t parent, uint64_t *node, int *more,
                                pcol_error *err)
{
    uint8_t tag = get_number_tag(r->json);
    uint32_t key = r->key;
    *more = 1;
    while (*more && get_number_tag(r->json) == tag) {
        uint64_t bits = (uint64_t)r->json->integer;
        if (tag == PCI_NODE_DOUBLES)
            memcpy(&bits, &r->json->number, sizeof bits);
        PCI_TRY(pci_spill_append_u64(&r->numbers, bits, err));
        PCI_TRY(pci_json_element(r->json, more, err));
    }
    r->key = key;
    PCI_TRY(add_node(r, *more ? PCI_NODE_ARRAY : tag, parent, node, err));
    PCI_TRY(write_numbers(r, tag, *node, !*more, err));
    r->key = PCOL_NONE;
    return *more ? open_container(r, *node, err) : PCOL_OK;
}

/* Reads the value whose first token is current. *at_value: it is an array that was opened, and its
 * next element is current. */
static pcol_status read_value(struct tree_reader *r, uint64_t parent, uint64_t *node, int *at_value,
                              pcol_error *err)
{
    int more = 0;
    *at_value = 0;
    if (r->json->type == PCI_JSON_ARRAY) {
        PCI_TRY(pci_json_element(r->json, &more, err));
        if (more && get_number_tag(r->json) != PCI_NODE_NULL)
            return read_numbers(r, parent, node, at_value, err);
        PCI_TRY(add_node(r, PCI_NODE_ARRAY, parent, node, err));
        r->key = PCOL_NONE;
        *at_value = more;
        return more ? open_container(r, *node, err) : PCOL_OK;
    }
    int object = r->json->type == PCI_JSON_OBJECT;
    PCI_TRY(add_node(r, pci_json_node_tag(r->json), parent, node, err));
    return object ? open_container(r, *node, err) : PCOL_OK;
}

/* Advances to the next value and closes containers that end before it; *more = 0: end of the
 * outermost value. */
static pcol_status next_value(struct tree_reader *r, int *more, pcol_error *err)
{
    *more = 0;
    while (r->depth && !*more) {
        struct pci_json *json = r->json;
        PCI_TRY(pci_json_next(json, err));
        if (json->type == PCI_JSON_OBJECT_END || json->type == PCI_JSON_ARRAY_END) {
            r->depth--;
            continue;
        }
        *more = 1;
        r->key = PCOL_NONE;
        if (json->type == PCI_JSON_KEY) {
            PCI_TRY(
                pcol_builder_string(r->builder, json->text.data, json->text.size, &r->key, err));
            PCI_TRY(pci_json_next(json, err));
        }
    }
    return PCOL_OK;
}

static pcol_status read_tree(struct tree_reader *r, uint64_t parent, uint64_t *node,
                             pcol_error *err)
{
    int more, at_value;
    uint64_t child;
    PCI_TRY(read_value(r, parent, node, &at_value, err));
    for (;;) {
        if (!at_value)
            PCI_TRY(next_value(r, &more, err));
        if (!at_value && !more)
            return PCOL_OK;
        PCI_TRY(read_value(r, get_parent(r), &child, &at_value, err));
    }
}

pcol_status pci_json_to_nodes(struct pci_json *json, pcol_builder *builder, uint64_t parent,
                              uint32_t key, uint64_t *node, pcol_error *err)
{
    struct tree_reader r = {.json = json, .builder = builder, .key = key};
    pcol_status status;
    *node = PCI_NO_NODE;
    if (json->type != PCI_JSON_OBJECT && json->type != PCI_JSON_ARRAY)
        return add_node(&r, pci_json_node_tag(json), parent, node, err);
    pci_spill_init(&r.numbers, &builder->store);
    status = read_tree(&r, parent, node, err);
    pci_spill_clear(&r.numbers);
    pci_free(r.open);
    return status;
}

/* ---- to JSON */

struct level {
    uint64_t node;
    uint8_t object;
};

struct tree_writer {
    struct pci_node_reader nodes;
    struct pci_json_writer *w;
    pci_json_node_fn place;
    void *context;
    struct level *open;
    size_t depth, capacity;
};

static pcol_status fail_node(uint64_t row, const char *problem, pcol_error *err)
{
    return pci_corrupt(err, "nodes", NULL, row, "%s", problem);
}

static pcol_status write_elements(struct tree_writer *wr, const struct pci_node_value *node,
                                  pcol_error *err)
{
    int64_t values[256];
    uint64_t count = node->end - node->first;
    pci_json_put_begin(wr->w, '[', err);
    for (uint64_t at = 0; at < count;) {
        size_t n = count - at < 256 ? (size_t)(count - at) : 256;
        PCI_TRY(pci_nodes_elements(&wr->nodes, node, at, n, values, err));
        for (size_t i = 0; i < n; i++) {
            double number;
            memcpy(&number, &values[i], sizeof number);
            if (node->tag == PCI_NODE_DOUBLES)
                pci_json_put_double(wr->w, number, err);
            else
                pci_json_put_int(wr->w, values[i], err);
        }
        at += n;
        if (wr->w->status != PCOL_OK)
            return wr->w->status;
    }
    pci_json_put_end(wr->w, ']', err);
    return PCOL_OK;
}

static pcol_status begin_container(struct tree_writer *wr, const struct pci_node_value *node,
                                   pcol_error *err)
{
    int object = node->tag == PCI_NODE_OBJECT;
    PCI_TRY(PCI_GROW(wr->open, wr->capacity, wr->depth + 1, err));
    wr->open[wr->depth++] = (struct level){node->row, (uint8_t)object};
    pci_json_put_begin(wr->w, object ? '{' : '[', err);
    return PCOL_OK;
}

static void end_container(struct tree_writer *wr, pcol_error *err)
{
    pci_json_put_end(wr->w, wr->open[--wr->depth].object ? '}' : ']', err);
}

static pcol_status write_value(struct tree_writer *wr, const struct pci_node_value *node,
                               pcol_error *err)
{
    static const char *const literals[] = {"null", "false", "true"};
    switch ((int)node->tag) {
    case PCI_NODE_NULL:
    case PCI_NODE_FALSE:
    case PCI_NODE_TRUE:
        pci_json_put_raw(wr->w, literals[node->tag], strlen(literals[node->tag]), err);
        return PCOL_OK;
    case PCI_NODE_INTEGER:
        pci_json_put_int(wr->w, node->integer, err);
        return PCOL_OK;
    case PCI_NODE_DOUBLE:
        pci_json_put_double(wr->w, node->number, err);
        return PCOL_OK;
    case PCI_NODE_STRING:
        pci_json_put_string(wr->w, node->text, err);
        return PCOL_OK;
    case PCI_NODE_BIG:
        pci_json_put_raw(wr->w, node->text.data, node->text.size, err);
        return PCOL_OK;
    case PCI_NODE_ARRAY:
    case PCI_NODE_OBJECT:
        return begin_container(wr, node, err);
    case PCI_NODE_INTEGERS:
    case PCI_NODE_DOUBLES:
        return write_elements(wr, node, err);
    case PCI_NODE_TABLE:
    case PCI_NODE_ROW:
        if (wr->place)
            return wr->place(wr->context, node, wr->w, err);
        return fail_node(node->row, "this node has no value in JSON", err);
    default:
        return fail_node(node->row, "bytes have no value in JSON", err);
    }
}

/* Writes `root` and its descendants, which follow it in pre-order. */
static pcol_status write_tree(struct tree_writer *wr, uint64_t root, pcol_error *err)
{
    struct pci_node_value node;
    PCI_TRY(pci_nodes_get(&wr->nodes, root, &node, err));
    PCI_TRY(write_value(wr, &node, err));
    for (uint64_t row = root + 1; wr->depth && row < wr->nodes.rows; row++) {
        PCI_TRY(pci_nodes_get(&wr->nodes, row, &node, err));
        if (node.parent == PCI_NO_NODE || node.parent < root)
            break;
        while (wr->depth && wr->open[wr->depth - 1].node != node.parent)
            end_container(wr, err);
        if (!wr->depth)
            return fail_node(row, "the rows are not in pre-order", err);
        if (wr->open[wr->depth - 1].object != node.has_key)
            return fail_node(
                row, "a member of an object needs a key, an element of an array has none", err);
        if (node.has_key)
            pci_json_put_key_bytes(wr->w, node.key, err);
        PCI_TRY(write_value(wr, &node, err));
        if (wr->w->status != PCOL_OK)
            return wr->w->status;
    }
    while (wr->depth)
        end_container(wr, err);
    return wr->w->status;
}

pcol_status pci_json_from_nodes(const pcol_file *file, uint64_t node, struct pci_json_writer *w,
                                pci_json_node_fn place, void *context, pcol_error *err)
{
    struct tree_writer wr = {.w = w, .place = place, .context = context};
    pcol_status status = pci_nodes_open(&wr.nodes, file, err);
    PCI_THEN(status, write_tree(&wr, node, err));
    pci_free(wr.open);
    return status;
}
