/*
 * test_thread_pool.c - tasks and streams on worker threads, with failing tasks
 */
#include <criterion/criterion.h>

#include "util/alloc.h"
#include "util/thread_pool.h"

#include <stdatomic.h>
#include <time.h>

static void pause_ns(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

/* ---- tasks */

#define TASKS 200u

struct tasks {
    atomic_uint runs[TASKS];
    size_t fail_from; /* these and every third one after it fail */
    size_t slow;      /* this one takes longer */
};

static pcol_status one_task(void *context, size_t number, pcol_error *err)
{
    struct tasks *t = context;
    atomic_fetch_add(&t->runs[number], 1);
    if (number == t->slow)
        pause_ns(20000000);
    if (number >= t->fail_from && (number - t->fail_from) % 3 == 0)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, number, "task %zu", number);
    return PCOL_OK;
}

Test(thread_pool, each_task_runs_once)
{
    for (unsigned threads = 0; threads < 70; threads = 2 * threads + 1) {
        struct tasks t = {.fail_from = SIZE_MAX, .slow = 3};
        cr_assert_eq(pci_parallel_for(threads, TASKS, one_task, &t, NULL), PCOL_OK);
        for (size_t i = 0; i < TASKS; i++)
            cr_assert_eq(atomic_load(&t.runs[i]), 1);
    }
    cr_assert_eq(pci_parallel_for(8, 0, one_task, NULL, NULL), PCOL_OK);
}

Test(thread_pool, the_first_failure_is_reported)
{
    for (unsigned threads = 1; threads <= 8; threads++) {
        /* The slow one fails last of those that were begun, and has the lowest number. */
        struct tasks t = {.fail_from = 17, .slow = 17};
        pcol_error err;
        cr_assert_eq(pci_parallel_for(threads, TASKS, one_task, &t, &err), PCOL_E_SYNTAX);
        cr_assert_str_eq(err.message, "task 17");
        cr_assert_eq(err.offset, 17);
        for (size_t i = 0; i <= 17; i++)
            cr_assert_eq(atomic_load(&t.runs[i]), 1);
        cr_assert_eq(atomic_load(&t.runs[TASKS - 1]), 0);
    }
}

/* ---- ahead */

struct maker {
    size_t at, end, fail_at;
    int slow;
};

/* Numbers as bytes, in pieces of any length. */
static pcol_status make_bytes(void *context, void *data, size_t capacity, size_t *size,
                              pcol_error *err)
{
    struct maker *m = context;
    uint8_t *to = data;
    size_t n = m->at % 97 + 1;
    if (m->slow)
        pause_ns(100000);
    if (m->at >= m->fail_at)
        return pci_fail_at_byte(err, PCOL_E_IO, m->at, "broken");
    n = n < capacity ? n : capacity;
    n = n < m->end - m->at ? n : m->end - m->at;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)((m->at + i) * 7);
    m->at += n;
    *size = n;
    return PCOL_OK;
}

/* Takes up to `most` bytes; the status that ends it. */
static pcol_status take_bytes(struct pci_read_pipe *ahead, size_t most, size_t *total, int slow,
                              pcol_error *err)
{
    *total = 0;
    while (*total < most) {
        const uint8_t *data;
        size_t size;
        pcol_status status = pci_read_pipe_next(ahead, &data, &size, err);
        if (status != PCOL_OK || !size)
            return status;
        if (slow)
            pause_ns(100000);
        for (size_t i = 0; i < size; i++)
            cr_assert_eq(data[i], (uint8_t)((*total + i) * 7));
        *total += size;
    }
    return PCOL_OK;
}

Test(thread_pool, items_made_ahead_arrive_in_order)
{
    for (int slow = 0; slow < 3; slow++)
        for (size_t count = 1; count < 5; count++) {
            struct maker m = {.end = 5000, .fail_at = SIZE_MAX, .slow = slow == 1};
            struct pci_read_pipe *ahead;
            size_t total;
            cr_assert_eq(pci_read_pipe_new(make_bytes, &m, 60, count, &ahead, NULL), PCOL_OK);
            cr_assert_eq(take_bytes(ahead, SIZE_MAX, &total, slow == 2, NULL), PCOL_OK);
            cr_assert_eq(total, 5000);
            cr_assert_eq(take_bytes(ahead, SIZE_MAX, &total, 0, NULL), PCOL_OK);
            cr_assert_eq(total, 0);
            pci_read_pipe_free(ahead);
        }
}

