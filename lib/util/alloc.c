/*
 * alloc.c - the one seam through which the library allocates
 *
 * Products are checked for overflow here and nowhere else; a hook can make any allocation fail.
 *
 * Large blocks ask for huge pages. The kernel clears memory page by page as it is first touched,
 * and a fault for each 4 KiB costs more than most of what is done with them here: a question about
 * a profile of a quarter of a million stacks spent a quarter of its time so.
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

/* Arrays that grow beyond this are moved by the kernel: a copy would need the memory of both. */
#define MOST_COPIED ((size_t)32 << 20)
#define HUGE_BYTES PCI_MAP_BYTES /* of a huge page of most machines; where not, a hint is lost */

/* Arrays that grow to less do without huge pages: the one that they end in, most of which is
 * cleared for nothing, would be a tenth and more of the memory of packing 10 MB. */
#define LEAST_GROWN (4 * HUGE_BYTES)

int (*pci_alloc_hook)(void);

/* Bytes of a request, at least 1; 0 if it cannot be met. Objects stay below PTRDIFF_MAX, so that
 * differences of pointers are defined. */
static size_t request(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return 0;
    if (pci_alloc_hook && pci_alloc_hook())
        return 0;
    return bytes ? bytes : 1;
}

/* Bytes that a block takes. Systems that do not tell charge no blocks to budgets. */
static size_t block_bytes(void *memory)
{
#ifdef __linux__
    return memory ? malloc_usable_size(memory) : 0;
#else
    (void)memory;
    return 0;
#endif
}

/* A new block, or NULL if the budget refuses it. */
static void *charged(void *memory)
{
    if (!pci_budget_now || !memory || pci_budget_charge(block_bytes(memory)) == 0)
        return memory;
    free(memory);
    return NULL;
}

/* Huge pages for a block, the last of them only if half of it is wanted: what is cleared for
 * nothing counts as the process's memory. */
static void *allocate_large(size_t bytes)
{
    void *memory;
    size_t whole = (bytes + HUGE_BYTES / 2) / HUGE_BYTES * HUGE_BYTES;
    if (posix_memalign(&memory, HUGE_BYTES, bytes < whole ? whole : bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, whole, MADV_HUGEPAGE); /* a hint: a kernel without them refuses */
#endif
    return memory;
}

static int is_large(size_t bytes)
{
    return bytes >= HUGE_BYTES / 2 && bytes < PTRDIFF_MAX - HUGE_BYTES;
}

void *pci_malloc(size_t count, size_t size)
{
    size_t bytes = request(count, size);
    return charged(is_large(bytes) ? allocate_large(bytes) : bytes ? malloc(bytes) : NULL);
}

/* Huge pages for what of a block is whole ones. */
static void advise(uint8_t *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    size_t skipped = HUGE_BYTES - (uintptr_t)memory % HUGE_BYTES;
    if (bytes > skipped)
        (void)madvise(memory + skipped, (bytes - skipped) / HUGE_BYTES * HUGE_BYTES, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

/* Up to some size it is cheaper to clear huge pages twice than to leave the edges without them. */
void *pci_calloc(size_t count, size_t size)
{
    size_t bytes = request(count, size);
    uint8_t *memory;
    if (!is_large(bytes))
        return bytes ? charged(calloc(1, bytes)) : NULL;
    if (bytes < 4 * HUGE_BYTES) {
        memory = charged(allocate_large(bytes));
        return memory ? memset(memory, 0, bytes) : NULL;
    }
    memory = charged(calloc(1, bytes));
    if (memory) /* still untouched if it is fresh from the kernel */
        advise(memory, bytes);
    return memory;
}

void *pci_realloc(void *memory, size_t count, size_t size)
{
    size_t bytes = request(count, size), before, more;
    if (!bytes || !pci_budget_now)
        return bytes ? realloc(memory, bytes) : NULL;
    before = block_bytes(memory);
    more = bytes > before ? bytes - before : 0; /* refused before the old block is gone */
    if (pci_budget_charge(more) != 0)
        return NULL;
    void *grown = realloc(memory, bytes);
    pci_budget_credit(more);
    if (grown) {
        pci_budget_credit(before);
        pci_budget_note(block_bytes(grown));
    }
    return grown;
}

void pci_free(void *memory)
{
    if (pci_budget_now)
        pci_budget_credit(block_bytes(memory));
    free(memory);
}

/* The old elements are copied: cheaper than the faults that a block moved in place has. */
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
    if (__builtin_mul_overflow(wanted, size, &bytes) || bytes < LEAST_GROWN ||
        bytes > MOST_COPIED) {
        grown = pci_realloc(*array, wanted, size);
        if (grown && bytes > MOST_COPIED)
            advise(grown, bytes);
    } else {
        grown = grow_large(*array, *capacity * size, wanted * size);
    }
    if (!grown)
        return -1;
    *array = grown;
    *capacity = wanted;
    return 0;
}

/* More is mapped than wanted, and what lies before the first multiple and behind the last byte is
 * given back. */
void *pci_map(size_t bytes)
{
    size_t wanted = request(bytes, 1), more;
    if (!wanted || __builtin_add_overflow(wanted, HUGE_BYTES, &more) ||
        pci_budget_charge(wanted) != 0)
        return NULL;
    uint8_t *all = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        pci_budget_credit(wanted);
        return NULL;
    }
    size_t before = (HUGE_BYTES - (uintptr_t)all % HUGE_BYTES) % HUGE_BYTES;
    if (before)
        munmap(all, before);
    if (before < HUGE_BYTES)
        munmap(all + before + wanted, HUGE_BYTES - before);
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
    size_t wanted = request(bytes, 1);
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
