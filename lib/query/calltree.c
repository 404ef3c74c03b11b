/*
 * calltree.c - the call tree of what is selected, equal frames of siblings joined
 *
 * Top-down, the walk over all stacks is a walk over the new tree as well: entering a frame goes to
 * a child, leaving it goes back. Bottom-up, each stack with weight is followed from its innermost
 * frame outwards. Nodes are numbered as they appear, so a parent comes before its children; totals
 * are one pass from the back, and one sort puts siblings in order.
 */
#include "query/query.h"

#include "builder/call_tree.h"
#include "query/walk.h"
#include "util/alloc.h"
#include "util/arg_check.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STEPS (UINT64_C(1) << 28) /* of a bottom-up tree: seconds */
/* A location of many lines, often in one stack, makes a tree of the square of a file's size. So
 * many nodes any file may have, and so many more for each of its stacks. */
#define FREE_NODES (UINT64_C(1) << 22)
#define NODES_PER_STACK 256u

struct node {
    uint32_t frame, parent, end, depth;
    pcol_amount self, total;
    int cut;
};

/* Sums of a node while the tree is built. */
struct sums {
    pcol_amount self;
    pcol_amount total; /* at first of what is deeper than max_depth alone */
    uint8_t cut;       /* some of its weight is */
};

struct pcol_calltree {
    uint32_t count;
    struct node *nodes; /* in pre-order */
    struct pci_frames frames;
};

struct building {
    const pcol_query *query;
    const struct pci_frames *frames;
    struct pci_call_tree tree; /* its groups are frames */
    struct sums *sums;         /* by node */
    size_t capacity;
    uint64_t most; /* nodes */
    uint32_t max_depth;
    struct pci_stack_table calls; /* bottom-up */
    /* the walk */
    uint32_t node, depth, skipped;
};

/* ---- nodes */

static pcol_status go_down(struct building *b, uint32_t frame, pcol_error *err)
{
    size_t before = b->tree.count, room = b->capacity;
    PCI_TRY(pci_call_tree_child(&b->tree, b->node, frame, &b->node, err));
    if (b->tree.count == before)
        return PCOL_OK;
    if (before >= b->most)
        return pci_fail(err, PCOL_E_LIMIT,
                        "the call tree has more than %llu nodes; a depth makes it smaller",
                        (unsigned long long)b->most);
    if (pci_grow((void **)&b->sums, &b->capacity, b->tree.count, sizeof *b->sums))
        return pci_fail_memory(err);
    memset(b->sums + room, 0, (b->capacity - room) * sizeof *b->sums);
    return PCOL_OK;
}

static pcol_status add(const struct building *b, pcol_amount *sum, pcol_amount amount,
                       pcol_error *err)
{
    if (pci_amount_add(b->query->measure.is_double, sum, amount))
        return pci_amount_overflow(b->query->measure.type, err);
    return PCOL_OK;
}

/* The weight of a stack goes to the node that is open. deeper: its innermost frames are below
 * max_depth, so that the weight is not the node's own. */
static pcol_status add_weight(struct building *b, uint32_t row, int deeper, pcol_error *err)
{
    struct sums *sums = &b->sums[b->node];
    pcol_amount weight = b->query->weight[row];
    if (!deeper)
        return add(b, &sums->self, weight, err);
    sums->cut |= !pci_amount_is_zero(b->query->measure.is_double, weight);
    return add(b, &sums->total, weight, err);
}

/* ---- top-down */

static pcol_status enter(void *context, uint32_t frame, uint32_t caller, pcol_error *err)
{
    struct building *b = context;
    (void)caller;
    if (b->max_depth && b->depth == b->max_depth) {
        b->skipped++;
        return PCOL_OK;
    }
    b->depth++;
    return go_down(b, frame, err);
}

