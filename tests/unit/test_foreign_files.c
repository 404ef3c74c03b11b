/*
 * test_foreign_files.c - files that none of our importers writes, and calls with absent objects
 */
#include "check_case.h"
#include "image.h"
#include "testing.h"

#include "model/row_details.h"
#include "model/types.h"
#include "util/address_names.h"
#include "util/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pcol_table *table_of(const pcol_file *file, pcol_model model, const char *name)
{
    const pcol_table *table;
    pcol_error err = {0};
    cr_assert_eq(pcol_file_table_by_name(file, model, name, &table, &err), PCOL_OK, "%s",
                 err.message);
    return table;
}

static int same(pcol_str text, const char *expected)
{
    return text.size == strlen(expected) && !memcmp(text.data, expected, text.size);
}

/* ---- callers */

Test(readers, what_is_not_there)
{
    const pcol_table *table;
    const pcol_column *column;
    pcol_scan *scan;
    pcol_names *names;
    pcol_error err = {0};
    pcol_file *file;
    void *data;
    pcol_str text;
    uint32_t type, index = 77;
    int valid = 1;
    int64_t values[4];
    case_stacked();
    file = case_open(&data);
    cr_expect_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, NULL, &table, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "no table name given");
    cr_expect_eq(pcol_file_table_count(file, (pcol_model)99), 0);
    cr_expect_null(pcol_file_table_name(file, (pcol_model)99, 0));
    cr_expect_eq(
        pcol_scan_new(NULL, &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = 1},
                      &scan, &err),
        PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "no table given");
    cr_expect_null(scan);
    cr_expect_eq(pcol_file_default_types(NULL, 0, 1, &type, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_file_default_types(file, 0, 1, NULL, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_file_default_types(file, 0, 0, NULL, &err), PCOL_OK);
    cr_expect_str_eq(pcol_type_name((pcol_type)0), "unknown");
    cr_expect_str_eq(pcol_type_name((pcol_type)99), "unknown");
    pcol_file_version(file, NULL, NULL);
    cr_expect_eq(pcol_file_unpacked_size(file), pcol_file_size(file));

    table = table_of(file, PCOL_MODEL_V2, "functions");
    cr_expect_null(pcol_table_column_by_name(table, NULL, &index));
    cr_expect_null(pcol_table_column_by_name(table, "nothing", &index));
    cr_expect_eq(index, 77);
    column = pcol_table_column_by_name(table, "name", &index);
    cr_expect_eq(column, pcol_table_column(table, index));
    column = pcol_table_column_by_name(table, "function_id", NULL);
    cr_expect_eq(pcol_column_read_i64(column, 1, 2, values, NULL, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "the table has 2 rows");
    cr_expect_eq(pcol_column_read_i64(column, 0, 2, values, NULL, &err), PCOL_OK);
    cr_expect(values[0] == 1 && values[1] == 2);

    /* Inside, too: what is no text is not read as one. */
    const struct pci_column *parent = pci_column_find(pci_table_find(file, "stacks"), "parent");
    cr_expect_eq(pci_get_str(file, parent, 1, &text, &valid, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "column does not hold strings");
    cr_expect_eq(valid, 0);

    OK(pcol_names_new(file, &names, NULL));
    OK(pcol_names_function(names, 1, &text, &valid, NULL));
    cr_expect(valid && same(text, "inner"));
    OK(pcol_names_function(names, 0, &text, &valid, NULL));
    cr_expect(!valid && !text.size);
    cr_expect_eq(pcol_names_function(names, 2, &text, &valid, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "functions has no row 2");
    pcol_names_free(names);
    pcol_file_close(file);
    pcol_free(data);
}

/* Node arrays are read only as far as they go. */
Test(readers, elements_beyond_an_array)
{
    struct pci_node_reader nodes;
    struct pci_node_value node;
    pcol_error err = {0};
    pcol_file *file;
    void *data;
    int64_t values[4];
    case_begin();
    case_node(0, -1, 9);
    case_owner(0, 0);
    case_number("nodes", "integer", PCOL_I64, NULL, 0, 3);
    case_number("nodes", "first", PCOL_U64, NULL, 0, 1);
    for (uint64_t i = 0; i < 5; i++)
        case_number("node_integers", "value", PCOL_I64, NULL, i, (int64_t)i * 10);
    file = case_open(&data);
    OK(pci_nodes_open(&nodes, file, NULL));
    OK(pci_nodes_get(&nodes, 0, &node, NULL));
    OK(pci_nodes_elements(&nodes, &node, 1, 2, values, NULL));
    cr_expect(values[0] == 20 && values[1] == 30);
    cr_expect_eq(pci_nodes_elements(&nodes, &node, 1, 3, values, &err), PCOL_E_CORRUPT);
    cr_expect_str_eq(err.message, "the elements of the array are out of range");
    cr_expect_eq(pci_nodes_elements(&nodes, &node, 4, 0, values, &err), PCOL_E_CORRUPT);
    cr_expect_eq(pci_nodes_elements(&nodes, &node, 0, PCI_BATCH + 1, values, &err), PCOL_E_CORRUPT);
    pcol_file_close(file);
    pcol_free(data);
}

/* ---- names */

static void expect_column(const pcol_table *table, const char *name, int there)
{
    int found = 0;
    for (uint32_t i = 0; i < pcol_table_column_count(table); i++) {
        pcol_column_info info = PCOL_INIT(pcol_column_info);
        cr_assert_eq(pcol_column_describe(pcol_table_column(table, i), &info, NULL), PCOL_OK);
        found += !strcmp(info.name, name);
    }
    cr_expect_eq(found, there, "%s: %d", name, found);
}

/* A user's name of a value is distinguished from the table's own columns, even if the file has
 * them. */
Test(readers, keys_with_names_of_columns)
{
    static const char *const keys[] = {"source_id", "source_uri", "period", "meta.x", "x", "host"};
    static const char *const names[] = {
        ".meta.source_id", ".meta.source_uri", ".meta.period", ".meta.meta.x", ".x", ".host"};
    const pcol_table *table;
    pcol_file *file;
    void *data;
    case_begin();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        OK(pcol_builder_source_meta(case_builder, 0, keys[i], "value", NULL));
    uint64_t row = sizeof keys / sizeof *keys;
    case_number("source_meta", "source", PCOL_U32, "sources", row, 0);
    OK(pcol_builder_set_str(case_builder, case_column("source_meta", "key", PCOL_STRING, NULL), row,
                            "a\0b", 3, NULL));
    case_string("source_meta", "value", row, "nul");
    file = case_open(&data);
    table = table_of(file, PCOL_MODEL_V2, "sources");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_column(table, names[i], 1);
    expect_column(table, ".a?b", 1);
    pcol_file_close(file);
    pcol_free(data);
}

Test(readers, more_keys_than_columns_are_made)
{
    for (uint64_t count = 4096; count <= 4097; count++) {
        const pcol_table *table;
        pcol_error err = {0};
        pcol_file *file;
        void *data;
        case_begin();
        for (uint64_t row = 0; row < count; row++) {
            char key[16];
            snprintf(key, sizeof key, "k%d", (int)row);
            case_number("source_meta", "source", PCOL_U32, "sources", row, 0);
            case_string("source_meta", "key", row, key);
            case_string("source_meta", "value", row, "v");
        }
        file = case_open(&data);
        pcol_status status = pcol_file_table_by_name(file, PCOL_MODEL_V2, "sources", &table, &err);
        if (count == 4096) {
            cr_expect_eq(status, PCOL_OK);
            expect_column(table, ".k4095", 1);
        } else {
            cr_expect_eq(status, PCOL_E_LIMIT);
            cr_expect_str_eq(err.message, "more than 4096 different keys");
        }
        pcol_file_close(file);
        pcol_free(data);
    }
}

/* Columns of two tables under one name, and of one table under the name that the other's would
 * get: spec, section 7, "Further columns". */
Test(readers, further_columns_of_one_name)
{
    const pcol_table *table;
    pcol_file *file;
    void *data;
    case_stacked();
    for (uint64_t row = 0; row < 2; row++) {
        case_number("locations", "x_a", PCOL_I64, NULL, row, 1);
        case_number("location_groups", "x_a", PCOL_I64, NULL, row, 2);
        case_number("locations", "x_b", PCOL_I64, NULL, row, 3);
        case_number("location_groups", "x_b", PCOL_I64, NULL, row, 4);
        case_number("locations", "location_groups.x_b", PCOL_I64, NULL, row, 5);
        case_number("locations", "location_id", PCOL_I64, NULL, row, 6);
    }
    file = case_open(&data);
    table = table_of(file, PCOL_MODEL_V2, "locations");
    static const struct {
        const char *name;
        int64_t value;
    } expected[] = {{".x_a", 1},
                    {".location_groups.x_a", 2},
                    {".x_b", 3},
                    {".location_groups.x_b", 5},
                    {".location_groups.x_b#2", 4},
                    {".locations.location_id", 6}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        int64_t value;
        expect_column(table, expected[i].name, 1);
        OK(pcol_column_i64(pcol_table_column_by_name(table, expected[i].name, NULL), 0, &value,
                           NULL, NULL));
        cr_expect_eq(value, expected[i].value, "%s", expected[i].name);
    }
    pcol_file_close(file);
    pcol_free(data);
}

Test(readers, functions_that_are_but_an_address)
{
    static const struct {
        const char *name;
        int is;
    } names[] = {{"0x1", 1},    {"0xaBcDeF0123456789", 1},
                 {"0x", 0},     {"0x0aBcDeF0123456789", 0},
                 {"1x12", 0},   {"0y12", 0},
                 {"0x1g", 0},   {"0x/1", 0},
                 {"0x1:", 0},   {"0x@", 0},
                 {"0x`", 0},    {"0xG", 0},
                 {"0xfedf", 1}, {"", 0}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_expect_eq(pci_is_address_name((pcol_str){names[i].name, strlen(names[i].name)}),
                     names[i].is, "%s", names[i].name);
    cr_expect(same(pci_address_of_name((pcol_str){"lib.so+0x12", 11}), "0x12"));
    cr_expect(same(pci_address_of_name((pcol_str){"a+b+0x1", 7}), "0x1"));
    cr_expect(same(pci_address_of_name((pcol_str){"lib.so+x", 8}), ""));
    cr_expect(same(pci_address_of_name((pcol_str){"0x12", 4}), ""));
}

/* ---- sample types */

static void expect_type(const char *wanted, pcol_status expected, const char *message)
{
    struct pci_types types;
    struct pci_selected_type chosen = {0};
    pcol_error err = {0};
    pcol_file *file;
    void *data;
    uint32_t row;
    case_begin();
    for (uint32_t i = 0; i < 2; i++)
        OK(pcol_builder_sample_type(case_builder, "cpu", "s", 0, i, &row, NULL));
    OK(pcol_builder_sample_type(case_builder, "heap", "bytes", PCOL_SAMPLE_TYPE_GAUGE, 0, &row,
                                NULL));
    file = case_open(&data);
    OK(pci_types_open(file, &types, NULL));
    cr_expect_eq(pci_types_select(&types, 0, 0, wanted, &chosen, &err), expected, "%s", wanted);
    cr_expect_str_eq(err.message, message);
    if (expected == PCOL_OK) {
        cr_expect_eq(chosen.count, 1);
        cr_expect(same(chosen.type, "cpu") && same(chosen.unit, "s"));
    }
    pci_free(chosen.rows);
    pci_types_close(&types);
    pcol_file_close(file);
    pcol_free(data);
}

Test(readers, sample_types_by_name)
{
    static const char *const others[] = {"cpu/m", "cpux", "cpu:s", "cpu/", "cpu/ss", "cqu/s", "x"};
    expect_type("cpu", PCOL_OK, "");
    expect_type("cpu/s", PCOL_OK, "");
    expect_type("heap", PCOL_E_ARGUMENT, "heap is a gauge, which is never summed");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char message[100];
        snprintf(message, sizeof message, "no sample type '%s'; use one of: samples, cpu",
                 others[i]);
        expect_type(others[i], PCOL_E_NOT_FOUND, message);
    }
}

/* A message names a limited number of things, and states when there are none. */
Test(readers, sample_types_of_long_names)
{
    char name[100];
    memset(name, 'n', 99);
    name[99] = 0;
    for (int gauge = 0; gauge < 2; gauge++) {
        struct pci_types types;
        struct pci_selected_type chosen;
        pcol_builder *b;
        pcol_source source = PCOL_INIT(pcol_source);
        pcol_error err = {0};
        uint32_t row;
        source.type = "test";
        OK(pcol_builder_new(NULL, &b, NULL));
        OK(pcol_builder_source(b, &source, &row, NULL));
        for (uint32_t i = 0; i < 5; i++) {
            name[0] = (char)('a' + i);
            OK(pcol_builder_sample_type(b, name, "u", gauge ? PCOL_SAMPLE_TYPE_GAUGE : 0, 0, &row,
                                        NULL));
        }
        pcol_file *file;
        void *data;
        case_builder = b;
        file = case_open(&data);
        OK(pci_types_open(file, &types, NULL));
        cr_expect_eq(pci_types_select(&types, 0, 0, "x", &chosen, &err), PCOL_E_NOT_FOUND);
        cr_expect_lt(strlen(err.message), 240);
        if (gauge)
            cr_expect_str_eq(err.message, "no sample type 'x'; use one of: (none)");
        else
            cr_expect(strstr(err.message, "of: annn") && strstr(err.message, "n, bnn"));
        cr_expect_eq(pci_types_select(&types, 0, 0, gauge ? name : NULL, &chosen, &err),
                     gauge ? PCOL_E_ARGUMENT : PCOL_OK);
        if (gauge)
            cr_expect_eq(strlen(err.message), 60 + strlen(" is a gauge, which is never summed"));
        pci_free(chosen.rows);
        /* A file with only gauges has no selectable type. */
        OK(pci_types_select(&types, 0, 0, NULL, &chosen, NULL));
        cr_expect_eq(chosen.count, !gauge);
        pci_free(chosen.rows);
        pci_types_close(&types);
        pcol_file_close(file);
        pcol_free(data);
    }
}

/* ---- memory from Rprof's gauges */

/* Gauges small_v, big_v and nodes of two samples; what the second one adds is asked for.
 * stored: the growth that the file has for it; NULL: none. */
static void expect_memory(const int64_t before[3], const int64_t after[3], const int64_t *stored,
                          pcol_status expected, int64_t total)
{
    static const char *const names[3][2] = {
        {"small_v", "cells"}, {"big_v", "cells"}, {"nodes", "bytes"}};
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_error err = {0};
    pcol_query *query = NULL;
    pcol_query_info info;
    pcol_result *top = NULL;
    pcol_file *file;
    void *data;
    case_stacked();
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t type;
        char column[16];
        OK(pcol_builder_sample_type(case_builder, names[k][0], names[k][1], PCOL_SAMPLE_TYPE_GAUGE,
                                    0, &type, NULL));
        snprintf(column, sizeof column, "value.%u", type);
        case_number("samples", column, PCOL_I64, NULL, 0, before[k]);
        case_number("samples", column, PCOL_I64, NULL, 1, after[k]);
    }
    if (stored)
        case_number("samples", "memory_growth", PCOL_I64, NULL, 1, *stored);
    case_number("rprof_segments", "source", PCOL_U32, "sources", 0, 0);
    case_number("rprof_segments", "first_sample", PCOL_U64, NULL, 0, 0);
    file = case_open(&data);
    selection.sample_type = "memory";
    pcol_status status = pcol_query_new(file, &selection, NULL, &query, &err);
    if (status == PCOL_OK)
        status = pcol_query_top(query, NULL, &top, &err);
    cr_expect_eq(status, expected, "%s", err.message);
    if (status == PCOL_OK) {
        info = (pcol_query_info){.size = sizeof info};
        (void)!pcol_query_describe(query, &info, NULL);
        cr_expect_eq(info.total.i64, total);
    } else {
        cr_expect_str_eq(err.message, stored ? "-1 is negative"
                                             : "the growth of memory does not fit into 64 bits");
        cr_expect_eq(err.row, 1);
    }
    pcol_result_free(top);
    pcol_query_free(query);
    pcol_file_close(file);
    pcol_free(data);
}

Test(readers, memory_grows_within_64_bits)
{
    const int64_t none[3] = {0, 0, 0}, low[3] = {INT64_MIN, 0, 0}, few[3] = {10, 20, 300};
    const int64_t more[3] = {11, 19, 307}, much[3] = {INT64_MAX / 8 + 1, 0, 0};
    const int64_t both[3] = {INT64_MAX / 8, INT64_MAX / 8, 0}, bytes[3] = {0, 0, INT64_MAX};
    expect_memory(few, more, NULL, PCOL_OK, 8 + 7);
    expect_memory(none, bytes, NULL, PCOL_OK, INT64_MAX);
    expect_memory(low, few, NULL, PCOL_E_LIMIT, 0);   /* the difference */
    expect_memory(none, much, NULL, PCOL_E_LIMIT, 0); /* eight bytes a cell */
    expect_memory(none, both, NULL, PCOL_E_LIMIT, 0); /* their sum */
}

Test(readers, memory_growth_that_the_file_has)
{
    const int64_t low[3] = {INT64_MIN, 0, 0}, few[3] = {10, 20, 300}, growth = 5, negative = -1;
    expect_memory(few, few, &growth, PCOL_OK, 5);
    expect_memory(low, few, &growth, PCOL_OK, 5);
    expect_memory(few, few, &negative, PCOL_E_CORRUPT, 0);
    case_stacked();
    case_number("samples", "memory_growth", PCOL_I64, NULL, 1, -1);
    case_expect(PCOL_CHECK_STRICT, "samples.memory_growth 1: -1 is negative");
}

/* ---- lists of v1 */

#define DEEP 1200u /* locations */
#define DEEP_ROWS 300u
#define ALL_ROWS 9300u

/* Deep stacks come first: batches get smaller, so that their lists fit, and larger again. */
Test(readers, lists_of_deep_stacks)
{
    pcol_builder *b;
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_function function = PCOL_INIT(pcol_function);
    uint32_t row, stack = 0, shallow = 0;
    source.type = "rprof";
    OK(pcol_builder_new(NULL, &b, NULL));
    OK(pcol_builder_source(b, &source, &row, NULL));
    OK(pcol_builder_sample_type(b, "samples", "count", 0, 0, &row, NULL));
    function.system_name = function.filename = PCOL_NONE;
    for (uint32_t i = 0; i < DEEP; i++) {
        char name[16];
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_line line = {.filename = PCOL_NONE, .line = i, .flags = PCOL_LINE_HAS_LINE};
        snprintf(name, sizeof name, "f%u", i);
        OK(pcol_builder_string(b, name, strlen(name), &function.name, NULL));
        OK(pcol_builder_function(b, &function, &line.function, NULL));
        group.lines = &line;
        group.line_count = 1;
        group.mapping = PCOL_NONE;
        OK(pcol_builder_group(b, &group, &row, NULL));
        OK(pcol_builder_stack(b, stack, row, &stack, NULL));
        shallow = i ? shallow : stack;
    }
    for (uint32_t i = 0; i < ALL_ROWS; i++) {
        pcol_value value = {0, {.i64 = 1}};
        pcol_sample sample = PCOL_INIT(pcol_sample);
        sample.stack = i < DEEP_ROWS ? stack : shallow;
        sample.thread = PCOL_NONE;
        sample.values = &value;
        sample.value_count = 1;
        OK(pcol_builder_sample(b, &sample, NULL, NULL));
    }
    void *data;
    case_builder = b;
    pcol_file *file = case_open(&data);
    const pcol_table *table = table_of(file, PCOL_MODEL_V1, "samples");
    uint32_t list;
    cr_assert_not_null(pcol_table_column_by_name(table, "locations", &list));
    for (uint64_t first = 0; first <= 9000; first += 9000) {
        pcol_scan *scan;
        pcol_batch batch = PCOL_INIT(pcol_batch);
        pcol_error err = {0};
        uint64_t seen = first;
        size_t smallest = SIZE_MAX, largest = 0;
        cr_assert_eq(pcol_scan_new(table,
                                   &(pcol_scan_options){.size = sizeof(pcol_scan_options),
                                                        .first_row = first},
                                   &scan, &err),
                     PCOL_OK, "%s", err.message);
        for (;;) {
            cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_OK, "%s", err.message);
            if (!batch.rows)
                break;
            cr_assert_eq(batch.first_row, seen);
            const pcol_cells *cells = &batch.columns[list];
            for (size_t i = 0; i < batch.rows; i++, seen++) {
                uint64_t size = cells->list[i + 1] - cells->list[i];
                cr_assert_eq(size, seen < DEEP_ROWS ? DEEP : 1);
                cr_assert_eq(cells->list_values[cells->list[i] + size - 1], 1); /* the outermost */
            }
            smallest = batch.rows < smallest && seen < ALL_ROWS ? batch.rows : smallest;
            largest = batch.rows > largest ? batch.rows : largest;
        }
        cr_expect_eq(seen, ALL_ROWS);
        cr_expect_eq(largest, first ? 128 : 1024);
        cr_expect_eq(smallest, first ? 64 : 32);
        pcol_scan_free(scan);
    }
    pcol_file_close(file);
    pcol_free(data);
}

/* ---- segments of Rprof */

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context, (void)data, (void)size, (void)err;
    return PCOL_OK;
}

/* A header without columns that its segment has makes a text that is rejected. */
Test(foreign, rprof_headers_that_contradict_their_segments)
{
    static const struct {
        int header, memory, file;
        const char *message;
    } cases[] = {
        {1, 1, 1, NULL},
        {0, 0, 0, NULL},
        {0, 1, 0, "its samples have memory columns"},
        {0, 0, 1, "it has rows of rprof_files"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const values[] = {"small_v", "big_v", "nodes", "dup_count"};
        pcol_error err = {0};
        void *data;
        uint32_t type;
        case_begin_as("rprof");
        for (size_t v = 0; v < 4 && cases[i].memory; v++) {
            char name[16];
            OK(pcol_builder_sample_type(case_builder, values[v],
                                        v == 3   ? "count"
                                        : v == 2 ? "bytes"
                                                 : "cells",
                                        0, 0, &type, NULL));
            snprintf(name, sizeof name, "value.%u", type);
            for (uint64_t row = 0; row < 3; row++)
                case_number("samples", name, PCOL_I64, NULL, row, 5);
        }
        case_number("rprof_segments", "source", PCOL_U32, "sources", 0, 0);
        case_number("rprof_segments", "first_sample", PCOL_U64, NULL, 0, 0);
        case_number("rprof_segments", "memory", PCOL_BOOL, NULL, 0, cases[i].header);
        case_number("rprof_segments", "gc", PCOL_BOOL, NULL, 0, 0);
        case_number("rprof_segments", "line", PCOL_BOOL, NULL, 0, cases[i].header);
        case_number("rprof_segments", "crlf", PCOL_BOOL, NULL, 0, 0);
        if (cases[i].file) {
            case_number("rprof_files", "segment", PCOL_U32, "rprof_segments", 0, 0);
            case_number("rprof_files", "before_sample", PCOL_U64, NULL, 0, 0);
            case_number("rprof_files", "number", PCOL_I64, NULL, 0, 1);
            case_string("rprof_files", "path", 0, "a.R");
        }
        pcol_file *file = case_open(&data);
        pcol_status status = pcol_export(file, "rprof", NULL, (pcol_sink){discard, NULL}, &err);
        cr_expect_eq(status, cases[i].message ? PCOL_E_CORRUPT : PCOL_OK, "%zu: %s", i,
                     err.message);
        cr_expect(!cases[i].message || strstr(err.message, cases[i].message), "%s", err.message);
        pcol_file_close(file);
        pcol_free(data);
    }
}

/* ---- what only programs write */

/* pprof gets no sample type of gauges, and so no default. */
Test(foreign, gauges_and_a_default_that_is_no_type)
{
    static const char *const types[] = {"pprof", "jfr"};
    pcol_builder *builder;
    pcol_file *file;
    pcol_error err = {0};
    pcol_value value = {.as.i64 = 7};
    OK(pcol_builder_new(NULL, &builder, NULL));
    for (size_t i = 0; i < 2; i++) {
        pcol_source source = PCOL_INIT(pcol_source);
        pcol_sample sample = PCOL_INIT(pcol_sample);
        source.type = types[i];
        source.default_sample_type = i ? NULL : "x";
        OK(pcol_builder_source(builder, &source, &sample.source, NULL));
        OK(pcol_builder_sample_type(builder, "heap", "bytes", PCOL_SAMPLE_TYPE_GAUGE, 0,
                                    &value.sample_type, NULL));
        sample.values = &value;
        sample.value_count = 1;
        sample.thread = PCOL_NONE;
        OK(pcol_builder_sample(builder, &sample, &(uint64_t){0}, NULL));
    }
    OK(pcol_builder_file(builder, 0, NULL, &file, NULL));
    pcol_builder_free(builder);
    cr_expect_eq(pcol_export(file, "pprof", NULL, (pcol_sink){discard, NULL}, &err), PCOL_OK, "%s",
                 err.message);
    pcol_file_close(file);
}

static void take_text(void *context, const pcol_notice *notice)
{
    if (strstr(notice->text, "notes"))
        ++*(int *)context;
}

/* A column `source` of a program's own table is none that refers to sources, whatever its type. */
Test(foreign, tables_with_a_column_named_source)
{
    static const pcol_type types[] = {PCOL_I64,  PCOL_U32,    PCOL_U64,  PCOL_F64,
                                      PCOL_BOOL, PCOL_STRING, PCOL_BYTES};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int left_out = 0;
        void *data;
        pcol_builder *builder;
        pcol_error err = {0};
        pcol_control control = PCOL_INIT(pcol_control);
        pcol_selection selection = PCOL_INIT(pcol_selection);
        pcol_filter_options options = PCOL_INIT(pcol_filter_options);
        case_begin_as("folded");
        uint32_t column = case_column("notes", "source", types[i], NULL);
        for (uint64_t row = 0; row < 2; row++)
            OK(types[i] == PCOL_STRING || types[i] == PCOL_BYTES
                   ? pcol_builder_set_str(case_builder, column, row, row ? "k" : "thread",
                                          row ? 1 : 6, NULL)
               : types[i] == PCOL_F64
                   ? pcol_builder_set_f64(case_builder, column, row, (double)row + 0.5, NULL)
                   : pcol_builder_set_i64(case_builder, column, row, (int64_t)row, NULL));
        pcol_file *file = case_open(&data);
        control.context = &left_out;
        control.notice = take_text;
        selection.flags = PCOL_SELECTION_HAS_ORDER;
        selection.order_from = 1;
        selection.order_to = 2;
        options.selection = &selection;
        options.control = &control;
        OK(pcol_builder_new(NULL, &builder, NULL));
        cr_expect_eq(pcol_filter(builder, file, &options, &err), PCOL_OK, "type %d: %s",
                     (int)types[i], err.message);
        cr_expect_eq(left_out, 1, "type %d", (int)types[i]);
        pcol_builder_free(builder);
        pcol_file_close(file);
        pcol_free(data);
    }
}

/* ---- times of several units */

static pcol_status write_stream(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)err;
    cr_assert_eq(fwrite(data, 1, size, context), size);
    return PCOL_OK;
}

