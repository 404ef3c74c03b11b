/*
 * malloc.c - allocations that fail when they are told to
 *
 * Built as a shared object it stands before the C library's allocator (LD_PRELOAD) and sees every
 * allocation of the process. Linked into the program with -Wl,--wrap (FAULTS_WRAP) it sees those
 * that our objects ask for, and ASan looks for leaks behind it. From the environment: FAULTS_AT=N
 * fails allocation N, FAULTS_FROM=N that one and all after it; FAULTS_COUNT=FILE receives the
 * number of allocations at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef FAULTS_WRAP
#define OURS(name) __wrap_##name
#define THEIRS(name) __real_##name
#else
#define OURS(name) name
#define THEIRS(name) __libc_##name
#endif

void *THEIRS(malloc)(size_t size);
void *THEIRS(calloc)(size_t count, size_t size);
void *THEIRS(realloc)(void *memory, size_t size);
void *OURS(malloc)(size_t size);
void *OURS(calloc)(size_t count, size_t size);
void *OURS(realloc)(void *memory, size_t size);

static atomic_ulong seen;
static unsigned long at, from;

/* What comes before the program's own start is the loader's and passes. */
__attribute__((constructor)) static void begin(void)
{
    const char *one = getenv("FAULTS_AT");
    const char *all = getenv("FAULTS_FROM");
    at = one ? strtoul(one, NULL, 10) : 0;
    from = all ? strtoul(all, NULL, 10) : 0;
    atomic_store(&seen, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULTS_COUNT");
    char text[32];
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    int size = snprintf(text, sizeof text, "%lu", atomic_load(&seen));
    if (fd < 0)
        return;
    if (write(fd, text, (size_t)size) != size)
        _exit(98);
    close(fd);
}

static int fails(void)
{
    unsigned long number = atomic_fetch_add(&seen, 1) + 1;
    if (number != at && (!from || number < from))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *OURS(malloc)(size_t size)
{
    return fails() ? NULL : THEIRS(malloc)(size);
}

void *OURS(calloc)(size_t count, size_t size)
{
    return fails() ? NULL : THEIRS(calloc)(count, size);
}

void *OURS(realloc)(void *memory, size_t size)
{
    return fails() ? NULL : THEIRS(realloc)(memory, size);
}
