/*
 * transform.h - reversible transforms of integer arrays before byte compression (spec.md, 9),
 * LEB128 varints and zigzag encoding
 */
#ifndef PCF_TRANSFORM_H
#define PCF_TRANSFORM_H

#include "format/layout.h"

/* Applies PCF_TRANSFORM_NONE to PCF_TRANSFORM_DELTA_BYTES to `bytes` bytes of values of `width` 4
 * or 8 bytes. `bytes` is a multiple of the width and at most PCF_ARCHIVE_RANK_BLOCK; `stream` has
 * space for PCF_ARCHIVE_STREAM bytes. Returns the size of the stream. */
size_t pcf_transform_apply(unsigned transform, unsigned width, const uint8_t *block, size_t bytes,
                           uint8_t *stream);

/* Inverse; returns -1 unless exactly `size` bytes of stream yield exactly `bytes` bytes. */
int pcf_transform_undo(unsigned transform, unsigned width, const uint8_t *stream, size_t size,
                       uint8_t *block, size_t bytes);

/* PCF_TRANSFORM_PARENT for rows [first, first + count) of the parents of a tree in pre-order, count
 * <= PCF_ARCHIVE_BLOCK / 4. `parents` has all rows, `block` these rows only. */
size_t pcf_parents_apply(const uint32_t *parents, uint64_t first, size_t count, uint8_t *stream);
int pcf_parents_undo(const uint8_t *stream, size_t size, uint8_t *block, uint64_t first,
                     size_t count);

#define PCF_MAX_VARINT 10u /* bytes of a varint of 64 bits */

/* LEB128 varint. Returns the bytes read; 0 if it is truncated or exceeds 64 bits. */
size_t pcf_varint_get(const uint8_t *from, size_t size, uint64_t *value);
/* Returns the bytes written, at most PCF_MAX_VARINT. */
size_t pcf_varint_put(uint8_t *to, uint64_t value);

/* Zigzag encoding of 64-bit integers: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t pcf_zigzag_encode(uint64_t value)
{
    return value << 1 ^ -(value >> 63);
}

static inline uint64_t pcf_zigzag_decode(uint64_t number)
{
    return number >> 1 ^ -(number & 1);
}

#endif
