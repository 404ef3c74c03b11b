/*
 * test_lanes.c - lanes, bins and stacks over time against sums made sample by sample
 */
#include "view_case.h"

#include "util/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model */

struct question {
    pcol_by by;
    pcol_axis axis;
    pcol_time_share share;
    int group; /* of the lane: thread, 0 (source), label; -1: samples without one */
    int64_t from, to;
    uint32_t count;
};

static int64_t edge(const struct question *q, uint32_t i)
{
    return q->from + (q->to - q->from) * (int64_t)i / (int64_t)q->count;
}

static int is_in_lane(const struct question *q, const struct view_sample *s)
{
    int group = q->by == PCOL_BY_THREAD ? s->thread : q->by == PCOL_BY_SOURCE ? 0 : s->label;
    return group == q->group && (q->axis == PCOL_AXIS_ORDER || s->has_time);
}

static double rounded(double value, int is_double)
{
    return is_double ? value : floor(value + 0.5);
}

/* The part of a sample that is in [from, to); *in: it reaches into it. */
static double share(const struct question *q, const struct view_sample *s, int number, int64_t from,
                    int64_t to, int is_double, int *in)
{
    int64_t position = q->axis == PCOL_AXIS_ORDER ? number + 1 : s->time;
    double value = (double)s->value;
    if (q->axis == PCOL_AXIS_ORDER || s->duration <= 0) {
        *in = position >= from && position < to;
        return *in ? value : 0;
    }
    double d = (double)s->duration, a = fmin(fmax((double)(from - position), 0), d);
    double b = fmin(fmax((double)(to - position), 0), d);
    *in = b > a;
    if (!*in)
        return 0;
    if (q->share == PCOL_SHARE_ADDITIVE && !is_double)
        return rounded(value * b / d, 0) - rounded(value * a / d, 0);
    return rounded(value * (b - a) / d, is_double);
}

/* The part of the CPU delta of sample `number` that is in [from, to). */
static double cpu_share(const struct question *q, const struct view_case *c, int number,
                        int64_t from, int64_t to)
{
    const struct view_sample *s = &c->samples[number];
    int64_t position = q->axis == PCOL_AXIS_ORDER ? number + 1 : s->time, begin = position;
    if (s->cpu_delta < 0)
        return 0;
    for (int i = 0; i < number && q->axis == PCOL_AXIS_TIME; i++) {
        const struct view_sample *before = &c->samples[i];
        if (before->has_time && before->thread == s->thread)
            begin = before->time + (before->duration > 0 ? before->duration : 0);
    }
    if (begin >= position)
        return position >= from && position < to ? (double)s->cpu_delta : 0;
    double part = (double)((to < position ? to : position) - (from > begin ? from : begin));
    return part > 0 ? (double)s->cpu_delta * part / (double)(position - begin) : 0;
}

/* ---- bins */

static double amount(pcol_amount a, int is_double)
{
    return is_double ? a.f64 : (double)a.i64;
}

static void check_bins(const struct view_case *c, const struct question *q, pcol_lanes *lanes,
                       uint64_t lane, pcol_view *view, const char *marked)
{
    pcol_lane_range range = PCOL_INIT(pcol_lane_range);
    pcol_bin bins[64];
    range.lane = lane;
    range.from = q->from;
    range.to = q->to;
    range.count = q->count;
    MUST(pcol_lanes_bins(lanes, &range, view, bins, err));
    for (uint32_t i = 0; i < q->count; i++) {
        double weight = 0, weight_marked = 0, cpu = 0;
        uint64_t samples = 0;
        for (int k = 0; k < c->count; k++) {
            const struct view_sample *s = &c->samples[k];
            int in;
            if (!is_in_lane(q, s))
                continue;
            double value = share(q, s, k, edge(q, i), edge(q, i + 1), c->is_double, &in);
            samples += (uint64_t)in;
            weight += value;
            weight_marked += strpbrk(s->stack, marked) ? value : 0;
            cpu += cpu_share(q, c, k, edge(q, i), edge(q, i + 1));
        }
        cr_assert(fabs(amount(bins[i].weight, c->is_double) - weight) < 1e-9,
                  "bin %u of %u: %g, not %g", i, q->count, amount(bins[i].weight, c->is_double),
                  weight);
        cr_assert(fabs(amount(bins[i].marked, c->is_double) - weight_marked) < 1e-9);
        cr_assert(fabs(bins[i].cpu_ns - cpu) < 1e-6, "bin %u of %u: cpu %g, not %g", i, q->count,
                  bins[i].cpu_ns, cpu);
        cr_assert_eq(bins[i].samples, samples);
    }
}

