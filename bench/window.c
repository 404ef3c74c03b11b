/*
 * window.c - cost of views: windows of flame graphs, other selections, lanes
 *
 *     window FILE
 *
 * Prints a line for each step: milliseconds of CPU time, the name of the step, and a count (nodes,
 * boxes, bins). "first" steps are made once, all others are medians of five runs. The last line is
 * the peak of resident memory in MB.
 */
#include <pcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define TIMES 5
#define BINS 1400

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *step, double *ms, int times, size_t count)
{
    qsort(ms, (size_t)times, sizeof *ms, compare);
    printf("%10.3f  %-34s %zu\n", ms[times / 2], step, count);
}

static pcol_status show_window(pcol_view *view, const char *step, pcol_view_kind kind,
                               uint32_t frame, double from, double to, pcol_error *err)
{
    pcol_window window = PCOL_INIT(pcol_window);
    const pcol_box *boxes;
    size_t count = 0;
    double ms[TIMES + 1];
    char first[64];
    window.kind = kind;
    window.frame = frame;
    window.order = PCOL_ORDER_NAME;
    window.from = from;
    window.to = to;
    window.width_px = BINS;
    window.least_px = 0.7;
    for (int i = 0; i <= TIMES; i++) {
        double start = cpu_ms();
        pcol_status status = pcol_view_window(view, &window, &boxes, &count, err);
        if (status != PCOL_OK)
            return status;
        ms[i] = cpu_ms() - start;
    }
    snprintf(first, sizeof first, "%s, first", step);
    print(first, ms, 1, count);
    print(step, ms + 1, TIMES, count);
    return PCOL_OK;
}

/* The frame with the largest total that is called somewhere: the tenth part of all, at most. */
static uint32_t choose_frame(pcol_view *view, uint32_t frames, pcol_error *err)
{
    uint32_t best = 0;
    int64_t largest = 0, whole = 0;
    pcol_view_info info = PCOL_INIT(pcol_view_info);
    if (pcol_view_describe(view, &info, err) == PCOL_OK)
        whole = info.total.i64;
    for (uint32_t i = 0; i < frames; i++) {
        pcol_view_frame frame = PCOL_INIT(pcol_view_frame);
        if (pcol_view_get(view, i, &frame, err) == PCOL_OK && frame.total.i64 > largest &&
            frame.total.i64 < whole / 10) {
            largest = frame.total.i64;
            best = i;
        }
    }
    return best;
}

static pcol_status show_windows(pcol_view *view, pcol_error *err)
{
    pcol_view_info info = PCOL_INIT(pcol_view_info);
    pcol_status status = pcol_view_describe(view, &info, err);
    uint32_t frame = choose_frame(view, info.frame_count, err);
    if (status == PCOL_OK)
        status = show_window(view, "flame", PCOL_VIEW_FLAME, 0, 0, 1, err);
    if (status == PCOL_OK)
        status = show_window(view, "flame, zoomed 20 times", PCOL_VIEW_FLAME, 0, .3, .35, err);
    if (status == PCOL_OK)
        status = show_window(view, "inverted", PCOL_VIEW_INVERTED, 0, 0, 1, err);
    if (status == PCOL_OK)
        status = show_window(view, "callers", PCOL_VIEW_CALLERS, frame, 0, 1, err);
    if (status == PCOL_OK)
        status = show_window(view, "callees", PCOL_VIEW_CALLEES, frame, 0, 1, err);
    return status;
}

