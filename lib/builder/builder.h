/*
 * builder.h - what a builder holds until the file is written
 *
 * Rows of tables are kept by column: the values that are there in one spool, and which rows have
 * one as run lengths. Functions, locations and groups are kept as structs while they are interned
 * and become columns at the end; call stacks live in a tree; label shapes and nodes are kept as
 * records (labels.c, value_tree.c); everything else is columns from the start.
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

/* Tables that every builder has, in file order. */
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

/* Columns that every builder has: their numbers in pcol_builder.columns. */
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

/* When a column is left out of the file. */
enum pci_drop {
    PCI_DROP_NULL, /* if all rows are null */
    PCI_DROP_ZERO, /* if all rows are 0; rows never set are 0 */
    PCI_DROP_NEVER
};

struct pci_column_buffer {
    char *name;
    uint32_t table;
    uint32_t references; /* table + 1, or 0 */
    uint8_t type;
    uint8_t drop;
    uint64_t rows;    /* appended, nulls included */
    uint64_t present; /* of them with a value */
    uint64_t named;   /* references: 1 + the greatest row that a caller named; checked at the end */
    int64_t first;
    int constant;            /* all present values are `first`; the spool is empty then */
    int64_t all_bits;        /* OR of all values: 0 means all are 0 */
    struct pci_spill values; /* for bytes: end offsets into data; the first `narrow` of four bytes,
                                signed, the others of eight */
    uint64_t narrow;
    int wide;              /* no value is narrow any more */
    struct pci_spill runs; /* lengths, alternately of rows with and without value, with first:
                                7 bits a byte, the lowest first, bit 7 set but in the last byte */
    uint64_t run;          /* length of the run being counted */
    int run_valid;
    struct pci_spill data; /* bytes */
};

