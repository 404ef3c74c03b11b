/* query.c - answers: top, tree, peek, diff, flame */
#include "rpcol.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The closest integer. A number beyond 64 bits, which may be infinite, becomes the last one. */
static int64_t to_int64(double number)
{
    return number >= 0x1p63 ? INT64_MAX : number < -0x1p63 ? INT64_MIN : (int64_t)nearbyint(number);
}

void read_selection(struct call *c, SEXP list, pcol_selection *sel)
{
    sel->sample_type = text_of(member(list, "sample_type"));
    sel->focus = text_of(member(list, "focus"));
    sel->ignore = text_of(member(list, "ignore"));
    sel->hide = text_of(member(list, "hide"));
    sel->show = text_of(member(list, "show"));
    sel->thread = text_of(member(list, "thread"));
    sel->source = text_of(member(list, "source"));
    SEXP time = member(list, "time");
    sel->labels = texts_of(c, member(list, "labels"), &sel->label_count);
    sel->source_metas = texts_of(c, member(list, "source_metas"), &sel->source_meta_count);
    if (TYPEOF(time) == REALSXP && XLENGTH(time) == 2) {
        sel->has_time = 1;
        sel->time_from_ns = to_int64(REAL(time)[0]);
        sel->time_to_ns = to_int64(REAL(time)[1]);
    }
    sel->keep_dropped = flag_of(member(list, "keep_dropped"));
}

static pcol_query *new_query(struct call *c, int index, SEXP pointer, SEXP list)
{
    pcol_file *file = handle_of(c, pointer);
    pcol_selection sel = PCOL_INIT(pcol_selection);
    if (!file)
        return NULL;
    read_selection(c, list, &sel);
    failed(c, pcol_query_new(file, &sel, &c->control, &c->queries[index], &c->err));
    return c->queries[index];
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
SEXP op_top(struct call *c, SEXP args)
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
SEXP op_tree(struct call *c, SEXP args)
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
SEXP op_peek(struct call *c, SEXP args)
{
    pcol_query *q = new_query(c, 0, arg(args, 0), arg(args, 1));
    if (!q || failed(c, pcol_query_peek(q, text_of(arg(args, 2)), NULL, &c->result, &c->err)))
        return R_NilValue;
    return answer_of(c, arg(args, 0), q, flag_of(arg(args, 3)));
}

/* Queries of the bases, a list of handles, and of @other, for one sample type; 0 on failure. */
static int compare_queries(struct call *c, SEXP bases, SEXP other, SEXP list)
{
    pcol_file *o = handle_of(c, other);
    size_t count = (size_t)XLENGTH(bases);
    pcol_selection sel = PCOL_INIT(pcol_selection);
    const pcol_file **files = o ? hold(c, count, sizeof(pcol_file *)) : NULL;
    c->bases = files ? hold(c, count, sizeof(pcol_query *)) : NULL;
    if (!c->bases)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!(files[i] = handle_of(c, VECTOR_ELT(bases, (R_xlen_t)i))))
            return 0;
    read_selection(c, list, &sel);
    pcol_sample_type shared;
    int is_default;
    if (!sel.sample_type) {
        if (failed(c, pcol_query_shared_type(files, count, o, &sel, &shared, &is_default, &c->err)))
            return 0;
        sel.exact_type = &shared;
    }
    int ok = !failed(c, pcol_query_new(files[0], &sel, &c->control, &c->queries[0], &c->err)) &&
             !failed(c, pcol_query_new(o, &sel, &c->control, &c->queries[1], &c->err));
    for (; ok && c->base_count + 1 < count; c->base_count += (size_t)ok)
        ok = !failed(c, pcol_query_new(files[c->base_count + 1], &sel, &c->control,
                                       c->bases + c->base_count, &c->err));
    return ok;
}

/* (list of bases, new, selection, by, label, normalize, order, bit64) -> answer */
SEXP op_diff(struct call *c, SEXP args)
{
    pcol_diff_options o = PCOL_INIT(pcol_diff_options);
    pcol_result_info info = PCOL_INIT(pcol_result_info);
    o.by = (pcol_by)Rf_asInteger(arg(args, 3));
    o.label = text_of(arg(args, 4));
    o.flags = flag_of(arg(args, 5)) ? PCOL_DIFF_NORMALIZE : 0;
    o.order = (pcol_order)Rf_asInteger(arg(args, 6));
    if (!compare_queries(c, arg(args, 0), arg(args, 1), arg(args, 2)))
        return R_NilValue;
    o.further_bases = c->bases;
    o.further_base_count = c->base_count;
    if (failed(c, pcol_diff(c->queries[0], c->queries[1], &o, &c->result, &c->err)) ||
        failed(c, pcol_result_describe(c->result, &info, &c->err)))
        return R_NilValue;
    SEXP out = PROTECT(answer_of(c, arg(args, 1), c->queries[0], flag_of(arg(args, 7))));
    if (c->status == PCOL_OK) {
        SEXP totals = Rf_allocVector(REALSXP, 2);
        Rf_setAttrib(out, Rf_install("totals"), totals);
        for (int i = 0; i < 2; i++)
            REAL(totals)[i] = amount_of(info.total[i], (info.flags & PCOL_RESULT_IS_DOUBLE) != 0);
    }
    for (R_xlen_t i = 0; i < XLENGTH(arg(args, 0)); i++)
        verify_intact(c, VECTOR_ELT(arg(args, 0), i));
    UNPROTECT(1);
    return out;
}

/* (handle, selection, list of one base or NULL, inverted, reverse, width, min_width, title, path or NULL, overwrite, bit64) */
SEXP op_flame(struct call *c, SEXP args)
{
    pcol_flame_options o = PCOL_INIT(pcol_flame_options);
    SEXP base = arg(args, 2), path = arg(args, 8);
    if (base == R_NilValue) {
        if (!new_query(c, 0, arg(args, 0), arg(args, 1)))
            return R_NilValue;
    } else {
        if (!compare_queries(c, base, arg(args, 0), arg(args, 1)))
            return R_NilValue;
        o.base = c->queries[0];
    }
    pcol_query *query = c->queries[base != R_NilValue];
    o.flags = (flag_of(arg(args, 3)) ? PCOL_FLAME_INVERTED : 0u) |
              (flag_of(arg(args, 4)) ? PCOL_FLAME_REVERSE : 0u);
    o.width_px = (unsigned)Rf_asInteger(arg(args, 5));
    o.min_width_px = Rf_asReal(arg(args, 6));
    if (failed(c, pcol_query_flame(query, &o, &c->result, &c->err)))
        return R_NilValue;
    if (path == R_NilValue)
        return answer_of(c, arg(args, 0), query, flag_of(arg(args, 10)));
    pcol_sink sink;
    if (!open_output(c, path, arg(args, 9), &sink) ||
        failed(c, pcol_flame_svg(c->result, text_of(arg(args, 7)), sink, &c->err)))
        return R_NilValue;
    verify_intact(c, arg(args, 0));
    if (c->status == PCOL_OK)
        commit_output(c);
    return path;
}
