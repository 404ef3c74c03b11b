/*
 * derived_tables.c - tables computed from others when the file is written
 *
 *   stack_sums        per stack with samples, the sum of each additive value, if it is small enough
 *   function_sums     (function_sums.c)
 *   sample_zones      first rows of sample_locations and sample_values of each zone of samples
 *   sample_values, sample_locations   stored as columns, for plain files
 *
 * Each takes one pass over the samples; memory is a few bytes per stack.
 */
#include "builder/builder.h"

#include "util/alloc.h"
#include "util/amount.h"
#include "util/control.h"

#include <inttypes.h>
#include <stdio.h>

#define ZONE_ROWS 8192u

/* Joint iteration over stacks and values of types, one block of samples at a time. Stacks are
 * preorder indices, so that results are in the order of the file. */
struct pass {
    struct pci_column_buffer_source stack_source;
    struct pci_block_reader stack;
    size_t type_count;
    size_t unread; /* types that have a value in each sample, if only others are read */
    struct pci_column_buffer_source *value_sources;
    struct pci_block_reader *values;
};

static void pass_free(struct pass *pass)
{
    if (!pass)
        return;
    pci_free(pass->value_sources);
    pci_free(pass->values);
    pci_free(pass);
}

/* with_nulls: read only types that lack a value in some samples. */
static pcol_status pass_new(pcol_builder *b, int with_nulls, struct pass **out, pcol_error *err)
{
    struct pass *pass;
    *out = NULL;
    PCI_TRY(PCI_CALLOC(pass, 1, err));
    pass->value_sources = pci_calloc(b->type_count, sizeof *pass->value_sources);
    pass->values = pci_calloc(b->type_count, sizeof *pass->values);
    if (!pass->value_sources || !pass->values) {
        pass_free(pass);
        return pci_fail_memory(err);
    }
    pci_column_buffer_source_init(&pass->stack_source, b->columns[PCI_C_SAMPLE_STACK],
                                  b->tree.preorder);
    pci_block_reader_init(&pass->stack, &pass->stack_source.source);
    for (size_t k = 0; k < b->type_count; k++) {
        const struct pci_column_buffer *values = b->columns[b->types[k].column];
        if (with_nulls && values->present == b->sample_count) {
            pass->unread++;
            continue;
        }
        size_t i = pass->type_count++;
        pci_column_buffer_source_init(&pass->value_sources[i], values, NULL);
        pci_block_reader_init(&pass->values[i], &pass->value_sources[i].source);
    }
    *out = pass;
    return PCOL_OK;
}

static pcol_status pass_next(struct pass *pass, pcol_error *err)
{
    PCI_TRY(pci_block_reader_next(&pass->stack, err));
    for (size_t k = 0; k < pass->type_count; k++)
        PCI_TRY(pci_block_reader_next(&pass->values[k], err));
    return PCOL_OK;
}

/* ---- sums ---- */

struct sums {
    uint32_t *rank;     /* by preorder index: 1 + rank among stacks with samples; 0: no samples */
    uint32_t *nodes;    /* by rank */
    size_t stack_count; /* number of stacks with samples */
    pcol_amount *value; /* by type and rank */
    uint8_t *seen;      /* by type and rank: there is a value */
    uint8_t *stored;    /* by type: additive and without overflow */
};

static void sums_clear(struct sums *s)
{
    pci_free(s->rank);
    pci_free(s->nodes);
    pci_free(s->value);
    pci_free(s->seen);
    pci_free(s->stored);
}

/* Sums of that many stacks would not save work. */
static int too_many_stacks(const pcol_builder *b, const struct sums *s)
{
    return s->stack_count > b->sample_count / 4;
}

static pcol_status mark_stacks(pcol_builder *b, struct sums *s, pcol_error *err)
{
    struct pci_column_buffer_source source;
    struct pci_block_reader *r = pci_malloc(1, sizeof *r);
    pcol_status status = PCOL_OK;
    s->rank = pci_calloc(b->tree.count, sizeof *s->rank);
    if (!r || !s->rank) {
        pci_free(r);
        return pci_fail_memory(err);
    }
    pci_column_buffer_source_init(&source, b->columns[PCI_C_SAMPLE_STACK], NULL);
    pci_block_reader_init(r, &source.source);
    while (!too_many_stacks(b, s) && (status = pci_block_reader_next(r, err)) == PCOL_OK && r->n)
        for (size_t i = 0; i < r->n; i++) {
            uint32_t *rank = r->valid[i] ? &s->rank[b->tree.preorder[r->values[i]]] : NULL;
            if (rank && !*rank) {
                *rank = (uint32_t)r->values[i] + 1; /* the node, replaced by rank_stacks() */
                s->stack_count++;
            }
        }
    pci_free(r);
    return status;
}

