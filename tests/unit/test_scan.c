/*
 * test_scan.c - projection, ranges, conditions and selections of scans
 *
 * A table of random cells of every type is scanned under random conditions, and each batch is
 * compared with the rows that the test works out from its own arrays. Comparisons of numbers use
 * long double, whose 64 bits of mantissa hold every integer of the format.
 */
#include <criterion/criterion.h>

#include "pcol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) cr_assert_eq((call), PCOL_OK, "%s: %s", #call, err.message)
#define ROWS 5000u

enum { ASCENDING, SIGNED, UNSIGNED, DOUBLE, NAME, OWN, FLAG, COLUMNS };

static const char *const names[COLUMNS] = {"ascending", "signed", "unsigned", "double",
                                           "name",      "own",    "flag"};
static const pcol_type types[COLUMNS] = {PCOL_I64,    PCOL_I64,   PCOL_U64, PCOL_F64,
                                         PCOL_STRING, PCOL_BYTES, PCOL_BOOL};
static const int64_t integers[] = {0,         1,         -1,          2,
                                   INT64_MIN, INT64_MAX, 1L << 53,    (1L << 53) + 1,
                                   -7,        1000,      -(1L << 62), (1L << 62) + 1};
static const double doubles[] = {0,
                                 -0.0,
                                 0.5,
                                 -1,
                                 1e300,
                                 -1e300,
                                 0x1p63,
                                 -0x1p63,
                                 0x1p64,
                                 0x1p53,
                                 (double)INFINITY,
                                 -(double)INFINITY,
                                 1000,
                                 -7.5,
                                 (double)NAN};
static const char *const texts[] = {"", "a", "b", "ab", "abc", "main", "malloc", "\xff", "z"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct {
    int64_t bits[COLUMNS][ROWS];
    uint8_t valid[COLUMNS][ROWS];
    pcol_file *file;
    const pcol_table *table;
    void *data;
} f;

static uint32_t seed;

static uint32_t dice(uint32_t sides)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % sides;
}

static int64_t random_cell(int column, uint64_t row)
{
    int64_t bits;
    switch (column) {
    case ASCENDING:
        return (int64_t)row * 3 + dice(3);
    case DOUBLE:
        memcpy(&bits, &doubles[dice(COUNT(doubles))], sizeof bits);
        return bits;
    case NAME:
    case OWN:
        return dice(COUNT(texts));
    case FLAG:
        return dice(2);
    default:
        return dice(4) ? integers[dice(COUNT(integers))] : (int64_t)dice(2000) - 1000;
    }
}

static void set_cell(pcol_builder *b, uint32_t number, int column, uint64_t row, int64_t bits)
{
    pcol_error err;
    double value;
    memcpy(&value, &bits, sizeof value);
    if (column == DOUBLE)
        MUST(pcol_builder_set_f64(b, number, row, value, &err));
    else if (column == NAME || column == OWN)
        MUST(pcol_builder_set_str(b, number, row, texts[bits], strlen(texts[bits]), &err));
    else
        MUST(pcol_builder_set_i64(b, number, row, bits, &err));
}

static void open_file(unsigned flags)
{
    pcol_builder *b;
    uint32_t table, number;
    size_t size;
    pcol_error err;
    seed = 5;
    MUST(pcol_builder_new(NULL, &b, &err));
    MUST(pcol_builder_table(b, "x_table", &table, &err));
    for (int c = 0; c < COLUMNS; c++) {
        MUST(pcol_builder_column(b, table, names[c], types[c], 0, &number, &err));
        for (uint64_t row = 0; row < ROWS; row++) {
            f.valid[c][row] = c == ASCENDING || c == FLAG || row + 1 == ROWS || dice(8) != 0;
            f.bits[c][row] = f.valid[c][row] ? random_cell(c, row) : 0;
            if (f.valid[c][row])
                set_cell(b, number, c, row, f.bits[c][row]);
        }
    }
    MUST(pcol_builder_write_memory(b, flags, NULL, &f.data, &size, &err));
    pcol_builder_free(b);
    MUST(pcol_file_open_memory(f.data, size, NULL, &f.file, &err));
    MUST(pcol_file_table_by_name(f.file, PCOL_MODEL_PHYSICAL, "x_table", &f.table, &err));
}

