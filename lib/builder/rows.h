/*
 * rows.h - tables of distinct rows, open keys and trees while a file is built
 *
 * What every importer of a rich format needs, once for all of them:
 *   - interned rows: a table whose rows are unique by content (mappings, native symbols, ...);
 *   - labels: a row's open-ended keys as typed columns (spec.md, "Open keys");
 *   - nodes: the generic tree for what fits no typed column (spec.md, "Nodes");
 *   - source rows: in which order a source had the rows, and under which ids.
 * The state lives in the builder, so several sources share it. An importer's day:
 *
 *     pci_builder_intern(b, mappings, columns, cells, 4, 0, &mapping, NULL, err);
 *     pci_builder_function(b, &repeats, &f, columns, cells, 2, &function, &is_new, err);
 *     pci_builder_group(b, NULL, &g, NULL, NULL, 0, &group, NULL, err);
 *     pcol_builder_sample(b, &sample, &row, err);
 *     struct pci_label labels[] = {
 *         {.key = bytes, .unit = unit, .kind = PCI_LABEL_INTEGER, .as.i64 = 8},
 *         {.key = k, .unit = PCOL_NONE, .kind = PCI_LABEL_STRING, .text = x}};
 *     pci_builder_labels(b, PCI_T_SAMPLES, row, labels, 2, NULL, err);
 *     pci_json_to_nodes(&json, b, PCI_NO_NODE, PCOL_NONE, &node, err);      what fits no column
 *     pci_builder_extra(b, PCI_T_SOURCES, source, node, err);
 *     pci_builder_source_row(b, &(struct pci_source_row){.source = source, .thread = PCOL_NONE,
 *         .table = name, .target = PCI_T_GROUPS + 1, .ordinal = i, .row = group}, err);
 *
 * Numbers of the builder's own tables (PCI_T_SAMPLES, ...) are in builder/builder.h; others come
 * from
 * pcol_builder_table().
 */
#ifndef PCI_BUILDER_ROWS_H
#define PCI_BUILDER_ROWS_H

#include "util/error.h"

/* ---- interned rows */

/* A cell: of a string column a string's code, of an f64 column the bits. */
struct pci_cell_value {
    int64_t bits;
    uint8_t valid;
};

/* The row of `table` that has these cells; a new one if there is none. columns: numbers from
 * pcol_builder_column(), of any type but BYTES, in any order; columns that are left out count as
 * null, and a null bool as false. `variant` tells apart rows that are equal in all cells; it is not
 * stored. A source fills a table either by this or row by row, never both; only columns that no
 * call names among `columns` (extra, labels) are set beside it, where *is_new says so (may be
 * NULL). */
pcol_status pci_builder_intern(pcol_builder *builder, uint32_t table, const uint32_t *columns,
                               const struct pci_cell_value *cells, size_t count, uint32_t variant,
                               uint32_t *row, int *is_new, pcol_error *err);

/* How often one source has named each row of a table of ours: equal rows of one source that must
 * stay apart are numbered, so that those of several sources become one, and those of one never.
 * Start with zeros, one for each source and table. */
struct pci_row_uses {
    uint32_t *count; /* by row */
    size_t capacity;
};
void pci_row_uses_clear(struct pci_row_uses *repeats);

/* A function or group with cells in further columns of `functions` or `location_groups`, which are
 * part of what it is and are set if it is new (*is_new may be NULL). With `repeats` every call of a
 * source gives a row that no other call of this source gave, and `variant` is not looked at;
 * without (NULL) equal rows become one. Importers that call pcol_builder_function() directly leave
 * variant 0 or number the duplicates of their source from 0 themselves. */
pcol_status pci_builder_function(pcol_builder *builder, struct pci_row_uses *repeats,
                                 const pcol_function *function, const uint32_t *columns,
                                 const struct pci_cell_value *cells, size_t count, uint32_t *row,
                                 int *is_new, pcol_error *err);
pcol_status pci_builder_group(pcol_builder *builder, struct pci_row_uses *repeats,
                              const pcol_group *group, const uint32_t *columns,
                              const struct pci_cell_value *cells, size_t count, uint32_t *row,
                              int *is_new, pcol_error *err);
/* The same for interned tables. */
pcol_status pci_builder_intern_distinct(pcol_builder *builder, struct pci_row_uses *repeats,
                                        uint32_t table, const uint32_t *columns,
                                        const struct pci_cell_value *cells, size_t count,
                                        uint32_t *row, int *is_new, pcol_error *err);

/* ---- labels */

/* Kinds of label_keys.kind, by the names of spec.md. */
enum pci_label_kind {
    PCI_LABEL_STRING,
    PCI_LABEL_INTEGER,
    PCI_LABEL_DOUBLE,
    PCI_LABEL_BIGINT,
    PCI_LABEL_BOOL,
    PCI_LABEL_NULL,
    PCI_LABEL_EMPTY,
    PCI_LABEL_FRAME, /* number: row of location_groups */
    PCI_LABEL_STACK, /* number: pcol_builder_stack() */
    PCI_LABEL_RSTACK,
    PCI_LABEL_VALUE, /* no column: the value is a value of the sample */
    PCI_LABEL_NAME,  /* T = location_groups: the value stands in the frame itself */
    PCI_LABEL_FILENAME,
    PCI_LABEL_LINE,
    PCI_LABEL_COLUMN,
    PCI_LABEL_OWNSTACK,  /* T = samples; no column: the row's own stack, a list, innermost first */
    PCI_LABEL_OWNRSTACK, /* the same, innermost last */
    PCI_LABEL_OWNFRAME,  /* number: depth in the row's own stack, 0 is the innermost */
    PCI_LABEL_OWNNAME,   /* the same: a string, the name of that frame's function */
    PCI_LABEL_EXTRA,     /* no key: the next member of the row's `extra` */
    PCI_LABEL_KIND_COUNT
};
extern const char *const pci_label_kind_names[PCI_LABEL_KIND_COUNT]; /* "" for EXTRA */

