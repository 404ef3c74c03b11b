/*
 * sqlite.h - parts of the SQLite extension
 *
 * A connection has one struct files; a virtual table holds one open file, a cursor one scan.
 * Everything of a connection is used by one thread at a time, as SQLite sees to it.
 */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#include "common/common.h"
#include "common/pool.h"

#include <sqlite3ext.h>

/* Defined in extension.c by SQLITE_EXTENSION_INIT1. */
extern const sqlite3_api_routines *sqlite3_api;

/* ---- files.c: the open files of a connection, each once */

struct files;
struct open_file;

struct files *files_new(sqlite3 *db);
void files_free(void *files);

/* Opens a file, or finds it open and unchanged since. files_release() takes a reference back.
 * @text: on failure the message, from sqlite3_malloc(). Returns an SQLite code. */
int files_open(struct files *files, const char *path, struct open_file **opened, char **text);
void files_release(struct open_file *opened);
const pcol_file *files_file(const struct open_file *opened);
const char *files_path(const struct open_file *opened);
/* The strings of the file, read once; NULL: they cannot be read. */
const struct sql_pool *files_pool(struct open_file *opened);

/* Interrupts: a control whose progress() asks the connection. */
struct interrupt {
    sqlite3 *db;
    sqlite3_stmt *probe;
    pcol_control control;
};

void interrupt_init(struct interrupt *interrupt, sqlite3 *db);
void interrupt_end(struct interrupt *interrupt);

/* SQLite's code for a status, and the message as SQLite keeps it. */
int error_code(pcol_status status);
char *error_text(const char *path, const pcol_error *err);

/* ---- vtab.c: tables and the choice of a plan */

/* Number of a plan whose only constraint gives one row: the row id or the key. */
enum plan { PLAN_ANY, PLAN_ROW_ID, PLAN_KEY };

struct lookups;

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
    struct open_file *opened;
    const pcol_table *table;
    uint32_t count; /* columns */
    pcol_type *types;
    struct lookups *lookups;     /* of each column */
    const struct sql_pool *pool; /* if a column of texts is in memory */
    uint32_t key;                /* the only column of the primary key, of integers; PCOL_NONE */
    int has_key_prefix;          /* the first column is part of the primary key */
};

int vtab_register(sqlite3 *db, struct files *files);

/* A pushed constraint, as text in idxStr: "COLUMN OP " per argument of xFilter, after the mask of
 * used columns in hexadecimal. COLUMN -1: the row id. */
int plan_next(const char **at, int *column, int *op);

/* ---- lookups.c: cells of single rows */

enum { VERIFIED = 64 };

struct lookups {
    uint64_t count; /* cells read; those of a column that is not verified, less than VERIFIED */
    int is_decided; /* whether the column is decoded: only then one of these is not NULL */
    int64_t *i64;
    uint32_t *codes;
    uint8_t *valid;
};

void lookups_free(struct lookups *lookups);
pcol_status lookup_i64(struct table *table, uint32_t column, uint64_t row, int64_t *value,
                       uint8_t *valid, pcol_error *err);
/* *is_pooled: the text is of the table's pool; else in memory that changes if the file is cut. */
pcol_status lookup_text(struct table *table, uint32_t column, uint64_t row, pcol_str *value,
                        uint8_t *valid, int *is_pooled, pcol_error *err);

/* ---- cursor.c: reading rows */

int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor);
int cursor_close(sqlite3_vtab_cursor *base);
int cursor_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count,
                  sqlite3_value **values);
int cursor_next(sqlite3_vtab_cursor *base);
int cursor_eof(sqlite3_vtab_cursor *base);
int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row);

#endif
