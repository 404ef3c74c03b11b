/*
 * answer_markers.c - "marker" and "markers": the data of one marker, and the markers as rows
 *
 * Also the functions that these requests share with those of the lanes (answer_tracks.c).
 */
#include "answer_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MARKERS = 200000, MOST_DATA_BYTES = 1000 };

/* ---- reading ---- */

/* A table in which all numbers are as in the file; NULL and 0 rows if it has none. */
pcol_status answer_find_physical(const pcol_file *file, const char *name, const pcol_table **table,
                                 size_t *rows, pcol_error *err)
{
    pcol_status status = pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, table, err);

    *rows = 0;
    if (status == PCOL_E_NOT_FOUND) {
        *table = NULL;
        return PCOL_OK;
    }
    if (status == PCOL_OK && pcol_table_rows(*table) > UINT32_MAX)
        return pcol_error_set(err, PCOL_E_LIMIT, 0, "too many rows in %s", name);
    if (status == PCOL_OK)
        *rows = (size_t)pcol_table_rows(*table);
    return status;
}

/* A column of integers, `otherwise` where null or without the column. The caller frees it. */
pcol_status answer_integers(const pcol_table *table, const char *name, size_t rows,
                            int64_t otherwise, int64_t **values, pcol_error *err)
{
    const pcol_column *column = pcol_table_column_by_name(table, name, NULL);
    uint8_t *valid = malloc(rows + 1);
    pcol_status status = PCOL_OK;

    *values = malloc((rows + 1) * sizeof **values);
    if (*values == NULL || valid == NULL)
        status = pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    else if (column != NULL && rows > 0)
        status = pcol_column_read_i64(column, 0, rows, *values, valid, err);
    for (size_t i = 0; i < rows && status == PCOL_OK; i++)
        if (column == NULL || !valid[i])
            (*values)[i] = otherwise;
    free(valid);
    return status;
}

