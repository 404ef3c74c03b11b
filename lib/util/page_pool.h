/*
 * page_pool.h - memory for pages of 64 KiB, which spools hand on to each other
 */
#ifndef PCI_UTIL_PAGE_POOL_H
#define PCI_UTIL_PAGE_POOL_H

#include <pthread.h>
#include <stdint.h>

#define PCI_PAGE_BYTES 65536u

/* All of it may be used by several threads. */
struct pci_page_pool {
    pthread_mutex_t lock; /* of what follows */
    struct pci_free_page {
        struct pci_free_page *next;
    } * idle; /* single pages that were let go */
    size_t idle_count, single_count;
    struct pci_page_slab {
        uint8_t *memory;
        uint32_t used; /* bit n: its page n */
    } * slabs;
    size_t slab_count, slab_capacity, empty_count;
};

/* -1: there are no more locks. */
int pci_page_pool_init(struct pci_page_pool *pages);
/* All pages must have been freed. */
void pci_page_pool_clear(struct pci_page_pool *pages);
/* NULL if memory is out. */
void *pci_page_pool_new(struct pci_page_pool *pages);
/* Also takes such a piece of memory from pci_malloc(). NULL: nothing. */
void pci_page_pool_free(struct pci_page_pool *pages, void *memory);
/* A page that few others share a slab with may be put elsewhere: where it is now. */
void *pci_page_pool_move(struct pci_page_pool *pages, void *memory);
/* Give what nothing uses back to the system. */
void pci_page_pool_trim(struct pci_page_pool *pages);

#endif
