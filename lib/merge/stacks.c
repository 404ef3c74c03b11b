/*
 * stacks.c - strings, functions, location groups and call stacks of a pcol file
 *
 * Rows are copied in order, so that a single file is reproduced. Each table has a map from its rows
 * to the builder's. Columns without stored bytes let a small file declare any number of rows;
 * therefore the row count is checked against the file's size before a map is allocated.
 */
#include "merge/added_frames.h"
#include "merge/merge.h"
#include "merge/symbolize.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>

#define DISTINCT_VARIANT (UINT32_C(1) << 30) /* first variant of distinct rows */

/* ---- cells */

pcol_status pci_cells_use(struct pci_cells *cells, const pcol_file *file,
                          const struct pci_column *column, pcol_error *err)
{
    cells->file = file;
    cells->column = column;
    cells->first = cells->count = 0;
    return column ? pci_verify(file, column, err) : PCOL_OK;
}

pcol_status pci_cells_open(struct pci_cells *cells, const pcol_file *file, const char *table,
                           const char *column, unsigned types, pcol_error *err)
{
    const struct pci_table *t = pci_table_find(file, table);
    const struct pci_column *c = t ? pci_column_find(t, column) : NULL;
    if (c && c->supported && !(types & PCI_IS(c->desc->type)))
        return pci_corrupt(err, table, column, PCOL_POSITION_UNKNOWN,
                           "the column has the wrong type");
    return pci_cells_use(cells, file, c, err);
}

pcol_status pci_cells_load(struct pci_cells *cells, uint64_t row, int64_t *value, int *valid,
                           pcol_error *err)
{
    uint64_t rows = cells->column ? cells->column->desc->rows : 0;
    *value = 0;
    *valid = 0;
    if (row >= rows)
        return PCOL_OK;
    uint64_t count = rows - row < PCI_MERGE_BATCH ? rows - row : PCI_MERGE_BATCH;
    cells->count = 0;
    PCI_TRY(pci_read(cells->file, cells->column, row, count, cells->value, cells->valid, err));
    cells->first = row;
    cells->count = count;
    *value = cells->value[0];
    *valid = cells->valid[0];
    return PCOL_OK;
}

pcol_status pci_cells_batch(struct pci_cells *cells, uint64_t row, size_t most, size_t *count,
                            pcol_error *err)
{
    int64_t value;
    int valid;
    *count = 0;
    if (!cells->column || row >= cells->column->desc->rows)
        return PCOL_OK;
    if (row != cells->first)
        cells->count = 0;
    PCI_TRY(pci_cells_get(cells, row, &value, &valid, err));
    *count = cells->count < most ? (size_t)cells->count : most;
    return PCOL_OK;
}

static pcol_status fail_row(const struct pci_cells *cells, uint64_t row, int64_t value,
                            pcol_error *err)
{
    return pci_corrupt(err, cells->column->table->name, cells->column->name, row,
                       "%" PRIu64 " names no row", (uint64_t)value);
}

pcol_status pci_cells_row(struct pci_cells *cells, uint64_t row, uint64_t rows, uint32_t *value,
                          pcol_error *err)
{
    int64_t number;
    int valid;
    PCI_TRY(pci_cells_get(cells, row, &number, &valid, err));
    *value = PCOL_NONE;
    if (!valid)
        return PCOL_OK;
    if ((uint64_t)number >= rows || (uint64_t)number >= PCOL_NONE)
        return fail_row(cells, row, number, err);
    *value = (uint32_t)number;
    return PCOL_OK;
}

pcol_status pci_cells_string(struct pci_cells *cells, const struct pci_merge *merge, uint64_t row,
                             uint32_t *string, pcol_error *err)
{
    int64_t code;
    int valid;
    pcol_str text;
    PCI_TRY(pci_cells_get(cells, row, &code, &valid, err));
    *string = PCOL_NONE;
    if (!valid)
        return PCOL_OK;
    if (merge->strings) {
        if ((uint64_t)code >= merge->string_count)
            return fail_row(cells, row, code, err);
        *string = merge->strings[code];
        return PCOL_OK;
    }
    PCI_TRY(pci_string(merge->file, (uint64_t)code, &text, err));
    return pci_merge_text(merge, cells->column->schema->anonymize, text, string, err);
}

