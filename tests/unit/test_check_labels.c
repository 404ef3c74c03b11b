/*
 * test_check_labels.c - faults reported by `check` for labels, nodes and source rows
 *
 * The builder cannot produce such files, so their tables are filled cell by cell.
 */
#include <criterion/criterion.h>

#include "check_case.h"
#include "pcol_perun.h"

#include "model/row_details.h"

#include <math.h>
#include <string.h>

Test(check_labels, keys)
{
    case_begin();
    case_key(0, "samples", "a", "integer");
    case_key(1, "samples", "a", "string");
    case_key(2, "other", "a", "integer");
    case_expect(PCOL_CHECK_STRICT, "");

    case_begin();
    case_key(0, "samples", "a", "integer");
    case_key(1, "samples", "a", "integer");
    case_expect(PCOL_CHECK_DEFAULT, "label_keys.key 1: row 0 has the same key");

    case_begin();
    case_key(0, "", "a", "integer");
    case_expect(PCOL_CHECK_DEFAULT, "label_keys.table 0: not the name of a table");

    case_begin();
    case_key(0, "two\nlines", "a", "integer");
    case_expect(PCOL_CHECK_DEFAULT, "label_keys.table 0: not the name of a table");

    case_begin();
    case_key(0, "samples", "a", "thing");
    case_expect(PCOL_CHECK_DEFAULT, "label_keys.kind 0: there is no kind of label 'thing'");

    case_begin();
    case_key(0, "samples", "a", "a kind of which the message names only the beginning");
    case_expect(PCOL_CHECK_DEFAULT, "label_keys.kind 0: there is no kind of label 'a kind of which "
                                    "the message names only t'");

    case_begin();
    case_key(0, "samples", "a", "string");
    case_number("samples", "label.0", PCOL_I64, NULL, 0, 1);
    case_expect(PCOL_CHECK_DEFAULT,
                "samples.label.0 -1: a label of kind string is not of type i64");

    case_begin();
    case_key(0, "samples", "a", "stack");
    case_number("samples", "label.0", PCOL_U32, NULL, 0, 1);
    case_expect(PCOL_CHECK_DEFAULT, "samples.label.0 -1: this column must refer to stacks");

    case_begin(); /* a row that is far from being there */
    case_key(0, "samples", "a", "stack");
    case_number("samples", "label.0", PCOL_U32, NULL, 0, 4000000000);
    case_expect(PCOL_CHECK_DEFAULT, "samples.label.0 -1: this column must refer to stacks");

    case_begin();
    case_key(0, "samples", "a", "value");
    case_number("samples", "label.0", PCOL_I64, NULL, 0, 1);
    case_expect(PCOL_CHECK_DEFAULT, "samples.label.0 -1: a label of kind value is not of type i64");

    case_begin();
    case_key(0, "samples", "a", "integer");
    case_number("samples", "label.0", PCOL_I64, "sources", 0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "samples.label.0 -1: this column must refer to nothing");

    case_begin(); /* no unit and an empty one are two */
    case_key(0, "samples", "a", "integer");
    case_key(1, "samples", "a", "integer");
    case_string("label_keys", "unit", 1, "");
    case_expect(PCOL_CHECK_STRICT, "");

    case_begin(); /* a name of another version */
    case_key(0, "samples", "a", "integer");
    case_number("samples", "label.", PCOL_I64, NULL, 0, 1);
    case_number("samples", "label.x", PCOL_I64, NULL, 0, 1);
    case_expect(PCOL_CHECK_STRICT, "");

    case_begin();
    case_key(0, "samples", "a", "integer");
    case_number("samples", "label.00", PCOL_I64, NULL, 0, 1);
    case_expect(PCOL_CHECK_DEFAULT, "samples.label.00 -1: no row of label_keys describes");

    case_begin();
    case_key(0, "samples", "a", "integer");
    case_number("samples", "label.1", PCOL_I64, NULL, 0, 1);
    case_expect(PCOL_CHECK_DEFAULT,
                "samples.label.1 -1: no row of label_keys describes this column");

    case_begin();
    case_key(0, "other", "a", "integer");
    case_number("samples", "label.0", PCOL_I64, NULL, 0, 1);
    case_expect(PCOL_CHECK_DEFAULT,
                "samples.label.0 -1: no row of label_keys describes this column");
}

