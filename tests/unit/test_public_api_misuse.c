/*
 * test_public_api_misuse.c - misuse of the functions in pcol.h
 *
 * Missing, unknown or out-of-range arguments and calls in the wrong order give an error with a
 * message or an empty answer, no invalid read, and no unreadable file.
 * More than 600 lines: a case for each function, in the order of pcol.h.
 */
#include <criterion/criterion.h>

#include "pcol_perun.h"
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(public_api_misuse, .init = folder_begin, .fini = folder_end);

static pcol_error err;

/* The status, and an error that was filled with it. */
static void expect(const char *call, pcol_status wanted, pcol_status got)
{
    cr_expect_eq(got, wanted, "%s: %s, not %s (%s)", call, pcol_status_name(got),
                 pcol_status_name(wanted), err.message);
    if (got != PCOL_OK) {
        cr_expect_eq(err.status, got, "%s: the error is of status %d", call, (int)err.status);
        cr_expect_neq(err.message[0], '\0', "%s: no message", call);
    } else {
        cr_expect(err.status == PCOL_OK && !err.message[0], "%s: writes the error %s", call,
                  err.message);
    }
    memset(&err, 0, sizeof err);
}

#define IS(status, call) expect(#call, PCOL_##status, call)
#define BAD(call) IS(E_ARGUMENT, call)

static pcol_status to_no_output(void *context, const void *data, size_t size, pcol_error *error)
{
    (void)context;
    (void)data;
    (void)size;
    (void)error;
    return PCOL_OK;
}

static const pcol_sink nowhere = {to_no_output, NULL}, no_sink = {NULL, NULL};

static pcol_file *open_text(const char *text)
{
    pcol_builder *builder;
    pcol_file *file;
    void *bytes;
    size_t size;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, text, strlen(text), "x.Rprof", NULL, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, NULL), PCOL_OK);
    folder_file("x.pcol", bytes, size);
    pcol_free(bytes);
    pcol_builder_free(builder);
    cr_assert_eq(pcol_file_open(folder_path("x.pcol"), NULL, &file, NULL), PCOL_OK);
    return file;
}

static pcol_file *open_some(void)
{
    return open_text("sample.interval=20000\n\"a\" \"main\" \n\"b\" \"main\" \n\"a\" \"main\" \n");
}

/* ---- reading */

