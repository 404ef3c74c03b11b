/*
 * value_nodes.c - reader of nodes (generic value trees)
 *
 * Each node is verified: its parent precedes it, the tag is known, the cells of the tag are
 * present, elements are within their table. A walk from row to row therefore ends for any input.
 * Tests: tests/unit/test_value_trees.c.
 */
#include "model/row_details.h"

#include "model/text_rules.h"

#include <string.h>

enum { N_PARENT, N_KEY, N_TAG, N_INTEGER, N_NUMBER, N_TEXT, N_FIRST, N_COUNT };

static const struct {
    const char *name;
    unsigned types;
} node_columns[N_COUNT] = {
    [N_PARENT] = {"parent", PCI_TYPES_ROW},     [N_KEY] = {"key", PCI_TYPES_TEXT},
    [N_TAG] = {"tag", PCI_TYPES_ROW},           [N_INTEGER] = {"integer", PCI_TYPE(PCF_I64)},
    [N_NUMBER] = {"number", PCI_TYPE(PCF_F64)}, [N_TEXT] = {"text", PCI_TYPES_TEXT},
    [N_FIRST] = {"first", PCI_TYPES_ROW},
};

static pcol_status fail_node(uint64_t row, const char *column, const char *problem, pcol_error *err)
{
    return pci_corrupt(err, "nodes", column, row, "%s", problem);
}

pcol_status pci_nodes_open(struct pci_node_reader *reader, const pcol_file *file, pcol_error *err)
{
    const struct pci_column *unused;
    *reader = (struct pci_node_reader){.file = file};
    for (size_t i = 0; i < N_COUNT; i++)
        PCI_TRY(pci_find_column(file, "nodes", node_columns[i].name, node_columns[i].types,
                                &reader->columns[i], err));
    PCI_TRY(pci_require_column(file, "nodes", "tag", PCI_TYPES_ROW, &unused, err));
    PCI_TRY(pci_check_row_count(file, "nodes", err));
    reader->rows = pci_rows(file, "nodes");
    reader->integers = pci_rows(file, "node_integers");
    reader->doubles = pci_rows(file, "node_doubles");
    return reader->columns[N_FIRST] ? pci_check_array_sizes(file, reader->columns[N_TAG],
                                                            reader->columns[N_INTEGER], err)
                                    : PCOL_OK;
}

static pcol_status get_text(const struct pci_node_reader *r, int column, uint64_t row,
                            pcol_str *text, uint8_t *has, pcol_error *err)
{
    int valid = 0;
    *text = (pcol_str){"", 0};
    PCI_TRY(pci_get_str(r->file, r->columns[column], row, text, &valid, err));
    *has = (uint8_t)valid;
    return PCOL_OK;
}

static pcol_status get_array(const struct pci_node_reader *r, struct pci_node_value *node,
                             pcol_error *err)
{
    uint64_t rows = node->tag == PCI_NODE_DOUBLES ? r->doubles : r->integers;
    uint64_t count = (uint64_t)node->integer;
    int64_t first;
    int valid;
    PCI_TRY(pci_get(r->file, r->columns[N_FIRST], node->row, &first, &valid, err));
    if ((uint64_t)first > rows || count > rows - (uint64_t)first || (!valid && count))
        return fail_node(node->row, "first", "the elements of the array are out of range", err);
    node->first = (uint64_t)first;
    node->end = node->first + count;
    return PCOL_OK;
}

/* Cells that a tag requires. */
static int needs_integer(uint8_t tag)
{
    return tag == PCI_NODE_INTEGER || tag == PCI_NODE_INTEGERS || tag == PCI_NODE_DOUBLES ||
           tag == PCI_NODE_ROW;
}

static int needs_text(uint8_t tag)
{
    return tag == PCI_NODE_STRING || tag == PCI_NODE_BIG || tag == PCI_NODE_BYTES ||
           tag == PCI_NODE_TABLE || tag == PCI_NODE_ROW;
}

static pcol_status verify_big_integer(const struct pci_node_reader *r,
                                      const struct pci_node_value *node, pcol_error *err)
{
    int64_t code;
    int valid, follows;
    PCI_TRY(pci_get(r->file, r->columns[N_TEXT], node->row, &code, &valid, err));
    PCI_TRY(pci_text_follows(r->file, PCI_TEXT_INTEGER, (uint64_t)code, node->text, &follows, err));
    return follows ? PCOL_OK
                   : fail_node(node->row, "text", "a big integer has other characters than digits",
                               err);
}

