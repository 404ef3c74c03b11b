/*
 * encode_successor.c - planner of CHAIN: successor list
 *
 * For columns in which the previous value predicts the next one: in a pre-order tree of call stacks
 * most callers have a typical callee. A Boyer-Moore vote per value finds its most frequent
 * successor: exact for a majority, else some successor, which costs bytes but not correctness.
 * Tests: tests/unit/test_encode.c.
 */
#include "encode/encode_leaf.h"

#include "format/layout.h"
#include "util/alloc.h"

#define MIN_ROWS 1024u
#define MIN_ROWS_PER_VALUE 4u /* the successor list has a row for each value */

static pcol_status read_next(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                             pcol_error *err)
{
    const struct pci_successors *successors = context;
    (void)err;
    for (size_t i = 0; i < n; i++)
        values[i] = successors->next_values[row + i];
    memset(valid, 1, n);
    return PCOL_OK;
}

/* Rows that are multiples of 64 are marked, so the previous row is in the same block. */
static void mark_successors(const void *context, const struct pci_block_reader *block,
                            uint8_t *marks)
{
    const struct pci_successors *successors = context;
    for (size_t i = 1; i < block->n; i++)
        marks[i] = successors->next_values[block->values[i - 1]] != (uint64_t)block->values[i];
    for (size_t i = 0; i < block->n; i += 64)
        marks[i] = 1;
}

static void update_votes(struct pci_successors *successors, uint32_t *weights)
{
    const struct pci_block_reader *r = &successors->marked.reader;
    for (size_t i = 1; i < r->n; i++) {
        size_t value = (size_t)r->values[i - 1];
        uint32_t next = (uint32_t)r->values[i];
        if (successors->next_values[value] == next) {
            weights[value]++;
        } else if (weights[value] == 0) {
            successors->next_values[value] = next;
            weights[value] = 1;
        } else {
            weights[value]--;
        }
    }
}

static pcol_status find_successors(struct pci_successors *successors, pcol_error *err)
{
    struct pci_block_reader *r = &successors->marked.reader;
    uint32_t *weights;
    pcol_status status;
    PCI_TRY(PCI_CALLOC(weights, (size_t)successors->next.rows, err));
    pci_block_reader_init(r, successors->marked.all);
    while ((status = pci_block_reader_next(r, err)) == PCOL_OK && r->n)
        update_votes(successors, weights);
    pci_free(weights);
    return status;
}

/* Cost of marks and two children with `values` values in total. */
static uint64_t cost_of(uint64_t rows, uint64_t values, unsigned width)
{
    return pci_cost_marks(rows) + PCI_CHILD_BITS + values * width +
           2 * (64 + (uint64_t)PCI_SECTION_BITS);
}

pcol_status pci_successors_new(const struct pci_value_source *source,
                               const struct pci_column_stats *stats, uint64_t limit,
                               struct pci_successors **successors, uint64_t *bits, pcol_error *err)
{
    struct pci_successors *l;
    pcol_status status;
    unsigned width = pci_packed_width((uint64_t)stats->max - (uint64_t)stats->min);
    uint64_t min_marked = (source->rows + 63) / 64;
    *successors = NULL;
    *bits = UINT64_MAX;
    if ((source->type != PCF_U32 && source->type != PCF_STRING) || source->rows < MIN_ROWS ||
        (uint64_t)stats->max >= source->rows / MIN_ROWS_PER_VALUE ||
        cost_of(source->rows, min_marked + (uint64_t)stats->max + 1, width) >= limit)
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(l, 1, err));
    pci_row_part_init(&l->marked, source, mark_successors, l, PCI_PART_MARKED, 0);
    l->next = (struct pci_value_source){(uint64_t)stats->max + 1, source->type, read_next, l, NULL};
    l->next_values = pci_calloc((size_t)l->next.rows, sizeof *l->next_values);
    status = l->next_values ? find_successors(l, err) : pci_fail_memory(err);
    PCI_THEN(status, pci_row_part_count(&l->marked, err));
    if (status != PCOL_OK) {
        pci_successors_free(l);
        return status;
    }
    *bits = cost_of(source->rows, l->marked.source.rows + l->next.rows, width);
    *successors = l;
    return PCOL_OK;
}

void pci_successors_free(struct pci_successors *successors)
{
    if (successors)
        pci_free(successors->next_values);
    pci_free(successors);
}