/* ---- rows and maps */

pcol_status pci_merge_rows(const pcol_file *file, const char *table, uint64_t *rows,
                           pcol_error *err)
{
    const struct pci_table *t = pci_table_find(file, table);
    *rows = 0;
    if (!t)
        return PCOL_OK;
    PCI_TRY(pci_check_table_supported(t, err));
    PCI_TRY(pci_check_row_count(file, table, err));
    if (t->rows >= PCOL_NONE)
        return pci_fail_cell(err, PCOL_E_LIMIT, table, NULL, PCOL_POSITION_UNKNOWN,
                             "%" PRIu64 " rows are too many to merge", t->rows);
    *rows = t->rows;
    return PCOL_OK;
}

pcol_status pci_merge_map(uint32_t **map, uint64_t rows, pcol_error *err)
{
    PCI_TRY(PCI_MALLOC(*map, (size_t)rows, err));
    memset(*map, 0xff, (size_t)rows * sizeof **map); /* PCOL_NONE */
    return PCOL_OK;
}

pcol_status pci_merge_strings(struct pci_merge *merge, pcol_error *err)
{
    const struct pci_column *column = merge->file->strings;
    PCI_TRY(pci_merge_rows(merge->file, "strings", &merge->string_count, err));
    if (!column)
        return PCOL_OK;
    PCI_TRY(pci_verify(merge->file, column, err));
    if (merge->partial)
        return PCOL_OK;
    PCI_TRY(pci_merge_map(&merge->strings, merge->string_count, err));
    for (uint64_t row = 0; row < merge->string_count; row++) {
        pcol_str text;
        PCI_TRY(pci_string(merge->file, row, &text, err));
        PCI_TRY(
            pcol_builder_string(merge->builder, text.data, text.size, &merge->strings[row], err));
    }
    return PCOL_OK;
}

/* ---- functions and groups */

enum {
    F_NAME,
    F_SYSTEM,
    F_FILE,
    F_LINE,
    F_ID,
    L_FUNCTION,
    L_LINE,
    L_COLUMN,
    L_FILE,
    G_FIRST,
    G_MAPPING,
    G_ADDRESS,
    G_FOLDED,
    G_ID,
    G_NUMBER,
    S_PARENT,
    S_GROUP,
    CELL_COUNT
};

static const struct {
    const char *table, *column;
    unsigned types;
} needed[CELL_COUNT] = {
    [F_NAME] = {"functions", "name", PCI_IS(PCF_STRING)},
    [F_SYSTEM] = {"functions", "system_name", PCI_IS(PCF_STRING)},
    [F_FILE] = {"functions", "filename", PCI_IS(PCF_STRING)},
    [F_LINE] = {"functions", "start_line", PCI_IS_INT},
    [F_ID] = {"functions", "id", PCI_IS_INT},
    [L_FUNCTION] = {"locations", "function", PCI_IS_INT},
    [L_LINE] = {"locations", "line", PCI_IS_INT},
    [L_COLUMN] = {"locations", "column", PCI_IS_INT},
    [L_FILE] = {"locations", "filename", PCI_IS(PCF_STRING)},
    [G_FIRST] = {"location_groups", "first_location", PCI_IS_INT},
    [G_MAPPING] = {"location_groups", "mapping", PCI_IS_INT},
    [G_ADDRESS] = {"location_groups", "address", PCI_IS_INT},
    [G_FOLDED] = {"location_groups", "folded", PCI_IS(PCF_BOOL)},
    [G_ID] = {"location_groups", "id", PCI_IS_INT},
    [G_NUMBER] = {"location_groups", "file_number", PCI_IS_INT},
    [S_PARENT] = {"stacks", "parent", PCI_IS_INT},
    [S_GROUP] = {"stacks", "group", PCI_IS_INT},
};

struct stack_copy {
    struct pci_merge *merge;
    uint64_t location_rows, mapping_rows;
    const struct pci_table *mappings;
    struct pci_row_content function_content, group_content;
    pcol_line *lines;
    size_t line_capacity;
    struct pci_cells cells[CELL_COUNT];
};