struct pci_table_buffer {
    char *name;
    uint64_t rows; /* at least; columns may have more */
    uint16_t flags;
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

struct pci_sample_type_record {
    uint32_t type, unit, flags, ordinal;
    uint32_t column; /* of samples */
    uint32_t noted;  /* 1 + a source that is known to have it */
    uint64_t turn;   /* sample_turn of the newest sample with a value of it */
};

/* intern.c: distinct lists of cells, each with a number from 0 */
struct pci_intern {
    struct pci_hash hash;
    uint32_t *variants; /* by number */
    uint64_t *starts;   /* by number, and one more: its cells in the arrays below */
    uint32_t *columns;
    int64_t *bits;
    size_t count, variant_capacity, start_capacity;
    size_t cell_count, column_capacity, bits_capacity;
};

struct pci_interned {
    uint32_t table;
    uint32_t source_count; /* of the builder when `next` was found */
    uint64_t next;         /* row of the table that the next new one becomes */
    uint32_t *at;          /* by id: its row of the table */
    size_t at_capacity;
    struct pci_intern rows;
};

/* labels.c */
struct pci_label_key_record { /* a row of label_keys */
    uint32_t table, key, unit;
    uint32_t occurrence;
    uint32_t column; /* of the builder; PCOL_NONE: not made yet, or the kind has none */
    uint32_t base;   /* the row with occurrence 0 */
    uint32_t next;   /* the row with the next occurrence; PCOL_NONE: none yet */
    uint8_t kind;
    /* of a row with occurrence 0: */
    uint32_t current; /* which occurrence was used last, by the row below */
    uint64_t row_serial;
};

struct pci_label_previous { /* an entry of the row before */
    uint32_t key, unit;
    uint8_t kind;
    uint32_t number; /* of label_keys; PCOL_NONE: in `extra` */
};

struct pci_label_table {
    uint32_t table;
    uint32_t column_count; /* label columns */
    uint32_t shape, extra; /* columns of the builder; PCOL_NONE: none yet */
    uint64_t next_row;
    struct pci_label_previous *last;
    uint32_t
        *entries; /* the shape of the row before: 2 * (number + 1) + joined; 0 + joined: extra */
    size_t last_count, last_capacity, entry_capacity;
    uint32_t last_shape; /* PCOL_NONE: none */
};

struct pci_label_store {
    struct pci_label_key_record *keys;
    size_t count, capacity;
    struct pci_hash hash; /* of those with occurrence 0 */
    struct pci_label_table *tables;
    size_t table_count, table_capacity;
    uint32_t *shape_entries;
    size_t entry_count, entry_capacity;
    uint64_t *shape_starts; /* by shape, and one more */
    size_t shape_count, shape_capacity;
    struct pci_hash shape_hash;
    uint64_t serial;
};

/* value_tree.c */
struct pci_node_record {
    uint32_t parent; /* PCOL_NONE: a root */
    uint32_t key, text;
    uint8_t tag, reversed, unused[2];
    int64_t value; /* typed arrays: their number */
};

struct pci_node_store {
    struct pci_spill records, arrays[2]; /* arrays: first element and count of each typed array */
    uint64_t element_count[2];
    uint32_t open[2]; /* the typed array that takes elements; PCOL_NONE: none */
    uint64_t open_first[2];
    uint32_t value_column[2], value_table[2];
    uint64_t count;
    uint32_t table; /* PCOL_NONE: none yet */
    int ordered;    /* the nodes stand in pre-order */
    uint32_t *path; /* while ordered: the node added last and its ancestors, outermost first */
    size_t path_size, path_capacity;
    uint32_t *place; /* after finishing, if not ordered: final row by node */
};

/* source_order.c */
struct pci_source_order {
    uint32_t columns[7]; /* of source_rows; PCOL_NONE: no table yet */
    uint32_t form_columns[5];
    uint32_t target_name; /* of `last` */
    struct pci_source_row last;
    /* Whole tables of the only source so far. */
    struct pci_source_order_table {
        struct pci_source_row first;
        uint64_t count;
        const char *name; /* of the source's table, if first.table is not known yet */
    } * waiting;
    size_t waiting_count, waiting_capacity;
    struct pci_source_table { /* the tables that have rows */
        uint32_t source, table;
    } * said;
    size_t said_count, said_capacity;
};

struct pcol_builder {
    struct pci_budget budget; /* of all that is imported */
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
    struct pci_hash function_hash;
    struct pci_group_record *groups;
    size_t group_count, group_capacity;
    struct pci_hash group_hash;
    pcol_line *lines; /* of all groups, one behind the other */
    size_t line_count, line_capacity;
    struct pci_sample_type_record *types;
    size_t type_count, type_capacity;
    struct pci_hash type_hash;
    uint32_t source_count;
    int64_t interval_ns;  /* of the first source that has one; 0: none */
    int intervals_differ; /* another one has been imported */
    uint64_t sample_count;
    struct pci_interned **interned; /* by table; NULL: not interned */
    size_t interned_capacity;
    struct pci_intern variants; /* further cells of functions and groups */
    struct pci_label_store labels;
    struct pci_node_store nodes;
    struct pci_source_order order;
    struct pci_pair_set source_types; /* sources and their types */
    struct pci_string_pool meta_keys; /* those of source_meta; kept apart from the file's
                                           strings, */
    struct pci_pair_set metas;        /* among which a key may stand by another name */
    unsigned threads;                 /* for writing */
    uint64_t mapping_named;           /* as pci_column_buffer.named, of groups */
    uint64_t sample_turn;             /* counts samples, with those that are refused */
    int written;                      /* or about to be */
    int sealed;                       /* pcol_builder_write() has ended */
};

/* tables.c: a table that there is not yet; rows of a table so far */
pcol_status pci_builder_add_table(pcol_builder *b, const char *name, pcol_error *err);
uint64_t pci_builder_rows(const pcol_builder *builder, uint32_t table);
/* Whether each row that callers named is there; rows: of each table, in the end. */
pcol_status pci_builder_check_rows(const pcol_builder *b, const uint64_t *rows, pcol_error *err);
/* A cell of a column that is not BYTES: a string's code, the bits of a double. */
pcol_status pci_builder_set_bits(pcol_builder *builder, uint32_t column, uint64_t row, int64_t bits,
                                 pcol_error *err);
/* NULL and an error if the column does not exist in this table. */
struct pci_column_buffer *pci_builder_get_column(pcol_builder *builder, uint32_t table,
                                                 uint32_t column, pcol_error *err);

/* Each room's start and end of state. */
void pci_intern_clear(struct pci_intern *intern);
void pci_interned_free(pcol_builder *builder);
void pci_label_store_clear(struct pci_label_store *labels);
void pci_node_store_init(struct pci_node_store *nodes, struct pci_spill_store *store);
void pci_node_store_clear(struct pci_node_store *nodes);
void pci_source_order_init(struct pci_source_order *order);
void pci_source_order_clear(struct pci_source_order *order);
/* pci_builder_source_table() of an only source, without making a string of the name, which outlives
 * the builder: a file packed anew has no string more. */
pcol_status pci_source_order_defer(pcol_builder *builder, const struct pci_source_row *row,
                                   const char *name, uint64_t count, pcol_error *err);
/* There is a further source: what waited for one becomes rows. */
pcol_status pci_source_order_flush(pcol_builder *builder, pcol_error *err);

/* Records to columns. Labels before the strings are sorted, nodes and order after strings and
 * stacks have their final places. */
pcol_status pci_label_store_finish(pcol_builder *builder, pcol_error *err);
pcol_status pci_node_store_finish(pcol_builder *builder, pcol_error *err);
pcol_status pci_source_order_finish(pcol_builder *builder, pcol_error *err);
/* For copying files: a typed array whose elements are there already; an element that no array has
 * begun for. kind: 0 integers, 1 doubles. */
pcol_status pci_node_array_copy(pcol_builder *builder, const struct pci_new_node *node,
                                uint64_t first, uint64_t count, uint64_t *row, pcol_error *err);
pcol_status pci_node_element_copy(pcol_builder *builder, int kind, int64_t bits, pcol_error *err);
/* Where rows of a table end up: NULL if they stay. */
const uint32_t *pci_final_rows(const pcol_builder *builder, uint32_t table);

/* `count` samples of one thread, all with the same columns. NULL: none of them has that column. */
struct pci_sample_rows {
    size_t count;
    uint32_t source, thread, sample_type; /* thread: PCOL_NONE for none */
    const int64_t *stacks, *times_ns, *cpu_deltas_ns;
    const int64_t *values; /* of the sample type; bits of doubles, if it has such */
    int64_t value;         /* of all of them if `has_value` and values is NULL */
    int has_value;
};
/* As so many calls of pcol_builder_sample(), at a fraction of the cost. *row: of the first. */
pcol_status pci_builder_samples(pcol_builder *builder, const struct pci_sample_rows *samples,
                                uint64_t *row, pcol_error *err);

/* labels.c, for copying files: row K of label_keys (made if it is not there yet), and its
 * column. */
pcol_status pci_label_number(pcol_builder *builder, uint32_t table, uint32_t key, uint32_t unit,
                             uint8_t kind, uint32_t occurrence, uint32_t *number, pcol_error *err);
pcol_status pci_label_column(pcol_builder *builder, uint32_t number, uint32_t *column,
                             pcol_error *err);
pcol_status pci_label_shape(pcol_builder *builder, const uint32_t *entries, size_t count,
                            uint32_t *shape, pcol_error *err);
pcol_status pci_label_tables(pcol_builder *builder, pcol_error *err);

/* column_buffer.c */
/* The number of the table's column of that name, or PCI_HASH_NONE. */
uint32_t pci_column_buffer_find(const pcol_builder *b, uint32_t table, const char *name);
/* A column that is not one of the builder's, and belongs to the caller; NULL: out of memory. */
struct pci_column_buffer *pci_column_buffer_make(pcol_builder *b, uint32_t table, const char *name,
                                                 uint8_t type, uint32_t references, uint8_t drop);
pcol_status pci_column_buffer_new(pcol_builder *b, uint32_t table, const char *name, uint8_t type,
                                  uint32_t references, uint8_t drop, uint32_t *column,
                                  pcol_error *err);
void pci_column_buffer_free(struct pci_column_buffer *column);
/* As if no row had been set. */
void pci_column_buffer_reset(struct pci_column_buffer *column);
pcol_status pci_column_buffer_set(struct pci_column_buffer *column, uint64_t row, int64_t value,
                                  pcol_error *err);
/* The same for `n` rows from `row` on, and for `n` rows of one value: a fraction of the cost of as
 * many calls of pci_column_buffer_set(). */
pcol_status pci_column_buffer_set_many(struct pci_column_buffer *column, uint64_t row,
                                       const int64_t *values, size_t n, pcol_error *err);
pcol_status pci_column_buffer_repeat(struct pci_column_buffer *column, uint64_t row, int64_t value,
                                     uint64_t n, pcol_error *err);
pcol_status pci_column_buffer_set_bytes(struct pci_column_buffer *column, uint64_t row,
                                        const char *data, size_t size, pcol_error *err);
/* Rows up to `rows` are null, or 0 with PCI_DROP_ZERO. */
pcol_status pci_column_buffer_fill(struct pci_column_buffer *column, uint64_t rows,
                                   pcol_error *err);

/* pcol_builder_sample_type() for names that may hold NUL: their strings. */
pcol_status pci_builder_sample_type(pcol_builder *b, uint32_t type, uint32_t unit, unsigned flags,
                                    uint32_t ordinal, uint32_t *row, pcol_error *err);

/* A column as a source; `map` translates values (string ranks, stack places) or is NULL. */
struct pci_column_buffer_source {
    struct pci_value_source source;
    const struct pci_column_buffer *column;
    const uint32_t *map;
    uint64_t value; /* next present value */
    uint64_t run_left;
    int run_valid;
    /* Windows over the column's spools: rows with and without value may take turns. */
    uint64_t run_at; /* offset of the first byte behind the window */
    size_t run_used, run_count;
    uint8_t run_window[256];
    uint64_t window_first; /* number of the window's first value */
    size_t window_count;
    int64_t window[256];
};
void pci_column_buffer_source_init(struct pci_column_buffer_source *source,
                                   const struct pci_column_buffer *column, const uint32_t *map);

/* source_meta.c: a source has this key; *again: it had it before. */
/* Record the interval of a source; the first that differs from an earlier source's is reported. */
void pci_builder_interval(pcol_builder *b, int64_t interval_ns, pcol_message_fn message,
                          void *context);
pcol_status pci_source_meta_note(pcol_builder *b, uint32_t source, pcol_str key, int *again,
                                 pcol_error *err);

/* source_types.c: that a source has a type; then, once, the rows of source_types */
pcol_status pci_source_type_note(pcol_builder *b, uint32_t source, uint32_t type, pcol_error *err);
pcol_status pci_source_types_finish(pcol_builder *b, pcol_error *err);

/* encode_tables.c: which tables and columns the file has */
struct pci_table_plan {
    uint32_t *table_number; /* by table of the builder: 1 + number in the file, 0: left out */
    uint64_t *rows;
    uint32_t *columns; /* by column of the builder: number in the file, PCOL_NONE: left out */
    uint32_t parent, group, strings; /* columns that are no bcols */
};
pcol_status pci_encode_columns(pcol_builder *b, struct pci_container *w,
                               const struct pci_table_plan *plan, pcol_error *err);

/* function_sums.c: made before strings are sorted, since it may need some (NULL: no such table),
 * begun when stacks have their places, added up, then put into columns. Beginning and adding up
 * read columns of samples, functions, groups and stacks and change nothing of them. Adding up is a
 * task for each lane, which share the sample types and may be beside each other. */
#define PCI_SUM_LANES 2u
struct pci_function_sums;
pcol_status pci_function_sums_new(pcol_builder *b, struct pci_function_sums **sums,
                                  pcol_error *err);
pcol_status pci_function_sums_begin(struct pci_function_sums *sums, pcol_error *err);
pcol_status pci_function_sums_add(struct pci_function_sums *sums, size_t lane, pcol_error *err);
pcol_status pci_function_sums_put(struct pci_function_sums *sums, pcol_error *err);
void pci_function_sums_free(struct pci_function_sums *sums);

/* derived_tables.c: tables made from others when the file is written */
pcol_status pci_build_derived_tables(pcol_builder *b, int plain, pcol_error *err);

/* Whether a caller may add to it still. */
static inline pcol_status pci_builder_check_open(const pcol_builder *builder, pcol_error *err)
{
    PCI_REQUIRE(builder, err);
    return builder->sealed
               ? pci_fail(err, PCOL_E_STATE, "the builder was written and takes no more")
               : PCOL_OK;
}

#endif
