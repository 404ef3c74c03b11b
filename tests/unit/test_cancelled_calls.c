/*
 * test_cancelled_calls.c - every public call that takes a control can be cancelled at any time
 *
 * The headers say which calls these are: those with a pcol_control, with options that hold one, and
 * with a query, whose control is in force. Each is cancelled at calls of its progress: it fails
 * with PCOL_E_CANCELLED, gives no result, leaves no temporary file, and no memory (address
 * sanitizer). More than 600 lines: a case for each call.
 */
#define _GNU_SOURCE
#include "header_case.h"
#include "pcol.h"
#include "pcol_perun.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) cr_assert_eq((call), PCOL_OK, "%s: %s", #call, pcol_status_name(status_of))
#define CANCELS 25u /* of calls with more progress than that, so many are tried */

static pcol_status status_of; /* for MUST */
static struct text input;
static void *data;
static size_t size;
static pcol_file *perun;

struct counter {
    unsigned calls, cancel_at; /* 0: never */
};

static int count(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct counter *counter = context;
    (void)phase;
    (void)done;
    (void)total;
    return ++counter->calls == counter->cancel_at;
}

static pcol_status discard(void *context, const void *bytes, size_t length, pcol_error *err)
{
    (void)context;
    (void)bytes;
    (void)length;
    (void)err;
    return PCOL_OK;
}

static const pcol_sink nowhere = {discard, NULL};

/* The input of a call. Files are opened again, since they cache decoded columns. */
struct on {
    const pcol_control *control;
    pcol_file *file;
    pcol_builder *builder, *filled;
    pcol_error err;
};

static pcol_import_options import_options(const struct on *on)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.control = on->control;
    return options;
}

/* ---- reading and writing */

static pcol_status import_memory(struct on *on)
{
    pcol_import_options options = import_options(on);
    return pcol_import_memory(on->builder, input.data, input.size, "in", &options, &on->err);
}

static pcol_status import_path(struct on *on)
{
    pcol_import_options options = import_options(on);
    return pcol_import_path(on->builder, folder_path("in"), &options, &on->err);
}

static pcol_status import_fd(struct on *on)
{
    pcol_import_options options = import_options(on);
    FILE *file = fopen(folder_path("in"), "rb");
    pcol_status status = pcol_import_fd(on->builder, fileno(file), "in", &options, &on->err);
    fclose(file);
    return status;
}

static int64_t read_file(void *context, void *buffer, size_t most, pcol_error *err)
{
    (void)err;
    return (int64_t)fread(buffer, 1, most, context);
}

static pcol_status import_reader(struct on *on)
{
    pcol_import_options options = import_options(on);
    FILE *file = fopen(folder_path("in"), "rb");
    pcol_status status =
        pcol_import_reader(on->builder, (pcol_reader){read_file, file}, "in", &options, &on->err);
    fclose(file);
    return status;
}

static pcol_status add_file(struct on *on)
{
    pcol_import_options options = import_options(on);
    return pcol_builder_add_file(on->builder, on->file, &options, &on->err);
}

static pcol_status opened(pcol_status status, pcol_file *file)
{
    cr_assert_eq(file != NULL, status == PCOL_OK);
    pcol_file_close(file);
    return status;
}

static pcol_status open_memory(struct on *on)
{
    pcol_import_options options = import_options(on);
    pcol_file *file;
    pcol_status status =
        pcol_open_any_memory(input.data, input.size, "in", &options, &file, &on->err);
    return opened(status, file);
}

static pcol_status open_path(struct on *on)
{
    pcol_import_options options = import_options(on);
    pcol_file *file;
    pcol_status status = pcol_open_any_path(folder_path("in"), &options, &file, &on->err);
    return opened(status, file);
}

static pcol_status open_fd(struct on *on)
{
    pcol_import_options options = import_options(on);
    pcol_file *file;
    FILE *stream = fopen(folder_path("in"), "rb");
    pcol_status status = pcol_open_any_fd(fileno(stream), "in", &options, &file, &on->err);
    fclose(stream);
    return opened(status, file);
}

