/*
 * answers.c - pcol_tables() and pcol_errors(): a few rows that the bind makes
 *
 * Tests: sql/tests.
 */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

DUCKDB_EXTENSION_EXTERN

enum { MOST_COLUMNS = 4 };

/* Rows of texts, or of numbers where `texts` is NULL. */
struct row {
    char *texts[MOST_COLUMNS];
    int64_t numbers[MOST_COLUMNS];
};

struct answer {
    struct row *rows;
    size_t count;
    const enum shown *shown;
    size_t column_count;
};

struct position {
    idx_t next;
};

static void free_answer(void *pointer)
{
    struct answer *a = pointer;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < MOST_COLUMNS; k++)
            free(a->rows[i].texts[k]);
    free(a->rows);
    free(a);
}

/* A new row with a path; NULL: out of memory. */
static struct row *add_row(struct answer *a, const char *path)
{
    if ((a->count & (a->count - 1)) == 0) {
        size_t capacity = a->count == 0 ? 1 : 2 * a->count;
        struct row *grown = realloc(a->rows, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        a->rows = grown;
    }
    struct row *row = &a->rows[a->count];
    *row = (struct row){.texts = {sql_name(path, strlen(path))}};
    if (row->texts[0] == NULL)
        return NULL;
    a->count++;
    return row;
}

/* ---- what is asked of each file */

typedef pcol_status (*ask_fn)(struct answer *answer, const char *path, pcol_error *err);

static pcol_status add_table(struct answer *a, const char *path, const pcol_file *file,
                             pcol_model model, uint32_t number, pcol_error *err)
{
    const char *name = pcol_file_table_name(file, model, number);
    const pcol_table *table;
    pcol_status status = pcol_file_table(file, model, number, &table, err);
    if (status != PCOL_OK)
        return status;
    struct row *row = add_row(a, path);
    if (row == NULL || (row->texts[1] = sql_name(name, strlen(name))) == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    row->numbers[2] = (int64_t)pcol_table_rows(table);
    row->numbers[3] = pcol_table_column_count(table);
    return PCOL_OK;
}

static pcol_status ask_tables(struct answer *a, const char *path, pcol_error *err)
{
    static const pcol_model models[] = {PCOL_MODEL_V2, PCOL_MODEL_FURTHER};
    pcol_file *file;
    pcol_status status = sql_open(path, NULL, NULL, &file, err);
    for (size_t m = 0; m < 2 && status == PCOL_OK; m++)
        for (uint32_t i = 0; i < pcol_file_table_count(file, models[m]) && status == PCOL_OK; i++)
            if (models[m] == PCOL_MODEL_V2 || !pcol_file_table_is_internal(file, i))
                status = add_table(a, path, file, models[m], i, err);
    pcol_file_close(file);
    return status;
}

/* The files that ignore_errors leaves out, and those with damage that only some queries read. */
static pcol_status ask_errors(struct answer *a, const char *path, pcol_error *err)
{
    pcol_file *file;
    pcol_error found = {0};
    uint64_t faults = 0;
    pcol_status status = sql_open(path, NULL, NULL, &file, &found);
    if (status == PCOL_OK)
        status = pcol_file_check(file, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &found);
    if (status == PCOL_OK && faults > 0)
        status = pcol_error_set(&found, PCOL_E_CORRUPT, 0, "%llu faults; pcol check lists them",
                                (unsigned long long)faults);
    pcol_file_close(file);
    if (status == PCOL_OK)
        return PCOL_OK;
    char text[SQL_MESSAGE_SIZE];
    struct row *row = add_row(a, path);
    if (row == NULL ||
        (row->texts[1] = strdup(sql_message(text, sizeof text, path, &found))) == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    return PCOL_OK;
}

/* ---- functions */

static void bind_answer(duckdb_bind_info info, ask_fn ask, const char *const *names,
                        const enum shown *shown, size_t columns)
{
    struct answer *a = calloc(1, sizeof *a);
    struct paths paths;
    pcol_error err = {0};
    if (a == NULL) {
        duckdb_bind_set_error(info, "out of memory");
        return;
    }
    a->shown = shown;
    a->column_count = columns;
    int is_bound = paths_from_parameter(info, &paths);
    for (size_t i = 0; is_bound && i < paths.count; i++)
        if (ask(a, paths.list[i], &err) != PCOL_OK) {
            bind_error(info, paths.list[i], &err);
            is_bound = 0;
        }
    paths_free(&paths);
    if (!is_bound) {
        free_answer(a);
        return;
    }
    for (size_t i = 0; i < columns; i++) {
        duckdb_logical_type type = shown_type(shown[i], NULL);
        duckdb_bind_add_result_column(info, names[i], type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_bind_set_cardinality(info, a->count, true);
    duckdb_bind_set_bind_data(info, a, free_answer);
}

static void bind_tables(duckdb_bind_info info)
{
    static const char *const names[] = {"profile", "table_name", "row_count", "column_count"};
    static const enum shown shown[] = {SHOWN_VARCHAR, SHOWN_VARCHAR, SHOWN_BIGINT, SHOWN_BIGINT};
    bind_answer(info, ask_tables, names, shown, 4);
}

static void bind_errors(duckdb_bind_info info)
{
    static const char *const names[] = {"profile", "error"};
    static const enum shown shown[] = {SHOWN_VARCHAR, SHOWN_VARCHAR};
    bind_answer(info, ask_errors, names, shown, 2);
}

static void init(duckdb_init_info info)
{
    struct position *position = calloc(1, sizeof *position);
    if (position == NULL)
        duckdb_init_set_error(info, "out of memory");
    else
        duckdb_init_set_init_data(info, position, free);
}

static void execute(duckdb_function_info info, duckdb_data_chunk chunk)
{
    const struct answer *a = duckdb_function_get_bind_data(info);
    struct position *position = duckdb_function_get_init_data(info);
    idx_t most = duckdb_vector_size(), left = a->count - position->next;
    idx_t count = left < most ? left : most;
    for (size_t k = 0; k < a->column_count; k++) {
        struct target t = target_of(chunk, k, a->shown[k], NULL, 1);
        for (idx_t i = 0; i < count; i++) {
            const struct row *row = &a->rows[position->next + i];
            if (t.shown == SHOWN_VARCHAR)
                target_text(&t, i, (pcol_str){row->texts[k], strlen(row->texts[k])});
            else
                target_i64(&t, i, row->numbers[k]);
        }
    }
    position->next += count;
    duckdb_data_chunk_set_size(chunk, count);
}

static void add_function(duckdb_connection connection, const char *name,
                         duckdb_table_function_bind_t bind)
{
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_table_function_set_name(function, name);
    duckdb_table_function_add_parameter(function, any);
    duckdb_table_function_set_bind(function, bind);
    duckdb_table_function_set_init(function, init);
    duckdb_table_function_set_function(function, execute);
    duckdb_destroy_logical_type(&any);
    sql_register_function(connection, &function);
}

void answers_register(duckdb_connection connection)
{
    add_function(connection, "pcol_tables", bind_tables);
    add_function(connection, "pcol_errors", bind_errors);
}
