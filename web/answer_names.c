/*
 * answer_names.c - names in requests: the page sends them as it got them, with \xNN for bytes that
 * bytes_utf8() does not show
 */
#include "answer_internal.h"

#include <stdlib.h>
#include <string.h>

static pcol_str as_given(const char *shown)
{
    return (pcol_str){shown, strlen(shown)};
}

static int is_escaped(const char *shown)
{
    return strstr(shown, "\\x") != NULL;
}

static int is_shown(pcol_str text, const char *shown)
{
    struct bytes b = {0};

    bytes_utf8(&b, text);
    bytes_add(&b, "", 1);
    int is_same = b.failed == PCOL_OK && strcmp((const char *)b.data, shown) == 0;
    free(b.data);
    return is_same;
}

/* The first text of a column that is shown so; *found is unchanged if there is none. */
static pcol_status find_text(const pcol_table *table, const char *name, const char *shown,
                             pcol_str *found, pcol_error *err)
{
    const pcol_column *column = NULL;
    pcol_status status = PCOL_OK;

    if (table != NULL)
        status = answer_find_column(table, name, &column, err);
    for (uint64_t row = 0; column != NULL && status == PCOL_OK && row < pcol_table_rows(table);
         row++) {
        pcol_str text;
        int valid;
        status = pcol_column_str(column, row, &text, &valid, err);
        if (status != PCOL_OK || !valid || !is_shown(text, shown))
            continue;
        *found = text;
        break;
    }
    return status;
}

pcol_status answer_find_thread(const pcol_file *file, const char *shown, pcol_str *name,
                               pcol_error *err)
{
    const pcol_table *threads;
    uint64_t rows;

    *name = as_given(shown);
    if (!is_escaped(shown))
        return PCOL_OK;
    pcol_status status = answer_find_table(file, "threads", &threads, &rows, err);
    if (status == PCOL_OK)
        status = find_text(threads, "tid", shown, name, err);
    return status == PCOL_OK ? find_text(threads, "name", shown, name, err) : status;
}

pcol_status answer_find_key(const pcol_file *file, const char *shown, pcol_str *key,
                            pcol_error *err)
{
    size_t count;
    pcol_str *keys;

    *key = as_given(shown);
    if (!is_escaped(shown))
        return PCOL_OK;
    pcol_status status = pcol_label_keys(file, NULL, 0, &count, err);
    if (status != PCOL_OK)
        return status;
    keys = malloc((count + 1) * sizeof *keys);
    if (keys == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    status = pcol_label_keys(file, keys, count, &count, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++)
        if (is_shown(keys[i], shown))
            *key = keys[i];
    free(keys);
    return status;
}

pcol_status answer_find_value(const pcol_file *file, const pcol_selection *selection, pcol_str key,
                              const char *shown, pcol_result **values, pcol_str *value,
                              pcol_error *err)
{
    pcol_top_options top = PCOL_INIT(pcol_top_options);
    pcol_query *query = NULL;
    struct bytes label = {0};

    *value = as_given(shown);
    if (!is_escaped(shown))
        return PCOL_OK;
    bytes_add(&label, key.data, key.size);
    bytes_add(&label, "", 1);
    top.by = PCOL_BY_LABEL;
    top.label = (const char *)label.data;
    pcol_status status = label.failed == PCOL_OK
                             ? pcol_query_new(file, selection, NULL, &query, err)
                             : pcol_error_set(err, label.failed, 0, NULL);
    if (status == PCOL_OK)
        status = pcol_query_top(query, &top, values, err);
    if (status == PCOL_OK)
        status = find_text(pcol_result_table(*values), "name", shown, value, err);
    pcol_query_free(query);
    free(label.data);
    return status;
}
