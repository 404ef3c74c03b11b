/*
 * stack_table.c - loads the call tree of a file
 *
 * The walk (walk.h) reads the columns `parent` and `group` in row order; pci_stack_table_load()
 * provides arrays for random access.
 */
#include "query/query.h"

#include "util/alloc.h"

/* Reads a column of row numbers below `limit`. below_row: each is less than its own row. */
static pcol_status read_row_numbers(const pcol_file *file, const struct pci_column *column,
                                    uint64_t limit, int below_row, uint32_t *rows, uint64_t count,
                                    pcol_error *err)
{
    int64_t cells[PCI_BATCH];
    PCI_TRY(pci_verify(file, column, err));
    for (uint64_t row = 0; row < count; row += PCI_BATCH) {
        size_t n = count - row < PCI_BATCH ? (size_t)(count - row) : PCI_BATCH;
        PCI_TRY(pci_read(file, column, row, n, cells, NULL, err));
        for (size_t i = 0; i < n; i++) {
            uint64_t end = below_row ? row + i : limit;
            if ((uint64_t)cells[i] >= end && row + i > 0)
                return pci_corrupt(err, column->table->name, column->name, row + i,
                                   below_row ? "parent %llu is not before its child"
                                             : "%llu is out of range of the referenced table",
                                   (unsigned long long)cells[i]);
            rows[row + i] = (uint32_t)cells[i];
        }
    }
    return PCOL_OK;
}

/* Reads the first location of each group; the entry after the last group is the end. */
static pcol_status read_group_starts(const struct pci_stacks *tree, struct pci_stack_table *calls,
                                     pcol_error *err)
{
    uint32_t *first = calls->first;
    first[calls->group_count] = calls->location_count;
    if (!tree->first) {
        for (uint32_t g = 0; g < calls->group_count; g++)
            first[g] = g;
        first[calls->group_count] = calls->group_count;
        return PCOL_OK;
    }
    PCI_TRY(
        read_row_numbers(tree->file, tree->first, tree->locations, 0, first, tree->groups, err));
    for (uint32_t g = 0; g < calls->group_count; g++) {
        if (g == 0 ? first[0] != 0 : first[g] <= first[g - 1])
            return pci_corrupt(err, "location_groups", "first_location", g,
                               "the group's locations are out of order");
    }
    return PCOL_OK;
}

pcol_status pci_stack_table_open(const pcol_file *file, struct pci_stack_table *calls,
                                 pcol_error *err)
{
    struct pci_stacks tree;
    *calls = (struct pci_stack_table){.file = file};
    PCI_TRY(pci_stacks_open(file, &tree, err));
    PCI_TRY(pci_check_row_count(file, "stacks", err));
    PCI_TRY(pci_check_row_count(file, "location_groups", err));
    PCI_TRY(pci_check_row_count(file, "locations", err));
    if (tree.groups > tree.locations)
        return pci_corrupt(err, "location_groups", NULL, PCOL_POSITION_UNKNOWN,
                           "more groups than locations");
    calls->count = (uint32_t)tree.stacks;
    calls->group_count = (uint32_t)tree.groups;
    calls->location_count = (uint32_t)tree.locations;
    calls->parents = tree.parent;
    calls->groups = tree.group;
    PCI_TRY(PCI_CALLOC(calls->first, (size_t)tree.groups + 1, err));
    if (tree.stacks == 0)
        return PCOL_OK;
    PCI_TRY(pci_verify(file, tree.parent, err));
    PCI_TRY(pci_verify(file, tree.group, err));
    return read_group_starts(&tree, calls, err);
}

pcol_status pci_stack_table_load(struct pci_stack_table *calls, pcol_error *err)
{
    if (calls->parent)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(calls->parent, (size_t)calls->count + 1, err));
    PCI_TRY(PCI_CALLOC(calls->group, (size_t)calls->count + 1, err));
    if (calls->count == 0)
        return PCOL_OK;
    PCI_TRY(read_row_numbers(calls->file, calls->parents, 0, 1, calls->parent, calls->count, err));
    PCI_TRY(read_row_numbers(calls->file, calls->groups, calls->group_count, 0, calls->group,
                             calls->count, err));
    calls->parent[0] = calls->group[0] = 0;
    return PCOL_OK;
}

void pci_stack_table_close(struct pci_stack_table *calls)
{
    pci_free(calls->parent);
    pci_free(calls->group);
    pci_free(calls->first);
    *calls = (struct pci_stack_table){0};
}
