/*
 * inflate.h - gzip and zlib reader: decompression of one byte stream into another
 */
#ifndef PCI_STREAM_INFLATE_H
#define PCI_STREAM_INFLATE_H

#include "util/error.h"

/* Fetches the next compressed bytes, valid until the next call; *size is 0 at their end. */
struct pci_raw_reader {
    pcol_status (*read)(void *context, const uint8_t **data, size_t *size, pcol_error *err);
    void *context;
};

struct pci_inflate;

#define PCI_GZIP_MAGIC "\x1f\x8b"

/* Container of compressed bytes. */
enum pci_wrap { PCI_WRAP_NONE, PCI_WRAP_GZIP, PCI_WRAP_ZLIB };
/* Container by the first bytes. zlib has no magic number, only a header of two bytes with a check,
 * which leaves four common values. The one that is text ("x^") requires a byte that is not text
 * after it. The first few hundred bytes must be a valid deflate stream. */
enum pci_wrap pci_detect_wrap(const uint8_t *data, size_t size);

/* `wrap` must not be NONE. */
pcol_status pci_inflate_new(struct pci_raw_reader raw, enum pci_wrap wrap,
                            struct pci_inflate **inflate, pcol_error *err);
void pci_inflate_free(struct pci_inflate *inflate);
/* Read up to `size` decompressed bytes, 64 KiB at most. *got is 0 only after the last member, whose
 * checksum and length were verified. Errors: E_SYNTAX, E_NO_MEMORY and those of the raw stream. */
pcol_status pci_inflate_read(struct pci_inflate *inflate, void *data, size_t size, size_t *got,
                             pcol_error *err);
#define PCI_INFLATE_STEP 65536u
/* Compressed bytes consumed so far. */
uint64_t pci_inflate_consumed(const struct pci_inflate *inflate);

#endif
