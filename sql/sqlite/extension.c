/*
 * extension.c - entry point of the SQLite extension, and pcol_attach()
 *
 *     SELECT pcol_attach('x.pcol'[, prefix])
 *
 * makes a TEMP virtual table of each table of a profile and returns their number. Both the module
 * and the function are SQLITE_DIRECTONLY: a view or trigger of a database that somebody else made
 * cannot open files. Tests: sql/tests.
 */
#include "sqlite.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

static int attach_table(sqlite3 *db, const char *path, const char *prefix, const char *table)
{
    char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w%w\" USING pcol(%Q, %Q)", prefix,
                                table, path, table);
    if (sql == NULL)
        return SQLITE_NOMEM;
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code;
}

static int attach_tables(sqlite3 *db, const pcol_file *file, const char *path, const char *prefix,
                         int *made)
{
    static const pcol_model models[] = {PCOL_MODEL_V2, PCOL_MODEL_FURTHER};
    int code = SQLITE_OK;
    for (size_t m = 0; m < 2; m++)
        for (uint32_t i = 0; i < pcol_file_table_count(file, models[m]) && code == SQLITE_OK; i++) {
            if (models[m] == PCOL_MODEL_FURTHER && pcol_file_table_is_internal(file, i))
                continue;
            code = attach_table(db, path, prefix, pcol_file_table_name(file, models[m], i));
            *made += code == SQLITE_OK;
        }
    return code;
}

/* All tables or none. */
static int attach(sqlite3 *db, const pcol_file *file, const char *path, const char *prefix,
                  int *made, char **text)
{
    int code = sqlite3_exec(db, "SAVEPOINT pcol_attach", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = attach_tables(db, file, path, prefix, made);
    if (code == SQLITE_OK)
        return sqlite3_exec(db, "RELEASE pcol_attach", NULL, NULL, NULL);
    *text = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    (void)sqlite3_exec(db, "ROLLBACK TO pcol_attach", NULL, NULL, NULL);
    (void)sqlite3_exec(db, "RELEASE pcol_attach", NULL, NULL, NULL);
    return code;
}

/* A C string; NULL for null, and for a text with a byte 0. */
static const char *word(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text != NULL && strlen(text) == (size_t)sqlite3_value_bytes(value) ? text : NULL;
}

static void pcol_attach(sqlite3_context *context, int count, sqlite3_value **values)
{
    sqlite3 *db = sqlite3_context_db_handle(context);
    const char *path = word(values[0]);
    const char *prefix = count > 1 ? word(values[1]) : "";
    struct open_file *opened = NULL;
    char *text = NULL;
    int made = 0;
    if (path == NULL || prefix == NULL) {
        sqlite3_result_error(context, "pcol_attach: needs a path[, and a prefix for names]", -1);
        return;
    }
    int code = files_open(sqlite3_user_data(context), path, &opened, &text);
    if (code == SQLITE_OK)
        code = attach(db, files_file(opened), path, prefix, &made, &text);
    files_release(opened);
    if (code == SQLITE_OK) {
        sqlite3_result_int(context, made);
        return;
    }
    if (text != NULL)
        sqlite3_result_error(context, text, -1);
    sqlite3_result_error_code(context, code);
    sqlite3_free(text);
}

static void give_version(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count, (void)values;
    sqlite3_result_text(context, pcol_version(), -1, SQLITE_STATIC);
}

/* SQLite derives this name from that of the file, pcol.so. */
PCOL_API int sqlite3_pcol_init(sqlite3 *db, char **text, const sqlite3_api_routines *api);

int sqlite3_pcol_init(sqlite3 *db, char **text, const sqlite3_api_routines *api)
{
    int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    SQLITE_EXTENSION_INIT2(api);
    if (sqlite3_libversion_number() < 3031000) {
        *text = sqlite3_mprintf("pcol: needs SQLite 3.31 or later");
        return SQLITE_ERROR;
    }
    struct files *files = files_new(db);
    if (files == NULL)
        return SQLITE_NOMEM;
    int code = vtab_register(db, files);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, "pcol_attach", 1, flags, files, pcol_attach, NULL,
                                          NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, "pcol_attach", 2, flags, files, pcol_attach, NULL,
                                          NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, "pcol_version", 0, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                          NULL, give_version, NULL, NULL, NULL);
    return code;
}
