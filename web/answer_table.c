/*
 * answer_table.c - "top" and "peek": rows of results, also compared with the base
 */
#include "answer_internal.h"

#include <string.h>

/* Buffers of both: 1 to 5 names, files, lines; self and total, of a comparison also the base's;
 * then ids of threads or sources, or relations. */
enum { NAMES = 1, FILES, LINES, AMOUNTS };

static const pcol_column *find(const pcol_result *result, const char *name)
{
    return pcol_table_column_by_name(pcol_result_table(result), name, NULL);
}

static uint64_t row_count(const pcol_result *result)
{
    return pcol_table_rows(pcol_result_table(result));
}

static pcol_status put_texts(answer *a, size_t buffer, const pcol_result *result, const char *name,
                             pcol_error *err)
{
    const pcol_column *column = find(result, name);
    pcol_status status = PCOL_OK;

    for (uint64_t row = 0; row < row_count(result) && status == PCOL_OK; row++) {
        pcol_str text = {"", 0};
        int valid = 0;
        if (column != NULL)
            status = pcol_column_str(column, row, &text, &valid, err);
        answer_text(a, buffer, valid ? text : (pcol_str){"", 0});
    }
    return status;
}

/* Numbers as doubles, -1 where null; `add` is added to the others. */
static pcol_status put_numbers(answer *a, size_t buffer, const pcol_result *result,
                               const char *name, double add, pcol_error *err)
{
    const pcol_column *column = find(result, name);
    pcol_status status = PCOL_OK;

    for (uint64_t row = 0; row < row_count(result) && status == PCOL_OK; row++) {
        double value = 0;
        int valid = 0;
        if (column != NULL)
            status = pcol_column_f64(column, row, &value, &valid, err);
        bytes_f64(&a->buffers[buffer], valid ? value + add : -1);
    }
    return status;
}

static pcol_status put_amounts(answer *a, size_t buffer, const pcol_result *result,
                               const char *name, int is_double, pcol_error *err)
{
    const pcol_column *column = find(result, name);
    size_t count = (size_t)row_count(result);
    void *target = count > 0 ? bytes_extend(&a->buffers[buffer], count * 8) : NULL;

    if (count == 0)
        return PCOL_OK;
    if (column == NULL || target == NULL)
        return pcol_error_set(err, target == NULL ? PCOL_E_NO_MEMORY : PCOL_E_STATE, 0, NULL);
    return is_double ? pcol_column_read_f64(column, 0, count, target, NULL, err)
                     : pcol_column_read_i64(column, 0, count, target, NULL, err);
}

/* What all rows have, and the JSON object. columns: pairs of amounts, ends with NULL. */
static pcol_status put_rows(answer *a, const pcol_result *result, const char *const *columns,
                            pcol_error *err)
{
    pcol_result_info info = PCOL_INIT(pcol_result_info);
    pcol_status status = pcol_result_describe(result, &info, err);
    int is_double = (info.flags & PCOL_RESULT_IS_DOUBLE) != 0;

    bytes_text(&a->buffers[0], "{");
    bytes_member(&a->buffers[0], "double", is_double);
    bytes_member(&a->buffers[0], "rows", (int64_t)row_count(result));
    bytes_text(&a->buffers[0], "}");
    if (status == PCOL_OK)
        status = put_texts(a, NAMES, result, "name", err);
    if (status == PCOL_OK)
        status = put_texts(a, FILES, result, "file", err);
    if (status == PCOL_OK)
        status = put_numbers(a, LINES, result, "line", 0, err);
    a->count = AMOUNTS;
    for (; *columns != NULL && status == PCOL_OK; columns++)
        status = put_amounts(a, a->count++, result, *columns, is_double, err);
    return status;
}

pcol_status answer_top(answer *a, const struct request *r, pcol_error *err)
{
    static const char *const plain[] = {"self", "total", NULL};
    static const char *const compared[] = {"self_new", "total_new", "self_base", "total_base",
                                           NULL};
    pcol_top_options top = PCOL_INIT(pcol_top_options);
    pcol_diff_options diff = PCOL_INIT(pcol_diff_options);
    pcol_result *result = NULL;
    int has_base = a->query[ANSWER_BASE] != NULL;
    pcol_status status = request_by(a, r, &top.by, &top.label, err);

    diff.by = top.by;
    diff.label = top.label;
    if (status == PCOL_OK)
        status = has_base
                     ? pcol_diff(a->query[ANSWER_BASE], a->query[ANSWER_NEW], &diff, &result, err)
                     : pcol_query_top(a->query[ANSWER_NEW], &top, &result, err);
    if (status == PCOL_OK)
        status = put_rows(a, result, has_base ? compared : plain, err);
    if (status == PCOL_OK) /* rows count from 0, ids of sources from 1 */
        status = top.by == PCOL_BY_SOURCE ? put_numbers(a, a->count, result, "source", 1, err)
                                          : put_numbers(a, a->count, result, "thread", 0, err);
    a->count++;
    pcol_result_free(result);
    return status;
}

/* Relations as numbers: 0 caller, 1 the function, 2 callee. */
static pcol_status put_relations(answer *a, const pcol_result *result, pcol_error *err)
{
    const pcol_column *column = find(result, "relation");
    pcol_status status = PCOL_OK;

    for (uint64_t row = 0; row < row_count(result) && status == PCOL_OK; row++) {
        pcol_str text = {"", 0};
        status = pcol_column_str(column, row, &text, NULL, err);
        bytes_u32(&a->buffers[a->count], text.size == 8                          ? 1
                                         : text.size == 6 && text.data[5] == 'r' ? 0
                                                                                 : 2);
    }
    a->count++;
    return status;
}

pcol_status answer_peek(answer *a, const struct request *r, pcol_error *err)
{
    static const char *const plain[] = {"self", "total", NULL};
    int slot = request_integer(r, "slot", 0) != 0;
    pcol_view_frame frame = PCOL_INIT(pcol_view_frame);
    pcol_result *result = NULL;

    if (a->query[slot] == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "there is no base");
    pcol_status status =
        pcol_view_get(a->view, (uint32_t)request_integer(r, "frame", 0), &frame, err);
    if (status == PCOL_OK)
        status = answer_check_word(frame.name, err);
    pcol_peek_options options = PCOL_INIT(pcol_peek_options);
    options.flags = PCOL_PEEK_WHOLE;
    a->key.used = 0;
    a->key.failed = PCOL_OK;
    bytes_add(&a->key, frame.name.data, frame.name.size);
    bytes_add(&a->key, "", 1);
    if (status == PCOL_OK && a->key.failed != PCOL_OK)
        status = pcol_error_set(err, a->key.failed, 0, NULL);
    if (status == PCOL_OK)
        status = pcol_query_peek(a->query[slot], (const char *)a->key.data, &options, &result, err);
    if (status == PCOL_OK)
        status = put_rows(a, result, plain, err);
    if (status == PCOL_OK)
        status = put_relations(a, result, err);
    pcol_result_free(result);
    return status;
}
