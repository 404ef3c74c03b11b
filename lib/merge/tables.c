/*
 * tables.c - columns and tables that are copied with translated references
 *
 * Rows are appended to those of the builder's table of the same name. A reference is translated by
 * the map of its table, or, if that is appended, by adding the builder's earlier row count. Samples
 * are only appended: a position among them, which may be one past the last, is translated likewise.
 */
#include "merge/added_frames.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The row map of a table; NULL: rows are translated by the table's base. */
static const uint32_t *get_row_map(const struct pci_merge *m, const struct pci_table *table,
                                   uint64_t *count)
{
    const struct {
        const char *name;
        const uint32_t *map;
        uint64_t count;
    } row_maps[] = {{"stacks", m->stacks, m->stack_count},
                    {"location_groups", m->groups, m->group_count},
                    {"functions", m->functions, m->function_count},
                    {"sources", m->sources, m->source_count},
                    {"sample_types", m->types, m->type_count},
                    {"label_shapes", m->label_shapes, m->label_shape_count},
                    {"label_keys", m->label_keys, m->label_key_count}};
    *count = table->rows;
    if (m->row_maps[table->number])
        return m->row_maps[table->number];
    for (size_t i = 0; i < sizeof row_maps / sizeof row_maps[0]; i++) {
        if (!strcmp(table->name, row_maps[i].name)) {
            *count = row_maps[i].count;
            return row_maps[i].map;
        }
    }
    return NULL;
}

/* The table that a column refers to. A position among the samples may be one past the last, so that
 * it cannot be declared a reference. */
static const struct pci_table *get_reference(const struct pci_merge *m,
                                             const struct pci_column *column)
{
    return column->schema->flags & PCI_SAMPLE_POSITION ? pci_table_find(m->file, "samples")
                                                       : column->references;
}

/* 1 if a table has such positions, which are known after the samples are copied. */
static int has_positions(const struct pci_schema_row *table)
{
    for (const struct pci_schema_row *row = table + 1; row->column; row++)
        if (row->flags & PCI_SAMPLE_POSITION)
            return 1;
    return 0;
}

static pcol_status fail_row(const struct pci_column *from, uint64_t from_row, uint64_t row,
                            const struct pci_table *to, pcol_error *err)
{
    return pci_corrupt(err, from ? from->table->name : "nodes", from ? from->name : "integer",
                       from_row, "%" PRIu64 " names no row of %s", row, to->name);
}

const uint32_t *pci_merge_row_map(const struct pci_merge *merge, const struct pci_table *to,
                                  uint64_t *count)
{
    const uint32_t *map = get_row_map(merge, to, count);
    return merge->placed && map == merge->stacks ? NULL : map; /* filled on demand */
}

pcol_status pci_merge_row(struct pci_merge *merge, const struct pci_table *to,
                          const struct pci_column *from, uint64_t from_row, uint64_t row,
                          uint64_t *out, int *omitted, pcol_error *err)
{
    const struct pci_merge *m = merge;
    uint64_t count;
    const uint32_t *map = get_row_map(m, to, &count);
    if (m->placed && map == m->stacks && row && row < count && m->used_stacks[row])
        PCI_TRY(pci_placed_stack(m->placed, 0, (uint32_t)row, &m->stacks[row], err));
    int is_samples = !strcmp(to->name, "samples");
    /* An undeclared reference is a position: one past the last sample is valid. */
    unsigned extra_row = is_samples && from && !from->references;
    *omitted = 0;
    *out = 0;
    if (map) {
        if (row >= count || (map[row] == PCOL_NONE && !m->partial))
            return fail_row(from, from_row, row, to, err);
        *omitted = map[row] == PCOL_NONE;
        *out = map[row];
        return PCOL_OK;
    }
    if (row >= to->rows + extra_row)
        return fail_row(from, from_row, row, to, err);
    if (!strcmp(to->name, "nodes"))
        return pci_merge_node(merge, row, out, err);
    *omitted = m->partial && !is_samples;
    *out = is_samples && m->sample_positions ? m->sample_positions[row] : m->base[to->number] + row;
    return PCOL_OK;
}

