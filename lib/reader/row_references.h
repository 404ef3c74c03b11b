/*
 * row_references.h - columns whose values are row numbers of another table, and their bounds
 */
#ifndef PCI_READER_ROW_REFERENCES_H
#define PCI_READER_ROW_REFERENCES_H

#include "reader/file.h"

/* A column that the format (spec.md, sections 6 and 16) defines as a reference. */
struct pci_reference {
    const char *table, *column, *references;
    uint8_t type; /* enum pcf_type */
};
extern const struct pci_reference pci_references[]; /* by table; ends with NULLs */
/* Columns that any table may have unless its name begins with x_; `table` is NULL. */
extern const struct pci_reference pci_references_open[];

/* Sets the limit and the order of every column at open. */
void pci_references_set_limits(pcol_file *file);

/* Handles a value not below the column's limit: sets it to 0 and fails with E_CORRUPT, unless it is
 * the root of stacks, which refers to nothing. */
pcol_status pci_references_reject(const struct pci_column *column, uint64_t row, int64_t *value,
                                  pcol_error *err);

#endif
