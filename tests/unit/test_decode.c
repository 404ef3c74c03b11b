/*
 * test_decode.c - decoding of hand-made bytes in each encoding, valid and hostile
 *
 * Bytes are written one bit at a time, and expected cells are computed independently. Buffers have
 * the exact size of the section, so that ASan detects reads beyond the end.
 * More than 600 lines: all encodings share the bit writer and the comparison below.
 */
#include <criterion/criterion.h>

#include "format/decode.h"
#include "format/decode_masked.h"
#include "format/range.h"

#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint8_t *new_bytes(uint64_t size)
{
    uint8_t *bytes = calloc(1, size ? size : 1);
    cr_assert_not_null(bytes);
    return bytes;
}

static void put_bits(uint8_t *bytes, uint64_t bit, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++, bit++) {
        if (value >> i & 1)
            bytes[bit / 8] = (uint8_t)(bytes[bit / 8] | 1u << bit % 8);
    }
}

static uint64_t cut(uint64_t value, unsigned width)
{
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

/* What a column should hold, cell by cell. */
struct expected {
    int64_t *values;
    uint8_t *valid;
    uint64_t rows;
};

static struct expected new_expected(uint64_t rows)
{
    struct expected e = {calloc(rows + 1, 8), calloc(rows + 1, 1), rows};
    memset(e.valid, 1, rows + 1);
    return e;
}

static void free_expected(struct expected *e)
{
    free(e->values);
    free(e->valid);
}

static void check_range(const struct pcf_data *d, const struct expected *e, uint64_t row,
                        uint64_t count)
{
    int64_t *values = malloc(8 * count + 1);
    uint8_t *valid = malloc(count + 1);
    for (int with = 0; with < 2; with++) {
        memset(values, 0xa5, 8 * count);
        memset(valid, 0xa5, count);
        cr_assert_eq(pcf_read(d, row, count, values, with ? valid : NULL), PCF_OK);
        for (uint64_t i = 0; i < count; i++) {
            cr_assert_eq(values[i], e->values[row + i], "row %llu of %llu+%llu: %lld, not %lld",
                         (unsigned long long)(row + i), (unsigned long long)row,
                         (unsigned long long)count, (long long)values[i],
                         (long long)e->values[row + i]);
            if (with)
                cr_assert_eq(valid[i], e->valid[row + i]);
        }
    }
    free(values);
    free(valid);
}

/* Single cells, the whole column, and ranges around every kind of border. */
static void check_column(const struct pcf_data *d, const struct expected *e)
{
    int64_t value;
    int valid;
    cr_assert_eq(d->rows, e->rows);
    for (uint64_t row = 0; row < d->rows; row++) {
        cr_assert_eq(pcf_get(d, row, &value, &valid), PCF_OK);
        cr_assert_eq(value, e->values[row], "row %llu: %lld, not %lld", (unsigned long long)row,
                     (long long)value, (long long)e->values[row]);
        cr_assert_eq(valid, e->valid[row]);
    }
    cr_assert_eq(pcf_get(d, d->rows, &value, &valid), PCF_BAD_ROW);
    cr_assert_eq(pcf_get(d, UINT64_MAX, &value, &valid), PCF_BAD_ROW);
    cr_assert_eq(pcf_read(d, d->rows, 1, &value, NULL), PCF_BAD_ROW);
    cr_assert_eq(pcf_read(d, 1, UINT64_MAX, &value, NULL), PCF_BAD_ROW);
    cr_assert_eq(pcf_read(d, d->rows, 0, NULL, NULL), PCF_OK);
    check_range(d, e, 0, d->rows);
    for (int i = 0; i < 200; i++) {
        uint64_t row = next_random() % (d->rows + 1);
        uint64_t left = d->rows - row;
        check_range(d, e, row, left ? next_random() % (left < 40 ? left + 1 : 40) : 0);
        check_range(d, e, row, next_random() % (left + 1));
    }
}

/* Nulls by a validity bitmap over what is expected so far. */
static void add_nulls(struct pcf_data *d, struct expected *e)
{
    uint8_t *bits = new_bytes(pcf_bits_to_bytes(d->rows));
    for (uint64_t row = 0; row < d->rows; row++) {
        e->valid[row] = row / 100 % 3 == 0 || next_random() % 3 != 0;
        put_bits(bits, row, 1, e->valid[row]);
        if (!e->valid[row])
            e->values[row] = 0;
    }
    d->flags |= PCF_COLUMN_NULLABLE;
    d->validity = bits;
}

static void free_data(struct pcf_data *d)
{
    free((void *)(uintptr_t)d->values);
    free((void *)(uintptr_t)d->validity);
    free((void *)(uintptr_t)d->marks);
    free((void *)(uintptr_t)d->bytes);
}

static void check_plain(uint8_t type, unsigned width, uint64_t rows, int nulls)
{
    struct pcf_data d = {.type = type, .encoding = PCF_PLAIN, .rows = rows};
    struct expected e = new_expected(rows);
    uint8_t *bytes = new_bytes(pcf_bits_to_bytes(rows * width));
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t value = cut(next_random(), width);
        put_bits(bytes, row * width, width, value);
        e.values[row] = (int64_t)value;
    }
    d.values = bytes;
    d.values_size = pcf_bits_to_bytes(rows * width);
    if (nulls)
        add_nulls(&d, &e);
    check_column(&d, &e);
    free_data(&d);
    free_expected(&e);
}

