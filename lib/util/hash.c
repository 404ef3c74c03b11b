/*
 * hash.c - hash table: seed, insertion and growth
 *
 * The seed is drawn once, before main or when the shared library is loaded: readers need no check
 * and no lock.
 */
#define XXH_INLINE_ALL
#include "util/hash.h"

#include "util/alloc.h"
#include "util/entropy.h"

#include <string.h>
#include <xxhash.h>

#define MIN_SLOTS 64u
/* Slots, below which a table grows fourfold: from 512 KiB to 2 MiB, a huge page. */
#define MAX_SLOTS_GROWN_FOURFOLD (UINT64_C(1) << 17)
#define MAX_SLOTS (UINT64_C(1) << 32) /* 32 bits of hash select a slot */

uint64_t pci_hash_seed[2];

__attribute__((constructor)) static void draw_seed(void)
{
    uint64_t seed[2] = {0, 0};
    if (pci_random_bytes(seed, sizeof seed) != 0) {
        /* No entropy yet early in the boot, or a system call filter: the addresses that the loader
         * chose. */
        uint64_t addresses[2] = {(uint64_t)(uintptr_t)&pci_hash_seed, (uint64_t)(uintptr_t)seed};
        seed[0] = XXH3_64bits_withSeed(addresses, sizeof addresses, 1);
        seed[1] = XXH3_64bits_withSeed(addresses, sizeof addresses, 2);
    }
    pci_hash_seed[0] = seed[0];
    pci_hash_seed[1] = seed[1];
}

uint64_t pci_hash_bytes(const void *data, size_t size)
{
    return XXH3_64bits_withSeed(data, size, pci_hash_seed[0]);
}

static void insert(uint64_t *slots, size_t mask, uint64_t entry)
{
    size_t i = (size_t)(entry >> 32) & mask;
    while (slots[i])
        i = (i + 1) & mask;
    slots[i] = entry;
}

/* memset() and not calloc(): the kernel maps fresh memory twice that is read before it is written,
 * and the second mapping interrupts all threads. */
static pcol_status grow(struct pci_hash *h, pcol_error *err)
{
    size_t old = h->slots ? h->mask + 1 : 0;
    size_t wanted = old ? old < MAX_SLOTS_GROWN_FOURFOLD ? 4 * old : 2 * old : MIN_SLOTS;
    if ((uint64_t)wanted > MAX_SLOTS)
        return pci_fail(err, PCOL_E_LIMIT, "more than %zu distinct entries", h->count);
    uint64_t *slots;
    PCI_TRY(PCI_MALLOC(slots, wanted, err));
    memset(slots, 0, wanted * sizeof *slots);
    for (size_t i = 0; i < old; i++) {
        if (h->slots[i])
            insert(slots, wanted - 1, h->slots[i]);
    }
    pci_free(h->slots);
    h->slots = slots;
    h->mask = wanted - 1;
    return PCOL_OK;
}

pcol_status pci_hash_add(struct pci_hash *h, uint64_t hash, uint32_t id, pcol_error *err)
{
    if (!h->slots || h->count >= (h->mask + 1) / 8 * 5)
        PCI_TRY(grow(h, err));
    insert(h->slots, h->mask, (hash & UINT64_C(0xffffffff00000000)) | ((uint64_t)id + 1));
    h->count++;
    return PCOL_OK;
}

void pci_hash_clear(struct pci_hash *h)
{
    pci_free(h->slots);
    *h = (struct pci_hash){0};
}
