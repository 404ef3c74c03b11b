/*
 * cmd_traces.c - traces: each distinct call stack with its value, pprof's -traces
 *
 * A stack is a node of the call tree with a self value. Stacks are in descending order of the
 * magnitudes of their values, equal ones in the order of the tree. Tests: tests/cli/traces.test.
 */
#include "cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TERMINAL_ROWS 20
#define VALUE_COLUMNS 20u /* of value and share before each frame */
#define LONGEST_TEXT ((size_t)64 << 20)
#define MOST_FRAMES ((uint64_t)1 << 24) /* of all stacks, and further ones for each */
#define MOST_FRAMES_OF_STACK 1024u

const struct cli_option cmd_traces_options[] = {
    CLI_COUNT_OPTION('n', "rows", "N", rows,
                     "at most N stacks; 0: all (default: 20 on a terminal, all elsewhere)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT_LIST,
    CLI_OPTION_END,
};

struct trace {
    uint64_t magnitude; /* of doubles the bits, which have the same order */
    uint32_t node;      /* innermost frame */
};

struct traces {
    const char *input; /* its name */
    const struct cli_result *tree;
    const struct cli_amounts *amounts;
    struct trace *list;
    size_t count, limit;
    struct cli_names names;
    char *text; /* the last stack */
    size_t used, capacity;
};

static int by_magnitude(const void *pa, const void *pb)
{
    const struct trace *a = pa, *b = pb;

    if (a->magnitude != b->magnitude)
        return a->magnitude > b->magnitude ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static uint64_t magnitude(pcol_amount amount, int is_double)
{
    if (!is_double)
        return amount.i64 < 0 ? 0 - (uint64_t)amount.i64 : (uint64_t)amount.i64;
    amount.f64 = isnan(amount.f64) ? 0 : fabs(amount.f64);
    return (uint64_t)amount.i64;
}

static int find_traces(struct traces *traces)
{
    const struct cli_result *tree = traces->tree;

    traces->list = calloc(tree->count + 1, sizeof *traces->list);
    if (traces->list == NULL)
        return cli_fail_memory();
    for (uint32_t node = 1; node < tree->count; node++) {
        pcol_amount self = cli_result_amount(tree, CLI_FIELD_SELF, node);
        if (cli_amount_double(traces->amounts, self) == 0)
            continue;
        traces->list[traces->count].magnitude = magnitude(self, traces->amounts->is_double);
        traces->list[traces->count++].node = node;
    }
    qsort(traces->list, traces->count, sizeof *traces->list, by_magnitude);
    return CLI_OK;
}

static uint32_t parent_of(const struct traces *traces, uint32_t node)
{
    return (uint32_t)cli_result_amount(traces->tree, CLI_FIELD_PARENT, node).i64;
}

static pcol_str name_of(struct traces *traces, uint32_t node)
{
    return cli_name(&traces->names, cli_result_text(traces->tree, CLI_FIELD_NAME, node));
}

/* Reject stacks that repeat so many frames that a small file takes minutes, as exports do. */
static int check_repeats(const struct traces *traces)
{
    uint32_t *depth = calloc(traces->tree->count + 1, sizeof *depth);
    uint64_t frames = 0;

    if (depth == NULL)
        return cli_fail_memory();
    for (uint32_t node = 1; node < traces->tree->count; node++)
        depth[node] = depth[parent_of(traces, node)] + 1;
    for (size_t i = 0; i < traces->limit; i++)
        frames += depth[traces->list[i].node];
    free(depth);
    if (frames <= MOST_FRAMES + MOST_FRAMES_OF_STACK * traces->limit)
        return CLI_OK;
    return cli_fail(CLI_INPUT,
                    "%s: %zu call stacks of %" PRIu64 " frames are too deep to be printed; -n "
                    "limits their number",
                    traces->input, traces->limit, frames);
}

static int append(struct traces *traces, const char *data, size_t size)
{
    if (size > LONGEST_TEXT - traces->used)
        return cli_fail(CLI_INPUT, "%s: text of a call stack is longer than %zu bytes",
                        traces->input, LONGEST_TEXT);
    if (size > traces->capacity - traces->used) {
        size_t capacity = 2 * traces->capacity + size + 256;
        char *grown = realloc(traces->text, capacity);
        if (grown == NULL)
            return cli_fail_memory();
        traces->text = grown;
        traces->capacity = capacity;
    }
    if (size > 0)
        memcpy(traces->text + traces->used, data, size);
    traces->used += size;
    return CLI_OK;
}

/* "read;parse;main", innermost first. */
static int write_stack(struct traces *traces, uint32_t node)
{
    int code = CLI_OK;

    traces->used = 0;
    for (uint32_t at = node; at != 0 && code == CLI_OK; at = parent_of(traces, at)) {
        pcol_str name = name_of(traces, at);
        if (at != node)
            code = append(traces, ";", 1);
        if (code == CLI_OK)
            code = append(traces, name.data, name.size);
    }
    return code;
}

static int print_rows(const struct cli_args *args, struct traces *traces, struct cli_out *out)
{
    static const struct cli_table_column columns[] = {
        {"value", CLI_RIGHT}, {"pct", CLI_RIGHT}, {"stack", 0}};
    struct cli_table *table;
    int code = cli_table_begin(&table, out, args, columns, 3);

    if (code != CLI_OK)
        return code;
    for (size_t i = 0; i < traces->limit && out->code == 0 && code == CLI_OK; i++) {
        uint32_t node = traces->list[i].node;
        pcol_amount value = cli_result_amount(traces->tree, CLI_FIELD_SELF, node);
        code = write_stack(traces, node);
        if (code != CLI_OK)
            break;
        struct cli_cell cells[3] = {cli_amount_cell(traces->amounts, value, NULL),
                                    cli_amount_percent(traces->amounts, value),
                                    cli_cell_str((pcol_str){traces->text, traces->used})};
        cli_table_row(table, cells);
    }
    return cli_table_end(table, code);
}

/* One frame a line; the value is on the line of the innermost frame. */
static void print_people(const struct cli_args *args, struct traces *traces, struct cli_out *out)
{
    size_t columns = out->terminal ? cli_terminal_columns() : SIZE_MAX;

    if (columns != SIZE_MAX)
        columns = columns > VALUE_COLUMNS ? columns - VALUE_COLUMNS : 1;
    cli_out_fold(out);
    if (!args->no_header) {
        cli_amounts_header(traces->amounts, out);
        if (traces->limit < traces->count)
            cli_out_printf(out, "the first %zu of %zu stacks\n", traces->limit, traces->count);
        cli_out_text(out, "     value     pct  stack\n");
    }
    for (size_t i = 0; i < traces->limit && out->code == 0; i++) {
        uint32_t node = traces->list[i].node;
        char number[CLI_NUMBER_SIZE];
        pcol_amount value = cli_result_amount(traces->tree, CLI_FIELD_SELF, node);
        struct cli_cell cell = cli_amount_cell(traces->amounts, value, number);
        cli_out_printf(out, "%s%10.*s %6.2f%%  ", i > 0 ? "\n" : "", (int)cell.as.text.size,
                       cell.as.text.data, cli_amount_share(traces->amounts, value));
        for (uint32_t at = node; at != 0 && out->code == 0; at = parent_of(traces, at)) {
            if (at != node)
                cli_out_printf(out, "%*s", (int)VALUE_COLUMNS, "");
            cli_frame_name(out, name_of(traces, at), columns);
            cli_out_text(out, "\n");
        }
    }
}

static int print(const struct cli_args *args, const char *input, pcol_query *query,
                 const struct cli_result *tree)
{
    static struct cli_out out;
    struct cli_amounts amounts;
    struct traces traces = {.input = input, .tree = tree, .amounts = &amounts};
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&amounts, query, args, &out);
    cli_names_init(&traces.names, args, amounts.people, PCOL_BY_FUNCTION);
    code = find_traces(&traces);
    uint64_t limit = cli_row_limit(args, amounts.people ? TERMINAL_ROWS : UINT64_MAX);
    traces.limit = limit < traces.count ? (size_t)limit : traces.count;
    if (code == CLI_OK)
        code = check_repeats(&traces);
    if (code == CLI_OK && amounts.people)
        print_people(args, &traces, &out);
    else if (code == CLI_OK)
        code = print_rows(args, &traces, &out);
    cli_names_free(&traces.names);
    free(traces.list);
    free(traces.text);
    return cli_out_finish(&out, code);
}

int cmd_traces(struct cli_args *args)
{
    struct cli_input input;
    pcol_query *query = NULL;
    struct cli_result tree = {0};
    pcol_error err;
    int code = cli_input_open_all(&input, args);

    if (code != CLI_OK)
        return code;
    code = cli_query_new(&input, args, &query);
    if (code == CLI_OK)
        cli_warn_empty(&input, args, query);
    if (code == CLI_OK)
        code = cli_result_open(&tree, pcol_query_tree(query, NULL, &tree.result, &err), &err,
                               input.name, NULL);
    if (code == CLI_OK)
        code = print(args, input.name, query, &tree);
    cli_result_close(&tree);
    pcol_query_free(query);
    cli_input_close(&input);
    return code;
}
