/*
 * sort.c - the rows of a top in order
 *
 * Thousands of rows are what an answer from the file's sums takes longest for. Nothing foretells
 * which of two amounts is larger, so that a sort that compares waits for the processor to turn back
 * half of the time. So amounts are dealt out byte by byte, the lowest first, which compares
 * nothing, and only rows of the same amounts are merged by their names. Few rows are merged at
 * once.
 *
 * Rows are named by their numbers: to move a row would be six times the bytes.
 */
#include "query/top.h"

#include "util/alloc.h"

#include <string.h>

#define RUN 8u
#define FEW 64u

/* ---- by comparing */

struct sorting {
    const pcol_top *top;
    pcol_order by;
};

static int compare_names(const struct sorting *s, uint32_t a, uint32_t b)
{
    const struct pci_top_item *x = &s->top->items[a], *y = &s->top->items[b];
    if (s->top->texts)
        return pci_str_compare(*x->by.name, *y->by.name);
    return pci_frame_compare(x->by.frame, y->by.frame);
}

static int compare(const struct sorting *s, uint32_t a, uint32_t b)
{
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

static void insert_rows(const struct sorting *s, uint32_t *order, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint32_t row = order[i];
        size_t to = i;
        for (; to && compare(s, order[to - 1], row) > 0; to--)
            order[to] = order[to - 1];
        order[to] = row;
    }
}

/* [0, middle) and [middle, n), each in order, to `to`. */
static void merge(const struct sorting *s, const uint32_t *from, size_t middle, size_t n,
                  uint32_t *to)
{
    size_t i = 0, j = middle;
    while (i < middle && j < n)
        *to++ = compare(s, from[i], from[j]) > 0 ? from[j++] : from[i++];
    memcpy(to, from + i, (middle - i) * sizeof *to);
    memcpy(to + (middle - i), from + j, (n - j) * sizeof *to);
}

static void merge_rows(const struct sorting *s, uint32_t *order, uint32_t *room, size_t n)
{
    uint32_t *from = order, *to = room;
    for (size_t at = 0; at < n; at += RUN)
        insert_rows(s, order + at, n - at < RUN ? n - at : RUN);
    for (size_t run = RUN; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            size_t left = n - at, both = left < 2 * run ? left : 2 * run;
            merge(s, from + at, both < run ? both : run, both, to + at);
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != order)
        memcpy(order, from, n * sizeof *order);
}

/* ---- by dealing out */

static uint64_t key_of(const pcol_top *top, uint32_t row, int by_self)
{
    const struct pci_top_item *item = &top->items[row];
    return pci_amount_key(top->is_double, by_self ? item->self : item->total);
}

/* Rows fall by one byte of their keys; those of the same stay as they are. */
static void deal(const pcol_top *top, int by_self, unsigned shift, const uint32_t *from,
                 uint32_t *to)
{
    size_t ends[256] = {0}, end = 0;
    for (size_t i = 0; i < top->count; i++)
        ends[key_of(top, from[i], by_self) >> shift & 255]++;
    for (size_t value = 256; value-- > 0;)
        ends[value] = end += ends[value];
    for (size_t i = top->count; i-- > 0;)
        to[--ends[key_of(top, from[i], by_self) >> shift & 255]] = from[i];
}

static void deal_by(const pcol_top *top, int by_self, uint32_t **order, uint32_t **room)
{
    uint64_t first = key_of(top, 0, by_self), differ = 0;
    for (size_t i = 1; i < top->count; i++)
        differ |= first ^ key_of(top, (uint32_t)i, by_self);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 255))
            continue;
        deal(top, by_self, shift, *order, *room);
        uint32_t *other = *order;
        *order = *room;
        *room = other;
    }
}

/* Rows of the same amounts by their names. */
static void part_ties(const pcol_top *top, uint32_t *order, uint32_t *room)
{
    const struct sorting s = {top, PCOL_ORDER_NAME};
    const struct pci_top_item *items = top->items;
    for (size_t at = 0, n; at < top->count; at += n) {
        const struct pci_top_item *first = &items[order[at]];
        for (n = 1; at + n < top->count; n++) {
            const struct pci_top_item *item = &items[order[at + n]];
            if (pci_amount_compare(top->is_double, item->self, first->self) ||
                pci_amount_compare(top->is_double, item->total, first->total))
                break;
        }
        if (n > 1)
            merge_rows(&s, order + at, room, n);
    }
}

pcol_status pci_top_sort(pcol_top *top, pcol_order by, pcol_error *err)
{
    size_t n = top->count;
    uint32_t *both, *order, *room;
    if (n >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 rows");
    if (!(both = pci_malloc(2 * n + 1, sizeof *both)))
        return pci_fail_memory(err);
    order = both;
    room = both + n;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    if (n < FEW || by == PCOL_ORDER_NAME) {
        merge_rows(&(struct sorting){top, by}, order, room, n);
    } else {
        deal_by(top, by != PCOL_ORDER_SELF, &order, &room);
        deal_by(top, by == PCOL_ORDER_SELF, &order, &room);
        part_ties(top, order, room);
        if (order != both)
            memcpy(both, order, n * sizeof *both);
    }
    pci_free(top->order);
    top->order = both;
    return PCOL_OK;
}