Test(check_labels, big_integer)
{
    case_begin();
    case_key(0, "samples", "a", "bigint");
    case_string("samples", "label.0", 0, "-36893488147419103232");
    case_expect(PCOL_CHECK_STRICT, "");

    case_begin();
    case_key(0, "samples", "a", "bigint");
    case_string("samples", "label.0", 0, "0x20");
    case_expect(PCOL_CHECK_STRICT,
                "samples.label.0 0: a big integer has other characters than digits");
}

/* Labels a (integer) and b (integer) of samples; row 0 has both, and shape 0. */
static void shaped(void)
{
    case_begin();
    case_key(0, "samples", "a", "integer");
    case_key(1, "samples", "b", "integer");
    case_number("samples", "label.0", PCOL_I64, NULL, 0, 5);
    case_number("samples", "label.1", PCOL_I64, NULL, 0, 6);
    case_number("label_shapes", "first_key", PCOL_U64, NULL, 0, 0);
    case_number("samples", "label_shape", PCOL_U32, "label_shapes", 0, 0);
}

Test(check_labels, shapes)
{
    shaped();
    case_entry(0, 1);
    case_entry(1, 0);
    case_expect(PCOL_CHECK_STRICT, "");

    shaped();
    case_entry(0, 1);
    case_expect(PCOL_CHECK_STRICT,
                "samples.label_shape 0: the row has a value that its shape lacks");

    shaped();
    case_entry(0, 1);
    case_entry(1, 1);
    case_expect(PCOL_CHECK_STRICT, "samples.label_shape 0: the shape has a duplicate key");

    shaped();
    case_key(2, "samples", "c", "integer");
    case_entry(0, 1);
    case_entry(1, 2);
    case_expect(PCOL_CHECK_STRICT, "samples.label_shape 0: the shape has a key without a value");

    shaped();
    case_key(2, "other", "c", "integer");
    case_entry(0, 0);
    case_entry(1, 2);
    case_expect(PCOL_CHECK_STRICT, "samples.label_shape 0: the shape has a key of another table");

    shaped();
    case_entry(0, 1);
    case_entry(1, 0);
    case_number("label_shape_keys", "joined", PCOL_BOOL, NULL, 2, 1);
    case_expect(PCOL_CHECK_STRICT,
                "samples.label_shape 0: the shape has more members than `extra`");

    shaped();
    case_entry(0, 1);
    case_number("label_shapes", "first_key", PCOL_U64, NULL, 1, 9);
    case_expect(PCOL_CHECK_DEFAULT, "label_shapes.first_key 1: the keys of shapes do not follow");

    case_begin();
    case_number("samples", "label_shape", PCOL_U32, NULL, 0, 0);
    case_expect(PCOL_CHECK_DEFAULT,
                "samples.label_shape -1: there is no table label_shapes to refer to");
}

