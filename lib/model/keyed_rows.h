/*
 * keyed_rows.h - rows of open keys as what they were: objects with members
 *
 * A row of samples, models, resource_types, snapshots or location_groups is an object; its members
 * are labels, columns and nodes. Here they are all values of one kind of type, which export and
 * queries can walk without knowing where each of them lies.
 */
#ifndef PCI_MODEL_KEYED_ROWS_H
#define PCI_MODEL_KEYED_ROWS_H

#include "model/row_details.h"

enum pci_value_kind {
    PCI_VALUE_NULL,
    PCI_VALUE_BOOL,
    PCI_VALUE_INTEGER,
    PCI_VALUE_BIG, /* text: decimal digits */
    PCI_VALUE_DOUBLE,
    PCI_VALUE_STRING,
    PCI_VALUE_FRAME,  /* i64: row of location_groups */
    PCI_VALUE_STACK,  /* i64: row of stacks; a list of frames, innermost first */
    PCI_VALUE_RSTACK, /* the same, outermost first */
    PCI_VALUE_NODE,   /* i64: row of nodes; an array, an object or a place */
    PCI_VALUE_TEXT    /* text made by a query; shown like a string */
};

struct pci_value {
    uint8_t kind;
    uint8_t brief; /* TEXT: it is there only until the next row */
    union {
        int64_t i64;
        double f64;
        pcol_str text;
    } as;
};

struct pci_member {
    pcol_str key;
    struct pci_value value;
};

/* Reads rows of one table. */
struct pci_keyed {
    const pcol_file *file;
    struct pci_label_reader labels;
    struct pci_node_reader nodes;
    /* of the row asked for last, valid until the next one is */
    const struct pci_member *members;
    size_t count;
    int has_shape; /* or any member: 0 if the row has no keys of its own */
    struct pci_keyed_state *state;
};

/* Closed by pci_keyed_close(), also after a failure. */
pcol_status pci_keyed_open(struct pci_keyed *keyed, const pcol_file *file, const char *table,
                           pcol_error *err);
/* The row's members, in the order of the source. Fast for ascending rows. */
pcol_status pci_keyed_row(struct pci_keyed *keyed, uint64_t row, pcol_error *err);
/* How many rows from the one asked for last on, at least 1 and at most `most`, have its members and
 * differ from it only in numbers that pci_keyed_values() gives; as far as that shows without
 * reading more. */
size_t pci_keyed_run(const struct pci_keyed *keyed, uint64_t row, size_t most);
/* The integers, booleans or bits of doubles of a member in the rows of such a run, until the next
 * row is asked for; NULL if all have the value of the first. */
const int64_t *pci_keyed_values(const struct pci_keyed *keyed, size_t member, uint64_t row);
/* The group of the frame at a depth of a sample's own stack, 0 is the innermost; E_CORRUPT if the
 * stack is not as deep. For rows of samples. */
pcol_status pci_keyed_own_frame(struct pci_keyed *keyed, uint64_t row, int64_t depth,
                                int64_t *group, pcol_error *err);
void pci_keyed_close(struct pci_keyed *keyed);

/* Walks values of a file. */
struct pci_values {
    const pcol_file *file;
    struct pci_keyed frames; /* location_groups */
    struct pci_node_reader nodes;
    const struct pci_column *parent, *group; /* of stacks */
    uint64_t stack_rows;
    uint32_t *list; /* frames of the stack asked for last */
    size_t list_capacity;
};
pcol_status pci_values_open(struct pci_values *values, const pcol_file *file, pcol_error *err);
void pci_values_close(struct pci_values *values);

/* What kind of thing a value is: scalars are neither. */
pcol_status pci_value_is(const struct pci_values *values, const struct pci_value *value,
                         int *object, int *array, pcol_error *err);
/* The groups of a stack in the order of the value; valid until the next call. */
pcol_status pci_value_frames(struct pci_values *values, const struct pci_value *value,
                             const uint32_t **groups, size_t *count, pcol_error *err);
/* A scalar node as a scalar; arrays, objects and rows as such. */
pcol_status pci_value_of_node(const struct pci_node_value *node, struct pci_value *value,
                              pcol_error *err);

/* Members of an object (or elements of an array, with empty keys), one by one:
 *     PCI_TRY(pci_each_open(&each, values, &value, err));
 *     while ((status = pci_each_next(&each, &member, &more, err)) == PCOL_OK && more) ...
 *     pci_each_close(&each); */
struct pci_each {
    struct pci_values *values;
    struct pci_node_value node;
    struct pci_member *members; /* a copy: frames of frames are not there, but lists of them are */
    size_t count, at;
    uint64_t next;
    int64_t buffer[64];
    size_t buffered, used;
    uint8_t mode;
};
pcol_status pci_each_open(struct pci_each *each, struct pci_values *values,
                          const struct pci_value *value, pcol_error *err);
pcol_status pci_each_next(struct pci_each *each, struct pci_member *member, int *more,
                          pcol_error *err);
void pci_each_close(struct pci_each *each);

#endif
