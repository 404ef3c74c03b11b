/*
 * parallel_chunks.h - stretches of a file read beside each other
 *
 * While the reader goes over one stretch, other threads read those behind it: lines that are plain
 * samples, under the header that the reader knows when it begins. Files go by their numbers until
 * the reader, which may find more of them in its own stretch, has come so far. Each thread has
 * tables of its own, which it keeps. When all are done the reader takes over what they found, in
 * the order of the file: functions, groups and nodes that are new get their numbers as if they had
 * been met one by one, so the bytes that are packed do not depend on how many threads there were.
 *
 *     reader    |-- lines ------|                         takes a, takes b, goes on behind b
 *     part a                    |-- samples ----|
 *     part b                                    |-- samples ----|
 *
 * What a part found counts only if the reader, or the part before, came out exactly where it began
 * and no header stood on the way. A part ends early at a line that is anything else
 * than a sample which prints as the same bytes; the reader goes on there.
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
