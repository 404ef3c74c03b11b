/*
 * row_references.c - bounds of row numbers, set at open and checked when cells are read
 *
 * The limit of a column is the smaller of the rows of the table that the format defines for it and
 * of the table that the file's ref_table names. Row numbers from pci_get() and pci_read() are
 * therefore valid indexes. Tests: tests/hostile/cells.
 */
#include "reader/row_references.h"

#include <string.h>

const struct pci_reference pci_references[] = {
    {"source_meta", "source", "sources", PCF_U32},
    {"source_types", "source", "sources", PCF_U32},
    {"source_types", "sample_type", "sample_types", PCF_U32},
    {"locations", "function", "functions", PCF_U32},
    {"location_groups", "first_location", "locations", PCF_U32},
    {"location_groups", "mapping", "mappings", PCF_U32},
    {"location_groups", "category", "categories", PCF_U32},
    {"location_groups", "native_symbol", "native_symbols", PCF_U32},
    {"location_groups", "original", "source_locations", PCF_U32},
    {"functions", "code_resource", "code_resources", PCF_U32},
    {"functions", "source_file", "source_files", PCF_U32},
    {"functions", "original", "source_locations", PCF_U32},
    {"threads", "source", "sources", PCF_U32},
    {"stacks", "parent", "stacks", PCF_U32},
    {"stacks", "group", "location_groups", PCF_U32},
    {"samples", "source", "sources", PCF_U32},
    {"samples", "stack", "stacks", PCF_U32},
    {"samples", "thread", "threads", PCF_U32},
    {"samples", "resource_type", "resource_types", PCF_U32},
    {"samples", "snapshot", "snapshots", PCF_U32},
    {"stack_sums", "stack", "stacks", PCF_U32},
    {"function_sums", "location", "locations", PCF_U32},
    {"sample_values", "sample", "samples", PCF_U64},
    {"sample_values", "sample_type", "sample_types", PCF_U32},
    {"sample_locations", "sample", "samples", PCF_U64},
    {"sample_locations", "location", "locations", PCF_U32},
    {"label_shape_keys", "label_key", "label_keys", PCF_U32},
    {"nodes", "parent", "nodes", PCF_U64},
    {"source_rows", "source", "sources", PCF_U32},
    {"source_rows", "thread", "threads", PCF_U32},
    {"source_columns", "source", "sources", PCF_U32},
    {"source_columns", "thread", "threads", PCF_U32},
    {"source_columns", "first_cell", "source_cells", PCF_U64},
    {"source_comments", "source", "sources", PCF_U32},
    {"rprof_segments", "source", "sources", PCF_U32},
    {"rprof_files", "segment", "rprof_segments", PCF_U32},
    {"categories", "source", "sources", PCF_U32},
    {"subcategories", "category", "categories", PCF_U32},
    {"source_locations", "source_file", "source_files", PCF_U32},
    {"code_resources", "mapping", "mappings", PCF_U32},
    {"native_symbols", "mapping", "mappings", PCF_U32},
    {"markers", "source", "sources", PCF_U32},
    {"markers", "thread", "threads", PCF_U32},
    {"markers", "category", "categories", PCF_U32},
    {"allocations", "source", "sources", PCF_U32},
    {"allocations", "thread", "threads", PCF_U32},
    {"allocations", "stack", "stacks", PCF_U32},
    {"counters", "source", "sources", PCF_U32},
    {"counter_samples", "counter", "counters", PCF_U32},
    {"resource_types", "source", "sources", PCF_U32},
    {"resource_arrays", "resource_type", "resource_types", PCF_U32},
    {"resource_arrays", "rest", "nodes", PCF_U64},
    {"snapshots", "source", "sources", PCF_U32},
    {"models", "source", "sources", PCF_U32},
    {"models", "snapshot", "snapshots", PCF_U32},
    {NULL, NULL, NULL, 0},
};

const struct pci_reference pci_references_open[] = {
    {NULL, "label_shape", "label_shapes", PCF_U32},
    {NULL, "extra", "nodes", PCF_U64},
    {NULL, NULL, NULL, 0},
};

static int is_number(const struct pci_column *column)
{
    return column->desc->type == PCF_U32 || column->desc->type == PCF_U64 ||
           column->desc->type == PCF_I64;
}

static void set_limit(pcol_file *file, const struct pci_table *table, const struct pci_reference *r)
{
    const struct pci_column *column = pci_column_find(table, r->column);
    const struct pci_table *to = pci_table_find(file, r->references);
    uint64_t rows = to ? to->rows : 0;
    if (column && is_number(column) && rows < column->limit)
        file->columns[column->number].limit = rows;
}

/* Columns that partition another table among their rows: a value out of order would assign rows
 * to the wrong row, which a limit cannot detect. */
static const struct {
    const char *table, *column;
    uint8_t order;
} orders[] = {
    {"location_groups", "first_location", PCI_ORDER_STRICT | PCI_ORDER_FROM_0},
    {"label_shapes", "first_key", PCI_ORDER_ASCENDING | PCI_ORDER_FROM_0},
    {"stack_sums", "stack", PCI_ORDER_STRICT},
};

static void set_orders(pcol_file *file)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const struct pci_table *table = pci_table_find(file, orders[i].table);
        const struct pci_column *column = table ? pci_column_find(table, orders[i].column) : NULL;
        if (column && column->supported && is_number(column))
            atomic_init(&file->columns[column->number].order, orders[i].order);
    }
}

void pci_references_set_limits(pcol_file *file)
{
    const struct pci_table *table = NULL;
    for (uint32_t i = 0; i < file->index.header.column_count; i++) {
        struct pci_column *c = &file->columns[i];
        c->limit = UINT64_MAX; /* children: values are checked as those of the parent column */
        if (c->table && c->desc->type == PCF_STRING)
            c->limit = file->strings ? file->strings->desc->rows : 0;
        else if (c->references && is_number(c))
            c->limit = c->references->rows;
    }
    for (const struct pci_reference *r = pci_references; r->table; r++) {
        if (r == pci_references || strcmp(r->table, r[-1].table) != 0)
            table = pci_table_find(file, r->table);
        if (table)
            set_limit(file, table, r);
    }
    for (uint32_t i = 0; i < file->index.header.table_count; i++)
        if (strncmp(file->tables[i].name, "x_", 2) != 0)
            for (size_t k = 0; pci_references_open[k].column; k++)
                set_limit(file, &file->tables[i], &pci_references_open[k]);
    set_orders(file);
}

/* Row 0 of stacks is the root, whose parent and group refer to nothing. */
static int is_root(const struct pci_column *column, uint64_t row)
{
    return row == 0 && strcmp(column->table->name, "stacks") == 0;
}

pcol_status pci_references_reject(const struct pci_column *column, uint64_t row, int64_t *value,
                                  pcol_error *err)
{
    unsigned long long number = (unsigned long long)*value;
    const char *table = column->table->name;
    *value = 0;
    if (is_root(column, row))
        return PCOL_OK;
    if (column->desc->type == PCF_STRING)
        return pci_fail_cell(err, PCOL_E_CORRUPT, table, column->name, row,
                             "string %llu does not exist", number);
    if (!column->references)
        return pci_fail_cell(err, PCOL_E_CORRUPT, table, column->name, row,
                             "%llu refers to a table that the file does not have", number);
    return pci_fail_cell(err, PCOL_E_CORRUPT, table, column->name, row,
                         "%llu is beyond the %llu rows of %s", number,
                         (unsigned long long)column->limit, column->references->name);
}
