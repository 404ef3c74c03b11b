/*
 * cell_buffer.c - buffer of cells: values in a spill buffer, kinds only once they differ
 *
 * States, each left at most once: constant (kind, first) -> varied (values stored) -> wide (i64
 * instead of i32), and independently mixed (kinds stored).
 */
#include "formats/firefox/cell_buffer.h"

#include "util/control.h"
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

/* Append `count` equal bytes. */
static pcol_status append_bytes(struct pci_spill *buffer, int byte, uint64_t count, pcol_error *err)
{
    uint8_t bytes[256];
    memset(bytes, byte, sizeof bytes);
    for (uint64_t n_part; count; count -= n_part) {
        n_part = count < sizeof bytes ? count : sizeof bytes;
        PCI_TRY(pci_spill_append(buffer, bytes, (size_t)n_part, err));
    }
    return PCOL_OK;
}

/* Rewrite all values so far as i64, since one does not fit an i32. */
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
        PCI_THEN(status, pci_spill_append(&cells->values, values, n * 8, err));
    }
    pci_spill_clear(&old);
    return status;
}

/* Append values. */
static pcol_status append_values(struct pci_ff_cells *cells, const int64_t *values, size_t n,
                                 pcol_error *err)
{
    int32_t narrow[256];
    for (size_t n_part; n; values += n_part, n -= n_part) {
        n_part = n < 256 ? n : 256;
        int fits = !cells->wide && pci_simd_narrow(values, n_part, narrow);
        if (!fits && !cells->wide)
            PCI_TRY(widen(cells, err));
        PCI_TRY(fits ? pci_spill_append(&cells->values, narrow, n_part * 4, err)
                     : pci_spill_append(&cells->values, values, n_part * 8, err));
    }
    return PCOL_OK;
}

/* Leave the constant state: write the values so far. */
static pcol_status store_values(struct pci_ff_cells *cells, pcol_error *err)
{
    int64_t values[256];
    for (size_t i = 0; i < 256; i++)
        values[i] = cells->first;
    for (uint64_t left = cells->count, n_part; left; left -= n_part) {
        n_part = left < 256 ? left : 256;
        PCI_TRY(append_values(cells, values, (size_t)n_part, err));
    }
    cells->varied = 1;
    return PCOL_OK;
}

/* Store kinds from now on: write those so far. */
static pcol_status store_kinds(struct pci_ff_cells *cells, pcol_error *err)
{
    PCI_TRY(append_bytes(&cells->kinds, cells->kind, cells->count, err));
    cells->mixed = 1;
    return PCOL_OK;
}

/* Length of the prefix whose cells equal all cells so far. */
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
        PCI_TRY(store_values(cells, err));
    }
    if (!cells->mixed && (kinds || kind != cells->kind))
        PCI_TRY(store_kinds(cells, err));
    if (cells->mixed)
        PCI_TRY(kinds ? pci_spill_append(&cells->kinds, kinds, n, err)
                      : append_bytes(&cells->kinds, kind, n, err));
    cells->count += n;
    return append_values(cells, values, n, err);
}

static pcol_status append_value(struct pci_ff_cells *cells, int64_t value, pcol_error *err)
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
        PCI_TRY(store_values(cells, err));
    }
    if (!cells->mixed && byte != cells->kind)
        PCI_TRY(store_kinds(cells, err));
    if (cells->mixed)
        PCI_TRY(pci_spill_append(&cells->kinds, &byte, 1, err));
    cells->count++;
    return append_value(cells, value, err);
}

void pci_ff_cursor_init(struct pci_ff_cursor *cursor, const struct pci_ff_cells *cells)
{
    cursor->cells = cells;
    cursor->first = 0;
    cursor->count = 0;
    cursor->kind = -1;
}

/* The kind of all cells, or -1 if they differ. */
static int common_kind(const uint8_t *kinds, size_t count)
{
    return memcmp(kinds, kinds + 1, count - 1) ? -1 : kinds[0];
}

pcol_status pci_ff_cursor_fill(struct pci_ff_cursor *cursor, uint64_t row, pcol_error *err)
{
    const struct pci_ff_cells *c = cursor->cells;
    uint64_t left = c && row < c->count ? c->count - row : 0;
    size_t count = left < PCI_FF_BATCH ? (size_t)left : PCI_FF_BATCH;
    PCI_TRY(pci_work(PCI_FF_BATCH * PCI_ITEM_WORK, err));
    cursor->first = row;
    cursor->count = count;
    if (!count) { /* after the last cell */
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
    cursor->kind = c->mixed ? common_kind(cursor->kinds, count) : c->kind;
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
