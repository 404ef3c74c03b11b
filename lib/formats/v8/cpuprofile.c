/*
 * cpuprofile.c - import of V8's CPU profiles (.cpuprofile), today's and the old form
 *
 * {"nodes": [...], "startTime": us, "samples": [ids], "timeDeltas": [us]}; older ones have a nested
 * tree `head` and `timestamps`. Hits and samples are different counts.
 */
#include "formats/v8/v8.h"

#include "util/alloc.h"
#include "util/control.h"

#include <inttypes.h>

enum { M_NODES, M_HEAD, M_SAMPLES, M_DELTAS, M_TIMESTAMPS, M_START, M_END, M_OTHER };

struct reader {
    struct pci_v8 v8;
    unsigned seen;
    struct pci_number_array samples, deltas, stamps;
    uint64_t lines[M_OTHER], columns[M_OTHER]; /* places of the members */
    struct pci_v8_clock start, end;
};

int pci_cpuprofile_sniff(const uint8_t *data, size_t size, int all)
{
    static const char *const today[] = {"\"callFrame\"", "\"hitCount\"", NULL};
    static const char *const minimal[] = {"\"nodes\"", "\"callFrame\"", NULL};
    static const char *const old[] = {"\"head\"", "\"functionName\"", "\"hitCount\"", NULL};
    (void)all;
    return pci_document_begins(data, size, 0, today) ||
                   pci_document_begins(data, size, 0, minimal) ||
                   pci_document_begins(data, size, 0, old)
               ? 2
               : 0;
}

static pcol_status read_node(void *v8, pcol_error *err)
{
    return pci_v8_read_node(v8, err);
}

static pcol_status read_numbers(struct reader *r, struct pci_number_array *array, const char *key,
                                pcol_error *err)
{
    PCI_TRY(pci_json_next(&r->v8.json, err));
    return pci_number_array_read(array, &r->v8.json, key, err);
}

static pcol_status read_time(struct reader *r, struct pci_v8_clock *clock, pcol_error *err)
{
    int64_t bits;
    int is_double;
    PCI_TRY(pci_document_member(&r->v8.document, &r->v8.json, r->v8.document.root, err));
    PCI_TRY(pci_number_of_token(&r->v8.json, "a time", &bits, &is_double, err));
    pci_v8_clock_add(clock, bits, is_double);
    return PCOL_OK;
}

static pcol_status read_member(struct reader *r, pcol_error *err)
{
    static const char *const names[] = {"nodes",      "head",      "samples", "timeDeltas",
                                        "timestamps", "startTime", "endTime"};
    struct pci_v8 *v8 = &r->v8;
    int member = 0;
    while (member < M_OTHER && !pci_json_is(&v8->json, names[member]))
        member++;
    if (member == M_OTHER)
        return pci_document_member(&v8->document, &v8->json, v8->document.root, err);
    if (r->seen & 1u << member)
        return pci_json_fail(&v8->json, err, "the profile has this member twice");
    r->seen |= 1u << member;
    r->lines[member] = v8->json.line;
    r->columns[member] = v8->json.column;
    switch (member) {
    case M_NODES:
        return pci_v8_read_array(v8, "nodes", read_node, v8, err);
    case M_HEAD:
        return pci_v8_read_head(v8, err);
    case M_SAMPLES:
        return read_numbers(r, &r->samples, "samples", err);
    case M_DELTAS:
        return read_numbers(r, &r->deltas, "timeDeltas", err);
    case M_TIMESTAMPS:
        return read_numbers(r, &r->stamps, "timestamps", err);
    default:
        return read_time(r, member == M_START ? &r->start : &r->end, err);
    }
}

static pcol_status fail_member(const struct reader *r, int member, uint64_t count,
                               const char *problem, pcol_error *err)
{
    return pci_fail_text(err, PCOL_E_SYNTAX, r->lines[member], r->columns[member],
                         "%s (%" PRIu64 ")", problem, count);
}

/* Samples from `first` on, as many as the windows of the arrays have. times: NULL if there are
 * none; member: theirs. */
static pcol_status add_batch(struct reader *r, uint64_t first, struct pci_number_array *times,
                             int member, struct pci_v8_clock *clock, pcol_error *err)
{
    struct pci_number_array *ids = &r->samples;
    struct pci_v8_sample *to = r->v8.samples + r->v8.sample_count;
    PCI_TRY(pci_number_array_load(ids, first, err));
    if (times)
        PCI_TRY(pci_number_array_load(times, first, err));
    for (size_t i = 0; i < ids->window_count; i++) {
        int same = i && ids->window_bits[i] == ids->window_bits[i - 1];
        uint32_t node = same ? to[i - 1].node : pci_v8_find(&r->v8, 0, ids->window_bits[i]);
        to[i] = (struct pci_v8_sample){.node = node};
        if (node == PCOL_NONE || ids->window_kinds[i])
            return fail_member(r, M_SAMPLES, first + i + 1, "this sample names no node", err);
        if (member == M_TIMESTAMPS)
            *clock = (struct pci_v8_clock){0};
        if (times)
            pci_v8_clock_add(clock, times->window_bits[i], times->window_kinds[i]);
        if (times && !pci_v8_clock_ns(clock, &to[i].time_ns))
            return fail_member(r, member, first + i + 1,
                               "this time is beyond 64 bits of nanoseconds", err);
    }
    r->v8.sample_count += ids->window_count;
    return pci_work(ids->window_count * PCI_ITEM_WORK, err);
}

