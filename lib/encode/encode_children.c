/*
 * encode_children.c - a column in an encoding with children: marks, parts of its rows, runs
 *
 * Each of them writes what is its own, and its children's values are encoded by the same rules as
 * any column's, one level deeper.
 */
#include "encode/encode_children.h"

#include "util/alloc.h"

static struct pcf_column *column_of(struct pci_container *writer, uint32_t column)
{
    return &writer->columns[column];
}

/* ---- parts ---- */

static pcol_status put_child(struct pci_container *writer, uint32_t child,
                             const struct pci_value_source *source, int depth, pcol_error *err)
{
    column_of(writer, child)->type = source->type;
    column_of(writer, child)->rows = source->rows;
    return pci_encode_at(writer, child, source, depth, err);
}

/* Some of a column's rows are read more than once: so many are kept. */
#define KEPT_ROWS (UINT64_C(1) << 20)
#define MOST_PARTS 2

/* The marks of a column, and a child for each part of its rows. */
struct parts {
    size_t count;
    const struct pci_row_part *all[MOST_PARTS];
    struct pci_partition_capture *keepings[MOST_PARTS + 1]; /* of some, NULL behind them */
    struct pci_kept *kept[MOST_PARTS];                      /* NULL: the part itself is read */
};

static int has_all(const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->kept[i] && parts->all[i]->source.rows)
            return 0;
    return 1;
}

static pcol_status gather_parts(struct pci_container *writer, uint32_t column, struct parts *parts,
                                pcol_error *err)
{
    const struct pci_row_part *first = parts->all[0];
    size_t count = 0, number[MOST_PARTS];
    pcol_status status = PCOL_OK;
    for (size_t i = 0; i < parts->count && status == PCOL_OK; i++) {
        uint64_t rows = parts->all[i]->source.rows;
        if (!rows || rows > KEPT_ROWS)
            continue;
        number[count] = i;
        status = pci_partition_capture_new(parts->all[i], writer->out.store,
                                           &parts->keepings[count++], err);
    }
    if (status == PCOL_OK)
        status = pci_emit_marks(writer, column, first->all, first->mark, first->context,
                                parts->keepings, err);
    for (size_t k = 0; k < count; k++) {
        if (status == PCOL_OK)
            status = pci_partition_capture_end(parts->keepings[k], &parts->kept[number[k]], err);
        pci_partition_capture_free(parts->keepings[k]);
    }
    if (status == PCOL_OK && first->all->done && has_all(parts))
        first->all->done(first->all->context);
    return status;
}

static pcol_status put_part(struct pci_container *writer, uint32_t child, struct parts *parts,
                            size_t number, int depth, pcol_error *err)
{
    struct pci_kept *kept = parts->kept[number];
    pcol_status status =
        put_child(writer, child, kept ? &kept->source : &parts->all[number]->source, depth, err);
    pci_kept_free(kept);
    parts->kept[number] = NULL;
    return status;
}

static void parts_clear(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        pci_kept_free(parts->kept[i]);
}

/* Marks, and `children` children, of which the first ones are the parts, at these depths. */
static pcol_status put_parts(struct pci_container *writer, uint32_t column, struct parts *parts,
                             uint8_t children, const int *depths, uint32_t *child, pcol_error *err)
{
    pcol_status status = gather_parts(writer, column, parts, err);
    if (status == PCOL_OK)
        status = pci_container_children(writer, column, children, child, err);
    for (size_t i = 0; i < parts->count && status == PCOL_OK; i++)
        status = put_part(writer, *child + (uint32_t)i, parts, i, depths[i], err);
    parts_clear(parts);
    return status;
}

/* ---- sparse ---- */

pcol_status pci_encode_sparse(struct pci_container *writer, uint32_t column,
                              struct pci_exceptions *rest, int depth, pcol_error *err)
{
    struct pcf_column *c = column_of(writer, column);
    struct parts parts = {.count = 1, .all = {&rest->own}};
    uint32_t child;
    c->encoding = PCF_SPARSE;
    c->base = (int64_t)rest->base;
    c->step = (int64_t)rest->step;
    if (rest->null_default)
        c->flags |= PCF_COLUMN_DEFAULT_NULL;
    return put_parts(writer, column, &parts, 1, (const int[]){depth + 1}, &child, err);
}

/* ---- chain ---- */

pcol_status pci_encode_successor(struct pci_container *writer, uint32_t column,
                                 struct pci_successors *links, int depth, pcol_error *err)
{
    struct parts parts = {.count = 1, .all = {&links->own}};
    uint32_t child;
    column_of(writer, column)->encoding = PCF_CHAIN;
    PCI_TRY(put_parts(writer, column, &parts, 2, (const int[]){depth + 1}, &child, err));
    /* So deep that it can have no children: readers look successors up in one step. */
    return put_child(writer, child + 1, &links->next, PCI_MAX_DEPTH, err);
}

