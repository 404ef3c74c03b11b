/*
 * write_native.h - shared by the writers of folded stacks
 */
#ifndef PCI_FOLDED_WRITE_NATIVE_H
#define PCI_FOLDED_WRITE_NATIVE_H

#include "formats/format.h"
#include "model/types.h"
#include "stream/out_buffer.h"

#define PCI_FOLDED_LONGEST ((size_t)64 << 20) /* bytes of a line: the limit of the importer */

/* Write a profile of another format or of several sources: a line for each distinct stack of
 * names. */
pcol_status pci_folded_write_generic(const struct pci_export *export, const struct pci_types *types,
                                     const struct pci_selected_type *chosen, struct pci_out *out,
                                     pcol_error *err);

#endif