/* ---- stacks */

/* Weight of the samples of a stack in a pixel; of the heaviest stack if the name is NULL. */
static double pixel_weight(const struct view_case *c, const struct question *q, uint32_t pixel,
                           const char *name)
{
    double most = 0, sum = 0;
    for (int k = 0; k < c->count; k++) {
        const struct view_sample *s = &c->samples[k];
        int in;
        const char *stack = *s->stack ? s->stack : "0";
        if (!is_in_lane(q, s))
            continue;
        if (!name)
            most = fmax(most, fabs(pixel_weight(c, q, pixel, stack)));
        else if (!strcmp(stack, name))
            sum += share(q, s, k, edge(q, pixel), edge(q, pixel + 1), c->is_double, &in);
    }
    return name ? sum : most;
}

static void check_stacks(const struct view_case *c, const struct question *q, pcol_lanes *lanes,
                         uint64_t lane, pcol_view *view)
{
    pcol_lane_range range = PCOL_INIT(pcol_lane_range);
    const pcol_box *boxes;
    size_t count;
    char paths[64][VIEW_DEPTH + 2];
    static double totals[2000], selves[2000];
    memset(paths, 0, sizeof paths);
    memset(totals, 0, sizeof totals);
    memset(selves, 0, sizeof selves);
    range.lane = lane;
    range.from = q->from;
    range.to = q->to;
    range.count = q->count;
    MUST(pcol_lanes_stacks(lanes, &range, view, &boxes, &count, err));
    cr_assert_lt(count, 2000);
    for (size_t i = 0; i < count; i++) {
        const pcol_box *box = &boxes[i];
        uint32_t x = (uint32_t)box->x_px, end = x + (uint32_t)box->width_px;
        cr_assert(end > x && end <= q->count);
        cr_assert(fabs(box->from - (double)x / q->count) < 1e-12);
        cr_assert(fabs(box->to - (double)end / q->count) < 1e-12);
        cr_assert(i == 0 || box->depth > boxes[i - 1].depth || box->from >= boxes[i - 1].to);
        cr_assert_eq(box->parent == PCOL_NONE, box->depth == 1);
        if (box->parent != PCOL_NONE) {
            const pcol_box *parent = &boxes[box->parent];
            cr_assert(parent->depth + 1 == box->depth && parent->from <= box->from &&
                      parent->to >= box->to);
        }
        /* Boxes that touch are of different stacks. */
        for (size_t k = 0; k < i; k++)
            cr_assert(!(boxes[k].to == box->from && boxes[k].node == box->node));
        for (uint32_t p = x; p < end; p++) {
            cr_assert_eq(strlen(paths[p]), box->depth - 1);
            paths[p][box->depth - 1] = view_letter(view, box->frame);
        }
    }
    for (uint32_t p = 0; p < q->count; p++) {
        double most = pixel_weight(c, q, p, NULL);
        cr_assert_eq(paths[p][0] != 0, most > 0, "pixel %u", p);
        if (!paths[p][0])
            continue;
        double weight = pixel_weight(c, q, p, paths[p]);
        cr_assert(fabs(fabs(weight) - most) < 1e-9, "pixel %u: %s has %g, not %g", p, paths[p],
                  weight, most);
        for (size_t i = 0; i < count; i++) {
            if (p < (uint32_t)boxes[i].x_px || p >= (uint32_t)(boxes[i].x_px + boxes[i].width_px))
                continue;
            totals[i] += weight;
            selves[i] += boxes[i].depth == strlen(paths[p]) ? weight : 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        cr_assert(fabs(amount(boxes[i].total, c->is_double) - totals[i]) < 1e-9);
        cr_assert(fabs(amount(boxes[i].self, c->is_double) - selves[i]) < 1e-9);
    }
    /* A limit of depth cuts the boxes, and nothing else. */
    size_t shallow = 0, shallow_count;
    for (size_t i = 0; i < count; i++)
        shallow += boxes[i].depth <= 2;
    range.max_depth = 2;
    MUST(pcol_lanes_stacks(lanes, &range, view, &boxes, &shallow_count, err));
    cr_assert_eq(shallow_count, shallow);
}

/* ---- lanes */

static int find_group(const struct question *q, const pcol_lane *lane)
{
    if (q->by == PCOL_BY_LABEL)
        return lane->flags & PCOL_LANE_HAS_NAME ? lane->name.data[0] - 'a' : -1;
    if (!(lane->flags & PCOL_LANE_HAS_ID))
        return -1;
    return q->by == PCOL_BY_SOURCE ? (int)lane->id - 1 : (int)lane->id;
}

static void check_lane(const struct view_case *c, struct question *q, const pcol_lane *lane)
{
    uint64_t samples = 0;
    double total = 0, cpu = 0;
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (int k = 0; k < c->count; k++) {
        const struct view_sample *s = &c->samples[k];
        if (!is_in_lane(q, s))
            continue;
        int64_t position = q->axis == PCOL_AXIS_ORDER ? k + 1 : s->time;
        int64_t length = q->axis == PCOL_AXIS_TIME && s->duration > 1 ? s->duration : 1;
        samples++;
        total += (double)s->value;
        cpu += s->cpu_delta > 0 ? (double)s->cpu_delta : 0;
        from = position < from ? position : from;
        to = position + length > to ? position + length : to;
    }
    cr_assert_eq(lane->samples, samples);
    cr_assert(fabs(amount(lane->total, c->is_double) - total) < 1e-9);
    cr_assert(fabs(lane->cpu_ns - cpu) < 1e-9);
    cr_assert(lane->from == from && lane->to == to);
}

static void check_lanes(const struct view_case *c, struct question *q, pcol_query *query,
                        pcol_view *view, const char *marked)
{
    pcol_lanes_options options = PCOL_INIT(pcol_lanes_options);
    pcol_lanes_info info = PCOL_INIT(pcol_lanes_info);
    pcol_lanes *lanes;
    uint64_t samples = 0;
    options.by = q->by;
    options.label = q->by == PCOL_BY_LABEL ? "key" : NULL;
    options.axis = q->axis;
    options.time_share = q->share;
    MUST(pcol_lanes_new(query, &options, &lanes, err));
    MUST(pcol_lanes_describe(lanes, &info, err));
    for (uint64_t i = 0; i < info.lane_count; i++) {
        pcol_lane lane = PCOL_INIT(pcol_lane);
        MUST(pcol_lanes_get(lanes, i, &lane, err));
        q->group = find_group(q, &lane);
        samples += lane.samples;
        check_lane(c, q, &lane);
        q->from = info.from;
        q->to = info.to;
        for (int zoom = 0; zoom < 3; zoom++) {
            q->count = 1 + view_dice(60);
            check_bins(c, q, lanes, i, view, marked);
            check_stacks(c, q, lanes, i, view);
            q->from = info.from - 20 + (int64_t)view_dice((uint32_t)(info.to - info.from) + 30);
            q->to = q->from + 1 + view_dice(zoom ? 40 : 400);
        }
    }
    int timed = 0;
    for (int k = 0; k < c->count; k++)
        timed += c->samples[k].has_time;
    cr_assert_eq(info.samples, (uint64_t)(q->axis == PCOL_AXIS_ORDER ? c->count : timed));
    cr_assert_eq(samples, info.samples);
    cr_assert_eq(info.samples_without,
                 (uint64_t)(q->axis == PCOL_AXIS_ORDER ? 0 : c->count - timed));
    pcol_lanes_free(lanes);
}

static void check_profile(unsigned what)
{
    struct view_case c;
    pcol_query *query;
    pcol_view *view;
    pcol_marks marks = PCOL_INIT(pcol_marks);
    uint32_t frame;
    char marked[2] = "";
    view_begin(&c, what);
    MUST(pcol_query_new(c.file, NULL, NULL, &query, err));
    MUST(pcol_view_new(query, NULL, NULL, &view, err));
    frame = view_dice(4);
    marked[0] = view_letter(view, frame);
    marks.frames = &frame;
    marks.frame_count = 1;
    MUST(pcol_view_mark(view, &marks, err));
    if (*marked == '0') {
        *marked = 0;
        MUST(pcol_view_mark(view, NULL, err));
    }
    for (int i = 0; i < 6; i++) {
        struct question q = {.by = i % 3 == 0   ? PCOL_BY_THREAD
                                   : i % 3 == 1 ? PCOL_BY_SOURCE
                                                : PCOL_BY_LABEL,
                             .axis = i < 4 ? PCOL_AXIS_TIME : PCOL_AXIS_ORDER,
                             .share = view_dice(2) ? PCOL_SHARE_ADDITIVE : PCOL_SHARE_PROPORTIONAL};
        check_lanes(&c, &q, query, view, marked);
    }
    pcol_view_free(view);
    pcol_query_free(query);
    view_end(&c);
}

Test(lanes, match_the_model)
{
    static const unsigned kinds[] = {0,
                                     VIEW_DURATION,
                                     VIEW_CPU | VIEW_DURATION,
                                     VIEW_CPU | VIEW_DISORDER,
                                     VIEW_NEGATIVE | VIEW_DURATION | VIEW_DISORDER,
                                     VIEW_DOUBLE | VIEW_DURATION | VIEW_CPU};
    for (uint64_t seed = 1; seed < 8; seed++) {
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            view_seed = seed * 64 + k;
            check_profile(kinds[k]);
        }
    }
}

