/*
 * flatten.c - converts structured values to flat items
 *
 * The value is a tree in an array of nodes, parents before members. The array is processed from its
 * end, so that all members of a container are done before it: an object has its items (a key and
 * value for everything inside), an array has its text.
 */
#include "formats/perun/flatten.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/sort.h"
#include "util/strbuf.h"

#include <string.h>

#define MAX_NODES (UINT64_C(1) << 26)
/* of a value in any file; values with more parts require a larger file */
#define MAX_PARTS (UINT64_C(1) << 20)

static pcol_status copy_text(struct pci_arena *arena, const char *data, size_t size, pcol_str *text,
                             pcol_error *err)
{
    char *copy;
    PCI_TRY(pci_arena_alloc(arena, size, &copy, err));
    if (size)
        memcpy(copy, data, size);
    *text = (pcol_str){copy, size};
    return PCOL_OK;
}

/* ---- scalars */

pcol_status pci_flat_text(const struct pci_value *value, struct pci_strbuf *to, pcol_error *err)
{
    char text[PCI_FLAT_NUMBER];
    switch (value->kind) {
    case PCI_VALUE_STRING:
    case PCI_VALUE_BIG:
    case PCI_VALUE_TEXT:
        return pci_strbuf_append(to, value->as.text.data, value->as.text.size, err);
    case PCI_VALUE_INTEGER:
        return pci_strbuf_append(to, text, pci_flat_integer(value->as.i64, text), err);
    case PCI_VALUE_DOUBLE:
        return pci_strbuf_append(to, text, pci_flat_double(value->as.f64, text), err);
    case PCI_VALUE_BOOL:
        return pci_strbuf_append(to, value->as.i64 ? "True" : "False", value->as.i64 ? 4 : 5, err);
    default: /* null, and tables; others have a text by now */
        return pci_strbuf_append(to, "None", 4, err);
    }
}

/* ---- tree */

struct pci_flat_node {
    pcol_str key;
    struct pci_value value;
    uint32_t parent, next; /* next member of the parent; PCOL_NONE: none */
    uint32_t first, last;  /* members */
    uint8_t shape;
    uint8_t named;           /* an array of name-value pairs, treated as an object */
    size_t item, item_count; /* of an object */
};

struct flattening {
    struct pci_arena *arena;
    struct pci_flat_node *nodes;
    size_t count;
    struct pci_flat_item *items;
    size_t item_count, item_capacity;
    struct pci_strbuf text;
    uint32_t *order; /* of items being joined */
    size_t order_capacity;
};

pcol_status pci_flat_add(struct pci_flat_tree *tree, uint32_t parent,
                         const struct pci_member *member, enum pci_flat_shape shape,
                         pcol_error *err)
{
    if (tree->count >= MAX_NODES)
        return pci_fail(err, PCOL_E_LIMIT, "a value has more than %llu members",
                        (unsigned long long)MAX_NODES);
    PCI_TRY(PCI_GROW(tree->nodes, tree->capacity, tree->count + 1, err));
    uint32_t id = (uint32_t)tree->count++;
    struct pci_flat_node *n = &tree->nodes[id];
    memset(n, 0, sizeof *n);
    n->key = member->key;
    n->value = member->value;
    n->parent = parent;
    n->next = n->first = n->last = PCOL_NONE;
    n->shape = (uint8_t)shape;
    if (parent == PCOL_NONE)
        return PCOL_OK;
    struct pci_flat_node *p = &tree->nodes[parent];
    if (p->last == PCOL_NONE)
        p->first = id;
    else
        tree->nodes[p->last].next = id;
    p->last = id;
    return PCOL_OK;
}

void pci_flat_clear(struct pci_flat_tree *tree)
{
    pci_free(tree->nodes);
    *tree = (struct pci_flat_tree){0};
}

/* ---- forms of values */

