/*
 * cli_table.c - rows of cells as an aligned table; entry of the other formats
 *
 * The aligned table buffers its first rows, measures the columns and continues with these widths,
 * so memory does not grow with the table. It shows unsafe characters as \xNN; the other formats
 * are lossless, except TSV and CSV on a terminal. A narrow terminal first loses optional columns,
 * which are listed below the table; then texts are cut in the middle, the least informative part
 * of stacks, paths and names. No line exceeds the terminal. Markdown is in cli_markdown.c, the
 * other formats are in cli_lines.c.
 */
#include "cli_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEASURED_ROWS 1024
#define MEASURED_BYTES (1u << 22)

static enum layout layout_of(const struct cli_out *out, const char *format)
{
    static const char *const names[] = {"table", "markdown", "tsv", "csv", "json", "ndjson"};

    if (format == NULL && out->file != NULL)
        format = cli_text_format(out->name);
    for (size_t i = 0; format != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(format, names[i]) == 0)
            return (enum layout)i;
    return out->terminal ? LAYOUT_TABLE : LAYOUT_TSV;
}

static int grow_text(struct cli_table *table, size_t more)
{
    size_t needed = table->text_size + more;

    if (table->text != NULL && needed <= table->text_capacity)
        return 0;
    size_t capacity = needed < 8192 ? 8192 : 2 * needed;
    char *grown = realloc(table->text, capacity);
    if (grown == NULL) {
        table->failed = 1;
        return -1;
    }
    table->text = grown;
    table->text_capacity = capacity;
    return 0;
}

/* Append a cell of the aligned table. */
static void render(struct cli_table *table, const struct cli_cell *cell, struct kept *kept)
{
    memset(kept, 0, sizeof *kept);
    kept->start = table->text_size;
    if (cell->kind == CLI_CELL_TEXT || cell->kind == CLI_CELL_RAW) {
        if (grow_text(table, 4 * cell->as.text.size) != 0)
            return;
        kept->width = cli_escape(cell->as.text.data, cell->as.text.size, table->out->is_ascii,
                                 table->text + kept->start, &kept->size);
    } else if (cell->kind == CLI_CELL_LIST) {
        if (grow_text(table, cell->as.list.count * (CLI_NUMBER_SIZE / 2 + 2) + 2) != 0)
            return;
        char *to = table->text + kept->start;
        *to++ = '[';
        for (size_t i = 0; i < cell->as.list.count; i++) {
            if (i > 0)
                *to++ = ',';
            to += cli_format_i64(to, cell->as.list.values[i]);
        }
        *to++ = ']';
        kept->width = kept->size = (size_t)(to - table->text) - kept->start;
    } else {
        if (grow_text(table, CLI_NUMBER_SIZE) != 0)
            return;
        char *to = table->text + kept->start;
        if (cell->kind == CLI_CELL_NULL || cell->kind == CLI_CELL_ABSENT) {
            to[0] = 'N';
            to[1] = 'A';
            kept->size = 2;
        } else {
            kept->size = cli_cell_number(cell, to);
        }
        kept->width = kept->size;
    }
    table->text_size += kept->size;
}

static void pad(struct cli_out *out, size_t count)
{
    while (count > 0) {
        size_t part = count < 256 ? count : 256;
        memset(cli_out_reserve(out, part), ' ', part);
        cli_out_commit(out, part);
        count -= part;
    }
}

/* ---- fitting to a terminal ---- */

#define LEAST_TEXT 12u
#define GAP 2u
#define MOST_NAMED 5u

static int is_right(const struct cli_table *table, size_t column)
{
    return (table->columns[column].flags & CLI_RIGHT) != 0;
}

static size_t width_of(const struct cli_table *table)
{
    size_t sum = 0, shown = 0;

    for (size_t i = 0; i < table->count; i++)
        if (!table->hidden[i])
            sum += table->widths[i] + (shown++ > 0 ? GAP : 0);
    return sum;
}