/* ---- tree ---- */

pcol_status pci_encode_tree(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_tree_steps *steps, int depth, pcol_error *err)
{
    uint32_t child;
    column_of(writer, column)->encoding = PCF_TREE;
    PCI_TRY(pci_emit_marks(writer, column, source, pci_mark_tree_steps, NULL, NULL, err));
    PCI_TRY(pci_container_children(writer, column, 1, &child, err));
    /* Steps may be split twice, as no other column's children. */
    return put_child(writer, child, &steps->source, depth, err);
}

/* ---- deltas ---- */

/* Of so many values on, own values are in one array: a cell that is read alone touches a page for
 * each section of its column, which takes as long as all the rest. */
#define FAR_ROWS 65536u

pcol_status pci_encode_delta(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source,
                             const struct pci_column_stats *shape, int depth, pcol_error *err)
{
    struct pci_delta_plan *deltas;
    uint32_t child;
    PCI_TRY(pci_delta_plan_new(source, shape, &deltas, err));
    struct parts parts = {.count = 2, .all = {&deltas->own, &deltas->rises}};
    int own = deltas->own.source.rows < FAR_ROWS ? depth + 1 : PCI_MAX_DEPTH;
    column_of(writer, column)->encoding = PCF_DELTAS;
    /* Rises stand as deep as the successors of a chain. */
    pcol_status status =
        put_parts(writer, column, &parts, 2, (const int[]){own, PCI_MAX_DEPTH}, &child, err);
    pci_free(deltas);
    return status;
}

/* ---- split ---- */

pcol_status pci_encode_patched(struct pci_container *writer, uint32_t column,
                               const struct pci_value_source *source,
                               const struct pci_column_stats *shape,
                               const struct pci_patch_choice *choice, int depth, pcol_error *err)
{
    struct pci_patch_plan *split;
    uint32_t child;
    PCI_TRY(pci_patch_new(source, shape, choice, &split, err));
    struct parts parts = {.count = 2, .all = {&split->large, &split->small}};
    column_of(writer, column)->encoding = PCF_SPLIT;
    /* Small values stand as deep as the successors of a chain. */
    pcol_status status =
        put_parts(writer, column, &parts, 2, (const int[]){depth + 1, PCI_MAX_DEPTH}, &child, err);
    pci_free(split);
    return status;
}

/* ---- runs ---- */

struct array {
    struct pci_value_source source;
    const int64_t *values;
};

static pcol_status read_array(void *context, uint64_t row, size_t n, int64_t *values,
                              uint8_t *valid, pcol_error *err)
{
    (void)err;
    memcpy(values, ((struct array *)context)->values + row, n * sizeof *values);
    memset(valid, 1, n);
    return PCOL_OK;
}

static pcol_status gather_runs(const struct pci_value_source *source, int64_t *ends,
                               int64_t *values, uint64_t *count, pcol_error *err)
{
    struct pci_block_reader *r = pci_malloc(1, sizeof *r);
    pcol_status status;
    *count = 0;
    if (!r)
        return pci_fail_memory(err);
    pci_block_reader_init(r, source);
    while ((status = pci_block_reader_next(r, err)) == PCOL_OK && r->n) {
        for (size_t i = 0; i < r->n; i++) {
            if (!*count || values[*count - 1] != r->values[i])
                values[(*count)++] = r->values[i];
            ends[*count - 1] = (int64_t)(r->row + i + 1);
        }
    }
    pci_free(r);
    return status;
}

pcol_status pci_encode_runs(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *shape, int depth, pcol_error *err)
{
    int64_t *ends = pci_malloc((size_t)shape->runs, sizeof *ends);
    int64_t *values = pci_malloc((size_t)shape->runs, sizeof *values);
    struct array of_ends = {.values = ends}, of_values = {.values = values};
    uint32_t child = 0;
    uint64_t count = 0;
    pcol_status status;
    if (!ends || !values) {
        status = pci_fail_memory(err);
        goto cleanup;
    }
    column_of(writer, column)->encoding = PCF_RUNS;
    status = gather_runs(source, ends, values, &count, err);
    if (status == PCOL_OK)
        status = pci_container_children(writer, column, 2, &child, err);
    if (status != PCOL_OK)
        goto cleanup;
    of_ends.source = (struct pci_value_source){count, PCF_U64, read_array, &of_ends, NULL};
    of_values.source = (struct pci_value_source){count, source->type, read_array, &of_values, NULL};
    status = put_child(writer, child, &of_ends.source, depth + 1, err);
    if (status == PCOL_OK)
        status = put_child(writer, child + 1, &of_values.source, depth + 1, err);
cleanup:
    pci_free(ends);
    pci_free(values);
    return status;
}
