/*
 * rows.h - builder functions for importers of rich formats: interned rows, labels, nodes, source
 * rows
 *
 *   - interned rows: a table whose rows are unique by content (mappings, native symbols, ...);
 *   - labels: a row's open-ended keys as typed columns (spec.md, "Open keys");
 *   - nodes: a generic tree for data without a typed column (spec.md, "Nodes");
 *   - source rows: the order and the ids of the rows in a source.
 * The builder owns the state, so that several sources share it. Tables of every builder
 * (PCI_T_SAMPLES, ...) are in builder/builder.h, others come from pcol_builder_table(). Tests:
 * tests/unit/test_row_details.c.
 */
/* Example of an importer:
 *
 *     pci_builder_intern(b, mappings, columns, cells, 4, 0, &mapping, NULL, err);
 *     pci_builder_function(b, &uses, &f, columns, cells, 2, &function, &is_new, err);
 *     pci_builder_group(b, NULL, &g, NULL, NULL, 0, &group, NULL, err);
 *     pcol_builder_sample(b, &sample, &row, err);
 *     struct pci_label labels[] = {
 *         {.key = bytes, .unit = unit, .kind = PCI_LABEL_INTEGER, .as.i64 = 8},
 *         {.key = k, .unit = PCOL_NONE, .kind = PCI_LABEL_STRING, .text = x}};
 *     pci_builder_labels(b, PCI_T_SAMPLES, row, labels, 2, NULL, err);
 *     pci_json_to_nodes(&json, b, PCI_NO_NODE, PCOL_NONE, &node, err);
 *     pci_builder_extra(b, PCI_T_SOURCES, source, node, err);
 *     pci_builder_source_row(b, &(struct pci_source_row){.source = source, .thread = PCOL_NONE,
 *         .table = name, .target = PCI_T_GROUPS + 1, .ordinal = i, .row = group}, err);
 */
#ifndef PCI_BUILDER_ROWS_H
#define PCI_BUILDER_ROWS_H

#include "util/error.h"

/* As pcol_builder_column(), which refuses the columns that the builder itself creates. */
pcol_status pci_builder_column(pcol_builder *builder, uint32_t table, const char *name,
                               pcol_type type, uint32_t references, uint32_t *column,
                               pcol_error *err);

/* ---- interned rows */

/* A cell: of a string column the string's code, of an f64 column the bits. */
struct pci_cell_value {
    int64_t bits;
    uint8_t valid;
};

/* Row of `table` with these cells, appended if there is none. *is_new (may be NULL): it was.
 * columns: from pcol_builder_column(), of any type but BYTES, in any order; omitted columns are
 * null, and a null bool is false. `variant` distinguishes rows with equal cells and is not stored.
 * A source fills a table either by this function or row by row, never both. Columns that no call
 * lists in `columns` (extra, labels) are set separately, for new rows only. */
pcol_status pci_builder_intern(pcol_builder *builder, uint32_t table, const uint32_t *columns,
                               const struct pci_cell_value *cells, size_t count, uint32_t variant,
                               uint32_t *row, int *is_new, pcol_error *err);

/* The column limit of a mapping, from 0, whose addresses are offsets in its file. */
#define PCI_ALL_OFFSETS ((INT64_C(1) << 53) - 1)

/* Another input begins: equal rows of one input that must stay distinct get variants 0, 1, ..., so
 * that those of several inputs are merged and those of one never. */
void pci_builder_begin_input(pcol_builder *builder);
/* Returns `status`. After a failure a part of the input may be in the builder: it can only be
 * freed. */
pcol_status pci_builder_end_input(pcol_builder *builder, pcol_status status);

/* A function or group with cells in further columns of `functions` or `location_groups`. The cells
 * are part of its key and are set if it is new (*is_new may be NULL). `distinct`: every call for an
 * input returns another row, and `variant` is ignored; else equal rows are merged. Importers
 * that call pcol_builder_function() directly use variant 0, or number the duplicates of their
 * input from 0. */
pcol_status pci_builder_function(pcol_builder *builder, int distinct, const pcol_function *function,
                                 const uint32_t *columns, const struct pci_cell_value *cells,
                                 size_t count, uint32_t *row, int *is_new, pcol_error *err);
pcol_status pci_builder_group(pcol_builder *builder, int distinct, const pcol_group *group,
                              const uint32_t *columns, const struct pci_cell_value *cells,
                              size_t count, uint32_t *row, int *is_new, pcol_error *err);
/* pci_builder_intern() with distinct rows for every call, as above. */
pcol_status pci_builder_intern_distinct(pcol_builder *builder, uint32_t table,
                                        const uint32_t *columns, const struct pci_cell_value *cells,
                                        size_t count, uint32_t *row, int *is_new, pcol_error *err);

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
    PCI_LABEL_WHOLE, /* the same value, a double, as an integer */
    PCI_LABEL_NAME,  /* T = location_groups: the value is in the frame itself */
    PCI_LABEL_FILENAME,
    PCI_LABEL_LINE,
    PCI_LABEL_COLUMN,
    PCI_LABEL_OWNSTACK, /* T = samples; no column: the row's own stack as a list, innermost first */
    PCI_LABEL_OWNRSTACK, /* the same list, innermost last */
    PCI_LABEL_OWNFRAME,  /* number: depth in the row's own stack, 0 is the innermost */
    PCI_LABEL_OWNNAME,   /* string: function name of the frame at that depth */
    PCI_LABEL_EXTRA,     /* no key: the next member of the row's `extra` */
    PCI_LABEL_KIND_COUNT
};
extern const char *const pci_label_kind_names[PCI_LABEL_KIND_COUNT]; /* "" for EXTRA */

