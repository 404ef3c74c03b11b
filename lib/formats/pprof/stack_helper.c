/*
 * stack_helper.c - samples that the reader of the rest looks at for the reader of stacks
 *
 * Both meet somewhere: the one goes from the first sample on, the other one from the last block
 * backwards. So there is never more than one block that both may want, the one that is being looked
 * at when the reader of stacks comes to it, and for this one it waits.
 */
#include "formats/pprof/read.h"
#include "util/alloc.h"

#include <pthread.h>

#define MOST_GROUPS (UINT64_C(1) << 18) /* on the shelf, together: 1 MiB */
#define NO_BLOCK SIZE_MAX

struct mark { /* of a taker where a block begins */
    uint64_t taken, end;
};

struct pci_pprof_stack_helper {
    /* Of the one that fills. */
    struct mark *marks;
    size_t mark_count, capacity;
    int unmarked; /* some are missing */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t done;
    struct pci_pprof_scanned_stack *blocks;
    size_t block_count;
    size_t lowest; /* of those that are looked at here */
    size_t busy;   /* that is being looked at */
    size_t other;  /* where the reader of stacks is */
};

pcol_status pci_pprof_stack_helper_new(struct pci_pprof_stack_helper **shelf, pcol_error *err)
{
    struct pci_pprof_stack_helper *s = pci_calloc(1, sizeof *s);
    *shelf = NULL;
    if (s && pthread_mutex_init(&s->lock, NULL) == 0) {
        if (pthread_cond_init(&s->done, NULL) == 0) {
            s->lowest = s->busy = NO_BLOCK;
            *shelf = s;
            return PCOL_OK;
        }
        pthread_mutex_destroy(&s->lock);
    }
    pci_free(s);
    return pci_fail_memory(err);
}

void pci_pprof_stack_helper_free(struct pci_pprof_stack_helper *shelf)
{
    if (!shelf)
        return;
    for (size_t i = 0; i < shelf->block_count; i++) {
        pci_free(shelf->blocks[i].waiting);
        pci_free(shelf->blocks[i].groups);
    }
    pci_free(shelf->blocks);
    pci_free(shelf->marks);
    pthread_cond_destroy(&shelf->done);
    pthread_mutex_destroy(&shelf->lock);
    pci_free(shelf);
}

/* Without memory for it there is just no help. */
void pci_pprof_stack_helper_mark(struct pci_pprof_stack_helper *shelf,
                                 const struct pci_pprof_taker *taker)
{
    shelf->unmarked |= pci_grow((void **)&shelf->marks, &shelf->capacity, shelf->mark_count + 1,
                                sizeof *shelf->marks) != 0;
    if (!shelf->unmarked)
        shelf->marks[shelf->mark_count++] = (struct mark){taker->taken, taker->end};
}

/* Looks at a block; what is there of it stays unset if anything is wrong. */
static void look(const struct pci_pprof_stacks *stacks, struct mark mark,
                 struct pci_pprof_scanned_stack *block, size_t *groups)
{
    struct pci_pprof_stacks own = {
        .samples = stacks->samples, .location_ids = stacks->location_ids, .recent = stacks->recent};
    own.taker.taken = mark.taken;
    own.taker.end = mark.end;
    own.waiting = pci_malloc(PCI_PPROF_BLOCK, sizeof *own.waiting);
    if (!own.waiting ||
        pci_grow((void **)&own.groups, &own.group_capacity, 1, sizeof *own.groups) ||
        pci_pprof_stacks_look(&own, PCI_PPROF_BLOCK, NULL) != PCOL_OK) {
        pci_free(own.waiting);
        pci_free(own.groups);
    } else {
        *groups += own.group_count;
        *block = (struct pci_pprof_scanned_stack){own.waiting, own.groups, own.waiting_count,
                                                  own.taker.taken, own.taker.end};
    }
    pci_spill_view_clear(&own.taker.view);
}

/* The next block to be looked at, NO_BLOCK: they have met. */
static size_t begin_block(struct pci_pprof_stack_helper *shelf)
{
    pthread_mutex_lock(&shelf->lock);
    size_t next = shelf->lowest - 1;
    int met = shelf->lowest == 0 || shelf->other == NO_BLOCK || next <= shelf->other;
    if (!met)
        shelf->lowest = shelf->busy = next;
    pthread_mutex_unlock(&shelf->lock);
    return met ? NO_BLOCK : next;
}

void pci_pprof_stack_helper_fill(struct pci_pprof_stack_helper *shelf,
                                 const struct pci_pprof_stacks *stacks)
{
    size_t count = shelf->unmarked ? 0 : shelf->mark_count, number, groups = 0;
    struct pci_pprof_scanned_stack *blocks = pci_calloc(count, sizeof *blocks);
    if (!blocks)
        return;
    pthread_mutex_lock(&shelf->lock);
    shelf->blocks = blocks;
    shelf->block_count = shelf->lowest = count;
    pthread_mutex_unlock(&shelf->lock);
    while (groups < MOST_GROUPS && (number = begin_block(shelf)) != NO_BLOCK) {
        look(stacks, shelf->marks[number], &blocks[number], &groups);
        pthread_mutex_lock(&shelf->lock);
        shelf->busy = NO_BLOCK;
        pthread_cond_signal(&shelf->done);
        pthread_mutex_unlock(&shelf->lock);
    }
}

struct pci_pprof_scanned_stack pci_pprof_stack_helper_take(struct pci_pprof_stack_helper *shelf,
                                                           size_t number)
{
    struct pci_pprof_scanned_stack block = {0};
    pthread_mutex_lock(&shelf->lock);
    shelf->other = number;
    while (number != NO_BLOCK && shelf->busy == number)
        pthread_cond_wait(&shelf->done, &shelf->lock);
    if (number >= shelf->lowest && number < shelf->block_count) {
        block = shelf->blocks[number];
        shelf->blocks[number] = (struct pci_pprof_scanned_stack){0};
    }
    pthread_mutex_unlock(&shelf->lock);
    return block;
}
