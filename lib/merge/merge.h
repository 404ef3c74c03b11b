/*
 * merge.h - the content of a pcol file on its way into a builder
 */
#ifndef PCI_MERGE_MERGE_H
#define PCI_MERGE_MERGE_H

#include "builder/builder.h"
#include "model/row_details.h"
#include "model/time_overlap.h"
#include "reader/file.h"

#define PCI_CELLS 256u

/* A column that is read from its first row to its last; one that the file lacks is all null. The
 * struct is large: it belongs on the heap. */
struct pci_cells {
    const pcol_file *file;
    const struct pci_column *column; /* NULL: all null */
    uint64_t first, count;           /* the rows at hand */
    const struct pci_column *named;  /* the column that `name` is known of */
    int name;                        /* which pseudonyms its strings get; -1: none */
    int64_t value[PCI_CELLS];
    uint8_t valid[PCI_CELLS];
};

/* What becomes of a table's rows. */
enum pci_merge_how {
    PCI_MERGE_OTHERWISE, /* fed to the builder by other means, or made by it */
    PCI_MERGE_APPEND,    /* put behind those that the builder's table has */
    PCI_MERGE_UNIFY /* one row for equal content: what functions and location groups refer to */
};

enum pci_merge_labels {
    PCI_LABELS_NONE,
    PCI_LABELS_COPY, /* columns as they are: keys keep their order */
    PCI_LABELS_ROWS  /* row by row: without a shape, the order of keys would become another */
};

/* What of a file is copied, where that is not all. */
struct pci_pseudonyms;
struct pci_keep {
    const uint8_t *sources;   /* by row: 0 = stays behind; NULL: all stay */
    const uint8_t *samples;   /* by row; those of sources that stay */
    const uint8_t *locations; /* by row: 0 = its frame goes; NULL: all stay */
    const uint8_t *cut;       /* by row of stacks: 1 = its own frame goes; NULL: none */
    const uint8_t *types;     /* by row of sample_types; NULL: all stay */
    int drop_labels;          /* of samples: all, or those of these keys */
    const char *const *drop_keys;
    size_t drop_key_count;
    pcol_idle idle; /* samples of a waiting thread */
    uint64_t idle_tolerance_ns;
    int all_samples; /* those of sources that stay do, and so threads that have none do, too */
    int events;      /* markers, allocations and counters of what stays come along, */
    const uint8_t *threads; /* of these threads, by row; NULL: all */
    uint64_t thread_count;
    int has_range; /* samples that reach out of the range are cut to it */
    struct pci_range range;
    struct pci_pseudonyms *names; /* NULL: everything keeps its name */
    pcol_message_fn message;      /* what stays behind; may be NULL */
    void *context;
};

struct pci_merge {
    const pcol_file *file;
    pcol_builder *builder;
    const pcol_import_options *options; /* NULL: a copy without options of the user */
    const struct pci_keep *keep;        /* NULL: all */
    uint64_t first_source, last_source;
    int partial; /* not all sources or samples: what their samples do not need stays behind, and
                    so do the tables of formats */
    int alone;   /* the builder was empty */

    /* By row of the file: the builder's row, PCOL_NONE for those left behind. */
    uint32_t *strings; /* NULL if partial: they are looked up one by one */
    uint32_t *functions, *groups, *stacks, *types, *sources;
    uint32_t *label_keys, *label_shapes;
    /* Partial: samples that are copied (keep->samples, or those of the sources), and what of other
     * tables they need: of stacks, location_groups and functions, and by table of the file; NULL:
     * all. */
    const uint8_t *alive;
    uint8_t *alive_made, *wanted, *wanted_groups, *wanted_functions, **used;
    /* By sample: how many were copied before it; made if something asks where samples went. */
    uint64_t *positions;
    int of_samples; /* the tree that is copied is named by a sample */
    uint8_t *bare;  /* by source: the document around its tables stays behind */
    uint64_t string_count, function_count, group_count, stack_count, type_count, source_count;
    uint64_t label_key_count, label_shape_count;

    /* By table of the file: the builder's table, how many rows that had before, what becomes of the
     * rows, and for those that are unified their map. */
    uint32_t *tables;
    uint64_t *base;
    uint8_t *how, *labels;
    uint32_t **maps;
    uint32_t *order; /* the tables that are unified, in the order in which they can be */
    size_t order_count;
    uint64_t node_base, node_rows, integer_base, double_base;
    uint32_t *extra;     /* by column of samples: the builder's, where it is copied as it is */
    uint32_t extra_done; /* columns of samples that were looked at for it */
};