Test(public_api_misuse, opening_and_tables)
{
    pcol_file *file = open_some(), *other;
    const pcol_table *table;
    uint64_t faults;
    uint32_t types[4];
    int64_t first, last;
    pcol_str key;
    size_t count;
    unsigned major = 9, minor = 9;
    BAD(pcol_file_open(NULL, NULL, &other, &err));
    BAD(pcol_file_open("x", NULL, NULL, &err));
    BAD(pcol_file_open_memory(NULL, 8, NULL, &other, &err));
    BAD(pcol_file_intact(NULL, &err));
    BAD(pcol_file_table(NULL, PCOL_MODEL_V2, 0, &table, &err));
    BAD(pcol_file_table(file, PCOL_MODEL_V2, 0, NULL, &err));
    BAD(pcol_file_table(file, PCOL_MODEL_V2, UINT32_MAX, &table, &err));
    BAD(pcol_file_table(file, (pcol_model)77, 0, &table, &err));
    BAD(pcol_file_table_by_name(NULL, PCOL_MODEL_V2, "samples", &table, &err));
    BAD(pcol_file_table_by_name(file, PCOL_MODEL_V2, NULL, &table, &err));
    BAD(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", NULL, &err));
    IS(E_NOT_FOUND, pcol_file_table_by_name(file, (pcol_model)77, "samples", &table, &err));
    BAD(pcol_file_default_types(NULL, 0, 1, types, &err));
    BAD(pcol_file_default_types(file, 0, 1, NULL, &err));
    BAD(pcol_file_default_types(file, 0, 2, types, &err));
    BAD(pcol_file_default_types(file, 1, SIZE_MAX, types, &err));
    BAD(pcol_file_default_types(file, UINT64_MAX, 2, types, &err));
    BAD(pcol_file_default_type(NULL, types, &err));
    BAD(pcol_file_default_type(file, NULL, &err));
    BAD(pcol_label_keys(NULL, &key, 1, &count, &err));
    BAD(pcol_label_keys(file, NULL, 1, &count, &err));
    BAD(pcol_label_keys(file, &key, 1, NULL, &err));
    BAD(pcol_file_times(NULL, 0, &first, &last, &err));
    BAD(pcol_file_times(file, 0, NULL, &last, &err));
    BAD(pcol_file_times(file, 0, &first, NULL, &err));
    BAD(pcol_file_times(file, 7, &first, &last, &err));
    BAD(pcol_file_check(NULL, PCOL_CHECK_QUICK, NULL, NULL, NULL, &faults, &err));
    BAD(pcol_file_check(file, PCOL_CHECK_QUICK, NULL, NULL, NULL, NULL, &err));
    BAD(pcol_file_check(file, (pcol_check_depth)3, NULL, NULL, NULL, &faults, &err));
    cr_expect_eq(pcol_file_size(NULL), 0);
    cr_expect_eq(pcol_file_unpacked_size(NULL), 0);
    cr_expect_eq(pcol_file_is_archive(NULL), 0);
    pcol_file_version(NULL, &major, &minor);
    cr_expect(major == 0 && minor == 0);
    pcol_file_version(file, NULL, NULL);
    for (int model = 0; model < 4; model++) {
        cr_expect_eq(pcol_file_table_count(NULL, (pcol_model)model), 0);
        cr_expect_null(pcol_file_table_name(NULL, (pcol_model)model, 0));
    }
    pcol_file_close(file);
}

Test(public_api_misuse, columns)
{
    pcol_file *file = open_some();
    const pcol_table *table;
    const pcol_column *column;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_buffer buffer;
    int64_t number = 5;
    double real;
    pcol_str text;
    uint32_t locations[1];
    size_t depth = 5;
    cr_assert_eq(pcol_file_table(file, PCOL_MODEL_V2, 0, &table, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, NULL),
                 PCOL_OK);
    column = pcol_table_column_by_name(table, "stack", NULL);
    cr_expect_str_empty(pcol_table_name(NULL));
    cr_expect_eq(pcol_table_rows(NULL), 0);
    cr_expect_eq(pcol_table_column_count(NULL), 0);
    cr_expect_null(pcol_table_column(NULL, 0));
    cr_expect_null(pcol_table_column(table, UINT32_MAX));
    cr_expect_null(pcol_table_column_by_name(NULL, "x", NULL));
    cr_expect_null(pcol_table_column_by_name(table, NULL, NULL));
    BAD(pcol_column_describe(column, NULL, &err));
    info.rows = 5;
    BAD(pcol_column_describe(NULL, &info, &err));
    cr_expect_eq(info.rows, 0);
    BAD(pcol_column_i64(NULL, 0, &number, NULL, &err));
    cr_expect_eq(number, 0);
    BAD(pcol_column_i64(column, 0, NULL, NULL, &err));
    BAD(pcol_column_i64(column, UINT64_MAX, &number, NULL, &err));
    BAD(pcol_column_f64(NULL, 0, &real, NULL, &err));
    BAD(pcol_column_f64(column, 0, NULL, NULL, &err));
    BAD(pcol_column_str(NULL, 0, &text, NULL, &err));
    BAD(pcol_column_str(column, 0, NULL, NULL, &err));
    BAD(pcol_column_read_i64(NULL, 0, 0, NULL, NULL, &err));
    BAD(pcol_column_read_i64(column, 0, 1, NULL, NULL, &err));
    BAD(pcol_column_read_f64(column, 0, 1, NULL, NULL, &err));
    BAD(pcol_column_read_str(column, 0, 1, NULL, NULL, &err));
    IS(OK, pcol_column_read_i64(column, 0, 0, NULL, NULL, &err));
    BAD(pcol_column_data(NULL, &buffer, &err));
    BAD(pcol_column_data(column, NULL, &err));
    BAD(pcol_stack_locations(NULL, 1, locations, 1, &depth, &err));
    cr_expect_eq(depth, 0);
    BAD(pcol_stack_locations(file, 1, NULL, 1, &depth, &err));
    BAD(pcol_stack_locations(file, 1, locations, 1, NULL, &err));
    IS(OK, pcol_stack_locations(file, 1, NULL, 0, &depth, &err));
    pcol_file_close(file);
}

Test(public_api_misuse, scans)
{
    pcol_file *file = open_some();
    const pcol_table *table;
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    uint32_t beyond = 99;
    cr_assert_eq(pcol_file_table(file, PCOL_MODEL_V2, 0, &table, NULL), PCOL_OK);
    BAD(pcol_scan_new(NULL, &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = 1},
                      &scan, &err));
    BAD(pcol_scan_new(table,
                      &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = 1}, NULL,
                      &err));
    BAD(pcol_scan_new(table,
                      &(pcol_scan_options){
                          .size = sizeof(pcol_scan_options), .columns = &beyond, .column_count = 1},
                      &scan, &err));
    cr_expect_null(scan);
    BAD(pcol_scan_next(NULL, &batch, &err));
    IS(OK,
       pcol_scan_new(
           table, &(pcol_scan_options){.size = sizeof(pcol_scan_options), .first_row = UINT64_MAX},
           &scan, &err));
    BAD(pcol_scan_next(scan, NULL, &err));
    IS(OK, pcol_scan_next(scan, &batch, &err));
    cr_expect_eq(batch.rows, 0);
    pcol_scan_free(scan);
    pcol_file_close(file);
}

#ifndef PCOL_NO_MMAP
/* What comes after a batch that failed is not known any more. */
Test(public_api_misuse, a_scan_that_has_failed_stays_so)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    struct text text = {0};
    pcol_file *file;
    const pcol_table *table;
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    text_addf(&text, "sample.interval=20000\n");
    for (int i = 0; i < 30000; i++)
        text_addf(&text, "\"f%d\" \"g%d\" \"main\" \n", i * 7919 % 3001, i % 31);
    pcol_file_close(open_text(text.data));
    options.flags = PCOL_OPEN_GUARD;
    cr_assert_eq(pcol_file_open(folder_path("x.pcol"), &options, &file, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "sample_locations", &table, NULL),
                 PCOL_OK);
    IS(OK, pcol_scan_new(table,
                         &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = 5000},
                         &scan, &err));
    IS(OK, pcol_scan_next(scan, &batch, &err));
    cr_assert_eq(truncate(folder_path("x.pcol"), 4096), 0);
    IS(E_IO, pcol_scan_next(scan, &batch, &err));
    cr_expect(batch.rows == 0 && !batch.columns);
    IS(E_STATE, pcol_scan_next(scan, &batch, &err));
    pcol_scan_free(scan);
    pcol_file_close(file);
    free(text.data);
}
#endif

