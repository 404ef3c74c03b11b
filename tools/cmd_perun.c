/*
 * cmd_perun.c - perun: Perun's queries on its profiles
 */
#include "cmd.h"

#include <string.h>

const struct cli_option cmd_perun_options[] = {
    {0, "path", "PATH", "values: keys separated by colons: uid:function, trace::line", CLI_TEXT,
     CLI_AT(path), 0, NULL},
    {0, "unique", NULL, "values: distinct values, in order of first appearance", CLI_FLAG,
     CLI_AT(unique), 1, NULL},
    {0, "models", NULL, "values: read models instead of resources", CLI_FLAG, CLI_AT(models), 1,
     NULL},
    {0, "numeric", NULL, "fields: only fields whose values are all numbers", CLI_FLAG,
     CLI_AT(numeric), 1, NULL},
    {0, "group", "GROUP", "models: model (all), param or nonparam", CLI_TEXT, CLI_AT(group), 0,
     "model|param|nonparam"},
    {0, "filter", "FILTER",
     "models: best-model, best-param, best-nonparam (the best of each uid), all-param, "
     "all-nonparam",
     CLI_TEXT, CLI_AT(filter), 0, "best-model|best-param|best-nonparam|all-param|all-nonparam"},
    {0, "flat", NULL, "models: flat keys such as coeffs:b0", CLI_FLAG, CLI_AT(flat), 1, NULL},
    {0, "row", "N", "items, plot: only resource or model N, counted from 0", CLI_COUNT, CLI_AT(row),
     0, NULL},
    {'c', "columns", "A,B", "columns to print, in this order (default: all)", CLI_TEXT,
     CLI_AT(columns), 0, NULL},
    {0, "where", "CONDITION", "only rows for which COLUMN OP VALUE holds; repeatable", CLI_LIST,
     CLI_AT(where), 0, NULL},
    {'n', "rows", "N", "at most N rows; 0: all (default)", CLI_COUNT, CLI_AT(rows), 0, NULL},
    {0, "offset", "N", "skip N rows first", CLI_COUNT, CLI_AT(offset), 0, NULL},
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
