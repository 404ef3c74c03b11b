/*
 * cli_join.c - --join: names instead of ids
 *
 * The library names frames (pcol_names). Other names are O(1) reads of cells of logical tables, so
 * ten rows of a large file are cheap. The last location and stack are cached, because their columns
 * are requested one after the other.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

struct cli_join {
    const pcol_file *file;
    pcol_names *names; /* NULL until first use */
    const pcol_column *location_function, *location_line, *location_file;
    const pcol_column *function_file;
    const pcol_column *source_uri, *source_type;
    uint64_t location_rows, function_rows, source_rows;
    int whole;           /* many rows: verify whole columns */
    int stacks_verified; /* the columns of pcol_stack_locations() */
    struct {
        const pcol_column *name, *other; /* name of a row without a name */
        uint64_t rows;
    } named[3]; /* by enum cli_join_what, from CLI_JOIN_THREAD on */
    /* cache of the last location */
    int64_t location;
    struct cli_cell filename, line;
    /* cache of the last stack */
    uint32_t *nodes;
    size_t node_capacity;
    char *text;
    size_t text_capacity;
};

/* Find the columns of a table; NULL if the model does not have the table. */
static pcol_status find(const pcol_file *file, pcol_model model, const char *name, uint64_t *rows,
                        const char *const *names, const pcol_column **columns[], size_t count,
                        pcol_error *err)
{
    const pcol_table *table;
    pcol_status status = pcol_file_table_by_name(file, model, name, &table, err);

    *rows = 0;
    if (status == PCOL_E_NOT_FOUND)
        return PCOL_OK;
    if (status != PCOL_OK)
        return status;
    *rows = pcol_table_rows(table);
    for (size_t i = 0; i < count; i++)
        *columns[i] = pcol_table_column_by_name(table, names[i], NULL);
    return PCOL_OK;
}

static const struct {
    const char *table, *columns[2];
} rows_named[] = {
    {"threads", {"name", "tid"}}, {"categories", {"name", ""}}, {"mappings", {"filename", ""}}};

pcol_status cli_join_new(const pcol_file *file, pcol_model model, struct cli_join **made,
                         pcol_error *err)
{
    static const char *const locations[] = {"function_id", "line", ".filename"};
    static const char *const functions[] = {"filename"};
    static const char *const sources[] = {"source_uri", "source_type"};
    struct cli_join *join = calloc(1, sizeof *join);
    pcol_status status;

    *made = join;
    if (join == NULL)
        return cli_set_memory(err);
    const pcol_column **location[] = {&join->location_function, &join->location_line,
                                      &join->location_file};
    const pcol_column **function[] = {&join->function_file};
    const pcol_column **source[] = {&join->source_uri, &join->source_type};
    join->file = file;
    model = model == PCOL_MODEL_FURTHER ? PCOL_MODEL_V2 : model;
    status = find(file, model, "locations", &join->location_rows, locations, location, 3, err);
    if (status == PCOL_OK)
        status = find(file, model, "functions", &join->function_rows, functions, function, 1, err);
    if (status == PCOL_OK)
        status = find(file, model, "sources", &join->source_rows, sources, source, 2, err);
    for (size_t i = 0; i < 3 && status == PCOL_OK; i++) {
        const pcol_column **named[] = {&join->named[i].name, &join->named[i].other};
        status = find(file, PCOL_MODEL_PHYSICAL, rows_named[i].table, &join->named[i].rows,
                      rows_named[i].columns, named, 2, err);
    }
    return status;
}

void cli_join_free(struct cli_join *join)
{
    if (join == NULL)
        return;
    pcol_names_free(join->names);
    free(join->nodes);
    free(join->text);
    free(join);
}

void cli_join_whole(struct cli_join *join)
{
    join->whole = 1;
}

/* The cell of row id - 1 of a column; null for an absent column. Reads a range of one row unless
 * the whole column is verified. */
