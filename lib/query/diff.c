/*
 * diff.c - differences between a profile and a base, or several bases
 *
 * All queries are answered separately, and the rows of the answers are matched by the frame they
 * display. Stacks are matched name by name from the root in one tree of all profiles (tree_pair.c).
 * Side 0 of the rows has one base at a time (diff_bases.c). Tests: suites answers and gate.
 */
#include "query/diff.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/sized_struct.h"
#include "util/sort.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* Finds or appends the row of `frame`. */
static pcol_status find_row(struct pci_diff *d, const struct pci_frame *frame,
                            struct pci_diff_row **row, pcol_error *err)
{
    uint64_t hash = pci_frame_hash(frame);
    size_t slot = pci_hash_start(&d->hash, hash);
    uint32_t id;
    *row = NULL;
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    while ((id = pci_hash_next(&d->hash, hash, &slot)) != PCI_HASH_NONE) {
        *row = &d->rows[id];
        if (!pci_frame_compare(&(*row)->frame, frame))
            return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(d->rows, d->capacity, d->count + 1, err));
    *row = &d->rows[d->count];
    memset(*row, 0, sizeof **row);
    (*row)->frame = *frame;
    return pci_hash_add(&d->hash, hash, (uint32_t)d->count++, err);
}

static pcol_status add_top(struct pci_diff *d, pcol_query *query, int side,
                           const pcol_diff_options *options, pcol_error *err)
{
    struct pci_top **top = &d->tops[d->top_count];
    pcol_top_options top_options = PCOL_INIT(pcol_top_options);
    top_options.by = options->by;
    top_options.label = options->label;
    top_options.order = PCOL_ORDER_NAME;
    PCI_TRY(pci_query_top(query, &top_options, top, err));
    d->top_count++;
    size_t count = pci_top_count(*top);
    pcol_query_info info;
    pci_query_describe(query, &info);
    for (size_t i = 0; i < count; i++) {
        struct pci_top_row row_from;
        struct pci_diff_row *row;
        pci_top_get(*top, i, &row_from);
        /* The row of a thread or source in one file identifies nothing in the other. Threads or
         * sources of the same name are one row. */
        row_from.frame.flags &= ~PCI_FRAME_HAS_ROW;
        row_from.frame.row = 0;
        PCI_TRY(find_row(d, &row_from.frame, &row, err));
        if (pci_amount_add(pci_info_is_double(&info), &row->sides.self[side], row_from.self) ||
            pci_amount_add(pci_info_is_double(&info), &row->sides.total[side], row_from.total))
            return pci_amount_overflow(info.type, err);
        row->sides.in[side] = 1;
    }
    return PCOL_OK;
}

static pcol_status add_tops(struct pci_diff *d, const struct pci_diff_queries *queries,
                            const pcol_diff_options *options, pcol_error *err)
{
    for (size_t i = 0; i < queries->base_count; i++) {
        PCI_TRY(add_top(d, queries->bases[i], 0, options, err));
        for (size_t k = 0; queries->base_count > 1 && k < d->count; k++)
            PCI_TRY(pci_diff_base_take(d, i, k, &d->rows[k].sides, err));
    }
    PCI_TRY(add_top(d, queries->other, 1, options, err));
    return pci_diff_bases_sort(d, d->count, err);
}

/* ---- stacks ---- */

#define MAX_PATH_BYTES ((uint64_t)1 << 29) /* limit of the bytes of all paths */

static int has_self(const struct pci_diff *d, const struct pci_pair *pair, size_t node)
{
    const struct pci_sides *sides = &pair->nodes[node];
    return !pci_amount_is_zero(d->bases[0].is_double, sides->self[0]) ||
           !pci_amount_is_zero(d->other_is_double, sides->self[1]) ||
           pci_diff_bases_have_self(d, node);
}

/* Computes the bytes of each node's path. *bytes: total of the nodes that become rows. */
static pcol_status compute_path_sizes(const struct pci_diff *d, const struct pci_pair *pair,
                                      uint64_t *sizes, uint64_t *bytes, pcol_error *err)
{
    const struct pci_call_tree *tree = &pair->tree;
    *bytes = 0;
    for (size_t i = 1; i < tree->count; i++) {
        uint32_t parent = tree->nodes[i].parent;
        sizes[i] = sizes[parent] + (parent != 0) +
                   pci_string_pool_get(&pair->names, tree->nodes[i].group).size;
        *bytes += has_self(d, pair, i) ? sizes[i] : 0;
        if (*bytes > MAX_PATH_BYTES)
            return pci_fail(err, PCOL_E_LIMIT, "the names of all stacks take more than 512 MB");
    }
    return PCOL_OK;
}

static void write_path(const struct pci_pair *pair, uint32_t node, char *path, size_t size)
{
    char *end = path + size;
    for (uint32_t ancestor = node; ancestor; ancestor = pair->tree.nodes[ancestor].parent) {
        pcol_str name = pci_string_pool_get(&pair->names, pair->tree.nodes[ancestor].group);
        end -= name.size;
        if (name.size)
            memcpy(end, name.data, name.size);
        if (pair->tree.nodes[ancestor].parent)
            *--end = ';';
    }
}

