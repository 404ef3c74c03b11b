/*
 * archive_read.h - lazy decompression of archive blocks, with pinning and FIFO eviction
 *
 * A compressed section has reserved address space of its decompressed size; blocks are committed on
 * first use, so offsets and pointers are those of a plain file. A reader pins the blocks of its
 * rows. State word of a block: READY bit and pin count. Unpinned blocks of VALUES sections are
 * discarded, oldest first, when they exceed the file's limit; strings, bitmaps and columns
 * decompressed as a whole stay, because callers have pointers into them. Tests:
 * tests/unit/test_archive.c.
 */
#ifndef PCI_READER_ARCHIVE_READ_H
#define PCI_READER_ARCHIVE_READ_H

#include "reader/file.h"
#include "util/raw_deflate.h"

#define PCI_BLOCK_READY 0x80000000u /* flag of a block's state word; the other bits count pins */
#define PCI_ARCHIVE_CACHE_BYTES ((uint64_t)256 << 20)

/* States of a column in struct pci_column; 0: all blocks decompressed, none evictable. */
#define PCI_COLUMN_COMPRESSED 2u /* no memory reserved */
#define PCI_COLUMN_RESERVED 1u   /* memory reserved; blocks are decompressed on demand */

/* A compressed section. Non-atomic members are written under the lock; `raw` and `state` are read
 * without it after an acquire load has seen that the column is not PCI_COLUMN_COMPRESSED. */
struct pci_archive_section {
    uint8_t *raw;              /* raw_size bytes; NULL until the column is first used */
    _Atomic uint32_t *state;   /* one word per block; NULL like `raw` */
    uint64_t blocks, ready;    /* number of blocks; decompressed ones */
    _Atomic uint8_t evictable; /* blocks may be discarded; never set again once cleared */
};

struct pci_archive_block {
    uint32_t section;
    uint64_t block;
};

/* Reading state of an archive; protected by `lock`, which is recursive because decompressing a
 * block may need blocks of another column. */
struct pci_archive {
    pci_mutex lock;
    uint64_t limit;                  /* of evictable bytes */
    uint64_t evictable_bytes;        /* bytes of the blocks in the queue */
    uint64_t count;                  /* blocks decompressed so far */
    struct pci_archive_block *queue; /* ring buffer of evictable blocks, oldest first */
    size_t queue_first, queue_count, queue_capacity;
    _Atomic uint64_t string_bytes; /* decoded FRONT strings (decoded_blocks.c) */
    uint8_t *stream;               /* decompressed stream of a block, PCF_ARCHIVE_STREAM bytes */
    z_stream zlib;
    int has_zlib;
    struct pci_archive_section sections[]; /* one per section of the index */
};

/* Allocates file->archive of a file that is an archive; decompresses nothing. */
pcol_status pci_archive_open(pcol_file *file, uint64_t limit, pcol_error *err);
void pci_archive_close(pcol_file *file); /* a no-op without file->archive */

/* Verifies and decompresses the stored index of an archive. */
pcol_status pci_archive_read_index(const struct pcf_header *header, const uint8_t *stored,
                                   uint8_t *index, pcol_error *err);

/* Decompresses a block of a section of `column` into the section's memory. The caller has the
 * lock. `named`: the column that errors name. */
pcol_status pci_archive_decompress(const pcol_file *file, const struct pci_column *column,
                                   const struct pci_column *named, uint32_t section, uint64_t block,
                                   pcol_error *err);
static inline uint64_t pci_archive_block_count(const struct pcf_section *section)
{
    uint64_t size = pcf_archive_block(section->codec);
    return section->raw_size / size + (section->raw_size % size != 0);
}

/* ---- pins (archive_cache.c) */

#define PCI_PIN_RANGES 48u /* above the sections of a valid column with all its descendants */

struct pci_pin {
    const pcol_file *file;
    const struct pci_column *named;
    unsigned count;
    int decompressed; /* blocks were decompressed for this pin */
    struct pci_pin_range {
        struct pci_archive_section *section;
        uint64_t first, end; /* blocks */
    } ranges[PCI_PIN_RANGES];
};

/* Pins the blocks that rows [row, row + count) need, until pci_unpin(), which must be called even
 * after an error. Does not report missing rows or corrupt values; reading the cells does. */
pcol_status pci_pin_rows(struct pci_pin *pin, const pcol_file *file,
                         const struct pci_column *column, uint64_t row, uint64_t count,
                         pcol_error *err);
/* Pins row `row` of a column of type bytes; its DATA blocks are never evicted. */
pcol_status pci_pin_bytes(struct pci_pin *pin, const pcol_file *file,
                          const struct pci_column *column, uint64_t row, pcol_error *err);
/* Pins the column's directories: the input of pcf_structure_fault(). */
pcol_status pci_pin_structure(struct pci_pin *pin, const pcol_file *file,
                              const struct pci_column *column, pcol_error *err);
void pci_unpin(struct pci_pin *pin);

/* Child number i of a column; shared codes count as child 1 of a DICTIONARY. NULL: no such child.
 * At most PCF_MAX_CHILD_DEPTH + 1 levels. */
const struct pci_column *pci_column_child(const pcol_file *file, const struct pci_column *column,
                                          unsigned i);

/* Number of rows, at most `count`, to pin at once from `row` on. */
uint64_t pci_pin_batch_rows(const struct pci_column *column, uint64_t row, uint64_t count);

#endif
