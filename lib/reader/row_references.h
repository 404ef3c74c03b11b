/*
 * row_references.h - columns whose values are row numbers of another table, and their bounds
 */
#ifndef PCI_READER_ROW_REFERENCES_H
#define PCI_READER_ROW_REFERENCES_H

#include "reader/file.h"

/* Sets the limit and the order of every column at open. */
void pci_references_set_limits(pcol_file *file);

/* Handles a value not below the column's limit: sets it to 0 and fails with E_CORRUPT, unless it is
 * the root of stacks, which refers to nothing. */
pcol_status pci_references_reject(const struct pci_column *column, uint64_t row, int64_t *value,
                                  pcol_error *err);

#endif
