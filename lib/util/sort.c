/*
 * sort.c - a stable sort that can be cancelled (sort.h)
 *
 * Bottom-up merge sort of runs that insertion sort has sorted.
 * Tests: tests/unit/test_sort.c.
 */
#include "util/sort.h"

#include "util/alloc.h"
#include "util/control.h"

#include <string.h>

#define RUN 8u
#define STEP 1024u        /* elements between reports of work */
#define COMPARE_WORK 128u /* bytes of work for an element of a pass (util/control.h) */
#define MAX_ELEMENT 256u

struct sort {
    size_t size;
    pci_compare *compare;
    const void *context;
};

static void sort_run(const struct sort *s, char *items, size_t count)
{
    char element[MAX_ELEMENT];
    const size_t size = s->size;
    for (size_t i = 1; i < count; i++) {
        size_t to = i;
        while (to && s->compare(items + (to - 1) * size, items + i * size, s->context) > 0)
            to--;
        if (to == i)
            continue;
        memcpy(element, items + i * size, size);
        memmove(items + (to + 1) * size, items + to * size, (i - to) * size);
        memcpy(items + to * size, element, size);
    }
}

static pcol_status sort_runs(const struct sort *s, char *items, size_t count, pcol_error *err)
{
    for (size_t start = 0; start < count; start += RUN) {
        if (start % STEP == 0)
            PCI_TRY(pci_work(STEP * COMPARE_WORK, err));
        sort_run(s, items + start * s->size, count - start < RUN ? count - start : RUN);
    }
    return PCOL_OK;
}

/* Merges the sorted ranges [0, middle) and [middle, count) into `to`. */
static pcol_status merge(const struct sort *s, const char *from, size_t middle, size_t count,
                         char *to, pcol_error *err)
{
    const size_t size = s->size;
    const char *left = from, *left_end = from + middle * size, *right = left_end;
    const char *right_end = from + count * size;
    for (size_t step = 1; left < left_end && right < right_end; step++, to += size) {
        int is_right = s->compare(left, right, s->context) > 0;
        memcpy(to, is_right ? right : left, size);
        left += is_right ? 0 : size;
        right += is_right ? size : 0;
        if (step % STEP == 0)
            PCI_TRY(pci_work(STEP * COMPARE_WORK, err));
    }
    memcpy(to, left, (size_t)(left_end - left));
    memcpy(to + (left_end - left), right, (size_t)(right_end - right));
    return pci_work(count % STEP * COMPARE_WORK, err);
}

/* *sorted: the buffer with the result. */
static pcol_status merge_runs(const struct sort *s, char *items, char *spare, size_t count,
                              char **sorted, pcol_error *err)
{
    char *from = items, *to = spare;
    for (size_t run = RUN; run < count; run *= 2) {
        for (size_t start = 0; start < count; start += 2 * run) {
            size_t left = count - start, n = left < 2 * run ? left : 2 * run;
            PCI_TRY(
                merge(s, from + start * s->size, n < run ? n : run, n, to + start * s->size, err));
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    *sorted = from;
    return PCOL_OK;
}

pcol_status pci_sort(void *items, size_t count, size_t size, pci_compare *compare,
                     const void *context, pcol_error *err)
{
    const struct sort s = {size, compare, context};
    char *spare, *sorted;
    if (count <= RUN) {
        if (count > 1)
            sort_run(&s, items, count);
        return PCOL_OK;
    }
    PCI_TRY(sort_runs(&s, items, count, err));
    PCI_TRY(PCI_MALLOC(spare, count * size, err));
    pcol_status status = merge_runs(&s, items, spare, count, &sorted, err);
    if (status == PCOL_OK && sorted != items)
        memcpy(items, sorted, count * size);
    pci_free(spare);
    return status;
}
