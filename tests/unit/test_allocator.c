/*
 * test_allocator.c - the allocator of a program: everything is taken from it and returned to it
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pcol.h"

static struct {
    atomic_long live, calls, fail_after; /* fail_after: 0: never */
} counts;

static int fails(void)
{
    long call = atomic_fetch_add(&counts.calls, 1) + 1, after = atomic_load(&counts.fail_after);
    return after && call > after;
}

/* Blocks are not those of malloc(): free() of one would crash. */
static void *allocate(void *context, size_t size)
{
    cr_assert_eq(context, (void *)&counts);
    char *block = fails() ? NULL : malloc(size + 64);
    if (!block)
        return NULL;
    atomic_fetch_add(&counts.live, 1);
    return memset(block, 0xa5, size + 64) ? block + 64 : NULL;
}

static void *reallocate(void *context, void *memory, size_t size)
{
    cr_assert_eq(context, (void *)&counts);
    cr_assert_not_null(memory);
    char *block = fails() ? NULL : realloc((char *)memory - 64, size + 64);
    return block ? block + 64 : NULL;
}

static void release(void *context, void *memory)
{
    cr_assert_eq(context, (void *)&counts);
    cr_assert_not_null(memory);
    atomic_fetch_sub(&counts.live, 1);
    free((char *)memory - 64);
}

static pcol_allocator counting(void)
{
    pcol_allocator a = PCOL_INIT(pcol_allocator);
    a.context = &counts;
    a.allocate = allocate;
    a.reallocate = reallocate;
    a.release = release;
    return a;
}

static pcol_status discard(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

/* A cell of each column that joined tables add. */
static pcol_status read_joined(const pcol_file *file, pcol_error *err)
{
    const pcol_table *table, *joined;
    pcol_status status =
        pcol_file_table_by_name(file, PCOL_MODEL_V2, "sample_locations", &table, err);
    if (status == PCOL_OK)
        status = pcol_table_joined(table, &joined, err);
    for (uint32_t i = 0; status == PCOL_OK && i < pcol_table_column_count(joined); i++) {
        const pcol_column *column = pcol_table_column(joined, i);
        pcol_str text;
        int64_t number;
        int valid;
        status = pcol_column_str(column, 0, &text, &valid, err);
        if (status == PCOL_E_ARGUMENT)
            status = pcol_column_i64(column, 0, &number, &valid, err);
    }
    return status;
}

/* Builder, archive (LZ4 and zlib), query, joined tables and exports; with threads. */
static pcol_status use_library(pcol_error *err)
{
    static const char folded[] = "a;b 1\na;c 2\n";
    pcol_builder_options options = PCOL_INIT(pcol_builder_options);
    pcol_builder *builder;
    pcol_file *file = NULL;
    pcol_query *query = NULL;
    options.threads = 2;
    pcol_status status = pcol_builder_new(&options, &builder, err);
    if (status == PCOL_OK)
        status = pcol_import_memory(builder, folded, sizeof folded - 1, "x", NULL, err);
    if (status == PCOL_OK)
        status = pcol_builder_file(builder, PCOL_WRITE_ARCHIVE, NULL, &file, err);
    pcol_builder_free(builder);
    if (status == PCOL_OK)
        status = pcol_query_new(file, NULL, NULL, &query, err);
    if (status == PCOL_OK)
        status = read_joined(file, err);
    if (status == PCOL_OK)
        status = pcol_export(file, "pprof", NULL, (pcol_sink){discard, NULL}, err);
    if (status == PCOL_OK)
        status = pcol_export(file, "firefox", NULL, (pcol_sink){discard, NULL}, err);
    pcol_query_free(query);
    pcol_file_close(file);
    return status;
}

Test(allocator, takes_and_returns_everything)
{
    pcol_error err = {0};
    pcol_allocator a = counting();
    cr_assert_eq(pcol_set_allocator(&a, &err), PCOL_OK);
    cr_assert_eq(use_library(&err), PCOL_OK, "%s", err.message);
    cr_expect_gt(counts.calls, 100);
    cr_expect_eq(counts.live, 0);
}

Test(allocator, failures)
{
    pcol_error err = {0};
    pcol_allocator a = counting();
    long step = 1;
    cr_assert_eq(pcol_set_allocator(&a, &err), PCOL_OK);
    cr_assert_eq(use_library(&err), PCOL_OK);
    long all = counts.calls;
    for (long after = 1; after < all; after += step, step = 1 + after / 50) {
        counts.calls = 0;
        counts.fail_after = after;
        pcol_status status = use_library(&err);
        cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY, "after %ld: %s", after,
                  err.message);
        cr_assert_eq(counts.live, 0, "after %ld", after);
    }
}

Test(allocator, rejected)
{
    pcol_error err = {0};
    pcol_allocator a = counting();
    a.release = NULL;
    cr_expect_eq(pcol_set_allocator(&a, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_set_allocator(NULL, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(use_library(&err), PCOL_OK);
    a = counting();
    cr_expect_eq(pcol_set_allocator(&a, &err), PCOL_E_STATE);
    cr_expect_eq(counts.calls, 0);
}
