/*
 * front_coding.h - byte strings in order, of which only what is new stands in the file: FRONT
 *
 * The first of 64 rows stands there whole; each other one begins with bytes of the row before. So
 * 64 rows are put together at a time, into memory that the caller has: pcf_front_plan() finds out
 * how much that is, at most 64 times the bytes in the file, and pcf_front_fill() writes there. The
 * file's numbers are loaded once, by the former.
 */
#ifndef PCF_FRONT_CODING_H
#define PCF_FRONT_CODING_H

#include "format/decode.h"

struct pcf_front {
    uint64_t first; /* row, a multiple of PCF_FRONT_ROWS */
    unsigned rows;
    uint64_t size; /* bytes of all rows */
    int64_t offsets[PCF_FRONT_ROWS + 1];
    int64_t shared[PCF_FRONT_ROWS];
};

/* The rows of which `row` is one. If they cannot be put together, *row becomes one at fault. */
enum pcf_result pcf_front_plan(const struct pcf_data *d, uint64_t *row, struct pcf_front *front);

/* The rows one after the other into front->size bytes; ends[i] is where the i-th ends. Returns the
 * first row that does not come after the one before, front->rows if all do. */
unsigned pcf_front_fill(const struct pcf_data *d, const struct pcf_front *front, uint8_t *bytes,
                        uint64_t *ends);

#endif
