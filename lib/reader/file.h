/*
 * file.h - an open pcol file: bytes, index, physical tables; verified reads of cells
 *
 * All functions may be called by several threads at once, except open and close.
 */
#ifndef PCI_READER_FILE_H
#define PCI_READER_FILE_H

#include "format/index.h"
#include "pcol.h"
#include "reader/schema.h"
#include "reader/sigbus_guard.h"
#include "util/error.h"
#include "util/hash.h"
#include "util/lock.h"

#include <stdatomic.h>
#include <time.h>

struct pci_table;
struct pci_decoded_blocks;
struct pci_decompress_column;

/* A physical column. */
struct pci_column {
    const struct pci_table *table; /* NULL for a child */
    char *name;                    /* terminated; "" for a child */
    uint32_t number;               /* in the index */
    int supported;                 /* 0: unknown type or encoding; reads fail: E_UNSUPPORTED */
    const struct pcf_data *data;
    const struct pcf_column *desc;
    const struct pci_schema_row *schema; /* not NULL; NULL for a child */
    struct pci_table *references;        /* NULL: none */
    uint64_t limit; /* exclusive bound of values: rows of the table referred to; UINT64_MAX: none */
    /* Nonzero: PCI_COLUMN_*, data is readable only while pinned (archive_read.h). */
    _Atomic uint8_t compression_state;
    _Atomic uint8_t unverified;      /* checksums of the column or its children not verified yet */
    _Atomic uint8_t structure_known; /* directories of the column and its children are valid */
    _Atomic uint8_t order;           /* PCI_ORDER_*: rules not verified yet; 0: none */
    uint8_t by_block;                /* TREE: single cells are read from decoded blocks */
    _Atomic uint64_t touched;        /* rows read while unverified */
    _Atomic(struct pci_decoded_blocks *) blocks; /* FRONT, TREE: decoded_blocks.c; may be NULL */
};

struct pci_table {
    char *name;                          /* terminated */
    const struct pci_schema_row *schema; /* not NULL */
    uint32_t number;
    uint16_t flags;
    int supported; /* 0: unknown flag, or unknown column with MUST_UNDERSTAND */
    uint64_t rows;
    uint32_t column_count;
    struct pci_column *columns;
    const struct pci_hash *by_name; /* NULL: few columns, linear search */
};

struct pcol_file {
    _Atomic uint32_t references; /* of pcol_file_retain(), beyond the first */
    const uint8_t *bytes;
    uint64_t size;
    uint64_t input_bytes;          /* of what an import read, else `size` */
    int owned;                     /* ownership of `bytes`: 0 borrowed, 1 mapped, 2 allocated */
    _Atomic uint8_t schema_known;  /* the schema has been checked (model/check.h) */
    _Atomic uint8_t arrays_known;  /* so have the sizes of arrays (model/limits.c) */
    _Atomic uint8_t lost;          /* reading the map failed; it is zeros now (sigbus_guard.h) */
    struct pci_sigbus_slot *guard; /* NULL: opened without PCOL_OPEN_GUARD */
    int fd;                        /* of a guarded file, to detect modification; else -1 */
    struct timespec modified;      /* modification time at open */
    struct pcf_index index;
    struct pcf_data *data;      /* one per index column */
    struct pci_table *tables;   /* index.header.table_count */
    uint64_t values;            /* rows times columns of all tables; the largest number: more */
    struct pci_column *columns; /* index.header.column_count; contiguous for each table */
    struct pci_hash by_name;    /* (table, name) to column number, for tables with many columns */
    struct pci_hash by_table;   /* name to table number, for files with many tables */
    const struct pci_column *strings;               /* strings.value, or NULL */
    const struct pci_format_schema *const *schemas; /* of all formats, ends in NULL; may be NULL */
    _Atomic uint8_t *section_state;                 /* one per section: enum pci_section_state */
    _Atomic(_Atomic uint8_t *) known_text_rules; /* one per string (model/text_rules.h), or NULL */
    int unverified;                              /* opened with PCOL_OPEN_UNVERIFIED */
    int imported;                                /* from another format, by pcol_open_any_*() */
    int trusted;                 /* copies of it have no import budget (PCOL_IMPORT_TRUSTED) */
    struct pci_archive *archive; /* archive_read.h; NULL: a plain file */
    void *memory; /* terminated names; all other arrays share the allocation of this struct */
    /* Logical tables (model/) are created on first use under the lock; models_free() at close. */
    pci_mutex lock;
    struct pci_models *models;
    void (*models_free)(struct pci_models *models);
};

