/*
 * answer_info.c - "info": sample types, sources, threads, label keys and times of a file
 */
#include "answer_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 10000 }; /* sources, threads and keys: a list of more helps nobody */

pcol_status answer_find_table(const pcol_file *file, const char *name, const pcol_table **table,
                              uint64_t *rows, pcol_error *err)
{
    pcol_status status = pcol_file_table_by_name(file, PCOL_MODEL_V2, name, table, err);

    if (status == PCOL_E_NOT_FOUND)
        status = pcol_file_table_by_name(file, PCOL_MODEL_FURTHER, name, table, err);
    if (status == PCOL_E_NOT_FOUND) {
        *table = NULL;
        status = PCOL_OK;
    }
    *rows = status == PCOL_OK && *table != NULL ? pcol_table_rows(*table) : 0;
    return status;
}

pcol_status answer_find_column(const pcol_table *table, const char *name,
                               const pcol_column **column, pcol_error *err)
{
    *column = table != NULL ? pcol_table_column_by_name(table, name, NULL) : NULL;
    return *column != NULL ? pcol_column_verify(*column, err) : PCOL_OK;
}

/* A text of a table as a member of the current object; none if it is null or has no column. */
static pcol_status put_text(struct bytes *json, const pcol_table *table, const char *column,
                            const char *key, uint64_t row, pcol_error *err)
{
    const pcol_column *c;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_str text;
    int valid = 0;

    pcol_status status = answer_find_column(table, column, &c, err);
    if (status == PCOL_OK && c != NULL)
        status = pcol_column_describe(c, &info, err);
    if (status != PCOL_OK || c == NULL)
        return status;
    if (info.type != PCOL_STRING && info.type != PCOL_BYTES) {
        int64_t number;
        status = pcol_column_i64(c, row, &number, &valid, err);
        if (status == PCOL_OK && valid)
            bytes_member(json, key, number);
        return status;
    }
    status = pcol_column_str(c, row, &text, &valid, err);
    if (status == PCOL_OK && valid)
        bytes_member_text(json, key, text);
    return status;
}

/* An array of objects: one for each row, with the given columns. */
static pcol_status put_rows(struct bytes *json, const pcol_file *file, const char *name,
                            const char *key, const char *const (*columns)[2], size_t count,
                            pcol_error *err)
{
    const pcol_table *table;
    uint64_t rows;
    pcol_status status = answer_find_table(file, name, &table, &rows, err);

    bytes_key(json, key);
    bytes_text(json, "[");
    for (uint64_t row = 0; row < rows && row < MOST_LISTED && status == PCOL_OK; row++) {
        bytes_comma(json);
        bytes_text(json, "{");
        for (size_t i = 0; i < count && status == PCOL_OK; i++)
            status = put_text(json, table, columns[i][0], columns[i][1], row, err);
        bytes_text(json, "}");
    }
    bytes_text(json, "]");
    return status;
}

static pcol_status put_samples(struct bytes *json, const pcol_file *file, pcol_error *err)
{
    const pcol_table *table;
    pcol_str *keys = malloc(MOST_LISTED * sizeof *keys);
    uint64_t rows;
    size_t count = 0;
    pcol_status status = answer_find_table(file, "samples", &table, &rows, err);

    bytes_member(json, "samples", (int64_t)rows);
    bytes_key(json, "labels");
    bytes_text(json, "[");
    if (status == PCOL_OK)
        status = keys != NULL ? pcol_label_keys(file, keys, MOST_LISTED, &count, err)
                              : pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    for (size_t i = 0; i < count && i < MOST_LISTED && status == PCOL_OK; i++) {
        if (keys[i].size > 0 && memchr(keys[i].data, '\0', keys[i].size) != NULL)
            continue; /* no option can name it */
        bytes_comma(json);
        bytes_json(json, keys[i]);
    }
    free(keys);
    bytes_text(json, "]");
    return status;
}

pcol_status answer_info(answer *a, const struct request *r, pcol_error *err)
{
    static const char *const types[][2] = {
        {"type", "type"}, {"unit", "unit"}, {"ordinal", "ordinal"}, {"level", "gauge"}};
    static const char *const sources[][2] = {{"source_id", "id"},
                                             {"source_type", "type"},
                                             {"source_uri", "uri"},
                                             {"source_timestamp", "timestamp"}};
    static const char *const threads[][2] = {
        {"row", "row"}, {"name", "name"}, {"tid", "tid"}, {"pid", "pid"}, {"source_id", "source"}};
    int slot = request_integer(r, "slot", 0) != 0;
    struct bytes *json = &a->buffers[0];
    const pcol_file *file = a->file[slot];
    const pcol_table *markers;
    uint64_t marker_count = 0;
    uint32_t type;

    if (file == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "no such profile");
    bytes_text(json, "{");
    bytes_member(json, "bytes", (int64_t)pcol_file_size(file));
    pcol_status status = pcol_file_default_type(file, &type, err);
    if (status == PCOL_OK)
        bytes_member(json, "type", type == PCOL_NONE ? -1 : (int64_t)type);
    if (status == PCOL_OK)
        status = put_rows(json, file, "sample_types", "types", types, 4, err);
    if (status == PCOL_OK)
        status = put_rows(json, file, "sources", "sources", sources, 4, err);
    if (status == PCOL_OK)
        status = put_rows(json, file, "threads", "threads", threads, 5, err);
    if (status == PCOL_OK)
        status = put_samples(json, file, err);
    if (status == PCOL_OK)
        status = answer_find_table(file, "markers", &markers, &marker_count, err);
    bytes_member(json, "markers", (int64_t)marker_count);
    bytes_text(json, "}");
    return status;
}
