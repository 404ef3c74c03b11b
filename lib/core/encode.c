/*
 * encode.c - choosing an encoding and writing it
 *
 * The order of preference is that of the costs in bits; a richer encoding must save at least a
 * twentieth of the simpler one. Sparse columns and runs keep their values in a child column, which
 * is encoded by the same rules, one level deeper.
 */
#include "core/emit.h"

#include "core/alloc.h"
#include "core/lanes.h"

#define MAX_DEPTH 2

static pcol_status encode_at(struct pci_writer *writer, uint32_t column,
                             const struct pci_source *source, int depth, pcol_error *err);

static struct pcf_column *column_of(struct pci_writer *writer, uint32_t column)
{
    return &writer->columns[column];
}

/* ---- sparse ---- */

static void mark_rest(const void *context, const struct pci_reader *block, uint8_t *marks)
{
    const struct pci_rest *rest = context;
    uint64_t base = rest->base + rest->step * block->row;
    if (!rest->null_default) {
        pci_lanes_other(block->values, block->n, base, rest->step, marks);
        return;
    }
    for (size_t i = 0; i < block->n; i++)
        marks[i] = block->valid[i] != 0;
}

/* A rest over `all`; its rows are counted in one pass. Freed with pci_free(). */
static pcol_status rest_new(const struct pci_source *all, int null_default, uint64_t base,
                            uint64_t step, struct pci_rest **out, pcol_error *err)
{
    struct pci_rest *rest = pci_malloc(1, sizeof *rest);
    pcol_status status;
    *out = NULL;
    if (!rest)
        return pci_fail_memory(err);
    pci_part_init(&rest->own, all, mark_rest, rest, PCI_MARKED, 0);
    rest->null_default = null_default;
    rest->base = base;
    rest->step = step;
    status = pci_part_count(&rest->own, err);
    if (status != PCOL_OK)
        pci_free(rest);
    else
        *out = rest;
    return status;
}

