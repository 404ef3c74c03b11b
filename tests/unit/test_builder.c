/*
 * test_builder.c - calls of the builder in unusual order
 */
#include <criterion/criterion.h>

#include "builder/builder.h"
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
    cr_assert_eq(pcol_builder_write_memory(b, 0, NULL, data, &size, NULL), PCOL_OK);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(*data, size, NULL, &file, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL),
                 PCOL_OK);
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

/* No source_types if all sources have all types in one order. */
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

/* A column of the file that a builder writes, row by row. */
static void expect_same_file(pcol_builder *one, pcol_builder *many)
{
    void *a, *b;
    size_t a_size, b_size;
    cr_assert_eq(pcol_builder_write_memory(one, 0, NULL, &a, &a_size, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(many, 0, NULL, &b, &b_size, NULL), PCOL_OK);
    cr_assert(a_size == b_size && !memcmp(a, b, a_size));
    pcol_free(a);
    pcol_free(b);
    pcol_builder_free(one);
    pcol_builder_free(many);
}

static pcol_builder *with_column(uint32_t *column)
{
    pcol_builder *b;
    uint32_t table;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    new_source(b);
    cr_assert_eq(pcol_builder_table(b, "t", &table, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_column(b, table, "c", PCOL_I64, 0, column, NULL), PCOL_OK);
    return b;
}

/* Many cells at once are the same as one by one: constants, narrow and wide values, gaps. */
Test(builder, many_cells)
{
    for (int kind = 0; kind < 6; kind++) {
        uint32_t column;
        pcol_builder *one = with_column(&column), *many = with_column(&column);
        uint64_t row = 0;
        for (int part = 0; part < 8; part++) {
            int64_t values[700];
            size_t n = (size_t)(part * 97 + 1);
            for (size_t i = 0; i < n; i++)
                values[i] = kind == 0   ? 5
                            : kind == 1 ? (int64_t)(row + i)
                            : kind == 2 ? (part < 3 ? 7 : (int64_t)i << 40)
                            : kind == 3 ? (part < 6 ? -1 : (int64_t)i)
                            : kind == 4 ? part
                                        : (int64_t)(i % 50 ? i : (uint64_t)i << 33);
            row += kind == 3 && part == 4 ? 10 : 0;
            for (size_t i = 0; i < n; i++)
                cr_assert_eq(pcol_builder_set_i64(one, column, row + i, values[i], NULL), PCOL_OK);
            if (kind == 4)
                cr_assert_eq(pci_column_buffer_repeat(many->columns[column], row, part, n, NULL),
                             PCOL_OK);
            else
                cr_assert_eq(
                    pci_column_buffer_set_many(many->columns[column], row, values, n, NULL),
                    PCOL_OK);
            row += n;
        }
        cr_assert_eq(pci_column_buffer_set_many(many->columns[column], 3, &(int64_t){1}, 1, NULL),
                     PCOL_E_ARGUMENT);
        cr_assert_eq(pci_column_buffer_repeat(many->columns[column], 3, 1, 1, NULL),
                     PCOL_E_ARGUMENT);
        expect_same_file(one, many);
    }
}

/* So are many samples. */
Test(builder, many_samples)
{
    pcol_builder *b[2];
    uint32_t type;
    uint64_t row;
    int64_t times[50], stacks[50], values[50];
    struct pci_sample_rows rows = {50, 0, PCOL_NONE, 0, stacks, times, times, values, 0, 0};
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(pcol_builder_new(NULL, &b[k], NULL), PCOL_OK);
        new_source(b[k]);
        type = new_type(b[k], "x");
    }
    for (int64_t i = 0; i < 50; i++) {
        pcol_value value = {.sample_type = type, .as.i64 = i % 3};
        pcol_sample sample = PCOL_INIT(pcol_sample);
        stacks[i] = 0;
        times[i] = i << 30;
        values[i] = i % 3;
        sample.thread = PCOL_NONE;
        sample.flags |= PCOL_SAMPLE_HAS_TIME | PCOL_SAMPLE_HAS_CPU_DELTA;
        sample.time_ns = sample.cpu_delta_ns = times[i];
        sample.values = &value;
        sample.value_count = 1;
        cr_assert_eq(pcol_builder_sample(b[0], &sample, NULL, NULL), PCOL_OK);
    }
    cr_assert_eq(pci_builder_samples(b[1], &rows, &row, NULL), PCOL_OK);
    cr_assert_eq(row, 0);
    stacks[49] = 1; /* there is only the root */
    cr_assert_eq(pci_builder_samples(b[1], &rows, &row, NULL), PCOL_E_ARGUMENT);
    stacks[49] = 0;
    rows.source = 1;
    cr_assert_eq(pci_builder_samples(b[1], &rows, &row, NULL), PCOL_E_ARGUMENT);
    rows.source = 0;
    rows.sample_type = 1;
    cr_assert_eq(pci_builder_samples(b[1], &rows, &row, NULL), PCOL_E_ARGUMENT);
    expect_same_file(b[0], b[1]);
}

/* A key once for each source, also after the keys of an imported file. */
Test(builder, a_source_has_a_key_once)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_builder *b;
    pcol_error err = {0};
    pcol_file *file;
    void *data;
    size_t size;
    uint64_t faults;
    uint32_t row;
    source.type = "test";
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_source(b, &source, &row, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_source(b, &source, &row, NULL), PCOL_OK);
    cr_expect_eq(pcol_builder_source_meta(b, 0, "host", "a", NULL), PCOL_OK);
    cr_expect_eq(pcol_builder_source_meta(b, 1, "host", "a", NULL), PCOL_OK);
    cr_expect_eq(pcol_builder_source_meta(b, 0, "hosts", "a", NULL), PCOL_OK);
    cr_expect_eq(pcol_builder_source_meta(b, 0, "host", "b", &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "source 0 has the key 'host' already");
    cr_expect_eq(pcol_builder_source_meta(b, 2, "host", "b", &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "source 2 does not exist");
    cr_expect_eq(pcol_builder_source_meta(b, 0, NULL, "b", &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_builder_source_meta(b, 0, "k", NULL, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_builder_write_memory(b, 0, NULL, &data, &size, NULL), PCOL_OK);
    pcol_builder_free(b);

    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(b, data, size, "again", NULL, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(b, data, size, "and again", NULL, NULL), PCOL_OK);
    pcol_free(data);
    cr_expect_eq(pcol_builder_source_meta(b, 3, "host", "b", &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "source 3 has the key 'host' already");
    cr_expect_eq(pcol_builder_source_meta(b, 3, "hosts", "b", NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(b, 0, NULL, &data, &size, NULL), PCOL_OK);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL),
                 PCOL_OK);
    cr_expect_eq(faults, 0);
    pcol_file_close(file);
    pcol_free(data);
}

/* Its own word, else the last of pprof's and the first of others, gauges only without others. */
Test(builder, default_types)
{
    static const struct {
        const char *source, *own, *types[2];
        unsigned flags[2];
        uint32_t expected; /* of all types below */
    } cases[] = {
        {"test", NULL, {"a", "b"}, {0, 0}, 0},
        {"pprof", NULL, {"a", "b"}, {0, 0}, 1},
        {"gperftools", NULL, {"a", "b"}, {0, 0}, 1},
        {"pprof", "a", {"a", "b"}, {0, 0}, 0},
        {"test", "none", {"b", "a"}, {0, 0}, 1},
        {"test", "heap", {"heap", "b"}, {PCOL_SAMPLE_TYPE_GAUGE, 0}, 1},
        {"test", NULL, {"heap", "heap"}, {PCOL_SAMPLE_TYPE_GAUGE, PCOL_SAMPLE_TYPE_GAUGE}, 2},
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    uint32_t found[COUNT + 1], row;
    pcol_builder *b;
    pcol_file *file;
    void *data;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    for (size_t i = 0; i < COUNT; i++) {
        pcol_source source = PCOL_INIT(pcol_source);
        source.type = cases[i].source;
        source.default_sample_type = cases[i].own;
        cr_assert_eq(pcol_builder_source(b, &source, &row, NULL), PCOL_OK);
        for (size_t k = 0; k < 2; k++)
            cr_assert_eq(pcol_builder_sample_type(b, cases[i].types[k], "count", cases[i].flags[k],
                                                  0, &row, NULL),
                         PCOL_OK);
    }
    file = finish(b, &data);
    cr_assert_eq(pcol_file_default_types(file, 0, COUNT, found, NULL), PCOL_OK);
    for (size_t i = 0; i < COUNT; i++)
        cr_expect_eq(found[i], cases[i].expected, "case %zu: %u", i, found[i]);
    pcol_file_close(file);
    pcol_free(data);
}

/* ---- stretches of equal values */

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

struct expected {
    int64_t values[40000];
    uint8_t valid[40000];
    uint64_t rows;
};

static void note(struct expected *e, int64_t value, uint64_t n)
{
    for (; n; n--) {
        e->values[e->rows] = value;
        e->valid[e->rows++] = 1;
    }
}

/* Rows one by one, many, repeated and left out, by turns or mostly repeated. */
static void fill_turns(struct pci_column_buffer *c, struct expected *e, int others)
{
    static const int64_t choice[] = {0, 1, 7, -3, INT64_C(1) << 40};
    int64_t many[300];
    while (e->rows < 30000) {
        int64_t value = choice[draw(5)];
        uint64_t n = 1 + draw(others == 2 ? 4 : 900);
        unsigned what = draw(40) ? 0 : (unsigned)draw(4);
        if (what == 1 && others) {
            cr_assert_eq(pci_column_buffer_set(c, e->rows, value, NULL), PCOL_OK);
            note(e, value, 1);
        } else if (what == 2 && others) {
            for (size_t i = 0; i < 300; i++)
                note(e, many[i] = choice[draw(5)], 1);
            cr_assert_eq(pci_column_buffer_set_many(c, e->rows - 300, many, 300, NULL), PCOL_OK);
        } else if (what == 3) {
            memset(e->valid + e->rows, 0, n);
            memset(e->values + e->rows, 0, n * sizeof *e->values);
            e->rows += n;
        } else {
            cr_assert_eq(pci_column_buffer_repeat(c, e->rows, value, n, NULL), PCOL_OK);
            note(e, value, n);
        }
    }
    if (!e->valid[e->rows - 1]) {
        cr_assert_eq(pci_column_buffer_set(c, e->rows, 5, NULL), PCOL_OK);
        note(e, 5, 1);
    }
}

Test(builder, repeated_rows_come_back)
{
    static struct expected e;
    struct pci_block_reader reader;
    for (int turn = 0; turn < 60; turn++) {
        pcol_builder *b;
        uint32_t number;
        struct pci_column_buffer_source source;
        memset(&e, 0, sizeof e);
        state = (uint64_t)turn;
        cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
        cr_assert_eq(pci_column_buffer_new(b, PCI_T_SAMPLES, "probe", PCF_I64, 0, PCI_DROP_NULL,
                                           &number, NULL),
                     PCOL_OK);
        struct pci_column_buffer *c = b->columns[number];
        fill_turns(c, &e, turn % 3);
        cr_assert_eq(c->rows, e.rows);
        pci_column_buffer_source_init(&source, c, NULL);
        for (int again = 0; again < 2; again++) {
            pci_block_reader_init(&reader, &source.source);
            for (;;) {
                cr_assert_eq(pci_block_reader_next(&reader, NULL), PCOL_OK);
                if (!reader.n)
                    break;
                cr_assert_eq(memcmp(reader.valid, e.valid + reader.row, reader.n), 0);
                cr_assert_eq(memcmp(reader.values, e.values + reader.row, reader.n * 8), 0,
                             "turn %d, row %llu", turn, (unsigned long long)reader.row);
            }
        }
        pcol_builder_free(b);
    }
}
