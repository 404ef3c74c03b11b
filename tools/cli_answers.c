/*
 * cli_answers.c - results of Perun queries as tables
 *
 * Every cell has its own type (CLI_TYPE_OPEN). Selection and printing are those of other tables.
 * Tests: tests/oracle/answers, tests/cli/perun.test.
 */
#include "cli.h"
#include "cli_losses.h"

#include <stdlib.h>
#include <string.h>

int cli_answers_table(const char *name, pcol_question *question)
{
    static const struct {
        const char *name;
        pcol_question question;
    } tables[] = {{"resources", PCOL_ASK_RESOURCES},
                  {"models", PCOL_ASK_MODELS},
                  {"snapshots", PCOL_ASK_SNAPSHOT_ROWS}};

    for (size_t i = 0; name != NULL && i < sizeof tables / sizeof *tables; i++)
        if (strcmp(name, tables[i].name) == 0) {
            *question = tables[i].question;
            return 1;
        }
    return 0;
}

/* ---- columns and cells ---- */

struct shown {
    pcol_answers *answers;
    const char *file_name;
    char **names;
    struct cli_rows_column *columns; /* all columns */
    size_t count;
    size_t *order; /* indexes of the columns to print */
    size_t order_count;
    struct cli_table_column *headings;
    struct cli_cell *cells; /* of the row to print */
    struct cli_where *where;
    struct cli_cell *block; /* cells of a block to print */
    size_t block_capacity;
    struct cli_part *parts; /* parts of a block */
    size_t part_capacity;
};

/* The name of a column as text; a NUL becomes \0. */
static char *name_text(pcol_str name)
{
    char *text = malloc(2 * name.size + 1), *to = text;

    for (size_t i = 0; text != NULL && i < name.size; i++) {
        if (name.data[i] == '\0') {
            *to++ = '\\';
            *to++ = '0';
        } else {
            *to++ = name.data[i];
        }
    }
    if (text != NULL)
        *to = '\0';
    return text;
}

static int choose_columns(struct shown *shown, const char *list)
{
    size_t commas = 0;

    for (const char *at = list; *at != '\0'; at++)
        commas += *at == ',';
    free(shown->order);
    shown->order_count = 0;
    if ((shown->order = calloc(commas + 1, sizeof *shown->order)) == NULL)
        return cli_fail_memory();
    for (;;) {
        size_t size = strcspn(list, ","), i = 0;
        while (i < shown->count &&
               (strlen(shown->names[i]) != size || memcmp(shown->names[i], list, size) != 0))
            i++;
        if (i == shown->count)
            return cli_usage("no column '%.*s'", (int)(size < 60 ? size : 60), list);
        shown->order[shown->order_count++] = i;
        if (list[size] == '\0')
            return CLI_OK;
        list += size + 1;
    }
}

static int list_columns(struct shown *shown, const struct cli_args *args)
{
    size_t count = shown->count = pcol_answers_column_count(shown->answers);
    int code = CLI_OK;

    shown->names = calloc(count + 1, sizeof(char *));
    shown->columns = calloc(count + 1, sizeof *shown->columns);
    shown->order = calloc(count + 1, sizeof *shown->order);
    if (shown->names == NULL || shown->columns == NULL || shown->order == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < count; i++) {
        if ((shown->names[i] = name_text(pcol_answers_column(shown->answers, i))) == NULL)
            return cli_fail_memory();
        shown->columns[i].name = shown->names[i];
        shown->columns[i].type = (pcol_type)CLI_TYPE_OPEN;
        shown->order[shown->order_count++] = i;
    }
    if (args->columns != NULL)
        code = choose_columns(shown, args->columns);
    if (code == CLI_OK && args->where.count > 0)
        code = cli_where_new(&args->where, shown->columns, count, &shown->where);
    shown->headings = calloc(shown->order_count + 1, sizeof *shown->headings);
    shown->cells = calloc(shown->order_count + 1, sizeof *shown->cells);
    if (code == CLI_OK && (shown->headings == NULL || shown->cells == NULL))
        return cli_fail_memory();
    for (size_t i = 0; code == CLI_OK && i < shown->order_count; i++)
        shown->headings[i] = (struct cli_table_column){shown->names[shown->order[i]],
                                                       i > 0 ? CLI_OPTIONAL(1) : CLI_LEFT};
    return code;
}

static struct cli_cell cell_of(const pcol_answer *answer)
{
    static const enum cli_cell_kind kinds[] = {
        [PCOL_ANSWER_ABSENT] = CLI_CELL_ABSENT, [PCOL_ANSWER_NULL] = CLI_CELL_NULL,
        [PCOL_ANSWER_BOOL] = CLI_CELL_BOOL,     [PCOL_ANSWER_I64] = CLI_CELL_I64,
        [PCOL_ANSWER_F64] = CLI_CELL_F64,       [PCOL_ANSWER_TEXT] = CLI_CELL_TEXT,
        [PCOL_ANSWER_DIGITS] = CLI_CELL_RAW,    [PCOL_ANSWER_JSON] = CLI_CELL_RAW,
    };
    struct cli_cell cell = {kinds[answer->kind], answer->stable, {0}};

