/*
 * readers.c - eight threads that do everything at once with one pcol_file:
 * readers FILE... [--damaged FILE...]
 *
 * Each task (all cells of all tables of a model, checks, queries, exports, questions) gives a
 * number computed from all its results. One thread alone, with its own handle, computes the
 * expected numbers. Then, round by round, a fresh handle is shared by threads that begin together
 * and do the tasks in orders of their own, so that what the library makes on first use is first
 * used by several. Every number must be the same, errors with their messages and rows included;
 * ThreadSanitizer, where the program is built with it, looks for the rest. A file after --damaged
 * may be rejected at open instead. The last line is "N passed, N failed".
 */
#include "pcol.h"
#include "pcol_perun.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../result_cells.h"

enum { THREADS = 8, ROUNDS = 3, MAX_FORMATS = 32 };

/* ---- numbers made of answers */

static void add(uint64_t *sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        *sum = (*sum ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static void add_number(uint64_t *sum, uint64_t number)
{
    add(sum, &number, sizeof number);
}

/* The last error of this thread. */
static _Thread_local pcol_error failure;

static void add_status(uint64_t *sum, pcol_status status)
{
    add_number(sum, (uint64_t)status);
    if (status == PCOL_OK)
        return;
    add(sum, failure.message, strlen(failure.message));
    add_number(sum, failure.row);
}

static pcol_status add_output(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)err;
    add(context, data, size);
    return PCOL_OK;
}

/* ---- tasks */

static void add_cells(uint64_t *sum, const pcol_cells *cells, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        add_number(sum, cells->valid[i]);
        if (cells->type == PCOL_F64)
            add(sum, &cells->f64[i], sizeof cells->f64[i]);
        else if (cells->type == PCOL_STRING || cells->type == PCOL_BYTES)
            add(sum, cells->str[i].data, cells->str[i].size);
        else if (cells->type == PCOL_LIST)
            add_number(sum, cells->list[i + 1] - cells->list[i]);
        else
            add_number(sum, (uint64_t)cells->i64[i]);
    }
}

static void scan_table(uint64_t *sum, const pcol_table *table)
{
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_status status = pcol_scan_new(table, NULL, &scan, &failure);
    add_status(sum, status);
    if (status != PCOL_OK)
        return;
    while ((status = pcol_scan_next(scan, &batch, &failure)) == PCOL_OK && batch.rows)
        for (uint32_t i = 0; i < batch.column_count; i++)
            add_cells(sum, &batch.columns[i], batch.rows);
    add_status(sum, status);
    pcol_scan_free(scan);
}

/* Single cells, and the column in place. */
static void pick_cells(uint64_t *sum, const pcol_table *table)
{
    uint64_t rows = pcol_table_rows(table);
    for (uint32_t i = 0; i < pcol_table_column_count(table); i++) {
        const pcol_column *column = pcol_table_column(table, i);
        pcol_buffer buffer;
        pcol_str text;
        int64_t value;
        int valid;
        for (uint64_t row = 0; row < rows; row += rows / 7 + 1) {
            if (pcol_column_i64(column, row, &value, &valid, &failure) == PCOL_OK)
                add_number(sum, (uint64_t)value);
            if (pcol_column_str(column, row, &text, &valid, &failure) == PCOL_OK)
                add(sum, text.data, text.size);
        }
        add_status(sum, pcol_column_data(column, &buffer, &failure));
    }
}

static uint64_t read_model(const pcol_file *file, int model)
{
    uint64_t sum = 1;
    for (uint32_t i = 0; i < pcol_file_table_count(file, (pcol_model)model); i++) {
        const pcol_table *table;
        pcol_status status = pcol_file_table(file, (pcol_model)model, i, &table, &failure);
        add_status(&sum, status);
        if (status != PCOL_OK)
            continue;
        scan_table(&sum, table);
        pick_cells(&sum, table);
    }
    return sum;
}

static void describe_column(uint64_t *sum, const pcol_column *column)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_status status = pcol_column_describe(column, &info, &failure);
    add_status(sum, status);
    if (status != PCOL_OK)
        return;
    add(sum, info.name, strlen(info.name));
    add(sum, info.encoding, strlen(info.encoding));
    add(sum, info.codec, strlen(info.codec));
    add_number(sum, info.null_count);
    add_number(sum, info.bytes);
    add_number(sum, info.values_offset);
    add_number(sum, info.values_bytes);
    add_number(sum, info.validity_offset);
    add_number(sum, info.data_offset);
    add_number(sum, info.data_bytes);
    add_number(sum, info.width_bits);
}

