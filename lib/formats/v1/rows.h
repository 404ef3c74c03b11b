/*
 * rows.h - rows of the five tables of data model v1, parsed from JSON
 */
#ifndef PCI_V1_ROWS_H
#define PCI_V1_ROWS_H

#include "json/json.h"

enum pci_v1_table {
    PCI_V1_META,
    PCI_V1_TYPES,
    PCI_V1_SAMPLES,
    PCI_V1_LOCATIONS,
    PCI_V1_FUNCTIONS,
    PCI_V1_TABLES
};

#define PCI_V1_MAX_CELLS 5

/* Position of a cell in the text; saturates at 32 bits. */
struct pci_v1_position {
    uint32_t line, column;
};

struct pci_v1_cell {
    int set;
    int64_t integer;
    uint32_t string; /* code in the builder, PCOL_NONE if empty */
    struct pci_v1_position position;
};

/* The current row: cells in the order of the table's columns, and the locations of a sample. */
struct pci_v1_row {
    enum pci_v1_table table;
    uint64_t number; /* from 1 */
    struct pci_v1_cell cell[PCI_V1_MAX_CELLS];
    int64_t *list;
    struct pci_v1_position *list_positions;
    size_t list_size, list_capacity, position_capacity;
};

struct pci_v1_rows {
    const struct pci_import *import;
    struct pci_json json;
    struct pci_v1_row row;
    int seen[PCI_V1_TABLES];
    int reported[PCI_V1_TABLES]; /* dotted columns were reported as omitted */
    pcol_status (*handle_row)(void *context, const struct pci_v1_row *row, pcol_error *err);
    void *context;
};

/* Read the whole text and call handle_row() for each row of samples, locations and functions.
 * Verifies all rules about a single row or table. */
pcol_status pci_v1_rows_read(struct pci_v1_rows *rows, pcol_error *err);

/* Report E_SYNTAX at a position. */
pcol_status pci_v1_fail(struct pci_v1_position position, pcol_error *err, const char *format, ...)
    PCI_PRINTF(3, 4);

#endif
