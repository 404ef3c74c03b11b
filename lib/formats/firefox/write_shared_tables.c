/*
 * write_shared_tables.c - writes the collected tables of code as `libs` and the member `shared` of
 * version 60 or 70
 */
#include "formats/firefox/write_native.h"

/* ---- columns */

struct table {
    struct pci_ff_emitter *out;
    const char *name;
    size_t rows;
};

static void begin_table(struct table *t, struct pci_ff_emitter *out, const char *name, size_t rows,
                        pcol_error *err)
{
    *t = (struct table){out, name, rows};
    pci_json_put_key(&out->w, name, err);
    pci_json_put_begin(&out->w, '{', err);
    pci_json_put_key(&out->w, "length", err);
    pci_json_put_int(&out->w, (int64_t)rows, err);
}

/* Function that computes cell i of a column. */
typedef pcol_status (*get_cell_fn)(struct pci_ff_code_tables *code, size_t i, int *kind,
                                   int64_t *value, pcol_error *err);

static pcol_status put_column(struct table *t, struct pci_ff_code_tables *code, const char *column,
                              get_cell_fn cell, pcol_error *err)
{
    struct pci_ff_cells cells;
    pcol_status status = PCOL_OK;
    pci_ff_cells_init(&cells, &t->out->store);
    for (size_t i = 0; i < t->rows && status == PCOL_OK; i++) {
        int kind = PCI_FF_NULL;
        int64_t value = 0;
        if (cell)
            status = cell(code, i, &kind, &value, err);
        PCI_THEN(status, pci_ff_cells_add(&cells, kind, value, err));
    }
    pci_json_put_key(&t->out->w, column, err);
    PCI_THEN(status,
             pci_ff_emit_column(t->out, t->name, (pcol_str){column, strlen(column)}, &cells, err));
    pci_ff_cells_clear(&cells);
    return status;
}

static void end_table(struct table *t, pcol_error *err)
{
    pci_json_put_end(&t->out->w, '}', err);
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

CELL(minus_one)
{
    (void)c, (void)i, (void)err;
    return set_integer(-1, kind, value);
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
        pci_json_put_key(&out->w, keys[i].key, err);
        pci_json_put_string(&out->w, text, err);
    }
    pci_json_put_end(&out->w, '}', err);
    return out->w.status;
}

pcol_status pci_ff_put_libs(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                            pcol_error *err)
{
    pci_json_put_key(&out->w, "libs", err);
    pci_json_put_begin(&out->w, '[', err);
    for (size_t i = 0; i < code->lib_count; i++)
        PCI_TRY(put_lib(code, out, code->libs[i], err));
    pci_json_put_end(&out->w, ']', err);
    return out->w.status;
}

/* ---- tables */

static pcol_status put_stacks_and_frames(struct pci_ff_code_tables *c, struct pci_ff_emitter *out,
                                         pcol_error *err)
{
    struct table t;
    begin_table(&t, out, "stackTable", c->stack_count, err);
    PCI_TRY(put_column(&t, c, "frame", stack_frame, err));
    PCI_TRY(put_column(&t, c, c->newest ? "prefixOffset" : "prefix", stack_prefix, err));
    end_table(&t, err);
    begin_table(&t, out, "frameTable", c->frame_count, err);
    PCI_TRY(put_column(&t, c, "address", frame_address, err));
    if (c->newest)
        PCI_TRY(put_column(&t, c, "lib", frame_lib, err));
    PCI_TRY(put_column(&t, c, "inlineDepth", frame_depth, err));
    PCI_TRY(put_column(&t, c, "category", frame_category, err));
    PCI_TRY(put_column(&t, c, "subcategory", frame_subcategory, err));
    PCI_TRY(put_column(&t, c, "func", frame_func, err));
    PCI_TRY(put_column(&t, c, "nativeSymbol", NULL, err));
    PCI_TRY(put_column(&t, c, "innerWindowID", frame_window, err));
    PCI_TRY(put_column(&t, c, "line", frame_line, err));
    PCI_TRY(put_column(&t, c, "column", frame_column, err));
    if (c->newest)
        PCI_TRY(put_column(&t, c, "originalLocation", NULL, err));
    end_table(&t, err);
    return out->w.status;
}

