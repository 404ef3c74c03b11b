/*
 * check.h - state of one run of pcol_file_check()
 *
 * A rule is a loop over rows that reports faults through a tally: the first PCI_CHECK_SAME faults
 * are reported one by one, the others are counted and summarized. Columns with a wrong checksum or
 * undecodable data are marked as untrusted and skipped by the rules that depend on them, so that
 * one flipped bit does not cause a thousand faults. Tests: tests/unit/test_check.c,
 * tests/unit/test_check_labels.c.
 */
#ifndef PCI_CHECK_H
#define PCI_CHECK_H

#include "model/table.h"

#define PCI_CHECK_ROWS 8192u /* rows per read */
#define PCI_CHECK_SAME 20u
#define PCI_CHECK_BUFFERS 4

struct pci_check {
    const pcol_file *file;
    pcol_check_depth depth;
    pcol_fault_fn report;
    void *context;
    uint64_t faults;
    int stop;           /* the caller stopped the check */
    int copied;         /* only rules that copying depends on; derived tables are skipped */
    uint8_t *untrusted; /* by column of the index */
    int64_t *values[PCI_CHECK_BUFFERS];
    uint8_t *valid[PCI_CHECK_BUFFERS];
};

struct pci_tally {
    struct pci_check *check;
    const char *table, *column;
    int note;
    uint64_t count;
};

#define PCI_TALLY(check, table, column) ((struct pci_tally){(check), (table), (column), 0, 0})

/* Reports a fault at a row, or PCOL_POSITION_UNKNOWN. */
void pci_fault(struct pci_tally *tally, uint64_t row, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Reports the number of faults that were only counted. */
void pci_tally_end(struct pci_tally *tally);
/* Reports an error of a read as a fault at its position. E_NO_MEMORY and E_IO are returned: the
 * check itself failed. */
pcol_status pci_fault_error(struct pci_check *check, const pcol_error *error, pcol_error *err);

/* The column, or NULL if it is absent, unreadable or untrusted. */
const struct pci_column *pci_check_column(const struct pci_check *check, const char *table,
                                          const char *name);
/* 1 if all columns of a table are readable and trusted. */
int pci_check_table(const struct pci_check *check, const char *table);
/* Reads up to PCI_CHECK_ROWS rows into buffer `to`; a NULL column yields nulls. *n is 0 if the read
 * fails, which is reported, or if the caller stopped the check. */
pcol_status pci_check_read(struct pci_check *check, const struct pci_column *column, uint64_t row,
                           uint64_t rows, int to, size_t *n, pcol_error *err);

/* As above, for row numbers that are used as indices: each is verified to be below `limit` again,
 * since a file may change during the check. A larger one is reported, and *n is 0. */
pcol_status pci_check_read_rows(struct pci_check *check, const struct pci_column *column,
                                uint64_t row, uint64_t rows, uint64_t limit, int to, size_t *n,
                                pcol_error *err);

/* Parts of the check. They return PCOL_OK unless the check itself fails. */
pcol_status pci_check_columns(struct pci_check *check, pcol_error *err);
pcol_status pci_check_structure(struct pci_check *check, const struct pci_column *column,
                                pcol_error *err);
pcol_status pci_check_schema(struct pci_check *check, pcol_error *err);
pcol_status pci_check_keys(struct pci_check *check, pcol_error *err);
pcol_status pci_check_stacks(struct pci_check *check, pcol_error *err);
pcol_status pci_check_nodes(struct pci_check *check, pcol_error *err);
pcol_status pci_check_labels(struct pci_check *check, pcol_error *err);
pcol_status pci_check_label_keys(struct pci_check *check, pcol_error *err);
pcol_status pci_check_label_rows(struct pci_check *check, pcol_error *err);
pcol_status pci_check_orders(struct pci_check *check, pcol_error *err);
pcol_status pci_check_zones(struct pci_check *check, pcol_error *err);
pcol_status pci_check_categories(struct pci_check *check, pcol_error *err);
pcol_status pci_check_sources(struct pci_check *check, pcol_error *err);
pcol_status pci_check_sums(struct pci_check *check, pcol_error *err);
pcol_status pci_check_function_sums(struct pci_check *check, pcol_error *err);
pcol_status pci_check_plain(struct pci_check *check, pcol_error *err);
pcol_status pci_check_model(struct pci_check *check, pcol_error *err);

/* Verify the structure of a file once, before logical tables, queries and exports: E_CORRUPT if a
 * known column is missing where its table has rows, or has another type, nulls or references than
 * the format allows; if label columns and label_keys disagree; if the numbers of value trees and of
 * the cells that refer to them differ; if a column's maximum is beyond the table that it refers to;
 * if the last row of sample_values or sample_locations refers to a missing sample, or the last row
 * of location_groups has no location. The cost is independent of rows, except for those of
 * label_keys. */
pcol_status pci_schema_verify(const pcol_file *file, pcol_error *err);
/* E_CORRUPT if others refer to rows that `table` lacks; called before it is listed, after
 * pci_schema_verify(). */
pcol_status pci_referrers_verify(const pcol_file *file, const char *table, pcol_error *err);
/* Called before rows are copied into another file: E_CORRUPT at the first fault that would be
 * copied and that no later step finds. Derived tables are skipped, since they are derived again.
 * whole: also checks trees, which otherwise are copied one by one, and the orders of sources' own
 * tables. */
pcol_status pci_check_before_copy(const pcol_file *file, int whole, pcol_error *err);

#endif
