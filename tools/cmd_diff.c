/*
 * cmd_diff.c - diff: comparison of two profiles
 *
 * Changed rows are printed, the largest changes first: all of them in machine formats, the first
 * few on a terminal and in Markdown. Rows above --fail-above are printed for any limit. -n 0 also
 * prints unchanged rows. Tests: tests/cli/diff.test.
 */
#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PEOPLE_ROWS 20
#define MOST_DIGITS 17

const struct cli_option cmd_diff_options[] = {
    {0, "by", "WHAT",
     "function (default), stack, file, line (function, file, line), srcline (file, line), location "
     "(address), mapping (binary), thread, process, source, label:KEY, "
     "meta:KEY",
     CLI_TEXT, CLI_AT(by), 0,
     "function|stack|file|line|srcline|location|mapping|thread|process|source|label:|meta:|"},
    {0, "normalize", NULL, "scale NEW so that both totals are the same", CLI_FLAG,
     CLI_AT(normalize), 1, NULL},
    {0, "fail-above", "P%",
     "exit with 1 if the total of a row rose by more than P percentage points of BASE's total",
     CLI_TEXT, CLI_AT(fail_above), 0, NULL},
    {0, "sort", "HOW",
     "by change of self (default), change of total (default with --fail-above), or name", CLI_TEXT,
     CLI_AT(sort), 0, "self|total|flat|cum|name"},
    CLI_OPTION_CUM,
    {'n', "rows", "N",
     "at most N changed rows (default: 20 on a terminal, all elsewhere); 0: also unchanged rows",
     CLI_COUNT, CLI_AT(rows), 0, NULL},
    CLI_OPTIONS_SELECTION,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

/* 0 for base, 1 for new. */
struct diff_row {
    struct cli_frame frame;
    pcol_amount self[2], total[2], self_delta, total_delta;
    int in_base, in_new;
};

static void get_row(const struct cli_result *diff, size_t at, struct diff_row *row)
{
    cli_result_frame(diff, at, &row->frame);
    row->self[0] = cli_result_amount(diff, CLI_FIELD_SELF_BASE, at);
    row->self[1] = cli_result_amount(diff, CLI_FIELD_SELF_NEW, at);
    row->self_delta = cli_result_amount(diff, CLI_FIELD_SELF_DELTA, at);
    row->total[0] = cli_result_amount(diff, CLI_FIELD_TOTAL_BASE, at);
    row->total[1] = cli_result_amount(diff, CLI_FIELD_TOTAL_NEW, at);
    row->total_delta = cli_result_amount(diff, CLI_FIELD_TOTAL_DELTA, at);
    row->in_base = cli_result_amount(diff, CLI_FIELD_IN_BASE, at).i64 != 0;
    row->in_new = cli_result_amount(diff, CLI_FIELD_IN_NEW, at).i64 != 0;
}

struct view {
    const struct cli_args *args;
    const char *names[2]; /* of the inputs */
    const struct cli_result *diff;
    pcol_result_info info;
    int is_double;
    struct cli_names *shown; /* displayed names */
    struct cli_amounts amounts;
    int markdown;
    pcol_by by;     /* by stack: function */
    double percent; /* --fail-above; negative: not given */
    uint64_t limit;
};

static double to_double(const struct view *view, pcol_amount amount)
{
    return view->is_double ? amount.f64 : (double)amount.i64;
}

static int changed(const struct view *view, const struct diff_row *row)
{
    return to_double(view, row->self_delta) != 0 || to_double(view, row->total_delta) != 0;
}

/* Change in percentage points of the base's total; not finite if the base is 0 or not a number.
 * One rounding: a value equal to a limit in decimal digits is equal to it here. */
static double points(const struct view *view, pcol_amount delta)
{
    double whole = fabs(to_double(view, view->info.total[0])), value = to_double(view, delta);
    double part = 100 * value / whole;

    return isfinite(part) || whole == 0 ? part : 100 * (value / whole);
}

/* Whether the row exceeds --fail-above. */
static int is_above(const struct view *view, const struct diff_row *row)
{
    return view->percent >= 0 && to_double(view, row->total_delta) > 0 &&
           points(view, row->total_delta) > view->percent;
}

/* Find the next row to print from row *at on, and move *at past it. */
static int next_row(const struct view *view, size_t *at, uint64_t *shown, struct diff_row *row)
{
    size_t count = view->diff->count;

    while (*at < count) {
        get_row(view->diff, (*at)++, row);
        if (!changed(view, row) && view->args->rows != 0)
            continue;
        if (*shown >= view->limit && !is_above(view, row))
            continue;
        ++*shown;
        return 1;
    }
    return 0;
}

/* ---- machine formats ---- */

static int print_rows(const struct view *view, struct cli_out *out)
{
    static const struct cli_table_column columns[] = {
        {"name", 0},       {"self_base", 1}, {"self_new", 1},   {"self_delta", 1},
        {"total_base", 1}, {"total_new", 1}, {"total_delta", 1}};
    enum { OWN = sizeof columns / sizeof *columns };
    struct cli_table_column chosen[OWN + CLI_FRAME_COLUMNS + 1];
    struct cli_table *table;
    uint64_t shown = 0;
    struct diff_row row;
    size_t places = cli_frame_columns(view->by, 0, chosen + OWN);
    size_t count = OWN + places, unit = count;

    memcpy(chosen, columns, sizeof columns);
    if (view->args->verbose) /* as in top: further columns only on request */
        chosen[count++] = (struct cli_table_column){"unit", 0};
    int code = cli_table_begin(&table, out, view->args, chosen, count);

    if (code != CLI_OK)
        return code;
    for (size_t at = 0; out->code == 0 && next_row(view, &at, &shown, &row);) {
        const struct cli_frame *frame = &row.frame;
        const pcol_amount amounts[6] = {row.self[0],  row.self[1],  row.self_delta,
                                        row.total[0], row.total[1], row.total_delta};
        char room[CLI_NUMBER_SIZE];
        struct cli_cell cells[OWN + CLI_FRAME_COLUMNS + 1] = {
            frame->has_name ? cli_cell_str(cli_name(view->shown, frame->name))
                            : cli_cell_text(NULL)};
        for (size_t c = 0; c < 6; c++)
            cells[c + 1] = cli_amount_cell(&view->amounts, amounts[c], NULL);
        cli_frame_cells(frame, places, room, cells + OWN);
        if (unit < count)
            cells[unit] = cli_cell_str(view->info.unit);
        cli_table_row(table, cells);
    }
    return cli_table_end(table, CLI_OK);
}

/* ---- terminal and Markdown ---- */

/* A change always has a sign. */
static const char *change_text(const struct view *view, pcol_amount delta, char *room)
{
    double value = to_double(view, delta);

    room[0] = '+';
    if (value == 0)
        return "0";
    return cli_amount_cell(&view->amounts, delta, room + (value > 0)).as.text.data - (value > 0);
}

static const char *state_of(const struct diff_row *row)
{
    return !row->in_base ? "new" : !row->in_new ? "gone" : "";
}

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

/* Percentage points of the base's total, with enough digits to show the side of --fail-above. */
static void points_text(const struct view *view, pcol_amount delta, char *room)
{
    double part = points(view, delta);
    int digits = 2;

    if (!isfinite(part) || fabs(part) >= 1e15) {
        snprintf(room, CLI_NUMBER_SIZE, isfinite(part) ? "%+g%%" : "-", part);
        return;
    }
    do
        snprintf(room, CLI_NUMBER_SIZE, "%+.*f%%", digits, part);
    while (view->percent >= 0 && digits++ < MOST_DIGITS &&
           compare(strtod(room, NULL), view->percent) != compare(part, view->percent));
}

static void any_text(const struct view *view, struct cli_out *out, pcol_str text)
{
    if (view->markdown)
        cli_markdown_code(out, text.data, text.size);
    else
        cli_out_safe(out, text.data, text.size);
}

static void print_header(const struct view *view, struct cli_out *out)
{
    char room[CLI_NUMBER_SIZE + 1];
    pcol_amount delta;

    if (view->is_double)
        delta.f64 = view->info.total[1].f64 - view->info.total[0].f64;
    else
        delta.i64 = view->info.total[1].i64 - view->info.total[0].i64;
    any_text(view, out, view->info.type);
    cli_out_text(out, "/");
    any_text(view, out, view->info.unit);
    cli_out_text(out, ": ");
    for (int i = 0; i < 2; i++) {
        cli_out_text(out, cli_amount_cell(&view->amounts, view->info.total[i], room).as.text.data);
        cli_out_text(out, i ? " (" : " (base ");
        any_text(view, out, (pcol_str){view->names[i], strlen(view->names[i])});
        cli_out_text(out, i ? ")" : ") to ");
    }
    if (view->args->normalize) {
        cli_out_printf(out, ", NEW scaled by %.6g", view->info.scale);
    } else {
        cli_out_text(out, ", ");
        cli_out_text(out, change_text(view, delta, room));
        points_text(view, delta, room);
        cli_out_printf(out, " (%s)", room);
        double base = fabs(to_double(view, view->info.total[0]));
        double new = fabs(to_double(view, view->info.total[1]));
        if (base > 0 && new > 0 && (new > 2 * base || base > 2 * new))
            cli_out_text(out, "; --normalize compares shares");
    }
    cli_out_text(out, "\n");
}

enum { PEOPLE_COLUMNS = 8 };

static int print_people(const struct view *view, struct cli_out *out)
{
    struct cli_table_column columns[PEOPLE_COLUMNS + CLI_FRAME_COLUMNS] = {
        {"self", CLI_RIGHT | CLI_KEEP},
        {"base", CLI_RIGHT | CLI_FURTHER(1)},
        {"new", CLI_RIGHT | CLI_FURTHER(1)},
        {"total", CLI_RIGHT | CLI_KEEP},
        {"total%", CLI_RIGHT | CLI_SHARE},
        {"base", CLI_RIGHT | CLI_FURTHER(2)},
        {"", CLI_PROSE},
        {"name", CLI_LEFT | CLI_KEEP}};
    size_t places = cli_frame_columns(view->by, 1, columns + PEOPLE_COLUMNS);
    struct cli_table *table;
    uint64_t shown = 0;
    struct diff_row row;
    int code = cli_table_begin(&table, out, view->args, columns, PEOPLE_COLUMNS + places);

    if (code != CLI_OK)
        return code;
    for (size_t at = 0; out->code == 0 && next_row(view, &at, &shown, &row);) {
        char room[8][CLI_NUMBER_SIZE + 1];
        points_text(view, row.total_delta, room[4]);
        pcol_str name =
            row.frame.has_name ? cli_name(view->shown, row.frame.name) : (pcol_str){"", 0};
        struct cli_cell cells[PEOPLE_COLUMNS + CLI_FRAME_COLUMNS] = {
            cli_cell_text(change_text(view, row.self_delta, room[0])),
            cli_amount_cell(&view->amounts, row.self[0], room[1]),
            cli_amount_cell(&view->amounts, row.self[1], room[2]),
            cli_cell_text(change_text(view, row.total_delta, room[3])),
            cli_cell_text(room[4]),
            cli_amount_cell(&view->amounts, row.total[0], room[5]),
            cli_cell_text(state_of(&row)),
            row.frame.has_name ? cli_cell_str(name) : cli_cell_text(NULL)};
        cli_frame_cells(&row.frame, places, room[7], cells + PEOPLE_COLUMNS);
        cli_table_row(table, cells);
    }
    return cli_table_end(table, CLI_OK);
}

static int has_changes(const struct view *view)
{
    size_t count = view->diff->count;
    struct diff_row row;

    for (size_t i = 0; i < count; i++) {
        get_row(view->diff, i, &row);
        if (changed(view, &row))
            return 1;
    }
    return 0;
}

static int print(struct view *view, pcol_query *query)
{
    static struct cli_out out;
    int same = !has_changes(view);
    int code = cli_out_open(&out, view->args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&view->amounts, query, view->args, &out);
    view->amounts.is_double = view->is_double;
    view->amounts.people |= view->markdown;
    cli_names_init(view->shown, view->args, view->amounts.people);
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

/* ---- the result of --fail-above ---- */

static int parse_percent(const char *text, double *percent)
{
    char digits[32];
    size_t size = strlen(text);
    char *end;

    if (size > 0 && text[size - 1] == '%')
        size--;
    if (size > 0 && size < sizeof digits && strspn(text, "0123456789.") >= size) {
        memcpy(digits, text, size);
        digits[size] = '\0';
        *percent = strtod(digits, &end);
        if (*end == '\0' && isfinite(*percent))
            return CLI_OK;
    }
    return cli_usage("--fail-above: '%s' is not a percentage", text);
}

static int is_empty(pcol_query *query)
{
    pcol_query_info info;

    cli_query_describe(query, &info);
    return (info.flags & PCOL_QUERY_IS_EMPTY) != 0;
}

/* A gate without anything to compare must not pass. */
static int fail_empty(const struct view *view)
{
    if (cli_selects(view->args))
        return cli_fail(CLI_USAGE,
                        "%s: --fail-above compares nothing: neither this profile nor the base has "
                        "a selected sample",
                        view->names[1]);
    return cli_fail(CLI_INPUT,
                    "%s: --fail-above compares nothing: neither this profile nor the base has a "
                    "value",
                    view->names[1]);
}

static int judge(const struct view *view, pcol_query *const queries[2])
{
    double whole = fabs(to_double(view, view->info.total[0])), worst = 0;
    size_t count = view->diff->count, at = 0, above = 0;
    char from[CLI_NUMBER_SIZE], to[CLI_NUMBER_SIZE], points[CLI_NUMBER_SIZE];
    struct cli_amounts amounts = view->amounts;
    const char *limit = view->args->fail_above;
    struct diff_row row;

    if (is_empty(queries[0]) && is_empty(queries[1]))
        return fail_empty(view);
    for (size_t i = 0; i < count; i++) {
        get_row(view->diff, i, &row);
        if (!is_above(view, &row))
            continue;
        above++;
        if (to_double(view, row.total_delta) > worst) {
            worst = to_double(view, row.total_delta);
            at = i;
        }
    }
    if (above == 0)
        return CLI_OK;
    get_row(view->diff, at, &row);
    amounts.people = 1;
    (void)cli_amount_cell(&amounts, row.total[0], from);
    (void)cli_amount_cell(&amounts, row.total[1], to);
    pcol_str name =
        row.frame.has_name ? cli_name(view->shown, row.frame.name) : (pcol_str){"NA", 2};
    points_text(view, row.total_delta, points);
    if (whole > 0)
        return cli_fail(CLI_NO,
                        "the total of %zu row%s rose by more than %.*s%% of the base, the most for "
                        "%.*s: from %s to %s, %s",
                        above, above == 1 ? "" : "s", (int)strspn(limit, "0123456789."), limit,
                        (int)(name.size < 200 ? name.size : 200), name.data, from, to, points);
    return cli_fail(CLI_NO, "%zu row%s rose, and the base is 0", above, above == 1 ? "" : "s");
}

/* ---- both formats ---- */

static void note_places(const struct view *view)
{
    struct cli_positions places = {0, 0};
    size_t count = view->diff->count;
    struct diff_row row;

    for (size_t i = 0; i < count; i++) {
        get_row(view->diff, i, &row);
        cli_positions_add(&places, &row.frame);
    }
    if (count > 0)
        cli_warn_positions(&places, view->by, view->names[1], view->args);
}

/* Warn if samples represent different times: their numbers are not comparable. */
static void note_periods(pcol_query *const queries[2], const struct cli_args *args,
                         const char *name)
{
    pcol_query_info info[2];
    char message[160];

    for (int i = 0; i < 2; i++)
        cli_query_describe(queries[i], &info[i]);
    double base = info[0].seconds_per_value, other = info[1].seconds_per_value;
    if (base <= 0 || other <= 0 || fabs(base - other) <= 0.01 * base)
        return;
    snprintf(message, sizeof message,
             "a value represents %.6g ms, in the base %.6g ms: --normalize compares shares",
             1e3 * other, 1e3 * base);
    cli_warn(args, name, message);
}

/* Find the input that caused an error: the first that cannot be read alone. */
static int failed_input(pcol_query *const queries[2], const pcol_diff_options *options)
{
    for (int i = 0; i < 2; i++) {
        pcol_top_options top = PCOL_INIT(pcol_top_options);
        pcol_result *result = NULL;
        top.by = options->by;
        top.label = options->label;
        pcol_status status = options->by == PCOL_BY_STACK
                                 ? pcol_query_tree(queries[i], NULL, &result, NULL)
                                 : pcol_query_top(queries[i], &top, &result, NULL);
        pcol_result_free(result);
        if (status != PCOL_OK)
            return i;
    }
    return 1;
}

static int compare_inputs(struct cli_input inputs[2], struct cli_args *args,
                          pcol_diff_options *options, double percent)
{
    pcol_query *queries[2] = {NULL, NULL};
    struct cli_names shown = {0};
    struct view view = {.args = args,
                        .names = {inputs[0].name, inputs[1].name},
                        .percent = percent,
                        .shown = &shown};
    pcol_result *result = NULL;
    struct cli_result diff = {0};
    pcol_error err;
    int code = cli_query_pair(&inputs[0], &inputs[1], args, &queries[0], &queries[1]);

    for (int i = 0; i < 2 && code == CLI_OK; i++)
        cli_warn_empty(&inputs[i], args, queries[i]);
    if (code == CLI_OK && !args->normalize)
        note_periods(queries, args, inputs[1].name);
    if (code == CLI_OK && pcol_diff(queries[0], queries[1], options, &result, &err) != PCOL_OK)
        code = cli_fail_error(inputs[failed_input(queries, options)].name, &err);
    if (code == CLI_OK)
        code = cli_result_open(&diff, result, inputs[1].name);
    if (code == CLI_OK) {
        view.diff = &diff;
        view.markdown = args->format != NULL && strcmp(args->format, "markdown") == 0;
        view.by = options->by == PCOL_BY_STACK ? PCOL_BY_FUNCTION : options->by;
        cli_result_describe(result, &view.info);
        view.is_double = (view.info.flags & PCOL_RESULT_IS_DOUBLE) != 0;
        note_places(&view);
        code = print(&view, queries[1]);
        if (code == CLI_OK && args->fail_above != NULL)
            code = judge(&view, queries);
    }
    cli_names_free(&shown);
    cli_result_close(&diff);
    pcol_result_free(result);
    pcol_query_free(queries[0]);
    pcol_query_free(queries[1]);
    return code;
}

int cmd_diff(struct cli_args *args)
{
    struct cli_input inputs[2];
    pcol_diff_options options = PCOL_INIT(pcol_diff_options);
    double percent = -1;
    int code = CLI_OK;

    options.flags = args->normalize ? PCOL_DIFF_NORMALIZE : 0;
    if (args->by != NULL && strcmp(args->by, "stack") == 0)
        options.by = PCOL_BY_STACK;
    else
        code = cli_parse_by(args->by, 0, &options.by, &options.label);
    options.order = cli_order(args);
    if (args->fail_above != NULL && args->sort == NULL)
        options.order = PCOL_ORDER_TOTAL; /* the compared inputs */
    if (code == CLI_OK && args->fail_above != NULL)
        code = parse_percent(args->fail_above, &percent);
    if (code == CLI_OK)
        code = cli_input_open(&inputs[0], args->operands[0], args);
    if (code != CLI_OK)
        return code;
    code = cli_input_open(&inputs[1], args->operands[1], args);
    if (code == CLI_OK) {
        code = compare_inputs(inputs, args, &options, percent);
        cli_input_close(&inputs[1]);
    }
    cli_input_close(&inputs[0]);
    return code;
}
