/*
 * out_buffer.h - buffered text output to a sink
 */
#ifndef PCI_STREAM_OUT_BUFFER_H
#define PCI_STREAM_OUT_BUFFER_H

#include "util/error.h"

struct pci_out {
    pcol_sink sink;
    size_t used;
    uint8_t last; /* latest byte; initially a line feed */
    uint8_t data[65536];
};

void pci_out_open(struct pci_out *to, pcol_sink sink);
pcol_status pci_out(struct pci_out *to, const void *data, size_t size, pcol_error *err);
pcol_status pci_out_flush(struct pci_out *to, pcol_error *err);
/* Append a line feed unless the text ends in one or is empty. */
pcol_status pci_out_line_end(struct pci_out *to, pcol_error *err);
/* Write a value in decimal, at most 20 bytes; returns the end. */
uint8_t *pci_out_digits(uint8_t *to, int64_t value);
pcol_status pci_out_int(struct pci_out *to, int64_t value, pcol_error *err);

#endif
