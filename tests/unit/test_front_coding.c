/*
 * test_front_coding.c - front coding of strings: reading, hostile bytes, threads
 */
#include <criterion/criterion.h>

#include "format/front_coding.h"
#include "pcol.h"
#include "reader/file.h"
#include "util/alloc.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRINGS = 1000 };

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* ---- over bytes made here */

/* A column of any rows: arrays of the file's numbers, plain. */
struct made {
    struct pcf_data column, offsets, shared;
    uint64_t places[STRINGS + 1];
    uint32_t shares[STRINGS];
    uint8_t *bytes;
};

static struct made *new_made(uint64_t rows, uint64_t size)
{
    struct made *m = calloc(1, sizeof *m);
    m->bytes = malloc(size ? size : 1);
    for (uint64_t i = 0; i < size; i++)
        m->bytes[i] = (uint8_t)next_random();
    m->offsets = (struct pcf_data){
        .type = PCF_U64, .rows = rows + 1, .values = (const uint8_t *)m->places, .scale = 1};
    m->shared = (struct pcf_data){
        .type = PCF_U32, .rows = rows, .values = (const uint8_t *)m->shares, .scale = 1};
    m->column = (struct pcf_data){.type = PCF_BYTES,
                                  .encoding = PCF_FRONT,
                                  .rows = rows,
                                  .bytes = m->bytes,
                                  .bytes_size = size,
                                  .child = {&m->offsets, &m->shared}};
    return m;
}

static void free_made(struct made *m)
{
    free(m->bytes);
    free(m);
}

static enum pcf_result put_together(const struct made *m, uint64_t *row)
{
    struct pcf_front front;
    uint64_t ends[PCF_FRONT_ROWS];
    enum pcf_result result = pcf_front_plan(&m->column, row, &front);
    if (result != PCF_OK)
        return result;
    cr_assert_leq(front.size, PCF_FRONT_ROWS * m->column.bytes_size);
    uint8_t *bytes = malloc(front.size ? front.size : 1);
    pcf_front_fill(&m->column, &front, bytes, ends);
    cr_assert_eq(ends[front.rows - 1], front.size);
    free(bytes);
    return result;
}

