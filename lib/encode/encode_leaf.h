/*
 * encode_leaf.h - one column's values into sections, by an encoding that has been chosen
 */
#ifndef PCI_ENCODE_ENCODE_LEAF_H
#define PCI_ENCODE_ENCODE_LEAF_H

#include "encode/encode.h"

#include <string.h>

/* Which cells of a block are marked: 1 or 0 each. Without branches, as marks follow no rule that a
 * processor could foresee. */
typedef void (*pci_mark_block)(const void *context, const struct pci_block_reader *block,
                               uint8_t *marks);

/* Marked rows, or the others, or how much these rise above the row before. */
enum pci_part_rows { PCI_PART_MARKED, PCI_PART_UNMARKED, PCI_PART_DELTAS };

/* Some of a source's rows as a source of their own. Blocks of a reader begin at multiples of 64,
 * where rows are marked if rises are asked for. */
struct pci_row_part {
    struct pci_value_source source; /* its context is this struct, which must not move */
    const struct pci_value_source *all;
    pci_mark_block mark;
    const void *context;
    enum pci_part_rows what;
    struct pci_block_reader reader;
    size_t at; /* next cell of the reader's block */
    uint8_t marks[1024];
};

/* `rows` of that kind are among all; 0 until pci_row_part_count() has counted those that are
 * marked. */
void pci_row_part_init(struct pci_row_part *part, const struct pci_value_source *all,
                       pci_mark_block mark, const void *context, enum pci_part_rows what,
                       uint64_t rows);
pcol_status pci_row_part_count(struct pci_row_part *part, pcol_error *err);

/* What a part wants of a block's cells from `at` on, behind the *got values that are there, until
 * there are `n`. Each is written, and the place for it moves on if it is wanted. Returns the first
 * cell that was not looked at. */
size_t pci_part_compact(enum pci_part_rows what, const struct pci_block_reader *block,
                        const uint8_t *marks, size_t at, size_t n, int64_t *values, size_t *got);

/* partition_cache.c: a part's values once they were read, in four bytes each. */
struct pci_kept {
    struct pci_value_source source;
    int64_t *bases;           /* by block: its least value */
    struct pci_spill numbers; /* how far each value is above that */
};

/* Values on their way there. */
struct pci_partition_capture {
    const struct pci_row_part *part;
    struct pci_kept *kept; /* NULL: they are too far from each other */
    uint64_t count;
    size_t waiting;
    int64_t values[2 * 1024]; /* those that wait to be a block */
};
pcol_status pci_partition_capture_new(const struct pci_row_part *part,
                                      struct pci_spill_store *store,
                                      struct pci_partition_capture **keeping, pcol_error *err);
/* The next block of what the part is of, and its marks. */
pcol_status pci_partition_capture_block(struct pci_partition_capture *keeping,
                                        const struct pci_block_reader *block, const uint8_t *marks,
                                        pcol_error *err);
/* All have been there. *kept is NULL if they could not be kept; freed with pci_kept_free(). */
pcol_status pci_partition_capture_end(struct pci_partition_capture *keeping, struct pci_kept **kept,
                                      pcol_error *err);
void pci_partition_capture_free(struct pci_partition_capture *keeping);
void pci_kept_free(struct pci_kept *kept);

/* A source's rows that are not the default, as a source of their own (encode.c). */
struct pci_exceptions {
    int null_default; /* the default is null, else base + step * row */
    uint64_t base, step;
    struct pci_row_part own;
};

/* A source's rows that do not follow from the row before, as a source of their own
 * (encode_successor.c). */
struct pci_successors {
    struct pci_value_source next; /* row v: what mostly stands behind the value v */
    uint32_t *next_values;
    struct pci_row_part own;
};
void pci_mark_successors(const void *context, const struct pci_block_reader *block, uint8_t *marks);

/* A source as a chain, and what that costs in bits; *links is NULL if it would not pay, or surely
 * not be below `limit`. Freed with pci_successors_free(). */
pcol_status pci_successors_new(const struct pci_value_source *source,
                               const struct pci_column_stats *shape, uint64_t limit,
                               struct pci_successors **links, uint64_t *bits, pcol_error *err);
void pci_successors_free(struct pci_successors *links);

