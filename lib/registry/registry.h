/*
 * registry.h - the list of outside formats
 */
#ifndef PCI_REGISTRY_REGISTRY_H
#define PCI_REGISTRY_REGISTRY_H

#include "formats/format.h"

extern const struct pci_format_schema *const pci_schemas[]; /* of all formats, ends in NULL */

static inline int pci_format_reads(const struct pci_format *format)
{
    return format->read || format->convert;
}

/* NULL if there is no format of this name. */
const struct pci_format *pci_format_find(const char *name);
/* The names of all formats that can be read or written: "rprof, v1 or pcol", cut to `size`. */
void pci_format_list(int writable, char *text, size_t size);
/* The format of an input by its first bytes, or by its name's suffix where these leave it open.
 * E_FORMAT: unknown, empty or known to be unsupported. */
pcol_status pci_format_recognise(struct pci_input *input, const struct pci_format **format,
                                 pcol_error *err);

/* As pcol_export(), with the stacks as they are in the file. */
pcol_status pci_export(const pcol_file *file, const char *format,
                       const pcol_export_options *options, pcol_sink sink, pcol_error *err);
/* What a format represents; NULL if it is not writable. */
const struct pci_holds *pci_format_holds(const char *format);

#endif
