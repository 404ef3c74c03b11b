/*
 * library.c - time of library calls within a process, in nanoseconds per item
 *
 *     library FILE PLAIN ARCHIVE
 *
 * FILE is a packed profile of about a million samples, PLAIN and ARCHIVE the same with --plain and
 * --archive. Each call is measured several times over many items. Prints the medians as lines of
 * JSON: {"op": "scan", "what": ..., "items": N, "ns": nanoseconds per item}. The limit of the sum
 * of a column is the sum of an array in memory.
 */
#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURNS 9

struct bench {
    const char *path;
    pcol_file *file;
    const pcol_table *samples, *stacks;
    const pcol_column *stack, *time, *value, *parent;
    uint64_t rows, nodes;
    uint32_t *order; /* rows of samples in random order */
    int64_t *values, *array;
    uint64_t items; /* items of the last run */
    const void *plain;
    const uint32_t *plain_stack, *plain_parent;
};

static volatile int64_t kept; /* result that the compiler must compute */

/* CPU time: one thread that never waits, independent of other programs. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "library: %s: %s\n", what, why);
    exit(3);
}

#define MUST(call)                    \
    do {                              \
        pcol_error err;               \
        if ((call) != PCOL_OK)        \
            fail(#call, err.message); \
    } while (0)

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(struct bench *b, void (*run)(struct bench *))
{
    double taken[TURNS];
    run(b);
    for (int i = 0; i < TURNS; i++) {
        double start = now();
        run(b);
        taken[i] = (now() - start) / (double)b->items;
    }
    qsort(taken, TURNS, sizeof *taken, compare);
    return taken[TURNS / 2];
}

static void say(const char *op, const char *what, uint64_t items, double ns)
{
    printf("{\"op\": \"%s\", \"what\": \"%s\", \"items\": %llu, \"ns\": %.3f}\n", op, what,
           (unsigned long long)items, ns);
}

/* ---- measured calls */

static void run_open(struct bench *b)
{
    for (b->items = 0; b->items < 200; b->items++) {
        pcol_file *file;
        MUST(pcol_file_open(b->path, NULL, &file, &err));
        pcol_file_close(file);
    }
}

static void run_cells(struct bench *b)
{
    int64_t sum = 0, value;
    for (uint64_t i = 0; i < b->rows; i++) {
        MUST(pcol_column_i64(b->stack, b->order[i], &value, NULL, &err));
        sum += value;
    }
    kept = sum;
    b->items = b->rows;
}

static void run_rows(struct bench *b)
{
    int64_t sum = 0, value;
    for (uint64_t i = 0; i < b->rows; i++) {
        MUST(pcol_column_i64(b->stack, i, &value, NULL, &err));
        sum += value;
    }
    kept = sum;
    b->items = b->rows;
}

static void scan(struct bench *b, const pcol_column *column)
{
    int64_t sum = 0;
    for (uint64_t row = 0; row < b->rows; row += 8192) {
        size_t n = b->rows - row < 8192 ? (size_t)(b->rows - row) : 8192;
        MUST(pcol_column_read_i64(column, row, n, b->values, NULL, &err));
        for (size_t i = 0; i < n; i++)
            sum += b->values[i];
    }
    kept = sum;
    b->items = b->rows;
}

static void run_scan_stack(struct bench *b)
{
    scan(b, b->stack);
}

static void run_scan_time(struct bench *b)
{
    scan(b, b->time);
}

static void run_walk(struct bench *b)
{
    uint64_t steps = 0;
    int64_t stack, sum = 0;
    for (uint64_t i = 0; i < b->rows && i < 100000; i++) {
        MUST(pcol_column_i64(b->stack, b->order[i], &stack, NULL, &err));
        while (stack > 0) {
            sum += stack;
            MUST(pcol_column_i64(b->parent, (uint64_t)stack, &stack, NULL, &err));
            steps++;
        }
    }
    kept = sum;
    b->items = steps ? steps : 1;
}

/* 1000 rows of a view of many millions, by row number. */
static void run_range(struct bench *b)
{
    const pcol_table *view;
    MUST(pcol_file_table_by_name(b->file, PCOL_MODEL_V2, "sample_locations", &view, &err));
    uint64_t all = pcol_table_rows(view);
    for (b->items = 0; b->items < 200; b->items++) {
        pcol_scan *scan;
        pcol_batch batch = PCOL_INIT(pcol_batch);
        MUST(pcol_scan_new(view,
                           &(pcol_scan_options){.size = sizeof(pcol_scan_options),
                                                .first_row = b->order[b->items] % all,
                                                .row_count = 1000},
                           &scan, &err));
        do
            MUST(pcol_scan_next(scan, &batch, &err));
        while (batch.rows);
        pcol_scan_free(scan);
    }
    b->items *= 1000;
}

