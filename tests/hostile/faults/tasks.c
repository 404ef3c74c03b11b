/*
 * tasks.c - what a program may ask of the library (tasks.h)
 *
 * Packed files are opened in every way, read, checked, asked, compared, drawn, filtered and
 * exported; all files are imported.
 */
#include "tasks.h"
#include "pcol_perun.h"

#include <string.h>

#define MAX_ROWS 4096u

uint64_t task_made;
int task_reported;

static void digest(const void *data, size_t size)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++)
        task_made = (task_made ^ p[i]) * UINT64_C(0x100000001b3);
}

static pcol_status take(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context, (void)err;
    digest(data, size);
    return PCOL_OK;
}

static const pcol_sink sink = {take, NULL};

#define TRY(expression)                   \
    do {                                  \
        pcol_status status_ = expression; \
        if (status_ != PCOL_OK)           \
            return status_;               \
    } while (0)

/* Whether this ends a task: only a lack of memory does. Other errors of a file, or its loss, are
 * part of the result and must occur each time. */
static int out_of_memory(pcol_status status)
{
    digest(&status, sizeof status);
    task_reported |= status == PCOL_E_CORRUPT || status == PCOL_E_IO;
    return status == PCOL_E_NO_MEMORY;
}

#define TRY_MEMORY(expression)         \
    do {                               \
        if (out_of_memory(expression)) \
            return PCOL_E_NO_MEMORY;   \
    } while (0)

/* ---- reading */

static pcol_status scan(const pcol_table *table, pcol_error *err)
{
    pcol_scan *s;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_status status;
    TRY(pcol_scan_new(
        table, &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = MAX_ROWS}, &s,
        err));
    do
        status = pcol_scan_next(s, &batch, err);
    while (status == PCOL_OK && batch.rows);
    pcol_scan_free(s);
    return status;
}

/* Cells of a column at once, all if they are not many. */
static pcol_status read_column(const pcol_column *column, uint64_t rows, pcol_error *err)
{
    static double numbers[MAX_ROWS];
    static int64_t integers[MAX_ROWS];
    static pcol_str texts[MAX_ROWS];
    static uint8_t valid[MAX_ROWS];
    size_t n = rows < MAX_ROWS ? (size_t)rows : MAX_ROWS;
    TRY_MEMORY(pcol_column_read_str(column, 0, n, texts, valid, err));
    TRY_MEMORY(pcol_column_read_f64(column, 0, n, numbers, valid, err));
    TRY_MEMORY(pcol_column_read_i64(column, 0, n, integers, valid, err));
    return PCOL_OK;
}

static pcol_status read_table(const pcol_table *table, pcol_error *err)
{
    uint64_t rows = pcol_table_rows(table);
    TRY_MEMORY(scan(table, err));
    for (uint32_t i = 0; rows && i < pcol_table_column_count(table); i++) {
        const pcol_column *column = pcol_table_column(table, i);
        pcol_str text;
        double number;
        int64_t integer;
        int valid;
        TRY_MEMORY(pcol_column_str(column, rows - 1, &text, &valid, err));
        TRY_MEMORY(pcol_column_f64(column, rows - 1, &number, &valid, err));
        TRY_MEMORY(pcol_column_i64(column, rows - 1, &integer, &valid, err));
        TRY(read_column(column, rows, err));
    }
    return PCOL_OK;
}

static pcol_status read_models(const pcol_file *file, pcol_error *err)
{
    for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_PHYSICAL; model++) {
        uint32_t count = pcol_file_table_count(file, (pcol_model)model);
        for (uint32_t i = 0; i < count; i++) {
            const pcol_table *table;
            pcol_status status = pcol_file_table(file, (pcol_model)model, i, &table, err);
            TRY_MEMORY(status);
            if (status == PCOL_OK)
                TRY(read_table(table, err));
        }
    }
    return PCOL_OK;
}

static pcol_status open_in(const char *path, unsigned flags, pcol_error *err)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *file;
    options.flags = flags;
    TRY(pcol_file_open(path, &options, &file, err));
    pcol_status status = read_models(file, err);
    if (status == PCOL_OK)
        status = pcol_file_intact(file, err);
    pcol_file_close(file);
    return status;
}

static pcol_status do_read(const struct task *task, pcol_error *err)
{
    return open_in(task->path, 0, err);
}

static pcol_status do_read_copy(const struct task *task, pcol_error *err)
{
    return open_in(task->path, PCOL_OPEN_COPY, err);
}

static pcol_status do_read_guard(const struct task *task, pcol_error *err)
{
    return open_in(task->path, PCOL_OPEN_GUARD, err);
}

static pcol_status check_file(const pcol_file *file, pcol_error *err)
{
    uint64_t faults;
    for (int depth = PCOL_CHECK_QUICK; depth <= PCOL_CHECK_STRICT; depth++) {
        TRY(pcol_file_check(file, (pcol_check_depth)depth, NULL, NULL, NULL, &faults, err));
        digest(&faults, sizeof faults);
        task_reported |= faults != 0;
    }
    return PCOL_OK;
}