/* A text of a row as a member; none without the column. */
pcol_status answer_put_text(struct bytes *json, const pcol_table *table, const char *column,
                            const char *key, uint64_t row, pcol_error *err)
{
    const pcol_column *c;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_str text;
    int valid;

    if (table == NULL || row >= pcol_table_rows(table))
        return PCOL_OK;
    pcol_status status = answer_find_column(table, column, &c, err);
    if (status == PCOL_OK && c != NULL)
        status = pcol_column_describe(c, &info, err);
    if (status != PCOL_OK || c == NULL || (info.type != PCOL_STRING && info.type != PCOL_BYTES))
        return status;
    status = pcol_column_str(c, row, &text, &valid, err);
    if (status == PCOL_OK && valid)
        bytes_member_text(json, key, text);
    return status;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The texts of at most `most` codes of the pool, as a member "names": an object by code. Sorts the
 * codes; UINT32_MAX is none. */
pcol_status answer_put_codes(answer *a, int slot, uint32_t *codes, size_t count, size_t most,
                             pcol_error *err)
{
    struct bytes *json = &a->buffers[0];
    pcol_status status = PCOL_OK;
    size_t named = 0;
    char key[16];

    qsort(codes, count, sizeof *codes, by_number);
    bytes_key(json, "names");
    bytes_text(json, "{");
    for (size_t i = 0; i < count && named < most && status == PCOL_OK; i++) {
        pcol_str name;
        if (codes[i] == UINT32_MAX || (i > 0 && codes[i] == codes[i - 1]))
            continue;
        status = pcol_file_string(a->file[slot], codes[i], &name, err);
        snprintf(key, sizeof key, "%u", (unsigned)codes[i]);
        if (status == PCOL_OK)
            bytes_member_text(json, key, name);
        named++;
    }
    bytes_text(json, "}");
    return status;
}

/* ---- data ---- */

/* A column of data of markers; .label. is no part of its key. */
struct datum {
    const pcol_column *column;
    const char *key;
    uint32_t type;
};

static pcol_status list_data(const pcol_table *table, struct datum **list, size_t *count,
                             pcol_error *err)
{
    uint32_t columns = pcol_table_column_count(table);
    pcol_status status = PCOL_OK;

    *count = 0;
    *list = malloc((columns + 1) * sizeof **list);
    if (*list == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    for (uint32_t i = 0; i < columns && status == PCOL_OK; i++) {
        const pcol_column *column = pcol_table_column(table, i);
        pcol_column_info info = PCOL_INIT(pcol_column_info);
        status = pcol_column_describe(column, &info, err);
        if (status != PCOL_OK || strncmp(info.name, ".label.", 7) != 0)
            continue;
        status = pcol_column_verify(column, err);
        (*list)[(*count)++] = (struct datum){column, info.name + 7, info.type};
    }
    return status;
}

/* The fewest digits that restore the double. */
static void print_double(double number, char digits[40])
{
    int precision = 15;

    do
        snprintf(digits, 40, "%.*g", precision, number);
    while (precision++ < 17 && strtod(digits, NULL) != number);
}

/* The text of a cell, in `digits` if it is a number; *valid is 0 for null. */
static pcol_status read_datum(const struct datum *datum, uint64_t row, char digits[40],
                              pcol_str *text, int *valid, pcol_error *err)
{
    double number;
    int64_t integer;
    pcol_status status;

    if (datum->type == PCOL_STRING || datum->type == PCOL_BYTES)
        return pcol_column_str(datum->column, row, text, valid, err);
    if (datum->type == PCOL_F64) {
        status = pcol_column_f64(datum->column, row, &number, valid, err);
        if (status == PCOL_OK && *valid)
            print_double(number, digits);
    } else {
        status = pcol_column_i64(datum->column, row, &integer, valid, err);
        if (status == PCOL_OK && *valid)
            snprintf(digits, 40, "%" PRId64, integer);
    }
    if (status == PCOL_OK && *valid)
        *text = (pcol_str){digits, strlen(digits)};
    return status;
}

/* ---- "marker" ---- */

static pcol_status put_data(struct bytes *json, const pcol_table *table, uint64_t row,
                            pcol_error *err)
{
    struct datum *data;
    size_t count;
    pcol_status status = list_data(table, &data, &count, err);

    bytes_key(json, "data");
    bytes_text(json, "[");
    for (size_t i = 0; i < count && status == PCOL_OK; i++) {
        char digits[40];
        pcol_str text;
        int valid = 0;
        status = read_datum(&data[i], row, digits, &text, &valid, err);
        if (status != PCOL_OK || !valid)
            continue;
        bytes_comma(json);
        bytes_text(json, "[");
        bytes_json(json, (pcol_str){data[i].key, strlen(data[i].key)});
        bytes_text(json, ",");
        bytes_json(json, text);
        bytes_text(json, "]");
    }
    bytes_text(json, "]");
    free(data);
    return status;
}

pcol_status answer_marker(answer *a, const struct request *r, pcol_error *err)
{
    int slot = request_integer(r, "slot", 0) != 0;
    int64_t row = request_integer(r, "row", -1), category = -1, times[2];
    const pcol_table *physical, *table, *categories;
    const pcol_column *column;
    struct bytes *json = &a->buffers[0];
    int valid[2] = {0, 0}, has_category = 0;
    uint64_t rows;
    size_t count;

    if (a->file[slot] == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "no such profile");
    pcol_status status = answer_find_physical(a->file[slot], "markers", &physical, &count, err);
    if (status == PCOL_OK)
        status = answer_find_table(a->file[slot], "markers", &table, &rows, err);
    if (status == PCOL_OK)
        status = answer_find_table(a->file[slot], "categories", &categories, &rows, err);
    if (status != PCOL_OK)
        return status;
    if (table == NULL || row < 0 || (uint64_t)row >= count)
        return pcol_error_set(err, PCOL_E_ARGUMENT, 0, "no such marker");
    bytes_text(json, "{");
    status = answer_put_text(json, table, "name", "name", (uint64_t)row, err);
    for (int i = 0; i < 2 && status == PCOL_OK; i++) {
        status = answer_find_column(physical, i ? "end" : "start", &column, err);
        if (status == PCOL_OK && column != NULL)
            status = pcol_column_i64(column, (uint64_t)row, &times[i], &valid[i], err);
        if (status == PCOL_OK && valid[i])
            bytes_member_amount(json, i ? "end" : "start", (pcol_amount){.i64 = times[i]}, 0);
    }
    if (status == PCOL_OK)
        status = answer_find_column(physical, "category", &column, err);
    if (status == PCOL_OK && column != NULL)
        status = pcol_column_i64(column, (uint64_t)row, &category, &has_category, err);
    if (status == PCOL_OK && has_category && category >= 0)
        status = answer_put_text(json, categories, "name", "category", (uint64_t)category, err);
    if (status == PCOL_OK)
        status = put_data(json, table, (uint64_t)row, err);
    bytes_text(json, "}");
    return status;
}

/* ---- "markers" ---- */

/* The integers of the table, and the markers that a request selects. */
struct selection {
    int64_t *start, *end, *thread, *source, *category; /* null: INT64_MIN or -1 */
    uint32_t *names;                                   /* codes of the pool */
    uint32_t *threads;                                 /* NULL: all */
    size_t thread_count;
    int64_t from, to, only_source;
    int has_range;
};

static void close_selection(struct selection *s)
{
    free(s->start);
    free(s->end);
    free(s->thread);
    free(s->source);
    free(s->category);
    free(s->names);
    free(s->threads);
}

static pcol_status open_selection(struct selection *s, const pcol_table *table, size_t rows,
                                  const struct request *r, pcol_error *err)
{
    const pcol_column *name = pcol_table_column_by_name(table, "name", NULL);
    pcol_status status = request_rows(r, "threads", &s->threads, &s->thread_count, err);

    s->from = request_integer(r, "from", 0);
    s->to = request_integer(r, "to", 0);
    s->has_range = request_text(r, "to") != NULL;
    s->only_source = request_integer(r, "source", -1);
    s->names = calloc(rows + 1, sizeof *s->names);
    if (status == PCOL_OK && s->names == NULL)
        status = pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    if (status == PCOL_OK)
        status = answer_integers(table, "start", rows, INT64_MIN, &s->start, err);
    if (status == PCOL_OK)
        status = answer_integers(table, "end", rows, INT64_MIN, &s->end, err);
    if (status == PCOL_OK)
        status = answer_integers(table, "thread", rows, -1, &s->thread, err);
    if (status == PCOL_OK)
        status = answer_integers(table, "source", rows, -1, &s->source, err);
    if (status == PCOL_OK)
        status = answer_integers(table, "category", rows, -1, &s->category, err);
    if (status == PCOL_OK && name != NULL && rows > 0)
        status = pcol_column_read_codes(name, 0, rows, s->names, NULL, err);
    return status;
}

/* As the pixels of a lane: a marker without a duration in [from, to), others if they overlap. */
static int selects(const struct selection *s, size_t row)
{
    int64_t from = s->start[row] != INT64_MIN ? s->start[row] : s->end[row];
    int64_t to = s->end[row] != INT64_MIN && s->end[row] > from ? s->end[row] : from;
    size_t i = 0;

    if (s->only_source >= 0 && s->source[row] != s->only_source)
        return 0;
    while (s->threads != NULL && i < s->thread_count && s->threads[i] != s->thread[row])
        i++;
    if (s->threads != NULL && i == s->thread_count)
        return 0;
    return !s->has_range ||
           (from < s->to && (from == to ? from >= s->from : to > s->from) && from != INT64_MIN);
}

/* "key: value, key: value" and the end of the text; after MOST_DATA_BYTES an ellipsis. */
static pcol_status add_data(answer *a, const struct datum *data, size_t count, uint64_t row,
                            pcol_error *err)
{
    struct bytes *out = &a->buffers[7];
    size_t begin = out->used;
    pcol_status status = PCOL_OK;

    for (size_t i = 0; i < count && status == PCOL_OK; i++) {
        char digits[40];
        pcol_str text;
        int valid = 0;
        status = read_datum(&data[i], row, digits, &text, &valid, err);
        if (status != PCOL_OK || !valid)
            continue;
        if (out->used - begin > MOST_DATA_BYTES) {
            bytes_text(out, "\xe2\x80\xa6");
            break;
        }
        size_t whole = text.size;
        for (text.size = whole < MOST_DATA_BYTES ? whole : MOST_DATA_BYTES;
             text.size < whole && text.size > 0 && (text.data[text.size] & 0xc0) == 0x80;)
            text.size--;
        bytes_text(out, out->used > begin ? ", " : "");
        bytes_utf8(out, (pcol_str){data[i].key, strlen(data[i].key)});
        bytes_text(out, ": ");
        bytes_utf8(out, text);
        bytes_text(out, text.size < whole ? "\xe2\x80\xa6" : "");
    }
    bytes_text(out, "\n");
    return status;
}

/* Of each selected marker: 1 its row, 2 start and 3 end in ns (INT64_MIN: null), 4 thread, 5 code
 * of the name, 6 category, 7 and 8 its data as a text. JSON: how many there are, the texts of the
 * codes and of the categories. */
pcol_status answer_markers(answer *a, const struct request *r, pcol_error *err)
{
    int slot = request_integer(r, "slot", 0) != 0;
    const pcol_table *physical, *table;
    struct bytes *json = &a->buffers[0];
    struct selection s = {0};
    struct datum *data = NULL;
    size_t rows, count = 0, columns = 0;
    uint64_t ignored;

    if (a->file[slot] == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "no such profile");
    pcol_status status = answer_find_physical(a->file[slot], "markers", &physical, &rows, err);
    if (status == PCOL_OK)
        status = answer_find_table(a->file[slot], "markers", &table, &ignored, err);
    if (status == PCOL_OK && (table == NULL || physical == NULL))
        status = pcol_error_set(err, PCOL_E_ARGUMENT, 0, "the profile has no markers");
    if (status == PCOL_OK)
        status = list_data(table, &data, &columns, err);
    if (status == PCOL_OK)
        status = open_selection(&s, physical, rows, r, err);
    for (size_t i = 0; i < rows && status == PCOL_OK; i++) {
        if (!selects(&s, i) || count++ >= MOST_MARKERS)
            continue;
        bytes_u32(&a->buffers[1], (uint32_t)i);
        bytes_add(&a->buffers[2], &s.start[i], sizeof *s.start);
        bytes_add(&a->buffers[3], &s.end[i], sizeof *s.end);
        bytes_u32(&a->buffers[4], (uint32_t)s.thread[i]);
        bytes_u32(&a->buffers[5], s.names[i]);
        bytes_u32(&a->buffers[6], (uint32_t)s.category[i]);
        status = add_data(a, data, columns, i, err);
    }
    bytes_text(json, "{");
    bytes_member(json, "rows", (int64_t)count);
    if (status == PCOL_OK)
        status = answer_put_codes(a, slot, s.names, rows, SIZE_MAX, err);
    if (status == PCOL_OK)
        status = answer_put_texts(json, a->file[slot], "categories", "name", err);
    bytes_text(json, "}");
    close_selection(&s);
    free(data);
    a->count = 8;
    return status;
}
