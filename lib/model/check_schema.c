/*
 * check_schema.c - types, nulls and references of the columns that the format defines
 *
 * Tests: tests/unit/test_check.c, suite golden.
 */
#include "model/check.h"

#include "util/strbuf.h"

#include <string.h>

static int is_nullable(const struct pci_column *column)
{
    return column->desc->null_count || column->desc->flags & PCF_COLUMN_NULLABLE;
}

/* Required columns exist if the table has rows, and have no nulls. */
static void check_known(struct pci_check *check, const struct pci_table *table,
                        const struct pci_schema_row *schema)
{
    const struct pci_column *column = pci_column_find(table, schema->column);
    struct pci_tally tally = PCI_TALLY(check, table->name, schema->column);
    int required = (schema->flags & PCI_REQUIRED) != 0;
    int has_no_nulls = (schema->flags & (PCI_REQUIRED | PCI_NO_NULLS)) != 0;
    if (!column) {
        if (required && table->rows)
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column is missing");
        return;
    }
    if (!column->supported)
        return;
    if (!(schema->types & PCI_TYPE(column->desc->type)))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot be of type %s",
                  pcol_type_name((pcol_type)column->desc->type));
    if (has_no_nulls && is_nullable(column))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot hold nulls");
    if (column->references && !schema->references)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot refer to %s",
                  column->references->name);
    if (tally.count)
        check->untrusted[column->number] = 1;
}

/* Row numbers are integers. */
static void check_reference(struct pci_check *check, const struct pci_column *column)
{
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    if (!column->references || !column->supported || PCI_TYPES_ROW & PCI_TYPE(column->desc->type))
        return;
    pci_fault(&tally, PCOL_POSITION_UNKNOWN, "a column of type %s cannot refer to %s",
              pcol_type_name((pcol_type)column->desc->type), column->references->name);
    check->untrusted[column->number] = 1;
}

/* A column that the format defines as a reference refers to its table, or to none if that is
 * absent. */
static void check_target(struct pci_check *check, const struct pci_table *table,
                         const struct pci_schema_row *schema)
{
    const struct pci_column *column = pci_column_find(table, schema->column);
    const struct pci_table *to = pci_table_find(check->file, schema->references);
    struct pci_tally tally = PCI_TALLY(check, table->name, schema->column);
    if (!column || !column->supported)
        return;
    if (!(schema->types & PCI_TYPE(column->desc->type)) && !check->untrusted[column->number])
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot be of type %s",
                  pcol_type_name((pcol_type)column->desc->type));
    if (!column->references && to)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column does not refer to %s",
                  schema->references);
    if (column->references && column->references != to)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot refer to %s",
                  column->references->name);
    /* Without the referenced table no value was compared with a bound. */
    if (!to && column->desc->null_count < column->desc->rows && strcmp(table->name, "stacks") != 0)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "there is no table %s to refer to",
                  schema->references);
    if (tally.count)
        check->untrusted[column->number] = 1;
}

static void check_targets(struct pci_check *check, const struct pci_table *table)
{
    for (const struct pci_schema_row *s = table->schema + 1; s->column && !check->stop; s++)
        if (s->references)
            check_target(check, table, s);
    for (const struct pci_schema_row *s = pci_common_columns; s->column && !check->stop; s++)
        if (strncmp(table->name, "x_", 2) != 0)
            check_target(check, table, s);
}

/* value.K and sum.K require row K of sample_types and have one of two types. */
static void check_numbered(struct pci_check *check, const char *table, const char *prefix,
                           int can_be_null)
{
    const struct pci_table *t = pci_table_find(check->file, table);
    uint64_t types = pci_rows(check->file, "sample_types");
    size_t size = strlen(prefix);
    for (uint32_t i = 0; t && i < t->column_count; i++) {
        const struct pci_column *column = &t->columns[i];
        struct pci_tally tally = PCI_TALLY(check, table, column->name);
        if (strncmp(column->name, prefix, size) != 0 || !column->supported)
            continue;
        if ((uint64_t)pci_parse_numbered_name(column->name, prefix) >= types) /* -1 is rejected,
                                                                                 too */
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "there is no such sample type");
        if (column->desc->type != PCF_I64 && column->desc->type != PCF_F64)
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot be of type %s",
                      pcol_type_name((pcol_type)column->desc->type));
        if (!can_be_null && is_nullable(column))
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot hold nulls");
        if (tally.count)
            check->untrusted[column->number] = 1;
    }
}

