/*
 * test_borrowed_inputs.c - inputs are borrowed for the call (pcol.h)
 *
 * Each case is asked twice: with its texts kept, and with texts that are overwritten and freed once
 * the object is made. Both answers must be equal; under AddressSanitizer a read of freed memory
 * also ends the program.
 */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "pcol_perun.h"
#include "testing.h"
#include "tests/result_cells.h"

#define CPU "tests/data/pprof/cpu.pb.gz"
#define HEAP "tests/data/pprof/heap.pb.gz"
#define THREADS "tests/data/perf/calls.txt"
#define PERUN "tests/data/perun/small.perf"

enum member {
    SAMPLE_TYPE,
    FOCUS,
    IGNORE,
    HIDE,
    SHOW,
    THREAD,
    SOURCE,
    LABEL,
    META,
    EXACT_LABEL,
    EXACT_THREAD,
    NAME
};

static const struct {
    const char *path;
    enum member member;
    const char *text;
} selections[] = {
    {CPU, SAMPLE_TYPE, "samples/count"},
    {CPU, FOCUS, "main.fib"},
    {CPU, FOCUS, "fib$"},
    {CPU, IGNORE, "main.fib"},
    {CPU, HIDE, "main.fib"},
    {CPU, SHOW, "main.fib"},
    {CPU, SOURCE, "1"},
    {CPU, SOURCE, "cpu"},
    {CPU, META, "branch=main"},
    {CPU, META, "branch~^m"},
    {CPU, LABEL, "kind=hash"},
    {CPU, LABEL, "kind!=hash"},
    {CPU, LABEL, "kind~ha"},
    {CPU, LABEL, "kind!~ha"},
    {CPU, LABEL, "none="},
    {HEAP, LABEL, "bytes=1kb:"},
    {HEAP, LABEL, "bytes!=1kb:64kb"},
    {HEAP, LABEL, "bytes=1024"},
    {HEAP, LABEL, "bytes=1024 bytes"},
    {THREADS, THREAD, "."},
    {CPU, EXACT_LABEL, "hash"},
    {HEAP, EXACT_LABEL, "1024 bytes"},
    {THREADS, EXACT_THREAD, "python3"},
    {THREADS, NAME, "[python3.11]"},
};

static struct text answer[2];
static char *given; /* the text of the case, in memory of its own */
static const char *list[1];
static pcol_label_value exact;
static pcol_str frame_name;

static void ask(int kept, const char *word, uint64_t number)
{
    text_addf(&answer[kept], "%s %llu\n", word, (unsigned long long)number);
}

/* The call is over: the caller needs its text no longer. */
static void release(int kept)
{
    if (!kept)
        memset(given, '~', strlen(given));
    if (!kept)
        free(given);
}

static pcol_selection select_by(enum member member, const char *text)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    const char **const texts[] = {
        [SAMPLE_TYPE] = &selection.sample_type,
        [FOCUS] = &selection.focus,
        [IGNORE] = &selection.ignore,
        [HIDE] = &selection.hide,
        [SHOW] = &selection.show,
        [THREAD] = &selection.thread,
        [SOURCE] = &selection.source,
    };
    given = strdup(text);
    if (member < LABEL) {
        *texts[member] = given;
        return selection;
    }
    list[0] = given;
    if (member == EXACT_THREAD) {
        selection.exact_thread = (pcol_str){given, strlen(given)};
    } else if (member == NAME) {
        frame_name = (pcol_str){given, strlen(given)};
        selection.focus_names = &frame_name;
        selection.focus_name_count = 1;
    } else if (member == EXACT_LABEL) {
        const char *key = *given == 'h' ? "kind" : "bytes";
        exact = (pcol_label_value){{key, strlen(key)}, {given, strlen(given)}};
        selection.exact_labels = &exact;
        selection.exact_label_count = 1;
    } else if (member == LABEL) {
        selection.labels = list;
        selection.label_count = 1;
    } else {
        selection.source_metas = list;
        selection.source_meta_count = 1;
    }
    return selection;
}

