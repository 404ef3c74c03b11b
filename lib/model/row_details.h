/*
 * row_details.h - readers of labels, nodes and source rows
 *
 * Counterparts of builder/rows.h for exporters, queries and views. All data is verified when read:
 * a label column of the wrong type, a shape out of range, or a node that is not after its parent is
 * E_CORRUPT with table, column and row.
 */
#ifndef PCI_MODEL_ROW_DETAILS_H
#define PCI_MODEL_ROW_DETAILS_H

#include "builder/rows.h"
#include "model/table.h"

/* ---- labels */

struct pci_label_key { /* row K of label_keys, of one table */
    uint32_t number;   /* K */
    pcol_str key, unit;
    uint8_t has_unit;
    uint8_t kind;     /* enum pci_label_kind */
    uint8_t unwanted; /* set by the caller: values of this key are not read and are undefined */
    uint32_t occurrence;
    const struct pci_column *column; /* label.K; NULL for kinds without a column */
};

struct pci_label_reader {
    const pcol_file *file;
    const struct pci_table *table;
    struct pci_label_key *keys; /* in order of K */
    size_t key_count;
    /* of the last row: */
    const struct pci_label_cell *cells;
    size_t cell_count;
    int has_shape;  /* 0: the shape is null */
    int same;       /* the cells are those of the previous row, except for their values */
    uint64_t extra; /* root node or PCI_NO_NODE */
    struct pci_label_state *state;
};

struct pci_label_cell {
    const struct pci_label_key *key; /* NULL: a member of `extra` */
    uint8_t joined;
    uint64_t node; /* the member if key is NULL; otherwise private to the reader */
    union {
        int64_t i64;
        double f64;
        pcol_str text;
    } as;
};

/* Opens the labels of `table`; a table without labels yields rows without cells. The caller calls
 * pci_labels_close(), also after a failure. */
pcol_status pci_labels_open(struct pci_label_reader *reader, const pcol_file *file,
                            const char *table, pcol_error *err);
/* The keys of `table`, without opening their columns; name: those with this string of the file as
 * name, or NULL. E_LIMIT: these columns have implausibly many values. O(rows of label_keys). The
 * caller frees *keys, also after a failure. */
pcol_status pci_label_keys_read(const pcol_file *file, const char *table, const uint64_t *name,
                                struct pci_label_key **keys, size_t *count, pcol_error *err);
/* The row's entries in the source's order: those of its shape, or, if it has none, all that have a
 * value and then all members of `extra`. Fast for ascending rows (columns are read in batches).
 *
 *     PCI_TRY(pci_labels_row(&labels, row, err));
 *     for (size_t i = 0; i < labels.cell_count; i++)
 *         if (labels.cells[i].key) ... key->key, key->kind, as.text or as.i64
 *         else ... pci_node_get(file, labels.cells[i].node, &node, err)
 */
pcol_status pci_labels_row(struct pci_label_reader *reader, uint64_t row, pcol_error *err);
/* 1 if the row has the same cells as the last row, except for their values; 0 also if that is not
 * known without further reads. */
int pci_labels_same_shape(const struct pci_label_reader *reader, uint64_t row);
/* Number of rows from `row` on, 1 to `most`, with the same cells in this sense, as far as known
 * without further reads. */
size_t pci_labels_shape_run(const struct pci_label_reader *reader, uint64_t row, size_t most);
/* Number of rows from the last row on, 1 to `most`, that differ from it only in cells for which
 * pci_labels_run_values() returns values, as far as known without further reads. */
size_t pci_labels_run_length(const struct pci_label_reader *reader, uint64_t row, size_t most);
/* Values of a cell (bits of a double) in the rows of such a run, valid until the next row is read;
 * NULL if all have the value of the first. */
const int64_t *pci_labels_run_values(const struct pci_label_reader *reader, size_t cell,
                                     uint64_t row);
