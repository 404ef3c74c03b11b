/*
 * v2.c - logical tables of data model v2 whose rows are those of a physical table
 *
 * Required columns come first. Optional columns have a leading dot and exist if their physical
 * column does. Tests: tests/unit/test_model.c, suite columns.
 */
#include "model/content_hashes.h"

#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

/* ---- meta */

struct meta {
    char format[16];
};

static pcol_status str_meta(const pcol_column *column, uint64_t row, size_t count, pcol_str *values,
                            uint8_t *valid, pcol_error *err)
{
    const struct meta *meta = column->table->aux;
    const char *texts[2][2] = {{"version", "2.0"}, {"format", meta->format}};
    (void)err;
    for (size_t i = 0; i < count; i++) {
        const char *text = texts[(row + i) & 1][column->index & 1];
        values[i] = (pcol_str){text, strlen(text)};
    }
    memset(valid, 1, count);
    return PCOL_OK;
}

pcol_status pci_v2_meta(const pcol_file *file, pcol_table **table, pcol_error *err)
{
    unsigned major, minor;
    struct meta *meta;
    pcol_table *t;
    *table = NULL;
    PCI_TRY(pci_table_new(file, "meta", 2, 2, &t, err));
    t->aux = meta = pci_calloc(1, sizeof *meta);
    t->free_aux = pci_free;
    if (!meta) {
        pci_table_free(t);
        return pci_fail_memory(err);
    }
    pcol_file_version(file, &major, &minor);
    snprintf(meta->format, sizeof meta->format, "%u.%u", major & 0xffffu, minor & 0xffffu);
    pci_table_add(t, "key", PCOL_STRING)->primary_key = 1;
    pci_table_add(t, "value", PCOL_STRING);
    for (uint32_t i = 0; i < t->column_count; i++)
        t->columns[i].str = str_meta;
    *table = t;
    return PCOL_OK;
}

/* ---- samples */

static pcol_status bits_ms(const pcol_column *column, uint64_t row, size_t count, int64_t *values,
                           uint8_t *valid, pcol_error *err)
{
    PCI_TRY(pci_read(column->table->file, column->source, row, count, values, valid, err));
    for (size_t i = 0; i < count; i++) {
        double ms = valid[i] ? (double)values[i] / 1e6 : 0;
        memcpy(&values[i], &ms, sizeof ms);
    }
    return PCOL_OK;
}

void pci_column_show_ms(pcol_column *column)
{
    column->type = PCOL_F64;
    column->direct = 0;
    column->bits = bits_ms;
    column->order = PCI_STORED_MS;
}

/* Adds a column of nanoseconds in milliseconds. */
static pcol_status add_ms(pcol_table *table, const char *physical, const char *name,
                          pcol_error *err)
{
    const struct pci_column *source;
    PCI_TRY(pci_find_column(table->file, "samples", physical, PCI_TYPE(PCF_I64), &source, err));
    if (!source)
        return PCOL_OK;
    pci_column_show_ms(pci_table_add_source(table, name, PCOL_F64, source, 0));
    return PCOL_OK;
}

struct optional_column {
    const char *physical, *name, *references;
    unsigned types;
    int64_t offset;
};

/* Adds a column if the file has its physical column. */
static pcol_status add_optional_column(pcol_table *table, const char *physical,
                                       const struct optional_column *optional_column,
                                       pcol_error *err)
{
    const struct pci_column *source;
    PCI_TRY(pci_find_column(table->file, physical, optional_column->physical,
                            optional_column->types, &source, err));
    if (source) {
        pcol_column *column = pci_table_add_source(table, optional_column->name, PCOL_I64, source,
                                                   optional_column->offset);
        column->references = optional_column->references;
    }
    return PCOL_OK;
}

static const int64_t source_one = 1;

