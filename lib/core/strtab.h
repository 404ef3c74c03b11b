/*
 * strtab.h - the pool of distinct strings while a file is built
 *
 * Codes are given in order of first appearance; pci_strtab_sort() yields the final code of each,
 * its rank in bytewise order.
 */
#ifndef PCI_STRTAB_H
#define PCI_STRTAB_H

#include "core/hash.h"

struct pci_strtab {
    char *bytes;
    size_t size, capacity;
    uint64_t *starts; /* count + 1 offsets into bytes */
    size_t count, start_capacity;
    struct pci_hash hash;
    uint32_t *rank;  /* by provisional code, after sorting */
    uint32_t *order; /* provisional code by rank */
};

pcol_status pci_strtab_intern(struct pci_strtab *table, const char *data, size_t size,
                              uint32_t *code, pcol_error *err);
/* PCOL_NONE if the table does not have it. */
uint32_t pci_strtab_find(const struct pci_strtab *table, pcol_str text);
/* Valid until the next intern. */
pcol_str pci_strtab_get(const struct pci_strtab *table, uint32_t code);
pcol_status pci_strtab_sort(struct pci_strtab *table, pcol_error *err);
void pci_strtab_clear(struct pci_strtab *table);

#endif
