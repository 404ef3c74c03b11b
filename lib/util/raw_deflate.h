/*
 * raw_deflate.h - zlib with the library's allocator: raw deflate streams, of archives
 */
#ifndef PCI_UTIL_RAW_DEFLATE_H
#define PCI_UTIL_RAW_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#define ZLIB_CONST
#include <zlib.h>

/* 0, or -1: out of memory. To be ended with deflateEnd(). */
int pci_deflate_raw_deflate(z_stream *z, int level);

/* The same of a decompressor, to be ended with inflateEnd(). */
int pci_deflate_raw_begin(z_stream *z);
/* As pci_deflate_raw_inflate(), with a decompressor that is used again and again. */
int64_t pci_deflate_raw_next(z_stream *z, const uint8_t *from, uint64_t size, uint8_t *to,
                             uint64_t room, int *memory);

/* A whole stream of `size` bytes into room for `room`: the bytes that it gave, or -1 if it is
 * damaged, does not end with the last byte or gives more; *memory is set if there was none. */
int64_t pci_deflate_raw_inflate(const uint8_t *from, uint64_t size, uint8_t *to, uint64_t room,
                                int *memory);

#endif
