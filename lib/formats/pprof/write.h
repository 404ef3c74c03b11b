/*
 * write.h - a profile of ours as a pprof profile
 *
 * One source that was a pprof profile comes back as it was: its entries in their order, under their
 * ids, each sample by itself. Anything else, be it another format or several sources, is written as
 * pprof would merge it: what samples refer to, numbered in the order of its use, and samples with
 * equal stacks and labels added up.
 */
#ifndef PCI_PPROF_WRITE_H
#define PCI_PPROF_WRITE_H

#include "formats/format.h"
#include "formats/pprof/proto_encode.h"
#include "model/memory.h"
#include "model/row_details.h"
#include "model/types.h"

/* Which rows of a table of ours are written, in which order, under which ids. */
struct pci_pprof_entries {
    uint64_t rows;   /* of our table */
    uint64_t *ids;   /* by row */
    uint8_t *listed; /* by row: it is in `order` */
    const struct pci_column *own_ids;
    int takes_zero;  /* 0 can be an id, as of a function in a profile read leniently */
    uint32_t *order; /* rows, as they are written */
    uint64_t count, capacity;
    struct pci_hash by_id; /* of the first `known` entries, if it was ever asked for */
    uint64_t known, spare;
};

enum pci_pprof_loss {
    PCI_PPROF_LOSS_LEVELS = 1u << 0,
    PCI_PPROF_LOSS_FRACTIONS = 1u << 1,
    PCI_PPROF_LOSS_KINDS = 1u << 2,
    PCI_PPROF_LOSS_NO_STACK = 1u << 3,
    PCI_PPROF_LOSS_ZERO = 1u << 4,
    PCI_PPROF_LOSS_OUTSIDE = 1u << 5
};

/* A sample type of the profile that is written. */
struct pci_pprof_out_type {
    uint32_t row;  /* of sample_types; PCOL_NONE: memory/bytes, derived from levels */
    uint32_t twin; /* another row of the same name whose values are doubles, or PCOL_NONE */
};

/* The kept fields of the tree looked at last. */
struct pci_pprof_unknown_kept {
    int known;
    uint64_t root;
    struct pci_pprof_unknown_kept_field *fields;
    size_t count, capacity;
};

/* A line of a file outside functions. */
struct pci_pprof_place {
    int64_t file, line; /* file: its string */
    int has_line;
    uint64_t row; /* of locations: the first one there */
};

struct pci_pprof_export {
    const struct pci_export *export;
    const pcol_file *file;
    int exact;     /* the one source comes back as it was */
    int any_pprof; /* a source that is written was a pprof profile */
    struct pci_pprof_writer w;
    struct pci_types types;
    struct pci_pprof_out_type *out_types;
    uint32_t type_count;
    uint32_t memory_levels[PCI_MEMORY_LEVELS];
    uint8_t *wanted; /* by source */
    uint32_t source_count;
    struct pci_node_reader nodes;
    struct pci_pprof_unknown_kept kept;

    struct pci_pprof_entries mappings, functions, groups;
    struct pci_pprof_place *outside; /* lines of files outside functions */
    size_t outside_capacity;
    struct pci_hash outside_hash;

    /* The call tree; ids of a stack, leaf first. */
    uint32_t *parent, *group;
    uint64_t stack_count;
    uint64_t *stack_ids;
    size_t stack_capacity, depth;

    struct pci_pprof_bytes labels, rest;
    unsigned lost;
};

/* write.c: cells of a column that may be absent (NULL) */
pcol_status pci_pprof_cell(const pcol_file *file, const struct pci_column *column, uint64_t row,
                           int64_t *value, int *valid, pcol_error *err);
/* Index of the text in a cell; 0 for a null. */
pcol_status pci_pprof_cell_index(struct pci_pprof_export *e, const struct pci_column *column,
                                 uint64_t row, int64_t *index, pcol_error *err);

/* write_unknown.c */
/* Append the fields that are kept under `path` in the tree `root` as they were, "" for those of the
 * row's own message. */
pcol_status pci_pprof_append_unknown(struct pci_pprof_export *e, uint64_t root, const char *path,
                                     struct pci_pprof_bytes *to, pcol_error *err);
void pci_pprof_unknown_kept_clear(struct pci_pprof_unknown_kept *kept);

/* write_tables.c */
/* With an exact export: the source's own order and ids. */
pcol_status pci_pprof_entries_open(struct pci_pprof_export *e, pcol_error *err);
pcol_status pci_pprof_put_tables(struct pci_pprof_export *e, pcol_error *err);
/* The id of a row that is referred to; merged, the first use gives it one. */
pcol_status pci_pprof_entry_id(const struct pci_pprof_export *e, struct pci_pprof_entries *entries,
                               uint64_t row, uint64_t *id, pcol_error *err);

/* write_stacks.c */
pcol_status pci_pprof_tree_open(struct pci_pprof_export *e, pcol_error *err);
/* e->stack_ids and e->depth of a row of stacks. */
pcol_status pci_pprof_stack(struct pci_pprof_export *e, uint64_t stack, pcol_error *err);

/* write_labels.c: the labels of samples, as the bytes of a Sample's fields */
struct pci_pprof_labels;
pcol_status pci_pprof_labels_new(struct pci_pprof_export *e, struct pci_pprof_labels **labels,
                                 pcol_error *err);
/* Append those of a sample, and its fields that were not known, to e->labels. */
pcol_status pci_pprof_labels_put(struct pci_pprof_labels *labels, uint64_t row, pcol_error *err);
void pci_pprof_labels_free(struct pci_pprof_labels *labels);

/* write_samples.c: samples of the wanted sources, one after the other */
struct pci_pprof_cells {
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
};
struct pci_pprof_batches {
    struct pci_pprof_export *e;
    const struct pci_column *stack;
    uint64_t rows, first, next;
    size_t count, at;
    struct pci_memory *memory; /* of the derived type, which is the last, or NULL */
    struct pci_pprof_cells sources, stacks, *values; /* two for each type: itself and its twin */
    /* the sample: */
    uint64_t row, stack_row;
    int64_t *sample; /* its values */
};
pcol_status pci_pprof_batches_open(struct pci_pprof_export *e, struct pci_pprof_batches *b,
                                   pcol_error *err);
pcol_status pci_pprof_batches_next(struct pci_pprof_batches *b, int *end, pcol_error *err);
void pci_pprof_batches_close(struct pci_pprof_batches *b);
/* A sample whose labels are packed already. */
pcol_status pci_pprof_put_sample(struct pci_pprof_export *e, uint64_t stack, const int64_t *values,
                                 const void *labels, size_t size, pcol_error *err);
pcol_status pci_pprof_put_samples(struct pci_pprof_export *e, pcol_error *err);

/* write_aggregate.c */
pcol_status pci_pprof_put_merged(struct pci_pprof_export *e, struct pci_pprof_batches *b,
                                 struct pci_pprof_labels *labels, pcol_error *err);

#endif
