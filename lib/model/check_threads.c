/*
 * check_threads.c - threads of samples: each is of the source of its sample
 *
 * Tests: tests/unit/test_check_labels.c.
 */
#include "model/check.h"

pcol_status pci_check_threads(struct pci_check *check, pcol_error *err)
{
    const struct pci_column *source = pci_check_column(check, "samples", "source"),
                            *thread = pci_check_column(check, "samples", "thread"),
                            *owner = pci_check_column(check, "threads", "source");
    struct pci_tally tally = PCI_TALLY(check, "samples", "thread");
    uint64_t rows = thread && owner ? pci_rows(check->file, "samples") : 0;
    size_t n;
    for (uint64_t row = 0; row < rows; row += n) {
        PCI_TRY(pci_check_read_rows(check, thread, row, rows, owner->desc->rows, 0, &n, err));
        if (n)
            PCI_TRY(pci_check_read(check, source, row, rows, 1, &n, err));
        if (!n)
            break;
        for (size_t i = 0; i < n; i++) {
            int64_t of, own = check->valid[1][i] ? check->values[1][i] : 0;
            int valid;
            if (!check->valid[0][i])
                continue;
            PCI_TRY(pci_get(check->file, owner, (uint64_t)check->values[0][i], &of, &valid, err));
            if (of != own)
                pci_fault(&tally, row + i,
                          "thread %lld is of source %lld, the sample of source %lld",
                          (long long)check->values[0][i], (long long)of, (long long)own);
        }
    }
    pci_tally_end(&tally);
    return PCOL_OK;
}
