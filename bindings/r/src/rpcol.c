/*
 * rpcol.c - native part of the R package: one function `rp_call` that R calls by the name of an operation
 *
 * Every operation runs under R_ExecWithCleanup: whatever a call of the library holds is in `struct call` and is released when
 * R jumps out of an allocation. Errors of the library are returned as lists; R/conditions.R raises them. Progress calls of
 * the library look for interrupts. Tests: tests/testthat.
 */
#define R_NO_REMAP
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <Rinternals.h>
#include <pcol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTICES 64
#define EXACT_DOUBLE ((int64_t)1 << 53)

/* An open profile: a mapped pcol file, or an import with its bytes. */
struct handle {
    pcol_file *file;
    void *data;
    size_t size;
    char *path; /* of a mapped file */
};

/* Everything that one operation holds. */
struct call {
    pcol_status status;
    pcol_error err;
    pcol_control control;
    int notice_count;
    char *notices[MAX_NOTICES];
    int notice_codes[MAX_NOTICES];
    struct handle *handle; /* being opened */
    pcol_builder *builder;
    pcol_query *queries[2];
    pcol_scan *scan;
    pcol_names *names;
    pcol_result *result;
    pcol_output *output;
    void *memory;
    const char *label_texts[64], *meta_texts[64];
    SEXP (*body)(struct call *, SEXP);
    SEXP args;
};

/* ---- conversions */

/* Length of the UTF-8 sequence at @s, at most 4; 0 if it is none, or a NUL. */
static size_t utf8_length(const unsigned char *s, size_t size)
{
    if (s[0] < 0x80)
        return s[0] != 0;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || size < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    unsigned second = s[1];
    if ((s[0] == 0xe0 && second < 0xa0) || (s[0] == 0xed && second > 0x9f) ||
        (s[0] == 0xf0 && second < 0x90) || (s[0] == 0xf4 && second > 0x8f))
        return 0;
    return n;
}

/* A string marked as UTF-8; bytes that are not UTF-8 become \xNN. */
static SEXP make_char(pcol_str text)
{
    const unsigned char *s = (const unsigned char *)text.data;
    size_t i = 0, n = 1;
    for (; i < text.size && n; i += n)
        n = utf8_length(s + i, text.size - i);
    if (n || text.size == 0)
        return Rf_mkCharLenCE(text.size ? text.data : "", (int)text.size, CE_UTF8);
    const void *top = vmaxget();
    char *out = R_alloc(text.size, 4), *to = out;
    for (i = 0; i < text.size; i += n) {
        n = utf8_length(s + i, text.size - i);
        if (n) {
            memcpy(to, s + i, n);
            to += n;
        } else {
            static const char hex[] = "0123456789abcdef";
            *to++ = '\\';
            *to++ = 'x';
            *to++ = hex[s[i] >> 4];
            *to++ = hex[s[i] & 15];
            n = 1;
        }
    }
    SEXP made = Rf_mkCharLenCE(out, (int)(to - out), CE_UTF8);
    vmaxset(top);
    return made;
}

static SEXP make_char_z(const char *text)
{
    return text ? make_char((pcol_str){text, strlen(text)}) : NA_STRING;
}

static SEXP make_string(const char *text)
{
    return Rf_ScalarString(make_char_z(text));
}

/* Text argument: NULL or NA gives NULL. */
static const char *text_of(SEXP value)
{
    if (TYPEOF(value) != STRSXP || XLENGTH(value) == 0 || STRING_ELT(value, 0) == NA_STRING)
        return NULL;
    return Rf_translateCharUTF8(STRING_ELT(value, 0));
}

static int flag_of(SEXP value)
{
    return Rf_asLogical(value) == TRUE;
}

/* Member of a named list; R_NilValue if there is none. */
static SEXP member(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(list, i);
    return R_NilValue;
}

/* A list with the @count names; members are set by the caller. Not protected. */
static SEXP named_list(const char *const *names, int count)
{
    SEXP list = PROTECT(Rf_allocVector(VECSXP, count));
    SEXP labels = Rf_allocVector(STRSXP, count);
    Rf_setAttrib(list, R_NamesSymbol, labels);
    for (int i = 0; i < count; i++)
        SET_STRING_ELT(labels, i, Rf_mkCharCE(names[i], CE_UTF8));
    UNPROTECT(1);
    return list;
}

/* ---- numbers: collected as the bits of int64 in a vector of doubles, then converted as a whole */

enum number_kind { NUMBER_INTEGER, NUMBER_LOGICAL, NUMBER_SIGNED, NUMBER_UNSIGNED };

static int64_t bits_at(SEXP vector, R_xlen_t i)
{
    int64_t bits;
    memcpy(&bits, REAL(vector) + i, sizeof bits);
    return bits;
}

/* INT64_MIN is NA, as in bit64. */
static void set_bits(SEXP vector, R_xlen_t i, int64_t bits, int valid)
{
    if (!valid)
        bits = INT64_MIN;
    memcpy(REAL(vector) + i, &bits, sizeof bits);
}

static int fits(SEXP vector, int64_t limit)
{
    for (R_xlen_t i = 0; i < XLENGTH(vector); i++) {
        int64_t v = bits_at(vector, i);
        if (v != INT64_MIN && (v > limit || v < -limit))
            return 0;
    }
    return 1;
}

/* Integer, logical, double, or integer64 beyond 2^53 if @bit64. */
static SEXP finish_numbers(SEXP vector, enum number_kind kind, int bit64)
{
    R_xlen_t n = XLENGTH(vector);
    if (kind == NUMBER_LOGICAL || (kind == NUMBER_INTEGER && fits(vector, INT32_MAX))) {
        SEXP out = Rf_allocVector(kind == NUMBER_LOGICAL ? LGLSXP : INTSXP, n);
        int *to = kind == NUMBER_LOGICAL ? LOGICAL(out) : INTEGER(out);
        for (R_xlen_t i = 0; i < n; i++) {
            int64_t v = bits_at(vector, i);
            to[i] = v == INT64_MIN ? NA_INTEGER : (int)v;
        }
        return out;
    }
    if (kind != NUMBER_UNSIGNED && bit64 && !fits(vector, EXACT_DOUBLE)) {
        Rf_setAttrib(vector, R_ClassSymbol, Rf_mkString("integer64"));
        return vector;
    }
    for (R_xlen_t i = 0; i < n; i++) {
        int64_t v = bits_at(vector, i);
        REAL(vector)
        [i] = v == INT64_MIN            ? NA_REAL
              : kind == NUMBER_UNSIGNED ? (double)(uint64_t)v
                                        : (double)v;
    }
    return vector;
}

