/*
 * memory.c - every allocation of the library fails, and every reading of a value, within one process
 *
 *     memory [-n MOST] [-p 1] [-s SEED] FILE...
 *
 * What a program may ask of the library is asked of each file: packed files are opened in every
 * way, read, checked, asked, compared, drawn, filtered and exported; all files are imported. Each
 * of that is done once to count its allocations, then again with allocation 1, 2, 3, ... failing,
 * once alone and once with all after it. The answer is then PCOL_E_NO_MEMORY or what it was without
 * the failure, the bytes written included; never another error, and under ASan never a leak.
 * -n looks at that many allocations of one task at most, chosen by the seed. The commands are tried
 * likewise, from outside, by `run`; here a failure costs microseconds, so that all of them are met.
 *
 * A mapped file may be changed while it is read. So the same is done with the calls that read values
 * of an open file (linked with --wrap): call 1, 2, 3, ... says that it found damage. The task then
 * fails, or reports the damage, or gives what it gave without it; never another answer.
 *
 * Whoever changes a file may also put values there that are none of it: call 1, 2, 3, ... gives -1, 0, the
 * greatest number, one more, or a null that was none. What is then answered may be wrong, but is an answer or
 * an error, in time that the file's size allows, and nothing crashes.
 *
 * With -p a failure happens once at each place: a call with the calls that led to it, in whatever task and
 * file it was met first. So all ways out of the library are gone, in a fraction of the time.
 */
#include "core/alloc.h"
#include "decode.h"
#include "pcol.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_SECONDS 30 /* of CPU time, for one case */
#define MAX_ROWS 4096u
#define MAX_FRAMES 24
#define MAX_CALLS (1u << 20) /* of which a task's places are kept */

enum { ALLOCATIONS, READINGS, LIES, KINDS };
enum { LIE_ALL_BITS, LIE_ZERO, LIE_GREATEST, LIE_ONE_MORE, LIE_NULL, LIE_COUNT };

struct task {
    const char *path;
    const char *what;
    const char *format; /* to export to or import from, or NULL */
    pcol_status (*run)(const struct task *task, pcol_error *err);
    const uint8_t *bytes;
    size_t size;
};

static unsigned long seen, at, from;
static int kind;         /* what is counted and fails */
static int lie;          /* what is said in place of the value */
static int is_reported;  /* damage was told of, and passed over */
static uint64_t written; /* digest of what the task made */
static uint64_t state = 1;
static unsigned long most = 1000000;
static unsigned long passed, failed;

/* ---- places: where the calls of a task came from, and which of them have failed already */

static int of_places;
static uint64_t *calls, *known; /* by call of the task; a table of those that are done */
static size_t known_count, known_capacity;

static uint64_t place(void)
{
    void *frames[MAX_FRAMES];
    int count = backtrace(frames, MAX_FRAMES);
    uint64_t hash = (uint64_t)kind + 1;
    for (int i = 0; i < count; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32 ? hash ^ hash >> 32 : 1;
}

static size_t find(uint64_t key)
{
    size_t slot = (size_t)key & (known_capacity - 1);
    while (known[slot] && known[slot] != key)
        slot = (slot + 1) & (known_capacity - 1);
    return slot;
}

static int grow(void)
{
    uint64_t *before = known;
    size_t capacity = known_capacity;
    known_capacity = capacity ? 2 * capacity : 4096;
    known = calloc(known_capacity, sizeof *known);
    if (!known)
        return 0;
    for (size_t i = 0; i < capacity; i++)
        if (before[i])
            known[find(before[i])] = before[i];
    free(before);
    return 1;
}

/* Whether this place is met for the first time. */
static int is_new(uint64_t key)
{
    if (2 * known_count >= known_capacity && !grow())
        return 0;
    size_t slot = find(key);
    int is = !known[slot];
    known[slot] = key;
    known_count += (size_t)is;
    return is;
}

static int is_next(void)
{
    if (of_places && !at && !from && seen < MAX_CALLS)
        calls[seen] = place();
    seen++;
    return seen == at || (from && seen >= from);
}

static int fails(void)
{
    return kind == ALLOCATIONS && is_next();
}

static int is_damaged(void)
{
    return kind == READINGS && is_next();
}

/* ---- readings */

static void tell_lie(int64_t *value, int *valid)
{
    const int64_t lies[] = {-1, 0, INT64_MAX, (int64_t)((uint64_t)*value + 1), *value};
    *value = lies[lie];
    if (lie == LIE_NULL)
        *valid = !*valid;
}

enum pcf_result __real_pcf_get(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid);
enum pcf_result __wrap_pcf_get(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid);
enum pcf_result __real_pcf_read(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values, uint8_t *valid);
enum pcf_result __wrap_pcf_read(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values, uint8_t *valid);
enum pcf_result __real_pcf_get_bytes(const struct pcf_data *d, uint64_t row, const uint8_t **bytes,
                                     uint64_t *size, int *valid);
enum pcf_result __wrap_pcf_get_bytes(const struct pcf_data *d, uint64_t row, const uint8_t **bytes,
                                     uint64_t *size, int *valid);

enum pcf_result __wrap_pcf_get(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid)
{
    if (is_damaged())
        return PCF_BAD_VALUE;
    enum pcf_result result = __real_pcf_get(d, row, value, valid);
    if (kind == LIES && is_next() && result == PCF_OK)
        tell_lie(value, valid);
    return result;
}

/* The first and the last value lie. */
enum pcf_result __wrap_pcf_read(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values, uint8_t *valid)
{
    if (is_damaged())
        return PCF_BAD_VALUE;
    enum pcf_result result = __real_pcf_read(d, row, count, values, valid);
    if (kind == LIES && is_next() && result == PCF_OK && count)
        for (uint64_t i = 0; i<count; i += count> 1 ? count - 1 : 1) {
            int is = valid ? valid[i] : 1;
            tell_lie(&values[i], &is);
            if (valid)
                valid[i] = (uint8_t)is;
        }
    return result;
}

/* Bytes that are not there would be a lie of the format's own room. */
enum pcf_result __wrap_pcf_get_bytes(const struct pcf_data *d, uint64_t row, const uint8_t **bytes,
                                     uint64_t *size, int *valid)
{
    if (is_damaged())
        return PCF_BAD_OFFSET;
    enum pcf_result result = __real_pcf_get_bytes(d, row, bytes, size, valid);
    if (kind == LIES && is_next() && result == PCF_OK) {
        *size = lie == LIE_ONE_MORE ? *size / 2 : 0;
        *valid = lie == LIE_NULL ? !*valid : *valid;
    }
    return result;
}

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void digest(const void *data, size_t size)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++)
        written = (written ^ p[i]) * UINT64_C(0x100000001b3);
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

