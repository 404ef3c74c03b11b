/*
 * sum_column.c - an example: map a pcol file and add up a column of integers, with nothing but
 * pcol.h
 *
 *     sum_column FILE [TABLE COLUMN]        default: samples value.0
 *
 * If the file stores the values as an array (every file packed with --plain), they are added up
 * where they are, without a copy; otherwise they are decoded in batches. Prints
 * "TABLE.COLUMN sum N rows N"; the sum is taken modulo 2^64, nulls are left out.
 */
#include <pcol.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BATCH 4096

static int fail(const char *path, const pcol_error *err)
{
    char place[192];
    pcol_error_place(err, place, sizeof place);
    fprintf(stderr, "sum_column: %s: %s%s%s\n", path, place, *place ? ": " : "", err->message);
    return 1;
}

/* Value number @row of an array of integers; they are little-endian and aligned. */
static uint64_t value_at(const pcol_buffer *buffer, uint64_t row)
{
    const uint8_t *at = (const uint8_t *)buffer->values + row * buffer->width_bytes;
    uint64_t value = 0;
    memcpy(&value, at, buffer->width_bytes);
    return value;
}

static uint64_t sum_in_place(const pcol_buffer *buffer)
{
    uint64_t sum = 0;
    for (uint64_t row = 0; row < buffer->rows; row++)
        if (!buffer->validity || (buffer->validity[row / 8] >> (row % 8) & 1))
            sum += value_at(buffer, row);
    return sum;
}

static pcol_status sum_in_batches(const pcol_column *column, uint64_t rows, uint64_t *sum,
                                  pcol_error *err)
{
    static int64_t values[BATCH];
    static uint8_t valid[BATCH];
    for (uint64_t row = 0; row < rows;) {
        size_t n = rows - row < BATCH ? (size_t)(rows - row) : BATCH;
        pcol_status status = pcol_column_read_i64(column, row, n, values, valid, err);
        if (status != PCOL_OK)
            return status;
        for (size_t i = 0; i < n; i++)
            if (valid[i])
                *sum += (uint64_t)values[i];
        row += n;
    }
    return PCOL_OK;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "";
    const char *table_name = argc > 3 ? argv[2] : "samples";
    const char *column_name = argc > 3 ? argv[3] : "value.0";
    pcol_file *file = NULL;
    const pcol_table *table;
    const pcol_column *column;
    pcol_buffer buffer;
    pcol_error err;
    uint64_t rows, sum = 0;
    int result = 1;

    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: sum_column FILE [TABLE COLUMN]\n");
        return 2;
    }
    if (pcol_file_open(path, NULL, &file, &err) != PCOL_OK)
        return fail(path, &err);
    if (pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, table_name, &table, &err) != PCOL_OK) {
        fail(path, &err);
        goto cleanup;
    }
    column = pcol_table_column_by_name(table, column_name, NULL);
    if (!column) {
        fprintf(stderr, "sum_column: %s: table %s has no column %s\n", path, table_name,
                column_name);
        goto cleanup;
    }
    rows = pcol_table_rows(table);
    if (pcol_column_data(column, &buffer, NULL) == PCOL_OK &&
        (buffer.type == PCOL_I64 || buffer.type == PCOL_U64 || buffer.type == PCOL_U32)) {
        sum = sum_in_place(&buffer);
    } else if (sum_in_batches(column, rows, &sum, &err) != PCOL_OK) {
        fail(path, &err);
        goto cleanup;
    }
    printf("%s.%s sum %" PRId64 " rows %" PRIu64 "\n", table_name, column_name, (int64_t)sum, rows);
    result = 0;
cleanup:
    pcol_file_close(file);
    return result;
}
