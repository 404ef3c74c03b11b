/*
 * deflate.h - gzip as a filter in front of a sink
 */
#ifndef PCI_STREAM_DEFLATE_H
#define PCI_STREAM_DEFLATE_H

#include "util/error.h"

struct pci_gzip_writer;

/* One member, level 6, without name and time: the same bytes give the same file. */
pcol_status pci_gzip_writer_new(pcol_sink to, struct pci_gzip_writer **gz, pcol_error *err);
/* Takes what is to be compressed. */
pcol_sink pci_gzip_writer_sink(struct pci_gzip_writer *gz);
/* Write what is left, and the trailer. */
pcol_status pci_gzip_writer_finish(struct pci_gzip_writer *gz, pcol_error *err);
void pci_gzip_writer_free(struct pci_gzip_writer *gz);

#endif
