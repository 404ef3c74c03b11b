/*
 * arena.h - arena allocator of text: addresses stay valid until the whole arena is released
 */
#ifndef PCI_UTIL_ARENA_H
#define PCI_UTIL_ARENA_H

#include "pcol.h"

struct pci_arena {
    char **blocks;
    size_t block_count, block_capacity;
    size_t used, size;    /* bytes of the last block */
    uint64_t total, most; /* bytes allocated; their limit, 0: unlimited */
};
/* Allocate `size` bytes at *text. E_LIMIT if the total exceeds `most`. */
pcol_status pci_arena_alloc(struct pci_arena *arena, size_t size, char **text, pcol_error *err);
/* Release all blocks; the limit stays. */
void pci_arena_clear(struct pci_arena *arena);

#endif
