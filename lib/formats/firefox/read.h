/*
 * read.h - reading a Firefox Profiler profile
 *
 * A profile is a set of tables of columns that refer to each other by row number, in any order:
 * samples before stacks, threads before what they share. So each column is first kept as cells
 * (spooled, eight bytes each and less); when the document is over, the tables become rows of ours
 * from the strings up to the samples.
 *
 * What comes back when the profile is written again is decided here, column by column: a column
 * whose cells all follow from our rows is only named (source_columns); one of which any cell does
 * not follow, and one that is not known, is kept as it was (source_cells). Whatever a profile
 * holds, its value comes back.
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

/* ---- tables as they were */

struct pci_ff_column {
    uint32_t name;
    uint8_t scalar; /* not an array: one cell */
    struct pci_ff_cells cells;
    struct pci_ff_place place;
};

struct pci_ff_table {
    uint8_t present;
    struct pci_ff_column *columns;
    size_t count, capacity;
    uint64_t rows;
    struct pci_ff_place place;
    char path[64]; /* "threads[3].samples" */
};

/* Whether rows stand in the order of their first use (first_use_detect.c). */
#define PCI_FF_EMIT_OF_ORDER UINT64_MAX
struct pci_ff_uses {
    uint64_t next[PCI_FF_TABLES]; /* the row that a new one must be */
    uint64_t first_string;        /* the first that is used; those before it are listed */
    int has_string;
};

/* What a thread holds, or what all share. */
struct pci_ff_scope {
    uint32_t thread; /* row of threads; PCOL_NONE: shared */
    struct pci_ff_table tables[PCI_FF_TABLES];
    uint32_t *map[PCI_FF_TABLES]; /* by row of the source's table: ours */
    uint64_t rows[PCI_FF_TABLES];
    uint8_t *repeated; /* strings: equal to one before */
    int has_repeated;
    struct pci_ff_uses uses;
    uint32_t *file_names;     /* by row of `sources`: code or PCOL_NONE */
    uint32_t *resource_lib;   /* by row of resourceTable: row of mappings or PCOL_NONE */
    uint32_t *resource_names; /* the same: row of stringArray or PCOL_NONE */
    uint32_t *function_lib;   /* by row of funcTable */
    struct pci_label *labels; /* members that are no tables */
    size_t label_count, label_capacity;
    uint64_t extra;
    int has_length; /* its samples say how many they are */
    char path[32];
};

/* A row of source_columns to be. */
struct pci_ff_named {
    uint32_t thread, table, column, form; /* PCOL_NONE: the document; strings; PCOL_NONE: none */
    uint32_t rank;                        /* among all that differ in table, column or form */
    uint8_t has_cells;
    uint64_t first, count; /* of source_cells */
};

struct pci_ff_counter {
    struct pci_ff_table samples;
    uint32_t row;
};

/* Counts rows of a table that were taken by one table of the source, to tell duplicates apart. */
struct pci_ff_taken {
    uint32_t *epochs, *counts;
    size_t epoch_capacity, count_capacity;
    uint32_t epoch;
};

struct pci_ff {
    struct pci_import *import;
    pcol_builder *b;
    struct pci_ff_stream in;
    struct pci_ff_prefetch *ahead; /* NULL: nobody reads ahead */
    struct pci_ff_scope shared;
    struct pci_ff_scope **threads;
    size_t thread_count, thread_capacity;
    uint32_t *key_thread; /* by string: the thread, from 1, in which it last was a key */
    size_t key_capacity;
    struct pci_ff_counter **counters;
    size_t counter_count, counter_capacity;
    struct pci_ff_text text; /* for what is read twice */
    struct pci_ff_named *named;
    size_t named_count, named_capacity;

    unsigned seen; /* members of the document, by enum pci_ff_member */
    int begun;     /* what threads need is there: each becomes rows of ours when it has been read */
    /* of meta */
    int has_meta, has_version;
    int64_t version;
    double interval_ms, start_ms, duration_ms;
    int has_interval, has_start;
    enum pci_ff_cpu_unit cpu_unit;
    uint64_t category_base, category_count;
    uint32_t *subcategories; /* by category: how many */
    size_t subcategory_capacity;