static pcol_status rank_stacks(pcol_builder *b, struct sums *s, pcol_error *err)
{
    uint32_t rank = 0;
    PCI_TRY(PCI_MALLOC(s->nodes, s->stack_count, err));
    for (size_t p = 0; p < b->tree.count; p++)
        if (s->rank[p]) {
            s->nodes[rank++] = s->rank[p] - 1;
            s->rank[p] = rank;
        }
    return PCOL_OK;
}

static void add_to_sum(struct sums *s, size_t type, size_t cell, int is_double, int64_t bits)
{
    if (pci_amount_add(is_double, &s->value[cell], (pcol_amount){.i64 = bits}))
        s->stored[type] = 0; /* omitted, as it overflowed */
    s->seen[cell] = 1;
}

static pcol_status add_samples(pcol_builder *b, struct sums *s, pcol_error *err)
{
    struct pass *pass;
    pcol_status status;
    PCI_TRY(pass_new(b, 0, &pass, err));
    while ((status = pass_next(pass, err)) == PCOL_OK && pass->stack.n) {
        for (size_t k = 0; k < b->type_count; k++) {
            const struct pci_block_reader *v = &pass->values[k];
            int is_double = (b->types[k].flags & PCOL_SAMPLE_TYPE_DOUBLE) != 0;
            if (!s->stored[k])
                continue;
            for (size_t i = 0; i < v->n; i++)
                if (v->valid[i] && pass->stack.valid[i])
                    add_to_sum(s, k, k * s->stack_count + s->rank[pass->stack.values[i]] - 1,
                               is_double, v->values[i]);
        }
    }
    pass_free(pass);
    return status;
}

static pcol_status append_sums(pcol_builder *b, const struct sums *s, pcol_error *err)
{
    uint32_t column;
    char name[32];
    PCI_TRY(pci_column_buffer_new(b, PCI_T_STACK_SUMS, "stack", PCF_U32, PCI_T_STACKS + 1,
                                  PCI_DROP_NEVER, &column, err));
    for (size_t i = 0; i < s->stack_count; i++)
        PCI_TRY(pci_column_buffer_set(b->columns[column], i, s->nodes[i], err));
    for (size_t k = 0; k < b->type_count; k++) {
        if (!s->stored[k])
            continue;
        snprintf(name, sizeof name, "sum.%zu", k);
        PCI_TRY(
            pci_column_buffer_new(b, PCI_T_STACK_SUMS, name,
                                  b->types[k].flags & PCOL_SAMPLE_TYPE_DOUBLE ? PCF_F64 : PCF_I64,
                                  0, PCI_DROP_NEVER, &column, err));
        for (size_t i = 0; i < s->stack_count; i++)
            if (s->seen[k * s->stack_count + i])
                PCI_TRY(pci_column_buffer_set(b->columns[column], i,
                                              s->value[k * s->stack_count + i].i64, err));
        PCI_TRY(pci_column_buffer_fill(b->columns[column], s->stack_count, err));
    }
    return PCOL_OK;
}

static pcol_status derive_sums(pcol_builder *b, pcol_error *err)
{
    struct sums s = {0};
    size_t cells;
    int additive = 0;
    pcol_status status = mark_stacks(b, &s, err);
    if (status != PCOL_OK || !s.stack_count || too_many_stacks(b, &s))
        goto cleanup;
    status = rank_stacks(b, &s, err);
    if (status != PCOL_OK)
        goto cleanup;
    s.stored = pci_calloc(b->type_count, 1);
    if (!s.stored) {
        status = pci_fail_memory(err);
        goto cleanup;
    }
    for (size_t k = 0; k < b->type_count; k++)
        additive |= s.stored[k] = !(b->types[k].flags & PCOL_SAMPLE_TYPE_GAUGE);
    if (!additive)
        goto cleanup;
    if (__builtin_mul_overflow(b->type_count, s.stack_count, &cells))
        cells = SIZE_MAX;
    s.value = pci_calloc(cells, sizeof *s.value);
    s.seen = pci_calloc(cells, 1);
    if (!s.value || !s.seen) {
        status = pci_fail_memory(err);
        goto cleanup;
    }
    status = add_samples(b, &s, err);
    PCI_THEN(status, append_sums(b, &s, err));
cleanup:
    sums_clear(&s);
    return status;
}

/* ---- zones ---- */