Test(decode, plain)
{
    static const uint64_t rows[] = {1, 7, 8, 9, 63, 64, 65, 1000, 3000};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int nulls = 0; nulls < 2; nulls++) {
            check_plain(PCF_I64, 64, rows[i], nulls);
            check_plain(PCF_U64, 64, rows[i], nulls);
            check_plain(PCF_F64, 64, rows[i], nulls);
            check_plain(PCF_U32, 32, rows[i], nulls);
            check_plain(PCF_STRING, 32, rows[i], nulls);
            check_plain(PCF_BOOL, 1, rows[i], nulls);
        }
    }
}

static void check_linear(int64_t base, int64_t step, uint64_t rows, int nulls)
{
    struct pcf_data d = {
        .type = PCF_I64, .encoding = PCF_LINEAR, .rows = rows, .base = base, .step = step};
    struct expected e = new_expected(rows);
    for (uint64_t row = 0; row < rows; row++)
        e.values[row] = (int64_t)((uint64_t)base + (uint64_t)step * row);
    if (nulls)
        add_nulls(&d, &e);
    check_column(&d, &e);
    free_data(&d);
    free_expected(&e);
}

Test(decode, linear)
{
    check_linear(0, 1, 1, 0);
    check_linear(0, 1, 2000, 0);
    check_linear(-5, 0, 100, 0);
    check_linear(7, -3, 100, 1);
    check_linear(INT64_MAX, 1, 100, 0);
    check_linear(INT64_MIN, INT64_MIN, 100, 1);
}

Test(decode, linear_without_any_value)
{
    struct pcf_data d = {.type = PCF_I64,
                         .encoding = PCF_LINEAR,
                         .flags = PCF_COLUMN_NULLABLE | PCF_COLUMN_DEFAULT_NULL,
                         .rows = 2100,
                         .base = 5};
    struct expected e = new_expected(d.rows);
    memset(e.valid, 0, d.rows);
    check_column(&d, &e);
    free_expected(&e);
}

Test(decode, no_rows)
{
    struct pcf_data d = {.type = PCF_I64, .encoding = PCF_LINEAR};
    struct expected e = new_expected(0);
    check_column(&d, &e);
    free_expected(&e);
}

static void check_packed(unsigned width, uint64_t rows, int64_t base, uint64_t scale, int nulls)
{
    struct pcf_data d = {.type = PCF_I64,
                         .encoding = PCF_PACKED,
                         .width = (uint8_t)width,
                         .rows = rows,
                         .base = base,
                         .scale = scale};
    struct expected e = new_expected(rows);
    d.values_size = pcf_bits_to_bytes(rows * width) + PCF_PACK_PADDING;
    uint8_t *bytes = new_bytes(d.values_size);
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t u = cut(next_random(), width);
        put_bits(bytes, row * width, width, u);
        e.values[row] = (int64_t)((uint64_t)base + scale * u);
    }
    d.values = bytes;
    if (nulls)
        add_nulls(&d, &e);
    check_column(&d, &e);
    free_data(&d);
    free_expected(&e);
}

