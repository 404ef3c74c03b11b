/*
 * check_case.h - files built cell by cell, without the rules of the builder, and the faults that
 * `check` reports in them
 */
#ifndef CHECK_CASE_H
#define CHECK_CASE_H

#include <criterion/criterion.h>

#include "builder/builder.h"

#define OK(call) cr_assert_eq((call), PCOL_OK, #call)

/* The file that is being made: a source of that type, three samples without stacks or values, and
 * the sample type samples/count. */
extern pcol_builder *case_builder;
void case_begin_as(const char *type);
void case_begin(void);
/* A column of a table, which may refer to another one; both are made if they are not there. */
uint32_t case_column(const char *table, const char *name, pcol_type type, const char *to);
void case_number(const char *table, const char *name, pcol_type type, const char *to, uint64_t row,
                 int64_t value);
void case_string(const char *table, const char *name, uint64_t row, const char *text);
/* A stack of two frames of functions `inner` and one without a name, which is the outer one; rows 0
 * and 1 have it. In place of case_begin(). */
void case_stacked(void);
/* Rows of label_keys, label_shape_keys and nodes (parent -1: a root), and the root that a sample
 * owns. */
void case_key(uint64_t row, const char *table, const char *name, const char *kind);
void case_entry(uint64_t row, int64_t label);
void case_node(uint64_t row, int64_t parent, int64_t tag);
void case_owner(uint64_t row, int64_t root);

/* Faults of `check`: `all`, and whether one of them begins with `expected`. */
struct case_found {
    const char *expected;
    int seen;
    char all[2048];
};
int case_take(void *context, const pcol_fault *fault);
/* Write and check; "" expects no fault. Of what is faulty no faulty file is packed. */
void case_expect(pcol_check_depth depth, const char *expected);
/* The file, open; pcol_free(data) once it is closed. */
pcol_file *case_open(void **data);

#endif
