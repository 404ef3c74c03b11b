/*
 * walk.h - depth-first traversal of all stacks in one pass
 *
 * Rows of `stacks` are in pre-order, so a stack of the ancestors of the current row suffices. The
 * frames of a row are entered when the row is read and left when the row is removed from the path:
 * two calls per frame whatever the depth is. On leaving, the weights of all descendants are known;
 * totals need no pass of their own.
 *
 * The walk is in a header so that the compiler inlines the functions of the visitor.
 */
#ifndef PCI_WALK_H
#define PCI_WALK_H

#include "query/query.h"
#include "util/alloc.h"

/* Visitor; each function may be NULL. enter: `caller` calls a frame (caller is PCOL_NONE at the
 * root). stack: all frames of `row` have been entered; `leaf` is the innermost frame of the stack
 * (PCOL_NONE: none), `caller` its caller. leave: a frame returns; `sum` is the weight of its row
 * and of all descendants. */
struct pci_walker {
    void *context;
    int is_double; /* of the query; a constant at the call, so that the loop is specialized */
    pcol_status (*enter)(void *context, uint32_t frame, uint32_t caller, pcol_error *err);
    pcol_status (*stack)(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                         pcol_error *err);
    pcol_status (*leave)(void *context, uint32_t frame, uint32_t caller, pcol_amount sum,
                         pcol_error *err);
};

/* One row on the path from the root. */
struct pci_walk_step {
    uint32_t row, group;
    uint32_t leaf, caller; /* innermost frame so far, and its caller */
    pcol_amount sum;
};

struct pci_walk {
    pcol_query *query;
    const struct pci_frames *frames;
    struct pci_walk_step *path; /* path[0] is the root */
    size_t capacity;
    uint64_t lines_left; /* of groups of several lines that the walk may still enter */
    int64_t parents[PCI_BATCH], groups[PCI_BATCH]; /* of the current batch */
};

#define PCI_INLINE static inline __attribute__((always_inline))

/* Stack of the rows from the root to the innermost, `top`. `last` is the last usable entry. */
struct pci_walk_path {
    struct pci_walk_step *top, *root, *last;
};

/* Error of a call tree with implausibly many inlined calls. */
pcol_status pci_walk_fail_lines(uint32_t row, pcol_error *err);
/* Enlarges the path by at least one entry. */
pcol_status pci_walk_grow(struct pci_walk *w, struct pci_walk_path *path, pcol_error *err);

/* Appends a row to the path and enters its frames. */
PCI_INLINE pcol_status pci_walk_push(struct pci_walk *w, const struct pci_walker *walker,
                                     struct pci_walk_path *path, uint32_t row, uint32_t group,
                                     pcol_error *err)
{
    const struct pci_stack_table *calls = &w->query->calls;
    uint32_t leaf = path->top->leaf, caller = path->top->caller;
    uint32_t frame = w->frames->frame_of_group[group];
    if (path->top == path->last)
        PCI_TRY(pci_walk_grow(w, path, err));
    if (frame < PCI_SEVERAL_FRAMES) {
        caller = leaf;
        leaf = frame;
        if (walker->enter)
            PCI_TRY(walker->enter(walker->context, frame, caller, err));
    } else if (frame == PCI_SEVERAL_FRAMES) {
        uint32_t lines = calls->first[group + 1] - calls->first[group];
        if (lines > w->lines_left)
            return pci_walk_fail_lines(row, err);
        w->lines_left -= lines;
        /* Lines of a group are ordered from the innermost to the outermost. */
        for (uint32_t line = calls->first[group + 1]; line-- > calls->first[group];) {
            frame = w->frames->of_location[line];
            if (frame == PCOL_NONE)
                continue;
            caller = leaf;
            leaf = frame;
            if (walker->enter)
                PCI_TRY(walker->enter(walker->context, frame, caller, err));
        }
    }
    *++path->top = (struct pci_walk_step){row, group, leaf, caller, w->query->weight[row]};
    return walker->stack ? walker->stack(walker->context, row, leaf, caller, err) : PCOL_OK;
}

