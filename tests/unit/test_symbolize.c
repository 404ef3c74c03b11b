/*
 * test_symbolize.c - pcol_symbolize(): lines of nameless location groups, and rejected options
 */
#include <criterion/criterion.h>

#include "pcol.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#define GROUPS 3

TestSuite(symbolize, .init = folder_begin, .fini = folder_end);

static pcol_error err;

static pcol_str str(const char *text)
{
    return (pcol_str){text, strlen(text)};
}

static uint32_t intern(pcol_builder *builder, const char *text)
{
    uint32_t string;
    cr_assert_eq(pcol_builder_string(builder, text, strlen(text), &string, &err), PCOL_OK);
    return string;
}

static pcol_file *write_and_open(pcol_builder *builder, struct text *bytes)
{
    pcol_file *file;
    cr_assert_eq(pcol_builder_write(builder, 0, NULL, (pcol_sink){text_gather, bytes}, &err),
                 PCOL_OK, "%s", err.message);
    pcol_builder_free(builder);
    cr_assert_eq(pcol_file_open_memory(bytes->data, bytes->size, NULL, &file, &err), PCOL_OK, "%s",
                 err.message);
    return file;
}

/* Three location groups: two of addresses in a mapping, and one with a function. */
static pcol_file *build_addresses(struct text *bytes)
{
    pcol_builder *builder;
    pcol_source source = {.size = sizeof source, .type = "pprof"};
    uint32_t row, mappings, start, type, stack = 0;
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    cr_assert_eq(pcol_builder_source(builder, &source, &row, &err), PCOL_OK);
    cr_assert_eq(pcol_builder_sample_type(builder, "samples", "count", 0, 0, &type, &err), PCOL_OK);
    cr_assert_eq(pcol_builder_table(builder, "mappings", &mappings, &err), PCOL_OK);
    cr_assert_eq(pcol_builder_column(builder, mappings, "start", PCOL_U64, 0, &start, &err),
                 PCOL_OK);
    cr_assert_eq(pcol_builder_set_i64(builder, start, 0, 4096, &err), PCOL_OK);
    pcol_function function = {
        .size = sizeof function, .name = intern(builder, "known"), .system_name = PCOL_NONE};
    function.filename = PCOL_NONE;
    pcol_line line = {.filename = PCOL_NONE};
    cr_assert_eq(pcol_builder_function(builder, &function, &line.function, &err), PCOL_OK);
    for (uint32_t i = 0; i < GROUPS; i++) {
        pcol_group group = {.size = sizeof group,
                            .flags = PCOL_GROUP_HAS_ADDRESS,
                            .lines = &line,
                            .line_count = i == 2,
                            .mapping = 0,
                            .address = 4096 + i};
        cr_assert_eq(pcol_builder_group(builder, &group, &row, &err), PCOL_OK);
        cr_assert_eq(pcol_builder_stack(builder, stack, row, &stack, &err), PCOL_OK);
    }
    pcol_value value = {.sample_type = type, .as.i64 = 5};
    pcol_sample sample = {.size = sizeof sample,
                          .stack = stack,
                          .values = &value,
                          .value_count = 1,
                          .thread = PCOL_NONE};
    cr_assert_eq(pcol_builder_sample(builder, &sample, NULL, &err), PCOL_OK);
    return write_and_open(builder, bytes);
}

/* The cell of a physical table; -1: null or no such column. */
static int64_t cell(const pcol_file *file, const char *name, const char *column, uint64_t row)
{
    const pcol_table *table;
    const pcol_column *cells;
    int64_t value;
    int valid = 0;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, &table, &err), PCOL_OK);
    cells = pcol_table_column_by_name(table, column, NULL);
    cr_assert(!cells || pcol_column_i64(cells, row, &value, &valid, &err) == PCOL_OK);
    return valid ? value : -1;
}

static pcol_symbolize_options options_of(const pcol_symbol *symbols, const uint64_t *first,
                                         const uint8_t *flags)
{
    return (pcol_symbolize_options){.size = sizeof(pcol_symbolize_options),
                                    .symbols = symbols,
                                    .first = first,
                                    .group_count = GROUPS,
                                    .mapping_flags = flags,
                                    .mapping_count = 1};
}

