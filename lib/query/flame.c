/*
 * flame.c - a call tree laid out as a flame graph (flame.h)
 *
 * A frame is as wide as what it and all below it weigh, negative weights by their size. Frames too
 * narrow to see are left out with all above them, so that a picture costs what it shows, whatever
 * the profile is.
 */
#include "query/flame.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

static double to_double(pcol_amount amount, int is_double)
{
    return is_double ? amount.f64 : (double)amount.i64;
}

/* ---- layout ---- */

/* Weights and starts; parents come before their children. */
static void lay_out(pcol_flame *f)
{
    pcol_calltree_node node;
    for (uint32_t i = f->count; i-- > 0;) {
        pcol_calltree_get(f->tree, i, &node);
        f->weight[i] += fabs(to_double(node.self, f->info.is_double));
        if (i)
            f->weight[node.parent] += f->weight[i];
    }
    /* start[parent] moves behind each child, and in the end back by all that they weigh. */
    for (uint32_t i = 1; i < f->count; i++) {
        pcol_calltree_get(f->tree, i, &node);
        f->start[i] = f->start[node.parent];
        f->start[node.parent] += f->weight[i];
    }
    for (uint32_t i = 0; i < f->count; i++) {
        pcol_calltree_get(f->tree, i, &node);
        f->start[i] -= f->weight[i] - fabs(to_double(node.self, f->info.is_double));
    }
}

static int is_drawn(const pcol_flame *f, uint32_t node)
{
    return f->weight[node] * f->scale >= f->options.min_width_px;
}

/* The nodes that are drawn, by depth. */
static void choose(pcol_flame *f)
{
    pcol_calltree_node node;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t i = 0; i < f->count;) {
            pcol_calltree_get(f->tree, i, &node);
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
            f->cut |= node.depth == PCI_FLAME_DEPTH;
            i++;
        }
        if (fill)
            break;
        for (uint32_t d = 0; d <= f->depth; d++)
            f->row[d + 1] += f->row[d];
        f->drawn = f->row[f->depth + 1];
    }
    /* Filling moved each entry to the next one's place. */
    memmove(f->row + 1, f->row, ((size_t)f->depth + 1) * sizeof *f->row);
    f->row[0] = 0;
}

/* ---- comparing ---- */

double pci_flame_share(const pcol_flame *f, uint32_t node, int which)
{
    const pcol_query_info *info = which ? &f->info : &f->base_info;
    const struct pci_pair_node *pair = &f->pair.nodes[f->pair.of[1][node]];
    double total = fabs(to_double(info->total, info->is_double));
    return total > 0 ? to_double(pair->total[which], info->is_double) / total : 0;
}

int pci_flame_is_new(const pcol_flame *f, uint32_t node)
{
    return !f->pair.nodes[f->pair.of[1][node]].in[0];
}

static void find_largest(pcol_flame *f)
{
    for (uint32_t i = 0; i < f->drawn; i++) {
        double change =
            fabs(pci_flame_share(f, f->order[i], 1) - pci_flame_share(f, f->order[i], 0));
        if (change > f->largest)
            f->largest = change;
    }
}

/* ---- the whole ---- */

static pcol_status make_trees(pcol_flame *f, const pcol_query *query, pcol_error *err)
{
    pcol_calltree_options options = PCOL_INIT(pcol_calltree_options);
    options.order = PCOL_ORDER_NAME;
    options.bottom_up = f->options.reverse;
    options.max_depth = PCI_FLAME_DEPTH;
    PCI_TRY(pcol_query_calltree(query, &options, &f->tree, err));
    f->count = pcol_calltree_count(f->tree);
    if (!f->options.base)
        return PCOL_OK;
    PCI_TRY(pci_pair_same_type(&f->base_info, &f->info, err));
    PCI_TRY(pcol_query_calltree(f->options.base, &options, &f->base_tree, err));
    return pci_pair_new(f->base_tree, f->tree, &f->pair, err);
}

static pcol_status make(pcol_flame *f, const pcol_query *query, pcol_error *err)
{
    PCI_TRY(make_trees(f, query, err));
    f->weight = pci_calloc(f->count, sizeof *f->weight);
    f->start = pci_calloc(f->count, sizeof *f->start);
    f->order = pci_calloc(f->count, sizeof *f->order);
    f->row = pci_calloc(PCI_FLAME_DEPTH + 3, sizeof *f->row);
    if (!f->weight || !f->start || !f->order || !f->row)
        return pci_fail_memory(err);
    lay_out(f);
    if (f->weight[0] > 0)
        f->scale = (f->options.width_px - 2 * PCI_FLAME_PAD) / f->weight[0];
    choose(f);
    if (f->base_tree)
        find_largest(f);
    f->options.base = NULL;
    return PCOL_OK;
}

static pcol_status take_options(pcol_flame *f, const pcol_flame_options *options, pcol_error *err)
{
    if (options && options->size < sizeof options->size)
        return pci_fail(err, PCOL_E_ARGUMENT, "options without a size");
    if (options)
        memcpy(&f->options, options,
               options->size < sizeof f->options ? options->size : sizeof f->options);
    if (!f->options.width_px)
        f->options.width_px = 1200;
    if (f->options.width_px < 40 || f->options.width_px > 100000)
        return pci_fail(err, PCOL_E_ARGUMENT, "width %u is not within 40 to 100000",
                        f->options.width_px);
    if (f->options.min_width_px == 0)
        f->options.min_width_px = 0.3;
    return PCOL_OK;
}

pcol_status pcol_query_flame(const pcol_query *query, const pcol_flame_options *options,
                             pcol_flame **flame, pcol_error *err)
{
    if (!query || !flame)
        return pci_fail(err, PCOL_E_ARGUMENT, "no query or no place for the flame graph");
    *flame = NULL;
    pcol_flame *f = pci_calloc(1, sizeof *f);
    if (!f)
        return pci_fail_memory(err);
    pcol_status status = take_options(f, options, err);
    if (status == PCOL_OK) {
        pcol_query_describe(query, &f->info);
        if (f->options.base)
            pcol_query_describe(f->options.base, &f->base_info);
        status = make(f, query, err);
    }
    if (status == PCOL_OK)
        *flame = f;
    else
        pcol_flame_free(f);
    return status;
}

void pcol_flame_free(pcol_flame *flame)
{
    if (!flame)
        return;
    pci_pair_clear(&flame->pair);
    pcol_calltree_free(flame->tree);
    pcol_calltree_free(flame->base_tree);
    pci_free(flame->weight);
    pci_free(flame->start);
    pci_free(flame->order);
    pci_free(flame->row);
    pci_free(flame);
}

uint32_t pcol_flame_count(const pcol_flame *flame)
{
    return flame->drawn;
}

uint32_t pcol_flame_depth(const pcol_flame *flame)
{
    return flame->depth;
}

void pcol_flame_get(const pcol_flame *flame, uint32_t index, pcol_flame_box *box)
{
    const pcol_flame *f = flame;
    uint32_t i = f->order[index];
    pcol_calltree_node node;
    pcol_calltree_get(f->tree, i, &node);
    *box = (pcol_flame_box){.frame = node.frame,
                            .depth = node.depth,
                            .x_px = f->start[i] * f->scale,
                            .width_px = f->weight[i] * f->scale,
                            .self = node.self,
                            .total = node.total};
    if (!f->base_tree)
        return;
    box->change = pci_flame_share(f, i, 1) - pci_flame_share(f, i, 0);
    box->is_new = pci_flame_is_new(f, i);
}
