/*
 * check_schema.c - types, nulls and references of the columns that the format defines
 *
 * Tests: tests/unit/test_check.c, suite golden.
 */
#include "model/check.h"

#include "reader/row_references.h"
#include "util/strbuf.h"

#include <string.h>

#define I64 PCI_TYPE(PCF_I64)
#define U64 PCI_TYPE(PCF_U64)
#define U32 PCI_TYPE(PCF_U32)
#define F64 PCI_TYPE(PCF_F64)
#define BOOL PCI_TYPE(PCF_BOOL)
#define TEXT PCI_TYPES_TEXT

/* Required columns exist if the table has rows, and have no nulls. */
static const struct known {
    const char *table, *column;
    unsigned types;
    int required;
} known[] = {
    {"strings", "value", PCI_TYPE(PCF_BYTES), 1},
    {"sources", "type", TEXT, 1},
    {"sources", "uri", TEXT, 0},
    {"sources", "timestamp", TEXT, 0},
    {"sources", "period", I64, 0},
    {"sources", "period_type", TEXT, 0},
    {"sources", "period_unit", TEXT, 0},
    {"sources", "interval_ns", I64, 0},
    {"sources", "duration_ns", I64, 0},
    {"sources", "default_sample_type", TEXT, 0},
    {"sources", "collapsed", BOOL, 0},
    {"source_meta", "source", U32, 1},
    {"source_meta", "key", TEXT, 1},
    {"source_meta", "value", TEXT, 1},
    {"sample_types", "type", TEXT, 1},
    {"sample_types", "unit", TEXT, 1},
    {"sample_types", "level", BOOL, 0},
    {"sample_types", "ordinal", U32, 0},
    {"source_types", "source", U32, 1},
    {"source_types", "sample_type", U32, 1},
    {"functions", "name", TEXT, 0},
    {"functions", "system_name", TEXT, 0},
    {"functions", "filename", TEXT, 0},
    {"functions", "start_line", I64, 0},
    {"functions", "id", U64, 0},
    {"locations", "function", U32, 0},
    {"locations", "line", I64, 0},
    {"locations", "column", I64, 0},
    {"locations", "filename", TEXT, 0},
    {"location_groups", "first_location", U32, 0},
    {"location_groups", "mapping", U32, 0},
    {"location_groups", "address", U64, 0},
    {"location_groups", "folded", BOOL, 0},
    {"location_groups", "id", U64, 0},
    {"location_groups", "file_number", I64, 0},
    {"mappings", "start", U64, 0},
    {"mappings", "limit", U64, 0},
    {"mappings", "file_offset", U64, 0},
    {"mappings", "filename", TEXT, 0},
    {"mappings", "build_id", TEXT, 0},
    {"mappings", "has_functions", BOOL, 0},
    {"mappings", "has_filenames", BOOL, 0},
    {"mappings", "has_line_numbers", BOOL, 0},
    {"mappings", "has_inline_frames", BOOL, 0},
    {"mappings", "id", U64, 0},
    {"threads", "source", U32, 1},
    {"threads", "name", TEXT, 0},
    {"threads", "tid", TEXT, 0},
    {"threads", "pid", TEXT, 0},
    {"threads", "process_name", TEXT, 0},
    {"stacks", "parent", U32, 1},
    {"stacks", "group", U32, 1},
    {"stack_sums", "stack", U32, 1},
    {"function_sums", "location", U32, 0},
    {"samples", "source", U32, 0},
    {"samples", "stack", U32, 0},
    {"samples", "thread", U32, 0},
    {"samples", "time", I64, 0},
    {"samples", "duration", I64, 0},
    {"samples", "cpu_delta", I64, 0},
    {"samples", "text", TEXT, 0},
    {"sample_zones", "location_row", U64, 1},
    {"sample_zones", "value_row", U64, 1},
    {"sample_values", "sample", U64, 1},
    {"sample_values", "sample_type", U32, 1},
    {"sample_values", "value", I64 | F64, 1},
    {"sample_locations", "sample", U64, 1},
    {"sample_locations", "depth", U32, 1},
    {"sample_locations", "location", U32, 1},
    {"label_keys", "table", TEXT, 1},
    {"label_keys", "key", TEXT, 1},
    {"label_keys", "kind", TEXT, 1},
    {"label_keys", "unit", TEXT, 0},
    {"label_keys", "occurrence", U32, 0},
    {"label_shapes", "first_key", U64, 1},
    {"label_shape_keys", "label_key", U32, 0},
    {"label_shape_keys", "joined", BOOL, 0},
    {"nodes", "parent", U64, 0},
    {"nodes", "key", TEXT, 0},
    {"nodes", "tag", U32, 1},
    {"nodes", "integer", I64, 0},
    {"nodes", "number", F64, 0},
    {"nodes", "text", TEXT, 0},
    {"nodes", "first", U64, 0},
    {"node_integers", "value", I64, 1},
    {"node_doubles", "value", F64, 1},
    {"source_rows", "source", U32, 1},
    {"source_rows", "thread", U32, 0},
    {"source_rows", "table", TEXT, 1},
    {"source_rows", "target", TEXT, 1},
    {"source_rows", "ordinal", U64, 1},
    {"source_rows", "row", U64, 1},
    {"source_rows", "id", U64, 0},
    {"source_columns", "source", U32, 1},
    {"source_columns", "thread", U32, 0},
    {"source_columns", "table", TEXT, 1},
    {"source_columns", "column", TEXT, 1},
    {"source_columns", "form", TEXT, 0},
    {"rprof_segments", "source", U32, 1},
    {"rprof_segments", "first_sample", U64, 1},
    {"rprof_segments", "memory", BOOL, 0},
    {"rprof_segments", "gc", BOOL, 0},
    {"rprof_segments", "line", BOOL, 0},
    {"rprof_segments", "interval_us", I64, 0},
    {"rprof_segments", "crlf", BOOL, 0},
    {"rprof_segments", "text", TEXT, 0},
    {"rprof_files", "segment", U32, 1},
    {"rprof_files", "before_sample", U64, 1},
    {"rprof_files", "number", I64, 0},
    {"rprof_files", "path", TEXT, 1},
    {"rprof_files", "text", TEXT, 0},
};

