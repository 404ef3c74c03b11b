/*
 * decode_tree.c - the parents of a tree whose rows stand in depth-first pre-order: TREE
 *
 * A row's parent is the row before or one of its ancestors, so it is enough to say how many steps
 * up it is: a small number, and none for the first child of a row. Steps begin anew in each block
 * of 1024 rows, so that a block is read by itself, from its first row on: parents in blocks before
 * it are said as they are. Each row makes the way up at most one step longer, so all steps of a
 * block are no more than twice its rows, whatever the file says.
 */
#include "format/decode_masked.h"
#include "format/range.h"

#include <string.h>

/* Eight bytes of the marks of a block's first n rows; behind them nothing is set. */
static inline uint64_t marks_word(const uint8_t *marks, uint64_t w, uint64_t n)
{
    uint64_t left = n - w * 64, word = 0;
    if (left >= 64)
        return pcf_load64(marks + 8 * w);
    memcpy(&word, marks + 8 * w, (size_t)pcf_bytes_of_bits(left));
    return word & (UINT64_MAX >> (64 - left));
}

/* The parent of a marked row, whose block begins at `first`; values: of the rows before in the
 * block. */
static inline int climb(uint64_t row, uint64_t first, uint64_t steps, const int64_t *values,
                        int64_t *parent)
{
    uint64_t at = row - 1;
    if (steps >= PCF_TREE_FAR) {
        *parent = (int64_t)(steps - PCF_TREE_FAR);
        return steps - PCF_TREE_FAR < first;
    }
    for (uint64_t i = 0; i <= steps; i++) {
        if (at < first || at == 0) /* of another block, or the root */
            return 0;
        at = (uint64_t)values[at - first];
    }
    *parent = (int64_t)at;
    return 1;
}

/* The first n rows of a block, n at least 1. */
static enum pcf_result read_block(const struct pcf_data *d, uint64_t block, uint64_t n,
                                  int64_t *values)
{
    int64_t steps[PCF_RANK_ROWS];
    uint64_t words[PCF_RANK_ROWS / 64], first = block * PCF_RANK_ROWS, count = 0, k = 0;
    uint64_t rank = pcf_marks_before(d, block);
    for (uint64_t w = 0; w * 64 < n; w++) {
        words[w] = marks_word(pcf_marks_of(d, block), w, n);
        count += (uint64_t)__builtin_popcountll(words[w]);
    }
    if (!pcf_range(rank, count, 1, d->child[0]->rows))
        return PCF_BAD_RANK;
    enum pcf_result result = pcf_read(d->child[0], rank, count, steps, NULL);
    if (result != PCF_OK)
        return result;
    if (block == 0 && words[0] & 1) /* nothing stands before the root */
        return PCF_BAD_TREE;
    for (uint64_t i = 0; i < n; i++)
        values[i] = (int64_t)(first + i - 1);
    if (block == 0)
        values[0] = 0;
    for (uint64_t w = 0; w * 64 < n; w++) {
        for (uint64_t word = words[w]; word; word &= word - 1) {
            uint64_t i = w * 64 + (uint64_t)__builtin_ctzll(word);
            if (!climb(first + i, first, (uint64_t)steps[k++], values, &values[i]))
                return PCF_BAD_TREE;
        }
    }
    return PCF_OK;
}

enum pcf_result pcf_tree_at(const struct pcf_data *d, uint64_t row, int64_t *value)
{
    int64_t values[PCF_RANK_ROWS];
    uint64_t j = row % PCF_RANK_ROWS;
    enum pcf_result result = read_block(d, row / PCF_RANK_ROWS, j + 1, values);
    *value = result == PCF_OK ? values[j] : 0;
    return result;
}

enum pcf_result pcf_read_tree(const struct pcf_data *d, uint64_t row, uint64_t count,
                              int64_t *values)
{
    int64_t block[PCF_RANK_ROWS];
    enum pcf_result result = PCF_OK;
    while (result == PCF_OK && count) {
        uint64_t j = row % PCF_RANK_ROWS;
        uint64_t n = PCF_RANK_ROWS - j < count ? PCF_RANK_ROWS - j : count;
        result = read_block(d, row / PCF_RANK_ROWS, j + n, j ? block : values);
        if (j && result == PCF_OK)
            memcpy(values, block + j, (size_t)n * sizeof *values);
        row += n;
        count -= n;
        values += n;
    }
    return result;
}
