/*
 * value_tree.c - nodes: generic trees (JSON-like values) as records, sorted into pre-order at the
 * end
 *
 * Several trees may grow at the same time, such as a document's and those of its parts. A node is a
 * record of 32 bytes in order of arrival. While nodes arrive in pre-order, which the path from the
 * root to the latest node shows, no sorting is necessary. Elements of typed arrays are appended to
 * their column directly. Tests: tests/unit/test_value_trees.c.
 */
#include "builder/builder.h"

#include "util/alloc.h"
#include "util/import_budget.h"

#define BATCH 512u /* records read at a time */
#define RANGE_BYTES 16u
#define MAX_NODES (UINT64_C(0xffffffff) - 1)
#define NODE_COST 16u /* bytes of an input that take as long */
#define CHARGED_NODES 4096u

static const uint8_t value_types[2] = {PCF_I64, PCF_F64};
static const char *const value_tables[2] = {"node_integers", "node_doubles"};

void pci_node_store_init(struct pci_node_store *nodes, struct pci_spill_store *store)
{
    *nodes =
        (struct pci_node_store){.table = PCOL_NONE, .ordered = 1, .recent_parent = PCI_NO_NODE};
    pci_spill_init(&nodes->records, store);
    for (int i = 0; i < 2; i++) {
        pci_spill_init(&nodes->arrays[i], store);
        nodes->open[i] = nodes->value_column[i] = nodes->value_table[i] = PCOL_NONE;
    }
}

void pci_node_store_clear(struct pci_node_store *nodes)
{
    pci_spill_clear(&nodes->records);
    pci_spill_clear(&nodes->arrays[0]);
    pci_spill_clear(&nodes->arrays[1]);
    pci_free(nodes->path);
    pci_free(nodes->preorder);
    nodes->path = nodes->preorder = NULL;
}

static pcol_status create_tables(pcol_builder *b, pcol_error *err)
{
    PCI_TRY(pcol_builder_table(b, "nodes", &b->nodes.table, err));
    for (int i = 0; i < 2; i++)
        PCI_TRY(pcol_builder_table(b, value_tables[i], &b->nodes.value_table[i], err));
    b->tables[b->nodes.table].fixed = 1;
    b->tables[b->nodes.value_table[0]].fixed = b->tables[b->nodes.value_table[1]].fixed = 1;
    return PCOL_OK;
}

static pcol_status get_record(const struct pci_node_store *n, uint64_t row,
                              struct pci_node_record *record, pcol_error *err)
{
    return pci_spill_read(&n->records, row * sizeof *record, record, sizeof *record, err);
}

/* The tag of a parent. Most nodes have the parent of the node before. */
static pcol_status get_parent_tag(struct pci_node_store *n, uint64_t parent, uint8_t *tag,
                                  pcol_error *err)
{
    struct pci_node_record record;
    if (n->recent_parent != parent) {
        PCI_TRY(get_record(n, parent, &record, err));
        n->recent_parent = parent;
        n->recent_tag = record.tag;
    }
    *tag = n->recent_tag;
    return PCOL_OK;
}

static int has_text(const struct pci_new_node *node)
{
    return node->tag == PCI_NODE_STRING || node->tag == PCI_NODE_BIG ||
           node->tag == PCI_NODE_BYTES || node->tag == PCI_NODE_TABLE ||
           node->tag == PCI_NODE_ROW || node->has_unit;
}

/* Validate a node; *keyed: it is a member of an object, which has a key. */
static pcol_status check_node(pcol_builder *b, const struct pci_new_node *node, int *keyed,
                              pcol_error *err)
{
    struct pci_node_store *n = &b->nodes;
    uint8_t tag;
    *keyed = 0;
    if (n->count >= MAX_NODES)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 nodes");
    if (node->tag > PCI_NODE_ROW || (has_text(node) && node->text >= b->strings.count))
        return pci_fail(err, PCOL_E_ARGUMENT, "a node has a tag or string that does not exist");
    if (node->parent == PCI_NO_NODE)
        return PCOL_OK;
    if (node->parent >= n->count)
        return pci_fail(err, PCOL_E_ARGUMENT, "a node's parent does not exist");
    PCI_TRY(get_parent_tag(n, node->parent, &tag, err));
    *keyed = tag == PCI_NODE_OBJECT;
    if (*keyed ? node->key < b->strings.count : tag == PCI_NODE_ARRAY)
        return PCOL_OK;
    return pci_fail(err, PCOL_E_ARGUMENT,
                    "a member of an object needs a key, and only objects and arrays have members");
}

