/*
 * test_sigbus_guard.c - mapped files that are truncated or changed while in use (PCOL_OPEN_GUARD)
 */
#include <criterion/criterion.h>

#include "testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sigaction at_start; /* a sanitizer has a handler of its own */

static void begin(void)
{
    folder_begin();
    cr_assert_eq(sigaction(SIGBUS, NULL, &at_start), 0);
}

TestSuite(guard, .init = begin, .fini = folder_end);

/* A file of so many samples. */
static void make_of(const char *name, int samples, unsigned flags)
{
    struct text text = {0};
    pcol_builder *builder;
    void *bytes;
    size_t size;
    text_addf(&text, "sample.interval=20000\n");
    for (int i = 0; i < samples; i++)
        text_addf(&text, "\"f%d\" \"g%d\" \"main\" \n", i * 7919 % 3001, i % 31);
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, text.data, text.size, "x.Rprof", NULL, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_write_memory(builder, flags, NULL, &bytes, &size, NULL), PCOL_OK);
    folder_file(name, bytes, size);
    pcol_builder_free(builder);
    pcol_free(bytes);
    free(text.data);
}

/* A plain file of many pages. */
static void make(const char *name)
{
    make_of(name, 30000, PCOL_WRITE_PLAIN);
}

static pcol_file *open_guarded(const char *name)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *file;
    options.flags = PCOL_OPEN_GUARD;
    cr_assert_eq(pcol_file_open(folder_path(name), &options, &file, NULL), PCOL_OK);
    return file;
}

static const pcol_column *stacks_of(const pcol_file *file)
{
    const pcol_table *table;
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, NULL),
                 PCOL_OK);
    const pcol_column *column = pcol_table_column_by_name(table, "stack", NULL);
    cr_assert_not_null(column);
    return column;
}

static pcol_status read_last(const pcol_column *column, pcol_error *err)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    int64_t value;
    cr_assert_eq(pcol_column_describe(column, &info, NULL), PCOL_OK);
    return pcol_column_i64(column, info.rows - 1, &value, NULL, err);
}

static struct sigaction handler_now(void)
{
    struct sigaction now;
    cr_assert_eq(sigaction(SIGBUS, NULL, &now), 0);
    return now;
}

Test(guard, copies_and_memory_need_none)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *file;
    make("a.pcol");
    options.flags = PCOL_OPEN_GUARD | PCOL_OPEN_COPY;
    cr_assert_eq(pcol_file_open(folder_path("a.pcol"), &options, &file, NULL), PCOL_OK);
    cr_assert_eq(handler_now().sa_handler, at_start.sa_handler);
    cr_assert_eq(truncate(folder_path("a.pcol"), 4096), 0);
    cr_assert_eq(read_last(stacks_of(file), NULL), PCOL_OK);
    cr_assert_eq(pcol_file_intact(file, NULL), PCOL_OK);
    pcol_file_close(file);
    options.flags = 8;
    cr_assert_eq(pcol_file_open(folder_path("a.pcol"), &options, &file, NULL), PCOL_E_ARGUMENT);
}

#ifndef PCOL_NO_MMAP

static pcol_status no_bytes(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

Test(guard, a_cut_file_fails_in_every_call_that_reads)
{
    make("a.pcol");
    pcol_error err;
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    const pcol_table *table;
    uint64_t faults;
    pcol_query *query = NULL;
    pcol_file *file = open_guarded("a.pcol");
    const pcol_column *column = stacks_of(file);
    cr_assert_eq(read_last(column, &err), PCOL_OK);
    cr_assert_eq(pcol_file_intact(file, &err), PCOL_OK);

    cr_assert_eq(truncate(folder_path("a.pcol"), 4096), 0);
    cr_assert_eq(read_last(column, &err), PCOL_E_IO);
    cr_assert_str_eq(err.message, "the file was truncated while being read");
    cr_assert_eq(pcol_file_intact(file, &err), PCOL_E_IO);
    cr_assert_eq(pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, NULL),
                 PCOL_OK);
    cr_assert_eq(
        pcol_scan_new(table,
                      &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = 100},
                      &scan, NULL),
        PCOL_OK);
    cr_assert_eq(pcol_scan_next(scan, &batch, &err), PCOL_E_IO);
    pcol_scan_free(scan);
    cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err),
                 PCOL_E_IO);
    cr_assert_eq(faults, 0, "a file that went away is no damaged file");
    cr_assert_eq(pcol_export(file, "folded", NULL, (pcol_sink){no_bytes, NULL}, &err), PCOL_E_IO);
    cr_assert_eq(pcol_query_new(file, NULL, NULL, &query, &err), PCOL_E_IO);
    pcol_file_close(file);
}

