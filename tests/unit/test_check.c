/*
 * test_check.c - pcol_file_check() on valid files, every flipped bit, and changes with valid
 * checksums
 * More than 600 lines: all changes are made to the images below.
 */
#include <criterion/criterion.h>

#include "image.h"
#include "testing.h"

#include "format/index.h"
#include "format/load.h"
#include "format/range.h"
#include "pcol.h"
#include "util/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t string(pcol_builder *b, const char *text)
{
    uint32_t code;
    cr_assert_eq(pcol_builder_string(b, text, strlen(text), &code, NULL), PCOL_OK);
    return code;
}

/* A small profile with a bit of everything; `count` samples on few stacks, so that sums pay. */
static void fill(pcol_builder *b, const char *type, uint32_t count)
{
    static const char *const names[] = {"main", "read.csv", "<GC>", "lapply"};
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row, types[3], stacks[8] = {0};
    source.type = type;
    source.uri = "x";
    cr_assert_eq(pcol_builder_source(b, &source, &row, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_sample_type(b, "samples", "count", 0, 0, &types[0], NULL), PCOL_OK);
    cr_assert_eq(
        pcol_builder_sample_type(b, "nodes", "bytes", PCOL_SAMPLE_TYPE_GAUGE, 0, &types[1], NULL),
        PCOL_OK);
    cr_assert_eq(
        pcol_builder_sample_type(b, "cost", "s", PCOL_SAMPLE_TYPE_DOUBLE, 0, &types[2], NULL),
        PCOL_OK);
    for (uint32_t i = 0; i < 7; i++) {
        pcol_function function = PCOL_INIT(pcol_function);
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_line line[2] = {{0, PCOL_NONE, (int64_t)i * 3, 0, i != 2, 0},
                             {0, PCOL_NONE, (int64_t)i + 40, 0, 1, 0}};
        function.name = string(b, names[i % 4]);
        function.system_name = function.filename = PCOL_NONE;
        cr_assert_eq(pcol_builder_function(b, &function, &line[0].function, NULL), PCOL_OK);
        group.lines = line;
        group.line_count = 1 + i % 2;
        group.mapping = PCOL_NONE;
        group.id = i;
        group.flags |= i % 3 == 0 ? PCOL_GROUP_HAS_ID : 0;
        cr_assert_eq(pcol_builder_group(b, &group, &row, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_stack(b, stacks[i / 2], row, &stacks[i + 1], NULL), PCOL_OK);
    }
    for (uint32_t i = 0; i < count; i++) {
        pcol_value values[3] = {{types[0], {.i64 = 1}},
                                {types[1], {.i64 = (int64_t)(i * i % 1000)}},
                                {types[2], {.f64 = i / 3.0}}};
        pcol_sample sample = PCOL_INIT(pcol_sample);
        sample.stack = i % 11 ? stacks[i * 7 % 8] : PCOL_NONE;
        sample.thread = PCOL_NONE;
        sample.values = values;
        sample.value_count = i % 5 ? 3 : 1;
        sample.time_ns = (int64_t)i * 1000003;
        sample.flags |= PCOL_SAMPLE_HAS_TIME;
        cr_assert_eq(pcol_builder_sample(b, &sample, NULL, NULL), PCOL_OK);
    }
}

static uint8_t *make(const char *type, uint32_t count, unsigned flags, size_t *size)
{
    pcol_builder *b;
    void *data;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    fill(b, type, count);
    cr_assert_eq(pcol_builder_write_memory(b, flags, NULL, &data, size, NULL), PCOL_OK);
    pcol_builder_free(b);
    return data;
}

struct contradiction {
    const char *table, *column;
    uint64_t row;
    int64_t value;
    const char *message; /* how it begins */
};

struct log {
    uint64_t reports, notes;
    const struct contradiction *contradiction; /* one that is waited for */
    int found;
    char table[48], column[48], message[256];
    uint64_t row;
    uint64_t stop_after;
};

static int note_fault(void *context, const pcol_fault *fault)
{
    struct log *log = context;
    log->notes += fault->note != 0;
    if (log->contradiction)
        log->found |= strcmp(fault->table, log->contradiction->table) == 0 &&
                      strcmp(fault->column, log->contradiction->column) == 0 &&
                      strncmp(fault->message, log->contradiction->message,
                              strlen(log->contradiction->message)) == 0;
    if (log->reports++ == 0) {
        snprintf(log->table, sizeof log->table, "%s", fault->table);
        snprintf(log->column, sizeof log->column, "%s", fault->column);
        snprintf(log->message, sizeof log->message, "%s", fault->message);
        log->row = fault->row;
    }
    return log->stop_after && log->reports >= log->stop_after;
}

static uint64_t check(const uint8_t *data, size_t size, pcol_check_depth depth, struct log *log)
{
    pcol_file *file;
    uint64_t faults = 0;
    *log = (struct log){.stop_after = log->stop_after, .contradiction = log->contradiction};
    if (pcol_file_open_memory(data, size, NULL, &file, NULL) != PCOL_OK)
        return UINT64_MAX;
    cr_assert_eq(pcol_file_check(file, depth, note_fault, log, NULL, &faults, NULL), PCOL_OK);
    pcol_file_close(file);
    return faults;
}

Test(check, sound_files)
{
    static const uint32_t counts[] = {0, 1, 40, 1024, 8192, 8193, 20000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (unsigned flags = 0; flags <= PCOL_WRITE_QUICK; flags++) {
            struct log log = {0};
            size_t size;
            uint8_t *data = make("other", counts[i], flags, &size);
            cr_assert_eq(check(data, size, PCOL_CHECK_STRICT, &log), 0, "%u: %s.%s %llu: %s",
                         counts[i], log.table, log.column, (unsigned long long)log.row,
                         log.message);
            cr_assert_eq(log.reports, log.notes);
            pcol_free(data);
        }
    }
}

/* Opening or checking reports every flipped bit. */
Test(check, every_flipped_bit_is_found)
{
    for (unsigned flags = 0; flags <= PCOL_WRITE_PLAIN; flags++) {
        size_t size;
        uint8_t *data = make("rprof", flags ? 9 : 40, flags, &size);
        for (size_t bit = 0; bit < size * 8; bit++) {
            struct log log = {0};
            data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            cr_assert_neq(check(data, size, PCOL_CHECK_DEFAULT, &log), 0, "bit %zu of %zu", bit,
                          size * 8);
            data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
        pcol_free(data);
    }
}

/* ---- files that are wrong under right checksums */

/* Change a cell of a plain column in place. */
static void set_cell(uint8_t *data, size_t size, const char *table, const char *column,
                     uint64_t row, int64_t value)
{
    const pcol_table *t;
    const pcol_column *c;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_file *file;
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, table, &t, NULL), PCOL_OK);
    c = pcol_table_column_by_name(t, column, NULL);
    cr_assert_not_null(c, "%s.%s", table, column);
    cr_assert_eq(pcol_column_describe(c, &info, NULL), PCOL_OK);
    cr_assert_str_eq(info.encoding, "plain");
    cr_assert(info.width_bits == 32 || info.width_bits == 64);
    memcpy(data + info.values_offset + row * (info.width_bits / 8), &value, info.width_bits / 8);
    pcol_file_close(file);
    reseal(data, size);
}

static const struct contradiction contradictions[] = {
    {"stacks", "parent", 3, 3, "parent 3 is not before"},
    {"stacks", "parent", 5, 900, "900 is beyond"},
    {"stacks", "group", 5, 900, "900 is beyond"},
    {"stacks", "parent", 0, 1, "parent and group of the empty stack"},
    {"location_groups", "first_location", 2, 1, "1 does not come after 1"},
    {"location_groups", "first_location", 0, 1, "the locations before row 1"},
    {"samples", "stack", 7, 8, "8 is beyond the 8 rows of stacks"},
    {"locations", "function", 1, 99, "99 is beyond the 4 rows of functions"},
    {"functions", "name", 0, 1000, "1000 is beyond"},
    {"sample_zones", "location_row", 1, 3, "3 rows are stated"},
    {"sample_zones", "value_row", 1, 3, "3 rows are stated"},
    {"stack_sums", "sum.0", 0, 12345, "the sum is not that of"},
    {"stack_sums", "stack", 1, 0, "0 does not come after"},
    {"sample_values", "sample_type", 1, 2, "the cell is not the one"},
    {"sample_locations", "depth", 4, 1, "the cell is not the one"},
};

Test(check, lies_are_found)
{
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        struct log log = {.contradiction = &contradictions[i]};
        size_t size;
        uint8_t *data = make("rprof", 60, PCOL_WRITE_PLAIN, &size);
        set_cell(data, size, contradictions[i].table, contradictions[i].column,
                 contradictions[i].row, contradictions[i].value);
        cr_assert_geq(check(data, size, PCOL_CHECK_STRICT, &log), 1);
        cr_expect(log.found, "%s.%s: %s, not %s", contradictions[i].table, contradictions[i].column,
                  log.message, contradictions[i].message);
        (void)rejects_or_repairs(data, size);
        pcol_free(data);
    }
}

