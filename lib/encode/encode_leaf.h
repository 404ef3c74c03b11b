/*
 * encode_leaf.h - writers of single encodings and the plans that they need (internal to encode/)
 */
#ifndef PCI_ENCODE_ENCODE_LEAF_H
#define PCI_ENCODE_ENCODE_LEAF_H

#include "encode/encode.h"

#include <string.h>

/* Sets marks[] of a block's rows to 1 or 0. Implementations avoid branches: marks are
 * unpredictable. */
typedef void (*pci_mark_block)(const void *context, const struct pci_block_reader *block,
                               uint8_t *marks);

/* Values of marked rows; values of unmarked rows; their differences to the previous row. */
enum pci_part_rows { PCI_PART_MARKED, PCI_PART_UNMARKED, PCI_PART_DELTAS };

/* A source of a subset of another source's rows. For PCI_PART_DELTAS rows that are multiples of 64
 * are marked, so the previous row is in the same block. */
struct pci_row_part {
    struct pci_value_source source; /* its context is this struct, which must not move */
    const struct pci_value_source *all;
    pci_mark_block mark;
    const void *context;
    enum pci_part_rows kind;
    struct pci_block_reader reader;
    size_t next; /* next row of the reader's block */
    uint8_t marks[1024];
};

/* `rows`: number of rows of the subset; 0 until pci_row_part_count() has counted marked rows. */
void pci_row_part_init(struct pci_row_part *part, const struct pci_value_source *all,
                       pci_mark_block mark, const void *context, enum pci_part_rows kind,
                       uint64_t rows);
pcol_status pci_row_part_count(struct pci_row_part *part, pcol_error *err);

/* Stream compaction: appends the values of the subset in a block's rows from `row` on to values[],
 * until *count is n or the block ends; branch-free. Returns the first row that was not read. */
size_t pci_part_compact(enum pci_part_rows kind, const struct pci_block_reader *block,
                        const uint8_t *marks, size_t row, size_t n, int64_t *values, size_t *count);

/* Captured values of a row part (partition_cache.c): frame of reference, four bytes per value. */
struct pci_captured {
    struct pci_value_source source;
    int64_t *bases;           /* minimum of each block */
    struct pci_spill numbers; /* u32 residuals */
};

/* Capture in progress. */
struct pci_partition_capture {
    const struct pci_row_part *part;
    struct pci_captured *captured; /* NULL: abandoned, a block's range exceeds 32 bits */
    uint64_t count;                /* values in complete blocks */
    size_t pending;
    int64_t values[2 * 1024]; /* pending values of the next block */
};
pcol_status pci_partition_capture_new(const struct pci_row_part *part,
                                      struct pci_spill_store *store,
                                      struct pci_partition_capture **capture, pcol_error *err);
/* Adds the rows of the next block of the underlying source, given its marks. */
pcol_status pci_partition_capture_block(struct pci_partition_capture *capture,
                                        const struct pci_block_reader *block, const uint8_t *marks,
                                        pcol_error *err);
/* Ends after the last block. *captured is NULL if abandoned; free with pci_captured_free(). */
pcol_status pci_partition_capture_end(struct pci_partition_capture *capture,
                                      struct pci_captured **captured, pcol_error *err);
void pci_partition_capture_free(struct pci_partition_capture *capture);
void pci_captured_free(struct pci_captured *captured);

/* SPARSE: rows with another value than the default (encode.c). */
struct pci_exceptions {
    int null_default; /* the default is null, else base + step * row */
    uint64_t base, step;
    struct pci_row_part marked;
};

/* CHAIN: successor list, and rows that it does not predict (encode_successor.c). */
struct pci_successors {
    struct pci_value_source next; /* row v: the most frequent successor of value v */
    uint32_t *next_values;
    struct pci_row_part marked;
};

/* Plans CHAIN; *bits is its cost. *successors is NULL if CHAIN is impossible or a lower bound of
 * its cost is not below `limit`. Free with pci_successors_free(). */
