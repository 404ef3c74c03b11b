/*
 * build_rows.c - samples, sample types and stacks of the builder from a document of speedscope
 *
 * Each profile becomes a thread. Tests: tests/roundtrip/json_formats.
 */
#include "formats/speedscope/read.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>

/* Nodes of the builder's call tree by node of the reader's. */
static pcol_status build_stacks(struct pci_ss_reader *r, uint32_t *nodes, pcol_error *err)
{
    if (r->has_last && r->last_frame >= r->frame_count)
        return pci_fail_text(err, PCOL_E_SYNTAX, r->last_line, r->last_column,
                             "frame %" PRIu32 " does not exist: shared.frames has %zu",
                             r->last_frame, r->frame_count);
    nodes[0] = 0;
    for (size_t i = 1; i < r->tree.count; i++) {
        const struct pci_node *node = &r->tree.nodes[i];
        PCI_TRY(pcol_builder_stack(r->builder, nodes[node->parent], r->groups[node->group],
                                   &nodes[i], err));
    }
    return PCOL_OK;
}

/* Order of the source's frames, for the way back. */
static pcol_status put_frame_order(struct pci_ss_reader *r, pcol_error *err)
{
    struct pci_source_row row = {
        .source = r->import->source, .thread = PCOL_NONE, .target = PCI_T_GROUPS + 1};
    PCI_TRY(pcol_builder_string(r->builder, "frames", 6, &row.table, err));
    return r->frame_count
               ? pci_builder_source_rows(r->builder, &row, r->groups, r->frame_count, err)
               : PCOL_OK;
}

/* The active profile; NULL if it is the first one or does not exist. */
static const struct pci_ss_profile *get_active(const struct pci_ss_reader *r)
{
    int exists = r->active > 0 && (uint64_t)r->active < r->profile_count;
    return exists ? &r->profiles[r->active] : NULL;
}

static pcol_status add_type(struct pci_ss_reader *r, int unit, uint32_t *types,
                            const uint8_t *is_double, pcol_error *err)
{
    const struct pci_speedscope_unit *u = &pci_speedscope_units[unit];
    if (types[unit] != PCOL_NONE)
        return PCOL_OK;
    return pcol_builder_sample_type(r->builder, u->type, u->unit,
                                    is_double[unit] ? PCOL_SAMPLE_TYPE_DOUBLE : 0, 0, &types[unit],
                                    err);
}

/* Sample types by unit; PCOL_NONE for a unit that no profile has. The active profile's is the
 * first: the default of types of one name. */
static pcol_status add_types(struct pci_ss_reader *r, uint32_t *types, uint8_t *is_double,
                             pcol_error *err)
{
    const struct pci_ss_profile *active = get_active(r);
    uint64_t doubles;
    memset(is_double, 0, PCI_SPEEDSCOPE_UNITS);
    for (size_t i = 0; i < r->profile_count; i++) {
        const struct pci_ss_profile *p = &r->profiles[i];
        PCI_TRY(pci_number_array_doubles(&r->values, p->first, p->count, &doubles, err));
        is_double[p->unit] |= doubles > 0;
    }
    for (size_t i = 0; i < PCI_SPEEDSCOPE_UNITS; i++)
        types[i] = PCOL_NONE;
    if (active)
        PCI_TRY(add_type(r, active->unit, types, is_double, err));
    for (size_t i = 0; i < r->profile_count; i++)
        PCI_TRY(add_type(r, r->profiles[i].unit, types, is_double, err));
    return PCOL_OK;
}

/* Set the default type to that of the active profile, if it is not the default anyway: the type of
 * the first profile is, and a name that all types have names none. */
static pcol_status set_default_type(struct pci_ss_reader *r, pcol_error *err)
{
    const struct pci_ss_profile *active = get_active(r);
    if (!active)
        return PCOL_OK;
    const char *name = pci_speedscope_units[active->unit].type;
    int differs = 0;
    uint32_t code;
    for (size_t i = 0; i < r->profile_count && !differs; i++)
        differs = strcmp(pci_speedscope_units[r->profiles[i].unit].type, name) != 0;
    if (!differs)
        return PCOL_OK;
    PCI_TRY(pcol_builder_string(r->builder, name, strlen(name), &code, err));
    return pci_column_buffer_set(r->builder->columns[PCI_C_SOURCE_DEFAULT_TYPE], r->import->source,
                                 code, err);
}

/* Position of a profile on its time line: the sum of all weights so far. */
struct clock {
    int64_t integer;
    double number;
    int is_double;
    const struct pci_speedscope_unit *unit;
};

static int to_ns(int64_t bits, int is_double, int64_t scale, int64_t *ns)
{
    if (!is_double)
        return !__builtin_mul_overflow(bits, scale, ns);
    return pci_number_scaled(pci_number_value(bits, 1), scale, ns);
}

static int advance(struct clock *clock, int64_t bits, int is_double)
{
    clock->number += pci_number_value(bits, is_double);
    clock->is_double |= is_double;
    return clock->is_double || !__builtin_add_overflow(clock->integer, bits, &clock->integer);
}

