/*
 * test_control.c - progress, cancellation and notices (pcol_control)
 *
 * Each long call is cancelled at calls of progress: it must fail with
 * PCOL_E_CANCELLED, and leak nothing (address sanitizer).
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "pcol.h"
#include "testing.h"
#include "util/import_budget.h"

static struct text input;
static pcol_file *file;
static void *file_data;
static size_t file_size;

struct counter {
    unsigned calls, cancel_at; /* 0: never */
    uint64_t done, total;
    char phase[16];
};

static int count(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct counter *counter = context;
    snprintf(counter->phase, sizeof counter->phase, "%s", phase);
    counter->done = done;
    counter->total = total;
    return ++counter->calls == counter->cancel_at;
}

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

static const pcol_sink nowhere = {discard, NULL};

static pcol_status import(const pcol_control *control, unsigned threads, pcol_error *err)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    options.control = control;
    options.threads = threads;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    pcol_status status = pcol_import_memory(builder, file_data, file_size, "in", &options, err);
    pcol_builder_free(builder);
    return status;
}

static pcol_status write(const pcol_control *control, unsigned threads, pcol_error *err)
{
    pcol_builder_options options = PCOL_INIT(pcol_builder_options);
    pcol_builder *builder;
    options.threads = threads;
    cr_assert_eq(pcol_builder_new(&options, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, input.data, input.size, "in", NULL, NULL), PCOL_OK);
    pcol_status status = pcol_builder_write(builder, 0, control, nowhere, err);
    pcol_builder_free(builder);
    return status;
}

static pcol_status export(const pcol_control *control, unsigned threads, pcol_error *err)
{
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    options.control = control;
    options.threads = threads;
    return pcol_export(file, "pprof", &options, nowhere, err);
}

static pcol_status check(const pcol_control *control, unsigned threads, pcol_error *err)
{
    uint64_t faults;
    (void)threads;
    return pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, control, &faults, err);
}

static pcol_status filter(const pcol_control *control, unsigned threads, pcol_error *err)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    pcol_builder *builder;
    (void)threads;
    selection.focus = "f1";
    options.selection = &selection;
    options.control = control;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    pcol_status status = pcol_filter(builder, file, &options, err);
    pcol_builder_free(builder);
    return status;
}

static pcol_status ask(const pcol_control *control, unsigned threads, pcol_error *err)
{
    pcol_query *query;
    pcol_result *top = NULL;
    pcol_result *tree = NULL;
    pcol_selection selection = PCOL_INIT(pcol_selection);
    (void)threads;
    selection.focus = "f1";
    pcol_status status = pcol_query_new(file, &selection, control, &query, err);
    if (status == PCOL_OK)
        status = pcol_query_top(query, NULL, &top, err);
    if (status == PCOL_OK)
        status = pcol_query_tree(query, NULL, &tree, err);
    pcol_result_free(tree);
    pcol_result_free(top);
    pcol_query_free(query);
    return status;
}

/* These open a file of their own, since a file keeps columns that were decoded. */
static pcol_status open_frames(const pcol_control *control, unsigned threads, pcol_error *err)
{
    pcol_file *own;
    pcol_frames *frames;
    (void)threads;
    cr_assert_eq(pcol_file_open_memory(file_data, file_size, NULL, &own, NULL), PCOL_OK);
    pcol_status status = pcol_frames_open(own, control, &frames, err);
    cr_assert_eq(frames != NULL, status == PCOL_OK);
    pcol_frames_free(frames);
    pcol_file_close(own);
    return status;
}

static pcol_status read_arrays(const pcol_control *control, unsigned threads, pcol_error *err)
{
    pcol_file *own;
    pcol_status status = PCOL_OK;
    (void)threads;
    cr_assert_eq(pcol_file_open_memory(file_data, file_size, NULL, &own, NULL), PCOL_OK);
    for (uint32_t t = 0; t < pcol_file_table_count(own, PCOL_MODEL_V2); t++) {
        const pcol_table *table;
        cr_assert_eq(pcol_file_table(own, PCOL_MODEL_V2, t, &table, NULL), PCOL_OK);
        for (uint32_t i = 0; status == PCOL_OK && i < pcol_table_column_count(table); i++) {
            pcol_array array = PCOL_INIT(pcol_array);
            status = pcol_column_array(pcol_table_column(table, i), control, &array, err);
            cr_assert_eq(array.values != NULL, status == PCOL_OK);
        }
    }
    pcol_file_close(own);
    return status;
}

