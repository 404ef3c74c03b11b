/*
 * conditions.h - typed conditions on the cells of a table, tested block by block
 */
#ifndef PCI_QUERY_CONDITIONS_H
#define PCI_QUERY_CONDITIONS_H

#include "model/table.h"

struct pci_conditions;

/* Copies what it keeps of `where`. The caller closes it, also after a failure. E_ARGUMENT: column,
 * operator, type or pattern. */
pcol_status pci_conditions_open(const pcol_table *table, const pcol_condition *where, size_t count,
                                struct pci_conditions **conditions, pcol_error *err);
void pci_conditions_close(struct pci_conditions *conditions);

/* Narrows rows [*first, *end) by conditions on ids, without reading cells of the table. */
pcol_status pci_conditions_narrow(const struct pci_conditions *conditions, uint64_t *first,
                                  uint64_t *end, pcol_error *err);
/* Verifies the columns whose encoding lets pci_conditions_may_match() skip blocks, before a scan
 * of all rows. */
pcol_status pci_conditions_verify(const struct pci_conditions *conditions, pcol_error *err);
/* 0: no row of the block of PCI_BATCH rows that has `row` satisfies all conditions. */
int pci_conditions_may_match(const struct pci_conditions *conditions, uint64_t row);

/* Clears alive[i] for rows row + i, i < count <= PCI_BATCH, that do not satisfy all conditions.
 * `rows` has generated these rows. *any: 1 if a row is alive. */
pcol_status pci_conditions_test(struct pci_conditions *conditions, const struct pci_rows *rows,
                                uint64_t row, size_t count, uint8_t *alive, int *any,
                                pcol_error *err);

/* Cells of the last tested rows: one of bits, texts and codes if the column was read for them. */
struct pci_tested_cells {
    const int64_t *bits; /* of numbers */
    const pcol_str *texts;
    const int64_t *codes;
    const uint8_t *valid;
};
void pci_conditions_cells(const struct pci_conditions *conditions, const pcol_column *column,
                          struct pci_tested_cells *cells);

#endif
