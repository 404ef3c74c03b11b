/*
 * write_stacks.c - location ids of stacks
 *
 * The stack tree is loaded into two arrays, 8 bytes a node, and checked once; a stack is then a
 * walk from its leaf to the root.
 */
#include "formats/pprof/write.h"

#include "util/alloc.h"

/* limit: rows of the referenced table; NULL: the row itself, since parents precede children */
static pcol_status read_column(struct pci_pprof_export *e, const char *name, uint32_t *to,
                               const uint64_t *limit, pcol_error *err)
{
    const struct pci_column *column;
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
    PCI_TRY(pci_require_column(e->file, "stacks", name, PCI_TYPES_ROW, &column, err));
    PCI_TRY(pci_verify(e->file, column, err));
    for (uint64_t row = 0; row < e->stack_count; row += PCI_BATCH) {
        uint64_t left = e->stack_count - row, n = left < PCI_BATCH ? left : PCI_BATCH;
        PCI_TRY(pci_read(e->file, column, row, n, values, valid, err));
        for (uint64_t i = 0; i < n; i++) {
            uint64_t bound = limit ? *limit : row + i;
            if ((!valid[i] || (uint64_t)values[i] >= bound) && row + i)
                return pci_corrupt(err, "stacks", name, row + i,
                                   "refers to a row that does not exist");
            to[row + i] = (uint32_t)values[i];
        }
    }
    return PCOL_OK;
}

pcol_status pci_pprof_tree_open(struct pci_pprof_export *e, pcol_error *err)
{
    e->stack_count = pci_rows(e->file, "stacks");
    if (!e->stack_count)
        return PCOL_OK;
    PCI_TRY(pci_check_row_count(e->file, "stacks", err));
    PCI_TRY(PCI_MALLOC(e->parent, (size_t)e->stack_count, err));
    PCI_TRY(PCI_MALLOC(e->group, (size_t)e->stack_count, err));
    PCI_TRY(read_column(e, "parent", e->parent, NULL, err));
    return read_column(e, "group", e->group, &e->groups.rows, err);
}

pcol_status pci_pprof_stack(struct pci_pprof_export *e, uint64_t stack, pcol_error *err)
{
    e->depth = 0;
    if (stack && stack >= e->stack_count)
        return pci_fail(err, PCOL_E_CORRUPT, "a sample refers to a stack that does not exist");
    for (uint32_t node = (uint32_t)stack; node; node = e->parent[node]) {
        if (e->depth == e->stack_capacity && pci_grow((void **)&e->stack_ids, &e->stack_capacity,
                                                      e->depth + 1, sizeof *e->stack_ids))
            return pci_fail_memory(err);
        uint64_t *id = &e->stack_ids[e->depth++];
        *id = e->groups.ids[e->group[node]];
        if (!e->groups.is_listed[e->group[node]])
            PCI_TRY(pci_pprof_entry_id(e, &e->groups, e->group[node], id, err));
    }
    return PCOL_OK;
}
