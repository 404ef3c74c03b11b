/*
 * decode_masked.c - columns of which some rows have values of their own: SPARSE, CHAIN, DELTAS,
 * SPLIT
 *
 * Bits mark those rows, with a count of the marks before every 1024th row, and their values stand
 * in a child. What the other rows hold follows from their number (SPARSE), from the value of
 * the row before (CHAIN) or is a difference to that (DELTAS): marks of these two are never more
 * than 64 rows apart. Or it stands in a second child (SPLIT), so that rare large values do not
 * widen the small ones.
 */
#include "format/decode_masked.h"

#include "format/range.h"

#include <string.h>

#define WORDS (PCF_RANK_ROWS / 64)

/* ---- the marks */

/* Word w of the marks; the last one may be shorter than 8 bytes, and its spare bits do not
 * count. */
static inline uint64_t marks_word(const struct pcf_data *d, uint64_t w)
{
    uint64_t left = d->rows - w * 64;
    const uint8_t *at = pcf_marks_of(d, w / WORDS) + w % WORDS * 8;
    if (left >= 64)
        return pcf_load64(at);
    uint64_t word = 0;
    memcpy(&word, at, (size_t)pcf_bytes_of_bits(left));
    return word & (UINT64_MAX >> (64 - left));
}

/* Marks before a row; 0 if there are more than values in the child. */
static int count_marks(const struct pcf_data *d, uint64_t row, uint64_t *count)
{
    uint64_t block = row / PCF_RANK_ROWS, limit = d->child[0]->rows;
    const uint8_t *marks = pcf_marks_of(d, block);
    uint64_t r = pcf_marks_before(d, block);
    if (r > limit)
        return 0;
    for (uint64_t w = 0; w < row / 64 % WORDS; w++)
        r += (uint64_t)pcf_popcount(pcf_load64(marks + 8 * w));
    r += (uint64_t)pcf_popcount(marks_word(d, row / 64) & ((UINT64_C(1) << row % 64) - 1));
    *count = r;
    return r <= limit;
}

int pcf_marked_rank(const struct pcf_data *d, uint64_t row, uint64_t *rank)
{
    return count_marks(d, row, rank) && *rank < d->child[0]->rows;
}

/* The marks of rows within one rank block, and the values of those that are marked. Before a walk
 * over blocks the rank is PCF_MAX_ROWS: not known yet. */
struct marks {
    uint64_t words[WORDS];
    uint64_t first, end;               /* rows within the block */
    uint64_t rank, within;             /* marks before the first row, and among the rows */
    int64_t values[PCF_RANK_ROWS + 1]; /* one to spare, see merge() */
};

static void marks_begin(struct marks *m)
{
    m->rank = PCF_MAX_ROWS;
    m->within = 0;
}

/* Bits of rows first..end of a rank block in words, and how many there are before and within. */
static void marked_words(const struct pcf_data *d, uint64_t block, uint64_t first, uint64_t end,
                         uint64_t *words, uint64_t *before, uint64_t *within)
{
    for (uint64_t w = 0; w < WORDS; w++) {
        uint64_t lo = w * 64;
        words[w] = 0;
        if (lo >= end)
            continue;
        uint64_t word = marks_word(d, block * WORDS + w);
        uint64_t low = first <= lo        ? 0
                       : first - lo >= 64 ? UINT64_MAX
                                          : (UINT64_C(1) << (first - lo)) - 1;
        *before += (uint64_t)pcf_popcount(word & low);
        words[w] = word & ~low;
        if (end - lo < 64)
            words[w] &= (UINT64_C(1) << (end - lo)) - 1;
        *within += (uint64_t)pcf_popcount(words[w]);
    }
}

/* The marks of rows from `row` on to the end of its rank block, at most `count`, which go on where
 * the ones before ended. */
static enum pcf_result read_marks(const struct pcf_data *d, uint64_t row, uint64_t count,
                                  struct marks *m)
{
    uint64_t block = row / PCF_RANK_ROWS, left = PCF_RANK_ROWS - row % PCF_RANK_ROWS;
    uint64_t rank = pcf_marks_before(d, block), within = 0;
    if (rank > d->child[0]->rows || (m->rank != PCF_MAX_ROWS && rank != m->rank + m->within))
        return PCF_BAD_RANK;
    m->first = row % PCF_RANK_ROWS;
    m->end = m->first + (left < count ? left : count);
    marked_words(d, block, m->first, m->end, m->words, &rank, &within);
    if (!pcf_range(rank, within, 1, d->child[0]->rows))
        return PCF_BAD_RANK;
    m->rank = rank;
    m->within = within;
    m->values[within] = 0;
    return pcf_read(d->child[0], rank, within, m->values, NULL);
}

