/*
 * test_check_rows.c - what `check` says of labels, nodes and source rows that break a rule
 *
 * The builder makes none of these, so the tables are filled cell by cell as if they were any others.
 */
#include <criterion/criterion.h>

#include "testing.h"

#include "core/builder.h"
#include "model/rows.h"

#include <stdio.h>
#include <string.h>

#define OK(call) cr_assert_eq((call), PCOL_OK, #call)

static pcol_builder *b;

static void begin_as(const char *type)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_sample sample = PCOL_INIT(pcol_sample);
    uint32_t row;
    source.type = type;
    sample.stack = sample.thread = PCOL_NONE;
    OK(pcol_builder_new(NULL, &b, NULL));
    OK(pcol_builder_source(b, &source, &row, NULL));
    OK(pcol_builder_sample_type(b, "samples", "count", 0, 0, &row, NULL));
    for (int i = 0; i < 3; i++)
        OK(pcol_builder_sample(b, &sample, NULL, NULL));
}

static void begin(void)
{
    begin_as("test");
}

static uint32_t column(const char *table, const char *name, pcol_type type, const char *to)
{
    uint32_t t, c, references = 0;
    if (to) {
        OK(pcol_builder_table(b, to, &references, NULL));
        references++;
    }
    OK(pcol_builder_table(b, table, &t, NULL));
    OK(pcol_builder_column(b, t, name, type, references, &c, NULL));
    return c;
}

static void number(const char *table, const char *name, pcol_type type, const char *to,
                   uint64_t row, int64_t value)
{
    OK(pcol_builder_set_i64(b, column(table, name, type, to), row, value, NULL));
}

static void string(const char *table, const char *name, uint64_t row, const char *text)
{
    OK(pcol_builder_set_str(b, column(table, name, PCOL_STRING, NULL), row, text, strlen(text),
                            NULL));
}

struct found {
    const char *expected;
    int seen;
    char all[2048];
};

static int take(void *context, const pcol_fault *fault)
{
    struct found *f = context;
    size_t used = strlen(f->all);
    if (fault->note)
        return 0;
    snprintf(f->all + used, sizeof f->all - used, "%s.%s %lld: %s\n", fault->table, fault->column,
             fault->row == PCOL_NOWHERE ? -1 : (long long)fault->row, fault->message);
    f->seen |= strstr(f->all + used, f->expected) != NULL;
    return 0;
}

/* Write and check; "" expects no fault. Of what is faulty no faulty file is packed. */
static void expect(pcol_check_depth depth, const char *expected)
{
    struct found found = {.expected = expected};
    pcol_error err = {0};
    pcol_file *file;
    void *data;
    size_t size;
    uint64_t faults;
    cr_assert_eq(pcol_builder_write_memory(b, 0, &data, &size, &err), PCOL_OK, "%s", err.message);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, &err), PCOL_OK, "%s", err.message);
    OK(pcol_file_check(file, depth, take, &found, &faults, NULL));
    cr_assert(*expected ? found.seen : !faults, "expected '%s', found\n%s", expected, found.all);
    pcol_file_close(file);
    (void)refuses_or_mends(data, size);
    pcol_free(data);
}

static void key(uint64_t row, const char *table, const char *name, const char *kind)
{
    string("label_keys", "table", row, table);
    string("label_keys", "key", row, name);
    string("label_keys", "kind", row, kind);
}

