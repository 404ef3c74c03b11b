/*
 * ahead.c - the thread that reads arrays of numbers ahead
 *
 * It searches for brackets, wherever they stand, and reads as json/run.c does for as long as there are
 * plain numbers. So what it hands over is what the reader would have read itself; where something else
 * comes the reader goes on, and finds the faults.
 */
#include "firefox/ahead.h"

#include "core/alloc.h"
#include "core/beside.h"
#include "core/lanes.h"
#include "io/open.h"

#include <string.h>

#define RUN 1024u
#define SHORT_ARRAY 512u  /* numbers: less is read as fast as it is handed over */
#define LOOKAHEAD 16384u  /* bytes that tell whether an array is long */
#define PIECE_ROOM 16384u /* bytes of values and their kinds */
#define PIECES 96u

/* In front of each piece; its values follow, then their kinds if they differ. Values that are all the
 * same may be more than it holds. */
struct head {
    uint64_t begin, end;        /* offsets behind the array's bracket and behind the last value */
    uint64_t lines, line_start; /* since the array began; where the last of them begins */
    int64_t first;
    uint32_t count;
    uint8_t kind, mixed, same, narrow, last;
};

#define PIECE_BYTES (sizeof(struct head) + PIECE_ROOM)

static size_t size_of(const struct head *head)
{
    return head->narrow ? sizeof(int32_t) : sizeof(int64_t);
}

/* How many values a piece holds. */
static size_t most_of(const struct head *head)
{
    return PIECE_ROOM / (size_of(head) + head->mixed);
}

struct pci_ff_ahead {
    /* the thread's */
    struct pci_input input;
    struct pci_json json; /* as far as runs look at it */
    int inside;           /* of an array, that began at: */
    uint64_t begin;
    int waits; /* a run that has not been put into a piece */
    size_t count;
    unsigned seen;
    uint64_t end, lines, line_start; /* behind the run */
    int64_t values[RUN];
    uint8_t types[RUN];
    int32_t narrow[RUN];
    /* the reader's */
    struct pci_ahead *ring;
    const uint8_t *piece; /* NULL: none is at hand */
    size_t size;
    int is_over;
};

/* ---- the thread */

/* Drop what was looked through; *more: there is something new in the window. */
static pcol_status read_on(struct pci_ff_ahead *a, int *more, pcol_error *err)
{
    size_t before = a->input.size - a->json.at;
    PCI_TRY(pci_input_more(&a->input, a->json.at, err));
    a->json.at = a->json.start = 0;
    *more = a->input.size > before;
    return PCOL_OK;
}

/* To the next bracket. *found is 0 at the end. */
static pcol_status find_array(struct pci_ff_ahead *a, int *found, pcol_error *err)
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
        PCI_TRY(read_on(a, &more, err));
        *found = !more && a->input.size > json->at; /* a bracket near the end */
    }
    if (*found)
        json->at++;
    return PCOL_OK;
}

/* The next run of an array; none is at its end. */
static pcol_status next_run(struct pci_ff_ahead *a, pcol_error *err)
{
    struct pci_json *json = &a->json;
    int more = 1;
    for (;;) {
        a->seen = pci_json_run(json, a->values, a->types, RUN, &a->count);
        if (a->count || a->input.size - json->at > LOOKAHEAD / 2 || !more)
            break;
        PCI_TRY(read_on(a, &more, err));
    }
    a->end = a->input.offset + json->at;
    a->lines = json->line;
    a->line_start = json->line_start;
    a->waits = 1;
    return PCOL_OK;
}

