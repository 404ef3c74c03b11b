/*
 * build.c - fuzz targets: any calls of a builder, and sinks that fail
 *
 * `build`: an input is a sequence of calls with any arguments. A call that fails with E_ARGUMENT
 * changes nothing, so what is written at the end is a valid file. `sinks`: each export of a pcol
 * file and the file itself are written to a sink that fails at one of its calls without a word;
 * the caller gets that status and a whole error.
 */
#include "targets.h"

#include "pcol.h"

#include <stdlib.h>
#include <string.h>

/* ---- a builder */

struct bytes {
    const uint8_t *data;
    size_t size, at;
};

static uint8_t take(struct bytes *b)
{
    return b->at < b->size ? b->data[b->at++] : 0;
}

/* Mostly a small number, which is a row that may exist. */
static uint32_t take_row(struct bytes *b)
{
    static const uint32_t far[] = {PCOL_NONE, PCOL_NONE - 1, INT32_MAX, 1u << 16};
    uint8_t byte = take(b);
    return byte < 248 ? byte % 8 : far[byte % 4];
}

static int64_t take_number(struct bytes *b)
{
    static const int64_t ends[] = {
        0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT32_MAX, 1u << 31, (int64_t)1 << 53};
    uint8_t byte = take(b);
    return byte < 128 ? byte : ends[byte % (sizeof ends / sizeof *ends)];
}

static double take_double(struct bytes *b)
{
    static const double ends[] = {0.5, -1, 1e300, -1e300, 9.2233720368547758e18, 5e-324, 1e19};
    uint8_t byte = take(b);
    return byte < 128 ? byte : ends[byte % (sizeof ends / sizeof *ends)];
}

static const char *take_name(struct bytes *b)
{
    static const char *const names[] = {"samples",
                                        "count",
                                        "k",
                                        "cpu",
                                        "",
                                        "bytes",
                                        "a\n\x80"
                                        "b",
                                        "value.0",
                                        NULL,
                                        "pprof",
                                        "rprof",
                                        "firefox",
                                        "nanoseconds"};
    return names[take(b) % (sizeof names / sizeof *names)];
}

struct call {
    pcol_builder *builder;
    uint32_t row; /* of the last call that gave one */
    uint64_t samples;
};

static pcol_status call_code(struct call *c, struct bytes *b, pcol_error *err)
{
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line lines[3];
    switch (take(b) % 4) {
    case 0: {
        size_t size = take(b) % 8u, left = b->size - b->at;
        size = size < left ? size : left;
        b->at += size;
        return pcol_builder_string(c->builder, (const char *)b->data + b->at - size, size, &c->row,
                                   err);
    }
    case 1:
        function.flags = take(b) % 4;
        function.name = take_row(b);
        function.system_name = take_row(b);
        function.filename = take_row(b);
        function.start_line = take_number(b);
        function.id = (uint64_t)take_number(b);
        function.variant = take(b) % 2;
        return pcol_builder_function(c->builder, &function, &c->row, err);
    case 2:
        group.flags = take(b) % 16;
        group.line_count = take(b) % 4;
        group.lines = group.line_count ? lines : NULL;
        for (size_t i = 0; i < group.line_count; i++)
            lines[i] = (pcol_line){take_row(b),    take_row(b), take_number(b),
                                   take_number(b), take(b) % 4, 0};
        group.mapping = PCOL_NONE;
        group.address = (uint64_t)take_number(b);
        group.id = (uint64_t)take_number(b);
        group.variant = take(b) % 2;
        group.file_number = take_number(b);
        return pcol_builder_group(c->builder, &group, &c->row, err);
    default:
        return pcol_builder_stack(c->builder, take_row(b), take_row(b), &c->row, err);
    }
}

static pcol_status call_source(struct call *c, struct bytes *b, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t of = take_row(b);
    const char *key;
    switch (take(b) % 3) {
    case 0:
        source.flags = take(b) % 16;
        source.type = take_name(b);
        source.uri = take_name(b);
        source.timestamp = take_name(b);
        source.period_type = take_name(b);
        source.period_unit = take_name(b);
        source.default_sample_type = take_name(b);
        source.period = take_number(b);
        source.interval_ns = take_number(b);
        source.duration_ns = take_number(b);
        return pcol_builder_source(c->builder, &source, &c->row, err);
    case 1:
        key = take_name(b);
        return pcol_builder_source_meta(c->builder, of, key, take_name(b), err);
    default:
        key = take_name(b);
        return pcol_builder_sample_type(c->builder, key, take_name(b), take(b) % 4, take(b) % 3,
                                        &c->row, err);
    }
}