Test(decode, packed_at_every_width)
{
    for (unsigned width = 1; width <= 64; width = width == 57 ? 64 : width + 1) {
        check_packed(width, 1 + next_random() % 300, 0, 1, 0);
        check_packed(width, 1 + next_random() % 300, -1000, 1000, 1);
        check_packed(width, 1, INT64_MIN, UINT64_MAX, 0);
    }
}

/* A column of 8-byte values as a child. */
static struct pcf_data plain_child(uint8_t type, const uint64_t *values, uint64_t rows)
{
    struct pcf_data d = {.type = type, .encoding = PCF_PLAIN, .rows = rows};
    uint8_t *bytes = new_bytes(8 * rows);
    memcpy(bytes, values, 8 * rows);
    d.values = bytes;
    d.values_size = 8 * rows;
    return d;
}

static void check_sparse(uint64_t rows, unsigned one_in, int null)
{
    struct pcf_data d = {
        .type = PCF_I64, .encoding = PCF_SPARSE, .rows = rows, .base = -1, .step = 1};
    struct expected e = new_expected(rows);
    uint64_t *marked = calloc(rows + 1, 8), count = 0;
    uint8_t *marks = new_bytes(pcf_bits_to_bytes(rows) + rows / PCF_RANK_ROWS * 8);
    for (uint64_t row = 0; row < rows; row++) {
        if (row && row % PCF_RANK_ROWS == 0)
            memcpy(marks + row / PCF_RANK_ROWS * PCF_MARKS_STRIDE - 8, &count, 8);
        if (next_random() % one_in == 0) {
            put_bits(marks, row + row / PCF_RANK_ROWS * 64, 1, 1);
            marked[count] = next_random();
            e.values[row] = (int64_t)marked[count++];
        } else {
            e.values[row] = null ? 0 : (int64_t)row - 1;
            e.valid[row] = !null;
        }
    }
    struct pcf_data child = plain_child(PCF_I64, marked, count);
    d.flags = null ? PCF_COLUMN_NULLABLE | PCF_COLUMN_DEFAULT_NULL : 0;
    d.marks = marks;
    d.child[0] = &child;
    check_column(&d, &e);
    free_data(&child);
    free_data(&d);
    free(marked);
    free_expected(&e);
}

Test(decode, sparse)
{
    static const uint64_t rows[] = {1, 8, 9, 64, 65, 1023, 1024, 1025, 5000, 8192};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int null = 0; null < 2; null++) {
            check_sparse(rows[i], 1, null);
            check_sparse(rows[i], 2, null);
            check_sparse(rows[i], 50, null);
            check_sparse(rows[i], 5000, null);
        }
    }
}

Test(decode, sparse_hostile)
{
    uint64_t rows = 2048, own[3] = {7, 8, 9}, count = 1;
    uint8_t *marks = new_bytes(rows / 8 + 8);
    struct pcf_data child = plain_child(PCF_I64, own, 3);
    struct pcf_data d = {.type = PCF_I64, .encoding = PCF_SPARSE, .rows = rows};
    int64_t values[2048], value;
    int valid;
    d.marks = marks;
    d.child[0] = &child;
    put_bits(marks, 10, 1, 1);
    put_bits(marks, 64 + 1100, 1, 1);
    put_bits(marks, 64 + 2047, 1, 1);
    memcpy(marks + 128, &count, 8);
    cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_OK);
    cr_assert_eq(values[2047], 9);
    static const uint64_t bad[] = {2, 3, 4, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memcpy(marks + 128, &bad[i], 8);
        cr_assert_eq(pcf_get(&d, 2047, &value, &valid), PCF_BAD_RANK);
        cr_assert_eq(pcf_read(&d, 1024, 1024, values, NULL), PCF_BAD_RANK);
        cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_BAD_RANK);
    }
    memset(marks + 128, 0, 8); /* in range, but the previous block contradicts it */
    cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_BAD_RANK);
    memset(marks, 0xff, rows / 8 + 8); /* more marks than values */
    memcpy(marks + 128, &count, 8);
    cr_assert_eq(pcf_get(&d, 3, &value, &valid), PCF_BAD_RANK);
    cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_BAD_RANK);
    free_data(&child);
    free_data(&d);
}

