/*
 * layout.h - byte layout, constants and limits of a pcol file, format 1.0 (spec.md)
 *
 *     0        header (128 bytes)
 *     128      index: checksums of the sections | records of tables, columns and sections
 *     ...      sections, ascending, aligned by size (8, 64, 4096 bytes), zero padding between
 *     end-16   end mark: u64 file size, 8 bytes "PCOLEND\n"
 *
 * All integers are little-endian. Header, block and end mark structs match the file byte by byte
 * (static_asserts below); table, column and section structs are decoded from records.
 */
#ifndef PCF_LAYOUT_H
#define PCF_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define PCF_MAGIC \
    "\x89PCOL\r\n\x1a" /* non-ASCII, CR LF, ^Z: a text-mode transfer breaks it visibly */
#define PCF_MAGIC_SIZE 8
#define PCF_END_MARK "PCOLEND\n"
#define PCF_VERSION_MAJOR 1
#define PCF_VERSION_MINOR 0

/* Feature words. A reader rejects a file with an unknown bit in `incompatible`. */
#define PCF_INCOMPATIBLE_ARCHIVE UINT64_C(1) /* index and sections are compressed */
#define PCF_INCOMPATIBLE_KNOWN PCF_INCOMPATIBLE_ARCHIVE

#define PCF_CHECKSUM_XXH3_64 1

/* Sections are at multiples of 8 bytes; of 64 bytes from PCF_MEDIUM_SECTION on, of
 * PCF_ALIGN_LARGE from PCF_LARGE_SECTION on. */
#define PCF_MEDIUM_SECTION 4096u
#define PCF_LARGE_SECTION 65536u
#define PCF_ALIGN_LARGE 4096u
/* Zero bytes after packed bits: an unaligned 64-bit load of any value stays in the section. */
#define PCF_PACK_PADDING 8u

struct pcf_header {
    uint8_t magic[8];
    uint16_t major;
    uint16_t minor;
    uint32_t header_size; /* at least 128; readers ignore bytes after 128 */
    uint64_t incompatible;
    uint64_t read_only_compatible;
    uint64_t compatible;
    uint64_t file_size; /* must equal the size of the file on disk */
    uint64_t index_offset;
    uint64_t index_size; /* as stored, compressed in an archive */
    uint64_t index_checksum;
    uint32_t table_count;
    uint32_t column_count;
    uint32_t section_count;
    uint32_t records_size;
    uint32_t child_count; /* number of columns that are children */
    uint16_t reserved0;
    uint8_t checksum_algorithm;
    uint8_t reserved1[25];
    uint64_t header_checksum; /* of bytes 0 to 119 */
};

/* Table flags */
#define PCF_TABLE_MUST_UNDERSTAND 0x0001u /* readers without support must reject the table */
#define PCF_TABLE_PREORDER 0x0002u        /* tree with rows in depth-first pre-order */

struct pcf_table {
    uint32_t name_offset; /* into names of struct pcf_index */
    uint16_t name_size;
    uint16_t flags;
    uint64_t rows;
    uint32_t first_column; /* numbering: columns of all tables in order, then all children */
    uint32_t column_count;
    uint32_t record_offset; /* in the index */
};

/* Column flags */
#define PCF_COLUMN_NULLABLE 0x0001u        /* nulls by validity section or default */
#define PCF_COLUMN_MUST_UNDERSTAND 0x0002u /* readers without support must reject the table */
#define PCF_COLUMN_STATS 0x0004u           /* min and max of the non-null values are set */
#define PCF_COLUMN_ASCENDING 0x0008u       /* values are non-decreasing; no nulls */
#define PCF_COLUMN_DEFAULT_NULL 0x0010u    /* SPARSE: unmarked rows are null; LINEAR: all rows */
#define PCF_COLUMN_KNOWN_FLAGS 0x001fu

/* Logical types of a column */
enum pcf_type {
    PCF_I64 = 1,    /* signed 64-bit */
    PCF_U64 = 2,    /* unsigned 64-bit */
    PCF_F64 = 3,    /* IEEE 754 double; NaN is a value, not a null */
    PCF_U32 = 4,    /* unsigned 32-bit, mostly row numbers of another table */
    PCF_STRING = 5, /* u32 row number of the table `strings` */
    PCF_BYTES = 6,  /* byte strings stored in the column: offsets and data */
    PCF_BOOL = 7    /* 0 or 1; PLAIN: one bit each */
};

