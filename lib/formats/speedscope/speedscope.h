/*
 * speedscope.h - entry points of JSON of speedscope
 */
#ifndef PCI_SPEEDSCOPE_SPEEDSCOPE_H
#define PCI_SPEEDSCOPE_SPEEDSCOPE_H

#include "formats/document.h"

int pci_speedscope_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_speedscope_read(struct pci_import *import, pcol_error *err);
/* Of one source that was imported from speedscope, with its document. */
pcol_status pci_speedscope_write_native(const struct pci_export *export, pcol_error *err);
/* Of any profile. */
pcol_status pci_speedscope_write_generic(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_speedscope_capabilities;

#endif
