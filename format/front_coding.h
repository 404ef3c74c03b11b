/*
 * front_coding.h - decoder of FRONT: front coding of sorted byte strings, in blocks of 64 rows
 *
 * The first row of a block is stored whole, every other row as the length of the prefix that it
 * shares with the previous row and a suffix. A block is decoded in two steps: pcf_front_plan()
 * loads and validates its numbers and computes its size, at most 64 times the stored bytes;
 * pcf_front_fill() writes the strings into memory of the caller. Tests:
 * tests/unit/test_front_coding.c.
 */
#ifndef PCF_FRONT_CODING_H
#define PCF_FRONT_CODING_H

#include "format/decode.h"

struct pcf_front {
    uint64_t first; /* row, a multiple of PCF_FRONT_ROWS */
    unsigned rows;
    uint64_t size; /* bytes of all decoded rows */
    int64_t offsets[PCF_FRONT_ROWS + 1];
    int64_t shared[PCF_FRONT_ROWS];
};

/* Plans the block that contains *row. On error *row is a row at fault. */
enum pcf_result pcf_front_plan(const struct pcf_data *d, uint64_t *row, struct pcf_front *front);

/* Writes the concatenated rows into front->size bytes; ends[i] is the end offset of row i. Returns
 * the first row that is not greater than the previous one; front->rows: none. */
unsigned pcf_front_fill(const struct pcf_data *d, const struct pcf_front *front, uint8_t *bytes,
                        uint64_t *ends);

#endif