/* ---- nothing that dangles is shown */

/* All cells of a table from a row on. */
static pcol_status scan_from(const uint8_t *data, size_t size, pcol_model model, const char *name,
                             uint64_t row, pcol_error *error)
{
    const pcol_table *table;
    pcol_file *file;
    pcol_scan *scan = NULL;
    pcol_batch batch = {.size = sizeof batch, .rows = 1};
    pcol_status status;
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, NULL), PCOL_OK);
    status = pcol_file_table_by_name(file, model, name, &table, error);
    if (status == PCOL_OK)
        status = pcol_scan_new(
            table, &(pcol_scan_options){.size = sizeof(pcol_scan_options), .first_row = row}, &scan,
            error);
    while (status == PCOL_OK && batch.rows)
        status = pcol_scan_next(scan, &batch, error);
    pcol_scan_free(scan);
    pcol_file_close(file);
    return status;
}

static pcol_status scan_table(const uint8_t *data, size_t size, pcol_model model, const char *name,
                              pcol_error *error)
{
    return scan_from(data, size, model, name, 0, error);
}

/* The v2 table `view` reads the column of `contradiction`; there is a reference or a total. */
static const struct {
    struct contradiction contradiction;
    const char *view;
} dangling[] = {
    {{"stacks", "group", 5, 900, "900 is beyond the 7 rows of location_groups"},
     "sample_locations"},
    {{"location_groups", "first_location", 2, 1, "1 does not come after 1"}, "sample_locations"},
    {{"location_groups", "first_location", 2, 900, "900 is beyond the 10 rows of locations"},
     "locations"},
    {{"location_groups", "first_location", 0, 1, "the first value is 1 instead of 0"}, "locations"},
    {{"samples", "stack", 7, 8, "8 is beyond the 8 rows of stacks"}, "samples"},
    {{"samples", "stack", 7, 8, "8 is beyond the 8 rows of stacks"}, "sample_locations"},
    {{"locations", "function", 1, 99, "99 is beyond the 4 rows of functions"}, "locations"},
    {{"functions", "name", 0, 1000, "string 1000 does not exist"}, "functions"},
    {{"sample_zones", "location_row", 1, 3, "3 rows are stated"}, "sample_locations"},
    {{"sample_zones", "location_row", 1, 0, "0 rows are stated"}, "sample_locations"},
    {{"sample_zones", "location_row", 1, 9000, "9000 rows are stated"}, "sample_locations"},
    {{"sample_zones", "value_row", 1, 3, "3 rows are stated"}, "sample_values"},
    {{"sample_zones", "value_row", 1, 0, "0 rows are stated"}, "sample_values"},
};

