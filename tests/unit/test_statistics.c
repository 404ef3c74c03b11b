/*
 * test_statistics.c - block pruning, ranges of columns, rejected arguments of file and cell calls
 */
#include <criterion/criterion.h>

#include "image.h"

#include "builder/builder.h"
#include "model/column_range.h"
#include "model/time_overlap.h"

#include <stdlib.h>

/* ---- blocks that a condition excludes by their statistics */

#define COUNT 5000u

static uint64_t state = 7;

static uint64_t next_random(void)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return state >> 16;
}

enum { STEPS, BACK, SMALL_VALUES, WALK, WALK_BACK, SPREAD, WIDE, FAR, GAPS, KINDS };

/* Values of each shape of which the encodings are chosen by what they cost. */
static int64_t value_of(int kind, uint64_t row, int64_t before)
{
    switch (kind) {
    case STEPS:
        return (int64_t)row * 1000 - 700;
    case BACK:
        return 5000000 - (int64_t)row * 1000;
    case SMALL_VALUES:
        return (int64_t)(next_random() % 1000);
    case WALK:
        return before + 900 + (int64_t)(next_random() % 200);
    case WALK_BACK:
        return before - 900 - (int64_t)(next_random() % 200);
    case SPREAD:
        return (int64_t)(next_random() % 100) * 10000 + (int64_t)row * 4000000;
    case WIDE:
        return (int64_t)(next_random() << 20);
    case FAR: /* the ends of what there is */
        return row % 3 ? INT64_MAX - (int64_t)(row % 7) : INT64_MIN + (int64_t)(row % 5);
    default:
        return (int64_t)row / 1024 * 100000 + (int64_t)(next_random() % 50);
    }
}

static int nulls; /* how many of three rows are null in the middle of the column */

static int is_null(uint64_t row)
{
    return row % 3 < (uint64_t)nulls && (row / 700) % 2;
}

static uint32_t source_of(uint64_t row)
{
    return row < 2000 ? 0 : row % 2 + 1;
}

/* *data holds the file's bytes, freed with pcol_free() after it is closed. */
static pcol_file *file_of(int kind, unsigned flags, int64_t *values, void **data)
{
    pcol_builder *b;
    pcol_file *file;
    pcol_error err;
    size_t size;
    uint32_t table, column, of;
    MUST(pcol_builder_new(NULL, &b, &err));
    MUST(pcol_builder_table(b, "x_values", &table, &err));
    MUST(pcol_builder_column(b, table, "v", PCOL_I64, 0, &column, &err));
    MUST(pcol_builder_column(b, table, "of", PCOL_U32, 0, &of, &err));
    for (uint64_t row = 0; row < COUNT; row++) {
        values[row] = value_of(kind, row, row ? values[row - 1] : 0);
        if (!is_null(row))
            MUST(pcol_builder_set_i64(b, column, row, values[row], &err));
        if (source_of(row)) /* a null is the first source */
            MUST(pcol_builder_set_i64(b, of, row, source_of(row), &err));
    }
    MUST(pcol_builder_write_memory(b, flags, NULL, data, &size, &err));
    pcol_builder_free(b);
    MUST(pcol_file_open_memory(*data, size, NULL, &file, &err));
    return file;
}

static int is_there(const int64_t *values, uint64_t block, int64_t from, int64_t to)
{
    for (uint64_t row = block * 1024; row < (block + 1) * 1024 && row < COUNT; row++)
        if (values[row] >= from && values[row] < to)
            return 1;
    return 0;
}

/* A block that holds a value of the range is never passed over; some that hold none are. */
Test(reading, no_block_of_the_range_is_passed_over)
{
    int64_t *values = malloc(COUNT * sizeof *values);
    cr_assert_not_null(values);
    for (int kind = 0; kind < KINDS; kind++) {
        for (unsigned flags = 0; flags <= PCOL_WRITE_PLAIN; flags++) {
            void *data;
            pcol_file *file = file_of(kind, flags, values, &data);
            const struct pci_column *c = pci_column_find(pci_table_find(file, "x_values"), "v");
            unsigned passed_over = 0;
            for (int i = 0; i < 300; i++) {
                /* may wrap: a range that ends before it begins is asked for, too */
                uint64_t near = (uint64_t)values[next_random() % COUNT] + next_random() % 3 - 1;
                uint64_t end = near + 1 + (uint64_t)i * 50;
                int64_t from = (int64_t)near;
                int64_t to = i % 2 ? values[next_random() % COUNT] : (int64_t)end;
                for (uint64_t block = 0; block * 1024 < COUNT; block++) {
                    int meets = pci_block_meets(c->data, block, from, to);
                    cr_assert(meets || !is_there(values, block, from, to),
                              "%d: %llu in [%lld %lld)", kind, (unsigned long long)block,
                              (long long)from, (long long)to);
                    passed_over += !meets;
                }
            }
            if (flags == 0 && (kind == STEPS || kind == BACK || kind == WALK))
                cr_expect_gt(passed_over, 0, "%d %s", kind, "looks at everything");
            pcol_file_close(file);
            pcol_free(data);
        }
    }
    free(values);
}

