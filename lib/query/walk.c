/*
 * walk.c - all stacks in one pass
 *
 * Rows of `stacks` stand in depth-first pre-order, so the path to the row at hand is what is left
 * of the rows before it. Each row's frames are entered when the row comes and left when the path
 * lets go of it: twice per frame in all, however deep the path is.
 */
#include "query/query.h"

#include "core/alloc.h"

struct step {
    uint32_t row;
    uint32_t leaf, caller; /* innermost frame so far, and the one around it */
};

struct walk {
    const struct pci_calls *calls;
    const struct pci_frames *frames;
    const struct pci_walker *walker;
    struct step *path;
    size_t depth, capacity;
};

static pcol_status push(struct walk *w, uint32_t row, pcol_error *err)
{
    const struct pci_calls *calls = w->calls;
    uint32_t group = calls->group[row];
    struct step step = {row, w->path[w->depth - 1].leaf, w->path[w->depth - 1].caller};
    if (pci_grow((void **)&w->path, &w->capacity, w->depth + 1, sizeof *w->path))
        return pci_fail_memory(err);
    /* The last line of a group is the outermost. */
    for (uint32_t at = calls->first[group + 1]; at-- > calls->first[group];) {
        uint32_t frame = w->frames->of_location[at];
        if (frame == PCOL_NONE)
            continue;
        step.caller = step.leaf;
        step.leaf = frame;
        PCI_TRY(w->walker->enter(w->walker->context, row, frame, step.caller, err));
    }
    w->path[w->depth++] = step;
    return w->walker->stack ? w->walker->stack(w->walker->context, row, step.leaf, step.caller, err)
                            : PCOL_OK;
}

static void pop(struct walk *w)
{
    const struct pci_calls *calls = w->calls;
    uint32_t group = calls->group[w->path[--w->depth].row];
    uint32_t frame = PCOL_NONE;
    for (uint32_t at = calls->first[group]; at < calls->first[group + 1]; at++) {
        uint32_t outer = w->frames->of_location[at];
        if (outer == PCOL_NONE)
            continue;
        if (frame != PCOL_NONE)
            w->walker->leave(w->walker->context, frame, outer);
        frame = outer;
    }
    if (frame != PCOL_NONE)
        w->walker->leave(w->walker->context, frame, w->path[w->depth - 1].leaf);
}

static pcol_status walk(struct walk *w, pcol_error *err)
{
    const struct pci_calls *calls = w->calls;
    w->path[w->depth++] = (struct step){0, PCOL_NONE, PCOL_NONE};
    for (uint32_t row = 1; row < calls->count; row++) {
        while (w->path[w->depth - 1].row != calls->parent[row]) {
            if (w->depth == 1)
                return pci_fail_cell(err, PCOL_E_CORRUPT, "stacks", "parent", row,
                                     "the table is not in pre-order");
            pop(w);
        }
        PCI_TRY(push(w, row, err));
    }
    return PCOL_OK;
}

pcol_status pci_walk(const struct pci_calls *calls, const struct pci_frames *frames,
                     const struct pci_walker *walker, pcol_error *err)
{
    struct walk w = {.calls = calls, .frames = frames, .walker = walker};
    pcol_status status;
    if (calls->count == 0)
        return PCOL_OK;
    if (pci_grow((void **)&w.path, &w.capacity, 64, sizeof *w.path))
        return pci_fail_memory(err);
    status = walk(&w, err);
    pci_free(w.path);
    return status;
}
