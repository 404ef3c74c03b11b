/*
 * rows.h - labels, nodes and source rows, read back
 *
 * The counterparts of core/rows.h for exporters, queries and views. All of it is checked on the way:
 * a label column of the wrong type, a shape out of range or a node whose parent is not before it is
 * E_CORRUPT with table, column and row.
 */
#ifndef PCI_MODEL_ROWS_H
#define PCI_MODEL_ROWS_H

#include "core/rows.h"
#include "model/table.h"

/* ---- labels */

struct pci_label_key { /* row K of label_keys, of one table */
    uint32_t number;   /* K */
    pcol_str key, unit;
    uint8_t has_unit;
    uint8_t kind; /* enum pci_label_kind */
    uint32_t occurrence;
    const struct pci_column *column; /* label.K; NULL for kinds without a column */
};

struct pci_label_reader {
    const pcol_file *file;
    const struct pci_table *table;
    struct pci_label_key *keys; /* in order of K */
    size_t key_count;
    /* of the row asked for last: */
    const struct pci_label_cell *cells;
    size_t cell_count;
    int has_shape;  /* 0: the shape is null */
    uint64_t extra; /* root node or PCI_NO_NODE */
    struct pci_label_state *state;
};

struct pci_label_cell {
    const struct pci_label_key *key; /* NULL: the next member of `extra` */
    uint8_t joined;
    union {
        int64_t i64;
        double f64;
        pcol_str text;
    } as;
};

/* Prepare to read the labels of `table`; a table without any gives rows without cells. */
pcol_status pci_labels_open(struct pci_label_reader *reader, const pcol_file *file,
                            const char *table, pcol_error *err);
/* The row's entries in the source's order. Fast for ascending rows (columns are read in batches). */
pcol_status pci_labels_row(struct pci_label_reader *reader, uint64_t row, pcol_error *err);
void pci_labels_close(struct pci_label_reader *reader);

/* ---- nodes */

struct pci_node_value {
    uint64_t row, parent; /* parent: PCI_NO_NODE for a root */
    uint8_t has_key, tag;
    pcol_str key, text;
    int64_t integer;
    double number;
    uint64_t first, end; /* INTEGERS, DOUBLES: rows of node_integers or node_doubles */
};
pcol_status pci_node_get(const pcol_file *file, uint64_t row, struct pci_node_value *node,
                         pcol_error *err);

/* ---- source rows */

/* What a source's own table was, rebuilt: entry i is row rows[i] of ours with id ids[i]. */
struct pci_order {
    int known; /* 0: no rows in source_rows; the arrays are NULL then */
    uint64_t count;
    uint64_t *rows, *ids;
    uint8_t *has_id;
};
/* thread: PCOL_NONE for a table that is not of a thread. Cost: O(rows of source_rows), indexed on the first call. */
pcol_status pci_order_of(const pcol_file *file, uint32_t source, uint32_t thread,
                         const char *table, struct pci_order *order, pcol_error *err);
void pci_order_clear(struct pci_order *order);

#endif