Test(symbolize, nameless_groups_get_lines)
{
    static const uint64_t first[] = {0, 2, 2, 3}; /* the last has a function of its own */
    static const uint8_t flags[] = {PCOL_SYMBOLS_FUNCTIONS | PCOL_SYMBOLS_LINES};
    const pcol_symbol symbols[] = {
        {str("inner"), str("a.c"), 7}, {str("outer"), {NULL, 0}, 0}, {str("other"), str("b.c"), 1}};
    static const char *const meta[] = {"symbolized.x", "build id 12"};
    pcol_symbolize_options options = options_of(symbols, first, flags);
    struct text before = {0}, after = {0};
    pcol_file *file = build_addresses(&before), *named;
    pcol_builder *builder;
    pcol_names *names;
    options.meta = meta;
    options.meta_count = 1;
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    cr_assert_eq(pcol_symbolize(builder, file, &options, &err), PCOL_OK, "%s", err.message);
    named = write_and_open(builder, &after);
    static const char *const wanted[] = {"inner", "outer", "0x1001", "known"};
    cr_assert_eq(pcol_names_new(named, &names, &err), PCOL_OK);
    for (uint64_t row = 0; row < 4; row++) {
        pcol_str name;
        cr_assert_eq(pcol_names_location(names, row, &name, &err), PCOL_OK);
        cr_expect(name.size == strlen(wanted[row]) && !memcmp(name.data, wanted[row], name.size),
                  "row %d is %.*s", (int)row, (int)name.size, name.data);
    }
    cr_expect_eq(cell(named, "locations", "line", 0), 7);
    cr_expect_eq(cell(named, "locations", "line", 1), -1);
    cr_expect_eq(cell(named, "location_groups", "first_location", 1), 2);
    cr_expect_eq(cell(named, "mappings", "has_functions", 0), 1);
    cr_expect_eq(cell(named, "mappings", "has_line_numbers", 0), 1);
    cr_expect_eq(cell(named, "mappings", "has_filenames", 0), -1);
    cr_expect_eq(cell(named, "mappings", "start", 0), 4096);
    cr_expect_eq(cell(named, "source_meta", "source", 0), 0);
    pcol_names_free(names);
    pcol_file_close(named);
    pcol_file_close(file);
    free(before.data);
    free(after.data);
}

Test(symbolize, options_that_do_not_fit_are_rejected)
{
    static const uint64_t first[] = {0, 1, 1, 1}, falling[] = {0, 1, 0, 1}, late[] = {1, 1, 1, 1};
    static const uint8_t flags[] = {0};
    const pcol_symbol symbols[] = {{str("f"), {NULL, 0}, 0}},
                      nameless[] = {{{NULL, 0}, {NULL, 0}, 0}};
    const pcol_symbolize_options good = options_of(symbols, first, flags);
    struct text bytes = {0};
    pcol_file *file = build_addresses(&bytes);
    pcol_builder *builder;
    static const char *const without_key[] = {NULL, "v"}, *const without_value[] = {"k", NULL},
                             *const twice[] = {"k", "1", "k", "2"};
    pcol_symbolize_options bad[10];
    for (size_t i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].group_count = 2;
    bad[1].mapping_count = 0;
    bad[2].first = falling;
    bad[3].first = late;
    bad[4].symbols = nameless;
    bad[5].symbols = NULL;
    bad[6].mapping_flags = NULL;
    bad[7].meta_count = bad[8].meta_count = bad[9].meta_count = 1;
    bad[8].meta = without_key;
    bad[9].meta = without_value;
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    for (size_t i = 0; i < 10; i++)
        cr_expect_eq(pcol_symbolize(builder, file, &bad[i], &err), PCOL_E_ARGUMENT, "options %zu",
                     i);
    cr_expect_eq(pcol_symbolize(builder, NULL, &good, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_symbolize(builder, file, NULL, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_symbolize(NULL, file, &good, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_symbolize(builder, file, &good, &err), PCOL_OK);
    bad[0] = good;
    bad[0].meta = twice;
    bad[0].meta_count = 2;
    cr_expect_eq(pcol_symbolize(builder, file, &bad[0], &err), PCOL_E_ARGUMENT);
    pcol_builder_free(builder);
    pcol_file_close(file);
    free(bytes.data);
}