static pcol_status open_reader(struct on *on)
{
    pcol_import_options options = import_options(on);
    pcol_file *file;
    FILE *stream = fopen(folder_path("in"), "rb");
    pcol_status status =
        pcol_open_any_reader((pcol_reader){read_file, stream}, "in", &options, &file, &on->err);
    fclose(stream);
    return opened(status, file);
}

static pcol_status write_sink(struct on *on)
{
    return pcol_builder_write(on->filled, 0, on->control, nowhere, &on->err);
}

static pcol_status write_memory(struct on *on)
{
    void *written;
    size_t length;
    pcol_status status =
        pcol_builder_write_memory(on->filled, 0, on->control, &written, &length, &on->err);
    cr_assert_eq(written != NULL, status == PCOL_OK);
    pcol_free(written);
    return status;
}

static pcol_status write_file(struct on *on)
{
    pcol_file *file;
    pcol_status status =
        pcol_builder_file(on->filled, PCOL_WRITE_ARCHIVE, on->control, &file, &on->err);
    return opened(status, file);
}

static pcol_status export(struct on *on)
{
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    options.control = on->control;
    return pcol_export(on->file, "pprof", &options, nowhere, &on->err);
}

static pcol_status check(struct on *on)
{
    uint64_t faults;
    return pcol_file_check(on->file, PCOL_CHECK_STRICT, NULL, NULL, on->control, &faults, &on->err);
}

/* ---- copies */

static pcol_status filter(struct on *on)
{
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    options.control = on->control;
    return pcol_filter(on->builder, on->file, &options, &on->err);
}

static pcol_status add_frames(struct on *on)
{
    static const char *const roots[] = {"source"};
    pcol_add_frames_options options = PCOL_INIT(pcol_add_frames_options);
    options.roots = roots;
    options.root_count = 1;
    options.control = on->control;
    return pcol_add_frames(on->builder, on->file, &options, &on->err);
}

static uint64_t rows_of(const pcol_file *file, const char *name)
{
    const pcol_table *table;
    return pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, &table, NULL) == PCOL_OK
               ? pcol_table_rows(table)
               : 0;
}

static pcol_status symbolize(struct on *on)
{
    pcol_symbolize_options options = PCOL_INIT(pcol_symbolize_options);
    options.group_count = rows_of(on->file, "location_groups");
    options.mapping_count = rows_of(on->file, "mappings");
    uint64_t *first = calloc(options.group_count + 1, sizeof *first);
    uint8_t *flags = calloc(options.mapping_count + 1, 1);
    options.first = first;
    options.mapping_flags = flags;
    options.control = on->control;
    pcol_status status = pcol_symbolize(on->builder, on->file, &options, &on->err);
    free(first);
    free(flags);
    return status;
}

static pcol_status add_sums(struct on *on)
{
    pcol_sums *sums;
    MUST(status_of = pcol_sums_new(NULL, &sums, &on->err));
    pcol_status status = pcol_sums_add(sums, on->file, on->control, &on->err);
    pcol_sums_free(sums);
    return status;
}

static pcol_status finish_sums(struct on *on)
{
    pcol_sums *sums;
    pcol_builder *made;
    MUST(status_of = pcol_sums_new(NULL, &sums, &on->err));
    MUST(status_of = pcol_sums_add(sums, on->file, NULL, &on->err));
    pcol_status status = pcol_sums_finish(sums, on->control, &made, &on->err);
    cr_assert_eq(made != NULL, status == PCOL_OK);
    pcol_builder_free(made);
    pcol_sums_free(sums);
    return status;
}

/* ---- reading columns */

static pcol_status open_frames(struct on *on)
{
    pcol_frames *frames;
    pcol_status status = pcol_frames_open(on->file, on->control, &frames, &on->err);
    cr_assert_eq(frames != NULL, status == PCOL_OK);
    pcol_frames_free(frames);
    return status;
}

