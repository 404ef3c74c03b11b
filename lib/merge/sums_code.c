/*
 * sums_code.c - code of the used stacks of a file, without what differs between processes
 *
 * Ids are left out, and addresses except where the name of the code depends on them: there they
 * become offsets in the binary. Rows of functions, groups and stacks are added in their order, so
 * that the order of a reduced file is that of the builder that wrote it. Tests: suite sums.
 */
#include "merge/sums.h"

#include "model/frame_names.h"
#include "util/alloc.h"

#include <string.h>

enum { NAMELESS, NAMED, ADDRESS }; /* name that a function shows */

enum {
    F_NAME,
    F_SYSTEM,
    F_FILE,
    F_START,
    L_FUNCTION,
    L_LINE,
    L_COLUMN,
    L_FILE,
    G_FIRST,
    G_MAPPING,
    G_ADDRESS,
    M_START,
    M_OFFSET,
    M_LIMIT,
    M_FILE,
    M_BUILD,
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
    [F_START] = {"functions", "start_line", PCI_IS_INT},
    [L_FUNCTION] = {"locations", "function", PCI_IS_INT},
    [L_LINE] = {"locations", "line", PCI_IS_INT},
    [L_COLUMN] = {"locations", "column", PCI_IS_INT},
    [L_FILE] = {"locations", "filename", PCI_IS(PCF_STRING)},
    [G_FIRST] = {"location_groups", "first_location", PCI_IS_INT},
    [G_MAPPING] = {"location_groups", "mapping", PCI_IS_INT},
    [G_ADDRESS] = {"location_groups", "address", PCI_IS_INT},
    [M_START] = {"mappings", "start", PCI_IS_INT},
    [M_OFFSET] = {"mappings", "file_offset", PCI_IS_INT},
    [M_LIMIT] = {"mappings", "limit", PCI_IS_INT},
    [M_FILE] = {"mappings", "filename", PCI_IS(PCF_STRING)},
    [M_BUILD] = {"mappings", "build_id", PCI_IS(PCF_STRING)},
    [S_PARENT] = {"stacks", "parent", PCI_IS_INT},
    [S_GROUP] = {"stacks", "group", PCI_IS_INT},
};

enum { MAPPING_FILE, MAPPING_BUILD, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_COLUMNS };

/* The mapping of the last group that had one: mostly that of the next one, too. */
struct last_mapping {
    uint32_t row; /* of the file; PCOL_NONE: none */
    int binary, shows_address;
    uint32_t flags;   /* of the group */
    uint64_t bias;    /* added to the address */
    uint32_t mapping; /* of the builder */
};

struct code_copy {
    struct pci_sums_file *f;
    struct last_mapping last;
    uint64_t function_count, location_count, group_count, mapping_count;
    uint8_t *used_functions, *used_groups, *shown; /* shown: by function */
    uint32_t *functions, *groups;
    pcol_line *lines;
    size_t line_capacity;
    uint32_t mapping_columns[MAPPING_COLUMNS];
    struct pci_cells cells[CELL_COUNT];
};

static pcol_status get_range(struct code_copy *c, uint64_t group, uint64_t *first, uint64_t *end,
                             pcol_error *err)
{
    struct pci_merge range = {.group_count = c->group_count};
    return pci_merge_line_range(&range, &c->cells[G_FIRST], group, c->location_count, first, end,
                                err);
}

/* Marks the callers of used stacks, and their groups and functions. */
static pcol_status mark_used(struct code_copy *c, pcol_error *err)
{
    struct pci_sums_file *f = c->f;
    uint32_t *parents;
    PCI_TRY(PCI_MALLOC(parents, (size_t)f->stack_count + 1, err));
    pcol_status status = PCOL_OK;
    for (uint64_t row = 1; status == PCOL_OK && row < f->stack_count; row++) {
        status = pci_cells_row(&c->cells[S_PARENT], row, row, &parents[row], err);
        if (status == PCOL_OK && parents[row] == PCOL_NONE)
            status = pci_corrupt(err, "stacks", "parent", row, "a stack needs a parent");
    }
    for (uint64_t row = f->stack_count; status == PCOL_OK && row-- > 1;)
        f->used_stacks[parents[row]] |= f->used_stacks[row];
    pci_free(parents);
    for (uint64_t row = 1; status == PCOL_OK && row < f->stack_count; row++) {
        uint32_t group;
        if (!f->used_stacks[row])
            continue;
        status = pci_cells_row(&c->cells[S_GROUP], row, c->group_count, &group, err);
        if (status == PCOL_OK && group == PCOL_NONE)
            status = pci_corrupt(err, "stacks", "group", row, "a stack needs a group");
        if (status == PCOL_OK)
            c->used_groups[group] = 1;
    }
    for (uint64_t row = 0; status == PCOL_OK && row < c->group_count; row++) {
        uint64_t first = 0, end = 0;
        if (c->used_groups[row])
            status = get_range(c, row, &first, &end, err);
        for (; status == PCOL_OK && first < end; first++) {
            uint32_t function;
            status = pci_cells_row(&c->cells[L_FUNCTION], first, c->function_count, &function, err);
            if (status == PCOL_OK && function != PCOL_NONE)
                c->used_functions[function] = 1;
        }
    }
    return status;
}

