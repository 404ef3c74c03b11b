/*
 * rpcol.h - native part of the R package: one function `rp_call` that R calls by the name of an operation
 *
 * Every operation runs under R_ExecWithCleanup: whatever a call of the library holds is in `struct call` and is released when
 * R jumps out of an allocation. Errors of the library are returned as lists; R/conditions.R raises them. Progress calls of
 * the library look for interrupts. Tests: tests/testthat.
 */
#ifndef RPCOL_H
#define RPCOL_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <pcol.h>

#define MAX_NOTICES 64
#define MAX_BLOCKS 16

/* Everything that one operation holds. */
struct call {
    pcol_status status;
    pcol_error err;
    pcol_control control;
    int notice_count;
    char *notices[MAX_NOTICES];
    int notice_codes[MAX_NOTICES];
    char notice_options[MAX_NOTICES][32]; /* as pcol_error.option */
    pcol_file *file;                      /* being opened */
    pcol_builder *builder;
    pcol_sums *sums;
    pcol_query *queries[2];
    pcol_query **bases; /* further bases of a comparison, in a block of hold() */
    size_t base_count;
    pcol_scan *scan;
    pcol_names *names;
    pcol_result *result;
    pcol_output *output;
    int block_count;
    void *blocks[MAX_BLOCKS];
    SEXP (*body)(struct call *, SEXP);
    SEXP args;
};

/* ---- texts, lists and numbers (convert.c) */

SEXP make_char(pcol_str text); /* marked as UTF-8; bytes that are not UTF-8 become \xNN */
SEXP make_char_z(const char *text);
SEXP make_string(const char *text);
const char *text_of(SEXP value); /* NULL or NA gives NULL */
int flag_of(SEXP value);
SEXP member(SEXP list, const char *name); /* R_NilValue if there is none */
/* A list with the @count names; members are set by the caller. Not protected. */
SEXP named_list(const char *const *names, int count);
/* Strings of a vector in a block of hold(), valid until the call ends; NULL after recording an error. */
const char **texts_of(struct call *c, SEXP vector, size_t *count);

/* Numbers are collected as the bits of int64 in a vector of doubles, then converted as a whole. */
enum number_kind { NUMBER_INTEGER, NUMBER_LOGICAL, NUMBER_SIGNED, NUMBER_UNSIGNED };
void set_bits(SEXP vector, R_xlen_t i, int64_t bits, int valid);
SEXP finish_numbers(SEXP vector, enum number_kind kind, int bit64);

/* ---- calls (rpcol.c) */

int failed(struct call *c, pcol_status status); /* records a status; whether it is an error */
SEXP fail(struct call *c, pcol_status status, const char *message); /* returns R_NilValue */
int interrupted(struct call *c);
/* @count elements of @size, zeroed, until the call ends; NULL after recording an error. */
void *hold(struct call *c, size_t count, size_t size);
SEXP arg(SEXP args, int index);
/* The open profile of an external pointer; NULL after recording an error. */
pcol_file *handle_of(struct call *c, SEXP pointer);
/* An external pointer to the file of a call, which it then owns. */
SEXP give_handle(struct call *c);
/* A builder of this call, with R's temporary folder; whether that succeeded. */
int new_builder(struct call *c, SEXP options);
void verify_intact(struct call *c, SEXP pointer); /* after an answer was copied */

/* ---- columns (tables.c) */

pcol_column_info describe(const pcol_column *column);
void allocate_columns(const pcol_table *table, const uint32_t *columns, SEXP out, SEXP names);
pcol_status scan_table(struct call *c, const pcol_table *table, const uint32_t *columns, SEXP out);
void finish_columns(const pcol_table *table, const uint32_t *columns, SEXP out, int bit64);
/* Numbers of the columns @wanted, or of all for R_NilValue; NULL after recording an error. */
uint32_t *choose_columns(struct call *c, const pcol_table *table, SEXP wanted, uint32_t *count);

/* ---- outputs (output.c) */

/* An output that appears under @path only when it is whole. */
int open_output(struct call *c, SEXP path, SEXP overwrite, pcol_sink *sink);
void commit_output(struct call *c);

/* ---- selections (query.c) */

/* Fill @sel from an R list; texts live until the call ends. */
void read_selection(struct call *c, SEXP list, pcol_selection *sel);

/* ---- operations */

SEXP op_open(struct call *c, SEXP args);
SEXP op_tables(struct call *c, SEXP args);
SEXP op_size(struct call *c, SEXP args);
SEXP op_table(struct call *c, SEXP args);
SEXP op_names(struct call *c, SEXP args);
SEXP op_label_keys(struct call *c, SEXP args);
SEXP op_frames(struct call *c, SEXP args);
SEXP op_stacks(struct call *c, SEXP args);
SEXP op_totals(struct call *c, SEXP args);
SEXP op_profvis(struct call *c, SEXP args);
SEXP op_top(struct call *c, SEXP args);
SEXP op_tree(struct call *c, SEXP args);
SEXP op_peek(struct call *c, SEXP args);
SEXP op_diff(struct call *c, SEXP args);
SEXP op_flame(struct call *c, SEXP args);
SEXP op_export(struct call *c, SEXP args);
SEXP op_check(struct call *c, SEXP args);
SEXP op_formats(struct call *c, SEXP args);
SEXP op_version(struct call *c, SEXP args);
SEXP op_merge(struct call *c, SEXP args);
SEXP op_filter(struct call *c, SEXP args);
SEXP op_add_frames(struct call *c, SEXP args);
SEXP op_addresses(struct call *c, SEXP args);
SEXP op_symbolize(struct call *c, SEXP args);

#endif
