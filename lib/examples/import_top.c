/*
 * import_top.c - an example: print the functions with the highest values of any profile
 *
 *     import_top FILE [ROWS]        default: 10 rows
 *
 * Columns: self, total, share of self, name.
 */
#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>

static pcol_status number(const pcol_table *table, const char *column, uint64_t row, double *value,
                          pcol_error *err)
{
    return pcol_column_f64(pcol_table_column_by_name(table, column, NULL), row, value, NULL, err);
}

static pcol_status print_rows(const pcol_result *top, uint64_t most, pcol_error *err)
{
    const pcol_table *table = pcol_result_table(top);
    pcol_result_info info = PCOL_INIT(pcol_result_info);
    pcol_status status = pcol_result_describe(top, &info, err);
    double sum =
        (info.flags & PCOL_RESULT_IS_DOUBLE) ? info.total[1].f64 : (double)info.total[1].i64;

    if (status == PCOL_OK)
        printf("%.*s/%.*s\n", (int)info.type.size, info.type.data, (int)info.unit.size,
               info.unit.data);
    for (uint64_t row = 0; status == PCOL_OK && row < pcol_table_rows(table) && row < most; row++) {
        double self, total;
        pcol_str name;
        status = number(table, "self", row, &self, err);
        if (status == PCOL_OK)
            status = number(table, "total", row, &total, err);
        if (status == PCOL_OK)
            status = pcol_column_str(pcol_table_column_by_name(table, "name", NULL), row, &name,
                                     NULL, err);
        if (status == PCOL_OK)
            printf("%.15g\t%.15g\t%.1f%%\t%.*s\n", self, total, sum != 0 ? 100 * self / sum : 0,
                   (int)name.size, name.data);
    }
    return status;
}

int main(int argc, char **argv)
{
    pcol_file *file = NULL;
    pcol_query *query = NULL;
    pcol_result *top = NULL;
    pcol_error err;
    pcol_status status;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: import_top FILE [ROWS]\n");
        return 2;
    }
    status = pcol_open_any_path(argv[1], NULL, &file, &err);
    if (status == PCOL_OK)
        status = pcol_query_new(file, NULL, NULL, &query, &err);
    if (status == PCOL_OK)
        status = pcol_query_top(query, NULL, &top, &err);
    if (status == PCOL_OK)
        status = print_rows(top, argc == 3 ? strtoull(argv[2], NULL, 10) : 10, &err);
    if (status != PCOL_OK)
        fprintf(stderr, "import_top: %s: %s\n", argv[1], err.message);
    pcol_result_free(top);
    pcol_query_free(query);
    pcol_file_close(file);
    return status != PCOL_OK;
}
