/*
 * array_prefetch.h - long arrays of numbers, read by another thread before the reader comes to them
 *
 * While what was read becomes rows, nothing reads on; in that time another thread looks through the
 * text ahead for arrays of numbers. It knows nothing of what stands around them: each array is
 * handed over with the place where it begins, and what the reader does not ask for at that place is
 * dropped.
 */
#ifndef PCI_FIREFOX_ARRAY_PREFETCH_H
#define PCI_FIREFOX_ARRAY_PREFETCH_H

#include "formats/firefox/cell_buffer.h"
#include "json/json.h"

struct pci_ff_prefetch;

/* Begin at a byte of an input, if that is a file with much left of it; else *ahead is NULL. Cells
 * are in `store`. */
pcol_status pci_ff_prefetch_new(const struct pci_input *input, uint64_t at,
                                struct pci_spill_store *store, struct pci_ff_prefetch **ahead,
                                pcol_error *err);
/* The reader stands behind the bracket of an array: take what there is of it
 * as `cells`, of which there are none yet, and go behind that. The text ends at byte `stop` of the
 * file. */
pcol_status pci_ff_prefetch_take(struct pci_ff_prefetch *ahead, struct pci_json *json,
                                 uint64_t stop, struct pci_ff_cells *cells, pcol_error *err);
/* NULL: nothing. */
void pci_ff_prefetch_free(struct pci_ff_prefetch *ahead);

#endif