static pcol_status discard_bytes(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

/* Exports read what a column that divides another table names, and must not take a wrong part. */
Test(check, tables_are_divided_in_order)
{
    static const struct {
        const char *file;
        struct contradiction contradiction;
        const char *format;
    } cases[] = {
        {"rprof", {"location_groups", "first_location", 0, 1, "instead of 0"}, "rprof"},
        {"rprof", {"location_groups", "first_location", 2, 1, "does not come after 1"}, "perf"},
        {"rprof", {"location_groups", "first_location", 2, 1, "does not come after 1"}, "firefox"},
        {"rprof", {"stack_sums", "stack", 1, 0, "does not come after"}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcol_file *file;
        pcol_query *query = NULL;
        pcol_result *top = NULL;
        pcol_error error = {0};
        size_t size;
        uint8_t *data = make(cases[i].file, 60, PCOL_WRITE_PLAIN, &size);
        const struct contradiction *contradiction = &cases[i].contradiction;
        set_cell(data, size, contradiction->table, contradiction->column, contradiction->row,
                 contradiction->value);
        cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, &error), PCOL_OK);
        pcol_status status;
        if (cases[i].format) {
            status =
                pcol_export(file, cases[i].format, NULL, (pcol_sink){discard_bytes, NULL}, &error);
        } else {
            status = pcol_query_new(file, NULL, NULL, &query, &error);
            if (status == PCOL_OK)
                status = pcol_query_top(query, NULL, &top, &error);
        }
        cr_expect_eq(status, PCOL_E_CORRUPT, "%u: %s", (unsigned)i, error.message);
        cr_expect(strstr(error.message, contradiction->message), "%s", error.message);
        pcol_result_free(top);
        pcol_query_free(query);
        pcol_file_close(file);
        free(data);
    }
}

