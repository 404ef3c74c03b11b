/*
 * layout.h - the bytes of a pcol file, format 1.0
 *
 * Mirrors the byte tables of spec.md; the static_asserts at the end hold the two together.
 *
 *     0        header (128 bytes)
 *     128      index: checksums of the sections | records of tables, columns and sections
 *     ...      sections, ascending, aligned by size (8, 64, 4096 bytes), zero padding between
 *     end-16   end mark: u64 file size, 8 bytes "PCOLEND\n"
 *
 * Everything is little-endian. Header, blocks and end mark lie in the file as these structs have
 * them; tables, columns and sections are what records say (index_codec.c), with the places that
 * follow.
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

/* Feature words. An unknown bit in `incompatible` refuses the file, naming the bit. */
#define PCF_INCOMPATIBLE_ARCHIVE UINT64_C(1) /* index and sections are compressed */
#define PCF_INCOMPATIBLE_KNOWN PCF_INCOMPATIBLE_ARCHIVE

#define PCF_CHECKSUM_XXH3_64 1

#define PCF_ALIGN 64u      /* sections of 4096 bytes on, and all of plain files */
#define PCF_ALIGN_SMALL 8u /* smaller ones */
#define PCF_ALIGN_LARGE 4096u
#define PCF_LARGE_SECTION 65536u
#define PCF_PACK_PADDING \
    8u /* readable zero bytes behind packed bits: one 64-bit load never leaves the section */

struct pcf_header {
    uint8_t magic[8];
    uint16_t major;
    uint16_t minor;
    uint32_t header_size; /* 128; may grow, a reader ignores the rest */
    uint64_t incompatible;
    uint64_t read_only_compatible;
    uint64_t compatible;
    uint64_t file_size; /* must be the real size */
    uint64_t index_offset;
    uint64_t index_size; /* in the file */
    uint64_t index_checksum;
    uint32_t table_count;
    uint32_t column_count;
    uint32_t section_count;
    uint32_t records_size;
    uint32_t child_count; /* of the columns */
    uint16_t reserved0;
    uint8_t checksum_algorithm;
    uint8_t reserved1[25];
    uint64_t header_checksum; /* of the 120 bytes before it */
};

/* Table flags */
#define PCF_TABLE_MUST_UNDERSTAND 0x0001u /* rows cannot be read without knowing this table */
#define PCF_TABLE_PREORDER 0x0002u        /* a tree whose rows stand in depth-first pre-order */
#define PCF_TABLE_KNOWN_FLAGS 0x0003u

struct pcf_table {
    uint32_t name_offset; /* into the names of a struct pcf_index */
    uint16_t name_size;
    uint16_t flags;
    uint64_t rows;
    uint32_t first_column; /* columns of tables have the first numbers, in order, then children */
    uint32_t column_count;
    uint32_t place; /* of the record in the index */
};

/* Column flags */
#define PCF_COLUMN_NULLABLE 0x0001u /* nulls: a validity section, or PCF_COLUMN_DEFAULT_NULL */
#define PCF_COLUMN_MUST_UNDERSTAND \
    0x0002u                          /* the table's rows mean something else without this column */
#define PCF_COLUMN_STATS 0x0004u     /* min and max hold (over the non-null values) */
#define PCF_COLUMN_ASCENDING 0x0008u /* values never fall from row to row; no nulls */
#define PCF_COLUMN_DEFAULT_NULL 0x0010u /* SPARSE: rows without a value of their own are null */
#define PCF_COLUMN_KNOWN_FLAGS 0x001fu

/* Logical types of a column */
enum pcf_type {
    PCF_I64 = 1,    /* signed 64-bit */
    PCF_U64 = 2,    /* unsigned 64-bit */
    PCF_F64 = 3,    /* IEEE 754 double; NaN is a value, not a null */
    PCF_U32 = 4,    /* unsigned 32-bit, mostly row numbers of another table */
    PCF_STRING = 5, /* u32 row number of the table `strings` */
    PCF_BYTES = 6,  /* byte strings of the column's own: offsets and data */
    PCF_BOOL = 7    /* 0 or 1; plain: one bit each */
};

