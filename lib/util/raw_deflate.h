/*
 * raw_deflate.h - raw deflate streams (RFC 1951) by zlib with the library's allocator, for archives
 */
#ifndef PCI_UTIL_RAW_DEFLATE_H
#define PCI_UTIL_RAW_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#define ZLIB_CONST
#include <zlib.h>

/* Hooks of a z_stream: the library's allocator. */
voidpf pci_zlib_alloc(voidpf unused, uInt count, uInt size);
void pci_zlib_free(voidpf unused, voidpf memory);

/* Initialize a compressor. 0, or -1: out of memory. The caller calls deflateEnd(). */
int pci_raw_deflate_begin(z_stream *z, int level);

/* Initialize a decompressor. 0, or -1: out of memory. The caller calls inflateEnd(). */
int pci_raw_inflate_begin(z_stream *z);
/* pci_raw_inflate() with a decompressor that is reused for several streams. */
int64_t pci_raw_inflate_next(z_stream *z, const uint8_t *from, uint64_t size, uint8_t *to,
                             uint64_t capacity, int *no_memory);

/* Decompress a whole stream of `size` bytes. Returns the decompressed size, or -1 if the stream is
 * damaged, does not end with its last byte or exceeds `capacity`. *no_memory: out of memory. */
int64_t pci_raw_inflate(const uint8_t *from, uint64_t size, uint8_t *to, uint64_t capacity,
                        int *no_memory);

#endif
