/*
 * cli_input.c - opening of inputs: a .pcol, or any other profile, imported into memory
 *
 * Maps are guarded: truncation or a disk failure is an error of that file, and before an output is
 * renamed into place all inputs are checked for changes.
 */
#include "cli.h"
#include "cli_losses.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct cli_input *opened; /* list of open inputs */
static uint64_t input_bytes;     /* of all that were opened; UINT64_MAX: unlimited */

/* 0 if it is not a regular file. */
static uint64_t size_of_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
}

static pcol_import_options import_options(const struct cli_args *args, const pcol_control *control)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);

    if (args->from != NULL && strcmp(args->from, "auto") != 0)
        options.format = args->from;
    options.uri = args->source_uri;
    options.timestamp = args->source_timestamp;
    options.meta = args->meta.items;
    options.meta_count = args->meta.count / 2;
    options.lenient = args->lenient;
    options.collapse_idle = args->collapse_idle;
    options.idle_tolerance_ns = args->tolerance_ns;
    if (args->max_input != CLI_UNSET)
        options.max_input_bytes = args->max_input;
    options.flags = (args->trusted ? PCOL_IMPORT_TRUSTED : 0) |
                    (args->rebase && args->sums.count == 0 ? PCOL_IMPORT_REBASE : 0);
    options.threads = cli_threads(args);
    options.control = control;
    options.open_flags = PCOL_OPEN_GUARD;
    return options;
}

static void count_input(const struct cli_args *args, uint64_t bytes)
{
    input_bytes =
        args->trusted || bytes > UINT64_MAX - input_bytes ? UINT64_MAX : input_bytes + bytes;
}

uint64_t cli_input_bytes(void)
{
    return input_bytes;
}

static int fail_second_stdin(void)
{
    return cli_usage("standard input can be only one input");
}

/* Standard input is at its end after it was read. */
static int take_stdin(const char *path, int *is_stdin)
{
    static int is_taken;

    *is_stdin = strcmp(path, "-") == 0;
    if (*is_stdin && is_taken)
        return fail_second_stdin();
    is_taken |= *is_stdin;
    return CLI_OK;
}

int cli_import(pcol_builder *builder, const char *path, const struct cli_args *args)
{
    struct cli_notices notices = {args, path, NULL, 0};
    pcol_control control = cli_control(&notices);
    pcol_import_options options = import_options(args, &control);
    pcol_error err;
    pcol_status status;
    int is_stdin, code = take_stdin(path, &is_stdin);

    if (code != CLI_OK)
        return code;
    cli_progress_input();
    if (is_stdin) {
        count_input(args, UINT64_MAX); /* of unknown size */
        cli_cpu_limit_lift();
        status = pcol_import_fd(builder, STDIN_FILENO, path, &options, &err);
    } else {
        uint64_t bytes = size_of_file(path);
        count_input(args, bytes != 0 ? bytes : UINT64_MAX);
        cli_cpu_limit_input(path);
        cli_heap_reserve(bytes * args->operand_count); /* assumes that all are as large */
        status = pcol_import_path(builder, path, &options, &err);
    }
    return status == PCOL_OK ? CLI_OK : cli_fail_error(path, &err);
}

/* Inputs of comparisons and views are imported one by one, each with a budget of its own, and stay
 * in memory. Together they may have what one of them may have for its bytes. Each node of the call
 * stacks takes 140 bytes in a query; real profiles have at most 0.6 a byte. The limits are those of
 * lib/util/import_budget.h. */
#define FREE_STACKS (UINT64_C(4) << 20)
#define STACKS_PER_BYTE 4u

int cli_is_beyond(uint64_t count, uint64_t free, unsigned per_byte)
{
    return count > free && (count - free) / per_byte > input_bytes;
}

static uint64_t rows_of(const struct cli_input *input, const char *name)
{
    const pcol_table *table;

    return pcol_file_table_by_name(input->file, PCOL_MODEL_PHYSICAL, name, &table, NULL) == PCOL_OK
               ? pcol_table_rows(table)
               : 0;
}

/* Count an input that was opened. */
static int check_together(const struct cli_input *input)
{
    static uint64_t bytes, stacks;

    bytes += pcol_file_size(input->file);
    cli_cpu_limit_samples(rows_of(input, "samples"));
    stacks += rows_of(input, "stacks");
    if (input->next == NULL) /* the only one */
        return CLI_OK;
    if (cli_is_beyond(bytes, CLI_FREE_BYTES, CLI_BYTES_PER_BYTE))
        return cli_fail(CLI_INPUT,
                        "the inputs take more than 256 MiB of memory, too much for their size; if "
                        "you trust them, use --trusted");
    if (cli_is_beyond(stacks, FREE_STACKS, STACKS_PER_BYTE))
        return cli_fail(CLI_INPUT,
                        "the inputs have more than 4 million nodes of call stacks, too many for "
                        "their size; if you trust them, use --trusted");
    return CLI_OK;
}

