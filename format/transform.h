/*
 * transform.h - arrays of integers as streams that compress better (spec.md, "Archives")
 *
 * The bytes of an array are the same few values over and over in ways that a byte compressor does
 * not see. A transform puts them otherwise; it is undone when a block is decompressed.
 */
#ifndef PCF_TRANSFORM_H
#define PCF_TRANSFORM_H

#include "format/layout.h"

/* PCF_TRANSFORM_NONE to PCF_TRANSFORM_DELTA_BYTES: `bytes` of values of `width` 4 or 8 bytes into
 * `stream`, which has room for PCF_PRESS_STREAM; bytes <= PCF_PRESS_RANK_BLOCK, a multiple of the
 * width.
 * Returns the stream's size. */
size_t pcf_transform_apply(unsigned transform, unsigned width, const uint8_t *block, size_t bytes,
                           uint8_t *stream);

/* The way back: exactly `bytes` of values out of exactly `size` bytes. 0, or -1 if it is not so. */
int pcf_transform_undo(unsigned transform, unsigned width, const uint8_t *stream, size_t size,
                       uint8_t *block, size_t bytes);

/* PCF_TRANSFORM_PARENT: rows [first, first + count) of the parents of a tree in pre-order; `block`
 * has these alone, `parents` all. count <= PCF_PRESS_BLOCK / 4. */
size_t pcf_parents_apply(const uint32_t *parents, uint64_t first, size_t count, uint8_t *stream);
int pcf_parents_undo(const uint8_t *stream, size_t size, uint8_t *block, uint64_t first,
                     size_t count);

/* One varint: 7 bits a byte, lowest first, the top bit set on all but the last. The bytes used; 0
 * if it is cut or beyond 64 bits. */
size_t pcf_varint_get(const uint8_t *from, size_t size, uint64_t *value);
size_t pcf_varint_put(uint8_t *to, uint64_t value); /* at most 10 */

#endif
