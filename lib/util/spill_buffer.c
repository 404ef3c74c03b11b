/*
 * spill_buffer.c - pages of bytes, in memory or in one unlinked temporary file
 */
#include "util/spill_buffer.h"

#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_TAIL_BYTES 512u

/* Cache of one page of the file, shared by the readers of a buffer. A page is loaded when it is
 * read for the second time in a row, so that reads at random offsets do not load whole pages. */
struct pci_page_cache {
    pci_mutex lock;
    size_t recent, held; /* page read last, and page in `bytes`; SIZE_MAX: none */
    uint8_t bytes[PCI_PAGE_BYTES];
};

static pcol_status create_cache(struct pci_spill *buffer, pcol_error *err)
{
    struct pci_page_cache *cache;
    PCI_TRY(PCI_MALLOC(cache, 1, err));
    if (pci_mutex_init(&cache->lock) != 0) {
        pci_free(cache);
        return pci_fail_memory(err);
    }
    cache->recent = cache->held = SIZE_MAX;
    buffer->cache = cache;
    return PCOL_OK;
}

static void free_cache(struct pci_spill *buffer)
{
    if (buffer->cache)
        pci_mutex_destroy(&buffer->cache->lock);
    pci_free(buffer->cache);
    buffer->cache = NULL;
}

pcol_status pci_spill_store_init(struct pci_spill_store *store, uint64_t memory_limit,
                                 const char *directory, pcol_error *err)
{
    size_t size = strlen(directory) + 1;
#ifdef __wasi__ /* no temporary files */
    memory_limit = UINT64_MAX;
#endif
    *store = (struct pci_spill_store){.memory_limit = memory_limit, .fd = -1};
    PCI_TRY(PCI_MALLOC(store->directory, size, err));
    memcpy(store->directory, directory, size);
    if (pci_mutex_init(&store->lock) != 0) {
        pci_free(store->directory);
        store->directory = NULL;
        return pci_fail_memory(err);
    }
    return PCOL_OK;
}

void pci_spill_store_close(struct pci_spill_store *store)
{
    if (!store->directory)
        return;
    if (store->fd >= 0)
        close(store->fd);
    store->fd = -1;
    pci_mutex_destroy(&store->lock);
    pci_free(store->directory);
    store->directory = NULL;
}

/* The file is unlinked at once, so that nothing remains after a crash. */
static pcol_status open_file(struct pci_spill_store *store, pcol_error *err)
{
    static const char name[] = "/.pcol-spool-XXXXXX";
    size_t size = strlen(store->directory);
    char *path;
    PCI_TRY(PCI_MALLOC(path, size + sizeof name, err));
    memcpy(path, store->directory, size);
    memcpy(path + size, name, sizeof name);
    store->fd = mkstemp(path);
    if (store->fd >= 0)
        unlink(path);
    pci_free(path);
    if (store->fd < 0)
        return pci_fail_errno(err, "create a temporary file");
    return PCOL_OK;
}

