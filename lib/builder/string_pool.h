/*
 * string_pool.h - interned strings of a file under construction
 *
 * Codes follow the order of first appearance; pci_string_pool_sort() computes the final code of
 * each string, its rank in bytewise order.
 */
#ifndef PCI_BUILDER_STRING_POOL_H
#define PCI_BUILDER_STRING_POOL_H

#include "util/long_texts.h"

struct pci_string_pool {
    char *bytes;
    size_t size, capacity;
    uint64_t *starts; /* count + 1 offsets into bytes */
    size_t count, start_capacity;
    struct pci_hash hash;
    uint32_t *rank;  /* by provisional code, after sorting */
    uint32_t *order; /* provisional code by rank */
};

pcol_status pci_string_pool_intern(struct pci_string_pool *pool, const char *data, size_t size,
                                   uint32_t *code, pcol_error *err);
/* The same for a text that stays where it is while the memo of this pool is used: a long one is
 * hashed and compared once. */
pcol_status pci_string_pool_intern_stored(struct pci_string_pool *pool, struct pci_text_memo *memo,
                                          pcol_str text, uint32_t *code, pcol_error *err);
/* The code of a text; PCI_HASH_NONE (PCOL_NONE) if it is not in the pool. */
uint32_t pci_string_pool_find(const struct pci_string_pool *pool, pcol_str text);
/* Valid until the next pci_string_pool_intern(). */
pcol_str pci_string_pool_get(const struct pci_string_pool *pool, uint32_t code);
pcol_status pci_string_pool_sort(struct pci_string_pool *pool, pcol_error *err);
void pci_string_pool_clear(struct pci_string_pool *pool);

#endif
