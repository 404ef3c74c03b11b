/*
 * values.c - iteration over values: members of frames, frames of stacks, children of nodes
 *
 * Tests: tests/unit/test_row_values.c.
 */
#include "model/keyed_rows.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

enum { MODE_NONE, MODE_MEMBERS, MODE_NODES, MODE_ELEMENTS };

pcol_status pci_values_open(struct pci_values *values, const pcol_file *file, pcol_error *err)
{
    memset(values, 0, sizeof *values);
    values->file = file;
    PCI_TRY(pci_keyed_open(&values->frames, file, "location_groups", err));
    PCI_TRY(pci_nodes_open(&values->nodes, file, err));
    values->stack_rows = pci_rows(file, "stacks");
    PCI_TRY(pci_require_column(file, "stacks", "parent", PCI_TYPES_ROW, &values->parent, err));
    return pci_require_column(file, "stacks", "group", PCI_TYPES_ROW, &values->group, err);
}

void pci_values_close(struct pci_values *values)
{
    pci_keyed_close(&values->frames);
    pci_free(values->list);
    memset(values, 0, sizeof *values);
}

pcol_status pci_value_of_node(const struct pci_node_value *node, struct pci_value *value,
                              pcol_error *err)
{
    switch (node->tag) {
    case PCI_NODE_NULL:
        value->kind = PCI_VALUE_NULL;
        return PCOL_OK;
    case PCI_NODE_FALSE:
    case PCI_NODE_TRUE:
        value->kind = PCI_VALUE_BOOL;
        value->as.i64 = node->tag == PCI_NODE_TRUE;
        return PCOL_OK;
    case PCI_NODE_INTEGER:
        value->kind = PCI_VALUE_INTEGER;
        value->as.i64 = node->integer;
        return PCOL_OK;
    case PCI_NODE_DOUBLE:
        value->kind = PCI_VALUE_DOUBLE;
        value->as.f64 = node->number;
        return PCOL_OK;
    case PCI_NODE_STRING:
    case PCI_NODE_BYTES:
    case PCI_NODE_BIG:
        value->kind = node->tag == PCI_NODE_BIG ? PCI_VALUE_BIG : PCI_VALUE_STRING;
        value->as.text = node->text;
        return PCOL_OK;
    case PCI_NODE_ROW:
        if (pci_str_is(node->text, "stacks"))
            value->kind = node->reversed ? PCI_VALUE_RSTACK : PCI_VALUE_STACK;
        else if (pci_str_is(node->text, "location_groups"))
            value->kind = PCI_VALUE_FRAME;
        else
            return pci_corrupt(err, "nodes", "text", node->row,
                               "a row of this table is not a value");
        value->as.i64 = node->integer;
        return PCOL_OK;
    default:
        value->kind = PCI_VALUE_NODE;
        value->as.i64 = (int64_t)node->row;
        return PCOL_OK;
    }
}

pcol_status pci_value_classify(const struct pci_values *values, const struct pci_value *value,
                               int *object, int *array, pcol_error *err)
{
    struct pci_node_value node;
    *object = value->kind == PCI_VALUE_FRAME;
    *array = value->kind == PCI_VALUE_STACK || value->kind == PCI_VALUE_RSTACK;
    if (value->kind != PCI_VALUE_NODE)
        return PCOL_OK;
    PCI_TRY(pci_nodes_get(&values->nodes, (uint64_t)value->as.i64, &node, err));
    *object = node.tag == PCI_NODE_OBJECT;
    *array =
        node.tag == PCI_NODE_ARRAY || node.tag == PCI_NODE_INTEGERS || node.tag == PCI_NODE_DOUBLES;
    return PCOL_OK;
}

pcol_status pci_value_frames(struct pci_values *values, const struct pci_value *value,
                             const uint32_t **groups, size_t *count, pcol_error *err)
{
    uint64_t node = (uint64_t)value->as.i64;
    size_t n = 0;
    *groups = values->list;
    *count = 0;
    while (node) {
        int64_t parent, group;
        int valid;
        if (node >= values->stack_rows)
            return pci_corrupt(err, "stacks", NULL, node, "this row does not exist");
        PCI_TRY(PCI_GROW(values->list, values->list_capacity, n + 1, err));
        PCI_TRY(pci_get(values->file, values->group, node, &group, &valid, err));
        PCI_TRY(pci_get(values->file, values->parent, node, &parent, &valid, err));
        if ((uint64_t)parent >= node)
            return pci_corrupt(err, "stacks", "parent", node, "a parent is after its child");
        values->list[n++] = (uint32_t)group;
        node = (uint64_t)parent;
    }
    for (size_t i = 0; value->kind == PCI_VALUE_RSTACK && i < n / 2; i++) {
        uint32_t other = values->list[i];
        values->list[i] = values->list[n - 1 - i];
        values->list[n - 1 - i] = other;
    }
    *groups = values->list;
    *count = n;
    return PCOL_OK;
}

