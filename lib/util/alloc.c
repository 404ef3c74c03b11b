/*
 * alloc.c - allocator of the library: overflow checks, budget, huge pages
 *
 * The only place that allocates (scripts/layers) and checks products for overflow; a hook can make
 * any allocation fail. Blocks of a program's allocator have a header with their size. Large
 * blocks request huge pages (madvise): the kernel clears memory on first touch, and a fault for
 * each 4 KiB took a quarter of the time of a query of a profile with a quarter of a million stacks.
 */
#define _DEFAULT_SOURCE /* madvise(), here only */
#include "util/alloc.h"

#include "util/control.h"
#include "util/import_budget.h"
#include "util/sized_struct.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef PCOL_NO_MMAP
#include <sys/mman.h>
#endif
#if defined(__linux__) || defined(__wasi__)
#include <malloc.h>
#endif

/* Arrays from this size on grow by mremap() in realloc(), without a copy: glibc's highest threshold
 * of mmap(). Smaller ones may be in its heap, where realloc() copies, and cannot be cancelled. */
#define MAX_COPIED_BYTES ((size_t)32 << 20)
#define HUGE_PAGE_BYTES ((size_t)2 << 20) /* of most machines; elsewhere the hint has no effect */

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

/* ---- the allocator: of the C library, or of the program */

static pcol_allocator custom; /* allocate is NULL: none */
static atomic_int was_used;   /* memory has been allocated */

#define HEADER_BYTES (2 * alignof(max_align_t) < 16 ? 16 : alignof(max_align_t))

static void *take_block(void *block, size_t bytes)
{
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return (uint8_t *)block + HEADER_BYTES;
}

static void *custom_allocate(size_t bytes)
{
    return bytes > SIZE_MAX - HEADER_BYTES
               ? NULL
               : take_block(custom.allocate(custom.context, bytes + HEADER_BYTES), bytes);
}

static void *raw_allocate(size_t bytes)
{
    if (!atomic_load_explicit(&was_used, memory_order_relaxed))
        atomic_store_explicit(&was_used, 1, memory_order_relaxed);
    return custom.allocate ? custom_allocate(bytes) : malloc(bytes);
}

