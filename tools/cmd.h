/*
 * cmd.h - the table of commands
 *
 * The table in cmd.c is the only list of commands. Dispatch, `pcol help`, --help, completion
 * scripts and suggestions use it. A command has a row there, a table of options and a run function
 * in its own file.
 */
#ifndef PCOL_TOOLS_CMD_H
#define PCOL_TOOLS_CMD_H

#include "cli.h"

struct cmd {
    const char *group; /* heading in the help */
    const char *name;
    const char *alias;                /* second name, or NULL */
    const char *args;                 /* synopsis after the name */
    const char *summary;              /* one line, lower case, no full stop */
    const struct cli_option *options; /* ends with a row without a name */
    const char *details;              /* paragraphs below the options; NULL: none */
    size_t min_operands, max_operands;
    int (*run)(struct cli_args *args); /* returns the exit code */
};

#define CMD_ANY SIZE_MAX

extern const struct cmd cmd_table[];
extern const size_t cmd_count;

/* The command of that name or alias, NULL if there is none. */
const struct cmd *cmd_find(const char *name);
/* Usage error "no command NAME", with the nearest name. */
int cmd_unknown(const char *name);
/* Usage error for an empty command line, with the most common commands. */
int cmd_no_command(void);
/* Help for one command, or for all of them (NULL), on stdout. */
int cmd_print_help(const struct cmd *cmd);

extern const struct cli_option cmd_pack_options[], cmd_merge_options[], cmd_unpack_options[],
    cmd_cat_options[], cmd_head_options[], cmd_count_options[], cmd_info_options[],
    cmd_schema_options[], cmd_check_options[], cmd_filter_options[], cmd_top_options[],
    cmd_tree_options[], cmd_peek_options[], cmd_labels_options[], cmd_traces_options[],
    cmd_list_options[], cmd_symbolize_options[], cmd_diff_options[], cmd_flame_options[],
    cmd_report_options[], cmd_view_options[], cmd_perun_options[], cmd_formats_options[],
    cmd_completion_options[], cmd_help_options[];

int cmd_pack(struct cli_args *args);
int cmd_unpack(struct cli_args *args);
int cmd_cat(struct cli_args *args);
int cmd_head(struct cli_args *args);
int cmd_tail(struct cli_args *args);
int cmd_count_rows(struct cli_args *args);
int cmd_info(struct cli_args *args);
int cmd_schema(struct cli_args *args);
int cmd_check(struct cli_args *args);
int cmd_filter(struct cli_args *args);
int cmd_merge(struct cli_args *args);
int cmd_top(struct cli_args *args);
int cmd_tree(struct cli_args *args);
int cmd_diff(struct cli_args *args);
int cmd_flame(struct cli_args *args);
int cmd_report(struct cli_args *args);
int cmd_view(struct cli_args *args);
int cmd_perun(struct cli_args *args);
/* Query number `index` of the command query, NULL past the last. */
const char *cmd_perun_question(size_t index);
int cmd_peek(struct cli_args *args);
int cmd_labels(struct cli_args *args);
int cmd_traces(struct cli_args *args);
int cmd_list(struct cli_args *args);
int cmd_symbolize(struct cli_args *args);
int cmd_formats(struct cli_args *args);
int cmd_completion(struct cli_args *args);
int cmd_help(struct cli_args *args);

#endif