/* ---- sparse */

/* Put the values of marked rows, which are as many as bits are set, in their places; row `first` of
 * the block goes to values[0]. */
static void sparse_scatter(const struct marks *m, int64_t *values, uint8_t *valid)
{
    const uint64_t *words = m->words;
    uint64_t word = words[0];
    for (uint64_t k = 0, w = 0; k < m->within; k++, word &= word - 1) {
        while (!word)
            word = words[++w];
        uint64_t i = w * 64 + (uint64_t)__builtin_ctzll(word) - m->first;
        values[i] = m->values[k];
        if (valid)
            valid[i] = 1;
    }
}

enum pcf_result pcf_read_sparse(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values, uint8_t *valid)
{
    int null = (d->flags & PCF_COLUMN_DEFAULT_NULL) != 0;
    struct marks m;
    marks_begin(&m);
    for (uint64_t n; count; row += n, count -= n, values += n) {
        enum pcf_result result = read_marks(d, row, count, &m);
        if (result != PCF_OK)
            return result;
        n = m.end - m.first;
        if (null)
            memset(values, 0, (size_t)n * sizeof *values);
        else
            pcf_read_linear(d, row, n, values);
        if (valid)
            memset(valid, !null, (size_t)n);
        sparse_scatter(&m, values, valid);
        if (valid)
            valid += n;
    }
    return PCF_OK;
}

/* ---- split */

enum pcf_result pcf_split_at(const struct pcf_data *d, uint64_t row, int64_t *value)
{
    uint64_t rank;
    int valid;
    if (!count_marks(d, row, &rank))
        return PCF_BAD_RANK;
    int k = !pcf_is_marked(d, row);
    uint64_t at =
        k ? row - rank : rank; /* if rank is beyond row, so is the difference beyond all */
    return at < d->child[k]->rows ? pcf_get(d->child[k], at, value, &valid) : PCF_BAD_RANK;
}

/* Rows of a rank block out of its two parts. Either has a cell to spare, as both are read for each
 * row and one is taken, without a branch: nothing foretells which rows are marked. */
static void merge(const struct marks *m, const int64_t *others, int64_t *restrict values)
{
    const int64_t *marked = m->values;
    for (uint64_t i = m->first, next; i < m->end; i = next) {
        uint64_t word = m->words[i / 64] >> (i % 64), k = 0, n;
        next = (i / 64 + 1) * 64;
        next = next < m->end ? next : m->end;
        n = next - i;
        for (uint64_t j = 0; j < n; j++, word >>= 1) {
            uint64_t take = 0 - (word & 1), own = (uint64_t)marked[k],
                     other = (uint64_t)others[j - k];
            values[j] = (int64_t)(other ^ ((other ^ own) & take));
            k += word & 1;
        }
        values += n;
        marked += k;
        others += n - k;
    }
}

/* The values in child 1 of n rows that are not marked, from `row` on, with `rank` marks before it,
 * and a cell to spare. */
static enum pcf_result read_others(const struct pcf_data *d, uint64_t row, uint64_t rank,
                                   uint64_t n, int64_t *others)
{
    if (rank > row || !pcf_range(row - rank, n, 1, d->child[1]->rows))
        return PCF_BAD_RANK;
    others[n] = 0;
    return pcf_read(d->child[1], row - rank, n, others, NULL);
}

enum pcf_result pcf_read_split(const struct pcf_data *d, uint64_t row, uint64_t count,
                               int64_t *values)
{
    struct marks m;
    int64_t others[PCF_RANK_ROWS + 1];
    marks_begin(&m);
    for (uint64_t n; count; row += n, count -= n, values += n) {
        enum pcf_result result = read_marks(d, row, count, &m);
        if (result == PCF_OK)
            result = read_others(d, row, m.rank, m.end - m.first - m.within, others);
        if (result != PCF_OK)
            return result;
        n = m.end - m.first;
        merge(&m, others, values);
    }
    return PCF_OK;
}

/* ---- chain, deltas */