/* How many bytes may be made of a file: `free` ones, and more for each byte of it or of the input
 * that was imported, unless that is trusted. */
static inline uint64_t pci_file_limit(const pcol_file *file, uint64_t free, uint64_t per_byte)
{
    if (file->trusted || file->input_bytes > (INT64_MAX - free) / per_byte)
        return UINT64_MAX;
    return free + file->input_bytes * per_byte;
}

/* E_IO: a guarded file changed while it was read. Always fails. */
pcol_status pci_fail_changed(const pcol_file *file, pcol_error *err);

/* Fails if the map has been lost (sigbus_guard.h), so values read before are not those of the file.
 * The signal fence orders the reads before this check; SIGBUS is raised in the reading thread. */
static inline pcol_status pci_check_unchanged(const pcol_file *file, pcol_error *err)
{
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&file->lost, memory_order_relaxed) ? pci_fail_changed(file, err)
                                                                   : PCOL_OK;
}

/* Lookup by name; NULL: not found. */
const struct pci_table *pci_table_find(const pcol_file *file, const char *name);
/* The first table whose schema has the flag. */
const struct pci_table *pci_table_flagged(const pcol_file *file, uint32_t flag);
const struct pci_table *pci_table_named(const pcol_file *file, pcol_str name);
/* E_UNSUPPORTED if the table needs a newer reader. */
pcol_status pci_check_table_supported(const struct pci_table *table, pcol_error *err);
const struct pci_column *pci_column_find(const struct pci_table *table, const char *name);

/* Lazy decompression: the functions below that read cells decompress what they need
 * (archive_read.h). Code that accesses column->data directly first calls this function, which
 * decompresses the column and its children for the life of the file. */
pcol_status pci_decompress_column_now(const pcol_file *file, const struct pci_column *column,
                                      pcol_error *err);
static inline pcol_status pci_decompress_column(const pcol_file *file,
                                                const struct pci_column *column, pcol_error *err)
{
    return atomic_load_explicit(&column->compression_state, memory_order_acquire)
               ? pci_decompress_column_now(file, column, err)
               : PCOL_OK;
}
/* Cache of decoded FRONT and TREE blocks (decoded_blocks.c). In an archive the caller has pinned
 * the rows. *result: fault in the data. A string of a FRONT column is valid until the file is
 * closed; on a fault *row is the row at fault. */
pcol_status pci_decoded_blocks_string(const pcol_file *file, const struct pci_column *column,
                                      uint64_t *row, pcol_str *value, enum pcf_result *result,
                                      pcol_error *err);
/* Existing rows of a TREE column. */
pcol_status pci_decoded_blocks_read(const pcol_file *file, const struct pci_column *column,
                                    uint64_t row, uint64_t count, int64_t *values,
                                    enum pcf_result *result, pcol_error *err);
void pci_decoded_blocks_free(struct pci_decoded_blocks *blocks);

/* Cells as by pcf_get() and pcf_read(), with errors that have table, column and row. The first read
 * of a column verifies the checksums of its sections, unless the thread is within
 * pci_partial_read_begin(). Row numbers and string codes are below column->limit, so they are valid
 * indexes without further checks; row 0 of stacks refers to nothing and yields 0. For pci_get() and
 * pci_get_str() a column that is NULL, as pci_find_column() gives for an absent one, is all null:
 * 0 and "". */
