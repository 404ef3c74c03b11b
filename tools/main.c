/*
 * main.c - entry of the command pcol: finds the requested command and runs it
 */
#include "cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int print_version(void)
{
    static struct cli_out out;
    struct cli_args args = {0};
    char libraries[256];
    int code = cli_out_open_path(&out, &args, NULL, 0);

    if (code != CLI_OK)
        return code;
    cli_out_printf(&out, "pcol %d.%d.%d%s\n", PCOL_VERSION_MAJOR, PCOL_VERSION_MINOR,
                   PCOL_VERSION_PATCH, PCOL_VERSION_SUFFIX);
    cli_out_printf(&out, "libpcol %s\n", pcol_version());
    cli_out_text(&out, "file format 1.0 (reads every 1.x)\n");
    pcol_libraries(libraries, sizeof libraries);
    cli_out_printf(&out, "%s\n", libraries);
    return cli_out_finish(&out, CLI_OK);
}

static int run(const struct cmd *cmd, struct cli_args *args, int argc, char **argv)
{
    args->command = cmd->name;
    cli_error_command(cmd->name);
    int code = cli_parse(args, cmd, argc, argv);

    if (code != CLI_OK)
        return code;
    if (args->help)
        return cmd_print_help(cmd);
    if (args->version)
        return print_version();
    cli_cpu_limit_begin(args);
    code = cmd->run(args);
    cli_cpu_limit_end();
    return code;
}

static int dispatch(struct cli_args *args, int argc, char **argv)
{
    int first = argc;
    int code = cli_parse_leading(args, argc, argv, &first);

    if (code != CLI_OK)
        return code;
    if (args->help)
        return cmd_print_help(NULL);
    if (args->version)
        return print_version();
    if (first >= argc)
        return cmd_no_command();
    const struct cmd *cmd = cmd_find(argv[first]);
    if (cmd == NULL)
        return cmd_unknown(argv[first]);
    return run(cmd, args, argc - first - 1, argv + first + 1);
}

struct words {
    int argc;
    char **argv;
};

static int run_words(void *context)
{
    const struct words *words = context;
    struct cli_args args = {0};

    args.rows = args.offset = args.source = args.max_depth = args.width = args.row = args.context =
        args.port = args.shards = args.timeout = args.node_count = CLI_UNSET;
    args.depth = PCOL_CHECK_DEFAULT;
    int code = dispatch(&args, words->argc, words->argv);
    code = cli_worst_code(code, cli_inputs_intact());
    cli_args_free(&args);
    return code;
}

int main(int argc, char **argv)
{
    struct words words = {argc, argv};

    cli_signals();
    int code = cli_with_stack(run_words, &words);
    /* Some file systems report a full disk only on close. */
    if (close(STDOUT_FILENO) != 0 && code == CLI_OK)
        code = cli_fail(CLI_IO, "stdout: %s", strerror(errno));
    return code;
}
