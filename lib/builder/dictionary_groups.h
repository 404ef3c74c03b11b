/*
 * dictionary_groups.h - dictionary encoding of groups of columns with common codes
 */
#ifndef PCI_BUILDER_DICTIONARY_GROUPS_H
#define PCI_BUILDER_DICTIONARY_GROUPS_H

#include "builder/builder.h"
#include "util/value_ids.h"

#define PCI_DICTIONARY_GROUP_COLUMNS 32u /* of one group */

/* Columns with common codes. A tuple of their cells has an id, defined recursively: the id of the
 * pair (tuple of the columns before, value of the last column). */
struct pci_dictionary_group {
    uint32_t columns[PCI_DICTIONARY_GROUP_COLUMNS]; /* of the builder, in the order of the file */
    size_t column_count;
    struct pci_value_ids *values; /* by column: ids of its cells */
    struct pci_value_ids *pairs;  /* by column: ids of tuples up to it; [0] is unused */
    size_t count;                 /* distinct tuples of all columns */
    uint64_t *counts;             /* by tuple id: number of rows */
    size_t counts_capacity;
    uint32_t *ranks;          /* by tuple id: code */
    struct pci_spill numbers; /* u32 tuple id by row */
    /* Estimates from the sampled rows: */
    uint64_t code_bits, sample_rows;  /* upper bound of the codes' bits; number of sampled rows */
    uint64_t plain_bytes, code_bytes; /* for all rows: encoded by column; codes only */
    uint64_t entry_bits;              /* of a tuple in all dictionaries */
    int used;                         /* 0: rejected after all rows were read */
};

struct pci_dictionary_groups {
    struct pci_dictionary_group *groups;
    size_t count, capacity;
};

/* Choose groups of columns by trial encodings of the first rows. Extends the columns that it reads
 * to all rows. */
pcol_status pci_dictionary_groups_choose(pcol_builder *b, struct pci_container *w,
                                         const struct pci_table_plan *plan,
                                         struct pci_dictionary_groups *groups, pcol_error *err);
void pci_dictionary_groups_clear(struct pci_dictionary_groups *groups);
/* The group of a column of the builder and the column's index in it; NULL: none. */
const struct pci_dictionary_group *pci_dictionary_groups_find(
    const struct pci_dictionary_groups *groups, uint32_t column, size_t *index);

/* Assign ids to the tuples of all rows; group->used becomes 0 if there are too many
 * (encode_dictionary.c). */
pcol_status pci_dictionary_group_fill(const pcol_builder *b, struct pci_dictionary_group *group,
                                      pcol_error *err);
/* Encode a column of the group. The first one has the codes, the others refer to the column
 * `distance` before them. */
pcol_status pci_encode_dictionary(struct pci_container *w, uint32_t number,
                                  const struct pci_dictionary_group *group, size_t index,
                                  uint32_t distance, pcol_error *err);

/* Upper bound of the bits of codes, by the number of rows of each code. */
pcol_status pci_estimate_code_bits(const uint64_t *counts, size_t count, uint64_t *bits,
                                   pcol_error *err);

/* A column as it is written: references are final rows (encode_tables.c). */
void pci_column_source_init(const pcol_builder *b, const struct pci_column_buffer *column,
                            struct pci_column_buffer_source *source);

#endif
