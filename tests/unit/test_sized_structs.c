/*
 * test_sized_structs.c - public structs of earlier and later versions of the header
 *
 * Each struct is passed in every size from `size` up, so that it ends at a page that cannot be
 * read, and with eight bytes more than the library knows. The headers say which structs there are:
 * one that no table here has fails the test.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pcol.h"
#include "pcol_perun.h"

static pcol_builder *builder;
static pcol_file *file;
static pcol_query *query;
static pcol_view *view_of_all;
static pcol_scan *ended_scan;
static pcol_file *perun;
static pcol_answers *ended_answers;
static void *file_data;

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

static pcol_status open_file(const void *options, pcol_error *err)
{
    pcol_file *opened;
    pcol_status status =
        pcol_file_open_memory(file_data, pcol_file_size(file), options, &opened, err);
    pcol_file_close(opened);
    return status;
}

static pcol_status new_builder(const void *options, pcol_error *err)
{
    pcol_builder *made;
    pcol_status status = pcol_builder_new(options, &made, err);
    pcol_builder_free(made);
    return status;
}

static pcol_status add_function(const void *function, pcol_error *err)
{
    uint32_t row;
    return pcol_builder_function(builder, function, &row, err);
}

static pcol_status add_group(const void *group, pcol_error *err)
{
    uint32_t row;
    return pcol_builder_group(builder, group, &row, err);
}

static pcol_status add_source(const void *source, pcol_error *err)
{
    uint32_t row;
    return pcol_builder_source(builder, source, &row, err);
}

static pcol_status add_sample(const void *sample, pcol_error *err)
{
    return pcol_builder_sample(builder, sample, NULL, err);
}

static pcol_status add_samples(const void *samples, pcol_error *err)
{
    return pcol_builder_samples(builder, samples, NULL, err);
}

/* Functions are NULL; of an earlier version, too. */
static pcol_status set_allocator(const void *allocator, pcol_error *err)
{
    return pcol_set_allocator(allocator, err);
}

static pcol_status open_any(const void *options, pcol_error *err)
{
    pcol_file *opened;
    pcol_status status = pcol_open_any_memory("a;b 1\n", 6, "in", options, &opened, err);
    pcol_file_close(opened);
    return status;
}

static pcol_status add_file(const void *options, pcol_error *err)
{
    return pcol_builder_add_file(builder, file, options, err);
}

static pcol_status import(const void *options, pcol_error *err)
{
    return pcol_import_memory(builder, "a;b 1\n", 6, "in", options, err);
}

static pcol_status export(const void *options, pcol_error *err)
{
    return pcol_export(file, "folded", options, (pcol_sink){discard, NULL}, err);
}

static pcol_status ask(const void *selection, pcol_error *err)
{
    pcol_query *made;
    pcol_status status = pcol_query_new(file, selection, NULL, &made, err);
    pcol_query_free(made);
    return status;
}

static pcol_status scan_selection(const void *selection, pcol_error *err)
{
    const pcol_table *table;
    pcol_scan *scan;
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    options.selection = selection;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "sample_locations", &table, NULL),
                 PCOL_OK);
    pcol_status status = pcol_scan_new(table, &options, &scan, err);
    pcol_scan_free(scan);
    return status;
}

static pcol_status filter_selection(const void *selection, pcol_error *err)
{
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    options.selection = selection;
    return pcol_filter(builder, file, &options, err);
}

static pcol_status scan_table(const void *options, pcol_error *err)
{
    const pcol_table *table;
    pcol_scan *scan;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, NULL), PCOL_OK);
    pcol_status status = pcol_scan_new(table, options, &scan, err);
    pcol_scan_free(scan);
    return status;
}

static pcol_status stream_table(const void *options, pcol_error *err)
{
    const pcol_table *table;
    struct ArrowArrayStream stream;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, NULL), PCOL_OK);
    pcol_status status = pcol_table_arrow(table, options, &stream, err);
    if (stream.release)
        stream.release(&stream);
    return status;
}

static pcol_status new_sums(const void *options, pcol_error *err)
{
    pcol_sums *sums;
    pcol_status status = pcol_sums_new(options, &sums, err);
    pcol_sums_free(sums);
    return status;
}

