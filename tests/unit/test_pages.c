/*
 * test_pages.c - pages are given out once each, again after they were freed, and empty slabs go
 * back
 */
#include "util/alloc.h"
#include "util/page_pool.h"

#include <criterion/criterion.h>
#include <string.h>

enum { COUNT = 150 };

static size_t mapped(const struct pci_page_pool *pages)
{
    size_t n = 0;
    for (size_t i = 0; i < pages->slab_count; i++)
        n += pages->slabs[i].memory != NULL;
    return n;
}

Test(pages, each_is_given_out_once)
{
    struct pci_page_pool pages;
    uint8_t *page[COUNT];
    cr_assert_eq(pci_page_pool_init(&pages), 0);
    for (int i = 0; i < COUNT; i++) {
        page[i] = pci_page_pool_new(&pages);
        cr_assert_not_null(page[i]);
        memset(page[i], i, PCI_PAGE_BYTES);
    }
    for (int i = 0; i < COUNT; i++)
        for (size_t k = 0; k < PCI_PAGE_BYTES; k++)
            cr_assert_eq(page[i][k], (uint8_t)i);
    for (int i = 0; i < COUNT; i++)
        pci_page_pool_free(&pages, page[i]);
    pci_page_pool_clear(&pages);
}

Test(pages, few_take_no_slab_and_empty_slabs_go_back)
{
    struct pci_page_pool pages;
    uint8_t *page[COUNT];
    cr_assert_eq(pci_page_pool_init(&pages), 0);
    for (int i = 0; i < COUNT; i++) {
        page[i] = pci_page_pool_new(&pages);
        cr_assert_not_null(page[i]);
        if (i < 10)
            cr_assert_eq(mapped(&pages), 0);
    }
    size_t most = mapped(&pages);
    cr_assert_geq(most, 4);
    for (int i = COUNT; i-- > 20;)
        pci_page_pool_free(&pages, page[i]);
    cr_assert_leq(mapped(&pages), 2);
    /* What was freed comes again, and no more is mapped for it. */
    for (int i = 20; i < COUNT; i++)
        page[i] = pci_page_pool_new(&pages);
    cr_assert_eq(mapped(&pages), most);
    for (int i = 0; i < COUNT; i++)
        pci_page_pool_free(&pages, page[i]);
    pci_page_pool_trim(&pages);
    cr_assert_eq(mapped(&pages), 0);
    pci_page_pool_clear(&pages);
}

static int calls;

static int fail_late(void)
{
    return ++calls > 18;
}

/* Every slab keeps one page: they come together in one, the others go back, and nobody's bytes
 * change. */
Test(pages, few_pages_leave_their_slab)
{
    struct pci_page_pool pages;
    void *page[200];
    size_t kept = 0;
    cr_assert_eq(pci_page_pool_init(&pages), 0);
    for (size_t i = 0; i < 200; i++) {
        page[i] = pci_page_pool_new(&pages);
        memset(page[i], (int)i, PCI_PAGE_BYTES);
    }
    size_t most = mapped(&pages);
    cr_assert_geq(most, 4);
    for (size_t i = 0; i < 200; i++)
        if (i % 30 != 20)
            pci_page_pool_free(&pages, page[i]), page[i] = NULL;
    pci_page_pool_trim(&pages);
    cr_assert_geq(mapped(&pages), 4);
    for (size_t i = 0; i < 200; i++)
        if (page[i])
            page[i] = pci_page_pool_move(&pages, page[i]);
    pci_page_pool_trim(&pages);
    cr_assert_eq(mapped(&pages), 1);
    for (size_t i = 0; i < 200; i++) {
        const uint8_t *bytes = page[i];
        if (!bytes)
            continue;
        kept++;
        cr_assert_eq(bytes[0], (uint8_t)i);
        cr_assert_eq(bytes[PCI_PAGE_BYTES - 1], (uint8_t)i);
        pci_page_pool_free(&pages, page[i]);
    }
    cr_assert_eq(kept, 6);
    pci_page_pool_trim(&pages);
    cr_assert_eq(mapped(&pages), 0);
    pci_page_pool_clear(&pages);
}

Test(pages, memory_that_is_out_is_told)
{
    struct pci_page_pool pages;
    void *page[64];
    size_t count = 0;
    cr_assert_eq(pci_page_pool_init(&pages), 0);
    calls = 0;
    pci_alloc_hook = fail_late;
    while (count < 64 && (page[count] = pci_page_pool_new(&pages)))
        count++;
    pci_alloc_hook = NULL;
    cr_assert_geq(count, 16);
    while (count)
        pci_page_pool_free(&pages, page[--count]);
    pci_page_pool_free(&pages, NULL);
    pci_page_pool_clear(&pages);
}