Test(lanes, wrong_arguments_are_rejected)
{
    struct view_case c, other;
    pcol_query *query, *of_other;
    pcol_lanes *lanes;
    pcol_view *view;
    pcol_lanes_options options = PCOL_INIT(pcol_lanes_options);
    pcol_lane_range range = PCOL_INIT(pcol_lane_range);
    pcol_lane lane = PCOL_INIT(pcol_lane);
    pcol_bin bins[4];
    const pcol_box *boxes;
    size_t count;
    view_seed = 3;
    view_begin(&c, 0);
    view_begin(&other, 0);
    MUST(pcol_query_new(c.file, NULL, NULL, &query, err));
    MUST(pcol_query_new(other.file, NULL, NULL, &of_other, err));
    MUST(pcol_view_new(of_other, NULL, NULL, &view, err));
    FAILS(E_ARGUMENT, pcol_lanes_new(query, NULL, &lanes, err));
    options.by = PCOL_BY_LABEL;
    FAILS(E_ARGUMENT, pcol_lanes_new(query, &options, &lanes, err));
    options.label = "nothing";
    FAILS(E_ARGUMENT, pcol_lanes_new(query, &options, &lanes, err));
    options.by = PCOL_BY_THREAD;
    options.time_share = PCOL_SHARE_EXACT;
    FAILS(E_ARGUMENT, pcol_lanes_new(query, &options, &lanes, err));
    cr_assert_null(lanes);
    options.time_share = PCOL_SHARE_PROPORTIONAL;
    MUST(pcol_lanes_new(query, &options, &lanes, err));
    FAILS(E_ARGUMENT, pcol_lanes_get(lanes, 100, &lane, err));
    range.to = 10;
    FAILS(E_ARGUMENT, pcol_lanes_bins(lanes, &range, NULL, bins, err));
    range.count = 4;
    FAILS(E_ARGUMENT, pcol_lanes_bins(lanes, &range, view, bins, err));
    FAILS(E_ARGUMENT, pcol_lanes_stacks(lanes, &range, view, &boxes, &count, err));
    range.lane = 100;
    FAILS(E_ARGUMENT, pcol_lanes_bins(lanes, &range, NULL, bins, err));
    range.lane = 0;
    range.from = range.to;
    FAILS(E_ARGUMENT, pcol_lanes_bins(lanes, &range, NULL, bins, err));
    /* The widest range there is. */
    range.from = INT64_MIN;
    range.to = INT64_MAX;
    MUST(pcol_lanes_bins(lanes, &range, NULL, bins, err));
    MUST(pcol_lanes_get(lanes, 0, &lane, err));
    cr_assert_eq(bins[1].weight.i64 + bins[2].weight.i64, lane.total.i64);
    pcol_lanes_free(lanes);
    pcol_view_free(view);
    pcol_query_free(query);
    pcol_query_free(of_other);
    view_end(&c);
    view_end(&other);
}

