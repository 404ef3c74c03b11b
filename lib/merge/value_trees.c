/*
 * value_trees.c - value trees of a pcol file
 *
 * Of a whole file, nodes and elements of typed arrays are appended to those of the builder; a row
 * number is translated by an offset. Of a part, a tree is copied when a copied row refers to it.
 */
#include "merge/merge.h"

#include "util/alloc.h"

/* A node that names a row of a copied table is translated; one of an omitted row becomes null. An
 * absent table has no rows. */
static pcol_status map_row(struct pci_merge *m, const struct pci_node_value *from,
                           struct pci_new_node *node, pcol_error *err)
{
    const struct pci_table *table = pci_table_named(m->file, from->text);
    uint64_t to = (uint64_t)from->integer;
    int omitted = 0;
    if (!table)
        return pci_corrupt(err, "nodes", "integer", from->row, "%llu is beyond the 0 rows of %.*s",
                           (unsigned long long)to,
                           (int)(from->text.size < 80 ? from->text.size : 80), from->text.data);
    PCI_TRY(pci_merge_row(m, table, NULL, from->row, to, &to, &omitted, err));
    node->as.i64 = (int64_t)to;
    if (omitted)
        *node = (struct pci_new_node){.parent = node->parent, .key = node->key, .text = PCOL_NONE};
    return PCOL_OK;
}

static pcol_status copy_elements(struct pci_merge *m, const struct pci_node_reader *reader,
                                 const struct pci_node_value *from, pcol_error *err)
{
    int64_t values[256];
    for (uint64_t element = from->first; element < from->end;) {
        size_t n = from->end - element < 256 ? (size_t)(from->end - element) : 256;
        PCI_TRY(pci_nodes_elements(reader, from, element - from->first, n, values, err));
        for (size_t i = 0; i < n; i++)
            PCI_TRY(
                pci_node_element_copy(m->builder, from->tag == PCI_NODE_DOUBLES, values[i], err));
        element += n;
    }
    return PCOL_OK;
}

static pcol_status copy_array(struct pci_merge *m, const struct pci_node_reader *reader,
                              const struct pci_node_value *from, const struct pci_new_node *to,
                              uint64_t *row, pcol_error *err)
{
    int kind = from->tag == PCI_NODE_DOUBLES;
    uint64_t first = (kind ? m->double_base : m->integer_base) + from->first;
    if (m->partial) {
        first = m->builder->nodes.element_count[kind];
        PCI_TRY(copy_elements(m, reader, from, err));
    }
    return pci_node_array_copy(m->builder, to, first, from->end - from->first, row, err);
}

/* parent: node of the builder. */
static pcol_status copy_node(struct pci_merge *m, const struct pci_node_reader *reader,
                             const struct pci_node_value *from, uint64_t parent, uint64_t *row,
                             pcol_error *err)
{
    struct pci_new_node to = {.parent = parent,
                              .key = PCOL_NONE,
                              .tag = from->tag,
                              .text = PCOL_NONE,
                              .reversed = from->reversed};
    if (from->has_key)
        PCI_TRY(pci_merge_text(m, PCI_COPY, from->key, &to.key, err));
    if (from->has_text)
        PCI_TRY(pci_merge_text(m, PCI_COPY, from->text, &to.text, err));
    to.has_unit = from->has_text && (from->tag == PCI_NODE_INTEGER ||
                                     from->tag == PCI_NODE_DOUBLE || from->tag == PCI_NODE_OBJECT);
    to.as.i64 = from->integer;
    if (from->tag == PCI_NODE_DOUBLE)
        to.as.f64 = from->number;
    if (from->tag == PCI_NODE_ROW)
        PCI_TRY(map_row(m, from, &to, err));
    if (from->tag == PCI_NODE_INTEGERS || from->tag == PCI_NODE_DOUBLES)
        return copy_array(m, reader, from, &to, row, err);
    return pci_builder_node(m->builder, &to, row, err);
}