static pcol_status add_paths(struct pci_diff *d, const struct pci_pair *pair, const uint64_t *sizes,
                             uint64_t bytes, pcol_error *err)
{
    char *path = d->paths = pci_malloc((size_t)bytes + 1, 1);
    if (!path)
        return pci_fail_memory(err);
    for (size_t i = 1; i < pair->tree.count; i++) {
        if (!has_self(d, pair, i))
            continue;
        PCI_TRY(PCI_GROW(d->rows, d->capacity, d->count + 1, err));
        struct pci_diff_row *row = &d->rows[d->count];
        memset(row, 0, sizeof *row);
        write_path(pair, (uint32_t)i, path, (size_t)sizes[i]);
        row->frame.flags |= PCI_FRAME_HAS_NAME;
        row->frame.name = (pcol_str){path, (size_t)sizes[i]};
        path += sizes[i];
        row->sides = pair->nodes[i];
        pci_diff_bases_move(d, d->count++, i);
    }
    return PCOL_OK;
}

static pcol_status add_pair(struct pci_diff *d, const struct pci_pair *pair, pcol_error *err)
{
    uint64_t bytes;
    uint64_t *sizes;
    PCI_TRY(PCI_CALLOC(sizes, pair->tree.count, err));
    pcol_status status = compute_path_sizes(d, pair, sizes, &bytes, err);
    PCI_THEN(status, add_paths(d, pair, sizes, bytes, err));
    pci_free(sizes);
    return status;
}

static pcol_status add_tree(struct pci_pair *pair, pcol_query *query, int side, int is_double,
                            pcol_error *err)
{
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    struct pci_calltree *tree;
    options.order = PCOL_ORDER_NAME;
    PCI_TRY(pci_query_calltree(query, &options, &tree, err));
    pcol_status status = pci_tree_pair_add(pair, tree, side, is_double, err);
    pci_calltree_free(tree);
    return status;
}

static pcol_status add_trees(struct pci_diff *d, struct pci_pair *pair,
                             const struct pci_diff_queries *queries, pcol_error *err)
{
    for (size_t i = 0; i < queries->base_count; i++) {
        PCI_TRY(add_tree(pair, queries->bases[i], 0, d->bases[i].is_double, err));
        for (size_t k = 0; queries->base_count > 1 && k < pair->tree.count; k++)
            PCI_TRY(pci_diff_base_take(d, i, k, &pair->nodes[k], err));
    }
    PCI_TRY(add_tree(pair, queries->other, 1, d->other_is_double, err));
    PCI_TRY(pci_diff_bases_sort(d, pair->tree.count, err));
    return add_pair(d, pair, err);
}

static pcol_status add_stacks(struct pci_diff *d, const struct pci_diff_queries *queries,
                              pcol_error *err)
{
    struct pci_pair pair;
    pcol_status status = pci_tree_pair_init(&pair, err);
    PCI_THEN(status, add_trees(d, &pair, queries, err));
    pci_tree_pair_clear(&pair);
    return status;
}

/* ---- values ---- */

/* Converts both sides to one kind and computes the difference. */
static pcol_status subtract(const struct pci_diff *d, pcol_amount values[2], pcol_amount *delta,
                            pcol_error *err)
{
    if (!d->info.is_double) {
        if (__builtin_sub_overflow(values[1].i64, values[0].i64, &delta->i64))
            return pci_fail(err, PCOL_E_LIMIT, "a difference does not fit into 64 bits");
        return PCOL_OK;
    }
    double base = pci_amount_to_double(values[0], d->base_is_double);
    double other = pci_amount_to_double(values[1], d->other_is_double);
    values[0].f64 = base;
    values[1].f64 = other * d->info.scale;
    delta->f64 = values[1].f64 - values[0].f64;
    if (!isfinite(delta->f64) && isfinite(base) && isfinite(other))
        return pci_fail(err, PCOL_E_LIMIT, "a difference does not fit into 64 bits");
    return PCOL_OK;
}

struct sort_order {
    int is_double;
    pcol_order by;
};

static int compare_rows(const void *pa, const void *pb, const void *context)
{
    const struct pci_diff_row *a = pa, *b = pb;
    const struct sort_order *order = context;
    int self = pci_amount_compare(order->is_double, b->self_delta, a->self_delta);
    int total = pci_amount_compare(order->is_double, b->total_delta, a->total_delta);
    int first = order->by == PCOL_ORDER_TOTAL ? total : self;
    int second = order->by == PCOL_ORDER_TOTAL ? self : total;
    if (order->by != PCOL_ORDER_NAME && (first || second))
        return first ? first : second;
    return pci_frame_compare(&a->frame, &b->frame);
}

static pcol_status sort_rows(struct pci_diff *d, pcol_order by, pcol_error *err)
{
    const struct sort_order order = {d->info.is_double, by};
    return pci_sort(d->rows, d->count, sizeof *d->rows, compare_rows, &order, err);
}

