/*
 * verify.c - cost of verifying checksums while reading a packed file
 *
 *     verify FILE
 *
 * For each operation: open FILE, read, close, alternating with and without PCOL_OPEN_UNVERIFIED.
 * Prints the medians of five runs in seconds of CPU time, verified and unverified, and the
 * operation.
 */
#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TIMES 5

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static pcol_status scan(const pcol_file *file, pcol_error *err)
{
    const pcol_table *table;
    pcol_scan *rows = NULL;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_status status = pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, err);
    if (status == PCOL_OK)
        status = pcol_scan_new(table, NULL, &rows, err);
    do
        status = status == PCOL_OK ? pcol_scan_next(rows, &batch, err) : status;
    while (status == PCOL_OK && batch.rows);
    pcol_scan_free(rows);
    return status;
}

static pcol_status top(const pcol_file *file, pcol_by by, const char *focus, pcol_error *err)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_query *query;
    pcol_result *answer = NULL;
    pcol_top_options options = PCOL_INIT(pcol_top_options);
    selection.focus = focus;
    pcol_status status = pcol_query_new(file, &selection, NULL, &query, err);
    if (status != PCOL_OK)
        return status;
    options.by = by;
    status = pcol_query_top(query, &options, &answer, err);
    pcol_result_free(answer);
    pcol_query_free(query);
    return status;
}

static pcol_status top_focus(const pcol_file *file, pcol_error *err)
{
    return top(file, PCOL_BY_FUNCTION, "f1", err);
}

static pcol_status top_thread(const pcol_file *file, pcol_error *err)
{
    return top(file, PCOL_BY_THREAD, NULL, err);
}

static pcol_status ignore(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

static pcol_status export_pprof(const pcol_file *file, pcol_error *err)
{
    pcol_sink sink = {ignore, NULL};
    return pcol_export(file, "pprof", NULL, sink, err);
}

static const struct {
    const char *name;
    pcol_status (*run)(const pcol_file *file, pcol_error *err);
} operations[] = {{"scan of all columns of samples", scan},
                  {"top of a focus", top_focus},
                  {"top by thread", top_thread},
                  {"export to pprof", export_pprof}};

static double timed(const char *path, size_t operation, unsigned flags)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *file = NULL;
    pcol_error err;
    double start = cpu_seconds();
    options.flags = flags;
    pcol_status status = pcol_file_open(path, &options, &file, &err);
    if (status == PCOL_OK)
        status = operations[operation].run(file, &err);
    pcol_file_close(file);
    if (status != PCOL_OK) {
        fprintf(stderr, "verify: %s: %s: %s\n", path, operations[operation].name, err.message);
        exit(3);
    }
    return cpu_seconds() - start;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: verify FILE\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        double verified[TIMES], unverified[TIMES];
        timed(argv[1], i, 0); /* warm the caches */
        for (int k = 0; k < TIMES; k++) {
            verified[k] = timed(argv[1], i, 0);
            unverified[k] = timed(argv[1], i, PCOL_OPEN_UNVERIFIED);
        }
        qsort(verified, TIMES, sizeof *verified, compare);
        qsort(unverified, TIMES, sizeof *unverified, compare);
        printf("%.6f %.6f %s\n", verified[TIMES / 2], unverified[TIMES / 2], operations[i].name);
        fflush(stdout);
    }
    return 0;
}
