/*
 * lane_stacks.c - stacks over time: the stack of most weight in each pixel of a lane
 *
 * The weights of a pixel's nodes are in a hash table whose entries are valid for one pixel. From
 * pixel to pixel a path of open boxes is kept: those that do not contain the next node are closed,
 * and the missing ones opened, so that each box costs O(1). Nodes are in pre-order, so one contains
 * another if its range does. Tests: tests/unit/test_lanes.c.
 */
#include "query/lanes.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#define MAX_BOXES (UINT64_C(1) << 22)

struct node_weight {
    uint32_t node, pixel; /* pixel + 1; another one: the entry is free */
    pcol_amount amount;
};

/* The node drawn in a pixel; 0: none. */
struct pixel {
    uint32_t node;
    pcol_amount amount;
};

struct stack_lane {
    const pcol_lanes *lanes;
    const pcol_view *view;
    const struct pci_view_side *side;
    /* weights of the current pixel */
    struct node_weight *table;
    uint32_t *used; /* indices of entries */
    size_t mask, used_count;
    uint32_t current;
    struct pixel *pixels;
    uint32_t pixel_count;
    /* boxes in order of opening */
    pcol_box *boxes;
    size_t box_count, box_capacity;
    uint32_t *path, *chain; /* open boxes; nodes to be opened, innermost first */
    size_t depth, path_capacity, chain_capacity;
    pcol_amount sum; /* of the pixels so far */
    uint32_t max_depth, deepest;
};

/* ---- the node of each pixel */

static size_t find_slot(const struct stack_lane *s, uint32_t node)
{
    size_t slot = (node * UINT32_C(2654435769)) & s->mask;
    while (s->table[slot].pixel == s->current + 1 && s->table[slot].node != node)
        slot = (slot + 1) & s->mask;
    return slot;
}

/* Doubles the table, and keeps the weights of the current pixel. */
static pcol_status grow_table(struct stack_lane *s, pcol_error *err)
{
    struct node_weight *old = s->table;
    size_t size = old ? 2 * (s->mask + 1) : 1024;
    uint32_t *used;
    PCI_TRY(PCI_MALLOC(used, size, err));
    s->table = pci_calloc(size, sizeof *s->table);
    if (!s->table) {
        s->table = old;
        pci_free(used);
        return pci_fail_memory(err);
    }
    s->mask = size - 1;
    for (size_t i = 0; i < s->used_count; i++) {
        const struct node_weight *entry = &old[s->used[i]];
        used[i] = (uint32_t)find_slot(s, entry->node);
        s->table[used[i]] = *entry;
    }
    pci_free(old);
    pci_free(s->used);
    s->used = used;
    return PCOL_OK;
}

/* Chooses the node of the current pixel, and begins the next one. */
static void finish_pixel(struct stack_lane *s)
{
    struct pixel *pixel = &s->pixels[s->current];
    uint64_t most = 0;
    for (size_t i = 0; i < s->used_count; i++) {
        const struct node_weight *entry = &s->table[s->used[i]];
        uint64_t key = pci_amount_sort_key(s->lanes->is_double, entry->amount);
        if (key > most || (key == most && key && entry->node < pixel->node)) {
            *pixel = (struct pixel){entry->node, entry->amount};
            most = key;
        }
    }
    s->used_count = 0;
    s->current++;
}

static pcol_status add_sample(void *context, uint32_t pixel, const struct pci_lane_sample *sample,
                              pcol_amount amount, pcol_error *err)
{
    struct stack_lane *s = context;
    uint32_t node = s->side->node_of_stack[sample->stack];
    while (s->current < pixel)
        finish_pixel(s);
    if (!s->table || 2 * s->used_count > s->mask)
        PCI_TRY(grow_table(s, err));
    size_t slot = find_slot(s, node);
    struct node_weight *entry = &s->table[slot];
    if (entry->pixel != s->current + 1) {
        *entry = (struct node_weight){.node = node, .pixel = s->current + 1};
        s->used[s->used_count++] = (uint32_t)slot;
    }
    if (pci_amount_add(s->lanes->is_double, &entry->amount, amount))
        return pci_amount_overflow(s->lanes->type, err);
    return PCOL_OK;
}

