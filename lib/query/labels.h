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

/* The columns of a key; the caller frees *columns. E_ARGUMENT, with the keys that there are, if
 * there is none. */
pcol_status pci_label_columns(const pcol_file *file, const char *key, size_t key_size,
                              struct pci_label_column **columns, size_t *count, pcol_error *err);
/* A valid cell as text, which may lie in `room`; `bits` as pci_read() gives them. */
pcol_status pci_label_text(const pcol_file *file, const struct pci_label_column *column,
                           uint64_t row, int64_t bits, char *room, pcol_str *text, pcol_error *err);

#endif
