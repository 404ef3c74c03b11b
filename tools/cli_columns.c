/*
 * cli_columns.c - the columns of a table as cat and schema show them
 *
 * The library provides the tables of the data model. Further tables of a file (threads, markers,
 * counters, ...) are physical; their columns are converted to the same form: a first column `row`,
 * to which other tables refer; ids of model tables from 1; times in milliseconds; labels by their
 * keys. Columns and tables that only serve the exact restoration of a source are omitted;
 * --physical shows them.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* ---- which tables ---- */

static int is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return 1;
    return 0;
}
#define IS_ONE_OF(name, list) is_one_of(name, list, sizeof(list) / sizeof *(list))

/* Tables that the data model shows, or that only its reader needs. */
static const char *const inner[] = {
    "strings",       "source_meta",    "source_types", "location_groups",  "stack_sums",
    "sample_zones",  "label_keys",     "label_shapes", "label_shape_keys", "nodes",
    "node_integers", "node_doubles",   "source_rows",  "source_columns",   "source_cells",
    "rprof_files",   "rprof_segments", "function_sums"};

static int in_model(const pcol_file *file, const char *name)
{
    uint32_t count = pcol_file_table_count(file, PCOL_MODEL_V2);

    for (uint32_t i = 0; i < count; i++) {
        const char *own = pcol_file_table_name(file, PCOL_MODEL_V2, i);
        if (own != NULL && strcmp(own, name) == 0)
            return 1;
    }
    return 0;
}

const char *cli_further_table(const pcol_file *file, uint32_t index)
{
    const char *name = pcol_file_table_name(file, PCOL_MODEL_PHYSICAL, index);

    return name == NULL || IS_ONE_OF(name, inner) || in_model(file, name) ? NULL : name;
}

/* ---- columns ---- */

static struct cli_column *add(struct cli_columns *columns)
{
    struct cli_column *column = &columns->list[columns->count++];

    memset(column, 0, sizeof *column);
    return column;
}

static void add_own(struct cli_columns *columns, const pcol_table *table, uint32_t number)
{
    struct cli_column *column = add(columns);
    pcol_column_info info;

    pcol_column_describe(pcol_table_column(table, number), &info);
    column->name = info.name;
    column->type = info.type;
    column->number = number;
    column->primary_key = info.primary_key;
    column->nullable = info.nullable;
    column->references = info.references;
}

/* i64 ns in the file. */
static int is_time(const char *table, const struct cli_column *column)
{
    static const char *const tables[] = {"markers", "allocations", "counter_samples"};
    static const char *const names[] = {"time", "start", "end"};

    return column->type == PCOL_I64 && IS_ONE_OF(table, tables) && IS_ONE_OF(column->name, names);
}

/* The id column of the data model for rows of the table; NULL: rows count from 0. */
static const char *id_of(const char *table)
{
    static const char *const ids[][2] = {{"sources", "source_id"},
                                         {"samples", "sample_id"},
                                         {"locations", "location_id"},
                                         {"functions", "function_id"}};

    for (size_t i = 0; table != NULL && i < sizeof ids / sizeof *ids; i++)
        if (strcmp(table, ids[i][0]) == 0)
            return ids[i][1];
    return NULL;
}

static int ends_in(const char *name, const char *end)
{
    size_t size = strlen(name), length = strlen(end);

    return size > length && strcmp(name + size - length, end) == 0;
}

/* Row K of label_keys if the name is label.K and that row exists and belongs to this table. */
static pcol_status label_of(const pcol_table *keys, const char *table, const char *name,
                            uint64_t *row, int *found, pcol_error *err)
{
    struct cli_cell cell;
    pcol_status status = PCOL_OK;

    *found = keys != NULL && strncmp(name, "label.", 6) == 0 && cli_parse_u64(name + 6, row) == 0 &&
             *row < pcol_table_rows(keys);
    if (*found)
        status = cli_cell_find(keys, "table", *row, &cell, err);
    *found = *found && status == PCOL_OK && cli_cell_is(&cell, table);
    return status;
}

/* Append ".label.KEY" with NUL as \0; leaves space for the number of a repeated key. */
static char *label_name(const struct cli_cell *key)
{
    static const char prefix[] = ".label.";
    size_t used = sizeof prefix - 1;
    char *name = malloc(used + 2 * key->as.text.size + 24);

    if (name == NULL)
        return NULL;
    memcpy(name, prefix, used);
    for (size_t i = 0; i < key->as.text.size; i++) {
        char byte = key->as.text.data[i];
        if (byte == '\0')
            name[used++] = '\\';
        name[used++] = byte == '\0' ? '0' : byte;
    }
    name[used] = '\0';
    return name;
}

static pcol_status set_label(struct cli_column *column, const pcol_table *keys, uint64_t row,
                             pcol_error *err)
{
    struct cli_cell key, unit;
    pcol_status status = cli_cell_find(keys, "key", row, &key, err);

    if (status == PCOL_OK)
        status = cli_cell_find(keys, "unit", row, &unit, err);
    if (status != PCOL_OK || key.kind != CLI_CELL_TEXT)
        return status; /* without a key the column keeps its name */
    column->made = label_name(&key);
    if (column->made == NULL)
        return cli_set_memory(err);
    column->own = column->name;
    column->name = column->made;
    if (unit.kind == CLI_CELL_TEXT) {
        column->made_unit = calloc(unit.as.text.size + 1, 1);
        if (column->made_unit == NULL)
            return cli_set_memory(err);
        if (unit.as.text.size > 0)
            memcpy(column->made_unit, unit.as.text.data, unit.as.text.size);
    }
    return PCOL_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct cli_column *left = *(struct cli_column *const *)a;
    const struct cli_column *right = *(struct cli_column *const *)b;
    int order = strcmp(left->name, right->name);

    return order != 0 ? order : left < right ? -1 : left > right;
}

