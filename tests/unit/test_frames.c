/*
 * test_frames.c - bulk frames, leaf functions, weights and split points against single calls
 */
#include "image.h"
#include "pcol.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/format/golden/1.0/valid"

struct profile {
    pcol_file *file;
    const pcol_table *samples, *stacks, *locations;
    const pcol_column *stack;
    pcol_frames *frames;
};

static const pcol_table *find_table(const pcol_file *file, const char *name)
{
    const pcol_table *table = NULL;
    (void)!pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, &table, NULL);
    return table;
}

/* 0: the file has no samples with stacks. */
static int open_profile(struct profile *p, const char *name)
{
    char path[512];
    pcol_error err;
    snprintf(path, sizeof path, "%s/%s", GOLDEN, name);
    MUST(pcol_file_open(path, NULL, &p->file, &err));
    MUST(pcol_frames_open(p->file, NULL, &p->frames, &err));
    p->samples = find_table(p->file, "samples");
    p->stacks = find_table(p->file, "stacks");
    p->locations = find_table(p->file, "locations");
    p->stack = p->samples ? pcol_table_column_by_name(p->samples, "stack", NULL) : NULL;
    return p->stack && pcol_table_rows(p->samples) > 0;
}

static void close_profile(struct profile *p)
{
    pcol_frames_free(p->frames);
    pcol_file_close(p->file);
}

/* Compares the stack of a sample with pcol_stack_locations(). */
static void check_sample(const struct profile *p, uint64_t row, const uint32_t *locations,
                         uint64_t size)
{
    static uint32_t expected[1000];
    int64_t stack;
    int valid;
    size_t depth = 0;
    pcol_error err;
    MUST(pcol_column_i64(p->stack, row, &stack, &valid, &err));
    if (valid)
        MUST(pcol_stack_locations(p->file, (uint64_t)stack, expected, 1000, &depth, &err));
    cr_assert(depth <= 1000);
    cr_assert_eq(depth, size);
    cr_assert(!depth || memcmp(expected, locations, depth * sizeof *expected) == 0);
}

static void check_reads(const struct profile *p, size_t capacity)
{
    uint64_t rows = pcol_table_rows(p->samples), first = 0;
    size_t count = rows < 5000 ? (size_t)rows : 5000, read;
    uint64_t *offsets = malloc((count + 1) * sizeof *offsets);
    uint32_t *locations = malloc((capacity + 1) * sizeof *locations);
    pcol_error err;
    while (first < count) {
        locations[capacity] = 0xabcdef;
        MUST(pcol_frames_read(p->frames, first, count - (size_t)first, offsets, locations, capacity,
                              &read, &err));
        cr_assert_eq(locations[capacity], 0xabcdef);
        cr_assert_eq(offsets[0], 0);
        if (!read) { /* does not fit: skip it */
            cr_assert(offsets[1] > capacity);
            first++;
            continue;
        }
        cr_assert(offsets[read] <= capacity);
        for (size_t i = 0; i < read; i++)
            check_sample(p, first + i, locations + offsets[i], offsets[i + 1] - offsets[i]);
        first += read;
    }
    free(offsets);
    free(locations);
}

/* Self weights of functions are those of pcol_query_top(). */
static void check_weights(const struct profile *p)
{
    pcol_query *query;
    const pcol_amount *weights;
    uint64_t stacks, functions = pcol_table_rows(find_table(p->file, "functions"));
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    pcol_error err;
    if (pcol_query_new(p->file, NULL, NULL, &query, &err) != PCOL_OK)
        return;
    MUST(pcol_query_weights(query, &weights, &stacks, &err));
    cr_assert_eq(stacks, pcol_table_rows(p->stacks));
    uint32_t *leaf = malloc((stacks + 1) * sizeof *leaf);
    MUST(pcol_frames_leaf_functions(p->frames, 0, stacks, leaf, &err));
    cr_assert_eq(pcol_query_describe(query, &info, NULL), PCOL_OK);
    int64_t sum = 0;
    for (uint64_t i = 0; i < stacks; i++) {
        cr_assert(leaf[i] == PCOL_NONE || leaf[i] < functions);
        uint32_t location;
        size_t depth;
        int64_t function = 0;
        int valid = 0;
        MUST(pcol_stack_locations(p->file, i, &location, 1, &depth, &err));
        const pcol_column *column = pcol_table_column_by_name(p->locations, "function", NULL);
        if (depth && column)
            MUST(pcol_column_i64(column, location, &function, &valid, &err));
        cr_assert_eq(leaf[i], valid ? (uint32_t)function : PCOL_NONE);
        sum += (info.flags & PCOL_QUERY_IS_DOUBLE) ? 0 : weights[i].i64;
    }
    cr_assert((info.flags & PCOL_QUERY_IS_DOUBLE) || sum == info.selected.i64);
    free(leaf);
    pcol_query_free(query);
}