/* Update the path from the root to the node that is about to be appended. */
static pcol_status update_path(struct pci_node_store *n, const struct pci_new_node *node,
                               pcol_error *err)
{
    if (!n->ordered)
        return PCOL_OK;
    if (node->parent == PCI_NO_NODE)
        n->path_size = 0;
    while (n->path_size && n->path[n->path_size - 1] != node->parent)
        n->path_size--;
    if (!n->path_size && node->parent != PCI_NO_NODE) {
        n->ordered = 0;
        return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(n->path, n->path_capacity, n->path_size + 1, err));
    n->path[n->path_size++] = (uint32_t)n->count;
    return PCOL_OK;
}

static pcol_status append_range(struct pci_node_store *n, int kind, uint64_t first, uint64_t count,
                                pcol_error *err)
{
    PCI_TRY(pci_spill_append_u64(&n->arrays[kind], first, err));
    return pci_spill_append_u64(&n->arrays[kind], count, err);
}

/* Store the range of the open array, which is complete. */
static pcol_status close_array(struct pci_node_store *n, int kind, pcol_error *err)
{
    if (n->open[kind] == PCOL_NONE)
        return PCOL_OK;
    n->open[kind] = PCOL_NONE;
    return append_range(n, kind, n->open_first[kind], n->element_count[kind] - n->open_first[kind],
                        err);
}

/* The memory of the import budget does not include what is spilled to disk: nodes count as bytes
 * that the input expands to. */
static pcol_status charge_nodes(const struct pci_node_store *n, pcol_error *err)
{
    return n->count % CHARGED_NODES
               ? PCOL_OK
               : pci_budget_charge_expansion(pci_thread_budget, CHARGED_NODES * NODE_COST, err);
}

static pcol_status add_node(pcol_builder *b, const struct pci_new_node *node, int64_t value,
                            uint64_t *row, pcol_error *err)
{
    struct pci_node_store *n = &b->nodes;
    struct pci_node_record record;
    int keyed;
    PCI_TRY(check_node(b, node, &keyed, err));
    PCI_TRY(charge_nodes(n, err));
    if (n->table == PCOL_NONE)
        PCI_TRY(create_tables(b, err));
    PCI_TRY(update_path(n, node, err));
    memset(&record, 0, sizeof record);
    record.parent = node->parent == PCI_NO_NODE ? PCOL_NONE : (uint32_t)node->parent;
    record.key = keyed ? node->key : PCOL_NONE;
    record.tag = node->tag;
    record.reversed = node->tag == PCI_NODE_ROW && node->reversed;
    record.text = has_text(node) ? node->text : PCOL_NONE;
    record.value = value;
    PCI_TRY(pci_spill_append(&n->records, &record, sizeof record, err));
    *row = n->count++;
    return PCOL_OK;
}

static int is_array(const struct pci_new_node *node)
{
    return node->tag == PCI_NODE_INTEGERS || node->tag == PCI_NODE_DOUBLES;
}

pcol_status pci_builder_node(pcol_builder *builder, const struct pci_new_node *node, uint64_t *row,
                             pcol_error *err)
{
    struct pci_node_store *n = &builder->nodes;
    int kind = node->tag == PCI_NODE_DOUBLES;
    int64_t value = 0;
    *row = 0;
    if (node->tag == PCI_NODE_INTEGER || node->tag == PCI_NODE_DOUBLE || node->tag == PCI_NODE_ROW)
        value = node->as.i64;
    if (!is_array(node))
        return add_node(builder, node, value, row, err);
    PCI_TRY(close_array(n, kind, err));
    value = (int64_t)(pci_spill_size(&n->arrays[kind]) / RANGE_BYTES);
    PCI_TRY(add_node(builder, node, value, row, err));
    n->open[kind] = (uint32_t)*row;
    n->open_first[kind] = n->element_count[kind];
    return PCOL_OK;
}

pcol_status pci_node_array_copy(pcol_builder *builder, const struct pci_new_node *node,
                                uint64_t first, uint64_t count, uint64_t *row, pcol_error *err)
{
    struct pci_node_store *n = &builder->nodes;
    int kind = node->tag == PCI_NODE_DOUBLES;
    *row = 0;
    PCI_TRY(close_array(n, kind, err));
    PCI_TRY(add_node(builder, node, (int64_t)(pci_spill_size(&n->arrays[kind]) / RANGE_BYTES), row,
                     err));
    return append_range(n, kind, first, count, err);
}

static pcol_status append_elements(pcol_builder *b, int kind, const int64_t *bits, size_t count,
                                   pcol_error *err)
{
    struct pci_node_store *n = &b->nodes;
    uint64_t row = n->element_count[kind];
    if (n->table == PCOL_NONE)
        PCI_TRY(create_tables(b, err));
    if (n->value_column[kind] == PCOL_NONE)
        PCI_TRY(pci_column_buffer_new(b, n->value_table[kind], "value", value_types[kind], 0,
                                      PCI_DROP_NEVER, &n->value_column[kind], err));
    struct pci_column_buffer *column = b->columns[n->value_column[kind]];
    n->element_count[kind] += count;
    return count == 1 ? pci_column_buffer_set(column, row, *bits, err)
                      : pci_column_buffer_set_many(column, row, bits, count, err);
}