/* Number of lines on the path from the root to each row of the call tree. */
static pcol_status compute_depths(const pcol_builder *b, uint32_t **out, pcol_error *err)
{
    uint32_t *depth = pci_malloc(b->tree.count, sizeof *depth);
    *out = depth;
    if (!depth)
        return pci_fail_memory(err);
    const struct pci_call_tree *tree = &b->tree;
    depth[0] = 0;
    for (size_t p = 1; p < tree->count; p++) {
        uint32_t lines = b->groups[tree->groups[p]].line_count;
        if (__builtin_add_overflow(depth[tree->parents[p]], lines ? lines : 1, &depth[p]))
            return pci_fail(err, PCOL_E_LIMIT, "a stack with more than 4294967295 locations");
    }
    return PCOL_OK;
}

/* *rows: the number of rows of sample_locations. */
static pcol_status append_zones(pcol_builder *b, const uint32_t *depth, uint32_t c_location,
                                uint32_t c_value, uint64_t *rows, pcol_error *err)
{
    struct pass *pass;
    uint64_t locations = 0, values = 0, zone = 0;
    pcol_status status;
    PCI_TRY(pass_new(b, 1, &pass, err));
    while ((status = pass_next(pass, err)) == PCOL_OK && pass->stack.n) {
        if (pass->stack.row % ZONE_ROWS == 0) {
            status = pci_column_buffer_set(b->columns[c_location], zone, (int64_t)locations, err);
            PCI_THEN(status,
                     pci_column_buffer_set(b->columns[c_value], zone++, (int64_t)values, err));
            if (status != PCOL_OK)
                break;
        }
        uint64_t frames = 0; /* of at most 1024 stacks: no overflow */
        for (size_t i = 0; i < pass->stack.n; i++)
            frames += pass->stack.valid[i] ? depth[pass->stack.values[i]] : 0;
        if (__builtin_add_overflow(locations, frames, &locations))
            status = pci_fail(err, PCOL_E_LIMIT, "more than 2^64 rows of sample_locations");
        for (size_t k = 0; k < pass->type_count; k++)
            for (size_t i = 0; i < pass->stack.n; i++)
                values += pass->values[k].valid[i];
        values += pass->unread * pass->stack.n;
        if (status != PCOL_OK)
            break;
    }
    pass_free(pass);
    PCI_THEN(status, pci_column_buffer_set(b->columns[c_location], zone, (int64_t)locations, err));
    PCI_THEN(status, pci_column_buffer_set(b->columns[c_value], zone, (int64_t)values, err));
    *rows = locations;
    return status;
}

static pcol_status derive_zones(pcol_builder *b, uint64_t *rows, pcol_error *err)
{
    uint32_t c_location, c_value;
    uint32_t *depth = NULL;
    pcol_status status;
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLE_ZONES, "location_row", PCF_U64, 0, PCI_DROP_NEVER,
                                  &c_location, err));
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLE_ZONES, "value_row", PCF_U64, 0, PCI_DROP_NEVER,
                                  &c_value, err));
    status = compute_depths(b, &depth, err);
    PCI_THEN(status, append_zones(b, depth, c_location, c_value, rows, err));
    pci_free(depth);
    return status;
}

/* ---- plain files ---- */

/* A few hundred bytes can state a stack of 2^32 frames. The call tree stores a frame once, but
 * sample_locations has a row for each frame of each sample. A plain file may have FREE_LOCATIONS
 * of these rows, and LOCATIONS_PER_ROW more for each sample and each stack. Of untrusted input,
 * which has up to one of these in a byte, it is UNTRUSTED_PER_ROW for each, up to one a byte. */
#define FREE_LOCATIONS (UINT64_C(1) << 26)
#define LOCATIONS_PER_ROW 1024u
#define UNTRUSTED_PER_ROW 64u

struct value_columns {
    struct pci_column_buffer *sample, *type, *value;
    uint64_t row;
    int any_double;
};

static pcol_status append_value(struct value_columns *c, uint64_t sample, size_t type,
                                int is_double, int64_t bits, pcol_error *err)
{
    if (c->any_double && !is_double) {
        double value = (double)bits;
        memcpy(&bits, &value, sizeof bits);
    }
    PCI_TRY(pci_column_buffer_set(c->sample, c->row, (int64_t)sample, err));
    PCI_TRY(pci_column_buffer_set(c->type, c->row, (int64_t)type, err));
    return pci_column_buffer_set(c->value, c->row++, bits, err);
}

/* Sample types of each source in its order: list[start[s]] to list[start[s + 1] - 1]; start ==
 * NULL: all types in row order. */
