/*
 * sort.c - the rows of a top in order
 *
 * Thousands of rows are what an answer from the file's sums takes longest for, and most of them have the
 * self of many others (none). So the comparison stands within the loops, once for each kind of amount
 * and order, and texts are looked at only where all amounts are the same. Runs of a few rows by
 * insertion, then merged, which is never slower than n log n.
 */
#include "query/top.h"

#include "core/alloc.h"
#include "query/walk.h"

#include <string.h>

#define RUN 8u

/* The rows of a top of names alone have no frames (top.h). */
static int compare_names(const struct pci_top_item *a, const struct pci_top_item *b, int is_plain)
{
    if (is_plain)
        return pci_str_compare(*a->by.name, *b->by.name);
    return pci_frame_compare(a->by.frame, b->by.frame);
}

/* Whether b belongs before a, which stands before it. */
PCI_INLINE int is_after(const struct pci_top_item *a, const struct pci_top_item *b, int is_plain,
                        int is_double, pcol_order order)
{
    if (order != PCOL_ORDER_NAME) {
        uint64_t self[2] = {pci_amount_key(is_double, a->self), pci_amount_key(is_double, b->self)};
        uint64_t total[2] = {pci_amount_key(is_double, a->total),
                             pci_amount_key(is_double, b->total)};
        const uint64_t *first = order == PCOL_ORDER_SELF ? self : total;
        const uint64_t *second = order == PCOL_ORDER_SELF ? total : self;
        if (first[0] != first[1])
            return first[0] < first[1];
        if (second[0] != second[1])
            return second[0] < second[1];
    }
    return compare_names(a, b, is_plain) > 0;
}

PCI_INLINE void insert_rows(struct pci_top_item *items, size_t n, int is_plain, int is_double,
                            pcol_order order)
{
    for (size_t i = 1; i < n; i++) {
        struct pci_top_item item = items[i];
        size_t to = i;
        for (; to && is_after(&items[to - 1], &item, is_plain, is_double, order); to--)
            items[to] = items[to - 1];
        items[to] = item;
    }
}

/* [0, middle) and [middle, n), each in order, to `to`. */
PCI_INLINE void merge(const struct pci_top_item *from, size_t middle, size_t n,
                      struct pci_top_item *to, int is_plain, int is_double, pcol_order order)
{
    size_t i = 0, j = middle;
    while (i < middle && j < n) {
        if (is_after(&from[i], &from[j], is_plain, is_double, order))
            *to++ = from[j++];
        else
            *to++ = from[i++];
    }
    memcpy(to, from + i, (middle - i) * sizeof *to);
    memcpy(to + (middle - i), from + j, (n - j) * sizeof *to);
}

PCI_INLINE void sort(struct pci_top_item *items, struct pci_top_item *room, size_t n, int is_plain,
                     int is_double, pcol_order order)
{
    struct pci_top_item *from = items, *to = room;
    for (size_t at = 0; at < n; at += RUN)
        insert_rows(items + at, n - at < RUN ? n - at : RUN, is_plain, is_double, order);
    for (size_t run = RUN; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            size_t left = n - at, both = left < 2 * run ? left : 2 * run;
            merge(from + at, both < run ? both : run, both, to + at, is_plain, is_double, order);
        }
        struct pci_top_item *other = from;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

pcol_status pci_top_sort(pcol_top *top, pcol_order order, pcol_error *err)
{
    int is_plain = top->texts != NULL, is_double = top->is_double;
    struct pci_top_item *items = top->items, *room = NULL;
    size_t n = top->count;
    if (n > RUN && !(room = pci_malloc(n, sizeof *room)))
        return pci_fail_memory(err);
    if (order == PCOL_ORDER_NAME)
        sort(items, room, n, is_plain, is_double, PCOL_ORDER_NAME);
    else if (order == PCOL_ORDER_SELF && is_double)
        sort(items, room, n, is_plain, 1, PCOL_ORDER_SELF);
    else if (order == PCOL_ORDER_SELF)
        sort(items, room, n, is_plain, 0, PCOL_ORDER_SELF);
    else if (is_double)
        sort(items, room, n, is_plain, 1, PCOL_ORDER_TOTAL);
    else
        sort(items, room, n, is_plain, 0, PCOL_ORDER_TOTAL);
    pci_free(room);
    return PCOL_OK;
}
