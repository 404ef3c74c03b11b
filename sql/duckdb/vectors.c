/*
 * vectors.c - cells written to vectors of DuckDB
 *
 * Texts of a file that stays open during the query are not copied: a duckdb_string_t points into
 * the pool of the relation or its names, never into the map, whose memory changes if the file is
 * cut. Tests: sql/tests.
 */
#define _GNU_SOURCE /* dladdr() */
#include "extension.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DUCKDB_EXTENSION_EXTERN

/* duckdb_vector_reference_value() of DuckDB 1.3 and later makes a constant vector, which aggregates
 * take as one value. Its place in the struct of functions differs between versions, its name does
 * not. NULL: DuckDB does not have it, or does not export it. */
static void (*reference_value)(duckdb_vector vector, duckdb_value value);

void vectors_init(void)
{
    Dl_info library;
    void *handle = NULL;
    union {
        idx_t (*function)(void);
        void *address;
    } known = {.function = duckdb_vector_size};
    union {
        void *address;
        void (*function)(duckdb_vector vector, duckdb_value value);
    } found = {NULL};
    if (dladdr(known.address, &library) != 0)
        handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL)
        found.address = dlsym(handle, "duckdb_vector_reference_value");
    reference_value = found.function;
}

/* ENUMs of one file only; with several files names are VARCHAR. */
static duckdb_logical_type enum_type(const struct dictionary *d)
{
    const char **members = malloc((d->count + (size_t)1) * sizeof *members);
    if (members == NULL || d->count == 0) {
        free(members);
        return duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    }
    for (uint32_t i = 0; i < d->count; i++)
        members[i] = d->texts[i].data;
    duckdb_logical_type type = duckdb_create_enum_type(members, d->count);
    free(members);
    return type;
}

duckdb_logical_type shown_type(enum shown shown, const struct stacks *stacks)
{
    static const duckdb_type types[] = {
        [SHOWN_BIGINT] = DUCKDB_TYPE_BIGINT,     [SHOWN_UBIGINT] = DUCKDB_TYPE_UBIGINT,
        [SHOWN_UINTEGER] = DUCKDB_TYPE_UINTEGER, [SHOWN_DOUBLE] = DUCKDB_TYPE_DOUBLE,
        [SHOWN_BOOLEAN] = DUCKDB_TYPE_BOOLEAN,   [SHOWN_VARCHAR] = DUCKDB_TYPE_VARCHAR,
        [SHOWN_BLOB] = DUCKDB_TYPE_BLOB,         [SHOWN_LIST] = DUCKDB_TYPE_BIGINT,
        [SHOWN_TEXTS] = DUCKDB_TYPE_VARCHAR};
    if (shown == SHOWN_FUNCTIONS || shown == SHOWN_FILES)
        return enum_type(shown == SHOWN_FUNCTIONS ? &stacks->names : &stacks->files);
    duckdb_logical_type type = duckdb_create_logical_type(types[shown]);
    if (shown != SHOWN_LIST && shown != SHOWN_TEXTS)
        return type;
    duckdb_logical_type list = duckdb_create_list_type(type);
    duckdb_destroy_logical_type(&type);
    return list;
}

struct target target_of(duckdb_data_chunk chunk, idx_t column, enum shown shown,
                        const struct sql_pool *pool, int is_copied)
{
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, column);
    return (struct target){vector, duckdb_vector_get_data(vector), shown, pool, is_copied};
}

void target_null(const struct target *t, idx_t row)
{
    duckdb_vector_ensure_validity_writable(t->vector);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(t->vector), row);
    if (t->shown == SHOWN_LIST || t->shown == SHOWN_TEXTS)
        ((duckdb_list_entry *)t->data)[row] = (duckdb_list_entry){0, 0};
}

static void copy_text(const struct target *t, idx_t row, pcol_str text)
{
    duckdb_vector_assign_string_element_len(t->vector, row, text.data == NULL ? "" : text.data,
                                            text.size);
}

void target_text(const struct target *t, idx_t row, pcol_str text)
{
    duckdb_string_t *string = (duckdb_string_t *)t->data + row;
    if (t->is_copied || text.size > UINT32_MAX) {
        copy_text(t, row, text);
        return;
    }
    memset(string, 0, sizeof *string);
    string->value.inlined.length = (uint32_t)text.size;
    if (text.size <= sizeof string->value.inlined.inlined) {
        if (text.size > 0)
            memcpy(string->value.inlined.inlined, text.data, text.size);
        return;
    }
    memcpy(string->value.pointer.prefix, text.data, sizeof string->value.pointer.prefix);
    union {
        const char *from;
        char *to; /* DuckDB does not write to it */
    } pointer = {text.data};
    string->value.pointer.ptr = pointer.to;
}