static void check_runs(uint64_t rows, unsigned longest)
{
    struct pcf_data d = {.type = PCF_I64, .encoding = PCF_RUNS, .rows = rows};
    struct expected e = new_expected(rows);
    uint64_t *ends = calloc(rows, 8), *values = calloc(rows, 8), count = 0;
    for (uint64_t row = 0; row < rows; count++) {
        uint64_t end = row + 1 + next_random() % longest;
        end = end < rows ? end : rows;
        ends[count] = end;
        values[count] = next_random();
        for (; row < end; row++)
            e.values[row] = (int64_t)values[count];
    }
    struct pcf_data first = plain_child(PCF_U64, ends, count);
    struct pcf_data second = plain_child(PCF_I64, values, count);
    d.child[0] = &first;
    d.child[1] = &second;
    check_column(&d, &e);
    free_data(&first);
    free_data(&second);
    free(ends);
    free(values);
    free_expected(&e);
}

Test(decode, runs)
{
    check_runs(1, 1);
    check_runs(1000, 1);
    check_runs(5000, 3);
    check_runs(5000, 1000);
    check_runs(3000, 100000);
}

/* With any ends, each answer is an error or a value of the column. */
Test(decode, runs_hostile)
{
    uint64_t ends[6], values[6] = {1, 2, 3, 4, 5, 6};
    static const uint64_t pool[] = {0, 1, 2, 3, 9, 10, 11, UINT64_MAX, UINT64_C(1) << 63};
    struct pcf_data second = plain_child(PCF_I64, values, 6);
    int64_t out[10], value;
    int valid;
    for (int i = 0; i < 3000; i++) {
        for (size_t k = 0; k < 6; k++)
            ends[k] = pool[next_random() % (sizeof pool / sizeof pool[0])];
        struct pcf_data first = plain_child(PCF_U64, ends, 6);
        struct pcf_data d = {
            .type = PCF_I64, .encoding = PCF_RUNS, .rows = 10, .child = {&first, &second}};
        for (uint64_t row = 0; row < 10; row++) {
            enum pcf_result result = pcf_get(&d, row, &value, &valid);
            cr_assert(result == PCF_BAD_RUN || (result == PCF_OK && value >= 1 && value <= 6));
        }
        enum pcf_result result = pcf_read(&d, 0, 10, out, NULL);
        cr_assert(result == PCF_BAD_RUN || result == PCF_OK);
        free_data(&first);
    }
    ends[0] = 3;
    ends[1] = 10;
    struct pcf_data first = plain_child(PCF_U64, ends, 2);
    second.rows = 2;
    struct pcf_data d = {
        .type = PCF_I64, .encoding = PCF_RUNS, .rows = 11, .child = {&first, &second}};
    cr_assert_eq(pcf_get(&d, 9, &value, &valid), PCF_OK);
    cr_assert_eq(pcf_get(&d, 10, &value, &valid), PCF_BAD_RUN, "ends do not reach the last row");
    cr_assert_eq(pcf_read(&d, 0, 10, out, NULL), PCF_OK);
    cr_assert_eq(pcf_read(&d, 9, 2, out, NULL), PCF_BAD_RUN);
    free_data(&first);
    free_data(&second);
}

