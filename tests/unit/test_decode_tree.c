/*
 * test_decode_tree.c - parents encoded as steps up the tree: all ways of reading, hostile bytes
 */
#include <criterion/criterion.h>

#include "builder/call_tree.h"
#include "encode/encode.h"
#include "pcol.h"
#include "reader/file.h"
#include "util/alloc.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A builder's stacks: as many as `rows`, and the root. */
static pcol_file *file_of(size_t rows, unsigned up, unsigned flags, void **data)
{
    pcol_builder *b;
    pcol_file *file;
    size_t size;
    uint32_t *made = malloc((rows + 1) * sizeof *made), at = 0;
    uint32_t *parent = malloc((rows + 1) * sizeof *parent);
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    made[0] = parent[0] = 0;
    for (size_t i = 1; i <= rows; i++) {
        pcol_function function = PCOL_INIT(pcol_function);
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_line line = {.filename = PCOL_NONE};
        uint32_t row;
        char name[8];
        snprintf(name, sizeof name, "%u", (unsigned)(i % 97));
        cr_assert_eq(pcol_builder_string(b, name, strlen(name), &function.name, NULL), PCOL_OK);
        function.system_name = function.filename = PCOL_NONE;
        cr_assert_eq(pcol_builder_function(b, &function, &line.function, NULL), PCOL_OK);
        group.mapping = PCOL_NONE;
        group.lines = &line;
        group.line_count = 1;
        group.id = i;
        group.flags |= PCOL_GROUP_HAS_ID;
        cr_assert_eq(pcol_builder_group(b, &group, &row, NULL), PCOL_OK);
        for (uint64_t k = next_random() % 3 ? 0 : next_random() % up; k && at; k--)
            at = parent[at];
        cr_assert_eq(pcol_builder_stack(b, made[at], row, &made[i], NULL), PCOL_OK);
        parent[i] = at;
        at = (uint32_t)i;
    }
    cr_assert_eq(pcol_builder_write_memory(b, flags, NULL, data, &size, NULL), PCOL_OK);
    pcol_builder_free(b);
    cr_assert_eq(pcol_file_open_memory(*data, size, NULL, &file, NULL), PCOL_OK);
    free(made);
    free(parent);
    return file;
}

static const struct pci_column *parents_of(const pcol_file *file)
{
    return pci_column_find(pci_table_find(file, "stacks"), "parent");
}

/* Whatever way, the parents of the plain file. */
static void read_ways(const pcol_file *file, const pcol_file *plain)
{
    const struct pci_column *column = parents_of(file);
    uint64_t rows = column->desc->rows;
    int64_t *all = malloc(rows * sizeof *all), *some = malloc(rows * sizeof *some), value;
    uint8_t *valid = malloc(rows);
    cr_assert(column->desc->encoding == PCF_TREE || rows < 1000);
    cr_assert_eq(parents_of(plain)->desc->encoding, PCF_PLAIN);
    cr_assert_eq(parents_of(plain)->desc->rows, rows);
    cr_assert_eq(pci_read(plain, parents_of(plain), 0, rows, all, NULL, NULL), PCOL_OK);
    cr_assert_eq(pci_read(file, column, 0, rows, some, NULL, NULL), PCOL_OK);
    cr_assert_eq(memcmp(some, all, rows * sizeof *all), 0);
    for (uint64_t i = 0; i < rows; i += 17) {
        int is_valid;
        cr_assert_eq(pcf_get(column->data, i, &value, &is_valid), PCF_OK);
        cr_assert(is_valid && value == all[i]);
    }
    for (int round = 0; round < 300; round++) {
        uint64_t row = next_random() % rows, n = next_random() % (rows - row + 1);
        n = round % 2 ? n : n % 7;
        memset(valid, 7, rows);
        cr_assert_eq(pci_read(file, column, row, n, some, valid, NULL), PCOL_OK);
        cr_assert_eq(memcmp(some, all + row, n * sizeof *all), 0);
        for (uint64_t i = 0; i < n; i++)
            cr_assert_eq(valid[i], 1);
        cr_assert_eq(pci_get(file, column, row, &value, &(int){0}, NULL), PCOL_OK);
        cr_assert_eq(value, all[row]);
    }
    cr_assert_eq(pci_get(file, column, rows, &value, &(int){0}, NULL), PCOL_E_CORRUPT);
    cr_assert_eq(pci_read(file, column, 5, rows, some, NULL, NULL), PCOL_E_CORRUPT);
    free(all);
    free(some);
    free(valid);
}

Test(tree, read_in_every_way)
{
    static const size_t sizes[] = {64, 1023, 1024, 1025, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (unsigned up = 2; up < 2000; up *= 8) {
            void *data, *plain_data;
            uint64_t faults, seed = state;
            pcol_file *file = file_of(sizes[i], up, 0, &data);
            state = seed;
            pcol_file *plain = file_of(sizes[i], up, PCOL_WRITE_PLAIN, &plain_data);
            read_ways(file, plain);
            cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL),
                         PCOL_OK);
            cr_assert_eq(faults, 0);
            pcol_file_close(file);
            pcol_file_close(plain);
            pcol_free(data);
            pcol_free(plain_data);
        }
    }
}

#ifndef PCOL_NO_THREADS

