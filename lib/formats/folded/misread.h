/*
 * misread.h - output of folded stacks, with what the reader would take for something else
 *
 * The format has no escapes: such text is written and reported as a loss.
 */
#ifndef PCI_FOLDED_MISREAD_H
#define PCI_FOLDED_MISREAD_H

#include "formats/folded/frame_form.h"
#include "stream/out_buffer.h"

#define PCI_FOLDED_SEPARATORS                                                  \
    {                                                                          \
        "semicolons and line ends in names: they become colons and spaces", "" \
    }
#define PCI_FOLDED_MISREAD                                                                     \
    {                                                                                          \
        "names that readers take for a comment, a file and a line, another number or encoded " \
        "text",                                                                                \
            ""                                                                                 \
    }

struct pci_folded_output {
    struct pci_out *out;
    uint64_t size;
    uint8_t head[PCI_FOLDED_FORM_BYTES]; /* the first bytes */
    int is_misread; /* a line would be a comment, the text would begin like an encoding */
    int has_parts;  /* frames with a file and a line, or threads, were written */
    /* Among the bytes that decide: stacks, and those that end in a number. */
    uint64_t lines, numbered;
};

/* Replace semicolons by colons, line ends by spaces; 1 if there were any. carriage_returns: they
 * are line ends of some readers, but pcol reads them as parts of names. */
int pci_folded_replace_separators(char *text, size_t size, int carriage_returns);

pcol_status pci_folded_put(struct pci_folded_output *output, const void *text, size_t size,
                           pcol_error *err);
/* Write the frames of a line. begins: no thread precedes them. */
pcol_status pci_folded_put_stack(struct pci_folded_output *output, const void *text, size_t size,
                                 int begins, pcol_error *err);
/* 1 if the reader takes some text for something else. form: of the frames that were written. */
int pci_folded_is_misread(const struct pci_folded_output *output, enum pci_folded_form form);

#endif
