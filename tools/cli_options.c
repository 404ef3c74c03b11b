/*
 * cli_options.c - parser of command line options
 *
 * Each command has a table of options, and all share the common ones. A row has the name of the
 * option, its argument and its offset in struct cli_args. Help and completion scripts are
 * generated from the same tables.
 *
 * Options may follow operands; `--` ends them; `-` is an operand. `--name value`, `--name=value`,
 * `-n5`, `-n 5` and clusters such as `-qf` are accepted. Names cannot be abbreviated: a later
 * option would break scripts that use `--form`.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cli_common_options[] = {
    CLI_FLAG_OPTION('q', "quiet", quiet, "no warnings and notes"),
    CLI_FLAG_OPTION('v', "verbose", verbose, "report each step"),
    CLI_TEXT_CHOICE(0, "color", "WHEN", color, "auto|always|never",
                    "auto (default), always or never"),
    CLI_TEXT_CHOICE(0, "progress", "WHEN", progress, "auto|always|never",
                    "show progress: auto (default), always or never"),
    CLI_FLAG_OPTION('h', "help", help, "show this help"),
    CLI_FLAG_OPTION('V', "version", version, "show versions"),
    CLI_OPTION_END,
};

static const struct cli_option no_options[] = {CLI_OPTION_END};

/* State of the parser. */
struct parser {
    struct cli_args *args;
    const struct cli_option *tables[2]; /* options of the command, and the common ones */
    char **argv;
    int argc, next;
    char letter[3]; /* "-n" */
    int is_letter;  /* the present option was written as a letter */
};

/* An option as the user wrote it, for messages. */
static const char *option_text(const struct parser *parser, const struct cli_option *option,
                               char *buffer, size_t size)
{
    if (parser->is_letter)
        return parser->letter;
    snprintf(buffer, size, "--%s", option->name);
    return buffer;
}

static const struct cli_option *find_long(const struct parser *parser, const char *name,
                                          size_t size)
{
    for (size_t t = 0; t < 2; t++)
        for (const struct cli_option *o = parser->tables[t]; o->name != NULL; o++)
            if (strlen(o->name) == size && memcmp(o->name, name, size) == 0)
                return o;
    return NULL;
}

static const struct cli_option *find_letter(const struct parser *parser, char letter)
{
    for (size_t t = 0; t < 2; t++)
        for (const struct cli_option *o = parser->tables[t]; o->name != NULL; o++)
            if (o->letter != 0 && o->letter == letter)
                return o;
    return NULL;
}

static int unknown_long(const struct parser *parser, const char *name, size_t size)
{
    char wanted[64];
    char hint[96] = "";
    struct cli_suggest suggest;
    size_t kept = size < sizeof wanted - 1 ? size : sizeof wanted - 1;

    memcpy(wanted, name, kept);
    wanted[kept] = '\0';
    cli_suggest_start(&suggest, wanted);
    for (size_t t = 0; t < 2; t++)
        for (const struct cli_option *o = parser->tables[t]; o->name != NULL; o++)
            cli_suggest_offer(&suggest, o->name, strlen(o->name));
    if (suggest.best[0] != '\0')
        snprintf(hint, sizeof hint, ", did you mean --%s?", suggest.best);
    return cli_usage("unknown option --%.*s%s", (int)(size < 200 ? size : 200), name, hint);
}

const char *cli_choice(const struct cli_option *option, size_t index, size_t *size)
{
    const char *list = option->choices;

    if (list == NULL)
        return NULL;
    int reads = strcmp(list, CLI_CHOICES_READ) == 0;
    if (reads && index == 0) {
        *size = 4;
        return "auto";
    }
    if (reads || strcmp(list, CLI_CHOICES_WRITE) == 0) {
        size_t seen = reads ? 1 : 0;
        const pcol_format *format;
        for (size_t i = 0; (format = pcol_format_at(i)) != NULL; i++) {
            if ((reads ? format->reads : format->writes) && seen++ == index) {
                *size = strlen(format->name);
                return format->name;
            }
        }
        if (!reads && seen == index) { /* tables, not a profile: not a format of the library */
            *size = strlen(CLI_CLICKHOUSE);
            return CLI_CLICKHOUSE;
        }
        return NULL;
    }
    for (size_t i = 0; *list != '\0'; i++) {
        size_t length = strcspn(list, "|");
        if (i == index) {
            *size = length;
            return list;
        }
        list += length;
        list += *list == '|';
    }
    return NULL;
}

