/*
 * cell_buffer.h - buffer for one column of a Firefox profile: a kind and eight bytes for each cell
 *
 * Values are stored as i32 until one does not fit, then as i64; kinds only if they differ; nothing
 * at all while all cells are equal. Storage is a spill store.
 */
#ifndef PCI_FIREFOX_CELL_BUFFER_H
#define PCI_FIREFOX_CELL_BUFFER_H

#include "formats/firefox/schema.h"
#include "util/spill_buffer.h"

struct pci_ff_cells {
    /* Integers, bits of doubles, or string numbers: four bytes each while all fit, then eight.
     * Empty while all cells equal (kind, first). */
    struct pci_spill values;
    struct pci_spill kinds; /* one byte each, once they differ */
    uint64_t count;
    int64_t first; /* value of the first cell; 0 for kinds without a value */
    uint8_t kind, varied, mixed, wide;
};

#define PCI_FF_BATCH 512u

struct pci_ff_cursor {
    const struct pci_ff_cells *cells; /* NULL: every cell is null */
    uint64_t first;
    size_t count;
    int kind; /* of all cells in the window; -1: they differ */
    int64_t values[PCI_FF_BATCH];
    uint8_t kinds[PCI_FF_BATCH];
};

void pci_ff_cells_init(struct pci_ff_cells *cells, struct pci_spill_store *store);
void pci_ff_cells_clear(struct pci_ff_cells *cells);
pcol_status pci_ff_cells_add(struct pci_ff_cells *cells, int kind, int64_t value, pcol_error *err);
/* Append `n` cells at a fraction of the cost of single calls. kinds: NULL if all are of `kind`. */
pcol_status pci_ff_cells_append(struct pci_ff_cells *cells, int kind, const uint8_t *kinds,
                                const int64_t *values, size_t n, pcol_error *err);
void pci_ff_cursor_init(struct pci_ff_cursor *cursor, const struct pci_ff_cells *cells);
/* Load the cells from `row` on into the window; cells after the last one are null. */
pcol_status pci_ff_cursor_fill(struct pci_ff_cursor *cursor, uint64_t row, pcol_error *err);

/* Get cell `row`; null after the last one. */
static inline pcol_status pci_ff_cell(struct pci_ff_cursor *cursor, uint64_t row, int *kind,
                                      int64_t *value, pcol_error *err)
{
    if (row - cursor->first >= cursor->count)
        PCI_TRY(pci_ff_cursor_fill(cursor, row, err));
    *kind = cursor->kinds[row - cursor->first];
    *value = cursor->values[row - cursor->first];
    return PCOL_OK;
}

#endif