static pcol_status gather_frames(struct on *on)
{
    static uint64_t offsets[1 << 16];
    pcol_frames *frames;
    const pcol_table *samples;
    MUST(status_of =
             pcol_file_table_by_name(on->file, PCOL_MODEL_V2, "samples", &samples, &on->err));
    size_t rows = (size_t)pcol_table_rows(samples);
    cr_assert(rows < sizeof offsets / sizeof *offsets);
    MUST(status_of = pcol_frames_open(on->file, NULL, &frames, &on->err));
    MUST(status_of = pcol_frames_offsets(frames, 0, rows, offsets, &on->err));
    uint32_t *out = malloc((offsets[rows] + 1) * sizeof *out);
    pcol_status status =
        pcol_frames_gather(frames, 0, rows, offsets, NULL, 4, on->control, out, &on->err);
    free(out);
    pcol_frames_free(frames);
    return status;
}

static pcol_status hash(struct on *on)
{
    const pcol_hash *hashes;
    uint64_t rows;
    pcol_status status =
        pcol_file_hashes(on->file, PCOL_HASH_STACKS, on->control, &hashes, &rows, &on->err);
    cr_assert_eq(hashes != NULL, status == PCOL_OK);
    return status;
}

/* The table `samples` with names, whose columns need the most work. */
static const pcol_table *joined_samples(const struct on *on)
{
    const pcol_table *table;
    MUST(status_of = pcol_file_table_by_name(on->file, PCOL_MODEL_V2, "samples", &table, NULL));
    MUST(status_of = pcol_table_joined(table, &table, NULL));
    return table;
}

static pcol_status read_arrays(struct on *on)
{
    const pcol_table *table = joined_samples(on);
    pcol_status status = PCOL_OK;
    for (uint32_t i = 0; status == PCOL_OK && i < pcol_table_column_count(table); i++) {
        pcol_array array = PCOL_INIT(pcol_array);
        status = pcol_column_array(pcol_table_column(table, i), on->control, &array, &on->err);
        cr_assert_eq(array.values != NULL, status == PCOL_OK);
    }
    return status;
}

static pcol_status scan(struct on *on)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    const pcol_table *table = joined_samples(on);
    pcol_condition where = {.op = PCOL_OP_NE, .type = PCOL_STRING, .value.str = {"x", 1}};
    pcol_scan *rows;
    cr_assert_not_null(pcol_table_column_by_name(table, "stack", &where.column));
    options.where = &where;
    options.where_count = 1;
    options.control = on->control;
    pcol_status status = pcol_scan_new(table, &options, &rows, &on->err);
    cr_assert_eq(rows != NULL, status == PCOL_OK);
    do {
        if (status == PCOL_OK)
            status = pcol_scan_next(rows, &batch, &on->err);
    } while (status == PCOL_OK && batch.rows);
    pcol_scan_free(rows);
    return status;
}

static pcol_status stream(struct on *on)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    struct ArrowArrayStream arrow;
    struct ArrowArray batch;
    options.control = on->control;
    pcol_status status = pcol_table_arrow(joined_samples(on), &options, &arrow, &on->err);
    cr_assert_eq(arrow.release != NULL, status == PCOL_OK);
    if (status != PCOL_OK)
        return status;
    int code;
    while (!(code = arrow.get_next(&arrow, &batch)) && batch.release)
        batch.release(&batch);
    if (code)
        status = pcol_error_set(&on->err, PCOL_E_CANCELLED, 0, "%s", arrow.get_last_error(&arrow));
    arrow.release(&arrow);
    return status;
}

/* ---- questions */

static pcol_status ask(struct on *on, pcol_query **query)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    selection.focus = "f1";
    pcol_status status = pcol_query_new(on->file, &selection, on->control, query, &on->err);
    cr_assert_eq(*query != NULL, status == PCOL_OK);
    return status;
}

/* The answer to a question about a query: `made` by a call of this status. */
static pcol_status answered(pcol_query *query, pcol_status status, pcol_result *made)
{
    cr_assert_eq(made != NULL, status == PCOL_OK);
    pcol_result_free(made);
    pcol_query_free(query);
    return status;
}

