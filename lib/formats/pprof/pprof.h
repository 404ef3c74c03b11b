/*
 * pprof.h - entry points of profile.proto
 */
#ifndef PCI_PPROF_PPROF_H
#define PCI_PPROF_PPROF_H

#include "formats/format.h"

int pci_pprof_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_pprof_read(struct pci_import *import, pcol_error *err);
pcol_status pci_pprof_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_pprof_capabilities;

/* Physical tables of the format. */
extern const struct pci_schema_row pci_pprof_tables[];

#endif
