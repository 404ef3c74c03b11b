/*
 * file.h - an open pcol file: its bytes, its index, its physical tables
 */
#ifndef PCI_BLOCK_READER_FILE_H
#define PCI_BLOCK_READER_FILE_H

#include "format/index.h"
#include "pcol.h"
#include "reader/sigbus_guard.h"
#include "util/error.h"
#include "util/hash.h"

#include <pthread.h>
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
    int supported;                 /* 0: unknown type or encoding; reading it is E_UNSUPPORTED */
    const struct pcf_data *data;
    const struct pcf_column *desc;
    struct pci_table *references; /* NULL: none */
    uint64_t limit; /* values are below it: rows of what they refer to; UINT64_MAX: no limit */
    /* Compressed: what `data` points to is there only while it is held (archive_read.h). */
    _Atomic uint8_t frozen;
    _Atomic uint8_t unverified;      /* it or its children were not compared (cell.c) */
    _Atomic uint8_t structure_known; /* its directories, and its children's, are consistent */
    _Atomic uint8_t order;           /* PCI_ORDER_*: rules not verified yet; 0: none */
    uint8_t by_block;                /* TREE: cells are read out of whole blocks */
    _Atomic uint64_t touched;        /* rows read while it was unverified */
    _Atomic(struct pci_decoded_blocks *) blocks; /* FRONT, TREE: those read (decoded_blocks.c);
                                                    NULL: none yet */
};

/* Rules for the values of a column that divides another table among its rows (row_references.c). */
#define PCI_ORDER_ASCENDING 1u /* each at least the one before */
#define PCI_ORDER_STRICT 2u    /* each more than the one before */
#define PCI_ORDER_FROM_0 4u    /* the first one is 0 */

struct pci_table {
    char *name; /* terminated */
    uint32_t number;
    uint16_t flags;
    int supported; /* 0: an unknown flag, or a column that must be understood and is not */
    uint64_t rows;
    uint32_t column_count;
    struct pci_column *columns;
    const struct pci_hash *by_name; /* NULL: so few columns that all of them are looked at */
};

struct pcol_file {
    const uint8_t *bytes;
    uint64_t size;
    int owned;                     /* how to give `bytes` back: 0 borrowed, 1 mapped, 2 allocated */
    _Atomic uint8_t schema_known;  /* known columns are as the format says (model/check.h) */
    _Atomic uint8_t lost;          /* the map could not be read and is zeros now (sigbus_guard.h) */
    struct pci_sigbus_slot *guard; /* NULL: opened without PCOL_OPEN_GUARD */
    int fd;                        /* of a guarded file, to see whether it changed; else -1 */
    struct timespec modified;      /* when the file was opened */
    struct pcf_index index;
    struct pcf_data *data;      /* one per index column */
    struct pci_table *tables;   /* index.header.table_count */
    struct pci_column *columns; /* index.header.column_count; those of a table stand together */
    struct pci_hash by_name;    /* the columns of wide tables: their numbers, by table and name */
    const struct pci_column *strings;               /* strings.value, or NULL */
    const struct pci_format_schema *const *schemas; /* of all formats, ends in NULL; may be NULL */
    _Atomic uint8_t *section_state;                 /* one per section: enum pci_section_state */
    int unverified;                                 /* opened with PCOL_OPEN_UNVERIFIED */
    struct pci_decompress_column *thaw;             /* archives: what was decompressed
                                                      (archive_read.h); else NULL */
    void *memory; /* the terminated names; all other arrays lie behind this struct */
    /* Logical tables are made on first use (model/). */
    pthread_mutex_t lock;
    struct pci_models *models; /* of model/, which says how they are given back at close */
    void (*models_free)(struct pci_models *models);
};

/* E_IO: a guarded file changed while it was read. */
pcol_status pci_fail_changed(const pcol_file *file, pcol_error *err);

/* Whether what was read up to here was the file's. The fence keeps the reading before the question;
 * a fault is taken by the thread that reads. */
static inline pcol_status pci_kept(const pcol_file *file, pcol_error *err)
{
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&file->lost, memory_order_relaxed) ? pci_fail_changed(file, err)
                                                                   : PCOL_OK;
}

/* NULL if there is none. */
const struct pci_table *pci_table_find(const pcol_file *file, const char *name);
const struct pci_table *pci_table_named(const pcol_file *file, pcol_str name);
const struct pci_column *pci_column_find(const struct pci_table *table, const char *name);

