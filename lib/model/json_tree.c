/*
 * json_tree.c - JSON values as nodes of a pcol file, and back
 *
 * Reading: a stack of the containers that are open, one node for each value. Whether an array is
 * one of numbers of one kind shows at its end; until then its elements wait in a spool, which the
 * builder's memory limit holds for too. Writing: rows stand in pre-order, so it is one walk over
 * rows with a stack of the containers that are not closed yet.
 */
#include "model/json_tree.h"

#include "builder/builder.h"
#include "util/alloc.h"

#include <string.h>

/* ---- from JSON */

struct reading {
    struct pci_json *json;
    pcol_builder *builder;
    uint64_t *open; /* nodes of the containers that are open */
    size_t depth, capacity;
    uint32_t key; /* of the next value */
    struct pci_spill numbers;
};

static int is_minus_zero(const struct pci_json *json)
{
    return json->type == PCI_JSON_INT && !json->integer && json->text.size &&
           json->text.data[0] == '-';
}

/* What the current token is as an element of a typed array; PCI_NODE_NULL: nothing. */
static uint8_t number_tag(const struct pci_json *json)
{
    if (json->type == PCI_JSON_DOUBLE)
        return PCI_NODE_DOUBLES;
    return json->type == PCI_JSON_INT && !is_minus_zero(json) ? PCI_NODE_INTEGERS : PCI_NODE_NULL;
}

static uint8_t tag_of(const struct pci_json *json)
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

static uint64_t parent_of(const struct reading *r)
{
    return r->depth ? r->open[r->depth - 1] : PCI_NO_NODE;
}

