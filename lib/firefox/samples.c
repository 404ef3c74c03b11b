/*
 * samples.c - samples of a thread, one row each, in their order
 *
 * With collapse_idle a row joins the one before it if it has the same stack and used no CPU time:
 * then weights add up, and the row covers the time up to the last one that joined.
 */
#include "firefox/read.h"

#include "core/alloc.h"
#include "core/idle.h"

struct work {
    struct pci_ff *ff;
    struct pci_ff_scope *scope;
    struct pci_ff_table *table;
    struct pci_ff_column *stack, *weight, *cpu;
    struct pci_ff_cursor *cursors; /* of those */
    struct pci_ff_times times;
    const uint32_t *nodes;
    uint64_t node_count;
    int exact_stack, exact_weight, exact_cpu;
    int real_weight, real_weights, real_cpu; /* doubles: any weight, all weights, all CPU deltas */
    uint32_t type, ulp_column, cycles_column;
    /* the row that waits for others to join it */
    int waits;
    pcol_sample sample;
    pcol_value value;
    int64_t ulps, cycles, last_time;
    int has_cycles;
};

/* ---- cells */

static pcol_status get_stack(struct work *w, uint64_t row, uint32_t *stack, pcol_error *err)
{
    int kind;
    int64_t value;
    *stack = PCOL_NONE;
    PCI_TRY(pci_ff_cell(&w->cursors[0], row, &kind, &value, err));
    if (kind == PCI_FF_NULL)
        return PCOL_OK;
    if (kind == PCI_FF_INT && value == -1) {
        w->exact_stack = 0;
        return PCOL_OK;
    }
    if (kind != PCI_FF_INT || value < 0 || (uint64_t)value >= w->node_count)
        return pci_ff_fail_cell(
            w->ff, w->table, w->stack, row, err, "%lld names no row of stackTable (%llu rows)",
            kind == PCI_FF_INT ? (long long)value : -1, (unsigned long long)w->node_count);
    *stack = w->nodes[value];
    return PCOL_OK;
}

static pcol_status get_weight(struct work *w, uint64_t row, pcol_value *value, int *has,
                              pcol_error *err)
{
    int kind = PCI_FF_INT;
    int64_t bits = 1;
    double number;
    *value = (pcol_value){.sample_type = w->type};
    *has = 1;
    if (w->weight)
        PCI_TRY(pci_ff_cell(&w->cursors[1], row, &kind, &bits, err));
    *has = kind != PCI_FF_NULL;
    if (!*has)
        return PCOL_OK;
    if (kind != PCI_FF_INT && kind != PCI_FF_DOUBLE)
        return pci_ff_fail_cell(w->ff, w->table, w->weight, row, err, "a weight must be a number");
    if (!w->real_weight) {
        value->as.i64 = bits;
        return PCOL_OK;
    }
    w->exact_weight &= pci_ff_number_fits(kind, bits, w->real_weights, &number);
    value->as.f64 = number;
    return PCOL_OK;
}

