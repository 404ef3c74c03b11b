/*
 * folded.h - entry points of folded stacks
 */
#ifndef PCI_FOLDED_FOLDED_H
#define PCI_FOLDED_FOLDED_H

#include "formats/format.h"

int pci_folded_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_folded_read(struct pci_import *import, pcol_error *err);
pcol_status pci_folded_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_folded_capabilities;

#endif
