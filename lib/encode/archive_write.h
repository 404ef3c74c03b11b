/*
 * archive_write.h - compressed sections of archives, written
 *
 * A section is gathered into blocks; each is transformed and compressed when it is full. Which
 * codec a section has is decided by its first block: zlib, unless LZ4 is hardly larger, which is
 * decompressed several times as fast.
 */
#ifndef PCI_ENCODE_ARCHIVE_WRITE_H
#define PCI_ENCODE_ARCHIVE_WRITE_H

#include "format/layout.h"
#include "util/error.h"

/* The tree whose columns are being written: what PCF_TRANSFORM_PARENT and _RANK need. */
struct pci_archive_writer_tree {
    const uint32_t *parents, *values; /* NULL: not a column of a tree */
    unsigned transform;               /* of the column that is being written */
};

struct pci_archive_writer;

/* `flags`: of PCOL_WRITE_ARCHIVE. Freed with pci_archive_writer_free(). */
pcol_status pci_archive_writer_new(unsigned flags, struct pci_archive_writer **press,
                                   pcol_error *err);
void pci_archive_writer_free(struct pci_archive_writer *press);
unsigned pci_archive_writer_flags(const struct pci_archive_writer *press);

/* Where compressed bytes go. */
typedef pcol_status (*pci_archive_writer_put)(void *context, const void *data, size_t size,
                                              pcol_error *err);

/* One section at a time. `width` of its values, if it is transformed; `quick`: it is only
 * measured. */
void pci_archive_writer_begin(struct pci_archive_writer *press, unsigned transform, unsigned width,
                              const struct pci_archive_writer_tree *tree, int quick);
pcol_status pci_archive_writer_add(struct pci_archive_writer *press, const void *data, size_t size,
                                   pci_archive_writer_put put, void *context, pcol_error *err);
/* *codec as in the descriptor, *raw_size: bytes that were added. */
pcol_status pci_archive_writer_end(struct pci_archive_writer *press, pci_archive_writer_put put,
                                   void *context, uint8_t *codec, uint64_t *raw_size,
                                   pcol_error *err);

/* One piece as a whole, for the index: *out is to be freed with pci_free(). */
pcol_status pci_archive_writer_index(struct pci_archive_writer *press, const void *data,
                                     size_t size, uint8_t **out, size_t *out_size, pcol_error *err);

#endif
