/*
 * view.c - construction of a view: one tree of frames over the stacks of one or two files
 *
 * The tree is a trie by frame, filled by the walk over all stacks (walk.h) of each side and then
 * numbered in pre-order. Frames of the base get the numbers of equal frames of the query, by a hash
 * table over everything that is shown of them. A base over the same file with the same hidden
 * frames shares the numbers of side 0. Tests: tests/unit/test_view.c.
 */
#include "query/view.h"

#include "builder/call_tree.h"
#include "query/walk.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"
#include "util/sort.h"

#include <string.h>

struct trie {
    pcol_query *query;
    struct pci_call_tree tree;
    uint32_t *node_of_stack;
    uint32_t stackless; /* of the side */
    uint64_t max_nodes;
    uint32_t node; /* state of the walk */
};

/* ---- frames */

/* *number: that of the equal frame among those of the view, or PCI_HASH_NONE. */
static uint32_t find_frame(const pcol_view *view, const struct pci_hash *hash,
                           const struct pci_frame *frame)
{
    uint64_t key = pci_frame_hash(frame);
    size_t slot = pci_hash_start(hash, key);
    uint32_t number;
    while ((number = pci_hash_next(hash, key, &slot)) != PCI_HASH_NONE)
        if (!pci_frame_compare(view->frames[number], frame))
            break;
    return number;
}

/* Numbers the frames of the base: equal frames of the query first, the others after them. */
static pcol_status number_base(pcol_view *view, uint32_t *number, pcol_error *err)
{
    struct pci_frames *base = &view->side[1].frames;
    struct pci_hash hash = {0};
    pcol_status status = PCOL_OK;
    for (uint32_t i = 0; status == PCOL_OK && i < view->frame_count; i++)
        status = pci_hash_add(&hash, pci_frame_hash(view->frames[i]), i, err);
    for (uint32_t i = 0; status == PCOL_OK && i < base->count; i++) {
        number[i] = find_frame(view, &hash, &base->frames[i]);
        if (number[i] != PCI_HASH_NONE)
            continue;
        number[i] = view->frame_count;
        view->frames[view->frame_count++] = &base->frames[i];
    }
    pci_hash_clear(&hash);
    return status;
}

/* Replaces the base's own numbers of frames by those of the view. */
static void renumber(struct pci_view_side *side, uint32_t group_count, const uint32_t *number)
{
    struct pci_frames *frames = &side->frames;
    for (uint32_t i = 0; i < side->location_count; i++)
        if (frames->of_location[i] != PCOL_NONE)
            frames->of_location[i] = number[frames->of_location[i]];
    for (uint32_t i = 0; i < group_count; i++)
        if (frames->frame_of_group[i] < PCI_SEVERAL_FRAMES)
            frames->frame_of_group[i] = number[frames->frame_of_group[i]];
    side->empty = number[frames->empty];
    if (frames->stackless != PCOL_NONE)
        side->stackless = number[frames->stackless];
}

static pcol_status add_base_frames(pcol_view *view, const pcol_query *base, pcol_error *err)
{
    struct pci_view_side *side = &view->side[1];
    uint32_t *number;
    if ((uint64_t)view->frame_count + side->frames.count >= PCI_SEVERAL_FRAMES)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967292 distinct frames");
    PCI_TRY(PCI_MALLOC(number, (size_t)side->frames.count + 1, err));
    pcol_status status = number_base(view, number, err);
    if (status == PCOL_OK)
        renumber(side, base->calls.group_count, number);
    pci_free(number);
    return status;
}

struct named {
    const struct pci_frame *frame;
    uint32_t number;
};

