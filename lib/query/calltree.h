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

#endif
