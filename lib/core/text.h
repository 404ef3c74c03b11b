/*
 * text.h - text that grows
 */
#ifndef PCI_TEXT_H
#define PCI_TEXT_H

#include "core/error.h"

/* Zero it to begin; `size` may be set to less, to use the memory anew. */
struct pci_text {
    char *data;
    size_t size, capacity;
};

/* Append; linear in all that is put. `data` is not NULL afterwards, even of nothing. */
pcol_status pci_text_put(struct pci_text *text, const void *data, size_t size, pcol_error *err);
void pci_text_clear(struct pci_text *text);

#endif
