/*
 * index.h - decoding, validation and encoding of the header and the index
 *
 * Invariant after pcf_index_load(): every section is within the file, follows the previous one and
 * has the size that its column's encoding requires; every table number is in range. Sections
 * themselves are not read. No allocation, stdio or errno.
 */
#ifndef PCF_INDEX_H
#define PCF_INDEX_H

#include "format/decode.h"
#include "format/layout.h"

enum pcf_fault_kind {
    PCF_FAULT_NONE = 0,
    PCF_FAULT_MAGIC,
    PCF_FAULT_VERSION,
    PCF_FAULT_TRUNCATED,
    PCF_FAULT_CORRUPT,
    PCF_FAULT_CHECKSUM
};

struct pcf_fault {
    enum pcf_fault_kind kind;
    uint64_t offset;     /* byte of the file */
    const char *message; /* static text */
    uint64_t number;     /* printed after the message if has_number */
    int has_number;
};

/* Decodes and validates the header from the first `size` bytes of a file of `file_size` bytes. On
 * success the index is within the file. Returns 0, or -1 with *fault. */
int pcf_header_check(const uint8_t *bytes, uint64_t size, uint64_t file_size,
                     struct pcf_header *header, struct pcf_fault *fault);

/* Decoded index; the header has the array sizes. */
struct pcf_index {
    struct pcf_header header;
    struct pcf_table *tables;
    struct pcf_column *columns;
    struct pcf_section *sections;
    const char *names; /* UTF-8, not terminated; borrowed; after a load: the bytes of the index */
};

/* Whether the name of a table or column is valid: 1 to 255 bytes of printable UTF-8. */
int pcf_name_valid(const char *name, uint64_t size);

/* Number of u32 of scratch memory that pcf_index_load() needs; the header has been checked. */
uint64_t pcf_index_scratch(const struct pcf_header *header);

/* Bytes of the index, decompressed in case of an archive; the header has been checked. */
uint64_t pcf_index_raw_size(const struct pcf_header *header);

static inline int pcf_is_archive(const struct pcf_header *header)
{
    return (header->incompatible & PCF_INCOMPATIBLE_ARCHIVE) != 0;
}

/* Decodes and validates an index. `bytes`: a private copy of its pcf_index_raw_size() bytes that
 * outlives the index, which borrows the names; for an archive, verified and decompressed.
 * `scratch` is not used after return. The caller sets index->header and allocates the arrays.
 * Returns 0, or -1 with *fault. */
int pcf_index_load(const uint8_t *bytes, uint32_t *scratch, struct pcf_index *index,
                   struct pcf_fault *fault);

/* Encodes an index into `to` (NULL: measure only) and returns its size, pcf_index_raw_size().
 * Sections are numbered in the order of columns, each followed by its children; index->header has
 * the counts. */
uint64_t pcf_index_store(const struct pcf_index *index, uint8_t *to, uint64_t *records_size);

/* Validates the end mark; `bytes` are the last 16 bytes of the file. */
int pcf_end_check(const uint8_t *bytes, uint64_t file_size, struct pcf_fault *fault);

/* Number of the column with the codes of a DICTIONARY column: child 1 of it or of another column
 * of its table. 0: not a DICTIONARY, or the other column is not known. */
uint32_t pcf_column_codes(const struct pcf_index *index, uint32_t column);

/* Fills all[column] over the bytes of the file. Requires filled children: iterate from the last
 * column to the first. An unsupported column gets type and rows 0, so every access returns
 * PCF_BAD_ROW. Compressed sections are NULL: call pcf_index_set_section() for each one of the
 * column
 * and its children before reading. */
void pcf_index_fill_column(const struct pcf_index *index, uint32_t column, const uint8_t *file,
                           struct pcf_data *all);

/* Sets the decompressed bytes of a section. Writes only the pointer: other threads may read the
 * rest of the column's data meanwhile. */
void pcf_index_set_section(const struct pcf_index *index, uint32_t section, const uint8_t *bytes,
                           struct pcf_data *all);

/* Checksum with the header's algorithm (XXH3-64). */
uint64_t pcf_checksum(const void *data, uint64_t size);

#endif
