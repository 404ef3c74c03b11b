/*
 * walk.c - setup, batch reads and errors of the traversal in walk.h
 */
#include "query/walk.h"

#include "util/simd_kernels.h"

/* A few hundred bytes can state 2^32 inlined calls: one location of 2^16 lines on a path of 2^16
 * stacks. A walk may enter FREE_LINES, about a second of work, and LINES_PER_STACK more for each
 * stack. */
#define FREE_LINES (UINT64_C(1) << 29)
#define LINES_PER_STACK 64u

pcol_status pci_walk_fail_parent(uint32_t row, pcol_error *err)
{
    return pci_corrupt(err, "stacks", "parent", row, "the table is not in pre-order");
}

pcol_status pci_walk_fail_group(uint32_t row, uint64_t group, pcol_error *err)
{
    return pci_corrupt(err, "stacks", "group", row, "%llu is out of range of the referenced table",
                       (unsigned long long)group);
}

pcol_status pci_walk_fail_lines(uint32_t row, pcol_error *err)
{
    return pci_fail(err, PCOL_E_LIMIT,
                    "the call tree has implausibly many inlined calls, up to row %u of stacks",
                    (unsigned)row);
}

pcol_status pci_walk_read(struct pci_walk *w, uint32_t row, size_t n, pcol_error *err)
{
    const struct pci_stack_table *calls = &w->query->calls;
    if (calls->parent) { /* a filter has loaded them */
        pci_simd_widen_u32(calls->parent + row, n, w->parents);
        pci_simd_widen_u32(calls->group + row, n, w->groups);
        return PCOL_OK;
    }
    PCI_TRY(pci_read(calls->file, calls->parents, row, n, w->parents, NULL, err));
    return pci_read(calls->file, calls->groups, row, n, w->groups, NULL, err);
}

pcol_status pci_walk_grow(struct pci_walk *w, struct pci_walk_path *path, pcol_error *err)
{
    size_t depth = (size_t)(path->top - path->root) + 1;
    PCI_TRY(PCI_GROW(w->path, w->capacity, depth + 1, err));
    *path = (struct pci_walk_path){w->path + depth - 1, w->path, w->path + w->capacity - 1};
    return PCOL_OK;
}

struct pci_walk *pci_walk_new(pcol_query *query, const struct pci_frames *frames)
{
    struct pci_walk *w = pci_malloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->query = query;
    w->frames = frames;
    w->path = NULL;
    w->capacity = 0;
    w->lines_left = FREE_LINES + (uint64_t)LINES_PER_STACK * query->calls.count;
    if (pci_grow((void **)&w->path, &w->capacity, 64, sizeof *w->path)) {
        pci_walk_free(w);
        return NULL;
    }
    w->path[0] = (struct pci_walk_step){0, 0, PCOL_NONE, PCOL_NONE, {.i64 = 0}};
    return w;
}

void pci_walk_free(struct pci_walk *w)
{
    if (w)
        pci_free(w->path);
    pci_free(w);
}