/* Begin the next long array; *found is 0 at the end. */
static pcol_status next_array(struct pci_ff_ahead *a, int *found, pcol_error *err)
{
    for (;;) {
        PCI_TRY(find_array(a, found, err));
        if (!*found)
            return PCOL_OK;
        a->begin = a->input.offset + a->json.at;
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

/* Whether the run that waits goes into a piece: not if it is of another make or there is no room. */
static int has_place(const struct pci_ff_ahead *a, const struct head *head, int kind, int same,
                     int narrow)
{
    if (head->mixed != (kind < 0) || (kind >= 0 && head->kind != kind))
        return 0;
    if (head->same && same)
        return head->count <= UINT32_MAX - RUN;
    return head->narrow <= narrow && head->count + a->count <= most_of(head);
}

/* The run that waits, into a piece; 0 if it has no place there. */
static int put_run(struct pci_ff_ahead *a, struct head *head, uint8_t *values)
{
    int kind = kind_of(a->seen), mixed = kind < 0;
    int fits = pci_lanes_narrow(a->values, a->count, a->narrow);
    int64_t first = head->count ? head->first : a->values[0];
    int same = !mixed && pci_lanes_same(a->values, a->count, first);
    if (!head->count)
        *head = (struct head){.first = first,
                              .kind = (uint8_t)(mixed ? 0 : kind),
                              .mixed = (uint8_t)mixed,
                              .same = (uint8_t)same,
                              .narrow = (uint8_t)fits};
    if (!has_place(a, head, kind, same, fits))
        return 0;
    size_t at = head->count;
    if (at + a->count > most_of(head)) /* the first one tells them all */
        ;
    else if (head->narrow)
        memcpy(values + at * sizeof(int32_t), a->narrow, a->count * sizeof(int32_t));
    else
        memcpy(values + at * sizeof(int64_t), a->values, a->count * sizeof(int64_t));
    uint8_t *kinds = values + most_of(head) * size_of(head);
    for (size_t i = 0; mixed && i < a->count; i++)
        kinds[at + i] = a->types[i] == PCI_JSON_INT      ? PCI_FF_INT
                        : a->types[i] == PCI_JSON_DOUBLE ? PCI_FF_DOUBLE
                                                         : PCI_FF_NULL;
    head->same = (uint8_t)(head->same & same);
    head->count += (uint32_t)a->count;
    head->end = a->end;
    head->lines = a->lines;
    head->line_start = a->line_start;
    a->waits = 0;
    return 1;
}

static pcol_status make_piece(void *context, void *data, size_t capacity, size_t *size,
                              pcol_error *err)
{
    struct pci_ff_ahead *a = context;
    struct head head = {0};
    uint8_t *values = (uint8_t *)data + sizeof head;
    int found = 1;
    *size = 0;
    if (!a->inside)
        PCI_TRY(next_array(a, &found, err));
    if (!found)
        return PCOL_OK;
    a->inside = 1;
    for (;;) {
        if (!a->waits)
            PCI_TRY(next_run(a, err));
        if (!a->count || !put_run(a, &head, values))
            break;
    }
    if (!a->count) {
        head.last = 1;
        head.end = a->end;
        head.lines = a->lines;
        head.line_start = a->line_start;
        a->inside = a->waits = 0;
    }
    head.begin = a->begin;
    memcpy(data, &head, sizeof head);
    *size = capacity;
    return PCOL_OK;
}

/* ---- the reader */

pcol_status pci_ff_ahead_new(const struct pci_json *json, struct pci_ff_ahead **ahead,
                             pcol_error *err)
{
    uint64_t bytes = pci_input_bytes(json->input), at = json->input->offset + json->at;
    *ahead = NULL;
    if (bytes < at || bytes - at < PCI_BESIDE_BYTES)
        return PCOL_OK;
    struct pci_ff_ahead *a = pci_calloc(1, sizeof *a);
    if (!a)
        return pci_fail_memory(err);
    a->json.input = &a->input;
    pcol_status status = pci_input_open_part(&a->input, json->input, err);
    if (status == PCOL_OK)
        status = pci_input_skip(&a->input, at, err);
    if (status == PCOL_OK)
        status = pci_ahead_new(make_piece, a, PIECE_BYTES, PIECES, &a->ring, err);
    if (status != PCOL_OK) {
        pci_ff_ahead_free(a);
        return status;
    }
    *ahead = a;
    return PCOL_OK;
}

void pci_ff_ahead_free(struct pci_ff_ahead *ahead)
{
    if (!ahead)
        return;
    pci_ahead_free(ahead->ring);
    pci_input_close(&ahead->input);
    pci_free(ahead);
}

/* The next piece. What goes wrong while it is made the reader will find itself. */
static void next_piece(struct pci_ff_ahead *a)
{
    pcol_error error = {0};
    a->piece = NULL;
    if (!a->is_over && pci_ahead_take(a->ring, &a->piece, &a->size, &error) != PCOL_OK)
        a->size = 0;
    a->is_over |= !a->size;
    if (a->is_over)
        a->piece = NULL;
}

static pcol_status put_piece(const struct head *head, const uint8_t *values,
                             struct pci_ff_cells *cells, pcol_error *err)
{
    const uint8_t *kinds = values + most_of(head) * size_of(head);
    if (head->same)
        return pci_ff_cells_repeat(cells, head->kind, head->first, head->count, err);
    if (head->narrow && !head->mixed)
        return pci_ff_cells_narrow(cells, head->kind, (const int32_t *)(const void *)values,
                                   head->count, err);
    int64_t wide[RUN];
    for (size_t at = 0, n; at < head->count; at += n) {
        n = head->count - at < RUN ? head->count - at : RUN;
        if (head->narrow)
            pci_lanes_widen(values + at * sizeof(int32_t), n, wide);
        else
            memcpy(wide, values + at * sizeof(int64_t), n * sizeof *wide);
        PCI_TRY(
            pci_ff_cells_append(cells, head->kind, head->mixed ? kinds + at : NULL, wide, n, err));
    }
    return PCOL_OK;
}

pcol_status pci_ff_ahead_take(struct pci_ff_ahead *ahead, struct pci_json *json,
                              struct pci_ff_cells *cells, pcol_error *err)
{
    struct pci_ff_ahead *a = ahead;
    uint64_t begin = json->input->offset + json->at;
    struct head head = {0};
    for (;;) {
        if (!a->piece)
            next_piece(a);
        if (!a->piece)
            return PCOL_OK;
        memcpy(&head, a->piece, sizeof head);
        if (head.begin >= begin)
            break;
        a->piece = NULL;
    }
    if (head.begin != begin)
        return PCOL_OK;
    for (;;) {
        PCI_TRY(put_piece(&head, a->piece + sizeof head, cells, err));
        uint64_t end = head.end, lines = head.lines, line_start = head.line_start;
        int last = head.last;
        next_piece(a);
        if (last || !a->piece)
            return pci_json_jump(json, end, lines, line_start, err);
        memcpy(&head, a->piece, sizeof head);
    }
}
