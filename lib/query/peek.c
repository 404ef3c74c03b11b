/*
 * peek.c - who calls a function, and what it calls
 *
 * A call is a pair of frames that follow each other in a stack. As in a top, a pair on the path is
 * counted when it comes first, so a repeated call counts once for each sample. Pairs of a function
 * with itself are no calls from elsewhere and are passed over, as pprof does.
 */
#include "query/top.h"

#include "query/walk.h"
#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

struct call {
    uint32_t caller, callee, on_path;
    pcol_amount self, total;
};

struct pcol_peek {
    size_t count, capacity;
    pcol_peek_row *rows;
    struct pci_frames frames;
};

struct peeking {
    const pcol_query *query;
    struct pcol_peek *peek;
    uint8_t *wanted;   /* by frame */
    int any;           /* a frame is wanted */
    uint32_t *on_path; /* by frame */
    pcol_amount *self, *total;
    struct call *calls;
    size_t call_count, call_capacity;
    struct pci_hash hash;
};

static pcol_status add(const struct peeking *p, pcol_amount *sum, pcol_amount amount,
                       pcol_error *err)
{
    if (pci_amount_add(p->query->measure.is_double, sum, amount))
        return pci_amount_overflow(p->query->measure.type, err);
    return PCOL_OK;
}

/* ---- which functions */

static pcol_status match_pattern(struct peeking *p, const char *name, pcol_error *err)
{
    const struct pci_frames *frames = &p->peek->frames;
    pcol_pattern *match;
    pcol_status status;
    PCI_TRY(pcol_pattern_new(name, strlen(name), "the name", 0, &match, err));
    status = PCOL_OK;
    for (uint32_t i = 0; i < frames->count && status == PCOL_OK; i++) {
        int yes;
        pcol_str own = frames->frames[i].name, address = pci_address_names_address(own);
        status = pcol_pattern_test(match, own, &yes, err);
        if (status == PCOL_OK && !yes && address.size)
            status = pcol_pattern_test(match, address, &yes, err);
        p->wanted[i] = (uint8_t)yes;
        p->any |= yes;
    }
    pcol_pattern_free(match);
    return status;
}

/* A name that a frame of the answer has, or an address without its library, or else a pattern. */
static pcol_status choose(struct peeking *p, const char *name, pcol_error *err)
{
    const struct pci_frames *frames = &p->peek->frames;
    for (uint32_t i = 0; i < frames->count; i++) {
        pcol_str own = frames->frames[i].name;
        p->wanted[i] =
            pci_str_is(own, name) || (name[0] && pci_str_is(pci_address_names_address(own), name));
        p->any |= p->wanted[i];
    }
    return p->any ? PCOL_OK : match_pattern(p, name, err);
}

/* ---- the walk */

/* Whether this is a call and one of the two is asked about: of most steps of the walk neither
 * is. */
PCI_INLINE int is_asked(const struct peeking *p, uint32_t caller, uint32_t callee)
{
    return caller != PCOL_NONE && caller != callee && (p->wanted[caller] | p->wanted[callee]);
}

