/*
 * write.h - interface of the native and the generic exporter of Rprof output
 */
#ifndef PCI_RPROF_WRITE_H
#define PCI_RPROF_WRITE_H

#include "formats/rprof/stack_text.h"

#define PCI_RPROF_INTERVAL_US 20000 /* Rprof's own default */

/* Write a header line without line end, at most 96 bytes; returns its size. */
struct pci_rprof_flags {
    int memory, gc, line;
    int64_t interval_us;
};
size_t pci_rprof_header_text(uint8_t *to, const struct pci_rprof_flags *flags);

/* Append the text of a group that was imported from Rprof: [ref] "NAME" . *has_line_feed is set if
 * the name contains one. */
pcol_status pci_rprof_unit_text(const struct pci_rprof_locations *locations, uint64_t group,
                                struct pci_strbuf *to, int *has_line_feed, pcol_error *err);

/* Write a source of another type as one segment (write_generic.c). *lost: bits of its losses, for
 * pci_rprof_report_losses(). */
pcol_status pci_rprof_write_generic(const struct pci_export *export, struct pci_out *out,
                                    struct pci_rprof_samples *samples, uint32_t source,
                                    unsigned *lost, pcol_error *err);
void pci_rprof_report_losses(const struct pci_export *export, unsigned lost);

#endif
