/*
 * tables.c - columns and tables of a pcol file that are copied as they are
 *
 * Their rows go behind those that the builder's table of the same name has. A column that refers to
 * another table is translated by that table's map, or, where that is put behind too, by adding the
 * number of rows which were there before. Samples are only ever appended: a row number among them,
 * which may be one past the last, is moved likewise.
 */
#include "merge/merge.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The map for rows of a table; NULL: there is none, rows are moved by the table's base. */
static const uint32_t *map_of(const struct pci_merge *m, const struct pci_table *table,
                              uint64_t *count)
{
    const struct {
        const char *name;
        const uint32_t *map;
        uint64_t count;
    } maps[] = {{"stacks", m->stacks, m->stack_count},
                {"location_groups", m->groups, m->group_count},
                {"functions", m->functions, m->function_count},
                {"sources", m->sources, m->source_count},
                {"sample_types", m->types, m->type_count},
                {"label_shapes", m->label_shapes, m->label_shape_count},
                {"label_keys", m->label_keys, m->label_key_count}};
    *count = table->rows;
    if (m->maps[table->number])
        return m->maps[table->number];
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (!strcmp(table->name, maps[i].name)) {
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

static pcol_status no_row(const struct pci_column *at, uint64_t at_row, uint64_t row,
                          const struct pci_table *to, pcol_error *err)
{
    return pci_fail_cell(err, PCOL_E_CORRUPT, at ? at->table->name : "nodes",
                         at ? at->name : "integer", at_row, "%" PRIu64 " names no row of %s", row,
                         to->name);
}

pcol_status pci_merge_row(struct pci_merge *merge, const struct pci_table *to,
                          const struct pci_column *at, uint64_t at_row, uint64_t row, uint64_t *out,
                          int *left, pcol_error *err)
{
    const struct pci_merge *m = merge;
    uint64_t count;
    const uint32_t *map = map_of(m, to, &count);
    int is_samples = !strcmp(to->name, "samples");
    /* A position, which is no declared reference, may be behind the last sample. */
    unsigned past = is_samples && at && !at->references;
    *left = 0;
    *out = 0;
    if (map) {
        if (row >= count || (map[row] == PCOL_NONE && !m->partial))
            return no_row(at, at_row, row, to, err);
        *left = map[row] == PCOL_NONE;
        *out = map[row];
        return PCOL_OK;
    }
    if (row >= to->rows + past)
        return no_row(at, at_row, row, to, err);
    if (!strcmp(to->name, "nodes"))
        return pci_merge_node(merge, row, out, err);
    *left = m->partial && !is_samples;
    *out = m->positions ? m->positions[row] : m->base[to->number] + row;
    return PCOL_OK;
}

/* Of the tables that are neither put behind nor unified: those whose rows are known all the
 * same. */
static int can_move(const char *table)
{
    static const char *const names[] = {"stacks",  "location_groups", "functions",
                                        "sources", "sample_types",    "label_shapes",
                                        "nodes",   "label_keys",      "samples"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(table, names[i]))
            return 1;
    return 0;
}

/* Row of label_keys of a column "label.K", whose kind must be one with columns. */
static pcol_status label_column(struct pci_merge *m, const struct pci_column *column,
                                uint32_t *number, pcol_error *err)
{
    unsigned long k = strtoul(column->name + 6, NULL, 10);
    uint32_t key = k < m->label_key_count ? m->label_keys[k] : PCOL_NONE;
    if (key != PCOL_NONE)
        PCI_TRY(pci_label_column(m->builder, key, number, err));
    if (key == PCOL_NONE || *number == PCOL_NONE ||
        m->builder->columns[*number]->table != m->tables[column->table->number])
        return pci_fail_cell(err, PCOL_E_CORRUPT, column->table->name, column->name, PCOL_NOWHERE,
                             "no row of label_keys stands for this column");
    return PCOL_OK;
}

pcol_status pci_merge_column(struct pci_merge *merge, const struct pci_column *column,
                             uint32_t table, uint32_t *number, pcol_error *err)
{
    const struct pci_table *to = column->references;
    *number = PCOL_NONE;
    if (!column->supported || !column->desc)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_NOWHERE, "column needs a newer reader");
    if (pci_merge_is_label(column->name) && strcmp(column->name, "label_shape") != 0)
        return label_column(merge, column, number, err);
    if (to && merge->how[to->number] == PCI_MERGE_OTHERWISE && !can_move(to->name))
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_NOWHERE, "references to rows of %s cannot be moved", to->name);
    uint32_t references = 0;
    if (to) {
        PCI_TRY(pcol_builder_table(merge->builder, to->name, &references, err));
        references++;
    }
    pcol_status status =
        pcol_builder_column(merge->builder, table, column->name, (pcol_type)column->desc->type,
                            references, number, err);
    if (status == PCOL_E_ARGUMENT)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_NOWHERE, "another file has this column with another type");
    return status;
}