static pcol_status read_query(struct on *on)
{
    const pcol_amount *weights;
    uint64_t stacks;
    uint8_t taken[64];
    pcol_query *query;
    pcol_status status = ask(on, &query);
    if (status == PCOL_OK)
        status = pcol_query_weights(query, &weights, &stacks, &on->err);
    if (status == PCOL_OK)
        status = pcol_query_samples(query, 0, sizeof taken, taken, &on->err);
    pcol_query_free(query);
    return status;
}

#define QUESTION(name, call)                  \
    static pcol_status name(struct on *on)    \
    {                                         \
        pcol_query *query;                    \
        pcol_result *made = NULL;             \
        pcol_status status = ask(on, &query); \
        if (status == PCOL_OK)                \
            status = (call);                  \
        return answered(query, status, made); \
    }

QUESTION(top, pcol_query_top(query, NULL, &made, &on->err))
QUESTION(tree, pcol_query_tree(query, NULL, &made, &on->err))
QUESTION(peek, pcol_query_peek(query, "f1", NULL, &made, &on->err))
QUESTION(cpu, pcol_query_cpu(query, &made, &on->err))
QUESTION(flame, pcol_query_flame(query, NULL, &made, &on->err))

static pcol_status diff(struct on *on)
{
    pcol_query *base, *query = NULL;
    pcol_result *made = NULL;
    pcol_status status = ask(on, &base);
    if (status == PCOL_OK)
        status = ask(on, &query);
    if (status == PCOL_OK)
        status = pcol_diff(base, query, NULL, &made, &on->err);
    pcol_query_free(base);
    return answered(query, status, made);
}

/* View and lanes, and calls that use their windows and ranges. */
static pcol_status look(struct on *on)
{
    pcol_query *query;
    pcol_view *view = NULL;
    pcol_lanes *lanes = NULL;
    pcol_window window = PCOL_INIT(pcol_window);
    pcol_lane_range range = PCOL_INIT(pcol_lane_range);
    pcol_lanes_options by = PCOL_INIT(pcol_lanes_options);
    const pcol_box *boxes;
    pcol_bin bins[16];
    size_t found;
    window.kind = PCOL_VIEW_INVERTED;
    window.control = range.control = on->control;
    range.to = 10000;
    range.count = 16;
    by.by = PCOL_BY_SOURCE;
    by.axis = PCOL_AXIS_ORDER;
    pcol_status status = ask(on, &query);
    if (status == PCOL_OK)
        status = pcol_view_new(query, NULL, NULL, &view, &on->err);
    if (status == PCOL_OK)
        status = pcol_view_weigh(view, query, NULL, &on->err);
    if (status == PCOL_OK)
        status = pcol_view_window(view, &window, &boxes, &found, &on->err);
    if (status == PCOL_OK)
        status = pcol_lanes_new(query, &by, &lanes, &on->err);
    if (status == PCOL_OK)
        status = pcol_lanes_bins(lanes, &range, view, bins, &on->err);
    if (status == PCOL_OK)
        status = pcol_lanes_stacks(lanes, &range, view, &boxes, &found, &on->err);
    pcol_lanes_free(lanes);
    pcol_view_free(view);
    pcol_query_free(query);
    return status;
}

static pcol_status ask_perun(struct on *on)
{
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_answers *answers;
    const pcol_answer *cells = NULL;
    options.all_rows = 1;
    options.control = on->control;
    pcol_status status = pcol_ask(perun, PCOL_ASK_RESOURCES, &options, &answers, &on->err);
    cr_assert_eq(answers != NULL, status == PCOL_OK);
    do {
        if (status == PCOL_OK)
            status = pcol_answers_next(answers, &cells, &on->err);
    } while (status == PCOL_OK && cells);
    pcol_answers_free(answers);
    return status;
}