/* ---- public functions ---- */

pcol_status pci_tree_pair_same_type(const pcol_query_info *base, const pcol_query_info *other,
                                    pcol_error *err)
{
    const pcol_str *text[4] = {&base->type, &base->unit, &other->type, &other->unit};
    int size[4];
    for (int i = 0; i < 4; i++)
        size[i] = (int)(text[i]->size < 60 ? text[i]->size : 60);
    if (!pci_str_compare(base->type, other->type) && !pci_str_compare(base->unit, other->unit))
        return PCOL_OK;
    return pci_fail(err, PCOL_E_ARGUMENT,
                    "sample types differ: %.*s/%.*s in the base, %.*s/%.*s in the other", size[0],
                    text[0]->data, size[1], text[1]->data, size[2], text[2]->data, size[3],
                    text[3]->data);
}

/* Types and totals of all profiles; the scale of each. */
static pcol_status describe_sides(struct pci_diff *d, const struct pci_diff_queries *queries,
                                  int normalize, pcol_error *err)
{
    pcol_query_info other, base;
    pcol_amount ignored;
    size_t n = queries->base_count;
    pci_query_describe(queries->other, &other);
    d->other_is_double = pci_info_is_double(&other);
    d->info.is_double = d->other_is_double || normalize || n > 1;
    for (size_t i = 0; i < n; i++) {
        pci_query_describe(queries->bases[i], &base);
        PCI_TRY(pci_tree_pair_same_type(&base, &other, err));
        d->bases[i].is_double = pci_info_is_double(&base);
        d->bases[i].scale = 1;
        d->bases[i].whole = pci_amount_to_double(base.total, d->bases[i].is_double);
        d->info.is_double |= d->bases[i].is_double;
        d->values[i] = d->bases[i].whole;
    }
    pci_diff_spread(d->values, n, 0, &d->info.base_totals);
    d->info.base_count = n;
    d->info.type = other.type;
    d->info.unit = other.unit;
    d->info.scale = 1;
    d->info.total[1] = other.total;
    d->info.other_total = pci_amount_to_double(other.total, d->other_is_double);
    d->base_is_double = n > 1 || d->bases[0].is_double;
    d->info.total[0] = base.total;
    if (n > 1)
        d->info.total[0].f64 = d->info.base_totals.median;
    if (normalize)
        PCI_TRY(pci_diff_scale(d, err));
    return subtract(d, d->info.total, &ignored, err);
}

/* Values of all bases as one, and the difference to them. */
static pcol_status compare_row(struct pci_diff *d, size_t at, pcol_error *err)
{
    struct pci_diff_row *row = &d->rows[at];
    row->samples = fabs(pci_amount_to_double(row->sides.total[1], d->other_is_double));
    if (d->info.base_count > 1)
        pci_diff_bases_join(d, at);
    else
        row->samples =
            fmax(row->samples, fabs(pci_amount_to_double(row->sides.total[0], d->base_is_double)));
    PCI_TRY(subtract(d, row->sides.self, &row->self_delta, err));
    return subtract(d, row->sides.total, &row->total_delta, err);
}

static pcol_status build_diff(struct pci_diff *d, const struct pci_diff_queries *queries,
                              const pcol_diff_options *options, pcol_error *err)
{
    PCI_TRY(pci_diff_bases_open(d, queries, err));
    PCI_TRY(describe_sides(d, queries, (options->flags & PCOL_DIFF_NORMALIZE) != 0, err));
    if (options->by == PCOL_BY_STACK)
        PCI_TRY(add_stacks(d, queries, err));
    else
        PCI_TRY(add_tops(d, queries, options, err));
    for (size_t i = 0; i < d->count; i++)
        PCI_TRY(compare_row(d, i, err));
    if (options->flags & PCOL_DIFF_FAIL_ABOVE && options->min_samples && queries->counts) {
        PCI_TRY(sort_rows(d, PCOL_ORDER_NAME, err));
        PCI_TRY(pci_diff_count(d, queries, options, err));
    }
    PCI_TRY(pci_diff_judge(d, options, err));
    return sort_rows(d, options->order, err);
}

pcol_status pci_query_diff(const struct pci_diff_queries *queries, const pcol_diff_options *options,
                           struct pci_diff **diff, pcol_error *err)
{
    *diff = NULL;
    struct pci_diff *d;
    PCI_TRY(PCI_CALLOC(d, 1, err));
    pcol_status status;
    PCI_CONTROLLED(&queries->other->control, status, build_diff(d, queries, options, err), err);
    if (status == PCOL_OK)
        *diff = d;
    else
        pci_diff_free(d);
    return status;
}

void pci_diff_free(struct pci_diff *diff)
{
    if (!diff)
        return;
    for (size_t i = 0; i < diff->top_count; i++)
        pci_top_free(diff->tops[i]);
    pci_free(diff->tops);
    pci_diff_bases_close(diff);
    pci_hash_clear(&diff->hash);
    pci_free(diff->paths);
    pci_free(diff->rows);
    pci_free(diff);
}
