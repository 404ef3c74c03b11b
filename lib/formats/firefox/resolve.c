/*
 * resolve.c - converts strings, code and resources of a scope, each table after those it refers to
 *
 * Interning: rows with equal content become one row of the builder, across threads. Rows that occur
 * twice in one table of the source stay distinct (`variant`), so that each source row has a row of
 * its own and its number can be restored.
 */
#include "formats/firefox/read.h"

#include "util/alloc.h"

const uint32_t *pci_ff_get_map(const struct pci_ff *ff, const struct pci_ff_scope *scope, int id,
                               uint64_t *rows)
{
    if (id == PCI_FF_CATEGORIES || !scope->tables[id].present)
        scope = &ff->shared;
    *rows = scope->rows[id];
    return scope->map[id];
}

static pcol_status new_map(struct pci_ff_scope *scope, int id, pcol_error *err)
{
    scope->rows[id] = scope->tables[id].rows;
    scope->map[id] = pci_malloc((size_t)scope->rows[id] + 1, sizeof(uint32_t));
    return scope->map[id] ? PCOL_OK : pci_fail_memory(err);
}

static pcol_status resolve_strings(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    struct pci_ff_table *t = &scope->tables[PCI_FF_STRINGS];
    struct pci_ff_duplicates *duplicates = &ff->duplicates[PCI_FF_STRINGS];
    struct pci_ff_cursor *cursor;
    pcol_status status = PCOL_OK;
    PCI_TRY(new_map(scope, PCI_FF_STRINGS, err));
    scope->repeated = pci_calloc((size_t)t->rows + 1, 1);
    cursor = pci_malloc(1, sizeof *cursor);
    if (!cursor || !scope->repeated) {
        pci_free(cursor);
        return pci_fail_memory(err);
    }
    duplicates->epoch++;
    pci_ff_cursor_init(cursor, &t->columns[0].cells);
    for (uint64_t i = 0; status == PCOL_OK && i < t->rows; i++) {
        int kind;
        int64_t code = 0;
        uint32_t before = 0;
        status = pci_ff_cell(cursor, i, &kind, &code, err);
        PCI_THEN(status, pci_ff_count_duplicate(duplicates, (uint32_t)code, &before, err));
        scope->map[PCI_FF_STRINGS][i] = (uint32_t)code;
        scope->repeated[i] = before != 0;
        scope->has_repeated |= before != 0;
    }
    pci_free(cursor);
    return status;
}

/* ---- rows of the builder */

/* State for the conversion of the rows of one table. */
struct pci_ff_cloner {
    struct pci_ff *ff;
    struct pci_ff_scope *scope;
    struct pci_ff_table *table;
    int id;
    uint32_t builder_table;
    size_t count;
    struct pci_ff_field fields[PCI_FF_MAX_FIELDS];
    uint32_t columns[PCI_FF_MAX_FIELDS]; /* builder columns of the cells */
    struct pci_cell_value cells[PCI_FF_MAX_FIELDS];
    size_t first; /* index of the first cell that is stored in a column of its own */
};

static uint32_t get_code(const struct pci_cell_value *cell)
{
    return cell->valid ? (uint32_t)cell->bits : PCOL_NONE;
}

static pcol_status intern_row(struct pci_ff_cloner *w, uint32_t variant, uint32_t *row,
                              pcol_error *err)
{
    return pci_builder_intern(w->ff->b, w->builder_table, w->columns, w->cells, w->count, variant,
                              row, NULL, err);
}

