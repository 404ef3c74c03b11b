/*
 * added_frames.h - frames made of a sample's labels, thread, process, source or mapping
 *
 * A copy of a file may put such frames above the outermost and below the innermost frame of each
 * stack. A stack of the file then has a copy below each distinct list of root frames. Tests: suite
 * added_frames, tests/cli/roots.test.
 */
#ifndef PCI_MERGE_ADDED_FRAMES_H
#define PCI_MERGE_ADDED_FRAMES_H

#include "merge/merge.h"

enum pci_added_kind {
    PCI_ADDED_THREAD,
    PCI_ADDED_PROCESS,
    PCI_ADDED_SOURCE,
    PCI_ADDED_MAPPING,
    PCI_ADDED_LABEL
};

/* One frame of each sample. */
struct pci_added_frame {
    enum pci_added_kind kind;
    pcol_str key; /* of a label, else the word; borrowed */
};

/* Frames to add: roots outermost first, then leaves outermost first. */
struct pci_added_frames {
    struct pci_added_frame *frames;
    size_t root_count, leaf_count;
};

/* Parses "thread", "process", "source", "mapping" or "label:KEY"; the texts are borrowed.
 * E_ARGUMENT. The caller frees added->frames, also after a failure. */
pcol_status pci_added_frames_parse(struct pci_added_frames *added, const char *const *roots,
                                   size_t root_count, const char *const *leaves, size_t leaf_count,
                                   pcol_error *err);

/* E_ARGUMENT if no sample of the file has a label that is to be a frame. */
pcol_status pci_added_frames_check(const struct pci_added_frames *added, const pcol_file *file,
                                   pcol_error *err);

/* ---- placed_stacks.c: copies of the file's stacks below stacks of the builder */

struct pci_placed_stacks;
/* Reads the table of stacks. The caller closes, also after a failure. */
pcol_status pci_placed_stacks_open(struct pci_merge *merge, pcol_error *err);
void pci_placed_stacks_close(struct pci_placed_stacks *placed);
/* The copy of the stack `row` of the file below the stack `below` of the builder; 0: as it is. */
pcol_status pci_placed_stack(struct pci_placed_stacks *placed, uint32_t below, uint32_t row,
                             uint32_t *stack, pcol_error *err);
/* The group of the innermost frame of a stack that is copied; PCOL_NONE: none. Of the file. */
uint32_t pci_placed_innermost(const struct pci_placed_stacks *placed, uint32_t row);

/* ---- added_frames.c: the stacks of samples with added frames */

struct pci_frame_adder;
pcol_status pci_frame_adder_open(struct pci_merge *merge, struct pci_frame_adder **adder,
                                 pcol_error *err);
/* The builder's stack for the sample `sample` with the stack `row` of the file. Fast for ascending
 * samples. */
pcol_status pci_frame_adder_stack(struct pci_frame_adder *adder, uint64_t sample, uint32_t row,
                                  uint32_t *stack, pcol_error *err);
void pci_frame_adder_close(struct pci_frame_adder *adder);

#endif
