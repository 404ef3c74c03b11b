/*
 * arrays.h - columns as arrays in the layout of Arrow, decoded once or in place
 */
#ifndef PCI_MODEL_ARRAYS_H
#define PCI_MODEL_ARRAYS_H

#include "model/table.h"

/* A column as an array. Buffers belong to the file: in the map or in `owned`. */
struct pci_array {
    uint64_t rows, null_count;
    const uint8_t *validity; /* bitmap; NULL: no nulls */
    const void *values;      /* BOOL: bits; STRING: codes; texts: rows + 1 offsets */
    const void *data;        /* texts */
    uint64_t data_bytes;
    unsigned width_bits; /* of a value: 1, 32 or 64 */
    int is_text;         /* offsets and data: BYTES, and strings that are not of the pool */
    int is_utf8;         /* every text is UTF-8 */
    void *owned[3];
};

/* 1: the column is stored as an uncompressed array of values of its type's width. Stored
 * nanoseconds count, although they are shown as milliseconds. */
int pci_array_is_in_place(const pcol_column *column);
/* The array of a column, cached in its table; not of lists. In place where possible; otherwise
 * decoded as a whole. Threads may ask at the same time. */
pcol_status pci_array_open(const pcol_column *column, const struct pci_array **array,
                           pcol_error *err);
void pci_array_free(struct pci_array *array);
/* The pool of strings; *array is NULL if the file has none. */
pcol_status pci_array_of_pool(const pcol_file *file, const struct pci_array **array,
                              pcol_error *err);

#endif
