/*
 * table.h - tables and columns as the API shows them
 *
 * A pcol_table is a list of columns over one open file; a pcol_column knows how to give at most
 * PCI_BATCH cells of itself from any row, either as 64 bits or as strings. Behind that lies a
 * physical column, a computation over some, or, for the two tables that have no rows of their own
 * (sample_locations, sample_values), an expander: a cursor that makes rows in order, three integers
 * each, from which every column of the table is derived.
 */
#ifndef PCI_TABLE_H
#define PCI_TABLE_H

#include "reader/file.h"

#define PCI_BATCH 1024u
#define PCI_ZONE 8192u /* samples per row of sample_zones */

/* Raw cells of an expanded table. */
struct pci_simd {
    int64_t lane[3][PCI_BATCH];
};

/* Makes the rows of an expanded table. */
struct pci_expander {
    /* A cursor that stands on `row`, which is below the table's rows. */
    pcol_status (*open)(const pcol_table *table, uint64_t row, void **cursor, pcol_error *err);
    /* Exactly `count` further rows, at most PCI_BATCH and not past the table's end. */
    pcol_status (*next)(void *cursor, size_t count, struct pci_simd *lanes, pcol_error *err);
    void (*close)(void *cursor);
};

/* `count` cells from `row`, in range, count <= PCI_BATCH, valid never NULL. */
typedef pcol_status (*pci_bits_fn)(const pcol_column *column, uint64_t row, size_t count,
                                   int64_t *values, uint8_t *valid, pcol_error *err);
typedef pcol_status (*pci_str_fn)(const pcol_column *column, uint64_t row, size_t count,
                                  pcol_str *values, uint8_t *valid, pcol_error *err);
/* The same for a column of an expanded table, out of its cursor's lanes. */
typedef pcol_status (*pci_lane_bits_fn)(const pcol_column *column, const struct pci_simd *lanes,
                                        size_t count, int64_t *values, uint8_t *valid,
                                        pcol_error *err);
typedef pcol_status (*pci_lane_str_fn)(const pcol_column *column, const struct pci_simd *lanes,
                                       size_t count, pcol_str *values, uint8_t *valid,
                                       pcol_error *err);
/* The list of the row that stands at `at` in the lanes, appended to *values at *count. */
typedef pcol_status (*pci_list_fn)(const pcol_column *column, const struct pci_simd *lanes,
                                   size_t at, int64_t **values, size_t *capacity, size_t *count,
                                   pcol_error *err);

struct pcol_column {
    const pcol_table *table;
    const char *name;
    const char *references;
    pcol_type type;
    uint32_t index;
    uint8_t primary_key, nullable;
    uint8_t direct;                  /* the cells of `source` as they are */
    uint8_t lane;                    /* expanded tables: which one */
    int64_t offset;                  /* added to every value */
    const struct pci_column *source; /* physical column behind it, or NULL */
    const void *aux;                 /* what the functions below need */
    pci_bits_fn bits;
    pci_str_fn str;
    pci_lane_bits_fn lane_bits;
    pci_lane_str_fn lane_str;
    pci_list_fn list;
};

struct pcol_table {
    const pcol_file *file;
    const char *name;
    uint64_t rows;
    uint32_t column_count, column_capacity;
    pcol_column *columns;
    const struct pci_expander *expander;
    /* Physical columns that the table's rows are made of, beside those of its columns. */
    const struct pci_column **reads;
    size_t read_count, read_capacity;
    void *aux; /* owned */
    void (*free_aux)(void *aux);
    char **owned; /* names of columns */
    size_t owned_count, owned_capacity;
};

/* The call tree and what its nodes name; columns that are absent are NULL. */
struct pci_stacks {
    const pcol_file *file;
    const struct pci_column *parent, *group, *first;
    uint64_t stacks, groups, locations;
};

enum { PCI_V2_COUNT = 7, PCI_V1_COUNT = 5 };

