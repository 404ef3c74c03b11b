/*
 * flame.c - layout of a call tree as a flame graph
 *
 * The width of a frame is its total; negative values count by magnitude. Without a base the boxes
 * are those of a view (flame_view.c). With a base, the trees of both profiles are laid out as one,
 * so that removed frames are visible. Frames narrower than min_width_px are omitted with their
 * descendants: the cost of drawing depends on the picture, not on the profile. Tests:
 * tests/cli/flame.test.
 */
#include "query/flame.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"
#include "util/sort.h"
#include "util/strbuf.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FREE_NODES (UINT64_C(1) << 21) /* of a tree of a comparison */
#define NODES_PER_STACK 2u

/* ---- nodes ---- */

static void get_node(const struct pci_flame *flame, uint32_t i, struct pci_flame_node *node)
{
    if (flame->joined) {
        *node = flame->joined[i];
        return;
    }
    const struct pci_calltree_node *tree_node = &flame->tree->nodes[i];
    *node = (struct pci_flame_node){tree_node->parent, tree_node->end, tree_node->depth, 0};
}

pcol_str pci_flame_name(const struct pci_flame *flame, uint32_t i)
{
    if (!i)
        return (pcol_str){"all", 3};
    if (flame->joined)
        return pci_string_pool_get(&flame->pair.names,
                                   flame->pair.tree.nodes[flame->joined[i].pair].group);
    return flame->tree->frames.frames[flame->tree->nodes[i].frame].name;
}

pcol_amount pci_flame_total(const struct pci_flame *flame, uint32_t i, int side)
{
    if (flame->joined)
        return flame->pair.nodes[flame->joined[i].pair].total[side];
    return flame->tree->nodes[i].total;
}

static pcol_amount get_self(const struct pci_flame *f, uint32_t i, int side)
{
    if (f->joined)
        return f->pair.nodes[f->joined[i].pair].self[side];
    return f->tree->nodes[i].self;
}

/* ---- shares ---- */

double pci_flame_share(const struct pci_flame *flame, uint32_t i, int side)
{
    const pcol_query_info *info = side ? &flame->info : &flame->base_info;
    double total = fabs(pci_amount_to_double(info->total, pci_info_is_double(info)));
    double share =
        pci_amount_to_double(pci_flame_total(flame, i, side), pci_info_is_double(info)) / total;
    return isfinite(share) ? share : 0; /* total 0, infinite or NaN */
}

int pci_flame_is_in(const struct pci_flame *flame, uint32_t i, int side)
{
    return flame->pair.nodes[flame->joined[i].pair].in[side];
}

static void find_largest_change(struct pci_flame *f)
{
    for (uint32_t i = 0; i < f->drawn; i++) {
        double change =
            fabs(pci_flame_share(f, f->order[i], 1) - pci_flame_share(f, f->order[i], 0));
        if (change > f->largest)
            f->largest = change;
    }
}

/* ---- tree of both profiles ---- */

struct sibling {
    uint32_t parent, node;
    pcol_str name;
};

static int compare_siblings(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct sibling *x = a, *y = b;
    return x->parent != y->parent ? (x->parent < y->parent ? -1 : 1)
                                  : pci_str_compare(x->name, y->name);
}

/* Writes the pair's nodes in pre-order, siblings by name. Parents have lower numbers, so their
 * positions are known first. By node of the pair: its position, the position of its next child, the
 * size of its subtree. */
static pcol_status order_pair(struct pci_flame *f, struct sibling *siblings, uint32_t *position,
                              uint32_t *next, uint32_t *size, pcol_error *err)
{
    const struct pci_call_tree *tree = &f->pair.tree;
    uint32_t count = (uint32_t)tree->count;
    for (uint32_t i = 1; i < count; i++)
        siblings[i - 1] = (struct sibling){
            tree->nodes[i].parent, i, pci_string_pool_get(&f->pair.names, tree->nodes[i].group)};
    PCI_TRY(pci_sort(siblings, count - 1, sizeof *siblings, compare_siblings, NULL, err));
    for (uint32_t i = count; i-- > 0;) {
        size[i]++;
        if (i)
            size[tree->nodes[i].parent] += size[i];
    }
    f->joined[0] = (struct pci_flame_node){.end = count};
    next[0] = 1;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t node = siblings[i].node, parent = siblings[i].parent, index = next[parent];
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        f->joined[index] = (struct pci_flame_node){position[parent], index + size[node],
                                                   f->joined[position[parent]].depth + 1, node};
        next[parent] += size[node];
        position[node] = index;
        next[node] = index + 1;
    }
    return PCOL_OK;
}

