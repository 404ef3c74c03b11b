/*
 * input.h - input of an importer as a sliding window over its bytes
 *
 * Uniform access to files, pipes and memory, compressed (gzip of any number of members, or zlib) or
 * not. The window contains the bytes that the importer has not consumed. It grows, up to a limit,
 * only if the importer requests more without consuming any (a line longer than the window). Files
 * are read in pieces and not mapped. Not thread-safe, except for parts. Tests:
 * tests/unit/test_input.c.
 */
#ifndef PCI_STREAM_INPUT_H
#define PCI_STREAM_INPUT_H

#include "util/error.h"

struct pci_input {
    const uint8_t *data; /* the window */
    size_t size;         /* bytes in it */
    uint64_t offset;     /* of data[0] in the (inflated) input */
    int end;             /* no byte follows the window */
    int counting;        /* set by an importer to count consumed characters */
    uint64_t pause; /* set before a skip from this offset: little after it is read ahead; 0: none */
    uint64_t characters; /* consumed: bytes that are not UTF-8 continuation bytes */
    const char *name;    /* as given by the user, for recognition by suffix and as default uri */
    /* Set by an importer to use the time while bytes are not available yet: does a small piece of
     * other work per call, 0: there is none. It must not use the input. May be NULL. */
    int (*meanwhile)(void *context);
    void *meanwhile_context;
    struct pci_input_state *state;
};

/* Consume bytes at the start of the window and read more at its end: afterwards `size` has grown or
 * `end` is set. Errors: E_IO, E_NO_MEMORY, E_LIMIT (input larger than allowed, token larger than
 * the largest window of 64 MiB), E_SYNTAX (damaged gzip data, with both offsets). */
pcol_status pci_input_more(struct pci_input *input, size_t consumed, pcol_error *err);

/* Size of an input with random access, that is, an uncompressed file; else 0. The file may have
 * been truncated since. */
uint64_t pci_input_bytes(const struct pci_input *input);
/* A second reader of the same bytes, which borrows `of`; it may be used by another thread. The
 * caller then calls pci_input_skip(), and closes it. */
pcol_status pci_input_open_part(struct pci_input *part, const struct pci_input *of,
                                pcol_error *err);
/* Count bytes read through a part as progress of `of`; not if another thread reads the part. */
void pci_input_report_to(struct pci_input *part, const struct pci_input *of);
/* End a part at `offset`. */
void pci_input_end_part(struct pci_input *part, uint64_t offset);
/* Continue at `offset`: of a part anywhere, otherwise not before the window. */
pcol_status pci_input_skip(struct pci_input *input, uint64_t offset, pcol_error *err);

/* Characters consumed while counting, plus those in the window. */
uint64_t pci_input_characters(const struct pci_input *input);

/* An importer itself decompressed `from` bytes of the input to `to`: count these for the limit of
 * its size, and for the budget. E_LIMIT. */
pcol_status pci_input_count_expanded(struct pci_input *input, uint64_t from, uint64_t to,
                                     pcol_error *err);
/* Count the whole input as read for the budget, as it is mapped. */
void pci_input_grant(const struct pci_input *input);

#endif