static pcol_status add_function(struct stack_copy *w, uint64_t row, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    struct pci_cells *c = w->cells;
    pcol_function f = {.size = sizeof f};
    int64_t id;
    int valid, is_new;
    PCI_TRY(pci_cells_string(&c[F_NAME], m, row, &f.name, err));
    PCI_TRY(pci_cells_string(&c[F_SYSTEM], m, row, &f.system_name, err));
    PCI_TRY(pci_cells_string(&c[F_FILE], m, row, &f.filename, err));
    PCI_TRY(pci_cells_get(&c[F_LINE], row, &f.start_line, &valid, err));
    pci_set_flag(&f.flags, PCOL_FUNCTION_HAS_START_LINE, valid);
    PCI_TRY(pci_cells_get(&c[F_ID], row, &id, &valid, err));
    f.id = (uint64_t)id;
    pci_set_flag(&f.flags, PCOL_FUNCTION_HAS_ID, valid);
    struct pci_row_content *content = &w->function_content;
    PCI_TRY(pci_row_content_read(content, row, err));
    f.variant = DISTINCT_VARIANT + (uint32_t)m->builder->function_count;
    PCI_TRY(pci_builder_function(m->builder, !content->is_distinct, &f, content->columns,
                                 content->cells, content->count, &m->functions[row], &is_new, err));
    return is_new ? pci_row_content_copy_uncompared(content, row, m->functions[row], err) : PCOL_OK;
}

static pcol_status read_line(struct stack_copy *w, uint64_t row, pcol_line *line, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    struct pci_cells *c = w->cells;
    int valid;
    memset(line, 0, sizeof *line);
    PCI_TRY(pci_cells_row(&c[L_FUNCTION], row, m->function_count, &line->function, err));
    PCI_TRY(pci_cells_string(&c[L_FILE], m, row, &line->filename, err));
    PCI_TRY(pci_cells_get(&c[L_LINE], row, &line->line, &valid, err));
    line->flags = valid ? PCOL_LINE_HAS_LINE : 0;
    PCI_TRY(pci_cells_get(&c[L_COLUMN], row, &line->column, &valid, err));
    pci_set_flag(&line->flags, PCOL_LINE_HAS_COLUMN, valid);
    if (line->function == PCOL_NONE)
        return PCOL_OK;
    line->function = m->functions[line->function];
    return PCOL_OK;
}

/* From first_location of a group to that of the next group. */
pcol_status pci_merge_line_range(struct pci_merge *merge, struct pci_cells *cells, uint64_t row,
                                 uint64_t location_rows, uint64_t *first, uint64_t *end,
                                 pcol_error *err)
{
    int64_t value;
    int valid, last = row + 1 == merge->group_count;
    *first = row;
    *end = row + 1;
    if (cells->column) {
        PCI_TRY(pci_cells_get(cells, row, &value, &valid, err));
        *first = (uint64_t)value;
        *end = location_rows;
        if (!last)
            PCI_TRY(pci_cells_get(cells, row + 1, &value, &valid, err));
        if (!last)
            *end = (uint64_t)value;
    }
    if (*first >= *end || *end > location_rows || (row == 0 && *first) ||
        (last && *end != location_rows))
        return pci_corrupt(err, "location_groups", "first_location", row,
                           "the lines of the groups do not follow one another");
    return PCOL_OK;
}

/* *hidden: all lines are omitted, and so is the group. */
static pcol_status read_lines(struct stack_copy *w, uint64_t row, pcol_group *group, int *hidden,
                              pcol_error *err)
{
    uint64_t first, end;
    PCI_TRY(pci_merge_line_range(w->merge, &w->cells[G_FIRST], row, w->location_rows, &first, &end,
                                 err));
    group->line_count = (size_t)(end - first);
    PCI_TRY(PCI_GROW(w->lines, w->line_capacity, group->line_count, err));
    const uint8_t *copied = w->merge->selection ? w->merge->selection->locations : NULL;
    group->line_count = 0;
    for (; first < end; first++)
        if (!copied || copied[first])
            PCI_TRY(read_line(w, first, &w->lines[group->line_count++], err));
    group->lines = w->lines;
    *hidden = group->line_count == 0;
    if (*hidden)
        return PCOL_OK;
    const pcol_line *only = w->lines;
    if (group->line_count == 1 && only->function == PCOL_NONE && only->filename == PCOL_NONE &&
        !(only->flags & PCOL_LINE_HAS_LINE) && !(only->flags & PCOL_LINE_HAS_COLUMN))
        group->line_count = 0; /* a group without lines has one row of nulls */
    if (group->line_count || !w->merge->symbols)
        return PCOL_OK;
    PCI_TRY(pci_symbol_lines(w->merge, row, &w->lines, &w->line_capacity, &group->line_count, err));
    group->lines = w->lines;
    return PCOL_OK;
}

