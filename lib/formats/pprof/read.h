/*
 * read.h - state of the import of a profile
 *
 * Messages of a profile refer to later ones: Go writes samples, then locations, functions and last
 * the strings. A first pass frames the input and appends each message to the queue of its kind; a
 * second pass decodes the queues in the order of their dependencies:
 *
 *     strings -> sample types -> mappings -> functions -> locations -> samples
 *
 * Queues are in the builder's spill store, on disk beyond its budget; decoded messages are
 * released.
 */
#ifndef PCI_PPROF_READ_H
#define PCI_PPROF_READ_H

#include "builder/builder.h"
#include "builder/rows.h"
#include "formats/format.h"
#include "formats/pprof/wire.h"

#include <stdatomic.h>

/* ---- queues of messages (message_queue.c) */

/* The position of a reader in a queue. */
struct pci_pprof_queue_reader {
    struct pci_spill_view view;
    uint64_t offset; /* offset of the next entry in the queue */
    uint64_t end;    /* input offset after the message read last */
};

struct pci_pprof_queue {
    const char *name; /* of the message */
    struct pci_spill spill;
    uint64_t count; /* of messages */
    uint64_t end;   /* input offset after the last message */
    struct pci_pprof_queue_reader reader;
};
void pci_pprof_queue_init(struct pci_pprof_queue *queue, const char *name, pcol_builder *builder);
void pci_pprof_queue_clear(struct pci_pprof_queue *queue);
pcol_status pci_pprof_queue_append(struct pci_pprof_queue *queue, const struct pci_pprof_message *m,
                                   pcol_error *err);
/* Remove the next message, valid until the next call. *end: 1 if the queue is empty. */
pcol_status pci_pprof_queue_take(struct pci_pprof_queue *queue, struct pci_pprof_message *m,
                                 int *end, pcol_error *err);
/* Read the next message without release; each reader may be in a thread of its own. */
pcol_status pci_pprof_queue_read(const struct pci_pprof_queue *queue,
                                 struct pci_pprof_queue_reader *reader, struct pci_pprof_message *m,
                                 int *end, pcol_error *err);

/* ---- ids to rows (ids.c) */

/* Ids are arbitrary 64-bit numbers, but mostly 1..n: ids below `dense` index an array, others are
 * hashed. */
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
/* Prepare for about `count` ids. */
pcol_status pci_pprof_ids_init(struct pci_pprof_ids *ids, uint64_t count, pcol_error *err);
void pci_pprof_ids_clear(struct pci_pprof_ids *ids);
uint32_t pci_pprof_ids_sparse(const struct pci_pprof_ids *ids, uint64_t id);
/* The row, or PCOL_NONE. */
static inline uint32_t pci_pprof_ids_find(const struct pci_pprof_ids *ids, uint64_t id)
{
    return id < ids->dense ? ids->rows[id] - 1 : pci_pprof_ids_sparse(ids, id);
}
/* *is_new is 0 if the id exists already. */
pcol_status pci_pprof_ids_add(struct pci_pprof_ids *ids, uint64_t id, uint32_t row, int *is_new,
                              pcol_error *err);

/* ---- the reader */

/* Samples are decoded by two readers: stacks.c fills the column of stacks, samples.c all others.
 * Data shared by both is read-only meanwhile. The relative speed of the readers has no effect: of
 * their errors, the one that a single sequential reader would report first is reported. */
struct pci_pprof_stacks {
    const struct pci_pprof_queue *samples;
    const struct pci_pprof_ids *location_ids; /* NULL: not read yet, groups are guessed */
    uint32_t guessed_first;                   /* guessed group of the location with id 1 */
    uint64_t guessed_highest;                 /* highest id so far */
    struct pci_call_tree *tree;
    struct pci_column_buffer *column;
    struct pci_pprof_queue_reader reader;
    uint64_t row;          /* of the next sample to insert */
    uint64_t count;        /* of scanned samples */
    _Atomic uint64_t seen; /* offset in the queue: not read again before it */
    uint64_t first_node;   /* of the tree that belongs to this source */

    struct pci_pprof_pending_stack *pending; /* scanned stacks, not inserted yet */
    size_t pending_count;
    uint32_t *groups; /* of the pending stacks, concatenated, each leaf first */
    size_t group_count, group_capacity;

    struct pci_pprof_step *path; /* of the last inserted stack, root first */
    size_t path_size, path_capacity;
    struct pci_pprof_trail *paths; /* cache of earlier paths, by a hash of their outermost groups */
    uint32_t *recent;              /* cache of stacks by hash; 0: empty */

    struct pci_pprof_stack_helper *helper; /* NULL: none */

    /* The first error. */
    pcol_status status;
    pcol_error error;
    uint64_t failed;     /* number of the sample */
    int failed_in_field; /* the error is in a field: an earlier field may have one, too */
};

