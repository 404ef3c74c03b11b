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
    for (size_t i = 0; i < count; i++)
        if (keys[i].column && keys[i].kind != PCI_LABEL_STACK && keys[i].kind != PCI_LABEL_RSTACK)
            keys[kept++] = keys[i];
    return kept;
}

static int by_place(const void *a, const void *b, const void *context)
{
    const pcol_str *first = &((const struct pci_label_key *)a)->key,
                   *second = &((const struct pci_label_key *)b)->key;
    (void)context;
    int order = ((uintptr_t)first->data > (uintptr_t)second->data) -
                ((uintptr_t)first->data < (uintptr_t)second->data);
    return order ? order : (first->size > second->size) - (first->size < second->size);
}

static int by_text(const void *a, const void *b, const void *context)
{
    (void)context;
    return pci_str_compare(*(const pcol_str *)a, *(const pcol_str *)b);
}

/* Lists each name once; sorts `all`. Names are strings of the file: long ones may be repeated. */
static pcol_status list_names(struct pci_label_key *all, size_t all_count, pcol_str *names,
                              size_t *count, pcol_error *err)
{
    PCI_TRY(pci_sort(all, all_count, sizeof *all, by_place, NULL, err));
    for (size_t first = 0, next; first < all_count; first = next) {
        pcol_str name = all[first].key;
        for (next = first + 1; next < all_count && pci_str_same(all[next].key, name);)
            next++;
        if (pci_label_keys_keep(all + first, next - first))
            names[(*count)++] = name;
    }
    return pci_sort(names, *count, sizeof *names, by_text, NULL, err);
}

pcol_status pcol_label_keys(const pcol_file *file, pcol_str *keys, size_t capacity, size_t *count,
                            pcol_error *err)
{
    struct pci_label_key *all = NULL;
    pcol_str *names = NULL;
    size_t all_count;
    PCI_REQUIRE(count, err);
    *count = 0;
    PCI_REQUIRE(file && (keys || !capacity), err);
    if (!pci_rows(file, "label_keys"))
        return PCOL_OK;
    pcol_status status = pci_label_keys_read(file, "samples", NULL, &all, &all_count, err);
    PCI_THEN(status, PCI_MALLOC(names, all_count + 1, err));
    PCI_THEN(status, list_names(all, all_count, names, count, err));
    for (size_t i = 0; i < *count && i < capacity && status == PCOL_OK; i++)
        keys[i] = names[i];
    pci_free(names);
    pci_free(all);
    return status;
}