/* ---- questions */

static pcol_status ask_flame(pcol_query *query, pcol_query *base, pcol_error *err)
{
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    pcol_result *flame;
    options.base = base;
    options.flags = base != NULL ? PCOL_FLAME_REVERSE : 0;
    TRY(pcol_query_flame(query, &options, &flame, err));
    pcol_status status = pcol_flame_svg(flame, "title", sink, err);
    pcol_result_free(flame);
    return status;
}

static pcol_status ask_top(pcol_query *query, pcol_by by, pcol_error *err)
{
    pcol_result *top;
    pcol_top_options options = {
        .size = sizeof options, .by = by, .label = by == PCOL_BY_LABEL ? "k" : NULL};
    TRY(pcol_query_top(query, &options, &top, err));
    pcol_result_free(top);
    return PCOL_OK;
}

static pcol_status ask_tree(pcol_query *query, int bottom_up, pcol_error *err)
{
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    pcol_result *tree;
    options.flags = bottom_up ? PCOL_TREE_BOTTOM_UP : 0;
    TRY(pcol_query_tree(query, &options, &tree, err));
    pcol_result_free(tree);
    return PCOL_OK;
}

static pcol_status ask_peek(pcol_query *query, pcol_error *err)
{
    pcol_result *peek;
    TRY(pcol_query_peek(query, ".", NULL, &peek, err));
    pcol_result_free(peek);
    return PCOL_OK;
}

static pcol_status ask_cpu(pcol_query *query, pcol_error *err)
{
    pcol_result *cpu;
    TRY(pcol_query_cpu(query, &cpu, err));
    pcol_result_free(cpu);
    return PCOL_OK;
}

static pcol_status ask_diff(pcol_query *base, pcol_query *query, int by_stack, pcol_error *err)
{
    pcol_diff_options options = PCOL_INIT(pcol_diff_options);
    pcol_result *diff;
    options.by = by_stack ? PCOL_BY_STACK : PCOL_BY_FUNCTION;
    TRY(pcol_diff(base, query, &options, &diff, err));
    pcol_result_free(diff);
    return PCOL_OK;
}

/* The names of functions, and the locations of stacks. */
static pcol_status ask_names(const pcol_file *file, pcol_error *err)
{
    pcol_names *names;
    const pcol_table *table;
    TRY(pcol_names_new(file, &names, err));
    pcol_status status =
        pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "functions", &table, err);
    for (uint64_t row = 0; status == PCOL_OK && row < pcol_table_rows(table) && row < 64; row++) {
        pcol_str name;
        int valid;
        status = pcol_names_function(names, row, &name, &valid, err);
        if (status == PCOL_OK)
            digest(name.data, name.size);
    }
    if (status == PCOL_OK)
        status = pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "locations", &table, err);
    for (uint64_t row = 0; status == PCOL_OK && row < pcol_table_rows(table) && row < 64; row++) {
        pcol_str name;
        status = pcol_names_location(names, row, &name, err);
        if (status == PCOL_OK)
            digest(name.data, name.size);
    }
    pcol_names_free(names);
    if (status == PCOL_OK)
        status = pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "stacks", &table, err);
    for (uint64_t row = 0; status == PCOL_OK && row < pcol_table_rows(table) && row < 16; row++) {
        uint32_t locations[64];
        size_t depth;
        status = pcol_stack_locations(file, row, locations, 64, &depth, err);
        digest(&depth, sizeof depth);
    }
    return status;
}

static pcol_status ask_all(pcol_query *query, pcol_query *part, pcol_error *err)
{
    for (int by = PCOL_BY_FUNCTION; by <= PCOL_BY_LABEL; by++)
        TRY_MEMORY(ask_top(query, (pcol_by)by, err));
    for (int way = 0; way < 2; way++) {
        TRY_MEMORY(ask_tree(query, way, err));
        TRY_MEMORY(ask_diff(query, part, way, err));
        TRY_MEMORY(ask_flame(query, way ? part : NULL, err));
    }
    TRY_MEMORY(ask_peek(query, err));
    TRY_MEMORY(ask_cpu(query, err));
    return PCOL_OK;
}

static pcol_status ask_file(const pcol_file *file, pcol_error *err)
{
    pcol_selection some = PCOL_INIT(pcol_selection);
    pcol_query *query, *part;
    some.has_time = 1;
    some.time_to_ns = 1000000000;
    some.focus = "[a-m]";
    some.hide = "z";
    TRY_MEMORY(ask_names(file, err));
    TRY(pcol_query_new(file, NULL, NULL, &query, err));
    pcol_status status = pcol_query_new(file, &some, NULL, &part, err);
    if (!out_of_memory(status))
        status = ask_all(query, part ? part : query, err);
    pcol_query_free(part);
    pcol_query_free(query);
    return status;
}

