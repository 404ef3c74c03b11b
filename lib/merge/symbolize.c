/*
 * symbolize.c - pcol_symbolize(): a copy of a file in which nameless locations have functions
 *
 * The merge copies the file; stacks.c and table_plan.c ask here for the lines of location groups
 * and the flags of mappings. Tests: tests/unit/test_symbolize.c, suite symbolize.
 */
#include "merge/symbolize.h"

#include "builder/builder.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

static const struct {
    const char *column;
    uint8_t flag;
} mapping_flags[] = {{"has_functions", PCOL_SYMBOLS_FUNCTIONS},
                     {"has_filenames", PCOL_SYMBOLS_FILENAMES},
                     {"has_line_numbers", PCOL_SYMBOLS_LINES},
                     {"has_inline_frames", PCOL_SYMBOLS_INLINED}};
enum { FLAGS = sizeof mapping_flags / sizeof *mapping_flags };

const char *const pci_symbol_columns[] = {"has_functions", "has_filenames", "has_line_numbers",
                                          "has_inline_frames", NULL};

/* ---- lines of groups */

static pcol_status add_text(pcol_builder *builder, pcol_str text, uint32_t *string, pcol_error *err)
{
    *string = PCOL_NONE;
    return text.data ? pcol_builder_string(builder, text.data, text.size, string, err) : PCOL_OK;
}

static pcol_status add_line(pcol_builder *builder, const pcol_symbol *symbol, pcol_line *line,
                            pcol_error *err)
{
    pcol_function function = {.size = sizeof function, .system_name = PCOL_NONE};
    *line = (pcol_line){.filename = PCOL_NONE, .line = symbol->line};
    pci_set_flag(&line->flags, PCOL_LINE_HAS_LINE, symbol->line != 0);
    PCI_TRY(add_text(builder, symbol->function, &function.name, err));
    PCI_TRY(add_text(builder, symbol->filename, &function.filename, err));
    return pcol_builder_function(builder, &function, &line->function, err);
}

pcol_status pci_symbol_lines(const struct pci_merge *merge, uint64_t row, pcol_line **lines,
                             size_t *capacity, size_t *count, pcol_error *err)
{
    const pcol_symbolize_options *o = merge->symbols;
    uint64_t first = o->first[row], end = o->first[row + 1];
    *count = (size_t)(end - first);
    PCI_TRY(PCI_GROW(*lines, *capacity, *count + 1, err));
    for (uint64_t i = first; i < end; i++)
        PCI_TRY(add_line(merge->builder, &o->symbols[i], &(*lines)[i - first], err));
    return PCOL_OK;
}

/* ---- flags of mappings */

static pcol_status set_flags(const struct pci_merge *m, struct pci_cells *cells, uint32_t table,
                             const uint32_t *map, uint64_t rows, size_t flag, pcol_error *err)
{
    uint32_t column;
    int any = cells->column != NULL;
    for (uint64_t row = 0; row < rows && !any; row++)
        any = m->symbols->mapping_flags[row] & mapping_flags[flag].flag;
    if (!any)
        return PCOL_OK;
    PCI_TRY(pci_builder_column(m->builder, table, mapping_flags[flag].column, PCOL_BOOL, 0, &column,
                               err));
    for (uint64_t row = 0; row < rows; row++) {
        int64_t value;
        int valid;
        PCI_TRY(pci_cells_get(cells, row, &value, &valid, err));
        if (m->symbols->mapping_flags[row] & mapping_flags[flag].flag)
            value = valid = 1;
        if (valid)
            PCI_TRY(pcol_builder_set_i64(m->builder, column, map[row], value, err));
    }
    return PCOL_OK;
}

pcol_status pci_symbol_flags(const struct pci_merge *merge, uint32_t table, const uint32_t *map,
                             uint64_t rows, pcol_error *err)
{
    struct pci_cells *cells;
    pcol_status status = PCOL_OK;
    PCI_TRY(PCI_MALLOC(cells, 1, err));
    for (size_t i = 0; i < FLAGS && status == PCOL_OK; i++) {
        status = pci_cells_open(cells, merge->file, "mappings", mapping_flags[i].column,
                                PCI_IS(PCF_BOOL), err);
        PCI_THEN(status, set_flags(merge, cells, table, map, rows, i, err));
    }
    pci_free(cells);
    return status;
}

/* ---- public function */

static pcol_status check_options(const pcol_file *file, const pcol_symbolize_options *o,
                                 pcol_error *err)
{
    uint64_t groups, mappings;
    PCI_TRY(pci_merge_rows(file, "location_groups", &groups, err));
    PCI_TRY(pci_merge_rows(file, "mappings", &mappings, err));
    if (o->group_count != groups || o->mapping_count != mappings || !o->first || o->first[0] ||
        (mappings && !o->mapping_flags))
        return pci_fail(err, PCOL_E_ARGUMENT, "symbols are not those of the file's groups");
    PCI_TRY(pci_metas_check(o->meta, o->meta_count, err));
    for (uint64_t row = 0; row < groups; row++)
        if (o->first[row] > o->first[row + 1])
            return pci_fail(err, PCOL_E_ARGUMENT, "symbols of groups are not in order");
    PCI_REQUIRE_MANY(o->symbols, o->first[groups], err);
    for (uint64_t i = 0; i < o->first[groups]; i++)
        if (!o->symbols[i].function.data)
            return pci_fail(err, PCOL_E_ARGUMENT, "a symbol has no function");
    return PCOL_OK;
}

pcol_status pcol_symbolize(pcol_builder *builder, const pcol_file *file,
                           const pcol_symbolize_options *options, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    PCI_REQUIRE(file, err);
    PCI_REQUIRE(options, err);
    pcol_symbolize_options own;
    pcol_import_options import = {.size = sizeof import};
    struct pci_control scope;
    pcol_status status;
    PCI_STRUCT_READ(pcol_symbolize_options, own, options, err);
    PCI_TRY(pci_control_init(&scope, own.control, "symbolize", err));
    PCI_TRY(check_options(file, &own, err));
    import.meta = own.meta;
    import.meta_count = own.meta_count;
    PCI_CONTROLLED(&scope, status, pci_merge_symbolized(builder, file, &import, &own, err), err);
    return status;
}
