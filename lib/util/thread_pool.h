/*
 * thread_pool.h - work done by other threads beside the caller's
 *
 * Two shapes only: tasks that do not know of each other (pci_parallel_for), and a stream of bytes
 * that one thread makes and another one uses (pci_read_pipe, pci_write_pipe). What comes out is
 * the same
 * for any number of threads, errors too; where a thread cannot be had, the caller does the work
 * itself. The library starts threads only where its caller asked for them (the options' `threads`).
 */
#ifndef PCI_UTIL_THREAD_POOL_H
#define PCI_UTIL_THREAD_POOL_H

#include "util/error.h"

#define PCI_MAX_THREADS 64u

/* Below so many bytes of input nobody would notice the threads, save by what it costs to start
 * them. */
#define PCI_PARALLEL_MIN_BYTES ((uint64_t)1 << 20)

/* Tests: called before each thread is started; non-zero: it cannot be had. NULL: none. */
extern int (*pci_thread_hook)(void);

/* ---- tasks */

typedef pcol_status (*pci_task)(void *context, size_t number, pcol_error *err);

/* Call task(context, number, ...) for numbers 0 to count - 1, begun in this order, by up to
 * `threads` threads at a time, the caller's included (0 and 1: by that alone); back when all have
 * ended. After a failure none is begun any more; status and error are those of the lowest number
 * that failed. */
pcol_status pci_parallel_for(unsigned threads, size_t count, pci_task task, void *context,
                             pcol_error *err);

/* ---- a task that waits for a part of another one */

/* Tasks are begun in their order: one may wait for what one with a lower number does, and must not
 * for one with a higher number. Whoever is waited for opens the gate whatever comes of it. */
struct pci_latch;
/* NULL: it cannot be had. */
struct pci_latch *pci_latch_new(void);
void pci_latch_open(struct pci_latch *gate);
void pci_latch_wait(struct pci_latch *gate);
/* NULL: nothing. */
void pci_latch_free(struct pci_latch *gate);

/* ---- a stream that a thread makes ahead of the caller */

/* Fill in up to `capacity` bytes; *size is 0 at the end. It runs in the other thread. */
typedef pcol_status (*pci_pipe_produce)(void *context, void *data, size_t capacity, size_t *size,
                                        pcol_error *err);

struct pci_read_pipe;

/* Begin; at most `count` pieces of up to `capacity` bytes wait at a time. */
pcol_status pci_read_pipe_new(pci_pipe_produce make, void *context, size_t capacity, size_t count,
                              struct pci_read_pipe **ahead, pcol_error *err);
/* The next piece, valid until the next call; *size is 0 at the end, as often as one asks. A failure
 * of `make` comes when all that it made before has been taken. */
pcol_status pci_read_pipe_take(struct pci_read_pipe *ahead, const uint8_t **data, size_t *size,
                               pcol_error *err);
/* Whether there is another thread: else pieces are made when they are asked for. */
int pci_read_pipe_has_thread(const struct pci_read_pipe *ahead);
/* Would the next take have to wait for the other thread? */
int pci_read_pipe_waits(struct pci_read_pipe *ahead);
/* Stops the other thread after the piece that it is making. NULL: nothing. */
void pci_read_pipe_free(struct pci_read_pipe *ahead);

/* ---- a stream that a thread uses behind the caller */

struct pci_write_pipe;

/* What is written goes to `sink` piece by piece, called by the other thread. */
pcol_status pci_write_pipe_new(pcol_sink sink, size_t capacity, size_t count,
                               struct pci_write_pipe **behind, pcol_error *err);
/* Takes copies; after a failure of the sink every write fails the same way. */
pcol_sink pci_write_pipe_sink(struct pci_write_pipe *behind);
/* Hand over what is left, and wait until all was used: the sink's status. */
pcol_status pci_write_pipe_finish(struct pci_write_pipe *behind, pcol_error *err);
/* Without finish, pieces that wait are dropped. NULL: nothing. */
void pci_write_pipe_free(struct pci_write_pipe *behind);

#endif
