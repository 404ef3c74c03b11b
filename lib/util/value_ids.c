/*
 * value_ids.c - dense ids of distinct values: direct table, hash table and a direct-mapped cache
 *
 * A few keys are most of all occurrences; the cache resolves them without a lookup. Keys are often
 * dense: ids and codes that count upwards. Each key has a place, of a value itself, of a pair its
 * greater number; the direct table has the first key of each place, the hash table the others.
 */
#include "util/value_ids.h"

#include "util/alloc.h"
#include "util/sort.h"

#include <string.h>

void pci_value_ids_init(struct pci_value_ids *ids)
{
    memset(ids, 0, sizeof *ids);
    ids->null = PCI_HASH_NONE;
}

void pci_value_ids_clear(struct pci_value_ids *ids)
{
    pci_free(ids->keys);
    pci_free(ids->direct);
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

#define MIN_DIRECT 1024u
#define PLACES_PER_KEY 16u

/* The entry of a place; NULL: the place is not dense. */
static pcol_status get_direct(struct pci_value_ids *ids, uint64_t place, uint32_t **entry,
                              pcol_error *err)
{
    *entry = NULL;
    if (place >= ids->direct_size) {
        size_t size = ids->direct_size ? ids->direct_size : MIN_DIRECT;
        if (place / PLACES_PER_KEY > ids->count + MIN_DIRECT / PLACES_PER_KEY)
            return PCOL_OK;
        while (size <= place)
            size *= 2;
        uint32_t *direct = pci_realloc(ids->direct, size, sizeof *direct);
        if (!direct)
            return pci_fail_memory(err);
        memset(direct + ids->direct_size, 0, (size - ids->direct_size) * sizeof *direct);
        ids->direct = direct;
        ids->direct_size = size;
    }
    *entry = &ids->direct[place];
    return PCOL_OK;
}

static uint32_t find_hashed(const struct pci_value_ids *ids, int64_t key, uint64_t hash)
{
    size_t slot = pci_hash_start(&ids->hash, hash);
    uint32_t found;
    do
        found = pci_hash_next(&ids->hash, hash, &slot);
    while (found != PCI_HASH_NONE && ids->keys[found] != key);
    return found;
}

static pcol_status find_or_add(struct pci_value_ids *ids, int64_t key, uint64_t place, uint32_t *id,
                               pcol_error *err)
{
    uint64_t hash = pci_hash_pair((uint64_t)key, 0);
    uint32_t *entry;
    PCI_TRY(get_direct(ids, place, &entry, err));
    if (entry && *entry && ids->keys[*entry - 1] == key) {
        *id = *entry - 1;
        return PCOL_OK;
    }
    int is_first = entry && !*entry;
    if (!is_first || place < ids->hashed_size) {
        *id = find_hashed(ids, key, hash);
        if (*id != PCI_HASH_NONE)
            return PCOL_OK;
    }
    PCI_TRY(add(ids, key, id, err));
    if (is_first) {
        *entry = *id + 1;
        return PCOL_OK;
    }
    if (!entry && place >= ids->hashed_size)
        ids->hashed_size = place == UINT64_MAX ? place : place + 1;
    return pci_hash_add(&ids->hash, hash, *id, err);
}

static inline pcol_status get_id(struct pci_value_ids *ids, int64_t key, uint64_t place,
                                 uint32_t *id, pcol_error *err)
{
    size_t slot = (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 56);
    if (ids->recent[slot].key != key || !ids->recent[slot].id_plus_1) {
        PCI_TRY(find_or_add(ids, key, place, id, err));
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
            PCI_TRY(get_id(ids, keys[i], (uint64_t)keys[i], &out[i], err));
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
    for (size_t i = 0; i < n; i++) {
        int is_second = first[i] < second[i];
        uint64_t place = 2 * (uint64_t)(is_second ? second[i] : first[i]) + (unsigned)is_second;
        PCI_TRY(get_id(ids, pci_pair_key(first[i], second[i]), place, &out[i], err));
    }
    return PCOL_OK;
}

struct counted {
    uint64_t count;
    uint32_t id;
};

static int compare_counts(const void *a, const void *b, const void *context)
{
    (void)context;
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
    pcol_status status = pci_sort(order, count, sizeof *order, compare_counts, NULL, err);
    for (size_t i = 0; status == PCOL_OK && i < count; i++)
        ranks[order[i].id] = (uint32_t)i;
    pci_free(order);
    return status;
}