static pcol_status stream(const pcol_control *control, unsigned threads, pcol_error *err)
{
    pcol_file *own;
    const pcol_table *table;
    struct ArrowArrayStream arrow;
    struct ArrowArray batch;
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    int code = 0;
    (void)threads;
    options.control = control;
    options.batch_rows = 4096;
    cr_assert_eq(pcol_file_open_memory(file_data, file_size, NULL, &own, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_table_by_name(own, PCOL_MODEL_V2, "functions", &table, NULL), PCOL_OK);
    pcol_status status = pcol_table_arrow(table, &options, &arrow, err);
    pcol_file_close(own);
    cr_assert_eq(arrow.release != NULL, status == PCOL_OK);
    if (status != PCOL_OK)
        return status;
    while (!(code = arrow.get_next(&arrow, &batch)) && batch.release)
        batch.release(&batch);
    cr_assert(!code || code == ECANCELED);
    if (code)
        status = pcol_error_set(err, PCOL_E_CANCELLED, 0, "%s", arrow.get_last_error(&arrow));
    arrow.release(&arrow);
    return status;
}

static const struct {
    const char *name, *phase;
    pcol_status (*call)(const pcol_control *control, unsigned threads, pcol_error *err);
} calls[] = {
    {"import", "read", import},      {"write", "write", write},       {"export", "write", export},
    {"check", "check", check},       {"filter", "filter", filter},    {"query", "query", ask},
    {"frames", "read", open_frames}, {"arrays", "read", read_arrays}, {"stream", "read", stream},
};

static void set_up(void)
{
    uint32_t seed = 1;
    pcol_builder *builder;
    for (int i = 0; i < 30000; i++) {
        seed = seed * 1664525u + 1013904223u;
        text_addf(&input, "main;f%u;g%u;h%u;k%d %u\n", seed >> 28, seed >> 24 & 15,
                  seed >> 16 & 255, i, seed >> 20 & 255);
    }
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, input.data, input.size, "in", NULL, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &file_data, &file_size, NULL),
                 PCOL_OK);
    pcol_builder_free(builder);
    cr_assert_eq(pcol_file_open_memory(file_data, file_size, NULL, &file, NULL), PCOL_OK);
}

static void tear_down(void)
{
    pcol_file_close(file);
    pcol_free(file_data);
    free(input.data);
}

TestSuite(control, .init = set_up, .fini = tear_down);

/* The first calls one by one, later ones a quarter apart: all would take quadratic time. */
Test(control, is_cancelled_at_any_call_of_progress)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            struct counter counter = {0};
            pcol_control control = {sizeof control, &counter, count, NULL};
            pcol_error err = {0};
            cr_assert_eq(calls[i].call(&control, threads, &err), PCOL_OK, "%s: %s", calls[i].name,
                         err.message);
            cr_expect_geq(counter.calls, 1, "%s", calls[i].name);
            cr_expect_str_eq(counter.phase, calls[i].phase);
            unsigned all = counter.calls;
            for (unsigned at = 1; at <= all; at += 1 + at / 4) {
                counter = (struct counter){.cancel_at = at};
                pcol_status status = calls[i].call(&control, threads, &err);
                if (threads > 1 && status == PCOL_OK)
                    continue; /* fewer calls this time: other threads did the work */
                cr_assert_eq(status, PCOL_E_CANCELLED, "%s, call %u of %u: %s", calls[i].name, at,
                             all, pcol_status_name(status));
                cr_expect_str_eq(err.message, "cancelled");
            }
        }
}

/* A call without control inherits no scope of an earlier one. */
Test(control, ends_with_its_call)
{
    struct counter counter = {.cancel_at = 1};
    pcol_control control = {sizeof control, &counter, count, NULL};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        counter = (struct counter){.cancel_at = 1};
        cr_expect_eq(calls[i].call(&control, 1, NULL), PCOL_E_CANCELLED);
        cr_expect_eq(calls[i].call(NULL, 1, NULL), PCOL_OK, "%s", calls[i].name);
        cr_expect_eq(counter.calls, 1);
    }
}