static pcol_status value_of(const struct cli_join *join, const pcol_column *column, uint64_t rows,
                            int64_t id, int is_text, struct cli_cell *cell, pcol_error *err)
{
    uint64_t row = (uint64_t)id - 1;
    pcol_str text = {"", 0};
    pcol_status status = PCOL_OK;
    int valid = 0;
    uint8_t has_value = 0;

    *cell = cli_cell_text(NULL);
    if (column == NULL)
        return PCOL_OK;
    if (id < 1 || row >= rows)
        return cli_set_error(err, PCOL_E_CORRUPT, "an id names no row");
    if (join->whole) {
        status = pcol_column_verify(column, err);
        if (status == PCOL_OK)
            status = is_text ? pcol_column_str(column, row, &text, &valid, err)
                             : pcol_column_i64(column, row, &cell->as.i64, &valid, err);
    } else {
        status = is_text ? pcol_column_read_str(column, row, 1, &text, &has_value, err)
                         : pcol_column_read_i64(column, row, 1, &cell->as.i64, &has_value, err);
        valid = has_value;
    }
    if (status == PCOL_OK && valid && is_text)
        *cell = cli_cell_str(text);
    else if (status == PCOL_OK && valid)
        cell->kind = CLI_CELL_I64;
    return status;
}

static pcol_status text_of(const struct cli_join *join, const pcol_column *column, uint64_t rows,
                           int64_t id, struct cli_cell *cell, pcol_error *err)
{
    return value_of(join, column, rows, id, 1, cell, err);
}

static pcol_status number_of(const struct cli_join *join, const pcol_column *column, uint64_t rows,
                             int64_t id, struct cli_cell *cell, pcol_error *err)
{
    return value_of(join, column, rows, id, 0, cell, err);
}

static pcol_status open_names(struct cli_join *join, pcol_error *err)
{
    return join->names == NULL ? pcol_names_new(join->file, &join->names, err) : PCOL_OK;
}

static pcol_status function_name(struct cli_join *join, int64_t id, struct cli_cell *cell,
                                 pcol_error *err)
{
    pcol_str name;
    int valid = 0;
    pcol_status status = open_names(join, err);

    if (status == PCOL_OK)
        status = pcol_names_function(join->names, (uint64_t)id - 1, &name, &valid, err);
    *cell = status == PCOL_OK && valid ? cli_cell_str(name) : cli_cell_text(NULL);
    return status;
}

static pcol_status location_name(struct cli_join *join, int64_t id, struct cli_cell *cell,
                                 pcol_error *err)
{
    pcol_str name = {"", 0};
    pcol_status status = open_names(join, err);

    if (status == PCOL_OK)
        status = pcol_names_location(join->names, (uint64_t)id - 1, &name, err);
    *cell = cli_cell_str(name);
    return status;
}

/* Find the filename and line of a location. */
static pcol_status find_location(struct cli_join *join, int64_t id, pcol_error *err)
{
    struct cli_cell function;
    pcol_status status;

    if (join->location == id)
        return PCOL_OK;
    join->location = 0;
    join->filename = cli_cell_text(NULL);
    status = number_of(join, join->location_line, join->location_rows, id, &join->line, err);
    if (status == PCOL_OK)
        status = number_of(join, join->location_function, join->location_rows, id, &function, err);
    if (status != PCOL_OK)
        return status;
    if (function.kind == CLI_CELL_I64)
        status = text_of(join, join->function_file, join->function_rows, function.as.i64,
                         &join->filename, err);
    if (status == PCOL_OK && join->filename.kind == CLI_CELL_NULL)
        status = text_of(join, join->location_file, join->location_rows, id, &join->filename, err);
    if (status == PCOL_OK)
        join->location = id;
    return status;
}

static int append(struct cli_join *join, size_t *used, const char *data, size_t size)
{
    if (*used + size > join->text_capacity) {
        size_t capacity = 2 * (*used + size) + 256;
        char *grown = realloc(join->text, capacity);
        if (grown == NULL)
            return -1;
        join->text = grown;
        join->text_capacity = capacity;
    }
    if (size > 0)
        memcpy(join->text + *used, data, size);
    *used += size;
    return 0;
}

/* Find the columns that pcol_stack_locations() reads. */
static pcol_status verify_stacks(struct cli_join *join, pcol_error *err)
{
    static const char *const columns[][2] = {
        {"stacks", "parent"}, {"stacks", "group"}, {"location_groups", "first_location"}};
    pcol_status status = PCOL_OK;

    for (size_t i = 0; i < 3 && status == PCOL_OK; i++) {
        const pcol_table *table;
        uint64_t rows;
        status = cli_find_table(join->file, PCOL_MODEL_PHYSICAL, columns[i][0], &table, &rows, err);
        const pcol_column *column =
            status == PCOL_OK ? pcol_table_column_by_name(table, columns[i][1], NULL) : NULL;
        if (column != NULL)
            status = pcol_column_verify(column, err);
    }
    join->stacks_verified = status == PCOL_OK;
    return status;
}