static pcol_status build_sums(const void *builder_options, pcol_error *err)
{
    pcol_sums_options options = PCOL_INIT(pcol_sums_options);
    options.builder = builder_options;
    return new_sums(&options, err);
}

static pcol_status control(const void *given, pcol_error *err)
{
    pcol_query *made;
    pcol_status status = pcol_query_new(file, NULL, given, &made, err);
    pcol_query_free(made);
    return status;
}

static pcol_status filter(const void *options, pcol_error *err)
{
    return pcol_filter(builder, file, options, err);
}

static pcol_status symbolize(const void *options, pcol_error *err)
{
    return pcol_symbolize(builder, file, options, err);
}

static pcol_status add_frames(const void *options, pcol_error *err)
{
    return pcol_add_frames(builder, file, options, err);
}

static pcol_status make_top(const void *options, pcol_error *err)
{
    pcol_result *top;
    pcol_status status = pcol_query_top(query, options, &top, err);
    pcol_result_free(top);
    return status;
}

static pcol_status make_peek(const void *options, pcol_error *err)
{
    pcol_result *peek;
    pcol_status status = pcol_query_peek(query, "a", options, &peek, err);
    pcol_result_free(peek);
    return status;
}

static pcol_status describe_query(void *info, pcol_error *err)
{
    return pcol_query_describe(query, info, err);
}

static pcol_status describe_result(void *info, pcol_error *err)
{
    pcol_result *top;
    pcol_status status = pcol_query_top(query, NULL, &top, err);
    if (status == PCOL_OK)
        status = pcol_result_describe(top, info, err);
    pcol_result_free(top);
    return status;
}

static pcol_status make_tree(const void *options, pcol_error *err)
{
    pcol_result *tree;
    pcol_status status = pcol_query_tree(query, options, &tree, err);
    pcol_result_free(tree);
    return status;
}

static pcol_status compare(const void *options, pcol_error *err)
{
    pcol_result *diff;
    pcol_status status = pcol_diff(query, query, options, &diff, err);
    pcol_result_free(diff);
    return status;
}

static pcol_status make_flame(const void *options, pcol_error *err)
{
    pcol_result *flame;
    pcol_status status = pcol_query_flame(query, options, &flame, err);
    pcol_result_free(flame);
    return status;
}

static const pcol_column *first_column(pcol_model model)
{
    const pcol_table *table;
    cr_assert_eq(pcol_file_table_by_name(file, model, "samples", &table, NULL), PCOL_OK);
    return pcol_table_column(table, 0);
}

static pcol_status describe_column(void *info, pcol_error *err)
{
    return pcol_column_describe(first_column(PCOL_MODEL_V2), info, err);
}

static pcol_status read_array(void *array, pcol_error *err)
{
    return pcol_column_array(first_column(PCOL_MODEL_PHYSICAL), NULL, array, err);
}

static pcol_status ask_perun(const void *options, pcol_error *err)
{
    pcol_answers *answers;
    pcol_status status = pcol_ask(file, PCOL_ASK_RESOURCES, options, &answers, err);
    pcol_answers_free(answers);
    return status;
}

static pcol_status make_view(const void *options, pcol_error *err)
{
    pcol_view *view;
    pcol_status status = pcol_view_new(query, NULL, options, &view, err);
    pcol_view_free(view);
    return status;
}

static pcol_status describe_view(void *info, pcol_error *err)
{
    return pcol_view_describe(view_of_all, info, err);
}

static pcol_status get_frame(void *frame, pcol_error *err)
{
    return pcol_view_get(view_of_all, 0, frame, err);
}

static pcol_status read_batch(void *batch, pcol_error *err)
{
    return pcol_scan_next(ended_scan, batch, err);
}

static pcol_status read_block(void *block, pcol_error *err)
{
    return pcol_answers_block(ended_answers, block, err);
}

static pcol_status mark(const void *marks, pcol_error *err)
{
    pcol_view *view;
    pcol_status status = pcol_view_new(query, NULL, NULL, &view, err);
    if (status == PCOL_OK)
        status = pcol_view_mark(view, marks, err);
    pcol_view_free(view);
    return status;
}

static pcol_status make_window(const void *window, pcol_error *err)
{
    pcol_view *view;
    const pcol_box *boxes;
    size_t count;
    pcol_status status = pcol_view_new(query, NULL, NULL, &view, err);
    if (status == PCOL_OK)
        status = pcol_view_window(view, window, &boxes, &count, err);
    pcol_view_free(view);
    return status;
}