static pcol_status put_function(struct pci_ff_cloner *w, uint64_t i, uint32_t variant,
                                uint32_t *row, pcol_error *err)
{
    const struct pci_cell_value *c = w->cells;
    const struct pci_ff_scope *shared = &w->ff->shared;
    pcol_function f = {.size = sizeof f,
                       .name = get_code(&c[PCI_FF_FN_NAME]),
                       .system_name = PCOL_NONE,
                       .filename = get_code(&c[PCI_FF_FN_FILE]),
                       .start_line = c[PCI_FF_FN_LINE].bits,
                       .flags = c[PCI_FF_FN_LINE].valid ? PCOL_FUNCTION_HAS_START_LINE : 0,
                       .variant = variant};
    int kind;
    int64_t value;
    struct pci_ff_field *source = &w->fields[PCI_FF_FN_SOURCE];
    struct pci_ff_field *resource = &w->fields[PCI_FF_FN_RESOURCE];
    if (c[PCI_FF_FN_SOURCE].valid && f.filename == PCOL_NONE) {
        const struct pci_ff_scope *s = w->scope->tables[PCI_FF_SOURCES].present ? w->scope : shared;
        PCI_TRY(pci_ff_cell(source->cursor, i, &kind, &value, err));
        f.filename = s->file_names[value];
    }
    w->scope->function_lib[i] = PCOL_NONE;
    if (c[PCI_FF_FN_RESOURCE].valid) {
        const struct pci_ff_scope *s =
            w->scope->tables[PCI_FF_RESOURCES].present ? w->scope : shared;
        PCI_TRY(pci_ff_cell(resource->cursor, i, &kind, &value, err));
        w->scope->function_lib[i] = s->resource_lib[value];
    }
    return pci_builder_function(w->ff->b, 0, &f, w->columns + w->first, w->cells + w->first,
                                w->count - w->first, row, NULL, err);
}

static pcol_status put_frame(struct pci_ff_cloner *w, uint64_t i, uint32_t variant, uint32_t *row,
                             pcol_error *err)
{
    const struct pci_cell_value *c = w->cells;
    const struct pci_ff_scope *s =
        w->scope->tables[PCI_FF_FUNCTIONS].present ? w->scope : &w->ff->shared;
    pcol_line line = {.function = get_code(&c[PCI_FF_FR_FUNC]),
                      .filename = PCOL_NONE,
                      .line = c[PCI_FF_FR_LINE].bits,
                      .column = c[PCI_FF_FR_COLUMN].bits,
                      .flags = (c[PCI_FF_FR_LINE].valid ? PCOL_LINE_HAS_LINE : 0) |
                               (c[PCI_FF_FR_COLUMN].valid ? PCOL_LINE_HAS_COLUMN : 0)};
    pcol_group g = {.size = sizeof g,
                    .lines = &line,
                    .line_count = 1,
                    .mapping = get_code(&c[PCI_FF_FR_LIB]),
                    .address = (uint64_t)c[PCI_FF_FR_ADDRESS].bits,
                    .flags = c[PCI_FF_FR_ADDRESS].valid ? PCOL_GROUP_HAS_ADDRESS : 0,
                    .variant = variant};
    int kind;
    int64_t value;
    if (!w->fields[PCI_FF_FR_LIB].column && c[PCI_FF_FR_FUNC].valid) {
        PCI_TRY(pci_ff_cell(w->fields[PCI_FF_FR_FUNC].cursor, i, &kind, &value, err));
        g.mapping = s->function_lib[value];
    }
    return pci_builder_group(w->ff->b, 0, &g, w->columns + w->first, w->cells + w->first,
                             w->count - w->first, row, NULL, err);
}

static pcol_status put_row(struct pci_ff_cloner *w, uint64_t i, uint32_t variant, uint32_t *row,
                           pcol_error *err)
{
    if (w->id == PCI_FF_FUNCTIONS)
        return put_function(w, i, variant, row, err);
    if (w->id == PCI_FF_FRAMES)
        return put_frame(w, i, variant, row, err);
    return intern_row(w, variant, row, err);
}

/* The row number in the source that a cell refers to; PCOL_NONE: none. */
static pcol_status get_source_row(struct pci_ff_cloner *w, int field, uint64_t i, uint32_t *row,
                                  pcol_error *err)
{
    int kind;
    int64_t value;
    *row = PCOL_NONE;
    if (!w->cells[field].valid)
        return PCOL_OK;
    PCI_TRY(pci_ff_cell(w->fields[field].cursor, i, &kind, &value, err));
    if (kind == PCI_FF_INT)
        *row = (uint32_t)value;
    return PCOL_OK;
}

static pcol_status record_use(struct pci_ff_cloner *w, int field, int target, uint64_t i,
                              pcol_error *err)
{
    uint32_t row;
    if (!w->scope->tables[target].present)
        return PCOL_OK;
    PCI_TRY(get_source_row(w, field, i, &row, err));
    if (row != PCOL_NONE)
        pci_ff_record_use(w->scope, target, row);
    return PCOL_OK;
}

