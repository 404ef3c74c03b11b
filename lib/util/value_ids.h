/*
 * value_ids.h - dense ids of the distinct values of a column or of pairs of numbers
 *
 * Ids follow the order of first appearance. Tests: tests/unit/test_value_ids.c.
 */
#ifndef PCI_UTIL_VALUE_IDS_H
#define PCI_UTIL_VALUE_IDS_H

#include "util/hash.h"

#define PCI_VALUE_IDS_RECENT 256u

struct pci_value_ids {
    size_t count;
    int64_t *keys; /* by id; 0 for nulls */
    uint32_t null; /* the id of nulls; PCI_HASH_NONE: none so far */
    size_t capacity;
    uint32_t *direct;     /* by place: id + 1 of the first key with it; 0: none */
    size_t direct_size;   /* grows while places are dense */
    uint64_t hashed_size; /* 1 + the greatest place of a key in `hash` that had no entry then */
    struct pci_hash hash; /* of all other keys */
    struct {
        int64_t key;
        uint32_t id_plus_1;         /* 0: empty */
    } recent[PCI_VALUE_IDS_RECENT]; /* direct-mapped cache of the hash table */
};

void pci_value_ids_init(struct pci_value_ids *ids);
void pci_value_ids_clear(struct pci_value_ids *ids);

/* Ids of `n` keys; all invalid ones share the id of nulls. */
pcol_status pci_value_ids_assign(struct pci_value_ids *ids, const int64_t *keys,
                                 const uint8_t *valid, size_t n, uint32_t *out, pcol_error *err);
/* Ids of `n` pairs of numbers. */
pcol_status pci_value_ids_assign_pairs(struct pci_value_ids *ids, const uint32_t *first,
                                       const uint32_t *second, size_t n, uint32_t *out,
                                       pcol_error *err);
/* The key of a pair. */
static inline int64_t pci_pair_key(uint32_t first, uint32_t second)
{
    return (int64_t)((uint64_t)first << 32 | second);
}

/* ranks[id] by descending count, ties by ascending id. */
pcol_status pci_ranks_by_frequency(const uint64_t *counts, size_t count, uint32_t *ranks,
                                   pcol_error *err);

#endif
