/*
 * check.h - one run of pcol_file_check()
 *
 * A rule is a loop over rows that reports through a tally: the first PCI_CHECK_SAME of its faults
 * are reported one by one, the rest is counted and summed up. Columns that cannot be trusted (wrong
 * checksum, undecodable) are marked, and the rules that would build on them are left out, so that
 * one flipped bit does not come out as a thousand faults.
 */
#ifndef PCI_CHECK_H
#define PCI_CHECK_H

#include "model/table.h"

#define PCI_CHECK_ROWS 8192u /* read at a time */
#define PCI_CHECK_SAME 20u
#define PCI_CHECK_BUFFERS 3

struct pci_check {
    const pcol_file *file;
    pcol_check_depth depth;
    pcol_fault_fn report;
    void *context;
    uint64_t faults;
    int stop;           /* the caller has seen enough */
    int copied;         /* only what copying builds on: nothing that is made anew */
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

/* Report a fault of the rule at a row, or PCOL_NOWHERE. */
void pci_fault(struct pci_tally *tally, uint64_t row, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Say how many faults there were beyond those reported. */
void pci_tally_end(struct pci_tally *tally);
/* Report an error that reading gave, at the place that it names. E_NO_MEMORY and E_IO are returned
 * instead: the check itself has failed. */
pcol_status pci_fault_error(struct pci_check *check, const pcol_error *error, pcol_error *err);

/* A column that is there, can be read and is trusted; else NULL. */
const struct pci_column *pci_check_column(const struct pci_check *check, const char *table,
                                          const char *name);
/* Whether all columns of a table can be read and are trusted. */
int pci_check_table(const struct pci_check *check, const char *table);
/* Up to PCI_CHECK_ROWS rows into buffer number `to`; a NULL column gives nulls. *n is 0 if they
 * cannot be read, which is reported, or if the caller has seen enough. */
pcol_status pci_check_read(struct pci_check *check, const struct pci_column *column, uint64_t row,
                           uint64_t rows, int to, size_t *n, pcol_error *err);

/* The same for numbers of rows that will be used to look things up: each is below `limit`. That was
 * found before, but a file may be written to while it is checked. One that is not is reported, and
 * *n is 0. */
pcol_status pci_check_read_rows(struct pci_check *check, const struct pci_column *column,
                                uint64_t row, uint64_t rows, uint64_t limit, int to, size_t *n,
                                pcol_error *err);

/* The parts. PCOL_OK, whatever they find, unless the check itself fails. */
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
pcol_status pci_check_sums(struct pci_check *check, pcol_error *err);
pcol_status pci_check_function_sums(struct pci_check *check, pcol_error *err);
pcol_status pci_check_plain(struct pci_check *check, pcol_error *err);
pcol_status pci_check_model(struct pci_check *check, pcol_error *err);

/* Structure of a file, verified once, before logical tables, queries and exports are made of it:
 * E_CORRUPT if a known column is missing where its table has rows, is of another type, may hold
 * nulls that it cannot hold or refers to another table; if columns of labels and label_keys
 * disagree, or trees of nodes and cells that refer to them in number; if the last row of sample_values or sample_locations refers to a missing sample. Cost:
 * independent of rows, but for those of label_keys. */
pcol_status pci_schema_verify(const pcol_file *file, pcol_error *err);
/* E_CORRUPT if tables of code or sources refer to rows that `table` lacks, before it is listed. */
pcol_status pci_referrers_verify(const pcol_file *file, const char *table, pcol_error *err);
/* Before the rows of a file are copied into another: E_CORRUPT at the first fault of the kind that
 * would go with them, and that no later step meets. What is derived is made anew, so its faults are
 * none here. whole: trees, which are else copied one by one, and the orders of sources' own tables,
 * too. */
pcol_status pci_check_copied(const pcol_file *file, int whole, pcol_error *err);

#endif
