/*
 * column_map.c - converts cells of the source's tables to cells of the builder, as schema.h defines
 *
 * Each conversion also checks whether the inverse conversion gives the same cell. A field with a
 * cell for which it does not loses its `exact` flag, and its column is preserved in source_cells.
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"

static pcol_status get_column_number(struct pci_ff *ff, const struct pci_ff_spec *spec,
                                     uint32_t builder_table, uint32_t *number, pcol_error *err)
{
    uint32_t references = 0;
    *number = PCOL_NONE;
    if (!spec->column || builder_table == PCOL_NONE)
        return PCOL_OK;
    if (spec->references) {
        PCI_TRY(pcol_builder_table(ff->b, spec->references, &references, err));
        references++;
    }
    return pci_builder_column(ff->b, builder_table, spec->column, spec->type, references, number,
                              err);
}

pcol_status pci_ff_fields_open(struct pci_ff *ff, struct pci_ff_scope *scope,
                               struct pci_ff_table *table, const struct pci_ff_spec *specs,
                               size_t count, uint32_t builder_table, struct pci_ff_field *fields,
                               pcol_error *err)
{
    memset(fields, 0, count * sizeof *fields);
    for (size_t i = 0; i < count; i++) {
        struct pci_ff_field *f = &fields[i];
        int id = specs[i].conversion == PCI_FF_AS_STRING ? PCI_FF_STRINGS : specs[i].target;
        f->spec = &specs[i];
        f->exact = 1;
        PCI_TRY(get_column_number(ff, f->spec, builder_table, &f->number, err));
        f->column = pci_ff_find_column(ff, table, specs[i].name);
        f->map = pci_ff_get_map(ff, scope, id, &f->rows);
        if (id == PCI_FF_STRINGS)
            f->repeated = scope->tables[id].present ? scope->repeated : ff->shared.repeated;
        if (!f->column)
            continue;
        PCI_TRY(PCI_MALLOC(f->cursor, 1, err));
        pci_ff_cursor_init(f->cursor, &f->column->cells);
    }
    return PCOL_OK;
}

void pci_ff_fields_close(struct pci_ff_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pci_free(fields[i].cursor);
        fields[i].cursor = NULL;
    }
}

static pcol_status fail_row(struct pci_ff *ff, struct pci_ff_table *table, struct pci_ff_field *f,
                            uint64_t row, int64_t value, pcol_error *err)
{
    int id = f->spec->conversion == PCI_FF_AS_STRING ? PCI_FF_STRINGS : f->spec->target;
    return pci_ff_fail_cell(ff, table, f->column, row, err,
                            "%lld is not a row of %s, which has %llu rows", (long long)value,
                            pci_ff_source_tables[id], (unsigned long long)f->rows);
}

static pcol_status get_string(struct pci_ff *ff, struct pci_ff_table *table, struct pci_ff_field *f,
                              uint64_t row, int kind, int64_t value, struct pci_cell_value *cell,
                              pcol_error *err)
{
    int inside = kind == PCI_FF_INT && value >= 0 && (uint64_t)value < f->rows;
    if (kind == PCI_FF_NULL)
        return PCOL_OK;
    if (inside) {
        *cell = (struct pci_cell_value){f->map[value], 1};
        f->exact &= !f->repeated[value];
        return PCOL_OK;
    }
    if (f->spec->strict && kind == PCI_FF_INT && value != -1)
        return fail_row(ff, table, f, row, value, err);
    if (f->spec->strict && kind != PCI_FF_INT)
        return pci_ff_fail_cell(ff, table, f->column, row, err, "must be the index of a string");
    if (kind == PCI_FF_TEXT)
        *cell = (struct pci_cell_value){value, 1};
    f->exact = 0;
    return PCOL_OK;
}

static pcol_status get_row(struct pci_ff *ff, struct pci_ff_table *table, struct pci_ff_field *f,
                           uint64_t row, int kind, int64_t value, struct pci_cell_value *cell,
                           pcol_error *err)
{
    int none = f->spec->conversion == PCI_FF_AS_ROW_NONE;
    if (kind == PCI_FF_NULL || (kind == PCI_FF_INT && value == -1)) {
        f->exact &= none == (kind == PCI_FF_INT);
        return PCOL_OK;
    }
    if (kind != PCI_FF_INT)
        return pci_ff_fail_cell(ff, table, f->column, row, err, "must be a row of %s",
                                pci_ff_source_tables[f->spec->target]);
    if (value < 0 || (uint64_t)value >= f->rows) {
        if (f->spec->target == PCI_FF_CATEGORIES && !f->rows) { /* a bit set in old versions */
            f->exact = 0;
            return PCOL_OK;
        }
        return fail_row(ff, table, f, row, value, err);
    }
    *cell = (struct pci_cell_value){f->map[value], 1};
    return PCOL_OK;
}

