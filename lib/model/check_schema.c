/*
 * check_schema.c - that columns with names that the format defines are what it defines
 */
#include "model/check.h"

#include "core/text.h"

#include <string.h>

#define I64 PCI_TYPE(PCF_I64)
#define U64 PCI_TYPE(PCF_U64)
#define U32 PCI_TYPE(PCF_U32)
#define F64 PCI_TYPE(PCF_F64)
#define BOOL PCI_TYPE(PCF_BOOL)
#define TEXT PCI_TYPES_TEXT

/* Required columns may not be absent where the table has rows, and hold no nulls. */
static const struct known {
    const char *table, *column, *references;
    unsigned types;
    int required;
} known[] = {
    {"strings", "value", NULL, PCI_TYPE(PCF_BYTES), 1},
    {"sources", "type", NULL, TEXT, 1},
    {"sources", "uri", NULL, TEXT, 0},
    {"sources", "timestamp", NULL, TEXT, 0},
    {"sources", "period", NULL, I64, 0},
    {"sources", "period_type", NULL, TEXT, 0},
    {"sources", "period_unit", NULL, TEXT, 0},
    {"sources", "interval_ns", NULL, I64, 0},
    {"sources", "duration_ns", NULL, I64, 0},
    {"sources", "default_sample_type", NULL, TEXT, 0},
    {"sources", "collapsed", NULL, BOOL, 0},
    {"source_meta", "source", "sources", U32, 1},
    {"source_meta", "key", NULL, TEXT, 1},
    {"source_meta", "value", NULL, TEXT, 1},
    {"sample_types", "type", NULL, TEXT, 1},
    {"sample_types", "unit", NULL, TEXT, 1},
    {"sample_types", "level", NULL, BOOL, 0},
    {"sample_types", "ordinal", NULL, U32, 0},
    {"source_types", "source", "sources", U32, 1},
    {"source_types", "sample_type", "sample_types", U32, 1},
    {"functions", "name", NULL, TEXT, 0},
    {"functions", "system_name", NULL, TEXT, 0},
    {"functions", "filename", NULL, TEXT, 0},
    {"functions", "start_line", NULL, I64, 0},
    {"functions", "id", NULL, U64, 0},
    {"locations", "function", "functions", U32, 0},
    {"locations", "line", NULL, I64, 0},
    {"locations", "column", NULL, I64, 0},
    {"locations", "filename", NULL, TEXT, 0},
    {"location_groups", "first_location", "locations", U32, 0},
    {"location_groups", "mapping", "mappings", U32, 0},
    {"location_groups", "address", NULL, U64, 0},
    {"location_groups", "folded", NULL, BOOL, 0},
    {"location_groups", "id", NULL, U64, 0},
    {"location_groups", "file_number", NULL, I64, 0},
    {"mappings", "start", NULL, U64, 0},
    {"mappings", "limit", NULL, U64, 0},
    {"mappings", "file_offset", NULL, U64, 0},
    {"mappings", "filename", NULL, TEXT, 0},
    {"mappings", "build_id", NULL, TEXT, 0},
    {"mappings", "has_functions", NULL, BOOL, 0},
    {"mappings", "has_filenames", NULL, BOOL, 0},
    {"mappings", "has_line_numbers", NULL, BOOL, 0},
    {"mappings", "has_inline_frames", NULL, BOOL, 0},
    {"mappings", "id", NULL, U64, 0},
    {"threads", "source", "sources", U32, 1},
    {"threads", "name", NULL, TEXT, 0},
    {"threads", "tid", NULL, TEXT, 0},
    {"threads", "pid", NULL, TEXT, 0},
    {"threads", "process_name", NULL, TEXT, 0},
    {"stacks", "parent", "stacks", U32, 1},
    {"stacks", "group", "location_groups", U32, 1},
    {"stack_sums", "stack", "stacks", U32, 1},
    {"function_sums", "name", NULL, TEXT, 0},
    {"samples", "source", "sources", U32, 0},
    {"samples", "stack", "stacks", U32, 0},
    {"samples", "thread", "threads", U32, 0},
    {"samples", "time", NULL, I64, 0},
    {"samples", "duration", NULL, I64, 0},
    {"samples", "cpu_delta", NULL, I64, 0},
    {"samples", "text", NULL, TEXT, 0},
    {"sample_zones", "location_row", NULL, U64, 1},
    {"sample_zones", "value_row", NULL, U64, 1},
    {"sample_values", "sample", "samples", U64, 1},
    {"sample_values", "sample_type", "sample_types", U32, 1},
    {"sample_values", "value", NULL, I64 | F64, 1},
    {"sample_locations", "sample", "samples", U64, 1},
    {"sample_locations", "depth", NULL, U32, 1},
    {"sample_locations", "location", "locations", U32, 1},
    {"label_keys", "table", NULL, TEXT, 1},
    {"label_keys", "key", NULL, TEXT, 1},
    {"label_keys", "kind", NULL, TEXT, 1},
    {"label_keys", "unit", NULL, TEXT, 0},
    {"label_keys", "occurrence", NULL, U32, 0},
    {"label_shapes", "first_key", NULL, U64, 1},
    {"label_shape_keys", "label_key", "label_keys", U32, 0},
    {"label_shape_keys", "joined", NULL, BOOL, 0},
    {"nodes", "parent", "nodes", U64, 0},
    {"nodes", "key", NULL, TEXT, 0},
    {"nodes", "tag", NULL, U32, 1},
    {"nodes", "integer", NULL, I64, 0},
    {"nodes", "number", NULL, F64, 0},
    {"nodes", "text", NULL, TEXT, 0},
    {"nodes", "first", NULL, U64, 0},
    {"node_integers", "value", NULL, I64, 1},
    {"node_doubles", "value", NULL, F64, 1},
    {"source_rows", "source", "sources", U32, 1},
    {"source_rows", "thread", "threads", U32, 0},
    {"source_rows", "table", NULL, TEXT, 1},
    {"source_rows", "target", NULL, TEXT, 1},
    {"source_rows", "ordinal", NULL, U64, 1},
    {"source_rows", "row", NULL, U64, 1},
    {"source_rows", "id", NULL, U64, 0},
    {"source_columns", "source", "sources", U32, 1},
    {"source_columns", "thread", "threads", U32, 0},
    {"source_columns", "table", NULL, TEXT, 1},
    {"source_columns", "column", NULL, TEXT, 1},
    {"source_columns", "form", NULL, TEXT, 0},
    {"rprof_segments", "source", "sources", U32, 1},
    {"rprof_segments", "first_sample", NULL, U64, 1},
    {"rprof_segments", "memory", NULL, BOOL, 0},
    {"rprof_segments", "gc", NULL, BOOL, 0},
    {"rprof_segments", "line", NULL, BOOL, 0},
    {"rprof_segments", "interval_us", NULL, I64, 0},
    {"rprof_segments", "crlf", NULL, BOOL, 0},
    {"rprof_segments", "text", NULL, TEXT, 0},
    {"rprof_files", "segment", "rprof_segments", U32, 1},
    {"rprof_files", "before_sample", NULL, U64, 1},
    {"rprof_files", "number", NULL, I64, 0},
    {"rprof_files", "path", NULL, TEXT, 1},
    {"rprof_files", "text", NULL, TEXT, 0},
};