/* What a file keeps of its logical tables; made on first use. */
struct pci_models {
    pcol_table *v2[PCI_V2_COUNT];
    pcol_table *v1[PCI_V1_COUNT];
    pcol_table **physical;          /* as many as the index has tables */
    struct pci_v1 *maps;            /* what the v1 tables share */
    struct pci_order_index *orders; /* of source_rows */
    struct pci_source_index *sources;
    uint32_t physical_count;
};

/* data_models.c: the file's models, made if need be; the caller holds the file's lock */
pcol_status pci_models_of(pcol_file *file, struct pci_models **models, pcol_error *err);

/* table.c: making tables */
pcol_status pci_table_new(const pcol_file *file, const char *name, uint64_t rows,
                          uint32_t column_capacity, pcol_table **table, pcol_error *err);
void pci_table_free(pcol_table *table);
/* Room for `more` columns; those that are there may move. */
pcol_status pci_table_reserve(pcol_table *table, uint32_t more, pcol_error *err);
/* A zeroed column at the end; within the capacity. */
pcol_column *pci_table_add(pcol_table *table, const char *name, pcol_type type);
/* A column of `rows` ids from 1. */
pcol_column *pci_table_add_id(pcol_table *table, const char *name);
/* The cells of a physical column plus `offset`; if `source` is NULL: nulls of type `type`. */
pcol_column *pci_table_add_source(pcol_table *table, const char *name, pcol_type type,
                                  const struct pci_column *source, int64_t offset);
/* The same value in every row. */
pcol_column *pci_table_add_constant(pcol_table *table, const char *name, pcol_type type,
                                    const int64_t *value);
/* A lane of an expanded table plus `offset`. */
pcol_column *pci_table_add_lane(pcol_table *table, const char *name, pcol_type type, uint8_t lane,
                                int64_t offset);
/* Note that making the table's rows reads a column; NULL is ignored. */
pcol_status pci_table_reads(pcol_table *table, const struct pci_column *const *columns,
                            size_t count, pcol_error *err);

/* A physical column of one of the types in the mask (1 << PCF_*): *column is NULL if there is none;
 * one of another type is E_CORRUPT, a table that this reader may not read E_UNSUPPORTED. */
pcol_status pci_want(const pcol_file *file, const char *table, const char *name, unsigned types,
                     const struct pci_column **column, pcol_error *err);
/* The same for one that cannot be missing where the table has rows. */
pcol_status pci_need(const pcol_file *file, const char *table, const char *name, unsigned types,
                     const struct pci_column **column, pcol_error *err);
/* pci_want() for a column that is going to be read whole: its checksums are compared first, and
 * those of the strings that it names. */
pcol_status pci_want_whole(const pcol_file *file, const char *table, const char *name,
                           unsigned types, const struct pci_column **column, pcol_error *err);
/* Rows of a physical table, 0 if there is none. */
uint64_t pci_rows(const pcol_file *file, const char *table);
/* E_LIMIT if a table claims far more rows than the file could have bytes for. Asked before memory
 * is taken by the number of functions, locations or stacks: a row may need no bytes. */
pcol_status pci_plausible(const pcol_file *file, const char *table, pcol_error *err);
/* E_LIMIT if there are more samples than anyone would go through one by one for a file of this
 * size. Asked before that is done: a sample may need no bytes, and is allowed to. */
pcol_status pci_plausible_samples(const pcol_file *file, pcol_error *err);
/* Each by its own measure: for who goes through whole tables, some of them more than once. */
pcol_status pci_plausible_all(const pcol_file *file, pcol_error *err);

#define PCI_TYPE(t) (1u << (t))
#define PCI_TYPES_INT (PCI_TYPE(PCF_I64) | PCI_TYPE(PCF_U64) | PCI_TYPE(PCF_U32))
#define PCI_TYPES_ROW (PCI_TYPE(PCF_U32) | PCI_TYPE(PCF_U64) | PCI_TYPE(PCF_I64))
#define PCI_TYPES_TEXT (PCI_TYPE(PCF_STRING) | PCI_TYPE(PCF_BYTES))

