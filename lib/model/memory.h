/*
 * memory.h - derived type memory/bytes of Rprof's memory profiling
 */
#ifndef PCI_MEMORY_H
#define PCI_MEMORY_H

#include "model/types.h"

enum { PCI_MEMORY_SMALL, PCI_MEMORY_BIG, PCI_MEMORY_NODES, PCI_MEMORY_GAUGES };

#define PCI_MEMORY_TYPE ((pcol_str){"memory", 6})
#define PCI_MEMORY_UNIT ((pcol_str){"bytes", 5})

/* 1 if the name, or exact type, is that of the derived type. */
int pci_memory_is_requested(const struct pci_requested_type *requested);
/* 1 if a row of sample_types has sums of that type, to which the derived values are added. */
int pci_memory_is_type(const struct pci_types *types, uint32_t row);
/* Finds the rows of sample_types with the three gauges; 0 if one is missing. */
int pci_memory_find(const struct pci_types *types, uint32_t gauges[PCI_MEMORY_GAUGES]);
/* 1 if the gauges are listed, with values or, as in an empty selection, without. */
int pci_memory_is_listed(const struct pci_types *types);

struct pci_memory;
pcol_status pci_memory_open(const pcol_file *file, const struct pci_types *types,
                            const uint32_t gauges[PCI_MEMORY_GAUGES], uint64_t source_count,
                            struct pci_memory **memory, pcol_error *err);
/* Bytes of the next `n` rows, at most PCI_BATCH; calls must cover all samples in order. Rows
 * without gauges get 0 bytes and alive[i] = 0. */
pcol_status pci_memory_read(struct pci_memory *memory, uint64_t row, size_t n, int64_t *bytes,
                            uint8_t *alive, pcol_error *err);
void pci_memory_close(struct pci_memory *memory);

#endif
