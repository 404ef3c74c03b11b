/*
 * merge.h - copying of pcol files, whole or in part, into a builder
 *
 * pci_merge holds the maps from rows of the file to rows of the builder. Tests: suite merge,
 * tests/cli/filter.test, tests/unit/test_merged_files.c.
 */
#ifndef PCI_MERGE_MERGE_H
#define PCI_MERGE_MERGE_H

#include "builder/builder.h"
#include "model/row_details.h"
#include "model/time_overlap.h"
#include "reader/file.h"
#include "util/long_texts.h"

#define PCI_MERGE_BATCH 512u

/* Cursor of a column, read in ascending batches; an absent column is all null. The struct is large:
 * allocate it on the heap. */
struct pci_cells {
    const pcol_file *file;
    const struct pci_column *column; /* NULL: all null */
    uint64_t first, count;           /* rows of the current batch */
    int64_t value[PCI_MERGE_BATCH];
    uint8_t valid[PCI_MERGE_BATCH];
};

/* How the rows of a table are copied. */
enum pci_merge_action {
    PCI_MERGE_SPECIAL, /* through functions of the builder, or derived by it */
    PCI_MERGE_APPEND,  /* appended to the rows of the builder's table */
    PCI_MERGE_UNIFY    /* deduplicated by content: functions and groups refer to them */
};

enum pci_merge_labels {
    PCI_LABELS_NONE,
    PCI_LABELS_COPY, /* columns are copied: keys keep their order */
    PCI_LABELS_ROWS  /* row by row: without a shape, the order of keys would change */
};

/* Selection of the parts of a file to copy. */
struct pci_pseudonyms;
struct pci_added_frames;
struct pci_merge_selection {
    const uint8_t *sources;        /* by row: 0 = omitted; NULL: all */
    const uint8_t *samples;        /* by row, of the selected sources */
    const uint8_t *locations;      /* by row: 0 = frame is omitted; NULL: all */
    const uint8_t *omitted_frames; /* by row of stacks: 1 = the frame is omitted; NULL: none */
    const uint8_t *types;          /* by row of sample_types; NULL: all */
    int drop_labels;               /* of samples: all of them; otherwise those of drop_keys */
    const char *const *drop_keys;
    size_t drop_key_count;
    pcol_idle idle; /* treatment of idle samples */
    uint64_t idle_tolerance_ns;
    int all_samples;        /* all samples of the sources, and threads without samples */
    int events;             /* copy markers, allocations and counters */
    const uint8_t *threads; /* of these threads, by row; NULL: all */
    uint64_t thread_count;
    int has_range; /* samples that extend beyond the range are cut to it */
    struct pci_range range;
    struct pci_pseudonyms *names;         /* NULL: no pseudonyms */
    const struct pci_added_frames *added; /* frames that stacks get; NULL: none */
};

struct pci_merge {
    const pcol_file *file;
    pcol_builder *builder;
    const pcol_import_options *options;          /* NULL: a copy without options of the user */
    const struct pci_merge_selection *selection; /* NULL: all */
    const pcol_symbolize_options *symbols;       /* for nameless locations; NULL: none */
    uint64_t first_source, last_source;
    int partial;       /* a selection: unused rows and tables of formats are omitted */
    int alone;         /* the builder was empty */
    int omits_offsets; /* labels of perf that belong to lines by position were left out */

    /* By row of the file: row of the builder, PCOL_NONE if omitted. */
    uint32_t *strings;                  /* NULL if partial: strings are interned one by one */
    struct pci_text_memo *long_strings; /* if partial: by enum pci_anonymize */
    uint32_t *functions, *groups, *stacks, *types, *sources;
    uint32_t *label_keys, *label_shapes;
    /* If partial: copied samples (selection->samples, or those of the sources), and the rows that
     * they use, of stacks, location_groups and functions, and by table of the file; NULL: all. */
    const uint8_t *copied_samples;
    uint8_t *copied_samples_owned, *used_stacks, *used_groups, *used_functions, **used;
    /* By row of mappings: subtracted from its addresses (PCOL_IMPORT_REBASE); NULL: nothing. */
    uint64_t *mapping_bias;
    /* By sample: number of samples copied before it. Allocated if a table refers to positions of
     * samples. */
    uint64_t *sample_positions;
    struct pci_placed_stacks *placed; /* with added frames: `stacks` is filled on demand */
    int tree_of_sample;               /* the tree being copied belongs to a sample */
    uint64_t tree_sample;             /* its row */
    uint8_t *incomplete_sources;      /* by source: `extra` is not copied */
    const char **value_labels;        /* by source: value_label (schema.h); NULL: none is lost */
    uint32_t *programs; /* of a part, by source: the mapping of the program; PCOL_NONE: none */
    /* If partial, by source: the name of the order in source_rows that its document needs, or NULL;
     * NULL: none needs one. */
    const char **document_orders;
    uint64_t string_count, function_count, group_count, stack_count, type_count, source_count;
    uint64_t label_key_count, label_shape_count;