    if (answer->kind >= PCOL_ANSWER_TEXT) {
        cell.as.text.data = answer->as.text.data;
        cell.as.text.size = answer->as.text.size;
    } else {
        memcpy(&cell.as, &answer->as.i64, sizeof answer->as.i64); /* of a double: its bits */
    }
    return cell;
}

/* ---- rows ---- */

/* Find the next row that satisfies --where; *cells is NULL at the end. */
static int next_row(struct shown *shown, const pcol_answer **cells)
{
    pcol_error err;

    for (;;) {
        int yes = 1;
        if (pcol_answers_next(shown->answers, cells, &err) != PCOL_OK)
            return cli_fail_error(shown->file_name, &err);
        if (*cells == NULL)
            return CLI_OK;
        for (size_t i = 0; i < cli_where_count(shown->where) && yes == 1; i++) {
            struct cli_cell cell = cell_of(&(*cells)[cli_where_column(shown->where, i)]);
            if (cli_where_test(shown->where, i, &cell, &yes, &err) != PCOL_OK)
                return cli_fail_error(shown->file_name, &err);
        }
        if (yes)
            return CLI_OK;
    }
}

static int grow(void **items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return 0;
    free(*items);
    *capacity = 0;
    if ((*items = calloc(2 * count + 1, size)) == NULL)
        return -1;
    *capacity = 2 * count + 1;
    return 0;
}

/* Select the cells and parts of the columns to print. */
static int choose_block(struct shown *shown, const pcol_answer_block *block, size_t *part_count)
{
    size_t width = shown->order_count;
    void *cells = shown->block, *parts = shown->parts;
    int failed = grow(&cells, &shown->block_capacity, block->rows * width, sizeof *shown->block);

    shown->block = cells;
    failed |= grow(&parts, &shown->part_capacity, block->part_count * width, sizeof *shown->parts);
    shown->parts = parts;
    if (failed != 0)
        return cli_fail_memory();
    for (size_t row = 0; row < block->rows; row++)
        for (size_t i = 0; i < width; i++)
            shown->block[row * width + i] =
                cell_of(&block->cells[row * shown->count + shown->order[i]]);
    *part_count = 0;
    for (size_t n = 0; n < block->part_count; n++) {
        const pcol_answer_part *part = &block->parts[n];
        const pcol_answer kind = {part->kind, 0, {0}};
        for (size_t i = 0; i < width; i++)
            if (shown->order[i] == part->column)
                shown->parts[(*part_count)++] =
                    (struct cli_part){part->row, i, cell_of(&kind).kind, part->values};
    }
    return CLI_OK;
}

/* Print rows that consist of one text with a number at its end. */
static int print_texts(struct shown *shown, struct cli_table *table, const pcol_answer_block *block)
{
    const pcol_answer_part *part = &block->parts[0];
    size_t size = part->before.size;
    char *text = malloc(size + CLI_NUMBER_SIZE);

    if (text == NULL)
        return cli_fail_memory();
    memcpy(text, part->before.data, size);
    for (size_t time = 0; time < block->times; time++) {
        struct cli_cell cell = {CLI_CELL_TEXT, 0, {0}};
        cell.as.text.data = text;
        cell.as.text.size = size + cli_format_i64(text + size, part->values[time]);
        for (size_t i = 0; i < shown->order_count; i++)
            shown->cells[i] = cell;
        cli_table_row(table, shown->cells);
    }
    free(text);
    return CLI_OK;
}

/* Print all rows, block by block. */
static int print_blocks(struct shown *shown, struct cli_table *table, const struct cli_out *out)
{
    pcol_answer_block block = PCOL_INIT(pcol_answer_block);
    pcol_error err;
    size_t part_count = 0;
    int code = CLI_OK;

    while (code == CLI_OK && out->code == 0) {
        if (pcol_answers_block(shown->answers, &block, &err) != PCOL_OK)
            return cli_fail_error(shown->file_name, &err);
        if (block.rows == 0)
            break;
        if (block.part_count == 1 && block.parts[0].before.size > 0) {
            code = print_texts(shown, table, &block);
            continue;
        }
        code = choose_block(shown, &block, &part_count);
        if (code == CLI_OK)
            cli_table_block(table, shown->block, block.rows, block.times, shown->parts, part_count);
    }
    return code;
}

static int print_rows(struct shown *shown, struct cli_out *out, const struct cli_args *args,
                      uint64_t offset, uint64_t limit)
{
    struct cli_table *table;
    const pcol_answer *cells;
    int code = cli_table_begin(&table, out, args, shown->headings, shown->order_count);

    if (code == CLI_OK)
        cli_table_reuse(table);
    if (code == CLI_OK && offset == 0 && limit == UINT64_MAX && shown->where == NULL)
        return cli_table_end(table, print_blocks(shown, table, out));
    while (code == CLI_OK && limit > 0 && out->code == 0) {
        code = next_row(shown, &cells);
        if (code != CLI_OK || cells == NULL)
            break;
        if (offset > 0) {
            offset--;
            continue;
        }
        for (size_t i = 0; i < shown->order_count; i++)
            shown->cells[i] = cell_of(&cells[shown->order[i]]);
        cli_table_row(table, shown->cells);
        limit--;
    }
    return cli_table_end(table, code);
}