/* Appends all elements in order. */
static pcol_status copy_values(struct pci_merge *m, const char *table, int kind, pcol_error *err)
{
    struct pci_cells *cells = pci_malloc(1, sizeof *cells);
    uint64_t rows = pci_rows(m->file, table);
    pcol_status status = cells ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, pci_cells_open(cells, m->file, table, "value",
                                    kind ? PCI_IS(PCF_F64) : PCI_IS(PCF_I64), err));
    PCI_THEN(status, pci_check_row_count(m->file, table, err));
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row++) {
        int64_t value;
        int valid;
        status = pci_cells_get(cells, row, &value, &valid, err);
        PCI_THEN(status, pci_node_element_copy(m->builder, kind, value, err));
    }
    pci_free(cells);
    return status;
}

pcol_status pci_merge_nodes(struct pci_merge *merge, pcol_error *err)
{
    struct pci_node_reader reader;
    if (merge->partial || !merge->node_rows)
        return PCOL_OK;
    PCI_TRY(pci_nodes_open(&reader, merge->file, err));
    for (size_t i = 0; i < sizeof reader.columns / sizeof(void *); i++)
        if (reader.columns[i])
            PCI_TRY(pci_verify(merge->file, reader.columns[i], err));
    PCI_TRY(copy_values(merge, "node_integers", 0, err));
    PCI_TRY(copy_values(merge, "node_doubles", 1, err));
    for (uint64_t row = 0; row < merge->node_rows; row++) {
        struct pci_node_value node;
        uint64_t parent = PCI_NO_NODE, to;
        PCI_TRY(pci_nodes_get(&reader, row, &node, err));
        if (node.parent != PCI_NO_NODE)
            parent = merge->node_base + node.parent;
        PCI_TRY(copy_node(merge, &reader, &node, parent, &to, err));
    }
    return PCOL_OK;
}

/* ---- one tree */

struct node_path {
    uint64_t *from, *to; /* the last node copied and its ancestors */
    size_t size, from_capacity, to_capacity;
};

static pcol_status push_node(struct node_path *node_path, uint64_t from, uint64_t to,
                             pcol_error *err)
{
    PCI_TRY(PCI_GROW(node_path->from, node_path->from_capacity, node_path->size + 1, err));
    PCI_TRY(PCI_GROW(node_path->to, node_path->to_capacity, node_path->size + 1, err));
    node_path->from[node_path->size] = from;
    node_path->to[node_path->size++] = to;
    return PCOL_OK;
}

static pcol_status copy_tree(struct pci_merge *m, struct node_path *node_path, uint64_t root,
                             uint64_t *out, pcol_error *err)
{
    struct pci_node_reader reader;
    struct pci_node_value node;
    uint64_t to, omitted_root = PCI_NO_NODE; /* root of an omitted subtree: a label */
    PCI_TRY(pci_nodes_open(&reader, m->file, err));
    PCI_TRY(pci_nodes_get(&reader, root, &node, err));
    PCI_TRY(copy_node(m, &reader, &node, PCI_NO_NODE, out, err));
    PCI_TRY(push_node(node_path, root, *out, err));
    for (uint64_t row = root + 1; row < reader.rows; row++) {
        PCI_TRY(pci_nodes_get(&reader, row, &node, err));
        if (node.parent == PCI_NO_NODE)
            break;
        if (omitted_root != PCI_NO_NODE && node.parent >= omitted_root)
            continue;
        omitted_root = PCI_NO_NODE;
        int omitted = 0;
        if (m->tree_of_sample && node.parent == root && node.has_key) {
            PCI_TRY(pci_merge_loses_label(m, "samples", m->tree_sample, node.key, &omitted, err));
            omitted |= !pci_merge_copies_label(m, "samples", node.key);
        }
        if (omitted) {
            omitted_root = row;
            continue;
        }
        while (node_path->size && node_path->from[node_path->size - 1] != node.parent)
            node_path->size--;
        if (!node_path->size)
            break;
        PCI_TRY(copy_node(m, &reader, &node, node_path->to[node_path->size - 1], &to, err));
        PCI_TRY(push_node(node_path, row, to, err));
    }
    return PCOL_OK;
}

pcol_status pci_merge_node(struct pci_merge *merge, uint64_t row, uint64_t *node, pcol_error *err)
{
    struct node_path node_path = {0};
    pcol_status status;
    *node = merge->node_base + row;
    if (!merge->partial)
        return PCOL_OK;
    status = copy_tree(merge, &node_path, row, node, err);
    pci_free(node_path.from);
    pci_free(node_path.to);
    return status;
}
