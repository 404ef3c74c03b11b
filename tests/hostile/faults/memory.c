/*
 * memory.c - fails every allocation of the library, and every read of a value, in one process
 *
 *     memory [-n MOST] [-p 1] [-s SEED] FILE...
 *
 * Tasks for each file: packed files are opened in every way, read, checked, queried, compared,
 * drawn, filtered and exported; all files are imported. Each task runs once to count its
 * allocations, then again with allocation 1, 2, 3, ... failing, once alone and once with all later
 * ones. The result must be PCOL_E_NO_MEMORY or that without the failure, including the bytes
 * written; no other error, and no leak under ASan. -n limits the allocations of one task, chosen by
 * the seed. `run` does the same with commands, from outside; here a failure costs microseconds, so
 * all of them are covered.
 *
 * A mapped file may change while it is read. So the same is done with the calls that read values of
 * an open file (linked with --wrap): call 1, 2, 3, ... reports damage. The task then fails, or
 * reports the damage, or gives the result without it.
 *
 * A changed file may also contain any values: call 1, 2, 3, ... gives -1, 0, the greatest number,
 * the value plus 1, or the opposite of null. The result may then be wrong, but must be an answer or
 * an error, in time that the file's size allows, without a crash.
 *
 * A mapped file may be truncated, or its disk may fail: call 1, 2, 3, ... marks the file as lost,
 * as the SIGBUS guard does. The task then fails with PCOL_E_IO, or reports it, or gives the result
 * without.
 *
 * -p: one failure for each call stack, in the first task and file that has it. This covers all
 * error paths of the library in a fraction of the time.
 */
#include "format/decode.h"
#include "reader/file.h"
#include "tasks.h"
#include "util/alloc.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_SECONDS 30 /* of CPU time, for one case */
#define MAX_FRAMES 24
#define MAX_CALLS (1u << 20) /* of which a task's places are kept */

enum { ALLOCATIONS, READINGS, FALSE_VALUES, LOSSES, KINDS };
enum { FALSE_ALL_BITS, FALSE_ZERO, FALSE_GREATEST, FALSE_ONE_MORE, FALSE_NULL, FALSE_COUNT };

static unsigned long seen, at, from;
static int kind;          /* what is counted and fails */
static int falsification; /* FALSE_*: the false value */
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

/* ---- readings */

static pcol_file *opened; /* the file that is read */

pcol_status __real_pcol_file_open(const char *path, const pcol_open_options *options,
                                  pcol_file **file, pcol_error *err);
pcol_status __wrap_pcol_file_open(const char *path, const pcol_open_options *options,
                                  pcol_file **file, pcol_error *err);
pcol_status __real_pcol_file_open_memory(const void *data, size_t size,
                                         const pcol_open_options *options, pcol_file **file,
                                         pcol_error *err);
pcol_status __wrap_pcol_file_open_memory(const void *data, size_t size,
                                         const pcol_open_options *options, pcol_file **file,
                                         pcol_error *err);
void __real_pcol_file_close(pcol_file *file);
void __wrap_pcol_file_close(pcol_file *file);

pcol_status __wrap_pcol_file_open(const char *path, const pcol_open_options *options,
                                  pcol_file **file, pcol_error *err)
{
    pcol_status status = __real_pcol_file_open(path, options, file, err);
    opened = *file;
    return status;
}

pcol_status __wrap_pcol_file_open_memory(const void *data, size_t size,
                                         const pcol_open_options *options, pcol_file **file,
                                         pcol_error *err)
{
    pcol_status status = __real_pcol_file_open_memory(data, size, options, file, err);
    opened = *file;
    return status;
}

void __wrap_pcol_file_close(pcol_file *file)
{
    opened = NULL;
    __real_pcol_file_close(file);
}

/* A value is about to be read. */
static int is_damaged(void)
{
    if (kind == LOSSES && is_next() && opened)
        atomic_store(&opened->lost, 1);
    return kind == READINGS && is_next();
}

static void falsify(int64_t *value, int *valid)
{
    const int64_t false_values[] = {-1, 0, INT64_MAX, (int64_t)((uint64_t)*value + 1), *value};
    *value = false_values[falsification];
    if (falsification == FALSE_NULL)
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
    if (kind == FALSE_VALUES && is_next() && result == PCF_OK)
        falsify(value, valid);
    return result;
}