/* Columns of archives are decompressed on first use, by whichever thread comes first
 * (archive_read.h).
 * Cells are read through the functions below, which see to that; whoever follows column->data
 * himself calls this before, which decompresses all of the column and its children, and keeps
 * it. */
pcol_status pci_decompress_column_now(const pcol_file *file, const struct pci_column *column,
                                      pcol_error *err);
static inline pcol_status pci_decompress_column(const pcol_file *file,
                                                const struct pci_column *column, pcol_error *err)
{
    return atomic_load_explicit(&column->frozen, memory_order_acquire)
               ? pci_decompress_column_now(file, column, err)
               : PCOL_OK;
}
/* Out of blocks that were put together before, or are now (decoded_blocks.c); what they need of an
 * archive is held. What the file says may be wrong: *result then. A string of a FRONT column, at an
 * address that holds until the file is closed; *row becomes one at fault. */
pcol_status pci_decoded_blocks_string(const pcol_file *file, const struct pci_column *column,
                                      uint64_t *row, pcol_str *value, enum pcf_result *result,
                                      pcol_error *err);
/* Rows of a TREE column, all of which exist. */
pcol_status pci_decoded_blocks_read(const pcol_file *file, const struct pci_column *column,
                                    uint64_t row, uint64_t count, int64_t *values,
                                    enum pcf_result *result, pcol_error *err);
void pci_decoded_blocks_free(struct pci_decoded_blocks *blocks);
/* Cells, with errors that name table, column and row. Signatures as in decode.h. The first read of
 * a column compares the checksums of its sections, unless the thread is within
 * pci_row_part_begin(). A
 * row number or string that they return is below the column's limit: it is an index that needs no
 * further check, but for row 0 of stacks, which refers to nothing. */
pcol_status pci_get(const pcol_file *file, const struct pci_column *column, uint64_t row,
                    int64_t *value, int *valid, pcol_error *err);
pcol_status pci_read(const pcol_file *file, const struct pci_column *column, uint64_t row,
                     uint64_t count, int64_t *values, uint8_t *valid, pcol_error *err);
/* Without the limit: for `check`, which reports every value that is beyond it. */
pcol_status pci_read_unbounded(const pcol_file *file, const struct pci_column *column, uint64_t row,
                               uint64_t count, int64_t *values, uint8_t *valid, pcol_error *err);
/* A string by its code; the code itself is checked. */
pcol_status pci_string(const pcol_file *file, uint64_t code, pcol_str *string, pcol_error *err);
/* A cell of a STRING or BYTES column. */
pcol_status pci_get_str(const pcol_file *file, const struct pci_column *column, uint64_t row,
                        pcol_str *value, int *valid, pcol_error *err);

/* Reads of this thread up to pci_row_part_end() are for so many rows of a table. They do not verify
 * sections above PCI_ROW_PART_SECTION bytes, as long as all such reads of a column touch less than
 * a
 * tenth of the section's rows; PCI_ROW_PART_CELL: they verify none. Public functions that read few
 * rows
 * begin a part; all other code reads outside of one. Returns what pci_row_part_end() takes: parts
 * nest.
 */
#define PCI_ROW_PART_SECTION ((uint64_t)4 << 20)
#define PCI_ROW_PART_CELL 0u
uint64_t pci_row_part_begin(uint64_t rows);
void pci_row_part_end(uint64_t before);
enum pci_section_state { PCI_SECTION_UNKNOWN, PCI_SECTION_VERIFIED, PCI_SECTION_WRONG };

/* Compare the checksums of all sections of a column and its children, once per file, also within a
 * part; those of which each block has its own are compared block by block, when they are
 * decompressed. Then compare its directories with what they index. In a file opened with
 * PCOL_OPEN_UNVERIFIED the latter only. */
pcol_status pci_verify(const pcol_file *file, const struct pci_column *column, pcol_error *err);
/* Compare the directories of a column and its children with what they index (format/structure.h),
 * once per file. Reads of a part do without, as above. */
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
/* One section, whatever the file was opened with; `named` is the column that an error names. */
pcol_status pci_verify_section(const pcol_file *file, uint32_t section,
                               const struct pci_column *named, pcol_error *err);

/* As the public calls; `schemas` is borrowed for the life of the file. */
pcol_status pci_file_open(const char *path, const pcol_open_options *options,
                          const struct pci_format_schema *const *schemas, pcol_file **file,
                          pcol_error *err);
pcol_status pci_file_open_memory(const void *data, size_t size, const pcol_open_options *options,
                                 const struct pci_format_schema *const *schemas, pcol_file **file,
                                 pcol_error *err);

#endif
