/*
 * cli_error.c - messages on stderr, and the exit code of an error
 *
 * One line for each message, `pcol COMMAND: FILE: message`, written with one call so that lines of
 * several processes do not mix. File names and messages may quote hostile bytes: bytes that a
 * terminal would interpret are shown as \xNN.
 */
#include "cli.h"
#include "cli_lock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *speaker;
static int failed;

void cli_error_command(const char *name)
{
    speaker = name;
}

static void put(const char *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(STDERR_FILENO, data, size);
        if (done < 0 && errno != EINTR)
            return; /* stderr is closed: no channel for a message */
        if (done > 0) {
            data += done;
            size -= (size_t)done;
        }
    }
}

static void print_line(const char *format, va_list list) CLI_PRINTF(1, 0);

static void print_line(const char *format, va_list list)
{
    /* Buffer for two paths of 4096 bytes and a message. Static, because stacks may be small.
     * Shared by all threads, because the system clears thread-local memory at every start;
     * messages come one at a time. */
    static cli_mutex one = CLI_MUTEX_INITIALIZER;
    static char text[10240], safe[4 * sizeof text + 1];
    size_t used = 0;
    cli_mutex_lock(&one);
    int start = snprintf(text, sizeof text,
                         speaker != NULL ? "pcol %s: " : "pcol: ", speaker != NULL ? speaker : "");
    size_t at = start > 0 ? (size_t)start : 0;

    if (vsnprintf(text + at, sizeof text - at, format, list) >= 0) {
        cli_escape(text, strlen(text), cli_is_ascii(STDERR_FILENO), safe, &used);
        cli_progress_clear();
        safe[used++] = '\n';
        put(safe, used);
    }
    cli_mutex_unlock(&one);
}

int cli_fail(int code, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    print_line(format, list);
    va_end(list);
    if (code > CLI_NO)
        failed = 1;
    return code;
}

int cli_usage(const char *format, ...)
{
    char text[1024];
    va_list list;

    va_start(list, format);
    int size = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (size < 0)
        text[0] = '\0';
    return cli_fail(CLI_USAGE, "%s (see pcol %s%s--help)", text, speaker != NULL ? speaker : "",
                    speaker != NULL ? " " : "");
}

int cli_fail_memory(void)
{
    return cli_fail(CLI_IO, "out of memory");
}

pcol_status cli_set_error(pcol_error *err, pcol_status status, const char *message)
{
    memset(err, 0, sizeof *err);
    err->status = status;
    err->offset = err->inflated_offset = err->row = PCOL_POSITION_UNKNOWN;
    snprintf(err->message, sizeof err->message, "%s", message);
    return status;
}

pcol_status cli_set_memory(pcol_error *err)
{
    return cli_set_error(err, PCOL_E_NO_MEMORY, pcol_status_text(PCOL_E_NO_MEMORY));
}

static int exit_code(pcol_status status)
{
    switch (status) {
    case PCOL_OK:
        return CLI_OK;
    case PCOL_E_ARGUMENT:
    case PCOL_E_STATE:
    case PCOL_E_NOT_FOUND:
        return CLI_USAGE;
    case PCOL_E_NO_MEMORY:
    case PCOL_E_IO:
        return CLI_IO;
    case PCOL_E_CANCELLED:
        return CLI_CANCELLED;
    case PCOL_E_EXISTS:
    case PCOL_E_LOSS:
        return CLI_REFUSED;
    case PCOL_E_LIMIT:
    case PCOL_E_MAGIC:
    case PCOL_E_VERSION:
    case PCOL_E_TRUNCATED:
    case PCOL_E_CORRUPT:
    case PCOL_E_CHECKSUM:
    case PCOL_E_UNSUPPORTED:
    case PCOL_E_FORMAT:
    case PCOL_E_SYNTAX:
        return CLI_INPUT;
    }
    return CLI_INPUT;
}

int cli_fail_error(const char *file, const pcol_error *err)
{
    char position[192], message[sizeof err->message + CLI_HINT_SIZE], hint[CLI_HINT_SIZE];
    int code = exit_code(err->status);

    snprintf(message, sizeof message, "%s%s",
             err->message[0] != '\0' ? err->message : pcol_status_text(err->status),
             cli_hint(err->option, err->status == PCOL_E_ARGUMENT, hint));
    pcol_error_place(err, position, sizeof position);
    if (file != NULL && *file == '\0')
        file = "''";
    if (file == NULL && position[0] == '\0')
        return cli_fail(code, "%s", message);
    if (file == NULL)
        return cli_fail(code, "%s: %s", position, message);
    if (position[0] == '\0')
        return cli_fail(code, "%s: %s", file, message);
    /* A position in a text follows the name as in compilers' messages, so that editors can go
     * there. */
    return cli_fail(code, err->line > 0 ? "%s:%s: %s" : "%s: %s: %s", file, position, message);
}

void cli_warn(const struct cli_args *args, const char *file, const char *message)
{
    if (args->quiet)
        return;
    if (file != NULL)
        cli_fail(0, "%s: warning: %s", file, message);
    else
        cli_fail(0, "warning: %s", message);
}

void cli_warn_hint(const struct cli_args *args, const char *file, const char *message,
                   const char *member, int is_cause)
{
    char text[640], hint[CLI_HINT_SIZE];

    snprintf(text, sizeof text, "%s%s", message, cli_hint(member, is_cause, hint));
    cli_warn(args, file, text);
}

void cli_verbose(const struct cli_args *args, const char *format, ...)
{
    va_list list;

    if (!args->verbose || args->quiet)
        return;
    va_start(list, format);
    print_line(format, list);
    va_end(list);
}

int cli_worst_code(int a, int b)
{
    return a > b ? a : b;
}

int cli_has_failed(void)
{
    return failed;
}