/* Columns that any table may have. Tables whose names begin with x_ are their makers' business. */
static void check_open(struct pci_check *check, const struct pci_table *table)
{
    static const struct {
        const char *name, *references;
        unsigned types;
    } open[] = {{"label_shape", "label_shapes", U32}, {"extra", "nodes", U64}};
    for (size_t i = 0; i < sizeof open / sizeof *open && strncmp(table->name, "x_", 2) != 0; i++) {
        const struct pci_column *column = pci_column_find(table, open[i].name);
        struct pci_tally tally = PCI_TALLY(check, table->name, open[i].name);
        if (!column || !column->supported)
            continue;
        if (!(open[i].types & PCI_TYPE(column->desc->type)))
            pci_fault(&tally, PCOL_NOWHERE, "this column cannot be of type %s",
                      pcol_type_name((pcol_type)column->desc->type));
        if (!column->references || strcmp(column->references->name, open[i].references) != 0)
            pci_fault(&tally, PCOL_NOWHERE, "this column does not refer to %s", open[i].references);
        if (tally.count)
            check->untrusted[column->number] = 1;
    }
}

static void check_known(struct pci_check *check, const struct known *k)
{
    const struct pci_table *table = pci_table_find(check->file, k->table);
    const struct pci_column *column = table ? pci_column_find(table, k->column) : NULL;
    struct pci_tally tally = PCI_TALLY(check, k->table, k->column);
    if (!column) {
        if (k->required && table && table->rows)
            pci_fault(&tally, PCOL_NOWHERE, "this column is missing");
        return;
    }
    if (!column->supported)
        return;
    if (!(k->types & PCI_TYPE(column->desc->type)))
        pci_fault(&tally, PCOL_NOWHERE, "this column cannot be of type %s",
                  pcol_type_name((pcol_type)column->desc->type));
    if (k->required && column->desc->null_count)
        pci_fault(&tally, PCOL_NOWHERE, "this column cannot hold nulls");
    if (k->references && !column->references && pci_table_find(check->file, k->references))
        pci_fault(&tally, PCOL_NOWHERE, "this column does not refer to %s", k->references);
    if (column->references &&
        (!k->references || strcmp(column->references->name, k->references) != 0))
        pci_fault(&tally, PCOL_NOWHERE, "this column cannot refer to %s", column->references->name);
    /* Without the table that it refers to, no value was held against a bound. */
    if (k->references && !pci_table_find(check->file, k->references) &&
        column->desc->null_count < column->desc->rows && strcmp(k->table, "stacks") != 0)
        pci_fault(&tally, PCOL_NOWHERE, "there is no table %s to refer to", k->references);
    if (tally.count)
        check->untrusted[column->number] = 1;
}