/* A stack as "main;f;g", outermost first; the empty stack has a name too. */
static pcol_status find_stack(struct cli_join *join, uint64_t stack, struct cli_cell *cell,
                              pcol_error *err)
{
    size_t used = 0;
    size_t depth = 0;
    pcol_status status = PCOL_OK;

    if (join->whole && !join->stacks_verified)
        status = verify_stacks(join, err);
    if (status == PCOL_OK)
        status =
            pcol_stack_locations(join->file, stack, join->nodes, join->node_capacity, &depth, err);
    if (status == PCOL_OK && depth > join->node_capacity) {
        uint32_t *grown = realloc(join->nodes, depth * sizeof *grown);
        if (grown == NULL)
            return cli_set_memory(err);
        join->nodes = grown;
        join->node_capacity = depth;
        status = pcol_stack_locations(join->file, stack, join->nodes, depth, &depth, err);
    }
    for (size_t i = depth; status == PCOL_OK && i-- > 0;) {
        struct cli_cell name;
        status = location_name(join, (int64_t)join->nodes[i] + 1, &name, err);
        if (status == PCOL_OK && ((i + 1 < depth && append(join, &used, ";", 1) != 0) ||
                                  append(join, &used, name.as.text.data, name.as.text.size) != 0))
            status = cli_set_memory(err);
    }
    if (status == PCOL_OK && depth == 0) {
        *cell = cli_cell_text("<no stack>");
        return PCOL_OK;
    }
    cell->kind = CLI_CELL_TEXT;
    cell->as.text.data = join->text;
    cell->as.text.size = used;
    return status;
}

/* The name of a row that counts from 0. */
static pcol_status name_of(const struct cli_join *join, size_t what, const struct cli_cell *id,
                           struct cli_cell *cell, pcol_error *err)
{
    uint64_t rows = join->named[what].rows;
    pcol_status status;

    if (id->as.u64 >= rows)
        return cli_set_error(err, PCOL_E_CORRUPT, "an id names no row");
    status = text_of(join, join->named[what].name, rows, (int64_t)id->as.u64 + 1, cell, err);
    if (status == PCOL_OK && cell->kind == CLI_CELL_NULL)
        status = text_of(join, join->named[what].other, rows, (int64_t)id->as.u64 + 1, cell, err);
    return status;
}

pcol_status cli_join_cell(struct cli_join *join, enum cli_join_what what, const struct cli_cell *id,
                          struct cli_cell *cell, pcol_error *err)
{
    pcol_status status = PCOL_OK;

    *cell = cli_cell_text(NULL);
    if (id->kind == CLI_CELL_NULL)
        return PCOL_OK;
    switch (what) {
    case CLI_JOIN_NONE:
        *cell = *id;
        break;
    case CLI_JOIN_LOCATION_NAME:
        return location_name(join, id->as.i64, cell, err);
    case CLI_JOIN_LOCATION_FILE:
    case CLI_JOIN_LOCATION_LINE:
        status = find_location(join, id->as.i64, err);
        if (status == PCOL_OK)
            *cell = what == CLI_JOIN_LOCATION_FILE ? join->filename : join->line;
        break;
    case CLI_JOIN_FUNCTION_NAME:
        return function_name(join, id->as.i64, cell, err);
    case CLI_JOIN_FUNCTION_FILE:
        return text_of(join, join->function_file, join->function_rows, id->as.i64, cell, err);
    case CLI_JOIN_SOURCE_URI:
        return text_of(join, join->source_uri, join->source_rows, id->as.i64, cell, err);
    case CLI_JOIN_SOURCE_TYPE:
        return text_of(join, join->source_type, join->source_rows, id->as.i64, cell, err);
    case CLI_JOIN_THREAD:
    case CLI_JOIN_CATEGORY:
    case CLI_JOIN_MAPPING:
        return name_of(join, (size_t)(what - CLI_JOIN_THREAD), id, cell, err);
    case CLI_JOIN_STACK:
        return find_stack(join, id->as.u64, cell, err);
    }
    return status;
}