/* cells.c: reading a table's rows in order; for most tables there is nothing to keep */
struct pci_rows {
    const pcol_table *table;
    void *cursor; /* NULL unless the table is expanded */
    struct pci_simd *lanes;
};
/* Stand before `row`, which may be the table's end. */
pcol_status pci_rows_open(struct pci_rows *rows, const pcol_table *table, uint64_t row,
                          pcol_error *err);
/* Make the next `count` rows: at most PCI_BATCH, within the table. */
pcol_status pci_rows_next(struct pci_rows *rows, size_t count, pcol_error *err);
void pci_rows_close(struct pci_rows *rows);
/* Cells of the rows made last; the caller says which they are. valid is never NULL. */
pcol_status pci_rows_bits(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                          size_t count, int64_t *values, uint8_t *valid, pcol_error *err);
pcol_status pci_rows_str(const struct pci_rows *rows, const pcol_column *column, uint64_t row,
                         size_t count, pcol_str *values, uint8_t *valid, pcol_error *err);
/* `count` cells of a physical STRING or BYTES column. */
pcol_status pci_read_str(const pcol_file *file, const struct pci_column *column, uint64_t row,
                         size_t count, pcol_str *values, uint8_t *valid, pcol_error *err);
/* Checksums of all that a full read of the column touches, the making of its rows included. */
pcol_status pci_verify_column(const pcol_column *column, pcol_error *err);

/* v2_further.c: the columns of a physical table, but those of the list, which ends in NULL (a name
 * that ends in a dot stands for all that begin so); then its labels. adapt: may be NULL; changes a
 * column as it is added. */
typedef void (*pci_adapt_fn)(pcol_column *column);
pcol_status pci_add_further(pcol_table *table, const char *physical, const char *const *used,
                            pci_adapt_fn adapt, pcol_error *err);

/* The makers; each gives a table that the caller frees. */
pcol_status pci_physical_table(const pcol_file *file, uint32_t index, pcol_table **table,
                               pcol_error *err);
pcol_status pci_v2_meta(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_sources(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_samples(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_values(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_sample_locations(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_locations(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v2_functions(const pcol_file *file, pcol_table **table, pcol_error *err);
pcol_status pci_v1_table(const pcol_file *file, struct pci_v1 **maps, uint32_t index,
                         pcol_table **table, pcol_error *err);
void pci_v1_free(struct pci_v1 *maps);

/* stacks.c: walking stacks */
pcol_status pci_stacks_open(const pcol_file *file, struct pci_stacks *tree, pcol_error *err);
/* Compare the checksums of all that it is made of, before it is read whole. */
pcol_status pci_stacks_verify(const struct pci_stacks *tree, pcol_error *err);
/* A node above 0: its parent, and the rows of `locations` that it stands for, all checked. */
pcol_status pci_stacks_node(const struct pci_stacks *tree, uint64_t node, uint32_t *parent,
                            uint64_t *first, uint64_t *count, pcol_error *err);
/* The rows of `locations` of a group; the group itself is checked too. */
pcol_status pci_stacks_group(const struct pci_stacks *tree, uint64_t group, uint64_t *first,
                             uint64_t *count, pcol_error *err);
/* The group that location `row` belongs to. */
pcol_status pci_stacks_group_of(const struct pci_stacks *tree, uint64_t row, uint64_t *group,
                                pcol_error *err);

/* stacks.c: position of a view's row among the samples */
/* Total of column `name` of sample_zones (its last row); 0 if there are no samples. */
pcol_status pci_zones_total(const pcol_file *file, const char *name,
                            const struct pci_column **column, uint64_t *total, pcol_error *err);
/* E_CORRUPT if a zone does not start after as many rows as were counted. */
pcol_status pci_zones_compare(const pcol_file *file, const struct pci_column *column, uint64_t zone,
                              uint64_t counted, pcol_error *err);
/* The zone z with zones[z] <= row < zones[z + 1], and zones[z]. */
pcol_status pci_zones_find(const pcol_file *file, const struct pci_column *column, uint64_t row,
                           uint64_t *zone, uint64_t *before, pcol_error *err);

#endif