static pcol_status ask_question(const pcol_file *file, pcol_question question, int flat,
                                pcol_error *err)
{
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_answers *answers;
    const pcol_answer *cells;
    pcol_status status;
    options.flat = options.numeric = options.unique = flat;
    options.all_rows = 1;
    options.path = "uid";
    options.filter = "best-model";
    TRY(pcol_ask(file, question, &options, &answers, err));
    do
        status = pcol_answers_next(answers, &cells, err);
    while (status == PCOL_OK && cells);
    pcol_answers_free(answers);
    return status;
}

static pcol_status questions(const pcol_file *file, pcol_error *err)
{
    for (int question = 0; question <= PCOL_ASK_PLOT; question++)
        for (int flat = 0; flat < 2; flat++)
            TRY_MEMORY(ask_question(file, (pcol_question)question, flat, err));
    return PCOL_OK;
}

/* ---- writing */

static pcol_status write_builder(pcol_builder *builder, pcol_status status, unsigned flags,
                                 pcol_error *err)
{
    if (status == PCOL_OK)
        status = pcol_builder_write(builder, flags, NULL, sink, err);
    pcol_builder_free(builder);
    return status;
}

static pcol_status filter_file(const pcol_file *file, pcol_error *err)
{
    for (int idle = PCOL_IDLE_KEEP; idle <= PCOL_IDLE_EXPAND; idle++) {
        pcol_filter_options options = PCOL_INIT(pcol_filter_options);
        pcol_selection selection = PCOL_INIT(pcol_selection);
        pcol_builder *builder;
        selection.ignore = "[n-p]";
        options.selection = &selection;
        options.idle = (pcol_idle)idle;
        TRY(pcol_builder_new(NULL, &builder, err));
        pcol_status status = pcol_filter(builder, file, &options, err);
        TRY_MEMORY(write_builder(builder, status, 0, err));
    }
    return PCOL_OK;
}

static pcol_status import(const struct task *task, unsigned flags, pcol_error *err)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    options.format = task->format;
    TRY(pcol_builder_new(NULL, &builder, err));
    pcol_status status =
        pcol_import_memory(builder, task->bytes, task->size, task->path, &options, err);
    if (status == PCOL_OK && flags) /* into what is there already */
        status = pcol_import_memory(builder, task->bytes, task->size, "again", &options, err);
    return write_builder(builder, status, flags, err);
}

static pcol_status do_import(const struct task *task, pcol_error *err)
{
    return import(task, 0, err);
}

static pcol_status do_import_twice(const struct task *task, pcol_error *err)
{
    return import(task, PCOL_WRITE_ARCHIVE, err);
}

/* ---- tasks over an open file */

static pcol_status with_file(const struct task *task,
                             pcol_status (*run)(const pcol_file *, pcol_error *), pcol_error *err)
{
    pcol_file *file;
    TRY(pcol_file_open_memory(task->bytes, task->size, NULL, &file, err));
    pcol_status status = run(file, err);
    pcol_file_close(file);
    return status;
}

static pcol_status do_check(const struct task *task, pcol_error *err)
{
    return with_file(task, check_file, err);
}

static pcol_status do_ask(const struct task *task, pcol_error *err)
{
    return with_file(task, ask_file, err);
}

static pcol_status do_questions(const struct task *task, pcol_error *err)
{
    return with_file(task, questions, err);
}

static pcol_status do_filter(const struct task *task, pcol_error *err)
{
    return with_file(task, filter_file, err);
}

static pcol_status do_export(const struct task *task, pcol_error *err)
{
    pcol_file *file;
    TRY(pcol_file_open_memory(task->bytes, task->size, NULL, &file, err));
    pcol_status status = pcol_export(file, task->format, NULL, sink, err);
    pcol_file_close(file);
    return status;
}

/* ---- all */

void tasks_each(const char *path, const uint8_t *bytes, size_t size,
                void (*each)(const struct task *task))
{
    struct task task = {path, "import", NULL, do_import, bytes, size};
    each(&task);
    task.what = "import twice";
    task.run = do_import_twice;
    each(&task);
    if (size < 8 || memcmp(bytes, "\x89PCOL", 5) != 0)
        return;
    static const struct {
        const char *what;
        pcol_status (*run)(const struct task *, pcol_error *);
    } over_packed[] = {
        {"read", do_read},    {"read a copy", do_read_copy}, {"read guarded", do_read_guard},
        {"check", do_check},  {"queries", do_ask},           {"questions", do_questions},
        {"filter", do_filter}};
    for (size_t i = 0; i < sizeof over_packed / sizeof *over_packed; i++) {
        task.what = over_packed[i].what;
        task.run = over_packed[i].run;
        each(&task);
    }
    task.what = "export";
    task.run = do_export;
    for (size_t i = 0; pcol_format_at(i); i++) {
        task.format = pcol_format_at(i)->name;
        if (pcol_format_at(i)->writes)
            each(&task);
    }
}
