/*
 * rows_case.c - files with labels, nodes and source rows (rows_case.h)
 */
#include "rows_case.h"

#include <stdio.h>
#include <string.h>

uint64_t rows_seed;

uint32_t rows_dice(uint32_t sides)
{
    rows_seed = rows_seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(rows_seed >> 33) % sides;
}

uint32_t rows_string(pcol_builder *b, const char *text)
{
    uint32_t code;
    OK(pcol_builder_string(b, text, strlen(text), &code, NULL));
    return code;
}

pcol_builder *rows_begin(void)
{
    pcol_builder *b;
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row;
    source.type = "test";
    OK(pcol_builder_new(NULL, &b, NULL));
    OK(pcol_builder_source(b, &source, &row, NULL));
    return b;
}

static int say_fault(void *context, const pcol_fault *fault)
{
    (void)context;
    if (!fault->note)
        fprintf(stderr, "%s.%s row %lld: %s\n", fault->table, fault->column, (long long)fault->row,
                fault->message);
    return 0;
}

void rows_finish(pcol_builder *b, struct rows_made *made)
{
    pcol_error err = {0};
    uint64_t faults;
    cr_assert_eq(pcol_builder_write_memory(b, 0, NULL, &made->data, &made->size, &err), PCOL_OK,
                 "%s", err.message);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(made->data, made->size, NULL, &made->file, &err), PCOL_OK,
                 "%s", err.message);
    OK(pcol_file_check(made->file, PCOL_CHECK_STRICT, say_fault, NULL, NULL, &faults, NULL));
    cr_assert_eq(faults, 0);
}

void rows_drop(struct rows_made *made)
{
    pcol_file_close(made->file);
    pcol_free(made->data);
}

int64_t rows_cell(const pcol_file *file, const char *table, const char *column, uint64_t row,
                  int *valid)
{
    const pcol_table *t;
    const pcol_column *c;
    int64_t value = 0;
    *valid = 0;
    OK(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, table, &t, NULL));
    c = pcol_table_column_by_name(t, column, NULL);
    if (c)
        OK(pcol_column_i64(c, row, &value, valid, NULL));
    return value;
}

uint32_t rows_sample(pcol_builder *b, uint32_t stack)
{
    pcol_sample s = PCOL_INIT(pcol_sample);
    uint64_t row;
    s.thread = PCOL_NONE;
    s.stack = stack;
    OK(pcol_builder_sample(b, &s, &row, NULL));
    return (uint32_t)row;
}
