/*
 * samples.c - rows of V8's samples
 *
 * Samples are sorted by time, as DevTools does: time deltas may be negative. A sample counts until
 * the next one, the last one for the average, or for no time at the end of the profile. Hits are a
 * count of each node; which of its samples were counted is not recorded, so that the last ones have
 * the value.
 */
#include "formats/v8/v8.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/sort.h"

int pci_v8_clock_double_ns(const struct pci_v8_clock *clock, int64_t *ns)
{
    return pci_number_scaled(clock->number, 1000, ns);
}

pcol_status pci_v8_add_sample(struct pci_v8 *v8, int64_t time_ns, uint32_t node, pcol_error *err)
{
    if (v8->sample_count >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 samples");
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    PCI_TRY(PCI_GROW(v8->samples, v8->sample_capacity, v8->sample_count + 1, err));
    v8->samples[v8->sample_count++] = (struct pci_v8_sample){time_ns, node, 0};
    return PCOL_OK;
}

static int compare_samples(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct pci_v8_sample *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Insertion while few samples are out of order by little, as V8 writes them; *sorted: 0 if there
 * are more. */
static pcol_status insert_late_samples(struct pci_v8 *v8, struct pci_v8_sample *samples,
                                       size_t count, int *sorted, pcol_error *err)
{
    size_t steps = PCI_V8_STEPS(count);
    *sorted = 0;
    for (size_t i = 1; i < count; i++) {
        struct pci_v8_sample late = samples[i];
        size_t to = i;
        if (samples[i - 1].time_ns <= late.time_ns)
            continue;
        for (; to > 0 && samples[to - 1].time_ns > late.time_ns && steps > 0; steps--, to--)
            samples[to] = samples[to - 1];
        samples[to] = late;
        if (!steps)
            return PCOL_OK;
        PCI_TRY(PCI_GROW(v8->moves, v8->move_capacity, v8->move_count + 1, err));
        v8->moves[v8->move_count++] = (struct pci_v8_move){(uint32_t)i, (uint32_t)(i - to)};
    }
    *sorted = 1;
    return PCOL_OK;
}

pcol_status pci_v8_sort_samples(struct pci_v8 *v8, size_t first, size_t end, pcol_error *err)
{
    v8->move_count = 0;
    v8->has_moves = 1;
    if (first == end) /* perhaps without an array */
        return PCOL_OK;
    struct pci_v8_sample *samples = v8->samples + first;
    PCI_TRY(insert_late_samples(v8, samples, end - first, &v8->has_moves, err));
    return v8->has_moves
               ? PCOL_OK
               : pci_sort(samples, end - first, sizeof *samples, compare_samples, NULL, err);
}

/* Bits of the samples that have a hit. */
static uint8_t *assign_hits(struct pci_v8 *v8, size_t first, size_t count)
{
    uint8_t *hits = pci_calloc(count / 8 + 1, 1);
    for (size_t i = count; hits && i-- > 0;) {
        struct pci_v8_node *node = &v8->nodes[v8->samples[first + i].node];
        if (node->hits) {
            node->hits--;
            hits[i / 8] |= (uint8_t)(1u << i % 8);
        }
    }
    return hits;
}

/* Time from a sample to the next one. */
static int64_t duration(const struct pci_v8 *v8, const struct pci_v8_sample *samples, size_t count,
                        size_t i)
{
    int64_t from = samples[i].time_ns;
    uint64_t all = (uint64_t)samples[count - 1].time_ns - (uint64_t)samples[0].time_ns;
    if (i + 1 < count)
        return (int64_t)((uint64_t)samples[i + 1].time_ns - (uint64_t)from);
    if (v8->has_end && from == v8->end_ns)
        return 0;
    return count > 1 ? (int64_t)((all + (count - 1) / 2) / (count - 1)) : 0;
}

#define BATCH 256u

/* Consecutive samples as columns. */
struct batch {
    uint32_t stacks[BATCH];
    int64_t times_ns[BATCH], durations_ns[BATCH], ones[BATCH];
    uint8_t is_hit[BATCH];
};

static pcol_status put_batch(struct pci_v8 *v8, const struct pci_v8_types *types,
                             const struct batch *batch, size_t count, uint32_t thread,
                             pcol_error *err)
{
    pcol_sample_columns rows = PCOL_INIT(pcol_sample_columns);
    pcol_value_column values[3] = {{.sample_type = types->samples, .as.i64 = batch->ones}};
    rows.count = count;
    rows.source = v8->import->source;
    rows.thread = thread;
    rows.stacks = batch->stacks;
    rows.values = values;
    rows.value_count = 1;
    if (types->time != PCOL_NONE) {
        rows.times_ns = batch->times_ns;
        values[rows.value_count++] =
            (pcol_value_column){.sample_type = types->time, .as.i64 = batch->durations_ns};
    }
    if (types->hits != PCOL_NONE)
        values[rows.value_count++] = (pcol_value_column){
            .sample_type = types->hits, .as.i64 = batch->ones, .valid = batch->is_hit};
    return pcol_builder_samples(v8->builder, &rows, NULL, err);
}

static pcol_status put_rows(struct pci_v8 *v8, const struct pci_v8_types *types,
                            const struct pci_v8_sample *samples, size_t count, const uint8_t *hits,
                            uint32_t thread, pcol_error *err)
{
    struct batch batch;
    for (size_t i = 0; i < BATCH; i++)
        batch.ones[i] = 1;
    for (size_t first = 0, n; first < count; first += n) {
        n = count - first < BATCH ? count - first : BATCH;
        for (size_t k = 0, i = first; k < n; k++, i++) {
            batch.stacks[k] = v8->nodes[samples[i].node].stack;
            batch.times_ns[k] = samples[i].time_ns;
            batch.durations_ns[k] = duration(v8, samples, count, i);
            batch.is_hit[k] = hits[i / 8] >> i % 8 & 1;
            if (types->time != PCOL_NONE && batch.durations_ns[k] < 0)
                return pci_fail(err, PCOL_E_SYNTAX, "samples span more than 64 bits of time");
        }
        PCI_TRY(put_batch(v8, types, &batch, n, thread, err));
    }
    return PCOL_OK;
}

pcol_status pci_v8_put_samples(struct pci_v8 *v8, const struct pci_v8_types *types, size_t first,
                               size_t end, uint32_t thread, pcol_error *err)
{
    size_t count = end - first;
    uint8_t *hits;
    if (!count)
        return PCOL_OK;
    hits = assign_hits(v8, first, count);
    if (!hits)
        return pci_fail_memory(err);
    pcol_status status = put_rows(v8, types, v8->samples + first, count, hits, thread, err);
    pci_free(hits);
    return status;
}

pcol_status pci_v8_put_hits(struct pci_v8 *v8, const struct pci_v8_types *types, pcol_error *err)
{
    for (size_t i = 0; types->hits != PCOL_NONE && i < v8->node_count; i++) {
        pcol_sample row = PCOL_INIT(pcol_sample);
        pcol_value value = {types->hits, {.i64 = v8->nodes[i].hits}};
        if (!value.as.i64)
            continue;
        row.values = &value;
        row.value_count = 1;
        row.source = v8->import->source;
        row.thread = PCOL_NONE;
        row.stack = v8->nodes[i].stack;
        PCI_TRY(pcol_builder_sample(v8->builder, &row, NULL, err));
    }
    return PCOL_OK;
}
