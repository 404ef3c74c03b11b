/*
 * write.h - the two ways to write a source as Rprof output
 */
#ifndef PCI_RPROF_WRITE_H
#define PCI_RPROF_WRITE_H

#include "formats/rprof/stack_text.h"

#define PCI_RPROF_INTERVAL_US 20000 /* Rprof's own default */

/* A header line without its line end into at most 96 bytes; returns its size. */
struct pci_rprof_flags {
    int memory, gc, line;
    int64_t interval_us;
};
size_t pci_rprof_header_text(uint8_t *to, const struct pci_rprof_flags *flags);

/* The text of a group that an importer of this room made: [ref] "NAME" . Sets *feeds if the name
 * holds a line feed. */
pcol_status pci_rprof_unit_text(const struct pci_rprof_locations *locations, uint64_t group,
                                struct pci_rprof_bytes *to, int *feeds, pcol_error *err);

/* A source that was no Rprof output (write_generic.c): one segment with what R's format can hold.
 * Bits
 * for what it cannot hold are added to *lost, to be said at the end. */
pcol_status pci_rprof_write_generic(const struct pci_export *export, struct pci_out *out,
                                    struct pci_rprof_samples *samples, uint32_t source,
                                    unsigned *lost, pcol_error *err);
void pci_rprof_report_losses(const struct pci_export *export, unsigned lost);

/* Types whose values the writers want, in the order of pci_rprof_samples.value. */
extern const struct pci_rprof_type pci_rprof_types[];

#endif
