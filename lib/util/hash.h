/*
 * hash.h - the one hash table: from a key that lives elsewhere to a dense u32 id
 *
 * Open addressing over 8-byte slots (32 bits of hash, id + 1), grown at 5/8, fourfold while small.
 * Keys are compared by the caller, so the table costs 13 to 26 bytes an entry whatever the key is,
 * a small one 51 at most. Hashes are seeded per process: an input cannot be made that collides. Ids
 * are given out in order of insertion, so the order in the table never reaches a file.
 */
#ifndef PCI_UTIL_HASH_H
#define PCI_UTIL_HASH_H

#include "format/load.h"
#include "util/error.h"

struct pci_hash {
    uint64_t *slots;
    size_t mask; /* slots - 1; 0 while empty */
    size_t count;
};

#define PCI_HASH_NONE UINT32_MAX

/* Drawn at random before main. */
extern uint64_t pci_hash_seed[2];

/* Seeded hash of bytes. */
uint64_t pci_hash_bytes(const void *data, size_t size);

/* Both halves of a 128-bit product folded together: each bit of the result depends on all bits of
 * both factors. */
static inline uint64_t pci_hash_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Seeded hash of a pair of integers: two multiplications. */
static inline uint64_t pci_hash_pair(uint64_t a, uint64_t b)
{
    uint64_t mixed = pci_hash_fold(a ^ pci_hash_seed[0], b ^ pci_hash_seed[1]);
    return pci_hash_fold(mixed ^ pci_hash_seed[0], UINT64_C(0x9e3779b97f4a7c15));
}

/* Seeded hash of a text that is mostly short: up to 32 bytes are loaded as two or four words that
 * may overlap, without a call. */
static inline uint64_t pci_hash_text(const void *text, size_t size)
{
    const uint8_t *p = text, *end = p + size;
    if (size < 8 || size > 32)
        return pci_hash_bytes(text, size);
    uint64_t hash = pci_hash_pair(pcf_load64(p) + size, pcf_load64(end - 8));
    if (size > 16)
        hash = pci_hash_pair(pcf_load64(p + 8) ^ hash, pcf_load64(end - 16));
    return hash;
}

/* Are the `size` bytes at both places the same? */
static inline int pci_same_text(const void *a, const void *b, size_t size)
{
    const uint8_t *p = a, *q = b;
    if (size < 8 || size > 16)
        return memcmp(p, q, size) == 0;
    return ((pcf_load64(p) ^ pcf_load64(q)) |
            (pcf_load64(p + size - 8) ^ pcf_load64(q + size - 8))) == 0;
}

/* Iterate candidates: start with *at = pci_hash_start(h, hash), then call pci_hash_next until it
 * gives PCI_HASH_NONE; each id it gives has the same 32 hash bits and is to be compared. */
static inline size_t pci_hash_start(const struct pci_hash *h, uint64_t hash)
{
    return (size_t)(hash >> 32) & h->mask;
}

static inline uint32_t pci_hash_next(const struct pci_hash *h, uint64_t hash, size_t *at)
{
    if (!h->slots)
        return PCI_HASH_NONE;
    for (;;) {
        uint64_t slot = h->slots[*at];
        if (!slot)
            return PCI_HASH_NONE;
        *at = (*at + 1) & h->mask;
        if (slot >> 32 == hash >> 32)
            return (uint32_t)slot - 1;
    }
}

/* Add an id that pci_hash_next did not find. Slot and place both come from the hash's high half, so
 * growing needs no key. */
pcol_status pci_hash_add(struct pci_hash *h, uint64_t hash, uint32_t id, pcol_error *err);
void pci_hash_clear(struct pci_hash *h);

#endif
