/*
 * decode_masked.c - decoders of encodings with marked rows: SPARSE, CHAIN, DELTAS, SPLIT
 *
 * A bit vector with rank directory marks rows; child 0 has their values. An unmarked row is a
 * linear function of its number (SPARSE), the successor of the previous row (CHAIN), the previous
 * row plus a delta (DELTAS) or a value of child 1 (SPLIT: patched bit-packing, rare large values do
 * not widen the small ones). Marks of CHAIN and DELTAS are at most 64 rows apart.
 * Tests: tests/unit/test_decode.c, tests/format/columns.
 */
#include "format/decode_masked.h"

#include "format/range.h"

#include <string.h>

#define WORDS (PCF_RANK_ROWS / 64)

/* ---- the marks */

/* Marks of rows [64w, 64w + 64); bits past the last row are 0. */
static inline uint64_t load_marks(const struct pcf_data *d, uint64_t w)
{
    return pcf_load_bits(pcf_marks_of(d, w / WORDS) + w % WORDS * 8, d->rows - w * 64);
}

/* Number of marks before a row; returns 0 if it exceeds the rows of child 0. */
static int count_marks(const struct pcf_data *d, uint64_t row, uint64_t *count)
{
    uint64_t block = row / PCF_RANK_ROWS, limit = d->child[0]->rows;
    const uint8_t *marks = pcf_marks_of(d, block);
    uint64_t rank = pcf_marks_before(d, block);
    if (rank > limit)
        return 0;
    for (uint64_t w = 0; w < row / 64 % WORDS; w++)
        rank += (uint64_t)pcf_popcount(pcf_load64(marks + 8 * w));
    rank += (uint64_t)pcf_popcount(load_marks(d, row / 64) & ((UINT64_C(1) << row % 64) - 1));
    *count = rank;
    return rank <= limit;
}

int pcf_marked_rank(const struct pcf_data *d, uint64_t row, uint64_t *rank)
{
    return count_marks(d, row, rank) && *rank < d->child[0]->rows;
}

/* Marks of a range of rows within one rank block, and the values of its marked rows. */
struct marks {
    uint64_t words[WORDS];
    uint64_t first, end;               /* the range, as rows of the block */
    uint64_t rank;                     /* marks before the range; PCF_MAX_ROWS: no range read yet */
    uint64_t count;                    /* marks in the range */
    int64_t values[PCF_RANK_ROWS + 1]; /* one spare element for merge_values() */
};

static void init_marks(struct marks *m)
{
    m->rank = PCF_MAX_ROWS;
    m->count = 0;
}

/* Sets words[] to the marks of rows [first, end) of a rank block, *count to their number, and adds
 * the number of marks of the block before `first` to *rank. */
static void select_marks(const struct pcf_data *d, uint64_t block, uint64_t first, uint64_t end,
                         uint64_t *words, uint64_t *rank, uint64_t *count)
{
    *count = 0;
    for (uint64_t w = 0; w < WORDS; w++) {
        uint64_t lo = w * 64;
        words[w] = 0;
        if (lo >= end)
            continue;
        uint64_t word = load_marks(d, block * WORDS + w);
        uint64_t low = first <= lo        ? 0
                       : first - lo >= 64 ? UINT64_MAX
                                          : (UINT64_C(1) << (first - lo)) - 1;
        *rank += (uint64_t)pcf_popcount(word & low);
        words[w] = word & ~low;
        if (end - lo < 64)
            words[w] &= (UINT64_C(1) << (end - lo)) - 1;
        *count += (uint64_t)pcf_popcount(words[w]);
    }
}

/* Reads the marks from `row` to the end of its rank block, at most `rows` rows. The rank directory
 * must continue the previous range. */
static enum pcf_result read_marks(const struct pcf_data *d, uint64_t row, uint64_t rows,
                                  struct marks *m)
{
    uint64_t block = row / PCF_RANK_ROWS, left = PCF_RANK_ROWS - row % PCF_RANK_ROWS;
    uint64_t rank = pcf_marks_before(d, block), count;
    if (rank > d->child[0]->rows || (m->rank != PCF_MAX_ROWS && rank != m->rank + m->count))
        return PCF_BAD_RANK;
    m->first = row % PCF_RANK_ROWS;
    m->end = m->first + (left < rows ? left : rows);
    select_marks(d, block, m->first, m->end, m->words, &rank, &count);
    if (!pcf_range(rank, count, 1, d->child[0]->rows))
        return PCF_BAD_RANK;
    m->rank = rank;
    m->count = count;
    m->values[count] = 0;
    return pcf_read(d->child[0], rank, count, m->values, NULL);
}

/* ---- sparse */

/* Writes the values of marked rows to their rows; values[0] is the first row of the range. */
static void scatter_values(const struct marks *m, int64_t *values, uint8_t *valid)
{
    const uint64_t *words = m->words;
    uint64_t word = words[0];
    for (uint64_t k = 0, w = 0; k < m->count; k++, word &= word - 1) {
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
    init_marks(&m);
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
        scatter_values(&m, values, valid);
        if (valid)
            valid += n;
    }
    return PCF_OK;
}

/* ---- split: patched bit-packing */

enum pcf_result pcf_get_split(const struct pcf_data *d, uint64_t row, int64_t *value)
{
    uint64_t rank;
    int valid;
    if (!count_marks(d, row, &rank))
        return PCF_BAD_RANK;
    int k = !pcf_is_marked(d, row);
    uint64_t child_row = k ? row - rank : rank; /* rank > row wraps to a row that does not exist */
    return child_row < d->child[k]->rows ? pcf_get(d->child[k], child_row, value, &valid)
                                         : PCF_BAD_RANK;
}