static void count_unit_losses(void *context, const pcol_notice *notice)
{
    *(int *)context +=
        notice->code == PCOL_NOTICE_LOSS && strstr(notice->text, "units of a type") != NULL;
}

/* Times that become nanoseconds in pprof are added to those that are, in the same row with a
 * notice. */
Test(readers, times_of_several_units)
{
    for (int together = 0; together < 2; together++) {
        uint32_t type[2];
        char name[2][16], *image;
        size_t size;
        void *data;
        int losses = 0;
        pcol_error err = {0};
        pcol_control control = PCOL_INIT(pcol_control);
        pcol_export_options options = PCOL_INIT(pcol_export_options);
        case_stacked();
        OK(pcol_builder_sample_type(case_builder, "time", "s", PCOL_SAMPLE_TYPE_DOUBLE, 0, &type[0],
                                    NULL));
        OK(pcol_builder_sample_type(case_builder, "time", "nanoseconds", 0, 0, &type[1], NULL));
        for (int k = 0; k < 2; k++)
            snprintf(name[k], sizeof name[k], "value.%u", type[k]);
        OK(pcol_builder_set_f64(case_builder, case_column("samples", name[0], PCOL_F64, NULL), 0,
                                0.25, NULL));
        case_number("samples", name[1], PCOL_I64, NULL, together ? 0 : 1, 7);
        pcol_file *file = case_open(&data), *back;
        FILE *to = open_memstream(&image, &size);
        control.context = &losses;
        control.notice = count_unit_losses;
        options.control = &control;
        cr_assert_eq(pcol_export(file, "pprof", &options, (pcol_sink){write_stream, to}, &err),
                     PCOL_OK, "%s", err.message);
        fclose(to);
        cr_expect_eq(losses, together);
        cr_assert_eq(pcol_open_any_memory(image, size, "", NULL, &back, &err), PCOL_OK, "%s",
                     err.message);
        pcol_selection selection = PCOL_INIT(pcol_selection);
        pcol_query *query;
        pcol_query_info info = PCOL_INIT(pcol_query_info);
        selection.sample_type = "time/nanoseconds";
        cr_assert_eq(pcol_query_new(back, &selection, NULL, &query, &err), PCOL_OK, "%s",
                     err.message);
        OK(pcol_query_describe(query, &info, NULL));
        cr_expect_eq(info.total.i64, 250000007);
        pcol_query_free(query);
        pcol_file_close(back);
        free(image);
        pcol_file_close(file);
        pcol_free(data);
    }
}