/* A number as text, where files disagree on the type of a column. */
static void put_digits(const struct target *t, idx_t row, const char *format, ...)
{
    char text[40];
    va_list list;
    va_start(list, format);
    int size = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    duckdb_vector_assign_string_element_len(t->vector, row, text, (idx_t)size);
}

void target_i64(const struct target *t, idx_t row, int64_t value)
{
    switch (t->shown) {
    case SHOWN_BIGINT:
        ((int64_t *)t->data)[row] = value;
        break;
    case SHOWN_UBIGINT:
        ((uint64_t *)t->data)[row] = (uint64_t)value;
        break;
    case SHOWN_UINTEGER:
        ((uint32_t *)t->data)[row] = (uint32_t)value;
        break;
    case SHOWN_DOUBLE:
        ((double *)t->data)[row] = (double)value;
        break;
    case SHOWN_BOOLEAN:
        ((bool *)t->data)[row] = value != 0;
        break;
    case SHOWN_VARCHAR:
    case SHOWN_BLOB:
        put_digits(t, row, "%" PRId64, value);
        break;
    case SHOWN_LIST:
    case SHOWN_TEXTS:
    case SHOWN_FUNCTIONS:
    case SHOWN_FILES:
        target_null(t, row);
    }
}

/* The fewest digits that give the number again, with a point in every locale. */
static void put_double_text(const struct target *t, idx_t row, double value)
{
    const char *mark = localeconv()->decimal_point;
    char text[40], *found;
    int digits = 15;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) != value && digits++ < 17);
    found = strstr(text, mark);
    if (found != NULL) {
        *found = '.';
        memmove(found + 1, found + strlen(mark), strlen(found + strlen(mark)) + 1);
    }
    duckdb_vector_assign_string_element_len(t->vector, row, text, strlen(text));
}

void target_f64(const struct target *t, idx_t row, double value)
{
    if (t->shown == SHOWN_DOUBLE)
        ((double *)t->data)[row] = value;
    else
        put_double_text(t, row, value);
}

/* In an ENUM codes are as wide as the number of its members needs. */
void target_codes(const struct target *t, const uint32_t *restrict codes, size_t rows,
                  uint32_t count)
{
    uint8_t *restrict narrow = t->data;
    uint16_t *restrict wide = t->data;
    uint32_t nulls = 0;
    if (count <= UINT8_MAX)
        for (size_t i = 0; i < rows; i++)
            narrow[i] = (uint8_t)codes[i];
    else
        for (size_t i = 0; i < rows; i++)
            wide[i] = (uint16_t)codes[i];
    for (size_t i = 0; i < rows; i++)
        nulls |= codes[i] == PCOL_NONE;
    for (size_t i = 0; i < rows && nulls; i++)
        if (codes[i] == PCOL_NONE)
            target_null(t, i);
}

/* ---- whole columns */

static int put_list(const struct target *t, const pcol_cells *cells, size_t rows)
{
    duckdb_list_entry *entries = t->data;
    uint64_t first = cells->list[0], count = cells->list[rows] - first;
    if (duckdb_list_vector_reserve(t->vector, count) != DuckDBSuccess ||
        duckdb_list_vector_set_size(t->vector, count) != DuckDBSuccess)
        return 0;
    int64_t *values = duckdb_vector_get_data(duckdb_list_vector_get_child(t->vector));
    if (count > 0)
        memcpy(values, cells->list_values + first, count * sizeof *values);
    for (size_t i = 0; i < rows; i++)
        entries[i] =
            (duckdb_list_entry){cells->list[i] - first, cells->list[i + 1] - cells->list[i]};
    return 1;
}

static void put_u64_text(const struct target *t, idx_t row, int64_t bits)
{
    put_digits(t, row, "%" PRIu64, (uint64_t)bits);
}