void pci_labels_close(struct pci_label_reader *reader);
/* Number of leading cells, of `most`, that equal the first; that have a value. */
size_t pci_run_of_equal(const int64_t *values, const uint8_t *valid, size_t most);
size_t pci_run_of_valid(const uint8_t *valid, size_t most);
/* Types that label.K of a kind may have (0: no column) and the table that it refers to, or NULL;
 * the kind with a name, -1 if unknown. */
unsigned pci_label_types(int kind, const char **references);
int pci_label_kind_by_name(pcol_str name);
/* 1 if a column is named "label." and digits. */
int pci_is_label_column(const char *name);
/* 1 for a column NAME_ulp, what the source's double has beyond the integer in NAME. */
int pci_is_remainder(const char *name);

/* ---- nodes */

struct pci_node_value {
    uint64_t row, parent; /* parent: PCI_NO_NODE for a root */
    uint8_t has_key, tag;
    uint8_t has_text, reversed; /* reversed: ROW of a stack, outermost first */
    pcol_str key, text;         /* text of INTEGER, DOUBLE: the unit of a label, if has_text */
    int64_t integer;
    double number;
    uint64_t first, end; /* INTEGERS, DOUBLES: rows of node_integers or node_doubles */
};
pcol_status pci_node_get(const pcol_file *file, uint64_t row, struct pci_node_value *node,
                         pcol_error *err);
/* Reader of many nodes; it needs no close. */
struct pci_node_reader {
    const pcol_file *file;
    const struct pci_column *columns[7];
    uint64_t rows, integers, doubles; /* of the three tables */
};
pcol_status pci_nodes_open(struct pci_node_reader *reader, const pcol_file *file, pcol_error *err);
/* limits.c: verifies, once for each file, that its arrays have no more elements than rows: each is
 * of one array, or a kilobyte could have thousands of arrays with millions of elements. */
pcol_status pci_check_array_sizes(const pcol_file *file, const struct pci_column *tag,
                                  const struct pci_column *size, pcol_error *err);
pcol_status pci_nodes_get(const struct pci_node_reader *reader, uint64_t row,
                          struct pci_node_value *node, pcol_error *err);
/* The first member of a node, or the next member; PCI_NO_NODE at the end. O(descendants of the
 * skipped member). */
pcol_status pci_nodes_first(const struct pci_node_reader *reader, uint64_t parent, uint64_t *member,
                            pcol_error *err);
pcol_status pci_nodes_next(const struct pci_node_reader *reader, uint64_t parent, uint64_t *member,
                           pcol_error *err);
/* Reads elements of a typed array (bits of doubles), at most PCI_BATCH. */
pcol_status pci_nodes_elements(const struct pci_node_reader *reader,
                               const struct pci_node_value *node, uint64_t from, size_t count,
                               int64_t *values, pcol_error *err);

/* ---- source rows */

/* The order of a source's own table: entry i is row rows[i] of the file's table, with id ids[i]. */
struct pci_order {
    int known; /* 0: not in source_rows; the arrays are NULL */
    uint64_t count;
    uint64_t *rows, *ids;
    uint8_t *has_id;
};
/* thread: PCOL_NONE for a table of no thread. The first call for a file indexes source_rows in
 * O(its rows); then the cost is O(entries). Row numbers are verified to be within the target table.
 * The caller clears *order, also after a failure. */
pcol_status pci_order_read(const pcol_file *file, uint32_t source, uint32_t thread,
                           const char *table, struct pci_order *order, pcol_error *err);
void pci_order_clear(struct pci_order *order);
/* Verifies all of source_rows. */
pcol_status pci_verify_source_rows(const pcol_file *file, pcol_error *err);
/* source_ranges.c: the rows of a table that belong to a source. The first call for a table costs
 * O(its rows). scattered: rows of other sources are between them. An absent table has no rows. */
struct pci_source_range {
    uint64_t first, count;
    int scattered;
};
pcol_status pci_source_rows(const pcol_file *file, const char *table, uint64_t source,
                            struct pci_source_range *range, pcol_error *err);

/* For data_models.c. */
struct pci_source_index;
void pci_source_index_free(struct pci_source_index *index);
struct pci_order_index;
void pci_order_index_free(struct pci_order_index *index);

#endif
