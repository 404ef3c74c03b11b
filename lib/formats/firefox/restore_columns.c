/*
 * restore_columns.c - restores columns of the source's tables of code from pcol tables: the inverse
 * of column_map.c
 */
#include "formats/firefox/write_native.h"

#include "util/alloc.h"
#include "util/strbuf.h"

/* Column of a pcol table that corresponds to a column of the source. */
struct origin {
    const struct pci_column *column;
    int of_location; /* its rows are locations, not groups */
};

static pcol_status find_origin(struct pci_ff_native *b, int id, int field,
                               const struct pci_ff_spec *spec, struct origin *origin,
                               pcol_error *err)
{
    static const struct {
        uint8_t id, field, of_location;
        const char *table, *column;
    } parts[] = {{PCI_FF_FUNCTIONS, PCI_FF_FN_NAME, 0, "functions", "name"},
                 {PCI_FF_FUNCTIONS, PCI_FF_FN_FILE, 0, "functions", "filename"},
                 {PCI_FF_FUNCTIONS, PCI_FF_FN_LINE, 0, "functions", "start_line"},
                 {PCI_FF_FRAMES, PCI_FF_FR_FUNC, 1, "locations", "function"},
                 {PCI_FF_FRAMES, PCI_FF_FR_LINE, 1, "locations", "line"},
                 {PCI_FF_FRAMES, PCI_FF_FR_COLUMN, 1, "locations", "column"},
                 {PCI_FF_FRAMES, PCI_FF_FR_ADDRESS, 0, "location_groups", "address"},
                 {PCI_FF_FRAMES, PCI_FF_FR_LIB, 0, "location_groups", "mapping"}};
    const char *table = pci_ff_pcol_tables[id], *name = spec->column;
    origin->of_location = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].id == id && parts[i].field == field) {
            table = parts[i].table;
            name = parts[i].column;
            origin->of_location = parts[i].of_location;
        }
    }
    return pci_find_column(b->file, table, name, ~0u, &origin->column, err);
}

/* Convert a cell of pcol to a cell of the source. */
static pcol_status to_source_cell(struct pci_ff_native *b, const struct pci_ff_spec *spec,
                                  int valid, int64_t value, int *kind, int64_t *cell,
                                  pcol_error *err)
{
    double number;
    *cell = value;
    *kind = valid ? PCI_FF_INT : PCI_FF_NULL;
    switch (spec->conversion) {
    case PCI_FF_AS_BOOL:
        *kind = valid && value ? PCI_FF_TRUE : PCI_FF_FALSE;
        return PCOL_OK;
    case PCI_FF_AS_NATURAL:
        *kind = PCI_FF_INT;
        return PCOL_OK;
    case PCI_FF_AS_TEXT:
        *kind = valid ? PCI_FF_TEXT : PCI_FF_NULL;
        return PCOL_OK;
    case PCI_FF_AS_NUMBER:
        memcpy(&number, &value, sizeof number);
        if (valid && pci_ff_whole(number))
            *cell = (int64_t)number;
        else if (valid)
            *kind = PCI_FF_DOUBLE;
        return PCOL_OK;
    case PCI_FF_AS_INT_NONE:
    case PCI_FF_AS_ROW_NONE:
        *kind = PCI_FF_INT;
        if (!valid)
            *cell = -1;
        break;
    default:
        break;
    }
    if (!valid || spec->conversion == PCI_FF_AS_INT || spec->conversion == PCI_FF_AS_INT_NONE)
        return PCOL_OK;
    if (spec->conversion == PCI_FF_AS_STRING)
        return pci_ff_native_row(b, PCI_FF_STRINGS, (uint64_t)value, cell, err);
    if (spec->target != PCI_FF_CATEGORIES)
        return pci_ff_native_row(b, spec->target, (uint64_t)value, cell, err);
    return pci_ff_native_category(b, value, cell, err);
}

/* ---- tables with an order */

