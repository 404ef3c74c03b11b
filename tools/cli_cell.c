/*
 * cli_cell.c - single cells and whole columns of a file, for commands that look at few of them
 *
 * Cells are read as ranges of one row, which verifies checksums where pcol_column_i64() does not.
 */
#include "cli.h"

#include <string.h>

pcol_column_info cli_describe(const pcol_column *column)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    if (pcol_column_describe(column, &info, NULL) != PCOL_OK)
        info.name = info.encoding = info.codec = "";
    return info;
}

pcol_status cli_cell_read(const pcol_column *column, uint64_t row, struct cli_cell *cell,
                          pcol_error *err)
{
    pcol_status status = PCOL_OK;
    pcol_str text;
    uint8_t valid = 0;

    pcol_type type = cli_describe(column).type;
    *cell = cli_cell_text(NULL);
    switch (type) {
    case PCOL_STRING:
    case PCOL_BYTES:
        status = pcol_column_read_str(column, row, 1, &text, &valid, err);
        if (status == PCOL_OK && valid)
            *cell = cli_cell_str(text);
        break;
    case PCOL_F64:
        status = pcol_column_read_f64(column, row, 1, &cell->as.f64, &valid, err);
        cell->kind = valid ? CLI_CELL_F64 : CLI_CELL_NULL;
        break;
    case PCOL_I64:
    case PCOL_U64:
    case PCOL_U32:
    case PCOL_BOOL:
        status = pcol_column_read_i64(column, row, 1, &cell->as.i64, &valid, err);
        if (valid)
            cell->kind = type == PCOL_U64    ? CLI_CELL_U64
                         : type == PCOL_BOOL ? CLI_CELL_BOOL
                                             : CLI_CELL_I64;
        break;
    case PCOL_LIST:
        break;
    }
    if (status != PCOL_OK)
        cell->kind = CLI_CELL_NULL;
    return status;
}

pcol_status cli_cell_find(const pcol_table *table, const char *column, uint64_t row,
                          struct cli_cell *cell, pcol_error *err)
{
    const pcol_column *found =
        table != NULL ? pcol_table_column_by_name(table, column, NULL) : NULL;

    *cell = cli_cell_text(NULL);
    return found != NULL ? cli_cell_read(found, row, cell, err) : PCOL_OK;
}

int cli_cell_is(const struct cli_cell *cell, const char *text)
{
    return cell->kind == CLI_CELL_TEXT && cell->as.text.size == strlen(text) &&
           memcmp(cell->as.text.data, text, cell->as.text.size) == 0;
}

pcol_status cli_find_table(const pcol_file *file, pcol_model model, const char *name,
                           const pcol_table **table, uint64_t *rows, pcol_error *err)
{
    pcol_status status = pcol_file_table_by_name(file, model, name, table, err);

    *rows = 0;
    if (status == PCOL_E_NOT_FOUND) {
        *table = NULL;
        return PCOL_OK;
    }
    if (status == PCOL_OK)
        *rows = pcol_table_rows(*table);
    return status;
}

pcol_status cli_verify_row_count(const pcol_file *file, const char *table, uint64_t rows,
                                 pcol_error *err)
{
    if (rows >> 26 == 0 || rows >> 14 <= pcol_file_size(file))
        return PCOL_OK;
    memset(err, 0, sizeof *err);
    err->offset = err->inflated_offset = err->row = PCOL_POSITION_UNKNOWN;
    snprintf(err->message, sizeof err->message,
             "table %s: implausible number of rows, %llu in a file of %llu bytes", table,
             (unsigned long long)rows, (unsigned long long)pcol_file_size(file));
    return err->status = PCOL_E_LIMIT;
}

uint64_t cli_table_bytes(const pcol_table *table)
{
    uint64_t bytes = 0;
    uint32_t count = pcol_table_column_count(table);

    for (uint32_t i = 0; i < count; i++)
        bytes += cli_describe(pcol_table_column(table, i)).bytes;
    return bytes;
}
