/*
 * dot.c - export of any profile as a graph of functions in the DOT language of Graphviz
 *
 * A node is a function with its self and total value, an edge a call with the total of its callee
 * below its caller. The attributes `self` and `total` are the exact values, which Graphviz ignores.
 * Names are quoted strings; "&" would begin an entity there. Tests: suite call_graphs,
 * tests/cli/callgraph.test.
 */
#include "formats/callgraph/dot_graph.h"
#include "query/labels.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "json/number.h"
#include "json/utf8.h"

#include <math.h>

#define LONGEST_NAME 500u /* bytes; Graphviz limits the length of a string */

enum {
    LOSS_LIMITS = 1,
    LOSS_TYPES = 2,
    LOSS_BYTES = 4,
    LOSS_LONG = 8,
    LOSS_STACKS = 16,
    LOSS_STACKLESS = 32
};

static const struct pci_loss losses[] = {
    {"functions and calls below its limits", "node_count"},
    {"more than one sample type", "sample_type"},
    {"control characters, and bytes that are not UTF-8: they become U+FFFD", ""},
    {"names beyond 500 bytes: they are cut", ""},
    {"whole call stacks: it has callers and their callees", ""},
    {"samples without a call stack: they are left out", ""},
};

struct writer {
    struct pci_callgraph graph;
    struct pci_dot_graph dot;
    uint32_t *numbers;  /* by frame: number of the node, from 1 */
    double total, most; /* most: the largest magnitude of a self value */
    int is_double;
    unsigned lost;
};

/* ---- texts ---- */

static pcol_status put(struct writer *w, const char *text, pcol_error *err)
{
    return pci_callgraph_text(&w->graph, text, err);
}

/* A name within a quoted string. */
static pcol_status put_name(struct writer *w, pcol_str name, pcol_error *err)
{
    size_t at = 0;
    while (at < name.size && at < LONGEST_NAME) {
        const uint8_t *p = (const uint8_t *)name.data + at;
        size_t size = pci_utf8_size(p, name.size - at, 0);
        int is_control = *p < 0x20 || *p == 0x7f;
        at += size ? size : 1;
        if (*p == '\n')
            PCI_TRY(put(w, "\\n", err));
        else if (*p == '"' || *p == '\\')
            PCI_TRY(put(w, *p == '"' ? "\\\"" : "\\\\", err));
        else if (*p == '&')
            PCI_TRY(put(w, "&amp;", err));
        else if (size && !is_control)
            PCI_TRY(pci_out(w->graph.out, p, size, err));
        else
            PCI_TRY(put(w, "\xef\xbf\xbd", err));
        w->lost |= !size || (is_control && *p != '\n') ? LOSS_BYTES : 0u;
    }
    if (at >= name.size)
        return PCOL_OK;
    w->lost |= LOSS_LONG;
    return put(w, "\xe2\x80\xa6", err);
}

static double value_of(const struct writer *w, pcol_amount amount)
{
    return pci_amount_to_double(amount, w->is_double);
}

/* A value as people read it: "1.24s". */
static pcol_status put_value(struct writer *w, pcol_amount amount, pcol_error *err)
{
    char buffer[PCI_LABEL_TEXT];
    pcol_str unit = w->graph.view->unit;
    double size;
    char dimension = pci_label_unit_size(unit, &size);
    int64_t whole = amount.i64;
    double scaled = value_of(w, amount) * size;
    if (w->is_double && dimension && fabs(scaled) < 9e18) {
        whole = (int64_t)rint(scaled);
        unit = dimension == 't' ? (pcol_str){"ns", 2} : (pcol_str){"b", 1};
    } else if (w->is_double) {
        return pci_out(w->graph.out, buffer, pci_number_format(amount.f64, buffer), err);
    }
    return pci_out(w->graph.out, buffer, pci_label_scale(whole, unit, buffer), err);
}

/* " (12.34%)" of the total. */
static pcol_status put_share(struct writer *w, pcol_amount amount, pcol_error *err)
{
    double share = w->total > 0 ? fabs(value_of(w, amount)) / w->total * 1e4 : 0;
    if (!isfinite(share) || share > 1e12)
        share = 0;
    long long cents = (long long)rint(share);
    return pci_callgraph_print(&w->graph, err, " (%lld.%02lld%%)", cents / 100, cents % 100);
}

