/*
 * check_categories.c - subcategories of frames: a number within the list of their category
 *
 * Number 0 is valid even if the category has no list. Tests: tests/unit/test_check_labels.c.
 */
#include "model/check.h"

#include "util/alloc.h"

static pcol_status count_parts(struct pci_check *check, uint64_t categories, uint64_t *counts,
                               pcol_error *err)
{
    const struct pci_column *of = pci_check_column(check, "subcategories", "category");
    uint64_t rows = of ? pci_rows(check->file, "subcategories") : 0;
    size_t n;
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read_rows(check, of, row, rows, categories, 0, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++)
            if (check->valid[0][i])
                counts[check->values[0][i]]++;
    }
    return PCOL_OK;
}

static pcol_status check_frames(struct pci_check *check, uint64_t categories,
                                const uint64_t *counts, pcol_error *err)
{
    static const char name[] = "location_groups";
    const struct pci_column *category = pci_check_column(check, name, "category");
    const struct pci_column *part = pci_check_column(check, name, "subcategory");
    struct pci_tally tally = PCI_TALLY(check, name, "subcategory");
    uint64_t rows = part ? pci_rows(check->file, name) : 0;
    size_t n;
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read_rows(check, category, row, rows, categories, 0, &n, err));
        if (n)
            PCI_TRY(pci_check_read(check, part, row, rows, 1, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            int64_t of = check->values[0][i], number = check->values[1][i];
            uint64_t count = check->valid[0][i] ? counts[of] : 0;
            if (!check->valid[1][i] || !number || (number > 0 && (uint64_t)number < count))
                continue;
            if (check->valid[0][i])
                pci_fault(&tally, row + i, "%lld is beyond the %llu subcategories of category %lld",
                          (long long)number, (unsigned long long)count, (long long)of);
            else
                pci_fault(&tally, row + i, "%lld is of no category", (long long)number);
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}

pcol_status pci_check_categories(struct pci_check *check, pcol_error *err)
{
    uint64_t categories = pci_rows(check->file, "categories");
    PCI_TRY(pci_check_row_count(check->file, "categories", err));
    uint64_t *counts = pci_calloc((size_t)categories + 1, sizeof *counts);
    pcol_status status = counts ? count_parts(check, categories, counts, err) : PCOL_OK;
    if (counts && status == PCOL_OK && !check->stop)
        status = check_frames(check, categories, counts, err);
    pci_free(counts);
    return counts ? status : pci_fail_memory(err);
}
