/*
 * label_keys.c - the keys of labels that queries read
 *
 * Tests: tests/cli/labels.test, tests/unit/test_perun.c, tests/web/numbers.mjs.
 */
#include "query/labels.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/sort.h"

size_t pci_label_keys_keep(struct pci_label_key *keys, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].kind == PCI_LABEL_VALUE)
            return 0;
        if (keys[i].column && keys[i].kind != PCI_LABEL_STACK && keys[i].kind != PCI_LABEL_RSTACK)
            keys[kept++] = keys[i];
    }
    return kept;
}

static int by_key(const void *a, const void *b, const void *context)
{
    const struct pci_label_key *first = a, *second = b;
    (void)context;
    return pci_str_compare(first->key, second->key);
}

/* Lists each name once; sorts `all`. */
static pcol_status list_keys(struct pci_label_key *all, size_t all_count, pcol_str *keys,
                             size_t capacity, size_t *count, pcol_error *err)
{
    PCI_TRY(pci_sort(all, all_count, sizeof *all, by_key, NULL, err));
    for (size_t first = 0, next; first < all_count; first = next) {
        pcol_str key = all[first].key;
        for (next = first + 1; next < all_count && pci_str_same(all[next].key, key);)
            next++;
        if (!pci_label_keys_keep(all + first, next - first))
            continue;
        if (*count < capacity)
            keys[*count] = key;
        ++*count;
    }
    return PCOL_OK;
}

pcol_status pcol_label_keys(const pcol_file *file, pcol_str *keys, size_t capacity, size_t *count,
                            pcol_error *err)
{
    struct pci_label_key *all = NULL;
    size_t all_count;
    PCI_REQUIRE(count, err);
    *count = 0;
    PCI_REQUIRE(file && (keys || !capacity), err);
    if (!pci_rows(file, "label_keys"))
        return PCOL_OK;
    pcol_status status = pci_label_keys_read(file, "samples", NULL, &all, &all_count, err);
    PCI_THEN(status, list_keys(all, all_count, keys, capacity, count, err));
    pci_free(all);
    return status;
}
