/*
 * cmd_check.c - check: faults of files, one line each
 */
#include "cmd.h"

#include <string.h>

const struct cli_option cmd_check_options[] = {
    CLI_FLAG_VALUE(0, "quick", depth, PCOL_CHECK_QUICK,
                   "verify only the header, the index and the end of the file"),
    CLI_FLAG_VALUE(0, "strict", depth, PCOL_CHECK_STRICT,
                   "verify all rules of the data model and all derived data"),
    CLI_OPTIONS_OUTPUT,
    CLI_OPTION_FROM,
    CLI_OPTION_FILES_FROM,
    CLI_OPTION_LENIENT,
    CLI_OPTION_END,
};

struct report {
    const struct cli_args *args;
    const char *name;
    struct cli_out *out;
};

static void put(struct cli_out *out, const char *text)
{
    cli_out_safe(out, text, strlen(text));
}

static int on_fault(void *context, const pcol_fault *fault)
{
    const struct report *report = context;
    struct cli_out *out = report->out;
    const char *comma = "";

    if (fault->note && report->args->quiet)
        return 0;
    put(out, report->name);
    cli_out_text(out, fault->note ? ": note: " : ": ");
    if (fault->table != NULL && *fault->table != '\0') {
        cli_out_text(out, "table ");
        put(out, fault->table);
        comma = ", ";
    }
    if (fault->column != NULL && *fault->column != '\0') {
        cli_out_printf(out, "%scolumn ", comma);
        put(out, fault->column);
        comma = ", ";
    }
    if (fault->row != PCOL_POSITION_UNKNOWN) {
        cli_out_printf(out, "%srow %llu", comma, (unsigned long long)fault->row);
        comma = ", ";
    }
    if (*comma != '\0')
        cli_out_text(out, ": ");
    put(out, fault->message);
    cli_out_text(out, "\n");
    return out->code != 0;
}

static int check_file(const struct cli_args *args, const char *path, struct cli_out *out)
{
    struct report report = {args, path, out};
    struct cli_input input;
    uint64_t faults = 0;
    pcol_error err;
    int code = cli_input_open(&input, path, args);

    cli_out_fold(out);

    if (code != CLI_OK)
        return code;
    if (pcol_file_check(input.file, (pcol_check_depth)args->depth, on_fault, &report, NULL, &faults,
                        &err) != PCOL_OK) {
        code = cli_fail_error(path, &err);
    } else if (faults > 0) {
        code = CLI_NO;
    } else if (!args->quiet) {
        put(out, path);
        cli_out_text(out, ": ok\n");
    }
    cli_input_close(&input);
    return code;
}

int cmd_check(struct cli_args *args)
{
    int code = cli_require_text_name(args);

    /* The report is written even if a file could not be read. */
    return code != CLI_OK ? code : cli_each_operand(args, check_file, 1);
}
