/*
 * write_generic.c - export of any profile to speedscope (its JSON file format, "sampled" profiles)
 *
 * speedscope shows one list of weighted stacks at a time: each thread and sample type becomes a
 * profile, in the order of samples; adjacent equal stacks are one entry. A counting sort orders
 * rows of samples by thread. Frames are functions, as in speedscope's own importers, numbered by
 * first use.
 *
 *     {"$schema": ..., "profiles": [{"samples": [[0, 1], [0, 2]], "weights": [3, 5], ...}],
 *      "shared": {"frames": [{"name": "main", "file": "main.c"}, ...]}, ...}
 */
#include "builder/string_pool.h"
#include "formats/json_members.h"
#include "formats/speedscope/speedscope.h"
#include "formats/speedscope/units.h"
#include "model/frame_names.h"
#include "model/stack_path.h"
#include "model/types.h"
#include "util/alloc.h"
#include "util/pair_set.h"
#include "util/strbuf.h"
#include "json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LOSS_GAUGE = 1,
    LOSS_NEGATIVE = 2,
    LOSS_ZERO = 4,
    LOSS_UNIT = 8,
    LOSS_NUMBER = 16,
    LOSS_TYPES = 32,
    LOSS_BYTES = 64,
    LOSS_NO_STACK = 128,
    LOSS_SAME_UNIT = 256
};

static const struct pci_loss losses[] = {
    {"sample types that are gauges", ""},
    {"negative values", ""},
    {"samples whose value is 0", ""},
    {"units of values other than counts, times and bytes", ""},
    {"values that are not finite", ""},
    {"sample types other than the selected one", ""},
    {"bytes that are not UTF-8: they become U+FFFD", ""},
    {"the difference between samples without a call stack and with an empty one", ""},
    {"several sample types of one unit: readers add up their values", "sample_type"},
};

const struct pci_capabilities pci_speedscope_capabilities = {
    .loss_prefix = "speedscope cannot hold",
    .generic = PCI_KIND_BIT(SOURCES) /* in the names of profiles */ | PCI_KIND_BIT(FILES) |
               PCI_KIND_BIT(START_LINES) | PCI_KIND_BIT(THREADS) | PCI_KIND_BIT(EXACT)};

/* A unit of speedscope and the first sample type that was written in it. */
struct unit {
    const char *name;
    uint32_t type;
};
/* Limit of samples times types. */
#define FREE_VALUES (UINT64_C(1) << 25)
#define VALUES_PER_BYTE 64u
#define UNITS 6

struct frame {
    uint64_t location; /* the first one with this frame */
    uint32_t group;
};

/* Samples of one source and thread. */
struct track {
    uint32_t source, thread; /* thread: PCOL_NONE if absent */
    uint64_t count, first;   /* rows[first, first + count) */
};

struct writer {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_json_writer json;
    struct pci_types types;
    struct pci_selected_type chosen;
    struct pci_frame_namer names;
    struct unit units[UNITS];
    size_t unit_count;
    struct pci_stack_path path;
    const struct pci_column *stack, *thread, *source;
    uint32_t *list; /* types of a source */
    struct track *tracks;
    size_t track_count, track_capacity;
    struct pci_pair_set track_keys; /* by track: source and thread */
    uint64_t *rows;                 /* of samples, grouped by track */
    uint64_t row_count;
    /* Used frames. */
    struct frame *frames;
    size_t frame_count, frame_capacity;
    uint32_t *by_location;             /* frame + 1 */
    struct pci_pair_set keys;          /* by frame: row of functions, string of made_names */
    struct pci_string_pool made_names; /* that are not those of functions */
    /* Frames of the current path, outermost first. */
    uint32_t *path_frames;
    size_t path_frame_capacity;
    /* The profile shown first. */
    uint64_t values; /* of samples by type, read so far */
    uint64_t profiles, shown;
    double heaviest;
    unsigned lost;
};

static pcol_str text_of(const char *text)
{
    return (pcol_str){text, strlen(text)};
}

/* ---- tracks ---- */

