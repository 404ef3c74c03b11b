/*
 * made_tree.h - trees that windows make of a view, node by node
 */
#ifndef PCI_QUERY_MADE_TREE_H
#define PCI_QUERY_MADE_TREE_H

#include "query/view.h"

/* The tree of a kind, frame and order: one made before, or a new one with only its root. */
pcol_status pci_made_tree_get(pcol_view *view, pcol_view_kind kind, uint32_t frame,
                              pcol_order order, struct pci_made_tree **tree, pcol_error *err);
/* Makes the children of a node with width, in order, if they are not made yet. */
pcol_status pci_made_tree_expand(pcol_view *view, struct pci_made_tree *tree, uint32_t node,
                                 pcol_error *err);

#endif