    /* By table of the file: the table of the builder, its rows before the merge, the action, and
     * the row map of a unified table. */
    uint32_t *tables;
    uint64_t *base;
    uint8_t *actions, *labels;
    uint32_t **row_maps;
    uint32_t *unify_order; /* tables to unify, in topological order */
    size_t unify_count;
    uint64_t node_base, node_rows, integer_base, double_base;
    uint32_t *sample_columns; /* by column of samples: the builder's column, if copied unchanged */
    uint32_t sample_columns_done; /* columns of samples processed so far */
};

#define PCI_IS(type) (1u << (type))
#define PCI_IS_INT (PCI_IS(PCF_I64) | PCI_IS(PCF_U64) | PCI_IS(PCF_U32))

/* Opens a column (absent tables and columns are all null) of one of some types, and verifies its
 * checksums. */
pcol_status pci_cells_open(struct pci_cells *cells, const pcol_file *file, const char *table,
                           const char *column, unsigned types, pcol_error *err);
/* Opens a given column; NULL: all null. */
pcol_status pci_cells_use(struct pci_cells *cells, const pcol_file *file,
                          const struct pci_column *column, pcol_error *err);
/* The cell of a row; reads its batch. */
pcol_status pci_cells_load(struct pci_cells *cells, uint64_t row, int64_t *value, int *valid,
                           pcol_error *err);
static inline pcol_status pci_cells_get(struct pci_cells *cells, uint64_t row, int64_t *value,
                                        int *valid, pcol_error *err)
{
    uint64_t at = row - cells->first;
    if (at >= cells->count)
        return pci_cells_load(cells, row, value, valid, err);
    *value = cells->value[at];
    *valid = cells->valid[at];
    return PCOL_OK;
}
/* Reads the batch of rows from `row` on into cells->value and cells->valid; *count: their number,
 * at most `most`. The rows that follow are null. */
pcol_status pci_cells_batch(struct pci_cells *cells, uint64_t row, size_t most, size_t *count,
                            pcol_error *err);
/* Reads a row number of a table of `rows` rows; PCOL_NONE if null. */
pcol_status pci_cells_row(struct pci_cells *cells, uint64_t row, uint64_t rows, uint32_t *value,
                          pcol_error *err);
/* Reads a string as code of the builder; PCOL_NONE if null or omitted. */
pcol_status pci_cells_string(struct pci_cells *cells, const struct pci_merge *merge, uint64_t row,
                             uint32_t *string, pcol_error *err);

/* Rows of a table of the file, 0 if absent. E_LIMIT if the row map of a table would be
 * disproportionate to the size of its file. */
pcol_status pci_merge_rows(const pcol_file *file, const char *table, uint64_t *rows,
                           pcol_error *err);
pcol_status pci_merge_map(uint32_t **map, uint64_t rows, pcol_error *err);

/* stacks.c: strings, functions, groups and stacks */
pcol_status pci_merge_strings(struct pci_merge *merge, pcol_error *err);
pcol_status pci_merge_stacks(struct pci_merge *merge, pcol_error *err);

/* Counts rows of functions, location groups and stacks, and allocates their maps. */
pcol_status pci_merge_open_maps(struct pci_merge *merge, pcol_error *err);
/* The locations [*first, *end) of a group. cells: first_location. */
pcol_status pci_merge_line_range(struct pci_merge *merge, struct pci_cells *cells, uint64_t row,
                                 uint64_t location_rows, uint64_t *first, uint64_t *end,
                                 pcol_error *err);

/* source_meta.c: selects the rows of source_meta to copy; after pci_merge_unify() */
pcol_status pci_merge_source_meta(struct pci_merge *merge, pcol_error *err);

/* reachability.c: marks the rows that the copied samples use */
pcol_status pci_merge_mark_used(struct pci_merge *merge, pcol_error *err);

/* rebase.c: reads mapping_bias, if the options request it */
pcol_status pci_merge_open_bias(struct pci_merge *merge, pcol_error *err);
/* 1 if a column is one of addresses of mappings that are moved. */
int pci_merge_is_moved(const struct pci_merge *merge, const struct pci_column *column);
/* Moves an address of row `row` of mappings; 0 stays, as it is that of no mapping. */
int64_t pci_merge_move(const struct pci_merge *merge, uint64_t row, int64_t address);