/* ---- boxes */

static void close_boxes(struct stack_lane *s, uint32_t pixel, uint32_t node)
{
    while (s->depth) {
        pcol_box *box = &s->boxes[s->path[s->depth - 1]];
        if (node && box->node <= node && node < s->view->end[box->node])
            return;
        pcol_amount total = s->sum; /* box->total: the sum before its first pixel */
        if (s->lanes->is_double)
            total.f64 -= box->total.f64;
        else
            total.i64 = (int64_t)((uint64_t)total.i64 - (uint64_t)box->total.i64);
        box->total = total;
        box->to = (double)pixel / s->pixel_count;
        box->width_px = pixel - box->x_px;
        s->depth--;
    }
}

static pcol_status open_box(struct stack_lane *s, uint32_t pixel, uint32_t node, pcol_error *err)
{
    if (s->box_count >= MAX_BOXES)
        return pci_fail(err, PCOL_E_LIMIT, "the stacks have more than %llu boxes; give a depth",
                        (unsigned long long)MAX_BOXES);
    PCI_TRY(PCI_GROW(s->boxes, s->box_capacity, s->box_count + 1, err));
    PCI_TRY(PCI_GROW(s->path, s->path_capacity, s->depth + 1, err));
    pcol_box *box = &s->boxes[s->box_count];
    *box = (pcol_box){.from = (double)pixel / s->pixel_count,
                      .x_px = pixel,
                      .frame = s->view->node_frame[node],
                      .depth = (uint32_t)s->depth + 1,
                      .parent = s->depth ? s->path[s->depth - 1] : PCOL_NONE,
                      .node = node,
                      .total = s->sum};
    pci_set_flag(&box->flags, PCOL_BOX_IS_MARKED, s->view->marked && s->view->marked[box->frame]);
    s->path[s->depth++] = (uint32_t)s->box_count++;
    if (s->depth > s->deepest)
        s->deepest = (uint32_t)s->depth;
    return pci_work(sizeof *box, err);
}

/* Opens the boxes from the innermost open one to a node. */
static pcol_status open_boxes(struct stack_lane *s, uint32_t pixel, uint32_t node, pcol_error *err)
{
    uint32_t top = s->depth ? s->boxes[s->path[s->depth - 1]].node : 0;
    size_t count = 0;
    if (s->max_depth && s->depth == s->max_depth)
        return PCOL_OK;
    for (uint32_t at = node; at != top; at = s->view->parent[at]) {
        PCI_TRY(PCI_GROW(s->chain, s->chain_capacity, count + 1, err));
        s->chain[count++] = at;
    }
    PCI_TRY(pci_work(count * sizeof *s->chain, err));
    while (count && !(s->max_depth && s->depth == s->max_depth))
        PCI_TRY(open_box(s, pixel, s->chain[--count], err));
    return PCOL_OK;
}

static pcol_status draw_pixels(struct stack_lane *s, pcol_error *err)
{
    int is_double = s->lanes->is_double;
    for (uint32_t i = 0; i < s->pixel_count; i++) {
        const struct pixel *pixel = &s->pixels[i];
        close_boxes(s, i, pixel->node);
        if (!pixel->node)
            continue;
        PCI_TRY(open_boxes(s, i, pixel->node, err));
        pcol_box *box = &s->boxes[s->path[s->depth - 1]];
        if (pci_amount_add(is_double, &s->sum, pixel->amount) ||
            (box->node == pixel->node && pci_amount_add(is_double, &box->self, pixel->amount)))
            return pci_amount_overflow(s->lanes->type, err);
    }
    close_boxes(s, s->pixel_count, 0);
    return PCOL_OK;
}