static pcol_status make_lanes(const void *options, pcol_error *err)
{
    pcol_lanes *lanes;
    pcol_status status = pcol_lanes_new(query, options, &lanes, err);
    pcol_lanes_free(lanes);
    return status;
}

/* Calls with the lanes of all samples and their first lane; one of the two is given. */
static pcol_status use_lanes(const void *range, void *info, void *lane, pcol_error *err)
{
    pcol_lanes *lanes;
    pcol_bin bin;
    pcol_lanes_options options = PCOL_INIT(pcol_lanes_options);
    options.by = PCOL_BY_SOURCE;
    options.axis = PCOL_AXIS_ORDER;
    pcol_status status = pcol_lanes_new(query, &options, &lanes, err);
    if (status == PCOL_OK && range)
        status = pcol_lanes_bins(lanes, range, NULL, &bin, err);
    if (status == PCOL_OK && info)
        status = pcol_lanes_describe(lanes, info, err);
    if (status == PCOL_OK && lane)
        status = pcol_lanes_get(lanes, 0, lane, err);
    pcol_lanes_free(lanes);
    return status;
}

static pcol_status fill_bins(const void *range, pcol_error *err)
{
    return use_lanes(range, NULL, NULL, err);
}

static pcol_status describe_lanes(void *info, pcol_error *err)
{
    return use_lanes(NULL, info, NULL, err);
}

static pcol_status get_lane(void *lane, pcol_error *err)
{
    return use_lanes(NULL, NULL, lane, err);
}

/* expected: the status for a struct of zeros. */
static const struct {
    const char *name;
    size_t size;
    pcol_status (*call)(const void *given, pcol_error *err);
    pcol_status expected;
} structs[] = {
    {"pcol_open_options", sizeof(pcol_open_options), open_file, PCOL_OK},
    {"pcol_builder_options", sizeof(pcol_builder_options), new_builder, PCOL_OK},
    {"pcol_function", sizeof(pcol_function), add_function, PCOL_OK},
    {"pcol_group", sizeof(pcol_group), add_group, PCOL_OK},
    {"pcol_source", sizeof(pcol_source), add_source, PCOL_E_ARGUMENT}, /* no type */
    {"pcol_sample", sizeof(pcol_sample), add_sample, PCOL_OK},
    {"pcol_sample_columns", sizeof(pcol_sample_columns), add_samples, PCOL_OK},
    {"pcol_allocator", sizeof(pcol_allocator), set_allocator, PCOL_E_ARGUMENT},
    {"pcol_import_options", sizeof(pcol_import_options), import, PCOL_OK},
    {"pcol_import_options", sizeof(pcol_import_options), open_any, PCOL_OK},
    {"pcol_import_options", sizeof(pcol_import_options), add_file, PCOL_OK},
    {"pcol_export_options", sizeof(pcol_export_options), export, PCOL_OK},
    {"pcol_selection", sizeof(pcol_selection), ask, PCOL_OK},
    {"pcol_selection", sizeof(pcol_selection), scan_selection, PCOL_OK},
    {"pcol_selection", sizeof(pcol_selection), filter_selection, PCOL_OK},
    {"pcol_scan_options", sizeof(pcol_scan_options), scan_table, PCOL_OK},
    {"pcol_scan_options", sizeof(pcol_scan_options), stream_table, PCOL_OK},
    {"pcol_sums_options", sizeof(pcol_sums_options), new_sums, PCOL_OK},
    {"pcol_builder_options", sizeof(pcol_builder_options), build_sums, PCOL_OK},
    {"pcol_control", sizeof(pcol_control), control, PCOL_OK},
    {"pcol_filter_options", sizeof(pcol_filter_options), filter, PCOL_OK},
    {"pcol_symbolize_options", sizeof(pcol_symbolize_options), symbolize, PCOL_E_ARGUMENT},
    {"pcol_add_frames_options", sizeof(pcol_add_frames_options), add_frames, PCOL_OK},
    {"pcol_top_options", sizeof(pcol_top_options), make_top, PCOL_OK},
    {"pcol_peek_options", sizeof(pcol_peek_options), make_peek, PCOL_OK},
    {"pcol_tree_options", sizeof(pcol_tree_options), make_tree, PCOL_OK},
    {"pcol_diff_options", sizeof(pcol_diff_options), compare, PCOL_OK},
    {"pcol_flame_options", sizeof(pcol_flame_options), make_flame, PCOL_OK},
    {"pcol_view_options", sizeof(pcol_view_options), make_view, PCOL_OK},
    {"pcol_marks", sizeof(pcol_marks), mark, PCOL_OK},
    {"pcol_window", sizeof(pcol_window), make_window, PCOL_OK},
    {"pcol_lanes_options", sizeof(pcol_lanes_options), make_lanes, PCOL_E_ARGUMENT}, /* no by */
    {"pcol_lane_range", sizeof(pcol_lane_range), fill_bins, PCOL_E_ARGUMENT},        /* empty */
    {"pcol_ask_options", sizeof(pcol_ask_options), ask_perun, PCOL_E_FORMAT}, /* no Perun profile */
};

