/*
 * tree_context.c - context coding of a tree's values
 *
 * A code below the number of ranks of its context is the rank of a known value. Otherwise the
 * excess is a value that is new in this context and gets the next rank. Blocks are independent.
 * Memory is linear in the number of distinct (context, value) pairs.
 */
#include "util/tree_context.h"

#include "format/load.h"
#include "format/transform.h"
#include "util/alloc.h"

/* Context of rows whose parent is before the block. */
#define OUTSIDE_CONTEXT (UINT64_C(1) << 32)

/* The result of (context, key); NULL: unknown. Valid until the next insert(). */
static uint32_t *find(struct pci_tree_context_set *set, uint64_t context, uint32_t key)
{
    uint64_t hash = pci_hash_pair(context, key);
    size_t slot = pci_hash_start(&set->hash, hash);
    uint32_t id;
    while ((id = pci_hash_next(&set->hash, hash, &slot)) != PCI_HASH_NONE)
        if (set->entries[id].context == context && set->entries[id].key == key)
            return &set->entries[id].result;
    return NULL;
}

static pcol_status insert(struct pci_tree_context_set *set, uint64_t context, uint32_t key,
                          uint32_t result, pcol_error *err)
{
    uint32_t id = (uint32_t)set->hash.count;
    PCI_TRY(PCI_GROW(set->entries, set->capacity, set->hash.count + 1, err));
    set->entries[id] = (struct pci_tree_context_entry){context, key, result};
    return pci_hash_add(&set->hash, pci_hash_pair(context, key), id, err);
}

/* Add a pair to a context that has `rank_count` ranks. */
static pcol_status add_pair(struct pci_tree_context *state, uint64_t context, uint32_t key,
                            uint32_t result, uint32_t rank_count, pcol_error *err)
{
    PCI_TRY(insert(&state->pairs, context, key, result, err));
    if (rank_count == 0)
        return insert(&state->contexts, context, 0, 1, err);
    *find(&state->contexts, context, 0) = rank_count + 1;
    return PCOL_OK;
}

pcol_status pci_tree_context_encode(struct pci_tree_context *state, const uint32_t *parents,
                                    const uint32_t *values, uint64_t first, size_t count,
                                    uint8_t *stream, size_t *size, pcol_error *err)
{
    *size = 0;
    for (uint64_t row = first > 0 ? first : 1; row < first + count; row++) {
        uint64_t context = parents[row] < first ? OUTSIDE_CONTEXT : values[parents[row]];
        uint32_t value = values[row];
        const uint32_t *known = find(&state->pairs, context, value);
        if (known) {
            *size += pcf_varint_put(stream + *size, *known);
            continue;
        }
        const uint32_t *ranks = find(&state->contexts, context, 0);
        uint32_t rank_count = ranks ? *ranks : 0;
        *size += pcf_varint_put(stream + *size, (uint64_t)rank_count + value);
        PCI_TRY(add_pair(state, context, value, rank_count, rank_count, err));
    }
    return PCOL_OK;
}

pcol_status pci_tree_context_decode(struct pci_tree_context *state, const int64_t *parents,
                                    uint8_t *values, uint64_t first, uint64_t row, size_t count,
                                    const uint8_t *stream, size_t size, size_t *used, int *valid,
                                    pcol_error *err)
{
    *valid = 0;
    for (size_t i = 0; i < count; i++, row++) {
        uint64_t code;
        uint32_t value = 0;
        if (row > 0) {
            size_t n = pcf_varint_get(stream + *used, size - *used, &code);
            if (n == 0 || parents[i] < 0 || (uint64_t)parents[i] >= row)
                return PCOL_OK;
            *used += n;
            uint64_t parent = (uint64_t)parents[i];
            uint64_t context =
                parent < first ? OUTSIDE_CONTEXT : pcf_load32(values + 4 * (parent - first));
            const uint32_t *ranks = find(&state->contexts, context, 0);
            uint32_t rank_count = ranks ? *ranks : 0;
            if (code < rank_count) {
                value = *find(&state->pairs, context, (uint32_t)code);
            } else {
                if (code - rank_count > UINT32_MAX)
                    return PCOL_OK;
                value = (uint32_t)(code - rank_count);
                PCI_TRY(add_pair(state, context, rank_count, value, rank_count, err));
            }
        }
        memcpy(values + 4 * (row - first), &value, sizeof value);
    }
    *valid = 1;
    return PCOL_OK;
}

void pci_tree_context_clear(struct pci_tree_context *state)
{
    pci_hash_clear(&state->contexts.hash);
    pci_hash_clear(&state->pairs.hash);
    pci_free(state->contexts.entries);
    pci_free(state->pairs.entries);
    *state = (struct pci_tree_context){0};
}