/* Call stacks of all samples, with the opening of the tree. */
static void run_frames(struct bench *b)
{
    enum { CAPACITY = 1 << 18, SAMPLES = 4096 };
    static uint32_t locations[CAPACITY];
    static uint64_t offsets[SAMPLES + 1];
    pcol_frames *frames;
    uint64_t row = 0;
    int64_t sum = 0;
    b->items = 0;
    MUST(pcol_frames_open(b->file, NULL, &frames, &err));
    while (row < b->rows) {
        size_t n = b->rows - row < SAMPLES ? (size_t)(b->rows - row) : SAMPLES, read;
        MUST(pcol_frames_read(frames, row, n, offsets, locations, CAPACITY, &read, &err));
        if (!read)
            fail("frames", "a stack is too deep");
        sum += locations[0];
        b->items += offsets[read];
        row += read;
    }
    kept = sum;
    pcol_frames_free(frames);
}

/* Names of functions as codes, and the codes as the numbers that they are stored as. */
static void run_codes(struct bench *b)
{
    static uint32_t codes[8192];
    const pcol_table *functions;
    MUST(pcol_file_table_by_name(b->file, PCOL_MODEL_PHYSICAL, "functions", &functions, &err));
    const pcol_column *name = pcol_table_column_by_name(functions, "name", NULL);
    uint64_t rows = pcol_table_rows(functions);
    size_t n = rows < 8192 ? (size_t)rows : 8192;
    for (b->items = 0; b->items < 1000000; b->items += n)
        MUST(pcol_column_read_codes(name, 0, n, codes, NULL, &err));
    kept = codes[0];
}

static void read_stream(struct bench *b, const char *table)
{
    const pcol_table *view;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    MUST(pcol_file_table_by_name(b->file, PCOL_MODEL_V2, table, &view, &err));
    MUST(pcol_table_arrow(view, NULL, &stream, &err));
    for (b->items = 0;; b->items += (uint64_t)batch.length, batch.release(&batch)) {
        if (stream.get_next(&stream, &batch))
            fail(table, stream.get_last_error(&stream));
        if (!batch.release)
            break;
    }
    stream.release(&stream);
}

static void run_arrow_samples(struct bench *b)
{
    read_stream(b, "samples");
}

static void run_arrow_values(struct bench *b)
{
    read_stream(b, "sample_values");
}

static void run_arrow_locations(struct bench *b)
{
    read_stream(b, "sample_locations");
}

/* Rows whose id is at most 10: finding them reads nothing else. */
static void run_first_ids(struct bench *b)
{
    pcol_condition first = {.op = PCOL_OP_LE, .type = PCOL_I64, .value.i64 = 10};
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    const pcol_table *view;
    options.where = &first;
    options.where_count = 1;
    MUST(pcol_file_table_by_name(b->file, PCOL_MODEL_V2, "samples", &view, &err));
    for (b->items = 0; b->items < 1000; b->items++) {
        pcol_scan *scan;
        pcol_batch batch = PCOL_INIT(pcol_batch);
        MUST(pcol_scan_new(view, &options, &scan, &err));
        do
            MUST(pcol_scan_next(scan, &batch, &err));
        while (batch.rows);
        pcol_scan_free(scan);
    }
}

/* ---- cost of checks: the same loops over mapped plain columns, with the checks of the library
 * at each access and without */

/* A failed check ends the loop, so no read is out of bounds. */
static void run_gather(struct bench *b)
{
    const uint32_t *stack = b->plain_stack, *parent = b->plain_parent;
    int64_t sum = 0;
    for (uint64_t i = 0; i < b->rows; i++) {
        uint32_t node = stack[b->order[i]];
        sum += parent[node];
    }
    kept = sum;
    b->items = b->rows;
}

static void run_gather_checked(struct bench *b)
{
    const uint32_t *stack = b->plain_stack, *parent = b->plain_parent;
    int64_t sum = 0;
    for (uint64_t i = 0; i < b->rows; i++) {
        uint32_t node = stack[b->order[i]];
        if (node >= b->nodes)
            fail("gather", "a sample names no stack");
        sum += parent[node];
    }
    kept = sum;
    b->items = b->rows;
}

#define MOST_WALKED 200000