/* The text column with the most excess width; table->count: none. */
static size_t widest(const struct cli_table *table, const struct kept *header, size_t text,
                     size_t *least)
{
    size_t found = table->count, most = 0;

    for (size_t i = 0; i < table->count; i++) {
        size_t need = header != NULL && header[i].width > text ? header[i].width : text;
        if (!table->hidden[i] && !is_right(table, i) && table->widths[i] > need &&
            table->widths[i] > most) {
            most = table->widths[i];
            *least = need;
            found = i;
        }
    }
    return found;
}

/* Each step reduces at least one column to its minimum or to the width of the next widest, so
 * there are at most twice as many steps as columns. */
static void shrink(struct cli_table *table, const struct kept *header, size_t text,
                   size_t available)
{
    size_t least = 0, column, width;

    while ((width = width_of(table)) > available &&
           (column = widest(table, header, text, &least)) < table->count) {
        size_t excess = width - available, own = table->widths[column];
        size_t next = 0, unused;
        table->widths[column] = 0;
        size_t second = widest(table, header, text, &unused);
        if (second < table->count)
            next = table->widths[second];
        least = next > least && next < own ? next : least;
        if (next == own && own > least + (excess + 1) / 2)
            least = own - (excess + 1) / 2;
        table->widths[column] = own - least > excess ? own - excess : least;
    }
}

/* Equal in all measured rows: the least informative. */
static int is_constant(const struct cli_table *table, size_t column)
{
    const struct kept *first = &table->kept[column];

    for (size_t row = 1; row < table->kept_rows; row++) {
        const struct kept *cell = &table->kept[row * table->count + column];
        if (cell->size != first->size ||
            memcmp(table->text + cell->start, table->text + first->start, cell->size) != 0)
            return 0;
    }
    return table->kept_rows > 1;
}

/* The next column to omit: the last one of the highest rank; table->count: none. constant: among
 * columns with equal measured cells. */
static size_t next_optional(const struct cli_table *table, int constant)
{
    size_t found = table->count;
    int highest = 0;

    for (size_t i = table->count; i-- > 0;) {
        int rank = table->columns[i].flags / CLI_OPTIONAL(1);
        if (!table->hidden[i] && rank > highest && (!constant || table->constant[i])) {
            highest = rank;
            found = i;
        }
    }
    return found;
}

/* Last resort: omit numbers from the right, then texts, but never the last column. */
static size_t last_of_several(const struct cli_table *table, int kept)
{
    size_t shown = 0, last = table->count, number = table->count;

    for (size_t i = 0; i < table->count; i++)
        if (!table->hidden[i]) {
            shown++;
            if (table->columns[i].flags & kept)
                continue;
            last = i;
            number = is_right(table, i) ? i : number;
        }
    return shown < 2 ? table->count : number < table->count ? number : last;
}

/* Omit constant columns and then optional ones before cutting texts. Afterwards no line exceeds
 * the terminal. */
static void fit(struct cli_table *table, const struct kept *header)
{
    size_t available = table->out->terminal ? cli_terminal_columns() : SIZE_MAX, column;
    size_t size = table->count * sizeof *table->widths;
    size_t *whole = malloc(size + 1);

    if (whole == NULL) {
        table->failed = 1;
        return;
    }
    memcpy(whole, table->widths, size);
    shrink(table, header, CLI_GOOD_TEXT, available);
    for (int constant = 1; constant >= 0; constant--)
        while (width_of(table) > available &&
               (column = next_optional(table, constant)) < table->count) {
            table->hidden[column] = 1;
            memcpy(table->widths, whole, size);
            shrink(table, header, CLI_GOOD_TEXT, available);
        }
    shrink(table, header, LEAST_TEXT, available);
    shrink(table, NULL, LEAST_TEXT, available);
    while (width_of(table) > available &&
           (column = last_of_several(table, CLI_KEEP)) < table->count) {
        table->hidden[column] = 1;
        memcpy(table->widths, whole, size);
        shrink(table, NULL, LEAST_TEXT, available);
    }
    shrink(table, NULL, 1, available);
    while (width_of(table) > available && (column = last_of_several(table, 0)) < table->count) {
        table->hidden[column] = 1;
        memcpy(table->widths, whole, size);
        shrink(table, NULL, 1, available);
    }
    free(whole);
}

