/*
 * cli_row_filter.c - rows of samples, sample_values and sample_locations that a selection matches
 *
 * The samples are those of filter, with drop_frames of pprof applied. Rows of the two bridge tables
 * match if their sample does; --hide and --show also exclude rows of sample_locations, and
 * --sample-type rows of sample_values. Rows are shown as stored, with their ids.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 1024u
#define MOST_TYPES 65536u /* a table of constants may claim any number of rows */

struct cli_row_filter {
    pcol_query *query;
    const char *sample_type; /* TYPE or TYPE/UNIT; NULL: all values */
    /* Indexes of columns among those of the rows; SIZE_MAX: unused. */
    size_t id, location, type, unit;
    /* Cache of the last samples tested. */
    uint64_t rows, first;
    size_t count;
    uint8_t taken[BLOCK];
};

int cli_selects(const struct cli_args *args)
{
    return args->sample_type != NULL || args->focus != NULL || args->ignore != NULL ||
           args->hide != NULL || args->show != NULL || args->thread != NULL ||
           args->pick_source != NULL || args->labels.count > 0 || args->time != NULL ||
           args->order != NULL || args->source_metas.count > 0;
}

static size_t want(struct cli_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->column_count; i++)
        if (rows->columns[i].join == CLI_JOIN_NONE && strcmp(rows->columns[i].name, name) == 0) {
            rows->columns[i].wanted = 1;
            return i;
        }
    return SIZE_MAX;
}

static int find_columns(struct cli_row_filter *filter, struct cli_rows *rows,
                        const struct cli_args *args)
{
    const char *table = pcol_table_name(rows->table);

    filter->id = filter->location = filter->type = filter->unit = SIZE_MAX;
    if (rows->model == PCOL_MODEL_V2 && strcmp(table, "samples") == 0) {
        filter->id = want(rows, "sample_id");
    } else if (rows->model == PCOL_MODEL_V2 && strcmp(table, "sample_values") == 0) {
        filter->id = want(rows, "sample_id");
        if (args->sample_type != NULL) {
            filter->type = want(rows, "type");
            filter->unit = want(rows, "unit");
        }
    } else if (rows->model == PCOL_MODEL_V2 && strcmp(table, "sample_locations") == 0) {
        filter->id = want(rows, "sample_id");
        if (args->hide != NULL || args->show != NULL)
            filter->location = want(rows, "location_id");
    }
    if (filter->id == SIZE_MAX)
        return cli_usage(
            "selection options apply to samples, sample_values and sample_locations, not to %s%s",
            table, rows->model == PCOL_MODEL_V1 ? " of the model v1" : "");
    return CLI_OK;
}

/* Whether "TYPE" or "TYPE/UNIT" names this type; both may contain any bytes. */
static int is_called(const char *name, const struct cli_cell *type, const struct cli_cell *unit)
{
    size_t length = strlen(name), size = type->as.text.size;

    if (type->kind != CLI_CELL_TEXT || unit->kind != CLI_CELL_TEXT || size > length ||
        memcmp(name, type->as.text.data, size) != 0)
        return 0;
    return size == length || (name[size] == '/' && length - size - 1 == unit->as.text.size &&
                              memcmp(name + size + 1, unit->as.text.data, unit->as.text.size) == 0);
}

static pcol_status has_type(const struct cli_input *input, const char *name, int *yes,
                            pcol_error *err)
{
    const pcol_table *types;
    uint64_t rows;
    struct cli_cell type, unit;
    pcol_status status =
        cli_find_table(input->file, PCOL_MODEL_PHYSICAL, "sample_types", &types, &rows, err);

    *yes = 0;
    for (uint64_t row = 0; status == PCOL_OK && row < rows && row < MOST_TYPES && !*yes; row++) {
        status = cli_cell_find(types, "type", row, &type, err);
        if (status == PCOL_OK)
            status = cli_cell_find(types, "unit", row, &unit, err);
        *yes = status == PCOL_OK && is_called(name, &type, &unit);
    }
    return status;
}

int cli_row_filter_new(const struct cli_input *input, const struct cli_args *args,
                       struct cli_rows *rows, struct cli_row_filter **filter)
{
    struct cli_args whole = *args;
    const pcol_table *samples;
    pcol_error err;
    int code, exists = 1;

    *filter = calloc(1, sizeof **filter);
    if (*filter == NULL)
        return cli_fail_memory();
    code = find_columns(*filter, rows, args);
    if (code == CLI_OK && args->sample_type != NULL &&
        has_type(input, args->sample_type, &exists, &err) != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    if (exists)
        whole.sample_type = NULL; /* gauges too; otherwise the query reports the available types */
    (*filter)->sample_type = args->sample_type;
    if (code == CLI_OK)
        code = cli_query_new(input, &whole, &(*filter)->query);
    if (code == CLI_OK &&
        pcol_file_table_by_name(input->file, PCOL_MODEL_V2, "samples", &samples, &err) != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    if (code != CLI_OK)
        return code;
    (*filter)->rows = pcol_table_rows(samples);
    return CLI_OK;
}

void cli_row_filter_free(struct cli_row_filter *filter)
{
    if (filter == NULL)
        return;
    pcol_query_free(filter->query);
    free(filter);
}

static struct cli_cell cell_of(const struct cli_rows *rows, const pcol_batch *batch, size_t column,
                               size_t row)
{
    return cli_cell_of(&batch->columns[rows->columns[column].scan], row);
}

pcol_status cli_row_filter_test(struct cli_row_filter *filter, const struct cli_rows *rows,
                                const pcol_batch *batch, size_t row, int *yes, pcol_error *err)
{
    struct cli_cell cell = cell_of(rows, batch, filter->id, row);
    uint64_t sample = (uint64_t)cell.as.i64 - 1;

    if (sample < filter->first || sample - filter->first >= filter->count) {
        uint64_t left = sample < filter->rows ? filter->rows - sample : 0;
        filter->first = sample;
        filter->count = left < BLOCK ? (size_t)left : BLOCK;
        pcol_status status =
            pcol_query_samples(filter->query, sample, filter->count, filter->taken, err);
        if (status != PCOL_OK)
            return status;
    }
    *yes = filter->count > 0 && filter->taken[sample - filter->first];
    if (*yes && filter->location != SIZE_MAX) {
        cell = cell_of(rows, batch, filter->location, row);
        *yes = pcol_query_shows_location(filter->query, (uint64_t)cell.as.i64 - 1);
    }
    if (*yes && filter->type != SIZE_MAX) {
        cell = cell_of(rows, batch, filter->type, row);
        struct cli_cell unit = cell_of(rows, batch, filter->unit, row);
        *yes = is_called(filter->sample_type, &cell, &unit);
    }
    return PCOL_OK;
}