static void run_steps(struct bench *b)
{
    const uint32_t *stack = b->plain_stack, *parent = b->plain_parent;
    uint64_t steps = 0;
    int64_t sum = 0;
    for (uint64_t i = 0; i < b->rows && i < MOST_WALKED; i++)
        for (uint32_t node = stack[b->order[i]]; node; node = parent[node], steps++)
            sum += node;
    kept = sum;
    b->items = steps;
}

static void run_steps_checked(struct bench *b)
{
    const uint32_t *stack = b->plain_stack, *parent = b->plain_parent;
    uint64_t steps = 0;
    int64_t sum = 0;
    for (uint64_t i = 0; i < b->rows && i < MOST_WALKED; i++) {
        uint32_t node = stack[b->order[i]];
        if (node >= b->nodes)
            fail("walk", "a sample names no stack");
        while (node) {
            uint32_t up = parent[node];
            sum += node;
            steps++;
            if (up >= node) /* so every walk ends, and rows are in bounds */
                fail("walk", "a parent comes after its child");
            node = up;
        }
    }
    kept = sum;
    b->items = steps;
}

static const void *plain_column(const pcol_column *column, uint64_t rows)
{
    pcol_buffer buffer;
    MUST(pcol_column_data(column, &buffer, &err));
    if (buffer.rows != rows || buffer.width_bytes != 4)
        fail("plain column", "not 32 bits a row");
    return buffer.values;
}

/* Alternating runs; the result of the checked loop is its median ratio to the other. */
static void time_pair(struct bench *b, const char *op, const char *what,
                      void (*raw)(struct bench *), void (*checked)(struct bench *))
{
    double without[TURNS], share[TURNS];
    for (int i = 0; i < TURNS; i++) {
        without[i] = measure(b, raw);
        share[i] = measure(b, checked) / without[i];
    }
    qsort(without, TURNS, sizeof *without, compare);
    qsort(share, TURNS, sizeof *share, compare);
    printf("{\"op\": \"%s\", \"what\": \"%s\", \"items\": %llu, \"ns\": %.3f, \"checked\": %.4f}\n",
           op, what, (unsigned long long)b->items, without[TURNS / 2], share[TURNS / 2]);
}

static void run_check(struct bench *b)
{
    uint64_t faults;
    MUST(pcol_file_check(b->file, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, &err));
    if (faults)
        fail(b->path, "has faults");
    b->items = pcol_file_size(b->file);
}

/* ---- the files */

static const pcol_column *find(const pcol_table *table, const char *name)
{
    const pcol_column *column = pcol_table_column_by_name(table, name, NULL);
    if (!column)
        fail("no column", name);
    return column;
}

static void find_tables(struct bench *b)
{
    MUST(pcol_file_table_by_name(b->file, PCOL_MODEL_PHYSICAL, "samples", &b->samples, &err));
    MUST(pcol_file_table_by_name(b->file, PCOL_MODEL_PHYSICAL, "stacks", &b->stacks, &err));
    b->stack = find(b->samples, "stack");
    b->time = find(b->samples, "time");
    b->value = find(b->samples, "value.1");
    b->parent = find(b->stacks, "parent");
    b->rows = pcol_table_rows(b->samples);
    b->nodes = pcol_table_rows(b->stacks);
}

/* ---- archives */

/* Open the archive again with a cache of this many bytes. */
static void reopen(struct bench *b, uint64_t archive_bytes)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    options.archive_bytes = archive_bytes;
    pcol_file_close(b->file);
    MUST(pcol_file_open(b->path, &options, &b->file, &err));
    find_tables(b);
}

#define BLOCK_ROWS 16384u /* of 8 bytes: 128 KiB */

static void run_touch(struct bench *b)
{
    int64_t value, sum = 0;
    reopen(b, 0);
    b->items = 0;
    for (uint64_t row = 0; row < b->rows; row += BLOCK_ROWS, b->items++) {
        MUST(pcol_column_i64(b->value, row, &value, NULL, &err));
        sum += value;
    }
    kept = sum;
}

static void run_again(struct bench *b)
{
    int64_t value, sum = 0;
    for (uint64_t i = 0; i < b->rows; i++) {
        MUST(pcol_column_i64(b->value, b->order[i], &value, NULL, &err));
        sum += value;
    }
    kept = sum;
    b->items = b->rows;
}

static void run_scan_value(struct bench *b)
{
    scan(b, b->value);
}

static void run_array(struct bench *b)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < b->rows; i++)
        sum += b->array[i];
    kept = sum;
    b->items = b->rows;
}