static pcol_status record_function_uses(struct pci_ff_cloner *w, uint64_t i, pcol_error *err)
{
    struct pci_ff_scope *scope = w->scope;
    uint32_t resource, name;
    PCI_TRY(record_use(w, PCI_FF_FN_SOURCE, PCI_FF_SOURCES, i, err));
    PCI_TRY(record_use(w, PCI_FF_FN_RESOURCE, PCI_FF_RESOURCES, i, err));
    if (!scope->tables[PCI_FF_STRINGS].present)
        return PCOL_OK;
    PCI_TRY(get_source_row(w, PCI_FF_FN_RESOURCE, i, &resource, err));
    PCI_TRY(get_source_row(w, PCI_FF_FN_NAME, i, &name, err));
    if (resource != PCOL_NONE && !scope->resource_names)
        /* resources belong to another scope */
        scope->uses.next[PCI_FF_STRINGS] = PCI_FF_UNORDERED;
    else if (resource != PCOL_NONE && scope->resource_names[resource] != PCOL_NONE)
        pci_ff_record_string_use(scope, scope->resource_names[resource]);
    if (name != PCOL_NONE)
        pci_ff_record_string_use(scope, name);
    return PCOL_OK;
}

/* Record data of a row that later tables need, and the rows that it uses. */
static pcol_status record_row(struct pci_ff_cloner *w, uint64_t i, pcol_error *err)
{
    switch (w->id) {
    case PCI_FF_SOURCES:
        w->scope->file_names[i] = get_code(&w->cells[0]);
        return PCOL_OK;
    case PCI_FF_RESOURCES:
        w->scope->resource_lib[i] = get_code(&w->cells[0]);
        return get_source_row(w, 1, i, &w->scope->resource_names[i], err);
    case PCI_FF_FUNCTIONS:
        return record_function_uses(w, i, err);
    case PCI_FF_FRAMES:
        PCI_TRY(record_use(w, PCI_FF_FR_FUNC, PCI_FF_FUNCTIONS, i, err));
        return record_use(w, PCI_FF_FR_SYMBOL, PCI_FF_SYMBOLS, i, err);
    default:
        return PCOL_OK;
    }
}

/* Load the cells of a row. A subcategory that its category does not have is dropped, and the column
 * preserved. */
static pcol_status get_cells(struct pci_ff_cloner *w, uint64_t i, pcol_error *err)
{
    for (size_t k = 0; k < w->count; k++)
        PCI_TRY(pci_ff_field_get(w->ff, w->table, &w->fields[k], i, &w->cells[k], err));
    const struct pci_cell_value *category = &w->cells[PCI_FF_FR_CATEGORY];
    struct pci_cell_value *part = &w->cells[PCI_FF_FR_SUBCATEGORY];
    uint64_t number = (uint64_t)category->bits - w->ff->category_base;
    if (w->id == PCI_FF_FRAMES && part->valid &&
        !pci_ff_has_subcategory(w->ff, category->valid ? number : PCI_NO_NODE, part->bits)) {
        *part = (struct pci_cell_value){0, 0};
        w->fields[PCI_FF_FR_SUBCATEGORY].exact = 0;
    }
    return PCOL_OK;
}

static pcol_status resolve_row(struct pci_ff_cloner *w, uint64_t i, pcol_error *err)
{
    uint32_t row, before;
    PCI_TRY(get_cells(w, i, err));
    if (w->id == PCI_FF_FRAMES && !w->cells[PCI_FF_FR_FUNC].valid)
        return pci_ff_fail_at(&w->table->position, err, "%s.func[%llu]: a frame needs a function",
                              w->table->path, (unsigned long long)i);
    PCI_TRY(record_row(w, i, err));
    PCI_TRY(put_row(w, i, 0, &row, err));
    PCI_TRY(pci_ff_count_duplicate(&w->ff->duplicates[w->id], row, &before, err));
    if (before)
        PCI_TRY(put_row(w, i, before, &row, err));
    w->scope->map[w->id][i] = row;
    return PCOL_OK;
}