Test(thread_pool, a_failure_ahead_follows_the_items_before_it)
{
    struct maker m = {.end = SIZE_MAX, .fail_at = 1000};
    struct pci_read_pipe *ahead;
    size_t total;
    pcol_error err;
    cr_assert_eq(pci_read_pipe_new(make_bytes, &m, 64, 4, &ahead, NULL), PCOL_OK);
    cr_assert_eq(take_bytes(ahead, SIZE_MAX, &total, 0, &err), PCOL_E_IO);
    cr_assert_geq(total, 1000);
    cr_assert_eq(err.offset, total);
    cr_assert_eq(take_bytes(ahead, SIZE_MAX, &total, 0, &err), PCOL_E_IO);
    cr_assert_str_eq(err.message, "broken");
    pci_read_pipe_free(ahead);
}

Test(thread_pool, items_ahead_can_be_abandoned)
{
    for (size_t most = 0; most < 2000; most += 500) {
        struct maker m = {.end = SIZE_MAX, .fail_at = SIZE_MAX};
        struct pci_read_pipe *ahead;
        size_t total;
        cr_assert_eq(pci_read_pipe_new(make_bytes, &m, 64, 3, &ahead, NULL), PCOL_OK);
        cr_assert_eq(take_bytes(ahead, most, &total, 0, NULL), PCOL_OK);
        pci_read_pipe_free(ahead);
    }
    pci_read_pipe_free(NULL);
}

/* ---- write pipe */

struct user {
    size_t total, fail_at;
    int slow;
};

static pcol_status use_bytes(void *context, const void *data, size_t size, pcol_error *err)
{
    struct user *u = context;
    const uint8_t *from = data;
    if (u->slow)
        pause_ns(100000);
    if (u->total + size > u->fail_at)
        return pci_fail(err, PCOL_E_IO, "full at %zu", u->total);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(from[i], (uint8_t)((u->total + i) * 7));
    u->total += size;
    return PCOL_OK;
}

/* Writes up to `size` bytes in pieces of any length; the status that ends it. */
static pcol_status write_bytes(struct pci_write_pipe *pipe, size_t size, pcol_error *err)
{
    pcol_sink sink = pci_write_pipe_sink(pipe);
    uint8_t data[200];
    for (size_t at = 0, n; at < size; at += n) {
        n = at % 199 + 1 < size - at ? at % 199 + 1 : size - at;
        for (size_t i = 0; i < n; i++)
            data[i] = (uint8_t)((at + i) * 7);
        PCI_TRY(sink.write(sink.context, data, n, err));
        PCI_TRY(sink.write(sink.context, data, 0, err));
    }
    return PCOL_OK;
}

Test(thread_pool, writes_of_a_pipe_arrive_in_order)
{
    for (int slow = 0; slow < 2; slow++)
        for (size_t count = 1; count < 5; count++) {
            struct user u = {.fail_at = SIZE_MAX, .slow = slow};
            struct pci_write_pipe *pipe;
            cr_assert_eq(pci_write_pipe_new((pcol_sink){use_bytes, &u}, 61, count, &pipe, NULL),
                         PCOL_OK);
            cr_assert_eq(write_bytes(pipe, 5000, NULL), PCOL_OK);
            cr_assert_eq(pci_write_pipe_finish(pipe, NULL), PCOL_OK);
            cr_assert_eq(u.total, 5000);
            pci_write_pipe_free(pipe);
        }
}

#ifndef PCOL_NO_THREADS
Test(thread_pool, a_failure_of_a_pipe_is_reported_by_a_later_write_or_at_the_end)
{
    for (size_t size = 1001; size < 100000; size *= 9) {
        struct user u = {.fail_at = 1000};
        struct pci_write_pipe *pipe;
        pcol_error err;
        cr_assert_eq(pci_write_pipe_new((pcol_sink){use_bytes, &u}, 100, 2, &pipe, NULL), PCOL_OK);
        pcol_status status = write_bytes(pipe, size, &err);
        cr_assert(status == PCOL_OK || status == PCOL_E_IO);
        cr_assert(status == PCOL_E_IO || size < 2000);
        cr_assert_eq(pci_write_pipe_finish(pipe, &err), PCOL_E_IO);
        cr_assert_str_eq(err.message, "full at 1000");
        pci_write_pipe_free(pipe);
    }
}

