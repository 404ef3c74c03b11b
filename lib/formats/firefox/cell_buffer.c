/*
 * cell_buffer.c - a column of the source as it was: values in a spool, kinds only where they differ
 */
#include "formats/firefox/cell_buffer.h"

#include "util/simd_kernels.h"

void pci_ff_cells_init(struct pci_ff_cells *cells, struct pci_spill_store *store)
{
    memset(cells, 0, sizeof *cells);
    pci_spill_init(&cells->values, store);
    pci_spill_init(&cells->kinds, store);
}

void pci_ff_cells_clear(struct pci_ff_cells *cells)
{
    if (cells->values.store)
        pci_spill_clear(&cells->values);
    if (cells->kinds.store)
        pci_spill_clear(&cells->kinds);
    cells->count = 0;
}

static int has_value(int kind)
{
    return kind > PCI_FF_TRUE;
}

/* So many times the same byte. */
static pcol_status put_bytes(struct pci_spill *spool, int byte, uint64_t count, pcol_error *err)
{
    uint8_t bytes[256];
    memset(bytes, byte, sizeof bytes);
    for (uint64_t part; count; count -= part) {
        part = count < sizeof bytes ? count : sizeof bytes;
        PCI_TRY(pci_spill_append(spool, bytes, (size_t)part, err));
    }
    return PCOL_OK;
}

/* A value does not fit: all so far become eight bytes. */
static pcol_status widen(struct pci_ff_cells *cells, pcol_error *err)
{
    struct pci_spill old = cells->values;
    uint64_t size = pci_spill_size(&old);
    pcol_status status = PCOL_OK;
    int32_t narrow[256];
    int64_t values[256];
    pci_spill_init(&cells->values, old.store);
    cells->wide = 1;
    for (uint64_t at = 0; at < size && status == PCOL_OK; at += sizeof narrow) {
        size_t n = size - at < sizeof narrow ? (size_t)(size - at) / 4 : 256;
        status = pci_spill_read(&old, at, narrow, n * 4, err);
        for (size_t i = 0; status == PCOL_OK && i < n; i++)
            values[i] = narrow[i];
        if (status == PCOL_OK)
            status = pci_spill_append(&cells->values, values, n * 8, err);
    }
    pci_spill_clear(&old);
    return status;
}

/* The values of many cells. */
static pcol_status put_values(struct pci_ff_cells *cells, const int64_t *values, size_t n,
                              pcol_error *err)
{
    int32_t narrow[256];
    for (size_t part; n; values += part, n -= part) {
        part = n < 256 ? n : 256;
        int fits = !cells->wide && pci_simd_narrow(values, part, narrow);
        if (!fits && !cells->wide)
            PCI_TRY(widen(cells, err));
        PCI_TRY(fits ? pci_spill_append(&cells->values, narrow, part * 4, err)
                     : pci_spill_append(&cells->values, values, part * 8, err));
    }
    return PCOL_OK;
}

/* Cells differ from now on: the values so far are written out. */
static pcol_status vary(struct pci_ff_cells *cells, pcol_error *err)
{
    int64_t values[256];
    for (size_t i = 0; i < 256; i++)
        values[i] = cells->first;
    for (uint64_t left = cells->count, part; left; left -= part) {
        part = left < 256 ? left : 256;
        PCI_TRY(put_values(cells, values, (size_t)part, err));
    }
    cells->varied = 1;
    return PCOL_OK;
}

/* Kinds differ from now on: those so far are written out. */
static pcol_status mix(struct pci_ff_cells *cells, pcol_error *err)
{
    PCI_TRY(put_bytes(&cells->kinds, cells->kind, cells->count, err));
    cells->mixed = 1;
    return PCOL_OK;
}

/* How many of some cells are as all have been so far, from the first on. */
static size_t count_same(const struct pci_ff_cells *cells, int kind, const uint8_t *kinds,
                         const int64_t *values, size_t n)
{
    size_t same = 0;
    if (kinds || kind != cells->kind)
        return 0;
    if (!has_value(kind))
        return n;
    while (same < n && values[same] == cells->first)
        same++;
    return same;
}

