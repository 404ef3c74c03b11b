/*
 * builder.h - state of a builder: all tables of a file until it is written
 *
 * Columnar row store that spills to disk (util/spill_buffer.h): a column has a buffer of present
 * values and run lengths of its validity. Functions, locations and groups are arrays of structs
 * with a hash index for interning and become columns at the end. Call stacks are a prefix tree
 * (call_tree.h); label shapes and nodes are records (labels.c, value_tree.c).
 * Threading: one thread fills a builder; writing uses `threads` threads. Tests:
 * tests/unit/test_builder.c, tests/unit/test_row_details.c.
 */
#ifndef PCI_BUILDER_BUILDER_H
#define PCI_BUILDER_BUILDER_H

#include "builder/call_tree.h"
#include "builder/rows.h"
#include "builder/string_pool.h"
#include "encode/encode.h"
#include "util/arg_check.h"
#include "util/hash.h"
#include "util/import_budget.h"
#include "util/pair_set.h"

/* Tables of every builder, in file order. */
enum pci_known_table {
    PCI_T_STRINGS,
    PCI_T_SOURCES,
    PCI_T_SOURCE_META,
    PCI_T_SAMPLE_TYPES,
    PCI_T_SOURCE_TYPES,
    PCI_T_FUNCTIONS,
    PCI_T_LOCATIONS,
    PCI_T_GROUPS,
    PCI_T_MAPPINGS,
    PCI_T_THREADS,
    PCI_T_STACKS,
    PCI_T_SAMPLES,
    PCI_T_STACK_SUMS,
    PCI_T_FUNCTION_SUMS,
    PCI_T_SAMPLE_ZONES,
    PCI_T_SAMPLE_VALUES,
    PCI_T_SAMPLE_LOCATIONS,
    PCI_T_COUNT
};

/* Columns of every builder; indices into pcol_builder.columns. */
enum pci_known_column {
    PCI_C_SOURCE_TYPE,
    PCI_C_SOURCE_URI,
    PCI_C_SOURCE_TIMESTAMP,
    PCI_C_SOURCE_PERIOD,
    PCI_C_SOURCE_PERIOD_TYPE,
    PCI_C_SOURCE_PERIOD_UNIT,
    PCI_C_SOURCE_INTERVAL,
    PCI_C_SOURCE_DURATION,
    PCI_C_SOURCE_DEFAULT_TYPE,
    PCI_C_SOURCE_COLLAPSED,
    PCI_C_META_SOURCE,
    PCI_C_META_KEY,
    PCI_C_META_VALUE,
    PCI_C_TYPES_SOURCE,
    PCI_C_TYPES_TYPE,
    PCI_C_SAMPLE_SOURCE,
    PCI_C_SAMPLE_STACK,
    PCI_C_SAMPLE_THREAD,
    PCI_C_SAMPLE_TIME,
    PCI_C_SAMPLE_DURATION,
    PCI_C_SAMPLE_CPU,
    PCI_C_COUNT
};

/* Condition under which a column is omitted from the file. */
enum pci_drop {
    PCI_DROP_NULL, /* all rows are null */
    PCI_DROP_ZERO, /* all rows are 0; rows never set are 0 */
    PCI_DROP_NEVER
};

struct pci_column_buffer {
    char *name;
    uint32_t table;
    uint32_t references; /* table + 1, or 0 */
    uint8_t type;
    uint8_t drop;
    uint8_t own;      /* made by the builder: callers neither get its number nor set cells */
    uint64_t rows;    /* appended, nulls included */
    uint64_t present; /* rows with a value */
    uint64_t named;   /* references: 1 + the greatest row that a caller used; checked at the end */
    int64_t first;
    int constant;     /* all present values are `first`; `values` is empty then */
    int64_t all_bits; /* OR of all values: 0 means all are 0 */
    /* Present values, of bytes their end offsets in `data`: the first `narrow` int32, the others
     * int64. */
    struct pci_spill values;
    uint64_t narrow;
    int wide; /* a value did not fit int32: all further ones are int64 */
    struct pci_spill
        runs;      /* varints: lengths of runs of present and null rows in turn, present first */
    uint64_t run;  /* length of the current run, not yet in `runs` */
    int run_valid; /* whether the current run has values */
    struct pci_spill data; /* bytes */
};