Test(check, dangling_ids_are_never_shown)
{
    for (size_t i = 0; i < sizeof dangling / sizeof *dangling; i++) {
        const struct contradiction *contradiction = &dangling[i].contradiction;
        int reference = strcmp(contradiction->table, "sample_zones") != 0;
        pcol_error error = {0};
        size_t size;
        uint8_t *data = make("rprof", 60, PCOL_WRITE_PLAIN, &size);
        cr_assert_eq(scan_table(data, size, PCOL_MODEL_V2, dangling[i].view, &error), PCOL_OK, "%s",
                     error.message);
        set_cell(data, size, contradiction->table, contradiction->column, contradiction->row,
                 contradiction->value);
        cr_expect_eq(scan_table(data, size, PCOL_MODEL_V2, dangling[i].view, &error),
                     PCOL_E_CORRUPT, "%s of %s %lld", dangling[i].view, contradiction->column,
                     (long long)contradiction->value);
        cr_expect(strstr(error.message, contradiction->message), "%s, not %s", error.message,
                  contradiction->message);
        if (reference &&
            contradiction->value > 8) { /* as a number of a row it leads nowhere either */
            cr_expect_eq(scan_table(data, size, PCOL_MODEL_PHYSICAL, contradiction->table, &error),
                         PCOL_E_CORRUPT, "%s.%s", contradiction->table, contradiction->column);
            cr_expect_eq(error.row, contradiction->row);
        }
        pcol_free(data);
    }
}

/* Where rows are found through sample_zones, a range of rows is as right as the whole table. */
Test(check, ranges_are_of_the_samples)
{
    static const char *const columns[] = {"location_row", "value_row"};
    static const char *const views[] = {"sample_locations", "sample_values"};
    size_t size;
    uint8_t *data = make("rprof", 20000, PCOL_WRITE_PLAIN, &size);
    for (uint64_t zone = 0; zone < 8; zone++) {
        int which = zone % 2;
        pcol_error error = {0};
        uint8_t *copy = malloc(size);
        cr_assert_not_null(copy);
        memcpy(copy, data, size);
        cr_assert_eq(scan_from(copy, size, PCOL_MODEL_V2, views[which], 5, &error), PCOL_OK, "%s",
                     error.message);
        set_cell(copy, size, "sample_zones", columns[which], zone / 2, 40000 + (int64_t)zone);
        for (uint64_t row = 0; row < 50000; row += 24999)
            cr_expect_eq(scan_from(copy, size, PCOL_MODEL_V2, views[which], row, &error),
                         PCOL_E_CORRUPT, "%s, zone %d, from row %d", views[which], (int)zone / 2,
                         (int)row);
        cr_expect_eq(error.row, zone / 2);
        free(copy);
    }
    pcol_free(data);
}

