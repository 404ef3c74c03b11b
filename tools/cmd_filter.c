/*
 * cmd_filter.c - filter: write the selected samples to a new file, optionally anonymized
 */
#include "cmd.h"

#include "cli_losses.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_filter_options[] = {
    CLI_OPTIONS_SELECTION,
    CLI_OPTION_DEMANGLE_PATTERNS,
    CLI_MAYBE_OPTION(0, "drop-labels", "KEY,...", drop_labels, NULL,
                     "remove all labels of samples, or those with these keys; repeatable"),
    CLI_FLAG_OPTION(0, "anonymize", anonymize,
                    "replace names by f1, file1.R, ...; remove other data that may contain names"),
    CLI_TEXT_OPTION(0, "map", "FILE", map,
                    "with --anonymize: write the names and their pseudonyms to a private file"),
    CLI_FLAG_OPTION(0, "collapse-idle", collapse_idle, "join samples of an idle thread (see pack)"),
    CLI_OPTION_TOLERANCE,
    CLI_FLAG_OPTION(0, "expand-idle", expand_idle, "restore the joined samples, evenly spaced"),
    CLI_OPTION_PLAIN,
    CLI_OPTION_ARCHIVE,
    CLI_OPTION_FAIL_ON_LOSS,
    CLI_OPTIONS_OUTPUT,
    CLI_OPTIONS_IMPORT_LIST,
    CLI_OPTION_END,
};

static void add_pseudonym(void *context, const char *kind, pcol_str pseudonym, pcol_str name)
{
    struct cli_cell cells[] = {cli_cell_text(kind), cli_cell_str(pseudonym), cli_cell_str(name)};

    cli_table_row(context, cells);
}

/* Join the keys of all --drop-labels=KEY,KEY into one list that ends in NULL; their text follows
 * it in the same allocation. */
static const char **split_keys(const struct cli_list *list, pcol_filter_options *options)
{
    size_t count = 0, size = 0;

    for (size_t i = 0; i < list->count; i++)
        for (const char *at = list->items[i]; at != NULL; at = strchr(at, ','), at += at != NULL) {
            count++;
            size += strcspn(at, ",") + 1;
        }
    const char **keys = malloc((count + 1) * sizeof *keys + size);
    char *text = (char *)(keys + count + 1);
    if (keys == NULL)
        return NULL;
    count = 0;
    for (size_t i = 0; i < list->count; i++) {
        options->drop_labels |= list->items[i] == NULL;
        for (const char *at = list->items[i]; at != NULL; at = strchr(at, ','), at += at != NULL) {
            size_t length = strcspn(at, ",");
            keys[count++] = memcpy(text, at, length);
            text[length] = '\0';
            text += length + 1;
        }
    }
    keys[count] = NULL;
    options->drop_label_keys = keys;
    options->drop_label_key_count = count;
    return keys;
}

static int add_part(const struct cli_input *input, const struct cli_args *args,
                    struct cli_table *map, pcol_builder *builder)
{
    struct cli_notices notices = {args, input->name, NULL, 0};
    pcol_control control = cli_control(&notices);
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    const char **keys = split_keys(&args->drop_labels, &options);

    if (keys == NULL)
        return cli_fail_memory();
    options.anonymize = args->anonymize;
    options.pseudonym = map != NULL ? add_pseudonym : NULL;
    options.pseudonym_context = map;
    options.control = &control;
    int code = cli_filter(input, args, &options, builder);
    free((void *)keys);
    if (code == CLI_OK && notices.lost && args->fail_on_loss)
        return cli_fail(CLI_REFUSED,
                        "%s: the output cannot contain everything; nothing was written",
                        input->name);
    return code;
}

/* Open the output and, if requested, the map before any work. */
static int write_part(const struct cli_input *input, const struct cli_args *args,
                      const pcol_format *format, struct cli_out *out, struct cli_out *map)
{
    static const struct cli_table_column columns[] = {{"kind", 0}, {"pseudonym", 0}, {"name", 0}};
    struct cli_table *pseudonyms = NULL;
    pcol_builder *builder = NULL;
    int code = cli_builder_new(args, &builder);

    if (code == CLI_OK && args->map != NULL)
        code = cli_table_begin(&pseudonyms, map, args, columns, 3);
    if (code == CLI_OK)
        code = add_part(input, args, pseudonyms, builder);
    if (pseudonyms != NULL)
        code = cli_table_end(pseudonyms, code);
    if (code == CLI_OK)
        code = cli_write_profile(builder, format, args, out);
    pcol_builder_free(builder);
    return code;
}

static int open_and_write(const struct cli_input *input, const struct cli_args *args,
                          const pcol_format *format)
{
    static struct cli_out out, map;
    int code = cli_out_open_path(&out, args, args->output, CLI_OUT_BINARY);

    if (code != CLI_OK)
        return code;
    if (args->map != NULL)
        code = cli_out_open_path(&map, args, args->map, CLI_OUT_PRIVATE);
    int has_map = args->map != NULL && code == CLI_OK;
    if (has_map && cli_outs_equal(&out, &map))
        code = cli_usage("-o and --map name the same file");
    if (code == CLI_OK)
        code = write_part(input, args, format, &out, &map);
    if (has_map) { /* a map replaces that of a file only with the file */
        code = cli_out_complete(&out, code);
        code = cli_out_complete(&map, code);
    }
    code = cli_out_finish(&out, code);
    return has_map ? cli_out_finish(&map, code) : code;
}

int cmd_filter(struct cli_args *args)
{
    struct cli_input input;
    const pcol_format *format;
    int code;

    if (args->output == NULL)
        return cli_usage("missing output: -o OUT; - is stdout");
    if (args->map != NULL && !args->anonymize)
        return cli_usage("--map requires --anonymize");
    if (args->map != NULL && strcmp(args->map, args->output) == 0)
        return cli_usage("-o and --map name the same file");
    code = cli_profile_output(args, &format);
    if (code == CLI_OK)
        code = cli_tolerance(args);
    if (code != CLI_OK)
        return code;
    if (args->collapse_idle && args->expand_idle)
        return cli_usage("--collapse-idle and --expand-idle exclude each other");
    code = cli_reject_input(args->output, args->operands, args->operand_count);
    if (code == CLI_OK && args->map != NULL)
        code = cli_reject_input(args->map, args->operands, args->operand_count);
    if (code != CLI_OK)
        return code;
    /* Samples are joined once, while they are copied. */
    struct cli_args reading = *args;
    reading.collapse_idle = 0;
    code = cli_input_open_all(&input, &reading);
    if (code != CLI_OK)
        return code;
    code = open_and_write(&input, args, format);
    cli_input_close(&input);
    return code;
}