static pcol_status call_sample(struct call *c, struct bytes *b, pcol_error *err)
{
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value values[3];
    uint64_t row;
    sample.flags = take(b) % 8;
    sample.source = take_row(b);
    sample.stack = take_row(b);
    sample.thread = take(b) % 8 ? PCOL_NONE : take_row(b);
    sample.value_count = take(b) % 4;
    sample.values = sample.value_count ? values : NULL;
    for (size_t i = 0; i < sample.value_count; i++) {
        values[i].sample_type = take_row(b);
        values[i].as.i64 = take_number(b);
    }
    sample.time_ns = take_number(b);
    sample.duration_ns = take_number(b);
    sample.cpu_delta_ns = take_number(b);
    pcol_status status = pcol_builder_sample(c->builder, &sample, &row, err);
    c->samples += status == PCOL_OK;
    return status;
}

#define MOST_COLUMNS 3
#define MOST_ROWS 4

static pcol_status call_samples(struct call *c, struct bytes *b, pcol_error *err)
{
    pcol_sample_columns all = PCOL_INIT(pcol_sample_columns);
    uint32_t stacks[MOST_ROWS], threads[MOST_ROWS];
    int64_t numbers[3][MOST_ROWS], values[MOST_COLUMNS][MOST_ROWS];
    uint8_t valid[MOST_ROWS], has = take(b);
    pcol_value_column columns[MOST_COLUMNS];
    uint64_t row;
    all.count = take(b) % (MOST_ROWS + 1);
    all.source = take_row(b);
    all.thread = take(b) % 8 ? PCOL_NONE : take_row(b);
    for (size_t i = 0; i < MOST_ROWS; i++) {
        stacks[i] = take_row(b);
        threads[i] = take(b) % 8 ? PCOL_NONE : take_row(b);
        valid[i] = take(b) % 2;
        for (int k = 0; k < 3; k++)
            numbers[k][i] = take_number(b);
    }
    all.stacks = has & 1 ? stacks : NULL;
    all.threads = has & 2 ? threads : NULL;
    all.times_ns = has & 4 ? numbers[0] : NULL;
    all.durations_ns = has & 8 ? numbers[1] : NULL;
    all.cpu_deltas_ns = has & 16 ? numbers[2] : NULL;
    all.value_count = take(b) % (MOST_COLUMNS + 1);
    all.values = all.value_count ? columns : NULL;
    for (size_t i = 0; i < all.value_count; i++) {
        columns[i] = (pcol_value_column){
            .sample_type = take_row(b), .as.i64 = values[i], .valid = has & 32 ? valid : NULL};
        for (size_t k = 0; k < MOST_ROWS; k++)
            values[i][k] = take_number(b);
    }
    pcol_status status = pcol_builder_samples(c->builder, &all, &row, err);
    c->samples += status == PCOL_OK ? all.count : 0;
    return status;
}

static pcol_status call_labels(struct call *c, struct bytes *b, pcol_error *err)
{
    static const uint32_t types[] = {PCOL_STRING, PCOL_I64, PCOL_F64, PCOL_BOOL, PCOL_BYTES, 99};
    pcol_label labels[4];
    size_t count = take(b) % 5;
    for (size_t i = 0; i < count; i++) {
        labels[i] = (pcol_label){take_row(b),
                                 take(b) % 2 ? PCOL_NONE : take_row(b),
                                 types[take(b) % (sizeof types / sizeof *types)],
                                 0,
                                 {0}};
        if (labels[i].type == PCOL_STRING)
            labels[i].as.string = take_row(b);
        else if (labels[i].type == PCOL_F64)
            labels[i].as.f64 = take_double(b);
        else
            labels[i].as.i64 = take_number(b);
    }
    uint64_t back = take(b) % 4;
    return pcol_builder_labels(c->builder, c->samples - back, labels, count, err);
}

/* Cells of a table of its own: the tables of the model can be filled with anything. */
static pcol_status call_cell(struct call *c, struct bytes *b, pcol_error *err)
{
    static const pcol_type types[] = {PCOL_I64,  PCOL_U64,    PCOL_U32,  PCOL_F64,
                                      PCOL_BOOL, PCOL_STRING, PCOL_BYTES};
    static const char *const names[][2] = {{"x_a", "x_b"}, {"one", "two"}};
    uint32_t table, column;
    uint8_t which = take(b);
    uint64_t row = take_row(b) % 300;
    pcol_status status = pcol_builder_table(c->builder, names[0][which & 1], &table, err);
    if (status == PCOL_OK)
        status = pcol_builder_column(c->builder, table, names[1][which >> 1 & 1],
                                     types[(which >> 2) % (sizeof types / sizeof *types)], 0,
                                     &column, err);
    if (status != PCOL_OK)
        return status;
    switch (take(b) % 3) {
    case 0:
        return pcol_builder_set_i64(c->builder, column, row, take_number(b), err);
    case 1:
        return pcol_builder_set_f64(c->builder, column, row, take_double(b), err);
    default:
        return pcol_builder_set_str(c->builder, column, row, "text", take(b) % 5, err);
    }
}

