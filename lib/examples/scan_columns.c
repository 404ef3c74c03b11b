/*
 * scan_columns.c - an example: read two columns of the rows that satisfy a condition
 *
 *     scan_columns FILE MINIMUM
 *
 * Prints sample_id and value of each row of sample_values whose value is at least MINIMUM.
 */
#include <pcol.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_batch(const pcol_batch *batch)
{
    const pcol_cells *id = &batch->columns[0], *value = &batch->columns[1];
    for (size_t i = 0; i < batch->rows; i++)
        if (value->type == PCOL_F64)
            printf("%" PRId64 "\t%g\n", id->i64[i], value->f64[i]);
        else
            printf("%" PRId64 "\t%" PRId64 "\n", id->i64[i], value->i64[i]);
}

static pcol_status print_rows(const pcol_table *table, double minimum, pcol_error *err)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_condition at_least;
    pcol_scan *scan;
    uint32_t columns[2];
    pcol_status status;

    if (!pcol_table_column_by_name(table, "sample_id", &columns[0]) ||
        !pcol_table_column_by_name(table, "value", &columns[1]))
        return pcol_error_set(err, PCOL_E_NOT_FOUND, 0, "no columns sample_id and value");
    memset(&at_least, 0, sizeof at_least);
    at_least.column = columns[1];
    at_least.op = PCOL_OP_GE;
    at_least.type = PCOL_F64; /* also compares exactly with columns of integers */
    at_least.value.f64 = minimum;
    options.columns = columns;
    options.column_count = 2;
    options.where = &at_least;
    options.where_count = 1;
    status = pcol_scan_new(table, &options, &scan, err);
    while (status == PCOL_OK) {
        status = pcol_scan_next(scan, &batch, err);
        if (status != PCOL_OK || !batch.rows)
            break;
        print_batch(&batch);
    }
    pcol_scan_free(scan);
    return status;
}

int main(int argc, char **argv)
{
    pcol_file *file = NULL;
    const pcol_table *table;
    pcol_error err;
    pcol_status status;

    if (argc != 3) {
        fprintf(stderr, "usage: scan_columns FILE MINIMUM\n");
        return 2;
    }
    status = pcol_open_any_path(argv[1], NULL, &file, &err);
    if (status == PCOL_OK)
        status = pcol_file_table_by_name(file, PCOL_MODEL_V2, "sample_values", &table, &err);
    if (status == PCOL_OK)
        status = print_rows(table, strtod(argv[2], NULL), &err);
    if (status != PCOL_OK)
        fprintf(stderr, "scan_columns: %s: %s\n", argv[1], err.message);
    pcol_file_close(file);
    return status != PCOL_OK;
}
