/*
 * malloc.c - allocations that fail on request
 *
 * A shared object that precedes the C library's allocator (LD_PRELOAD) and sees every
 * allocation of the process. Linked into the program with -Wl,--wrap (FAULTS_WRAP) it sees those
 * of our objects, and ASan looks for leaks after it. From the environment: FAULTS_AT=N
 * fails allocation N, FAULTS_FROM=N that one and all after it; FAULTS_COUNT=FILE receives the
 * number of allocations at the end, FAULTS_PLACES=FILE the numbers of those that came first from
 * their place: the program's first calls that led there.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
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

#define FRAMES 64
#define CALLS 7 /* from main() on */
#define PLACES 4096u

static atomic_ulong seen;
static unsigned long at, from;
static int wants_places;
static _Thread_local int looking; /* backtrace() may allocate itself */
static uint64_t places[PLACES];
static unsigned long firsts[PLACES], place_count;

/* One thread is enough for what is looked for; a place that two note at once is there twice. */
static void note_place(unsigned long number)
{
    void *frames[FRAMES];
    uint64_t key = 0;
    looking = 1;
    int count = backtrace(frames, FRAMES), first = count > CALLS + 3 ? count - CALLS - 3 : 0;
    looking = 0;
    for (int i = first; i < count; i++)
        key = (key ^ (uint64_t)(uintptr_t)frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned long i = 0; i < place_count; i++)
        if (places[i] == key)
            return;
    if (place_count < PLACES) {
        places[place_count] = key;
        firsts[place_count++] = number;
    }
}

/* Calls before the program's own start are the loader's and pass. */
__attribute__((constructor)) static void begin(void)
{
    const char *one = getenv("FAULTS_AT");
    const char *all = getenv("FAULTS_FROM");
    at = one ? strtoul(one, NULL, 10) : 0;
    from = all ? strtoul(all, NULL, 10) : 0;
    wants_places = getenv("FAULTS_PLACES") != NULL;
    atomic_store(&seen, 0);
}

static void put(int fd, unsigned long number)
{
    char text[32];
    int size = snprintf(text, sizeof text, "%lu\n", number);
    if (write(fd, text, (size_t)size) != size)
        _exit(98);
}

static void end_places(void)
{
    const char *path = getenv("FAULTS_PLACES");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    for (unsigned long i = 0; fd >= 0 && i < place_count; i++)
        put(fd, firsts[i]);
    if (fd >= 0)
        close(fd);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULTS_COUNT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    end_places();
    if (fd < 0)
        return;
    put(fd, atomic_load(&seen));
    close(fd);
}

static int fails(void)
{
    if (looking)
        return 0;
    unsigned long number = atomic_fetch_add(&seen, 1) + 1;
    if (wants_places)
        note_place(number);
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
