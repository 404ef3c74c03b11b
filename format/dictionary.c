/*
 * dictionary.c - columns of few distinct values: DICTIONARY
 *
 * A row is a code, which is a row of the dictionary. Codes may be those of another column of the
 * table, so that rows which repeat whole tuples of values are one number. A run of cells is read as
 * codes first, which then become values in their places: out of an array, if the dictionary is
 * decoded in less time than they are looked up in.
 */
#include "format/decode_masked.h"

#include "format/range.h"

#include <string.h>

#define CHUNK 1024u
#define SMALL 1024u /* entries of a dictionary that is decoded as a whole */

enum pcf_result pcf_entry_at(const struct pcf_data *d, uint64_t row, int64_t *value, int *valid)
{
    int64_t code;
    enum pcf_result result = pcf_get(d->child[1], row, &code, valid);
    *valid = 0;
    if (result != PCF_OK)
        return result;
    return (uint64_t)code < d->child[0]->rows ? pcf_get(d->child[0], (uint64_t)code, value, valid)
                                              : PCF_BAD_CODE;
}

/* Codes are of 32 bits, as is the limit, so that bit 63 tells whether one is beyond it. */
static int codes_fit(const int64_t *codes, uint64_t count, uint64_t limit)
{
    uint64_t rest = 0;
    for (uint64_t i = 0; i < count; i++)
        rest |= limit - 1 - (uint64_t)codes[i];
    return !(rest >> 63);
}

/* Codes to values, each looked up by itself. */
static enum pcf_result look_up(const struct pcf_data *entries, uint64_t count, int64_t *values)
{
    const uint8_t *bits = entries->values;
    uint64_t scale = entries->scale, base = (uint64_t)entries->base, step = (uint64_t)entries->step;
    unsigned width = entries->width;
    int valid;
    if (entries->encoding == PCF_PACKED) {
        for (uint64_t i = 0; i < count; i++) {
            uint64_t code = (uint64_t)values[i];
            values[i] =
                (int64_t)(base + step * code + scale * pcf_bits_at(bits, code * width, width));
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

/* A block of codes to values in their places. `all`: the entries; NULL: they are to be looked
 * up. */
static enum pcf_result translate(const struct pcf_data *entries, const int64_t *all, uint64_t count,
                                 int64_t *values, uint8_t *valid)
{
    const uint8_t *bits = entries->validity;
    uint8_t own[CHUNK];
    enum pcf_result result;
    if (bits) {
        valid = valid ? valid : own;
        for (uint64_t i = 0; i < count; i++)
            valid[i] = (uint8_t)pcf_bit_at(bits, (uint64_t)values[i]);
    } else if (valid) {
        memset(valid, !(entries->flags & PCF_COLUMN_DEFAULT_NULL), (size_t)count);
    }
    if (all) {
        for (uint64_t i = 0; i < count; i++)
            values[i] = all[values[i]];
        return PCF_OK;
    }
    result = look_up(entries, count, values);
    for (uint64_t i = 0; bits && i < count; i++)
        values[i] &= -(int64_t)valid[i];
    return result;
}

enum pcf_result pcf_read_entries(const struct pcf_data *d, uint64_t row, uint64_t count,
                                 int64_t *values, uint8_t *valid)
{
    const struct pcf_data *entries = d->child[0];
    int64_t all[SMALL];
    int whole = entries->rows <= SMALL && entries->rows <= count;
    enum pcf_result result = whole ? pcf_read(entries, 0, entries->rows, all, NULL) : PCF_OK;
    while (result == PCF_OK && count) {
        uint64_t n = count < CHUNK ? count : CHUNK;
        result = pcf_read(d->child[1], row, n, values, NULL);
        if (result == PCF_OK && !codes_fit(values, n, entries->rows))
            result = PCF_BAD_CODE;
        if (result == PCF_OK)
            result = translate(entries, whole ? all : NULL, n, values, valid);
        row += n;
        count -= n;
        values += n;
        valid = valid ? valid + n : NULL;
    }
    return result;
}