static void get_integer(struct pci_ff_field *f, int kind, int64_t value,
                        struct pci_cell_value *cell)
{
    int conversion = f->spec->conversion;
    double number;
    memcpy(&number, &value, sizeof number);
    if (kind == PCI_FF_DOUBLE && pci_ff_whole(number)) {
        kind = PCI_FF_INT; /* written with a point */
        value = (int64_t)number;
        f->exact = 0;
    }
    int none = conversion == PCI_FF_AS_INT_NONE && kind == PCI_FF_INT && value == -1;
    if (none || (kind == PCI_FF_NULL && conversion == PCI_FF_AS_INT))
        return;
    if (kind == PCI_FF_INT &&
        (conversion != PCI_FF_AS_NATURAL || (value >= 0 && value < (int64_t)PCOL_NONE)) &&
        (conversion != PCI_FF_AS_INT_NONE || value >= 0))
        *cell = (struct pci_cell_value){value, 1};
    else
        f->exact = 0;
}

static void get_number(struct pci_ff_field *f, int kind, int64_t value, struct pci_cell_value *cell)
{
    double number;
    if (kind == PCI_FF_NULL)
        return;
    if (kind != PCI_FF_INT && kind != PCI_FF_DOUBLE) {
        f->exact = 0;
        return;
    }
    f->exact &= pci_ff_number_fits(kind, value, 0, &number);
    cell->valid = 1;
    memcpy(&cell->bits, &number, sizeof number);
}

pcol_status pci_ff_field_get(struct pci_ff *ff, struct pci_ff_table *table,
                             struct pci_ff_field *field, uint64_t row, struct pci_cell_value *cell,
                             pcol_error *err)
{
    int kind;
    int64_t value;
    *cell = (struct pci_cell_value){0, 0};
    if (!field->column)
        return PCOL_OK;
    PCI_TRY(pci_ff_cell(field->cursor, row, &kind, &value, err));
    if (row >= field->column->cells.count) {
        field->exact = 0;
        return PCOL_OK;
    }
    switch (field->spec->conversion) {
    case PCI_FF_AS_STRING:
        return get_string(ff, table, field, row, kind, value, cell, err);
    case PCI_FF_AS_ROW:
    case PCI_FF_AS_ROW_NONE:
        return get_row(ff, table, field, row, kind, value, cell, err);
    case PCI_FF_AS_BOOL:
        if (kind == PCI_FF_TRUE || kind == PCI_FF_FALSE)
            *cell = (struct pci_cell_value){kind == PCI_FF_TRUE, 1};
        else
            field->exact = 0;
        return PCOL_OK;
    case PCI_FF_AS_TEXT:
        if (kind == PCI_FF_TEXT)
            *cell = (struct pci_cell_value){value, 1};
        else
            field->exact &= kind == PCI_FF_NULL;
        return PCOL_OK;
    case PCI_FF_AS_NUMBER:
        get_number(field, kind, value, cell);
        return PCOL_OK;
    default:
        get_integer(field, kind, value, cell);
        return PCOL_OK;
    }
}

/* ---- duplicates */

pcol_status pci_ff_count_duplicate_slow(struct pci_ff_duplicates *duplicates, uint32_t row,
                                        uint32_t *before, pcol_error *err)
{
    size_t old_capacity = duplicates->epoch_capacity;
    *before = 0;
    if (pci_grow((void **)&duplicates->epochs, &duplicates->epoch_capacity, (size_t)row + 1,
                 sizeof(uint32_t)) ||
        pci_grow((void **)&duplicates->counts, &duplicates->count_capacity, (size_t)row + 1,
                 sizeof(uint32_t)))
        return pci_fail_memory(err);
    if (duplicates->epoch_capacity > old_capacity)
        memset(duplicates->epochs + old_capacity, 0,
               (duplicates->epoch_capacity - old_capacity) * sizeof(uint32_t));
    if (duplicates->epochs[row] != duplicates->epoch) {
        duplicates->epochs[row] = duplicates->epoch;
        duplicates->counts[row] = 0;
    }
    *before = duplicates->counts[row]++;
    return PCOL_OK;
}

void pci_ff_duplicates_clear(struct pci_ff_duplicates *duplicates)
{
    pci_free(duplicates->epochs);
    pci_free(duplicates->counts);
    memset(duplicates, 0, sizeof *duplicates);
}
