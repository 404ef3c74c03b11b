/*
 * tachyon.h - reader of binary profiles of CPython's profiling.sampling, version 1
 *
 *     header   64 bytes: the magic number, which shows the byte order; offsets of the tables
 *     samples  one record after the other, perhaps compressed by zstd
 *     strings  SIZE TEXT each
 *     frames   FILE FUNCTION LINE END_LINE COLUMN END_COLUMN OPCODE each
 *     footer   32 bytes: numbers of strings and frames, size of the file
 *
 * The tables follow the samples, so the input is stored in a spill first. A stack is stored as its
 * difference to the previous one of its thread. Tests: tests/roundtrip/binary_formats.
 */
#ifndef PCI_TACHYON_TACHYON_H
#define PCI_TACHYON_TACHYON_H

#include "builder/builder.h"
#include "formats/format.h"

pcol_status pci_tachyon_read(struct pci_import *import, pcol_error *err);

/* ---- bytes.c: a part of the input, decompressed */

struct pci_tachyon_bytes {
    const struct pci_spill *spill;
    uint64_t at, end; /* of the spill: next byte to fetch */
    int is_big_endian;
    struct ZSTD_DCtx_s *zstd; /* NULL: not compressed */
    size_t zstd_size;         /* bytes of it and of its window, charged to the budget */
    struct pci_input *source; /* where decompressed bytes are counted */
    int is_open;              /* inside a zstd frame */
    uint8_t *input, *output;  /* zstd: fetched bytes; bytes to read */
    size_t input_at, input_size, output_at, output_size;
};

/* A part of the spill; the caller closes it, also after a failure. compressed: the input, if the
 * part is compressed. */
pcol_status pci_tachyon_open(struct pci_tachyon_bytes *bytes, const struct pci_spill *spill,
                             uint64_t at, uint64_t end, struct pci_input *compressed,
                             pcol_error *err);
void pci_tachyon_close(struct pci_tachyon_bytes *bytes);
/* E_SYNTAX at the current byte; of compressed bytes, at the next one to decompress. */
pcol_status pci_tachyon_fail(const struct pci_tachyon_bytes *bytes, pcol_error *err,
                             const char *problem);
/* Whether bytes are left. */
pcol_status pci_tachyon_more(struct pci_tachyon_bytes *bytes, int *more, pcol_error *err);
pcol_status pci_tachyon_copy(struct pci_tachyon_bytes *bytes, void *data, size_t size,
                             pcol_error *err);
/* An integer of 1, 4 or 8 bytes. */
pcol_status pci_tachyon_fixed(struct pci_tachyon_bytes *bytes, unsigned size, uint64_t *value,
                              pcol_error *err);
/* LEB128 of at most `most`. */
pcol_status pci_tachyon_varint(struct pci_tachyon_bytes *bytes, uint64_t most, uint64_t *value,
                               pcol_error *err);
pcol_status pci_tachyon_zigzag(struct pci_tachyon_bytes *bytes, int32_t *value, pcol_error *err);

#endif
