/*
 * cells.c - a column of the source as it was: values in a spool, kinds only where they differ
 */
#include "firefox/cells.h"

void pci_ff_cells_init(struct pci_ff_cells *cells, struct pci_store *store)
{
    memset(cells, 0, sizeof *cells);
    pci_spool_init(&cells->values, store);
    pci_spool_init(&cells->kinds, store);
}

void pci_ff_cells_clear(struct pci_ff_cells *cells)
{
    if (cells->values.store)
        pci_spool_clear(&cells->values);
    if (cells->kinds.store)
        pci_spool_clear(&cells->kinds);
    cells->count = 0;
}

static int has_value(int kind)
{
    return kind > PCI_FF_TRUE;
}

/* Kinds differ from now on: those so far are written out, and values where there were none. */
static pcol_status mix(struct pci_ff_cells *cells, pcol_error *err)
{
    static const uint8_t zeros[8] = {0};
    for (uint64_t i = 0; i < cells->count; i++) {
        PCI_TRY(pci_spool_append(&cells->kinds, &cells->kind, 1, err));
        if (!has_value(cells->kind))
            PCI_TRY(pci_spool_append(&cells->values, zeros, cells->wide ? 8 : 4, err));
    }
    cells->mixed = 1;
    return PCOL_OK;
}

/* A value does not fit: all so far become eight bytes. */
static pcol_status widen(struct pci_ff_cells *cells, pcol_error *err)
{
    struct pci_spool old = cells->values;
    uint64_t size = pci_spool_size(&old);
    pcol_status status = PCOL_OK;
    pci_spool_init(&cells->values, old.store);
    cells->wide = 1;
    for (uint64_t at = 0; at < size && status == PCOL_OK; at += 4) {
        int32_t value;
        status = pci_spool_read(&old, at, &value, sizeof value, err);
        if (status == PCOL_OK)
            status = pci_spool_append_u64(&cells->values, (uint64_t)(int64_t)value, err);
    }
    pci_spool_clear(&old);
    return status;
}

static pcol_status put_value(struct pci_ff_cells *cells, int64_t value, pcol_error *err)
{
    int32_t narrow = (int32_t)value;
    struct pci_spool *s = &cells->values;
    if (!cells->wide && narrow != value)
        PCI_TRY(widen(cells, err));
    if (cells->wide)
        return pci_spool_append_u64(s, (uint64_t)value, err);
    if (s->tail_capacity - s->tail_used >= sizeof narrow) {
        memcpy(s->tail + s->tail_used, &narrow, sizeof narrow);
        s->tail_used += sizeof narrow;
        return PCOL_OK;
    }
    return pci_spool_append(s, &narrow, sizeof narrow, err);
}

pcol_status pci_ff_cells_add(struct pci_ff_cells *cells, int kind, int64_t value, pcol_error *err)
{
    uint8_t byte = (uint8_t)kind;
    if (!cells->count)
        cells->kind = byte;
    else if (!cells->mixed && byte != cells->kind)
        PCI_TRY(mix(cells, err));
    if (cells->mixed)
        PCI_TRY(pci_spool_append(&cells->kinds, &byte, 1, err));
    cells->count++;
    return cells->mixed || has_value(kind) ? put_value(cells, value, err) : PCOL_OK;
}

void pci_ff_cursor_init(struct pci_ff_cursor *cursor, const struct pci_ff_cells *cells)
{
    cursor->cells = cells;
    cursor->first = 0;
    cursor->count = 0;
}

pcol_status pci_ff_cursor_fill(struct pci_ff_cursor *cursor, uint64_t row, pcol_error *err)
{
    const struct pci_ff_cells *c = cursor->cells;
    uint64_t left = c && row < c->count ? c->count - row : 0;
    size_t count = left < PCI_FF_BATCH ? (size_t)left : PCI_FF_BATCH;
    cursor->first = row;
    cursor->count = count;
    if (!count) { /* behind the end */
        cursor->count = PCI_FF_BATCH;
        memset(cursor->kinds, PCI_FF_NULL, sizeof cursor->kinds);
        memset(cursor->values, 0, sizeof cursor->values);
        return PCOL_OK;
    }
    if (c->mixed)
        PCI_TRY(pci_spool_read(&c->kinds, row, cursor->kinds, count, err));
    else
        memset(cursor->kinds, c->kind, count);
    memset(cursor->values, 0, count * sizeof cursor->values[0]);
    if (!c->mixed && !has_value(c->kind))
        return PCOL_OK;
    if (c->wide)
        return pci_spool_read(&c->values, row * 8, cursor->values, count * 8, err);
    int32_t narrow[PCI_FF_BATCH];
    PCI_TRY(pci_spool_read(&c->values, row * 4, narrow, count * 4, err));
    for (size_t i = 0; i < count; i++)
        cursor->values[i] = narrow[i];
    return PCOL_OK;
}
