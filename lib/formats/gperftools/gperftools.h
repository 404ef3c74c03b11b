/*
 * gperftools.h - entry points of the older profile formats that pprof reads
 */
#ifndef PCI_GPERFTOOLS_GPERFTOOLS_H
#define PCI_GPERFTOOLS_GPERFTOOLS_H

#include "formats/format.h"

int pci_gperftools_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_gperftools_convert(struct pci_import *import, uint8_t **data, size_t *size,
                                   pcol_error *err);

#endif
