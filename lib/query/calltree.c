/*
 * calltree.c - call tree of the selected samples; siblings with the same frame are merged
 *
 * Top-down, the tree is a trie that the walk over all stacks builds: entering a frame moves to a
 * child, leaving it to the parent. Bottom-up, each stack with weight is inserted from its innermost
 * frame outwards. Nodes are numbered in order of creation, so parents precede children; totals are
 * one backward pass, then siblings are sorted. Tests: tests/unit/test_query.c, suite answers.
 */
#include "query/calltree.h"

#include "builder/call_tree.h"
#include "query/walk.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"
#include "util/sort.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STEPS (UINT64_C(1) << 28) /* limit of a bottom-up tree: some seconds */

/* Sums of a node during construction. */
struct sums {
    pcol_amount self;
    pcol_amount total;    /* before add_totals(): only the weight deeper than max_depth */
    uint8_t is_truncated; /* part of its weight is deeper than max_depth */
};

struct builder {
    pcol_query *query;
    const struct pci_frames *frames;
    struct pci_call_tree tree; /* nodes are keyed by frame */
    struct sums *sums;         /* by node */
    size_t capacity;
    uint64_t max_nodes; /* limit of nodes */
    uint32_t max_depth;
    struct pci_stack_table calls; /* for bottom-up trees */
    /* state of the walk */
    uint32_t node, depth, skipped;
};

/* ---- nodes */

static pcol_status enter_child(struct builder *b, uint32_t frame, pcol_error *err)
{
    size_t before = b->tree.count;
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    PCI_TRY(pci_call_tree_child(&b->tree, b->node, frame, &b->node, err));
    if (b->tree.count == before)
        return PCOL_OK;
    if (before >= b->max_nodes)
        return pci_fail(err, PCOL_E_LIMIT,
                        "the call tree has more than %llu nodes; select samples, or give a depth",
                        (unsigned long long)b->max_nodes);
    PCI_TRY(PCI_GROW(b->sums, b->capacity, b->tree.count, err));
    b->sums[before] = (struct sums){.is_truncated = 0};
    return PCOL_OK;
}

/* Adds the weight of a stack to the current node. deeper: the innermost frames are below max_depth,
 * so the weight is not the node's own. Stacks without frames of the kind have a node of their own,
 * if such a kind has. */
static pcol_status add_weight(struct builder *b, uint32_t row, int deeper, pcol_error *err)
{
    pcol_amount weight = b->query->weight[row];
    uint32_t node = b->node;
    if (pci_amount_is_zero(b->query->measure.is_double, weight))
        return PCOL_OK;
    if (!deeper) {
        if (node == 0 && b->frames->stackless != PCOL_NONE)
            PCI_TRY(enter_child(b, b->frames->stackless, err));
        PCI_TRY(pci_query_add(b->query, &b->sums[b->node].self, weight, err));
        b->node = node;
        return PCOL_OK;
    }
    b->sums[node].is_truncated = 1;
    return pci_query_add(b->query, &b->sums[node].total, weight, err);
}

/* ---- top-down */

static pcol_status enter_frame(void *context, uint32_t frame, uint32_t caller, pcol_error *err)
{
    struct builder *b = context;
    (void)caller;
    if (b->max_depth && b->depth == b->max_depth) {
        b->skipped++;
        return PCOL_OK;
    }
    b->depth++;
    return enter_child(b, frame, err);
}

static pcol_status leave_frame(void *context, uint32_t frame, uint32_t caller, pcol_amount sum,
                               pcol_error *err)
{
    struct builder *b = context;
    (void)frame;
    (void)caller;
    (void)sum;
    (void)err;
    if (b->skipped) {
        b->skipped--;
        return PCOL_OK;
    }
    b->depth--;
    b->node = b->tree.nodes[b->node].parent;
    return PCOL_OK;
}