Test(decode, nested)
{
    /* Runs whose ends are linear and whose values are sparse over a packed child. */
    uint8_t marks[1] = {0x05};
    uint8_t bits[1 + PCF_PACK_PADDING] = {0x21}; /* 1 and 2, four bits each */
    struct pcf_data packed = {.type = PCF_I64,
                              .encoding = PCF_PACKED,
                              .width = 4,
                              .rows = 2,
                              .scale = 10,
                              .values = bits,
                              .values_size = sizeof bits};
    struct pcf_data sparse = {.type = PCF_I64,
                              .encoding = PCF_SPARSE,
                              .rows = 4,
                              .base = 100,
                              .step = 1,
                              .marks = marks,
                              .child = {&packed, NULL}};
    struct pcf_data ends = {
        .type = PCF_U64, .encoding = PCF_LINEAR, .rows = 4, .base = 3, .step = 3};
    struct pcf_data d = {
        .type = PCF_I64, .encoding = PCF_RUNS, .rows = 12, .child = {&ends, &sparse}};
    static const int64_t runs[4] = {10, 101, 20, 103};
    struct expected e = new_expected(12);
    for (uint64_t row = 0; row < 12; row++)
        e.values[row] = runs[row / 3];
    check_column(&d, &e);
    free_expected(&e);
}

/* Marked rows out of one child, the others out of another. */
static void check_split(uint64_t rows, unsigned one_in)
{
    struct pcf_data d = {.type = PCF_I64, .encoding = PCF_SPLIT, .rows = rows};
    struct expected e = new_expected(rows);
    uint64_t *parts[2] = {calloc(rows + 1, 8), calloc(rows + 1, 8)}, counts[2] = {0};
    uint8_t *marks = new_bytes(pcf_bits_to_bytes(rows) + rows / PCF_RANK_ROWS * 8);
    for (uint64_t row = 0; row < rows; row++) {
        int other = next_random() % one_in != 0;
        if (row && row % PCF_RANK_ROWS == 0)
            memcpy(marks + row / PCF_RANK_ROWS * PCF_MARKS_STRIDE - 8, &counts[0], 8);
        put_bits(marks, row + row / PCF_RANK_ROWS * 64, 1, !other);
        e.values[row] = (int64_t)next_random();
        parts[other][counts[other]++] = (uint64_t)e.values[row];
    }
    struct pcf_data marked = plain_child(PCF_I64, parts[0], counts[0]);
    struct pcf_data others = plain_child(PCF_I64, parts[1], counts[1]);
    d.marks = marks;
    d.child[0] = &marked;
    d.child[1] = &others;
    check_column(&d, &e);
    free_data(&marked);
    free_data(&others);
    free_data(&d);
    free(parts[0]);
    free(parts[1]);
    free_expected(&e);
}

Test(decode, split)
{
    static const uint64_t rows[] = {1, 8, 9, 64, 65, 1023, 1024, 1025, 5000, 8192};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_split(rows[i], 1);
        check_split(rows[i], 2);
        check_split(rows[i], 50);
        check_split(rows[i], 5000);
    }
}

Test(decode, split_hostile)
{
    uint64_t rows = 2048, own[3] = {7, 8, 9}, count = 1, rest[2045] = {0};
    uint8_t *marks = new_bytes(rows / 8 + 8);
    struct pcf_data marked = plain_child(PCF_I64, own, 3);
    struct pcf_data others = plain_child(PCF_I64, rest, 2045);
    struct pcf_data d = {.type = PCF_I64, .encoding = PCF_SPLIT, .rows = rows, .marks = marks};
    int64_t values[2048], value;
    int valid;
    d.child[0] = &marked;
    d.child[1] = &others;
    put_bits(marks, 10, 1, 1);
    put_bits(marks, 64 + 1100, 1, 1);
    put_bits(marks, 64 + 2047, 1, 1);
    memcpy(marks + 128, &count, 8);
    cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_OK);
    cr_assert_eq(values[2047], 9);
    cr_assert_eq(values[1100], 8);
    static const uint64_t bad[] = {2, 3, 4, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memcpy(marks + 128, &bad[i], 8);
        cr_assert_eq(pcf_get(&d, 2047, &value, &valid), PCF_BAD_RANK);
        cr_assert_eq(pcf_read(&d, 1024, 1024, values, NULL), PCF_BAD_RANK);
        cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_BAD_RANK);
    }
    memset(marks + 128, 0,
           8); /* then the row before the last one has no value in the other child */
    cr_assert_eq(pcf_get(&d, 2046, &value, &valid), PCF_BAD_RANK);
    cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_BAD_RANK);
    memset(marks, 0xff, rows / 8 + 8); /* more marks than values */
    memcpy(marks + 128, &count, 8);
    cr_assert_eq(pcf_get(&d, 3, &value, &valid), PCF_BAD_RANK);
    cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_BAD_RANK);
    memset(marks, 0, rows / 8 + 8); /* fewer */
    cr_assert_eq(pcf_get(&d, 2047, &value, &valid), PCF_BAD_RANK);
    cr_assert_eq(pcf_read(&d, 0, rows, values, NULL), PCF_BAD_RANK);
    free_data(&marked);
    free_data(&others);
    free_data(&d);
}