/* ---- calls */

static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

static int poll_interrupt(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    return !R_ToplevelExec(check_interrupt, NULL);
}

static void keep_notice(void *context, const pcol_notice *notice)
{
    struct call *c = context;
    if (c->notice_count == MAX_NOTICES)
        return;
    char *text = malloc(strlen(notice->text) + 1);
    if (!text)
        return;
    strcpy(text, notice->text);
    c->notices[c->notice_count] = text;
    c->notice_codes[c->notice_count++] = (int)notice->code;
}

/* Record a status; returns whether it is an error. */
static int failed(struct call *c, pcol_status status)
{
    if (status != PCOL_OK)
        c->status = status;
    return status != PCOL_OK;
}

/* An error of this package itself; returns R_NilValue. */
static SEXP fail(struct call *c, pcol_status status, const char *message)
{
    c->status = c->err.status = status;
    snprintf(c->err.message, sizeof c->err.message, "%s", message);
    return R_NilValue;
}

static int interrupted(struct call *c)
{
    if (!poll_interrupt(NULL, "", 0, 0))
        return 0;
    fail(c, PCOL_E_CANCELLED, "interrupted");
    return 1;
}

static void free_handle(struct handle *h)
{
    if (!h)
        return;
    pcol_file_close(h->file);
    pcol_free(h->data);
    free(h->path);
    free(h);
}

static void finalize_handle(SEXP pointer)
{
    free_handle(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static void clean_call(void *data)
{
    struct call *c = data;
    pcol_result_free(c->result);
    pcol_names_free(c->names);
    pcol_scan_free(c->scan);
    pcol_query_free(c->queries[0]);
    pcol_query_free(c->queries[1]);
    pcol_builder_free(c->builder);
    if (c->output)
        pcol_output_abort(c->output);
    free_handle(c->handle);
    free(c->memory);
    for (int i = 0; i < c->notice_count; i++)
        free(c->notices[i]);
}

static const char *const TABLE = "table";

static SEXP arg(SEXP args, int index)
{
    return VECTOR_ELT(args, index);
}

/* The open profile of the first argument; NULL after recording an error. */
static struct handle *handle_of(struct call *c, SEXP pointer)
{
    struct handle *h = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
    if (!h)
        fail(c, PCOL_E_STATE,
             "the profile belongs to another R session; open it again with open_profile()");
    return h;
}

/* ---- opening */

static pcol_status import_input(struct call *c, SEXP input, const char *name, SEXP options)
{
    pcol_builder_options bo = PCOL_INIT(pcol_builder_options);
    bo.temporary_folder = text_of(member(options, "tempdir"));
    pcol_status st = pcol_builder_new(&bo, &c->builder, &c->err);
    if (st != PCOL_OK)
        return st;
    pcol_import_options io = PCOL_INIT(pcol_import_options);
    io.format = text_of(member(options, "format"));
    io.lenient = flag_of(member(options, "lenient"));
    io.control = &c->control;
    io.flags = flag_of(member(options, "trusted")) ? PCOL_IMPORT_TRUSTED : 0;
    io.open_flags = PCOL_OPEN_GUARD;
    if (TYPEOF(input) == RAWSXP)
        return pcol_import_memory(c->builder, RAW(input), (size_t)XLENGTH(input), name, &io,
                                  &c->err);
    return pcol_import_path(c->builder, name, &io, &c->err);
}

static pcol_status open_import(struct call *c, SEXP input, const char *name, SEXP options)
{
    struct handle *h = c->handle;
    pcol_status st = import_input(c, input, name, options);
    if (st == PCOL_OK)
        st = pcol_builder_write_memory(c->builder, PCOL_WRITE_QUICK, &c->control, &h->data,
                                       &h->size, &c->err);
    if (st == PCOL_OK)
        st = pcol_file_open_memory(h->data, h->size, NULL, &h->file, &c->err);
    return st;
}

/* (input: path or raw, name, options) -> external pointer */
static SEXP op_open(struct call *c, SEXP args)
{
    SEXP input = arg(args, 0), options = arg(args, 2);
    const char *name = text_of(arg(args, 1));
    c->handle = calloc(1, sizeof *c->handle);
    if (!c->handle)
        return fail(c, PCOL_E_NO_MEMORY, "out of memory");
    pcol_status st = PCOL_E_MAGIC;
    if (TYPEOF(input) != RAWSXP && !text_of(member(options, "format"))) {
        pcol_open_options oo = PCOL_INIT(pcol_open_options);
        oo.flags = PCOL_OPEN_GUARD;
        st = pcol_file_open(name, &oo, &c->handle->file, &c->err);
        c->handle->path = malloc(strlen(name) + 1);
        if (!c->handle->path)
            return fail(c, PCOL_E_NO_MEMORY, "out of memory");
        strcpy(c->handle->path, name);
    }
    if (st == PCOL_E_MAGIC)
        st = open_import(c, input, name, options);
    if (failed(c, st))
        return R_NilValue;
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalize_handle, TRUE);
    R_SetExternalPtrAddr(pointer, c->handle);
    c->handle = NULL;
    UNPROTECT(1);
    return pointer;
}

/* ---- tables */

static pcol_status tables_of(struct call *c, const pcol_file *file, pcol_model model, SEXP out)
{
    uint32_t n = pcol_file_table_count(file, model), kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const pcol_table *table;
        if (model == PCOL_MODEL_FURTHER && pcol_file_table_is_internal(file, i))
            continue;
        pcol_status st = pcol_file_table(file, model, i, &table, &c->err);
        if (st != PCOL_OK)
            return st;
        SET_STRING_ELT(VECTOR_ELT(out, 0), kept, make_char_z(pcol_table_name(table)));
        REAL(VECTOR_ELT(out, 1))[kept] = (double)pcol_table_rows(table);
        INTEGER(VECTOR_ELT(out, 2))[kept++] = (int)pcol_table_column_count(table);
    }
    for (int k = 0; k < 3; k++)
        SET_VECTOR_ELT(out, k, Rf_xlengthgets(VECTOR_ELT(out, k), kept));
    return PCOL_OK;
}

