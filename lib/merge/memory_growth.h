/*
 * memory_growth.h - growth of memory of copied samples whose previous sample is not copied
 */
#ifndef PCI_MERGE_MEMORY_GROWTH_H
#define PCI_MERGE_MEMORY_GROWTH_H

#include "merge/merge.h"

struct pci_memory_growth;
/* *growth: NULL if the samples that are copied have no memory/bytes (model/memory.h). */
pcol_status pci_memory_growth_open(struct pci_merge *merge, struct pci_memory_growth **growth,
                                   pcol_error *err);
/* Sample `row` was copied to row `to`; rows in ascending order. */
pcol_status pci_memory_growth_copy(struct pci_memory_growth *growth, uint64_t row, uint64_t to,
                                   pcol_error *err);
void pci_memory_growth_close(struct pci_memory_growth *growth);

#endif