static void put_left_out(struct cli_table *table)
{
    struct cli_out *out = table->out;
    size_t named = 0, more = 0;

    for (size_t i = 0; i < table->count; i++) {
        if (!table->hidden[i])
            continue;
        if (named == MOST_NAMED) {
            more++;
            continue;
        }
        cli_out_text(out, named++ > 0 ? ", " : "(too narrow for ");
        cli_out_safe(out, table->columns[i].name, strlen(table->columns[i].name));
    }
    if (more > 0)
        cli_out_printf(out, " and %zu more", more);
    if (named > 0)
        cli_out_text(out, table->chosen ? "; -c chooses columns)\n" : ")\n");
}

/* ---- lines ---- */

static void put_aligned(struct cli_table *table, const struct kept *cells)
{
    struct cli_out *out = table->out;
    size_t put = 0, waiting = 0;

    for (size_t i = 0; i < table->count; i++) {
        size_t width = table->widths[i];
        size_t gap = width > cells[i].width ? width - cells[i].width : 0;
        if (table->hidden[i])
            continue;
        if (put++ > 0)
            pad(out, waiting + GAP);
        waiting = 0;
        if (is_right(table, i))
            pad(out, gap);
        if (cells[i].width > width && out->terminal && !is_right(table, i))
            cli_out_cut(out, table->text + cells[i].start, cells[i].size, width);
        else
            cli_out_write(out, table->text + cells[i].start, cells[i].size);
        if (!is_right(table, i))
            waiting = gap; /* no padding after the last column */
    }
}

static void put_line(struct cli_table *table, const struct kept *cells)
{
    put_aligned(table, cells);
    cli_out_write(table->out, "\n", 1);
}

static void put_aligned_header(struct cli_table *table)
{
    struct cli_out *out = table->out;
    struct kept *cells = calloc(table->count + 1, sizeof *cells);

    if (cells == NULL) {
        table->failed = 1;
        return;
    }
    table->text_size = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct cli_cell name = cli_cell_text(table->columns[i].name);
        render(table, &name, &cells[i]);
        if (cells[i].width > table->widths[i])
            table->widths[i] = cells[i].width;
    }
    fit(table, cells);
    if (out->color)
        cli_out_text(out, "\x1b[1m");
    put_aligned(table, cells);
    cli_out_text(out, out->color ? "\x1b[0m\n" : "\n");
    free(cells);
}

/* After measuring: write the header and the buffered rows. */
static void end_measuring(struct cli_table *table)
{
    char *text = table->text;
    size_t capacity = table->text_capacity;

    for (size_t row = 0; row < table->kept_rows; row++)
        for (size_t i = 0; i < table->count; i++)
            if (table->kept[row * table->count + i].width > table->widths[i])
                table->widths[i] = table->kept[row * table->count + i].width;
    for (size_t i = 0; table->out->terminal && i < table->count; i++)
        table->constant[i] = (table->columns[i].flags >= CLI_OPTIONAL(1)) && is_constant(table, i);
    if (table->header) {
        table->text = NULL;
        table->text_capacity = 0;
        put_aligned_header(table);
        free(table->text);
        table->text = text;
        table->text_capacity = capacity;
    } else {
        fit(table, NULL);
    }
    for (size_t row = 0; row < table->kept_rows && !table->failed; row++)
        put_line(table, table->kept + row * table->count);
    table->kept_rows = 0;
    table->text_size = 0;
}

