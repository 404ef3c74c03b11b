/*
 * cmd_filter.c - filter: a part of a profile as a file of its own
 */
#include "cmd.h"

const struct cli_option cmd_filter_options[] = {
    CLI_OPTIONS_SELECTION,
    {0, "drop-labels", NULL, "leave out the labels of samples", CLI_FLAG, CLI_AT(drop_labels), 1,
     NULL},
    {0, "collapse-idle", NULL, "join samples of a thread that waits to one that lasts (see pack)",
     CLI_FLAG, CLI_AT(collapse_idle), 1, NULL},
    {0, "expand-idle", NULL, "make such a sample all that it stands for again, evenly spaced",
     CLI_FLAG, CLI_AT(expand_idle), 1, NULL},
    {0, "plain", NULL, "every column as an array (see pack)", CLI_FLAG, CLI_AT(plain), 1, NULL},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_FORCE,
    CLI_OPTION_NO_SYNC,
    CLI_OPTION_FROM,
    CLI_OPTION_STRICT_IMPORT,
    CLI_OPTION_LENIENT,
    CLI_OPTION_END,
};

static int write_part(const struct cli_input *input, const struct cli_args *args)
{
    static struct cli_out out;
    pcol_builder *builder = NULL;
    pcol_error err;
    int code = cli_out_open_path(&out, args, args->output, CLI_OUT_BINARY);

    if (code != CLI_OK)
        return code;
    code = cli_builder_new(&builder);
    if (code == CLI_OK)
        code = cli_filter(input, args, builder);
    if (code == CLI_OK && pcol_builder_write(builder, args->plain ? PCOL_WRITE_PLAIN : 0,
                                             cli_out_sink(&out), &err) != PCOL_OK)
        code = out.code != 0 ? out.code : cli_fail_error(out.name, &err);
    pcol_builder_free(builder);
    return cli_out_finish(&out, code);
}

int cmd_filter(struct cli_args *args)
{
    struct cli_input input;
    const char *path = args->operands[0];
    int code;

    if (args->output == NULL)
        return cli_usage("-o OUT says where the part goes; - is stdout");
    if (args->collapse_idle && args->expand_idle)
        return cli_usage("--collapse-idle and --expand-idle undo each other");
    code = cli_refuse_input(args->output, &path, 1);
    if (code == CLI_OK)
        code = cli_input_open(&input, path, args);
    if (code != CLI_OK)
        return code;
    code = write_part(&input, args);
    cli_input_close(&input);
    return code;
}