static void run_plain(struct bench *b)
{
    const int64_t *values = b->plain;
    int64_t sum = 0;
    for (uint64_t i = 0; i < b->rows; i++)
        sum += values[i];
    kept = sum;
    b->items = b->rows;
}

static void open_tables(struct bench *b, const char *path)
{
    b->path = path;
    MUST(pcol_file_open(path, NULL, &b->file, &err));
    find_tables(b);
}

static void shuffle(struct bench *b)
{
    uint64_t state = 88172645463325252u;
    b->order = calloc(b->rows, sizeof *b->order);
    b->values = malloc(8192 * sizeof *b->values);
    b->array = malloc(b->rows * sizeof *b->array);
    if (!b->order || !b->values || !b->array)
        fail("memory", "there is not enough");
    for (uint64_t i = 0; i < b->rows; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t k = state % (i + 1);
        b->order[i] = b->order[k];
        b->order[k] = (uint32_t)i;
    }
}

static void time_plain(struct bench *b, const char *path)
{
    struct bench plain = *b;
    pcol_buffer buffer;
    double ours[TURNS], raw[TURNS];
    open_tables(&plain, path);
    MUST(pcol_column_data(plain.value, &buffer, &err));
    if (buffer.rows != b->rows || buffer.width_bytes != 8)
        fail(path, "not the same profile packed with --plain");
    plain.plain = buffer.values;
    memcpy(b->array, buffer.values, b->rows * sizeof *b->array);
    for (int i = 0; i < TURNS; i++) { /* alternating */
        ours[i] = measure(&plain, run_plain);
        raw[i] = measure(b, run_array);
    }
    qsort(ours, TURNS, sizeof *ours, compare);
    qsort(raw, TURNS, sizeof *raw, compare);
    say("sum", "sum of a plain column in the map", b->rows, ours[TURNS / 2]);
    say("array", "sum of an array in memory", b->rows, raw[TURNS / 2]);
    plain.plain_stack = plain_column(plain.stack, plain.rows);
    plain.plain_parent = plain_column(plain.parent, plain.nodes);
    time_pair(&plain, "gather", "parent of a sample's stack, in no order", run_gather,
              run_gather_checked);
    time_pair(&plain, "steps", "step to a stack's caller, in no order", run_steps,
              run_steps_checked);
    double ns = measure(&plain, run_check);
    say("check", "check of a plain file", plain.items, ns);
    pcol_file_close(plain.file);
}

static void time_archive(const struct bench *b, const char *path)
{
    struct bench archive = *b;
    open_tables(&archive, path);
    say("archive.touch", "cell of an archive, the first of its block of 128 KiB",
        b->rows / BLOCK_ROWS, measure(&archive, run_touch));
    reopen(&archive, 1 << 20);
    say("archive.scan", "column of values of an archive that keeps 1 MiB of its numbers", b->rows,
        measure(&archive, run_scan_value));
    /* Large enough for the column, which is decompressed once; the cache may still evict it. */
    reopen(&archive, pcol_file_unpacked_size(archive.file) - 1);
    say("archive.cell", "value in an archive, decompressed before, samples in no order", b->rows,
        measure(&archive, run_again));
    pcol_file_close(archive.file);
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: library FILE PLAIN ARCHIVE\n");
        return 2;
    }
    open_tables(&b, argv[1]);
    shuffle(&b);
    const struct {
        const char *op, *what;
        void (*run)(struct bench *);
    } all[] = {
        {"open", "open and close the file", run_open},
        {"cell", "stack of a sample, samples in no order", run_cells},
        {"row", "stack of a sample, one after the other", run_rows},
        {"scan", "column of stacks", run_scan_stack},
        {"scan.time", "column of times", run_scan_time},
        {"walk", "step from a stack to its caller", run_walk},
        {"frames", "frame of a sample's stack, all samples, with opening the tree", run_frames},
        {"codes", "name of a function as a code", run_codes},
        {"arrow.samples", "row of samples as an Arrow stream", run_arrow_samples},
        {"arrow.values", "row of sample_values as an Arrow stream", run_arrow_values},
        {"arrow.locations", "row of sample_locations as an Arrow stream", run_arrow_locations},
        {"scan.ids", "scan of samples under sample_id <= 10", run_first_ids},
        {"range", "row of sample_locations, 1000 at a time, found by number", run_range},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double ns = measure(&b, all[i].run);
        say(all[i].op, all[i].what, b.items, ns);
    }
    time_plain(&b, argv[2]);
    time_archive(&b, argv[3]);
    pcol_file_close(b.file);
    free(b.order);
    free(b.values);
    free(b.array);
    return 0;
}
