/*
 * sample_pipeline.h - samples from the parser to the builder
 *
 * All new nodes of a stack are prefetched before the first lookup. A sample has the number of
 * frames shared with the previous one and the new frames.
 */
#ifndef PCI_RPROF_SAMPLE_PIPELINE_H
#define PCI_RPROF_SAMPLE_PIPELINE_H

#include "formats/rprof/builder_sink.h"
#include "formats/rprof/frames.h"

#define PCI_RPROF_TYPES 5u

struct pci_rprof_pipeline {
    struct pci_rprof_record *record;
    uint32_t types[PCI_RPROF_TYPES]; /* sample types by the index of the reader */
    uint32_t *nodes;                 /* stack of the previous sample */
    size_t node_capacity;
};

void pci_rprof_pipeline_clear(struct pci_rprof_pipeline *queue);

/* Add a sample with the stack of the last pci_rprof_frames_add(); frames: NULL: the empty stack;
 * has_stack: 0: no stack. values[i] is of types[i], and valid if bit i of `present` is set. */
pcol_status pci_rprof_pipeline_sample(struct pci_rprof_pipeline *queue,
                                      const struct pci_rprof_frames *frames, int has_stack,
                                      unsigned present, const int64_t values[PCI_RPROF_TYPES],
                                      pcol_error *err);

#endif
