/*
 * lanes.c - the selected samples of a query by thread, source or label
 *
 * Samples are read once, distributed to lanes by a counting sort, and sorted by position within a
 * lane where the file does not have them in order. Intervals of CPU deltas depend on all samples of
 * a thread, also on those that are not selected (as in cpu.c). Tests: tests/unit/test_lanes.c.
 */
#include "query/lanes.h"

#include "query/label_pairs.h"
#include "query/row_names.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"
#include "util/sort.h"

#include <string.h>

/* End of the last sample of a thread. */
struct thread_end {
    int64_t end;
    int is_set;
};

/* A column of samples and its cells in the current batch. */
struct cells {
    const struct pci_column *column;
    int64_t values[PCI_BATCH];
    uint8_t valid[PCI_BATCH];
};

enum { GROUP, THREAD, TIME, DURATION, DELTA, CELLS };

struct lane_builder {
    pcol_lanes *lanes;
    pcol_query *query;
    struct cells cells[CELLS];
    uint64_t row_count, next_row; /* next_row: first row of the next batch of cells */
    int64_t cpu_from[PCI_BATCH];
    struct thread_end *threads; /* one more for samples without a thread; NULL: no CPU deltas */
    uint64_t thread_count;
    struct pci_label_pairs *labels; /* NULL: no lanes by label */
    uint64_t group_count;           /* rows of threads or sources */
    uint32_t *groups;               /* by sample; PCOL_NONE: none */
    size_t group_capacity, sample_capacity, extra_capacity;
    const struct pci_sample_batch *batch;
};

/* ---- cells */

static pcol_status find_column(struct lane_builder *b, int cell, const char *name, unsigned types,
                               pcol_error *err)
{
    const struct pci_column **column = &b->cells[cell].column;
    PCI_TRY(pci_find_column(b->query->file, "samples", name, types, column, err));
    return *column ? pci_verify(b->query->file, *column, err) : PCOL_OK;
}

static pcol_status open_cells(struct lane_builder *b, pcol_error *err)
{
    pcol_lanes *lanes = b->lanes;
    const pcol_file *file = b->query->file;
    b->row_count = pci_rows(file, "samples");
    PCI_TRY(pci_check_row_count(file, "samples", err));
    if (lanes->by != PCOL_BY_LABEL) {
        int by_thread = lanes->by == PCOL_BY_THREAD;
        PCI_TRY(pci_check_row_count(file, by_thread ? "threads" : "sources", err));
        b->group_count = pci_rows(file, by_thread ? "threads" : "sources");
        PCI_TRY(find_column(b, GROUP, by_thread ? "thread" : "source", PCI_TYPES_ROW, err));
    }
    PCI_TRY(find_column(b, DELTA, "cpu_delta", PCI_TYPE(PCF_I64), err));
    lanes->has_cpu = b->cells[DELTA].column != NULL;
    if (lanes->axis == PCOL_AXIS_ORDER)
        return PCOL_OK;
    PCI_TRY(find_column(b, TIME, "time", PCI_TYPE(PCF_I64), err));
    PCI_TRY(find_column(b, DURATION, "duration", PCI_TYPE(PCF_I64), err));
    lanes->has_cpu &= b->cells[TIME].column != NULL;
    lanes->has_duration = b->cells[DURATION].column && b->cells[TIME].column;
    if (!lanes->has_cpu)
        return PCOL_OK;
    PCI_TRY(find_column(b, THREAD, "thread", PCI_TYPES_ROW, err));
    PCI_TRY(pci_check_row_count(file, "threads", err));
    b->thread_count = pci_rows(file, "threads");
    return PCI_CALLOC(b->threads, (size_t)b->thread_count + 1, err);
}