/* The same fault in many rows is reported twenty times, then counted. */
Test(check, many_faults_are_summed_up)
{
    struct log log = {0};
    size_t size;
    uint8_t *data = make("rprof", 60, PCOL_WRITE_PLAIN, &size);
    for (uint64_t row = 0; row < 50; row++)
        set_cell(data, size, "samples", "stack", row, 4000);
    cr_assert_geq(check(data, size, PCOL_CHECK_DEFAULT, &log), 45);
    cr_assert_eq(log.reports, 21);
    log.stop_after = 3;
    check(data, size, PCOL_CHECK_DEFAULT, &log);
    cr_assert_eq(log.reports, 3);
    pcol_free(data);
}

/* A report function that stops the check is not called again. */
Test(check, no_problem_is_reported_after_the_limit)
{
    static const struct contradiction wrong[] = {{"sample_values", "sample_type", 1, 2, ""},
                                                 {"sample_locations", "depth", 4, 1, ""},
                                                 {"stack_sums", "sum.0", 0, 12345, ""},
                                                 {"sample_zones", "location_row", 1, 3, ""},
                                                 {"stacks", "parent", 3, 3, ""},
                                                 {"samples", "value.0", 2, -5, ""}};
    size_t size;
    uint8_t *data = make("rprof", 20000, PCOL_WRITE_PLAIN, &size);
    struct log all = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        set_cell(data, size, wrong[i].table, wrong[i].column, wrong[i].row, wrong[i].value);
    check(data, size, PCOL_CHECK_STRICT, &all);
    cr_assert_gt(all.reports, 3);
    for (uint64_t n = 1; n <= all.reports; n++) {
        struct log some = {.stop_after = n};
        check(data, size, PCOL_CHECK_STRICT, &some);
        cr_expect_eq(some.reports, n);
    }
    /* Each alone, so that nothing that builds on another one is left out. */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct log some = {.stop_after = 1};
        pcol_free(data);
        data = make("rprof", 20000, PCOL_WRITE_PLAIN, &size);
        set_cell(data, size, wrong[i].table, wrong[i].column, wrong[i].row, wrong[i].value);
        check(data, size, PCOL_CHECK_STRICT, &some);
        cr_expect_eq(some.reports, 1, "%s.%s", wrong[i].table, wrong[i].column);
    }
    pcol_free(data);
}

/* What v1 cannot hold is a note, also in a file from Rprof. */
Test(check, rules_of_v1)
{
    static const char *const types[] = {"rprof", "other"};
    for (int i = 0; i < 2; i++) {
        struct log log = {0};
        pcol_builder *b;
        pcol_function function = PCOL_INIT(pcol_function);
        uint32_t row;
        size_t size;
        void *data;
        cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
        fill(b, types[i], 50);
        function.name = string(b, "");
        function.system_name = function.filename = PCOL_NONE;
        cr_assert_eq(pcol_builder_function(b, &function, &row, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_write_memory(b, 0, NULL, &data, &size, NULL), PCOL_OK);
        pcol_builder_free(b);
        cr_assert_eq(check(data, size, PCOL_CHECK_STRICT, &log), 0);
        cr_assert_eq(log.reports, 1);
        cr_assert_eq(log.notes, 1);
        cr_assert_str_eq(log.table, "functions");
        cr_assert_eq(check(data, size, PCOL_CHECK_DEFAULT, &log), 0);
        pcol_free(data);
    }
}

/* ---- reading files that are wrong: an error or an answer, never more */

static void read_table(const pcol_table *table)
{
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    if (pcol_scan_new(table,
                      &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = 3000},
                      &scan, NULL) != PCOL_OK)
        return;
    while (pcol_scan_next(scan, &batch, NULL) == PCOL_OK && batch.rows)
        ;
    pcol_scan_free(scan);
    for (uint32_t i = 0; i < pcol_table_column_count(table); i++) {
        const pcol_column *column = pcol_table_column(table, i);
        pcol_column_info info = PCOL_INIT(pcol_column_info);
        pcol_str text;
        double number;
        uint64_t rows = pcol_table_rows(table);
        cr_assert_eq(pcol_column_describe(column, &info, NULL), PCOL_OK);
        if (info.type == PCOL_STRING || info.type == PCOL_BYTES)
            (void)!pcol_column_str(column, rows / 2, &text, NULL, NULL);
        else
            (void)!pcol_column_f64(column, rows / 2, &number, NULL, NULL);
    }
}

