/*
 * test_gather.c - values for the frames of samples against the stacks that pcol_frames_read() gives
 */
#include "image.h"
#include "pcol.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/format/golden/1.0/valid"

static uint64_t table_rows(const pcol_file *file, const char *name)
{
    const pcol_table *table = NULL;
    (void)!pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, name, &table, NULL);
    return pcol_table_rows(table);
}

/* The value of a location: any bytes that differ from those of others. */
static uint64_t value_of(uint64_t location, size_t width)
{
    uint64_t value = (location + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return width == 8 ? value : value & ((UINT64_C(1) << 8 * width) - 1);
}

static void check_width(const pcol_frames *frames, uint64_t first, size_t count, size_t width,
                        const uint64_t *offsets, const uint32_t *locations, uint64_t location_count)
{
    size_t total = (size_t)offsets[count];
    uint8_t *values = malloc((size_t)location_count * width + 1), *out = malloc(total * width + 1);
    pcol_error err;
    for (uint64_t i = 0; i < location_count; i++) {
        uint64_t value = value_of(i, width);
        memcpy(values + i * width, &value, width);
    }
    out[total * width] = 0xab;
    MUST(pcol_frames_gather(frames, first, count, offsets, values, width, NULL, out, &err));
    cr_assert_eq(out[total * width], 0xab);
    for (size_t i = 0; i < total; i++) {
        uint64_t value = 0;
        memcpy(&value, out + i * width, width);
        cr_assert_eq(value, value_of(locations[i], width), "frame %zu", i);
    }
    free(values);
    free(out);
}

/* Compares all results for samples [first, first + count). */
static void check_range(const pcol_file *file, const pcol_frames *frames, uint64_t first,
                        size_t count)
{
    uint64_t *offsets = malloc((count + 1) * sizeof *offsets);
    uint64_t *expected = malloc((count + 1) * sizeof *expected);
    pcol_error err;
    size_t read;
    MUST(pcol_frames_offsets(frames, first, count, offsets, &err));
    size_t total = (size_t)offsets[count];
    uint32_t *locations = malloc((total + 1) * sizeof *locations);
    uint32_t *out = malloc((total + 1) * sizeof *out);
    MUST(pcol_frames_read(frames, first, count, expected, locations, total, &read, &err));
    cr_assert_eq(read, count);
    cr_assert_eq(memcmp(offsets, expected, (count + 1) * sizeof *offsets), 0);
    out[total] = 0xabcdef;
    MUST(pcol_frames_gather(frames, first, count, offsets, NULL, 4, NULL, out, &err));
    cr_assert_eq(out[total], 0xabcdef);
    cr_assert(!total || memcmp(out, locations, total * sizeof *out) == 0);
    for (size_t width = 1; width <= 8; width *= 2)
        check_width(frames, first, count, width, offsets, locations, table_rows(file, "locations"));
    free(offsets);
    free(expected);
    free(locations);
    free(out);
}

static void check_file(const pcol_file *file)
{
    pcol_frames *frames;
    pcol_error err;
    size_t samples = (size_t)table_rows(file, "samples");
    MUST(pcol_frames_open(file, NULL, &frames, &err));
    check_range(file, frames, 0, samples);
    check_range(file, frames, samples / 3, samples / 2);
    check_range(file, frames, samples, 0);
    pcol_frames_free(frames);
}

Test(gather, frames_of_every_golden_file)
{
    struct dirent *entry;
    DIR *folder = opendir(GOLDEN);
    size_t files = 0;
    cr_assert_not_null(folder);
    while ((entry = readdir(folder))) {
        char path[512];
        pcol_file *file;
        pcol_error err;
        if (!strstr(entry->d_name, ".pcol"))
            continue;
        snprintf(path, sizeof path, "%s/%s", GOLDEN, entry->d_name);
        MUST(pcol_file_open(path, NULL, &file, &err));
        if (table_rows(file, "samples") < 10000) {
            check_file(file);
            files++;
        }
        pcol_file_close(file);
    }
    closedir(folder);
    cr_assert(files > 10);
}

/* ---- many samples, and rows in any order */

enum { NODES = 400, SAMPLES = 1200000 }; /* more samples than a traversal has */

static uint32_t draw(uint32_t below)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static void add_stacks(pcol_builder *b, uint32_t *nodes)
{
    pcol_error err;
    for (uint32_t i = 0; i < NODES; i++) {
        pcol_line lines[3] = {{.function = PCOL_NONE, .filename = PCOL_NONE},
                              {.function = PCOL_NONE, .filename = PCOL_NONE},
                              {.function = PCOL_NONE, .filename = PCOL_NONE}};
        pcol_group group = PCOL_INIT(pcol_group);
        uint32_t row;
        group.mapping = PCOL_NONE;
        group.lines = lines;
        group.line_count = 1 + i % 3; /* inlined calls */
        group.address = i;
        group.flags = PCOL_GROUP_HAS_ADDRESS;
        MUST(pcol_builder_group(b, &group, &row, &err));
        MUST(pcol_builder_stack(b, i ? nodes[draw(i)] : 0, row, &nodes[i], &err));
    }
}

static void build_many(void **data, size_t *size)
{
    pcol_builder *b;
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_error err;
    uint32_t nodes[NODES], row;
    MUST(pcol_builder_new(NULL, &b, &err));
    source.type = "x";
    MUST(pcol_builder_source(b, &source, &row, &err));
    add_stacks(b, nodes);
    sample.thread = PCOL_NONE;
    for (int i = 0; i < SAMPLES; i++) {
        sample.stack = i % 1000 ? nodes[draw(NODES)] : PCOL_NONE;
        MUST(pcol_builder_sample(b, &sample, NULL, &err));
    }
    MUST(pcol_builder_write_memory(b, PCOL_WRITE_QUICK, NULL, data, size, &err));
    pcol_builder_free(b);
}

static pcol_file *open_unverified(void *data, size_t size)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *file;
    pcol_error err;
    options.flags = PCOL_OPEN_UNVERIFIED;
    MUST(pcol_file_open_memory(data, size, &options, &file, &err));
    return file;
}