/* (handle, model) -> list(table, rows, columns) */
static SEXP op_tables(struct call *c, SEXP args)
{
    struct handle *h = handle_of(c, arg(args, 0));
    if (!h)
        return R_NilValue;
    pcol_model model = (pcol_model)Rf_asInteger(arg(args, 1));
    uint32_t n = pcol_file_table_count(h->file, model);
    const char *names[] = {TABLE, "rows", "columns"};
    SEXP out = PROTECT(named_list(names, 3));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(STRSXP, n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, n));
    SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, n));
    failed(c, tables_of(c, h->file, model, out));
    UNPROTECT(1);
    return out;
}

static enum number_kind kind_of(const pcol_column_info *info)
{
    static const char *const INTEGERS[] = {"depth",   "line",         "start_line",
                                           ".column", ".file_number", "row"};
    if (info->type == PCOL_BOOL)
        return NUMBER_LOGICAL;
    if (info->primary_key || info->references || info->type == PCOL_U32)
        return NUMBER_INTEGER;
    for (size_t i = 0; i < sizeof INTEGERS / sizeof *INTEGERS; i++)
        if (strcmp(info->name, INTEGERS[i]) == 0)
            return NUMBER_INTEGER;
    return info->type == PCOL_U64 ? NUMBER_UNSIGNED : NUMBER_SIGNED;
}

static void copy_strings(SEXP out, R_xlen_t first, const pcol_cells *cells, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        const pcol_str *s = cells->str + i;
        SEXP text;
        if (!cells->valid[i])
            text = NA_STRING;
        else if (i && cells->valid[i - 1] && s->data == s[-1].data && s->size == s[-1].size)
            text = STRING_ELT(out, first + (R_xlen_t)i - 1);
        else
            text = make_char(*s);
        SET_STRING_ELT(out, first + (R_xlen_t)i, text);
    }
}

static void copy_lists(SEXP out, R_xlen_t first, const pcol_cells *cells, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        uint64_t from = cells->list[i], to = cells->list[i + 1];
        SEXP cell = Rf_allocVector(INTSXP, (R_xlen_t)(to - from));
        SET_VECTOR_ELT(out, first + (R_xlen_t)i, cell);
        for (uint64_t k = from; k < to; k++)
            INTEGER(cell)[k - from] = (int)cells->list_values[k];
    }
}

static void copy_cells(SEXP out, R_xlen_t first, const pcol_cells *cells, size_t rows)
{
    if (cells->type == PCOL_STRING || cells->type == PCOL_BYTES)
        copy_strings(out, first, cells, rows);
    else if (cells->type == PCOL_LIST)
        copy_lists(out, first, cells, rows);
    else if (cells->type == PCOL_F64)
        for (size_t i = 0; i < rows; i++)
            REAL(out)[first + (R_xlen_t)i] = cells->valid[i] ? cells->f64[i] : NA_REAL;
    else
        for (size_t i = 0; i < rows; i++)
            set_bits(out, first + (R_xlen_t)i, cells->i64[i], cells->valid[i]);
}

static SEXPTYPE vector_type(pcol_type type)
{
    return type == PCOL_STRING || type == PCOL_BYTES ? STRSXP
           : type == PCOL_LIST                       ? VECSXP
                                                     : REALSXP;
}

/* Fails only for NULL: the name is empty then. */
static pcol_column_info describe(const pcol_column *column)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    if (pcol_column_describe(column, &info, NULL) != PCOL_OK)
        info.name = "";
    return info;
}

static void allocate_columns(const pcol_table *table, const uint32_t *columns, SEXP out, SEXP names)
{
    for (R_xlen_t k = 0; k < XLENGTH(out); k++) {
        pcol_column_info info = describe(pcol_table_column(table, columns[k]));
        SET_STRING_ELT(names, k, make_char_z(info.name));
        SET_VECTOR_ELT(out, k,
                       Rf_allocVector(vector_type(info.type), (R_xlen_t)pcol_table_rows(table)));
    }
}

static pcol_status scan_table(struct call *c, const pcol_table *table, const uint32_t *columns,
                              SEXP out)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    options.columns = columns;
    options.column_count = (uint32_t)XLENGTH(out);
    options.control = &c->control;
    pcol_status st = pcol_scan_new(table, &options, &c->scan, &c->err);
    while (st == PCOL_OK) {
        st = pcol_scan_next(c->scan, &batch, &c->err);
        if (st != PCOL_OK || batch.rows == 0)
            return st;
        for (uint32_t k = 0; k < batch.column_count; k++)
            copy_cells(VECTOR_ELT(out, k), (R_xlen_t)batch.first_row, batch.columns + k,
                       batch.rows);
    }
    return st;
}

static void finish_columns(const pcol_table *table, const uint32_t *columns, SEXP out, int bit64)
{
    for (R_xlen_t k = 0; k < XLENGTH(out); k++) {
        pcol_column_info info = describe(pcol_table_column(table, columns[k]));
        if (vector_type(info.type) == REALSXP && info.type != PCOL_F64)
            SET_VECTOR_ELT(out, k, finish_numbers(VECTOR_ELT(out, k), kind_of(&info), bit64));
    }
}

/* Numbers of the columns @wanted, or of all for R_NilValue; NULL after recording an error. */
static uint32_t *choose_columns(struct call *c, const pcol_table *table, SEXP wanted,
                                uint32_t *count)
{
    *count = wanted == R_NilValue ? pcol_table_column_count(table) : (uint32_t)XLENGTH(wanted);
    uint32_t *columns = c->memory = calloc((size_t)*count + 1, sizeof *columns);
    if (!columns)
        fail(c, PCOL_E_NO_MEMORY, "out of memory");
    for (uint32_t k = 0; columns && k < *count; k++) {
        columns[k] = k;
        if (wanted != R_NilValue &&
            !pcol_table_column_by_name(table, CHAR(STRING_ELT(wanted, k)), columns + k)) {
            fail(c, PCOL_E_NOT_FOUND, "no such column");
            return NULL;
        }
    }
    return columns;
}

/* (handle, model, name, columns or NULL, bit64) -> list of columns */
static SEXP op_table(struct call *c, SEXP args)
{
    struct handle *h = handle_of(c, arg(args, 0));
    const pcol_table *table;
    const char *name = text_of(arg(args, 2));
    uint32_t count;
    if (!h || !name ||
        failed(c, pcol_file_table_by_name(h->file, (pcol_model)Rf_asInteger(arg(args, 1)), name,
                                          &table, &c->err)))
        return R_NilValue;
    const uint32_t *columns = choose_columns(c, table, arg(args, 3), &count);
    if (!columns)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, count));
    Rf_setAttrib(out, R_NamesSymbol, names);
    allocate_columns(table, columns, out, names);
    if (!failed(c, scan_table(c, table, columns, out)) &&
        !failed(c, pcol_file_intact(h->file, &c->err)))
        finish_columns(table, columns, out, flag_of(arg(args, 4)));
    UNPROTECT(2);
    return out;
}

