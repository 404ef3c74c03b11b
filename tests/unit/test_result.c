/*
 * test_result.c - the tables of results: columns, values, lifetime
 */
#include <criterion/criterion.h>

#include <string.h>

#include "pcol.h"

#include "tests/result_cells.h"

static pcol_file *open_folded(const char *text, void **data)
{
    pcol_builder *builder;
    pcol_file *file;
    size_t size;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, text, strlen(text), "in", NULL, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, data, &size, NULL), PCOL_OK);
    pcol_builder_free(builder);
    cr_assert_eq(pcol_file_open_memory(*data, size, NULL, &file, NULL), PCOL_OK);
    return file;
}

static int is_text(pcol_str text, const char *expected)
{
    return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

/* Result, query and file in each order of release; the rows are read as long as there is a
 * reference to the result. */
Test(result, any_order_of_release)
{
    static const char orders[6][4] = {"rqf", "rfq", "qrf", "qfr", "frq", "fqr"};
    for (int i = 0; i < 6; i++) {
        void *data;
        pcol_file *file = open_folded("a;b 3\na 1\n", &data);
        pcol_query *query;
        pcol_result *tree, *other;
        cr_assert_eq(pcol_query_new(file, NULL, NULL, &query, NULL), PCOL_OK);
        cr_assert_eq(pcol_query_tree(query, NULL, &tree, NULL), PCOL_OK);
        other = pcol_result_retain(tree);
        for (int k = 0; k < 3; k++) {
            if (orders[i][k] == 'r')
                pcol_result_free(tree);
            else if (orders[i][k] == 'q')
                pcol_query_free(query);
            else
                pcol_file_close(file);
            cr_assert(is_text(result_text(other, "name", 2), "b"));
        }
        pcol_result_free(other);
        pcol_free(data);
    }
}

Test(result, columns_of_a_top)
{
    void *data;
    pcol_file *file = open_folded("a;b 3\na 1\n", &data);
    pcol_query *query;
    pcol_result *top;
    pcol_result_info info = PCOL_INIT(pcol_result_info);
    pcol_buffer self;
    cr_assert_eq(pcol_query_new(file, NULL, NULL, &query, NULL), PCOL_OK);
    cr_assert_eq(pcol_query_top(query, NULL, &top, NULL), PCOL_OK);
    const pcol_table *table = pcol_result_table(top);
    static const char *const names[] = {"name",     "file",    "line", "address", "location",
                                        "function", "mapping", "self", "total"};
    cr_assert_eq(pcol_table_column_count(table), 9);
    for (uint32_t i = 0; i < 9; i++)
        cr_expect_eq(pcol_table_column_by_name(table, names[i], NULL), pcol_table_column(table, i),
                     "%s", names[i]);
    cr_assert_eq(result_rows(top), 2);
    cr_expect(is_text(result_text(top, "name", 0), "b"));
    cr_expect_eq(result_amount(top, "total", 1).i64, 4);
    cr_assert_eq(pcol_column_data(pcol_table_column(table, 7), &self, NULL), PCOL_OK);
    cr_expect_eq(((const int64_t *)self.values)[0], 3);
    cr_assert_eq(pcol_result_describe(top, &info, NULL), PCOL_OK);
    cr_expect_str_eq(info.kind, "top");
    cr_expect_eq(info.total[1].i64, 4);
    pcol_result_free(top);
    pcol_query_free(query);
    pcol_file_close(file);
    pcol_free(data);
}

/* A result's table is scanned, and exported to Arrow, as any other; numbers are not copied, and the
 * last array holds the result. */
Test(result, scan_array_and_stream)
{
    void *data;
    pcol_file *file = open_folded("a;b 3\na;c 2\na 1\n", &data);
    pcol_query *query;
    pcol_result *top;
    pcol_scan *scan;
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_array array = PCOL_INIT(pcol_array);
    struct ArrowArrayStream stream;
    struct ArrowArray rows, end;
    cr_assert_eq(pcol_query_new(file, NULL, NULL, &query, NULL), PCOL_OK);
    cr_assert_eq(pcol_query_top(query, NULL, &top, NULL), PCOL_OK);
    const pcol_table *table = pcol_result_table(top);
    uint32_t columns[2];
    cr_assert_not_null(pcol_table_column_by_name(table, "name", &columns[0]));
    cr_assert_not_null(pcol_table_column_by_name(table, "self", &columns[1]));
    const pcol_condition where = {
        .column = columns[1], .op = PCOL_OP_LT, .type = PCOL_I64, .value.i64 = 3};
    options.columns = columns;
    options.column_count = 2;
    options.where = &where;
    options.where_count = 1;
    cr_assert_eq(pcol_scan_new(table, &options, &scan, NULL), PCOL_OK);
    cr_assert_eq(pcol_scan_next(scan, &batch, NULL), PCOL_OK);
    cr_assert_eq(batch.rows, 2);
    cr_expect(is_text(batch.columns[0].str[0], "c"));
    cr_expect_eq(batch.columns[1].i64[1], 1);
    pcol_scan_free(scan);

    cr_assert_eq(pcol_column_array(pcol_table_column(table, columns[1]), NULL, &array, NULL),
                 PCOL_OK);
    cr_assert_eq(pcol_table_arrow(table, NULL, &stream, NULL), PCOL_OK);
    pcol_result_free(top);
    pcol_query_free(query);
    pcol_file_close(file);
    cr_assert_eq(stream.get_next(&stream, &rows), 0);
    cr_assert_eq(stream.get_next(&stream, &end), 0);
    cr_expect_null(end.release);
    stream.release(&stream);
    cr_expect_eq(rows.length, 3);
    cr_expect_eq(rows.children[columns[1]]->buffers[1], array.values);
    const int64_t *offsets = rows.children[columns[0]]->buffers[1];
    cr_expect_eq(offsets[3], 3);
    cr_expect_eq(memcmp(rows.children[columns[0]]->buffers[2], "bca", 3), 0);
    rows.release(&rows);
    pcol_free(data);
}
