/*
 * top.h - rows of a top during construction
 */
#ifndef PCI_TOP_H
#define PCI_TOP_H

#include "query/query.h"

/* A row without its texts, so that sorting moves little memory. During construction the items are
 * by frame or group, with those that have no values. */
struct pci_top_item {
    pcol_amount self, total;
    union {
        const struct pci_frame *frame; /* in `frames` */
        const pcol_str *name;          /* in `texts`, if not NULL */
    } by;
};

struct pci_top {
    int is_double;
    size_t count;
    struct pci_top_item *items;
    uint32_t *order;          /* numbers of items in sorted order, set by pci_top_sort() */
    pcol_str *texts;          /* names of frames that have nothing else; NULL: `frames` is used */
    uint32_t *functions;      /* by text: row of functions, or PCOL_NONE; NULL without texts */
    struct pci_frames frames; /* owns the frames and their texts */
    struct pci_string_pool names; /* owns the texts of labels */
};

/* Adds the amount of a sample, or of a group, to a group. */
static inline pcol_status pci_top_add(pcol_query *query, struct pci_top_item *item,
                                      pcol_amount amount, pcol_error *err)
{
    PCI_TRY(pci_query_add(query, &item->self, amount, err));
    item->total = item->self;
    return PCOL_OK;
}
/* top.c: appends the item of a frame or group to the rows, in ascending order of these, and returns
 * its frame; NULL: it has no values, and is no row. */
struct pci_frame *pci_top_append(struct pci_top *top, size_t group);
/* top.c: appends the columns of values to a result that owns the top. */
pcol_status pci_top_add_columns(pcol_result *result, const struct pci_top *top, pcol_error *err);
/* sort.c */
pcol_status pci_top_sort(struct pci_top *top, pcol_order order, pcol_error *err);
/* top_by_sample.c: by thread, process, source or metadata of the source. */
pcol_status pci_top_of_samples(pcol_query *query, pcol_by by, const char *key, struct pci_top *top,
                               pcol_error *err);
/* top_from_sums.c: by function. */
pcol_status pci_top_of_sums(pcol_query *query, struct pci_top *top, pcol_error *err);
/* top_by_label.c */
pcol_status pci_top_of_label(pcol_query *query, const char *label, struct pci_top *top,
                             pcol_error *err);

#endif