/* What was decompressed before is there; the first block that is not, and all that is read after
 * that, fails, and nothing of it is taken for the file's. */
Test(guard, a_cut_archive_fails_at_the_next_block)
{
    make_of("a.pcol", 100000, PCOL_WRITE_ARCHIVE);
    pcol_error err;
    int64_t first, again;
    pcol_file *file = open_guarded("a.pcol");
    const pcol_column *column = stacks_of(file);
    cr_assert_eq(pcol_column_i64(column, 0, &first, NULL, &err), PCOL_OK);
    cr_assert_eq(truncate(folder_path("a.pcol"), 4096), 0);
    cr_assert_eq(pcol_column_i64(column, 0, &again, NULL, &err), PCOL_OK);
    cr_assert_eq(first, again);
    cr_assert_eq(read_last(column, &err), PCOL_E_IO);
    cr_assert_str_eq(err.message, "the file was truncated while being read");
    cr_assert_eq(read_last(column, &err), PCOL_E_IO);
    cr_assert_eq(pcol_column_i64(column, 0, &again, NULL, &err), PCOL_E_IO);
    pcol_file_close(file);
}

Test(guard, what_never_touches_the_map_is_seen_at_the_end)
{
    make("a.pcol");
    pcol_error err;
    pcol_file *file = open_guarded("a.pcol");
    cr_assert_eq(truncate(folder_path("a.pcol"), 4096), 0);
    cr_assert_eq(pcol_file_intact(file, &err), PCOL_E_IO);
    pcol_file_close(file);
}

Test(guard, a_file_written_to_is_detected_and_a_replaced_one_is_not)
{
    make("a.pcol");
    make("b.pcol");
    pcol_error err;
    struct timespec past[2] = {{1000, 0}, {1000, 0}};
    cr_assert_eq(utimensat(AT_FDCWD, folder_path("a.pcol"), past, 0), 0);
    pcol_file *file = open_guarded("a.pcol");
    const pcol_column *column = stacks_of(file);
    cr_assert_eq(rename(folder_path("b.pcol"), folder_path("a.pcol")), 0);
    cr_assert_eq(read_last(column, &err), PCOL_OK);
    cr_assert_eq(pcol_file_intact(file, &err), PCOL_OK);
    pcol_file_close(file);

    cr_assert_eq(utimensat(AT_FDCWD, folder_path("a.pcol"), past, 0), 0);
    file = open_guarded("a.pcol");
    int fd = open(folder_path("a.pcol"), O_WRONLY);
    cr_assert_eq(pwrite(fd, "x", 1, 5000), 1);
    close(fd);
    cr_assert_eq(pcol_file_intact(file, &err), PCOL_E_IO);
    cr_assert_str_eq(err.message, "the file was changed while being read");
    pcol_file_close(file);

    file = open_guarded("a.pcol"); /* of the same age, and longer */
    fd = open(folder_path("a.pcol"), O_WRONLY | O_APPEND);
    struct stat was;
    cr_assert_eq(fstat(fd, &was), 0);
    cr_assert_eq(write(fd, "x", 1), 1);
    close(fd);
    struct timespec as_before[2] = {was.st_atim, was.st_mtim};
    cr_assert_eq(utimensat(AT_FDCWD, folder_path("a.pcol"), as_before, 0), 0);
    cr_assert_eq(pcol_file_intact(file, &err), PCOL_E_IO);
    cr_assert_str_eq(err.message, "the file was changed while being read");
    pcol_file_close(file);

    make("a.pcol");
    file = open_guarded("a.pcol"); /* in the same second of the clock */
    cr_assert_eq(stat(folder_path("a.pcol"), &was), 0);
    as_before[1] = was.st_mtim;
    as_before[1].tv_nsec = (as_before[1].tv_nsec + 1) % 1000000000;
    cr_assert_eq(utimensat(AT_FDCWD, folder_path("a.pcol"), as_before, 0), 0);
    cr_assert_eq(pcol_file_intact(file, &err), PCOL_E_IO);
    pcol_file_close(file);
}

Test(guard, only_a_guarded_file_sets_a_handler_and_the_last_takes_it_back)
{
    make("a.pcol");
    pcol_file *plain;
    cr_assert_eq(pcol_file_open(folder_path("a.pcol"), NULL, &plain, NULL), PCOL_OK);
    cr_assert_eq(handler_now().sa_handler, at_start.sa_handler);
    pcol_file *one = open_guarded("a.pcol");
    pcol_file *two = open_guarded("a.pcol");
    cr_assert_neq(handler_now().sa_handler, at_start.sa_handler);
    pcol_file_close(one);
    cr_assert_neq(handler_now().sa_handler, at_start.sa_handler);
    pcol_file_close(two);
    cr_assert_eq(handler_now().sa_handler, at_start.sa_handler);
    cr_assert_eq(pcol_file_intact(plain, NULL), PCOL_OK);
    pcol_file_close(plain);
}

