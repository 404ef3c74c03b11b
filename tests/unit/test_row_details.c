/*
 * test_row_details.c - interned rows and labels, through a file and back
 *
 * The content is pseudo-random; expected rows are plain arrays.
 */
#include "rows_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions, groups, interned rows */

Test(rows, ids_are_no_part_of_a_function)
{
    pcol_builder *b = rows_begin();
    pcol_function f = PCOL_INIT(pcol_function);
    uint32_t first, row;
    struct rows_made made;
    int valid;
    f.name = rows_string(b, "f");
    f.system_name = f.filename = PCOL_NONE;
    f.flags |= PCOL_FUNCTION_HAS_ID;
    f.id = 7;
    OK(pcol_builder_function(b, &f, &first, NULL));
    f.id = 8;
    OK(pcol_builder_function(b, &f, &row, NULL));
    cr_assert_eq(row, first);
    f.flags &= ~PCOL_FUNCTION_HAS_ID;
    OK(pcol_builder_function(b, &f, &row, NULL));
    cr_assert_eq(row, first);
    f.variant = 1;
    OK(pcol_builder_function(b, &f, &row, NULL));
    cr_assert_eq(row, first + 1);
    rows_finish(b, &made);
    cr_assert_eq(rows_cell(made.file, "functions", "id", 0, &valid), 7);
    rows_cell(made.file, "functions", "id", 1, &valid);
    cr_assert_eq(valid, 0);
    rows_drop(&made);
}

Test(rows, ids_are_no_part_of_a_group)
{
    pcol_builder *b = rows_begin();
    pcol_group g = PCOL_INIT(pcol_group);
    uint32_t first, row;
    g.mapping = PCOL_NONE;
    g.address = 4096;
    g.flags |= PCOL_GROUP_HAS_ADDRESS | PCOL_GROUP_HAS_ID;
    g.id = 1;
    OK(pcol_builder_group(b, &g, &first, NULL));
    g.id = 2;
    OK(pcol_builder_group(b, &g, &row, NULL));
    cr_assert_eq(row, first);
    g.variant = 3;
    OK(pcol_builder_group(b, &g, &row, NULL));
    cr_assert_neq(row, first);
    g.variant = 0;
    g.flags |= PCOL_GROUP_FOLDED;
    OK(pcol_builder_group(b, &g, &row, NULL));
    cr_assert_neq(row, first);
    pcol_builder_free(b);
}

Test(rows, further_cells_distinguish_functions)
{
    pcol_builder *b = rows_begin();
    pcol_function f = PCOL_INIT(pcol_function);
    uint32_t column[2], row[5];
    int is_new, valid;
    struct rows_made made;
    f.name = rows_string(b, "f");
    f.system_name = f.filename = PCOL_NONE;
    OK(pcol_builder_column(b, PCI_T_FUNCTIONS, "is_js", PCOL_BOOL, 0, &column[0], NULL));
    OK(pcol_builder_column(b, PCI_T_FUNCTIONS, "weight", PCOL_I64, 0, &column[1], NULL));
    struct pci_cell_value none[2] = {{0, 1}, {0, 0}}, js[2] = {{1, 1}, {0, 0}},
                          zero[2] = {{0, 0}, {0, 1}};
    OK(pci_builder_function(b, 0, &f, column, none, 2, &row[0], &is_new, NULL));
    cr_assert(is_new);
    OK(pcol_builder_function(b, &f, &row[1], NULL));
    cr_assert_eq(row[0], row[1], "cells without content make no variant");
    OK(pci_builder_function(b, 0, &f, column, js, 2, &row[2], &is_new, NULL));
    cr_assert(is_new);
    OK(pci_builder_function(b, 0, &f, column, zero, 2, &row[3], &is_new, NULL));
    cr_assert(is_new, "a zero that is written is no null");
    OK(pci_builder_function(b, 0, &f, column, js, 1, &row[4], &is_new, NULL));
    cr_assert_eq(row[4], row[2]);
    cr_assert(!is_new);
    f.variant = 1;
    OK(pci_builder_function(b, 0, &f, column, js, 2, &row[4], &is_new, NULL));
    cr_assert(is_new);
    rows_finish(b, &made);
    cr_assert_eq(rows_cell(made.file, "functions", "is_js", row[2], &valid), 1);
    cr_assert_eq(rows_cell(made.file, "functions", "is_js", row[3], &valid), 0);
    cr_assert_eq(rows_cell(made.file, "functions", "weight", row[3], &valid), 0);
    cr_assert(valid);
    rows_drop(&made);
}

