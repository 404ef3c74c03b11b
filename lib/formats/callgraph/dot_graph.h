/*
 * dot_graph.h - a call graph reduced to its heaviest functions and calls
 */
#ifndef PCI_CALLGRAPH_DOT_GRAPH_H
#define PCI_CALLGRAPH_DOT_GRAPH_H

#include "formats/callgraph/callgraph.h"

/* A call between functions that are shown. */
struct pci_dot_edge {
    uint32_t from, to;           /* frames of the view */
    uint32_t from_rank, to_rank; /* in order of names */
    pcol_amount weight;
    double magnitude;
    uint8_t is_residual; /* over functions that are not shown */
    uint8_t has_value;   /* a sum that is not 0 was added */
    uint8_t is_removed;
};

struct pci_dot_graph {
    const pcol_view *view;
    const struct pci_view_side *side;
    uint32_t *nodes; /* frames that are shown, the most interesting first */
    uint32_t node_count;
    struct pci_dot_edge *edges;
    uint32_t edge_count;
    size_t edge_capacity;
    double node_limit, edge_limit; /* magnitudes; 0: none */
    uint32_t dropped_nodes, dropped_edges;
    /* state */
    uint8_t *shown; /* by frame */
    struct pci_hash hash;
    uint32_t *counted_to; /* by edge: end of its last outermost node */
    size_t counted_capacity;
    uint32_t *caller; /* by node of the view: nearest shown node, itself included; 0: none */
    uint8_t *skipped; /* by node: frames below that are not shown */
};

/* Order of edges: the heaviest first; for pci_sort(). */
int pci_dot_edge_compare(const void *a, const void *b, const void *context);

/* The caller closes, also after a failure. */
pcol_status pci_dot_graph_open(struct pci_dot_graph *graph, pcol_view *view,
                               const pcol_export_options *options, pcol_error *err);
void pci_dot_graph_close(struct pci_dot_graph *graph);

#endif