static pcol_status read_cells(struct lane_builder *b, uint64_t row, size_t n, pcol_error *err)
{
    for (int c = 0; c < CELLS; c++) {
        struct cells *cells = &b->cells[c];
        if (cells->column)
            PCI_TRY(
                pci_read(b->query->file, cells->column, row, n, cells->values, cells->valid, err));
        else
            memset(cells->valid, 0, n);
    }
    return PCOL_OK;
}

/* Sets the start of each CPU interval of the batch. */
static void find_intervals(struct lane_builder *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t time = b->cells[TIME].values[i], end;
        int64_t duration = b->cells[DURATION].valid[i] ? b->cells[DURATION].values[i] : 0;
        if (!b->cells[TIME].valid[i])
            continue;
        struct thread_end *thread =
            &b->threads[b->cells[THREAD].valid[i] ? (uint64_t)b->cells[THREAD].values[i]
                                                  : b->thread_count];
        b->cpu_from[i] = thread->is_set && thread->end < time ? thread->end : time;
        if (__builtin_add_overflow(time, duration > 0 ? duration : 0, &end))
            end = INT64_MAX;
        *thread = (struct thread_end){end, 1};
    }
}

/* Reads the cells of the batch that starts at `first`; for CPU intervals also those before it. */
static pcol_status read_rows(struct lane_builder *b, uint64_t first, pcol_error *err)
{
    if (!b->threads)
        b->next_row = first;
    while (b->next_row <= first) {
        uint64_t left = b->row_count - b->next_row;
        size_t n = left < PCI_BATCH ? (size_t)left : PCI_BATCH;
        PCI_TRY(read_cells(b, b->next_row, n, err));
        if (b->threads)
            find_intervals(b, n);
        b->next_row += PCI_BATCH;
    }
    return PCOL_OK;
}

/* ---- samples */

static pcol_status append_sample(struct lane_builder *b, size_t at, size_t cell, uint32_t group,
                                 pcol_error *err)
{
    pcol_lanes *lanes = b->lanes;
    size_t count = lanes->sample_count;
    int by_time = lanes->axis == PCOL_AXIS_TIME;
    if (count >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "the lanes have more than 4294967295 samples");
    PCI_TRY(PCI_GROW(lanes->samples, b->sample_capacity, count + 1, err));
    PCI_TRY(PCI_GROW(b->groups, b->group_capacity, count + 1, err));
    int64_t position = by_time ? b->cells[TIME].values[cell] : (int64_t)(b->batch->row[at] + 1);
    lanes->samples[count] = (struct pci_lane_sample){position, b->batch->amount[at],
                                                     b->batch->stack[at], (uint32_t)count};
    b->groups[count] = group;
    lanes->sample_count++;
    if (!lanes->has_cpu && !lanes->has_duration)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(lanes->extras, b->extra_capacity, count + 1, err));
    struct pci_lane_extra *extra = &lanes->extras[count];
    *extra = (struct pci_lane_extra){.cpu_from = b->threads ? b->cpu_from[cell] : position};
    if (b->cells[DURATION].valid[cell] && b->cells[DURATION].values[cell] > 0)
        extra->duration = b->cells[DURATION].values[cell];
    if (lanes->has_cpu && b->cells[DELTA].valid[cell])
        extra->cpu_delta = b->cells[DELTA].values[cell];
    return PCOL_OK;
}

static uint32_t get_group(const struct lane_builder *b, size_t cell)
{
    const struct cells *cells = &b->cells[GROUP];
    if (cells->column && cells->valid[cell])
        return (uint32_t)cells->values[cell];
    /* Without a column all samples are of the first source. */
    return b->lanes->by == PCOL_BY_SOURCE && b->group_count ? 0 : PCOL_NONE;
}

