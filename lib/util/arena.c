/*
 * arena.c - arena allocator: blocks of 64 KiB or one large text, filled in turn
 */
#include "util/arena.h"

#include "util/alloc.h"
#include "util/error.h"

#include <string.h>

#define BLOCK_BYTES 65536u

pcol_status pci_arena_alloc(struct pci_arena *arena, size_t size, char **text, pcol_error *err)
{
    if (arena->most && (size > arena->most || arena->total > arena->most - size))
        return pci_fail(err, PCOL_E_LIMIT, "a flat text is longer than %llu bytes",
                        (unsigned long long)arena->most);
    arena->total += size;
    if (arena->block_count && arena->size - arena->used >= size) {
        *text = arena->blocks[arena->block_count - 1] + arena->used;
        arena->used += size;
        return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(arena->blocks, arena->block_capacity, arena->block_count + 1, err));
    size_t capacity = size < BLOCK_BYTES ? BLOCK_BYTES : size;
    char *block;
    PCI_TRY(PCI_MALLOC(block, capacity, err));
    arena->blocks[arena->block_count++] = block;
    arena->size = capacity;
    arena->used = size;
    *text = block;
    return PCOL_OK;
}

void pci_arena_clear(struct pci_arena *arena)
{
    for (size_t i = 0; i < arena->block_count; i++)
        pci_free(arena->blocks[i]);
    pci_free(arena->blocks);
    uint64_t most = arena->most;
    memset(arena, 0, sizeof *arena);
    arena->most = most;
}