static pcol_status add_function(struct code_copy *c, uint64_t row, pcol_error *err)
{
    struct pci_sums_file *f = c->f;
    pcol_builder *b = f->sums->builder;
    pcol_function function = {.size = sizeof function};
    int valid;
    PCI_TRY(pci_sums_string(f, &c->cells[F_NAME], row, &function.name, err));
    PCI_TRY(pci_sums_string(f, &c->cells[F_SYSTEM], row, &function.system_name, err));
    PCI_TRY(pci_sums_string(f, &c->cells[F_FILE], row, &function.filename, err));
    PCI_TRY(pci_cells_get(&c->cells[F_START], row, &function.start_line, &valid, err));
    function.flags = valid ? PCOL_FUNCTION_HAS_START_LINE : 0;
    if (function.name != PCOL_NONE) {
        pcol_str name = pci_string_pool_get(&b->strings, function.name);
        c->shown[row] = !name.size ? NAMELESS : pci_is_address_name(name) ? ADDRESS : NAMED;
    }
    return pcol_builder_function(b, &function, &c->functions[row], err);
}

/* Lines of a group. *binary: a name depends on the binary; *offset: on the address, too. */
static pcol_status read_lines(struct code_copy *c, uint64_t row, pcol_group *group, int is_code,
                              int *binary, int *offset, pcol_error *err)
{
    uint64_t first, end;
    int valid;
    PCI_TRY(get_range(c, row, &first, &end, err));
    PCI_TRY(PCI_GROW(c->lines, c->line_capacity, (size_t)(end - first), err));
    *binary = *offset = 0;
    for (; first < end; first++) {
        pcol_line *line = &c->lines[group->line_count++];
        uint32_t function;
        memset(line, 0, sizeof *line);
        PCI_TRY(pci_cells_row(&c->cells[L_FUNCTION], first, c->function_count, &function, err));
        PCI_TRY(pci_cells_get(&c->cells[L_LINE], first, &line->line, &valid, err));
        line->flags = valid ? PCOL_LINE_HAS_LINE : 0;
        PCI_TRY(pci_cells_get(&c->cells[L_COLUMN], first, &line->column, &valid, err));
        pci_set_flag(&line->flags, PCOL_LINE_HAS_COLUMN, valid);
        line->function = function == PCOL_NONE ? PCOL_NONE : c->functions[function];
        line->filename = PCOL_NONE;
        if (function == PCOL_NONE)
            PCI_TRY(pci_sums_string(c->f, &c->cells[L_FILE], first, &line->filename, err));
        int shown = function != PCOL_NONE                    ? c->shown[function]
                    : line->filename == PCOL_NONE || is_code ? NAMELESS
                                                             : NAMED;
        *binary |= shown != NAMED;
        *offset |= shown == NAMELESS;
    }
    group->lines = c->lines;
    const pcol_line *only = c->lines;
    if (group->line_count == 1 && only->function == PCOL_NONE && only->filename == PCOL_NONE &&
        !only->flags)
        group->line_count = 0; /* a group without lines has one row of nulls */
    return PCOL_OK;
}

static pcol_status get_number(struct code_copy *c, size_t cells, uint64_t row, uint64_t *number,
                              pcol_error *err)
{
    int64_t value;
    int valid;
    PCI_TRY(pci_cells_get(&c->cells[cells], row, &value, &valid, err));
    *number = valid ? (uint64_t)value : 0;
    return PCOL_OK;
}

/* A text of the file; "" for null. */
static pcol_status get_text(struct code_copy *c, size_t cells, uint64_t row, pcol_str *text,
                            pcol_error *err)
{
    const struct pci_column *column = c->cells[cells].column;
    int valid;
    *text = (pcol_str){"", 0};
    return pci_get_str(c->f->file, column, row, text, &valid, err);
}