/* The mapping of a group, and what is subtracted from the addresses of its code. */
static pcol_status read_mapping(struct stack_copy *w, uint64_t row, uint32_t *mapping,
                                uint64_t *bias, pcol_error *err)
{
    struct pci_cells *c = &w->cells[G_MAPPING];
    uint64_t to;
    int omitted;
    *bias = 0;
    PCI_TRY(pci_cells_row(c, row, w->mapping_rows, mapping, err));
    if (*mapping == PCOL_NONE)
        return PCOL_OK;
    if (w->merge->mapping_bias)
        *bias = w->merge->mapping_bias[*mapping];
    PCI_TRY(pci_merge_row(w->merge, w->mappings, c->column, row, *mapping, &to, &omitted, err));
    *mapping = omitted ? PCOL_NONE : (uint32_t)to;
    return PCOL_OK;
}

static pcol_status add_group(struct stack_copy *w, uint64_t row, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    struct pci_cells *c = w->cells;
    struct pci_row_content *content = &w->group_content;
    pcol_group g = {.size = sizeof g};
    uint64_t bias;
    int64_t value;
    int valid, is_new, hidden = 0;
    PCI_TRY(read_lines(w, row, &g, &hidden, err));
    if (hidden)
        return PCOL_OK;
    PCI_TRY(read_mapping(w, row, &g.mapping, &bias, err));
    PCI_TRY(pci_cells_get(&c[G_ADDRESS], row, &value, &valid, err));
    g.address = valid ? (uint64_t)value - bias : 0;
    pci_set_flag(&g.flags, PCOL_GROUP_HAS_ADDRESS, valid);
    PCI_TRY(pci_cells_get(&c[G_ID], row, &value, &valid, err));
    g.id = (uint64_t)value;
    pci_set_flag(&g.flags, PCOL_GROUP_HAS_ID, valid);
    PCI_TRY(pci_cells_get(&c[G_NUMBER], row, &g.file_number, &valid, err));
    pci_set_flag(&g.flags, PCOL_GROUP_HAS_FILE_NUMBER, valid);
    PCI_TRY(pci_cells_get(&c[G_FOLDED], row, &value, &valid, err));
    pci_set_flag(&g.flags, PCOL_GROUP_FOLDED, valid && value);
    PCI_TRY(pci_row_content_read(content, row, err));
    g.variant = DISTINCT_VARIANT + (uint32_t)m->builder->group_count;
    PCI_TRY(pci_builder_group(m->builder, !content->is_distinct, &g, content->columns,
                              content->cells, content->count, &m->groups[row], &is_new, err));
    return is_new ? pci_row_content_copy_uncompared(content, row, m->groups[row], err) : PCOL_OK;
}

/* ---- stacks */

static pcol_status add_stack(struct stack_copy *w, uint64_t row, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    uint32_t parent, group;
    PCI_TRY(pci_cells_row(&w->cells[S_PARENT], row, row, &parent, err));
    PCI_TRY(pci_cells_row(&w->cells[S_GROUP], row, m->group_count, &group, err));
    if (parent == PCOL_NONE || group == PCOL_NONE || m->stacks[parent] == PCOL_NONE)
        return pci_corrupt(err, "stacks", NULL, row, "a stack needs a parent and a group");
    if (m->selection && (m->groups[group] == PCOL_NONE ||
                         (m->selection->omitted_frames && m->selection->omitted_frames[row]))) {
        m->stacks[row] = m->stacks[parent]; /* a hidden frame */
        return PCOL_OK;
    }
    return pcol_builder_stack(m->builder, m->stacks[parent], m->groups[group], &m->stacks[row],
                              err);
}

