/*
 * view.h - the tree of frames of one or two queries, and the trees that windows make of it
 *
 * Nodes of the tree are in pre-order: parents precede children, and the subtree of node i is
 * [i, end[i]). Node 0 is the root. All arrays by node are flat, so that another selection is two
 * passes over them. Threading: a view belongs to one thread at a time. Tests:
 * tests/unit/test_view.c.
 */
#ifndef PCI_QUERY_VIEW_H
#define PCI_QUERY_VIEW_H

#include "query/query.h"

enum { PCI_VIEW_TREES = 8 }; /* trees kept for later windows */

/* The part of a query in a view; side 0: the query, side 1: its base. */
struct pci_view_side {
    pcol_file *file; /* retained; NULL: no such side */
    uint32_t stack_count, location_count;
    uint32_t *node_of_stack; /* by row of stacks; side 1 may share that of side 0 */
    uint8_t *shown;          /* by row of locations, copied from the query; NULL: all are shown */
    struct pci_frames frames;
    const uint32_t *frame_of_location; /* numbers of the view's frames */
    uint32_t empty;                    /* the frame of the empty stack */
    uint32_t stackless; /* of stacks without frames of the kind; PCOL_NONE: they are in the root */
    /* set by each weighing */
    int is_double;
    pcol_amount *self, *total; /* by node */
    pcol_amount whole;         /* what percentages are of */
    pcol_amount matched;
    pcol_amount *frame_self, *frame_total; /* by frame; NULL: not computed yet */
};

/* A node that a window made: equal frames on equal paths, as a list of nodes of the tree. */
struct pci_made {
    uint32_t frame, depth, parent;
    uint32_t first_child, child_count;
    uint32_t first, count;              /* its entries; of PCOL_VIEW_FLAME: `first` is its node */
    uint8_t is_expanded, in, is_chosen; /* is_chosen: of heaviest.c */
    pcol_amount self[2], total[2];
    double start, width; /* in units of the view's widths, from the left of the root */
};

/* Nodes made for one kind, frame and order. Inwards, the entries of a made node are nodes of the
 * tree. Outwards, they are pairs of a node and the origin whose weight it carries; the entries of
 * children are a permutation of those of their parent, in place. */
struct pci_made_tree {
    pcol_view_kind kind;
    uint32_t frame;
    pcol_order order;
    struct pci_made *nodes;
    size_t count, capacity;
    uint32_t *entries, *origins; /* entries: not of PCOL_VIEW_FLAME; origins: outwards */
    size_t entry_count, entry_capacity;
    uint64_t steps, last_use;
    int is_broken; /* an error interrupted it */
};

struct pcol_view {
    pcol_by by;
    struct pci_view_side side[2];
    pcol_str type, unit;                 /* texts of the file of side 0 */
    uint32_t *arrays;                    /* owns the next three */
    uint32_t *parent, *node_frame, *end; /* by node */
    uint32_t node_count, frame_count, marked_count;
    const struct pci_frame **frames; /* by frame; owned by the sides */
    uint32_t *rank;                  /* by frame: position in order of names */
    uint32_t *location[2];           /* by frame: first row of locations, of each side */
    uint8_t *marked;                 /* by frame; NULL: none */
    uint8_t *marked_path;            /* bits by node: a frame on its path is marked; NULL: none */
    /* set by each weighing */
    double *width;     /* by node; NULL: the total of side 0, without negative weights and a base */
    uint8_t *in;       /* by node: bit 0: side 0 has it, bit 1: side 1; NULL: no base */
    int exponent;      /* widths are in units of side 0 times 2^exponent */
    double base_scale; /* width of one unit of side 1 */
    /* of windows */
    struct pci_made_tree *trees[PCI_VIEW_TREES];
    uint64_t uses;
    uint32_t *child_of_frame; /* by frame: scratch, PCOL_NONE between calls */
    uint32_t *scratch;
    size_t scratch_capacity;
    struct pci_queued *queue;
    size_t queue_capacity;
    pcol_box *boxes;
    size_t box_count, box_capacity;
};

/* E_ARGUMENT if the query cannot weigh a side: another file, or other frames are hidden. */
pcol_status pci_view_accepts(const struct pci_view_side *side, const pcol_query *query,
                             pcol_error *err);

/* ---- view_weights.c */

/* Width of a node with its descendants, and of the stacks that end in it. */
double pci_view_own(const pcol_view *view, uint32_t node);
/* Sets frame_self and frame_total of the sides. */
pcol_status pci_view_frame_sums(pcol_view *view, pcol_error *err);
static inline double pci_view_width(const pcol_view *view, uint32_t node)
{
    return view->width ? view->width[node] : (double)view->side[0].total[node].i64;
}
/* Bits of the sides that have weight in a node or below. */
static inline uint8_t pci_view_in(const pcol_view *view, uint32_t node)
{
    return view->in ? view->in[node] : 1;
}
static inline int pci_view_is_marked_path(const pcol_view *view, uint32_t node)
{
    return view->marked_path && (view->marked_path[node / 8] >> node % 8 & 1);
}

/* view.c: the side of a file; NULL: the view has nothing of it. */
const struct pci_view_side *pci_view_side_of(const pcol_view *view, const pcol_file *file);

/* made_tree.c: forgets all made trees. */
void pci_view_forget(pcol_view *view);

#endif
