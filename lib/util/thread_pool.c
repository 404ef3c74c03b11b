/*
 * thread_pool.c - threads that run tasks, and a ring of pieces between two threads
 *
 * A ring has one side that fills pieces and one that empties them, each waiting for the other by
 * one condition. The side that ends says so with its status; the other one finds it when it has
 * taken what was filled before (the emptying side) or at once (the filling side).
 */
#include "util/thread_pool.h"

#include "util/alloc.h"
#include "util/import_budget.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* Nothing that runs here needs more; the system's default of 8 MB would count against limits on
 * memory. */
#define STACK_BYTES ((size_t)1 << 20)

int (*pci_thread_hook)(void);

/* Signals stay with the caller's threads, but for those that an instruction causes: they belong to
 * the thread that ran it. */
static int start(pthread_t *thread, void *(*run)(void *), void *context)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t all, before;
    pthread_attr_t attributes;
    if ((pci_thread_hook && pci_thread_hook()) || pthread_attr_init(&attributes) != 0)
        return -1;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&all, own[i]);
    int result = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (result == 0)
        result = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (result == 0) {
        result = pthread_create(thread, &attributes, run, context);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return result == 0 ? 0 : -1;
}

/* ---- tasks ---- */

struct crew {
    pci_task task;
    void *context;
    struct pci_budget *budget; /* of the caller */
    size_t count;
    atomic_size_t next;
    atomic_int failed;
    pthread_mutex_t lock; /* of what follows */
    size_t worst;         /* lowest number that failed */
    pcol_status status;
    pcol_error error;
};

static void note_failure(struct crew *crew, size_t number, pcol_status status,
                         const pcol_error *error)
{
    pthread_mutex_lock(&crew->lock);
    if (crew->status == PCOL_OK || number < crew->worst) {
        crew->worst = number;
        crew->status = status;
        crew->error = *error;
    }
    pthread_mutex_unlock(&crew->lock);
    atomic_store(&crew->failed, 1);
}

/* A number once taken is run even if a higher one has failed meanwhile: it might fail, too, and
 * then it is the one to name. */
static void *work(void *context)
{
    struct crew *crew = context;
    pci_budget_now = crew->budget;
    while (!atomic_load(&crew->failed)) {
        size_t number = atomic_fetch_add(&crew->next, 1);
        pcol_error error = {0};
        if (number >= crew->count)
            break;
        pcol_status status = crew->task(crew->context, number, &error);
        if (status != PCOL_OK)
            note_failure(crew, number, status, &error);
    }
    return NULL;
}