/* ---- asking */

Test(public_api_misuse, queries)
{
    pcol_file *file = open_some();
    pcol_query *query, *other;
    pcol_query_info info;
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_names *names;
    pcol_pattern *pattern;
    pcol_str text;
    pcol_sample_type type;
    int flag;
    uint8_t taken[4];
    BAD(pcol_query_new(NULL, NULL, NULL, &query, &err));
    BAD(pcol_query_new(file, NULL, NULL, NULL, &err));
    selection.label_count = 1;
    BAD(pcol_query_new(file, &selection, NULL, &query, &err));
    selection = (pcol_selection)PCOL_INIT(pcol_selection);
    selection.time_share = PCOL_SHARE_EXACT + 1;
    BAD(pcol_query_new(file, &selection, NULL, &query, &err));
    selection = (pcol_selection){0};
    BAD(pcol_query_new(file, &selection, NULL, &query, &err));
    IS(OK, pcol_query_new(file, NULL, NULL, &query, &err));
    info = (pcol_query_info){.size = sizeof info};
    BAD(pcol_query_describe(query, NULL, &err));
    BAD(pcol_query_describe(NULL, &info, &err));
    info.size = 0;
    BAD(pcol_query_describe(query, &info, &err));
    BAD(pcol_query_samples(NULL, 0, 1, taken, &err));
    BAD(pcol_query_samples(query, 0, 1, NULL, &err));
    BAD(pcol_query_samples(query, UINT64_MAX, 2, taken, &err));
    cr_expect_eq(pcol_query_shows_location(NULL, 0), 0);
    cr_expect_eq(pcol_query_shows_location(query, UINT64_MAX), 0);
    const pcol_file *bases[2] = {file, NULL};
    BAD(pcol_query_shared_type(bases, 1, NULL, NULL, &type, &flag, &err));
    BAD(pcol_query_shared_type(bases, 0, file, NULL, &type, &flag, &err));
    BAD(pcol_query_shared_type(NULL, 1, file, NULL, &type, &flag, &err));
    BAD(pcol_query_shared_type(bases, 2, file, NULL, &type, &flag, &err));
    IS(OK, pcol_query_shared_type(bases, 1, file, NULL, &type, &flag, &err));
    BAD(pcol_names_new(NULL, &names, &err));
    BAD(pcol_names_new(file, NULL, &err));
    IS(OK, pcol_names_new(file, &names, &err));
    BAD(pcol_names_function(NULL, 0, &text, &flag, &err));
    BAD(pcol_names_function(names, 0, NULL, &flag, &err));
    BAD(pcol_names_function(names, UINT64_MAX, &text, &flag, &err));
    BAD(pcol_names_location(NULL, 0, &text, &err));
    BAD(pcol_names_location(names, 0, NULL, &err));
    BAD(pcol_names_location(names, UINT64_MAX, &text, &err));
    pcol_names_free(names);
    IS(OK, pcol_pattern_new("a", 1, "x", 0, &pattern, &err));
    BAD(pcol_pattern_new("a", 1, "x", 0, NULL, &err));
    BAD(pcol_pattern_test(NULL, text, &flag, &err));
    BAD(pcol_pattern_test(pattern, text, NULL, &err));
    BAD(pcol_pattern_test(pattern, (pcol_str){NULL, 3}, &flag, &err));
    IS(OK, pcol_pattern_test(pattern, (pcol_str){NULL, 0}, &flag, &err));
    pcol_pattern_free(pattern);
    BAD(pcol_ask(NULL, PCOL_ASK_FIELDS, NULL, &(pcol_answers *){NULL}, &err));
    BAD(pcol_ask(file, PCOL_ASK_FIELDS, NULL, NULL, &err));
    BAD(pcol_answers_next(NULL, &(const pcol_answer *){NULL}, &err));
    BAD(pcol_answers_block(NULL, &(pcol_answer_block)PCOL_INIT(pcol_answer_block), &err));
    BAD(pcol_answers_block(NULL, NULL, &err));
    cr_expect_eq(pcol_answers_column_count(NULL), 0);
    cr_expect_eq(pcol_answers_column(NULL, 0).size, 0);
    IS(OK, pcol_query_new(file, NULL, NULL, &other, &err));
    pcol_query_free(other);
    pcol_query_free(query);
    pcol_file_close(file);
}

/* Bases, counts and limits of a comparison. */
static void careless_bases(pcol_query *query)
{
    pcol_query *const none[] = {query, NULL, query};
    pcol_diff_options options = PCOL_INIT(pcol_diff_options);
    pcol_result *diff;
    options.further_base_count = 1;
    BAD(pcol_diff(query, query, &options, &diff, &err));
    options.further_bases = none + 1;
    BAD(pcol_diff(query, query, &options, &diff, &err));
    options.further_base_count = 1 << 20;
    IS(E_LIMIT, pcol_diff(query, query, &options, &diff, &err));
    options.further_bases = none;
    options.further_base_count = 1;
    options.counts = none;
    BAD(pcol_diff(query, query, &options, &diff, &err));
    options.counts = NULL;
    options.flags = PCOL_DIFF_FAIL_ABOVE;
    options.fail_above = -1;
    BAD(pcol_diff(query, query, &options, &diff, &err));
    options.flags = PCOL_DIFF_FAIL_TOTAL;
    options.fail_total = (double)NAN;
    BAD(pcol_diff(query, query, &options, &diff, &err));
    options.flags = 0x8;
    BAD(pcol_diff(query, query, &options, &diff, &err));
    options.flags = 0;
    IS(OK, pcol_diff(query, query, &options, &diff, &err));
    pcol_result_free(diff);
}