pcol_status pci_node_element_copy(pcol_builder *builder, int kind, int64_t bits, pcol_error *err)
{
    PCI_TRY(close_array(&builder->nodes, kind, err));
    return append_elements(builder, kind, &bits, 1, err);
}

pcol_status pci_builder_node_elements(pcol_builder *builder, int kind, uint64_t node,
                                      const int64_t *bits, size_t n, pcol_error *err)
{
    const struct pci_node_store *nodes = &builder->nodes;
    if (nodes->open[kind] == PCOL_NONE || nodes->open[kind] != node)
        return pci_fail(err, PCOL_E_ARGUMENT, "the node is not the latest array of its type");
    return append_elements(builder, kind, bits, n, err);
}

pcol_status pci_builder_node_integer(pcol_builder *builder, uint64_t node, int64_t value,
                                     pcol_error *err)
{
    return pci_builder_node_elements(builder, 0, node, &value, 1, err);
}

pcol_status pci_builder_node_double(pcol_builder *builder, uint64_t node, double value,
                                    pcol_error *err)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return pci_builder_node_elements(builder, 1, node, &bits, 1, err);
}

pcol_status pci_builder_extra(pcol_builder *builder, uint32_t table, uint64_t row, uint64_t node,
                              pcol_error *err)
{
    uint32_t column;
    if (node >= builder->nodes.count)
        return pci_fail(err, PCOL_E_ARGUMENT, "the root of `extra` does not exist");
    PCI_TRY(pci_builder_column(builder, table, "extra", PCOL_U64, builder->nodes.table + 1, &column,
                               err));
    return pci_column_buffer_set(builder->columns[column], row, (int64_t)node, err);
}

/* ---- conversion to columns */

/* Sequential reader of records, in batches. */
struct record_reader {
    const struct pci_node_store *nodes;
    uint64_t first;
    size_t count;
    struct pci_node_record batch[BATCH];
};

static pcol_status read_record(struct record_reader *r, uint64_t row,
                               const struct pci_node_record **out, pcol_error *err)
{
    if (row - r->first >= r->count) {
        uint64_t left = r->nodes->count - row;
        r->count = left < BATCH ? (size_t)left : BATCH;
        r->first = row;
        PCI_TRY(pci_spill_read(&r->nodes->records, row * sizeof *r->batch, r->batch,
                               r->count * sizeof *r->batch, err));
    }
    *out = &r->batch[row - r->first];
    return PCOL_OK;
}

/* Compute n->preorder, the final rows, and *order, the node by final row: subtree sizes from
 * the last node to the first, then offsets from the first to the last. */
static pcol_status sort_nodes(struct pci_node_store *n, struct record_reader *r, uint32_t **order,
                              pcol_error *err)
{
    size_t count = (size_t)n->count;
    uint32_t *size = pci_malloc(count, sizeof *size), next_root = 0;
    uint32_t *parent = pci_malloc(count, sizeof *parent), *next;
    const struct pci_node_record *record;
    pcol_status status = PCOL_OK;
    n->preorder = pci_malloc(count, sizeof *n->preorder);
    *order = next = pci_malloc(count, sizeof *next);
    if (!size || !parent || !n->preorder || !*order)
        status = pci_fail_memory(err);
    for (size_t i = 0; i < count && status == PCOL_OK; i++) {
        status = read_record(r, i, &record, err);
        if (status != PCOL_OK)
            break;
        parent[i] = record->parent;
        size[i] = 1;
    }
    for (size_t i = count; i-- > 0 && status == PCOL_OK;)
        if (parent[i] != PCOL_NONE)
            size[parent[i]] += size[i];
    for (size_t i = 0; i < count && status == PCOL_OK; i++) {
        uint32_t *row = parent[i] == PCOL_NONE ? &next_root : &next[parent[i]];
        n->preorder[i] = *row;
        *row += size[i];
        next[i] = n->preorder[i] + 1;
    }
    for (size_t i = 0; i < count && status == PCOL_OK; i++)
        (*order)[n->preorder[i]] = (uint32_t)i;
    pci_free(size);
    pci_free(parent);
    return status;
}

struct node_columns {
    struct pci_column_buffer *parent, *key, *tag, *integer, *number, *text, *first;
};

