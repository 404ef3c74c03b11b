/*
 * joins.h - joined tables: names in addition to the ids of a table (pcol_table_joined())
 *
 * A joined table has the columns of its table, and before each column of ids those that the ids
 * stand for. Their cells are cells of other tables (PCI_JOIN_CELL), or texts composed of several
 * (is_composed), which the reader keeps until pci_join_release_texts().
 * Tests: tests/unit/test_joins.c, suite arrow, tests/cli/cat.test, fuzz target scan.
 */
#ifndef PCI_MODEL_JOINS_H
#define PCI_MODEL_JOINS_H

#include "model/table.h"

enum pci_join_kind {
    PCI_JOIN_CELL,  /* a cell of the row that has the id */
    PCI_JOIN_FRAME, /* the name of the frame of a location: frame_names.h */
    PCI_JOIN_STACK  /* the names of the frames of a stack */
};

enum { PCI_JOIN_PATHS = 2 };

/* A cell of the row that has an id, or of the row that its cell `via` names. */
struct pci_join_path {
    const pcol_column *via;  /* ids from 1; NULL: none */
    const pcol_column *cell; /* NULL: the file has no such column */
};

struct pci_join {
    enum pci_join_kind kind;
    const pcol_column *ids; /* of the joined table */
    int64_t first_id;       /* that of row 0 */
    /* FRAME: null where `ids` are; the location is the table's own row, or that of a map of v1. */
    int by_row;
    const uint32_t *rows;
    struct pci_join_path paths[PCI_JOIN_PATHS]; /* CELL: the first that is not null */
    const char *documentation;
};

pcol_status pci_join_reader_open(const pcol_table *table, struct pci_join_reader **reader,
                                 pcol_error *err);
void pci_join_reader_close(struct pci_join_reader *reader);
uint64_t pci_join_text_bytes(const struct pci_join_reader *reader);
void pci_join_release_texts(struct pci_join_reader *reader);

/* As pci_rows_read_*(), of columns with a join. */
pcol_status pci_join_read_bits(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                               size_t count, int64_t *values, uint8_t *valid, pcol_error *err);
pcol_status pci_join_read_str(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                              size_t count, pcol_str *values, uint8_t *valid, pcol_error *err);
pcol_status pci_join_read_codes(const struct pci_rows *rows, const pcol_column *column,
                                uint64_t row, size_t count, int64_t *codes, uint8_t *valid,
                                pcol_error *err);
/* Verifies the checksums of all that reading the whole column reads. */
pcol_status pci_join_verify(const pcol_column *column, pcol_error *err);
/* *yes: composed texts are UTF-8 if those of the pool are: no other texts are parts of them. */
pcol_status pci_join_is_of_pool(const pcol_file *file, int *yes, pcol_error *err);

#endif
