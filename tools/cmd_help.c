/*
 * cmd_help.c - `pcol help` and --help, generated from the table of commands
 */
#include "cmd.h"

#include <string.h>

const struct cli_option cmd_help_options[] = {CLI_OPTION_END};

/* ---- options ---- */

/* "  -o, --output OUT      write to OUT" */
static void print_option(struct cli_out *out, const struct cli_option *option)
{
    char name[64];
    char letter[8] = "    ";

    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int is_optional = option->kind == CLI_MAYBE;
    int size = snprintf(name, sizeof name, "  %s--%s%s%s%s", letter, option->name,
                        is_optional                ? "[="
                        : option->argument != NULL ? " "
                                                   : "",
                        option->argument != NULL ? option->argument : "", is_optional ? "]" : "");
    cli_out_text(out, name);
    if (size >= 26) {
        cli_out_text(out, "\n");
        size = 0;
    }
    cli_out_printf(out, "%*s", 28 - size, "");
    cli_out_words(out, option->summary, strlen(option->summary), 28);
}

/* Options that many commands share, printed after the command's own. */
static const struct group {
    const char *heading;
    const char *const *names;
} groups[] = {
    {"Selection",
     (const char *const[]){"sample-type", "focus", "ignore", "hide", "show", "thread", "label",
                           "time", "time-share", "source", "source-meta", "keep-dropped", NULL}},
    {"Input", (const char *const[]){"from", "files-from", "max-input", "trusted", "threads",
                                    "strict", "lenient", NULL}},
    {"Output", (const char *const[]){"format", "no-header", "null", "csv-safe", "output", "force",
                                     "no-sync", NULL}},
};
#define GROUPS (sizeof groups / sizeof *groups)

/* The group of an option; GROUPS: the command's own, such as --strict of `check`. */
static size_t group_of(const struct cmd *cmd, const struct cli_option *option)
{
    for (size_t i = 0; i < GROUPS; i++)
        for (const char *const *name = groups[i].names; *name != NULL; name++)
            if (strcmp(*name, option->name) == 0 && option->target != CLI_AT(depth))
                return i == 0 && cmd->run == cmd_info ? GROUPS : i;
    return GROUPS;
}

static int print_group(struct cli_out *out, const struct cmd *cmd, size_t group,
                       const char *heading)
{
    int printed = 0;

    for (const struct cli_option *o = cmd->options; o->name != NULL; o++) {
        if (group_of(cmd, o) != group)
            continue;
        if (printed++ == 0)
            cli_out_printf(out, "\n%s:\n", heading);
        print_option(out, o);
    }
    return printed;
}

/* ---- texts ---- */

/* Fill paragraphs; print empty lines and lines that begin with a blank unchanged. */
static void print_details(struct cli_out *out, const char *text)
{
    char paragraph[4096];
    size_t used = 0;

    while (*text != '\0' || used > 0) {
        size_t size = strcspn(text, "\n");
        int plain = size > 0 && *text != ' ' && used + size + 2 < sizeof paragraph;
        if (plain) {
            if (used > 0)
                paragraph[used++] = ' ';
            memcpy(paragraph + used, text, size);
            used += size;
        } else if (used > 0) {
            cli_out_words(out, paragraph, used, 0);
            used = 0;
            continue;
        } else {
            cli_out_write(out, text, size);
            cli_out_text(out, "\n");
        }
        text += size;
        text += *text == '\n';
    }
}

static void print_common(struct cli_out *out, const char *heading)
{
    cli_out_printf(out, "\n%s:\n", heading);
    for (const struct cli_option *o = cli_common_options; o->name != NULL; o++)
        print_option(out, o);
}

static void print_command(struct cli_out *out, const struct cmd *cmd)
{
    cli_out_printf(out, "usage: pcol %s [options]%s%s\n\n", cmd->name,
                   *cmd->args != '\0' ? " " : "", cmd->args);
    cli_out_printf(out, "%c%s", cmd->summary[0] - 'a' + 'A', cmd->summary + 1);
    if (cmd->alias != NULL)
        cli_out_printf(out, " (also called %s)", cmd->alias);
    cli_out_text(out, ".\n");
    print_group(out, cmd, GROUPS, "Options");
    for (size_t i = 0; i < GROUPS; i++)
        print_group(out, cmd, i, groups[i].heading);
    print_common(out, "Everywhere");
    if (cmd->details != NULL) {
        cli_out_text(out, "\n");
        print_details(out, cmd->details);
    }
}

static void print_all(struct cli_out *out)
{
    const char *group = "";

    cli_out_text(out,
                 "usage: pcol COMMAND [options] FILE...\n\n"
                 "Convert, inspect and query performance profiles stored as columns.\n"
                 "Every command that reads a .pcol also imports any profile that pack reads.\n");
    for (size_t i = 0; i < cmd_count; i++) {
        if (strcmp(group, cmd_table[i].group) != 0) {
            group = cmd_table[i].group;
            cli_out_printf(out, "\n%s:\n", group);
        }
        cli_out_printf(out, "  %-12s%s\n", cmd_table[i].name, cmd_table[i].summary);
    }
    print_common(out, "Everywhere");
    cli_out_text(
        out, "\nExit codes: 0 success; 1 the check or comparison failed, or nothing has this\n"
             "name; 2 usage; 3 malformed or unsupported input; 4 I/O or memory; 5 not written:\n"
             "exists, would lose data.\n"
             "\n`pcol help COMMAND` describes a command and its options.\n");
}

/* ---- the command ---- */

int cmd_print_help(const struct cmd *cmd)
{
    static struct cli_out out;
    struct cli_args args = {0};
    int code = cli_out_open_path(&out, &args, NULL, 0);

    if (code != CLI_OK)
        return code;
    cli_out_fold(&out);
    if (cmd != NULL)
        print_command(&out, cmd);
    else
        print_all(&out);
    return cli_out_finish(&out, CLI_OK);
}

int cmd_help(struct cli_args *args)
{
    if (args->operand_count == 0)
        return cmd_print_help(NULL);
    const struct cmd *cmd = cmd_find(args->operands[0]);
    return cmd != NULL ? cmd_print_help(cmd) : cmd_unknown(args->operands[0]);
}
