/*
 * value_ids.c - distinct values of a column, or pairs of numbers of two, each with a number of its
 * own
 *
 * A few keys are most of what is met, and are found at once by some of their bits; the others in
 * the hash table.
 */
#include "util/value_ids.h"

#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

void pci_value_ids_init(struct pci_value_ids *numbers)
{
    memset(numbers, 0, sizeof *numbers);
    numbers->null = PCI_HASH_NONE;
}

void pci_value_ids_clear(struct pci_value_ids *numbers)
{
    pci_free(numbers->keys);
    pci_hash_clear(&numbers->hash);
    pci_value_ids_init(numbers);
}

static pcol_status add(struct pci_value_ids *s, int64_t key, uint32_t *number, pcol_error *err)
{
    if (pci_grow((void **)&s->keys, &s->capacity, s->count + 1, sizeof *s->keys))
        return pci_fail_memory(err);
    s->keys[s->count] = key;
    *number = (uint32_t)s->count++;
    return PCOL_OK;
}

static pcol_status find(struct pci_value_ids *s, int64_t key, uint32_t *number, pcol_error *err)
{
    uint64_t hash = pci_hash_pair((uint64_t)key, 0);
    size_t at = pci_hash_start(&s->hash, hash);
    uint32_t found;
    do
        found = pci_hash_next(&s->hash, hash, &at);
    while (found != PCI_HASH_NONE && s->keys[found] != key);
    if (found == PCI_HASH_NONE) {
        PCI_TRY(add(s, key, &found, err));
        PCI_TRY(pci_hash_add(&s->hash, hash, found, err));
    }
    *number = found;
    return PCOL_OK;
}

static inline pcol_status number_of(struct pci_value_ids *s, int64_t key, uint32_t *number,
                                    pcol_error *err)
{
    size_t at = (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 56);
    if (s->near[at].key != key || !s->near[at].after) {
        PCI_TRY(find(s, key, number, err));
        s->near[at].key = key;
        s->near[at].after = *number + 1;
    }
    *number = s->near[at].after - 1;
    return PCOL_OK;
}

pcol_status pci_value_ids_of(struct pci_value_ids *numbers, const int64_t *keys,
                             const uint8_t *valid, size_t n, uint32_t *out, pcol_error *err)
{
    int whole = !memchr(valid, 0, n);
    for (size_t i = 0; i < n; i++) {
        if (whole || valid[i]) {
            PCI_TRY(number_of(numbers, keys[i], &out[i], err));
            continue;
        }
        if (numbers->null == PCI_HASH_NONE)
            PCI_TRY(add(numbers, 0, &numbers->null, err));
        out[i] = numbers->null;
    }
    return PCOL_OK;
}

pcol_status pci_value_ids_of_pairs(struct pci_value_ids *numbers, const uint32_t *first,
                                   const uint32_t *second, size_t n, uint32_t *out, pcol_error *err)
{
    for (size_t i = 0; i < n; i++)
        PCI_TRY(number_of(numbers, pci_pair_key(first[i], second[i]), &out[i], err));
    return PCOL_OK;
}

struct counted {
    uint64_t count;
    uint32_t number;
};

static int by_count(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

pcol_status pci_ranks_by_frequency(const uint64_t *counts, size_t count, uint32_t *ranks,
                                   pcol_error *err)
{
    struct counted *order = pci_malloc(count + 1, sizeof *order);
    if (!order)
        return pci_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct counted){counts[i], (uint32_t)i};
    qsort(order, count, sizeof *order, by_count);
    for (size_t i = 0; i < count; i++)
        ranks[order[i].number] = (uint32_t)i;
    pci_free(order);
    return PCOL_OK;
}
