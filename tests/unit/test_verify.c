/*
 * test_verify.c - which reads verify the checksums of a column's sections
 *
 * A file has a column with a section above 4 MiB and one with a small section; one bit in the last
 * row of each is flipped. The number of rows read decides whether the damage is detected.
 */
#include "image.h"
#include "pcol.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { LARGE_ROWS = 1 << 20, SMALL_ROWS = 5000, BATCH = 1024 };

struct damaged {
    uint8_t *bytes;
    size_t size;
    pcol_file *file;
    const pcol_table *table;
    const pcol_column *column;
};

/* A table of one plain column, `value`; its last byte is flipped. */
static struct damaged open_damaged(uint64_t rows, unsigned flags)
{
    struct damaged d = {0};
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_builder *builder;
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    uint32_t table, column;
    pcol_error err;
    void *data;
    MUST(pcol_builder_new(NULL, &builder, &err));
    MUST(pcol_builder_table(builder, "x_table", &table, &err));
    MUST(pcol_builder_column(builder, table, "value", PCOL_I64, 0, &column, &err));
    for (uint64_t row = 0; row < rows; row++)
        MUST(pcol_builder_set_i64(builder, column, row, (int64_t)row, &err));
    MUST(pcol_builder_write_memory(builder, PCOL_WRITE_PLAIN, NULL, &data, &d.size, &err));
    pcol_builder_free(builder);
    d.bytes = data;
    options.flags = flags;
    MUST(pcol_file_open_memory(d.bytes, d.size, &options, &d.file, &err));
    MUST(pcol_file_table_by_name(d.file, PCOL_MODEL_PHYSICAL, "x_table", &d.table, &err));
    d.column = pcol_table_column(d.table, 0);
    cr_assert_eq(pcol_column_describe(d.column, &info, NULL), PCOL_OK);
    cr_assert_eq(info.values_bytes, 8 * rows);
    d.bytes[info.values_offset + info.values_bytes - 1] ^= 0x40;
    return d;
}

static void close_damaged(struct damaged *d)
{
    pcol_file_close(d->file);
    pcol_free(d->bytes);
}

/* What the calls that read the column whole give. */
static void read_whole(const struct damaged *d, uint64_t rows, pcol_status expected)
{
    int64_t *values = malloc(rows * sizeof *values);
    pcol_buffer buffer;
    pcol_scan *scan;
    pcol_error err;
    cr_assert_eq(pcol_column_read_i64(d->column, 0, rows, values, NULL, &err), expected);
    cr_assert_eq(pcol_column_verify(d->column, &err), expected);
    cr_assert_eq(pcol_column_data(d->column, &buffer, &err), expected);
    cr_assert_eq(pcol_scan_new(d->table, NULL, &scan, &err), expected);
    pcol_scan_free(scan);
    if (expected != PCOL_OK) {
        cr_assert_str_eq(err.table, "x_table");
        cr_assert_str_eq(err.column, "value");
    }
    free(values);
}

Test(verify, cells_are_not_verified)
{
    for (int i = 0; i < 2; i++) {
        uint64_t rows = i ? LARGE_ROWS : SMALL_ROWS;
        struct damaged d = open_damaged(rows, 0);
        pcol_error err;
        int64_t value;
        double number;
        MUST(pcol_column_i64(d.column, 7, &value, NULL, &err));
        cr_assert_eq(value, 7);
        MUST(pcol_column_f64(d.column, 8, &number, NULL, &err));
        cr_assert_eq(number, 8);
        read_whole(&d, rows, PCOL_E_CHECKSUM);
        MUST(pcol_column_i64(d.column, 9, &value, NULL, &err));
        close_damaged(&d);
    }
}

Test(verify, ranges_verify_small_sections)
{
    struct damaged d = open_damaged(SMALL_ROWS, 0);
    pcol_error err;
    int64_t value;
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    cr_assert_eq(pcol_column_read_i64(d.column, 0, 1, &value, NULL, &err), PCOL_E_CHECKSUM);
    MUST(pcol_scan_new(
        d.table,
        &(pcol_scan_options){.size = sizeof(pcol_scan_options), .first_row = 3, .row_count = 1},
        &scan, &err));
    cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_E_CHECKSUM);
    pcol_scan_free(scan);
    close_damaged(&d);
}

Test(verify, ranges_leave_large_sections_up_to_a_tenth)
{
    struct damaged d = open_damaged(LARGE_ROWS, 0);
    static int64_t values[LARGE_ROWS / 10 + 1];
    pcol_error err;
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    MUST(pcol_column_read_i64(d.column, 5, 1, values, NULL, &err));
    cr_assert_eq(values[0], 5);
    MUST(pcol_scan_new(
        d.table,
        &(pcol_scan_options){.size = sizeof(pcol_scan_options), .first_row = 3, .row_count = 10},
        &scan, &err));
    MUST(pcol_scan_next(scan, &batch, &err));
    cr_assert_eq(batch.columns[0].i64[0], 3);
    pcol_scan_free(scan);
    cr_assert_eq(pcol_column_read_i64(d.column, 5, LARGE_ROWS / 10, values, NULL, &err),
                 PCOL_E_CHECKSUM);
    close_damaged(&d);
    d = open_damaged(LARGE_ROWS, 0);
    MUST(pcol_scan_new(d.table,
                       &(pcol_scan_options){.size = sizeof(pcol_scan_options),
                                            .first_row = 3,
                                            .row_count = LARGE_ROWS / 10},
                       &scan, &err));
    cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_E_CHECKSUM);
    pcol_scan_free(scan);
    close_damaged(&d);
}

/* Batch by batch, as programs read a column: the error comes before the tenth is passed. */
Test(verify, ranges_are_added_up)
{
    struct damaged d = open_damaged(LARGE_ROWS, 0);
    static int64_t values[BATCH];
    pcol_error err;
    uint64_t row = 0;
    while (row < LARGE_ROWS / 10 - BATCH) {
        MUST(pcol_column_read_i64(d.column, row, BATCH, values, NULL, &err));
        row += BATCH;
    }
    cr_assert_eq(pcol_column_read_i64(d.column, row, BATCH, values, NULL, &err), PCOL_E_CHECKSUM);
    close_damaged(&d);
}

Test(verify, not_in_a_file_opened_unverified)
{
    struct damaged d = open_damaged(SMALL_ROWS, PCOL_OPEN_UNVERIFIED);
    pcol_error err;
    uint64_t faults;
    read_whole(&d, SMALL_ROWS, PCOL_OK);
    MUST(pcol_file_check(d.file, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &err));
    cr_assert(faults > 0);
    close_damaged(&d);
}

/* What check has read is not read again: both take their outcome from one place. */
Test(verify, results_of_check_are_kept)
{
    struct damaged d = open_damaged(SMALL_ROWS, 0);
    pcol_error err;
    uint64_t faults;
    MUST(pcol_file_check(d.file, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &err));
    cr_assert(faults > 0);
    read_whole(&d, SMALL_ROWS, PCOL_E_CHECKSUM);
    close_damaged(&d);
}
