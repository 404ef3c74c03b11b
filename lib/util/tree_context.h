/*
 * tree_context.h - context coding of a tree's values: move-to-rank codes conditioned on the
 * parent's value
 *
 * In a tree of stacks most functions call few others. The distinct values below each parent value
 * (the context) get ranks in order of first appearance, so that a row becomes a small and often
 * repeated number. Tests: tests/unit/test_decode_tree.c.
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

/* State of one block; starts zeroed. `pairs` maps (context, value) to a rank when encoding and
 * (context, rank) to a value when decoding; `contexts` maps a context to its number of ranks. */
struct pci_tree_context {
    struct pci_tree_context_set contexts, pairs;
};

/* Encode rows [first, first + count), a block of the tree with all rows in `parents` and `values`,
 * as varints. *size of the stream is at most 5 * count. */
pcol_status pci_tree_context_encode(struct pci_tree_context *state, const uint32_t *parents,
                                    const uint32_t *values, uint64_t first, size_t count,
                                    uint8_t *stream, size_t *size, pcol_error *err);

/* Decode rows [row, row + count) of the block that begins at row `first`; `values` contains the
 * rows decoded before. `parents`: of these rows only, each less than its row. *valid is 0 if the
 * stream is malformed. */
pcol_status pci_tree_context_decode(struct pci_tree_context *state, const int64_t *parents,
                                    uint8_t *values, uint64_t first, uint64_t row, size_t count,
                                    const uint8_t *stream, size_t size, size_t *used, int *valid,
                                    pcol_error *err);

void pci_tree_context_clear(struct pci_tree_context *state);

#endif
