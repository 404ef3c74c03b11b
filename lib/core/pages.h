/*
 * pages.h - memory for pages of 64 KiB, which spools hand on to each other
 */
#ifndef PCI_PAGES_H
#define PCI_PAGES_H

#include <pthread.h>
#include <stdint.h>

#define PCI_PAGE_BYTES 65536u

/* All of it may be used by several threads. */
struct pci_pages {
    pthread_mutex_t lock; /* of what follows */
    struct pci_idle_page {
        struct pci_idle_page *next;
    } * idle; /* single pages that were let go */
    size_t idle_count, single_count;
    struct pci_page_slab {
        uint8_t *memory;
        uint32_t used; /* bit n: its page n */
    } * slabs;
    size_t slab_count, slab_capacity, empty_count;
};

/* -1: there are no more locks. */
int pci_pages_init(struct pci_pages *pages);
/* All pages must have been freed. */
void pci_pages_clear(struct pci_pages *pages);
/* NULL if memory is out. */
void *pci_pages_new(struct pci_pages *pages);
/* Also takes such a piece of memory from pci_malloc(). NULL: nothing. */
void pci_pages_free(struct pci_pages *pages, void *memory);
/* A page that few others share a slab with may be put elsewhere: where it is now. */
void *pci_pages_move(struct pci_pages *pages, void *memory);
/* Give what nothing uses back to the system. */
void pci_pages_trim(struct pci_pages *pages);

#endif