static pcol_status add_stack(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                             pcol_error *err)
{
    struct builder *b = context;
    (void)leaf;
    (void)caller;
    return add_weight(b, row, b->skipped > 0, err);
}

static pcol_status build_top_down(struct builder *b, pcol_error *err)
{
    const struct pci_walker walker = {b, b->query->measure.is_double, enter_frame, add_stack,
                                      leave_frame};
    return pci_walk(b->query, b->frames, &walker, err);
}

/* ---- bottom-up */

static pcol_status add_bottom_up(struct builder *b, uint32_t row, uint64_t *steps, pcol_error *err)
{
    const struct pci_stack_table *calls = &b->calls;
    uint32_t depth = 0;
    b->node = 0;
    for (uint32_t node = row; node; node = calls->parent[node]) {
        uint32_t group = calls->group[node];
        for (uint32_t line = calls->first[group]; line < calls->first[group + 1]; line++) {
            uint32_t frame = b->frames->of_location[line];
            if (frame == PCOL_NONE)
                continue;
            if (b->max_depth && depth == b->max_depth)
                return add_weight(b, row, 1, err);
            depth++;
            PCI_TRY(enter_child(b, frame, err));
        }
        *steps += 1 + (calls->first[group + 1] - calls->first[group]);
        if (*steps > MAX_STEPS)
            return pci_fail(err, PCOL_E_LIMIT,
                            "the stacks are too deep for a whole bottom-up tree; give a depth");
    }
    return add_weight(b, row, 0, err);
}

static pcol_status build_bottom_up(struct builder *b, pcol_error *err)
{
    int is_double = b->query->measure.is_double;
    uint64_t steps = 0;
    PCI_TRY(pci_stack_table_open(b->query->file, &b->calls, err));
    PCI_TRY(pci_stack_table_load(&b->calls, err));
    for (uint32_t row = 1; row < b->calls.count; row++) {
        if (!pci_amount_is_zero(is_double, b->query->weight[row]))
            PCI_TRY(add_bottom_up(b, row, &steps, err));
    }
    return PCOL_OK;
}

/* ---- order of siblings */

struct sibling_order {
    const struct builder *b;
    const uint32_t *rank; /* by frame */
    pcol_order order;
};

static int compare_siblings(const void *pa, const void *pb, const void *context)
{
    const struct sibling_order *o = context;
    const struct builder *b = o->b;
    uint32_t x = *(const uint32_t *)pa, y = *(const uint32_t *)pb;
    if (o->order != PCOL_ORDER_NAME) {
        int is_double = b->query->measure.is_double;
        uint64_t key = pci_amount_sort_key(is_double, b->sums[x].total);
        uint64_t other = pci_amount_sort_key(is_double, b->sums[y].total);
        if (key != other)
            return key > other ? -1 : 1;
    }
    uint32_t rank = o->rank[b->tree.nodes[x].group], other = o->rank[b->tree.nodes[y].group];
    return rank != other ? (rank > other) - (rank < other) : (x > y) - (x < y);
}

struct frame_name {
    const struct pci_frame *frame;
    uint32_t id;
};

static int compare_names(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct frame_name *a = pa, *b = pb;
    return pci_frame_compare(a->frame, b->frame);
}

/* Ranks the frames by name. */
static pcol_status rank_frames(const struct pci_frames *frames, uint32_t **rank, pcol_error *err)
{
    struct frame_name *frame_name = pci_malloc((size_t)frames->count + 1, sizeof *frame_name);
    *rank = pci_malloc((size_t)frames->count + 1, sizeof **rank);
    if (!frame_name || !*rank) {
        pci_free(frame_name);
        return pci_fail_memory(err);
    }
    for (uint32_t i = 0; i < frames->count; i++)
        frame_name[i] = (struct frame_name){&frames->frames[i], i};
    pcol_status status = pci_work((uint64_t)frames->count * sizeof *frame_name, err);
    PCI_THEN(status,
             pci_sort(frame_name, frames->count, sizeof *frame_name, compare_names, NULL, err));
    for (uint32_t i = 0; status == PCOL_OK && i < frames->count; i++)
        (*rank)[frame_name[i].id] = i;
    pci_free(frame_name);
    return status;
}

