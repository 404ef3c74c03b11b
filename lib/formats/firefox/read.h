/*
 * read.h - reader of processed profiles of the Firefox Profiler
 *
 * A profile is a set of tables of columns. Tables refer to each other by row number, in any order:
 * samples before stacks, threads before the tables that threads share. The reader therefore buffers
 * each column as cells (in a spill store, at most eight bytes each), and converts the tables to
 * rows of the builder, from strings to samples, when everything that they refer to is known.
 *
 * Round trip: a column whose cells all follow from the rows of the builder gets only a row in
 * source_columns. The cells of every other column, known or unknown, are preserved in source_cells.
 */
#ifndef PCI_FIREFOX_READ_H
#define PCI_FIREFOX_READ_H

#include "builder/builder.h"
#include "builder/rows.h"
#include "formats/firefox/array_prefetch.h"
#include "formats/firefox/cell_buffer.h"
#include "formats/firefox/stream.h"
#include "formats/format.h"

#include <string.h>

/* ---- tables of the source */

struct pci_ff_column {
    uint32_t name;
    uint8_t scalar; /* one cell instead of an array */
    struct pci_ff_cells cells;
    struct pci_ff_position position;
};

struct pci_ff_table {
    uint8_t present;
    struct pci_ff_column *columns;
    size_t count, capacity;
    uint64_t rows;
    struct pci_ff_position position;
    char path[64]; /* "threads[3].samples" */
};

/* Whether rows are in the order of their first use (first_use_detect.c). */
#define PCI_FF_UNORDERED UINT64_MAX
struct pci_ff_uses {
    uint64_t next[PCI_FF_TABLES]; /* the row number that a new row must have */
    uint64_t first_string; /* number of the first used string; the strings before it are listed */
    int has_string;
};

/* Tables of one thread, or the tables that all threads share. */
struct pci_ff_scope {
    uint32_t thread; /* row of threads; PCOL_NONE: the shared tables */
    struct pci_ff_table tables[PCI_FF_TABLES];
    uint32_t *map[PCI_FF_TABLES]; /* row of the source's table -> row of the builder */
    uint64_t rows[PCI_FF_TABLES];
    uint8_t *repeated; /* strings: equal to an earlier string of the table */
    int has_repeated;
    struct pci_ff_uses uses;
    uint32_t *file_names;     /* by row of `sources`: string or PCOL_NONE */
    uint32_t *resource_lib;   /* by row of resourceTable: row of mappings or PCOL_NONE */
    uint32_t *resource_names; /* by row of resourceTable: row of stringArray or PCOL_NONE */
    uint32_t *function_lib;   /* by row of funcTable */
    struct pci_label *labels; /* members other than tables */
    size_t label_count, label_capacity;
    uint64_t extra;
    int has_length; /* the table of samples has a member `length` */
    char path[32];
};

/* A future row of source_columns. */
struct pci_ff_source_column {
    /* thread: PCOL_NONE for the document; the others are strings, form: PCOL_NONE for none */
    uint32_t thread, table, column, form;
    uint32_t rank; /* position among the distinct triples (table, column, form) */
    uint8_t has_cells;
    uint64_t first, count; /* rows of source_cells */
};

struct pci_ff_counter {
    struct pci_ff_table samples;
    uint32_t row;
};

/* Counts, for one table of the source, how many of its rows map to each row of the builder. A new
 * epoch resets all counts. */
struct pci_ff_duplicates {
    uint32_t *epochs, *counts;
    size_t epoch_capacity, count_capacity;
    uint32_t epoch;
};

struct pci_ff {
    struct pci_import *import;
    pcol_builder *b;
    struct pci_ff_stream in;
    struct pci_ff_prefetch *prefetch; /* NULL: no thread reads ahead */
    struct pci_ff_scope shared;
    struct pci_ff_scope **threads;
    size_t thread_count, thread_capacity;
    uint32_t *key_thread; /* by string: number (from 1) of the last thread that had it as a key */
    size_t key_capacity;
    struct pci_ff_counter **counters;
    size_t counter_count, counter_capacity;
    struct pci_ff_text text; /* buffer for values that are parsed twice */
    struct pci_ff_source_column *source_columns;
    size_t source_column_count, source_column_capacity;