struct type_lists {
    uint32_t *start, *list;
};

static void type_lists_clear(struct type_lists *lists)
{
    pci_free(lists->start);
    pci_free(lists->list);
}

static pcol_status fill_type_lists(pcol_builder *b, struct pci_block_reader *r,
                                   struct type_lists *lists, pcol_error *err)
{
    const struct pci_column_buffer *columns[] = {b->columns[PCI_C_TYPES_SOURCE],
                                                 b->columns[PCI_C_TYPES_TYPE]};
    struct pci_column_buffer_source source;
    pcol_status status = PCOL_OK;
    for (int c = 0; c < 2 && status == PCOL_OK; c++) {
        pci_column_buffer_source_init(&source, columns[c], NULL);
        pci_block_reader_init(r, &source.source);
        while ((status = pci_block_reader_next(r, err)) == PCOL_OK && r->n)
            for (size_t i = 0; i < r->n; i++) {
                if (c == 0)
                    lists->start[r->values[i] + 1]++;
                else
                    lists->list[r->row + i] = (uint32_t)r->values[i];
            }
    }
    for (uint32_t s = 0; s < b->source_count; s++)
        lists->start[s + 1] += lists->start[s];
    return status;
}

static pcol_status type_lists_init(pcol_builder *b, struct type_lists *lists, pcol_error *err)
{
    uint64_t rows = b->columns[PCI_C_TYPES_TYPE]->rows;
    struct pci_block_reader *r;
    pcol_status status;
    *lists = (struct type_lists){NULL, NULL};
    if (!rows)
        return PCOL_OK;
    r = pci_malloc(1, sizeof *r);
    lists->start = pci_calloc((size_t)b->source_count + 1, sizeof *lists->start);
    lists->list = pci_malloc((size_t)rows, sizeof *lists->list);
    if (r && lists->start && lists->list)
        status = fill_type_lists(b, r, lists, err);
    else
        status = pci_fail_memory(err);
    pci_free(r);
    return status;
}

/* Append the values of sample `i` of the block, in its source's order of types. */
static pcol_status append_values(pcol_builder *b, struct value_columns *c, const struct pass *pass,
                                 const struct type_lists *lists, size_t i, int64_t source,
                                 pcol_error *err)
{
    size_t first = lists->start ? lists->start[source] : 0;
    size_t end = lists->start ? lists->start[source + 1] : b->type_count;
    for (size_t k = first; k < end; k++) {
        size_t type = lists->start ? lists->list[k] : k;
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        if (pass->values[type].valid[i])
            PCI_TRY(append_value(c, pass->stack.row + i, type,
                                 (b->types[type].flags & PCOL_SAMPLE_TYPE_DOUBLE) != 0,
                                 pass->values[type].values[i], err));
    }
    return PCOL_OK;
}

static pcol_status append_all_values(pcol_builder *b, struct value_columns *c,
                                     const struct type_lists *lists,
                                     struct pci_block_reader *sources, pcol_error *err)
{
    struct pci_column_buffer_source source;
    struct pass *pass;
    pcol_status status;
    PCI_TRY(pass_new(b, 0, &pass, err));
    pci_column_buffer_source_init(&source, b->columns[PCI_C_SAMPLE_SOURCE], NULL);
    pci_block_reader_init(sources, &source.source);
    while ((status = pass_next(pass, err)) == PCOL_OK && pass->stack.n) {
        status = pci_block_reader_next(sources, err);
        for (size_t i = 0; i < pass->stack.n && status == PCOL_OK; i++)
            status = append_values(b, c, pass, lists, i, sources->values[i], err);
        if (status != PCOL_OK)
            break;
    }
    pass_free(pass);
    return status;
}

static pcol_status store_values(pcol_builder *b, pcol_error *err)
{
    struct value_columns c = {0};
    struct type_lists lists;
    struct pci_block_reader *sources;
    uint32_t sample, type, value;
    pcol_status status;
    for (size_t k = 0; k < b->type_count; k++)
        c.any_double |= (b->types[k].flags & PCOL_SAMPLE_TYPE_DOUBLE) != 0;
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLE_VALUES, "sample", PCF_U64, PCI_T_SAMPLES + 1,
                                  PCI_DROP_NEVER, &sample, err));
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLE_VALUES, "sample_type", PCF_U32,
                                  PCI_T_SAMPLE_TYPES + 1, PCI_DROP_NEVER, &type, err));
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLE_VALUES, "value", c.any_double ? PCF_F64 : PCF_I64,
                                  0, PCI_DROP_NEVER, &value, err));
    c.sample = b->columns[sample];
    c.type = b->columns[type];
    c.value = b->columns[value];
    PCI_TRY(PCI_MALLOC(sources, 1, err));
    status = type_lists_init(b, &lists, err);
    PCI_THEN(status, append_all_values(b, &c, &lists, sources, err));
    type_lists_clear(&lists);
    pci_free(sources);
    return status;
}

