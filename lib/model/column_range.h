/*
 * column_range.h - smallest and largest value of a column
 *
 * Found in the cells and in the parameters of encodings, which decide what the decoder returns;
 * never in the statistics of a column, which may be false. Values are compared as int64_t; of
 * doubles that is their bits, whose sign is that of the number.
 */
#ifndef PCI_MODEL_COLUMN_RANGE_H
#define PCI_MODEL_COLUMN_RANGE_H

#include "reader/file.h"

struct pci_column_range {
    int64_t min, max; /* min > max: no values */
};

/* The bounds of a block of 1024 rows of a LINEAR, PACKED or DELTAS column, by its parameters,
 * directories and the marked rows of DELTAS: no value is outside, nulls aside. 0 if they are
 * unknown: another encoding, or sums that may wrap. */
int pci_block_bounds(const struct pcf_data *column, uint64_t block, struct pci_column_range *range);

/* The bounds of a column: no value is outside. By parameters where these decide, else by reading.
 */
pcol_status pci_column_bounds(const pcol_file *file, const struct pci_column *column,
                              struct pci_column_range *bounds, pcol_error *err);

/* The smallest and the largest value of the rows that have one and whose `source` is `id`; all rows
 * if `source` is NULL. A null source is the first one. Only blocks whose bounds exceed the range of
 * those before are read. E_LIMIT if there are implausibly many rows to read. */
pcol_status pci_column_range(const pcol_file *file, const struct pci_column *column,
                             const struct pci_column *source, uint64_t id,
                             struct pci_column_range *range, pcol_error *err);

#endif
