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

static int show_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct cli_notices *notices = context;

    if (done + total > 0 && strcmp(phase, "read") == 0)
        cli_progress_bytes(notices->name, done, total);
    return 0;
}

static void take_notice(void *context, const pcol_notice *notice)
{
    struct cli_notices *notices = context;
    struct losses *losses = notices->losses;

    notices->lost |= notice->code == PCOL_NOTICE_LOSS;
    if (losses != NULL && notice->code == PCOL_NOTICE_LOSS)
        losses_add(losses, notice->text, notice->subject, notice->option);
    else if (losses != NULL && notice->code == PCOL_NOTICE_TARGET)
        snprintf(losses->warning, sizeof losses->warning, "%s", notice->text);
    else
        cli_warn_hint(notices->args, notices->name, notice->text, notice->option,
                      notice->code == PCOL_NOTICE_SELECTION);
}

pcol_control cli_control(struct cli_notices *notices)
{
    pcol_control control = PCOL_INIT(pcol_control);

    control.context = notices;
    control.progress = show_progress;
    control.notice = take_notice;
    return control;
}

void losses_add(struct losses *losses, const char *text, const char *subject, const char *member)
{
    char hint[CLI_HINT_SIZE];
    size_t size = strlen(text) + strlen(cli_hint(member, 0, hint)) + 1;
    struct loss *grown = realloc(losses->items, (losses->stored + 1) * sizeof *grown);
    char *copy = malloc(size);
    const char *found = *subject != '\0' ? strstr(text, subject) : NULL;

    losses->count++;
    if (grown != NULL)
        losses->items = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        return;
    }
    snprintf(copy, size, "%s%s", text, hint);
    losses->items[losses->stored++] =
        (struct loss){copy, found != NULL ? (size_t)(found - text) : 0};
}

void losses_clear(struct losses *losses)
{
    for (size_t i = 0; i < losses->stored; i++)
        free(losses->items[i].text);
    free(losses->items);
    *losses = (struct losses){0};
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
        tables +=
            begins(losses->items[i].text, like, start) && is_table(losses->items[i].text + start);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < losses->stored; i++) {
            const char *text = losses->items[i].text + start;
            const char *before = number == 0 ? "" : pass > 0 && number == tables ? "; " : ", ";
            if (!begins(losses->items[i].text, like, start) || is_table(text) != (pass == 0))
                continue;
            if (is_table(text) && tables > 1) {
                before = number == 0 ? "the tables " : ", ";
                text += strlen(TABLE);
            }
            number++;
            add(line, before, text, short_size(text));
        }
}

void losses_warn(const struct losses *losses, const struct cli_args *args, const char *name)
{
    struct line line = {"", 0, 0};
    const char *like = NULL;
    size_t start = 0;

    for (size_t i = 0; i < losses->stored && start == 0; i++)
        if ((start = losses->items[i].subject) > 0)
            like = losses->items[i].text;
    if (losses->stored < 2 || args->verbose || start == 0) {
        for (size_t i = 0; i < losses->stored; i++)
            cli_warn(args, name, losses->items[i].text);
        return;
    }
    add(&line, "", like, start);
    list_alike(losses, like, start, &line);
    for (size_t i = 0; i < losses->stored; i++)
        if (!begins(losses->items[i].text, like, start))
            add(&line, "; ", losses->items[i].text, short_size(losses->items[i].text));
    snprintf(line.text + line.used, sizeof line.text - line.used, "%s (%zu losses, -v lists them)",
             line.left_out > 0 ? ", ..." : "", losses->count);
    cli_warn(args, name, line.text);
}
