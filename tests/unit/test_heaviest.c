/*
 * test_heaviest.c - the heaviest nodes of a tree are those of the whole tree
 */
#include "view_case.h"

#include "query/answers.h"
#include "query/calltree.h"

#include <stdlib.h>

static int compare(const void *pa, const void *pb)
{
    const struct pci_calltree_node *const *a = pa, *const *b = pb;
    if ((*a)->total.i64 != (*b)->total.i64)
        return (*a)->total.i64 > (*b)->total.i64 ? -1 : 1;
    return (*a > *b) - (*a < *b); /* in pre-order */
}

/* The nodes of the whole tree that are among the heaviest, in pre-order, must be `part`. */
static void check(const struct pci_calltree *whole, const struct pci_calltree *part, uint32_t count)
{
    const struct pci_calltree_node *sorted[1000];
    uint32_t row[1000], rows = 1;
    char chosen[1000] = {1}, cut[1000] = {0};
    cr_assert_lt(whole->count, 1000);
    for (uint32_t i = 1; i < whole->count; i++)
        sorted[i - 1] = &whole->nodes[i];
    qsort(sorted, whole->count - 1, sizeof *sorted, compare);
    for (uint32_t i = 0; i < count && i + 1 < whole->count; i++)
        chosen[sorted[i] - whole->nodes] = 1;
    for (uint32_t i = 1; i < whole->count; i++)
        if (!chosen[i])
            cut[whole->nodes[i].parent] = 1;
    row[0] = 0;
    for (uint32_t i = 1; i < whole->count; i++) {
        const struct pci_calltree_node *a = &whole->nodes[i], *b = &part->nodes[rows];
        if (!chosen[i])
            continue;
        cr_assert_lt(rows, part->count);
        row[i] = rows++;
        cr_assert_eq(a->frame, b->frame);
        cr_assert_eq(row[a->parent], b->parent);
        cr_assert_eq(a->depth, b->depth);
        cr_assert(a->self.i64 == b->self.i64 && a->total.i64 == b->total.i64);
        cr_assert_eq(b->is_truncated, a->is_truncated || cut[i]);
    }
    cr_assert_eq(rows, part->count);
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t end = i + 1;
        while (end < part->count && part->nodes[end].depth > part->nodes[i].depth)
            end++;
        cr_assert_eq(part->nodes[i].end, end);
    }
}

Test(heaviest, nodes_are_those_of_the_whole_tree)
{
    for (uint64_t seed = 1; seed < 60; seed++) {
        struct view_case c;
        pcol_query *query;
        view_seed = seed;
        view_begin(&c, 0);
        MUST(pcol_query_new(c.file, NULL, NULL, &query, err));
        for (int i = 0; i < 12; i++) {
            pcol_tree_options options = PCOL_INIT(pcol_tree_options);
            struct pci_calltree *whole, *part;
            options.flags = view_dice(2) ? PCOL_TREE_BOTTOM_UP : 0;
            options.order = view_dice(2) ? PCOL_ORDER_NAME : PCOL_ORDER_TOTAL;
            options.max_depth = view_dice(4);
            MUST(pci_query_calltree(query, &options, &whole, err));
            options.heaviest = 1 + view_dice(40);
            MUST(pci_query_calltree(query, &options, &part, err));
            check(whole, part, options.heaviest);
            pci_calltree_free(whole);
            pci_calltree_free(part);
        }
        pcol_query_free(query);
        view_end(&c);
    }
}

/* Negative values and doubles give the whole tree. */
Test(heaviest, other_values_give_all_nodes)
{
    static const unsigned kinds[] = {VIEW_NEGATIVE, VIEW_DOUBLE};
    for (size_t k = 0; k < 2; k++) {
        struct view_case c;
        pcol_query *query;
        pcol_tree_options options = PCOL_INIT(pcol_tree_options);
        struct pci_calltree *whole, *part;
        view_seed = 70 + k;
        view_begin(&c, kinds[k]);
        MUST(pcol_query_new(c.file, NULL, NULL, &query, err));
        MUST(pci_query_calltree(query, &options, &whole, err));
        options.heaviest = 2;
        MUST(pci_query_calltree(query, &options, &part, err));
        cr_assert_eq(whole->count, part->count);
        pci_calltree_free(whole);
        pci_calltree_free(part);
        pcol_query_free(query);
        view_end(&c);
    }
}