/* Counting sort of the boxes by depth; moves them to the lanes. */
static pcol_status sort_boxes(const struct stack_lane *s, pcol_lanes *lanes, pcol_error *err)
{
    uint32_t *next = NULL, *place = NULL;
    pcol_status status = PCI_CALLOC(next, (size_t)s->deepest + 2, err);
    PCI_THEN(status, PCI_MALLOC(place, s->box_count + 1, err));
    PCI_THEN(status, PCI_MALLOC(lanes->boxes, s->box_count + 1, err));
    if (status == PCOL_OK) {
        for (size_t i = 0; i < s->box_count; i++)
            next[s->boxes[i].depth + 1]++;
        for (size_t d = 1; d <= (size_t)s->deepest + 1; d++)
            next[d] += next[d - 1];
        for (size_t i = 0; i < s->box_count; i++) {
            place[i] = next[s->boxes[i].depth]++;
            lanes->boxes[place[i]] = s->boxes[i];
            if (s->boxes[i].parent != PCOL_NONE) /* opened before: its place is known */
                lanes->boxes[place[i]].parent = place[s->boxes[i].parent];
        }
        lanes->box_count = s->box_count;
    }
    pci_free(next);
    pci_free(place);
    return status;
}

static pcol_status make_stacks(struct stack_lane *s, pcol_lanes *lanes,
                               const pcol_lane_range *range, pcol_error *err)
{
    struct pci_lane_sweep sweep;
    s->side = pci_view_side_of(s->view, lanes->file);
    if (!s->side)
        return pci_fail(err, PCOL_E_ARGUMENT, "the view was made of another file");
    PCI_TRY(pci_lane_sweep_open(lanes, range, &sweep, err));
    s->pixel_count = range->count;
    s->max_depth = range->max_depth;
    sweep.visit = add_sample;
    sweep.context = s;
    pcol_status status = PCI_CALLOC(s->pixels, range->count, err);
    PCI_THEN(status, pci_lane_sweep_run(&sweep, err));
    pci_free(sweep.edges);
    while (status == PCOL_OK && s->current < s->pixel_count)
        finish_pixel(s);
    PCI_THEN(status, draw_pixels(s, err));
    PCI_THEN(status, sort_boxes(s, lanes, err));
    return status;
}

static pcol_status run_stacks(pcol_lanes *lanes, const pcol_lane_range *range,
                              const pcol_view *view, pcol_error *err)
{
    struct stack_lane s = {.lanes = lanes, .view = view};
    pci_free(lanes->boxes);
    lanes->boxes = NULL;
    lanes->box_count = 0;
    pcol_status status = make_stacks(&s, lanes, range, err);
    pci_free(s.table);
    pci_free(s.used);
    pci_free(s.pixels);
    pci_free(s.boxes);
    pci_free(s.path);
    pci_free(s.chain);
    return status;
}

pcol_status pcol_lanes_stacks(pcol_lanes *lanes, const pcol_lane_range *range, pcol_view *view,
                              const pcol_box **boxes, size_t *count, pcol_error *err)
{
    PCI_REQUIRE(boxes, err);
    *boxes = NULL;
    PCI_REQUIRE(count, err);
    *count = 0;
    PCI_REQUIRE(lanes, err);
    PCI_REQUIRE(range, err);
    PCI_REQUIRE(view, err);
    pcol_lane_range own;
    struct pci_control control = {0};
    pcol_status status;
    PCI_STRUCT_READ(pcol_lane_range, own, range, err);
    PCI_TRY(pci_control_init(&control, own.control, "lanes", err));
    PCI_CONTROLLED(&control, status, run_stacks(lanes, &own, view, err), err);
    if (status != PCOL_OK)
        return status;
    *boxes = lanes->boxes;
    *count = lanes->box_count;
    return PCOL_OK;
}