static pcol_status leave(void *context, uint32_t frame, uint32_t caller, pcol_amount sum,
                         pcol_error *err)
{
    struct building *b = context;
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

static pcol_status stack(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                         pcol_error *err)
{
    struct building *b = context;
    (void)leaf;
    (void)caller;
    return add_weight(b, row, b->skipped > 0, err);
}

static pcol_status build_top_down(struct building *b, pcol_error *err)
{
    const struct pci_walker walker = {b, b->query->measure.is_double, enter, stack, leave};
    return pci_walk(b->query, b->frames, &walker, err);
}

/* ---- bottom-up */

static pcol_status add_turned(struct building *b, uint32_t row, uint64_t *steps, pcol_error *err)
{
    const struct pci_stack_table *calls = &b->calls;
    uint32_t depth = 0;
    b->node = 0;
    for (uint32_t at = row; at; at = calls->parent[at]) {
        uint32_t group = calls->group[at];
        for (uint32_t l = calls->first[group]; l < calls->first[group + 1]; l++) {
            uint32_t frame = b->frames->of_location[l];
            if (frame == PCOL_NONE)
                continue;
            if (b->max_depth && depth == b->max_depth)
                return add_weight(b, row, 1, err);
            depth++;
            PCI_TRY(go_down(b, frame, err));
        }
        *steps += 1 + (calls->first[group + 1] - calls->first[group]);
        if (*steps > MOST_STEPS)
            return pci_fail(err, PCOL_E_LIMIT,
                            "the stacks are too deep to be turned round whole; give a depth");
    }
    return add_weight(b, row, 0, err);
}

static pcol_status build_bottom_up(struct building *b, pcol_error *err)
{
    int is_double = b->query->measure.is_double;
    uint64_t steps = 0;
    PCI_TRY(pci_stack_table_open(b->query->file, &b->calls, err));
    PCI_TRY(pci_stack_table_load(&b->calls, err));
    for (uint32_t row = 1; row < b->calls.count; row++) {
        if (!pci_amount_is_zero(is_double, b->query->weight[row]))
            PCI_TRY(add_turned(b, row, &steps, err));
    }
    return PCOL_OK;
}

/* ---- in order */

/* A node in the order in which it is to stand: siblings together. */
struct place {
    uint32_t parent, node;
    uint64_t key; /* falling */
    uint32_t rank;
};

static int by_place(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

struct named {
    const pcol_frame *frame;
    uint32_t id;
};

static int by_name(const void *pa, const void *pb)
{
    const struct named *a = pa, *b = pb;
    return pci_frame_compare(a->frame, b->frame);
}

/* Rank of each frame by name. */
static pcol_status rank_frames(const struct pci_frames *frames, uint32_t **rank, pcol_error *err)
{
    struct named *named = pci_malloc((size_t)frames->count + 1, sizeof *named);
    *rank = pci_malloc((size_t)frames->count + 1, sizeof **rank);
    if (!named || !*rank) {
        pci_free(named);
        return pci_fail_memory(err);
    }
    for (uint32_t i = 0; i < frames->count; i++)
        named[i] = (struct named){&frames->frames[i], i};
    qsort(named, frames->count, sizeof *named, by_name);
    for (uint32_t i = 0; i < frames->count; i++)
        (*rank)[named[i].id] = i;
    pci_free(named);
    return PCOL_OK;
}

/* Totals, and whether a node or one below it has weight. */
static pcol_status add_totals(struct building *b, uint8_t *alive, pcol_error *err)
{
    for (size_t i = b->tree.count; i-- > 0;) {
        struct sums *own = &b->sums[i];
        uint32_t parent = b->tree.nodes[i].parent;
        alive[i] |= own->cut || !pci_amount_is_zero(b->query->measure.is_double, own->self);
        PCI_TRY(add(b, &own->total, own->self, err));
        if (i == 0 || !alive[i])
            continue;
        alive[parent] = 1;
        PCI_TRY(add(b, &b->sums[parent].total, own->total, err));
    }
    alive[0] = 1;
    return PCOL_OK;
}

/* Most nodes are only children, and most others have few siblings. */
static void sort_siblings(struct place *places, uint32_t count)
{
    enum { FEW = 8 };
    if (count > FEW)
        qsort(places, count, sizeof *places, by_place);
    for (uint32_t i = 1; count <= FEW && i < count; i++) {
        struct place place = places[i];
        uint32_t at = i;
        for (; at > 0 && by_place(&places[at - 1], &place) > 0; at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
}

/* The places of nodes that are alive, but for the root, siblings together and in order. next: by
 * node, zeroed. */
static uint32_t sort_places(const struct building *b, const uint8_t *alive, const uint32_t *rank,
                            pcol_order order, struct place *places, uint32_t *next)
{
    uint32_t count = 0, n = (uint32_t)b->tree.count;
    for (uint32_t i = 1; i < n; i++)
        next[b->tree.nodes[i].parent] += alive[i];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t children = next[i];
        next[i] = count;
        count += children;
    }
    for (uint32_t i = 1; i < n; i++) {
        const struct pci_node *node = &b->tree.nodes[i];
        if (!alive[i])
            continue;
        places[next[node->parent]++] =
            (struct place){node->parent, i,
                           order == PCOL_ORDER_NAME
                               ? 0
                               : pci_amount_key(b->query->measure.is_double, b->sums[i].total),
                           rank[node->group]};
    }
    for (uint32_t i = 0, first = 0; i < n; first = next[i++])
        if (next[i] - first > 1)
            sort_siblings(places + first, next[i] - first);
    return count;
}

/* Nodes in pre-order out of the places. first: for each node the place behind its last child, from
 * which its children are taken forwards. */
static pcol_status lay_out(const struct building *b, const struct place *places, uint32_t count,
                           pcol_calltree *tree, pcol_error *err)
{
    size_t n = b->tree.count;
    uint32_t *next = pci_calloc(n + 1, sizeof *next), *end = pci_calloc(n + 1, sizeof *end);
    uint32_t at = 0; /* the node of the new tree that is open */
    tree->nodes = pci_malloc((size_t)count + 1, sizeof *tree->nodes);
    uint32_t *old = pci_malloc((size_t)count + 1, sizeof *old);
    pcol_status status = next && end && tree->nodes && old ? PCOL_OK : pci_fail_memory(err);
    for (uint32_t i = 0; status == PCOL_OK && i < count; i++) {
        if (i == 0 || places[i].parent != places[i - 1].parent)
            next[places[i].parent] = i;
        end[places[i].parent] = i + 1;
    }
    if (status == PCOL_OK) {
        tree->nodes[0] =
            (struct node){PCOL_NONE, 0, 0, 0, b->sums[0].self, b->sums[0].total, b->sums[0].cut};
        tree->count = 1;
        old[0] = 0;
    }
    while (status == PCOL_OK) {
        uint32_t from = old[at];
        if (next[from] < end[from]) {
            uint32_t child = places[next[from]++].node;
            tree->nodes[tree->count] = (struct node){b->tree.nodes[child].group,
                                                     at,
                                                     0,
                                                     tree->nodes[at].depth + 1,
                                                     b->sums[child].self,
                                                     b->sums[child].total,
                                                     b->sums[child].cut};
            old[tree->count] = child;
            at = tree->count++;
            continue;
        }
        tree->nodes[at].end = tree->count;
        if (at == 0)
            break;
        at = tree->nodes[at].parent;
    }
    pci_free(next);
    pci_free(end);
    pci_free(old);
    return status;
}

static pcol_status finish(struct building *b, pcol_order order, pcol_calltree *tree,
                          pcol_error *err)
{
    size_t n = b->tree.count;
    uint8_t *alive = pci_calloc(n, 1);
    struct place *places = pci_malloc(n, sizeof *places);
    uint32_t *rank = NULL, *next = pci_calloc(n + 1, sizeof *next);
    pcol_status status = alive && places && next ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = add_totals(b, alive, err);
    if (status == PCOL_OK)
        status = rank_frames(b->frames, &rank, err);
    if (status == PCOL_OK) {
        uint32_t count = sort_places(b, alive, rank, order, places, next);
        status = lay_out(b, places, count, tree, err);
    }
    pci_free(alive);
    pci_free(places);
    pci_free(next);
    pci_free(rank);
    return status;
}

/* ---- all */

/* The samples of the empty stack are a node of their own. */
static pcol_status add_empty(struct building *b, pcol_error *err)
{
    const pcol_query *query = b->query;
    if (!query->calls.count || pci_amount_is_zero(query->measure.is_double, query->weight[0]))
        return PCOL_OK;
    PCI_TRY(go_down(b, b->frames->empty, err));
    PCI_TRY(add_weight(b, 0, 0, err));
    b->node = 0;
    return PCOL_OK;
}

static pcol_status build(const pcol_query *query, const pcol_calltree_options *options,
                         pcol_calltree *tree, pcol_error *err)
{
    struct building b = {.query = query,
                         .frames = &tree->frames,
                         .max_depth = options->max_depth,
                         .most = FREE_NODES + NODES_PER_STACK * pci_rows(query->file, "stacks")};
    pcol_status status;
    PCI_TRY(pci_frames_open(query, options->by, 0, &tree->frames, err));
    PCI_TRY(pci_call_tree_init(&b.tree, err));
    b.sums = pci_calloc(b.capacity = 64, sizeof *b.sums);
    status = b.sums ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = add_empty(&b, err);
    if (status == PCOL_OK)
        status = options->bottom_up ? build_bottom_up(&b, err) : build_top_down(&b, err);
    if (status == PCOL_OK)
        status = finish(&b, options->order, tree, err);
    pci_call_tree_clear(&b.tree);
    pci_stack_table_close(&b.calls);
    pci_free(b.sums);
    return status;
}

pcol_status pcol_query_calltree(const pcol_query *query, const pcol_calltree_options *options,
                                pcol_calltree **tree, pcol_error *err)
{
    PCI_REQUIRE(tree, err);
    *tree = NULL;
    PCI_REQUIRE(query, err);
    static const pcol_calltree_options defaults = PCOL_INIT(pcol_calltree_options);
    pcol_calltree *t;
    pcol_status status;
    if (!options)
        options = &defaults;
    if (options->size < sizeof *options || (unsigned)options->order > PCOL_ORDER_NAME)
        return pci_fail(err, PCOL_E_ARGUMENT, "size of the options is not set, or no such order");
    t = pci_calloc(1, sizeof *t);
    if (!t)
        return pci_fail_memory(err);
    status = pci_query_load(query, err);
    if (status == PCOL_OK)
        status = build(query, options, t, err);
    if (status == PCOL_OK)
        *tree = t;
    else
        pcol_calltree_free(t);
    return status;
}

void pcol_calltree_free(pcol_calltree *tree)
{
    if (!tree)
        return;
    pci_frames_close(&tree->frames);
    pci_free(tree->nodes);
    pci_free(tree);
}

uint32_t pcol_calltree_count(const pcol_calltree *tree)
{
    if (!tree)
        return 0;
    return tree->count;
}

uint32_t pcol_calltree_frame_count(const pcol_calltree *tree)
{
    if (!tree)
        return 0;
    return tree->frames.count;
}

void pcol_calltree_get(const pcol_calltree *tree, uint32_t index, pcol_calltree_node *node)
{
    if (!node)
        return;
    *node = (pcol_calltree_node){0};
    if (index >= pcol_calltree_count(tree))
        return;
    const struct node *from = &tree->nodes[index];
    *node = (pcol_calltree_node){.frame_id = from->frame,
                                 .parent = from->parent,
                                 .end = from->end,
                                 .depth = from->depth,
                                 .self = from->self,
                                 .total = from->total,
                                 .cut = from->cut};
    if (from->frame != PCOL_NONE)
        node->frame = tree->frames.frames[from->frame];
}
