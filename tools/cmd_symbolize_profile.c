/*
 * cmd_symbolize_profile.c - symbolize: nameless locations of a profile, as addresses of binaries
 *
 * Tests: suite symbolize.
 */
#include "cmd_symbolize.h"

#include <stdlib.h>
#include <string.h>

/* ---- columns of the profile ---- */

/* Cells of a physical table; of an absent column all are null. */
struct cells {
    int64_t *values;
    uint8_t *valid;
};

static void free_cells(struct cells *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(cells[i].values);
        free(cells[i].valid);
    }
}

static pcol_status read_cells(const pcol_table *table, const char *name, uint64_t rows,
                              struct cells *cells, pcol_error *err)
{
    const pcol_column *column = table != NULL ? pcol_table_column_by_name(table, name, NULL) : NULL;
    pcol_status status;

    cells->values = calloc((size_t)rows + 1, sizeof *cells->values);
    cells->valid = calloc((size_t)rows + 1, 1);
    if (cells->values == NULL || cells->valid == NULL)
        return cli_set_memory(err);
    if (column == NULL || rows == 0)
        return PCOL_OK;
    status = pcol_column_verify(column, err);
    if (status != PCOL_OK)
        return status;
    if (cli_describe(column).type != PCOL_STRING)
        return pcol_column_read_i64(column, 0, (size_t)rows, cells->values, cells->valid, err);
    for (uint64_t row = 0; row < rows && status == PCOL_OK; row++) { /* only whether there is one */
        pcol_str text;
        status = pcol_column_read_str(column, row, 1, &text, &cells->valid[row], err);
    }
    return status;
}

/* ---- the profile ---- */

enum { MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_CELLS };
enum { GROUP_FIRST, GROUP_MAPPING, GROUP_ADDRESS, GROUP_CELLS };
enum { LOCATION_FUNCTION, LOCATION_LINE, LOCATION_FILE, LOCATION_CELLS };

/* A copy of a text; "" for null. */
static pcol_status copy_text(const pcol_table *table, const char *name, uint64_t row, char **copy,
                             pcol_error *err)
{
    struct cli_cell cell;
    pcol_status status = cli_cell_find(table, name, row, &cell, err);
    size_t size = status == PCOL_OK && cell.kind == CLI_CELL_TEXT ? cell.as.text.size : 0;

    *copy = calloc(size + 1, 1);
    if (*copy == NULL)
        return cli_set_memory(err);
    if (size > 0)
        memcpy(*copy, cell.as.text.data, size);
    return status;
}

pcol_status symbolize_mappings(struct symbolize_work *w, pcol_error *err)
{
    static const char *const names[] = {"start", "limit", "file_offset"};
    const pcol_file *file = w->input->file;
    struct cells cells[MAPPING_CELLS] = {{NULL, NULL}};
    const pcol_table *table;
    pcol_status status =
        cli_find_table(file, PCOL_MODEL_PHYSICAL, "mappings", &table, &w->mapping_count, err);

    if (status == PCOL_OK)
        status = cli_verify_row_count(file, "mappings", w->mapping_count, err);
    if (status != PCOL_OK)
        return status;
    w->mappings = calloc((size_t)w->mapping_count + 1, sizeof *w->mappings);
    if (w->mappings == NULL)
        return cli_set_memory(err);
    for (size_t i = 0; i < MAPPING_CELLS && status == PCOL_OK; i++)
        status = read_cells(table, names[i], w->mapping_count, &cells[i], err);
    for (uint64_t row = 0; row < w->mapping_count && status == PCOL_OK; row++) {
        struct symbolize_mapping *m = &w->mappings[row];
        *m = (struct symbolize_mapping){.start = (uint64_t)cells[MAPPING_START].values[row],
                                        .limit = (uint64_t)cells[MAPPING_LIMIT].values[row],
                                        .offset = (uint64_t)cells[MAPPING_OFFSET].values[row],
                                        .binary = SYMBOLIZE_NONE};
        status = copy_text(table, "filename", row, &m->path, err);
        if (status == PCOL_OK)
            status = copy_text(table, "build_id", row, &m->build_id, err);
    }
    free_cells(cells, MAPPING_CELLS);
    return status;
}

/* ---- addresses ---- */

/* A mapping that some tools invent for the whole address space: addresses are those of the file. */
static int is_whole_space(const struct symbolize_mapping *m)
{
    return m->start == 0 && m->offset == 0 && (m->limit == 0 || m->limit == UINT64_MAX);
}

/* The virtual address in the binary of an address in the process; 0: it has none. Where addresses
 * are offsets in the file, from 0, those that are none are virtual ones: older versions of perf
 * print them in call chains. */