/* ---- handlers of others */

static sigjmp_buf back;
static volatile int caught;

static void simple_handler(int number)
{
    caught = number;
    siglongjmp(back, 1);
}

static void full_handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    caught = info->si_addr != NULL ? 2 : -1;
    siglongjmp(back, 1);
}

/* A page of a file of no bytes: reading it raises SIGBUS. */
static volatile char *bad_page(void)
{
    int fd = open(folder_path("empty"), O_RDWR | O_CREAT, 0600);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    cr_assert_neq(page, MAP_FAILED);
    close(fd);
    return page;
}

static void cut_and_read(void)
{
    pcol_file *file = open_guarded("a.pcol");
    const pcol_column *column = stacks_of(file);
    cr_assert_eq(truncate(folder_path("a.pcol"), 4096), 0);
    cr_assert_eq(read_last(column, NULL), PCOL_E_IO);
    caught = 0;
    if (!sigsetjmp(back, 1))
        (void)*bad_page();
    cr_assert_neq(caught, 0, "the fault of another map goes to the handler before ours");
    pcol_file_close(file);
}

Test(guard, hands_on_to_a_simple_handler)
{
    struct sigaction mine = {.sa_handler = simple_handler};
    make("a.pcol");
    cr_assert_eq(sigaction(SIGBUS, &mine, NULL), 0);
    cut_and_read();
    cr_assert_eq(caught, SIGBUS);
    cr_assert_eq(handler_now().sa_handler, simple_handler);
}

Test(guard, hands_on_to_a_full_handler)
{
    struct sigaction mine = {.sa_flags = SA_SIGINFO};
    mine.sa_sigaction = full_handler;
    make("a.pcol");
    cr_assert_eq(sigaction(SIGBUS, &mine, NULL), 0);
    cut_and_read();
    cr_assert_eq(caught, 2);
}

/* Set after ours, and hands on to it as it should. */
static struct sigaction below;

static void later_handler(int number, siginfo_t *info, void *context)
{
    caught++;
    below.sa_sigaction(number, info, context);
}

Test(guard, works_below_a_later_handler_and_is_never_installed_twice)
{
    struct sigaction mine = {.sa_flags = SA_SIGINFO};
    mine.sa_sigaction = later_handler;
    make("a.pcol");
    make("b.pcol");
    pcol_file *one = open_guarded("a.pcol");
    cr_assert_eq(sigaction(SIGBUS, &mine, &below), 0);
    pcol_file_close(one);
    cr_assert_eq(handler_now().sa_sigaction, later_handler, "not ours to take away");
    pcol_file *two = open_guarded("b.pcol");
    const pcol_column *column = stacks_of(two);
    cr_assert_eq(truncate(folder_path("b.pcol"), 4096), 0);
    cr_assert_eq(read_last(column, NULL), PCOL_E_IO);
    cr_assert_eq(caught, 1);
    pcol_file_close(two);
}

/* A handler above ours keeps it from being taken back; taken away, it takes ours along. */
Test(guard, is_installed_again_where_there_is_no_handler_any_more)
{
    struct sigaction mine = {.sa_flags = SA_SIGINFO}, usual = {.sa_handler = SIG_DFL};
    mine.sa_sigaction = later_handler;
    make("a.pcol");
    make("b.pcol");
    pcol_file *one = open_guarded("a.pcol");
    cr_assert_eq(sigaction(SIGBUS, &mine, &below), 0);
    pcol_file_close(one);
    cr_assert_eq(sigaction(SIGBUS, &usual, NULL), 0);
    pcol_file *two = open_guarded("b.pcol");
    const pcol_column *column = stacks_of(two);
    cr_assert_eq(truncate(folder_path("b.pcol"), 4096), 0);
    cr_assert_eq(read_last(column, NULL), PCOL_E_IO);
    pcol_file_close(two);
    cr_assert_eq(handler_now().sa_handler, SIG_DFL);
}

