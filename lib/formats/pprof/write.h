/*
 * write.h - export of a profile to pprof
 *
 * Native: a single source imported from pprof is restored with its entries in their order, under
 * their ids, each sample separately. Generic: other formats or several sources are written as pprof
 * would merge them: only referenced entries, numbered by first use, and samples with equal stacks
 * and labels summed.
 */
#ifndef PCI_PPROF_WRITE_H
#define PCI_PPROF_WRITE_H

#include "formats/format.h"
#include "formats/pprof/proto_encode.h"
#include "model/memory.h"
#include "model/row_details.h"
#include "model/types.h"

/* The rows of a table to write, their order and ids. */
struct pci_pprof_entries {
    uint64_t rows;      /* of the table */
    uint64_t *ids;      /* by row */
    uint8_t *is_listed; /* by row: contained in `order` */
    const struct pci_column *id_column;
    int allows_zero; /* id 0 is valid: functions of profiles imported with --lenient */
    uint32_t *order; /* rows in the order of output */
    uint64_t count, capacity;
    struct pci_hash by_id; /* index of the first `indexed_count` entries */
    uint64_t indexed_count, last_new_id;
};

enum pci_pprof_loss {
    PCI_PPROF_LOSS_LEVELS = 1u << 0,
    PCI_PPROF_LOSS_FRACTIONS = 1u << 1,
    PCI_PPROF_LOSS_KINDS = 1u << 2,
    PCI_PPROF_LOSS_NO_STACK = 1u << 3,
    PCI_PPROF_LOSS_ZERO = 1u << 4,
    PCI_PPROF_LOSS_OUTSIDE = 1u << 5,
    PCI_PPROF_LOSS_DROPS = 1u << 6,
    PCI_PPROF_LOSS_INTERVALS = 1u << 7,
    PCI_PPROF_LOSS_FILES = 1u << 8,
    PCI_PPROF_LOSS_UNITS = 1u << 9,
    PCI_PPROF_LOSS_ADDRESS = 1u << 10,
    PCI_PPROF_LOSS_LISTS = 1u << 11,
    PCI_PPROF_LOSS_ALL_UNITS = 1u << 12,
    PCI_PPROF_LOSS_THREAD_KEYS = 1u << 13
};

/* A sample type of the output. */
struct pci_pprof_out_type {
    uint32_t row; /* of sample_types, the first; PCOL_NONE: memory/bytes, derived from gauges */
    pcol_str unit;
};

/* A row of sample_types, and the type under which its values are written. Generic: rows of one
 * name are one type, also if the units of times become equal. */
struct pci_pprof_part {
    uint32_t row, type;
    int is_double;
    struct pci_integer_form form;
};

/* Cache of the unknown fields of one tree, the last one used. */
struct pci_pprof_unknown_cache {
    int is_valid;
    uint64_t root;
    struct pci_pprof_unknown_cache_field *fields;
    size_t count, capacity;
};

/* Lines without a function that share one in the output. */
struct pci_pprof_file_line {
    int64_t file, line; /* file: string; below 0: none */
    int has_line, is_code;
    uint64_t row, group; /* of the first location at this line */
};

struct pci_pprof_export {
    const struct pci_export *export;
    const pcol_file *file;
    int is_native;        /* native export */
    int has_pprof_source; /* an exported source was imported from pprof */
    struct pci_pprof_writer w;
    struct pci_types types;
    struct pci_pprof_out_type *types_out;
    struct pci_pprof_part *parts;
    uint32_t type_count, part_count;
    uint32_t memory_levels[PCI_MEMORY_GAUGES], memory_type; /* of types_out; PCOL_NONE: none */
    uint8_t *is_exported;                                   /* by source */
    uint32_t source_count;
    struct pci_node_reader nodes;
    struct pci_pprof_unknown_cache unknown_cache;

    struct pci_pprof_entries mappings, functions, groups;
    /* By mapping: a location in it has a function. Without has_functions pprof would look for the
     * binary and replace the names. Not for a native export, which has the flags of its source. */
    uint8_t *has_functions;
    struct pci_pprof_file_line *toplevel_code; /* lines without a function */
    size_t toplevel_capacity;
    struct pci_hash toplevel_hash;

    /* The stack tree, and the ids of one stack, leaf first. */
    uint32_t *parent, *group;
    uint64_t stack_count;
    uint64_t *stack_ids;
    size_t stack_capacity, depth;
    struct pci_written_stacks written;

    struct pci_strbuf labels, unknown_bytes;
    unsigned lost;
};

/* Index of the text in a cell; 0 for a null. */
pcol_status pci_pprof_cell_index(struct pci_pprof_export *e, const struct pci_column *column,
                                 uint64_t row, int64_t *index, pcol_error *err);

/* write_unknown.c */
/* Append the unknown fields under `path` in the tree `root`; "": of the message of the row. */
pcol_status pci_pprof_append_unknown(struct pci_pprof_export *e, uint64_t root, const char *path,
                                     struct pci_strbuf *to, pcol_error *err);
void pci_pprof_unknown_cache_clear(struct pci_pprof_unknown_cache *cache);

/* write_tables.c */
/* Native: restore the order and the ids of the source. */
pcol_status pci_pprof_entries_open(struct pci_pprof_export *e, pcol_error *err);
pcol_status pci_pprof_put_tables(struct pci_pprof_export *e, pcol_error *err);
/* The id of a referenced row; generic: assigned at the first use. */
pcol_status pci_pprof_entry_id(const struct pci_pprof_export *e, struct pci_pprof_entries *entries,
                               uint64_t row, uint64_t *id, pcol_error *err);

/* write_stacks.c */
pcol_status pci_pprof_tree_open(struct pci_pprof_export *e, pcol_error *err);
/* Set e->stack_ids and e->depth to a row of stacks. */
pcol_status pci_pprof_stack(struct pci_pprof_export *e, uint64_t stack, pcol_error *err);

/* write_labels.c: the labels of samples, encoded as fields of Sample */
struct pci_pprof_labels;
pcol_status pci_pprof_labels_new(struct pci_pprof_export *e, struct pci_pprof_labels **labels,
                                 pcol_error *err);
/* Append the labels and the unknown fields of a sample to e->labels. */
pcol_status pci_pprof_labels_put(struct pci_pprof_labels *labels, uint64_t row, pcol_error *err);
void pci_pprof_labels_free(struct pci_pprof_labels *labels);

/* write_samples.c: iteration over the samples of exported sources, read in batches */
struct pci_pprof_cells {
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
};
struct pci_pprof_batches {
    struct pci_pprof_export *e;
    const struct pci_column *stack;
    uint64_t rows, first, next;
    size_t count, at;
    struct pci_memory *memory;                       /* values of the derived type; NULL: none */
    struct pci_pprof_cells sources, stacks, *values; /* of each part, then of the derived type */
    /* the current sample: */
    uint64_t row, stack_row;
    int64_t *sample; /* values */
    uint8_t *is_set; /* by type: a part has a value */
};
pcol_status pci_pprof_batches_next(struct pci_pprof_batches *b, int *end, pcol_error *err);
/* Write a sample whose labels are encoded already. */
pcol_status pci_pprof_put_sample(struct pci_pprof_export *e, uint64_t stack, const int64_t *values,
                                 const void *labels, size_t size, pcol_error *err);
pcol_status pci_pprof_put_samples(struct pci_pprof_export *e, pcol_error *err);

/* write_aggregate.c */
pcol_status pci_pprof_put_aggregated(struct pci_pprof_export *e, struct pci_pprof_batches *b,
                                     struct pci_pprof_labels *labels, pcol_error *err);

#endif
