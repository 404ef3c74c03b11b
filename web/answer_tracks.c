/*
 * answer_tracks.c - "tracks" and "trackbins": markers and counters of Firefox profiles as lanes
 *
 * A track is the markers of a thread, or the samples of a counter. Markers are ordered by duration:
 * a pixel shows the shortest one in it, so that long ones do not hide their parts. The next free
 * pixel is found by union-find.
 */
#include "answer_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PIXELS = 16384, MOST_TRACKS = 256, NAMED_PIXELS = 4096 };

struct marker {
    int64_t from, to; /* ns; equal: a point in time */
    uint32_t thread, row;
    uint32_t name; /* code of the pool */
};

struct point {
    int64_t time;
    double count;
    uint32_t counter;
};

/* A thread with markers or a counter: [first, first + count) of its array. */
struct track {
    uint32_t row; /* of threads or counters; PCOL_NONE: of no thread */
    size_t first, count;
};

struct list {
    struct track *tracks;
    size_t count;
};

struct answer_tracks {
    struct marker *markers;
    struct point *points;
    struct list threads, counters;
};

void answer_tracks_free(struct answer_tracks *tracks)
{
    if (tracks == NULL)
        return;
    free(tracks->markers);
    free(tracks->points);
    free(tracks->threads.tracks);
    free(tracks->counters.tracks);
    free(tracks);
}

/* ---- reading ---- */