static void *read_in_thread(void *file)
{
    const struct pci_column *column = parents_of(file);
    int64_t value, sum = 0;
    for (uint64_t i = 0; i < column->desc->rows; i++) {
        cr_assert_eq(pci_get(file, column, i * 7 % column->desc->rows, &value, &(int){0}, NULL),
                     PCOL_OK);
        sum += value;
    }
    return (void *)(intptr_t)sum;
}

Test(tree, many_threads_at_once)
{
    void *data, *sums[4];
    pthread_t threads[4];
    pcol_file *file = file_of(5000, 9, 0, &data);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, read_in_thread, file), 0);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_join(threads[i], &sums[i]), 0);
    for (int i = 1; i < 4; i++)
        cr_assert_eq(sums[i], sums[0]);
    pcol_file_close(file);
    pcol_free(data);
}

#endif

static int allowed;

static int fail_later(void)
{
    return allowed-- <= 0;
}

Test(tree, memory_runs_out)
{
    void *data;
    pcol_file *file = file_of(3000, 9, 0, &data);
    const struct pci_column *column = parents_of(file);
    int64_t value;
    for (int k = 0; k < 3; k++) { /* the list of blocks; the first one; another one */
        allowed = 0;
        pci_alloc_hook = fail_later;
        cr_assert_eq(pci_get(file, column, 1024u * (unsigned)k, &value, &(int){0}, NULL),
                     PCOL_E_NO_MEMORY);
        pci_alloc_hook = NULL;
        cr_assert_eq(pci_get(file, column, 1024u * (unsigned)k, &value, &(int){0}, NULL), PCOL_OK);
    }
    pcol_file_close(file);
    pcol_free(data);
}

/* Any marks and steps: an error or parents that stand before their rows. */
Test(tree, any_bytes_are_survived)
{
    for (int round = 0; round < 2000; round++) {
        uint64_t rows = 1 + next_random() % 3000, blocks = (rows + 1023) / 1024;
        uint64_t size = (rows + 7) / 8 + 8 * (blocks - 1), marked = next_random() % rows;
        uint8_t *marks = calloc(size, 1);
        uint64_t *steps = malloc(8 * marked + 8);
        for (uint64_t i = 0; i < size; i++)
            marks[i] = (uint8_t)(next_random() & next_random() & (round % 3 ? next_random() : 255));
        for (uint64_t i = 0, before = 0; i + 1 < blocks; i++) { /* mostly right counts */
            for (uint64_t k = 0; k < 128; k++)
                before += (uint64_t)__builtin_popcount(marks[i * 136 + k]);
            before += next_random() % 16 == 0;
            memcpy(marks + i * 136 + 128, &before, 8);
        }
        if (round % 4)
            marks[0] &= 0xfe;
        for (uint64_t i = 0; i < marked; i++)
            steps[i] = next_random() % 3 ? next_random() % 3 : next_random() >> next_random() % 64;
        struct pcf_data child = {
            .type = PCF_U64, .rows = marked, .values = (const uint8_t *)steps, .scale = 1};
        struct pcf_data tree = {.type = PCF_U32,
                                .encoding = PCF_TREE,
                                .rows = rows,
                                .marks = marks,
                                .child = {&child, NULL}};
        int64_t *values = malloc(8 * rows), value;
        int valid;
        if (pcf_read(&tree, 0, rows, values, NULL) == PCF_OK)
            for (uint64_t i = 1; i < rows; i++)
                cr_assert_lt((uint64_t)values[i], i);
        for (int k = 0; k < 20; k++)
            (void)pcf_get(&tree, next_random() % rows, &value, &valid);
        free(values);
        free(steps);
        free(marks);
    }
}

/* Stacks that share their outer ends, entered one call after the other and with all new calls at
 * once. */
Test(tree, new_calls_at_once_are_the_same_as_one_by_one)
{
    struct pci_call_tree one, all;
    uint32_t groups[40]; /* innermost first */
    cr_assert_eq(pci_call_tree_init(&one, NULL), PCOL_OK);
    cr_assert_eq(pci_call_tree_init(&all, NULL), PCOL_OK);
    for (int stack = 0; stack < 2000; stack++) {
        size_t depth = next_random() % 40;
        uint32_t a = 0, b = 0;
        for (size_t i = 0; i < depth; i++)
            groups[i] = (uint32_t)(next_random() % (i < depth / 2 ? 50 : 2));
        for (size_t i = depth; i-- > 0;)
            cr_assert_eq(pci_call_tree_child(&one, a, groups[i], &a, NULL), PCOL_OK);
        size_t left = depth;
        for (; left && b + 1 < all.count; left--)
            cr_assert_eq(pci_call_tree_child(&all, b, groups[left - 1], &b, NULL), PCOL_OK);
        if (left) {
            cr_assert_eq(pci_call_tree_append(&all, groups, left, NULL), PCOL_OK);
            b = (uint32_t)all.count - 1;
        }
        cr_assert_eq(a, b);
    }
    cr_assert_gt(one.count, 1000);
    cr_assert_eq(one.count, all.count);
    cr_assert_arr_eq(one.nodes, all.nodes, one.count * sizeof *one.nodes);
    pci_call_tree_clear(&one);
    pci_call_tree_clear(&all);
}
