/*
 * sort.c - order of the rows of a top
 *
 * LSD radix sort on amounts, with merge sort for ties: comparisons of amounts are unpredictable
 * branches, and sorting dominates the time of a top from the file's sums. Fewer than 64 rows, and
 * orders by name, are merge sorted. Row numbers are sorted, since a row has six times the bytes.
 */
#include "query/top.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/sort.h"
#include "util/strbuf.h"

#include <string.h>

#define MIN_RADIX_ROWS 64u

/* ---- comparison */

struct sort_order {
    const struct pci_top *top;
    pcol_order by;
};

static int compare_names(const struct sort_order *s, uint32_t a, uint32_t b)
{
    const struct pci_top_item *x = &s->top->items[a], *y = &s->top->items[b];
    if (s->top->texts)
        return pci_str_compare(*x->by.name, *y->by.name);
    return pci_frame_compare(x->by.frame, y->by.frame);
}

static int compare_rows(const void *pa, const void *pb, const void *context)
{
    const struct sort_order *s = context;
    const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    const struct pci_top_item *x = &s->top->items[a], *y = &s->top->items[b];
    int is_double = s->top->is_double;
    if (s->by == PCOL_ORDER_NAME)
        return compare_names(s, a, b);
    int by_self = pci_amount_compare(is_double, y->self, x->self);
    int by_total = pci_amount_compare(is_double, y->total, x->total);
    int first = s->by == PCOL_ORDER_SELF ? by_self : by_total;
    int second = s->by == PCOL_ORDER_SELF ? by_total : by_self;
    return first ? first : second ? second : compare_names(s, a, b);
}

/* ---- radix sort */

static uint64_t get_key(const struct pci_top *top, uint32_t row, int by_self)
{
    const struct pci_top_item *item = &top->items[row];
    return pci_amount_sort_key(top->is_double, by_self ? item->self : item->total);
}

/* Stable counting sort by one byte of the keys, descending. */
static void sort_by_byte(const struct pci_top *top, int by_self, unsigned shift,
                         const uint32_t *from, uint32_t *to)
{
    size_t ends[256] = {0}, end = 0;
    for (size_t i = 0; i < top->count; i++)
        ends[get_key(top, from[i], by_self) >> shift & 255]++;
    for (size_t value = 256; value-- > 0;)
        ends[value] = end += ends[value];
    for (size_t i = top->count; i-- > 0;)
        to[--ends[get_key(top, from[i], by_self) >> shift & 255]] = from[i];
}

static void radix_sort(const struct pci_top *top, int by_self, uint32_t **order, uint32_t **spare)
{
    uint64_t first = get_key(top, 0, by_self), differ = 0;
    for (size_t i = 1; i < top->count; i++)
        differ |= first ^ get_key(top, (uint32_t)i, by_self);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 255))
            continue;
        sort_by_byte(top, by_self, shift, *order, *spare);
        uint32_t *swap = *order;
        *order = *spare;
        *spare = swap;
    }
}

/* Sorts rows of equal amounts by name. */
static pcol_status sort_ties(const struct pci_top *top, uint32_t *order, pcol_error *err)
{
    const struct sort_order s = {top, PCOL_ORDER_NAME};
    const struct pci_top_item *items = top->items;
    for (size_t start = 0, n; start < top->count; start += n) {
        const struct pci_top_item *first = &items[order[start]];
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        for (n = 1; start + n < top->count; n++) {
            const struct pci_top_item *item = &items[order[start + n]];
            if (pci_amount_compare(top->is_double, item->self, first->self) ||
                pci_amount_compare(top->is_double, item->total, first->total))
                break;
        }
        if (n > 1)
            PCI_TRY(pci_sort(order + start, n, sizeof *order, compare_rows, &s, err));
    }
    return PCOL_OK;
}

pcol_status pci_top_sort(struct pci_top *top, pcol_order by, pcol_error *err)
{
    size_t n = top->count;
    uint32_t *memory, *order, *spare;
    if (n >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 rows");
    PCI_TRY(PCI_MALLOC(memory, 2 * n + 1, err));
    order = memory;
    spare = memory + n;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    pcol_status status;
    if (n < MIN_RADIX_ROWS || by == PCOL_ORDER_NAME) {
        status =
            pci_sort(order, n, sizeof *order, compare_rows, &(struct sort_order){top, by}, err);
    } else {
        radix_sort(top, by != PCOL_ORDER_SELF, &order, &spare);
        radix_sort(top, by == PCOL_ORDER_SELF, &order, &spare);
        status = sort_ties(top, order, err);
        if (order != memory)
            memcpy(memory, order, n * sizeof *memory);
    }
    if (status != PCOL_OK) {
        pci_free(memory);
        return status;
    }
    pci_free(top->order);
    top->order = memory;
    return PCOL_OK;
}