/* The value that stands behind another one. */
static inline enum pcf_result successor(const struct pcf_data *d, int64_t value, int64_t *next)
{
    const struct pcf_data *s = d->child[1];
    int valid;
    if ((uint64_t)value >= s->rows)
        return PCF_BAD_CHAIN;
    if (s->encoding != PCF_PACKED)
        return pcf_get(s, (uint64_t)value, next, &valid);
    *next = (int64_t)(pcf_linear_at(s, (uint64_t)value) +
                      s->scale * pcf_bits_at(s->values, (uint64_t)value * s->width, s->width));
    return PCF_OK;
}

/* From the last marked row on, which is at most 63 rows back. */
enum pcf_result pcf_follow_at(const struct pcf_data *d, uint64_t row, int64_t *value)
{
    uint64_t word = marks_word(d, row / 64) & (UINT64_MAX >> (63 - row % 64)), rank;
    int64_t steps[64 + 1];
    enum pcf_result result;
    int valid;
    if (!(word & 1))
        return PCF_BAD_CHAIN;
    uint64_t marked = row / 64 * 64 + 63 - (uint64_t)__builtin_clzll(word);
    if (!pcf_marked_rank(d, marked, &rank))
        return PCF_BAD_RANK;
    result = pcf_get(d->child[0], rank, value, &valid);
    if (d->encoding == PCF_CHAIN) {
        for (; result == PCF_OK && marked < row; marked++)
            result = successor(d, *value, value);
    } else if (result == PCF_OK && marked < row) {
        result = read_others(d, marked + 1, rank + 1, row - marked, steps);
        for (uint64_t i = 0; result == PCF_OK && i < row - marked; i++)
            *value = (int64_t)((uint64_t)*value + (uint64_t)steps[i]);
    }
    if (result != PCF_OK)
        *value = 0;
    return result;
}

static enum pcf_result follow_chain(const struct pcf_data *d, const struct marks *m,
                                    int64_t *values, int64_t *last)
{
    int64_t value = *last;
    for (uint64_t i = m->first, k = 0; i < m->end; i++) {
        if (m->words[i / 64] >> (i % 64) & 1) {
            value = m->values[k++];
        } else {
            enum pcf_result result = successor(d, value, &value);
            if (result != PCF_OK)
                return result;
        }
        values[i - m->first] = value;
    }
    *last = value;
    return PCF_OK;
}

/* Both ways are computed and one is taken: nothing foretells which row is marked. */
static void follow_deltas(const struct marks *m, const int64_t *steps, int64_t *values,
                          int64_t *last)
{
    uint64_t value = (uint64_t)*last, k = 0;
    for (uint64_t i = m->first; i < m->end; i++) {
        uint64_t is_marked = m->words[i / 64] >> (i % 64) & 1;
        uint64_t own = (uint64_t)m->values[k], next = value + (uint64_t)steps[i - m->first - k];
        value = is_marked ? own : next;
        k += is_marked;
        values[i - m->first] = (int64_t)value;
    }
    *last = (int64_t)value;
}

/* The rows of a block, behind one that holds *last. */
static enum pcf_result follow_block(const struct pcf_data *d, uint64_t row, const struct marks *m,
                                    int64_t *values, int64_t *last)
{
    int64_t steps[PCF_RANK_ROWS + 1];
    for (uint64_t i = (m->first + 63) / 64 * 64; i < m->end; i += 64) {
        if (!(m->words[i / 64] & 1))
            return PCF_BAD_CHAIN;
    }
    if (d->encoding == PCF_CHAIN)
        return follow_chain(d, m, values, last);
    enum pcf_result result = read_others(d, row, m->rank, m->end - m->first - m->within, steps);
    if (result == PCF_OK)
        follow_deltas(m, steps, values, last);
    return result;
}

enum pcf_result pcf_read_follow(const struct pcf_data *d, uint64_t row, uint64_t count,
                                int64_t *values)
{
    struct marks m;
    int64_t last = 0;
    enum pcf_result result = row % 64 ? pcf_follow_at(d, row - 1, &last) : PCF_OK;
    marks_begin(&m);
    if (result != PCF_OK)
        return result;
    for (uint64_t n; count; row += n, count -= n, values += n) {
        result = read_marks(d, row, count, &m);
        if (result == PCF_OK)
            result = follow_block(d, row, &m, values, &last);
        if (result != PCF_OK)
            return result;
        n = m.end - m.first;
    }
    return PCF_OK;
}
