/*
 * test_rows.c - interned rows, labels, nodes and source rows, through a file and back
 *
 * What goes in comes from pseudo-random numbers and is kept beside the file in plain arrays.
 */
#include <criterion/criterion.h>

#include "core/builder.h"
#include "io/open.h"
#include "model/rows.h"
#include "json/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;

static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % sides;
}

#define OK(call)                                                       \
    do {                                                               \
        pcol_error e_ = {0};                                           \
        pcol_status s_ = (call);                                       \
        (void)e_;                                                      \
        cr_assert_eq(s_, PCOL_OK, #call ": %s", pcol_status_name(s_)); \
    } while (0)

static uint32_t str(pcol_builder *b, const char *text)
{
    uint32_t code;
    OK(pcol_builder_string(b, text, strlen(text), &code, NULL));
    return code;
}

struct made {
    pcol_file *file;
    void *data;
    size_t size;
};

static pcol_builder *begin(void)
{
    pcol_builder *b;
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row;
    source.type = "test";
    OK(pcol_builder_new(NULL, &b, NULL));
    OK(pcol_builder_source(b, &source, &row, NULL));
    return b;
}

static int say_fault(void *context, const pcol_fault *fault)
{
    (void)context;
    if (!fault->note)
        fprintf(stderr, "%s.%s row %lld: %s\n", fault->table, fault->column, (long long)fault->row,
                fault->message);
    return 0;
}

static void finish(pcol_builder *b, struct made *made)
{
    pcol_error err = {0};
    uint64_t faults;
    cr_assert_eq(pcol_builder_write_memory(b, 0, &made->data, &made->size, &err), PCOL_OK, "%s",
                 err.message);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(made->data, made->size, NULL, &made->file, &err), PCOL_OK,
                 "%s", err.message);
    OK(pcol_file_check(made->file, PCOL_CHECK_STRICT, say_fault, NULL, &faults, NULL));
    cr_assert_eq(faults, 0);
}

static void drop(struct made *made)
{
    pcol_file_close(made->file);
    pcol_free(made->data);
}

static int64_t cell(const pcol_file *file, const char *table, const char *column, uint64_t row,
                    int *valid)
{
    const pcol_table *t;
    const pcol_column *c;
    int64_t value = 0;
    *valid = 0;
    OK(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, table, &t, NULL));
    c = pcol_table_column_by_name(t, column, NULL);
    if (c)
        OK(pcol_column_i64(c, row, &value, valid, NULL));
    return value;
}

static uint32_t sample(pcol_builder *b, uint32_t stack)
{
    pcol_sample s = PCOL_INIT(pcol_sample);
    uint64_t row;
    s.thread = PCOL_NONE;
    s.stack = stack;
    OK(pcol_builder_sample(b, &s, &row, NULL));
    return (uint32_t)row;
}

/* ---- functions, groups, interned rows */

Test(rows, ids_are_no_part_of_a_function)
{
    pcol_builder *b = begin();
    pcol_function f = PCOL_INIT(pcol_function);
    uint32_t first, row;
    struct made made;
    int valid;
    f.name = str(b, "f");
    f.system_name = f.filename = PCOL_NONE;
    f.has_id = 1;
    f.id = 7;
    OK(pcol_builder_function(b, &f, &first, NULL));
    f.id = 8;
    OK(pcol_builder_function(b, &f, &row, NULL));
    cr_assert_eq(row, first);
    f.has_id = 0;
    OK(pcol_builder_function(b, &f, &row, NULL));
    cr_assert_eq(row, first);
    f.variant = 1;
    OK(pcol_builder_function(b, &f, &row, NULL));
    cr_assert_eq(row, first + 1);
    finish(b, &made);
    cr_assert_eq(cell(made.file, "functions", "id", 0, &valid), 7);
    cell(made.file, "functions", "id", 1, &valid);
    cr_assert_eq(valid, 0);
    drop(&made);
}

Test(rows, ids_are_no_part_of_a_group)
{
    pcol_builder *b = begin();
    pcol_group g = PCOL_INIT(pcol_group);
    uint32_t first, row;
    g.mapping = PCOL_NONE;
    g.address = 4096;
    g.has_address = g.has_id = 1;
    g.id = 1;
    OK(pcol_builder_group(b, &g, &first, NULL));
    g.id = 2;
    OK(pcol_builder_group(b, &g, &row, NULL));
    cr_assert_eq(row, first);
    g.variant = 3;
    OK(pcol_builder_group(b, &g, &row, NULL));
    cr_assert_neq(row, first);
    g.variant = 0;
    g.folded = 1;
    OK(pcol_builder_group(b, &g, &row, NULL));
    cr_assert_neq(row, first);
    pcol_builder_free(b);
}

