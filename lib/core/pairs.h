/*
 * pairs.h - pairs of numbers, each of them once, in the order in which they were met
 */
#ifndef PCI_PAIRS_H
#define PCI_PAIRS_H

#include "core/hash.h"

struct pci_pair {
    uint64_t first, second;
};

/* Empty if it is zero. */
struct pci_pairs {
    struct pci_pair *pairs;
    size_t count, capacity;
    struct pci_hash hash;
};

/* *again: the pair was there already; else it is added. */
pcol_status pci_pairs_add(struct pci_pairs *pairs, uint64_t first, uint64_t second, int *again,
                          pcol_error *err);
/* The index of a pair in `pairs`; PCI_HASH_NONE if it is not there. */
uint32_t pci_pairs_find(const struct pci_pairs *pairs, uint64_t first, uint64_t second);
static inline int pci_pairs_has(const struct pci_pairs *pairs, uint64_t first, uint64_t second)
{
    return pci_pairs_find(pairs, first, second) != PCI_HASH_NONE;
}
void pci_pairs_clear(struct pci_pairs *pairs);

#endif