Test(rows, repetitions_of_one_source_stay_apart)
{
    pcol_builder *b = rows_begin();
    pcol_function f = PCOL_INIT(pcol_function);
    f.system_name = f.filename = PCOL_NONE;
    for (uint32_t s = 0; s < 2; s++) {
        pci_builder_begin_input(b);
        for (uint32_t i = 0; i < 200; i++) {
            uint32_t row;
            f.name = i % 2 ? rows_string(b, "f") : rows_string(b, "g");
            f.id = s * 1000 + i;
            f.flags |= PCOL_FUNCTION_HAS_ID;
            OK(pci_builder_function(b, 1, &f, NULL, NULL, 0, &row, NULL, NULL));
            cr_assert_eq(row, i, "the second source finds the rows of the first");
        }
    }
    pcol_builder_free(b);
}

Test(rows, interned_rows)
{
    pcol_builder *b = rows_begin();
    uint32_t table, column[3], row[200];
    struct pci_cell_value cells[200][3];
    struct rows_made made;
    int is_new;
    uint64_t distinct = 0;
    rows_seed = 1;
    OK(pcol_builder_table(b, "mappings", &table, NULL));
    OK(pcol_builder_column(b, table, "filename", PCOL_STRING, 0, &column[0], NULL));
    OK(pcol_builder_column(b, table, "start", PCOL_U64, 0, &column[1], NULL));
    OK(pcol_builder_column(b, table, "has_functions", PCOL_BOOL, 0, &column[2], NULL));
    for (int i = 0; i < 200; i++) {
        uint32_t order[3] = {column[2], column[0], column[1]};
        char name[8];
        snprintf(name, sizeof name, "f%u", rows_dice(3));
        cells[i][1] = (struct pci_cell_value){rows_string(b, name), rows_dice(2) != 0};
        cells[i][2] = (struct pci_cell_value){rows_dice(3), rows_dice(2) != 0};
        cells[i][0] = (struct pci_cell_value){rows_dice(2), rows_dice(2) != 0};
        OK(pci_builder_intern(b, table, order, cells[i], 3, 0, &row[i], &is_new, NULL));
        cr_assert_eq(is_new, row[i] == distinct);
        distinct += is_new != 0;
    }
    cr_assert_lt(distinct, 4 * 4 * 2 + 1);
    rows_finish(b, &made);
    for (int i = 0; i < 200; i++) {
        int valid;
        int64_t value = rows_cell(made.file, "mappings", "start", row[i], &valid);
        cr_assert_eq(valid, cells[i][2].valid);
        cr_assert_eq(value, valid ? cells[i][2].bits : 0);
        value = rows_cell(made.file, "mappings", "has_functions", row[i], &valid);
        cr_assert_eq(value, cells[i][0].valid ? cells[i][0].bits : 0);
    }
    rows_drop(&made);
}

Test(rows, wrong_cells_are_refused)
{
    pcol_builder *b = rows_begin();
    uint32_t column, row;
    struct pci_cell_value one = {1, 1}, big = {5, 1};
    OK(pcol_builder_column(b, PCI_T_MAPPINGS, "has_functions", PCOL_BOOL, 0, &column, NULL));
    cr_assert_eq(pci_builder_intern(b, PCI_T_THREADS, &column, &one, 1, 0, &row, NULL, NULL),
                 PCOL_E_ARGUMENT);
    cr_assert_eq(pci_builder_intern(b, PCI_T_MAPPINGS, &column, &big, 1, 0, &row, NULL, NULL),
                 PCOL_E_ARGUMENT);
    pcol_builder_free(b);
}

/* ---- labels */

#define ROWS 3000u
#define MOST 12u

struct kept {
    uint32_t count; /* PCOL_NONE: never given */
    struct pci_label labels[MOST];
};

static const char *const names[] = {"", "a", "b", "trace", "bytes", "span", "x", "y", "z"};

