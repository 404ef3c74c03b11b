/*
 * cmd_pack.c - pack and merge: write a pcol file from profiles
 *
 * The output is opened before the inputs are read, so that an existing output is reported before
 * the import. A failed import leaves no file.
 */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const struct cli_option cmd_pack_options[] = {
    CLI_OPTION_OUTPUT,
    CLI_OPTION_FORCE,
    CLI_OPTION_FROM,
    CLI_OPTION_FILES_FROM,
    CLI_OPTION_META,
    CLI_TEXT_OPTION(0, "source-uri", "URI", source_uri,
                    "origin of the profile (default: path of the input)"),
    CLI_TEXT_OPTION(0, "source-timestamp", "TIME", source_timestamp,
                    "time of the recording in ISO 8601: 2026-11-21T12:00:00Z"),
    CLI_FLAG_OPTION(0, "each", each, "write one output for each input, into the directory of -o"),
    CLI_OPTION_PLAIN,
    CLI_OPTION_ARCHIVE,
    CLI_OPTION_COLLAPSE_IDLE,
    CLI_OPTION_TOLERANCE,
    CLI_OPTION_STRICT_IMPORT,
    CLI_OPTION_LENIENT,
    CLI_OPTION_NO_SYNC,
    CLI_OPTION_END,
};

const struct cli_option cmd_merge_options[] = {
    CLI_OPTION_OUTPUT,       CLI_OPTION_FORCE,         CLI_OPTION_FROM,
    CLI_OPTION_FILES_FROM,   CLI_OPTION_META,          CLI_OPTION_PLAIN,
    CLI_OPTION_ARCHIVE,      CLI_OPTION_COLLAPSE_IDLE, CLI_OPTION_TOLERANCE,
    CLI_OPTION_FAIL_ON_LOSS, CLI_OPTION_STRICT_IMPORT, CLI_OPTION_LENIENT,
    CLI_OPTION_NO_SYNC,      CLI_OPTION_SUMS,          CLI_OPTION_REBASE,
    CLI_OPTION_END,
};

/* ---- values of options ---- */

/* Split KEY=VALUE items into key, value, key, value; the caller frees *copies. */
static int split_meta(struct cli_args *args, char **copies)
{
    size_t size = 1;
    const char **pairs = malloc((2 * args->meta.count + 1) * sizeof *pairs);

    for (size_t i = 0; i < args->meta.count; i++)
        size += strlen(args->meta.items[i]) + 1;
    char *at = *copies = malloc(size);
    if (at == NULL || pairs == NULL) {
        free((void *)pairs);
        return cli_fail_memory();
    }
    for (size_t i = 0; i < args->meta.count; i++) {
        const char *item = args->meta.items[i];
        size_t key = strcspn(item, "=");
        if (key == 0 || item[key] == '\0') {
            free((void *)pairs);
            return cli_usage("--meta '%s' is not KEY=VALUE", item);
        }
        if (memchr(item, '~', key) != NULL) {
            free((void *)pairs);
            return cli_usage("--meta '%s': a key has no ~, which --source-meta reads as KEY~RE",
                             item);
        }
        memcpy(at, item, strlen(item) + 1);
        at[key] = '\0';
        pairs[2 * i] = at;
        pairs[2 * i + 1] = at + key + 1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(pairs[2 * k], at) == 0) {
                int code = cli_usage("--meta gives %s twice", at);
                free((void *)pairs);
                return code;
            }
        at += strlen(item) + 1;
    }
    free((void *)args->meta.items);
    args->meta.items = pairs;
    args->meta.count *= 2;
    return CLI_OK;
}

/* ---- names ---- */

/* `folder`/`path` with .pcol instead of its suffixes; folder NULL: next to the path. */
static char *output_name(const char *path, const char *folder)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t size = strlen(base);
    size_t before = folder != NULL ? strlen(folder) : (size_t)(base - path);
    size_t capacity = before + size + 8;
    char *name = malloc(capacity);

    if (name == NULL)
        return NULL;
    if (size > 3 && strcmp(base + size - 3, ".gz") == 0)
        size -= 3;
    for (size_t i = size; i-- > 1;)
        if (base[i] == '.') {
            size = i;
            break;
        }
    snprintf(name, capacity, "%.*s%s%.*s.pcol", (int)before, folder != NULL ? folder : path,
             folder != NULL && before > 0 && folder[before - 1] != '/' ? "/" : "", (int)size, base);
    return name;
}

static int is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* ---- packing ---- */

static int import_all(pcol_builder *builder, const struct cli_args *args, const char *const *inputs,
                      size_t count)
{
    int code = CLI_OK;

    cli_progress_begin(args, count);
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = cli_import(builder, inputs[i], args);
    cli_progress_end();
    return code;
}

/* format NULL: a pcol file. */
static int pack(const struct cli_args *args, const char *const *inputs, size_t count,
                const char *output, const pcol_format *format)
{
    static struct cli_out out;
    pcol_builder *builder = NULL;
    unsigned flags;
    int code = cli_write_flags(args, &flags); /* before any work */

    if (code == CLI_OK)
        code = cli_reject_input(output, inputs, count);
    if (code == CLI_OK)
        code = cli_out_open_path(&out, args, output, CLI_OUT_BINARY);
    if (code != CLI_OK)
        return code;
    if (args->sums.count > 0)
        code = cli_sums(args, inputs, count, output, &builder);
    else
        code = cli_builder_new(args, &builder);
    if (code == CLI_OK && args->sums.count == 0)
        code = import_all(builder, args, inputs, count);
    if (code == CLI_OK)
        code = cli_write_profile(builder, format, args, &out);
    pcol_builder_free(builder);
    code = cli_out_finish(&out, code);
    if (code == CLI_OK && output != NULL && !is_stream(output))
        cli_verbose(args, "%s: written", output);
    return code;
}

