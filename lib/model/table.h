/*
 * table.h - logical tables and columns of the API
 *
 * A pcol_table is a list of columns of an open file. A pcol_column reads at most PCI_BATCH cells
 * from any row, as 64 bits or as strings. Its source is a physical column, a computation, or, for
 * the two tables without stored rows (sample_locations, sample_values), an expander: a cursor that
 * generates rows in order as three integers each, from which all columns of the table are computed.
 */
#ifndef PCI_TABLE_H
#define PCI_TABLE_H

#include "reader/file.h"

#define PCI_BATCH 1024u
#define PCI_ZONE 8192u /* samples per row of sample_zones */

/* Generated rows of an expanded table. */
struct pci_row_lanes {
    int64_t lane[3][PCI_BATCH];
};

/* Generator of the rows of an expanded table. */
struct pci_expander {
    /* A cursor at `row`, which is below the table's rows. */
    pcol_status (*open)(const pcol_table *table, uint64_t row, void **cursor, pcol_error *err);
    /* Generates exactly `count` further rows, at most PCI_BATCH and within the table. */
    pcol_status (*next)(void *cursor, size_t count, struct pci_row_lanes *lanes, pcol_error *err);
    void (*close)(void *cursor);
    /* The first row of samples from `sample` on; at most the table's rows. NULL: rows are not
     * ordered by sample. */
    pcol_status (*find)(const pcol_table *table, uint64_t sample, uint64_t *row, pcol_error *err);
};

/* Reads `count` cells from `row`, within the table; count <= PCI_BATCH; valid is not NULL. */
typedef pcol_status (*pci_bits_fn)(const pcol_column *column, uint64_t row, size_t count,
                                   int64_t *values, uint8_t *valid, pcol_error *err);
typedef pcol_status (*pci_str_fn)(const pcol_column *column, uint64_t row, size_t count,
                                  pcol_str *values, uint8_t *valid, pcol_error *err);
/* As above, from the lanes of an expanded table. */
typedef pcol_status (*pci_lane_bits_fn)(const pcol_column *column,
                                        const struct pci_row_lanes *lanes, size_t count,
                                        int64_t *values, uint8_t *valid, pcol_error *err);
typedef pcol_status (*pci_lane_str_fn)(const pcol_column *column, const struct pci_row_lanes *lanes,
                                       size_t count, pcol_str *values, uint8_t *valid,
                                       pcol_error *err);
/* Appends the list of the row at index `at` of the lanes to *values. */
typedef pcol_status (*pci_list_fn)(const pcol_column *column, const struct pci_row_lanes *lanes,
                                   size_t at, int64_t **values, size_t *capacity, size_t *count,
                                   pcol_error *err);

/* How the cells of a column follow from row numbers or from stored values, so that conditions can
 * skip rows. */
enum pci_column_order {
    PCI_UNORDERED,
    PCI_ROW_ID,    /* row + 1 + offset */
    PCI_SAMPLE_ID, /* of an expanded table: row of the sample + 1, ascending */
    PCI_STORED,    /* the cell of `source` in the same row + offset */
    PCI_STORED_MS  /* the same, nanoseconds as doubles of milliseconds */
};

struct pci_array;
struct pci_join;
struct pci_join_reader;

