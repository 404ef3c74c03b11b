/*
 * memory.h - the derived type memory/bytes of Rprof's memory profiling
 */
#ifndef PCI_MEMORY_H
#define PCI_MEMORY_H

#include "query/query.h"

struct pci_memory;
pcol_status pci_memory_open(const pcol_file *file, const struct pci_types *types,
                            const struct pci_measure *measure, uint64_t source_count,
                            struct pci_memory **memory, pcol_error *err);
/* Bytes of the next `n` rows: calls go through all samples in order. Rows without levels die. */
pcol_status pci_memory_read(struct pci_memory *memory, uint64_t row, size_t n, pcol_amount *amounts,
                            uint8_t *alive, pcol_error *err);
void pci_memory_close(struct pci_memory *memory);

#endif
