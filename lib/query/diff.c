/*
 * diff.c - differences between two profiles
 *
 * Both queries are answered separately, and the rows of the two answers are matched by the frame
 * they display. Stacks are matched name by name from the root in one tree of both profiles
 * (tree_pair.c). Tests: suite answers.
 */
#include "query/diff.h"
#include "query/tree_pair.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static uint64_t hash_frame(const struct pci_frame *frame)
{
    uint64_t name = pci_hash_bytes(frame->name.data,
                                   (frame->flags & PCI_FRAME_HAS_NAME) ? frame->name.size : 0);
    uint64_t file = pci_hash_bytes(frame->file.data,
                                   (frame->flags & PCI_FRAME_HAS_FILE) ? frame->file.size : 0);
    return pci_hash_pair(pci_hash_pair(name, file), (uint64_t)frame->line ^ frame->address);
}

/* Finds or appends the row of `frame`. */
static pcol_status find_row(struct pci_diff *d, const struct pci_frame *frame,
                            struct pci_diff_row **row, pcol_error *err)
{
    uint64_t hash = hash_frame(frame);
    size_t slot = pci_hash_start(&d->hash, hash);
    uint32_t id;
    *row = NULL;
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
    PCI_TRY(
        pci_query_top(query, options->by, options->label, PCOL_ORDER_NAME, &d->tops[side], err));
    size_t count = pci_top_count(d->tops[side]);
    pcol_query_info info;
    pci_query_describe(query, &info);
    for (size_t i = 0; i < count; i++) {
        struct pci_top_row row_from;
        struct pci_diff_row *row;
        pci_top_get(d->tops[side], i, &row_from);
        /* The row of a thread or source in one file identifies nothing in the other. Threads or
         * sources of the same name are one row. */
        row_from.frame.flags &= ~PCI_FRAME_HAS_ROW;
        row_from.frame.row = 0;
        PCI_TRY(find_row(d, &row_from.frame, &row, err));
        if (pci_amount_add(pci_info_is_double(&info), &row->self[side], row_from.self) ||
            pci_amount_add(pci_info_is_double(&info), &row->total[side], row_from.total))
            return pci_amount_overflow(info.type, err);
        row->in[side] = 1;
    }
    return PCOL_OK;
}

/* ---- stacks ---- */

#define MAX_PATH_BYTES ((uint64_t)1 << 30) /* limit of the bytes of all paths */

static int has_self(const struct pci_tree_pair_node *node, const int is_double[2])
{
    return !pci_amount_is_zero(is_double[0], node->self[0]) ||
           !pci_amount_is_zero(is_double[1], node->self[1]);
}