static void read_everything(const uint8_t *data, size_t size)
{
    pcol_file *file;
    if (pcol_file_open_memory(data, size, NULL, &file, NULL) != PCOL_OK)
        return;
    for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_FURTHER; model++) {
        for (uint32_t i = 0; i < pcol_file_table_count(file, (pcol_model)model); i++) {
            const pcol_table *table;
            if (pcol_file_table(file, (pcol_model)model, i, &table, NULL) == PCOL_OK)
                read_table(table);
        }
    }
    pcol_file_close(file);
}

Test(check, changed_sections_are_read_in_bounds)
{
    uint32_t seed = 11;
    for (unsigned round = 0; round < 3000; round++) {
        struct log log = {0};
        struct pcf_header header;
        struct pcf_fault fault;
        size_t size, from;
        uint8_t *data = make("rprof", 50, round % 2 ? PCOL_WRITE_PLAIN : 0, &size);
        cr_assert_eq(pcf_header_check(data, size, size, &header, &fault), 0);
        from = (size_t)(header.index_offset + header.index_size);
        for (unsigned i = 0; i <= round % 4; i++) {
            seed = seed * 1664525u + 1013904223u;
            data[from + seed % (size - 16 - from)] = (uint8_t)(seed >> 24);
        }
        reseal(data, size);
        check(data, size, PCOL_CHECK_STRICT, &log);
        read_everything(data, size);
        pcol_free(data);
    }
}

/* A file with a table of `width` columns that states `rows` rows, which take no bytes. */
static struct image wide_image(int width, uint64_t rows)
{
    struct image image;
    struct pcf_index *x;
    pcol_builder *b;
    uint32_t table, column;
    void *memory;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_table(b, "wide", &table, NULL), PCOL_OK);
    for (int i = 0; i < width; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        cr_assert_eq(pcol_builder_column(b, table, name, PCOL_I64, 0, &column, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_set_i64(b, column, 0, 1, NULL), PCOL_OK);
    }
    cr_assert_eq(pcol_builder_write_memory(b, 0, NULL, &memory, &image.size, NULL), PCOL_OK);
    pcol_builder_free(b);
    image.bytes = memory;
    x = image_index(&image);
    for (uint32_t i = 0; i < x->header.table_count; i++)
        x->tables[i].rows = rows;
    image_put_index(&image, x);
    return image;
}

/* A table of 2^48 rows in no bytes: rejected by check, and its first rows can be read. */
Test(check, rows_without_bytes)
{
    struct log log = {0};
    struct image image = wide_image(1, UINT64_C(1) << 48);
    cr_assert_geq(check(image.bytes, image.size, PCOL_CHECK_STRICT, &log), 1);
    cr_assert(strstr(log.message, "implausible number of rows"), "%s", log.message);
    read_everything(image.bytes, image.size);
    free(image.bytes);
}

/* As many rows as are plausible, in one column more than is plausible with them. */
Test(check, values_without_bytes)
{
    struct log log = {0};
    struct image image = wide_image(PCF_FREE_VALUES / PCF_FREE_ROWS + 1, PCF_FREE_ROWS);
    cr_assert_geq(check(image.bytes, image.size, PCOL_CHECK_STRICT, &log), 1);
    cr_assert(strstr(log.message, "implausible number of values of all tables, 541065216"), "%s",
              log.message);
    free(image.bytes);
}

static struct pcf_column *column_of(struct pcf_index *x, const char *name)
{
    for (uint32_t i = 0; i < x->header.column_count; i++)
        if (x->columns[i].name_size == strlen(name) &&
            !memcmp(x->names + x->columns[i].name_offset, name, strlen(name)))
            return &x->columns[i];
    cr_assert_fail("no column %s", name);
    return NULL;
}

