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

static pcol_status push_node(struct pci_stack_path *path, uint32_t node, pcol_error *err)
{
    struct pci_stack_step step = {.node = node};
    uint32_t parent;
    int64_t group;
    PCI_TRY(pci_stacks_node(&path->tree, node, &parent, &step.first, &step.count, err));
    PCI_TRY(pci_get(path->tree.file, path->tree.group, node, &group, &(int){0}, err));
    step.group = (uint32_t)group;
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
        int64_t parent;
        while (path->depth && path->steps[path->depth - 1].node > row)
            path->depth--;
        if (!row || (path->depth && path->steps[path->depth - 1].node == row))
            break;
        PCI_TRY(PCI_GROW(path->fresh, path->fresh_capacity, count + 1, err));
        path->fresh[count++] = row;
        PCI_TRY(pci_get(path->tree.file, path->tree.parent, row, &parent, &(int){0}, err));
        if ((uint64_t)parent >= row)
            return pci_corrupt(err, "stacks", "parent", row, "parent %llu is not before its child",
                               (unsigned long long)parent);
        row = (uint32_t)parent;
    }
    path->common_depth = path->depth;
    while (count)
        PCI_TRY(push_node(path, path->fresh[--count], err));
    return pci_written_stacks_add(&path->written,
                                  path->depth ? path->steps[path->depth - 1].frames : 0, err);
}

void pci_stack_path_close(struct pci_stack_path *path)
{
    pci_free(path->steps);
    pci_free(path->fresh);
    memset(path, 0, sizeof *path);
}