/* ---- iteration over members */

static pcol_status allocate_members(struct pci_member_iterator *e, size_t count, pcol_error *err)
{
    PCI_TRY(PCI_CALLOC(e->members, count + 1, err));
    e->count = count;
    e->mode = MODE_MEMBERS;
    return PCOL_OK;
}

/* Members of a frame are scalars. Any other value in a damaged file becomes null, so that the
 * recursion of values ends. */
static struct pci_member to_scalar(const struct pci_member *member)
{
    struct pci_member copy = *member;
    if (copy.value.kind == PCI_VALUE_FRAME || copy.value.kind == PCI_VALUE_STACK ||
        copy.value.kind == PCI_VALUE_RSTACK || copy.value.kind == PCI_VALUE_NODE)
        copy.value.kind = PCI_VALUE_NULL;
    return copy;
}

pcol_status pci_member_iterator_open(struct pci_member_iterator *each, struct pci_values *values,
                                     const struct pci_value *value, pcol_error *err)
{
    struct pci_member_iterator *e = each;
    e->values = values;
    e->members = NULL;
    e->count = e->at = e->buffered = e->used = 0;
    e->mode = MODE_NONE;
    if (value->kind == PCI_VALUE_FRAME) {
        struct pci_keyed_reader *frames = &values->frames;
        PCI_TRY(pci_keyed_row(frames, (uint64_t)value->as.i64, err));
        PCI_TRY(allocate_members(e, frames->count, err));
        for (size_t i = 0; i < frames->count; i++)
            e->members[i] = to_scalar(&frames->members[i]);
    } else if (value->kind == PCI_VALUE_STACK || value->kind == PCI_VALUE_RSTACK) {
        const uint32_t *groups;
        size_t count;
        PCI_TRY(pci_value_frames(values, value, &groups, &count, err));
        PCI_TRY(allocate_members(e, count, err));
        for (size_t i = 0; i < count; i++) {
            e->members[i].key = (pcol_str){"", 0};
            e->members[i].value.kind = PCI_VALUE_FRAME;
            e->members[i].value.as.i64 = groups[i];
        }
    } else if (value->kind == PCI_VALUE_NODE) {
        PCI_TRY(pci_nodes_get(&values->nodes, (uint64_t)value->as.i64, &e->node, err));
        if (e->node.tag == PCI_NODE_OBJECT || e->node.tag == PCI_NODE_ARRAY) {
            e->mode = MODE_NODES;
            return pci_nodes_first(&values->nodes, e->node.row, &e->next, err);
        }
        if (e->node.tag == PCI_NODE_INTEGERS || e->node.tag == PCI_NODE_DOUBLES) {
            e->mode = MODE_ELEMENTS;
            e->next = e->node.first;
        }
    }
    return PCOL_OK;
}

static pcol_status next_element(struct pci_member_iterator *e, struct pci_member *member, int *more,
                                pcol_error *err)
{
    if (e->used == e->buffered) {
        uint64_t left = e->node.end - e->next;
        size_t count = left < 64 ? (size_t)left : 64;
        if (!count)
            return PCOL_OK;
        PCI_TRY(pci_nodes_elements(&e->values->nodes, &e->node, e->next - e->node.first, count,
                                   e->buffer, err));
        e->next += count;
        e->buffered = count;
        e->used = 0;
    }
    member->key = (pcol_str){"", 0};
    member->value.kind = e->node.tag == PCI_NODE_DOUBLES ? PCI_VALUE_DOUBLE : PCI_VALUE_INTEGER;
    memcpy(&member->value.as, &e->buffer[e->used++], sizeof(int64_t));
    *more = 1;
    return PCOL_OK;
}

pcol_status pci_member_iterator_next(struct pci_member_iterator *each, struct pci_member *member,
                                     int *more, pcol_error *err)
{
    struct pci_member_iterator *e = each;
    *more = 0;
    if (e->mode == MODE_MEMBERS && e->at < e->count) {
        *member = e->members[e->at++];
        *more = 1;
    } else if (e->mode == MODE_ELEMENTS) {
        return next_element(e, member, more, err);
    } else if (e->mode == MODE_NODES && e->next != PCI_NO_NODE) {
        struct pci_node_value node;
        PCI_TRY(pci_nodes_get(&e->values->nodes, e->next, &node, err));
        PCI_TRY(pci_nodes_next(&e->values->nodes, e->node.row, &e->next, err));
        if (node.has_key != (e->node.tag == PCI_NODE_OBJECT))
            return pci_corrupt(err, "nodes", "key", node.row,
                               "members of objects have keys, and elements of arrays none");
        member->key = node.has_key ? node.key : (pcol_str){"", 0};
        *more = 1;
        return pci_value_of_node(&node, &member->value, err);
    }
    return PCOL_OK;
}

void pci_member_iterator_close(struct pci_member_iterator *each)
{
    pci_free(each->members);
    each->members = NULL;
}
