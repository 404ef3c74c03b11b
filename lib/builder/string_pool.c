/*
 * string_pool.c - interned strings: hash index and final sort
 */
#include "builder/string_pool.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/sort.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

pcol_str pci_string_pool_get(const struct pci_string_pool *pool, uint32_t code)
{
    return (pcol_str){pool->bytes + pool->starts[code],
                      (size_t)(pool->starts[code + 1] - pool->starts[code])};
}

static uint32_t find(const struct pci_string_pool *pool, uint64_t hash, const char *data,
                     size_t size)
{
    size_t slot = pci_hash_start(&pool->hash, hash);
    uint32_t code;
    while ((code = pci_hash_next(&pool->hash, hash, &slot)) != PCI_HASH_NONE) {
        pcol_str s = pci_string_pool_get(pool, code);
        if (s.size == size && (!size || !memcmp(s.data, data, size)))
            return code;
    }
    return PCI_HASH_NONE;
}

uint32_t pci_string_pool_find(const struct pci_string_pool *pool, pcol_str text)
{
    return find(pool, pci_hash_bytes(text.data, text.size), text.data, text.size);
}

pcol_status pci_string_pool_intern(struct pci_string_pool *pool, const char *data, size_t size,
                                   uint32_t *code, pcol_error *err)
{
    uint64_t hash = pci_hash_bytes(data, size);
    *code = find(pool, hash, data, size);
    if (*code != PCI_HASH_NONE)
        return PCOL_OK;
    *code = 0;
    PCI_TRY(pci_work(PCI_ITEM_WORK + size, err));
    if (pool->count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 distinct strings");
    PCI_TRY(PCI_GROW(pool->starts, pool->start_capacity, pool->count + 2, err));
    PCI_TRY(PCI_GROW(pool->bytes, pool->capacity, pool->size + size + 1, err));
    if (size)
        memcpy(pool->bytes + pool->size, data, size);
    pool->starts[pool->count] = pool->size;
    pool->starts[pool->count + 1] = pool->size + size;
    PCI_TRY(pci_hash_add(&pool->hash, hash, (uint32_t)pool->count, err));
    pool->size += size;
    *code = (uint32_t)pool->count++;
    return PCOL_OK;
}

pcol_status pci_string_pool_intern_stored(struct pci_string_pool *pool, struct pci_text_memo *memo,
                                          pcol_str text, uint32_t *code, pcol_error *err)
{
    *code = pci_text_memo_find(memo, text);
    if (*code != PCI_HASH_NONE)
        return PCOL_OK;
    PCI_TRY(pci_string_pool_intern(pool, text.data, text.size, code, err));
    return pci_text_memo_add(memo, text, *code, err);
}

struct sort_key {
    pcol_str string;
    uint32_t code;
};

static int compare_keys(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct sort_key *a = pa, *b = pb;
    return pci_str_compare(a->string, b->string);
}

pcol_status pci_string_pool_sort(struct pci_string_pool *pool, pcol_error *err)
{
    size_t n = pool->count;
    struct sort_key *keys = pci_malloc(n, sizeof *keys);
    pool->rank = pci_malloc(n, sizeof *pool->rank);
    pool->order = pci_malloc(n, sizeof *pool->order);
    if (!keys || !pool->rank || !pool->order) {
        pci_free(keys);
        return pci_fail_memory(err);
    }
    pcol_status status = PCOL_OK;
    for (size_t i = 0; status == PCOL_OK && i < n; i++) {
        status = pci_work(PCI_ITEM_WORK, err);
        keys[i] = (struct sort_key){pci_string_pool_get(pool, (uint32_t)i), (uint32_t)i};
    }
    PCI_THEN(status, pci_sort(keys, n, sizeof *keys, compare_keys, NULL, err));
    for (size_t i = 0; status == PCOL_OK && i < n; i++) {
        pool->order[i] = keys[i].code;
        pool->rank[keys[i].code] = (uint32_t)i;
    }
    pci_free(keys);
    return status;
}

void pci_string_pool_clear(struct pci_string_pool *pool)
{
    pci_free(pool->bytes);
    pci_free(pool->starts);
    pci_free(pool->rank);
    pci_free(pool->order);
    pci_hash_clear(&pool->hash);
    *pool = (struct pci_string_pool){0};
}
