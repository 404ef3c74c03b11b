/*
 * samples.c - converts the samples of a thread, one row each, in their order
 *
 * Rows are processed in batches, column by column; consecutive rows with the same set of columns
 * are appended as arrays.
 *
 * With collapse_idle a sample joins the pending row before it if it has the same stack and used no
 * CPU time: weights add up, and the row's duration extends to the last joined sample.
 */
#include "formats/firefox/read.h"

#include "builder/idle_samples.h"
#include "util/alloc.h"
#include "util/simd_kernels.h"
#include "util/strbuf.h"

/* Columns that a row has. */
enum { HAS_STACK = 1, HAS_WEIGHT = 2, HAS_TIME = 4, HAS_CPU = 8, HAS_CYCLES = 16 };

/* A batch of rows by column. In most batches all rows have the same columns. */
struct batch {
    uint64_t first;
    size_t count;
    unsigned all;    /* columns that all rows have */
    int varied;      /* has[] has further columns of each row */
    int same_weight; /* all rows have weight[0] */
    int64_t stack[PCI_FF_BATCH], weight[PCI_FF_BATCH];
    int64_t time[PCI_FF_BATCH], ulps[PCI_FF_BATCH];
    int64_t cpu[PCI_FF_BATCH]; /* ns, or cycles */
    uint8_t has[PCI_FF_BATCH];
    int any_ulps;
};

struct sample_import {
    struct pci_ff *ff;
    struct pci_ff_scope *scope;
    struct pci_ff_table *table;
    struct pci_ff_column *stack, *weight, *cpu;
    struct pci_ff_cursor *cursors; /* of stack, weight, cpu */
    struct pci_ff_times times;
    const uint32_t *nodes;
    uint64_t node_count;
    struct pci_ff_scope *stacks; /* scope that owns the table of stacks */
    int exact_stack, exact_weight, exact_cpu;
    /* doubles occur: any weight, all weights, all CPU deltas */
    int real_weight, real_weights, real_cpu;
    uint32_t type, ulp_column, cycles_column;
    struct batch *batch;
    /* pending row, which later samples may join */
    int has_pending;
    pcol_sample sample;
    pcol_value value;
    struct pci_idle_run run;
    int64_t ulps;
};

/* Record that row i has a column that other rows may not have. */
static inline void set_has(struct batch *b, size_t i, unsigned column)
{
    b->varied = 1;
    b->has[i] = (uint8_t)(b->has[i] | column);
}

/* ---- cells: each column has a fast path for its usual cells */

static pcol_status get_stack(struct sample_import *w, size_t i, int kind, int64_t value,
                             pcol_error *err)
{
    struct batch *b = w->batch;
    if (kind == PCI_FF_NULL)
        return PCOL_OK;
    if (kind == PCI_FF_INT && value == -1) {
        w->exact_stack = 0;
        return PCOL_OK;
    }
    if (kind != PCI_FF_INT)
        return pci_ff_fail_cell(w->ff, w->table, w->stack, b->first + i, err,
                                "must be a row of stackTable");
    if (value < 0 || (uint64_t)value >= w->node_count)
        return pci_ff_fail_cell(w->ff, w->table, w->stack, b->first + i, err,
                                "%lld is not a row of stackTable, which has %llu rows",
                                (long long)value, (unsigned long long)w->node_count);
    b->stack[i] = w->nodes[value];
    set_has(b, i, HAS_STACK);
    pci_ff_record_stack_use(w->ff, w->stacks, (uint64_t)value);
    return PCOL_OK;
}

static pcol_status get_stacks(struct sample_import *w, pcol_error *err)
{
    const struct pci_ff_cursor *c = &w->cursors[0];
    struct batch *b = w->batch;
    int64_t least, highest;
    pci_simd_range(c->values, b->count, 0, &least, &highest);
    if (c->kind == PCI_FF_INT && least >= 0 && (uint64_t)highest < w->node_count) {
        pci_simd_gather(w->nodes, c->values, b->count, b->stack);
        b->all |= HAS_STACK;
        pci_ff_record_stack_uses(w->ff, w->stacks, c->values, b->count, highest);
        return PCOL_OK;
    }
    for (size_t i = 0; i < b->count; i++)
        PCI_TRY(get_stack(w, i, c->kinds[i], c->values[i], err));
    return PCOL_OK;
}

