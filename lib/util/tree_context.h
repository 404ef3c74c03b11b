/*
 * tree_context.h - the values of a tree's rows as ranks among what their parents' values were
 * followed by
 *
 * In a tree of stacks most places call few others. The places seen below a place are numbered in
 * order of first appearance, so a row is a small number, and one that is often the same.
 */
#ifndef PCI_UTIL_TREE_CONTEXT_H
#define PCI_UTIL_TREE_CONTEXT_H

#include "util/hash.h"

struct pci_tree_context_entry {
    uint64_t context;
    uint32_t key, result;
};

struct pci_tree_context_set {
    struct pci_hash hash;
    struct pci_tree_context_entry *entries;
    size_t capacity;
};

/* Of one block; starts zeroed. Writing, pairs know the rank of (context, value); reading, the value
 * of (context, rank). */
struct pci_tree_context {
    struct pci_tree_context_set contexts, pairs;
};

/* The block of rows [first, first + count) of a tree of which `parents` and `values` are all rows.
 * *size of the stream is at most 5 * count. */
pcol_status pci_tree_context_apply(struct pci_tree_context *rank, const uint32_t *parents,
                                   const uint32_t *values, uint64_t first, size_t count,
                                   uint8_t *stream, size_t *size, pcol_error *err);

/* The way back, for rows [row, row + count) of the block `values`, which begins at row `first` and
 * holds what was undone before. `parents`: those of the rows alone, each less than its row. *sound
 * is 0 if the stream is none. */
pcol_status pci_tree_context_undo(struct pci_tree_context *rank, const int64_t *parents,
                                  uint8_t *values, uint64_t first, uint64_t row, size_t count,
                                  const uint8_t *stream, size_t size, size_t *used, int *sound,
                                  pcol_error *err);

void pci_tree_context_clear(struct pci_tree_context *rank);

#endif
