/*
 * answer_lanes.c - "lanes", "bins" and "stacks": samples along the axis of time or of their order
 */
#include "answer_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 16384, MOST_LANES = 256 };

static void put_lane(struct bytes *json, const pcol_lane *lane, int is_double)
{
    bytes_comma(json);
    bytes_text(json, "{");
    if (lane->flags & PCOL_LANE_HAS_NAME)
        bytes_member_text(json, "name", lane->name);
    if (lane->flags & PCOL_LANE_HAS_ID)
        bytes_member(json, "id", (int64_t)lane->id);
    bytes_member(json, "samples", (int64_t)lane->samples);
    bytes_member_amount(json, "total", lane->total, is_double);
    bytes_member_amount(json, "cpu", (pcol_amount){.f64 = lane->cpu_ns}, 1);
    bytes_text(json, "}");
}

static pcol_status put_lanes(answer *a, int slot, pcol_error *err)
{
    struct bytes *json = &a->buffers[0];
    pcol_lanes_info info = PCOL_INIT(pcol_lanes_info);
    pcol_status status = pcol_lanes_describe(a->lanes[slot], &info, err);

    if (status != PCOL_OK)
        return status;
    bytes_text(json, "{");
    bytes_member_amount(json, "from", (pcol_amount){.i64 = info.from}, 0);
    bytes_member_amount(json, "to", (pcol_amount){.i64 = info.to}, 0);
    bytes_member_text(json, "axis",
                      info.axis == PCOL_AXIS_TIME ? (pcol_str){"time", 4} : (pcol_str){"order", 5});
    bytes_member(json, "hasCpu", (info.flags & PCOL_LANES_HAS_CPU) != 0);
    bytes_member(json, "double", (info.flags & PCOL_LANES_IS_DOUBLE) != 0);
    bytes_member(json, "samples", (int64_t)info.samples);
    bytes_member(json, "without", (int64_t)info.samples_without);
    bytes_member(json, "count", (int64_t)info.lane_count);
    bytes_key(json, "lanes");
    bytes_text(json, "[");
    for (uint64_t i = 0; i < info.lane_count && i < MOST_LANES && status == PCOL_OK; i++) {
        pcol_lane lane = PCOL_INIT(pcol_lane);
        status = pcol_lanes_get(a->lanes[slot], i, &lane, err);
        if (status == PCOL_OK)
            put_lane(json, &lane, (info.flags & PCOL_LANES_IS_DOUBLE) != 0);
    }
    bytes_text(json, "]}");
    return status;
}

/* Without times the axis is the order of the samples; "axis" asks for one of them. */
pcol_status answer_lanes(answer *a, const struct request *r, pcol_error *err)
{
    int slot = request_integer(r, "slot", 0) != 0;
    pcol_lanes_options options = PCOL_INIT(pcol_lanes_options);
    pcol_lanes_info info = PCOL_INIT(pcol_lanes_info);
    const char *axis = request_text(r, "axis");
    pcol_status status = request_by(a, r, &options.by, &options.label, err);

    if (status == PCOL_OK && a->query[slot] == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "there is no base");
    pcol_lanes_free(a->lanes[slot]);
    a->lanes[slot] = NULL;
    options.axis = axis != NULL && strcmp(axis, "order") == 0 ? PCOL_AXIS_ORDER : PCOL_AXIS_TIME;
    if (status == PCOL_OK)
        status = pcol_lanes_new(a->query[slot], &options, &a->lanes[slot], err);
    if (status == PCOL_OK)
        status = pcol_lanes_describe(a->lanes[slot], &info, err);
    if (status == PCOL_OK && axis == NULL && info.samples == 0 && info.samples_without > 0) {
        pcol_lanes_free(a->lanes[slot]);
        a->lanes[slot] = NULL;
        options.axis = PCOL_AXIS_ORDER;
        status = pcol_lanes_new(a->query[slot], &options, &a->lanes[slot], err);
    }
    return status == PCOL_OK ? put_lanes(a, slot, err) : status;
}

static pcol_status read_range(answer *a, const struct request *r, pcol_lane_range *range,
                              pcol_lanes **lanes, pcol_error *err)
{
    int slot = request_integer(r, "slot", 0) != 0;
    int64_t count = request_integer(r, "count", 1000);

    *lanes = a->lanes[slot];
    if (*lanes == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "there are no lanes");
    range->from = request_integer(r, "from", 0);
    range->to = request_integer(r, "to", 0);
    range->count = (uint32_t)(count < 1 ? 1 : count > MOST_BINS ? MOST_BINS : count);
    range->lane = (uint64_t)request_integer(r, "lane", 0);
    return PCOL_OK;
}

/* Of each lane of the list `lanes`: 1 weights, 2 marked, 3 CPU in ns, 4 numbers of samples. */
pcol_status answer_bins(answer *a, const struct request *r, pcol_error *err)
{
    pcol_lane_range range = PCOL_INIT(pcol_lane_range);
    struct bytes *b = a->buffers;
    pcol_bin *bins = NULL;
    uint32_t *rows = NULL;
    pcol_lanes *lanes;
    size_t count = 0;
    pcol_status status = read_range(a, r, &range, &lanes, err);

    if (status == PCOL_OK)
        status = request_rows(r, "lanes", &rows, &count, err);
    if (count > MOST_LANES)
        status = pcol_error_set(err, PCOL_E_LIMIT, 0, "too many lanes");
    if (status == PCOL_OK && (bins = malloc(range.count * sizeof *bins)) == NULL)
        status = pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    for (size_t i = 0; i < count && status == PCOL_OK; i++) {
        range.lane = rows[i];
        status = pcol_lanes_bins(lanes, &range, a->view, bins, err);
        for (uint32_t bin = 0; bin < range.count && status == PCOL_OK; bin++) {
            bytes_add(&b[1], &bins[bin].weight, sizeof bins[bin].weight);
            bytes_add(&b[2], &bins[bin].marked, sizeof bins[bin].marked);
            bytes_f64(&b[3], bins[bin].cpu_ns);
            bytes_f64(&b[4], (double)bins[bin].samples);
        }
    }
    free(bins);
    free(rows);
    bytes_text(&b[0], "{}");
    a->count = 5;
    return status;
}

pcol_status answer_stacks(answer *a, const struct request *r, pcol_error *err)
{
    pcol_lane_range range = PCOL_INIT(pcol_lane_range);
    const pcol_box *boxes;
    pcol_lanes *lanes;
    size_t count;
    pcol_status status = read_range(a, r, &range, &lanes, err);

    if (status == PCOL_OK)
        status = pcol_lanes_stacks(lanes, &range, a->view, &boxes, &count, err);
    if (status == PCOL_OK)
        answer_boxes(a, boxes, count);
    return status;
}
