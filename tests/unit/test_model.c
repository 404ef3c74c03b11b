/*
 * test_model.c - logical tables, compared with rows that the test computes itself
 *
 * The profile is pseudo-random: two sources with types in different orders, missing values, groups
 * of several lines, samples without a stack or with an empty one, and more samples than a zone has.
 * Expected rows are plain arrays.
 * More than 600 lines: all tables are compared with the one profile below.
 */
#include <criterion/criterion.h>

#include "pcol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 20000u
#define GROUPS 60u
#define STACKS 500u
#define LOCATIONS 60u /* per sample, on average at most */
#define TYPES 3u

struct row {
    int64_t cell[3];
};

/* What sample_locations and sample_values must hold: sample_id, depth, location_id; and sample_id,
 * type, bits of the value as double. */
static struct row *locations, *values;
static size_t location_count, value_count;

static uint32_t seed;

static uint32_t dice(uint32_t sides)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % sides;
}

static uint32_t string(pcol_builder *b, const char *text)
{
    uint32_t code;
    cr_assert_eq(pcol_builder_string(b, text, strlen(text), &code, NULL), PCOL_OK);
    return code;
}

static uint32_t sample_type(pcol_builder *b, const char *type, const char *unit, unsigned flags)
{
    uint32_t row;
    cr_assert_eq(pcol_builder_sample_type(b, type, unit, flags, 0, &row, NULL), PCOL_OK);
    return row;
}

static void new_source(pcol_builder *b, const char *type)
{
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row;
    source.type = type;
    source.uri = "here";
    cr_assert_eq(pcol_builder_source(b, &source, &row, NULL), PCOL_OK);
}

static uint32_t new_function(pcol_builder *b, const char *name)
{
    pcol_function function = PCOL_INIT(pcol_function);
    uint32_t row;
    function.name = string(b, name);
    function.system_name = function.filename = PCOL_NONE;
    cr_assert_eq(pcol_builder_function(b, &function, &row, NULL), PCOL_OK);
    return row;
}

static uint32_t new_group(pcol_builder *b, uint64_t address, uint32_t first_function,
                          uint32_t lines)
{
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line[4] = {0};
    uint32_t row;
    for (uint32_t i = 0; i < lines; i++)
        line[i] = (pcol_line){first_function + i, PCOL_NONE, 10 + i, 0, 1, 0};
    group.lines = line;
    group.line_count = lines;
    group.mapping = PCOL_NONE;
    group.address = address;
    group.flags |= PCOL_GROUP_HAS_ADDRESS;
    cr_assert_eq(pcol_builder_group(b, &group, &row, NULL), PCOL_OK);
    return row;
}

static pcol_file *finish(pcol_builder *b, unsigned flags, void **data)
{
    pcol_error err = {0};
    pcol_file *file;
    size_t size;
    cr_assert_eq(pcol_builder_write_memory(b, flags, NULL, data, &size, &err), PCOL_OK, "%s",
                 err.message);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(*data, size, NULL, &file, &err), PCOL_OK, "%s", err.message);
    return file;
}

/* ---- the profile */

struct tree {
    uint32_t group_lines[GROUPS], first_location[GROUPS];
    uint32_t stack[STACKS], parent[STACKS], group[STACKS]; /* parent: number in these arrays */
};

static void make_tree(pcol_builder *b, struct tree *t)
{
    uint32_t next = 0;
    char name[16];
    for (uint32_t i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "f.%u", (unsigned)i);
        new_function(b, name);
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        t->group_lines[g] = 1 + dice(3);
        t->first_location[g] = next;
        next += t->group_lines[g];
        cr_assert_eq(new_group(b, 1000 + g, dice(7), t->group_lines[g]), g);
    }
    t->stack[0] = t->parent[0] = t->group[0] = 0; /* the empty stack */
    for (uint32_t s = 1; s < STACKS; s++) {
        t->parent[s] = dice(3) ? dice(s) : s - 1;
        t->group[s] = dice(GROUPS);
        cr_assert_eq(pcol_builder_stack(b, t->stack[t->parent[s]], t->group[s], &t->stack[s], NULL),
                     PCOL_OK);
    }
}

