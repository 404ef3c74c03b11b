/*
 * cmd_completion.c - scripts for bash, zsh and fish from the table of commands
 *
 * The scripts complete commands, options, choices, and names of files where a file is expected.
 * Tests: tests/cli/completion.
 */
#include "cmd.h"

#include <string.h>

const struct cli_option cmd_completion_options[] = {CLI_OPTIONS_OUTPUT, CLI_OPTION_END};

/* Words separated by blanks; `each` adds " -o --output" and so on for every option of a table. */
static void put_options(struct cli_out *out, const struct cli_option *options)
{
    for (const struct cli_option *o = options; o->name != NULL; o++) {
        if (o->letter != 0)
            cli_out_printf(out, " -%c", o->letter);
        cli_out_printf(out, " --%s", o->name);
    }
}

static void put_choices(struct cli_out *out, const struct cli_option *option)
{
    const char *choice;
    size_t size;

    for (size_t i = 0; (choice = cli_choice(option, i, &size)) != NULL; i++) {
        cli_out_text(out, i > 0 ? " " : "");
        cli_out_write(out, choice, size);
    }
}

/* The choices as an action of _arguments of zsh. No blank follows one that ends with a colon, which
 * elsewhere separates the fields of an argument. */
static void zsh_choices(struct cli_out *out, const struct cli_option *option)
{
    const char *choice;
    size_t size;

    cli_out_text(out, "{compadd \"$expl[@]\" --");
    for (size_t i = 0; (choice = cli_choice(option, i, &size)) != NULL; i++)
        if (choice[size - 1] != ':') {
            cli_out_text(out, " ");
            cli_out_write(out, choice, size);
        }
    for (size_t i = 0; (choice = cli_choice(option, i, &size)) != NULL; i++)
        if (choice[size - 1] == ':') {
            cli_out_text(out, "; compadd -S \"\" \"$expl[@]\" -- ");
            cli_out_write(out, choice, size - 1);
            cli_out_text(out, "\\:");
        }
    cli_out_text(out, "}");
}

/* Whether the value of an option is a name of a file, a directory or a program. */
static int is_file(const struct cli_option *option)
{
    static const char *const files[] = {"OUT",    "FILE", "BASE", "LIST",
                                        "HASHES", "PATH", "DIR",  "PROGRAM"};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(option->argument, files[i]) == 0)
            return 1;
    return 0;
}

static void put_names(struct cli_out *out)
{
    for (size_t i = 0; i < cmd_count; i++) {
        cli_out_printf(out, "%s%s", i > 0 ? " " : "", cmd_table[i].name);
        if (cmd_table[i].alias != NULL)
            cli_out_printf(out, " %s", cmd_table[i].alias);
    }
}

static void put_questions(struct cli_out *out)
{
    const char *name;

    for (size_t i = 0; (name = cmd_perun_question(i)) != NULL; i++)
        cli_out_printf(out, "%s%s", i > 0 ? " " : "", name);
}

static void put_shells(struct cli_out *out)
{
    cli_out_text(out, "bash zsh fish");
}

/* "cat" or "check|validate" */
static void put_pattern(struct cli_out *out, const struct cmd *cmd)
{
    cli_out_printf(out, "%s", cmd->name);
    if (cmd->alias != NULL)
        cli_out_printf(out, "|%s", cmd->alias);
}

static void bash_choices(struct cli_out *out, const struct cmd *cmd,
                         const struct cli_option *options)
{
    for (const struct cli_option *o = options; o->name != NULL; o++) {
        if (o->choices == NULL)
            continue;
        cli_out_text(out, "        ");
        if (cmd != NULL)
            put_pattern(out, cmd);
        else
            cli_out_text(out, "*");
        cli_out_printf(out, ":--%s", o->name);
        if (o->letter != 0)
            cli_out_printf(out, "|%s:-%c", cmd != NULL ? cmd->name : "*", o->letter);
        /* An optional value comes after = only. */
        cli_out_text(out, o->kind == CLI_MAYBE ? ") [ -z \"$equal\" ] || words='" : ") words='");
        put_choices(out, o);
        cli_out_text(out, "' ;;\n");
    }
}

/* ":--focus|COMMAND:-o ...": the options of a table whose value may be the next word. */
static int bash_valued(struct cli_out *out, const char *command, const struct cli_option *options,
                       int count)
{
    for (const struct cli_option *o = options; o->name != NULL; o++) {
        if (o->argument == NULL || o->kind == CLI_MAYBE)
            continue;
        cli_out_printf(out, "%s%s:--%s", count++ > 0 ? "|" : "            ", command, o->name);
        if (o->letter != 0)
            cli_out_printf(out, "|%s:-%c", command, o->letter);
    }
    return count;
}

