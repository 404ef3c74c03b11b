/*
 * cmd_diff_gate.c - diff: the exit code of --fail-above and --fail-total
 *
 * The library finds the rows that exceed the limits (pcol_diff()). Tests: suite gate.
 */
#include "cmd_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int parse_percent(const char *option, const char *text, double *percent)
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
    return cli_usage("--%s: '%s' is not a percentage", option, text);
}

int diff_limits(struct diff_view *view, pcol_diff_options *options)
{
    const struct cli_args *args = view->args;
    int code = CLI_OK;

    view->fail_above = view->fail_total = -1;
    if (args->fail_above != NULL) {
        code = parse_percent("fail-above", args->fail_above, &view->fail_above);
        options->flags |= PCOL_DIFF_FAIL_ABOVE;
    }
    if (args->fail_total != NULL && code == CLI_OK) {
        code = parse_percent("fail-total", args->fail_total, &view->fail_total);
        options->flags |= PCOL_DIFF_FAIL_TOTAL;
    }
    if (args->min_samples > 0 && args->fail_above == NULL && code == CLI_OK)
        code = cli_usage("--min-samples needs --fail-above");
    options->fail_above = view->fail_above;
    options->fail_total = view->fail_total;
    options->min_samples = args->min_samples;
    return code;
}

/* Make the queries that count samples, of the compared type or of samples/count. *unfit: the first
 * input whose values of the type are no samples; else beyond all. */
static int open_counts(struct diff_view *view, int compared, size_t *unfit)
{
    int code = CLI_OK, fits = 1;

    for (*unfit = 0; *unfit <= view->base_count; ++*unfit) {
        code =
            cli_query_count(&view->inputs[*unfit], view->args,
                            compared ? view->queries[*unfit] : NULL, &view->counts[*unfit], &fits);
        if (code != CLI_OK || !fits)
            break;
    }
    return code;
}

int diff_count_samples(struct diff_view *view, pcol_diff_options *options)
{
    pcol_query_info info;
    size_t unfit = 0, lacking = 0;

    if (view->args->min_samples == 0)
        return CLI_OK;
    options->counts = view->counts;
    int code = open_counts(view, 1, &unfit);
    if (code != CLI_OK || unfit > view->base_count)
        return code;
    for (size_t i = 0; i < unfit; i++) {
        pcol_query_free(view->counts[i]);
        view->counts[i] = NULL;
    }
    code = open_counts(view, 0, &lacking);
    if (code != CLI_OK || lacking > view->base_count)
        return code;
    cli_query_describe(view->queries[0], &info);
    return cli_fail(CLI_USAGE,
                    "%s: --min-samples: values in %.*s do not count samples, and %s has no sample "
                    "type samples/count",
                    view->inputs[unfit].name, (int)(info.unit.size < 60 ? info.unit.size : 60),
                    info.unit.data, lacking == unfit ? "it" : view->inputs[lacking].name);
}

/* ---- the result ---- */

/* Whether the query has no value: of a base, or of NEW, which follows the bases. */
static int is_empty(const struct diff_view *view, size_t query)
{
    pcol_query_info info;

    cli_query_describe(view->queries[query], &info);
    return (info.flags & PCOL_QUERY_IS_EMPTY) != 0;
}

/* A gate without values of NEW must not pass: a function may have another name now, or the profiler
 * may have recorded nothing. Without values of a base each value of NEW is a rise. */
static int fail_empty(const struct diff_view *view)
{
    const char *option = view->args->fail_above != NULL ? "--fail-above" : "--fail-total";
    const char *what = cli_selects(view->args) ? "selected sample" : "value";
    const char *bases = view->base_count > 1 ? "a base" : "the base";
    size_t base = 0;

    while (base < view->base_count && is_empty(view, base))
        base++;
    if (base < view->base_count)
        return cli_fail(cli_selects(view->args) ? CLI_USAGE : CLI_INPUT,
                        "%s: %s compares nothing: %s has a %s, but this profile has none",
                        view->inputs[view->base_count].name, option, bases, what);
    return cli_fail(cli_selects(view->args) ? CLI_USAGE : CLI_INPUT,
                    "%s: %s compares nothing: neither this profile nor %s has a %s",
                    view->inputs[view->base_count].name, option, bases, what);
}

