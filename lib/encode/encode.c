/*
 * encode.c - choice of the encoding of a column by estimated cost in bits
 *
 * A more complex encoding must save at least 1/20 of a simpler one. Children are encoded by the
 * same rules, one level deeper. In archives the encoding competes with PLAIN under each transform,
 * by the compressed size of the first rows. Tests: tests/unit/test_encode.c, tests/format/columns.
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

static void mark_exceptions(const void *context, const struct pci_block_reader *block,
                            uint8_t *marks)
{
    const struct pci_exceptions *e = context;
    uint64_t base = e->base + e->step * block->row;
    if (!e->null_default) {
        pci_simd_mark_off_line(block->values, block->n, base, e->step, marks);
        return;
    }
    memcpy(marks, block->valid, block->n);
}

/* Finds the exceptions to a default that is not null in one pass. Free with pci_free(). */
static pcol_status new_exceptions(const struct pci_value_source *source, uint64_t base,
                                  uint64_t step, struct pci_exceptions **out, pcol_error *err)
{
    struct pci_exceptions *e;
    pcol_status status;
    *out = NULL;
    PCI_TRY(PCI_MALLOC(e, 1, err));
    pci_row_part_init(&e->marked, source, mark_exceptions, e, PCI_PART_MARKED, 0);
    e->null_default = 0;
    e->base = base;
    e->step = step;
    status = pci_row_part_count(&e->marked, err);
    if (status != PCOL_OK)
        pci_free(e);
    else
        *out = e;
    return status;
}

/* ---- the choice ---- */

/* Cost of SPARSE with these exceptions; UINT64_MAX if they are more than half of the rows. */
static pcol_status cost_sparse(const struct pci_value_source *source,
                               const struct pci_exceptions *e, uint64_t *bits, pcol_error *err)
{
    struct pci_column_stats stats;
    *bits = UINT64_MAX;
    if (e->marked.source.rows > source->rows / 2)
        return PCOL_OK;
    PCI_TRY(pci_column_stats_compute(&e->marked.source, 1, &stats, err));
    *bits = pci_cost_marks(source->rows) +
            (source->type == PCF_F64 ? stats.rows * 64 : pci_cost_packed(&stats));
    return PCOL_OK;
}

/* The cheaper of two SPARSE defaults: a constant, and row + constant. *out is NULL if both are
 * unlikely to pay. */
static pcol_status choose_default(const struct pci_value_source *source,
                                  const struct pci_column_stats *stats, struct pci_exceptions **out,
                                  uint64_t *bits, pcol_error *err)
{
    *out = NULL;
    *bits = UINT64_MAX;
    for (unsigned step = 0; step <= (source->type != PCF_F64); step++) {
        struct pci_exceptions *exceptions;
        uint64_t cost;
        int64_t base = step ? stats->common_start : stats->common;
        pcol_status status = PCOL_OK;
        /* Skip the pass over the column if at most about half of the rows match the candidate. */
        if ((step ? stats->start_majority_bound : stats->common_majority_bound) < stats->rows / 16)
            continue;
        status = new_exceptions(source, (uint64_t)base, step, &exceptions, err);
        PCI_THEN(status, cost_sparse(source, exceptions, &cost, err));
        if (status == PCOL_OK && cost < *bits) {
            struct pci_exceptions *worse = *out;
            *out = exceptions;
            *bits = cost;
            exceptions = worse;
        }
        pci_free(exceptions);
        if (status != PCOL_OK) {
            pci_free(*out);
            *out = NULL;
            return status;
        }
    }
    return PCOL_OK;
}

static uint64_t cost_runs(const struct pci_column_stats *stats)
{
    uint64_t width = pci_packed_width((uint64_t)stats->max - (uint64_t)stats->min) +
                     pci_packed_width(stats->rows);
    return stats->runs * width + 2 * (64 + PCI_SECTION_BITS + PCI_CHILD_BITS);
}

/* Costs below this justify a more complex encoding. */
static uint64_t cost_limit(uint64_t bits)
{
    return bits - bits / 20;
}

enum candidate { PLAIN, PACKED, DELTAS, SPARSE, RUNS, SPLIT, CHAIN, TREE };

/* The best candidate so far, its cost, and the data that some candidates have computed. */
struct plan {
    enum candidate candidate;
    uint64_t bits;
    struct pci_exceptions *exceptions;
    struct pci_successors *successors;
    struct pci_tree_steps *steps;
    struct pci_patch_choice split;
};