/* ---- call stacks */

#define STACK_BATCH 4096

/* The locations (ids from 1) of one stack, innermost first. */
static SEXP stack_locations(struct call *c, const pcol_file *file, uint64_t stack)
{
    size_t depth = 0;
    uint32_t few[512];
    if (failed(c, pcol_stack_locations(file, stack, few, 512, &depth, &c->err)))
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)depth));
    uint32_t *rows = depth <= 512 ? few : (uint32_t *)INTEGER(out);
    if (depth > 512)
        failed(c, pcol_stack_locations(file, stack, rows, depth, &depth, &c->err));
    for (size_t i = 0; i < depth; i++)
        INTEGER(out)[i] = (int)(rows[i] + 1);
    UNPROTECT(1);
    return out;
}

/* Number the stacks in order of first use: index[stack] is a number from 1. */
static pcol_status number_stacks(struct call *c, const pcol_column *column, int *out,
                                 uint32_t *index, uint64_t stacks, uint32_t *order,
                                 uint32_t *distinct)
{
    int64_t values[STACK_BATCH];
    uint8_t valid[STACK_BATCH];
    pcol_column_info info = describe(column);
    for (uint64_t row = 0; row < info.rows; row += STACK_BATCH) {
        size_t n = info.rows - row < STACK_BATCH ? (size_t)(info.rows - row) : STACK_BATCH;
        pcol_status st = pcol_column_read_i64(column, row, n, values, valid, &c->err);
        if (st != PCOL_OK)
            return st;
        if (row % (STACK_BATCH * 64) == 0 && interrupted(c))
            return PCOL_E_CANCELLED;
        for (size_t i = 0; i < n; i++) {
            uint64_t stack = (uint64_t)values[i];
            if (!valid[i] || stack >= stacks) {
                out[row + i] = NA_INTEGER;
                continue;
            }
            if (!index[stack]) {
                order[*distinct] = (uint32_t)stack;
                index[stack] = ++*distinct;
            }
            out[row + i] = (int)index[stack];
        }
    }
    return PCOL_OK;
}

/* A physical table; NULL if the file has none of this name, as profiles without samples. */
static const pcol_table *physical_table(struct call *c, const pcol_file *file, const char *name)
{
    const pcol_table *table = NULL;
    pcol_status st = pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, &table, &c->err);
    if (st != PCOL_E_NOT_FOUND)
        failed(c, st);
    return table;
}

/* (handle) -> list(stack of each sample, NA for none; locations of each stack) */
static SEXP op_stacks(struct call *c, SEXP args)
{
    struct handle *h = handle_of(c, arg(args, 0));
    if (!h)
        return R_NilValue;
    const pcol_table *samples = physical_table(c, h->file, "samples");
    const pcol_table *stacks = physical_table(c, h->file, "stacks");
    if (c->status != PCOL_OK)
        return R_NilValue;
    const pcol_column *column = pcol_table_column_by_name(samples, "stack", NULL);
    uint64_t n = pcol_table_rows(stacks), rows = pcol_table_rows(samples);
    const char *names[] = {"stack", "locations"};
    SEXP out = PROTECT(named_list(names, 2));
    SEXP stack = Rf_allocVector(INTSXP, (R_xlen_t)rows);
    SET_VECTOR_ELT(out, 0, stack);
    for (R_xlen_t i = 0; i < (R_xlen_t)rows; i++)
        INTEGER(stack)[i] = NA_INTEGER;
    uint32_t *index = c->memory = calloc(2 * (size_t)n + 1, sizeof *index), distinct = 0;
    if (!index) {
        UNPROTECT(1);
        return fail(c, PCOL_E_NO_MEMORY, "out of memory");
    }
    uint32_t *order = index + n;
    if (column)
        failed(c, number_stacks(c, column, INTEGER(stack), index, n, order, &distinct));
    SEXP locations = Rf_allocVector(VECSXP, distinct);
    SET_VECTOR_ELT(out, 1, locations);
    for (uint32_t i = 0; i < distinct && c->status == PCOL_OK; i++)
        SET_VECTOR_ELT(locations, i, stack_locations(c, h->file, order[i]));
    if (c->status == PCOL_OK)
        failed(c, pcol_file_intact(h->file, &c->err));
    UNPROTECT(1);
    return out;
}

/* The locations of one stack as a data frame of one column; @ids: 0 for locations that are left out. */
static SEXP stack_frame(SEXP stack, const int *ids, SEXP names, SEXP class)
{
    R_xlen_t n = XLENGTH(stack), kept = 0;
    for (R_xlen_t i = 0; i < n; i++)
        kept += ids[INTEGER(stack)[i] - 1] != 0;
    SEXP frame = PROTECT(Rf_allocVector(VECSXP, 1)), column = Rf_allocVector(INTSXP, kept);
    SET_VECTOR_ELT(frame, 0, column);
    for (R_xlen_t i = 0, to = 0; i < n; i++)
        if (ids[INTEGER(stack)[i] - 1])
            INTEGER(column)[to++] = ids[INTEGER(stack)[i] - 1];
    SEXP rows = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(rows)[0] = NA_INTEGER;
    INTEGER(rows)[1] = -(int)kept;
    Rf_setAttrib(frame, R_NamesSymbol, names);
    Rf_setAttrib(frame, R_RowNamesSymbol, rows);
    Rf_setAttrib(frame, R_ClassSymbol, class);
    UNPROTECT(2);
    return frame;
}

/* (locations of stacks, id of each location, class) -> list(data frame of each stack, its rows) */
static SEXP op_frames(struct call *c, SEXP args)
{
    (void)c;
    SEXP locations = arg(args, 0);
    R_xlen_t n = XLENGTH(locations);
    const char *names[] = {"frames", "rows"};
    SEXP out = PROTECT(named_list(names, 2)), name = PROTECT(Rf_mkString("location_id"));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(VECSXP, n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP frame =
            stack_frame(VECTOR_ELT(locations, i), INTEGER(arg(args, 1)), name, arg(args, 2));
        SET_VECTOR_ELT(VECTOR_ELT(out, 0), i, frame);
        INTEGER(VECTOR_ELT(out, 1))[i] = (int)XLENGTH(VECTOR_ELT(frame, 0));
    }
    UNPROTECT(2);
    return out;
}

