/*
 * encode_children.c - writers of encodings with children: marks and subsets of rows, runs
 *
 * A writer sets the column's parameters and writes its marks; pci_encode_at() encodes the children,
 * one level deeper. Tests: tests/unit/test_encode.c, tests/format/columns.
 */
#include "encode/encode_children.h"

#include "util/alloc.h"

static struct pcf_column *column_of(struct pci_container *writer, uint32_t column)
{
    return &writer->columns[column];
}

/* ---- parts ---- */

static pcol_status encode_child(struct pci_container *writer, uint32_t child,
                                const struct pci_value_source *source, int depth, pcol_error *err)
{
    column_of(writer, child)->type = source->type;
    column_of(writer, child)->rows = source->rows;
    return pci_encode_at(writer, child, source, depth, err);
}

/* Subsets of at most so many rows are captured, because they are read several times. */
#define MAX_CAPTURED_ROWS (UINT64_C(1) << 20)
#define MAX_PARTS 2

/* Subsets of a column's rows by its marks; each becomes a child. */
struct parts {
    size_t count;
    const struct pci_row_part *all[MAX_PARTS];
    struct pci_partition_capture *captures[MAX_PARTS + 1]; /* NULL-terminated */
    struct pci_captured *captured[MAX_PARTS];              /* NULL: read the part itself */
};

/* Whether the underlying source will not be read again. */
static int are_all_captured(const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (!parts->captured[i] && parts->all[i]->source.rows)
            return 0;
    return 1;
}

/* Writes the marks and captures the parts in the same pass. */
static pcol_status write_marks(struct pci_container *writer, uint32_t column, struct parts *parts,
                               pcol_error *err)
{
    const struct pci_row_part *first = parts->all[0];
    size_t count = 0, number[MAX_PARTS];
    pcol_status status = PCOL_OK;
    for (size_t i = 0; i < parts->count && status == PCOL_OK; i++) {
        uint64_t rows = parts->all[i]->source.rows;
        if (!rows || rows > MAX_CAPTURED_ROWS)
            continue;
        number[count] = i;
        status = pci_partition_capture_new(parts->all[i], writer->out.store,
                                           &parts->captures[count++], err);
    }
    PCI_THEN(status, pci_emit_marks(writer, column, first->all, first->mark, first->context,
                                    parts->captures, err));
    for (size_t k = 0; k < count; k++) {
        PCI_THEN(status,
                 pci_partition_capture_end(parts->captures[k], &parts->captured[number[k]], err));
        pci_partition_capture_free(parts->captures[k]);
    }
    if (status == PCOL_OK && first->all->done && are_all_captured(parts))
        first->all->done(first->all->context);
    return status;
}

static pcol_status encode_part(struct pci_container *writer, uint32_t child, struct parts *parts,
                               size_t number, int depth, pcol_error *err)
{
    struct pci_captured *captured = parts->captured[number];
    pcol_status status = encode_child(
        writer, child, captured ? &captured->source : &parts->all[number]->source, depth, err);
    pci_captured_free(captured);
    parts->captured[number] = NULL;
    return status;
}

static void clear_parts(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        pci_captured_free(parts->captured[i]);
}

/* Writes the marks, allocates `children` children and encodes the parts, which are the first of
 * them, at the given depths. */
static pcol_status encode_parts(struct pci_container *writer, uint32_t column, struct parts *parts,
                                uint8_t children, const int *depths, uint32_t *child,
                                pcol_error *err)
{
    pcol_status status = write_marks(writer, column, parts, err);
    PCI_THEN(status, pci_container_children(writer, column, children, child, err));
    for (size_t i = 0; i < parts->count && status == PCOL_OK; i++)
        status = encode_part(writer, *child + (uint32_t)i, parts, i, depths[i], err);
    clear_parts(parts);
    return status;
}

/* ---- sparse ---- */

pcol_status pci_encode_sparse(struct pci_container *writer, uint32_t column,
                              struct pci_exceptions *exceptions, int depth, pcol_error *err)
{
    struct pcf_column *c = column_of(writer, column);
    struct parts parts = {.count = 1, .all = {&exceptions->marked}};
    uint32_t child;
    c->encoding = PCF_SPARSE;
    c->base = (int64_t)exceptions->base;
    c->step = (int64_t)exceptions->step;
    if (exceptions->null_default)
        c->flags |= PCF_COLUMN_DEFAULT_NULL;
    return encode_parts(writer, column, &parts, 1, (const int[]){depth + 1}, &child, err);
}