static pcol_status restore_field(struct pci_ff_native *b, int id, int field,
                                 struct pci_ff_cells *cells, pcol_error *err)
{
    const struct pci_ff_spec *spec = &pci_ff_schema[id].specs[field];
    const struct pci_order *order;
    struct origin origin;
    PCI_TRY(find_origin(b, id, field, spec, &origin, err));
    PCI_TRY(pci_ff_native_order(b, id, &order, err));
    for (uint64_t i = 0; i < order->count; i++) {
        uint64_t row = order->rows[i], count;
        int64_t value, cell;
        int valid, kind;
        if (origin.of_location)
            PCI_TRY(pci_stacks_group(&b->stacks, row, &row, &count, err));
        PCI_TRY(pci_get(b->file, origin.column, row, &value, &valid, err));
        PCI_TRY(to_source_cell(b, spec, valid, value, &kind, &cell, err));
        PCI_TRY(pci_ff_cells_add(cells, kind, cell, err));
    }
    return PCOL_OK;
}

/* ---- stacks */

static pcol_status stack_row(struct pci_ff_native *b, uint64_t node, int64_t *prefix,
                             int64_t *group, pcol_error *err)
{
    int64_t parent;
    int valid;
    if (!node || node >= b->stacks.stacks)
        return pci_corrupt(err, "source_rows", "row", PCOL_POSITION_UNKNOWN,
                           "not a stack of the source");
    PCI_TRY(pci_get(b->file, b->stacks.parent, node, &parent, &valid, err));
    PCI_TRY(pci_get(b->file, b->stacks.group, node, group, &valid, err));
    *prefix = -1;
    return parent ? pci_ff_native_row(b, PCI_FF_STACKS, (uint64_t)parent, prefix, err) : PCOL_OK;
}

static pcol_status restore_links(struct pci_ff_native *b, const struct pci_ff_preserved *column,
                                 struct pci_ff_cells *cells, pcol_error *err)
{
    const struct pci_order *order;
    int frame = pci_str_is(column->column, "frame");
    int offsets = pci_str_is(column->column, "prefixOffset");
    PCI_TRY(pci_ff_native_order(b, PCI_FF_STACKS, &order, err));
    for (uint64_t i = 0; i < order->count; i++) {
        int64_t prefix, value;
        PCI_TRY(stack_row(b, order->rows[i], &prefix, &value, err));
        if (prefix >= 0 && (uint64_t)prefix >= i)
            return pci_corrupt(err, "source_rows", "row", PCOL_POSITION_UNKNOWN,
                               "row %llu of stackTable precedes its prefix", (unsigned long long)i);
        if (frame)
            PCI_TRY(pci_ff_native_row(b, PCI_FF_FRAMES, (uint64_t)value, &value, err));
        else
            value = !offsets ? prefix : prefix < 0 ? 0 : (int64_t)i - prefix;
        int none = !frame && !offsets && prefix < 0;
        PCI_TRY(pci_ff_cells_add(cells, none ? PCI_FF_NULL : PCI_FF_INT, value, err));
    }
    return PCOL_OK;
}

/* Compute the categories of stacks; a frame without one inherits its caller's. */
static pcol_status inherit_categories(struct pci_ff_native *b, int sub,
                                      const struct pci_order *order, int64_t *inherited,
                                      pcol_error *err)
{
    const struct pci_column *category_column, *subcategory_column;
    PCI_TRY(pci_find_column(b->file, "location_groups", "category", PCI_TYPES_ROW, &category_column,
                            err));
    PCI_TRY(pci_find_column(b->file, "location_groups", "subcategory", PCI_TYPES_INT,
                            &subcategory_column, err));
    for (uint64_t i = 0; i < order->count; i++) {
        int64_t prefix, group, value, part;
        int valid, has_part;
        PCI_TRY(stack_row(b, order->rows[i], &prefix, &group, err));
        PCI_TRY(pci_get(b->file, category_column, (uint64_t)group, &value, &valid, err));
        PCI_TRY(pci_get(b->file, subcategory_column, (uint64_t)group, &part, &has_part, err));
        if (valid && sub)
            inherited[i] = has_part ? part : 0;
        else if (valid)
            PCI_TRY(pci_ff_native_category(b, value, &inherited[i], err));
        else
            inherited[i] = prefix < 0 || (uint64_t)prefix >= i ? 0 : inherited[prefix];
    }
    return PCOL_OK;
}

