/*
 * cli_addr2line.c - functions and lines of addresses, from the program addr2line
 *
 * Debugging information is read by another process: a damaged binary can at most end that process,
 * which has limits of memory and time. Addresses come from a temporary file and answers go to a
 * pipe, so that neither side waits for the other. The programs of GNU and LLVM write these lines:
 *
 *   0x0000000000001139      the address, in the order of the addresses
 *   function                a pair for each inlined call, then for the function
 *   file:line
 *
 * Tests: suite symbolize.
 */
#include "cli_addr2line.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Limit of the memory of answers: a symbol occurs in `symbols`, and in the call of the library. */
#define FREE_BYTES ((uint64_t)256 << 20)
#define BYTES_PER_BYTE 200 /* of the binary */
#define SYMBOL_BYTES (2 * sizeof(pcol_symbol))
#define MOST_MEMORY ((rlim_t)16 << 30) /* address space of the program */

/* ---- the process ---- */

struct process {
    const char *program, *binary;
    pid_t parent, pid;
    int output; /* read end of the pipe; -1: closed */
    uint64_t seconds;
    uint64_t most; /* bytes of answers */
    time_t end;    /* of seconds_now(), which are rounded down */
};

static time_t seconds_now(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? now.tv_sec : 0;
}

static void limit(int resource, rlim_t most)
{
    struct rlimit now;

    if (getrlimit(resource, &now) == 0 && (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > most)) {
        now.rlim_cur = most;
        (void)setrlimit(resource, &now);
    }
}

/* In the new process, which ends when pcol is ended. Does not return. */
static void run_program(const struct process *process, int input, int output)
{
    const char *const words[] = {process->program, "-a", "-f", "-i", "-e", process->binary, NULL};
    int null = open("/dev/null", O_WRONLY);

#ifdef __linux__
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != process->parent)
        _exit(127);
#endif
    limit(RLIMIT_AS, MOST_MEMORY);
    limit(RLIMIT_CORE, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        dup2(null, STDERR_FILENO) >= 0)
        execvp(process->program, (char *const *)(uintptr_t)words);
    _exit(127);
}

static int fail_system(const struct process *process)
{
    return cli_fail(CLI_IO, "%s: cannot be started: %s", process->program, strerror(errno));
}

/* Write the addresses to a temporary file, which has no name. */
static int write_addresses(FILE **file, const uint64_t *addresses, size_t count)
{
    *file = tmpfile();
    for (size_t i = 0; *file != NULL && i < count; i++)
        fprintf(*file, "0x%" PRIx64 "\n", addresses[i]);
    if (*file == NULL || fflush(*file) != 0 || ferror(*file) || fseek(*file, 0, SEEK_SET) != 0)
        return cli_fail(CLI_IO, "cannot write a temporary file: %s", strerror(errno));
    return CLI_OK;
}

static int start_program(struct process *process, FILE *input)
{
    int ends[2];

    (void)unsetenv("DEBUGINFOD_URLS"); /* no network */
    if (pipe(ends) != 0)
        return fail_system(process);
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    process->parent = getpid();
    process->pid = fork();
    if (process->pid == 0)
        run_program(process, fileno(input), ends[1]);
    (void)close(ends[1]);
    process->output = ends[0];
    process->end = seconds_now() + (time_t)process->seconds + 1;
    return process->pid < 0 ? fail_system(process) : CLI_OK;
}

/* Wait for the next output. */
static int wait_output(const struct process *process)
{
    struct pollfd output = {process->output, POLLIN, 0};

    for (;;) {
        time_t left = process->end - seconds_now();
        int ready = left > 0 ? poll(&output, 1, left > 1000 ? 1000000 : (int)left * 1000) : 0;
        if (ready > 0)
            return CLI_OK;
        if (ready < 0 && errno != EINTR)
            return fail_system(process);
        if (left <= 0)
            return cli_fail(CLI_IO, "%s: %s has not answered within %" PRIu64 " s (--timeout)",
                            process->binary, process->program, process->seconds);
    }
}

static int check_memory(const struct process *process, const struct cli_symbols *symbols)
{
    if (symbols->size + symbols->count * SYMBOL_BYTES <= process->most)
        return CLI_OK;
    return cli_fail(CLI_INPUT,
                    "%s: the answers of %s take more than %" PRIu64
                    " bytes; if you trust the binary, symbolize with --trusted",
                    process->binary, process->program, process->most);
}

