/*
 * write_unknown.c - fields that were not known when the profile was read, put back where they stood
 *
 * They are members of a row's tree, named by their path in the row's message ("4.2.17": field 17 of
 * the third line of a location). The members of one tree are looked through once and sorted by the
 * message that they lie in: a sample may have any number of labels with fields of their own.
 */
#include "formats/pprof/write.h"

#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

struct pci_pprof_unknown_kept_field {
    pcol_str message; /* the path up to its last dot, which is part of it */
    uint64_t node;
};

static int compare_text(pcol_str a, pcol_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int sign = size ? memcmp(a.data, b.data, size) : 0;
    return sign ? sign : (a.size > b.size) - (a.size < b.size);
}

/* By message, and in their order within one. */
static int compare(const void *left, const void *right)
{
    const struct pci_pprof_unknown_kept_field *a = left, *b = right;
    int sign = compare_text(a->message, b->message);
    return sign ? sign : (a->node > b->node) - (a->node < b->node);
}

static pcol_status add(struct pci_pprof_unknown_kept *kept, const struct pci_node_value *node,
                       pcol_error *err)
{
    pcol_str message = node->key;
    if (node->tag != PCI_NODE_BYTES || !node->key.size)
        return PCOL_OK;
    while (message.size && message.data[message.size - 1] != '.')
        message.size--;
    if (message.size == node->key.size) /* ends in a dot: names no field */
        return PCOL_OK;
    if (pci_grow((void **)&kept->fields, &kept->capacity, kept->count + 1, sizeof *kept->fields))
        return pci_fail_memory(err);
    kept->fields[kept->count++] = (struct pci_pprof_unknown_kept_field){message, node->row};
    return PCOL_OK;
}

/* The fields of the tree at `root`, which are mostly those of the call before. */
static pcol_status know(struct pci_pprof_unknown_kept *kept, const struct pci_node_reader *nodes,
                        uint64_t root, pcol_error *err)
{
    struct pci_node_value node;
    uint64_t member;
    if (kept->known && kept->root == root)
        return PCOL_OK;
    kept->known = 0;
    kept->count = 0;
    PCI_TRY(pci_nodes_first(nodes, root, &member, err));
    while (member != PCI_NO_NODE) {
        PCI_TRY(pci_nodes_get(nodes, member, &node, err));
        PCI_TRY(add(kept, &node, err));
        PCI_TRY(pci_nodes_next(nodes, root, &member, err));
    }
    if (kept->count)
        qsort(kept->fields, kept->count, sizeof *kept->fields, compare);
    kept->known = 1;
    kept->root = root;
    return PCOL_OK;
}

pcol_status pci_pprof_append_unknown(struct pci_pprof_export *e, uint64_t root, const char *path,
                                     struct pci_pprof_bytes *to, pcol_error *err)
{
    const pcol_str message = {path, strlen(path)};
    struct pci_pprof_unknown_kept *kept = &e->kept;
    struct pci_node_value node;
    PCI_TRY(know(kept, &e->nodes, root, err));
    size_t at = 0, end = kept->count;
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        if (compare_text(kept->fields[middle].message, message) < 0)
            at = middle + 1;
        else
            end = middle;
    }
    for (; at < kept->count && !compare_text(kept->fields[at].message, message); at++) {
        PCI_TRY(pci_nodes_get(&e->nodes, kept->fields[at].node, &node, err));
        if (pci_grow((void **)&to->data, &to->capacity, to->size + node.text.size, 1))
            return pci_fail_memory(err);
        memcpy(to->data + to->size, node.text.data, node.text.size);
        to->size += node.text.size;
    }
    return PCOL_OK;
}

void pci_pprof_unknown_kept_clear(struct pci_pprof_unknown_kept *kept)
{
    pci_free(kept->fields);
    *kept = (struct pci_pprof_unknown_kept){0};
}