Test(public_api_misuse, answers)
{
    pcol_file *file = open_some();
    pcol_query *query;
    pcol_result *top;
    pcol_result *tree;
    pcol_result *peek;
    pcol_result *diff;
    pcol_result_info info;
    pcol_diff_options by_stack = {.size = sizeof by_stack, .by = PCOL_BY_STACK};
    pcol_flame_options not_wide = PCOL_INIT(pcol_flame_options);
    pcol_result *flame;
    pcol_result *cpu;
    IS(OK, pcol_query_new(file, NULL, NULL, &query, &err));
    BAD(pcol_query_top(NULL, NULL, &top, &err));
    BAD(pcol_query_top(query, NULL, NULL, &err));
    BAD(pcol_query_tree(NULL, NULL, &tree, &err));
    BAD(pcol_query_tree(query, NULL, NULL, &err));
    BAD(pcol_query_peek(NULL, "a", NULL, &peek, &err));
    BAD(pcol_query_peek(query, "a", NULL, NULL, &err));
    BAD(pcol_query_peek(query, NULL, NULL, &peek, &err));
    BAD(pcol_query_cpu(NULL, &cpu, &err));
    BAD(pcol_query_cpu(query, NULL, &err));
    BAD(pcol_query_flame(NULL, NULL, &flame, &err));
    BAD(pcol_query_flame(query, NULL, NULL, &err));
    not_wide.min_width_px = (double)NAN;
    BAD(pcol_query_flame(query, &not_wide, &flame, &err));
    BAD(pcol_diff(query, NULL, NULL, &diff, &err));
    BAD(pcol_diff(query, query, NULL, NULL, &err));
    by_stack.order = (pcol_order)3;
    BAD(pcol_diff(query, query, &by_stack, &diff, &err));
    careless_bases(query);
    IS(OK, pcol_query_top(query, NULL, &top, &err));
    IS(OK, pcol_query_tree(query, NULL, &tree, &err));
    IS(OK, pcol_query_peek(query, "a", NULL, &peek, &err));
    IS(OK, pcol_query_flame(query, NULL, &flame, &err));
    IS(OK, pcol_query_cpu(query, &cpu, &err));
    IS(OK, pcol_diff(query, query, NULL, &diff, &err));
    cr_expect_null(pcol_result_table(NULL));
    cr_expect_null(pcol_result_retain(NULL));
    pcol_result_free(NULL);
    BAD(pcol_result_describe(NULL, &info, &err));
    BAD(pcol_result_describe(top, NULL, &err));
    info.size = 0;
    BAD(pcol_result_describe(top, &info, &err));
    BAD(pcol_flame_svg(top, "x", nowhere, &err));
    BAD(pcol_flame_svg(NULL, "x", nowhere, &err));
    BAD(pcol_flame_svg(flame, "x", no_sink, &err));
    pcol_result_free(diff);
    pcol_result_free(cpu);
    pcol_result_free(flame);
    pcol_result_free(peek);
    pcol_result_free(tree);
    pcol_result_free(top);
    pcol_query_free(query);
    pcol_file_close(file);
}

/* ---- building and converting */

struct build {
    pcol_builder *b;
    uint32_t source, type;
    pcol_source a_source;
    pcol_value value;
    pcol_sample sample;
};

static void build_begin(struct build *t)
{
    memset(t, 0, sizeof *t);
    t->a_source.size = sizeof t->a_source;
    t->a_source.type = "mine";
    t->sample.size = sizeof t->sample;
    t->sample.thread = PCOL_NONE;
    t->sample.values = &t->value;
    t->sample.value_count = 1;
    cr_assert_eq(pcol_builder_new(NULL, &t->b, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_source(t->b, &t->a_source, &t->source, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_sample_type(t->b, "s", "u", 0, 0, &t->type, NULL), PCOL_OK);
}

/* Written as wanted; a file that is written is sound, and holds so many samples. */
static void build_end(struct build *t, pcol_status wanted, uint64_t samples)
{
    void *bytes;
    size_t size;
    uint64_t faults;
    pcol_file *file;
    const pcol_table *table;
    pcol_status status = pcol_builder_write_memory(t->b, 0, NULL, &bytes, &size, &err);
    expect("pcol_builder_write_memory", wanted, status);
    if (status == PCOL_OK) {
        IS(OK, pcol_file_open_memory(bytes, size, NULL, &file, &err));
        IS(OK, pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err));
        cr_expect_eq(faults, 0);
        IS(OK, pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, &err));
        cr_expect_eq(pcol_table_rows(table), samples);
        pcol_file_close(file);
    }
    pcol_free(bytes);
    pcol_builder_free(t->b);
}

