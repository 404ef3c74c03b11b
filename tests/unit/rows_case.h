/*
 * rows_case.h - files with labels, nodes and source rows, for several tests
 */
#ifndef ROWS_CASE_H
#define ROWS_CASE_H

#include <criterion/criterion.h>

#include "builder/builder.h"
#include "model/row_details.h"

#define OK(call)                                                       \
    do {                                                               \
        pcol_error e_ = {0};                                           \
        pcol_status s_ = (call);                                       \
        (void)e_;                                                      \
        cr_assert_eq(s_, PCOL_OK, #call ": %s", pcol_status_name(s_)); \
    } while (0)

extern uint64_t rows_seed;
uint32_t rows_dice(uint32_t sides);

struct rows_made {
    pcol_file *file;
    void *data;
    size_t size;
};

/* A builder with one source. */
pcol_builder *rows_begin(void);
/* Written, opened and strictly checked. */
void rows_finish(pcol_builder *b, struct rows_made *made);
void rows_drop(struct rows_made *made);
uint32_t rows_string(pcol_builder *b, const char *text);
uint32_t rows_sample(pcol_builder *b, uint32_t stack);
int64_t rows_cell(const pcol_file *file, const char *table, const char *column, uint64_t row,
                  int *valid);

#endif
