/*
 * cli_losses.c - one warning for all content that a target format cannot represent
 *
 * An exporter reports each kind of loss in a sentence such as "pprof cannot represent times of
 * samples: equal samples are added up". The warning joins them into one list after their common
 * beginning, each cut before its explanation; -v prints the sentences.
 */
#include "cli_losses.h"

#include <stdlib.h>

#define TABLE "the table "
#define LINE_SIZE 900 /* maximum length of a message of cli_fail() */

void losses_add(struct losses *losses, const char *message)
{
    size_t size = strlen(message) + 1;
    char **grown = realloc(losses->messages, (losses->stored + 1) * sizeof *grown);
    char *copy = malloc(size);

    losses->count++;
    if (grown != NULL)
        losses->messages = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        return;
    }
    losses->messages[losses->stored++] = memcpy(copy, message, size);
}

void losses_clear(struct losses *losses)
{
    for (size_t i = 0; i < losses->stored; i++)
        free(losses->messages[i]);
    free(losses->messages);
    *losses = (struct losses){0};
}

/* Length of the common first words of the messages of a format, 0 if none. */
static size_t opening(const char *message)
{
    static const char *const verbs[] = {" cannot hold ", " has no place for "};

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const char *at = strstr(message, verbs[i]);
        if (at != NULL)
            return (size_t)(at - message) + strlen(verbs[i]);
    }
    return 0;
}

/* Length without the explanation: before a colon, a semicolon or a parenthesis. */
static size_t short_size(const char *text)
{
    size_t size = strcspn(text, ":;(");

    while (size > 0 && text[size - 1] == ' ')
        size--;
    return size;
}

static int is_table(const char *text)
{
    return strncmp(text, TABLE, strlen(TABLE)) == 0;
}

static int begins(const char *message, const char *like, size_t start)
{
    return strncmp(message, like, start) == 0;
}

struct line {
    char text[LINE_SIZE];
    size_t used, left_out;
};

static void add(struct line *line, const char *before, const char *text, size_t size)
{
    size_t more = strlen(before) + size;

    if (line->left_out > 0 || line->used + more + 32 > sizeof line->text) {
        line->left_out++;
        return;
    }
    line->used += (size_t)snprintf(line->text + line->used, sizeof line->text - line->used,
                                   "%s%.*s", before, (int)size, text);
}

/* List the messages that begin like `like`: tables first, under one "the tables". */
static void list_alike(const struct losses *losses, const char *like, size_t start,
                       struct line *line)
{
    size_t tables = 0, number = 0;

    for (size_t i = 0; i < losses->stored; i++)
        tables += begins(losses->messages[i], like, start) && is_table(losses->messages[i] + start);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < losses->stored; i++) {
            const char *text = losses->messages[i] + start;
            const char *before = number == 0 ? "" : pass > 0 && number == tables ? "; " : ", ";
            if (!begins(losses->messages[i], like, start) || is_table(text) != (pass == 0))
                continue;
            if (is_table(text) && tables > 1) {
                before = number == 0 ? "the tables " : ", ";
                text += strlen(TABLE);
            }
            number++;
            add(line, before, text, short_size(text));
        }
}

void losses_tell(const struct losses *losses, const struct cli_args *args, const char *name)
{
    struct line line = {"", 0, 0};
    const char *like = NULL;
    size_t start = 0;

    for (size_t i = 0; i < losses->stored && start == 0; i++)
        if ((start = opening(losses->messages[i])) > 0)
            like = losses->messages[i];
    if (losses->stored < 2 || args->verbose || start == 0) {
        for (size_t i = 0; i < losses->stored; i++)
            cli_warn(args, name, losses->messages[i]);
        return;
    }
    add(&line, "", like, start);
    list_alike(losses, like, start, &line);
    for (size_t i = 0; i < losses->stored; i++)
        if (!begins(losses->messages[i], like, start))
            add(&line, "; ", losses->messages[i], short_size(losses->messages[i]));
    snprintf(line.text + line.used, sizeof line.text - line.used, "%s (%zu losses, -v lists them)",
             line.left_out > 0 ? ", ..." : "", losses->count);
    cli_warn(args, name, line.text);
}
