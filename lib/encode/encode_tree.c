/*
 * encode_tree.c - planner of TREE: parents of a pre-order tree as steps up
 *
 * In pre-order the parent of a row is the previous row (one mark bit) or an ancestor of it (a
 * number of steps). One pass computes all steps, restarting in each block of 1024 rows as the
 * decoder does, and stops at the first row that shows that the column is not such a tree.
 * Tests: tests/unit/test_decode_tree.c.
 */
#include "encode/encode_leaf.h"

#include "format/layout.h"
#include "util/alloc.h"

#define MIN_ROWS 64u

/* Appends the steps of a block's marked rows; returns 0 if a value is not an ancestor. */
static int add_block(struct pci_tree_steps *steps, const struct pci_block_reader *block)
{
    uint64_t first = block->row;
    for (size_t i = first ? 0 : 1; i < block->n; i++) {
        uint64_t row = first + i, parent = (uint64_t)block->values[i], ancestor, n = 0;
        if (parent == row - 1)
            continue;
        if (parent >= row)
            return 0;
        if (parent < first) {
            n = parent + PCF_TREE_FAR;
        } else {
            for (ancestor = (uint64_t)block->values[i - 1]; ancestor > parent; n++)
                ancestor = ancestor < first ? 0 : (uint64_t)block->values[ancestor - first];
            if (ancestor != parent)
                return 0;
        }
        steps->values[steps->source.rows++] = (int64_t)n;
    }
    return 1;
}

static pcol_status read_steps(void *context, uint64_t row, size_t n, int64_t *values,
                              uint8_t *valid, pcol_error *err)
{
    const struct pci_tree_steps *steps = context;
    (void)err;
    memcpy(values, steps->values + row, n * sizeof *values);
    memset(valid, 1, n);
    return PCOL_OK;
}

/* Computes all steps; *found is 0 if the column is not a tree in pre-order. */
static pcol_status find_steps(struct pci_tree_steps *steps, const struct pci_value_source *source,
                              int *found, pcol_error *err)
{
    struct pci_block_reader *r;
    size_t capacity = 0;
    pcol_status status = PCOL_OK;
    *found = 1;
    PCI_TRY(PCI_MALLOC(r, 1, err));
    pci_block_reader_init(r, source);
    while (*found && (status = pci_block_reader_next(r, err)) == PCOL_OK && r->n) {
        void *values = steps->values;
        if (pci_grow(&values, &capacity, (size_t)steps->source.rows + r->n,
                     sizeof *steps->values)) {
            status = pci_fail_memory(err);
            break;
        }
        steps->values = values;
        *found = (r->row || r->values[0] == 0) && add_block(steps, r);
    }
    pci_free(r);
    return status;
}

/* The root has no previous row; its mark is 0. */
void pci_mark_tree_steps(const void *context, const struct pci_block_reader *block, uint8_t *marks)
{
    (void)context;
    for (size_t i = 0; i < block->n; i++)
        marks[i] = (uint64_t)block->values[i] + 1 != block->row + i;
    if (block->row == 0)
        marks[0] = 0;
}

pcol_status pci_tree_steps_new(const struct pci_value_source *source,
                               const struct pci_column_stats *stats, uint64_t limit,
                               struct pci_tree_steps **steps, uint64_t *bits, pcol_error *err)
{
    struct pci_tree_steps *s;
    struct pci_column_stats steps_stats;
    int found;
    *steps = NULL;
    *bits = UINT64_MAX;
    if (source->type != PCF_U32 || source->rows < MIN_ROWS || stats->first != 0 ||
        pci_cost_marks(source->rows) >= limit)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(s, 1, err));
    s->source = (struct pci_value_source){0, PCF_U64, read_steps, s, NULL};
    pcol_status status = find_steps(s, source, &found, err);
    if (status == PCOL_OK && found)
        status = pci_column_stats_compute(&s->source, 1, &steps_stats, err);
    if (status != PCOL_OK || !found) {
        pci_tree_steps_free(s);
        return status;
    }
    uint64_t whole = pci_cost_packed(&steps_stats);
    struct pci_patch_choice split;
    status = pci_patch_choose(&s->source, &steps_stats, 1, whole, &split, err);
    if (status != PCOL_OK) {
        pci_tree_steps_free(s);
        return status;
    }
    *bits = pci_cost_marks(source->rows) + (split.bits < whole ? split.bits : whole);
    *steps = s;
    return PCOL_OK;
}

void pci_tree_steps_free(struct pci_tree_steps *steps)
{
    if (steps)
        pci_free(steps->values);
    pci_free(steps);
}