static void random_label(pcol_builder *b, struct pci_label *l, uint32_t groups, uint32_t stacks)
{
    static const uint8_t some[] = {PCI_LABEL_STRING, PCI_LABEL_INTEGER, PCI_LABEL_DOUBLE,
                                   PCI_LABEL_BIGINT, PCI_LABEL_BOOL,    PCI_LABEL_NULL,
                                   PCI_LABEL_EMPTY,  PCI_LABEL_FRAME,   PCI_LABEL_STACK,
                                   PCI_LABEL_RSTACK, PCI_LABEL_VALUE,   PCI_LABEL_OWNSTACK};
    memset(l, 0, sizeof *l);
    l->key = rows_string(b, names[rows_dice(sizeof names / sizeof *names)]);
    l->unit = rows_dice(6) ? PCOL_NONE : rows_string(b, "bytes");
    l->kind = some[rows_dice(sizeof some)];
    l->joined = rows_dice(9) == 0;
    if (l->kind == PCI_LABEL_STRING)
        l->text = rows_string(b, names[rows_dice(9)]);
    else if (l->kind == PCI_LABEL_BIGINT)
        l->text = rows_string(b, "-123456789012345678901234567890");
    else if (l->kind == PCI_LABEL_DOUBLE)
        l->as.f64 = rows_dice(5) ? rows_dice(1000) / 7.0 : (double)NAN;
    else if (l->kind == PCI_LABEL_INTEGER)
        l->as.i64 = rows_dice(4) ? (int64_t)rows_dice(100) - 50 : INT64_MIN;
    else if (l->kind == PCI_LABEL_BOOL)
        l->as.i64 = rows_dice(2);
    else if (l->kind == PCI_LABEL_FRAME)
        l->as.i64 = rows_dice(groups);
    else if (l->kind == PCI_LABEL_STACK || l->kind == PCI_LABEL_RSTACK)
        l->as.i64 = rows_dice(stacks);
}

static char *texts[1000];

/* The strings of a builder by code, for comparing with a file. */
static void keep_texts(pcol_builder *b)
{
    for (uint32_t i = 0; i < b->strings.count && i < 1000; i++) {
        pcol_str s = pci_string_pool_get(&b->strings, i);
        texts[i] = malloc(s.size + 1);
        memcpy(texts[i], s.data, s.size);
        texts[i][s.size] = 0;
    }
}

static int is_text(pcol_str s, uint32_t code)
{
    return s.size == strlen(texts[code]) && !memcmp(s.data, texts[code], s.size);
}

static void expect_cell(const struct pci_label_cell *c, const struct pci_label *l,
                        const uint32_t *place)
{
    cr_assert_not_null(c->key);
    cr_assert(is_text(c->key->key, l->key));
    cr_assert_eq(c->key->has_unit, l->unit != PCOL_NONE);
    cr_assert_eq(c->key->kind, l->kind);
    cr_assert_eq(c->joined, l->joined);
    if (l->kind == PCI_LABEL_STRING || l->kind == PCI_LABEL_BIGINT)
        cr_assert(is_text(c->as.text, l->text));
    else if (l->kind == PCI_LABEL_STACK || l->kind == PCI_LABEL_RSTACK)
        cr_assert_eq(c->as.i64, place[l->as.i64]);
    else if (l->kind == PCI_LABEL_NULL || l->kind == PCI_LABEL_EMPTY)
        cr_assert_eq(c->as.i64, 1);
    else if (l->kind != PCI_LABEL_VALUE && l->kind != PCI_LABEL_OWNSTACK)
        cr_assert_eq(c->as.i64, l->as.i64);
}