static pcol_status resolve_rows(struct pci_ff_cloner *w, pcol_error *err)
{
    struct pci_ff_claim claims[PCI_FF_MAX_FIELDS];
    PCI_TRY(pci_ff_fields_open(w->ff, w->scope, w->table, pci_ff_schema[w->id].specs, w->count,
                               w->builder_table, w->fields, err));
    for (size_t k = 0; k < w->count; k++)
        w->columns[k] = w->fields[k].number;
    for (uint64_t i = 0; i < w->table->rows; i++)
        PCI_TRY(resolve_row(w, i, err));
    pci_ff_claim_fields(w->fields, w->count, claims);
    return pci_ff_preserve_table(w->ff, w->scope->thread, w->table, pci_ff_source_tables[w->id],
                                 claims, w->count, err);
}

static struct pci_ff_cloner *new_cloner(struct pci_ff *ff, struct pci_ff_scope *scope, int id)
{
    struct pci_ff_cloner *w = pci_calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->ff = ff;
    w->scope = scope;
    w->table = &scope->tables[id];
    w->id = id;
    w->count = pci_ff_schema[id].count;
    w->first = id == PCI_FF_FUNCTIONS ? (size_t)PCI_FF_FN_FURTHER
               : id == PCI_FF_FRAMES  ? (size_t)PCI_FF_FR_FURTHER
                                      : 0;
    return w;
}

static pcol_status resolve_table(struct pci_ff *ff, struct pci_ff_scope *scope, int id,
                                 pcol_error *err)
{
    struct pci_ff_cloner *w;
    size_t rows = (size_t)scope->tables[id].rows + 1;
    uint32_t **side_table = id == PCI_FF_SOURCES     ? &scope->file_names
                            : id == PCI_FF_RESOURCES ? &scope->resource_lib
                            : id == PCI_FF_FUNCTIONS ? &scope->function_lib
                                                     : NULL;
    PCI_TRY(new_map(scope, id, err));
    if (side_table && !(*side_table = pci_malloc(rows, sizeof(uint32_t))))
        return pci_fail_memory(err);
    if (id == PCI_FF_RESOURCES && !(scope->resource_names = pci_malloc(rows, sizeof(uint32_t))))
        return pci_fail_memory(err);
    w = new_cloner(ff, scope, id);
    if (!w)
        return pci_fail_memory(err);
    ff->duplicates[id].epoch++;
    pcol_status status = pcol_builder_table(ff->b, pci_ff_schema[id].table, &w->builder_table, err);
    PCI_THEN(status, resolve_rows(w, err));
    pci_ff_fields_close(w->fields, w->count);
    pci_free(w);
    return status;
}

/* ---- duplicates of frames, for stacks.c */

void pci_ff_cloner_free(struct pci_ff *ff)
{
    if (ff->cloner)
        pci_ff_fields_close(ff->cloner->fields, ff->cloner->count);
    pci_free(ff->cloner);
    ff->cloner = NULL;
}

pcol_status pci_ff_clone_frame(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t frame,
                               uint32_t variant, uint32_t *group, pcol_error *err)
{
    struct pci_ff_cloner *w = ff->cloner;
    if (!scope->tables[PCI_FF_FRAMES].present)
        scope = &ff->shared;
    if (!w || w->scope != scope) {
        pci_ff_cloner_free(ff);
        ff->cloner = w = new_cloner(ff, scope, PCI_FF_FRAMES);
        if (!w)
            return pci_fail_memory(err);
        PCI_TRY(pci_ff_fields_open(ff, scope, w->table, pci_ff_schema[w->id].specs, w->count,
                                   PCI_T_GROUPS, w->fields, err));
        for (size_t k = 0; k < w->count; k++)
            w->columns[k] = w->fields[k].number;
    }
    PCI_TRY(get_cells(w, frame, err));
    return put_frame(w, frame, variant, group, err);
}

pcol_status pci_ff_resolve(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    if (scope->tables[PCI_FF_STRINGS].present)
        PCI_TRY(resolve_strings(ff, scope, err));
    for (int id = PCI_FF_SOURCES; id <= PCI_FF_FRAMES; id++)
        if (scope->tables[id].present)
            PCI_TRY(resolve_table(ff, scope, id, err));
    if (scope->tables[PCI_FF_STACKS].present)
        PCI_TRY(pci_ff_resolve_stacks(ff, scope, err));
    return PCOL_OK;
}
