/*
 * flame.h - layout of a call tree as a flame graph
 */
#ifndef PCI_FLAME_H
#define PCI_FLAME_H

#include "query/calltree.h"
#include "query/tree_pair.h"

enum { PCI_FLAME_PAD = 10, PCI_FLAME_DEPTH = 1000 };

/* A node of the layout; nodes are in pre-order. */
struct pci_flame_node {
    uint32_t parent, end, depth;
    uint32_t pair; /* with a base: its node in the tree pair */
};

struct pci_flame {
    pcol_flame_options options; /* .base is valid during construction only */
    pcol_query_info info, base_info;
    struct pci_calltree *tree, *base_tree;
    struct pci_pair pair;          /* with a base: the tree of both profiles */
    struct pci_flame_node *joined; /* its nodes in pre-order; NULL: `tree` is laid out */
    uint32_t count;
    int exponent;           /* weights are in units of the profile times 2^exponent */
    double *weight, *start; /* by node */
    uint32_t *order;        /* drawn nodes, depth by depth */
    uint32_t *row;          /* by depth: offset of its first node in `order` */
    uint32_t drawn, depth;  /* depth: of the deepest drawn node */
    double scale;           /* px per weight of 1 */
    double largest;         /* largest change of a share among the drawn nodes */
    int is_truncated;       /* the tree is deeper than PCI_FLAME_DEPTH */
};

/* flame_view.c: makes the boxes of a graph without a base. */
pcol_status pci_flame_from_view(struct pci_flame *flame, pcol_query *query, pcol_error *err);

/* Name of a node, "all" for the root; its total in the base (side 0) or in the profile (side 1). */
pcol_str pci_flame_name(const struct pci_flame *flame, uint32_t i);
pcol_amount pci_flame_total(const struct pci_flame *flame, uint32_t i, int side);
/* With a base: the share of a node in the total of a side, and whether the side has the node. */
double pci_flame_share(const struct pci_flame *flame, uint32_t i, int side);
int pci_flame_is_in(const struct pci_flame *flame, uint32_t i, int side);

#endif