Test(check_labels, keys)
{
    begin();
    key(0, "samples", "a", "integer");
    key(1, "samples", "a", "string");
    key(2, "other", "a", "integer");
    expect(PCOL_CHECK_STRICT, "");

    begin();
    key(0, "samples", "a", "integer");
    key(1, "samples", "a", "integer");
    expect(PCOL_CHECK_DEFAULT, "label_keys.key 1: row 0 has the same key");

    begin();
    key(0, "samples", "a", "thing");
    expect(PCOL_CHECK_DEFAULT, "label_keys.kind 0: there is no kind of label 'thing'");

    begin();
    key(0, "samples", "a", "string");
    number("samples", "label.0", PCOL_I64, NULL, 0, 1);
    expect(PCOL_CHECK_DEFAULT, "samples.label.0 -1: a label of kind string is not of type i64");

    begin();
    key(0, "samples", "a", "stack");
    number("samples", "label.0", PCOL_U32, NULL, 0, 1);
    expect(PCOL_CHECK_DEFAULT, "samples.label.0 -1: this column must refer to stacks");

    begin();
    key(0, "samples", "a", "value");
    number("samples", "label.0", PCOL_I64, NULL, 0, 1);
    expect(PCOL_CHECK_DEFAULT, "samples.label.0 -1: a label of kind value is not of type i64");

    begin();
    key(0, "samples", "a", "integer");
    number("samples", "label.1", PCOL_I64, NULL, 0, 1);
    expect(PCOL_CHECK_DEFAULT, "samples.label.1 -1: no row of label_keys stands for this column");

    begin();
    key(0, "other", "a", "integer");
    number("samples", "label.0", PCOL_I64, NULL, 0, 1);
    expect(PCOL_CHECK_DEFAULT, "samples.label.0 -1: no row of label_keys stands for this column");
}

/* Labels a (integer) and b (integer) of samples; row 0 has both, and shape 0. */
static void shaped(void)
{
    begin();
    key(0, "samples", "a", "integer");
    key(1, "samples", "b", "integer");
    number("samples", "label.0", PCOL_I64, NULL, 0, 5);
    number("samples", "label.1", PCOL_I64, NULL, 0, 6);
    number("label_shapes", "first_key", PCOL_U64, NULL, 0, 0);
    number("samples", "label_shape", PCOL_U32, "label_shapes", 0, 0);
}

static void entry(uint64_t row, int64_t label)
{
    number("label_shape_keys", "label_key", PCOL_U32, "label_keys", row, label);
}

Test(check_labels, shapes)
{
    shaped();
    entry(0, 1);
    entry(1, 0);
    expect(PCOL_CHECK_STRICT, "");

    shaped();
    entry(0, 1);
    expect(PCOL_CHECK_STRICT, "samples.label_shape 0: the row has a value that its shape lacks");

    shaped();
    entry(0, 1);
    entry(1, 1);
    expect(PCOL_CHECK_STRICT, "samples.label_shape 0: the shape has a key twice");

    shaped();
    key(2, "samples", "c", "integer");
    entry(0, 1);
    entry(1, 2);
    expect(PCOL_CHECK_STRICT, "samples.label_shape 0: the shape has a key without a value");

    shaped();
    key(2, "other", "c", "integer");
    entry(0, 0);
    entry(1, 2);
    expect(PCOL_CHECK_STRICT, "samples.label_shape 0: the shape has a key of another table");

    shaped();
    entry(0, 1);
    entry(1, 0);
    number("label_shape_keys", "joined", PCOL_BOOL, NULL, 2, 1);
    expect(PCOL_CHECK_STRICT, "samples.label_shape 0: the shape has more members than `extra`");

    shaped();
    entry(0, 1);
    number("label_shapes", "first_key", PCOL_U64, NULL, 1, 9);
    expect(PCOL_CHECK_DEFAULT, "label_shapes.first_key 1: the keys of shapes do not follow");

    begin();
    number("samples", "label_shape", PCOL_U32, NULL, 0, 0);
    expect(PCOL_CHECK_DEFAULT,
           "samples.label_shape -1: this column does not refer to label_shapes");
}

/* A stack of two frames of functions `inner` and one without a name, which is the outer one; rows 0 and 1 have it. */
static void stacked(void)
{
    pcol_function function = PCOL_INIT(pcol_function);
    uint32_t stack = 0, groups[2];
    begin_as("perun");
    function.name = function.system_name = function.filename = PCOL_NONE;
    for (int i = 0; i < 2; i++) {
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_line line = {.filename = PCOL_NONE};
        if (i)
            OK(pcol_builder_string(b, "inner", 5, &function.name, NULL));
        OK(pcol_builder_function(b, &function, &line.function, NULL));
        group.lines = &line;
        group.line_count = 1;
        group.mapping = PCOL_NONE;
        OK(pcol_builder_group(b, &group, &groups[i], NULL));
        OK(pcol_builder_stack(b, stack, groups[i], &stack, NULL));
    }
    for (uint64_t row = 0; row < 2; row++)
        number("samples", "stack", PCOL_U32, "stacks", row, stack);
}

