/*
 * write_native.h - a Firefox profile on its way back
 *
 * The document's tree (sources.extra) tells what stands where. Where it says "table", the columns
 * listed in source_columns are made again from our tables, or come from source_cells as they were.
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
    uint32_t thread; /* PCOL_NONE: of the document */
    uint64_t row;
    pcol_str table, column, form;
    int has_form, has_cells;
    uint64_t first, count; /* source_cells */
};

/* Rows of samples, markers or allocations of a thread: one stretch. */
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
    struct pci_ff_preserved *kept; /* by thread (the document first) and table, then in order */
    size_t kept_count;
    uint32_t first_thread;
    struct pci_ff_thread_rows *threads;
    size_t thread_count;
    uint64_t category_base, category_count; /* those of the source: one stretch */
    enum pci_ff_cpu_unit cpu_unit;
    int64_t version;
    int has_version;
    int expand;    /* all samples of a joined row, not two */
    int has_joins; /* rows stand for several samples of the source */
    struct pci_types types;
    struct pci_stacks stacks;

    /* Tables that the thread at hand refers to; those of the document stay. */
    uint32_t thread;
    struct pci_order orders[2][PCI_FF_TABLES]; /* 0: the document's, 1: the thread's */
    uint8_t loaded[2][PCI_FF_TABLES];
    uint32_t *inverse[2][PCI_FF_TABLES]; /* by row of ours: row of the source's + 1 */
};

/* Whether a single source can come back as it was: it came from this format, and its rows are all
 * there. *why: NULL or why it cannot. */
pcol_status pci_ff_native_open(struct pci_ff_native *back, const struct pci_export *export,
                               int *whole, const char **why, pcol_error *err);
pcol_status pci_ff_native_write(struct pci_ff_native *back, int jslb, pcol_error *err);
void pci_ff_native_close(struct pci_ff_native *back);
void pci_ff_native_leave_thread(struct pci_ff_native *back);

/* Whether every frame of the source has a function, as its format requires. */
pcol_status pci_ff_native_is_named(struct pci_ff_native *back, int *named, pcol_error *err);

/* accept.c: warn if the front end does not accept the source as it was. */
pcol_status pci_ff_native_warn(struct pci_ff_native *back, pcol_error *err);
/* Whether what numbers threads in meta and profilerOverhead is below `threads`. */
pcol_status pci_ff_native_numbers_fit(const struct pci_ff_native *back, size_t threads, int *fit,
                                      pcol_error *err);

/* The first of the columns of a thread (PCOL_NONE: of the document); the others stand behind it. */
size_t pci_ff_preserved_first(const struct pci_ff_native *back, uint32_t thread, const char *table,
                              size_t *end);
/* Whether it is no column, but says that rows stand in the order of their use. */
static inline int pci_ff_is_by_use(const struct pci_ff_preserved *kept)
{
    return kept->has_form && !kept->column.size && kept->form.size == 6 &&
           !memcmp(kept->form.data, PCI_FF_FORM_BY_USE, 6);
}

/* first_use_restore.c: complete an order by the rows that follow from their use, if they do */
pcol_status pci_ff_order_by_use(struct pci_ff_native *back, int level, int id, pcol_error *err);

/* native_context.c */
/* orders[level][id], for level 1 that of the thread at hand. */
pcol_status pci_ff_load_order(struct pci_ff_native *back, int level, int id, pcol_error *err);
/* Rows of a table as the source had them, for the thread at hand. */
pcol_status pci_ff_native_order(struct pci_ff_native *back, int id, const struct pci_order **order,
                                pcol_error *err);
/* How many rows the table has that the thread at hand refers to. */
pcol_status pci_ff_native_count(struct pci_ff_native *back, int id, uint64_t *count,
                                pcol_error *err);
/* The source's number of a row of categories. */
pcol_status pci_ff_native_category(const struct pci_ff_native *back, int64_t ours,
                                   int64_t *category, pcol_error *err);
/* The source's row for one of ours; E_CORRUPT if it had none. */
pcol_status pci_ff_native_row(struct pci_ff_native *back, int id, uint64_t ours, int64_t *row,
                              pcol_error *err);

/* restore_columns.c: the cells of a column of the source from our tables */
pcol_status pci_ff_restore(struct pci_ff_native *back, int id,
                           const struct pci_ff_preserved *column, struct pci_ff_cells *cells,
                           pcol_error *err);
pcol_status pci_ff_restore_counter(struct pci_ff_native *back, const struct pci_ff_sample_run *rows,
                                   const struct pci_ff_preserved *column,
                                   struct pci_ff_cells *cells, pcol_error *err);
/* restore_samples.c: columns of tables whose rows are not shared */
pcol_status pci_ff_restore_samples(struct pci_ff_native *back,
                                   const struct pci_ff_preserved *column,
                                   struct pci_ff_cells *cells, pcol_error *err);