/* Copies stacks in batches; add_stack() copies the others and reports damage. */
static pcol_status add_stacks(struct stack_copy *w, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    const struct pci_cells *parents = &w->cells[S_PARENT], *groups = &w->cells[S_GROUP];
    size_t n, parent_count, group_count;
    for (uint64_t row = 1; row < m->stack_count; row += n) {
        n = m->stack_count - row < PCI_MERGE_BATCH ? (size_t)(m->stack_count - row)
                                                   : PCI_MERGE_BATCH;
        PCI_TRY(pci_cells_batch(&w->cells[S_PARENT], row, n, &parent_count, err));
        PCI_TRY(pci_cells_batch(&w->cells[S_GROUP], row, n, &group_count, err));
        for (size_t i = 0; i < n; i++) {
            uint64_t parent = PCOL_NONE, group = PCOL_NONE;
            if (m->used_stacks && !m->used_stacks[row + i])
                continue;
            if (!m->selection && i < parent_count && i < group_count && parents->valid[i] &&
                groups->valid[i]) {
                parent = (uint64_t)parents->value[i];
                group = (uint64_t)groups->value[i];
            }
            if (parent < row + i && group < m->group_count && m->stacks[parent] != PCOL_NONE)
                PCI_TRY(pcol_builder_stack(m->builder, m->stacks[parent], m->groups[group],
                                           &m->stacks[row + i], err));
            else
                PCI_TRY(add_stack(w, row + i, err));
        }
    }
    return PCOL_OK;
}

static pcol_status copy_rows(struct stack_copy *w, pcol_error *err)
{
    struct pci_merge *m = w->merge;
    for (uint64_t row = 0; row < m->function_count; row++)
        if (!m->used_functions || m->used_functions[row])
            PCI_TRY(add_function(w, row, err));
    for (uint64_t row = 0; row < m->group_count; row++)
        if (!m->used_groups || m->used_groups[row])
            PCI_TRY(add_group(w, row, err));
    if (m->stack_count)
        m->stacks[0] = 0;
    if (m->selection && m->selection->added)
        return pci_placed_stacks_open(m, err);
    return add_stacks(w, err);
}

static pcol_status open_contents(struct stack_copy *w, pcol_error *err)
{
    static const char *const of_functions[] = {"name",       "system_name", "filename",
                                               "start_line", "id",          NULL};
    static const char *const of_groups[] = {"first_location", "mapping", "address", "folded", "id",
                                            "file_number",    NULL};
    struct pci_merge *m = w->merge;
    PCI_TRY(pci_row_content_open(&w->function_content, m, pci_table_find(m->file, "functions"),
                                 PCI_T_FUNCTIONS, of_functions, err));
    return pci_row_content_open(&w->group_content, m, pci_table_find(m->file, "location_groups"),
                                PCI_T_GROUPS, of_groups, err);
}

pcol_status pci_merge_open_maps(struct pci_merge *merge, pcol_error *err)
{
    PCI_TRY(pci_merge_rows(merge->file, "functions", &merge->function_count, err));
    PCI_TRY(pci_merge_rows(merge->file, "location_groups", &merge->group_count, err));
    PCI_TRY(pci_merge_rows(merge->file, "stacks", &merge->stack_count, err));
    PCI_TRY(pci_merge_map(&merge->functions, merge->function_count, err));
    PCI_TRY(pci_merge_map(&merge->groups, merge->group_count, err));
    return pci_merge_map(&merge->stacks, merge->stack_count, err);
}

pcol_status pci_merge_stacks(struct pci_merge *merge, pcol_error *err)
{
    const pcol_file *file = merge->file;
    struct stack_copy *w;
    pcol_status status = PCOL_OK;
    PCI_TRY(PCI_CALLOC(w, 1, err));
    w->merge = merge;
    w->mappings = pci_table_find(file, "mappings");
    for (size_t i = 0; status == PCOL_OK && i < CELL_COUNT; i++)
        status = pci_cells_open(&w->cells[i], file, needed[i].table, needed[i].column,
                                needed[i].types, err);
    PCI_THEN(status, pci_merge_rows(file, "locations", &w->location_rows, err));
    PCI_THEN(status, pci_merge_rows(file, "mappings", &w->mapping_rows, err));
    PCI_THEN(status, open_contents(w, err));
    PCI_THEN(status, copy_rows(w, err));
    pci_row_content_close(&w->function_content);
    pci_row_content_close(&w->group_content);
    pci_free(w->lines);
    pci_free(w);
    return status;
}
