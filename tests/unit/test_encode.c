/*
 * test_encode.c - round trips of every shape of column
 *
 * Each generator is written through a builder at lengths around the block sizes, packed and plain,
 * in memory and through the temporary file, and read back by cell and by block.
 * More than 600 lines: all shapes of columns share the generators below.
 */
#include "encode/encode_leaf.h"
#include "format/layout.h"
#include "reader/file.h"
#include "util/alloc.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* splitmix64: the same values on every machine */
static uint64_t random_state;

static uint64_t next_random(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Value of a row; *valid = 0 makes it null. */
typedef int64_t (*generator)(uint64_t row, int *valid);

static int64_t constant(uint64_t row, int *valid)
{
    (void)row;
    (void)valid;
    return -7;
}

static int64_t linear(uint64_t row, int *valid)
{
    (void)valid;
    return 1000 - 3 * (int64_t)row;
}

static int64_t small(uint64_t row, int *valid)
{
    (void)row;
    (void)valid;
    return (int64_t)(next_random() % 700) + 12;
}

static int64_t wide(uint64_t row, int *valid)
{
    (void)row;
    (void)valid;
    return (int64_t)next_random();
}

static int64_t extremes(uint64_t row, int *valid)
{
    (void)valid;
    return row % 3 == 0 ? INT64_MIN : row % 3 == 1 ? INT64_MAX : -1;
}

/* Two values that are further apart than half of all numbers. */
static int64_t far_apart(uint64_t row, int *valid)
{
    (void)valid;
    return row % 5 == 4 ? INT64_C(-4660654481408) : 0; /* 2^64 less that, unsigned */
}

static int64_t far_apart_signed(uint64_t row, int *valid)
{
    (void)valid;
    return row % 5 == 4 ? INT64_C(9000000000000000000) : -INT64_C(9000000000000000000);
}

static int64_t width_57(uint64_t row, int *valid)
{
    (void)row;
    (void)valid;
    return (int64_t)(next_random() >> 7);
}

static int64_t width_58(uint64_t row, int *valid)
{
    (void)row;
    (void)valid;
    return (int64_t)(next_random() >> 6);
}

static int64_t timestamps(uint64_t row, int *valid)
{
    (void)valid;
    return INT64_C(1700000000000000000) + (int64_t)row * 1000000 + (int64_t)(next_random() % 30000);
}

static int64_t sawtooth(uint64_t row, int *valid)
{
    (void)valid;
    return 20000000 + 56 * (int64_t)((row * 37) % 9000 + next_random() % 50);
}

/* A value mostly follows the same other one, as the groups of a tree of stacks do. */
static int64_t callees(uint64_t row, int *valid)
{
    (void)valid;
    random_state = row / 9 * 31;
    return (int64_t)((next_random() + row % 9 * 3) % 50);
}

/* Rises by uneven steps and falls now and then, at the top of the unsigned range. */
static int64_t heap(uint64_t row, int *valid)
{
    (void)valid;
    return INT64_MIN + (int64_t)(row % 300 * 40000 + next_random() % 30000) * 56;
}

/* Mostly small, and large now and then; some of the large ones are far larger. */
static int64_t sizes(uint64_t row, int *valid)
{
    uint64_t size = next_random() % 10;
    (void)row;
    (void)valid;
    size = size ? size : 1000 + next_random() % 5000;
    return -40 + 24 * (int64_t)(next_random() % 100 ? size : next_random() >> 12);
}

/* The same about the ends of 64 bits, which no step leads to. */
static int64_t ends(uint64_t row, int *valid)
{
    (void)row;
    (void)valid;
    return next_random() % 12 ? INT64_MIN + (int64_t)(next_random() % 8) : INT64_MAX;
}

static int64_t mostly_zero(uint64_t row, int *valid)
{
    (void)row;
    (void)valid;
    return next_random() % 8 ? 0 : (int64_t)(next_random() % 1000);
}

static int64_t mostly_before(uint64_t row, int *valid)
{
    (void)valid;
    return next_random() % 6 ? (int64_t)row - 1 : (int64_t)(row / 2);
}

static int64_t runs(uint64_t row, int *valid)
{
    (void)valid;
    return (int64_t)(row / 900) * 5 % 11;
}

static int64_t some_null(uint64_t row, int *valid)
{
    *valid = next_random() % 9 != 0;
    return (int64_t)row * 2;
}

static int64_t mostly_null(uint64_t row, int *valid)
{
    *valid = row % 513 == 512;
    return (int64_t)(next_random() % 5);
}

static int64_t first_null(uint64_t row, int *valid)
{
    *valid = row > 0;
    return 4;
}

/* Blocks that have mostly one value between blocks of which no two rows agree. */
static int64_t patches(uint64_t row, int *valid)
{
    uint64_t random = next_random();
    (void)valid;
    return row / 1024 % 5 < 2 || random % 8 == 0 ? (int64_t)(random >> 20) : 7;
}

/* The same about the row number. */
static int64_t row_patches(uint64_t row, int *valid)
{
    uint64_t random = next_random();
    (void)valid;
    return row / 1024 % 5 < 2 || random % 8 == 0 ? (int64_t)(random >> 20) : (int64_t)row + 5;
}

/* Blocks of one value each. */
static int64_t terraces(uint64_t row, int *valid)
{
    (void)valid;
    return row / 1024 % 3 == 1 ? 900 : 5;
}

static int64_t bit(uint64_t row, int *valid)
{
    (void)valid;
    return (int64_t)((next_random() >> row % 60) & 1);
}

static int64_t doubles(uint64_t row, int *valid)
{
    static const double special[] = {0.0, -0.0, 1.5, -2.25, 1e300, 5e-324};
    double value =
        row % 7 == 6 ? (row % 2 ? (double)NAN : -(double)INFINITY) : special[next_random() % 6];
    int64_t bits;
    (void)valid;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int64_t same_doubles(uint64_t row, int *valid)
{
    double value = row % 97 == 13 ? (double)row : 0.1;
    int64_t bits;
    (void)valid;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static const struct shape {
    const char *name;
    generator make;
    pcol_type type;
} shapes[] = {
    {"constant", constant, PCOL_I64},
    {"linear", linear, PCOL_I64},
    {"small", small, PCOL_I64},
    {"small_u32", small, PCOL_U32},
    {"wide", wide, PCOL_I64},
    {"wide_u64", wide, PCOL_U64},
    {"extremes", extremes, PCOL_I64},
    {"extremes_u64", extremes, PCOL_U64},
    {"far_apart", far_apart, PCOL_U64},
    {"far_apart_signed", far_apart_signed, PCOL_I64},
    {"width_57", width_57, PCOL_I64},
    {"width_58", width_58, PCOL_U64},
    {"timestamps", timestamps, PCOL_I64},
    {"sawtooth", sawtooth, PCOL_I64},
    {"callees", callees, PCOL_U32},
    {"heap", heap, PCOL_I64},
    {"heap_u64", heap, PCOL_U64},
    {"sizes", sizes, PCOL_I64},
    {"sizes_u64", sizes, PCOL_U64},
    {"ends", ends, PCOL_I64},
    {"ends_u64", ends, PCOL_U64},
    {"mostly_zero", mostly_zero, PCOL_I64},
    {"mostly_before", mostly_before, PCOL_I64},
    {"runs", runs, PCOL_I64},
    {"some_null", some_null, PCOL_I64},
    {"mostly_null", mostly_null, PCOL_I64},
    {"first_null", first_null, PCOL_U32},
    {"patches", patches, PCOL_I64},
    {"row_patches", row_patches, PCOL_U64},
    {"terraces", terraces, PCOL_U32},
    {"bit", bit, PCOL_BOOL},
    {"doubles", doubles, PCOL_F64},
    {"same_doubles", same_doubles, PCOL_F64},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static const uint64_t lengths[] = {1, 2, 63, 64, 65, 1000, 1023, 1024, 1025, 2048, 20000};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static int64_t value_at(const struct shape *shape, uint64_t row, int *valid)
{
    *valid = 1;
    random_state = row * 977 + (uint64_t)(shape - shapes);
    return shape->make(row, valid);
}

static void fill(pcol_builder *b, const struct shape *shape, uint64_t rows)
{
    uint32_t table, column;
    cr_assert_eq(pcol_builder_table(b, "probe", &table, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_column(b, table, shape->name, shape->type, 0, &column, NULL),
                 PCOL_OK);
    for (uint64_t r = 0; r < rows; r++) {
        int valid;
        int64_t value = value_at(shape, r, &valid);
        double real;
        pcol_status status;
        memcpy(&real, &value, sizeof real);
        if (!valid)
            continue;
        status = shape->type == PCOL_F64 ? pcol_builder_set_f64(b, column, r, real, NULL)
                                         : pcol_builder_set_i64(b, column, r, value, NULL);
        cr_assert_eq(status, PCOL_OK);
    }
}

/* All shapes side by side in one table, so that rows come from the longest column. */
static void make(uint64_t rows, unsigned flags, uint64_t memory, void **data, size_t *size)
{
    pcol_builder_options options = PCOL_INIT(pcol_builder_options);
    pcol_builder *b;
    pcol_error err;
    options.memory_bytes = memory;
    cr_assert_eq(pcol_builder_new(&options, &b, NULL), PCOL_OK);
    for (size_t i = 0; i < SHAPES; i++)
        fill(b, &shapes[i], rows);
    cr_assert_eq(pcol_builder_write_memory(b, flags, NULL, data, size, &err), PCOL_OK);
    pcol_builder_free(b);
}

/* Reads that begin and end anywhere give what the read of all gave. */
static void compare_windows(const pcol_file *f, const struct pci_column *column,
                            const int64_t *values, const uint8_t *valid, uint64_t rows)
{
    int64_t some[1100];
    uint8_t some_valid[1100];
    for (uint64_t row = 0; row < rows; row += row < 130 ? 1 : 61) {
        uint64_t n = row % 3 ? 1 + row % 37 : 1100;
        n = n < rows - row ? n : rows - row;
        cr_assert_eq(pci_read(f, column, row, n, some, some_valid, NULL), PCOL_OK);
        cr_assert_eq(memcmp(some, values + row, n * sizeof *some), 0, "%s from row %llu",
                     column->name, (unsigned long long)row);
        cr_assert_eq(memcmp(some_valid, valid + row, n), 0);
    }
}

static void compare(const pcol_file *f, const struct shape *shape, uint64_t rows)
{
    const struct pci_table *table = pci_table_find(f, "probe");
    const struct pci_column *column;
    int64_t *values = pci_malloc(rows, sizeof *values);
    uint8_t *valid = pci_malloc(rows, 1);
    cr_assert_not_null(table);
    column = pci_column_find(table, shape->name);
    if (!column) { /* a column without content is left out */
        for (uint64_t r = 0; r < rows; r++) {
            int present;
            int64_t value = value_at(shape, r, &present);
            cr_assert(!present || (shape->type == PCOL_BOOL && !value), "%s row %llu is missing",
                      shape->name, (unsigned long long)r);
        }
    } else {
        cr_assert_eq(pci_verify(f, column, NULL), PCOL_OK);
        cr_assert_eq(pci_read(f, column, 0, rows, values, valid, NULL), PCOL_OK);
        int64_t *again =
            pci_malloc(rows, sizeof *again); /* a caller who knows that there are no nulls */
        cr_assert_eq(pci_read(f, column, 0, rows, again, NULL, NULL), PCOL_OK);
        cr_assert_eq(memcmp(again, values, rows * sizeof *again), 0, "%s", shape->name);
        pci_free(again);
        compare_windows(f, column, values, valid, rows);
        for (uint64_t r = 0; r < rows; r++) {
            int expected_valid, got_valid;
            int64_t expected = value_at(shape, r, &expected_valid), got;
            cr_assert_eq(pci_get(f, column, r, &got, &got_valid, NULL), PCOL_OK);
            cr_assert(got_valid == expected_valid && valid[r] == expected_valid,
                      "%s row %llu of %llu: validity", shape->name, (unsigned long long)r,
                      (unsigned long long)rows);
            cr_assert(!expected_valid || (got == expected && values[r] == expected),
                      "%s row %llu of %llu: %lld and %lld, not %lld", shape->name,
                      (unsigned long long)r, (unsigned long long)rows, (long long)got,
                      (long long)values[r], (long long)expected);
        }
    }
    pci_free(values);
    pci_free(valid);
}

static void round_trip(unsigned flags)
{
    for (size_t l = 0; l < LENGTHS; l++) {
        void *data;
        size_t size;
        pcol_file *f;
        pcol_error err = {0};
        make(lengths[l], flags, 0, &data, &size);
        cr_assert_eq(pcol_file_open_memory(data, size, NULL, &f, &err), PCOL_OK, "%s", err.message);
        for (size_t i = 0; i < SHAPES; i++)
            compare(f, &shapes[i], lengths[l]);
        pcol_file_close(f);
        pcol_free(data);
    }
}

Test(encode, every_shape_packed)
{
    round_trip(0);
}

Test(encode, every_shape_plain)
{
    round_trip(PCOL_WRITE_PLAIN);
}

Test(encode, every_shape_quick)
{
    round_trip(PCOL_WRITE_QUICK);
}

Test(encode, every_shape_archived)
{
    round_trip(PCOL_WRITE_ARCHIVE);
}

static unsigned allowed;

static int out_of_memory(void)
{
    return allowed ? (--allowed, 0) : 1;
}

/* Each allocation in turn fails while a column is written, whatever is tried for it: the bytes are
 * what they are with memory, or there are none. */
Test(encode, no_memory_for_any_shape)
{
    enum { SOME = 5000 };
    for (size_t i = 0; i < SHAPES; i++) {
        void *good = NULL;
        size_t good_size = 0;
        unsigned used = UINT_MAX;
        for (int failed = 1; failed; used++) { /* the first time with all that there is */
            pcol_builder *b;
            pcol_error err = {0};
            void *data = NULL;
            size_t size;
            cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
            fill(b, &shapes[i], SOME);
            allowed = used;
            pci_alloc_hook = used == UINT_MAX ? NULL : out_of_memory;
            pcol_status status = pcol_builder_write_memory(b, 0, NULL, &data, &size, &err);
            pci_alloc_hook = NULL;
            failed = !allowed || !good;
            if (!good) {
                cr_assert_eq(status, PCOL_OK);
                good = data;
                good_size = size;
            } else if (status == PCOL_OK) {
                cr_assert(size == good_size && !memcmp(data, good, size), "%s, %u", shapes[i].name,
                          used);
                pcol_free(data);
            } else {
                cr_assert_eq(status, PCOL_E_NO_MEMORY, "%s, %u", shapes[i].name, used);
                cr_assert_null(data);
            }
            pcol_builder_free(b);
        }
        pcol_free(good);
    }
}

Test(encode, the_temporary_file_changes_no_byte)
{
    void *in_memory, *spooled;
    size_t size, spooled_size;
    make(20000, 0, 0, &in_memory, &size);
    make(20000, 0, 1, &spooled, &spooled_size);
    cr_assert_eq(size, spooled_size);
    cr_assert_eq(memcmp(in_memory, spooled, size), 0);
    pcol_free(in_memory);
    pcol_free(spooled);
}

/* Which encoding a shape gets is what makes files small. */
Test(encode, the_choice_fits_the_shape)
{
    static const struct {
        const char *name;
        uint8_t encoding;
    } expected[] = {
        {"constant", PCF_LINEAR},
        {"linear", PCF_LINEAR},
        {"small", PCF_PACKED},
        {"timestamps", PCF_DELTAS},
        {"sawtooth", PCF_DELTAS},
        {"mostly_zero", PCF_SPARSE},
        {"mostly_before", PCF_SPARSE},
        {"runs", PCF_RUNS},
        {"mostly_null", PCF_SPARSE},
        {"bit", PCF_PACKED},
        {"same_doubles", PCF_DICTIONARY},
        {"callees", PCF_CHAIN},
        {"heap", PCF_DELTAS},
        {"heap_u64", PCF_DELTAS},
        {"patches", PCF_SPARSE},
        {"row_patches", PCF_SPARSE},
        {"terraces", PCF_RUNS},
        {"sizes", PCF_SPLIT},
        {"sizes_u64", PCF_SPLIT},
    };
    void *data;
    size_t size;
    pcol_file *f;
    make(20000, 0, 0, &data, &size);
    cr_assert_eq(pcol_file_open_memory(data, size, NULL, &f, NULL), PCOL_OK);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct pci_column *c = pci_column_find(pci_table_find(f, "probe"), expected[i].name);
        cr_expect_eq(c->desc->encoding, expected[i].encoding, "%s: %d", expected[i].name,
                     c->desc->encoding);
    }
    pcol_file_close(f);
    pcol_free(data);
}

Test(encode, bytes_and_strings)
{
    for (unsigned flags = 0; flags <= PCOL_WRITE_QUICK; flags++) {
        pcol_builder *b;
        uint32_t table, bytes, strings;
        void *data;
        size_t size;
        pcol_file *f;
        cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_table(b, "probe", &table, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_column(b, table, "bytes", PCOL_BYTES, 0, &bytes, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_column(b, table, "strings", PCOL_STRING, 0, &strings, NULL),
                     PCOL_OK);
        for (uint64_t r = 0; r < 3000; r++) {
            char text[32] = "\0\xff a\tb";
            size_t n = r % 6 ? 6 : 0;
            if (r % 5 == 4)
                continue;
            cr_assert_eq(pcol_builder_set_str(b, bytes, r, text, n + r % 20, NULL), PCOL_OK);
            text[0] = (char)(r % 251);
            cr_assert_eq(pcol_builder_set_str(b, strings, r, text, n, NULL), PCOL_OK);
        }
        cr_assert_eq(pcol_builder_write_memory(b, flags, NULL, &data, &size, NULL), PCOL_OK);
        pcol_builder_free(b);
        cr_assert_eq(pcol_file_open_memory(data, size, NULL, &f, NULL), PCOL_OK);
        for (uint64_t r = 0; r < 2999; r++) {
            char text[32] = "\0\xff a\tb";
            size_t n = r % 6 ? 6 : 0;
            pcol_str s;
            int valid;
            const struct pci_table *t = pci_table_find(f, "probe");
            cr_assert_eq(pci_get_str(f, pci_column_find(t, "bytes"), r, &s, &valid, NULL), PCOL_OK);
            cr_assert_eq(valid, r % 5 != 4);
            cr_assert(!valid || (s.size == n + r % 20 && !memcmp(s.data, text, s.size)));
            text[0] = (char)(r % 251);
            cr_assert_eq(pci_get_str(f, pci_column_find(t, "strings"), r, &s, &valid, NULL),
                         PCOL_OK);
            cr_assert(!valid || (s.size == n && !memcmp(s.data, text, s.size)));
        }
        pcol_file_close(f);
        pcol_free(data);
    }
}

/* Cells of a table whose rows repeat whole tuples: each column follows from a hidden key. */
enum { COUNT, SIZE, NAME, RATIO, FLAG, OTHER, TUPLE_COLUMNS };

static int64_t tuple_cell(int column, uint64_t row, int broken, int *valid)
{
    random_state = row * 31 + 7;
    uint64_t r = next_random(), key = (uint64_t)__builtin_ctzll(r | 1 << 9) * 7 + r % 3;
    double ratio = (double)key / 8;
    int64_t bits;
    if (broken && row > 6000)
        key = r >> 20; /* what the first rows promised holds no more */
    memcpy(&bits, &ratio, sizeof bits);
    *valid = column != NAME || key % 5;
    return column == COUNT   ? (int64_t)key - 3
           : column == SIZE  ? (int64_t)(key * key * 100003)
           : column == NAME  ? (int64_t)(key % 11)
           : column == RATIO ? bits
           : column == FLAG  ? (int64_t)(key % 2)
                             : (int64_t)(r >> 40);
}

static void make_tuples(uint64_t rows, unsigned flags, int broken, void **data, size_t *size)
{
    static const pcol_type types[] = {PCOL_I64, PCOL_U64,  PCOL_STRING,
                                      PCOL_F64, PCOL_BOOL, PCOL_I64};
    pcol_builder *b;
    uint32_t table, columns[TUPLE_COLUMNS];
    cr_assert_eq(pcol_builder_new(NULL, &b, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_table(b, "probe", &table, NULL), PCOL_OK);
    for (int k = 0; k < TUPLE_COLUMNS; k++) {
        char name[2] = {(char)('a' + k), 0};
        cr_assert_eq(pcol_builder_column(b, table, name, types[k], 0, &columns[k], NULL), PCOL_OK);
    }
    for (uint64_t row = 0; row < rows; row++)
        for (int k = 0; k < TUPLE_COLUMNS; k++) {
            int valid;
            int64_t cell = tuple_cell(k, row, broken, &valid);
            double number;
            char text[24];
            memcpy(&number, &cell, sizeof number);
            int n = snprintf(text, sizeof text, "%lld", (long long)cell);
            if (!valid)
                continue;
            if (k == NAME)
                cr_assert_eq(pcol_builder_set_str(b, columns[k], row, text, (size_t)n, NULL), 0);
            else if (k == RATIO)
                cr_assert_eq(pcol_builder_set_f64(b, columns[k], row, number, NULL), PCOL_OK);
            else
                cr_assert_eq(pcol_builder_set_i64(b, columns[k], row, cell, NULL), PCOL_OK);
        }
    cr_assert_eq(pcol_builder_write_memory(b, flags, NULL, data, size, NULL), PCOL_OK);
    pcol_builder_free(b);
}

static void check_tuples(const pcol_file *f, uint64_t rows, int broken)
{
    for (int k = 0; k < TUPLE_COLUMNS; k++) {
        char name[2] = {(char)('a' + k), 0};
        const struct pci_column *c = pci_column_find(pci_table_find(f, "probe"), name);
        int64_t *all = calloc(rows, sizeof *all);
        uint8_t *there = calloc(rows, 1);
        cr_assert_eq(pci_read(f, c, 0, rows, all, there, NULL), PCOL_OK);
        for (uint64_t row = 0; row < rows; row++) {
            int valid, is_valid;
            int64_t want = tuple_cell(k, row, broken, &valid), have;
            cr_assert_eq(pci_get(f, c, row, &have, &is_valid, NULL), PCOL_OK);
            cr_assert(have == all[row] && is_valid == valid && there[row] == valid);
            if (valid && k == NAME) {
                pcol_str s;
                char text[24] = "";
                cr_assert_eq(pci_string(f, (uint64_t)have, &s, NULL), PCOL_OK);
                memcpy(text, s.data, s.size); /* it is not terminated in the file */
                have = strtoll(text, NULL, 10);
            }
            cr_assert_eq(have, valid ? want : 0, "%s %llu", name, (unsigned long long)row);
        }
        free(all);
        free(there);
    }
}

Test(encode, rows_that_repeat_tuples_share_codes)
{
    static const unsigned flags[] = {0, PCOL_WRITE_PLAIN, PCOL_WRITE_QUICK, PCOL_WRITE_ARCHIVE};
    for (size_t i = 0; i < 4; i++) {
        void *data;
        size_t size;
        pcol_file *f;
        const struct pci_table *t;
        make_tuples(20000, flags[i], 0, &data, &size);
        cr_assert_eq(pcol_file_open_memory(data, size, NULL, &f, NULL), PCOL_OK);
        check_tuples(f, 20000, 0);
        t = pci_table_find(f, "probe");
        for (uint32_t k = 0; k < OTHER && !flags[i]; k++) {
            const struct pcf_column *c = t->columns[k].desc;
            if (k == FLAG) /* a bit a row already */
                continue;
            cr_expect(c->encoding == PCF_DICTIONARY && c->base == k &&
                          c->child_count == (k ? 1 : 2),
                      "column %u", k);
        }
        cr_expect_neq(t->columns[OTHER].desc->encoding, PCF_DICTIONARY);
        pcol_file_close(f);
        pcol_free(data);
    }
}

/* What the first rows promise does not bind the others. */
Test(encode, tuples_that_end_are_columns)
{
    static const unsigned flags[] = {0, PCOL_WRITE_ARCHIVE};
    for (size_t i = 0; i < 2; i++) {
        void *data;
        size_t size;
        pcol_file *f;
        make_tuples(20000, flags[i], 1, &data, &size);
        cr_assert_eq(pcol_file_open_memory(data, size, NULL, &f, NULL), PCOL_OK);
        check_tuples(f, 20000, 1);
        cr_expect_neq(pci_table_find(f, "probe")->columns[SIZE].desc->encoding, PCF_DICTIONARY);
        pcol_file_close(f);
        pcol_free(data);
    }
}

/* Heap cells of 56 bytes: the values that have more bits than all distances by their scale count,
 * too. */
static pcol_status read_cells(void *context, uint64_t row, size_t n, int64_t *values,
                              uint8_t *valid, pcol_error *err)
{
    (void)context;
    (void)err;
    for (size_t i = 0; i < n; i++)
        values[i] = (int64_t)((row + i) * UINT64_C(2654435761) % 2900000 * 56);
    memset(valid, 1, n);
    return PCOL_OK;
}

Test(encode, split_counts_all_values)
{
    struct pci_value_source source = {20000, PCF_I64, read_cells, NULL, NULL};
    struct pci_patch_choice choice;
    struct pci_column_stats shape;
    cr_assert_eq(pci_column_stats_compute(&source, 0, &shape, NULL), PCOL_OK);
    cr_assert_eq(shape.scale, 56);
    cr_assert_eq(pci_patch_choose(&source, &shape, 1, pci_cost_packed(&shape), &choice, NULL),
                 PCOL_OK);
    cr_expect_eq(choice.bits, UINT64_MAX);
}
