/*
 * keyed_json.c - values as JSON
 *
 * Tests: suite perun, tests/unit/test_row_values.c.
 */
#include "model/keyed_json.h"

#include "model/json_tree.h"

struct reference_writer {
    struct pci_values *values;
    pci_table_node_fn place;
    void *context;
};

static void write_scalar(const struct pci_value *value, struct pci_json_writer *w, pcol_error *err)
{
    switch (value->kind) {
    case PCI_VALUE_BOOL:
        pci_json_put_raw(w, value->as.i64 ? "true" : "false", value->as.i64 ? 4 : 5, err);
        break;
    case PCI_VALUE_INTEGER:
        pci_json_put_int(w, value->as.i64, err);
        break;
    case PCI_VALUE_BIG:
        pci_json_put_raw(w, value->as.text.data, value->as.text.size, err);
        break;
    case PCI_VALUE_DOUBLE:
        pci_json_put_double(w, value->as.f64, err);
        break;
    case PCI_VALUE_STRING:
    case PCI_VALUE_TEXT:
        pci_json_put_string(w, value->as.text, err);
        break;
    default: /* null; other kinds do not occur in frames */
        pci_json_put_raw(w, "null", 4, err);
        break;
    }
}

/* Members of a frame are scalars unless it has more keys than a table can have label columns. */
static pcol_status write_frame(struct pci_values *values, int64_t group, struct pci_json_writer *w,
                               pcol_error *err)
{
    struct pci_keyed_reader *frames = &values->frames;
    PCI_TRY(pci_keyed_row(frames, (uint64_t)group, err));
    pci_json_put_begin(w, '{', err);
    for (size_t i = 0; i < frames->count; i++) {
        pci_json_put_key_bytes(w, frames->members[i].key, err);
        write_scalar(&frames->members[i].value, w, err);
    }
    pci_json_put_end(w, '}', err);
    return w->status;
}

static pcol_status write_stack(struct pci_values *values, const struct pci_value *value,
                               struct pci_json_writer *w, pcol_error *err)
{
    const uint32_t *groups;
    size_t count;
    PCI_TRY(pci_value_frames(values, value, &groups, &count, err));
    pci_json_put_begin(w, '[', err);
    for (size_t i = 0; i < count; i++)
        PCI_TRY(write_frame(values, groups[i], w, err));
    pci_json_put_end(w, ']', err);
    return w->status;
}

/* Writes a TABLE or ROW node. */
static pcol_status write_reference(void *context, const struct pci_node_value *node,
                                   struct pci_json_writer *w, pcol_error *err)
{
    struct reference_writer *p = context;
    struct pci_value value;
    if (node->tag == PCI_NODE_ROW) {
        PCI_TRY(pci_value_of_node(node, &value, err));
        return value.kind == PCI_VALUE_FRAME ? write_frame(p->values, value.as.i64, w, err)
                                             : write_stack(p->values, &value, w, err);
    }
    if (!p->place)
        return pci_corrupt(err, "nodes", "tag", node->row, "a node of this tag has no value here");
    return p->place(p->context, node, w, err);
}

pcol_status pci_value_json(struct pci_values *values, const struct pci_value *value,
                           struct pci_json_writer *w, pci_table_node_fn place, void *context,
                           pcol_error *err)
{
    struct reference_writer reference_writer = {values, place, context};
    if (value->kind == PCI_VALUE_FRAME)
        return write_frame(values, value->as.i64, w, err);
    if (value->kind == PCI_VALUE_STACK || value->kind == PCI_VALUE_RSTACK)
        return write_stack(values, value, w, err);
    if (value->kind == PCI_VALUE_NODE)
        return pci_json_from_nodes(values->file, (uint64_t)value->as.i64, w, write_reference,
                                   &reference_writer, err);
    write_scalar(value, w, err);
    return w->status;
}

pcol_status pci_members_json(struct pci_values *values, const struct pci_member *members,
                             size_t count, struct pci_json_writer *w, pci_table_node_fn place,
                             void *context, pcol_error *err)
{
    pci_json_put_begin(w, '{', err);
    for (size_t i = 0; i < count; i++) {
        pci_json_put_key_bytes(w, members[i].key, err);
        PCI_TRY(pci_value_json(values, &members[i].value, w, place, context, err));
    }
    pci_json_put_end(w, '}', err);
    return w->status;
}
