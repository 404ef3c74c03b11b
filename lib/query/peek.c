/*
 * peek.c - callers and callees of a function
 *
 * A call is a pair of adjacent frames of a stack. As in a top, a pair that repeats on a stack
 * counts once per sample. Recursive pairs (a function calls itself) are skipped, as in pprof.
 * Tests: tests/unit/test_query.c, suite answers.
 */
#include "query/peek.h"
#include "query/top.h"

#include "query/walk.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sort.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

struct call {
    uint32_t caller, callee, on_path;
    pcol_amount self, total;
};

struct peek_builder {
    pcol_query *query;
    int is_whole; /* the name is no pattern */
    struct pci_peek *peek;
    uint8_t *wanted;   /* by frame */
    int has_wanted;    /* a frame is wanted */
    uint32_t *on_path; /* by frame */
    pcol_amount *self, *total;
    uint8_t *has_value; /* by frame: a sum that is not 0, of which `total` may be 0 */
    struct call *calls;
    size_t call_count, call_capacity;
    struct pci_hash hash;
};

/* ---- selection of functions */

static pcol_status match_pattern(struct peek_builder *p, const char *name, pcol_error *err)
{
    const struct pci_frames *frames = &p->peek->frames;
    pcol_pattern *match;
    pcol_status status;
    PCI_TRY(pcol_pattern_new(name, strlen(name), "the name", 0, &match, err));
    status = PCOL_OK;
    for (uint32_t i = 0; i < frames->count && status == PCOL_OK; i++) {
        int matches;
        pcol_str frame_name = frames->frames[i].name, address = pci_address_of_name(frame_name);
        status = pcol_pattern_test(match, frame_name, &matches, err);
        if (status == PCOL_OK && !matches && address.size)
            status = pcol_pattern_test(match, address, &matches, err);
        p->wanted[i] = (uint8_t)matches;
        p->has_wanted |= matches;
    }
    pcol_pattern_free(match);
    return status;
}

/* 1 if `text` is the last part of a path, of which no more than that is read: many mappings may
 * share a long one. */
static int is_base_name(pcol_str path, const char *text, size_t size)
{
    while (path.size && path.data[path.size - 1] == '/')
        path.size--;
    return path.size >= size && !memcmp(path.data + path.size - size, text, size) &&
           (path.size == size || path.data[path.size - size - 1] == '/');
}

/* *is: 1 for "[prog]", the name of frames of a mapping without symbols, also if the selection has
 * none. As a pattern it would match each name that has one of these characters. */
static pcol_status is_binary(const pcol_file *file, const char *name, int *is, pcol_error *err)
{
    const struct pci_column *filename;
    size_t size = strlen(name);
    pcol_str path;
    int valid;
    *is = 0;
    if (size < 3 || name[0] != '[' || name[size - 1] != ']')
        return PCOL_OK;
    PCI_TRY(pci_check_row_count(file, "mappings", err));
    PCI_TRY(pci_find_column(file, "mappings", "filename", PCI_TYPES_TEXT, &filename, err));
    for (uint64_t row = 0; !*is && row < pci_rows(file, "mappings"); row++) {
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        PCI_TRY(pci_get_str(file, filename, row, &path, &valid, err));
        *is = is_base_name(path, name, size) || is_base_name(path, name + 1, size - 2);
    }
    return PCOL_OK;
}

/* Marks frames whose name is `name`, or whose address is it without the library; if there are none,
 * those that match it as a pattern. */
static pcol_status select_frames(struct peek_builder *p, const char *name, pcol_error *err)
{
    const struct pci_frames *frames = &p->peek->frames;
    for (uint32_t i = 0; i < frames->count; i++) {
        pcol_str frame_name = frames->frames[i].name;
        p->wanted[i] = pci_str_is(frame_name, name) ||
                       (name[0] && pci_str_is(pci_address_of_name(frame_name), name));
        p->has_wanted |= p->wanted[i];
    }
    if (p->has_wanted || p->is_whole)
        return PCOL_OK;
    int is_name;
    PCI_TRY(is_binary(p->query->file, name, &is_name, err));
    return is_name ? PCOL_OK : match_pattern(p, name, err);
}