/* Cells of another type than the column's, where files disagree. */
static int convert(const struct target *t, const pcol_cells *cells, size_t row)
{
    int is_text = t->shown == SHOWN_VARCHAR || t->shown == SHOWN_BLOB;
    switch (cells->type) {
    case PCOL_U64:
        if (t->shown == SHOWN_DOUBLE)
            target_f64(t, row, (double)(uint64_t)cells->i64[row]);
        else if (is_text)
            put_u64_text(t, row, cells->i64[row]);
        else
            target_i64(t, row, cells->i64[row]);
        return t->shown == SHOWN_UBIGINT || t->shown == SHOWN_DOUBLE || is_text;
    case PCOL_BOOL:
        if (is_text)
            put_digits(t, row, "%s", cells->i64[row] ? "true" : "false");
        else
            target_i64(t, row, cells->i64[row]);
        return t->shown == SHOWN_BOOLEAN || is_text;
    case PCOL_I64:
    case PCOL_U32:
        target_i64(t, row, cells->i64[row]);
        return t->shown == SHOWN_BIGINT || t->shown == SHOWN_DOUBLE || is_text ||
               (t->shown == SHOWN_UINTEGER && cells->type == PCOL_U32);
    case PCOL_F64:
        target_f64(t, row, cells->f64[row]);
        return t->shown == SHOWN_DOUBLE || is_text;
    case PCOL_STRING:
    case PCOL_BYTES:
        if (cells->codes != NULL)
            target_text(t, row, t->pool->strings[cells->codes[row]]);
        else
            copy_text(t, row, cells->str[row]);
        return is_text;
    case PCOL_LIST:
        break;
    }
    return 0;
}

/* Whether the type of the file is one that the column shows, so that no cell changes its value. */
static int is_shown(enum shown shown, pcol_type type)
{
    switch (type) {
    case PCOL_LIST:
        return shown == SHOWN_LIST;
    case PCOL_U64:
        return shown == SHOWN_UBIGINT || shown == SHOWN_DOUBLE || shown == SHOWN_VARCHAR ||
               shown == SHOWN_BLOB;
    case PCOL_STRING:
    case PCOL_BYTES:
        return shown == SHOWN_VARCHAR || shown == SHOWN_BLOB;
    case PCOL_BOOL:
        return shown == SHOWN_BOOLEAN || shown == SHOWN_VARCHAR || shown == SHOWN_BLOB;
    case PCOL_F64:
        return shown == SHOWN_DOUBLE || shown == SHOWN_VARCHAR || shown == SHOWN_BLOB;
    case PCOL_U32:
        if (shown == SHOWN_UINTEGER)
            return 1;
        break;
    case PCOL_I64:
        break;
    }
    return shown == SHOWN_BIGINT || shown == SHOWN_DOUBLE || shown == SHOWN_VARCHAR ||
           shown == SHOWN_BLOB;
}

void target_nulls(const struct target *t, const uint8_t *valid, size_t rows)
{
    const uint8_t *at = valid, *end = valid + rows;
    while (at < end && (at = memchr(at, 0, (size_t)(end - at))) != NULL) {
        target_null(t, (idx_t)(at - valid));
        at++;
    }
}

int target_has_layout(const struct target *t, pcol_type type)
{
    return (t->shown == SHOWN_BIGINT && type == PCOL_I64) ||
           (t->shown == SHOWN_DOUBLE && type == PCOL_F64);
}

void target_constant(const struct target *t, int64_t value, size_t rows)
{
    if (t->shown != SHOWN_BIGINT || reference_value == NULL) {
        for (size_t i = 0; i < rows; i++)
            target_i64(t, i, value);
        return;
    }
    duckdb_value constant = duckdb_create_int64(value);
    reference_value(t->vector, constant);
    duckdb_destroy_value(&constant);
}

static void put_u32(uint32_t *restrict to, const int64_t *restrict from, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        to[i] = (uint32_t)from[i];
}

static int put_values(const struct target *t, const pcol_cells *cells, size_t rows)
{
    if (t->shown == SHOWN_LIST)
        return put_list(t, cells, rows);
    if (t->shown == SHOWN_UINTEGER)
        put_u32(t->data, cells->i64, rows);
    else if (target_has_layout(t, cells->type))
        memcpy(t->data, cells->type == PCOL_F64 ? (const void *)cells->f64 : cells->i64,
               rows * sizeof *cells->i64);
    else
        for (size_t i = 0; i < rows; i++)
            if (cells->valid[i] && !convert(t, cells, i))
                return 0;
    return 1;
}

int target_cells(const struct target *t, const pcol_cells *cells, size_t rows)
{
    if (!is_shown(t->shown, cells->type) || !put_values(t, cells, rows))
        return 0;
    target_nulls(t, cells->valid, rows);
    return 1;
}