/* How often the current input used each row of a table. The numbers of all inputs rise, so that
 * none has to clear those of the inputs before it: a row with at most `before` is unused. */
struct pci_row_uses {
    uint32_t *marks; /* by row: `before` at that time + number of uses */
    size_t capacity;
    uint32_t before, highest;
};

struct pci_table_buffer {
    char *name;
    struct pci_row_uses uses;
    uint64_t rows; /* lower bound; columns may have more */
    uint16_t flags;
    uint8_t fixed; /* the builder appends its rows: a column of a caller has none of its own */
};

struct pci_function_record {
    uint32_t name, system_name, filename;
    uint32_t bits; /* 1: has start_line, 2: has id */
    uint32_t variant, unused;
    int64_t start_line;
    uint64_t id;
};

struct pci_group_record {
    uint32_t first_line, line_count;
    uint32_t mapping;
    uint32_t bits; /* 1: has address, 2: has id, 4: has file_number, 8: folded */
    uint32_t variant, unused;
    uint64_t address, id;
    int64_t file_number;
};

/* Rows of functions and of location groups by key. Most functions are the only one of their name,
 * and most groups the only one of their function: `first` has these, by name and by function, in
 * the order in which they arrive, so that new rows need no lookup in the hash table. Merged
 * profiles mostly have their rows in one order: the row after `last` is tried first. */
struct pci_row_index {
    uint32_t *first; /* by name or function: row + 1; 0: none */
    uint32_t last;   /* the row found last */
    size_t size, capacity;
    struct pci_hash hash; /* of all other rows */
};

struct pci_sample_type_record {
    uint32_t type, unit, flags, ordinal;
    uint32_t column;      /* of samples */
    uint32_t recorded;    /* 1 + a source for which source_types has this type */
    uint64_t last_sample; /* sample_serial of the latest sample with a value of it */
};

/* Distinct lists of cells with dense ids (intern.c). */
struct pci_intern {
    struct pci_hash hash;
    uint32_t *variants; /* by id */
    uint64_t *starts;   /* by id, and one more: first cell in the arrays below */
    uint32_t *columns;
    int64_t *bits;
    size_t count, variant_capacity, start_capacity;
    size_t cell_count, column_capacity, bits_capacity;
};

struct pci_interned {
    uint32_t table;
    uint32_t source_count; /* of the builder when `next` was computed */
    uint64_t next;         /* row of the table for the next new entry */
    uint32_t *at;          /* by id: row of the table */
    size_t at_capacity;
    struct pci_intern rows;
};

/* Labels (labels.c). */
struct pci_label_key_record { /* a row of label_keys */
    uint32_t table, key, unit;
    uint32_t occurrence;
    uint32_t column; /* of the builder; PCOL_NONE: not created yet, or the kind has none */
    uint32_t base;   /* the row with occurrence 0 */
    uint32_t next;   /* the row with the next occurrence; PCOL_NONE: none yet */
    uint8_t kind;
    /* of a row with occurrence 0: */
    uint32_t current; /* occurrence used last in row `row_serial` */
    uint64_t row_serial;
};

struct pci_label_previous { /* a label of the previous row */
    uint32_t key, unit;
    uint8_t kind;
    uint32_t number; /* row of label_keys; PCOL_NONE: in `extra` */
};

