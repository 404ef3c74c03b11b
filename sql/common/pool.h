/*
 * pool.h - the strings of a file in private memory
 *
 * A database reads the texts of a row after the call that gave them, in several passes: it measures
 * a text and then writes it. Memory of a map changes between two reads if its file is cut, so that
 * a database is given only texts that no file can change. Immutable once read; any thread.
 */
#ifndef SQL_COMMON_POOL_H
#define SQL_COMMON_POOL_H

#include "pcol.h"

#include <stdint.h>

struct sql_pool {
    char *bytes;       /* a NUL after each string */
    pcol_str *strings; /* by code */
    uint64_t count;
    int is_utf8; /* all strings are */
    int has_nul; /* a string has one */
};

/* Errors: those of pcol_file_string(), E_IO (the file was changed), E_NO_MEMORY. */
pcol_status sql_pool_read(const pcol_file *file, struct sql_pool *pool, pcol_error *err);
void sql_pool_free(struct sql_pool *pool);

#endif
