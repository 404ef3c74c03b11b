/*
 * builder.h - what a builder holds until the file is written
 *
 * Rows of tables are kept by column: the values that are there in one spool, and which rows have one
 * as run lengths. Functions, locations and groups are kept as structs while they are interned and
 * become columns at the end; call stacks live in a tree; everything else is columns from the start.
 */
#ifndef PCI_BUILDER_H
#define PCI_BUILDER_H

#include "core/encode.h"
#include "core/hash.h"
#include "core/strtab.h"
#include "core/tree.h"

/* Tables that every builder has, in file order. */
enum pci_known_table {
    PCI_T_STRINGS,
    PCI_T_SOURCES,
    PCI_T_SOURCE_META,
    PCI_T_SAMPLE_TYPES,
    PCI_T_SOURCE_TYPES,
    PCI_T_FUNCTIONS,
    PCI_T_LOCATIONS,
    PCI_T_GROUPS,
    PCI_T_MAPPINGS,
    PCI_T_THREADS,
    PCI_T_STACKS,
    PCI_T_SAMPLES,
    PCI_T_STACK_SUMS,
    PCI_T_SAMPLE_ZONES,
    PCI_T_SAMPLE_VALUES,
    PCI_T_SAMPLE_LOCATIONS,
    PCI_T_COUNT
};

/* Columns that every builder has: their numbers in pcol_builder.columns. */
enum pci_known_column {
    PCI_C_SOURCE_TYPE,
    PCI_C_SOURCE_URI,
    PCI_C_SOURCE_TIMESTAMP,
    PCI_C_SOURCE_PERIOD,
    PCI_C_SOURCE_PERIOD_TYPE,
    PCI_C_SOURCE_PERIOD_UNIT,
    PCI_C_SOURCE_INTERVAL,
    PCI_C_SOURCE_DURATION,
    PCI_C_SOURCE_DEFAULT_TYPE,
    PCI_C_SOURCE_COLLAPSED,
    PCI_C_META_SOURCE,
    PCI_C_META_KEY,
    PCI_C_META_VALUE,
    PCI_C_TYPES_SOURCE,
    PCI_C_TYPES_TYPE,
    PCI_C_SAMPLE_SOURCE,
    PCI_C_SAMPLE_STACK,
    PCI_C_SAMPLE_THREAD,
    PCI_C_SAMPLE_TIME,
    PCI_C_SAMPLE_DURATION,
    PCI_C_COUNT
};

/* When a column is left out of the file. */
enum pci_drop {
    PCI_DROP_NULL, /* if all rows are null */
    PCI_DROP_ZERO, /* if all rows are 0; rows never set are 0 */
    PCI_DROP_NEVER
};

struct pci_bcol {
    char *name;
    uint32_t table;
    uint32_t references; /* table + 1, or 0 */
    uint8_t type;
    uint8_t drop;
    uint64_t rows;    /* appended, nulls included */
    uint64_t present; /* of them with a value */
    int64_t first;
    int constant;            /* all present values are `first`; the spool is empty then */
    int64_t all_bits;        /* OR of all values: 0 means all are 0 */
    struct pci_spool values; /* i64; for bytes: end offsets into data */
    struct pci_spool runs;   /* lengths, alternately of rows with and without value, with first */
    uint64_t run;            /* length of the run being counted */
    int run_valid;
    struct pci_spool data; /* bytes */
};

struct pci_btable {
    char *name;
    uint64_t rows; /* at least; columns may have more */
    uint16_t flags;
};

struct pci_bfunction {
    uint32_t name, system_name, filename;
    uint32_t bits; /* 1: has start_line, 2: has id */
    int64_t start_line;
    uint64_t id;
};

struct pci_bgroup {
    uint32_t first_line, line_count;
    uint32_t mapping;
    uint32_t bits; /* 1: has address, 2: has id, 4: has file_number, 8: folded */
    uint64_t address, id;
    int64_t file_number;
};

struct pci_btype {
    uint32_t type, unit, flags, ordinal;
    uint32_t column; /* of samples */
    uint32_t noted;  /* number of sources when it was named last */
};

struct pcol_builder {
    struct pci_store store;
    struct pci_strtab strings;
    struct pci_tree tree;
    struct pci_btable *tables;
    size_t table_count, table_capacity;
    struct pci_bcol **columns;
    size_t column_count, column_capacity;
    struct pci_bfunction *functions;
    size_t function_count, function_capacity;
    struct pci_hash function_hash;
    struct pci_bgroup *groups;
    size_t group_count, group_capacity;
    struct pci_hash group_hash;
    pcol_line *lines; /* of all groups, one behind the other */
    size_t line_count, line_capacity;
    struct pci_btype *types;
    size_t type_count, type_capacity;
    uint32_t source_count;
    uint64_t sample_count;
    uint64_t source_type_count;
    int written;
};

/* bcol.c */
pcol_status pci_bcol_new(pcol_builder *b, uint32_t table, const char *name, uint8_t type,
                         uint32_t references, uint8_t drop, uint32_t *column, pcol_error *err);
void pci_bcol_free(struct pci_bcol *column);
pcol_status pci_bcol_set(struct pci_bcol *column, uint64_t row, int64_t value, pcol_error *err);
pcol_status pci_bcol_set_bytes(struct pci_bcol *column, uint64_t row, const char *data, size_t size,
                               pcol_error *err);
/* Rows up to `rows` are null, or 0 with PCI_DROP_ZERO. */
pcol_status pci_bcol_fill(struct pci_bcol *column, uint64_t rows, pcol_error *err);

/* A column as a source; `map` translates values (string ranks, stack places) or is NULL. */
struct pci_bcol_source {
    struct pci_source source;
    const struct pci_bcol *column;
    const uint32_t *map;
    uint64_t value;  /* next present value */
    uint64_t run_at; /* next entry of runs */
    uint64_t run_left;
    int run_valid;
};
void pci_bcol_source_init(struct pci_bcol_source *source, const struct pci_bcol *column,
                          const uint32_t *map);

/* derive.c: tables made from others when the file is written */
pcol_status pci_derive(pcol_builder *b, int plain, pcol_error *err);

#endif
