/*
 * test_bulk_samples.c - samples by column and labels of samples
 *
 * Samples by column give the bytes that the same samples give one by one.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "pcol.h"

#define COUNT 5000u
#define MUST(call) cr_assert_eq((call), PCOL_OK, "%s: %s", #call, err.message)

static pcol_error err;

struct profile {
    pcol_builder *builder;
    uint32_t source, stacks[3], types[2];
};

static void begin(struct profile *p)
{
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t threads, sources, of, name, parent = 0;
    source.type = "test";
    MUST(pcol_builder_new(NULL, &p->builder, &err));
    MUST(pcol_builder_source(p->builder, &source, &p->source, &err));
    MUST(pcol_builder_sample_type(p->builder, "samples", "count", 0, 0, &p->types[0], &err));
    MUST(pcol_builder_sample_type(p->builder, "load", "percent", PCOL_SAMPLE_TYPE_DOUBLE, 0,
                                  &p->types[1], &err));
    for (size_t i = 0; i < 3; i++) {
        pcol_function function = PCOL_INIT(pcol_function);
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_line line = {.filename = PCOL_NONE};
        char text[] = {(char)('a' + i)};
        uint32_t row;
        function.system_name = function.filename = PCOL_NONE;
        MUST(pcol_builder_string(p->builder, text, 1, &function.name, &err));
        MUST(pcol_builder_function(p->builder, &function, &line.function, &err));
        group.lines = &line;
        group.line_count = 1;
        group.mapping = PCOL_NONE;
        MUST(pcol_builder_group(p->builder, &group, &row, &err));
        MUST(pcol_builder_stack(p->builder, parent, row, &p->stacks[i], &err));
        parent = p->stacks[i];
    }
    MUST(pcol_builder_table(p->builder, "threads", &threads, &err));
    MUST(pcol_builder_column(p->builder, threads, "name", PCOL_STRING, 0, &name, &err));
    MUST(pcol_builder_table(p->builder, "sources", &sources, &err));
    MUST(pcol_builder_column(p->builder, threads, "source", PCOL_U32, sources + 1, &of, &err));
    for (uint64_t row = 0; row < 2; row++) {
        MUST(pcol_builder_set_str(p->builder, name, row, row ? "t1" : "t0", 2, &err));
        MUST(pcol_builder_set_i64(p->builder, of, row, 0, &err));
    }
}

static struct {
    uint32_t stacks[COUNT], threads[COUNT];
    int64_t times[COUNT], durations[COUNT], cpu[COUNT], counts[COUNT];
    double loads[COUNT];
    uint8_t valid[COUNT];
} data;

static void make_data(const struct profile *p)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        data.stacks[i] = i % 7 == 3 ? PCOL_NONE : p->stacks[i % 3];
        data.threads[i] = i % 5 == 0 ? PCOL_NONE : i % 2;
        data.times[i] = 1000 * (int64_t)i + i % 13;
        data.durations[i] = i % 11;
        data.cpu[i] = (int64_t)i * i;
        data.counts[i] = i % 4 - 1;
        data.loads[i] = i / 3.0;
        data.valid[i] = i % 3000 < 2500 && i % 17 != 0;
    }
}

static pcol_sample_columns all_columns(const struct profile *p, pcol_value_column values[2])
{
    pcol_sample_columns c = PCOL_INIT(pcol_sample_columns);
    values[0] = (pcol_value_column){.sample_type = p->types[0], .as.i64 = data.counts};
    values[1] =
        (pcol_value_column){.sample_type = p->types[1], .as.f64 = data.loads, .valid = data.valid};
    c.count = COUNT;
    c.source = p->source;
    c.stacks = data.stacks;
    c.threads = data.threads;
    c.times_ns = data.times;
    c.durations_ns = data.durations;
    c.cpu_deltas_ns = data.cpu;
    c.values = values;
    c.value_count = 2;
    return c;
}

static void add_one(const struct profile *p, uint32_t i)
{
    pcol_sample s = PCOL_INIT(pcol_sample);
    pcol_value values[2] = {{.sample_type = p->types[0], .as.i64 = data.counts[i]},
                            {.sample_type = p->types[1], .as.f64 = data.loads[i]}};
    s.flags = PCOL_SAMPLE_HAS_TIME | PCOL_SAMPLE_HAS_DURATION | PCOL_SAMPLE_HAS_CPU_DELTA;
    s.source = p->source;
    s.stack = data.stacks[i];
    s.thread = data.threads[i];
    s.time_ns = data.times[i];
    s.duration_ns = data.durations[i];
    s.cpu_delta_ns = data.cpu[i];
    s.values = values;
    s.value_count = data.valid[i] ? 2 : 1;
    MUST(pcol_builder_sample(p->builder, &s, NULL, &err));
}

static void expect_equal_files(const struct profile *a, const struct profile *b)
{
    void *bytes[2];
    size_t sizes[2];
    MUST(pcol_builder_write_memory(a->builder, 0, NULL, &bytes[0], &sizes[0], &err));
    MUST(pcol_builder_write_memory(b->builder, 0, NULL, &bytes[1], &sizes[1], &err));
    cr_expect_eq(sizes[0], sizes[1]);
    cr_expect_arr_eq(bytes[0], bytes[1], sizes[0] < sizes[1] ? sizes[0] : sizes[1]);
    pcol_free(bytes[0]);
    pcol_free(bytes[1]);
    pcol_builder_free(a->builder);
    pcol_builder_free(b->builder);
}

Test(bulk_samples, equal_single_ones)
{
    struct profile bulk, single;
    pcol_value_column values[2];
    uint64_t row;
    begin(&bulk);
    begin(&single);
    make_data(&bulk);
    pcol_sample_columns columns = all_columns(&bulk, values);
    MUST(pcol_builder_samples(bulk.builder, &columns, &row, &err));
    cr_expect_eq(row, 0);
    MUST(pcol_builder_samples(bulk.builder, &columns, &row, &err));
    cr_expect_eq(row, COUNT);
    columns.count = 0;
    MUST(pcol_builder_samples(bulk.builder, &columns, NULL, &err));
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        add_one(&single, i % COUNT);
    expect_equal_files(&bulk, &single);
}

/* Any byte of `valid` except 0 states a value, as those of other libraries' masks. */
Test(bulk_samples, validity_bytes_above_one)
{
    struct profile bulk, single;
    pcol_value_column values[2];
    begin(&bulk);
    begin(&single);
    make_data(&bulk);
    for (uint32_t i = 0; i < COUNT; i++)
        data.valid[i] = data.valid[i] ? 0xff : 0;
    pcol_sample_columns columns = all_columns(&bulk, values);
    MUST(pcol_builder_samples(bulk.builder, &columns, NULL, &err));
    for (uint32_t i = 0; i < COUNT; i++)
        add_one(&single, i);
    expect_equal_files(&bulk, &single);
}

