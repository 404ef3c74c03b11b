/* tables.c - tables and their columns */
#include "rpcol.h"

#include <stdlib.h>
#include <string.h>

/* (handle, model) -> names of the tables, without those that pcol keeps for itself */
SEXP op_tables(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    if (!file)
        return R_NilValue;
    pcol_model model = (pcol_model)Rf_asInteger(arg(args, 1));
    uint32_t n = pcol_file_table_count(file, model), kept = 0;
    SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
    for (uint32_t i = 0; i < n; i++)
        if (model != PCOL_MODEL_FURTHER || !pcol_file_table_is_internal(file, i))
            SET_STRING_ELT(out, kept++, make_char_z(pcol_file_table_name(file, model, i)));
    out = Rf_xlengthgets(out, kept);
    UNPROTECT(1);
    return out;
}

/* (handle, model, table) -> c(rows, columns) */
SEXP op_size(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    const pcol_table *table;
    if (!file ||
        failed(c, pcol_file_table_by_name(file, (pcol_model)Rf_asInteger(arg(args, 1)),
                                          CHAR(STRING_ELT(arg(args, 2), 0)), &table, &c->err)))
        return R_NilValue;
    SEXP out = Rf_allocVector(REALSXP, 2);
    REAL(out)[0] = (double)pcol_table_rows(table);
    REAL(out)[1] = (double)pcol_table_column_count(table);
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
pcol_column_info describe(const pcol_column *column)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    if (pcol_column_describe(column, &info, NULL) != PCOL_OK)
        info.name = "";
    return info;
}

void allocate_columns(const pcol_table *table, const uint32_t *columns, SEXP out, SEXP names)
{
    for (R_xlen_t k = 0; k < XLENGTH(out); k++) {
        pcol_column_info info = describe(pcol_table_column(table, columns[k]));
        SET_STRING_ELT(names, k, make_char_z(info.name));
        SET_VECTOR_ELT(out, k,
                       Rf_allocVector(vector_type(info.type), (R_xlen_t)pcol_table_rows(table)));
    }
}

pcol_status scan_table(struct call *c, const pcol_table *table, const uint32_t *columns, SEXP out)
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

void finish_columns(const pcol_table *table, const uint32_t *columns, SEXP out, int bit64)
{
    for (R_xlen_t k = 0; k < XLENGTH(out); k++) {
        pcol_column_info info = describe(pcol_table_column(table, columns[k]));
        if (vector_type(info.type) == REALSXP && info.type != PCOL_F64)
            SET_VECTOR_ELT(out, k, finish_numbers(VECTOR_ELT(out, k), kind_of(&info), bit64));
    }
}

/* Numbers of the columns @wanted, or of all for R_NilValue; NULL after recording an error. */
uint32_t *choose_columns(struct call *c, const pcol_table *table, SEXP wanted, uint32_t *count)
{
    *count = wanted == R_NilValue ? pcol_table_column_count(table) : (uint32_t)XLENGTH(wanted);
    uint32_t *columns = hold(c, *count, sizeof *columns);
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
SEXP op_table(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    const pcol_table *table;
    const char *name = text_of(arg(args, 2));
    uint32_t count;
    if (!file || !name ||
        failed(c, pcol_file_table_by_name(file, (pcol_model)Rf_asInteger(arg(args, 1)), name,
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
        !failed(c, pcol_file_intact(file, &c->err)))
        finish_columns(table, columns, out, flag_of(arg(args, 4)));
    UNPROTECT(2);
    return out;
}

/* (handle) -> names of the locations as all answers show them */
SEXP op_names(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    const pcol_table *locations;
    if (!file ||
        failed(c, pcol_file_table_by_name(file, PCOL_MODEL_V2, "locations", &locations, &c->err)) ||
        failed(c, pcol_names_new(file, &c->names, &c->err)))
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
        failed(c, pcol_file_intact(file, &c->err));
    UNPROTECT(1);
    return out;
}

/* (handle) -> keys of labels */
SEXP op_label_keys(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    size_t count, places;
    if (!file || failed(c, pcol_label_keys(file, NULL, 0, &count, &c->err)))
        return R_NilValue;
    places = count;
    pcol_str *keys = hold(c, places, sizeof *keys);
    if (!keys || failed(c, pcol_label_keys(file, keys, places, &count, &c->err)))
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)places));
    for (size_t i = 0; i < places; i++)
        SET_STRING_ELT(out, (R_xlen_t)i, make_char(keys[i]));
    failed(c, pcol_file_intact(file, &c->err));
    UNPROTECT(1);
    return out;
}
