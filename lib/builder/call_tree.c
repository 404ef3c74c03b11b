/*
 * call_tree.c - the prefix tree of call stacks
 */
#include "builder/call_tree.h"

#include "util/alloc.h"

pcol_status pci_call_tree_init(struct pci_call_tree *tree, pcol_error *err)
{
    *tree = (struct pci_call_tree){0};
    if (pci_grow((void **)&tree->nodes, &tree->capacity, 64, sizeof *tree->nodes))
        return pci_fail_memory(err);
    tree->nodes[0] = (struct pci_node){0, 0, 0};
    tree->count = 1;
    return PCOL_OK;
}

void pci_call_tree_clear(struct pci_call_tree *tree)
{
    pci_free(tree->nodes);
    pci_free(tree->place);
    pci_free(tree->order);
    pci_hash_clear(&tree->hash);
    *tree = (struct pci_call_tree){0};
}

static pcol_status too_many(pcol_error *err)
{
    return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 nodes of call stacks");
}

static pcol_status add_node(struct pci_call_tree *tree, uint32_t parent, uint32_t group,
                            uint64_t hash, uint32_t *node, pcol_error *err)
{
    *node = 0;
    if (tree->count >= PCOL_NONE - 1)
        return too_many(err);
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
        return too_many(err);
    if (pci_grow((void **)&tree->nodes, &tree->capacity, first + count, sizeof *tree->nodes))
        return pci_fail_memory(err);
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
    const struct pci_node *behind = &tree->nodes[parent + 1];
    uint64_t hash = pci_call_tree_hash(tree->nodes[parent].hash, group);
    /* A stack is added from the root inwards, so a node's first child mostly stands behind it. Such
     * a child is found by its place, and needs no entry in the hash table: most nodes are such. The
     * node added last has no children, so all of a stack's nodes behind a new one are new too. */
    if (parent + 1 == tree->count)
        return add_node(tree, parent, group, hash, node, err);
    if (behind->parent == parent && behind->group == group) {
        *node = parent + 1;
        return PCOL_OK;
    }
    *node = pci_call_tree_find(tree, parent, group, hash);
    if (*node != PCI_HASH_NONE)
        return PCOL_OK;
    PCI_TRY(add_node(tree, parent, group, hash, node, err));
    return pci_hash_add(&tree->hash, hash, *node, err);
}

/* A node's place is behind its parent and behind the whole subtrees of its elder siblings. So the
 * sizes of all subtrees, added up from the last node to the first, give every place in one pass
 * from the first to the last: both touch a node and its parent, which mostly stands beside it. */
pcol_status pci_call_tree_finish(struct pci_call_tree *tree, pcol_error *err)
{
    size_t n = tree->count;
    pci_hash_clear(&tree->hash);
    tree->place = pci_malloc(n, 3 * sizeof *tree->place);
    if (!tree->place)
        return pci_fail_memory(err);
    uint32_t *size = tree->place + n, *next = tree->place + 2 * n;
    for (size_t i = 0; i < n; i++)
        size[i] = 1;
    for (size_t i = n; i-- > 1;)
        size[tree->nodes[i].parent] += size[i];
    tree->place[0] = 0;
    next[0] = 1; /* place of the next child */
    for (uint32_t i = 1; i < n; i++) {
        uint32_t *place = &next[tree->nodes[i].parent];
        tree->place[i] = *place;
        next[i] = *place + 1;
        *place += size[i];
    }
    /* From here on the nodes are read in order, many times. */
    for (uint32_t i = 0; i < n; i++) {
        const struct pci_node *from = &tree->nodes[i];
        size[tree->place[i]] = tree->place[from->parent];
        next[tree->place[i]] = from->group;
    }
    tree->parents = size;
    tree->groups = next;
    /* A merge of many profiles has most of its memory here: the nodes have said what they know. */
    pci_free(tree->nodes);
    tree->nodes = NULL;
    tree->capacity = 0;
    return PCOL_OK;
}

pcol_status pci_call_tree_order(struct pci_call_tree *tree, pcol_error *err)
{
    if (tree->order)
        return PCOL_OK;
    tree->order = pci_malloc(tree->count, sizeof *tree->order);
    if (!tree->order)
        return pci_fail_memory(err);
    for (uint32_t i = 0; i < tree->count; i++)
        tree->order[tree->place[i]] = i;
    return PCOL_OK;
}