/* The descriptions of all columns, which read none of them: those that others read meanwhile. */
static uint64_t describe_model(const pcol_file *file, int model)
{
    uint64_t sum = 8;
    for (uint32_t i = 0; i < pcol_file_table_count(file, (pcol_model)model); i++) {
        const pcol_table *table;
        pcol_status status = pcol_file_table(file, (pcol_model)model, i, &table, &failure);
        add_status(&sum, status);
        for (uint32_t k = 0; status == PCOL_OK && k < pcol_table_column_count(table); k++)
            describe_column(&sum, pcol_table_column(table, k));
    }
    return sum;
}

static uint64_t check_file(const pcol_file *file, int depth)
{
    uint64_t sum = 2, faults = 0;
    add_status(&sum,
               pcol_file_check(file, (pcol_check_depth)depth, NULL, NULL, NULL, &faults, &failure));
    add_number(&sum, faults);
    return sum;
}

static uint64_t export_file(const pcol_file *file, int format)
{
    uint64_t sum = 3;
    pcol_sink sink = {add_output, &sum};
    add_status(&sum, pcol_export(file, pcol_format_at((size_t)format)->name, NULL, sink, &failure));
    return sum;
}

static void add_top(uint64_t *sum, pcol_query *query, int by)
{
    pcol_result *top;
    pcol_top_options options = {
        .size = sizeof options, .by = (pcol_by)by, .label = by == PCOL_BY_LABEL ? "bytes" : NULL};
    pcol_status status = pcol_query_top(query, &options, &top, &failure);
    add_status(sum, status);
    if (status != PCOL_OK)
        return;
    for (size_t i = 0; i < result_rows(top); i++) {
        pcol_amount self = result_amount(top, "self", i), total = result_amount(top, "total", i);
        add(sum, &self, sizeof self);
        add(sum, &total, sizeof total);
    }
    pcol_result_free(top);
}

static void add_tree(uint64_t *sum, pcol_query *query, int bottom_up)
{
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    pcol_result *tree;
    options.flags = bottom_up ? PCOL_TREE_BOTTOM_UP : 0;
    pcol_status status = pcol_query_tree(query, &options, &tree, &failure);
    add_status(sum, status);
    if (status != PCOL_OK)
        return;
    for (uint32_t i = 0; i < result_rows(tree); i++) {
        pcol_amount total = result_amount(tree, "total", i);
        add_number(sum, (uint64_t)result_amount(tree, "end", i).i64);
        add(sum, &total, sizeof total);
    }
    pcol_result_free(tree);
}

static void add_flame(uint64_t *sum, pcol_query *query)
{
    pcol_result *flame;
    pcol_sink sink = {add_output, sum};
    pcol_status status = pcol_query_flame(query, NULL, &flame, &failure);
    add_status(sum, status);
    if (status != PCOL_OK)
        return;
    add_status(sum, pcol_flame_svg(flame, "x", sink, &failure));
    pcol_result_free(flame);
}

static void add_rest(uint64_t *sum, pcol_query *query)
{
    pcol_result *peek;
    pcol_result *diff;
    pcol_result *cpu;
    if (pcol_query_peek(query, "a", NULL, &peek, &failure) == PCOL_OK)
        pcol_result_free(peek);
    if (pcol_query_cpu(query, &cpu, &failure) == PCOL_OK)
        pcol_result_free(cpu);
    pcol_status status = pcol_diff(query, query, NULL, &diff, &failure);
    add_status(sum, status);
    if (status == PCOL_OK)
        add_number(sum, result_rows(diff));
    pcol_result_free(status == PCOL_OK ? diff : NULL);
}

/* part: 0 everything, 1 a selection. */
static uint64_t query_file(const pcol_file *file, int part)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_query *query;
    uint64_t sum = 4;
    selection.ignore = part ? "^[b-f]" : NULL;
    pcol_status status = pcol_query_new(file, &selection, NULL, &query, &failure);
    add_status(&sum, status);
    if (status != PCOL_OK)
        return sum;
    for (int by = PCOL_BY_FUNCTION; by <= PCOL_BY_LABEL; by++)
        add_top(&sum, query, by);
    add_tree(&sum, query, 0);
    add_tree(&sum, query, 1);
    add_flame(&sum, query);
    add_rest(&sum, query);
    pcol_query_free(query);
    return sum;
}

