/*
 * sample_pipeline.h - pipeline of samples from the parser to the builder
 *
 * All new nodes of a stack are prefetched before the first lookup. With several threads, another
 * one adds samples to the builder while the text is parsed. A sample has the number of frames
 * shared with the previous one and the new frames. Segments, file lines and verbatim text require a
 * flush: until then tree, samples and columns of the builder belong to the pipeline; strings,
 * functions and groups to the parser.
 */
#ifndef PCI_RPROF_SAMPLE_PIPELINE_H
#define PCI_RPROF_SAMPLE_PIPELINE_H

#include "formats/rprof/builder_sink.h"
#include "formats/rprof/frames.h"
#include "util/thread_pool.h"

#define PCI_RPROF_TYPES 5u

struct pci_rprof_pipeline {
    struct pci_rprof_record *record;
    uint32_t types[PCI_RPROF_TYPES]; /* sample types by the index of the reader */
    int is_inline;                   /* no thread is started: others are in use */
    size_t since_flush;              /* samples since the last flush */
    uint32_t *groups;                /* new frames of a sample, outermost first */
    size_t group_capacity;
    struct pci_write_pipe *pipe; /* NULL: samples are added to the builder immediately */
    uint8_t *batch;              /* samples for the thread: head, values, new frames of each */
    size_t used;
    /* Of the thread that adds samples to the builder: stack of the previous sample. */
    uint32_t *nodes;
    size_t node_capacity;
};

void pci_rprof_pipeline_clear(struct pci_rprof_pipeline *queue);

/* Add a sample with the stack of the last pci_rprof_frames_add(); frames: NULL: the empty stack;
 * has_stack: 0: no stack. values[i] is of types[i], and valid if bit i of `present` is set. */
pcol_status pci_rprof_pipeline_sample(struct pci_rprof_pipeline *queue,
                                      const struct pci_rprof_frames *frames, int has_stack,
                                      unsigned present, const int64_t values[PCI_RPROF_TYPES],
                                      pcol_error *err);
/* Wait until all samples are in the builder, which then belongs to the caller. */
pcol_status pci_rprof_pipeline_flush(struct pci_rprof_pipeline *queue, pcol_error *err);

#endif