static pcol_status find_track(struct writer *w, uint64_t row, uint32_t *track, pcol_error *err)
{
    int64_t source = 0, thread = PCOL_NONE;
    int valid = 0;
    PCI_TRY(pci_get(w->file, w->source, row, &source, &(int){0}, err));
    *track = PCOL_NONE;
    if (source < (int64_t)w->export->first_source || source > (int64_t)w->export->last_source)
        return PCOL_OK;
    PCI_TRY(pci_get(w->file, w->thread, row, &thread, &valid, err));
    if (!valid)
        thread = PCOL_NONE;
    int is_known;
    PCI_TRY(pci_pair_set_index(&w->track_keys, (uint64_t)source, (uint64_t)thread, track, &is_known,
                               err));
    if (is_known)
        return PCOL_OK;
    PCI_TRY(pci_export_check_threads(w->export, w->track_count + 1, err));
    PCI_TRY(PCI_GROW(w->tracks, w->track_capacity, w->track_count + 1, err));
    w->tracks[w->track_count++] = (struct track){(uint32_t)source, (uint32_t)thread, 0, 0};
    return PCOL_OK;
}

static pcol_status order_rows(struct writer *w, pcol_error *err)
{
    uint64_t rows = pci_rows(w->file, "samples"), first = 0;
    uint32_t track;
    for (uint64_t row = 0; row < rows; row++) {
        PCI_TRY(find_track(w, row, &track, err));
        if (track != PCOL_NONE)
            w->tracks[track].count++;
    }
    for (size_t i = 0; i < w->track_count; i++) {
        w->tracks[i].first = first;
        first += w->tracks[i].count;
        w->tracks[i].count = 0;
    }
    PCI_TRY(PCI_CALLOC(w->rows, (size_t)first + 1, err));
    for (uint64_t row = 0; row < rows; row++) {
        PCI_TRY(find_track(w, row, &track, err));
        if (track != PCOL_NONE)
            w->rows[w->tracks[track].first + w->tracks[track].count++] = row;
    }
    return PCOL_OK;
}

/* ---- frames ---- */

/* Find or add a frame. Locations of a function share one, unless their displayed names differ;
 * code outside functions has one for each name. */
static pcol_status find_frame(struct writer *w, uint64_t location, uint32_t group, uint32_t *frame,
                              pcol_error *err)
{
    struct pci_name name;
    uint32_t made = PCOL_NONE;
    int found;
    PCI_TRY(pci_frame_namer_get(&w->names, location, group, &name, err));
    if (name.is_made || name.has_library)
        PCI_TRY(pci_string_pool_intern(&w->made_names, name.name.data, name.name.size, &made, err));
    PCI_TRY(pci_pair_set_index(&w->keys, name.function, made, frame, &found, err));
    if (found)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(w->frames, w->frame_capacity, w->frame_count + 1, err));
    w->frames[w->frame_count++] = (struct frame){location, group};
    return PCOL_OK;
}

static pcol_status frame_of(struct writer *w, uint64_t location, uint32_t group, uint32_t *frame,
                            pcol_error *err)
{
    if (!w->by_location[location]) {
        PCI_TRY(find_frame(w, location, group, frame, err));
        w->by_location[location] = *frame + 1;
    }
    *frame = w->by_location[location] - 1;
    return PCOL_OK;
}

static pcol_status put_stack(struct writer *w, uint64_t node, pcol_error *err)
{
    PCI_TRY(pci_stack_path_to(&w->path, node, err));
    size_t depth = w->path.depth;
    uint64_t frames = depth ? w->path.steps[depth - 1].frames : 0;
    PCI_TRY(PCI_GROW(w->path_frames, w->path_frame_capacity, (size_t)frames + 1, err));
    for (size_t i = w->path.common_depth; i < depth; i++) {
        const struct pci_stack_step *step = &w->path.steps[i];
        uint32_t *outermost = &w->path_frames[step->frames - step->count];
        for (uint64_t k = step->count; k; k--)
            PCI_TRY(frame_of(w, step->first + k - 1, step->group, outermost++, err));
    }
    pci_json_put_begin(&w->json, '[', err);
    for (uint64_t i = 0; i < frames; i++)
        pci_json_put_int(&w->json, w->path_frames[i], err);
    pci_json_put_end(&w->json, ']', err);
    return w->json.status;
}