struct array {
    struct pci_source source;
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

static pcol_status put_child(struct pci_writer *writer, uint32_t child,
                             const struct pci_source *source, int depth, pcol_error *err)
{
    column_of(writer, child)->type = source->type;
    column_of(writer, child)->rows = source->rows;
    return encode_at(writer, child, source, depth, err);
}

/* Some of a column's rows are read through all of them, and more than once: so many are kept. */
#define KEPT_ROWS (UINT64_C(1) << 20)

static pcol_status put_gathered(struct pci_writer *writer, uint32_t child,
                                const struct pci_source *source, int depth, pcol_error *err)
{
    struct pci_kept *kept = NULL;
    if (source->rows && source->rows <= KEPT_ROWS)
        PCI_TRY(pci_kept_new(source, &kept, err));
    pcol_status status = put_child(writer, child, kept ? &kept->source : source, depth, err);
    pci_kept_free(kept);
    return status;
}

static pcol_status put_sparse(struct pci_writer *writer, uint32_t column, struct pci_rest *rest,
                              int depth, pcol_error *err)
{
    struct pcf_column *c = column_of(writer, column);
    uint32_t child;
    c->encoding = PCF_SPARSE;
    c->base = (int64_t)rest->base;
    c->step = (int64_t)rest->step;
    if (rest->null_default)
        c->flags |= PCF_COLUMN_DEFAULT_NULL;
    PCI_TRY(pci_emit_marks(writer, column, rest->own.all, mark_rest, rest, err));
    PCI_TRY(pci_writer_children(writer, column, 1, &child, err));
    return put_gathered(writer, child, &rest->own.source, depth + 1, err);
}

/* ---- chain ---- */

static pcol_status put_chain(struct pci_writer *writer, uint32_t column, struct pci_links *links,
                             int depth, pcol_error *err)
{
    uint32_t child;
    column_of(writer, column)->encoding = PCF_CHAIN;
    PCI_TRY(pci_emit_marks(writer, column, links->own.all, pci_mark_links, links, err));
    PCI_TRY(pci_writer_children(writer, column, 2, &child, err));
    PCI_TRY(put_gathered(writer, child, &links->own.source, depth + 1, err));
    /* So deep that it can have no children: readers look successors up in one step. */
    return put_child(writer, child + 1, &links->next, MAX_DEPTH, err);
}

/* ---- tree ---- */

static pcol_status put_tree(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, const struct pci_steps *steps,
                            int depth, pcol_error *err)
{
    uint32_t child;
    column_of(writer, column)->encoding = PCF_TREE;
    PCI_TRY(pci_emit_marks(writer, column, source, pci_mark_steps, NULL, err));
    PCI_TRY(pci_writer_children(writer, column, 1, &child, err));
    /* Steps may be split twice, as no other column's children. */
    return put_child(writer, child, &steps->source, depth, err);
}

/* ---- deltas ---- */

/* Of so many values on, own values are in one array: a cell that is read alone touches a page for each
 * section of its column, which takes as long as all the rest. */
#define FAR_ROWS 65536u

static pcol_status put_deltas(struct pci_writer *writer, uint32_t column,
                              const struct pci_source *source, const struct pci_shape *shape,
                              int depth, pcol_error *err)
{
    struct pci_deltas *deltas;
    uint32_t child;
    pcol_status status = pci_deltas_new(source, shape, &deltas, err);
    if (status == PCOL_OK) {
        column_of(writer, column)->encoding = PCF_DELTAS;
        status = pci_emit_marks(writer, column, source, pci_mark_own, deltas, err);
    }
    if (status == PCOL_OK)
        status = pci_writer_children(writer, column, 2, &child, err);
    if (status == PCOL_OK)
        status = put_gathered(writer, child, &deltas->own.source,
                              deltas->own.source.rows < FAR_ROWS ? depth + 1 : MAX_DEPTH, err);
    /* As the successors of a chain. */
    if (status == PCOL_OK)
        status = put_gathered(writer, child + 1, &deltas->rises.source, MAX_DEPTH, err);
    pci_free(deltas);
    return status;
}

/* ---- split ---- */

static pcol_status put_split(struct pci_writer *writer, uint32_t column,
                             const struct pci_source *source, const struct pci_shape *shape,
                             const struct pci_split_choice *choice, int depth, pcol_error *err)
{
    struct pci_split *split;
    uint32_t child;
    pcol_status status = pci_split_new(source, shape, choice, &split, err);
    if (status == PCOL_OK) {
        column_of(writer, column)->encoding = PCF_SPLIT;
        status = pci_emit_marks(writer, column, source, pci_mark_large, split, err);
    }
    if (status == PCOL_OK)
        status = pci_writer_children(writer, column, 2, &child, err);
    if (status == PCOL_OK)
        status = put_gathered(writer, child, &split->large.source, depth + 1, err);
    /* As the successors of a chain. */
    if (status == PCOL_OK)
        status = put_gathered(writer, child + 1, &split->small.source, MAX_DEPTH, err);
    pci_free(split);
    return status;
}

/* ---- runs ---- */

static pcol_status gather_runs(const struct pci_source *source, int64_t *ends, int64_t *values,
                               uint64_t *count, pcol_error *err)
{
    struct pci_reader *r = pci_malloc(1, sizeof *r);
    pcol_status status;
    *count = 0;
    if (!r)
        return pci_fail_memory(err);
    pci_reader_init(r, source);
    while ((status = pci_reader_next(r, err)) == PCOL_OK && r->n) {
        for (size_t i = 0; i < r->n; i++) {
            if (!*count || values[*count - 1] != r->values[i])
                values[(*count)++] = r->values[i];
            ends[*count - 1] = (int64_t)(r->row + i + 1);
        }
    }
    pci_free(r);
    return status;
}

static pcol_status put_runs(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, const struct pci_shape *shape,
                            int depth, pcol_error *err)
{
    int64_t *ends = pci_malloc((size_t)shape->runs, sizeof *ends);
    int64_t *values = pci_malloc((size_t)shape->runs, sizeof *values);
    struct array of_ends = {.values = ends}, of_values = {.values = values};
    uint32_t child = 0;
    uint64_t count = 0;
    pcol_status status = PCOL_E_NO_MEMORY;
    if (!ends || !values) {
        pci_fail_memory(err);
        goto cleanup;
    }
    column_of(writer, column)->encoding = PCF_RUNS;
    status = gather_runs(source, ends, values, &count, err);
    if (status == PCOL_OK)
        status = pci_writer_children(writer, column, 2, &child, err);
    if (status != PCOL_OK)
        goto cleanup;
    of_ends.source = (struct pci_source){count, PCF_U64, read_array, &of_ends};
    of_values.source = (struct pci_source){count, source->type, read_array, &of_values};
    status = put_child(writer, child, &of_ends.source, depth + 1, err);
    if (status == PCOL_OK)
        status = put_child(writer, child + 1, &of_values.source, depth + 1, err);
cleanup:
    pci_free(ends);
    pci_free(values);
    return status;
}

/* ---- the choice ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What the sparse form over a default costs; UINT64_MAX if it cannot be the best. */
static pcol_status cost_sparse(const struct pci_source *source, const struct pci_rest *rest,
                               uint64_t *bits, pcol_error *err)
{
    struct pci_shape shape;
    *bits = UINT64_MAX;
    if (rest->own.source.rows > source->rows / 2)
        return PCOL_OK;
    PCI_TRY(pci_shape_of(&rest->own.source, 1, &shape, err));
    *bits = pci_cost_marks(source->rows) +
            (source->type == PCF_F64 ? shape.rows * 64
                                     : least(pci_cost_packed(&shape), pci_cost_blocked(&shape)));
    pci_shape_clear(&shape);
    return PCOL_OK;
}

/* The better of the two defaults, a constant and row + something. */
static pcol_status best_rest(const struct pci_source *source, const struct pci_shape *shape,
                             struct pci_rest **out, uint64_t *bits, pcol_error *err)
{
    *out = NULL;
    *bits = UINT64_MAX;
    for (unsigned step = 0; step <= (source->type != PCF_F64); step++) {
        struct pci_rest *rest;
        uint64_t cost;
        int64_t base = step ? shape->common_start : shape->common;
        pcol_status status = PCOL_OK;
        /* A passing over the column is saved where the vote says that barely half of it agrees. */
        if ((step ? shape->start_lead : shape->common_lead) < shape->rows / 16)
            continue;
        status = rest_new(source, 0, (uint64_t)base, step, &rest, err);
        if (status == PCOL_OK)
            status = cost_sparse(source, rest, &cost, err);
        if (status == PCOL_OK && cost < *bits) {
            struct pci_rest *worse = *out;
            *out = rest;
            *bits = cost;
            rest = worse;
        }
        pci_free(rest);
        if (status != PCOL_OK) {
            pci_free(*out);
            *out = NULL;
            return status;
        }
    }
    return PCOL_OK;
}

static uint64_t cost_runs(const struct pci_shape *shape)
{
    uint64_t width =
        pci_width_of((uint64_t)shape->max - (uint64_t)shape->min) + pci_width_of(shape->rows);
    return shape->runs * width + 2 * (64 + PCI_SECTION_BITS + PCI_CHILD_BITS);
}

/* Below this a richer encoding is worth it. */
static uint64_t worthwhile(uint64_t bits)
{
    return bits - bits / 20;
}

enum way { PLAIN, PACKED, BLOCKED, SLOPED, DELTAS, SPARSE, RUNS, SPLIT, CHAIN, TREE };

/* A way, and what some of them were found to need. */
struct plan {
    enum way way;
    uint64_t bits;
    struct pci_rest *rest;
    struct pci_links *links;
    struct pci_steps *steps;
    struct pci_split_choice split;
};

static pcol_status put_way(struct pci_writer *writer, uint32_t column,
                           const struct pci_source *source, const struct pci_shape *shape,
                           const struct plan *plan, int depth, pcol_error *err)
{
    switch (plan->way) {
    case PLAIN:
        return pci_emit_plain(writer, column, source, 0, NULL, err);
    case PACKED:
        return pci_emit_packed(writer, column, source, shape, err);
    case BLOCKED:
    case SLOPED:
        return pci_emit_blocked(writer, column, source, shape, plan->way == SLOPED, err);
    case DELTAS:
        return put_deltas(writer, column, source, shape, depth, err);
    case SPARSE:
        return put_sparse(writer, column, plan->rest, depth, err);
    case RUNS:
        return put_runs(writer, column, source, shape, depth, err);
    case SPLIT:
        return put_split(writer, column, source, shape, &plan->split, depth, err);
    case TREE:
        return put_tree(writer, column, source, plan->steps, depth, err);
    case CHAIN:
        break;
    }
    return put_chain(writer, column, plan->links, depth, err);
}

static void consider(struct plan *plan, enum way way, uint64_t bits)
{
    if (bits < worthwhile(plan->bits)) {
        plan->way = way;
        plan->bits = bits;
    }
}

/* Large values apart from small ones. If the small ones are all the same, SPARSE says as much. */
static pcol_status consider_split(struct plan *plan, const struct pci_source *source,
                                  const struct pci_shape *shape, int depth, pcol_error *err)
{
    PCI_TRY(pci_split_choose(source, shape, depth + 1 < MAX_DEPTH, worthwhile(plan->bits),
                             &plan->split, err));
    if (plan->split.bits == UINT64_MAX)
        return PCOL_OK;
    consider(plan, plan->split.width ? SPLIT : SPARSE, plan->split.bits);
    if (plan->way != SPARSE || plan->bits != plan->split.bits)
        return PCOL_OK;
    pci_free(plan->rest);
    return rest_new(source, 0, (uint64_t)shape->min, 0, &plan->rest, err);
}

/* What may have children. What their marks alone cost tells of most that they need not be tried. */
static pcol_status consider_deeper(struct plan *plan, const struct pci_source *source,
                                   const struct pci_shape *shape, int press, int depth,
                                   pcol_error *err)
{
    int is_double = source->type == PCF_F64;
    uint64_t cost;
    if (!is_double)
        consider(plan, DELTAS, pci_cost_deltas(shape));
    if (shape->rows >= 64 && pci_cost_marks(shape->rows) < worthwhile(plan->bits)) {
        PCI_TRY(best_rest(source, shape, &plan->rest, &cost, err));
        consider(plan, SPARSE, cost);
    }
    if (!is_double)
        consider(plan, RUNS, cost_runs(shape));
    if (!is_double)
        PCI_TRY(consider_split(plan, source, shape, depth, err));
    if (depth == 0) {
        PCI_TRY(pci_links_new(source, shape, worthwhile(plan->bits), &plan->links, &cost, err));
        consider(plan, CHAIN, cost);
        if (!press) { /* archives know trees by a transform, which compresses better */
            PCI_TRY(pci_steps_new(source, shape, worthwhile(plan->bits), &plan->steps, &cost, err));
            consider(plan, TREE, cost);
        }
    }
    return PCOL_OK;
}

static pcol_status put_best(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, const struct pci_shape *shape,
                            int depth, pcol_error *err)
{
    struct plan plan = {.way = PLAIN, .bits = shape->rows * 64};
    pcol_status status = PCOL_OK;
    if (source->type != PCF_F64) {
        plan.way = PACKED;
        plan.bits = pci_cost_packed(shape);
        consider(&plan, BLOCKED, pci_cost_blocked(shape));
        consider(&plan, SLOPED, pci_cost_sloped(shape));
    }
    /* At the greatest depth stand successors and rises, which may have a block's cost at most. */
    if (depth < MAX_DEPTH)
        status = consider_deeper(&plan, source, shape, writer->press != NULL, depth, err);
    if (status == PCOL_OK)
        status = put_way(writer, column, source, shape, &plan, depth, err);
    pci_free(plan.rest);
    pci_links_free(plan.links);
    pci_steps_free(plan.steps);
    return status;
}

static pcol_status put_nullable(struct pci_writer *writer, uint32_t column,
                                const struct pci_source *source, int depth, pcol_error *err)
{
    struct pci_rest *rest;
    pcol_status status;
    PCI_TRY(rest_new(source, 1, 0, 0, &rest, err));
    status = put_sparse(writer, column, rest, depth, err);
    pci_free(rest);
    return status;
}

static pcol_status put_encoded(struct pci_writer *writer, uint32_t column,
                               const struct pci_source *source, const struct pci_shape *shape,
                               int depth, pcol_error *err)
{
    if (shape->nulls)
        return put_nullable(writer, column, source, depth, err);
    return put_best(writer, column, source, shape, depth, err);
}

/* ---- archives ---- */

#define TRIAL_ROWS 65536u
#define ENCODED \
    UINT8_MAX /* not plain under a transform, but the encoding that is best uncompressed */

static pcol_status put_form(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, const struct pci_shape *shape,
                            uint8_t form, int depth, pcol_error *err)
{
    pcol_status status;
    if (form == ENCODED)
        return put_encoded(writer, column, source, shape, depth, err);
    writer->transform = form;
    status = pci_emit_plain(writer, column, source, shape->nulls, NULL, err);
    writer->transform = PCF_TRANSFORM_NONE;
    return status;
}

/* A writer of one column of a source, which is number 0. */
static pcol_status trial_begin(struct pci_writer *trial, const struct pci_writer *writer,
                               const struct pci_source *source, pcol_error *err)
{
    uint32_t column;
    pci_writer_init(trial, writer->out.store);
    trial->press = writer->press;
    trial->tree = writer->tree;
    trial->trial = 1;
    PCI_TRY(pci_writer_table(trial, "trial", 0, source->rows, err));
    return pci_writer_column(trial, "trial", source->type, 0, &column, err);
}

static uint64_t trial_end(struct pci_writer *trial)
{
    uint64_t bytes = 16 * (trial->column_count - 1); /* descriptors compress well */
    for (size_t i = 0; i < trial->section_count; i++)
        bytes += trial->sections[i].size + 8;
    pci_writer_clear(trial);
    return bytes;
}

/* What a form of a column costs: it is written to nowhere. */
static pcol_status measure(struct pci_writer *writer, const struct pci_source *source,
                           const struct pci_shape *shape, uint8_t form, int depth, uint64_t *bytes,
                           pcol_error *err)
{
    struct pci_writer trial;
    pcol_status status = trial_begin(&trial, writer, source, err);
    if (status == PCOL_OK)
        status = put_form(&trial, 0, source, shape, form, depth, err);
    *bytes = trial_end(&trial);
    return status;
}

/* The forms of a column compared by its first rows: what packs best does not always compress best. */
static pcol_status best_form(struct pci_writer *writer, const struct pci_source *all, int depth,
                             uint8_t *form, pcol_error *err)
{
    struct pci_source first = *all;
    struct pci_shape shape;
    uint64_t best, bytes;
    pcol_status status;
    int tree = depth == 0 && writer->tree.transform;
    first.rows = all->rows < TRIAL_ROWS ? all->rows : TRIAL_ROWS;
    *form = ENCODED;
    PCI_TRY(pci_shape_of(&first, 0, &shape, err));
    status = measure(writer, &first, &shape, ENCODED, depth, &best, err);
    best -= best / 32; /* a plain column takes more memory */
    for (uint8_t t = 0; status == PCOL_OK && t <= PCF_TRANSFORM_LAST; t++) {
        if (t >= PCF_TRANSFORM_PARENT && (!tree || t != writer->tree.transform))
            continue;
        status = measure(writer, &first, &shape, t, depth, &bytes, err);
        if (status == PCOL_OK && bytes < best) {
            best = bytes;
            *form = t;
        }
    }
    pci_shape_clear(&shape);
    return status;
}

static pcol_status put_archived(struct pci_writer *writer, uint32_t column,
                                const struct pci_source *source, const struct pci_shape *shape,
                                int depth, pcol_error *err)
{
    uint8_t form;
    PCI_TRY(best_form(writer, source, depth, &form, err));
    return put_form(writer, column, source, shape, form, depth, err);
}

static void describe(struct pcf_column *c, const struct pci_shape *shape, uint8_t type)
{
    c->null_count = shape->nulls;
    if (shape->nulls)
        c->flags |= PCF_COLUMN_NULLABLE;
    if (!c->name_size) /* nobody asks what a child holds */
        return;
    if (shape->has_stats) {
        c->flags |= PCF_COLUMN_STATS;
        c->min = shape->min;
        c->max = shape->max;
    }
    if (shape->ascending && shape->rows && type != PCF_F64)
        c->flags |= PCF_COLUMN_ASCENDING;
}

static pcol_status encode_shape(struct pci_writer *writer, uint32_t column,
                                const struct pci_source *source, const struct pci_shape *shape,
                                int depth, pcol_error *err)
{
    struct pcf_column *c = column_of(writer, column);
    describe(c, shape, source->type);
    if (!shape->rows) {
        c->encoding = PCF_LINEAR;
        return PCOL_OK;
    }
    if (writer->plain)
        return pci_emit_plain(writer, column, source, shape->nulls, NULL, err);
    if (shape->nulls == shape->rows) {
        c->encoding = PCF_LINEAR;
        c->flags |= PCF_COLUMN_DEFAULT_NULL;
        return PCOL_OK;
    }
    if (!shape->nulls && (shape->constant || (shape->linear && source->type != PCF_F64))) {
        c->encoding = PCF_LINEAR;
        c->base = shape->first;
        c->step = shape->constant ? 0 : shape->step;
        return PCOL_OK;
    }
    if (writer->press && source->type != PCF_BOOL)
        return put_archived(writer, column, source, shape, depth, err);
    return put_encoded(writer, column, source, shape, depth, err);
}

pcol_status pci_encode_quick(struct pci_writer *writer, uint32_t column,
                             const struct pci_source *source, uint64_t nulls,
                             const int64_t *constant, pcol_error *err)
{
    static const uint8_t valid = 1;
    struct pci_shape shape = {.rows = source->rows, .nulls = nulls};
    struct pcf_column *c = column_of(writer, column);
    int is_signed = source->type == PCF_I64 || source->type == PCF_F64;
    if (nulls && nulls == source->rows) {
        c->flags |= PCF_COLUMN_DEFAULT_NULL;
    } else if (source->rows && (nulls || !constant)) {
        PCI_TRY(pci_emit_plain(writer, column, source, nulls, is_signed ? &shape : NULL, err));
        describe(column_of(writer, column), &shape, source->type);
        return PCOL_OK;
    } else if (source->rows) {
        c->base = *constant;
        pci_add_stats(&shape, source->type, constant, &valid, 1);
    }
    c->encoding = PCF_LINEAR;
    describe(c, &shape, source->type);
    return PCOL_OK;
}

pcol_status pci_encode_constant(struct pci_writer *writer, uint32_t column,
                                const struct pci_source *source, int64_t value, pcol_error *err)
{
    static const uint8_t valid = 1;
    struct pci_shape shape = {
        .rows = source->rows, .first = value, .constant = 1, .ascending = 1, .scale = 1};
    if (writer->plain || !source->rows)
        return pci_encode(writer, column, source, err);
    pci_add_stats(&shape, source->type, &value, &valid, 1);
    return encode_shape(writer, column, source, &shape, 0, err);
}

static pcol_status encode_at(struct pci_writer *writer, uint32_t column,
                             const struct pci_source *source, int depth, pcol_error *err)
{
    struct pci_shape shape;
    pcol_status status;
    if (writer->quick) /* no source but a builder's column has nulls */
        return pci_encode_quick(writer, column, source, 0, NULL, err);
    PCI_TRY(pci_shape_of(source, depth >= MAX_DEPTH, &shape, err));
    status = encode_shape(writer, column, source, &shape, depth, err);
    pci_shape_clear(&shape);
    return status;
}

pcol_status pci_encode(struct pci_writer *writer, uint32_t column, const struct pci_source *source,
                       pcol_error *err)
{
    return encode_at(writer, column, source, 0, err);
}

pcol_status pci_encode_leaf(struct pci_writer *writer, uint32_t column,
                            const struct pci_source *source, pcol_error *err)
{
    return encode_at(writer, column, source, MAX_DEPTH, err);
}

pcol_status pci_encode_measure(struct pci_writer *writer, const struct pci_source *source,
                               uint64_t *bytes, pcol_error *err)
{
    struct pci_writer trial;
    pcol_status status = trial_begin(&trial, writer, source, err);
    if (status == PCOL_OK)
        status = encode_at(&trial, 0, source, 0, err);
    *bytes = trial_end(&trial);
    return status;
}
