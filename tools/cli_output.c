/*
 * cli_output.c - output of commands, and its failures
 *
 * One buffer for stdout or for a pcol_output, which renames the complete file into place.
 * The first failure is reported once and sticks; a closed pipe on stdout is not a failure.
 * Handlers of terminating signals remove the temporary file first. SIGXFSZ and SIGPIPE are
 * ignored, so that the write fails instead. A SIGBUS outside of all guarded inputs (cli_input.c)
 * ends with a message and exit code 4, SIGPROF (cli_cpu_limit.c) with one and exit code 3.
 */
#include "cli.h"
#include "cli_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_BYTES (UINT64_C(1) << 32) /* as pcol_export() */
#define OUTPUT_BYTES_PER_BYTE 4096u

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* ---- signals ---- */

/* Paths to unlink; valid while temporary_set, which changes only with the signals blocked. */
static char temporary[CLI_OUT_FILES][PATH_MAX];
static volatile sig_atomic_t temporary_set[CLI_OUT_FILES];

static void unlink_temporary(void)
{
    for (size_t i = 0; i < CLI_OUT_FILES; i++)
        if (temporary_set[i])
            unlink(temporary[i]);
    cli_folder_unlink();
}

/* Signals that terminate a program: from users and resource limits. */
static const int ending[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGXCPU,
                             SIGALRM, SIGUSR1, SIGUSR2, SIGPROF};

/* The default action is set only after unlink: with SA_RESETHAND it would apply earlier, and a
 * second signal in quick succession would leave the file. */
static void on_end(int number)
{
    unlink_temporary();
    if (number == SIGPROF && cli_cpu_limit_report())
        _exit(CLI_INPUT);
    signal(number, SIG_DFL);
    raise(number); /* delivered after this handler returns */
}

static void on_bus(int number)
{
    static const char text[] = "pcol: a file in use was truncated, or its disk failed\n";

    (void)number;
    unlink_temporary();
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(CLI_IO);
    _exit(CLI_IO);
}

static void ending_signals(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaddset(set, ending[i]);
}

void cli_signals_hold(sigset_t *old)
{
    sigset_t set;

    ending_signals(&set);
    sigprocmask(SIG_BLOCK, &set, old);
}

void cli_signals_release(const sigset_t *old)
{
    sigprocmask(SIG_SETMASK, old, NULL);
}

void cli_signals(void)
{
    struct sigaction action;
    struct sigaction old;

    /* Open descriptors 0, 1 and 2 if closed, so that no file gets one of them and receives
     * messages. */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            _exit(CLI_IO);
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
    action.sa_handler = on_bus;
    sigaction(SIGBUS, &action, NULL);
    action.sa_handler = on_end;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
}

/* Open the output; the handlers know its temporary name from the first moment. */
static pcol_status open_file(struct cli_out *out, const char *path, unsigned flags, pcol_error *err)
{
    sigset_t old;
    struct stat info;

    /* A FIFO or a device has no temporary name, and opening it may wait for a reader: signals
     * must interrupt that. */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        out->slot = CLI_OUT_FILES;
        return pcol_output_open(path, flags, &out->file, err);
    }
    cli_signals_hold(&old);
    pcol_status status = pcol_output_open(path, flags, &out->file, err);
    if (status == PCOL_OK) {
        const char *name = pcol_output_temporary(out->file);
        size_t slot = 0;
        while (slot < CLI_OUT_FILES && temporary_set[slot])
            slot++;
        out->slot = slot;
        if (name != NULL && slot < CLI_OUT_FILES && strlen(name) < sizeof temporary[slot]) {
            memcpy(temporary[slot], name, strlen(name) + 1);
            temporary_set[slot] = 1;
        }
    }
    cli_signals_release(&old);
    return status;
}

/* ---- opening ---- */

