/*
 * check_structure.c - structure that reading a column does not verify: directories agree with the
 * data that they index (reader/verify_structure.c)
 *
 * Tests: tests/unit/test_check.c, suite golden.
 */
#include "model/check.h"

pcol_status pci_check_structure(struct pci_check *check, const struct pci_column *column,
                                pcol_error *err)
{
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    pcol_error error = {0};
    pcol_status status = pci_verify_structure(check->file, column, &error);
    if (status != PCOL_OK)
        status = pci_fault_error(check, &error, err);
    if (tally.count || error.status != PCOL_OK)
        check->untrusted[column->number] = 1;
    pci_tally_end(&tally);
    return status;
}
