/*
 * dot_graph.c - selection of the functions and calls of a graph, by the rules of pprof
 *
 * Functions below a share of the total are left out, then all but the first ones in the order of a
 * score: the total times the entropy of the calls to and from a function, so that functions that
 * only pass calls on go first. Calls over functions that were left out are residual. Of each stack
 * a call counts once. At last calls below a share go, and residual calls that another path
 * replaces. Tests: suite call_graphs.
 */
#include "formats/callgraph/dot_graph.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/sort.h"

#include <math.h>

#define SEARCH_STEPS (UINT64_C(1) << 26) /* limit of the search for redundant calls */

static double value_of(const struct pci_dot_graph *g, pcol_amount amount)
{
    return pci_amount_to_double(amount, g->side->is_double);
}

/* ---- calls between shown functions ---- */

static pcol_status find_edge(struct pci_dot_graph *g, uint32_t from, uint32_t to, uint32_t *edge,
                             pcol_error *err)
{
    uint64_t hash = pci_hash_pair(from, to);
    size_t slot = pci_hash_start(&g->hash, hash);
    while ((*edge = pci_hash_next(&g->hash, hash, &slot)) != PCI_HASH_NONE)
        if (g->edges[*edge].from == from && g->edges[*edge].to == to)
            return PCOL_OK;
    PCI_TRY(PCI_GROW(g->edges, g->edge_capacity, (size_t)g->edge_count + 1, err));
    PCI_TRY(PCI_GROW(g->counted_to, g->counted_capacity, (size_t)g->edge_count + 1, err));
    PCI_TRY(pci_hash_add(&g->hash, hash, g->edge_count, err));
    g->edges[g->edge_count] = (struct pci_dot_edge){
        .from = from, .to = to, .from_rank = g->view->rank[from], .to_rank = g->view->rank[to]};
    g->counted_to[g->edge_count] = 0;
    *edge = g->edge_count++;
    return PCOL_OK;
}

static pcol_status add_node(struct pci_dot_graph *g, uint32_t node, pcol_error *err)
{
    const pcol_view *view = g->view;
    uint32_t parent = view->parent[node], from = g->caller[parent], frame = view->node_frame[node];
    uint32_t edge;
    int is_residual = g->skipped[parent];
    if (!g->shown[frame]) {
        g->caller[node] = from;
        g->skipped[node] = 1;
        return PCOL_OK;
    }
    g->caller[node] = node;
    g->skipped[node] = 0;
    if (!from || view->node_frame[from] == frame)
        return PCOL_OK;
    PCI_TRY(find_edge(g, view->node_frame[from], frame, &edge, err));
    if (node < g->counted_to[edge])
        return PCOL_OK;
    g->counted_to[edge] = view->end[node];
    if (pci_amount_is_zero(g->side->is_double, g->side->total[node]))
        return PCOL_OK; /* its calls below are counted with it */
    g->edges[edge].has_value = 1;
    g->edges[edge].is_residual |= is_residual != 0;
    return pci_amount_add(g->side->is_double, &g->edges[edge].weight, g->side->total[node])
               ? pci_amount_overflow(view->type, err)
               : PCOL_OK;
}

static pcol_status add_edges(struct pci_dot_graph *g, pcol_error *err)
{
    pci_hash_clear(&g->hash);
    g->hash = (struct pci_hash){0};
    g->edge_count = 0;
    for (uint32_t i = 1; i < g->view->node_count; i++)
        PCI_TRY(add_node(g, i, err));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->edge_count; i++)
        if (g->edges[i].has_value)
            g->edges[kept++] = g->edges[i];
    g->edge_count = kept;
    return pci_work((uint64_t)g->view->node_count * sizeof(uint64_t), err);
}

/* ---- order of functions ---- */

struct scored {
    uint32_t frame, rank; /* rank: in order of names */
    double score;
};

/* Sums of the calls to (0) and from (1) a function, then the entropy of their shares. */
struct calls {
    double sum[2], entropy[2];
    uint32_t count[2];
};

static void add_entropy(double weight, double sum, double *entropy)
{
    double share = fabs(weight) / sum;
    if (sum > 0 && share > 0)
        *entropy -= share * log2(share);
}

static double get_score(const struct pci_dot_graph *g, uint32_t frame, const struct calls *calls)
{
    double self = value_of(g, g->side->frame_self[frame]), score = 0;
    double total = value_of(g, g->side->frame_total[frame]);
    for (int way = 0; way < 2; way++)
        score += calls->count[way] ? calls->entropy[way] : 1;
    score *= total;
    return (g->side->is_double ? score : trunc(score)) + self;
}

