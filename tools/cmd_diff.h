/*
 * cmd_diff.h - diff: inputs, rows and output options, shared by cmd_diff.c and cmd_diff_gate.c
 */
#ifndef PCOL_TOOLS_CMD_DIFF_H
#define PCOL_TOOLS_CMD_DIFF_H

#include "cli.h"

/* The amounts of a row, those of several bases last. */
enum {
    DIFF_SELF_BASE,
    DIFF_SELF_NEW,
    DIFF_SELF_DELTA,
    DIFF_TOTAL_BASE,
    DIFF_TOTAL_NEW,
    DIFF_TOTAL_DELTA,
    DIFF_SELF_MIN,
    DIFF_SELF_MAX,
    DIFF_TOTAL_MIN,
    DIFF_TOTAL_MAX,
    DIFF_TOTAL_MAD,
    DIFF_AMOUNTS,
    DIFF_SPREAD = DIFF_AMOUNTS - DIFF_SELF_MIN
};

/* A row of the comparison. */
struct diff_row {
    struct cli_frame frame;
    pcol_amount amounts[DIFF_AMOUNTS];
    int in_base, in_new, is_above;
};

struct diff_view {
    const struct cli_args *args;
    const struct cli_input *inputs; /* the bases, then the new profile */
    size_t base_count;
    pcol_query **queries; /* of each input */
    pcol_query **counts;  /* of each input: its samples; NULL: the queries count them */
    const struct cli_result *diff;
    pcol_result_info info;
    int is_double;
    struct cli_names *shown; /* displayed names */
    struct cli_amounts amounts;
    int markdown;
    pcol_by by;
    double fail_above, fail_total; /* negative: not given */
    uint64_t limit;
};

static inline double diff_double(const struct diff_view *view, pcol_amount amount)
{
    return view->is_double ? amount.f64 : (double)amount.i64;
}

void diff_row(const struct diff_view *view, size_t at, struct diff_row *row);
/* A change in percent of @whole, with enough digits to show the side of a limit, unless that is
 * negative. buffer: CLI_NUMBER_SIZE bytes. */
void diff_points(double change, double whole, double limit, char *buffer);

/* ---- cmd_diff_gate.c */

/* Parse --fail-above, --fail-total and --min-samples. */
int diff_limits(struct diff_view *view, pcol_diff_options *options);
/* Make the queries that count samples for --min-samples. */
int diff_count_samples(struct diff_view *view, pcol_diff_options *options);
/* CLI_NO with a message if a limit is exceeded. */
int diff_judge(const struct diff_view *view);

#endif