static int clock_ns(const struct clock *clock, int64_t *ns)
{
    int64_t bits = clock->integer;
    if (clock->is_double)
        memcpy(&bits, &clock->number, sizeof bits);
    return to_ns(bits, clock->is_double, clock->unit->ns, ns);
}

static pcol_status set_time(struct pci_ss_reader *r, const struct pci_ss_profile *p, uint64_t at,
                            struct clock *clock, int64_t bits, int is_double, int64_t *time_ns,
                            int64_t *duration_ns, pcol_error *err)
{
    int64_t start = 0;
    int start_is_double = 0, ok;
    if (p->evented) {
        PCI_TRY(pci_number_array_get(&r->starts, p->first_start + at - p->first, &start,
                                     &start_is_double, err));
        ok = to_ns(start, start_is_double, clock->unit->ns, time_ns) &&
             to_ns(bits, is_double, clock->unit->ns, duration_ns);
    } else {
        ok = clock_ns(clock, time_ns) && advance(clock, bits, is_double);
    }
    if (!ok)
        return pci_fail_text(err, PCOL_E_SYNTAX, p->line, p->column,
                             "a time of the profile is beyond 64 bits of nanoseconds");
    return PCOL_OK;
}

#define BATCH 256u

/* Appends `count` samples from `at` on, at most BATCH. */
static pcol_status put_batch(struct pci_ss_reader *r, const struct pci_ss_profile *p, uint64_t at,
                             size_t count, const uint32_t *nodes, struct clock *clock,
                             pcol_value_column *column, int as_double, uint32_t thread,
                             pcol_error *err)
{
    uint32_t stacks[BATCH];
    int64_t times_ns[BATCH], durations_ns[BATCH], values[BATCH];
    int has_times = clock->unit->ns != 0, is_double;
    PCI_TRY(pci_spill_read(&r->stacks, at * sizeof *stacks, stacks, count * sizeof *stacks, err));
    pci_spill_drop(&r->stacks, at * sizeof *stacks); /* the memory is needed for the rows */
    pci_number_array_drop(&r->values, at);
    for (size_t i = 0; i < count; i++) {
        PCI_TRY(pci_number_array_get(&r->values, at + i, &values[i], &is_double, err));
        if (has_times)
            PCI_TRY(set_time(r, p, at + i, clock, values[i], is_double, &times_ns[i],
                             &durations_ns[i], err));
        double number = pci_number_value(values[i], is_double);
        if (as_double)
            memcpy(&values[i], &number, sizeof number);
        stacks[i] = nodes[stacks[i]];
    }
    pcol_sample_columns rows = PCOL_INIT(pcol_sample_columns);
    column->as.i64 = values;
    rows.count = count;
    rows.source = r->import->source;
    rows.thread = thread;
    rows.stacks = stacks;
    rows.times_ns = has_times ? times_ns : NULL;
    rows.durations_ns = has_times && p->evented ? durations_ns : NULL;
    rows.values = column;
    rows.value_count = 1;
    return pcol_builder_samples(r->builder, &rows, NULL, err);
}

static pcol_status put_samples(struct pci_ss_reader *r, const uint32_t *nodes, pcol_error *err)
{
    uint32_t types[PCI_SPEEDSCOPE_UNITS];
    uint8_t is_double[PCI_SPEEDSCOPE_UNITS];
    PCI_TRY(add_types(r, types, is_double, err));
    for (size_t i = 0; i < r->profile_count; i++) {
        const struct pci_ss_profile *p = &r->profiles[i];
        struct pci_import_thread thread = {p->name, PCOL_NONE, PCOL_NONE, PCOL_NONE, (uint32_t)i};
        struct clock clock = {p->start_is_double ? 0 : p->start,
                              pci_number_value(p->start, p->start_is_double), p->start_is_double,
                              &pci_speedscope_units[p->unit]};
        uint32_t row;
        PCI_TRY(pci_import_thread(r->import, &thread, &row, err));
        pcol_value_column column = {.sample_type = types[p->unit]};
        for (uint64_t at = 0, count; at < p->count; at += count) {
            count = p->count - at < BATCH ? p->count - at : BATCH;
            PCI_TRY(put_batch(r, p, p->first + at, (size_t)count, nodes, &clock, &column,
                              is_double[p->unit], row, err));
        }
    }
    return PCOL_OK;
}

pcol_status pci_ss_build(struct pci_ss_reader *r, pcol_error *err)
{
    uint32_t *nodes;
    PCI_TRY(PCI_MALLOC(nodes, r->tree.count, err));
    pcol_status status = build_stacks(r, nodes, err);
    PCI_THEN(status, put_samples(r, nodes, err));
    pci_free(nodes);
    PCI_TRY(status);
    PCI_TRY(set_default_type(r, err));
    PCI_TRY(put_frame_order(r, err));
    return pci_document_end(&r->document, r->import->source, err);
}
