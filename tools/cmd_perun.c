/*
 * cmd_perun.c - perun: Perun's queries on its profiles
 */
#include "cmd.h"

#include <string.h>

const struct cli_option cmd_perun_options[] = {
    CLI_TEXT_OPTION(0, "path", "KEYS", path,
                    "values: keys separated by colons: uid:function, trace::line"),
    CLI_FLAG_OPTION(0, "unique", unique, "values: distinct values, in order of first appearance"),
    CLI_FLAG_OPTION(0, "models", models, "values: read models instead of resources"),
    CLI_FLAG_OPTION(0, "numeric", numeric, "fields: only fields whose values are all numbers"),
    CLI_TEXT_CHOICE(0, "group", "GROUP", group, "model|param|nonparam",
                    "models: model (all), param or nonparam"),
    CLI_TEXT_CHOICE(0, "filter", "FILTER", filter,
                    "best-model|best-param|best-nonparam|all-param|all-nonparam",
                    "models: best-model, best-param, best-nonparam (the best of each uid), "
                    "all-param, all-nonparam"),
    CLI_FLAG_OPTION(0, "flat", flat, "models: flat keys such as coeffs:b0"),
    CLI_COUNT_OPTION(0, "row", "N", row, "items, plot: only resource or model N, counted from 0"),
    CLI_TEXT_OPTION('c', "columns", "A,B", columns,
                    "columns to print, in this order (default: all)"),
    CLI_LIST_OPTION(0, "where", "CONDITION", where,
                    "only rows for which COLUMN OP VALUE holds; repeatable"),
    CLI_COUNT_OPTION('n', "rows", "N", rows, "at most N rows; 0: all (default)"),
    CLI_COUNT_OPTION(0, "offset", "N", offset, "skip N rows first"),
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

static const struct sub {
    const char *name;
    pcol_question question;
} subs[] = {
    {"items", PCOL_ASK_ITEMS}, {"fields", PCOL_ASK_FIELDS},       {"values", PCOL_ASK_VALUES},
    {"flame", PCOL_ASK_FLAME}, {"snapshots", PCOL_ASK_SNAPSHOTS}, {"models", PCOL_ASK_MODELS},
    {"plot", PCOL_ASK_PLOT},
};

#define SUB_COUNT (sizeof subs / sizeof *subs)

static int fail_sub(const char *name)
{
    struct cli_suggest suggest;
    char hint[96];

    cli_suggest_start(&suggest, name);
    for (size_t i = 0; i < SUB_COUNT; i++)
        cli_suggest_offer(&suggest, subs[i].name, strlen(subs[i].name));
    return cli_usage("no query '%s'%s (items, fields, values, flame, snapshots, models, plot)",
                     name, cli_suggest_text(&suggest, hint, sizeof hint));
}

/* Options that do not apply to a query are usage errors. */
static int check(const struct cli_args *args, pcol_question question)
{
    if ((args->path != NULL || args->unique || args->models) && question != PCOL_ASK_VALUES)
        return cli_usage("--path, --unique and --models apply to the query values");
    if (question == PCOL_ASK_VALUES && args->path == NULL)
        return cli_usage("values needs --path");
    if (args->numeric && question != PCOL_ASK_FIELDS)
        return cli_usage("--numeric applies to the query fields");
    if ((args->group != NULL || args->filter != NULL || args->flat) && question != PCOL_ASK_MODELS)
        return cli_usage("--group, --filter and --flat apply to the query models");
    if (args->filter != NULL && (args->group != NULL || args->flat))
        return cli_usage("--filter excludes --group and --flat");
    if (args->row != CLI_UNSET && question != PCOL_ASK_ITEMS && question != PCOL_ASK_PLOT)
        return cli_usage("--row applies to the queries items and plot");
    return CLI_OK;
}

const char *cmd_perun_question(size_t index)
{
    return index < SUB_COUNT ? subs[index].name : NULL;
}

int cmd_perun(struct cli_args *args)
{
    struct cli_input input;
    size_t i = 0;

    while (i < SUB_COUNT && strcmp(args->operands[0], subs[i].name) != 0)
        i++;
    if (i == SUB_COUNT)
        return fail_sub(args->operands[0]);
    pcol_question question = subs[i].question;
    int code = check(args, question);
    if (question == PCOL_ASK_MODELS && args->filter != NULL)
        question = PCOL_ASK_BEST_MODELS;
    else if (question == PCOL_ASK_MODELS && args->group == NULL)
        args->group = "model";
    if (code == CLI_OK)
        code = cli_input_open(&input, args->operands[1], args);
    if (code != CLI_OK)
        return code;
    code = cli_answers_print(&input, args, question, 0);
    cli_input_close(&input);
    return code;
}