/*
 * Encodings: each gives row i in O(1) (RUNS: O(log runs); CHAIN, DELTAS, FRONT: 63
 * steps at most, TREE: 1023). All arithmetic is modulo 2^64.
 *   PLAIN    the values in Arrow's layout
 *   LINEAR   base + step*i; no bytes (constants, dense ids)
 *   PACKED   base + step*i + scale*u[i], u of `width` bits, least significant bit first
 *   BLOCKED  per 1024 rows: base_b + ((slope_b*j) >> 16) + scale*u[j], own width per block
 *   SPARSE   base + step*i (or null) but for the marked rows; those stand in the child
 *   RUNS     child 0: run ends (exclusive, ascending), child 1: run values
 *   CHAIN    child 1 says what follows a value in the next row but for the marked rows,
 *            one in 64 at least; those stand in child 0
 *   DELTAS   the row before and the next value of child 1 but for the marked rows, one in 64
 *            at least; those stand in child 0
 *   TREE     row - 1 but for the marked rows; the child says how far up from there they go, within
 *            1024 rows; decode_tree.c
 *   FRONT    byte strings in order: the first bytes of the row before, as many as child 1 says, and
 *            then bytes of its own, whose offsets stand in child 0; front_coding.h
 *   SPLIT    marked rows: the next value of child 0; others: the next value of child 1
 *   DICTIONARY  child 0 at the row that child 1, the codes, says; without child 1 the codes are
 *            those of the column `base` before this one in the table
 */
enum pcf_encoding {
    PCF_PLAIN = 0,
    PCF_LINEAR = 1,
    PCF_PACKED = 2,
    PCF_BLOCKED = 3,
    PCF_SPARSE = 4,
    PCF_RUNS = 5,
    PCF_CHAIN = 6,
    PCF_DELTAS = 7,
    PCF_FRONT = 8,
    PCF_SPLIT = 9,
    PCF_DICTIONARY = 10,
    PCF_TREE = 11
};

#define PCF_BLOCK_ROWS 1024u
#define PCF_BLOCK_SHIFT 10
#define PCF_SLOPE_SHIFT 16
#define PCF_RANK_ROWS 1024u /* SPARSE and others: marks are counted after so many rows */
#define PCF_TREE_FAR 1024u  /* TREE: from here on no number of steps, but a row + 1024 */
#define PCF_FRONT_ROWS 64u  /* FRONT: the first of so many rows shares nothing */
#define PCF_FRONT_ARCHIVE_BYTES (UINT64_C(1) << 28) /* of all rows of an archive, at most */
#define PCF_MAX_PACKED_WIDTH 57 /* or 64: any value then lies within one unaligned 64-bit load */
#define PCF_MAX_CHILD_DEPTH 3

struct pcf_column {
    uint32_t name_offset;
    uint16_t name_size; /* 0 for a child */
    uint8_t type;
    uint8_t encoding;
    uint32_t flags;
    uint32_t ref_table; /* 1 + number of the table whose rows the values name; 0: none */
    uint64_t rows;
    uint32_t first_section;
    uint32_t first_child; /* column number, always greater than the parent's; 0: none */
    uint8_t section_count;
    uint8_t child_count;
    uint8_t width;  /* PACKED: bits of u */
    uint32_t place; /* of the record in the index */
    int64_t base;   /* PCF_F64 LINEAR and SPARSE: bits of the constant; step is 0 */
    int64_t step;
    uint64_t scale; /* PACKED, BLOCKED: at least 1 */
    uint64_t null_count;
    int64_t min; /* PCF_F64: bits; otherwise the value as i64 or u64 */
    int64_t max;
};

enum pcf_role {
    PCF_ROLE_VALUES = 1,   /* PLAIN values; PACKED or BLOCKED bits */
    PCF_ROLE_VALIDITY = 2, /* Arrow validity bitmap, 1 = there is a value */
    PCF_ROLE_BLOCKS = 3,   /* BLOCKED: array of pcf_block */
    PCF_ROLE_MARKS = 4,    /* SPARSE, CHAIN, DELTAS, SPLIT: 1 = value in child 0; decode_masked.h */
    PCF_ROLE_DATA = 5      /* PCF_BYTES: the bytes */
};