Test(rows, further_cells_tell_functions_apart)
{
    pcol_builder *b = begin();
    pcol_function f = PCOL_INIT(pcol_function);
    uint32_t column[2], row[5];
    int is_new, valid;
    struct made made;
    f.name = str(b, "f");
    f.system_name = f.filename = PCOL_NONE;
    OK(pcol_builder_column(b, PCI_T_FUNCTIONS, "is_js", PCOL_BOOL, 0, &column[0], NULL));
    OK(pcol_builder_column(b, PCI_T_FUNCTIONS, "weight", PCOL_I64, 0, &column[1], NULL));
    struct pci_icell none[2] = {{0, 1}, {0, 0}}, js[2] = {{1, 1}, {0, 0}},
                     zero[2] = {{0, 0}, {0, 1}};
    OK(pci_builder_function(b, NULL, &f, column, none, 2, &row[0], &is_new, NULL));
    cr_assert(is_new);
    OK(pcol_builder_function(b, &f, &row[1], NULL));
    cr_assert_eq(row[0], row[1], "cells that say nothing make no variant");
    OK(pci_builder_function(b, NULL, &f, column, js, 2, &row[2], &is_new, NULL));
    cr_assert(is_new);
    OK(pci_builder_function(b, NULL, &f, column, zero, 2, &row[3], &is_new, NULL));
    cr_assert(is_new, "a zero that is written is no null");
    OK(pci_builder_function(b, NULL, &f, column, js, 1, &row[4], &is_new, NULL));
    cr_assert_eq(row[4], row[2]);
    cr_assert(!is_new);
    f.variant = 1;
    OK(pci_builder_function(b, NULL, &f, column, js, 2, &row[4], &is_new, NULL));
    cr_assert(is_new);
    finish(b, &made);
    cr_assert_eq(cell(made.file, "functions", "is_js", row[2], &valid), 1);
    cr_assert_eq(cell(made.file, "functions", "is_js", row[3], &valid), 0);
    cr_assert_eq(cell(made.file, "functions", "weight", row[3], &valid), 0);
    cr_assert(valid);
    drop(&made);
}

Test(rows, repetitions_of_one_source_stay_apart)
{
    pcol_builder *b = begin();
    pcol_function f = PCOL_INIT(pcol_function);
    f.system_name = f.filename = PCOL_NONE;
    for (uint32_t s = 0; s < 2; s++) {
        struct pci_repeats repeats = {0};
        for (uint32_t i = 0; i < 200; i++) {
            uint32_t row;
            f.name = i % 2 ? str(b, "f") : str(b, "g");
            f.id = s * 1000 + i;
            f.has_id = 1;
            OK(pci_builder_function(b, &repeats, &f, NULL, NULL, 0, &row, NULL, NULL));
            cr_assert_eq(row, i, "the second source finds the rows of the first");
        }
        pci_repeats_clear(&repeats);
    }
    pcol_builder_free(b);
}

Test(rows, interned_rows)
{
    pcol_builder *b = begin();
    uint32_t table, column[3], row[200];
    struct pci_icell cells[200][3];
    struct made made;
    int is_new;
    uint64_t distinct = 0;
    seed = 1;
    OK(pcol_builder_table(b, "mappings", &table, NULL));
    OK(pcol_builder_column(b, table, "filename", PCOL_STRING, 0, &column[0], NULL));
    OK(pcol_builder_column(b, table, "start", PCOL_U64, 0, &column[1], NULL));
    OK(pcol_builder_column(b, table, "has_functions", PCOL_BOOL, 0, &column[2], NULL));
    for (int i = 0; i < 200; i++) {
        uint32_t order[3] = {column[2], column[0], column[1]};
        char name[8];
        snprintf(name, sizeof name, "f%u", dice(3));
        cells[i][1] = (struct pci_icell){str(b, name), dice(2) != 0};
        cells[i][2] = (struct pci_icell){dice(3), dice(2) != 0};
        cells[i][0] = (struct pci_icell){dice(2), dice(2) != 0};
        OK(pci_builder_intern(b, table, order, cells[i], 3, 0, &row[i], &is_new, NULL));
        cr_assert_eq(is_new, row[i] == distinct);
        distinct += is_new != 0;
    }
    cr_assert_lt(distinct, 4 * 4 * 2 + 1);
    finish(b, &made);
    for (int i = 0; i < 200; i++) {
        int valid;
        int64_t value = cell(made.file, "mappings", "start", row[i], &valid);
        cr_assert_eq(valid, cells[i][2].valid);
        cr_assert_eq(value, valid ? cells[i][2].bits : 0);
        value = cell(made.file, "mappings", "has_functions", row[i], &valid);
        cr_assert_eq(value, cells[i][0].valid ? cells[i][0].bits : 0);
    }
    drop(&made);
}

