/*
 * input_state.h - private state of an input (input.c), for parts of it (input_part.c)
 */
#ifndef PCI_STREAM_INPUT_STATE_H
#define PCI_STREAM_INPUT_STATE_H

#include "stream/input_open.h"

struct pci_input_state {
    int fd;             /* -1: memory, or the reader */
    pcol_reader reader; /* read is NULL: none */
    int own_fd;         /* closed with the input */
    int file;
    uint64_t position;    /* parts: file offset of the next read; else UINT64_MAX */
    uint64_t start, stop; /* parts: file offsets of the input's start and of the part's end */
    const uint8_t *raw;   /* raw bytes: read from fd, or the caller's memory */
    size_t raw_at, raw_size;
    uint8_t *raw_buffer; /* owns `raw` if it comes from fd */
    struct pci_inflate *inflate;
    uint8_t *buffer;
    size_t capacity, piece;
    size_t step; /* bytes of the next read, quadrupled each time up to a piece; 0: a piece */
    uint64_t limit, total;
    struct pci_budget *budget;       /* NULL: none */
    uint64_t granted;                /* raw bytes that were added to the budget */
    uint64_t read_bytes, file_bytes; /* raw; file_bytes is 0 if this is not a file */
    struct pci_input_state *whole;   /* parts: input whose progress to report; else NULL */
    unsigned threads;
    /* Once a thread decompresses, it owns the members above except limit and total. */
    int is_ahead;
    struct pci_read_pipe *ahead;
    const uint8_t *pending; /* rest of the current piece of the pipe */
    size_t pending_size;
    uint64_t consumed; /* compressed bytes up to the end of that piece */
};

/* An input without bytes; the caller sets where they come from. */
pcol_status pci_input_new_state(struct pci_input *input, const char *name,
                                const struct pci_input_options *options, pcol_error *err);

#endif
