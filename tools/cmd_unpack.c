/*
 * cmd_unpack.c - unpack: write a profile in another format
 */
#include "clickhouse.h"
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct cli_option cmd_unpack_options[] = {
    CLI_TEXT_CHOICE(0, "to", "FORMAT", to, CLI_CHOICES_WRITE,
                    "output format (default: by the name of OUT)"),
    CLI_TEXT_OPTION(
        0, "keys", "KEY,...", keys,
        "clickhouse: metadata of sources, else labels, that become columns; rows are sorted by all "
        "but the last, the stack, and the last (default: service,build,host)"),
    CLI_COUNT_OPTION(0, "shards", "N", shards,
                     "clickhouse: number of files of samples and of stacks (default: 1)"),
    CLI_LIST_OPTION(0, "known", "HASHES", known,
                    "clickhouse: omit stacks in this list, one hash a line; repeatable"),
    CLI_OPTION_FILES_FROM,
    CLI_OPTION_OUTPUT,
    CLI_OPTION_FORCE,
    CLI_TEXT_OPTION(0, "source", "ID|RE", pick_source,
                    "only the source with this id, or sources with a matching uri"),
    CLI_OPTION_SOURCE_META,
    CLI_TEXT_OPTION(0, "sample-type", "TYPE", sample_type,
                    "sample type, for formats with a single one (default: that of the profile)"),
    CLI_OPTION_FAIL_ON_LOSS,
    CLI_FLAG_OPTION(0, "expand-idle", expand_idle,
                    "firefox, jslb: restore all joined samples, not only the first and the last"),
    CLI_COUNT_OPTION(0, "node-count", "N", node_count,
                     "dot: at most N functions; 0: all (default: 80)"),
    CLI_TEXT_OPTION(0, "node-fraction", "F", node_fraction,
                    "dot: only functions with at least this share (default: 0.005)"),
    CLI_TEXT_OPTION(0, "edge-fraction", "F", edge_fraction,
                    "dot: only calls with at least this share (default: 0.001)"),
    CLI_OPTIONS_FRAMES,
    CLI_OPTIONS_SAMPLES,
    CLI_OPTION_ORDER,
    CLI_OPTION_KEEP_DROPPED,
    CLI_OPTION_DEMANGLE_PATTERNS,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_NO_SYNC,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

/* ---- the format ---- */

static int is_folder(const char *name)
{
    struct stat info;
    size_t size = strlen(name);

    return (size > 0 && name[size - 1] == '/') || (stat(name, &info) == 0 && S_ISDIR(info.st_mode));
}

/* For `-o DIR`: the name of the input with the first suffix of the format. The caller frees
 * *made. */
static int name_in_folder(struct cli_args *args, const char *format, char **made)
{
    const char *input = args->operands[0], *slash = strrchr(input, '/');
    const char *base = slash != NULL ? slash + 1 : input, *suffix = "";
    const char *folder = args->output;
    const pcol_format *f;

    for (size_t i = 0; (f = pcol_format_at(i)) != NULL; i++)
        if (strcmp(f->name, format) == 0)
            suffix = f->suffixes;
    if (strcmp(input, "-") == 0)
        return cli_usage("-o %s is a directory, and standard input has no file name", folder);
    size_t size = strlen(base), before = strlen(folder), end = strcspn(suffix, " ");
    size -= cli_ends_in(base, ".gz") ? 3 : 0;
    for (size_t i = size; i-- > 1;)
        if (base[i] == '.') {
            size = i;
            break;
        }
    const char *zipped = strcmp(format, "pprof") == 0 ? ".gz" : "";
    size_t capacity = before + size + end + 8;
    *made = malloc(capacity);
    if (*made == NULL)
        return cli_fail_memory();
    snprintf(*made, capacity, "%s%s%.*s%.*s%s", folder, folder[before - 1] != '/' ? "/" : "",
             (int)size, base, (int)end, suffix, zipped);
    args->output = *made;
    return CLI_OK;
}

/* The format of --to, else of the output's name. */
static int choose_format(const struct cli_args *args, const char **name)
{
    const pcol_format *format;

    *name = args->to;
    if (args->to != NULL)
        return CLI_OK;
    if (!cli_is_file_name(args->output))
        return cli_usage("missing output format: --to FORMAT or a suffix of -o OUT; `pcol formats` "
                         "lists the formats");
    if (is_folder(args->output))
        return cli_usage("%s is a directory: choose the output format with --to FORMAT",
                         args->output);
    int code = cli_profile_by_name(args, &format);
    if (code != CLI_OK)
        return code;
    if (format == NULL)
        return cli_usage(cli_ends_in(args->output, ".pcol")
                             ? "%s: pcol pack writes pcol files, unpack other formats"
                             : "%s: no format has this suffix; choose one with --to FORMAT",
                         args->output);
    *name = format->name;
    return CLI_OK;
}

/* A usage error for limits of another format than dot. */
static int check_limits(const struct cli_args *args, const char *format)
{
    double share;

    if (strcmp(format, "dot") != 0 && (args->node_count != CLI_UNSET ||
                                       args->node_fraction != NULL || args->edge_fraction != NULL))
        return cli_usage(
            "--node-count, --node-fraction and --edge-fraction are for dot, not for %s", format);
    int code = cli_fraction("--node-fraction", args->node_fraction, &share);
    return code == CLI_OK ? cli_fraction("--edge-fraction", args->edge_fraction, &share) : code;
}

/* ---- selection ---- */

/* --source and --sample-type alone are left to the exporter, which handles them without a copy. */
static int selects(const struct cli_args *args)
{
    struct cli_args others = *args;

    others.sample_type = NULL;
    return cli_selects(&others);
}

static int select_part(struct cli_input *input, struct cli_args *args)
{
    struct cli_args part = *args;
    char source[CLI_NUMBER_SIZE];

    part.sample_type = NULL;
    if (args->source != CLI_UNSET) {
        source[cli_format_u64(source, args->source)] = '\0';
        part.pick_source = source;
        args->source = CLI_UNSET; /* then it is the only source */
    }
    return cli_input_filter(input, &part);
}

static int export(const struct cli_input *input, const char *format, const struct cli_args *args)
{
    static struct cli_out out;
    int code = cli_out_open(&out, args);

    return code == CLI_OK ? cli_out_finish(&out, cli_export(input, format, args, &out)) : code;
}

int cmd_unpack(struct cli_args *args)
{
    struct cli_input input;
    const char *format;
    char *made = NULL;
    int code;

    if (args->to != NULL && strcmp(args->to, CLI_CLICKHOUSE) == 0)
        return ch_unpack(args);
    if (args->keys != NULL || args->shards != CLI_UNSET || args->known.count > 0)
        return cli_usage("--keys, --shards and --known are for --to clickhouse");
    if (args->operand_count > 1)
        return cli_usage("one operand too many: '%s'; only --to clickhouse takes several",
                         args->operands[1]);
    if (args->pick_source != NULL && cli_parse_u64(args->pick_source, &args->source) == 0)
        args->pick_source = NULL; /* one whole source: the exporter may restore the original */
    if (args->source == 0)
        return cli_usage("--source: ids start at 1");
    code = cli_input_open(&input, args->operands[0], args);
    if (code != CLI_OK)
        return code;
    code = choose_format(args, &format);
    if (code == CLI_OK)
        code = check_limits(args, format);
    if (code == CLI_OK && cli_is_file_name(args->output) && is_folder(args->output))
        code = name_in_folder(args, format, &made);
    if (code == CLI_OK && selects(args))
        code = select_part(&input, args);
    if (code == CLI_OK)
        code = export(&input, format, args);
    if (code == CLI_OK && made != NULL)
        cli_verbose(args, "%s: written", made);
    cli_input_close(&input);
    free(made);
    return code;
}