    unsigned seen; /* members of the document that were read: a bit each, by enum pci_ff_member */
    /* the shared tables are converted; each thread is converted when it has been read */
    int shared_converted;
    int has_shared_tables; /* `shared` has tables */
    /* of samples */
    int has_samples_table, has_type;
    unsigned first_weight_type;
    /* from meta */
    int has_meta, has_version;
    int64_t version;
    double interval_ms, start_ms, duration_ms;
    int has_interval, has_start;
    enum pci_ff_cpu_unit cpu_unit;
    uint64_t category_base, category_count;
    uint32_t *subcategories; /* by category: number of its subcategories */
    size_t subcategory_capacity;

    uint64_t root; /* node of the document */
    uint32_t first_thread;
    uint64_t marker_base, marker_rows;
    uint64_t joined_rows; /* samples that collapse_idle joined to the previous row */
    struct pci_ff_duplicates duplicates[PCI_FF_TABLES];
    /* by node: number of rows of the current table of stacks that map to it, at most 2 */
    uint8_t *marks;
    size_t mark_capacity;
    uint32_t *clones; /* by group: the next equal group, for stacks that occur twice */
    uint32_t *equals; /* by node that occurs twice in a table: the group of its last duplicate */
    size_t clone_capacity, equal_capacity;
    uint32_t clone_count;
    struct pci_ff_cloner *cloner;
};

/* table.c: reads one table of the source into columns. The current token must be the first of its
 * value. */
pcol_status pci_ff_table_read(struct pci_ff *ff, struct pci_ff_table *table, const char *path,
                              pcol_error *err);
/* Read an array of strings. */
pcol_status pci_ff_strings_read(struct pci_ff *ff, struct pci_ff_table *table, const char *path,
                                pcol_error *err);
void pci_ff_table_clear(struct pci_ff_table *table);
/* Release the cells; the number of rows remains. */
void pci_ff_table_release_cells(struct pci_ff_table *table);
/* Find a column by name. NULL if the table has none, or if it is no array (pci_ff_scalar: an
 * array). */
struct pci_ff_column *pci_ff_find_column(const struct pci_ff *ff, const struct pci_ff_table *table,
                                         const char *name);
struct pci_ff_column *pci_ff_find_scalar(const struct pci_ff *ff, const struct pci_ff_table *table,
                                         const char *name);
/* Set the number of rows, and check `length` and all columns against it. lenient: do not check. */
pcol_status pci_ff_table_count_rows(struct pci_ff *ff, struct pci_ff_table *table, int lenient,
                                    pcol_error *err);
/* Fail with E_SYNTAX at cell `row` of a column. */
pcol_status pci_ff_fail_cell(const struct pci_ff *ff, const struct pci_ff_table *table,
                             const struct pci_ff_column *column, uint64_t row, pcol_error *err,
                             const char *format, ...) PCI_PRINTF(6, 7);
/* Convert a value of any kind to a node as model/json_tree.h does; slabs are resolved. */
pcol_status pci_ff_to_nodes(struct pci_ff *ff, uint64_t parent, uint32_t key, uint64_t *node,
                            pcol_error *err);
/* Intern the current key in the builder. */
pcol_status pci_ff_intern_key(struct pci_ff *ff, uint32_t *key, pcol_error *err);
/* Read a member of an object that is stored as labels: a scalar becomes a label, anything else a
 * member of *extra. The current token must be the first of the value. */
pcol_status pci_ff_read_label(struct pci_ff *ff, uint32_t key, struct pci_label **labels,
                              size_t *count, size_t *capacity, uint64_t *extra, pcol_error *err);

/* read_markers.c: the data of markers is converted while it is read; the other tables are appended
 * later */
pcol_status pci_ff_read_marker_data(struct pci_ff *ff, struct pci_ff_column *column,
                                    pcol_error *err);
pcol_status pci_ff_append_markers(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t base,
                                  pcol_error *err);
pcol_status pci_ff_append_allocations(struct pci_ff *ff, struct pci_ff_scope *scope, int id,
                                      pcol_error *err);
pcol_status pci_ff_append_counter_samples(struct pci_ff *ff, struct pci_ff_counter *counter,
                                          size_t number, pcol_error *err);

/* read.c: converts the shared tables, then the tables of a thread */
pcol_status pci_ff_convert_shared(struct pci_ff *ff, pcol_error *err);
pcol_status pci_ff_convert_thread(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);

