/*
 * stack_helper.c - work sharing between the two readers of samples
 *
 * The reader of stacks goes from the first block upwards, the helper from the last downwards. At
 * most one block can be wanted by both: the one that is being scanned when the reader of stacks
 * arrives; it waits for that block. A mutex guards the shared members.
 */
#include "formats/pprof/read.h"
#include "util/alloc.h"
#include "util/lock.h"

#define MOST_GROUPS (UINT64_C(1) << 18) /* of all scanned blocks: 1 MiB */
#define NO_BLOCK SIZE_MAX

struct mark { /* position of a queue reader at the start of a block */
    uint64_t offset, end;
};

struct pci_pprof_stack_helper {
    /* Of the helping thread only. */
    struct mark *marks;
    size_t mark_count, capacity;
    int has_missing_marks; /* out of memory: marks are missing */

    pci_mutex lock; /* guards the following members */
    pci_condition done;
    struct pci_pprof_scanned_block *blocks;
    size_t block_count;
    size_t lowest;   /* lowest block given to the helper */
    size_t busy;     /* being scanned, or NO_BLOCK */
    size_t consumer; /* block of the reader of stacks */
};

pcol_status pci_pprof_stack_helper_new(struct pci_pprof_stack_helper **helper, pcol_error *err)
{
    struct pci_pprof_stack_helper *s = pci_calloc(1, sizeof *s);
    *helper = NULL;
    if (s && pci_mutex_init(&s->lock) == 0) {
        if (pci_condition_init(&s->done) == 0) {
            s->lowest = s->busy = NO_BLOCK;
            *helper = s;
            return PCOL_OK;
        }
        pci_mutex_destroy(&s->lock);
    }
    pci_free(s);
    return pci_fail_memory(err);
}

void pci_pprof_stack_helper_free(struct pci_pprof_stack_helper *helper)
{
    if (!helper)
        return;
    for (size_t i = 0; i < helper->block_count; i++) {
        pci_free(helper->blocks[i].pending);
        pci_free(helper->blocks[i].groups);
    }
    pci_free(helper->blocks);
    pci_free(helper->marks);
    pci_condition_destroy(&helper->done);
    pci_mutex_destroy(&helper->lock);
    pci_free(helper);
}

/* Out of memory is not an error: there is no help then. */
void pci_pprof_stack_helper_mark(struct pci_pprof_stack_helper *helper,
                                 const struct pci_pprof_queue_reader *reader)
{
    helper->has_missing_marks |= pci_grow((void **)&helper->marks, &helper->capacity,
                                          helper->mark_count + 1, sizeof *helper->marks) != 0;
    if (!helper->has_missing_marks)
        helper->marks[helper->mark_count++] = (struct mark){reader->offset, reader->end};
}

/* Scan a block; it stays unset on any error. */
static void scan_block(const struct pci_pprof_stacks *stacks, struct mark mark,
                       struct pci_pprof_scanned_block *block, size_t *groups)
{
    struct pci_pprof_stacks scanner = {
        .samples = stacks->samples, .location_ids = stacks->location_ids, .recent = stacks->recent};
    scanner.reader.offset = mark.offset;
    scanner.reader.end = mark.end;
    scanner.pending = pci_malloc(PCI_PPROF_BLOCK, sizeof *scanner.pending);
    if (!scanner.pending ||
        pci_grow((void **)&scanner.groups, &scanner.group_capacity, 1, sizeof *scanner.groups) ||
        pci_pprof_stacks_scan(&scanner, PCI_PPROF_BLOCK, NULL) != PCOL_OK) {
        pci_free(scanner.pending);
        pci_free(scanner.groups);
    } else {
        *groups += scanner.group_count;
        *block =
            (struct pci_pprof_scanned_block){scanner.pending, scanner.groups, scanner.pending_count,
                                             scanner.reader.offset, scanner.reader.end};
    }
    pci_spill_view_clear(&scanner.reader.view);
}

/* Claim the next block to scan; NO_BLOCK: both have met. */
static size_t claim_block(struct pci_pprof_stack_helper *helper)
{
    pci_mutex_lock(&helper->lock);
    size_t next = helper->lowest - 1;
    int has_met = helper->lowest == 0 || helper->consumer == NO_BLOCK || next <= helper->consumer;
    if (!has_met)
        helper->lowest = helper->busy = next;
    pci_mutex_unlock(&helper->lock);
    return has_met ? NO_BLOCK : next;
}

void pci_pprof_stack_helper_run(struct pci_pprof_stack_helper *helper,
                                const struct pci_pprof_stacks *stacks)
{
    size_t count = helper->has_missing_marks ? 0 : helper->mark_count, number, groups = 0;
    struct pci_pprof_scanned_block *blocks = pci_calloc(count, sizeof *blocks);
    if (!blocks)
        return;
    pci_mutex_lock(&helper->lock);
    helper->blocks = blocks;
    helper->block_count = helper->lowest = count;
    pci_mutex_unlock(&helper->lock);
    while (groups < MOST_GROUPS && (number = claim_block(helper)) != NO_BLOCK) {
        scan_block(stacks, helper->marks[number], &blocks[number], &groups);
        pci_mutex_lock(&helper->lock);
        helper->busy = NO_BLOCK;
        pci_condition_signal(&helper->done);
        pci_mutex_unlock(&helper->lock);
    }
}

struct pci_pprof_scanned_block pci_pprof_stack_helper_take(struct pci_pprof_stack_helper *helper,
                                                           size_t number)
{
    struct pci_pprof_scanned_block block = {0};
    pci_mutex_lock(&helper->lock);
    helper->consumer = number;
    while (number != NO_BLOCK && helper->busy == number)
        pci_condition_wait(&helper->done, &helper->lock);
    if (number >= helper->lowest && number < helper->block_count) {
        block = helper->blocks[number];
        helper->blocks[number] = (struct pci_pprof_scanned_block){0};
    }
    pci_mutex_unlock(&helper->lock);
    return block;
}
