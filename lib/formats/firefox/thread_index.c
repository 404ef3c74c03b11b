/*
 * thread_index.c - groups the exported samples by source and thread ("tracks"), and marks the
 * stacks that they use
 */
#include "formats/firefox/write_generic.h"

#include "util/alloc.h"

#include <math.h>

/* ---- values of samples */

pcol_status pci_ff_threads_open(struct pci_ff_write_generic *f, pcol_error *err)
{
    const pcol_file *file = f->file;
    PCI_TRY(pci_find_column(file, "samples", "source", PCI_TYPES_ROW, &f->source, err));
    PCI_TRY(pci_find_column(file, "samples", "thread", PCI_TYPES_ROW, &f->thread, err));
    PCI_TRY(pci_find_column(file, "samples", "stack", PCI_TYPES_ROW, &f->stack, err));
    PCI_TRY(pci_find_column(file, "samples", "time", PCI_TYPES_INT, &f->time, err));
    PCI_TRY(pci_find_column(file, "samples", "time_ulp", PCI_TYPES_INT, &f->ulp, err));
    PCI_TRY(pci_find_column(file, "samples", "duration", PCI_TYPES_INT, &f->duration, err));
    PCI_TRY(pci_find_column(file, "samples", "cpu_delta", PCI_TYPES_INT, &f->cpu, err));
    if (f->export->first_source == f->export->last_source) {
        PCI_TRY(pci_ff_is_firefox(file, f->export->first_source, &f->is_firefox, err));
        PCI_TRY(pci_find_column(file, "samples", "cpu_cycles", PCI_TYPES_INT, &f->cycles, err));
    }
    f->has_own_types = !f->export->options->sample_type;
    for (uint64_t s = f->export->first_source; s <= f->export->last_source && f->has_own_types; s++)
        PCI_TRY(pci_ff_is_firefox(file, (uint32_t)s, &f->has_own_types, err));
    PCI_TRY(pci_find_column(file, "sources", "interval_ns", PCI_TYPES_INT, &f->interval, err));
    PCI_TRY(pci_types_open(file, &f->types, err));
    return pci_types_select(&f->types, f->export->first_source, f->export->last_source,
                            f->export->options->sample_type, &f->chosen, err);
}

int pci_ff_returns(int64_t integer, double scaled, double factor)
{
    uint64_t magnitude = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    if (magnitude <= (uint64_t)1 << 53)
        return 1;
    int bits = 64 - __builtin_clzll(magnitude) - __builtin_ctzll(magnitude);
    return bits <= 53 && rint(scaled * factor) == (double)integer;
}

static pcol_status get_value(struct pci_ff_write_generic *f, uint32_t type, uint64_t row,
                             double *value, int *valid, pcol_error *err)
{
    const struct pci_column *c = f->types.columns[type];
    int64_t bits;
    PCI_TRY(pci_get(f->file, c, row, &bits, valid, err));
    if (*valid && c->desc->type == PCF_F64)
        memcpy(value, &bits, sizeof *value);
    else if (*valid)
        *value = (double)bits;
    if (*valid && c->desc->type != PCF_F64 && !pci_ff_returns(bits, *value, 1))
        f->lost |= PCI_FF_LOSS_DIGITS;
    if (*valid && *value - *value != 0) {
        *valid = 0; /* JSON cannot represent it */
        f->lost |= PCI_FF_LOSS_VALUES;
    }
    return PCOL_OK;
}

/* The value of the selected type. Each thread of a Firefox source has its own type: where all
 * sources are of Firefox and none is selected, its samples use whichever they have. */
pcol_status pci_ff_thread_value(struct pci_ff_write_generic *f, uint64_t row, double *value,
                                int *valid, pcol_error *err)
{
    *valid = 0;
    *value = 0;
    for (uint32_t k = 0; k < f->chosen.count && !*valid; k++)
        PCI_TRY(get_value(f, f->chosen.rows[k], row, value, valid, err));
    if (*valid || !f->has_own_types)
        return PCOL_OK;
    for (uint32_t k = 0; k < f->types.count && !*valid; k++)
        PCI_TRY(get_value(f, k, row, value, valid, err));
    return PCOL_OK;
}

/* The unit of a track's values: that of its first sample with a value. */
pcol_status pci_ff_thread_unit(struct pci_ff_write_generic *f, const struct pci_ff_thread *t,
                               pcol_str *unit, pcol_error *err)
{
    double value = 0;
    int valid = 0;
    *unit = f->chosen.unit;
    if (!f->has_own_types || !t->count)
        return PCOL_OK;
    for (uint64_t i = 0; i < t->count; i++)
        for (uint32_t k = 0; k < f->types.count; k++) {
            PCI_TRY(get_value(f, k, f->rows[t->first + i], &value, &valid, err));
            if (valid) {
                *unit = f->types.unit[k];
                return PCOL_OK;
            }
        }
    return PCOL_OK;
}

