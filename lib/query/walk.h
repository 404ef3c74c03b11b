/*
 * walk.h - all stacks in one pass
 *
 * Rows of `stacks` stand in depth-first pre-order, so the path to the row at hand is what is left
 * of the rows before it. Each row's frames are entered when the row comes and left when the path
 * lets go of it: twice per frame in all, however deep the path is. By then the weights of all rows
 * below it are known, so totals need no pass of their own.
 *
 * The walk is in a header so that the compiler puts a visitor's functions into the loop.
 */
#ifndef PCI_WALK_H
#define PCI_WALK_H

#include "query/query.h"
#include "util/alloc.h"

/* The visitor. enter: a frame of stack `row` is called from `caller` (PCOL_NONE: from nothing).
 * stack: all frames of the row have been entered; `leaf` is the innermost frame of the stack
 * (PCOL_NONE: none), `caller` the one around it. leave: a frame returns; `sum` is the weight of its
 * row and all below. Any may be NULL. */
struct pci_walker {
    void *context;
    int is_double; /* of the query: a constant here, so that the loop is made for one kind */
    pcol_status (*enter)(void *context, uint32_t frame, uint32_t caller, pcol_error *err);
    pcol_status (*stack)(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                         pcol_error *err);
    pcol_status (*leave)(void *context, uint32_t frame, uint32_t caller, pcol_amount sum,
                         pcol_error *err);
};

/* One row of the path. */
struct pci_step {
    uint32_t row, group;
    uint32_t leaf, caller; /* innermost frame so far, and the one around it */
    pcol_amount sum;
};

struct pci_walk {
    const pcol_query *query;
    const struct pci_frames *frames;
    struct pci_step *path; /* the root is its first */
    size_t capacity;
    int64_t parents[PCI_BATCH], groups[PCI_BATCH]; /* of the rows at hand */
};

#define PCI_INLINE static inline __attribute__((always_inline))

/* The rows on the path while the walk goes on: `top` is the innermost. */
struct pci_stack_path {
    struct pci_step *top, *root, *last; /* last: no room behind it */
};

/* Make room behind the innermost row. */
pcol_status pci_walk_grow(struct pci_walk *w, struct pci_stack_path *path, pcol_error *err);

/* A row becomes the innermost of the path. */
PCI_INLINE pcol_status pci_walk_push(struct pci_walk *w, const struct pci_walker *walker,
                                     struct pci_stack_path *path, uint32_t row, uint32_t group,
                                     pcol_error *err)
{
    const struct pci_stack_table *calls = &w->query->calls;
    uint32_t leaf = path->top->leaf, caller = path->top->caller;
    uint32_t frame = w->frames->of_group[group];
    if (path->top == path->last)
        PCI_TRY(pci_walk_grow(w, path, err));
    if (frame < PCI_SEVERAL) {
        caller = leaf;
        leaf = frame;
        if (walker->enter)
            PCI_TRY(walker->enter(walker->context, frame, caller, err));
    } else if (frame == PCI_SEVERAL) {
        /* The last line of a group is the outermost. */
        for (uint32_t at = calls->first[group + 1]; at-- > calls->first[group];) {
            frame = w->frames->of_location[at];
            if (frame == PCOL_NONE)
                continue;
            caller = leaf;
            leaf = frame;
            if (walker->enter)
                PCI_TRY(walker->enter(walker->context, frame, caller, err));
        }
    }
    *++path->top = (struct pci_step){row, group, leaf, caller, w->query->weight[row]};
    return walker->stack ? walker->stack(walker->context, row, leaf, caller, err) : PCOL_OK;
}

