/*
 * encode_children.h - a column in an encoding with children
 */
#ifndef PCI_ENCODE_ENCODE_CHILDREN_H
#define PCI_ENCODE_ENCODE_CHILDREN_H

#include "encode/encode_leaf.h"

#define PCI_MAX_DEPTH 2 /* at which there are no further children */

/* Choose by cost and write, `depth` levels below a column (encode.c). */
pcol_status pci_encode_at(struct pci_container *writer, uint32_t column,
                          const struct pci_value_source *source, int depth, pcol_error *err);

/* Each sets the column's encoding and parameters, appends its sections and encodes its children. */
pcol_status pci_encode_sparse(struct pci_container *writer, uint32_t column,
                              struct pci_exceptions *rest, int depth, pcol_error *err);
pcol_status pci_encode_successor(struct pci_container *writer, uint32_t column,
                                 struct pci_successors *links, int depth, pcol_error *err);
pcol_status pci_encode_tree(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_tree_steps *steps, int depth, pcol_error *err);
pcol_status pci_encode_delta(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source,
                             const struct pci_column_stats *shape, int depth, pcol_error *err);
pcol_status pci_encode_patched(struct pci_container *writer, uint32_t column,
                               const struct pci_value_source *source,
                               const struct pci_column_stats *shape,
                               const struct pci_patch_choice *choice, int depth, pcol_error *err);
pcol_status pci_encode_runs(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *shape, int depth, pcol_error *err);

#endif
