/*
 * idle_samples.c - merging and expanding of idle samples
 */
#include "builder/idle_samples.h"

#include "builder/builder.h"
#include "util/amount.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MAX_PARTS 0x1p50               /* beyond all limits; in integers and in doubles */
#define FREE_PARTS (UINT64_C(1) << 24) /* of all samples; above it, 64 for each row */

/* A value that says how many samples a row represents, so that they can be expanded again. */
static int is_count(const pcol_builder *b, const struct pci_sample_type_record *type)
{
    return pci_str_is(pci_string_pool_get(&b->strings, type->type), "samples") &&
           pci_str_is(pci_string_pool_get(&b->strings, type->unit), "count");
}

/* Whether the values of two samples can be added; commit: they are. */
static int add_values(const pcol_builder *b, const pcol_sample *first, pcol_value *values,
                      const pcol_sample *next, int commit)
{
    int is_counted = 0;
    for (size_t i = 0; i < first->value_count; i++) {
        const pcol_value *v = &next->values[i];
        unsigned flags;
        pcol_amount sum;
        if (v->sample_type != values[i].sample_type || v->sample_type >= b->type_count)
            return 0;
        flags = b->types[v->sample_type].flags;
        if (flags & PCOL_SAMPLE_TYPE_GAUGE)
            return 0;
        is_counted |= is_count(b, &b->types[v->sample_type]);
        sum.i64 = values[i].as.i64; /* the bits of either kind */
        if (pci_amount_add((flags & PCOL_SAMPLE_TYPE_DOUBLE) != 0, &sum,
                           (pcol_amount){.i64 = v->as.i64}))
            return 0;
        if (commit)
            values[i].as.i64 = sum.i64;
    }
    return is_counted;
}

void pci_idle_begin(struct pci_idle_run *run, const pcol_sample *first, uint64_t tolerance_ns)
{
    *run = (struct pci_idle_run){.end_ns = first->time_ns,
                                 .tolerance_ns = tolerance_ns,
                                 .count = 1,
                                 .least = -HUGE_VAL,
                                 .most = HUGE_VAL};
    if ((first->flags & PCOL_SAMPLE_HAS_TIME) && (first->flags & PCOL_SAMPLE_HAS_DURATION) &&
        first->duration_ns > 0 &&
        __builtin_add_overflow(first->time_ns, first->duration_ns, &run->end_ns))
        run->end_ns = INT64_MAX;
}

/* Whether a sample has the value 1 of one type, that is, was not merged before. */
static int is_single(const pcol_builder *b, const pcol_sample *sample, const pcol_value *values)
{
    if (sample->value_count != 1 || values[0].sample_type >= b->type_count)
        return 0;
    if (b->types[values[0].sample_type].flags & PCOL_SAMPLE_TYPE_DOUBLE)
        return values[0].as.f64 == 1;
    return values[0].as.i64 == 1;
}

/* Whether all times so far agree with equal intervals up to the next sample. */
static int has_equal_intervals(const pcol_builder *b, const pcol_sample *first,
                               const pcol_value *values, const struct pci_idle_run *run,
                               const pcol_sample *next)
{
    double interval;
    if (!run->tolerance_ns)
        return 1;
    if ((next->flags & PCOL_SAMPLE_HAS_DURATION) || !is_single(b, next, next->values) ||
        (run->count == 1 &&
         ((first->flags & PCOL_SAMPLE_HAS_DURATION) || !is_single(b, first, values))))
        return 0;
    interval = ((double)next->time_ns - (double)first->time_ns) / (double)run->count;
    return interval >= run->least && interval <= run->most;
}

static void extend_run(struct pci_idle_run *run, const pcol_sample *first, const pcol_sample *next)
{
    double after = (double)next->time_ns - (double)first->time_ns;
    double least = (after - (double)run->tolerance_ns) / (double)run->count;
    double most = (after + (double)run->tolerance_ns) / (double)run->count;
    run->least = least > run->least ? least : run->least;
    run->most = most < run->most ? most : run->most;
    run->count++;
}

