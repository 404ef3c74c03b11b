/*
 * test_sums.c - pcol_sums: arguments, states, and values of several types
 *
 * Answers of sums: suite sums.
 */
#include "pcol.h"

#include <criterion/criterion.h>
#include <string.h>

#define OK(call) cr_assert_eq((call), PCOL_OK)

Test(sums, arguments)
{
    const char *twice[] = {"a", "a"}, *none[] = {NULL};
    pcol_sums_options options = PCOL_INIT(pcol_sums_options);
    pcol_sums *sums = (pcol_sums *)1;
    pcol_builder *builder;
    pcol_file *file;
    cr_assert_eq(pcol_sums_new(NULL, NULL, NULL), PCOL_E_ARGUMENT);
    options.key_count = 1;
    cr_assert_eq(pcol_sums_new(&options, &sums, NULL), PCOL_E_ARGUMENT);
    cr_assert_null(sums);
    options.keys = none;
    cr_assert_eq(pcol_sums_new(&options, &sums, NULL), PCOL_E_ARGUMENT);
    options.keys = twice;
    options.key_count = 2;
    cr_assert_eq(pcol_sums_new(&options, &sums, NULL), PCOL_E_ARGUMENT);
    options.key_count = 1;
    options.flags = 0x80;
    cr_assert_eq(pcol_sums_new(&options, &sums, NULL), PCOL_E_ARGUMENT);
    OK(pcol_sums_new(NULL, &sums, NULL));
    cr_assert_eq(pcol_sums_add(sums, NULL, NULL, NULL), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_sums_finish(sums, NULL, NULL, NULL), PCOL_E_ARGUMENT);
    OK(pcol_sums_finish(sums, NULL, &builder, NULL));
    cr_assert_eq(pcol_sums_finish(sums, NULL, &(pcol_builder *){NULL}, NULL), PCOL_E_STATE);
    OK(pcol_builder_file(builder, 0, NULL, &file, NULL));
    cr_assert_eq(pcol_sums_add(sums, file, NULL, NULL), PCOL_E_STATE);
    pcol_file_close(file);
    pcol_builder_free(builder);
    pcol_sums_free(sums);
    pcol_sums_free(NULL);
}

/* Samples of one source with an integer, a double and a gauge: value i of sample i; those of the
 * odd samples are null. */
static pcol_file *make_file(uint32_t samples)
{
    pcol_builder *b;
    pcol_file *file;
    pcol_source source = {.size = sizeof source, .type = "x", .default_sample_type = "d"};
    uint32_t type[3], row;
    OK(pcol_builder_new(NULL, &b, NULL));
    OK(pcol_builder_source(b, &source, &row, NULL));
    OK(pcol_builder_sample_type(b, "i", "count", 0, 0, &type[0], NULL));
    OK(pcol_builder_sample_type(b, "d", "s", PCOL_SAMPLE_TYPE_DOUBLE, 0, &type[1], NULL));
    OK(pcol_builder_sample_type(b, "g", "bytes", PCOL_SAMPLE_TYPE_GAUGE, 0, &type[2], NULL));
    for (uint32_t i = 0; i < samples; i++) {
        pcol_value values[3] = {{type[0], {.i64 = i}}, {type[1], {.f64 = i / 2.0}}, {type[2], {0}}};
        pcol_sample sample = {.size = sizeof sample,
                              .source = row,
                              .stack = i % 3 ? 0 : PCOL_NONE,
                              .values = values,
                              .value_count = i & 1 ? 0 : 3,
                              .thread = PCOL_NONE};
        OK(pcol_builder_sample(b, &sample, NULL, NULL));
    }
    OK(pcol_builder_file(b, 0, NULL, &file, NULL));
    pcol_builder_free(b);
    return file;
}

static void count_losses(void *context, const pcol_notice *notice)
{
    *(int *)context += notice->code == PCOL_NOTICE_LOSS && strcmp(notice->subject, "gauges") == 0;
}

/* Samples without a stack and with the empty one are two sums; gauges are left out and reported. */
Test(sums, values)
{
    pcol_file *file = make_file(13), *made; /* even: 0 6 12 | 2 4 8 10 */
    pcol_sums *sums;
    pcol_builder *builder;
    const pcol_table *table;
    const pcol_column *value;
    int losses = 0, valid;
    pcol_control control = PCOL_INIT(pcol_control);
    control.context = &losses;
    control.notice = count_losses;
    OK(pcol_sums_new(NULL, &sums, NULL));
    OK(pcol_sums_add(sums, file, NULL, NULL));
    pcol_file_close(file);
    OK(pcol_sums_finish(sums, &control, &builder, NULL));
    pcol_sums_free(sums);
    cr_assert_eq(losses, 1);
    OK(pcol_builder_file(builder, 0, NULL, &made, NULL));
    pcol_builder_free(builder);
    OK(pcol_file_table_by_name(made, PCOL_MODEL_V2, "sample_values", &table, NULL));
    cr_assert_eq(pcol_table_rows(table), 4);
    value = pcol_table_column_by_name(table, "value", NULL);
    static const double expected[] = {18, 9, 24, 12};
    for (uint64_t row = 0; row < 4; row++) {
        double found;
        OK(pcol_column_f64(value, row, &found, &valid, NULL));
        cr_assert(valid && found == expected[row]);
    }
    pcol_file_close(made);
}

static void take_loss(void *context, const pcol_notice *notice)
{
    char *list = context;
    cr_assert_eq(notice->code, PCOL_NOTICE_LOSS);
    cr_assert_lt(strlen(list) + strlen(notice->subject), 190u);
    strcat(strcat(list, notice->subject), ";");
}

/* Without sums: kinds of content of all files, each once; gauges are the program's own matter. */
Test(sums, only_losses)
{
    pcol_file *file = make_file(13);
    pcol_sums_options options = PCOL_INIT(pcol_sums_options);
    pcol_sums *sums;
    pcol_builder *builder = (pcol_builder *)1;
    char list[200] = "";
    pcol_control control = PCOL_INIT(pcol_control);
    control.context = list;
    control.notice = take_loss;
    options.flags = PCOL_SUMS_LOSSES;
    OK(pcol_sums_new(&options, &sums, NULL));
    OK(pcol_sums_add(sums, file, NULL, NULL));
    OK(pcol_sums_add(sums, file, NULL, NULL));
    pcol_file_close(file);
    OK(pcol_sums_finish(sums, &control, &builder, NULL));
    cr_assert_null(builder);
    cr_assert_str_eq(list, "the default sample type;");
    cr_assert_eq(pcol_sums_finish(sums, NULL, &builder, NULL), PCOL_E_STATE);
    pcol_sums_free(sums);
}
