/*
 * tree_pair.c - one tree of the call trees of two profiles (tree_pair.h)
 */
#include "query/tree_pair.h"

#include "query/calltree.h"
#include "util/alloc.h"
#include "util/control.h"

#include <string.h>

static pcol_status add_nodes(struct pci_pair *pair, const struct pci_calltree *tree, int side,
                             int is_double, struct pci_text_memo *long_names, pcol_error *err)
{
    uint32_t count = tree->count;
    pci_free(pair->pair_node[side]);
    uint32_t *pair_node = pair->pair_node[side] = pci_calloc((size_t)count + 1, sizeof *pair_node);
    if (!pair_node)
        return pci_fail_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        struct pci_calltree_node node = tree->nodes[i];
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        if (i) {
            pcol_str name = tree->frames.frames[node.frame].name;
            uint32_t string;
            PCI_TRY(pci_string_pool_intern_stored(&pair->names, long_names, name, &string, err));
            PCI_TRY(pci_call_tree_child(&pair->tree, pair_node[node.parent], string, &pair_node[i],
                                        err));
        }
        size_t old_capacity = pair->capacity;
        PCI_TRY(PCI_GROW(pair->nodes, pair->capacity, pair->tree.count, err));
        memset(pair->nodes + old_capacity, 0,
               (pair->capacity - old_capacity) * sizeof *pair->nodes);
        struct pci_sides *sums = &pair->nodes[pair_node[i]];
        if (pci_amount_add(is_double, &sums->self[side], node.self) ||
            pci_amount_add(is_double, &sums->total[side], node.total))
            return pci_fail(err, PCOL_E_LIMIT, "a sum of frames does not fit into 64 bits");
        sums->in[side] = 1;
    }
    return PCOL_OK;
}

pcol_status pci_tree_pair_add(struct pci_pair *pair, const struct pci_calltree *tree, int side,
                              int is_double, pcol_error *err)
{
    struct pci_text_memo long_names = {0};
    pcol_status status = add_nodes(pair, tree, side, is_double, &long_names, err);
    pci_text_memo_clear(&long_names);
    return status;
}

pcol_status pci_tree_pair_init(struct pci_pair *pair, pcol_error *err)
{
    memset(pair, 0, sizeof *pair);
    return pci_call_tree_init(&pair->tree, err);
}

pcol_status pci_tree_pair_new(const struct pci_calltree *base, const struct pci_calltree *other,
                              const int is_double[2], struct pci_pair *pair, pcol_error *err)
{
    pcol_status status = pci_tree_pair_init(pair, err);
    PCI_THEN(status, pci_tree_pair_add(pair, base, 0, is_double[0], err));
    PCI_THEN(status, pci_tree_pair_add(pair, other, 1, is_double[1], err));
    if (status != PCOL_OK)
        pci_tree_pair_clear(pair);
    return status;
}

void pci_tree_pair_clear(struct pci_pair *pair)
{
    pci_string_pool_clear(&pair->names);
    pci_call_tree_clear(&pair->tree);
    pci_free(pair->nodes);
    pci_free(pair->pair_node[0]);
    pci_free(pair->pair_node[1]);
    memset(pair, 0, sizeof *pair);
}
