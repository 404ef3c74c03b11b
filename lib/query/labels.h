/*
 * labels.h - labels of samples: held against a wish, or as text
 */
#ifndef PCI_QUERY_LABELS_H
#define PCI_QUERY_LABELS_H

#include "model/row_details.h"
#include "query/query.h"
#include "util/strbuf.h"

#define PCI_LABEL_TEXT 40 /* room for the text of a number */

/* A column of samples that holds values of one key: one for each kind, unit and occurrence. */
struct pci_label_column {
    const struct pci_column *column;
    uint8_t kind;
    pcol_str unit; /* "" if there is none; borrowed from the file */
};

struct pci_label_frames;

/* Values of a key that have no column: members of the rows' `extra`. */
struct pci_label_members {
    const struct pci_column *roots; /* samples.extra; NULL: no node has the key */
    struct pci_node_reader nodes;
    pcol_str key; /* borrowed */
};

/* All columns of a key, and what has none. */
struct pci_label_columns {
    const pcol_file *file;
    struct pci_label_column *columns;
    size_t count;
    struct pci_label_members members;
    struct pci_label_frames *frames; /* NULL if no value is a frame or repeats one of the stack */
};

/* E_ARGUMENT, with the keys that there are, if no column and no member has the key, which is
 * borrowed. Closed by pci_label_columns_close(), also after a failure. */
pcol_status pci_label_columns_open(struct pci_label_columns *columns, const pcol_file *file,
                                   const char *key, size_t key_size, pcol_error *err);
void pci_label_columns_close(struct pci_label_columns *columns);
/* As pci_read(), of a column that is not of bytes; a value that repeats a frame of the sample's own
 * stack is that frame's group. */
pcol_status pci_label_read(const struct pci_label_columns *columns,
                           const struct pci_label_column *column, uint64_t row, size_t n,
                           int64_t *cells, uint8_t *valid, pcol_error *err);
/* A valid cell as text, until the next call; it may lie in `room`. `bits` as pci_label_read() gives
 * them. */
pcol_status pci_label_text(const struct pci_label_columns *columns,
                           const struct pci_label_column *column, uint64_t row, int64_t bits,
                           char *room, pcol_str *text, pcol_error *err);

/* The text of a value with its unit, "4 bytes", in `room` until the next call. */
pcol_status pci_label_with_unit(const struct pci_label_column *column, struct pci_strbuf *room,
                                pcol_str *text, pcol_error *err);

/* ---- label_members.c */

/* O(nodes of the file) if samples have members. */
pcol_status pci_label_members_open(struct pci_label_members *members, const pcol_file *file,
                                   const char *key, size_t key_size, pcol_error *err);
struct pci_label_value {
    uint64_t member; /* its node; PCI_NO_NODE before the first value and after the last */
    uint8_t kind;
    int64_t bits;
    pcol_str text; /* may lie in `room` */
    char room[PCI_LABEL_TEXT];
};
/* The next value among the members of `root`, a cell of `roots`. */
pcol_status pci_label_members_next(const struct pci_label_columns *columns, uint64_t root,
                                   struct pci_label_value *value, pcol_error *err);

#endif
