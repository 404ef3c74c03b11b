/*
 * placed_stacks.c - copies of a file's stacks below stacks of the builder
 *
 * A hash table maps pairs (stack of the builder, stack of the file) to the copy. A stack that is
 * not in it is copied from its nearest ancestor that is, so that each node of the output is made
 * once. Frames that the merge omits are joined with their callers. Tests: suite added_frames.
 */
#include "merge/added_frames.h"

#include "util/alloc.h"

#include <inttypes.h>

/* Limit of copies: so many for any file, and more for each of its samples. */
#define FREE_COPIES (UINT64_C(1) << 24)
#define COPIES_PER_SAMPLE 32u

struct copy {
    uint32_t below, row, stack;
};

struct pci_placed_stacks {
    struct pci_merge *merge;
    uint32_t *arrays;         /* owns the next two */
    uint32_t *parent, *group; /* by row of stacks */
    struct pci_hash hash;     /* of copies by (below, row) */
    struct copy *copies;
    size_t count, capacity;
    uint64_t limit;
    uint32_t *path; /* stacks that are about to be copied, innermost first */
    size_t path_capacity;
};

static int is_omitted(const struct pci_placed_stacks *p, uint32_t row)
{
    const struct pci_merge *m = p->merge;
    return m->groups[p->group[row]] == PCOL_NONE ||
           (m->selection->omitted_frames && m->selection->omitted_frames[row]);
}

static pcol_status read_stacks(struct pci_placed_stacks *p, struct pci_cells *cells,
                               pcol_error *err)
{
    const struct pci_merge *m = p->merge;
    size_t count = (size_t)m->stack_count;
    PCI_TRY(PCI_CALLOC(p->arrays, 2 * count + 1, err));
    p->parent = p->arrays;
    p->group = p->arrays + count;
    for (int c = 0; c < 2; c++) {
        uint32_t *to = c ? p->group : p->parent;
        PCI_TRY(pci_cells_open(cells, m->file, "stacks", c ? "group" : "parent", PCI_IS_INT, err));
        for (uint64_t row = 1; row < m->stack_count; row++) {
            PCI_TRY(pci_cells_row(cells, row, c ? m->group_count : row, &to[row], err));
            if (to[row] == PCOL_NONE)
                return pci_corrupt(err, "stacks", NULL, row, "a stack needs a parent and a group");
        }
    }
    return PCOL_OK;
}

pcol_status pci_placed_stacks_open(struct pci_merge *merge, pcol_error *err)
{
    struct pci_cells *cells;
    PCI_TRY(PCI_CALLOC(merge->placed, 1, err));
    merge->placed->merge = merge;
    merge->placed->limit =
        FREE_COPIES + COPIES_PER_SAMPLE * (uint64_t)pci_rows(merge->file, "samples");
    PCI_TRY(PCI_MALLOC(cells, 1, err));
    pcol_status status = read_stacks(merge->placed, cells, err);
    pci_free(cells);
    return status;
}

void pci_placed_stacks_close(struct pci_placed_stacks *placed)
{
    if (!placed)
        return;
    pci_hash_clear(&placed->hash);
    pci_free(placed->copies);
    pci_free(placed->arrays);
    pci_free(placed->path);
    pci_free(placed);
}

/* 1 if the copy is known. */
static int find_copy(const struct pci_placed_stacks *p, uint32_t below, uint32_t row,
                     uint32_t *stack)
{
    uint64_t hash = pci_hash_pair(below, row);
    size_t slot = pci_hash_start(&p->hash, hash);
    uint32_t i;
    *stack = below;
    while (row && (i = pci_hash_next(&p->hash, hash, &slot)) != PCI_HASH_NONE)
        if (p->copies[i].below == below && p->copies[i].row == row) {
            *stack = p->copies[i].stack;
            return 1;
        }
    return !row;
}

static pcol_status add_copy(struct pci_placed_stacks *p, uint32_t below, uint32_t row,
                            uint32_t *stack, pcol_error *err)
{
    struct pci_merge *m = p->merge;
    if (p->count >= p->limit || p->count >= PCI_HASH_NONE)
        return pci_fail(err, PCOL_E_LIMIT,
                        "the added root frames lead to more than %" PRIu64
                        " stacks: use a label with fewer values",
                        p->limit);
    if (!is_omitted(p, row))
        PCI_TRY(pcol_builder_stack(m->builder, *stack, m->groups[p->group[row]], stack, err));
    PCI_TRY(PCI_GROW(p->copies, p->capacity, p->count + 1, err));
    PCI_TRY(pci_hash_add(&p->hash, pci_hash_pair(below, row), (uint32_t)p->count, err));
    p->copies[p->count++] = (struct copy){below, row, *stack};
    return PCOL_OK;
}

pcol_status pci_placed_stack(struct pci_placed_stacks *placed, uint32_t below, uint32_t row,
                             uint32_t *stack, pcol_error *err)
{
    size_t depth = 0;
    for (; !find_copy(placed, below, row, stack); row = placed->parent[row]) {
        PCI_TRY(PCI_GROW(placed->path, placed->path_capacity, depth + 1, err));
        placed->path[depth++] = row;
    }
    while (depth)
        PCI_TRY(add_copy(placed, below, placed->path[--depth], stack, err));
    return PCOL_OK;
}

uint32_t pci_placed_innermost(const struct pci_placed_stacks *placed, uint32_t row)
{
    while (row && is_omitted(placed, row))
        row = placed->parent[row];
    return row ? placed->group[row] : PCOL_NONE;
}
