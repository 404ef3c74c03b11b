/*
 * pair_set.h - ordered set of pairs of integers: a vector in order of insertion with a hash index
 */
#ifndef PCI_UTIL_PAIR_SET_H
#define PCI_UTIL_PAIR_SET_H

#include "util/hash.h"

struct pci_integer_pair {
    uint64_t first, second;
};

/* An empty set is all zero. */
struct pci_pair_set {
    struct pci_integer_pair *pairs;
    size_t count, capacity;
    struct pci_hash hash;
};

/* Insert a pair unless it is present; *found: whether it was. */
pcol_status pci_pair_set_add(struct pci_pair_set *pairs, uint64_t first, uint64_t second,
                             int *found, pcol_error *err);
/* The same; *index: of the pair in `pairs`. */
pcol_status pci_pair_set_index(struct pci_pair_set *pairs, uint64_t first, uint64_t second,
                               uint32_t *index, int *found, pcol_error *err);
/* Index of a pair in `pairs`, or PCI_HASH_NONE. */
uint32_t pci_pair_set_find(const struct pci_pair_set *pairs, uint64_t first, uint64_t second);
static inline int pci_pair_set_has(const struct pci_pair_set *pairs, uint64_t first,
                                   uint64_t second)
{
    return pci_pair_set_find(pairs, first, second) != PCI_HASH_NONE;
}
void pci_pair_set_clear(struct pci_pair_set *pairs);

#endif
