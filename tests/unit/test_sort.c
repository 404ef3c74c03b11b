/*
 * test_sort.c - pci_sort() against insertion into a list: order, stability, context, failures
 */
#include "util/sort.h"

#include "util/alloc.h"
#include "util/control.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#define MAX_COUNT 3000u
#define MAX_SIZE 256u

static unsigned char items[MAX_COUNT * MAX_SIZE], expected[MAX_COUNT * MAX_SIZE];

/* Elements are a key of one byte and a sequence of bytes that tells equal elements apart. */
static int compare(const void *a, const void *b, const void *context)
{
    int x = *(const unsigned char *)a, y = *(const unsigned char *)b;
    return *(const int *)context * (x - y);
}

static void fill(size_t count, size_t size, unsigned keys)
{
    uint64_t state = count * 31 + size * 7 + keys;
    for (size_t i = 0; i < count * size; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        items[i] = (unsigned char)(state >> 56);
        if (i % size == 0)
            items[i] = (unsigned char)(items[i] % keys);
    }
}

/* Distribution by key keeps the order of equal ones. */
static void sort_simply(size_t count, size_t size, int direction)
{
    size_t to = 0;
    for (unsigned k = 0; k < 256; k++) {
        unsigned key = direction > 0 ? k : 255 - k;
        for (size_t i = 0; i < count; i++) {
            if (items[i * size] != key)
                continue;
            memcpy(expected + to * size, items + i * size, size);
            to++;
        }
    }
}

Test(sort, order_is_that_of_a_stable_distribution)
{
    static const size_t counts[] = {0, 1, 2, 7, 8, 9, 16, 17, 63, 100, 1024, 1025, 2049, 3000};
    static const size_t sizes[] = {1, 2, 4, 12, 24, 100, 256};
    static const unsigned keys[] = {1, 3, 256};
    pcol_error err;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t k = 0; k < 6; k++) {
                int direction = k % 2 ? 1 : -1;
                fill(counts[c], sizes[s], keys[k / 2]);
                sort_simply(counts[c], sizes[s], direction);
                cr_assert_eq(pci_sort(items, counts[c], sizes[s], compare, &direction, &err),
                             PCOL_OK);
                cr_assert_eq(memcmp(items, expected, counts[c] * sizes[s]), 0,
                             "%zu elements of %zu bytes", counts[c], sizes[s]);
            }
}

Test(sort, sorted_and_descending_orders)
{
    const int direction = 1;
    pcol_error err;
    for (int descending = 0; descending < 2; descending++) {
        for (size_t i = 0; i < MAX_COUNT; i++)
            items[i] = (unsigned char)(descending ? 255 - i / 12 : i / 12);
        cr_assert_eq(pci_sort(items, MAX_COUNT, 1, compare, &direction, &err), PCOL_OK);
        for (size_t i = 1; i < MAX_COUNT; i++)
            cr_assert_leq(items[i - 1], items[i]);
    }
}

static int fail_allocation(void)
{
    return 1;
}

Test(sort, without_memory_it_fails_beyond_a_run)
{
    const int direction = 1;
    pcol_error err;
    fill(1000, 4, 256);
    pci_alloc_hook = fail_allocation;
    cr_expect_eq(pci_sort(items, 1000, 4, compare, &direction, &err), PCOL_E_NO_MEMORY);
    cr_expect_eq(pci_sort(items, 8, 4, compare, &direction, &err), PCOL_OK);
    pci_alloc_hook = NULL;
}

struct stop {
    unsigned calls, cancel_at;
};

static int stop_at(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct stop *stop = context;
    (void)phase;
    (void)done;
    (void)total;
    return ++stop->calls == stop->cancel_at;
}

/* Cancelled at each call of progress in turn until it succeeds. */
Test(sort, can_be_cancelled_throughout)
{
    static uint32_t numbers[40000];
    const int direction = 1;
    unsigned cancelled = 0;
    for (pcol_status status = PCOL_E_CANCELLED; status != PCOL_OK;) {
        struct stop stop = {0, cancelled + 1};
        pcol_control control = PCOL_INIT(pcol_control);
        struct pci_control scope;
        pcol_error err;
        control.progress = stop_at;
        control.context = &stop;
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            numbers[i] = (uint32_t)(i * 2654435761u);
        cr_assert_eq(pci_control_init(&scope, &control, "sort", &err), PCOL_OK);
        PCI_CONTROLLED(&scope, status,
                       pci_sort(numbers, sizeof numbers / sizeof *numbers, sizeof *numbers, compare,
                                &direction, &err),
                       &err);
        if (status == PCOL_OK)
            break;
        cr_assert_eq(status, PCOL_E_CANCELLED);
        cancelled++;
    }
    cr_expect_geq(cancelled, 20);
}