/* Computes totals; alive[i] = 1 if a node or a descendant has weight. */
static pcol_status add_totals(struct builder *b, uint8_t *alive, pcol_error *err)
{
    for (size_t i = b->tree.count; i-- > 0;) {
        struct sums *sums = &b->sums[i];
        uint32_t parent = b->tree.nodes[i].parent;
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        alive[i] |=
            sums->is_truncated || !pci_amount_is_zero(b->query->measure.is_double, sums->self);
        PCI_TRY(pci_query_add(b->query, &sums->total, sums->self, err));
        if (i == 0 || !alive[i])
            continue;
        alive[parent] = 1;
        PCI_TRY(pci_query_add(b->query, &b->sums[parent].total, sums->total, err));
    }
    alive[0] = 1;
    return PCOL_OK;
}

/* The children of nodes. Millions of nodes take few bytes of a file: these arrays have only what
 * the new tree needs besides the old one. */
struct children {
    uint32_t *nodes; /* those with weight, without the root, by parent; siblings in order */
    uint32_t *end;   /* by parent: offset in `nodes` */
    uint32_t count;
};

static void free_children(struct children *c)
{
    pci_free(c->nodes);
    pci_free(c->end);
}

/* Sorts the nodes that are `alive` by parent and order. */
static pcol_status sort_children(const struct builder *b, const uint8_t *alive,
                                 const struct sibling_order *order, struct children *c,
                                 pcol_error *err)
{
    uint32_t n = (uint32_t)b->tree.count;
    c->nodes = pci_malloc(n, sizeof *c->nodes);
    c->end = pci_calloc(n, sizeof *c->end);
    if (!c->nodes || !c->end)
        return pci_fail_memory(err);
    for (uint32_t i = 1; i < n; i++)
        c->end[b->tree.nodes[i].parent] += alive[i];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t children = c->end[i];
        c->end[i] = c->count;
        c->count += children;
    }
    PCI_TRY(pci_work((uint64_t)n * sizeof *c->end, err));
    for (uint32_t i = 1; i < n; i++) {
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        if (alive[i])
            c->nodes[c->end[b->tree.nodes[i].parent]++] = i;
    }
    for (uint32_t i = 0, first = 0; i < n; first = c->end[i++])
        PCI_TRY(pci_sort(c->nodes + first, c->end[i] - first, sizeof *c->nodes, compare_siblings,
                         order, err));
    return PCOL_OK;
}

static struct pci_calltree_node new_node(const struct builder *b, uint32_t node, uint32_t parent,
                                         uint32_t depth)
{
    const struct sums *sums = &b->sums[node];
    return (struct pci_calltree_node){node ? b->tree.nodes[node].group : PCOL_NONE,
                                      parent,
                                      0,
                                      depth,
                                      sums->self,
                                      sums->total,
                                      sums->is_truncated};
}

/* Writes the nodes in pre-order. */
static pcol_status write_preorder(const struct builder *b, const struct children *c,
                                  struct pci_calltree *tree, pcol_error *err)
{
    uint32_t current = 0;                                     /* the current node of the new tree */
    uint32_t *next = pci_malloc(b->tree.count, sizeof *next); /* by node: its next child */
    uint32_t *old = pci_malloc((size_t)c->count + 1, sizeof *old);
    tree->nodes = pci_malloc((size_t)c->count + 1, sizeof *tree->nodes);
    pcol_status status = next && old && tree->nodes ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK) {
        next[0] = 0;
        memcpy(next + 1, c->end, (b->tree.count - 1) * sizeof *next);
        tree->nodes[0] = new_node(b, 0, 0, 0);
        tree->count = 1;
        old[0] = 0;
    }
    while (status == PCOL_OK) {
        uint32_t node = old[current];
        if (next[node] < c->end[node]) {
            uint32_t child = c->nodes[next[node]++];
            tree->nodes[tree->count] = new_node(b, child, current, tree->nodes[current].depth + 1);
            old[tree->count] = child;
            current = tree->count++;
            status = pci_work(PCI_ITEM_WORK, err);
            continue;
        }
        tree->nodes[current].end = tree->count;
        if (current == 0)
            break;
        current = tree->nodes[current].parent;
    }
    pci_free(next);
    pci_free(old);
    return status;
}

