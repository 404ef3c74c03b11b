/*
 * registry.h - the ordered list of outside formats, and recognition of an input's format
 */
#ifndef PCI_REGISTRY_REGISTRY_H
#define PCI_REGISTRY_REGISTRY_H

#include "formats/format.h"

extern const struct pci_format_schema *const pci_schemas[]; /* of all formats, ends in NULL */

static inline int pci_format_reads(const struct pci_format *format)
{
    return format->read || format->convert;
}

/* NULL if it does not exist. */
const struct pci_format *pci_format_find(const char *name);
/* Names of all formats that can be read or written, "rprof, v1 or pcol". */
#define PCI_FORMAT_NAMES_SIZE 256
void pci_format_names(int writable, char text[PCI_FORMAT_NAMES_SIZE]);
/* The format of an input by its first bytes, or, if these are ambiguous, by its name's suffix.
 * E_FORMAT: unknown, empty or known as unsupported. */
pcol_status pci_format_detect(struct pci_input *input, const struct pci_format **format,
                              pcol_error *err);

/* pcol_export() without applying drop_frames and keep_frames. */
pcol_status pci_export(const pcol_file *file, const char *format,
                       const pcol_export_options *options, pcol_sink sink, pcol_error *err);
/* Kinds of content that a format represents; NULL if it cannot be written. */
const struct pci_capabilities *pci_format_capabilities(const char *format);

#endif
