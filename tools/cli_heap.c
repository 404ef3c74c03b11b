/*
 * cli_heap.c - a heap of huge pages for the import of a large profile
 *
 * An import touches memory for the first time in as many small blocks as the profile has stacks and
 * names. With pages of 4 KiB these faults take up to a half of its CPU time. The heap of glibc is
 * therefore extended once by several times the size of the input, as a hint for huge pages; what is
 * not touched takes no memory. Figures: CONTRIBUTING.md.
 */
#define _DEFAULT_SOURCE /* madvise(), sbrk() */

#include "cli.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define LARGE_INPUT (1u << 20) /* bytes; smaller inputs gained at most 4 % */
#define HEAP_PER_BYTE 4u
#define HEAP_MOST (256u << 20)
#define HUGE_PAGE ((uintptr_t)2 << 20)
#define GLIBC_TOP_PAD (128 << 10)
#define BLOCK_BYTES ((size_t)120 << 10) /* below glibc's threshold of mmap() */

void cli_heap_reserve(uint64_t input_bytes)
{
#if defined __GLIBC__ && defined MADV_HUGEPAGE
    static int is_reserved;
    uint64_t bytes =
        input_bytes < HEAP_MOST / HEAP_PER_BYTE ? input_bytes * HEAP_PER_BYTE : HEAP_MOST;
    void *blocks[4] = {NULL};

    if (is_reserved || input_bytes < LARGE_INPUT)
        return;
    is_reserved = 1;
    mallopt(M_TRIM_THRESHOLD, 2 * HEAP_MOST);
    mallopt(M_TOP_PAD, (int)bytes);
    uintptr_t begin = (uintptr_t)sbrk(0);
    for (size_t i = 0; i < 4 && (uintptr_t)sbrk(0) == begin; i++) /* uses up the free top first */
        blocks[i] = malloc(BLOCK_BYTES);
    for (size_t i = 0; i < 4; i++)
        free(blocks[i]);
    mallopt(M_TOP_PAD, GLIBC_TOP_PAD);
    uintptr_t end = (uintptr_t)sbrk(0);
    begin = (begin + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)input_bytes;
#endif
}
