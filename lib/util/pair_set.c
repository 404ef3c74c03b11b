/*
 * pair_set.c - ordered set of pairs of integers
 */
#include "util/pair_set.h"

#include "util/alloc.h"

uint32_t pci_pair_set_find(const struct pci_pair_set *pairs, uint64_t first, uint64_t second)
{
    uint64_t hash = pci_hash_pair(first, second);
    size_t slot = pci_hash_start(&pairs->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&pairs->hash, hash, &slot)) != PCI_HASH_NONE) {
        const struct pci_integer_pair *candidate = &pairs->pairs[id];
        if (candidate->first == first && candidate->second == second)
            return id;
    }
    return PCI_HASH_NONE;
}

pcol_status pci_pair_set_index(struct pci_pair_set *pairs, uint64_t first, uint64_t second,
                               uint32_t *index, int *found, pcol_error *err)
{
    *index = pci_pair_set_find(pairs, first, second);
    *found = *index != PCI_HASH_NONE;
    if (*found)
        return PCOL_OK;
    if (pairs->count >= PCI_HASH_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 2^32 pairs of rows");
    *index = (uint32_t)pairs->count;
    PCI_TRY(PCI_GROW(pairs->pairs, pairs->capacity, pairs->count + 1, err));
    PCI_TRY(pci_hash_add(&pairs->hash, pci_hash_pair(first, second), *index, err));
    pairs->pairs[pairs->count++] = (struct pci_integer_pair){first, second};
    return PCOL_OK;
}

pcol_status pci_pair_set_add(struct pci_pair_set *pairs, uint64_t first, uint64_t second,
                             int *found, pcol_error *err)
{
    uint32_t index;
    return pci_pair_set_index(pairs, first, second, &index, found, err);
}

void pci_pair_set_clear(struct pci_pair_set *pairs)
{
    pci_free(pairs->pairs);
    pci_hash_clear(&pairs->hash);
    *pairs = (struct pci_pair_set){0};
}