static pcol_status create_node_columns(pcol_builder *b, struct node_columns *c, pcol_error *err)
{
    uint32_t t = b->nodes.table, references = t + 1;
    struct {
        const char *name;
        uint8_t type, drop;
        struct pci_column_buffer **to;
    } columns[] = {{"parent", PCF_U64, PCI_DROP_NULL, &c->parent},
                   {"key", PCF_STRING, PCI_DROP_NULL, &c->key},
                   {"tag", PCF_U32, PCI_DROP_NEVER, &c->tag},
                   {"integer", PCF_I64, PCI_DROP_NULL, &c->integer},
                   {"number", PCF_F64, PCI_DROP_NULL, &c->number},
                   {"text", PCF_STRING, PCI_DROP_NULL, &c->text},
                   {"first", PCF_U64, PCI_DROP_NULL, &c->first}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        uint32_t column;
        PCI_TRY(pci_column_buffer_new(b, t, columns[i].name, columns[i].type, i ? 0 : references,
                                      columns[i].drop, &column, err));
        *columns[i].to = b->columns[column];
    }
    return PCOL_OK;
}

static pcol_status write_array(const struct pci_node_store *n, const struct node_columns *c,
                               const struct pci_node_record *r, uint64_t row, pcol_error *err)
{
    int kind = r->tag == PCI_NODE_DOUBLES;
    uint64_t range[2];
    PCI_TRY(pci_spill_read(&n->arrays[kind], (uint64_t)r->value * RANGE_BYTES, range, sizeof range,
                           err));
    PCI_TRY(pci_column_buffer_set(c->integer, row, (int64_t)range[1], err));
    return pci_column_buffer_set(c->first, row, (int64_t)range[0], err);
}

/* A reference to a row of one of our tables, translated to the final row. */
static pcol_status write_row(const pcol_builder *b, const struct node_columns *c,
                             const struct pci_node_record *r, uint64_t row, pcol_error *err)
{
    static const double one = 1;
    pcol_str name = pci_string_pool_get(&b->strings, r->text);
    int64_t value = r->value, bits;
    for (uint32_t t = 0; t < b->table_count; t++) {
        const uint32_t *map = strlen(b->tables[t].name) == name.size &&
                                      !memcmp(b->tables[t].name, name.data, name.size)
                                  ? pci_final_rows(b, t)
                                  : NULL;
        if (map && (uint64_t)value < pci_builder_rows(b, t))
            value = map[value];
    }
    memcpy(&bits, &one, sizeof bits);
    if (r->reversed)
        PCI_TRY(pci_column_buffer_set(c->number, row, bits, err));
    return pci_column_buffer_set(c->integer, row, value, err);
}

static pcol_status write_node(const pcol_builder *b, const struct node_columns *c,
                              const struct pci_node_record *r, uint64_t row, pcol_error *err)
{
    if (r->parent != PCOL_NONE)
        PCI_TRY(pci_column_buffer_set(c->parent, row, r->parent, err));
    if (r->key != PCOL_NONE)
        PCI_TRY(pci_column_buffer_set(c->key, row, r->key, err));
    PCI_TRY(pci_column_buffer_set(c->tag, row, r->tag, err));
    if (r->text != PCOL_NONE)
        PCI_TRY(pci_column_buffer_set(c->text, row, r->text, err));
    if (r->tag == PCI_NODE_INTEGER)
        return pci_column_buffer_set(c->integer, row, r->value, err);
    if (r->tag == PCI_NODE_DOUBLE)
        return pci_column_buffer_set(c->number, row, r->value, err);
    if (r->tag == PCI_NODE_INTEGERS || r->tag == PCI_NODE_DOUBLES)
        return write_array(&b->nodes, c, r, row, err);
    return r->tag == PCI_NODE_ROW ? write_row(b, c, r, row, err) : PCOL_OK;
}

pcol_status pci_node_store_finish(pcol_builder *builder, pcol_error *err)
{
    struct pci_node_store *n = &builder->nodes;
    struct node_columns c;
    struct record_reader *r;
    uint32_t *order = NULL;
    pcol_status status;
    if (!n->count)
        return PCOL_OK;
    PCI_TRY(close_array(n, 0, err));
    PCI_TRY(close_array(n, 1, err));
    builder->tables[n->table].flags |= PCF_TABLE_PREORDER;
    PCI_TRY(create_node_columns(builder, &c, err));
    PCI_TRY(PCI_MALLOC(r, 1, err));
    r->nodes = n;
    r->first = r->count = 0;
    status = n->ordered ? PCOL_OK : sort_nodes(n, r, &order, err);
    for (uint64_t row = 0; row < n->count && status == PCOL_OK; row++) {
        const struct pci_node_record *record;
        status = read_record(r, order ? order[row] : row, &record, err);
        PCI_THEN(status, write_node(builder, &c, record, row, err));
    }
    pci_free(order);
    pci_free(r);
    pci_spill_clear(&n->records);
    return status;
}