/*
 * Encodings. Random access to row i is O(1), except RUNS: O(log runs), CHAIN, DELTAS and FRONT: at
 * most 63 steps, TREE: at most 1023 steps. All arithmetic is modulo 2^64. A mark is a bit per row,
 * with cumulative counts (rank directory, decode_masked.h).
 *   PLAIN    values in Arrow's layout
 *   LINEAR   base + step*i; no bytes (constants, dense ids)
 *   PACKED   frame of reference, bit-packed: base + scale*u[i], u of `width` bits, least
 *            significant bit first
 *   SPARSE   base + step*i or null, with exceptions: a marked row has the next value of child 0
 *   RUNS     run-length: child 0: run ends (exclusive, ascending), child 1: run values
 *   CHAIN    successor list: child 1 maps the value of row i - 1 to that of row i; a marked row, at
 *            least each 64th, has the next value of child 0
 *   DELTAS   delta: row i - 1 plus the next value of child 1; a marked row, at least each 64th, has
 *            the next value of child 0
 *   FRONT    front coding of sorted byte strings: child 1 is the length of the prefix shared with
 *            row i - 1, child 0 the offsets of the suffixes; front_coding.h
 *   SPLIT    patched bit-packing: a marked row has the next value of child 0, any other row the
 *            next value of child 1
 *   DICTIONARY  dictionary: child 0 at the code that child 1 has for the row; without child 1 the
 *            codes are those of the column `base` columns before this one in the table
 *   TREE     parents of a tree in pre-order: row - 1, or for a marked row the ancestor of row - 1
 *            that is the next value of child 0 steps higher; decode_tree.c
 */
enum pcf_encoding {
    PCF_PLAIN = 0,
    PCF_LINEAR = 1,
    PCF_PACKED = 2,
    PCF_SPARSE = 3,
    PCF_RUNS = 4,
    PCF_CHAIN = 5,
    PCF_DELTAS = 6,
    PCF_FRONT = 7,
    PCF_SPLIT = 8,
    PCF_DICTIONARY = 9,
    PCF_TREE = 10
};

#define PCF_BLOCK_ROWS 1024u
#define PCF_RANK_ROWS 1024u /* rows between cumulative counts of marks (rank directory) */
#define PCF_TREE_FAR 1024u  /* TREE: a child value at or above it is a row number plus 1024 */
#define PCF_FRONT_ROWS 64u  /* FRONT: rows of a block; the first row of it is stored whole */
#define PCF_FRONT_ARCHIVE_BYTES (UINT64_C(1) << 28) /* limit for all FRONT rows of an archive */
#define PCF_MAX_PACKED_WIDTH 57 /* or 64: one unaligned 64-bit load then covers any value */
#define PCF_MAX_CHILD_DEPTH 3

struct pcf_column {
    uint32_t name_offset;
    uint16_t name_size; /* 0 for a child */
    uint8_t type;
    uint8_t encoding;
    uint32_t flags;
    uint32_t ref_table; /* 1 + number of the table that the values refer to; 0: none */
    uint64_t rows;
    uint32_t first_section;
    uint32_t first_child; /* column number, always greater than the parent's; 0: none */
    uint8_t section_count;
    uint8_t child_count;
    uint8_t width;          /* PACKED: bits of u */
    uint32_t record_offset; /* in the index */
    int64_t base;           /* PCF_F64 LINEAR and SPARSE: bits of the constant; step is 0 */
    int64_t step;
    uint64_t scale; /* PACKED: at least 1 */
    uint64_t null_count;
    int64_t min; /* PCF_F64: bits; otherwise the value as i64 or u64 */
    int64_t max;
};

enum pcf_role {
    PCF_ROLE_VALUES = 1,   /* PLAIN values; PACKED bits */
    PCF_ROLE_VALIDITY = 2, /* Arrow validity bitmap, 1 = not null */
    PCF_ROLE_MARKS = 3,    /* SPARSE, CHAIN, DELTAS, SPLIT, TREE: 1 = value in child 0 */
    PCF_ROLE_DATA = 4      /* PCF_BYTES: contents of the strings */
};

