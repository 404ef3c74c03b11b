/*
 * made_tree.c - trees that windows make of a view, one node at a time
 *
 * Inwards (flame graph, callees), a made node is a list of nodes of the view's tree with the same
 * frame; its children are their children, grouped by frame. Outwards (inverted, callers), it is a
 * list of pairs (node, origin): the weight of the origin has come outwards to the node. Different
 * origins never meet in one node, since the path inwards from the node is the same for all, so the
 * pairs of a node are divided among its children by a stable counting sort in place: a tree takes 8
 * bytes for each origin whatever its depth. Tests: tests/unit/test_view.c.
 */
#include "query/made_tree.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/sort.h"

#include <string.h>

#define MAX_STEPS (UINT64_C(1) << 28) /* limit of pairs moved outwards: some seconds */
#define KEPT_SCRATCH 65536u           /* larger scratch memory is released after use */
#define FREE_NODES (UINT64_C(1) << 21)
#define NODES_PER_NODE 2u

static int is_outwards(const struct pci_made_tree *tree)
{
    return tree->kind == PCOL_VIEW_INVERTED || tree->kind == PCOL_VIEW_CALLERS;
}

static uint32_t get_entry(const struct pci_made_tree *tree, const struct pci_made *made, uint32_t i)
{
    return tree->kind == PCOL_VIEW_FLAME ? made->first : tree->entries[made->first + i];
}

/* ---- sums; none can overflow: the magnitudes of all weights have a sum */

/* Adds a node of the tree with its descendants. */
static void add_inwards(const pcol_view *view, struct pci_made *made, uint32_t node)
{
    for (int s = 0; s < (view->in ? 2 : 1); s++) {
        const struct pci_view_side *side = &view->side[s];
        (void)pci_amount_add(side->is_double, &made->total[s], side->total[node]);
        (void)pci_amount_add(side->is_double, &made->self[s], side->self[node]);
    }
    made->width += pci_view_width(view, node);
    made->in |= pci_view_in(view, node);
}

/* Adds an origin. whole: with its descendants (callers). ends: the outermost frame is reached. */
static void add_origin(const pcol_view *view, struct pci_made *made, uint32_t origin, int whole,
                       int ends)
{
    for (int s = 0; s < (view->in ? 2 : 1); s++) {
        const struct pci_view_side *side = &view->side[s];
        pcol_amount weight = whole ? side->total[origin] : side->self[origin];
        (void)pci_amount_add(side->is_double, &made->total[s], weight);
        if (ends)
            (void)pci_amount_add(side->is_double, &made->self[s], weight);
        if (!whole && view->in && !pci_amount_is_zero(side->is_double, weight))
            made->in |= (uint8_t)(1 << s);
    }
    made->width += whole ? pci_view_width(view, origin) : pci_view_own(view, origin);
    if (whole || !view->in)
        made->in |= pci_view_in(view, origin);
}

/* ---- nodes */

/* Outwards, a tree can have the square of the nodes of the view. A node takes up to 300 bytes with
 * its box and its part of an answer of the page. */
static int is_full(const pcol_view *view, const struct pci_made_tree *tree)
{
    uint64_t most = FREE_NODES + NODES_PER_NODE * (uint64_t)view->node_count;
    return tree->count >= most || tree->count >= PCOL_NONE - 1;
}

static pcol_status make_node(const pcol_view *view, struct pci_made_tree *tree, uint32_t frame,
                             uint32_t parent, pcol_error *err)
{
    if (is_full(view, tree))
        return pci_fail(err, PCOL_E_LIMIT,
                        "the window has more than %llu nodes; give a width or a depth",
                        (unsigned long long)tree->count);
    PCI_TRY(PCI_GROW(tree->nodes, tree->capacity, tree->count + 1, err));
    tree->nodes[tree->count++] =
        (struct pci_made){.frame = frame,
                          .parent = parent,
                          .depth = parent == PCOL_NONE ? 0 : tree->nodes[parent].depth + 1};
    return PCOL_OK;
}