/* Codes and entries of every way in which bulk reading looks them up. */
static void check_dictionary(uint64_t rows, uint64_t entry_rows, int packed, int nulls)
{
    struct pcf_data d = {.type = PCF_I64, .encoding = PCF_DICTIONARY, .rows = rows};
    struct pcf_data codes = {.type = PCF_U32, .encoding = PCF_PLAIN, .rows = rows};
    struct pcf_data entries = {.type = PCF_I64, .encoding = PCF_PLAIN, .rows = entry_rows};
    struct expected e = new_expected(rows), all = new_expected(entry_rows);
    uint8_t *words = new_bytes(4 * rows), *bytes = new_bytes(8 * entry_rows + PCF_PACK_PADDING);
    if (packed) {
        entries.encoding = PCF_PACKED;
        entries.width = 57;
        entries.base = -5;
        entries.scale = 7;
    }
    for (uint64_t i = 0; i < entry_rows; i++) {
        uint64_t value = cut(next_random(), packed ? 57 : 64);
        put_bits(bytes, i * (packed ? 57 : 64), packed ? 57 : 64, value);
        all.values[i] = (int64_t)(packed ? value * 7 - 5 : value);
    }
    entries.values = bytes;
    entries.values_size = 8 * entry_rows + PCF_PACK_PADDING;
    if (nulls)
        add_nulls(&entries, &all);
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t code = next_random() % entry_rows;
        put_bits(words, 32 * row, 32, code);
        e.values[row] = all.values[code];
        e.valid[row] = all.valid[code];
    }
    codes.values = words;
    codes.values_size = 4 * rows;
    d.flags = nulls ? PCF_COLUMN_NULLABLE : 0;
    d.child[0] = &entries;
    d.child[1] = &codes;
    check_column(&d, &e);
    free_data(&codes);
    free_data(&entries);
    free_expected(&e);
    free_expected(&all);
}

Test(decode, dictionary)
{
    static const uint64_t rows[] = {1, 65, 1024, 1025, 5000};
    static const uint64_t entries[] = {1, 2, 100, 1024, 1025, 3000};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < sizeof entries / sizeof entries[0]; k++) {
            check_dictionary(rows[i], entries[k], 0, 0);
            check_dictionary(rows[i], entries[k], 1, 0);
            check_dictionary(rows[i], entries[k], 1, 1);
        }
    }
}