struct pcol_column {
    const pcol_table *table;
    const char *name;
    const char *references;
    pcol_type type;
    uint32_t index;
    uint8_t primary_key, nullable;
    uint8_t direct;                  /* cells of `source` unchanged */
    uint8_t lane;                    /* of an expanded table */
    uint8_t order;                   /* enum pci_column_order */
    int64_t offset;                  /* added to every value */
    const char *unit;                /* NULL: none, or that of the documentation */
    const struct pci_column *source; /* physical column, or NULL */
    const void *aux;                 /* data for the functions */
    /* Of a result: makes the array of all cells, on first use; NULL: another column. */
    pcol_status (*fill)(const pcol_column *column, struct pci_array *array, pcol_error *err);
    pci_bits_fn bits;
    pci_str_fn str;
    pci_lane_bits_fn lane_bits;
    pci_lane_str_fn lane_str;
    pci_list_fn list;
    /* Codes of PCOL_STRING cells, in the pool of the file; both NULL: the texts are computed. */
    pci_bits_fn codes;
    pci_lane_bits_fn lane_codes;
    /* Of a joined table (joins.h): */
    const pcol_column *shared;   /* the same column of the table, which holds the array; or NULL */
    const struct pci_join *join; /* how cells follow from ids, instead of the functions; or NULL */
    uint8_t by_code;             /* with `join`: texts are of the pool */
    uint8_t is_composed;         /* with `join`: texts are valid while a reader holds them */
    uint8_t is_replaced;         /* ids that joined columns stand for */
    _Atomic(struct pci_array *) array; /* arrays.h: made on first use */
};

struct pcol_table {
    const pcol_file *file;
    const char *name;
    uint64_t rows;
    pcol_model model;
    int is_physical; /* not a logical table */
    uint32_t column_count, column_capacity;
    pcol_column *columns;
    const struct pci_expander *expander;
    /* Physical columns from which rows are generated, in addition to the sources of its columns. */
    const struct pci_column **reads;
    size_t read_count, read_capacity;
    void *aux; /* owned */
    void (*free_aux)(void *aux);
    /* The result that the table belongs to; NULL: it lives as long as the file. */
    void *owner;
    void *(*retain_owner)(void *owner);
    void (*release_owner)(void *owner);
    char **owned; /* names and units of columns */
    size_t owned_count, owned_capacity;
    _Atomic(pcol_table *) joined;  /* joins.h: made on first use */
    const pcol_table *joined_from; /* of a joined table; it has the functions' data */
    struct pci_join *joins;
    size_t join_count;
};

/* The call tree; absent columns are NULL. */
struct pci_stacks {
    const pcol_file *file;
    const struct pci_column *parent, *group, *first;
    uint64_t stacks, groups, locations;
};

enum { PCI_V2_COUNT = 7, PCI_V1_COUNT = 5, PCI_HASH_KINDS = 3 };

/* content_hashes.c: of each kind, computed on first use: pcol_hash, and 32 hexadecimal digits, for
 * each row of its table. */
struct pci_hashes {
    void *made[2][PCI_HASH_KINDS];
};
void pci_hashes_free(struct pci_hashes *hashes);

/* Logical tables of a file, built on first use. */
struct pci_models {
    pcol_table *v2[PCI_V2_COUNT];
    pcol_table *v1[PCI_V1_COUNT];
    pcol_table **physical; /* by table of the index, then `further` likewise */
    pcol_table **further;
    struct pci_v1 *maps;            /* shared by the v1 tables */
    struct pci_order_index *orders; /* index of source_rows */
    struct pci_source_index *sources;
    struct pci_hashes hashes;
    uint32_t physical_count;
};

/* strings.c: the string of the file that equals a text, and its code, by binary search; *exists:
 * whether there is one. */
pcol_status pci_find_string(const pcol_file *file, pcol_str text, uint64_t *code, pcol_str *string,
                            int *exists, pcol_error *err);

/* data_models.c: returns the file's tables, allocated on first use; the caller holds the file's
 * lock */
pcol_status pci_models_open(pcol_file *file, struct pci_models **models, pcol_error *err);

/* table.c: construction of tables */
pcol_status pci_table_new(const pcol_file *file, const char *name, uint64_t rows,
                          uint32_t column_capacity, pcol_table **table, pcol_error *err);
