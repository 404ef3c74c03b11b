/*
 * spill_buffer.h - long sequences of bytes that leave memory when there are too many
 *
 * A spool grows in pages of 64 KiB. All spools of a builder share one store with a memory budget:
 * past it, each page that fills up is written to one unlinked temporary file and its memory used
 * again. Reading goes by offset and does not care where a page lies. Spools of one store may be
 * used by several threads, each spool by one at a time; one that nobody appends to may be read by
 * several.
 */
#ifndef PCI_UTIL_SPILL_BUFFER_H
#define PCI_UTIL_SPILL_BUFFER_H

#include "util/error.h"

#include <pthread.h>
#include <string.h>

#define PCI_PAGE_BYTES 65536u

struct pci_spill_store {
    uint64_t memory_limit; /* bytes of full pages kept in memory */
    char *folder;
    pthread_mutex_t lock; /* of what follows */
    uint64_t memory_used;
    uint64_t file_size;
    int fd; /* -1 until needed; then it stays */
};

struct pci_page {
    uint8_t *memory; /* NULL: in the file */
    uint64_t file_offset;
};

struct pci_spill {
    struct pci_spill_store *store;
    struct pci_page *pages; /* full ones */
    size_t page_count, page_capacity;
    size_t dropped; /* pages at the front that were let go */
    uint8_t *tail;  /* the page being filled */
    size_t tail_used, tail_capacity;
};

/* What pci_spill_look() keeps from one call to the next; starts zeroed. */
struct pci_spill_view {
    uint8_t *page; /* one that lies in the file */
    size_t page_number;
    uint8_t *joined; /* a range over several pages */
    size_t capacity;
};

pcol_status pci_spill_store_init(struct pci_spill_store *store, uint64_t memory_limit,
                                 const char *folder, pcol_error *err);
void pci_spill_store_close(struct pci_spill_store *store);

void pci_spill_init(struct pci_spill *spool, struct pci_spill_store *store);
void pci_spill_clear(struct pci_spill *spool);

static inline uint64_t pci_spill_size(const struct pci_spill *spool)
{
    return (uint64_t)spool->page_count * PCI_PAGE_BYTES + spool->tail_used;
}

pcol_status pci_spill_append(struct pci_spill *spool, const void *data, size_t size,
                             pcol_error *err);

static inline pcol_status pci_spill_append_u64(struct pci_spill *spool, uint64_t value,
                                               pcol_error *err)
{
    if (spool->tail_capacity - spool->tail_used >= sizeof value) {
        memcpy(spool->tail + spool->tail_used, &value, sizeof value);
        spool->tail_used += sizeof value;
        return PCOL_OK;
    }
    return pci_spill_append(spool, &value, sizeof value, err);
}

/* Bytes from `offset` on where they lie, *size of them at hand and at least 1; NULL: in the
 * file. */
static inline const uint8_t *pci_spill_at(const struct pci_spill *spool, uint64_t offset,
                                          size_t *size)
{
    size_t page = (size_t)(offset / PCI_PAGE_BYTES), at = (size_t)(offset % PCI_PAGE_BYTES);
    *size = (page == spool->page_count ? spool->tail_used : PCI_PAGE_BYTES) - at;
    if (page == spool->page_count)
        return spool->tail + at;
    return spool->pages[page].memory ? spool->pages[page].memory + at : NULL;
}

/* Copy out `size` bytes from `offset`; the range must have been appended. */
pcol_status pci_spill_read(const struct pci_spill *spool, uint64_t offset, void *data, size_t size,
                           pcol_error *err);

/* The same without copying where the range lies in one page: *data is valid until the next look.
 * Made for reading from front to back. */
pcol_status pci_spill_look(const struct pci_spill *spool, struct pci_spill_view *view,
                           uint64_t offset, size_t size, const uint8_t **data, pcol_error *err);
void pci_spill_view_clear(struct pci_spill_view *view);

/* Free the memory of full pages before `offset`; they are not read again. */
void pci_spill_drop(struct pci_spill *spool, uint64_t offset);

#endif
