/*
 * spill_buffer.h - append-only byte sequences that spill to disk beyond a memory budget
 *
 * A buffer grows in pages of 64 KiB. All buffers of a builder share one store with a memory budget:
 * beyond it, each page that fills up is written to one unlinked temporary file and its memory
 * reused. Reads are by offset, wherever the page is. Threading: the buffers of one store may be
 * used by different threads, each buffer by one at a time; a buffer without a writer may have
 * several readers, each with a view of its own. Tests: tests/unit/test_builder.c,
 * tests/hostile/faults.
 */
#ifndef PCI_UTIL_SPILL_BUFFER_H
#define PCI_UTIL_SPILL_BUFFER_H

#include "util/error.h"
#include "util/lock.h"

#include <string.h>

#define PCI_PAGE_BYTES 65536u

struct pci_spill_store {
    uint64_t memory_limit; /* bytes of full pages in memory */
    char *directory;
    pci_mutex lock; /* protects the members below */
    uint64_t memory_used;
    uint64_t file_size;
    int fd; /* -1 until the first page is written */
};

struct pci_page {
    uint8_t *memory; /* NULL: in the file */
    uint64_t file_offset;
};

struct pci_spill {
    struct pci_spill_store *store;
    struct pci_page *pages; /* full pages */
    size_t page_count, page_capacity;
    size_t dropped; /* leading pages that were released */
    uint8_t *tail;  /* page that is being filled */
    size_t tail_used, tail_capacity;
    struct pci_page_cache *cache; /* of one page of the file; NULL: no page is in the file */
};

/* Buffers of a reader, reused from one pci_spill_view_range() to the next; starts zeroed. */
struct pci_spill_view {
    uint8_t *page; /* copy of page `page_number` of the file */
    size_t page_number;
    uint8_t *joined; /* copy of a range across pages */
    size_t capacity;
};

pcol_status pci_spill_store_init(struct pci_spill_store *store, uint64_t memory_limit,
                                 const char *directory, pcol_error *err);
void pci_spill_store_close(struct pci_spill_store *store);

void pci_spill_init(struct pci_spill *buffer, struct pci_spill_store *store);
void pci_spill_clear(struct pci_spill *buffer);

static inline uint64_t pci_spill_size(const struct pci_spill *buffer)
{
    return (uint64_t)buffer->page_count * PCI_PAGE_BYTES + buffer->tail_used;
}

pcol_status pci_spill_append(struct pci_spill *buffer, const void *data, size_t size,
                             pcol_error *err);

static inline pcol_status pci_spill_append_u64(struct pci_spill *buffer, uint64_t value,
                                               pcol_error *err)
{
    if (buffer->tail_capacity - buffer->tail_used >= sizeof value) {
        memcpy(buffer->tail + buffer->tail_used, &value, sizeof value);
        buffer->tail_used += sizeof value;
        return PCOL_OK;
    }
    return pci_spill_append(buffer, &value, sizeof value, err);
}

/* Bytes from `offset` in memory, *size of them, at least 1; NULL: in the file. */
static inline const uint8_t *pci_spill_in_memory(const struct pci_spill *buffer, uint64_t offset,
                                                 size_t *size)
{
    size_t page = (size_t)(offset / PCI_PAGE_BYTES), start = (size_t)(offset % PCI_PAGE_BYTES);
    *size = (page == buffer->page_count ? buffer->tail_used : PCI_PAGE_BYTES) - start;
    if (page == buffer->page_count)
        return buffer->tail + start;
    return buffer->pages[page].memory ? buffer->pages[page].memory + start : NULL;
}

/* Copy `size` bytes from `offset`; the range must have been appended. Sequential reads of parts of
 * a page read the page from the file once. */
pcol_status pci_spill_read(const struct pci_spill *buffer, uint64_t offset, void *data, size_t size,
                           pcol_error *err);

/* View `size` bytes from `offset`, without a copy if they are within one page in memory. *data is
 * valid until the next call with this view. Made for sequential reading. */
pcol_status pci_spill_view_range(const struct pci_spill *buffer, struct pci_spill_view *view,
                                 uint64_t offset, size_t size, const uint8_t **data,
                                 pcol_error *err);
void pci_spill_view_clear(struct pci_spill_view *view);

/* Release the memory of full pages before `offset`, which must not be read again. */
void pci_spill_drop(struct pci_spill *buffer, uint64_t offset);

#endif
