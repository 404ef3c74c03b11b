/*
 * put.h - text on its way to a sink, gathered into larger pieces
 */
#ifndef PCI_PUT_H
#define PCI_PUT_H

#include "core/error.h"

struct pci_put {
    pcol_sink sink;
    size_t used;
    uint8_t last; /* byte that was put, a line feed before the first */
    uint8_t data[65536];
};

void pci_put_open(struct pci_put *to, pcol_sink sink);
pcol_status pci_put(struct pci_put *to, const void *data, size_t size, pcol_error *err);
pcol_status pci_put_flush(struct pci_put *to, pcol_error *err);
/* A line feed unless the text so far ends in one: the next source begins its own line. */
pcol_status pci_put_line_end(struct pci_put *to, pcol_error *err);
/* Digits of a value into at most 20 bytes; returns past the last. */
uint8_t *pci_put_digits(uint8_t *to, int64_t value);
pcol_status pci_put_int(struct pci_put *to, int64_t value, pcol_error *err);

#endif
