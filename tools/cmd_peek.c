/*
 * cmd_peek.c - peek: who calls a function, and what it calls
 */
#include "cmd.h"

#include <stdlib.h>

const struct cli_option cmd_peek_options[] = {
    CLI_OPTIONS_SELECTION, CLI_OPTION_DEMANGLE,      CLI_OPTION_FORMAT,  CLI_OPTION_NO_HEADER,
    CLI_OPTION_NULL,       CLI_OPTION_OUTPUT,        CLI_OPTION_FORCE,   CLI_OPTION_NO_SYNC,
    CLI_OPTION_FROM,       CLI_OPTION_STRICT_IMPORT, CLI_OPTION_LENIENT, CLI_OPTION_END,
};

static const char *const relations[] = {"caller", "function", "callee"};

static int print_rows(struct cli_args *args, struct cli_names *names, const pcol_peek *peek,
                      const struct cli_amounts *amounts, struct cli_out *out)
{
    static const struct cli_table_column columns[] = {
        {"relation", 0}, {"self", 1}, {"total", 1}, {"name", 0}};
    struct cli_table *table;
    size_t count = pcol_peek_count(peek);
    int code = cli_table_begin(&table, out, args, columns, 4);

    if (code != CLI_OK)
        return code;
    for (size_t i = 0; i < count && out->code == 0; i++) {
        pcol_peek_row row;
        pcol_peek_get(peek, i, &row);
        row.frame.name = cli_name(names, row.frame.name);
        struct cli_cell cells[4] = {
            cli_cell_text(relations[row.relation]), cli_amount_cell(amounts, row.self, NULL),
            cli_amount_cell(amounts, row.total, NULL), cli_cell_str(row.frame.name)};
        cli_table_row(table, cells);
    }
    return cli_table_end(table, CLI_OK);
}

/* Callers above, callees below, indented; percentages of callers and callees are of the function's
 * own total. */
static void print_people(struct cli_args *args, struct cli_names *names, const pcol_peek *peek,
                         const struct cli_amounts *amounts, struct cli_out *out)
{
    size_t count = pcol_peek_count(peek);
    pcol_relation before = PCOL_CALLER;

    if (!args->no_header) {
        cli_amounts_header(amounts, out);
        cli_out_text(out, "     total  total%       self  name\n");
    }
    for (size_t i = 0; i < count && out->code == 0; i++) {
        char room[CLI_NUMBER_SIZE];
        pcol_peek_row row;
        pcol_peek_get(peek, i, &row);
        row.frame.name = cli_name(names, row.frame.name);
        if (i > 0 && before >= PCOL_SELF && row.relation <= PCOL_SELF)
            cli_out_text(out, "\n");
        before = row.relation;
        struct cli_cell cell = cli_amount_cell(amounts, row.total, room);
        cli_out_printf(out, "%10.*s %6.2f%%", (int)cell.as.text.size, cell.as.text.data,
                       cli_amount_percent(amounts, row.total).as.f64);
        cell = cli_amount_cell(amounts, row.self, room);
        cli_out_printf(out, " %10.*s  %s", (int)cell.as.text.size, cell.as.text.data,
                       row.relation == PCOL_CALLER   ? "    \xe2\x94\x8c "
                       : row.relation == PCOL_CALLEE ? "    \xe2\x94\x94 "
                                                     : "");
        cli_out_safe(out, row.frame.name.data, row.frame.name.size);
        cli_out_text(out, "\n");
    }
}

static int print(struct cli_args *args, const pcol_query *query, const pcol_peek *peek)
{
    struct cli_names names;
    static struct cli_out out;
    struct cli_amounts amounts;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&amounts, query, args, &out);
    cli_names_init(&names, args, amounts.people);
    if (amounts.people)
        print_people(args, &names, peek, &amounts, &out);
    else
        code = print_rows(args, &names, peek, &amounts, &out);
    cli_names_free(&names);
    return cli_out_finish(&out, code);
}

int cmd_peek(struct cli_args *args)
{
    struct cli_input input;
    pcol_query *query = NULL;
    pcol_peek *peek = NULL;
    pcol_error err;
    int code = cli_input_open(&input, args->operands[1], args);

    if (code != CLI_OK)
        return code;
    code = cli_query_new(&input, args, &query);
    if (code == CLI_OK && pcol_query_peek(query, args->operands[0], &peek, &err) != PCOL_OK)
        code = cli_fail_error(input.name, &err);
    if (code == CLI_OK && pcol_peek_count(peek) == 0)
        code = cli_fail(CLI_NO, "%s: no function with weight is called or matches '%s'", input.name,
                        args->operands[0]);
    if (code == CLI_OK)
        code = print(args, query, peek);
    pcol_peek_free(peek);
    pcol_query_free(query);
    cli_input_close(&input);
    return code;
}
