/*
 * call_tree.h - prefix tree (trie) of call stacks with hash lookup of children
 *
 * Nodes are numbered in order of insertion, so that a parent precedes its children.
 * pci_call_tree_finish() computes the depth-first pre-order, siblings in order of insertion. Tests:
 * tests/unit/test_decode_tree.c.
 */
#ifndef PCI_BUILDER_CALL_TREE_H
#define PCI_BUILDER_CALL_TREE_H

#include "util/hash.h"

struct pci_node {
    uint32_t parent, group;
    uint32_t hash; /* of the groups from the root to this node */
};

struct pci_call_tree {
    struct pci_node *nodes; /* nodes[0]: the root; released by finishing */
    size_t count, capacity;
    uint32_t last; /* the node found last */
    struct pci_hash hash;
    uint32_t *preorder;         /* by node, after finishing: preorder index; owns the next two */
    uint32_t *parents, *groups; /* by preorder index; parents are preorder indices */
    uint32_t *order;            /* node by preorder index, after pci_call_tree_order() */
};

pcol_status pci_call_tree_init(struct pci_call_tree *tree, pcol_error *err);
void pci_call_tree_clear(struct pci_call_tree *tree);
pcol_status pci_call_tree_child(struct pci_call_tree *tree, uint32_t parent, uint32_t group,
                                uint32_t *node, pcol_error *err);
/* Append a chain of nodes below the node added last; groups are innermost first. */
pcol_status pci_call_tree_append(struct pci_call_tree *tree, const uint32_t *groups, size_t count,
                                 pcol_error *err);
/* Hash of a node. It depends on the parent's hash instead of its number, so that all hashes of a
 * stack are known, and their slots prefetched, before the first node is found. */
static inline uint64_t pci_call_tree_hash(uint32_t parent_hash, uint32_t group)
{
    return pci_hash_pair(parent_hash, group);
}

/* The child of a node other than node `parent` + 1; PCI_HASH_NONE: none of this group. */
static inline uint32_t pci_call_tree_find(const struct pci_call_tree *tree, uint32_t parent,
                                          uint32_t group, uint64_t hash)
{
    size_t slot = pci_hash_start(&tree->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&tree->hash, hash, &slot)) != PCI_HASH_NONE)
        if (tree->nodes[id].parent == parent && tree->nodes[id].group == group)
            break;
    return id;
}

/* Prefetch the slot of a hash; returns the hash as stored in the node. */
static inline uint32_t pci_call_tree_prefetch(const struct pci_call_tree *tree, uint64_t hash)
{
    if (tree->hash.slots)
        __builtin_prefetch(&tree->hash.slots[pci_hash_start(&tree->hash, hash)]);
    return (uint32_t)(hash >> 32);
}

/* Compute the pre-order and release the nodes. */
pcol_status pci_call_tree_finish(struct pci_call_tree *tree, pcol_error *err);
/* Compute `order` of a finished tree. */
pcol_status pci_call_tree_order(struct pci_call_tree *tree, pcol_error *err);

#endif