/* Computes the bytes of each node's path. *bytes: total of the nodes that become rows. */
static pcol_status compute_path_sizes(const struct pci_pair *pair, const int is_double[2],
                                      uint64_t *sizes, uint64_t *bytes, pcol_error *err)
{
    const struct pci_call_tree *tree = &pair->tree;
    *bytes = 0;
    for (size_t i = 1; i < tree->count; i++) {
        uint32_t parent = tree->nodes[i].parent;
        sizes[i] = sizes[parent] + (parent != 0) +
                   pci_string_pool_get(&pair->names, tree->nodes[i].group).size;
        *bytes += has_self(&pair->nodes[i], is_double) ? sizes[i] : 0;
        if (*bytes > MAX_PATH_BYTES)
            return pci_fail(err, PCOL_E_LIMIT, "the names of all stacks take more than 1 GiB");
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

static pcol_status add_paths(struct pci_diff *d, const struct pci_pair *pair,
                             const int is_double[2], const uint64_t *sizes, uint64_t bytes,
                             pcol_error *err)
{
    char *path = d->paths = pci_malloc((size_t)bytes + 1, 1);
    if (!path)
        return pci_fail_memory(err);
    for (size_t i = 1; i < pair->tree.count; i++) {
        const struct pci_tree_pair_node *node = &pair->nodes[i];
        if (!has_self(node, is_double))
            continue;
        PCI_TRY(PCI_GROW(d->rows, d->capacity, d->count + 1, err));
        struct pci_diff_row *row = &d->rows[d->count++];
        memset(row, 0, sizeof *row);
        write_path(pair, (uint32_t)i, path, (size_t)sizes[i]);
        row->frame.flags |= PCI_FRAME_HAS_NAME;
        row->frame.name = (pcol_str){path, (size_t)sizes[i]};
        path += sizes[i];
        memcpy(row->self, node->self, sizeof row->self);
        memcpy(row->total, node->total, sizeof row->total);
        memcpy(row->in, node->in, sizeof row->in);
    }
    return PCOL_OK;
}

static pcol_status add_pair(struct pci_diff *d, const struct pci_pair *pair, const int is_double[2],
                            pcol_error *err)
{
    uint64_t bytes;
    uint64_t *sizes;
    PCI_TRY(PCI_CALLOC(sizes, pair->tree.count, err));
    pcol_status status = compute_path_sizes(pair, is_double, sizes, &bytes, err);
    PCI_THEN(status, add_paths(d, pair, is_double, sizes, bytes, err));
    pci_free(sizes);
    return status;
}

static pcol_status add_stacks(struct pci_diff *d, pcol_query *base, pcol_query *other,
                              const int is_double[2], pcol_error *err)
{
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    struct pci_calltree *trees[2] = {NULL, NULL};
    struct pci_pair pair = {0};
    options.order = PCOL_ORDER_NAME;
    pcol_status status = pci_query_calltree(base, &options, &trees[0], err);
    PCI_THEN(status, pci_query_calltree(other, &options, &trees[1], err));
    PCI_THEN(status, pci_tree_pair_new(trees[0], trees[1], is_double, &pair, err));
    if (status == PCOL_OK) {
        status = add_pair(d, &pair, is_double, err);
        pci_tree_pair_clear(&pair);
    }
    pci_calltree_free(trees[0]);
    pci_calltree_free(trees[1]);
    return status;
}

/* ---- values ---- */

/* Converts both sides to one kind and computes the difference. */
static pcol_status subtract(const struct pci_diff *d, const int is_double[2], pcol_amount values[2],
                            pcol_amount *delta, pcol_error *err)
{
    if (!d->info.is_double) {
        if (__builtin_sub_overflow(values[1].i64, values[0].i64, &delta->i64))
            return pci_fail(err, PCOL_E_LIMIT, "a difference does not fit into 64 bits");
        return PCOL_OK;
    }
    values[0].f64 = pci_amount_to_double(values[0], is_double[0]);
    values[1].f64 = pci_amount_to_double(values[1], is_double[1]) * d->info.scale;
    delta->f64 = values[1].f64 - values[0].f64;
    return PCOL_OK;
}

static int compare_changes(const struct pci_diff_row *a, const struct pci_diff_row *b,
                           int is_double, int compare_total)
{
    int self = pci_amount_compare(is_double, b->self_delta, a->self_delta);
    int total = pci_amount_compare(is_double, b->total_delta, a->total_delta);
    int first = compare_total ? total : self, second = compare_total ? self : total;
    if (first || second)
        return first ? first : second;
    return pci_frame_compare(&a->frame, &b->frame);
}

static int compare_names(const void *a, const void *b)
{
    const struct pci_diff_row *x = a, *y = b;
    return pci_frame_compare(&x->frame, &y->frame);
}

static int compare_self(const void *a, const void *b)
{
    return compare_changes(a, b, 0, 0);
}

static int compare_total(const void *a, const void *b)
{
    return compare_changes(a, b, 0, 1);
}

static int compare_self_double(const void *a, const void *b)
{
    return compare_changes(a, b, 1, 0);
}

static int compare_total_double(const void *a, const void *b)
{
    return compare_changes(a, b, 1, 1);
}

static void sort_rows(struct pci_diff *d, pcol_order order)
{
    int (*compare)(const void *, const void *) =
        d->info.is_double ? compare_self_double : compare_self;
    if (order == PCOL_ORDER_TOTAL)
        compare = d->info.is_double ? compare_total_double : compare_total;
    else if (order == PCOL_ORDER_NAME)
        compare = compare_names;
    if (d->count)
        qsort(d->rows, d->count, sizeof *d->rows, compare);
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

static pcol_status describe_sides(struct pci_diff *d, pcol_query *base, pcol_query *other,
                                  int normalize, int is_double[2], pcol_error *err)
{
    pcol_query_info info[2];
    pcol_amount ignored;
    pci_query_describe(base, &info[0]);
    pci_query_describe(other, &info[1]);
    PCI_TRY(pci_tree_pair_same_type(&info[0], &info[1], err));
    is_double[0] = pci_info_is_double(&info[0]);
    is_double[1] = pci_info_is_double(&info[1]);
    d->info.type = info[1].type;
    d->info.unit = info[1].unit;
    d->info.is_double = is_double[0] || is_double[1] || normalize != 0;
    d->info.scale = 1;
    d->info.total[0] = info[0].total;
    d->info.total[1] = info[1].total;
    if (normalize) {
        double totals[2] = {pci_amount_to_double(info[0].total, is_double[0]),
                            pci_amount_to_double(info[1].total, is_double[1])};
        if (!(totals[0] > 0 && totals[1] > 0))
            return pci_fail(err, PCOL_E_ARGUMENT, "a profile whose total is 0 cannot be scaled");
        d->info.scale = totals[0] / totals[1];
    }
    return subtract(d, is_double, d->info.total, &ignored, err);
}

static pcol_status build_diff(struct pci_diff *d, pcol_query *base, pcol_query *other,
                              const pcol_diff_options *options, pcol_error *err)
{
    int is_double[2];
    PCI_TRY(describe_sides(d, base, other, options->flags & PCOL_DIFF_NORMALIZE, is_double, err));
    if (options->by == PCOL_BY_STACK) {
        PCI_TRY(add_stacks(d, base, other, is_double, err));
    } else {
        PCI_TRY(add_top(d, base, 0, options, err));
        PCI_TRY(add_top(d, other, 1, options, err));
    }
    for (size_t i = 0; i < d->count; i++) {
        struct pci_diff_row *row = &d->rows[i];
        PCI_TRY(subtract(d, is_double, row->self, &row->self_delta, err));
        PCI_TRY(subtract(d, is_double, row->total, &row->total_delta, err));
    }
    sort_rows(d, options->order);
    return PCOL_OK;
}

pcol_status pci_query_diff(pcol_query *base, pcol_query *other, const pcol_diff_options *options,
                           struct pci_diff **diff, pcol_error *err)
{
    *diff = NULL;
    struct pci_diff *d;
    PCI_TRY(PCI_CALLOC(d, 1, err));
    pcol_status status;
    PCI_CONTROLLED(&other->control, status, build_diff(d, base, other, options, err), err);
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
    pci_top_free(diff->tops[0]);
    pci_top_free(diff->tops[1]);
    pci_hash_clear(&diff->hash);
    pci_free(diff->paths);
    pci_free(diff->rows);
    pci_free(diff);
}