static pcol_status put_exact(struct writer *w, const char *key, pcol_amount amount, pcol_error *err)
{
    char buffer[64];
    PCI_TRY(pci_callgraph_print(&w->graph, err, " %s=\"", key));
    if (w->is_double)
        PCI_TRY(pci_out(w->graph.out, buffer, pci_number_format(amount.f64, buffer), err));
    else
        PCI_TRY(pci_out_int(w->graph.out, amount.i64, err));
    return put(w, "\"", err);
}

/* From grey to red by the share of the total, to green for values below 0. */
static pcol_status put_colour(struct writer *w, const char *key, pcol_amount amount, int most,
                              int least, pcol_error *err)
{
    double share = w->total > 0 ? value_of(w, amount) / w->total : 0;
    double strength = isfinite(share) ? sqrt(fmin(fabs(share), 1)) : 0;
    int other = most - (int)(strength * (most - least));
    int red = share < 0 ? other : most, green = share < 0 ? most : other;
    return pci_callgraph_print(&w->graph, err, " %s=\"#%02x%02x%02x\"", key, (unsigned)red,
                               (unsigned)green, (unsigned)other);
}

/* ---- nodes and edges ---- */

static pcol_status put_node(struct writer *w, uint32_t frame, pcol_error *err)
{
    const struct pci_frame *f = w->graph.view->frames[frame];
    pcol_amount self = w->dot.side->frame_self[frame], total = w->dot.side->frame_total[frame];
    double weight = w->most > 0 ? fabs(value_of(w, self)) / w->most : 0;
    PCI_TRY(pci_callgraph_print(&w->graph, err, "N%u [label=\"", w->numbers[frame]));
    PCI_TRY(put_name(w, f->name, err));
    PCI_TRY(put(w, "\\n", err));
    PCI_TRY(put_value(w, self, err));
    PCI_TRY(put_share(w, self, err));
    if (memcmp(&self, &total, sizeof self) != 0) {
        PCI_TRY(put(w, "\\nof ", err));
        PCI_TRY(put_value(w, total, err));
        PCI_TRY(put_share(w, total, err));
    }
    PCI_TRY(put(w, "\" tooltip=\"", err));
    PCI_TRY(put_name(w, f->name, err));
    PCI_TRY(pci_callgraph_print(&w->graph, err, "\" id=\"node%u\" fontsize=%d", w->numbers[frame],
                                8 + (int)(16 * sqrt(fmin(weight, 1)))));
    PCI_TRY(put_colour(w, "color", total, 0xb0, 0x10, err));
    PCI_TRY(put_colour(w, "fillcolor", total, 0xee, 0xd0, err));
    PCI_TRY(put_exact(w, "self", self, err));
    PCI_TRY(put_exact(w, "total", total, err));
    return put(w, "]\n", err);
}

static pcol_status put_edge(struct writer *w, const struct pci_dot_edge *edge, pcol_error *err)
{
    double share = w->total > 0 ? fmin(edge->magnitude / w->total, 1) : 0;
    PCI_TRY(pci_callgraph_print(&w->graph, err, "N%u -> N%u [label=\" ", w->numbers[edge->from],
                                w->numbers[edge->to]));
    PCI_TRY(put_value(w, edge->weight, err));
    PCI_TRY(put(w, "\" tooltip=\"", err));
    PCI_TRY(put_name(w, w->graph.view->frames[edge->from]->name, err));
    PCI_TRY(put(w, edge->is_residual ? " ... " : " -&gt; ", err));
    PCI_TRY(put_name(w, w->graph.view->frames[edge->to]->name, err));
    PCI_TRY(pci_callgraph_print(&w->graph, err, "\" weight=%d penwidth=%d", 1 + (int)(100 * share),
                                1 + (int)(5 * share)));
    PCI_TRY(put_colour(w, "color", edge->weight, 0xb0, 0x10, err));
    if (edge->is_residual)
        PCI_TRY(put(w, " style=\"dotted\"", err));
    PCI_TRY(put_exact(w, "total", edge->weight, err));
    return put(w, "]\n", err);
}

