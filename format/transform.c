/*
 * transform.c - delta, varint, byte-plane and parent transforms of integer arrays (spec.md, 9)
 *
 * Values have 32 or 64 bits; 64-bit values and all differences are signed and zigzag-encoded.
 * Tests: tests/unit/test_archive.c.
 */
#include "format/transform.h"

#include "format/load.h"

size_t pcf_varint_get(const uint8_t *from, size_t size, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size && i < PCF_MAX_VARINT; i++) {
        uint64_t bits = from[i] & 0x7fu;
        if (i == PCF_MAX_VARINT - 1 && bits > 1)
            return 0;
        sum |= bits << (7 * i);
        if (from[i] < 0x80) {
            *value = sum;
            return i + 1;
        }
    }
    return 0;
}

size_t pcf_varint_put(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (uint8_t)(value | 0x80);
    to[n++] = (uint8_t)value;
    return n;
}

static uint64_t load(const uint8_t *from, unsigned width)
{
    return width == 4 ? pcf_load32(from) : pcf_load64(from);
}

static void store(uint8_t *to, unsigned width, uint64_t value)
{
    memcpy(to, &value, width); /* little-endian: the low bytes */
}

static uint64_t zigzag(uint64_t value, unsigned width)
{
    if (width == 4)
        return (uint32_t)((uint32_t)value << 1 ^ -(uint32_t)(value >> 31 & 1));
    return pcf_zigzag_encode(value);
}

/* Byte-plane split: byte k of value i to offset k * count + i. */
static void split_bytes(const uint8_t *from, uint8_t *to, size_t count, unsigned width)
{
    for (unsigned k = 0; k < width; k++)
        for (size_t i = 0; i < count; i++)
            to[k * count + i] = from[i * width + k];
}

static void join_bytes(const uint8_t *from, uint8_t *to, size_t count, unsigned width)
{
    for (unsigned k = 0; k < width; k++)
        for (size_t i = 0; i < count; i++)
            to[i * width + k] = from[k * count + i];
}

size_t pcf_transform_apply(unsigned transform, unsigned width, const uint8_t *block, size_t bytes,
                           uint8_t *stream)
{
    size_t count = bytes / width, used = 0;
    uint64_t previous = 0;
    switch (transform) {
    case PCF_TRANSFORM_BYTES:
        split_bytes(block, stream, count, width);
        return bytes;
    case PCF_TRANSFORM_VARINT:
        for (size_t i = 0; i < count; i++) {
            uint64_t value = load(block + i * width, width);
            used += pcf_varint_put(stream + used, width == 4 ? value : pcf_zigzag_encode(value));
        }
        return used;
    case PCF_TRANSFORM_DELTA:
    case PCF_TRANSFORM_DELTA_BYTES:
        for (size_t i = 0; i < count; i++) {
            uint64_t value = load(block + i * width, width);
            uint64_t encoded = zigzag(value - previous, width);
            previous = value;
            if (transform == PCF_TRANSFORM_DELTA)
                used += pcf_varint_put(stream + used, encoded);
            else
                for (unsigned k = 0; k < width; k++)
                    stream[k * count + i] = (uint8_t)(encoded >> (8 * k));
        }
        return transform == PCF_TRANSFORM_DELTA ? used : bytes;
    default:
        memcpy(stream, block, bytes);
        return bytes;
    }
}

/* Varints of values, or of differences if `deltas`. */
static int undo_varints(int deltas, unsigned width, const uint8_t *stream, size_t size,
                        uint8_t *block, size_t count)
{
    uint64_t previous = 0, value;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = pcf_varint_get(stream + used, size - used, &value);
        if (n == 0 || (width == 4 && value > UINT32_MAX))
            return -1;
        used += n;
        if (deltas)
            previous = value = previous + pcf_zigzag_decode(value);
        else if (width == 8)
            value = pcf_zigzag_decode(value);
        store(block + i * width, width, value);
    }
    return used == size ? 0 : -1;
}

int pcf_transform_undo(unsigned transform, unsigned width, const uint8_t *stream, size_t size,
                       uint8_t *block, size_t bytes)
{
    size_t count = bytes / width;
    uint64_t previous = 0;
    if (transform == PCF_TRANSFORM_VARINT || transform == PCF_TRANSFORM_DELTA)
        return undo_varints(transform == PCF_TRANSFORM_DELTA, width, stream, size, block, count);
    if (size != bytes)
        return -1;
    switch (transform) {
    case PCF_TRANSFORM_NONE:
        memcpy(block, stream, bytes);
        return 0;
    case PCF_TRANSFORM_BYTES:
        join_bytes(stream, block, count, width);
        return 0;
    case PCF_TRANSFORM_DELTA_BYTES:
        join_bytes(stream, block, count, width);
        for (size_t i = 0; i < count; i++) {
            previous += pcf_zigzag_decode(load(block + i * width, width));
            store(block + i * width, width, previous);
        }
        return 0;
    default:
        return -1;
    }
}

size_t pcf_parents_apply(const uint32_t *parents, uint64_t first, size_t count, uint8_t *stream)
{
    /* Latest parent before the block, initially the row before it. Block 0 has none. */
    uint64_t outer = first - 1;
    size_t used = 0;
    for (uint64_t row = first > 0 ? first : 1; row < first + count; row++) {
        uint64_t steps = 0, ancestor = row - 1;
        for (; ancestor != parents[row] && ancestor >= first && ancestor != 0;
             ancestor = parents[ancestor])
            steps++;
        if (ancestor == parents[row]) {
            used += pcf_varint_put(stream + used, steps);
            continue;
        }
        used += pcf_varint_put(stream + used, steps + 1);
        used += pcf_varint_put(stream + used, outer - parents[row]);
        outer = parents[row];
    }
    return used;
}

/* Linear time for any stream: a row is at most one level deeper than the previous row, so the total
 * number of steps up is at most the number of rows. */
int pcf_parents_undo(const uint8_t *stream, size_t size, uint8_t *block, uint64_t first,
                     size_t count)
{
    uint64_t outer = first - 1;
    size_t used = 0;
    if (first == 0 && count > 0)
        store(block, 4, 0);
    for (uint64_t row = first > 0 ? first : 1; row < first + count; row++) {
        uint64_t steps, jump, ancestor = row - 1;
        size_t n = pcf_varint_get(stream + used, size - used, &steps);
        if (n == 0)
            return -1;
        used += n;
        for (; steps > 0 && ancestor >= first && ancestor != 0; steps--)
            ancestor = pcf_load32(block + 4 * (ancestor - first));
        if (steps > 0) { /* one step out of the block: the distance from the latest outer parent */
            if (steps > 1 || first == 0)
                return -1;
            n = pcf_varint_get(stream + used, size - used, &jump);
            if (n == 0 || jump == 0 || jump > outer)
                return -1;
            used += n;
            outer -= jump;
            ancestor = outer;
        }
        store(block + 4 * (row - first), 4, ancestor);
    }
    return used == size ? 0 : -1;
}
