/*
 * tree_pair.h - one tree of the call trees of two profiles
 *
 * Nodes with the same name and the same parent are one node with the values of both. Parents
 * precede children.
 */
#ifndef PCI_QUERY_TREE_PAIR_H
#define PCI_QUERY_TREE_PAIR_H

#include "builder/call_tree.h"
#include "builder/string_pool.h"
#include "query/answers.h"

struct pci_calltree;

struct pci_pair {
    struct pci_string_pool names;
    struct pci_call_tree tree; /* keyed by string of `names` */
    struct pci_sides *nodes;   /* tree.count */
    size_t capacity;
    uint32_t *pair_node[2]; /* by node of the last call tree of each side: its node in `tree` */
};

/* E_ARGUMENT if the sample types differ. */
pcol_status pci_tree_pair_same_type(const pcol_query_info *base, const pcol_query_info *other,
                                    pcol_error *err);

/* An empty pair, which pci_tree_pair_clear() frees, also after a failure. */
pcol_status pci_tree_pair_init(struct pci_pair *pair, pcol_error *err);
/* Adds the values of a tree to those of a side. */
pcol_status pci_tree_pair_add(struct pci_pair *pair, const struct pci_calltree *tree, int side,
                              int is_double, pcol_error *err);
/* Both trees; nothing is left to clear after a failure. */
pcol_status pci_tree_pair_new(const struct pci_calltree *base, const struct pci_calltree *other,
                              const int is_double[2], struct pci_pair *pair, pcol_error *err);
void pci_tree_pair_clear(struct pci_pair *pair);

#endif