static pcol_status order_trees(struct pci_flame *f, pcol_error *err)
{
    size_t count = f->pair.tree.count;
    struct sibling *siblings = pci_malloc(count, sizeof *siblings);
    uint32_t *numbers = pci_calloc(3 * count, sizeof *numbers);
    f->joined = pci_malloc(count, sizeof *f->joined);
    pcol_status status = siblings && numbers && f->joined ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, order_pair(f, siblings, numbers, numbers + count, numbers + 2 * count, err));
    f->count = (uint32_t)count;
    pci_free(siblings);
    pci_free(numbers);
    return status;
}

/* ---- layout ---- */

/* A value as a width: NaN is 0, infinity is the largest double. */
static double to_width(double value)
{
    return isnan(value) ? 0 : fmin(fabs(value), DBL_MAX);
}

/* Weight of a node without its children: self, and at the greatest depth also all descendants. A
 * removed frame has the weight that its share of the base would have in the profile. */
static double get_own_weight(const struct pci_flame *f, uint32_t i)
{
    double totals[2], own;
    struct pci_flame_node node;
    int side = !f->joined || pci_flame_is_in(f, i, 1);
    get_node(f, i, &node);
    pcol_amount amount =
        node.depth == PCI_FLAME_DEPTH ? pci_flame_total(f, i, side) : get_self(f, i, side);
    if (side)
        return ldexp(to_width(pci_amount_to_double(amount, pci_info_is_double(&f->info))),
                     f->exponent);
    totals[0] =
        to_width(pci_amount_to_double(f->base_info.total, pci_info_is_double(&f->base_info)));
    totals[1] = to_width(pci_amount_to_double(f->info.total, pci_info_is_double(&f->info)));
    own = to_width(pci_amount_to_double(amount, pci_info_is_double(&f->base_info)));
    if (totals[0] > 0 && totals[1] > 0)
        own = to_width(own / totals[0] * totals[1]);
    return ldexp(own, f->exponent);
}

/* Scales the largest weight to [1, 2): sums of large doubles do not overflow, and sums of denormals
 * stay exact. */
static void choose_exponent(struct pci_flame *f)
{
    double largest = 0;
    for (uint32_t i = 0; i < f->count; i++)
        largest = fmax(largest, get_own_weight(f, i));
    if (largest > 0)
        f->exponent = -ilogb(largest);
}

/* Computes weights and start positions; parents precede children. */
static pcol_status compute_positions(struct pci_flame *f, pcol_error *err)
{
    struct pci_flame_node node;
    choose_exponent(f);
    for (uint32_t i = f->count; i-- > 0;) {
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        get_node(f, i, &node);
        f->weight[i] += get_own_weight(f, i);
        if (i)
            f->weight[node.parent] += f->weight[i];
    }
    /* start[parent] advances past each child, and is reset at the end by the weight of all
     * children. */
    for (uint32_t i = 1; i < f->count; i++) {
        get_node(f, i, &node);
        f->start[i] = f->start[node.parent];
        f->start[node.parent] += f->weight[i];
    }
    for (uint32_t i = 0; i < f->count; i++)
        f->start[i] -= f->weight[i] - get_own_weight(f, i);
    return PCOL_OK;
}

static int is_drawn(const struct pci_flame *f, uint32_t node)
{
    return f->weight[node] * f->scale >= f->options.min_width_px;
}

/* Collects the drawn nodes by depth: a counting pass, then a filling pass. */
static void collect_drawn(struct pci_flame *f)
{
    struct pci_flame_node node;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t i = 0; i < f->count;) {
            get_node(f, i, &node);
            if (i && !is_drawn(f, i)) {
                i = node.end;
                continue;
            }
            if (fill)
                f->order[f->row[node.depth]++] = i;
            else
                f->row[node.depth + 1]++;
            if (node.depth > f->depth)
                f->depth = node.depth;
            f->is_truncated |= node.depth == PCI_FLAME_DEPTH;
            i++;
        }
        if (fill)
            break;
        for (uint32_t d = 0; d <= f->depth; d++)
            f->row[d + 1] += f->row[d];
        f->drawn = f->row[f->depth + 1];
    }
    /* The filling pass advanced each offset to the next depth's. */
    memmove(f->row + 1, f->row, ((size_t)f->depth + 1) * sizeof *f->row);
    f->row[0] = 0;
}

/* ---- public functions ---- */

/* A tree of callers can have the square of the nodes of the call tree; a comparison holds two. */
static pcol_status build_tree(pcol_query *query, const pcol_tree_options *options,
                              struct pci_calltree **tree, pcol_error *err)
{
    const uint64_t most = FREE_NODES + NODES_PER_STACK * pci_rows(query->file, "stacks");
    PCI_TRY(pci_query_calltree(query, options, tree, err));
    if ((*tree)->count <= most)
        return PCOL_OK;
    return pci_fail(err, PCOL_E_LIMIT,
                    "the graph of the comparison has more than %llu nodes; select samples",
                    (unsigned long long)most);
}