/* Row of label_keys of a column "label.K", whose kind must have columns. */
static pcol_status find_label_column(struct pci_merge *m, const struct pci_column *column,
                                     uint32_t *number, pcol_error *err)
{
    unsigned long k = strtoul(column->name + 6, NULL, 10);
    uint32_t key = k < m->label_key_count ? m->label_keys[k] : PCOL_NONE;
    if (key != PCOL_NONE)
        PCI_TRY(pci_label_column(m->builder, key, number, err));
    if (key == PCOL_NONE || *number == PCOL_NONE ||
        m->builder->columns[*number]->table != m->tables[column->table->number])
        return pci_corrupt(err, column->table->name, column->name, PCOL_POSITION_UNKNOWN,
                           "no row of label_keys describes this column");
    return PCOL_OK;
}

pcol_status pci_merge_column(struct pci_merge *merge, const struct pci_column *column,
                             uint32_t table, uint32_t *number, pcol_error *err)
{
    const struct pci_table *to = column->references;
    *number = PCOL_NONE;
    if (!column->supported || !column->desc)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_POSITION_UNKNOWN, "column needs a newer reader");
    if (pci_merge_is_label(column->name) && strcmp(column->name, "label_shape") != 0)
        return find_label_column(merge, column, number, err);
    if (to && merge->actions[to->number] == PCI_MERGE_SPECIAL &&
        !(to->schema->table_flags & PCI_TABLE_MAPPED))
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_POSITION_UNKNOWN, "references to rows of %s cannot be moved",
                             to->name);
    uint32_t references = 0;
    if (to) {
        PCI_TRY(pcol_builder_table(merge->builder, to->name, &references, err));
        references++;
    }
    pcol_status status = pci_builder_column(merge->builder, table, column->name,
                                            (pcol_type)column->desc->type, references, number, err);
    if (status == PCOL_E_ARGUMENT)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_POSITION_UNKNOWN,
                             "another file has this column with another type");
    return status;
}

pcol_status pci_merge_bits(struct pci_merge *merge, struct pci_cells *cells, uint64_t row,
                           int64_t *bits, int *valid, pcol_error *err)
{
    const struct pci_column *from = cells->column;
    const struct pci_table *to;
    uint64_t out;
    int omitted;
    *bits = 0;
    if (from->desc->type == PCF_STRING) {
        uint32_t string;
        PCI_TRY(pci_cells_string(cells, merge, row, &string, err));
        *valid = string != PCOL_NONE;
        *bits = string;
        return PCOL_OK;
    }
    PCI_TRY(pci_cells_get(cells, row, bits, valid, err));
    to = *valid && from->desc->type != PCF_F64 ? get_reference(merge, from) : NULL;
    if (!to)
        return PCOL_OK;
    merge->tree_of_sample = !strcmp(from->table->name, "samples");
    merge->tree_sample = row;
    PCI_TRY(pci_merge_row(merge, to, from, row, (uint64_t)*bits, &out, &omitted, err));
    *bits = (int64_t)out;
    *valid = !omitted;
    return PCOL_OK;
}

static pcol_status set_pseudonym(struct pci_merge *merge, struct pci_cells *cells, pcol_str text,
                                 uint32_t column, uint64_t to, pcol_error *err)
{
    uint32_t string;
    PCI_TRY(pci_merge_text(merge, cells->column->schema->anonymize, text, &string, err));
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
        if (valid && merge->selection && merge->selection->names)
            return set_pseudonym(merge, cells, text, column, to, err);
        return valid ? pcol_builder_set_str(merge->builder, column, to, text.data, text.size, err)
                     : PCOL_OK;
    }
    PCI_TRY(pci_merge_bits(merge, cells, row, &value, &valid, err));
    return valid ? pci_builder_set_bits(merge->builder, column, to, value, err) : PCOL_OK;
}

