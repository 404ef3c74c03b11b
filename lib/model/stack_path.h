/*
 * stack_path.h - path from the root to a node of the call tree
 *
 * Consecutive stacks share their outer nodes. The path keeps the common nodes and reports their
 * number, so that the caller can reuse what it derived from them (text, frames).
 */
#ifndef PCI_MODEL_STACK_PATH_H
#define PCI_MODEL_STACK_PATH_H

#include "model/table.h"

struct pci_stack_step {
    uint32_t node;
    uint32_t group;
    uint64_t first, count; /* locations, innermost line first */
    uint64_t frames;       /* locations up to and including this step */
};

struct pci_stack_path {
    struct pci_stacks tree;
    uint64_t reads; /* nodes read so far */
    /* By row of stacks, and `starts` by group, NULL if a group is a location. Read once as many
     * nodes as the tree has were read one by one: samples may alternate between deep stacks. */
    uint32_t *parents, *groups, *starts;
    struct pci_stack_step *steps; /* outermost first; without the root */
    size_t depth, capacity;
    size_t common_depth; /* number of nodes in common with the previous path */
    struct pci_written_stacks written;
    uint32_t *fresh;
    size_t fresh_capacity;
};

/* After a failure, too, the caller closes it. */
pcol_status pci_stack_path_open(struct pci_stack_path *path, const pcol_file *file,
                                pcol_error *err);
/* Moves to a node of `stacks`, whose frames the caller then visits, and verifies the new nodes;
 * E_LIMIT if the stack, or all so far, have implausibly many frames. Cost: nodes added and
 * removed. Memory: at most 8 bytes for each row of stacks and 4 for each location group. */
pcol_status pci_stack_path_to(struct pci_stack_path *path, uint64_t node, pcol_error *err);
void pci_stack_path_close(struct pci_stack_path *path);

#endif