Test(front, rows_that_do_not_ascend)
{
    /* "a", "b", then what comes after row 1 or does not: shared bytes and own ones. */
    static const struct {
        const char *data;
        unsigned own, shared, sound;
    } cases[] = {{"abc", 1, 0, 3},  {"abb", 1, 0, 2}, {"aba", 1, 0, 2}, {"ab", 0, 1, 2},
                 {"ab\0", 1, 1, 3}, {"ab", 0, 0, 2},  {"abba", 2, 0, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made *m = new_made(3, strlen(cases[i].data) + 1);
        struct pcf_front front;
        uint64_t row = 0, ends[PCF_FRONT_ROWS];
        uint8_t bytes[16];
        memcpy(m->bytes, cases[i].data, strlen(cases[i].data) + 1);
        m->places[1] = 1;
        m->places[2] = 2;
        m->places[3] = 2 + cases[i].own;
        m->shares[0] = m->shares[1] = 0;
        m->shares[2] = cases[i].shared;
        cr_assert_eq(pcf_front_plan(&m->column, &row, &front), PCF_OK);
        cr_expect_eq(pcf_front_fill(&m->column, &front, bytes, ends), cases[i].sound, "case %zu",
                     i);
        free_made(m);
    }
}

Test(front, faults_and_their_rows)
{
    struct made *m = new_made(130, 300);
    uint64_t row = 100;
    for (unsigned i = 0; i <= 130; i++)
        m->places[i] = 2 * i;
    for (unsigned i = 0; i < 130; i++)
        m->shares[i] = i % 64 ? i % 64 : 0;
    cr_assert_eq(put_together(m, &row), PCF_OK);
    cr_assert_eq(row, 100);
    m->shares[64] = 1; /* it has no predecessor */
    cr_assert_eq(put_together(m, &row), PCF_BAD_SHARED);
    cr_assert_eq(row, 64);
    m->shares[64] = 0;
    m->shares[70] = 13;
    row = 127;
    cr_assert_eq(put_together(m, &row), PCF_BAD_SHARED);
    cr_assert_eq(row, 70);
    m->shares[70] = 6;
    m->places[129] = 255;
    cr_assert_eq(put_together(m, (row = 128, &row)), PCF_BAD_OFFSET);
    cr_assert_eq(row, 128);
    m->places[129] = 301;
    cr_assert_eq(put_together(m, (row = 129, &row)), PCF_BAD_OFFSET);
    cr_assert_eq(put_together(m, (row = 130, &row)), PCF_BAD_ROW);
    free_made(m);
}

/* Any content: rejected, or within 64 times the bytes. The sanitizer looks at the rest. */
Test(front, any_numbers_are_survived)
{
    for (int round = 0; round < 3000; round++) {
        uint64_t size = next_random() % 200, rows = 1 + next_random() % 150, row;
        struct made *m = new_made(rows, size);
        for (uint64_t i = 0; i <= rows; i++)
            m->places[i] = round % 3 ? i * size / rows : next_random() >> next_random() % 64;
        for (uint64_t i = 0; i < rows; i++)
            m->shares[i] = i % 64 ? (uint32_t)(next_random() >> (32 + next_random() % 32)) %
                                        (round % 2 ? 3 : UINT32_MAX)
                                  : 0;
        row = next_random() % rows;
        (void)put_together(m, &row);
        cr_assert_lt(row, rows);
        free_made(m);
    }
}

/* ---- through a file */

struct names {
    char text[STRINGS][400];
    size_t sizes[STRINGS];
};

static struct names *new_names(void)
{
    struct names *n = calloc(1, sizeof *n);
    for (size_t i = 0; i < STRINGS; i++) {
        int size = snprintf(n->text[i], sizeof n->text[i], "example.org/%.*s/part%u.(*T%u).Do%zu",
                            (int)(next_random() % 300),
                            "a-folder-of-a-long-name/and-one-below-it/and-so-on/until-it-is-long/"
                            "a-folder-of-a-long-name/and-one-below-it/and-so-on/until-it-is-long/"
                            "a-folder-of-a-long-name/and-one-below-it/and-so-on/until-it-is-long/"
                            "a-folder-of-a-long-name/and-one-below-it/and-so-on/until-it-is-long/"
                            "a-folder-of-a-long-name/and-one-below-it/and-so-on/until-it-is-long/",
                            (unsigned)(next_random() % 7), (unsigned)(next_random() % 9), i);
        n->sizes[i] = (size_t)size;
        if (i % 50 == 3)
            n->text[i][next_random() % (uint64_t)size] = '\0';
    }
    return n;
}

static void *write_names(const struct names *n, unsigned flags, size_t *size)
{
    pcol_builder *b;
    void *data;
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    for (size_t i = 0; i < STRINGS; i++) {
        pcol_function function = PCOL_INIT(pcol_function);
        uint32_t row, name;
        cr_assert_eq(pcol_builder_string(b, n->text[i], n->sizes[i], &name, NULL), PCOL_OK);
        function.name = function.system_name = function.filename = PCOL_NONE;
        function.name = name;
        cr_assert_eq(pcol_builder_function(b, &function, &row, NULL), PCOL_OK);
    }
    cr_assert_eq(pcol_builder_write_memory(b, flags, NULL, &data, size, NULL), PCOL_OK);
    pcol_builder_free(b);
    return data;
}

static pcol_file *open_names(const void *data, size_t size)
{
    pcol_file *file;
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &file, NULL), PCOL_OK);
    return file;
}

struct reading {
    const pcol_file *file;
    const struct names *names;
    uint64_t from;
    int wrong;
};