/* Translates the first `count` cells of the batch. */
static pcol_status translate_batch(struct pci_merge *m, struct pci_cells *cells, size_t count,
                                   int64_t *bits, uint8_t *valid, pcol_error *err)
{
    int is_text = cells->column->desc->type == PCF_STRING, is_valid;
    const struct pci_table *to = is_text ? NULL : get_reference(m, cells->column);
    const uint32_t *map = m->strings;
    uint64_t rows = m->string_count;
    if (!is_text && (!to || cells->column->desc->type == PCF_F64)) {
        memcpy(bits, cells->value, count * sizeof *bits);
        memcpy(valid, cells->valid, count);
        return PCOL_OK;
    }
    if (to)
        map = pci_merge_row_map(m, to, &rows);
    for (size_t i = 0; i < count; i++) {
        uint64_t code = (uint64_t)cells->value[i];
        valid[i] = cells->valid[i] != 0;
        bits[i] = 0;
        if (valid[i] && map && code < rows && map[code] != PCOL_NONE) {
            bits[i] = map[code];
        } else if (valid[i]) {
            PCI_TRY(pci_merge_bits(m, cells, cells->first + i, &bits[i], &is_valid, err));
            valid[i] = is_valid != 0;
        }
    }
    return PCOL_OK;
}

pcol_status pci_merge_cells(struct pci_merge *merge, struct pci_cells *cells, uint32_t column,
                            uint64_t row, uint64_t to, size_t count, pcol_error *err)
{
    int64_t bits[PCI_MERGE_BATCH];
    uint8_t valid[PCI_MERGE_BATCH];
    if (cells->column->desc->type == PCF_BYTES) {
        for (size_t i = 0; i < count; i++)
            PCI_TRY(pci_merge_cell(merge, cells, column, row + i, to + i, err));
        return PCOL_OK;
    }
    PCI_TRY(pci_cells_batch(cells, row, count, &count, err));
    PCI_TRY(translate_batch(merge, cells, count, bits, valid, err));
    return pci_builder_set_cells(merge->builder, column, to, bits, valid, count, err);
}

static pcol_status copy_labels(struct pci_merge *m, const struct pci_table *table, uint64_t rows,
                               pcol_error *err)
{
    struct pci_merge_label_rows labels;
    const uint32_t *map = m->row_maps[table->number];
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
    const uint32_t *map = merge->row_maps[table->number]; /* NULL if all rows are copied */
    uint64_t base = merge->base[table->number], rows, end = base;
    int by_row = merge->labels[table->number] == PCI_LABELS_ROWS;
    PCI_TRY(pci_merge_rows(merge->file, table->name, &rows, err));
    for (uint32_t i = 0; i < table->column_count; i++) {
        uint32_t number;
        if (!pci_merge_copies_column(merge, &table->columns[i]))
            continue;
        PCI_TRY(pci_merge_column(merge, &table->columns[i], to, &number, err));
        if (by_row && pci_merge_is_label(table->columns[i].name))
            continue;
        PCI_TRY(pci_cells_use(cells, merge->file, &table->columns[i], err));
        for (uint64_t row = 0; map && row < rows; row++)
            if (map[row] != PCOL_NONE)
                PCI_TRY(pci_merge_cell(merge, cells, number, row, map[row], err));
        for (uint64_t row = 0; !map && row < rows; row += PCI_MERGE_BATCH) {
            uint64_t count = rows - row < PCI_MERGE_BATCH ? rows - row : PCI_MERGE_BATCH;
            PCI_TRY(pci_merge_cells(merge, cells, number, row, base + row, (size_t)count, err));
        }
    }
    if (by_row)
        PCI_TRY(copy_labels(merge, table, rows, err));
    for (uint64_t row = 0; row < rows; row++)
        end += !map || map[row] != PCOL_NONE;
    struct pci_table_buffer *buffer = &merge->builder->tables[to];
    if (buffer->rows < end)
        buffer->rows = end;
    buffer->flags |= table->flags;
    return PCOL_OK;
}

pcol_status pci_merge_tables(struct pci_merge *merge, int late, pcol_error *err)
{
    const pcol_file *file = merge->file;
    struct pci_cells *cells;
    pcol_status status = PCOL_OK;
    PCI_TRY(PCI_MALLOC(cells, 1, err));
    for (uint32_t i = 0; status == PCOL_OK && i < file->index.header.table_count; i++) {
        int is_late = pci_merge_moves_samples(merge) && has_positions(file->tables[i].schema);
        if (merge->actions[i] == PCI_MERGE_APPEND && (!merge->partial || merge->row_maps[i]) &&
            is_late == late)
            status = copy_table(merge, &file->tables[i], cells, err);
    }
    pci_free(cells);
    return status;
}