/* Columns that are not given are null; `thread` holds for all samples. */
Test(bulk_samples, without_columns)
{
    struct profile bulk, single;
    pcol_sample_columns columns = PCOL_INIT(pcol_sample_columns);
    begin(&bulk);
    begin(&single);
    columns.count = 3;
    columns.thread = 1;
    MUST(pcol_builder_samples(bulk.builder, &columns, NULL, &err));
    for (uint32_t i = 0; i < 3; i++) {
        pcol_sample s = PCOL_INIT(pcol_sample);
        s.stack = PCOL_NONE;
        s.thread = 1;
        MUST(pcol_builder_sample(single.builder, &s, NULL, &err));
    }
    expect_equal_files(&bulk, &single);
}

/* Each fault is in the last row, so that a call that appends before it checks would show it. */
Test(bulk_samples, rejected_as_a_whole)
{
    struct profile p, expected;
    pcol_value_column values[2];
    begin(&p);
    begin(&expected);
    make_data(&p);
    pcol_sample_columns good = all_columns(&p, values), bad;
#define REJECT(change, undo)                                                                       \
    do {                                                                                           \
        bad = good;                                                                                \
        change;                                                                                    \
        cr_expect_eq(pcol_builder_samples(p.builder, &bad, NULL, &err), PCOL_E_ARGUMENT, #change); \
        undo;                                                                                      \
    } while (0)
    REJECT(bad.source = 1, );
    REJECT(bad.flags = 1, );
    REJECT(bad.reserved = 1, );
    REJECT(data.stacks[COUNT - 1] = 4, data.stacks[COUNT - 1] = p.stacks[0]);
    REJECT(data.durations[COUNT - 1] = -1, data.durations[COUNT - 1] = 1);
    REJECT(data.durations[COUNT - 1] = INT64_MAX, data.durations[COUNT - 1] = 1);
    REJECT(values[1].sample_type = 2, values[1].sample_type = p.types[1]);
    REJECT(values[1].sample_type = p.types[0], values[1].sample_type = p.types[1]);
    REJECT(values[1].reserved = 1, values[1].reserved = 0);
    REJECT(values[1].as.f64 = NULL, values[1].as.f64 = data.loads);
    REJECT(bad.values = NULL, );
    cr_expect_eq(pcol_builder_samples(p.builder, NULL, NULL, &err), PCOL_E_ARGUMENT);
    MUST(pcol_builder_samples(p.builder, &good, NULL, &err));
    MUST(pcol_builder_samples(expected.builder, &good, NULL, &err));
    expect_equal_files(&p, &expected);
}

/* ---- labels */

static uint32_t string(const struct profile *p, const char *text)
{
    uint32_t code;
    MUST(pcol_builder_string(p->builder, text, strlen(text), &code, &err));
    return code;
}

static int print_fault(void *context, const pcol_fault *fault)
{
    (void)context;
    cr_expect(fault->note, "%s.%s: %s", fault->table, fault->column, fault->message);
    return 0;
}

static pcol_file *label(struct profile *p)
{
    static const int64_t ones[] = {1, 1, 1, 1};
    const pcol_value_column values = {.sample_type = p->types[0], .as.i64 = ones};
    pcol_sample_columns columns = PCOL_INIT(pcol_sample_columns);
    pcol_file *file;
    uint64_t faults;
    columns.count = 4;
    columns.values = &values;
    columns.value_count = 1;
    columns.thread = PCOL_NONE;
    MUST(pcol_builder_samples(p->builder, &columns, NULL, &err));
    uint32_t bytes = string(p, "bytes"), request = string(p, "request"), size = string(p, "size");
    const pcol_label labels[] = {
        {.key = request, .unit = PCOL_NONE, .type = PCOL_STRING, .as.string = string(p, "/a")},
        {.key = size, .unit = bytes, .type = PCOL_I64, .as.i64 = -8},
        {.key = string(p, "share"), .unit = PCOL_NONE, .type = PCOL_F64, .as.f64 = 0.5},
        {.key = string(p, "cached"), .unit = PCOL_NONE, .type = PCOL_BOOL, .as.i64 = 1}};
    MUST(pcol_builder_labels(p->builder, 1, labels, 4, &err));
    cr_expect_eq(pcol_builder_labels(p->builder, 1, labels, 1, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_builder_labels(p->builder, 4, labels, 1, &err), PCOL_E_ARGUMENT);
    const pcol_label wrong[] = {
        {.key = 99, .unit = PCOL_NONE, .type = PCOL_I64},
        {.key = size, .unit = 99, .type = PCOL_I64},
        {.key = size, .unit = bytes, .type = PCOL_STRING},
        {.key = size, .unit = PCOL_NONE, .type = PCOL_LIST},
        {.key = size, .unit = PCOL_NONE, .type = PCOL_I64, .reserved = 1},
        {.key = size, .unit = PCOL_NONE, .type = PCOL_STRING, .as.string = UINT64_C(1) << 32}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const pcol_label pair[] = {labels[0], wrong[i]};
        cr_expect_eq(pcol_builder_labels(p->builder, 3, pair, 2, &err), PCOL_E_ARGUMENT, "%zu", i);
    }
    const pcol_label last = {
        .key = request, .unit = PCOL_NONE, .type = PCOL_STRING, .as.string = string(p, "/b")};
    MUST(pcol_builder_labels(p->builder, 3, &last, 1, &err));
    MUST(pcol_builder_file(p->builder, 0, NULL, &file, &err));
    pcol_builder_free(p->builder);
    MUST(pcol_file_check(file, PCOL_CHECK_STRICT, print_fault, NULL, NULL, &faults, &err));
    cr_expect_eq(faults, 0);
    return file;
}

static size_t count_selected(const pcol_file *file, const char *const *labels, size_t count)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_query *query;
    uint8_t taken[4];
    selection.labels = labels;
    selection.label_count = count;
    selection.sample_type = "samples";
    MUST(pcol_query_new(file, &selection, NULL, &query, &err));
    MUST(pcol_query_samples(query, 0, 4, taken, &err));
    pcol_query_free(query);
    return (size_t)taken[0] + taken[1] + taken[2] + taken[3];
}

Test(bulk_samples, labels)
{
    struct profile p;
    begin(&p);
    pcol_file *file = label(&p);
    cr_expect_eq(count_selected(file, (const char *const[]){"request=/a"}, 1), 1);
    cr_expect_eq(count_selected(file, (const char *const[]){"request~^/"}, 1), 2);
    cr_expect_eq(count_selected(file, (const char *const[]){"size=-8"}, 1), 1);
    cr_expect_eq(count_selected(file, (const char *const[]){"request=/a", "size=-8"}, 2), 1);
    cr_expect_eq(count_selected(file, (const char *const[]){"request=/b", "size=-8"}, 2), 0);
    pcol_file_close(file);
}

/* More labels than fit without an allocation, all of one key. */
Test(bulk_samples, many_labels)
{
    struct profile p;
    pcol_sample_columns columns = PCOL_INIT(pcol_sample_columns);
    pcol_label labels[100];
    pcol_file *file;
    begin(&p);
    columns.count = 1;
    columns.thread = PCOL_NONE;
    MUST(pcol_builder_samples(p.builder, &columns, NULL, &err));
    for (size_t i = 0; i < 100; i++)
        labels[i] = (pcol_label){
            .key = string(&p, "k"), .unit = PCOL_NONE, .type = PCOL_I64, .as.i64 = (int64_t)i};
    MUST(pcol_builder_labels(p.builder, 0, labels, 100, &err));
    MUST(pcol_builder_file(p.builder, 0, NULL, &file, &err));
    pcol_builder_free(p.builder);
    pcol_file_close(file);
}