static pcol_status put_frames(struct writer *w, pcol_error *err)
{
    struct pci_json_writer *json = &w->json;
    pci_json_put_begin_member(json, "shared", '{', err);
    pci_json_put_begin_member(json, "frames", '[', err);
    for (size_t i = 0; i < w->frame_count; i++) {
        struct pci_name name;
        PCI_TRY(
            pci_frame_namer_get(&w->names, w->frames[i].location, w->frames[i].group, &name, err));
        pci_json_put_newline(json);
        pci_json_put_begin(json, '{', err);
        pci_json_put_string_member(json, "name", name.name, err);
        if (name.has_filename && !name.is_place) {
            pci_json_put_string_member(json, "file", name.filename, err);
        }
        if (name.has_start_line) {
            pci_json_put_int_member(json, "line", name.start_line, err);
        }
        pci_json_put_end(json, '}', err);
    }
    pci_json_put_newline(json);
    pci_json_put_end(json, ']', err);
    pci_json_put_end(json, '}', err);
    return json->status;
}

/* ---- profiles ---- */

struct weight {
    int is_double;
    int64_t i64;
    double f64;
};

/* Read the weight of a sample; *has is 0 if it has none, or none that speedscope can show. */
static pcol_status weight_of(struct writer *w, uint64_t row, const struct pci_column *column,
                             struct weight *weight, int *has, pcol_error *err)
{
    int64_t bits;
    *has = 0;
    PCI_TRY(pci_get(w->file, column, row, &bits, has, err));
    weight->is_double = column->desc->type == PCF_F64;
    weight->i64 = bits;
    memcpy(&weight->f64, &bits, sizeof bits);
    double value = weight->is_double ? weight->f64 : (double)bits;
    if (*has && !isfinite(value)) {
        w->lost |= LOSS_NUMBER;
        *has = 0;
    }
    if (*has && !(value > 0))
        w->lost |= value < 0 ? LOSS_NEGATIVE : LOSS_ZERO;
    *has = *has && value > 0;
    return PCOL_OK;
}

/* Add a weight; f64 is the sum in any case, i64 the exact one as long as it fits. */
static void add_weight(struct weight *sum, const struct weight *weight)
{
    sum->f64 += weight->is_double ? weight->f64 : (double)weight->i64;
    sum->is_double |= weight->is_double || __builtin_add_overflow(sum->i64, weight->i64, &sum->i64);
}

/* Iterate over the samples of a track, joining adjacent equal stacks. */
static pcol_status each_run(struct writer *w, const struct track *track,
                            const struct pci_column *column,
                            pcol_status (*visit)(struct writer *, uint64_t, const struct weight *,
                                                 pcol_error *),
                            struct weight *sum, pcol_error *err)
{
    struct weight run = {0};
    int64_t before = -1;
    int any = 0;
    *sum = (struct weight){0};
    for (uint64_t i = 0; i <= track->count; i++) {
        struct weight weight = {0};
        int64_t stack = 0;
        int has = 0;
        if (i < track->count) {
            uint64_t row = w->rows[track->first + i];
            PCI_TRY(weight_of(w, row, column, &weight, &has, err));
            if (!has)
                continue;
            PCI_TRY(pci_get(w->file, w->stack, row, &stack, &has, err));
            w->lost |= has ? 0u : LOSS_NO_STACK;
            stack = has ? stack : 0;
            add_weight(sum, &weight);
            /* A sum beyond 64 bits is split into several entries. */
            if (any && stack == before && (weight.is_double || weight.i64 <= INT64_MAX - run.i64)) {
                if (weight.is_double)
                    run.f64 += weight.f64;
                else
                    run.i64 += weight.i64;
                continue;
            }
        }
        if (any && visit)
            PCI_TRY(visit(w, (uint64_t)before, &run, err));
        any = 1;
        before = stack;
        run = weight;
    }
    return PCOL_OK;
}

static pcol_status visit_stack(struct writer *w, uint64_t stack, const struct weight *weight,
                               pcol_error *err)
{
    (void)weight;
    pci_json_put_newline(&w->json);
    return put_stack(w, stack, err);
}