static pcol_status write_candidate(struct pci_container *writer, uint32_t column,
                                   const struct pci_value_source *source,
                                   const struct pci_column_stats *stats, const struct plan *plan,
                                   int depth, pcol_error *err)
{
    switch (plan->candidate) {
    case PLAIN:
        return pci_emit_plain(writer, column, source, 0, NULL, err);
    case PACKED:
        return pci_emit_packed(writer, column, source, stats, err);
    case DELTAS:
        return pci_encode_delta(writer, column, source, stats, depth, err);
    case SPARSE:
        return pci_encode_sparse(writer, column, plan->exceptions, depth, err);
    case RUNS:
        return pci_encode_runs(writer, column, source, stats, depth, err);
    case SPLIT:
        return pci_encode_patched(writer, column, source, stats, &plan->split, depth, err);
    case TREE:
        return pci_encode_tree(writer, column, source, plan->steps, depth, err);
    case CHAIN:
        break;
    }
    return pci_encode_successor(writer, column, plan->successors, depth, err);
}

static void consider(struct plan *plan, enum candidate candidate, uint64_t bits)
{
    if (bits < cost_limit(plan->bits)) {
        plan->candidate = candidate;
        plan->bits = bits;
    }
}

/* SPLIT; or SPARSE if all small values are equal. */
static pcol_status consider_split(struct plan *plan, const struct pci_value_source *source,
                                  const struct pci_column_stats *stats, int depth, pcol_error *err)
{
    PCI_TRY(pci_patch_choose(source, stats, depth + 1 < PCI_MAX_DEPTH, cost_limit(plan->bits),
                             &plan->split, err));
    if (plan->split.bits == UINT64_MAX)
        return PCOL_OK;
    consider(plan, plan->split.width ? SPLIT : SPARSE, plan->split.bits);
    if (plan->candidate != SPARSE || plan->bits != plan->split.bits)
        return PCOL_OK;
    pci_free(plan->exceptions);
    return new_exceptions(source, (uint64_t)stats->min, 0, &plan->exceptions, err);
}

/* Candidates with children. The cost of the marks alone rules out most of them. */
static pcol_status consider_nested(struct plan *plan, const struct pci_value_source *source,
                                   const struct pci_column_stats *stats, int is_archive, int depth,
                                   pcol_error *err)
{
    int is_double = source->type == PCF_F64;
    uint64_t cost;
    if (!is_double)
        consider(plan, DELTAS, pci_cost_deltas(stats));
    if (stats->rows >= 64 && pci_cost_marks(stats->rows) < cost_limit(plan->bits)) {
        PCI_TRY(choose_default(source, stats, &plan->exceptions, &cost, err));
        consider(plan, SPARSE, cost);
    }
    if (!is_double)
        consider(plan, RUNS, cost_runs(stats));
    if (!is_double)
        PCI_TRY(consider_split(plan, source, stats, depth, err));
    if (depth == 0) {
        PCI_TRY(pci_successors_new(source, stats, cost_limit(plan->bits), &plan->successors, &cost,
                                   err));
        consider(plan, CHAIN, cost);
        if (!is_archive) { /* in archives PCF_TRANSFORM_PARENT compresses better */
            PCI_TRY(pci_tree_steps_new(source, stats, cost_limit(plan->bits), &plan->steps, &cost,
                                       err));
            consider(plan, TREE, cost);
        }
    }
    return PCOL_OK;
}

static pcol_status write_best(struct pci_container *writer, uint32_t column,
                              const struct pci_value_source *source,
                              const struct pci_column_stats *stats, int depth, pcol_error *err)
{
    struct plan plan = {.candidate = PLAIN, .bits = stats->rows * 64};
    pcol_status status = PCOL_OK;
    if (source->type != PCF_F64) {
        plan.candidate = PACKED;
        plan.bits = pci_cost_packed(stats);
    }
    /* Successors and differences are at the maximum depth: they need O(1) access. */
    if (depth < PCI_MAX_DEPTH)
        status = consider_nested(&plan, source, stats, writer->archive != NULL, depth, err);
    PCI_THEN(status, write_candidate(writer, column, source, stats, &plan, depth, err));
    pci_free(plan.exceptions);
    pci_successors_free(plan.successors);
    pci_tree_steps_free(plan.steps);
    return status;
}