struct pcf_section {
    uint64_t offset;
    uint64_t size;
    uint64_t raw_size; /* = size where codec is 0 */
    uint64_t checksum;
    uint8_t role;
    uint8_t codec; /* 0: none; archives: enum pcf_codec + 16 * enum pcf_transform */
    uint8_t align_log2;
    uint8_t flags; /* bit 0: a reader that does not know the role may skip it */
    uint32_t column;
    uint32_t place; /* of the record in the index */
};
#define PCF_SECTION_OPTIONAL 0x01u

/*
 * Compressed sections of archives: blocks of pcf_press_block() bytes of the section (the last one
 * has the rest). A block's bytes are transformed into a stream and that is compressed; in the file
 * it is a byte of PCF_PRESS_ flags and the outcome. If there is more than one, a struct
 * pcf_press_entry for each block stands behind them, so that any block can be found, and trusted,
 * without the others.
 */
enum pcf_codec { PCF_CODEC_NONE = 0, PCF_CODEC_ZLIB = 1, PCF_CODEC_LZ4 = 2 };
enum pcf_transform {
    PCF_TRANSFORM_NONE = 0,
    PCF_TRANSFORM_BYTES = 1,       /* first bytes of all values, then second ones, ... */
    PCF_TRANSFORM_VARINT = 2,      /* values of as many bytes as they need */
    PCF_TRANSFORM_DELTA = 3,       /* varints of the differences */
    PCF_TRANSFORM_DELTA_BYTES = 4, /* first bytes of all differences, ... */
    PCF_TRANSFORM_PARENT = 5,      /* a tree: how far above the row before the parent is */
    PCF_TRANSFORM_RANK = 6         /* a tree: rank among what its parent's value was followed by */
};
#define PCF_TRANSFORM_LAST PCF_TRANSFORM_RANK
#define PCF_PRESS_BLOCK 131072u
#define PCF_PRESS_RANK_BLOCK \
    524288u                      /* of PCF_TRANSFORM_RANK, which learns from what stands before */
#define PCF_PRESS_STREAM 655360u /* a stream at most: 10 bytes for 8, 5 for 4 */
#define PCF_PRESS_RATIO 1040u    /* bytes of a section or of the index for each one in the file */
#define PCF_PRESS_STORED 0x01u   /* the stream is not compressed */
#define PCF_PRESS_BARE 0x02u     /* the block is not transformed */

struct pcf_press_entry {
    uint64_t end;      /* of the block, counted from the section's first byte */
    uint64_t checksum; /* of the block's bytes in the file */
};

/* Bytes of a block under a section's codec. */
static inline uint64_t pcf_press_block(unsigned codec)
{
    return codec >> 4 == PCF_TRANSFORM_RANK ? PCF_PRESS_RANK_BLOCK : PCF_PRESS_BLOCK;
}

struct pcf_block {
    int64_t base;
    int64_t slope; /* per row, in 1/65536 */
    uint64_t bits; /* low 56 bits: byte offset into values; high 8: width */
};

struct pcf_end {
    uint64_t file_size;
    uint8_t mark[8];
};

/* Limits of 1.0 (spec.md, "Limits") */
#define PCF_MAX_TABLES 4096u
#define PCF_MAX_COLUMNS 65536u
#define PCF_MAX_SECTIONS 262144u
#define PCF_MAX_RECORDS (1u << 26) /* bytes */
#define PCF_MAX_NAME 255u          /* bytes of one table or column name */
#define PCF_MAX_ROWS (UINT64_C(1) << 48)
#define PCF_MAX_U32_ROWS UINT64_C(0xfffffffe) /* of a table that PCF_U32 columns refer to */

_Static_assert(sizeof(struct pcf_header) == 128, "spec.md: header");
_Static_assert(offsetof(struct pcf_header, file_size) == 40, "spec.md: header");
_Static_assert(offsetof(struct pcf_header, table_count) == 72, "spec.md: header");
_Static_assert(offsetof(struct pcf_header, header_checksum) == 120, "spec.md: header");
_Static_assert(offsetof(struct pcf_header, checksum_algorithm) == 94, "spec.md: header");
_Static_assert(sizeof(struct pcf_block) == 24, "spec.md: block");
_Static_assert(sizeof(struct pcf_press_entry) == 16, "spec.md: archives");
_Static_assert(sizeof(struct pcf_end) == 16, "spec.md: end mark");

#endif