Test(control, shows_the_bytes_of_the_input)
{
    struct counter counter = {0};
    pcol_control control = {sizeof control, &counter, count, NULL};
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    options.control = &control;
    folder_begin();
    const char *path = folder_file("in.folded", input.data, input.size);
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_path(builder, path, &options, NULL), PCOL_OK);
    pcol_builder_free(builder);
    folder_end();
    cr_expect_eq(counter.total, input.size);
    cr_expect(counter.done > 0 && counter.done <= input.size);
}

static void take_notice(void *context, const pcol_notice *notice)
{
    text_addf(context, "%d|%s|%s|%s\n", (int)notice->code, notice->format, notice->subject,
              notice->text);
}

Test(control, notices_have_a_code_and_a_subject)
{
    struct text notices = {0};
    pcol_control control = {sizeof control, &notices, NULL, take_notice};
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    pcol_filter_options part = PCOL_INIT(pcol_filter_options);
    pcol_builder *builder;
    pcol_file *timed;
    void *data;
    size_t size;
    static const char *const meta[] = {"host", "a"}, *const keys[] = {"request"};
    pcol_import_options import_options = PCOL_INIT(pcol_import_options);
    import_options.meta = meta;
    import_options.meta_count = 1;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, "a;b 1\n", 6, "in", &import_options, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &data, &size, NULL), PCOL_OK);
    pcol_builder_free(builder);
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &timed, NULL), PCOL_OK);
    options.control = &control;
    cr_assert_eq(pcol_export(timed, "pprof", &options, nowhere, NULL), PCOL_OK);
    cr_expect_str_eq(notices.data, "2|pprof|keys that were added to the metadata|pprof cannot hold "
                                   "keys that were added to the metadata\n");
    pcol_file_close(timed);
    pcol_free(data);
    notices.size = 0;
    part.drop_label_keys = keys;
    part.drop_label_key_count = 1;
    part.control = &control;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_filter(builder, file, &part, NULL), PCOL_OK);
    pcol_builder_free(builder);
    cr_expect_str_eq(notices.data, "4|||no sample has a label 'request'\n");
    free(notices.data);
}

/* ---- functions of the program that call the library with other handles */

struct nested {
    unsigned calls, depth, deepest;
    pcol_status status; /* of the calls within */
};

/* Each call within has more work than there is between two calls of progress, and a notice. */
static void call_library(struct nested *nested)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    pcol_file *other;
    nested->calls++;
    if (++nested->depth > nested->deepest)
        nested->deepest = nested->depth;
    if (nested->depth == 1 && nested->calls < 4) {
        options.lenient = 1;
        options.format = "folded";
        cr_expect_null(pci_thread_budget);
        cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
        pcol_status status =
            pcol_import_memory(builder, input.data, input.size, "other", &options, NULL);
        if (status == PCOL_OK)
            status = pcol_import_memory(builder, "a 1\nb\n", 6, "odd", &options, NULL);
        if (status == PCOL_OK)
            status = pcol_builder_file(builder, 0, NULL, &other, NULL);
        if (status == PCOL_OK)
            pcol_file_close(other);
        pcol_builder_free(builder);
        if (status != PCOL_OK)
            nested->status = status;
    }
    nested->depth--;
}

static int progress_that_calls(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)done;
    (void)total;
    call_library(context);
    return 0;
}

static void notice_that_calls(void *context, const pcol_notice *notice)
{
    (void)notice;
    call_library(context);
}

Test(control, functions_of_the_program_call_the_library_outside_of_its_scope)
{
    struct nested nested = {.status = PCOL_OK};
    const pcol_control controls[] = {
        {.size = sizeof *controls, .context = &nested, .progress = progress_that_calls},
        {.size = sizeof *controls, .context = &nested, .notice = notice_that_calls}};
    for (size_t i = 0; i < 2; i++) {
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        pcol_builder *builder;
        options.control = &controls[i];
        options.lenient = 1;
        options.format = "folded";
        nested = (struct nested){.status = PCOL_OK};
        cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
        cr_assert_eq(pcol_import_memory(builder, "a 1\nb\n", 6, "in", &options, NULL), PCOL_OK);
        pcol_builder_free(builder);
        cr_expect_geq(nested.calls, 1);
        cr_expect_eq(nested.deepest, 1, "control %zu", i);
        cr_expect_eq(nested.status, PCOL_OK, "%s", pcol_status_name(nested.status));
    }
}

