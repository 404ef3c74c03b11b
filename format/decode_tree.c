/*
 * decode_tree.c - decoder of TREE: parents of a tree whose rows are in depth-first pre-order
 *
 * The parent of a row is the previous row or one of its ancestors, so a small number of steps up
 * encodes it; an unmarked row is a child of the previous row. Blocks of 1024 rows are independent:
 * a parent before the block is stored as its row number. Linear time for any file: each row adds at
 * most one level, so a block has at most twice as many steps as rows.
 * Tests: tests/unit/test_decode_tree.c.
 */
#include "format/decode_masked.h"
#include "format/range.h"

#include <string.h>

/* The parent of a marked row in the block that begins at row `first`; `values` has the parents of
 * the block's previous rows. Returns 0 if the steps leave the tree or the block. */
static inline int find_parent(uint64_t row, uint64_t first, uint64_t steps, const int64_t *values,
                              int64_t *parent)
{
    uint64_t ancestor = row - 1;
    if (steps >= PCF_TREE_FAR) {
        *parent = (int64_t)(steps - PCF_TREE_FAR);
        return steps - PCF_TREE_FAR < first;
    }
    for (uint64_t i = 0; i <= steps; i++) {
        if (ancestor < first || ancestor == 0) /* in another block, or the root */
            return 0;
        ancestor = (uint64_t)values[ancestor - first];
    }
    *parent = (int64_t)ancestor;
    return 1;
}

/* The first n >= 1 rows of a block. */
static enum pcf_result read_block(const struct pcf_data *d, uint64_t block, uint64_t n,
                                  int64_t *values)
{
    int64_t steps[PCF_RANK_ROWS];
    uint64_t words[PCF_RANK_ROWS / 64], first = block * PCF_RANK_ROWS, count = 0, k = 0;
    uint64_t rank = pcf_marks_before(d, block);
    for (uint64_t w = 0; w * 64 < n; w++) {
        words[w] = pcf_load_bits(pcf_marks_of(d, block) + 8 * w, n - w * 64);
        count += (uint64_t)__builtin_popcountll(words[w]);
    }
    if (!pcf_range(rank, count, 1, d->child[0]->rows))
        return PCF_BAD_RANK;
    enum pcf_result result = pcf_read(d->child[0], rank, count, steps, NULL);
    if (result != PCF_OK)
        return result;
    if (block == 0 && words[0] & 1) /* the root has no previous row */
        return PCF_BAD_TREE;
    for (uint64_t i = 0; i < n; i++)
        values[i] = (int64_t)(first + i - 1);
    if (block == 0)
        values[0] = 0;
    for (uint64_t w = 0; w * 64 < n; w++) {
        for (uint64_t word = words[w]; word; word &= word - 1) {
            uint64_t i = w * 64 + (uint64_t)__builtin_ctzll(word);
            if (!find_parent(first + i, first, (uint64_t)steps[k++], values, &values[i]))
                return PCF_BAD_TREE;
        }
    }
    return PCF_OK;
}

enum pcf_result pcf_get_tree(const struct pcf_data *d, uint64_t row, int64_t *value)
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
