/*
 * check_nodes.c - trees: each node, pre-order, and exactly one cell per root
 *
 * Tests: tests/unit/test_check_labels.c, suite golden.
 */
#include "model/check.h"
#include "model/row_details.h"

#include "util/alloc.h"

#include <string.h>

enum { LEAF, ARRAY, OBJECT, ROOT = 4, OWNED = 8 }; /* state of a node */

struct walk {
    struct pci_check *check;
    struct pci_node_reader nodes;
    uint8_t *kinds;
    uint64_t *path; /* the previous node and its ancestors */
    size_t depth, capacity;
    struct pci_tally parent, key, order, row;
};

/* Verifies the reference of a node. An absent table has no rows. */
static void check_row(struct walk *w, const struct pci_node_value *node)
{
    const struct pci_table *table = pci_table_named(w->check->file, node->text);
    uint64_t rows = table ? table->rows : 0;
    if ((uint64_t)node->integer >= rows)
        pci_fault(&w->row, node->row, "%llu is beyond the %llu rows of %.*s",
                  (unsigned long long)node->integer, (unsigned long long)rows,
                  (int)(node->text.size < 80 ? node->text.size : 80), node->text.data);
}

static pcol_status check_node(struct walk *w, const struct pci_node_value *node, pcol_error *err)
{
    uint8_t kind = node->parent == PCI_NO_NODE ? LEAF : w->kinds[node->parent] & (ARRAY | OBJECT);
    if (node->parent != PCI_NO_NODE && !kind)
        pci_fault(&w->parent, node->row, "the parent is neither an array nor an object");
    if (node->has_key != (kind == OBJECT))
        pci_fault(&w->key, node->row,
                  kind == OBJECT ? "a member of an object needs a key"
                                 : "only members of objects have keys");
    w->kinds[node->row] = node->tag == PCI_NODE_ARRAY    ? ARRAY
                          : node->tag == PCI_NODE_OBJECT ? OBJECT
                                                         : LEAF;
    if (node->tag == PCI_NODE_ROW)
        check_row(w, node);
    if (node->parent == PCI_NO_NODE) {
        w->kinds[node->row] |= ROOT;
        w->depth = 0;
    }
    while (w->depth && w->path[w->depth - 1] != node->parent)
        w->depth--;
    if (!w->depth && node->parent != PCI_NO_NODE)
        pci_fault(&w->order, node->row, "the node is not in pre-order");
    PCI_TRY(PCI_GROW(w->path, w->capacity, w->depth + 1, err));
    w->path[w->depth++] = node->row;
    return PCOL_OK;
}

static pcol_status check_all(struct walk *w, pcol_error *err)
{
    for (uint64_t row = 0; row < w->nodes.rows && !w->check->stop; row++) {
        struct pci_node_value node;
        pcol_error error = {0};
        if (pci_nodes_get(&w->nodes, row, &node, &error) != PCOL_OK) {
            PCI_TRY(pci_fault_error(w->check, &error, err));
            w->order.count = PCI_CHECK_SAME; /* later faults would be consequences */
            break;
        }
        PCI_TRY(check_node(w, &node, err));
        if (w->parent.count + w->key.count + w->order.count + w->row.count >= PCI_CHECK_SAME)
            break;
    }
    return PCOL_OK;
}

static pcol_status check_owners_in(struct walk *w, const struct pci_column *column, pcol_error *err)
{
    struct pci_check *check = w->check;
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    uint64_t rows = column->desc->rows;
    size_t n;
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read(check, column, row, rows, 0, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            uint64_t node = (uint64_t)check->values[0][i];
            if (!check->valid[0][i] || node >= w->nodes.rows)
                continue; /* already reported as a reference out of range */
            if (!(w->kinds[node] & ROOT))
                pci_fault(&tally, row + i, "node %llu is no root", (unsigned long long)node);
            else if (w->kinds[node] & OWNED)
                pci_fault(&tally, row + i, "another cell has node %llu, too",
                          (unsigned long long)node);
            w->kinds[node] |= OWNED;
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

static pcol_status check_owners(struct walk *w, pcol_error *err)
{
    const pcol_file *file = w->check->file;
    struct pci_tally tally = PCI_TALLY(w->check, "nodes", "parent");
    for (uint32_t t = 0; t < file->index.header.table_count; t++) {
        const struct pci_table *table = &file->tables[t];
        for (uint32_t c = 0; c < table->column_count && strcmp(table->name, "nodes") != 0; c++) {
            const struct pci_column *to = &table->columns[c];
            if (!to->references || strcmp(to->references->name, "nodes") != 0)
                continue;
            if (pci_check_column(w->check, table->name, to->name) != to)
                return PCOL_OK; /* unreadable: owners are unknown */
            PCI_TRY(check_owners_in(w, to, err));
        }
    }
    for (uint64_t row = 0; row < w->nodes.rows && !w->check->stop; row++)
        if ((w->kinds[row] & (ROOT | OWNED)) == ROOT)
            pci_fault(&tally, row, "no cell has this root");
    pci_tally_end(&tally);
    return PCOL_OK;
}

pcol_status pci_check_nodes(struct pci_check *check, pcol_error *err)
{
    const struct pci_table *table = pci_table_find(check->file, "nodes");
    struct walk w = {.check = check,
                     .parent = PCI_TALLY(check, "nodes", "parent"),
                     .key = PCI_TALLY(check, "nodes", "key"),
                     .order = PCI_TALLY(check, "nodes", "parent"),
                     .row = PCI_TALLY(check, "nodes", "integer")};
    pcol_error error = {0};
    pcol_status status;
    if (!table || !table->rows || !pci_check_table(check, "nodes") ||
        !pci_check_table(check, "node_integers") || !pci_check_table(check, "node_doubles"))
        return PCOL_OK;
    if (!(table->flags & PCF_TABLE_PREORDER))
        pci_fault(&w.parent, PCOL_POSITION_UNKNOWN,
                  "the table is not marked as being in pre-order");
    if (pci_nodes_open(&w.nodes, check->file, &error) != PCOL_OK)
        return pci_fault_error(check, &error, err);
    w.kinds = pci_calloc((size_t)table->rows, 1);
    status = w.kinds ? check_all(&w, err) : pci_fail_memory(err);
    if (status == PCOL_OK && !w.parent.count && !w.key.count && !w.order.count)
        status = check_owners(&w, err);
    pci_tally_end(&w.parent);
    pci_tally_end(&w.key);
    pci_tally_end(&w.order);
    pci_tally_end(&w.row);
    pci_free(w.kinds);
    pci_free(w.path);
    return status;
}