Test(rows, wrong_cells_are_refused)
{
    pcol_builder *b = begin();
    uint32_t column, row;
    struct pci_icell one = {1, 1}, big = {5, 1};
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
                                   PCI_LABEL_RSTACK, PCI_LABEL_VALUE,   PCI_LABEL_LINE};
    memset(l, 0, sizeof *l);
    l->key = str(b, names[dice(sizeof names / sizeof *names)]);
    l->unit = dice(6) ? PCOL_NONE : str(b, "bytes");
    l->kind = some[dice(sizeof some)];
    l->joined = dice(9) == 0;
    if (l->kind == PCI_LABEL_STRING)
        l->text = str(b, names[dice(9)]);
    else if (l->kind == PCI_LABEL_BIGINT)
        l->text = str(b, "-123456789012345678901234567890");
    else if (l->kind == PCI_LABEL_DOUBLE)
        l->as.f64 = dice(5) ? dice(1000) / 7.0 : (double)NAN;
    else if (l->kind == PCI_LABEL_INTEGER)
        l->as.i64 = dice(4) ? (int64_t)dice(100) - 50 : INT64_MIN;
    else if (l->kind == PCI_LABEL_BOOL)
        l->as.i64 = dice(2);
    else if (l->kind == PCI_LABEL_FRAME)
        l->as.i64 = dice(groups);
    else if (l->kind == PCI_LABEL_STACK || l->kind == PCI_LABEL_RSTACK)
        l->as.i64 = dice(stacks);
}

static char *texts[1000];

/* The strings of a builder by code, for comparing with what a file says. */
static void keep_texts(pcol_builder *b)
{
    for (uint32_t i = 0; i < b->strings.count && i < 1000; i++) {
        pcol_str s = pci_strtab_get(&b->strings, i);
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
    else if (l->kind != PCI_LABEL_VALUE && l->kind != PCI_LABEL_LINE)
        cr_assert_eq(c->as.i64, l->as.i64);
}

Test(rows, random_labels)
{
    static struct kept kept[ROWS];
    pcol_builder *b = begin();
    uint32_t group[5], stack[20] = {0};
    struct made made;
    struct pci_label_reader reader;
    seed = 2;
    for (uint32_t i = 0; i < 5; i++) {
        pcol_group g = PCOL_INIT(pcol_group);
        g.mapping = PCOL_NONE;
        g.has_address = 1;
        g.address = i;
        OK(pcol_builder_group(b, &g, &group[i], NULL));
    }
    for (uint32_t i = 1; i < 20; i++)
        OK(pcol_builder_stack(b, stack[dice(i)], group[dice(5)], &stack[i], NULL));
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t row = sample(b, PCOL_NONE);
        kept[i].count = dice(10) ? dice(MOST + 1) : PCOL_NONE;
        if (kept[i].count == PCOL_NONE)
            continue;
        if (i && dice(2) && kept[i - 1].count != PCOL_NONE)
            kept[i] = kept[i - 1];
        else
            for (uint32_t k = 0; k < kept[i].count; k++)
                random_label(b, &kept[i].labels[k], 5, (uint32_t)b->tree.count);
        OK(pci_builder_labels(b, PCI_T_SAMPLES, row, kept[i].labels, kept[i].count, NULL, NULL));
    }
    keep_texts(b);
    struct pci_tree tree; /* for the places */
    OK(pci_tree_init(&tree, NULL));
    for (uint32_t i = 1, node; i < b->tree.count; i++)
        OK(pci_tree_child(&tree, b->tree.nodes[i].parent, b->tree.nodes[i].group, &node, NULL));
    OK(pci_tree_finish(&tree, NULL));
    const uint32_t *place = tree.place;
    finish(b, &made);
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
    pci_tree_clear(&tree);
    for (size_t i = 0; i < 1000; i++)
        free(texts[i]);
    drop(&made);
}

