/*
 * row_references.h - the columns whose values are row numbers, by the table that they refer to
 */
#ifndef PCI_BLOCK_READER_ROW_REFERENCES_H
#define PCI_BLOCK_READER_ROW_REFERENCES_H

#include "reader/file.h"

/* A column that the format (spec.md, sections 6 and 16) defines as a reference. */
struct pci_reference {
    const char *table, *column, *references;
    uint8_t type; /* enum pcf_type */
};
extern const struct pci_reference pci_references[]; /* by table; ends with NULLs */
/* Those that any table may have whose name does not begin with x_; `table` is NULL. */
extern const struct pci_reference pci_references_open[];

/* Set the limit of every column of a file that is opened. */
void pci_references_bound(pcol_file *file);

/* A value that is not below the column's limit becomes 0: E_CORRUPT, but for the root of stacks,
 * which refers to nothing. */
pcol_status pci_references_fail(const struct pci_column *column, uint64_t row, int64_t *value,
                                pcol_error *err);

#endif
