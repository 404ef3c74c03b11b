/*
 * test_archive.c - archives: equal cells, detection of damage, limits of expansion, threads
 */
#include <criterion/criterion.h>

#include "encode/archive_write.h"
#include "format/transform.h"
#include "image.h"
#include "reader/archive_read.h"
#include "testing.h"
#include "util/alloc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const unsigned archives[] = {PCOL_WRITE_ARCHIVE, PCOL_WRITE_ARCHIVE_LZ4,
                                    PCOL_WRITE_ARCHIVE_ZLIB};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* ---- transforms */

Test(archive, transforms_can_be_undone)
{
    static uint8_t block[4096], stream[PCF_ARCHIVE_STREAM], back[4096];
    uint64_t state = 1;
    for (int round = 0; round < 200; round++) {
        unsigned width = round % 2 ? 8 : 4, shift = (unsigned)(next_random(&state) % 64);
        size_t bytes = (size_t)(next_random(&state) % (sizeof block / width + 1)) * width;
        for (size_t i = 0; i < bytes; i += width) {
            uint64_t value = (next_random(&state) << 40 ^ next_random(&state) << 10) >> shift;
            value = round % 3 ? value : UINT64_MAX - value;
            memcpy(block + i, &value, width);
        }
        for (unsigned t = PCF_TRANSFORM_NONE; t <= PCF_TRANSFORM_DELTA_BYTES; t++) {
            size_t size = pcf_transform_apply(t, width, block, bytes, stream);
            cr_assert_leq(size, bytes / width * (width == 8 ? 10 : 5));
            memset(back, 0xee, sizeof back);
            cr_assert_eq(pcf_transform_undo(t, width, stream, size, back, bytes), 0);
            cr_assert(bytes == 0 || memcmp(block, back, bytes) == 0, "transform %u", t);
            cr_assert_neq(pcf_transform_undo(t, width, stream, size + 1, back, bytes), 0);
            if (size)
                cr_assert_neq(pcf_transform_undo(t, width, stream, size - 1, back, bytes), 0);
        }
    }
}

Test(archive, any_stream_is_survived)
{
    uint64_t state = 2;
    for (int round = 0; round < 3000; round++) {
        size_t size = (size_t)(next_random(&state) % 200), bytes = 160;
        uint8_t *stream = malloc(size ? size : 1), *block = malloc(bytes);
        for (size_t i = 0; i < size; i++)
            stream[i] = (uint8_t)(next_random(&state) >> (round % 5));
        for (unsigned t = 0; t <= PCF_TRANSFORM_DELTA_BYTES; t++)
            (void)pcf_transform_undo(t, round % 2 ? 4 : 8, stream, size, block, bytes);
        (void)pcf_parents_undo(stream, size, block, 0, bytes / 4);
        (void)pcf_parents_undo(stream, size, block, 20, bytes / 4);
        (void)pcf_parents_undo(stream, size, block, UINT64_C(1) << 40, bytes / 4);
        free(stream);
        free(block);
    }
}

/* ---- whole files */

static void check_image(const struct image *image)
{
    pcol_file *file;
    pcol_error err;
    MUST(image_open(image, &file, &err));
    cr_assert(pcol_file_is_archive(file));
    cr_assert_gt(pcol_file_unpacked_size(file), pcol_file_size(file));
    for (int k = 0; k < COLUMNS; k++) {
        const struct pci_column *c =
            pci_column_find(pci_table_find(file, "things"), image_columns[k]);
        for (uint64_t row = 0; row < ROWS && k <= RUNS; row++) {
            int64_t value;
            int valid;
            MUST(pci_get(file, c, row, &value, &valid, &err));
            cr_assert_eq(valid, k != SPARSE_NULL || row % 40 == 1);
            cr_assert_eq(value, valid ? image_cell(k, row) : 0);
        }
    }
    pcol_str text;
    int valid;
    const struct pci_table *things = pci_table_find(file, "things");
    MUST(pci_get_str(file, pci_column_find(things, "own"), 2, &text, &valid, &err));
    cr_assert(valid && text.size == 6 && memcmp(text.data, "text 4", 6) == 0);
    MUST(pci_get_str(file, pci_column_find(things, "string"), 6, &text, &valid, &err));
    cr_assert(valid && text.size == 7 && memcmp(text.data, "text 36", 7) == 0);
    uint64_t faults;
    MUST(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err));
    cr_assert_eq(faults, 0);
    pcol_file_close(file);
}