/* Whether a node is an object with exactly the members name and value. */
static int is_pair(const struct flattening *w, const struct pci_flat_node *n)
{
    if (n->shape != PCI_FLAT_OBJECT || n->first == PCOL_NONE)
        return 0;
    const struct pci_flat_node *a = &w->nodes[n->first];
    if (a->next == PCOL_NONE || a->next != n->last)
        return 0;
    const struct pci_flat_node *b = &w->nodes[a->next];
    return (pci_str_is(a->key, "name") && pci_str_is(b->key, "value")) ||
           (pci_str_is(b->key, "name") && pci_str_is(a->key, "value"));
}

/* Find the arrays of name-value pairs. */
static void find_pair_arrays(struct flattening *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct pci_flat_node *n = &w->nodes[i];
        if (n->shape != PCI_FLAT_ARRAY || n->first == PCOL_NONE)
            continue;
        n->named = 1;
        for (uint32_t m = n->first; m != PCOL_NONE; m = w->nodes[m].next)
            n->named = n->named && is_pair(w, &w->nodes[m]);
    }
}

/* ---- items */

static pcol_status add_item(struct flattening *w, pcol_str key, const struct pci_value *value,
                            pcol_error *err)
{
    PCI_TRY(PCI_GROW(w->items, w->item_capacity, w->item_count + 1, err));
    w->items[w->item_count++] = (struct pci_flat_item){key, *value};
    return PCOL_OK;
}

static int compare_items(const void *a, const void *b, const void *context)
{
    const struct pci_flat_item *items = context;
    return pci_flat_compare(items[*(const uint32_t *)a].key, items[*(const uint32_t *)b].key);
}

/* Sort w->order[0..count) by the items' keys. */
static pcol_status sort_items(struct flattening *w, const struct pci_flat_item *items, size_t count,
                              pcol_error *err)
{
    PCI_TRY(PCI_GROW(w->order, w->order_capacity, count, err));
    for (size_t i = 0; i < count; i++)
        w->order[i] = (uint32_t)i;
    return pci_sort(w->order, count, sizeof *w->order, compare_items, items, err);
}

/* Join the texts of items with colons. */
static pcol_status join_items(struct flattening *w, size_t first, size_t count, int sorted,
                              struct pci_value *joined, pcol_error *err)
{
    w->text.size = 0;
    if (!w->items) /* no items at all */
        count = 0;
    if (sorted && count)
        PCI_TRY(sort_items(w, w->items + first, count, err));
    for (size_t i = 0; i < count; i++) {
        if (i)
            PCI_TRY(pci_strbuf_append(&w->text, ":", 1, err));
        PCI_TRY(pci_flat_text(&w->items[first + (sorted ? w->order[i] : i)].value, &w->text, err));
        if (w->arena->most && w->text.size > w->arena->most)
            break; /* pci_arena_alloc() will report the limit */
    }
    joined->kind = PCI_VALUE_TEXT;
    return copy_text(w->arena, w->text.data, w->text.size, &joined->as.text, err);
}

static pcol_status make_prefixed_key(struct flattening *w, pcol_str a, pcol_str b, pcol_str *key,
                                     pcol_error *err)
{
    char *text;
    PCI_TRY(pci_arena_alloc(w->arena, a.size + 1 + b.size, &text, err));
    memcpy(text, a.data, a.size);
    text[a.size] = ':';
    memcpy(text + a.size + 1, b.data, b.size);
    *key = (pcol_str){text, a.size + 1 + b.size};
    return PCOL_OK;
}

static int has_items(const struct pci_flat_node *n)
{
    return n->shape == PCI_FLAT_OBJECT || n->named;
}

/* Add the items of a member under its key: those inside it, then itself. */
static pcol_status add_member_items(struct flattening *w, pcol_str key,
                                    const struct pci_flat_node *n, pcol_error *err)
{
    if (has_items(n)) {
        for (size_t i = 0; i < n->item_count; i++) {
            struct pci_flat_item inner = w->items[n->item + i];
            pcol_str longer;
            PCI_TRY(make_prefixed_key(w, key, inner.key, &longer, err));
            PCI_TRY(add_item(w, longer, &inner.value, err));
        }
        struct pci_value joined;
        PCI_TRY(join_items(w, n->item, n->item_count, 1, &joined, err));
        return add_item(w, key, &joined, err);
    }
    return add_item(w, key, &n->value, err); /* a scalar, or the text of an array */
}

