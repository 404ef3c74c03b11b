/*
 * cli_pick.c - the rows of samples, sample_values and sample_locations that a selection takes
 *
 * The samples are those that filter keeps, drop_frames of a pprof applied. Rows of the two bridge
 * tables belong to a sample; they are taken where it is. Besides, --hide and --show leave out rows
 * of sample_locations, and --sample-type those of sample_values. Nothing else changes: rows are
 * shown as they are stored, with the ids that they have.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 1024u
#define MOST_TYPES 65536u /* a table of constants may claim any number of rows */

struct cli_pick {
    pcol_query *query;
    const char *sample_type; /* TYPE or TYPE/UNIT; NULL: all values */
    /* Places of columns among those of the rows; SIZE_MAX: not needed. */
    size_t id, location, type, unit;
    /* The samples looked at last. */
    uint64_t rows, first;
    size_t count;
    uint8_t taken[BLOCK];
};

int cli_selects(const struct cli_args *args)
{
    return args->sample_type != NULL || args->focus != NULL || args->ignore != NULL ||
           args->hide != NULL || args->show != NULL || args->thread != NULL ||
           args->pick_source != NULL || args->labels.count > 0 || args->time != NULL;
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

static int find_columns(struct cli_pick *pick, struct cli_rows *rows, const struct cli_args *args)
{
    const char *table = pcol_table_name(rows->table);

    pick->id = pick->location = pick->type = pick->unit = SIZE_MAX;
    if (rows->model == PCOL_MODEL_V2 && strcmp(table, "samples") == 0) {
        pick->id = want(rows, "sample_id");
    } else if (rows->model == PCOL_MODEL_V2 && strcmp(table, "sample_values") == 0) {
        pick->id = want(rows, "sample_id");
        if (args->sample_type != NULL) {
            pick->type = want(rows, "type");
            pick->unit = want(rows, "unit");
        }
    } else if (rows->model == PCOL_MODEL_V2 && strcmp(table, "sample_locations") == 0) {
        pick->id = want(rows, "sample_id");
        if (args->hide != NULL || args->show != NULL)
            pick->location = want(rows, "location_id");
    }
    if (pick->id == SIZE_MAX)
        return cli_usage(
            "selection options apply to samples, sample_values and sample_locations, not to %s%s",
            table, rows->model == PCOL_MODEL_V1 ? " of the model v1" : "");
    return CLI_OK;
}

/* Is "TYPE" or "TYPE/UNIT" the name of this type? Either may hold any bytes. */
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

int cli_pick_new(const struct cli_input *input, const struct cli_args *args, struct cli_rows *rows,
                 struct cli_pick **pick)
{
    struct cli_args whole = *args;
    const pcol_table *samples;
    pcol_error err;
    int code, exists = 1;

    *pick = calloc(1, sizeof **pick);
    if (*pick == NULL)
        return cli_fail_memory();
    code = find_columns(*pick, rows, args);
    if (code == CLI_OK && args->sample_type != NULL &&
        has_type(input, args->sample_type, &exists, &err) != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    if (exists)
        whole.sample_type = NULL; /* levels, too; else the query says which there are */
    (*pick)->sample_type = args->sample_type;
    if (code == CLI_OK)
        code = cli_query_new(input, &whole, &(*pick)->query);
    if (code == CLI_OK &&
        pcol_file_table_by_name(input->file, PCOL_MODEL_V2, "samples", &samples, &err) != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    if (code != CLI_OK)
        return code;
    (*pick)->rows = pcol_table_rows(samples);
    return CLI_OK;
}

void cli_pick_free(struct cli_pick *pick)
{
    if (pick == NULL)
        return;
    pcol_query_free(pick->query);
    free(pick);
}

static struct cli_cell cell_of(const struct cli_rows *rows, const pcol_batch *batch, size_t column,
                               size_t row)
{
    return cli_cell_of(&batch->columns[rows->columns[column].scan], row);
}

pcol_status cli_pick_test(struct cli_pick *pick, const struct cli_rows *rows,
                          const pcol_batch *batch, size_t row, int *yes, pcol_error *err)
{
    struct cli_cell cell = cell_of(rows, batch, pick->id, row);
    uint64_t sample = (uint64_t)cell.as.i64 - 1;

    if (sample < pick->first || sample - pick->first >= pick->count) {
        uint64_t left = sample < pick->rows ? pick->rows - sample : 0;
        pick->first = sample;
        pick->count = left < BLOCK ? (size_t)left : BLOCK;
        pcol_status status = pcol_query_samples(pick->query, sample, pick->count, pick->taken, err);
        if (status != PCOL_OK)
            return status;
    }
    *yes = pick->count > 0 && pick->taken[sample - pick->first];
    if (*yes && pick->location != SIZE_MAX) {
        cell = cell_of(rows, batch, pick->location, row);
        *yes = pcol_query_shows_location(pick->query, (uint64_t)cell.as.i64 - 1);
    }
    if (*yes && pick->type != SIZE_MAX) {
        cell = cell_of(rows, batch, pick->type, row);
        struct cli_cell unit = cell_of(rows, batch, pick->unit, row);
        *yes = is_called(pick->sample_type, &cell, &unit);
    }
    return PCOL_OK;
}