Test(archive, cells_are_those_that_were_written)
{
    struct image plain = image_build(0);
    for (size_t i = 0; i < 3; i++) {
        struct image image = image_build(archives[i]);
        cr_assert_lt(image.size, plain.size);
        check_image(&image);
        free(image.bytes);
    }
    free(plain.bytes);
}

Test(archive, every_flipped_bit_is_noticed)
{
    struct image image = image_build(PCOL_WRITE_ARCHIVE);
    uint64_t faults;
    for (size_t bit = 0; bit < image.size * 8; bit += STEP(5) + bit % 3) {
        pcol_file *file;
        pcol_error err;
        image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (image_open(&image, &file, &err) == PCOL_OK) {
            MUST(pcol_file_check(file, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &err));
            cr_assert_gt(faults, 0, "bit %zu", bit);
            image_walk(file);
            pcol_file_close(file);
        }
        image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(image.bytes);
}

Test(archive, every_cut_is_noticed)
{
    struct image image = image_build(PCOL_WRITE_ARCHIVE);
    for (size_t size = 0; size < image.size; size += STEP(5) + size % 5) {
        struct image cut = image_copy(&image, size);
        cr_assert(image_refused(&cut));
        free(cut.bytes);
    }
    free(image.bytes);
}

Test(archive, flags_that_contradict_are_refused)
{
    static const unsigned wrong[] = {PCOL_WRITE_PLAIN | PCOL_WRITE_ARCHIVE, 8, 0x10, 0x20,
                                     PCOL_WRITE_PLAIN | PCOL_WRITE_ARCHIVE_LZ4};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pcol_builder *builder;
        pcol_error err;
        void *data;
        size_t size;
        MUST(pcol_builder_new(NULL, &builder, &err));
        cr_assert_eq(pcol_builder_write_memory(builder, wrong[i], NULL, &data, &size, &err),
                     PCOL_E_ARGUMENT);
        pcol_builder_free(builder);
    }
}

/* ---- large columns */

#define LARGE 300000u

/* No two alike. */
static double large_number(uint64_t row)
{
    return ((double)(row * row % 1000003) - 500000) / 8;
}

