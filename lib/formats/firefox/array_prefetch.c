/*
 * array_prefetch.c - producer thread that parses long arrays of numbers ahead of the reader
 *
 * Searches for brackets in any context, in JSON as in slabs, and parses with json/number_run.c
 * while plain numbers follow, exactly as the reader would. At anything else the array ends; the
 * reader continues there and reports errors.
 *
 * Work split: if the reader has nothing to wait for, it parses the next array itself, and the
 * thread parses the one after that. Finished arrays wait in a pipe, bounded by MAX_WAITING_BYTES;
 * their cells are in the builder's store and change owner. Fields below `lock` are protected by it.
 */
#include "formats/firefox/array_prefetch.h"

#include "stream/input_open.h"
#include "util/alloc.h"
#include "util/lock.h"
#include "util/thread_pool.h"

#include <string.h>

#define RUN 1024u
#define SHORT_ARRAY 512u /* numbers; shorter arrays cost as much to hand over as to parse */
#define LOOKAHEAD 16384u /* bytes of window that suffice to decide whether an array is long */
#define MAX_WAITING_BYTES ((uint64_t)8 << 20) /* of cells */
#define MAX_ARRAYS 4096u

struct array {
    uint64_t begin, end; /* offsets after the bracket and after the last value */
    /* line feeds since the array began; offset after the last of them */
    uint64_t lines, line_start;
    struct pci_ff_cells cells;
};

struct pci_ff_prefetch {
    struct pci_spill_store *store;
    struct pci_read_pipe *pipe; /* of pointers to arrays */
    /* used by the thread only */
    struct pci_input input;
    struct pci_json json; /* only the state that pci_json_read_numbers() uses */
    size_t count;
    unsigned seen;
    int64_t values[RUN];
    uint8_t types[RUN];
    /* used by the reader only */
    struct array *array; /* taken but not consumed yet; NULL: none */
    /* shared */
    pci_mutex lock;
    pci_condition change;
    uint64_t at;     /* start of the thread's current or last array */
    uint64_t left;   /* start of the last array that is left to the reader */
    uint64_t wanted; /* start of the array that the reader requested last */
    uint64_t count_made, count_taken;
    uint64_t waiting; /* bytes of finished arrays not taken yet */
    int waits;        /* the reader waits for the thread's current array */
    int ended;        /* set by the thread */
    int stopped;      /* set by the reader */
};

static void array_free(struct array *array)
{
    if (array)
        pci_ff_cells_clear(&array->cells);
    pci_free(array);
}

static uint64_t bytes_of(const struct array *array)
{
    return pci_spill_size(&array->cells.values) + pci_spill_size(&array->cells.kinds);
}

/* ---- the thread */

static int is_stopped(struct pci_ff_prefetch *a)
{
    pci_mutex_lock(&a->lock);
    int stopped = a->stopped;
    pci_mutex_unlock(&a->lock);
    return stopped;
}

/* Drop the bytes that were searched and read more. *more: the window has new bytes. */
static pcol_status read_more(struct pci_ff_prefetch *a, int *more, pcol_error *err)
{
    size_t before = a->input.size - a->json.at;
    PCI_TRY(pci_input_more(&a->input, a->json.at, err));
    a->json.at = a->json.start = 0;
    *more = a->input.size > before && !is_stopped(a);
    return PCOL_OK;
}

/* Move after the next bracket. *found is 0 at the end of the input. */
static pcol_status find_array(struct pci_ff_prefetch *a, int *found, pcol_error *err)
{
    struct pci_json *json = &a->json;
    int more = 1;
    *found = 0;
    while (more) {
        const uint8_t *from = a->input.data + json->at;
        const uint8_t *bracket =
            a->input.size > json->at ? memchr(from, '[', a->input.size - json->at) : NULL;
        json->at = bracket ? (size_t)(bracket - a->input.data) : a->input.size;
        *found = bracket && (a->input.end || a->input.size - json->at > LOOKAHEAD);
        if (*found)
            break;
        PCI_TRY(read_more(a, &more, err));
        *found = !more && a->input.size > json->at; /* a bracket near the end */
    }
    if (*found)
        json->at++;
    return PCOL_OK;
}

/* Parse the next run of an array; count is 0 at its end. */
static pcol_status next_run(struct pci_ff_prefetch *a, pcol_error *err)
{
    struct pci_json *json = &a->json;
    int more = 1;
    for (;;) {
        a->seen = pci_json_read_numbers(json, a->values, a->types, RUN, &a->count);
        if (a->count || a->input.size - json->at > LOOKAHEAD / 2 || !more)
            return PCOL_OK;
        PCI_TRY(read_more(a, &more, err));
    }
}