/* Numbers that run out of 64 bits go round; whether they ascend is seen one by one then. */
Test(check, numbers_that_go_round)
{
    for (int ascending = 0; ascending < 2; ascending++) {
        struct log log = {0};
        struct image image = image_build(0);
        struct pcf_index *x = image_index(&image);
        struct pcf_column *column = column_of(x, "linear");
        cr_assert_eq(column->encoding, PCF_LINEAR);
        column->step = INT64_MAX / 100;
        column->flags = ascending ? PCF_COLUMN_ASCENDING : 0;
        column->min = column->max = 0;
        image_put_index(&image, x);
        cr_expect_eq(check(image.bytes, image.size, PCOL_CHECK_DEFAULT, &log), (uint64_t)ascending,
                     "%s", log.message);
        if (ascending) {
            cr_expect_str_eq(log.column, "linear");
            cr_expect_str_eq(log.message, "the values do not ascend as stated");
        }
        free(image.bytes);
    }
}

/* Bits after the last value of a bool are 0; one that is not has no array either. */
Test(check, bits_after_the_last_value)
{
    pcol_builder *b;
    pcol_file *file;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_buffer buffer;
    uint32_t table, column;
    void *data;
    size_t size;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_table(b, "x", &table, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_column(b, table, "c", PCOL_BOOL, 0, &column, NULL), PCOL_OK);
    for (uint64_t row = 0; row < 11; row++)
        cr_assert_eq(pcol_builder_set_i64(b, column, row, row % 3 == 0, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(b, PCOL_WRITE_PLAIN, NULL, &data, &size, NULL), PCOL_OK);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, NULL), PCOL_OK);
    const pcol_table *t;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "x", &t, NULL), PCOL_OK);
    cr_assert_eq(pcol_column_describe(pcol_table_column(t, 0), &info, NULL), PCOL_OK);
    cr_assert_str_eq(info.encoding, "plain");
    cr_expect_eq(pcol_column_data(pcol_table_column(t, 0), &buffer, NULL), PCOL_E_UNSUPPORTED);
    pcol_file_close(file);
    for (int bit = 2; bit < 8; bit++) {
        struct log log = {0};
        uint8_t *byte = (uint8_t *)data + info.values_offset + 1;
        *byte = (uint8_t)(*byte ^ 1u << bit);
        reseal(data, size);
        cr_expect_eq(check(data, size, PCOL_CHECK_DEFAULT, &log), bit > 2, "bit %d", bit);
        if (bit > 2)
            cr_expect_str_eq(log.message, "bits after the last value are not zero");
        *byte = (uint8_t)(*byte ^ 1u << bit);
    }
    pcol_free(data);
}

/* ---- no memory */

static unsigned allowed;

static int out_of_memory(void)
{
    return allowed ? (--allowed, 0) : 1;
}

/* Every allocation in turn is the one that fails. */
Test(check, every_failed_allocation_is_reported)
{
    size_t size;
    uint8_t *data = make("rprof", 50, PCOL_WRITE_PLAIN, &size);
    unsigned used = 0;
    for (int failed = 1; failed; used++) {
        pcol_file *file;
        uint64_t faults = 0;
        pcol_error err = {0};
        cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, NULL), PCOL_OK);
        pci_alloc_hook = out_of_memory;
        allowed = used;
        if (pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err) != PCOL_OK)
            cr_assert_eq(err.status, PCOL_E_NO_MEMORY);
        cr_assert_eq(faults, 0);
        allowed = used;
        for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_FURTHER; model++) {
            for (uint32_t i = 0; i < pcol_file_table_count(file, (pcol_model)model); i++) {
                const pcol_table *table;
                if (pcol_file_table(file, (pcol_model)model, i, &table, &err) == PCOL_OK)
                    read_table(table);
                else
                    cr_assert_eq(err.status, PCOL_E_NO_MEMORY);
            }
        }
        failed = allowed == 0;
        pci_alloc_hook = NULL;
        pcol_file_close(file);
    }
    cr_assert_gt(used, 100);
    pcol_free(data);
}