static int is_reference(const struct known *k)
{
    const struct pci_reference *r = pci_references;
    while (r->table && (strcmp(r->table, k->table) != 0 || strcmp(r->column, k->column) != 0))
        r++;
    return r->table != NULL;
}

static void check_known(struct pci_check *check, const struct known *k)
{
    const struct pci_table *table = pci_table_find(check->file, k->table);
    const struct pci_column *column = table ? pci_column_find(table, k->column) : NULL;
    struct pci_tally tally = PCI_TALLY(check, k->table, k->column);
    if (!column) {
        if (k->required && table && table->rows)
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column is missing");
        return;
    }
    if (!column->supported)
        return;
    if (!(k->types & PCI_TYPE(column->desc->type)))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot be of type %s",
                  pcol_type_name((pcol_type)column->desc->type));
    if (k->required && (column->desc->null_count || column->desc->flags & PCF_COLUMN_NULLABLE))
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot hold nulls");
    if (column->references && !is_reference(k))
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
                         const struct pci_reference *r)
{
    const struct pci_column *column = pci_column_find(table, r->column);
    const struct pci_table *to = pci_table_find(check->file, r->references);
    struct pci_tally tally = PCI_TALLY(check, table->name, r->column);
    if (!column || !column->supported)
        return;
    if (column->desc->type != r->type && !check->untrusted[column->number])
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot be of type %s",
                  pcol_type_name((pcol_type)column->desc->type));
    if (!column->references && to)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column does not refer to %s", r->references);
    if (column->references && column->references != to)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot refer to %s",
                  column->references->name);
    /* Without the referenced table no value was compared with a bound. */
    if (!to && column->desc->null_count < column->desc->rows && strcmp(table->name, "stacks") != 0)
        pci_fault(&tally, PCOL_POSITION_UNKNOWN, "there is no table %s to refer to", r->references);
    if (tally.count)
        check->untrusted[column->number] = 1;
}

static void check_targets(struct pci_check *check)
{
    const pcol_file *file = check->file;
    for (const struct pci_reference *r = pci_references; r->table && !check->stop; r++) {
        const struct pci_table *table = pci_table_find(file, r->table);
        if (table)
            check_target(check, table, r);
    }
    for (uint32_t i = 0; i < file->index.header.table_count && !check->stop; i++)
        if (strncmp(file->tables[i].name, "x_", 2) != 0)
            for (const struct pci_reference *r = pci_references_open; r->column; r++)
                check_target(check, &file->tables[i], r);
}

/* value.K and sum.K require row K of sample_types and have one of two types. */
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
        if ((uint64_t)pci_parse_numbered_name(column->name, prefix) >= types) /* -1 is rejected,
                                                                                 too */
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "there is no such sample type");
        if (!((I64 | F64) & PCI_TYPE(column->desc->type)))
            pci_fault(&tally, PCOL_POSITION_UNKNOWN, "this column cannot be of type %s",
                      pcol_type_name((pcol_type)column->desc->type));
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

/* Every root of a tree is in one cell outside of nodes: as many nodes without a parent as cells
 * that
 * refer to nodes, by the index alone. */
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
    if (check->copied) { /* else each one is reported (check_nodes.c, check_columns.c) */
        check_roots(check);
        check_maxima(check);
    }
    for (uint32_t t = 0; t < check->file->index.header.table_count; t++)
        for (uint32_t i = 0; i < check->file->tables[t].column_count; i++)
            check_reference(check, &check->file->tables[t].columns[i]);
    for (size_t i = 0; i < sizeof known / sizeof *known && !check->stop; i++)
        check_known(check, &known[i]);
    check_targets(check);
    check_numbered(check, "samples", "value.");
    check_numbered(check, "stack_sums", "sum.");
    check_numbered(check, "function_sums", "self.");
    check_numbered(check, "function_sums", "total.");
    return PCOL_OK;
}
