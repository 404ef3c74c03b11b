/*
 * stack_path.h - the nodes of a call stack, from the outermost inwards
 *
 * Stacks that follow each other share their outer nodes: the path to the next one keeps them, and
 * says from which place on it is new, so that what was made for the kept nodes (text, frames) need
 * not be made again.
 */
#ifndef PCI_MODEL_STACK_PATH_H
#define PCI_MODEL_STACK_PATH_H

#include "model/table.h"

struct pci_step {
    uint32_t node;
    uint32_t group;
    uint64_t first, count; /* its rows of locations, the innermost line first */
};

struct pci_stack_path {
    struct pci_stacks tree;
    struct pci_step *steps; /* outermost first; the root is none */
    size_t depth, capacity;
    size_t kept; /* of them as they were before the last call */
    uint32_t *fresh;
    size_t fresh_capacity;
};

pcol_status pci_stack_path_open(struct pci_stack_path *path, const pcol_file *file,
                                pcol_error *err);
/* Go to a node of `stacks`, all of it checked. Cost: the nodes that are new, and those left. */
pcol_status pci_stack_path_to(struct pci_stack_path *path, uint64_t node, pcol_error *err);
void pci_stack_path_close(struct pci_stack_path *path);

#endif
