/*
 * frame_form.h - frames of folded stacks that contain a file and a line, and prefixes of threads
 *
 *     file:function:line     CPython's profiling.sampling --collapsed, austin
 *     file:function:Lline    austin before version 3
 *     function (file:line)   py-spy --format raw
 *
 * A frame of the form prints as the same bytes; any other frame is a name as it is. The column
 * sources.frame_form has the text of the form. Tests: tests/unit/test_folded.c, tests/cli.
 */
#ifndef PCI_FOLDED_FRAME_FORM_H
#define PCI_FOLDED_FRAME_FORM_H

#include "util/error.h"

enum pci_folded_form {
    PCI_FOLDED_NAME,
    PCI_FOLDED_FILE_FIRST,
    PCI_FOLDED_FILE_FIRST_L,
    PCI_FOLDED_FILE_LAST,
    PCI_FOLDED_FORMS
};
extern const char *const pci_folded_form_texts[PCI_FOLDED_FORMS]; /* NULL for NAME */

struct pci_folded_frame {
    pcol_str function, file;
    int64_t line;
};

/* 0 if the frame does not have the form. */
int pci_folded_parse_frame(enum pci_folded_form form, const uint8_t *text, size_t size,
                           struct pci_folded_frame *frame);
/* Bytes around the numbers and names of a frame, at most. */
#define PCI_FOLDED_FRAME_MARGIN 32u
/* Print a frame of the form to `to`, which has space for its texts and the margin; its size. */
size_t pci_folded_print_frame(enum pci_folded_form form, const struct pci_folded_frame *frame,
                              char *to);

#define PCI_FOLDED_FORM_BYTES 4096u /* of a text, that decide about the form of its frames */
/* The form of at least half of the frames in the first bytes of a text; whether a frame's file is
 * the name of a file decides, so that `a::b:12` is a name. */
enum pci_folded_form pci_folded_find_form(const uint8_t *data, size_t size, int all);

/* A prefix "tid:T" or "PP;TT" of a stack. Its size with the semicolon that follows; 0: none.
 * pid: empty in the first form. */
size_t pci_folded_parse_thread(const uint8_t *text, size_t size, pcol_str *pid, pcol_str *tid);
/* 1 if a prefix of these numbers is parsed as such. pid: empty if there is none. */
int pci_folded_is_thread(pcol_str pid, pcol_str tid);

#endif