static pcol_status get_weight(struct sample_import *w, size_t i, int kind, int64_t bits,
                              pcol_error *err)
{
    struct batch *b = w->batch;
    double number;
    if (kind == PCI_FF_NULL)
        return PCOL_OK;
    if (kind != PCI_FF_INT && kind != PCI_FF_DOUBLE)
        return pci_ff_fail_cell(w->ff, w->table, w->weight, b->first + i, err,
                                "a weight must be a number of 64 bits");
    set_has(b, i, HAS_WEIGHT);
    b->weight[i] = bits;
    if (!w->real_weight)
        return PCOL_OK;
    w->exact_weight &= pci_ff_number_fits(kind, bits, w->real_weights, &number);
    memcpy(&b->weight[i], &number, sizeof number);
    return PCOL_OK;
}

static int is_collapsing(const struct sample_import *w)
{
    return w->ff->import->options->collapse_idle;
}

static pcol_status get_weights(struct sample_import *w, pcol_error *err)
{
    const struct pci_ff_cursor *c = &w->cursors[1];
    struct batch *b = w->batch;
    if (w->weight && (w->real_weight || c->kind != PCI_FF_INT)) {
        for (size_t i = 0; i < b->count; i++)
            PCI_TRY(get_weight(w, i, c->kinds[i], c->values[i], err));
        return PCOL_OK;
    }
    b->same_weight = !w->weight || !w->weight->cells.varied;
    if (b->same_weight && w->weight && b->first + b->count > w->weight->cells.count)
        b->same_weight = 0;
    b->weight[0] = w->weight ? c->values[0] : 1;
    for (size_t i = 1; i < b->count && (!b->same_weight || is_collapsing(w)); i++)
        b->weight[i] = w->weight ? c->values[i] : 1;
    b->all |= HAS_WEIGHT;
    return PCOL_OK;
}