    uint64_t root; /* node: the document */
    uint32_t first_thread;
    uint64_t marker_base, marker_rows;
    uint64_t join_rows; /* rows that were joined to the one before */
    struct pci_ff_taken taken[PCI_FF_TABLES];
    uint8_t *marks; /* by node: how many rows of the table of stacks at hand it is, up to 2 */
    size_t mark_capacity;
    uint32_t *clones; /* by group: the next one equal to it, for stacks that are there twice */
    uint32_t *equals; /* by node that a table has twice: the group of its last duplicate */
    size_t clone_capacity, equal_capacity;
    uint32_t clone_count;
    struct pci_ff_cloner *cloner;
};

/* table.c: a table of the source into columns; the current token is the first of its value */
pcol_status pci_ff_table_read(struct pci_ff *ff, struct pci_ff_table *table, const char *path,
                              pcol_error *err);
/* The array of strings. */
pcol_status pci_ff_strings_read(struct pci_ff *ff, struct pci_ff_table *table, const char *path,
                                pcol_error *err);
void pci_ff_table_clear(struct pci_ff_table *table);
/* Its cells are not needed any more; how many rows it had stays known. */
void pci_ff_table_forget(struct pci_ff_table *table);
/* By name; NULL if the table has none or it is not an array (scalar: if it is one). */
struct pci_ff_column *pci_ff_column(const struct pci_ff *ff, const struct pci_ff_table *table,
                                    const char *name);
struct pci_ff_column *pci_ff_scalar(const struct pci_ff *ff, const struct pci_ff_table *table,
                                    const char *name);
/* The number of rows, by `length` and by all columns. */
pcol_status pci_ff_table_measure(struct pci_ff *ff, struct pci_ff_table *table, int lenient,
                                 pcol_error *err);
/* One element of a column of scalars: append the current token. */
pcol_status pci_ff_token_cell(struct pci_ff *ff, struct pci_ff_cells *cells, pcol_error *err);
/* E_SYNTAX at cell `row` of a column. */
pcol_status pci_ff_fail_cell(const struct pci_ff *ff, const struct pci_ff_table *table,
                             const struct pci_ff_column *column, uint64_t row, pcol_error *err,
                             const char *format, ...) PCI_PRINTF(6, 7);
/* A value of any kind as a node, as model/json_tree.h does, across slabs. */
pcol_status pci_ff_to_nodes(struct pci_ff *ff, uint64_t parent, uint32_t key, uint64_t *node,
                            pcol_error *err);
/* The current key as a string of the builder. */
pcol_status pci_ff_key(struct pci_ff *ff, uint32_t *key, pcol_error *err);
/* A member of an object that is kept by labels: a scalar becomes a label, anything else a member of
 * *extra; the current token is the first of its value. */
pcol_status pci_ff_label(struct pci_ff *ff, uint32_t key, struct pci_label **labels, size_t *count,
                         size_t *capacity, uint64_t *extra, pcol_error *err);

/* write_events.c: the data of markers, while they are read; then tables whose rows are appended */
pcol_status pci_ff_marker_data(struct pci_ff *ff, struct pci_ff_column *column, pcol_error *err);
pcol_status pci_ff_markers(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t base,
                           pcol_error *err);
pcol_status pci_ff_allocations(struct pci_ff *ff, struct pci_ff_scope *scope, int id,
                               pcol_error *err);
pcol_status pci_ff_counter_samples(struct pci_ff *ff, struct pci_ff_counter *counter, size_t number,
                                   pcol_error *err);

/* read.c: what all threads need becomes rows of ours; then a thread does. */
pcol_status pci_ff_begin(struct pci_ff *ff, pcol_error *err);
pcol_status pci_ff_finish_thread(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);

