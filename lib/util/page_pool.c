/*
 * page_pool.c - memory for pages of 64 KiB, which spools hand on to each other
 *
 * What a reader lets go at the front of one spool, it mostly fills others with. So pages that were
 * let go are the first that are given out again: the kernel has cleared them before, and they lie
 * in no other thread's part of the heap. The first few come from the heap one by one. If more are
 * wanted they are cut out of slabs of 2 MiB, each of them one huge page, which the kernel clears
 * six times faster than small ones. Slabs are filled from the first one on, so the last ones become
 * empty, and go back to the system, which the heap could not do with pages in its middle.
 */
#include "util/page_pool.h"

#include "util/alloc.h"

#include <string.h>

#define SINGLE_PAGES 16u /* that are given out before there are slabs; so many wait at most */
#define SLAB_PAGES 32u
#define ALL_USED UINT32_MAX
#define MOST_MOVED 8 /* pages of a slab, to make it empty */

int pci_page_pool_init(struct pci_page_pool *pages)
{
    memset(pages, 0, sizeof *pages);
    return pthread_mutex_init(&pages->lock, NULL) == 0 ? 0 : -1;
}

/* `most` empty slabs stay. */
static void unmap_empty(struct pci_page_pool *pages, size_t most)
{
    for (size_t i = pages->slab_count; i-- > 0 && pages->empty_count > most;) {
        struct pci_page_slab *slab = &pages->slabs[i];
        if (!slab->memory || slab->used)
            continue;
        pci_unmap(slab->memory, (size_t)SLAB_PAGES * PCI_PAGE_BYTES);
        slab->memory = NULL;
        pages->empty_count--;
    }
}

void pci_page_pool_trim(struct pci_page_pool *pages)
{
    pthread_mutex_lock(&pages->lock);
    for (struct pci_free_page *page; (page = pages->idle); pci_free(page))
        pages->idle = page->next;
    pages->idle_count = 0;
    unmap_empty(pages, 0);
    pthread_mutex_unlock(&pages->lock);
}

void pci_page_pool_clear(struct pci_page_pool *pages)
{
    pci_page_pool_trim(pages);
    pci_free(pages->slabs);
    pages->slabs = NULL;
    pages->slab_count = pages->slab_capacity = 0;
    pthread_mutex_destroy(&pages->lock);
}

static void *cut_from(struct pci_page_pool *pages, struct pci_page_slab *slab)
{
    pages->empty_count -= !slab->used;
    unsigned page = (unsigned)__builtin_ctz(~slab->used);
    slab->used |= UINT32_C(1) << page;
    return slab->memory + (size_t)page * PCI_PAGE_BYTES;
}

/* A page of the first slab that has one to give. */
static void *cut(struct pci_page_pool *pages)
{
    for (size_t i = 0; i < pages->slab_count; i++) {
        struct pci_page_slab *slab = &pages->slabs[i];
        if (!slab->memory || slab->used == ALL_USED)
            continue;
        return cut_from(pages, slab);
    }
    return NULL;
}

/* One more slab, in a place that an unmapped one has left if there is such. */
static void add_slab(struct pci_page_pool *pages)
{
    size_t i = 0;
    while (i < pages->slab_count && pages->slabs[i].memory)
        i++;
    if (pci_grow((void **)&pages->slabs, &pages->slab_capacity, i + 1, sizeof *pages->slabs))
        return;
    uint8_t *memory = pci_map((size_t)SLAB_PAGES * PCI_PAGE_BYTES);
    if (!memory)
        return;
    pages->slabs[i] = (struct pci_page_slab){memory, 0};
    pages->slab_count += i == pages->slab_count;
    pages->empty_count++;
}

void *pci_page_pool_new(struct pci_page_pool *pages)
{
    pthread_mutex_lock(&pages->lock);
    void *memory = pages->idle;
    if (memory) {
        pages->idle = pages->idle->next;
        pages->idle_count--;
    } else if (pages->single_count >= SINGLE_PAGES) {
        memory = cut(pages);
        if (!memory) {
            add_slab(pages);
            memory = cut(pages);
        }
    }
    if (!memory) {
        memory = pci_malloc(PCI_PAGE_BYTES, 1);
        pages->single_count += memory != NULL;
    }
    pthread_mutex_unlock(&pages->lock);
    return memory;
}

static struct pci_page_slab *slab_of(const struct pci_page_pool *pages, const uint8_t *memory)
{
    for (size_t i = 0; i < pages->slab_count; i++) {
        struct pci_page_slab *slab = &pages->slabs[i];
        uintptr_t begin = (uintptr_t)slab->memory, at = (uintptr_t)memory;
        if (begin && at >= begin && at - begin < (size_t)SLAB_PAGES * PCI_PAGE_BYTES)
            return slab;
    }
    return NULL;
}

static void put_back(struct pci_page_pool *pages, struct pci_page_slab *slab, const void *memory)
{
    size_t page = (size_t)((const uint8_t *)memory - slab->memory) / PCI_PAGE_BYTES;
    slab->used &= ~(UINT32_C(1) << page);
    pages->empty_count += !slab->used;
}

/* A page leaves its slab if few others are there, for the first slab that has room and more pages:
 * so that the one becomes empty. */
static void *move(struct pci_page_pool *pages, void *memory)
{
    struct pci_page_slab *from = slab_of(pages, memory);
    int few = from ? __builtin_popcount(from->used) : (int)SLAB_PAGES;
    for (size_t i = 0; i < pages->slab_count && few <= MOST_MOVED; i++) {
        struct pci_page_slab *to = &pages->slabs[i];
        int count = to->memory ? __builtin_popcount(to->used) : 0;
        if (to == from || to->used == ALL_USED || count < few || (count == few && to > from))
            continue;
        void *moved = cut_from(pages, to);
        memcpy(moved, memory, PCI_PAGE_BYTES);
        put_back(pages, from, memory);
        return moved;
    }
    return memory;
}

void *pci_page_pool_move(struct pci_page_pool *pages, void *memory)
{
    pthread_mutex_lock(&pages->lock);
    void *moved = move(pages, memory);
    pthread_mutex_unlock(&pages->lock);
    return moved;
}

void pci_page_pool_free(struct pci_page_pool *pages, void *memory)
{
    if (!memory)
        return;
    pthread_mutex_lock(&pages->lock);
    struct pci_page_slab *slab = slab_of(pages, memory);
    if (slab) {
        put_back(pages, slab, memory);
        unmap_empty(pages, 1); /* the next page would have to map one again */
    } else if (pages->idle_count < SINGLE_PAGES) {
        struct pci_free_page *page = memory;
        page->next = pages->idle;
        pages->idle = page;
        pages->idle_count++;
    } else {
        pci_free(memory);
    }
    pthread_mutex_unlock(&pages->lock);
}