Test(public_api_misuse, builders)
{
    struct build t;
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    uint32_t row;
    build_begin(&t);
    function.name = function.system_name = function.filename = group.mapping = PCOL_NONE;
    BAD(pcol_builder_new(NULL, NULL, &err));
    BAD(pcol_builder_string(NULL, "a", 1, &row, &err));
    BAD(pcol_builder_string(t.b, NULL, 1, &row, &err));
    BAD(pcol_builder_string(t.b, "a", 1, NULL, &err));
    IS(OK, pcol_builder_string(t.b, NULL, 0, &row, &err));
    BAD(pcol_builder_function(NULL, &function, &row, &err));
    BAD(pcol_builder_function(t.b, NULL, &row, &err));
    BAD(pcol_builder_function(t.b, &function, NULL, &err));
    BAD(pcol_builder_group(NULL, &group, &row, &err));
    BAD(pcol_builder_group(t.b, NULL, &row, &err));
    BAD(pcol_builder_group(t.b, &group, NULL, &err));
    group.line_count = 1;
    BAD(pcol_builder_group(t.b, &group, &row, &err));
    BAD(pcol_builder_stack(NULL, 0, 0, &row, &err));
    BAD(pcol_builder_stack(t.b, 0, 0, NULL, &err));
    BAD(pcol_builder_source(NULL, &t.a_source, &row, &err));
    BAD(pcol_builder_source(t.b, NULL, &row, &err));
    BAD(pcol_builder_source(t.b, &t.a_source, NULL, &err));
    BAD(pcol_builder_source_meta(NULL, 0, "a", "b", &err));
    BAD(pcol_builder_source_meta(t.b, 0, NULL, "b", &err));
    BAD(pcol_builder_sample_type(NULL, "a", "b", 0, 0, &row, &err));
    BAD(pcol_builder_sample_type(t.b, NULL, "b", 0, 0, &row, &err));
    BAD(pcol_builder_sample_type(t.b, "a", NULL, 0, 0, &row, &err));
    BAD(pcol_builder_sample_type(t.b, "a", "b", 0, 0, NULL, &err));
    BAD(pcol_builder_sample_type(t.b, "a", "b", 4, 0, &row, &err));
    BAD(pcol_builder_sample(NULL, &t.sample, NULL, &err));
    BAD(pcol_builder_sample(t.b, NULL, NULL, &err));
    BAD(pcol_builder_table(NULL, "t", &row, &err));
    BAD(pcol_builder_table(t.b, NULL, &row, &err));
    BAD(pcol_builder_table(t.b, "t", NULL, &err));
    BAD(pcol_builder_column(NULL, 0, "c", PCOL_I64, 0, &row, &err));
    BAD(pcol_builder_column(t.b, 0, NULL, PCOL_I64, 0, &row, &err));
    BAD(pcol_builder_column(t.b, 0, "c", PCOL_I64, 0, NULL, &err));
    BAD(pcol_builder_set_i64(NULL, 0, 0, 0, &err));
    BAD(pcol_builder_set_f64(NULL, 0, 0, 0, &err));
    BAD(pcol_builder_set_str(NULL, 0, 0, "", 0, &err));
    BAD(pcol_builder_set_str(t.b, 0, 0, NULL, 1, &err));
    BAD(pcol_builder_write(NULL, 0, NULL, nowhere, &err));
    BAD(pcol_builder_write(t.b, 0, NULL, no_sink, &err));
    BAD(pcol_builder_write_memory(t.b, 0, NULL, NULL, &(size_t){0}, &err));
    BAD(pcol_builder_write_memory(t.b, 0, NULL, &(void *){NULL}, NULL, &err));
    build_end(&t, PCOL_OK, 0);
}

Test(public_api_misuse, a_sample_that_is_refused_leaves_nothing)
{
    struct build t;
    pcol_value twice[2] = {{0, {1}}, {0, {2}}}, unknown[2] = {{0, {1}}, {7, {2}}};
    build_begin(&t);
    t.sample.value_count = 2;
    t.sample.values = twice;
    BAD(pcol_builder_sample(t.b, &t.sample, NULL, &err));
    t.sample.values = unknown;
    BAD(pcol_builder_sample(t.b, &t.sample, NULL, &err));
    t.sample.values = NULL;
    BAD(pcol_builder_sample(t.b, &t.sample, NULL, &err));
    t.sample.values = twice;
    t.sample.value_count = 1;
    t.sample.flags |= PCOL_SAMPLE_HAS_DURATION;
    t.sample.duration_ns = -1;
    BAD(pcol_builder_sample(t.b, &t.sample, NULL, &err));
    t.sample.duration_ns = 1;
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    build_end(&t, PCOL_OK, 2);
}

