/*
 * speedscope.h - entry points of JSON of speedscope
 */
#ifndef PCI_SPEEDSCOPE_SPEEDSCOPE_H
#define PCI_SPEEDSCOPE_SPEEDSCOPE_H

#include "formats/format.h"

pcol_status pci_speedscope_write(const struct pci_export *export, pcol_error *err);
extern const struct pci_capabilities pci_speedscope_capabilities;

#endif
