/*
 * write_native.h - lossless writer: restores a Firefox profile from the file that it became
 *
 * The tree of nodes of the document (sources.extra) has the order of all members. Nodes of tag
 * `table` mark tables: their columns, listed in source_columns, are restored from pcol tables or
 * copied from source_cells.
 */
#ifndef PCI_FIREFOX_WRITE_NATIVE_H
#define PCI_FIREFOX_WRITE_NATIVE_H

#include "builder/string_pool.h"
#include "formats/firefox/emitter.h"
#include "model/frame_names.h"
#include "model/json_tree.h"
#include "model/row_details.h"
#include "model/types.h"
#include "util/pair_set.h"

/* A row of source_columns. */
struct pci_ff_preserved {
    uint32_t thread; /* PCOL_NONE: the document */
    uint64_t row;
    pcol_str table, column, form;
    int has_form, has_cells;
    uint64_t first, count; /* rows of source_cells */
};

/* Consecutive rows of samples, markers or allocations of a thread. */
struct pci_ff_sample_run {
    uint64_t first, count;
};

struct pci_ff_thread_rows {
    struct pci_ff_sample_run samples, markers, allocations[2];
};

struct pci_ff_native {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_ff_emitter out;
    uint32_t source;
    /* sorted by thread (the document first) and table, then by row */
    struct pci_ff_preserved *preserved;
    size_t preserved_count;
    uint32_t first_thread;
    struct pci_ff_thread_rows *threads;
    size_t thread_count;
    uint64_t category_base, category_count; /* consecutive rows of categories */
    enum pci_ff_cpu_unit cpu_unit;
    int64_t version;
    int has_version;
    int expand;    /* write all samples of a joined row instead of two */
    int has_joins; /* some rows represent several samples of the source */
    struct pci_types types;
    struct pci_stacks stacks;

    /* Tables that the current thread refers to; those of the document stay loaded. */
    uint32_t thread;
    /* [0]: of the document, [1]: of the current thread */
    struct pci_order orders[2][PCI_FF_TABLES];
    uint8_t loaded[2][PCI_FF_TABLES];
    uint32_t *inverse[2][PCI_FF_TABLES]; /* row of pcol -> row of the source + 1; 0: none */
};

/* Whether a single source can be restored: it was read from this format, and all its rows exist.
 * *why: NULL, or the reason why it cannot. */
pcol_status pci_ff_native_open(struct pci_ff_native *native, const struct pci_export *export,
                               int *whole, const char **why, pcol_error *err);
void pci_ff_native_close(struct pci_ff_native *native);
/* Leaves the current thread, of which orders are loaded: thread is PCOL_NONE then. */
void pci_ff_native_leave_thread(struct pci_ff_native *native);

/* Whether every frame of the source has a function, as the format requires. */
pcol_status pci_ff_native_is_named(struct pci_ff_native *native, int *named, pcol_error *err);

/* accept.c: warns if the front end does not accept the restored profile */
pcol_status pci_ff_native_warn(struct pci_ff_native *native, pcol_error *err);
/* check_names.c: E_CORRUPT if an object has two members of one name. root: of the document */
pcol_status pci_ff_native_check_names(const struct pci_ff_native *native, uint64_t root,
                                      pcol_error *err);
/* Whether all thread indexes in meta and profilerOverhead are below `threads`. */
pcol_status pci_ff_native_numbers_fit(const struct pci_ff_native *native, size_t threads, int *fit,
                                      pcol_error *err);

/* The first of the columns of a table of a thread (PCOL_NONE: of the document). *end: after the
 * last. */
size_t pci_ff_preserved_first(const struct pci_ff_native *native, uint32_t thread,
                              const char *table, size_t *end);
/* Whether a row of source_columns is no column but records that rows are in the order of first
 * use. */
static inline int pci_ff_is_by_use(const struct pci_ff_preserved *preserved)
{
    return preserved->has_form && !preserved->column.size && preserved->form.size == 6 &&
           !memcmp(preserved->form.data, PCI_FF_FORM_BY_USE, 6);
}

