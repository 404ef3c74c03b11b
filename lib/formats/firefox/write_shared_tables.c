/*
 * write_shared_tables.c - writes the collected tables of code as `libs` and the member `shared` of
 * version 60 or 70
 */
#include "formats/firefox/write_native.h"
#include "formats/json_members.h"

/* ---- columns */

/* Function that computes cell i of a column. */
typedef pcol_status (*get_cell_fn)(struct pci_ff_code_tables *code, size_t i, int *kind,
                                   int64_t *value, pcol_error *err);

enum { IN_60 = 1, IN_70 = 2, IN_BOTH = IN_60 | IN_70 };

struct column {
    const char *name;
    get_cell_fn cell; /* NULL: nulls */
    unsigned versions;
};

static pcol_status put_column(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                              const char *table, size_t rows, const struct column *column,
                              pcol_error *err)
{
    struct pci_ff_cells cells;
    pcol_status status = PCOL_OK;
    pci_ff_cells_init(&cells, &out->store);
    for (size_t i = 0; i < rows && status == PCOL_OK; i++) {
        int kind = PCI_FF_NULL;
        int64_t value = 0;
        if (column->cell)
            status = column->cell(code, i, &kind, &value, err);
        PCI_THEN(status, pci_ff_cells_add(&cells, kind, value, err));
    }
    pci_json_put_key(&out->w, column->name, err);
    PCI_THEN(status, pci_ff_emit_column(out, table, (pcol_str){column->name, strlen(column->name)},
                                        &cells, err));
    pci_ff_cells_clear(&cells);
    return status;
}

/* Write a table of the columns that the written version has. */
static pcol_status put_table(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                             const char *name, size_t rows, const struct column *columns,
                             size_t count, pcol_error *err)
{
    pci_json_put_begin_member(&out->w, name, '{', err);
    pci_json_put_int_member(&out->w, "length", (int64_t)rows, err);
    for (size_t i = 0; i < count; i++)
        if (columns[i].versions & (code->newest ? IN_70 : IN_60))
            PCI_TRY(put_column(code, out, name, rows, &columns[i], err));
    pci_json_put_end(&out->w, '}', err);
    return out->w.status;
}

#define CELL(name)                                                                             \
    static pcol_status name(struct pci_ff_code_tables *c, size_t i, int *kind, int64_t *value, \
                            pcol_error *err)

/* ---- cells */

static pcol_status set_integer(int64_t number, int *kind, int64_t *value)
{
    *kind = PCI_FF_INT;
    *value = number;
    return PCOL_OK;
}

static pcol_status set_optional(uint32_t number, int *kind, int64_t *value)
{
    *kind = number == PCOL_NONE ? PCI_FF_NULL : PCI_FF_INT;
    *value = number;
    return PCOL_OK;
}

/* A cell of a pcol column; null if it is null or the column is missing. */
static pcol_status get_pcol_cell(const struct pci_ff_code_tables *c, const char *table,
                                 const char *column, uint64_t row, int *kind, int64_t *value,
                                 pcol_error *err)
{
    int valid;
    PCI_TRY(pci_get_named(c->file, table, column, PCI_TYPES_INT | PCI_TYPE(PCF_BOOL), row, value,
                          &valid, err));
    *kind = valid ? PCI_FF_INT : PCI_FF_NULL;
    return PCOL_OK;
}

CELL(stack_frame)
{
    (void)err;
    return set_integer(c->stack_frames[i], kind, value);
}

CELL(stack_prefix)
{
    (void)err;
    if (!c->newest)
        return set_optional(c->parents[i], kind, value);
    return set_integer(c->parents[i] == PCOL_NONE ? 0 : (int64_t)i - c->parents[i], kind, value);
}

CELL(frame_address)
{
    PCI_TRY(get_pcol_cell(c, "location_groups", "address", c->frames[i].group, kind, value, err));
    if (*kind == PCI_FF_NULL || *value < 0 || *value > (INT64_C(1) << 53))
        return set_integer(-1, kind, value); /* not representable in the front end */
    return PCOL_OK;
}

