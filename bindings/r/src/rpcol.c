/* rpcol.c - calls and their cleanup, opening, and the table of operations (rpcol.h) */
#include "rpcol.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    snprintf(c->notice_options[c->notice_count], sizeof c->notice_options[0], "%s", notice->option);
    c->notices[c->notice_count] = text;
    c->notice_codes[c->notice_count++] = (int)notice->code;
}

/* What a reader of the answers has to know, such as a pattern that matches nothing. */
static void keep_notes(struct call *c)
{
    for (size_t i = 0; i < sizeof c->queries / sizeof *c->queries; i++) {
        pcol_query_info info = PCOL_INIT(pcol_query_info);
        if (!c->queries[i] || pcol_query_describe(c->queries[i], &info, NULL) != PCOL_OK ||
            !info.note)
            continue;
        keep_notice(c, &(pcol_notice){.code = PCOL_NOTICE_SELECTION,
                                      .text = info.note,
                                      .option = info.note_option ? info.note_option : ""});
    }
}

/* Record a status; returns whether it is an error. */
int failed(struct call *c, pcol_status status)
{
    if (status != PCOL_OK)
        c->status = status;
    return status != PCOL_OK;
}

/* An error of this package itself; returns R_NilValue. */
SEXP fail(struct call *c, pcol_status status, const char *message)
{
    c->status = c->err.status = status;
    snprintf(c->err.message, sizeof c->err.message, "%s", message);
    return R_NilValue;
}

int interrupted(struct call *c)
{
    if (!poll_interrupt(NULL, "", 0, 0))
        return 0;
    fail(c, PCOL_E_CANCELLED, "interrupted");
    return 1;
}

static void finalize_file(SEXP pointer)
{
    pcol_file_close(R_ExternalPtrAddr(pointer));
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
    for (size_t i = 0; i < c->base_count; i++)
        pcol_query_free(c->bases[i]);
    pcol_sums_free(c->sums);
    pcol_builder_free(c->builder);
    if (c->output)
        pcol_output_abort(c->output);
    pcol_file_close(c->file);
    for (int i = 0; i < c->block_count; i++)
        free(c->blocks[i]);
    for (int i = 0; i < c->notice_count; i++)
        free(c->notices[i]);
}

void *hold(struct call *c, size_t count, size_t size)
{
    void *block = c->block_count < MAX_BLOCKS ? calloc(count + 1, size) : NULL;
    if (block)
        c->blocks[c->block_count++] = block;
    else
        fail(c, PCOL_E_NO_MEMORY, "out of memory");
    return block;
}

SEXP arg(SEXP args, int index)
{
    return VECTOR_ELT(args, index);
}

pcol_file *handle_of(struct call *c, SEXP pointer)
{
    pcol_file *file = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
    if (!file)
        fail(c, PCOL_E_STATE,
             "the profile belongs to another R session; open it again with open_profile()");
    return file;
}

SEXP give_handle(struct call *c)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalize_file, TRUE);
    R_SetExternalPtrAddr(pointer, c->file);
    c->file = NULL;
    UNPROTECT(1);
    return pointer;
}

int new_builder(struct call *c, SEXP options)
{
    pcol_builder_options o = PCOL_INIT(pcol_builder_options);
    o.temporary_folder = text_of(member(options, "tempdir"));
    return !failed(c, pcol_builder_new(&o, &c->builder, &c->err));
}

void verify_intact(struct call *c, SEXP pointer)
{
    if (c->status == PCOL_OK)
        failed(c, pcol_file_intact(R_ExternalPtrAddr(pointer), &c->err));
}

/* ---- opening */

static pcol_status import_input(struct call *c, SEXP input, const char *name, SEXP options)
{
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

/* (input: path or raw, name, options) -> external pointer */
SEXP op_open(struct call *c, SEXP args)
{
    SEXP input = arg(args, 0), options = arg(args, 2);
    const char *name = text_of(arg(args, 1));
    pcol_status st = PCOL_E_MAGIC;
    if (TYPEOF(input) != RAWSXP && !text_of(member(options, "format"))) {
        pcol_open_options oo = PCOL_INIT(pcol_open_options);
        oo.flags = PCOL_OPEN_GUARD;
        st = pcol_file_open(name, &oo, &c->file, &c->err);
    }
    if (st == PCOL_E_MAGIC) {
        if (!new_builder(c, options))
            return R_NilValue;
        st = import_input(c, input, name, options);
        if (st == PCOL_OK)
            st = pcol_builder_file(c->builder, PCOL_WRITE_QUICK, &c->control, &c->file, &c->err);
    }
    return failed(c, st) ? R_NilValue : give_handle(c);
}

/* ---- the entry point */

static const struct operation {
    const char *name;
    int args;
    SEXP (*body)(struct call *, SEXP);
} OPERATIONS[] = {
    {"open", 3, op_open},
    {"tables", 2, op_tables},
    {"size", 3, op_size},
    {"table", 5, op_table},
    {"names", 1, op_names},
    {"label_keys", 1, op_label_keys},
    {"frames", 1, op_frames},
    {"stacks", 3, op_stacks},
    {"totals", 8, op_totals},
    {"profvis", 7, op_profvis},
    {"top", 6, op_top},
    {"tree", 7, op_tree},
    {"peek", 4, op_peek},
    {"diff", 8, op_diff},
    {"flame", 11, op_flame},
    {"export", 5, op_export},
    {"check", 2, op_check},
    {"formats", 0, op_formats},
    {"version", 0, op_version},
    {"merge", 3, op_merge},
    {"filter", 6, op_filter},
    {"add_frames", 5, op_add_frames},
    {"addresses", 1, op_addresses},
    {"symbolize", 7, op_symbolize},
};

/* status, place, message, table, column, row, line: what a condition is made of. */
static SEXP error_list(const struct call *c)
{
    const char *names[] = {"status", "place", "message", "table", "column",
                           "row",    "line",  "offset",  "option"};
    const pcol_error *e = &c->err;
    char place[192] = "";
    SEXP out = PROTECT(named_list(names, 9));
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
    SET_VECTOR_ELT(out, 8, make_string(e->option));
    UNPROTECT(1);
    return out;
}

static SEXP run_call(void *data)
{
    struct call *c = data;
    const char *names[] = {"value", "error", "notices", "codes", "options"};
    SEXP value = PROTECT(c->body(c, c->args));
    SEXP out = PROTECT(named_list(names, 5));
    if (c->status == PCOL_OK) {
        keep_notes(c);
        SET_VECTOR_ELT(out, 0, value);
    } else {
        SET_VECTOR_ELT(out, 1, error_list(c));
    }
    SET_VECTOR_ELT(out, 2, Rf_allocVector(STRSXP, c->notice_count));
    SET_VECTOR_ELT(out, 3, Rf_allocVector(INTSXP, c->notice_count));
    SET_VECTOR_ELT(out, 4, Rf_allocVector(STRSXP, c->notice_count));
    for (int i = 0; i < c->notice_count; i++) {
        SET_STRING_ELT(VECTOR_ELT(out, 2), i, make_char_z(c->notices[i]));
        INTEGER(VECTOR_ELT(out, 3))[i] = c->notice_codes[i];
        SET_STRING_ELT(VECTOR_ELT(out, 4), i, make_char_z(c->notice_options[i]));
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