static pcol_status append_batch(void *context, const struct pci_sample_batch *batch,
                                pcol_error *err)
{
    struct lane_builder *b = context;
    const uint8_t *passes = b->query->passes;
    b->batch = batch;
    uint64_t first = batch->row[0] / PCI_BATCH * PCI_BATCH;
    size_t pair = 0;
    PCI_TRY(pci_work(batch->count * PCI_ITEM_WORK, err));
    PCI_TRY(read_rows(b, first, err));
    if (b->labels)
        PCI_TRY(pci_label_pairs_read(b->labels, batch, err));
    for (size_t i = 0; i < batch->count; i++) {
        size_t cell = (size_t)(batch->row[i] - first), first_pair = pair;
        while (b->labels && pair < b->labels->count && b->labels->pairs[pair].at == i)
            pair++;
        if (passes && !passes[batch->stack[i]])
            continue;
        if (b->lanes->axis == PCOL_AXIS_TIME && !b->cells[TIME].valid[cell]) {
            b->lanes->without++;
            continue;
        }
        if (!b->labels || first_pair == pair)
            PCI_TRY(append_sample(b, i, cell, b->labels ? PCOL_NONE : get_group(b, cell), err));
        for (size_t p = first_pair; p < pair; p++)
            PCI_TRY(append_sample(b, i, cell, b->labels->pairs[p].name, err));
    }
    return PCOL_OK;
}

/* All samples that the selection takes but for its ranges of time and order. */
static pcol_status read_samples(struct lane_builder *b, pcol_error *err)
{
    pcol_query *query = b->query;
    struct pci_sample_filter filter = query->sample_filter;
    filter.has_time = filter.has_order = 0;
    return pci_samples_each(query, &filter, append_batch, b, err);
}

/* ---- lanes */

static int compare_samples(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct pci_lane_sample *a = pa, *b = pb;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Sorts the samples of a lane and adds them up. */
static pcol_status finish_lane(const pcol_lanes *lanes, struct pci_lane *lane, pcol_error *err)
{
    struct pci_lane_sample *samples = lanes->samples + lane->first;
    int is_sorted = 1;
    for (size_t i = 1; i < lane->count; i++)
        is_sorted &= samples[i - 1].position <= samples[i].position;
    if (!is_sorted)
        PCI_TRY(pci_sort(samples, lane->count, sizeof *samples, compare_samples, NULL, err));
    lane->from = samples[0].position;
    lane->to = add_clamped(samples[lane->count - 1].position, 1);
    for (size_t i = 0; i < lane->count; i++) {
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        if (pci_amount_add(lanes->is_double, &lane->total, samples[i].amount))
            return pci_amount_overflow(lanes->type, err);
        if (!lanes->extras)
            continue;
        const struct pci_lane_extra *extra = &lanes->extras[samples[i].number];
        int64_t end = add_clamped(samples[i].position, extra->duration);
        uint64_t interval = (uint64_t)samples[i].position - (uint64_t)extra->cpu_from;
        if (end > lane->to)
            lane->to = end;
        if ((uint64_t)extra->duration > lane->longest)
            lane->longest = (uint64_t)extra->duration;
        if (interval > lane->longest_cpu)
            lane->longest_cpu = interval;
        lane->cpu_ns += (double)extra->cpu_delta;
    }
    return PCOL_OK;
}

/* The name of a lane that belongs to a row or a value. */
static pcol_status name_lane(const struct lane_builder *b, struct pci_lane *lane, pcol_error *err)
{
    const pcol_lanes *lanes = b->lanes;
    struct pci_row_names names;
    lane->name = (pcol_str){"", 0};
    if (!lane->has_id)
        return PCOL_OK;
    if (b->labels) {
        lane->name = pci_string_pool_get(&lanes->names, (uint32_t)lane->id);
        lane->has_name = 1;
        return PCOL_OK;
    }
    PCI_TRY(pci_row_names_open(&names, lanes->file,
                               lanes->by == PCOL_BY_THREAD ? PCOL_BY_THREAD : PCOL_BY_SOURCE, err));
    return pci_row_name(&names, lane->id, &lane->name, &lane->has_name, err);
}

/* Counting sort of the samples by group; groups without samples are left out. starts: by group,
 * and one more for samples without one. */
static pcol_status divide_samples(struct lane_builder *b, size_t groups, size_t *starts,
                                  struct pci_lane_sample *sorted, pcol_error *err)
{
    pcol_lanes *lanes = b->lanes;
    size_t first = 0;
    for (size_t i = 0; i < lanes->sample_count; i++)
        starts[b->groups[i] == PCOL_NONE ? groups : b->groups[i]]++;
    for (size_t g = 0; g <= groups; g++)
        lanes->lane_count += starts[g] > 0;
    PCI_TRY(PCI_CALLOC(lanes->lanes, lanes->lane_count + 1, err));
    lanes->lane_count = 0;
    for (size_t g = 0; g <= groups; g++) {
        size_t count = starts[g];
        starts[g] = first;
        if (count)
            lanes->lanes[lanes->lane_count++] =
                (struct pci_lane){.first = first, .count = count, .id = g, .has_id = g < groups};
        first += count;
    }
    for (size_t i = 0; i < lanes->sample_count; i++) {
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        sorted[starts[b->groups[i] == PCOL_NONE ? groups : b->groups[i]]++] = lanes->samples[i];
    }
    return PCOL_OK;
}

static pcol_status build_lanes(struct lane_builder *b, pcol_error *err)
{
    pcol_lanes *lanes = b->lanes;
    size_t groups = b->labels ? lanes->names.count : (size_t)b->group_count;
    struct pci_lane_sample *sorted = NULL;
    size_t *starts = NULL;
    pcol_status status = PCI_CALLOC(starts, groups + 1, err);
    PCI_THEN(status, PCI_MALLOC(sorted, lanes->sample_count + 1, err));
    PCI_THEN(status, divide_samples(b, groups, starts, sorted, err));
    pci_free(starts);
    if (status != PCOL_OK) {
        pci_free(sorted);
        return status;
    }
    pci_free(lanes->samples);
    lanes->samples = sorted;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        PCI_TRY(finish_lane(lanes, &lanes->lanes[i], err));
        PCI_TRY(name_lane(b, &lanes->lanes[i], err));
    }
    return PCOL_OK;
}