struct pci_label_table {
    uint32_t table;
    uint32_t column_count; /* label columns */
    uint32_t shape, extra; /* columns of the builder; PCOL_NONE: none yet */
    uint64_t next_row;
    struct pci_label_previous *last;
    /* Shape of the previous row: 2 * (row of label_keys + 1) + joined; 0 + joined: extra. */
    uint32_t *entries;
    size_t last_count, last_capacity, entry_capacity;
    uint32_t last_shape; /* PCOL_NONE: none */
};

struct pci_label_store {
    struct pci_label_key_record *keys;
    size_t count, capacity;
    struct pci_hash hash; /* of keys with occurrence 0 */
    struct pci_label_table *tables;
    size_t table_count, table_capacity;
    uint32_t *shape_entries;
    size_t entry_count, entry_capacity;
    uint64_t *shape_starts; /* by shape, and one more */
    size_t shape_count, shape_capacity;
    struct pci_hash shape_hash;
    uint64_t serial;
};

/* Nodes (value_tree.c). */
struct pci_node_record {
    uint32_t parent; /* PCOL_NONE: a root */
    uint32_t key, text;
    uint8_t tag, reversed, unused[2];
    int64_t value; /* typed arrays: their index in `arrays` */
};

struct pci_node_store {
    struct pci_spill records, arrays[2]; /* arrays: first element and count of each typed array */
    uint64_t element_count[2];
    uint32_t open[2]; /* the typed array that receives elements; PCOL_NONE: none */
    uint64_t open_first[2];
    uint32_t value_column[2], value_table[2];
    uint64_t count;
    uint32_t table;         /* PCOL_NONE: none yet */
    int ordered;            /* nodes were added in pre-order */
    uint64_t recent_parent; /* the last parent that was looked up; PCI_NO_NODE: none */
    uint8_t recent_tag;     /* its tag */
    uint32_t *path;         /* while ordered: the latest node and its ancestors, outermost first */
    size_t path_size, path_capacity;
    uint32_t *preorder; /* after finishing, if not ordered: final row by node */
};

/* Source rows (source_order.c). */
struct pci_source_order {
    uint32_t columns[7]; /* of source_rows; PCOL_NONE: no table yet */
    uint32_t form_columns[5];
    uint32_t target_name; /* of `last` */
    struct pci_source_row last;
    /* Whole tables of the only source so far; no rows yet. */
    struct pci_source_order_table {
        struct pci_source_row first;
        uint64_t count;
        const char *name; /* of the source's table, if it is not a string of the builder yet */
    } * deferred;
    size_t deferred_count, deferred_capacity;
    struct pci_source_table { /* tables that have rows */
        uint32_t source, table;
    } * filled;
    size_t filled_count, filled_capacity;
};

struct pcol_builder {
    struct pci_budget budget; /* of all inputs */
    struct pci_spill_store store;
    struct pci_string_pool strings;
    struct pci_call_tree tree;
    struct pci_table_buffer *tables;
    size_t table_count, table_capacity;
    struct pci_column_buffer **columns;
    size_t column_count, column_capacity;
    struct pci_hash column_hash; /* by table and name */
    struct pci_function_record *functions;
    size_t function_count, function_capacity;
    struct pci_row_index function_index;
    struct pci_group_record *groups;
    size_t group_count, group_capacity;
    struct pci_row_index group_index;
    pcol_line *lines; /* of all groups, concatenated */
    size_t line_count, line_capacity;
    struct pci_sample_type_record *types;
    size_t type_count, type_capacity;
    struct pci_hash type_hash;
    uint32_t source_count;
    int64_t interval_ns;  /* of the first source that has one; 0: none */
    int intervals_differ; /* a source had another one */
    uint64_t sample_count;
    struct pci_interned **interned; /* by table; NULL: not interned */
    size_t interned_capacity;
    struct pci_intern variants; /* cells in further columns of functions and groups */
    struct pci_label_store labels;
    struct pci_node_store nodes;
    struct pci_source_order order;
    struct pci_pair_set source_types; /* (source, sample type) */
    /* Keys of source_meta as named by the source; the file's strings may have another name for a
     * key. */
    struct pci_string_pool meta_keys;
    struct pci_pair_set metas;  /* (source, code in meta_keys) */
    unsigned threads;           /* for writing */
    uint64_t mapping_row_limit; /* as pci_column_buffer.named, of groups */
    uint64_t sample_serial;     /* number of samples, rejected ones included */
    int written;                /* pcol_builder_write() has begun */
    const char *sealed;         /* why it can only be freed: it was written, an import failed */
};