/* The mapping of a group by its file; with its build id, if `binary`. Code that shows its address,
 * as no file does, keeps it unless the sums are rebased; its mapping then keeps its start. */
static pcol_status find_mapping(struct code_copy *c, uint32_t row, int binary, int shows_address,
                                pcol_group *group, pcol_error *err)
{
    struct pci_sums_file *f = c->f;
    pcol_builder *b = f->sums->builder;
    struct pci_cell_value cells[MAPPING_COLUMNS] = {{0}};
    uint32_t file = PCOL_NONE, build = PCOL_NONE;
    uint64_t start, offset, limit;
    pcol_str path, build_id;
    /* Only strings that are kept become strings of the builder. */
    PCI_TRY(get_text(c, M_FILE, row, &path, err));
    PCI_TRY(get_text(c, M_BUILD, row, &build_id, err));
    if (path.size)
        PCI_TRY(pci_sums_string(f, &c->cells[M_FILE], row, &file, err));
    if (build_id.size && binary)
        PCI_TRY(pci_sums_string(f, &c->cells[M_BUILD], row, &build, err));
    else if (build_id.size)
        f->sums->lost |= UINT64_C(1) << PCI_KIND_BUILD_IDS;
    PCI_TRY(get_number(c, M_START, row, &start, err));
    PCI_TRY(get_number(c, M_OFFSET, row, &offset, err));
    PCI_TRY(get_number(c, M_LIMIT, row, &limit, err));
    /* A mapping without a range has virtual addresses of the binary; others get the range of all
     * offsets, so that a symbolizer knows that their addresses are offsets. */
    int has_offsets = start || offset || (limit && limit != UINT64_MAX);
    int keeps_address = shows_address && !pci_frame_base_name(path).size && !f->sums->rebase;
    cells[MAPPING_FILE] = (struct pci_cell_value){file, file != PCOL_NONE};
    cells[MAPPING_BUILD] = (struct pci_cell_value){build, build != PCOL_NONE};
    cells[MAPPING_START] = (struct pci_cell_value){(int64_t)start, keeps_address && start};
    cells[MAPPING_OFFSET] = (struct pci_cell_value){(int64_t)offset, keeps_address && offset};
    if (keeps_address ? limit != 0 : start || offset || (limit && limit != PCI_ALL_OFFSETS))
        f->sums->lost |= UINT64_C(1) << PCI_KIND_RANGES;
    if (!keeps_address) {
        if ((group->flags & PCOL_GROUP_HAS_ADDRESS) && offset != start)
            f->sums->lost |= UINT64_C(1) << PCI_KIND_ADDRESSES;
        group->address += offset - start;
        cells[MAPPING_LIMIT] =
            (struct pci_cell_value){PCI_ALL_OFFSETS, has_offsets && shows_address};
    }
    if (!binary && file == PCOL_NONE)
        return PCOL_OK;
    return pci_builder_intern(b, PCI_T_MAPPINGS, c->mapping_columns, cells, MAPPING_COLUMNS, 0,
                              &group->mapping, NULL, err);
}

static pcol_status add_mapping(struct code_copy *c, uint32_t row, int binary, int shows_address,
                               pcol_group *group, pcol_error *err)
{
    struct last_mapping *last = &c->last;
    if (row != last->row || binary != last->binary || shows_address != last->shows_address ||
        group->flags != last->flags) {
        uint64_t address = group->address;
        last->row = PCOL_NONE;
        PCI_TRY(find_mapping(c, row, binary, shows_address, group, err));
        *last = (struct last_mapping){.row = row,
                                      .binary = binary,
                                      .shows_address = shows_address,
                                      .flags = group->flags,
                                      .bias = group->address - address,
                                      .mapping = group->mapping};
        return PCOL_OK;
    }
    group->address += last->bias;
    group->mapping = last->mapping;
    return PCOL_OK;
}