static int allocations_left;

static int fail_later(void)
{
    return allocations_left-- == 0;
}

static pcol_status use_lanes(pcol_query *query, pcol_view *view, pcol_error *err)
{
    pcol_lanes *lanes;
    pcol_lanes_options options = PCOL_INIT(pcol_lanes_options);
    pcol_lane_range range = PCOL_INIT(pcol_lane_range);
    pcol_bin bins[16];
    const pcol_box *boxes;
    size_t count;
    options.by = PCOL_BY_LABEL;
    options.label = "key";
    range.to = 600;
    range.count = 16;
    pcol_status status = pcol_lanes_new(query, &options, &lanes, err);
    if (status == PCOL_OK)
        status = pcol_lanes_bins(lanes, &range, view, bins, err);
    if (status == PCOL_OK)
        status = pcol_lanes_stacks(lanes, &range, view, &boxes, &count, err);
    pcol_lanes_free(lanes);
    return status;
}

Test(lanes, any_allocation_may_fail)
{
    struct view_case c;
    pcol_query *query;
    pcol_view *view;
    pcol_status status = PCOL_E_NO_MEMORY;
    int failures = 0;
    view_seed = 5;
    view_begin(&c, VIEW_DURATION | VIEW_CPU);
    MUST(pcol_query_new(c.file, NULL, NULL, &query, err));
    MUST(pcol_view_new(query, NULL, NULL, &view, err));
    for (int i = 0; status != PCOL_OK; i++) {
        pcol_error err = {0};
        allocations_left = i;
        pci_alloc_hook = fail_later;
        status = use_lanes(query, view, &err);
        pci_alloc_hook = NULL;
        cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY, "%s", err.message);
        failures += status != PCOL_OK;
    }
    cr_assert_gt(failures, 15);
    pcol_view_free(view);
    pcol_query_free(query);
    view_end(&c);
}