/* Half of the samples, by number. */
static pcol_status show_weigh(const pcol_file *file, pcol_view *view, pcol_error *err)
{
    double of_query[TIMES], of_view[TIMES];
    pcol_selection half = PCOL_INIT(pcol_selection);
    pcol_status status = PCOL_OK;
    half.flags = PCOL_SELECTION_HAS_ORDER;
    half.order_from = 1;
    half.order_to = 500000;
    for (int i = 0; i < TIMES && status == PCOL_OK; i++) {
        double start = cpu_ms();
        pcol_query *query;
        status = pcol_query_new(file, &half, NULL, &query, err);
        of_query[i] = cpu_ms() - start;
        if (status == PCOL_OK)
            status = pcol_view_weigh(view, query, NULL, err);
        of_view[i] = cpu_ms() - start;
        pcol_query_free(query);
    }
    if (status != PCOL_OK)
        return status;
    print("query of another selection", of_query, TIMES, 0);
    print("the same, with the view's weights", of_view, TIMES, 0);
    return PCOL_OK;
}

static pcol_status show_lanes(pcol_query *query, pcol_view *view, pcol_error *err)
{
    pcol_lanes_options options = PCOL_INIT(pcol_lanes_options);
    pcol_lanes_info info = PCOL_INIT(pcol_lanes_info);
    pcol_lane_range range = PCOL_INIT(pcol_lane_range);
    pcol_lanes *lanes;
    static pcol_bin bins[BINS];
    const pcol_box *boxes;
    double ms[2][TIMES], start = cpu_ms();
    size_t count = 0;
    options.by = PCOL_BY_SOURCE;
    options.axis = PCOL_AXIS_ORDER;
    pcol_status status = pcol_lanes_new(query, &options, &lanes, err);
    ms[0][0] = cpu_ms() - start;
    if (status == PCOL_OK)
        status = pcol_lanes_describe(lanes, &info, err);
    if (status == PCOL_OK)
        print("lanes", ms[0], 1, (size_t)info.samples);
    range.from = info.from;
    range.to = info.to;
    range.count = BINS;
    for (int i = 0; i < TIMES && status == PCOL_OK && info.lane_count; i++) {
        start = cpu_ms();
        status = pcol_lanes_bins(lanes, &range, view, bins, err);
        ms[0][i] = cpu_ms() - start;
        if (status == PCOL_OK)
            status = pcol_lanes_stacks(lanes, &range, view, &boxes, &count, err);
        ms[1][i] = cpu_ms() - start - ms[0][i];
    }
    if (status == PCOL_OK && info.lane_count) {
        print("bins", ms[0], TIMES, BINS);
        print("stacks", ms[1], TIMES, count);
    }
    pcol_lanes_free(lanes);
    return status;
}

static pcol_status measure(const pcol_file *file, pcol_error *err)
{
    pcol_query *query;
    pcol_view *view = NULL;
    pcol_view_info info = PCOL_INIT(pcol_view_info);
    double ms, start = cpu_ms();
    pcol_status status = pcol_query_new(file, NULL, NULL, &query, err);
    if (status != PCOL_OK)
        return status;
    status = pcol_view_new(query, NULL, NULL, &view, err);
    ms = cpu_ms() - start;
    if (status == PCOL_OK)
        status = pcol_view_describe(view, &info, err);
    if (status == PCOL_OK) {
        print("query and view", &ms, 1, info.node_count);
        status = show_windows(view, err);
    }
    if (status == PCOL_OK)
        status = show_weigh(file, view, err);
    if (status == PCOL_OK)
        status = show_lanes(query, view, err);
    pcol_view_free(view);
    pcol_query_free(query);
    return status;
}

int main(int argc, char **argv)
{
    pcol_error err;
    pcol_file *file;
    struct rusage usage;
    if (argc != 2) {
        fprintf(stderr, "window FILE\n");
        return 2;
    }
    pcol_status status = pcol_file_open(argv[1], NULL, &file, &err);
    if (status == PCOL_OK)
        status = measure(file, &err);
    pcol_file_close(file);
    if (status != PCOL_OK) {
        fprintf(stderr, "window: %s: %s\n", argv[1], err.message);
        return 3;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%10.1f  MB of resident memory, at most\n", (double)usage.ru_maxrss / 1024);
    return 0;
}
