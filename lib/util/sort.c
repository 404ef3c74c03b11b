/*
 * sort.c - a stable sort that can be cancelled (sort.h)
 *
 * Merge sort by halves down to runs, which insertion sort sorts.
 * Tests: tests/unit/test_sort.c.
 */
#include "util/sort.h"

#include "util/alloc.h"
#include "util/control.h"

#include <string.h>

#define RUN 8u
#define STEP 1024u /* elements between reports of work */
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

/* Merges the sorted ranges [0, middle) and [middle, count). spare: for `middle` elements. */
static pcol_status merge(const struct sort *s, char *items, size_t middle, size_t count,
                         char *spare, pcol_error *err)
{
    const size_t size = s->size;
    const char *left = spare, *left_end = spare + middle * size;
    const char *right = items + middle * size, *right_end = items + count * size;
    memcpy(spare, items, middle * size);
    for (size_t step = 1; left < left_end && right < right_end; step++, items += size) {
        int is_right = s->compare(left, right, s->context) > 0;
        memcpy(items, is_right ? right : left, size);
        left += is_right ? 0 : size;
        right += is_right ? size : 0;
        if (step % STEP == 0)
            PCI_TRY(pci_work(STEP * PCI_ITEM_WORK, err));
    }
    memcpy(items, left, (size_t)(left_end - left)); /* the rest of the right is in place */
    return pci_work(count % STEP * PCI_ITEM_WORK, err);
}

/* Halves first: what is compared stays in the cache. Depth: 32 at most. spare: for half of them. */
static pcol_status sort_range(const struct sort *s, char *items, size_t count, char *spare,
                              pcol_error *err)
{
    size_t middle = count / 2;
    char *right = items + middle * s->size;
    if (count <= RUN) {
        sort_run(s, items, count);
        return PCOL_OK;
    }
    PCI_TRY(sort_range(s, items, middle, spare, err));
    PCI_TRY(sort_range(s, right, count - middle, spare, err));
    if (s->compare(right - s->size, right, s->context) <= 0)
        return pci_work(PCI_ITEM_WORK, err);
    return merge(s, items, middle, count, spare, err);
}

pcol_status pci_sort(void *items, size_t count, size_t size, pci_compare *compare,
                     const void *context, pcol_error *err)
{
    const struct sort s = {size, compare, context};
    char *spare;
    if (count <= RUN) {
        sort_run(&s, items, count);
        return PCOL_OK;
    }
    PCI_TRY(PCI_MALLOC(spare, count / 2 * size, err));
    pcol_status status = sort_range(&s, items, count, spare, err);
    pci_free(spare);
    return status;
}