pcol_status pci_parallel_for(unsigned threads, size_t count, pci_task task, void *context,
                             pcol_error *err)
{
    struct crew crew = {.task = task, .context = context, .budget = pci_budget_now, .count = count};
    pthread_t others[PCI_MAX_THREADS];
    size_t started = 0;
    if (threads > PCI_MAX_THREADS)
        threads = PCI_MAX_THREADS;
    if (threads < 2 || count < 2 || pthread_mutex_init(&crew.lock, NULL) != 0) {
        for (size_t i = 0; i < count; i++)
            PCI_TRY(task(context, i, err));
        return PCOL_OK;
    }
    while (started + 1 < threads && started + 1 < count &&
           start(&others[started], work, &crew) == 0)
        started++;
    work(&crew);
    for (size_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    pthread_mutex_destroy(&crew.lock);
    if (crew.status != PCOL_OK && err)
        *err = crew.error;
    return crew.status;
}

/* ---- a gate ---- */

struct pci_latch {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int open;
};

struct pci_latch *pci_latch_new(void)
{
    struct pci_latch *gate = pci_calloc(1, sizeof *gate);
    if (gate && pthread_mutex_init(&gate->lock, NULL) == 0) {
        if (pthread_cond_init(&gate->opened, NULL) == 0)
            return gate;
        pthread_mutex_destroy(&gate->lock);
    }
    pci_free(gate);
    return NULL;
}

void pci_latch_open(struct pci_latch *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = 1;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
}

void pci_latch_wait(struct pci_latch *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->opened, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

void pci_latch_free(struct pci_latch *gate)
{
    if (!gate)
        return;
    pthread_cond_destroy(&gate->opened);
    pthread_mutex_destroy(&gate->lock);
    pci_free(gate);
}

/* ---- the ring ---- */

struct ring {
    pthread_mutex_t lock;
    pthread_cond_t change;
    uint8_t *bytes; /* count * capacity */
    size_t *sizes;
    size_t capacity, count;
    size_t first, filled; /* first: the oldest filled piece */
    int ended;            /* nothing more is filled */
    int stopped;          /* nothing more is emptied */
    int threaded;
    struct pci_budget *budget; /* of the thread that made it */
    pthread_t thread;
    pcol_status status; /* of the side that ran in the thread, valid once ended or stopped */
    pcol_error error;
};

static pcol_status ring_init(struct ring *r, size_t capacity, size_t count, pcol_error *err)
{
    *r = (struct ring){.capacity = capacity, .count = count, .budget = pci_budget_now};
    r->bytes = count > SIZE_MAX / capacity ? NULL : pci_malloc(count * capacity, 1);
    r->sizes = pci_malloc(count, sizeof *r->sizes);
    if (r->bytes && r->sizes && pthread_mutex_init(&r->lock, NULL) == 0) {
        if (pthread_cond_init(&r->change, NULL) == 0)
            return PCOL_OK;
        pthread_mutex_destroy(&r->lock);
    }
    pci_free(r->bytes);
    pci_free(r->sizes);
    return pci_fail_memory(err);
}

static void ring_clear(struct ring *r)
{
    if (r->threaded)
        pthread_join(r->thread, NULL);
    pthread_cond_destroy(&r->change);
    pthread_mutex_destroy(&r->lock);
    pci_free(r->bytes);
    pci_free(r->sizes);
}

/* A piece to fill, NULL if the other side has stopped. */
static uint8_t *ring_room(struct ring *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->filled == r->count && !r->stopped)
        pthread_cond_wait(&r->change, &r->lock);
    uint8_t *piece = r->stopped ? NULL : r->bytes + (r->first + r->filled) % r->count * r->capacity;
    pthread_mutex_unlock(&r->lock);
    return piece;
}

static void ring_filled(struct ring *r, size_t size)
{
    pthread_mutex_lock(&r->lock);
    r->sizes[(r->first + r->filled) % r->count] = size;
    r->filled++;
    pthread_cond_signal(&r->change);
    pthread_mutex_unlock(&r->lock);
}

/* The oldest filled piece, NULL at the end. */
static const uint8_t *ring_piece(struct ring *r, size_t *size)
{
    pthread_mutex_lock(&r->lock);
    while (!r->filled && !r->ended)
        pthread_cond_wait(&r->change, &r->lock);
    const uint8_t *piece = r->filled ? r->bytes + r->first * r->capacity : NULL;
    *size = piece ? r->sizes[r->first] : 0;
    pthread_mutex_unlock(&r->lock);
    return piece;
}

static void ring_emptied(struct ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->first = (r->first + 1) % r->count;
    r->filled--;
    pthread_cond_signal(&r->change);
    pthread_mutex_unlock(&r->lock);
}

/* flag: r->ended or r->stopped. */
static void ring_close(struct ring *r, int *flag, pcol_status status, const pcol_error *error)
{
    pthread_mutex_lock(&r->lock);
    *flag = 1;
    if (status != PCOL_OK) {
        r->status = status;
        r->error = *error;
    }
    pthread_cond_signal(&r->change);
    pthread_mutex_unlock(&r->lock);
}

/* Of the thread that has closed its side. */
static pcol_status ring_status(const struct ring *r, pcol_error *err)
{
    if (r->status != PCOL_OK && err)
        *err = r->error;
    return r->status;
}

/* ---- ahead ---- */

struct pci_read_pipe {
    struct ring ring;
    pci_pipe_produce make;
    void *context;
    int taken; /* a piece is in the caller's hands */
};

static void *make_pieces(void *context)
{
    struct pci_read_pipe *a = context;
    pcol_status status = PCOL_OK;
    pcol_error error = {0};
    uint8_t *piece;
    pci_budget_now = a->ring.budget;
    while ((piece = ring_room(&a->ring))) {
        size_t size = 0;
        status = a->make(a->context, piece, a->ring.capacity, &size, &error);
        if (status != PCOL_OK || !size)
            break;
        ring_filled(&a->ring, size);
    }
    ring_close(&a->ring, &a->ring.ended, status, &error);
    return NULL;
}

pcol_status pci_read_pipe_new(pci_pipe_produce make, void *context, size_t capacity, size_t count,
                              struct pci_read_pipe **ahead, pcol_error *err)
{
    struct pci_read_pipe *a = pci_calloc(1, sizeof *a);
    *ahead = NULL;
    if (!a)
        return pci_fail_memory(err);
    a->make = make;
    a->context = context;
    pcol_status status = ring_init(&a->ring, capacity, count, err);
    if (status != PCOL_OK) {
        pci_free(a);
        return status;
    }
    a->ring.threaded = start(&a->ring.thread, make_pieces, a) == 0;
    *ahead = a;
    return PCOL_OK;
}

/* Without a thread: one piece at a time, when it is asked for. */
static pcol_status make_now(struct pci_read_pipe *a, const uint8_t **data, size_t *size,
                            pcol_error *err)
{
    *data = a->ring.bytes;
    *size = 0;
    if (a->ring.ended)
        return ring_status(&a->ring, err);
    pcol_error error = {0};
    pcol_status status = a->make(a->context, a->ring.bytes, a->ring.capacity, size, &error);
    if (status != PCOL_OK || !*size)
        ring_close(&a->ring, &a->ring.ended, status, &error);
    return ring_status(&a->ring, err);
}

pcol_status pci_read_pipe_take(struct pci_read_pipe *ahead, const uint8_t **data, size_t *size,
                               pcol_error *err)
{
    struct pci_read_pipe *a = ahead;
    if (!a->ring.threaded)
        return make_now(a, data, size, err);
    if (a->taken)
        ring_emptied(&a->ring);
    *data = ring_piece(&a->ring, size);
    a->taken = *data != NULL;
    return a->taken ? PCOL_OK : ring_status(&a->ring, err);
}

int pci_read_pipe_has_thread(const struct pci_read_pipe *ahead)
{
    return ahead->ring.threaded;
}

int pci_read_pipe_waits(struct pci_read_pipe *ahead)
{
    struct ring *r = &ahead->ring;
    if (!r->threaded)
        return 0;
    pthread_mutex_lock(&r->lock);
    int waits = r->filled <= (size_t)(ahead->taken != 0) && !r->ended;
    pthread_mutex_unlock(&r->lock);
    return waits;
}

void pci_read_pipe_free(struct pci_read_pipe *ahead)
{
    if (!ahead)
        return;
    ring_close(&ahead->ring, &ahead->ring.stopped, PCOL_OK, NULL);
    ring_clear(&ahead->ring);
    pci_free(ahead);
}

/* ---- behind ---- */

struct pci_write_pipe {
    struct ring ring;
    pcol_sink sink;
    uint8_t *piece; /* that is being filled; NULL: none */
    size_t used;
};

static void *use_pieces(void *context)
{
    struct pci_write_pipe *b = context;
    pcol_status status = PCOL_OK;
    pcol_error error = {0};
    const uint8_t *piece;
    size_t size;
    pci_budget_now = b->ring.budget;
    while (status == PCOL_OK && (piece = ring_piece(&b->ring, &size))) {
        status = pci_sink_write(b->sink, piece, size, &error);
        if (status == PCOL_OK)
            ring_emptied(&b->ring);
    }
    ring_close(&b->ring, &b->ring.stopped, status, &error);
    return NULL;
}

pcol_status pci_write_pipe_new(pcol_sink sink, size_t capacity, size_t count,
                               struct pci_write_pipe **behind, pcol_error *err)
{
    struct pci_write_pipe *b = pci_calloc(1, sizeof *b);
    *behind = NULL;
    if (!b)
        return pci_fail_memory(err);
    b->sink = sink;
    pcol_status status = ring_init(&b->ring, capacity, count, err);
    if (status != PCOL_OK) {
        pci_free(b);
        return status;
    }
    b->ring.threaded = start(&b->ring.thread, use_pieces, b) == 0;
    *behind = b;
    return PCOL_OK;
}

static pcol_status write_now(struct pci_write_pipe *b, const void *data, size_t size,
                             pcol_error *err)
{
    if (b->ring.status == PCOL_OK) {
        pcol_error error = {0};
        pcol_status status = pci_sink_write(b->sink, data, size, &error);
        if (status != PCOL_OK)
            ring_close(&b->ring, &b->ring.stopped, status, &error);
    }
    return ring_status(&b->ring, err);
}

static pcol_status write_behind(void *context, const void *data, size_t size, pcol_error *err)
{
    struct pci_write_pipe *b = context;
    const uint8_t *from = data;
    if (!b->ring.threaded)
        return size ? write_now(b, data, size, err) : PCOL_OK;
    while (size) {
        if (!b->piece)
            b->piece = ring_room(&b->ring);
        if (!b->piece)
            return ring_status(&b->ring, err);
        size_t room = b->ring.capacity - b->used;
        size_t n = size < room ? size : room;
        memcpy(b->piece + b->used, from, n);
        b->used += n;
        from += n;
        size -= n;
        if (b->used < b->ring.capacity)
            break;
        ring_filled(&b->ring, b->used);
        b->piece = NULL;
        b->used = 0;
    }
    return PCOL_OK;
}

pcol_sink pci_write_pipe_sink(struct pci_write_pipe *behind)
{
    return (pcol_sink){write_behind, behind};
}

pcol_status pci_write_pipe_finish(struct pci_write_pipe *behind, pcol_error *err)
{
    struct pci_write_pipe *b = behind;
    if (b->used)
        ring_filled(&b->ring, b->used);
    b->piece = NULL;
    b->used = 0;
    if (b->ring.threaded) {
        ring_close(&b->ring, &b->ring.ended, PCOL_OK, NULL);
        pthread_join(b->ring.thread, NULL);
        b->ring.threaded = 0;
    }
    return ring_status(&b->ring, err);
}

/* The thread stops at the piece in its hands: those behind it are taken from it. */
static void drop_pieces(struct ring *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->filled > 1)
        r->filled = 1;
    pthread_mutex_unlock(&r->lock);
}

void pci_write_pipe_free(struct pci_write_pipe *behind)
{
    if (!behind)
        return;
    drop_pieces(&behind->ring);
    ring_close(&behind->ring, &behind->ring.ended, PCOL_OK, NULL);
    ring_clear(&behind->ring);
    pci_free(behind);
}
