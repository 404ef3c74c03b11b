/*
 * calltree.h - the nodes of a call tree
 */
#ifndef PCI_QUERY_CALLTREE_H
#define PCI_QUERY_CALLTREE_H

#include "query/query.h"

struct pci_calltree {
    uint32_t count;
    struct pci_calltree_node *nodes; /* in pre-order */
    struct pci_frames frames;
};

/* heaviest.c: makes only the options->heaviest nodes. *found: 0 if a value is negative or a double,
 * or the sums are too large for it; the whole tree is then to be built. */
pcol_status pci_calltree_heaviest(pcol_query *query, const pcol_tree_options *options,
                                  struct pci_calltree *tree, int *found, pcol_error *err);

#endif
