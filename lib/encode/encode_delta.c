/*
 * encode_delta.c - planner of DELTAS: delta encoding with exceptions
 *
 * For columns whose values are mostly near the previous row: heap sizes between garbage
 * collections, stacks of successive samples. Rows with large differences are marked. The threshold
 * minimizes the cost in bits, from the histograms of differences; differences that are never
 * negative take one bit less.
 * Tests: tests/unit/test_encode.c.
 */
#include "encode/encode_leaf.h"

#include "format/layout.h"
#include "util/alloc.h"
#include "util/simd_kernels.h"

#define MARK_ROWS 64u
#define MIN_ROWS 128u

/* The cheapest range of differences of unmarked rows: [0, 2^width), or [-2^width, 2^width). */
struct choice {
    uint64_t bits; /* cost of the column */
    uint64_t near_rows;
    unsigned width;
    int falls; /* negative differences, too */
};

static struct choice find_best_choice(const struct pci_column_stats *stats)
{
    struct choice best = {UINT64_MAX, 0, 0, 0};
    unsigned less = 63u - (unsigned)__builtin_clzll(stats->scale); /* bits saved by the scale */
    unsigned whole = pci_packed_width(((uint64_t)stats->max - (uint64_t)stats->min) / stats->scale);
    for (int falls = 0; falls < 2; falls++) {
        uint64_t near_rows = 0;
        for (unsigned width = 0; width < whole + less && width <= PCF_MAX_PACKED_WIDTH; width++) {
            unsigned bits = (width > less ? width - less : 0) + (unsigned)falls;
            uint64_t cost;
            near_rows += stats->rises[width] + (falls ? stats->falls[width] : 0);
            cost = near_rows * bits + (stats->rows - near_rows) * whole;
            if (cost < best.bits)
                best = (struct choice){cost, near_rows, width, falls};
        }
    }
    if (best.bits != UINT64_MAX)
        best.bits +=
            stats->rows + stats->rows / 16 + 2 * 64 + 3 * PCI_SECTION_BITS + 2 * PCI_CHILD_BITS;
    return best;
}

uint64_t pci_cost_deltas(const struct pci_column_stats *stats)
{
    return stats->nulls || stats->rows < MIN_ROWS ? UINT64_MAX : find_best_choice(stats).bits;
}

static void mark_far(const void *context, const struct pci_block_reader *block, uint8_t *marks)
{
    const struct pci_delta_plan *d = context;
    uint64_t low = (uint64_t)d->low;
    pci_simd_mark_deltas(block->values, block->n, low, (uint64_t)d->high - low, marks);
    for (size_t i = 0; i < block->n; i += MARK_ROWS)
        marks[i] = 1;
}

pcol_status pci_delta_plan_new(const struct pci_value_source *source,
                               const struct pci_column_stats *stats, struct pci_delta_plan **plan,
                               pcol_error *err)
{
    struct choice best = find_best_choice(stats);
    struct pci_delta_plan *d;
    *plan = NULL;
    PCI_TRY(PCI_CALLOC(d, 1, err));
    d->high = (int64_t)((UINT64_C(1) << best.width) - 1);
    d->low = best.falls ? ~d->high : 0;
    pci_row_part_init(&d->marked, source, mark_far, d, PCI_PART_MARKED,
                      source->rows - best.near_rows);
    pci_row_part_init(&d->deltas, source, mark_far, d, PCI_PART_DELTAS, best.near_rows);
    *plan = d;
    return PCOL_OK;
}