static pcol_status visit_weight(struct writer *w, uint64_t stack, const struct weight *weight,
                                pcol_error *err)
{
    (void)stack;
    if (weight->is_double)
        pci_json_put_double(&w->json, weight->f64, err);
    else
        pci_json_put_int(&w->json, weight->i64, err);
    return w->json.status;
}

static const char *unit_of(pcol_str unit)
{
    static const char *const units[][2] = {{"nanoseconds", "nanoseconds"},
                                           {"nanosecond", "nanoseconds"},
                                           {"ns", "nanoseconds"},
                                           {"microseconds", "microseconds"},
                                           {"us", "microseconds"},
                                           {"µs", "microseconds"},
                                           {"milliseconds", "milliseconds"},
                                           {"ms", "milliseconds"},
                                           {"seconds", "seconds"},
                                           {"s", "seconds"},
                                           {"bytes", "bytes"},
                                           {"byte", "bytes"},
                                           {"B", "bytes"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (pci_str_is(unit, units[i][0]))
            return units[i][1];
    return "none";
}

static pcol_status add(struct pci_strbuf *title, pcol_str text, pcol_error *err)
{
    return pci_strbuf_append(title, text.data, text.size, err);
}

/* Read a text cell, "" if absent. */
static pcol_status cell(const struct writer *w, const char *table, const char *name, uint64_t row,
                        pcol_str *text, pcol_error *err)
{
    const struct pci_column *column;
    *text = text_of("");
    PCI_TRY(pci_find_verified_column(w->file, table, name, PCI_TYPES_TEXT, &column, err));
    if (!column)
        return PCOL_OK;
    if (row >= column->desc->rows)
        return pci_corrupt(err, table, name, row, "row does not exist");
    return pci_get_str(w->file, column, row, text, &(int){0}, err);
}

/* Name of a profile: "[URI: ]THREAD (pid P, tid T): TYPE", only parts that distinguish profiles. Of
 * a source that was read from speedscope, the type follows from the unit. */
static pcol_status make_title(const struct writer *w, const struct track *track, uint32_t type,
                              struct pci_strbuf *title, pcol_error *err)
{
    pcol_str uri, source_type, name, tid, pid;
    PCI_TRY(cell(w, "sources", "uri", track->source, &uri, err));
    if (w->export->first_source < w->export->last_source && uri.size) {
        PCI_TRY(add(title, uri, err));
        PCI_TRY(add(title, text_of(": "), err));
    }
    if (track->thread != PCOL_NONE) {
        PCI_TRY(cell(w, "threads", "name", track->thread, &name, err));
        PCI_TRY(cell(w, "threads", "tid", track->thread, &tid, err));
        PCI_TRY(cell(w, "threads", "pid", track->thread, &pid, err));
        PCI_TRY(add(title, name.size ? name : text_of("thread"), err));
        if (tid.size || pid.size) {
            PCI_TRY(add(title, text_of(pid.size ? " (pid " : " (tid "), err));
            PCI_TRY(add(title, pid.size ? pid : tid, err));
            if (pid.size && tid.size) {
                PCI_TRY(add(title, text_of(", tid "), err));
                PCI_TRY(add(title, tid, err));
            }
            PCI_TRY(add(title, text_of(")"), err));
        }
        PCI_TRY(cell(w, "sources", "type", track->source, &source_type, err));
        if (pci_str_is(source_type, "speedscope"))
            return PCOL_OK;
        PCI_TRY(add(title, text_of(": "), err));
    }
    return add(title, w->types.type[type], err);
}

/* Profiles of one unit become one sample type when read. */
static void note_unit(struct writer *w, uint32_t type)
{
    const char *unit = unit_of(w->types.unit[type]);
    size_t i = 0;
    while (i < w->unit_count && strcmp(w->units[i].name, unit) != 0)
        i++;
    if (i == w->unit_count)
        w->units[w->unit_count++] = (struct unit){unit, type};
    if (!pci_types_equal(&w->types, w->units[i].type, type))
        w->lost |= LOSS_SAME_UNIT;
}

/* A time line begins at 0 and ends at the sum of its values: 292 years are in 64 bits. */
static pcol_status check_end(const char *unit, double sum, pcol_error *err)
{
    if (!isfinite(sum))
        return pci_fail(err, PCOL_E_LOSS, "the sum of values of a thread is beyond doubles");
    for (size_t i = 0; i < PCI_SPEEDSCOPE_UNITS; i++)
        if (!strcmp(pci_speedscope_units[i].name, unit) &&
            sum * (double)pci_speedscope_units[i].ns >= 0x1p63)
            return pci_fail(err, PCOL_E_LOSS,
                            "the sum of times of a thread is beyond 64 bits of nanoseconds");
    return PCOL_OK;
}

static pcol_status put_profile(struct writer *w, const struct track *track, uint32_t type,
                               pcol_error *err)
{
    const struct pci_column *column = w->types.columns[type];
    struct pci_json_writer *json = &w->json;
    struct pci_strbuf title = {0};
    struct weight sum;
    if (!column)
        return PCOL_OK;
    if (w->types.is_gauge[type]) {
        w->lost |= LOSS_GAUGE;
        return PCOL_OK;
    }
    pcol_str unit = w->types.unit[type];
    if (!strcmp(unit_of(unit), "none") && !(pci_str_is(unit, "count")))
        w->lost |= LOSS_UNIT;
    w->values += track->count;
    if (w->values > pci_file_limit(w->file, FREE_VALUES, VALUES_PER_BYTE))
        return pci_fail_too_many(w->file, pci_rows(w->file, "samples"), "samples", w->types.count,
                                 "sample types", err);
    PCI_TRY(each_run(w, track, column, NULL, &sum, err));
    if (sum.f64 <= 0)
        return PCOL_OK;
    PCI_TRY(check_end(unit_of(unit), sum.f64, err));
    int is_default = 0;
    for (uint32_t i = 0; i < w->chosen.count; i++)
        is_default |= w->chosen.rows[i] == type;
    if (is_default && sum.f64 > w->heaviest) {
        w->heaviest = sum.f64;
        w->shown = w->profiles;
    }
    w->profiles++;
    note_unit(w, type);
    pcol_status status = make_title(w, track, type, &title, err);
    pci_json_put_newline(json);
    pci_json_put_begin(json, '{', err);
    pci_json_put_text_member(json, "type", "sampled", err);
    pci_json_put_string_member(json, "name", (pcol_str){title.data, title.size}, err);
    pci_json_put_text_member(json, "unit", unit_of(w->types.unit[type]), err);
    pci_json_put_int_member(json, "startValue", 0, err);
    pci_json_put_key(json, "endValue", err);
    if (!sum.is_double)
        pci_json_put_int(json, sum.i64, err);
    else if (sum.f64 < 9007199254740992.0 && sum.f64 <= floor(sum.f64))
        pci_json_put_int(json, (int64_t)sum.f64, err);
    else
        pci_json_put_double(json, sum.f64, err);
    pci_strbuf_clear(&title);
    PCI_TRY(status);
    pci_json_put_begin_member(json, "samples", '[', err);
    PCI_TRY(each_run(w, track, column, visit_stack, &sum, err));
    pci_json_put_newline(json);
    pci_json_put_end(json, ']', err);
    pci_json_put_begin_member(json, "weights", '[', err);
    PCI_TRY(each_run(w, track, column, visit_weight, &sum, err));
    pci_json_put_end(json, ']', err);
    pci_json_put_end(json, '}', err);
    return json->status;
}

static int is_chosen(const struct writer *w, uint32_t type)
{
    if (!w->export->options->sample_type)
        return 1;
    for (uint32_t i = 0; i < w->chosen.count; i++)
        if (w->chosen.rows[i] == type)
            return 1;
    return 0;
}

static pcol_status put_profiles(struct writer *w, pcol_error *err)
{
    pci_json_put_begin_member(&w->json, "profiles", '[', err);
    for (size_t i = 0; i < w->track_count; i++) {
        uint32_t count;
        PCI_TRY(pci_types_of_source(&w->types, w->tracks[i].source, w->list, &count, err));
        for (uint32_t k = 0; k < count; k++)
            if (!is_chosen(w, w->list[k]))
                w->lost |= LOSS_TYPES;
            else
                PCI_TRY(put_profile(w, &w->tracks[i], w->list[k], err));
    }
    pci_json_put_newline(&w->json);
    pci_json_put_end(&w->json, ']', err);
    return w->json.status;
}

/* ---- export ---- */

static pcol_status note_losses(struct writer *w, pcol_error *err)
{
    if (w->json.replaced)
        w->lost |= LOSS_BYTES;
    pci_export_report(w->export, losses, sizeof losses / sizeof *losses, w->lost);
    return pci_export_losses(w->export, NULL, err);
}

static pcol_status prepare(struct writer *w, pcol_error *err)
{
    const struct pci_export *export = w->export;
    PCI_TRY(pci_check_row_count(w->file, "functions", err));
    PCI_TRY(pci_check_row_count(w->file, "locations", err));
    PCI_TRY(pci_types_open(w->file, &w->types, err));
    PCI_TRY(pci_types_verify(&w->types, err));
    PCI_TRY(pci_types_select(&w->types, export->first_source, export->last_source,
                             export->options->sample_type, &w->chosen, err));
    PCI_TRY(pci_frame_namer_open(&w->names, w->file, err));
    w->names.libraries = 1;
    PCI_TRY(pci_stack_path_open(&w->path, w->file, err));
    w->path.written.most = PCI_STREAMED_FRAMES;
    PCI_TRY(pci_find_verified_column(w->file, "samples", "stack", PCI_TYPES_ROW, &w->stack, err));
    PCI_TRY(pci_find_verified_column(w->file, "samples", "thread", PCI_TYPES_ROW, &w->thread, err));
    w->source = w->types.source;
    PCI_TRY(PCI_CALLOC(w->list, (size_t)w->types.count + 1, err));
    PCI_TRY(PCI_CALLOC(w->by_location, (size_t)w->path.tree.locations + 1, err));
    return order_rows(w, err);
}

static pcol_status write_all(struct writer *w, pcol_error *err)
{
    struct pci_json_writer *json = &w->json;
    pcol_str uri = {"", 0};
    PCI_TRY(prepare(w, err));
    PCI_TRY(pci_json_writer_open(json, w->export->sink, PCI_JSON_REPLACE, err));
    if (w->export->first_source <= w->export->last_source)
        PCI_TRY(cell(w, "sources", "uri", w->export->first_source, &uri, err));
    pci_json_put_begin(json, '{', err);
    pci_json_put_text_member(json, "$schema", "https://www.speedscope.app/file-format-schema.json",
                             err);
    pci_json_put_key(json, "exporter", err);
    char exporter[32];
    snprintf(exporter, sizeof exporter, "pcol@%s", pcol_version());
    pci_json_put_string(json, text_of(exporter), err);
    if (uri.size) {
        pci_json_put_string_member(json, "name", uri, err);
    }
    PCI_TRY(put_profiles(w, err));
    pci_json_put_int_member(json, "activeProfileIndex", (int64_t)w->shown, err);
    PCI_TRY(put_frames(w, err));
    pci_json_put_end(json, '}', err);
    PCI_TRY(pci_json_writer_finish(json, err));
    return note_losses(w, err);
}

pcol_status pci_speedscope_write_generic(const struct pci_export *export, pcol_error *err)
{
    struct writer w = {.export = export, .file = export->file};
    pcol_status status = write_all(&w, err);
    pci_json_writer_close(&w.json);
    pci_types_close(&w.types);
    pci_frame_namer_close(&w.names);
    pci_stack_path_close(&w.path);
    pci_pair_set_clear(&w.track_keys);
    pci_pair_set_clear(&w.keys);
    pci_string_pool_clear(&w.made_names);
    pci_free(w.chosen.rows);
    pci_free(w.list);
    pci_free(w.tracks);
    pci_free(w.rows);
    pci_free(w.frames);
    pci_free(w.by_location);
    pci_free(w.path_frames);
    return status;
}
