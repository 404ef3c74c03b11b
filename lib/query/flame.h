/*
 * flame.h - a call tree laid out as a flame graph
 */
#ifndef PCI_FLAME_H
#define PCI_FLAME_H

#include "query/pair.h"
#include "query/query.h"

enum { PCI_FLAME_PAD = 10, PCI_FLAME_DEPTH = 1000 };

struct pcol_flame {
    pcol_flame_options options; /* .base: only while it is made */
    pcol_query_info info, base_info;
    pcol_calltree *tree, *base_tree;
    struct pci_pair pair;   /* of both, if there is a base */
    uint32_t count;         /* nodes of the tree */
    double *weight, *start; /* by node, in units of the profile */
    uint32_t *order;        /* nodes that are drawn, depth by depth */
    uint32_t *row;          /* by depth: where its nodes begin in `order` */
    uint32_t drawn, depth;  /* depth: of the deepest drawn */
    double scale;           /* px for one unit */
    double largest;         /* change of a share, among those drawn */
    int cut;                /* the tree is deeper than what is shown */
};

/* Share of the whole that a node has in the base (0) or here (1). Only with a base. */
double pci_flame_share(const pcol_flame *flame, uint32_t node, int which);
int pci_flame_is_new(const pcol_flame *flame, uint32_t node);

#endif