CELL(frame_depth)
{
    int64_t depth = c->frames[i].depth;
    PCI_TRY(
        get_pcol_cell(c, "location_groups", "inline_depth", c->frames[i].group, kind, value, err));
    depth += *kind == PCI_FF_NULL ? 0 : *value;
    return set_integer(depth < 255 ? depth : 255, kind, value);
}

CELL(frame_window)
{
    return get_pcol_cell(c, "location_groups", "inner_window_id", c->frames[i].group, kind, value,
                         err);
}

CELL(frame_category)
{
    PCI_TRY(get_pcol_cell(c, "location_groups", "category", c->frames[i].group, kind, value, err));
    if (*kind == PCI_FF_NULL || (uint64_t)*value >= pci_rows(c->file, "categories"))
        return set_optional(c->keeps_null ? PCOL_NONE : c->other, kind, value);
    return set_integer(c->category_of[*value], kind, value);
}

CELL(frame_subcategory)
{
    int valid;
    int64_t category;
    PCI_TRY(get_pcol_cell(c, "location_groups", "category", c->frames[i].group, &valid, &category,
                          err));
    PCI_TRY(
        get_pcol_cell(c, "location_groups", "subcategory", c->frames[i].group, kind, value, err));
    if (*kind == PCI_FF_NULL || valid == PCI_FF_NULL ||
        (uint64_t)category >= pci_rows(c->file, "categories"))
        return set_optional(c->keeps_null && valid == PCI_FF_NULL ? PCOL_NONE : 0, kind, value);
    uint64_t count = c->part_first[category + 1] - c->part_first[category];
    return set_integer(*value >= 0 && (uint64_t)*value < count
                           ? c->part_of[c->part_first[category] + (uint64_t)*value]
                           : 0,
                       kind, value);
}

CELL(frame_func)
{
    (void)err;
    return set_integer(c->frames[i].function, kind, value);
}

CELL(frame_lib)
{
    (void)err;
    uint32_t lib = c->functions[c->frames[i].function].resource;
    return set_integer(lib == PCOL_NONE ? -1 : (int64_t)lib, kind, value);
}

CELL(frame_line)
{
    return get_pcol_cell(c, "locations", "line", c->frames[i].location, kind, value, err);
}

CELL(frame_column)
{
    return get_pcol_cell(c, "locations", "column", c->frames[i].location, kind, value, err);
}

CELL(function_name)
{
    (void)err;
    return set_integer(c->functions[i].name, kind, value);
}

CELL(function_resource)
{
    (void)err;
    uint32_t resource = c->functions[i].resource;
    return set_integer(resource == PCOL_NONE ? -1 : (int64_t)resource, kind, value);
}

CELL(function_source)
{
    (void)err;
    return set_optional(c->functions[i].source, kind, value);
}

CELL(function_line)
{
    (void)err;
    *value = c->functions[i].line;
    *kind = c->functions[i].has_line ? PCI_FF_INT : PCI_FF_NULL;
    return PCOL_OK;
}

static pcol_status get_function_cell(const struct pci_ff_code_tables *c, size_t i,
                                     const char *column, int *kind, int64_t *value, pcol_error *err)
{
    *kind = PCI_FF_NULL;
    return c->functions[i].row == PCOL_NONE
               ? PCOL_OK
               : get_pcol_cell(c, "functions", column, c->functions[i].row, kind, value, err);
}

CELL(function_column)
{
    return get_function_cell(c, i, "column", kind, value, err);
}

static pcol_status get_function_flag(const struct pci_ff_code_tables *c, size_t i,
                                     const char *column, int *kind, int64_t *value, pcol_error *err)
{
    PCI_TRY(get_function_cell(c, i, column, kind, value, err));
    *kind = *kind != PCI_FF_NULL && *value ? PCI_FF_TRUE : PCI_FF_FALSE;
    return PCOL_OK;
}

