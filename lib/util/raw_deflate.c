/*
 * raw_deflate.c - raw deflate streams by zlib with the library's allocator
 */
#include "util/raw_deflate.h"

#include "util/alloc.h"

#include <limits.h>

voidpf pci_zlib_alloc(voidpf unused, uInt count, uInt size)
{
    (void)unused;
    return pci_calloc(count, size);
}

void pci_zlib_free(voidpf unused, voidpf memory)
{
    (void)unused;
    pci_free(memory);
}

int pci_raw_deflate_begin(z_stream *z, int level)
{
    *z = (z_stream){.zalloc = pci_zlib_alloc, .zfree = pci_zlib_free};
    return deflateInit2(z, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK ? 0 : -1;
}

int pci_raw_inflate_begin(z_stream *z)
{
    *z = (z_stream){.zalloc = pci_zlib_alloc, .zfree = pci_zlib_free};
    return inflateInit2(z, -15) == Z_OK ? 0 : -1;
}

int64_t pci_raw_inflate_next(z_stream *z, const uint8_t *from, uint64_t size, uint8_t *to,
                             uint64_t capacity, int *no_memory)
{
    *no_memory = 0;
    if (size > UINT_MAX || capacity > UINT_MAX || inflateReset(z) != Z_OK)
        return -1;
    z->next_in = from;
    z->avail_in = (uInt)size;
    z->next_out = to;
    z->avail_out = (uInt)capacity;
    int end = inflate(z, Z_FINISH);
    *no_memory = end == Z_MEM_ERROR;
    return end == Z_STREAM_END && z->avail_in == 0 ? (int64_t)(capacity - z->avail_out) : -1;
}

int64_t pci_raw_inflate(const uint8_t *from, uint64_t size, uint8_t *to, uint64_t capacity,
                        int *no_memory)
{
    z_stream z;
    *no_memory = 1;
    if (pci_raw_inflate_begin(&z) != 0)
        return -1;
    int64_t written = pci_raw_inflate_next(&z, from, size, to, capacity, no_memory);
    inflateEnd(&z);
    return written;
}
