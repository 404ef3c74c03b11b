/*
 * diff.h - the rows of a comparison, with one base or several
 */
#ifndef PCI_QUERY_DIFF_H
#define PCI_QUERY_DIFF_H

#include "query/query.h"
#include "query/tree_pair.h"

struct pci_diff_base {
    pcol_file *file; /* retained */
    int is_double;
    double whole; /* total of the profile */
    double scale; /* of its values */
};

/* The values of one of several bases in a row, or in a node of the tree of stacks. Rows that a base
 * does not have take no memory: many bases may have few rows in common. */
struct pci_diff_entry {
    uint32_t row, base;
    pcol_amount self, total;
};

struct pci_diff_range {
    size_t first, end; /* of entries */
};

struct pci_diff {
    struct pci_diff_info info;
    struct pci_diff_row *rows;
    size_t count, capacity;
    struct pci_top **tops; /* of each profile: own the texts of the rows, unless */
    size_t top_count;
    char *paths; /* `paths` does (rows of stacks) */
    struct pci_hash hash;
    struct pci_diff_base *bases;    /* info.base_count */
    double *values;                 /* a number for each base */
    struct pci_diff_entry *entries; /* by row, after pci_diff_bases_sort() */
    size_t entry_count, entry_capacity;
    struct pci_diff_range *ranges;       /* by row */
    int base_is_double, other_is_double; /* side 0 and side 1, before they are compared */
};

/* ---- diff_bases.c */

/* Allocates the bases and the memory for tops. */
pcol_status pci_diff_bases_open(struct pci_diff *d, const struct pci_diff_queries *queries,
                                pcol_error *err);
void pci_diff_bases_close(struct pci_diff *d);
/* Moves side 0 of row @row to a base, if it is in it. */
pcol_status pci_diff_base_take(struct pci_diff *d, size_t base, size_t row, struct pci_sides *sides,
                               pcol_error *err);
/* Finds the entries of @count rows, after those of all bases. */
pcol_status pci_diff_bases_sort(struct pci_diff *d, size_t count, pcol_error *err);
/* 1 if one of several bases has a value of its own in row @at. */
int pci_diff_bases_have_self(const struct pci_diff *d, size_t at);
/* Makes the values of row @from those of row @to <= @from. */
void pci_diff_bases_move(struct pci_diff *d, size_t to, size_t from);
/* Sets side 0 of row @at to the medians of several bases, with their spreads. */
void pci_diff_bases_join(struct pci_diff *d, size_t at);

/* Median, extremes and median absolute deviation of @count values and @zeros zeros, at least one of
 * them; reorders the values. */
void pci_diff_spread(double *values, size_t count, size_t zeros, pcol_spread *spread);
/* Scales all profiles to the total of the base. E_ARGUMENT: a total is 0. */
pcol_status pci_diff_scale(struct pci_diff *d, pcol_error *err);
/* Sets `samples` of each row to the most samples that `counts` find. The rows are in order of
 * names. */
pcol_status pci_diff_count(struct pci_diff *d, const struct pci_diff_queries *queries,
                           const pcol_diff_options *options, pcol_error *err);
/* Sets the rows and the total that fail. */
pcol_status pci_diff_judge(struct pci_diff *d, const pcol_diff_options *options, pcol_error *err);

#endif
