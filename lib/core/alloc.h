/*
 * alloc.h - the one seam through which the library allocates; tests make it fail
 */
#ifndef PCI_ALLOC_H
#define PCI_ALLOC_H

#include <stddef.h>

/* NULL if memory is out or count * size overflows. Zero bytes give a pointer that can be freed. */
void *pci_malloc(size_t count, size_t size);
void *pci_calloc(size_t count, size_t size);
void *pci_realloc(void *memory, size_t count, size_t size); /* the old block stays valid on NULL */
void pci_free(void *memory);

/* Make room for `needed` elements of `size` bytes in *array of capacity *capacity, at least doubling.
 * 0, or -1 with everything unchanged. */
int pci_grow(void **array, size_t *capacity, size_t needed, size_t size);

/* Tests: called before each allocation; non-zero makes it fail. NULL: none. */
extern int (*pci_alloc_hook)(void);

#endif