/* Create a table, which must not exist (tables.c). */
pcol_status pci_builder_add_table(pcol_builder *b, const char *name, pcol_error *err);
/* Number of rows of a table so far. */
uint64_t pci_builder_rows(const pcol_builder *builder, uint32_t table);
/* Whether the table has at least the rows of this column. */
int pci_builder_adds_rows(const pcol_builder *b, const struct pci_column_buffer *column);
/* Verify that every row that callers referred to exists; rows: final number of rows by table. */
pcol_status pci_builder_check_rows(const pcol_builder *b, const uint64_t *rows, pcol_error *err);
/* A cell of a column that is not BYTES: a string's code, the bits of a double. */
pcol_status pci_builder_set_bits(pcol_builder *builder, uint32_t column, uint64_t row, int64_t bits,
                                 pcol_error *err);
/* The same of `n` consecutive rows, of which some are null; valid: 0 or 1. */
pcol_status pci_builder_set_cells(pcol_builder *builder, uint32_t column, uint64_t row,
                                  const int64_t *bits, const uint8_t *valid, size_t n,
                                  pcol_error *err);
/* A column of a table; NULL and an error if it does not exist. */
struct pci_column_buffer *pci_builder_get_column(pcol_builder *builder, uint32_t table,
                                                 uint32_t column, pcol_error *err);

/* Constructors and destructors of the parts of a builder. */
void pci_row_index_clear(struct pci_row_index *index);
void pci_intern_clear(struct pci_intern *intern);
void pci_interned_free(pcol_builder *builder);
void pci_label_store_clear(struct pci_label_store *labels);
void pci_node_store_init(struct pci_node_store *nodes, struct pci_spill_store *store);
void pci_node_store_clear(struct pci_node_store *nodes);
void pci_source_order_init(struct pci_source_order *order);
void pci_source_order_clear(struct pci_source_order *order);
/* pci_builder_source_table() for the only source. The name is not interned and must outlive the
 * builder, so that packing an unchanged file adds no string. */
pcol_status pci_source_order_defer(pcol_builder *builder, const struct pci_source_row *row,
                                   const char *name, uint64_t count, pcol_error *err);
/* Append the deferred rows, as another source follows. */
pcol_status pci_source_order_flush(pcol_builder *builder, pcol_error *err);

/* Convert records to columns. Labels: before strings are sorted; nodes and order: after strings and
 * stacks have their final rows. */
pcol_status pci_label_store_finish(pcol_builder *builder, pcol_error *err);
pcol_status pci_node_store_finish(pcol_builder *builder, pcol_error *err);
pcol_status pci_source_order_finish(pcol_builder *builder, pcol_error *err);
/* For copying files: a typed array whose elements exist already; an element before its array. kind:
 * 0 integers, 1 doubles. */
pcol_status pci_node_array_copy(pcol_builder *builder, const struct pci_new_node *node,
                                uint64_t first, uint64_t count, uint64_t *row, pcol_error *err);
pcol_status pci_node_element_copy(pcol_builder *builder, int kind, int64_t bits, pcol_error *err);
/* Append `n` elements, or the bits of doubles, to the latest array of this kind. */
pcol_status pci_builder_node_elements(pcol_builder *builder, int kind, uint64_t node,
                                      const int64_t *bits, size_t n, pcol_error *err);
/* Final rows of a table, by current row; NULL: unchanged. */
const uint32_t *pci_final_rows(const pcol_builder *builder, uint32_t table);