/* A source's rows that stand too far from the row before, and how much the others rise above it:
 * two sources (encode_delta.c). */
struct pci_delta_plan {
    int64_t low, high; /* least and greatest rise of a row that is not marked */
    struct pci_row_part own, rises;
};

/* A source as deltas, as pci_cost_deltas() found them best. Freed with pci_free(). */
pcol_status pci_delta_plan_new(const struct pci_value_source *source,
                               const struct pci_column_stats *shape, struct pci_delta_plan **deltas,
                               pcol_error *err);
void pci_mark_far(const void *context, const struct pci_block_reader *block, uint8_t *marks);

/* A source's rows with large values, and those with small ones: two sources (encode_patched.c). */
struct pci_patch_plan {
    uint64_t base, most; /* small: base to base + most */
    struct pci_row_part large, small;
};

/* Where large values begin, and what the column then costs. */
struct pci_patch_choice {
    uint64_t bits; /* UINT64_MAX: not less than the limit */
    uint64_t small_rows;
    unsigned width; /* of small values; 0: all of them are the minimum */
};

/* `again`: large values may be split once more. One pass over some of the source, and one over all
 * of it if these promise to cost less than `limit` bits. */
pcol_status pci_patch_choose(const struct pci_value_source *source,
                             const struct pci_column_stats *shape, int again, uint64_t limit,
                             struct pci_patch_choice *choice, pcol_error *err);
/* A source split as it was found best. Freed with pci_free(). */
pcol_status pci_patch_new(const struct pci_value_source *source,
                          const struct pci_column_stats *shape,
                          const struct pci_patch_choice *choice, struct pci_patch_plan **split,
                          pcol_error *err);
void pci_mark_large(const void *context, const struct pci_block_reader *block, uint8_t *marks);

/* What SPLIT costs, by how many values have how many bits, up to `whole`; *width of the small
 * ones. */
uint64_t pci_patch_cost(const uint64_t *counts, unsigned whole, int again, unsigned *width);

/* A column without children (encode.c). */
pcol_status pci_encode_leaf(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source, pcol_error *err);

/* A source's rows as steps up the tree whose parents they are (encode_tree.c): of rows whose
 * parent is
 * not the row before. */
struct pci_tree_steps {
    struct pci_value_source source;
    int64_t *values;
};
void pci_mark_tree_steps(const void *context, const struct pci_block_reader *block, uint8_t *marks);

/* *steps is NULL if the source is no tree in pre-order, or would surely cost no less than `limit`;
 * *bits: what it costs. Freed with pci_tree_steps_free(). */
pcol_status pci_tree_steps_new(const struct pci_value_source *source,
                               const struct pci_column_stats *shape, uint64_t limit,
                               struct pci_tree_steps **steps, uint64_t *bits, pcol_error *err);
void pci_tree_steps_free(struct pci_tree_steps *steps);

/* Each sets the column's encoding and parameters and appends its sections. */
pcol_status pci_emit_plain(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source, uint64_t nulls,
                           struct pci_column_stats *stats,
                           pcol_error *err); /* stats: to be filled, or NULL */
pcol_status pci_emit_packed(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *shape, pcol_error *err);
pcol_status pci_emit_blocked(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source,
                             const struct pci_column_stats *shape, int slopes, pcol_error *err);

/* Puts the block that the reader holds. */
typedef pcol_status (*pci_write_block)(struct pci_bits *bits, const struct pci_block_reader *block,
                                       void *context, pcol_error *err);
/* VALUES out of what is put for each block of 1024 rows, and the padding behind it. */
pcol_status pci_emit_blocks(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source, pci_write_block put,
                            void *context, pcol_error *err);

/* Parts: the validity bitmap, the marks, any bytes. */
pcol_status pci_emit_validity(struct pci_container *writer, uint32_t column,
                              const struct pci_value_source *source, pcol_error *err);
pcol_status pci_emit_marks(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source, pci_mark_block mark,
                           const void *context, struct pci_partition_capture *const *keepings,
                           pcol_error *err);
pcol_status pci_emit_array(struct pci_container *writer, uint32_t column, uint8_t role,
                           const void *data, size_t size, pcol_error *err);

#endif