/* (handle) -> names of the locations as all answers show them */
static SEXP op_names(struct call *c, SEXP args)
{
    struct handle *h = handle_of(c, arg(args, 0));
    const pcol_table *locations;
    if (!h ||
        failed(c,
               pcol_file_table_by_name(h->file, PCOL_MODEL_V2, "locations", &locations, &c->err)) ||
        failed(c, pcol_names_new(h->file, &c->names, &c->err)))
        return R_NilValue;
    R_xlen_t n = (R_xlen_t)pcol_table_rows(locations);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        pcol_str name;
        if (failed(c, pcol_names_location(c->names, (uint64_t)i, &name, &c->err)))
            break;
        SET_STRING_ELT(out, i, make_char(name));
    }
    if (c->status == PCOL_OK)
        failed(c, pcol_file_intact(h->file, &c->err));
    UNPROTECT(1);
    return out;
}

/* Add the columns of @weights for stack @s to row @token of @sums. */
static void add_weights(SEXP sums, SEXP weights, R_xlen_t token, R_xlen_t s)
{
    R_xlen_t rows = Rf_nrows(sums), stacks = Rf_nrows(weights);
    for (int k = 0; k < Rf_ncols(weights); k++)
        REAL(sums)[token + k * rows] += REAL(weights)[s + k * stacks];
}

/*
 * (locations of each stack, matrix of 2 tokens of each location, weights of stacks as a matrix, number of tokens,
 * token of stacks without any) -> list(self, total): sums of the weights by token, a matrix each. NA is no token.
 */
static SEXP op_totals(struct call *c, SEXP args)
{
    SEXP locations = arg(args, 0), tokens = arg(args, 1), weights = arg(args, 2);
    int count = Rf_asInteger(arg(args, 3)), fallback = Rf_asInteger(arg(args, 4));
    int columns = Rf_ncols(weights);
    const char *names[] = {"self", "total"};
    SEXP out = PROTECT(named_list(names, 2));
    for (int k = 0; k < 2; k++) {
        SET_VECTOR_ELT(out, k, Rf_allocMatrix(REALSXP, count, columns));
        memset(REAL(VECTOR_ELT(out, k)), 0, (size_t)count * (size_t)columns * sizeof(double));
    }
    R_xlen_t *last = c->memory = calloc((size_t)count + 1, sizeof *last);
    if (!last) {
        UNPROTECT(1);
        return fail(c, PCOL_E_NO_MEMORY, "out of memory");
    }
    int rows = Rf_nrows(tokens);
    for (R_xlen_t s = 0; s < XLENGTH(locations); s++) {
        SEXP stack = VECTOR_ELT(locations, s);
        int seen = 0;
        for (R_xlen_t i = 0; i < 2 * XLENGTH(stack) + 1; i++) {
            int token = i < 2 * XLENGTH(stack)
                            ? INTEGER(tokens)[INTEGER(stack)[i / 2] - 1 + (i % 2) * rows]
                        : seen ? NA_INTEGER
                               : fallback;
            if (token == NA_INTEGER)
                continue;
            if (!seen++)
                add_weights(VECTOR_ELT(out, 0), weights, token - 1, s);
            if (last[token - 1] != s + 1)
                add_weights(VECTOR_ELT(out, 1), weights, token - 1, s);
            last[token - 1] = s + 1;
        }
    }
    UNPROTECT(1);
    return out;
}

/* ---- queries */

/* The strings of a vector, at most 64; their number. */
static size_t read_texts(SEXP vector, const char **texts)
{
    size_t n = TYPEOF(vector) == STRSXP ? (size_t)XLENGTH(vector) : 0;
    n = n < 64 ? n : 64;
    for (size_t i = 0; i < n; i++)
        texts[i] = Rf_translateCharUTF8(STRING_ELT(vector, (R_xlen_t)i));
    return n;
}

/* Fill @sel from an R list; texts live until the call ends. */
static void read_selection(struct call *c, SEXP list, pcol_selection *sel)
{
    sel->sample_type = text_of(member(list, "sample_type"));
    sel->focus = text_of(member(list, "focus"));
    sel->ignore = text_of(member(list, "ignore"));
    sel->hide = text_of(member(list, "hide"));
    sel->show = text_of(member(list, "show"));
    sel->thread = text_of(member(list, "thread"));
    sel->source = text_of(member(list, "source"));
    SEXP time = member(list, "time");
    sel->labels = c->label_texts;
    sel->label_count = read_texts(member(list, "labels"), c->label_texts);
    sel->source_metas = c->meta_texts;
    sel->source_meta_count = read_texts(member(list, "source_metas"), c->meta_texts);
    if (TYPEOF(time) == REALSXP && XLENGTH(time) == 2) {
        sel->has_time = 1;
        sel->time_from_ns = REAL(time)[0] <= -9e18 ? INT64_MIN : (int64_t)REAL(time)[0];
        sel->time_to_ns = REAL(time)[1] >= 9e18 ? INT64_MAX : (int64_t)REAL(time)[1];
    }
    sel->keep_dropped = flag_of(member(list, "keep_dropped"));
}

static pcol_query *new_query(struct call *c, int index, SEXP pointer, SEXP list)
{
    struct handle *h = handle_of(c, pointer);
    pcol_selection sel = PCOL_INIT(pcol_selection);
    if (!h)
        return NULL;
    read_selection(c, list, &sel);
    failed(c, pcol_query_new(h->file, &sel, &c->control, &c->queries[index], &c->err));
    return c->queries[index];
}

/* After an answer was copied: was the file whole until now? */
static void verify_intact(struct call *c, SEXP pointer)
{
    struct handle *h = R_ExternalPtrAddr(pointer);
    if (c->status == PCOL_OK)
        failed(c, pcol_file_intact(h->file, &c->err));
}

/* Addresses as text: R has no unsigned integers of 64 bits. */
static SEXP address_texts(const pcol_column *column, R_xlen_t rows)
{
    SEXP out = Rf_allocVector(STRSXP, rows);
    PROTECT(out);
    for (R_xlen_t i = 0; i < rows; i++) {
        char text[24];
        int64_t address = 0;
        int valid = 0;
        if (pcol_column_i64(column, (uint64_t)i, &address, &valid, NULL) != PCOL_OK || !valid) {
            SET_STRING_ELT(out, i, NA_STRING);
            continue;
        }
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
        SET_STRING_ELT(out, i, Rf_mkChar(text));
    }
    UNPROTECT(1);
    return out;
}