static pcol_status fill_samples(pcol_table *t, pcol_error *err)
{
    static const struct optional_column optional_column[] = {
        {"thread", ".thread_id", "threads", PCI_TYPES_ROW, 0},
        {"stack", ".stack_id", "stacks", PCI_TYPES_ROW, 0},
        {"text", ".text", NULL, PCI_TYPES_TEXT, 0},
    };
    static const char *const used[] = {"source", "time", "duration", "cpu_delta", "thread",
                                       "stack",  "text", "value.",   NULL};
    const struct pci_column *source;
    pcol_column *column;
    PCI_TRY(pci_find_column(t->file, "samples", "source", PCI_TYPES_ROW, &source, err));
    pci_table_add_id(t, "sample_id");
    if (source)
        column = pci_table_add_source(t, "source_id", PCOL_I64, source, 1);
    else
        column = pci_table_add_constant(t, "source_id", PCOL_I64, &source_one);
    column->references = "sources";
    column->nullable = 0;
    PCI_TRY(add_ms(t, "time", ".time", err));
    PCI_TRY(add_ms(t, "duration", ".duration", err));
    PCI_TRY(add_ms(t, "cpu_delta", ".cpu_delta", err));
    for (size_t i = 0; i < sizeof optional_column / sizeof *optional_column; i++)
        PCI_TRY(add_optional_column(t, "samples", &optional_column[i], err));
    return pci_table_add_remaining(t, "samples", used, NULL, err);
}

/* Builds a table with the rows of a physical table. */
static pcol_status build_table(const pcol_file *file, const char *name, uint32_t columns,
                               pcol_status (*fill)(pcol_table *, pcol_error *), pcol_table **table,
                               pcol_error *err)
{
    pcol_table *t;
    pcol_status status;
    *table = NULL;
    PCI_TRY(pci_table_new(file, name, pci_rows(file, name), columns, &t, err));
    status = fill(t, err);
    if (status == PCOL_OK)
        *table = t;
    else
        pci_table_free(t);
    return status;
}

pcol_status pci_v2_samples(const pcol_file *file, pcol_table **table, pcol_error *err)
{
    return build_table(file, "samples", 8, fill_samples, table, err);
}

/* ---- locations and functions */

/* Lines below 0 are null in the data model. */
static pcol_status bits_line(const pcol_column *column, uint64_t row, size_t count, int64_t *values,
                             uint8_t *valid, pcol_error *err)
{
    PCI_TRY(pci_read(column->table->file, column->source, row, count, values, valid, err));
    for (size_t i = 0; i < count; i++) {
        if (values[i] < 0)
            values[i] = valid[i] = 0;
    }
    return PCOL_OK;
}

static void add_line(pcol_table *table, const char *name, const struct pci_column *source)
{
    pcol_column *column = pci_table_add_source(table, name, PCOL_I64, source, 0);
    if (source) {
        column->direct = 0;
        column->nullable = 1;
        column->bits = bits_line;
        column->order = PCI_UNORDERED;
    }
}

/* Cursor over locations and their groups. */
struct group_walk {
    const struct pci_stacks *tree;
    uint64_t group, end; /* end: the location after the last one of the group */
};

static pcol_status start_walk(struct group_walk *walk, const struct pci_stacks *tree, uint64_t row,
                              pcol_error *err)
{
    uint64_t first, lines;
    walk->tree = tree;
    PCI_TRY(pci_stacks_group_of(tree, row, &walk->group, err));
    PCI_TRY(pci_stacks_group(tree, walk->group, &first, &lines, err));
    walk->end = first + lines;
    if (row < first || row >= walk->end)
        return pci_corrupt(err, "locations", NULL, row, "the location belongs to no group");
    return PCOL_OK;
}

static pcol_status advance_walk(struct group_walk *walk, uint64_t row, pcol_error *err)
{
    while (row >= walk->end) {
        uint64_t first, lines;
        PCI_TRY(pci_stacks_group(walk->tree, ++walk->group, &first, &lines, err));
        walk->end = first + lines;
    }
    return PCOL_OK;
}