pcol_status pci_successors_new(const struct pci_value_source *source,
                               const struct pci_column_stats *stats, uint64_t limit,
                               struct pci_successors **successors, uint64_t *bits, pcol_error *err);
void pci_successors_free(struct pci_successors *successors);

/* DELTAS: rows with large differences, and the differences of the others (encode_delta.c). */
struct pci_delta_plan {
    int64_t low, high; /* range of the difference of an unmarked row */
    struct pci_row_part marked, deltas;
};

/* Plans DELTAS with the parameters that pci_cost_deltas() found. Free with pci_free(). */
pcol_status pci_delta_plan_new(const struct pci_value_source *source,
                               const struct pci_column_stats *stats, struct pci_delta_plan **deltas,
                               pcol_error *err);

/* SPLIT: rows with large values, and rows with small values (encode_patched.c). */
struct pci_patch_plan {
    uint64_t base, most; /* small values: base to base + most */
    struct pci_row_part large, small;
};

/* Parameters of SPLIT and its cost. */
struct pci_patch_choice {
    uint64_t bits; /* UINT64_MAX: not below the limit */
    uint64_t small_rows;
    unsigned width; /* bits of small values; 0: all equal the minimum */
};

/* Chooses the width of small values. `again`: large values may be split once more. One pass over a
 * sample, and one over all rows if the sample's cost is below `limit` in proportion. */
pcol_status pci_patch_choose(const struct pci_value_source *source,
                             const struct pci_column_stats *stats, int again, uint64_t limit,
                             struct pci_patch_choice *choice, pcol_error *err);
/* Plans SPLIT. Free with pci_free(). */
pcol_status pci_patch_new(const struct pci_value_source *source,
                          const struct pci_column_stats *stats,
                          const struct pci_patch_choice *choice, struct pci_patch_plan **split,
                          pcol_error *err);

/* Cost of SPLIT for a histogram of the values' widths up to `whole` bits; *width: best width of
 * small values. */
uint64_t pci_patch_cost(const uint64_t *counts, unsigned whole, int again, unsigned *width);

/* Encodes a column without children (encode.c). */
pcol_status pci_encode_leaf(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source, pcol_error *err);

/* TREE: steps up to the parent, for rows whose parent is not the previous row (encode_tree.c). */
struct pci_tree_steps {
    struct pci_value_source source;
    int64_t *values;
};
void pci_mark_tree_steps(const void *context, const struct pci_block_reader *block, uint8_t *marks);

/* Plans TREE; *bits is its cost. *steps is NULL if the source is not a tree in pre-order or a lower
 * bound of the cost is not below `limit`. Free with pci_tree_steps_free(). */
pcol_status pci_tree_steps_new(const struct pci_value_source *source,
                               const struct pci_column_stats *stats, uint64_t limit,
                               struct pci_tree_steps **steps, uint64_t *bits, pcol_error *err);
void pci_tree_steps_free(struct pci_tree_steps *steps);

/* Set the column's encoding and parameters and write its sections. `min_max`: receives minimum and
 * maximum; may be NULL. */
pcol_status pci_emit_plain(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source, uint64_t nulls,
                           struct pci_column_stats *min_max, pcol_error *err);
pcol_status pci_emit_packed(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *stats, pcol_error *err);
/* Writes the current block of a reader. */
typedef pcol_status (*pci_write_block)(struct pci_bits *bits, const struct pci_block_reader *block,
                                       void *context, pcol_error *err);

/* Write one section: the validity bitmap, the marks. */
pcol_status pci_emit_validity(struct pci_container *writer, uint32_t column,
                              const struct pci_value_source *source, pcol_error *err);
pcol_status pci_emit_marks(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source, pci_mark_block mark,
                           const void *context, struct pci_partition_capture *const *captures,
                           pcol_error *err);

#endif