/* Every name, from one on; the pointers that were given first hold to the end. */
static void *read_names(void *context)
{
    struct reading *r = context;
    const pcol_table *table;
    const char *first[STRINGS];
    r->wrong =
        pcol_file_table_by_name(r->file, PCOL_MODEL_PHYSICAL, "functions", &table, NULL) != PCOL_OK;
    for (uint64_t k = 0; k < 2 * STRINGS && !r->wrong; k++) {
        uint64_t i = (r->from + k * 7) % STRINGS;
        pcol_str text;
        int valid;
        r->wrong |=
            pcol_column_str(pcol_table_column(table, 0), i, &text, &valid, NULL) != PCOL_OK ||
            text.size != r->names->sizes[i] || memcmp(text.data, r->names->text[i], text.size) != 0;
        if (k < STRINGS)
            first[i] = text.data;
        else
            r->wrong |= first[i] != text.data;
    }
    return NULL;
}

static uint8_t encoding_of(const pcol_file *file)
{
    return file->strings->desc->encoding;
}

Test(front, what_went_in_comes_out)
{
    struct names *n = new_names();
    static const struct {
        unsigned flags;
        uint8_t encoding;
    } ways[] = {{0, PCF_FRONT},
                {PCOL_WRITE_PLAIN, PCF_PLAIN},
                {PCOL_WRITE_QUICK, PCF_PLAIN},
                {PCOL_WRITE_ARCHIVE, PCF_FRONT}};
    size_t sizes[4];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        void *data = write_names(n, ways[i].flags, &sizes[i]);
        pcol_file *file = open_names(data, sizes[i]);
        struct reading reading = {file, n, i, 0};
        uint64_t faults;
        cr_assert_eq(encoding_of(file), ways[i].encoding);
        read_names(&reading);
        cr_assert_not(reading.wrong);
        cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL),
                     PCOL_OK);
        cr_assert_eq(faults, 0);
        pcol_file_close(file);
        pcol_free(data);
    }
    cr_assert_lt(sizes[0], sizes[1] / 4);
    free(n);
}

#ifndef PCOL_NO_THREADS

Test(front, many_threads_at_once)
{
    struct names *n = new_names();
    size_t size;
    void *data = write_names(n, 0, &size);
    for (int round = 0; round < 20; round++) {
        pcol_file *file = open_names(data, size);
        struct reading reading[4];
        pthread_t threads[4];
        for (uint64_t i = 0; i < 4; i++) {
            reading[i] = (struct reading){file, n, i * 3, 0};
            cr_assert_eq(pthread_create(&threads[i], NULL, read_names, &reading[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            cr_assert_eq(pthread_join(threads[i], NULL), 0);
            cr_assert_not(reading[i].wrong);
        }
        pcol_file_close(file);
    }
    pcol_free(data);
    free(n);
}

#endif

static int allowed;

static int fail_later(void)
{
    return allowed-- <= 0;
}

Test(front, memory_runs_out)
{
    struct names *n = new_names();
    size_t size;
    void *data = write_names(n, 0, &size);
    for (int k = 0; k < 3; k++) {
        pcol_file *file = open_names(data, size);
        pcol_str text;
        allowed = k;
        pci_alloc_hook = fail_later;
        cr_assert_eq(pci_string(file, 500, &text, NULL), k < 2 ? PCOL_E_NO_MEMORY : PCOL_OK);
        pci_alloc_hook = NULL;
        cr_assert_eq(pci_string(file, 500, &text, NULL), PCOL_OK);
        pcol_file_close(file);
    }
    pcol_free(data);
    free(n);
}

/* The two files differ in what they store: no arrays in place. */
Test(front, no_arrays_in_place)
{
    struct names *n = new_names();
    size_t size;
    void *data = write_names(n, 0, &size);
    pcol_file *file = open_names(data, size);
    const pcol_table *table;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_buffer buffer;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "strings", &table, NULL),
                 PCOL_OK);
    cr_assert_eq(pcol_column_data(pcol_table_column(table, 0), &buffer, NULL), PCOL_E_UNSUPPORTED);
    cr_assert_eq(pcol_column_describe(pcol_table_column(table, 0), &info, NULL), PCOL_OK);
    cr_assert_str_eq(info.encoding, "front");
    cr_assert_eq(info.data_offset, PCOL_POSITION_UNKNOWN);
    pcol_file_close(file);
    pcol_free(data);
    free(n);
}