/* A label with the position of a value in its row is compared with the row. */
Test(check_labels, what_the_row_has)
{
    case_stacked();
    case_key(0, "samples", "uid", "ownframe");
    case_key(1, "samples", "name", "ownname");
    case_number("samples", "label.0", PCOL_U32, NULL, 0, 1);
    case_number("samples", "label.1", PCOL_U32, NULL, 1, 0);
    case_expect(PCOL_CHECK_STRICT, "");

    case_stacked();
    case_key(0, "samples", "uid", "ownframe");
    case_number("samples", "label.0", PCOL_U32, NULL, 0, 2);
    case_expect(PCOL_CHECK_STRICT,
                "samples.stack 0: a label refers to a frame beyond the depth of the stack");

    case_stacked();
    case_key(0, "samples", "uid", "ownframe");
    case_number("samples", "label.0", PCOL_U32, NULL, 2, 0);
    case_expect(PCOL_CHECK_STRICT,
                "samples.stack 2: a label refers to the stack of the row, but it has none");

    case_stacked();
    case_key(0, "samples", "name", "ownname");
    case_number("samples", "label.0", PCOL_U32, NULL, 0, 1);
    case_expect(PCOL_CHECK_STRICT,
                "samples.stack 0: a label refers to the function of a frame that has none");

    case_stacked();
    case_key(0, "samples", "line", "line");
    case_number("label_shapes", "first_key", PCOL_U64, NULL, 0, 0);
    case_number("samples", "label_shape", PCOL_U32, "label_shapes", 0, 0);
    case_entry(0, 0);
    case_expect(PCOL_CHECK_STRICT, "label_keys.kind 0: only frames have labels of this kind");

    case_stacked();
    case_key(0, "location_groups", "line", "line");
    case_number("label_shapes", "first_key", PCOL_U64, NULL, 0, 0);
    case_number("location_groups", "label_shape", PCOL_U32, "label_shapes", 1, 0);
    case_entry(0, 0);
    case_expect(
        PCOL_CHECK_STRICT,
        "location_groups.label_shape 1: a label refers to a part that the frame does not have");

    case_stacked();
    case_key(0, "samples", "amount", "value");
    case_number("label_shapes", "first_key", PCOL_U64, NULL, 0, 0);
    case_number("samples", "label_shape", PCOL_U32, "label_shapes", 0, 0);
    case_entry(0, 0);
    case_expect(PCOL_CHECK_STRICT,
                "samples. 0: a label refers to the value of the row, but it has none");
}

