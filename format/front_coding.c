/*
 * front_coding.c - decoder of front-coded byte strings (front_coding.h)
 */
#include "format/front_coding.h"

#include <string.h>

enum pcf_result pcf_front_plan(const struct pcf_data *d, uint64_t *row, struct pcf_front *front)
{
    uint64_t requested = *row, length = 0;
    enum pcf_result result;
    if (requested >= d->rows || d->encoding != PCF_FRONT)
        return PCF_BAD_ROW;
    front->first = requested - requested % PCF_FRONT_ROWS;
    front->rows = d->rows - front->first < PCF_FRONT_ROWS ? (unsigned)(d->rows - front->first)
                                                          : PCF_FRONT_ROWS;
    front->size = 0;
    result = pcf_read(d->child[0], front->first, front->rows + 1u, front->offsets, NULL);
    if (result == PCF_OK)
        result = pcf_read(d->child[1], front->first, front->rows, front->shared, NULL);
    for (unsigned i = 0; result == PCF_OK && i < front->rows; i++) {
        uint64_t begin = (uint64_t)front->offsets[i], end = (uint64_t)front->offsets[i + 1];
        *row = front->first + i;
        if (begin > end || end > d->bytes_size)
            result = PCF_BAD_OFFSET;
        else if ((uint64_t)front->shared[i] > length)
            result = PCF_BAD_SHARED;
        /* Bounded by the suffixes of this and the previous rows of the block. */
        length = (uint64_t)front->shared[i] + (end - begin);
        front->size += length;
    }
    if (result == PCF_OK)
        *row = requested;
    return result;
}

/* Whether the suffix of a row is greater than what the previous row has after the shared prefix. */
static inline int is_greater(const uint8_t *suffix, uint64_t size, const uint8_t *previous,
                             uint64_t previous_size)
{
    if (size && previous_size && *suffix != *previous)
        return *suffix > *previous;
    int order = memcmp(suffix, previous, (size_t)(size < previous_size ? size : previous_size));
    return order ? order > 0 : size > previous_size;
}

unsigned pcf_front_fill(const struct pcf_data *d, const struct pcf_front *front, uint8_t *bytes,
                        uint64_t *ends)
{
    const uint8_t *previous = bytes;
    uint8_t *to = bytes;
    unsigned ordered = front->rows;
    for (unsigned i = 0; i < front->rows; i++) {
        uint64_t size = (uint64_t)front->offsets[i + 1] - (uint64_t)front->offsets[i];
        uint64_t shared = (uint64_t)front->shared[i];
        memcpy(to, previous, (size_t)shared);
        if (size)
            memcpy(to + shared, d->bytes + front->offsets[i], (size_t)size);
        if (i && ordered == front->rows &&
            !is_greater(to + shared, size, previous + shared, (uint64_t)(to - previous) - shared))
            ordered = i;
        previous = to;
        to += shared + size;
        ends[i] = (uint64_t)(to - bytes);
    }
    return ordered;
}
