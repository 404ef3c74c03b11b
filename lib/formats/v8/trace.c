/*
 * trace.c - import of Chrome's trace format: CPU profiles of V8, or spans
 *
 * {"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": us, "dur": us, "name": ...}, ...]}, or the
 * array alone. Events Profile and ProfileChunk of one (pid, id) are a profile. In a file of Chrome
 * `args` precede the name of an event, so the nodes of any event are read and then assigned to a
 * profile, or forgotten.
 */
#include "formats/v8/trace.h"

#include "util/alloc.h"
#include "util/control.h"
#include "util/integer.h"
#include "util/sort.h"

#include <inttypes.h>
#include <stdio.h>

int pci_chrome_trace_sniff(const uint8_t *data, size_t size, int all)
{
    static const char *const document[] = {"\"traceEvents\"", NULL};
    static const char *const events[] = {"\"ph\"", "\"ts\"", "\"pid\"", NULL};
    (void)all;
    return pci_document_begins(data, size, 0, document) ||
                   pci_document_begins(data, size, 1, events)
               ? 2
               : 0;
}

/* ---- members of events ---- */

static pcol_status skip_value(struct pci_json *json, pcol_error *err)
{
    return json->type == PCI_JSON_OBJECT || json->type == PCI_JSON_ARRAY ? pci_json_skip(json, err)
                                                                         : PCOL_OK;
}

/* The text of a string or number; other values are skipped. */
static pcol_status read_text(struct pci_trace *t, uint32_t *text, pcol_error *err)
{
    struct pci_json *json = &t->v8.json;
    int64_t number;
    if (json->type == PCI_JSON_DOUBLE && pci_json_whole(json, &number)) { /* 11.0 is 11 */
        char digits[24];
        int size = snprintf(digits, sizeof digits, "%" PRId64, number);
        return pcol_builder_string(t->v8.builder, digits, (size_t)size, text, err);
    }
    if (json->type == PCI_JSON_STRING || json->type == PCI_JSON_INT || json->type == PCI_JSON_BIG ||
        json->type == PCI_JSON_DOUBLE)
        return pcol_builder_string(t->v8.builder, json->text.data, json->text.size, text, err);
    return skip_value(json, err);
}

/* A number of microseconds, which LLVM's XRay writes as a string. */
static pcol_status read_time(struct pci_trace *t, const char *what, int64_t *ns, pcol_error *err)
{
    struct pci_v8_clock clock = {0};
    int64_t bits;
    int is_double;
    PCI_TRY(pci_json_unquote_number(&t->v8.json, err));
    PCI_TRY(pci_number_of_token(&t->v8.json, what, &bits, &is_double, err));
    if (pci_parse_decimal(t->v8.json.text.data, t->v8.json.text.size, 3, ns))
        return PCOL_OK; /* a double of microseconds since 1970 has steps of a quarter */
    pci_v8_clock_add(&clock, bits, is_double);
    return pci_v8_clock_ns(&clock, ns)
               ? PCOL_OK
               : pci_json_fail(&t->v8.json, err, "%s is beyond 64 bits of nanoseconds", what);
}

static pcol_status read_nodes(struct pci_trace *t, pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_expect(&t->v8.json, PCI_JSON_ARRAY, "nodes", err));
    for (;;) {
        PCI_TRY(pci_json_element(&t->v8.json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_v8_read_node(&t->v8, err));
    }
}