pcol_status pci_idle_store_tolerance(pcol_builder *builder, uint32_t source, uint64_t tolerance_ns,
                                     pcol_error *err)
{
    char text[24];
    if (!tolerance_ns)
        return PCOL_OK;
    snprintf(text, sizeof text, "%" PRIu64, tolerance_ns);
    return pcol_builder_source_meta(builder, source, PCI_IDLE_KEY, text, err);
}

int pci_idle_join(const pcol_builder *builder, pcol_sample *first, pcol_value *values,
                  struct pci_idle_run *run, const pcol_sample *next)
{
    int64_t end = next->time_ns, duration;
    if (next->source != first->source || next->thread != first->thread ||
        next->thread == PCOL_NONE || next->stack != first->stack || next->stack == PCOL_NONE ||
        !(next->flags & PCOL_SAMPLE_HAS_CPU_DELTA) || next->cpu_delta_ns ||
        !(next->flags & PCOL_SAMPLE_HAS_TIME) || !(first->flags & PCOL_SAMPLE_HAS_TIME) ||
        next->time_ns < run->end_ns || next->value_count != first->value_count ||
        !next->value_count)
        return 0;
    if ((next->flags & PCOL_SAMPLE_HAS_DURATION) && next->duration_ns > 0 &&
        __builtin_add_overflow(end, next->duration_ns, &end))
        return 0;
    /* A row without a length would not be expanded. */
    if (__builtin_sub_overflow(end, first->time_ns, &duration) || duration == 0 ||
        !has_equal_intervals(builder, first, values, run, next) ||
        !add_values(builder, first, values, next, 0))
        return 0;
    add_values(builder, first, values, next, 1);
    extend_run(run, first, next);
    run->end_ns = end;
    first->flags |= PCOL_SAMPLE_HAS_DURATION;
    first->duration_ns = duration;
    return 1;
}

pcol_status pci_sample_check_end(uint64_t row, int64_t time_ns, int64_t duration_ns,
                                 pcol_error *err)
{
    if (pci_sample_ends(time_ns, duration_ns))
        return PCOL_OK;
    return pci_corrupt(err, "samples", "duration", row,
                       duration_ns < 0 ? "%lld is negative" : "time + %lld ns is beyond 64 bits",
                       (long long)duration_ns);
}

static int is_expandable(double value)
{
    return value == floor(value);
}

uint64_t pci_idle_part_count(int64_t duration_ns, double value, int all)
{
    if (duration_ns <= 0 || !(value > 1))
        return 1;
    if (!all || !is_expandable(value))
        return 2;
    return value < MAX_PARTS ? (uint64_t)value : (uint64_t)MAX_PARTS;
}

pcol_status pci_idle_add_parts(uint64_t *expanded, uint64_t parts, uint64_t row, uint64_t rows,
                               pcol_error *err)
{
    *expanded += parts;
    if (*expanded > FREE_PARTS && *expanded / 64 > rows)
        return pci_fail_cell(err, PCOL_E_LIMIT, "samples", "duration", row,
                             "the samples are too many to be expanded");
    return PCOL_OK;
}

struct pci_idle_part pci_idle_part(int64_t duration_ns, double value, uint64_t parts, uint64_t part,
                                   int all)
{
    struct pci_idle_part p = {0, value, 0};
    if (parts == 1)
        return p;
    if (part) {
        double share = (double)part / (double)(parts - 1);
        double after = floor((double)duration_ns * share + 0.5);
        /* The duration as a double may be rounded up, beyond 64 bits. */
        p.after_ns = after < (double)duration_ns ? (int64_t)after : duration_ns;
    }
    p.rest = part && !(all && is_expandable(value));
    p.value = p.rest ? value - 1 : 1;
    return p;
}
