/*
 * open_cell.c - how long opening a file and reading one cell takes
 *
 *     open_cell FILE REPEATS
 *
 * Opens FILE, reads the stack of the sample in the middle, closes it, REPEATS times, and prints the
 * median in nanoseconds as the last word of a line.
 */
#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

static pcol_status read_cell(const char *path, int64_t *value, pcol_error *err)
{
    pcol_file *file;
    const pcol_table *table;
    const pcol_column *column;
    pcol_status status = pcol_file_open(path, NULL, &file, err);
    if (status != PCOL_OK)
        return status;
    status = pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, err);
    if (status == PCOL_OK) {
        column = pcol_table_column_by_name(table, "stack", NULL);
        if (column)
            status = pcol_column_i64(column, pcol_table_rows(table) / 2, value, NULL, err);
    }
    pcol_file_close(file);
    return status;
}

int main(int argc, char **argv)
{
    long repeats = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    long long *taken = repeats > 0 ? malloc((size_t)repeats * sizeof *taken) : NULL;
    int64_t value = 0;
    if (!taken) {
        fprintf(stderr, "usage: open_cell FILE REPEATS\n");
        return 2;
    }
    for (long i = 0; i < repeats; i++) {
        pcol_error err;
        long long start = now_ns();
        if (read_cell(argv[1], &value, &err) != PCOL_OK) {
            fprintf(stderr, "open_cell: %s: %s\n", argv[1], err.message);
            free(taken);
            return 3;
        }
        taken[i] = now_ns() - start;
    }
    qsort(taken, (size_t)repeats, sizeof *taken, compare);
    printf("stack %lld, median ns %lld\n", (long long)value, taken[repeats / 2]);
    free(taken);
    return 0;
}
