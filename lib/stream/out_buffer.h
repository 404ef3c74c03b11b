/*
 * out_buffer.h - text on its way to a sink, gathered into larger pieces
 */
#ifndef PCI_STREAM_OUT_BUFFER_H
#define PCI_STREAM_OUT_BUFFER_H

#include "util/error.h"

struct pci_out {
    pcol_sink sink;
    size_t used;
    uint8_t last; /* byte that was put, a line feed before the first */
    uint8_t data[65536];
};

void pci_put_open(struct pci_out *to, pcol_sink sink);
pcol_status pci_out(struct pci_out *to, const void *data, size_t size, pcol_error *err);
pcol_status pci_out_flush(struct pci_out *to, pcol_error *err);
/* A line feed unless the text so far ends in one: the next source begins its own line. */
pcol_status pci_put_line_end(struct pci_out *to, pcol_error *err);
/* Digits of a value into at most 20 bytes; returns past the last. */
uint8_t *pci_out_digits(uint8_t *to, int64_t value);
pcol_status pci_out_int(struct pci_out *to, int64_t value, pcol_error *err);

#endif
