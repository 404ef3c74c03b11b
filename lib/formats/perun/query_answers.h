/*
 * query_answers.h - shared by Perun's queries: columns, cells, and caches of texts
 */
#ifndef PCI_PERUN_QUERY_ANSWERS_H
#define PCI_PERUN_QUERY_ANSWERS_H

#include "builder/string_pool.h"
#include "formats/perun/flatten.h"
#include "formats/perun/query_resources.h"
#include "pcol_perun.h"
#include "util/control.h"
#include "util/pair_set.h"
#include "json/json.h"

#define PCI_FLAT_MOST (UINT64_C(64) << 20)
/* Limit of the cells of an answer, since a table has the product of rows and distinct keys. */
#define PCI_CELLS (UINT64_C(1) << 28)
#define PCI_CELLS_PER_BYTE 64

/* Cached conversion of a value that many rows share, a frame or a stack, for one use: its flat
 * items under one key, its JSON, its line of a flame graph, or the values that a path leads to. */
struct pci_cached_value {
    uint32_t field; /* of the member's key, or PCI_USE_* */
    uint8_t kind;
    int64_t row;
    size_t first, count; /* items in `shared_items`; keys are field numbers */
};

struct pci_flat_cell {
    uint32_t field;
    struct pci_value value;
};

#define PCI_USE_JSON 0xfffffff0u
#define PCI_USE_FRAME_LINE 0xfffffff1u
#define PCI_USE_TRACE_LINE 0xfffffff2u
#define PCI_USE_PATH 0xfffffff3u

#define PCI_LINE_ROLES 4 /* members that a line of a flame graph consists of */

/* Counters and lists of a query in progress. */
struct pci_pair {
    int64_t a, b;
};

struct pcol_answers {
    struct pci_control control;
    const pcol_file *file;
    pcol_question question;
    pcol_ask_options options; /* its texts are in given_texts */
    struct pci_arena given_texts;
    int failed; /* the next row is unknown */
    struct pci_resources resources;
    pcol_status (*next)(struct pcol_answers *a, int *more, pcol_error *err);
    /* table of results */
    struct pci_string_pool columns;
    pcol_answer *cells;
    size_t cell_capacity;
    uint64_t cells_left;      /* of the limit */
    int partial;              /* a row may keep cells of the previous row, */
    int has_separate_columns; /* provided that each of its members has a column of its own */
    uint32_t *touched;        /* cells of the row that are not absent */
    size_t touched_count, touched_capacity;
    /* flattening */
    struct pci_string_pool fields; /* all flat keys so far */
    pcol_str *field_names;         /* stable copies for cells; data NULL: not copied yet */
    size_t field_name_count, field_name_capacity;
    struct pci_cached_value *shared;
    size_t shared_count, shared_capacity;
    struct pci_hash shared_hash;
    struct pci_flat_cell *shared_items;
    size_t shared_item_count, shared_item_capacity;
    struct pci_arena cache_arena, row_texts; /* texts of shared items; texts of the row */
    struct pci_flat flat;
    struct pci_flat_cell *flat_cells; /* of the current object */
    size_t flat_count, flat_capacity;
    uint32_t *slot_fields; /* fields of the members' keys, valid for one plan */
    uint32_t *slot_cells;  /* index in flat_cells of each member's first cell */
    size_t slot_capacity, slot_cell_capacity;
    uint64_t plan;
    /* texts */
    struct pci_json_writer writer;
    struct pci_strbuf json;
    struct pci_strbuf text, other;
    uint32_t *columns_of; /* by field */
    size_t columns_of_capacity, known_fields;
    /* state of the queries */
    struct pci_pair *list;
    size_t list_count, list_capacity, list_at;
    uint8_t *numeric; /* by field */
    size_t numeric_capacity;
    struct pci_value *found, *found_next; /* values that a path leads to */
    size_t found_count, found_capacity, next_count, next_capacity, found_at;
    struct pci_string_pool seen;
    struct pci_pair_set seen_ids; /* identities of values already returned */
    pcol_str parts[64];           /* of the path */
    size_t part_count, path_slot; /* path_slot: the member that the path begins with */
    size_t line_roles[PCI_LINE_ROLES];
    int roles_shared; /* uid, trace and subtype are not among the row's own members */
    int was_free_row; /* of the previous row */
    struct pci_value cached_stack[2]; /* uid and trace whose text is cached in `other`, */
    size_t stack_size;                /* with this size; 0: none */
    uint64_t skipped;
    double plot[6]; /* b0, b1, b2, x_start, x_end, step */
    int plot_model, plot_at;
    int in_object;
    /* blocks; NULL: blocks of one row */
    pcol_status (*block)(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err);
    pcol_answer *block_cells;
    size_t block_capacity;
    pcol_answer_part *block_parts;
    size_t block_part_count, block_part_capacity;
    int64_t *numbers;
    size_t number_capacity;
};