/* A value of a rising or falling column with irregular steps is in one block; another one may hold
 * it by its bounds. */
Test(reading, few_blocks_of_irregular_steps_are_read)
{
    static int64_t values[COUNT];
    const int kinds[] = {STEPS, BACK, WALK, WALK_BACK};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        void *data;
        pcol_file *file = file_of(kinds[k], 0, values, &data);
        const struct pci_column *c = pci_column_find(pci_table_find(file, "x_values"), "v");
        for (uint64_t row = 0; row < COUNT; row++) {
            unsigned read = 0;
            for (uint64_t block = 0; block * 1024 < COUNT; block++)
                read += pci_block_meets(c->data, block, values[row], values[row] + 1) != 0;
            cr_assert(read == 1 || read == 2, "%d, row %llu: %u blocks", kinds[k],
                      (unsigned long long)row, read);
        }
        pcol_file_close(file);
        pcol_free(data);
    }
}

/* The smallest and largest value of all rows, and of the rows of one of three sources. */
static void expect_range(const pcol_file *file, const int64_t *values, int kind, unsigned flags)
{
    const struct pci_table *table = pci_table_find(file, "x_values");
    const struct pci_column *v = pci_column_find(table, "v"), *of = pci_column_find(table, "of");
    struct pci_column_range range;
    for (unsigned id = 0; id < 4; id++) { /* 3: all rows */
        int64_t min = INT64_MAX, max = INT64_MIN;
        for (uint64_t row = 0; row < COUNT; row++) {
            if (is_null(row) || (id < 3 && source_of(row) != id))
                continue;
            min = values[row] < min ? values[row] : min;
            max = values[row] > max ? values[row] : max;
        }
        cr_assert_eq(pci_column_range(file, v, id < 3 ? of : NULL, id, &range, NULL), PCOL_OK);
        cr_expect(range.min == min && range.max == max, "%d %u %u", kind, flags, id);
        cr_assert_eq(pci_column_bounds(file, v, &range, NULL), PCOL_OK);
        cr_expect(range.min <= min && range.max >= max, "bounds: %d %u", kind, flags);
    }
}

Test(reading, range_of_a_column)
{
    const unsigned modes[] = {0, PCOL_WRITE_PLAIN, PCOL_WRITE_ARCHIVE};
    int64_t *values = malloc(COUNT * sizeof *values);
    cr_assert_not_null(values);
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
            unsigned flags = modes[mode];
            for (nulls = 0; nulls < 3; nulls++) {
                void *data;
                pcol_file *file = file_of(kind, flags, values, &data);
                expect_range(file, values, kind, flags);
                pcol_file_close(file);
                pcol_free(data);
            }
        }
    }
    nulls = 0;
    free(values);
}

/* A block is passed over only if nothing in it can be meant: where sums wrap, or go beyond what was
 * worked out, it is read. */
Test(reading, blocks_without_information)
{
    struct pcf_data d = {.type = PCF_I64, .encoding = PCF_LINEAR, .rows = 3000, .step = 1};
    cr_expect_eq(pci_block_meets(&d, 1, 0, 1024), 0);
    cr_expect_eq(pci_block_meets(&d, 1, 2047, 3000), 1);
    cr_expect_eq(pci_block_meets(&d, 2, 2999, 4000), 1);
    cr_expect_eq(pci_block_meets(&d, 2, 3000, 4000), 0);
    d.base = INT64_MAX - 100; /* wraps */
    cr_expect_eq(pci_block_meets(&d, 0, 5, 6), 1);
    d.base = INT64_MIN;
    d.step = -1;
    cr_expect_eq(pci_block_meets(&d, 0, 5, 6), 1);
    d.base = 0;
    d.flags = PCF_COLUMN_DEFAULT_NULL;
    cr_expect_eq(pci_block_meets(&d, 0, 5, 6), 1);

    d = (struct pcf_data){.type = PCF_I64, .encoding = PCF_PACKED, .rows = 10, .scale = 10};
    d.width = 3; /* 0 to 70 */
    cr_expect_eq(pci_block_meets(&d, 0, 70, 71), 1);
    cr_expect_eq(pci_block_meets(&d, 0, 71, 72), 0);
    d.width = 64;
    cr_expect_eq(pci_block_meets(&d, 0, 71, 72), 1);
    d.width = 3;
    d.scale = UINT64_C(1) << 62;
    cr_expect_eq(pci_block_meets(&d, 0, -72, -71), 1);
}