Test(rows, labels_in_order_need_no_shape)
{
    pcol_builder *b = begin();
    struct made made;
    const pcol_table *t;
    struct pci_label l[3] = {{.key = str(b, "a"), .unit = PCOL_NONE, .kind = PCI_LABEL_INTEGER},
                             {.key = str(b, "b"), .unit = PCOL_NONE, .kind = PCI_LABEL_INTEGER},
                             {.key = str(b, "b"), .unit = PCOL_NONE, .kind = PCI_LABEL_INTEGER}};
    for (uint32_t i = 0; i < 100; i++) {
        OK(pci_builder_labels(b, PCI_T_SAMPLES, sample(b, PCOL_NONE), l, 3, NULL, NULL));
        OK(pci_builder_labels(b, PCI_T_SAMPLES, sample(b, PCOL_NONE), l + 1, 1, NULL, NULL));
    }
    finish(b, &made);
    cr_assert_eq(pcol_file_table_by_name(made.file, PCOL_MODEL_PHYSICAL, "label_shapes", &t, NULL),
                 PCOL_E_NOT_FOUND);
    OK(pcol_file_table_by_name(made.file, PCOL_MODEL_PHYSICAL, "label_keys", &t, NULL));
    cr_assert_eq(pcol_table_rows(t), 3);
    drop(&made);
}

Test(rows, labels_past_the_last_column_go_to_extra)
{
    pcol_builder *b = begin();
    struct made made;
    struct pci_label_reader reader;
    struct pci_node_value node;
    enum { KEYS = 700 };
    for (uint32_t i = 0; i < KEYS; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", i);
        struct pci_label l[3] = {
            {.key = str(b, name),
             .unit = PCOL_NONE,
             .kind = PCI_LABEL_STRING,
             .text = str(b, name)},
            {.key = str(b, "k0"), .unit = PCOL_NONE, .kind = PCI_LABEL_STRING, .text = str(b, "v")},
            {.key = str(b, name), .unit = str(b, "ms"), .kind = PCI_LABEL_INTEGER, .as.i64 = -1}};
        OK(pci_builder_labels(b, PCI_T_SAMPLES, sample(b, PCOL_NONE), l, 3, NULL, NULL));
    }
    finish(b, &made);
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
    drop(&made);
}

Test(rows, labels_and_members_of_extra)
{
    pcol_builder *b = begin();
    struct made made;
    struct pci_label_reader reader;
    struct pci_new_node node = {.parent = PCI_NO_NODE, .tag = PCI_NODE_OBJECT};
    uint64_t extra, member;
    struct pci_label l[3] = {{.kind = PCI_LABEL_EXTRA},
                             {.key = str(b, "a"), .unit = PCOL_NONE, .kind = PCI_LABEL_INTEGER},
                             {.kind = PCI_LABEL_EXTRA}};
    uint32_t row = sample(b, PCOL_NONE);
    OK(pci_builder_node(b, &node, &extra, NULL));
    OK(pci_builder_labels(b, PCI_T_SAMPLES, row, l, 3, &extra, NULL));
    for (uint32_t i = 0; i < 2; i++) {
        node = (struct pci_new_node){.parent = extra, .key = str(b, i ? "y" : "x")};
        node.tag = PCI_NODE_ARRAY;
        OK(pci_builder_node(b, &node, &member, NULL));
        node = (struct pci_new_node){.parent = member, .tag = PCI_NODE_INTEGER, .as.i64 = i};
        OK(pci_builder_node(b, &node, &member, NULL));
    }
    OK(pci_builder_extra(b, PCI_T_SAMPLES, row, extra, NULL));
    finish(b, &made);
    OK(pci_labels_open(&reader, made.file, "samples", NULL));
    OK(pci_labels_row(&reader, 0, NULL));
    cr_assert_eq(reader.cell_count, 3);
    cr_assert_eq(reader.cells[0].node, 1);
    cr_assert_not_null(reader.cells[1].key);
    cr_assert_eq(reader.cells[2].node, 3);
    pci_labels_close(&reader);
    drop(&made);
}

Test(rows, wrong_labels_are_refused)
{
    pcol_builder *b = begin();
    struct pci_label l = {.key = 0, .unit = PCOL_NONE, .kind = PCI_LABEL_STACK, .as.i64 = 5};
    uint32_t row = sample(b, PCOL_NONE);
    str(b, "key");
    cr_assert_eq(pci_builder_labels(b, PCI_T_SAMPLES, row, &l, 1, NULL, NULL), PCOL_E_ARGUMENT);
    l.kind = PCI_LABEL_INTEGER;
    cr_assert_eq(pci_builder_labels(b, PCI_T_SAMPLES, row, &l, 1, NULL, NULL), PCOL_E_ARGUMENT,
                 "a row has labels once");
    l.key = 999;
    cr_assert_eq(pci_builder_labels(b, PCI_T_SAMPLES, row + 1, &l, 1, NULL, NULL), PCOL_E_ARGUMENT);
    pcol_builder_free(b);
}