static pcol_status fill_lanes(struct lane_builder *b, const char *label, pcol_error *err)
{
    pcol_lanes *lanes = b->lanes;
    PCI_TRY(pci_query_load(b->query, err));
    lanes->file = pcol_file_retain(b->query->file);
    lanes->type = b->query->measure.type;
    lanes->unit = b->query->measure.unit;
    lanes->is_double = b->query->measure.is_double;
    if (lanes->share == PCOL_SHARE_EXACT && !lanes->is_double)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "integers cannot be shared exactly; use another share of time");
    PCI_TRY(open_cells(b, err));
    if (lanes->by == PCOL_BY_LABEL) {
        PCI_TRY(PCI_CALLOC(b->labels, 1, err));
        PCI_TRY(pci_label_pairs_open(b->labels, b->query, label, &lanes->names, err));
    }
    PCI_TRY(read_samples(b, err));
    return build_lanes(b, err);
}

/* ---- public functions */

static pcol_status check_options(const pcol_lanes_options *options, pcol_error *err)
{
    if (options->by != PCOL_BY_THREAD && options->by != PCOL_BY_SOURCE &&
        options->by != PCOL_BY_LABEL)
        return pci_fail(err, PCOL_E_ARGUMENT, "lanes are by thread, source or label");
    if (options->by == PCOL_BY_LABEL && !options->label)
        return pci_fail(err, PCOL_E_ARGUMENT, "no label given");
    if ((unsigned)options->axis > PCOL_AXIS_ORDER)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown axis");
    if ((unsigned)options->time_share > PCOL_SHARE_EXACT)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown share of time");
    return PCOL_OK;
}

