/*
 * encode.c - choosing an encoding
 *
 * The order of preference is that of the costs in bits; a richer encoding must save at least a
 * twentieth of the simpler one. Sparse columns and runs keep their values in a child column, which
 * is encoded by the same rules, one level deeper.
 */
#include "encode/encode_leaf.h"

#include "encode/encode_children.h"
#include "util/alloc.h"
#include "util/simd_kernels.h"

static struct pcf_column *column_of(struct pci_container *writer, uint32_t column)
{
    return &writer->columns[column];
}

/* ---- sparse ---- */

static void mark_rest(const void *context, const struct pci_block_reader *block, uint8_t *marks)
{
    const struct pci_exceptions *rest = context;
    uint64_t base = rest->base + rest->step * block->row;
    if (!rest->null_default) {
        pci_simd_other(block->values, block->n, base, rest->step, marks);
        return;
    }
    for (size_t i = 0; i < block->n; i++)
        marks[i] = block->valid[i] != 0;
}

/* A rest over `all`; its rows are counted in one pass. Freed with pci_free(). */
static pcol_status rest_new(const struct pci_value_source *all, int null_default, uint64_t base,
                            uint64_t step, struct pci_exceptions **out, pcol_error *err)
{
    struct pci_exceptions *rest = pci_malloc(1, sizeof *rest);
    pcol_status status;
    *out = NULL;
    if (!rest)
        return pci_fail_memory(err);
    pci_row_part_init(&rest->own, all, mark_rest, rest, PCI_PART_MARKED, 0);
    rest->null_default = null_default;
    rest->base = base;
    rest->step = step;
    status = pci_row_part_count(&rest->own, err);
    if (status != PCOL_OK)
        pci_free(rest);
    else
        *out = rest;
    return status;
}

/* ---- the choice ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What the sparse form over a default costs; UINT64_MAX if it cannot be the best. */
static pcol_status cost_sparse(const struct pci_value_source *source,
                               const struct pci_exceptions *rest, uint64_t *bits, pcol_error *err)
{
    struct pci_column_stats shape;
    *bits = UINT64_MAX;
    if (rest->own.source.rows > source->rows / 2)
        return PCOL_OK;
    PCI_TRY(pci_column_stats_of(&rest->own.source, 1, &shape, err));
    *bits = pci_cost_marks(source->rows) +
            (source->type == PCF_F64 ? shape.rows * 64
                                     : least(pci_cost_packed(&shape), pci_cost_blocked(&shape)));
    pci_column_stats_clear(&shape);
    return PCOL_OK;
}

/* The better of the two defaults, a constant and row + something. */
static pcol_status best_rest(const struct pci_value_source *source,
                             const struct pci_column_stats *shape, struct pci_exceptions **out,
                             uint64_t *bits, pcol_error *err)
{
    *out = NULL;
    *bits = UINT64_MAX;
    for (unsigned step = 0; step <= (source->type != PCF_F64); step++) {
        struct pci_exceptions *rest;
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
            struct pci_exceptions *worse = *out;
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

static uint64_t cost_runs(const struct pci_column_stats *shape)
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
    struct pci_exceptions *rest;
    struct pci_successors *links;
    struct pci_tree_steps *steps;
    struct pci_patch_choice split;
};

static pcol_status put_way(struct pci_container *writer, uint32_t column,
                           const struct pci_value_source *source,
                           const struct pci_column_stats *shape, const struct plan *plan, int depth,
                           pcol_error *err)
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
        return pci_encode_delta(writer, column, source, shape, depth, err);
    case SPARSE:
        return pci_encode_sparse(writer, column, plan->rest, depth, err);
    case RUNS:
        return pci_encode_runs(writer, column, source, shape, depth, err);
    case SPLIT:
        return pci_encode_patched(writer, column, source, shape, &plan->split, depth, err);
    case TREE:
        return pci_encode_tree(writer, column, source, plan->steps, depth, err);
    case CHAIN:
        break;
    }
    return pci_encode_successor(writer, column, plan->links, depth, err);
}

