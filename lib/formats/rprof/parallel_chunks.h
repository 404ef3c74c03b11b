/*
 * parallel_chunks.h - parallel parsing of an Rprof file in chunks of consecutive lines
 *
 * Speculative parallelism: while the reader parses its own chunk, worker threads parse the chunks
 * after it as plain samples under the latest header. Each has its own builder and file numbers.
 *     reader    |-- lines ------|                          takes a and b, goes on after b
 *     part a                    |-- samples ----|          ends early at any other line
 *     part b                                    |-- samples ----|
 * Results are taken in file order, if the previous chunk ended where this one begins and had no
 * header. Rows then get the same numbers for any number of threads. Tests: tests/system/threads.
 */
#ifndef PCI_RPROF_PARALLEL_CHUNKS_H
#define PCI_RPROF_PARALLEL_CHUNKS_H

#include "formats/rprof/sample_pipeline.h"
#include "formats/rprof/text.h"

/* What the lines of a stretch are read under. */
struct pci_rprof_terms {
    const struct pci_rprof_frames *frames; /* of the reader: its files, which may still come */
    uint64_t headers, files;               /* lines of that kind, counted by the reader */
    int memory, crlf;
    size_t longest; /* lines of so many bytes are counted */
};

struct pci_rprof_chunks;

/* NULL without an error: the input or its size are no reason for parts. */
pcol_status pci_rprof_chunks_new(const struct pci_import *import, struct pci_rprof_chunks **parts,
                                 pcol_error *err);
void pci_rprof_chunks_free(struct pci_rprof_chunks *parts);

/* The reader is at `at`: set up parts for what comes; *stop is where its own stretch ends,
 * UINT64_MAX: there is nothing for others any more. */
pcol_status pci_rprof_chunks_plan(struct pci_rprof_chunks *parts, uint64_t at,
                                  const struct pci_rprof_terms *terms, uint64_t *stop,
                                  pcol_error *err);
/* Call own(context), which reads the reader's stretch, and read the others beside it. Errors: those
 * of own(); E_NO_MEMORY of any. */
pcol_status pci_rprof_chunks_run(struct pci_rprof_chunks *parts,
                                 pcol_status (*own)(void *context, pcol_error *err), void *context,
                                 pcol_error *err);
/* Put what follows `at` into the builder; *at is where the reader goes on, *lines and *too_long how
 * many lines that were. */
pcol_status pci_rprof_chunks_take(struct pci_rprof_chunks *parts,
                                  const struct pci_rprof_terms *terms,
                                  struct pci_rprof_pipeline *queue, uint64_t *at, uint64_t *lines,
                                  uint64_t *too_long, pcol_error *err);

#endif