static void add_calls(const struct pci_dot_graph *g, struct calls *calls)
{
    for (uint32_t i = 0; i < g->edge_count; i++) {
        double weight = value_of(g, g->edges[i].weight);
        calls[g->edges[i].from].count[1]++;
        calls[g->edges[i].to].count[0]++;
        calls[g->edges[i].from].sum[1] += weight > 0 ? weight : 0;
        calls[g->edges[i].to].sum[0] += weight > 0 ? weight : 0;
    }
    for (uint32_t i = 0; i < g->node_count; i++)
        calls[g->nodes[i]].sum[1] += value_of(g, g->side->frame_self[g->nodes[i]]);
    for (uint32_t i = 0; i < g->edge_count; i++) {
        double weight = value_of(g, g->edges[i].weight);
        struct calls *from = &calls[g->edges[i].from], *to = &calls[g->edges[i].to];
        add_entropy(weight, from->sum[1], &from->entropy[1]);
        add_entropy(weight, to->sum[0], &to->entropy[0]);
    }
    for (uint32_t i = 0; i < g->node_count; i++) {
        struct calls *of = &calls[g->nodes[i]];
        double self = value_of(g, g->side->frame_self[g->nodes[i]]);
        if (self > 0)
            add_entropy(self, of->sum[1], &of->entropy[1]);
    }
}

static int compare_scores(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct scored *a = pa, *b = pb;
    double x = fabs(a->score), y = fabs(b->score);
    if (x > y || x < y)
        return x > y ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static pcol_status sort_nodes(struct pci_dot_graph *g, pcol_error *err)
{
    struct scored *list;
    struct calls *calls = NULL;
    PCI_TRY(PCI_MALLOC(list, (size_t)g->node_count + 1, err));
    pcol_status status = PCI_CALLOC(calls, (size_t)g->view->frame_count + 1, err);
    if (status == PCOL_OK) {
        add_calls(g, calls);
        for (uint32_t i = 0; i < g->node_count; i++)
            list[i] = (struct scored){g->nodes[i], g->view->rank[g->nodes[i]],
                                      get_score(g, g->nodes[i], &calls[g->nodes[i]])};
        status = pci_sort(list, g->node_count, sizeof *list, compare_scores, NULL, err);
        for (uint32_t i = 0; status == PCOL_OK && i < g->node_count; i++)
            g->nodes[i] = list[i].frame;
    }
    pci_free(calls);
    pci_free(list);
    return status;
}

/* ---- limits ---- */

static double get_limit(const struct pci_dot_graph *g, double share, double otherwise)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->view->frame_count; i++)
        sum += value_of(g, g->side->frame_self[i]);
    share = share > 0 ? share : share < 0 ? 0 : otherwise;
    sum = fabs(sum * share);
    return g->side->is_double ? sum : trunc(sum);
}

static void select_nodes(struct pci_dot_graph *g)
{
    const struct pci_view_side *side = g->side;
    for (uint32_t i = 0; i < g->view->frame_count; i++) {
        if (pci_amount_is_zero(side->is_double, side->frame_total[i]) &&
            pci_amount_is_zero(side->is_double, side->frame_self[i]))
            continue;
        g->shown[i] = fabs(value_of(g, side->frame_total[i])) >= g->node_limit;
        if (g->shown[i])
            g->nodes[g->node_count++] = i;
        else
            g->dropped_nodes++;
    }
}

static void remove_light_edges(struct pci_dot_graph *g)
{
    for (uint32_t i = 0; i < g->edge_count; i++) {
        struct pci_dot_edge *edge = &g->edges[i];
        edge->magnitude = fabs(value_of(g, edge->weight));
        edge->is_removed = edge->magnitude < g->edge_limit;
        g->dropped_edges += edge->is_removed;
    }
}

/* ---- redundant calls ---- */

/* By callee, then the heaviest first. */
static int compare_incoming(const void *pa, const void *pb, const void *context)
{
    const struct pci_dot_edge *a = pa, *b = pb;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return pci_dot_edge_compare(a, b, context);
}

int pci_dot_edge_compare(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct pci_dot_edge *a = pa, *b = pb;
    if (a->magnitude > b->magnitude || a->magnitude < b->magnitude)
        return a->magnitude > b->magnitude ? -1 : 1;
    if (a->from_rank != b->from_rank)
        return a->from_rank < b->from_rank ? -1 : 1;
    return (a->to_rank > b->to_rank) - (a->to_rank < b->to_rank);
}

