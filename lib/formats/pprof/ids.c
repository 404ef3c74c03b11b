/*
 * ids.c - map from ids of mappings, functions and locations to rows
 */
#include "formats/pprof/read.h"
#include "util/alloc.h"

pcol_status pci_pprof_ids_init(struct pci_pprof_ids *ids, uint64_t count, pcol_error *err)
{
    *ids = (struct pci_pprof_ids){0};
    if (count > SIZE_MAX / 16)
        return pci_fail_memory(err);
    /* Fresh pages of the system are zero, so that unused entries take no memory. */
    PCI_TRY(PCI_CALLOC(ids->rows, (size_t)count * 2 + 64, err));
    ids->dense = count * 2 + 64;
    return PCOL_OK;
}

void pci_pprof_ids_clear(struct pci_pprof_ids *ids)
{
    pci_free(ids->rows);
    pci_free(ids->sparse);
    pci_hash_clear(&ids->hash);
    *ids = (struct pci_pprof_ids){0};
}

uint32_t pci_pprof_ids_sparse(const struct pci_pprof_ids *ids, uint64_t id)
{
    uint64_t hash = pci_hash_pair(id, 0);
    size_t at = pci_hash_start(&ids->hash, hash);
    uint32_t found;
    while ((found = pci_hash_next(&ids->hash, hash, &at)) != PCI_HASH_NONE)
        if (ids->sparse[found].id == id)
            return ids->sparse[found].row;
    return PCOL_NONE;
}

pcol_status pci_pprof_ids_add(struct pci_pprof_ids *ids, uint64_t id, uint32_t row, int *is_new,
                              pcol_error *err)
{
    *is_new = pci_pprof_ids_find(ids, id) == PCOL_NONE;
    if (!*is_new)
        return PCOL_OK;
    if (id < ids->dense) {
        ids->rows[id] = row + 1;
        return PCOL_OK;
    }
    size_t count = ids->hash.count;
    PCI_TRY(PCI_GROW(ids->sparse, ids->sparse_capacity, count + 1, err));
    ids->sparse[count] = (struct pci_pprof_id){id, row};
    return pci_hash_add(&ids->hash, pci_hash_pair(id, 0), (uint32_t)count, err);
}