/* First row of `locations` by group. */
static pcol_status compute_first_locations(const pcol_builder *b, uint32_t **out, pcol_error *err)
{
    uint32_t *first = pci_malloc(b->group_count, sizeof *first), next = 0;
    *out = first;
    if (!first)
        return pci_fail_memory(err);
    for (size_t g = 0; g < b->group_count; g++) {
        first[g] = next;
        next += b->groups[g].line_count ? b->groups[g].line_count : 1;
    }
    return PCOL_OK;
}

static pcol_status append_stack(pcol_builder *b, const uint32_t *first, uint32_t columns,
                                uint64_t sample, uint32_t stack, uint64_t *row, pcol_error *err)
{
    uint32_t depth = 0;
    for (uint32_t p = stack; p; p = b->tree.parents[p]) {
        uint32_t group = b->tree.groups[p];
        const struct pci_group_record *g = &b->groups[group];
        uint32_t lines = g->line_count ? g->line_count : 1;
        for (uint32_t l = 0; l < lines; l++) {
            PCI_TRY(pci_work(PCI_ITEM_WORK, err));
            PCI_TRY(pci_column_buffer_set(b->columns[columns], *row, (int64_t)sample, err));
            PCI_TRY(pci_column_buffer_set(b->columns[columns + 1], *row, ++depth, err));
            PCI_TRY(
                pci_column_buffer_set(b->columns[columns + 2], (*row)++, first[group] + l, err));
        }
    }
    return PCOL_OK;
}

static pcol_status store_locations(pcol_builder *b, pcol_error *err)
{
    uint32_t *first = NULL, columns, last;
    struct pass *pass = NULL;
    uint64_t row = 0;
    pcol_status status;
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLE_LOCATIONS, "sample", PCF_U64, PCI_T_SAMPLES + 1,
                                  PCI_DROP_NEVER, &columns, err));
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLE_LOCATIONS, "depth", PCF_U32, 0, PCI_DROP_NEVER,
                                  &last, err));
    PCI_TRY(pci_column_buffer_new(b, PCI_T_SAMPLE_LOCATIONS, "location", PCF_U32,
                                  PCI_T_LOCATIONS + 1, PCI_DROP_NEVER, &last, err));
    status = compute_first_locations(b, &first, err);
    PCI_THEN(status, pass_new(b, 1, &pass, err));
    while (status == PCOL_OK && (status = pass_next(pass, err)) == PCOL_OK && pass->stack.n)
        for (size_t i = 0; i < pass->stack.n && status == PCOL_OK; i++)
            if (pass->stack.valid[i])
                status = append_stack(b, first, columns, pass->stack.row + i,
                                      (uint32_t)pass->stack.values[i], &row, err);
    pass_free(pass);
    pci_free(first);
    return status;
}

static pcol_status check_location_count(const pcol_builder *b, uint64_t locations, pcol_error *err)
{
    int is_limited = b->budget.used && !b->budget.trusted;
    uint64_t rows = b->sample_count + b->tree.count, bytes = b->budget.input_bytes;
    uint64_t per_row = is_limited ? UNTRUSTED_PER_ROW : LOCATIONS_PER_ROW;
    if (is_limited && rows > bytes)
        rows = bytes;
    if (locations / per_row <= FREE_LOCATIONS / per_row + rows)
        return PCOL_OK;
    pcol_status status =
        pci_fail(err, PCOL_E_LIMIT,
                 "a plain file would have %" PRIu64 " rows of sample_locations, implausibly many",
                 locations);
    return is_limited ? pci_error_option(err, "PCOL_IMPORT_TRUSTED", status) : status;
}

pcol_status pci_build_derived_tables(pcol_builder *b, int plain, pcol_error *err)
{
    uint64_t locations = 0;
    if (!b->sample_count)
        return PCOL_OK;
    PCI_TRY(derive_zones(b, &locations, err));
    if (b->columns[PCI_C_SAMPLE_STACK]->present)
        PCI_TRY(derive_sums(b, err));
    if (!plain)
        return PCOL_OK;
    PCI_TRY(check_location_count(b, locations, err));
    PCI_TRY(store_values(b, err));
    return store_locations(b, err);
}
