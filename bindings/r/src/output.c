/* output.c - writing in every format; check and the list of formats */
#include "rpcol.h"

#include <string.h>

int open_output(struct call *c, SEXP path, SEXP overwrite, pcol_sink *sink)
{
    unsigned flags = PCOL_OUTPUT_NO_SYNC | (flag_of(overwrite) ? PCOL_OUTPUT_OVERWRITE : 0);
    if (failed(c, pcol_output_open(text_of(path), flags, &c->output, &c->err)))
        return 0;
    *sink = pcol_output_sink(c->output);
    return 1;
}

void commit_output(struct call *c)
{
    pcol_output *output = c->output;
    c->output = NULL;
    failed(c, pcol_output_commit(output, &c->err));
}

static void write_pcol(struct call *c, const pcol_file *file, SEXP options, pcol_sink sink)
{
    pcol_import_options io = PCOL_INIT(pcol_import_options);
    io.control = &c->control;
    io.flags = PCOL_IMPORT_TRUSTED;
    if (!new_builder(c, options) ||
        failed(c, pcol_builder_add_file(c->builder, file, &io, &c->err)))
        return;
    unsigned flags = (unsigned)Rf_asInteger(member(options, "write_flags"));
    failed(c, pcol_builder_write(c->builder, flags, &c->control, sink, &c->err));
}

/* (handle, format, path, overwrite, options) -> path */
SEXP op_export(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    const char *format = text_of(arg(args, 1));
    SEXP path = arg(args, 2), options = arg(args, 4);
    pcol_sink sink;
    if (!file || !open_output(c, path, arg(args, 3), &sink))
        return R_NilValue;
    if (format && strcmp(format, "pcol") == 0) {
        write_pcol(c, file, options, sink);
    } else {
        pcol_export_options o = PCOL_INIT(pcol_export_options);
        o.sample_type = text_of(member(options, "sample_type"));
        o.compress = (unsigned)Rf_asInteger(member(options, "compress"));
        o.keep_dropped = flag_of(member(options, "keep_dropped"));
        o.control = &c->control;
        failed(c, pcol_export(file, format, &o, sink, &c->err));
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
    R_xlen_t capacity = XLENGTH(VECTOR_ELT(f->out, 0));
    if (f->count == capacity)
        return 1;
    LOGICAL(VECTOR_ELT(f->out, 0))[f->count] = fault->note;
    SET_STRING_ELT(VECTOR_ELT(f->out, 1), f->count, make_char_z(fault->table));
    SET_STRING_ELT(VECTOR_ELT(f->out, 2), f->count, make_char_z(fault->column));
    REAL(VECTOR_ELT(f->out, 3))
    [f->count] = fault->row == PCOL_POSITION_UNKNOWN ? NA_REAL : (double)fault->row;
    SET_STRING_ELT(VECTOR_ELT(f->out, 4), f->count++, make_char_z(fault->message));
    return 0;
}

/* (handle, strict): faults, at most 1000. Strings are made in the callback, which only an R error out of memory leaves. */
SEXP op_check(struct call *c, SEXP args)
{
    pcol_file *file = handle_of(c, arg(args, 0));
    if (!file)
        return R_NilValue;
    const char *names[] = {"note", "table", "column", "row", "message"};
    struct faults f = {0, PROTECT(named_list(names, 5))};
    for (int i = 0; i < 5; i++)
        SET_VECTOR_ELT(f.out, i, Rf_allocVector(i == 0 ? LGLSXP : i == 3 ? REALSXP : STRSXP, 1000));
    uint64_t faults;
    failed(c, pcol_file_check(file, flag_of(arg(args, 1)) ? PCOL_CHECK_STRICT : PCOL_CHECK_DEFAULT,
                              add_fault, &f, &c->control, &faults, &c->err));
    verify_intact(c, arg(args, 0));
    for (int i = 0; i < 5; i++)
        SET_VECTOR_ELT(f.out, i, Rf_xlengthgets(VECTOR_ELT(f.out, i), f.count));
    UNPROTECT(1);
    return f.out;
}

/* () -> list(name, summary, suffixes, keeps, reads, writes) */
SEXP op_formats(struct call *c, SEXP args)
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

SEXP op_version(struct call *c, SEXP args)
{
    (void)c, (void)args;
    return Rf_mkString(pcol_version());
}