Test(rows, random_labels)
{
    static struct kept kept[ROWS];
    pcol_builder *b = rows_begin();
    uint32_t group[5], stack[20] = {0}, type;
    struct rows_made made;
    struct pci_label_reader reader;
    rows_seed = 2;
    OK(pcol_builder_sample_type(b, "samples", "count", 0, 0, &type, NULL));
    for (uint32_t i = 0; i < 5; i++) {
        pcol_group g = PCOL_INIT(pcol_group);
        g.mapping = PCOL_NONE;
        g.flags |= PCOL_GROUP_HAS_ADDRESS;
        g.address = i;
        OK(pcol_builder_group(b, &g, &group[i], NULL));
    }
    for (uint32_t i = 1; i < 20; i++)
        OK(pcol_builder_stack(b, stack[rows_dice(i)], group[rows_dice(5)], &stack[i], NULL));
    for (uint32_t i = 0; i < ROWS; i++) {
        pcol_value value = {type, {.i64 = i}};
        pcol_sample sample = PCOL_INIT(pcol_sample);
        uint64_t row;
        sample.thread = PCOL_NONE;
        sample.values = &value; /* and the empty stack: labels distinguish the two */
        sample.value_count = 1;
        OK(pcol_builder_sample(b, &sample, &row, NULL));
        kept[i].count = rows_dice(10) ? rows_dice(MOST + 1) : PCOL_NONE;
        if (kept[i].count == PCOL_NONE)
            continue;
        if (i && rows_dice(2) && kept[i - 1].count != PCOL_NONE)
            kept[i] = kept[i - 1];
        else
            for (uint32_t k = 0; k < kept[i].count; k++)
                random_label(b, &kept[i].labels[k], 5, (uint32_t)b->tree.count);
        OK(pci_builder_labels(b, PCI_T_SAMPLES, row, kept[i].labels, kept[i].count, NULL, NULL));
    }
    keep_texts(b);
    struct pci_call_tree tree; /* for the places */
    OK(pci_call_tree_init(&tree, NULL));
    for (uint32_t i = 1, node; i < b->tree.count; i++)
        OK(pci_call_tree_child(&tree, b->tree.nodes[i].parent, b->tree.nodes[i].group, &node,
                               NULL));
    OK(pci_call_tree_finish(&tree, NULL));
    const uint32_t *place = tree.preorder;
    rows_finish(b, &made);
    OK(pci_labels_open(&reader, made.file, "samples", NULL));
    for (uint32_t i = 0; i < ROWS; i++) {
        pcol_error err = {0};
        size_t count = kept[i].count == PCOL_NONE ? 0 : kept[i].count;
        cr_assert_eq(pci_labels_row(&reader, i, &err), PCOL_OK, "%s", err.message);
        cr_assert_eq(reader.cell_count, count);
        cr_assert_eq(reader.extra, PCI_NO_NODE);
        if (kept[i].count == 0)
            cr_assert(reader.has_shape);
        for (size_t k = 0; k < count; k++)
            expect_cell(&reader.cells[k], &kept[i].labels[k], place);
    }
    pci_labels_close(&reader);
    pci_call_tree_clear(&tree);
    for (size_t i = 0; i < 1000; i++)
        free(texts[i]);
    rows_drop(&made);
}

Test(rows, labels_in_order_need_no_shape)
{
    pcol_builder *b = rows_begin();
    struct rows_made made;
    const pcol_table *t;
    struct pci_label l[3] = {
        {.key = rows_string(b, "a"), .unit = PCOL_NONE, .kind = PCI_LABEL_INTEGER},
        {.key = rows_string(b, "b"), .unit = PCOL_NONE, .kind = PCI_LABEL_INTEGER},
        {.key = rows_string(b, "b"), .unit = PCOL_NONE, .kind = PCI_LABEL_INTEGER}};
    for (uint32_t i = 0; i < 100; i++) {
        OK(pci_builder_labels(b, PCI_T_SAMPLES, rows_sample(b, PCOL_NONE), l, 3, NULL, NULL));
        OK(pci_builder_labels(b, PCI_T_SAMPLES, rows_sample(b, PCOL_NONE), l + 1, 1, NULL, NULL));
    }
    rows_finish(b, &made);
    cr_assert_eq(pcol_file_table_by_name(made.file, PCOL_MODEL_PHYSICAL, "label_shapes", &t, NULL),
                 PCOL_E_NOT_FOUND);
    OK(pcol_file_table_by_name(made.file, PCOL_MODEL_PHYSICAL, "label_keys", &t, NULL));
    cr_assert_eq(pcol_table_rows(t), 3);
    rows_drop(&made);
}