Test(check_nodes, every_rule)
{
    case_begin();
    case_node(0, -1, 8);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.parent 0: no cell has this root");

    case_begin();
    case_node(0, -1, 8);
    case_owner(0, 0);
    case_owner(1, 0);
    case_expect(PCOL_CHECK_DEFAULT, "samples.extra 1: another cell has node 0, too");

    case_begin();
    case_node(0, -1, 7);
    case_node(1, 0, 0);
    case_owner(0, 0);
    case_owner(1, 1);
    case_expect(PCOL_CHECK_DEFAULT, "samples.extra 1: node 1 is no root");

    case_begin();
    case_node(0, -1, 7);
    case_node(1, 1, 0);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.parent 1: the parent is not before the node");

    case_begin();
    case_node(0, -1, 3);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.integer 0: a node of this tag needs an integer");

    case_begin();
    case_node(0, -1, 5);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.text 0: a node of this tag needs a text");

    case_begin();
    case_node(0, -1, 14);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.tag 0: tag 14 needs a newer reader");

    case_begin();
    case_node(0, -1, 0);
    case_node(1, 0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.parent 1: the parent is neither an array nor an object");

    case_begin();
    case_node(0, -1, 8);
    case_node(1, 0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.key 1: a member of an object needs a key");

    case_begin();
    case_node(0, -1, 7);
    case_node(1, 0, 0);
    case_string("nodes", "key", 1, "k");
    case_expect(PCOL_CHECK_DEFAULT, "nodes.key 1: only members of objects have keys");

    case_begin();
    case_node(0, -1, 9);
    case_number("nodes", "integer", PCOL_I64, NULL, 0, 3);
    case_number("nodes", "first", PCOL_U64, NULL, 0, 0);
    case_number("node_integers", "value", PCOL_I64, NULL, 0, 1);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.first 0: the elements of the array are out of range");

    case_begin(); /* the same element */
    for (uint64_t i = 0; i < 2; i++) {
        case_node(i, -1, 9);
        case_number("nodes", "integer", PCOL_I64, NULL, i, 1);
        case_number("nodes", "first", PCOL_U64, NULL, i, 0);
    }
    case_number("node_integers", "value", PCOL_I64, NULL, 0, 1);
    case_expect(PCOL_CHECK_DEFAULT,
                "nodes.first 1: the arrays up to here have more elements than rows");

    case_begin();
    case_node(0, -1, 13);
    case_string("nodes", "text", 0, "samples");
    case_number("nodes", "integer", PCOL_I64, NULL, 0, 2);
    case_owner(0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "");

    case_begin();
    case_node(0, -1, 13);
    case_string("nodes", "text", 0, "samples");
    case_number("nodes", "integer", PCOL_I64, NULL, 0, 3);
    case_owner(0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.integer 0: 3 is beyond the 3 rows of samples");

    case_begin();
    case_node(0, -1, 13);
    case_string("nodes", "text", 0, "nothing");
    case_number("nodes", "integer", PCOL_I64, NULL, 0, 0);
    case_owner(0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.integer 0: 0 is beyond the 0 rows of nothing");

    case_begin();
    case_node(0, -1, 7);
    case_node(1, -1, 7);
    case_node(2, 0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "nodes.parent 2: the node is not in pre-order");

    case_begin();
    case_number("nodes", "tag", PCOL_U32, NULL, 0, 7);
    case_owner(0, 0);
    case_expect(PCOL_CHECK_DEFAULT,
                "nodes.parent -1: the table is not marked as being in pre-order");
}

/* A copy of a part rejects a row of a table that the file does not have, as one of the whole. */
Test(check_labels, rows_of_an_absent_table)
{
    pcol_builder *whole, *part;
    pcol_error err = {0};
    void *data;
    case_begin();
    case_node(0, -1, 13);
    case_string("nodes", "text", 0, "nothing");
    case_number("nodes", "integer", PCOL_I64, NULL, 0, 3);
    case_owner(0, 0);
    pcol_file *file = case_open(&data);
    OK(pcol_builder_new(NULL, &whole, NULL));
    OK(pcol_builder_new(NULL, &part, NULL));
    cr_expect_eq(pcol_builder_add_file(whole, file, NULL, &err), PCOL_E_CORRUPT);
    cr_expect_str_eq(err.message, "3 is beyond the 0 rows of nothing");
    memset(&err, 0, sizeof err);
    cr_expect_eq(pcol_filter(part, file, NULL, &err), PCOL_E_CORRUPT);
    cr_expect_str_eq(err.message, "3 is beyond the 0 rows of nothing");
    cr_expect_str_eq(err.column, "integer");
    pcol_builder_free(whole);
    pcol_builder_free(part);
    pcol_file_close(file);
    pcol_free(data);
}

/* A tree that names a frame which a filter takes away keeps its shape: it becomes null. */
Test(check_nodes, a_row_that_is_left_out)
{
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    struct case_found found = {.expected = ""};
    struct pci_node_value value;
    pcol_error err = {0};
    pcol_file *file, *part;
    void *data, *made;
    size_t size, made_size;
    uint64_t faults;
    case_stacked();
    case_node(0, -1, 7);
    for (uint64_t i = 0; i < 2; i++) {
        case_node(1 + i, 0, 13);
        case_string("nodes", "text", 1 + i, "location_groups");
        case_number("nodes", "integer", PCOL_I64, NULL, 1 + i, (int64_t)i);
    }
    case_owner(0, 0);
    OK(pcol_builder_write_memory(case_builder, 0, NULL, &data, &size, NULL));
    pcol_builder_free(case_builder);
    OK(pcol_file_open_memory(data, size, NULL, &file, NULL));
    pcol_selection selection = PCOL_INIT(pcol_selection);
    selection.hide = "^inner$";
    options.selection = &selection;
    OK(pcol_builder_new(NULL, &case_builder, NULL));
    cr_assert_eq(pcol_filter(case_builder, file, &options, &err), PCOL_OK, "%s", err.message);
    OK(pcol_builder_write_memory(case_builder, 0, NULL, &made, &made_size, NULL));
    pcol_builder_free(case_builder);
    OK(pcol_file_open_memory(made, made_size, NULL, &part, NULL));
    OK(pci_node_get(part, 1, &value, NULL));
    cr_expect_eq(value.tag, 13);
    OK(pci_node_get(part, 2, &value, NULL));
    cr_expect_eq(value.tag, 0);
    cr_expect_eq(value.has_text, 0);
    OK(pcol_file_check(part, PCOL_CHECK_STRICT, case_take, &found, NULL, &faults, NULL));
    cr_expect_eq(faults, 0, "%s", found.all);
    pcol_file_close(part);
    pcol_file_close(file);
    pcol_free(made);
    pcol_free(data);
}

static void order(uint64_t row, const char *table, const char *target, int64_t ordinal,
                  int64_t ours)
{
    case_number("source_rows", "source", PCOL_U32, "sources", row, 0);
    case_string("source_rows", "table", row, table);
    case_string("source_rows", "target", row, target);
    case_number("source_rows", "ordinal", PCOL_U64, NULL, row, ordinal);
    case_number("source_rows", "row", PCOL_U64, NULL, row, ours);
}

Test(check_orders, every_rule)
{
    case_begin();
    order(0, "t", "samples", 0, 2);
    order(1, "t", "samples", 1, 2);
    order(2, "u", "samples", 0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "");

    case_begin();
    order(0, "t", "samples", 0, 3);
    case_expect(PCOL_CHECK_DEFAULT, "source_rows.row 0: this row does not exist");

    case_begin();
    order(0, "t", "nothing", 0, 0);
    case_expect(PCOL_CHECK_DEFAULT, "source_rows.row 0: this row does not exist");

    case_begin();
    order(0, "t", "samples", 0, 0);
    order(1, "t", "samples", 2, 0);
    case_expect(PCOL_CHECK_DEFAULT, "source_rows.ordinal 1: ordinals do not count from 0");

    for (int wrong = 0; wrong < 2; wrong++) { /* more than are read at a time */
        case_begin();
        for (uint64_t row = 0; row < 2500; row++)
            order(row, "t", "samples", (int64_t)row + (wrong && row == 2000), (int64_t)row % 3);
        case_expect(PCOL_CHECK_DEFAULT,
                    wrong ? "source_rows.ordinal 2000: ordinals do not count from 0" : "");
    }

    case_begin();
    order(0, "t", "samples", 0, 0);
    order(1, "u", "samples", 0, 0);
    order(2, "t", "samples", 1, 0);
    case_expect(PCOL_CHECK_DEFAULT, "source_rows. 2: the rows of a table are not contiguous");

    case_begin();
    order(0, "t", "samples", 0, 0);
    order(1, "t", "sources", 1, 0);
    case_expect(PCOL_CHECK_DEFAULT, "source_rows.target 1: rows of one table have two targets");
}

/* Frames have scalars for members. In a file a frame may be a member of itself; what is made
 * of it ends all the same, flat and as JSON. */
Test(check_labels, a_frame_within_itself)
{
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_answers *answers;
    const pcol_answer *cells;
    pcol_file *file;
    void *data;
    size_t size;
    case_begin_as("perun");
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line = {0};
    uint32_t row;
    OK(pcol_builder_string(case_builder, "f", 1, &function.name, NULL));
    function.system_name = function.filename = line.filename = PCOL_NONE;
    OK(pcol_builder_function(case_builder, &function, &line.function, NULL));
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    OK(pcol_builder_group(case_builder, &group, &row, NULL));
    OK(pcol_builder_stack(case_builder, 0, row, &row, NULL));
    case_key(0, "samples", "uid", "frame");
    case_key(1, "location_groups", "inner", "frame");
    case_key(2, "location_groups", "stack", "stack");
    for (uint64_t i = 0; i < 3; i++)
        case_number("samples", "label.0", PCOL_U32, "location_groups", i, 0);
    case_number("location_groups", "label.1", PCOL_U32, "location_groups", 0, 0);
    case_number("location_groups", "label.2", PCOL_U32, "stacks", 0, 1);
    OK(pcol_builder_write_memory(case_builder, 0, NULL, &data, &size, NULL));
    pcol_builder_free(case_builder);
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

/* ---- sums */

static void double_cell(const char *table, const char *name, uint64_t row, double value)
{
    OK(pcol_builder_set_f64(case_builder, case_column(table, name, PCOL_F64, NULL), row, value,
                            NULL));
}

/* Samples 0 and 1 have the stack 2 of case_stacked(), and these values of a type of doubles. */
static void expect_sum(double first, double second, double sum, const char *expected)
{
    uint32_t type;
    case_stacked();
    OK(pcol_builder_sample_type(case_builder, "cost", "s", PCOL_SAMPLE_TYPE_DOUBLE, 0, &type,
                                NULL));
    double_cell("samples", "value.1", 0, first);
    double_cell("samples", "value.1", 1, second);
    case_number("stack_sums", "stack", PCOL_U32, "stacks", 0, 2);
    double_cell("stack_sums", "sum.1", 0, sum);
    case_number("samples", "value.0", PCOL_I64, NULL, 0, 4);
    case_number("stack_sums", "sum.0", PCOL_I64, NULL, 0, 4);
    case_expect(PCOL_CHECK_STRICT, expected);
}

Test(check_sums, doubles)
{
    expect_sum(1.5, 2, 3.5, "");
    expect_sum(0, 0, -0.0, "");
    expect_sum((double)NAN, 1, -(double)NAN, "");
    expect_sum(1, 1, (double)NAN, "stack_sums.sum.1 0: the sum is not that of the samples");
    expect_sum(1, (double)NAN, 1, "stack_sums.sum.1 0: the sum is not that of the samples");
}

Test(check_sums, what_breaks_a_rule)
{
    case_stacked();
    case_number("stack_sums", "stack", PCOL_U32, "stacks", 0, 1);
    case_expect(PCOL_CHECK_STRICT, "stack_sums.stack -1: stack 2 of sample 0 has no row");

    case_stacked();
    case_number("stack_sums", "stack", PCOL_U32, "stacks", 0, 1);
    case_number("stack_sums", "stack", PCOL_U32, "stacks", 1, 2);
    case_expect(PCOL_CHECK_STRICT, "stack_sums.stack 0: no sample has this stack");

    case_stacked();
    case_number("stack_sums", "stack", PCOL_U32, "stacks", 0, 2);
    case_number("stack_sums", "sum.0", PCOL_I64, NULL, 0, 0);
    case_expect(PCOL_CHECK_STRICT, "stack_sums.sum.0 0: there is nothing to sum");

    case_stacked();
    case_number("samples", "value.0", PCOL_I64, NULL, 0, 7);
    case_number("stack_sums", "stack", PCOL_U32, "stacks", 0, 2);
    case_expect(PCOL_CHECK_STRICT, "stack_sums.sum.0 -1: the sums of this type are missing");

    case_stacked(); /* more rows than there are stacks, and no column that shows it */
    for (uint64_t row = 0; row < 4; row++)
        case_number("stack_sums", "sum.0", PCOL_I64, NULL, row, 0);
    case_expect(PCOL_CHECK_STRICT, "stack_sums.stack -1: this column is missing");
}

/* function_sums must not be there where stacks have very many lines, which would have to be
 * walked. */
Test(check_sums, stacks_of_many_lines)
{
    for (size_t lines = 30; lines <= 50; lines += 20) {
        pcol_function function = PCOL_INIT(pcol_function);
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_line all[50] = {{0}};
        uint32_t stack;
        case_begin();
        function.system_name = function.filename = PCOL_NONE;
        OK(pcol_builder_string(case_builder, "f", 1, &function.name, NULL));
        for (size_t i = 0; i < lines; i++) {
            OK(pcol_builder_function(case_builder, &function, &all[i].function, NULL));
            all[i].filename = PCOL_NONE;
            all[i].line = (int64_t)i;
            all[i].flags |= PCOL_LINE_HAS_LINE;
        }
        group.lines = all;
        group.line_count = lines;
        group.mapping = PCOL_NONE;
        OK(pcol_builder_group(case_builder, &group, &stack, NULL));
        OK(pcol_builder_stack(case_builder, 0, stack, &stack, NULL));
        for (uint64_t row = 0; row < 3; row++) {
            case_number("samples", "stack", PCOL_U32, "stacks", row, 1);
            case_number("samples", "value.0", PCOL_I64, NULL, row, 2);
        }
        case_number("function_sums", "location", PCOL_U32, "locations", 0, 0);
        case_number("function_sums", "self.0", PCOL_I64, NULL, 0, 6);
        case_number("function_sums", "total.0", PCOL_I64, NULL, 0, 6);
        case_expect(PCOL_CHECK_STRICT,
                    lines < 32 ? ""
                               : "function_sums. -1: stacks have too many lines for this table");
    }
}

/* Two samples, and two sources with a thread each; sample 1 has this thread. */
static void set_threads(int thread)
{
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row;
    case_stacked();
    source.type = "test";
    OK(pcol_builder_source(case_builder, &source, &row, NULL));
    for (int i = 0; i < 2; i++)
        case_number("threads", "source", PCOL_U32, "sources", (uint64_t)i, i);
    case_number("samples", "thread", PCOL_U32, "threads", 1, thread);
}

Test(check_sources, threads)
{
    set_threads(0);
    case_expect(PCOL_CHECK_STRICT, "");
    set_threads(1);
    case_expect(PCOL_CHECK_STRICT,
                "samples.thread 1: row 1 of threads is of source 1, this row of 0");
}

Test(check_sources, types)
{
    for (int type = 0; type < 2; type++) {
        uint32_t row;
        case_stacked();
        OK(pcol_builder_sample_type(case_builder, "cpu", "nanoseconds", 0, 0, &row, NULL));
        case_number("source_types", "source", PCOL_U32, "sources", 0, 0);
        case_number("source_types", "sample_type", PCOL_U32, "sample_types", 0, type);
        case_number("samples", "value.0", PCOL_I64, NULL, 1, 7);
        case_expect(PCOL_CHECK_STRICT,
                    type ? "samples.value.0 1: source 0 does not have sample type 0" : "");
    }
}

Test(check_sources, other_tables)
{
    for (int source = 0; source < 2; source++) {
        set_threads(0);
        case_number("markers", "source", PCOL_U32, "sources", 0, source);
        case_number("markers", "thread", PCOL_U32, "threads", 0, 0);
        case_expect(PCOL_CHECK_STRICT,
                    source ? "markers.thread 0: row 0 of threads is of source 0, this row of 1"
                           : "");
    }
}

/* A copy of a source does not have a thread of no source. */
Test(check_sources, selected_source)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    selection.source = "1";
    options.selection = &selection;
    for (int thread = 0; thread < 2; thread++) {
        pcol_error err = {0};
        pcol_builder *part;
        void *data;
        set_threads(thread);
        pcol_file *file = case_open(&data);
        OK(pcol_builder_new(NULL, &part, NULL));
        cr_expect_eq(pcol_filter(part, file, &options, &err), thread ? PCOL_E_CORRUPT : PCOL_OK);
        cr_expect_str_eq(err.message,
                         thread ? "row 1 of threads is of source 1, this row of 0" : "");
        pcol_builder_free(part);
        pcol_file_close(file);
        pcol_free(data);
    }
}

Test(check_categories, subcategories)
{
    /* category 0 has two subcategories, category 1 none */
    for (int number = -1; number < 3; number++) {
        for (int category = -1; category < 2; category++) {
            const char *expected = "";
            if (category < 0 && number)
                expected = number < 0    ? "location_groups.subcategory 0: -1 is of no category"
                           : number == 1 ? "location_groups.subcategory 0: 1 is of no category"
                                         : "location_groups.subcategory 0: 2 is of no category";
            else if (number < 0 || number > 1 || (category && number))
                expected = "location_groups.subcategory 0: ";
            case_stacked();
            for (int i = 0; i < 2; i++)
                case_number("categories", "source", PCOL_U32, "sources", (uint64_t)i, 0);
            for (int i = 0; i < 2; i++)
                case_number("subcategories", "category", PCOL_U32, "categories", (uint64_t)i, 0);
            if (category >= 0)
                case_number("location_groups", "category", PCOL_U32, "categories", 0, category);
            case_number("location_groups", "subcategory", PCOL_I64, NULL, 0, number);
            case_expect(PCOL_CHECK_STRICT, expected);
        }
    }
}
