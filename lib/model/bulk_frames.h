/*
 * bulk_frames.h - the decoded call tree of a file, for reading many stacks
 *
 * Immutable once it is open. Tests: tests/unit/test_frames.c.
 */
#ifndef PCI_MODEL_BULK_FRAMES_H
#define PCI_MODEL_BULK_FRAMES_H

#include "model/table.h"

struct pci_frames_node {
    uint32_t parent;       /* below the node's own row */
    uint32_t first, count; /* locations, innermost first */
    uint32_t depth;        /* locations up to the root; UINT32_MAX: that many or more */
};

struct pcol_frames {
    const pcol_file *file;
    const struct pci_column *stack, *function; /* may be NULL */
    uint64_t samples, locations;
    uint32_t stacks;
    struct pci_frames_node *nodes; /* row 0, the root, is zeros */
};

/* Fails unless rows [first, first + count) of `samples` exist. */
pcol_status pci_frames_check_range(const pcol_frames *frames, uint64_t first, size_t count,
                                   pcol_error *err);

/* The stacks of n <= PCI_BATCH samples, 0 for those without a stack; all verified. */
pcol_status pci_frames_stacks(const pcol_frames *frames, uint64_t row, size_t n, uint32_t *stacks,
                              pcol_error *err);

#endif
