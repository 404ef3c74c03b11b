/*
 * archive_write.h - writer of compressed sections of archives
 *
 * Splits a section into blocks; transforms and compresses each full block. The first block decides
 * the codec of a section: zlib, or LZ4, which decompresses several times as fast, if it is at most
 * 1/32 larger. A writer belongs to one thread. Tests: tests/unit/test_archive.c,
 * tests/format/archive.
 */
#ifndef PCI_ENCODE_ARCHIVE_WRITE_H
#define PCI_ENCODE_ARCHIVE_WRITE_H

#include "format/layout.h"
#include "util/error.h"

/* The tree whose columns are written: input of PCF_TRANSFORM_PARENT and PCF_TRANSFORM_RANK. */
struct pci_archive_writer_tree {
    const uint32_t *parents, *values; /* NULL: not a column of a tree */
    unsigned transform;               /* of the current column */
};

struct pci_archive_writer;

/* `flags`: of PCOL_WRITE_ARCHIVE. Freed with pci_archive_writer_free(). */
pcol_status pci_archive_writer_new(unsigned flags, struct pci_archive_writer **writer,
                                   pcol_error *err);
void pci_archive_writer_free(struct pci_archive_writer *writer);
unsigned pci_archive_writer_flags(const struct pci_archive_writer *writer);

/* Receives compressed bytes. */
typedef pcol_status (*pci_archive_writer_put)(void *context, const void *data, size_t size,
                                              pcol_error *err);

/* Begins a section; one at a time. `width`: bytes of a value, for the transform. `quick`: a faster
 * compression level, for sections that are only measured. */
void pci_archive_writer_begin(struct pci_archive_writer *writer, unsigned transform, unsigned width,
                              const struct pci_archive_writer_tree *tree, int quick);
pcol_status pci_archive_writer_add(struct pci_archive_writer *writer, const void *data, size_t size,
                                   pci_archive_writer_put put, void *context, pcol_error *err);
/* Ends a section: its codec (0: stored uncompressed) and the number of added bytes. */
pcol_status pci_archive_writer_end(struct pci_archive_writer *writer, pci_archive_writer_put put,
                                   void *context, uint8_t *codec, uint64_t *raw_size,
                                   pcol_error *err);

/* Compresses the index as a whole; free *out with pci_free(). */
pcol_status pci_archive_writer_index(struct pci_archive_writer *writer, const void *data,
                                     size_t size, uint8_t **out, size_t *out_size, pcol_error *err);

#endif