#define PCI_IS(type) (1u << (type))
#define PCI_IS_INT (PCI_IS(PCF_I64) | PCI_IS(PCF_U64) | PCI_IS(PCF_U32))

/* Prepare a column of a table (either may be missing) of one of some types; its checksums are
 * compared. */
pcol_status pci_cells_open(struct pci_cells *cells, const pcol_file *file, const char *table,
                           const char *column, unsigned types, pcol_error *err);
/* The same for a column at hand. */
pcol_status pci_cells_use(struct pci_cells *cells, const pcol_file *file,
                          const struct pci_column *column, pcol_error *err);
pcol_status pci_cells_get(struct pci_cells *cells, uint64_t row, int64_t *value, int *valid,
                          pcol_error *err);
/* A cell that names a row of a table of `rows` rows; PCOL_NONE if it is null. */
pcol_status pci_cells_row(struct pci_cells *cells, uint64_t row, uint64_t rows, uint32_t *value,
                          pcol_error *err);
/* A string's code in the builder; PCOL_NONE if the cell is null. */
pcol_status pci_cells_string(struct pci_cells *cells, const struct pci_merge *merge, uint64_t row,
                             uint32_t *string, pcol_error *err);

/* Rows of a table of the file, 0 if there is none. A table whose rows are mapped in memory may not
 * claim more of them than its file can hold in earnest: E_LIMIT. */
pcol_status pci_merge_rows(const pcol_file *file, const char *table, uint64_t *rows,
                           pcol_error *err);
pcol_status pci_merge_map(uint32_t **map, uint64_t rows, pcol_error *err);

/* stacks.c: strings; functions, groups and stacks */
pcol_status pci_merge_strings(struct pci_merge *merge, pcol_error *err);
pcol_status pci_merge_stacks(struct pci_merge *merge, pcol_error *err);

/* Rows of functions, location groups and stacks, and maps for them. */
pcol_status pci_merge_sizes(struct pci_merge *merge, pcol_error *err);
/* The rows of locations [*first, *end) of a group. cells: first_location. */
pcol_status pci_merge_line_range(struct pci_merge *merge, struct pci_cells *cells, uint64_t row,
                                 uint64_t location_rows, uint64_t *first, uint64_t *end,
                                 pcol_error *err);

/* source_meta.c: which rows of source_meta are copied; after pci_merge_unify() */
pcol_status pci_merge_meta(struct pci_merge *merge, pcol_error *err);

/* reachability.c: of a part, what its samples need */
pcol_status pci_merge_mark(struct pci_merge *merge, pcol_error *err);

/* events.c: of a part, the markers, allocations and counters that stay, into merge->used. */
pcol_status pci_merge_events(struct pci_merge *merge, pcol_error *err);

/* selection.c: what of the rows and columns of a part stays */
int pci_merge_keeps_source(const struct pci_merge *merge, uint64_t row);
int pci_merge_keeps_column(const struct pci_merge *merge, const struct pci_column *column);
/* Whether the rows of a table that are not fed to the builder one by one come along. */
int pci_merge_keeps_table(const struct pci_merge *merge, const struct pci_table *table);
int pci_merge_keeps_label(const struct pci_merge *merge, const char *table, pcol_str key);
/* Whether labels have to be looked at one by one to tell. */
int pci_merge_keeps_by_row(const struct pci_merge *merge, const struct pci_table *table);
/* Say what stays behind. */
void pci_keep_tell(const struct pci_merge *merge);
/* A string's code in the builder, or that of its pseudonym; PCOL_NONE: it has none and goes. */
pcol_status pci_keep_string(const struct pci_merge *merge, struct pci_cells *cells, pcol_str text,
                            uint32_t *string, pcol_error *err);

/* table_plan.c: where rows of tables will go and what becomes of them; asked before anything is
 * added. Then the tables whose rows are unified. */
pcol_status pci_merge_place(struct pci_merge *merge, pcol_error *err);
pcol_status pci_merge_unify(struct pci_merge *merge, pcol_error *err);

/* tables.c: columns and cells that are copied as they are, with what they refer to
 * translated; tables that are made of nothing else */
pcol_status pci_merge_column(struct pci_merge *merge, const struct pci_column *column,
                             uint32_t table, uint32_t *number, pcol_error *err);
pcol_status pci_merge_cell(struct pci_merge *merge, struct pci_cells *cells, uint32_t column,
                           uint64_t row, uint64_t to, pcol_error *err);
/* The same without setting it: bits of a cell of any type but BYTES. *valid is 0 also where what it
 * refers to is left behind. */