/* A stack between scan and insertion. */
struct pci_pprof_pending_stack {
    uint64_t offset;      /* of the sample in the input */
    uint32_t *cache_slot; /* its entry in `recent` */
    size_t first, depth;  /* in `groups` */
};
/* Speculation: while another thread decompresses the input, stacks of samples are inserted before
 * the table of locations is read. Nearly all writers number locations 1, 2, ... in the order of
 * their table, which gives their groups. If the table contradicts, or on any error, the inserted
 * stacks are discarded and all samples are scanned again. */
struct pci_pprof_reader {
    struct pci_import *import;
    pcol_builder *b;
    struct pci_pprof_queue types, samples, mappings, locations, functions;
    struct pci_pprof_queue top; /* other fields of the profile */

    /* The string table: distinct texts, added to the builder at their first use. */
    struct pci_string_pool texts;
    uint32_t *text_of; /* text, by index in the table */
    size_t text_count, text_capacity;
    uint32_t *string_of; /* by text: string of the builder, PCOL_NONE: not used yet */

    struct pci_pprof_unknown unknown;
    struct pci_pprof_ids mapping_ids, function_ids, location_ids;
    uint32_t mapping_columns[10];
    pcol_line *lines; /* of the current location */
    size_t line_capacity;
    uint32_t zero_functions; /* accepted with --lenient: functions and lines with id 0 */
    uint64_t zero_lines;
    uint32_t source_table_names[3]; /* names for source_rows */
    uint64_t ordinals[3];

    /* The current sample. */
    uint32_t *type_rows; /* row of sample_types by index of the value */
    size_t type_count;
    pcol_value *values;
    struct pci_label *labels;
    size_t label_capacity;
    int values_short; /* the last error was the number of values, detected after all fields */
    struct pci_pprof_stacks stacks;
};

/* strings.c */
pcol_status pci_pprof_add_string(struct pci_pprof_reader *r, const struct pci_pprof_message *m,
                                 const struct pci_pprof_field *field, pcol_error *err);
pcol_status pci_pprof_strings_end(struct pci_pprof_reader *r, pcol_error *err);
/* String of the builder for an index; PCOL_NONE for index 0. `m` and `number` locate errors. */
pcol_status pci_pprof_string(struct pci_pprof_reader *r, uint64_t index,
                             const struct pci_pprof_message *m, unsigned number, uint32_t *string,
                             pcol_error *err);

/* header.c: the source, its sample types, comments and unknown fields of the profile */
pcol_status pci_pprof_read_header(struct pci_pprof_reader *r, pcol_error *err);
/* tables.c: mappings, functions, locations */
pcol_status pci_pprof_read_tables(struct pci_pprof_reader *r, pcol_error *err);
/* stacks.c */
pcol_status pci_pprof_stacks_init(struct pci_pprof_stacks *stacks, struct pci_pprof_reader *r,
                                  pcol_error *err);
/* Insert stacks of some samples speculatively; 0: no sample available. */
int pci_pprof_stacks_guess(struct pci_pprof_stacks *stacks);
/* After the locations: accept the speculative stacks or discard them. */
pcol_status pci_pprof_stacks_check_guess(struct pci_pprof_stacks *stacks,
                                         struct pci_pprof_reader *r, pcol_error *err);
void pci_pprof_stacks_clear(struct pci_pprof_stacks *stacks);
/* Insert the stacks of samples up to number `end`, the last sample or an error. */
void pci_pprof_stacks_run(struct pci_pprof_stacks *stacks, uint64_t end, _Atomic uint64_t *stop);
/* Scan `count` more samples without insertion; `pending` must have capacity for them. */
pcol_status pci_pprof_stacks_scan(struct pci_pprof_stacks *stacks, size_t count, pcol_error *err);

/* stack_helper.c: work sharing. samples.c usually ends when half of the stacks remain to be
 * inserted. Its thread then scans blocks of samples for stacks.c, from the last block to the first,
 * until both meet. A block with an error is left to stacks.c. */
#define PCI_PPROF_BLOCK 128u /* samples */
struct pci_pprof_scanned_block {
    struct pci_pprof_pending_stack *pending; /* NULL: not scanned */
    uint32_t *groups;
    size_t count;
    uint64_t offset, end; /* position of the queue reader after the block */
};
pcol_status pci_pprof_stack_helper_new(struct pci_pprof_stack_helper **helper, pcol_error *err);
void pci_pprof_stack_helper_free(struct pci_pprof_stack_helper *helper);
/* samples.c: record the position before the first sample of each block, and the end. */
void pci_pprof_stack_helper_mark(struct pci_pprof_stack_helper *helper,
                                 const struct pci_pprof_queue_reader *reader);
/* samples.c, after all samples: scan blocks until both meet. */
void pci_pprof_stack_helper_run(struct pci_pprof_stack_helper *helper,
                                const struct pci_pprof_stacks *stacks);
/* stacks.c, at the start of block `number` (SIZE_MAX: no more): the scanned block, whose arrays the
 * caller frees. */
struct pci_pprof_scanned_block pci_pprof_stack_helper_take(struct pci_pprof_stack_helper *helper,
                                                           size_t number);

/* samples.c */
pcol_status pci_pprof_read_samples(struct pci_pprof_reader *r, pcol_error *err);

#endif