/* A column of location_groups by location; without a source, the row of the group. */
static pcol_status bits_group(const pcol_column *column, uint64_t row, size_t count,
                              int64_t *values, uint8_t *valid, pcol_error *err)
{
    const struct pci_stacks *tree = column->table->aux;
    struct group_walk walk;
    PCI_TRY(start_walk(&walk, tree, row, err));
    for (size_t i = 0; i < count; i++) {
        int present = 1;
        PCI_TRY(advance_walk(&walk, row + i, err));
        values[i] = (int64_t)walk.group;
        if (column->source)
            PCI_TRY(pci_get(tree->file, column->source, walk.group, &values[i], &present, err));
        values[i] = present ? (int64_t)((uint64_t)values[i] + (uint64_t)column->offset) : 0;
        valid[i] = (uint8_t)present;
    }
    return PCOL_OK;
}

/* The last line of a group is the compiled function; earlier lines are inlined into it. */
static pcol_status bits_inline(const pcol_column *column, uint64_t row, size_t count,
                               int64_t *values, uint8_t *valid, pcol_error *err)
{
    struct group_walk walk;
    PCI_TRY(start_walk(&walk, column->table->aux, row, err));
    for (size_t i = 0; i < count; i++) {
        PCI_TRY(advance_walk(&walk, row + i, err));
        values[i] = row + i + 1 < walk.end;
    }
    memset(valid, 1, count);
    return PCOL_OK;
}

/* As bits_group(), for texts. */
static pcol_status str_group(const pcol_column *column, uint64_t row, size_t count,
                             pcol_str *values, uint8_t *valid, pcol_error *err)
{
    const struct pci_stacks *tree = column->table->aux;
    struct group_walk walk;
    PCI_TRY(start_walk(&walk, tree, row, err));
    for (size_t i = 0; i < count; i++) {
        int present;
        PCI_TRY(advance_walk(&walk, row + i, err));
        PCI_TRY(pci_get_str(tree->file, column->source, walk.group, &values[i], &present, err));
        valid[i] = (uint8_t)present;
    }
    return PCOL_OK;
}

static void read_from_group(pcol_column *column)
{
    column->direct = 0;
    column->bits = bits_group;
    column->str = str_group;
    column->codes = column->codes ? bits_group : NULL;
    column->order = PCI_UNORDERED;
}

static pcol_status add_group_columns(pcol_table *t, const struct pci_stacks *tree, pcol_error *err)
{
    static const struct optional_column optional_column[] = {
        {"mapping", ".mapping_id", "mappings", PCI_TYPES_ROW, 0},
        {"address", ".address", NULL, PCI_TYPES_INT, 0},
        {"folded", ".folded", NULL, PCI_TYPE(PCF_BOOL), 0},
        {"id", ".id", NULL, PCI_TYPES_INT, 0},
        {"file_number", ".file_number", NULL, PCI_TYPES_INT, 0},
    };
    static const char *const of_lines[] = {"function", "line", "column", "filename", NULL};
    static const char *const of_groups[] = {"first_location", "mapping", "address", "folded", "id",
                                            "file_number",    NULL};
    if (tree->first) {
        pcol_column *column = pci_table_add(t, ".group_id", PCOL_I64);
        column->references = "location_groups";
        column->bits = bits_group;
    }
    for (size_t i = 0; i < sizeof optional_column / sizeof *optional_column; i++) {
        uint32_t before = t->column_count;
        PCI_TRY(add_optional_column(t, "location_groups", &optional_column[i], err));
        if (t->column_count > before)
            read_from_group(&t->columns[before]);
    }
    if (tree->first)
        pci_table_add(t, ".inline", PCOL_BOOL)->bits = bits_inline;
    pci_table_add_hash(t, PCOL_HASH_LOCATIONS);
    PCI_TRY(pci_table_add_reads(t, &tree->first, 1, err));
    PCI_TRY(pci_table_add_remaining(t, "locations", of_lines, NULL, err));
    return pci_table_add_remaining(t, "location_groups", of_groups, read_from_group, err);
}