CELL(function_is_js)
{
    return get_function_flag(c, i, "is_js", kind, value, err);
}

CELL(function_relevant_for_js)
{
    return get_function_flag(c, i, "relevant_for_js", kind, value, err);
}

CELL(source_name)
{
    (void)err;
    return set_integer(c->sources[i], kind, value);
}

CELL(source_start)
{
    (void)c, (void)i, (void)err;
    return set_integer(1, kind, value);
}

CELL(lib_row)
{
    (void)c, (void)err;
    return set_integer((int64_t)i, kind, value);
}

CELL(library)
{
    (void)c, (void)i, (void)err;
    return set_integer(PCI_FF_LIBRARY, kind, value);
}

/* ---- libraries */

static pcol_str base_name(pcol_str path)
{
    size_t at = path.size;
    while (at && path.data[at - 1] != '/' && path.data[at - 1] != '\\')
        at--;
    return (pcol_str){path.data + at, path.size - at};
}

static pcol_status lib_text(const struct pci_ff_code_tables *c, uint32_t row, const char *column,
                            pcol_str *text, int *valid, pcol_error *err)
{
    *text = (pcol_str){"", 0};
    *valid = 0;
    return pci_get_named_str(c->file, "mappings", column, row, text, valid, err);
}

pcol_status pci_ff_lib_name(const struct pci_ff_code_tables *code, uint32_t row, pcol_str *name,
                            pcol_error *err)
{
    int valid;
    PCI_TRY(lib_text(code, row, "name", name, &valid, err));
    if (valid)
        return PCOL_OK;
    PCI_TRY(lib_text(code, row, "filename", name, &valid, err));
    *name = base_name(*name);
    return PCOL_OK;
}

static pcol_status put_lib(const struct pci_ff_code_tables *c, struct pci_ff_emitter *out,
                           uint32_t row, pcol_error *err)
{
    static const struct {
        const char *key, *column, *else_column;
    } keys[] = {{"path", "filename", ""},
                {"debugName", "debug_name", NULL},
                {"debugPath", "debug_path", "filename"},
                {"breakpadId", "breakpad_id", ""},
                {"codeId", "build_id", ""}};
    pcol_str text;
    int valid;
    pci_json_put_begin(&out->w, '{', err);
    pci_json_put_key(&out->w, "arch", err);
    PCI_TRY(lib_text(c, row, "arch", &text, &valid, err));
    pci_json_put_string(&out->w, text, err);
    pci_json_put_key(&out->w, "name", err);
    PCI_TRY(pci_ff_lib_name(c, row, &text, err));
    pci_json_put_string(&out->w, text, err);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        PCI_TRY(lib_text(c, row, keys[i].column, &text, &valid, err));
        if (!valid && !keys[i].else_column)
            PCI_TRY(pci_ff_lib_name(c, row, &text, err));
        else if (!valid && keys[i].else_column[0])
            PCI_TRY(lib_text(c, row, keys[i].else_column, &text, &valid, err));
        pci_json_put_string_member(&out->w, keys[i].key, text, err);
    }
    pci_json_put_end(&out->w, '}', err);
    return out->w.status;
}

pcol_status pci_ff_put_libs(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                            pcol_error *err)
{
    pci_json_put_begin_member(&out->w, "libs", '[', err);
    for (size_t i = 0; i < code->lib_count; i++)
        PCI_TRY(put_lib(code, out, code->libs[i], err));
    pci_json_put_end(&out->w, ']', err);
    return out->w.status;
}

CELL(resource_name)
{
    pcol_str name;
    uint32_t string;
    PCI_TRY(pci_ff_lib_name(c, c->libs[i], &name, err));
    PCI_TRY(pci_string_pool_intern(&c->strings, name.data, name.size, &string, err));
    return set_integer(string, kind, value);
}

/* ---- tables */

static const struct column stack_columns[] = {{"frame", stack_frame, IN_BOTH},
                                              {"prefixOffset", stack_prefix, IN_70},
                                              {"prefix", stack_prefix, IN_60}};
