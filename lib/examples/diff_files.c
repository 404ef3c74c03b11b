/*
 * diff_files.c - an example: what changed between two profiles, function by function
 *
 *     diff_files BASE NEW
 *
 * Columns: change of self, self in BASE, self in NEW, name; the greatest change first. The exit
 * code is 1 if a function changed.
 */
#include <pcol.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int is_text(const pcol_cells *cells)
{
    return cells->type == PCOL_STRING || cells->type == PCOL_BYTES;
}

static void print_cell(const pcol_cells *cells, size_t row)
{
    if (!cells->valid[row])
        printf("-");
    else if (is_text(cells))
        printf("%.*s", (int)cells->str[row].size, cells->str[row].data);
    else if (cells->type == PCOL_F64)
        printf("%g", cells->f64[row]);
    else
        printf("%" PRId64, cells->i64[row]);
}

/* A result is a table like those of a file: this prints the rows whose self changed. */
static pcol_status print_changes(const pcol_table *table, uint64_t *changed, pcol_error *err)
{
    static const char *const names[] = {"self_delta", "self_base", "self_new", "name"};
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_condition has_changed;
    pcol_scan *scan;
    uint32_t columns[4];
    pcol_status status;

    for (int i = 0; i < 4; i++)
        if (!pcol_table_column_by_name(table, names[i], &columns[i]))
            return pcol_error_set(err, PCOL_E_NOT_FOUND, 0, "no column %s", names[i]);
    memset(&has_changed, 0, sizeof has_changed);
    has_changed.column = columns[0];
    has_changed.op = PCOL_OP_NE;
    has_changed.type = PCOL_I64;
    options.columns = columns;
    options.column_count = 4;
    options.where = &has_changed;
    options.where_count = 1;
    status = pcol_scan_new(table, &options, &scan, err);
    while (status == PCOL_OK) {
        status = pcol_scan_next(scan, &batch, err);
        if (status != PCOL_OK || !batch.rows)
            break;
        *changed += batch.rows;
        for (size_t row = 0; row < batch.rows; row++)
            for (uint32_t i = 0; i < 4; i++) {
                print_cell(&batch.columns[i], row);
                putchar(i < 3 ? '\t' : '\n');
            }
    }
    pcol_scan_free(scan);
    return status;
}

int main(int argc, char **argv)
{
    pcol_file *files[2] = {NULL, NULL};
    pcol_query *queries[2] = {NULL, NULL};
    pcol_result *diff = NULL;
    uint64_t changed = 0;
    pcol_error err;
    pcol_status status = PCOL_OK;

    if (argc != 3) {
        fprintf(stderr, "usage: diff_files BASE NEW\n");
        return 2;
    }
    for (int i = 0; i < 2 && status == PCOL_OK; i++) {
        status = pcol_open_any_path(argv[1 + i], NULL, &files[i], &err);
        if (status == PCOL_OK)
            status = pcol_query_new(files[i], NULL, NULL, &queries[i], &err);
    }
    if (status == PCOL_OK)
        status = pcol_diff(queries[0], queries[1], NULL, &diff, &err);
    if (status == PCOL_OK)
        status = print_changes(pcol_result_table(diff), &changed, &err);
    if (status != PCOL_OK)
        fprintf(stderr, "diff_files: %s\n", err.message);
    pcol_result_free(diff);
    for (int i = 0; i < 2; i++) {
        pcol_query_free(queries[i]);
        pcol_file_close(files[i]);
    }
    return status != PCOL_OK ? 2 : changed != 0;
}
