/*
 * cli_progress.c - progress of long imports and exports, on stderr
 *
 * On a terminal the line appears after one second, is rewritten several times a second, and is
 * cleared before every other message and at the end. The library calls back for each piece that it
 * reads, the output for each that it writes; most calls only read the clock.
 */
#include "cli.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS 1000
#define EVERY_MS 200

static struct {
    int enabled, always, shown;
    size_t input, inputs; /* number of the current input, from 1, and of all inputs */
    int64_t next_ms;
} progress;

static int64_t now_ms(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? now.tv_sec * 1000 + now.tv_nsec / 1000000
                                                     : 0;
}

void cli_progress_begin(const struct cli_args *args, size_t inputs)
{
    memset(&progress, 0, sizeof progress);
    progress.always = args->progress != NULL && strcmp(args->progress, "always") == 0;
    progress.enabled =
        progress.always || ((args->progress == NULL || strcmp(args->progress, "auto") == 0) &&
                            isatty(STDERR_FILENO) && !args->quiet);
    progress.inputs = inputs;
    progress.next_ms = now_ms() + (progress.always ? 0 : FIRST_MS);
}

void cli_progress_input(void)
{
    progress.input++;
}

void cli_progress_clear(void)
{
    if (progress.shown)
        fputs("\r\x1b[K", stderr);
    progress.shown = 0;
}

void cli_progress_end(void)
{
    cli_progress_clear();
    progress.enabled = 0;
}

static void show(const char *name, uint64_t done, uint64_t total, const char *what)
{
    char safe[4 * 40 + 1], count[48] = "", amount[64];
    size_t used = 0, size = strlen(name);
    size_t from =
        size > 40 ? size - 40 : 0; /* show the end of a long path: it identifies the file */

    cli_escape(name + from, size - from, cli_is_ascii(STDERR_FILENO), safe, &used);
    safe[used] = '\0';
    if (progress.inputs > 1)
        snprintf(count, sizeof count, "%zu of %zu, ", progress.input, progress.inputs);
    if (total > 0)
        snprintf(amount, sizeof amount, "%u %% of %.1f MB",
                 (unsigned)((double)(done < total ? done : total) / (double)total * 100),
                 (double)total / 1e6);
    else
        snprintf(amount, sizeof amount, "%.1f MB", (double)done / 1e6);
    fprintf(stderr, "\r\x1b[K%s%s%s: %s%s", count, from ? "..." : "", safe, amount, what);
    progress.shown = 1;
}

static int is_due(void)
{
    int64_t now;

    if (!progress.enabled || (now = now_ms()) < progress.next_ms)
        return 0;
    progress.next_ms = now + EVERY_MS;
    return 1;
}

void cli_progress_bytes(const char *name, uint64_t done, uint64_t total)
{
    if (is_due())
        show(name, done, total, "");
}

void cli_progress_written(const char *name, uint64_t done)
{
    if (is_due())
        show(name, done, 0, " written");
}
