/*
 * test_value_trees.c - trees, JSON as trees, and source rows, through a file and back
 */
#include "rows_case.h"

#include "model/json_tree.h"
#include "stream/input_open.h"

#include <string.h>

/* ---- nodes */

Test(nodes, trees_may_grow_side_by_side)
{
    enum { TREES = 20, NODES = 2000 };
    pcol_builder *b = rows_begin();
    uint64_t ids[NODES], parents[NODES];
    struct pci_node_value node;
    struct rows_made made;
    rows_seed = 3;
    for (uint32_t i = 0; i < NODES; i++) {
        struct pci_new_node new = {.parent = PCI_NO_NODE, .tag = PCI_NODE_ARRAY};
        parents[i] = PCI_NO_NODE;
        if (i >= TREES) {
            uint32_t p = rows_dice(i);
            new.parent = ids[p];
            parents[i] = p;
        }
        OK(pci_builder_node(b, &new, &ids[i], NULL));
        if (i < TREES)
            OK(pci_builder_extra(b, PCI_T_SAMPLES, rows_sample(b, PCOL_NONE), ids[i], NULL));
    }
    rows_finish(b, &made); /* strict check: pre-order, one owner for each root */
    uint64_t found = 0, path[NODES];
    for (uint64_t row = 0; row < NODES; row++) {
        OK(pci_node_get(made.file, row, &node, NULL));
        path[row] = node.parent;
        found += node.parent == PCI_NO_NODE;
    }
    cr_assert_eq(found, TREES);
    /* The number of members of the first tree's root stays what it was. */
    uint64_t members = 0, expected = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        members += path[i] == 0;
        expected += parents[i] == 0;
    }
    cr_assert_eq(members, expected);
    rows_drop(&made);
}

static char out[65536];
static size_t out_size;

static pcol_status collect(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)err;
    cr_assert_lt(out_size + size, sizeof out);
    memcpy(out + out_size, data, size);
    out_size += size;
    return PCOL_OK;
}

static pcol_status put_place(void *context, const struct pci_node_value *node,
                             struct pci_json_writer *w, pcol_error *err)
{
    (void)context;
    pci_json_put_string(w, node->text, err);
    return PCOL_OK;
}

static void round_trip(const char *text, const char *expected)
{
    pcol_builder *b = rows_begin();
    struct pci_json json;
    struct pci_json_options options = {.flags = PCI_JSON_NONFINITE};
    struct pci_json_writer w;
    struct pci_input input;
    struct rows_made made;
    pcol_error err = {0};
    uint64_t node;
    OK(pci_input_open_memory(&input, text, strlen(text), "test", NULL, NULL));
    OK(pci_json_open(&json, &input, &options, NULL));
    OK(pci_json_next(&json, NULL));
    cr_assert_eq(pci_json_to_nodes(&json, b, PCI_NO_NODE, PCOL_NONE, &node, &err), PCOL_OK,
                 "%s: %s", text, err.message);
    OK(pci_json_finish(&json, NULL));
    pci_json_close(&json);
    pci_input_close(&input);
    OK(pci_builder_extra(b, PCI_T_SOURCES, 0, node, NULL));
    rows_finish(b, &made);
    out_size = 0;
    OK(pci_json_writer_open(&w, (pcol_sink){collect, NULL},
                            PCI_JSON_BARE_NONFINITE | PCI_JSON_POINT | PCI_JSON_WTF8, NULL));
    cr_assert_eq(pci_json_from_nodes(made.file, 0, &w, put_place, NULL, &err), PCOL_OK, "%s: %s",
                 text, err.message);
    OK(pci_json_writer_finish(&w, NULL));
    pci_json_writer_close(&w);
    out[out_size - 1] = 0; /* the line feed */
    cr_assert_str_eq(out, expected ? expected : text);
    rows_drop(&made);
}