/* read_document.c */
enum pci_ff_member {
    PCI_FF_META,
    PCI_FF_ALL_LIBS,
    PCI_FF_SHARED,
    PCI_FF_THREADS,
    PCI_FF_COUNTERS,
    PCI_FF_OTHER
};
pcol_status pci_ff_document(struct pci_ff *ff, pcol_error *err);
/* meta.c: what the rest needs of the member meta, and its categories as tables */
pcol_status pci_ff_meta(struct pci_ff *ff, pcol_error *err);
/* libs.c: libs as rows of mappings */
pcol_status pci_ff_libs(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);

/* ---- column_map.c: cells of the source's tables to cells of ours */

struct pci_ff_field {
    const struct pci_ff_spec *spec;
    struct pci_ff_column *column; /* NULL: the source has none */
    struct pci_ff_cursor *cursor;
    uint32_t number; /* of the builder's column; PCOL_NONE: not a column of its own */
    int exact;       /* all cells so far follow from ours */
    const uint32_t *map;
    const uint8_t *repeated;
    uint64_t rows; /* of the table that it refers to */
};
/* Prepare the fields of a table by a list of specs; `ours`: the builder's table, or PCOL_NONE. */
pcol_status pci_ff_fields_open(struct pci_ff *ff, struct pci_ff_scope *scope,
                               struct pci_ff_table *table, const struct pci_ff_spec *specs,
                               size_t count, uint32_t ours, struct pci_ff_field *fields,
                               pcol_error *err);
pcol_status pci_ff_field_get(struct pci_ff *ff, struct pci_ff_table *table,
                             struct pci_ff_field *field, uint64_t row, struct pci_cell_value *cell,
                             pcol_error *err);
void pci_ff_fields_close(struct pci_ff_field *fields, size_t count);
/* How many rows equal to `row` the table at hand had before. */
pcol_status pci_ff_take_first(struct pci_ff_taken *taken, uint32_t row, uint32_t *before,
                              pcol_error *err);
static inline pcol_status pci_ff_take(struct pci_ff_taken *taken, uint32_t row, uint32_t *before,
                                      pcol_error *err)
{
    if (row >= taken->count_capacity || row >= taken->epoch_capacity ||
        taken->epochs[row] != taken->epoch)
        return pci_ff_take_first(taken, row, before, err);
    *before = taken->counts[row]++;
    return PCOL_OK;
}

/* Forget all counts, to have the memory back. */
void pci_ff_take_end(struct pci_ff_taken *taken);

/* ---- preserve_columns.c */
/* A column whose cells follow from ours, if `exact`. */
struct pci_ff_claim {
    const struct pci_ff_column *column;
    const char *form;
    int exact;
};
/* A row of source_columns; cells: NULL, or what is kept of it. */
pcol_status pci_ff_preserve(struct pci_ff *ff, uint32_t thread, const char *table, uint32_t column,
                            const char *form, const struct pci_ff_cells *cells, pcol_error *err);
/* Name or keep every column of a table. */
pcol_status pci_ff_preserve_table(struct pci_ff *ff, uint32_t thread,
                                  const struct pci_ff_table *table, const char *name,
                                  const struct pci_ff_claim *claims, size_t count, pcol_error *err);
/* All rows of source_columns, when nothing more is kept. */
pcol_status pci_ff_preserve_end(struct pci_ff *ff, pcol_error *err);
/* What a list of fields claims; `claims` has room for as many. */
size_t pci_ff_claim_fields(const struct pci_ff_field *fields, size_t count,
                           struct pci_ff_claim *claims);

/* ---- first_use_detect.c: the order of rows */
/* Row `row` of a table is used, by the next row of the table that tells its order. */
static inline void pci_ff_use(struct pci_ff_scope *scope, int id, uint64_t row)
{
    uint64_t *next = &scope->uses.next[id];
    if (row >= *next)
        *next = row == *next ? row + 1 : PCI_FF_EMIT_OF_ORDER;
}
void pci_ff_use_string(struct pci_ff_scope *scope, uint64_t row);
/* A sample names a stack, by the source's row. */
void pci_ff_use_stack(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t row);
void pci_ff_use_stacks(struct pci_ff *ff, struct pci_ff_scope *scope, const int64_t *rows, size_t n,
                       int64_t highest); /* the highest of them */