static pcol_status get_value(const struct pci_node_reader *r, struct pci_node_value *node,
                             pcol_error *err)
{
    int64_t bits;
    int valid;
    PCI_TRY(get_text(r, N_TEXT, node->row, &node->text, &node->has_text, err));
    if (needs_text(node->tag) && !node->has_text)
        return fail_node(node->row, "text", "a node of this tag needs a text", err);
    if (node->tag == PCI_NODE_BIG)
        PCI_TRY(verify_big_integer(r, node, err));
    if (needs_integer(node->tag)) {
        PCI_TRY(pci_get(r->file, r->columns[N_INTEGER], node->row, &node->integer, &valid, err));
        if (!valid)
            return fail_node(node->row, "integer", "a node of this tag needs an integer", err);
    }
    if (node->tag == PCI_NODE_DOUBLE || node->tag == PCI_NODE_ROW) {
        PCI_TRY(pci_get(r->file, r->columns[N_NUMBER], node->row, &bits, &valid, err));
        memcpy(&node->number, &bits, sizeof bits);
        if (!valid && node->tag == PCI_NODE_DOUBLE)
            return fail_node(node->row, "number", "a node of this tag needs a number", err);
        node->reversed = node->tag == PCI_NODE_ROW && valid;
    }
    if (node->tag == PCI_NODE_INTEGERS || node->tag == PCI_NODE_DOUBLES)
        return get_array(r, node, err);
    return PCOL_OK;
}

static pcol_status get_parent(const struct pci_node_reader *r, uint64_t row, uint64_t *parent,
                              pcol_error *err)
{
    int64_t value;
    int valid;
    PCI_TRY(pci_get(r->file, r->columns[N_PARENT], row, &value, &valid, err));
    *parent = valid ? (uint64_t)value : PCI_NO_NODE;
    if (valid && *parent >= row)
        return fail_node(row, "parent", "the parent is not before the node", err);
    return PCOL_OK;
}

pcol_status pci_nodes_get(const struct pci_node_reader *reader, uint64_t row,
                          struct pci_node_value *node, pcol_error *err)
{
    int64_t tag;
    int valid;
    *node =
        (struct pci_node_value){.row = row, .parent = PCI_NO_NODE, .key = {"", 0}, .text = {"", 0}};
    if (row >= reader->rows)
        return fail_node(row, NULL, "this node does not exist", err);
    PCI_TRY(get_parent(reader, row, &node->parent, err));
    PCI_TRY(get_text(reader, N_KEY, row, &node->key, &node->has_key, err));
    PCI_TRY(pci_get(reader->file, reader->columns[N_TAG], row, &tag, &valid, err));
    if (!valid || tag < 0)
        return fail_node(row, "tag", "a node needs a tag", err);
    if (tag > PCI_NODE_ROW)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, "nodes", "tag", row,
                             "tag %lld needs a newer reader", (long long)tag);
    node->tag = (uint8_t)tag;
    return get_value(reader, node, err);
}

pcol_status pci_node_get(const pcol_file *file, uint64_t row, struct pci_node_value *node,
                         pcol_error *err)
{
    struct pci_node_reader reader;
    PCI_TRY(pci_nodes_open(&reader, file, err));
    return pci_nodes_get(&reader, row, node, err);
}

pcol_status pci_nodes_first(const struct pci_node_reader *reader, uint64_t parent, uint64_t *member,
                            pcol_error *err)
{
    const struct pci_column *key = reader->columns[N_KEY];
    int64_t tag;
    int valid;
    *member = parent;
    PCI_TRY(pci_nodes_next(reader, parent, member, err));
    if (*member == PCI_NO_NODE || (key && key->desc->null_count < key->desc->rows))
        return PCOL_OK;
    /* No node has a key. */
    PCI_TRY(pci_get(reader->file, reader->columns[N_TAG], parent, &tag, &valid, err));
    return tag == PCI_NODE_OBJECT
               ? fail_node(*member, "key", "a member of an object needs a key", err)
               : PCOL_OK;
}

/* Rows are in pre-order: the subtree of `parent` ends at the first row whose parent precedes it. */
pcol_status pci_nodes_next(const struct pci_node_reader *reader, uint64_t parent, uint64_t *member,
                           pcol_error *err)
{
    uint64_t row = *member + 1;
    *member = PCI_NO_NODE;
    for (; row < reader->rows; row++) {
        uint64_t row_parent;
        PCI_TRY(get_parent(reader, row, &row_parent, err));
        if (row_parent == PCI_NO_NODE || row_parent < parent)
            break;
        if (row_parent == parent) {
            *member = row;
            break;
        }
    }
    return PCOL_OK;
}

pcol_status pci_nodes_elements(const struct pci_node_reader *reader,
                               const struct pci_node_value *node, uint64_t from, size_t count,
                               int64_t *values, pcol_error *err)
{
    int doubles = node->tag == PCI_NODE_DOUBLES;
    const char *table = doubles ? "node_doubles" : "node_integers";
    const struct pci_column *column;
    uint8_t valid[PCI_BATCH];
    PCI_TRY(pci_require_column(reader->file, table, "value",
                               doubles ? PCI_TYPE(PCF_F64) : PCI_TYPE(PCF_I64), &column, err));
    if (!column || count > PCI_BATCH || from > node->end - node->first ||
        count > node->end - node->first - from)
        return fail_node(node->row, "first", "the elements of the array are out of range", err);
    return pci_read(reader->file, column, node->first + from, count, values, valid, err);
}