static int find_address(const struct symbolize_mapping *m, const struct cli_elf *elf,
                        uint64_t in_process, uint64_t *address)
{
    if (!is_whole_space(m) && in_process >= m->start && in_process < m->limit &&
        in_process - m->start <= UINT64_MAX - m->offset &&
        cli_elf_address(elf, in_process - m->start + m->offset, address))
        return 1;
    *address = in_process;
    return m->start == 0 && m->offset == 0 && cli_elf_has_address(elf, in_process);
}

static pcol_status add_request(struct symbolize_work *w, uint64_t group, uint64_t mapping,
                               uint64_t in_process, pcol_error *err)
{
    const struct symbolize_mapping *m = &w->mappings[mapping];
    uint64_t address;

    if (m->binary == SYMBOLIZE_NONE)
        return PCOL_OK;
    if (!find_address(m, &w->binaries[m->binary].elf, in_process, &address)) {
        w->outside++;
        return PCOL_OK;
    }
    if (w->request_count == w->request_capacity) {
        size_t capacity = 2 * w->request_capacity + 256;
        struct symbolize_request *grown = realloc(w->requests, capacity * sizeof *grown);
        if (grown == NULL)
            return cli_set_memory(err);
        w->requests = grown;
        w->request_capacity = capacity;
    }
    w->requests[w->request_count++] =
        (struct symbolize_request){group, address, (size_t)mapping, 0};
    return PCOL_OK;
}

/* Whether a group has neither functions nor lines. */
static int is_nameless(const struct symbolize_work *w, const struct cells groups[],
                       const struct cells locations[], uint64_t group)
{
    const struct cells *firsts = &groups[GROUP_FIRST];
    uint64_t first = firsts->valid[group] ? (uint64_t)firsts->values[group] : group;
    uint64_t end = group + 1 == w->group_count ? w->location_count
                   : firsts->valid[group + 1]  ? (uint64_t)firsts->values[group + 1]
                                               : group + 1;

    if (first >= end || end > w->location_count)
        return 0; /* damaged: copying reports it */
    for (uint64_t row = first; row < end; row++)
        for (size_t i = 0; i < LOCATION_CELLS; i++)
            if (locations[i].valid[row])
                return 0;
    return 1;
}

static pcol_status list_requests(struct symbolize_work *w, const struct cells groups[],
                                 const struct cells locations[], pcol_error *err)
{
    pcol_status status = PCOL_OK;

    for (uint64_t group = 0; group < w->group_count && status == PCOL_OK; group++) {
        uint64_t mapping = (uint64_t)groups[GROUP_MAPPING].values[group];
        if (!is_nameless(w, groups, locations, group))
            continue;
        w->nameless++;
        if (groups[GROUP_MAPPING].valid[group] && groups[GROUP_ADDRESS].valid[group] &&
            mapping < w->mapping_count)
            status =
                add_request(w, group, mapping, (uint64_t)groups[GROUP_ADDRESS].values[group], err);
    }
    return status;
}

pcol_status symbolize_groups(struct symbolize_work *w, pcol_error *err)
{
    static const char *const group_names[] = {"first_location", "mapping", "address"};
    static const char *const location_names[] = {"function", "line", "filename"};
    const pcol_file *file = w->input->file;
    struct cells groups[GROUP_CELLS] = {{NULL, NULL}}, locations[LOCATION_CELLS] = {{NULL, NULL}};
    const pcol_table *group_table, *location_table;
    pcol_status status = cli_find_table(file, PCOL_MODEL_PHYSICAL, "location_groups", &group_table,
                                        &w->group_count, err);

    if (status == PCOL_OK)
        status = cli_find_table(file, PCOL_MODEL_PHYSICAL, "locations", &location_table,
                                &w->location_count, err);
    if (status == PCOL_OK)
        status = cli_verify_row_count(file, "location_groups", w->group_count, err);
    if (status == PCOL_OK)
        status = cli_verify_row_count(file, "locations", w->location_count, err);
    for (size_t i = 0; i < GROUP_CELLS && status == PCOL_OK; i++)
        status = read_cells(group_table, group_names[i], w->group_count, &groups[i], err);
    for (size_t i = 0; i < LOCATION_CELLS && status == PCOL_OK; i++)
        status =
            read_cells(location_table, location_names[i], w->location_count, &locations[i], err);
    if (status == PCOL_OK)
        status = list_requests(w, groups, locations, err);
    free_cells(groups, GROUP_CELLS);
    free_cells(locations, LOCATION_CELLS);
    return status;
}