/* Members of `data`, with those of its member cpuProfile. */
static pcol_status read_data(struct pci_trace *t, struct pci_trace_event *e, int is_profile,
                             pcol_error *err)
{
    struct pci_json *json = &t->v8.json;
    int more;
    for (;;) {
        PCI_TRY(pci_json_member(json, &more, err));
        if (!more)
            return PCOL_OK;
        int is_nodes = is_profile && pci_json_is(json, "nodes");
        int is_samples = is_profile && pci_json_is(json, "samples");
        int is_deltas = pci_json_is(json, "timeDeltas");
        int is_start = !is_profile && pci_json_is(json, "startTime");
        int is_inner = !is_profile && pci_json_is(json, "cpuProfile");
        PCI_TRY(pci_json_next(json, err));
        if (is_inner && json->type == PCI_JSON_OBJECT) {
            PCI_TRY(read_data(t, e, 1, err)); /* at most once: is_profile */
        } else if (is_nodes && json->type == PCI_JSON_ARRAY) {
            PCI_TRY(read_nodes(t, err));
        } else if ((is_samples || is_deltas) && json->type == PCI_JSON_ARRAY) {
            PCI_TRY(pci_number_array_read(is_samples ? &t->samples : &t->deltas, json,
                                          is_samples ? "samples" : "timeDeltas", err));
        } else if (is_start && (json->type == PCI_JSON_INT || json->type == PCI_JSON_DOUBLE)) {
            e->has_start = 1;
            PCI_TRY(read_time(t, "startTime", &e->start, err));
        } else {
            PCI_TRY(skip_value(json, err));
        }
    }
}

static pcol_status read_args(struct pci_trace *t, struct pci_trace_event *e, pcol_error *err)
{
    struct pci_json *json = &t->v8.json;
    int more;
    if (json->type != PCI_JSON_OBJECT)
        return skip_value(json, err);
    for (;;) {
        PCI_TRY(pci_json_member(json, &more, err));
        if (!more)
            return PCOL_OK;
        int is_data = !t->only_spans && pci_json_is(json, "data");
        int is_name = pci_json_is(json, "name");
        PCI_TRY(pci_json_next(json, err));
        if (is_data && json->type == PCI_JSON_OBJECT)
            PCI_TRY(read_data(t, e, 0, err));
        else if (is_name && json->type == PCI_JSON_STRING)
            PCI_TRY(read_text(t, &e->args_name, err));
        else
            PCI_TRY(skip_value(json, err));
    }
}

