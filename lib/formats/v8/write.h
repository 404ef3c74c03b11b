/*
 * write.h - export of any profile to V8's CPU (is_heap = 0) and heap profiles
 */
#ifndef PCI_V8_WRITE_H
#define PCI_V8_WRITE_H

#include "formats/document.h"

pcol_status pci_v8_write_generic(const struct pci_export *export, int is_heap, pcol_error *err);

#endif
