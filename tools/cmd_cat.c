/*
 * cmd_cat.c - cat, head, tail and count: the rows of a table
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

/* For completion; a file may have more. */
#define TABLES                                                                                     \
    "samples|sample_values|sample_locations|locations|functions|sources|meta|sample_types|"        \
    "threads|mappings|stacks|categories|subcategories|markers|counters|counter_samples|resources|" \
    "models|snapshots|"

#define TABLE_OPTIONS                                                                           \
    CLI_TEXT_CHOICE('t', "table", "TABLE", table, TABLES, "table to print (default: samples)"), \
        CLI_LIST_OPTION(0, "where", "CONDITION", where,                                         \
                        "only rows for which COLUMN OP VALUE holds; repeatable"),               \
        CLI_FLAG_OPTION(0, "join", join, "show names, files and stacks instead of ids"),        \
        CLI_TEXT_CHOICE(0, "model", "MODEL", model, "v2|v1", "v2 (default) or v1"),             \
        CLI_FLAG_OPTION(0, "physical", physical, "show the physical tables of the file")
#define COLUMN_OPTIONS                              \
    CLI_TEXT_OPTION('c', "columns", "A,B", columns, \
                    "columns to print, in this order (default: all)")
#define OUTPUT_OPTIONS CLI_OPTIONS_TABLE, CLI_OPTIONS_IMPORT

#define FLAT_OPTION \
    CLI_FLAG_OPTION(0, "flat", flat, "Perun tables: flat keys such as uid:function, values as text")