/* `count` samples of one thread with the same columns; a NULL pointer: the column is null. */
struct pci_sample_rows {
    size_t count;
    uint32_t source, thread, sample_type; /* thread: PCOL_NONE for none */
    const int64_t *stacks, *times_ns, *cpu_deltas_ns;
    const int64_t *values; /* of the sample type; bits of doubles if it is a double type */
    int64_t value;         /* of all samples, if `has_value` is set and `values` is NULL */
    int has_value;
};
/* Append samples like pcol_builder_sample(), but by column and much faster. *row: of the first. */
pcol_status pci_builder_samples(pcol_builder *builder, const struct pci_sample_rows *samples,
                                uint64_t *row, pcol_error *err);

/* For copying files (labels.c): row `number` of label_keys, created if necessary, and its
 * column. */
pcol_status pci_label_key_row(pcol_builder *builder, uint32_t table, uint32_t key, uint32_t unit,
                              uint8_t kind, uint32_t occurrence, uint32_t *number, pcol_error *err);
pcol_status pci_label_column(pcol_builder *builder, uint32_t number, uint32_t *column,
                             pcol_error *err);
pcol_status pci_label_shape(pcol_builder *builder, const uint32_t *entries, size_t count,
                            uint32_t *shape, pcol_error *err);
pcol_status pci_label_tables(pcol_builder *builder, pcol_error *err);

/* ---- column_buffer.c */

/* Index of a table's column of that name, or PCI_HASH_NONE. */
uint32_t pci_column_buffer_find(const pcol_builder *b, uint32_t table, const char *name);
/* A column owned by the caller and unknown to the builder; NULL: out of memory. */
struct pci_column_buffer *pci_column_buffer_make(pcol_builder *b, uint32_t table, const char *name,
                                                 uint8_t type, uint32_t references, uint8_t drop);
/* A column of the builder; E_ARGUMENT if it exists. */
pcol_status pci_column_buffer_new(pcol_builder *b, uint32_t table, const char *name, uint8_t type,
                                  uint32_t references, uint8_t drop, uint32_t *column,
                                  pcol_error *err);
void pci_column_buffer_free(struct pci_column_buffer *column);
/* Remove all rows. */
void pci_column_buffer_reset(struct pci_column_buffer *column);
pcol_status pci_column_buffer_set(struct pci_column_buffer *column, uint64_t row, int64_t value,
                                  pcol_error *err);
/* Set `n` rows from `row` on, to values or to one value; much faster than single calls. */
pcol_status pci_column_buffer_set_many(struct pci_column_buffer *column, uint64_t row,
                                       const int64_t *values, size_t n, pcol_error *err);
/* The same of cells of which some are null; valid: 0 or 1. */
pcol_status pci_column_buffer_set_cells(struct pci_column_buffer *column, uint64_t row,
                                        const int64_t *values, const uint8_t *valid, size_t n,
                                        pcol_error *err);
pcol_status pci_column_buffer_repeat(struct pci_column_buffer *column, uint64_t row, int64_t value,
                                     uint64_t n, pcol_error *err);
/* Read `n` values from row `row` on of a column without nulls. */
pcol_status pci_column_buffer_get_many(const struct pci_column_buffer *column, uint64_t row,
                                       int64_t *values, size_t n, pcol_error *err);
/* Release memory of values before index `index`, which must not be read again. */
void pci_column_buffer_drop(struct pci_column_buffer *column, uint64_t index);
pcol_status pci_column_buffer_set_bytes(struct pci_column_buffer *column, uint64_t row,
                                        const char *data, size_t size, pcol_error *err);
/* Extend to `rows` rows, by nulls, or by 0 with PCI_DROP_ZERO. */
pcol_status pci_column_buffer_fill(struct pci_column_buffer *column, uint64_t rows,
                                   pcol_error *err);