/* ---- callers */

Test(reading, what_a_caller_leaves_out)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_error err = {0};
    pcol_file *file = (pcol_file *)&err;
    cr_expect_eq(pcol_file_open("x", NULL, NULL, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_file_open_memory("x", 1, NULL, NULL, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "pointer for the file handle is NULL");
    cr_expect_eq(pcol_file_open(NULL, NULL, &file, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "no path");
    cr_expect_null(file);
    cr_expect_eq(pcol_file_open_memory(NULL, 5, NULL, &file, &err), PCOL_E_ARGUMENT);
    cr_expect_str_eq(err.message, "no data");
    cr_expect_neq(pcol_file_open_memory(NULL, 0, NULL, &file, &err), PCOL_OK);
    options.size = 1;
    cr_expect_eq(pcol_file_open_memory("x", 1, &options, &file, &err), PCOL_E_ARGUMENT);
    options = (pcol_open_options)PCOL_INIT(pcol_open_options);
    options.flags = 1u << 30;
    cr_expect_eq(pcol_file_open_memory("x", 1, &options, &file, &err), PCOL_E_ARGUMENT);
    cr_expect_eq(pcol_file_open("/nowhere/at/all", NULL, &file, &err), PCOL_E_IO);
    cr_expect_eq(pcol_file_open("/", NULL, &file, &err), PCOL_E_IO);
    cr_expect_eq(pcol_file_open("/dev/null", NULL, &file, &err), PCOL_E_IO);
    pcol_file_close(NULL);
}

/* Each way of asking for a cell that is not there, or as what it is not. */
Test(reading, cells_that_are_not_there)
{
    struct image image = image_build(0);
    pcol_file *file;
    const pcol_table *table;
    pcol_error err;
    pcol_buffer buffer;
    pcol_scan *scan;
    pcol_str text;
    double number;
    int64_t value;
    int valid;
    MUST(image_open(&image, &file, &err));
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "things", &table, &err));
    for (int k = 0; k < COLUMNS; k++) {
        const pcol_column *c = pcol_table_column_by_name(table, image_columns[k], NULL);
        pcol_status as_text = k == STRING || k == OWN ? PCOL_OK : PCOL_E_ARGUMENT;
        pcol_status as_number = as_text == PCOL_OK ? PCOL_E_ARGUMENT : PCOL_OK;
        cr_expect_eq(pcol_column_i64(c, ROWS, &value, &valid, &err), PCOL_E_ARGUMENT);
        cr_expect_eq(pcol_column_str(c, ROWS, &text, &valid, &err), PCOL_E_ARGUMENT);
        cr_expect_eq(pcol_column_f64(c, UINT64_MAX, &number, &valid, &err), PCOL_E_ARGUMENT);
        cr_expect_eq(pcol_column_str(c, 0, &text, NULL, &err), as_text);
        cr_expect_eq(pcol_column_f64(c, 0, &number, NULL, &err), as_number);
        cr_expect_eq(pcol_column_i64(c, 0, &value, NULL, &err),
                     k == DOUBLE ? PCOL_E_ARGUMENT : as_number);
        (void)!pcol_column_data(c, &buffer, &err);
    }
    cr_expect_null(pcol_table_column_by_name(table, "nothing", NULL));
    cr_expect_neq(pcol_file_table_by_name(file, PCOL_MODEL_V2, "nothing", &table, &err), PCOL_OK);
    MUST(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "things", &table, &err));
    cr_expect_eq(pcol_scan_new(table,
                               &(pcol_scan_options){.size = sizeof(pcol_scan_options),
                                                    .first_row = ROWS,
                                                    .row_count = 5},
                               &scan, &err),
                 PCOL_OK);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    MUST(pcol_scan_next(scan, &batch, &err));
    cr_expect_eq(batch.rows, 0);
    pcol_scan_free(scan);
    pcol_file_close(file);
    free(image.bytes);
}
