/*
 * thread_pool.c - parallel loop over an atomic counter, latch, and pipes over a bounded ring of
 * pieces
 *
 * A ring has a producer and a consumer; each waits for the other on one condition variable. A side
 * closes the ring with its status: the consumer sees it after the pieces filled before, the
 * producer at once.
 */
#include "util/thread_pool.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/import_budget.h"
#include "util/lock.h"

#include <stdatomic.h>
#include <string.h>

int (*pci_thread_hook)(void);

static int start_thread(pci_thread *thread, void *(*run)(void *), void *context)
{
    return pci_thread_hook && pci_thread_hook() ? -1 : pci_thread_start(thread, run, context);
}

/* ---- parallel loop ---- */

struct loop {
    pci_task task;
    void *context;
    struct pci_budget *budget;   /* of the caller's thread */
    struct pci_control *control; /* likewise */
    size_t count;
    atomic_size_t next;
    atomic_int failed;
    pci_mutex lock;       /* protects the members below */
    pci_condition ended;  /* a worker has ended */
    size_t running;       /* workers */
    size_t failed_number; /* lowest number that failed */
    pcol_status status;
    pcol_error error;
};

static void record_failure(struct loop *loop, size_t number, pcol_status status,
                           const pcol_error *error)
{
    pci_mutex_lock(&loop->lock);
    if (loop->status == PCOL_OK || number < loop->failed_number) {
        loop->failed_number = number;
        loop->status = status;
        loop->error = *error;
    }
    pci_mutex_unlock(&loop->lock);
    atomic_store(&loop->failed, 1);
}

/* A number that was taken runs even after a failure of a higher one: it may fail, too, and then its
 * error is the one reported. */
static void run_tasks(struct loop *loop)
{
    while (!atomic_load(&loop->failed)) {
        size_t number = atomic_fetch_add(&loop->next, 1);
        pcol_error error = {0};
        if (number >= loop->count)
            break;
        pcol_status status = loop->task(loop->context, number, &error);
        if (status != PCOL_OK)
            record_failure(loop, number, status, &error);
    }
}

/* Make a new thread work in the scopes of the one that started it. */
static void inherit_scopes(struct pci_budget *budget, struct pci_control *control)
{
    pci_thread_budget = budget;
    pci_thread_control = control;
    pci_thread_is_worker = 1;
}

static void *run_worker(void *context)
{
    struct loop *loop = context;
    inherit_scopes(loop->budget, loop->control);
    run_tasks(loop);
    pci_mutex_lock(&loop->lock);
    loop->running--;
    pci_condition_signal(&loop->ended);
    pci_mutex_unlock(&loop->lock);
    return NULL;
}

/* Waits until no thread runs tasks, and lets the caller cancel the call meanwhile: running tasks
 * see that when they report work. */
static void wait_for_workers(struct loop *loop)
{
    pcol_error error;
    pci_mutex_lock(&loop->lock);
    while (loop->running) {
        if (pci_condition_wait_briefly(&loop->ended, &loop->lock) == 0)
            continue;
        pci_mutex_unlock(&loop->lock);
        pcol_status status = pci_work(PCI_CONTROL_STEP, &error);
        if (status != PCOL_OK)
            record_failure(loop, 0, status, &error);
        pci_mutex_lock(&loop->lock);
    }
    pci_mutex_unlock(&loop->lock);
}

pcol_status pci_parallel_for(unsigned threads, size_t count, pci_task task, void *context,
                             pcol_error *err)
{
    struct loop loop = {.task = task,
                        .context = context,
                        .budget = pci_thread_budget,
                        .control = pci_thread_control,
                        .count = count};
    pci_thread others[PCI_MAX_THREADS];
    size_t started = 0;
    if (threads > PCI_MAX_THREADS)
        threads = PCI_MAX_THREADS;
    if (threads < 2 || count < 2 || pci_mutex_init(&loop.lock) != 0) {
        for (size_t i = 0; i < count; i++)
            PCI_TRY(task(context, i, err));
        return PCOL_OK;
    }
    if (pci_condition_init(&loop.ended) != 0) {
        pci_mutex_destroy(&loop.lock);
        return pci_fail_memory(err);
    }
    loop.running = threads < count ? threads : count;
    loop.running--; /* the caller's */
    size_t workers = loop.running;
    while (started < workers && start_thread(&others[started], run_worker, &loop) == 0)
        started++;
    pci_mutex_lock(&loop.lock);
    loop.running -= workers - started;
    pci_mutex_unlock(&loop.lock);
    run_tasks(&loop);
    wait_for_workers(&loop);
    for (size_t i = 0; i < started; i++)
        pci_thread_join(others[i]);
    pci_condition_destroy(&loop.ended);
    pci_mutex_destroy(&loop.lock);
    if (loop.status != PCOL_OK && err)
        *err = loop.error;
    return loop.status;
}