static void print_line(struct cli_out *out, const char *text, size_t size)
{
    cli_out_plain(out, text, size);
    cli_out_write(out, "\n", 1);
}

/* Print all lines, block by block. */
static int print_line_blocks(struct shown *shown, struct cli_out *out)
{
    pcol_answer_block block = PCOL_INIT(pcol_answer_block);
    pcol_error err;

    while (out->code == 0) {
        if (pcol_answers_block(shown->answers, &block, &err) != PCOL_OK)
            return cli_fail_error(shown->file_name, &err);
        if (block.rows == 0)
            break;
        const pcol_str before = block.part_count > 0 ? block.parts[0].before : (pcol_str){"", 0};
        for (size_t time = 0; time < block.times; time++) {
            if (block.part_count == 0) {
                print_line(out, block.cells[0].as.text.data, block.cells[0].as.text.size);
                continue;
            }
            cli_out_plain(out, before.data, before.size);
            char *to = cli_out_reserve(out, CLI_NUMBER_SIZE);
            size_t size = cli_format_quick(to, block.parts[0].values[time]);
            to[size++] = '\n';
            cli_out_commit(out, size);
        }
    }
    return CLI_OK;
}

/* Print lines of text unchanged. */
static int print_lines(struct shown *shown, struct cli_out *out, uint64_t offset, uint64_t limit)
{
    const pcol_answer *cells;
    int code = CLI_OK;

    if (offset == 0 && limit == UINT64_MAX && shown->where == NULL)
        return print_line_blocks(shown, out);
    while (code == CLI_OK && limit > 0 && out->code == 0) {
        code = next_row(shown, &cells);
        if (code != CLI_OK || cells == NULL)
            break;
        if (offset > 0) {
            offset--;
            continue;
        }
        print_line(out, cells[0].as.text.data, cells[0].as.text.size);
        limit--;
    }
    return code;
}

/* ---- queries ---- */

static int start_query(struct shown *shown, const struct cli_input *input,
                       const struct cli_args *args, const pcol_control *control,
                       pcol_question question)
{
    pcol_ask_options options = PCOL_INIT(pcol_ask_options);
    pcol_error err;

    memset(shown, 0, sizeof *shown);
    shown->file_name = input->name;
    options.flat = args->flat;
    options.all_rows = args->row == CLI_UNSET;
    options.row = args->row;
    options.numeric = args->numeric;
    options.models = args->models;
    options.unique = args->unique;
    options.path = args->path;
    options.group = args->group;
    options.filter = args->filter;
    options.control = control;
    if (pcol_ask(input->file, question, &options, &shown->answers, &err) != PCOL_OK)
        return cli_fail_error(input->name, &err);
    return list_columns(shown, args);
}

static void free_query(struct shown *shown)
{
    for (size_t i = 0; shown->names != NULL && i < shown->count; i++)
        free(shown->names[i]);
    free(shown->names);
    free(shown->columns);
    free(shown->order);
    free(shown->headings);
    free(shown->cells);
    free(shown->block);
    free(shown->parts);
    cli_where_free(shown->where);
    pcol_answers_free(shown->answers);
}

int cli_answers_count(const struct cli_input *input, const struct cli_args *args,
                      pcol_question question, uint64_t *count)
{
    struct shown shown;
    const pcol_answer *cells;
    int code = start_query(&shown, input, args, NULL, question);

    *count = 0;
    while (code == CLI_OK) {
        code = next_row(&shown, &cells);
        if (code != CLI_OK || cells == NULL)
            break;
        ++*count;
    }
    free_query(&shown);
    return code;
}

int cli_answers_print(const struct cli_input *input, const struct cli_args *args,
                      pcol_question question, int last)
{
    static struct cli_out out;
    struct cli_notices notices = {args, input->name, NULL, 0};
    pcol_control control = cli_control(&notices);
    struct shown shown;
    uint64_t offset = args->offset == CLI_UNSET ? 0 : args->offset, count;
    uint64_t limit = cli_row_limit(args, UINT64_MAX);
    int code = CLI_OK;

    if (last) {
        code = cli_answers_count(input, args, question, &count);
        if (code != CLI_OK)
            return code;
        offset = count > limit ? count - limit : 0;
    }
    code = start_query(&shown, input, args, &control, question);
    if (code == CLI_OK)
        code = cli_out_open(&out, args);
    if (code == CLI_OK) {
        code = question == PCOL_ASK_FLAME && args->format == NULL
                   ? print_lines(&shown, &out, offset, limit)
                   : print_rows(&shown, &out, args, offset, limit);
        code = cli_out_finish(&out, code);
    }
    free_query(&shown);
    return code;
}