Test(decode, dictionary_hostile)
{
    int64_t values[1500], value;
    int valid;
    for (uint64_t rows = 100; rows <= 1100; rows += 1000) { /* a whole one, and one by one */
        struct pcf_data entries = {
            .type = PCF_U32, .encoding = PCF_LINEAR, .rows = rows, .base = 9};
        struct pcf_data codes = {.type = PCF_U32, .encoding = PCF_LINEAR, .rows = 1500};
        struct pcf_data d = {
            .type = PCF_U32, .encoding = PCF_DICTIONARY, .rows = 1500, .child = {&entries, &codes}};
        codes.base = (int64_t)rows - 1;
        cr_assert_eq(pcf_read(&d, 0, 1500, values, NULL), PCF_OK);
        cr_assert(values[0] == 9 && values[1499] == 9);
        codes.base++;
        cr_assert_eq(pcf_get(&d, 1, &value, &valid), PCF_BAD_CODE);
        cr_assert(value == 0 && !valid);
        cr_assert_eq(pcf_read(&d, 0, 1500, values, NULL), PCF_BAD_CODE);
        codes.base = UINT32_MAX;
        cr_assert_eq(pcf_read(&d, 1000, 2, values, NULL), PCF_BAD_CODE);
        codes.base = (int64_t)1 << 32; /* no code at all */
        cr_assert_eq(pcf_get(&d, 1, &value, &valid), PCF_BAD_VALUE);
        cr_assert_eq(pcf_read(&d, 0, 1500, values, NULL), PCF_BAD_VALUE);
        codes.base = 0;
        entries.base = (int64_t)1 << 32; /* no value */
        cr_assert_eq(pcf_get(&d, 1, &value, &valid), PCF_BAD_VALUE);
        cr_assert_eq(pcf_read(&d, 0, 1500, values, NULL), PCF_BAD_VALUE);
        cr_assert_eq(pcf_read(&d, 0, 10, values, NULL), PCF_BAD_VALUE);
    }
}

Test(decode, bytes)
{
    static const char text[] = "ab\0cd";
    uint64_t offsets[5] = {0, 2, 2, 5, 5};
    uint8_t validity[1] = {0x07};
    struct pcf_data child = plain_child(PCF_U64, offsets, 5);
    struct pcf_data d = {.type = PCF_BYTES,
                         .encoding = PCF_PLAIN,
                         .flags = PCF_COLUMN_NULLABLE,
                         .rows = 4,
                         .validity = validity,
                         .bytes = new_bytes(5),
                         .bytes_size = 5,
                         .child = {&child, NULL}};
    const uint8_t *bytes;
    uint64_t size;
    int valid;
    int64_t value;
    memcpy((void *)(uintptr_t)d.bytes, text, 5);
    cr_assert_eq(pcf_get_bytes(&d, 0, &bytes, &size, &valid), PCF_OK);
    cr_assert(valid && size == 2 && memcmp(bytes, "ab", 2) == 0);
    cr_assert_eq(pcf_get_bytes(&d, 1, &bytes, &size, &valid), PCF_OK);
    cr_assert(valid && size == 0 && bytes);
    cr_assert_eq(pcf_get_bytes(&d, 2, &bytes, &size, &valid), PCF_OK);
    cr_assert(valid && size == 3 && memcmp(bytes, "\0cd", 3) == 0);
    cr_assert_eq(pcf_get_bytes(&d, 3, &bytes, &size, &valid), PCF_OK);
    cr_assert(!valid && size == 0 && bytes);
    cr_assert_eq(pcf_get_bytes(&d, 4, &bytes, &size, &valid), PCF_BAD_ROW);
    cr_assert_eq(pcf_get(&d, 0, &value, &valid), PCF_BAD_ROW);
    cr_assert_eq(pcf_read(&d, 0, 1, &value, NULL), PCF_BAD_ROW);
    cr_assert_eq(pcf_get_bytes(&child, 0, &bytes, &size, &valid), PCF_BAD_ROW);

    uint64_t *at = (uint64_t *)(uintptr_t)child.values;
    at[1] = 6; /* leaves the data, then falls */
    cr_assert_eq(pcf_get_bytes(&d, 0, &bytes, &size, &valid), PCF_BAD_OFFSET);
    cr_assert_eq(pcf_get_bytes(&d, 1, &bytes, &size, &valid), PCF_BAD_OFFSET);
    at[1] = UINT64_MAX;
    cr_assert_eq(pcf_get_bytes(&d, 0, &bytes, &size, &valid), PCF_BAD_OFFSET);
    cr_assert_eq(pcf_get_bytes(&d, 1, &bytes, &size, &valid), PCF_BAD_OFFSET);
    cr_assert(size == 0 && !valid && bytes);
    free((void *)(uintptr_t)d.bytes);
    free_data(&child);
}