/* A label that says where in its row a value stands is held against the row. */
Test(check_labels, what_the_row_has)
{
    stacked();
    key(0, "samples", "uid", "ownframe");
    key(1, "samples", "name", "ownname");
    number("samples", "label.0", PCOL_U32, NULL, 0, 1);
    number("samples", "label.1", PCOL_U32, NULL, 1, 0);
    expect(PCOL_CHECK_STRICT, "");

    stacked();
    key(0, "samples", "uid", "ownframe");
    number("samples", "label.0", PCOL_U32, NULL, 0, 2);
    expect(PCOL_CHECK_STRICT,
           "samples.stack 0: a label names a frame that the stack is not deep enough for");

    stacked();
    key(0, "samples", "uid", "ownframe");
    number("samples", "label.0", PCOL_U32, NULL, 2, 0);
    expect(PCOL_CHECK_STRICT,
           "samples.stack 2: a label says that the row has a stack, but it has none");

    stacked();
    key(0, "samples", "name", "ownname");
    number("samples", "label.0", PCOL_U32, NULL, 0, 1);
    expect(PCOL_CHECK_STRICT,
           "samples.stack 0: a label names a function that the frame does not have");

    stacked();
    key(0, "samples", "line", "line");
    number("label_shapes", "first_key", PCOL_U64, NULL, 0, 0);
    number("samples", "label_shape", PCOL_U32, "label_shapes", 0, 0);
    entry(0, 0);
    expect(PCOL_CHECK_STRICT, "label_keys.kind 0: only frames have labels of this kind");

    stacked();
    key(0, "location_groups", "line", "line");
    number("label_shapes", "first_key", PCOL_U64, NULL, 0, 0);
    number("location_groups", "label_shape", PCOL_U32, "label_shapes", 1, 0);
    entry(0, 0);
    expect(PCOL_CHECK_STRICT,
           "location_groups.label_shape 1: a label says what the frame does not have");

    stacked();
    key(0, "samples", "amount", "value");
    number("label_shapes", "first_key", PCOL_U64, NULL, 0, 0);
    number("samples", "label_shape", PCOL_U32, "label_shapes", 0, 0);
    entry(0, 0);
    expect(PCOL_CHECK_STRICT, "samples. 0: a label says that the row has a value, but it has none");
}

static void node(uint64_t row, int64_t parent, int64_t tag)
{
    if (parent >= 0)
        number("nodes", "parent", PCOL_U64, "nodes", row, parent);
    number("nodes", "tag", PCOL_U32, NULL, row, tag);
    uint32_t table;
    OK(pcol_builder_table(b, "nodes", &table, NULL));
    b->tables[table].flags = PCF_TABLE_PREORDER;
}

static void owner(uint64_t row, int64_t root)
{
    number("samples", "extra", PCOL_U64, "nodes", row, root);
}

