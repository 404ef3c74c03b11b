/*
 * open_cell.c - time of opening a file and reading one cell
 *
 *     open_cell FILE REPEATS
 *
 * Repeats: open FILE, read the stack of the middle sample, close. Prints the medians in
 * nanoseconds: of closing, and, as the last word of the line, of opening and reading.
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

static pcol_status read_cell(const char *path, pcol_file **file, int64_t *value, pcol_error *err)
{
    const pcol_table *table;
    const pcol_column *column;
    pcol_status status = pcol_file_open(path, NULL, file, err);
    if (status != PCOL_OK)
        return status;
    status = pcol_file_table_by_name(*file, PCOL_MODEL_PHYSICAL, "samples", &table, err);
    if (status == PCOL_OK) {
        column = pcol_table_column_by_name(table, "stack", NULL);
        if (column)
            status = pcol_column_i64(column, pcol_table_rows(table) / 2, value, NULL, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    long repeats = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    long long *taken = repeats > 0 ? malloc((size_t)repeats * 2 * sizeof *taken) : NULL;
    long long *closing = taken + (repeats > 0 ? repeats : 0);
    int64_t value = 0;
    if (!taken) {
        fprintf(stderr, "usage: open_cell FILE REPEATS\n");
        return 2;
    }
    for (long i = 0; i < repeats; i++) {
        pcol_file *file = NULL;
        pcol_error err;
        long long start = now_ns();
        pcol_status status = read_cell(argv[1], &file, &value, &err);
        taken[i] = now_ns() - start;
        pcol_file_close(file);
        closing[i] = now_ns() - start - taken[i];
        if (status != PCOL_OK) {
            fprintf(stderr, "open_cell: %s: %s\n", argv[1], err.message);
            free(taken);
            return 3;
        }
    }
    qsort(taken, (size_t)repeats, sizeof *taken, compare);
    qsort(closing, (size_t)repeats, sizeof *closing, compare);
    printf("stack %lld, closing %lld, median ns %lld\n", (long long)value, closing[repeats / 2],
           taken[repeats / 2]);
    free(taken);
    return 0;
}
