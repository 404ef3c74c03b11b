/*
 * dictionary_groups.h - columns of a table that are written as one column of codes and a
 * dictionary each
 */
#ifndef PCI_BUILDER_DICTIONARY_GROUPS_H
#define PCI_BUILDER_DICTIONARY_GROUPS_H

#include "builder/builder.h"
#include "util/value_ids.h"

#define PCI_CODES_COLUMNS 32u /* of one group */

/* Columns that share codes. A tuple of their cells has a number: a pair of that of the columns
 * before and that of the last column's value. */
struct pci_codes {
    uint32_t columns[PCI_CODES_COLUMNS]; /* of the builder, in the order of the file */
    size_t column_count;
    struct pci_value_ids *values; /* by column: of its cells */
    struct pci_value_ids *pairs;  /* by column: of tuples up to it; [0] is not used */
    size_t count;                 /* tuples of all columns */
    uint64_t *counts;             /* by number: how often they occur */
    size_t counts_capacity;
    uint32_t *ranks;          /* by number: their codes */
    struct pci_spill numbers; /* u32 by row */
    /* by the rows for which it was chosen: */
    uint64_t code_bits, sample_rows;  /* what their codes take at most */
    uint64_t plain_bytes, code_bytes; /* of all rows: column by column; the codes */
    uint64_t entry_bits;              /* of a tuple in the dictionaries */
    int used;
};

struct pci_code_groups {
    struct pci_codes *groups;
    size_t count, capacity;
};

/* dictionary_groups.c: which columns pay, by what some rows of them take either way. Fills the
 * columns that it
 * looks at. */
pcol_status pci_code_groups_choose(pcol_builder *b, struct pci_container *w,
                                   const struct pci_table_plan *plan,
                                   struct pci_code_groups *groups, pcol_error *err);
void pci_code_groups_clear(struct pci_code_groups *groups);
/* The group that a column of the builder is in and its place there; NULL: none. */
const struct pci_codes *pci_code_group_of(const struct pci_code_groups *groups, uint32_t column,
                                          size_t *place);

/* encode_dictionary.c: number the tuples of all rows; group->used becomes 0 if they are too many.
 * */
pcol_status pci_codes_fill(const pcol_builder *b, struct pci_codes *group, pcol_error *err);
/* A column of the group; the first one gets the codes, the others are `distance` columns behind
 * it. */
pcol_status pci_encode_dictionary(struct pci_container *w, uint32_t number,
                                  const struct pci_codes *group, size_t place, uint32_t distance,
                                  pcol_error *err);

/* What codes take at most, whatever their order, by how often each rank occurs. */
pcol_status pci_dictionary_bits(const uint64_t *counts, size_t count, uint64_t *bits,
                                pcol_error *err);

/* encode_tables.c: a column's values as they are written. */
void pci_column_source(const pcol_builder *b, const struct pci_column_buffer *column,
                       struct pci_column_buffer_source *source);

#endif