/* events.c: marks the selected markers, allocations and counters in merge->used. */
pcol_status pci_merge_events(struct pci_merge *merge, pcol_error *err);

/* selection.c: 1 if `names`, which ends in NULL, contains a name. */
int pci_merge_is_one_of(const char *name, const char *const *names);
/* selection.c: 1 if a part is copied */
int pci_merge_copies_source(const struct pci_merge *merge, uint64_t row);
/* 1 if copied stacks lack frames, which hide and show leave out. selection: may be NULL. */
int pci_merge_hides_frames(const struct pci_merge_selection *selection);
/* 1 if the copied sources keep all of their samples and labels, so that their documents hold.
 * selection: may be NULL. */
int pci_merge_keeps_documents(const struct pci_merge_selection *selection);
/* Marks sources whose documents do not describe the copy (schema.h) in incomplete_sources. */
pcol_status pci_merge_find_documents(struct pci_merge *merge, pcol_error *err);
/* 1 if a column is not left out itself; copies_column(): nor what it refers to, by the marks. */
int pci_merge_selects_column(const struct pci_merge *merge, const struct pci_column *column);
int pci_merge_copies_column(const struct pci_merge *merge, const struct pci_column *column);
/* Tables that are not fed to the builder row by row. */
int pci_merge_copies_table(const struct pci_merge *merge, const struct pci_table *table);
int pci_merge_copies_label(const struct pci_merge *merge, const char *table, pcol_str key);
/* *has: 1 if a sample has a value; *copied: of a selected type. */
pcol_status pci_merge_has_value(const struct pci_merge *merge, uint64_t sample, int *has,
                                int *copied, pcol_error *err);
/* *loses: a label of a row, or a member of its `extra`, repeats a value that is not copied. */
pcol_status pci_merge_loses_label(struct pci_merge *merge, const char *table, uint64_t row,
                                  pcol_str key, int *loses, pcol_error *err);
/* 1 if the labels of a table have to be read row by row. */
int pci_merge_filters_labels(const struct pci_merge *merge, const struct pci_table *table);
/* Reports the omitted tables and columns. */
pcol_status pci_merge_report_omitted(const struct pci_merge *merge, pcol_error *err);
/* The builder's code of a string of the file. In an anonymized copy the rule (enum pci_anonymize)
 * decides: unchanged, of its pseudonym, or PCOL_NONE: omitted. */
pcol_status pci_merge_text(const struct pci_merge *merge, int rule, pcol_str text, uint32_t *string,
                           pcol_error *err);

/* table_plan.c: the action of each table and the rows of the builder, determined before anything is
 * added; then the tables to unify. */
pcol_status pci_merge_plan_tables(struct pci_merge *merge, pcol_error *err);
pcol_status pci_merge_unify(struct pci_merge *merge, pcol_error *err);

/* tables.c: columns and cells copied with their references translated; tables that consist of such
 * columns */
pcol_status pci_merge_column(struct pci_merge *merge, const struct pci_column *column,
                             uint32_t table, uint32_t *number, pcol_error *err);
pcol_status pci_merge_cell(struct pci_merge *merge, struct pci_cells *cells, uint32_t column,
                           uint64_t row, uint64_t to, pcol_error *err);
/* Copies the cells of `count` rows from `row` on, at most PCI_MERGE_BATCH. */
pcol_status pci_merge_cells(struct pci_merge *merge, struct pci_cells *cells, uint32_t column,
                            uint64_t row, uint64_t to, size_t count, pcol_error *err);
/* Translates a cell of any type but BYTES. *valid is 0 also if the referenced row is omitted. */
pcol_status pci_merge_bits(struct pci_merge *merge, struct pci_cells *cells, uint64_t row,
                           int64_t *bits, int *valid, pcol_error *err);
/* The builder's row for row `row` of table `to`; E_CORRUPT at the cell (from, from_row) if there is
 * no such row. *omitted: the row is not copied. */
pcol_status pci_merge_row(struct pci_merge *merge, const struct pci_table *to,
                          const struct pci_column *from, uint64_t from_row, uint64_t row,
                          uint64_t *out, int *omitted, pcol_error *err);
/* The map of the rows of a table, of which *count exist; NULL: only pci_merge_row() translates
 * them. Rows that are PCOL_NONE in it are for that too. */
const uint32_t *pci_merge_row_map(const struct pci_merge *merge, const struct pci_table *to,
                                  uint64_t *count);
/* late: tables with positions among the samples, which are known after these are copied. */
pcol_status pci_merge_tables(struct pci_merge *merge, int late, pcol_error *err);

