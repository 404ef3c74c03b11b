/*
 * alloc.h - the one seam through which the library allocates; tests make it fail
 */
#ifndef PCI_UTIL_ALLOC_H
#define PCI_UTIL_ALLOC_H

#include <stddef.h>

/* Blocks are charged to the budget of the thread (import_budget.h), if it has one.
 * NULL if memory is out, the budget is, or count * size overflows. Zero bytes give a pointer that
 * can be freed. */
void *pci_malloc(size_t count, size_t size);
void *pci_calloc(size_t count, size_t size);
void *pci_realloc(void *memory, size_t count, size_t size); /* the old block stays valid on NULL */
void pci_free(void *memory);

/* Make room for `needed` elements of `size` bytes in *array of capacity *capacity, at least
 * doubling. 0, or -1 with everything unchanged. */
int pci_grow(void **array, size_t *capacity, size_t needed, size_t size);

/* Zeroed memory from the system, on huge pages if it has such; both `bytes` and the address are
 * multiples of PCI_MAP_BYTES. What is unmapped is the system's again at once. NULL: there is
 * none. */
#define PCI_MAP_BYTES ((size_t)2 << 20)
void *pci_map(size_t bytes);
void pci_unmap(void *memory, size_t bytes);

/* Zeroed memory of which only what is touched is taken from the system, in small pages, and of
 * which pieces, that begin at a multiple of 64 KiB, can be given back while the rest stays. It is
 * not charged to a budget. pci_unreserve() ends it. NULL: there is none. */
void *pci_reserve(size_t bytes);
void pci_unreserve(void *memory, size_t bytes);
void pci_discard(void *memory, size_t bytes);

/* Tests: called before each allocation; non-zero makes it fail. NULL: none. */
extern int (*pci_alloc_hook)(void);

#endif
