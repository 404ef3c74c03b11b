/*
 * test_query.c - weights, filters and results of queries over files made by a builder
 *
 * More than 600 lines: all cases share the profile builder below.
 */
#include <criterion/criterion.h>

#include "builder/rows.h"
#include "model/time_overlap.h"
#include "pcol.h"
#include "util/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/result_cells.h"

/* A profile under construction: frames are named by letters, stacks are words read from the
 * root. */
struct made {
    pcol_builder *builder;
    pcol_error err;
    uint32_t source, type;
    void *data;
    size_t size;
    pcol_file *file;
};

#define OK(call) cr_assert_eq(call, PCOL_OK, "%s: %s", #call, m->err.message)

static void begin(struct made *m, const char *type, const char *unit, unsigned flags)
{
    pcol_source source = PCOL_INIT(pcol_source);
    memset(m, 0, sizeof *m);
    source.type = "folded";
    OK(pcol_builder_new(NULL, &m->builder, &m->err));
    OK(pcol_builder_source(m->builder, &source, &m->source, &m->err));
    OK(pcol_builder_sample_type(m->builder, type, unit, flags, 0, &m->type, &m->err));
}

static uint32_t function(struct made *m, const char *name, size_t size, const char *file)
{
    pcol_function f = PCOL_INIT(pcol_function);
    uint32_t row;
    f.system_name = f.filename = PCOL_NONE;
    OK(pcol_builder_string(m->builder, name, size, &f.name, &m->err));
    if (file)
        OK(pcol_builder_string(m->builder, file, strlen(file), &f.filename, &m->err));
    OK(pcol_builder_function(m->builder, &f, &row, &m->err));
    return row;
}

/* A group; `names` innermost first, as inlined lines. */
static uint32_t group(struct made *m, const char *names)
{
    pcol_line lines[8] = {{0}};
    pcol_group g = PCOL_INIT(pcol_group);
    uint32_t row;
    for (; names[g.line_count]; g.line_count++) {
        lines[g.line_count].function = function(m, &names[g.line_count], 1, NULL);
        lines[g.line_count].filename = PCOL_NONE;
    }
    g.lines = lines;
    g.mapping = PCOL_NONE;
    OK(pcol_builder_group(m->builder, &g, &row, &m->err));
    return row;
}

/* "ab(cd)": a calls b, b calls a group of c inlined into d. */
static uint32_t stack_of(struct made *m, const char *word)
{
    uint32_t stack = 0;
    for (; *word; word++) {
        char names[8] = {*word};
        if (*word == '(') {
            size_t size = strcspn(++word, ")");
            memcpy(names, word, size);
            names[size] = '\0';
            word += size;
        }
        OK(pcol_builder_stack(m->builder, stack, group(m, names), &stack, &m->err));
    }
    return stack;
}

static void sample(struct made *m, const char *word, int64_t integer, double number, int is_double)
{
    pcol_sample s = PCOL_INIT(pcol_sample);
    pcol_value value = {.sample_type = m->type};
    if (is_double)
        value.as.f64 = number;
    else
        value.as.i64 = integer;
    s.source = m->source;
    s.stack = stack_of(m, word);
    s.values = &value;
    s.value_count = 1;
    s.thread = PCOL_NONE;
    OK(pcol_builder_sample(m->builder, &s, NULL, &m->err));
}

static void finish(struct made *m)
{
    OK(pcol_builder_write_memory(m->builder, 0, NULL, &m->data, &m->size, &m->err));
    pcol_builder_free(m->builder);
    OK(pcol_file_open_memory(m->data, m->size, NULL, &m->file, &m->err));
}

static void done(struct made *m)
{
    pcol_file_close(m->file);
    pcol_free(m->data);
}

/* "a:self/total b:..." of a top, in its order. */
static void check_top(struct made *m, const pcol_selection *selection, pcol_by by,
                      const char *expected)
{
    pcol_query *query;
    pcol_query_info info;
    pcol_result *top;
    pcol_top_options options = PCOL_INIT(pcol_top_options);
    char text[400] = "";
    size_t used = 0;
    OK(pcol_query_new(m->file, selection, NULL, &query, &m->err));
    info = (pcol_query_info){.size = sizeof info};
    (void)!pcol_query_describe(query, &info, NULL);
    options.by = by;
    OK(pcol_query_top(query, &options, &top, &m->err));
    for (size_t i = 0; i < result_rows(top); i++) {
        pcol_str name = result_text(top, "name", i);
        pcol_amount self = result_amount(top, "self", i), total = result_amount(top, "total", i);
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%.*s:%g/%g", i ? " " : "", (int)name.size,
            name.data, (info.flags & PCOL_QUERY_IS_DOUBLE) ? self.f64 : (double)self.i64,
            (info.flags & PCOL_QUERY_IS_DOUBLE) ? total.f64 : (double)total.i64);
    }
    cr_assert_str_eq(text, expected);
    pcol_result_free(top);
    pcol_query_free(query);
}

Test(query, recursion_counts_once)
{
    struct made m;
    begin(&m, "samples", "count", 0);
    sample(&m, "ab", 1, 0, 0);
    sample(&m, "abab", 2, 0, 0);
    sample(&m, "abb", 4, 0, 0);
    sample(&m, "", 8, 0, 0);
    finish(&m);
    check_top(&m, NULL, PCOL_BY_FUNCTION, "<no stack>:8/8 b:7/7 a:0/7");
    done(&m);
}