pcol_status pci_merge_bits(struct pci_merge *merge, struct pci_cells *cells, uint64_t row,
                           int64_t *bits, int *valid, pcol_error *err)
{
    const struct pci_column *from = cells->column;
    const struct pci_table *to;
    uint64_t out;
    int left;
    *bits = 0;
    if (from->desc->type == PCF_STRING) {
        uint32_t string;
        PCI_TRY(pci_cells_string(cells, merge, row, &string, err));
        *valid = string != PCOL_NONE;
        *bits = string;
        return PCOL_OK;
    }
    PCI_TRY(pci_cells_get(cells, row, bits, valid, err));
    to = *valid && from->desc->type != PCF_F64 ? refers_to(merge, from) : NULL;
    if (!to)
        return PCOL_OK;
    merge->of_samples = !strcmp(from->table->name, "samples");
    PCI_TRY(pci_merge_row(merge, to, from, row, (uint64_t)*bits, &out, &left, err));
    *bits = (int64_t)out;
    *valid = !left;
    return PCOL_OK;
}

static pcol_status put_name(struct pci_merge *merge, struct pci_cells *cells, pcol_str text,
                            uint32_t column, uint64_t to, pcol_error *err)
{
    uint32_t string;
    PCI_TRY(pci_keep_string(merge, cells, text, &string, err));
    if (string == PCOL_NONE)
        return PCOL_OK;
    text = pci_string_pool_get(&merge->builder->strings, string);
    return pcol_builder_set_str(merge->builder, column, to, text.data, text.size, err);
}

pcol_status pci_merge_cell(struct pci_merge *merge, struct pci_cells *cells, uint32_t column,
                           uint64_t row, uint64_t to, pcol_error *err)
{
    int64_t value;
    int valid;
    if (cells->column->desc->type == PCF_BYTES) {
        pcol_str text;
        PCI_TRY(pci_get_str(merge->file, cells->column, row, &text, &valid, err));
        if (valid && merge->keep && merge->keep->names)
            return put_name(merge, cells, text, column, to, err);
        return valid ? pcol_builder_set_str(merge->builder, column, to, text.data, text.size, err)
                     : PCOL_OK;
    }
    PCI_TRY(pci_merge_bits(merge, cells, row, &value, &valid, err));
    return valid ? pci_builder_set_bits(merge->builder, column, to, value, err) : PCOL_OK;
}

static pcol_status copy_labels(struct pci_merge *m, const struct pci_table *table, uint64_t rows,
                               pcol_error *err)
{
    struct pci_merge_label_rows labels;
    const uint32_t *map = m->maps[table->number];
    pcol_status status = pci_label_rows_open(&labels, m, table, m->tables[table->number], err);
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row++)
        if (!map || map[row] != PCOL_NONE)
            status = pci_label_rows_put(&labels, row, map ? map[row] : m->base[table->number] + row,
                                        err);
    pci_label_rows_close(&labels);
    return status;
}

static pcol_status copy_table(struct pci_merge *merge, const struct pci_table *table,
                              struct pci_cells *cells, pcol_error *err)
{
    uint32_t to = merge->tables[table->number];
    const uint32_t *map = merge->maps[table->number]; /* only where rows are left behind */
    uint64_t base = merge->base[table->number], rows, end = base;
    int by_row = merge->labels[table->number] == PCI_LABELS_ROWS;
    PCI_TRY(pci_merge_rows(merge->file, table->name, &rows, err));
    for (uint32_t i = 0; i < table->column_count; i++) {
        uint32_t number;
        if (!pci_merge_keeps_column(merge, &table->columns[i]))
            continue;
        PCI_TRY(pci_merge_column(merge, &table->columns[i], to, &number, err));
        if (by_row && pci_merge_is_label(table->columns[i].name))
            continue;
        PCI_TRY(pci_cells_use(cells, merge->file, &table->columns[i], err));
        for (uint64_t row = 0; row < rows; row++)
            if (!map || map[row] != PCOL_NONE)
                PCI_TRY(
                    pci_merge_cell(merge, cells, number, row, map ? map[row] : base + row, err));
    }
    if (by_row)
        PCI_TRY(copy_labels(merge, table, rows, err));
    for (uint64_t row = 0; row < rows; row++)
        end += !map || map[row] != PCOL_NONE;
    struct pci_table_buffer *known = &merge->builder->tables[to];
    if (known->rows < end)
        known->rows = end;
    known->flags |= table->flags;
    return PCOL_OK;
}

pcol_status pci_merge_tables(struct pci_merge *merge, int late, pcol_error *err)
{
    const pcol_file *file = merge->file;
    struct pci_cells *cells = pci_malloc(1, sizeof *cells);
    pcol_status status = PCOL_OK;
    if (!cells)
        return pci_fail_memory(err);
    for (uint32_t i = 0; status == PCOL_OK && i < file->index.header.table_count; i++) {
        const char *name = file->tables[i].name;
        int is_late =
            merge->partial && (!strcmp(name, "rprof_segments") || !strcmp(name, "rprof_files"));
        if (merge->how[i] == PCI_MERGE_APPEND && (!merge->partial || merge->maps[i]) &&
            is_late == late)
            status = copy_table(merge, &file->tables[i], cells, err);
    }
    pci_free(cells);
    return status;
}