static void expect_location(int64_t sample, int64_t depth, int64_t location)
{
    cr_assert_lt(location_count, SAMPLES * LOCATIONS);
    locations[location_count++] = (struct row){{sample, depth, location}};
}

static void expect_stack(const struct tree *t, int64_t sample, uint32_t s)
{
    int64_t depth = 0;
    for (; s; s = t->parent[s]) {
        for (uint32_t l = 0; l < t->group_lines[t->group[s]]; l++)
            expect_location(sample, ++depth, t->first_location[t->group[s]] + l + 1);
    }
}

static void expect_value(int64_t sample, uint32_t type, double value)
{
    struct row *row = &values[value_count++];
    row->cell[0] = sample;
    row->cell[1] = type;
    memcpy(&row->cell[2], &value, sizeof value);
}

/* `dense`: every sample has all values, and only one source. */
static void make_samples(pcol_builder *b, const struct tree *t, int dense)
{
    static const uint32_t orders[2][TYPES] = {{0, 1, 2}, {1, 0, 2}};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        pcol_sample sample = PCOL_INIT(pcol_sample);
        pcol_value cells[TYPES];
        uint32_t s = dice(STACKS), source = !dense && i >= SAMPLES / 2;
        sample.source = source;
        sample.stack = dice(10) ? t->stack[s] : PCOL_NONE;
        sample.thread = PCOL_NONE;
        sample.time_ns = i * INT64_C(10000000) + dice(1000);
        sample.flags |= i % 7 != 0 ? PCOL_SAMPLE_HAS_TIME : 0;
        if (sample.stack != PCOL_NONE)
            expect_stack(t, i + 1, s);
        for (uint32_t k = 0; k < TYPES; k++) {
            uint32_t type = orders[source][k];
            pcol_value *cell = &cells[sample.value_count];
            if (!dense && dice(5) == 0)
                continue;
            cell->sample_type = type;
            if (type == 2)
                cell->as.f64 = dice(1000) / 8.0;
            else
                cell->as.i64 = dice(1000);
            expect_value(i + 1, type, type == 2 ? cell->as.f64 : (double)cell->as.i64);
            sample.value_count++;
        }
        sample.values = cells;
        cr_assert_eq(pcol_builder_sample(b, &sample, NULL, NULL), PCOL_OK);
    }
}

