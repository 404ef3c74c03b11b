/*
 * write_columns.c - columns of the document's tables, restored or copied from source_cells
 *
 * Preserved cells are untrusted: they are checked as the reader checks cells of its input. Tests:
 * tests/roundtrip/firefox.
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"
#include "util/strbuf.h"

/* Load preserved cells of a column from source_cells. */
static pcol_status load_preserved_cells(struct pci_ff_native *b,
                                        const struct pci_ff_preserved *column,
                                        struct pci_ff_cells *cells, pcol_error *err)
{
    static const char name[] = "source_cells";
    const struct pci_column *kind, *integer, *number, *text;
    PCI_TRY(pci_find_column(b->file, name, "kind", PCI_TYPES_INT, &kind, err));
    PCI_TRY(pci_find_column(b->file, name, "integer", PCI_TYPES_INT, &integer, err));
    PCI_TRY(pci_find_column(b->file, name, "number", PCI_TYPE(PCF_F64), &number, err));
    PCI_TRY(pci_find_column(b->file, name, "text", PCI_TYPE(PCF_STRING), &text, err));
    for (uint64_t i = column->first; i < column->first + column->count; i++) {
        int64_t cell_kind, value = 0;
        int valid;
        PCI_TRY(pci_get(b->file, kind, i, &cell_kind, &valid, err));
        if (cell_kind < PCI_FF_NULL || cell_kind > PCI_FF_JSON)
            return pci_corrupt(err, name, "kind", i, "unknown kind");
        if (cell_kind >= PCI_FF_INT) {
            PCI_TRY(pci_get(b->file,
                            cell_kind == PCI_FF_INT      ? integer
                            : cell_kind == PCI_FF_DOUBLE ? number
                                                         : text,
                            i, &value, &valid, err));
            if (!valid)
                return pci_corrupt(err, name, "kind", i, "a cell has no value");
        }
        PCI_TRY(pci_ff_cells_add(cells, (int)cell_kind, value, err));
    }
    return PCOL_OK;
}

static int is_samples(const struct pci_ff_native *b, const struct pci_ff_preserved *column)
{
    return b->has_joins && column->thread != PCOL_NONE && pci_str_is(column->table, "samples");
}

/* Number of rows of a table of the current thread. */
static pcol_status row_count(struct pci_ff_native *b, int id, uint64_t *rows, pcol_error *err)
{
    const struct pci_order *order;
    if (id <= PCI_FF_STACKS) {
        PCI_TRY(pci_ff_native_order(b, id, &order, err));
        *rows = order->count;
    } else {
        const struct pci_ff_thread_rows *t = &b->threads[b->thread - b->first_thread];
        *rows = id == PCI_FF_SAMPLES          ? t->samples.count
                : id == PCI_FF_MARKERS        ? t->markers.count
                : id == PCI_FF_JS_ALLOCATIONS ? t->allocations[0].count
                                              : t->allocations[1].count;
    }
    return PCOL_OK;
}

/* ---- preserved cells: the same checks as in the reader */

static pcol_status fail_preserved(const struct pci_ff_preserved *column, uint64_t cell,
                                  const char *problem, pcol_error *err)
{
    return pci_corrupt(err, "source_cells", NULL, column->first + cell, "%.*s.%.*s: %s",
                       (int)(column->table.size < 40 ? column->table.size : 40), column->table.data,
                       (int)(column->column.size < 40 ? column->column.size : 40),
                       column->column.data, problem);
}

/* The table whose rows a column refers to; -1: none. */
static int target_of(int id, pcol_str column)
{
    if (id < 0 || id == PCI_FF_STACKS || id == PCI_FF_SAMPLES)
        return id == PCI_FF_STACKS && pci_str_is(column, "frame")    ? PCI_FF_FRAMES
               : id == PCI_FF_SAMPLES && pci_str_is(column, "stack") ? PCI_FF_STACKS
                                                                     : -1;
    const struct pci_ff_layout *l = &pci_ff_schema[id];
    for (size_t i = 0; i < l->count; i++) {
        const struct pci_ff_spec *spec = &l->specs[i];
        if (!pci_str_is(column, spec->name))
            continue;
        if (spec->conversion == PCI_FF_AS_STRING && spec->strict)
            return PCI_FF_STRINGS;
        if (spec->conversion == PCI_FF_AS_ROW || spec->conversion == PCI_FF_AS_ROW_NONE)
            return spec->target == PCI_FF_CATEGORIES ? -1 : spec->target;
    }
    return -1;
}

static pcol_status check_numbers(struct pci_ff_native *b, int id,
                                 const struct pci_ff_preserved *column,
                                 struct pci_ff_cursor *cursor, uint64_t count, pcol_error *err)
{
    int target = target_of(id, column->column), kind;
    int prefix = id == PCI_FF_STACKS && pci_str_is(column->column, "prefix");
    int offset = id == PCI_FF_STACKS && pci_str_is(column->column, "prefixOffset");
    uint64_t rows = 0;
    int64_t value;
    if (target < 0 && !prefix && !offset)
        return PCOL_OK;
    if (target >= 0)
        PCI_TRY(pci_ff_native_count(b, target, &rows, err));
    for (uint64_t i = 0; i < count; i++) {
        PCI_TRY(pci_ff_cell(cursor, i, &kind, &value, err));
        if (kind == PCI_FF_NULL || (kind == PCI_FF_INT && value == -1 && !offset))
            continue;
        if (kind != PCI_FF_INT || value < 0 || (prefix && (uint64_t)value >= i) ||
            (offset && (uint64_t)value > i) || (target >= 0 && (uint64_t)value >= rows))
            return fail_preserved(column, i, "not a valid row number", err);
    }
    return PCOL_OK;
}