static pcol_file *open_profile(const char *path)
{
    pcol_error err;
    pcol_builder *builder;
    pcol_file *file;
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    cr_assert_eq(pcol_import_path(builder, path, NULL, &err), PCOL_OK, "%s", err.message);
    cr_assert_eq(pcol_builder_source_meta(builder, 0, "branch", "main", &err), PCOL_OK);
    cr_assert_eq(pcol_builder_file(builder, 0, NULL, &file, &err), PCOL_OK, "%s", err.message);
    pcol_builder_free(builder);
    return file;
}

static void check_answers(const char *text)
{
    cr_assert(answer[0].size > 0 && answer[1].size > 0);
    cr_expect_str_eq(answer[0].data, answer[1].data, "%s", text);
    for (int kept = 0; kept < 2; kept++) {
        free(answer[kept].data);
        answer[kept] = (struct text){0};
    }
}

/* ---- queries, and the lanes made of them */

static void ask_lanes(int kept, pcol_query *query)
{
    pcol_lanes_options options = PCOL_INIT(pcol_lanes_options);
    pcol_lanes_info info = PCOL_INIT(pcol_lanes_info);
    pcol_lanes *lanes;
    options.by = PCOL_BY_SOURCE;
    options.axis = PCOL_AXIS_ORDER;
    cr_assert_eq(pcol_lanes_new(query, &options, &lanes, NULL), PCOL_OK);
    cr_assert_eq(pcol_lanes_describe(lanes, &info, NULL), PCOL_OK);
    ask(kept, "lanes", info.samples);
    pcol_lanes_free(lanes);
}

static void ask_query(int kept, const pcol_file *file, const pcol_selection *selection)
{
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    pcol_top_options top = PCOL_INIT(pcol_top_options);
    pcol_error err;
    pcol_query *query;
    pcol_result *result;
    uint8_t taken[1024];
    const pcol_table *samples;
    size_t rows, count = 0;
    cr_assert_eq(pcol_query_new(file, selection, NULL, &query, &err), PCOL_OK, "%s", err.message);
    release(kept);
    cr_assert_eq(pcol_query_describe(query, &info, NULL), PCOL_OK);
    ask(kept, "selected", (uint64_t)info.selected.i64);
    top.by = PCOL_BY_THREAD;
    cr_assert_eq(pcol_query_top(query, &top, &result, NULL), PCOL_OK);
    ask(kept, "threads", pcol_table_rows(pcol_result_table(result)));
    ask(kept, "total of the first", (uint64_t)result_amount(result, "total", 0).i64);
    pcol_result_free(result);
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &samples, NULL), PCOL_OK);
    rows = pcol_table_rows(samples) < sizeof taken ? pcol_table_rows(samples) : sizeof taken;
    cr_assert_eq(pcol_query_samples(query, 0, rows, taken, NULL), PCOL_OK);
    for (size_t row = 0; row < rows; row++)
        count += taken[row];
    ask(kept, "samples", count);
    ask_lanes(kept, query);
    pcol_query_free(query);
}

Test(borrowed_inputs, queries)
{
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
        pcol_file *file = open_profile(selections[i].path);
        for (int kept = 0; kept < 2; kept++) {
            pcol_selection selection = select_by(selections[i].member, selections[i].text);
            ask_query(kept, file, &selection);
        }
        free(given);
        check_answers(selections[i].text);
        pcol_file_close(file);
    }
}

/* ---- scans */

static void ask_scan(int kept, const pcol_table *table, const pcol_scan_options *options)
{
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err;
    pcol_scan *scan;
    uint64_t rows = 0;
    cr_assert_eq(pcol_scan_new(table, options, &scan, &err), PCOL_OK, "%s", err.message);
    release(kept);
    do {
        cr_assert_eq(pcol_scan_next(scan, &batch, NULL), PCOL_OK);
        rows += batch.rows;
    } while (batch.rows);
    ask(kept, "rows", rows);
    pcol_scan_free(scan);
}

Test(borrowed_inputs, scans_of_selections)
{
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
        pcol_scan_options options = PCOL_INIT(pcol_scan_options);
        pcol_file *file = open_profile(selections[i].path);
        const pcol_table *table;
        cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, NULL),
                     PCOL_OK);
        for (int kept = 0; kept < 2; kept++) {
            pcol_selection selection = select_by(selections[i].member, selections[i].text);
            options.selection = &selection;
            ask_scan(kept, table, &options);
        }
        free(given);
        check_answers(selections[i].text);
        pcol_file_close(file);
    }
}

