/*
 * binding.h - what a call of read_pcol(), pcol_scan(), pcol_stacks() or pcol_top() is about
 *
 * At most KEPT_FILES files stay open from the bind until the plan is freed; of more files each
 * thread opens one at a time, and texts are copied.
 */
#ifndef SQL_DUCKDB_BINDING_H
#define SQL_DUCKDB_BINDING_H

#include "extension.h"

enum { KEPT_FILES = 64 };

/* A column of the union over all files. */
struct union_column {
    char *name;
    enum shown shown;
};

struct binding {
    struct request request;
    struct owned_selection selection;
    char *label; /* key of the label of pcol_top() */
    struct paths paths;
    struct relation **relations; /* open files; NULL: not kept, or ignored */
    uint8_t *is_ignored;
    uint64_t rows;
    struct union_column *columns;
    size_t count;
    int is_kept;
    int ignores_errors;
};

/* Bind functions. */
void bind_read(duckdb_bind_info info);
void bind_scan(duckdb_bind_info info);
void bind_stacks(duckdb_bind_info info);
void bind_top(duckdb_bind_info info);

#endif
