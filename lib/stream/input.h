/*
 * input.h - a profile to import, as a window that slides over its bytes
 *
 * Files, pipes and memory, compressed (gzip of any number of members, or zlib) or not, look the
 * same. The window holds what the importer has not consumed yet; it grows only when the importer
 * asks for more while nothing was consumed (a line longer than the window), up to a limit. A file
 * is read in pieces, so its pages are never part of our memory.
 */
#ifndef PCI_STREAM_INPUT_H
#define PCI_STREAM_INPUT_H

#include "util/error.h"

struct pci_input {
    const uint8_t *data; /* the window */
    size_t size;         /* bytes in it */
    uint64_t offset;     /* of data[0] in the (inflated) input */
    int end;             /* no byte follows the window */
    int counting;        /* set by an importer: consumed characters are counted */
    uint64_t pause; /* set by who is going to skip from there: not much behind it is read; 0: no */
    uint64_t characters; /* consumed: bytes that do not go on with a UTF-8 character */
    const char *name;    /* as given by the user, for sniffing by name and as the default uri */
    /* Set by an importer that has other work to do while bytes are not there yet: a short piece of
     * it for each call; 0: there is none. It leaves the input alone. May be NULL. */
    int (*meanwhile)(void *context);
    void *meanwhile_context;
    struct pci_input_state *state;
};

/* Drop `consumed` bytes from the window's front and read more behind it: afterwards size has grown
 * or `end` is set. Errors: E_IO, E_NO_MEMORY, E_LIMIT (input larger than allowed, token larger than
 * the largest window of 64 MiB), E_SYNTAX (damaged gzip, with both offsets). */
pcol_status pci_input_more(struct pci_input *input, size_t consumed, pcol_error *err);

/* Bytes of an input that can be read out of turn, since it is a file and not compressed; else 0. It
 * may have become shorter meanwhile. */
uint64_t pci_input_bytes(const struct pci_input *input);
/* The same bytes once more, beside `of`, which it borrows; by another thread, if one likes. To be
 * begun with pci_input_skip(), and closed. */
pcol_status pci_input_open_part(struct pci_input *part, const struct pci_input *of,
                                pcol_error *err);
/* What is read through a part counts as progress of `of`. Not for one that another thread reads. */
void pci_input_report(struct pci_input *part, const struct pci_input *of);
/* No byte of a part from `offset` on. */
void pci_input_cut(struct pci_input *part, uint64_t offset);
/* Go on at `offset`, of a part anywhere, else not before the window. */
pcol_status pci_input_skip(struct pci_input *input, uint64_t offset, pcol_error *err);

/* Characters consumed while counting, and those in the window. */
uint64_t pci_input_characters(const struct pci_input *input);

/* Bytes of the input as it came (compressed, maybe) that were taken so far. */
uint64_t pci_input_consumed(const struct pci_input *input);
/* All bytes of the input count as read for the budget: it is mapped. */
void pci_input_grant(const struct pci_input *input);

#endif