static pcol_file *make_profile(int dense, unsigned flags, void **data)
{
    static struct tree tree;
    pcol_builder *b;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    seed = 7;
    locations = malloc(sizeof *locations * SAMPLES * LOCATIONS);
    values = malloc(sizeof *values * SAMPLES * TYPES);
    cr_assert(locations && values);
    location_count = value_count = 0;
    make_tree(b, &tree);
    new_source(b, "one");
    sample_type(b, "samples", "count", 0);
    sample_type(b, "cpu", "nanoseconds", 0);
    sample_type(b, "load", "percent", PCOL_SAMPLE_TYPE_DOUBLE | PCOL_SAMPLE_TYPE_GAUGE);
    if (!dense) {
        new_source(b, "two");
        sample_type(b, "cpu", "nanoseconds", 0);
        sample_type(b, "samples", "count", 0);
        sample_type(b, "load", "percent", PCOL_SAMPLE_TYPE_DOUBLE | PCOL_SAMPLE_TYPE_GAUGE);
        cr_assert_eq(pcol_builder_source_meta(b, 1, "host", "h", NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_source_meta(b, 0, "period", "p", NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_source_meta(b, 0, "host", "g", NULL), PCOL_OK);
    }
    make_samples(b, &tree, dense);
    return finish(b, flags, data);
}

static void drop(pcol_file *file, void *data)
{
    pcol_file_close(file);
    pcol_free(data);
    free(locations);
    free(values);
}

static const pcol_table *table_of(const pcol_file *file, pcol_model model, const char *name)
{
    const pcol_table *table;
    pcol_error err = {0};
    cr_assert_eq(pcol_file_table_by_name(file, model, name, &table, &err), PCOL_OK, "%s: %s", name,
                 err.message);
    return table;
}

/* ---- comparing */

static void expect_locations(const pcol_file *file, uint64_t first, uint64_t count)
{
    const pcol_table *table = table_of(file, PCOL_MODEL_V2, "sample_locations");
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err = {0};
    uint64_t row = first, end = first + count < location_count ? first + count : location_count;
    cr_assert_eq(pcol_scan_new(table,
                               &(pcol_scan_options){.size = sizeof(pcol_scan_options),
                                                    .first_row = first,
                                                    .row_count = count},
                               &scan, &err),
                 PCOL_OK, "%s", err.message);
    do {
        cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_OK, "%s", err.message);
        cr_assert_eq(batch.first_row, row);
        for (size_t i = 0; i < batch.rows; i++, row++) {
            for (int k = 0; k < 3; k++)
                cr_assert_eq(batch.columns[k].i64[i], locations[row].cell[k]);
        }
    } while (batch.rows);
    cr_assert_eq(row, end < first ? first : end);
    pcol_scan_free(scan);
}

static void expect_values(const pcol_file *file, uint64_t first, uint64_t count)
{
    static const char *const types[] = {"samples", "cpu", "load"};
    static const char *const units[] = {"count", "nanoseconds", "percent"};
    const pcol_table *table = table_of(file, PCOL_MODEL_V2, "sample_values");
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err = {0};
    uint64_t row = first, end = first + count < value_count ? first + count : value_count;
    cr_assert_eq(pcol_scan_new(table,
                               &(pcol_scan_options){.size = sizeof(pcol_scan_options),
                                                    .first_row = first,
                                                    .row_count = count},
                               &scan, &err),
                 PCOL_OK, "%s", err.message);
    do {
        cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_OK, "%s", err.message);
        for (size_t i = 0; i < batch.rows; i++, row++) {
            const struct row *expected = &values[row];
            const pcol_str type = batch.columns[1].str[i], unit = batch.columns[2].str[i];
            cr_assert_eq(batch.columns[0].i64[i], expected->cell[0]);
            cr_assert(type.size == strlen(types[expected->cell[1]]) &&
                      memcmp(type.data, types[expected->cell[1]], type.size) == 0);
            cr_assert(unit.size == strlen(units[expected->cell[1]]) &&
                      memcmp(unit.data, units[expected->cell[1]], unit.size) == 0);
            cr_assert_eq(memcmp(&batch.columns[3].f64[i], &expected->cell[2], 8), 0);
        }
    } while (batch.rows);
    cr_assert_eq(row, end);
    pcol_scan_free(scan);
}

static void expect_cells(const pcol_file *file)
{
    const pcol_table *l = table_of(file, PCOL_MODEL_V2, "sample_locations");
    const pcol_table *v = table_of(file, PCOL_MODEL_V2, "sample_values");
    int64_t cell, cells[100];
    double value;
    int valid;
    for (int i = 0; i < 100; i++) {
        uint64_t row = dice((uint32_t)location_count - 100), other = dice((uint32_t)value_count);
        const pcol_column *column = pcol_table_column(l, (uint32_t)i % 3);
        cr_assert_eq(pcol_column_i64(column, row, &cell, &valid, NULL), PCOL_OK);
        cr_assert(valid && cell == locations[row].cell[i % 3]);
        cr_assert_eq(pcol_column_read_i64(column, row, 100, cells, NULL, NULL), PCOL_OK);
        for (int k = 0; k < 100; k++)
            cr_assert_eq(cells[k], locations[row + (uint64_t)k].cell[i % 3]);
        cr_assert_eq(pcol_column_f64(pcol_table_column(v, 3), other, &value, NULL, NULL), PCOL_OK);
        cr_assert_eq(memcmp(&value, &values[other].cell[2], 8), 0);
    }
}