/* {"local": "0x1"} or {"global": "0x1"} */
static pcol_status read_id2(struct pci_trace *t, struct pci_trace_event *e, pcol_error *err)
{
    int more;
    if (t->v8.json.type != PCI_JSON_OBJECT)
        return skip_value(&t->v8.json, err);
    for (;;) {
        PCI_TRY(pci_json_member(&t->v8.json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(pci_json_next(&t->v8.json, err));
        PCI_TRY(read_text(t, &e->id, err));
    }
}

static pcol_status read_name(struct pci_trace *t, struct pci_trace_event *e, pcol_error *err)
{
    const struct pci_json *json = &t->v8.json;
    PCI_TRY(pci_json_expect(json, PCI_JSON_STRING, "the name of an event", err));
    e->is_profile = pci_json_is(json, "Profile");
    e->is_chunk = pci_json_is(json, "ProfileChunk");
    e->is_thread_name = pci_json_is(json, "thread_name");
    e->is_process_name = pci_json_is(json, "process_name");
    return read_text(t, &e->name, err);
}

static pcol_status read_member(struct pci_trace *t, struct pci_trace_event *e, pcol_error *err)
{
    static const char *const names[] = {"ph",  "name", "pid", "tid",  "id",
                                        "id2", "ts",   "dur", "args", NULL};
    struct pci_json *json = &t->v8.json;
    int member = 0;
    while (names[member] && !pci_json_is(json, names[member]))
        member++;
    PCI_TRY(pci_json_next(json, err));
    switch (member) {
    case 0:
        PCI_TRY(pci_json_expect(json, PCI_JSON_STRING, "ph", err));
        e->phase = json->text.size ? json->text.data[0] : 0;
        return PCOL_OK;
    case 1:
        return read_name(t, e, err);
    case 2:
        return read_text(t, &e->pid, err);
    case 3:
        return read_text(t, &e->tid, err);
    case 4:
        return read_text(t, &e->id, err);
    case 5:
        return read_id2(t, e, err);
    case 6:
        e->has_ts = 1;
        return read_time(t, "ts", &e->ts, err);
    case 7:
        e->has_duration = 1;
        PCI_TRY(read_time(t, "dur", &e->duration, err));
        return e->duration < 0 ? pci_json_fail(json, err, "dur is negative") : PCOL_OK;
    case 8:
        return read_args(t, e, err);
    default:
        return skip_value(json, err);
    }
}

/* ---- profiles ---- */

static pcol_status find_profile(struct pci_trace *t, const struct pci_trace_event *e,
                                uint32_t *profile, pcol_error *err)
{
    uint32_t thread;
    int found;
    PCI_TRY(pci_pair_set_add(&t->profile_ids, e->pid, e->id, &found, err));
    *profile = pci_pair_set_find(&t->profile_ids, e->pid, e->id);
    if (!found) {
        PCI_TRY(PCI_GROW(t->profiles, t->profile_capacity, (size_t)*profile + 1, err));
        t->profiles[*profile] = (struct pci_trace_profile){.pid = e->pid, .thread = PCOL_NONE};
    }
    if (e->is_profile || t->profiles[*profile].thread == PCOL_NONE) {
        PCI_TRY(pci_trace_thread(t, e->pid, e->tid, &thread, err));
        t->profiles[*profile].thread = thread;
    }
    return PCOL_OK;
}

/* Keep an event whose nodes begin at `first_node`, and its samples and deltas where these arrays
 * ended before. */
static pcol_status add_chunk(struct pci_trace *t, const struct pci_trace_event *e,
                             size_t first_node, uint64_t first, uint64_t first_delta,
                             pcol_error *err)
{
    uint64_t count = t->samples.count - first, deltas = t->deltas.count - first_delta;
    uint32_t profile;
    PCI_TRY(find_profile(t, e, &profile, err));
    struct pci_trace_profile *p = &t->profiles[profile];
    if (e->has_start && e->is_profile)
        p->start_ns = e->start;
    PCI_TRY(pci_v8_add_nodes(&t->v8, first_node, profile, err));
    if (count != deltas)
        return pci_fail_text(err, PCOL_E_SYNTAX, e->line, e->column,
                             "the event has %" PRIu64 " samples, but %" PRIu64 " timeDeltas", count,
                             deltas);
    if (e->has_ts)
        p->last_ts = e->ts;
    if (!count)
        return PCOL_OK;
    PCI_TRY(PCI_GROW(t->chunks, t->chunk_capacity, t->chunk_count + 1, err));
    t->chunks[t->chunk_count++] = (struct pci_trace_chunk){p->last_ts,  profile, first,    count,
                                                           first_delta, e->line, e->column};
    return PCOL_OK;
}

static pcol_status add_samples(struct pci_trace *t, const struct pci_trace_chunk *chunk,
                               pcol_error *err)
{
    struct pci_trace_profile *p = &t->profiles[chunk->profile];
    for (uint64_t i = 0; i < chunk->count; i++) {
        int64_t id, bits, ns;
        int is_double;
        PCI_TRY(pci_number_array_get(&t->samples, chunk->first + i, &id, &is_double, err));
        uint32_t node = is_double ? PCOL_NONE : pci_v8_find(&t->v8, chunk->profile, id);
        if (node == PCOL_NONE)
            return pci_fail_text(err, PCOL_E_SYNTAX, chunk->line, chunk->column,
                                 "sample %" PRIu64 " of the event names no node", i + 1);
        PCI_TRY(pci_number_array_get(&t->deltas, chunk->first_delta + i, &bits, &is_double, err));
        pci_v8_clock_add(&p->clock, bits, is_double);
        if (!pci_v8_clock_ns(&p->clock, &ns))
            return pci_fail_text(err, PCOL_E_SYNTAX, chunk->line, chunk->column,
                                 "a time of the event is beyond 64 bits of nanoseconds");
        PCI_TRY(pci_v8_add_sample(&t->v8, ns, node, err));
    }
    return PCOL_OK;
}

static int compare_chunks(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct pci_trace_chunk *x = a, *y = b;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

/* The samples of all events, in the order of the events' times: deltas add up in it. */
static pcol_status add_all_samples(struct pci_trace *t, pcol_error *err)
{
    PCI_TRY(pci_v8_resolve(&t->v8, err));
    PCI_TRY(pci_sort(t->chunks, t->chunk_count, sizeof *t->chunks, compare_chunks, NULL, err));
    for (size_t i = 0; i < t->chunk_count; i++)
        PCI_TRY(add_samples(t, &t->chunks[i], err));
    return PCOL_OK;
}

static pcol_status set_process_name(struct pci_trace *t, const struct pci_trace_event *e,
                                    pcol_error *err)
{
    int found;
    PCI_TRY(pci_pair_set_add(&t->process_ids, e->pid, 0, &found, err));
    uint32_t process = pci_pair_set_find(&t->process_ids, e->pid, 0);
    PCI_TRY(PCI_GROW(t->processes, t->process_capacity, (size_t)process + 1, err));
    t->processes[process] = e->args_name;
    return PCOL_OK;
}

static pcol_status read_event(struct pci_trace *t, pcol_error *err)
{
    struct pci_trace_event e = {.name = PCOL_NONE,
                                .pid = PCOL_NONE,
                                .tid = PCOL_NONE,
                                .id = PCOL_NONE,
                                .args_name = PCOL_NONE,
                                .line = t->v8.json.line,
                                .column = t->v8.json.column};
    size_t first_node = t->v8.node_count, first_child = t->v8.child_count;
    uint64_t first = t->samples.count, first_delta = t->deltas.count;
    uint32_t thread;
    int more;
    PCI_TRY(pci_json_expect(&t->v8.json, PCI_JSON_OBJECT, "an event", err));
    for (;;) {
        PCI_TRY(pci_json_member(&t->v8.json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_member(t, &e, err));
    }
    if (!t->only_spans && e.phase == 'P' && (e.is_profile || e.is_chunk))
        PCI_TRY(add_chunk(t, &e, first_node, first, first_delta, err));
    else
        pci_v8_forget(&t->v8, first_node, first_child);
    if (e.phase == 'M' && e.is_process_name)
        return set_process_name(t, &e, err);
    if (e.phase == 'M' && e.is_thread_name) {
        PCI_TRY(pci_trace_thread(t, e.pid, e.tid, &thread, err));
        t->threads[thread].name = e.args_name;
        return PCOL_OK;
    }
    return pci_trace_add_span(t, &e, err);
}

/* ---- rows ---- */

static int compare_profiles(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct pci_v8_sample *x = a, *y = b;
    return (x->profile > y->profile) - (x->profile < y->profile);
}

static pcol_status put_profiles(struct pci_trace *t, pcol_error *err)
{
    struct pci_v8 *v8 = &t->v8;
    struct pci_v8_types types = {PCOL_NONE, PCOL_NONE, PCOL_NONE};
    PCI_TRY(pcol_builder_sample_type(v8->builder, "samples", "count", 0, 0, &types.samples, err));
    PCI_TRY(pcol_builder_sample_type(v8->builder, "time", "nanoseconds", 0, 0, &types.time, err));
    for (size_t i = 0; i < v8->sample_count; i++) {
        struct pci_v8_sample *sample = &v8->samples[i];
        sample->profile = v8->nodes[sample->node].profile;
        if (__builtin_add_overflow(sample->time_ns, t->profiles[sample->profile].start_ns,
                                   &sample->time_ns))
            return pci_fail(err, PCOL_E_SYNTAX, "a time of a profile is beyond 64 bits");
    }
    PCI_TRY(
        pci_sort(v8->samples, v8->sample_count, sizeof *v8->samples, compare_profiles, NULL, err));
    for (size_t first = 0, end; first < v8->sample_count; first = end) {
        uint32_t profile = v8->samples[first].profile, row;
        for (end = first; end < v8->sample_count && v8->samples[end].profile == profile; end++)
            ;
        PCI_TRY(pci_trace_thread_row(t, t->profiles[profile].thread, &row, err));
        PCI_TRY(pci_v8_sort_samples(v8, first, end, err));
        PCI_TRY(pci_v8_put_samples(v8, &types, first, end, row, err));
    }
    return PCOL_OK;
}

static pcol_status build(struct pci_trace *t, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    PCI_TRY(pci_import_source(t->v8.import, &source, err));
    PCI_TRY(add_all_samples(t, err));
    if (!t->v8.sample_count)
        return pci_trace_put_spans(t, err);
    if (t->span_count)
        pci_notice(PCOL_NOTICE_INPUT, "", "format",
                   "CPU profiles imported; the format trace-event imports the spans instead: %zu",
                   t->span_count);
    return put_profiles(t, err);
}

/* ---- document ---- */

static pcol_status read_events(struct pci_trace *t, pcol_error *err)
{
    int more;
    PCI_TRY(pci_json_expect(&t->v8.json, PCI_JSON_ARRAY, "traceEvents", err));
    for (;;) {
        PCI_TRY(pci_json_element(&t->v8.json, &more, err));
        if (!more)
            return PCOL_OK;
        PCI_TRY(read_event(t, err));
    }
}

static pcol_status read_document(struct pci_trace *t, pcol_error *err)
{
    /* A program that ends while it is traced leaves the array open. */
    static const struct pci_json_options options = {PCI_JSON_OPEN_ARRAY, 0};
    struct pci_json *json = &t->v8.json;
    int more, found = 0;
    PCI_TRY(pci_json_open(json, t->v8.import->input, &options, err));
    PCI_TRY(pci_json_next(json, err));
    if (json->type == PCI_JSON_ARRAY) {
        PCI_TRY(read_events(t, err));
    } else {
        PCI_TRY(pci_json_expect(json, PCI_JSON_OBJECT, "a Chrome trace", err));
        for (;;) {
            PCI_TRY(pci_json_member(json, &more, err));
            if (!more)
                break;
            int is_events = pci_json_is(json, "traceEvents");
            PCI_TRY(pci_json_next(json, err));
            PCI_TRY(is_events ? read_events(t, err) : skip_value(json, err));
            found |= is_events;
        }
        if (!found)
            return pci_json_fail(json, err, "a Chrome trace needs the member traceEvents");
    }
    PCI_TRY(pci_json_finish(json, err));
    if (json->is_unclosed)
        pci_notice(PCOL_NOTICE_INPUT, "", "",
                   "the array of events has no end: the program ended while it was traced, or the "
                   "file is cut off");
    return build(t, err);
}

static pcol_status read_trace(struct pci_import *import, int only_spans, pcol_error *err)
{
    struct pci_trace t = {.v8 = {.import = import,
                                 .builder = import->builder,
                                 .column = PCOL_NONE,
                                 .anonymous = PCOL_NONE},
                          .only_spans = only_spans};
    pci_number_array_init(&t.samples, import->builder);
    pci_number_array_init(&t.deltas, import->builder);
    pcol_status status = read_document(&t, err);
    pci_number_array_clear(&t.samples);
    pci_number_array_clear(&t.deltas);
    pci_pair_set_clear(&t.thread_ids);
    pci_pair_set_clear(&t.process_ids);
    pci_pair_set_clear(&t.profile_ids);
    pci_free(t.threads);
    pci_free(t.processes);
    pci_free(t.profiles);
    pci_free(t.chunks);
    pci_free(t.spans);
    pci_v8_close(&t.v8);
    return status;
}

pcol_status pci_chrome_trace_read(struct pci_import *import, pcol_error *err)
{
    return read_trace(import, 0, err);
}

pcol_status pci_trace_event_read(struct pci_import *import, pcol_error *err)
{
    return read_trace(import, 1, err);
}