static int open_input(struct cli_input *input, const char *path, const struct cli_args *args,
                      unsigned flags)
{
    struct cli_notices notices = {args, path, NULL, 0};
    pcol_control control = cli_control(&notices);
    pcol_import_options options = import_options(args, &control);
    pcol_error err;
    pcol_status status;
    int is_stdin, code = take_stdin(path, &is_stdin);

    memset(input, 0, sizeof *input);
    input->name = path;
    if (code != CLI_OK)
        return code;
    options.flags |= flags;
    if (is_stdin) {
        cli_cpu_limit_lift();
    } else {
        input->bytes = size_of_file(path);
        cli_cpu_limit_input(path);
        cli_heap_reserve(input->bytes);
    }
    cli_progress_begin(args, 1);
    if (is_stdin)
        status = pcol_open_any_fd(STDIN_FILENO, path, &options, &input->file, &err);
    else
        status = pcol_open_any_path(path, &options, &input->file, &err);
    cli_progress_end();
    if (status != PCOL_OK)
        return cli_fail_error(path, &err);
    count_input(args, input->bytes != 0 ? input->bytes : pcol_file_size(input->file));
    input->next = opened;
    opened = input;
    code = check_together(input);
    if (code != CLI_OK)
        cli_input_close(input);
    return code;
}

int cli_input_open(struct cli_input *input, const char *path, const struct cli_args *args)
{
    struct cli_added_frames frames;
    int code = cli_added_frames_open(&frames, args);

    if (code == CLI_OK)
        code = open_input(input, path, args, 0);
    if (code == CLI_OK) {
        code = cli_add_frames(input, &frames, args);
        if (code != CLI_OK)
            cli_input_close(input);
    }
    cli_added_frames_close(&frames);
    return code;
}

int cli_input_open_packed(struct cli_input *input, const char *path, const struct cli_args *args)
{
    return open_input(input, path, args, PCOL_IMPORT_PACKED);
}

/* Merge all operands into one file in memory. */
static int merge(struct cli_input *input, const struct cli_args *args)
{
    pcol_builder *builder = NULL;
    pcol_error err;
    int code = cli_builder_new(args, &builder);

    cli_progress_begin(args, args->operand_count);
    for (size_t i = 0; i < args->operand_count && code == CLI_OK; i++)
        code = cli_import(builder, args->operands[i], args);
    cli_progress_end();
    if (code == CLI_OK &&
        pcol_builder_file(builder, PCOL_WRITE_QUICK, NULL, &input->file, &err) != PCOL_OK)
        code = cli_fail_error(NULL, &err);
    pcol_builder_free(builder);
    return code;
}

int cli_input_open_all(struct cli_input *input, const struct cli_args *args)
{
    struct cli_added_frames frames;

    if (args->operand_count == 1)
        return cli_input_open(input, args->operands[0], args);
    memset(input, 0, sizeof *input);
    input->name = "all inputs";
    int code = cli_added_frames_open(&frames, args);
    if (code == CLI_OK)
        code = merge(input, args);
    if (code == CLI_OK)
        code = cli_add_frames(input, &frames, args);
    cli_added_frames_close(&frames);
    return code;
}

int cli_each_operand(const struct cli_args *args,
                     int (*one)(const struct cli_args *args, const char *path, struct cli_out *out),
                     int keep)
{
    static struct cli_out out;
    size_t streams = 0;
    int worst = CLI_OK;

    /* Usage errors come before any output. */
    for (size_t i = 0; i < args->operand_count; i++)
        streams += strcmp(args->operands[i], "-") == 0;
    int code = streams > 1 ? fail_second_stdin() : cli_out_open(&out, args);
    if (code != CLI_OK)
        return code;
    for (size_t i = 0; i < args->operand_count && out.code == 0; i++)
        worst = cli_worst_code(worst, one(args, args->operands[i], &out));
    code = cli_out_finish(&out, keep ? CLI_OK : worst);
    return cli_worst_code(worst, code);
}

int cli_inputs_intact(void)
{
    static int code = CLI_OK;
    pcol_error err;

    for (struct cli_input *i = opened; i != NULL && !cli_has_failed(); i = i->next)
        if (pcol_file_intact(i->file, &err) != PCOL_OK)
            code = cli_fail_error(i->name, &err);
    return code;
}

int cli_require_name_first(const struct cli_args *args)
{
    const char *name = args->operands[0], *file = args->operands[1];

    if (strcmp(file, "-") == 0 || access(name, F_OK) != 0 || access(file, F_OK) == 0)
        return CLI_OK;
    return cli_usage("the name comes before the file: pcol %s '%s' %s", args->command, file, name);
}

int cli_no_function(const char *input, const char *name)
{
    int code = cli_inputs_intact();

    return code != CLI_OK
               ? code
               : cli_fail(CLI_NO, "%s: no function with samples has the name or matches '%s'",
                          input, name);
}

void cli_input_close(struct cli_input *input)
{
    struct cli_input **at = &opened;

    while (*at != NULL && *at != input)
        at = &(*at)->next;
    if (*at != NULL) {
        (void)cli_inputs_intact();
        *at = input->next;
    }
    pcol_file_close(input->file);
    input->file = NULL;
}