/* ---- chain ---- */

pcol_status pci_encode_successor(struct pci_container *writer, uint32_t column,
                                 struct pci_successors *successors, int depth, pcol_error *err)
{
    struct parts parts = {.count = 1, .all = {&successors->marked}};
    uint32_t child;
    column_of(writer, column)->encoding = PCF_CHAIN;
    PCI_TRY(encode_parts(writer, column, &parts, 2, (const int[]){depth + 1}, &child, err));
    /* Maximum depth, so without children: readers need O(1) access to successors. */
    return encode_child(writer, child + 1, &successors->next, PCI_MAX_DEPTH, err);
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
    /* Same depth, so steps may be split twice. */
    return encode_child(writer, child, &steps->source, depth, err);
}

/* ---- deltas ---- */

/* From so many marked rows on their values have no children: a single cell read touches a page for
 * each section, which dominates its time. */
#define LARGE_CHILD_ROWS 65536u

pcol_status pci_encode_delta(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source,
                             const struct pci_column_stats *stats, int depth, pcol_error *err)
{
    struct pci_delta_plan *plan;
    uint32_t child;
    PCI_TRY(pci_delta_plan_new(source, stats, &plan, err));
    struct parts parts = {.count = 2, .all = {&plan->marked, &plan->deltas}};
    int marked_depth = plan->marked.source.rows < LARGE_CHILD_ROWS ? depth + 1 : PCI_MAX_DEPTH;
    column_of(writer, column)->encoding = PCF_DELTAS;
    /* Maximum depth for the differences: readers need O(1) access. */
    pcol_status status = encode_parts(writer, column, &parts, 2,
                                      (const int[]){marked_depth, PCI_MAX_DEPTH}, &child, err);
    pci_free(plan);
    return status;
}

/* ---- split ---- */

pcol_status pci_encode_patched(struct pci_container *writer, uint32_t column,
                               const struct pci_value_source *source,
                               const struct pci_column_stats *stats,
                               const struct pci_patch_choice *choice, int depth, pcol_error *err)
{
    struct pci_patch_plan *split;
    uint32_t child;
    PCI_TRY(pci_patch_new(source, stats, choice, &split, err));
    struct parts parts = {.count = 2, .all = {&split->large, &split->small}};
    column_of(writer, column)->encoding = PCF_SPLIT;
    /* Maximum depth for small values: readers need O(1) access. */
    pcol_status status = encode_parts(writer, column, &parts, 2,
                                      (const int[]){depth + 1, PCI_MAX_DEPTH}, &child, err);
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

/* Run-length encodes the source into ends[] and values[]. */
static pcol_status find_runs(const struct pci_value_source *source, int64_t *ends, int64_t *values,
                             uint64_t *count, pcol_error *err)
{
    struct pci_block_reader *r;
    pcol_status status;
    *count = 0;
    PCI_TRY(PCI_MALLOC(r, 1, err));
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
                            const struct pci_column_stats *stats, int depth, pcol_error *err)
{
    int64_t *ends = pci_malloc((size_t)stats->runs, sizeof *ends);
    int64_t *values = pci_malloc((size_t)stats->runs, sizeof *values);
    struct array of_ends = {.values = ends}, of_values = {.values = values};
    uint32_t child = 0;
    uint64_t count = 0;
    pcol_status status;
    if (!ends || !values) {
        status = pci_fail_memory(err);
        goto cleanup;
    }
    column_of(writer, column)->encoding = PCF_RUNS;
    status = find_runs(source, ends, values, &count, err);
    PCI_THEN(status, pci_container_children(writer, column, 2, &child, err));
    if (status != PCOL_OK)
        goto cleanup;
    of_ends.source = (struct pci_value_source){count, PCF_U64, read_array, &of_ends, NULL};
    of_values.source = (struct pci_value_source){count, source->type, read_array, &of_values, NULL};
    status = encode_child(writer, child, &of_ends.source, depth + 1, err);
    PCI_THEN(status, encode_child(writer, child + 1, &of_values.source, depth + 1, err));
cleanup:
    pci_free(ends);
    pci_free(values);
    return status;
}