static void expect_profile(int dense, unsigned flags)
{
    void *data;
    pcol_file *file = make_profile(dense, flags, &data);
    const pcol_table *l = table_of(file, PCOL_MODEL_V2, "sample_locations");
    cr_assert_eq(pcol_table_rows(l), location_count);
    cr_assert_eq(pcol_table_rows(table_of(file, PCOL_MODEL_V2, "sample_values")), value_count);
    expect_locations(file, 0, UINT64_MAX);
    expect_values(file, 0, UINT64_MAX);
    for (int i = 0; i < 30; i++) {
        expect_locations(file, dice((uint32_t)location_count), dice(3000));
        expect_values(file, dice((uint32_t)value_count), dice(3000));
    }
    expect_locations(file, location_count, 5);
    expect_cells(file);
    drop(file, data);
}

Test(model, views_with_gaps)
{
    expect_profile(0, 0);
}

Test(model, views_without_gaps)
{
    expect_profile(1, 0);
}

Test(model, views_of_a_plain_file)
{
    expect_profile(1, PCOL_WRITE_PLAIN);
}

Test(model, views_of_a_quick_file)
{
    expect_profile(1, PCOL_WRITE_QUICK);
}

static int print_fault(void *context, const pcol_fault *fault)
{
    (void)context;
    if (fault->note)
        return 0;
    cr_log_warn("%s.%s row %lld: %s", fault->table, fault->column, (long long)fault->row,
                fault->message);
    return 0;
}

/* The writer's derived tables are what the views show, whatever the order of types. */
Test(model, derived_tables_are_proved)
{
    for (int dense = 0; dense < 2; dense++) {
        for (unsigned flags = 0; flags <= PCOL_WRITE_QUICK; flags++) {
            void *data;
            uint64_t faults;
            pcol_file *file = make_profile(dense, flags, &data);
            cr_assert_eq(
                pcol_file_check(file, PCOL_CHECK_STRICT, print_fault, NULL, NULL, &faults, NULL),
                PCOL_OK);
            cr_expect_eq(faults, 0, "dense %d, flags %u", dense, flags);
            drop(file, data);
        }
    }
}

/* ---- the other tables */

Test(model, list_of_tables)
{
    static const char *const v2[] = {"meta",          "sources",          "samples",
                                     "sample_values", "sample_locations", "locations",
                                     "functions"};
    static const char *const v1[] = {"meta", "sample_types", "samples", "locations", "functions"};
    void *data;
    pcol_builder *b;
    pcol_file *file;
    const pcol_table *table;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    file = finish(b, 0, &data); /* nothing at all */
    cr_assert_eq(pcol_file_table_count(file, PCOL_MODEL_V2), 7);
    cr_assert_eq(pcol_file_table_count(file, PCOL_MODEL_V1), 5);
    for (uint32_t i = 0; i < 7; i++) {
        cr_assert_str_eq(pcol_file_table_name(file, PCOL_MODEL_V2, i), v2[i]);
        table = table_of(file, PCOL_MODEL_V2, v2[i]);
        cr_assert_eq(pcol_table_rows(table), i == 0 ? 2 : 0);
        cr_assert_str_eq(pcol_table_name(table), v2[i]);
    }
    for (uint32_t i = 0; i < 5; i++)
        cr_assert_eq(pcol_table_rows(table_of(file, PCOL_MODEL_V1, v1[i])), i < 2 ? 1 : 0);
    cr_assert_null(pcol_file_table_name(file, PCOL_MODEL_V2, 7));
    cr_assert_eq(pcol_file_table(file, PCOL_MODEL_V2, 7, &table, NULL), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "stacks", &table, NULL),
                 PCOL_E_NOT_FOUND);
    pcol_file_close(file);
    pcol_free(data);
}

