/*
 * lines.c - the lines of a text input (lines.h)
 */
#include "stream/lines.h"

#include <string.h>

pcol_status pci_lines_next(struct pci_lines *lines, struct pci_line *line, int *got,
                           pcol_error *err)
{
    struct pci_input *input = lines->input;
    size_t at = lines->consumed, seen = 0;
    const uint8_t *feed;
    for (;;) {
        size_t left = input->size - at - seen;
        feed = left ? memchr(input->data + at + seen, '\n', left) : NULL;
        if (feed || input->end)
            break;
        seen = input->size - at; /* looked through already */
        PCI_TRY(pci_input_more(input, at, err));
        at = 0;
    }
    line->text = input->data + at;
    line->size = feed ? (size_t)(feed - line->text) : input->size - at;
    line->whole = line->size + (feed != NULL);
    line->end = feed ? PCI_LINE_LF : PCI_LINE_CUT;
    if (feed && line->size && line->text[line->size - 1] == '\r') {
        line->size--;
        line->end = PCI_LINE_CRLF;
    }
    *got = line->whole > 0;
    lines->consumed = at + line->whole;
    lines->number += (unsigned)*got;
    line->number = lines->number;
    return PCOL_OK;
}
