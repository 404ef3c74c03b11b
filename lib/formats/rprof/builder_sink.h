/*
 * builder_sink.h - output of R's importers to a builder: samples, verbatim text, segments, file
 * lines
 *
 * The tables rprof_segments and rprof_files contain the lines between samples, for the export. A
 * row of rprof_files without number, with an empty path and a text is a malformed line: only its
 * text is used.
 */
#ifndef PCI_RPROF_BUILDER_SINK_H
#define PCI_RPROF_BUILDER_SINK_H

#include "formats/format.h"
#include "formats/rprof/lexer.h"

struct pci_rprof_record {
    struct pci_import *import;
    uint64_t segment; /* row of rprof_segments, once there is one */
    int has_text, has_files;
    uint32_t text; /* column of samples */
    uint32_t file_segment, file_before, file_number, file_path, file_text;
};

/* @header may be NULL (Rprofmem); @text: the verbatim line, NULL if it prints the same. */
pcol_status pci_rprof_record_segment(struct pci_rprof_record *record,
                                     const struct pci_rprof_header *header, int crlf,
                                     const uint8_t *text, size_t size, pcol_error *err);

/* @file may be NULL: a line that belongs nowhere. *path receives the path's string. */
pcol_status pci_rprof_record_file(struct pci_rprof_record *record,
                                  const struct pci_rprof_file *file, const uint8_t *text,
                                  size_t size, uint32_t *path, pcol_error *err);

pcol_status pci_rprof_record_sample(struct pci_rprof_record *record, uint32_t stack,
                                    const pcol_value *values, size_t count, pcol_error *err);
/* The text of the sample recorded last. */
pcol_status pci_rprof_record_text(struct pci_rprof_record *record, const uint8_t *text, size_t size,
                                  pcol_error *err);

#endif