/* The legend: a box with the sample type, its total and the number of functions. */
static pcol_status put_legend(struct writer *w, pcol_error *err)
{
    const pcol_view *view = w->graph.view;
    PCI_TRY(put(w, "subgraph cluster_legend { legend [shape=box fontsize=16 label=\"", err));
    if (view->type.size) {
        PCI_TRY(put(w, "type: ", err));
        PCI_TRY(put_name(w, view->type, err));
        PCI_TRY(put(w, view->unit.size ? ", unit: " : "", err));
        PCI_TRY(put_name(w, view->unit, err));
        PCI_TRY(put(w, "\\l", err));
    }
    PCI_TRY(put(w, "total: ", err));
    PCI_TRY(put_value(w, w->dot.side->whole, err));
    PCI_TRY(pci_callgraph_print(&w->graph, err, "\\lfunctions: %u of %u\\l", w->dot.node_count,
                                w->dot.node_count + w->dot.dropped_nodes));
    if (w->dot.dropped_edges)
        PCI_TRY(pci_callgraph_print(&w->graph, err, "calls left out: %u\\l", w->dot.dropped_edges));
    PCI_TRY(put(w, "\"", err));
    PCI_TRY(put_exact(w, "total", w->dot.side->whole, err));
    return put(w, "] }\n", err);
}

static pcol_status put_graph(struct writer *w, pcol_error *err)
{
    struct pci_dot_graph *dot = &w->dot;
    PCI_TRY(
        put(w, "digraph \"pcol\" {\nnode [shape=box style=filled fillcolor=\"#f8f8f8\"]\n", err));
    PCI_TRY(put_legend(w, err));
    for (uint32_t i = 0; i < dot->node_count; i++)
        w->numbers[dot->nodes[i]] = i + 1;
    for (uint32_t i = 0; i < dot->node_count; i++)
        PCI_TRY(put_node(w, dot->nodes[i], err));
    PCI_TRY(
        pci_sort(dot->edges, dot->edge_count, sizeof *dot->edges, pci_dot_edge_compare, NULL, err));
    for (uint32_t i = 0; i < dot->edge_count; i++)
        if (!dot->edges[i].is_removed)
            PCI_TRY(put_edge(w, &dot->edges[i], err));
    PCI_TRY(put(w, "}\n", err));
    return pci_out_flush(w->graph.out, err);
}

/* ---- export ---- */

static pcol_status write_graph(struct writer *w, const struct pci_export *export, pcol_error *err)
{
    int others, left_out;
    PCI_TRY(pci_callgraph_open(&w->graph, export, PCOL_BY_FUNCTION, err));
    PCI_TRY(pci_dot_graph_open(&w->dot, w->graph.view, export->options, err));
    w->is_double = w->dot.side->is_double;
    w->total = fabs(value_of(w, w->dot.side->whole));
    for (uint32_t i = 0; i < w->dot.node_count; i++)
        w->most = fmax(w->most, fabs(value_of(w, w->dot.side->frame_self[w->dot.nodes[i]])));
    PCI_TRY(PCI_CALLOC(w->numbers, (size_t)w->graph.view->frame_count + 1, err));
    PCI_TRY(put_graph(w, err));
    PCI_TRY(pci_types_has_others(&w->graph.types, export->first_source, export->last_source,
                                 &w->graph.chosen, &others, err));
    PCI_TRY(pci_callgraph_leaves_out(&w->graph, &left_out, err));
    w->lost |= others ? LOSS_TYPES : 0u;
    w->lost |= left_out ? LOSS_STACKLESS : 0u;
    w->lost |= w->dot.dropped_nodes || w->dot.dropped_edges ? LOSS_LIMITS : 0u;
    w->lost |= pci_callgraph_has_stacks(&w->graph) ? LOSS_STACKS : 0u;
    pci_export_report(w->graph.export, losses, sizeof losses / sizeof *losses, w->lost);
    return pci_export_losses(w->graph.export, NULL, err);
}

pcol_status pci_dot_write(const struct pci_export *export, pcol_error *err)
{
    struct writer w = {0};
    pcol_status status = write_graph(&w, export, err);
    pci_free(w.numbers);
    pci_dot_graph_close(&w.dot);
    pci_callgraph_close(&w.graph);
    return status;
}