Test(thread_pool, a_pipe_can_be_abandoned)
{
    struct user u = {.fail_at = SIZE_MAX, .slow = 1};
    struct pci_write_pipe *pipe;
    cr_assert_eq(pci_write_pipe_new((pcol_sink){use_bytes, &u}, 10, 50, &pipe, NULL), PCOL_OK);
    cr_assert_eq(write_bytes(pipe, 400, NULL), PCOL_OK);
    pci_write_pipe_free(pipe);
    cr_assert_lt(u.total, 400);
    pci_write_pipe_free(NULL);
}
#endif

/* ---- no threads to be had */

static atomic_int threads_left;
static int no_thread(void)
{
    return atomic_fetch_sub(&threads_left, 1) <= 0;
}

Test(thread_pool, without_threads_the_caller_does_the_work)
{
    pci_thread_hook = no_thread;
    for (int n = 0; n < 3; n++) {
        struct tasks t = {.fail_from = SIZE_MAX, .slow = TASKS};
        struct tasks failing = {.fail_from = 5, .slow = 5};
        pcol_error err;
        atomic_store(&threads_left, n);
        cr_assert_eq(pci_parallel_for(4, TASKS, one_task, &t, NULL), PCOL_OK);
        for (size_t i = 0; i < TASKS; i++)
            cr_assert_eq(atomic_load(&t.runs[i]), 1);
        atomic_store(&threads_left, n);
        cr_assert_eq(pci_parallel_for(4, TASKS, one_task, &failing, &err), PCOL_E_SYNTAX);
        cr_assert_str_eq(err.message, "task 5");
    }
    struct maker m = {.end = 5000, .fail_at = SIZE_MAX};
    struct pci_read_pipe *ahead;
    size_t total;
    cr_assert_eq(pci_read_pipe_new(make_bytes, &m, 60, 4, &ahead, NULL), PCOL_OK);
    cr_assert_eq(take_bytes(ahead, SIZE_MAX, &total, 0, NULL), PCOL_OK);
    cr_assert_eq(total, 5000);
    cr_assert_eq(take_bytes(ahead, SIZE_MAX, &total, 0, NULL), PCOL_OK);
    cr_assert_eq(total, 0);
    pci_read_pipe_free(ahead);
    m = (struct maker){.end = SIZE_MAX, .fail_at = 1000};
    pcol_error err;
    cr_assert_eq(pci_read_pipe_new(make_bytes, &m, 64, 4, &ahead, NULL), PCOL_OK);
    for (int again = 0; again < 2; again++) {
        cr_assert_eq(take_bytes(ahead, SIZE_MAX, &total, 0, &err), PCOL_E_IO);
        cr_assert_str_eq(err.message, "broken");
    }
    pci_read_pipe_free(ahead);
    for (size_t size = 500; size < 5000; size *= 3) {
        struct user u = {.fail_at = 1000};
        struct pci_write_pipe *pipe;
        pcol_status expected = size > 1000 ? PCOL_E_IO : PCOL_OK;
        cr_assert_eq(pci_write_pipe_new((pcol_sink){use_bytes, &u}, 100, 2, &pipe, NULL), PCOL_OK);
        cr_assert_eq(write_bytes(pipe, size, &err), expected);
        cr_assert_eq(pci_write_pipe_finish(pipe, &err), expected);
        cr_assert(expected == PCOL_E_IO || u.total == size);
        pci_write_pipe_free(pipe);
    }
    pci_thread_hook = NULL;
}

/* ---- memory */

static int left;
static int run_out(void)
{
    return left-- <= 0;
}

Test(thread_pool, no_memory_for_a_stream)
{
    struct maker m = {.end = 10, .fail_at = SIZE_MAX};
    struct user u = {.fail_at = SIZE_MAX};
    for (int n = 0; n < 3; n++) {
        struct pci_read_pipe *ahead;
        struct pci_write_pipe *pipe;
        pci_alloc_hook = run_out;
        left = n;
        pcol_status first = pci_read_pipe_new(make_bytes, &m, 64, 4, &ahead, NULL);
        left = n;
        pcol_status second = pci_write_pipe_new((pcol_sink){use_bytes, &u}, 64, 4, &pipe, NULL);
        pci_alloc_hook = NULL;
        cr_assert_eq(first, PCOL_E_NO_MEMORY);
        cr_assert_eq(second, PCOL_E_NO_MEMORY);
        cr_assert_null(ahead);
        cr_assert_null(pipe);
    }
}
