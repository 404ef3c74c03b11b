/*
 * string_pool.h - the pool of distinct strings while a file is built
 *
 * Codes are given in order of first appearance; pci_string_pool_sort() yields the final code of
 * each,
 * its rank in bytewise order.
 */
#ifndef PCI_BUILDER_STRING_POOL_H
#define PCI_BUILDER_STRING_POOL_H

#include "util/hash.h"

struct pci_string_pool {
    char *bytes;
    size_t size, capacity;
    uint64_t *starts; /* count + 1 offsets into bytes */
    size_t count, start_capacity;
    struct pci_hash hash;
    uint32_t *rank;  /* by provisional code, after sorting */
    uint32_t *order; /* provisional code by rank */
};

pcol_status pci_string_pool_intern(struct pci_string_pool *table, const char *data, size_t size,
                                   uint32_t *code, pcol_error *err);
/* PCOL_NONE if the table does not have it. */
uint32_t pci_string_pool_find(const struct pci_string_pool *table, pcol_str text);
/* Valid until the next intern. */
pcol_str pci_string_pool_get(const struct pci_string_pool *table, uint32_t code);
pcol_status pci_string_pool_sort(struct pci_string_pool *table, pcol_error *err);
void pci_string_pool_clear(struct pci_string_pool *table);

#endif
