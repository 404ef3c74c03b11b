/*
 * sqlite.h - parts of the SQLite extension
 *
 * A connection has one struct files; a virtual table holds one open file, a cursor one scan.
 * Everything of a connection is used by one thread at a time, as SQLite sees to it.
 */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#include "common/common.h"

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

/* So many cells are read as ranges, which verifies what they touch; a column of which more are
 * read is verified once, and its cells are then read without. */
enum { VERIFIED = 64 };

/* Number of a plan whose only constraint gives one row: the row id or the key. */
enum plan { PLAN_ANY, PLAN_ROW_ID, PLAN_KEY };

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
    struct open_file *opened;
    const pcol_table *table;
    uint32_t count; /* columns */
    pcol_type *types;
    uint8_t *cells_read; /* of each column, up to VERIFIED: then it has been verified as a whole */
    uint32_t key;        /* the only column of the primary key, of integers; PCOL_NONE */
    int has_key_prefix;  /* the first column is part of the primary key */
};

int vtab_register(sqlite3 *db, struct files *files);

/* A pushed constraint, as text in idxStr: "COLUMN OP " per argument of xFilter, after the mask of
 * used columns in hexadecimal. COLUMN -1: the row id. */
int plan_next(const char **at, int *column, int *op);

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
