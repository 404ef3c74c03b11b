/*
 * input_open.h - opening and closing of inputs (input.h)
 */
#ifndef PCI_STREAM_INPUT_OPEN_H
#define PCI_STREAM_INPUT_OPEN_H

#include "stream/input.h"

struct pci_input_options {
    uint64_t max_bytes;        /* of the decompressed input; 0: 64 GiB */
    size_t piece;              /* bytes per read; 0: 256 KiB */
    unsigned threads;          /* 2 or more: a thread of its own decompresses */
    struct pci_budget *budget; /* charged for bytes read; NULL: none */
    const void *start;         /* descriptor, reader: bytes that the caller has read from it */
    size_t start_size;         /* at most `piece` */
};

/* All four detect compression by the first bytes and fill the window with a first piece, or all of
 * a shorter input. Names are borrowed until pci_input_close(). Errors: E_IO, E_NO_MEMORY, E_LIMIT,
 * E_SYNTAX (gzip), E_FORMAT (gzip inside gzip). */
pcol_status pci_input_open_path(struct pci_input *input, const char *path,
                                const struct pci_input_options *options, pcol_error *err);
pcol_status pci_input_open_fd(struct pci_input *input, int fd, const char *name,
                              const struct pci_input_options *options, pcol_error *err);
pcol_status pci_input_open_reader(struct pci_input *input, pcol_reader reader, const char *name,
                                  const struct pci_input_options *options, pcol_error *err);
/* Uncompressed memory is the window itself, without a copy. */
pcol_status pci_input_open_memory(struct pci_input *input, const void *data, size_t size,
                                  const char *name, const struct pci_input_options *options,
                                  pcol_error *err);
void pci_input_close(struct pci_input *input);

/* Whether the input is an uncompressed regular file that was opened by its name. */
int pci_input_is_file(const struct pci_input *input);
/* Whether the input is uncompressed memory; then *size is that from the start of the window on. */
int pci_input_memory(const struct pci_input *input, size_t *size);
/* The remaining input as one block; the caller frees *data with pci_free(). */
pcol_status pci_input_rest(struct pci_input *input, void **data, size_t *size, pcol_error *err);
/* After a failed import of a compressed input: convert the error's offset into one of the
 * decompressed bytes. */
void pci_input_convert_offset(const struct pci_input *input, pcol_error *err);

#endif