/* functions: those that the call makes with the control. */
static const struct {
    const char *functions;
    pcol_status (*call)(struct on *on);
} calls[] = {
    {"pcol_import_memory", import_memory},
    {"pcol_import_path", import_path},
    {"pcol_import_fd", import_fd},
    {"pcol_import_reader", import_reader},
    {"pcol_builder_add_file", add_file},
    {"pcol_open_any_memory", open_memory},
    {"pcol_open_any_path", open_path},
    {"pcol_open_any_fd", open_fd},
    {"pcol_open_any_reader", open_reader},
    {"pcol_builder_write", write_sink},
    {"pcol_builder_write_memory", write_memory},
    {"pcol_builder_file", write_file},
    {"pcol_export", export},
    {"pcol_file_check", check},
    {"pcol_filter", filter},
    {"pcol_add_frames", add_frames},
    {"pcol_symbolize", symbolize},
    {"pcol_sums_add", add_sums},
    {"pcol_sums_finish", finish_sums},
    {"pcol_frames_open", open_frames},
    {"pcol_frames_gather", gather_frames},
    {"pcol_file_hashes", hash},
    {"pcol_column_array", read_arrays},
    {"pcol_scan_new", scan},
    {"pcol_table_arrow", stream},
    {"pcol_query_new pcol_query_weights pcol_query_samples", read_query},
    {"pcol_query_top", top},
    {"pcol_query_tree", tree},
    {"pcol_query_peek", peek},
    {"pcol_query_cpu", cpu},
    {"pcol_query_flame", flame},
    {"pcol_diff", diff},
    {"pcol_view_new pcol_view_weigh pcol_view_window pcol_lanes_new pcol_lanes_bins "
     "pcol_lanes_stacks",
     look},
    {"pcol_ask", ask_perun},
};

/* Functions with a query that do no work. */
static const char *const quick[] = {"pcol_query_free", "pcol_query_shows_location"};

/* ---- tests */

static void set_up(void)
{
    uint32_t seed = 1;
    pcol_builder *builder;
    pcol_error err;
    for (int i = 0; i < 12000; i++) {
        seed = seed * 1664525u + 1013904223u;
        text_addf(&input, "main;f%u;g%u;h%u;k%d %u\n", seed >> 28, seed >> 24 & 15,
                  seed >> 16 & 255, i, seed >> 20 & 255);
    }
    folder_begin();
    (void)folder_file("in", input.data, input.size);
    MUST(status_of = pcol_builder_new(NULL, &builder, &err));
    MUST(status_of = pcol_import_memory(builder, input.data, input.size, "in", NULL, &err));
    MUST(status_of = pcol_builder_write_memory(builder, 0, NULL, &data, &size, &err));
    pcol_builder_free(builder);
    MUST(status_of = pcol_open_any_path("tests/data/perun/small.perf", NULL, &perun, &err));
}

static void tear_down(void)
{
    pcol_file_close(perun);
    pcol_free(data);
    free(input.data);
    folder_end();
}

TestSuite(cancelled_calls, .init = set_up, .fini = tear_down);

static pcol_status run(size_t i, struct counter *counter, struct on *on)
{
    pcol_builder_options small = PCOL_INIT(pcol_builder_options);
    pcol_control control = {sizeof control, counter, count, NULL};
    memset(on, 0, sizeof *on);
    small.memory_bytes = 1 << 16; /* columns go to a temporary file */
    small.temporary_folder = folder;
    on->control = &control;
    MUST(status_of = pcol_file_open_memory(data, size, NULL, &on->file, &on->err));
    MUST(status_of = pcol_builder_new(&small, &on->builder, &on->err));
    MUST(status_of = pcol_builder_new(&small, &on->filled, &on->err));
    if (strncmp(calls[i].functions, "pcol_builder_", 13) == 0)
        MUST(status_of = pcol_builder_add_file(on->filled, on->file, NULL, &on->err));
    pcol_status status = calls[i].call(on);
    pcol_builder_free(on->builder);
    pcol_builder_free(on->filled);
    pcol_file_close(on->file);
    return status;
}

static size_t count_files(void)
{
    DIR *entries = opendir(folder);
    size_t files = 0;
    cr_assert_not_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));)
        files += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(entries);
    return files;
}

