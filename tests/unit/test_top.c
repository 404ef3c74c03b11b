/*
 * test_top.c - the order of the rows of a top, for any number of rows
 */
#include <criterion/criterion.h>

#include "query/top.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 700 };

static uint64_t state = 7;

static uint64_t next_random(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 20;
}

static char names[MOST][12];

/* Few distinct amounts, so that there are ties; some below 0, some large, some 0. */
static pcol_amount make_amount(int is_double, unsigned kinds)
{
    uint64_t number = next_random() % kinds;
    pcol_amount amount;
    int64_t value = (int64_t)(number * number * (number % 3 ? 1 : UINT64_C(123456789012)));
    value = number % 5 == 4 ? -value : value;
    if (number == 7)
        value = INT64_MIN;
    if (is_double)
        amount.f64 = (double)value / 7;
    else
        amount.i64 = value;
    return amount;
}

static void make_rows(struct pci_top *top, size_t n, int is_double, int is_plain, unsigned kinds)
{
    memset(top, 0, sizeof *top);
    top->is_double = is_double;
    top->count = n;
    top->items = pci_calloc(n + 1, sizeof *top->items);
    top->texts = is_plain ? pci_calloc(n + 1, sizeof *top->texts) : NULL;
    top->frames.frames = is_plain ? NULL : pci_calloc(n + 1, sizeof *top->frames.frames);
    for (size_t i = 0; i < n; i++) {
        /* Names may be equal, lines never are. */
        int size = snprintf(names[i], sizeof names[i], "f%llu",
                            (unsigned long long)(next_random() % (is_plain ? 1000000 : 20)));
        top->items[i].self = make_amount(is_double, kinds);
        top->items[i].total = make_amount(is_double, kinds);
        if (is_plain) {
            top->texts[i] = (pcol_str){names[i], (size_t)size};
            top->items[i].by.name = &top->texts[i];
        } else {
            top->frames.frames[i].name = (pcol_str){names[i], (size_t)size};
            top->frames.frames[i].line = (int64_t)i;
            top->items[i].by.frame = &top->frames.frames[i];
        }
    }
}

static double magnitude(int is_double, pcol_amount a)
{
    if (is_double)
        return a.f64 < 0 ? -a.f64 : a.f64;
    return a.i64 < 0 ? -(double)a.i64 : (double)a.i64;
}

/* Whether a may stand before b. */
static int may_precede(const struct pci_top *top, pcol_order by, const struct pci_top_row *a,
                       const struct pci_top_row *b)
{
    double self = magnitude(top->is_double, a->self) - magnitude(top->is_double, b->self);
    double total = magnitude(top->is_double, a->total) - magnitude(top->is_double, b->total);
    if (by == PCOL_ORDER_TOTAL && total != 0)
        return total > 0;
    if (by != PCOL_ORDER_NAME && self != 0)
        return self > 0;
    if (by != PCOL_ORDER_NAME && total != 0)
        return total > 0;
    int order = pci_str_compare(a->frame.name, b->frame.name);
    return order ? order < 0 : a->frame.line <= b->frame.line;
}

static void check(size_t n, int is_double, int is_plain, unsigned kinds, pcol_order by)
{
    struct pci_top *top = pci_malloc(1, sizeof *top);
    uint8_t seen[MOST] = {0};
    pcol_error err;
    make_rows(top, n, is_double, is_plain, kinds);
    cr_assert_eq(pci_top_sort(top, by, &err), PCOL_OK);
    for (size_t i = 0; i < n; i++) {
        struct pci_top_row a, b;
        cr_assert(!seen[top->order[i]]++, "%zu rows: one comes twice", n);
        if (i + 1 == n)
            break;
        pci_top_get(top, i, &a);
        pci_top_get(top, i + 1, &b);
        cr_assert(may_precede(top, by, &a, &b), "%zu rows by %d: row %zu", n, (int)by, i);
    }
    pci_top_free(top);
}

Test(top, rows_are_in_order)
{
    static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 17, 63, 64, 65, 100, 257, MOST};
    static const unsigned kinds[] = {1, 2, 9, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int how = 0; how < 4; how++)
                for (int by = PCOL_ORDER_SELF; by <= PCOL_ORDER_NAME; by++)
                    check(sizes[s], how & 1, how >> 1, kinds[k], (pcol_order)by);
}
