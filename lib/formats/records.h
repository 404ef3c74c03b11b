/*
 * records.h - JSON values of repeated shape, stored as a state machine with columns
 *
 * Objects of one array mostly have the same members in the same order. A member is a state: a key
 * of a kind of container, with a type of value. Each state has a column of the states that followed
 * it, and one of its values, so that a member costs two short integers instead of a node, and
 * nothing where all are equal. Reading the columns in the order in which they were written restores
 * the value. Members beyond a limit, and values of rare types, become nodes (`others`). The stored
 * form: docs/spec/mappings.md, 16.10. Tests: tests/roundtrip/json_formats,
 * tests/unit/test_records.c.
 */
#ifndef PCI_FORMATS_RECORDS_H
#define PCI_FORMATS_RECORDS_H

#include "formats/document.h"

/* Tags of states: those of nodes, and these. A run is in an array; other values are elements of
 * `others`. Without a key in an object, that element is an object that has the member. */
#define PCI_RECORD_RUN PCI_NODE_INTEGERS
#define PCI_RECORD_OTHER PCI_NODE_TABLE
#define PCI_RECORD_START PCI_NODE_ROW /* the state of a container before its first member */

/* ---- import */

/* Numbers in order; no buffer while all are equal, except for elements. */
struct pci_record_column {
    struct pci_column_buffer *buffer;
    uint64_t count;
    int64_t value;
};

struct pci_record_state {
    uint32_t start;    /* its container, by the state START; START: itself */
    uint32_t key;      /* string; PCOL_NONE: an element. START: that of its container */
    uint32_t child;    /* OBJECT, ARRAY: the state START of the value */
    uint32_t sibling;  /* another state of the container, or PCOL_NONE */
    uint32_t follower; /* the state that followed it last, or PCOL_NONE */
    uint32_t string;   /* STRING: the last one, or PCOL_NONE */
    uint8_t tag, container;
    struct pci_record_column next, values, elements; /* elements: of RUN; values are its lengths */
};

struct pci_record_level {
    uint32_t state;
    uint64_t run; /* integers of a run that continues */
};

struct pci_records {
    struct pci_document *document;
    uint64_t element, strings_node, others; /* nodes */
    struct pci_record_state *states;
    size_t state_count, state_capacity;
    struct pci_record_level *levels; /* open containers; the first is around the whole value */
    size_t depth, level_capacity;
    uint32_t key;    /* of the next member */
    uint32_t string; /* the current value, if it is a string */
    uint32_t *codes; /* by string of the builder: 1 + number in `strings`, or 0 */
    size_t code_count, code_capacity;
    uint32_t *strings;
    size_t string_count, string_capacity;
};

/* Place a value in the document, as member `key` of the object `parent`. */
pcol_status pci_records_begin(struct pci_records *records, struct pci_document *document,
                              uint64_t parent, const char *key, pcol_error *err);
/* Store the value, which is complete. */
pcol_status pci_records_end(struct pci_records *records, pcol_error *err);
/* Release memory, at any time. */
void pci_records_clear(struct pci_records *records);

/* The current token is a key: it is that of the next value. */
pcol_status pci_records_key(struct pci_records *records, const struct pci_json *json,
                            pcol_error *err);
/* Append the value that is current as a whole, and advance to its last token. */
pcol_status pci_records_value(struct pci_records *records, struct pci_json *json, pcol_error *err);
/* Append the object or array that begins; the caller appends its members up to its end. */
pcol_status pci_records_enter(struct pci_records *records, const struct pci_json *json,
                              pcol_error *err);
pcol_status pci_records_leave(struct pci_records *records, pcol_error *err);

/* ---- export */

/* Whether an element of `arrays` has this form. */
pcol_status pci_records_find(const struct pci_node_reader *nodes,
                             const struct pci_node_value *element, int *found, pcol_error *err);
/* Write the value that `element` stores. *steps: those of all values of the file so far, which are
 * limited. */
pcol_status pci_records_write(const struct pci_node_reader *nodes, uint64_t element,
                              struct pci_json_writer *json, uint64_t *steps, pcol_error *err);

#endif