/* The orders of all tables of a scope, when all that uses their rows is known. */
pcol_status pci_ff_orders(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);

/* resolve.c: strings, code and stacks of a scope */
pcol_status pci_ff_resolve(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);
/* The map of a table for a thread: its own or the shared one. */
const uint32_t *pci_ff_map(const struct pci_ff *ff, const struct pci_ff_scope *scope, int id,
                           uint64_t *rows);
/* One more group for row `frame` of a scope's frames, with this number as a duplicate. */
pcol_status pci_ff_clone_frame(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t frame,
                               uint32_t variant, uint32_t *group, pcol_error *err);
void pci_ff_clone_end(struct pci_ff *ff);
/* stacks.c */
#define PCI_FF_NO_CATEGORY INT64_MIN
pcol_status pci_ff_stacks(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);
/* samples.c */
pcol_status pci_ff_samples(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err);

/* ---- times.c */
struct pci_ff_times {
    const struct pci_ff_table *table;
    struct pci_ff_column *column; /* NULL: no times */
    struct pci_ff_cursor *cursor;
    int deltas;   /* each cell is the distance from the one before */
    int exact;    /* comes back from ns and ulps */
    int all_real; /* whole numbers are written with a point */
    int64_t before;
};
/* deltas: name of the column that holds distances, or NULL. */
pcol_status pci_ff_times_open(struct pci_ff *ff, const struct pci_ff_table *table, const char *name,
                              const char *deltas, struct pci_ff_times *times, pcol_error *err);
/* The time of a row in ns, and how many doubles the source's number lies above ns / 1e6. */
pcol_status pci_ff_times_get(struct pci_ff *ff, struct pci_ff_times *times, uint64_t row,
                             int *valid, int64_t *ns, int64_t *ulps, pcol_error *err);
/* The same for `n` rows, at most PCI_FF_BATCH. */
pcol_status pci_ff_times_some(struct pci_ff *ff, struct pci_ff_times *times, uint64_t row, size_t n,
                              uint8_t *valid, int64_t *ns, int64_t *ulps, pcol_error *err);
void pci_ff_times_close(struct pci_ff_times *times);
struct pci_ff_claim pci_ff_claim_times(const struct pci_ff_times *times);
/* Whether all cells are doubles. */
int pci_ff_all_real(const struct pci_ff_cells *cells);
/* A number's exact value as the source will write it again: a whole double is one only if all
 * are. */
int pci_ff_number_fits(int kind, int64_t value, int all_real, double *number);

/* ---- read_events.c: tables whose rows are not shared */
struct pci_ff_time_spec {
    const char *name, *deltas;
    const char *column, *ulps; /* ours */
};
struct pci_ff_append {
    struct pci_ff_table *table;
    struct pci_ff_scope *scope; /* whose strings and stacks it names */
    uint32_t thread;            /* of source_columns */
    const char *name;           /* there */
    uint32_t ours;
    uint64_t base; /* its first row in ours */
    const struct pci_ff_spec *specs;
    size_t spec_count;
    const struct pci_ff_time_spec *times;
    size_t time_count;
    struct pci_ff_claim further; /* one more column that comes back by itself */
};
pcol_status pci_ff_append_table(struct pci_ff *ff, const struct pci_ff_append *append,
                                pcol_error *err);

/* Whether a category (of the source; PCI_NO_NODE and other numbers beyond: none) has subcategory
 * `part`. The first is "Other", whether or not there is a list. */
static inline int pci_ff_has_part(const struct pci_ff *ff, uint64_t category, int64_t part)
{
    return !part || (part > 0 && category < ff->category_count &&
                     (uint64_t)part < ff->subcategories[category]);
}

#endif
