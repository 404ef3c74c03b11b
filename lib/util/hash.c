/*
 * hash.c - the hash table's seed and its growth
 *
 * The seed is drawn once, before main (or when the shared library is loaded), so that the hot path
 * reads it without asking whether it is there and threads cannot meet it half made. It never
 * reaches a file: ids are given out in order of insertion.
 */
#define _DEFAULT_SOURCE /* getrandom(), here only */
#define XXH_INLINE_ALL
#include "util/hash.h"

#include "util/alloc.h"

#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#define SMALLEST 64u
#define GROWN_BY_FOUR \
    (UINT64_C(1) << 17)             /* slots: from 512 KiB on to 2 MiB, which is a huge page */
#define LARGEST (UINT64_C(1) << 32) /* slots; the place comes from 32 bits of hash */

uint64_t pci_hash_seed[2];

__attribute__((constructor)) static void draw_seed(void)
{
    uint64_t seed[2] = {0, 0};
    if (getrandom(seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        /* Too early in the boot, or not allowed: where the loader put us is the next best. */
        uint64_t places[2] = {(uint64_t)(uintptr_t)&pci_hash_seed, (uint64_t)(uintptr_t)seed};
        seed[0] = XXH3_64bits_withSeed(places, sizeof places, 1);
        seed[1] = XXH3_64bits_withSeed(places, sizeof places, 2);
    }
    pci_hash_seed[0] = seed[0];
    pci_hash_seed[1] = seed[1];
}

uint64_t pci_hash_bytes(const void *data, size_t size)
{
    return XXH3_64bits_withSeed(data, size, pci_hash_seed[0]);
}

static void insert(uint64_t *slots, size_t mask, uint64_t slot)
{
    size_t at = (size_t)(slot >> 32) & mask;
    while (slots[at])
        at = (at + 1) & mask;
    slots[at] = slot;
}

/* Cleared here and not by the allocator: fresh memory that is looked at first and written to later
 * is mapped twice, and the second time all threads have to be told. */
static pcol_status grow(struct pci_hash *h, pcol_error *err)
{
    size_t old = h->slots ? h->mask + 1 : 0;
    size_t wanted = old ? old < GROWN_BY_FOUR ? 4 * old : 2 * old : SMALLEST;
    if (wanted > LARGEST)
        return pci_fail(err, PCOL_E_LIMIT, "more than %zu distinct entries", h->count);
    uint64_t *slots = pci_malloc(wanted, sizeof *slots);
    if (!slots)
        return pci_fail_memory(err);
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