static int wants_color(const struct cli_args *args, int terminal)
{
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");

    if (args->color != NULL && strcmp(args->color, "auto") != 0)
        return strcmp(args->color, "always") == 0;
    return terminal && (no_color == NULL || *no_color == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

/* Never write over an input, under any name. */
static int refuse_operands(const struct cli_args *args, const char *path)
{
    const struct cli_list *lists[] = {&args->files_from, &args->bases, &args->binaries,
                                      &args->known};
    int code = cli_reject_input(path, args->operands, args->operand_count);

    if (code == CLI_OK && args->base != NULL)
        code = cli_reject_input(path, &args->base, 1);
    for (size_t i = 0; code == CLI_OK && i < sizeof lists / sizeof *lists; i++)
        code = cli_reject_input(path, lists[i]->items, lists[i]->count);
    return code;
}

unsigned cli_terminal_columns(void)
{
    struct winsize size;
    const char *given = getenv("COLUMNS");
    uint64_t columns = 0;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    else if (given == NULL || cli_parse_u64(given, &columns) != 0)
        columns = 80;
    return columns < 20 ? 20 : columns > 2000 ? 2000 : (unsigned)columns;
}

int cli_out_open_path(struct cli_out *out, const struct cli_args *args, const char *path,
                      unsigned flags)
{
    unsigned how = (args->force ? PCOL_OUTPUT_OVERWRITE : 0) |
                   (args->no_sync ? PCOL_OUTPUT_NO_SYNC : 0) |
                   ((flags & CLI_OUT_PRIVATE) ? PCOL_OUTPUT_PRIVATE : 0);
    pcol_error err;
    int code;

    memset(out, 0, offsetof(struct cli_out, buffer));
    if (path == NULL || strcmp(path, "-") == 0) {
        out->name = "stdout";
        out->terminal = isatty(STDOUT_FILENO);
        out->is_ascii = cli_is_ascii(STDOUT_FILENO);
        if (out->terminal && (flags & CLI_OUT_BINARY))
            return cli_fail(CLI_REFUSED, "binary output cannot go to a terminal; use -o OUT");
        out->color = wants_color(args, out->terminal);
        return CLI_OK;
    }
    out->name = path;
    out->color = wants_color(args, 0);
    if (*path == '\0')
        return cli_usage("the name of the output is empty");
    code = refuse_operands(args, path);
    if (code != CLI_OK)
        return code;
    if (open_file(out, path, how, &err) == PCOL_OK)
        return CLI_OK;
    if (err.status == PCOL_E_EXISTS && !args->force)
        return cli_fail(CLI_REFUSED, "%s: the file exists; -f replaces it", path);
    return cli_fail_error(path, &err);
}

int cli_out_open(struct cli_out *out, const struct cli_args *args)
{
    return cli_out_open_path(out, args, args->output, 0);
}

void cli_out_open_memory(struct cli_out *out, const struct cli_out *like)
{
    memset(out, 0, offsetof(struct cli_out, buffer));
    out->memory = 1;
    out->terminal = like->terminal;
    out->is_ascii = like->is_ascii;
}

void cli_out_open_sink(struct cli_out *out, pcol_sink sink)
{
    memset(out, 0, offsetof(struct cli_out, buffer));
    out->name = "output";
    out->sink = sink;
}

/* ---- writing ---- */

static pcol_status note_error(pcol_error *err, const char *what, int number)
{
    if (err != NULL) {
        memset(err, 0, sizeof *err);
        err->status = PCOL_E_IO;
        err->offset = err->inflated_offset = err->row = PCOL_POSITION_UNKNOWN;
        snprintf(err->message, sizeof err->message, "%s: %s", what, strerror(number));
    }
    return PCOL_E_IO;
}

/* Write everything to stdout; after a short write, try again for the reason. */
static void write_stdout(struct cli_out *out, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(STDOUT_FILENO, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EPIPE) {
            out->code = CLI_CLOSED;
            return;
        }
        if (done <= 0) {
            out->code = cli_fail(CLI_IO, "stdout: %s", strerror(done < 0 ? errno : ENOSPC));
            return;
        }
        data += done;
        size -= (size_t)done;
    }
}

/* ---- folding ---- */

void cli_out_fold(struct cli_out *out)
{
    if (!out->terminal || out->memory || out->file != NULL || out->fold != 0)
        return;
    cli_out_flush(out);
    out->fold = cli_terminal_columns();
}

/* Bytes of an escape sequence that sets a colour, 0 if there is none. */
static size_t color_size(const char *text, size_t size)
{
    size_t i = 2;

    if (size < 3 || text[0] != '\033' || text[1] != '[')
        return 0;
    while (i < size && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';'))
        i++;
    return i < size ? i + 1 : 0;
}

static size_t columns_of(const char *text, size_t size)
{
    size_t columns = 0, one, length;

    for (size_t i = 0; i < size; i += length)
        if ((length = color_size(text + i, size - i)) == 0) {
            length = cli_character(text + i, size - i, &one);
            columns += one;
        }
    return columns;
}

/* Write the line up to a blank, or all of it, and continue on a new line. */
static void break_line(struct cli_out *out)
{
    size_t end = out->line_used, indent = out->line_indent;
    char *line = out->line;

    while (end > indent && line[end - 1] != ' ')
        end--;
    size_t next = end > indent ? end : out->line_used;
    for (end = next; end > indent && line[end - 1] == ' ';)
        end--;
    write_stdout(out, line, end);
    write_stdout(out, "\n", 1);
    size_t moved = out->line_used - next;
    size_t blanks = out->line_continued ? indent : indent + 2;
    blanks = blanks < out->fold / 2 ? blanks : out->fold / 2;
    memmove(line + blanks, line + next, moved);
    memset(line, ' ', blanks);
    out->line_indent = blanks;
    out->line_continued = 1;
    out->line_used = blanks + moved;
    out->line_columns = columns_of(line, out->line_used);
}