static pcol_status fill_locations(pcol_table *t, pcol_error *err)
{
    static const struct optional_column column = {"column", ".column", NULL, PCI_TYPES_INT, 0};
    static const struct optional_column filename = {"filename", ".filename", NULL, PCI_TYPES_TEXT,
                                                    0};
    const struct pci_column *function, *line;
    struct pci_stacks *tree = pci_calloc(1, sizeof *tree);
    t->aux = tree;
    t->free_aux = pci_free;
    if (!tree)
        return pci_fail_memory(err);
    PCI_TRY(pci_stacks_open(t->file, tree, err));
    PCI_TRY(pci_find_column(t->file, "locations", "function", PCI_TYPES_ROW, &function, err));
    PCI_TRY(pci_find_column(t->file, "locations", "line", PCI_TYPE(PCF_I64), &line, err));
    pci_table_add_id(t, "location_id");
    pci_table_add_source(t, "function_id", PCOL_I64, function, 1)->references = "functions";
    add_line(t, "line", line);
    PCI_TRY(add_optional_column(t, "locations", &column, err));
    PCI_TRY(add_optional_column(t, "locations", &filename, err));
    return add_group_columns(t, tree, err);
}

pcol_status pci_v2_locations(const pcol_file *file, pcol_table **table, pcol_error *err)
{
    return build_table(file, "locations", 13, fill_locations, table, err);
}

/* A function without a system name has its name as system name. */
static pcol_status str_system(const pcol_column *column, uint64_t row, size_t count,
                              pcol_str *values, uint8_t *valid, pcol_error *err)
{
    const pcol_file *file = column->table->file;
    const struct pci_column *name = column->aux;
    PCI_TRY(pci_read_str(file, column->source, row, count, values, valid, err));
    for (size_t i = 0; name && i < count; i++) {
        int present;
        if (valid[i])
            continue;
        PCI_TRY(pci_get_str(file, name, row + i, &values[i], &present, err));
        valid[i] = (uint8_t)present;
    }
    return PCOL_OK;
}

static pcol_status codes_system(const pcol_column *column, uint64_t row, size_t count,
                                int64_t *codes, uint8_t *valid, pcol_error *err)
{
    const pcol_file *file = column->table->file;
    const struct pci_column *name = column->aux;
    PCI_TRY(pci_read(file, column->source, row, count, codes, valid, err));
    for (size_t i = 0; name && i < count; i++) {
        int present;
        if (valid[i])
            continue;
        PCI_TRY(pci_get(file, name, row + i, &codes[i], &present, err));
        valid[i] = (uint8_t)present;
    }
    return PCOL_OK;
}

static pcol_status fill_functions(pcol_table *t, pcol_error *err)
{
    static const struct optional_column id = {"id", ".id", NULL, PCI_TYPES_INT, 0};
    static const char *const used[] = {"name", "system_name", "filename", "start_line", "id", NULL};
    const struct pci_column *name, *system, *filename, *line;
    pcol_column *column;
    PCI_TRY(pci_find_column(t->file, "functions", "name", PCI_TYPES_TEXT, &name, err));
    PCI_TRY(pci_find_column(t->file, "functions", "system_name", PCI_TYPES_TEXT, &system, err));
    PCI_TRY(pci_find_column(t->file, "functions", "filename", PCI_TYPES_TEXT, &filename, err));
    PCI_TRY(pci_find_column(t->file, "functions", "start_line", PCI_TYPE(PCF_I64), &line, err));
    pci_table_add_id(t, "function_id");
    pci_table_add_source(t, "name", PCOL_STRING, name, 0);
    column = pci_table_add_source(t, "system_name", PCOL_STRING, system ? system : name, 0);
    if (column->nullable && system) {
        column->direct = 0;
        column->aux = name;
        column->str = str_system;
        column->codes =
            column->codes && (!name || name->desc->type == PCF_STRING) ? codes_system : NULL;
        column->order = PCI_UNORDERED;
        PCI_TRY(pci_table_add_reads(t, &name, 1, err));
    }
    pci_table_add_source(t, "filename", PCOL_STRING, filename, 0);
    add_line(t, "start_line", line);
    PCI_TRY(add_optional_column(t, "functions", &id, err));
    pci_table_add_hash(t, PCOL_HASH_FUNCTIONS);
    return pci_table_add_remaining(t, "functions", used, NULL, err);
}

pcol_status pci_v2_functions(const pcol_file *file, pcol_table **table, pcol_error *err)
{
    return build_table(file, "functions", 7, fill_functions, table, err);
}