Test(nodes, json_through_nodes_and_back)
{
    round_trip("null", NULL);
    round_trip("-0", NULL);
    round_trip("[]", NULL);
    round_trip("{}", NULL);
    round_trip("[1,2,3]", NULL);
    round_trip("[1.5,-0.0,NaN,Infinity,-Infinity]", NULL);
    round_trip("[1,2,3.5,4]", NULL);
    round_trip("[1.5,2]", NULL);
    round_trip("[1,-0,2]", NULL);
    round_trip("[1,[2,[3,[]]],4]", NULL);
    round_trip("[[1,2],[3.5],[\"x\"],[1,\"x\"],[{}],[[]]]", NULL);
    round_trip("{\"a\":1,\"a\":2,\"\":{\"b\":[true,false,null]},\"z\":\"\"}", NULL);
    round_trip("[9223372036854775807,-9223372036854775808]", NULL);
    round_trip("[9223372036854775808,123456789012345678901234567890]", NULL);
    round_trip("{\"s\":\"a\\u0000b\\ud800\",\"t\":[[],[],{}]}", NULL);
    round_trip(" [ 1 , 2e0 ] ", "[1,2.0]");
}

Test(nodes, deep_json)
{
    char text[2001];
    memset(text, '[', 1000);
    memset(text + 1000, ']', 1000);
    text[2000] = 0;
    round_trip(text, NULL);
}

Test(nodes, typed_arrays_of_many_trees)
{
    pcol_builder *b = rows_begin();
    struct rows_made made;
    struct pci_node_reader reader;
    struct pci_node_value node;
    uint64_t root[2], array;
    for (int t = 0; t < 2; t++) {
        struct pci_new_node new = {.parent = PCI_NO_NODE, .tag = PCI_NODE_ARRAY};
        OK(pci_builder_node(b, &new, &root[t], NULL));
        OK(pci_builder_extra(b, PCI_T_SAMPLES, rows_sample(b, PCOL_NONE), root[t], NULL));
    }
    for (int i = 0; i < 40; i++) { /* arrays of 0, 1, 2, ... elements, into both trees by turns */
        struct pci_new_node new = {.parent = root[i % 2], .tag = PCI_NODE_INTEGERS};
        if (i % 3 == 0)
            new.tag = PCI_NODE_DOUBLES;
        OK(pci_builder_node(b, &new, &array, NULL));
        for (int k = 0; k < i; k++) {
            if (i % 3 == 0)
                OK(pci_builder_node_double(b, array, i + k / 2.0, NULL));
            else
                OK(pci_builder_node_integer(b, array, i * 100 + k, NULL));
        }
    }
    rows_finish(b, &made);
    OK(pci_nodes_open(&reader, made.file, NULL));
    cr_assert_eq(reader.rows, 42);
    for (int t = 0; t < 2; t++) {
        uint64_t member;
        OK(pci_nodes_first(&reader, t ? 21 : 0, &member, NULL));
        for (int i = t; i < 40; i += 2) {
            int64_t values[64];
            OK(pci_nodes_get(&reader, member, &node, NULL));
            cr_assert_eq(node.end - node.first, i);
            if (i)
                OK(pci_nodes_elements(&reader, &node, 0, (size_t)i, values, NULL));
            for (int k = 0; k < i; k++) {
                double number;
                memcpy(&number, &values[k], sizeof number);
                if (node.tag == PCI_NODE_DOUBLES)
                    cr_assert_eq(number, i + k / 2.0);
                else
                    cr_assert_eq(values[k], i * 100 + k);
            }
            OK(pci_nodes_next(&reader, t ? 21 : 0, &member, NULL));
        }
        cr_assert_eq(member, PCI_NO_NODE);
    }
    rows_drop(&made);
}

Test(nodes, wrong_nodes_are_refused)
{
    pcol_builder *b = rows_begin();
    struct pci_new_node node = {.parent = 0, .tag = PCI_NODE_NULL};
    uint64_t row;
    cr_assert_eq(pci_builder_node(b, &node, &row, NULL), PCOL_E_ARGUMENT, "no such parent");
    node = (struct pci_new_node){.parent = PCI_NO_NODE, .tag = PCI_NODE_INTEGERS};
    OK(pci_builder_node(b, &node, &row, NULL));
    node = (struct pci_new_node){.parent = row, .tag = PCI_NODE_NULL};
    cr_assert_eq(pci_builder_node(b, &node, &row, NULL), PCOL_E_ARGUMENT, "no container");
    cr_assert_eq(pci_builder_node_double(b, 0, 1, NULL), PCOL_E_ARGUMENT);
    node = (struct pci_new_node){.parent = PCI_NO_NODE, .tag = 14};
    cr_assert_eq(pci_builder_node(b, &node, &row, NULL), PCOL_E_ARGUMENT);
    pcol_builder_free(b);
}

