/*
 * lines.h - iteration over the lines of a text input
 *     struct pci_lines lines = {.input = import->input};
 *     for (;;) {
 *         struct pci_line line;
 *         PCI_TRY(pci_lines_next(&lines, &line, &got, err));
 *         if (!got)
 *             break;
 *         ... line.text, line.size, line.number ...
 *     }
 */
#ifndef PCI_STREAM_LINES_H
#define PCI_STREAM_LINES_H

#include "stream/input.h"

enum pci_line_end { PCI_LINE_CUT, PCI_LINE_LF, PCI_LINE_CRLF };

/* A line within the input's window, valid until the next call of pci_lines_next(). */
struct pci_line {
    const uint8_t *text;
    size_t size;           /* without the line ending */
    size_t whole;          /* with the line ending */
    enum pci_line_end end; /* CUT: the last line of the input, without a line feed */
    uint64_t number;       /* from 1 */
};

struct pci_lines {
    struct pci_input *input;
    size_t consumed; /* bytes of the window up to the end of the last line */
    uint64_t number; /* of the last line */
};

/* *got is 0 at the end of the input. A line longer than the largest window is E_LIMIT. */
pcol_status pci_lines_next(struct pci_lines *lines, struct pci_line *line, int *got,
                           pcol_error *err);

#endif