Test(check_nodes, every_rule)
{
    begin();
    node(0, -1, 8);
    expect(PCOL_CHECK_DEFAULT, "nodes.parent 0: no cell has this root");

    begin();
    node(0, -1, 8);
    owner(0, 0);
    owner(1, 0);
    expect(PCOL_CHECK_DEFAULT, "samples.extra 1: another cell has node 0, too");

    begin();
    node(0, -1, 7);
    node(1, 0, 0);
    owner(0, 0);
    owner(1, 1);
    expect(PCOL_CHECK_DEFAULT, "samples.extra 1: node 1 is no root");

    begin();
    node(0, -1, 7);
    node(1, 1, 0);
    expect(PCOL_CHECK_DEFAULT, "nodes.parent 1: the parent does not come before the node");

    begin();
    node(0, -1, 3);
    expect(PCOL_CHECK_DEFAULT, "nodes.integer 0: a node of this tag needs an integer");

    begin();
    node(0, -1, 5);
    expect(PCOL_CHECK_DEFAULT, "nodes.text 0: a node of this tag needs a text");

    begin();
    node(0, -1, 14);
    expect(PCOL_CHECK_DEFAULT, "nodes.tag 0: tag 14 needs a newer reader");

    begin();
    node(0, -1, 0);
    node(1, 0, 0);
    expect(PCOL_CHECK_DEFAULT, "nodes.parent 1: the parent is neither an array nor an object");

    begin();
    node(0, -1, 8);
    node(1, 0, 0);
    expect(PCOL_CHECK_DEFAULT, "nodes.key 1: a member of an object needs a key");

    begin();
    node(0, -1, 7);
    node(1, 0, 0);
    string("nodes", "key", 1, "k");
    expect(PCOL_CHECK_DEFAULT, "nodes.key 1: only members of objects have keys");

    begin();
    node(0, -1, 9);
    number("nodes", "integer", PCOL_I64, NULL, 0, 3);
    number("nodes", "first", PCOL_U64, NULL, 0, 0);
    number("node_integers", "value", PCOL_I64, NULL, 0, 1);
    expect(PCOL_CHECK_DEFAULT, "nodes.first 0: the elements of the array are not there");

    begin();
    node(0, -1, 13);
    string("nodes", "text", 0, "samples");
    number("nodes", "integer", PCOL_I64, NULL, 0, 2);
    owner(0, 0);
    expect(PCOL_CHECK_DEFAULT, "");

    begin();
    node(0, -1, 13);
    string("nodes", "text", 0, "samples");
    number("nodes", "integer", PCOL_I64, NULL, 0, 3);
    owner(0, 0);
    expect(PCOL_CHECK_DEFAULT, "nodes.integer 0: 3 is beyond the 3 rows of samples");

    begin();
    node(0, -1, 13);
    string("nodes", "text", 0, "nothing");
    number("nodes", "integer", PCOL_I64, NULL, 0, 0);
    owner(0, 0);
    expect(PCOL_CHECK_DEFAULT, "nodes.integer 0: 0 is beyond the 0 rows of nothing");

    begin();
    node(0, -1, 7);
    node(1, -1, 7);
    node(2, 0, 0);
    expect(PCOL_CHECK_DEFAULT, "nodes.parent 2: the node does not stand in pre-order");

    begin();
    number("nodes", "tag", PCOL_U32, NULL, 0, 7);
    owner(0, 0);
    expect(PCOL_CHECK_DEFAULT, "nodes.parent -1: the table does not say that it is in pre-order");
}

/* A tree that names a frame which a filter takes away keeps its shape: a null stands there. */
Test(check_nodes, a_row_that_stays_behind)
{
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    struct found found = {.expected = ""};
    struct pci_node_value value;
    pcol_error err = {0};
    pcol_file *file, *part;
    void *data, *made;
    size_t size, made_size;
    uint64_t faults;
    stacked();
    node(0, -1, 7);
    for (uint64_t i = 0; i < 2; i++) {
        node(1 + i, 0, 13);
        string("nodes", "text", 1 + i, "location_groups");
        number("nodes", "integer", PCOL_I64, NULL, 1 + i, (int64_t)i);
    }
    owner(0, 0);
    OK(pcol_builder_write_memory(b, 0, &data, &size, NULL));
    pcol_builder_free(b);
    OK(pcol_file_open_memory(data, size, NULL, &file, NULL));
    options.selection = (pcol_selection)PCOL_INIT(pcol_selection);
    options.selection.hide = "^inner$";
    OK(pcol_builder_new(NULL, &b, NULL));
    cr_assert_eq(pcol_filter(b, file, &options, &err), PCOL_OK, "%s", err.message);
    OK(pcol_builder_write_memory(b, 0, &made, &made_size, NULL));
    pcol_builder_free(b);
    OK(pcol_file_open_memory(made, made_size, NULL, &part, NULL));
    OK(pci_node_get(part, 1, &value, NULL));
    cr_expect_eq(value.tag, 13);
    OK(pci_node_get(part, 2, &value, NULL));
    cr_expect_eq(value.tag, 0);
    cr_expect_eq(value.has_text, 0);
    OK(pcol_file_check(part, PCOL_CHECK_STRICT, take, &found, &faults, NULL));
    cr_expect_eq(faults, 0, "%s", found.all);
    pcol_file_close(part);
    pcol_file_close(file);
    pcol_free(made);
    pcol_free(data);
}

