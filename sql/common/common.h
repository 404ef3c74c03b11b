/*
 * common.h - what the extensions of SQLite and DuckDB share: opening, names, texts and errors
 *
 * Uses pcol.h only. Memory comes from malloc(). Any thread.
 */
#ifndef SQL_COMMON_H
#define SQL_COMMON_H

#include "pcol.h"

#include <stddef.h>
#include <stdint.h>

/* Opens a profile of any format. A pcol file is mapped with PCOL_OPEN_GUARD: a file that is cut
 * while it is read gives an error, not SIGBUS in the process of the database. */
pcol_status sql_open(const char *path, const char *format, const pcol_control *control,
                     pcol_file **file, pcol_error *err);

/* The table of a name. PCOL_MODEL_V2 also finds further tables, as `pcol cat` does. */
pcol_status sql_find_table(const pcol_file *file, pcol_model model, const char *name,
                           const pcol_table **table, pcol_error *err);

/* Model of a name, "v2", "v1" or "physical"; -1: unknown. */
int sql_model(const char *name);

/* The message of an error with the path and the place, "x.pcol: table samples, row 5: ..."; at most
 * @size bytes with a NUL, valid UTF-8. Returns @text. */
char *sql_message(char *text, size_t size, const char *path, const pcol_error *err);
enum { SQL_MESSAGE_SIZE = 4096 + 512 };

/* 1 if the text is UTF-8; *has_nul: it has a NUL. @has_nul may be NULL. */
int sql_is_utf8(pcol_str text, int *has_nul);

/* A copy of a text as valid UTF-8: `?` for every other byte, NUL included. NULL: out of memory. */
char *sql_name(const char *data, size_t size);

/* Makes names unique without regard to ASCII case: a later name gets "_2", "_3", ...; the names are
 * from malloc() and may be replaced. 0: out of memory. */
int sql_unique(char **names, size_t count);

#endif