/* The word that the typed one begins, without an open quote, and the option whose value it is. */
static void bash_state(struct cli_out *out)
{
    cli_out_text(
        out, "_pcol() {\n"
             "    local current=${COMP_WORDS[COMP_CWORD]} command= count=0\n"
             "    local words= equal= colon= option= operands= quote= head= name prefix i\n"
             "    COMPREPLY=()\n"
             "    # An open quote is a part of the word, but readline completes what follows it.\n"
             "    case $current in\n"
             "        \\\"?*\\\"|\\'?*\\') ;;\n"
             "        [\\\"\\']*) quote=${current:0:1} current=${current:1} ;;\n"
             "    esac\n"
             "    # The command is the first word that is neither an option nor its value.\n"
             "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
             "        if [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
             "            [ -n \"$command\" ] || continue\n"
             "            operands=1\n"
             "            break\n"
             "        fi\n"
             "        colon= equal=\n"
             "        if [ \"${COMP_WORDS[i+1]}\" = = ]; then\n"
             "            option=${COMP_WORDS[i]} equal=1\n"
             "            ((++i))\n"
             "        else case $command:${COMP_WORDS[i]} in\n");
    for (size_t i = 0; i < cmd_count; i++) {
        int count = bash_valued(out, cmd_table[i].name, cmd_table[i].options, 0);
        if (cmd_table[i].alias != NULL)
            count = bash_valued(out, cmd_table[i].alias, cmd_table[i].options, count);
        cli_out_text(out, count > 0 ? ") option=${COMP_WORDS[i]} ;;\n" : "");
    }
    if (bash_valued(out, "*", cli_common_options, 0) > 0)
        cli_out_text(out, ") option=${COMP_WORDS[i]} ;;\n");
    cli_out_text(out, "            *:-?*) continue ;;\n"
                      "            :*) command=${COMP_WORDS[i]//[\\\"\\']/}; continue ;;\n"
                      "            *) ((++count)); continue ;;\n"
                      "        esac fi\n"
                      "        # The value, which bash splits at colons and equals signs.\n"
                      "        ((++i))\n"
                      "        while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i+1]} = [:=] ]]; do\n"
                      "            colon=1\n"
                      "            ((i += 2))\n"
                      "        done\n"
                      "        ((i >= COMP_CWORD)) || option= equal= colon=\n"
                      "    done\n"
                      "    if [ \"$equal$current\" = 1= ]; then\n"
                      "        current=\n"
                      "    elif [ -z \"$option$operands\" ]; then\n"
                      "        case $current in\n"
                      "            --*=*) equal=1 option=${current%%=*} head=$option="
                      " current=${current#*=} ;;\n"
                      "        esac\n"
                      "    fi\n");
}

static void bash_words(struct cli_out *out)
{
    cli_out_text(out, "    [ -n \"$command$option\" ] || words='");
    put_names(out);
    put_options(out, cli_common_options);
    cli_out_text(out, "'\n"
                      "    [ -n \"$words\" ] || case $command:$option in\n");
    for (size_t i = 0; i < cmd_count; i++) {
        if (cmd_table[i].alias != NULL) {
            struct cmd alias = cmd_table[i];
            alias.name = alias.alias;
            alias.alias = NULL;
            bash_choices(out, &alias, alias.options);
        }
        struct cmd own = cmd_table[i];
        own.alias = NULL;
        bash_choices(out, &own, own.options);
    }
    bash_choices(out, NULL, cli_common_options);
    cli_out_text(out, "    esac\n"
                      "    [ -n \"$words$option$operands\" ] || case $command:$current in\n");
    for (size_t i = 0; i < cmd_count; i++) {
        cli_out_printf(out, "        %s:-*", cmd_table[i].name);
        if (cmd_table[i].alias != NULL)
            cli_out_printf(out, "|%s:-*", cmd_table[i].alias);
        cli_out_text(out, ") words='");
        put_options(out, cmd_table[i].options);
        put_options(out, cli_common_options);
        cli_out_text(out, "' ;;\n");
    }
    cli_out_text(out, "        help:*) [ \"$count\" -gt 0 ] || words='");
    put_names(out);
    cli_out_text(out,
                 "' ;;\n        completion:*) [ \"$count\" -gt 0 ] || words='bash zsh fish' ;;\n"
                 "        perun:*) [ \"$count\" -gt 0 ] || words='");
    put_questions(out);
    cli_out_text(out, "' ;;\n"
                      "    esac\n");
}

