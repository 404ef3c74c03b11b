/*
 * perf.h - entry points of the text of Linux perf script
 */
#ifndef PCI_PERF_PERF_H
#define PCI_PERF_PERF_H

#include "formats/format.h"

int pci_perf_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_perf_read(struct pci_import *import, pcol_error *err);
pcol_status pci_perf_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_perf_capabilities;

#endif
