/*
 * heaviest.c - the heaviest nodes of a call tree, without the others
 *
 * Best-first search in a view's made tree (made_tree.c) with a binary heap: if no weight is
 * negative, a node is not heavier than its parent. Nodes of equal weight are taken in pre-order,
 * which is the order of their starts and depths. Tests: tests/unit/test_heaviest.c.
 */
#include "query/calltree.h"

#include "query/made_tree.h"
#include "util/alloc.h"

#include <stdlib.h>

#define MAX_EXACT (INT64_C(1) << 53) /* greater starts of nodes are rounded */

struct search {
    pcol_view *view;
    struct pci_made_tree *made;
    uint32_t *heap, *chosen; /* nodes of `made` */
    size_t heap_count, heap_capacity, chosen_count, chosen_capacity;
};

/* The place of a node in pre-order. */
struct place {
    double start;
    uint32_t depth, node;
};

static int is_before(const struct search *s, uint32_t a, uint32_t b)
{
    const struct pci_made *x = &s->made->nodes[a], *y = &s->made->nodes[b];
    if (x->total[0].i64 != y->total[0].i64)
        return x->total[0].i64 > y->total[0].i64;
    return x->start != y->start ? x->start < y->start : x->depth < y->depth;
}

static pcol_status push(struct search *s, uint32_t node, pcol_error *err)
{
    PCI_TRY(PCI_GROW(s->heap, s->heap_capacity, s->heap_count + 1, err));
    size_t at = s->heap_count++;
    for (; at && is_before(s, node, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = node;
    return PCOL_OK;
}

static uint32_t pop(struct search *s)
{
    uint32_t top = s->heap[0], last = s->heap[--s->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
        if (child + 1 < s->heap_count && is_before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!is_before(s, s->heap[child], last))
            break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = last;
    return top;
}

static pcol_status choose(struct search *s, uint32_t node, uint32_t max_depth, pcol_error *err)
{
    PCI_TRY(PCI_GROW(s->chosen, s->chosen_capacity, s->chosen_count + 1, err));
    s->chosen[s->chosen_count++] = node;
    s->made->nodes[node].is_chosen = 1;
    if (max_depth && s->made->nodes[node].depth == max_depth)
        return PCOL_OK;
    PCI_TRY(pci_made_tree_expand(s->view, s->made, node, err));
    uint32_t child = s->made->nodes[node].first_child;
    for (uint32_t end = child + s->made->nodes[node].child_count; child < end; child++)
        PCI_TRY(push(s, child, err));
    return PCOL_OK;
}

static int compare_places(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->depth > b->depth) - (a->depth < b->depth);
}

static int is_truncated(const struct search *s, const struct pci_made *node)
{
    if (!node->is_expanded)
        return node->total[0].i64 != node->self[0].i64;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!s->made->nodes[node->first_child + i].is_chosen)
            return 1;
    return 0;
}

/* row: by node of `made`. */
static void write_nodes(const struct search *s, struct place *places, uint32_t *row,
                        struct pci_calltree *tree)
{
    uint32_t count = tree->count = (uint32_t)s->chosen_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct pci_made *node = &s->made->nodes[s->chosen[i]];
        places[i] = (struct place){node->start, node->depth, s->chosen[i]};
    }
    qsort(places, count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        const struct pci_made *node = &s->made->nodes[places[i].node];
        row[places[i].node] = i;
        tree->nodes[i] = (struct pci_calltree_node){.frame = node->frame,
                                                    .parent = i ? row[node->parent] : 0,
                                                    .end = i + 1,
                                                    .depth = node->depth,
                                                    .self = node->self[0],
                                                    .total = node->total[0],
                                                    .is_truncated = (uint8_t)is_truncated(s, node)};
    }
    for (uint32_t i = count; i-- > 1;)
        if (tree->nodes[i].end > tree->nodes[tree->nodes[i].parent].end)
            tree->nodes[tree->nodes[i].parent].end = tree->nodes[i].end;
}

static pcol_status take_nodes(struct search *s, struct pci_calltree *tree, pcol_error *err)
{
    struct place *places = NULL;
    uint32_t *row = NULL;
    pcol_status status = PCI_MALLOC(places, s->chosen_count, err);
    PCI_THEN(status, PCI_MALLOC(row, s->made->count, err));
    PCI_THEN(status, PCI_MALLOC(tree->nodes, s->chosen_count, err));
    if (status == PCOL_OK) {
        write_nodes(s, places, row, tree);
        tree->frames = s->view->side[0].frames; /* they own the names */
        s->view->side[0].frames = (struct pci_frames){.stackless = PCOL_NONE};
    }
    pci_free(places);
    pci_free(row);
    return status;
}

static pcol_status run_search(struct search *s, const pcol_tree_options *options,
                              struct pci_calltree *tree, pcol_error *err)
{
    pcol_view_kind kind =
        options->flags & PCOL_TREE_BOTTOM_UP ? PCOL_VIEW_INVERTED : PCOL_VIEW_FLAME;
    pcol_order order = options->order == PCOL_ORDER_NAME ? PCOL_ORDER_NAME : PCOL_ORDER_TOTAL;
    PCI_TRY(pci_made_tree_get(s->view, kind, PCOL_NONE, order, &s->made, err));
    PCI_TRY(choose(s, 0, options->max_depth, err));
    while (s->heap_count && s->chosen_count <= options->heaviest)
        PCI_TRY(choose(s, pop(s), options->max_depth, err));
    return take_nodes(s, tree, err);
}

pcol_status pci_calltree_heaviest(pcol_query *query, const pcol_tree_options *options,
                                  struct pci_calltree *tree, int *found, pcol_error *err)
{
    struct search s = {0};
    pcol_view_options by = PCOL_INIT(pcol_view_options);
    by.by = options->by;
    *found = 0;
    PCI_TRY(pcol_view_new(query, NULL, &by, &s.view, err));
    pcol_status status = PCOL_OK;
    if (!s.view->width && s.view->side[0].total[0].i64 < MAX_EXACT) {
        status = run_search(&s, options, tree, err);
        *found = status == PCOL_OK;
    }
    pci_free(s.heap);
    pci_free(s.chosen);
    pcol_view_free(s.view);
    return status;
}