static int read_output(const struct process *process, struct cli_symbols *symbols)
{
    size_t capacity = 0;

    for (;;) {
        int code = wait_output(process);
        if (code != CLI_OK)
            return code;
        if (capacity - symbols->size < 4096) {
            capacity = 2 * capacity + 65536;
            char *text = realloc(symbols->text, capacity);
            if (text == NULL)
                return cli_fail_memory();
            symbols->text = text;
        }
        ssize_t n = read(process->output, symbols->text + symbols->size, capacity - symbols->size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_system(process);
        if (n == 0)
            return CLI_OK;
        symbols->size += (size_t)n;
        code = check_memory(process, symbols);
        if (code != CLI_OK)
            return code;
    }
}

static int end_program(const struct process *process, int code)
{
    int status = 0;

    if (process->output >= 0)
        (void)close(process->output);
    if (process->pid <= 0)
        return code;
    if (code != CLI_OK)
        (void)kill(process->pid, SIGKILL);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (code != CLI_OK || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return code;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return cli_fail(CLI_IO,
                        "%s: cannot be started; it is in the package binutils, and --addr2line "
                        "names another program",
                        process->program);
    if (WIFSIGNALED(status))
        return cli_fail(CLI_INPUT, "%s: %s was ended by signal %d", process->binary,
                        process->program, WTERMSIG(status));
    return cli_fail(CLI_INPUT, "%s: %s failed with exit code %d", process->binary, process->program,
                    WEXITSTATUS(status));
}

/* ---- answers ---- */

struct lines {
    char *at, *end;
    size_t number;
};

/* The next line, without its end; data NULL: none. */
static pcol_str next_line(struct lines *lines)
{
    pcol_str line = {NULL, 0};
    char *end =
        lines->at < lines->end ? memchr(lines->at, '\n', (size_t)(lines->end - lines->at)) : NULL;

    if (end == NULL)
        return line;
    line = (pcol_str){lines->at, (size_t)(end - lines->at)};
    lines->at = end + 1;
    lines->number++;
    return line;
}

static int is_address(pcol_str line, uint64_t address)
{
    char wanted[20];
    size_t digits = (size_t)snprintf(wanted, sizeof wanted, "%" PRIx64, address), zeros;

    if (line.data == NULL || line.size < 2 + digits || memcmp(line.data, "0x", 2) != 0)
        return 0;
    zeros = line.size - 2 - digits;
    for (size_t i = 0; i < zeros; i++)
        if (line.data[2 + i] != '0')
            return 0;
    return memcmp(line.data + 2 + zeros, wanted, digits) == 0;
}

/* Split "file:line", where a column or "(discriminator N)" may follow; "?" is unknown. A file that
 * is not known is "??", for some symbols of libraries nothing. */
static void split_place(pcol_str place, pcol_symbol *symbol)
{
    size_t colon = place.size, at;

    for (at = 0; at < place.size; at++)
        if (place.data[at] == ':')
            colon = at;
    symbol->filename = (pcol_str){NULL, 0};
    symbol->line = 0;
    if (colon == place.size)
        return;
    for (at = colon + 1; at < place.size && place.data[at] >= '0' && place.data[at] <= '9'; at++)
        if (symbol->line < INT32_MAX)
            symbol->line = 10 * symbol->line + (place.data[at] - '0');
    if (colon > 0 && (colon != 2 || memcmp(place.data, "??", 2) != 0))
        symbol->filename = (pcol_str){place.data, colon};
}

static int add_symbol(const struct process *process, struct cli_symbols *symbols, pcol_str function,
                      pcol_str place)
{
    if (function.size == 0 || (function.size == 2 && memcmp(function.data, "??", 2) == 0))
        return CLI_OK;
    if (symbols->count == symbols->capacity) {
        size_t capacity = symbols->capacity + symbols->capacity / 2 + 256;
        pcol_symbol *grown = realloc(symbols->symbols, capacity * sizeof *grown);
        if (grown == NULL)
            return cli_fail_memory();
        symbols->symbols = grown;
        symbols->capacity = capacity;
    }
    pcol_symbol *symbol = &symbols->symbols[symbols->count++];
    symbol->function = function;
    split_place(place, symbol);
    return check_memory(process, symbols);
}

static int parse_answers(struct cli_symbols *symbols, const struct process *process,
                         const uint64_t *addresses, size_t count)
{
    struct lines lines = {symbols->text, symbols->text + symbols->size, 0};
    pcol_str line = next_line(&lines);
    int code = CLI_OK;

    for (size_t i = 0; i < count && code == CLI_OK; i++) {
        symbols->first[i] = symbols->count;
        if (!is_address(line, addresses[i]))
            return cli_fail(CLI_INPUT, "%s: line %zu of the output of %s is not 0x%" PRIx64,
                            process->binary, lines.number, process->program, addresses[i]);
        line = next_line(&lines);
        while (code == CLI_OK && line.data != NULL &&
               !(i + 1 < count && is_address(line, addresses[i + 1]))) {
            pcol_str place = next_line(&lines);
            if (place.data == NULL)
                return cli_fail(CLI_INPUT,
                                "%s: the output of %s ends in line %zu, after a function",
                                process->binary, process->program, lines.number);
            code = add_symbol(process, symbols, line, place);
            line = next_line(&lines);
        }
    }
    symbols->first[count] = symbols->count;
    if (code == CLI_OK && lines.at != lines.end)
        return cli_fail(CLI_INPUT, "%s: the output of %s ends within a line", process->binary,
                        process->program);
    return code;
}

static uint64_t most_bytes(const char *binary, int trusted)
{
    struct stat info;

    if (trusted)
        return UINT64_MAX;
    return FREE_BYTES + (stat(binary, &info) == 0 ? BYTES_PER_BYTE * (uint64_t)info.st_size : 0);
}

int cli_addr2line(struct cli_symbols *symbols, const char *program, const char *binary,
                  const uint64_t *addresses, size_t count, uint64_t seconds, int trusted)
{
    struct process process = {.program = program,
                              .binary = binary,
                              .output = -1,
                              .seconds = seconds,
                              .most = most_bytes(binary, trusted)};
    FILE *input = NULL;

    memset(symbols, 0, sizeof *symbols);
    symbols->first = calloc(count + 1, sizeof *symbols->first);
    int code =
        symbols->first == NULL ? cli_fail_memory() : write_addresses(&input, addresses, count);
    if (code == CLI_OK) {
        code = start_program(&process, input);
        if (code == CLI_OK)
            code = read_output(&process, symbols);
        code = end_program(&process, code);
    }
    if (input != NULL)
        (void)fclose(input);
    return code == CLI_OK ? parse_answers(symbols, &process, addresses, count) : code;
}

void cli_symbols_free(struct cli_symbols *symbols)
{
    free(symbols->text);
    free(symbols->symbols);
    free(symbols->first);
    memset(symbols, 0, sizeof *symbols);
}