Test(frames, stacks_of_every_golden_file)
{
    struct dirent *entry;
    DIR *folder = opendir(GOLDEN);
    size_t files = 0;
    cr_assert_not_null(folder);
    while ((entry = readdir(folder))) {
        struct profile p;
        if (!strstr(entry->d_name, ".pcol"))
            continue;
        if (open_profile(&p, entry->d_name)) {
            check_reads(&p, 10000);
            check_reads(&p, 7);
            check_reads(&p, 0);
            check_weights(&p);
            files++;
        }
        close_profile(&p);
    }
    closedir(folder);
    cr_assert(files > 10);
}

Test(frames, bad_arguments)
{
    struct profile p;
    uint64_t offsets[2];
    uint32_t locations[4];
    size_t read;
    pcol_error err;
    pcol_frames *frames;
    cr_assert(open_profile(&p, "rprof-all.pcol"));
    uint64_t rows = pcol_table_rows(p.samples), stacks = pcol_table_rows(p.stacks);
    cr_assert_eq(pcol_frames_open(NULL, NULL, &frames, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_open(p.file, NULL, NULL, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_read(p.frames, rows, 1, offsets, locations, 4, &read, &err),
                 PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_read(p.frames, UINT64_MAX, 1, offsets, locations, 4, &read, &err),
                 PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_read(p.frames, 1, SIZE_MAX, offsets, locations, 4, &read, &err),
                 PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_read(p.frames, 0, 1, NULL, locations, 4, &read, &err),
                 PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_read(p.frames, 0, 1, offsets, NULL, 4, &read, &err), PCOL_E_ARGUMENT);
    MUST(pcol_frames_read(p.frames, rows, 0, offsets, NULL, 0, &read, &err));
    cr_assert_eq(read, 0);
    cr_assert_eq(pcol_frames_leaf_functions(p.frames, stacks, 1, locations, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_leaf_functions(p.frames, 0, 1, NULL, &err), PCOL_E_ARGUMENT);
    close_profile(&p);
}

/* ---- split points */

static void check_split(const pcol_table *table, uint32_t parts)
{
    uint64_t rows[65];
    pcol_error err;
    MUST(pcol_table_split(table, parts, rows, &err));
    cr_assert_eq(rows[0], 0);
    cr_assert_eq(rows[parts], pcol_table_rows(table));
    for (uint32_t i = 0; i < parts; i++)
        cr_assert(rows[i] <= rows[i + 1]);
}

Test(frames, split_points)
{
    pcol_builder *b;
    pcol_file *file;
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_value value = {0};
    uint64_t rows[5];
    uint32_t row;
    void *data;
    size_t size;
    pcol_error err;
    MUST(pcol_builder_new(NULL, &b, &err));
    source.type = "x";
    MUST(pcol_builder_source(b, &source, &row, &err));
    MUST(pcol_builder_sample_type(b, "t", "u", 0, 0, &row, &err));
    sample.stack = sample.thread = PCOL_NONE;
    sample.values = &value;
    for (int i = 0; i < 100000; i++) {
        sample.value_count = (size_t)(i % 3 != 0);
        value.as.i64 = i;
        MUST(pcol_builder_sample(b, &sample, NULL, &err));
    }
    MUST(pcol_builder_write_memory(b, 0, NULL, &data, &size, &err));
    pcol_builder_free(b);
    MUST(pcol_file_open_memory(data, size, NULL, &file, &err));
    static const char *const names[] = {"samples", "sample_values", "sample_locations", "sources"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const pcol_table *table;
        MUST(pcol_file_table_by_name(file, PCOL_MODEL_V2, names[i], &table, &err));
        for (uint32_t parts = 1; parts <= 64; parts += 3)
            check_split(table, parts);
        cr_assert_eq(pcol_table_split(table, 0, rows, &err), PCOL_E_ARGUMENT);
        cr_assert_eq(pcol_table_split(table, 1, NULL, &err), PCOL_E_ARGUMENT);
        MUST(pcol_table_split(table, 4, rows, &err));
        if (i < 2) /* parts of similar size */
            cr_assert(rows[1] > pcol_table_rows(table) / 8 && rows[3] < rows[4]);
    }
    cr_assert_eq(pcol_table_split(NULL, 1, rows, &err), PCOL_E_ARGUMENT);
    pcol_file_close(file);
    pcol_free(data);
}