static void expect_text(const pcol_table *table, const char *column, uint64_t row, const char *text)
{
    pcol_str value;
    int valid;
    const pcol_column *c = pcol_table_column_by_name(table, column, NULL);
    cr_assert_not_null(c, "%s", column);
    cr_assert_eq(pcol_column_str(c, row, &value, &valid, NULL), PCOL_OK);
    cr_assert_eq(valid, text != NULL, "%s %d", column, (int)row);
    cr_assert(!text || (value.size == strlen(text) && memcmp(value.data, text, value.size) == 0),
              "%s, not %s", value.data, text);
}

static void expect_int(const pcol_table *table, const char *column, uint64_t row, int64_t expected)
{
    int64_t value;
    int valid;
    const pcol_column *c = pcol_table_column_by_name(table, column, NULL);
    cr_assert_not_null(c, "%s", column);
    cr_assert_eq(pcol_column_i64(c, row, &value, &valid, NULL), PCOL_OK);
    cr_assert_eq(valid, expected != INT64_MIN, "%s %d", column, (int)row);
    cr_assert(!valid || value == expected, "%s %d: %lld", column, (int)row, (long long)value);
}

Test(model, small_tables)
{
    void *data;
    pcol_file *file = make_profile(0, 0, &data);
    const pcol_table *t = table_of(file, PCOL_MODEL_V2, "meta");
    const pcol_column *time;
    double ms;
    int valid;
    expect_text(t, "key", 1, "format");
    expect_text(t, "value", 1, "1.0");
    t = table_of(file, PCOL_MODEL_V2, "sources");
    expect_text(t, "source_type", 1, "two");
    expect_text(t, "source_timestamp", 0, NULL);
    expect_text(t, "host", 0, "g");
    expect_text(t, ".host", 1, "h");
    expect_text(t, ".meta.period", 0, "p"); /* not to be taken for a period */
    expect_text(t, ".meta.period", 1, NULL);
    cr_assert_null(pcol_table_column_by_name(t, ".period", NULL));
    expect_int(t, "source_id", 1, 2);
    t = table_of(file, PCOL_MODEL_V2, "samples");
    expect_int(t, "source_id", 0, 1);
    expect_int(t, "source_id", SAMPLES - 1, 2);
    time = pcol_table_column_by_name(t, "time", NULL);
    cr_assert_eq(pcol_column_f64(time, 0, &ms, &valid, NULL), PCOL_OK);
    cr_assert_not(valid);
    cr_assert_eq(pcol_column_f64(time, 100, &ms, &valid, NULL), PCOL_OK);
    cr_assert(valid && ms >= 1000 && ms < 1000.001);
    t = table_of(file, PCOL_MODEL_V2, "functions");
    expect_text(t, "name", 3, "f.3");
    expect_text(t, "system_name", 3, "f.3");
    expect_text(t, "filename", 3, NULL);
    drop(file, data);
}

Test(model, locations_know_their_group)
{
    void *data;
    pcol_file *file = make_profile(0, 0, &data);
    const pcol_table *t = table_of(file, PCOL_MODEL_V2, "locations");
    const pcol_table *groups = table_of(file, PCOL_MODEL_PHYSICAL, "location_groups");
    const pcol_column *first = pcol_table_column_by_name(groups, "first_location", NULL);
    uint64_t rows = pcol_table_rows(t), group = 0;
    for (uint64_t row = 0; row < rows; row++) {
        int64_t next = (int64_t)rows;
        if (group + 1 < GROUPS)
            cr_assert_eq(pcol_column_i64(first, group + 1, &next, NULL, NULL), PCOL_OK);
        expect_int(t, ".group_id", row, (int64_t)group);
        expect_int(t, ".address", row, (int64_t)(1000 + group));
        expect_int(t, ".inline", row, (int64_t)row + 1 < next);
        group += (int64_t)row + 1 == next;
    }
    cr_assert_eq(group, GROUPS);
    drop(file, data);
}