/* The key from the pair's name, and the node of its value. */
static pcol_status get_pair(struct flattening *w, uint32_t pair, pcol_str *key, uint32_t *value,
                            pcol_error *err)
{
    uint32_t a = w->nodes[pair].first, b = w->nodes[a].next;
    uint32_t name = pci_str_is(w->nodes[a].key, "name") ? a : b;
    *value = name == a ? b : a;
    w->text.size = 0;
    PCI_TRY(pci_flat_text(&w->nodes[name].value, &w->text, err));
    return copy_text(w->arena, w->text.data, w->text.size, key, err);
}

/* The distinct members of an object: the last value of each key, at the key's first position. */
static pcol_status find_distinct_members(struct flattening *w, const struct pci_flat_node *n,
                                         struct pci_member **members, size_t *count,
                                         pcol_error *err)
{
    struct pci_hash hash = {0};
    size_t capacity = 0;
    pcol_status status = PCOL_OK;
    *members = NULL;
    *count = 0;
    for (uint32_t m = n->first; m != PCOL_NONE && status == PCOL_OK; m = w->nodes[m].next) {
        pcol_str key = w->nodes[m].key;
        uint32_t value = m, id = PCI_HASH_NONE;
        void *all = *members;
        if (n->named)
            status = get_pair(w, m, &key, &value, err);
        uint64_t hashed = pci_hash_bytes(key.data, key.size);
        size_t at = pci_hash_start(&hash, hashed);
        while (*members && (id = pci_hash_next(&hash, hashed, &at)) != PCI_HASH_NONE)
            if (pci_str_equal((*members)[id].key, key))
                break;
        if (id == PCI_HASH_NONE) {
            id = (uint32_t)*count;
            if (status == PCOL_OK && pci_grow(&all, &capacity, *count + 1, sizeof **members))
                status = pci_fail_memory(err);
            *members = all;
            PCI_THEN(status, pci_hash_add(&hash, hashed, id, err));
            if (status != PCOL_OK)
                break;
            (*members)[(*count)++].key = key;
        }
        (*members)[id].value.as.i64 = value; /* the node */
    }
    pci_hash_clear(&hash);
    return status;
}

static pcol_status make_object_items(struct flattening *w, uint32_t id, pcol_error *err)
{
    struct pci_member *members;
    size_t count, first;
    pcol_status status = find_distinct_members(w, &w->nodes[id], &members, &count, err);
    first = w->item_count;
    for (size_t i = 0; i < count && status == PCOL_OK; i++)
        status = add_member_items(w, members[i].key, &w->nodes[members[i].value.as.i64], err);
    pci_free(members);
    w->nodes[id].item = first;
    w->nodes[id].item_count = w->item_count - first;
    return status;
}

/* Make the text of an array: members joined by commas; objects inside keep the order of their
 * keys. */
static pcol_status make_array_text(struct flattening *w, uint32_t id, pcol_error *err)
{
    struct pci_strbuf text = {0};
    pcol_status status = PCOL_OK;
    for (uint32_t m = w->nodes[id].first; m != PCOL_NONE && status == PCOL_OK;
         m = w->nodes[m].next) {
        struct pci_value value = w->nodes[m].value;
        if (m != w->nodes[id].first)
            status = pci_strbuf_append(&text, ",", 1, err);
        if (status == PCOL_OK && has_items(&w->nodes[m]))
            status = join_items(w, w->nodes[m].item, w->nodes[m].item_count, 0, &value, err);
        PCI_THEN(status, pci_flat_text(&value, &text, err));
    }
    w->nodes[id].value.kind = PCI_VALUE_TEXT;
    PCI_THEN(status, copy_text(w->arena, text.data, text.size, &w->nodes[id].value.as.text, err));
    pci_strbuf_clear(&text);
    return status;
}