static const struct column frame_columns[] = {
    {"address", frame_address, IN_BOTH},
    {"lib", frame_lib, IN_70},
    {"inlineDepth", frame_depth, IN_BOTH},
    {"category", frame_category, IN_BOTH},
    {"subcategory", frame_subcategory, IN_BOTH},
    {"func", frame_func, IN_BOTH},
    {"nativeSymbol", NULL, IN_BOTH},
    {"innerWindowID", frame_window, IN_BOTH},
    {"line", frame_line, IN_BOTH},
    {"column", frame_column, IN_BOTH},
    {"originalLocation", NULL, IN_70},
};
static const struct column function_columns[] = {
    {"name", function_name, IN_BOTH},
    {"isJS", function_is_js, IN_BOTH},
    {"relevantForJS", function_relevant_for_js, IN_BOTH},
    {"resource", function_resource, IN_BOTH},
    {"source", function_source, IN_BOTH},
    {"lineNumber", function_line, IN_BOTH},
    {"columnNumber", function_column, IN_BOTH},
    {"originalLocation", NULL, IN_70},
};
static const struct column resource_columns[] = {{"lib", lib_row, IN_60},
                                                 {"name", resource_name, IN_BOTH},
                                                 {"host", NULL, IN_BOTH},
                                                 {"type", library, IN_BOTH}};
/* Tables without rows: the columns have no cells. */
static const struct column symbol_columns[] = {{"libIndex", NULL, IN_BOTH},
                                               {"address", NULL, IN_BOTH},
                                               {"name", NULL, IN_BOTH},
                                               {"functionSize", NULL, IN_BOTH}};
static const struct column source_columns[] = {
    {"id", NULL, IN_70},
    {"uuid", NULL, IN_60},
    {"filename", source_name, IN_BOTH},
    {"startLine", source_start, IN_70},
    {"startColumn", source_start, IN_70},
    {"sourceMapURL", NULL, IN_70},
    {"content", NULL, IN_70},
};
static const struct column place_columns[] = {
    {"source", NULL, IN_70}, {"line", NULL, IN_70}, {"column", NULL, IN_70}};

static pcol_status put_tables(struct pci_ff_code_tables *c, struct pci_ff_emitter *out,
                              pcol_error *err)
{
#define TABLE(name, columns, rows)                               \
    {                                                            \
        name, columns, sizeof(columns) / sizeof *(columns), rows \
    }
    const struct {
        const char *name;
        const struct column *columns;
        size_t column_count, rows;
    } tables[] = {TABLE("stackTable", stack_columns, c->stack_count),
                  TABLE("frameTable", frame_columns, c->frame_count),
                  TABLE("funcTable", function_columns, c->function_count),
                  TABLE("resourceTable", resource_columns, c->lib_count),
                  TABLE("nativeSymbols", symbol_columns, 0),
                  TABLE("sources", source_columns, c->source_count),
                  TABLE("sourceLocationTable", place_columns, 0)};
#undef TABLE
    size_t count = sizeof tables / sizeof *tables - !c->newest; /* the last one: since 70 */
    for (size_t i = 0; i < count; i++)
        PCI_TRY(put_table(c, out, tables[i].name, tables[i].rows, tables[i].columns,
                          tables[i].column_count, err));
    return PCOL_OK;
}

pcol_status pci_ff_put_shared(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                              pcol_error *err)
{
    pci_json_put_begin_member(&out->w, "shared", '{', err);
    PCI_TRY(put_tables(code, out, err));
    pci_json_put_key(&out->w, "stringArray", err); /* last, since tables before it may add names */
    pci_json_put_begin(&out->w, '[', err);
    for (uint32_t i = 0; i < code->strings.count; i++)
        pci_json_put_string(&out->w, pci_string_pool_get(&code->strings, i), err);
    pci_json_put_end(&out->w, ']', err);
    pci_json_put_end(&out->w, '}', err);
    return out->w.status;
}