/* ---- selections by order and by sets of functions */

static int64_t selected(const struct view_case *c, const pcol_selection *selection)
{
    pcol_query *query;
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    MUST(pcol_query_new(c->file, selection, NULL, &query, err));
    MUST(pcol_query_describe(query, &info, err));
    pcol_query_free(query);
    return info.selected.i64;
}

/* pcol_query_samples() takes the same rows. */
static void check_rows(const struct view_case *c, const pcol_selection *selection)
{
    pcol_query *query;
    uint8_t taken[VIEW_SAMPLES];
    MUST(pcol_query_new(c->file, selection, NULL, &query, err));
    MUST(pcol_query_samples(query, 0, (size_t)c->count, taken, err));
    for (int i = 0; i < c->count; i++)
        cr_assert_eq(taken[i], (uint64_t)i + 1 >= selection->order_from &&
                                   (uint64_t)i + 1 < selection->order_to);
    pcol_query_free(query);
}

Test(lanes, order_selects_half_open_ranges_of_ids)
{
    struct view_case c;
    view_seed = 31;
    view_begin(&c, 0);
    for (int from = 0; from <= c.count + 2; from++) {
        for (int to = from; to <= c.count + 2; to++) {
            pcol_selection selection = PCOL_INIT(pcol_selection);
            int64_t sum = 0;
            for (int i = 0; i < c.count; i++)
                sum += i + 1 >= from && i + 1 < to ? c.samples[i].value : 0;
            selection.flags = PCOL_SELECTION_HAS_ORDER;
            selection.order_from = (uint64_t)from;
            selection.order_to = (uint64_t)to;
            cr_assert_eq(selected(&c, &selection), sum, "%d to %d", from, to);
            check_rows(&c, &selection);
        }
    }
    pcol_selection wrong = PCOL_INIT(pcol_selection);
    pcol_query *query;
    wrong.flags = PCOL_SELECTION_HAS_ORDER;
    wrong.order_from = 2;
    wrong.order_to = 1;
    FAILS(E_ARGUMENT, pcol_query_new(c.file, &wrong, NULL, &query, err));
    wrong.flags = 0x80000000u; /* unknown */
    FAILS(E_ARGUMENT, pcol_query_new(c.file, &wrong, NULL, &query, err));
    view_end(&c);
}