static int compare_names(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct named *a = pa, *b = pb;
    int order = pci_frame_compare(a->frame, b->frame);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static pcol_status rank_frames(pcol_view *view, pcol_error *err)
{
    struct named *named;
    PCI_TRY(PCI_MALLOC(view->rank, (size_t)view->frame_count + 1, err));
    PCI_TRY(PCI_MALLOC(named, (size_t)view->frame_count + 1, err));
    for (uint32_t i = 0; i < view->frame_count; i++)
        named[i] = (struct named){view->frames[i], i};
    pcol_status status =
        pci_sort(named, view->frame_count, sizeof *named, compare_names, NULL, err);
    for (uint32_t i = 0; status == PCOL_OK && i < view->frame_count; i++)
        view->rank[named[i].number] = i;
    pci_free(named);
    return status;
}

/* First location of each frame. */
static pcol_status index_locations(pcol_view *view, int side, pcol_error *err)
{
    const struct pci_view_side *of = &view->side[side];
    uint32_t *location;
    PCI_TRY(PCI_MALLOC(location, (size_t)view->frame_count + 1, err));
    view->location[side] = location;
    memset(location, 0xff, ((size_t)view->frame_count + 1) * sizeof *location);
    for (uint32_t i = of->location_count; i-- > 0;)
        if (of->frame_of_location[i] != PCOL_NONE)
            location[of->frame_of_location[i]] = i;
    return PCOL_OK;
}

/* ---- tree */

static pcol_status enter_frame(void *context, uint32_t frame, uint32_t caller, pcol_error *err)
{
    struct trie *t = context;
    (void)caller;
    PCI_TRY(pci_call_tree_child(&t->tree, t->node, frame, &t->node, err));
    if (t->tree.count <= t->max_nodes)
        return PCOL_OK;
    return pci_fail(err, PCOL_E_LIMIT, "the call tree has more than %llu nodes",
                    (unsigned long long)t->max_nodes);
}

static pcol_status leave_frame(void *context, uint32_t frame, uint32_t caller, pcol_amount sum,
                               pcol_error *err)
{
    struct trie *t = context;
    (void)frame;
    (void)caller;
    (void)sum;
    (void)err;
    t->node = t->tree.nodes[t->node].parent;
    return PCOL_OK;
}

/* Stacks that a filter joined with their callers are at the callers' nodes, those without frames of
 * the kind at a node of their own, if such a kind has one. */
static pcol_status add_stack(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                             pcol_error *err)
{
    struct trie *t = context;
    const uint8_t *joined = t->query->joined_stacks;
    uint32_t node = t->node;
    (void)leaf;
    (void)caller;
    if (joined && joined[row]) {
        node = t->node_of_stack[t->query->calls.parent[row]];
    } else if (node == 0 && t->stackless != PCOL_NONE) {
        PCI_TRY(enter_frame(t, t->stackless, PCOL_NONE, err));
        node = t->node;
        t->node = 0;
    }
    t->node_of_stack[row] = node;
    return row % PCI_BATCH ? PCOL_OK : pci_work(PCI_BATCH * sizeof(uint64_t), err);
}

static pcol_status insert_stacks(struct trie *t, pcol_view *view, int number, pcol_query *query,
                                 pcol_error *err)
{
    struct pci_view_side *side = &view->side[number];
    const struct pci_walker walker = {t, query->measure.is_double, enter_frame, add_stack,
                                      leave_frame};
    PCI_TRY(PCI_CALLOC(side->node_of_stack, (size_t)side->stack_count + 1, err));
    t->query = query;
    t->node_of_stack = side->node_of_stack;
    t->stackless = side->stackless;
    t->max_nodes += pci_stacks_most_nodes(query->file);
    t->node = 0;
    if (!side->stack_count)
        return PCOL_OK;
    PCI_TRY(enter_frame(t, side->empty, PCOL_NONE, err));
    side->node_of_stack[0] = t->node;
    t->node = 0;
    return pci_walk(query, &side->frames, &walker, err);
}

/* Takes the pre-order over from the trie, and computes the ends of the subtrees. */
static pcol_status take_preorder(pcol_view *view, struct trie *t, pcol_error *err)
{
    uint32_t count = (uint32_t)t->tree.count;
    PCI_TRY(pci_call_tree_finish(&t->tree, err));
    uint32_t *preorder = view->arrays = t->tree.preorder;
    t->tree.preorder = NULL;
    view->node_count = count;
    view->parent = t->tree.parents;
    view->node_frame = t->tree.groups;
    view->node_frame[0] = PCOL_NONE;
    for (int s = 0; s < 2; s++) {
        struct pci_view_side *side = &view->side[s];
        if (s && side->node_of_stack == view->side[0].node_of_stack)
            break;
        for (uint32_t row = 0; side->node_of_stack && row < side->stack_count; row++)
            side->node_of_stack[row] = preorder[side->node_of_stack[row]];
    }
    uint32_t *end = view->end = preorder;
    for (uint32_t i = 0; i < count; i++)
        end[i] = i + 1;
    for (uint32_t i = count; i-- > 1;)
        if (end[i] > end[view->parent[i]])
            end[view->parent[i]] = end[i];
    return PCOL_OK;
}

static pcol_status build_tree(pcol_view *view, pcol_query *query, pcol_query *base, pcol_error *err)
{
    struct trie t = {.max_nodes = PCI_TREE_FREE_NODES};
    pcol_status status = pci_call_tree_init(&t.tree, err);
    PCI_THEN(status, insert_stacks(&t, view, 0, query, err));
    if (base && view->side[1].frames.frames)
        PCI_THEN(status, insert_stacks(&t, view, 1, base, err));
    else if (base)
        view->side[1].node_of_stack = view->side[0].node_of_stack;
    PCI_THEN(status, take_preorder(view, &t, err));
    pci_call_tree_clear(&t.tree);
    return status;
}

/* ---- sides */

/* Records what later queries of a side must agree with. */
static pcol_status open_side(struct pci_view_side *side, const pcol_query *query, pcol_error *err)
{
    side->file = pcol_file_retain(query->file);
    side->stack_count = query->calls.count;
    side->location_count = query->calls.location_count;
    if (!query->shown_locations)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(side->shown, (size_t)side->location_count + 1, err));
    memcpy(side->shown, query->shown_locations, side->location_count);
    return PCOL_OK;
}