/* Row numbers are integers. */
static void check_reference(struct pci_check *check, const struct pci_column *column)
{
    struct pci_tally tally = PCI_TALLY(check, column->table->name, column->name);
    if (!column->references || !column->supported || PCI_TYPES_ROW & PCI_TYPE(column->desc->type))
        return;
    pci_fault(&tally, PCOL_NOWHERE, "a column of type %s cannot refer to %s",
              pcol_type_name((pcol_type)column->desc->type), column->references->name);
    check->untrusted[column->number] = 1;
}

/* value.K and sum.K of a type that is there, of one of two types. */
static void check_numbered(struct pci_check *check, const char *table, const char *prefix)
{
    const struct pci_table *t = pci_table_find(check->file, table);
    uint64_t types = pci_rows(check->file, "sample_types");
    size_t size = strlen(prefix);
    for (uint32_t i = 0; t && i < t->column_count; i++) {
        const struct pci_column *column = &t->columns[i];
        struct pci_tally tally = PCI_TALLY(check, table, column->name);
        if (strncmp(column->name, prefix, size) != 0 || !column->supported)
            continue;
        if ((uint64_t)pci_name_number(column->name, prefix) >= types) /* -1, too */
            pci_fault(&tally, PCOL_NOWHERE, "there is no such sample type");
        if (!((I64 | F64) & PCI_TYPE(column->desc->type)))
            pci_fault(&tally, PCOL_NOWHERE, "this column cannot be of type %s",
                      pcol_type_name((pcol_type)column->desc->type));
        if (tally.count)
            check->untrusted[column->number] = 1;
    }
}

pcol_status pci_check_schema(struct pci_check *check, pcol_error *err)
{
    (void)err;
    for (uint32_t t = 0; t < check->file->index.header.table_count; t++)
        for (uint32_t i = 0; i < check->file->tables[t].column_count; i++)
            check_reference(check, &check->file->tables[t].columns[i]);
    for (size_t i = 0; i < sizeof known / sizeof *known && !check->stop; i++)
        check_known(check, &known[i]);
    for (uint32_t i = 0; i < check->file->index.header.table_count && !check->stop; i++)
        check_open(check, &check->file->tables[i]);
    check_numbered(check, "samples", "value.");
    check_numbered(check, "stack_sums", "sum.");
    check_numbered(check, "function_sums", "self.");
    check_numbered(check, "function_sums", "total.");
    return PCOL_OK;
}