pcol_status pci_get(const pcol_file *file, const struct pci_column *column, uint64_t row,
                    int64_t *value, int *valid, pcol_error *err);
pcol_status pci_read(const pcol_file *file, const struct pci_column *column, uint64_t row,
                     uint64_t count, int64_t *values, uint8_t *valid, pcol_error *err);
/* Does not check the limit: for pcol_check(), which reports every value beyond it. */
pcol_status pci_read_unbounded(const pcol_file *file, const struct pci_column *column, uint64_t row,
                               uint64_t count, int64_t *values, uint8_t *valid, pcol_error *err);
/* A string by its code, which may be invalid. */
pcol_status pci_string(const pcol_file *file, uint64_t code, pcol_str *string, pcol_error *err);
/* A cell of a STRING or BYTES column. */
pcol_status pci_get_str(const pcol_file *file, const struct pci_column *column, uint64_t row,
                        pcol_str *value, int *valid, pcol_error *err);

/* Partial reads: until pci_partial_read_end() this thread declares to read `rows` rows of a table
 * only.
 * Its reads do not verify sections above PCI_PARTIAL_READ_SECTION bytes while all partial reads of
 * the
 * column cover less than a tenth of the section's rows; with PCI_PARTIAL_READ_CELL they verify
 * nothing.
 * For public functions that read few rows. Nests: returns the argument of pci_partial_read_end().
 * */
#define PCI_PARTIAL_READ_SECTION ((uint64_t)4 << 20)
#define PCI_PARTIAL_READ_CELL 0u
uint64_t pci_partial_read_begin(uint64_t rows);
void pci_partial_read_end(uint64_t before);
enum pci_section_state { PCI_SECTION_UNKNOWN, PCI_SECTION_VERIFIED, PCI_SECTION_WRONG };

/* Verifies the checksums of all sections of a column and its children, then their directories; once
 * per open file, even within a partial read. Compressed sections with a checksum per block are
 * verified when a block is decompressed. PCOL_OPEN_UNVERIFIED: directories only. */
pcol_status pci_verify(const pcol_file *file, const struct pci_column *column, pcol_error *err);
/* Verifies the directories of a column and its children (format/structure.h) once per open file. */
pcol_status pci_verify_structure_now(const pcol_file *file, const struct pci_column *column,
                                     pcol_error *err);
static inline int pci_structure_known(const struct pci_column *column)
{
    return atomic_load_explicit(&column->structure_known, memory_order_acquire);
}
static inline pcol_status pci_verify_structure(const pcol_file *file,
                                               const struct pci_column *column, pcol_error *err)
{
    return pci_structure_known(column) ? PCOL_OK : pci_verify_structure_now(file, column, err);
}
/* Verifies the checksum of one section, even with PCOL_OPEN_UNVERIFIED; errors name column `named`.
 */
pcol_status pci_verify_section(const pcol_file *file, uint32_t section,
                               const struct pci_column *named, pcol_error *err);

/* Implementations of the public functions; `schemas` is borrowed for the life of the file. */
pcol_status pci_file_open(const char *path, const pcol_open_options *options,
                          const struct pci_format_schema *const *schemas, pcol_file **file,
                          pcol_error *err);
pcol_status pci_file_open_fd(int fd, const pcol_open_options *options,
                             const struct pci_format_schema *const *schemas, pcol_file **file,
                             pcol_error *err);
/* Makes the file the owner of the memory that it was opened over, allocated by pci_malloc(). */
void pci_file_own_memory(pcol_file *file, int imported);
pcol_status pci_file_open_memory(const void *data, size_t size, const pcol_open_options *options,
                                 const struct pci_format_schema *const *schemas, pcol_file **file,
                                 pcol_error *err);

#endif