/* Rows may be named before they are there, so it shows at the end. */
Test(public_api_misuse, rows_that_are_not_there_are_not_written)
{
    struct build t;
    uint32_t table, threads, column, row;
    pcol_group group = PCOL_INIT(pcol_group);
    build_begin(&t);
    t.sample.thread = 3;
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    build_end(&t, PCOL_E_ARGUMENT, 0);

    build_begin(&t);
    t.sample.thread = 3;
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    IS(OK, pcol_builder_table(t.b, "threads", &threads, &err));
    IS(OK, pcol_builder_table(t.b, "sources", &table, &err));
    IS(OK, pcol_builder_column(t.b, threads, "source", PCOL_U32, table + 1, &column, &err));
    for (uint64_t i = 0; i < 4; i++)
        IS(OK, pcol_builder_set_i64(t.b, column, i, 0, &err));
    build_end(&t, PCOL_OK, 1);

    build_begin(&t);
    group.mapping = 5;
    IS(OK, pcol_builder_group(t.b, &group, &row, &err));
    IS(OK, pcol_builder_stack(t.b, 0, row, &t.sample.stack, &err));
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    build_end(&t, PCOL_E_ARGUMENT, 0);

    build_begin(&t);
    IS(OK, pcol_builder_table(t.b, "functions", &table, &err));
    IS(OK, pcol_builder_table(t.b, "mine", &row, &err));
    IS(OK, pcol_builder_column(t.b, row, "function", PCOL_U32, table + 1, &column, &err));
    IS(OK, pcol_builder_set_i64(t.b, column, 0, 77, &err));
    build_end(&t, PCOL_E_ARGUMENT, 0);

    build_begin(&t); /* after the last sample */
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    IS(OK, pcol_builder_table(t.b, "samples", &table, &err));
    IS(OK, pcol_builder_column(t.b, table, "mine", PCOL_I64, 0, &column, &err));
    IS(OK, pcol_builder_set_i64(t.b, column, 1, 77, &err));
    build_end(&t, PCOL_E_ARGUMENT, 0);

    build_begin(&t); /* of a sample type that is there, and of one that is not */
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    IS(OK, pcol_builder_table(t.b, "samples", &table, &err));
    IS(E_ARGUMENT, pcol_builder_column(t.b, table, "value.0", PCOL_I64, 0, &column, &err));
    IS(E_ARGUMENT, pcol_builder_column(t.b, table, "value.7", PCOL_I64, 0, &column, &err));
    IS(OK, pcol_builder_column(t.b, table, "value.", PCOL_I64, 0, &column, &err));
    IS(OK, pcol_builder_table(t.b, "mine", &table, &err));
    IS(OK, pcol_builder_column(t.b, table, "value.0", PCOL_I64, 0, &column, &err));
    build_end(&t, PCOL_OK, 1);

    build_begin(&t); /* after the last row of all */
    IS(OK, pcol_builder_table(t.b, "mine", &table, &err));
    IS(OK, pcol_builder_column(t.b, table, "mine", PCOL_I64, 0, &column, &err));
    IS(E_LIMIT, pcol_builder_set_i64(t.b, column, UINT64_MAX, 77, &err));
    build_end(&t, PCOL_OK, 0);
}

Test(public_api_misuse, columns_that_the_builder_makes_are_its_own)
{
    static const char *const own[][2] = {
        {"strings", "value"}, {"stacks", "parent"}, {"stacks", "group"},   {"samples", "stack"},
        {"samples", "time"},  {"sources", "type"},  {"source_meta", "key"}};
    struct build t;
    uint32_t table, column;
    build_begin(&t);
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        IS(OK, pcol_builder_table(t.b, own[i][0], &table, &err));
        BAD(pcol_builder_column(t.b, table, own[i][1], PCOL_U32, 0, &column, &err));
    }
    for (column = 0; column < 100; column++) { /* numbers that pcol_builder_column() never gave */
        BAD(pcol_builder_set_i64(t.b, column, 1, 0, &err));
        BAD(pcol_builder_set_f64(t.b, column, 1, 0, &err));
        BAD(pcol_builder_set_str(t.b, column, 1, "x", 1, &err));
    }
    build_end(&t, PCOL_OK, 1);
    build_begin(&t);
    IS(OK, pcol_builder_table(t.b, "locations", &table, &err));
    IS(OK, pcol_builder_column(t.b, table, "line", PCOL_I64, 0, &column, &err));
    build_end(&t, PCOL_E_ARGUMENT, 0);
}

Test(public_api_misuse, names_that_no_file_can_have)
{
    static const char *const wrong[] = {"", "a\nb", "\xff", "\xed\xa0\x80", "\xc2\x85"};
    char longest[257];
    struct build t;
    uint32_t table, column;
    build_begin(&t);
    IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    IS(OK, pcol_builder_table(t.b, "mine", &table, &err));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        BAD(pcol_builder_table(t.b, wrong[i], &column, &err));
        BAD(pcol_builder_column(t.b, table, wrong[i], PCOL_I64, 0, &column, &err));
    }
    memset(longest, 'x', 256);
    longest[256] = 0;
    BAD(pcol_builder_column(t.b, table, longest, PCOL_I64, 0, &column, &err));
    IS(OK, pcol_builder_column(t.b, table, longest + 1, PCOL_I64, 0, &column, &err));
    IS(OK, pcol_builder_set_i64(t.b, column, 0, 1, &err));
    build_end(&t, PCOL_OK, 1);
}

Test(public_api_misuse, a_column_adds_no_rows_to_tables_of_the_builder)
{
    static const char *const tables[] = {
        "sources",    "source_types", "source_meta",  "sample_types",  "strings",
        "functions",  "locations",    "stacks",       "samples",       "location_groups",
        "label_keys", "label_shapes", "sample_zones", "sample_values", "sample_locations",
        "stack_sums", "function_sums"};
    struct build t;
    uint32_t table, column;
    pcol_label label = {.key = 0, .type = PCOL_I64};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        build_begin(&t);
        IS(OK, pcol_builder_string(t.b, "key", 3, &label.key, &err));
        IS(OK, pcol_builder_source_meta(t.b, t.sample.source, "key", "value", &err));
        IS(OK, pcol_builder_sample(t.b, &t.sample, NULL, &err));
        IS(OK, pcol_builder_labels(t.b, 0, &label, 1, &err));
        IS(OK, pcol_builder_table(t.b, tables[i], &table, &err));
        IS(OK, pcol_builder_column(t.b, table, "mine", PCOL_I64, 0, &column, &err));
        IS(OK, pcol_builder_set_i64(t.b, column, 50, 77, &err));
        build_end(&t, PCOL_E_ARGUMENT, 0);
    }
}

