/*
 * lines.c - iteration over the lines of a text input
 */
#include "stream/lines.h"

#include "util/control.h"

#include <string.h>

pcol_status pci_lines_next(struct pci_lines *lines, struct pci_line *line, int *got,
                           pcol_error *err)
{
    struct pci_input *input = lines->input;
    size_t start = lines->consumed, searched = 0;
    const uint8_t *feed;
    for (;;) {
        size_t left = input->size - start - searched;
        feed = left ? memchr(input->data + start + searched, '\n', left) : NULL;
        if (feed || input->end)
            break;
        searched = input->size - start;
        PCI_TRY(pci_input_more(input, start, err));
        start = 0;
    }
    line->text = input->data + start;
    line->size = feed ? (size_t)(feed - line->text) : input->size - start;
    line->whole = line->size + (feed != NULL);
    line->end = feed ? PCI_LINE_LF : PCI_LINE_CUT;
    if (feed && line->size && line->text[line->size - 1] == '\r') {
        line->size--;
        line->end = PCI_LINE_CRLF;
    }
    *got = line->whole > 0;
    lines->consumed = start + line->whole;
    lines->number += (unsigned)*got;
    line->number = lines->number;
    return pci_work(line->whole, err); /* all lines of memory are in the window */
}
