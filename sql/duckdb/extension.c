/*
 * extension.c - entry point of the DuckDB extension, and the replacement scan
 *
 * Only functions of the stable struct v1.2.0 are called, and those that vectors.c finds by name, so
 * one binary loads into every later version. No connection is kept. Tests: sql/tests.
 */
#include "extension.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

void sql_register_function(duckdb_connection connection, duckdb_table_function *function)
{
    (void)duckdb_register_table_function(connection, *function);
    duckdb_destroy_table_function(function);
}

/* Whether a name ends in one of blank-separated suffixes, perhaps with ".gz" after it. */
static int has_suffix(const char *name, const char *suffixes)
{
    size_t size = strlen(name);
    if (size > 3 && strcasecmp(name + size - 3, ".gz") == 0)
        size -= 3;
    for (const char *at = suffixes; *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (length > 0 && length < strlen(name) &&
            (strcasecmp(name + strlen(name) - length, at) == 0 ||
             (length <= size && strncasecmp(name + size - length, at, length) == 0)))
            return 1;
        at += length + strspn(at + length, " ");
    }
    return 0;
}

/* Formats that DuckDB reads by name itself, or that are too general to be taken for profiles. */
static int is_general(const char *name)
{
    return has_suffix(name, ".json .csv .tsv .txt .parquet .db .out .ndjson .jsonl");
}

static int is_profile(const char *name)
{
    const pcol_format *format;
    if (has_suffix(name, ".pcol"))
        return 1;
    if (is_general(name))
        return 0;
    for (size_t i = 0; (format = pcol_format_at(i)) != NULL; i++)
        if (format->reads && has_suffix(name, format->suffixes))
            return 1;
    return 0;
}

/* FROM 'x.pcol', FROM 'cpu.pb.gz': wide samples. FROM 'x.pcol#functions': a table. */
static void replace(duckdb_replacement_scan_info info, const char *name, void *data)
{
    const char *table = strrchr(name, '#');
    char *path = strdup(name);
    (void)data;
    if (path == NULL)
        return;
    if (table != NULL)
        path[table - name] = '\0';
    if (table != NULL && !is_profile(name) && is_profile(path)) {
        duckdb_value file = duckdb_create_varchar(path), value = duckdb_create_varchar(table + 1);
        duckdb_replacement_scan_set_function_name(info, "pcol_scan");
        duckdb_replacement_scan_add_parameter(info, file);
        duckdb_replacement_scan_add_parameter(info, value);
        duckdb_destroy_value(&file);
        duckdb_destroy_value(&value);
    } else if (is_profile(name)) {
        duckdb_value file = duckdb_create_varchar(name);
        duckdb_replacement_scan_set_function_name(info, "read_pcol");
        duckdb_replacement_scan_add_parameter(info, file);
        duckdb_destroy_value(&file);
    }
    free(path);
}

PCOL_API bool pcol_init_c_api(duckdb_extension_info info, struct duckdb_extension_access *access);

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info,
                            struct duckdb_extension_access *access)
{
    vectors_init();
    scan_register(connection);
    answers_register(connection);
    duckdb_add_replacement_scan(*access->get_database(info), replace, NULL, NULL);
    return true;
}
