/*
 * cli_suffix.c - the format chosen by the name of an output
 *
 * A suffix chooses the format like an option: report.md is a Markdown table, all.pb.gz a pprof
 * profile. A suffix of a format that the command cannot write is a usage error; other names get the
 * default format of the command. Suffixes of tables and graphs (the choices of --format) are listed
 * here; those of profiles come from pcol_format. Tests: tests/cli/commands.
 */
#include "cmd.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *suffix;
    const char *format; /* a choice of --format of some command; NULL: no command writes it */
} texts[] = {
    {".tsv", "tsv"},
    {".csv", "csv"},
    {".json", "json"},
    {".ndjson", "ndjson"},
    {".jsonl", "ndjson"},
    {".md", "markdown"},
    {".markdown", "markdown"},
    {".sql", "sql"},
    {".mmd", "mermaid"},
    {".txt", "text"},
    {".svg", "svg"},
    {".html", NULL},
    {".htm", NULL},
    {".png", NULL},
    {".jpg", NULL},
    {".jpeg", NULL},
    {".pdf", NULL},
    {".xlsx", NULL},
    {".parquet", NULL},
    {".gz", NULL},
    {".zip", NULL},
    {".xz", NULL},
    {".zst", NULL},
    {".bz2", NULL},
    {".jfr", NULL},
    {".nettrace", NULL},
    {".etl", NULL},
    {".trace", NULL},
    {".cpuprofile", NULL},
    {".pb", NULL},
    {".pcol", NULL},
};
#define TEXTS (sizeof texts / sizeof *texts)

int cli_ends_in(const char *name, const char *suffix)
{
    size_t size = strlen(name), length = strlen(suffix);

    return size > length && strcasecmp(name + size - length, suffix) == 0;
}

/* Index in `texts`; TEXTS: none. */
static size_t find_text(const char *name)
{
    size_t i = 0;

    while (i < TEXTS && !cli_ends_in(name, texts[i].suffix))
        i++;
    return i;
}

const char *cli_text_format(const char *name)
{
    size_t i = find_text(name);

    return i < TEXTS ? texts[i].format : NULL;
}

int cli_is_file_name(const char *output)
{
    return output != NULL && *output != '\0' && strcmp(output, "-") != 0;
}

/* Length of the longest suffix of the format at the end of the first `size` bytes of the name. */
static size_t suffix_match(const pcol_format *format, const char *name, size_t size)
{
    size_t longest = 0;
    const char *at = format->suffixes;

    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, " ");
        if (length > longest && length < size && strncasecmp(name + size - length, at, length) == 0)
            longest = length;
        at += length;
        at += strspn(at, " ");
    }
    return longest;
}

int cli_profile_by_name(const struct cli_args *args, const pcol_format **format)
{
    const char *name = args->output;
    const pcol_format *one;
    size_t longest = 0, match;

    *format = NULL;
    if (!cli_is_file_name(name))
        return CLI_OK;
    size_t zipped = cli_ends_in(name, ".gz") ? 3 : 0;
    for (size_t i = 0; (one = pcol_format_at(i)) != NULL; i++)
        if ((match = suffix_match(one, name, strlen(name) - zipped)) > longest) {
            longest = match;
            *format = one;
        }
    if (*format == NULL || (*format)->writes)
        return CLI_OK;
    if (strcmp((*format)->name, "pcol") != 0)
        return cli_usage("%s: pcol reads %s but does not write it", name, (*format)->name);
    *format = NULL;
    if (zipped)
        return cli_usage(
            "%s: pcol files are not compressed with gzip; use --archive for a small file", name);
    return CLI_OK;
}

int cli_reject_text_name(const struct cli_args *args)
{
    const char *name = args->output;
    size_t i = find_text(name);

    if (i == TEXTS || strcmp(texts[i].suffix, ".pcol") == 0)
        return CLI_OK;
    return cli_usage("%s: %s writes profiles, and no profile format has the suffix %s; `pcol "
                     "formats` lists the suffixes",
                     name, args->command, texts[i].suffix);
}

/* The suffix of a profile format, at the end of the name; NULL: none. `.out` may be any output. */
static const char *find_profile_suffix(const char *name)
{
    const pcol_format *format;
    size_t size = strlen(name), longest = 0, match;

    for (size_t i = 0; (format = pcol_format_at(i)) != NULL; i++)
        if ((match = suffix_match(format, name, size)) > longest)
            longest = match;
    return longest > 0 && !cli_ends_in(name, ".out") ? name + size - longest : NULL;
}

int cli_require_html_name(const struct cli_args *args)
{
    const char *name = args->output;

    if (!cli_is_file_name(name) || cli_ends_in(name, ".html") || cli_ends_in(name, ".htm"))
        return CLI_OK;
    size_t i = find_text(name);
    const char *suffix = i < TEXTS ? texts[i].suffix : find_profile_suffix(name);
    if (suffix == NULL)
        return CLI_OK;
    return cli_usage("%s: %s cannot write %s; it writes .html", name, args->command, suffix);
}

int cli_require_text_name(const struct cli_args *args)
{
    const char *name = args->output;

    if (!cli_is_file_name(name))
        return CLI_OK;
    size_t i = find_text(name);
    const char *suffix = i < TEXTS ? texts[i].suffix : find_profile_suffix(name);
    if (suffix == NULL || strcmp(suffix, ".txt") == 0)
        return CLI_OK;
    return cli_usage("%s: %s cannot write %s; it writes text", name, args->command, suffix);
}

static const struct cli_option *find_option(const struct cmd *cmd, size_t target)
{
    for (const struct cli_option *o = cmd->options; o->name != NULL; o++)
        if (o->target == target && o->kind == CLI_TEXT)
            return o;
    return NULL;
}

/* List the choices of an option as "a, b, c". */
static const char *list_choices(const struct cli_option *option, char *list, size_t size)
{
    size_t used = 0, length;
    const char *choice;

    list[0] = '\0';
    for (size_t i = 0; (choice = cli_choice(option, i, &length)) != NULL; i++)
        if (used + length + 3 < size)
            used += (size_t)snprintf(list + used, size - used, "%s%.*s", i > 0 ? ", " : "",
                                     (int)length, choice);
    return list;
}

static int is_choice(const struct cli_option *option, const char *word)
{
    size_t length;
    const char *choice;

    for (size_t i = 0; (choice = cli_choice(option, i, &length)) != NULL; i++)
        if (strlen(word) == length && memcmp(word, choice, length) == 0)
            return 1;
    return 0;
}

int cli_format_by_name(struct cli_args *args, const struct cmd *cmd)
{
    const struct cli_option *option = find_option(cmd, CLI_AT(format));
    const char *name = args->output;
    char list[200];

    if (option == NULL || args->format != NULL || !cli_is_file_name(name))
        return CLI_OK;
    size_t i = find_text(name);
    const char *suffix = i < TEXTS ? texts[i].suffix : find_profile_suffix(name);
    if (i < TEXTS && texts[i].format != NULL && is_choice(option, texts[i].format)) {
        args->format = texts[i].format;
        return CLI_OK;
    }
    if (suffix == NULL || strcmp(suffix, ".txt") == 0) /* .txt: any text */
        return CLI_OK;
    return cli_usage("%s: %s cannot write %s; it writes %s, and --format chooses one for any name",
                     name, cmd->name, suffix, list_choices(option, list, sizeof list));
}