static pcol_status check_cells(struct pci_ff_native *b, int id,
                               const struct pci_ff_preserved *column,
                               const struct pci_ff_cells *cells, uint64_t rows, pcol_error *err)
{
    int value = pci_ff_has_form(column, PCI_FF_FORM_VALUE), kind = PCI_FF_NULL;
    int64_t length = -1;
    struct pci_ff_cursor *cursor;
    pcol_status status = PCOL_OK;
    PCI_TRY(PCI_MALLOC(cursor, 1, err));
    pci_ff_cursor_init(cursor, cells);
    if (!value && cells->count != rows) {
        status = fail_preserved(
            column, 0, "the number of cells differs from the number of rows of the table", err);
    } else if (!value) {
        status = check_numbers(b, id, column, cursor, cells->count, err);
    } else if (pci_str_is(column->column, "length")) {
        status = pci_ff_cell(cursor, 0, &kind, &length, err);
        if (status == PCOL_OK && (kind != PCI_FF_INT || length < 0 || (uint64_t)length != rows))
            status = fail_preserved(column, 0, "differs from the number of rows of the table", err);
    }
    pci_free(cursor);
    return status;
}

/* Repeat the only cell for all rows. */
static pcol_status repeat_cell(struct pci_ff_native *b, int id,
                               const struct pci_ff_preserved *column, struct pci_ff_cells *cells,
                               pcol_error *err)
{
    uint64_t rows;
    if (id < PCI_FF_SOURCES || id > PCI_FF_MARKERS ||
        (id > PCI_FF_STACKS && b->thread == PCOL_NONE))
        return pci_corrupt(err, "source_columns", "form", column->row,
                           "the form \"same\" requires a table of the source");
    PCI_TRY(row_count(b, id, &rows, err));
    if (!rows)
        cells->count = 0;
    for (uint64_t i = 1; i < rows; i++)
        PCI_TRY(pci_ff_cells_add(cells, cells->kind, cells->first, err));
    return PCOL_OK;
}

/* Write a scalar member. */
static pcol_status write_value(struct pci_ff_native *b, const struct pci_ff_cells *cells,
                               pcol_error *err)
{
    struct pci_ff_cursor *cursor;
    int kind = PCI_FF_NULL;
    int64_t cell = 0;
    PCI_TRY(PCI_MALLOC(cursor, 1, err));
    pci_ff_cursor_init(cursor, cells);
    pcol_status status = pci_ff_cell(cursor, 0, &kind, &cell, err);
    pci_free(cursor);
    return status == PCOL_OK ? pci_ff_emit_cell(&b->out, kind, cell, err) : status;
}

/* Load the cells of a column: preserved or restored. */
static pcol_status get_cells(struct pci_ff_native *b, int id, const struct pci_ff_sample_run *rows,
                             const struct pci_ff_preserved *column, struct pci_ff_cells *cells,
                             pcol_error *err)
{
    if (!column->has_cells)
        return id < 0 ? pci_ff_restore_counter(b, rows, column, cells, err)
                      : pci_ff_restore(b, id, column, cells, err);
    uint64_t count = rows ? rows->count : 0;
    PCI_TRY(load_preserved_cells(b, column, cells, err));
    if (pci_ff_has_form(column, PCI_FF_FORM_SAME))
        PCI_TRY(repeat_cell(b, id, column, cells, err));
    if (pci_ff_is_uneven(id, b->version))
        return PCOL_OK;
    if (id >= 0)
        PCI_TRY(row_count(b, id, &count, err));
    return check_cells(b, id, column, cells, count, err);
}

pcol_status pci_ff_write_column(struct pci_ff_native *b, int id,
                                const struct pci_ff_sample_run *rows,
                                const struct pci_ff_preserved *column, pcol_error *err)
{
    const char *table = id < 0 ? "counterSamples" : pci_ff_source_tables[id];
    int value = pci_ff_has_form(column, PCI_FF_FORM_VALUE), single;
    struct pci_ff_cells cells;
    struct pci_ff_preserved effective = *column;
    uint64_t count;
    if (is_samples(b, column) && column->has_cells && !value) {
        int is_computed = pci_ff_is_sample_column(b, column->column);
        if (!is_computed || !pci_str_is(column->column, pci_ff_weight_column(b)))
            pci_export_loss(b->export, "column %.*s of samples is %s: they were joined since",
                            (int)(column->column.size < 60 ? column->column.size : 60),
                            column->column.data, is_computed ? "rounded" : "dropped");
        if (!is_computed)
            return PCOL_OK;
        effective.has_cells = 0;
    }
    pci_json_put_key_bytes(&b->out.w, column->column, err);
    if (is_samples(b, column) && pci_str_is(column->column, "length")) {
        PCI_TRY(pci_ff_sample_count(b, &count, &single, err));
        return pci_ff_emit_cell(&b->out, PCI_FF_INT, (int64_t)count, err);
    }
    if (id >= PCI_FF_SOURCES && id <= PCI_FF_STACKS && pci_ff_has_form(column, PCI_FF_FORM_ROWS)) {
        PCI_TRY(row_count(b, id, &count, err));
        return pci_ff_emit_cell(&b->out, PCI_FF_INT, (int64_t)count, err);
    }
    pci_ff_cells_init(&cells, &b->out.store);
    pcol_status status = get_cells(b, id, rows, &effective, &cells, err);
    PCI_THEN(status, value ? write_value(b, &cells, err)
                           : pci_ff_emit_column(&b->out, table, column->column, &cells, err));
    pci_ff_cells_clear(&cells);
    return status;
}
