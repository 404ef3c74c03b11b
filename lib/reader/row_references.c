/*
 * row_references.c - bounds of row numbers, set at open and checked when cells are read
 *
 * The limit of a column is the smaller of the rows of the table that its schema refers to and of
 * the table that the file's ref_table names. Row numbers from pci_get() and pci_read() are
 * therefore valid indexes. Tests: tests/hostile/cells.
 */
#include "reader/row_references.h"

#include <string.h>

static int is_number(const struct pci_column *column)
{
    return column->desc->type == PCF_U32 || column->desc->type == PCF_U64 ||
           column->desc->type == PCF_I64;
}

/* Limits a column that refers to a table, with or without a ref_table. */
static void set_limit(pcol_file *file, const struct pci_column *column, const char *references)
{
    const struct pci_table *to = pci_table_find(file, references);
    uint64_t rows = to ? to->rows : 0;
    if (is_number(column) && rows < column->limit)
        file->columns[column->number].limit = rows;
}

static void set_limits(pcol_file *file, const struct pci_table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        struct pci_column *column = &table->columns[i];
        if (column->schema->references)
            set_limit(file, column, column->schema->references);
        if (column->schema->flags & PCI_ORDERS && column->supported && is_number(column))
            atomic_init(&column->order, (uint8_t)(column->schema->flags & PCI_ORDERS));
    }
    for (const struct pci_schema_row *s = pci_common_columns; s->column; s++) {
        const struct pci_column *column = pci_column_find(table, s->column);
        if (column && strncmp(table->name, "x_", 2) != 0)
            set_limit(file, column, s->references);
    }
}

void pci_references_set_limits(pcol_file *file)
{
    for (uint32_t i = 0; i < file->index.header.column_count; i++) {
        struct pci_column *c = &file->columns[i];
        c->limit = UINT64_MAX; /* children: values are checked as those of the parent column */
        if (c->table && c->desc->type == PCF_STRING)
            c->limit = file->strings ? file->strings->desc->rows : 0;
        else if (c->references && is_number(c))
            c->limit = c->references->rows;
    }
    for (uint32_t i = 0; i < file->index.header.table_count; i++)
        set_limits(file, &file->tables[i]);
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
        return pci_corrupt(err, table, column->name, row, "string %llu does not exist", number);
    if (!column->references)
        return pci_corrupt(err, table, column->name, row,
                           "%llu refers to a table that the file does not have", number);
    return pci_corrupt(err, table, column->name, row, "%llu is beyond the %llu rows of %s", number,
                       (unsigned long long)column->limit, column->references->name);
}
