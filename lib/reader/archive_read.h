/*
 * archive_read.h - archives as they are read: blocks of sections, decompressed when they are first
 * touched
 *
 * A compressed section has a place in memory of its whole size, of which only those blocks take
 * room that were touched, so that offsets and pointers are what they are in any file. A reader
 * holds the blocks that its rows need while it reads them:
 *
 *     block    0      1      2      3      4 ...
 *     state    ready  -      ready  -      -     a number each: READY and how many hold it
 *     place    ######        ######                   reserved memory
 *
 * Blocks of numbers are let go again, the oldest first, when there are more than the file's limit;
 * nobody has pointers into them while they are not held. Texts are handed out as pointers and stay,
 * as do bitmaps and what is read as a whole.
 */
#ifndef PCI_BLOCK_READER_ARCHIVE_READ_H
#define PCI_BLOCK_READER_ARCHIVE_READ_H

#include "reader/file.h"
#include "util/raw_deflate.h"

#define PCI_BLOCK_READY \
    0x80000000u /* of a block's state; the rest of it counts who holds the block */
#define PCI_ARCHIVE_CACHE_BYTES ((uint64_t)256 << 20)

/* Of a column: nothing is there; there are places for all of its blocks. 0: all that it has is
 * there. */
#define PCI_COLUMN_COMPRESSED 2u
#define PCI_COLUMN_RESERVED 1u

/* A compressed section. What is not atomic is written under the lock; `raw` and `state` are read by
 * those who saw that their column was opened. */
struct pci_archive_section {
    uint8_t *raw;            /* raw_size bytes; NULL until the column is touched */
    _Atomic uint32_t *state; /* one per block; NULL as well */
    uint64_t blocks, ready;
    _Atomic uint8_t may_go; /* blocks may be let go; once 0 it stays so */
};

struct pci_thaw_block {
    uint32_t section;
    uint64_t block;
};

struct pci_decompress_column {
    pthread_mutex_t lock;         /* of what follows; recursive, as one block may need others */
    uint64_t limit;               /* of bytes that may go */
    uint64_t held;                /* such bytes that are there */
    uint64_t count;               /* blocks decompressed so far */
    struct pci_thaw_block *queue; /* blocks that may go, the oldest first, from queue_first on */
    size_t queue_first, queue_count, queue_capacity;
    _Atomic uint64_t strings; /* bytes of strings put together (decoded_blocks.c) */
    uint8_t *stream;          /* of a block: PCF_PRESS_STREAM */
    z_stream zlib;
    int has_zlib;
    struct pci_archive_section cold[]; /* one per section */
};

/* Of a file that is an archive; nothing of it is decompressed. */
pcol_status pci_archive_open(pcol_file *file, uint64_t limit, pcol_error *err);
void pci_archive_close(pcol_file *file); /* also where it did not begin */

/* The index of an archive out of its bytes in the file. */
pcol_status pci_archive_read_index(const struct pcf_header *header, const uint8_t *stored,
                                   uint8_t *index, pcol_error *err);

/* Decompress a block of a section of `column` to its place. Under the lock. `named`: whom errors
 * name. */
pcol_status pci_thaw_block(const pcol_file *file, const struct pci_column *column,
                           const struct pci_column *named, uint32_t section, uint64_t block,
                           pcol_error *err);
static inline uint64_t pci_archive_block_count(const struct pcf_section *section)
{
    uint64_t size = pcf_press_block(section->codec);
    return section->raw_size / size + (section->raw_size % size != 0);
}

/* ---- holding (archive_cache.c) */

#define PCI_PIN_RANGES 48u /* more than a sound column has sections at its deepest */

struct pci_pin {
    const pcol_file *file;
    const struct pci_column *named;
    unsigned count;
    int thawed; /* blocks were decompressed for it */
    struct pci_pin_range {
        struct pci_archive_section *cold;
        uint64_t first, end; /* blocks */
    } parts[PCI_PIN_RANGES];
};

/* What rows [row, row + count) need: all of it is there until pci_unpin(), which is to be called
 * in any case. Rows beyond the column, and what is wrong in it, is for the reading to find. */
pcol_status pci_pin_rows(struct pci_pin *hold, const pcol_file *file,
                         const struct pci_column *column, uint64_t row, uint64_t count,
                         pcol_error *err);
/* The bytes of row `row` of a column of byte strings; they stay. */
pcol_status pci_pin_bytes(struct pci_pin *hold, const pcol_file *file,
                          const struct pci_column *column, uint64_t row, pcol_error *err);
/* The column's directories: what format/structure.h looks at. */
pcol_status pci_pin_structure(struct pci_pin *hold, const pcol_file *file,
                              const struct pci_column *column, pcol_error *err);
void pci_unpin(struct pci_pin *hold);

/* What a column is made of besides its sections: its children, and codes that are another one's.
 * NULL behind the last. At most PCF_MAX_CHILD_DEPTH + 1 levels. */
const struct pci_column *pci_row_part_of(const pcol_file *file, const struct pci_column *column,
                                         unsigned part);

/* How many of `count` rows from `row` on are best held at once. */
uint64_t pci_pin_batch_rows(const struct pci_column *column, uint64_t row, uint64_t count);

#endif
