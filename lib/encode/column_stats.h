/*
 * column_stats.h - what a column's values look like: all that the choice of its encoding needs
 */
#ifndef PCI_ENCODE_COLUMN_STATS_H
#define PCI_ENCODE_COLUMN_STATS_H

#include "util/error.h"

/* Values to be written, read blockwise and more than once. */
struct pci_value_source {
    uint64_t rows;
    uint8_t type; /* enum pcf_type; not PCF_BYTES */
    /* Rows [row, row + n) with row a multiple of 1024, n = min(1024, rows - row); calls go forward
     * from 0, and may start again at 0. values: i64, bits of f64, or codes; 0 under a null. */
    pcol_status (*read)(void *context, uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                        pcol_error *err);
    void *context;
    void (*done)(void *context); /* all of it was read for the last time; NULL: no matter */
};

/* Reads a source from its start, block by block. */
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
    /* over the values that are not null: */
    int64_t first, min, max; /* in the type's order; f64: bits */
    int has_stats;
    int constant; /* all are `first` */
    int linear;   /* first + step * row, no nulls */
    int64_t step;
    int ascending;  /* no nulls, never falling */
    uint64_t scale; /* gcd of the distances from `first`, at least 1 */
    uint64_t runs;
    int64_t common;       /* candidate for the value of most rows */
    int64_t common_start; /* candidate for value - row of most rows */
    uint64_t common_lead,
        start_lead;   /* at most (rows + lead) / 2 rows have what the candidate says */
    uint64_t *ranges; /* max - min of each block of 1024 rows */
    size_t block_count;
    uint64_t rises[65], falls[65]; /* differences to the row before by their bits but for a sign;
                                      not of rows whose number is a multiple of 64 */
    uint64_t slope_bits; /* packed bits of all blocks when each has its best slope, scale 1 */
};

/* One pass. `leaf`: only what encodings without children need; common_lead, start_lead, rises and
 * falls stay 0. The shape's arrays are freed by pci_column_stats_clear(). */
pcol_status pci_column_stats_of(const struct pci_value_source *source, int leaf,
                                struct pci_column_stats *shape, pcol_error *err);
void pci_column_stats_clear(struct pci_column_stats *shape);

/* Minimum and maximum of some more values; nothing else of a shape that began zeroed. */
void pci_add_stats(struct pci_column_stats *shape, uint8_t type, const int64_t *values,
                   const uint8_t *valid, size_t n);

/* Costs in bits, with what a section costs in alignment, checksum and record, and a child in its
 * record. */
#define PCI_SECTION_BITS ((4 + 8 + 4) * 8)
#define PCI_CHILD_BITS (7 * 8)
unsigned pci_width_of(uint64_t range); /* bits for 0..range, as PACKED can have them */
uint64_t pci_cost_packed(const struct pci_column_stats *shape);
uint64_t pci_cost_blocked(const struct pci_column_stats *shape); /* without slopes */
uint64_t pci_cost_sloped(const struct pci_column_stats *shape);
uint64_t pci_cost_deltas(const struct pci_column_stats *shape); /* UINT64_MAX: impossible */
/* Marks of so many rows, and a child for those that are marked: what no encoding with marks is
 * below. */
static inline uint64_t pci_cost_marks(uint64_t rows)
{
    return rows + rows / 16 + PCI_SECTION_BITS + PCI_CHILD_BITS;
}

/* Base, slope and range of residuals of a block; with try_slope the narrower of slope and none. */
struct pci_fit {
    int64_t base, slope;
    uint64_t range;
};
struct pci_fit pci_fit_block(const int64_t *values, size_t n, uint8_t type, int try_slope);

#endif