/* query_answers.c */
/* E_STATE if a call for the next rows has failed. */
pcol_status pci_answers_require(const struct pcol_answers *a, pcol_error *err);
pcol_status pci_result_column(struct pcol_answers *a, const char *name, pcol_error *err);
/* Add a column at any time; a further column of the same name is the same column. */
pcol_status pci_result_new_column(struct pcol_answers *a, pcol_str name, uint32_t *column,
                                  pcol_error *err);
/* Make the row's cells absent. Called before each row, except for queries that set `partial` and
 * call it themselves. */
pcol_status pci_result_row(struct pcol_answers *a, pcol_error *err);
/* Count the cells of further rows. E_LIMIT if the answer has too many. */
pcol_status pci_result_count(struct pcol_answers *a, uint64_t rows, pcol_error *err);
pcol_status pci_result_set(struct pcol_answers *a, uint32_t column, const struct pci_value *value,
                           pcol_error *err);
/* Set a cell that is not part of the row. JSON text of unshared values is located later:
 * pci_result_locate_json() must be called for all such cells in the order in which they were set,
 * with *json = a->json.data at first. */
pcol_status pci_result_cell(struct pcol_answers *a, pcol_answer *cell,
                            const struct pci_value *value, pcol_error *err);
void pci_result_locate_json(pcol_answer *cell, const char **json);
/* Allocate the cells of a block of `rows` rows, all absent; NULL if memory runs out. */
pcol_answer *pci_block_cells(struct pcol_answers *a, size_t rows);
pcol_status pci_block_part(struct pcol_answers *a, size_t row, size_t column,
                           const struct pci_run_part *run, pcol_error *err);
/* Make a part of the numbers of `count` resources, from the current one on. */
pcol_status pci_block_numbers(struct pcol_answers *a, size_t count, struct pci_run_part *run,
                              pcol_error *err);
pcol_status pci_result_int(struct pcol_answers *a, uint32_t column, int64_t value, pcol_error *err);
pcol_status pci_result_push(struct pcol_answers *a, int64_t x, int64_t y, pcol_error *err);
/* Get the next resource or model, whichever the query is about. */
pcol_status pci_result_object(struct pcol_answers *a, int models, int *more, pcol_error *err);
/* Look up the cache for a shared value and a use. *is_new: the entry is empty; the caller fills it
 * with pci_result_cache_add() before it adds another entry. Valid until the next call. */
pcol_status pci_result_cache_find(struct pcol_answers *a, uint32_t use,
                                  const struct pci_value *value, struct pci_cached_value **shared,
                                  int *is_new, pcol_error *err);
pcol_status pci_result_cache_add(struct pcol_answers *a, struct pci_cached_value *shared,
                                 uint32_t field, const struct pci_value *value, pcol_error *err);
int pci_value_shared(const struct pci_value *value);
/* Stable sort of the list by `a`. */
pcol_status pci_result_sort(struct pcol_answers *a, pcol_error *err);
/* Set a->slot_fields to the fields of the members' own keys. */
pcol_status pci_result_slots(struct pcol_answers *a, pcol_error *err);
/* Set a cell to the name of a field. */
pcol_status pci_result_name(struct pcol_answers *a, pcol_answer *cell, uint32_t field,
                            pcol_error *err);
pcol_status pci_result_set_field(struct pcol_answers *a, uint32_t column, uint32_t field,
                                 pcol_error *err);
/* Flatten the current object into a->flat_cells. */
pcol_status pci_result_flat(struct pcol_answers *a, pcol_error *err);

/* The queries; each adds its columns and sets a->next. */
pcol_status pci_perun_query_table(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_fields(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_values(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_best(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_flame(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_plot(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_snapshots(struct pcol_answers *a, pcol_error *err);

/* Block functions of the queries. */
pcol_status pci_table_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err);
pcol_status pci_snapshot_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err);
pcol_status pci_item_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err);

/* query_tables.c */
/* Whether resources are in the order of their snapshots; rewinds them. */
pcol_status pci_result_sorted(struct pcol_answers *a, int *sorted, pcol_error *err);
int pci_model_in_group(const struct pci_resources *r, const char *group);
/* Snapshot number of the current resource; 0 if it has none. */
int64_t pci_snapshot_of(const struct pci_resources *r);

/* query_equal.c: canonical text; equal texts if and only if Python finds the values equal */
pcol_status pci_equal_text(struct pci_values *values, const struct pci_value *value,
                           struct pci_strbuf *to, pcol_error *err);
/* Convert a number to a double, booleans included; 0 for other values. */
int pci_value_number(const struct pci_value *value, double *number);

#endif