static void bash_files(struct cli_out *out, const struct cmd *cmd)
{
    for (const struct cli_option *o = cmd->options; o->name != NULL; o++) {
        if (o->argument == NULL || !is_file(o))
            continue;
        cli_out_printf(out, "        %s:--%s", cmd->name, o->name);
        if (o->letter != 0)
            cli_out_printf(out, "|%s:-%c", cmd->name, o->letter);
        if (cmd->alias != NULL)
            cli_out_printf(out, "|%s:--%s", cmd->alias, o->name);
        if (cmd->alias != NULL && o->letter != 0)
            cli_out_printf(out, "|%s:-%c", cmd->alias, o->letter);
        cli_out_text(out, ") ;;\n");
    }
}

static void put_bash(struct cli_out *out)
{
    bash_state(out);
    bash_words(out);
    cli_out_text(out,
                 "    [ -z \"$colon\" ] || words=\n"
                 "    if [ -n \"$words\" ]; then\n"
                 "        compopt +o filenames +o default 2>/dev/null\n"
                 "        COMPREPLY=($(compgen -P \"$head\" -W \"$words\" -- \"$current\"))\n"
                 "        case ${COMPREPLY[0]} in *:) compopt -o nospace 2>/dev/null ;; esac\n"
                 "        return\n"
                 "    fi\n"
                 "    # Values that are no files; an operand with an equals sign looks like one.\n"
                 "    case $command:$option in\n"
                 "        *:|*:[!-]*) ;;\n");
    for (size_t i = 0; i < cmd_count; i++)
        bash_files(out, &cmd_table[i]);
    cli_out_text(
        out,
        "        *) compopt +o default 2>/dev/null; return ;;\n"
        "    esac\n"
        "    # bash itself completes a name in quotes.\n"
        "    [ -z \"$quote\" ] || [ -n \"$head\" ] || return\n"
        "    # File names, one a line. Of a name with a colon readline completes what follows it.\n"
        "    [ \"$current\" != : ] || current=\n"
        "    local rest strip= word=\"([^[:blank:]=\\\"'\\\\]|\\\\\\\\.)*\\$\"\n"
        "    prefix=${COMP_LINE:0:${COMP_POINT:-0}}\n"
        "    prefix=${prefix%\"$current\"}\n"
        "    case $head$prefix in\n"
        "        [!-]*[!\\\\]:)\n"
        "            [[ $prefix =~ $word ]] && prefix=${BASH_REMATCH[0]}\n"
        "            strip=${prefix//[!:]} strip=${strip//:/*:}\n"
        "            IFS= read prefix <<<\"$prefix$current\"\n"
        "            compopt +o default 2>/dev/null ;;\n"
        "        *) prefix=$current ;;\n"
        "    esac\n"
        "    # Parts of a name with a line feed are no files; bash itself completes it if it is "
        "the only one.\n"
        "    while IFS= read -r name; do\n"
        "        case $name in\n"
        "            '~'*|*[$\\`]*) ;;\n"
        "            *) [ -e \"$name\" ] || [ -L \"$name\" ] || continue ;;\n"
        "        esac\n"
        "        case $name in -*) name=./$name ;; esac\n"
        "        rest=${name#$strip}\n"
        "        # bash quotes no $ and ` in a word that is not the name of a file.\n"
        "        [ -z \"$strip$head\" ] || [ -n \"$quote\" ] ||\n"
        "            case ${rest#\"$current\"} in *[$\\`]*) continue ;; esac\n"
        "        COMPREPLY[${#COMPREPLY[@]}]=$head$rest\n"
        "    done < <(compgen -f -- \"$prefix\")\n"
        "}\n"
        "complete -o filenames -o default -F _pcol pcol\n");
}

/* Text inside single quotes of zsh, where [ ] : are special to _arguments. */
static void zsh_text(struct cli_out *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '[' || *text == ']' || *text == ':')
            cli_out_text(out, "\\");
        cli_out_text(out, *text == '\'' ? "'\\'" : "");
        cli_out_write(out, text, 1);
    }
}