Test(model, stack_locations)
{
    void *data;
    pcol_file *file = make_profile(0, 0, &data);
    const pcol_table *t = table_of(file, PCOL_MODEL_V2, "samples");
    const pcol_column *stack = pcol_table_column_by_name(t, "stack_id", NULL);
    uint32_t rows[2000];
    size_t depth, at = 0;
    for (uint64_t sample = 0; sample < 1000; sample++) {
        int64_t id;
        int valid;
        cr_assert_eq(pcol_column_i64(stack, sample, &id, &valid, NULL), PCOL_OK);
        if (!valid)
            continue;
        cr_assert_eq(pcol_stack_locations(file, (uint64_t)id, rows, 2000, &depth, NULL), PCOL_OK);
        for (size_t i = 0; i < depth; i++, at++) {
            cr_assert_eq(locations[at].cell[0], (int64_t)sample + 1);
            cr_assert_eq(locations[at].cell[2], rows[i] + 1);
        }
    }
    cr_assert_eq(pcol_stack_locations(file, STACKS + 10, rows, 1, &depth, NULL), PCOL_E_ARGUMENT);
    drop(file, data);
}

Test(model, arguments)
{
    void *data;
    pcol_file *file = make_profile(1, PCOL_WRITE_PLAIN, &data);
    const pcol_table *t = table_of(file, PCOL_MODEL_PHYSICAL, "sample_values");
    const pcol_column *value = pcol_table_column_by_name(t, "value", NULL);
    pcol_buffer buffer;
    pcol_str text;
    int64_t integer;
    uint32_t column = 99;
    pcol_scan *scan;
    cr_assert_eq(pcol_column_i64(value, 0, &integer, NULL, NULL), PCOL_E_ARGUMENT); /* a double */
    cr_assert_eq(pcol_column_str(value, 0, &text, NULL, NULL), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_column_f64(value, value_count, &(double){0}, NULL, NULL), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_scan_new(t,
                               &(pcol_scan_options){.size = sizeof(pcol_scan_options),
                                                    .columns = &column,
                                                    .column_count = 1},
                               &scan, NULL),
                 PCOL_E_ARGUMENT);
    cr_assert_null(scan);
    cr_assert_null(pcol_table_column(t, 99));
    cr_assert_null(pcol_table_column_by_name(t, "sample_id", NULL));
    cr_assert_eq(pcol_column_data(value, &buffer, NULL), PCOL_OK);
    cr_assert(buffer.rows == value_count && buffer.width_bytes == 8 && !buffer.validity);
    for (size_t i = 0; i < value_count; i++)
        cr_assert_eq(memcmp((const char *)buffer.values + 8 * i, &values[i].cell[2], 8), 0);
    t = table_of(file, PCOL_MODEL_V2, "sample_values");
    cr_assert_eq(pcol_column_data(pcol_table_column(t, 3), &buffer, NULL), PCOL_E_UNSUPPORTED);
    drop(file, data);
}

/* ---- v1 */