static pcol_status create_lanes(pcol_query *query, const pcol_lanes_options *options,
                                pcol_lanes *lanes, pcol_error *err)
{
    struct lane_builder *b;
    PCI_TRY(PCI_CALLOC(b, 1, err));
    *lanes =
        (struct pcol_lanes){.by = options->by, .axis = options->axis, .share = options->time_share};
    b->lanes = lanes;
    b->query = query;
    pcol_status status = fill_lanes(b, options->label, err);
    if (b->labels)
        pci_label_pairs_close(b->labels);
    pci_free(b->labels);
    pci_free(b->threads);
    pci_free(b->groups);
    pci_free(b);
    return status;
}

pcol_status pcol_lanes_new(pcol_query *query, const pcol_lanes_options *options, pcol_lanes **lanes,
                           pcol_error *err)
{
    PCI_REQUIRE(lanes, err);
    *lanes = NULL;
    PCI_REQUIRE(query, err);
    pcol_lanes_options own;
    pcol_lanes *l;
    pcol_status status;
    PCI_STRUCT_READ(pcol_lanes_options, own, options, err);
    PCI_TRY(check_options(&own, err));
    PCI_TRY(PCI_CALLOC(l, 1, err));
    PCI_CONTROLLED(&query->control, status, create_lanes(query, &own, l, err), err);
    if (status == PCOL_OK)
        *lanes = l;
    else
        pcol_lanes_free(l);
    return status;
}

void pcol_lanes_free(pcol_lanes *lanes)
{
    if (!lanes)
        return;
    pcol_file_close(lanes->file);
    pci_string_pool_clear(&lanes->names);
    pci_free(lanes->lanes);
    pci_free(lanes->samples);
    pci_free(lanes->extras);
    pci_free(lanes->boxes);
    pci_free(lanes);
}

pcol_status pcol_lanes_describe(const pcol_lanes *lanes, pcol_lanes_info *info, pcol_error *err)
{
    pcol_lanes_info own = {0};
    PCI_REQUIRE(lanes, err);
    PCI_REQUIRE(info, err);
    own.type = lanes->type;
    own.unit = lanes->unit;
    pci_set_flag(&own.flags, PCOL_LANES_IS_DOUBLE, lanes->is_double);
    pci_set_flag(&own.flags, PCOL_LANES_HAS_CPU, lanes->has_cpu);
    pci_set_flag(&own.flags, PCOL_LANES_HAS_DURATION, lanes->has_duration);
    own.axis = lanes->axis;
    own.lane_count = lanes->lane_count;
    own.samples = lanes->sample_count;
    own.samples_without = lanes->without;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        const struct pci_lane *lane = &lanes->lanes[i];
        own.from = i && own.from < lane->from ? own.from : lane->from;
        own.to = i && own.to > lane->to ? own.to : lane->to;
    }
    return pci_struct_write(info, &own, sizeof own, "pcol_lanes_info", err);
}

pcol_status pcol_lanes_get(const pcol_lanes *lanes, uint64_t index, pcol_lane *lane,
                           pcol_error *err)
{
    pcol_lane own = {0};
    PCI_REQUIRE(lanes, err);
    PCI_REQUIRE(lane, err);
    if (index >= lanes->lane_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "there are only %llu lanes",
                        (unsigned long long)lanes->lane_count);
    const struct pci_lane *from = &lanes->lanes[index];
    own.name = from->name;
    pci_set_flag(&own.flags, PCOL_LANE_HAS_NAME, from->has_name);
    pci_set_flag(&own.flags, PCOL_LANE_HAS_ID, from->has_id && lanes->by != PCOL_BY_LABEL);
    if (own.flags & PCOL_LANE_HAS_ID)
        own.id = from->id + (lanes->by == PCOL_BY_SOURCE);
    own.samples = from->count;
    own.from = from->from;
    own.to = from->to;
    own.total = from->total;
    own.cpu_ns = from->cpu_ns;
    return pci_struct_write(lane, &own, sizeof own, "pcol_lane", err);
}