Test(rows, labels_past_the_last_column_go_to_extra)
{
    pcol_builder *b = rows_begin();
    struct rows_made made;
    struct pci_label_reader reader;
    struct pci_node_value node;
    enum { KEYS = 700 };
    for (uint32_t i = 0; i < KEYS; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", i);
        struct pci_label l[3] = {{.key = rows_string(b, name),
                                  .unit = PCOL_NONE,
                                  .kind = PCI_LABEL_STRING,
                                  .text = rows_string(b, name)},
                                 {.key = rows_string(b, "k0"),
                                  .unit = PCOL_NONE,
                                  .kind = PCI_LABEL_STRING,
                                  .text = rows_string(b, "v")},
                                 {.key = rows_string(b, name),
                                  .unit = rows_string(b, "ms"),
                                  .kind = PCI_LABEL_INTEGER,
                                  .as.i64 = -1}};
        OK(pci_builder_labels(b, PCI_T_SAMPLES, rows_sample(b, PCOL_NONE), l, 3, NULL, NULL));
    }
    rows_finish(b, &made);
    OK(pci_labels_open(&reader, made.file, "samples", NULL));
    cr_assert_eq(reader.key_count, 512);
    for (uint32_t i = 0; i < KEYS; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", i);
        OK(pci_labels_row(&reader, i, NULL));
        cr_assert_eq(reader.cell_count, 3);
        cr_assert_eq(reader.cells[1].as.text.size, 1);
        const struct pci_label_cell *c = reader.cells;
        if (c->key) {
            cr_assert_eq(c->as.text.size, strlen(name));
            continue;
        }
        OK(pci_node_get(made.file, c[0].node, &node, NULL));
        cr_assert_eq(node.tag, PCI_NODE_STRING);
        cr_assert(node.key.size == strlen(name) && !memcmp(node.key.data, name, node.key.size));
        cr_assert(node.text.size == strlen(name) && !memcmp(node.text.data, name, node.text.size));
        OK(pci_node_get(made.file, c[2].node, &node, NULL));
        cr_assert_eq(node.integer, -1);
        cr_assert(node.has_text && node.text.size == 2);
    }
    cr_assert_null(reader.cells[0].key);
    pci_labels_close(&reader);
    rows_drop(&made);
}

Test(rows, labels_and_members_of_extra)
{
    pcol_builder *b = rows_begin();
    struct rows_made made;
    struct pci_label_reader reader;
    struct pci_new_node node = {.parent = PCI_NO_NODE, .tag = PCI_NODE_OBJECT};
    uint64_t extra, member;
    struct pci_label l[3] = {
        {.kind = PCI_LABEL_EXTRA},
        {.key = rows_string(b, "a"), .unit = PCOL_NONE, .kind = PCI_LABEL_INTEGER},
        {.kind = PCI_LABEL_EXTRA}};
    uint32_t row = rows_sample(b, PCOL_NONE);
    OK(pci_builder_node(b, &node, &extra, NULL));
    OK(pci_builder_labels(b, PCI_T_SAMPLES, row, l, 3, &extra, NULL));
    for (uint32_t i = 0; i < 2; i++) {
        node = (struct pci_new_node){.parent = extra, .key = rows_string(b, i ? "y" : "x")};
        node.tag = PCI_NODE_ARRAY;
        OK(pci_builder_node(b, &node, &member, NULL));
        node = (struct pci_new_node){.parent = member, .tag = PCI_NODE_INTEGER, .as.i64 = i};
        OK(pci_builder_node(b, &node, &member, NULL));
    }
    OK(pci_builder_extra(b, PCI_T_SAMPLES, row, extra, NULL));
    rows_finish(b, &made);
    OK(pci_labels_open(&reader, made.file, "samples", NULL));
    OK(pci_labels_row(&reader, 0, NULL));
    cr_assert_eq(reader.cell_count, 3);
    cr_assert_eq(reader.cells[0].node, 1);
    cr_assert_not_null(reader.cells[1].key);
    cr_assert_eq(reader.cells[2].node, 3);
    pci_labels_close(&reader);
    rows_drop(&made);
}

Test(rows, wrong_labels_are_refused)
{
    pcol_builder *b = rows_begin();
    struct pci_label l = {.key = 0, .unit = PCOL_NONE, .kind = PCI_LABEL_STACK, .as.i64 = 5};
    uint32_t row = rows_sample(b, PCOL_NONE);
    rows_string(b, "key");
    cr_assert_eq(pci_builder_labels(b, PCI_T_SAMPLES, row, &l, 1, NULL, NULL), PCOL_E_ARGUMENT);
    l.kind = PCI_LABEL_INTEGER;
    cr_assert_eq(pci_builder_labels(b, PCI_T_SAMPLES, row, &l, 1, NULL, NULL), PCOL_E_ARGUMENT,
                 "a row has labels once");
    l.key = 999;
    cr_assert_eq(pci_builder_labels(b, PCI_T_SAMPLES, row + 1, &l, 1, NULL, NULL), PCOL_E_ARGUMENT);
    pcol_builder_free(b);
}
