/*
 * write_unknown.c - restoration of unknown fields
 *
 * Unknown fields are members of a row's tree, named by their path in the row's message ("4.2.17":
 * field 17 of the third line of a location). The members of a tree are cached, sorted by message
 * for binary search: a sample may have many labels with unknown fields.
 */
#include "formats/pprof/write.h"

#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

struct pci_pprof_unknown_cache_field {
    pcol_str message; /* the path up to and including its last dot */
    uint64_t node;
};

/* Order by message, then by node. */
static int compare_fields(const void *left, const void *right)
{
    const struct pci_pprof_unknown_cache_field *a = left, *b = right;
    int sign = pci_str_compare(a->message, b->message);
    return sign ? sign : (a->node > b->node) - (a->node < b->node);
}

static pcol_status add_field(struct pci_pprof_unknown_cache *cache,
                             const struct pci_node_value *node, pcol_error *err)
{
    pcol_str message = node->key;
    if (node->tag != PCI_NODE_BYTES || !node->key.size)
        return PCOL_OK;
    while (message.size && message.data[message.size - 1] != '.')
        message.size--;
    if (message.size == node->key.size) /* ends in a dot: no field number */
        return PCOL_OK;
    PCI_TRY(PCI_GROW(cache->fields, cache->capacity, cache->count + 1, err));
    cache->fields[cache->count++] = (struct pci_pprof_unknown_cache_field){message, node->row};
    return PCOL_OK;
}

/* Load the fields of the tree at `root`, usually cached by the previous call. */
static pcol_status load_fields(struct pci_pprof_unknown_cache *cache,
                               const struct pci_node_reader *nodes, uint64_t root, pcol_error *err)
{
    struct pci_node_value node;
    uint64_t member;
    if (cache->is_valid && cache->root == root)
        return PCOL_OK;
    cache->is_valid = 0;
    cache->count = 0;
    PCI_TRY(pci_nodes_first(nodes, root, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(nodes, member, &node, err));
        PCI_TRY(add_field(cache, &node, err));
        PCI_TRY(pci_nodes_next(nodes, root, &member, err));
    }
    if (cache->count)
        qsort(cache->fields, cache->count, sizeof *cache->fields, compare_fields);
    cache->is_valid = 1;
    cache->root = root;
    return PCOL_OK;
}

pcol_status pci_pprof_append_unknown(struct pci_pprof_export *e, uint64_t root, const char *path,
                                     struct pci_strbuf *to, pcol_error *err)
{
    const pcol_str message = {path, strlen(path)};
    struct pci_pprof_unknown_cache *cache = &e->unknown_cache;
    struct pci_node_value node;
    PCI_TRY(load_fields(cache, &e->nodes, root, err));
    size_t at = 0, end = cache->count;
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        if (pci_str_compare(cache->fields[middle].message, message) < 0)
            at = middle + 1;
        else
            end = middle;
    }
    for (; at < cache->count && !pci_str_compare(cache->fields[at].message, message); at++) {
        PCI_TRY(pci_nodes_get(&e->nodes, cache->fields[at].node, &node, err));
        PCI_TRY(pci_strbuf_append(to, node.text.data, node.text.size, err));
    }
    return PCOL_OK;
}

void pci_pprof_unknown_cache_clear(struct pci_pprof_unknown_cache *cache)
{
    pci_free(cache->fields);
    *cache = (struct pci_pprof_unknown_cache){0};
}
