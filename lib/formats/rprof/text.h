/*
 * text.h - an input of lines that end in call stacks: what the readers of Rprof and Rprofmem share
 */
#ifndef PCI_RPROF_TEXT_H
#define PCI_RPROF_TEXT_H

#include "formats/rprof/frames.h"
#include "formats/rprof/lines.h"

struct pci_rprof_text {
    struct pci_rprof_lines lines;
    struct pci_rprof_frames frames;
    struct pci_rprof_scratch scratch;
    uint64_t before_end; /* where the text of the line before ended */
    int crlf;            /* lines end so */
};

void pci_rprof_text_init(struct pci_rprof_text *text, const struct pci_import *import);
void pci_rprof_text_clear(struct pci_rprof_text *text);

/* The next line is the one behind `line`. */
void pci_rprof_text_pass(struct pci_rprof_text *text, const struct pci_rprof_line *line);
int pci_rprof_own_eol(const struct pci_rprof_text *text, const struct pci_rprof_line *line);

/* The units of a line. */
struct pci_rprof_units {
    struct pci_rprof_line line;   /* in and out: longer if names go over several lines */
    uint64_t start;               /* in: where the units begin */
    struct pci_rprof_fault fault; /* how they end */
    size_t count;                 /* found before the fault, or new */
    int has_stack;                /* there are units, of this line or kept (frames.h) */
    int exact;                    /* units and line end print as the same bytes */
};

/* Find the units of a line, taking in further physical lines where a name goes over them, and add
 * them to the tree. `flags`: PCI_RPROF_NO_REFS or 0. */
pcol_status pci_rprof_text_units(struct pci_rprof_text *text, unsigned flags, pci_rprof_alone alone,
                                 const void *context, struct pci_rprof_units *units,
                                 pcol_error *err);

#endif
