/*
 * encode_successor.c - a column of which most values follow from the one in the row before
 *
 * In a tree of call stacks in pre-order, the place of most rows is the one that its caller mostly
 * calls. For each value the one that follows it most often is found by a vote (Boyer and Moore:
 * exact where more than half agree, else some follower, which costs bytes but is never wrong).
 */
#include "encode/encode_leaf.h"

#include "format/layout.h"
#include "util/alloc.h"

#define MIN_ROWS 1024u
#define MIN_ROWS_PER_VALUE 4u /* the table of successors has a row for each value */

static pcol_status read_next(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                             pcol_error *err)
{
    const struct pci_successors *links = context;
    (void)err;
    for (size_t i = 0; i < n; i++)
        values[i] = links->next_values[row + i];
    memset(valid, 1, n);
    return PCOL_OK;
}

/* Blocks of a reader begin at multiples of 64, so the row before is in the block too. */
void pci_mark_successors(const void *context, const struct pci_block_reader *block, uint8_t *marks)
{
    const struct pci_successors *links = context;
    for (size_t i = 1; i < block->n; i++)
        marks[i] = links->next_values[block->values[i - 1]] != (uint64_t)block->values[i];
    for (size_t i = 0; i < block->n; i += 64)
        marks[i] = 1;
}

static void vote(struct pci_successors *links, uint32_t *weights)
{
    const struct pci_block_reader *r = &links->own.reader;
    for (size_t i = 1; i < r->n; i++) {
        size_t value = (size_t)r->values[i - 1];
        uint32_t next = (uint32_t)r->values[i];
        if (links->next_values[value] == next) {
            weights[value]++;
        } else if (weights[value] == 0) {
            links->next_values[value] = next;
            weights[value] = 1;
        } else {
            weights[value]--;
        }
    }
}

static pcol_status find_next(struct pci_successors *links, pcol_error *err)
{
    struct pci_block_reader *r = &links->own.reader;
    uint32_t *weights = pci_calloc((size_t)links->next.rows, sizeof *weights);
    pcol_status status;
    if (!weights)
        return pci_fail_memory(err);
    pci_block_reader_init(r, links->own.all);
    while ((status = pci_block_reader_next(r, err)) == PCOL_OK && r->n)
        vote(links, weights);
    pci_free(weights);
    return status;
}

/* Marks and two children of so many values together. */
static uint64_t cost_of(uint64_t rows, uint64_t values, unsigned width)
{
    return pci_cost_marks(rows) + PCI_CHILD_BITS + values * width +
           2 * (64 + (uint64_t)PCI_SECTION_BITS);
}

pcol_status pci_successors_new(const struct pci_value_source *source,
                               const struct pci_column_stats *shape, uint64_t limit,
                               struct pci_successors **links, uint64_t *bits, pcol_error *err)
{
    struct pci_successors *l;
    pcol_status status;
    unsigned width = pci_width_of((uint64_t)shape->max - (uint64_t)shape->min);
    uint64_t marked = (source->rows + 63) / 64; /* at least */
    *links = NULL;
    *bits = UINT64_MAX;
    if ((source->type != PCF_U32 && source->type != PCF_STRING) || source->rows < MIN_ROWS ||
        (uint64_t)shape->max >= source->rows / MIN_ROWS_PER_VALUE ||
        cost_of(source->rows, marked + (uint64_t)shape->max + 1, width) >= limit)
        return PCOL_OK;
    l = pci_calloc(1, sizeof *l);
    if (!l)
        return pci_fail_memory(err);
    pci_row_part_init(&l->own, source, pci_mark_successors, l, PCI_PART_MARKED, 0);
    l->next = (struct pci_value_source){(uint64_t)shape->max + 1, source->type, read_next, l, NULL};
    l->next_values = pci_calloc((size_t)l->next.rows, sizeof *l->next_values);
    status = l->next_values ? find_next(l, err) : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = pci_row_part_count(&l->own, err);
    if (status != PCOL_OK) {
        pci_successors_free(l);
        return status;
    }
    *bits = cost_of(source->rows, l->own.source.rows + l->next.rows, width);
    *links = l;
    return PCOL_OK;
}

void pci_successors_free(struct pci_successors *links)
{
    if (links)
        pci_free(links->next_values);
    pci_free(links);
}