/* Structs that receive an answer. */
static const struct {
    const char *name;
    size_t size;
    pcol_status (*call)(void *info, pcol_error *err);
} answers[] = {{"pcol_query_info", sizeof(pcol_query_info), describe_query},
               {"pcol_result_info", sizeof(pcol_result_info), describe_result},
               {"pcol_column_info", sizeof(pcol_column_info), describe_column},
               {"pcol_array", sizeof(pcol_array), read_array},
               {"pcol_lanes_info", sizeof(pcol_lanes_info), describe_lanes},
               {"pcol_lane", sizeof(pcol_lane), get_lane},
               {"pcol_view_info", sizeof(pcol_view_info), describe_view},
               {"pcol_view_frame", sizeof(pcol_view_frame), get_frame},
               {"pcol_batch", sizeof(pcol_batch), read_batch},
               {"pcol_answer_block", sizeof(pcol_answer_block), read_block}};

/* Structs that only the library fills and passes to a function of the program. */
static const char *const passed[] = {"pcol_notice"};

/* A scan and answers at their ends, where each call gives the same. */
static void open_ends(void)
{
    const pcol_table *table;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_answer_block block = PCOL_INIT(pcol_answer_block);
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, NULL), PCOL_OK);
    cr_assert_eq(pcol_scan_new(table, NULL, &ended_scan, NULL), PCOL_OK);
    do {
        cr_assert_eq(pcol_scan_next(ended_scan, &batch, NULL), PCOL_OK);
    } while (batch.rows);
    cr_assert_eq(pcol_open_any_path("tests/data/perun/small.perf", NULL, &perun, NULL), PCOL_OK);
    cr_assert_eq(pcol_ask(perun, PCOL_ASK_RESOURCES, NULL, &ended_answers, NULL), PCOL_OK);
    do {
        cr_assert_eq(pcol_answers_block(ended_answers, &block, NULL), PCOL_OK);
    } while (block.rows);
}

static void set_up(void)
{
    size_t size;
    pcol_builder *first;
    cr_assert_eq(pcol_builder_new(NULL, &first, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(first, "a;b 1\n", 6, "in", NULL, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(first, 0, NULL, &file_data, &size, NULL), PCOL_OK);
    pcol_builder_free(first);
    cr_assert_eq(pcol_file_open_memory(file_data, size, NULL, &file, NULL), PCOL_OK);
    cr_assert_eq(pcol_query_new(file, NULL, NULL, &query, NULL), PCOL_OK);
    cr_assert_eq(pcol_view_new(query, NULL, NULL, &view_of_all, NULL), PCOL_OK);
    open_ends();
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, "a;b 1\n", 6, "in", NULL, NULL), PCOL_OK);
}

static void tear_down(void)
{
    pcol_builder_free(builder);
    pcol_answers_free(ended_answers);
    pcol_file_close(perun);
    pcol_scan_free(ended_scan);
    pcol_view_free(view_of_all);
    pcol_query_free(query);
    pcol_file_close(file);
    pcol_free(file_data);
}

TestSuite(sized_structs, .init = set_up, .fini = tear_down);

/* Memory of one page; what follows it cannot be read. */
static uint8_t *page_end(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(pages, MAP_FAILED);
    cr_assert_eq(mprotect(pages + page, page, PROT_NONE), 0);
    return pages + page;
}

