/*
 * decode.h - cells of a column out of its sections
 *
 * Pure functions over bytes that index.c has placed in range. Each offset, id and width that comes
 * from the file is loaded once, checked and used; what does not fit is an error, never clamped.
 */
#ifndef PCF_DECODE_H
#define PCF_DECODE_H

#include "format/layout.h"

/* A column ready for reading: the descriptor's fields, and pointers to its sections (NULL where the
 * column has none). Filled by pcf_index_column(). */
struct pcf_data {
    uint8_t type, encoding, width;
    uint32_t flags;
    uint64_t rows;
    int64_t base, step;
    uint64_t scale;
    const uint8_t *values;
    uint64_t values_size;
    const uint8_t *validity;
    const uint8_t *blocks; /* BLOCKED: pcf_block[ceil(rows / 1024)] */
    const uint8_t *marks;  /* SPARSE, CHAIN, DELTAS, SPLIT, TREE */
    const uint8_t *bytes;  /* PCF_BYTES */
    uint64_t bytes_size;
    const struct pcf_data *child[2]; /* DICTIONARY: the second one may be another column's */
};

enum pcf_result {
    PCF_OK = 0,
    PCF_BAD_ROW,    /* row beyond the column: the caller's mistake */
    PCF_BAD_BLOCK,  /* a block's width or bit offset leaves the section */
    PCF_BAD_RANK,   /* the counts of marks disagree with the marks or the child */
    PCF_BAD_RUN,    /* run ends do not rise or do not reach the row */
    PCF_BAD_OFFSET, /* byte offsets fall or leave the data */
    PCF_BAD_CHAIN,  /* a value without successor, or 64 rows of which the first is not marked */
    PCF_BAD_SHARED, /* more bytes shared than the row before has */
    PCF_BAD_ORDER,  /* a string that does not come after the one before */
    PCF_BAD_CODE,   /* a code beyond its dictionary */
    PCF_BAD_TREE,   /* more steps than there are rows above, or the root is marked */
    PCF_BAD_VALUE   /* a u32 or string above 2^32 - 1, a bool above 1 */
};

/* Sentence for a result, static. */
const char *pcf_result_text(enum pcf_result result);

/* Row `row` as 64 bits (f64: its bits, string: its code, bool: 0 or 1). *valid is 0 for a null,
 * *value then 0. Not for PCF_BYTES. O(1); RUNS O(log runs); CHAIN and
 * DELTAS up to 63 steps, TREE up to 1023. */
enum pcf_result pcf_get(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid);

/* `count` rows from `row`; `valid` holds bytes 0 and 1 and may be NULL. Decodes blockwise: scans
 * run at memory speed for plain columns and at about one cell per nanosecond else. */
enum pcf_result pcf_read(const struct pcf_data *d, uint64_t row, uint64_t count, int64_t *values,
                         uint8_t *valid);

/* Row `row` of a PCF_BYTES column, PLAIN or LINEAR; FRONT: front_coding.h. */
enum pcf_result pcf_get_bytes(const struct pcf_data *d, uint64_t row, const uint8_t **bytes,
                              uint64_t *size, int *valid);

#endif
