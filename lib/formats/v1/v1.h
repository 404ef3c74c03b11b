/*
 * v1.h - entry points of the profile data model v1 as JSON
 */
#ifndef PCI_V1_V1_H
#define PCI_V1_V1_H

#include "formats/format.h"

int pci_v1_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_v1_read(struct pci_import *import, pcol_error *err);
pcol_status pci_v1_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_v1_capabilities;

#endif
