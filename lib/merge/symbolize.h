/*
 * symbolize.h - symbols for nameless locations of a file that is copied
 */
#ifndef PCI_MERGE_SYMBOLIZE_H
#define PCI_MERGE_SYMBOLIZE_H

#include "merge/merge.h"

/* The columns of mappings that pci_symbol_flags() writes; ends in NULL. */
extern const char *const pci_symbol_columns[];

/* The lines of a group without lines, innermost first; *count 0: no symbols. */
pcol_status pci_symbol_lines(const struct pci_merge *merge, uint64_t row, pcol_line **lines,
                             size_t *capacity, size_t *count, pcol_error *err);
/* Copies the flags of mappings, and sets those of symbols. table: of the builder; map: its rows. */
pcol_status pci_symbol_flags(const struct pci_merge *merge, uint32_t table, const uint32_t *map,
                             uint64_t rows, pcol_error *err);

#endif