/* Gives each row of `stacks` any earlier row as its parent; the first of them keep theirs. */
static void shuffle_parents(pcol_file *file)
{
    const pcol_table *stacks;
    pcol_buffer buffer;
    pcol_error err;
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "stacks", &stacks, &err));
    MUST(pcol_column_data(pcol_table_column_by_name(stacks, "parent", NULL), &buffer, &err));
    cr_assert(buffer.width_bytes == 2 || buffer.width_bytes == 4);
    for (uint32_t row = 2; row < buffer.rows; row++) {
        uint32_t parent = draw(row);
        memcpy((char *)(uintptr_t)buffer.values + row * buffer.width_bytes, &parent,
               buffer.width_bytes);
    }
}

Test(gather, many_samples_and_rows_in_any_order)
{
    void *data;
    size_t size;
    build_many(&data, &size);
    for (int turn = 0; turn < 2; turn++) {
        pcol_file *file = open_unverified(data, size);
        check_file(file);
        shuffle_parents(file);
        pcol_file_close(file);
    }
    pcol_free(data);
}

/* ---- errors */

Test(gather, bad_arguments)
{
    pcol_file *file;
    pcol_frames *frames;
    pcol_error err;
    uint64_t offsets[1000];
    static uint64_t values[10000], out[100000];
    MUST(pcol_file_open(GOLDEN "/rprof-all.pcol", NULL, &file, &err));
    MUST(pcol_frames_open(file, NULL, &frames, &err));
    uint64_t rows = table_rows(file, "samples");
    cr_assert(rows > 2 && rows < 1000);
    cr_assert_eq(pcol_frames_offsets(NULL, 0, 1, offsets, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_offsets(frames, 0, 1, NULL, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_offsets(frames, rows, 1, offsets, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_frames_offsets(frames, 1, SIZE_MAX, offsets, &err), PCOL_E_ARGUMENT);
    MUST(pcol_frames_offsets(frames, 0, (size_t)rows, offsets, &err));
    cr_assert(offsets[rows] > 0 && offsets[rows] < 100000);
#define GATHER(frames, first, offsets, values, width, out) \
    pcol_frames_gather(frames, first, (size_t)rows, offsets, values, width, NULL, out, &err)
    cr_assert_eq(GATHER(NULL, 0, offsets, values, 8, out), PCOL_E_ARGUMENT);
    cr_assert_eq(GATHER(frames, 0, NULL, values, 8, out), PCOL_E_ARGUMENT);
    cr_assert_eq(GATHER(frames, 0, offsets, values, 8, NULL), PCOL_E_ARGUMENT);
    cr_assert_eq(GATHER(frames, 1, offsets, values, 8, out), PCOL_E_ARGUMENT);
    for (size_t width = 0; width < 20; width++) {
        int known = width == 1 || width == 2 || width == 4 || width == 8;
        cr_assert_eq(GATHER(frames, 0, offsets, values, width, out),
                     known ? PCOL_OK : PCOL_E_ARGUMENT);
        cr_assert_eq(GATHER(frames, 0, offsets, NULL, width, out),
                     width == 4 ? PCOL_OK : PCOL_E_ARGUMENT);
    }
    uint64_t last = offsets[rows];
    offsets[rows]--;
    cr_assert_eq(GATHER(frames, 0, offsets, values, 8, out), PCOL_E_ARGUMENT);
    offsets[rows] = last + 1;
    cr_assert_eq(GATHER(frames, 0, offsets, values, 8, out), PCOL_E_ARGUMENT);
    pcol_frames_free(frames);
    pcol_file_close(file);
}
