/*
 * idle.c - joining samples, and taking them apart
 */
#include "core/idle.h"

#include "core/builder.h"

#include <math.h>

#define MOST_PARTS 1e9 /* more are not written one by one */

static int add_values(const pcol_builder *b, const pcol_sample *first, pcol_value *values,
                      const pcol_sample *next, int commit)
{
    for (size_t i = 0; i < first->value_count; i++) {
        const pcol_value *v = &next->values[i];
        unsigned flags;
        int64_t sum;
        if (v->sample_type != values[i].sample_type || v->sample_type >= b->type_count)
            return 0;
        flags = b->types[v->sample_type].flags;
        if (flags & PCOL_SAMPLE_TYPE_LEVEL)
            return 0;
        if (flags & PCOL_SAMPLE_TYPE_DOUBLE) {
            if (commit)
                values[i].as.f64 += v->as.f64;
            continue;
        }
        if (__builtin_add_overflow(values[i].as.i64, v->as.i64, &sum))
            return 0;
        if (commit)
            values[i].as.i64 = sum;
    }
    return 1;
}

int pci_idle_join(const pcol_builder *builder, pcol_sample *first, pcol_value *values,
                  int64_t *last_ns, const pcol_sample *next)
{
    int64_t end = next->time_ns, duration;
    if (next->source != first->source || next->thread != first->thread ||
        next->thread == PCOL_NONE || next->stack != first->stack || next->stack == PCOL_NONE ||
        !next->has_cpu_delta || next->cpu_delta_ns || !next->has_time || !first->has_time ||
        next->time_ns < *last_ns || next->value_count != first->value_count || !next->value_count)
        return 0;
    if (next->has_duration && next->duration_ns > 0 &&
        __builtin_add_overflow(end, next->duration_ns, &end))
        return 0;
    if (__builtin_sub_overflow(end, first->time_ns, &duration) ||
        !add_values(builder, first, values, next, 0))
        return 0;
    add_values(builder, first, values, next, 1);
    *last_ns = end;
    first->has_duration = 1;
    first->duration_ns = duration;
    return 1;
}

static int one_by_one(double value)
{
    return value < MOST_PARTS && value == floor(value);
}

uint64_t pci_idle_parts(int64_t duration_ns, double value, int all)
{
    if (duration_ns <= 0 || !(value > 1))
        return 1;
    return all && one_by_one(value) ? (uint64_t)value : 2;
}

struct pci_idle_part pci_idle_part(int64_t duration_ns, double value, uint64_t parts, uint64_t part,
                                   int all)
{
    struct pci_idle_part p = {0, value, 0};
    if (parts == 1)
        return p;
    if (part) {
        double share = (double)part / (double)(parts - 1);
        p.after_ns = (int64_t)floor((double)duration_ns * share + 0.5);
    }
    p.rest = part && !(all && one_by_one(value));
    p.value = p.rest ? value - 1 : 1;
    return p;
}