static pcol_status write_page(const struct pci_spill_store *store, const uint8_t *page,
                              uint64_t offset, pcol_error *err)
{
    size_t done = 0;
    while (done < PCI_PAGE_BYTES) {
        ssize_t n = pwrite(store->fd, page + done, PCI_PAGE_BYTES - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return pci_fail_errno(err, "write a temporary file");
        done += (size_t)n;
    }
    return PCOL_OK;
}

void pci_spill_init(struct pci_spill *buffer, struct pci_spill_store *store)
{
    *buffer = (struct pci_spill){.store = store};
}

static void release_memory(struct pci_spill_store *store, uint64_t bytes)
{
    pci_mutex_lock(&store->lock);
    store->memory_used -= bytes;
    pci_mutex_unlock(&store->lock);
}

static void free_page(struct pci_spill_store *store, struct pci_page *page)
{
    if (!page->memory)
        return;
    pci_free(page->memory);
    page->memory = NULL;
    release_memory(store, PCI_PAGE_BYTES);
}

void pci_spill_clear(struct pci_spill *buffer)
{
    for (size_t i = 0; i < buffer->page_count; i++)
        free_page(buffer->store, &buffer->pages[i]);
    pci_free(buffer->tail);
    pci_free(buffer->pages);
    free_cache(buffer);
    pci_spill_init(buffer, buffer->store);
}

/* Reserve memory for a full page while the budget lasts, else PCI_PAGE_BYTES at *offset of the
 * file. */
static pcol_status reserve_page(struct pci_spill_store *store, int *in_memory, uint64_t *offset,
                                pcol_error *err)
{
    pcol_status status = PCOL_OK;
    pci_mutex_lock(&store->lock);
    *in_memory = store->memory_used + PCI_PAGE_BYTES <= store->memory_limit;
    *offset = store->file_size;
    if (*in_memory) {
        store->memory_used += PCI_PAGE_BYTES;
    } else {
        if (store->fd < 0)
            status = open_file(store, err);
        if (status == PCOL_OK)
            store->file_size += PCI_PAGE_BYTES;
    }
    pci_mutex_unlock(&store->lock);
    return status;
}

/* Append the full tail to the pages and begin a new one. */
static pcol_status finish_page(struct pci_spill *buffer, pcol_error *err)
{
    struct pci_spill_store *store = buffer->store;
    struct pci_page page = {.memory = buffer->tail};
    uint64_t offset;
    int in_memory;
    PCI_TRY(PCI_GROW(buffer->pages, buffer->page_capacity, buffer->page_count + 1, err));
    PCI_TRY(reserve_page(store, &in_memory, &offset, err));
    if (in_memory) {
        uint8_t *tail = pci_malloc(PCI_PAGE_BYTES, 1);
        if (!tail) {
            release_memory(store, PCI_PAGE_BYTES);
            return pci_fail_memory(err);
        }
        buffer->tail = tail;
    } else {
        if (!buffer->cache)
            PCI_TRY(create_cache(buffer, err));
        PCI_TRY(write_page(store, buffer->tail, offset, err));
        page = (struct pci_page){.file_offset = offset};
    }
    buffer->pages[buffer->page_count++] = page;
    buffer->tail_used = 0;
    return PCOL_OK;
}

/* Grow the tail, or finish it. Growth from 512 bytes on makes short buffers cheap. */
static pcol_status grow_tail(struct pci_spill *buffer, pcol_error *err)
{
    size_t capacity = buffer->tail_capacity ? buffer->tail_capacity * 4 : FIRST_TAIL_BYTES;
    uint8_t *tail;
    if (buffer->tail_capacity == PCI_PAGE_BYTES)
        return finish_page(buffer, err);
    if (capacity > PCI_PAGE_BYTES)
        capacity = PCI_PAGE_BYTES;
    tail = pci_realloc(buffer->tail, capacity, 1);
    if (!tail)
        return pci_fail_memory(err);
    buffer->tail = tail;
    buffer->tail_capacity = capacity;
    return PCOL_OK;
}

pcol_status pci_spill_append(struct pci_spill *buffer, const void *data, size_t size,
                             pcol_error *err)
{
    const uint8_t *from = data;
    while (size) {
        size_t n = buffer->tail_capacity - buffer->tail_used;
        if (!n) {
            PCI_TRY(grow_tail(buffer, err));
            continue;
        }
        if (n > size)
            n = size;
        memcpy(buffer->tail + buffer->tail_used, from, n);
        buffer->tail_used += n;
        from += n;
        size -= n;
    }
    return PCOL_OK;
}

static pcol_status read_file(const struct pci_spill_store *store, uint64_t offset, uint8_t *to,
                             size_t size, pcol_error *err)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(store->fd, to + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return pci_fail_errno(err, "read a temporary file");
        done += (size_t)n;
    }
    return PCOL_OK;
}