const struct cli_option cmd_cat_options[] = {
    TABLE_OPTIONS,
    FLAT_OPTION,
    COLUMN_OPTIONS,
    CLI_COUNT_OPTION('n', "rows", "N", rows, "at most N rows; 0: all (default)"),
    CLI_COUNT_OPTION(0, "offset", "N", offset, "skip N rows first"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTION_DEMANGLE_PATTERNS,
    OUTPUT_OPTIONS,
    CLI_OPTION_END,
};

const struct cli_option cmd_head_options[] = {
    TABLE_OPTIONS,
    FLAT_OPTION,
    COLUMN_OPTIONS,
    CLI_COUNT_OPTION('n', "rows", "N", rows, "at most N rows; 0: all (default: 10)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTION_DEMANGLE_PATTERNS,
    OUTPUT_OPTIONS,
    CLI_OPTION_END,
};

const struct cli_option cmd_count_options[] = {
    TABLE_OPTIONS,  CLI_OPTIONS_SELECTION, CLI_OPTION_DEMANGLE_PATTERNS,
    OUTPUT_OPTIONS, CLI_OPTION_END,
};

struct printing {
    struct cli_out *out;
    struct cli_table *table;
};

static int print_row(void *context, const struct cli_cell *cells)
{
    struct printing *printing = context;

    cli_table_row(printing->table, cells);
    return printing->out->code;
}

static int is_numeric(pcol_type type)
{
    switch (type) {
    case PCOL_I64:
    case PCOL_U64:
    case PCOL_F64:
    case PCOL_U32:
        return 1;
    case PCOL_STRING:
    case PCOL_BYTES:
    case PCOL_BOOL:
    case PCOL_LIST:
        break;
    }
    return 0;
}

static int print_rows(struct cli_rows *rows, const struct cli_args *args, uint64_t offset,
                      uint64_t limit)
{
    static struct cli_out out;
    struct printing printing = {&out, NULL};
    struct cli_table_column *columns = calloc(rows->shown_count + 1, sizeof *columns);
    int code;

    if (columns == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < rows->shown_count; i++) {
        const struct cli_rows_column *column = &rows->columns[rows->shown[i]];
        columns[i].name = column->name;
        columns[i].flags = is_numeric(column->type) ? CLI_RIGHT : CLI_LEFT;
        for (size_t k = 0; args->columns != NULL && k < i; k++)
            if (rows->shown[k] == rows->shown[i])
                columns[i].flags |= CLI_REPEATED;
        if (i > 0)
            columns[i].flags |= CLI_OPTIONAL(strcmp(column->name, ".hash") == 0 ? 2 : 1);
    }
    code = cli_out_open(&out, args);
    if (code == CLI_OK) {
        code = cli_table_begin(&printing.table, &out, args, columns, rows->shown_count);
        if (code == CLI_OK)
            code = cli_rows_each(rows, offset, limit, print_row, &printing);
        /* After an error the table has no end, so that readers notice the truncation. */
        code = cli_table_end(printing.table, code);
        code = cli_out_finish(&out, code);
    }
    free(columns);
    return code;
}

enum part { PART_ALL, PART_FIRST, PART_LAST };

/* Resources, models and snapshots of Perun profiles have no fixed columns. */
static int is_answer(const struct cli_args *args, pcol_question *question)
{
    return !args->physical && (args->model == NULL || strcmp(args->model, "v2") == 0) &&
           cli_answers_table(args->table, question);
}

/* answers: the table is one of those that are answers. */
static int check_options(const struct cli_args *args, int answers)
{
    if (answers && args->join)
        return cli_usage("--join does not apply to table %s", args->table);
    if (!answers && args->flat)
        return cli_usage("--flat applies to the tables resources and models");
    return CLI_OK;
}

static int show_answer(const struct cli_input *input, struct cli_args *args, pcol_question question,
                       enum part part)
{
    if (part != PART_ALL && args->rows == CLI_UNSET)
        args->rows = 10;
    return cli_answers_print(input, args, question, part == PART_LAST);
}

static int show(struct cli_args *args, enum part part)
{
    pcol_question question;
    struct cli_input input;
    struct cli_rows rows;
    uint64_t offset = args->offset == CLI_UNSET ? 0 : args->offset;
    uint64_t limit = cli_row_limit(args, part == PART_ALL ? UINT64_MAX : 10);
    int answers = is_answer(args, &question),
        code = cli_input_open(&input, args->operands[0], args);

    if (code != CLI_OK)
        return code;
    code = check_options(args, answers);
    if (code != CLI_OK || answers) {
        if (code == CLI_OK)
            code = show_answer(&input, args, question, part);
        cli_input_close(&input);
        return code;
    }
    code = cli_rows_open(&rows, &input, args);
    if (code == CLI_OK && part == PART_LAST) {
        uint64_t count;
        code = cli_rows_count(&rows, &count);
        offset = count > limit ? count - limit : 0;
    }
    if (code == CLI_OK)
        code = print_rows(&rows, args, offset, limit);
    cli_rows_close(&rows);
    cli_input_close(&input);
    return code;
}

int cmd_cat(struct cli_args *args)
{
    return show(args, PART_ALL);
}

int cmd_head(struct cli_args *args)
{
    return show(args, PART_FIRST);
}

int cmd_tail(struct cli_args *args)
{
    return show(args, PART_LAST);
}

static int print_count(const char *name, const struct cli_args *args, uint64_t count)
{
    static const struct cli_table_column columns[] = {{"table", 0}, {"rows", 1}};
    static struct cli_out out;
    struct cli_table *table;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    if (args->format == NULL) {
        cli_out_printf(&out, "%llu\n", (unsigned long long)count);
    } else if ((code = cli_table_begin(&table, &out, args, columns, 2)) == CLI_OK) {
        struct cli_cell cells[] = {cli_cell_text(name), cli_cell_u64(count)};
        cli_table_row(table, cells);
        code = cli_table_end(table, code);
    }
    return cli_out_finish(&out, code);
}

int cmd_count_rows(struct cli_args *args)
{
    struct cli_input input;
    struct cli_rows rows;
    pcol_question question;
    uint64_t count = 0;
    int answers = is_answer(args, &question),
        code = cli_input_open(&input, args->operands[0], args);

    if (code != CLI_OK)
        return code;
    code = check_options(args, answers);
    if (code != CLI_OK || answers) {
        if (code == CLI_OK)
            code = cli_answers_count(&input, args, question, &count);
        if (code == CLI_OK)
            code = print_count(args->table, args, count);
        cli_input_close(&input);
        return code;
    }
    code = cli_rows_open(&rows, &input, args);
    if (code == CLI_OK)
        code = cli_rows_count(&rows, &count);
    if (code == CLI_OK)
        code = print_count(pcol_table_name(rows.table), args, count);
    cli_rows_close(&rows);
    cli_input_close(&input);
    return code;
}