Test(cancelled_calls, at_any_time)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct counter counter = {0};
        struct on on;
        pcol_status status = run(i, &counter, &on);
        unsigned all = counter.calls;
        cr_assert_eq(status, PCOL_OK, "%s: %s", calls[i].functions, on.err.message);
        cr_assert_geq(all, 1, "%s", calls[i].functions);
        for (unsigned n = 0; n < all && n < CANCELS; n += STEP(3)) {
            counter = (struct counter){.cancel_at = 1 + (all > CANCELS ? n * all / CANCELS : n)};
            status = run(i, &counter, &on);
            cr_assert_eq(status, PCOL_E_CANCELLED, "%s, cancelled at %u of %u: %s",
                         calls[i].functions, counter.cancel_at, all, pcol_status_name(status));
            cr_assert_eq(counter.calls, counter.cancel_at, "%s goes on", calls[i].functions);
            cr_assert_eq(count_files(), 1, "%s leaves a file", calls[i].functions);
        }
    }
}

/* ---- after a cancelled call */

Test(cancelled_calls, of_a_query_are_no_end_of_it)
{
    struct counter counter = {0};
    pcol_control control = PCOL_INIT(pcol_control);
    pcol_file *file;
    pcol_query *query;
    pcol_result *result;
    uint64_t rows[2];
    control.context = &counter;
    control.progress = count;
    MUST(status_of = pcol_file_open_memory(data, size, NULL, &file, NULL));
    MUST(status_of = pcol_query_new(file, NULL, &control, &query, NULL));
    for (int cancels = 1; cancels >= 0; cancels--) {
        for (unsigned n = 1; cancels && n < 4; n++) {
            counter = (struct counter){.cancel_at = n};
            cr_expect_eq(pcol_query_tree(query, NULL, &result, NULL), PCOL_E_CANCELLED);
        }
        counter = (struct counter){0};
        MUST(status_of = pcol_query_tree(query, NULL, &result, NULL));
        rows[cancels] = pcol_table_rows(pcol_result_table(result));
        pcol_result_free(result);
    }
    cr_expect_eq(rows[0], rows[1]);
    pcol_query_free(query);
    pcol_file_close(file);
}

Test(cancelled_calls, of_answers_end_them)
{
    struct counter counter = {0};
    pcol_control control = PCOL_INIT(pcol_control);
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_answer_block block = PCOL_INIT(pcol_answer_block);
    pcol_answers *answers;
    const pcol_answer *cells;
    pcol_status status = PCOL_OK;
    struct text many = {0};
    pcol_file *file;
    text_addf(&many, "{\"resources\":[");
    for (int i = 0; i < 40000; i++)
        text_addf(&many, "%s{\"uid\":\"f%d\",\"amount\":%d}", i ? "," : "", i, i);
    text_addf(&many, "]}");
    MUST(status_of = pcol_open_any_memory(many.data, many.size, "many.perf", NULL, &file, NULL));
    control.context = &counter;
    control.progress = count;
    options.all_rows = 1;
    options.control = &control;
    MUST(status_of = pcol_ask(file, PCOL_ASK_ITEMS, &options, &answers, NULL));
    counter = (struct counter){.cancel_at = 1};
    do {
        status = pcol_answers_next(answers, &cells, NULL);
    } while (status == PCOL_OK && cells);
    cr_expect_eq(status, PCOL_E_CANCELLED);
    counter = (struct counter){0};
    cr_expect_eq(pcol_answers_next(answers, &cells, NULL), PCOL_E_STATE);
    cr_expect_eq(pcol_answers_block(answers, &block, NULL), PCOL_E_STATE);
    pcol_answers_free(answers);
    pcol_file_close(file);
    free(many.data);
}

/* ---- completeness */

static int is_listed(const char *function)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (header_has_word(calls[i].functions, function))
            return 1;
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
        if (strcmp(quick[i], function) == 0)
            return 1;
    return 0;
}

static void check_call(const char *function)
{
    cr_expect(is_listed(function), "no test cancels %s()", function);
}

Test(cancelled_calls, of_the_headers_are_all_here)
{
    cr_expect_geq(header_controlled("lib/pcol.h", check_call), 36);
    cr_expect_geq(header_controlled("lib/pcol_perun.h", check_call), 1);
}