/* A struct of `size` bytes, all 0 but the size, before `end`. */
static uint8_t *place(uint8_t *end, size_t size)
{
    uint8_t *given = end - size;
    memset(given, 0, size);
    memcpy(given, &size, sizeof size);
    return given;
}

Test(sized_structs, of_earlier_versions)
{
    uint8_t *end = page_end();
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++)
        for (size_t size = sizeof size; size <= structs[i].size; size += 8) {
            pcol_error err = {0};
            pcol_status status = structs[i].call(place(end, size), &err);
            cr_expect_eq(status, structs[i].expected, "%s of %zu bytes: %s", structs[i].name, size,
                         err.message);
        }
}

Test(sized_structs, of_later_versions)
{
    uint8_t *end = page_end();
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++) {
        size_t size = structs[i].size + 8;
        pcol_error err = {0};
        cr_expect_eq(structs[i].call(place(end, size), &err), structs[i].expected, "%s: %s",
                     structs[i].name, err.message);
        for (size_t byte = structs[i].size; byte < size; byte++) {
            uint8_t *given = place(end, size);
            given[byte] = 1;
            cr_expect_eq(structs[i].call(given, &err), PCOL_E_ARGUMENT, "%s, byte %zu",
                         structs[i].name, byte);
            cr_expect(strstr(err.message, "newer library"), "%s: %s", structs[i].name, err.message);
        }
    }
}

Test(sized_structs, without_a_size)
{
    static const size_t wrong[] = {0, 1, 7, (size_t)-1};
    uint64_t given[64] = {0};
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            pcol_error err = {0};
            char expected[96];
            memcpy(given, &wrong[k], sizeof *wrong);
            cr_expect_eq(structs[i].call(given, &err), PCOL_E_ARGUMENT, "%s", structs[i].name);
            snprintf(expected, sizeof expected, "size of the %s is not set", structs[i].name);
            cr_expect_str_eq(err.message, expected);
        }
}

/* A shorter struct receives the members that it has, a longer one zeros at the end. */
Test(sized_structs, that_receive_answers)
{
    uint8_t *end = page_end();
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        size_t whole[64];
        pcol_error err = {0};
        cr_assert_leq(answers[i].size, sizeof whole);
        whole[0] = answers[i].size;
        cr_assert_eq(answers[i].call(whole, &err), PCOL_OK);
        for (size_t size = sizeof size; size <= answers[i].size + 8; size += 8) {
            static const uint8_t zeros[8];
            uint8_t *given = place(end, size);
            size_t shared = size < answers[i].size ? size : answers[i].size;
            memset(given + sizeof size, 0x55, size - sizeof size);
            cr_expect_eq(answers[i].call(given, &err), PCOL_OK, "%s", answers[i].name);
            cr_expect_eq(memcmp(given, &size, sizeof size), 0);
            cr_expect_eq(memcmp(given + 8, whole + 1, shared - 8), 0, "%s of %zu bytes",
                         answers[i].name, size);
            cr_expect_eq(memcmp(given + shared, zeros, size - shared), 0);
        }
        whole[0] = 0;
        cr_expect_eq(answers[i].call(whole, &err), PCOL_E_ARGUMENT);
    }
}

/* ---- completeness */

static int is_tested(const char *name)
{
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++)
        if (strcmp(structs[i].name, name) == 0)
            return 1;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (strcmp(answers[i].name, name) == 0)
            return 1;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (strcmp(passed[i], name) == 0)
            return 1;
    return 0;
}

/* Structs of a header whose first member is a size. */
static size_t check_header(const char *path)
{
    char line[256], name[96] = "";
    size_t count = 0;
    FILE *header = fopen(path, "r");
    cr_assert_not_null(header);
    while (fgets(line, sizeof line, header)) {
        if (sscanf(line, "typedef struct %95[a-z_] {", name) == 1)
            continue;
        if (*name && strncmp(line, "    size_t size;", 16) == 0) {
            cr_expect(is_tested(name), "%s: no test passes a %s of other sizes", path, name);
            count++;
        }
        *name = '\0';
    }
    fclose(header);
    return count;
}

Test(sized_structs, of_the_headers_are_all_here)
{
    cr_expect_geq(check_header("lib/pcol.h"), 37);
    cr_expect_geq(check_header("lib/pcol_perun.h"), 2);
}
