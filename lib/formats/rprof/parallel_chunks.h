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

/* State of the parser at the begin of a chunk. */
struct pci_rprof_parse_state {
    const struct pci_rprof_frames *frames; /* of the reader, for its files */
    uint64_t headers, files;               /* numbers of such lines so far */
    int memory, crlf;
    size_t longest; /* lines of at least so many bytes are counted */
};

struct pci_rprof_chunks;

/* *parts: NULL if the input is too small or not seekable, or there is one thread. */
pcol_status pci_rprof_chunks_new(const struct pci_import *import, struct pci_rprof_chunks **parts,
                                 pcol_error *err);
void pci_rprof_chunks_free(struct pci_rprof_chunks *parts);

/* Assign chunks to the parts, with the reader at offset `at`. *stop: end of the reader's own chunk;
 * UINT64_MAX: the reader reads the rest. */
pcol_status pci_rprof_chunks_plan(struct pci_rprof_chunks *parts, uint64_t at,
                                  const struct pci_rprof_parse_state *state, uint64_t *stop,
                                  pcol_error *err);
/* Call own(context), which reads the reader's chunk, and read the other chunks in parallel. Errors:
 * those of own(); E_NO_MEMORY of any. */
pcol_status pci_rprof_chunks_run(struct pci_rprof_chunks *parts,
                                 pcol_status (*own)(void *context, pcol_error *err), void *context,
                                 pcol_error *err);
/* Add the results of the parts that follow *at to the builder; *at: offset at which the reader
 * continues; *lines, *too_long: numbers of lines read. */
pcol_status pci_rprof_chunks_merge(struct pci_rprof_chunks *parts,
                                   const struct pci_rprof_parse_state *state,
                                   struct pci_rprof_pipeline *queue, uint64_t *at, uint64_t *lines,
                                   uint64_t *too_long, pcol_error *err);

#endif
