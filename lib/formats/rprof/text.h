/*
 * text.h - input of lines that end in call stacks, for the readers of Rprof and Rprofmem
 */
#ifndef PCI_RPROF_TEXT_H
#define PCI_RPROF_TEXT_H

#include "formats/rprof/frames.h"
#include "formats/rprof/lines.h"

struct pci_rprof_text {
    struct pci_rprof_lines lines;
    struct pci_rprof_frames frames;
    struct pci_rprof_scratch scratch;
    uint64_t previous_end; /* offset of the end of the previous line */
    int crlf;              /* the usual line end is CR LF */
    int is_unended;        /* the last line has no line end */
};

void pci_rprof_text_init(struct pci_rprof_text *text, const struct pci_import *import);
void pci_rprof_text_clear(struct pci_rprof_text *text);

/* Advance to the line after `line`. */
void pci_rprof_text_pass(struct pci_rprof_text *text, const struct pci_rprof_line *line);
/* 1 if the line ends as the first line of the segment does. */
int pci_rprof_has_usual_eol(const struct pci_rprof_text *text, const struct pci_rprof_line *line);

/* Report lines that were tolerated, and a last line that ends within a word, or without a line
 * end. */
void pci_rprof_report_deviations(const struct pci_tolerated *tolerated, int is_truncated,
                                 int is_unended);

/* The units of a line. */
struct pci_rprof_units {
    struct pci_rprof_line line;   /* in and out: extended by lines that continue names */
    uint64_t start;               /* in: offset of the units */
    struct pci_rprof_fault fault; /* that ends them */
    size_t count;                 /* new units */
    int has_stack;                /* there are units, new or reused (frames.h) */
    int exact;                    /* units and line end export as the same bytes */
};

/* Find the units of a line, extended by the lines that continue its names, and add them to the
 * frames. `flags`: PCI_RPROF_NO_REFS or 0. */
pcol_status pci_rprof_text_units(struct pci_rprof_text *text, unsigned flags,
                                 pci_rprof_is_own_line_fn alone, const void *context,
                                 struct pci_rprof_units *units, pcol_error *err);

#endif