/* The columns of the result; R_NilValue after recording an error. */
static SEXP result_columns(struct call *c, int bit64)
{
    const pcol_table *table = pcol_result_table(c->result);
    uint32_t count, address;
    const uint32_t *columns = choose_columns(c, table, R_NilValue, &count);
    const pcol_column *addresses = pcol_table_column_by_name(table, "address", &address);
    if (!columns)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, count));
    Rf_setAttrib(out, R_NamesSymbol, names);
    allocate_columns(table, columns, out, names);
    if (!failed(c, scan_table(c, table, columns, out))) {
        finish_columns(table, columns, out, bit64);
        if (addresses)
            SET_VECTOR_ELT(out, address,
                           address_texts(addresses, (R_xlen_t)pcol_table_rows(table)));
    }
    UNPROTECT(2);
    return out;
}

static double amount_of(pcol_amount amount, int is_double)
{
    return is_double ? amount.f64 : (double)amount.i64;
}

/* Attribute "info" of an answer: what its amounts are. */
static void attach_info(SEXP out, pcol_query *query)
{
    const char *names[] = {"type", "unit", "total", "selected", "seconds", "note"};
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    (void)!pcol_query_describe(query, &info, NULL);
    int is_double = (info.flags & PCOL_QUERY_IS_DOUBLE) != 0;
    SEXP list = PROTECT(named_list(names, 6));
    SET_VECTOR_ELT(list, 0, Rf_ScalarString(make_char(info.type)));
    SET_VECTOR_ELT(list, 1, Rf_ScalarString(make_char(info.unit)));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(amount_of(info.total, is_double)));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal(amount_of(info.selected, is_double)));
    SET_VECTOR_ELT(list, 4, Rf_ScalarReal(info.seconds_per_value));
    SET_VECTOR_ELT(list, 5, make_string(info.note));
    Rf_setAttrib(out, Rf_install("info"), list);
    UNPROTECT(1);
}

/* The result of the query with its description. */
static SEXP answer_of(struct call *c, SEXP pointer, pcol_query *query, int bit64)
{
    SEXP out = PROTECT(result_columns(c, bit64));
    if (c->status == PCOL_OK)
        attach_info(out, query);
    verify_intact(c, pointer);
    UNPROTECT(1);
    return out;
}

/* (handle, selection, by, label, order, bit64) -> answer */
static SEXP op_top(struct call *c, SEXP args)
{
    pcol_query *q = new_query(c, 0, arg(args, 0), arg(args, 1));
    pcol_top_options o = PCOL_INIT(pcol_top_options);
    o.by = (pcol_by)Rf_asInteger(arg(args, 2));
    o.label = text_of(arg(args, 3));
    o.order = (pcol_order)Rf_asInteger(arg(args, 4));
    if (!q || failed(c, pcol_query_top(q, &o, &c->result, &c->err)))
        return R_NilValue;
    return answer_of(c, arg(args, 0), q, flag_of(arg(args, 5)));
}

/* (handle, selection, by, order, bottom_up, max_depth, bit64) -> answer, first row the root */
static SEXP op_tree(struct call *c, SEXP args)
{
    pcol_query *q = new_query(c, 0, arg(args, 0), arg(args, 1));
    pcol_tree_options o = PCOL_INIT(pcol_tree_options);
    o.by = (pcol_by)Rf_asInteger(arg(args, 2));
    o.order = (pcol_order)Rf_asInteger(arg(args, 3));
    o.flags = flag_of(arg(args, 4)) ? PCOL_TREE_BOTTOM_UP : 0;
    o.max_depth = (uint32_t)Rf_asInteger(arg(args, 5));
    if (!q || failed(c, pcol_query_tree(q, &o, &c->result, &c->err)))
        return R_NilValue;
    return answer_of(c, arg(args, 0), q, flag_of(arg(args, 6)));
}

/* (handle, selection, name, bit64) -> answer */
static SEXP op_peek(struct call *c, SEXP args)
{
    pcol_query *q = new_query(c, 0, arg(args, 0), arg(args, 1));
    if (!q || failed(c, pcol_query_peek(q, text_of(arg(args, 2)), NULL, &c->result, &c->err)))
        return R_NilValue;
    return answer_of(c, arg(args, 0), q, flag_of(arg(args, 3)));
}

/* A string that ends with a NUL, from R's memory: "TYPE/UNIT". */
static SEXP type_text(pcol_str type, pcol_str unit)
{
    char text[512];
    snprintf(text, sizeof text, "%.*s/%.*s", (int)type.size, type.data, (int)unit.size, unit.data);
    return Rf_mkString(text);
}

/* Queries of base and new for one sample type; 0 on failure. */
static int compare_queries(struct call *c, SEXP base, SEXP other, SEXP list)
{
    struct handle *b = handle_of(c, base), *o = b ? handle_of(c, other) : NULL;
    pcol_selection sel = PCOL_INIT(pcol_selection);
    if (!o)
        return 0;
    read_selection(c, list, &sel);
    SEXP shared = R_NilValue;
    if (!sel.sample_type) {
        pcol_str type, unit;
        int is_default;
        if (failed(c, pcol_query_shared_type(b->file, o->file, &sel, &type, &unit, &is_default,
                                             &c->err)))
            return 0;
        shared = type_text(type, unit);
    }
    PROTECT(shared);
    if (shared != R_NilValue)
        sel.sample_type = CHAR(STRING_ELT(shared, 0));
    int ok = !failed(c, pcol_query_new(b->file, &sel, &c->control, &c->queries[0], &c->err)) &&
             !failed(c, pcol_query_new(o->file, &sel, &c->control, &c->queries[1], &c->err));
    UNPROTECT(1);
    return ok;
}

