/*
 * cli_heap.c - the heap of a command that makes a file out of a few hundred KB
 *
 * Such a command touches a thousand pages of 4 KiB, and a fault for each takes the kernel 1.5
 * microseconds: a fifth of all its time. So the first stretch of the heap is mapped at once and put
 * on huge pages, each of which is cleared in the time of 60 faults and is worth 512. Blocks below
 * the size that these inputs grow to come from that stretch, of whichever thread, and stay there
 * when they are free. It costs two or three huge pages of memory. Of larger inputs faults are a
 * small part, and memory is what counts; of smaller ones there are not many.
 */
#define _DEFAULT_SOURCE /* sbrk(), madvise(), here only */
#include "cli.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define LEAST_BYTES ((off_t)32 << 10) /* of input */
#define MOST_BYTES ((off_t)1 << 20)
#define MORE ((size_t)256 << 10) /* than the heap has in the beginning */
#define STRETCH (12 << 20)
#define LARGE (1 << 20)                /* blocks from here on are mapped one by one */
#define HUGE_PAGE ((uintptr_t)2 << 20) /* of most machines; where not, the hint is lost */

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
/* The heap's end grows by all of the stretch, and what lies before its first huge page is taken and
 * never touched. Whatever fails here, memory is had as before. */
static void prepare(void)
{
    static void *volatile skipped; /* keeps the compiler from leaving the allocations out */
    if (mallopt(M_ARENA_MAX, 1) != 1 || mallopt(M_MMAP_THRESHOLD, STRETCH) != 1 ||
        mallopt(M_TRIM_THRESHOLD, 2 * STRETCH) != 1 || mallopt(M_TOP_PAD, STRETCH) != 1)
        return;
    skipped = malloc(MORE);
    free(skipped);
    uintptr_t from = (uintptr_t)skipped, to = (uintptr_t)sbrk(0);
    /* The allocator has written to where that ended: a page that it has is no huge one any more. */
    uintptr_t begin = (from + MORE + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    if (from < to && to - from <= 2 * (uintptr_t)STRETCH && begin - from < to - begin) {
        (void)madvise((void *)begin, to - begin, MADV_HUGEPAGE); /* a hint */
        skipped = malloc(begin - from - 2 * sizeof(size_t));
    }
    mallopt(M_TOP_PAD, LARGE / 8);
    mallopt(M_MMAP_THRESHOLD, LARGE);
}
#else
static void prepare(void)
{
}
#endif

void cli_heap(const char *const *inputs, size_t count)
{
    static int prepared; /* once is enough for all inputs of --each */
    struct stat info;
    off_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        int is_stdin = strcmp(inputs[i], "-") == 0;
        if ((is_stdin ? fstat(STDIN_FILENO, &info) : stat(inputs[i], &info)) != 0 ||
            !S_ISREG(info.st_mode) || info.st_size > MOST_BYTES - bytes)
            return;
        bytes += info.st_size;
    }
    if (bytes >= LEAST_BYTES && !prepared++)
        prepare();
}
