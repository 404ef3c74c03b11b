/*
 * pair_set.h - pairs of numbers, each of them once, in the order in which they were met
 */
#ifndef PCI_UTIL_PAIR_SET_H
#define PCI_UTIL_PAIR_SET_H

#include "util/hash.h"

struct pci_pair {
    uint64_t first, second;
};

/* Empty if it is zero. */
struct pci_pair_set {
    struct pci_pair *pairs;
    size_t count, capacity;
    struct pci_hash hash;
};

/* *again: the pair was there already; else it is added. */
pcol_status pci_pair_set_add(struct pci_pair_set *pairs, uint64_t first, uint64_t second,
                             int *again, pcol_error *err);
/* The index of a pair in `pairs`; PCI_HASH_NONE if it is not there. */
uint32_t pci_pair_set_find(const struct pci_pair_set *pairs, uint64_t first, uint64_t second);
static inline int pci_pair_set_has(const struct pci_pair_set *pairs, uint64_t first,
                                   uint64_t second)
{
    return pci_pair_set_find(pairs, first, second) != PCI_HASH_NONE;
}
void pci_pair_set_clear(struct pci_pair_set *pairs);

#endif
