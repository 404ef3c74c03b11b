/*
 * write.h - what the two writers of folded stacks share
 */
#ifndef PCI_FOLDED_WRITE_H
#define PCI_FOLDED_WRITE_H

#include "core/put.h"
#include "io/input.h"
#include "model/types.h"

#define PCI_FOLDED_LONGEST ((size_t)64 << 20) /* bytes of a line: what an importer would take */

/* Profiles of other kinds, and of several sources: a line for each distinct stack of names. */
pcol_status pci_folded_write_sums(const struct pci_export *export, const struct pci_types *types,
                                  const struct pci_chosen *chosen, struct pci_put *out,
                                  pcol_error *err);

#endif
