/*
 * test_interleaved_sources.c - interleaved samples of several sources are written source by source
 */
#include <criterion/criterion.h>

#include "testing.h"

#include <stdlib.h>

enum { SOURCES = 5, EACH = 700 };

/* A stack of one frame, a function of 13. */
static uint32_t stack_of(pcol_builder *builder, int64_t number)
{
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line = {.filename = PCOL_NONE};
    char name[] = {'f', (char)('a' + number % 13)};
    uint32_t row, stack;
    pcol_error err;
    function.system_name = function.filename = group.mapping = PCOL_NONE;
    cr_assert_eq(pcol_builder_string(builder, name, 2, &function.name, &err), PCOL_OK);
    cr_assert_eq(pcol_builder_function(builder, &function, &line.function, &err), PCOL_OK);
    group.lines = &line;
    group.line_count = 1;
    cr_assert_eq(pcol_builder_group(builder, &group, &row, &err), PCOL_OK);
    cr_assert_eq(pcol_builder_stack(builder, 0, row, &stack, &err), PCOL_OK);
    return stack;
}

static void add(pcol_builder *builder, uint32_t type, uint32_t source, int64_t number)
{
    pcol_value value = {.sample_type = type, .as.i64 = 1};
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_error err;
    sample.source = source;
    sample.stack = stack_of(builder, number + source);
    sample.thread = PCOL_NONE;
    sample.values = &value;
    sample.value_count = 1;
    sample.time_ns = number * 1000;
    sample.flags |= PCOL_SAMPLE_HAS_TIME;
    cr_assert_eq(pcol_builder_sample(builder, &sample, NULL, &err), PCOL_OK, "%s", err.message);
}

/* What a profile of these sources gives in a format. */
static void write_as(const char *format, int in_turns, struct text *text)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_sink sink = {text_gather, text};
    pcol_builder *builder;
    pcol_file *file;
    pcol_error err;
    uint32_t row, type;
    void *bytes;
    size_t size;
    source.type = format;
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    for (int i = 0; i < SOURCES; i++)
        cr_assert_eq(pcol_builder_source(builder, &source, &row, &err), PCOL_OK);
    cr_assert_eq(pcol_builder_sample_type(builder, "samples", "count", 0, 0, &type, &err), PCOL_OK);
    for (int i = 0; i < SOURCES * EACH; i++) {
        uint32_t of = (uint32_t)(in_turns ? i % SOURCES : i / EACH);
        add(builder, type, of, in_turns ? i / SOURCES : i % EACH);
    }
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, &err), PCOL_OK, "%s",
                 err.message);
    cr_assert_eq(pcol_file_open_memory(bytes, size, NULL, &file, &err), PCOL_OK);
    cr_assert_eq(pcol_export(file, format, NULL, sink, &err), PCOL_OK, "%s", err.message);
    pcol_file_close(file);
    pcol_free(bytes);
    pcol_builder_free(builder);
}

static void expect_the_same(const char *format)
{
    struct text turns = {0}, order = {0};
    write_as(format, 1, &turns);
    write_as(format, 0, &order);
    cr_expect_gt(order.size, (size_t)SOURCES * EACH);
    cr_expect_eq(turns.size, order.size);
    cr_expect_str_eq(turns.data, order.data);
    free(turns.data);
    free(order.data);
}

Test(turns, perf)
{
    expect_the_same("perf");
}

Test(turns, rprof)
{
    expect_the_same("rprof");
}