/* ---- the walk */

/* 1 if the pair is a call and one of its functions is wanted. False for most pairs. */
PCI_INLINE int is_wanted_call(const struct peek_builder *p, uint32_t caller, uint32_t callee)
{
    return caller != PCOL_NONE && caller != callee && (p->wanted[caller] | p->wanted[callee]);
}

/* Finds the call, or appends it if `make` is set; otherwise *call is NULL. */
static pcol_status find_call(struct peek_builder *p, uint32_t caller, uint32_t callee, int make,
                             struct call **call, pcol_error *err)
{
    uint64_t hash;
    size_t slot;
    uint32_t id;
    *call = NULL;
    hash = pci_hash_pair(caller, callee);
    slot = pci_hash_start(&p->hash, hash);
    while ((id = pci_hash_next(&p->hash, hash, &slot)) != PCI_HASH_NONE) {
        if (p->calls[id].caller == caller && p->calls[id].callee == callee) {
            *call = &p->calls[id];
            return PCOL_OK;
        }
    }
    if (!make)
        return PCOL_OK;
    if (p->call_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 distinct calls");
    PCI_TRY(PCI_GROW(p->calls, p->call_capacity, p->call_count + 1, err));
    PCI_TRY(pci_hash_add(&p->hash, hash, (uint32_t)p->call_count, err));
    *call = &p->calls[p->call_count++];
    **call = (struct call){.caller = caller, .callee = callee};
    return PCOL_OK;
}

PCI_INLINE pcol_status enter_frame(void *context, uint32_t frame, uint32_t caller, pcol_error *err)
{
    struct peek_builder *p = context;
    struct call *call;
    p->on_path[frame]++;
    if (!is_wanted_call(p, caller, frame))
        return PCOL_OK;
    PCI_TRY(find_call(p, caller, frame, 1, &call, err));
    call->on_path++;
    return PCOL_OK;
}

PCI_INLINE pcol_status leave_frame(void *context, uint32_t frame, uint32_t caller, pcol_amount sum,
                                   pcol_error *err)
{
    struct peek_builder *p = context;
    struct call *call;
    p->has_value[frame] |= !pci_amount_is_zero(p->query->measure.is_double, sum);
    if (--p->on_path[frame] == 0)
        PCI_TRY(pci_query_add(p->query, &p->total[frame], sum, err));
    if (!is_wanted_call(p, caller, frame))
        return PCOL_OK;
    PCI_TRY(find_call(p, caller, frame, 0, &call, err));
    return call && --call->on_path == 0 ? pci_query_add(p->query, &call->total, sum, err) : PCOL_OK;
}

PCI_INLINE pcol_status add_stack(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                                 pcol_error *err)
{
    struct peek_builder *p = context;
    struct call *call;
    if (leaf == PCOL_NONE)
        return PCOL_OK;
    pcol_amount weight = p->query->weight[row];
    p->has_value[leaf] |= !pci_amount_is_zero(p->query->measure.is_double, weight);
    PCI_TRY(pci_query_add(p->query, &p->self[leaf], weight, err));
    if (!is_wanted_call(p, caller, leaf))
        return PCOL_OK;
    PCI_TRY(find_call(p, caller, leaf, 0, &call, err));
    return call ? pci_query_add(p->query, &call->self, weight, err) : PCOL_OK;
}

/* ---- rows */

static int is_zero(const struct peek_builder *p, pcol_amount self, pcol_amount total)
{
    int is_double = p->query->measure.is_double;
    return pci_amount_is_zero(is_double, self) && pci_amount_is_zero(is_double, total);
}

/* The calls of each frame as linked lists: head by frame, next by call. */
struct call_lists {
    uint32_t *head, *next;
};

/* Positive and negative values may cancel in a function, but not in its calls. */
static int has_calls(const struct peek_builder *p, const struct call_lists *call_lists,
                     uint32_t function)
{
    for (uint32_t i = call_lists->head[function]; i != PCOL_NONE; i = call_lists->next[i])
        if (!is_zero(p, p->calls[i].self, p->calls[i].total))
            return 1;
    return 0;
}

static pcol_status link_calls(const struct peek_builder *p, enum pci_relation relation,
                              struct call_lists *call_lists, pcol_error *err)
{
    size_t frames = (size_t)p->peek->frames.count + 1;
    PCI_TRY(PCI_MALLOC(call_lists->head, frames, err));
    PCI_TRY(PCI_MALLOC(call_lists->next, p->call_count + 1, err));
    memset(call_lists->head, 0xff, frames * sizeof *call_lists->head);
    for (size_t i = 0; i < p->call_count; i++) {
        const struct call *call = &p->calls[i];
        uint32_t function = relation == PCI_CALLER ? call->callee : call->caller;
        call_lists->next[i] = call_lists->head[function];
        call_lists->head[function] = (uint32_t)i;
    }
    return PCOL_OK;
}

/* Appends the calls of one list, sorted by total. */
static pcol_status append_calls(struct peek_builder *p, const struct call_lists *call_lists,
                                uint32_t function, enum pci_relation relation,
                                struct pci_top *sorted, pcol_error *err)
{
    struct pci_peek *peek = p->peek;
    sorted->count = 0;
    PCI_TRY(pci_work(PCI_ITEM_WORK, err));
    for (uint32_t i = call_lists->head[function]; i != PCOL_NONE; i = call_lists->next[i]) {
        const struct call *call = &p->calls[i];
        PCI_TRY(pci_work(PCI_ITEM_WORK, err));
        uint32_t other = relation == PCI_CALLER ? call->caller : call->callee;
        if (!is_zero(p, call->self, call->total))
            sorted->items[sorted->count++] = (struct pci_top_item){
                .self = call->self, .total = call->total, .by.frame = &peek->frames.frames[other]};
    }
    PCI_TRY(pci_top_sort(sorted, PCOL_ORDER_TOTAL, err));
    PCI_TRY(PCI_GROW(peek->rows, peek->capacity, peek->count + sorted->count + 1, err));
    for (size_t i = 0; i < sorted->count; i++) {
        const struct pci_top_item *row = &sorted->items[sorted->order[i]];
        peek->rows[peek->count++] = (struct pci_peek_row){
            relation, (uint32_t)(row->by.frame - peek->frames.frames), row->total, row->self};
    }
    return PCOL_OK;
}

/* Sort key of a wanted function: descending total. */
struct wanted_function {
    uint64_t key;
    uint32_t frame;
};

static int compare_totals(const void *pa, const void *pb, const void *context)
{
    (void)context;
    const struct wanted_function *a = pa, *b = pb;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static pcol_status append_functions(struct peek_builder *p, const struct call_lists call_lists[2],
                                    struct pci_top *sorted, struct wanted_function *wanted_function,
                                    pcol_error *err)
{
    struct pci_peek *peek = p->peek;
    size_t count = 0;
    for (uint32_t i = 0; i < peek->frames.count; i++) {
        if (p->wanted[i] &&
            (p->has_value[i] || has_calls(p, &call_lists[0], i) || has_calls(p, &call_lists[1], i)))
            wanted_function[count++] = (struct wanted_function){
                pci_amount_sort_key(p->query->measure.is_double, p->total[i]), i};
    }
    PCI_TRY(pci_sort(wanted_function, count, sizeof *wanted_function, compare_totals, NULL, err));
    for (size_t k = 0; k < count; k++) {
        uint32_t i = wanted_function[k].frame;
        PCI_TRY(append_calls(p, &call_lists[0], i, PCI_CALLER, sorted, err));
        /* append_calls() reserves one more row. */
        peek->rows[peek->count++] = (struct pci_peek_row){PCI_SELF, i, p->total[i], p->self[i]};
        PCI_TRY(append_calls(p, &call_lists[1], i, PCI_CALLEE, sorted, err));
    }
    return PCOL_OK;
}

static pcol_status build_rows(struct peek_builder *p, pcol_error *err)
{
    struct call_lists call_lists[2] = {{NULL, NULL}, {NULL, NULL}};
    struct pci_top sorted = {.is_double = p->query->measure.is_double};
    struct wanted_function *wanted_function =
        pci_malloc((size_t)p->peek->frames.count + 1, sizeof *wanted_function);
    pcol_status status;
    sorted.items = pci_malloc(p->call_count + 1, sizeof *sorted.items);
    status = wanted_function && sorted.items ? PCOL_OK : pci_fail_memory(err);
    PCI_THEN(status, link_calls(p, PCI_CALLER, &call_lists[0], err));
    PCI_THEN(status, link_calls(p, PCI_CALLEE, &call_lists[1], err));
    PCI_THEN(status, append_functions(p, call_lists, &sorted, wanted_function, err));
    for (int i = 0; i < 2; i++) {
        pci_free(call_lists[i].head);
        pci_free(call_lists[i].next);
    }
    pci_free(sorted.items);
    pci_free(sorted.order);
    pci_free(wanted_function);
    return status;
}

/* ---- public functions */

/* Opens the frames and marks the wanted ones. */
static pcol_status open_frames(struct peek_builder *p, const char *name, int places,
                               pcol_error *err)
{
    pci_free(p->wanted);
    p->wanted = NULL;
    pci_frames_close(&p->peek->frames);
    PCI_TRY(pci_frames_open(p->query, PCOL_BY_FUNCTION, places, &p->peek->frames, err));
    p->wanted = pci_calloc((size_t)p->peek->frames.count + 1, 1);
    return p->wanted ? select_frames(p, name, err) : pci_fail_memory(err);
}

static pcol_status walk_stacks(struct peek_builder *p, pcol_error *err)
{
    const struct pci_walker walker = {p, p->query->measure.is_double, enter_frame, add_stack,
                                      leave_frame};
    size_t frames = (size_t)p->peek->frames.count + 1;
    uint32_t empty = p->peek->frames.empty;
    PCI_TRY(PCI_CALLOC(p->on_path, frames, err));
    PCI_TRY(PCI_CALLOC(p->self, frames, err));
    PCI_TRY(PCI_CALLOC(p->has_value, frames, err));
    PCI_TRY(PCI_CALLOC(p->total, frames, err));
    if (p->query->calls.count) {
        p->self[empty] = p->total[empty] = p->query->weight[0];
        p->has_value[empty] = !is_zero(p, p->self[empty], p->total[empty]);
    }
    PCI_TRY(pci_walk(p->query, &p->peek->frames, &walker, err));
    return build_rows(p, err);
}

/* Lines outside functions are included only if no function matches. */
static pcol_status build_peek(struct peek_builder *p, const char *name, pcol_error *err)
{
    pcol_status status = open_frames(p, name, 0, err);
    if (status == PCOL_OK && !p->has_wanted)
        status = open_frames(p, name, 1, err);
    PCI_THEN(status, walk_stacks(p, err));
    pci_free(p->wanted);
    pci_free(p->on_path);
    pci_free(p->self);
    pci_free(p->has_value);
    pci_free(p->total);
    pci_free(p->calls);
    pci_hash_clear(&p->hash);
    return status;
}

pcol_status pci_query_peek(pcol_query *query, const char *name, int is_whole,
                           struct pci_peek **peek, pcol_error *err)
{
    struct peek_builder p = {.query = query, .is_whole = is_whole};
    pcol_status status;
    *peek = NULL;
    PCI_TRY(PCI_CALLOC(p.peek, 1, err));
    status = pci_control_enter(&query->control, err);
    PCI_THEN(status, pci_query_load(query, err));
    PCI_THEN(status, build_peek(&p, name, err));
    pci_control_leave(&query->control);
    if (status == PCOL_OK)
        *peek = p.peek;
    else
        pci_peek_free(p.peek);
    return status;
}

void pci_peek_free(struct pci_peek *peek)
{
    if (!peek)
        return;
    pci_frames_close(&peek->frames);
    pci_free(peek->rows);
    pci_free(peek);
}