Test(query, inlined_lines_are_frames)
{
    struct made m;
    begin(&m, "samples", "count", 0);
    sample(&m, "m(ba)", 3, 0, 0);
    sample(&m, "m(ba)c", 1, 0, 0);
    finish(&m);
    check_top(&m, NULL, PCOL_BY_FUNCTION, "b:3/4 c:1/1 a:0/4 m:0/4");
    done(&m);
}

Test(query, selections_of_frames)
{
    struct made m;
    pcol_selection s = PCOL_INIT(pcol_selection);
    begin(&m, "samples", "count", 0);
    sample(&m, "abc", 1, 0, 0);
    sample(&m, "abd", 2, 0, 0);
    sample(&m, "ae", 4, 0, 0);
    finish(&m);
    s.focus = "b";
    check_top(&m, &s, PCOL_BY_FUNCTION, "d:2/2 c:1/1 a:0/3 b:0/3");
    s.ignore = "d";
    check_top(&m, &s, PCOL_BY_FUNCTION, "c:1/1 a:0/1 b:0/1");
    s.focus = s.ignore = NULL;
    s.hide = "[bcd]";
    check_top(&m, &s, PCOL_BY_FUNCTION, "e:4/4 a:3/7");
    s.hide = NULL;
    s.show = "[bd]";
    check_top(&m, &s, PCOL_BY_FUNCTION, "d:2/2 b:1/3");
    s.show = NULL;
    s.focus = "(?:b|\\d)+?";
    check_top(&m, &s, PCOL_BY_FUNCTION, "d:2/2 c:1/1 a:0/3 b:0/3");
    s.focus = "(?i)E";
    check_top(&m, &s, PCOL_BY_FUNCTION, "e:4/4 a:0/4");
    done(&m);
}

/* A frame of which only the address is known stays where other frames are hidden, as in pprof; it
 * is nothing that can be shown. */
Test(query, frames_without_names)
{
    struct made m;
    pcol_selection s = PCOL_INIT(pcol_selection);
    begin(&m, "samples", "count", 0);
    sample(&m, "ab()", 1, 0, 0);
    sample(&m, "a()b", 2, 0, 0);
    sample(&m, "()", 4, 0, 0);
    finish(&m);
    s.hide = "b";
    check_top(&m, &s, PCOL_BY_FUNCTION, "<unknown>:7/7 a:0/3");
    s.hide = NULL;
    s.show = "b";
    check_top(&m, &s, PCOL_BY_FUNCTION, "b:3/3");
    done(&m);
}

/* drop_frames as pprof applies it: from the first dropped frame below one that is not dropped. */
static void with_drop(struct made *m, const char *drop, const char *keep)
{
    uint32_t table, column;
    OK(pcol_builder_table(m->builder, "sources", &table, &m->err));
    OK(pcol_builder_column(m->builder, table, "drop_frames", PCOL_STRING, 0, &column, &m->err));
    OK(pcol_builder_set_str(m->builder, column, 0, drop, strlen(drop), &m->err));
    if (keep) {
        OK(pcol_builder_column(m->builder, table, "keep_frames", PCOL_STRING, 0, &column, &m->err));
        OK(pcol_builder_set_str(m->builder, column, 0, keep, strlen(keep), &m->err));
    }
}

Test(query, drop_frames)
{
    struct made m;
    pcol_selection s = PCOL_INIT(pcol_selection);
    begin(&m, "samples", "count", 0);
    with_drop(&m, "x|y", "y");
    sample(&m, "axb", 1, 0, 0);      /* a */
    sample(&m, "xab", 2, 0, 0);      /* whole: nothing but x before it */
    sample(&m, "xx", 4, 0, 0);       /* whole */
    sample(&m, "ayb", 8, 0, 0);      /* y is kept */
    sample(&m, "a(cxd)e", 16, 0, 0); /* a, d: x and c inside it go, and what it calls */
    finish(&m);
    check_top(&m, &s, PCOL_BY_FUNCTION, "d:16/16 b:10/10 x:4/6 a:1/27 y:0/8");
    s.keep_dropped = 1;
    check_top(&m, &s, PCOL_BY_FUNCTION, "e:16/16 b:11/11 x:4/23 a:0/27 c:0/16 d:0/16 y:0/8");
    done(&m);
}

/* What other sources drop matters where they have the type that is asked about. */
Test(query, drop_frames_of_several_sources)
{
    struct made made, *m = &made;
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_selection s = PCOL_INIT(pcol_selection);
    pcol_query *query;
    pcol_query_info info;
    uint32_t of_first;
    begin(m, "samples", "count", 0);
    with_drop(m, "x", NULL);
    of_first = m->type;
    sample(m, "axb", 1, 0, 0);
    source.type = "folded";
    OK(pcol_builder_source(m->builder, &source, &m->source, &m->err));
    OK(pcol_builder_sample_type(m->builder, "cpu", "ns", 0, 0, &m->type, &m->err));
    sample(m, "axb", 2, 0, 0);
    finish(m);
    check_top(m, &s, PCOL_BY_FUNCTION, "a:1/1");
    s.sample_type = "cpu";
    check_top(m, &s, PCOL_BY_FUNCTION, "b:2/2 a:0/2 x:0/2");
    done(m);

    begin(m, "samples", "count", 0);
    with_drop(m, "x", NULL);
    sample(m, "axb", 1, 0, 0);
    OK(pcol_builder_source(m->builder, &source, &m->source, &m->err));
    OK(pcol_builder_sample_type(m->builder, "samples", "count", 0, 0, &m->type, &m->err));
    cr_assert_eq(m->type, of_first);
    sample(m, "axb", 2, 0, 0);
    finish(m);
    check_top(m, NULL, PCOL_BY_FUNCTION, "a:3/3");
    s.sample_type = NULL;
    s.source = "2";
    check_top(m, &s, PCOL_BY_FUNCTION, "b:2/2 a:0/2 x:0/2");
    OK(pcol_query_new(m->file, NULL, NULL, &query, &m->err));
    info = (pcol_query_info){.size = sizeof info};
    (void)!pcol_query_describe(query, &info, NULL);
    cr_assert_not_null(info.note);
    pcol_query_free(query);
    done(m);
}