/* One label of a row, in the source's order. Equal keys of a row get occurrences 0, 1, ... */
struct pci_label {
    uint32_t key;  /* string */
    uint32_t unit; /* string or PCOL_NONE */
    uint8_t kind;
    uint8_t joined; /* this entry and the next one are one label of the source */
    uint32_t text;  /* STRING, BIGINT */
    union {
        int64_t i64; /* INTEGER, BOOL, FRAME, STACK, RSTACK, OWNFRAME, OWNNAME */
        double f64;
    } as;
};

/* Set the labels of row `row` of `table`; rows ascend, each at most once. A key beyond the table's
 * 512th is added to the row's `extra`, a root node of object kind. *extra is that root if the
 * caller has created it, else PCI_NO_NODE, and may be set here; the caller then sets the cell by
 * pci_builder_extra(). With extra = NULL this function creates the root and sets the cell. Members
 * that the caller itself adds to `extra` are entries of kind EXTRA, added in the order of entries;
 * members that are not labels (unknown fields) are added after this call. count = 0: the row has an
 * empty list of labels, a shape without keys; a row without a call has a null shape. */
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
    PCI_NODE_TABLE, /* placeholder of data that is in a table of its own */
    PCI_NODE_ROW    /* row `as.i64` of the table with name `text` */
};

struct pci_new_node {
    uint64_t parent; /* PCI_NO_NODE: a root */
    uint32_t key;    /* string; used if the parent is an OBJECT */
    uint8_t tag;
    uint8_t reversed; /* ROW of stacks: outermost frame first (a label of kind rstack) */
    uint8_t has_unit; /* INTEGER, DOUBLE, OBJECT that represents a label: its unit is `text` */
    uint32_t text;    /* STRING, BIG, BYTES: the value; TABLE, ROW: the table's name */
    union {
        int64_t i64;
        double f64;
    } as;
};
/* Append a node; its parent is an ARRAY or OBJECT appended before. Several trees may grow at the
 * same time: rows are sorted into pre-order when the file is written. */
pcol_status pci_builder_node(pcol_builder *builder, const struct pci_new_node *node, uint64_t *row,
                             pcol_error *err);
/* Append an element to an INTEGERS or DOUBLES node, which starts empty and is the latest of its
 * kind. */
pcol_status pci_builder_node_integer(pcol_builder *builder, uint64_t node, int64_t value,
                                     pcol_error *err);
pcol_status pci_builder_node_double(pcol_builder *builder, uint64_t node, double value,
                                    pcol_error *err);
/* Set cell `extra` of a row to the root of a tree, which no other cell refers to. */
pcol_status pci_builder_extra(pcol_builder *builder, uint32_t table, uint64_t row, uint64_t node,
                              pcol_error *err);

/* ---- source rows */

/* A source may omit source_rows for one of its tables only if it is the file's only source and its
 * table is our rows in order, with the ids of the id column. In a builder with an earlier source
 * (*source > 0) it appends them for every table whose order or ids its exporter needs. If a pcol
 * file of one source is merged with others, the tables whose rows it omitted are looked up in
 * source_orders of formats/registry.c. */
struct pci_source_row {
    uint32_t source, thread; /* thread: PCOL_NONE if the table does not belong to a thread */
    uint32_t table;          /* string: the source's name of its table */
    uint32_t target;         /* the table of `row`: its number + 1 */
    uint32_t has_id;
    uint64_t ordinal, row, id;
};
/* Append to source_rows. Rows of one (source, thread, table) are consecutive, ordinals 0, 1, ... */
pcol_status pci_builder_source_row(pcol_builder *builder, const struct pci_source_row *row,
                                   pcol_error *err);
/* Append rows[0], rows[1], ... as ordinals row->ordinal, ..., without ids; row->row is ignored.
 * Much faster than single calls. */
pcol_status pci_builder_source_rows(pcol_builder *builder, const struct pci_source_row *row,
                                    const uint32_t *rows, uint64_t count, pcol_error *err);
/* The same with ids[i] where has_id[i]; has_id may be NULL. At most PCI_SOURCE_BATCH rows. */
#define PCI_SOURCE_BATCH 512u
pcol_status pci_builder_source_batch(pcol_builder *builder, const struct pci_source_row *row,
                                     const int64_t *rows, const int64_t *ids, const uint8_t *has_id,
                                     size_t count, pcol_error *err);
/* Append a whole table whose rows are `count` of ours from row->row on, in order and under our ids;
 * ordinal and id of *row are ignored. Such rows matter only with several sources: they are deferred
 * until the builder gets a second one. Each source calls this once for each of its tables. */
pcol_status pci_builder_source_table(pcol_builder *builder, const struct pci_source_row *row,
                                     uint64_t count, pcol_error *err);
/* Append to source_columns. form: string or PCOL_NONE. */
pcol_status pci_builder_source_column(pcol_builder *builder, uint32_t source, uint32_t thread,
                                      uint32_t table, uint32_t column, uint32_t form,
                                      pcol_error *err);

#endif
