/*
 * engine.c - exports of the report page's engine: open, close, top, error
 *
 * One file at a time; results stay valid until the next call. The caller allocates the bytes of the
 * file with engine_allocate(); they belong to the engine from engine_open() on.
 */
#include "pcol.h"

#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(#name)))

static pcol_file *file;
static void *bytes;
static pcol_error error;
static pcol_query *query;
static pcol_result *top;

EXPORT(engine_allocate) void *engine_allocate(size_t size)
{
    return malloc(size ? size : 1);
}

EXPORT(engine_close) void engine_close(void)
{
    pcol_result_free(top);
    pcol_query_free(query);
    pcol_file_close(file);
    free(bytes);
    top = NULL;
    query = NULL;
    file = NULL;
    bytes = NULL;
}

EXPORT(engine_open) int engine_open(void *data, size_t size)
{
    engine_close();
    bytes = data;
    return (int)pcol_file_open_memory(data, size, NULL, &file, &error);
}

EXPORT(engine_error) const char *engine_error(void)
{
    return error.message;
}

/* Functions by self, in descending order. */
EXPORT(engine_top) int engine_top(void)
{
    pcol_result_free(top);
    pcol_query_free(query);
    top = NULL;
    query = NULL;
    pcol_status status = pcol_query_new(file, NULL, NULL, &query, &error);
    if (status == PCOL_OK)
        status = pcol_query_top(query, NULL, &top, &error);
    return (int)status;
}

/* The rows of engine_top(), whose columns engine_column() gives; NULL before. */
EXPORT(engine_top_table) const pcol_table *engine_top_table(void)
{
    return pcol_result_table(top);
}

/* A column as one array, valid until the next engine_top(); NULL: see engine_error(). */
EXPORT(engine_column) const pcol_array *engine_column(const pcol_table *table, uint32_t index)
{
    static pcol_array array = PCOL_INIT(pcol_array);
    const pcol_column *column = pcol_table_column(table, index);
    return pcol_column_array(column, NULL, &array, &error) == PCOL_OK ? &array : NULL;
}