static void close_file(void)
{
    pcol_file_close(f.file);
    pcol_free(f.data);
}

static uint32_t number_of(int column)
{
    uint32_t index = 0;
    cr_assert_not_null(pcol_table_column_by_name(f.table, names[column], &index));
    return index;
}

/* ---- expected rows */

static long double number_at(int column, uint64_t row)
{
    double value;
    memcpy(&value, &f.bits[column][row], sizeof value);
    return column == DOUBLE     ? (long double)value
           : column == UNSIGNED ? (long double)(uint64_t)f.bits[column][row]
                                : (long double)f.bits[column][row];
}

static long double number_of_value(const pcol_condition *c)
{
    return c->type == PCOL_F64   ? (long double)c->value.f64
           : c->type == PCOL_U64 ? (long double)c->value.u64
                                 : (long double)c->value.i64;
}

static int compare_texts(const char *a, pcol_str b)
{
    size_t size = strlen(a), common = size < b.size ? size : b.size;
    int sign = memcmp(a, b.data, common);
    return sign ? sign : (size > b.size) - (size < b.size);
}

static int holds_sign(uint32_t op, int sign)
{
    return op == PCOL_OP_EQ   ? sign == 0
           : op == PCOL_OP_NE ? sign != 0
           : op == PCOL_OP_LT ? sign < 0
           : op == PCOL_OP_LE ? sign <= 0
           : op == PCOL_OP_GT ? sign > 0
                              : sign >= 0;
}

static int expected(const pcol_condition *c, int column, uint64_t row)
{
    if (c->op == PCOL_OP_IS_NULL || c->op == PCOL_OP_NOT_NULL)
        return f.valid[column][row] == (c->op == PCOL_OP_NOT_NULL);
    if (!f.valid[column][row])
        return 0;
    if (column == NAME || column == OWN) {
        const char *text = texts[f.bits[column][row]];
        if (c->op == PCOL_OP_MATCH || c->op == PCOL_OP_NOT_MATCH) /* the pattern is "^.?a" */
            return (text[0] == 'a' || (text[0] && text[1] == 'a')) == (c->op == PCOL_OP_MATCH);
        return holds_sign(c->op, compare_texts(text, c->value.str));
    }
    long double a = number_at(column, row), b = number_of_value(c);
    if (isnan(a) || isnan(b))
        return c->op == PCOL_OP_NE;
    return holds_sign(c->op, (a > b) - (a < b));
}

/* ---- scanning */

static pcol_condition random_condition(int column)
{
    pcol_condition c = {.column = number_of(column), .op = dice(10)};
    if (column == NAME || column == OWN) {
        const char *text =
            c.op == PCOL_OP_MATCH || c.op == PCOL_OP_NOT_MATCH ? "^.?a" : texts[dice(COUNT(texts))];
        c.type = PCOL_STRING;
        c.value.str = (pcol_str){text, strlen(text)};
        return c;
    }
    if (c.op == PCOL_OP_MATCH || c.op == PCOL_OP_NOT_MATCH)
        c.op = PCOL_OP_LT;
    c.type = (const uint32_t[]){PCOL_I64, PCOL_U64, PCOL_F64}[dice(3)];
    if (c.type == PCOL_F64)
        c.value.f64 = doubles[dice(COUNT(doubles))];
    else if (dice(2) && f.valid[column][100] && column != DOUBLE)
        c.value.i64 = f.bits[column][dice(ROWS)];
    else
        c.value.i64 = integers[dice(COUNT(integers))];
    return c;
}

static void check_cell(const pcol_cells *cells, size_t i, int column, uint64_t row)
{
    pcol_str text;
    pcol_error err;
    cr_assert_eq(cells->valid[i], f.valid[column][row], "column %s, row %llu", names[column],
                 (unsigned long long)row);
    if (!cells->valid[i])
        return;
    if (column == DOUBLE) {
        cr_assert_eq(memcmp(&cells->f64[i], &f.bits[column][row], 8), 0);
    } else if (column == NAME && cells->codes) {
        cr_assert_null(cells->str);
        MUST(pcol_file_string(f.file, cells->codes[i], &text, &err));
        cr_assert_eq(compare_texts(texts[f.bits[column][row]], text), 0);
    } else if (column == NAME || column == OWN) {
        cr_assert_eq(compare_texts(texts[f.bits[column][row]], cells->str[i]), 0);
    } else {
        cr_assert_eq(cells->i64[i], f.bits[column][row]);
    }
}