/* ---- flattening */

static pcol_status make_items(struct flattening *w, struct pci_flat *flat, pcol_error *err)
{
    find_pair_arrays(w);
    for (uint32_t id = (uint32_t)w->count; id-- > 0;) {
        if (has_items(&w->nodes[id]))
            PCI_TRY(make_object_items(w, id, err));
        else if (w->nodes[id].shape == PCI_FLAT_ARRAY)
            PCI_TRY(make_array_text(w, id, err));
    }
    const struct pci_flat_node *n = &w->nodes[0];
    size_t inner = has_items(n) ? n->item_count : 0;
    struct pci_value root_value = n->value;
    if (has_items(n))
        PCI_TRY(join_items(w, n->item, n->item_count, 1, &root_value, err));
    PCI_TRY(PCI_GROW(flat->items, flat->capacity, flat->count + inner + 1, err));
    if (inner)
        memcpy(flat->items + flat->count, w->items + n->item, inner * sizeof *flat->items);
    flat->count += inner;
    flat->items[flat->count++] = (struct pci_flat_item){{"", 0}, root_value};
    return PCOL_OK;
}

pcol_status pci_flat_items(struct pci_flat_tree *tree, struct pci_flat *flat,
                           struct pci_arena *arena, pcol_error *err)
{
    struct flattening w = {.arena = arena, .nodes = tree->nodes, .count = tree->count};
    pcol_status status = make_items(&w, flat, err);
    pci_free(w.items);
    pci_free(w.order);
    pci_strbuf_clear(&w.text);
    return status;
}

/* ---- values of a file */

static pcol_status add_value(struct pci_flat_tree *tree, struct pci_values *values, uint32_t parent,
                             const struct pci_member *member, pcol_error *err)
{
    int object, array;
    PCI_TRY(pci_value_classify(values, &member->value, &object, &array, err));
    return pci_flat_add(tree, parent, member,
                        object  ? PCI_FLAT_OBJECT
                        : array ? PCI_FLAT_ARRAY
                                : PCI_FLAT_SCALAR,
                        err);
}

/* Bound the parts of a value by the file's size: many cells can share one stack. */
static pcol_status check_part_count(const struct pci_flat_tree *tree,
                                    const struct pci_values *values, pcol_error *err)
{
    if (tree->count > MAX_PARTS && (tree->count - MAX_PARTS) / 64 > values->file->size)
        return pci_fail(err, PCOL_E_LIMIT, "a value has too many parts for a file of this size");
    return PCOL_OK;
}

/* Breadth first: append the members of node `id`. */
static pcol_status add_members(struct pci_flat_tree *tree, struct pci_values *values, uint32_t id,
                               pcol_error *err)
{
    struct pci_member_iterator each;
    struct pci_member member;
    int more = 1;
    struct pci_value value = tree->nodes[id].value;
    pcol_status status = pci_member_iterator_open(&each, values, &value, err);
    while (status == PCOL_OK) {
        status = pci_member_iterator_next(&each, &member, &more, err);
        if (status != PCOL_OK || !more)
            break;
        status = add_value(tree, values, id, &member, err);
        PCI_THEN(status, check_part_count(tree, values, err));
    }
    pci_member_iterator_close(&each);
    return status;
}

pcol_status pci_flatten(struct pci_values *values, const struct pci_value *value,
                        struct pci_flat *flat, struct pci_arena *arena, pcol_error *err)
{
    struct pci_flat_tree tree = {0};
    const struct pci_member root = {{"", 0}, *value};
    pcol_status status = add_value(&tree, values, PCOL_NONE, &root, err);
    for (uint32_t id = 0; status == PCOL_OK && id < tree.count; id++)
        if (tree.nodes[id].shape != PCI_FLAT_SCALAR)
            status = add_members(&tree, values, id, err);
    PCI_THEN(status, pci_flat_items(&tree, flat, arena, err));
    pci_flat_clear(&tree);
    return status;
}