/* first_use_restore.c: completes an order by the rows that follow in the order of first use */
pcol_status pci_ff_restore_use_order(struct pci_ff_native *native, int level, int id,
                                     pcol_error *err);

/* native_context.c */
/* Load orders[level][id]; level 1 is that of the current thread. */
pcol_status pci_ff_load_order(struct pci_ff_native *native, int level, int id, pcol_error *err);
/* The rows of a table in the order of the source, for the current thread. */
pcol_status pci_ff_native_order(struct pci_ff_native *native, int id,
                                const struct pci_order **order, pcol_error *err);
/* Number of rows of the table that the current thread refers to. */
pcol_status pci_ff_native_count(struct pci_ff_native *native, int id, uint64_t *count,
                                pcol_error *err);
/* The source's number of a row of categories. */
pcol_status pci_ff_native_category(const struct pci_ff_native *native, int64_t pcol_row,
                                   int64_t *category, pcol_error *err);
/* The source's row for a row of pcol; E_CORRUPT if it has none. */
pcol_status pci_ff_native_row(struct pci_ff_native *native, int id, uint64_t pcol_row, int64_t *row,
                              pcol_error *err);

/* restore_columns.c: restores the cells of a column of the source from pcol tables */
pcol_status pci_ff_restore(struct pci_ff_native *native, int id,
                           const struct pci_ff_preserved *column, struct pci_ff_cells *cells,
                           pcol_error *err);
pcol_status pci_ff_restore_counter(struct pci_ff_native *native,
                                   const struct pci_ff_sample_run *rows,
                                   const struct pci_ff_preserved *column,
                                   struct pci_ff_cells *cells, pcol_error *err);
/* write_native.c: the rows of counter_samples of the next counter; *rows: those of the previous
 * one, or zeros. They are in the order of counters. */
pcol_status pci_ff_find_counter_rows(const pcol_file *file, uint64_t counter,
                                     struct pci_ff_sample_run *rows, pcol_error *err);
/* write_columns.c: writes a column or scalar of a table as a member. rows: of a counter or NULL */
pcol_status pci_ff_write_column(struct pci_ff_native *native, int id,
                                const struct pci_ff_sample_run *rows,
                                const struct pci_ff_preserved *column, pcol_error *err);
static inline int pci_ff_has_form(const struct pci_ff_preserved *column, const char *form)
{
    return column->has_form && pci_str_is(column->form, form);
}
/* restore_samples.c: restores columns of tables that belong to a thread */
pcol_status pci_ff_restore_samples(struct pci_ff_native *native,
                                   const struct pci_ff_preserved *column,
                                   struct pci_ff_cells *cells, pcol_error *err);
/* E_LIMIT if the rows of all threads are expanded to too many samples. */
pcol_status pci_ff_check_expansion(struct pci_ff_native *native, pcol_error *err);
/* Number of samples that the rows of the current thread become. *single: each counts as 1. */
pcol_status pci_ff_sample_count(struct pci_ff_native *native, uint64_t *count, int *single,
                                pcol_error *err);
/* Name of the column of sample weights, which depends on the version: "weight" or "duration". */
const char *pci_ff_weight_column(const struct pci_ff_native *native);
/* Whether a column of samples can be computed from pcol rows, regardless of preserved cells. */
int pci_ff_is_sample_column(const struct pci_ff_native *native, pcol_str column);
pcol_status pci_ff_restore_times(struct pci_ff_native *native, const char *table, const char *ns,
                                 const char *ulps, const struct pci_ff_sample_run *rows,
                                 const struct pci_ff_preserved *column, struct pci_ff_cells *cells,
                                 pcol_error *err);

/* Find member `key` of an object. */
pcol_status pci_ff_node_member(const struct pci_node_reader *nodes, uint64_t parent,
                               const char *key, struct pci_node_value *node, int *found,
                               pcol_error *err);
/* write_native.c: writes the value of a label; it must not be a node */
void pci_ff_put_label(struct pci_ff_emitter *out, const struct pci_label_cell *cell,
                      pcol_error *err);

/* ---- generic writer: any profile, from the tables that all formats have */

struct pci_ff_frame {
    uint64_t location;
    uint32_t group, function; /* function: of the target */
    uint32_t depth;           /* number of frames that it is inlined in */
};

