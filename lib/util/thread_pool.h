/*
 * thread_pool.h - parallel loops, latches, and pipes to or from a thread
 *
 * Independent tasks (pci_parallel_for) and streams of bytes between a producer and a consumer
 * thread (pci_read_pipe, pci_write_pipe). Output and errors are the same for any number of threads;
 * if a thread cannot be started, the caller does the work. The library starts threads only if its
 * caller requests them (`threads` of the options). Tests: tests/unit/test_thread_pool.c,
 * tests/system/threads.
 */
#ifndef PCI_UTIL_THREAD_POOL_H
#define PCI_UTIL_THREAD_POOL_H

#include "util/error.h"

#define PCI_MAX_THREADS 64u

/* Below this number of input bytes, starting threads costs more than they save. */
#define PCI_PARALLEL_MIN_BYTES ((uint64_t)1 << 20)

/* Tests: called before each thread is started; non-zero makes the start fail. NULL: no hook. */
extern int (*pci_thread_hook)(void);

/* ---- parallel loop */

typedef pcol_status (*pci_task)(void *context, size_t number, pcol_error *err);

/* Call task(context, number, ...) for numbers 0 to count - 1, started in this order, on up to
 * `threads` threads including the caller's (0 and 1: the caller's only). Returns when all have
 * ended. After a failure no further task is started; status and error are those of the lowest
 * number that failed. */
pcol_status pci_parallel_for(unsigned threads, size_t count, pci_task task, void *context,
                             pcol_error *err);

/* ---- latch: a task that waits for a part of another one */

/* Tasks of a parallel loop start in order: a task may wait for one with a lower number, never for a
 * higher one. The task waited for must open the latch on every path, errors included. */
struct pci_latch;
/* NULL: out of resources. */
struct pci_latch *pci_latch_new(void);
void pci_latch_open(struct pci_latch *latch);
void pci_latch_wait(struct pci_latch *latch);
/* NULL: no effect. */
void pci_latch_free(struct pci_latch *latch);

/* ---- read pipe: a thread produces a stream for the caller */

/* Produce up to `capacity` bytes; *size is 0 at the end. Called by the thread of the pipe. */
typedef pcol_status (*pci_pipe_produce)(void *context, void *data, size_t capacity, size_t *size,
                                        pcol_error *err);

struct pci_read_pipe;

/* Start producing; at most `count` pieces of up to `capacity` bytes are buffered. */
pcol_status pci_read_pipe_new(pci_pipe_produce produce, void *context, size_t capacity,
                              size_t count, struct pci_read_pipe **pipe, pcol_error *err);
/* The next piece, valid until the next call; *size is 0 at the end, for every further call, too. A
 * failure of `produce` is returned after all pieces produced before it. */
pcol_status pci_read_pipe_next(struct pci_read_pipe *pipe, const uint8_t **data, size_t *size,
                               pcol_error *err);
/* Whether a thread produces; otherwise pci_read_pipe_next() calls `produce`. */
int pci_read_pipe_has_thread(const struct pci_read_pipe *pipe);
/* Whether pci_read_pipe_next() would block. */
int pci_read_pipe_would_block(struct pci_read_pipe *pipe);
/* Stop the thread after its current piece and release the pipe. NULL: no effect. */
void pci_read_pipe_free(struct pci_read_pipe *pipe);

/* ---- write pipe: a thread writes a stream of the caller */

struct pci_write_pipe;

/* Bytes are written to `sink` piece by piece, by the thread of the pipe. */
pcol_status pci_write_pipe_new(pcol_sink sink, size_t capacity, size_t count,
                               struct pci_write_pipe **pipe, pcol_error *err);
/* Sink that copies bytes into the pipe; after a failure of its sink every write fails the same
 * way. */
pcol_sink pci_write_pipe_sink(struct pci_write_pipe *pipe);
/* Write the last piece and wait until all pieces are written: status of the sink. */
pcol_status pci_write_pipe_finish(struct pci_write_pipe *pipe, pcol_error *err);
/* Release the pipe; without pci_write_pipe_finish(), pending pieces are dropped. NULL: no
 * effect. */
void pci_write_pipe_free(struct pci_write_pipe *pipe);

#endif
