/*
 * value_ids.h - distinct values of a column, or pairs of numbers of two, each with a number of its
 * own
 */
#ifndef PCI_UTIL_VALUE_IDS_H
#define PCI_UTIL_VALUE_IDS_H

#include "util/hash.h"

#define PCI_VALUE_IDS_RECENT 256u

/* Numbers are given in the order in which keys are met. */
struct pci_value_ids {
    size_t count;
    int64_t *keys; /* by number; 0 for nulls */
    uint32_t null; /* the number of nulls; PCI_HASH_NONE: none was met */
    size_t capacity;
    struct pci_hash hash;
    struct {
        int64_t key;
        uint32_t after;           /* 1 + its number; 0: nothing */
    } near[PCI_VALUE_IDS_RECENT]; /* what was met last, by some bits of the key */
};

void pci_value_ids_init(struct pci_value_ids *numbers);
void pci_value_ids_clear(struct pci_value_ids *numbers);

/* Numbers of `n` keys, of which those that are not valid are one. */
pcol_status pci_value_ids_of(struct pci_value_ids *numbers, const int64_t *keys,
                             const uint8_t *valid, size_t n, uint32_t *out, pcol_error *err);
/* The same of pairs of numbers. */
pcol_status pci_value_ids_of_pairs(struct pci_value_ids *numbers, const uint32_t *first,
                                   const uint32_t *second, size_t n, uint32_t *out,
                                   pcol_error *err);
static inline int64_t pci_pair_key(uint32_t first, uint32_t second)
{
    return (int64_t)((uint64_t)first << 32 | second);
}

/* By number: its rank, most often met first, those met as often in the order of their numbers. */
pcol_status pci_ranks_by_frequency(const uint64_t *counts, size_t count, uint32_t *ranks,
                                   pcol_error *err);

#endif
