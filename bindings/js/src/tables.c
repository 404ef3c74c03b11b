/*
 * tables.c - tables, their columns as arrays, and queries, whose results are tables
 */
#include "toolkit.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

EXPORT(toolkit_table_name)
const char *toolkit_table_name(const pcol_file *file, int model, uint32_t index)
{
    return pcol_file_table_name(file, (pcol_model)model, index);
}

EXPORT(toolkit_table)
const pcol_table *toolkit_table(const pcol_file *file, int model, const char *name)
{
    const pcol_table *table;
    pcol_status status =
        pcol_file_table_by_name(file, (pcol_model)model, name, &table, &toolkit_failure);
    return status == PCOL_OK ? table : NULL;
}

/* Slots: rows, columns. */
EXPORT(toolkit_table_size) void toolkit_table_size(const pcol_table *table)
{
    toolkit_record[0] = pcol_table_rows(table);
    toolkit_record[1] = pcol_table_column_count(table);
}

/* Slots: name, type, unit, references, documentation, nullable. 0: it failed. */
EXPORT(toolkit_column_info) int toolkit_column_info(const pcol_table *table, uint32_t index)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    if (pcol_column_describe(pcol_table_column(table, index), &info, &toolkit_failure) != PCOL_OK)
        return 0;
    record_pointer(0, info.name);
    record_pointer(1, pcol_type_name(info.type));
    record_pointer(2, info.unit);
    record_pointer(3, info.references);
    record_pointer(4, info.documentation);
    toolkit_record[5] = (uint64_t)info.nullable;
    return 1;
}

/* Slots: type, flags, width, rows, nulls, validity, values, data, bytes of data. */
EXPORT(toolkit_column) int toolkit_column(const pcol_table *table, uint32_t index)
{
    pcol_array array = PCOL_INIT(pcol_array);
    if (pcol_column_array(pcol_table_column(table, index), &toolkit_control, &array,
                          &toolkit_failure) != PCOL_OK)
        return 0;
    toolkit_record[0] = array.type;
    toolkit_record[1] = array.flags;
    toolkit_record[2] = array.width_bits;
    toolkit_record[3] = array.rows;
    toolkit_record[4] = array.null_count;
    record_pointer(5, array.validity);
    record_pointer(6, array.values);
    record_pointer(7, array.data);
    toolkit_record[8] = array.data_bytes;
    return 1;
}

/* Slots: text of the pool, bytes. 0: no such code, or the file is damaged. */
EXPORT(toolkit_string) int toolkit_string(const pcol_file *file, uint32_t code)
{
    pcol_str text;
    if (pcol_file_string(file, code, &text, &toolkit_failure) != PCOL_OK)
        return 0;
    record_text(0, text);
    return 1;
}

/* The keys of labels, for each its text and bytes, which the caller releases. Slot 0: keys. 0: it
 * failed. */
EXPORT(toolkit_label_keys) pcol_str *toolkit_label_keys(const pcol_file *file)
{
    size_t count, places;
    if (pcol_label_keys(file, NULL, 0, &count, &toolkit_failure) != PCOL_OK)
        return NULL;
    pcol_str *keys = malloc((count ? count : 1) * sizeof *keys);
    if (!keys) {
        pcol_error_set(&toolkit_failure, PCOL_E_NO_MEMORY, 0, NULL);
        return NULL;
    }
    places = count;
    if (pcol_label_keys(file, keys, places, &count, &toolkit_failure) != PCOL_OK) {
        free(keys);
        return NULL;
    }
    toolkit_record[0] = places;
    return keys;
}

/* ---- lists ---- */

struct lists {
    struct bytes ends, values; /* of i64 */
};

static pcol_status append_batch(struct lists *lists, const pcol_batch *batch)
{
    const pcol_cells *cells = &batch->columns[0];
    uint64_t before = lists->values.size / sizeof(int64_t) - cells->list[0];
    size_t count = (size_t)(cells->list[batch->rows] - cells->list[0]);
    pcol_status status =
        bytes_append(&lists->values, cells->list_values + cells->list[0], count * sizeof(int64_t));
    for (size_t i = 1; i <= batch->rows && status == PCOL_OK; i++)
        status = bytes_append(&lists->ends, &(uint64_t){before + cells->list[i]}, sizeof(uint64_t));
    return status;
}

static pcol_status read_lists(const pcol_table *table, uint32_t column, struct lists *lists)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_scan *scan;
    options.columns = &column;
    options.column_count = 1;
    pcol_status status = pcol_scan_new(table, &options, &scan, &toolkit_failure);
    if (status != PCOL_OK)
        return status;
    do {
        status = pcol_scan_next(scan, &batch, &toolkit_failure);
        if (status == PCOL_OK && batch.rows && append_batch(lists, &batch) != PCOL_OK)
            status = pcol_error_set(&toolkit_failure, PCOL_E_NO_MEMORY, 0, NULL);
    } while (status == PCOL_OK && batch.rows);
    pcol_scan_free(scan);
    return status;
}

/* A column of lists: slots: the end of each row's list in the values, number of ends, values,
 * number of values. The caller releases both. */
EXPORT(toolkit_lists) int toolkit_lists(const pcol_table *table, uint32_t column)
{
    struct lists lists = {{0}, {0}};
    if (read_lists(table, column, &lists) != PCOL_OK) {
        free(lists.ends.data);
        free(lists.values.data);
        return 0;
    }
    record_pointer(0, lists.ends.data);
    toolkit_record[1] = lists.ends.size / sizeof(int64_t);
    record_pointer(2, lists.values.data);
    toolkit_record[3] = lists.values.size / sizeof(int64_t);
    return 1;
}

