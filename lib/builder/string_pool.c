/*
 * string_pool.c - interning and sorting strings
 */
#include "builder/string_pool.h"

#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

pcol_str pci_string_pool_get(const struct pci_string_pool *table, uint32_t code)
{
    return (pcol_str){table->bytes + table->starts[code],
                      (size_t)(table->starts[code + 1] - table->starts[code])};
}

static uint32_t find(const struct pci_string_pool *table, uint64_t hash, const char *data,
                     size_t size)
{
    size_t at = pci_hash_start(&table->hash, hash);
    uint32_t code;
    while ((code = pci_hash_next(&table->hash, hash, &at)) != PCI_HASH_NONE) {
        pcol_str s = pci_string_pool_get(table, code);
        if (s.size == size && (!size || !memcmp(s.data, data, size)))
            return code;
    }
    return PCI_HASH_NONE;
}

uint32_t pci_string_pool_find(const struct pci_string_pool *table, pcol_str text)
{
    return find(table, pci_hash_bytes(text.data, text.size), text.data, text.size);
}

pcol_status pci_string_pool_intern(struct pci_string_pool *table, const char *data, size_t size,
                                   uint32_t *code, pcol_error *err)
{
    uint64_t hash = pci_hash_bytes(data, size);
    *code = find(table, hash, data, size);
    if (*code != PCI_HASH_NONE)
        return PCOL_OK;
    *code = 0;
    if (table->count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 distinct strings");
    if (pci_grow((void **)&table->starts, &table->start_capacity, table->count + 2,
                 sizeof *table->starts) ||
        pci_grow((void **)&table->bytes, &table->capacity, table->size + size + 1, 1))
        return pci_fail_memory(err);
    if (size)
        memcpy(table->bytes + table->size, data, size);
    table->starts[table->count] = table->size;
    table->starts[table->count + 1] = table->size + size;
    PCI_TRY(pci_hash_add(&table->hash, hash, (uint32_t)table->count, err));
    table->size += size;
    *code = (uint32_t)table->count++;
    return PCOL_OK;
}

struct key {
    pcol_str string;
    uint32_t code;
};

static int compare(const void *pa, const void *pb)
{
    const struct key *a = pa, *b = pb;
    size_t n = a->string.size < b->string.size ? a->string.size : b->string.size;
    int order = n ? memcmp(a->string.data, b->string.data, n) : 0;
    if (order)
        return order;
    return (a->string.size > b->string.size) - (a->string.size < b->string.size);
}

pcol_status pci_string_pool_sort(struct pci_string_pool *table, pcol_error *err)
{
    size_t n = table->count;
    struct key *keys = pci_malloc(n, sizeof *keys);
    table->rank = pci_malloc(n, sizeof *table->rank);
    table->order = pci_malloc(n, sizeof *table->order);
    if (!keys || !table->rank || !table->order) {
        pci_free(keys);
        return pci_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct key){pci_string_pool_get(table, (uint32_t)i), (uint32_t)i};
    qsort(keys, n, sizeof *keys, compare);
    for (size_t i = 0; i < n; i++) {
        table->order[i] = keys[i].code;
        table->rank[keys[i].code] = (uint32_t)i;
    }
    pci_free(keys);
    pci_hash_clear(&table->hash);
    return PCOL_OK;
}

void pci_string_pool_clear(struct pci_string_pool *table)
{
    pci_free(table->bytes);
    pci_free(table->starts);
    pci_free(table->rank);
    pci_free(table->order);
    pci_hash_clear(&table->hash);
    *table = (struct pci_string_pool){0};
}