void pci_table_free(pcol_table *table);
/* Reserves space for `more` columns; invalidates pointers to columns. */
pcol_status pci_table_reserve(pcol_table *table, uint32_t more, pcol_error *err);
/* Appends a zeroed column; requires capacity. */
pcol_column *pci_table_add(pcol_table *table, const char *name, pcol_type type);
/* The names of the columns of a table, to find one among many; all zero but `table`: empty. */
struct pci_column_names {
    const pcol_table *table;
    struct pci_hash hash;
};
/* Adds the name of a column, which is not added twice. */
pcol_status pci_column_names_add(struct pci_column_names *names, uint32_t column, pcol_error *err);
int pci_column_names_have(const struct pci_column_names *names, const char *name);
/* Shows a column of nanoseconds in milliseconds. */
void pci_column_show_ms(pcol_column *column);
/* Appends a column of ids, from 1. */
pcol_column *pci_table_add_id(pcol_table *table, const char *name);
/* Appends the cells of a physical column plus `offset`; source NULL: nulls of type `type`. */
pcol_column *pci_table_add_source(pcol_table *table, const char *name, pcol_type type,
                                  const struct pci_column *source, int64_t offset);
/* Appends a column with the same value in every row. */
pcol_column *pci_table_add_constant(pcol_table *table, const char *name, pcol_type type,
                                    const int64_t *value);
/* Appends a lane of an expanded table plus `offset`. */
pcol_column *pci_table_add_lane(pcol_table *table, const char *name, pcol_type type, uint8_t lane,
                                int64_t offset);
/* Records the physical columns from which rows are generated; NULLs are skipped. */
pcol_status pci_table_add_reads(pcol_table *table, const struct pci_column *const *columns,
                                size_t count, pcol_error *err);

/* E_UNSUPPORTED if the column is one of the file and needs a newer reader. */
pcol_status pci_check_column_supported(const pcol_column *column, pcol_error *err);
/* Finds a physical column of one of some types (mask of 1 << PCF_*); *column is NULL if absent.
 * E_CORRUPT for another type, E_UNSUPPORTED for a table that needs a newer reader. */
pcol_status pci_find_column(const pcol_file *file, const char *table, const char *name,
                            unsigned types, const struct pci_column **column, pcol_error *err);
/* As pci_find_column(); E_CORRUPT if the column is absent and the table has rows. */
pcol_status pci_require_column(const pcol_file *file, const char *table, const char *name,
                               unsigned types, const struct pci_column **column, pcol_error *err);
/* As pci_find_column(), and verifies the checksums of the column and of its strings, before a full
 * read. */
pcol_status pci_find_verified_column(const pcol_file *file, const char *table, const char *name,
                                     unsigned types, const struct pci_column **column,
                                     pcol_error *err);
/* A cell of a column by its name; null if it is absent: 0 or "". */
pcol_status pci_get_named(const pcol_file *file, const char *table, const char *name,
                          unsigned types, uint64_t row, int64_t *value, int *valid,
                          pcol_error *err);
pcol_status pci_get_named_str(const pcol_file *file, const char *table, const char *name,
                              uint64_t row, pcol_str *value, int *valid, pcol_error *err);
/* Columns by pci_find_column() or pci_find_verified_column(). */
struct pci_column_request {
    const char *table, *name;
    unsigned types;
    const struct pci_column **column;
};
pcol_status pci_find_columns(const pcol_file *file, const struct pci_column_request *requests,
                             size_t count, pcol_error *err);
pcol_status pci_find_verified_columns(const pcol_file *file,
                                      const struct pci_column_request *requests, size_t count,
                                      pcol_error *err);
/* Rows of a physical table, 0 if absent. */
uint64_t pci_rows(const pcol_file *file, const char *table);
/* E_LIMIT if the row count of a table is disproportionate to the file's size; rows may take no
 * bytes. To be called before memory is allocated per row, or before an iteration over samples, of
 * which more are allowed. */
pcol_status pci_check_row_count(const pcol_file *file, const char *table, pcol_error *err);
/* limits.c, for counts of which a kilobyte can have millions. E_LIMIT: a file without source_types
 * has too many sources and sample types, or too many samples and sample types for its size. */
pcol_status pci_check_type_counts(const pcol_file *file, pcol_error *err);
/* E_LIMIT: the rows of a table have too many labels for the size of the file. */
pcol_status pci_check_label_count(const pcol_file *file, const char *table, uint64_t columns,
                                  pcol_error *err);