/* ---- latch ---- */

struct pci_latch {
    pci_mutex lock;
    pci_condition opened;
    int open;
};

struct pci_latch *pci_latch_new(void)
{
    struct pci_latch *latch = pci_calloc(1, sizeof *latch);
    if (latch && pci_mutex_init(&latch->lock) == 0) {
        if (pci_condition_init(&latch->opened) == 0)
            return latch;
        pci_mutex_destroy(&latch->lock);
    }
    pci_free(latch);
    return NULL;
}

void pci_latch_open(struct pci_latch *latch)
{
    pci_mutex_lock(&latch->lock);
    latch->open = 1;
    pci_condition_broadcast(&latch->opened);
    pci_mutex_unlock(&latch->lock);
}

void pci_latch_wait(struct pci_latch *latch)
{
    pci_mutex_lock(&latch->lock);
    while (!latch->open)
        pci_condition_wait(&latch->opened, &latch->lock);
    pci_mutex_unlock(&latch->lock);
}

void pci_latch_free(struct pci_latch *latch)
{
    if (!latch)
        return;
    pci_condition_destroy(&latch->opened);
    pci_mutex_destroy(&latch->lock);
    pci_free(latch);
}

/* ---- ring of pieces ---- */

struct ring {
    pci_mutex lock;
    pci_condition changed;
    uint8_t *bytes; /* count * capacity */
    size_t *sizes;
    size_t capacity, count;
    size_t first, filled; /* first: index of the oldest filled piece */
    int ended;            /* the producer is done */
    int stopped;          /* the consumer is done */
    int threaded;
    struct pci_budget *budget;   /* of the thread that made the ring */
    struct pci_control *control; /* likewise */
    pci_thread thread;
    pcol_status status; /* of the side that runs in `thread`; valid once ended or stopped */
    pcol_error error;
};

static pcol_status ring_init(struct ring *r, size_t capacity, size_t count, pcol_error *err)
{
    *r = (struct ring){.capacity = capacity,
                       .count = count,
                       .budget = pci_thread_budget,
                       .control = pci_thread_control};
    r->bytes = count > SIZE_MAX / capacity ? NULL : pci_malloc(count * capacity, 1);
    r->sizes = pci_malloc(count, sizeof *r->sizes);
    if (r->bytes && r->sizes && pci_mutex_init(&r->lock) == 0) {
        if (pci_condition_init(&r->changed) == 0)
            return PCOL_OK;
        pci_mutex_destroy(&r->lock);
    }
    pci_free(r->bytes);
    pci_free(r->sizes);
    return pci_fail_memory(err);
}

static void ring_clear(struct ring *r)
{
    if (r->threaded)
        pci_thread_join(r->thread);
    pci_condition_destroy(&r->changed);
    pci_mutex_destroy(&r->lock);
    pci_free(r->bytes);
    pci_free(r->sizes);
}

/* Wait for a piece to fill; NULL if the consumer has stopped. */
static uint8_t *ring_acquire(struct ring *r)
{
    pci_mutex_lock(&r->lock);
    while (r->filled == r->count && !r->stopped)
        pci_condition_wait(&r->changed, &r->lock);
    uint8_t *piece = r->stopped ? NULL : r->bytes + (r->first + r->filled) % r->count * r->capacity;
    pci_mutex_unlock(&r->lock);
    return piece;
}

static void ring_push(struct ring *r, size_t size)
{
    pci_mutex_lock(&r->lock);
    r->sizes[(r->first + r->filled) % r->count] = size;
    r->filled++;
    pci_condition_signal(&r->changed);
    pci_mutex_unlock(&r->lock);
}

