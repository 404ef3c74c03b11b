/*
 * cli_demangle.c - demangled names of C++, and of Rust in its older form
 *
 * The demangler of the C++ runtime is loaded on first use; without the runtime, names are shown
 * unchanged. Machine formats keep mangled names by default, because results must not depend on the
 * installed libraries.
 *
 * Substitutions (S0_, T_) can make a name of 150 bytes expand to gigabytes, and the demangler has
 * no limit. A child process with limits on time and output demangles names with many
 * substitutions; names beyond the limits are shown unchanged. The time that slow names take in all
 * is limited, too.
 */
#include "cli.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 4096u /* longer names are not demangled: they may expand greatly */
#define REPEATS 16u   /* substitutions demangled without a child process: at most some MB */
#define EXPANSION 9u  /* substitutions that a pack expansion counts for: nested ones multiply */
#define LONGEST_OUT 65536u      /* longer demangled names are not shown */
#define MS 1000                 /* microseconds */
#define PATIENCE (250 * MS)     /* maximum for a name in a child process */
#define USUAL (50 * MS)         /* a name that takes longer, or has no result, is slow */
#define MOST (1000 * MS)        /* for all slow names; then no more are demangled */
#define MOST_OF_ALL (4000 * MS) /* for all names */
#define MOST_FILES 256          /* that the child closes */

typedef char *demangle_fn(const char *name, char *buffer, size_t *size, int *status);

static demangle_fn *find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    demangle_fn *found = NULL;

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && found == NULL; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        void *symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
        /* POSIX guarantees this conversion; C has none between the two kinds of pointers. */
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

/* Count substitutions: S_, S0_, T_, T0_ and so on; Dp and sp (packs) weigh more. */
static size_t count_repeats(const char *name)
{
    size_t count = 0;

    for (const char *p = name; *p != '\0'; p++) {
        if (p[1] == 'p' && (*p == 'D' || *p == 's'))
            count += EXPANSION;
        if (*p != 'S' && *p != 'T')
            continue;
        const char *q = p + 1 + strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        count += *q == '_';
    }
    return count;
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- the child process ---- */

/* The process that demangles names with many substitutions, one after the other. */
static struct {
    pid_t id; /* 0: none */
    int socket;
} child;

/* Read exactly `size` bytes; 0: the other process has ended, or it is late. end: by now_us(), 0: at
 * any time. */
static int read_all(int fd, void *to, size_t size, int64_t end)
{
    for (size_t at = 0; at < size;) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        int64_t left = end > 0 ? end - now_us() : 0;
        int ready = end > 0 ? poll(&one, 1, left > 0 ? (int)(left / MS) + 1 : 0) : 1;
        ssize_t n = ready > 0 ? recv(fd, (char *)to + at, size - at, 0) : ready;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        at += (size_t)n;
    }
    return 1;
}