/* Move into the next long array and parse its first run. *found is 0 at the end of the input. */
static pcol_status next_array(struct pci_ff_prefetch *a, uint64_t *begin, int *found,
                              pcol_error *err)
{
    for (;;) {
        PCI_TRY(find_array(a, found, err));
        if (!*found)
            return PCOL_OK;
        *begin = a->input.offset + a->json.at;
        a->json.state = PCI_JSON_AT_FIRST_VALUE;
        a->json.line = 0;
        PCI_TRY(next_run(a, err));
        if (a->count >= SHORT_ARRAY)
            return PCOL_OK;
    }
}

static int kind_of(unsigned seen)
{
    return seen == 1u << PCI_JSON_INT      ? PCI_FF_INT
           : seen == 1u << PCI_JSON_DOUBLE ? PCI_FF_DOUBLE
           : seen == 1u << PCI_JSON_NULL   ? PCI_FF_NULL
                                           : -1;
}

static pcol_status put_run(struct pci_ff_prefetch *a, struct array *array, pcol_error *err)
{
    int kind = kind_of(a->seen);
    for (size_t i = 0; kind < 0 && i < a->count; i++)
        a->types[i] = a->types[i] == PCI_JSON_INT      ? PCI_FF_INT
                      : a->types[i] == PCI_JSON_DOUBLE ? PCI_FF_DOUBLE
                                                       : PCI_FF_NULL;
    array->end = a->input.offset + a->json.at;
    array->lines = a->json.line;
    array->line_start = a->json.line_start;
    return pci_ff_cells_append(&array->cells, kind, kind < 0 ? a->types : NULL, a->values, a->count,
                               err);
}

/* Whether the next array is left to the reader: it is already there, has no other array to take, or
 * reaches it before the array that it waited for. */
static int leave_to_reader(struct pci_ff_prefetch *a, uint64_t begin)
{
    pci_mutex_lock(&a->lock);
    uint64_t others = a->count_made - a->count_taken;
    int is_past = begin <= a->left, is_idle = others <= (uint64_t)a->waits && a->left <= a->wanted;
    int is_left = is_past || (is_idle && a->wanted < begin);
    if (!is_left) {
        a->at = begin;
    } else if (!is_past) {
        a->left = begin;
        pci_condition_broadcast(&a->change);
    }
    pci_mutex_unlock(&a->lock);
    return is_left;
}

/* Wait until the array may grow: there is space for it, or the reader waits for it. False if the
 * reader is past it. */
static int may_go_on(struct pci_ff_prefetch *a, const struct array *array)
{
    uint64_t own = bytes_of(array);
    pci_mutex_lock(&a->lock);
    while (!a->stopped && a->wanted < array->begin && own + a->waiting >= MAX_WAITING_BYTES)
        pci_condition_wait(&a->change, &a->lock);
    int may_go = !a->stopped && a->wanted <= array->begin;
    pci_mutex_unlock(&a->lock);
    return may_go;
}

/* Parse the rest of an array. *dropped: the reader is past it. */
static pcol_status read_array(struct pci_ff_prefetch *a, struct array *array, int *dropped,
                              pcol_error *err)
{
    *dropped = 0;
    while (a->count && !*dropped) {
        *dropped = !may_go_on(a, array);
        PCI_TRY(put_run(a, array, err));
        PCI_TRY(next_run(a, err));
    }
    return PCOL_OK;
}

/* Make the next array that the reader may request; NULL at the end of the input. */
static pcol_status make_next(struct pci_ff_prefetch *a, struct array **out, pcol_error *err)
{
    struct array *array = NULL;
    int found, dropped = 1;
    pcol_status status = PCOL_OK;
    *out = NULL;
    while (dropped && status == PCOL_OK) {
        uint64_t begin;
        array_free(array);
        array = NULL;
        PCI_TRY(next_array(a, &begin, &found, err));
        if (!found || is_stopped(a))
            return PCOL_OK;
        if (leave_to_reader(a, begin))
            continue;
        PCI_TRY(PCI_CALLOC(array, 1, err));
        array->begin = begin;
        pci_ff_cells_init(&array->cells, a->store);
        status = read_array(a, array, &dropped, err);
    }
    if (status == PCOL_OK)
        *out = array;
    else
        array_free(array);
    return status;
}

static pcol_status make_array(void *context, void *data, size_t capacity, size_t *size,
                              pcol_error *err)
{
    struct pci_ff_prefetch *a = context;
    struct array *array;
    pcol_status status = make_next(a, &array, err);
    *size = 0;
    if (array) {
        memcpy(data, &array, sizeof array);
        *size = capacity;
    }
    pci_mutex_lock(&a->lock);
    a->count_made += array != NULL;
    a->waiting += array ? bytes_of(array) : 0;
    a->ended = !array;
    pci_condition_broadcast(&a->change);
    pci_mutex_unlock(&a->lock);
    return status;
}