static void check_scan(const pcol_scan_options *options, const int *condition_columns)
{
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err;
    uint64_t next = options->first_row;
    uint64_t end = options->row_count ? options->first_row + options->row_count : ROWS;
    uint32_t most = options->batch_rows ? options->batch_rows : 1024;
    end = end < ROWS ? end : ROWS;
    MUST(pcol_scan_new(f.table, options, &scan, &err));
    for (;;) {
        MUST(pcol_scan_next(scan, &batch, &err));
        cr_assert(batch.rows <= most);
        cr_assert_eq(batch.column_count, COLUMNS);
        for (size_t i = 0; i < batch.rows; i++, next++) {
            uint64_t row = batch.row_numbers ? batch.row_numbers[i] : batch.first_row + i;
            cr_assert(row >= next && row < end);
            for (; next <= row; next++) { /* rows before it do not satisfy all conditions */
                int all = 1;
                for (size_t k = 0; k < options->where_count; k++)
                    all &= expected(&options->where[k], condition_columns[k], next);
                cr_assert_eq(all, next == row, "row %llu", (unsigned long long)next);
            }
            next--;
            for (int c = 0; c < COLUMNS; c++)
                check_cell(&batch.columns[c], i, c, row);
        }
        if (!batch.rows)
            break;
        cr_assert_eq(batch.first_row, batch.row_numbers ? batch.row_numbers[0] : batch.first_row);
    }
    for (; next < end; next++) {
        int all = 1;
        for (size_t k = 0; k < options->where_count; k++)
            all &= expected(&options->where[k], condition_columns[k], next);
        cr_assert(!all, "row %llu is missing", (unsigned long long)next);
    }
    pcol_scan_free(scan);
}

