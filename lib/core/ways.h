/*
 * ways.h - a column in an encoding with children
 */
#ifndef PCI_WAYS_H
#define PCI_WAYS_H

#include "core/emit.h"

#define PCI_MAX_DEPTH 2 /* at which there are no further children */

/* Choose by cost and write, `depth` levels below a column (encode.c). */
pcol_status pci_encode_at(struct pci_writer *writer, uint32_t column,
                          const struct pci_source *source, int depth, pcol_error *err);

/* Each sets the column's encoding and parameters, appends its sections and encodes its children. */
pcol_status pci_put_sparse(struct pci_writer *writer, uint32_t column, struct pci_rest *rest,
                           int depth, pcol_error *err);
pcol_status pci_put_chain(struct pci_writer *writer, uint32_t column, struct pci_links *links,
                          int depth, pcol_error *err);
pcol_status pci_put_tree(struct pci_writer *writer, uint32_t column,
                         const struct pci_source *source, const struct pci_steps *steps, int depth,
                         pcol_error *err);
pcol_status pci_put_deltas(struct pci_writer *writer, uint32_t column,
                           const struct pci_source *source, const struct pci_shape *shape,
                           int depth, pcol_error *err);
pcol_status pci_put_split(struct pci_writer *writer, uint32_t column,
                          const struct pci_source *source, const struct pci_shape *shape,
                          const struct pci_split_choice *choice, int depth, pcol_error *err);
pcol_status pci_put_runs(struct pci_writer *writer, uint32_t column,
                         const struct pci_source *source, const struct pci_shape *shape, int depth,
                         pcol_error *err);

#endif