/* E_LIMIT: `count` rows of `what` with `of_count` of `of_what` each are too many for the size of
 * the file, unless it is trusted. Always fails. */
pcol_status pci_fail_too_many(const pcol_file *file, uint64_t count, const char *what,
                              uint64_t of_count, const char *of_what, pcol_error *err);
/* All tables, before full scans. */
pcol_status pci_check_row_counts(const pcol_file *file, pcol_error *err);

/* cells.c: reading rows of a table in order */
struct pci_rows {
    const pcol_table *table;
    void *cursor; /* NULL unless the table is expanded */
    struct pci_row_lanes *lanes;
    struct pci_join_reader *joins; /* NULL unless the table is joined */
};
/* Positions the reader before `row`, or at the end of the table. */
pcol_status pci_rows_open(struct pci_rows *rows, const pcol_table *table, uint64_t row,
                          pcol_error *err);
/* Generates the next `count` rows: at most PCI_BATCH, within the table. */
pcol_status pci_rows_next(struct pci_rows *rows, size_t count, pcol_error *err);
void pci_rows_close(struct pci_rows *rows);
/* Reads cells of the last generated rows, which start at `row`. valid is not NULL. */
pcol_status pci_rows_read_bits(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                               size_t count, int64_t *values, uint8_t *valid, pcol_error *err);
pcol_status pci_rows_read_str(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                              size_t count, pcol_str *values, uint8_t *valid, pcol_error *err);
/* Codes of a column for which pci_column_has_codes(); each is a row of the pool. */
pcol_status pci_rows_read_codes(const struct pci_rows *rows, const pcol_column *column,
                                uint64_t row, size_t count, int64_t *codes, uint8_t *valid,
                                pcol_error *err);
static inline int pci_column_has_codes(const pcol_column *column)
{
    return column->type == PCOL_STRING && (column->codes || column->lane_codes || column->by_code);
}
/* Composed texts that were read are valid until pci_rows_release_texts(); their size in bytes. */
uint64_t pci_rows_text_bytes(const struct pci_rows *rows);
void pci_rows_release_texts(struct pci_rows *rows);
/* Reads `count` cells of a physical STRING or BYTES column. */
pcol_status pci_read_str(const pcol_file *file, const struct pci_column *column, uint64_t row,
                         size_t count, pcol_str *values, uint8_t *valid, pcol_error *err);
/* Verifies the checksums of all data that a full read of the column reads, including the generation
 * of its rows. */
pcol_status pci_verify_column(const pcol_column *column, pcol_error *err);

/* v2_further.c: appends the columns of a physical table except those in `used`, a list that ends in
 * NULL (a name that ends in a dot is a prefix); then its labels. adapt: called for each column; may
 * be NULL. */
typedef void (*pci_column_adapt_fn)(pcol_column *column);
pcol_status pci_table_add_remaining(pcol_table *table, const char *physical,
                                    const char *const *used, pci_column_adapt_fn adapt,
                                    pcol_error *err);

/* documentation.c: unit and description in one line of a logical column; NULL: none. */
void pci_column_document(const pcol_column *column, const char **unit, const char **text);

/* Constructors; the caller frees the table. */
pcol_status pci_further_table(const pcol_file *file, uint32_t index, pcol_table **table,
                              pcol_error *err);
pcol_status pci_physical_table(const pcol_file *file, uint32_t index, pcol_table **table,
                               pcol_error *err);