static pcol_status sort_tree(struct builder *b, pcol_order order, struct pci_calltree *tree,
                             pcol_error *err)
{
    uint8_t *alive = pci_calloc(b->tree.count, 1);
    uint32_t *rank = NULL;
    struct children children = {0};
    pcol_status status = alive ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, add_totals(b, alive, err));
    PCI_THEN(status, rank_frames(b->frames, &rank, err));
    PCI_THEN(status,
             sort_children(b, alive, &(struct sibling_order){b, rank, order}, &children, err));
    pci_free(alive);
    pci_free(rank);
    PCI_THEN(status, write_preorder(b, &children, tree, err));
    free_children(&children);
    return status;
}

/* ---- public functions */

/* The samples of the empty stack are a node of their own. */
static pcol_status add_empty_stack(struct builder *b, pcol_error *err)
{
    pcol_query *query = b->query;
    if (!query->calls.count || pci_amount_is_zero(query->measure.is_double, query->weight[0]))
        return PCOL_OK;
    PCI_TRY(enter_child(b, b->frames->empty, err));
    PCI_TRY(add_weight(b, 0, 0, err));
    b->node = 0;
    return PCOL_OK;
}

static pcol_status build_tree(pcol_query *query, const pcol_tree_options *options,
                              struct pci_calltree *tree, pcol_error *err)
{
    struct builder b = {.query = query,
                        .frames = &tree->frames,
                        .max_depth = options->max_depth,
                        .max_nodes = PCI_TREE_FREE_NODES + pci_stacks_most_nodes(query->file)};
    pcol_status status;
    int found = 0;
    if (options->heaviest)
        PCI_TRY(pci_calltree_heaviest(query, options, tree, &found, err));
    if (found)
        return PCOL_OK;
    PCI_TRY(pci_frames_open(query, options->by, 0, &tree->frames, err));
    PCI_TRY(pci_call_tree_init(&b.tree, err));
    b.sums = pci_calloc(b.capacity = 64, sizeof *b.sums);
    status = b.sums ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, add_empty_stack(&b, err));
    PCI_THEN(status, options->flags & PCOL_TREE_BOTTOM_UP ? build_bottom_up(&b, err)
                                                          : build_top_down(&b, err));
    pci_hash_clear(&b.tree.hash);
    PCI_THEN(status, sort_tree(&b, options->order, tree, err));
    pci_call_tree_clear(&b.tree);
    pci_stack_table_close(&b.calls);
    pci_free(b.sums);
    return status;
}

pcol_status pci_query_calltree(pcol_query *query, const pcol_tree_options *options,
                               struct pci_calltree **tree, pcol_error *err)
{
    struct pci_calltree *t;
    pcol_status status;
    *tree = NULL;
    PCI_TRY(PCI_CALLOC(t, 1, err));
    status = pci_control_enter(&query->control, err);
    PCI_THEN(status, pci_query_load(query, err));
    PCI_THEN(status, build_tree(query, options, t, err));
    pci_control_leave(&query->control);
    if (status == PCOL_OK)
        *tree = t;
    else
        pci_calltree_free(t);
    return status;
}

void pci_calltree_free(struct pci_calltree *tree)
{
    if (!tree)
        return;
    pci_frames_close(&tree->frames);
    pci_free(tree->nodes);
    pci_free(tree);
}