/* Whether this ends a task: no memory does; what a file refuses for a reason of its own is passed
 * over, and has to be refused every time. */
static int out_of_memory(pcol_status status)
{
    digest(&status, sizeof status);
    is_reported |= status == PCOL_E_CORRUPT;
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
    pcol_batch batch;
    pcol_status status;
    TRY(pcol_scan_new(table, NULL, 0, 0, MAX_ROWS, &s, err));
    do
        status = pcol_scan_next(s, &batch, err);
    while (status == PCOL_OK && batch.rows);
    pcol_scan_free(s);
    return status;
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
        TRY(pcol_file_check(file, (pcol_check_depth)depth, NULL, NULL, &faults, err));
        digest(&faults, sizeof faults);
        is_reported |= faults != 0;
    }
    return PCOL_OK;
}

/* ---- questions */

static pcol_status ask_flame(const pcol_query *query, const pcol_query *base, pcol_error *err)
{
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    pcol_flame *flame;
    options.base = base;
    options.reverse = base != NULL;
    TRY(pcol_query_flame(query, &options, &flame, err));
    pcol_status status = pcol_flame_svg(flame, "title", sink, err);
    pcol_flame_free(flame);
    return status;
}

static pcol_status ask_top(const pcol_query *query, pcol_by by, pcol_error *err)
{
    pcol_top *top;
    TRY(pcol_query_top(query, by, by == PCOL_BY_LABEL ? "k" : NULL, PCOL_ORDER_SELF, &top, err));
    pcol_top_free(top);
    return PCOL_OK;
}

static pcol_status ask_tree(const pcol_query *query, int bottom_up, pcol_error *err)
{
    pcol_calltree_options options = PCOL_INIT(pcol_calltree_options);
    pcol_calltree *tree;
    options.bottom_up = bottom_up;
    TRY(pcol_query_calltree(query, &options, &tree, err));
    pcol_calltree_free(tree);
    return PCOL_OK;
}

static pcol_status ask_peek(const pcol_query *query, pcol_error *err)
{
    pcol_peek *peek;
    TRY(pcol_query_peek(query, ".", &peek, err));
    pcol_peek_free(peek);
    return PCOL_OK;
}

static pcol_status ask_cpu(const pcol_query *query, pcol_error *err)
{
    pcol_cpu *cpu;
    TRY(pcol_query_cpu(query, &cpu, err));
    pcol_cpu_free(cpu);
    return PCOL_OK;
}

static pcol_status ask_diff(const pcol_query *base, const pcol_query *query, int by_stack,
                            pcol_error *err)
{
    pcol_diff_options options = PCOL_INIT(pcol_diff_options);
    pcol_diff *diff;
    options.by_stack = by_stack;
    TRY(pcol_diff_new(base, query, &options, &diff, err));
    pcol_diff_free(diff);
    return PCOL_OK;
}

static pcol_status ask_all(const pcol_query *query, const pcol_query *part, pcol_error *err)
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
    TRY(pcol_query_new(file, NULL, &query, err));
    pcol_status status = pcol_query_new(file, &some, &part, err);
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
        status = pcol_builder_write(builder, flags, sink, err);
    pcol_builder_free(builder);
    return status;
}