/* Number the columns of a key with several kinds: "#2" for the second, ... */
static pcol_status number_labels(struct cli_columns *columns, pcol_error *err)
{
    struct cli_column **sorted = calloc(columns->count + 1, sizeof(struct cli_column *));
    size_t count = 0, repeat = 1;

    if (sorted == NULL)
        return cli_set_memory(err);
    for (size_t i = 0; i < columns->count; i++)
        if (columns->list[i].made != NULL)
            sorted[count++] = &columns->list[i];
    if (count > 0)
        qsort(sorted, count, sizeof(struct cli_column *), by_name);
    const char *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (first != NULL && strcmp(first, sorted[i]->name) == 0) {
            /* the first column keeps its name for the comparison with the next */
            snprintf(sorted[i]->made + strlen(sorted[i]->made), 24, "#%zu", ++repeat);
        } else {
            first = sorted[i]->name;
            repeat = 1;
        }
    }
    free(sorted);
    return PCOL_OK;
}

/* Rarely used columns come last. */
static void move_extra(struct cli_columns *columns)
{
    for (size_t i = 0; i + 1 < columns->count; i++)
        if (strcmp(columns->list[i].name, "extra") == 0) {
            struct cli_column extra = columns->list[i];
            memmove(&columns->list[i], &columns->list[i + 1],
                    (columns->count - i - 1) * sizeof extra);
            columns->list[columns->count - 1] = extra;
            return;
        }
}

/* Labels of kind null mark a JSON null of the source; cat and schema omit them. */
static pcol_status add_labels(struct cli_columns *columns, const pcol_table *table,
                              const pcol_table *keys, pcol_error *err)
{
    uint32_t count = pcol_table_column_count(table);
    pcol_status status = PCOL_OK;

    for (uint32_t i = 0; i < count && status == PCOL_OK; i++) {
        pcol_column_info info;
        struct cli_cell kind;
        uint64_t row;
        int is_label;
        pcol_column_describe(pcol_table_column(table, i), &info);
        status = label_of(keys, pcol_table_name(table), info.name, &row, &is_label, err);
        if (status == PCOL_OK && is_label)
            status = cli_cell_find(keys, "kind", row, &kind, err);
        if (status != PCOL_OK || !is_label || cli_cell_is(&kind, "null"))
            continue;
        add_own(columns, table, i);
        status = set_label(&columns->list[columns->count - 1], keys, row, err);
    }
    return status == PCOL_OK ? number_labels(columns, err) : status;
}

static pcol_status add_further(struct cli_columns *columns, const pcol_table *table,
                               const pcol_table *keys, uint32_t number, pcol_error *err)
{
    const char *name = pcol_table_name(table);
    uint64_t row;
    int is_label;

    add_own(columns, table, number);
    struct cli_column *column = &columns->list[columns->count - 1];
    pcol_status status = label_of(keys, name, column->name, &row, &is_label, err);
    if (status != PCOL_OK || is_label || strcmp(column->name, "label_shape") == 0 ||
        ends_in(column->name, "_ulp")) {
        columns->count--;
        return status;
    }
    if (is_time(name, column)) {
        column->as = CLI_AS_MS;
        column->type = PCOL_F64;
    }
    const char *id = id_of(column->references);
    if (id != NULL) {
        column->as = CLI_AS_ID;
        column->own = column->name;
        column->type = PCOL_I64;
        /* the name of the id, unless the column has a more specific one */
        if (strncmp(id, column->name, strlen(column->name)) == 0)
            column->name = id;
    }
    return PCOL_OK;
}

pcol_status cli_columns_new(const pcol_file *file, const pcol_table *table, int further,
                            struct cli_columns *columns, pcol_error *err)
{
    uint32_t count = pcol_table_column_count(table);
    const pcol_table *keys = NULL;
    uint64_t rows;
    pcol_status status = PCOL_OK;

    columns->count = 0;
    columns->list = calloc((size_t)count + 2, sizeof *columns->list);
    if (columns->list == NULL)
        return cli_set_memory(err);
    if (further) {
        struct cli_column *row = add(columns);
        row->name = "row";
        row->type = PCOL_I64;
        row->number = CLI_ROW_NUMBER;
        row->primary_key = 1;
        status = cli_find_table(file, PCOL_MODEL_PHYSICAL, "label_keys", &keys, &rows, err);
        if (status == PCOL_E_UNSUPPORTED) /* from a later version */
            status = PCOL_OK;
    }
    for (uint32_t i = 0; i < count && status == PCOL_OK; i++) {
        if (further)
            status = add_further(columns, table, keys, i, err);
        else
            add_own(columns, table, i);
    }
    if (further && status == PCOL_OK)
        status = add_labels(columns, table, keys, err);
    if (further && status == PCOL_OK)
        move_extra(columns);
    for (size_t i = 0; i < columns->count; i++)
        cli_describe_column(pcol_table_name(table), &columns->list[i]);
    return status;
}

void cli_columns_free(struct cli_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        free(columns->list[i].made);
        free(columns->list[i].made_unit);
    }
    free(columns->list);
    *columns = (struct cli_columns){NULL, 0};
}

void cli_column_cell(const struct cli_column *column, struct cli_cell *cell)
{
    if (cell->kind != CLI_CELL_I64 && cell->kind != CLI_CELL_U64)
        return;
    if (column->as == CLI_AS_MS) {
        cell->as.f64 = (double)cell->as.i64 / 1e6;
        cell->kind = CLI_CELL_F64;
    } else if (column->as == CLI_AS_ID) {
        cell->as.i64 = (int64_t)(cell->as.u64 + 1);
        cell->kind = CLI_CELL_I64;
    }
}
