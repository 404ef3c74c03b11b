/*
 * check_orders.c - source_rows: complete runs per table, with valid row numbers
 *
 * Tests: tests/unit/test_check_labels.c, suite golden.
 */
#include "model/check.h"
#include "model/row_details.h"

pcol_status pci_check_orders(struct pci_check *check, pcol_error *err)
{
    pcol_error error = {0};
    if (!pci_rows(check->file, "source_rows") || !pci_check_table(check, "source_rows"))
        return PCOL_OK;
    if (pci_verify_source_rows(check->file, &error) != PCOL_OK)
        return pci_fault_error(check, &error, err);
    return PCOL_OK;
}