/* Copy part of a page of the file from the cache; *found: 0 if it has another page. */
static pcol_status read_cached(const struct pci_spill *buffer, size_t page, size_t start,
                               uint8_t *to, size_t size, int *found, pcol_error *err)
{
    struct pci_page_cache *cache = buffer->cache;
    pcol_status status = PCOL_OK;
    pci_mutex_lock(&cache->lock);
    if (cache->held != page && cache->recent == page) {
        cache->held = SIZE_MAX;
        status = read_file(buffer->store, buffer->pages[page].file_offset, cache->bytes,
                           PCI_PAGE_BYTES, err);
        cache->held = status == PCOL_OK ? page : SIZE_MAX;
    }
    cache->recent = page;
    *found = cache->held == page;
    if (*found)
        memcpy(to, cache->bytes + start, size);
    pci_mutex_unlock(&cache->lock);
    return status;
}

static pcol_status read_page(const struct pci_spill *buffer, size_t page, size_t start, uint8_t *to,
                             size_t size, pcol_error *err)
{
    int found = 0;
    if (size < PCI_PAGE_BYTES)
        PCI_TRY(read_cached(buffer, page, start, to, size, &found, err));
    if (found)
        return PCOL_OK;
    return read_file(buffer->store, buffer->pages[page].file_offset + start, to, size, err);
}

pcol_status pci_spill_read(const struct pci_spill *buffer, uint64_t offset, void *data, size_t size,
                           pcol_error *err)
{
    uint8_t *to = data;
    while (size) {
        size_t page = (size_t)(offset / PCI_PAGE_BYTES), start = (size_t)(offset % PCI_PAGE_BYTES);
        size_t n = PCI_PAGE_BYTES - start < size ? PCI_PAGE_BYTES - start : size;
        if (page == buffer->page_count)
            memcpy(to, buffer->tail + start, n);
        else if (buffer->pages[page].memory)
            memcpy(to, buffer->pages[page].memory + start, n);
        else
            PCI_TRY(read_page(buffer, page, start, to, n, err));
        to += n;
        offset += n;
        size -= n;
    }
    return PCOL_OK;
}

/* Read page `page` of the file into the view, unless it is there already. */
static pcol_status load_page(const struct pci_spill *buffer, struct pci_spill_view *view,
                             size_t page, pcol_error *err)
{
    if (view->page && view->page_number == page)
        return PCOL_OK;
    if (!view->page)
        PCI_TRY(PCI_MALLOC(view->page, PCI_PAGE_BYTES, err));
    view->page_number = SIZE_MAX;
    PCI_TRY(
        read_file(buffer->store, buffer->pages[page].file_offset, view->page, PCI_PAGE_BYTES, err));
    view->page_number = page;
    return PCOL_OK;
}

pcol_status pci_spill_view_range(const struct pci_spill *buffer, struct pci_spill_view *view,
                                 uint64_t offset, size_t size, const uint8_t **data,
                                 pcol_error *err)
{
    size_t page = (size_t)(offset / PCI_PAGE_BYTES), start = (size_t)(offset % PCI_PAGE_BYTES);
    if (page == buffer->page_count) {
        *data = buffer->tail + start;
    } else if (size <= PCI_PAGE_BYTES - start) {
        if (!buffer->pages[page].memory)
            PCI_TRY(load_page(buffer, view, page, err));
        *data = (buffer->pages[page].memory ? buffer->pages[page].memory : view->page) + start;
    } else {
        PCI_TRY(PCI_GROW(view->joined, view->capacity, size, err));
        *data = view->joined;
        return pci_spill_read(buffer, offset, view->joined, size, err);
    }
    return PCOL_OK;
}

void pci_spill_view_clear(struct pci_spill_view *view)
{
    pci_free(view->page);
    pci_free(view->joined);
    *view = (struct pci_spill_view){0};
}

void pci_spill_drop(struct pci_spill *buffer, uint64_t offset)
{
    for (; buffer->dropped < buffer->page_count &&
           buffer->dropped < (size_t)(offset / PCI_PAGE_BYTES);
         buffer->dropped++) {
        free_page(buffer->store, &buffer->pages[buffer->dropped]);
    }
}
