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
/* A segment with these flags is written. */
void pci_rprof_note_header(struct pci_rprof_samples *samples, uint32_t source,
                           const struct pci_rprof_flags *flags);

/* A native exporter: of Rprof() output or of an Rprofmem() log. */
struct pci_rprof_writer {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_out *out;
    struct pci_rprof_samples *samples;
    struct pci_rprof_locations locations;
    struct pci_rprof_stack_text stacks;
    int has_line_feed; /* some name contains one */
    /* Rprof */
    struct pci_rprof_segments *segments;
    int is_misread;    /* by R, see pci_rprof_samples */
    int has_blanks;    /* the same */
    int was_converted; /* a source of this type without segments was written by write_generic.c */
    unsigned lost;     /* losses of sources of other types */
    /* Rprofmem */
    int crlf; /* line ends of the source */
};

typedef pcol_status pci_rprof_write_source(struct pci_rprof_writer *writer, pcol_str type,
                                           uint32_t source, pcol_error *err);
/* Write the exported sources; `export` and `file` of the writer are set. types: as for
 * pci_rprof_samples_open(). */
pcol_status pci_rprof_write_sources(struct pci_rprof_writer *writer,
                                    const struct pci_rprof_type *types,
                                    pci_rprof_write_source *write_one, pcol_error *err);

/* *left_out: the source lacks the type whose samples are written. */
pcol_status pci_rprof_is_left_out(const struct pci_export *export,
                                  struct pci_rprof_samples *samples, uint32_t source, int *left_out,
                                  pcol_error *err);
/* Write a source of another type as one segment (write_generic.c). *lost: bits of its losses, for
 * pci_rprof_report_losses(). */
pcol_status pci_rprof_write_generic(const struct pci_export *export, struct pci_out *out,
                                    struct pci_rprof_samples *samples, uint32_t source,
                                    unsigned *lost, pcol_error *err);
pcol_status pci_rprof_report_losses(const struct pci_export *export, unsigned lost,
                                    pcol_error *err);

#endif
