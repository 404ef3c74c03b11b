/*
 * stack_path.c - incremental path to a node of the call tree (stack_path.h)
 *
 * A parent precedes its child. Walking up from the new node while removing larger nodes from the
 * path therefore finds the lowest common ancestor, and ends for any input.
 */
#include "model/stack_path.h"

#include "util/alloc.h"

#include <string.h>

pcol_status pci_stack_path_open(struct pci_stack_path *path, const pcol_file *file, pcol_error *err)
{
    memset(path, 0, sizeof *path);
    path->written = pci_written_stacks_begin(file, PCI_WRITTEN_FRAMES);
    PCI_TRY(pci_stacks_open(file, &path->tree, err));
    return pci_stacks_verify(&path->tree, err);
}

/* ---- nodes */

static pcol_status check_node(const struct pci_stacks *tree, uint64_t node, int64_t parent,
                              int64_t group, pcol_error *err)
{
    if ((uint64_t)parent >= node)
        return pci_corrupt(err, "stacks", "parent", node, "parent %llu is not before its child",
                           (unsigned long long)parent);
    return (uint64_t)group < tree->groups
               ? PCOL_OK
               : pci_corrupt(err, "location_groups", NULL, (uint64_t)group,
                             "this group does not exist");
}

static pcol_status load_rows(struct pci_stack_path *path, uint32_t *parents, uint32_t *groups,
                             pcol_error *err)
{
    const struct pci_stacks *tree = &path->tree;
    int64_t parent[PCI_BATCH], group[PCI_BATCH];
    for (uint64_t row = 0, n; row < tree->stacks; row += n) {
        n = tree->stacks - row < PCI_BATCH ? tree->stacks - row : PCI_BATCH;
        PCI_TRY(pci_read(tree->file, tree->parent, row, (size_t)n, parent, NULL, err));
        PCI_TRY(pci_read(tree->file, tree->group, row, (size_t)n, group, NULL, err));
        for (uint64_t i = row == 0; i < n; i++) {
            PCI_TRY(check_node(tree, row + i, parent[i], group[i], err));
            parents[row + i] = (uint32_t)parent[i];
            groups[row + i] = (uint32_t)group[i];
        }
    }
    return PCOL_OK;
}

static pcol_status load_nodes(struct pci_stack_path *path, pcol_error *err)
{
    uint32_t *parents, *groups = NULL;
    PCI_TRY(pci_check_row_count(path->tree.file, "stacks", err));
    PCI_TRY(PCI_CALLOC(parents, (size_t)path->tree.stacks, err));
    pcol_status status = PCI_CALLOC(groups, (size_t)path->tree.stacks, err);
    PCI_THEN(status, pci_stacks_starts(&path->tree, &path->starts, err));
    PCI_THEN(status, load_rows(path, parents, groups, err));
    if (status == PCOL_OK) {
        path->parents = parents;
        path->groups = groups;
        return PCOL_OK;
    }
    pci_free(parents);
    pci_free(groups);
    pci_free(path->starts);
    path->starts = NULL;
    return status;
}

static pcol_status get_node(struct pci_stack_path *path, uint32_t node, uint32_t *parent,
                            uint32_t *group, pcol_error *err)
{
    int64_t parent_cell, group_cell;
    if (!path->parents && path->reads++ >= path->tree.stacks)
        PCI_TRY(load_nodes(path, err));
    if (path->parents) {
        *parent = path->parents[node];
        *group = path->groups[node];
        return PCOL_OK;
    }
    PCI_TRY(pci_get(path->tree.file, path->tree.parent, node, &parent_cell, &(int){0}, err));
    PCI_TRY(pci_get(path->tree.file, path->tree.group, node, &group_cell, &(int){0}, err));
    PCI_TRY(check_node(&path->tree, node, parent_cell, group_cell, err));
    *parent = (uint32_t)parent_cell;
    *group = (uint32_t)group_cell;
    return PCOL_OK;
}

/* ---- the path */

static pcol_status push_node(struct pci_stack_path *path, uint32_t node, pcol_error *err)
{
    struct pci_stack_step step = {.node = node};
    uint32_t parent;
    PCI_TRY(get_node(path, node, &parent, &step.group, err));
    if (path->starts) {
        step.first = path->starts[step.group];
        step.count = path->starts[step.group + 1] - step.first;
    } else {
        PCI_TRY(pci_stacks_group(&path->tree, step.group, &step.first, &step.count, err));
    }
    step.frames = step.count + (path->depth ? path->steps[path->depth - 1].frames : 0);
    PCI_TRY(pci_stacks_check_frames(&path->tree, step.frames, err));
    PCI_TRY(PCI_GROW(path->steps, path->capacity, path->depth + 1, err));
    path->steps[path->depth++] = step;
    return PCOL_OK;
}

pcol_status pci_stack_path_to(struct pci_stack_path *path, uint64_t node, pcol_error *err)
{
    size_t count = 0;
    if (node && node >= path->tree.stacks)
        return pci_corrupt(err, "stacks", NULL, node,
                           "a sample refers to a row that does not exist");
    for (uint32_t row = (uint32_t)node;;) {
        while (path->depth && path->steps[path->depth - 1].node > row)
            path->depth--;
        if (!row || (path->depth && path->steps[path->depth - 1].node == row))
            break;
        PCI_TRY(PCI_GROW(path->fresh, path->fresh_capacity, count + 1, err));
        path->fresh[count++] = row;
        PCI_TRY(get_node(path, row, &row, &(uint32_t){0}, err));
    }
    path->common_depth = path->depth;
    while (count)
        PCI_TRY(push_node(path, path->fresh[--count], err));
    return pci_written_stacks_add(&path->written,
                                  path->depth ? path->steps[path->depth - 1].frames : 0, err);
}

void pci_stack_path_close(struct pci_stack_path *path)
{
    pci_free(path->parents);
    pci_free(path->groups);
    pci_free(path->starts);
    pci_free(path->steps);
    pci_free(path->fresh);
    memset(path, 0, sizeof *path);
}
