/*
 * cli_json.c - cells as JSON
 *
 * Lossless: integers have all digits, invalid UTF-8 bytes are lone surrogates \udc80 to \udcff (as
 * Python's surrogateescape), NaN and infinities are strings. Characters that a terminal would
 * interpret are written as escapes, with the same meaning for a reader.
 */
#include "cli.h"

#include <math.h>
#include <string.h>

struct cli_cell cli_cell_text(const char *text)
{
    struct cli_cell cell = {CLI_CELL_NULL, 0, {0}};

    if (text != NULL) {
        cell.kind = CLI_CELL_TEXT;
        cell.as.text.data = text;
        cell.as.text.size = strlen(text);
    }
    return cell;
}

struct cli_cell cli_cell_str(pcol_str text)
{
    struct cli_cell cell = {CLI_CELL_TEXT, 0, {0}};

    cell.as.text.data = text.data;
    cell.as.text.size = text.size;
    return cell;
}

struct cli_cell cli_cell_u64(uint64_t value)
{
    struct cli_cell cell = {CLI_CELL_U64, 0, {0}};

    cell.as.u64 = value;
    return cell;
}

struct cli_cell cli_cell_bool(int value)
{
    struct cli_cell cell = {CLI_CELL_BOOL, 0, {0}};

    cell.as.i64 = value != 0;
    return cell;
}

struct cli_cell cli_cell_of(const pcol_cells *cells, size_t row)
{
    struct cli_cell cell = {CLI_CELL_NULL, 0, {0}};

    if (!cells->valid[row])
        return cell;
    switch (cells->type) {
    case PCOL_I64:
    case PCOL_U32:
        cell.kind = CLI_CELL_I64;
        cell.as.i64 = cells->i64[row];
        break;
    case PCOL_U64:
        cell.kind = CLI_CELL_U64;
        cell.as.u64 = (uint64_t)cells->i64[row];
        break;
    case PCOL_BOOL:
        cell.kind = CLI_CELL_BOOL;
        cell.as.i64 = cells->i64[row];
        break;
    case PCOL_F64:
        cell.kind = CLI_CELL_F64;
        cell.as.f64 = cells->f64[row];
        break;
    case PCOL_STRING:
    case PCOL_BYTES:
        return cli_cell_str(cells->str[row]);
    case PCOL_LIST:
        cell.kind = CLI_CELL_LIST;
        cell.as.list.values = cells->list_values + cells->list[row];
        cell.as.list.count = (size_t)(cells->list[row + 1] - cells->list[row]);
        break;
    }
    return cell;
}

size_t cli_cell_number(const struct cli_cell *cell, char *text)
{
    switch (cell->kind) {
    case CLI_CELL_I64:
        return cli_format_i64(text, cell->as.i64);
    case CLI_CELL_U64:
        return cli_format_u64(text, cell->as.u64);
    case CLI_CELL_F64:
        return cli_format_f64(text, cell->as.f64);
    case CLI_CELL_BOOL:
        memcpy(text, cell->as.i64 ? "true" : "false", 5);
        return cell->as.i64 ? 4 : 5;
    case CLI_CELL_PERCENT:
        return cli_format_percent(text, cell->as.f64);
    case CLI_CELL_NULL:
    case CLI_CELL_ABSENT:
    case CLI_CELL_TEXT:
    case CLI_CELL_RAW:
    case CLI_CELL_LIST:
        break;
    }
    return 0;
}

static size_t escape_code(char *to, uint32_t code)
{
    static const char hex[] = "0123456789abcdef";

    to[0] = '\\';
    to[1] = 'u';
    for (int i = 0; i < 4; i++)
        to[2 + i] = hex[code >> (12 - 4 * i) & 15];
    return 6;
}

/* Escape one character or one invalid byte, at most 6 bytes; *used: bytes of text consumed. */
static size_t escape_one(char *to, const char *text, size_t size, size_t *used)
{
    static const char named[] = "\b\f\n\r\t\"\\";
    static const char letters[] = "bfnrt\"\\";
    uint32_t code = 0;
    size_t length = cli_utf8(text, size, &code);
    const char *found;

    *used = length > 0 ? length : 1;
    if (length == 0)
        return escape_code(to, 0xdc00u + (unsigned char)*text);
    if (code != 0 && code < 0x80 && (found = strchr(named, (int)code)) != NULL) {
        to[0] = '\\';
        to[1] = letters[found - named];
        return 2;
    }
    if (cli_unsafe(code))
        return escape_code(to, code);
    memcpy(to, text, length);
    return length;
}

static void print_text(struct cli_out *out, const char *data, size_t size)
{
    size_t i = 0;

    cli_out_write(out, "\"", 1);
    while (i < size) {
        size_t plain = cli_find_special(data, i, size, '"', '\\', 1);
        cli_out_write(out, data + i, plain - i);
        i = plain;
        if (i < size) {
            size_t used;
            cli_out_commit(out, escape_one(cli_out_reserve(out, 8), data + i, size - i, &used));
            i += used;
        }
    }
    cli_out_write(out, "\"", 1);
}

/* Write JSON text of the file; characters beyond ASCII occur only in strings and are escaped
 * there, with the same meaning. */
static void json_raw(struct cli_out *out, const char *data, size_t size)
{
    size_t i = 0;

    while (i < size) {
        size_t plain = cli_find_special(data, i, size, 0x1f, 0x1f,
                                        1); /* JSON text contains no raw control characters */
        cli_out_write(out, data + i, plain - i);
        i = plain;
        if (i < size) {
            size_t used;
            cli_out_commit(out, escape_one(cli_out_reserve(out, 8), data + i, size - i, &used));
            i += used;
        }
    }
}

void cli_json_cell(struct cli_out *out, const struct cli_cell *cell)
{
    switch (cell->kind) {
    case CLI_CELL_NULL:
    case CLI_CELL_ABSENT:
        cli_out_text(out, "null");
        return;
    case CLI_CELL_RAW:
        json_raw(out, cell->as.text.data, cell->as.text.size);
        return;
    case CLI_CELL_TEXT:
        print_text(out, cell->as.text.data, cell->as.text.size);
        return;
    case CLI_CELL_LIST:
        cli_out_write(out, "[", 1);
        for (size_t i = 0; i < cell->as.list.count; i++) {
            char *buffer = cli_out_reserve(out, CLI_NUMBER_SIZE + 1);
            size_t used = 0;
            if (i > 0)
                buffer[used++] = ',';
            cli_out_commit(out, used + cli_format_i64(buffer + used, cell->as.list.values[i]));
        }
        cli_out_write(out, "]", 1);
        return;
    case CLI_CELL_F64:
        if (!isfinite(cell->as.f64)) {
            char text[CLI_NUMBER_SIZE];
            print_text(out, text, cli_format_f64(text, cell->as.f64));
            return;
        }
        break;
    case CLI_CELL_I64:
    case CLI_CELL_U64:
    case CLI_CELL_BOOL:
    case CLI_CELL_PERCENT:
        break;
    }
    cli_out_commit(out, cli_cell_number(cell, cli_out_reserve(out, CLI_NUMBER_SIZE)));
}

void cli_json_key(struct cli_out *out, int *first, const char *key)
{
    if (!*first)
        cli_out_write(out, ",", 1);
    *first = 0;
    print_text(out, key, strlen(key));
    cli_out_write(out, ":", 1);
}