static void consider(struct plan *plan, enum way way, uint64_t bits)
{
    if (bits < worthwhile(plan->bits)) {
        plan->way = way;
        plan->bits = bits;
    }
}

/* Large values apart from small ones. If the small ones are all the same, SPARSE says as much. */
static pcol_status consider_split(struct plan *plan, const struct pci_value_source *source,
                                  const struct pci_column_stats *shape, int depth, pcol_error *err)
{
    PCI_TRY(pci_patch_choose(source, shape, depth + 1 < PCI_MAX_DEPTH, worthwhile(plan->bits),
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
static pcol_status consider_deeper(struct plan *plan, const struct pci_value_source *source,
                                   const struct pci_column_stats *shape, int press, int depth,
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
        PCI_TRY(
            pci_successors_new(source, shape, worthwhile(plan->bits), &plan->links, &cost, err));
        consider(plan, CHAIN, cost);
        if (!press) { /* archives know trees by a transform, which compresses better */
            PCI_TRY(pci_tree_steps_new(source, shape, worthwhile(plan->bits), &plan->steps, &cost,
                                       err));
            consider(plan, TREE, cost);
        }
    }
    return PCOL_OK;
}

static pcol_status put_best(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *shape, int depth, pcol_error *err)
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
    if (depth < PCI_MAX_DEPTH)
        status = consider_deeper(&plan, source, shape, writer->press != NULL, depth, err);
    if (status == PCOL_OK)
        status = put_way(writer, column, source, shape, &plan, depth, err);
    pci_free(plan.rest);
    pci_successors_free(plan.links);
    pci_tree_steps_free(plan.steps);
    return status;
}

static pcol_status put_nullable(struct pci_container *writer, uint32_t column,
                                const struct pci_value_source *source, int depth, pcol_error *err)
{
    struct pci_exceptions *rest;
    pcol_status status;
    PCI_TRY(rest_new(source, 1, 0, 0, &rest, err));
    status = pci_encode_sparse(writer, column, rest, depth, err);
    pci_free(rest);
    return status;
}

static pcol_status put_encoded(struct pci_container *writer, uint32_t column,
                               const struct pci_value_source *source,
                               const struct pci_column_stats *shape, int depth, pcol_error *err)
{
    if (shape->nulls)
        return put_nullable(writer, column, source, depth, err);
    return put_best(writer, column, source, shape, depth, err);
}

/* ---- archives ---- */

#define TRIAL_ROWS 65536u
#define ENCODED \
    UINT8_MAX /* not plain under a transform, but the encoding that is best uncompressed */

static pcol_status put_form(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source,
                            const struct pci_column_stats *shape, uint8_t form, int depth,
                            pcol_error *err)
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
static pcol_status trial_begin(struct pci_container *trial, const struct pci_container *writer,
                               const struct pci_value_source *source, pcol_error *err)
{
    uint32_t column;
    pci_container_init(trial, writer->out.store);
    trial->press = writer->press;
    trial->tree = writer->tree;
    trial->trial = 1;
    PCI_TRY(pci_container_table(trial, "trial", 0, source->rows, err));
    return pci_container_column(trial, "trial", source->type, 0, &column, err);
}

static uint64_t trial_end(struct pci_container *trial)
{
    uint64_t bytes = 16 * (trial->column_count - 1); /* descriptors compress well */
    for (size_t i = 0; i < trial->section_count; i++)
        bytes += trial->sections[i].size + 8;
    pci_container_clear(trial);
    return bytes;
}

/* What a form of a column costs: it is written to nowhere. */
static pcol_status measure(struct pci_container *writer, const struct pci_value_source *source,
                           const struct pci_column_stats *shape, uint8_t form, int depth,
                           uint64_t *bytes, pcol_error *err)
{
    struct pci_container trial;
    pcol_status status = trial_begin(&trial, writer, source, err);
    if (status == PCOL_OK)
        status = put_form(&trial, 0, source, shape, form, depth, err);
    *bytes = trial_end(&trial);
    return status;
}

/* The forms of a column compared by its first rows: what packs best does not always compress
 * best. */
static pcol_status best_form(struct pci_container *writer, const struct pci_value_source *all,
                             int depth, uint8_t *form, pcol_error *err)
{
    struct pci_value_source first = *all;
    struct pci_column_stats shape;
    uint64_t best, bytes;
    pcol_status status;
    int tree = depth == 0 && writer->tree.transform;
    first.done = NULL;
    first.rows = all->rows < TRIAL_ROWS ? all->rows : TRIAL_ROWS;
    *form = ENCODED;
    PCI_TRY(pci_column_stats_of(&first, 0, &shape, err));
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
    pci_column_stats_clear(&shape);
    return status;
}

static pcol_status put_archived(struct pci_container *writer, uint32_t column,
                                const struct pci_value_source *source,
                                const struct pci_column_stats *shape, int depth, pcol_error *err)
{
    uint8_t form;
    PCI_TRY(best_form(writer, source, depth, &form, err));
    return put_form(writer, column, source, shape, form, depth, err);
}

static void describe(struct pcf_column *c, const struct pci_column_stats *shape, uint8_t type)
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

static pcol_status encode_shape(struct pci_container *writer, uint32_t column,
                                const struct pci_value_source *source,
                                const struct pci_column_stats *shape, int depth, pcol_error *err)
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

pcol_status pci_encode_quick(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source, uint64_t nulls,
                             const int64_t *constant, pcol_error *err)
{
    static const uint8_t valid = 1;
    struct pci_column_stats shape = {.rows = source->rows, .nulls = nulls};
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

pcol_status pci_encode_constant(struct pci_container *writer, uint32_t column,
                                const struct pci_value_source *source, int64_t value,
                                pcol_error *err)
{
    static const uint8_t valid = 1;
    struct pci_column_stats shape = {
        .rows = source->rows, .first = value, .constant = 1, .ascending = 1, .scale = 1};
    if (writer->plain || !source->rows)
        return pci_encode(writer, column, source, err);
    pci_add_stats(&shape, source->type, &value, &valid, 1);
    return encode_shape(writer, column, source, &shape, 0, err);
}

pcol_status pci_encode_at(struct pci_container *writer, uint32_t column,
                          const struct pci_value_source *source, int depth, pcol_error *err)
{
    struct pci_column_stats shape;
    pcol_status status;
    if (writer->quick) /* no source but a builder's column has nulls */
        return pci_encode_quick(writer, column, source, 0, NULL, err);
    PCI_TRY(pci_column_stats_of(source, depth >= PCI_MAX_DEPTH, &shape, err));
    status = encode_shape(writer, column, source, &shape, depth, err);
    pci_column_stats_clear(&shape);
    return status;
}

pcol_status pci_encode(struct pci_container *writer, uint32_t column,
                       const struct pci_value_source *source, pcol_error *err)
{
    return pci_encode_at(writer, column, source, 0, err);
}

pcol_status pci_encode_leaf(struct pci_container *writer, uint32_t column,
                            const struct pci_value_source *source, pcol_error *err)
{
    return pci_encode_at(writer, column, source, PCI_MAX_DEPTH, err);
}

pcol_status pci_encode_measure(struct pci_container *writer, const struct pci_value_source *source,
                               uint64_t *bytes, pcol_error *err)
{
    struct pci_container trial;
    pcol_status status = trial_begin(&trial, writer, source, err);
    if (status == PCOL_OK)
        status = pci_encode_at(&trial, 0, source, 0, err);
    *bytes = trial_end(&trial);
    return status;
}