/* Samples: a b (with a top-level line outside), no function at all, empty, none, b. */
static pcol_file *make_v1(int64_t value, void **data)
{
    pcol_builder *b;
    uint32_t stack[4], group, row;
    pcol_group top = PCOL_INIT(pcol_group);
    pcol_line line = {PCOL_NONE, PCOL_NONE, 3, 0, 1, 0};
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    new_source(b, "rprof");
    sample_type(b, "samples", "count", 0);
    new_function(b, "a.b");
    new_function(b, "<GC>");
    line.filename = string(b, "x.R");
    top.lines = &line;
    top.line_count = 1;
    top.mapping = PCOL_NONE;
    cr_assert_eq(pcol_builder_group(b, &top, &group, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_stack(b, 0, group, &stack[1], NULL), PCOL_OK);
    row = new_group(b, 1, 0, 1);
    cr_assert_eq(pcol_builder_stack(b, stack[1], row, &stack[0], NULL), PCOL_OK);
    row = new_group(b, 2, 0, 2);
    cr_assert_eq(pcol_builder_stack(b, 0, row, &stack[3], NULL), PCOL_OK);
    stack[2] = 0;
    for (int i = 0; i < 5; i++) {
        pcol_value cell = {0, {.i64 = i == 4 ? value : 1}};
        pcol_sample sample = PCOL_INIT(pcol_sample);
        sample.stack = i == 3 ? PCOL_NONE : stack[i == 4 ? 3 : i];
        sample.values = &cell;
        sample.value_count = 1;
        sample.thread = PCOL_NONE;
        cr_assert_eq(pcol_builder_sample(b, &sample, NULL, NULL), PCOL_OK);
    }
    return finish(b, 0, data);
}

Test(model, v1)
{
    static const uint64_t ends[] = {1, 3};
    static const int64_t lists[] = {1, 2, 3};
    void *data;
    pcol_file *file = make_v1(5, &data);
    const pcol_table *t = table_of(file, PCOL_MODEL_V1, "samples");
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    cr_assert_eq(pcol_table_rows(t), 2);
    cr_assert_eq(
        pcol_scan_new(t, &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = 10},
                      &scan, NULL),
        PCOL_OK);
    cr_assert_eq(pcol_scan_next(scan, &batch, NULL), PCOL_OK);
    cr_assert(batch.rows == 2 && batch.columns[0].i64[0] == 1 && batch.columns[0].i64[1] == 5);
    cr_assert_eq(memcmp(batch.columns[1].list + 1, ends, sizeof ends), 0);
    cr_assert_eq(memcmp(batch.columns[1].list_values, lists, sizeof lists), 0);
    pcol_scan_free(scan);
    expect_int(t, "value", 1, 5);
    t = table_of(file, PCOL_MODEL_V1, "locations");
    cr_assert_eq(pcol_table_rows(t), 3);
    expect_int(t, "function_id", 2, 2);
    expect_int(t, "line", 2, 11);
    t = table_of(file, PCOL_MODEL_V1, "functions");
    expect_text(t, "name", 0, "a_b");
    expect_text(t, "system_name", 0, "a.b");
    expect_text(t, "name", 1, "gc");
    expect_text(t, "filename", 1, "");
    expect_int(t, "start_line", 0, 10);
    expect_int(t, "start_line", 1, 11);
    pcol_file_close(file);
    pcol_free(data);
}

Test(model, v1_cannot_represent_everything)
{
    static const int64_t rejected[] = {0, -1, INT64_C(1) << 31};
    for (size_t i = 0; i < 3; i++) {
        void *data;
        pcol_file *file = make_v1(rejected[i], &data);
        const pcol_table *table;
        pcol_error err = {0};
        cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_V1, "meta", &table, &err),
                     PCOL_E_LOSS);
        cr_assert(err.row == 4 && !table);
        cr_assert_str_eq(err.table, "samples");
        pcol_file_close(file);
        pcol_free(data);
    }
}

/* ---- conditions and selections on generated rows */

/* Rows of a scan, compared with the rows of `all` whose sample is in `taken`. */
static void expect_selected(const pcol_table *table, const pcol_scan_options *options,
                            const struct row *all, size_t count, const uint8_t *taken)
{
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err = {0};
    size_t row = 0;
    cr_assert_eq(pcol_scan_new(table, options, &scan, &err), PCOL_OK, "%s", err.message);
    do {
        cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_OK, "%s", err.message);
        for (size_t i = 0; i < batch.rows; i++, row++) {
            while (row < count && !taken[all[row].cell[0] - 1])
                row++;
            cr_assert(row < count);
            cr_assert_eq(batch.row_numbers[i], row);
            cr_assert_eq(batch.columns[0].i64[i], all[row].cell[0]);
        }
    } while (batch.rows);
    while (row < count && !taken[all[row].cell[0] - 1])
        row++;
    cr_assert_eq(row, count);
    pcol_scan_free(scan);
}