static void check_random_scans(unsigned flags, int turns)
{
    open_file(flags);
    uint32_t columns[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        columns[c] = number_of(c);
    for (int turn = 0; turn < turns; turn++) {
        pcol_condition where[3];
        int of[3];
        pcol_scan_options o = PCOL_INIT(pcol_scan_options);
        o.columns = columns;
        o.column_count = COLUMNS;
        o.where = where;
        o.where_count = dice(4);
        o.batch_rows = (const uint32_t[]){0, 1, 7, 1000, 1024, 3000, 100000}[dice(7)];
        o.first_row = dice(3) ? 0 : dice(ROWS + 1);
        o.row_count = dice(3) ? 0 : 1 + dice(ROWS);
        o.flags = dice(2) ? PCOL_SCAN_CODES : 0;
        for (size_t k = 0; k < o.where_count; k++) {
            of[k] = (int)dice(COLUMNS);
            where[k] = random_condition(of[k]);
        }
        check_scan(&o, of);
    }
    close_file();
}

Test(scan, conditions_on_packed_columns)
{
    check_random_scans(0, 1500);
}

Test(scan, conditions_on_plain_columns)
{
    check_random_scans(PCOL_WRITE_PLAIN, 500);
}

Test(scan, conditions_on_archives)
{
    check_random_scans(PCOL_WRITE_ARCHIVE, 300);
}

/* ---- values outside of tables */

static void check_values(const pcol_condition *c, int column)
{
    static const pcol_type of_column[COLUMNS] = {
        [NAME] = PCOL_STRING, [OWN] = PCOL_BYTES, [DOUBLE] = PCOL_F64, [UNSIGNED] = PCOL_U64};
    pcol_type type = of_column[column] ? of_column[column] : PCOL_I64;
    pcol_value_test *test;
    pcol_error err;
    MUST(pcol_value_test_new(c, &test, &err));
    for (uint64_t row = 0; row < ROWS; row += 1 + dice(40)) {
        pcol_scalar value = {.i64 = f.bits[column][row]};
        int holds = 2;
        if (type == PCOL_STRING || type == PCOL_BYTES)
            value.str = (pcol_str){texts[f.bits[column][row]], strlen(texts[f.bits[column][row]])};
        MUST(pcol_value_test_holds(test, type, f.valid[column][row] ? &value : NULL, &holds, &err));
        cr_assert_eq(holds, expected(c, column, row), "row %llu", (unsigned long long)row);
    }
    pcol_value_test_free(test);
}

Test(scan, values_outside_of_tables)
{
    open_file(0);
    for (int turn = 0; turn < 600; turn++) {
        int column = (int)dice(COLUMNS);
        pcol_condition c = random_condition(column);
        check_values(&c, column);
    }
    close_file();
}

Test(scan, value_tests_reject_other_types)
{
    pcol_condition number = {.type = PCOL_I64}, text = {.type = PCOL_STRING};
    pcol_scalar value = {.i64 = 0};
    pcol_value_test *test;
    pcol_error err;
    int holds;
    MUST(pcol_value_test_new(&number, &test, &err));
    MUST(pcol_value_test_holds(test, PCOL_BOOL, &value, &holds, &err));
    cr_expect_eq(holds, 1);
    cr_expect_eq(pcol_value_test_holds(test, PCOL_STRING, &value, &holds, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_value_test_holds(test, PCOL_LIST, &value, &holds, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_value_test_holds(test, (pcol_type)9, &value, &holds, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_value_test_holds(test, PCOL_I64, &value, NULL, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_value_test_holds(NULL, PCOL_I64, &value, &holds, &err), PCOL_E_ARGUMENT);
    pcol_value_test_free(test);
    text.op = PCOL_OP_MATCH;
    text.value.str = (pcol_str){"(", 1};
    cr_expect_eq(pcol_value_test_new(&text, &test, &err), PCOL_E_ARGUMENT);
    cr_expect_null(test);
    text.value.str = (pcol_str){NULL, 1};
    cr_expect_eq(pcol_value_test_new(&text, &test, &err), PCOL_E_ARGUMENT);
    number.op = 99;
    cr_expect_eq(pcol_value_test_new(&number, &test, &err), PCOL_E_ARGUMENT);
    number = (pcol_condition){.type = PCOL_BOOL};
    cr_expect_eq(pcol_value_test_new(&number, &test, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_value_test_new(NULL, &test, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_value_test_new(&text, NULL, &err), PCOL_E_ARGUMENT);
    pcol_value_test_free(NULL);
}

/* ---- arguments */

static void rejects(const pcol_scan_options *options, const char *message)
{
    pcol_scan *scan = (pcol_scan *)1;
    pcol_error err;
    cr_assert_eq(pcol_scan_new(f.table, options, &scan, &err), PCOL_E_ARGUMENT);
    cr_assert_null(scan);
    cr_assert_not_null(strstr(err.message, message), "%s", err.message);
}

Test(scan, bad_arguments)
{
    pcol_condition c = {.column = 99, .type = PCOL_I64};
    pcol_scan_options o = PCOL_INIT(pcol_scan_options);
    pcol_selection selection = PCOL_INIT(pcol_selection);
    open_file(0);
    o.where = &c;
    o.where_count = 1;
    rejects(&o, "column number 99");
    c = (pcol_condition){.column = number_of(NAME), .type = PCOL_I64};
    rejects(&o, "needs a value of type string");
    c = (pcol_condition){.column = number_of(SIGNED), .type = PCOL_STRING};
    rejects(&o, "needs a value of type i64");
    c = (pcol_condition){.column = number_of(DOUBLE), .type = 0};
    rejects(&o, "needs a value of type i64");
    c = (pcol_condition){.column = number_of(SIGNED), .op = PCOL_OP_MATCH, .type = PCOL_STRING};
    rejects(&o, "cannot be a pattern");
    c = (pcol_condition){.column = number_of(SIGNED), .op = 10, .type = PCOL_I64};
    rejects(&o, "unknown operator");
    c = (pcol_condition){.column = number_of(NAME), .type = PCOL_STRING, .value.str = {NULL, 1}};
    rejects(&o, "NULL");
    c = (pcol_condition){
        .column = number_of(NAME), .op = PCOL_OP_MATCH, .type = PCOL_STRING, .value.str = {"(", 1}};
    rejects(&o, "the pattern has an unmatched");
    o.where = NULL;
    rejects(&o, "no where given");
    o.where_count = 0;
    o.batch_rows = (1u << 20) + 1;
    rejects(&o, "batch");
    o.batch_rows = 0;
    o.flags = 2;
    rejects(&o, "flags");
    o.flags = 0;
    o.selection = &selection;
    rejects(&o, "model v2, not to table x_table");
    close_file();
}

/* Rows beyond the table give an empty scan. */
Test(scan, ranges_beyond_the_table)
{
    static const uint64_t ranges[][2] = {
        {ROWS, 0}, {ROWS, 1}, {ROWS + 1, 5}, {UINT64_MAX, 0}, {UINT64_MAX, UINT64_MAX}};
    open_file(0);
    for (size_t i = 0; i < COUNT(ranges); i++) {
        pcol_scan_options o = PCOL_INIT(pcol_scan_options);
        pcol_scan *scan;
        pcol_batch batch = PCOL_INIT(pcol_batch);
        pcol_error err;
        o.first_row = ranges[i][0];
        o.row_count = ranges[i][1];
        MUST(pcol_scan_new(f.table, &o, &scan, &err));
        MUST(pcol_scan_next(scan, &batch, &err));
        cr_assert_eq(batch.rows, 0);
        pcol_scan_free(scan);
    }
    close_file();
}

/* The number of a row of a further table counts from 0. */
Test(scan, row_numbers_of_further_tables)
{
    open_file(0);
    pcol_condition c[2] = {{.op = PCOL_OP_GE, .type = PCOL_I64, .value.i64 = 0},
                           {.op = PCOL_OP_LT, .type = PCOL_I64, .value.i64 = 3}};
    pcol_scan_options o = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    const pcol_table *table;
    pcol_scan *scan;
    pcol_error err;
    o.where = c;
    o.where_count = 2;
    MUST(pcol_file_table_by_name(f.file, PCOL_MODEL_FURTHER, "x_table", &table, &err));
    MUST(pcol_scan_new(table, &o, &scan, &err));
    MUST(pcol_scan_next(scan, &batch, &err));
    cr_assert_eq(batch.rows, 3);
    for (int64_t i = 0; i < 3; i++)
        cr_assert_eq(batch.columns[0].i64[i], i);
    pcol_scan_free(scan);
    close_file();
}

/* The caller's conditions may change after the call. */
Test(scan, conditions_are_copied)
{
    char text[] = "main";
    pcol_condition c;
    pcol_scan_options o = PCOL_INIT(pcol_scan_options);
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err;
    open_file(0);
    c = (pcol_condition){
        .column = number_of(NAME), .type = PCOL_STRING, .value.str = {text, strlen(text)}};
    o.where = &c;
    o.where_count = 1;
    MUST(pcol_scan_new(f.table, &o, &scan, &err));
    memset(text, 'x', sizeof text - 1);
    memset(&c, 0xee, sizeof c);
    MUST(pcol_scan_next(scan, &batch, &err));
    cr_assert(batch.rows > 0);
    for (size_t i = 0; i < batch.rows; i++)
        cr_assert_eq(f.bits[NAME][batch.row_numbers[i]], 5);
    pcol_scan_free(scan);
    close_file();
}

/* ---- skipping: a damaged block that the conditions exclude is not read */

Test(scan, excluded_rows_are_not_read)
{
    pcol_condition c;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_scan_options o = PCOL_INIT(pcol_scan_options);
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_error err;
    uint32_t column;
    open_file(PCOL_WRITE_PLAIN);
    cr_assert_eq(pcol_column_describe(pcol_table_column(f.table, number_of(SIGNED)), &info, NULL),
                 PCOL_OK);
    ((uint8_t *)f.data)[info.values_offset + 8] ^= 1; /* fails if the column is verified */
    c = (pcol_condition){.column = number_of(ASCENDING), .type = PCOL_I64, .value.i64 = -1};
    column = number_of(SIGNED);
    o.columns = &column;
    o.column_count = 1;
    o.where = &c;
    o.where_count = 1;
    MUST(pcol_scan_new(f.table, &o, &scan, &err));
    MUST(pcol_scan_next(scan, &batch, &err));
    cr_assert_eq(batch.rows, 0);
    pcol_scan_free(scan);
    c.op = PCOL_OP_GE;
    MUST(pcol_scan_new(f.table, &o, &scan, &err));
    cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_E_CHECKSUM);
    cr_assert_eq(batch.rows, 0);
    cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_E_STATE);
    pcol_scan_free(scan);
    close_file();
}
