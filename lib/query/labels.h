/*
 * labels.h - labels of samples: held against a wish, or as text
 */
#ifndef PCI_QUERY_LABELS_H
#define PCI_QUERY_LABELS_H

#include "query/query.h"

#define PCI_LABEL_TEXT 40 /* room for the text of a number */

/* A column of samples that holds values of one key: one for each kind, unit and occurrence. */
struct pci_label_column {
    const struct pci_column *column;
    uint8_t kind;
};

struct pci_label_frames;

/* All columns of a key. */
struct pci_label_columns {
    const pcol_file *file;
    struct pci_label_column *columns;
    size_t count;
    struct pci_label_frames *frames; /* NULL if no value is a frame or repeats one of the stack */
};

/* E_ARGUMENT, with the keys that there are, if there is none of the key. Closed by
 * pci_label_columns_close(), also after a failure. */
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

#endif
