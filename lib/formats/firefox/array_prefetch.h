/*
 * array_prefetch.h - reads long arrays of numbers ahead of the reader, in a thread of its own
 *
 * While the reader converts tables, this thread scans the rest of the file for arrays of numbers.
 * It ignores the context of an array: each one is handed over with the offset where it begins, and
 * dropped unless the reader requests an array at that offset.
 */
#ifndef PCI_FIREFOX_ARRAY_PREFETCH_H
#define PCI_FIREFOX_ARRAY_PREFETCH_H

#include "formats/firefox/cell_buffer.h"
#include "json/json.h"

struct pci_ff_prefetch;

/* Start at offset `at` of an input. *ahead is NULL if that is no file or little of it remains.
 * Cells are allocated from `store`. */
pcol_status pci_ff_prefetch_new(const struct pci_input *input, uint64_t at,
                                struct pci_spill_store *store, struct pci_ff_prefetch **prefetch,
                                pcol_error *err);
/* The reader is after the bracket of an array, and `cells` is empty: take the numbers read so far
 * as `cells`, and move the reader after them. The current JSON text ends at offset `stop` of the
 * file. */
pcol_status pci_ff_prefetch_take(struct pci_ff_prefetch *prefetch, struct pci_json *json,
                                 uint64_t stop, struct pci_ff_cells *cells, pcol_error *err);
/* NULL: does nothing. */
void pci_ff_prefetch_free(struct pci_ff_prefetch *prefetch);

#endif
