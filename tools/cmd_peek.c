/*
 * cmd_peek.c - peek: callers and callees of a function
 *
 * -n limits the output to the heaviest callers and callees of each function; on a terminal the
 * number of the others follows.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_peek_options[] = {
    CLI_COUNT_OPTION('n', "rows", "N", rows,
                     "at most N callers and N callees of each function; 0: all (default)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

enum relation { CALLER, FUNCTION, CALLEE };

static const char *const relations[] = {"caller", "function", "callee"};

static enum relation relation_of(const struct cli_result *peek, size_t row)
{
    pcol_str text = cli_result_text(peek, CLI_FIELD_RELATION, row);

    return text.size != 6 ? FUNCTION : memcmp(text.data, "caller", 6) == 0 ? CALLER : CALLEE;
}

struct peek_row {
    enum relation relation;
    struct cli_frame frame;
    pcol_amount self, total;
};

static void get_row(const struct cli_result *peek, size_t at, struct peek_row *row)
{
    row->relation = relation_of(peek, at);
    cli_result_frame(peek, at, &row->frame);
    row->self = cli_result_amount(peek, CLI_FIELD_SELF, at);
    row->total = cli_result_amount(peek, CLI_FIELD_TOTAL, at);
}

/* Iteration over the rows within the limit of -n. */
struct rows {
    const struct cli_result *peek;
    size_t at;
    uint64_t limit, of_kind,
        hidden; /* rows of the last relation, and the number of its hidden rows */
    enum relation kind;
};

static void begin_rows(struct rows *rows, const struct cli_args *args,
                       const struct cli_result *peek)
{
    *rows = (struct rows){.peek = peek, .kind = FUNCTION};
    rows->limit = cli_row_limit(args, UINT64_MAX);
}

/* 1: the next row, 0: the end. *hidden: rows skipped before it. */
static int next_row(struct rows *rows, struct peek_row *row, uint64_t *hidden)
{
    *hidden = 0;
    while (rows->at < rows->peek->count) {
        get_row(rows->peek, rows->at++, row);
        if (row->relation != rows->kind || row->relation == FUNCTION) {
            *hidden = rows->hidden;
            rows->hidden = rows->of_kind = 0;
            rows->kind = row->relation;
        }
        if (row->relation == FUNCTION || rows->of_kind++ < rows->limit)
            return 1;
        rows->hidden++;
    }
    *hidden = rows->hidden;
    return 0;
}

static int print_rows(struct cli_args *args, struct cli_names *names, const struct cli_result *peek,
                      const struct cli_amounts *amounts, struct cli_out *out)
{
    static const struct cli_table_column columns[] = {
        {"relation", 0}, {"self", 1}, {"total", 1}, {"name", 0}};
    struct cli_table *table;
    struct rows rows;
    struct peek_row row;
    uint64_t hidden = 0;
    int code = cli_table_begin(&table, out, args, columns, 4);

    if (code != CLI_OK)
        return code;
    begin_rows(&rows, args, peek);
    while (out->code == 0 && next_row(&rows, &row, &hidden)) {
        row.frame.name = cli_name(names, row.frame.name);
        struct cli_cell cells[4] = {
            cli_cell_text(relations[row.relation]), cli_amount_cell(amounts, row.self, NULL),
            cli_amount_cell(amounts, row.total, NULL), cli_cell_str(row.frame.name)};
        cli_table_row(table, cells);
    }
    return cli_table_end(table, CLI_OK);
}

static void put_hidden(struct cli_out *out, const struct cli_gutter *gutter, uint64_t hidden)
{
    if (hidden == 0)
        return;
    cli_gutter_blank(gutter, out);
    cli_out_printf(out, "  ... and %llu more\n", (unsigned long long)hidden);
}

/* Callers above, callees below, indented. */
static void print_people(struct cli_args *args, struct cli_names *names,
                         const struct cli_result *peek, const struct cli_amounts *amounts,
                         struct cli_out *out)
{
    enum relation before = CALLER;
    struct rows rows;
    struct peek_row row;
    uint64_t hidden = 0;
    size_t shown = 0;
    const struct cli_signs *signs = cli_signs(out->is_ascii);
    struct cli_gutter gutter;

    cli_gutter_init(&gutter, out, 6 + CLI_GOOD_TEXT);
    cli_out_fold(out);
    if (!args->no_header) {
        cli_amounts_header(amounts, out);
        cli_gutter_header(&gutter, out);
    }
    begin_rows(&rows, args, peek);
    while (out->code == 0 && next_row(&rows, &row, &hidden)) {
        put_hidden(out, &gutter, hidden);
        row.frame.name = cli_name(names, row.frame.name);
        if (shown++ > 0 && before >= FUNCTION && row.relation <= FUNCTION)
            cli_out_text(out, "\n");
        before = row.relation;
        cli_gutter_put(&gutter, out, amounts, row.total, row.self);
        if (row.relation != FUNCTION)
            cli_out_printf(out, "    %s", row.relation == CALLER ? signs->first : signs->last);
        cli_frame_name(out, row.frame.name, gutter.columns - (row.relation != FUNCTION ? 6 : 0));
        cli_out_text(out, "\n");
    }
    put_hidden(out, &gutter, hidden);
    cli_gutter_end(&gutter, out);
}

static int print(struct cli_args *args, pcol_query *query, const struct cli_result *peek)
{
    struct cli_names names;
    static struct cli_out out;
    struct cli_amounts amounts;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&amounts, query, args, &out);
    cli_names_init(&names, args, amounts.people, PCOL_BY_FUNCTION);
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
    struct cli_result peek = {0};
    int code = cli_require_name_first(args);

    if (code == CLI_OK)
        code = cli_input_open(&input, args->operands[1], args);
    if (code != CLI_OK)
        return code;
    code = cli_query_new(&input, args, &query);
    if (code == CLI_OK)
        cli_warn_left_out(&input, args, query);
    if (code == CLI_OK)
        code = cli_peek_open(&peek, &input, args, query, args->operands[0]);
    if (code == CLI_OK)
        code = print(args, query, &peek);
    cli_result_close(&peek);
    pcol_query_free(query);
    cli_input_close(&input);
    return code;
}