static pcol_status filter_file(const pcol_file *file, pcol_error *err)
{
    for (int idle = PCOL_IDLE_KEEP; idle <= PCOL_IDLE_EXPAND; idle++) {
        pcol_filter_options options = PCOL_INIT(pcol_filter_options);
        pcol_builder *builder;
        options.selection = (pcol_selection)PCOL_INIT(pcol_selection);
        options.selection.ignore = "[n-p]";
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

/* ---- failing */

static pcol_error last; /* of the case */

static pcol_status once(const struct task *task, unsigned long fail_at, unsigned long fail_from)
{
    pcol_error err = {0};
    seen = 0;
    written = 0;
    is_reported = 0;
    at = fail_at;
    from = fail_from;
    pcol_status status = task->run(task, &err);
    at = from = 0;
    last = err;
    /* What is returned and what the error says are one. */
    return status != PCOL_OK && err.status != status ? PCOL_E_ARGUMENT : status;
}

/* Whether that is how a task may end whose allocation, or reading, failed. */
static int may_be(pcol_status status, int same)
{
    if (same)
        return 1;
    return kind == LIES       ? 1
           : kind == READINGS ? (status != PCOL_OK && status != PCOL_E_NO_MEMORY) || is_reported
                              : status == PCOL_E_NO_MEMORY;
}

/* A case that does not come to an end is named. */
static char current[256];

static void too_long(int signal)
{
    (void)signal;
    (void)!write(2, current, strlen(current));
    _exit(3);
}

static void set_clock(int seconds)
{
    struct itimerval time = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &time, NULL);
}

/* One failure: alone, or with all after it. */
static void fail_once(const struct task *task, unsigned long n, unsigned long count, int sticky,
                      pcol_status good, uint64_t made)
{
    snprintf(current, sizeof current, "FAIL %.100s: %s %s, kind %d %d at %lu of %lu: too long\n",
             task->path, task->what, task->format ? task->format : "", kind, lie, n, count);
    set_clock(MAX_SECONDS);
    pcol_status status = once(task, sticky ? 0 : n, sticky ? n : 0);
    set_clock(0);
    if (status != PCOL_E_ARGUMENT && may_be(status, status == good && written == made)) {
        passed++;
        return;
    }
    if (kind == LIES && status == good) { /* what a builder refuses as an argument */
        passed++;
        return;
    }
    static const char *const kinds[] = {"allocation", "reading", "lie"};
    failed++;
    fprintf(stderr, "FAIL %s: %s%s%s, %s %s%lu of %lu: %s (%s), not %s\n", task->path, task->what,
            task->format ? " " : "", task->format ? task->format : "", kinds[kind],
            sticky ? "from " : "", n, count, pcol_status_name(status), last.message,
            pcol_status_name(good));
}

static void sweep_one_kind(const struct task *task)
{
    int ways = kind == LIES ? LIE_COUNT : 2;
    pcol_status good = once(task, 0, 0);
    uint64_t made = written;
    unsigned long count = seen < MAX_CALLS || !of_places ? seen : MAX_CALLS;
    for (unsigned long n = 1; n <= count; n++) {
        if (of_places ? !is_new(calls[n - 1]) : count > most && next_random() % count >= most)
            continue;
        for (lie = 0; lie < ways; lie++)
            fail_once(task, n, count, kind != LIES && lie, good, made);
    }
}

static void sweep(const struct task *task)
{
    for (kind = 0; kind < KINDS; kind++)
        sweep_one_kind(task);
    kind = ALLOCATIONS;
}

static void all_tasks(const char *path, const uint8_t *bytes, size_t size)
{
    struct task task = {path, "import", NULL, do_import, bytes, size};
    sweep(&task);
    task.what = "import twice";
    task.run = do_import_twice;
    sweep(&task);
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
        sweep(&task);
    }
    task.what = "export";
    task.run = do_export;
    for (size_t i = 0; pcol_format_at(i); i++) {
        task.format = pcol_format_at(i)->name;
        if (pcol_format_at(i)->writes)
            sweep(&task);
    }
}

static int sweep_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    long size;
    uint8_t *bytes;
    if (!stream || fseek(stream, 0, SEEK_END) || (size = ftell(stream)) < 0) {
        perror(path);
        return 2;
    }
    rewind(stream);
    bytes = malloc(size ? (size_t)size : 1);
    if (!bytes || fread(bytes, 1, (size_t)size, stream) != (size_t)size) {
        perror(path);
        return 2;
    }
    fclose(stream);
    all_tasks(path, bytes, (size_t)size);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        unsigned long number = strtoul(argv[i + 1], NULL, 10);
        if (argv[i][1] == 'n')
            most = number ? number : 1;
        else if (argv[i][1] == 'p')
            of_places = number != 0;
        else
            state = number ? number : 1;
    }
    calls = malloc(MAX_CALLS * sizeof *calls);
    if (!calls)
        return 2;
    signal(SIGPROF, too_long);
    pci_alloc_hook = fails;
    for (; i < argc; i++)
        if (sweep_file(argv[i]))
            return 2;
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed ? 1 : 0;
}
