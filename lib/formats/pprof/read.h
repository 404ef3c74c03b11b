/*
 * read.h - what the import of a profile keeps between its two halves
 *
 * A profile refers to what comes later: Go writes samples, then locations, functions and at last
 * the strings of them all. So the first half only frames the input and puts each message, as it is,
 * into a queue of its kind; the second half decodes them in the order in which they need each
 * other:
 *
 *     strings -> sample types -> mappings -> functions -> locations -> samples
 *
 * Queues lie in the builder's store: past its budget they are on disk, not in memory, and what was
 * decoded is let go.
 */
#ifndef PCI_PPROF_READ_H
#define PCI_PPROF_READ_H

#include "builder/builder.h"
#include "builder/rows.h"
#include "formats/format.h"
#include "formats/pprof/wire.h"

#include <stdatomic.h>

/* ---- queues of messages (message_spool.c) */

/* How far a queue has been read. */
struct pci_pprof_taker {
    struct pci_spill_view view;
    uint64_t taken; /* bytes of the spool */
    uint64_t end;   /* in the input, of the message taken last */
};

struct pci_pprof_spool {
    const char *name; /* of the message */
    struct pci_spill spool;
    uint64_t count; /* of messages put */
    uint64_t end;   /* in the input, of the message put last */
    struct pci_pprof_taker taker;
};
void pci_pprof_spool_init(struct pci_pprof_spool *queue, const char *name, pcol_builder *builder);
void pci_pprof_spool_clear(struct pci_pprof_spool *queue);
pcol_status pci_pprof_spool_put(struct pci_pprof_spool *queue, const struct pci_pprof_message *m,
                                pcol_error *err);
/* The next message, in the order of putting; valid until the next call. *end: there is none. */
pcol_status pci_pprof_spool_take(struct pci_pprof_spool *queue, struct pci_pprof_message *m,
                                 int *end, pcol_error *err);
/* The same for one of several takers, in threads of their own maybe: nothing is let go. */
pcol_status pci_pprof_spool_look(const struct pci_pprof_spool *queue, struct pci_pprof_taker *taker,
                                 struct pci_pprof_message *m, int *end, pcol_error *err);

/* ---- ids to rows (ids.c) */

/* Ids are any 64 bits, but mostly 1..n: small ones index an array, others are hashed. */
struct pci_pprof_ids {
    uint32_t *rows; /* of ids below `dense`: row + 1, 0: none */
    uint64_t dense;
    struct pci_hash hash;
    struct pci_pprof_id {
        uint64_t id;
        uint32_t row;
    } * sparse;
    size_t sparse_capacity;
};
/* For `count` ids. */
pcol_status pci_pprof_ids_init(struct pci_pprof_ids *ids, uint64_t count, pcol_error *err);
void pci_pprof_ids_clear(struct pci_pprof_ids *ids);
uint32_t pci_pprof_ids_sparse(const struct pci_pprof_ids *ids, uint64_t id);
/* The row, or PCOL_NONE. */
static inline uint32_t pci_pprof_ids_find(const struct pci_pprof_ids *ids, uint64_t id)
{
    return id < ids->dense ? ids->rows[id] - 1 : pci_pprof_ids_sparse(ids, id);
}
/* *fresh is 0 if the id is there already. */
pcol_status pci_pprof_ids_add(struct pci_pprof_ids *ids, uint64_t id, uint32_t row, int *fresh,
                              pcol_error *err);

/* ---- the reader */

/* The samples are read twice, side by side: the one reader (stacks.c) sees nothing but their stacks
 * and fills the column of these, the other one (samples.c) all the rest. What both use stays as it
 * is meanwhile. The order in which one reader is ahead of the other decides nothing: of their
 * failures, the one is told that a single reader would have met first. */
struct pci_pprof_stacks {
    const struct pci_pprof_spool *samples;
    const struct pci_pprof_ids *location_ids; /* NULL: not known yet, guessed */
    uint32_t guessed_first;                   /* group of the location with id 1 */
    uint64_t guessed_highest;                 /* id so far */
    struct pci_call_tree *tree;
    struct pci_column_buffer *column;
    struct pci_pprof_taker taker;
    uint64_t row;          /* of the next sample that is entered */
    uint64_t count;        /* of samples looked at */
    _Atomic uint64_t seen; /* bytes of the queue that are not looked at again */
    uint64_t first_node;   /* of the tree, that is this source's */

    struct pci_pprof_waiting *waiting; /* stacks that were looked at, but not entered yet */
    size_t waiting_count;
    uint32_t *groups; /* theirs, one stack behind the other, each leaf first */
    size_t group_count, group_capacity;

    struct pci_pprof_step *path; /* of the stack entered last, from the root inwards */
    size_t path_size, path_capacity;
    struct pci_pprof_trail *paths; /* of others, by a hash of their outermost groups */
    uint32_t *recent;              /* stacks by hash, 0: none */

    struct pci_pprof_stack_helper *shelf; /* NULL: nobody helps */

    /* The failure that ended it. */
    pcol_status status;
    pcol_error error;
    uint64_t failed; /* which sample */
    int in_field;    /* while its fields were read: another field may stand before this one */
};