/* read_document.c */
enum pci_ff_member {
    PCI_FF_META,
    PCI_FF_ALL_LIBS,
    PCI_FF_SHARED,
    PCI_FF_THREADS,
    PCI_FF_COUNTERS,
    PCI_FF_OTHER
};
pcol_status pci_ff_read_document(struct pci_ff *ff, pcol_error *err);
/* meta.c: reads `meta`: version, units, times; its categories become tables */
pcol_status pci_ff_read_meta(struct pci_ff *ff, pcol_error *err);
/* libs.c: converts libs to rows of mappings */
pcol_status pci_ff_read_libs(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);

/* ---- column_map.c: cells of the source's tables to cells of the builder */

struct pci_ff_field {
    const struct pci_ff_spec *spec;
    struct pci_ff_column *column; /* NULL: the source has no such column */
    struct pci_ff_cursor *cursor;
    uint32_t number; /* of the builder's column; PCOL_NONE: not stored in a column of its own */
    int exact;       /* all cells so far follow from the builder's rows */
    const uint32_t *map;
    const uint8_t *repeated;
    uint64_t rows; /* of the table that the column refers to */
};
/* Prepare the fields of a table by a list of specs. `ours`: the builder's table, or PCOL_NONE. */
pcol_status pci_ff_fields_open(struct pci_ff *ff, struct pci_ff_scope *scope,
                               struct pci_ff_table *table, const struct pci_ff_spec *specs,
                               size_t count, uint32_t builder_table, struct pci_ff_field *fields,
                               pcol_error *err);
pcol_status pci_ff_field_get(struct pci_ff *ff, struct pci_ff_table *table,
                             struct pci_ff_field *field, uint64_t row, struct pci_cell_value *cell,
                             pcol_error *err);
void pci_ff_fields_close(struct pci_ff_field *fields, size_t count);
/* Count `row`; *before: how often the current table had it before. */
pcol_status pci_ff_count_duplicate_slow(struct pci_ff_duplicates *duplicates, uint32_t row,
                                        uint32_t *before, pcol_error *err);
static inline pcol_status pci_ff_count_duplicate(struct pci_ff_duplicates *duplicates, uint32_t row,
                                                 uint32_t *before, pcol_error *err)
{
    if (row >= duplicates->count_capacity || row >= duplicates->epoch_capacity ||
        duplicates->epochs[row] != duplicates->epoch)
        return pci_ff_count_duplicate_slow(duplicates, row, before, err);
    *before = duplicates->counts[row]++;
    return PCOL_OK;
}

/* Release the counters. */
void pci_ff_duplicates_clear(struct pci_ff_duplicates *duplicates);

/* ---- preserve_columns.c */
/* A column, and whether (`exact`) its cells follow from the builder's rows. */
struct pci_ff_claim {
    const struct pci_ff_column *column;
    const char *form;
    int exact;
};
/* Add a row of source_columns. cells: NULL, or the cells to preserve. */
pcol_status pci_ff_preserve(struct pci_ff *ff, uint32_t thread, const char *table, uint32_t column,
                            const char *form, const struct pci_ff_cells *cells, pcol_error *err);
/* Add a row of source_columns for every column of a table; preserve the cells of inexact
 * columns. */
pcol_status pci_ff_preserve_table(struct pci_ff *ff, uint32_t thread,
                                  const struct pci_ff_table *table, const char *name,
                                  const struct pci_ff_claim *claims, size_t count, pcol_error *err);
/* Write all rows of source_columns; nothing may be preserved afterwards. */
pcol_status pci_ff_write_source_columns(struct pci_ff *ff, pcol_error *err);
/* Make a claim for each of `count` fields; `claims` must have that capacity. */
size_t pci_ff_claim_fields(const struct pci_ff_field *fields, size_t count,
                           struct pci_ff_claim *claims);

/* ---- first_use_detect.c: whether rows are in the order of their first use */
/* Record that the next row of a referring table uses row `row` of table `id`. */
static inline void pci_ff_record_use(struct pci_ff_scope *scope, int id, uint64_t row)
{
    uint64_t *next = &scope->uses.next[id];
    if (row >= *next)
        *next = row == *next ? row + 1 : PCI_FF_UNORDERED;
}
void pci_ff_record_string_use(struct pci_ff_scope *scope, uint64_t row);
/* Record that a sample uses a stack, given by the source's row number. */
void pci_ff_record_stack_use(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t row);
void pci_ff_record_stack_uses(struct pci_ff *ff, struct pci_ff_scope *scope, const int64_t *rows,
                              size_t n, int64_t highest); /* highest: the maximum of rows[] */
