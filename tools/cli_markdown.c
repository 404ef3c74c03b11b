/*
 * cli_markdown.c - rows of cells as a table of GitHub Flavored Markdown
 *
 * Text is a code span. In it only backticks, blanks at both ends and pipes (which separate cells
 * even there) have a meaning, so a name is readable in the source and displayed unchanged.
 * Characters that a terminal would interpret are \xNN. Tests: tests/cli/commands.
 */
#include "cli_table.h"

#include <string.h>

/* Length of the longest run of backticks; the fence of a code span is one longer. */
static size_t longest_run(const char *text, size_t size)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < size; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_many(struct cli_out *out, char byte, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_out_write(out, &byte, 1);
}

/* `pipe`: replacement for a pipe. */
static void put_code(struct cli_out *out, const char *text, size_t size, const char *pipe)
{
    if (size == 0)
        return;
    size_t fence = longest_run(text, size) + 1;
    int blank = text[0] == ' ' && text[size - 1] == ' ' && strspn(text, " ") < size;
    int padded = blank || text[0] == '`' || text[size - 1] == '`';

    put_many(out, '`', fence);
    put_many(out, ' ', (size_t)padded);
    while (size > 0) {
        const char *end = memchr(text, '|', size);
        size_t part = end != NULL ? (size_t)(end - text) : size;
        cli_out_safe(out, text, part);
        if (end != NULL) {
            cli_out_text(out, pipe);
            part++;
        }
        text += part;
        size -= part;
    }
    put_many(out, ' ', (size_t)padded);
    put_many(out, '`', fence);
}

void cli_markdown_code(struct cli_out *out, const char *text, size_t size)
{
    put_code(out, text, size, "|");
}

static void put_cell(struct cli_out *out, const struct cli_table_column *column,
                     const struct cli_cell *cell)
{
    int is_text = cell->kind == CLI_CELL_TEXT || cell->kind == CLI_CELL_RAW;

    if (is_text && (column->flags & (CLI_RIGHT | CLI_PROSE)))
        cli_out_safe(out, cell->as.text.data, cell->as.text.size);
    else if (is_text)
        put_code(out, cell->as.text.data, cell->as.text.size, "\\|");
    else if (cell->kind == CLI_CELL_NULL || cell->kind == CLI_CELL_ABSENT)
        cli_out_text(out, "NA");
    else if (cell->kind == CLI_CELL_LIST)
        cli_json_cell(out, cell);
    else
        cli_out_commit(out, cli_cell_number(cell, cli_out_reserve(out, CLI_NUMBER_SIZE)));
}

/* Whether a column name needs no code span. */
static int is_plain(const char *name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .%_";
    size_t size = strlen(name);

    return strspn(name, plain) == size && (size == 0 || (name[0] != '_' && name[size - 1] != '_'));
}

void cli_markdown_begin(struct cli_table *table)
{
    struct cli_out *out = table->out;

    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->columns[i].name;
        cli_out_text(out, i == 0 ? "| " : " | ");
        if (is_plain(name))
            cli_out_text(out, name);
        else
            put_code(out, name, strlen(name), "\\|");
    }
    cli_out_text(out, " |\n");
    for (size_t i = 0; i < table->count; i++)
        cli_out_text(out, table->columns[i].flags & CLI_RIGHT ? "|---:" : "|---");
    cli_out_text(out, "|\n");
}

void cli_markdown_row(struct cli_table *table, const struct cli_cell *cells)
{
    for (size_t i = 0; i < table->count; i++) {
        cli_out_text(table->out, i == 0 ? "| " : " | ");
        put_cell(table->out, &table->columns[i], &cells[i]);
    }
    cli_out_text(table->out, " |\n");
}
