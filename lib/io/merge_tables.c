/*
 * merge_tables.c - tables of a pcol file that are copied as they are
 *
 * Their rows go behind those that the builder's table of the same name has. A column that refers to
 * another table is translated by that table's map, or, where that is copied as it is too, by adding
 * the number of rows which were there before. Samples are only ever appended: a row number among
 * them, which may be one past the last, is moved likewise.
 */
#include "io/merge.h"

#include "core/alloc.h"

#include <inttypes.h>
#include <string.h>

/* Tables that are fed to the builder by other means, or made by it. */
static int is_copied(const char *name)
{
    static const char *const others[] = {
        "strings",      "sources",       "sample_types",    "source_types", "functions",
        "locations",    "stacks",        "samples",         "stack_sums",   "location_groups",
        "sample_zones", "sample_values", "sample_locations"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcmp(name, others[i]))
            return 0;
    return 1;
}

/* The map for rows of a table; NULL: there is none, rows are moved by the table's base. */
static const uint32_t *map_of(const struct pci_merge *m, const char *table, uint64_t *count)
{
    const struct {
        const char *name;
        const uint32_t *map;
        uint64_t count;
    } maps[] = {{"sources", m->sources, m->source_count},
                {"sample_types", m->types, m->type_count},
                {"functions", m->functions, m->function_count},
                {"location_groups", m->groups, m->group_count},
                {"stacks", m->stacks, m->stack_count}};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (!strcmp(table, maps[i].name)) {
            *count = maps[i].count;
            return maps[i].map;
        }
    }
    return NULL;
}

/* What a column refers to. Two columns of Rprof say where among the samples something stood, which
 * may be behind the last one; as declared references, such numbers would name no row. */
static const struct pci_table *refers_to(const struct pci_merge *m, const struct pci_column *column)
{
    static const char *const positions[][2] = {{"rprof_segments", "first_sample"},
                                               {"rprof_files", "before_sample"}};
    for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++)
        if (!strcmp(column->table->name, positions[i][0]) && !strcmp(column->name, positions[i][1]))
            return pci_table_find(m->file, "samples");
    return column->references;
}

static pcol_status translate(const struct pci_merge *m, const struct pci_cells *cells,
                             const struct pci_table *to, uint64_t row, int64_t *value,
                             pcol_error *err)
{
    const struct pci_column *column = cells->column;
    uint64_t count = 0, number = (uint64_t)*value;
    const uint32_t *map = map_of(m, to->name, &count);
    int samples = !strcmp(to->name, "samples");
    if (map ? number >= count || map[number] == PCOL_NONE : number >= to->rows + (unsigned)samples)
        return pci_fail_cell(err, PCOL_E_CORRUPT, column->table->name, column->name, row,
                             "%" PRIu64 " names no row of %s", number, to->name);
    *value = (int64_t)(map ? map[number] : number + m->base[to->number]);
    return PCOL_OK;
}

pcol_status pci_merge_column(struct pci_merge *merge, const struct pci_column *column,
                             uint32_t table, uint32_t *number, pcol_error *err)
{
    const struct pci_table *to = column->references;
    uint64_t count;
    *number = PCOL_NONE;
    if (!column->supported || !column->desc)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_NOWHERE, "column needs a newer reader");
    if (to && strcmp(to->name, "samples") != 0 && !is_copied(to->name) &&
        !map_of(merge, to->name, &count))
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_NOWHERE, "references to rows of %s cannot be moved", to->name);
    uint32_t references = 0;
    if (to) {
        PCI_TRY(pcol_builder_table(merge->builder, to->name, &references, err));
        references++;
    }
    return pcol_builder_column(merge->builder, table, column->name, (pcol_type)column->desc->type,
                               references, number, err);
}

pcol_status pci_merge_cell(struct pci_merge *merge, struct pci_cells *cells, uint32_t column,
                           uint64_t row, uint64_t to, pcol_error *err)
{
    pcol_builder *b = merge->builder;
    const struct pci_column *from = cells->column;
    int64_t value;
    int valid;
    if (from->desc->type == PCF_BYTES) {
        pcol_str text;
        PCI_TRY(pci_get_str(merge->file, from, row, &text, &valid, err));
        return valid ? pcol_builder_set_str(b, column, to, text.data, text.size, err) : PCOL_OK;
    }
    if (from->desc->type == PCF_STRING) {
        uint32_t string;
        PCI_TRY(pci_cells_string(cells, merge, row, &string, err));
        return string == PCOL_NONE ? PCOL_OK : pci_bcol_set(b->columns[column], to, string, err);
    }
    PCI_TRY(pci_cells_get(cells, row, &value, &valid, err));
    if (!valid)
        return PCOL_OK;
    if (from->desc->type == PCF_F64)
        return pci_bcol_set(b->columns[column], to, value, err);
    const struct pci_table *refers = refers_to(merge, from);
    if (refers)
        PCI_TRY(translate(merge, cells, refers, row, &value, err));
    return pcol_builder_set_i64(b, column, to, value, err);
}

static pcol_status copy_table(struct pci_merge *merge, const struct pci_table *table,
                              struct pci_cells *cells, pcol_error *err)
{
    uint32_t to = merge->tables[table->number];
    uint64_t base = merge->base[table->number];
    uint64_t rows;
    PCI_TRY(pci_merge_rows(merge->file, table->name, &rows, err));
    for (uint32_t i = 0; i < table->column_count; i++) {
        uint32_t number;
        PCI_TRY(pci_merge_column(merge, &table->columns[i], to, &number, err));
        PCI_TRY(pci_cells_use(cells, merge->file, &table->columns[i], err));
        for (uint64_t row = 0; row < rows; row++)
            PCI_TRY(pci_merge_cell(merge, cells, number, row, base + row, err));
    }
    struct pci_btable *known = &merge->builder->tables[to];
    if (known->rows < base + rows)
        known->rows = base + rows;
    known->flags |= table->flags;
    return PCOL_OK;
}

static uint64_t rows_so_far(const pcol_builder *b, uint32_t table)
{
    uint64_t rows = table == PCI_T_SAMPLES ? b->sample_count : b->tables[table].rows;
    for (size_t i = 0; i < b->column_count; i++)
        if (b->columns[i]->table == table && b->columns[i]->rows > rows)
            rows = b->columns[i]->rows;
    return rows;
}

/* Before anything is added: where the rows of each table will go. */
pcol_status pci_merge_place(struct pci_merge *merge, pcol_error *err)
{
    const pcol_file *file = merge->file;
    uint32_t count = file->index.header.table_count;
    PCI_TRY(pci_merge_map(&merge->tables, count, err));
    merge->base = pci_calloc(count, sizeof *merge->base);
    if (!merge->base)
        return pci_fail_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = file->tables[i].name;
        if (merge->partial && is_copied(name))
            continue;
        PCI_TRY(pcol_builder_table(merge->builder, name, &merge->tables[i], err));
        merge->base[i] = rows_so_far(merge->builder, merge->tables[i]);
    }
    return PCOL_OK;
}

pcol_status pci_merge_tables(struct pci_merge *merge, pcol_error *err)
{
    const pcol_file *file = merge->file;
    if (merge->partial)
        return PCOL_OK;
    struct pci_cells *cells = pci_malloc(1, sizeof *cells);
    pcol_status status = PCOL_OK;
    if (!cells)
        return pci_fail_memory(err);
    for (uint32_t i = 0; status == PCOL_OK && i < file->index.header.table_count; i++)
        if (is_copied(file->tables[i].name))
            status = copy_table(merge, &file->tables[i], cells, err);
    pci_free(cells);
    return status;
}
