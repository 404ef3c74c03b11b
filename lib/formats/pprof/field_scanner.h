/*
 * field_scanner.h - the top level of a profile, field by field, out of the input's window
 *
 * Only one field has to be in memory at a time, and the window only grows for a field that is
 * longer than it.
 */
#ifndef PCI_PPROF_FIELD_SCANNER_H
#define PCI_PPROF_FIELD_SCANNER_H

#include "formats/format.h"
#include "formats/pprof/wire.h"

struct pci_pprof_scanner {
    struct pci_input *input;
    size_t at; /* of the next field in the window */
    /* The field given last, as a message of its own: valid until the next call. */
    struct pci_pprof_message message;
    struct pci_pprof_field field;
};

/* The next field of the profile: *end is 1 behind the last. Errors: E_SYNTAX, those of the
 * input. */
pcol_status pci_pprof_scanner_next(struct pci_pprof_scanner *cursor, int *end, pcol_error *err);

#endif