/* Wait for the oldest filled piece; NULL at the end. */
static const uint8_t *ring_front(struct ring *r, size_t *size)
{
    pci_mutex_lock(&r->lock);
    while (!r->filled && !r->ended)
        pci_condition_wait(&r->changed, &r->lock);
    const uint8_t *piece = r->filled ? r->bytes + r->first * r->capacity : NULL;
    *size = piece ? r->sizes[r->first] : 0;
    pci_mutex_unlock(&r->lock);
    return piece;
}

static void ring_pop(struct ring *r)
{
    pci_mutex_lock(&r->lock);
    r->first = (r->first + 1) % r->count;
    r->filled--;
    pci_condition_signal(&r->changed);
    pci_mutex_unlock(&r->lock);
}

/* Close one side; flag: &r->ended or &r->stopped. */
static void ring_close(struct ring *r, int *flag, pcol_status status, const pcol_error *error)
{
    pci_mutex_lock(&r->lock);
    *flag = 1;
    if (status != PCOL_OK) {
        r->status = status;
        r->error = *error;
    }
    pci_condition_signal(&r->changed);
    pci_mutex_unlock(&r->lock);
}

/* Status of the thread, once it has closed its side. */
static pcol_status ring_status(const struct ring *r, pcol_error *err)
{
    if (r->status != PCOL_OK && err)
        *err = r->error;
    return r->status;
}

/* ---- read pipe ---- */

struct pci_read_pipe {
    struct ring ring;
    pci_pipe_produce produce;
    void *context;
    int taken; /* the caller uses the oldest piece */
};

static void *produce_pieces(void *context)
{
    struct pci_read_pipe *pipe = context;
    pcol_status status = PCOL_OK;
    pcol_error error = {0};
    uint8_t *piece;
    inherit_scopes(pipe->ring.budget, pipe->ring.control);
    while ((piece = ring_acquire(&pipe->ring))) {
        size_t size = 0;
        status = pipe->produce(pipe->context, piece, pipe->ring.capacity, &size, &error);
        if (status != PCOL_OK || !size)
            break;
        ring_push(&pipe->ring, size);
    }
    ring_close(&pipe->ring, &pipe->ring.ended, status, &error);
    return NULL;
}

pcol_status pci_read_pipe_new(pci_pipe_produce produce, void *context, size_t capacity,
                              size_t count, struct pci_read_pipe **pipe, pcol_error *err)
{
    struct pci_read_pipe *p;
    *pipe = NULL;
    PCI_TRY(PCI_CALLOC(p, 1, err));
    p->produce = produce;
    p->context = context;
    pcol_status status = ring_init(&p->ring, capacity, count, err);
    if (status != PCOL_OK) {
        pci_free(p);
        return status;
    }
    p->ring.threaded = start_thread(&p->ring.thread, produce_pieces, p) == 0;
    *pipe = p;
    return PCOL_OK;
}

/* The next piece without a thread: produced by the caller. */
static pcol_status produce_piece(struct pci_read_pipe *pipe, const uint8_t **data, size_t *size,
                                 pcol_error *err)
{
    struct ring *ring = &pipe->ring;
    *data = ring->bytes;
    *size = 0;
    if (ring->ended)
        return ring_status(ring, err);
    pcol_error error = {0};
    pcol_status status = pipe->produce(pipe->context, ring->bytes, ring->capacity, size, &error);
    if (status != PCOL_OK || !*size)
        ring_close(ring, &ring->ended, status, &error);
    return ring_status(ring, err);
}

pcol_status pci_read_pipe_next(struct pci_read_pipe *pipe, const uint8_t **data, size_t *size,
                               pcol_error *err)
{
    if (!pipe->ring.threaded)
        return produce_piece(pipe, data, size, err);
    if (pipe->taken)
        ring_pop(&pipe->ring);
    *data = ring_front(&pipe->ring, size);
    pipe->taken = *data != NULL;
    return pipe->taken ? PCOL_OK : ring_status(&pipe->ring, err);
}

int pci_read_pipe_has_thread(const struct pci_read_pipe *pipe)
{
    return pipe->ring.threaded;
}

int pci_read_pipe_would_block(struct pci_read_pipe *pipe)
{
    struct ring *r = &pipe->ring;
    if (!r->threaded)
        return 0;
    pci_mutex_lock(&r->lock);
    int waits = r->filled <= (size_t)(pipe->taken != 0) && !r->ended;
    pci_mutex_unlock(&r->lock);
    return waits;
}

