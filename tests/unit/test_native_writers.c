/*
 * test_native_writers.c - sources of a format's own type with names and rows that its reader never
 * makes: the text is reported as a loss, and read back
 */
#include "testing.h"

#include "pcol.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define OK(call) cr_assert_eq((call), PCOL_OK, #call)
#define MOST_FRAMES 3

/* Frames, outermost first; -1: no address; a function NULL: none. */
struct stack {
    const char *type, *sample_type, *tid;
    struct {
        const char *function;
        int64_t address;
    } frames[MOST_FRAMES];
    size_t count;
    const char *losses; /* "": none */
    const char *written;
};

static const struct stack stacks[] = {
    {"folded", "samples", NULL, {{"main", -1}, {"f", -1}}, 2, "", "main;f 3\n"},
    {"folded",
     "samples",
     NULL,
     {{"a;b", -1}, {"c\nd", -1}},
     2,
     "semicolons and line ends in names",
     "a:b;c d 3\n"},
    {"folded", "samples", NULL, {{"a\rb", -1}}, 1, "", "a\rb 3\n"},
    {"folded", "samples", NULL, {{"main", -1}, {"f 2", -1}}, 2, "another number", "main;f 2 3\n"},
    {"perf",
     "cycles",
     "7",
     {{NULL, -1}, {"f", 16}},
     2,
     "frames without an address",
     "app     7          3 cycles: \n\t              10 f ([unknown])\n\t               0 "
     "[unknown] "
     "([unknown])\n\n"},
    {"perf",
     "cycles",
     "7",
     {{"f", 16}, {NULL, -1}},
     2,
     "",
     "app     7          3 cycles: \n\t[unknown] ([unknown])\n\t              10 f "
     "([unknown])\n\n"},
};

static uint32_t add_thread(pcol_builder *builder, const char *tid)
{
    const struct {
        const char *column, *text;
    } cells[] = {{"name", "app"}, {"tid", tid}};
    uint32_t threads, sources, column;
    if (!tid)
        return PCOL_NONE;
    OK(pcol_builder_table(builder, "threads", &threads, NULL));
    OK(pcol_builder_table(builder, "sources", &sources, NULL));
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        OK(pcol_builder_column(builder, threads, cells[i].column, PCOL_STRING, 0, &column, NULL));
        OK(pcol_builder_set_str(builder, column, 0, cells[i].text, strlen(cells[i].text), NULL));
    }
    OK(pcol_builder_column(builder, threads, "source", PCOL_U32, sources + 1, &column, NULL));
    OK(pcol_builder_set_i64(builder, column, 0, 0, NULL));
    return 0;
}

static pcol_file *build(const struct stack *s)
{
    pcol_builder *builder;
    pcol_file *file;
    pcol_error err = {0};
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value = {.as.i64 = 3};
    uint32_t stack = 0, row, group_row;
    source.type = s->type;
    source.default_sample_type = s->sample_type;
    OK(pcol_builder_new(NULL, &builder, NULL));
    OK(pcol_builder_source(builder, &source, &row, NULL));
    OK(pcol_builder_sample_type(builder, s->sample_type, "count", 0, 0, &value.sample_type, NULL));
    for (size_t i = 0; i < s->count; i++) {
        pcol_function function = PCOL_INIT(pcol_function);
        pcol_line line = {.function = PCOL_NONE, .filename = PCOL_NONE};
        pcol_group group = PCOL_INIT(pcol_group);
        group.mapping = PCOL_NONE;
        if (s->frames[i].function) {
            OK(pcol_builder_string(builder, s->frames[i].function, strlen(s->frames[i].function),
                                   &function.name, NULL));
            function.system_name = function.filename = PCOL_NONE;
            OK(pcol_builder_function(builder, &function, &line.function, NULL));
        }
        group.lines = &line;
        group.line_count = 1;
        group.flags = s->frames[i].address >= 0 ? PCOL_GROUP_HAS_ADDRESS : 0;
        group.address = s->frames[i].address >= 0 ? (uint64_t)s->frames[i].address : 0;
        OK(pcol_builder_group(builder, &group, &group_row, NULL));
        OK(pcol_builder_stack(builder, stack, group_row, &stack, NULL));
    }
    sample.stack = stack;
    sample.thread = add_thread(builder, s->tid);
    sample.values = &value;
    sample.value_count = 1;
    OK(pcol_builder_sample(builder, &sample, NULL, NULL));
    cr_assert_eq(pcol_builder_file(builder, 0, NULL, &file, &err), PCOL_OK, "%s", err.message);
    pcol_builder_free(builder);
    return file;
}

Test(native_writers, what_readers_never_make)
{
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const struct stack *s = &stacks[i];
        struct text out = {0}, losses = {0};
        pcol_control control = PCOL_INIT(pcol_control);
        pcol_export_options options = PCOL_INIT(pcol_export_options);
        pcol_import_options import = PCOL_INIT(pcol_import_options);
        pcol_file *file = build(s), *back;
        pcol_error err = {0};
        control.notice = text_notice;
        control.context = &losses;
        options.control = &control;
        text_add(&losses, "", 0);
        cr_assert_eq(pcol_export(file, s->type, &options, (pcol_sink){text_gather, &out}, &err),
                     PCOL_OK, "%zu: %s", i, err.message);
        cr_expect_str_eq(out.data, s->written, "%zu: %s", i, out.data);
        cr_expect(*s->losses ? strstr(losses.data, s->losses) != NULL : !losses.size, "%zu: %s", i,
                  losses.data);
        import.format = s->type;
        cr_assert_eq(pcol_open_any_memory(out.data, out.size, s->type, &import, &back, &err),
                     PCOL_OK, "%zu: %s", i, err.message);
        pcol_file_close(back);
        pcol_file_close(file);
        free(out.data);
        free(losses.data);
    }
}