/* The rows of sample_values that a selection passes, and the sample types that a filter keeps. */
static void expect_type(struct made *m, const pcol_selection *s, uint64_t rows, uint64_t types)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_filter_options filter = PCOL_INIT(pcol_filter_options);
    const pcol_table *table;
    pcol_builder *builder;
    pcol_file *part;
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    uint64_t count = 0;
    OK(pcol_file_table_by_name(m->file, PCOL_MODEL_V2, "sample_values", &table, &m->err));
    options.row_count = pcol_table_rows(table);
    options.selection = s;
    OK(pcol_scan_new(table, &options, &scan, &m->err));
    do {
        OK(pcol_scan_next(scan, &batch, &m->err));
        count += batch.rows;
    } while (batch.rows > 0);
    pcol_scan_free(scan);
    cr_expect_eq(count, rows);
    filter.selection = s;
    OK(pcol_builder_new(NULL, &builder, &m->err));
    OK(pcol_filter(builder, m->file, &filter, &m->err));
    OK(pcol_builder_file(builder, 0, NULL, &part, &m->err));
    OK(pcol_file_table_by_name(part, PCOL_MODEL_PHYSICAL, "sample_types", &table, &m->err));
    cr_expect_eq(pcol_table_rows(table), types);
    pcol_file_close(part);
    pcol_builder_free(builder);
}