static int check_choice(const struct parser *parser, const struct cli_option *option,
                        const char *text)
{
    char list[400] = "", written[64];
    char hint[96];
    size_t used = 0;
    size_t size;
    struct cli_suggest suggest;
    const char *choice;

    if (option->choices == NULL)
        return CLI_OK;
    cli_suggest_start(&suggest, text);
    for (size_t i = 0; (choice = cli_choice(option, i, &size)) != NULL; i++) {
        if (strlen(text) == size && memcmp(text, choice, size) == 0)
            return CLI_OK;
        cli_suggest_offer(&suggest, choice, size);
        if (used + size + 3 < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i > 0 ? ", " : "",
                                     (int)size, choice);
    }
    if (*option->choices != '\0' && option->choices[strlen(option->choices) - 1] == '|')
        return CLI_OK;
    cli_suggest_text(&suggest, hint, sizeof hint);
    return cli_usage("%s: '%s' is none of %s%s",
                     option_text(parser, option, written, sizeof written), text, list, hint);
}

static int store(const struct parser *parser, const struct cli_option *option, const char *text)
{
    char *target = (char *)parser->args + option->target;
    const char *earlier;
    char written[64];
    int code;

    switch (option->kind) {
    case CLI_FLAG:
        memcpy(target, &option->value, sizeof option->value);
        return CLI_OK;
    case CLI_TEXT:
        code = check_choice(parser, option, text);
        if (code != CLI_OK)
            return code;
        memcpy(&earlier, target, sizeof earlier);
        if (earlier != NULL && strcmp(earlier, text) != 0)
            return cli_usage("%s takes one value, not '%s' and '%s'",
                             option_text(parser, option, written, sizeof written), earlier, text);
        memcpy(target, &text, sizeof text);
        return CLI_OK;
    case CLI_COUNT: {
        uint64_t value;
        if (cli_parse_u64(text, &value) != 0 || value == CLI_UNSET)
            return cli_usage("%s: '%s' is not a number",
                             option_text(parser, option, written, sizeof written), text);
        memcpy(target, &value, sizeof value);
        return CLI_OK;
    }
    case CLI_LIST:
    case CLI_MAYBE: {
        struct cli_list list;
        code = text != NULL ? check_choice(parser, option, text) : CLI_OK;
        if (code != CLI_OK)
            return code;
        memcpy(&list, target, sizeof list);
        const char **items = realloc(list.items, (list.count + 1) * sizeof *items);
        if (items == NULL)
            return cli_fail_memory();
        items[list.count++] = text;
        list.items = items;
        memcpy(target, &list, sizeof list);
        return CLI_OK;
    }
    }
    return CLI_OK;
}

/* Parse argv[next], which starts with two dashes and is longer. */
static int parse_long(struct parser *parser)
{
    const char *text = parser->argv[parser->next++] + 2;
    size_t size = strcspn(text, "=");
    const struct cli_option *option = find_long(parser, text, size);

    parser->is_letter = 0;
    if (option == NULL)
        return unknown_long(parser, text, size);
    if (option->kind == CLI_FLAG) {
        if (text[size] == '=')
            return cli_usage("--%s takes no value", option->name);
        return store(parser, option, NULL);
    }
    if (text[size] == '=' || option->kind == CLI_MAYBE)
        return store(parser, option, text[size] == '=' ? text + size + 1 : NULL);
    if (parser->next >= parser->argc)
        return cli_usage("--%s needs a value: %s", option->name, option->argument);
    return store(parser, option, parser->argv[parser->next++]);
}

/* A word after one dash, as in some other tools. */
static int unknown_letter(const struct parser *parser, char letter)
{
    const char *word = parser->argv[parser->next - 1] + 1;
    size_t size = strcspn(word, "=");

    if (size > 1 && find_long(parser, word, size) != NULL)
        return cli_usage("unknown option -%s, did you mean --%.*s?", word, (int)size, word);
    return cli_usage("unknown option -%c", letter);
}

/* Parse argv[next], which starts with one dash and is longer: letters, the last of which may
 * take a value. */
static int parse_letters(struct parser *parser)
{
    for (const char *text = parser->argv[parser->next++] + 1; *text != '\0'; text++) {
        const struct cli_option *option = find_letter(parser, *text);
        int code;

        parser->is_letter = 1;
        memcpy(parser->letter, (const char[3]){'-', *text, '\0'}, sizeof parser->letter);
        if (option == NULL)
            return unknown_letter(parser, *text);
        if (option->kind == CLI_FLAG) {
            code = store(parser, option, NULL);
            if (code != CLI_OK)
                return code;
            continue;
        }
        if (text[1] != '\0')
            return store(parser, option, text + 1);
        if (parser->next >= parser->argc)
            return cli_usage("-%c needs a value: %s", *text, option->argument);
        return store(parser, option, parser->argv[parser->next++]);
    }
    return CLI_OK;
}

