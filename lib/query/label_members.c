/*
 * label_members.c - labels without a column: members of a row's `extra`
 *
 * A table has at most 512 label columns (builder/labels.c); values of further keys are nodes.
 * pci_label_members_open() searches the nodes for the key once, so that rows are read only if it
 * occurs. Tests: suite answers.
 */
#include "query/labels.h"

#include "util/strbuf.h"

#include <string.h>

pcol_status pci_label_members_open(struct pci_label_members *members, const pcol_file *file,
                                   pcol_str key, pcol_error *err)
{
    const struct pci_column *roots, *keys;
    pcol_str texts[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    int found = 0;
    *members = (struct pci_label_members){.key = key};
    PCI_TRY(pci_find_verified_column(file, "samples", "extra", PCI_TYPES_ROW, &roots, err));
    if (!roots)
        return PCOL_OK;
    PCI_TRY(pci_nodes_open(&members->nodes, file, err));
    PCI_TRY(pci_find_verified_column(file, "nodes", "key", PCI_TYPES_TEXT, &keys, err));
    for (uint64_t row = 0; keys && !found && row < members->nodes.rows; row += PCI_BATCH) {
        uint64_t left = members->nodes.rows - row;
        size_t n = left < PCI_BATCH ? (size_t)left : PCI_BATCH;
        PCI_TRY(pci_read_str(file, keys, row, n, texts, valid, err));
        for (size_t i = 0; i < n; i++)
            found |= valid[i] && pci_str_same(texts[i], key);
    }
    if (found)
        members->roots = roots;
    return PCOL_OK;
}

/* The label kind of a node that builder/labels.c wrote; PCI_LABEL_EXTRA: not a label. */
static uint8_t get_kind(const struct pci_node_value *node, int has_members)
{
    switch ((enum pci_node_tag)node->tag) {
    case PCI_NODE_NULL:
        return PCI_LABEL_NULL;
    case PCI_NODE_FALSE:
    case PCI_NODE_TRUE:
        return PCI_LABEL_BOOL;
    case PCI_NODE_INTEGER:
        return PCI_LABEL_INTEGER;
    case PCI_NODE_DOUBLE:
        return PCI_LABEL_DOUBLE;
    case PCI_NODE_STRING:
        return PCI_LABEL_STRING;
    case PCI_NODE_BIG:
        return PCI_LABEL_BIGINT;
    case PCI_NODE_OBJECT:
        return has_members ? PCI_LABEL_EXTRA : PCI_LABEL_EMPTY;
    case PCI_NODE_ROW:
        return pci_str_is(node->text, "location_groups") ? PCI_LABEL_FRAME : PCI_LABEL_EXTRA;
    case PCI_NODE_ARRAY:
    case PCI_NODE_INTEGERS:
    case PCI_NODE_DOUBLES:
    case PCI_NODE_BYTES:
    case PCI_NODE_TABLE:
        break;
    }
    return PCI_LABEL_EXTRA;
}

static pcol_status read_value(const struct pci_label_columns *columns,
                              const struct pci_node_value *node, struct pci_label_value *value,
                              pcol_error *err)
{
    value->bits = node->tag == PCI_NODE_TRUE ? 1 : node->integer;
    if (value->kind == PCI_LABEL_DOUBLE)
        memcpy(&value->bits, &node->number, sizeof value->bits);
    value->text = node->text;
    value->unit = (pcol_str){"", 0};
    if (node->has_text && (value->kind == PCI_LABEL_INTEGER || value->kind == PCI_LABEL_DOUBLE ||
                           value->kind == PCI_LABEL_EMPTY))
        value->unit = node->text;
    if (value->kind == PCI_LABEL_BIGINT && pci_str_is(value->text, "-0")) {
        value->kind = PCI_LABEL_INTEGER;
        value->bits = 0;
    }
    if (value->kind == PCI_LABEL_STRING || value->kind == PCI_LABEL_BIGINT)
        return PCOL_OK;
    const struct pci_label_column no_column = {.kind = value->kind};
    return pci_label_text(columns, &no_column, 0, value->bits, value->buffer, &value->text, err);
}

pcol_status pci_label_members_next(const struct pci_label_columns *columns, uint64_t root,
                                   struct pci_label_value *value, pcol_error *err)
{
    const struct pci_node_reader *nodes = &columns->members.nodes;
    struct pci_node_value node;
    if (value->member == PCI_NO_NODE)
        PCI_TRY(pci_nodes_first(nodes, root, &value->member, err));
    else
        PCI_TRY(pci_nodes_next(nodes, root, &value->member, err));
    while (value->member != PCI_NO_NODE) {
        uint64_t inner = PCI_NO_NODE;
        PCI_TRY(pci_nodes_get(nodes, value->member, &node, err));
        if (node.has_key && pci_str_same(node.key, columns->members.key)) {
            if (node.tag == PCI_NODE_OBJECT)
                PCI_TRY(pci_nodes_first(nodes, value->member, &inner, err));
            value->kind = get_kind(&node, inner != PCI_NO_NODE);
            if (value->kind != PCI_LABEL_EXTRA)
                return read_value(columns, &node, value, err);
        }
        PCI_TRY(pci_nodes_next(nodes, root, &value->member, err));
    }
    return PCOL_OK;
}