Test(public_api_misuse, a_builder_that_was_written_takes_no_more)
{
    struct build t;
    pcol_file *file = open_some();
    void *bytes;
    size_t size;
    uint32_t row;
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    build_begin(&t);
    IS(OK, pcol_builder_write_memory(t.b, 0, NULL, &bytes, &size, &err));
    pcol_free(bytes);
    IS(E_STATE, pcol_builder_string(t.b, "a", 1, &row, &err));
    IS(E_STATE, pcol_builder_function(t.b, &function, &row, &err));
    IS(E_STATE, pcol_builder_group(t.b, &group, &row, &err));
    IS(E_STATE, pcol_builder_stack(t.b, 0, 0, &row, &err));
    IS(E_STATE, pcol_builder_source(t.b, &t.a_source, &row, &err));
    IS(E_STATE, pcol_builder_source_meta(t.b, 0, "a", "b", &err));
    IS(E_STATE, pcol_builder_sample_type(t.b, "a", "b", 0, 0, &row, &err));
    IS(E_STATE, pcol_builder_sample(t.b, &t.sample, NULL, &err));
    IS(E_STATE, pcol_builder_table(t.b, "t", &row, &err));
    IS(E_STATE, pcol_builder_column(t.b, 0, "c", PCOL_I64, 0, &row, &err));
    IS(E_STATE, pcol_builder_set_i64(t.b, 0, 0, 0, &err));
    IS(E_STATE, pcol_builder_set_f64(t.b, 0, 0, 0, &err));
    IS(E_STATE, pcol_builder_set_str(t.b, 0, 0, "", 0, &err));
    IS(E_STATE, pcol_builder_write(t.b, 0, NULL, nowhere, &err));
    IS(E_STATE, pcol_import_path(t.b, folder_path("x.pcol"), NULL, &err));
    IS(E_STATE, pcol_import_fd(t.b, 0, "x", NULL, &err));
    IS(E_STATE, pcol_import_memory(t.b, "a 1\n", 4, "x", NULL, &err));
    IS(E_STATE, pcol_filter(t.b, file, NULL, &err));
    pcol_builder_free(t.b);
    pcol_file_close(file);
}

/* A part of the input is in the builder: it must not become a file. */
Test(public_api_misuse, a_builder_whose_input_failed_takes_no_more)
{
    static const char cut[] = "{\"meta\": {\"interval\": 1}, \"libs\": [], \"threads\": [";
    pcol_builder *builder;
    pcol_file *file = open_some();
    void *bytes = NULL;
    size_t size;
    uint32_t row;
    IS(OK, pcol_builder_new(NULL, &builder, &err));
    IS(E_IO, pcol_import_path(builder, folder_path("nowhere"), NULL, &err));
    IS(OK, pcol_builder_string(builder, "a", 1, &row, &err)); /* nothing was read */
    IS(E_SYNTAX, pcol_import_memory(builder, cut, sizeof cut - 1, "x.json", NULL, &err));
    IS(E_STATE, pcol_builder_string(builder, "a", 1, &row, &err));
    IS(E_STATE, pcol_builder_add_file(builder, file, NULL, &err));
    IS(E_STATE, pcol_import_memory(builder, "a 1\n", 4, "x", NULL, &err));
    IS(E_STATE, pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, &err));
    pcol_builder_free(builder);
    pcol_file_close(file);
}

/* {NULL, 0} is the empty text. */
Test(public_api_misuse, texts_of_a_selection_that_are_null)
{
    const pcol_str bad = {NULL, 3}, empty = {NULL, 0}, some = {"a", 1};
    const pcol_label_value labels[] = {{bad, some}, {some, bad}, {empty, empty}};
    const pcol_sample_type types[] = {{bad, some, 0}, {some, bad, 0}, {empty, empty, 0}};
    const char *const no_text[] = {NULL};
    pcol_file *file = open_some();
    pcol_query *query;
    for (int i = 0; i < 3; i++) {
        pcol_selection selection = PCOL_INIT(pcol_selection);
        selection.exact_labels = &labels[i];
        selection.exact_label_count = 1;
        BAD(pcol_query_new(file, &selection, NULL, &query, &err)); /* no such label */
        selection = (pcol_selection)PCOL_INIT(pcol_selection);
        selection.exact_type = &types[i]; /* an empty one is the default */
        expect("exact_type", i < 2 ? PCOL_E_ARGUMENT : PCOL_OK,
               pcol_query_new(file, &selection, NULL, &query, &err));
        pcol_query_free(query);
        selection = (pcol_selection)PCOL_INIT(pcol_selection);
        selection.focus_names = i < 2 ? &bad : &empty;
        selection.focus_name_count = 1;
        expect("focus_names", i < 2 ? PCOL_E_ARGUMENT : PCOL_OK,
               pcol_query_new(file, &selection, NULL, &query, &err));
    }
    pcol_query_free(query);
    pcol_selection selection = PCOL_INIT(pcol_selection);
    selection.source_metas = no_text;
    selection.source_meta_count = 1;
    BAD(pcol_query_new(file, &selection, NULL, &query, &err));
    pcol_file_close(file);
}

Test(public_api_misuse, metadata_given_twice)
{
    static const char *const twice[] = {"key", "1", "key", "2"};
    pcol_import_options import = PCOL_INIT(pcol_import_options);
    pcol_file *file = open_some();
    pcol_builder *builder;
    import.meta = twice;
    import.meta_count = 2;
    import.format = "folded";
    for (int adds = 0; adds < 2; adds++) {
        IS(OK, pcol_builder_new(NULL, &builder, &err));
        if (adds)
            BAD(pcol_builder_add_file(builder, file, &import, &err));
        else
            BAD(pcol_import_memory(builder, "a 1\n", 4, "x", &import, &err));
        pcol_builder_free(builder);
    }
    pcol_file_close(file);
}