/* Parse argv[next] if it is an option; otherwise set *operand. */
static int parse_option(struct parser *parser, int *operand)
{
    const char *text = parser->argv[parser->next];

    *operand = 0;
    if (text[0] != '-' || text[1] == '\0') {
        *operand = 1;
        return CLI_OK;
    }
    return text[1] == '-' ? parse_long(parser) : parse_letters(parser);
}

int cli_parse_leading(struct cli_args *args, int argc, char **argv, int *first)
{
    struct parser parser = {args, {no_options, cli_common_options}, argv, argc, 1, "", 0};

    while (parser.next < argc) {
        int operand;
        int code = CLI_OK;
        if (strcmp(argv[parser.next], "--") == 0) {
            parser.next++;
            break;
        }
        code = parse_option(&parser, &operand);
        if (code != CLI_OK)
            return code;
        if (operand)
            break;
    }
    *first = parser.next;
    return CLI_OK;
}

int cli_parse(struct cli_args *args, const struct cmd *cmd, int argc, char **argv)
{
    struct parser parser = {args, {cmd->options, cli_common_options}, argv, argc, 0, "", 0};

    args->operands = malloc(((size_t)argc + 1) * sizeof *args->operands);
    if (args->operands == NULL)
        return cli_fail_memory();
    while (parser.next < argc) {
        int operand = 1;
        int code = CLI_OK;
        if (strcmp(argv[parser.next], "--") == 0) {
            for (parser.next++; parser.next < argc; parser.next++)
                args->operands[args->operand_count++] = argv[parser.next];
            break;
        }
        code = parse_option(&parser, &operand);
        if (code != CLI_OK)
            return code;
        if (operand)
            args->operands[args->operand_count++] = argv[parser.next++];
    }
    if (args->help || args->version)
        return CLI_OK;
    if (args->demangle == NULL && find_long(&parser, "demangle", strlen("demangle")) != NULL)
        args->demangle = "auto";
    int code = cli_files_from(args);
    if (code != CLI_OK)
        return code;
    if (args->operand_count < cmd->min_operands)
        return cli_usage("missing operand: pcol %s %s%s", cmd->name, cmd->args,
                         strcmp(cmd->group, "More") != 0 ? "; - is standard input" : "");
    if (args->operand_count > cmd->max_operands)
        return cli_usage("one operand too many: '%s'", args->operands[cmd->max_operands]);
    code = cli_format_by_name(args, cmd);
    return code == CLI_OK ? cli_table_check(args) : code;
}

int cli_write_flags(const struct cli_args *args, unsigned *flags)
{
    *flags = args->plain ? PCOL_WRITE_PLAIN : 0;
    if (args->archive.count == 0)
        return CLI_OK;
    const char *codec = args->archive.items[args->archive.count - 1];
    if (args->plain)
        return cli_usage("--plain is for mapping, --archive for storage: not both");
    if (codec != NULL && strcmp(codec, "lz4") == 0)
        *flags = PCOL_WRITE_ARCHIVE_LZ4;
    else if (codec != NULL && strcmp(codec, "zlib") == 0)
        *flags = PCOL_WRITE_ARCHIVE_ZLIB;
    else
        *flags = PCOL_WRITE_ARCHIVE;
    return CLI_OK;
}

int cli_has_option(const struct cli_args *args, size_t target)
{
    const struct cmd *cmd = args->command != NULL ? cmd_find(args->command) : NULL;

    for (const struct cli_option *o = cmd != NULL ? cmd->options : no_options; o->name != NULL; o++)
        if (o->target == target)
            return 1;
    return 0;
}

uint64_t cli_row_limit(const struct cli_args *args, uint64_t otherwise)
{
    return args->rows == CLI_UNSET ? otherwise : args->rows == 0 ? UINT64_MAX : args->rows;
}

void cli_args_free(struct cli_args *args)
{
    free(args->operands);
    free(args->files_from.items);
    free(args->files_text);
    free(args->where.items);
    free(args->labels.items);
    free(args->source_metas.items);
    free(args->roots.items);
    free(args->leaves.items);
    free(args->source_paths.items);
    free(args->drop_labels.items);
    free(args->meta.items);
    free(args->bases.items);
    free(args->binaries.items);
    free(args->archive.items);
    free(args->known.items);
    free(args->sums.items);
}
