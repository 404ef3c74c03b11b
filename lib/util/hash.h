/*
 * hash.h - hash table from keys, stored by the caller, to dense 32-bit ids
 *
 * Open addressing with linear probing; a slot of 8 bytes is 32 bits of hash and id + 1. Tables grow
 * at a load of 5/8, fourfold while small, so an entry takes 13 to 26 bytes (at most 51 in a small
 * table). The caller compares keys. Hashes are seeded per process, so inputs cannot be crafted to
 * collide. Ids follow the order of insertion: the order of slots never affects a file. Tests:
 * tests/unit/test_util.c.
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

/* The halves of the 128-bit product, XORed: each bit of the result depends on all bits of both
 * factors. */
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

/* Seeded hash of a text that is mostly short: 8 to 32 bytes are loaded as two or four words that
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

/* Seeded hash of a string of a file for comparisons by pci_str_same(): of its address, O(1). */
static inline uint64_t pci_hash_place(pcol_str text)
{
    return text.size ? pci_hash_pair((uintptr_t)text.data, text.size) : 0;
}

/* memcmp() == 0 of `size` bytes, without a call for 8 to 16 bytes. */
static inline int pci_bytes_equal(const void *a, const void *b, size_t size)
{
    const uint8_t *p = a, *q = b;
    if (size < 8 || size > 16)
        return memcmp(p, q, size) == 0;
    return ((pcf_load64(p) ^ pcf_load64(q)) |
            (pcf_load64(p + size - 8) ^ pcf_load64(q + size - 8))) == 0;
}

/* Iteration over candidates: start with *slot = pci_hash_start(h, hash), then call pci_hash_next()
 * until it returns PCI_HASH_NONE. Each id returned has the same upper 32 bits of hash; the caller
 * compares the key. */
static inline size_t pci_hash_start(const struct pci_hash *h, uint64_t hash)
{
    return (size_t)(hash >> 32) & h->mask;
}

static inline uint32_t pci_hash_next(const struct pci_hash *h, uint64_t hash, size_t *slot)
{
    if (!h->slots)
        return PCI_HASH_NONE;
    for (;;) {
        uint64_t entry = h->slots[*slot];
        if (!entry)
            return PCI_HASH_NONE;
        *slot = (*slot + 1) & h->mask;
        if (entry >> 32 == hash >> 32)
            return (uint32_t)entry - 1;
    }
}

/* Insert an id whose key pci_hash_next() did not find. The slot depends on the upper 32 bits of
 * hash only, so that growing needs no keys. */
pcol_status pci_hash_add(struct pci_hash *h, uint64_t hash, uint32_t id, pcol_error *err);
void pci_hash_clear(struct pci_hash *h);

#endif