static pcol_status restore_categories(struct pci_ff_native *b,
                                      const struct pci_ff_preserved *column,
                                      struct pci_ff_cells *cells, pcol_error *err)
{
    const struct pci_order *order;
    int sub = pci_str_is(column->column, "subcategory");
    PCI_TRY(pci_ff_native_order(b, PCI_FF_STACKS, &order, err));
    int64_t *inherited = pci_malloc((size_t)order->count + 1, sizeof *inherited);
    pcol_status status = inherited ? PCOL_OK : pci_fail_memory(err);
    if (!inherited)
        return status;
    status = inherit_categories(b, sub, order, inherited, err);
    for (uint64_t i = 0; i < order->count && status == PCOL_OK; i++)
        status = pci_ff_cells_add(cells, PCI_FF_INT, inherited[i], err);
    pci_free(inherited);
    return status;
}

/* ---- consecutive rows */

static pcol_status restore_rows(struct pci_ff_native *b, const char *table,
                                const struct pci_ff_spec *spec,
                                const struct pci_ff_sample_run *rows, struct pci_ff_cells *cells,
                                pcol_error *err)
{
    const struct pci_column *column;
    PCI_TRY(pci_find_column(b->file, table, spec->column, ~0u, &column, err));
    for (uint64_t i = rows->first; i < rows->first + rows->count; i++) {
        int64_t value, cell;
        int valid, kind;
        PCI_TRY(pci_get(b->file, column, i, &value, &valid, err));
        PCI_TRY(to_source_cell(b, spec, valid, value, &kind, &cell, err));
        PCI_TRY(pci_ff_cells_add(cells, kind, cell, err));
    }
    return PCOL_OK;
}

static const struct pci_ff_spec *find_spec(const struct pci_ff_spec *specs, size_t count,
                                           pcol_str name)
{
    for (size_t i = 0; i < count; i++)
        if (pci_str_is(name, specs[i].name))
            return &specs[i];
    return NULL;
}

static pcol_status fail_unknown_column(const struct pci_ff_preserved *column, pcol_error *err)
{
    return pci_corrupt(err, "source_columns", "column", column->row, "unknown column");
}

pcol_status pci_ff_restore_counter(struct pci_ff_native *native,
                                   const struct pci_ff_sample_run *rows,
                                   const struct pci_ff_preserved *column,
                                   struct pci_ff_cells *cells, pcol_error *err)
{
    const struct pci_ff_spec *spec = find_spec(pci_ff_counter_specs, 2, column->column);
    if (pci_str_is(column->column, "time") || pci_str_is(column->column, "timeDeltas"))
        return pci_ff_restore_times(native, "counter_samples", "time", "time_ulp", rows, column,
                                    cells, err);
    return spec ? restore_rows(native, "counter_samples", spec, rows, cells, err)
                : fail_unknown_column(column, err);
}

pcol_status pci_ff_restore(struct pci_ff_native *native, int id,
                           const struct pci_ff_preserved *column, struct pci_ff_cells *cells,
                           pcol_error *err)
{
    const struct pci_ff_layout *l = &pci_ff_schema[id];
    const struct pci_ff_spec *spec = find_spec(l->specs, l->count, column->column);
    const struct pci_ff_thread_rows *t =
        native->thread == PCOL_NONE ? NULL
                                    : &native->threads[native->thread - native->first_thread];
    pcol_str name = column->column;
    if (id == PCI_FF_STACKS)
        return pci_str_is(name, "category") || pci_str_is(name, "subcategory")
                   ? restore_categories(native, column, cells, err)
                   : restore_links(native, column, cells, err);
    if (id <= PCI_FF_FRAMES)
        return spec ? restore_field(native, id, (int)(spec - l->specs), cells, err)
                    : fail_unknown_column(column, err);
    if (!t)
        return fail_unknown_column(column, err);
    if (id == PCI_FF_SAMPLES)
        return pci_ff_restore_samples(native, column, cells, err);
    const struct pci_ff_sample_run *rows =
        id == PCI_FF_MARKERS ? &t->markers : &t->allocations[id == PCI_FF_NATIVE_ALLOCATIONS];
    if (spec)
        return restore_rows(native, l->table, spec, rows, cells, err);
    int end = pci_str_is(name, "endTime");
    if (id == PCI_FF_MARKERS)
        return pci_ff_restore_times(native, "markers", end ? "end" : "start",
                                    end ? "end_ulp" : "start_ulp", rows, column, cells, err);
    return pci_ff_restore_times(native, "allocations", "time", "time_ulp", rows, column, cells,
                                err);
}