static pcol_status add_group(struct code_copy *c, uint64_t row, pcol_error *err)
{
    struct pci_sums_file *f = c->f;
    pcol_group group = {.size = sizeof group, .mapping = PCOL_NONE};
    uint32_t mapping;
    int binary, offset, has_address;
    PCI_TRY(pci_cells_row(&c->cells[G_MAPPING], row, c->mapping_count, &mapping, err));
    int64_t address;
    PCI_TRY(pci_cells_get(&c->cells[G_ADDRESS], row, &address, &has_address, err));
    int is_code = has_address || mapping != PCOL_NONE;
    PCI_TRY(read_lines(c, row, &group, is_code, &binary, &offset, err));
    if (has_address && offset) {
        group.flags = PCOL_GROUP_HAS_ADDRESS;
        group.address = (uint64_t)address;
    } else if (has_address) {
        f->sums->lost |= UINT64_C(1) << PCI_KIND_ADDRESSES;
    }
    if (mapping != PCOL_NONE)
        PCI_TRY(add_mapping(c, mapping, binary, has_address && offset, &group, err));
    if (!(group.flags & PCOL_GROUP_HAS_ADDRESS))
        group.address = 0;
    return pcol_builder_group(f->sums->builder, &group, &c->groups[row], err);
}

static pcol_status add_stack(struct code_copy *c, uint64_t row, pcol_error *err)
{
    struct pci_sums_file *f = c->f;
    uint32_t parent, group;
    PCI_TRY(pci_cells_row(&c->cells[S_PARENT], row, row, &parent, err));
    PCI_TRY(pci_cells_row(&c->cells[S_GROUP], row, c->group_count, &group, err));
    return pcol_builder_stack(f->sums->builder, f->stacks[parent], c->groups[group],
                              &f->stacks[row], err);
}

static pcol_status copy_rows(struct code_copy *c, pcol_error *err)
{
    struct pci_sums_file *f = c->f;
    PCI_TRY(mark_used(c, err));
    for (uint64_t row = 0; row < c->function_count; row++)
        if (c->used_functions[row])
            PCI_TRY(add_function(c, row, err));
    for (uint64_t row = 0; row < c->group_count; row++)
        if (c->used_groups[row])
            PCI_TRY(add_group(c, row, err));
    if (f->stack_count)
        f->stacks[0] = 0;
    for (uint64_t row = 1; row < f->stack_count; row++)
        if (f->used_stacks[row])
            PCI_TRY(add_stack(c, row, err));
    return PCOL_OK;
}

static pcol_status open_columns(struct code_copy *c, pcol_error *err)
{
    static const struct {
        const char *name;
        pcol_type type;
    } columns[MAPPING_COLUMNS] = {[MAPPING_FILE] = {"filename", PCOL_STRING},
                                  [MAPPING_BUILD] = {"build_id", PCOL_STRING},
                                  [MAPPING_START] = {"start", PCOL_U64},
                                  [MAPPING_LIMIT] = {"limit", PCOL_U64},
                                  [MAPPING_OFFSET] = {"file_offset", PCOL_U64}};
    const pcol_file *file = c->f->file;
    for (size_t i = 0; i < CELL_COUNT; i++)
        PCI_TRY(pci_cells_open(&c->cells[i], file, needed[i].table, needed[i].column,
                               needed[i].types, err));
    for (size_t i = 0; i < MAPPING_COLUMNS; i++)
        PCI_TRY(pci_builder_column(c->f->sums->builder, PCI_T_MAPPINGS, columns[i].name,
                                   columns[i].type, 0, &c->mapping_columns[i], err));
    PCI_TRY(pci_merge_rows(file, "functions", &c->function_count, err));
    PCI_TRY(pci_merge_rows(file, "locations", &c->location_count, err));
    PCI_TRY(pci_merge_rows(file, "location_groups", &c->group_count, err));
    PCI_TRY(pci_merge_rows(file, "mappings", &c->mapping_count, err));
    PCI_TRY(PCI_CALLOC(c->used_functions, (size_t)c->function_count + 1, err));
    PCI_TRY(PCI_CALLOC(c->shown, (size_t)c->function_count + 1, err));
    PCI_TRY(PCI_CALLOC(c->used_groups, (size_t)c->group_count + 1, err));
    PCI_TRY(pci_merge_map(&c->functions, c->function_count, err));
    return pci_merge_map(&c->groups, c->group_count, err);
}

pcol_status pci_sums_add_code(struct pci_sums_file *f, pcol_error *err)
{
    struct code_copy *c;
    PCI_TRY(PCI_CALLOC(c, 1, err));
    c->f = f;
    c->last.row = PCOL_NONE;
    pcol_status status = open_columns(c, err);
    PCI_THEN(status, copy_rows(c, err));
    pci_free(c->used_functions);
    pci_free(c->used_groups);
    pci_free(c->shown);
    pci_free(c->functions);
    pci_free(c->groups);
    pci_free(c->lines);
    pci_free(c);
    return status;
}