/* A name may be that of several types: a/b in c, a in b/c, and types that a source repeats. */
Test(query, exact_sample_types)
{
    const struct {
        pcol_sample_type type;
        int64_t total;
    } cases[] = {{{{"a/b", 3}, {"c", 1}, 0}, 1},
                 {{{"a", 1}, {"b/c", 3}, 0}, 2},
                 {{{"a", 1}, {"b/c", 3}, 1}, 3},
                 {{{"", 0}, {"", 0}, 0}, 1}}; /* the default */
    struct made made, *m = &made;
    pcol_value values[3];
    pcol_sample row = PCOL_INIT(pcol_sample);
    pcol_selection s = PCOL_INIT(pcol_selection);
    pcol_query *query;
    begin(m, "a/b", "c", 0);
    for (size_t i = 0; i < 3; i++) {
        const pcol_sample_type *type = &cases[i].type;
        values[i].as.i64 = cases[i].total;
        OK(pcol_builder_sample_type(m->builder, type->type.data, type->unit.data, 0, type->ordinal,
                                    &values[i].sample_type, &m->err));
    }
    row.source = m->source;
    row.thread = PCOL_NONE;
    row.values = values;
    row.value_count = 3;
    OK(pcol_builder_sample(m->builder, &row, NULL, &m->err));
    finish(m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcol_query_info info = PCOL_INIT(pcol_query_info);
        s.exact_type = &cases[i].type;
        OK(pcol_query_new(m->file, &s, NULL, &query, &m->err));
        OK(pcol_query_describe(query, &info, &m->err));
        cr_expect_eq(info.total.i64, cases[i].total);
        cr_expect_eq(info.type_ordinal, cases[i].type.ordinal);
        pcol_query_free(query);
        if (i < 3)
            expect_type(m, &s, 1, 1);
    }
    pcol_sample_type absent = {{"a", 1}, {"b/c", 3}, 2};
    s.exact_type = &absent;
    cr_expect_eq(pcol_query_new(m->file, &s, NULL, &query, &m->err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(m->err.message, "no sample type 'a/b/c'; use one of: a/b, a");
    done(m);
}

Test(query, negative_values)
{
    struct made m;
    pcol_query *query;
    pcol_query_info info;
    begin(&m, "delta", "bytes", 0);
    sample(&m, "ab", 10, 0, 0);
    sample(&m, "ac", -4, 0, 0);
    finish(&m);
    check_top(&m, NULL, PCOL_BY_FUNCTION, "b:10/10 c:-4/-4 a:0/6");
    cr_assert_eq(pcol_query_new(m.file, NULL, NULL, &query, &m.err), PCOL_OK);
    info = (pcol_query_info){.size = sizeof info};
    (void)!pcol_query_describe(query, &info, NULL);
    cr_assert_eq(info.total.i64, 14);
    cr_assert_eq(info.selected.i64, 6);
    pcol_query_free(query);
    done(&m);
}

/* Of each sample, even where one cancels another of the same stack. */
Test(query, percentages_are_of_magnitudes)
{
    struct made made, *m = &made;
    pcol_query *query;
    pcol_query_info info;
    pcol_selection picked = PCOL_INIT(pcol_selection);
    begin(m, "delta", "bytes", 0);
    sample(m, "ab", 10, 0, 0);
    sample(m, "ab", -4, 0, 0);
    sample(m, "c", INT64_MIN + 14, 0, 0);
    sample(m, "c", -1, 0, 0);
    finish(m);
    cr_assert_eq(pcol_query_new(m->file, NULL, NULL, &query, &m->err), PCOL_E_LIMIT);
    done(m);
    for (int is_double = 0; is_double < 2; is_double++) {
        begin(m, "delta", "bytes", is_double ? PCOL_SAMPLE_TYPE_DOUBLE : 0);
        sample(m, "ab", 10, 10, is_double);
        sample(m, "ab", -4, -4, is_double);
        finish(m);
        picked.source = "1";
        for (int has_selection = 0; has_selection < 2; has_selection++) {
            OK(pcol_query_new(m->file, has_selection ? &picked : NULL, NULL, &query, &m->err));
            info = (pcol_query_info){.size = sizeof info};
            (void)!pcol_query_describe(query, &info, NULL);
            cr_assert_eq(is_double ? info.total.f64 : (double)info.total.i64, 14);
            cr_assert_eq(is_double ? info.selected.f64 : (double)info.selected.i64, 6);
            pcol_query_free(query);
        }
        done(m);
    }
}

Test(query, sums_do_not_wrap)
{
    struct made m;
    pcol_query *query;
    begin(&m, "samples", "count", 0);
    sample(&m, "a", INT64_MAX, 0, 0);
    sample(&m, "b", 1, 0, 0);
    finish(&m);
    cr_assert_eq(pcol_query_new(m.file, NULL, NULL, &query, &m.err), PCOL_E_LIMIT);
    cr_assert_null(query);
    done(&m);
}

Test(query, doubles)
{
    struct made m;
    begin(&m, "wall", "ms", PCOL_SAMPLE_TYPE_DOUBLE);
    sample(&m, "ab", 0, 0.5, 1);
    sample(&m, "ac", 0, 2.25, 1);
    finish(&m);
    check_top(&m, NULL, PCOL_BY_FUNCTION, "c:2.25/2.25 b:0.5/0.5 a:0/2.75");
    done(&m);
}

Test(query, levels_are_refused)
{
    struct made m;
    pcol_query *query;
    begin(&m, "heap", "bytes", PCOL_SAMPLE_TYPE_GAUGE);
    sample(&m, "a", 5, 0, 0);
    finish(&m);
    cr_assert_eq(pcol_query_new(m.file, NULL, NULL, &query, &m.err), PCOL_E_ARGUMENT);
    done(&m);
}

/* A stack of 200,000 frames of two functions that call each other. */
Test(query, deep_recursion_is_linear)
{
    struct made made, *m = &made;
    uint32_t stack = 0, groups[2], deep = 200000;
    pcol_value value = {.as.i64 = 1};
    pcol_sample s = PCOL_INIT(pcol_sample);
    pcol_query *query;
    pcol_result *top;
    pcol_result *tree;
    pcol_result *peek;
    pcol_top_options by_total = {.size = sizeof by_total, .order = PCOL_ORDER_TOTAL};
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    begin(m, "samples", "count", 0);
    groups[0] = group(m, "a");
    groups[1] = group(m, "b");
    s.thread = PCOL_NONE;
    s.values = &value;
    s.value_count = 1;
    for (uint32_t i = 0; i < deep; i++) {
        OK(pcol_builder_stack(m->builder, stack, groups[i % 2], &stack, &m->err));
        s.stack = stack;
        OK(pcol_builder_sample(m->builder, &s, NULL, &m->err));
    }
    finish(m);
    OK(pcol_query_new(m->file, NULL, NULL, &query, &m->err));
    OK(pcol_query_top(query, &by_total, &top, &m->err));
    cr_assert_eq(result_rows(top), 2);
    cr_assert_eq(result_amount(top, "total", 0).i64, deep);
    cr_assert_eq(result_amount(top, "total", 1).i64, deep - 1);
    pcol_result_free(top);
    OK(pcol_query_tree(query, NULL, &tree, &m->err));
    cr_assert_eq(result_rows(tree), deep + 1);
    pcol_result_free(tree);
    OK(pcol_query_peek(query, "a", NULL, &peek, &m->err));
    cr_assert_eq(result_rows(peek), 3);
    pcol_result_free(peek);
    static const struct {
        const char *name;
        uint64_t rows, whole; /* rows as a name or pattern, as a whole name */
    } peeks[] = {{"a", 3, 3}, {"a|b", 6, 0}, {"[ab]", 6, 0}, {"c", 0, 0}};
    pcol_peek_options whole = PCOL_INIT(pcol_peek_options);
    whole.flags = PCOL_PEEK_WHOLE;
    for (size_t i = 0; i < sizeof peeks / sizeof *peeks; i++) {
        OK(pcol_query_peek(query, peeks[i].name, NULL, &peek, &m->err));
        cr_expect_eq(result_rows(peek), peeks[i].rows, "%s", peeks[i].name);
        pcol_result_free(peek);
        OK(pcol_query_peek(query, peeks[i].name, &whole, &peek, &m->err));
        cr_expect_eq(result_rows(peek), peeks[i].whole, "%s", peeks[i].name);
        pcol_result_free(peek);
    }
    OK(pcol_query_peek(query, "[", &whole, &peek, &m->err));
    pcol_result_free(peek);
    options.flags = PCOL_TREE_BOTTOM_UP;
    cr_assert_eq(pcol_query_tree(query, &options, &tree, &m->err), PCOL_E_LIMIT);
    cr_assert_null(tree);
    options.max_depth = 3;
    OK(pcol_query_tree(query, &options, &tree, &m->err));
    cr_assert_eq(result_rows(tree), 7);
    pcol_result_free(tree);
    pcol_query_free(query);
    done(m);
}

/* Children in order; what is below a node is a range. */
Test(query, calltree)
{
    struct made m;
    pcol_query *query;
    pcol_result *tree;
    char text[200] = "";
    size_t used = 0;
    begin(&m, "samples", "count", 0);
    sample(&m, "abc", 1, 0, 0);
    sample(&m, "ad", 3, 0, 0);
    sample(&m, "ab", 1, 0, 0);
    sample(&m, "ax", 0, 0, 0);
    sample(&m, "z", 9, 0, 0);
    finish(&m);
    cr_assert_eq(pcol_query_new(m.file, NULL, NULL, &query, &m.err), PCOL_OK);
    cr_assert_eq(pcol_query_tree(query, NULL, &tree, &m.err), PCOL_OK);
    for (uint32_t i = 0; i < result_rows(tree); i++) {
        pcol_str name = result_text(tree, "name", i);
        used += (size_t)snprintf(text + used, sizeof text - used, "%lld%.*s<%lld..%lld:%lld/%lld ",
                                 (long long)result_amount(tree, "depth", i).i64, (int)name.size,
                                 name.data ? name.data : "",
                                 (long long)result_amount(tree, "parent", i).i64,
                                 (long long)result_amount(tree, "end", i).i64,
                                 (long long)result_amount(tree, "self", i).i64,
                                 (long long)result_amount(tree, "total", i).i64);
    }
    cr_assert_str_eq(text, "0<0..6:0/14 1z<0..2:9/9 1a<0..6:0/5 2d<2..4:3/3 2b<2..6:1/2 "
                           "3c<4..6:1/1 ");
    pcol_result_free(tree);
    pcol_query_free(query);
    done(&m);
}

/* ---- failed allocations */

static int countdown;

static int fail_when_counted_down(void)
{
    return countdown >= 0 && countdown-- == 0;
}

/* All answers; the first failure ends it. */
static pcol_status ask_all(const pcol_file *file, pcol_error *err)
{
    pcol_selection s = PCOL_INIT(pcol_selection);
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    pcol_query *query;
    pcol_result *top = NULL;
    pcol_result *tree = NULL;
    pcol_result *peek = NULL;
    pcol_result *cpu = NULL;
    uint8_t taken[1];
    pcol_status status;
    s.focus = "a";
    s.hide = "x";
    s.source = "1";
    s.has_time = 1;
    s.time_to_ns = INT64_MAX;
    options.flags = PCOL_TREE_BOTTOM_UP;
    status = pcol_query_new(file, &s, NULL, &query, err);
    for (int by = PCOL_BY_FUNCTION; status == PCOL_OK && by <= PCOL_BY_SOURCE; by++) {
        pcol_top_options top_options = {.size = sizeof top_options, .by = (pcol_by)by};
        status = pcol_query_top(query, &top_options, &top, err);
        pcol_result_free(top);
    }
    if (status == PCOL_OK)
        status = pcol_query_tree(query, NULL, &tree, err);
    pcol_result_free(tree);
    if (status == PCOL_OK)
        status = pcol_query_tree(query, &options, &tree, err);
    else
        tree = NULL;
    pcol_result_free(tree);
    if (status == PCOL_OK)
        status = pcol_query_peek(query, "a|b", NULL, &peek, err);
    pcol_result_free(peek);
    if (status == PCOL_OK)
        status = pcol_query_cpu(query, &cpu, err);
    pcol_result_free(cpu);
    if (status == PCOL_OK)
        status = pcol_query_samples(query, 0, 1, taken, err);
    pcol_query_free(query);
    return status;
}

Test(query, failed_allocations)
{
    struct made m;
    pcol_status status = PCOL_E_NO_MEMORY;
    int n = 0;
    begin(&m, "samples", "count", 0);
    sample(&m, "abc", 1, 0, 0);
    sample(&m, "a(xb)d", 2, 0, 0);
    finish(&m);
    pci_alloc_hook = fail_when_counted_down;
    for (; status == PCOL_E_NO_MEMORY && n < 10000; n++) {
        countdown = n;
        status = ask_all(m.file, &m.err);
    }
    pci_alloc_hook = NULL;
    cr_assert_eq(status, PCOL_OK, "%s", m.err.message);
    cr_assert_gt(n, 50);
    done(&m);
}

/* ---- labels */

static uint32_t text(struct made *m, const char *data)
{
    uint32_t code;
    OK(pcol_builder_string(m->builder, data, strlen(data), &code, &m->err));
    return code;
}

/* A sample of stack "a" or "b" with a label of a kind; NULL text: the number. */
static void labelled(struct made *m, uint64_t row, const char *word, const char *key,
                     const char *value, int64_t number, const char *second)
{
    struct pci_label labels[2] = {{.key = text(m, key), .unit = PCOL_NONE}};
    uint64_t extra = PCI_NO_NODE;
    uint32_t table;
    OK(pcol_builder_table(m->builder, "samples", &table, &m->err));
    sample(m, word, (int64_t)1 << row, 0, 0);
    labels[0].kind = value ? PCI_LABEL_STRING : PCI_LABEL_INTEGER;
    labels[0].text = value ? text(m, value) : PCOL_NONE;
    labels[0].as.i64 = number;
    labels[1] = labels[0];
    if (second)
        labels[1].text = text(m, second);
    OK(pci_builder_labels(m->builder, table, row, labels, second ? 2 : 1, &extra, &m->err));
}

/* Where pprof marked the samples of a base, the whole is theirs. */
Test(query, percentages_are_of_the_base)
{
    struct made made, *m = &made;
    pcol_query *query;
    pcol_query_info info;
    pcol_selection s = PCOL_INIT(pcol_selection);
    const char *const other[] = {"other=x"};
    begin(m, "samples", "count", 0);
    labelled(m, 0, "a", "pprof::base", "true", 0, NULL);
    labelled(m, 1, "b", "other", "x", 0, NULL);
    labelled(m, 2, "b", "pprof::base", "false", 0, NULL);
    finish(m);
    OK(pcol_query_new(m->file, NULL, NULL, &query, &m->err));
    info = (pcol_query_info){.size = sizeof info};
    (void)!pcol_query_describe(query, &info, NULL);
    cr_assert_eq(info.total.i64, 1);
    cr_assert_eq(info.selected.i64, 7);
    pcol_query_free(query);
    s.labels = other;
    s.label_count = 1;
    OK(pcol_query_new(m->file, &s, NULL, &query, &m->err));
    info = (pcol_query_info){.size = sizeof info};
    (void)!pcol_query_describe(query, &info, NULL);
    cr_assert_eq(info.total.i64, 2); /* none of these is of the base */
    pcol_query_free(query);
    done(m);
}

static void check_labels(struct made *m, const char *const *labels, size_t count,
                         const char *expected)
{
    pcol_selection s = PCOL_INIT(pcol_selection);
    s.labels = labels;
    s.label_count = count;
    check_top(m, &s, PCOL_BY_FUNCTION, expected);
}

/* Values by their texts, whatever they would be in KEY=VALUE. */
Test(query, exact_labels)
{
    struct made made, *m = &made;
    pcol_query *query;
    begin(m, "samples", "count", 0);
    labelled(m, 0, "a", "k", "=v", 0, NULL);
    labelled(m, 1, "b", "k~", "v", 0, NULL);
    labelled(m, 2, "a", "k", "1:9", 0, NULL);
    labelled(m, 3, "b", "k", NULL, 7, NULL);
    labelled(m, 4, "a", "k", "7", 0, NULL);
    finish(m);
    const struct {
        pcol_label_value value;
        const char *expected;
    } cases[] = {
        {{{"k", 1}, {"=v", 2}}, "a:1/1"},  {{{"k~", 2}, {"v", 1}}, "b:2/2"},
        {{{"k", 1}, {"1:9", 3}}, "a:4/4"}, {{{"k", 1}, {"7", 1}}, "a:16/16 b:8/8"},
        {{{"k", 1}, {"7.0", 3}}, ""},      {{{"k", 1}, {NULL, 0}}, ""},
        {{{"k", 1}, {"=v\0", 3}}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcol_selection s = PCOL_INIT(pcol_selection);
        s.exact_labels = &cases[i].value;
        s.exact_label_count = 1;
        check_top(m, &s, PCOL_BY_FUNCTION, cases[i].expected);
    }
    check_labels(m, (const char *const[]){"k~=v"}, 1, "b:2/2"); /* the longest key */
    check_labels(m, (const char *const[]){"k~~^v"}, 1, "b:2/2");
    check_labels(m, (const char *const[]){"k~!=v"}, 1, "a:21/21 b:8/8");
    check_labels(m, (const char *const[]){"k~^=v"}, 1, "a:1/1");
    check_labels(m, (const char *const[]){"k==v"}, 1, "a:1/1");
    pcol_selection s = PCOL_INIT(pcol_selection);
    s.exact_label_count = 1;
    cr_assert_eq(pcol_query_new(m->file, &s, NULL, &query, &m->err), PCOL_E_ARGUMENT);
    s.exact_label_count = 0;
    s.focus_name_count = 1;
    cr_assert_eq(pcol_query_new(m->file, &s, NULL, &query, &m->err), PCOL_E_ARGUMENT);
    s.focus_name_count = 0;
    s.exact_thread = (pcol_str){"nobody", 6};
    cr_assert_eq(pcol_query_new(m->file, &s, NULL, &query, &m->err), PCOL_E_ARGUMENT);
    cr_assert_str_eq(m->err.message, "no thread is named 'nobody'");
    done(m);
}

Test(query, labels)
{
    struct made made, *m = &made;
    pcol_query *query;
    pcol_result *top;
    pcol_top_options by_label = {.size = sizeof by_label, .by = PCOL_BY_LABEL, .label = "k"};
    pcol_selection s = PCOL_INIT(pcol_selection);
    const char *const unknown[] = {"nokey=1"};
    char got[200] = "";
    size_t used = 0;
    begin(m, "samples", "count", 0);
    labelled(m, 0, "a", "k", "x", 0, NULL);
    labelled(m, 1, "b", "k", "y", 0, "x");
    labelled(m, 2, "a", "k", NULL, 7, NULL);
    labelled(m, 3, "b", "k", "7", 0, NULL);
    labelled(m, 4, "a", "other", "x", 0, NULL);
    finish(m);
    check_labels(m, (const char *const[]){"k=x"}, 1, "b:2/2 a:1/1");
    check_labels(m, (const char *const[]){"k=7"}, 1, "b:8/8 a:4/4");
    check_labels(m, (const char *const[]){"k=+7"}, 1, "");
    check_labels(m, (const char *const[]){"k~^[xy]$"}, 1, "b:2/2 a:1/1");
    check_labels(m, (const char *const[]){"k~[0-9]"}, 1, "b:8/8 a:4/4");
    check_labels(m, (const char *const[]){"k=x", "k=y"}, 2, "b:2/2");
    check_labels(m, (const char *const[]){"other=x"}, 1, "a:16/16");
    s.labels = unknown;
    s.label_count = 1;
    cr_assert_eq(pcol_query_new(m->file, &s, NULL, &query, &m->err), PCOL_E_ARGUMENT);
    cr_assert_str_eq(m->err.message, "no sample has a label 'nokey'; existing labels: k, other");
    s.label_count = 0;
    s.focus = "a|b";
    OK(pcol_query_new(m->file, &s, NULL, &query, &m->err));
    OK(pcol_query_top(query, &by_label, &top, &m->err));
    for (size_t i = 0; i < result_rows(top); i++) {
        pcol_str name = result_text(top, "name", i);
        used += (size_t)snprintf(got + used, sizeof got - used, "%.*s%s=%d ", (int)name.size,
                                 name.data ? name.data : "", name.data ? "" : "-",
                                 (int)result_amount(top, "self", i).i64);
    }
    cr_assert_str_eq(got, "-=16 7=12 x=3 y=2 ");
    pcol_result_free(top);
    pcol_query_free(query);
    done(m);
}

/* ---- time */

/* The example of five rows of which three stand for more than one sample: in units of 0.1 ms. */
static void idle_rows(struct made *m)
{
    static const struct {
        const char *word;
        int time, duration, weight, cpu;
    } rows[] = {{"a", 1000, 0, 1, 5},
                {"b", 1014, 42, 4, 1},
                {"c", 1070, 0, 1, 7},
                {"d", 1084, 28, 3, 6},
                {"d", 1126, 14, 2, 1}};
    uint32_t table, column, sources, thread = 0;
    begin(m, "samples", "count", 0);
    OK(pcol_builder_table(m->builder, "sources", &sources, &m->err));
    OK(pcol_builder_table(m->builder, "threads", &table, &m->err));
    OK(pcol_builder_column(m->builder, table, "source", PCOL_U32, sources + 1, &column, &m->err));
    OK(pcol_builder_set_i64(m->builder, column, 0, 0, &m->err));
    OK(pcol_builder_column(m->builder, table, "name", PCOL_STRING, 0, &column, &m->err));
    OK(pcol_builder_set_str(m->builder, column, 0, "main", 4, &m->err));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pcol_value value = {.sample_type = m->type, .as.i64 = rows[i].weight};
        pcol_sample s = PCOL_INIT(pcol_sample);
        s.source = m->source;
        s.thread = thread;
        s.stack = stack_of(m, rows[i].word);
        s.values = &value;
        s.value_count = 1;
        s.flags |= PCOL_SAMPLE_HAS_TIME | PCOL_SAMPLE_HAS_CPU_DELTA;
        s.time_ns = rows[i].time * 100000LL;
        s.duration_ns = rows[i].duration * 100000LL;
        s.flags |= rows[i].duration != 0 ? PCOL_SAMPLE_HAS_DURATION : 0;
        s.cpu_delta_ns = rows[i].cpu * 100000LL;
        OK(pcol_builder_sample(m->builder, &s, NULL, &m->err));
    }
    finish(m);
}

static pcol_selection range(double from_ms, double to_ms, pcol_time_share share)
{
    pcol_selection s = PCOL_INIT(pcol_selection);
    s.has_time = 1;
    s.time_from_ns = (int64_t)llround(from_ms * 1e6);
    s.time_to_ns = (int64_t)llround(to_ms * 1e6);
    s.time_share = share;
    return s;
}

static void check_cpu(struct made *m, double from, double to, double expected)
{
    pcol_selection s = range(from, to, PCOL_SHARE_PROPORTIONAL);
    pcol_query *query;
    pcol_result *cpu;
    OK(pcol_query_new(m->file, &s, NULL, &query, &m->err));
    OK(pcol_query_cpu(query, &cpu, &m->err));
    cr_assert_eq(result_rows(cpu), 1);
    double cpu_ns = result_amount(cpu, "cpu_ns", 0).f64;
    cr_assert(fabs(cpu_ns / 1e6 - expected) < 1e-6, "%g", cpu_ns);
    pcol_result_free(cpu);
    pcol_query_free(query);
}

Test(query, ranges_of_time)
{
    struct made m;
    pcol_selection s;
    idle_rows(&m);
    s = range(99, 116, PCOL_SHARE_PROPORTIONAL);
    check_top(&m, &s, PCOL_BY_FUNCTION, "d:5/5 b:4/4 a:1/1 c:1/1");
    s = range(100, 103, PCOL_SHARE_PROPORTIONAL);
    check_top(&m, &s, PCOL_BY_FUNCTION, "b:2/2 a:1/1");
    s = range(101, 104, PCOL_SHARE_PROPORTIONAL);
    check_top(&m, &s, PCOL_BY_FUNCTION, "b:2/2");
    s = range(109, 113, PCOL_SHARE_PROPORTIONAL);
    check_top(&m, &s, PCOL_BY_FUNCTION, "d:3/3");
    s = range(101.4, 103.5, PCOL_SHARE_EXACT);
    check_top(&m, &s, PCOL_BY_FUNCTION, "b:2/2");
    s = range(103.5, 107, PCOL_SHARE_ADDITIVE);
    check_top(&m, &s, PCOL_BY_FUNCTION, "b:2/2");
    s = range(107, 107, PCOL_SHARE_PROPORTIONAL);
    check_top(&m, &s, PCOL_BY_FUNCTION, "");
    check_cpu(&m, 99, 116, 2.0);
    check_cpu(&m, 99, 100.7, 0.55);
    check_cpu(&m, 105.6, 107, 0.7);
    check_cpu(&m, 106.3, 110, 0.35 + 0.6);
    done(&m);
}

/* ---- shares of time */

static int64_t share(pcol_time_share how, int64_t from, int64_t to, int64_t time, int64_t duration,
                     int64_t weight)
{
    struct pci_range range = {from, to, how};
    pcol_amount amount = {.i64 = weight};
    return pci_time_overlap(&range, 0, time, duration, &amount) ? amount.i64 : 0;
}

Test(query, shares)
{
    cr_assert_eq(share(PCOL_SHARE_PROPORTIONAL, 0, 10, 10, 0, 7), 0);
    cr_assert_eq(share(PCOL_SHARE_PROPORTIONAL, 10, 11, 10, 0, 7), 7);
    cr_assert_eq(share(PCOL_SHARE_PROPORTIONAL, 0, 5, 0, 10, 7), 4);   /* 3.5 */
    cr_assert_eq(share(PCOL_SHARE_PROPORTIONAL, 0, 5, 0, 10, -7), -3); /* floor(-3.5 + 0.5) */
    cr_assert_eq(share(PCOL_SHARE_PROPORTIONAL, 5, 10, 0, 10, 7), 4);
    cr_assert_eq(share(PCOL_SHARE_ADDITIVE, 5, 10, 0, 10, 7), 3);
    cr_assert_eq(
        share(PCOL_SHARE_PROPORTIONAL, INT64_MIN, INT64_MAX, INT64_MAX - 1, INT64_MAX, INT64_MIN),
        -1);
    cr_assert_eq(share(PCOL_SHARE_ADDITIVE, INT64_MIN, INT64_MAX, -5, 10, INT64_MIN), INT64_MIN);
    for (int64_t cut = 0; cut <= 13; cut++)
        cr_assert_eq(share(PCOL_SHARE_ADDITIVE, 0, cut, 2, 9, 5) +
                         share(PCOL_SHARE_ADDITIVE, cut, 20, 2, 9, 5),
                     5);
}

/* ---- functions that are known by nothing but an address ---- */

/* One sample of a function in a mapping (PCOL_NONE: in none). */
static void bare_sample(struct made *m, const char *name, uint32_t mapping)
{
    pcol_sample s = PCOL_INIT(pcol_sample);
    pcol_value value = {.sample_type = m->type, .as.i64 = 1};
    pcol_line line = {0};
    pcol_group g = PCOL_INIT(pcol_group);
    uint32_t row;
    line.function = function(m, name, strlen(name), NULL);
    line.filename = PCOL_NONE;
    g.lines = &line;
    g.line_count = 1;
    g.mapping = mapping;
    OK(pcol_builder_group(m->builder, &g, &row, &m->err));
    s.source = m->source;
    OK(pcol_builder_stack(m->builder, 0, row, &s.stack, &m->err));
    s.values = &value;
    s.value_count = 1;
    s.thread = PCOL_NONE;
    OK(pcol_builder_sample(m->builder, &s, NULL, &m->err));
}

static void add_mappings(struct made *m, const char *const *paths, size_t count)
{
    uint32_t table, column;
    OK(pcol_builder_table(m->builder, "mappings", &table, &m->err));
    OK(pcol_builder_column(m->builder, table, "filename", PCOL_STRING, 0, &column, &m->err));
    for (size_t i = 0; i < count; i++)
        OK(pcol_builder_set_str(m->builder, column, i, paths[i], strlen(paths[i]), &m->err));
}

Test(query, addresses_are_called_with_their_library)
{
    static const char *const paths[] = {"/lib/liba.so", "C/b/", "///"};
    static const char *const expected[] = {"liba.so+0x10", "b+0xFf",
                                           "liba.so+0x20", /* one function in two libraries */
                                           "b+0x20",       "0x30", /* in none */
                                           "0x40",                 /* in one without a name */
                                           "0x",           "0x12345678901234567",
                                           "0x1g"};
    struct made made, *m = &made;
    pcol_names *names;
    pcol_str name;
    int valid;
    begin(m, "samples", "count", 0);
    add_mappings(m, paths, 3);
    bare_sample(m, "0x10", 0);
    bare_sample(m, "0xFf", 1);
    bare_sample(m, "0x20", 0);
    bare_sample(m, "0x20", 1);
    bare_sample(m, "0x30", PCOL_NONE);
    bare_sample(m, "0x40", 2);
    bare_sample(m, "0x", 0);
    bare_sample(m, "0x12345678901234567", 0);
    bare_sample(m, "0x1g", 0);
    finish(m);
    OK(pcol_names_new(m->file, &names, &m->err));
    for (uint64_t row = 0; row < sizeof expected / sizeof *expected; row++) {
        OK(pcol_names_location(names, row, &name, &m->err));
        cr_assert(name.size == strlen(expected[row]) &&
                      memcmp(name.data, expected[row], name.size) == 0,
                  "row %d: %.*s", (int)row, (int)name.size, name.data);
    }
    OK(pcol_names_function(names, 2, &name, &valid, &m->err));
    cr_assert(valid && name.size == 4 && memcmp(name.data, "0x20", 4) == 0);
    cr_assert_eq(pcol_names_function(names, 100, &name, &valid, &m->err), PCOL_E_ARGUMENT);
    pcol_names_free(names);
    pcol_names_free(NULL);
    check_top(m, NULL, PCOL_BY_FUNCTION,
              "0x:1/1 0x12345678901234567:1/1 0x1g:1/1 0x30:1/1 0x40:1/1 b+0x20:1/1 b+0xFf:1/1 "
              "liba.so+0x10:1/1 liba.so+0x20:1/1");
    done(m);
}
