/*
 * cli_result.c - the rows of a result: the columns of its table, read by name
 *
 * A column that the table does not have is null in every row.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char *const field_names[CLI_FIELDS] = {
    [CLI_FIELD_NAME] = "name",
    [CLI_FIELD_FILE] = "file",
    [CLI_FIELD_LINE] = "line",
    [CLI_FIELD_ADDRESS] = "address",
    [CLI_FIELD_THREAD] = "thread",
    [CLI_FIELD_SOURCE] = "source",
    [CLI_FIELD_SELF] = "self",
    [CLI_FIELD_TOTAL] = "total",
    [CLI_FIELD_PARENT] = "parent",
    [CLI_FIELD_DEPTH] = "depth",
    [CLI_FIELD_TRUNCATED] = "truncated",
    [CLI_FIELD_RELATION] = "relation",
    [CLI_FIELD_SELF_BASE] = "self_base",
    [CLI_FIELD_SELF_NEW] = "self_new",
    [CLI_FIELD_SELF_DELTA] = "self_delta",
    [CLI_FIELD_TOTAL_BASE] = "total_base",
    [CLI_FIELD_TOTAL_NEW] = "total_new",
    [CLI_FIELD_TOTAL_DELTA] = "total_delta",
    [CLI_FIELD_SELF_MIN] = "self_min",
    [CLI_FIELD_SELF_MAX] = "self_max",
    [CLI_FIELD_TOTAL_MIN] = "total_min",
    [CLI_FIELD_TOTAL_MAX] = "total_max",
    [CLI_FIELD_TOTAL_MAD] = "total_mad",
    [CLI_FIELD_ABOVE] = "above",
    [CLI_FIELD_IN_BASE] = "in_base",
    [CLI_FIELD_IN_NEW] = "in_new",
    [CLI_FIELD_X] = "x_px",
    [CLI_FIELD_WIDTH] = "width_px",
    [CLI_FIELD_CHANGE] = "change",
    [CLI_FIELD_GONE] = "gone",
    [CLI_FIELD_TID] = "tid",
    [CLI_FIELD_PID] = "pid",
    [CLI_FIELD_SAMPLES] = "samples",
    [CLI_FIELD_SAMPLES_WITHOUT] = "samples_without",
    [CLI_FIELD_CPU_NS] = "cpu_ns",
};

static int open_fields(struct cli_result *rows, const pcol_table *table, const char *name)
{
    pcol_error err;

    for (int i = 0; i < CLI_FIELDS; i++) {
        struct cli_field *field = &rows->fields[i];
        const pcol_column *column = pcol_table_column_by_name(table, field_names[i], NULL);
        if (column == NULL)
            continue;
        field->array.size = sizeof field->array;
        if (cli_describe(column).type == PCOL_STRING)
            field->text = column;
        else if (pcol_column_array(column, NULL, &field->array, &err) != PCOL_OK)
            return cli_fail_error(name, &err);
        if (field->array.null_count == field->array.rows)
            field->array.rows = 0;
    }
    return CLI_OK;
}

int cli_result_open(struct cli_result *rows, const pcol_result *result, const char *name)
{
    const pcol_table *table = pcol_result_table(result);

    rows->count = (size_t)pcol_table_rows(table);
    rows->fields = calloc(CLI_FIELDS, sizeof *rows->fields);
    return rows->fields == NULL ? cli_fail_memory() : open_fields(rows, table, name);
}

void cli_result_close(struct cli_result *rows)
{
    free(rows->fields);
    rows->fields = NULL;
}

pcol_str cli_result_text(const struct cli_result *rows, enum cli_field_name field, size_t row)
{
    struct cli_field *f = &rows->fields[field];

    if (f->text == NULL)
        return (pcol_str){NULL, 0};
    if (row - f->first >= f->read) {
        size_t left = rows->count - row;
        f->first = row;
        f->read = left < CLI_RESULT_BATCH ? left : CLI_RESULT_BATCH;
        if (pcol_column_read_str(f->text, row, f->read, f->texts, f->valid, NULL) != PCOL_OK)
            memset(f->valid, 0, sizeof f->valid); /* cells of a result cannot fail */
    }
    return f->valid[row - f->first] ? f->texts[row - f->first] : (pcol_str){NULL, 0};
}

void cli_result_frame(const struct cli_result *rows, size_t row, struct cli_frame *frame)
{
    const int by_source = rows->fields[CLI_FIELD_SOURCE].array.rows > 0;
    const enum cli_field_name id = by_source ? CLI_FIELD_SOURCE : CLI_FIELD_THREAD;

    frame->name = cli_result_text(rows, CLI_FIELD_NAME, row);
    frame->file = cli_result_text(rows, CLI_FIELD_FILE, row);
    frame->has_name = frame->name.data != NULL;
    frame->has_file = frame->file.data != NULL;
    frame->has_line = cli_result_has(rows, CLI_FIELD_LINE, row);
    frame->has_address = cli_result_has(rows, CLI_FIELD_ADDRESS, row);
    frame->has_id = cli_result_has(rows, id, row);
    frame->line = cli_result_amount(rows, CLI_FIELD_LINE, row).i64;
    frame->address = (uint64_t)cli_result_amount(rows, CLI_FIELD_ADDRESS, row).i64;
    frame->id = (uint64_t)cli_result_amount(rows, id, row).i64 + (uint64_t)by_source;
}

void cli_result_get(const struct cli_result *rows, size_t row, struct cli_result_row *values)
{
    cli_result_frame(rows, row, &values->frame);
    values->self = cli_result_amount(rows, CLI_FIELD_SELF, row);
    values->total = cli_result_amount(rows, CLI_FIELD_TOTAL, row);
    values->parent = (uint32_t)cli_result_amount(rows, CLI_FIELD_PARENT, row).i64;
    values->depth = (uint32_t)cli_result_amount(rows, CLI_FIELD_DEPTH, row).i64;
}
