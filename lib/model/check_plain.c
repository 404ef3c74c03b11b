/*
 * check_plain.c - columns sample_values and sample_locations of a plain file, compared with the
 * views of the same name
 *
 * Tests: tests/unit/test_check.c.
 */
#include "model/check.h"

#include <string.h>

struct derived {
    const char *table, *columns[3];
    pcol_status (*view)(const pcol_file *file, pcol_table **table, pcol_error *err);
};

static const struct derived derived[] = {
    {"sample_values", {"sample", "sample_type", "value"}, pci_v2_values},
    {"sample_locations", {"sample", "depth", "location"}, pci_v2_sample_locations},
};

static pcol_status compare_rows(struct pci_check *check, struct pci_rows *rows,
                                const struct pci_column *const columns[3],
                                struct pci_tally tallies[3], pcol_error *err)
{
    uint64_t count = rows->table->rows;
    for (uint64_t row = 0; row < count && !check->stop; row += PCI_BATCH) {
        size_t n = count - row < PCI_BATCH ? (size_t)(count - row) : PCI_BATCH;
        PCI_TRY(pci_rows_next(rows, n, err));
        for (int k = 0; k < 3; k++) {
            int64_t *stored = check->values[k];
            PCI_TRY(pci_read(check->file, columns[k], row, n, stored, check->valid[k], err));
            if (memcmp(stored, rows->lanes->lane[k], n * sizeof *stored) == 0)
                continue;
            for (size_t i = 0; i < n; i++) {
                if (stored[i] != rows->lanes->lane[k][i])
                    pci_fault(&tallies[k], row + i,
                              "the cell is not the one that the samples give");
            }
        }
    }
    return PCOL_OK;
}

static pcol_status compare_table(struct pci_check *check, const struct derived *d,
                                 const pcol_table *view, pcol_error *err)
{
    const struct pci_column *columns[3];
    struct pci_tally tallies[3];
    struct pci_rows rows;
    pcol_status status;
    for (int k = 0; k < 3; k++) {
        tallies[k] = PCI_TALLY(check, d->table, d->columns[k]);
        columns[k] = pci_check_column(check, d->table, d->columns[k]);
        if (!columns[k])
            return PCOL_OK; /* already reported as missing or damaged */
    }
    if (pci_rows(check->file, d->table) != view->rows) {
        tallies[0].column = "";
        pci_fault(
            &tallies[0], PCOL_POSITION_UNKNOWN, "%llu rows are there and the samples have %llu",
            (unsigned long long)pci_rows(check->file, d->table), (unsigned long long)view->rows);
        return PCOL_OK;
    }
    status = pci_rows_open(&rows, view, 0, err);
    PCI_THEN(status, compare_rows(check, &rows, columns, tallies, err));
    pci_rows_close(&rows);
    for (int k = 0; k < 3; k++)
        pci_tally_end(&tallies[k]);
    return status;
}

pcol_status pci_check_plain(struct pci_check *check, pcol_error *err)
{
    for (size_t i = 0; i < sizeof derived / sizeof *derived && !check->stop; i++) {
        const struct derived *d = &derived[i];
        pcol_table *view;
        pcol_error error = {0};
        pcol_status status;
        if (!pci_table_find(check->file, d->table) || !pci_check_table(check, "samples") ||
            !pci_check_table(check, "stacks") || !pci_check_table(check, "sample_zones"))
            continue;
        status = d->view(check->file, &view, &error);
        PCI_THEN(status, compare_table(check, d, view, &error));
        pci_table_free(view);
        if (status != PCOL_OK)
            PCI_TRY(pci_fault_error(check, &error, err));
    }
    return PCOL_OK;
}