static void *raw_allocate_zeroed(size_t bytes)
{
    if (!custom.allocate && atomic_load_explicit(&was_used, memory_order_relaxed))
        return calloc(1, bytes);
    void *memory = raw_allocate(bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

static void *raw_reallocate(void *memory, size_t bytes)
{
    if (!memory)
        return raw_allocate(bytes);
    if (!custom.allocate)
        return realloc(memory, bytes);
    return bytes > SIZE_MAX - HEADER_BYTES
               ? NULL
               : take_block(custom.reallocate(custom.context, (uint8_t *)memory - HEADER_BYTES,
                                              bytes + HEADER_BYTES),
                            bytes);
}

static void raw_free(void *memory)
{
    if (!custom.allocate)
        free(memory);
    else if (memory)
        custom.release(custom.context, (uint8_t *)memory - HEADER_BYTES);
}

pcol_status pcol_set_allocator(const pcol_allocator *allocator, pcol_error *err)
{
    pcol_allocator given;
    if (!allocator)
        return pci_fail(err, PCOL_E_ARGUMENT, "no allocator given");
    PCI_STRUCT_READ(pcol_allocator, given, allocator, err);
    if (!given.allocate || !given.reallocate || !given.release)
        return pci_fail(err, PCOL_E_ARGUMENT, "a function of the pcol_allocator is NULL");
    if (atomic_load_explicit(&was_used, memory_order_relaxed))
        return pci_fail(err, PCOL_E_STATE,
                        "memory was allocated before; set the allocator before any other call");
    custom = given;
    return PCOL_OK;
}

/* Usable bytes of a block. On systems without malloc_usable_size() budgets are not charged. */
static size_t block_bytes(void *memory)
{
    size_t bytes = 0;
    if (memory && custom.allocate)
        memcpy(&bytes, (uint8_t *)memory - HEADER_BYTES, sizeof bytes);
#if defined(__linux__) || defined(__wasi__)
    else if (memory)
        bytes = malloc_usable_size(memory);
#endif
    return bytes;
}

/* Charge a new block; NULL, and the block is freed, if that exceeds the budget. */
static void *charge_block(void *memory)
{
    if (!pci_thread_budget || !memory || pci_budget_charge(block_bytes(memory)) == 0)
        return memory;
    raw_free(memory);
    return NULL;
}

/* A block on huge pages. The last one is used only if at least half of it is: cleared bytes count
 * as the process's memory. */
static void *allocate_large(size_t bytes)
{
#ifdef PCOL_NO_MMAP
    return raw_allocate(bytes);
#else
    void *memory;
    if (custom.allocate)
        return raw_allocate(bytes);
    atomic_store_explicit(&was_used, 1, memory_order_relaxed);
    size_t whole = (bytes + HUGE_PAGE_BYTES / 2) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if (posix_memalign(&memory, HUGE_PAGE_BYTES, bytes < whole ? whole : bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, whole, MADV_HUGEPAGE); /* a hint: kernels without huge pages fail */
#endif
    return memory;
#endif
}

static int is_large(size_t bytes)
{
    return bytes >= HUGE_PAGE_BYTES / 2 && bytes < PTRDIFF_MAX - HUGE_PAGE_BYTES;
}

void *pci_malloc(size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size);
    return charge_block(is_large(bytes) ? allocate_large(bytes)
                        : bytes         ? raw_allocate(bytes)
                                        : NULL);
}

/* Request huge pages for the part of a block that consists of whole ones. */
static void advise_huge_pages(uint8_t *memory, size_t bytes)
{
#if defined(MADV_HUGEPAGE) && !defined(PCOL_NO_MMAP)
    if (custom.allocate)
        return;
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
        return bytes ? charge_block(raw_allocate_zeroed(bytes)) : NULL;
    if (bytes < 4 * HUGE_PAGE_BYTES) {
        memory = charge_block(allocate_large(bytes));
        return memory ? memset(memory, 0, bytes) : NULL;
    }
    memory = charge_block(raw_allocate_zeroed(bytes));
    if (memory) /* still untouched if it is fresh from the kernel */
        advise_huge_pages(memory, bytes);
    return memory;
}

void *pci_realloc(void *memory, size_t count, size_t size)
{
    size_t bytes = checked_bytes(count, size), before, more;
    if (!bytes || !pci_thread_budget)
        return bytes ? raw_reallocate(memory, bytes) : NULL;
    before = block_bytes(memory);
    more = bytes > before ? bytes - before : 0; /* rejected before the old block is freed */
    if (pci_budget_charge(more) != 0)
        return NULL;
    void *grown = raw_reallocate(memory, bytes);
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
    raw_free(memory);
}

/* A copy is cheaper than the page faults of a block that grows in place. It can be cancelled: on
 * virtual machines the first touch of a page takes up to 2 ms/MB. */
static void *grow_large(void *array, size_t old_bytes, size_t bytes)
{
    uint8_t *grown = pci_malloc(bytes, 1);
    for (size_t done = 0, n; grown && done < old_bytes; done += n) {
        n = old_bytes - done < PCI_CONTROL_STEP ? old_bytes - done : PCI_CONTROL_STEP;
        memcpy(grown + done, (const uint8_t *)array + done, n);
        if (pci_work(n, NULL) != PCOL_OK) {
            pci_free(grown);
            return NULL;
        }
    }
    if (grown)
        pci_free(array);
    return grown;
}

int pci_grow(void **array, size_t *capacity, size_t needed, size_t size)
{
    size_t wanted = *capacity, old_bytes = *capacity * size, bytes;
    if (needed <= wanted)
        return 0;
    wanted = wanted > SIZE_MAX / 2 ? SIZE_MAX : 2 * wanted;
    if (wanted < 16)
        wanted = 16;
    if (wanted < needed)
        wanted = needed;
    void *grown;
    if (__builtin_mul_overflow(wanted, size, &bytes) || bytes < MIN_HUGE_GROWN_BYTES ||
        old_bytes >= MAX_COPIED_BYTES) {
        grown = pci_realloc(*array, wanted, size);
        if (grown && old_bytes >= MAX_COPIED_BYTES)
            advise_huge_pages(grown, bytes);
    } else {
        grown = grow_large(*array, old_bytes, bytes);
    }
    if (!grown)
        return -1;
    *array = grown;
    *capacity = wanted;
    return 0;
}

#ifndef PCOL_NO_MMAP
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
#else
void *pci_reserve(size_t bytes)
{
    return pci_calloc(bytes, 1);
}

void pci_unreserve(void *memory, size_t bytes)
{
    (void)bytes;
    pci_free(memory);
}

void pci_discard(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}
#endif

void pcol_free(void *memory)
{
    pci_free(memory);
}