static void expect_id_range(const pcol_file *file, int64_t low, int64_t high)
{
    static uint8_t taken[SAMPLES];
    pcol_condition where[2] = {{.op = PCOL_OP_GE, .type = PCOL_I64, .value.i64 = low},
                               {.op = PCOL_OP_LE, .type = PCOL_I64, .value.i64 = high}};
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    options.where = where;
    options.where_count = 2;
    options.batch_rows = dice(2) ? 0 : 5000;
    for (int64_t i = 0; i < SAMPLES; i++)
        taken[i] = i + 1 >= low && i + 1 <= high;
    expect_selected(table_of(file, PCOL_MODEL_V2, "sample_locations"), &options, locations,
                    location_count, taken);
    expect_selected(table_of(file, PCOL_MODEL_V2, "sample_values"), &options, values, value_count,
                    taken);
}

static void check_id_ranges(int dense, unsigned flags)
{
    void *data;
    pcol_file *file = make_profile(dense, flags, &data);
    expect_id_range(file, 1, 10);
    expect_id_range(file, INT64_MIN, INT64_MAX);
    expect_id_range(file, SAMPLES, SAMPLES);
    expect_id_range(file, SAMPLES + 1, INT64_MAX);
    expect_id_range(file, 8192, 8193);
    expect_id_range(file, 10, 9);
    for (int i = 0; i < 20; i++) {
        int64_t low = dice(SAMPLES);
        expect_id_range(file, low, low + dice(300));
    }
    drop(file, data);
}

Test(model, ids_narrow_generated_rows)
{
    check_id_ranges(0, 0);
    check_id_ranges(1, 0);
    check_id_ranges(0, PCOL_WRITE_PLAIN);
}

/* The same samples as pcol_query_samples(). */
Test(model, scans_of_a_selection)
{
    static uint8_t taken[SAMPLES];
    static struct row samples[SAMPLES];
    void *data;
    pcol_file *file = make_profile(0, 0, &data);
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_query *query;
    selection.has_time = 1;
    selection.time_from_ns = INT64_C(30000000);
    selection.time_to_ns = INT64_C(150000000000);
    selection.source = "2";
    selection.sample_type = "load";
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i].cell[0] = (int64_t)i + 1;
    cr_assert_eq(pcol_query_new(file,
                                &(pcol_selection){.size = sizeof selection,
                                                  .has_time = 1,
                                                  .time_from_ns = selection.time_from_ns,
                                                  .time_to_ns = selection.time_to_ns,
                                                  .source = selection.source},
                                NULL, &query, NULL),
                 PCOL_OK);
    cr_assert_eq(pcol_query_samples(query, 0, SAMPLES, taken, NULL), PCOL_OK);
    cr_assert(memchr(taken, 0, SAMPLES) && memchr(taken, 1, SAMPLES));
    options.selection = &selection;
    expect_selected(table_of(file, PCOL_MODEL_V2, "samples"), &options, samples, SAMPLES, taken);
    expect_selected(table_of(file, PCOL_MODEL_V2, "sample_locations"), &options, locations,
                    location_count, taken);
    /* Only values of the selected type, which is a level. */
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    size_t expected = 0, found = 0;
    for (size_t i = 0; i < value_count; i++)
        expected += values[i].cell[1] == 2 && taken[values[i].cell[0] - 1];
    cr_assert_eq(
        pcol_scan_new(table_of(file, PCOL_MODEL_V2, "sample_values"), &options, &scan, NULL),
        PCOL_OK);
    do {
        cr_assert_eq(pcol_scan_next(scan, &batch, NULL), PCOL_OK);
        for (size_t i = 0; i < batch.rows; i++)
            cr_assert_eq(values[batch.row_numbers[i]].cell[1], 2);
        found += batch.rows;
    } while (batch.rows);
    cr_assert_eq(found, expected);
    pcol_scan_free(scan);
    pcol_query_free(query);
    drop(file, data);
}
