/*
 * times.c - converts times from doubles in ms to integers in ns, exactly reversible
 *
 * A number of ms with at most six decimals equals ns / 1e6, rounded once. Sums and differences
 * deviate from it by a few units in the last place; this difference ("ulps") is stored, since it
 * takes a few bits where the double itself takes 64.
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"
#include "util/simd_kernels.h"

#define LARGEST_MS 9e12 /* in ns it fits an i64 */
#define SMALL_MS 2e9    /* about 23 days; in ns it is below 2^51 */

int pci_ff_all_real(const struct pci_ff_cells *cells)
{
    return !cells->mixed && cells->count && cells->kind == PCI_FF_DOUBLE;
}

int pci_ff_number_fits(int kind, int64_t value, int all_real, double *number)
{
    if (kind == PCI_FF_INT) {
        *number = (double)value;
        return !all_real && pci_ff_whole(*number) && (int64_t)*number == value;
    }
    memcpy(number, &value, sizeof *number);
    return all_real || !pci_ff_whole(*number);
}

pcol_status pci_ff_times_open(struct pci_ff *ff, const struct pci_ff_table *table, const char *name,
                              const char *deltas, struct pci_ff_times *times, pcol_error *err)
{
    memset(times, 0, sizeof *times);
    times->table = table;
    times->column = pci_ff_find_column(ff, table, name);
    if (!times->column && deltas) {
        times->column = pci_ff_find_column(ff, table, deltas);
        times->deltas = times->column != NULL;
    }
    times->exact = 1;
    if (!times->column)
        return PCOL_OK;
    times->all_real = pci_ff_all_real(&times->column->cells);
    PCI_TRY(PCI_MALLOC(times->cursor, 1, err));
    pci_ff_cursor_init(times->cursor, &times->column->cells);
    return PCOL_OK;
}

void pci_ff_times_close(struct pci_ff_times *times)
{
    pci_free(times->cursor);
    times->cursor = NULL;
}

struct pci_ff_claim pci_ff_claim_times(const struct pci_ff_times *times)
{
    return (struct pci_ff_claim){times->column, times->all_real ? PCI_FF_FORM_REAL : NULL,
                                 times->exact};
}

static int64_t round_ns(double ns)
{
    return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

static int64_t to_ns(double ms)
{
    return round_ns(ms * 1e6);
}

static int64_t bits_of(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static pcol_status convert_time(struct pci_ff *ff, struct pci_ff_times *times, uint64_t row,
                                int kind, int64_t value, int *valid, int64_t *ns, int64_t *ulps,
                                pcol_error *err)
{
    double ms;
    *valid = 0;
    *ns = *ulps = 0;
    if (kind == PCI_FF_NULL) {
        times->exact &= !times->deltas && row < times->column->cells.count;
        return PCOL_OK;
    }
    if (kind != PCI_FF_INT && kind != PCI_FF_DOUBLE)
        return pci_ff_fail_cell(ff, times->table, times->column, row, err,
                                "a time must be a number");
    times->exact &= pci_ff_number_fits(kind, value, times->all_real, &ms);
    if (!(ms >= -LARGEST_MS && ms <= LARGEST_MS)) { /* also for NaN */
        times->exact = 0;
        return PCOL_OK;
    }
    double exact = ms * 1e6 + times->rest;
    *ns = round_ns(exact);
    *ulps = (int64_t)((uint64_t)bits_of(ms) - (uint64_t)bits_of((double)*ns / 1e6));
    if (times->deltas) {
        times->rest = exact - (double)*ns;
        if (__builtin_add_overflow(times->before, *ns, ns))
            return pci_ff_fail_cell(ff, times->table, times->column, row, err,
                                    "the sum of times is out of range");
        times->before = *ns;
    }
    *valid = 1;
    return PCOL_OK;
}

pcol_status pci_ff_times_get(struct pci_ff *ff, struct pci_ff_times *times, uint64_t row,
                             int *valid, int64_t *ns, int64_t *ulps, pcol_error *err)
{
    int kind;
    int64_t value;
    *valid = 0;
    *ns = *ulps = 0;
    if (!times->column)
        return PCOL_OK;
    PCI_TRY(pci_ff_cell(times->cursor, row, &kind, &value, err));
    return convert_time(ff, times, row, kind, value, valid, ns, ulps, err);
}

/* Fast path for a column of absolute times that are all doubles; 0 if one is out of range. */
static int convert_absolute_times(const int64_t *values, size_t n, int64_t *ns, int64_t *ulps)
{
    if (pci_simd_all_within(values, n, SMALL_MS)) {
        pci_simd_ms_to_ns(values, n, ns, ulps);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        double ms;
        memcpy(&ms, &values[i], sizeof ms);
        if (!(ms >= -LARGEST_MS && ms <= LARGEST_MS))
            return 0;
        ns[i] = to_ns(ms);
        ulps[i] = (int64_t)((uint64_t)values[i] - (uint64_t)bits_of((double)ns[i] / 1e6));
    }
    return 1;
}

pcol_status pci_ff_times_get_batch(struct pci_ff *ff, struct pci_ff_times *times, uint64_t row,
                                   size_t n, uint8_t *valid, int64_t *ns, int64_t *ulps,
                                   pcol_error *err)
{
    struct pci_ff_cursor *c = times->cursor;
    memset(valid, times->column != NULL, n);
    if (!times->column) {
        memset(ns, 0, n * sizeof *ns);
        memset(ulps, 0, n * sizeof *ulps);
        return PCOL_OK;
    }
    if (row - c->first >= c->count || n > c->count - (row - c->first))
        PCI_TRY(pci_ff_cursor_fill(c, row, err));
    if (c->kind == PCI_FF_DOUBLE && times->all_real && !times->deltas &&
        n <= c->count - (row - c->first) &&
        convert_absolute_times(c->values + (row - c->first), n, ns, ulps))
        return PCOL_OK;
    for (size_t i = 0; i < n; i++) {
        int is_valid, kind;
        int64_t value;
        PCI_TRY(pci_ff_cell(c, row + i, &kind, &value, err));
        PCI_TRY(convert_time(ff, times, row + i, kind, value, &is_valid, &ns[i], &ulps[i], err));
        valid[i] = is_valid != 0;
    }
    return PCOL_OK;
}