static pcol_status build_trees(struct pci_flame *f, pcol_query *query, pcol_error *err)
{
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    options.order = PCOL_ORDER_NAME;
    options.flags = f->options.flags & PCOL_FLAME_REVERSE ? PCOL_TREE_BOTTOM_UP : 0;
    options.max_depth = PCI_FLAME_DEPTH;
    PCI_TRY(build_tree(query, &options, &f->tree, err));
    PCI_TRY(pci_tree_pair_same_type(&f->base_info, &f->info, err));
    const int is_double[2] = {pci_info_is_double(&f->base_info), pci_info_is_double(&f->info)};
    PCI_TRY(build_tree(f->options.base, &options, &f->base_tree, err));
    PCI_TRY(pci_tree_pair_new(f->base_tree, f->tree, is_double, &f->pair, err));
    return order_trees(f, err);
}

static void set_scale(struct pci_flame *f)
{
    if (f->weight[0] > 0)
        f->scale = (f->options.width_px - 2 * PCI_FLAME_PAD) / f->weight[0];
}

static pcol_status build_flame(struct pci_flame *f, pcol_query *query, pcol_error *err)
{
    if (!f->options.base) {
        PCI_TRY(pci_flame_from_view(f, query, err));
        set_scale(f);
        return PCOL_OK;
    }
    PCI_TRY(build_trees(f, query, err));
    PCI_TRY(PCI_CALLOC(f->weight, f->count, err));
    PCI_TRY(PCI_CALLOC(f->start, f->count, err));
    PCI_TRY(PCI_CALLOC(f->order, f->count, err));
    PCI_TRY(PCI_CALLOC(f->row, PCI_FLAME_DEPTH + 3, err));
    PCI_TRY(compute_positions(f, err));
    set_scale(f);
    collect_drawn(f);
    find_largest_change(f);
    f->options.base = NULL;
    return PCOL_OK;
}

static pcol_status read_options(struct pci_flame *f, const pcol_flame_options *options,
                                pcol_error *err)
{
    f->options = *options;
    if (!f->options.width_px)
        f->options.width_px = 1200;
    if (f->options.width_px < 40 || f->options.width_px > 100000)
        return pci_fail(err, PCOL_E_ARGUMENT, "width %u is out of range: give 40 to 100000",
                        f->options.width_px);
    if (isnan(f->options.min_width_px))
        return pci_fail(err, PCOL_E_ARGUMENT, "min_width_px is not a number");
    if (f->options.min_width_px == 0)
        f->options.min_width_px = 0.3;
    return PCOL_OK;
}

pcol_status pci_query_flame(pcol_query *query, const pcol_flame_options *options,
                            struct pci_flame **flame, pcol_error *err)
{
    *flame = NULL;
    struct pci_flame *f;
    PCI_TRY(PCI_CALLOC(f, 1, err));
    pcol_status status = read_options(f, options, err);
    if (status == PCOL_OK) {
        pci_query_describe(query, &f->info);
        if (f->options.base)
            pci_query_describe(f->options.base, &f->base_info);
        PCI_CONTROLLED(&query->control, status, build_flame(f, query, err), err);
    }
    if (status == PCOL_OK)
        *flame = f;
    else
        pci_flame_free(f);
    return status;
}

void pci_flame_free(struct pci_flame *flame)
{
    if (!flame)
        return;
    pci_tree_pair_clear(&flame->pair);
    pci_calltree_free(flame->tree);
    pci_calltree_free(flame->base_tree);
    pci_free(flame->joined);
    pci_free(flame->weight);
    pci_free(flame->start);
    pci_free(flame->order);
    pci_free(flame->row);
    pci_free(flame);
}

void pci_flame_get(const struct pci_flame *flame, uint32_t index, struct pci_flame_box *box)
{
    const struct pci_flame *f = flame;
    uint32_t i = f->order[index];
    struct pci_flame_node node;
    get_node(f, i, &node);
    *box = (struct pci_flame_box){.name = i ? pci_flame_name(f, i) : (pcol_str){NULL, 0},
                                  .frame = f->joined ? PCOL_NONE : f->tree->nodes[i].frame,
                                  .depth = node.depth,
                                  .x_px = f->start[i] * f->scale,
                                  .width_px = f->weight[i] * f->scale,
                                  .self = get_self(f, i, 1),
                                  .total = pci_flame_total(f, i, 1)};
    if (!f->joined)
        return;
    box->change = pci_flame_share(f, i, 1) - pci_flame_share(f, i, 0);
    box->is_new = !pci_flame_is_in(f, i, 0);
    box->is_gone = !pci_flame_is_in(f, i, 1);
}