/* ---- queries ---- */

static pcol_status ask_flame(pcol_query *query, pcol_query *base, const struct request *request,
                             pcol_result **result)
{
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    options.base = base;
    options.flags = PCOL_FLAME_INVERTED_HIGH; /* as the command draws it */
    options.flags |= request_flag(request, "reverse") ? PCOL_FLAME_REVERSE : 0;
    options.width_px = (uint32_t)request_integer(request, "width", 0);
    return pcol_query_flame(query, &options, result, &toolkit_failure);
}

static pcol_status ask(pcol_query *query, pcol_query *base, const struct request *request,
                       pcol_result **result)
{
    const char *kind = request_text(request, "kind"), *label;
    pcol_top_options top = PCOL_INIT(pcol_top_options);
    pcol_tree_options tree = PCOL_INIT(pcol_tree_options);
    pcol_diff_options diff = PCOL_INIT(pcol_diff_options);
    pcol_status status = request_rows(request, &top.by, &top.order, &label);
    if (status != PCOL_OK)
        return status;
    tree.by = diff.by = top.by;
    tree.order = diff.order = top.order;
    top.label = diff.label = label;
    tree.flags = request_flag(request, "bottomUp") ? PCOL_TREE_BOTTOM_UP : 0;
    tree.max_depth = (uint32_t)request_integer(request, "depth", 0);
    diff.flags = request_flag(request, "normalize") ? PCOL_DIFF_NORMALIZE : 0;
    if (!strcmp(kind, "flame"))
        return ask_flame(query, base, request, result);
    if (!strcmp(kind, "diff"))
        return pcol_diff(base, query, &diff, result, &toolkit_failure);
    if (!strcmp(kind, "tree"))
        return pcol_query_tree(query, &tree, result, &toolkit_failure);
    if (!strcmp(kind, "peek"))
        return pcol_query_peek(query, request_text(request, "function"), NULL, result,
                               &toolkit_failure);
    return pcol_query_top(query, &top, result, &toolkit_failure);
}

/* Notice of what a reader of the answer has to know, such as a pattern that matches nothing. */
static void give_note(const pcol_query *query)
{
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    pcol_notice notice = PCOL_INIT(pcol_notice);
    if (!query || pcol_query_describe(query, &info, NULL) != PCOL_OK || !info.note)
        return;
    notice.code = PCOL_NOTICE_SELECTION;
    notice.format = notice.subject = "";
    notice.text = info.note;
    toolkit_control.notice(NULL, &notice);
}

static pcol_status ask_files(const pcol_file *file, const pcol_file *base_file,
                             const struct request *request, pcol_result **result)
{
    pcol_query *query = NULL, *base = NULL;
    struct selection chosen;
    pcol_sample_type shared;
    int is_default;
    pcol_status status = request_selection(request, &chosen);
    if (status == PCOL_OK && base_file && !chosen.selection.sample_type) {
        status = pcol_query_shared_type(&base_file, 1, file, &chosen.selection, &shared,
                                        &is_default, &toolkit_failure);
        chosen.selection.exact_type = &shared;
    }
    if (status == PCOL_OK)
        status =
            pcol_query_new(file, &chosen.selection, &toolkit_control, &query, &toolkit_failure);
    if (status == PCOL_OK && base_file)
        status =
            pcol_query_new(base_file, &chosen.selection, &toolkit_control, &base, &toolkit_failure);
    if (status == PCOL_OK)
        status = ask(query, base, request, result);
    if (status == PCOL_OK) {
        give_note(query);
        give_note(base);
    }
    pcol_query_free(query);
    pcol_query_free(base);
    return status;
}

/* Slots: table, type, bytes, unit, bytes, is double, totals (bits), scale (bits). `base` may be
 * NULL. */
EXPORT(toolkit_ask)
pcol_result *toolkit_ask(const pcol_file *file, const pcol_file *base, const char *text,
                         size_t text_size)
{
    struct request request = {text, text_size};
    pcol_result_info info = PCOL_INIT(pcol_result_info);
    pcol_result *result;
    if (ask_files(file, base, &request, &result) != PCOL_OK)
        return NULL;
    if (pcol_result_describe(result, &info, &toolkit_failure) != PCOL_OK) {
        pcol_result_free(result);
        return NULL;
    }
    record_pointer(0, pcol_result_table(result));
    record_text(1, info.type);
    record_text(3, info.unit);
    toolkit_record[5] = info.flags & PCOL_RESULT_IS_DOUBLE;
    memcpy(toolkit_record + 6, info.total, sizeof info.total);
    memcpy(toolkit_record + 8, &info.scale, sizeof info.scale);
    return result;
}

EXPORT(toolkit_result_free) void toolkit_result_free(pcol_result *result)
{
    pcol_result_free(result);
}

/* A flame graph as SVG. Slot 0: bytes. The caller releases them. */
EXPORT(toolkit_svg) void *toolkit_svg(const pcol_result *flame, const char *title)
{
    struct bytes bytes = {0};
    if (pcol_flame_svg(flame, title, bytes_sink(&bytes), &toolkit_failure) != PCOL_OK) {
        free(bytes.data);
        return NULL;
    }
    toolkit_record[0] = bytes.size;
    return bytes.data;
}
