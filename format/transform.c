/*
 * transform.c - arrays of integers as streams that compress better (spec.md, "Archives")
 *
 * Differences and varints work on values of 32 or 64 bits; those of 64 bits are taken as signed,
 * and signed numbers become unsigned by folding: 0, -1, 1, -2 are 0, 1, 2, 3.
 */
#include "format/transform.h"

#include "format/load.h"

size_t pcf_varint_get(const uint8_t *from, size_t size, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size && i < 10; i++) {
        uint64_t bits = from[i] & 0x7fu;
        if (i == 9 && bits > 1)
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

static uint64_t load(const uint8_t *at, unsigned width)
{
    return width == 4 ? pcf_load32(at) : pcf_load64(at);
}

static void store(uint8_t *at, unsigned width, uint64_t value)
{
    memcpy(at, &value, width); /* little-endian: the low bytes */
}

static uint64_t fold(uint64_t value, unsigned width)
{
    if (width == 4)
        return (uint32_t)((uint32_t)value << 1 ^ -(uint32_t)(value >> 31 & 1));
    return value << 1 ^ -(value >> 63);
}

static uint64_t unfold(uint64_t value)
{
    return value >> 1 ^ -(value & 1);
}

/* Byte k of value i to place k * count + i. */
static void spread(const uint8_t *from, uint8_t *to, size_t count, unsigned width)
{
    for (unsigned k = 0; k < width; k++)
        for (size_t i = 0; i < count; i++)
            to[k * count + i] = from[i * width + k];
}

static void gather(const uint8_t *from, uint8_t *to, size_t count, unsigned width)
{
    for (unsigned k = 0; k < width; k++)
        for (size_t i = 0; i < count; i++)
            to[i * width + k] = from[k * count + i];
}

size_t pcf_transform_apply(unsigned transform, unsigned width, const uint8_t *block, size_t bytes,
                           uint8_t *stream)
{
    size_t count = bytes / width, used = 0;
    uint64_t before = 0;
    switch (transform) {
    case PCF_TRANSFORM_BYTES:
        spread(block, stream, count, width);
        return bytes;
    case PCF_TRANSFORM_VARINT:
        for (size_t i = 0; i < count; i++) {
            uint64_t value = load(block + i * width, width);
            used += pcf_varint_put(stream + used, width == 4 ? value : fold(value, 8));
        }
        return used;
    case PCF_TRANSFORM_DELTA:
    case PCF_TRANSFORM_DELTA_BYTES:
        for (size_t i = 0; i < count; i++) {
            uint64_t value = load(block + i * width, width), folded = fold(value - before, width);
            before = value;
            if (transform == PCF_TRANSFORM_DELTA)
                used += pcf_varint_put(stream + used, folded);
            else
                for (unsigned k = 0; k < width; k++)
                    stream[k * count + i] = (uint8_t)(folded >> (8 * k));
        }
        return transform == PCF_TRANSFORM_DELTA ? used : bytes;
    default:
        memcpy(stream, block, bytes);
        return bytes;
    }
}

/* Varints of values or, `deltas`, of differences. */
static int undo_varints(int deltas, unsigned width, const uint8_t *stream, size_t size,
                        uint8_t *block, size_t count)
{
    uint64_t before = 0, value;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = pcf_varint_get(stream + used, size - used, &value);
        if (n == 0 || (width == 4 && value > UINT32_MAX))
            return -1;
        used += n;
        if (deltas)
            before = value = before + unfold(value);
        else if (width == 8)
            value = unfold(value);
        store(block + i * width, width, value);
    }
    return used == size ? 0 : -1;
}

int pcf_transform_undo(unsigned transform, unsigned width, const uint8_t *stream, size_t size,
                       uint8_t *block, size_t bytes)
{
    size_t count = bytes / width;
    uint64_t before = 0;
    if (transform == PCF_TRANSFORM_VARINT || transform == PCF_TRANSFORM_DELTA)
        return undo_varints(transform == PCF_TRANSFORM_DELTA, width, stream, size, block, count);
    if (size != bytes)
        return -1;
    switch (transform) {
    case PCF_TRANSFORM_NONE:
        memcpy(block, stream, bytes);
        return 0;
    case PCF_TRANSFORM_BYTES:
        gather(stream, block, count, width);
        return 0;
    case PCF_TRANSFORM_DELTA_BYTES:
        gather(stream, block, count, width);
        for (size_t i = 0; i < count; i++) {
            before += unfold(load(block + i * width, width));
            store(block + i * width, width, before);
        }
        return 0;
    default:
        return -1;
    }
}

size_t pcf_parents_apply(const uint32_t *parents, uint64_t first, size_t count, uint8_t *stream)
{
    uint64_t outer =
        first - 1; /* the last row before the block that was a value; of block 0: none */
    size_t used = 0;
    for (uint64_t row = first > 0 ? first : 1; row < first + count; row++) {
        uint64_t steps = 0, at = row - 1;
        for (; at != parents[row] && at >= first && at != 0; at = parents[at])
            steps++;
        if (at == parents[row]) {
            used += pcf_varint_put(stream + used, steps);
            continue;
        }
        used += pcf_varint_put(stream + used, steps + 1);
        used += pcf_varint_put(stream + used, outer - parents[row]);
        outer = parents[row];
    }
    return used;
}

/* A row's depth is at most one more than that of the row before, so that all steps up together are
 * at most as many as rows. */
int pcf_parents_undo(const uint8_t *stream, size_t size, uint8_t *block, uint64_t first,
                     size_t count)
{
    uint64_t outer = first - 1;
    size_t used = 0;
    if (first == 0 && count > 0)
        store(block, 4, 0);
    for (uint64_t row = first > 0 ? first : 1; row < first + count; row++) {
        uint64_t steps, further, at = row - 1;
        size_t n = pcf_varint_get(stream + used, size - used, &steps);
        if (n == 0)
            return -1;
        used += n;
        for (; steps > 0 && at >= first && at != 0; steps--)
            at = pcf_load32(block + 4 * (at - first));
        if (steps > 0) { /* one more, from the outer row to one before it */
            if (steps > 1 || first == 0)
                return -1;
            n = pcf_varint_get(stream + used, size - used, &further);
            if (n == 0 || further == 0 || further > outer)
                return -1;
            used += n;
            outer -= further;
            at = outer;
        }
        store(block + 4 * (row - first), 4, at);
    }
    return used == size ? 0 : -1;
}