/* The child of this frame, made if there is none yet. */
static pcol_status get_child(pcol_view *view, struct pci_made_tree *tree, uint32_t parent,
                             uint32_t frame, struct pci_made **child, pcol_error *err)
{
    uint32_t *number = &view->child_of_frame[frame];
    if (*number == PCOL_NONE) {
        PCI_TRY(make_node(view, tree, frame, parent, err));
        *number = (uint32_t)tree->count - 1;
    }
    *child = &tree->nodes[*number];
    return PCOL_OK;
}

/* Gives the children ranges of entries from `first` on; each `first` is then its next entry. */
static void divide_entries(struct pci_made_tree *tree, size_t first_child, uint32_t first)
{
    for (size_t i = first_child; i < tree->count; i++) {
        tree->nodes[i].first = first;
        first += tree->nodes[i].count;
    }
}

/* ---- inwards */

static pcol_status count_callees(pcol_view *view, struct pci_made_tree *tree, uint32_t node,
                                 uint64_t *found, pcol_error *err)
{
    struct pci_made *child;
    *found = 0;
    for (uint32_t i = 0; i < tree->nodes[node].count; i++) {
        uint32_t entry = get_entry(tree, &tree->nodes[node], i);
        for (uint32_t callee = entry + 1; callee < view->end[entry]; callee = view->end[callee]) {
            if (!(pci_view_width(view, callee) > 0))
                continue;
            PCI_TRY(get_child(view, tree, node, view->node_frame[callee], &child, err));
            add_inwards(view, child, callee);
            child->first = callee;
            child->count++;
            ++*found;
        }
        PCI_TRY(pci_work(sizeof *child, err));
    }
    return PCOL_OK;
}

static pcol_status expand_inwards(pcol_view *view, struct pci_made_tree *tree, uint32_t node,
                                  pcol_error *err)
{
    size_t first_child = tree->count;
    uint64_t found;
    PCI_TRY(count_callees(view, tree, node, &found, err));
    if (tree->kind == PCOL_VIEW_FLAME)
        return PCOL_OK;
    if (tree->entry_count + found > PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "the window has more than 4294967295 entries");
    PCI_TRY(
        PCI_GROW(tree->entries, tree->entry_capacity, (size_t)(tree->entry_count + found), err));
    divide_entries(tree, first_child, (uint32_t)tree->entry_count);
    tree->entry_count += found;
    for (uint32_t i = 0; i < tree->nodes[node].count; i++) {
        uint32_t entry = tree->entries[tree->nodes[node].first + i];
        for (uint32_t callee = entry + 1; callee < view->end[entry]; callee = view->end[callee])
            if (pci_view_width(view, callee) > 0)
                tree->entries[tree->nodes[view->child_of_frame[view->node_frame[callee]]].first++] =
                    callee;
    }
    return PCOL_OK;
}

/* ---- outwards */

/* Moves the entries of a node outwards into view->scratch, without those that are at the root, and
 * counts them by frame. The root of the inverted tree is its innermost frames' callee: its entries
 * do not move. */
static pcol_status count_callers(pcol_view *view, struct pci_made_tree *tree, uint32_t node,
                                 size_t *kept, pcol_error *err)
{
    int whole = tree->kind == PCOL_VIEW_CALLERS, stays = !whole && node == 0;
    uint32_t count = tree->nodes[node].count, first = tree->nodes[node].first;
    struct pci_made *child;
    *kept = 0;
    tree->steps += count;
    if (tree->steps > MAX_STEPS)
        return pci_fail(err, PCOL_E_LIMIT,
                        "the stacks are too deep for this window; give a width or a depth");
    PCI_TRY(PCI_GROW(view->scratch, view->scratch_capacity, 2 * (size_t)count, err));
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t next = stays ? tree->entries[i] : view->parent[tree->entries[i]];
        if (!next)
            continue;
        PCI_TRY(get_child(view, tree, node, view->node_frame[next], &child, err));
        add_origin(view, child, tree->origins[i], whole, !view->parent[next]);
        child->count++;
        view->scratch[2 * *kept] = next;
        view->scratch[2 * (*kept)++ + 1] = tree->origins[i];
        if (i % PCI_BATCH == 0)
            PCI_TRY(pci_work(PCI_BATCH * sizeof(uint64_t), err));
    }
    return PCOL_OK;
}