/* ---- nodes */

Test(rows, trees_may_grow_side_by_side)
{
    enum { TREES = 20, NODES = 2000 };
    pcol_builder *b = begin();
    uint64_t ids[NODES], parents[NODES];
    struct pci_node_value node;
    struct made made;
    seed = 3;
    for (uint32_t i = 0; i < NODES; i++) {
        struct pci_new_node new = {.parent = PCI_NO_NODE, .tag = PCI_NODE_ARRAY};
        parents[i] = PCI_NO_NODE;
        if (i >= TREES) {
            uint32_t p = dice(i);
            new.parent = ids[p];
            parents[i] = p;
        }
        OK(pci_builder_node(b, &new, &ids[i], NULL));
        if (i < TREES)
            OK(pci_builder_extra(b, PCI_T_SAMPLES, sample(b, PCOL_NONE), ids[i], NULL));
    }
    finish(b, &made); /* strict check: pre-order, one owner for each root */
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
    drop(&made);
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
    pcol_builder *b = begin();
    struct pci_json json;
    struct pci_json_options options = {.flags = PCI_JSON_NONFINITE};
    struct pci_json_writer w;
    struct pci_input input;
    struct made made;
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
    finish(b, &made);
    out_size = 0;
    OK(pci_json_writer_open(&w, (pcol_sink){collect, NULL},
                            PCI_JSON_BARE_NONFINITE | PCI_JSON_POINT | PCI_JSON_WTF8, NULL));
    cr_assert_eq(pci_json_from_nodes(made.file, 0, &w, put_place, NULL, &err), PCOL_OK, "%s: %s",
                 text, err.message);
    OK(pci_json_writer_finish(&w, NULL));
    pci_json_writer_close(&w);
    out[out_size - 1] = 0; /* the line feed */
    cr_assert_str_eq(out, expected ? expected : text);
    drop(&made);
}

Test(rows, json_through_nodes_and_back)
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

Test(rows, deep_json)
{
    char text[2001];
    memset(text, '[', 1000);
    memset(text + 1000, ']', 1000);
    text[2000] = 0;
    round_trip(text, NULL);
}

Test(rows, typed_arrays_of_many_trees)
{
    pcol_builder *b = begin();
    struct made made;
    struct pci_node_reader reader;
    struct pci_node_value node;
    uint64_t root[2], array;
    for (int t = 0; t < 2; t++) {
        struct pci_new_node new = {.parent = PCI_NO_NODE, .tag = PCI_NODE_ARRAY};
        OK(pci_builder_node(b, &new, &root[t], NULL));
        OK(pci_builder_extra(b, PCI_T_SAMPLES, sample(b, PCOL_NONE), root[t], NULL));
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
    finish(b, &made);
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
    drop(&made);
}

Test(rows, wrong_nodes_are_refused)
{
    pcol_builder *b = begin();
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

Test(rows, orders)
{
    pcol_builder *b = begin();
    struct made made;
    struct pci_order order;
    uint32_t stacks[4], group, table = str(b, "stackTable"), other = str(b, "frameTable"), thread;
    pcol_group g = PCOL_INIT(pcol_group);
    pcol_group h = PCOL_INIT(pcol_group);
    g.mapping = h.mapping = PCOL_NONE;
    h.has_address = 1;
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
    OK(pci_builder_source_column(b, 0, 0, table, str(b, "prefix"), PCOL_NONE, NULL));
    finish(b, &made);
    OK(pci_order_of(made.file, 0, 0, "stackTable", &order, NULL));
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
    OK(pci_order_of(made.file, 0, PCOL_NONE, "frameTable", &order, NULL));
    cr_assert_eq(order.count, 3);
    cr_assert_eq(order.rows[1], 1);
    pci_order_clear(&order);
    OK(pci_order_of(made.file, 0, 0, "frameTable", &order, NULL));
    cr_assert(!order.known);
    pci_order_clear(&order);
    drop(&made);
}

Test(rows, wrong_source_rows_are_refused)
{
    pcol_builder *b = begin();
    uint32_t table = str(b, "t");
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