static void aligned_row(struct cli_table *table, const struct cli_cell *cells)
{
    int measuring = table->rows < MEASURED_ROWS && table->text_size < MEASURED_BYTES &&
                    table->rows == table->kept_rows;
    struct kept *kept = table->kept + (measuring ? table->kept_rows : 0) * table->count;

    if (!measuring && table->kept_rows > 0)
        end_measuring(table);
    if (!measuring)
        table->text_size = 0;
    for (size_t i = 0; i < table->count; i++)
        render(table, &cells[i], &kept[i]);
    if (measuring)
        table->kept_rows++;
    else if (!table->failed)
        put_line(table, kept);
}

int cli_table_check(const struct cli_args *args)
{
    int is_table = args->format == NULL && !cli_is_file_name(args->output) && isatty(STDOUT_FILENO);

    if (args->format != NULL)
        is_table = strcmp(args->format, "csv") != 0 && strcmp(args->format, "tsv") != 0;
    if (args->csv_safe && is_table)
        return cli_usage("--csv-safe applies to the formats csv and tsv");
    if (args->null != NULL && strpbrk(args->null, ",\"\t\r\n") != NULL)
        return cli_usage("--null: the text has a comma, a quote, a tab or a line end");
    return CLI_OK;
}

/* Members of JSON objects are unique. */
static int check_columns(enum layout layout, const struct cli_table_column *columns, size_t count)
{
    for (size_t i = 0; i < count && layout >= LAYOUT_JSON; i++)
        if (columns[i].flags & CLI_REPEATED)
            return cli_usage("column %s is given twice: members of JSON objects are unique",
                             columns[i].name);
    return CLI_OK;
}

int cli_table_begin(struct cli_table **made, struct cli_out *out, const struct cli_args *args,
                    const struct cli_table_column *columns, size_t count)
{
    enum layout layout = layout_of(out, args->format);
    int code = check_columns(layout, columns, count);
    struct cli_table *table;

    *made = NULL;
    if (code != CLI_OK)
        return code;
    table = *made = calloc(1, sizeof *table);
    if (table == NULL)
        return cli_fail_memory();
    table->out = out;
    table->columns = columns;
    table->count = count;
    table->null = args->null;
    table->header = !args->no_header;
    table->layout = layout;
    table->safe = args->csv_safe;
    if (table->layout == LAYOUT_TABLE) {
        cli_out_fold(out);
        table->chosen = cli_has_option(args, CLI_AT(columns));
        table->widths = calloc(count + 1, sizeof *table->widths);
        table->kept = calloc(count * MEASURED_ROWS + 1, sizeof *table->kept);
        table->hidden = calloc(count + 1, 1);
        table->constant = calloc(count + 1, 1);
        table->failed = table->widths == NULL || table->kept == NULL || table->hidden == NULL ||
                        table->constant == NULL;
    } else if (table->layout == LAYOUT_MARKDOWN) {
        cli_markdown_begin(table);
    } else {
        cli_lines_begin(table);
    }
    return CLI_OK;
}

void cli_table_row(struct cli_table *table, const struct cli_cell *cells)
{
    if (table->failed)
        return;
    if (table->layout == LAYOUT_TABLE)
        aligned_row(table, cells);
    else if (table->layout == LAYOUT_MARKDOWN)
        cli_markdown_row(table, cells);
    else
        cli_lines_row(table, cells);
    table->rows++;
}

int cli_table_end(struct cli_table *table, int code)
{
    if (table == NULL)
        return code;
    if (table->layout == LAYOUT_TABLE && !table->failed && table->rows == table->kept_rows)
        end_measuring(table);
    if (table->layout == LAYOUT_TABLE && !table->failed)
        put_left_out(table);
    if (table->layout == LAYOUT_JSON && code == CLI_OK)
        cli_out_text(table->out, table->rows == 0 ? "[]\n" : "\n]\n");
    if (table->failed && code == CLI_OK)
        code = cli_fail_memory();
    cli_lines_end(table);
    cli_blocks_end(table);
    free(table->widths);
    free(table->hidden);
    free(table->constant);
    free(table->kept);
    free(table->text);
    free(table);
    return code;
}
