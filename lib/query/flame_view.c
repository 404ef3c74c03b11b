/*
 * flame_view.c - the boxes of a flame graph of one profile, from a window of a view
 *
 * Only boxes that are drawn are made, so that a graph of callers needs no tree of all reversed
 * stacks. Tests: tests/cli/flame.test.
 */
#include "query/flame.h"

#include "query/made_tree.h"
#include "util/alloc.h"

/* Copies the boxes with the start and width of their nodes; their order is that of drawing. */
static pcol_status take_boxes(struct pci_flame *f, const struct pci_made_tree *made,
                              const pcol_box *boxes, size_t count, pcol_error *err)
{
    PCI_TRY(PCI_CALLOC(f->tree->nodes, count, err));
    PCI_TRY(PCI_CALLOC(f->weight, count, err));
    PCI_TRY(PCI_CALLOC(f->start, count, err));
    PCI_TRY(PCI_CALLOC(f->order, count, err));
    f->depth = boxes[count - 1].depth;
    PCI_TRY(PCI_CALLOC(f->row, (size_t)f->depth + 2, err));
    f->count = f->drawn = f->tree->count = (uint32_t)count;
    for (uint32_t i = 0; i < f->count; i++) {
        const pcol_box *box = &boxes[i];
        f->tree->nodes[i] = (struct pci_calltree_node){.frame = box->frame,
                                                       .parent = i ? box->parent : 0,
                                                       .depth = box->depth,
                                                       .self = box->self,
                                                       .total = box->total};
        f->weight[i] = made->nodes[box->node].width;
        f->start[i] = made->nodes[box->node].start;
        f->order[i] = i;
        f->row[box->depth + 1] = i + 1;
    }
    f->is_truncated = f->depth == PCI_FLAME_DEPTH;
    return PCOL_OK;
}

static pcol_status take_view(struct pci_flame *f, pcol_view *view, pcol_error *err)
{
    pcol_window window = PCOL_INIT(pcol_window);
    const pcol_box *boxes;
    struct pci_made_tree *made;
    size_t count;
    window.kind = f->options.flags & PCOL_FLAME_REVERSE ? PCOL_VIEW_INVERTED : PCOL_VIEW_FLAME;
    window.order = PCOL_ORDER_NAME;
    window.max_depth = PCI_FLAME_DEPTH;
    window.width_px = f->options.width_px - 2 * PCI_FLAME_PAD;
    window.least_px = f->options.min_width_px;
    PCI_TRY(pcol_view_window(view, &window, &boxes, &count, err));
    PCI_TRY(pci_made_tree_get(view, window.kind, PCOL_NONE, window.order, &made, err));
    PCI_TRY(PCI_CALLOC(f->tree, 1, err));
    PCI_TRY(take_boxes(f, made, boxes, count, err));
    /* The frames own the names. */
    f->tree->frames = view->side[0].frames;
    view->side[0].frames = (struct pci_frames){.stackless = PCOL_NONE};
    return PCOL_OK;
}

pcol_status pci_flame_from_view(struct pci_flame *f, pcol_query *query, pcol_error *err)
{
    pcol_view *view;
    PCI_TRY(pcol_view_new(query, NULL, NULL, &view, err));
    pcol_status status = take_view(f, view, err);
    pcol_view_free(view);
    return status;
}
