/*
 * front_coding.c - byte strings put together out of what each shares with the one before and its
 * own bytes
 */
#include "format/front_coding.h"

#include "format/range.h"

#include <string.h>

enum pcf_result pcf_front_plan(const struct pcf_data *d, uint64_t *row, struct pcf_front *front)
{
    uint64_t at = *row, length = 0;
    enum pcf_result result;
    if (at >= d->rows || d->encoding != PCF_FRONT)
        return PCF_BAD_ROW;
    front->first = at - at % PCF_FRONT_ROWS;
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
        /* At most what the rows up to here have of their own. */
        length = (uint64_t)front->shared[i] + (end - begin);
        front->size += length;
    }
    if (result == PCF_OK)
        *row = at;
    return result;
}

/* Whether a row's own bytes come after those that the row before has instead; both have the same
 * bytes in front of them. */
static inline int comes_after(const uint8_t *own, uint64_t size, const uint8_t *before,
                              uint64_t before_size)
{
    if (size && before_size && *own != *before)
        return *own > *before;
    int order = memcmp(own, before, (size_t)(size < before_size ? size : before_size));
    return order ? order > 0 : size > before_size;
}

unsigned pcf_front_fill(const struct pcf_data *d, const struct pcf_front *front, uint8_t *bytes,
                        uint64_t *ends)
{
    const uint8_t *before = bytes;
    uint8_t *at = bytes;
    unsigned sound = front->rows;
    for (unsigned i = 0; i < front->rows; i++) {
        uint64_t own = (uint64_t)front->offsets[i + 1] - (uint64_t)front->offsets[i];
        uint64_t shared = (uint64_t)front->shared[i];
        memcpy(at, before, (size_t)shared);
        if (own)
            memcpy(at + shared, d->bytes + front->offsets[i], (size_t)own);
        if (i && sound == front->rows &&
            !comes_after(at + shared, own, before + shared, (uint64_t)(at - before) - shared))
            sound = i;
        before = at;
        at += shared + own;
        ends[i] = (uint64_t)(at - bytes);
    }
    return sound;
}
