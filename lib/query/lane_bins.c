/*
 * lane_bins.c - sums of a lane over the bins of a range
 *
 * A sweep over the bins: samples without a duration are met in order of their positions; one that
 * reaches into later bins is in a list of active samples until the bin of its end. Tests:
 * tests/unit/test_lanes.c.
 */
#include "query/lanes.h"

#include "model/time_overlap.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <string.h>

__extension__ typedef __int128 wide;

enum { MAX_BINS = 65536 };

/* ---- sweep */

static int64_t get_duration(const pcol_lanes *lanes, const struct pci_lane_sample *sample)
{
    return lanes->has_duration ? lanes->extras[sample->number].duration : 0;
}

/* Index of the first sample of a lane at `position` or after it. */
static size_t find_position(const pcol_lanes *lanes, const struct pci_lane *lane, wide position)
{
    size_t first = lane->first, end = lane->first + lane->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (lanes->samples[middle].position < position)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Visits a sample in a bin; *stays: it reaches into a later one. */
static pcol_status visit_sample(const struct pci_lane_sweep *s, uint32_t bin, size_t at, int *stays,
                                pcol_error *err)
{
    const struct pci_lane_sample *sample = &s->lanes->samples[at];
    const struct pci_range range = {s->edges[bin], s->edges[bin + 1], s->lanes->share};
    int64_t duration = get_duration(s->lanes, sample);
    pcol_amount amount = sample->amount;
    *stays = duration > 0 && (wide)sample->position + duration > range.to;
    if (!pci_time_overlap(&range, s->lanes->is_double, sample->position, duration, &amount))
        return PCOL_OK;
    return s->visit(s->context, bin, sample, amount, err);
}

/* Samples that reach into the sweep's current bin from earlier ones. */
struct active {
    size_t *samples;
    size_t count, capacity;
};

static pcol_status add_active(struct active *active, size_t at, pcol_error *err)
{
    PCI_TRY(PCI_GROW(active->samples, active->capacity, active->count + 1, err));
    active->samples[active->count++] = at;
    return PCOL_OK;
}

static pcol_status sweep_bin(const struct pci_lane_sweep *s, uint32_t bin, size_t *next,
                             struct active *active, pcol_error *err)
{
    size_t end = s->lane->first + s->lane->count, kept = 0, work = 1;
    int stays;
    for (size_t i = 0; i < active->count; i++) {
        PCI_TRY(visit_sample(s, bin, active->samples[i], &stays, err));
        if (stays)
            active->samples[kept++] = active->samples[i];
    }
    work += active->count;
    active->count = kept;
    for (; *next < end && s->lanes->samples[*next].position < s->edges[bin + 1]; ++*next, work++) {
        PCI_TRY(visit_sample(s, bin, *next, &stays, err));
        if (stays)
            PCI_TRY(add_active(active, *next, err));
    }
    return pci_work(work * sizeof(struct pci_lane_sample), err);
}

pcol_status pci_lane_sweep_run(const struct pci_lane_sweep *sweep, pcol_error *err)
{
    const struct pci_lane_sweep *s = sweep;
    struct active active = {0};
    pcol_status status = PCOL_OK;
    wide from = s->edges[0];
    size_t next = find_position(s->lanes, s->lane, from - (wide)s->lane->longest);
    size_t inside = find_position(s->lanes, s->lane, from);
    for (; next < inside && status == PCOL_OK; next++) {
        const struct pci_lane_sample *sample = &s->lanes->samples[next];
        if ((wide)sample->position + get_duration(s->lanes, sample) > from)
            status = add_active(&active, next, err);
    }
    for (uint32_t bin = 0; bin < s->count && status == PCOL_OK; bin++)
        status = sweep_bin(s, bin, &next, &active, err);
    pci_free(active.samples);
    return status;
}

pcol_status pci_lane_sweep_open(const pcol_lanes *lanes, const pcol_lane_range *range,
                                struct pci_lane_sweep *sweep, pcol_error *err)
{
    *sweep = (struct pci_lane_sweep){.lanes = lanes, .count = range->count};
    if (range->lane >= lanes->lane_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "there are only %llu lanes",
                        (unsigned long long)lanes->lane_count);
    if (range->from >= range->to)
        return pci_fail(err, PCOL_E_ARGUMENT, "the range of the lane is empty");
    if (range->count < 1 || range->count > MAX_BINS)
        return pci_fail(err, PCOL_E_ARGUMENT, "the count of bins is out of range: give 1 to %d",
                        MAX_BINS);
    sweep->lane = &lanes->lanes[range->lane];
    PCI_TRY(PCI_MALLOC(sweep->edges, (size_t)range->count + 1, err));
    wide length = (wide)range->to - range->from;
    for (uint32_t i = 0; i <= range->count; i++)
        sweep->edges[i] = (int64_t)(range->from + length * i / range->count);
    return PCOL_OK;
}

/* ---- bins */

struct bin_sums {
    const pcol_lanes *lanes;
    const pcol_view *view; /* NULL: no marks */
    const struct pci_view_side *side;
    pcol_bin *bins;
};

static pcol_status add_sample(void *context, uint32_t bin, const struct pci_lane_sample *sample,
                              pcol_amount amount, pcol_error *err)
{
    struct bin_sums *sums = context;
    pcol_bin *to = &sums->bins[bin];
    int is_double = sums->lanes->is_double, overflow;
    to->samples++;
    overflow = pci_amount_add(is_double, &to->weight, amount);
    if (sums->side && pci_view_is_marked_path(sums->view, sums->side->node_of_stack[sample->stack]))
        overflow |= pci_amount_add(is_double, &to->marked, amount);
    return overflow ? pci_amount_overflow(sums->lanes->type, err) : PCOL_OK;
}

/* Shares the CPU deltas among the bins. The intervals of later samples may begin in the range. */
static pcol_status add_cpu(const struct pci_lane_sweep *s, pcol_bin *bins, pcol_error *err)
{
    wide to = s->edges[s->count], last = to + (wide)s->lane->longest_cpu;
    size_t end = s->lane->first + s->lane->count;
    uint32_t bin = 0; /* that of the sample, or the last one */
    for (size_t i = find_position(s->lanes, s->lane, s->edges[0]); i < end; i++) {
        const struct pci_lane_sample *sample = &s->lanes->samples[i];
        const struct pci_lane_extra *extra = &s->lanes->extras[sample->number];
        if (sample->position >= last)
            break;
        while (bin + 1 < s->count && s->edges[bin + 1] <= sample->position)
            bin++;
        if (extra->cpu_from == sample->position && sample->position < to)
            bins[bin].cpu_ns += (double)extra->cpu_delta;
        wide whole = (wide)sample->position - extra->cpu_from;
        uint32_t steps = 1;
        for (uint32_t b = bin + 1; whole && b-- > 0 && s->edges[b + 1] > extra->cpu_from; steps++) {
            wide left = s->edges[b] > extra->cpu_from ? s->edges[b] : extra->cpu_from;
            wide right = s->edges[b + 1] < sample->position ? s->edges[b + 1] : sample->position;
            if (right > left)
                bins[b].cpu_ns +=
                    right - left == whole
                        ? (double)extra->cpu_delta
                        : (double)extra->cpu_delta * (double)(right - left) / (double)whole;
        }
        PCI_TRY(pci_work(steps * sizeof *bins, err));
    }
    return PCOL_OK;
}

static pcol_status fill_bins(const pcol_lanes *lanes, const pcol_lane_range *range,
                             const pcol_view *view, pcol_bin *bins, pcol_error *err)
{
    struct bin_sums sums = {.lanes = lanes, .view = view, .bins = bins};
    struct pci_lane_sweep sweep;
    if (view) {
        sums.side = pci_view_side_of(view, lanes->file);
        if (!sums.side)
            return pci_fail(err, PCOL_E_ARGUMENT, "the view was made of another file");
    }
    PCI_TRY(pci_lane_sweep_open(lanes, range, &sweep, err));
    memset(bins, 0, range->count * sizeof *bins);
    sweep.visit = add_sample;
    sweep.context = &sums;
    pcol_status status = pci_lane_sweep_run(&sweep, err);
    if (lanes->has_cpu)
        PCI_THEN(status, add_cpu(&sweep, bins, err));
    pci_free(sweep.edges);
    return status;
}

pcol_status pcol_lanes_bins(pcol_lanes *lanes, const pcol_lane_range *range, pcol_view *view,
                            pcol_bin *bins, pcol_error *err)
{
    pcol_lane_range own;
    struct pci_control control = {0};
    pcol_status status;
    PCI_REQUIRE(lanes, err);
    PCI_REQUIRE(range, err);
    PCI_REQUIRE(bins, err);
    PCI_STRUCT_READ(pcol_lane_range, own, range, err);
    PCI_TRY(pci_control_init(&control, own.control, "lanes", err));
    PCI_CONTROLLED(&control, status, fill_bins(lanes, &own, view, bins, err), err);
    return status;
}