static int shows_the_same(const struct pci_view_side *side, const pcol_query *query)
{
    const uint8_t *shown = query->shown_locations;
    for (uint32_t i = 0; (shown || side->shown) && i < side->location_count; i++)
        if ((!shown || shown[i]) != (!side->shown || side->shown[i]))
            return 0;
    return 1;
}

pcol_status pci_view_accepts(const struct pci_view_side *side, const pcol_query *query,
                             pcol_error *err)
{
    if (side->file != query->file)
        return pci_fail(err, PCOL_E_ARGUMENT, "the view was made of another file");
    if (!shows_the_same(side, query))
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "the selection hides other frames than that of the view; make a new view");
    return PCOL_OK;
}

static pcol_status open_frames(pcol_view *view, pcol_query *query, pcol_query *base,
                               pcol_error *err)
{
    struct pci_view_side *side = view->side;
    PCI_TRY(pci_frames_open(query, view->by, 0, &side[0].frames, err));
    int is_shared = base && base->file == query->file && shows_the_same(&side[0], base);
    if (base && !is_shared)
        PCI_TRY(pci_frames_open(base, view->by, 0, &side[1].frames, err));
    size_t most = (size_t)side[0].frames.count + side[1].frames.count + 1;
    view->frames = pci_calloc(most, sizeof(const struct pci_frame *));
    if (!view->frames)
        return pci_fail_memory(err);
    for (uint32_t i = 0; i < side[0].frames.count; i++)
        view->frames[i] = &side[0].frames.frames[i];
    view->frame_count = side[0].frames.count;
    side[0].empty = side[1].empty = side[0].frames.empty;
    side[0].stackless = side[1].stackless = side[0].frames.stackless;
    if (base && !is_shared)
        PCI_TRY(add_base_frames(view, base, err));
    side[0].frame_of_location = side[0].frames.of_location;
    side[1].frame_of_location = is_shared ? side[0].frames.of_location : side[1].frames.of_location;
    for (int s = 0; s < (base ? 2 : 1); s++)
        PCI_TRY(index_locations(view, s, err));
    return rank_frames(view, err);
}

static pcol_status build_view(pcol_view *view, pcol_query *query, pcol_query *base, pcol_error *err)
{
    PCI_TRY(pci_query_load(query, err));
    PCI_TRY(open_side(&view->side[0], query, err));
    if (base) {
        PCI_TRY(pci_query_load(base, err));
        PCI_TRY(open_side(&view->side[1], base, err));
    }
    PCI_TRY(open_frames(view, query, base, err));
    PCI_TRY(build_tree(view, query, base, err));
    PCI_TRY(PCI_MALLOC(view->child_of_frame, (size_t)view->frame_count + 1, err));
    memset(view->child_of_frame, 0xff,
           ((size_t)view->frame_count + 1) * sizeof *view->child_of_frame);
    return pcol_view_weigh(view, query, base, err);
}

/* ---- public functions */

pcol_status pcol_view_new(pcol_query *query, pcol_query *base, const pcol_view_options *options,
                          pcol_view **view, pcol_error *err)
{
    PCI_REQUIRE(view, err);
    *view = NULL;
    PCI_REQUIRE(query, err);
    pcol_view_options own;
    pcol_view *v;
    pcol_status status;
    PCI_STRUCT_READ(pcol_view_options, own, options, err);
    if (own.flags)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of a view");
    PCI_TRY(PCI_CALLOC(v, 1, err));
    v->by = own.by;
    PCI_CONTROLLED(&query->control, status, build_view(v, query, base, err), err);
    if (status == PCOL_OK)
        *view = v;
    else
        pcol_view_free(v);
    return status;
}

static void close_side(struct pci_view_side *side)
{
    pci_frames_close(&side->frames);
    pci_free(side->node_of_stack);
    pci_free(side->shown);
    pci_free(side->self);
    pci_free(side->total);
    pci_free(side->frame_self);
    pci_free(side->frame_total);
    pcol_file_close(side->file);
}

void pcol_view_free(pcol_view *view)
{
    if (!view)
        return;
    pci_view_forget(view);
    if (view->side[1].node_of_stack == view->side[0].node_of_stack)
        view->side[1].node_of_stack = NULL;
    for (int s = 0; s < 2; s++) {
        close_side(&view->side[s]);
        pci_free(view->location[s]);
    }
    pci_free(view->arrays);
    pci_free(view->frames);
    pci_free(view->rank);
    pci_free(view->marked);
    pci_free(view->marked_path);
    pci_free(view->width);
    pci_free(view->in);
    pci_free(view->child_of_frame);
    pci_free(view->scratch);
    pci_free(view->queue);
    pci_free(view->boxes);
    pci_free(view);
}

const struct pci_view_side *pci_view_side_of(const pcol_view *view, const pcol_file *file)
{
    for (int s = 0; s < 2; s++)
        if (view->side[s].file == file)
            return &view->side[s];
    return NULL;
}
