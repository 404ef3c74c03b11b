/*
 * spans.h - inside of decode.c, split off for its size: the encoding SPANS
 */
#ifndef PCF_SPANS_H
#define PCF_SPANS_H

#include "decode.h"

/* As pcf_get() and pcf_read() of columns that are known to be SPANS; rows are in range. */
enum pcf_result pcf_spans_at(const struct pcf_data *d, uint64_t row, int64_t *value);
enum pcf_result pcf_read_spans(const struct pcf_data *d, uint64_t row, uint64_t count,
                               int64_t *values);

/* What a block takes of VALUES, in bytes of the section but for the two counts of bits. */
struct pcf_span_use {
    uint64_t offset, directory_bits; /* the directory */
    uint64_t residuals, used_bits;   /* the residuals of rows that there are */
    uint64_t end;                    /* where the next block begins */
};

/* Block number k of a column, all its spans looked at; 0 if one is wrong. */
int pcf_span_block(const struct pcf_data *d, uint64_t k, struct pcf_span_use *use);

#endif