/* What ends a child that does this: a signal, or 0. */
static int ended_by(void (*act)(void))
{
    int status;
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (!child) {
        act();
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void fault_elsewhere(void)
{
    (void)*bad_page();
}

static void send_bus(void)
{
    raise(SIGBUS);
}

static void open_without_guard_and_read(void)
{
    pcol_file *file;
    if (pcol_file_open(folder_path("a.pcol"), NULL, &file, NULL) != PCOL_OK ||
        truncate(folder_path("a.pcol"), 4096))
        return;
    (void)!read_last(stacks_of(file), NULL);
}

Test(guard, any_other_fault_does_what_it_did)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
    struct sigaction flagged = {.sa_handler = SIG_DFL, .sa_flags = SA_SIGINFO};
    cr_assert_eq(sigaction(SIGBUS, &usual, NULL), 0);
    make("a.pcol");
    make("b.pcol");
    pcol_file *file = open_guarded("b.pcol");
    cr_assert_eq(ended_by(fault_elsewhere), SIGBUS);
    cr_assert_eq(ended_by(send_bus), SIGBUS);
    cr_assert_eq(ended_by(open_without_guard_and_read), SIGBUS);
    pcol_file_close(file);
    cr_assert_eq(sigaction(SIGBUS, &flagged, NULL), 0);
    file = open_guarded("b.pcol");
    cr_assert_eq(ended_by(fault_elsewhere), SIGBUS);
    pcol_file_close(file);
    cr_assert_eq(sigaction(SIGBUS, &ignore, NULL), 0);
    file = open_guarded("b.pcol");
    cr_assert_eq(ended_by(send_bus), 0);
    cr_assert_eq(ended_by(fault_elsewhere), SIGBUS);
    pcol_file_close(file);
    cr_assert_eq(sigaction(SIGBUS, &usual, NULL), 0);
}

/* ---- many files, many threads */

Test(guard, more_files_than_fit_one_chunk)
{
    enum { COUNT = 150 };
    pcol_file *files[COUNT];
    make("a.pcol");
    for (int i = 0; i < COUNT; i++)
        files[i] = open_guarded("a.pcol");
    for (int i = 0; i < COUNT; i += 2)
        pcol_file_close(files[i]);
    cr_assert_eq(truncate(folder_path("a.pcol"), 4096), 0);
    for (int i = 1; i < COUNT; i += 2) {
        cr_assert_eq(read_last(stacks_of(files[i]), NULL), PCOL_E_IO);
        pcol_file_close(files[i]);
    }
}

struct reader {
    const pcol_column *column;
    pthread_barrier_t *start;
    pcol_status status;
};

static void *read_all(void *context)
{
    struct reader *reader = context;
    pthread_barrier_wait(reader->start);
    reader->status = read_last(reader->column, NULL);
    return NULL;
}

Test(guard, threads_meet_the_fault_at_once)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    struct reader readers[THREADS];
    pthread_barrier_t start;
    make("a.pcol");
    make("b.pcol");
    pcol_file *shared = open_guarded("a.pcol"), *other = open_guarded("b.pcol");
    cr_assert_eq(truncate(folder_path("a.pcol"), 4096), 0);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){stacks_of(i % 4 ? shared : other), &start, PCOL_OK};
        cr_assert_eq(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_assert_eq(readers[i].status, i % 4 ? PCOL_E_IO : PCOL_OK);
    }
    cr_assert_eq(pcol_file_intact(other, NULL), PCOL_OK);
    pthread_barrier_destroy(&start);
    pcol_file_close(shared);
    pcol_file_close(other);
}

/* The descriptor that the file is opened with is the last one there is. */
Test(guard, no_descriptor_to_spare)
{
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    struct rlimit limit, few;
    pcol_file *file;
    pcol_error err;
    make("a.pcol");
    options.flags = PCOL_OPEN_GUARD;
    int next = dup(0);
    close(next);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = limit;
    few.rlim_cur = (rlim_t)next + 1;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    pcol_status status = pcol_file_open(folder_path("a.pcol"), &options, &file, &err);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_eq(status, PCOL_E_IO);
    cr_assert_null(file);
    cr_assert_eq(handler_now().sa_handler, at_start.sa_handler);
}

#else

Test(guard, without_maps_an_open_file_is_a_copy)
{
    for (unsigned flags = 0; flags <= PCOL_WRITE_PLAIN; flags += PCOL_WRITE_PLAIN) {
        make_of("a.pcol", 30000, flags);
        pcol_file *file = open_guarded("a.pcol");
        cr_assert_eq(handler_now().sa_handler, at_start.sa_handler);
        cr_assert_eq(truncate(folder_path("a.pcol"), 4096), 0);
        cr_assert_eq(read_last(stacks_of(file), NULL), PCOL_OK);
        cr_assert_eq(pcol_file_intact(file, NULL), PCOL_OK);
        pcol_file_close(file);
    }
}

#endif