static pcol_status write_nullable(struct pci_container *writer, uint32_t column,
                                  const struct pci_value_source *source, uint64_t nulls, int depth,
                                  pcol_error *err)
{
    struct pci_exceptions *values;
    PCI_TRY(PCI_CALLOC(values, 1, err));
    pci_row_part_init(&values->marked, source, mark_exceptions, values, PCI_PART_MARKED,
                      source->rows - nulls);
    values->null_default = 1;
    pcol_status status = pci_encode_sparse(writer, column, values, depth, err);
    pci_free(values);
    return status;
}

static pcol_status write_encoded(struct pci_container *writer, uint32_t column,
                                 const struct pci_value_source *source,
                                 const struct pci_column_stats *stats, int depth, pcol_error *err)
{
    if (stats->nulls)
        return write_nullable(writer, column, source, stats->nulls, depth, err);
    return write_best(writer, column, source, stats, depth, err);
}

/* ---- archives ---- */

#define TRIAL_ROWS 65536u
/* Form of a column: a PCF_TRANSFORM_ of PLAIN, or ENCODED: the smallest encoding, untransformed. */
#define ENCODED UINT8_MAX

static pcol_status write_form(struct pci_container *writer, uint32_t column,
                              const struct pci_value_source *source,
                              const struct pci_column_stats *stats, uint8_t form, int depth,
                              pcol_error *err)
{
    pcol_status status;
    if (form == ENCODED)
        return write_encoded(writer, column, source, stats, depth, err);
    writer->transform = form;
    status = pci_emit_plain(writer, column, source, stats->nulls, NULL, err);
    writer->transform = PCF_TRANSFORM_NONE;
    return status;
}

/* Begins a temporary container with one column, number 0. */
static pcol_status begin_trial(struct pci_container *trial, const struct pci_container *writer,
                               const struct pci_value_source *source, pcol_error *err)
{
    uint32_t column;
    pci_container_init(trial, writer->out.store);
    trial->archive = writer->archive;
    trial->tree = writer->tree;
    trial->trial = 1;
    PCI_TRY(pci_container_table(trial, "trial", 0, source->rows, err));
    return pci_container_column(trial, "trial", source->type, 0, &column, err);
}

/* Releases the container and returns the size of its sections and records. */
static uint64_t end_trial(struct pci_container *trial)
{
    uint64_t bytes = 16 * (trial->column_count - 1); /* estimate for compressed records */
    for (size_t i = 0; i < trial->section_count; i++)
        bytes += trial->sections[i].size + 8;
    pci_container_clear(trial);
    return bytes;
}

/* Measures the compressed size of a form of a column. */
static pcol_status measure_form(struct pci_container *writer, const struct pci_value_source *source,
                                const struct pci_column_stats *stats, uint8_t form, int depth,
                                uint64_t *bytes, pcol_error *err)
{
    struct pci_container trial;
    pcol_status status = begin_trial(&trial, writer, source, err);
    PCI_THEN(status, write_form(&trial, 0, source, stats, form, depth, err));
    *bytes = end_trial(&trial);
    return status;
}

/* Compares the forms of a column by the compressed size of its first rows: the smallest encoding
 * does not always compress best. */
static pcol_status choose_form(struct pci_container *writer, const struct pci_value_source *all,
                               int depth, uint8_t *form, pcol_error *err)
{
    struct pci_value_source first = *all;
    struct pci_column_stats stats;
    uint64_t best, bytes;
    pcol_status status;
    int tree = depth == 0 && writer->tree.transform;
    first.done = NULL;
    first.rows = all->rows < TRIAL_ROWS ? all->rows : TRIAL_ROWS;
    *form = ENCODED;
    PCI_TRY(pci_column_stats_compute(&first, 0, &stats, err));
    status = measure_form(writer, &first, &stats, ENCODED, depth, &best, err);
    best -= best / 32; /* a PLAIN column takes more memory, so it must save 1/32 */
    for (uint8_t t = 0; status == PCOL_OK && t <= PCF_TRANSFORM_LAST; t++) {
        if (t >= PCF_TRANSFORM_PARENT && (!tree || t != writer->tree.transform))
            continue;
        status = measure_form(writer, &first, &stats, t, depth, &bytes, err);
        if (status == PCOL_OK && bytes < best) {
            best = bytes;
            *form = t;
        }
    }
    return status;
}

static pcol_status write_archived(struct pci_container *writer, uint32_t column,
                                  const struct pci_value_source *source,
                                  const struct pci_column_stats *stats, int depth, pcol_error *err)
{
    uint8_t form;
    PCI_TRY(choose_form(writer, source, depth, &form, err));
    return write_form(writer, column, source, stats, form, depth, err);
}

