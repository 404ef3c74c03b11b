/*
 * check_orders.c - source_rows: complete runs per table, with valid row numbers; source_columns:
 * ranges of cells; source_cells: a value of the kind
 *
 * Tests: tests/unit/test_check_labels.c, suite golden.
 */
#include "model/check.h"
#include "model/row_details.h"

/* The cells of each column are rows of source_cells. */
static pcol_status check_ranges(struct pci_check *check, pcol_error *err)
{
    const struct pci_column *first = pci_check_column(check, "source_columns", "first_cell");
    const struct pci_column *count = pci_check_column(check, "source_columns", "cells");
    uint64_t rows = pci_rows(check->file, "source_columns");
    uint64_t cells = pci_rows(check->file, "source_cells");
    struct pci_tally tally = PCI_TALLY(check, "source_columns", "cells");
    uint64_t sum = 0;
    size_t n;
    for (uint64_t row = 0; count && row < rows; row += n) {
        PCI_TRY(pci_check_read(check, count, row, rows, 0, &n, err));
        if (n)
            PCI_TRY(pci_check_read(check, first, row, rows, 1, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            uint64_t from = check->valid[1][i] ? (uint64_t)check->values[1][i] : 0;
            if (check->valid[0][i] &&
                (from > cells || (uint64_t)check->values[0][i] > cells - from))
                pci_fault(&tally, row + i, "%llu cells from row %llu on are beyond source_cells",
                          (unsigned long long)check->values[0][i], (unsigned long long)from);
            else if (check->valid[0][i] && (sum += (uint64_t)check->values[0][i]) > cells)
                pci_fault(&tally, row + i, "the ranges up to here have more cells than rows");
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

/* Each cell has a known kind, and a value in the column of this kind. */
static pcol_status check_cells(struct pci_check *check, pcol_error *err)
{
    static const char *const names[] = {"kind", "integer", "number", "text"};
    static const int column_of[] = {0, 0, 0, 1, 2, 3, 3}; /* by kind; 0: no value */
    enum { COLUMNS = sizeof names / sizeof *names, KINDS = sizeof column_of / sizeof *column_of };
    uint64_t rows = pci_rows(check->file, "source_cells");
    struct pci_tally tally = PCI_TALLY(check, "source_cells", "kind");
    size_t n = 1;
    for (uint64_t row = 0; row < rows && pci_check_table(check, "source_cells"); row += n) {
        for (int c = 0; c < COLUMNS && n; c++)
            PCI_TRY(pci_check_read(check, pci_check_column(check, "source_cells", names[c]), row,
                                   rows, c, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            uint64_t kind = (uint64_t)check->values[0][i];
            if (kind >= KINDS)
                pci_fault(&tally, row + i, "there is no kind %llu", (unsigned long long)kind);
            else if (column_of[kind] && !check->valid[column_of[kind]][i])
                pci_fault(&tally, row + i, "a cell of kind %llu has no %s",
                          (unsigned long long)kind, names[column_of[kind]]);
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

pcol_status pci_check_orders(struct pci_check *check, pcol_error *err)
{
    pcol_error error = {0};
    PCI_TRY(check_ranges(check, err));
    PCI_TRY(check_cells(check, err));
    if (!pci_rows(check->file, "source_rows") || !pci_check_table(check, "source_rows"))
        return PCOL_OK;
    if (pci_verify_source_rows(check->file, &error) != PCOL_OK)
        return pci_fault_error(check, &error, err);
    return PCOL_OK;
}