struct pci_ff_function {
    uint32_t row;        /* of `functions`; PCOL_NONE: none */
    uint32_t name, file; /* strings of the target; PCOL_NONE: none */
    uint32_t source, resource;
    int64_t line;
    int has_line;
};

/* Tables of code of the target, collected from the stacks that samples refer to. */
struct pci_ff_code_tables {
    const pcol_file *file;
    int newest; /* write version 70 instead of 60 */
    struct pci_stacks stacks;
    struct pci_frame_namer names;
    struct pci_string_pool strings;
    struct pci_text_memo long_strings;
    uint64_t *chain; /* stack of callers to add, outermost last */
    size_t chain_capacity;
    /* by stack: row in the target + 1, of its innermost line; 0: not added */
    uint32_t *stack_rows;
    uint32_t *parents, *stack_frames; /* by stack of the target; parents: PCOL_NONE for a root */
    size_t stack_count, parent_capacity, frame_ref_capacity;
    struct pci_ff_frame *frames;
    size_t frame_count, frame_capacity;
    uint32_t *frame_of; /* by location: frame + 1 */
    struct pci_ff_function *functions;
    size_t function_count, function_capacity;
    uint32_t *function_of; /* by function: the last function of the target made of it + 1 */
    struct pci_pair_set function_libs; /* by function of the target: row of functions and lib */
    uint32_t *libs;                    /* rows of mappings */
    size_t lib_count, lib_capacity;
    uint32_t *lib_of;  /* by mapping: index in libs + 1 */
    uint32_t *sources; /* file names: strings of the target */
    size_t source_count, source_capacity;
    uint32_t *source_of; /* by string of the target: index in sources + 1 */
    size_t source_of_capacity;
    uint32_t *category_of; /* by row of categories: category of the target */
    uint32_t *part_first;  /* by row of categories: index of its first subcategory in part_of */
    uint32_t *part_of;     /* by subcategory: number within the category of the target */
    uint32_t other;        /* category of the target for frames without one */
    int keeps_null;        /* frames without a category have that of their caller, not `other` */
};

/* build_tables.c; used: by stack, whether a sample refers to it */
pcol_status pci_ff_code_tables_open(struct pci_ff_code_tables *code, const pcol_file *file,
                                    int newest, pcol_error *err);
/* Add a stack and its callers with the next row numbers; then add all other used stacks. */
pcol_status pci_ff_code_tables_add_stack(struct pci_ff_code_tables *code, uint64_t stack,
                                         pcol_error *err);
pcol_status pci_ff_code_tables_add_used(struct pci_ff_code_tables *code, const uint8_t *used,
                                        pcol_error *err);
void pci_ff_code_tables_close(struct pci_ff_code_tables *code);
/* write_shared_tables.c: writes the members `libs` and `shared` */
enum { PCI_FF_LIBRARY = 1 }; /* resource type "library" */
/* Name of a library: its own, or the last component of its path. */
pcol_status pci_ff_lib_name(const struct pci_ff_code_tables *code, uint32_t row, pcol_str *name,
                            pcol_error *err);
pcol_status pci_ff_put_libs(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                            pcol_error *err);
pcol_status pci_ff_put_shared(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                              pcol_error *err);

/* categories.c: collects the categories of all sources, and one for frames without any */
struct pci_ff_categories {
    const pcol_file *file;
    uint32_t *rows; /* of `categories`; PCOL_NONE: the category for frames without any */
    size_t count;
    struct pci_pair_set names; /* name and color of each category */
    struct pci_pair_set parts; /* category and name of each subcategory, in their order */
};
pcol_status pci_ff_find_categories(struct pci_ff_categories *categories,
                                   const struct pci_export *export, struct pci_ff_code_tables *code,
                                   pcol_error *err);
pcol_status pci_ff_put_categories(const struct pci_ff_categories *categories,
                                  struct pci_ff_emitter *out, pcol_error *err);
void pci_ff_categories_close(struct pci_ff_categories *categories);

/* write_generic.c */
pcol_status pci_ff_write_generic(const struct pci_export *export, int jslb, pcol_error *err);

#endif