/* How many samples the rows of the thread at hand become, and whether each counts as 1. */
pcol_status pci_ff_sample_count(struct pci_ff_native *back, uint64_t *count, int *single,
                                pcol_error *err);
/* The column of the weights of samples, by the version: "weight" or "duration". */
const char *pci_ff_weight_column(const struct pci_ff_native *back);
/* Whether a column of samples can be made from our rows, whatever cells the source had. */
int pci_ff_is_sample_column(const struct pci_ff_native *back, pcol_str column);
pcol_status pci_ff_restore_times(struct pci_ff_native *back, const char *table, const char *ns,
                                 const char *ulps, const struct pci_ff_sample_run *rows,
                                 const struct pci_ff_preserved *column, struct pci_ff_cells *cells,
                                 pcol_error *err);

/* A cell of a column that may be missing; null then. */
pcol_status pci_ff_get(const pcol_file *file, const struct pci_column *column, uint64_t row,
                       int64_t *value, int *valid, pcol_error *err);
static inline int pci_ff_equal(pcol_str a, pcol_str b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}
/* Member `key` of a node that is an object. */
pcol_status pci_ff_node_member(const struct pci_node_reader *nodes, uint64_t parent,
                               const char *key, struct pci_node_value *node, int *found,
                               pcol_error *err);
/* write_native.c: the value of a label that is no node. */
void pci_ff_put_label(struct pci_ff_emitter *out, const struct pci_label_cell *cell,
                      pcol_error *err);

/* ---- any profile, from what all of them have */

struct pci_ff_frame {
    uint64_t location;
    uint32_t group, function; /* function: of the target */
    uint32_t depth;           /* how many calls it is inlined in */
};

struct pci_ff_function {
    uint32_t name, file; /* strings of the target; PCOL_NONE: none */
    uint32_t source, resource;
    int64_t line;
    int has_line;
};

/* Tables of code of the target, gathered from the stacks that samples name. */
struct pci_ff_code_tables {
    const pcol_file *file;
    int newest; /* version 70, else 60 */
    struct pci_stacks stacks;
    struct pci_names names;
    struct pci_string_pool strings;
    uint64_t *chain; /* callers that are being taken */
    size_t chain_capacity;
    uint32_t *stack_rows; /* by stack: its row in the target + 1 (of the innermost line); 0: none */
    uint32_t *parents, *stack_frames; /* of the target's stacks; parents: PCOL_NONE for none */
    size_t stack_count, parent_capacity, frame_ref_capacity;
    struct pci_ff_frame *frames;
    size_t frame_count, frame_capacity;
    uint32_t *frame_of; /* by location, + 1 */
    struct pci_ff_function *functions;
    size_t function_count, function_capacity;
    uint32_t *function_of; /* by function, + 1 */
    uint32_t *libs;        /* rows of mappings */
    size_t lib_count, lib_capacity;
    uint32_t *lib_of;  /* by mapping, + 1 */
    uint32_t *sources; /* file names: strings of the target */
    size_t source_count, source_capacity;
    uint32_t *source_of; /* by string of the target, + 1 */
    size_t source_of_capacity;
    uint32_t *category_of; /* by row of categories: of the target */
    uint32_t *part_first;  /* by row of categories: its first of part_of */
    uint32_t *part_of;     /* by subcategory: its number in the target's category */
    uint32_t other;        /* the target's category for what has none */
};

/* build_tables.c; used: by stack, whether a sample names it */
pcol_status pci_ff_code_tables_open(struct pci_ff_code_tables *code, const pcol_file *file,
                                    int newest, pcol_error *err);
/* A stack and its callers, as the next ones if they are new; then all others that are used. */
pcol_status pci_ff_code_tables_use(struct pci_ff_code_tables *code, uint64_t stack,
                                   pcol_error *err);
pcol_status pci_ff_code_tables_take(struct pci_ff_code_tables *code, const uint8_t *used,
                                    pcol_error *err);
void pci_ff_code_tables_close(struct pci_ff_code_tables *code);
/* write_shared_tables.c: the members `libs` and `shared` */
pcol_status pci_ff_put_libs(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                            pcol_error *err);
pcol_status pci_ff_put_shared(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                              pcol_error *err);

/* categories.c: those of all sources, and the one for what has none */
struct pci_ff_categories {
    const pcol_file *file;
    uint32_t *rows; /* of `categories`; PCOL_NONE: the one for others */
    size_t count;
    struct pci_pair_set names; /* name and color of each */
    struct pci_pair_set parts; /* category and name of its subcategories, in their order */
};
pcol_status pci_ff_find_categories(struct pci_ff_categories *categories,
                                   struct pci_ff_code_tables *code, pcol_error *err);
pcol_status pci_ff_put_categories(const struct pci_ff_categories *categories,
                                  struct pci_ff_emitter *out, pcol_error *err);
void pci_ff_categories_close(struct pci_ff_categories *categories);

/* write_generic.c */
pcol_status pci_ff_write_generic(const struct pci_export *export, int jslb, pcol_error *err);

#endif