/* (base, new, selection, by, label, normalize, order, bit64) -> answer */
static SEXP op_diff(struct call *c, SEXP args)
{
    pcol_diff_options o = PCOL_INIT(pcol_diff_options);
    pcol_result_info info = PCOL_INIT(pcol_result_info);
    o.by = (pcol_by)Rf_asInteger(arg(args, 3));
    o.label = text_of(arg(args, 4));
    o.flags = flag_of(arg(args, 5)) ? PCOL_DIFF_NORMALIZE : 0;
    o.order = (pcol_order)Rf_asInteger(arg(args, 6));
    if (!compare_queries(c, arg(args, 0), arg(args, 1), arg(args, 2)) ||
        failed(c, pcol_diff(c->queries[0], c->queries[1], &o, &c->result, &c->err)) ||
        failed(c, pcol_result_describe(c->result, &info, &c->err)))
        return R_NilValue;
    SEXP out = PROTECT(answer_of(c, arg(args, 0), c->queries[0], flag_of(arg(args, 7))));
    if (c->status == PCOL_OK) {
        SEXP totals = Rf_allocVector(REALSXP, 2);
        Rf_setAttrib(out, Rf_install("totals"), totals);
        for (int i = 0; i < 2; i++)
            REAL(totals)[i] = amount_of(info.total[i], (info.flags & PCOL_RESULT_IS_DOUBLE) != 0);
    }
    verify_intact(c, arg(args, 1));
    UNPROTECT(1);
    return out;
}

/* Write through an output that appears under @path only when it is whole. */
static int open_output(struct call *c, SEXP path, SEXP overwrite, pcol_sink *sink)
{
    unsigned flags = PCOL_OUTPUT_NO_SYNC | (flag_of(overwrite) ? PCOL_OUTPUT_OVERWRITE : 0);
    if (failed(c, pcol_output_open(text_of(path), flags, &c->output, &c->err)))
        return 0;
    *sink = pcol_output_sink(c->output);
    return 1;
}

static void commit_output(struct call *c)
{
    pcol_output *output = c->output;
    c->output = NULL;
    failed(c, pcol_output_commit(output, &c->err));
}

/* (handle, selection, base or NULL, inverted, reverse, width, min_width, title, path or NULL, overwrite, bit64) */
static SEXP op_flame(struct call *c, SEXP args)
{
    pcol_flame_options o = PCOL_INIT(pcol_flame_options);
    SEXP base = arg(args, 2), path = arg(args, 8);
    if (base == R_NilValue) {
        if (!new_query(c, 0, arg(args, 0), arg(args, 1)))
            return R_NilValue;
    } else {
        if (!compare_queries(c, arg(args, 0), base, arg(args, 1)))
            return R_NilValue;
        o.base = c->queries[1];
    }
    o.flags = (flag_of(arg(args, 3)) ? PCOL_FLAME_INVERTED : 0u) |
              (flag_of(arg(args, 4)) ? PCOL_FLAME_REVERSE : 0u);
    o.width_px = (unsigned)Rf_asInteger(arg(args, 5));
    o.min_width_px = Rf_asReal(arg(args, 6));
    if (failed(c, pcol_query_flame(c->queries[0], &o, &c->result, &c->err)))
        return R_NilValue;
    if (path == R_NilValue)
        return answer_of(c, arg(args, 0), c->queries[0], flag_of(arg(args, 10)));
    pcol_sink sink;
    if (!open_output(c, path, arg(args, 9), &sink) ||
        failed(c, pcol_flame_svg(c->result, text_of(arg(args, 7)), sink, &c->err)))
        return R_NilValue;
    verify_intact(c, arg(args, 0));
    if (c->status == PCOL_OK)
        commit_output(c);
    return path;
}

/* ---- output */

static void write_pcol(struct call *c, struct handle *h, SEXP options, pcol_sink sink)
{
    pcol_builder_options bo = PCOL_INIT(pcol_builder_options);
    pcol_import_options io = PCOL_INIT(pcol_import_options);
    bo.temporary_folder = text_of(member(options, "tempdir"));
    io.format = "pcol";
    io.control = &c->control;
    io.open_flags = PCOL_OPEN_GUARD;
    io.flags = PCOL_IMPORT_TRUSTED;
    if (failed(c, pcol_builder_new(&bo, &c->builder, &c->err)) ||
        failed(c, h->data
                      ? pcol_import_memory(c->builder, h->data, h->size, "profile", &io, &c->err)
                      : pcol_import_path(c->builder, h->path, &io, &c->err)))
        return;
    unsigned flags = (unsigned)Rf_asInteger(member(options, "write_flags"));
    failed(c, pcol_builder_write(c->builder, flags, &c->control, sink, &c->err));
}

/* (handle, format, path, overwrite, options) -> path */
static SEXP op_export(struct call *c, SEXP args)
{
    struct handle *h = handle_of(c, arg(args, 0));
    const char *format = text_of(arg(args, 1));
    SEXP path = arg(args, 2), options = arg(args, 4);
    pcol_sink sink;
    if (!h || !open_output(c, path, arg(args, 3), &sink))
        return R_NilValue;
    if (strcmp(format, "pcol") == 0) {
        write_pcol(c, h, options, sink);
    } else {
        pcol_export_options o = PCOL_INIT(pcol_export_options);
        o.sample_type = text_of(member(options, "sample_type"));
        o.compress = (unsigned)Rf_asInteger(member(options, "compress"));
        o.keep_dropped = flag_of(member(options, "keep_dropped"));
        o.control = &c->control;
        failed(c, pcol_export(h->file, format, &o, sink, &c->err));
    }
    verify_intact(c, arg(args, 0));
    if (flag_of(member(options, "fail_on_loss")))
        for (int i = 0; i < c->notice_count; i++)
            if (c->notice_codes[i] == PCOL_NOTICE_LOSS && c->status == PCOL_OK)
                fail(c, PCOL_E_LOSS, c->notices[i]);
    if (c->status == PCOL_OK)
        commit_output(c);
    return path;
}

/* (handle, strict) -> list(note, table, column, row, message) */
struct faults {
    R_xlen_t count;
    SEXP out;
};

static int add_fault(void *context, const pcol_fault *fault)
{
    struct faults *f = context;
    R_xlen_t room = XLENGTH(VECTOR_ELT(f->out, 0));
    if (f->count == room)
        return 1;
    LOGICAL(VECTOR_ELT(f->out, 0))[f->count] = fault->note;
    SET_STRING_ELT(VECTOR_ELT(f->out, 1), f->count, make_char_z(fault->table));
    SET_STRING_ELT(VECTOR_ELT(f->out, 2), f->count, make_char_z(fault->column));
    REAL(VECTOR_ELT(f->out, 3))
    [f->count] = fault->row == PCOL_POSITION_UNKNOWN ? NA_REAL : (double)fault->row;
    SET_STRING_ELT(VECTOR_ELT(f->out, 4), f->count++, make_char_z(fault->message));
    return 0;
}

