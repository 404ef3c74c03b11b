/*
 * column_stats.h - one-pass statistics of a column, and the cost in bits of encodings without
 * children; input of the choice of an encoding (encode.c). Tests: tests/unit/test_encode.c.
 */
#ifndef PCI_ENCODE_COLUMN_STATS_H
#define PCI_ENCODE_COLUMN_STATS_H

#include "util/error.h"

/* Source of the values of a column; read in blocks, several times. */
struct pci_value_source {
    uint64_t rows;
    uint8_t type; /* enum pcf_type; not PCF_BYTES */
    /* Rows [row, row + n), row a multiple of 1024, n = min(1024, rows - row). Sequential from row
     * 0; may restart at 0. values: i64, bits of f64, or codes; 0 for a null. valid: 1, or 0 for a
     * null. */
    pcol_status (*read)(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                        pcol_error *err);
    void *context;
    void (*done)(void *context); /* called after the last read; may be NULL */
};

/* Iterator over the blocks of a source. */
struct pci_block_reader {
    const struct pci_value_source *source;
    uint64_t row; /* of values[0] */
    size_t n;     /* 0 at the end */
    int64_t values[1024];
    uint8_t valid[1024];
};
void pci_block_reader_init(struct pci_block_reader *reader, const struct pci_value_source *source);
pcol_status pci_block_reader_next(struct pci_block_reader *reader, pcol_error *err);

struct pci_column_stats {
    uint64_t rows, nulls;
    /* over the non-null values: */
    int64_t first, min, max; /* in the type's order; f64: bits */
    int has_stats;
    int constant; /* all values are `first` */
    int linear;   /* first + step * row, no nulls */
    int64_t step;
    int ascending;        /* non-decreasing, no nulls */
    uint64_t scale;       /* gcd of the distances from `first`, at least 1 */
    uint64_t runs;        /* number of runs of equal values */
    int64_t common;       /* majority candidate of the values */
    int64_t common_start; /* majority candidate of value - row */
    /* Upper bounds of a majority: at most (rows + lead) / 2 rows match the candidate. */
    uint64_t common_majority_bound, start_majority_bound;
    /* Histograms of the magnitude bits of non-negative and negative differences to the previous
     * row, without rows that are a multiple of 64. */
    uint64_t rises[65], falls[65];
};

/* Computes the statistics in one pass. `leaf`: only the input
 * of encodings without children; common_majority_bound, start_majority_bound, rises and falls stay
 * 0. */
pcol_status pci_column_stats_compute(const struct pci_value_source *source, int leaf,
                                     struct pci_column_stats *stats, pcol_error *err);

/* Adds values to minimum and maximum only; the statistics were initialized to zeros. */
void pci_column_stats_add_range(struct pci_column_stats *stats, uint8_t type, const int64_t *values,
                                const uint8_t *valid, size_t n);

/* Costs in bits, including the overhead of a section (alignment, checksum, record) and of a child
 * (record). */
#define PCI_SECTION_BITS ((4 + 8 + 4) * 8)
#define PCI_CHILD_BITS (7 * 8)
unsigned pci_packed_width(uint64_t range); /* bits of 0..range: 0 to 57, or 64 */
uint64_t pci_cost_packed(const struct pci_column_stats *stats);
uint64_t pci_cost_deltas(const struct pci_column_stats *stats); /* UINT64_MAX: impossible */
/* Marks of `rows` rows and one child: lower bound of the cost of any encoding with marks. */
static inline uint64_t pci_cost_marks(uint64_t rows)
{
    return rows + rows / 16 + PCI_SECTION_BITS + PCI_CHILD_BITS;
}

#endif