/* The whole of an error: texts that end, and a message. */
static int is_whole(const pcol_error *err, pcol_status status)
{
    return err->status == status && memchr(err->message, '\0', sizeof err->message) &&
           memchr(err->table, '\0', sizeof err->table) &&
           memchr(err->column, '\0', sizeof err->column) &&
           memchr(err->option, '\0', sizeof err->option) && *err->message;
}

static void finish(pcol_builder *builder)
{
    pcol_error err;
    pcol_file *file;
    void *bytes = NULL;
    size_t size = 0;
    uint64_t faults = 0;
    memset(&err, 0xab, sizeof err);
    pcol_status status = pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, &err);
    if (status != PCOL_OK) {
        FUZZ_ASSERT(is_whole(&err, status));
        return;
    }
    FUZZ_ASSERT(pcol_file_open_memory(bytes, size, NULL, &file, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL) ==
                PCOL_OK);
    FUZZ_ASSERT(!faults);
    pcol_file_close(file);
    pcol_free(bytes);
}

void fuzz_build(const uint8_t *data, size_t size)
{
    static pcol_status (*const calls[])(struct call *, struct bytes *, pcol_error *) = {
        call_code, call_code, call_source, call_sample, call_samples, call_labels, call_cell};
    struct bytes bytes = {data, size, 0};
    struct call call = {NULL, 0, 0};
    if (pcol_builder_new(NULL, &call.builder, NULL) != PCOL_OK)
        return;
    for (int i = 0; i < 64 && bytes.at < size; i++) {
        pcol_error err;
        memset(&err, 0xab, sizeof err);
        pcol_status status =
            calls[take(&bytes) % (sizeof calls / sizeof *calls)](&call, &bytes, &err);
        FUZZ_ASSERT(status == PCOL_OK || is_whole(&err, status));
        FUZZ_ASSERT(status == PCOL_OK || status == PCOL_E_ARGUMENT || status == PCOL_E_LIMIT ||
                    status == PCOL_E_NO_MEMORY);
        if (status == PCOL_E_LIMIT || status == PCOL_E_NO_MEMORY) {
            pcol_builder_free(call.builder);
            return;
        }
    }
    finish(call.builder);
    pcol_builder_free(call.builder);
}

/* ---- sinks */

struct failing {
    uint64_t calls, fails_at, bytes;
};

#define MOST_BYTES ((uint64_t)16 << 20)

/* Its failure is not reported. */
static pcol_status fail(void *context, const void *data, size_t size, pcol_error *err)
{
    struct failing *sink = context;
    (void)data, (void)err;
    sink->bytes += size;
    return sink->calls++ == sink->fails_at || sink->bytes > MOST_BYTES ? PCOL_E_NOT_FOUND : PCOL_OK;
}

/* Exports, or with no format writes, to a sink that fails at call `at`; the number of its calls. */
static uint64_t write_once(const pcol_file *file, const char *format, uint64_t at)
{
    struct failing failing = {0, at, 0};
    pcol_sink sink = {fail, &failing};
    pcol_builder *builder = NULL;
    pcol_error err;
    pcol_status status = PCOL_OK;
    memset(&err, 0xab, sizeof err);
    if (format) {
        status = pcol_export(file, format, NULL, sink, &err);
    } else if (pcol_builder_new(NULL, &builder, NULL) == PCOL_OK &&
               pcol_builder_add_file(builder, file, NULL, NULL) == PCOL_OK) {
        status = pcol_builder_write(builder, PCOL_WRITE_PLAIN, NULL, sink, &err);
    }
    pcol_builder_free(builder);
    FUZZ_ASSERT(status == PCOL_OK || is_whole(&err, status));
    FUZZ_ASSERT(failing.calls <= at || status == PCOL_E_NOT_FOUND);
    FUZZ_ASSERT(failing.calls <= at || failing.calls == at + 1 || failing.bytes > MOST_BYTES);
    return failing.calls;
}

static void write_all(const uint8_t *data, size_t size)
{
    pcol_file *file = fuzz_open_file(data, size);
    for (size_t i = 0; file; i++) {
        const pcol_format *format = pcol_format_at(i);
        if (format && (!format->writes || !fuzz_turn(4, i % 4)))
            continue;
        uint64_t calls = write_once(file, format ? format->name : NULL, UINT64_MAX);
        for (uint64_t at = 0; at < calls; at += at < 8 ? 1 : calls / 4 + 1)
            (void)write_once(file, format ? format->name : NULL, at);
        if (calls)
            (void)write_once(file, format ? format->name : NULL, calls - 1);
        if (!format)
            break;
    }
    pcol_file_close(file);
}

void fuzz_sinks(const uint8_t *data, size_t size)
{
    fuzz_twice(write_all, data, size);
}