/* A stack between looking and entering. */
struct pci_pprof_waiting {
    uint64_t offset;     /* of the sample in the input */
    uint32_t *known;     /* where a stack like this one is remembered, if it is */
    size_t first, depth; /* in `groups` */
};
/* While the input is inflated by another thread, there is time to look at samples that are there
 * already, though the table of locations mostly comes behind them. Nearly all writers number
 * locations from 1 on in the order of their table, so that is guessed. Where it turns out not to be
 * so, or anything else is odd, what was entered is forgotten, and all samples are looked at
 * again. */
struct pci_pprof_reader {
    struct pci_import *import;
    pcol_builder *b;
    struct pci_pprof_spool types, samples, mappings, locations, functions;
    struct pci_pprof_spool top; /* other fields of the profile */

    /* The string table: each distinct text once; it enters the builder when it is used. */
    struct pci_string_pool texts;
    uint32_t *text_of; /* by index in the table */
    size_t text_count, text_capacity;
    uint32_t *code_of; /* by text: the builder's string, PCOL_NONE: not used yet */

    struct pci_pprof_unknown unknown;
    struct pci_pprof_ids mapping_ids, function_ids, location_ids;
    struct pci_row_uses mapping_repeats, function_repeats, group_repeats;
    uint32_t mapping_columns[10];
    pcol_line *lines; /* of the location that is read */
    size_t line_capacity;
    uint32_t zero_functions; /* accepted by leniency: functions and lines with id 0 */
    uint64_t zero_lines;
    uint32_t own_tables[3]; /* names for source_rows */
    uint64_t ordinals[3];

    /* The sample that is read. */
    uint32_t *type_rows; /* row of sample_types by place */
    size_t type_count;
    pcol_value *values;
    struct pci_label *labels;
    size_t label_capacity;
    int values_short; /* the last failure was that of their number, behind all fields */
    struct pci_pprof_stacks stacks;
};

/* strings.c */
pcol_status pci_pprof_add_string(struct pci_pprof_reader *r, const struct pci_pprof_message *m,
                                 const struct pci_pprof_field *field, pcol_error *err);
pcol_status pci_pprof_strings_end(struct pci_pprof_reader *r, pcol_error *err);
/* Builder's string for an index; PCOL_NONE for index 0. `m` and `number` tell where it stands. */
pcol_status pci_pprof_string(struct pci_pprof_reader *r, uint64_t index,
                             const struct pci_pprof_message *m, unsigned number, uint32_t *string,
                             pcol_error *err);

/* header.c: the source, its sample types, comments and what is not known at the top */
pcol_status pci_pprof_read_header(struct pci_pprof_reader *r, pcol_error *err);
/* tables.c: mappings, functions, locations */
pcol_status pci_pprof_read_tables(struct pci_pprof_reader *r, pcol_error *err);
/* stacks.c */
pcol_status pci_pprof_stacks_init(struct pci_pprof_stacks *stacks, struct pci_pprof_reader *r,
                                  pcol_error *err);
/* Enter the stacks of some samples ahead, by a guess; 0: there are none to be entered. */
int pci_pprof_stacks_guess(struct pci_pprof_stacks *stacks);
/* The locations are known now: keep what was guessed, or forget it. */
pcol_status pci_pprof_stacks_settle(struct pci_pprof_stacks *stacks, struct pci_pprof_reader *r,
                                    pcol_error *err);
void pci_pprof_stacks_clear(struct pci_pprof_stacks *stacks);
/* Look at samples, up to number `end` and to the last, and enter their stacks. */
void pci_pprof_stacks_run(struct pci_pprof_stacks *stacks, uint64_t end, _Atomic uint64_t *stop);
/* Look at `count` samples more, and enter none; `waiting` has room for them. */
pcol_status pci_pprof_stacks_look(struct pci_pprof_stacks *stacks, size_t count, pcol_error *err);

/* stack_helper.c: the reader of the rest has mostly ended when half of the stacks are still to be
 * entered.
 * From then on it looks at samples for the other reader, blocks of them from the last one to the
 * first, until both meet. What looking gives is kept with the block; a block that is odd in any way
 * is left to the other reader. */
#define PCI_PPROF_BLOCK 128u /* samples */
struct pci_pprof_scanned_stack {
    struct pci_pprof_waiting *waiting; /* NULL: it is not looked at */
    uint32_t *groups;
    size_t count;
    uint64_t taken, end; /* of the taker behind it */
};
pcol_status pci_pprof_stack_helper_new(struct pci_pprof_stack_helper **shelf, pcol_error *err);
void pci_pprof_stack_helper_free(struct pci_pprof_stack_helper *shelf);
/* By the reader of the rest, before the first sample of each block and at last. */
void pci_pprof_stack_helper_mark(struct pci_pprof_stack_helper *shelf,
                                 const struct pci_pprof_taker *taker);
/* By the same, when all samples have been read: helps as long as that helps. */
void pci_pprof_stack_helper_fill(struct pci_pprof_stack_helper *shelf,
                                 const struct pci_pprof_stacks *stacks);
/* By the reader of stacks, that begins block `number` (SIZE_MAX: none any more): what is there of
 * it, which the caller frees. */
struct pci_pprof_scanned_stack pci_pprof_stack_helper_take(struct pci_pprof_stack_helper *shelf,
                                                           size_t number);

/* samples.c */
pcol_status pci_pprof_read_samples(struct pci_pprof_reader *r, pcol_error *err);

#endif
