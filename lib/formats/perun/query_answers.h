/*
 * query_answers.h - what the questions of Perun share: columns, cells, texts
 */
#ifndef PCI_PERUN_QUERY_ANSWERS_H
#define PCI_PERUN_QUERY_ANSWERS_H

#include "builder/string_pool.h"
#include "formats/perun/flatten.h"
#include "formats/perun/query_resources.h"
#include "json/json.h"

#define PCI_FLAT_MOST (UINT64_C(64) << 20)

/* What was made of a value that many rows share, a frame or a stack, for one use: its flat items
 * under one key, its JSON, its line of a flame graph, what a path leads to in it. */
struct pci_flat_shared {
    uint32_t field; /* of the member's key, or another use: */
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

#define PCI_LINE_ROLES 4 /* members that a line of a flame graph is made of */

/* Counters and lists of a question in progress. */
struct pci_pair {
    int64_t a, b;
};

struct pcol_answers {
    const pcol_file *file;
    pcol_question question;
    pcol_ask_options options;
    struct pci_resources resources;
    pcol_status (*next)(struct pcol_answers *a, int *more, pcol_error *err);
    /* the table */
    struct pci_string_pool columns;
    pcol_answer *cells;
    size_t cell_capacity;
    int partial;       /* a row may leave the cells of the row before, */
    int apart;         /* if it was made of members that have a column each */
    uint32_t *touched; /* cells of the row */
    size_t touched_count, touched_capacity;
    /* flattening */
    struct pci_string_pool fields; /* all flat keys met */
    pcol_str *field_names;         /* as cells show them; data NULL: not shown yet */
    size_t field_name_count, field_name_capacity;
    struct pci_flat_shared *shared;
    size_t shared_count, shared_capacity;
    struct pci_hash shared_hash;
    struct pci_flat_cell *shared_items;
    size_t shared_item_count, shared_item_capacity;
    struct pci_arena kept, row_texts; /* texts of shared items; of the row */
    struct pci_flat flat;
    struct pci_flat_cell *flat_cells; /* of the object at hand */
    size_t flat_count, flat_capacity;
    uint32_t *slot_fields; /* fields of the members' keys, while the plan is the same */
    uint32_t *slot_cells;  /* the first of each member's cells in flat_cells */
    size_t slot_capacity, slot_cell_capacity;
    uint64_t plan;
    /* texts */
    struct pci_json_writer writer;
    struct pci_strbuf json;
    struct pci_strbuf text, other;
    uint32_t *columns_of; /* by field */
    size_t columns_of_capacity, known_fields;
    /* what the questions keep */
    struct pci_pair *list;
    size_t list_count, list_capacity, list_at;
    uint8_t *numeric; /* by field */
    size_t numeric_capacity;
    struct pci_value *found, *found_next; /* of a path */
    size_t found_count, found_capacity, next_count, next_capacity, found_at;
    struct pci_string_pool seen;
    struct pci_hash seen_ids; /* raw identities of values that were looked at */
    struct pci_pair *ids;
    size_t id_count, id_capacity;
    pcol_str parts[64];           /* of the path */
    size_t part_count, path_slot; /* the member that the path begins with */
    size_t line_roles[PCI_LINE_ROLES];
    int roles_shared;             /* uid, trace and subtype are not among a row's own members */
    int was_free;                 /* the row before */
    struct pci_value stack_of[2]; /* uid and trace whose text `other` begins with, */
    size_t stack_size;            /* in so many bytes; 0: of none */
    uint64_t left_out;
    double plot[6]; /* b0, b1, b2, x_start, x_end, step */
    int plot_model, plot_at;
    int in_object;
    /* blocks; NULL: of one row each */
    pcol_status (*block)(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err);
    pcol_answer *block_cells;
    size_t block_capacity;
    pcol_answer_part *block_parts;
    size_t block_part_count, block_part_capacity;
    int64_t *numbers;
    size_t number_capacity;
};

/* query_answers.c */
pcol_status pci_result_column(struct pcol_answers *a, const char *name, pcol_error *err);
/* The same for any name, at any time; further columns of the same name are the first one. */
pcol_status pci_result_new_column(struct pcol_answers *a, pcol_str name, uint32_t *column,
                                  pcol_error *err);
/* Make the row's cells absent; done before each row, but for questions that set `partial` and do it
 * themselves. */
pcol_status pci_result_row(struct pcol_answers *a, pcol_error *err);
pcol_status pci_result_set(struct pcol_answers *a, uint32_t column, const struct pci_value *value,
                           pcol_error *err);
/* The same for a cell that is not of the row; its JSON gets its place by pci_result_settle(),
 * called for all such cells in the order in which they were set, *json first being a->json.data. */
pcol_status pci_result_cell(struct pcol_answers *a, pcol_answer *cell,
                            const struct pci_value *value, pcol_error *err);
void pci_result_settle(pcol_answer *cell, const char **json);
/* Cells of a block of `rows` rows, all absent; NULL if memory is out. */
pcol_answer *pci_block_cells(struct pcol_answers *a, size_t rows);
pcol_status pci_block_part(struct pcol_answers *a, size_t row, size_t column,
                           const struct pci_run_part *run, pcol_error *err);
/* The numbers of `count` resources from the one at hand on, as a part. */
pcol_status pci_block_numbers(struct pcol_answers *a, size_t count, struct pci_run_part *run,
                              pcol_error *err);
pcol_status pci_result_int(struct pcol_answers *a, uint32_t column, int64_t value, pcol_error *err);
pcol_status pci_result_push(struct pcol_answers *a, int64_t x, int64_t y, pcol_error *err);
/* The next resource, or model, as the question is about. */
pcol_status pci_result_object(struct pcol_answers *a, int models, int *more, pcol_error *err);
/* The JSON text of an array or object, appended to `to`. */
pcol_status pci_result_json(struct pcol_answers *a, const struct pci_value *value,
                            struct pci_strbuf *to, pcol_error *err);
/* What was made of a shared value for a use; *is_new: nothing yet, and the caller makes it by
 * further calls of pci_result_share(), before anything else is made. Valid until the next call. */
pcol_status pci_result_shared(struct pcol_answers *a, uint32_t use, const struct pci_value *value,
                              struct pci_flat_shared **shared, int *is_new, pcol_error *err);
pcol_status pci_result_share(struct pcol_answers *a, struct pci_flat_shared *shared, uint32_t field,
                             const struct pci_value *value, pcol_error *err);
int pci_value_shared(const struct pci_value *value);
/* Sort the list by `a`; stable. */
pcol_status pci_result_sort(struct pcol_answers *a, pcol_error *err);
/* The fields of the members' own keys, into a->slot_fields. */
pcol_status pci_result_slots(struct pcol_answers *a, pcol_error *err);
/* The name of a field as a cell. */
pcol_status pci_result_name(struct pcol_answers *a, pcol_answer *cell, uint32_t field,
                            pcol_error *err);
pcol_status pci_result_set_field(struct pcol_answers *a, uint32_t column, uint32_t field,
                                 pcol_error *err);
/* The flat items of the object at hand, into a->flat_cells. */
pcol_status pci_result_flat(struct pcol_answers *a, pcol_error *err);

/* The questions; each sets its columns and a->next. */
pcol_status pci_perun_query_table(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_fields(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_values(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_best(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_flame(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_plot(struct pcol_answers *a, pcol_error *err);
pcol_status pci_perun_query_snapshots(struct pcol_answers *a, pcol_error *err);

/* Blocks of the questions. */
pcol_status pci_table_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err);
pcol_status pci_snapshot_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err);
pcol_status pci_item_block(struct pcol_answers *a, pcol_answer_block *block, pcol_error *err);

/* query_tables.c */
/* Whether resources come in the order of their snapshots; they begin again. */
pcol_status pci_result_sorted(struct pcol_answers *a, int *sorted, pcol_error *err);
int pci_model_in_group(const struct pci_resources *r, const char *group);
/* Number of the snapshot of the resource at hand, 0 without. */
int64_t pci_snapshot_of(const struct pci_resources *r);
int pci_is_part(pcol_str key);

/* query_equal.c: a text that two values share if and only if Python finds them equal. */
pcol_status pci_equal_text(struct pci_values *values, const struct pci_value *value,
                           struct pci_strbuf *to, pcol_error *err);
/* Whether a number, and which: booleans count. */
int pci_value_number(const struct pci_value *value, double *number);

#endif
