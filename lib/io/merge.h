/*
 * merge.h - the content of a pcol file on its way into a builder
 */
#ifndef PCI_MERGE_H
#define PCI_MERGE_H

#include "core/builder.h"
#include "core/file.h"
#include "io/input.h"

#define PCI_CELLS 256u

/* A column that is read from its first row to its last; one that the file lacks is all null. The
 * struct is large: it belongs on the heap. */
struct pci_cells {
    const pcol_file *file;
    const struct pci_column *column; /* NULL: all null */
    uint64_t first, count;           /* the rows at hand */
    int64_t value[PCI_CELLS];
    uint8_t valid[PCI_CELLS];
};

struct pci_merge {
    const pcol_file *file;
    pcol_builder *builder;
    const struct pci_import *import; /* NULL: a copy without options of the user */
    uint64_t first_source, last_source;
    int partial; /* not all sources: what their samples do not need stays behind, and so do mappings,
                    threads and the tables of formats */

    /* By row of the file: the builder's row, PCOL_NONE for those left behind. */
    uint32_t *strings; /* NULL if partial: they are looked up one by one */
    uint32_t *functions, *groups, *stacks, *types, *sources;
    uint8_t *wanted; /* partial: stacks that a sample needs */
    uint64_t string_count, function_count, group_count, stack_count, type_count, source_count;

    /* By table of the file: the builder's table, and how many rows that had before. */
    uint32_t *tables;
    uint64_t *base;
    uint32_t *extra; /* by column of samples: the builder's, where it is copied as it is */
};

#define PCI_IS(type) (1u << (type))
#define PCI_IS_INT (PCI_IS(PCF_I64) | PCI_IS(PCF_U64) | PCI_IS(PCF_U32))

/* Prepare a column of a table (either may be missing) of one of some types; its checksums are
 * compared. */
pcol_status pci_cells_open(struct pci_cells *cells, const pcol_file *file, const char *table,
                           const char *column, unsigned types, pcol_error *err);
/* The same for a column at hand. */
pcol_status pci_cells_use(struct pci_cells *cells, const pcol_file *file,
                          const struct pci_column *column, pcol_error *err);
pcol_status pci_cells_get(struct pci_cells *cells, uint64_t row, int64_t *value, int *valid,
                          pcol_error *err);
/* A cell that names a row of a table of `rows` rows; PCOL_NONE if it is null. */
pcol_status pci_cells_row(struct pci_cells *cells, uint64_t row, uint64_t rows, uint32_t *value,
                          pcol_error *err);
/* A string's code in the builder; PCOL_NONE if the cell is null. */
pcol_status pci_cells_string(struct pci_cells *cells, const struct pci_merge *merge, uint64_t row,
                             uint32_t *string, pcol_error *err);

/* Rows of a table of the file, 0 if there is none. A table whose rows are mapped in memory may not
 * claim more of them than its file can hold in earnest: E_LIMIT. */
pcol_status pci_merge_rows(const pcol_file *file, const char *table, uint64_t *rows,
                           pcol_error *err);
pcol_status pci_merge_map(uint32_t **map, uint64_t rows, pcol_error *err);

/* merge_stacks.c: strings; functions, groups and stacks */
pcol_status pci_merge_strings(struct pci_merge *merge, pcol_error *err);
pcol_status pci_merge_stacks(struct pci_merge *merge, pcol_error *err);
/* merge_tables.c: where rows of tables will go, to be asked before anything is added; then cells of tables that are copied as they are, with what they refer to translated */
pcol_status pci_merge_place(struct pci_merge *merge, pcol_error *err);
pcol_status pci_merge_column(struct pci_merge *merge, const struct pci_column *column,
                             uint32_t table, uint32_t *number, pcol_error *err);
pcol_status pci_merge_cell(struct pci_merge *merge, struct pci_cells *cells, uint32_t column,
                           uint64_t row, uint64_t to, pcol_error *err);
pcol_status pci_merge_tables(struct pci_merge *merge, pcol_error *err);
/* pcol_import.c: the whole of a file, or the sources first..last of it, into a builder */
pcol_status pci_merge_file(pcol_builder *builder, const pcol_file *file,
                           const struct pci_import *import, uint64_t first_source,
                           uint64_t last_source, pcol_error *err);

#endif