static void set_statistics(struct pcf_column *c, const struct pci_column_stats *stats, uint8_t type)
{
    c->null_count = stats->nulls;
    if (stats->nulls)
        c->flags |= PCF_COLUMN_NULLABLE;
    if (!c->name_size) /* children have no statistics */
        return;
    if (stats->has_stats) {
        c->flags |= PCF_COLUMN_STATS;
        c->min = stats->min;
        c->max = stats->max;
    }
    if (stats->ascending && stats->rows && type != PCF_F64)
        c->flags |= PCF_COLUMN_ASCENDING;
}

/* Encodes a column with known statistics: trivial cases, else by cost. */
static pcol_status encode_with_stats(struct pci_container *writer, uint32_t column,
                                     const struct pci_value_source *source,
                                     const struct pci_column_stats *stats, int depth,
                                     pcol_error *err)
{
    struct pcf_column *c = column_of(writer, column);
    set_statistics(c, stats, source->type);
    if (!stats->rows) {
        c->encoding = PCF_LINEAR;
        return PCOL_OK;
    }
    if (writer->plain)
        return pci_emit_plain(writer, column, source, stats->nulls, NULL, err);
    if (stats->nulls == stats->rows) {
        c->encoding = PCF_LINEAR;
        c->flags |= PCF_COLUMN_DEFAULT_NULL;
        return PCOL_OK;
    }
    if (!stats->nulls && (stats->constant || (stats->linear && source->type != PCF_F64))) {
        c->encoding = PCF_LINEAR;
        c->base = stats->first;
        c->step = stats->constant ? 0 : stats->step;
        return PCOL_OK;
    }
    if (writer->archive && source->type != PCF_BOOL)
        return write_archived(writer, column, source, stats, depth, err);
    return write_encoded(writer, column, source, stats, depth, err);
}

pcol_status pci_encode_quick(struct pci_container *writer, uint32_t column,
                             const struct pci_value_source *source, uint64_t nulls,
                             const int64_t *constant, pcol_error *err)
{
    static const uint8_t valid = 1;
    struct pci_column_stats stats = {.rows = source->rows, .nulls = nulls};
    struct pcf_column *c = column_of(writer, column);
    int is_signed = source->type == PCF_I64 || source->type == PCF_F64;
    if (nulls && nulls == source->rows) {
        c->flags |= PCF_COLUMN_DEFAULT_NULL;
    } else if (source->rows && (nulls || !constant)) {
        PCI_TRY(pci_emit_plain(writer, column, source, nulls, is_signed ? &stats : NULL, err));
        set_statistics(column_of(writer, column), &stats, source->type);
        return PCOL_OK;
    } else if (source->rows) {
        c->base = *constant;
        pci_column_stats_add_range(&stats, source->type, constant, &valid, 1);
    }
    c->encoding = PCF_LINEAR;
    set_statistics(c, &stats, source->type);
    return PCOL_OK;
}

pcol_status pci_encode_constant(struct pci_container *writer, uint32_t column,
                                const struct pci_value_source *source, int64_t value,
                                pcol_error *err)
{
    static const uint8_t valid = 1;
    struct pci_column_stats stats = {
        .rows = source->rows, .first = value, .constant = 1, .ascending = 1, .scale = 1};
    if (writer->plain || !source->rows)
        return pci_encode(writer, column, source, err);
    pci_column_stats_add_range(&stats, source->type, &value, &valid, 1);
    return encode_with_stats(writer, column, source, &stats, 0, err);
}

pcol_status pci_encode_at(struct pci_container *writer, uint32_t column,
                          const struct pci_value_source *source, int depth, pcol_error *err)
{
    struct pci_column_stats stats;
    pcol_status status;
    if (writer->quick) /* only columns of the builder have nulls; it calls pci_encode_quick() */
        return pci_encode_quick(writer, column, source, 0, NULL, err);
    PCI_TRY(pci_column_stats_compute(source, depth >= PCI_MAX_DEPTH, &stats, err));
    status = encode_with_stats(writer, column, source, &stats, depth, err);
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
    pcol_status status = begin_trial(&trial, writer, source, err);
    PCI_THEN(status, pci_encode_at(&trial, 0, source, 0, err));
    *bytes = end_trial(&trial);
    return status;
}