Test(public_api_misuse, calls_that_succeed_write_no_error)
{
    pcol_builder *builder;
    pcol_file *file;
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value = {.as.i64 = 5};
    uint64_t row;
    sample.thread = PCOL_NONE;
    source.type = "tool";
    IS(OK, pcol_builder_new(NULL, &builder, &err));
    IS(OK, pcol_builder_source(builder, &source, &sample.source, &err));
    IS(OK, pcol_builder_sample_type(builder, "time", "ns", 0, 0, &value.sample_type, &err));
    sample.values = &value;
    sample.value_count = 1;
    IS(OK, pcol_builder_sample(builder, &sample, &row, &err));
    IS(OK, pcol_builder_file(builder, 0, NULL, &file, &err));
    IS(OK, pcol_export(file, "rprof", NULL, nowhere, &err)); /* without samples/count */
    pcol_file_close(file);
    pcol_builder_free(builder);
}

Test(public_api_misuse, lists_of_a_table_without_rows)
{
    pcol_file *file = open_text("sample.interval=20000\n");
    const pcol_table *table;
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    int lists = 0;
    IS(OK, pcol_file_table_by_name(file, PCOL_MODEL_V1, "samples", &table, &err));
    IS(OK, pcol_scan_new(table, NULL, &scan, &err));
    IS(OK, pcol_scan_next(scan, &batch, &err));
    cr_expect_eq(batch.rows, 0);
    for (uint32_t i = 0; i < batch.column_count; i++)
        if (batch.columns[i].type == PCOL_LIST) {
            cr_expect_eq(batch.columns[i].list[0], 0);
            lists++;
        }
    cr_expect_gt(lists, 0);
    pcol_scan_free(scan);
    pcol_file_close(file);
}

Test(public_api_misuse, importing_filtering_exporting)
{
    static const char *const half[] = {"key", NULL};
    pcol_import_options import = PCOL_INIT(pcol_import_options);
    pcol_export_options export = PCOL_INIT(pcol_export_options);
    pcol_filter_options filter = PCOL_INIT(pcol_filter_options);
    pcol_add_frames_options frames = PCOL_INIT(pcol_add_frames_options);
    pcol_file *file = open_some();
    pcol_output *output;
    struct build t;
    build_begin(&t);
    BAD(pcol_import_path(NULL, "x", NULL, &err));
    BAD(pcol_import_path(t.b, NULL, NULL, &err));
    BAD(pcol_import_fd(NULL, 0, "x", NULL, &err));
    BAD(pcol_import_fd(t.b, -1, NULL, NULL, &err));
    BAD(pcol_import_memory(NULL, "", 0, "x", NULL, &err));
    BAD(pcol_import_memory(t.b, NULL, 9, "x", NULL, &err));
    import.meta_count = 1;
    BAD(pcol_import_memory(t.b, "a 1\n", 4, "x", &import, &err));
    import.meta = half;
    BAD(pcol_import_memory(t.b, "a 1\n", 4, "x", &import, &err));
    import.meta_count = 0;
    import.start_size = 1;
    BAD(pcol_import_fd(t.b, 0, "x", &import, &err));
    import.start_size = 0;
    import.open_flags = ~0u;
    BAD(pcol_import_memory(t.b, "a 1\n", 4, "x", &import, &err));
    BAD(pcol_pseudonyms_new(NULL, &err));
    pcol_pseudonyms_free(NULL);
    BAD(pcol_filter(NULL, file, NULL, &err));
    BAD(pcol_filter(t.b, NULL, NULL, &err));
    filter.drop_label_key_count = 1;
    BAD(pcol_filter(t.b, file, &filter, &err));
    filter.drop_label_keys = half + 1;
    BAD(pcol_filter(t.b, file, &filter, &err));
    filter.drop_label_key_count = 0;
    filter.idle = (pcol_idle)3;
    BAD(pcol_filter(t.b, file, &filter, &err));
    BAD(pcol_add_frames(NULL, file, NULL, &err));
    BAD(pcol_add_frames(t.b, NULL, NULL, &err));
    frames.root_count = 1;
    BAD(pcol_add_frames(t.b, file, &frames, &err));
    frames.roots = half;
    BAD(pcol_add_frames(t.b, file, &frames, &err));
    frames.roots = half + 1;
    BAD(pcol_add_frames(t.b, file, &frames, &err));
    BAD(pcol_export(NULL, "folded", NULL, nowhere, &err));
    BAD(pcol_export(file, NULL, NULL, nowhere, &err));
    BAD(pcol_export(file, "folded", NULL, no_sink, &err));
    export.compress = 3;
    BAD(pcol_export(file, "folded", &export, nowhere, &err));
    export.compress = 0;
    export.edge_fraction = (double)NAN;
    BAD(pcol_export(file, "dot", &export, nowhere, &err));
    BAD(pcol_output_open(NULL, 0, &output, &err));
    BAD(pcol_output_open(folder_path("y"), 0, NULL, &err));
    BAD(pcol_output_complete(NULL, &err));
    BAD(pcol_output_commit(NULL, &err));
    BAD(pcol_output_sink(NULL).write(NULL, "a", 1, &err));
    cr_expect_str_empty(pcol_output_temporary(NULL));
    pcol_output_abort(NULL);
    build_end(&t, PCOL_OK, 0);
    pcol_file_close(file);
}
