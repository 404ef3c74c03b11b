/*
 * lines.h - the physical lines of an input, and names that go over several of them
 *
 * Places are offsets in the whole input, so that they stay true while the window slides; a pointer
 * is made of one only for a moment (pci_rprof_at). The window never lets go of what stands behind
 * `keep`: the reader compares a line with the line before in place.
 */
#ifndef PCI_RPROF_LINES_H
#define PCI_RPROF_LINES_H

#include "formats/format.h"
#include "formats/rprof/lexer.h"

enum pci_rprof_eol { PCI_RPROF_CUT, PCI_RPROF_LF, PCI_RPROF_CRLF };

struct pci_rprof_line {
    uint64_t start, end;    /* without the line end */
    uint64_t next;          /* start of the next line */
    enum pci_rprof_eol eol; /* of its last physical line */
    uint64_t parts;         /* physical lines */
    int bare;               /* one of the line feeds inside it has no CR before it */
    int last;               /* pci_rprof_extend() met the end of the input */
};

struct pci_rprof_lines {
    struct pci_input *input;
    uint64_t at;       /* where the next line starts */
    uint64_t keep;     /* <= at */
    uint64_t number;   /* of the next line, from 1 */
    uint64_t searched; /* the last search for the end of an open name went as far as this line */
};

static inline const uint8_t *pci_rprof_at(const struct pci_rprof_lines *lines, uint64_t place)
{
    return lines->input->data + (place - lines->input->offset);
}

/* The physical line at `from`; *got is 0 at the end of the input. */
pcol_status pci_rprof_peek(struct pci_rprof_lines *lines, uint64_t from,
                           struct pci_rprof_line *line, int *got, pcol_error *err);

/* Can [p, end) stand as a line of its own? What cannot continues an open name. */
typedef int (*pci_rprof_alone)(const void *context, const uint8_t *p, const uint8_t *end);

/* A name longer than this has not been closed by accident. */
#define PCI_RPROF_LONGEST_NAME (UINT64_C(1) << 20)

/**
 * pci_rprof_extend() - take in the lines over which the names of a line go
 * @text: where the units of the line begin
 * @fault: how the line alone ends (OPEN or NO_BLANK); its new end if that succeeds
 * @line: becomes longer if *fault becomes WHOLE or the input ends; is left alone otherwise
 *
 * A line that a failed search went over stays single, so that the time is linear.
 */
pcol_status pci_rprof_extend(struct pci_rprof_lines *lines, uint64_t text, unsigned flags,
                             pci_rprof_alone alone, const void *context,
                             struct pci_rprof_line *line, struct pci_rprof_fault *fault,
                             pcol_error *err);

/* Bytes in which CR LF has become LF. */
struct pci_rprof_scratch {
    uint8_t *data;
    size_t size, capacity;
};
pcol_status pci_rprof_unify(struct pci_rprof_scratch *scratch, const uint8_t *p, const uint8_t *end,
                            pcol_error *err);

#endif
