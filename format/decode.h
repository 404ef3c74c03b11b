/*
 * decode.h - decoders of columns: single cells and ranges of rows
 *
 * Pure functions over sections whose sizes index.c has validated. Each offset, row number and width
 * from the file is loaded once and checked before use; an invalid one is an error, never clamped.
 */
#ifndef PCF_DECODE_H
#define PCF_DECODE_H

#include "format/layout.h"

/* A readable column: fields of its descriptor and pointers to its sections (NULL: no such section).
 * Filled by pcf_index_fill_column(). */
struct pcf_data {
    uint8_t type, encoding, width;
    uint32_t flags;
    uint64_t rows;
    int64_t base, step;
    uint64_t scale;
    const uint8_t *values;
    uint64_t values_size;
    const uint8_t *validity;
    const uint8_t *marks; /* SPARSE, CHAIN, DELTAS, SPLIT, TREE */
    const uint8_t *bytes; /* PCF_BYTES */
    uint64_t bytes_size;
    const struct pcf_data *child[2]; /* DICTIONARY: child[1] may belong to another column */
};

enum pcf_result {
    PCF_OK = 0,
    PCF_BAD_ROW,    /* row beyond the column or wrong type: an error of the caller */
    PCF_BAD_RANK,   /* cumulative counts contradict the marks or the child's rows */
    PCF_BAD_RUN,    /* run ends are not ascending or end before the row */
    PCF_BAD_OFFSET, /* byte offsets are descending or exceed the data */
    PCF_BAD_CHAIN,  /* value without successor, or an unmarked multiple of 64 */
    PCF_BAD_SHARED, /* shared prefix longer than the previous string */
    PCF_BAD_ORDER,  /* string not greater than the previous one */
    PCF_BAD_CODE,   /* code beyond the dictionary */
    PCF_BAD_TREE,   /* more steps than ancestors in the block, or the root is marked */
    PCF_BAD_VALUE   /* u32 or string above 2^32 - 1, bool above 1 */
};

/* Static message for a result. */
const char *pcf_result_text(enum pcf_result result);

/* Row `row` as 64 bits (f64: its bits, string: its code, bool: 0 or 1). For a null and on error
 * *valid and *value are 0. Not for PCF_BYTES. O(1), except RUNS: O(log runs), CHAIN and DELTAS: at
 * most 63 steps, TREE: at most 1023. */
enum pcf_result pcf_get(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid);

/* Rows [row, row + count). valid[i] is 0 for a null, else 1; `valid` may be NULL. Decodes blocks of
 * rows: memory bandwidth for PLAIN, about one cell per nanosecond for other encodings. */
enum pcf_result pcf_read(const struct pcf_data *d, uint64_t row, uint64_t count, int64_t *values,
                         uint8_t *valid);

/* Row `row` of a PLAIN or LINEAR column of type PCF_BYTES; FRONT: front_coding.h. */
enum pcf_result pcf_get_bytes(const struct pcf_data *d, uint64_t row, const uint8_t **bytes,
                              uint64_t *size, int *valid);

#endif