static pcol_status get_cpu(struct sample_import *w, size_t i, int kind, int64_t value, double scale,
                           uint8_t mark, pcol_error *err)
{
    struct batch *b = w->batch;
    double number, ns;
    if (kind == PCI_FF_NULL)
        return PCOL_OK;
    if (kind != PCI_FF_INT && kind != PCI_FF_DOUBLE)
        return pci_ff_fail_cell(w->ff, w->table, w->cpu, b->first + i, err,
                                "a CPU delta must be a number");
    w->exact_cpu &= pci_ff_number_fits(kind, value, w->real_cpu, &number);
    ns = number * scale;
    if (!(ns > -9e18 && ns < 9e18)) {
        w->exact_cpu = 0;
        return PCOL_OK;
    }
    value = (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
    w->exact_cpu &= (double)value / scale == number && !(number == 0 && signbit(number));
    b->cpu[i] = value;
    set_has(b, i, mark);
    return PCOL_OK;
}

static pcol_status get_cpus(struct sample_import *w, pcol_error *err)
{
    const struct pci_ff_cursor *c = &w->cursors[2];
    struct batch *b = w->batch;
    int64_t scale = w->ff->cpu_unit == PCI_FF_CPU_US ? 1000 : 1;
    uint8_t mark = w->ff->cpu_unit == PCI_FF_CPU_CYCLES ? HAS_CYCLES : HAS_CPU;
    if (!w->cpu)
        return PCOL_OK;
    int64_t bits = pci_simd_or(c->values, b->count);
    if (c->kind == PCI_FF_INT && !w->real_cpu && bits >= 0 && bits < INT64_C(1) << 42) {
        pci_simd_multiply(c->values, b->count, scale, b->cpu); /* exact as doubles, too */
        b->all |= mark;
        return PCOL_OK;
    }
    for (size_t i = 0; i < b->count; i++)
        PCI_TRY(get_cpu(w, i, c->kinds[i], c->values[i], (double)scale, mark, err));
    return PCOL_OK;
}

static pcol_status get_times(struct sample_import *w, pcol_error *err)
{
    struct batch *b = w->batch;
    uint8_t valid[PCI_FF_BATCH];
    PCI_TRY(
        pci_ff_times_get_batch(w->ff, &w->times, b->first, b->count, valid, b->time, b->ulps, err));
    b->any_ulps = pci_simd_or(b->ulps, b->count) != 0;
    if (!memchr(valid, 0, b->count)) {
        b->all |= HAS_TIME;
        return PCOL_OK;
    }
    for (size_t i = 0; i < b->count; i++)
        if (valid[i])
            set_has(b, i, HAS_TIME);
    b->varied = 1;
    return PCOL_OK;
}

/* Load rows from `first` on, as many as all columns have in their windows. */
static pcol_status load_batch(struct sample_import *w, uint64_t first, pcol_error *err)
{
    const struct pci_ff_column *columns[3] = {w->stack, w->weight, w->cpu};
    struct batch *b = w->batch;
    uint64_t left = w->table->rows - first;
    b->first = first;
    b->count = left < PCI_FF_BATCH ? (size_t)left : PCI_FF_BATCH;
    for (int k = 0; k < 3; k++) {
        PCI_TRY(pci_ff_cursor_fill(&w->cursors[k], first, err));
        if (columns[k] && w->cursors[k].count < b->count)
            b->count = w->cursors[k].count;
    }
    memset(b->has, 0, b->count);
    b->same_weight = 0;
    b->all = 0;
    b->varied = 0;
    PCI_TRY(get_stacks(w, err));
    PCI_TRY(get_weights(w, err));
    PCI_TRY(get_cpus(w, err));
    PCI_TRY(get_times(w, err));
    for (size_t i = 0; b->varied && i < b->count; i++)
        b->has[i] = (uint8_t)(b->has[i] | b->all);
    return PCOL_OK;
}

static unsigned columns_of(const struct batch *b, size_t i)
{
    return b->varied ? b->has[i] : b->all;
}

/* ---- rows */

/* Append rows of the batch that have the same columns. */
static pcol_status append_rows(struct sample_import *w, size_t at, size_t n, pcol_error *err)
{
    const struct batch *b = w->batch;
    unsigned has = columns_of(b, at);
    uint64_t row;
    const struct pci_sample_rows rows = {
        .count = n,
        .source = w->ff->import->source,
        .thread = w->scope->thread,
        .sample_type = w->type,
        .stacks = has & HAS_STACK ? b->stack + at : NULL,
        .times_ns = has & HAS_TIME ? b->time + at : NULL,
        .cpu_deltas_ns = has & HAS_CPU ? b->cpu + at : NULL,
        .values = has & HAS_WEIGHT && !b->same_weight ? b->weight + at : NULL,
        .value = b->weight[0],
        .has_value = has & HAS_WEIGHT && b->same_weight};
    PCI_TRY(pci_builder_samples(w->ff->b, &rows, &row, err));
    if (has & HAS_CYCLES)
        PCI_TRY(pci_column_buffer_set_many(w->ff->b->columns[w->cycles_column], row, b->cpu + at, n,
                                           err));
    for (size_t i = 0; b->any_ulps && i < n; i++)
        if (b->ulps[at + i])
            PCI_TRY(pcol_builder_set_i64(w->ff->b, w->ulp_column, row + i, b->ulps[at + i], err));
    return PCOL_OK;
}

static pcol_status append_batch(struct sample_import *w, pcol_error *err)
{
    const struct batch *b = w->batch;
    if (!b->varied)
        return append_rows(w, 0, b->count, err);
    for (size_t at = 0, end; at < b->count; at = end) {
        for (end = at + 1; end < b->count && b->has[end] == b->has[at];)
            end++;
        PCI_TRY(append_rows(w, at, end - at, err));
    }
    return PCOL_OK;
}

static pcol_status flush_pending(struct sample_import *w, pcol_error *err)
{
    uint64_t row;
    if (!w->has_pending)
        return PCOL_OK;
    w->has_pending = 0;
    w->sample.values = &w->value;
    PCI_TRY(pcol_builder_sample(w->ff->b, &w->sample, &row, err));
    return w->ulps ? pcol_builder_set_i64(w->ff->b, w->ulp_column, row, w->ulps, err) : PCOL_OK;
}

/* Join row i of the batch with the pending row, or make it the pending row. */
static pcol_status join_row(struct sample_import *w, size_t i, pcol_error *err)
{
    const struct batch *b = w->batch;
    unsigned has = columns_of(b, i);
    pcol_value value = {.sample_type = w->type, .as.i64 = b->weight[i]};
    pcol_sample s = {.size = sizeof s,
                     .source = w->ff->import->source,
                     .thread = w->scope->thread,
                     .stack = has & HAS_STACK ? (uint32_t)b->stack[i] : PCOL_NONE,
                     .flags = (has & HAS_TIME ? PCOL_SAMPLE_HAS_TIME : 0) |
                              (has & HAS_CPU ? PCOL_SAMPLE_HAS_CPU_DELTA : 0),
                     .time_ns = has & HAS_TIME ? b->time[i] : 0,
                     .cpu_delta_ns = has & HAS_CPU ? b->cpu[i] : 0,
                     .values = &value,
                     .value_count = has & HAS_WEIGHT ? 1 : 0};
    if (w->has_pending && pci_idle_join(w->ff->b, &w->sample, &w->value, &w->run, &s)) {
        w->ff->joined_rows++;
        return PCOL_OK;
    }
    PCI_TRY(flush_pending(w, err));
    if (has & HAS_CYCLES) /* cycles cannot be compared with 0 ns */
        return append_rows(w, i, 1, err);
    w->has_pending = 1;
    w->sample = s;
    w->value = value;
    w->ulps = b->ulps[i];
    pci_idle_begin(&w->run, &s, w->ff->import->options->idle_tolerance_ns);
    return PCOL_OK;
}

/* ---- the table */

static int has_double(struct sample_import *w, pcol_error *err, pcol_status *status)
{
    const struct pci_ff_cells *c = &w->weight->cells;
    *status = PCOL_OK;
    if (!c->mixed)
        return c->count && c->kind == PCI_FF_DOUBLE;
    for (uint64_t i = 0; i < c->count; i++) {
        int kind;
        int64_t value;
        *status = pci_ff_cell(&w->cursors[1], i, &kind, &value, err);
        if (*status != PCOL_OK || kind == PCI_FF_DOUBLE)
            return 1;
    }
    return 0;
}

static const struct {
    const char *name, *type, *unit;
} weight_types[] = {
    {"samples", "samples", "count"}, {"tracing-ms", "tracing", "ms"}, {"bytes", "bytes", "bytes"}};

static pcol_status add_type(struct pci_ff *ff, unsigned weight_type, unsigned flags, uint32_t *row,
                            pcol_error *err)
{
    return pcol_builder_sample_type(ff->b, weight_types[weight_type].type,
                                    weight_types[weight_type].unit, flags, 0, row, err);
}

/* Find the sample type given by `weightType`. A thread without samples adds none: it does not tell
 * whether weights are integers. */
static pcol_status find_type(struct sample_import *w, pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    const struct pci_ff_column *c = pci_ff_find_scalar(ff, w->table, "weightType");
    unsigned k = 0;
    int kind;
    int64_t code;
    if (c) {
        pci_ff_cursor_init(&w->cursors[0], &c->cells);
        PCI_TRY(pci_ff_cell(&w->cursors[0], 0, &kind, &code, err));
        if (kind == PCI_FF_TEXT) {
            pcol_str text = pci_string_pool_get(&ff->b->strings, (uint32_t)code);
            for (unsigned i = 1; i < 3; i++)
                if (pci_str_is(text, weight_types[i].name))
                    k = i;
        }
    }
    if (!ff->has_samples_table)
        ff->first_weight_type = k;
    ff->has_samples_table = 1;
    if (!w->table->rows)
        return PCOL_OK;
    ff->has_type = 1;
    return add_type(ff, k, w->real_weight ? PCOL_SAMPLE_TYPE_DOUBLE : 0, &w->type, err);
}

pcol_status pci_ff_finish_types(struct pci_ff *ff, pcol_error *err)
{
    uint32_t row;
    return ff->has_type || !ff->has_samples_table
               ? PCOL_OK
               : add_type(ff, ff->first_weight_type, 0, &row, err);
}

static pcol_status find_columns(struct sample_import *w, pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    pcol_status status;
    w->stack = pci_ff_find_column(ff, w->table, "stack");
    w->weight = pci_ff_find_column(ff, w->table, "weight");
    if (!w->weight && ff->has_version && ff->version < PCI_FF_SINCE_WEIGHTS)
        w->weight =
            pci_ff_find_column(ff, w->table, "duration"); /* the weight, in these versions */
    w->cpu = pci_ff_find_column(ff, w->table, "threadCPUDelta");
    pci_ff_cursor_init(&w->cursors[1], w->weight ? &w->weight->cells : NULL);
    pci_ff_cursor_init(&w->cursors[2], w->cpu ? &w->cpu->cells : NULL);
    if (w->weight) {
        w->real_weights = pci_ff_all_real(&w->weight->cells);
        w->real_weight = has_double(w, err, &status);
        PCI_TRY(status);
    }
    w->real_cpu = w->cpu && pci_ff_all_real(&w->cpu->cells);
    PCI_TRY(find_type(w, err));
    pci_ff_cursor_init(&w->cursors[0], w->stack ? &w->stack->cells : NULL);
    w->nodes = pci_ff_get_map(ff, w->scope, PCI_FF_STACKS, &w->node_count);
    w->stacks = w->scope->tables[PCI_FF_STACKS].present ? w->scope : &ff->shared;
    if (w->stacks != &ff->shared) /* uses by several threads define no order of the shared table */
        ff->shared.uses.next[PCI_FF_STACKS] = PCI_FF_UNORDERED;
    const struct pci_ff_column *length = pci_ff_find_scalar(ff, w->table, "length");
    w->scope->has_length = length && length->cells.kind == PCI_FF_INT;
    PCI_TRY(pci_ff_times_open(ff, w->table, "time", "timeDeltas", &w->times, err));
    PCI_TRY(pci_builder_column(ff->b, PCI_T_SAMPLES,
                               w->times.deltas ? PCI_FF_DELTA_ULP : "time_ulp", PCOL_I64, 0,
                               &w->ulp_column, err));
    return pci_builder_column(ff->b, PCI_T_SAMPLES, "cpu_cycles", PCOL_I64, 0, &w->cycles_column,
                              err);
}

static pcol_status read_rows(struct sample_import *w, pcol_error *err)
{
    PCI_TRY(find_columns(w, err));
    for (uint64_t row = 0; row < w->table->rows; row += w->batch->count) {
        PCI_TRY(load_batch(w, row, err));
        if (!is_collapsing(w)) {
            PCI_TRY(append_batch(w, err));
            continue;
        }
        for (size_t i = 0; i < w->batch->count; i++)
            PCI_TRY(join_row(w, i, err));
    }
    PCI_TRY(flush_pending(w, err));
    struct pci_ff_claim claims[4] = {
        {w->stack, NULL, w->exact_stack},
        {w->weight, w->real_weights ? PCI_FF_FORM_REAL : NULL, w->exact_weight},
        {w->cpu, w->real_cpu ? PCI_FF_FORM_REAL : NULL, w->exact_cpu},
        pci_ff_claim_times(&w->times)};
    return pci_ff_preserve_table(w->ff, w->scope->thread, w->table,
                                 pci_ff_source_tables[PCI_FF_SAMPLES], claims, 4, err);
}

pcol_status pci_ff_append_samples(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    struct sample_import w = {.ff = ff,
                              .scope = scope,
                              .table = &scope->tables[PCI_FF_SAMPLES],
                              .exact_stack = 1,
                              .exact_weight = 1,
                              .exact_cpu = 1};
    w.cursors = pci_calloc(3, sizeof *w.cursors);
    w.batch = pci_malloc(1, sizeof *w.batch);
    pcol_status status = w.cursors && w.batch ? read_rows(&w, err) : pci_fail_memory(err);
    pci_ff_times_close(&w.times);
    pci_free(w.cursors);
    pci_free(w.batch);
    return status;
}
