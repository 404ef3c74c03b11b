/*
 * diff.h - the rows of a comparison, with one base or several
 */
#ifndef PCI_QUERY_DIFF_H
#define PCI_QUERY_DIFF_H

#include "query/query.h"
#include "query/tree_pair.h"

struct pci_diff_side {
    pcol_amount self, total;
    uint8_t in;
};

struct pci_diff_base {
    pcol_file *file; /* retained */
    int is_double;
    double whole;                /* total of the profile */
    double scale;                /* of its values */
    struct pci_diff_side *sides; /* of several bases: by row, or by node of the tree of stacks; */
    size_t count;                /* later rows are not in this base */
};

struct pci_diff {
    struct pci_diff_info info;
    struct pci_diff_row *rows;
    size_t count, capacity;
    struct pci_top **tops; /* of each profile: own the texts of the rows, unless */
    size_t top_count;
    char *paths; /* `paths` does (rows of stacks) */
    struct pci_hash hash;
    struct pci_diff_base *bases;         /* info.base_count */
    double *values;                      /* a number for each base */
    int base_is_double, other_is_double; /* side 0 and side 1, before they are compared */
};

/* ---- diff_bases.c */

/* Allocates the bases and the memory for tops. */
pcol_status pci_diff_bases_open(struct pci_diff *d, const struct pci_diff_queries *queries,
                                pcol_error *err);
void pci_diff_bases_close(struct pci_diff *d);
/* Moves side 0 of @count rows to a base. sides: of the first row; stride: to the next. */
pcol_status pci_diff_base_take(struct pci_diff_base *base, struct pci_sides *sides, size_t stride,
                               size_t count, pcol_error *err);
/* 1 if one of several bases has a value of its own in row @at. */
int pci_diff_bases_have_self(const struct pci_diff *d, size_t at);
/* Makes the values of row @from those of row @to <= @from. */
void pci_diff_bases_move(struct pci_diff *d, size_t to, size_t from);
/* Sets side 0 of row @at to the medians of several bases, with their spreads. */
void pci_diff_bases_join(struct pci_diff *d, size_t at);

/* Median, extremes and median absolute deviation; reorders the values. count: at least 1. */
void pci_diff_spread(double *values, size_t count, pcol_spread *spread);
/* Scales all profiles to the total of the base. E_ARGUMENT: a total is 0. */
pcol_status pci_diff_scale(struct pci_diff *d, pcol_error *err);
/* Sets `samples` of each row to the most samples that `counts` find. The rows are in order of
 * names. */
pcol_status pci_diff_count(struct pci_diff *d, const struct pci_diff_queries *queries,
                           const pcol_diff_options *options, pcol_error *err);
/* Sets the rows and the total that fail. */
pcol_status pci_diff_judge(struct pci_diff *d, const pcol_diff_options *options, pcol_error *err);

#endif