static void fold_lines(struct cli_out *out, const char *data, size_t size)
{
    size_t columns, length;

    for (size_t i = 0; i < size && out->code == 0; i += length) {
        int is_color = (length = color_size(data + i, size - i)) > 0;
        columns = 0;
        if (!is_color)
            length = cli_character(data + i, size - i, &columns);
        if (data[i] == '\n') {
            out->line[out->line_used++] = '\n';
            write_stdout(out, out->line, out->line_used);
            out->line_used = out->line_columns = out->line_indent = 0;
            out->line_continued = 0;
            continue;
        }
        if (out->line_columns + columns > out->fold) {
            break_line(out);
            if (data[i] == ' ' && out->line_used == out->line_indent)
                continue;
        }
        if (out->line_used + length + 1 >= CLI_LINE_SIZE / 2) { /* no columns: not ours */
            write_stdout(out, out->line, out->line_used);
            out->line_used = 0;
        }
        if (data[i] == ' ' && out->line_used == out->line_indent)
            out->line_indent++;
        memcpy(out->line + out->line_used, data + i, length);
        out->line_used += length;
        out->line_columns += columns;
    }
}

int cli_check_written(uint64_t written)
{
    if (!cli_is_beyond(written, OUTPUT_BYTES, OUTPUT_BYTES_PER_BYTE))
        return CLI_OK;
    return cli_fail(
        CLI_INPUT, "the output would take more than %llu MB; if you trust the input, use --trusted",
        (unsigned long long)(written >> 20));
}

static void pass_on(struct cli_out *out, const char *data, size_t size)
{
    pcol_error err;

    if (out->code != 0 || size == 0)
        return;
    if (out->memory) {
        out->code = CLI_IO;
        return;
    }
    out->written += size;
    out->code = cli_check_written(out->written);
    if (out->code != CLI_OK)
        return;
    if (out->file == NULL && out->sink.write == NULL) {
        if (out->fold != 0)
            fold_lines(out, data, size);
        else
            write_stdout(out, data, size);
        return;
    }
    pcol_sink sink = out->file != NULL ? pcol_output_sink(out->file) : out->sink;
    if (sink.write(sink.context, data, size, &err) != PCOL_OK)
        out->code = cli_fail_error(out->name, &err);
    if (out->file != NULL)
        cli_progress_written(out->name, out->written);
}

void cli_out_flush(struct cli_out *out)
{
    size_t used = out->used;
    out->used = 0;
    pass_on(out, out->buffer, used);
}

void cli_out_long(struct cli_out *out, const void *data, size_t size)
{
    cli_out_flush(out);
    if (size >= CLI_OUT_SIZE) {
        pass_on(out, data, size);
        return;
    }
    memcpy(out->buffer, data, size);
    out->used = size;
}

void cli_out_text(struct cli_out *out, const char *text)
{
    cli_out_write(out, text, strlen(text));
}