/* Falsifies the first and the last value. */
enum pcf_result __wrap_pcf_read(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values, uint8_t *valid)
{
    if (is_damaged())
        return PCF_BAD_VALUE;
    enum pcf_result result = __real_pcf_read(d, row, count, values, valid);
    if (kind == FALSE_VALUES && is_next() && result == PCF_OK && count)
        for (uint64_t i = 0; i<count; i += count> 1 ? count - 1 : 1) {
            int is = valid ? valid[i] : 1;
            falsify(&values[i], &is);
            if (valid)
                valid[i] = (uint8_t)is;
        }
    return result;
}

/* Only shortens the bytes: the format decoder itself guarantees that they exist. */
enum pcf_result __wrap_pcf_get_bytes(const struct pcf_data *d, uint64_t row, const uint8_t **bytes,
                                     uint64_t *size, int *valid)
{
    if (is_damaged())
        return PCF_BAD_OFFSET;
    enum pcf_result result = __real_pcf_get_bytes(d, row, bytes, size, valid);
    if (kind == FALSE_VALUES && is_next() && result == PCF_OK) {
        *size = falsification == FALSE_ONE_MORE ? *size / 2 : 0;
        *valid = falsification == FALSE_NULL ? !*valid : *valid;
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

/* ---- failing */

static pcol_error last; /* of the case */

static pcol_status once(const struct task *task, unsigned long fail_at, unsigned long fail_from)
{
    pcol_error err = {0};
    seen = 0;
    task_made = 0;
    task_reported = 0;
    at = fail_at;
    from = fail_from;
    pcol_status status = task->run(task, &err);
    at = from = 0;
    last = err;
    /* The returned status is that of the error. */
    return status != PCOL_OK && err.status != status ? PCOL_E_ARGUMENT : status;
}

/* Whether that is how a task may end whose allocation, or reading, failed. */
static int may_be(pcol_status status, int same)
{
    if (same)
        return 1;
    switch (kind) {
    case FALSE_VALUES:
        return 1;
    case READINGS:
        return (status != PCOL_OK && status != PCOL_E_NO_MEMORY) || task_reported;
    case LOSSES:
        return status == PCOL_E_IO || task_reported;
    default:
        return status == PCOL_E_NO_MEMORY;
    }
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
             task->path, task->what, task->format ? task->format : "", kind, falsification, n,
             count);
    set_clock(MAX_SECONDS);
    pcol_status status = once(task, sticky ? 0 : n, sticky ? n : 0);
    set_clock(0);
    if (status != PCOL_E_ARGUMENT && may_be(status, status == good && task_made == made)) {
        passed++;
        return;
    }
    if (kind == FALSE_VALUES && status == good) { /* rejected by a builder as an argument */
        passed++;
        return;
    }
    static const char *const kinds[] = {"allocation", "reading", "false value", "loss"};
    failed++;
    fprintf(stderr, "FAIL %s: %s%s%s, %s %s%lu of %lu: %s (%s), not %s\n", task->path, task->what,
            task->format ? " " : "", task->format ? task->format : "", kinds[kind],
            sticky ? "from " : "", n, count, pcol_status_name(status), last.message,
            pcol_status_name(good));
}

static void sweep_one_kind(const struct task *task)
{
    int ways = kind == FALSE_VALUES ? FALSE_COUNT : kind == LOSSES ? 1 : 2;
    pcol_status good = once(task, 0, 0);
    uint64_t made = task_made;
    unsigned long count = seen < MAX_CALLS || !of_places ? seen : MAX_CALLS;
    for (unsigned long n = 1; n <= count; n++) {
        if (of_places ? !is_new(calls[n - 1]) : count > most && next_random() % count >= most)
            continue;
        for (falsification = 0; falsification < ways; falsification++)
            fail_once(task, n, count, kind != FALSE_VALUES && falsification, good, made);
    }
}

static void sweep(const struct task *task)
{
    for (kind = 0; kind < KINDS; kind++)
        sweep_one_kind(task);
    kind = ALLOCATIONS;
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
    tasks_each(path, bytes, (size_t)size, sweep);
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
