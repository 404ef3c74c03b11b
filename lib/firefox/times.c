/*
 * times.c - times in ms as doubles to nanoseconds, and what it takes to have the same double again
 *
 * A number of ms with at most six decimals is ns / 1e6, rounded once. Others, which come of sums and
 * differences, lie a few doubles beside that: the distance is counted in doubles ("ulps"), since it
 * takes a few bits where the double itself would take 64.
 */
#include "firefox/read.h"

#include "core/alloc.h"

#define LARGEST_MS 9e12 /* in ns it fits an i64 */

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
    times->column = pci_ff_column(ff, table, name);
    if (!times->column && deltas) {
        times->column = pci_ff_column(ff, table, deltas);
        times->deltas = times->column != NULL;
    }
    times->exact = 1;
    if (!times->column)
        return PCOL_OK;
    times->all_real = pci_ff_all_real(&times->column->cells);
    times->cursor = pci_malloc(1, sizeof *times->cursor);
    if (!times->cursor)
        return pci_fail_memory(err);
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

static int64_t to_ns(double ms)
{
    double ns = ms * 1e6;
    return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

pcol_status pci_ff_times_get(struct pci_ff *ff, struct pci_ff_times *times, uint64_t row,
                             int *valid, int64_t *ns, int64_t *ulps, pcol_error *err)
{
    int kind;
    int64_t value, bits, near;
    double ms, back;
    *valid = 0;
    *ns = *ulps = 0;
    if (!times->column)
        return PCOL_OK;
    PCI_TRY(pci_ff_cell(times->cursor, row, &kind, &value, err));
    if (kind == PCI_FF_NULL) {
        times->exact &= !times->deltas && row < times->column->cells.count;
        return PCOL_OK;
    }
    if (kind != PCI_FF_INT && kind != PCI_FF_DOUBLE)
        return pci_ff_fail_cell(ff, times->table, times->column, row, err,
                                "a time must be a number");
    times->exact &= pci_ff_number_fits(kind, value, times->all_real, &ms);
    if (!(ms >= -LARGEST_MS && ms <= LARGEST_MS)) { /* a NaN, too */
        times->exact = 0;
        return PCOL_OK;
    }
    near = to_ns(ms);
    back = (double)near / 1e6;
    memcpy(&bits, &ms, sizeof bits);
    memcpy(ulps, &back, sizeof *ulps);
    *ulps = (int64_t)((uint64_t)bits - (uint64_t)*ulps);
    *ns = near;
    if (times->deltas) {
        if (__builtin_add_overflow(times->before, near, ns))
            return pci_ff_fail_cell(ff, times->table, times->column, row, err,
                                    "the sum of times is out of range");
        times->before = *ns;
    }
    *valid = 1;
    return PCOL_OK;
}
