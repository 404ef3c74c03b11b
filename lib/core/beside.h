/*
 * beside.h - work done by other threads beside the caller's
 *
 * Two shapes only: tasks that do not know of each other (pci_beside_each), and a stream of bytes
 * that one thread makes and another one uses (pci_ahead, pci_behind). What comes out is the same
 * for any number of threads, errors too; where a thread cannot be had, the caller does the work
 * itself. The library starts threads only where its caller asked for them (the options' `threads`).
 */
#ifndef PCI_BESIDE_H
#define PCI_BESIDE_H

#include "core/error.h"

#define PCI_MAX_THREADS 64u

/* Below so many bytes of input nobody would notice the threads, save by what it costs to start
 * them. */
#define PCI_BESIDE_BYTES ((uint64_t)1 << 20)

/* Tests: called before each thread is started; non-zero: it cannot be had. NULL: none. */
extern int (*pci_thread_hook)(void);

/* ---- tasks */

typedef pcol_status (*pci_task)(void *context, size_t number, pcol_error *err);

/* Call task(context, number, ...) for numbers 0 to count - 1, begun in this order, by up to
 * `threads` threads at a time, the caller's included (0 and 1: by that alone); back when all have
 * ended. After a failure none is begun any more; status and error are those of the lowest number
 * that failed. */
pcol_status pci_beside_each(unsigned threads, size_t count, pci_task task, void *context,
                            pcol_error *err);

/* ---- a task that waits for a part of another one */

/* Tasks are begun in their order: one may wait for what one with a lower number does, and must not
 * for one with a higher number. Whoever is waited for opens the gate whatever comes of it. */
struct pci_gate;
/* NULL: it cannot be had. */
struct pci_gate *pci_gate_new(void);
void pci_gate_open(struct pci_gate *gate);
void pci_gate_wait(struct pci_gate *gate);
/* NULL: nothing. */
void pci_gate_free(struct pci_gate *gate);

/* ---- a stream that a thread makes ahead of the caller */

/* Fill in up to `capacity` bytes; *size is 0 at the end. It runs in the other thread. */
typedef pcol_status (*pci_make)(void *context, void *data, size_t capacity, size_t *size,
                                pcol_error *err);

struct pci_ahead;

/* Begin; at most `count` pieces of up to `capacity` bytes wait at a time. */
pcol_status pci_ahead_new(pci_make make, void *context, size_t capacity, size_t count,
                          struct pci_ahead **ahead, pcol_error *err);
/* The next piece, valid until the next call; *size is 0 at the end, as often as one asks. A failure
 * of `make` comes when all that it made before has been taken. */
pcol_status pci_ahead_take(struct pci_ahead *ahead, const uint8_t **data, size_t *size,
                           pcol_error *err);
/* Whether there is another thread: else pieces are made when they are asked for. */
int pci_ahead_has_thread(const struct pci_ahead *ahead);
/* Would the next take have to wait for the other thread? */
int pci_ahead_waits(struct pci_ahead *ahead);
/* Stops the other thread after the piece that it is making. NULL: nothing. */
void pci_ahead_free(struct pci_ahead *ahead);

/* ---- a stream that a thread uses behind the caller */

struct pci_behind;

/* What is written goes to `sink` piece by piece, called by the other thread. */
pcol_status pci_behind_new(pcol_sink sink, size_t capacity, size_t count,
                           struct pci_behind **behind, pcol_error *err);
/* Takes copies; after a failure of the sink every write fails the same way. */
pcol_sink pci_behind_sink(struct pci_behind *behind);
/* Hand over what is left, and wait until all was used: the sink's status. */
pcol_status pci_behind_finish(struct pci_behind *behind, pcol_error *err);
/* Without finish, pieces that wait are dropped. NULL: nothing. */
void pci_behind_free(struct pci_behind *behind);

#endif
