/*
 * result_cells.h - single cells of a pcol_result, by name of the column
 */
#ifndef TESTS_RESULT_CELLS_H
#define TESTS_RESULT_CELLS_H

#include "pcol.h"

static inline uint64_t result_rows(const pcol_result *result)
{
    return pcol_table_rows(pcol_result_table(result));
}

/* 0 for a null, an absent column and one of another type. */
static inline pcol_amount result_amount(const pcol_result *result, const char *name, uint64_t row)
{
    const pcol_column *column = pcol_table_column_by_name(pcol_result_table(result), name, NULL);
    pcol_amount amount = {0};
    if (pcol_column_i64(column, row, &amount.i64, NULL, NULL) != PCOL_OK)
        (void)!pcol_column_f64(column, row, &amount.f64, NULL, NULL);
    return amount;
}

/* Data NULL for a null and an absent column. */
static inline pcol_str result_text(const pcol_result *result, const char *name, uint64_t row)
{
    pcol_str text = {0};
    int valid = 0;
    (void)!pcol_column_str(pcol_table_column_by_name(pcol_result_table(result), name, NULL), row,
                           &text, &valid, NULL);
    return valid ? text : (pcol_str){0};
}

#endif