pcol_status pci_v2_meta(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_sources(const pcol_file *file, pcol_table **table, pcol_error *err);
/* source_meta_values.c: the values of a key, by source; data NULL: none or null. values: zeroed,
 * for source_count sources. *exists: a source has the key. */
pcol_status pci_source_meta_values(const pcol_file *file, pcol_str key, uint64_t source_count,
                                   pcol_str *values, int *exists, pcol_error *err);
pcol_status pci_v2_samples(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_values(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_sample_locations(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_locations(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_functions(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v1_table(const pcol_file *file, struct pci_v1 **maps, uint32_t index,
                         pcol_table **table, pcol_error *err);
void pci_v1_free(struct pci_v1 *maps);

/* stacks.c: access to the call tree */
pcol_status pci_stacks_open(const pcol_file *file, struct pci_stacks *tree, pcol_error *err);
/* Verifies the checksums of all columns, before a full read. */
pcol_status pci_stacks_verify(const struct pci_stacks *tree, pcol_error *err);
/* Parent and locations of a node above 0, all verified. */
pcol_status pci_stacks_node(const struct pci_stacks *tree, uint64_t node, uint32_t *parent,
                            uint64_t *first, uint64_t *count, pcol_error *err);
/* Limit of the nodes of a tree of names: free ones for any file, and more for its stacks. A
 * location of many lines that occurs in many stacks would yield a tree of quadratic size, and
 * millions of stacks may take a few bytes of a compressed input: many stacks add less for each. */
#define PCI_TREE_FREE_NODES (UINT64_C(1) << 22)
uint64_t pci_stacks_most_nodes(const pcol_file *file);
/* Fails if `frames`, which are held for this tree, are more than its limit. */
pcol_status pci_stacks_check_frames(const struct pci_stacks *tree, uint64_t frames,
                                    pcol_error *err);
/* What was written of call stacks that are repeated for each sample. Millions of samples of a stack
 * of millions of frames may take a few bytes of a file, so that their frames are limited: to
 * `most` for any file, and 1,024 more for each stack, up to one stack for each byte of the file or
 * of the imported input, unless that is trusted. */
struct pci_written_stacks {
    uint64_t most, input_bytes, stacks, frames;
};
#define PCI_WRITTEN_FRAMES (UINT64_C(1) << 26)
#define PCI_PRINTED_FRAMES (UINT64_C(1) << 23)  /* of formats that take 200 ns and more for one */
#define PCI_STREAMED_FRAMES (UINT64_C(1) << 28) /* of formats that take 5 to 16 ns for a frame */
struct pci_written_stacks pci_written_stacks_begin(const pcol_file *file, uint64_t most);
pcol_status pci_written_stacks_add(struct pci_written_stacks *written, uint64_t frames,
                                   pcol_error *err);
/* The locations of a group, verified like the group itself. */
pcol_status pci_stacks_group(const struct pci_stacks *tree, uint64_t group, uint64_t *first,
                             uint64_t *count, pcol_error *err);
/* The first location of each group and, after the last, the number of locations; NULL if the file
 * has no groups of several locations: group g then is location g. To be freed. */
pcol_status pci_stacks_starts(const struct pci_stacks *tree, uint32_t **starts, pcol_error *err);
/* A node of the call tree: its parent is less than its own row; locations, innermost first. */
struct pci_stack_node {
    uint32_t parent, first, count;
};
/* Nodes of n <= PCI_BATCH rows, all verified; row 0, the root, is zeros. */
pcol_status pci_stacks_read(const struct pci_stacks *tree, const uint32_t *starts, uint64_t row,
                            size_t n, struct pci_stack_node *nodes, pcol_error *err);
/* The group of location `row`. */
pcol_status pci_stacks_group_of(const struct pci_stacks *tree, uint64_t row, uint64_t *group,
                                pcol_error *err);

/* stacks.c: zones, the index from rows of an expanded table to samples */
/* Total of column `name` of sample_zones (its last row); 0 without samples. */
pcol_status pci_zones_total(const pcol_file *file, const char *name,
                            const struct pci_column **column, uint64_t *total, pcol_error *err);
/* E_CORRUPT if the value of a zone differs from the counted rows. */
pcol_status pci_zones_compare(const pcol_file *file, const struct pci_column *column, uint64_t zone,
                              uint64_t counted, pcol_error *err);
/* Finds the zone z with zones[z] <= row < zones[z + 1]; *before = zones[z]. */
pcol_status pci_zones_find(const pcol_file *file, const struct pci_column *column, uint64_t row,
                           uint64_t *zone, uint64_t *before, pcol_error *err);

#endif
