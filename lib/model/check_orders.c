/*
 * check_orders.c - source_rows: runs of one table each, complete, and of rows that are there
 */
#include "model/check.h"
#include "model/row_details.h"

/* Reading each run's order looks at all of it. */
pcol_status pci_check_orders(struct pci_check *check, pcol_error *err)
{
    pcol_error error = {0};
    if (!pci_rows(check->file, "source_rows") || !pci_check_table(check, "source_rows"))
        return PCOL_OK;
    if (pci_orders_check(check->file, &error) != PCOL_OK)
        return pci_fault_error(check, &error, err);
    return PCOL_OK;
}