void pci_read_pipe_free(struct pci_read_pipe *pipe)
{
    if (!pipe)
        return;
    ring_close(&pipe->ring, &pipe->ring.stopped, PCOL_OK, NULL);
    ring_clear(&pipe->ring);
    pci_free(pipe);
}

/* ---- write pipe ---- */

struct pci_write_pipe {
    struct ring ring;
    pcol_sink sink;
    uint8_t *piece; /* the piece that is being filled; NULL: none */
    size_t used;
};

static void *write_pieces(void *context)
{
    struct pci_write_pipe *pipe = context;
    pcol_status status = PCOL_OK;
    pcol_error error = {0};
    const uint8_t *piece;
    size_t size;
    inherit_scopes(pipe->ring.budget, pipe->ring.control);
    while (status == PCOL_OK && (piece = ring_front(&pipe->ring, &size))) {
        status = pci_sink_write(pipe->sink, piece, size, &error);
        if (status == PCOL_OK)
            ring_pop(&pipe->ring);
    }
    ring_close(&pipe->ring, &pipe->ring.stopped, status, &error);
    return NULL;
}

pcol_status pci_write_pipe_new(pcol_sink sink, size_t capacity, size_t count,
                               struct pci_write_pipe **pipe, pcol_error *err)
{
    struct pci_write_pipe *p;
    *pipe = NULL;
    PCI_TRY(PCI_CALLOC(p, 1, err));
    p->sink = sink;
    pcol_status status = ring_init(&p->ring, capacity, count, err);
    if (status != PCOL_OK) {
        pci_free(p);
        return status;
    }
    p->ring.threaded = start_thread(&p->ring.thread, write_pieces, p) == 0;
    *pipe = p;
    return PCOL_OK;
}

static pcol_status write_directly(struct pci_write_pipe *pipe, const void *data, size_t size,
                                  pcol_error *err)
{
    if (pipe->ring.status == PCOL_OK) {
        pcol_error error = {0};
        pcol_status status = pci_sink_write(pipe->sink, data, size, &error);
        if (status != PCOL_OK)
            ring_close(&pipe->ring, &pipe->ring.stopped, status, &error);
    }
    return ring_status(&pipe->ring, err);
}

static pcol_status write_copy(void *context, const void *data, size_t size, pcol_error *err)
{
    struct pci_write_pipe *pipe = context;
    const uint8_t *from = data;
    if (!pipe->ring.threaded)
        return size ? write_directly(pipe, data, size, err) : PCOL_OK;
    while (size) {
        if (!pipe->piece)
            pipe->piece = ring_acquire(&pipe->ring);
        if (!pipe->piece)
            return ring_status(&pipe->ring, err);
        size_t n = pipe->ring.capacity - pipe->used;
        n = size < n ? size : n;
        memcpy(pipe->piece + pipe->used, from, n);
        pipe->used += n;
        from += n;
        size -= n;
        if (pipe->used < pipe->ring.capacity)
            break;
        ring_push(&pipe->ring, pipe->used);
        pipe->piece = NULL;
        pipe->used = 0;
    }
    return PCOL_OK;
}

pcol_sink pci_write_pipe_sink(struct pci_write_pipe *pipe)
{
    return (pcol_sink){write_copy, pipe};
}

pcol_status pci_write_pipe_finish(struct pci_write_pipe *pipe, pcol_error *err)
{
    if (pipe->used)
        ring_push(&pipe->ring, pipe->used);
    pipe->piece = NULL;
    pipe->used = 0;
    if (pipe->ring.threaded) {
        ring_close(&pipe->ring, &pipe->ring.ended, PCOL_OK, NULL);
        pci_thread_join(pipe->ring.thread);
        pipe->ring.threaded = 0;
    }
    return ring_status(&pipe->ring, err);
}

/* Drop all pieces but the one that the thread is writing. */
static void drop_pieces(struct ring *r)
{
    pci_mutex_lock(&r->lock);
    if (r->filled > 1)
        r->filled = 1;
    pci_mutex_unlock(&r->lock);
}

void pci_write_pipe_free(struct pci_write_pipe *pipe)
{
    if (!pipe)
        return;
    drop_pieces(&pipe->ring);
    ring_close(&pipe->ring, &pipe->ring.ended, PCOL_OK, NULL);
    ring_clear(&pipe->ring);
    pci_free(pipe);
}
