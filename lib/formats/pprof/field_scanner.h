/*
 * field_scanner.h - the top-level fields of a profile, in the window of the input
 *
 * Only one field has to be in memory at a time. The window grows only for a field that is larger
 * than it.
 */
#ifndef PCI_PPROF_FIELD_SCANNER_H
#define PCI_PPROF_FIELD_SCANNER_H

#include "formats/format.h"
#include "formats/pprof/wire.h"

struct pci_pprof_scanner {
    struct pci_input *input;
    size_t at;        /* offset of the next field in the window */
    uint64_t charged; /* bytes to charge to the import budget */
    /* The current field and its enclosing message: valid until the next call. */
    struct pci_pprof_message message;
    struct pci_pprof_field field;
};

/* Read the next field of the profile. *end: 1 after the last. Errors: E_SYNTAX, those of the
 * input. */
pcol_status pci_pprof_scanner_next(struct pci_pprof_scanner *scanner, int *end, pcol_error *err);

#endif
