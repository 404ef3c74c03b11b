/*
 * cli_time.c - times and ranges of time in options
 *
 * A range is on the clock of the column .time, whose zero the source defines: start of the
 * process, of the recording or of the machine. A + makes it relative to the first sample.
 */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parse a decimal number at *text, times `scale` ns, rounded; 0 on success. */
static int parse_ns(const char **text, int64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char digits[64];
    size_t size = 0;
    const char *at = *text;
    long double value;
    double scale = 1e6;

    if (*at == '-')
        digits[size++] = *at++;
    while (size < sizeof digits - 1 && ((*at >= '0' && *at <= '9') || *at == '.'))
        digits[size++] = *at++;
    digits[size] = '\0';
    char *end;
    value = strtold(digits, &end);
    if (size == 0 || *end != '\0' || end == digits || digits[size - 1] == '-')
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].name);
        if (strncmp(at, units[i].name, length) == 0) {
            scale = units[i].ns;
            at += length;
            break;
        }
    }
    value = roundl(value * (long double)scale);
    if (!(value > -9.2e18L && value < 9.2e18L))
        return -1;
    *ns = (int64_t)value;
    *text = at;
    return 0;
}

/* ---- the origin of +A ---- */

/* Find the time of the first sample. Each source has its own clock, so several require a choice. */
static int first_time(const struct cli_input *input, const struct cli_args *args, int64_t *first)
{
    const pcol_table *sources;
    uint64_t count, id = 1;
    int64_t last;
    pcol_error err;

    *first = 0;
    if (cli_find_table(input->file, PCOL_MODEL_V2, "sources", &sources, &count, &err) != PCOL_OK)
        return cli_fail_error(input->name, &err);
    if (count > 1 && !cli_has_option(args, CLI_AT(pick_source)))
        return cli_fail(CLI_INPUT,
                        "%s: --time %s is relative to the first sample, and each of the %llu "
                        "sources has its own clock: pcol filter --source ID selects one",
                        input->name, args->time, (unsigned long long)count);
    if (count > 1 && (args->pick_source == NULL || cli_parse_u64(args->pick_source, &id) != 0 ||
                      id == 0 || id > count))
        return cli_usage("--time %s is relative to the first sample, and each of the %llu sources "
                         "has its own clock: choose one with --source ID",
                         args->time, (unsigned long long)count);
    if (pcol_file_times(input->file, id - 1, first, &last, &err) != PCOL_OK)
        return cli_fail_error(input->name, &err);
    if (*first > last)
        *first = 0; /* the query reports the absence of times */
    return CLI_OK;
}

static int64_t add_time(int64_t time, int64_t more)
{
    int64_t sum;

    return !__builtin_add_overflow(time, more, &sum) ? sum : more < 0 ? INT64_MIN : INT64_MAX;
}

/* ---- the options ---- */

static int parse_time(const char *text, int relative, pcol_selection *selection)
{
    const char *at = text + relative;
    int64_t length;

    selection->has_time = 1;
    selection->time_to_ns = INT64_MAX;
    if (parse_ns(&at, &selection->time_from_ns) == 0 && (*at == '-' || *at == '+')) {
        char kind = *at++;
        if (kind == '-' && *at == '\0')
            return CLI_OK;
        if (parse_ns(&at, &length) == 0 && *at == '\0') {
            selection->time_to_ns =
                kind == '-' ? length : add_time(selection->time_from_ns, length);
            if (kind == '+' && length < 0)
                return cli_usage("--time '%s': the length is negative", text);
            if (selection->time_to_ns < selection->time_from_ns)
                return cli_usage("--time '%s' ends before it begins", text);
            return CLI_OK;
        }
    }
    return cli_usage("--time '%s' is not A-B, A- or A+LENGTH in ms, or with s, ms, us or ns; +A-B "
                     "is relative to the first sample",
                     text);
}

int cli_time_check(const struct cli_args *args)
{
    pcol_selection selection = PCOL_INIT(pcol_selection);

    return args->time != NULL ? parse_time(args->time, args->time[0] == '+', &selection) : CLI_OK;
}

int cli_time(const struct cli_input *input, const struct cli_args *args, pcol_selection *selection)
{
    int relative = args->time[0] == '+';
    int64_t first;
    int code = parse_time(args->time, relative, selection);

    if (code == CLI_OK && relative)
        code = first_time(input, args, &first);
    if (code != CLI_OK || !relative)
        return code;
    selection->time_from_ns = add_time(selection->time_from_ns, first);
    if (selection->time_to_ns != INT64_MAX)
        selection->time_to_ns = add_time(selection->time_to_ns, first);
    return CLI_OK;
}

int cli_tolerance(struct cli_args *args)
{
    const char *at = args->tolerance;
    int64_t ns;

    if (at == NULL)
        return CLI_OK;
    if (!args->collapse_idle)
        return cli_usage("--tolerance requires --collapse-idle");
    if (parse_ns(&at, &ns) != 0 || *at != '\0' || ns <= 0)
        return cli_usage("--tolerance '%s' is not a time in ms, or with s, ms, us or ns, above 0",
                         args->tolerance);
    args->tolerance_ns = (uint64_t)ns;
    return CLI_OK;
}
