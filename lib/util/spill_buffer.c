/*
 * spill_buffer.c - pages of bytes, in memory or in one unlinked temporary file
 */
#include "util/spill_buffer.h"

#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_TAIL 512u

pcol_status pci_spill_store_init(struct pci_spill_store *store, uint64_t memory_limit,
                                 const char *folder, pcol_error *err)
{
    size_t size = strlen(folder) + 1;
    *store = (struct pci_spill_store){.memory_limit = memory_limit, .fd = -1};
    store->folder = pci_malloc(size, 1);
    if (!store->folder)
        return pci_fail_memory(err);
    memcpy(store->folder, folder, size);
    if (pthread_mutex_init(&store->lock, NULL) != 0) {
        pci_free(store->folder);
        store->folder = NULL;
        return pci_fail_memory(err);
    }
    return PCOL_OK;
}

void pci_spill_store_close(struct pci_spill_store *store)
{
    if (!store->folder)
        return;
    if (store->fd >= 0)
        close(store->fd);
    store->fd = -1;
    pthread_mutex_destroy(&store->lock);
    pci_free(store->folder);
    store->folder = NULL;
}

/* The file has no name from the start of its use, so nothing is left behind whatever happens. */
static pcol_status open_file(struct pci_spill_store *store, pcol_error *err)
{
    static const char name[] = "/.pcol-spool-XXXXXX";
    size_t folder = strlen(store->folder);
    char *path = pci_malloc(folder + sizeof name, 1);
    if (!path)
        return pci_fail_memory(err);
    memcpy(path, store->folder, folder);
    memcpy(path + folder, name, sizeof name);
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

void pci_spill_init(struct pci_spill *spool, struct pci_spill_store *store)
{
    *spool = (struct pci_spill){.store = store};
}

static void give_back(struct pci_spill_store *store, uint64_t bytes)
{
    pthread_mutex_lock(&store->lock);
    store->memory_used -= bytes;
    pthread_mutex_unlock(&store->lock);
}

static void free_page(struct pci_spill_store *store, struct pci_page *page)
{
    if (!page->memory)
        return;
    pci_free(page->memory);
    page->memory = NULL;
    give_back(store, PCI_PAGE_BYTES);
}

void pci_spill_clear(struct pci_spill *spool)
{
    for (size_t i = 0; i < spool->page_count; i++)
        free_page(spool->store, &spool->pages[i]);
    pci_free(spool->tail);
    pci_free(spool->pages);
    pci_spill_init(spool, spool->store);
}

/* Where a full page goes: into memory while the budget lasts, else to *offset in the file. */
static pcol_status place_page(struct pci_spill_store *store, int *in_memory, uint64_t *offset,
                              pcol_error *err)
{
    pcol_status status = PCOL_OK;
    pthread_mutex_lock(&store->lock);
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
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* Put the full tail among the pages. */
static pcol_status turn_page(struct pci_spill *spool, pcol_error *err)
{
    struct pci_spill_store *store = spool->store;
    struct pci_page page = {.memory = spool->tail};
    uint64_t offset;
    int in_memory;
    if (pci_grow((void **)&spool->pages, &spool->page_capacity, spool->page_count + 1,
                 sizeof *spool->pages))
        return pci_fail_memory(err);
    PCI_TRY(place_page(store, &in_memory, &offset, err));
    if (in_memory) {
        uint8_t *tail = pci_malloc(PCI_PAGE_BYTES, 1);
        if (!tail) {
            give_back(store, PCI_PAGE_BYTES);
            return pci_fail_memory(err);
        }
        spool->tail = tail;
    } else {
        PCI_TRY(write_page(store, spool->tail, offset, err));
        page = (struct pci_page){.file_offset = offset};
    }
    spool->pages[spool->page_count++] = page;
    spool->tail_used = 0;
    return PCOL_OK;
}

/* A short spool stays short: the first page grows from 512 bytes. */
static pcol_status make_room(struct pci_spill *spool, pcol_error *err)
{
    size_t capacity = spool->tail_capacity ? spool->tail_capacity * 4 : FIRST_TAIL;
    uint8_t *tail;
    if (spool->tail_capacity == PCI_PAGE_BYTES)
        return turn_page(spool, err);
    if (capacity > PCI_PAGE_BYTES)
        capacity = PCI_PAGE_BYTES;
    tail = pci_realloc(spool->tail, capacity, 1);
    if (!tail)
        return pci_fail_memory(err);
    spool->tail = tail;
    spool->tail_capacity = capacity;
    return PCOL_OK;
}

pcol_status pci_spill_append(struct pci_spill *spool, const void *data, size_t size,
                             pcol_error *err)
{
    const uint8_t *from = data;
    while (size) {
        size_t room = spool->tail_capacity - spool->tail_used;
        if (!room) {
            PCI_TRY(make_room(spool, err));
            continue;
        }
        if (room > size)
            room = size;
        memcpy(spool->tail + spool->tail_used, from, room);
        spool->tail_used += room;
        from += room;
        size -= room;
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

pcol_status pci_spill_read(const struct pci_spill *spool, uint64_t offset, void *data, size_t size,
                           pcol_error *err)
{
    uint8_t *to = data;
    while (size) {
        size_t page = (size_t)(offset / PCI_PAGE_BYTES), at = (size_t)(offset % PCI_PAGE_BYTES);
        size_t n = PCI_PAGE_BYTES - at < size ? PCI_PAGE_BYTES - at : size;
        if (page == spool->page_count)
            memcpy(to, spool->tail + at, n);
        else if (spool->pages[page].memory)
            memcpy(to, spool->pages[page].memory + at, n);
        else
            PCI_TRY(read_file(spool->store, spool->pages[page].file_offset + at, to, n, err));
        to += n;
        offset += n;
        size -= n;
    }
    return PCOL_OK;
}

/* The page from the file that holds a range, read once for all ranges in it. */
static pcol_status load_page(const struct pci_spill *spool, struct pci_spill_view *view,
                             size_t page, pcol_error *err)
{
    if (view->page && view->page_number == page)
        return PCOL_OK;
    if (!view->page)
        view->page = pci_malloc(PCI_PAGE_BYTES, 1);
    if (!view->page)
        return pci_fail_memory(err);
    view->page_number = SIZE_MAX;
    PCI_TRY(
        read_file(spool->store, spool->pages[page].file_offset, view->page, PCI_PAGE_BYTES, err));
    view->page_number = page;
    return PCOL_OK;
}

pcol_status pci_spill_look(const struct pci_spill *spool, struct pci_spill_view *view,
                           uint64_t offset, size_t size, const uint8_t **data, pcol_error *err)
{
    size_t page = (size_t)(offset / PCI_PAGE_BYTES), at = (size_t)(offset % PCI_PAGE_BYTES);
    if (page == spool->page_count) {
        *data = spool->tail + at;
    } else if (size <= PCI_PAGE_BYTES - at) {
        if (!spool->pages[page].memory)
            PCI_TRY(load_page(spool, view, page, err));
        *data = (spool->pages[page].memory ? spool->pages[page].memory : view->page) + at;
    } else {
        void *joined = view->joined;
        if (pci_grow(&joined, &view->capacity, size, 1))
            return pci_fail_memory(err);
        view->joined = joined;
        *data = joined;
        return pci_spill_read(spool, offset, joined, size, err);
    }
    return PCOL_OK;
}

void pci_spill_view_clear(struct pci_spill_view *view)
{
    pci_free(view->page);
    pci_free(view->joined);
    *view = (struct pci_spill_view){0};
}

void pci_spill_drop(struct pci_spill *spool, uint64_t offset)
{
    for (; spool->dropped < spool->page_count && spool->dropped < (size_t)(offset / PCI_PAGE_BYTES);
         spool->dropped++) {
        free_page(spool->store, &spool->pages[spool->dropped]);
    }
}
