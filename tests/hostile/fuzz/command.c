/*
 * command.c - fuzz target: the command pcol; input: a line with arguments, then the file
 *
 * Covers --where and --time and the output of tables, JSON, CSV and messages to terminals. Options
 * with names of files are excluded.
 */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARGUMENTS 16
#define MOST_LINE 1024

static const struct command {
    const char *name;
    int asks;   /* takes a word before the file: option `ask` of the input */
    int files;  /* how often the file is given */
    int writes; /* takes -o, and writes to stdout */
} commands[] = {
    {"cat", 0, 1, 0},        {"head", 0, 1, 0},   {"tail", 0, 1, 0},    {"count", 0, 1, 0},
    {"info", 0, 1, 0},       {"schema", 0, 1, 0}, {"check", 0, 1, 0},   {"top", 0, 1, 0},
    {"tree", 0, 1, 0},       {"peek", 1, 1, 0},   {"diff", 0, 2, 0},    {"flame", 0, 1, 1},
    {"list", 1, 1, 0},       {"traces", 0, 1, 0}, {"labels", 0, 1, 0},  {"report", 0, 2, 1},
    {"symbolize", 0, 1, 1},  {"perun", 1, 1, 0},  {"pack", 0, 1, 1},    {"filter", 0, 1, 1},
    {"unpack", 0, 1, 1},     {"merge", 0, 2, 1},  {"formats", 0, 0, 0}, {"help", 1, 0, 0},
    {"completion", 1, 0, 0}, {NULL, 0, 0, 0}};

static const char *const allowed[] = {
    "table",     "columns",      "model",       "physical",    "join",          "rows",
    "offset",    "where",        "format",      "null",        "no-header",     "csv-safe",
    "focus",     "ignore",       "hide",        "show",        "thread",        "source",
    "time",      "time-share",   "label",       "sample-type", "keep-dropped",  "by",
    "sort",      "cum",          "bottom-up",   "depth",       "normalize",     "fail-above",
    "inverted",  "upright",      "reverse",     "title",       "min-width",     "width",
    "flat",      "unique",       "numeric",     "models",      "row",           "path",
    "group",     "filter",       "to",          "expand-idle", "lenient",       "collapse-idle",
    "tolerance", "color",        "from",        "max-input",   "trusted",       "plain",
    "archive",   "anonymize",    "drop-labels", "rebase",      "strict",        "quick",
    "help",      "verbose",      "quiet",       "meta",        "source-uri",    "source-timestamp",
    "threads",   "fail-on-loss", "fail-total",  "min-samples", "order",         "root",
    "leaf",      "demangle",     "context",     "node-count",  "node-fraction", "edge-fraction",
    "sums",      "source-meta"};

static int is_word(const char *name, const char *text, size_t size)
{
    return strlen(name) == size && !memcmp(name, text, size);
}

static const struct command *find_command(const char *text, size_t size)
{
    const struct command *c = commands;
    while (c->name && !is_word(c->name, text, size))
        c++;
    return c->name ? c : NULL;
}

static int is_allowed(const char *text, size_t size)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (is_word(allowed[i], text, size))
            return 1;
    return 0;
}

struct line {
    char words[MOST_LINE + 4 * MOST_ARGUMENTS]; /* each with two dashes more, and an end */
    char *arguments[MOST_ARGUMENTS + 8];
    size_t used, count;
    char *asked;
};

static char *keep(struct line *l, const char *before, const char *word, size_t size)
{
    char *to = l->words + l->used;
    l->used += (size_t)snprintf(to, sizeof l->words - l->used, "%s%.*s", before, (int)size, word);
    l->used++;
    return to;
}

/* Words between tabs: options without their dashes. */
static void take_options(struct line *l, const char *text, size_t size)
{
    for (size_t at = 0; at < size && l->count < MOST_ARGUMENTS;) {
        const char *word = text + at, *tab = memchr(word, '\t', size - at);
        size_t length = tab ? (size_t)(tab - word) : size - at;
        const char *sign = memchr(word, '=', length);
        size_t name = sign ? (size_t)(sign - word) : length;
        if (sign && is_word("ask", word, name) && sign + 1 < word + length && sign[1] != '-' &&
            !l->asked)
            l->asked = keep(l, "", sign + 1, length - name - 1);
        else if (is_allowed(word, name))
            l->arguments[l->count++] = keep(l, "--", word, length);
        at += length + 1;
    }
}

/* The last format asked for is JSON, and no help. */
static int says_json(const struct line *l)
{
    int json = 0;
    for (size_t i = 2; i < l->count; i++) {
        if (!strncmp(l->arguments[i], "--format=", 9))
            json = !strcmp(l->arguments[i] + 9, "json");
        if (!strncmp(l->arguments[i], "--h", 3))
            return 0;
    }
    return json;
}

void fuzz_command(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    const char *text = (const char *)data;
    size_t line = end ? (size_t)(end - data) : 0;
    const char *tab = line ? memchr(text, '\t', line) : NULL;
    size_t name = tab ? (size_t)(tab - text) : line;
    const struct command *command = find_command(text, name);
    static char program[] = "pcol", output[] = "--output=-", nothing[] = ".";
    static char binary[] = "--binary=/proc/self/exe";
    char path[32];
    struct line l = {.count = 1};
    if (!command || line > MOST_LINE ||
        fuzz_shell_file(end + 1, size - line - 1, path, sizeof path))
        return;
    l.arguments[0] = program;
    l.arguments[l.count++] = keep(&l, "", text, name);
    if (tab)
        take_options(&l, tab + 1, line - name - 1);
    if (command->writes)
        l.arguments[l.count++] = output;
    if (is_word("symbolize", text, name))
        l.arguments[l.count++] = binary;
    if (command->asks)
        l.arguments[l.count++] = l.asked ? l.asked : nothing;
    for (int i = 0; i < command->files; i++)
        l.arguments[l.count++] = path;
    struct fuzz_text out = {0};
    int json = !command->writes && says_json(&l);
    int code = fuzz_shell((int)l.count, l.arguments, json ? &out : NULL);
    FUZZ_ASSERT(code >= 0 && code <= 5);
    FUZZ_ASSERT(!json || code || !out.size || fuzz_is_json(&out, 0));
    free(out.data);
}