/* Without first_location each group has one location. */
static void check_groups(struct pci_check *check)
{
    const struct pci_table *table = pci_table_find(check->file, "location_groups");
    struct pci_tally tally = PCI_TALLY(check, "location_groups", "first_location");
    uint64_t groups = pci_rows(check->file, "location_groups");
    uint64_t locations = pci_rows(check->file, "locations");
    if (groups != locations && (!table || !pci_column_find(table, "first_location")))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN,
                  "%llu groups without it need as many locations, not %llu",
                  (unsigned long long)groups, (unsigned long long)locations);
}

/* Without the column source all samples are of source 0. */
static void check_source(struct pci_check *check)
{
    const struct pci_table *samples = pci_table_find(check->file, "samples");
    struct pci_tally tally = PCI_TALLY(check, "samples", "source");
    if (samples && samples->rows && !pci_column_find(samples, "source") &&
        !pci_rows(check->file, "sources"))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN,
                  "without it samples are of source 0, which does not exist");
}

/* Every root of a tree is in one cell outside of nodes: as many nodes without a parent as cells
 * that refer to nodes, by the index alone. */
static void check_roots(struct pci_check *check)
{
    const pcol_file *file = check->file;
    const struct pci_table *nodes = pci_table_find(file, "nodes");
    const struct pci_column *parent = nodes ? pci_column_find(nodes, "parent") : NULL;
    struct pci_tally tally = PCI_TALLY(check, "nodes", "parent");
    uint64_t roots = parent ? parent->desc->null_count : pci_rows(file, "nodes"), cells = 0;
    for (uint32_t t = 0; t < file->index.header.table_count; t++) {
        const struct pci_table *table = &file->tables[t];
        for (uint32_t c = 0; c < table->column_count && table != nodes; c++)
            if (nodes && table->columns[c].references == nodes)
                cells += table->rows - table->columns[c].desc->null_count;
    }
    if (roots != cells)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "%llu trees for %llu cells",
                  (unsigned long long)roots, (unsigned long long)cells);
}

/* Row numbers and codes of strings whose maximum, by the index alone, is beyond the table that they
 * refer to. */
static void check_maxima(struct pci_check *check)
{
    const pcol_file *file = check->file;
    for (uint32_t i = 0; i < file->index.header.column_count; i++) {
        const struct pci_column *column = &file->columns[i];
        if (!column->table || !column->supported || column->limit == UINT64_MAX ||
            !(column->desc->flags & PCF_COLUMN_STATS) ||
            column->desc->null_count == column->desc->rows ||
            (uint64_t)column->desc->max < column->limit)
            continue;
        if (column->desc->max == 0 && strcmp(column->table->name, "stacks") == 0)
            continue; /* the root refers to nothing */
        struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "the maximum, %llu, is beyond the %llu rows of %s",
                  (unsigned long long)column->desc->max, (unsigned long long)column->limit,
                  column->references ? column->references->name : "strings");
    }
}

pcol_status pci_check_schema(struct pci_check *check, pcol_error *err)
{
    (void)err;
    check_groups(check);
    check_source(check);
    if (check->copied) { /* else each one is reported (check_nodes.c, check_columns.c) */
        check_roots(check);
        check_maxima(check);
    }
    for (uint32_t t = 0; t < check->file->index.header.table_count; t++)
        for (uint32_t i = 0; i < check->file->tables[t].column_count; i++)
            check_reference(check, &check->file->tables[t].columns[i]);
    for (uint32_t t = 0; t < check->file->index.header.table_count; t++) {
        const struct pci_table *table = &check->file->tables[t];
        const struct pci_schema_row *s = table->schema + 1;
        for (; s->column && !check->stop; s++)
            if (s->types)
                check_known(check, table, s);
    }
    for (uint32_t t = 0; t < check->file->index.header.table_count; t++)
        check_targets(check, &check->file->tables[t]);
    check_numbered(check, "samples", "value.", 1);
    check_numbered(check, "stack_sums", "sum.", 1);
    check_numbered(check, "function_sums", "self.", 0);
    check_numbered(check, "function_sums", "total.", 0);
    return PCOL_OK;
}
