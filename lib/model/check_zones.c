/*
 * check_zones.c - sample_zones, verified by building the tables that it indexes
 *
 * Tests: tests/unit/test_check.c, suite golden.
 */
#include "model/check.h"

static pcol_status check_zones(struct pci_check *check,
                               pcol_status (*make)(const pcol_file *, pcol_table **, pcol_error *),
                               pcol_error *err)
{
    pcol_table *table;
    pcol_error error = {0};
    pcol_status status = make(check->file, &table, &error);
    pci_table_free(table);
    return status == PCOL_OK ? PCOL_OK : pci_fault_error(check, &error, err);
}

/* Requires tables without faults, which would appear as faults of the zones. */
pcol_status pci_check_zones(struct pci_check *check, pcol_error *err)
{
    static const char *const tables[] = {"samples",         "sample_zones", "stacks",
                                         "location_groups", "locations",    "sample_types",
                                         "source_types"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (!pci_check_table(check, tables[i]))
            return PCOL_OK;
    }
    PCI_TRY(check_zones(check, pci_v2_sample_locations, err));
    return check->stop ? PCOL_OK : check_zones(check, pci_v2_values, err);
}