static int64_t large_cell(uint64_t row)
{
    double number = large_number(row);
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* A tree of LARGE stacks, and a column of two blocks and more. */
static struct image large_build(unsigned flags)
{
    struct image image;
    pcol_builder *builder;
    pcol_error err;
    uint32_t table, column, groups[50], stack = 0;
    static uint8_t called[LARGE + 1];
    uint64_t state = 3;
    void *bytes;
    MUST(pcol_builder_new(NULL, &builder, &err));
    MUST(pcol_builder_table(builder, "things", &table, &err));
    MUST(pcol_builder_column(builder, table, "large", PCOL_F64, 0, &column, &err));
    for (uint64_t row = 0; row < LARGE; row++)
        MUST(pcol_builder_set_f64(builder, column, row, large_number(row), &err));
    for (uint32_t i = 0; i < 50; i++) {
        pcol_group group = PCOL_INIT(pcol_group);
        group.mapping = PCOL_NONE;
        group.address = i * 7919;
        group.flags |= PCOL_GROUP_HAS_ADDRESS;
        MUST(pcol_builder_group(builder, &group, &groups[i], &err));
    }
    for (uint64_t row = 0; row < LARGE; row++) {
        if (next_random(&state) % 3 == 0)
            stack = stack / 2;
        uint32_t group = (called[stack] * 7 + (uint32_t)next_random(&state) % 4) % 50;
        MUST(pcol_builder_stack(builder, stack, groups[group], &stack, &err));
        called[stack] = (uint8_t)group;
    }
    MUST(pcol_builder_write_memory(builder, flags, NULL, &bytes, &image.size, &err));
    pcol_builder_free(builder);
    image.bytes = bytes;
    return image;
}

static void equal_columns(const pcol_file *a, const pcol_file *b, const char *table,
                          const char *name)
{
    const struct pci_column *x = pci_column_find(pci_table_find(a, table), name);
    const struct pci_column *y = pci_column_find(pci_table_find(b, table), name);
    pcol_error err;
    cr_assert(x && y && x->desc->rows == y->desc->rows &&
              x->desc->rows > 2 * PCF_ARCHIVE_BLOCK / 8);
    for (uint64_t row = 0; row < x->desc->rows; row += 1024) {
        uint64_t left = x->desc->rows - row, n = left < 1024 ? left : 1024;
        int64_t values[2][1024];
        MUST(pci_read(a, x, row, n, values[0], NULL, &err));
        MUST(pci_read(b, y, row, n, values[1], NULL, &err));
        cr_assert_arr_eq(values[0], values[1], n * sizeof **values, "%s.%s from row %llu", table,
                         name, (unsigned long long)row);
    }
}

Test(archive, columns_of_several_blocks)
{
    struct image plain = large_build(0);
    for (size_t i = 0; i < 3; i++) {
        struct image image = large_build(archives[i]);
        pcol_file *files[2];
        pcol_error err;
        uint64_t faults;
        MUST(image_open(&plain, &files[0], &err));
        MUST(image_open(&image, &files[1], &err));
        const struct pci_column *group =
            pci_column_find(pci_table_find(files[1], "stacks"), "group");
        cr_assert_eq(files[1]->index.sections[group->desc->first_section].codec >> 4,
                     PCF_TRANSFORM_RANK);
        equal_columns(files[0], files[1], "stacks", "group"); /* decompresses `parent` first */
        equal_columns(files[0], files[1], "stacks", "parent");
        equal_columns(files[0], files[1], "things", "large");
        cr_assert_eq(files[1]->archive->evictable_bytes, 0); /* no limit for what is so small */
        MUST(pcol_file_check(files[1], PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &err));
        cr_assert_eq(faults, 0);
        pcol_file_close(files[0]);
        pcol_file_close(files[1]);
        free(image.bytes);
    }
    free(plain.bytes);
}

/* ---- block by block */

static pcol_file *open_bounded(const struct image *image, uint64_t bytes)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *file;
    pcol_error err;
    options.archive_bytes = bytes;
    MUST(pcol_file_open_memory(image->bytes, image->size, &options, &file, &err));
    return file;
}

static const struct pcf_section *only_section(const pcol_file *file,
                                              const struct pci_column *column)
{
    cr_assert_eq(column->desc->encoding, PCF_PLAIN);
    cr_assert_eq(column->desc->section_count, 1);
    return &file->index.sections[column->desc->first_section];
}

