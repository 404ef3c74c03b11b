/*
 * sample_batches.h - copying of all samples of a file, in batches
 */
#ifndef PCI_MERGE_SAMPLE_BATCHES_H
#define PCI_MERGE_SAMPLE_BATCHES_H

#include "merge/merge.h"

/* Cells of samples: the known columns; from C_KNOWN on value.K by type, then the other columns that
 * are copied (merge->sample_columns). */
enum { C_SOURCE, C_STACK, C_THREAD, C_TIME, C_DURATION, C_CPU, C_KNOWN };

/* 1 if all samples are copied as they are, so that this can be done in batches. */
int pci_merge_has_batches(const struct pci_merge *merge, const struct pci_table *samples);
pcol_status pci_merge_sample_batches(struct pci_merge *merge, const struct pci_table *samples,
                                     struct pci_cells *cells, pcol_error *err);

#endif