/* ---- source rows */

Test(nodes, orders)
{
    pcol_builder *b = rows_begin();
    struct rows_made made;
    struct pci_order order;
    uint32_t stacks[4], group, table = rows_string(b, "stackTable"),
                               other = rows_string(b, "frameTable"), thread;
    pcol_group g = PCOL_INIT(pcol_group);
    pcol_group h = PCOL_INIT(pcol_group);
    g.mapping = h.mapping = PCOL_NONE;
    h.flags |= PCOL_GROUP_HAS_ADDRESS;
    OK(pcol_builder_group(b, &g, &group, NULL));
    OK(pcol_builder_stack(b, 0, group, &stacks[0], NULL)); /* places 1, 3, 2, 4 in the end */
    OK(pcol_builder_group(b, &h, &group, NULL));
    OK(pcol_builder_stack(b, 0, group, &stacks[1], NULL));
    OK(pcol_builder_stack(b, stacks[0], group, &stacks[2], NULL));
    OK(pcol_builder_stack(b, stacks[1], group, &stacks[3], NULL));
    OK(pcol_builder_column(b, PCI_T_THREADS, "source", PCOL_U32, PCI_T_SOURCES + 1, &thread, NULL));
    OK(pcol_builder_set_i64(b, thread, 0, 0, NULL));
    for (uint64_t i = 0; i < 8; i++) {
        struct pci_source_row row = {0,     0, table,         PCI_T_STACKS + 1,
                                     i & 1, i, stacks[i % 4], i * 10};
        OK(pci_builder_source_row(b, &row, NULL));
    }
    for (uint64_t i = 0; i < 3; i++) {
        struct pci_source_row row = {0, PCOL_NONE, other, PCI_T_GROUPS + 1, 0, i, i % 2, 0};
        OK(pci_builder_source_row(b, &row, NULL));
    }
    OK(pci_builder_source_column(b, 0, 0, table, rows_string(b, "prefix"), PCOL_NONE, NULL));
    rows_finish(b, &made);
    OK(pci_order_read(made.file, 0, 0, "stackTable", &order, NULL));
    cr_assert(order.known);
    cr_assert_eq(order.count, 8);
    for (uint64_t i = 0; i < 8; i++) {
        static const uint64_t places[] = {1, 3, 2, 4};
        cr_assert_eq(order.rows[i], places[i % 4]);
        cr_assert_eq(order.has_id[i], i & 1);
        if (i & 1)
            cr_assert_eq(order.ids[i], i * 10);
    }
    pci_order_clear(&order);
    OK(pci_order_read(made.file, 0, PCOL_NONE, "frameTable", &order, NULL));
    cr_assert_eq(order.count, 3);
    cr_assert_eq(order.rows[1], 1);
    pci_order_clear(&order);
    OK(pci_order_read(made.file, 0, 0, "frameTable", &order, NULL));
    cr_assert(!order.known);
    pci_order_clear(&order);
    rows_drop(&made);
}

Test(nodes, wrong_source_rows_are_refused)
{
    pcol_builder *b = rows_begin();
    uint32_t table = rows_string(b, "t");
    struct pci_source_row row = {0, PCOL_NONE, table, PCI_T_STACKS + 1, 0, 0, 0, 0};
    OK(pci_builder_source_row(b, &row, NULL));
    cr_assert_eq(pci_builder_source_row(b, &row, NULL), PCOL_E_ARGUMENT, "ordinals rise");
    row.ordinal = 1;
    row.target = 0;
    cr_assert_eq(pci_builder_source_row(b, &row, NULL), PCOL_E_ARGUMENT, "no table of ours");
    row.target = PCI_T_STACKS + 1;
    row.source = 5;
    row.ordinal = 0;
    cr_assert_eq(pci_builder_source_row(b, &row, NULL), PCOL_E_ARGUMENT, "no such source");
    pcol_builder_free(b);
}