/* However large the column is. */
Test(archive, a_cell_takes_a_block)
{
    struct image image = large_build(PCOL_WRITE_ARCHIVE);
    pcol_file *file = open_bounded(&image, 0);
    const struct pci_column *large = pci_column_find(pci_table_find(file, "things"), "large");
    const struct pci_column *group = pci_column_find(pci_table_find(file, "stacks"), "group");
    const struct pci_column *parent = pci_column_find(pci_table_find(file, "stacks"), "parent");
    pcol_error err;
    int64_t value;
    int valid;
    cr_assert_gt(pci_archive_block_count(only_section(file, large)), 10);
    cr_assert_gt(pci_archive_block_count(only_section(file, parent)), 3);
    cr_assert_eq(file->archive->count, 0);
    for (int i = 0; i < 2; i++) {
        MUST(pci_get(file, large, LARGE / 2, &value, &valid, &err));
        cr_assert_eq(value, large_cell(LARGE / 2));
        cr_assert_eq(file->archive->count, 1);
    }
    MUST(pci_get(file, parent, parent->desc->rows - 1, &value, &valid, &err));
    cr_assert_eq(file->archive->count, 2);
    /* A block of ranks and the parents of its rows: four blocks, or the rest. */
    MUST(pci_get(file, group, 0, &value, &valid, &err));
    uint64_t blocks = parent->desc->rows * 4 / PCF_ARCHIVE_BLOCK + 1;
    cr_assert_eq(file->archive->count, 3 + (blocks < 5 ? blocks - 1 : 4));
    pcol_file_close(file);
    free(image.bytes);
}

Test(archive, what_is_kept_is_bounded)
{
    struct image plain = large_build(0), image = large_build(PCOL_WRITE_ARCHIVE);
    const uint64_t limit = 2 * PCF_ARCHIVE_BLOCK;
    pcol_file *files[2] = {open_bounded(&plain, 0), open_bounded(&image, limit)};
    const struct pci_column *large = pci_column_find(pci_table_find(files[1], "things"), "large");
    const struct pci_archive_section *section =
        &files[1]->archive->sections[large->desc->first_section];
    uint64_t blocks = pci_archive_block_count(only_section(files[1], large)), state = 9;
    pcol_error err;
    for (int round = 0; round < 2; round++) {
        uint64_t before = files[1]->archive->count;
        equal_columns(files[0], files[1], "things", "large");
        cr_assert_eq(files[1]->archive->count - before, blocks);
        cr_assert_leq(files[1]->archive->evictable_bytes, limit);
        cr_assert_leq(section->ready, 2);
    }
    equal_columns(files[0], files[1], "stacks", "group");
    equal_columns(files[0], files[1], "stacks", "parent");
    cr_assert_leq(files[1]->archive->evictable_bytes, limit);
    for (int i = 0; i < 200; i++) {
        uint64_t row = next_random(&state) % LARGE;
        int64_t value;
        int valid;
        MUST(pci_get(files[1], large, row, &value, &valid, &err));
        cr_assert(valid && value == large_cell(row));
        cr_assert_leq(files[1]->archive->evictable_bytes, limit);
    }
    /* What somebody has a pointer to stays. */
    MUST(pci_decompress_column(files[1], large, &err));
    equal_columns(files[0], files[1], "stacks", "group");
    cr_assert_eq(section->ready, blocks);
    cr_assert_eq(pcf_load64(large->data->values + 8 * (LARGE - 1)),
                 (uint64_t)large_cell(LARGE - 1));
    uint64_t faults;
    MUST(pcol_file_check(files[1], PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err));
    cr_assert_eq(faults, 0);
    pcol_file_close(files[0]);
    pcol_file_close(files[1]);
    free(plain.bytes);
    free(image.bytes);
}

/* Rows of many pieces: each block is held once, and by nobody afterwards. */
Test(archive, all_that_was_held_is_released)
{
    struct image image = large_build(PCOL_WRITE_ARCHIVE);
    pcol_file *file = open_bounded(&image, 2 * PCF_ARCHIVE_BLOCK);
    const struct pci_table *things = pci_table_find(file, "things");
    const struct pci_table *stacks = pci_table_find(file, "stacks");
    const struct pci_column *columns[] = {pci_column_find(things, "large"),
                                          pci_column_find(stacks, "parent"),
                                          pci_column_find(stacks, "group")};
    pcol_error err;
    for (size_t i = 0; i < 3; i++) {
        struct pci_pin hold;
        MUST(pci_pin_rows(&hold, file, columns[i], 0, columns[i]->desc->rows, &err));
        cr_expect_eq(hold.count, 1);
        pci_unpin(&hold);
    }
    for (uint32_t s = 0; s < file->index.header.section_count; s++) {
        const struct pci_archive_section *section = &file->archive->sections[s];
        for (uint64_t block = 0; section->state && block < section->blocks; block++)
            cr_expect_eq(atomic_load(&section->state[block]) & ~PCI_BLOCK_READY, 0,
                         "section %u, block %u", s, (unsigned)block);
    }
    pcol_file_close(file);
    free(image.bytes);
}