/* One entry of a row, in the source's order. Equal keys of one row get occurrences 0, 1, ... */
struct pci_label {
    uint32_t key;  /* string */
    uint32_t unit; /* string or PCOL_NONE */
    uint8_t kind;
    uint8_t joined; /* this entry and the next stood in one label */
    uint32_t text;  /* STRING, BIGINT */
    union {
        int64_t i64; /* INTEGER, BOOL, FRAME, STACK, RSTACK, OWNFRAME, OWNNAME */
        double f64;
    } as;
};

/* The labels of row `row` of `table`; rows come in ascending order, each at most once. A key past
 * the table's 512th goes to the row's `extra`, a root node of object kind: *extra, if the caller
 * has one already, PCI_NO_NODE otherwise, is that root and may be set by this; the caller then sets
 * the cell by pci_builder_extra(). With extra = NULL both happens here. Members that the caller
 * puts into `extra` itself are entries of kind EXTRA, in order, and added in the order of entries;
 * those that are no labels (unknown fields) are added after this call. An empty list says that the
 * row has labels and none of them: a shape without keys (a row never given has a null shape). */
pcol_status pci_builder_labels(pcol_builder *builder, uint32_t table, uint64_t row,
                               const struct pci_label *labels, size_t count, uint64_t *extra,
                               pcol_error *err);

/* ---- nodes */

#define PCI_NO_NODE UINT64_MAX

enum pci_node_tag {
    PCI_NODE_NULL,
    PCI_NODE_FALSE,
    PCI_NODE_TRUE,
    PCI_NODE_INTEGER,
    PCI_NODE_DOUBLE,
    PCI_NODE_STRING,
    PCI_NODE_BIG,
    PCI_NODE_ARRAY,
    PCI_NODE_OBJECT,
    PCI_NODE_INTEGERS,
    PCI_NODE_DOUBLES,
    PCI_NODE_BYTES,
    PCI_NODE_TABLE, /* keeps the place of what lies in a table of its own */
    PCI_NODE_ROW    /* row `as.i64` of the table named by `text` */
};

struct pci_new_node {
    uint64_t parent; /* PCI_NO_NODE: a root */
    uint32_t key;    /* string; looked at where the parent is an OBJECT */
    uint8_t tag;
    uint8_t reversed; /* ROW of stacks: to be read outermost first (a label of kind rstack) */
    uint8_t has_unit; /* INTEGER, DOUBLE, OBJECT in place of a label: its unit is `text` */
    uint32_t text;    /* STRING, BIG, BYTES: the value; TABLE, ROW: the table's name */
    union {
        int64_t i64;
        double f64;
    } as;
};
/* Append a node; its parent is an ARRAY or OBJECT added before. Trees may grow side by side: rows
 * are put into pre-order when the file is written. */
pcol_status pci_builder_node(pcol_builder *builder, const struct pci_new_node *node, uint64_t *row,
                             pcol_error *err);
/* An INTEGERS or DOUBLES node begins empty (count 0) and takes elements one by one, before any
 * other node of its kind is begun. */
pcol_status pci_builder_node_integer(pcol_builder *builder, uint64_t node, int64_t value,
                                     pcol_error *err);
pcol_status pci_builder_node_double(pcol_builder *builder, uint64_t node, double value,
                                    pcol_error *err);
/* Cell `extra` of a row of a table: the root of a tree, which no other cell has. */
pcol_status pci_builder_extra(pcol_builder *builder, uint32_t table, uint64_t row, uint64_t node,
                              pcol_error *err);

/* ---- source rows */

/*
 * A source may leave source_rows out for one of its tables only if it is the file's only source and
 * its table is our rows in order, with the ids that the id column has. In a builder that has
 * another source before it (*source > 0) it gives them for every table whose order or ids its way
 * back needs.
 */
/* Beside that, a pcol file of one source may come to others: which tables its silence stands for is
 * then looked up in source_orders of formats/registry.c. */
struct pci_source_row {
    uint32_t source, thread; /* thread: PCOL_NONE where the table is not of a thread */
    uint32_t table;          /* string: the source's name of its table */
    uint32_t target;         /* which table of ours `row` is of: its number + 1 */
    uint32_t has_id;
    uint64_t ordinal, row, id;
};
/* Append to source_rows; those of one (source, thread, table) stand together, ordinals 0, 1, ... */
pcol_status pci_builder_source_row(pcol_builder *builder, const struct pci_source_row *row,
                                   pcol_error *err);
/* The same for rows[0], rows[1], ... as ordinals row->ordinal, ...; row->row and its id are not
 * looked at. A fraction of the cost of as many calls. */
pcol_status pci_builder_source_rows(pcol_builder *builder, const struct pci_source_row *row,
                                    const uint32_t *rows, uint64_t count, pcol_error *err);
/* The same for a whole table whose rows are `count` of ours from row->row on, in order, under the
 * ids that those have (ordinal and id of *row are not looked at). This says something only beside
 * other sources: it becomes rows when, and if, the builder gets a second one. Each source gives
 * those of its tables once. */
pcol_status pci_builder_source_table(pcol_builder *builder, const struct pci_source_row *row,
                                     uint64_t count, pcol_error *err);
/* Append to source_columns. form: string or PCOL_NONE. */
pcol_status pci_builder_source_column(pcol_builder *builder, uint32_t source, uint32_t thread,
                                      uint32_t table, uint32_t column, uint32_t form,
                                      pcol_error *err);

#endif
