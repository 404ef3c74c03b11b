/*
 * test_joins_hostile.c - joined tables: arguments, lifetimes, damaged files, texts without bounds
 */
#include "format/index.h"
#include "format/load.h"
#include "pcol.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) cr_assert_eq((call), PCOL_OK, "%s: %s", #call, err.message)

static pcol_error err;

static const pcol_table *find_table(const pcol_file *file, pcol_model model, const char *name)
{
    const pcol_table *table;
    return pcol_file_table_by_name(file, model, name, &table, NULL) == PCOL_OK ? table : NULL;
}

Test(joins_hostile, arguments)
{
    pcol_file *file;
    const pcol_table *table, *joined;
    pcol_query *query;
    pcol_result *top;
    MUST(pcol_open_any_memory("a;b 1\n", 6, "in", NULL, &file, &err));
    table = find_table(file, PCOL_MODEL_V2, "samples");
    joined = table;
    cr_assert_eq(pcol_table_joined(NULL, &joined, NULL), PCOL_E_ARGUMENT);
    cr_assert_null(joined);
    cr_assert_eq(pcol_table_joined(table, NULL, NULL), PCOL_E_ARGUMENT);
    MUST(pcol_query_new(file, NULL, NULL, &query, &err));
    MUST(pcol_query_top(query, NULL, &top, &err));
    MUST(pcol_table_joined(pcol_result_table(top), &joined, &err));
    cr_assert_eq(joined, pcol_result_table(top));
    pcol_result_free(top);
    pcol_query_free(query);
    pcol_file_close(file);
}

/* Columns that are not joined have one array, whichever of the tables was asked first. */
Test(joins_hostile, arrays_are_shared)
{
    pcol_file *file;
    const pcol_table *table, *joined;
    pcol_array a = PCOL_INIT(pcol_array), b = PCOL_INIT(pcol_array);
    MUST(pcol_open_any_memory("a;b 1\nc 2\n", 10, "in", NULL, &file, &err));
    table = find_table(file, PCOL_MODEL_V2, "samples");
    MUST(pcol_table_joined(table, &joined, &err));
    MUST(pcol_column_array(pcol_table_column_by_name(joined, "stack_id", NULL), NULL, &a, &err));
    MUST(pcol_column_array(pcol_table_column_by_name(table, "stack_id", NULL), NULL, &b, &err));
    cr_assert_eq(a.values, b.values);
    pcol_file_close(file);
}

/* ---- hostile files */

static pcol_status read_all(const pcol_table *table)
{
    const pcol_table *joined;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_scan *scan;
    size_t sum = 0;
    pcol_status status = pcol_table_joined(table, &joined, &err);
    if (status == PCOL_OK)
        status = pcol_scan_new(joined, NULL, &scan, &err);
    if (status != PCOL_OK)
        return status;
    do {
        status = pcol_scan_next(scan, &batch, &err);
        for (uint32_t c = 0; status == PCOL_OK && c < batch.column_count; c++)
            for (size_t i = 0; batch.columns[c].str && i < batch.rows; i++)
                for (size_t k = 0; k < batch.columns[c].str[i].size; k++)
                    sum += (uint8_t)batch.columns[c].str[i].data[k];
    } while (status == PCOL_OK && batch.rows);
    cr_assert(sum != 1);
    pcol_scan_free(scan);
    return status;
}

/* Each byte of a file changed, with checksums that agree: an error, or texts within bounds. */
Test(joins_hostile, damaged_files)
{
    static const char profile[] = "main;f;g 1\nmain;h 2\nmain;f 3\nmain;f;g;a.R:3 4\n";
    pcol_builder *b;
    void *data;
    size_t size, rejected = 0;
    MUST(pcol_builder_new(NULL, &b, &err));
    MUST(pcol_import_memory(b, profile, sizeof profile - 1, "in", NULL, &err));
    MUST(pcol_builder_write_memory(b, PCOL_WRITE_PLAIN, NULL, &data, &size, &err));
    pcol_builder_free(b);
    uint8_t *copy = malloc(size);
    for (size_t at = 64; at < size; at++) {
        pcol_file *file;
        memcpy(copy, data, size);
        struct pcf_header header;
        struct pcf_fault fault;
        copy[at] = (uint8_t)(copy[at] ^ (1u << at % 8));
        if (pcf_header_check(copy, size, size, &header, &fault))
            continue;
        reseal(copy, size);
        if (pcol_file_open_memory(copy, size, NULL, &file, NULL) != PCOL_OK)
            continue;
        for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_FURTHER; model += 3)
            for (uint32_t i = 0; i < pcol_file_table_count(file, (pcol_model)model); i++) {
                const pcol_table *table;
                if (pcol_file_table(file, (pcol_model)model, i, &table, NULL) == PCOL_OK &&
                    pcol_table_rows(table) < 100)
                    rejected += read_all(table) != PCOL_OK;
            }
        pcol_file_close(file);
    }
    cr_assert(rejected > 50, "%zu", rejected);
    free(copy);
    pcol_free(data);
}

/* A stack whose text takes far more memory than its file. */
Test(joins_hostile, texts_of_implausible_size)
{
    enum { DEPTH = 30000, NAME = 20000 };
    pcol_builder *b;
    pcol_file *file;
    const pcol_table *table;
    char *name = malloc(NAME);
    uint32_t string, function, group, stack = 0;
    pcol_function f = PCOL_INIT(pcol_function);
    pcol_group g = PCOL_INIT(pcol_group);
    pcol_line line = {.filename = PCOL_NONE};
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_sample sample = PCOL_INIT(pcol_sample);
    uint32_t row;
    memset(name, 'n', NAME);
    MUST(pcol_builder_new(NULL, &b, &err));
    MUST(pcol_builder_string(b, name, NAME, &string, &err));
    f.name = string;
    f.system_name = f.filename = PCOL_NONE;
    MUST(pcol_builder_function(b, &f, &function, &err));
    line.function = function;
    g.lines = &line;
    g.line_count = 1;
    g.mapping = PCOL_NONE;
    MUST(pcol_builder_group(b, &g, &group, &err));
    for (int i = 0; i < DEPTH; i++)
        MUST(pcol_builder_stack(b, stack, group, &stack, &err));
    source.type = "folded";
    MUST(pcol_builder_source(b, &source, &row, &err));
    sample.stack = stack;
    sample.thread = PCOL_NONE;
    MUST(pcol_builder_sample(b, &sample, NULL, &err));
    MUST(pcol_builder_file(b, 0, NULL, &file, &err));
    pcol_builder_free(b);
    table = find_table(file, PCOL_MODEL_V2, "samples");
    cr_assert_eq(read_all(table), PCOL_E_LIMIT);
    cr_assert_str_eq(err.column, "stack");
    cr_assert(strstr(err.message, "implausibly many bytes"), "%s", err.message);
    pcol_file_close(file);
    free(name);
}
