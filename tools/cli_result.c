/*
 * cli_result.c - the rows of a result: the columns of its table, read by name
 *
 * A column that the table does not have is null in every row.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char *const field_names[CLI_FIELDS] = {
    [CLI_FIELD_NAME] = "name",       [CLI_FIELD_FILE] = "file",   [CLI_FIELD_LINE] = "line",
    [CLI_FIELD_ADDRESS] = "address", [CLI_FIELD_SELF] = "self",   [CLI_FIELD_TOTAL] = "total",
    [CLI_FIELD_PARENT] = "parent",   [CLI_FIELD_DEPTH] = "depth",
};

static int open_field(struct cli_field *field, const pcol_column *column, const char *name)
{
    pcol_error err;

    if (column == NULL)
        return CLI_OK;
    field->array.size = sizeof field->array;
    if (cli_describe(column).type == PCOL_STRING)
        field->text = column;
    else if (pcol_column_array(column, NULL, &field->array, &err) != PCOL_OK)
        return cli_fail_error(name, &err);
    if (field->array.null_count == field->array.rows)
        field->array.rows = 0;
    return CLI_OK;
}

int cli_result_open(struct cli_result *rows, pcol_status status, const pcol_error *err,
                    const char *name, const char *const *columns)
{
    const pcol_table *table = pcol_result_table(rows->result);
    size_t own = 0;
    int code = CLI_OK;

    if (status != PCOL_OK)
        return cli_fail_error(name, err);
    while (columns != NULL && columns[own] != NULL)
        own++;
    rows->count = (size_t)pcol_table_rows(table);
    rows->fields = calloc(CLI_FIELDS + own, sizeof *rows->fields);
    if (rows->fields == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < CLI_FIELDS + own && code == CLI_OK; i++) {
        const char *column = i < CLI_FIELDS ? field_names[i] : columns[i - CLI_FIELDS];
        code = open_field(&rows->fields[i], pcol_table_column_by_name(table, column, NULL), name);
    }
    return code;
}

void cli_result_close(struct cli_result *rows)
{
    free(rows->fields);
    pcol_result_free(rows->result);
    *rows = (struct cli_result){0};
}

pcol_str cli_result_text(const struct cli_result *rows, size_t field, size_t row)
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
    frame->name = cli_result_text(rows, CLI_FIELD_NAME, row);
    frame->file = cli_result_text(rows, CLI_FIELD_FILE, row);
    frame->has_name = frame->name.data != NULL;
    frame->has_file = frame->file.data != NULL;
    frame->has_line = cli_result_has(rows, CLI_FIELD_LINE, row);
    frame->has_address = cli_result_has(rows, CLI_FIELD_ADDRESS, row);
    frame->line = cli_result_amount(rows, CLI_FIELD_LINE, row).i64;
    frame->address = (uint64_t)cli_result_amount(rows, CLI_FIELD_ADDRESS, row).i64;
}

void cli_result_get(const struct cli_result *rows, size_t row, struct cli_result_row *values)
{
    cli_result_frame(rows, row, &values->frame);
    values->self = cli_result_amount(rows, CLI_FIELD_SELF, row);
    values->total = cli_result_amount(rows, CLI_FIELD_TOTAL, row);
    values->parent = (uint32_t)cli_result_amount(rows, CLI_FIELD_PARENT, row).i64;
    values->depth = (uint32_t)cli_result_amount(rows, CLI_FIELD_DEPTH, row).i64;
}

enum { X = CLI_FIELDS, WIDTH, CHANGE, GONE };

int cli_flame_open(struct cli_result *rows, pcol_status status, const pcol_error *err,
                   const char *name)
{
    static const char *const columns[] = {"x_px", "width_px", "change", "gone", NULL};

    return cli_result_open(rows, status, err, name, columns);
}

int cli_peek_open(struct cli_result *rows, const struct cli_input *input,
                  const struct cli_args *args, pcol_query *query, const char *name)
{
    static const char *const columns[] = {"relation", NULL};
    pcol_error err;
    char *pattern;
    pcol_status status = cli_demangled_name(input->file, args, name, &pattern, &err);

    if (status == PCOL_OK)
        status =
            pcol_query_peek(query, pattern != NULL ? pattern : name, NULL, &rows->result, &err);
    free(pattern);
    int code = cli_result_open(rows, status, &err, input->name, columns);
    return code == CLI_OK && rows->count == 0 ? cli_no_function(input->name, name) : code;
}

struct cli_box cli_flame_box(const struct cli_result *rows, size_t row)
{
    return (struct cli_box){.name = cli_result_text(rows, CLI_FIELD_NAME, row),
                            .depth = (uint32_t)cli_result_amount(rows, CLI_FIELD_DEPTH, row).i64,
                            .x = cli_result_amount(rows, X, row).f64,
                            .width = cli_result_amount(rows, WIDTH, row).f64,
                            .change = cli_result_amount(rows, CHANGE, row).f64,
                            .is_gone = cli_result_amount(rows, GONE, row).i64 != 0,
                            .total = cli_result_amount(rows, CLI_FIELD_TOTAL, row)};
}