static int pack_one(const struct cli_args *args, const char *input, const char *folder)
{
    char *name = output_name(input, folder);
    int code = name != NULL ? pack(args, &input, 1, name, NULL) : cli_fail_memory();

    free(name);
    return code;
}

/* An output and the directory that it is in, which may not exist yet. */
struct output {
    char *name;
    const char *base;
    struct stat directory; /* zeros: it does not exist */
};

static int name_output(const char *input, const char *folder, struct output *output)
{
    char *slash, *base, first;

    if (is_stream(input))
        return cli_usage("--each requires a file name, not standard input");
    output->name = output_name(input, folder);
    if (output->name == NULL)
        return cli_fail_memory();
    slash = strrchr(output->name, '/');
    base = slash != NULL ? slash + 1 : output->name;
    output->base = base;
    first = *base;
    *base = '\0'; /* "DIRECTORY/", or nothing for the current one */
    if (stat(slash != NULL ? output->name : ".", &output->directory) != 0)
        memset(&output->directory, 0, sizeof output->directory);
    *base = first;
    return CLI_OK;
}

static int is_same_output(const struct output *a, const struct output *b)
{
    return strcmp(a->base, b->base) == 0 &&
           (strcmp(a->name, b->name) == 0 ||
            (a->directory.st_ino != 0 && a->directory.st_ino == b->directory.st_ino &&
             a->directory.st_dev == b->directory.st_dev));
}

/* Two inputs with one output would silently lose the first. */
static int refuse_equal_names(const struct cli_args *args)
{
    struct output *outputs = calloc(args->operand_count + 1, sizeof *outputs);
    int code = CLI_OK;

    if (outputs == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < args->operand_count && code == CLI_OK; i++) {
        code = name_output(args->operands[i], args->output, &outputs[i]);
        for (size_t k = 0; k < i && code == CLI_OK; k++)
            if (is_same_output(&outputs[k], &outputs[i]))
                code = cli_fail(CLI_REFUSED, "%s: the output of both %s and %s", outputs[i].name,
                                args->operands[k], args->operands[i]);
    }
    for (size_t i = 0; i < args->operand_count; i++)
        free(outputs[i].name);
    free(outputs);
    return code;
}

static int pack_each(const struct cli_args *args)
{
    struct stat info;

    if (args->output != NULL && !cli_is_file_name(args->output))
        return cli_usage("--each writes into a directory: -o DIR");
    int code = refuse_equal_names(args);
    if (code == CLI_OK && args->output != NULL) {
        int made = mkdir(args->output, 0777);
        if (made != 0 && errno != EEXIST)
            code = cli_fail(CLI_IO, "%s: %s", args->output, strerror(errno));
        else if (stat(args->output, &info) != 0 || !S_ISDIR(info.st_mode))
            code = cli_usage("--each: -o %s is not a directory", args->output);
    }
    if (code != CLI_OK)
        return code;
    for (size_t i = 0; i < args->operand_count; i++) {
        cli_cpu_limit_begin(args);
        code = cli_worst_code(code, pack_one(args, args->operands[i], args->output));
    }
    return code;
}

int cmd_pack(struct cli_args *args)
{
    char *copies = NULL;
    const pcol_format *format = NULL;
    int64_t seconds;
    int code = CLI_OK;

    if (args->source_timestamp != NULL && !cli_timestamp(args->source_timestamp, &seconds))
        code = cli_usage("--source-timestamp '%s' is not a time in ISO 8601, such as "
                         "2026-11-21T12:00:00Z",
                         args->source_timestamp);
    else if (args->source_uri != NULL && args->operand_count > 1)
        code = cli_usage("--source-uri requires a single input");
    else if (args->operand_count > 1 && !args->each && args->output == NULL)
        code = cli_usage("several inputs need -o OUT, or --each");
    if (code == CLI_OK && !args->each)
        code = cli_profile_output(args, &format);
    if (code == CLI_OK && !args->each && format != NULL)
        code = cli_usage("%s: pack writes pcol files; pcol %s writes %s", args->output,
                         args->operand_count > 1 ? "merge" : "unpack", format->name);
    if (code == CLI_OK)
        code = cli_tolerance(args);
    if (code == CLI_OK)
        code = split_meta(args, &copies);
    if (code == CLI_OK && args->each)
        code = pack_each(args);
    else if (code == CLI_OK && (args->output != NULL || is_stream(args->operands[0])))
        code = pack(args, args->operands, args->operand_count, args->output, NULL);
    else if (code == CLI_OK)
        code = pack_one(args, args->operands[0], NULL);
    free(copies);
    return code;
}

/* Merge inputs into one file: pack with other options. */
int cmd_merge(struct cli_args *args)
{
    char *copies = NULL;
    const pcol_format *format = NULL;
    int code = args->output == NULL ? cli_usage("missing output: -o OUT; - is stdout")
                                    : cli_profile_output(args, &format);

    if (code == CLI_OK)
        code = cli_tolerance(args);
    if (code == CLI_OK && args->sums.count > 0 && (args->meta.count > 0 || args->collapse_idle))
        code = cli_usage("--sums adds up what the inputs have: %s is for pack",
                         args->meta.count > 0 ? "--meta" : "--collapse-idle");
    if (code == CLI_OK)
        code = split_meta(args, &copies);
    if (code == CLI_OK)
        code = pack(args, args->operands, args->operand_count, args->output, format);
    free(copies);
    return code;
}