/* Leaves the frames of a group of several lines, innermost first. */
PCI_INLINE pcol_status pci_walk_leave_lines(struct pci_walk *w, const struct pci_walker *walker,
                                            const struct pci_walk_step *step, uint32_t outside,
                                            pcol_error *err)
{
    const struct pci_stack_table *calls = &w->query->calls;
    uint32_t frame = PCOL_NONE;
    for (uint32_t line = calls->first[step->group]; line < calls->first[step->group + 1]; line++) {
        uint32_t outer = w->frames->of_location[line];
        if (outer == PCOL_NONE)
            continue;
        if (frame != PCOL_NONE)
            PCI_TRY(walker->leave(walker->context, frame, outer, step->sum, err));
        frame = outer;
    }
    return frame == PCOL_NONE ? PCOL_OK
                              : walker->leave(walker->context, frame, outside, step->sum, err);
}

/* Removes the innermost row from the path and leaves its frames. Integer sums cannot overflow: the
 * sum of all magnitudes fits into 64 bits (weights.c), and each weight occurs in a sum once. */
PCI_INLINE pcol_status pci_walk_pop(struct pci_walk *w, const struct pci_walker *walker,
                                    struct pci_walk_path *path, pcol_error *err)
{
    const struct pci_walk_step *step = path->top--;
    struct pci_walk_step *parent = path->top;
    uint32_t frame = w->frames->frame_of_group[step->group];
    if (walker->is_double)
        parent->sum.f64 += step->sum.f64;
    else
        parent->sum.i64 += step->sum.i64;
    if (walker->leave && frame < PCI_SEVERAL_FRAMES)
        return walker->leave(walker->context, frame, parent->leaf, step->sum, err);
    if (walker->leave && frame == PCI_SEVERAL_FRAMES)
        return pci_walk_leave_lines(w, walker, step, parent->leaf, err);
    return PCOL_OK;
}

/* Errors of a row whose parent is not on the path, and of a group out of range. */
pcol_status pci_walk_fail_parent(uint32_t row, pcol_error *err);
pcol_status pci_walk_fail_group(uint32_t row, uint64_t group, pcol_error *err);
/* Reads the columns of rows [row, row + n), n <= PCI_BATCH. */
pcol_status pci_walk_read(struct pci_walk *w, uint32_t row, size_t n, pcol_error *err);
/* A walk positioned at the root; NULL if memory runs out. */
struct pci_walk *pci_walk_new(pcol_query *query, const struct pci_frames *frames);
void pci_walk_free(struct pci_walk *w);

PCI_INLINE pcol_status pci_walk_rows(struct pci_walk *w, const struct pci_walker *walker,
                                     pcol_error *err)
{
    const struct pci_stack_table *calls = &w->query->calls;
    struct pci_walk_path path = {w->path, w->path, w->path + w->capacity - 1};
    for (uint32_t row = 1; row < calls->count;) {
        /* Batches end at a multiple of PCI_BATCH: columns that are encoded relative to earlier rows
         * are decoded by such batches. */
        uint32_t left = calls->count - row, batch = PCI_BATCH - row % PCI_BATCH;
        uint32_t n = left < batch ? left : batch;
        PCI_TRY(pci_walk_read(w, row, n, err));
        for (uint32_t i = 0; i < n; i++, row++) {
            if ((uint64_t)w->groups[i] >= calls->group_count)
                return pci_walk_fail_group(row, (uint64_t)w->groups[i], err);
            while (path.top->row != (uint64_t)w->parents[i]) {
                if (path.top == path.root)
                    return pci_walk_fail_parent(row, err);
                PCI_TRY(pci_walk_pop(w, walker, &path, err));
            }
            PCI_TRY(pci_walk_push(w, walker, &path, row, (uint32_t)w->groups[i], err));
        }
    }
    while (path.top != path.root)
        PCI_TRY(pci_walk_pop(w, walker, &path, err));
    return PCOL_OK;
}

/* Visits all rows but the root. Errors: those of the visitor; E_CORRUPT if the table is not in
 * pre-order; E_LIMIT if a sum does not fit. */
PCI_INLINE pcol_status pci_walk(pcol_query *query, const struct pci_frames *frames,
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
