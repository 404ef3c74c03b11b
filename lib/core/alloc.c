/*
 * alloc.c - the one seam through which the library allocates
 *
 * Products are checked for overflow here and nowhere else; a hook can make any allocation fail.
 */
#include "alloc.h"

#include "pcol.h"

#include <stdint.h>
#include <stdlib.h>

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

void *pci_malloc(size_t count, size_t size)
{
    size_t bytes = request(count, size);
    return bytes ? malloc(bytes) : NULL;
}

void *pci_calloc(size_t count, size_t size)
{
    size_t bytes = request(count, size);
    return bytes ? calloc(1, bytes) : NULL;
}

void *pci_realloc(void *memory, size_t count, size_t size)
{
    size_t bytes = request(count, size);
    return bytes ? realloc(memory, bytes) : NULL;
}

void pci_free(void *memory)
{
    free(memory);
}

int pci_grow(void **array, size_t *capacity, size_t needed, size_t size)
{
    size_t wanted = *capacity;
    if (needed <= wanted)
        return 0;
    wanted = wanted > SIZE_MAX / 2 ? SIZE_MAX : 2 * wanted;
    if (wanted < 16)
        wanted = 16;
    if (wanted < needed)
        wanted = needed;
    void *grown = pci_realloc(*array, wanted, size);
    if (!grown)
        return -1;
    *array = grown;
    *capacity = wanted;
    return 0;
}

void pcol_free(void *memory)
{
    pci_free(memory);
}