/* The time of each sample, and its node. */
static pcol_status add_samples(struct reader *r, int timed, pcol_error *err)
{
    int member = r->seen & 1u << M_DELTAS ? M_DELTAS : M_TIMESTAMPS;
    struct pci_number_array *times = member == M_DELTAS ? &r->deltas : &r->stamps;
    struct pci_v8_clock clock = r->start;
    if (timed && times->count != r->samples.count)
        return fail_member(r, member, times->count, "there must be as many times as samples", err);
    if (r->samples.count >= PCOL_NONE)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 samples");
    PCI_TRY(PCI_GROW(r->v8.samples, r->v8.sample_capacity, (size_t)r->samples.count, err));
    while (r->v8.sample_count < r->samples.count)
        PCI_TRY(add_batch(r, r->v8.sample_count, timed ? times : NULL, member, &clock, err));
    return PCOL_OK;
}

static pcol_status add_source(struct reader *r, pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    int64_t start;
    r->v8.has_end = r->seen & 1u << M_END && pci_v8_clock_ns(&r->end, &r->v8.end_ns);
    if (r->v8.has_end && r->seen & 1u << M_START && r->seen & 1u << M_DELTAS &&
        pci_v8_clock_ns(&r->start, &start) &&
        !__builtin_sub_overflow(r->v8.end_ns, start, &source.duration_ns) &&
        source.duration_ns >= 0)
        source.flags = PCOL_SOURCE_HAS_DURATION;
    return pci_import_source(r->v8.import, &source, err);
}

static pcol_status store_numbers(struct reader *r, int member, struct pci_number_array *array,
                                 const char *key, pcol_error *err)
{
    return r->seen & 1u << member ? pci_document_number_member(&r->v8.document, r->v8.document.root,
                                                               key, array, 0, array->count, err)
                                  : PCOL_OK;
}

/* The arrays of the document. Rows tell times in full microseconds. */
static pcol_status store_arrays(struct reader *r, pcol_error *err)
{
    uint64_t doubles = 0;
    int stored = 0;
    if (r->seen & 1u << M_SAMPLES)
        PCI_TRY(pci_v8_store_samples(&r->v8, &stored, err));
    if (!stored)
        PCI_TRY(store_numbers(r, M_SAMPLES, &r->samples, "samples", err));
    PCI_TRY(pci_number_array_doubles(&r->deltas, 0, r->deltas.count, &doubles, err));
    if (stored && r->deltas.count == r->samples.count && !doubles && !r->start.is_double &&
        r->seen & 1u << M_DELTAS)
        PCI_TRY(pci_v8_store_deltas(&r->v8, r->start.integer, err));
    else
        PCI_TRY(store_numbers(r, M_DELTAS, &r->deltas, "timeDeltas", err));
    PCI_TRY(store_numbers(r, M_TIMESTAMPS, &r->stamps, "timestamps", err));
    pci_number_array_clear(&r->samples); /* the memory is needed for the rows */
    pci_number_array_clear(&r->deltas);
    pci_number_array_clear(&r->stamps);
    return PCOL_OK;
}

static pcol_status build(struct reader *r, pcol_error *err)
{
    pcol_builder *b = r->v8.builder;
    struct pci_v8_types types = {PCOL_NONE, PCOL_NONE, PCOL_NONE};
    int timed = r->seen & (1u << M_DELTAS | 1u << M_TIMESTAMPS) && r->samples.count;
    PCI_TRY(pci_v8_add_nodes(&r->v8, 0, 0, err));
    PCI_TRY(pci_v8_resolve(&r->v8, err));
    PCI_TRY(add_samples(r, timed, err));
    PCI_TRY(add_source(r, err));
    PCI_TRY(pci_v8_sort_samples(&r->v8, 0, r->v8.sample_count, err));
    PCI_TRY(store_arrays(r, err));
    if (r->seen & 1u << M_SAMPLES)
        PCI_TRY(pcol_builder_sample_type(b, "samples", "count", 0, 0, &types.samples, err));
    if (timed)
        PCI_TRY(pcol_builder_sample_type(b, "time", "nanoseconds", 0, 0, &types.time, err));
    if (r->v8.has_hits)
        PCI_TRY(pcol_builder_sample_type(b, "hits", "count", 0, 0, &types.hits, err));
    PCI_TRY(pci_v8_put_samples(&r->v8, &types, 0, r->v8.sample_count, PCOL_NONE, err));
    PCI_TRY(pci_v8_put_hits(&r->v8, &types, err));
    return pci_document_end(&r->v8.document, r->v8.import->source, err);
}

static pcol_status read_document(struct reader *r, pcol_error *err)
{
    struct pci_v8 *v8 = &r->v8;
    int more;
    PCI_TRY(pci_v8_begin_document(v8, "a CPU profile", err));
    for (;;) {
        PCI_TRY(pci_json_member(&v8->json, &more, err));
        if (!more)
            break;
        PCI_TRY(read_member(r, err));
    }
    if (!(r->seen & 1u << M_NODES) == !(r->seen & 1u << M_HEAD))
        return pci_json_fail(&v8->json, err, "a CPU profile has either nodes or head");
    PCI_TRY(pci_json_finish(&v8->json, err));
    return build(r, err);
}

pcol_status pci_cpuprofile_read(struct pci_import *import, pcol_error *err)
{
    struct reader r = {.v8 = PCI_V8_DOCUMENT(import)};
    struct pci_number_array *const arrays[] = {&r.samples, &r.deltas, &r.stamps};
    for (size_t i = 0; i < 3; i++)
        pci_number_array_init(arrays[i], import->builder);
    pcol_status status = read_document(&r, err);
    for (size_t i = 0; i < 3; i++)
        pci_number_array_clear(arrays[i]);
    pci_v8_close(&r.v8);
    return status;
}
