/*
 * dictionary.c - decoder of DICTIONARY
 *
 * A code is a row of the dictionary. Columns of a table may share codes: repeated tuples of values
 * cost one code per row. A range of rows is read as codes, which are replaced by values in place;
 * a dictionary that is small and not larger than the range is decoded into an array first.
 * Tests: tests/unit/test_decode.c, tests/format/columns.
 */
#include "format/decode_masked.h"

#include <string.h>

#define CHUNK 1024u
#define SMALL 1024u /* maximum entries of a dictionary that is decoded as a whole */

enum pcf_result pcf_get_dictionary(const struct pcf_data *d, uint64_t row, int64_t *value,
                                   int *valid)
{
    int64_t code;
    enum pcf_result result = pcf_get(d->child[1], row, &code, valid);
    *valid = 0;
    if (result != PCF_OK)
        return result;
    return (uint64_t)code < d->child[0]->rows ? pcf_get(d->child[0], (uint64_t)code, value, valid)
                                              : PCF_BAD_CODE;
}

/* Whether all codes are below the limit. Both have 32 bits: a negative difference sets bit 63. */
static int are_codes_valid(const int64_t *codes, uint64_t count, uint64_t limit)
{
    uint64_t signs = 0;
    for (uint64_t i = 0; i < count; i++)
        signs |= limit - 1 - (uint64_t)codes[i];
    return !(signs >> 63);
}

/* Replaces codes by values, one lookup per code. */
static enum pcf_result look_up(const struct pcf_data *entries, uint64_t count, int64_t *values)
{
    const uint8_t *bits = entries->values;
    uint64_t scale = entries->scale, base = (uint64_t)entries->base;
    unsigned width = entries->width;
    int valid;
    if (entries->encoding == PCF_PACKED) {
        for (uint64_t i = 0; i < count; i++) {
            uint64_t code = (uint64_t)values[i];
            values[i] = (int64_t)(base + scale * pcf_bits_at(bits, code * width, width));
        }
        return PCF_OK;
    }
    for (uint64_t i = 0; i < count; i++) {
        enum pcf_result result = pcf_get(entries, (uint64_t)values[i], &values[i], &valid);
        if (result != PCF_OK)
            return result;
    }
    return PCF_OK;
}

/* Replaces codes by values and sets `valid`. `decoded`: all entries, or NULL to look up each. */
static enum pcf_result replace_codes(const struct pcf_data *entries, const int64_t *decoded,
                                     uint64_t count, int64_t *values, uint8_t *valid)
{
    const uint8_t *bits = entries->validity;
    uint8_t local_valid[CHUNK];
    enum pcf_result result;
    if (bits) {
        valid = valid ? valid : local_valid;
        for (uint64_t i = 0; i < count; i++)
            valid[i] = (uint8_t)pcf_bit_at(bits, (uint64_t)values[i]);
    } else if (valid) {
        memset(valid, !(entries->flags & PCF_COLUMN_DEFAULT_NULL), (size_t)count);
    }
    if (decoded) {
        for (uint64_t i = 0; i < count; i++)
            values[i] = decoded[values[i]];
        return PCF_OK;
    }
    result = look_up(entries, count, values);
    for (uint64_t i = 0; bits && i < count; i++)
        values[i] &= -(int64_t)valid[i];
    return result;
}

enum pcf_result pcf_read_dictionary(const struct pcf_data *d, uint64_t row, uint64_t count,
                                    int64_t *values, uint8_t *valid)
{
    const struct pcf_data *entries = d->child[0];
    int64_t decoded[SMALL];
    int whole = entries->rows <= SMALL && entries->rows <= count;
    enum pcf_result result = whole ? pcf_read(entries, 0, entries->rows, decoded, NULL) : PCF_OK;
    while (result == PCF_OK && count) {
        uint64_t n = count < CHUNK ? count : CHUNK;
        result = pcf_read(d->child[1], row, n, values, NULL);
        if (result == PCF_OK && !are_codes_valid(values, n, entries->rows))
            result = PCF_BAD_CODE;
        if (result == PCF_OK)
            result = replace_codes(entries, whole ? decoded : NULL, n, values, valid);
        row += n;
        count -= n;
        values += n;
        valid = valid ? valid + n : NULL;
    }
    return result;
}