/* samples.c */
pcol_status pci_merge_samples(struct pci_merge *merge, pcol_error *err);
/* Whether consecutive idle samples are collapsed into one, or expanded again. */
int pci_merge_collapses_idle(const struct pci_merge *merge);
/* While collapsing: tolerated deviation of the times from equal intervals; 0: any. */
uint64_t pci_merge_idle_tolerance(const struct pci_merge *merge);
int pci_merge_expands_idle(const struct pci_merge *merge);
/* 1 if samples may be left out, joined or expanded: positions of samples are translated. */
int pci_merge_moves_samples(const struct pci_merge *merge);
/* The column of a sample type's values, or NULL. */
const struct pci_column *pci_merge_values(const struct pci_merge *merge, uint64_t type);
pcol_status pci_merge_number(const pcol_file *file, const char *table, const char *column,
                             uint64_t row, uint32_t *number, pcol_error *err);

/* labels.c: keys and shapes; labels of tables whose keys get another order */
pcol_status pci_merge_label_keys(struct pci_merge *merge, pcol_error *err);
int pci_merge_is_label(const char *column); /* label.K or label_shape */
struct pci_merge_label_rows {
    struct pci_merge *merge;
    struct pci_label_reader reader;
    struct pci_label_frames *frames; /* of the file; NULL: not needed yet */
    int omits_frames;                /* a label was left out, since it is a hidden frame */
    uint32_t shape_column, table;
    uint32_t *columns; /* of the last row read */
    struct pci_cell_value *cells;
    size_t count, column_capacity, cell_capacity;
    uint32_t *entries;
    size_t entry_capacity;
};
pcol_status pci_label_rows_open(struct pci_merge_label_rows *rows, struct pci_merge *merge,
                                const struct pci_table *table, uint32_t to, pcol_error *err);
/* Reads the cells of a row's labels for the builder's columns. */
pcol_status pci_label_rows_get(struct pci_merge_label_rows *rows, uint64_t row, pcol_error *err);
pcol_status pci_label_rows_put(struct pci_merge_label_rows *rows, uint64_t row, uint64_t to,
                               pcol_error *err);
void pci_label_rows_close(struct pci_merge_label_rows *rows);

/* row_content.c: the columns that identify a row of a unified table */
struct pci_row_content {
    struct pci_merge *merge;
    const struct pci_table *table;
    uint32_t to;
    struct content_column *content_columns;
    size_t content_column_count;
    struct pci_merge_label_rows *labels; /* NULL: none */
    uint32_t *columns;                   /* of the last row read */
    struct pci_cell_value *cells;
    size_t count, column_capacity, cell_capacity;
    int is_distinct; /* has trees or byte strings, which are not compared */
};
/* Opens all columns except those in `others`, a list that ends in NULL, and creates them in the
 * builder. */
pcol_status pci_row_content_open(struct pci_row_content *content, struct pci_merge *merge,
                                 const struct pci_table *table, uint32_t to,
                                 const char *const *others, pcol_error *err);
pcol_status pci_row_content_read(struct pci_row_content *content, uint64_t row, pcol_error *err);
/* Copies the uncompared columns into a new row. */
pcol_status pci_row_content_copy_uncompared(struct pci_row_content *content, uint64_t row,
                                            uint64_t to, pcol_error *err);
void pci_row_content_close(struct pci_row_content *content);

/* value_trees.c: trees */
pcol_status pci_merge_nodes(struct pci_merge *merge, pcol_error *err);
/* The builder's node for a node of the file. If not all sources are copied, the tree is copied
 * now. */
pcol_status pci_merge_node(struct pci_merge *merge, uint64_t row, uint64_t *node, pcol_error *err);

/* source_order.c: source_rows, and the implicit order of a source's own tables. The first marks
 * the location groups that documents number, in merge->used_groups. */
pcol_status pci_merge_mark_documents(struct pci_merge *merge, pcol_error *err);
pcol_status pci_merge_source_orders(struct pci_merge *merge, pcol_error *err);
/* pcol_file.c: copies a file, or the sources first..last of it */
pcol_status pci_merge_file(pcol_builder *builder, const pcol_file *file,
                           const pcol_import_options *options, uint64_t first_source,
                           uint64_t last_source, pcol_error *err);
/* Copies a file with symbols for its nameless locations. */
pcol_status pci_merge_symbolized(pcol_builder *builder, const pcol_file *file,
                                 const pcol_import_options *options,
                                 const pcol_symbolize_options *symbols, pcol_error *err);
/* Copies a selection. */
pcol_status pci_merge_selected(pcol_builder *builder, const pcol_file *file,
                               const struct pci_merge_selection *selection, pcol_error *err);

#endif