/* (handle, strict): faults, at most 1000. Strings are made in the callback, which only an R error for want of memory leaves. */
static SEXP op_check(struct call *c, SEXP args)
{
    struct handle *h = handle_of(c, arg(args, 0));
    if (!h)
        return R_NilValue;
    const char *names[] = {"note", TABLE, "column", "row", "message"};
    struct faults f = {0, PROTECT(named_list(names, 5))};
    for (int i = 0; i < 5; i++)
        SET_VECTOR_ELT(f.out, i, Rf_allocVector(i == 0 ? LGLSXP : i == 3 ? REALSXP : STRSXP, 1000));
    uint64_t faults;
    failed(c,
           pcol_file_check(h->file, flag_of(arg(args, 1)) ? PCOL_CHECK_STRICT : PCOL_CHECK_DEFAULT,
                           add_fault, &f, &c->control, &faults, &c->err));
    for (int i = 0; i < 5; i++)
        SET_VECTOR_ELT(f.out, i, Rf_xlengthgets(VECTOR_ELT(f.out, i), f.count));
    UNPROTECT(1);
    return f.out;
}

/* () -> list(name, summary, suffixes, keeps, reads, writes) */
static SEXP op_formats(struct call *c, SEXP args)
{
    (void)c, (void)args;
    const char *names[] = {"format", "summary", "suffixes", "keeps", "reads", "writes"};
    int n = 0;
    while (pcol_format_at((size_t)n))
        n++;
    SEXP out = PROTECT(named_list(names, 6));
    for (int k = 0; k < 6; k++)
        SET_VECTOR_ELT(out, k, Rf_allocVector(k < 4 ? STRSXP : LGLSXP, n));
    for (int i = 0; i < n; i++) {
        const pcol_format *f = pcol_format_at((size_t)i);
        const char *texts[] = {f->name, f->summary, f->suffixes, f->keeps};
        for (int k = 0; k < 4; k++)
            SET_STRING_ELT(VECTOR_ELT(out, k), i, make_char_z(texts[k]));
        LOGICAL(VECTOR_ELT(out, 4))[i] = f->reads != 0;
        LOGICAL(VECTOR_ELT(out, 5))[i] = f->writes != 0;
    }
    UNPROTECT(1);
    return out;
}

static SEXP op_version(struct call *c, SEXP args)
{
    (void)c, (void)args;
    return Rf_mkString(pcol_version());
}

/* ---- the entry point */

static const struct operation {
    const char *name;
    int args;
    SEXP (*body)(struct call *, SEXP);
} OPERATIONS[] = {
    {"open", 3, op_open},       {"tables", 2, op_tables}, {"table", 5, op_table},
    {"stacks", 1, op_stacks},   {"names", 1, op_names},   {"frames", 3, op_frames},
    {"totals", 5, op_totals},   {"top", 6, op_top},       {"tree", 7, op_tree},
    {"peek", 4, op_peek},       {"diff", 8, op_diff},     {"flame", 11, op_flame},
    {"export", 5, op_export},   {"check", 2, op_check},   {"formats", 0, op_formats},
    {"version", 0, op_version},
};

/* status, place, message, table, column, row, line: what a condition is made of. */
static SEXP error_list(const struct call *c)
{
    const char *names[] = {"status", "place", "message", TABLE, "column", "row", "line", "offset"};
    const pcol_error *e = &c->err;
    char place[192] = "";
    SEXP out = PROTECT(named_list(names, 8));
    pcol_error_place(e, place, sizeof place);
    SET_VECTOR_ELT(out, 0, make_string(pcol_status_name(c->status)));
    SET_VECTOR_ELT(out, 1, make_string(place));
    SET_VECTOR_ELT(out, 2, make_string(e->message[0] ? e->message : pcol_status_text(c->status)));
    SET_VECTOR_ELT(out, 3, make_string(e->table));
    SET_VECTOR_ELT(out, 4, make_string(e->column));
    SET_VECTOR_ELT(out, 5,
                   Rf_ScalarReal(e->row == PCOL_POSITION_UNKNOWN ? NA_REAL : (double)e->row));
    SET_VECTOR_ELT(out, 6, Rf_ScalarReal(e->line ? (double)e->line : NA_REAL));
    SET_VECTOR_ELT(out, 7,
                   Rf_ScalarReal(e->offset == PCOL_POSITION_UNKNOWN ? NA_REAL : (double)e->offset));
    UNPROTECT(1);
    return out;
}

static SEXP run_call(void *data)
{
    struct call *c = data;
    const char *names[] = {"value", "error", "notices", "codes"};
    SEXP value = PROTECT(c->body(c, c->args));
    SEXP out = PROTECT(named_list(names, 4));
    if (c->status == PCOL_OK)
        SET_VECTOR_ELT(out, 0, value);
    else
        SET_VECTOR_ELT(out, 1, error_list(c));
    SET_VECTOR_ELT(out, 2, Rf_allocVector(STRSXP, c->notice_count));
    SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, c->notice_count));
    for (int i = 0; i < c->notice_count; i++) {
        SET_STRING_ELT(VECTOR_ELT(out, 2), i, make_char_z(c->notices[i]));
        INTEGER(VECTOR_ELT(out, 3))[i] = c->notice_codes[i];
    }
    UNPROTECT(2);
    return out;
}

static SEXP rp_call(SEXP name, SEXP args)
{
    struct call c = {0};
    const struct operation *op = NULL;
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++)
        if (strcmp(OPERATIONS[i].name, CHAR(STRING_ELT(name, 0))) == 0)
            op = &OPERATIONS[i];
    if (!op || TYPEOF(args) != VECSXP || XLENGTH(args) != op->args)
        Rf_error("pcol: invalid internal call");
    c.err.offset = c.err.inflated_offset = c.err.row = PCOL_POSITION_UNKNOWN;
    c.control = (pcol_control)PCOL_INIT(pcol_control);
    c.control.context = &c;
    c.control.progress = poll_interrupt;
    c.control.notice = keep_notice;
    c.body = op->body;
    c.args = args;
    return R_ExecWithCleanup(run_call, &c, clean_call, &c);
}

static const R_CallMethodDef CALLS[] = {{"rp_call", (DL_FUNC)&rp_call, 2}, {NULL, NULL, 0}};

void attribute_visible R_init_pcol(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, CALLS, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
