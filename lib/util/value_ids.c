/*
 * value_ids.c - dense ids of distinct values: a hash table with a direct-mapped cache
 *
 * A few keys are most of all occurrences; the cache resolves them without a lookup in the hash
 * table.
 */
#include "util/value_ids.h"

#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

void pci_value_ids_init(struct pci_value_ids *ids)
{
    memset(ids, 0, sizeof *ids);
    ids->null = PCI_HASH_NONE;
}

void pci_value_ids_clear(struct pci_value_ids *ids)
{
    pci_free(ids->keys);
    pci_hash_clear(&ids->hash);
    pci_value_ids_init(ids);
}

static pcol_status add(struct pci_value_ids *ids, int64_t key, uint32_t *id, pcol_error *err)
{
    PCI_TRY(PCI_GROW(ids->keys, ids->capacity, ids->count + 1, err));
    ids->keys[ids->count] = key;
    *id = (uint32_t)ids->count++;
    return PCOL_OK;
}

static pcol_status find_or_add(struct pci_value_ids *ids, int64_t key, uint32_t *id,
                               pcol_error *err)
{
    uint64_t hash = pci_hash_pair((uint64_t)key, 0);
    size_t slot = pci_hash_start(&ids->hash, hash);
    uint32_t found;
    do
        found = pci_hash_next(&ids->hash, hash, &slot);
    while (found != PCI_HASH_NONE && ids->keys[found] != key);
    if (found == PCI_HASH_NONE) {
        PCI_TRY(add(ids, key, &found, err));
        PCI_TRY(pci_hash_add(&ids->hash, hash, found, err));
    }
    *id = found;
    return PCOL_OK;
}

static inline pcol_status get_id(struct pci_value_ids *ids, int64_t key, uint32_t *id,
                                 pcol_error *err)
{
    size_t slot = (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 56);
    if (ids->recent[slot].key != key || !ids->recent[slot].id_plus_1) {
        PCI_TRY(find_or_add(ids, key, id, err));
        ids->recent[slot].key = key;
        ids->recent[slot].id_plus_1 = *id + 1;
    }
    *id = ids->recent[slot].id_plus_1 - 1;
    return PCOL_OK;
}

pcol_status pci_value_ids_assign(struct pci_value_ids *ids, const int64_t *keys,
                                 const uint8_t *valid, size_t n, uint32_t *out, pcol_error *err)
{
    int all_valid = !memchr(valid, 0, n);
    for (size_t i = 0; i < n; i++) {
        if (all_valid || valid[i]) {
            PCI_TRY(get_id(ids, keys[i], &out[i], err));
            continue;
        }
        if (ids->null == PCI_HASH_NONE)
            PCI_TRY(add(ids, 0, &ids->null, err));
        out[i] = ids->null;
    }
    return PCOL_OK;
}

pcol_status pci_value_ids_assign_pairs(struct pci_value_ids *ids, const uint32_t *first,
                                       const uint32_t *second, size_t n, uint32_t *out,
                                       pcol_error *err)
{
    for (size_t i = 0; i < n; i++)
        PCI_TRY(get_id(ids, pci_pair_key(first[i], second[i]), &out[i], err));
    return PCOL_OK;
}

struct counted {
    uint64_t count;
    uint32_t id;
};

static int compare_counts(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

pcol_status pci_ranks_by_frequency(const uint64_t *counts, size_t count, uint32_t *ranks,
                                   pcol_error *err)
{
    struct counted *order;
    PCI_TRY(PCI_MALLOC(order, count + 1, err));
    for (size_t i = 0; i < count; i++)
        order[i] = (struct counted){counts[i], (uint32_t)i};
    qsort(order, count, sizeof *order, compare_counts);
    for (size_t i = 0; i < count; i++)
        ranks[order[i].id] = (uint32_t)i;
    pci_free(order);
    return PCOL_OK;
}