static int by_thread_and_duration(const void *a, const void *b)
{
    const struct marker *x = a, *y = b;
    uint64_t long_x = (uint64_t)x->to - (uint64_t)x->from;
    uint64_t long_y = (uint64_t)y->to - (uint64_t)y->from;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (long_x != long_y)
        return long_x < long_y ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static pcol_status read_markers(const pcol_file *file, struct answer_tracks *tracks, size_t *count,
                                pcol_error *err)
{
    int64_t *start = NULL, *end = NULL, *thread = NULL;
    const pcol_table *table;
    uint32_t *names = NULL;
    size_t rows;
    pcol_status status = answer_find_physical(file, "markers", &table, &rows, err);

    *count = 0;
    if (status != PCOL_OK || rows == 0)
        return status;
    const pcol_column *name = pcol_table_column_by_name(table, "name", NULL);
    tracks->markers = malloc(rows * sizeof *tracks->markers);
    names = calloc(rows, sizeof *names);
    if (tracks->markers == NULL || names == NULL)
        status = pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    if (status == PCOL_OK)
        status = answer_integers(table, "start", rows, INT64_MIN, &start, err);
    if (status == PCOL_OK)
        status = answer_integers(table, "end", rows, INT64_MIN, &end, err);
    if (status == PCOL_OK)
        status = answer_integers(table, "thread", rows, PCOL_NONE, &thread, err);
    if (status == PCOL_OK && name != NULL)
        status = pcol_column_read_codes(name, 0, rows, names, NULL, err);
    for (size_t i = 0; i < rows && status == PCOL_OK; i++) {
        int64_t from = start[i] != INT64_MIN ? start[i] : end[i];
        int64_t to = end[i] != INT64_MIN && end[i] > from ? end[i] : from;
        if (from != INT64_MIN)
            tracks->markers[(*count)++] =
                (struct marker){from, to, (uint32_t)thread[i], (uint32_t)i, names[i]};
    }
    if (status == PCOL_OK)
        qsort(tracks->markers, *count, sizeof *tracks->markers, by_thread_and_duration);
    free(start);
    free(end);
    free(thread);
    free(names);
    return status;
}

static int by_counter_and_time(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static pcol_status read_points(const pcol_file *file, struct answer_tracks *tracks, size_t *count,
                               pcol_error *err)
{
    int64_t *counter = NULL, *time = NULL;
    const pcol_table *table;
    double *values = NULL;
    size_t rows;
    pcol_status status = answer_find_physical(file, "counter_samples", &table, &rows, err);

    *count = 0;
    if (status != PCOL_OK || rows == 0)
        return status;
    const pcol_column *column = pcol_table_column_by_name(table, "count", NULL);
    tracks->points = malloc(rows * sizeof *tracks->points);
    values = calloc(rows, sizeof *values);
    if (tracks->points == NULL || values == NULL)
        status = pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    if (status == PCOL_OK)
        status = answer_integers(table, "counter", rows, PCOL_NONE, &counter, err);
    if (status == PCOL_OK)
        status = answer_integers(table, "time", rows, INT64_MIN, &time, err);
    if (status == PCOL_OK && column != NULL) /* 0 where null */
        status = pcol_column_read_f64(column, 0, rows, values, NULL, err);
    for (size_t i = 0; i < rows && status == PCOL_OK; i++)
        if (time[i] != INT64_MIN)
            tracks->points[(*count)++] = (struct point){time[i], values[i], (uint32_t)counter[i]};
    if (status == PCOL_OK)
        qsort(tracks->points, *count, sizeof *tracks->points, by_counter_and_time);
    free(counter);
    free(time);
    free(values);
    return status;
}

/* Count a row of the track with this number: the tracks follow each other. 0: out of memory. */
static int count_row(struct list *list, uint32_t row, size_t place)
{
    if (list->count == 0 || list->tracks[list->count - 1].row != row) {
        struct track *grown = list->tracks;
        if ((list->count & (list->count - 1)) == 0) /* full: the capacity is 1, 2, 4, ... */
            grown = realloc(grown, (list->count == 0 ? 1 : 2 * list->count) * sizeof *grown);
        if (grown == NULL)
            return 0;
        list->tracks = grown;
        list->tracks[list->count++] = (struct track){row, place, 0};
    }
    list->tracks[list->count - 1].count++;
    return 1;
}

static pcol_status read_tracks(const pcol_file *file, struct answer_tracks **made, pcol_error *err)
{
    struct answer_tracks *tracks = calloc(1, sizeof *tracks);
    size_t markers = 0, points = 0;
    int fits = 1;

    if (tracks == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    pcol_status status = read_markers(file, tracks, &markers, err);
    if (status == PCOL_OK)
        status = read_points(file, tracks, &points, err);
    for (size_t i = 0; i < markers && fits && status == PCOL_OK; i++)
        fits = count_row(&tracks->threads, tracks->markers[i].thread, i);
    for (size_t i = 0; i < points && fits && status == PCOL_OK; i++)
        fits = count_row(&tracks->counters, tracks->points[i].counter, i);
    if (!fits)
        status = pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    if (status == PCOL_OK)
        *made = tracks;
    else
        answer_tracks_free(tracks);
    return status;
}

/* ---- "tracks" ---- */

static pcol_status put_list(struct bytes *json, const char *key, const struct list *list,
                            const pcol_table *table, const char *const (*texts)[2], size_t count,
                            pcol_error *err)
{
    pcol_status status = PCOL_OK;

    bytes_key(json, key);
    bytes_text(json, "[");
    for (size_t i = 0; i < list->count && i < MOST_TRACKS && status == PCOL_OK; i++) {
        const struct track *track = &list->tracks[i];
        bytes_comma(json);
        bytes_text(json, "{");
        bytes_member(json, "row", track->row == PCOL_NONE ? -1 : (int64_t)track->row);
        bytes_member(json, "count", (int64_t)track->count);
        for (size_t k = 0; k < count && status == PCOL_OK; k++)
            status = answer_put_text(json, table, texts[k][0], texts[k][1], track->row, err);
        bytes_text(json, "}");
    }
    bytes_text(json, "]");
    return status;
}

pcol_status answer_tracks(answer *a, const struct request *r, pcol_error *err)
{
    static const char *const thread_texts[][2] = {{"name", "name"}};
    static const char *const counter_texts[][2] = {{".label.name", "name"},
                                                   {".label.category", "category"},
                                                   {".label.description", "description"}};
    int slot = request_integer(r, "slot", 0) != 0;
    const pcol_table *threads, *counters;
    struct bytes *json = &a->buffers[0];
    uint64_t rows;
    pcol_status status = PCOL_OK;

    if (a->file[slot] == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "no such profile");
    if (a->tracks[slot] == NULL)
        status = read_tracks(a->file[slot], &a->tracks[slot], err);
    if (status == PCOL_OK)
        status = answer_find_table(a->file[slot], "threads", &threads, &rows, err);
    if (status == PCOL_OK)
        status = answer_find_table(a->file[slot], "counters", &counters, &rows, err);
    if (status != PCOL_OK)
        return status;
    bytes_text(json, "{");
    status = put_list(json, "markers", &a->tracks[slot]->threads, threads, thread_texts, 1, err);
    if (status == PCOL_OK)
        status =
            put_list(json, "counters", &a->tracks[slot]->counters, counters, counter_texts, 3, err);
    bytes_text(json, "}");
    return status;
}

/* ---- "trackbins" ---- */

struct pixels {
    int64_t from;
    double per_ns; /* pixels */
    uint32_t count;
    uint32_t *free_from; /* union-find: the first free pixel at or after; count: none */
};

static uint32_t pixel_of(const struct pixels *pixels, int64_t time)
{
    double at = (double)((uint64_t)time - (uint64_t)pixels->from) * pixels->per_ns;

    return at < pixels->count ? (uint32_t)at : pixels->count - 1;
}

static uint32_t next_free(const struct pixels *pixels, uint32_t at)
{
    while (pixels->free_from[at] != at) {
        pixels->free_from[at] = pixels->free_from[pixels->free_from[at]];
        at = pixels->free_from[at];
    }
    return at;
}

/* Of a thread: 1 markers in each pixel, 2 and 3 row and name of the shortest with a duration, 4 and
 * 5 of one without. */
static pcol_status put_pixels(answer *a, const struct marker *markers, size_t count, int64_t to,
                              struct pixels *pixels, pcol_error *err)
{
    size_t size = pixels->count * sizeof(uint32_t);
    uint32_t *out[5];

    for (int i = 0; i < 5; i++) {
        out[i] = bytes_extend(&a->buffers[1 + i], size);
        if (out[i] == NULL)
            return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
        memset(out[i], i == 0 ? 0 : 0xff, size);
    }
    for (uint32_t i = 0; i <= pixels->count; i++)
        pixels->free_from[i] = i;
    for (size_t i = 0; i < count; i++) {
        const struct marker *marker = &markers[i];
        int is_point = marker->from == marker->to;
        if (marker->from >= to || marker->to < pixels->from ||
            (!is_point && marker->to == pixels->from))
            continue;
        uint32_t first = marker->from > pixels->from ? pixel_of(pixels, marker->from) : 0;
        uint32_t last = is_point           ? first
                        : marker->to >= to ? pixels->count - 1
                                           : pixel_of(pixels, marker->to - 1);
        out[0][first]++; /* differences; summed up below */
        if (last + 1 < pixels->count)
            out[0][last + 1]--;
        if (is_point) {
            out[3][first] = marker->row;
            out[4][first] = marker->name;
            continue;
        }
        for (uint32_t x = next_free(pixels, first); x <= last; x = next_free(pixels, x)) {
            out[1][x] = marker->row;
            out[2][x] = marker->name;
            pixels->free_from[x] = x + 1;
        }
    }
    for (uint32_t i = 1; i < pixels->count; i++)
        out[0][i] += out[0][i - 1];
    return PCOL_OK;
}

/* Of a counter: 6 the sum before the range, then the sum of each pixel. */
static void put_counts(answer *a, const struct point *points, size_t count, int64_t to,
                       const struct pixels *pixels, double *sums)
{
    memset(sums, 0, (pixels->count + 1) * sizeof *sums);
    for (size_t i = 0; i < count && points[i].time < to; i++)
        sums[points[i].time < pixels->from ? 0 : 1 + pixel_of(pixels, points[i].time)] +=
            points[i].count;
    bytes_add(&a->buffers[6], sums, (pixels->count + 1) * sizeof *sums);
}

/* The texts of the names in two buffers. */
static pcol_status put_marker_names(answer *a, int slot, pcol_error *err)
{
    size_t count = (a->buffers[3].used + a->buffers[5].used) / sizeof(uint32_t);
    uint32_t *codes = malloc((count + 1) * sizeof *codes);
    pcol_status status;

    if (codes == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    if (a->buffers[3].used > 0)
        memcpy(codes, a->buffers[3].data, a->buffers[3].used);
    if (a->buffers[5].used > 0)
        memcpy((uint8_t *)codes + a->buffers[3].used, a->buffers[5].data, a->buffers[5].used);
    bytes_text(&a->buffers[0], "{");
    status = answer_put_codes(a, slot, codes, count, NAMED_PIXELS, err);
    bytes_text(&a->buffers[0], "}");
    free(codes);
    return status;
}

static pcol_status put_tracks(answer *a, const struct answer_tracks *tracks,
                              const uint32_t *threads, size_t thread_count,
                              const uint32_t *counters, size_t counter_count, int64_t to,
                              struct pixels *pixels, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    double *sums = malloc((pixels->count + 1) * sizeof *sums);

    if (sums == NULL)
        return pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    for (size_t i = 0; i < thread_count && status == PCOL_OK; i++) {
        if (threads[i] >= tracks->threads.count) {
            status = pcol_error_set(err, PCOL_E_ARGUMENT, 0, "no such track");
            break;
        }
        const struct track *track = &tracks->threads.tracks[threads[i]];
        status = put_pixels(a, tracks->markers + track->first, track->count, to, pixels, err);
    }
    for (size_t i = 0; i < counter_count && status == PCOL_OK; i++) {
        if (counters[i] >= tracks->counters.count) {
            status = pcol_error_set(err, PCOL_E_ARGUMENT, 0, "no such track");
            break;
        }
        const struct track *track = &tracks->counters.tracks[counters[i]];
        put_counts(a, tracks->points + track->first, track->count, to, pixels, sums);
    }
    free(sums);
    return status;
}

pcol_status answer_trackbins(answer *a, const struct request *r, pcol_error *err)
{
    int slot = request_integer(r, "slot", 0) != 0;
    int64_t count = request_integer(r, "count", 1000), to = request_integer(r, "to", 0);
    struct pixels pixels = {.from = request_integer(r, "from", 0)};
    uint32_t *threads = NULL, *counters = NULL;
    size_t thread_count, counter_count;

    if (a->tracks[slot] == NULL)
        return pcol_error_set(err, PCOL_E_STATE, 0, "there are no tracks");
    if (to <= pixels.from)
        return pcol_error_set(err, PCOL_E_ARGUMENT, 0, "the range is empty");
    pixels.count = (uint32_t)(count < 1 ? 1 : count > MOST_PIXELS ? MOST_PIXELS : count);
    pixels.per_ns = pixels.count / (double)((uint64_t)to - (uint64_t)pixels.from);
    pcol_status status = request_rows(r, "markers", &threads, &thread_count, err);
    if (status == PCOL_OK)
        status = request_rows(r, "counters", &counters, &counter_count, err);
    if (status == PCOL_OK && (thread_count > MOST_TRACKS || counter_count > MOST_TRACKS))
        status = pcol_error_set(err, PCOL_E_LIMIT, 0, "too many tracks");
    pixels.free_from = malloc((pixels.count + 1) * sizeof *pixels.free_from);
    if (status == PCOL_OK && pixels.free_from == NULL)
        status = pcol_error_set(err, PCOL_E_NO_MEMORY, 0, NULL);
    if (status == PCOL_OK)
        status = put_tracks(a, a->tracks[slot], threads, thread_count, counters, counter_count, to,
                            &pixels, err);
    if (status == PCOL_OK)
        status = put_marker_names(a, slot, err);
    free(pixels.free_from);
    free(threads);
    free(counters);
    a->count = 7;
    return status;
}