static void zsh_options(struct cli_out *out, const struct cli_option *options)
{
    for (const struct cli_option *o = options; o->name != NULL; o++) {
        for (int part = o->letter != 0 ? 0 : 1; part < 2; part++) {
            int maybe = o->kind == CLI_MAYBE;
            const char *star = o->kind == CLI_LIST || maybe ? "*" : "";
            if (part == 0)
                cli_out_printf(out, "            '%s-%c[", star, o->letter);
            else
                cli_out_printf(out, "            '%s--%s%s[", star, o->name,
                               maybe                 ? "=-"
                               : o->argument != NULL ? "="
                                                     : "");
            zsh_text(out, o->summary);
            cli_out_text(out, "]");
            if (o->argument != NULL) {
                cli_out_printf(out, "%s%s:", maybe ? "::" : ":", o->argument);
                if (o->choices != NULL) {
                    zsh_choices(out, o);
                } else if (is_file(o)) {
                    cli_out_text(out, "_files");
                }
            }
            cli_out_text(out, "' \\\n");
        }
    }
}

static void put_zsh(struct cli_out *out)
{
    /* A file name that begins with a dash gets "./", otherwise it would be an option. */
    cli_out_text(out, "#compdef pcol\n"
                      "_pcol_files() {\n"
                      "    local -a dashed\n"
                      "    if [[ -z $PREFIX$SUFFIX ]]; then\n"
                      "        dashed=(./-*(N))\n"
                      "        (( $#dashed )) && compadd -f -- $dashed\n"
                      "        _path_files -F '(-*)'\n"
                      "    else\n"
                      "        _files\n"
                      "    fi\n"
                      "}\n"
                      "_pcol() {\n"
                      "    local curcontext=$curcontext context state state_descr line\n"
                      "    local -a commands\n"
                      "    local -A opt_args\n"
                      "    commands=(\n");
    for (size_t i = 0; i < cmd_count; i++) {
        cli_out_printf(out, "        '%s:", cmd_table[i].name);
        zsh_text(out, cmd_table[i].summary);
        cli_out_text(out, "'\n");
    }
    cli_out_text(out, "    )\n"
                      "    _arguments -C -s -S \\\n");
    zsh_options(out, cli_common_options);
    cli_out_text(out, "            '(-): :->command' '(-)*:: :->argument' && return\n"
                      "    if [[ $state = command ]]; then\n"
                      "        _describe command commands\n"
                      "        return\n"
                      "    fi\n"
                      "    [[ $state = argument ]] || return\n"
                      "    case ${(Q)words[1]} in\n");
    for (size_t i = 0; i < cmd_count; i++) {
        cli_out_text(out, "    ");
        put_pattern(out, &cmd_table[i]);
        cli_out_text(out, ")\n        _arguments -s \\\n");
        zsh_options(out, cmd_table[i].options);
        zsh_options(out, cli_common_options);
        if (cmd_table[i].run == cmd_help) {
            cli_out_text(out, "            '1:command:(");
            put_names(out);
            cli_out_text(out, ")' ;;\n");
        } else if (cmd_table[i].run == cmd_completion) {
            cli_out_text(out, "            '1:shell:(bash zsh fish)' ;;\n");
        } else if (cmd_table[i].run == cmd_perun) {
            cli_out_text(out, "            '1:question:(");
            put_questions(out);
            cli_out_text(out, ")' '*:file:_pcol_files' ;;\n");
        } else {
            cli_out_text(out, "            '*:file:_pcol_files' ;;\n");
        }
    }
    cli_out_text(out, "    esac\n"
                      "}\n"
                      "if [ \"$funcstack[1]\" = _pcol ]; then\n"
                      "    _pcol \"$@\"\n"
                      "else\n"
                      "    compdef _pcol pcol\n"
                      "fi\n");
}

/* Text inside single quotes of fish. */
static void fish_text(struct cli_out *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            cli_out_text(out, "\\");
        cli_out_write(out, text, 1);
    }
}

static void fish_options(struct cli_out *out, const struct cmd *cmd,
                         const struct cli_option *options)
{
    for (const struct cli_option *o = options; o->name != NULL; o++) {
        cli_out_text(out, "complete -c pcol");
        if (cmd != NULL)
            cli_out_printf(out, " -n '__pcol_is %s%s%s'", cmd->name, cmd->alias != NULL ? " " : "",
                           cmd->alias != NULL ? cmd->alias : "");
        if (o->letter != 0)
            cli_out_printf(out, " -s %c", o->letter);
        cli_out_printf(out, " -l %s", o->name);
        if (o->choices != NULL) {
            cli_out_text(out, o->kind == CLI_MAYBE ? " -f -a '" : " -x -a '");
            put_choices(out, o);
            cli_out_text(out, "'");
        } else if (o->argument != NULL && o->kind != CLI_MAYBE) {
            cli_out_text(out, is_file(o) ? " -r" : " -x");
        }
        cli_out_text(out, " -d '");
        fish_text(out, o->summary);
        cli_out_text(out, "'\n");
    }
}

