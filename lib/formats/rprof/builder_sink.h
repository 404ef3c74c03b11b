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
    uint64_t segment; /* row of the current segment in rprof_segments */
    int has_text, has_files;
    uint32_t text; /* column of samples */
    uint32_t file_segment, file_before, file_number, file_path, file_text;
};

/* @header: NULL for Rprofmem; @text: the verbatim line, NULL if the exporter reproduces it. */
pcol_status pci_rprof_record_segment(struct pci_rprof_record *record,
                                     const struct pci_rprof_header *header, int crlf,
                                     const uint8_t *text, size_t size, pcol_error *err);

/* @file: NULL for a malformed line. *path receives the path's string. */
pcol_status pci_rprof_record_file(struct pci_rprof_record *record,
                                  const struct pci_rprof_file *file, const uint8_t *text,
                                  size_t size, uint32_t *path, pcol_error *err);

pcol_status pci_rprof_record_sample(struct pci_rprof_record *record, uint32_t stack,
                                    const pcol_value *values, size_t count, pcol_error *err);
/* Set the verbatim text of the last sample. */
pcol_status pci_rprof_record_text(struct pci_rprof_record *record, const uint8_t *text, size_t size,
                                  pcol_error *err);

#endif