struct pcf_section {
    uint64_t offset;
    uint64_t size;
    uint64_t raw_size; /* decompressed; equal to size if codec is 0 */
    uint64_t checksum;
    uint8_t role;
    uint8_t codec; /* 0: none; archives: enum pcf_codec + 16 * enum pcf_transform */
    uint8_t align_log2;
    uint8_t flags; /* bit 0: a reader that does not know the role may skip it */
    uint32_t column;
    uint32_t record_offset; /* in the index */
};
#define PCF_SECTION_OPTIONAL 0x01u

/*
 * Compressed sections of archives: blocks of pcf_archive_block() bytes of the section; the last
 * block
 * may be shorter. A block is transformed into a stream, which is compressed. It is stored as one
 * byte of flags (PCF_ARCHIVE_STORED, PCF_ARCHIVE_UNTRANSFORMED) and the compressed stream. If a
 * section has
 * several blocks, an array of struct pcf_archive_entry follows them: each block can be located and
 * verified independently.
 */
enum pcf_codec { PCF_CODEC_NONE = 0, PCF_CODEC_ZLIB = 1, PCF_CODEC_LZ4 = 2 };
enum pcf_transform {
    PCF_TRANSFORM_NONE = 0,
    PCF_TRANSFORM_BYTES = 1,       /* byte-plane split: bytes 0 of all values, then bytes 1, ... */
    PCF_TRANSFORM_VARINT = 2,      /* LEB128 varints, zigzag for 64-bit values */
    PCF_TRANSFORM_DELTA = 3,       /* zigzag varints of the differences */
    PCF_TRANSFORM_DELTA_BYTES = 4, /* byte-plane split of the zigzag differences */
    PCF_TRANSFORM_PARENT = 5,      /* tree: steps from the previous row up to the parent */
    PCF_TRANSFORM_RANK = 6         /* tree: rank by recency after the parent's value */
};
#define PCF_TRANSFORM_LAST PCF_TRANSFORM_RANK
#define PCF_ARCHIVE_BLOCK 131072u
#define PCF_ARCHIVE_RANK_BLOCK 524288u  /* PCF_TRANSFORM_RANK: adaptive, so larger blocks pay off */
#define PCF_ARCHIVE_STREAM 655360u      /* largest stream: 10 bytes for 8, 5 for 4 */
#define PCF_ARCHIVE_RATIO 1040u         /* limit of decompressed bytes per stored byte */
#define PCF_ARCHIVE_STORED 0x01u        /* the stream is not compressed */
#define PCF_ARCHIVE_UNTRANSFORMED 0x02u /* the block is not transformed */

struct pcf_archive_entry {
    uint64_t end;      /* offset of the block's end in the section */
    uint64_t checksum; /* of the stored bytes of the block */
};

/* Decompressed bytes of a block (all but the last) under a section's codec. */
static inline uint64_t pcf_archive_block(unsigned codec)
{
    return codec >> 4 == PCF_TRANSFORM_RANK ? PCF_ARCHIVE_RANK_BLOCK : PCF_ARCHIVE_BLOCK;
}

struct pcf_end {
    uint64_t file_size;
    uint8_t mark[8];
};

/* Limits of 1.0 (spec.md, "Limits") */
#define PCF_MAX_TABLES 4096u
#define PCF_MAX_COLUMNS 65536u
#define PCF_MAX_SECTIONS 262144u
#define PCF_MAX_RECORDS (1u << 26) /* bytes */
#define PCF_MAX_NAME 255u          /* bytes of a table or column name */
#define PCF_MAX_ROWS (UINT64_C(1) << 48)
#define PCF_MAX_META_KEYS 4096u /* different keys of source_meta: each is a column of a view */
#define PCF_MAX_U32_ROWS UINT64_C(0xfffffffe) /* of a table that PCF_U32 columns refer to */

_Static_assert(sizeof(struct pcf_header) == 128, "spec.md: header");
_Static_assert(offsetof(struct pcf_header, file_size) == 40, "spec.md: header");
_Static_assert(offsetof(struct pcf_header, table_count) == 72, "spec.md: header");
_Static_assert(offsetof(struct pcf_header, header_checksum) == 120, "spec.md: header");
_Static_assert(offsetof(struct pcf_header, checksum_algorithm) == 94, "spec.md: header");
_Static_assert(sizeof(struct pcf_archive_entry) == 16, "spec.md: archives");
_Static_assert(sizeof(struct pcf_end) == 16, "spec.md: end mark");

#endif