void cli_out_printf(struct cli_out *out, const char *format, ...)
{
    char text[1024];
    va_list list;

    va_start(list, format);
    int size = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (size > 0)
        cli_out_write(out, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

void cli_out_words(struct cli_out *out, const char *text, size_t size, size_t indent)
{
    size_t column = indent, at = 0;
    size_t last = out->fold > 0 && out->fold < 79 ? out->fold : 79;

    while (at < size) {
        size_t end = at;
        while (end < size && text[end] != ' ')
            end++;
        if (column > indent && column + 1 + (end - at) > last) {
            cli_out_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            cli_out_text(out, " ");
            column++;
        }
        cli_out_write(out, text + at, end - at);
        column += end - at;
        for (at = end; at < size && text[at] == ' ';)
            at++;
    }
    cli_out_text(out, "\n");
}

void cli_out_cut(struct cli_out *out, const char *text, size_t size, size_t width)
{
    const char *sign = cli_signs(out->is_ascii)->ellipsis;
    size_t start = 0, end = size, columns;
    size_t sign_width = out->is_ascii ? strlen(sign) : 1;

    if (columns_of(text, size) <= width) {
        cli_out_write(out, text, size);
        return;
    }
    if (sign_width > 1 && width < 3 * sign_width) { /* few columns: a shorter sign */
        sign = ".";
        sign_width = 1;
    }
    size_t front = width / 2, back = front + sign_width < width ? width - front - sign_width : 0;
    front = width > back + sign_width ? width - back - sign_width : 0;
    for (size_t at; start < size; start += at, front -= columns) {
        at = cli_character(text + start, size - start, &columns);
        if (columns > front)
            break;
    }
    for (size_t at = size; at > start;) {
        size_t next = at--;
        while (at > start && ((unsigned char)text[at] & 0xc0u) == 0x80u)
            at--;
        cli_character(text + at, next - at, &columns);
        if (columns > back)
            break;
        back -= columns;
        if (columns > 0) /* a combining character stays with the one before it */
            end = at;
    }
    cli_out_write(out, text, start);
    cli_out_text(out, sign);
    cli_out_write(out, text + end, size - end);
}

void cli_out_safe(struct cli_out *out, const char *text, size_t size)
{
    char safe[1024];

    while (size > 0 && out->code == 0) { /* a text may be long, and follow a failure */
        size_t part = size < sizeof safe / 4 ? size : sizeof safe / 4;
        size_t used;
        /* Do not split a character. */
        for (size_t back = 0; part < size && back < 3 && part > 1; back++, part--)
            if (((unsigned char)text[part] & 0xc0u) != 0x80u)
                break;
        cli_escape(text, part, out->is_ascii, safe, &used);
        cli_out_write(out, safe, used);
        text += part;
        size -= part;
    }
}

static pcol_status sink_write(void *context, const void *data, size_t size, pcol_error *err)
{
    struct cli_out *out = context;

    cli_out_write(out, data, size);
    return out->code == 0 ? PCOL_OK : note_error(err, out->name, EIO);
}

pcol_sink cli_out_sink(struct cli_out *out)
{
    pcol_sink sink = {sink_write, out};
    return sink;
}

/* ---- closing ---- */

int cli_out_complete(struct cli_out *out, int code)
{
    pcol_error err;

    cli_out_flush(out);
    if (code == CLI_OK && out->code != CLI_CLOSED)
        code = out->code;
    if (code != CLI_OK || out->code != 0 || out->file == NULL)
        return code;
    return pcol_output_complete(out->file, &err) == PCOL_OK ? CLI_OK
                                                            : cli_fail_error(out->name, &err);
}

int cli_out_finish(struct cli_out *out, int code)
{
    pcol_error err;
    sigset_t old;

    cli_out_flush(out);
    if (out->line_used > 0 && out->code == 0)
        write_stdout(out, out->line, out->line_used);
    if (out->code == CLI_CLOSED)
        return CLI_OK;
    if (out->code != 0)
        code = out->code;
    if (code == CLI_OK || code == CLI_NO)
        code = cli_worst_code(code, cli_inputs_intact());
    cli_cpu_limit_end();
    if (out->file == NULL)
        return code;
    if (code == CLI_OK || code == CLI_NO) {
        if (pcol_output_commit(out->file, &err) != PCOL_OK)
            code = cli_fail_error(out->name, &err);
    } else {
        pcol_output_abort(out->file);
    }
    out->file = NULL;
    cli_signals_hold(&old);
    if (out->slot < CLI_OUT_FILES)
        temporary_set[out->slot] = 0;
    cli_signals_release(&old);
    return code;
}

/* ---- names of outputs ---- */

/* The folder and the name of a target, from its temporary file FOLDER/.NAME.pcol-XXXXXX; 0: it has
 * none. */
static int get_target(const struct cli_out *out, struct stat *folder, const char **name,
                      size_t *size)
{
    const char *path = out->file != NULL ? pcol_output_temporary(out->file) : "";
    const char *slash = strrchr(path, '/');
    size_t used = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char text[PATH_MAX];

    if (*path == '\0' || used + 2 > sizeof text)
        return 0;
    memcpy(text, path, used);
    memcpy(text + used, ".", 2);
    *name = path + used;
    *size = strlen(*name) - strlen("XXXXXX");
    return stat(text, folder) == 0;
}

int cli_outs_equal(const struct cli_out *a, const struct cli_out *b)
{
    struct stat folder[2];
    const char *name[2];
    size_t size[2];

    return get_target(a, &folder[0], &name[0], &size[0]) &&
           get_target(b, &folder[1], &name[1], &size[1]) && folder[0].st_dev == folder[1].st_dev &&
           folder[0].st_ino == folder[1].st_ino && size[0] == size[1] &&
           memcmp(name[0], name[1], size[0]) == 0;
}

int cli_reject_input(const char *output, const char *const *inputs, size_t count)
{
    struct stat one, two;

    if (output == NULL || strcmp(output, "-") == 0 || stat(output, &one) != 0 ||
        !S_ISREG(one.st_mode))
        return CLI_OK;
    for (size_t i = 0; i < count; i++) {
        int is_stdin = strcmp(inputs[i], "-") == 0;
        if ((is_stdin ? fstat(STDIN_FILENO, &two) : stat(inputs[i], &two)) == 0 &&
            one.st_dev == two.st_dev && one.st_ino == two.st_ino)
            return cli_fail(CLI_REFUSED, "%s: the output must not be an input", output);
    }
    return CLI_OK;
}
