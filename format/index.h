/*
 * index.h - the header and the index, checked once at open
 *
 * After pcf_index_load() every section lies in the file, has the size that its column's encoding
 * needs, starts where the one before has ended, and every number that refers to a table is in
 * range. No byte of a section is touched. No malloc, stdio or
 * errno here.
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
    uint64_t number;     /* shown after the message if has_number */
    int has_number;
};

/* Header of the `size` (at least 128) first bytes; `file_size` is the real size of the file.
 * On success the header stands in *header and its index lies in the file. */
int pcf_header_check(const uint8_t *bytes, uint64_t size, uint64_t file_size,
                     struct pcf_header *header, struct pcf_fault *fault);

/* The index in native structs: as many as the header says. */
struct pcf_index {
    struct pcf_header header;
    struct pcf_table *tables;
    struct pcf_column *columns;
    struct pcf_section *sections;
    const char *names; /* UTF-8, not terminated; once loaded: the bytes of the index */
};

/* Whether a table or column may have this name: 1 to 255 bytes of printable UTF-8. */
int pcf_name_valid(const char *name, uint64_t size);

/* How many u32 of scratch memory pcf_index_load() needs for a checked header. */
uint64_t pcf_index_scratch(const struct pcf_header *header);

/* Bytes of the index for a checked header; where that of an archive ends up once decompressed. */
uint64_t pcf_index_raw_size(const struct pcf_header *header);

static inline int pcf_is_archive(const struct pcf_header *header)
{
    return (header->incompatible & PCF_INCOMPATIBLE_ARCHIVE) != 0;
}

/* Read and check an index. `bytes`: a private copy of its pcf_index_raw_size() bytes, of an archive
 * decompressed after its checksum was compared; names stay in it. `scratch`: free again afterwards.
 * index->header must be filled, the arrays there. Returns 0 or -1 with *fault. */
int pcf_index_load(const uint8_t *bytes, uint32_t *scratch, struct pcf_index *index,
                   struct pcf_fault *fault);

/* The bytes of an index: pcf_index_raw_size() of them, which is returned; `to` may be NULL.
 * Sections must be numbered in the order of their columns, each followed by its children, and the
 * header have the counts. */
uint64_t pcf_index_store(const struct pcf_index *index, uint8_t *to, uint64_t *records_size);

/* The end mark: `bytes` are the last 16 of the file. */
int pcf_end_check(const uint8_t *bytes, uint64_t file_size, struct pcf_fault *fault);

/* The column that holds the codes of a DICTIONARY of a checked index: a child of it or of another
 * column of its table. 0: the column is no such, or its codes are of a column that is not known. */
uint32_t pcf_column_codes(const struct pcf_index *index, uint32_t column);

/* Fill all[column] for a column of a checked index over the file's bytes. Children must have been
 * filled before: go from the last to the first. Of an unsupported column type and rows stay 0, so
 * that every access to it is PCF_BAD_ROW. Compressed sections stay NULL: the column must not be
 * read until pcf_index_section() has given each of them, and those of its children, its bytes. */
void pcf_index_column(const struct pcf_index *index, uint32_t column, const uint8_t *file,
                      struct pcf_data *all);

/* The bytes of a section, decompressed. */
void pcf_index_section(const struct pcf_index *index, uint32_t section, const uint8_t *bytes,
                       struct pcf_data *all);

/* Checksum with the header's algorithm (XXH3-64). */
uint64_t pcf_checksum(const void *data, uint64_t size);

#endif
