/*
 * encode_children.h - writers of encodings with children (internal to encode/)
 */
#ifndef PCI_ENCODE_ENCODE_CHILDREN_H
#define PCI_ENCODE_ENCODE_CHILDREN_H

#include "encode/encode_leaf.h"

#define PCI_MAX_DEPTH 2 /* columns at this depth have no children */

/* pci_encode() at `depth` levels below a column of a table (encode.c). */
pcol_status pci_encode_at(struct pci_container *writer, uint32_t column,
                          const struct pci_value_source *source, int depth, pcol_error *err);

/* Set the column's encoding and parameters, write its sections and encode its children. */
pcol_status pci_encode_sparse(struct pci_container *writer, uint32_t column,
                              struct pci_exceptions *exceptions, int depth, pcol_error *err);
pcol_status pci_encode_successor(struct pci_container *writer, uint32_t column,
                                 struct pci_successors *successors, int depth, pcol_error *err);
pcol_status pci_encode_tree(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_tree_steps *steps, int depth, pcol_error *err);
pcol_status pci_encode_delta(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source,
                             const struct pci_column_stats *stats, int depth, pcol_error *err);
pcol_status pci_encode_patched(struct pci_container *writer, uint32_t column,
                               const struct pci_value_source *source,
                               const struct pci_column_stats *stats,
                               const struct pci_patch_choice *choice, int depth, pcol_error *err);
pcol_status pci_encode_runs(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *stats, int depth, pcol_error *err);

#endif
