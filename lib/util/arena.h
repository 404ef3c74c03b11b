/*
 * arena.h - text whose address does not change until all of it is released
 */
#ifndef PCI_UTIL_ARENA_H
#define PCI_UTIL_ARENA_H

#include "pcol.h"

struct pci_arena {
    char **blocks;
    size_t block_count, block_capacity;
    size_t used, size;    /* of the last block */
    uint64_t total, most; /* bytes taken, and allowed; 0: any */
};
/* *text has room for `size` bytes. E_LIMIT past `most`. */
pcol_status pci_arena_take(struct pci_arena *arena, size_t size, char **text, pcol_error *err);
void pci_arena_clear(struct pci_arena *arena);

#endif
