/*
 * pcol.h - entry points of a pcol file as an input
 */
#ifndef PCI_PCOL_PCOL_H
#define PCI_PCOL_PCOL_H

#include "formats/format.h"

int pci_pcol_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_pcol_read(struct pci_import *import, pcol_error *err);

#endif
