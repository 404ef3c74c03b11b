/*
 * tree_context.c - the values of a tree's rows as ranks among what their parents' values were
 * followed by
 *
 * A rank below the number of ranks that its context has is that of a value seen before; at or above
 * it, the rest is a value that is new there and gets the next rank. Each block starts anew. Memory
 * follows the distinct pairs.
 */
#include "util/tree_context.h"

#include "format/load.h"
#include "format/transform.h"
#include "util/alloc.h"

/* The context of rows whose parent lies before the block: blocks do not know each other's
 * values. */
#define OUTSIDE (UINT64_C(1) << 32)

/* The result of (context, key); NULL: unknown. Valid until the next put(). */
static uint32_t *look(struct pci_tree_context_set *set, uint64_t context, uint32_t key)
{
    uint64_t hash = pci_hash_pair(context, key);
    size_t at = pci_hash_start(&set->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&set->hash, hash, &at)) != PCI_HASH_NONE)
        if (set->entries[id].context == context && set->entries[id].key == key)
            return &set->entries[id].result;
    return NULL;
}

static pcol_status put(struct pci_tree_context_set *set, uint64_t context, uint32_t key,
                       uint32_t result, pcol_error *err)
{
    uint32_t id = (uint32_t)set->hash.count;
    if (pci_grow((void **)&set->entries, &set->capacity, set->hash.count + 1, sizeof *set->entries))
        return pci_fail_memory(err);
    set->entries[id] = (struct pci_tree_context_entry){context, key, result};
    return pci_hash_add(&set->hash, pci_hash_pair(context, key), id, err);
}

/* A new pair of a context that has `length` ranks: the next one of them. */
static pcol_status add(struct pci_tree_context *rank, uint64_t context, uint32_t key,
                       uint32_t result, uint32_t length, pcol_error *err)
{
    PCI_TRY(put(&rank->pairs, context, key, result, err));
    if (length == 0)
        return put(&rank->contexts, context, 0, 1, err);
    *look(&rank->contexts, context, 0) = length + 1;
    return PCOL_OK;
}

pcol_status pci_tree_context_apply(struct pci_tree_context *rank, const uint32_t *parents,
                                   const uint32_t *values, uint64_t first, size_t count,
                                   uint8_t *stream, size_t *size, pcol_error *err)
{
    *size = 0;
    for (uint64_t row = first > 0 ? first : 1; row < first + count; row++) {
        uint64_t context = parents[row] < first ? OUTSIDE : values[parents[row]];
        uint32_t value = values[row];
        const uint32_t *known = look(&rank->pairs, context, value);
        if (known) {
            *size += pcf_varint_put(stream + *size, *known);
            continue;
        }
        const uint32_t *ranks = look(&rank->contexts, context, 0);
        uint32_t length = ranks ? *ranks : 0;
        *size += pcf_varint_put(stream + *size, (uint64_t)length + value);
        PCI_TRY(add(rank, context, value, length, length, err));
    }
    return PCOL_OK;
}

pcol_status pci_tree_context_undo(struct pci_tree_context *rank, const int64_t *parents,
                                  uint8_t *values, uint64_t first, uint64_t row, size_t count,
                                  const uint8_t *stream, size_t size, size_t *used, int *sound,
                                  pcol_error *err)
{
    *sound = 0;
    for (size_t i = 0; i < count; i++, row++) {
        uint64_t code;
        uint32_t value = 0;
        if (row > 0) {
            size_t n = pcf_varint_get(stream + *used, size - *used, &code);
            if (n == 0 || parents[i] < 0 || (uint64_t)parents[i] >= row)
                return PCOL_OK;
            *used += n;
            uint64_t parent = (uint64_t)parents[i];
            uint64_t context = parent < first ? OUTSIDE : pcf_load32(values + 4 * (parent - first));
            const uint32_t *ranks = look(&rank->contexts, context, 0);
            uint32_t length = ranks ? *ranks : 0;
            if (code < length) {
                value = *look(&rank->pairs, context, (uint32_t)code);
            } else {
                if (code - length > UINT32_MAX)
                    return PCOL_OK;
                value = (uint32_t)(code - length);
                PCI_TRY(add(rank, context, length, value, length, err));
            }
        }
        memcpy(values + 4 * (row - first), &value, sizeof value);
    }
    *sound = 1;
    return PCOL_OK;
}

void pci_tree_context_clear(struct pci_tree_context *rank)
{
    pci_hash_clear(&rank->contexts.hash);
    pci_hash_clear(&rank->pairs.hash);
    pci_free(rank->contexts.entries);
    pci_free(rank->pairs.entries);
    *rank = (struct pci_tree_context){0};
}