/* A part of the file, packed: the same bytes from every thread. */
static uint64_t filter_file(const pcol_file *file, int unused)
{
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_builder *builder;
    void *bytes = NULL;
    size_t size = 0;
    uint64_t sum = 5;
    (void)unused;
    selection.ignore = "^[m-p]";
    options.selection = &selection;
    if (pcol_builder_new(NULL, &builder, &failure) != PCOL_OK)
        return sum;
    pcol_status status = pcol_filter(builder, file, &options, &failure);
    add_status(&sum, status);
    if (status == PCOL_OK &&
        pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, &failure) == PCOL_OK)
        add(&sum, bytes, size);
    pcol_free(bytes);
    pcol_builder_free(builder);
    return sum;
}

static uint64_t ask_file(const pcol_file *file, int question)
{
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_answers *answers;
    const pcol_answer *cells;
    uint64_t sum = 6;
    options.flat = options.all_rows = 1;
    options.path = "uid";
    options.filter = "best-model";
    pcol_status status = pcol_ask(file, (pcol_question)question, &options, &answers, &failure);
    add_status(&sum, status);
    if (status != PCOL_OK)
        return sum;
    while (pcol_answers_next(answers, &cells, &failure) == PCOL_OK && cells)
        add_number(&sum, (uint64_t)cells[0].kind);
    pcol_answers_free(answers);
    return sum;
}

/* ---- the list of them */

struct task {
    uint64_t (*run)(const pcol_file *file, int what);
    int what;
    uint64_t right;
};

static struct task tasks[MAX_FORMATS + 32];
static size_t task_count;

static void add_tasks(uint64_t (*run)(const pcol_file *, int), int from, int to)
{
    for (int what = from; what <= to; what++)
        tasks[task_count++] = (struct task){run, what, 0};
}

static void list_tasks(void)
{
    add_tasks(read_model, PCOL_MODEL_V2, PCOL_MODEL_PHYSICAL);
    add_tasks(describe_model, PCOL_MODEL_V2, PCOL_MODEL_FURTHER);
    add_tasks(check_file, PCOL_CHECK_DEFAULT, PCOL_CHECK_STRICT);
    for (int i = 0; i < MAX_FORMATS && pcol_format_at((size_t)i); i++)
        if (pcol_format_at((size_t)i)->writes)
            add_tasks(export_file, i, i);
    add_tasks(query_file, 0, 1);
    add_tasks(filter_file, 0, 0);
    add_tasks(ask_file, PCOL_ASK_RESOURCES, PCOL_ASK_PLOT);
}

/* ---- threads */

struct worker {
    const pcol_file *file;
    pthread_barrier_t *start;
    size_t first, step; /* its order of the tasks */
    size_t wrong;
};

static void *work(void *context)
{
    struct worker *worker = context;
    pthread_barrier_wait(worker->start);
    for (size_t i = 0; i < task_count; i++) {
        const struct task *task = &tasks[(worker->first + i * worker->step) % task_count];
        worker->wrong += task->run(worker->file, task->what) != task->right;
    }
    return NULL;
}

/* Half of the threads go forwards, half backwards, from different tasks; in the first round all
 * from the same. */
static size_t one_round(const pcol_file *file, int number)
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    pthread_barrier_t start;
    size_t wrong = 0;
    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){file, &start, (size_t)number * i * 5 % task_count,
                                     number && i % 2 ? task_count - 1 : 1, 0};
        if (pthread_create(&threads[i], NULL, work, &workers[i]))
            exit(2);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += workers[i].wrong;
    }
    pthread_barrier_destroy(&start);
    return wrong;
}

static size_t all_rounds(const char *path, int damaged)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *alone, *shared;
    size_t wrong = 0;
    if (pcol_file_open(path, NULL, &alone, NULL) != PCOL_OK)
        return !damaged;
    for (size_t i = 0; i < task_count; i++)
        tasks[i].right = tasks[i].run(alone, tasks[i].what);
    pcol_file_close(alone);
    for (int i = 0; i < ROUNDS; i++) {
        options.flags = i % 2 ? PCOL_OPEN_GUARD : 0;
        options.archive_bytes = (uint64_t)i; /* blocks of archives come and go from the second on */
        if (pcol_file_open(path, &options, &shared, NULL) != PCOL_OK)
            return 1;
        wrong += one_round(shared, i);
        wrong += pcol_file_intact(shared, NULL) != PCOL_OK;
        pcol_file_close(shared);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0, damaged = 0;
    list_tasks();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--damaged") == 0) {
            damaged = 1;
            continue;
        }
        size_t wrong = all_rounds(argv[i], damaged);
        if (wrong)
            printf("FAIL %s: %zu tasks gave something else with other threads\n", argv[i], wrong);
        failed += wrong != 0;
        passed += wrong == 0;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