/* The frames of a group with several lines return, innermost first. */
PCI_INLINE pcol_status pci_walk_leave_lines(struct pci_walk *w, const struct pci_walker *walker,
                                            const struct pci_step *step, uint32_t outside,
                                            pcol_error *err)
{
    const struct pci_stack_table *calls = &w->query->calls;
    uint32_t frame = PCOL_NONE;
    for (uint32_t at = calls->first[step->group]; at < calls->first[step->group + 1]; at++) {
        uint32_t outer = w->frames->of_location[at];
        if (outer == PCOL_NONE)
            continue;
        if (frame != PCOL_NONE)
            PCI_TRY(walker->leave(walker->context, frame, outer, step->sum, err));
        frame = outer;
    }
    return frame == PCOL_NONE ? PCOL_OK
                              : walker->leave(walker->context, frame, outside, step->sum, err);
}

/* The innermost row leaves the path. Sums of integers cannot overflow: the magnitudes of all
 * weights together fit (weights.c), and each weight is in a sum once. */
PCI_INLINE pcol_status pci_walk_pop(struct pci_walk *w, const struct pci_walker *walker,
                                    struct pci_stack_path *path, pcol_error *err)
{
    const struct pci_step *step = path->top--;
    struct pci_step *parent = path->top;
    uint32_t frame = w->frames->of_group[step->group];
    if (walker->is_double)
        parent->sum.f64 += step->sum.f64;
    else
        parent->sum.i64 += step->sum.i64;
    if (walker->leave && frame < PCI_SEVERAL)
        return walker->leave(walker->context, frame, parent->leaf, step->sum, err);
    if (walker->leave && frame == PCI_SEVERAL)
        return pci_walk_leave_lines(w, walker, step, parent->leaf, err);
    return PCOL_OK;
}

/* Errors of a row that cannot stand where it does. */
pcol_status pci_walk_fail_parent(uint32_t row, pcol_error *err);
pcol_status pci_walk_fail_group(uint32_t row, uint64_t group, pcol_error *err);
/* The columns of rows [row, row + n), n <= PCI_BATCH. */
pcol_status pci_walk_read(struct pci_walk *w, uint32_t row, size_t n, pcol_error *err);
/* A walk that stands at the root; NULL if memory is out. */
struct pci_walk *pci_walk_new(const pcol_query *query, const struct pci_frames *frames);
void pci_walk_free(struct pci_walk *w);

PCI_INLINE pcol_status pci_walk_rows(struct pci_walk *w, const struct pci_walker *walker,
                                     pcol_error *err)
{
    const struct pci_stack_table *calls = &w->query->calls;
    struct pci_stack_path path = {w->path, w->path, w->path + w->capacity - 1};
    for (uint32_t row = 1; row < calls->count;) {
        /* Up to a multiple of the batch: where rows follow from rows before, such are read at
         * once. */
        uint32_t left = calls->count - row, room = PCI_BATCH - row % PCI_BATCH;
        uint32_t n = left < room ? left : room;
        PCI_TRY(pci_walk_read(w, row, n, err));
        for (uint32_t at = 0; at < n; at++, row++) {
            if ((uint64_t)w->groups[at] >= calls->group_count)
                return pci_walk_fail_group(row, (uint64_t)w->groups[at], err);
            while (path.top->row != (uint64_t)w->parents[at]) {
                if (path.top == path.root)
                    return pci_walk_fail_parent(row, err);
                PCI_TRY(pci_walk_pop(w, walker, &path, err));
            }
            PCI_TRY(pci_walk_push(w, walker, &path, row, (uint32_t)w->groups[at], err));
        }
    }
    while (path.top != path.root)
        PCI_TRY(pci_walk_pop(w, walker, &path, err));
    return PCOL_OK;
}

/* Visit all rows but the root. Errors: those of the visitor; E_CORRUPT if the table is not in
 * pre-order; E_LIMIT if a sum does not fit. */
PCI_INLINE pcol_status pci_walk(const pcol_query *query, const struct pci_frames *frames,
                                const struct pci_walker *walker, pcol_error *err)
{
    struct pci_walk *w = pci_walk_new(query, frames);
    pcol_status status = w ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = pci_walk_rows(w, walker, err);
    pci_walk_free(w);
    return status;
}

#endif