/* The call from `caller` to `callee`; NULL in *call if there was none and it is not to be made. */
static pcol_status find_call(struct peeking *p, uint32_t caller, uint32_t callee, int make,
                             struct call **call, pcol_error *err)
{
    uint64_t hash;
    size_t at;
    uint32_t id;
    *call = NULL;
    hash = pci_hash_pair(caller, callee);
    at = pci_hash_start(&p->hash, hash);
    while ((id = pci_hash_next(&p->hash, hash, &at)) != PCI_HASH_NONE) {
        if (p->calls[id].caller == caller && p->calls[id].callee == callee) {
            *call = &p->calls[id];
            return PCOL_OK;
        }
    }
    if (!make)
        return PCOL_OK;
    if (p->call_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 distinct calls");
    if (pci_grow((void **)&p->calls, &p->call_capacity, p->call_count + 1, sizeof *p->calls))
        return pci_fail_memory(err);
    PCI_TRY(pci_hash_add(&p->hash, hash, (uint32_t)p->call_count, err));
    *call = &p->calls[p->call_count++];
    **call = (struct call){.caller = caller, .callee = callee};
    return PCOL_OK;
}

PCI_INLINE pcol_status enter(void *context, uint32_t frame, uint32_t caller, pcol_error *err)
{
    struct peeking *p = context;
    struct call *call;
    p->on_path[frame]++;
    if (!is_asked(p, caller, frame))
        return PCOL_OK;
    PCI_TRY(find_call(p, caller, frame, 1, &call, err));
    call->on_path++;
    return PCOL_OK;
}

PCI_INLINE pcol_status leave(void *context, uint32_t frame, uint32_t caller, pcol_amount sum,
                             pcol_error *err)
{
    struct peeking *p = context;
    struct call *call;
    if (--p->on_path[frame] == 0)
        PCI_TRY(add(p, &p->total[frame], sum, err));
    if (!is_asked(p, caller, frame))
        return PCOL_OK;
    PCI_TRY(find_call(p, caller, frame, 0, &call, err));
    return call && --call->on_path == 0 ? add(p, &call->total, sum, err) : PCOL_OK;
}

PCI_INLINE pcol_status stack(void *context, uint32_t row, uint32_t leaf, uint32_t caller,
                             pcol_error *err)
{
    struct peeking *p = context;
    struct call *call;
    if (leaf == PCOL_NONE)
        return PCOL_OK;
    PCI_TRY(add(p, &p->self[leaf], p->query->weight[row], err));
    if (!is_asked(p, caller, leaf))
        return PCOL_OK;
    PCI_TRY(find_call(p, caller, leaf, 0, &call, err));
    return call ? add(p, &call->self, p->query->weight[row], err) : PCOL_OK;
}

/* ---- rows */

static int is_empty(const struct peeking *p, pcol_amount self, pcol_amount total)
{
    int is_double = p->query->measure.is_double;
    return pci_amount_is_zero(is_double, self) && pci_amount_is_zero(is_double, total);
}

/* The calls of each frame, as lists: heads by frame, links by call. */
struct lists {
    uint32_t *head, *next;
};

/* Values above and below 0 may cancel in a function, but not in its calls. */
static int has_calls(const struct peeking *p, const struct lists *lists, uint32_t function)
{
    for (uint32_t i = lists->head[function]; i != PCOL_NONE; i = lists->next[i])
        if (!is_empty(p, p->calls[i].self, p->calls[i].total))
            return 1;
    return 0;
}

static pcol_status link_calls(const struct peeking *p, pcol_relation relation, struct lists *lists,
                              pcol_error *err)
{
    size_t frames = (size_t)p->peek->frames.count + 1;
    lists->head = pci_malloc(frames, sizeof *lists->head);
    lists->next = pci_malloc(p->call_count + 1, sizeof *lists->next);
    if (!lists->head || !lists->next)
        return pci_fail_memory(err);
    memset(lists->head, 0xff, frames * sizeof *lists->head);
    for (size_t i = 0; i < p->call_count; i++) {
        const struct call *call = &p->calls[i];
        uint32_t own = relation == PCOL_CALLER ? call->callee : call->caller;
        lists->next[i] = lists->head[own];
        lists->head[own] = (uint32_t)i;
    }
    return PCOL_OK;
}

/* Append the calls of one list, by total. */
static pcol_status put_calls(struct peeking *p, const struct lists *lists, uint32_t function,
                             pcol_relation relation, pcol_top *sorted, pcol_error *err)
{
    struct pcol_peek *peek = p->peek;
    sorted->count = 0;
    for (uint32_t i = lists->head[function]; i != PCOL_NONE; i = lists->next[i]) {
        const struct call *call = &p->calls[i];
        uint32_t other = relation == PCOL_CALLER ? call->caller : call->callee;
        if (!is_empty(p, call->self, call->total))
            sorted->items[sorted->count++] =
                (struct pci_top_item){call->self, call->total, {&peek->frames.frames[other]}};
    }
    PCI_TRY(pci_top_sort(sorted, PCOL_ORDER_TOTAL, err));
    if (pci_grow((void **)&peek->rows, &peek->capacity, peek->count + sorted->count + 1,
                 sizeof *peek->rows))
        return pci_fail_memory(err);
    for (size_t i = 0; i < sorted->count; i++) {
        const struct pci_top_item *row = &sorted->items[sorted->order[i]];
        peek->rows[peek->count++] =
            (pcol_peek_row){relation, *row->by.frame, row->total, row->self};
    }
    return PCOL_OK;
}

/* A function that is asked about, in order of total. */
struct asked {
    uint64_t key;
    uint32_t frame;
};

static int by_total(const void *pa, const void *pb)
{
    const struct asked *a = pa, *b = pb;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static pcol_status put_functions(struct peeking *p, const struct lists lists[2], pcol_top *sorted,
                                 struct asked *asked, pcol_error *err)
{
    struct pcol_peek *peek = p->peek;
    size_t count = 0;
    for (uint32_t i = 0; i < peek->frames.count; i++) {
        if (p->wanted[i] && (!is_empty(p, p->self[i], p->total[i]) || has_calls(p, &lists[0], i) ||
                             has_calls(p, &lists[1], i)))
            asked[count++] =
                (struct asked){pci_amount_key(p->query->measure.is_double, p->total[i]), i};
    }
    qsort(asked, count, sizeof *asked, by_total);
    for (size_t k = 0; k < count; k++) {
        uint32_t i = asked[k].frame;
        PCI_TRY(put_calls(p, &lists[0], i, PCOL_CALLER, sorted, err));
        /* put_calls() leaves room for one more. */
        peek->rows[peek->count++] =
            (pcol_peek_row){PCOL_SELF, peek->frames.frames[i], p->total[i], p->self[i]};
        PCI_TRY(put_calls(p, &lists[1], i, PCOL_CALLEE, sorted, err));
    }
    return PCOL_OK;
}

static pcol_status put_rows(struct peeking *p, pcol_error *err)
{
    struct lists lists[2] = {{NULL, NULL}, {NULL, NULL}};
    pcol_top sorted = {.is_double = p->query->measure.is_double};
    struct asked *asked = pci_malloc((size_t)p->peek->frames.count + 1, sizeof *asked);
    pcol_status status;
    sorted.items = pci_malloc(p->call_count + 1, sizeof *sorted.items);
    status = asked && sorted.items ? PCOL_OK : pci_fail_memory(err);
    if (status == PCOL_OK)
        status = link_calls(p, PCOL_CALLER, &lists[0], err);
    if (status == PCOL_OK)
        status = link_calls(p, PCOL_CALLEE, &lists[1], err);
    if (status == PCOL_OK)
        status = put_functions(p, lists, &sorted, asked, err);
    for (int i = 0; i < 2; i++) {
        pci_free(lists[i].head);
        pci_free(lists[i].next);
    }
    pci_free(sorted.items);
    pci_free(sorted.order);
    pci_free(asked);
    return status;
}

/* ---- all */

/* Open the frames and mark those that are asked about. */
static pcol_status open_frames(struct peeking *p, const char *name, int places, pcol_error *err)
{
    pci_free(p->wanted);
    p->wanted = NULL;
    pci_frames_close(&p->peek->frames);
    PCI_TRY(pci_frames_open(p->query, PCOL_BY_FUNCTION, places, &p->peek->frames, err));
    p->wanted = pci_calloc((size_t)p->peek->frames.count + 1, 1);
    return p->wanted ? choose(p, name, err) : pci_fail_memory(err);
}

static pcol_status walk(struct peeking *p, pcol_error *err)
{
    const struct pci_walker walker = {p, p->query->measure.is_double, enter, stack, leave};
    size_t frames = (size_t)p->peek->frames.count + 1;
    uint32_t empty = p->peek->frames.empty;
    p->on_path = pci_calloc(frames, sizeof *p->on_path);
    p->self = pci_calloc(frames, sizeof *p->self);
    p->total = pci_calloc(frames, sizeof *p->total);
    if (!p->on_path || !p->self || !p->total)
        return pci_fail_memory(err);
    if (p->query->calls.count)
        p->self[empty] = p->total[empty] = p->query->weight[0];
    PCI_TRY(pci_walk(p->query, &p->peek->frames, &walker, err));
    return put_rows(p, err);
}

/* Lines outside functions are asked about only by their names. */
static pcol_status look(struct peeking *p, const char *name, pcol_error *err)
{
    pcol_status status = open_frames(p, name, 0, err);
    if (status == PCOL_OK && !p->any)
        status = open_frames(p, name, 1, err);
    if (status == PCOL_OK)
        status = walk(p, err);
    pci_free(p->wanted);
    pci_free(p->on_path);
    pci_free(p->self);
    pci_free(p->total);
    pci_free(p->calls);
    pci_hash_clear(&p->hash);
    return status;
}

pcol_status pcol_query_peek(const pcol_query *query, const char *name, pcol_peek **peek,
                            pcol_error *err)
{
    PCI_REQUIRE(peek, err);
    *peek = NULL;
    PCI_REQUIRE(query, err);
    struct peeking p = {.query = query};
    pcol_status status;
    if (!name || !*name)
        return pci_fail(err, PCOL_E_ARGUMENT, "no name");
    PCI_TRY(pci_query_load(query, err));
    p.peek = pci_calloc(1, sizeof *p.peek);
    if (!p.peek)
        return pci_fail_memory(err);
    status = look(&p, name, err);
    if (status == PCOL_OK)
        *peek = p.peek;
    else
        pcol_peek_free(p.peek);
    return status;
}

void pcol_peek_free(pcol_peek *peek)
{
    if (!peek)
        return;
    pci_frames_close(&peek->frames);
    pci_free(peek->rows);
    pci_free(peek);
}

size_t pcol_peek_count(const pcol_peek *peek)
{
    if (!peek)
        return 0;
    return peek->count;
}

void pcol_peek_get(const pcol_peek *peek, size_t index, pcol_peek_row *row)
{
    if (!row)
        return;
    *row = (pcol_peek_row){0};
    if (index >= pcol_peek_count(peek))
        return;
    *row = peek->rows[index];
}
