/*
 * test_error_option.c - errors and notices name the member or flag that they are about
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "pcol.h"

static pcol_file *open_text(const char *text)
{
    pcol_file *file;
    cr_assert_eq(pcol_open_any_memory(text, strlen(text), "x", NULL, &file, NULL), PCOL_OK);
    return file;
}

static void expect_import(const char *text, const pcol_import_options *options, pcol_status status,
                          const char *option)
{
    pcol_file *file;
    pcol_error err;
    cr_expect_eq(pcol_open_any_memory(text, strlen(text), "x", options, &file, &err), status, "%s",
                 text);
    cr_expect_str_eq(err.option, option, "%s: %s", text, err.message);
    cr_expect(!strstr(err.message, "--"), "%s", err.message);
}

Test(error_option, imports)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    expect_import("neither of any format", NULL, PCOL_E_FORMAT, "format");
    expect_import("sample.interval=9223372036854775808\n\"f\" \n", NULL, PCOL_E_SYNTAX, "lenient");
    expect_import("a;b one\n", &options, PCOL_E_FORMAT, "format");
    options.max_input_bytes = 3;
    expect_import("a;b 1\n", &options, PCOL_E_LIMIT, "max_input_bytes");
}

static void expect_query(const pcol_file *file, const pcol_selection *selection, const char *option)
{
    pcol_query *query;
    pcol_error err;
    cr_expect_eq(pcol_query_new(file, selection, NULL, &query, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.option, option, "%s", err.message);
}

Test(error_option, selections)
{
    pcol_file *file = open_text("a;b 1\nc 2\n");
    const char *bad[] = {"host"}, *pattern[] = {"k~("};
    expect_query(file, &(pcol_selection){sizeof(pcol_selection), .focus = "("}, "focus");
    expect_query(file, &(pcol_selection){sizeof(pcol_selection), .show = "["}, "show");
    expect_query(file, &(pcol_selection){sizeof(pcol_selection), .source = "2"}, "source");
    expect_query(file, &(pcol_selection){sizeof(pcol_selection), .source = "no"}, "source");
    expect_query(file, &(pcol_selection){sizeof(pcol_selection), .thread = "no"}, "thread");
    expect_query(file, &(pcol_selection){sizeof(pcol_selection), .labels = bad, .label_count = 1},
                 "labels");
    expect_query(file,
                 &(pcol_selection){sizeof(pcol_selection), .labels = pattern, .label_count = 1},
                 "labels");
    expect_query(
        file,
        &(pcol_selection){sizeof(pcol_selection), .source_metas = bad, .source_meta_count = 1},
        "source_metas");
    pcol_file_close(file);
}

static void expect_note(const pcol_file *file, const pcol_selection *selection, const char *option)
{
    pcol_query *query;
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    cr_assert_eq(pcol_query_new(file, selection, NULL, &query, NULL), PCOL_OK);
    cr_assert_eq(pcol_query_describe(query, &info, NULL), PCOL_OK);
    cr_assert_not_null(info.note);
    cr_assert_not_null(info.note_option, "%s", info.note);
    cr_expect_str_eq(info.note_option, option, "%s", info.note);
    pcol_query_free(query);
}

Test(error_option, notes)
{
    pcol_file *file = open_text("a;b 1\nc 2\n");
    expect_note(file, &(pcol_selection){sizeof(pcol_selection), .hide = "none"}, "hide");
    expect_note(file,
                &(pcol_selection){sizeof(pcol_selection), .flags = PCOL_SELECTION_HAS_ORDER,
                                  .order_from = 9, .order_to = 10},
                "order_from");
    pcol_file_close(file);
}

struct notices {
    int code;
    char option[32], text[200];
};

static void take(void *context, const pcol_notice *notice)
{
    struct notices *n = context;
    n->code = (int)notice->code;
    snprintf(n->option, sizeof n->option, "%s", notice->option);
    snprintf(n->text, sizeof n->text, "%s", notice->text);
}

Test(error_option, notices)
{
    struct notices n = {0};
    pcol_control control = {sizeof control, &n, NULL, take};
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_file *file = open_text("a;b 1\nc 2\n");
    const pcol_table *table;
    pcol_scan *scan;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "samples", &table, NULL), PCOL_OK);
    selection.ignore = "none";
    options.selection = &selection;
    options.control = &control;
    cr_assert_eq(pcol_scan_new(table, &options, &scan, NULL), PCOL_OK);
    cr_expect_eq(n.code, PCOL_NOTICE_SELECTION);
    cr_expect_str_eq(n.option, "ignore");
    cr_expect_str_eq(n.text, "ignore matches no frame");
    pcol_scan_free(scan);
    pcol_file_close(file);
}
