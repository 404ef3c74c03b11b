/*
 * test_builder.c - what a builder does with what it is told out of order
 */
#include <criterion/criterion.h>

#include "pcol.h"

#include <stdio.h>
#include <string.h>

static uint32_t new_source(pcol_builder *b)
{
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row;
    source.type = "test";
    cr_assert_eq(pcol_builder_source(b, &source, &row, NULL), PCOL_OK);
    return row;
}

static uint32_t new_type(pcol_builder *b, const char *type)
{
    uint32_t row;
    cr_assert_eq(pcol_builder_sample_type(b, type, "count", 0, 0, &row, NULL), PCOL_OK);
    return row;
}

/* A sample with the value 10 * source + type of each of two types. */
static void new_sample(pcol_builder *b, uint32_t source, uint32_t first, uint32_t second)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value values[2] = {{.sample_type = first, .as.i64 = 10 * source + first},
                            {.sample_type = second, .as.i64 = 10 * source + second}};
    sample.source = source;
    sample.stack = sample.thread = PCOL_NONE;
    sample.values = values;
    sample.value_count = first == second ? 1 : 2;
    cr_assert_eq(pcol_builder_sample(b, &sample, NULL, NULL), PCOL_OK);
}

static pcol_file *finish(pcol_builder *b, void **data)
{
    pcol_file *file;
    size_t size;
    uint64_t faults;
    cr_assert_eq(pcol_builder_write_memory(b, 0, data, &size, NULL), PCOL_OK);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(*data, size, NULL, &file, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, &faults, NULL), PCOL_OK);
    cr_assert_eq(faults, 0);
    return file;
}

/* The rows of sample_values, "sample type value" each. */
static void expect_values(const pcol_file *file, const char *const *expected, size_t count)
{
    const pcol_table *table;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "sample_values", &table, NULL),
                 PCOL_OK);
    cr_assert_eq(pcol_table_rows(table), count);
    for (size_t i = 0; i < count; i++) {
        char line[64];
        int64_t sample, value;
        pcol_str type;
        cr_assert_eq(pcol_column_i64(pcol_table_column(table, 0), i, &sample, NULL, NULL), PCOL_OK);
        cr_assert_eq(pcol_column_str(pcol_table_column(table, 1), i, &type, NULL, NULL), PCOL_OK);
        cr_assert_eq(pcol_column_i64(pcol_table_column(table, 3), i, &value, NULL, NULL), PCOL_OK);
        snprintf(line, sizeof line, "%d %.*s %d", (int)sample, (int)type.size, type.data,
                 (int)value);
        cr_expect_str_eq(line, expected[i]);
    }
}

/* A source shows the types that it names, then those that its samples use all the same. */
Test(builder, types_that_a_source_did_not_name)
{
    static const char *const expected[] = {"1 b 1", "1 a 0", "2 c 12", "2 a 10",
                                           "3 b 1", "3 c 2", "4 c 12"};
    pcol_builder *b;
    pcol_file *file;
    void *data;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    uint32_t early = new_type(b, "a");
    uint32_t first = new_source(b), second_type = new_type(b, "b");
    new_sample(b, first, early, second_type);
    uint32_t second = new_source(b), third_type = new_type(b, "c");
    new_sample(b, second, early, third_type);
    new_sample(b, first, third_type, second_type);
    new_sample(b, second, third_type, third_type);
    file = finish(b, &data);
    expect_values(file, expected, sizeof expected / sizeof *expected);
    pcol_file_close(file);
    pcol_free(data);
}

/* Where all sources have all types in one order, nothing is said about it. */
Test(builder, types_of_all_sources)
{
    static const char *const expected[] = {"1 a 0", "1 b 1", "2 a 10", "2 b 11"};
    pcol_builder *b;
    pcol_file *file;
    const pcol_table *table;
    void *data;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    uint32_t a = new_type(b, "a"), other = new_type(b, "b");
    uint32_t first = new_source(b);
    new_sample(b, first, a, other);
    new_sample(b, new_source(b), a, other);
    file = finish(b, &data);
    expect_values(file, expected, sizeof expected / sizeof *expected);
    cr_assert_neq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "source_types", &table, NULL),
                  PCOL_OK);
    pcol_file_close(file);
    pcol_free(data);
}