/* ---- conditions */

static void ask_test(int kept, const pcol_condition *condition)
{
    const pcol_scalar names[] = {{.str = {"main.fib", 8}}, {.str = {"main.fob", 8}}};
    pcol_value_test *test;
    int holds;
    cr_assert_eq(pcol_value_test_new(condition, &test, NULL), PCOL_OK);
    release(kept);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_assert_eq(pcol_value_test_holds(test, PCOL_STRING, &names[i], &holds, NULL), PCOL_OK);
        ask(kept, "holds", (uint64_t)holds);
    }
    pcol_value_test_free(test);
}

Test(borrowed_inputs, conditions)
{
    static const struct {
        pcol_operator op;
        const char *text;
    } conditions[] = {{PCOL_OP_EQ, "main.fib"},    {PCOL_OP_NE, "main.fib"},
                      {PCOL_OP_LT, "main.fib"},    {PCOL_OP_GE, "main.fib"},
                      {PCOL_OP_MATCH, "main.fib"}, {PCOL_OP_MATCH, "^main.*b$"}};
    pcol_column_info name = PCOL_INIT(pcol_column_info);
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_condition condition = {.type = PCOL_STRING};
    pcol_file *file = open_profile(CPU);
    const pcol_table *table;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "functions", &table, NULL), PCOL_OK);
    while (!name.name || strcmp(name.name, "name") != 0)
        cr_assert_eq(
            pcol_column_describe(pcol_table_column(table, condition.column++), &name, NULL),
            PCOL_OK);
    condition.column--;
    options.where = &condition;
    options.where_count = 1;
    for (size_t i = 0; i < 2 * (sizeof conditions / sizeof *conditions); i++) {
        condition.op = conditions[i / 2].op;
        for (int kept = 0; kept < 2; kept++) {
            given = strdup(conditions[i / 2].text);
            condition.value.str = (pcol_str){given, strlen(given)};
            if (i % 2)
                ask_test(kept, &condition);
            else
                ask_scan(kept, table, &options);
        }
        free(given);
        check_answers(conditions[i / 2].text);
    }
    pcol_file_close(file);
}

/* ---- questions of Perun */

static const struct {
    pcol_question question;
    const char *path, *group, *filter; /* one of them */
} questions[] = {{PCOL_ASK_VALUES, "uid:function", NULL, NULL},
                 {PCOL_ASK_VALUES, "amount", NULL, NULL},
                 {PCOL_ASK_MODELS, NULL, "param", NULL},
                 {PCOL_ASK_MODELS, NULL, "nonparam", NULL},
                 {PCOL_ASK_BEST_MODELS, NULL, NULL, "best-param"},
                 {PCOL_ASK_BEST_MODELS, NULL, NULL, "all-nonparam"}};

static void ask_perun(int kept, const pcol_file *file, size_t i)
{
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_error err;
    pcol_answers *answers;
    const pcol_answer *cells;
    options.all_rows = 1;
    options.path = questions[i].path ? given : NULL;
    options.group = questions[i].group ? given : NULL;
    options.filter = questions[i].filter ? given : NULL;
    cr_assert_eq(pcol_ask(file, questions[i].question, &options, &answers, &err), PCOL_OK, "%s",
                 err.message);
    release(kept);
    for (;;) {
        cr_assert_eq(pcol_answers_next(answers, &cells, NULL), PCOL_OK);
        if (!cells)
            break;
        for (size_t k = 0; k < pcol_answers_column_count(answers); k++)
            ask(kept, "kind", cells[k].kind);
    }
    ask(kept, "columns", pcol_answers_column_count(answers));
    pcol_answers_free(answers);
}

Test(borrowed_inputs, questions)
{
    pcol_file *file = open_profile(PERUN);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const char *text = questions[i].path    ? questions[i].path
                           : questions[i].group ? questions[i].group
                                                : questions[i].filter;
        for (int kept = 0; kept < 2; kept++) {
            given = strdup(text);
            ask_perun(kept, file, i);
        }
        free(given);
        check_answers(text);
    }
    pcol_file_close(file);
}
