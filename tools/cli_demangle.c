/*
 * cli_demangle.c - demangled C++ names
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 4096u /* longer names are not demangled: they may expand greatly */
#define REPEATS 16u   /* substitutions demangled without a child process: at most some MB */
#define EXPANSION 9u  /* substitutions that a pack expansion counts for: nested ones multiply */
#define LONGEST_OUT 65536u  /* longer demangled names are not shown */
#define MS 1000             /* microseconds */
#define PATIENCE (250 * MS) /* maximum for a name in a child process */
#define USUAL (50 * MS)     /* a name that takes longer, or has no result, is slow */
#define MOST (1000 * MS)    /* for all slow names; then no more are demangled */

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

/* Runs in the child. Its memory ends with it. No code of the command may run: no handlers. */
static void demangle_and_end(demangle_fn *demangler, const char *name, int fd)
{
    const struct rlimit second = {1, 1};
    sigset_t all;
    int status = 0;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setrlimit(RLIMIT_CPU, &second); /* ends the child if its parent exits */
    char *text = demangler(name, NULL, NULL, &status);
    size_t size = text != NULL && status == 0 ? strlen(text) : 0;
    for (size_t at = 0; size <= LONGEST_OUT && at < size;) {
        ssize_t n = write(fd, text + at, size - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    _exit(0);
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Read until the end of the pipe and terminate the text. 0: empty, too long, or too late. */
static size_t read_in_time(int fd, char *to)
{
    int64_t end = now_us() + PATIENCE;
    size_t size = 0;

    for (;;) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        int64_t left = end - now_us();
        int ready = poll(&one, 1, left > 0 ? (int)(left / MS) + 1 : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t n = ready > 0 ? read(fd, to + size, LONGEST_OUT + 1 - size) : -1;
        if (n < 0 && ready > 0 && errno == EINTR)
            continue;
        if (n < 0 || size + (size_t)n > LONGEST_OUT)
            return 0;
        if (n == 0) {
            to[size] = '\0';
            return size;
        }
        size += (size_t)n;
    }
}

/* The demangled name, which the caller frees; NULL: not demangled. */
static char *demangle_apart(demangle_fn *demangler, const char *name)
{
    int ends[2];
    char *text = malloc(LONGEST_OUT + 1);

    if (text == NULL || pipe(ends) != 0) {
        free(text);
        return NULL;
    }
    pid_t child = fork();
    if (child == 0)
        demangle_and_end(demangler, name, ends[1]);
    close(ends[1]);
    size_t size = child > 0 ? read_in_time(ends[0], text) : 0;
    close(ends[0]);
    if (child > 0) {
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (size > 0)
        return text;
    free(text);
    return NULL;
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
    if (spent[is_apart] > MOST)
        return name;
    int64_t start = now_us();
    *buffer = is_apart ? demangle_apart(demangler, text) : demangler(text, NULL, NULL, &status);
    int64_t taken = now_us() - start;
    size_t size = *buffer != NULL && status == 0 ? strlen(*buffer) : 0;
    int is_shown = size > 0 && size <= LONGEST_OUT;
    spent[is_apart] += !is_shown || taken > USUAL ? taken : 0;
    return is_shown ? (pcol_str){*buffer, size} : name;
}

void cli_names_init(struct cli_names *names, const struct cli_args *args, int people)
{
    names->plain = NULL;
    names->wanted =
        args->demangle != NULL &&
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
    return names->wanted ? demangle(name, &names->plain) : name;
}