/* A damaged block is noticed when it is touched, and the others are what they were. */
Test(archive, damage_is_of_a_block)
{
    struct image image = large_build(PCOL_WRITE_ARCHIVE);
    pcol_file *file = open_bounded(&image, 0);
    const struct pci_column *large = pci_column_find(pci_table_find(file, "things"), "large");
    const struct pcf_section *section = only_section(file, large);
    uint64_t blocks = pci_archive_block_count(section), rows = PCF_ARCHIVE_BLOCK / 8, faults;
    uint8_t *entries = image.bytes + section->offset + section->size - 16 * blocks;
    uint64_t third = section->offset + pcf_load64(entries + 16);
    pcol_file_close(file);
    image.bytes[third + 20] ^= 4;
    file = open_bounded(&image, 0);
    large = pci_column_find(pci_table_find(file, "things"), "large");
    for (uint64_t row = 0; row < LARGE; row += rows) {
        pcol_error err;
        int64_t value;
        int valid;
        pcol_status status = pci_get(file, large, row, &value, &valid, &err);
        cr_assert_eq(status, row / rows == 2 ? PCOL_E_CHECKSUM : PCOL_OK);
        cr_assert_eq(value, status == PCOL_OK ? large_cell(row) : 0);
        if (status != PCOL_OK) {
            cr_assert_eq(err.offset, third);
            cr_assert(strstr(err.message, "compressed block"));
        }
    }
    pcol_error err;
    MUST(pcol_file_check(file, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &err));
    cr_assert_gt(faults, 0);
    pcol_file_close(file);
    /* An entry whose block is elsewhere. */
    image.bytes[third + 20] ^= 4;
    for (int byte = 0; byte < 16; byte++) {
        entries[32 + byte] ^= 1;
        file = open_bounded(&image, 0);
        large = pci_column_find(pci_table_find(file, "things"), "large");
        int64_t value;
        int valid;
        MUST(pci_get(file, large, 0, &value, &valid, &err));
        cr_assert_neq(pci_get(file, large, 2 * rows, &value, &valid, &err), PCOL_OK);
        cr_assert_eq(pci_get(file, large, 3 * rows, &value, &valid, &err),
                     byte < 8 ? err.status : PCOL_OK);
        pcol_file_close(file);
        entries[32 + byte] ^= 1;
    }
    free(image.bytes);
}

/* ---- threads */

#ifndef PCOL_NO_THREADS

static void *read_all(void *file)
{
    const struct pci_column *group = pci_column_find(pci_table_find(file, "stacks"), "group");
    const struct pci_column *large = pci_column_find(pci_table_find(file, "things"), "large");
    int64_t *sum = malloc(sizeof *sum);
    *sum = 0;
    for (uint64_t row = 0; row < LARGE; row += 37) {
        int64_t value;
        int valid;
        if (pci_get(file, large, row, &value, &valid, NULL) != PCOL_OK || value != large_cell(row))
            *sum = INT64_MIN;
    }
    for (uint64_t row = 0; row < group->desc->rows; row += 1000) {
        int64_t values[1000];
        uint64_t left = group->desc->rows - row, n = left < 1000 ? left : 1000;
        if (pci_read(file, group, row, n, values, NULL, NULL) != PCOL_OK)
            *sum = INT64_MIN;
        for (uint64_t i = 0; i < n; i++)
            *sum += values[i];
    }
    return sum;
}