static pcol_status get_cpu(struct work *w, uint64_t row, pcol_sample *sample, pcol_error *err)
{
    double scale = w->ff->cpu_unit == PCI_FF_CPU_US ? 1e3 : 1;
    double number, ns;
    int kind;
    int64_t value;
    w->has_cycles = 0;
    if (!w->cpu)
        return PCOL_OK;
    PCI_TRY(pci_ff_cell(&w->cursors[2], row, &kind, &value, err));
    if (kind == PCI_FF_NULL)
        return PCOL_OK;
    if (kind != PCI_FF_INT && kind != PCI_FF_DOUBLE)
        return pci_ff_fail_cell(w->ff, w->table, w->cpu, row, err, "a CPU delta must be a number");
    w->exact_cpu &= pci_ff_number_fits(kind, value, w->real_cpu, &number);
    ns = number * scale;
    if (!(ns > -9e18 && ns < 9e18)) {
        w->exact_cpu = 0;
        return PCOL_OK;
    }
    value = (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
    w->exact_cpu &= (double)value / scale == number && !(number == 0 && signbit(number));
    if (w->ff->cpu_unit == PCI_FF_CPU_CYCLES) {
        w->has_cycles = 1;
        w->cycles = value;
    } else {
        sample->has_cpu_delta = 1;
        sample->cpu_delta_ns = value;
    }
    return PCOL_OK;
}

/* ---- rows */

static pcol_status put_row(struct work *w, const pcol_sample *sample, int64_t ulps, int has_cycles,
                           int64_t cycles, pcol_error *err)
{
    uint64_t row;
    PCI_TRY(pcol_builder_sample(w->ff->b, sample, &row, err));
    if (ulps)
        PCI_TRY(pcol_builder_set_i64(w->ff->b, w->ulp_column, row, ulps, err));
    if (has_cycles)
        PCI_TRY(pcol_builder_set_i64(w->ff->b, w->cycles_column, row, cycles, err));
    return PCOL_OK;
}

static pcol_status put_waiting(struct work *w, pcol_error *err)
{
    if (!w->waits)
        return PCOL_OK;
    w->waits = 0;
    w->sample.values = &w->value;
    return put_row(w, &w->sample, w->ulps, 0, 0, err);
}

static pcol_status take_row(struct work *w, uint64_t row, pcol_error *err)
{
    pcol_sample s = {.size = sizeof s, .source = w->ff->import->source, .thread = w->scope->thread};
    pcol_value value;
    int64_t ulps;
    int has_time, has_value;
    PCI_TRY(get_stack(w, row, &s.stack, err));
    PCI_TRY(get_weight(w, row, &value, &has_value, err));
    PCI_TRY(get_cpu(w, row, &s, err));
    PCI_TRY(pci_ff_times_get(w->ff, &w->times, row, &has_time, &s.time_ns, &ulps, err));
    s.has_time = has_time != 0;
    s.values = &value;
    s.value_count = has_value ? 1 : 0;
    if (!w->ff->import->options->collapse_idle)
        return put_row(w, &s, ulps, w->has_cycles, w->cycles, err);
    if (w->waits && pci_idle_join(w->ff->b, &w->sample, &w->value, &w->last_time, &s)) {
        w->ff->join_rows++;
        return PCOL_OK;
    }
    PCI_TRY(put_waiting(w, err));
    if (w->has_cycles) /* no times that could be compared with 0 ns */
        return put_row(w, &s, ulps, 1, w->cycles, err);
    w->waits = 1;
    w->sample = s;
    w->value = value;
    w->ulps = ulps;
    w->last_time = s.time_ns;
    return PCOL_OK;
}

/* ---- the table */

static int any_double(struct work *w, pcol_error *err, pcol_status *status)
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

/* The sample type by `weightType`. */
static pcol_status find_type(struct work *w, pcol_error *err)
{
    static const struct {
        const char *name, *type, *unit;
    } types[] = {{"samples", "samples", "count"},
                 {"tracing-ms", "tracing", "ms"},
                 {"bytes", "bytes", "bytes"}};
    const struct pci_ff_column *c = pci_ff_scalar(w->ff, w->table, "weightType");
    unsigned flags = w->real_weight ? PCOL_SAMPLE_TYPE_DOUBLE : 0, k = 0;
    int kind;
    int64_t code;
    if (c) {
        pci_ff_cursor_init(&w->cursors[0], &c->cells);
        PCI_TRY(pci_ff_cell(&w->cursors[0], 0, &kind, &code, err));
        if (kind == PCI_FF_TEXT) {
            pcol_str text = pci_strtab_get(&w->ff->b->strings, (uint32_t)code);
            for (unsigned i = 1; i < 3; i++)
                if (text.size == strlen(types[i].name) &&
                    !memcmp(text.data, types[i].name, text.size))
                    k = i;
        }
    }
    return pcol_builder_sample_type(w->ff->b, types[k].type, types[k].unit, flags, 0, &w->type,
                                    err);
}

static pcol_status find_columns(struct work *w, pcol_error *err)
{
    struct pci_ff *ff = w->ff;
    pcol_status status;
    w->stack = pci_ff_column(ff, w->table, "stack");
    w->weight = pci_ff_column(ff, w->table, "weight");
    if (!w->weight && ff->has_version && ff->version < 29)
        w->weight = pci_ff_column(ff, w->table, "duration"); /* which meant the weight */
    w->cpu = pci_ff_column(ff, w->table, "threadCPUDelta");
    pci_ff_cursor_init(&w->cursors[1], w->weight ? &w->weight->cells : NULL);
    pci_ff_cursor_init(&w->cursors[2], w->cpu ? &w->cpu->cells : NULL);
    if (w->weight) {
        w->real_weights = pci_ff_all_real(&w->weight->cells);
        w->real_weight = any_double(w, err, &status);
        PCI_TRY(status);
    }
    w->real_cpu = w->cpu && pci_ff_all_real(&w->cpu->cells);
    PCI_TRY(find_type(w, err));
    pci_ff_cursor_init(&w->cursors[0], w->stack ? &w->stack->cells : NULL);
    w->nodes = pci_ff_map(ff, w->scope, PCI_FF_STACKS, &w->node_count);
    PCI_TRY(
        pcol_builder_column(ff->b, PCI_T_SAMPLES, "time_ulp", PCOL_I64, 0, &w->ulp_column, err));
    PCI_TRY(pcol_builder_column(ff->b, PCI_T_SAMPLES, "cpu_cycles", PCOL_I64, 0, &w->cycles_column,
                                err));
    return pci_ff_times_open(ff, w->table, "time", "timeDeltas", &w->times, err);
}

static pcol_status take_rows(struct work *w, pcol_error *err)
{
    PCI_TRY(find_columns(w, err));
    for (uint64_t i = 0; i < w->table->rows; i++)
        PCI_TRY(take_row(w, i, err));
    PCI_TRY(put_waiting(w, err));
    struct pci_ff_claim claims[4] = {
        {w->stack, NULL, w->exact_stack},
        {w->weight, w->real_weights ? PCI_FF_FORM_REAL : NULL, w->exact_weight},
        {w->cpu, w->real_cpu ? PCI_FF_FORM_REAL : NULL, w->exact_cpu},
        pci_ff_claim_times(&w->times)};
    return pci_ff_keep_table(w->ff, w->scope->thread, w->table, pci_ff_names[PCI_FF_SAMPLES],
                             claims, 4, err);
}

pcol_status pci_ff_samples(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    struct work w = {.ff = ff,
                     .scope = scope,
                     .table = &scope->tables[PCI_FF_SAMPLES],
                     .exact_stack = 1,
                     .exact_weight = 1,
                     .exact_cpu = 1};
    w.cursors = pci_calloc(3, sizeof *w.cursors);
    if (!w.cursors)
        return pci_fail_memory(err);
    pcol_status status = take_rows(&w, err);
    pci_ff_times_close(&w.times);
    pci_free(w.cursors);
    return status;
}