pcol_status pci_merge_bits(struct pci_merge *merge, struct pci_cells *cells, uint64_t row,
                           int64_t *bits, int *valid, pcol_error *err);
/* The builder's row for one of a table of the file; E_CORRUPT at the cell if there is none. */
pcol_status pci_merge_row(struct pci_merge *merge, const struct pci_table *to,
                          const struct pci_column *at, uint64_t at_row, uint64_t row, uint64_t *out,
                          int *left, pcol_error *err);
/* late: those that say where among the samples something stood, when these are copied. */
pcol_status pci_merge_tables(struct pci_merge *merge, int late, pcol_error *err);

/* samples.c */
pcol_status pci_merge_samples(struct pci_merge *merge, pcol_error *err);
/* Whether samples of a waiting thread are joined, or taken apart. */
int pci_merge_joins(const struct pci_merge *merge);
/* While joining: how far the times may lie from what even distances give; 0: any distance. */
uint64_t pci_merge_tolerance(const struct pci_merge *merge);
int pci_merge_takes_apart(const struct pci_merge *merge);
/* The column of a sample type's values, or NULL; a cell as a number, 0 for a null. */
const struct pci_column *pci_merge_values(const struct pci_merge *merge, uint64_t type);
pcol_status pci_merge_number(const pcol_file *file, const char *table, const char *column,
                             uint64_t row, uint32_t *number, pcol_error *err);

/* labels.c: keys and shapes; the labels of tables whose keys get another order */
pcol_status pci_merge_label_keys(struct pci_merge *merge, pcol_error *err);
int pci_merge_is_label(const char *column); /* label.K or label_shape */
struct pci_merge_label_rows {
    struct pci_merge *merge;
    struct pci_label_reader reader;
    uint32_t shape_column, table;
    uint32_t *columns; /* of the row made last */
    struct pci_cell_value *cells;
    size_t count, column_capacity, cell_capacity;
    uint32_t *entries;
    size_t entry_capacity;
};
pcol_status pci_label_rows_open(struct pci_merge_label_rows *rows, struct pci_merge *merge,
                                const struct pci_table *table, uint32_t to, pcol_error *err);
/* The cells that say the row's labels, in the builder's columns. */
pcol_status pci_label_rows_get(struct pci_merge_label_rows *rows, uint64_t row, pcol_error *err);
pcol_status pci_label_rows_put(struct pci_merge_label_rows *rows, uint64_t row, uint64_t to,
                               pcol_error *err);
void pci_label_rows_close(struct pci_merge_label_rows *rows);

/* row_content.c: the columns that are part of what a row of a unified table is */
struct pci_row_content {
    struct pci_merge *merge;
    const struct pci_table *table;
    uint32_t to;
    struct further_column *list;
    size_t list_count;
    struct pci_merge_label_rows *labels; /* NULL: none */
    uint32_t *columns;                   /* of the row made last */
    struct pci_cell_value *cells;
    size_t count, column_capacity, cell_capacity;
    int apart; /* the row has content that is not compared (trees, bytes): it stays apart */
};
/* All columns but those of the list, which ends in NULL; their columns in the builder are made. */
pcol_status pci_row_content_open(struct pci_row_content *further, struct pci_merge *merge,
                                 const struct pci_table *table, uint32_t to,
                                 const char *const *others, pcol_error *err);
pcol_status pci_row_content_row(struct pci_row_content *further, uint64_t row, pcol_error *err);
/* What is not compared, into a new row. */
pcol_status pci_row_content_rest(struct pci_row_content *further, uint64_t row, uint64_t to,
                                 pcol_error *err);
void pci_row_content_close(struct pci_row_content *further);

/* value_trees.c: trees */
pcol_status pci_merge_nodes(struct pci_merge *merge, pcol_error *err);
/* The builder's node for one of the file; if only some sources are copied, its tree is copied
 * now. */
pcol_status pci_merge_node(struct pci_merge *merge, uint64_t row, uint64_t *node, pcol_error *err);

/* source_order.c: source_rows; the order that a source had without saying so */
pcol_status pci_merge_orders(struct pci_merge *merge, pcol_error *err);
/* pcol_file.c: the whole of a file, or the sources first..last of it, into a builder */
pcol_status pci_merge_file(pcol_builder *builder, const pcol_file *file,
                           const pcol_import_options *options, uint64_t first_source,
                           uint64_t last_source, pcol_error *err);
/* A part. */
pcol_status pci_merge_kept(pcol_builder *builder, const pcol_file *file,
                           const struct pci_keep *keep, pcol_error *err);

#endif
