/*
 * alloc.h - allocator of the library: every allocation goes through it, so that tests can make any
 * of them fail
 *
 * Threading: all functions may be called by any thread. Tests: tests/unit/test_util.c,
 * tests/hostile/faults.
 */
#ifndef PCI_UTIL_ALLOC_H
#define PCI_UTIL_ALLOC_H

#include "util/error.h"

#include <stddef.h>

/* A block is charged to the import budget of the thread (import_budget.h), if there is one. NULL:
 * out of memory, budget exceeded, or count * size overflows. Zero bytes yield a pointer that can be
 * freed. */
void *pci_malloc(size_t count, size_t size);
void *pci_calloc(size_t count, size_t size);
void *pci_realloc(void *memory, size_t count, size_t size); /* NULL: the old block stays valid */
void pci_free(void *memory);

/* Grow *array of capacity *capacity to at least `needed` elements of `size` bytes; the capacity at
 * least doubles. 0, or -1 with both unchanged: out of memory, or the call was cancelled;
 * pci_fail_memory() tells them apart. */
int pci_grow(void **array, size_t *capacity, size_t needed, size_t size);

/* The same with an error: status of a failed allocation. `pointer` and `capacity` are lvalues, and
 * the element type is that of the pointer. PCI_MALLOC() and PCI_CALLOC() assign NULL on failure. */
static inline pcol_status pci_check_memory(const void *memory, pcol_error *err)
{
    return memory ? PCOL_OK : pci_fail_memory(err);
}
#define PCI_MALLOC(pointer, count, err) \
    pci_check_memory((pointer) = pci_malloc(count, sizeof *(pointer)), err)
#define PCI_CALLOC(pointer, count, err) \
    pci_check_memory((pointer) = pci_calloc(count, sizeof *(pointer)), err)
#define PCI_GROW(pointer, capacity, needed, err)                                                  \
    (pci_grow((void **)&(pointer), &(capacity), needed, sizeof *(pointer)) ? pci_fail_memory(err) \
                                                                           : PCOL_OK)

/* Address range of zeroed memory; the system allocates small pages on first touch. pci_discard()
 * returns pages to the system, from a multiple of 64 KiB on; pci_unreserve() releases the range.
 * Not charged to a budget. NULL: out of address space. With PCOL_NO_MMAP an ordinary block. */
void *pci_reserve(size_t bytes);
void pci_unreserve(void *memory, size_t bytes);
void pci_discard(void *memory, size_t bytes);

/* Tests: called before each allocation; non-zero makes it fail. NULL: no hook. */
extern int (*pci_alloc_hook)(void);

#endif
