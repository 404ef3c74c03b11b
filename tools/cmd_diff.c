/*
 * cmd_diff.c - diff: comparison of a profile with a base, or with several bases
 *
 * Changed rows are printed, the largest changes first: all of them in machine formats, the first
 * few on a terminal and in Markdown. Rows above --fail-above are printed for any limit. -n 0 also
 * prints unchanged rows. cmd_diff_gate.c has the exit code. Tests: tests/cli/diff.test, suite gate.
 */
#include "cmd_diff.h"
#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PEOPLE_ROWS 20
#define MOST_DIGITS 17

const struct cli_option cmd_diff_options[] = {
    CLI_TEXT_CHOICE(
        0, "by", "WHAT", by,
        "function|stack|file|line|srcline|location|mapping|thread|process|source|label:|meta:|",
        "function (default), stack, file, line (function, file, line), srcline (file, line), "
        "location (address), mapping (binary), thread, process, source, label:KEY, meta:KEY"),
    CLI_LIST_OPTION(0, "base", "FILE", bases,
                    "a further BASE: several are compared by their median; repeatable"),
    CLI_FLAG_OPTION(0, "normalize", normalize,
                    "scale the profiles so that all totals are that of BASE"),
    CLI_TEXT_OPTION(
        0, "fail-above", "P%", fail_above,
        "exit with 1 if the total of a row rose by more than P percentage points of BASE's total"),
    CLI_TEXT_OPTION(0, "fail-total", "P%", fail_total,
                    "exit with 1 if the total of NEW is more than P percent higher than BASE's, "
                    "before scaling"),
    CLI_COUNT_OPTION(0, "min-samples", "N", min_samples,
                     "--fail-above ignores rows with fewer than N samples in every profile"),
    CLI_TEXT_CHOICE(
        0, "sort", "HOW", sort, "self|total|flat|cum|name",
        "by change of self (default), change of total (default with --fail-above), or name"),
    CLI_OPTION_CUM,
    CLI_COUNT_OPTION('n', "rows", "N", rows,
                     "at most N changed rows (default: 20 on a terminal and in markdown, all "
                     "elsewhere); 0: also unchanged rows"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

enum { IN_BASE = CLI_FIELDS + DIFF_AMOUNTS, IN_NEW, ABOVE };
static const char *const own_columns[] = {
    [DIFF_SELF_BASE] = "self_base",
    [DIFF_SELF_NEW] = "self_new",
    [DIFF_SELF_DELTA] = "self_delta",
    [DIFF_TOTAL_BASE] = "total_base",
    [DIFF_TOTAL_NEW] = "total_new",
    [DIFF_TOTAL_DELTA] = "total_delta",
    [DIFF_SELF_MIN] = "self_min",
    [DIFF_SELF_MAX] = "self_max",
    [DIFF_TOTAL_MIN] = "total_min",
    [DIFF_TOTAL_MAX] = "total_max",
    [DIFF_TOTAL_MAD] = "total_mad",
    [IN_BASE - CLI_FIELDS] = "in_base",
    [IN_NEW - CLI_FIELDS] = "in_new",
    [ABOVE - CLI_FIELDS] = "above",
    NULL,
};

void diff_row(const struct diff_view *view, size_t at, struct diff_row *row)
{
    const struct cli_result *diff = view->diff;

    cli_result_frame(diff, at, &row->frame);
    for (size_t i = 0; i < DIFF_AMOUNTS; i++)
        row->amounts[i] = cli_result_amount(diff, CLI_FIELDS + i, at);
    row->in_base = cli_result_amount(diff, IN_BASE, at).i64 != 0;
    row->in_new = cli_result_amount(diff, IN_NEW, at).i64 != 0;
    row->is_above = cli_result_amount(diff, ABOVE, at).i64 != 0;
}

static int changed(const struct diff_view *view, const struct diff_row *row)
{
    return diff_double(view, row->amounts[DIFF_SELF_DELTA]) != 0 ||
           diff_double(view, row->amounts[DIFF_TOTAL_DELTA]) != 0;
}

/* Iteration over the rows to print; `omitted` counts changed rows beyond the limit. */
struct printing {
    size_t at;
    uint64_t shown, omitted;
};

static int next_row(const struct diff_view *view, struct printing *rows, struct diff_row *row)
{
    size_t count = view->diff->count;

    while (rows->at < count) {
        diff_row(view, rows->at++, row);
        if (!changed(view, row) && view->args->rows != 0)
            continue;
        if (rows->shown >= view->limit && !row->is_above) {
            rows->omitted++;
            continue;
        }
        rows->shown++;
        return 1;
    }
    return 0;
}

/* ---- machine formats ---- */

static int print_rows(const struct diff_view *view, struct cli_out *out)
{
    struct cli_table_column columns[1 + DIFF_AMOUNTS + CLI_FRAME_COLUMNS + 1] = {{"name", 0}};
    struct cli_table *table;
    struct printing rows = {0};
    struct diff_row row;
    size_t amounts = view->base_count > 1 ? DIFF_AMOUNTS : DIFF_AMOUNTS - DIFF_SPREAD;
    size_t places = cli_frame_columns(view->by, 0, columns + 1 + amounts);
    size_t count = 1 + amounts + places, unit = count;

    for (size_t i = 0; i < amounts; i++)
        columns[1 + i] = (struct cli_table_column){own_columns[i], CLI_RIGHT};
    if (view->args->verbose) /* as in top: further columns only on request */
        columns[count++] = (struct cli_table_column){"unit", 0};
    int code = cli_table_begin(&table, out, view->args, columns, count);

    if (code != CLI_OK)
        return code;
    while (out->code == 0 && next_row(view, &rows, &row)) {
        const struct cli_frame *frame = &row.frame;
        char buffer[CLI_NUMBER_SIZE];
        struct cli_cell cells[1 + DIFF_AMOUNTS + CLI_FRAME_COLUMNS + 1] = {
            frame->has_name ? cli_cell_str(cli_name(view->shown, frame->name))
                            : cli_cell_text(NULL)};
        for (size_t i = 0; i < amounts; i++)
            cells[1 + i] = cli_amount_cell(&view->amounts, row.amounts[i], NULL);
        cli_frame_cells(frame, places, buffer, cells + 1 + amounts);
        if (unit < count)
            cells[unit] = cli_cell_str(view->info.unit);
        cli_table_row(table, cells);
    }
    return cli_table_end(table, CLI_OK);
}

/* ---- terminal and Markdown ---- */

/* A change always has a sign. */
static const char *change_text(const struct diff_view *view, pcol_amount delta, char *buffer)
{
    double value = diff_double(view, delta);

    buffer[0] = '+';
    if (value == 0)
        return "0";
    return cli_amount_cell(&view->amounts, delta, buffer + (value > 0)).as.text.data - (value > 0);
}

static const char *state_of(const struct diff_row *row)
{
    return !row->in_base ? "new" : !row->in_new ? "gone" : "";
}

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

void diff_points(double change, double whole, double limit, char *buffer)
{
    double part = 100 * change / fabs(whole);
    int digits = 2;

    if (!isfinite(part) && whole != 0)
        part = 100 * (change / fabs(whole));
    if (!isfinite(part) || fabs(part) >= 1e15) {
        snprintf(buffer, CLI_NUMBER_SIZE, isfinite(part) ? "%+g%%" : "-", part);
        return;
    }
    do
        snprintf(buffer, CLI_NUMBER_SIZE, "%+.*f%%", digits, part);
    while (limit >= 0 && digits++ < MOST_DIGITS &&
           compare(strtod(buffer, NULL), limit) != compare(part, limit));
}

/* Percentage points of the base's total. */
static void points_text(const struct diff_view *view, pcol_amount delta, char *buffer)
{
    diff_points(diff_double(view, delta), diff_double(view, view->info.total[0]), view->fail_above,
                buffer);
}

static void any_text(const struct diff_view *view, struct cli_out *out, pcol_str text)
{
    if (view->markdown)
        cli_markdown_code(out, text.data, text.size);
    else
        cli_out_safe(out, text.data, text.size);
}

static void put_amount(const struct diff_view *view, struct cli_out *out, pcol_amount amount)
{
    char buffer[CLI_NUMBER_SIZE];

    cli_out_text(out, cli_amount_cell(&view->amounts, amount, buffer).as.text.data);
}

static void put_name(const struct diff_view *view, struct cli_out *out, const char *before,
                     const char *name)
{
    cli_out_text(out, before);
    any_text(view, out, (pcol_str){name, strlen(name)});
    cli_out_text(out, ")");
}

static void put_bases(const struct diff_view *view, struct cli_out *out)
{
    const pcol_amount min = {.f64 = view->info.base_totals.min};
    const pcol_amount max = {.f64 = view->info.base_totals.max};

    cli_out_printf(out, " (median of %zu bases, ", view->base_count);
    put_amount(view, out, min);
    cli_out_text(out, " to ");
    put_amount(view, out, max);
    cli_out_text(out, ")");
}

static void print_header(const struct diff_view *view, struct cli_out *out)
{
    char buffer[CLI_NUMBER_SIZE + 1];
    pcol_amount delta;

    if (view->is_double)
        delta.f64 = view->info.total[1].f64 - view->info.total[0].f64;
    else
        delta.i64 = view->info.total[1].i64 - view->info.total[0].i64;
    any_text(view, out, view->info.type);
    cli_out_text(out, "/");
    any_text(view, out, view->info.unit);
    cli_out_text(out, ": ");
    put_amount(view, out, view->info.total[0]);
    if (view->base_count > 1)
        put_bases(view, out);
    else
        put_name(view, out, " (base ", view->inputs[0].name);
    cli_out_text(out, " to ");
    put_amount(view, out, view->info.total[1]);
    put_name(view, out, " (", view->inputs[view->base_count].name);
    if (view->args->normalize) {
        cli_out_printf(out, ", NEW scaled by %.6g", view->info.scale);
    } else {
        cli_out_text(out, ", ");
        cli_out_text(out, change_text(view, delta, buffer));
        points_text(view, delta, buffer);
        cli_out_printf(out, " (%s)", buffer);
        double base = fabs(diff_double(view, view->info.total[0]));
        double new = fabs(diff_double(view, view->info.total[1]));
        if (base > 0 && new > 0 && (new > 2 * base || base > 2 * new))
            cli_out_text(out, "; --normalize compares shares");
    }
    cli_out_text(out, "\n");
}

enum { PEOPLE_COLUMNS = 10 };

static int print_people(const struct diff_view *view, struct cli_out *out)
{
    struct cli_table_column columns[PEOPLE_COLUMNS + CLI_FRAME_COLUMNS] = {
        {"self", CLI_RIGHT | CLI_KEEP},      {"base", CLI_RIGHT | CLI_FURTHER(1)},
        {"new", CLI_RIGHT | CLI_FURTHER(1)}, {"total", CLI_RIGHT | CLI_KEEP},
        {"total%", CLI_RIGHT | CLI_SHARE},   {"base", CLI_RIGHT | CLI_FURTHER(2)},
        {"min", CLI_RIGHT | CLI_FURTHER(2)}, {"max", CLI_RIGHT | CLI_FURTHER(2)}};
    size_t own = view->base_count > 1 ? 8 : 6;

    columns[own++] = (struct cli_table_column){"", CLI_PROSE};
    columns[own++] = (struct cli_table_column){"name", CLI_LEFT | CLI_KEEP};
    size_t places = cli_frame_columns(view->by, 1, columns + own);
    struct cli_table *table;
    struct printing rows = {0};
    struct diff_row row;
    int code = cli_table_begin(&table, out, view->args, columns, own + places);

    if (code != CLI_OK)
        return code;
    while (out->code == 0 && next_row(view, &rows, &row)) {
        char buffer[9][CLI_NUMBER_SIZE + 1];
        points_text(view, row.amounts[DIFF_TOTAL_DELTA], buffer[4]);
        pcol_str name =
            row.frame.has_name ? cli_name(view->shown, row.frame.name) : (pcol_str){"", 0};
        struct cli_cell cells[PEOPLE_COLUMNS + CLI_FRAME_COLUMNS] = {
            cli_cell_text(change_text(view, row.amounts[DIFF_SELF_DELTA], buffer[0])),
            cli_amount_cell(&view->amounts, row.amounts[DIFF_SELF_BASE], buffer[1]),
            cli_amount_cell(&view->amounts, row.amounts[DIFF_SELF_NEW], buffer[2]),
            cli_cell_text(change_text(view, row.amounts[DIFF_TOTAL_DELTA], buffer[3])),
            cli_cell_text(buffer[4]),
            cli_amount_cell(&view->amounts, row.amounts[DIFF_TOTAL_BASE], buffer[5]),
            cli_amount_cell(&view->amounts, row.amounts[DIFF_TOTAL_MIN], buffer[6]),
            cli_amount_cell(&view->amounts, row.amounts[DIFF_TOTAL_MAX], buffer[7])};
        cells[own - 2] = cli_cell_text(state_of(&row));
        cells[own - 1] = row.frame.has_name ? cli_cell_str(name) : cli_cell_text(NULL);
        cli_frame_cells(&row.frame, places, buffer[8], cells + own);
        cli_table_row(table, cells);
    }
    code = cli_table_end(table, CLI_OK);
    if (rows.omitted > 0 && !view->args->no_header)
        cli_out_printf(out, "%s%llu more row%s changed%s\n", view->markdown ? "\n" : "",
                       (unsigned long long)rows.omitted, rows.omitted == 1 ? "" : "s",
                       view->markdown ? "." : "; -n 0 shows all rows");
    return code;
}

static int has_changes(const struct diff_view *view)
{
    size_t count = view->diff->count;
    struct diff_row row;

    for (size_t i = 0; i < count; i++) {
        diff_row(view, i, &row);
        if (changed(view, &row))
            return 1;
    }
    return 0;
}

static int print(struct diff_view *view, pcol_query *query)
{
    static struct cli_out out;
    int same = !has_changes(view);
    int code = cli_out_open(&out, view->args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&view->amounts, query, view->args, &out);
    view->amounts.is_double = view->is_double;
    cli_names_init(view->shown, view->args, view->amounts.people, view->by);
    view->amounts.people |= view->markdown;
    view->limit = cli_row_limit(view->args, view->amounts.people ? PEOPLE_ROWS : UINT64_MAX);
    if (view->amounts.people && !view->markdown)
        cli_out_fold(&out);
    if (view->amounts.people && !view->args->no_header)
        print_header(view, &out);
    if (view->markdown && !view->args->no_header)
        cli_out_text(&out, "\n");
    if (same && view->amounts.people && view->args->rows != 0)
        cli_out_text(&out, view->markdown ? "No difference.\n" : "no difference\n");
    else
        code = view->amounts.people ? print_people(view, &out) : print_rows(view, &out);
    return cli_out_finish(&out, code);
}

/* ---- both formats ---- */

/* Warn if samples represent different times: their numbers are not comparable. */
static void note_periods(const struct diff_view *view, pcol_query *base, pcol_query *new)
{
    pcol_query_info info[2];
    char message[160];

    cli_query_describe(base, &info[0]);
    cli_query_describe(new, &info[1]);
    double of_base = info[0].seconds_per_value, other = info[1].seconds_per_value;
    if (of_base <= 0 || other <= 0 || fabs(of_base - other) <= 0.01 * of_base)
        return;
    snprintf(message, sizeof message,
             "a value represents %.6g ms, in the base %.6g ms: --normalize compares shares",
             1e3 * other, 1e3 * of_base);
    cli_warn(view->args, view->inputs[view->base_count].name, message);
}

/* Find the input that caused an error: the first that cannot be read alone. */
static size_t failed_input(const struct diff_view *view, const pcol_diff_options *options)
{
    for (size_t i = 0; i <= view->base_count; i++) {
        pcol_top_options top = PCOL_INIT(pcol_top_options);
        pcol_result *result = NULL;
        top.by = options->by;
        top.label = options->label;
        pcol_status status = options->by == PCOL_BY_STACK
                                 ? pcol_query_tree(view->queries[i], NULL, &result, NULL)
                                 : pcol_query_top(view->queries[i], &top, &result, NULL);
        pcol_result_free(result);
        if (status != PCOL_OK)
            return i;
    }
    return view->base_count;
}

/* Make the queries of all inputs, of one sample type. */
static int open_queries(struct diff_view *view)
{
    const struct cli_input *inputs = view->inputs;
    pcol_query **queries = view->queries;
    size_t n = view->base_count;
    int code = cli_query_compared(inputs, n, &inputs[n], view->args, queries, &queries[n]);

    for (size_t i = 0; i <= n && code == CLI_OK; i++)
        cli_warn_empty(&inputs[i], view->args, queries[i]);
    for (size_t i = 0; i < n && code == CLI_OK && !view->args->normalize; i++)
        note_periods(view, queries[i], queries[n]);
    return code;
}

static int compare_inputs(struct diff_view *view, pcol_diff_options *options)
{
    size_t n = view->base_count;
    struct cli_result diff = {0};
    pcol_error err;
    int code = open_queries(view);

    options->further_bases = view->queries + 1;
    options->further_base_count = n - 1;
    if (code == CLI_OK)
        code = diff_count_samples(view, options);
    if (code == CLI_OK) {
        pcol_status status =
            pcol_diff(view->queries[0], view->queries[n], options, &diff.result, &err);
        size_t input = status == PCOL_OK ? n : failed_input(view, options);
        code = cli_result_open(&diff, status, &err, view->inputs[input].name, own_columns);
    }
    if (code == CLI_OK) {
        view->diff = &diff;
        view->markdown = view->args->format != NULL && strcmp(view->args->format, "markdown") == 0;
        view->by = options->by;
        cli_result_describe(diff.result, &view->info);
        view->is_double = (view->info.flags & PCOL_RESULT_IS_DOUBLE) != 0;
        if (diff.count > 0)
            cli_warn_positions(&diff, view->by, view->inputs[n].name, view->args);
        code = print(view, view->queries[n]);
        if (code == CLI_OK)
            code = diff_judge(view);
    }
    cli_names_free(view->shown);
    cli_result_close(&diff);
    return code;
}

/* Open the inputs, the bases first, and compare them. */
static int open_inputs(struct diff_view *view, pcol_diff_options *options, struct cli_input *inputs)
{
    const struct cli_args *args = view->args;
    size_t operands = args->operand_count - 1, opened = 0, n = view->base_count;
    int code = CLI_OK;

    for (; opened <= n; opened++) {
        const char *name = opened < operands ? args->operands[opened]
                           : opened < n      ? args->bases.items[opened - operands]
                                             : args->operands[operands];
        code = cli_input_open(&inputs[opened], name, args);
        if (code != CLI_OK)
            break;
    }
    if (code == CLI_OK)
        code = compare_inputs(view, options);
    for (size_t i = 0; i <= n; i++) {
        pcol_query_free(view->queries[i]);
        pcol_query_free(view->counts[i]);
    }
    while (opened > 0)
        cli_input_close(&inputs[--opened]);
    return code;
}

int cmd_diff(struct cli_args *args)
{
    pcol_diff_options options = PCOL_INIT(pcol_diff_options);
    struct cli_names shown = {0};
    size_t n = args->operand_count - 1 + args->bases.count;
    struct diff_view view = {.args = args, .shown = &shown, .base_count = n};
    int code = CLI_OK;

    if (n == 0)
        return cli_usage("missing operand: pcol diff BASE... NEW, or --base BASE NEW");
    options.flags = args->normalize ? PCOL_DIFF_NORMALIZE : 0;
    if (args->by != NULL && strcmp(args->by, "stack") == 0)
        options.by = PCOL_BY_STACK;
    else
        code = cli_parse_by(args->by, 0, &options.by, &options.label);
    if (code == CLI_OK)
        code = cli_parse_order(args, &options.order);
    if (args->fail_above != NULL && args->sort == NULL)
        options.order = PCOL_ORDER_TOTAL; /* the compared inputs */
    if (code == CLI_OK)
        code = diff_limits(&view, &options);
    if (code != CLI_OK)
        return code;
    struct cli_input *inputs = calloc(n + 1, sizeof *inputs);
    view.inputs = inputs;
    view.queries = calloc(n + 1, sizeof(pcol_query *));
    view.counts = calloc(n + 1, sizeof(pcol_query *));
    code = inputs == NULL || view.queries == NULL || view.counts == NULL
               ? cli_fail_memory()
               : open_inputs(&view, &options, inputs);
    free(inputs);
    free(view.queries);
    free(view.counts);
    return code;
}
