/*
 * lines.h - physical lines of an input, joined where names contain line feeds
 *
 * Positions are offsets in the whole input, which stay valid while the window slides;
 * pci_rprof_at() returns a pointer that is valid until more input is read. The window retains
 * everything from `keep` on: the reader compares a line with the previous one in the window.
 */
#ifndef PCI_RPROF_LINES_H
#define PCI_RPROF_LINES_H

#include "formats/format.h"
#include "formats/rprof/lexer.h"

enum pci_rprof_eol { PCI_RPROF_NO_EOL, PCI_RPROF_LF, PCI_RPROF_CRLF };

struct pci_rprof_line {
    uint64_t start, end;    /* without the line end */
    uint64_t next;          /* start of the next line */
    enum pci_rprof_eol eol; /* of its last physical line */
    uint64_t parts;         /* physical lines */
    int has_bare_lf;        /* one of the line feeds inside has no CR before it */
    int is_last;            /* pci_rprof_extend() reached the end of the input */
};

struct pci_rprof_lines {
    struct pci_input *input;
    uint64_t at;       /* start of the next line */
    uint64_t keep;     /* <= at: begin of the window */
    uint64_t number;   /* of the next line, from 1 */
    uint64_t searched; /* start of the last line that a search for the end of a name read */
};

static inline const uint8_t *pci_rprof_at(const struct pci_rprof_lines *lines, uint64_t offset)
{
    return lines->input->data + (offset - lines->input->offset);
}

/* Read the physical line at `from`; *got: 0 at the end of the input. */
pcol_status pci_rprof_peek(struct pci_rprof_lines *lines, uint64_t from,
                           struct pci_rprof_line *line, int *got, pcol_error *err);

/* 1 if [p, end) is a line of its own, 0 if it continues an open name. */
typedef int (*pci_rprof_is_own_line_fn)(const void *context, const uint8_t *p, const uint8_t *end);

/* Maximum size of a name with line feeds; more is an unterminated name. */
#define PCI_RPROF_LONGEST_NAME (UINT64_C(1) << 20)

/**
 * pci_rprof_extend() - append the lines that continue the names of a line
 * @text: offset of the line's units
 * @fault: in: of the physical line (OPEN or NO_BLANK); out: of the extended line
 * @line: extended if *fault becomes NO_FAULT or the input ends; else unchanged
 *
 * A line that a failed search has read is never extended, so the time is linear.
 */
pcol_status pci_rprof_extend(struct pci_rprof_lines *lines, uint64_t text, unsigned flags,
                             pci_rprof_is_own_line_fn alone, const void *context,
                             struct pci_rprof_line *line, struct pci_rprof_fault *fault,
                             pcol_error *err);

/* A copy of text with LF for CR LF. */
struct pci_rprof_scratch {
    uint8_t *data;
    size_t size, capacity;
};
pcol_status pci_rprof_unify(struct pci_rprof_scratch *scratch, const uint8_t *p, const uint8_t *end,
                            pcol_error *err);

#endif
