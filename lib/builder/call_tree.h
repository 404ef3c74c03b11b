/*
 * call_tree.h - the prefix tree of call stacks while a file is built
 *
 * Nodes are numbered as they appear, so a parent comes before its children. pci_call_tree_finish()
 * gives
 * each node its place in depth-first pre-order, children in order of first appearance.
 */
#ifndef PCI_BUILDER_CALL_TREE_H
#define PCI_BUILDER_CALL_TREE_H

#include "util/hash.h"

struct pci_node {
    uint32_t parent, group;
    uint32_t hash; /* of the groups from the root to here */
};

struct pci_call_tree {
    struct pci_node *nodes; /* nodes[0]: the root; gone after finishing */
    size_t count, capacity;
    struct pci_hash hash;
    uint32_t *place;            /* by node, after finishing; the next two lie behind it */
    uint32_t *parents, *groups; /* of the nodes in order: places of parents */
    uint32_t *order;            /* node by place, once asked for */
};

pcol_status pci_call_tree_init(struct pci_call_tree *tree, pcol_error *err);
void pci_call_tree_clear(struct pci_call_tree *tree);
pcol_status pci_call_tree_child(struct pci_call_tree *tree, uint32_t parent, uint32_t group,
                                uint32_t *node, pcol_error *err);
/* New nodes below the one added last, each below the one before: the groups come innermost
 * first. */
pcol_status pci_call_tree_append(struct pci_call_tree *tree, const uint32_t *groups, size_t count,
                                 pcol_error *err);
/* A node's hash comes from its parent's and not from the parent's number: whoever has a whole stack
 * at hand can say which places of the hash table will be looked at before the first has been
 * found. */
static inline uint64_t pci_call_tree_hash(uint32_t parent_hash, uint32_t group)
{
    return pci_hash_pair(parent_hash, group);
}

/* The child of a node that is not the one behind it, PCI_HASH_NONE: it has none of this group. */
static inline uint32_t pci_call_tree_find(const struct pci_call_tree *tree, uint32_t parent,
                                          uint32_t group, uint64_t hash)
{
    size_t at = pci_hash_start(&tree->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&tree->hash, hash, &at)) != PCI_HASH_NONE)
        if (tree->nodes[id].parent == parent && tree->nodes[id].group == group)
            break;
    return id;
}

/* Ask for the place of a hash; gives the hash as the node will have it. */
static inline uint32_t pci_call_tree_ask(const struct pci_call_tree *tree, uint64_t hash)
{
    if (tree->hash.slots)
        __builtin_prefetch(&tree->hash.slots[pci_hash_start(&tree->hash, hash)]);
    return (uint32_t)(hash >> 32);
}

pcol_status pci_call_tree_finish(struct pci_call_tree *tree, pcol_error *err);
/* The nodes in order, of a finished tree. */
pcol_status pci_call_tree_order(struct pci_call_tree *tree, pcol_error *err);

#endif
