/*
 * gperftools.h - entry points of profiles that pprof reads beside its own format
 */
#ifndef PCI_GPERFTOOLS_GPERFTOOLS_H
#define PCI_GPERFTOOLS_GPERFTOOLS_H

#include "formats/format.h"

int pci_gperftools_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_gperftools_convert(struct pci_import *import, uint8_t **data, size_t *size,
                                   pcol_error *err);

#endif
