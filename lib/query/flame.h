/*
 * flame.h - a call tree laid out as a flame graph
 */
#ifndef PCI_FLAME_H
#define PCI_FLAME_H

#include "query/query.h"
#include "query/tree_pair.h"

enum { PCI_FLAME_PAD = 10, PCI_FLAME_DEPTH = 1000 };

/* A node of what is laid out; nodes are in depth-first pre-order. */
struct pci_flame_node {
    uint32_t parent, end, depth;
    uint32_t pair; /* with a base: its node there */
};

struct pcol_flame {
    pcol_flame_options options; /* .base: only while it is made */
    pcol_query_info info, base_info;
    pcol_calltree *tree, *base_tree;
    struct pci_pair pair;          /* of both, if there is a base, */
    struct pci_flame_node *joined; /* with its nodes in order; NULL: the tree's own are laid out */
    uint32_t count;
    int exponent;           /* a weight is in units of the profile times 2^exponent */
    double *weight, *start; /* by node */
    uint32_t *order;        /* nodes that are drawn, depth by depth */
    uint32_t *row;          /* by depth: where its nodes begin in `order` */
    uint32_t drawn, depth;  /* depth: of the deepest drawn */
    double scale;           /* px for a weight of 1 */
    double largest;         /* change of a share, among those drawn */
    int cut;                /* the tree is deeper than what is shown */
};

void pci_flame_node(const pcol_flame *flame, uint32_t i, struct pci_flame_node *node);
/* What a node shows: its name, "all" for the root; its values in the base (0) or here (1). */
pcol_str pci_flame_name(const pcol_flame *flame, uint32_t i);
pcol_amount pci_flame_total(const pcol_flame *flame, uint32_t i, int which);
/* Only with a base: the share of the whole that a node has there or here, and whether it is. */
double pci_flame_share(const pcol_flame *flame, uint32_t i, int which);
int pci_flame_is_in(const pcol_flame *flame, uint32_t i, int which);

#endif
