/*
 * rprof.h - entry points of R's Rprof() output and Rprofmem() logs
 */
#ifndef PCI_RPROF_RPROF_H
#define PCI_RPROF_RPROF_H

#include "formats/format.h"

int pci_rprof_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_rprof_read(struct pci_import *import, pcol_error *err);
pcol_status pci_rprof_write(const struct pci_export *export, pcol_error *err);
int pci_rprofmem_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_rprofmem_read(struct pci_import *import, pcol_error *err);
pcol_status pci_rprofmem_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_rprof_capabilities;
extern const struct pci_capabilities pci_rprofmem_capabilities;

/* Physical tables of the format. */
extern const struct pci_schema_row pci_rprof_tables[];

#endif