/* Search through the calls to each function: edges[first[frame]], ... */
struct search {
    uint32_t *first;        /* by frame, and one more */
    uint32_t *queue, *seen; /* seen: by frame: number of the last search that reached it */
    uint32_t number;
    uint64_t steps;
};

/* Whether the caller of an edge reaches its callee without it. */
static int is_redundant(const struct pci_dot_graph *g, struct search *s, uint32_t edge)
{
    size_t count = 1;
    s->number++;
    s->queue[0] = g->edges[edge].to;
    s->seen[s->queue[0]] = s->number;
    for (size_t at = 0; at < count; at++)
        for (uint32_t i = s->first[s->queue[at]]; i < s->first[s->queue[at] + 1]; i++) {
            const struct pci_dot_edge *e = &g->edges[i];
            s->steps++;
            if (i == edge || e->is_removed || s->seen[e->from] == s->number)
                continue;
            if (e->from == g->edges[edge].from)
                return 1;
            s->seen[e->from] = s->number;
            s->queue[count++] = e->from;
        }
    return 0;
}

/* The least interesting functions first; of each the lightest calls first, down to one that is not
 * residual. */
static void remove_redundant(struct pci_dot_graph *g, struct search *s)
{
    for (uint32_t n = g->node_count; n-- > 0;) {
        uint32_t first = s->first[g->nodes[n]], end = s->first[g->nodes[n] + 1];
        for (uint32_t i = end; i-- > first && s->steps < SEARCH_STEPS;) {
            struct pci_dot_edge *e = &g->edges[i];
            if (e->is_removed)
                continue;
            if (!e->is_residual)
                break;
            e->is_removed = (uint8_t)is_redundant(g, s, i);
        }
    }
}

static pcol_status simplify(struct pci_dot_graph *g, pcol_error *err)
{
    struct search s = {0};
    size_t frames = (size_t)g->view->frame_count + 2;
    pcol_status status = PCI_CALLOC(s.first, frames, err);
    PCI_THEN(status, PCI_CALLOC(s.queue, frames, err));
    PCI_THEN(status, PCI_CALLOC(s.seen, frames, err));
    PCI_THEN(status,
             pci_sort(g->edges, g->edge_count, sizeof *g->edges, compare_incoming, NULL, err));
    if (status == PCOL_OK) {
        for (uint32_t i = 0; i < g->edge_count; i++)
            s.first[g->edges[i].to + 1] = i + 1;
        for (uint32_t i = 0; i < g->view->frame_count; i++)
            if (s.first[i + 1] < s.first[i])
                s.first[i + 1] = s.first[i];
        remove_redundant(g, &s);
    }
    pci_free(s.first);
    pci_free(s.queue);
    pci_free(s.seen);
    return status;
}

/* ---- the graph ---- */

static pcol_status build(struct pci_dot_graph *g, const pcol_export_options *options,
                         pcol_error *err)
{
    uint32_t most = options->node_count ? options->node_count : 80;
    size_t frames = (size_t)g->view->frame_count + 1, nodes = (size_t)g->view->node_count + 1;
    PCI_TRY(PCI_CALLOC(g->nodes, frames, err));
    PCI_TRY(PCI_CALLOC(g->shown, frames, err));
    PCI_TRY(PCI_CALLOC(g->caller, nodes, err));
    PCI_TRY(PCI_CALLOC(g->skipped, nodes, err));
    g->node_limit = get_limit(g, options->node_fraction, 0.005);
    g->edge_limit = get_limit(g, options->edge_fraction, 0.001);
    select_nodes(g);
    PCI_TRY(add_edges(g, err));
    PCI_TRY(sort_nodes(g, err));
    if (g->node_count > most) {
        for (uint32_t i = most; i < g->node_count; i++)
            g->shown[g->nodes[i]] = 0;
        g->dropped_nodes += g->node_count - most;
        g->node_count = most;
        PCI_TRY(add_edges(g, err));
        PCI_TRY(sort_nodes(g, err));
    }
    remove_light_edges(g);
    return simplify(g, err);
}

pcol_status pci_dot_graph_open(struct pci_dot_graph *graph, pcol_view *view,
                               const pcol_export_options *options, pcol_error *err)
{
    *graph = (struct pci_dot_graph){.view = view, .side = &view->side[0]};
    PCI_TRY(pci_view_frame_sums(view, err));
    return build(graph, options, err);
}

void pci_dot_graph_close(struct pci_dot_graph *graph)
{
    pci_hash_clear(&graph->hash);
    pci_free(graph->nodes);
    pci_free(graph->edges);
    pci_free(graph->shown);
    pci_free(graph->counted_to);
    pci_free(graph->caller);
    pci_free(graph->skipped);
}