static int write_all(int fd, const void *from, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = send(fd, (const char *)from + at, size - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return 0;
        at += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

/* Runs in the child, until its parent ends or it has used its time. No other code of the command
 * may run: no handlers. */
static void serve(demangle_fn *demangler, int fd)
{
    const struct rlimit seconds = {MOST / (1000 * MS), MOST / (1000 * MS)};
    char name[LONGEST + 1];
    sigset_t all;
    uint32_t size;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setrlimit(RLIMIT_CPU, &seconds);
    for (int other = 0; other < MOST_FILES; other++) /* the command's files end with the command */
        if (other != fd)
            close(other);
    while (read_all(fd, &size, sizeof size, 0) && read_all(fd, name, size, 0)) {
        int status = 0;
        name[size] = '\0';
        char *text = demangler(name, NULL, NULL, &status);
        size_t length = text != NULL && status == 0 ? strlen(text) : 0;
        size = length <= LONGEST_OUT ? (uint32_t)length : 0;
        if (!write_all(fd, &size, sizeof size) || !write_all(fd, text, size))
            break;
        free(text);
    }
    _exit(0);
}

static void end_child(void)
{
    if (child.id == 0)
        return;
    kill(child.id, SIGKILL);
    while (waitpid(child.id, NULL, 0) < 0 && errno == EINTR)
        continue;
    close(child.socket);
    child.id = 0;
}

static int start_child(demangle_fn *demangler)
{
    static int is_registered;
    int ends[2];

    is_registered = is_registered || atexit(end_child) == 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return 0;
    child.id = fork();
    if (child.id == 0) {
        close(ends[0]);
        serve(demangler, ends[1]);
    }
    close(ends[1]);
    child.socket = ends[0];
    if (child.id > 0)
        return 1;
    close(ends[0]);
    child.id = 0;
    return 0;
}

/* *text: the demangled name, none if there is no demangled form. 0: the child has ended, or it is
 * late. */
static int ask_child(const char *name, char *text, int64_t end)
{
    uint32_t size = (uint32_t)strlen(name);

    if (!write_all(child.socket, &size, sizeof size) || !write_all(child.socket, name, size) ||
        !read_all(child.socket, &size, sizeof size, end) || size > LONGEST_OUT ||
        !read_all(child.socket, text, size, end))
        return 0;
    text[size] = '\0';
    return 1;
}

/* The demangled name, which the caller frees; NULL: not demangled. A child that has used its time
 * for other names is replaced. */
static char *demangle_apart(demangle_fn *demangler, const char *name)
{
    int64_t end = now_us() + PATIENCE;
    char *text = malloc(LONGEST_OUT + 1);
    int is_done = 0;

    while (text != NULL && !is_done && now_us() < end && (child.id > 0 || start_child(demangler))) {
        is_done = ask_child(name, text, end);
        if (!is_done)
            end_child();
    }
    if (is_done && text[0] != '\0')
        return text;
    free(text);
    return NULL;
}

static int64_t all; /* time spent on names */

int cli_names_are_over(void)
{
    return all > MOST_OF_ALL;
}

/* The caller frees *buffer. */
static pcol_str demangle(pcol_str name, char **buffer)
{
    static demangle_fn *demangler;
    static int looked;
    static int64_t spent[2]; /* by slow names, without and with a child process */
    char text[LONGEST + 1];
    int status = 0;

    *buffer = NULL;
    if (name.size < 3 || name.size > LONGEST || memcmp(name.data, "_Z", 2) != 0 ||
        memchr(name.data, '\0', name.size) != NULL)
        return name;
    if (!looked) {
        demangler = find_demangler();
        looked = 1;
    }
    if (demangler == NULL)
        return name;
    memcpy(text, name.data, name.size);
    text[name.size] = '\0';
    int is_apart = count_repeats(text) > REPEATS;
    if (spent[is_apart] > MOST || all > MOST_OF_ALL)
        return name;
    int64_t start = now_us();
    *buffer = is_apart ? demangle_apart(demangler, text) : demangler(text, NULL, NULL, &status);
    int64_t taken = now_us() - start;
    size_t size = *buffer != NULL && status == 0 ? strlen(*buffer) : 0;
    size = size > 0 ? cli_rust_name(*buffer, size) : 0;
    int is_shown = size > 0 && size <= LONGEST_OUT;
    spent[is_apart] += !is_shown || taken > USUAL ? taken : 0;
    all += taken;
    return is_shown ? (pcol_str){*buffer, size} : name;
}

/* "main;_Z1fv;_Z1gv": a mangled name has no semicolon. */
static pcol_str demangle_stack(pcol_str path, char **buffer)
{
    const char *frame = path.data, *end = path.data + path.size;
    char *text = NULL;
    size_t used = 0;

    while (frame != NULL) {
        const char *separator = memchr(frame, ';', (size_t)(end - frame));
        size_t size = (size_t)((separator != NULL ? separator : end) - frame);
        char *plain;
        pcol_str name = demangle((pcol_str){frame, size}, &plain);
        char *grown = realloc(text, used + name.size + 1);
        if (grown != NULL && name.size > 0)
            memcpy(grown + used, name.data, name.size);
        free(plain);
        if (grown == NULL) {
            free(text);
            return path;
        }
        text = grown;
        used += name.size;
        text[used++] = ';';
        frame = separator != NULL ? separator + 1 : NULL;
    }
    *buffer = text;
    return (pcol_str){text, used - 1};
}

static int has_names_of_frames(pcol_by by)
{
    return by == PCOL_BY_FUNCTION || by == PCOL_BY_LINE || by == PCOL_BY_LOCATION ||
           by == PCOL_BY_STACK;
}

void cli_names_init(struct cli_names *names, const struct cli_args *args, int people, pcol_by by)
{
    names->plain = NULL;
    names->is_stack = by == PCOL_BY_STACK;
    names->wanted =
        args->demangle != NULL && has_names_of_frames(by) &&
        (strcmp(args->demangle, "auto") == 0 ? people : strcmp(args->demangle, "on") == 0);
}

void cli_names_in_graphs(struct cli_args *args)
{
    if (strcmp(args->demangle, "auto") == 0)
        args->demangle = "on";
}

void cli_names_free(struct cli_names *names)
{
    free(names->plain);
    names->plain = NULL;
}

pcol_str cli_name(struct cli_names *names, pcol_str name)
{
    cli_names_free(names);
    if (!names->wanted)
        return name;
    return names->is_stack ? demangle_stack(name, &names->plain) : demangle(name, &names->plain);
}
