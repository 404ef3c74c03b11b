/*
 * call_tree.c - prefix tree of call stacks: insertion and pre-order numbering
 */
#include "builder/call_tree.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/import_budget.h"

pcol_status pci_call_tree_init(struct pci_call_tree *tree, pcol_error *err)
{
    *tree = (struct pci_call_tree){0};
    PCI_TRY(PCI_GROW(tree->nodes, tree->capacity, 64, err));
    tree->nodes[0] = (struct pci_node){0, 0, 0};
    tree->count = 1;
    return PCOL_OK;
}

void pci_call_tree_clear(struct pci_call_tree *tree)
{
    pci_free(tree->nodes);
    pci_free(tree->preorder);
    pci_free(tree->order);
    pci_hash_clear(&tree->hash);
    *tree = (struct pci_call_tree){0};
}

static pcol_status fail_too_many(pcol_error *err)
{
    return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 nodes of call stacks");
}

static pcol_status add_node(struct pci_call_tree *tree, uint32_t parent, uint32_t group,
                            uint64_t hash, uint32_t *node, pcol_error *err)
{
    *node = 0;
    if (tree->count >= PCOL_NONE - 1)
        return fail_too_many(err);
    if (tree->count == tree->capacity &&
        pci_grow((void **)&tree->nodes, &tree->capacity, tree->count + 1, sizeof *tree->nodes))
        return pci_fail_memory(err);
    tree->nodes[tree->count] = (struct pci_node){parent, group, (uint32_t)(hash >> 32)};
    *node = (uint32_t)tree->count++;
    return PCOL_OK;
}

pcol_status pci_call_tree_append(struct pci_call_tree *tree, const uint32_t *groups, size_t count,
                                 pcol_error *err)
{
    size_t first = tree->count;
    if (count > PCOL_NONE - 1 - first)
        return fail_too_many(err);
    PCI_TRY(PCI_GROW(tree->nodes, tree->capacity, first + count, err));
    uint32_t hash = tree->nodes[first - 1].hash;
    for (size_t i = 0; i < count; i++) {
        uint32_t group = groups[count - 1 - i];
        hash = (uint32_t)(pci_call_tree_hash(hash, group) >> 32);
        tree->nodes[first + i] = (struct pci_node){(uint32_t)(first + i - 1), group, hash};
    }
    tree->count += count;
    return PCOL_OK;
}

pcol_status pci_call_tree_child(struct pci_call_tree *tree, uint32_t parent, uint32_t group,
                                uint32_t *node, pcol_error *err)
{
    const struct pci_node *following = &tree->nodes[parent + 1], *next;
    uint64_t hash = pci_call_tree_hash(tree->nodes[parent].hash, group);
    /* Stacks are inserted from the root, so that a node's first child usually follows it directly.
     * Such a child needs no hash entry, and most nodes are such. The node added last has no
     * children, so that all nodes below a new one are new, too. */
    if (parent + 1 == tree->count)
        return add_node(tree, parent, group, hash, node, err);
    if (following->parent == parent && following->group == group) {
        *node = tree->last = parent + 1;
        return PCOL_OK;
    }
    /* Merged profiles mostly have their nodes in one order: try the one after the last. */
    next = &tree->nodes[tree->last + 1];
    if (tree->last + 1 < tree->count && next->parent == parent && next->group == group) {
        *node = ++tree->last;
        return PCOL_OK;
    }
    *node = pci_call_tree_find(tree, parent, group, hash);
    if (*node != PCI_HASH_NONE) {
        tree->last = *node;
        return PCOL_OK;
    }
    PCI_TRY(add_node(tree, parent, group, hash, node, err));
    return pci_hash_add(&tree->hash, hash, *node, err);
}

/* The preorder index of a node follows its parent and the subtrees of its earlier siblings. Subtree
 * sizes, summed from the last node to the first, yield all indices in one pass from the first to
 * the last. */
pcol_status pci_call_tree_finish(struct pci_call_tree *tree, pcol_error *err)
{
    size_t n = tree->count;
    PCI_TRY(pci_budget_check_stacks(pci_thread_budget, n, err));
    pci_hash_clear(&tree->hash);
    tree->preorder = pci_malloc(n, 3 * sizeof *tree->preorder);
    if (!tree->preorder)
        return pci_fail_memory(err);
    uint32_t *size = tree->preorder + n, *next = tree->preorder + 2 * n;
    for (size_t i = 0; i < n; i++)
        size[i] = 1;
    for (size_t i = n; i-- > 1;)
        size[tree->nodes[i].parent] += size[i];
    tree->preorder[0] = 0;
    next[0] = 1; /* by node: preorder index of its next child */
    for (uint32_t i = 1; i < n; i++) {
        uint32_t *child = &next[tree->nodes[i].parent];
        tree->preorder[i] = *child;
        next[i] = *child + 1;
        *child += size[i];
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    }
    /* From here on, only the arrays by preorder index are needed. */
    for (uint32_t i = 0; i < n; i++) {
        const struct pci_node *node = &tree->nodes[i];
        size[tree->preorder[i]] = tree->preorder[node->parent];
        next[tree->preorder[i]] = node->group;
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    }
    tree->parents = size;
    tree->groups = next;
    /* In a merge of many profiles the nodes take most of the memory. */
    pci_free(tree->nodes);
    tree->nodes = NULL;
    tree->capacity = 0;
    return PCOL_OK;
}

pcol_status pci_call_tree_order(struct pci_call_tree *tree, pcol_error *err)
{
    if (tree->order)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(tree->order, tree->count, err));
    for (uint32_t i = 0; i < tree->count; i++)
        tree->order[tree->preorder[i]] = i;
    return PCOL_OK;
}
