/*
 * callgraph.h - call graphs of any profile: Callgrind profiles and graphs for Graphviz
 *
 * Both are made from the tree of frames of a view (query/view.h), so that their sums are those of
 * pcol_query_top(). Tests: suite call_graphs, tests/cli/callgraph.test.
 */
#ifndef PCI_CALLGRAPH_CALLGRAPH_H
#define PCI_CALLGRAPH_CALLGRAPH_H

#include "formats/format.h"
#include "model/types.h"
#include "query/view.h"
#include "stream/out_buffer.h"
#include "util/strbuf.h"

pcol_status pci_callgrind_write(const struct pci_export *export, pcol_error *err);
pcol_status pci_dot_write(const struct pci_export *export, pcol_error *err);

/* ---- graph.c */

/* The view of the exported sources by one kind of frame. */
struct pci_callgraph {
    const struct pci_export *export;
    struct pci_types types;
    struct pci_selected_type chosen; /* the exported or the default type; of no rows: none */
    pcol_query *query;               /* of the chosen type */
    pcol_view *view;
    struct pci_out *out;
};
/* E_NOT_FOUND, E_ARGUMENT: options->sample_type. The caller closes, also after a failure. */
pcol_status pci_callgraph_open(struct pci_callgraph *graph, const struct pci_export *export,
                               pcol_by by, pcol_error *err);
void pci_callgraph_close(struct pci_callgraph *graph);
/* A query for a row of sample_types, or for the default, over the exported sources. The caller
 * frees it. */
pcol_status pci_callgraph_query(const struct pci_callgraph *graph, uint32_t type,
                                pcol_query **query, pcol_error *err);
/* *left_out: an exported sample with a value has no call stack, so that no sum has it. */
pcol_status pci_callgraph_leaves_out(const struct pci_callgraph *graph, int *left_out,
                                     pcol_error *err);
/* 1 if a weighed node of the view has two callers above it: stacks look like calls. */
int pci_callgraph_has_stacks(const struct pci_callgraph *graph);

static inline pcol_status pci_callgraph_text(const struct pci_callgraph *graph, const char *text,
                                             pcol_error *err)
{
    return pci_out(graph->out, text, strlen(text), err);
}
pcol_status pci_callgraph_print(const struct pci_callgraph *graph, pcol_error *err,
                                const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