/* pcol_builder_sample_type() by strings of the builder, which may contain NUL. */
pcol_status pci_builder_sample_type(pcol_builder *b, uint32_t type, uint32_t unit, unsigned flags,
                                    uint32_t ordinal, uint32_t *row, pcol_error *err);

/* Reader of a column as a value source; `map` translates values to final rows or is NULL. */
struct pci_column_buffer_source {
    struct pci_value_source source;
    const struct pci_column_buffer *column;
    const uint32_t *map;
    uint64_t value; /* index of the next present value */
    uint64_t run_left;
    int run_valid;
    /* Read-ahead windows of the column's buffers, for short runs. */
    uint64_t run_at; /* offset of the end of `run_window` in `runs` */
    size_t run_used, run_count;
    uint8_t run_window[256];
    uint64_t window_first; /* index of the window's first value */
    size_t window_count;
    int64_t window[256];
};
void pci_column_buffer_source_init(struct pci_column_buffer_source *source,
                                   const struct pci_column_buffer *column, const uint32_t *map);

/* ---- source_meta.c */

/* Checks that keys and values in turn, metadata of a call's options, are not NULL. */
pcol_status pci_metas_check(const char *const *metas, size_t count, pcol_error *err);

/* Record the interval of a source; the first one that differs from an earlier source's is
 * reported. */
void pci_builder_record_interval(pcol_builder *b, int64_t interval_ns);
/* The same, and set it in the row of the source. */
pcol_status pci_builder_source_interval(pcol_builder *b, uint32_t source, int64_t interval_ns,
                                        pcol_error *err);
/* Record a key of a source, a string of meta_keys; *again: the source had it already. */
pcol_status pci_source_meta_record(pcol_builder *b, uint32_t source, uint32_t code, int *again,
                                   pcol_error *err);

/* Record that a source has a type (source_types.c). */
pcol_status pci_source_type_record(pcol_builder *b, uint32_t source, uint32_t type,
                                   pcol_error *err);
/* Write the table source_types. */
pcol_status pci_source_types_finish(pcol_builder *b, pcol_error *err);

/* Layout of the file: tables and columns that it has (write_file.c). */
struct pci_table_plan {
    uint32_t *table_number; /* by table of the builder: 1 + index in the file, 0: omitted */
    uint64_t *rows;
    uint32_t *columns; /* by column of the builder: index in the file, PCOL_NONE: omitted */
    uint32_t parent, group, strings; /* indices of columns without a column buffer */
};
/* Encode all columns into the container (encode_tables.c). */
pcol_status pci_encode_columns(pcol_builder *b, struct pci_container *w,
                               const struct pci_table_plan *plan, pcol_error *err);

/* function_sums.c, in this order: new, before mappings are encoded (NULL: no such table); begin,
 * after stacks have final rows; add, one task per lane; put, to columns. Begin and add only read
 * the columns of samples, functions, groups and stacks. Lanes share the sample types and may run
 * in parallel. */
#define PCI_SUM_LANES 2u
struct pci_function_sums;
pcol_status pci_function_sums_new(pcol_builder *b, struct pci_function_sums **sums,
                                  pcol_error *err);
pcol_status pci_function_sums_begin(struct pci_function_sums *sums, pcol_error *err);
pcol_status pci_function_sums_add(struct pci_function_sums *sums, size_t lane, pcol_error *err);
pcol_status pci_function_sums_finish(struct pci_function_sums *sums, pcol_error *err);
void pci_function_sums_free(struct pci_function_sums *sums);

/* Append the tables that are derived from others (derived_tables.c). */
pcol_status pci_build_derived_tables(pcol_builder *b, int plain, pcol_error *err);

/* E_STATE after the builder was written, or an import failed. */
static inline pcol_status pci_builder_check_open(const pcol_builder *builder, pcol_error *err)
{
    PCI_REQUIRE(builder, err);
    return builder->sealed ? pci_fail(err, PCOL_E_STATE, "%s", builder->sealed) : PCOL_OK;
}

#endif