/* A command that takes one of these words as an operand, once. */
static void fish_operands(struct cli_out *out, const char *command,
                          void (*put_words)(struct cli_out *out))
{
    cli_out_printf(out, "complete -c pcol -f -n '__pcol_before %s ", command);
    put_words(out);
    cli_out_text(out, "' -a '");
    put_words(out);
    cli_out_text(out, "'\n");
}

static void put_fish(struct cli_out *out)
{
    cli_out_text(out, "# The command, which is the first word that is neither an option nor its "
                      "value, and the words after it.\n"
                      "function __pcol_words\n"
                      "    set -l words (commandline -opc)\n"
                      "    set -e words[1]\n"
                      "    while set -q words[1]; and string match -q -- '-*' $words[1]\n"
                      "        switch $words[1]\n"
                      "            case --\n"
                      "                set -e words[1]\n"
                      "                break\n");
    for (const struct cli_option *o = cli_common_options; o->name != NULL; o++)
        if (o->argument != NULL && o->kind != CLI_MAYBE)
            cli_out_printf(out,
                           "            case --%s\n"
                           "                set -e words[1]\n",
                           o->name);
    /* fish completes no name after a prefix "./", and cannot complete a name with a line feed or a
     * tab, which separate candidates and descriptions. */
    cli_out_text(out, "        end\n"
                      "        set -e words[1]\n"
                      "    end\n"
                      "    set -q words[1]; and printf '%s\\n' $words\n"
                      "end\n"
                      "function __pcol_is\n"
                      "    set -l words (__pcol_words)\n"
                      "    set -q words[1]; and contains -- $words[1] $argv\n"
                      "end\n"
                      "# The command without any of these operands.\n"
                      "function __pcol_before -a command\n"
                      "    __pcol_is $command; or return\n"
                      "    for word in (__pcol_words)[2..-1]\n"
                      "        contains -- $word $argv[2..-1]; and return 1\n"
                      "    end\n"
                      "    return 0\n"
                      "end\n"
                      "# Names that begin with a dash only after --, and no parts of a name with a "
                      "line feed or a tab.\n"
                      "function __pcol_files\n"
                      "    set -l token (commandline -ct)\n"
                      "    set -l words (__pcol_words)\n"
                      "    set -l dash\n"
                      "    contains -- -- $words[2..-1]; and set dash -- --\n"
                      "    for name in (complete -C \"__pcol_none $dash $token\" | "
                      "string replace -r '\\t.*' '')\n"
                      "        set -l path $name\n"
                      "        switch $name\n"
                      "            case '-*'\n"
                      "                set -q dash[1]; or continue\n"
                      "                set path ./$name\n"
                      "            case '~/*'\n"
                      "                set path $HOME/(string sub -s 3 -- $name)\n"
                      "            case '~*' '*$*'\n"
                      "                printf '%s\\n' $name\n"
                      "                continue\n"
                      "        end\n"
                      "        test -e $path -o -L $path; and printf '%s\\n' $name\n"
                      "    end\n"
                      "end\n"
                      "complete -c pcol -f -a '(__pcol_files)' -n '__pcol_words >/dev/null;"
                      " and not __pcol_is help completion; and not __pcol_before perun ");
    put_questions(out);
    cli_out_text(out, "'\n");
    for (size_t i = 0; i < cmd_count; i++) {
        cli_out_printf(out, "complete -c pcol -n 'not __pcol_words >/dev/null' -f -a %s -d '",
                       cmd_table[i].name);
        fish_text(out, cmd_table[i].summary);
        cli_out_text(out, "'\n");
        fish_options(out, &cmd_table[i], cmd_table[i].options);
    }
    fish_options(out, NULL, cli_common_options);
    fish_operands(out, "help", put_names);
    fish_operands(out, "completion", put_shells);
    fish_operands(out, "perun", put_questions);
}

int cmd_completion(struct cli_args *args)
{
    static struct cli_out out;
    static const struct {
        const char *name;
        void (*put)(struct cli_out *out);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    const char *shell = args->operands[0];

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shell, shells[i].name) != 0)
            continue;
        int code = cli_require_text_name(args);
        if (code != CLI_OK || (code = cli_out_open(&out, args)) != CLI_OK)
            return code;
        shells[i].put(&out);
        return cli_out_finish(&out, CLI_OK);
    }
    return cli_usage("no completion for '%s': bash, zsh or fish", shell);
}
