/*
 * encode_delta.c - a column of which most values stand near the one in the row before
 *
 * Heap sizes rise by small steps and fall far when garbage is collected; the call stacks of
 * successive samples are near each other in the tree. The rows that are far off are marked and have
 * values of their own; where "far" begins is what costs fewest bits. Rises alone take a bit less
 * each than rises and falls.
 */
#include "encode/encode_leaf.h"

#include "format/layout.h"
#include "util/alloc.h"
#include "util/simd_kernels.h"

#define MARK_ROWS 64u
#define MIN_ROWS 128u

/* The cheapest choice: rises of `width` bits, and falls as far, if there are to be falls. */
struct choice {
    uint64_t bits; /* what the column costs */
    uint64_t near_rows;
    unsigned width;
    int falls;
};

static struct choice best_choice(const struct pci_column_stats *shape)
{
    struct choice best = {UINT64_MAX, 0, 0, 0};
    unsigned less = 63u - (unsigned)__builtin_clzll(shape->scale); /* bits that the scale saves */
    unsigned whole = pci_width_of(((uint64_t)shape->max - (uint64_t)shape->min) / shape->scale);
    for (int falls = 0; falls < 2; falls++) {
        uint64_t near_rows = 0;
        for (unsigned width = 0; width < whole + less && width <= PCF_MAX_PACKED_WIDTH; width++) {
            unsigned bits = (width > less ? width - less : 0) + (unsigned)falls;
            uint64_t cost;
            near_rows += shape->rises[width] + (falls ? shape->falls[width] : 0);
            cost = near_rows * bits + (shape->rows - near_rows) * whole;
            if (cost < best.bits)
                best = (struct choice){cost, near_rows, width, falls};
        }
    }
    if (best.bits != UINT64_MAX)
        best.bits +=
            shape->rows + shape->rows / 16 + 2 * 64 + 3 * PCI_SECTION_BITS + 2 * PCI_CHILD_BITS;
    return best;
}

uint64_t pci_cost_deltas(const struct pci_column_stats *shape)
{
    return shape->nulls || shape->rows < MIN_ROWS ? UINT64_MAX : best_choice(shape).bits;
}

void pci_mark_far(const void *context, const struct pci_block_reader *block, uint8_t *marks)
{
    const struct pci_delta_plan *d = context;
    uint64_t low = (uint64_t)d->low;
    pci_simd_far(block->values, block->n, low, (uint64_t)d->high - low, marks);
    for (size_t i = 0; i < block->n; i += MARK_ROWS)
        marks[i] = 1;
}

pcol_status pci_delta_plan_new(const struct pci_value_source *source,
                               const struct pci_column_stats *shape, struct pci_delta_plan **deltas,
                               pcol_error *err)
{
    struct choice best = best_choice(shape);
    struct pci_delta_plan *d = pci_calloc(1, sizeof *d);
    *deltas = NULL;
    if (!d)
        return pci_fail_memory(err);
    d->high = (int64_t)((UINT64_C(1) << best.width) - 1);
    d->low = best.falls ? ~d->high : 0;
    pci_row_part_init(&d->own, source, pci_mark_far, d, PCI_PART_MARKED,
                      source->rows - best.near_rows);
    pci_row_part_init(&d->rises, source, pci_mark_far, d, PCI_PART_DELTAS, best.near_rows);
    *deltas = d;
    return PCOL_OK;
}