Test(archive, threads_meet_in_one_column)
{
    enum { THREADS = 6 };
    struct image image = large_build(PCOL_WRITE_ARCHIVE);
    for (int round = 0; round < 5; round++) {
        pthread_t threads[THREADS];
        int64_t first = 0;
        pcol_file *file = open_bounded(&image, round % 2 ? 10 * PCF_ARCHIVE_BLOCK : 0);
        for (int i = 0; i < THREADS; i++)
            cr_assert_eq(pthread_create(&threads[i], NULL, read_all, file), 0);
        for (int i = 0; i < THREADS; i++) {
            void *sum;
            cr_assert_eq(pthread_join(threads[i], &sum), 0);
            first = i ? first : *(int64_t *)sum;
            cr_assert(*(int64_t *)sum == first && first > 0);
            free(sum);
        }
        pcol_file_close(file);
    }
    free(image.bytes);
}

#endif

/* ---- what a section may grow to */

struct gathered {
    uint8_t bytes[1 << 20];
    size_t size;
};

static pcol_status gather(void *context, const void *data, size_t size, pcol_error *err)
{
    struct gathered *to = context;
    (void)err;
    cr_assert_leq(size, sizeof to->bytes - to->size);
    memcpy(to->bytes + to->size, data, size);
    to->size += size;
    return PCOL_OK;
}

/* Three blocks of values so alike that their differences would be a thousandth of a thousandth. */
Test(archive, no_block_looks_like_a_bomb)
{
    static struct gathered out;
    for (size_t i = 0; i < 3; i++) {
        struct pci_archive_writer *archive;
        pcol_error err;
        uint64_t raw, used = 0;
        uint8_t codec;
        out.size = 0;
        MUST(pci_archive_writer_new(archives[i], &archive, &err));
        pci_archive_writer_begin(archive, PCF_TRANSFORM_DELTA, 8, NULL, 0);
        for (uint64_t row = 0; row < 3 * PCF_ARCHIVE_BLOCK / 8; row++)
            MUST(pci_archive_writer_add(archive, &(uint64_t){0}, 8, gather, &out, &err));
        MUST(pci_archive_writer_end(archive, gather, &out, &codec, &raw, &err));
        pci_archive_writer_free(archive);
        cr_assert_eq(raw, 3 * PCF_ARCHIVE_BLOCK);
        cr_assert_eq(codec >> 4, PCF_TRANSFORM_DELTA);
        cr_assert_geq(out.size, raw / PCF_ARCHIVE_RATIO);
        for (int block = 0; block < 3; block++) {
            uint8_t *entry = out.bytes + out.size - (size_t)(3 - block) * 16;
            cr_assert(out.bytes[used] & PCF_ARCHIVE_UNTRANSFORMED);
            used = pcf_load64(entry);
        }
        cr_assert_eq(used, out.size - 48);
    }
}

/* ---- memory that runs out */

static int allocations_left;

static int count_down(void)
{
    return allocations_left-- <= 0;
}

Test(archive, memory_may_run_out_anywhere)
{
    struct image image = image_build(PCOL_WRITE_ARCHIVE);
    int failed = 1;
    for (int n = 0; failed; n++) {
        pcol_file *file;
        pcol_error err;
        const struct pci_column *own;
        pcol_str text;
        int valid;
        failed = 0;
        allocations_left = n;
        pci_alloc_hook = count_down;
        if (image_open(&image, &file, &err) == PCOL_OK) {
            own = pci_column_find(pci_table_find(file, "things"), "own");
            if (pci_get_str(file, own, 2, &text, &valid, &err) != PCOL_OK) {
                cr_assert_eq(err.status, PCOL_E_NO_MEMORY);
                failed = 1;
                pci_alloc_hook = NULL; /* what failed for want of memory can be had later */
                MUST(pci_get_str(file, own, 2, &text, &valid, &err));
            }
            pcol_file_close(file);
        } else {
            cr_assert_eq(err.status, PCOL_E_NO_MEMORY);
            failed = 1;
        }
        pci_alloc_hook = NULL;
    }
    free(image.bytes);
}
