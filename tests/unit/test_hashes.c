/*
 * test_hashes.c - content hashes: arguments, cache, cancelling, and the column of logical tables
 *
 * Their values: suite hashes.
 */
#include "pcol.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define RICH "tests/format/golden/1.0/valid/rich.pcol"

static pcol_file *open_file(const char *path)
{
    pcol_file *file;
    pcol_error err;
    cr_assert_eq(pcol_file_open(path, NULL, &file, &err), PCOL_OK);
    return file;
}

Test(hashes, arguments)
{
    pcol_file *file = open_file(RICH);
    const pcol_hash *hashes = (const pcol_hash *)"";
    uint64_t count = 1;
    cr_assert_eq(pcol_file_hashes(NULL, PCOL_HASH_STACKS, NULL, &hashes, &count, NULL),
                 PCOL_E_ARGUMENT);
    cr_assert(!hashes && !count);
    cr_assert_eq(pcol_file_hashes(file, PCOL_HASH_STACKS, NULL, NULL, &count, NULL),
                 PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_file_hashes(file, PCOL_HASH_STACKS, NULL, &hashes, NULL, NULL),
                 PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_file_hashes(file, (pcol_hash_kind)3, NULL, &hashes, &count, NULL),
                 PCOL_E_ARGUMENT);
    pcol_control control = {0};
    cr_assert_eq(pcol_file_hashes(file, PCOL_HASH_STACKS, &control, &hashes, &count, NULL),
                 PCOL_E_ARGUMENT);
    pcol_file_close(file);
}

static int cancel(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase, (void)done, (void)total;
    ++*(int *)context;
    return 1;
}

Test(hashes, cancelled_calls_keep_nothing)
{
    pcol_file *file = open_file(RICH);
    int calls = 0;
    pcol_control control = PCOL_INIT(pcol_control);
    const pcol_hash *hashes;
    uint64_t count;
    control.context = &calls;
    control.progress = cancel;
    cr_assert_eq(pcol_file_hashes(file, PCOL_HASH_STACKS, &control, &hashes, &count, NULL),
                 PCOL_E_CANCELLED);
    cr_assert(calls && !hashes && !count);
    cr_assert_eq(pcol_file_hashes(file, PCOL_HASH_STACKS, NULL, &hashes, &count, NULL), PCOL_OK);
    cr_assert(hashes && count);
    pcol_file_close(file);
}

/* The digits of each row of a table are its hash, computed once. */
static void check_table(const pcol_file *file, pcol_model model, const char *name,
                        pcol_hash_kind kind)
{
    const pcol_table *table;
    const pcol_hash *hashes, *again;
    uint64_t count;
    cr_assert_eq(pcol_file_table_by_name(file, model, name, &table, NULL), PCOL_OK);
    const pcol_column *column = pcol_table_column_by_name(table, ".hash", NULL);
    cr_assert_eq(pcol_file_hashes(file, kind, NULL, &hashes, &count, NULL), PCOL_OK);
    cr_assert(column && count == pcol_table_rows(table) && count > 1);
    for (uint64_t row = 0; row < count; row++) {
        char digits[33];
        pcol_str text;
        int valid;
        for (size_t i = 0; i < 16; i++)
            snprintf(digits + 2 * i, 3, "%02x", hashes[row].bytes[i]);
        cr_assert_eq(pcol_column_str(column, row, &text, &valid, NULL), PCOL_OK);
        cr_assert(valid && text.size == 32 && memcmp(text.data, digits, 32) == 0);
    }
    cr_assert_eq(pcol_file_hashes(file, kind, NULL, &again, &count, NULL), PCOL_OK);
    cr_assert_eq(again, hashes);
}

Test(hashes, columns)
{
    static const pcol_hash empty;
    const pcol_hash *hashes;
    uint64_t count;
    pcol_file *file = open_file(RICH);
    check_table(file, PCOL_MODEL_V2, "functions", PCOL_HASH_FUNCTIONS);
    check_table(file, PCOL_MODEL_V2, "locations", PCOL_HASH_LOCATIONS);
    check_table(file, PCOL_MODEL_FURTHER, "stacks", PCOL_HASH_STACKS);
    cr_assert_eq(pcol_file_hashes(file, PCOL_HASH_STACKS, NULL, &hashes, &count, NULL), PCOL_OK);
    cr_assert_eq(memcmp(&hashes[0], &empty, sizeof empty), 0);
    pcol_file_close(file);
}

/* The empty profile has no rows and no error. */
Test(hashes, empty_file)
{
    pcol_builder *builder;
    pcol_file *file;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_file(builder, 0, NULL, &file, NULL), PCOL_OK);
    for (int kind = PCOL_HASH_FUNCTIONS; kind <= PCOL_HASH_STACKS; kind++) {
        const pcol_hash *hashes;
        uint64_t count = 1;
        cr_assert_eq(pcol_file_hashes(file, (pcol_hash_kind)kind, NULL, &hashes, &count, NULL),
                     PCOL_OK);
        cr_assert(hashes && !count);
    }
    pcol_file_close(file);
    pcol_builder_free(builder);
}