static pcol_status expand_outwards(pcol_view *view, struct pci_made_tree *tree, uint32_t node,
                                   pcol_error *err)
{
    size_t first_child = tree->count, kept;
    PCI_TRY(count_callers(view, tree, node, &kept, err));
    divide_entries(tree, first_child, tree->nodes[node].first);
    for (size_t i = 0; i < kept; i++) {
        uint32_t at = view->scratch[2 * i];
        struct pci_made *child = &tree->nodes[view->child_of_frame[view->node_frame[at]]];
        tree->entries[child->first] = at;
        tree->origins[child->first++] = view->scratch[2 * i + 1];
    }
    if (view->scratch_capacity > KEPT_SCRATCH) {
        pci_free(view->scratch);
        view->scratch = NULL;
        view->scratch_capacity = 0;
    }
    return PCOL_OK;
}

/* ---- order of siblings */

struct sort_key {
    uint64_t keys[2]; /* descending */
    uint32_t rank;
    uint32_t index;
};

static int compare_keys(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct sort_key *a = pa, *b = pb;
    for (int s = 0; s < 2; s++)
        if (a->keys[s] != b->keys[s])
            return a->keys[s] > b->keys[s] ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static pcol_status sort_children(const pcol_view *view, struct pci_made_tree *tree,
                                 size_t first_child, pcol_error *err)
{
    size_t count = tree->count - first_child;
    struct pci_made *made = tree->nodes + first_child, *sorted = NULL;
    struct sort_key *keys = NULL;
    if (count < 2)
        return PCOL_OK;
    pcol_status status = PCI_MALLOC(sorted, count, err);
    PCI_THEN(status, PCI_MALLOC(keys, count, err));
    for (size_t i = 0; status == PCOL_OK && i < count; i++) {
        keys[i] = (struct sort_key){.rank = view->rank[made[i].frame], .index = (uint32_t)i};
        for (int s = 0; tree->order != PCOL_ORDER_NAME && s < 2; s++)
            keys[i].keys[s] = pci_amount_sort_key(view->side[s].is_double, made[i].total[s]);
    }
    PCI_THEN(status, pci_sort(keys, count, sizeof *keys, compare_keys, NULL, err));
    if (status == PCOL_OK) {
        memcpy(sorted, made, count * sizeof *made);
        for (size_t i = 0; i < count; i++)
            made[i] = sorted[keys[i].index];
    }
    pci_free(sorted);
    pci_free(keys);
    return status;
}

/* Turns the scratch state of the children into their final one. */
static pcol_status finish_children(pcol_view *view, struct pci_made_tree *tree, uint32_t node,
                                   size_t first_child, pcol_error *err)
{
    for (size_t i = first_child; i < tree->count; i++) {
        view->child_of_frame[tree->nodes[i].frame] = PCOL_NONE;
        if (tree->kind != PCOL_VIEW_FLAME)
            tree->nodes[i].first -= tree->nodes[i].count;
    }
    PCI_TRY(sort_children(view, tree, first_child, err));
    double start = tree->nodes[node].start;
    for (size_t i = first_child; i < tree->count; i++) {
        tree->nodes[i].start = start;
        start += tree->nodes[i].width;
    }
    tree->nodes[node].first_child = (uint32_t)first_child;
    tree->nodes[node].child_count = (uint32_t)(tree->count - first_child);
    tree->nodes[node].is_expanded = 1;
    return PCOL_OK;
}

pcol_status pci_made_tree_expand(pcol_view *view, struct pci_made_tree *tree, uint32_t node,
                                 pcol_error *err)
{
    size_t first_child = tree->count;
    if (tree->nodes[node].is_expanded)
        return PCOL_OK;
    pcol_status status = is_outwards(tree) ? expand_outwards(view, tree, node, err)
                                           : expand_inwards(view, tree, node, err);
    PCI_THEN(status, finish_children(view, tree, node, first_child, err));
    if (status == PCOL_OK)
        return PCOL_OK;
    /* The entries of a node that failed may have moved: the tree is made again. */
    for (size_t i = first_child; i < tree->count; i++)
        view->child_of_frame[tree->nodes[i].frame] = PCOL_NONE;
    tree->is_broken = 1;
    return status;
}

/* ---- roots */

static pcol_status add_entry(struct pci_made_tree *tree, uint32_t node, pcol_error *err)
{
    size_t capacity = tree->entry_capacity;
    if (tree->entry_count == tree->entry_capacity) {
        PCI_TRY(PCI_GROW(tree->entries, tree->entry_capacity, tree->entry_count + 64, err));
        size_t own = capacity;
        if (is_outwards(tree))
            PCI_TRY(PCI_GROW(tree->origins, own, tree->entry_capacity, err));
    }
    tree->entries[tree->entry_count] = node;
    if (is_outwards(tree))
        tree->origins[tree->entry_count] = node;
    tree->entry_count++;
    return PCOL_OK;
}

/* All nodes in which stacks end. */
static pcol_status list_ends(const pcol_view *view, struct pci_made_tree *tree, pcol_error *err)
{
    add_inwards(view, &tree->nodes[0], 0);
    for (uint32_t i = 1; i < view->node_count; i++)
        if (pci_view_own(view, i) > 0)
            PCI_TRY(add_entry(tree, i, err));
    return pci_work((uint64_t)view->node_count * sizeof *view->parent, err);
}

/* The outermost nodes of a frame. */
static pcol_status list_frame(const pcol_view *view, struct pci_made_tree *tree, pcol_error *err)
{
    for (uint32_t i = 1; i < view->node_count;) {
        if (view->node_frame[i] != tree->frame || !(pci_view_width(view, i) > 0)) {
            i++;
            continue;
        }
        if (tree->kind == PCOL_VIEW_CALLEES)
            add_inwards(view, &tree->nodes[0], i);
        else
            add_origin(view, &tree->nodes[0], i, 1, !view->parent[i]);
        PCI_TRY(add_entry(tree, i, err));
        i = view->end[i];
    }
    return pci_work((uint64_t)view->node_count * sizeof *view->parent, err);
}

static pcol_status make_root(const pcol_view *view, struct pci_made_tree *tree, pcol_error *err)
{
    int of_frame = tree->kind == PCOL_VIEW_CALLERS || tree->kind == PCOL_VIEW_CALLEES;
    PCI_TRY(make_node(view, tree, of_frame ? tree->frame : PCOL_NONE, PCOL_NONE, err));
    if (tree->kind == PCOL_VIEW_FLAME) {
        add_inwards(view, &tree->nodes[0], 0);
        tree->nodes[0].count = 1;
        return PCOL_OK;
    }
    PCI_TRY(of_frame ? list_frame(view, tree, err) : list_ends(view, tree, err));
    tree->nodes[0].count = (uint32_t)tree->entry_count;
    return PCOL_OK;
}

/* ---- trees */

static void free_tree(struct pci_made_tree **tree)
{
    if (*tree) {
        pci_free((*tree)->nodes);
        pci_free((*tree)->entries);
        pci_free((*tree)->origins);
    }
    pci_free(*tree);
    *tree = NULL;
}

void pci_view_forget(pcol_view *view)
{
    for (int i = 0; i < PCI_VIEW_TREES; i++)
        free_tree(&view->trees[i]);
}

pcol_status pci_made_tree_get(pcol_view *view, pcol_view_kind kind, uint32_t frame,
                              pcol_order order, struct pci_made_tree **tree, pcol_error *err)
{
    struct pci_made_tree **slot = &view->trees[0];
    *tree = NULL;
    for (int i = 0; i < PCI_VIEW_TREES; i++) {
        struct pci_made_tree *known = view->trees[i];
        if (known && known->is_broken)
            free_tree(&view->trees[i]);
        else if (known && known->kind == kind && known->frame == frame && known->order == order) {
            known->last_use = ++view->uses;
            *tree = known;
            return PCOL_OK;
        }
    }
    /* The slot of the least recently used tree. */
    for (int i = 0; i < PCI_VIEW_TREES && *slot; i++)
        if (!view->trees[i] || view->trees[i]->last_use < (*slot)->last_use)
            slot = &view->trees[i];
    free_tree(slot);
    PCI_TRY(PCI_CALLOC(*slot, 1, err));
    **slot = (struct pci_made_tree){
        .kind = kind, .frame = frame, .order = order, .last_use = ++view->uses};
    pcol_status status = make_root(view, *slot, err);
    if (status == PCOL_OK)
        *tree = *slot;
    else
        free_tree(slot);
    return status;
}