static double new_total(const struct diff_view *view)
{
    pcol_query_info info;

    cli_query_describe(view->queries[view->base_count], &info);
    return info.flags & PCOL_QUERY_IS_DOUBLE ? info.total.f64 : (double)info.total.i64;
}

static int percent_size(const char *limit)
{
    return (int)strspn(limit, "0123456789.");
}

/* The amount that a row is compared with, and the rise above it. */
static pcol_amount highest_base(const struct diff_view *view, const struct diff_row *row)
{
    return view->base_count > 1 ? row->amounts[DIFF_TOTAL_MAX] : row->amounts[DIFF_TOTAL_BASE];
}

static double rise_of(const struct diff_view *view, const struct diff_row *row)
{
    return view->base_count > 1
               ? row->amounts[DIFF_TOTAL_NEW].f64 - row->amounts[DIFF_TOTAL_MAX].f64
               : diff_double(view, row->amounts[DIFF_TOTAL_DELTA]);
}

static int fail_rows(const struct diff_view *view, size_t above, const struct diff_row *row)
{
    double whole = diff_double(view, view->info.total[0]);
    char from[CLI_NUMBER_SIZE], to[CLI_NUMBER_SIZE], points[CLI_NUMBER_SIZE], over[64] = "";
    struct cli_amounts amounts = view->amounts;
    const char *limit = view->args->fail_above, *s = above == 1 ? "" : "s";
    pcol_str name =
        row->frame.has_name ? cli_name(view->shown, row->frame.name) : (pcol_str){"NA", 2};

    if (whole == 0)
        return cli_fail(CLI_NO, "%zu row%s rose, and the base is 0", above, s);
    amounts.people = 1;
    (void)cli_amount_cell(&amounts, highest_base(view, row), from);
    (void)cli_amount_cell(&amounts, row->amounts[DIFF_TOTAL_NEW], to);
    diff_points(rise_of(view, row), whole, view->fail_above, points);
    if (view->base_count > 1)
        snprintf(over, sizeof over, " above the highest of %zu bases", view->base_count);
    return cli_fail(CLI_NO,
                    "the total of %zu row%s rose%s by more than %.*s%% of the base, the most for "
                    "%.*s: from %s to %s, %s",
                    above, s, over, percent_size(limit), limit,
                    (int)(name.size < 200 ? name.size : 200), name.data, from, to, points);
}

static int judge_rows(const struct diff_view *view)
{
    struct diff_row row, worst = {0};
    size_t above = 0;

    for (size_t i = 0; i < view->diff->count; i++) {
        diff_row(view, i, &row);
        if (!row.is_above)
            continue;
        if (above++ == 0 || rise_of(view, &row) > rise_of(view, &worst))
            worst = row;
    }
    return above > 0 ? fail_rows(view, above, &worst) : CLI_OK;
}

static int judge_total(const struct diff_view *view)
{
    const pcol_spread *bases = &view->info.base_totals;
    char from[CLI_NUMBER_SIZE], to[CLI_NUMBER_SIZE], points[CLI_NUMBER_SIZE], over[64] = "";
    struct cli_amounts amounts = view->amounts;
    const char *limit = view->args->fail_total;
    double total = new_total(view);

    if (!(view->info.flags & PCOL_RESULT_TOTAL_ABOVE))
        return CLI_OK;
    if (bases->median == 0)
        return cli_fail(CLI_NO, "the total rose, and the base is 0");
    amounts.people = amounts.is_double = 1;
    (void)cli_amount_cell(&amounts, (pcol_amount){.f64 = bases->max}, from);
    (void)cli_amount_cell(&amounts, (pcol_amount){.f64 = total}, to);
    diff_points(total - bases->max, bases->median, view->fail_total, points);
    if (view->base_count > 1)
        snprintf(over, sizeof over, " above the highest of %zu bases", view->base_count);
    return cli_fail(CLI_NO,
                    "the total of the profile rose%s by more than %.*s%% of the base: from %s to "
                    "%s, %s",
                    over, percent_size(limit), limit, from, to, points);
}

int diff_judge(const struct diff_view *view)
{
    if (view->args->fail_above == NULL && view->args->fail_total == NULL)
        return CLI_OK;
    if (is_empty(view, view->base_count))
        return fail_empty(view);
    int total = judge_total(view), rows = judge_rows(view);
    return rows != CLI_OK ? rows : total;
}