/* ---- the reader */

pcol_status pci_ff_prefetch_new(const struct pci_input *input, uint64_t at,
                                struct pci_spill_store *store, struct pci_ff_prefetch **prefetch,
                                pcol_error *err)
{
    uint64_t bytes = pci_input_bytes(input);
    *prefetch = NULL;
    if (bytes < at || bytes - at < PCI_PARALLEL_MIN_BYTES)
        return PCOL_OK;
    struct pci_ff_prefetch *a;
    PCI_TRY(PCI_CALLOC(a, 1, err));
    a->json.input = &a->input;
    a->store = store;
    if (pci_mutex_init(&a->lock) != 0) {
        pci_free(a);
        return pci_fail_memory(err);
    }
    if (pci_condition_init(&a->change) != 0) {
        pci_mutex_destroy(&a->lock);
        pci_free(a);
        return pci_fail_memory(err);
    }
    pcol_status status = pci_input_open_part(&a->input, input, err);
    PCI_THEN(status, pci_input_skip(&a->input, at, err));
    PCI_THEN(status,
             pci_read_pipe_new(make_array, a, sizeof(struct array *), MAX_ARRAYS, &a->pipe, err));
    if (status == PCOL_OK && pci_read_pipe_has_thread(a->pipe)) {
        *prefetch = a;
        return PCOL_OK;
    }
    pci_read_pipe_free(a->pipe);
    a->pipe = NULL;
    pci_ff_prefetch_free(a);
    return status;
}

/* Take the next finished array, if there is one. Errors of the thread are ignored: the reader will
 * find them itself. */
static void take_next(struct pci_ff_prefetch *a)
{
    pcol_error error = {0};
    const uint8_t *data;
    size_t size = 0;
    a->array = NULL;
    if (pci_read_pipe_next(a->pipe, &data, &size, &error) != PCOL_OK || !size)
        return;
    memcpy(&a->array, data, sizeof a->array);
    pci_mutex_lock(&a->lock);
    a->count_taken++;
    a->waiting -= bytes_of(a->array);
    pci_condition_broadcast(&a->change);
    pci_mutex_unlock(&a->lock);
}

void pci_ff_prefetch_free(struct pci_ff_prefetch *prefetch)
{
    struct pci_ff_prefetch *a = prefetch;
    if (!a)
        return;
    pci_mutex_lock(&a->lock);
    a->stopped = 1;
    pci_condition_broadcast(&a->change);
    pci_mutex_unlock(&a->lock);
    do { /* drain the pipe until the thread has stopped */
        array_free(a->array);
        a->array = NULL;
        if (a->pipe)
            take_next(a);
    } while (a->array);
    pci_read_pipe_free(a->pipe);
    pci_input_close(&a->input);
    pci_condition_destroy(&a->change);
    pci_mutex_destroy(&a->lock);
    pci_free(a);
}

/* Wait for a requested array if the thread is parsing it. 0: the reader parses it itself. */
static int wait_for(struct pci_ff_prefetch *a, uint64_t begin)
{
    pci_mutex_lock(&a->lock);
    a->wanted = begin;
    pci_condition_broadcast(&a->change);
    if (a->count_made == a->count_taken && a->at < begin && a->left < begin)
        a->left = begin; /* the thread has not reached it */
    while (a->count_made == a->count_taken && a->at == begin && a->left < begin && !a->ended) {
        a->waits = 1;
        pci_condition_wait(&a->change, &a->lock);
    }
    a->waits = 0;
    int has_array = a->count_made > a->count_taken;
    pci_mutex_unlock(&a->lock);
    return has_array;
}

pcol_status pci_ff_prefetch_take(struct pci_ff_prefetch *prefetch, struct pci_json *json,
                                 uint64_t stop, struct pci_ff_cells *cells, pcol_error *err)
{
    struct pci_ff_prefetch *a = prefetch;
    uint64_t begin = json->input->offset + json->at;
    while (!a->array || a->array->begin < begin) {
        array_free(a->array);
        a->array = NULL;
        if (!wait_for(a, begin))
            return PCOL_OK;
        take_next(a);
        if (!a->array)
            return PCOL_OK;
    }
    if (a->array->begin != begin || a->array->end > stop || cells->count)
        return PCOL_OK;
    struct array *array = a->array;
    uint64_t end = array->end, lines = array->lines, line_start = array->line_start;
    pci_ff_cells_clear(cells);
    *cells = array->cells;
    a->array = NULL;
    pci_free(array);
    return pci_json_continue_at(json, end, lines, line_start, err);
}