static void order(uint64_t row, const char *table, const char *target, int64_t ordinal,
                  int64_t ours)
{
    number("source_rows", "source", PCOL_U32, "sources", row, 0);
    string("source_rows", "table", row, table);
    string("source_rows", "target", row, target);
    number("source_rows", "ordinal", PCOL_U64, NULL, row, ordinal);
    number("source_rows", "row", PCOL_U64, NULL, row, ours);
}

Test(check_orders, every_rule)
{
    begin();
    order(0, "t", "samples", 0, 2);
    order(1, "t", "samples", 1, 2);
    order(2, "u", "samples", 0, 0);
    expect(PCOL_CHECK_DEFAULT, "");

    begin();
    order(0, "t", "samples", 0, 3);
    expect(PCOL_CHECK_DEFAULT, "source_rows.row 0: there is no such row");

    begin();
    order(0, "t", "nothing", 0, 0);
    expect(PCOL_CHECK_DEFAULT, "source_rows.row 0: there is no such row");

    begin();
    order(0, "t", "samples", 0, 0);
    order(1, "t", "samples", 2, 0);
    expect(PCOL_CHECK_DEFAULT, "source_rows.ordinal 1: ordinals do not count from 0");

    begin();
    order(0, "t", "samples", 0, 0);
    order(1, "u", "samples", 0, 0);
    order(2, "t", "samples", 1, 0);
    expect(PCOL_CHECK_DEFAULT, "source_rows. 2: the rows of a table do not stand together");

    begin();
    order(0, "t", "samples", 0, 0);
    order(1, "t", "sources", 1, 0);
    expect(PCOL_CHECK_DEFAULT, "source_rows.target 1: rows of one table have two targets");
}

/* Frames have scalars for members. A file may say that a frame is a member of itself; what is made of it
 * ends all the same, flat and as JSON. */
Test(check_labels, a_frame_within_itself)
{
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_answers *answers;
    const pcol_answer *cells;
    pcol_file *file;
    void *data;
    size_t size;
    begin_as("perun");
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line = {0};
    uint32_t row;
    OK(pcol_builder_string(b, "f", 1, &function.name, NULL));
    function.system_name = function.filename = line.filename = PCOL_NONE;
    OK(pcol_builder_function(b, &function, &line.function, NULL));
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    OK(pcol_builder_group(b, &group, &row, NULL));
    OK(pcol_builder_stack(b, 0, row, &row, NULL));
    key(0, "samples", "uid", "frame");
    key(1, "location_groups", "inner", "frame");
    key(2, "location_groups", "stack", "stack");
    for (uint64_t i = 0; i < 3; i++)
        number("samples", "label.0", PCOL_U32, "location_groups", i, 0);
    number("location_groups", "label.1", PCOL_U32, "location_groups", 0, 0);
    number("location_groups", "label.2", PCOL_U32, "stacks", 0, 1);
    OK(pcol_builder_write_memory(b, 0, &data, &size, NULL));
    pcol_builder_free(b);
    OK(pcol_file_open_memory(data, size, NULL, &file, NULL));
    for (int flat = 0; flat < 2; flat++) {
        uint64_t rows = 0;
        options.flat = flat;
        pcol_error err = {0};
        cr_assert_eq(pcol_ask(file, PCOL_ASK_RESOURCES, &options, &answers, &err), PCOL_OK, "%s",
                     err.message);
        for (;;) {
            OK(pcol_answers_next(answers, &cells, NULL));
            if (!cells)
                break;
            rows++;
        }
        cr_expect_eq(rows, 3);
        pcol_answers_free(answers);
    }
    pcol_file_close(file);
    pcol_free(data);
}
