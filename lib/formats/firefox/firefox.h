/*
 * firefox.h - entry points of processed profiles of the Firefox Profiler, JSON and JSLB
 */
#ifndef PCI_FIREFOX_FIREFOX_H
#define PCI_FIREFOX_FIREFOX_H

#include "formats/format.h"

int pci_firefox_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_firefox_read(struct pci_import *import, pcol_error *err);
pcol_status pci_firefox_write(const struct pci_export *export, pcol_error *err);
int pci_jslb_sniff(const uint8_t *data, size_t size, int all);
pcol_status pci_jslb_read(struct pci_import *import, pcol_error *err);
pcol_status pci_jslb_write(const struct pci_export *export, pcol_error *err);
/* meta.startTime as a timestamp; 0 if it is none. */
int pci_ff_time_text(double ms, char text[PCI_UTC_TEXT_BYTES]);
extern const struct pci_capabilities pci_firefox_capabilities;

/* Physical tables of the format. */
extern const struct pci_schema_row pci_firefox_tables[];

#endif
