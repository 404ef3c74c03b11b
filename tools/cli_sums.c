/*
 * cli_sums.c - merge --sums: one sample for each call stack and values of the keys
 *
 * Inputs are opened one after the other, so the number of descriptors does not depend on theirs.
 * Tests: tests/cli/merge.test, suite sums.
 */
#include "cli.h"
#include "cli_losses.h"

#include <stdlib.h>
#include <string.h>

/* Keys of all --sums=KEY,KEY; the caller frees both. */
static int split_keys(const struct cli_args *args, char **text, const char ***keys, size_t *count)
{
    size_t size = 1, most = 1;

    for (size_t i = 0; i < args->sums.count; i++)
        size += args->sums.items[i] != NULL ? strlen(args->sums.items[i]) + 1 : 0;
    most += size;
    *count = 0;
    *text = malloc(size);
    *keys = malloc(most * sizeof **keys);
    if (*text == NULL || *keys == NULL)
        return cli_fail_memory();
    char *at = *text;
    for (size_t i = 0; i < args->sums.count; i++) {
        if (args->sums.items[i] == NULL)
            continue;
        const char *item = args->sums.items[i];
        for (;; item++) {
            size_t length = strcspn(item, ",");
            if (length == 0)
                return cli_usage("--sums: '%s' has an empty key", args->sums.items[i]);
            (*keys)[(*count)++] = at;
            memcpy(at, item, length);
            at[length] = '\0';
            at += length + 1;
            item += length;
            if (*item == '\0')
                break;
        }
    }
    return CLI_OK;
}

static int add(pcol_sums *sums, const char *path, const struct cli_args *args)
{
    struct cli_notices notices = {args, path, NULL, 0};
    pcol_control control = cli_control(&notices);
    struct cli_input input;
    pcol_error err;
    int code = cli_input_open(&input, path, args);

    if (code != CLI_OK)
        return code;
    if (pcol_sums_add(sums, input.file, &control, &err) != PCOL_OK)
        code = cli_fail_error(path, &err);
    cli_input_close(&input);
    return code;
}

static int finish(pcol_sums *sums, const struct cli_args *args, const char *output,
                  pcol_builder **builder)
{
    struct losses losses = {0};
    struct cli_notices notices = {args, output, &losses, 0};
    pcol_control control = cli_control(&notices);
    pcol_error err;
    int code = CLI_OK;

    if (pcol_sums_finish(sums, &control, builder, &err) != PCOL_OK)
        code = cli_fail_error(output, &err);
    if (code == CLI_OK)
        losses_warn(&losses, args, output);
    if (code == CLI_OK && args->fail_on_loss && losses.count > 0)
        code = cli_fail(CLI_REFUSED, "%s: sums cannot represent everything; nothing was written",
                        output);
    losses_clear(&losses);
    return code;
}

int cli_sums(const struct cli_args *args, const char *const *inputs, size_t count,
             const char *output, pcol_builder **builder)
{
    pcol_sums_options options = PCOL_INIT(pcol_sums_options);
    pcol_builder_options built;
    pcol_sums *sums = NULL;
    pcol_error err;
    char *text = NULL;
    const char **keys = NULL;
    int code = split_keys(args, &text, &keys, &options.key_count);

    built = cli_builder_options(args);
    options.keys = keys;
    options.builder = &built;
    options.flags = (args->trusted ? PCOL_SUMS_TRUSTED : 0) | (args->rebase ? PCOL_SUMS_REBASE : 0);
    if (code == CLI_OK && pcol_sums_new(&options, &sums, &err) != PCOL_OK)
        code = cli_usage("--sums: %s", err.message);
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = add(sums, inputs[i], args);
    if (code == CLI_OK)
        code = finish(sums, args, output, builder);
    pcol_sums_free(sums);
    free(text);
    free((void *)keys);
    return code;
}
