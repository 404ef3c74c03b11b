/*
 * deflate.h - gzip writer: a sink that compresses into another sink
 */
#ifndef PCI_STREAM_DEFLATE_H
#define PCI_STREAM_DEFLATE_H

#include "util/error.h"

struct pci_gzip_writer;

/* One gzip member of level 6 without name and time, so that equal input gives equal output. */
pcol_status pci_gzip_writer_new(pcol_sink to, struct pci_gzip_writer **gz, pcol_error *err);
/* Sink for the bytes to be compressed. */
pcol_sink pci_gzip_writer_sink(struct pci_gzip_writer *gz);
/* Write the pending bytes and the trailer. */
pcol_status pci_gzip_writer_finish(struct pci_gzip_writer *gz, pcol_error *err);
void pci_gzip_writer_free(struct pci_gzip_writer *gz);

#endif
