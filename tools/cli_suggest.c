/*
 * cli_suggest.c - suggestions for unknown names
 *
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours,
 * in three rows. A name is suggested if the distance is at most about a third of its length.
 */
#include "cli.h"

#include <string.h>

#define LONGEST 63

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b_size; j++) {
        before[j] = 0;
        above[j] = j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t changed = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smallest(changed, above[j] + 1, row[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b_size];
}

void cli_suggest_start(struct cli_suggest *suggest, const char *wanted)
{
    suggest->wanted = wanted;
    suggest->best_distance = SIZE_MAX;
    suggest->best[0] = '\0';
}

void cli_suggest_offer(struct cli_suggest *suggest, const char *candidate, size_t size)
{
    size_t wanted = strlen(suggest->wanted);
    size_t longer = wanted > size ? wanted : size;
    size_t allowed = longer < 4 ? 1 : (longer + 1) / 3;

    if (wanted == 0 || size == 0 || longer > LONGEST)
        return;
    size_t found = distance(suggest->wanted, wanted, candidate, size);
    /* A prefix of a name matches at any length; its leading dot is optional. */
    size_t dot = *candidate == '.' && *suggest->wanted != '.';
    if (found > allowed && wanted >= 3 && wanted + dot < size &&
        memcmp(suggest->wanted, candidate + dot, wanted) == 0)
        found = allowed;
    if (found <= allowed && found < suggest->best_distance) {
        suggest->best_distance = found;
        memcpy(suggest->best, candidate, size);
        suggest->best[size] = '\0';
    }
}

const char *cli_suggest_text(const struct cli_suggest *suggest, char *text, size_t size)
{
    if (suggest->best[0] == '\0')
        text[0] = '\0';
    else
        snprintf(text, size, ", did you mean '%s'?", suggest->best);
    return text;
}

void cli_name_list_add(struct cli_name_list *some, const char *name)
{
    size_t available = sizeof some->text - some->used;

    if (name == NULL || some->is_truncated)
        return;
    some->is_truncated = strlen(name) + 8 > available;
    some->used += (size_t)snprintf(some->text + some->used, available, "%s%s",
                                   some->used > 0 ? ", " : "", some->is_truncated ? "..." : name);
}

const char *cli_name_list_end(const struct cli_name_list *some)
{
    return some->is_truncated ? " (pcol schema FILE lists all)" : "";
}
