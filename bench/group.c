/*
 * group.c - time of group-by function within a process
 *
 *     group FILE REPEATS
 *
 * Repeats: open FILE, query self and total of each function, close. Prints two lines of JSON:
 * {"what": "sums"|"samples", "ms": median, "rows": functions, "total": their sum of self}.
 * "samples" selects source 1, which has all samples: then the query cannot use the sums of the file
 * and reads the stack and value of each sample, like a database.
 */
#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tests/result_cells.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static pcol_status ask(const char *path, int each, size_t *rows, int64_t *total, pcol_error *err)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_file *file;
    pcol_query *query = NULL;
    pcol_result *top = NULL;
    pcol_status status = pcol_file_open(path, NULL, &file, err);
    if (status != PCOL_OK)
        return status;
    selection.sample_type = "cpu";
    selection.source = each ? "1" : NULL;
    status = pcol_query_new(file, &selection, NULL, &query, err);
    if (status == PCOL_OK)
        status = pcol_query_top(query, NULL, &top, err);
    *total = 0;
    *rows = status == PCOL_OK ? result_rows(top) : 0;
    for (size_t i = 0; i < *rows; i++) {
        *total += result_amount(top, "self", i).i64;
    }
    pcol_result_free(top);
    pcol_query_free(query);
    pcol_file_close(file);
    return status;
}

int main(int argc, char **argv)
{
    long repeats = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    double *taken = repeats > 0 ? malloc((size_t)repeats * sizeof *taken) : NULL;
    if (!taken) {
        fprintf(stderr, "usage: group FILE REPEATS\n");
        return 2;
    }
    for (int each = 0; each < 2; each++) {
        size_t rows;
        int64_t total;
        for (long i = 0; i < repeats; i++) {
            pcol_error err;
            double start = now_ms();
            if (ask(argv[1], each, &rows, &total, &err) != PCOL_OK) {
                fprintf(stderr, "group: %s: %s\n", argv[1], err.message);
                free(taken);
                return 3;
            }
            taken[i] = now_ms() - start;
        }
        qsort(taken, (size_t)repeats, sizeof *taken, compare);
        printf("{\"what\": \"%s\", \"ms\": %.3f, \"rows\": %zu, \"total\": %lld}\n",
               each ? "samples" : "sums", taken[repeats / 2], rows, (long long)total);
    }
    free(taken);
    return 0;
}