static pcol_status find_track(struct pci_ff_write_generic *f, uint32_t source, uint32_t thread,
                              struct pci_pair_set *keys, uint32_t *track, pcol_error *err)
{
    struct pci_ff_thread t = {.source = source, .thread = thread};
    int64_t collapsed;
    int is_known, valid;
    PCI_TRY(pci_pair_set_index(keys, source, thread, track, &is_known, err));
    if (is_known)
        return PCOL_OK;
    PCI_TRY(pci_ff_is_firefox(f->file, source, &t.is_firefox, err));
    PCI_TRY(pci_get_named(f->file, "sources", "collapsed", PCI_TYPE(PCF_BOOL), source, &collapsed,
                          &valid, err));
    t.is_collapsed = collapsed != 0;
    PCI_TRY(pci_export_check_threads(f->export, f->track_count + 1, err));
    PCI_TRY(PCI_GROW(f->tracks, f->track_capacity, f->track_count + 1, err));
    f->tracks[f->track_count++] = t;
    return PCOL_OK;
}

/* Find the track of a sample. Consecutive samples mostly belong to the same track, so the last one
 * is tried first. */
static pcol_status get_track(struct pci_ff_write_generic *f, uint64_t row,
                             struct pci_pair_set *keys, uint32_t *last, pcol_error *err)
{
    int64_t source, thread;
    int valid;
    PCI_TRY(pci_get(f->file, f->source, row, &source, &valid, err));
    PCI_TRY(pci_get(f->file, f->thread, row, &thread, &valid, err));
    uint32_t s = (uint32_t)source, t = valid ? (uint32_t)thread : PCOL_NONE;
    if (*last < f->track_count && f->tracks[*last].source == s && f->tracks[*last].thread == t)
        return PCOL_OK;
    return find_track(f, s, t, keys, last, err);
}

/* Add all threads of Firefox sources in their order, including those without samples. */
static pcol_status add_threads(struct pci_ff_write_generic *f, struct pci_pair_set *keys,
                               pcol_error *err)
{
    const struct pci_column *column;
    uint64_t rows = pci_rows(f->file, "threads");
    PCI_TRY(pci_find_column(f->file, "threads", "source", PCI_TYPES_ROW, &column, err));
    for (uint64_t row = 0; column && row < rows; row++) {
        int64_t source;
        int valid, firefox;
        uint32_t track;
        PCI_TRY(pci_get(f->file, column, row, &source, &valid, err));
        if (!valid || (uint64_t)source < f->export->first_source ||
            (uint64_t)source > f->export->last_source)
            continue;
        PCI_TRY(pci_ff_is_firefox(f->file, (uint32_t)source, &firefox, err));
        if (!firefox)
            continue;
        PCI_TRY(find_track(f, (uint32_t)source, (uint32_t)row, keys, &track, err));
        PCI_TRY(
            pci_ff_convert_mark_stacks(&f->convert, (uint32_t)source, (uint32_t)row, f->used, err));
    }
    return PCOL_OK;
}

/* Counting sort in two passes: count the samples of each track, then write their rows grouped by
 * track. */
static pcol_status sort_samples(struct pci_ff_write_generic *f, struct pci_pair_set *keys,
                                int second, pcol_error *err)
{
    uint64_t rows = pci_rows(f->file, "samples");
    uint32_t last = PCOL_NONE;
    for (uint64_t row = 0; row < rows; row++) {
        int64_t source, stack;
        int valid;
        double value;
        PCI_TRY(pci_get(f->file, f->source, row, &source, &valid, err));
        if ((uint64_t)source < f->export->first_source || (uint64_t)source > f->export->last_source)
            continue;
        PCI_TRY(get_track(f, row, keys, &last, err));
        struct pci_ff_thread *t = &f->tracks[last];
        PCI_TRY(pci_ff_thread_value(f, row, &value, &valid, err));
        if (!valid && !f->has_own_types)
            continue; /* a Firefox sample may have no weight */
        if (second)
            f->rows[t->first + t->count] = row;
        t->count++;
        if (second)
            continue;
        PCI_TRY(pci_get(f->file, f->stack, row, &stack, &valid, err));
        if (valid && (uint64_t)stack < f->code.stacks.stacks)
            f->used[stack] = 1;
    }
    return PCOL_OK;
}

pcol_status pci_ff_threads_find(struct pci_ff_write_generic *f, pcol_error *err)
{
    struct pci_pair_set keys = {0};
    uint64_t total = 0;
    PCI_TRY(PCI_CALLOC(f->used, (size_t)f->code.stacks.stacks + 1, err));
    pcol_status status = add_threads(f, &keys, err);
    PCI_THEN(status, sort_samples(f, &keys, 0, err));
    for (size_t i = 0; i < f->track_count; i++) {
        f->tracks[i].first = total;
        total += f->tracks[i].count;
        f->tracks[i].count = 0;
    }
    if (status == PCOL_OK) {
        f->rows = pci_malloc((size_t)total + 1, sizeof *f->rows);
        status = f->rows ? sort_samples(f, &keys, 1, err) : pci_fail_memory(err);
    }
    pci_pair_set_clear(&keys);
    return status;
}