/* Store the orders of all tables of a scope, after all uses were recorded. */
pcol_status pci_ff_record_orders(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);

/* resolve.c: converts strings, code and stacks of a scope */
pcol_status pci_ff_resolve(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);
/* The map of a table for a thread: the thread's own or the shared one. */
const uint32_t *pci_ff_get_map(const struct pci_ff *ff, const struct pci_ff_scope *scope, int id,
                               uint64_t *rows);
/* Add one more group for row `frame` of a scope's frames, with this number as a duplicate. */
pcol_status pci_ff_clone_frame(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t frame,
                               uint32_t variant, uint32_t *group, pcol_error *err);
void pci_ff_cloner_free(struct pci_ff *ff);
/* stacks.c */
#define PCI_FF_NO_CATEGORY INT64_MIN
pcol_status pci_ff_resolve_stacks(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);
/* samples.c */
pcol_status pci_ff_append_samples(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);
/* Without any sample, the sample type is that of the first thread. */
pcol_status pci_ff_finish_types(struct pci_ff *ff, pcol_error *err);

/* ---- times.c */
struct pci_ff_times {
    const struct pci_ff_table *table;
    struct pci_ff_column *column; /* NULL: the table has no times */
    struct pci_ff_cursor *cursor;
    int deltas;     /* each cell is the difference to the previous one */
    int exact;      /* all cells follow from ns and ulps */
    int all_real;   /* integral numbers are written with a decimal point */
    int64_t before; /* deltas: the sum of those read, */
    double rest;    /* and the part of a nanosecond that it lacks */
};
/* Open the column `name`. deltas: name of the column of differences to read without it, or NULL. */
pcol_status pci_ff_times_open(struct pci_ff *ff, const struct pci_ff_table *table, const char *name,
                              const char *deltas, struct pci_ff_times *times, pcol_error *err);
/* Get the time of a row in ns, and the difference of the source's double to ns / 1e6, in ulps. */
pcol_status pci_ff_times_get(struct pci_ff *ff, struct pci_ff_times *times, uint64_t row,
                             int *valid, int64_t *ns, int64_t *ulps, pcol_error *err);
/* The same for `n` rows, at most PCI_FF_BATCH. */
pcol_status pci_ff_times_get_batch(struct pci_ff *ff, struct pci_ff_times *times, uint64_t row,
                                   size_t n, uint8_t *valid, int64_t *ns, int64_t *ulps,
                                   pcol_error *err);
void pci_ff_times_close(struct pci_ff_times *times);
struct pci_ff_claim pci_ff_claim_times(const struct pci_ff_times *times);
/* Whether all cells are doubles. */
int pci_ff_all_real(const struct pci_ff_cells *cells);
/* Whether the writer will restore a number from its double value: an integral double is written
 * with a point only if all cells are doubles. */
int pci_ff_number_fits(int kind, int64_t value, int all_real, double *number);

/* ---- append_table.c: tables that belong to one thread or counter */
struct pci_ff_time_spec {
    const char *name, *deltas;
    const char *column, *ulps; /* columns of the builder */
};
struct pci_ff_append {
    struct pci_ff_table *table;
    struct pci_ff_scope *scope; /* scope of the strings and stacks that the table refers to */
    uint32_t thread;            /* as in source_columns */
    const char *name;           /* as in source_columns */
    uint32_t builder_table;
    uint64_t base; /* first row in the builder's table */
    const struct pci_ff_spec *specs;
    size_t spec_count;
    const struct pci_ff_time_spec *times;
    size_t time_count;
    struct pci_ff_claim further; /* one more column that follows from the builder's rows */
};
pcol_status pci_ff_append_table(struct pci_ff *ff, const struct pci_ff_append *append,
                                pcol_error *err);

/* Whether a category of the source has a subcategory `part`. Category numbers out of range, such as
 * PCI_NO_NODE, mean no category. Subcategory 0, "Other", always exists, even without a list. */
static inline int pci_ff_has_subcategory(const struct pci_ff *ff, uint64_t category, int64_t part)
{
    return !part || (part > 0 && category < ff->category_count &&
                     (uint64_t)part < ff->subcategories[category]);
}

#endif
