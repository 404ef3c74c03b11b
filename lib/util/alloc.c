/*
 * alloc.c - allocator of the library: overflow checks, budget, huge pages
 *
 * The only place that checks products for overflow; a hook can make any allocation fail. Large
 * blocks request huge pages (madvise): the kernel clears memory on first touch, and a fault for
 * each 4 KiB took a quarter of the time of a query of a profile with a quarter of a million stacks.
 */
#define _DEFAULT_SOURCE /* madvise(), here only */
#include "util/alloc.h"

#include "util/import_budget.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <malloc.h>
#endif

/* Arrays beyond this size grow by mremap() in realloc(): a copy would need the memory of both. */
#define MAX_COPIED_BYTES ((size_t)32 << 20)
#define HUGE_PAGE_BYTES PCI_MAP_BYTES /* of most machines; elsewhere the hint has no effect */

/* Arrays that grow to less do without huge pages: their last one, mostly unused, would be a tenth
 * and more of the memory of packing 10 MB. */
#define MIN_HUGE_GROWN_BYTES (4 * HUGE_PAGE_BYTES)

int (*pci_alloc_hook)(void);

/* Bytes of a request, at least 1; 0 if it overflows or the hook rejects it. Objects stay below
 * PTRDIFF_MAX, so that differences of pointers are defined. */
static size_t checked_bytes(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return 0;
    if (pci_alloc_hook && pci_alloc_hook())
        return 0;
    return bytes ? bytes : 1;
}

/* Usable bytes of a block. On systems without malloc_usable_size() budgets are not charged. */
static size_t block_bytes(void *memory)
{
#ifdef __linux__
    return memory ? malloc_usable_size(memory) : 0;
#else
    (void)memory;
    return 0;
#endif
}

/* Charge a new block; NULL, and the block is freed, if that exceeds the budget. */
static void *charge_block(void *memory)
{
    if (!pci_thread_budget || !memory || pci_budget_charge(block_bytes(memory)) == 0)
        return memory;
    free(memory);
    return NULL;
}

/* A block on huge pages. The last one is used only if at least half of it is: cleared bytes count
 * as the process's memory. */
static void *allocate_large(size_t bytes)
{
    void *memory;
    size_t whole = (bytes + HUGE_PAGE_BYTES / 2) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if (posix_memalign(&memory, HUGE_PAGE_BYTES, bytes < whole ? whole : bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, whole, MADV_HUGEPAGE); /* a hint: kernels without huge pages fail */
#endif
    return memory;
}

static int is_large(size_t bytes)
{
    return bytes >= HUGE_PAGE_BYTES / 2 && bytes < PTRDIFF_MAX - HUGE_PAGE_BYTES;
}

void *pci_malloc(size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size);
    return charge_block(is_large(bytes) ? allocate_large(bytes) : bytes ? malloc(bytes) : NULL);
}

/* Request huge pages for the part of a block that consists of whole ones. */
static void advise_huge_pages(uint8_t *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    size_t skipped = HUGE_PAGE_BYTES - (uintptr_t)memory % HUGE_PAGE_BYTES;
    if (bytes > skipped)
        (void)madvise(memory + skipped, (bytes - skipped) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES,
                      MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

/* Below 4 huge pages, clearing them twice is cheaper than the faults of the edges without them. */
void *pci_calloc(size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size);
    uint8_t *memory;
    if (!is_large(bytes))
        return bytes ? charge_block(calloc(1, bytes)) : NULL;
    if (bytes < 4 * HUGE_PAGE_BYTES) {
        memory = charge_block(allocate_large(bytes));
        return memory ? memset(memory, 0, bytes) : NULL;
    }
    memory = charge_block(calloc(1, bytes));
    if (memory) /* still untouched if it is fresh from the kernel */
        advise_huge_pages(memory, bytes);
    return memory;
}

void *pci_realloc(void *memory, size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size), before, more;
    if (!bytes || !pci_thread_budget)
        return bytes ? realloc(memory, bytes) : NULL;
    before = block_bytes(memory);
    more = bytes > before ? bytes - before : 0; /* rejected before the old block is freed */
    if (pci_budget_charge(more) != 0)
        return NULL;
    void *grown = realloc(memory, bytes);
    pci_budget_credit(more);
    if (grown) {
        pci_budget_credit(before);
        pci_budget_charge_unlimited(block_bytes(grown));
    }
    return grown;
}

void pci_free(void *memory)
{
    if (pci_thread_budget)
        pci_budget_credit(block_bytes(memory));
    free(memory);
}

/* A copy is cheaper than the page faults of a block that grows in place. */
static void *grow_large(void *array, size_t old_bytes, size_t bytes)
{
    void *grown = pci_malloc(bytes, 1);
    if (!grown)
        return NULL;
    if (old_bytes)
        memcpy(grown, array, old_bytes);
    pci_free(array);
    return grown;
}

int pci_grow(void **array, size_t *capacity, size_t needed, size_t size)
{
    size_t wanted = *capacity, bytes;
    if (needed <= wanted)
        return 0;
    wanted = wanted > SIZE_MAX / 2 ? SIZE_MAX : 2 * wanted;
    if (wanted < 16)
        wanted = 16;
    if (wanted < needed)
        wanted = needed;
    void *grown;
    if (__builtin_mul_overflow(wanted, size, &bytes) || bytes < MIN_HUGE_GROWN_BYTES ||
        bytes > MAX_COPIED_BYTES) {
        grown = pci_realloc(*array, wanted, size);
        if (grown && bytes > MAX_COPIED_BYTES)
            advise_huge_pages(grown, bytes);
    } else {
        grown = grow_large(*array, *capacity * size, wanted * size);
    }
    if (!grown)
        return -1;
    *array = grown;
    *capacity = wanted;
    return 0;
}

/* Maps HUGE_PAGE_BYTES more than requested and unmaps both ends around the aligned range. */
void *pci_map(size_t bytes)
{
    size_t wanted = checked_bytes(bytes, 1), more;
    if (!wanted || __builtin_add_overflow(wanted, HUGE_PAGE_BYTES, &more) ||
        pci_budget_charge(wanted) != 0)
        return NULL;
    uint8_t *all = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        pci_budget_credit(wanted);
        return NULL;
    }
    size_t before = (HUGE_PAGE_BYTES - (uintptr_t)all % HUGE_PAGE_BYTES) % HUGE_PAGE_BYTES;
    if (before)
        munmap(all, before);
    if (before < HUGE_PAGE_BYTES)
        munmap(all + before + wanted, HUGE_PAGE_BYTES - before);
#ifdef MADV_HUGEPAGE
    (void)madvise(all + before, wanted, MADV_HUGEPAGE);
#endif
    return all + before;
}

void pci_unmap(void *memory, size_t bytes)
{
    pci_budget_credit(bytes);
    munmap(memory, bytes);
}

void *pci_reserve(size_t bytes)
{
    size_t wanted = checked_bytes(bytes, 1);
    if (!wanted)
        return NULL;
    void *all = mmap(NULL, wanted, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
#ifdef MADV_NOHUGEPAGE
    (void)madvise(all, wanted, MADV_NOHUGEPAGE);
#endif
    return all;
}

void pci_unreserve(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

void pci_discard(void *memory, size_t bytes)
{
    (void)madvise(memory, bytes, MADV_DONTNEED);
}

void pcol_free(void *memory)
{
    pci_free(memory);
}
