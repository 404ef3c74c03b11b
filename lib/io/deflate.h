/*
 * deflate.h - gzip as a filter in front of a sink
 */
#ifndef PCI_DEFLATE_H
#define PCI_DEFLATE_H

#include "core/error.h"

struct pci_deflate;

/* One member, level 6, without name and time: the same bytes give the same file. */
pcol_status pci_deflate_new(pcol_sink to, struct pci_deflate **gz, pcol_error *err);
/* Takes what is to be compressed. */
pcol_sink pci_deflate_sink(struct pci_deflate *gz);
/* Write what is left, and the trailer. */
pcol_status pci_deflate_finish(struct pci_deflate *gz, pcol_error *err);
void pci_deflate_free(struct pci_deflate *gz);

#endif
