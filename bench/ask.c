/*
 * ask.c - CPU time of Perun queries within a process
 *
 *     ask FILE
 *
 * For each query of bench/perun_query.py: open FILE, run the query, read all rows in blocks, close.
 * Prints the median of five runs in seconds, and the query.
 */
#include <pcol.h>
#include <pcol_perun.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TIMES 5

static const struct question {
    const char *name;
    pcol_question question;
    int flat, numeric, unique;
    const char *path, *group;
} questions[] = {
    {"cat -t resources --format ndjson", PCOL_ASK_RESOURCES, 0, 0, 0, NULL, NULL},
    {"cat -t resources --flat", PCOL_ASK_RESOURCES, 1, 0, 0, NULL, NULL},
    {"perun items", PCOL_ASK_ITEMS, 0, 0, 0, NULL, NULL},
    {"perun fields", PCOL_ASK_FIELDS, 0, 0, 0, NULL, NULL},
    {"perun fields --numeric", PCOL_ASK_FIELDS, 0, 1, 0, NULL, NULL},
    {"perun values --path uid:function", PCOL_ASK_VALUES, 0, 0, 0, "uid:function", NULL},
    {"perun values --path uid:function --unique", PCOL_ASK_VALUES, 0, 0, 1, "uid:function", NULL},
    {"perun values --path trace::function", PCOL_ASK_VALUES, 0, 0, 0, "trace::function", NULL},
    {"perun values --path trace::function --unique", PCOL_ASK_VALUES, 0, 0, 1, "trace::function",
     NULL},
    {"perun snapshots", PCOL_ASK_SNAPSHOTS, 0, 0, 0, NULL, NULL},
    {"perun flame", PCOL_ASK_FLAME, 0, 0, 0, NULL, NULL},
    {"perun models --group model", PCOL_ASK_MODELS, 0, 0, 0, NULL, "model"},
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static pcol_status drain(const pcol_file *file, const struct question *q, pcol_error *err)
{
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_answers *answers;
    pcol_answer_block block = PCOL_INIT(pcol_answer_block);

    options.all_rows = 1;
    options.flat = q->flat;
    options.numeric = q->numeric;
    options.unique = q->unique;
    options.path = q->path;
    options.group = q->group;
    pcol_status status = pcol_ask(file, q->question, &options, &answers, err);
    if (status != PCOL_OK)
        return status;
    do
        status = pcol_answers_block(answers, &block, err);
    while (status == PCOL_OK && block.rows != 0);
    pcol_answers_free(answers);
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: ask FILE\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        double seconds[TIMES];
        for (int n = 0; n < TIMES; n++) {
            pcol_file *file;
            pcol_error err;
            double start = now();
            pcol_status status = pcol_file_open(argv[1], NULL, &file, &err);
            if (status == PCOL_OK) {
                status = drain(file, &questions[i], &err);
                pcol_file_close(file);
            }
            if (status != PCOL_OK) {
                fprintf(stderr, "ask: %s: %s\n", argv[1], err.message);
                return 1;
            }
            seconds[n] = now() - start;
        }
        qsort(seconds, TIMES, sizeof *seconds, compare);
        printf("%.6f\t%s\n", seconds[TIMES / 2], questions[i].name);
    }
    return 0;
}