static pcol_status put_functions(struct pci_ff_code_tables *c, struct pci_ff_emitter *out,
                                 pcol_error *err)
{
    struct table t;
    begin_table(&t, out, "funcTable", c->function_count, err);
    PCI_TRY(put_column(&t, c, "name", function_name, err));
    PCI_TRY(put_column(&t, c, "isJS", function_is_js, err));
    PCI_TRY(put_column(&t, c, "relevantForJS", function_relevant_for_js, err));
    PCI_TRY(put_column(&t, c, "resource", function_resource, err));
    PCI_TRY(put_column(&t, c, "source", function_source, err));
    PCI_TRY(put_column(&t, c, "lineNumber", function_line, err));
    PCI_TRY(put_column(&t, c, "columnNumber", function_column, err));
    if (c->newest)
        PCI_TRY(put_column(&t, c, "originalLocation", NULL, err));
    end_table(&t, err);
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

static pcol_status put_resources(struct pci_ff_code_tables *c, struct pci_ff_emitter *out,
                                 pcol_error *err)
{
    struct table t;
    begin_table(&t, out, "resourceTable", c->lib_count, err);
    if (!c->newest)
        PCI_TRY(put_column(&t, c, "lib", lib_row, err));
    PCI_TRY(put_column(&t, c, "name", resource_name, err));
    PCI_TRY(put_column(&t, c, "host", NULL, err));
    PCI_TRY(put_column(&t, c, "type", library, err));
    end_table(&t, err);
    begin_table(&t, out, "nativeSymbols", 0, err);
    PCI_TRY(put_column(&t, c, "libIndex", minus_one, err));
    PCI_TRY(put_column(&t, c, "address", minus_one, err));
    PCI_TRY(put_column(&t, c, "name", minus_one, err));
    PCI_TRY(put_column(&t, c, "functionSize", minus_one, err));
    end_table(&t, err);
    return out->w.status;
}

static pcol_status put_sources(struct pci_ff_code_tables *c, struct pci_ff_emitter *out,
                               pcol_error *err)
{
    struct table t;
    begin_table(&t, out, "sources", c->source_count, err);
    PCI_TRY(put_column(&t, c, c->newest ? "id" : "uuid", NULL, err));
    PCI_TRY(put_column(&t, c, "filename", source_name, err));
    if (c->newest) {
        PCI_TRY(put_column(&t, c, "startLine", source_start, err));
        PCI_TRY(put_column(&t, c, "startColumn", source_start, err));
        PCI_TRY(put_column(&t, c, "sourceMapURL", NULL, err));
        PCI_TRY(put_column(&t, c, "content", NULL, err));
    }
    end_table(&t, err);
    if (!c->newest)
        return out->w.status;
    begin_table(&t, out, "sourceLocationTable", 0, err);
    PCI_TRY(put_column(&t, c, "source", minus_one, err));
    PCI_TRY(put_column(&t, c, "line", minus_one, err));
    PCI_TRY(put_column(&t, c, "column", minus_one, err));
    end_table(&t, err);
    return out->w.status;
}

pcol_status pci_ff_put_shared(struct pci_ff_code_tables *code, struct pci_ff_emitter *out,
                              pcol_error *err)
{
    pci_json_put_key(&out->w, "shared", err);
    pci_json_put_begin(&out->w, '{', err);
    PCI_TRY(put_stacks_and_frames(code, out, err));
    PCI_TRY(put_functions(code, out, err));
    PCI_TRY(put_resources(code, out, err));
    PCI_TRY(put_sources(code, out, err));
    pci_json_put_key(&out->w, "stringArray", err); /* last, since tables before it may add names */
    pci_json_put_begin(&out->w, '[', err);
    for (uint32_t i = 0; i < code->strings.count; i++)
        pci_json_put_string(&out->w, pci_string_pool_get(&code->strings, i), err);
    pci_json_put_end(&out->w, ']', err);
    pci_json_put_end(&out->w, '}', err);
    return out->w.status;
}
