/*
 * cli_added_frames.c - --root and --leaf: an input whose stacks have further frames
 *
 * The input is replaced by a copy in memory, so that every command and format shows the frames.
 * Tests: tests/cli/roots.test.
 */
#include "cli.h"
#include "cli_losses.h"

#include <stdlib.h>
#include <string.h>

static int check(const char *option, const char *text)
{
    static const char *const words[] = {"thread", "process", "source", "mapping", "label:KEY"};
    char hint[96];
    struct cli_suggest suggest;

    if (strncmp(text, "label:", 6) == 0)
        return CLI_OK;
    cli_suggest_start(&suggest, text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (i < 4 && strcmp(text, words[i]) == 0)
            return CLI_OK;
        cli_suggest_offer(&suggest, words[i], strlen(words[i]));
    }
    return cli_usage("%s: '%s' is none of thread, process, source, mapping, label:KEY%s", option,
                     text, cli_suggest_text(&suggest, hint, sizeof hint));
}

/* Split the items of all lists at commas. *items and the text at its end are one allocation. */
static int split(const char *option, const struct cli_list *list, const char ***items,
                 size_t *count)
{
    size_t most = 1, size = 0, used = 0;

    *count = 0;
    for (size_t i = 0; i < list->count; i++)
        for (const char *at = list->items[i]; *at != '\0'; at++)
            most += *at == ',';
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->items[i]) + 1;
    most += list->count;
    *items = malloc(most * sizeof **items + size);
    if (*items == NULL)
        return cli_fail_memory();
    char *text = (char *)(*items + most);
    for (size_t i = 0; i < list->count; i++) {
        for (const char *at = list->items[i]; at != NULL;) {
            size_t length = strcspn(at, ",");
            memcpy(text + used, at, length);
            text[used + length] = '\0';
            (*items)[(*count)++] = text + used;
            int code = check(option, text + used);
            if (code != CLI_OK)
                return code;
            used += length + 1;
            at = at[length] == ',' ? at + length + 1 : NULL;
        }
    }
    return CLI_OK;
}

int cli_added_frames_open(struct cli_added_frames *frames, const struct cli_args *args)
{
    *frames = (struct cli_added_frames){NULL, NULL, 0, 0};
    int code = split("--root", &args->roots, &frames->roots, &frames->root_count);
    return code == CLI_OK ? split("--leaf", &args->leaves, &frames->leaves, &frames->leaf_count)
                          : code;
}

void cli_added_frames_close(struct cli_added_frames *frames)
{
    free((void *)frames->roots);
    free((void *)frames->leaves);
}

int cli_add_frames(struct cli_input *input, const struct cli_added_frames *frames,
                   const struct cli_args *args)
{
    struct cli_input copy = *input;
    pcol_builder *builder = NULL;
    pcol_error err;
    struct losses losses = {0};
    struct cli_notices notices = {args, input->name, &losses, 0};
    pcol_control control = cli_control(&notices);
    pcol_add_frames_options options = PCOL_INIT(pcol_add_frames_options);
    int code;

    if (frames->root_count + frames->leaf_count == 0)
        return CLI_OK;
    options.roots = frames->roots;
    options.root_count = frames->root_count;
    options.leaves = frames->leaves;
    options.leaf_count = frames->leaf_count;
    options.keep_dropped = args->keep_dropped;
    options.control = &control;
    copy.file = NULL;
    code = cli_builder_new(args, &builder);
    if (code == CLI_OK && pcol_add_frames(builder, input->file, &options, &err) != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    if (losses.stored > 0)
        snprintf(copy.loss, sizeof copy.loss, "%s", losses.items[0].text);
    losses_clear(&losses);
    if (code == CLI_OK &&
        pcol_builder_file(builder, PCOL_WRITE_QUICK, NULL, &copy.file, &err) != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    pcol_builder_free(builder);
    cli_input_close(input);
    *input = copy;
    return code;
}
