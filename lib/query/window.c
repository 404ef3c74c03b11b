/*
 * window.c - the visible boxes of a part of a flame graph
 *
 * A breadth-first pass over the made tree (made_tree.c) enters a node only if its box is wide
 * enough and reaches into the window. Boxes come out by depth and from left to right. Tests:
 * tests/unit/test_view.c.
 */
#include "query/made_tree.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <float.h>
#include <math.h>

/* A made node whose children are still to be visited. */
struct pci_queued {
    uint32_t node, box; /* box: PCOL_NONE if its depth is not in the window */
};

struct layout {
    pcol_view *view;
    const pcol_window *window;
    struct pci_made_tree *tree;
    double whole; /* width of the root */
    double px;    /* pixels for the part 1 of the root's width */
    size_t queued;
};

/* A width as a part of the root's. Widths of doubles may be so small that 1 / whole is infinite. */
static double get_part(const struct layout *l, double width)
{
    return l->whole > 0 ? width / l->whole : 0;
}

static pcol_status add_box(struct layout *l, uint32_t node, uint32_t parent, uint32_t *number,
                           pcol_error *err)
{
    pcol_view *view = l->view;
    const struct pci_made *made = &l->tree->nodes[node];
    *number = PCOL_NONE;
    if (made->depth < l->window->first_depth)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(view->boxes, view->box_capacity, view->box_count + 1, err));
    *number = (uint32_t)view->box_count;
    pcol_box *box = &view->boxes[view->box_count++];
    *box = (pcol_box){.from = get_part(l, made->start),
                      .to = get_part(l, made->start + made->width),
                      .width_px = get_part(l, made->width) * l->px,
                      .frame = made->frame,
                      .depth = made->depth,
                      .parent = parent,
                      .node = node,
                      .self = made->self[0],
                      .base_self = made->self[1],
                      .total = made->total[0],
                      .base_total = made->total[1]};
    box->x_px = (box->from - l->window->from) * l->px;
    pci_set_flag(&box->flags, PCOL_BOX_IS_MARKED,
                 made->frame != PCOL_NONE && view->marked && view->marked[made->frame]);
    pci_set_flag(&box->flags, PCOL_BOX_IS_NEW, view->in && made->in == 1);
    pci_set_flag(&box->flags, PCOL_BOX_IS_GONE, view->in && made->in == 2);
    return pci_work(sizeof *box, err);
}

static pcol_status enqueue(struct layout *l, uint32_t node, uint32_t parent, pcol_error *err)
{
    pcol_view *view = l->view;
    uint32_t box;
    if (l->window->max_boxes && l->queued >= l->window->max_boxes)
        return pci_fail(err, PCOL_E_LIMIT, "the graph has more than %llu boxes",
                        (unsigned long long)l->window->max_boxes);
    PCI_TRY(add_box(l, node, parent, &box, err));
    PCI_TRY(PCI_GROW(view->queue, view->queue_capacity, l->queued + 1, err));
    view->queue[l->queued++] = (struct pci_queued){node, box};
    return PCOL_OK;
}

static int is_visible(const struct layout *l, const struct pci_made *made)
{
    return get_part(l, made->width) * l->px >= l->window->least_px &&
           get_part(l, made->start) < l->window->to &&
           get_part(l, made->start + made->width) > l->window->from;
}

static pcol_status lay_out(struct layout *l, pcol_error *err)
{
    const pcol_window *window = l->window;
    l->whole = l->tree->nodes[0].width;
    l->px = fmin(window->width_px / (window->to - window->from), DBL_MAX);
    l->view->box_count = 0;
    PCI_TRY(enqueue(l, 0, PCOL_NONE, err));
    for (size_t i = 0; i < l->queued; i++) {
        struct pci_queued at = l->view->queue[i];
        if (window->max_depth && l->tree->nodes[at.node].depth == window->max_depth)
            continue;
        PCI_TRY(pci_made_tree_expand(l->view, l->tree, at.node, err));
        uint32_t child = l->tree->nodes[at.node].first_child;
        for (uint32_t end = child + l->tree->nodes[at.node].child_count; child < end; child++)
            if (is_visible(l, &l->tree->nodes[child]))
                PCI_TRY(enqueue(l, child, at.box, err));
    }
    return PCOL_OK;
}

/* Sets defaults and checks the window. */
static pcol_status complete_window(const pcol_view *view, pcol_window *window, pcol_error *err)
{
    if ((unsigned)window->kind > PCOL_VIEW_CALLEES)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown kind of window");
    if ((unsigned)window->order > PCOL_ORDER_NAME || window->flags)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown order or flags of a window");
    if (window->order == PCOL_ORDER_SELF)
        window->order = PCOL_ORDER_TOTAL;
    if (window->kind == PCOL_VIEW_FLAME || window->kind == PCOL_VIEW_INVERTED)
        window->frame = PCOL_NONE;
    else if (window->frame >= view->frame_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "the view has only %lu frames",
                        (unsigned long)view->frame_count);
    if (window->to == 0)
        window->to = 1;
    if (window->width_px == 0)
        window->width_px = 1200;
    if (window->least_px == 0)
        window->least_px = 0.3;
    if (!(window->from >= 0 && window->from < window->to && window->to <= 1))
        return pci_fail(err, PCOL_E_ARGUMENT, "the window is not a part of 0 to 1");
    if (!(window->width_px > 0 && window->width_px <= 1e6) || isnan(window->least_px))
        return pci_fail(err, PCOL_E_ARGUMENT, "a width is out of range: give up to 1000000 pixels");
    return PCOL_OK;
}

static pcol_status make_window(pcol_view *view, const pcol_window *window, pcol_error *err)
{
    struct layout l = {.view = view, .window = window};
    PCI_TRY(pci_made_tree_get(view, window->kind, window->frame, window->order, &l.tree, err));
    return lay_out(&l, err);
}

pcol_status pcol_view_window(pcol_view *view, const pcol_window *window, const pcol_box **boxes,
                             size_t *count, pcol_error *err)
{
    PCI_REQUIRE(boxes, err);
    *boxes = NULL;
    PCI_REQUIRE(count, err);
    *count = 0;
    PCI_REQUIRE(view, err);
    pcol_window own;
    struct pci_control control = {0};
    pcol_status status;
    PCI_STRUCT_READ(pcol_window, own, window, err);
    PCI_TRY(complete_window(view, &own, err));
    PCI_TRY(pci_control_init(&control, own.control, "window", err));
    PCI_CONTROLLED(&control, status, make_window(view, &own, err), err);
    if (status != PCOL_OK)
        return status;
    *boxes = view->boxes;
    *count = view->box_count;
    return PCOL_OK;
}