/* Callbacks without a control of their own; progress counts the calls that come from within. */
struct within {
    struct nested nested;
    unsigned calls; /* of progress and notice, by what the program called within a callback */
    int ended;
};

static int progress_within(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct within *w = context;
    (void)phase;
    (void)done;
    (void)total;
    w->calls += w->nested.depth;
    return w->nested.depth > 0;
}

static void notice_within(void *context, const pcol_notice *notice)
{
    struct within *w = context;
    (void)notice;
    w->calls += w->nested.depth;
}

static pcol_status sink_that_calls(void *context, const void *data, size_t size, pcol_error *err)
{
    struct within *w = context;
    (void)data;
    (void)size;
    (void)err;
    call_library(&w->nested);
    return PCOL_OK;
}

static int64_t reader_that_calls(void *context, void *data, size_t size, pcol_error *err)
{
    struct within *w = context;
    (void)size;
    (void)err;
    call_library(&w->nested);
    if (w->ended)
        return 0;
    w->ended = 1;
    memcpy(data, "a 1\nb\n", 6);
    return 6;
}

static void pseudonym_that_calls(void *context, const char *kind, pcol_str pseudonym, pcol_str name)
{
    struct within *w = context;
    (void)kind;
    (void)pseudonym;
    (void)name;
    call_library(&w->nested);
}

static int fault_that_calls(void *context, const pcol_fault *fault)
{
    struct within *w = context;
    (void)fault;
    call_library(&w->nested);
    return 0;
}

static void expect_outside(struct within *w, const char *name)
{
    cr_expect_geq(w->nested.calls, 1, "%s", name);
    cr_expect_eq(w->calls, 0, "%s: %u calls", name, w->calls);
    cr_expect_eq(w->nested.status, PCOL_OK, "%s: %s", name, pcol_status_name(w->nested.status));
    w->nested = (struct nested){.status = PCOL_OK};
    w->calls = 0;
}

Test(control, sinks_readers_and_reports_call_the_library_outside_of_its_scope)
{
    struct within w = {.nested.status = PCOL_OK};
    const pcol_control control = {sizeof control, &w, progress_within, notice_within};
    pcol_builder *builder;
    pcol_file *odd;
    pcol_import_options importing = PCOL_INIT(pcol_import_options);
    pcol_export_options exporting = PCOL_INIT(pcol_export_options);
    pcol_filter_options filtering = PCOL_INIT(pcol_filter_options);
    uint64_t faults;
    importing.lenient = 1;
    importing.format = "folded";
    importing.control = exporting.control = filtering.control = &control;
    filtering.anonymize = 1;
    filtering.pseudonym = pseudonym_that_calls;
    filtering.pseudonym_context = &w;

    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(
        pcol_import_reader(builder, (pcol_reader){reader_that_calls, &w}, "in", &importing, NULL),
        PCOL_OK);
    expect_outside(&w, "reader");
    cr_assert_eq(pcol_builder_write(builder, 0, &control, (pcol_sink){sink_that_calls, &w}, NULL),
                 PCOL_OK);
    expect_outside(&w, "sink of a builder");
    pcol_builder_free(builder);

    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_filter(builder, file, &filtering, NULL), PCOL_OK);
    expect_outside(&w, "pseudonym");
    pcol_builder_free(builder);

    cr_assert_eq(pcol_export(file, "folded", &exporting, (pcol_sink){sink_that_calls, &w}, NULL),
                 PCOL_OK);
    expect_outside(&w, "sink of an export");

    uint8_t *flipped = malloc(file_size);
    memcpy(flipped, file_data, file_size);
    flipped[file_size / 2] ^= 1;
    cr_assert_eq(pcol_file_open_memory(flipped, file_size, 0, &odd, NULL), PCOL_OK);
    cr_assert_eq(
        pcol_file_check(odd, PCOL_CHECK_DEFAULT, fault_that_calls, &w, &control, &faults, NULL),
        PCOL_OK);
    expect_outside(&w, "fault");
    pcol_file_close(odd);
    free(flipped);
}
