/*
 * encode_patched.c - planner of SPLIT: patched bit-packing
 *
 * For columns of mostly small values, such as codes by descending frequency, counts and sizes. Rows
 * with large values are marked and stored in a child, which may be split once more, so they do not
 * widen the others. The threshold minimizes the cost in bits, from a histogram of value widths.
 * Tests: tests/unit/test_encode.c.
 */
#include "encode/encode_leaf.h"

#include "format/layout.h"
#include "util/alloc.h"

#define MIN_ROWS 256u
#define SAMPLE_ROWS 4096u

/* Cost of the marks of `rows` rows and the overhead of two children with a section each. */
static uint64_t cost_of_marks(uint64_t rows)
{
    return rows + rows / 16 + 2 * 64 + 3 * PCI_SECTION_BITS + 2 * PCI_CHILD_BITS;
}

uint64_t pci_patch_cost(const uint64_t *counts, unsigned whole, int again, unsigned *width)
{
    uint64_t rows = 0, small = 0, best = UINT64_MAX;
    for (unsigned b = 0; b <= whole; b++)
        rows += counts[b];
    for (unsigned w = 0; w < whole; w++) {
        small += counts[w];
        uint64_t large = rows - small, large_cost = large * whole, middle = 0;
        for (unsigned v = w + 1; again && v < whole; v++) {
            middle += counts[v];
            uint64_t cost = cost_of_marks(large) + middle * v + (large - middle) * whole;
            large_cost = cost < large_cost ? cost : large_cost;
        }
        uint64_t cost = cost_of_marks(rows) + small * w + large_cost;
        if (cost < best) {
            best = cost;
            *width = w;
        }
    }
    return best;
}

/* Bits per value saved by the scale, rounded down. */
static unsigned scale_bits(const struct pci_column_stats *stats)
{
    return 63u - (unsigned)__builtin_clzll(stats->scale);
}

/* Histogram of the widths of value - min of the first `rows` rows. Two interleaved histograms avoid
 * store-to-load dependencies between consecutive increments. */
static pcol_status count_bits(const struct pci_value_source *source,
                              const struct pci_column_stats *stats, uint64_t rows, unsigned whole,
                              uint64_t *counts, pcol_error *err)
{
    unsigned less = scale_bits(stats);
    uint64_t odd[65] = {0};
    struct pci_block_reader *r;
    pcol_status status = PCOL_OK;
    memset(counts, 0, sizeof odd);
    PCI_TRY(PCI_MALLOC(r, 1, err));
    pci_block_reader_init(r, source);
    while (r->row + r->n < rows && (status = pci_block_reader_next(r, err)) == PCOL_OK && r->n) {
        for (size_t i = 0; i < r->n; i++) {
            uint64_t value = ((uint64_t)r->values[i] - (uint64_t)stats->min) >> less;
            (i % 2 ? odd : counts)[value ? 64 - __builtin_clzll(value) : 0]++;
        }
    }
    for (size_t b = 0; b < 65; b++)
        counts[b] += odd[b];
    /* A scale that is not a power of two saves more than `less` bits. */
    for (size_t b = whole + 1; b < 65; b++)
        counts[whole] += counts[b];
    pci_free(r);
    return status;
}

pcol_status pci_patch_choose(const struct pci_value_source *source,
                             const struct pci_column_stats *stats, int again, uint64_t limit,
                             struct pci_patch_choice *choice, pcol_error *err)
{
    uint64_t counts[65], rows = source->rows < SAMPLE_ROWS ? source->rows : SAMPLE_ROWS, bits;
    unsigned whole = pci_packed_width(((uint64_t)stats->max - (uint64_t)stats->min) / stats->scale);
    *choice = (struct pci_patch_choice){.bits = UINT64_MAX};
    if (source->rows < MIN_ROWS || stats->nulls || stats->ascending || whole < 2)
        return PCOL_OK;
    /* A sample first: SPLIT does not pay for most columns. */
    PCI_TRY(count_bits(source, stats, rows, whole, counts, err));
    bits = pci_patch_cost(counts, whole, again, &choice->width);
    if (rows < source->rows) {
        if (bits / rows > limit / source->rows)
            return PCOL_OK;
        PCI_TRY(count_bits(source, stats, source->rows, whole, counts, err));
        bits = pci_patch_cost(counts, whole, again, &choice->width);
    }
    for (unsigned b = 0; b <= choice->width; b++)
        choice->small_rows += counts[b];
    if (bits < limit && choice->small_rows)
        choice->bits = bits;
    return PCOL_OK;
}

static void mark_large(const void *context, const struct pci_block_reader *block, uint8_t *marks)
{
    const struct pci_patch_plan *split = context;
    for (size_t i = 0; i < block->n; i++)
        marks[i] = (uint64_t)block->values[i] - split->base > split->most;
}

pcol_status pci_patch_new(const struct pci_value_source *source,
                          const struct pci_column_stats *stats,
                          const struct pci_patch_choice *choice, struct pci_patch_plan **split,
                          pcol_error *err)
{
    struct pci_patch_plan *s;
    *split = NULL;
    PCI_TRY(PCI_CALLOC(s, 1, err));
    s->base = (uint64_t)stats->min;
    s->most = (UINT64_C(1) << (choice->width + scale_bits(stats))) - 1;
    pci_row_part_init(&s->large, source, mark_large, s, PCI_PART_MARKED,
                      source->rows - choice->small_rows);
    pci_row_part_init(&s->small, source, mark_large, s, PCI_PART_UNMARKED, choice->small_rows);
    *split = s;
    return PCOL_OK;
}