pcol_status pci_ff_cells_append(struct pci_ff_cells *cells, int kind, const uint8_t *kinds,
                                const int64_t *values, size_t n, pcol_error *err)
{
    if (!n)
        return PCOL_OK;
    if (!cells->count) {
        cells->kind = kinds ? kinds[0] : (uint8_t)kind;
        cells->first = has_value(cells->kind) ? values[0] : 0;
    }
    if (!cells->varied) {
        size_t same = count_same(cells, kind, kinds, values, n);
        cells->count += same;
        if (same == n)
            return PCOL_OK;
        values += same;
        n -= same;
        PCI_TRY(vary(cells, err));
    }
    if (!cells->mixed && (kinds || kind != cells->kind))
        PCI_TRY(mix(cells, err));
    if (cells->mixed)
        PCI_TRY(kinds ? pci_spill_append(&cells->kinds, kinds, n, err)
                      : put_bytes(&cells->kinds, kind, n, err));
    cells->count += n;
    return put_values(cells, values, n, err);
}

static pcol_status put_value(struct pci_ff_cells *cells, int64_t value, pcol_error *err)
{
    int32_t narrow = (int32_t)value;
    struct pci_spill *s = &cells->values;
    if (!cells->wide && narrow != value)
        PCI_TRY(widen(cells, err));
    if (cells->wide)
        return pci_spill_append_u64(s, (uint64_t)value, err);
    if (s->tail_capacity - s->tail_used >= sizeof narrow) {
        memcpy(s->tail + s->tail_used, &narrow, sizeof narrow);
        s->tail_used += sizeof narrow;
        return PCOL_OK;
    }
    return pci_spill_append(s, &narrow, sizeof narrow, err);
}

pcol_status pci_ff_cells_add(struct pci_ff_cells *cells, int kind, int64_t value, pcol_error *err)
{
    uint8_t byte = (uint8_t)kind;
    if (!cells->count) {
        cells->kind = byte;
        cells->first = value;
    }
    if (!cells->varied) {
        if (byte == cells->kind && value == cells->first) {
            cells->count++;
            return PCOL_OK;
        }
        PCI_TRY(vary(cells, err));
    }
    if (!cells->mixed && byte != cells->kind)
        PCI_TRY(mix(cells, err));
    if (cells->mixed)
        PCI_TRY(pci_spill_append(&cells->kinds, &byte, 1, err));
    cells->count++;
    return put_value(cells, value, err);
}

void pci_ff_cursor_init(struct pci_ff_cursor *cursor, const struct pci_ff_cells *cells)
{
    cursor->cells = cells;
    cursor->first = 0;
    cursor->count = 0;
    cursor->kind = -1;
}

/* The kind that all of some cells have, or -1. */
static int kind_of(const uint8_t *kinds, size_t count)
{
    return memcmp(kinds, kinds + 1, count - 1) ? -1 : kinds[0];
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
        cursor->kind = PCI_FF_NULL;
        memset(cursor->kinds, PCI_FF_NULL, sizeof cursor->kinds);
        memset(cursor->values, 0, sizeof cursor->values);
        return PCOL_OK;
    }
    if (c->mixed)
        PCI_TRY(pci_spill_read(&c->kinds, row, cursor->kinds, count, err));
    else
        memset(cursor->kinds, c->kind, count);
    cursor->kind = c->mixed ? kind_of(cursor->kinds, count) : c->kind;
    if (!c->varied) {
        for (size_t i = 0; i < count; i++)
            cursor->values[i] = c->first;
        return PCOL_OK;
    }
    if (c->wide)
        return pci_spill_read(&c->values, row * 8, cursor->values, count * 8, err);
    int32_t narrow[PCI_FF_BATCH];
    PCI_TRY(pci_spill_read(&c->values, row * 4, narrow, count * 4, err));
    pci_simd_widen((const uint8_t *)narrow, count, cursor->values);
    return PCOL_OK;
}