/* Each set of functions selects as the pattern of their names does. */
Test(lanes, functions_select_like_patterns)
{
    struct view_case c;
    pcol_names *names;
    for (uint64_t seed = 40; seed < 60; seed++) {
        uint32_t rows[8];
        char pattern[32] = "^[~";
        pcol_rows set = {rows, 0};
        view_seed = seed;
        view_begin(&c, 0);
        MUST(pcol_names_new(c.file, &names, err));
        for (uint32_t row = 0; row < 6; row++) {
            pcol_str name;
            int valid;
            if (pcol_names_function(names, row, &name, &valid, NULL) != PCOL_OK)
                break;
            if (view_dice(2))
                continue;
            rows[set.count++] = row;
            strncat(pattern, name.data, 1);
        }
        strcat(pattern, "]$");
        for (int kind = 0; kind < 4; kind++) {
            pcol_selection by_set = PCOL_INIT(pcol_selection), by_name = by_set;
            const pcol_rows **sets[] = {&by_set.focus_functions, &by_set.ignore_functions,
                                        &by_set.hide_functions, &by_set.show_functions};
            const char **patterns[] = {&by_name.focus, &by_name.ignore, &by_name.hide,
                                       &by_name.show};
            pcol_query *queries[2];
            const pcol_amount *weights[2];
            uint64_t count[2];
            *sets[kind] = &set;
            *patterns[kind] = pattern;
            MUST(pcol_query_new(c.file, &by_set, NULL, &queries[0], err));
            MUST(pcol_query_new(c.file, &by_name, NULL, &queries[1], err));
            for (int i = 0; i < 2; i++)
                MUST(pcol_query_weights(queries[i], &weights[i], &count[i], err));
            cr_assert_eq(memcmp(weights[0], weights[1], count[0] * sizeof *weights[0]), 0);
            for (uint64_t i = 0; i < 12; i++)
                cr_assert_eq(pcol_query_shows_location(queries[0], i),
                             pcol_query_shows_location(queries[1], i));
            pcol_query_free(queries[0]);
            pcol_query_free(queries[1]);
        }
        pcol_names_free(names);
        view_end(&c);
    }
    pcol_selection wrong = PCOL_INIT(pcol_selection);
    pcol_query *query;
    const uint32_t far = 1000;
    const pcol_rows set = {&far, 1}, none = {NULL, 1};
    view_begin(&c, 0);
    wrong.focus_functions = &set;
    FAILS(E_ARGUMENT, pcol_query_new(c.file, &wrong, NULL, &query, err));
    wrong.focus_functions = &none;
    FAILS(E_ARGUMENT, pcol_query_new(c.file, &wrong, NULL, &query, err));
    view_end(&c);
}
