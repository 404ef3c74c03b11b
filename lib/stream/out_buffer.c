/*
 * out_buffer.c - buffered text output to a sink
 */
#include "stream/out_buffer.h"

#include <string.h>

void pci_out_open(struct pci_out *to, pcol_sink sink)
{
    to->sink = sink;
    to->used = 0;
    to->last = '\n';
}

pcol_status pci_out_flush(struct pci_out *to, pcol_error *err)
{
    size_t used = to->used;
    to->used = 0;
    return used ? pci_sink_write(to->sink, to->data, used, err) : PCOL_OK;
}

pcol_status pci_out(struct pci_out *to, const void *data, size_t size, pcol_error *err)
{
    if (size)
        to->last = ((const uint8_t *)data)[size - 1];
    if (size > sizeof to->data - to->used) {
        PCI_TRY(pci_out_flush(to, err));
        if (size > sizeof to->data)
            return pci_sink_write(to->sink, data, size, err);
    }
    if (size)
        memcpy(to->data + to->used, data, size);
    to->used += size;
    return PCOL_OK;
}

pcol_status pci_out_line_end(struct pci_out *to, pcol_error *err)
{
    return to->last == '\n' ? PCOL_OK : pci_out(to, "\n", 1, err);
}

uint8_t *pci_out_digits(uint8_t *to, int64_t value)
{
    uint8_t text[20], *p = text + sizeof text;
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0)
        *to++ = '-';
    do
        *--p = (uint8_t)('0' + magnitude % 10);
    while (magnitude /= 10);
    size_t size = (size_t)(text + sizeof text - p);
    memcpy(to, p, size);
    return to + size;
}

pcol_status pci_out_int(struct pci_out *to, int64_t value, pcol_error *err)
{
    uint8_t text[20];
    return pci_out(to, text, (size_t)(pci_out_digits(text, value) - text), err);
}