/* Merges values of marked and of unmarked rows, without branches because marks are unpredictable.
 * Both arrays are read for each row, so each needs a spare element. */
static void merge_values(const struct marks *m, const int64_t *unmarked, int64_t *restrict values)
{
    const int64_t *marked = m->values;
    for (uint64_t i = m->first, next; i < m->end; i = next) {
        uint64_t word = m->words[i / 64] >> (i % 64), k = 0, n;
        next = (i / 64 + 1) * 64;
        next = next < m->end ? next : m->end;
        n = next - i;
        for (uint64_t j = 0; j < n; j++, word >>= 1) {
            uint64_t mask = 0 - (word & 1);
            uint64_t a = (uint64_t)marked[k], b = (uint64_t)unmarked[j - k];
            values[j] = (int64_t)(b ^ ((b ^ a) & mask));
            k += word & 1;
        }
        values += n;
        marked += k;
        unmarked += n - k;
    }
}

/* Reads n values of child 1 for the unmarked rows from `row` on; `rank`: marks before `row`.
 * `others` has a spare element. */
static enum pcf_result read_unmarked(const struct pcf_data *d, uint64_t row, uint64_t rank,
                                     uint64_t n, int64_t *unmarked)
{
    if (rank > row || !pcf_range(row - rank, n, 1, d->child[1]->rows))
        return PCF_BAD_RANK;
    unmarked[n] = 0;
    return pcf_read(d->child[1], row - rank, n, unmarked, NULL);
}

enum pcf_result pcf_read_split(const struct pcf_data *d, uint64_t row, uint64_t count,
                               int64_t *values)
{
    struct marks m;
    int64_t unmarked[PCF_RANK_ROWS + 1];
    init_marks(&m);
    for (uint64_t n; count; row += n, count -= n, values += n) {
        enum pcf_result result = read_marks(d, row, count, &m);
        if (result == PCF_OK)
            result = read_unmarked(d, row, m.rank, m.end - m.first - m.count, unmarked);
        if (result != PCF_OK)
            return result;
        n = m.end - m.first;
        merge_values(&m, unmarked, values);
    }
    return PCF_OK;
}

/* ---- chain: successor list; deltas: delta encoding */

static inline enum pcf_result get_successor(const struct pcf_data *d, int64_t value, int64_t *next)
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

/* Decodes from the last marked row on, at most 63 rows before. */
enum pcf_result pcf_get_sequential(const struct pcf_data *d, uint64_t row, int64_t *value)
{
    uint64_t word = load_marks(d, row / 64) & (UINT64_MAX >> (63 - row % 64)), rank;
    int64_t deltas[64 + 1];
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
            result = get_successor(d, *value, value);
    } else if (result == PCF_OK && marked < row) {
        result = read_unmarked(d, marked + 1, rank + 1, row - marked, deltas);
        for (uint64_t i = 0; result == PCF_OK && i < row - marked; i++)
            *value = (int64_t)((uint64_t)*value + (uint64_t)deltas[i]);
    }
    if (result != PCF_OK)
        *value = 0;
    return result;
}

static enum pcf_result decode_chain(const struct pcf_data *d, const struct marks *m,
                                    int64_t *values, int64_t *last)
{
    int64_t value = *last;
    for (uint64_t i = m->first, k = 0; i < m->end; i++) {
        if (m->words[i / 64] >> (i % 64) & 1) {
            value = m->values[k++];
        } else {
            enum pcf_result result = get_successor(d, value, &value);
            if (result != PCF_OK)
                return result;
        }
        values[i - m->first] = value;
    }
    *last = value;
    return PCF_OK;
}

/* Computes both alternatives and selects one, because marks are unpredictable. */
static void decode_deltas(const struct marks *m, const int64_t *deltas, int64_t *values,
                          int64_t *last)
{
    uint64_t value = (uint64_t)*last, k = 0;
    for (uint64_t i = m->first; i < m->end; i++) {
        uint64_t is_marked = m->words[i / 64] >> (i % 64) & 1;
        uint64_t marked = (uint64_t)m->values[k];
        uint64_t next = value + (uint64_t)deltas[i - m->first - k];
        value = is_marked ? marked : next;
        k += is_marked;
        values[i - m->first] = (int64_t)value;
    }
    *last = (int64_t)value;
}

/* The range of m; *last is the value of the row before it, then that of its last row. */
static enum pcf_result decode_sequential(const struct pcf_data *d, uint64_t row,
                                         const struct marks *m, int64_t *values, int64_t *last)
{
    int64_t deltas[PCF_RANK_ROWS + 1];
    for (uint64_t i = (m->first + 63) / 64 * 64; i < m->end; i += 64) {
        if (!(m->words[i / 64] & 1))
            return PCF_BAD_CHAIN;
    }
    if (d->encoding == PCF_CHAIN)
        return decode_chain(d, m, values, last);
    enum pcf_result result = read_unmarked(d, row, m->rank, m->end - m->first - m->count, deltas);
    if (result == PCF_OK)
        decode_deltas(m, deltas, values, last);
    return result;
}

enum pcf_result pcf_read_sequential(const struct pcf_data *d, uint64_t row, uint64_t count,
                                    int64_t *values)
{
    struct marks m;
    int64_t last = 0;
    enum pcf_result result = row % 64 ? pcf_get_sequential(d, row - 1, &last) : PCF_OK;
    init_marks(&m);
    if (result != PCF_OK)
        return result;
    for (uint64_t n; count; row += n, count -= n, values += n) {
        result = read_marks(d, row, count, &m);
        if (result == PCF_OK)
            result = decode_sequential(d, row, &m, values, &last);
        if (result != PCF_OK)
            return result;
        n = m.end - m.first;
    }
    return PCF_OK;
}