/* Values that their type does not have; the value under a null is not read. */
Test(decode, values_out_of_type)
{
    static const uint8_t types[] = {PCF_U32, PCF_STRING, PCF_BOOL};
    uint8_t validity[2] = {0xff, 0x00};
    int64_t value, values[16];
    uint8_t valids[16];
    int valid;
    for (size_t i = 0; i < sizeof types; i++) {
        int64_t largest = types[i] == PCF_BOOL ? 1 : UINT32_MAX;
        struct pcf_data d = {.type = types[i], .encoding = PCF_LINEAR, .rows = 16};
        d.step = types[i] == PCF_BOOL ? 0 : 1;
        d.base = largest - 7 * d.step;
        cr_assert_eq(pcf_get(&d, 7, &value, &valid), PCF_OK);
        cr_assert_eq(value, largest);
        cr_assert_eq(pcf_read(&d, 0, 8, values, NULL), PCF_OK);
        d.validity = validity;
        cr_assert_eq(pcf_read(&d, 0, 16, values, valids), PCF_OK);
        cr_assert(valids[7] && values[7] == largest && !valids[8] && values[8] == 0);
        d.validity = NULL;
        d.base++;
        cr_assert_eq(pcf_get(&d, 7, &value, &valid), PCF_BAD_VALUE);
        cr_assert(value == 0 && !valid);
        cr_assert_eq(pcf_read(&d, 0, 8, values, NULL), PCF_BAD_VALUE);
        d.base = -1;
        cr_assert_eq(pcf_get(&d, 0, &value, &valid), PCF_BAD_VALUE);
    }
}

/* PACKED: numbers that are not tested one by one, for their width, scale and base fit the type. */
Test(decode, packed_range_of_type)
{
    static const uint8_t zeros[72];
    uint8_t ones[72];
    static const struct {
        uint8_t type, width;
        uint64_t scale;
        int64_t base, highest; /* of numbers with all bits; -1: not of the type */
    } cases[] = {
        {PCF_U32, 31, 2, 1, UINT32_MAX}, {PCF_U32, 31, 2, 2, -1},
        {PCF_U32, 32, 1, 0, UINT32_MAX}, {PCF_U32, 32, 1, 1, -1},
        {PCF_U32, 8, 1, UINT32_MAX, -1}, {PCF_U32, 8, 1, -255, 0},
        {PCF_U32, 64, 1, 1, 0},          {PCF_U32, 32, UINT64_C(1) << 63, 5, -1},
        {PCF_BOOL, 1, 1, 0, 1},          {PCF_BOOL, 1, 2, 0, -1},
        {PCF_BOOL, 2, 1, 0, -1},         {PCF_I64, 8, 1, -255, 0},
    };
    int64_t values[8];
    memset(ones, 0xff, sizeof ones);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pcf_data d = {.type = cases[i].type,
                             .encoding = PCF_PACKED,
                             .width = cases[i].width,
                             .scale = cases[i].scale,
                             .base = cases[i].base,
                             .rows = 8,
                             .values = ones};
        cr_assert_eq(pcf_read(&d, 0, 8, values, NULL),
                     cases[i].highest < 0 ? PCF_BAD_VALUE : PCF_OK, "case %zu", i);
        cr_assert(cases[i].highest < 0 || values[7] == cases[i].highest, "case %zu", i);
        d.values = zeros;
        int is_base = d.type == PCF_I64 || (d.base >= 0 && d.base <= UINT32_MAX);
        cr_assert_eq(pcf_read(&d, 0, 8, values, NULL), is_base ? PCF_OK : PCF_BAD_VALUE, "case %zu",
                     i);
    }
}

Test(decode, unsupported_column_has_no_rows)
{
    struct pcf_data d = {0};
    int64_t value;
    int valid;
    cr_assert_eq(pcf_get(&d, 0, &value, &valid), PCF_BAD_ROW);
    cr_assert_eq(pcf_read(&d, 0, 1, &value, NULL), PCF_BAD_ROW);
}

Test(decode, every_result_has_a_sentence)
{
    for (int i = PCF_OK; i <= PCF_BAD_VALUE; i++)
        cr_assert(strlen(pcf_result_text((enum pcf_result)i)) > 5);
}