static pcol_status add_node(struct reading *r, uint8_t tag, uint64_t parent, uint64_t *row,
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

static pcol_status open_container(struct reading *r, uint64_t node, pcol_error *err)
{
    if (pci_grow((void **)&r->open, &r->capacity, r->depth + 1, sizeof *r->open))
        return pci_fail_memory(err);
    r->open[r->depth++] = node;
    return PCOL_OK;
}

/* The numbers that wait become the typed array `node`, or, if tag says so, elements of the
 * array. */
static pcol_status put_numbers(struct reading *r, uint8_t tag, uint64_t node, int typed,
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

/* With an array's first element current, which is a number: read on while elements are of its kind.
 * *more is 0 if that was all: the array is done. Else the array is open, and its next element is
 * current. */
static pcol_status read_numbers(struct reading *r, uint64_t parent, uint64_t *node, int *more,
                                pcol_error *err)
{
    uint8_t tag = number_tag(r->json);
    uint32_t key = r->key;
    *more = 1;
    while (*more && number_tag(r->json) == tag) {
        uint64_t bits = (uint64_t)r->json->integer;
        if (tag == PCI_NODE_DOUBLES)
            memcpy(&bits, &r->json->number, sizeof bits);
        PCI_TRY(pci_spill_append_u64(&r->numbers, bits, err));
        PCI_TRY(pci_json_element(r->json, more, err));
    }
    r->key = key;
    PCI_TRY(add_node(r, *more ? PCI_NODE_ARRAY : tag, parent, node, err));
    PCI_TRY(put_numbers(r, tag, *node, !*more, err));
    r->key = PCOL_NONE;
    return *more ? open_container(r, *node, err) : PCOL_OK;
}

/* The value whose first token is current. *at_value says that it is an array that was opened, and
 * that its next element is current already. */
static pcol_status read_value(struct reading *r, uint64_t parent, uint64_t *node, int *at_value,
                              pcol_error *err)
{
    int more = 0;
    *at_value = 0;
    if (r->json->type == PCI_JSON_ARRAY) {
        PCI_TRY(pci_json_element(r->json, &more, err));
        if (more && number_tag(r->json) != PCI_NODE_NULL)
            return read_numbers(r, parent, node, at_value, err);
        PCI_TRY(add_node(r, PCI_NODE_ARRAY, parent, node, err));
        r->key = PCOL_NONE;
        *at_value = more;
        return more ? open_container(r, *node, err) : PCOL_OK;
    }
    int object = r->json->type == PCI_JSON_OBJECT;
    PCI_TRY(add_node(r, tag_of(r->json), parent, node, err));
    return object ? open_container(r, *node, err) : PCOL_OK;
}

/* Go to the next value, closing what ends on the way; *more = 0: the outermost value is over. */
static pcol_status next_value(struct reading *r, int *more, pcol_error *err)
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

static pcol_status read_tree(struct reading *r, uint64_t parent, uint64_t *node, pcol_error *err)
{
    int more, at_value;
    uint64_t child;
    PCI_TRY(read_value(r, parent, node, &at_value, err));
    for (;;) {
        if (!at_value)
            PCI_TRY(next_value(r, &more, err));
        if (!at_value && !more)
            return PCOL_OK;
        PCI_TRY(read_value(r, parent_of(r), &child, &at_value, err));
    }
}

pcol_status pci_json_to_nodes(struct pci_json *json, pcol_builder *builder, uint64_t parent,
                              uint32_t key, uint64_t *node, pcol_error *err)
{
    struct reading r = {.json = json, .builder = builder, .key = key};
    pcol_status status;
    *node = PCI_NO_NODE;
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

struct writing {
    struct pci_node_reader nodes;
    struct pci_json_writer *w;
    pci_json_place_fn place;
    void *context;
    struct level *open;
    size_t depth, capacity;
};

static pcol_status fail_node(uint64_t row, const char *what, pcol_error *err)
{
    return pci_fail_cell(err, PCOL_E_CORRUPT, "nodes", NULL, row, "%s", what);
}

static pcol_status put_elements(struct writing *wr, const struct pci_node_value *node,
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

static pcol_status begin(struct writing *wr, const struct pci_node_value *node, pcol_error *err)
{
    int object = node->tag == PCI_NODE_OBJECT;
    if (pci_grow((void **)&wr->open, &wr->capacity, wr->depth + 1, sizeof *wr->open))
        return pci_fail_memory(err);
    wr->open[wr->depth++] = (struct level){node->row, (uint8_t)object};
    pci_json_put_begin(wr->w, object ? '{' : '[', err);
    return PCOL_OK;
}

static void end(struct writing *wr, pcol_error *err)
{
    pci_json_put_end(wr->w, wr->open[--wr->depth].object ? '}' : ']', err);
}

static pcol_status put_value(struct writing *wr, const struct pci_node_value *node, pcol_error *err)
{
    static const char *const words[] = {"null", "false", "true"};
    switch ((int)node->tag) {
    case PCI_NODE_NULL:
    case PCI_NODE_FALSE:
    case PCI_NODE_TRUE:
        pci_json_put_raw(wr->w, words[node->tag], strlen(words[node->tag]), err);
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
        for (size_t i = 0; i < node->text.size; i++)
            if ((node->text.data[i] < '0' || node->text.data[i] > '9') &&
                (i || node->text.data[i] != '-'))
                return fail_node(node->row, "a big integer is not made of digits", err);
        pci_json_put_raw(wr->w, node->text.data, node->text.size, err);
        return node->text.size ? PCOL_OK : fail_node(node->row, "a big integer is empty", err);
    case PCI_NODE_ARRAY:
    case PCI_NODE_OBJECT:
        return begin(wr, node, err);
    case PCI_NODE_INTEGERS:
    case PCI_NODE_DOUBLES:
        return put_elements(wr, node, err);
    case PCI_NODE_TABLE:
    case PCI_NODE_ROW:
        if (wr->place)
            return wr->place(wr->context, node, wr->w, err);
        return fail_node(node->row, "nothing stands for this node", err);
    default:
        return fail_node(node->row, "raw bytes have no form in JSON", err);
    }
}

/* The members of `root`, row by row, until one whose parent is before it. */
static pcol_status write_tree(struct writing *wr, uint64_t root, pcol_error *err)
{
    struct pci_node_value node;
    PCI_TRY(pci_nodes_get(&wr->nodes, root, &node, err));
    PCI_TRY(put_value(wr, &node, err));
    for (uint64_t row = root + 1; wr->depth && row < wr->nodes.rows; row++) {
        PCI_TRY(pci_nodes_get(&wr->nodes, row, &node, err));
        if (node.parent == PCI_NO_NODE || node.parent < root)
            break;
        while (wr->depth && wr->open[wr->depth - 1].node != node.parent)
            end(wr, err);
        if (!wr->depth)
            return fail_node(row, "the rows do not stand in pre-order", err);
        if (wr->open[wr->depth - 1].object != node.has_key)
            return fail_node(row, "members of objects have keys, and elements of arrays none", err);
        if (node.has_key)
            pci_json_put_key_bytes(wr->w, node.key, err);
        PCI_TRY(put_value(wr, &node, err));
        if (wr->w->status != PCOL_OK)
            return wr->w->status;
    }
    while (wr->depth)
        end(wr, err);
    return wr->w->status;
}

pcol_status pci_json_from_nodes(const pcol_file *file, uint64_t node, struct pci_json_writer *w,
                                pci_json_place_fn place, void *context, pcol_error *err)
{
    struct writing wr = {.w = w, .place = place, .context = context};
    pcol_status status = pci_nodes_open(&wr.nodes, file, err);
    if (status == PCOL_OK)
        status = write_tree(&wr, node, err);
    pci_free(wr.open);
    return status;
}
